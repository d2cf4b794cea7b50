"""Shared memory, barriers in uniform control flow, atomics, a ragged last block."""

import numpy as np

import lcpy as lc

BLOCK = 64


@lc.callable
def exchange(cells: lc.Ref[lc.Array[lc.int32, BLOCK]], t: lc.uint32, distance: lc.uint32):
    lc.sync_block()
    mine = cells[t]
    other = cells[t ^ distance]
    lc.sync_block()
    keep_low = (t & distance) == 0
    cells[t] = min(mine, other) if keep_low else max(mine, other)


@lc.kernel(block_size=(BLOCK, 1, 1))
def shared(values: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32], count: lc.Buffer[lc.uint32]):
    cells = lc.shared(lc.int32, BLOCK)
    t = lc.thread_id().x
    i = lc.dispatch_id().x
    cells[t] = values[i]
    distance = lc.uint32(1)
    while distance < BLOCK:
        exchange(cells, t, distance)
        distance *= 2
    lc.sync_block()
    out[i] = cells[t]
    if cells[t] > 50:
        lc.atomic_add(count[lc.block_id().x % 2], 1)


def run(device):
    values = (np.arange(500) * 53 % 103).astype(np.int32)
    out = lc.Buffer(500, lc.int32, device=device)
    count = lc.Buffer(2, lc.uint32, device=device)
    shared(lc.Buffer(values, device=device), out, count, dispatch_size=500)
    return np.concatenate([out.numpy(), count.numpy().astype(np.int32)])


KERNELS = {shared: (lc.Buffer[lc.int32], lc.Buffer[lc.int32], lc.Buffer[lc.uint32])}
