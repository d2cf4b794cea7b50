"""Barriers with ragged grids, and blocks of odd sizes."""

import numpy as np
import pytest
from loading import load_source

import lcpy as lc

# R068: idle threads of the last block reach every barrier.


@lc.kernel(block_size=(256, 1, 1))
def block_sum(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    shared = lc.shared(lc.int32, 256)
    t = lc.thread_id().x
    shared[t] = a[lc.dispatch_id().x]
    lc.sync_block()
    half = lc.uint32(128)
    while half > 0:
        if t < half:
            shared[t] += shared[t + half]
        lc.sync_block()
        half >>= 1
    if t == 0:
        lc.atomic_add(out[0], shared[0])


@pytest.mark.parametrize("n", [1, 255, 256, 1000])
def test_r068(n, device):
    out = lc.Buffer(1, lc.int32, device=device)
    block_sum(lc.Buffer(np.arange(n, dtype=np.int32), device=device), out, dispatch_size=n)
    assert out.numpy()[0] == n * (n - 1) // 2


# R069, R070: tree reductions and scans in blocks of any size, values fewer or more than threads.

BLOCKS = """
import lcpy as lc

N = {block}

@lc.kernel(block_size=(N, 1, 1))
def scan(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32], low: lc.Buffer[lc.int32]):
    sums = lc.shared(lc.int32, N)
    least = lc.shared(lc.int32, N)
    t = lc.int32(lc.thread_id().x)
    best = 2147483647
    for i in range(t, lc.int32(len(a)), N):
        best = min(best, a[i])
    least[t] = best
    sums[t] = a[t] if t < lc.int32(len(a)) else 0
    lc.sync_block()
    step = 1
    while step < N:
        before = 0
        other = 2147483647
        if t >= step:
            before = sums[t - step]
        if t + step < N:
            other = least[t + step]
        lc.sync_block()
        sums[t] += before
        least[t] = min(least[t], other)
        lc.sync_block()
        step *= 2
    out[t] = sums[t]
    if t == 0:
        low[0] = least[0]
"""


@pytest.mark.parametrize("block", [1, 7, 31, 33, 48, 65, 256])
def test_r069(block, device, tmp_path):
    module = load_source(tmp_path, f"block_{block}", BLOCKS.format(block=block))
    for n in (16, 300):
        a = (np.arange(n) * 37 % 101 - 50).astype(np.int32)
        out = lc.Buffer(block, lc.int32, device=device)
        low = lc.Buffer(1, lc.int32, device=device)
        module.scan(lc.Buffer(a, device=device), out, low, dispatch_size=block)
        padded = np.concatenate([a, np.zeros(block, np.int32)])[:block]
        assert out.numpy().tolist() == np.cumsum(padded).tolist()
        assert low.numpy()[0] == a.min()


# Launches that follow one another see what came before.


@lc.kernel
def chain(a: lc.Buffer[lc.int32], b: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    b[i] = a[(i + 1) % len(a)] + 1


def test_launch_order(device):
    n = 1000
    a, b = (
        lc.Buffer(np.arange(n, dtype=np.int32), device=device),
        lc.Buffer(n, lc.int32, device=device),
    )
    for _ in range(20):
        chain(a, b, dispatch_size=n)
        a, b = b, a
    assert (a.numpy() == (np.arange(n) + 20) % n + 20).all()
