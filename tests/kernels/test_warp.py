"""Warp operations against a serial model: each warp is so many threads of a block, one after the
other; those whose control flow is at the operation take part."""

import numpy as np
import pytest
from loading import load_source
from warp_model import ballot, before, model, product, same

import lcpy as lc

# ---- blocks of every shape ----------------------------------------------------------------------
GROUP = """
import lcpy as lc

@lc.kernel(block_size={block})
def run(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32, 2]):
    size = lc.block_size()
    t = lc.thread_id()
    block = lc.block_id().x
    i = block * size.x * size.y * size.z + t.x + size.x * (t.y + size.y * t.z)
    v = a[i]
    odd = v % 2 == 1
    bits = lc.warp_ballot(odd)
    out[0, i] = lc.warp_sum(v)
    out[1, i] = lc.warp_prefix_sum(v)
    out[2, i] = lc.warp_min(v)
    out[3, i] = lc.warp_max(v)
    out[4, i] = lc.int32(lc.warp_count(odd))
    out[5, i] = lc.int32(lc.warp_prefix_count(odd))
    out[6, i] = lc.int32(lc.warp_lane_id())
    out[7, i] = lc.int32(lc.warp_first_lane())
    out[8, i] = lc.int32(lc.warp_is_first())
    out[9, i] = lc.int32(lc.warp_all(odd)) + 2 * lc.int32(lc.warp_any(odd))
    out[10, i] = lc.warp_read_first(v)
    out[11, i] = lc.warp_read_lane(v, 3)
    out[12, i] = lc.bitcast(lc.int32, bits.x)
    out[13, i] = lc.bitcast(lc.int32, bits.y)
    out[14, i] = lc.int32(lc.warp_size())
    out[15, i] = lc.warp_prefix_product(v)
"""
GROUPED = [
    same(sum),
    before(sum),
    same(min),
    same(max),
    same(lambda v: sum(x % 2 for x in v)),
    before(lambda v: sum(x % 2 for x in v)),
    lambda v, lanes: lanes,
    lambda v, lanes: [lanes[0]] * len(v),
    lambda v, lanes: [int(n == lanes[0]) for n in lanes],
    same(lambda v: all(x % 2 for x in v) + 2 * any(x % 2 for x in v)),
    same(lambda v: v[0]),
    lambda v, lanes: [v[lanes.index(3)] if 3 in lanes else 0] * len(v),
    lambda v, lanes: [ballot([x % 2 for x in v], lanes) & 0xFFFFFFFF] * len(v),
    lambda v, lanes: [ballot([x % 2 for x in v], lanes) >> 32] * len(v),
    None,
    before(product),
]
BLOCKS = [(n, 1, 1) for n in (1, 7, 31, 33, 48, 64, 65, 256)]
BLOCKS += [(4, 3, 2), (2, 16, 2), (1, 8, 1), (5, 5, 5), (16, 16, 1)]


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_warp_groups_of_every_size(block, warps, tmp_path):
    """R069: nothing assumes a width, or that a block is whole warps."""
    module = load_source(tmp_path, f"group_{block}", GROUP.format(block=block))
    threads, width = block[0] * block[1] * block[2], warps.limits["warp_size"]
    n = 3 * threads
    values = (np.arange(n) * 7 % 11 + 1).astype(np.int32)
    out = lc.Buffer((16, n), lc.int32, device=warps)
    dispatch = (3 * block[0], block[1], block[2])
    module.run(lc.Buffer(values, device=warps), out, dispatch_size=dispatch)
    got = out.numpy()
    everyone = [True] * n
    for row, function in enumerate(GROUPED):
        if function is None:
            assert (got[row] == width).all()
            continue
        want = model(values.tolist(), threads, width, everyone, function)
        want = np.array([int(x) & 0xFFFFFFFF for x in want], np.uint32).view(np.int32)
        assert got[row].tolist() == want.tolist(), f"row {row}"


@lc.kernel(block_size=48)
def ragged(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    total = lc.warp_sum(a[i] + 1)
    out[i] = total


def test_threads_past_the_end_take_part(warps):
    """They read zero: each adds the 1 here."""
    n = 101
    values = np.arange(n, dtype=np.int32)
    out = lc.Buffer(n, lc.int32, device=warps)
    ragged(lc.Buffer(values, device=warps), out, dispatch_size=n)
    padded = [*(values + 1).tolist(), *[1] * (144 - n)]
    want = model(padded, 48, warps.limits["warp_size"], [True] * 144, same(sum))
    assert out.numpy().tolist() == want[:n].tolist()


# ---- control flow -------------------------------------------------------------------------------
@lc.kernel(block_size=64)
def branches(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32, 2]):
    i = lc.dispatch_id().x
    v = a[i]
    whole = lc.warp_sum(v)
    if v % 3 == 0:
        out[0, i] = lc.warp_sum(v)
        out[1, i] = lc.warp_read_lane(v, 1)
        if v % 2 == 0:
            out[2, i] = lc.int32(lc.warp_count(v > 4))
        else:
            out[2, i] = -lc.warp_sum(v)
    else:
        out[0, i] = -lc.warp_sum(v)
        out[1, i] = -lc.warp_read_first(v)
    out[3, i] = whole - lc.warp_sum(v)


def test_only_lanes_that_are_here_take_part(warps):
    n, width = 192, warps.limits["warp_size"]
    values = (np.arange(n) * 5 % 13).tolist()
    out = lc.Buffer((4, n), lc.int32, device=warps)
    branches(lc.Buffer(np.array(values, np.int32), device=warps), out, dispatch_size=n)
    three = [v % 3 == 0 for v in values]
    other = [not x for x in three]
    even = [x and v % 2 == 0 for x, v in zip(three, values)]
    odd = [x and v % 2 == 1 for x, v in zip(three, values)]

    def over(active, function):
        return model(values, 64, width, active, function)

    got = out.numpy().tolist()
    want = over(three, same(sum)) - over(other, same(sum))
    assert got[0] == want.tolist()
    second = over(three, lambda v, at: [v[at.index(1)] if 1 in at else 0] * len(v))
    assert got[1] == (second - over(other, same(lambda v: v[0]))).tolist()
    third = over(even, same(lambda v: sum(x > 4 for x in v))) - over(odd, same(sum))
    assert got[2] == third.tolist()
    assert got[3] == [0] * n


@lc.kernel(block_size=48)
def rounds(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    n = a[i]
    total = 0
    k = 0
    while True:
        if k >= n:
            break
        k += 1
        if (k + n) % 3 == 0:
            continue
        total += lc.warp_sum(k * n)
    for j in range(n):
        total += lc.warp_prefix_sum(j + 1)
    out[i] = total


def test_loops_with_different_trip_counts(warps):
    n, width = 144, warps.limits["warp_size"]
    trips = (np.arange(n) * 7 % 9).tolist()
    out = lc.Buffer(n, lc.int32, device=warps)
    rounds(lc.Buffer(np.array(trips, np.int32), device=warps), out, dispatch_size=n)
    total = np.zeros(n, object)
    for k in range(1, 10):
        active = [k <= t and (k + t) % 3 != 0 for t in trips]
        total += model([k * t for t in trips], 48, width, active, same(sum))
    for j in range(9):
        active = [j < t for t in trips]
        total += model([j + 1] * n, 48, width, active, before(sum))
    assert out.numpy().tolist() == total.tolist()


@lc.callable
def left(v, out: lc.Buffer[lc.int32], i):
    if v % 4 == 0:
        return lc.warp_sum(v)
    for k in range(3):
        if v % 4 == k:
            return lc.warp_sum(v) * 10
    return lc.warp_sum(v) * 100


@lc.kernel(block_size=32)
def returns(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    v = a[i]
    out[i] = left(v, out, i)
    if v == 3:
        return
    out[i] += lc.warp_sum(1) * 1000


def test_early_returns(warps):
    n, width = 64, warps.limits["warp_size"]
    values = (np.arange(n) * 3 % 7).tolist()
    out = lc.Buffer(n, lc.int32, device=warps)
    returns(lc.Buffer(np.array(values, np.int32), device=warps), out, dispatch_size=n)
    total = np.zeros(n, object)
    for k, factor in ((0, 1), (1, 10), (2, 10), (3, 100)):
        active = [v % 4 == k for v in values]
        total += factor * model(values, 32, width, active, same(sum))
    rest = [v != 3 for v in values]
    total += 1000 * model([1] * n, 32, width, rest, same(sum))
    assert out.numpy().tolist() == total.tolist()


@lc.kernel(block_size=64)
def expressions(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32, 2]):
    i = lc.dispatch_id().x
    v = a[i]
    out[0, i] = lc.warp_sum(v) if v % 2 == 0 else lc.warp_sum(v) * 10
    out[1, i] = 1 if v % 3 == 0 and lc.warp_sum(1) > 3 else 0
    lc.flatten()
    if v > 4:
        out[2, i] = lc.warp_sum(1)


def test_conditional_expressions_part_the_lanes(warps):
    n, width = 128, warps.limits["warp_size"]
    values = (np.arange(n) * 5 % 9).tolist()
    out = lc.Buffer((3, n), lc.int32, device=warps)
    expressions(lc.Buffer(np.array(values, np.int32), device=warps), out, dispatch_size=n)
    even = [v % 2 == 0 for v in values]
    odd = [not x for x in even]
    want = model(values, 64, width, even, same(sum)) + 10 * model(values, 64, width, odd, same(sum))
    got = out.numpy().tolist()
    assert got[0] == want.tolist()
    three = [v % 3 == 0 for v in values]
    assert got[1] == [int(c > 3) for c in model([1] * n, 64, width, three, same(sum))]
    large = [v > 4 for v in values]
    assert got[2] == model([1] * n, 64, width, large, same(sum)).tolist()


def test_no_pass_moves_a_warp_operation(cpu):
    """The second sum is not the first one, though it is of the same value: other lanes are here."""
    text = branches.descriptor(lc.Buffer[lc.int32], lc.Buffer[lc.int32, 2]).text()
    assert text.count("WarpSum") == 5


# ---- a program ----------------------------------------------------------------------------------
@lc.kernel(block_size=96)
def block_sums(a: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    partial = lc.shared(lc.float32, 96)
    t = lc.thread_id().x
    mine = lc.warp_sum(a[lc.dispatch_id().x])
    warp = t // lc.warp_size()
    if lc.warp_is_first():
        partial[warp] = mine
    lc.sync_block()
    if t == 0:
        total = lc.float32(0)
        for k in range((96 + lc.warp_size() - 1) // lc.warp_size()):
            total += partial[k]
        out[lc.block_id().x] = total


def test_block_sums(warps):
    values = (np.arange(96 * 5 - 17) % 9).astype(np.float32)
    out = lc.Buffer(5, lc.float32, device=warps)
    block_sums(lc.Buffer(values, device=warps), out, dispatch_size=len(values))
    padded = np.pad(values, (0, 17)).reshape(5, 96)
    assert out.numpy().tolist() == padded.sum(1).tolist()


# ---- refusals and the device --------------------------------------------------------------------
def test_a_device_without_warps_refuses_by_name(device):
    if device.limits["warp_size"]:
        pytest.skip(f"{device.name} has warps")
    a = lc.Buffer(64, lc.int32, device=device)
    with pytest.raises(lc.UnsupportedError, match="WarpSum needs cl_khr_subgroups"):
        ragged(a, a, dispatch_size=64)


def test_the_width_is_chosen_with_the_device(monkeypatch):
    eight = lc.Device("cpu", warp_size=8)
    assert eight.limits["warp_size"] == 8 and eight.name == "cpu:warp8"
    assert lc.Device("cpu:warp8") is eight
    default = lc.Device("cpu").limits["warp_size"]
    assert lc.Device("cpu", warp_size=default) is lc.Device("cpu")
    for wrong in (0, 7, 128, "x", 8.0, True):
        with pytest.raises(lc.ArgumentError, match="warp_size: 8, 16, 32 or 64, not"):
            lc.Device("cpu", warp_size=wrong)
    with pytest.raises(lc.ArgumentError, match=r"only lc.Device\('cpu'\) has a width"):
        lc.Device("vulkan", warp_size=8)
    with pytest.raises(lc.ArgumentError, match="8, 16, 32 or 64, not '5'"):
        lc.Device("cpu:warp5")


def test_environment_chooses_the_default_width():
    import os
    import subprocess
    import sys

    code = "import lcpy as lc; print(lc.Device('cpu').limits['warp_size'], lc.Device('cpu').name)"
    env = dict(os.environ, LCPY_CPU_WARP="16")
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["16", "cpu"], done.stderr
    env["LCPY_CPU_WARP"] = "12"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert "LCPY_CPU_WARP: 8, 16, 32 or 64, not '12'" in done.stderr
