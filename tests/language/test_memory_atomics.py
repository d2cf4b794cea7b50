"""lcpy/language.md, section "Memory", of atomics and warps: a test for each rule, of its name."""

import numpy as np
import pytest

import lcpy as lc
from language.harness import run, warp_or_skip

I, F = lc.int32, lc.float32


def test_atomics_on_references(device):
    @lc.callable
    def count(place: lc.Ref[lc.int], by: lc.int) -> lc.int:
        return lc.atomic_add(place, by)

    @lc.kernel(block_size=64)
    def k(out: lc.Buffer[I]):
        s = lc.shared(lc.int32, 2)
        if lc.thread_id().x < 2:
            s[lc.thread_id().x] = 0
        lc.sync_block()
        count(s[1], 2)
        lc.sync_block()
        if lc.thread_id().x == 0:
            out[0] = s[1]

    assert run(k, device, dispatch_size=64)[0] == 128

    def wrong(out: lc.Buffer[I]):
        count(out[0], 1)

    with pytest.raises(lc.CompileError, match="buffer"):
        lc.kernel(wrong).compile(lc.Buffer[I], target="opencl")


PLACES = [lc.int32, lc.uint32, lc.int64, lc.uint64, lc.float32, lc.float64]


@pytest.mark.parametrize("T", PLACES)
def test_atomic_places(device, T):
    if T is lc.float64 and not device.info.features["float64"]:
        pytest.skip("no float64")

    @lc.kernel(block_size=64)
    def k(a: lc.Buffer[T], seen: lc.Buffer[lc.int32], out: lc.Buffer[T]):
        i = lc.dispatch_id().x
        x = T(lc.int(i))
        s = lc.shared(T, 2)
        if i < 2:
            s[i] = T(0)
        lc.sync_block()
        seen[lc.int(lc.atomic_add(a[0], T(1)))] = 1
        lc.atomic_sub(a[1], T(1)) if lc.static(False) else None
        lc.atomic_min(a[2], x)
        lc.atomic_max(a[3], x)
        lc.atomic_add(s[1], x)
        lc.sync_block()
        if i == 0:
            out[0] = lc.atomic_exchange(s[1], T(3))
            out[1] = lc.atomic_compare_exchange(s[1], T(3), T(4))
            out[2] = lc.atomic_load(s[1])

    a = lc.Buffer(np.array([0, 0, 40, 40], T.dtype), device=device)
    seen = lc.Buffer(64, lc.int32, device=device)
    assert run(k, device, a, seen, n=3, R=T, dispatch_size=64).tolist() == [2016, 3, 4]
    assert a.numpy().tolist() == [64, 0, 0, 63] and seen.numpy().all()


def test_atomic_places_of_other_types():
    for T in (lc.int8, lc.uint16, lc.float16):

        def wrong(a: lc.Buffer[T]):
            lc.atomic_add(a[0], T(1))

        with pytest.raises(lc.CompileError, match="32"):
            lc.kernel(wrong).compile(lc.Buffer[T], target="opencl")


def test_atomic_order(device):
    @lc.kernel(block_size=64)
    def k(data: lc.Buffer[I], out: lc.Buffer[I]):
        i = lc.dispatch_id().x
        data[i] = lc.int(i) + 1
        n = lc.atomic_add(out[0], 1, order="acq_rel")
        lc.atomic_store(out[2 + i], lc.int(n), order="release")
        if lc.atomic_load(out[0], order="acquire") == 0:
            out[1] = 1

    data = lc.Buffer(64, I, device=device)
    got = run(k, device, data, n=66, dispatch_size=64)
    assert got[:2].tolist() == [64, 0] and sorted(got[2:]) == list(range(64))

    def wrong(out: lc.Buffer[I]):
        lc.atomic_add(out[0], 1, order="sometimes")

    with pytest.raises(lc.CompileError, match="order"):
        lc.kernel(wrong).compile(lc.Buffer[I], target="opencl")


def test_atomic_nan(device):
    @lc.kernel
    def k(a: lc.Buffer[F], out: lc.Buffer[F]):
        out[0] = lc.atomic_min(a[0], a[2])
        out[1] = lc.atomic_max(a[1], 5.0)
        out[2] = lc.atomic_max(a[3], a[2])

    nan = float("nan")
    a = lc.Buffer(np.float32([3.0, nan, nan, -2.0]), device=device)
    got = run(k, device, a, n=3, R=F)
    assert got[0] == 3.0 and np.isnan(got[1]) and got[2] == -2.0
    assert a.numpy()[[0, 1, 3]].tolist() == [3.0, 5.0, -2.0]


def test_atomic_load(device):
    @lc.kernel
    def k(a: lc.Buffer[lc.uint64], out: lc.Buffer[lc.uint64]):
        i = lc.dispatch_id().x
        x = lc.uint64(i % 2) * 0xFFFFFFFFFFFFFFFF
        lc.atomic_store(a[0], x)
        y = lc.atomic_load(a[0])
        if y != 0 and y != 0xFFFFFFFFFFFFFFFF:
            out[0] = y

    a = lc.Buffer(1, lc.uint64, device=device)
    assert run(k, device, a, R=lc.uint64, dispatch_size=5000)[0] == 0


def test_warp_width(device):
    @lc.kernel(block_size=64)
    def k(out: lc.Buffer[lc.uint32]):
        out[lc.dispatch_id().x] = lc.warp_sum(lc.uint(1))

    got = warp_or_skip(device, k, n=64, R=lc.uint32, dispatch_size=64)
    assert (got == got[0]).all() and 64 % int(got[0]) == 0
