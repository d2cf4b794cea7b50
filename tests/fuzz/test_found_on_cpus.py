"""What tools/fuzz found on drivers that run on processors, and what must hold everywhere."""

import numpy as np
import pytest

import lcpy as lc


@lc.struct
class Wide:
    a: lc.ulong4
    b: lc.uint32
    c: lc.float64
    d: lc.uint16


@lc.callable
def nothing(q: lc.uint32, t: lc.uint32) -> Wide:
    return Wide()


@lc.callable
def nothing_of(q: lc.uint32, t: lc.uint32, x: lc.uint32, y: Wide) -> Wide:
    return Wide()


@lc.callable
def counts_down(
    counts: lc.Ref[lc.Array[lc.uint32, 8]],
    small: lc.Buffer[lc.uint16],
    q: lc.uint32,
    t: lc.uint32,
    x: lc.ulong4,
    lane: lc.uint32,
) -> Wide:
    counts[lane] -= lc.uint32(1)
    seen = small[0]
    return Wide(x, counts[lane], lc.float64(0.0), seen)


@pytest.mark.parametrize("opt", [0, 1])
def test_a_function_uses_its_own_block_s_shared_array(device, opt):
    """PoCL gave each block its arrays by looking at the kernel alone, where a function of it may
    name them too: all blocks, and all launches, then counted in one array."""

    @lc.kernel(block_size=(1,), math="strict", bounds="trap", opt=opt)
    def kernel(
        small: lc.Buffer[lc.uint16],
        numbers: lc.Buffer[lc.uint32],
        places: lc.Buffer[lc.ulong4],
        wide: lc.Buffer[Wide],
        out: lc.Buffer[Wide],
        u: lc.ulong4,
    ):
        counts = lc.shared(lc.uint32, 8)
        t = lc.dispatch_id().x
        q = (t * 4 + 0) * 4
        out[q + 0] = nothing(q, t)
        q = (t * 4 + 1) * 4
        out[q + 0] = nothing_of(q, t, numbers[(t * 4 + 10) % 16], wide[(t * 5 + 14) % 16])
        q = (t * 4 + 2) * 4
        counts[lc.thread_id().x] = lc.uint32()
        lane = lc.thread_id().x
        out[q + 0] = counts_down(counts, small, q, t, places[(t * 4 + 2) % 16], lane)

    def buffer(T):
        return lc.Buffer(64, T, device=device)

    inputs = [buffer(T) for T in (lc.uint16, lc.uint32, lc.ulong4, Wide)]
    out = buffer(Wide)
    for _ in range(3):
        kernel(*inputs, out, (1, 2, 3, 4), dispatch_size=4)
        assert out.numpy()["b"][8::16].tolist() == [2**32 - 1] * 4


@lc.callable
def leaves_early(t, x, turns) -> lc.float32:
    for _ in range(turns):
        if t > 0:
            continue
        return x + 1.0
    return x


@lc.callable
def breaks_early(t, x, turns) -> lc.float32:
    left = False
    found = lc.float32(0.0)
    for _ in range(turns):
        if t > 0:
            continue
        found = x + 1.0
        left = True
        break
    if left:
        return found
    return x


@lc.callable
def leaves_two_loops(t, x, turns) -> lc.float32:
    for _ in range(turns):
        for _ in range(turns):
            if t > 2:
                continue
            return x - 1.0
        if t > 4:
            continue
        return x - 3.0
    return x


WAYS_OUT = [
    (leaves_early, [6, 5, 5, 5, 5, 5, 5, 5]),
    (breaks_early, [6, 5, 5, 5, 5, 5, 5, 5]),
    (leaves_two_loops, [4, 4, 4, 2, 2, 5, 5, 5]),
]


@pytest.mark.parametrize(("way", "want"), WAYS_OUT, ids=lambda v: getattr(v, "__name__", ""))
@pytest.mark.parametrize("turns", [1, 2, 3])
def test_lanes_that_go_on_early_and_lanes_that_leave(device, way, want, turns):
    """llvmpipe forgot which way out of a loop of one turn the first lanes had taken."""

    @lc.kernel(block_size=8)
    def counted(out: lc.Buffer[lc.float32], x: lc.float32, n: lc.int32):
        t = lc.int32(lc.dispatch_id().x)
        out[t] = way(t, x, n)

    @lc.kernel(block_size=8)
    def known(out: lc.Buffer[lc.float32], x: lc.float32):
        t = lc.int32(lc.dispatch_id().x)
        out[t] = way(t, x, turns)

    out = lc.Buffer(8, lc.float32, device=device)
    counted(out, 5.0, turns, dispatch_size=8)
    assert out.numpy().tolist() == np.float32(want).tolist()
    known(out, 5.0, dispatch_size=8)
    assert out.numpy().tolist() == np.float32(want).tolist()
