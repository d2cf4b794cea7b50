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


# R071: a barrier that some threads of a block do not reach is a mistake with a place, not a result.


def under_a_condition(out: lc.Buffer[lc.int32]):
    s = lc.shared(lc.int32, 256)
    t = lc.thread_id().x
    s[t] = 1
    if t < 64:
        lc.sync_block()
    out[t] = s[255 - t]


def in_a_loop(out: lc.Buffer[lc.int32]):
    t = lc.thread_id().x
    for i in range(t):
        lc.sync_block()
    out[t] = 1


def in_one_arm(out: lc.Buffer[lc.int32]):
    t = lc.thread_id().x
    if t % 2 == 0:
        out[t] = 0
    else:
        lc.sync_block()


def after_a_return(out: lc.Buffer[lc.int32]):
    t = lc.thread_id().x
    if t == 3:
        return
    lc.sync_block()
    out[t] = 1


@pytest.mark.parametrize("body", [under_a_condition, in_a_loop, in_one_arm, after_a_return])
def test_r071(body):
    with pytest.raises(lc.CompileError) as caught:
        lc.kernel(body, block_size=256).compile(lc.Buffer[lc.int32], target="opencl")
    message = str(caught.value)
    assert "lc.sync_block()" in message and "test_sync.py" in message and "part here" in message


# R094: a launch that cannot be is an exception then and there, and what it would have written is as
# it was.


def test_r094(device):
    @lc.kernel(block_size=64)
    def greedy(out: lc.Buffer[lc.int32]):
        s = lc.shared(lc.float4, 1 << 24)
        s[lc.thread_id().x] = lc.float4(1.0)
        lc.sync_block()
        out[0] = lc.int(s[0].x)

    out = lc.Buffer(np.int32([5]), device=device)
    for _ in range(2):
        with pytest.raises(lc.UnsupportedError, match="greedy"):
            greedy(out, dispatch_size=64)
    assert out.numpy().tolist() == [5]
