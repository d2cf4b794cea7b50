"""Kernels that the programs of this folder are built with."""

import lcpy as lc


@lc.kernel(block_size=64)
def saxpy(x: lc.Buffer[lc.float32], y: lc.Buffer[lc.float32], a: lc.float32):
    i = lc.dispatch_id().x
    y[i] += a * x[i]
