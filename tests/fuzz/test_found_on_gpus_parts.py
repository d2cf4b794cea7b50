"""What tools/fuzz found on GPUs: bits of halves, lanes that only compilers know, copied bools."""

import math

import numpy as np
import pytest

import lcpy as lc
from lcpy._native import core


def needs(device, *names):
    for name in names:
        if not device.features[name]:
            pytest.skip(f"no {name}")


@pytest.mark.parametrize("opt", [0, 1])
def test_bytes_of_computed_halves(device, opt):
    """ptxas stored the half made an integer for its low byte."""

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(x: lc.Buffer[lc.half4], low: lc.Buffer[lc.uint8], raw: lc.ByteBuffer):
        t = lc.dispatch_id().x
        most = lc.max(x[t].xzyy, -lc.float16(math.inf))
        low[4 * t] = lc.uint8(lc.bitcast(lc.int64, most))
        low[4 * t + 1] = lc.uint8(lc.bitcast(lc.uint16, x[t].x + lc.float16(1.0)))
        pair = lc.bitcast(lc.ubyte2, x[t].x * lc.float16(1.5))
        low[4 * t + 2] = pair.x
        low[4 * t + 3] = pair.y
        lc.byte_write(raw, lc.uint64(2 * t), x[t].y - x[t].x)

    rng = np.random.default_rng(8)
    x = (rng.normal(size=(16, 4)) * 8).astype(np.float16)
    low = lc.Buffer(64, lc.uint8, device=device)
    raw = lc.ByteBuffer(np.zeros(32, np.uint8), device=device)
    run(lc.Buffer(x, lc.half4, device=device), low, raw, dispatch_size=16)
    more, half = (x[:, 0] + np.float16(1)).view("u2"), (x[:, 0] * np.float16(1.5)).view("u2")
    want = np.stack([x[:, 0].view("u2") & 255, more & 255, half & 255, half >> 8], 1)
    assert low.numpy().reshape(16, 4).tolist() == want.tolist()
    assert raw.numpy().tobytes() == (x[:, 1] - x[:, 0]).tobytes()


@pytest.mark.parametrize("opt", [0, 1])
def test_magnitudes_of_halves_that_are_zero(device, opt):
    """NVIDIA's OpenCL left -0 where the sign of a half just rounded was masked."""

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(x: lc.Buffer[lc.half4], out: lc.Buffer[lc.half4]):
        t = lc.dispatch_id().x
        out[2 * t] = abs(x[t] * lc.float16(0.0))
        out[2 * t + 1] = -abs(x[t] * lc.float16(0.0))

    x = np.float16([[1, -1, 0, -0.0], [-7, 5, 65504, -65504], [-0.25, -1000, 3, 6e-8]])
    out = lc.Buffer(6, lc.half4, device=device)
    run(lc.Buffer(x, lc.half4, device=device), out, dispatch_size=3)
    bits = out.numpy().view("u2").reshape(3, 2, 4)
    assert (bits[:, 0] == 0).all() and (bits[:, 1] == 0x8000).all()


@pytest.mark.parametrize("opt", [0, 1])
def test_quotients_of_halves_are_rounded_before_they_divide(device, opt):
    """NVIDIA's Vulkan compiler went on with the float that a quotient of halves was made of."""
    needs(device, "float16")

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(x: lc.Buffer[lc.half2], out: lc.Buffer[lc.half4]):
        t = lc.dispatch_id().x
        by = x[t].x / lc.float16(7.0)
        root = lc.sqrt(abs(x[t].y / lc.float16(3.0)))
        out[t] = lc.half4(x[t].y / by, root, x[t].y / root, lc.sqrt(abs(by)))

    x = np.float16([[0.1, -695], [543, 2.5], [-8.25, 1000], [835, 65504], [3, -0.3]])
    out = lc.Buffer(5, lc.half4, device=device)
    run(lc.Buffer(x, lc.half2, device=device), out, dispatch_size=5)
    with np.errstate(over="ignore"):
        by, root = x[:, 0] / np.float16(7), np.sqrt(np.abs(x[:, 1] / np.float16(3)))
        want = np.stack([x[:, 1] / by, root, x[:, 1] / root, np.sqrt(np.abs(by))], 1)
    assert (out.numpy() == want).all()


@pytest.mark.parametrize("opt", [0, 1])
def test_a_lane_out_of_range_leaves_the_others(device, opt):
    """NVIDIA's Vulkan compiler knew -1.5 to be no unsigned number, and wrote anything for all."""

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(x: lc.Buffer[lc.float32], n: lc.Buffer[lc.int32], out: lc.Buffer[lc.uint4]):
        t = lc.dispatch_id().x
        out[3 * t] = out[3 * t] - lc.uint4(lc.float4(0.0, -1.5, 0.0, x[t]))
        chosen = lc.float32(5e9) if n[t] > 1 else -lc.float32(3.0)
        out[3 * t + 1] = lc.uint4(lc.float4(chosen, 1.0, math.nan, x[t]))
        kept = lc.Array[lc.float32, 2](-2.0, x[t])
        out[3 * t + 2] = lc.uint4(lc.float4(kept[n[t] % 2], 7.0, -math.inf, kept[1]))

    x, n = np.float32([0.0, 7.5, -3.0, 4e9]), np.int32([0, 1, 2, 3])
    out = lc.Buffer(12, lc.uint4, device=device)
    out.fill((0, 0, 0, 0))
    run(lc.Buffer(x, device=device), lc.Buffer(n, device=device), out, dispatch_size=4)
    whole = [0, 7, 0, 4_000_000_000]
    want = []
    for i, v in enumerate(whole):
        want.append([0, 0, 0, -v % 2**32])
        want.append([2**32 - 1 if n[i] > 1 else 0, 1, 0, v])
        want.append([v if n[i] % 2 else 0, 7, 0, v])
    assert out.numpy().tolist() == want


@pytest.mark.parametrize("opt", [0, 1])
def test_what_comes_back_from_memory_is_no_better_known(device, opt):
    """NVIDIA's Vulkan compiler took from memory what it had just put there, with all it knew."""
    needs(device, "float16")

    @lc.kernel(block_size=8, math="strict", opt=opt)
    def run(x: lc.Buffer[lc.float32], out: lc.Buffer[lc.uint4], kept: lc.Buffer[lc.float16]):
        shared, t = lc.shared(lc.float32, 8), lc.thread_id().x
        shared[t] = lc.float32(lc.float16(lc.int64(562949953421312)))
        kept[t] = lc.float16(x[t] * 3.0)
        half = kept[t]
        back = lc.uint32(lc.float32(half))
        first = lc.uint32(shared[t])
        shared[t] = lc.float32(lc.int32(x[t] * 1e9))
        out[t] = lc.uint4(first, back, lc.uint32(shared[t]), lc.uint32(half))

    x = np.float32([0.1, 1.7, 700.3, 2.0, 3.3, -4.0, 5000.7, 0.123456789])
    out, kept = lc.Buffer(8, lc.uint4, device=device), lc.Buffer(8, lc.float16, device=device)
    run(lc.Buffer(x, device=device), out, kept, dispatch_size=8)
    half = (x * np.float32(3)).astype(np.float16)
    whole = np.clip(half.astype(np.float64), 0, 2**32 - 1).astype(np.uint64)
    product = (x * np.float32(1e9)).astype(np.float64)
    rounded = np.clip(product, -(2**31), 2**31 - 1).astype(np.int32).astype(np.float32)
    third = np.clip(rounded.astype(np.float64), 0, 2**32 - 1).astype(np.uint64)
    want = np.stack([np.full(8, 2**32 - 1, np.uint64), whole, third, whole], 1)
    assert out.numpy().tolist() == want.tolist()


@lc.struct
class Pair:
    flags: lc.Array[lc.bool, 3]
    turns: lc.int16


Matrices = lc.Array[lc.float4x4, 2]


@pytest.mark.parametrize("opt", [0, 1])
def test_a_chosen_part_moves_within_an_element(device, opt):
    """CUDA's compiler read it in the second turn before the first had written."""

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(s: lc.Buffer[Pair], x: lc.Buffer[Matrices], out: lc.Buffer[Matrices]):
        t = lc.dispatch_id().x
        mine = s[t]
        for _ in range(mine.turns):
            out[t] = lc.array(x[0][0], out[t][1] if mine.flags[0] else out[t][0])

    pairs = np.zeros(8, Pair.dtype)
    pairs["turns"], pairs["flags"] = [0, 1, 2, 3, 0, 1, 2, 5], [[i > 3] * 3 for i in range(8)]
    s = lc.Buffer(8, Pair, device=device)
    s.upload(pairs)
    rng = np.random.default_rng(3)
    x, given = (rng.normal(size=(n, 2, 4, 4)).astype(np.float32) for n in (1, 8))
    out = lc.Buffer(given, Matrices, device=device)
    run(s, lc.Buffer(x, Matrices, device=device), out, dispatch_size=8)
    want = given.copy()
    for i, pair in enumerate(pairs):
        for _ in range(pair["turns"]):
            want[i, 1] = want[i, 1 if pair["flags"][0] else 0]
            want[i, 0] = x[0, 0]
    assert (out.numpy() == want).all()


@pytest.mark.parametrize("opt", [0, 1])
def test_signs_of_narrow_numbers_beside_long_divisions(device, opt):
    """NVIDIA's Vulkan compiler died of comparisons of 1 + a short with 0."""

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(i: lc.Buffer[lc.int16], wide: lc.Buffer[lc.int64], out: lc.Buffer[lc.int32]):
        t = lc.dispatch_id().x
        a = lc.int32(i[t])
        if lc.sign(1 + a) >= a:
            out[t] = 5
        wide[t] = lc.div(wide[t], lc.int64(-844065098284009840))

    i, wide = np.int16([-7, -1, 0, 1, 2, 32767]), np.int64([1 << 62, -(1 << 62), 0, 7, -7, 1 << 61])
    out, long = lc.Buffer(6, lc.int32, device=device), lc.Buffer(wide, device=device)
    run(lc.Buffer(i, device=device), long, out, dispatch_size=6)
    assert out.numpy().tolist() == [5, 5, 5, 5, 0, 0]
    assert long.numpy().tolist() == [-5, 5, 0, 0, 0, -2]


@lc.struct
class Flagged:
    flag: lc.bool
    words: lc.Array[lc.uint32, 3]
    halves: lc.half3x3
    lanes: lc.bool3


@pytest.mark.parametrize("opt", [0, 1])
def test_structs_with_bools_are_copied(device, opt):
    """NVIDIA's OpenCL compiler died of functions that clean the bools of structs."""

    @lc.kernel(block_size=4, math="strict", opt=opt)
    def run(x: lc.Buffer[lc.Array[Flagged, 1]], out: lc.Buffer[lc.Array[Flagged, 1]]):
        shared = lc.shared(lc.half3x3, 4)
        t = lc.dispatch_id().x
        shared[lc.thread_id().x] = lc.half3x3()
        one = x[t]
        if one[t % 1].flag:
            one[0].words[1] += 5
        out[3 - t] = one

    raw = np.random.default_rng(5).integers(0, 256, 4 * Flagged.dtype.itemsize, np.uint8)
    x = raw.view(Flagged.dtype)
    set_flag, set_lanes = (x[n].view(np.uint8) != 0 for n in ("flag", "lanes"))
    given = lc.Buffer(4, lc.Array[Flagged, 1], device=device)
    given.upload(x.reshape(4, 1))
    out = lc.Buffer(4, lc.Array[Flagged, 1], device=device)
    run(given, out, dispatch_size=4)
    got = out.numpy().reshape(4)[::-1]
    assert (got["words"][:, 1] == x["words"][:, 1] + 5 * set_flag.astype(np.uint32)).all()
    assert (got["flag"].view(np.uint8) == set_flag).all()
    assert (got["lanes"].view(np.uint8) == set_lanes).all()
    assert (got["halves"].view("u2")[..., :3] == x["halves"].view("u2")[..., :3]).all()


def test_what_nvidia_is_given():
    """The forms that keep its compilers from it, without a GPU."""

    @lc.kernel(block_size=1)
    def run(x: lc.Buffer[lc.half4], low: lc.Buffer[lc.uint8], s: lc.Buffer[Flagged]):
        low[0] = lc.uint8(lc.bitcast(lc.int64, x[0] * x[1]))
        s[0] = lc.volatile_read(s, 1)

    types = lc.Buffer[lc.half4], lc.Buffer[lc.uint8], lc.Buffer[Flagged]
    descriptor = run.descriptor(*types)
    text = core.emit_opencl(descriptor, ptx=True)
    assert "mov.b32 %0, {t, t};" in text and "vstore_half" not in text
    assert "clean_" not in text and "(*(volatile __global" in text
    assert "T bits_as(half4 f)" in core.emit_cuda(descriptor)
