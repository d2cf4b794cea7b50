"""Conversions that went wrong elsewhere, loaded and folded."""

import numpy as np

import lcpy as lc

# R011: sign and zero extension.


@lc.kernel
def extend_loaded(
    u8: lc.Buffer[lc.uint8],
    u16: lc.Buffer[lc.uint16],
    u32: lc.Buffer[lc.uint32],
    f64: lc.Buffer[lc.float64],
    i8: lc.Buffer[lc.int8],
    out: lc.Buffer[lc.float64],
):
    out[0] = lc.float64(u8[0])
    out[1] = lc.float64(lc.float32(u16[0]))
    out[2] = lc.float64(u32[0])
    out[3] = lc.float64(lc.uint32(f64[0]))
    out[4] = lc.float64(lc.int64(u32[0]) // 7)
    out[5] = lc.float64(i8[0])


@lc.kernel
def extend_folded(out: lc.Buffer[lc.float64]):
    out[0] = lc.float64(lc.uint8(200))
    out[1] = lc.float64(lc.float32(lc.uint16(60000)))
    out[2] = lc.float64(lc.uint32(3000000000))
    out[3] = lc.float64(lc.uint32(lc.float64(3e9)))
    out[4] = lc.float64(lc.int64(lc.uint32(3000000000)) // 7)
    out[5] = lc.float64(lc.int8(-56))


def test_r011_extension(device):
    want = [200.0, 60000.0, 3e9, 3e9, 428571428.0, -56.0]
    arrays = [np.uint8([200]), np.uint16([60000]), np.uint32([3000000000])]
    arrays += [np.float64([3e9]), np.int8([-56])]
    out = lc.Buffer(6, lc.float64, device=device)
    extend_loaded(*(lc.Buffer(a, device=device) for a in arrays), out, dispatch_size=1)
    assert out.numpy().tolist() == want
    out.fill(0)
    extend_folded(out, dispatch_size=1)
    assert out.numpy().tolist() == want


# R014: literals keep all their digits.


@lc.kernel
def literals(f: lc.Buffer[lc.float64], i: lc.Buffer[lc.int64], u: lc.Buffer[lc.uint64]):
    f[0] = lc.float64(0.1)
    f[1] = lc.float64(1e-300)
    f[2] = lc.float64(1e40)
    f[3] = f[3] + 0.1
    i[0] = lc.int64(9007199254740993)
    i[1] = -9223372036854775808
    u[0] = lc.uint64(18446744073709551615)
    u[1] = 9007199254740993


def test_r014_literals(device):
    f = lc.Buffer(4, lc.float64, device=device)
    i = lc.Buffer(2, lc.int64, device=device)
    u = lc.Buffer(2, lc.uint64, device=device)
    literals(f, i, u, dispatch_size=1)
    assert f.numpy().tolist() == [0.1, 1e-300, 1e40, 0.1]
    assert i.numpy().tolist() == [9007199254740993, -(2**63)]
    assert u.numpy().tolist() == [2**64 - 1, 2**53 + 1]


# R015: an index of literals needs no 64-bit integers.


@lc.kernel(block_size=(16, 1, 1))
def literal_index(out: lc.Buffer[lc.int32]):
    cells = lc.shared(lc.int32, 16)
    cells[lc.thread_id().x] = 0
    lc.sync_block()
    if lc.thread_id().x == 0:
        cells[16 - 1] = 7
        cells[1 - 1] = 5
    lc.sync_block()
    out[lc.thread_id().x] = cells[lc.thread_id().x]


def test_r015_literal_index(device):
    out = lc.Buffer(16, lc.int32, device=device)
    literal_index(out, dispatch_size=16)
    assert out.numpy().tolist() == [5] + [0] * 14 + [7]


def test_r015_no_needless_capability():
    module = literal_index.compile(lc.Buffer[lc.int32], target="spirv", vulkan="1.2")
    assert "Int64" not in module.features


# R017: float to integer out of range.

HARD = [1e20, -1e20, float("inf"), -float("inf"), float("nan"), -5.5, 2147483648.0, 2147483520.0]
HARD += [-2147483648.0, 4294967040.0, 0.999]


@lc.kernel
def saturate_loaded(
    x: lc.Buffer[lc.float32],
    d: lc.Buffer[lc.float64],
    u: lc.Buffer[lc.uint32],
    i: lc.Buffer[lc.int32],
    l: lc.Buffer[lc.int64],
):
    k = lc.dispatch_id().x
    u[k] = lc.uint32(x[k])
    i[2 * k] = lc.int32(x[k])
    i[2 * k + 1] = lc.int32(d[k])
    l[k] = lc.int64(x[k])


@lc.kernel
def saturate_folded(u: lc.Buffer[lc.uint32], i: lc.Buffer[lc.int32], l: lc.Buffer[lc.int64]):
    for k in lc.static(range(11)):
        u[k] = lc.uint32(lc.float32(lc.static(HARD[k])))
        i[2 * k] = lc.int32(lc.float32(lc.static(HARD[k])))
        i[2 * k + 1] = lc.int32(lc.float64(lc.static(HARD[k])))
        l[k] = lc.int64(lc.float32(lc.static(HARD[k])))


def saturated(value, low, high):
    if value != value:
        return 0
    return int(min(max(value, low), high)) if abs(value) != float("inf") else (high, low)[value < 0]


def test_r017_saturation(device):
    single = [float(np.float32(v)) for v in HARD]
    wants = (
        [saturated(v, 0, 2**32 - 1) for v in single],
        [w for s, v in zip(single, HARD) for w in (int32(s), int32(v))],
        [saturated(v, -(2**63), 2**63 - 1) for v in single],
    )
    for folded in (False, True):
        kinds = [(11, lc.uint32), (22, lc.int32), (11, lc.int64)]
        outs = [lc.Buffer(n, t, device=device) for n, t in kinds]
        if folded:
            saturate_folded(*outs, dispatch_size=1)
        else:
            inputs = [lc.Buffer(t(HARD), device=device) for t in (np.float32, np.float64)]
            saturate_loaded(*inputs, *outs, dispatch_size=11)
        for out, want in zip(outs, wants):
            assert out.numpy().tolist() == want, f"folded: {folded}"


def int32(value):
    return saturated(value, -(2**31), 2**31 - 1)


# An int widened to 64 bits compares with constants and with unsigned numbers by its value.


@lc.kernel
def compare_widened(
    a: lc.Buffer[lc.int32], b: lc.Buffer[lc.uint64], v: lc.Buffer[lc.int2], out: lc.Buffer[lc.int32]
):
    i = lc.dispatch_id().x * 6
    x = a[lc.dispatch_id().x]
    wide = lc.int64(x)
    out[i] = lc.int32(wide < 0)
    out[i + 1] = lc.int32(wide >= 5)
    out[i + 2] = lc.int32(-(2**31) < wide)
    out[i + 3] = lc.int32(x < b[0])
    out[i + 4] = lc.int32(b[1] == x)
    out[i + 5] = lc.int32(lc.all(lc.long2(v[0] + x) > 0))


def test_widened_ints_compare_by_value(device):
    values = [-1, 0, 5, 2**31 - 1, -(2**31)]
    out = lc.Buffer(6 * len(values), lc.int32, device=device)
    a = lc.Buffer(np.int32(values), device=device)
    b = lc.Buffer(np.uint64([0, 2**64 - 1]), device=device)
    v = lc.Buffer(np.int32([[0, 0]]), lc.int2, device=device)
    compare_widened(a, b, v, out, dispatch_size=len(values))
    want = [[x < 0, x >= 5, -(2**31) < x, x < 0, False, x > 0] for x in values]
    assert out.numpy().reshape(-1, 6).tolist() == want


# A narrow type that only conversions mention, no buffer: its module validates.


@lc.kernel
def count_narrow(out: lc.Buffer[lc.int32]):
    for i in range(lc.int8(125), lc.int8(127)):
        out[0] += lc.int32(i)
    out[1] = lc.int32(lc.uint16(out[0]))
    out[2] = lc.int32(lc.int8(out[0]))


def test_narrow_types_without_narrow_memory(device):
    out = lc.Buffer(3, lc.int32, device=device)
    count_narrow(out, dispatch_size=1)
    assert out.numpy().tolist() == [251, 251, -5]
