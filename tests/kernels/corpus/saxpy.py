"""The smallest useful kernel."""

import numpy as np

import lcpy as lc


@lc.kernel(block_size=(64, 1, 1), math="strict")
def saxpy(x: lc.Buffer[lc.float32], y: lc.Buffer[lc.float32], a: lc.float32):
    i = lc.dispatch_id().x
    y[i] = a * x[i] + y[i]


def run(device):
    x = np.random.default_rng(1).random(1000, np.float32)
    y = lc.Buffer(x[::-1].copy(), device=device)
    saxpy(lc.Buffer(x, device=device), y, 2.5, dispatch_size=1000)
    return y.numpy()


KERNELS = {saxpy: (lc.Buffer[lc.float32], lc.Buffer[lc.float32], lc.float32)}
