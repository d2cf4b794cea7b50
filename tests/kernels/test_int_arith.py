"""Integer arithmetic that went wrong elsewhere, loaded and folded. Ids are of the collection that
the cases come from."""

import numpy as np
import pytest

import lcpy as lc

# R002: unsigned remainder by a loaded divisor.


@lc.kernel
def hash_loaded(factor: lc.Buffer[lc.uint32], m: lc.Buffer[lc.uint32], out: lc.Buffer[lc.uint32]):
    x = (factor[0] * 1) ^ (factor[1] * 2654435761) ^ (factor[2] * 805459861)
    out[0] = x % m[0]
    out[1] = x % 524288
    out[2] = x // m[0]


@lc.kernel
def hash_folded(out: lc.Buffer[lc.uint32]):
    x = (lc.uint32(660) * 1) ^ (lc.uint32(241) * 2654435761) ^ (lc.uint32(838) * 805459861)
    out[0] = x % 524288
    out[1] = x % lc.uint32(524288)
    out[2] = x // 524288


def test_r002_unsigned_remainder(device):
    mask = (1 << 32) - 1
    x = 660 ^ ((241 * 2654435761) & mask) ^ ((838 * 805459861) & mask)
    assert x % 524288 == 212107 and x >= 1 << 31
    want = [212107, 212107, x // 524288]
    factors, m = np.uint32([660, 241, 838]), np.uint32([524288])
    assert run_one(hash_loaded, device, factors, m).tolist() == want
    assert run_one(hash_folded, device).tolist() == want


def run_one(kernel, device, *arrays, n=3, element=lc.uint32):
    buffers = [lc.Buffer(a, device=device) for a in arrays]
    out = lc.Buffer(n, element, device=device)
    kernel(*buffers, out, dispatch_size=1)
    return out.numpy()


# R004: division by zero in one lane.


@lc.kernel
def divide_lanes(a: lc.Buffer[lc.int4], b: lc.Buffer[lc.int4], out: lc.Buffer[lc.int4]):
    out[0] = a[0] // b[0]
    out[1] = a[0] % b[0]
    out[2] = lc.div(a[0], b[0])
    out[3] = lc.rem(a[0], b[0])


@lc.kernel
def divide_lanes_folded(out: lc.Buffer[lc.int4]):
    a = lc.int4(8, 9, 10, 11)
    b = lc.int4(2, 0, 5, 0)
    out[0] = a // b
    out[1] = a % b
    out[2] = lc.div(a, b)
    out[3] = lc.rem(a, b)


def test_r004_zero_lanes_spoil_no_others(device):
    want = [[4, 0, 2, 0], [0, 0, 0, 0], [4, 0, 2, 0], [0, 0, 0, 0]]
    a = lc.Buffer(np.int32([[8, 9, 10, 11]]), lc.int4, device=device)
    b = lc.Buffer(np.int32([[2, 0, 5, 0]]), lc.int4, device=device)
    out = lc.Buffer(4, lc.int4, device=device)
    divide_lanes(a, b, out, dispatch_size=1)
    assert out.numpy().tolist() == want
    out.fill((7, 7, 7, 7))
    divide_lanes_folded(out, dispatch_size=1)
    assert out.numpy().tolist() == want


# R005: floor division and modulo of negative numbers.

PAIRS = [
    (sx * x, sy * y)
    for x, y in [(5, 3), (7, 2), (6, 3), (1, 8)]
    for sx in (1, -1)
    for sy in (1, -1)
]


@lc.kernel
def floor_loaded(a: lc.Buffer[lc.int32], b: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    out[2 * i] = a[i] // b[i]
    out[2 * i + 1] = a[i] % b[i]


@lc.kernel
def floor_folded(out: lc.Buffer[lc.int32]):
    for k in lc.static(range(len(PAIRS))):
        x = lc.int32(lc.static(PAIRS[k][0]))
        out[2 * k] = x // lc.int32(lc.static(PAIRS[k][1]))
        out[2 * k + 1] = x % lc.int32(lc.static(PAIRS[k][1]))


def test_r005_floor_semantics(device):
    want = [v for a, b in PAIRS for v in (a // b, a % b)]
    a, b = (lc.Buffer(np.array(c, np.int32), device=device) for c in zip(*PAIRS))
    out = lc.Buffer(len(want), lc.int32, device=device)
    floor_loaded(a, b, out, dispatch_size=len(PAIRS))
    assert out.numpy().tolist() == want
    out.fill(99)
    floor_folded(out, dispatch_size=1)
    assert out.numpy().tolist() == want


# R007: x % 1 and its kin are not identities on floats.


@lc.kernel
def float_identities(x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    i = lc.dispatch_id().x
    out[4 * i] = x[i] % 1
    out[4 * i + 1] = x[i] * 0
    out[4 * i + 2] = x[i] - x[i]
    out[4 * i + 3] = x[i] / x[i]


@lc.kernel
def float_identities_folded(out: lc.Buffer[lc.float32]):
    for k in lc.static(range(5)):
        v = lc.float32(lc.static(R007[k]))
        out[4 * k] = v % 1
        out[4 * k + 1] = v * 0
        out[4 * k + 2] = v - v
        out[4 * k + 3] = v / v


R007 = [0.5, 2.75, -0.25, float("inf"), 0.0]


def test_r007_float_identities(device):
    nan = float("nan")
    want = [0.5, 0, 0, 1, 0.75, 0, 0, 1, 0.75, -0.0, 0, 1, nan, nan, nan, nan, 0, 0, 0, nan]
    out = lc.Buffer(20, lc.float32, device=device)
    float_identities(lc.Buffer(np.float32(R007), device=device), out, dispatch_size=5)
    np.testing.assert_array_equal(out.numpy(), np.float32(want))
    out.fill(99)
    float_identities_folded(out, dispatch_size=1)
    np.testing.assert_array_equal(out.numpy(), np.float32(want))


# R008: integer powers end.

POWERS = [(10, -2), (0, 0), (2, 31), (-2, 31), (1, -5), (-1, -5), (-1, -4), (0, -1), (3, 40)]
POWER_RESULTS = [0, 1, -(2**31), -(2**31), 1, -1, 1, 0, (3**40 + 2**31) % 2**32 - 2**31]


@lc.kernel
def power_loaded(a: lc.Buffer[lc.int32], e: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    out[i] = a[i] ** e[i]


@lc.kernel
def power_folded(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    out[0] = a[0] ** 0
    out[1] = a[0] ** 5
    out[2] = lc.int32(2) ** 31
    out[3] = lc.int32(-2) ** 31


def test_r008_integer_power(device):
    a, e = (lc.Buffer(np.array(c, np.int32), device=device) for c in zip(*POWERS))
    out = lc.Buffer(len(POWERS), lc.int32, device=device)
    power_loaded(a, e, out, dispatch_size=len(POWERS))
    assert out.numpy().tolist() == POWER_RESULTS
    out = lc.Buffer(4, lc.int32, device=device)
    power_folded(a, out, dispatch_size=1)
    assert out.numpy().tolist() == [1, 100000, -(2**31), -(2**31)]


def test_r008_known_negative_power_is_refused(cpu):
    @lc.kernel
    def wrong(a: lc.Buffer[lc.int32]):
        a[0] = a[0] ** -2

    with pytest.raises(lc.CompileError, match="power|exponent"):
        wrong(lc.Buffer(1, lc.int32, device=cpu), dispatch_size=1)


# R009: shift amounts are taken modulo the width.

AMOUNTS = [0, 1, 31, 32, 33, 63, 64, -1, -31]


@lc.kernel
def shift_loaded(
    n: lc.Buffer[lc.int32], a: lc.Buffer[lc.int32], b: lc.Buffer[lc.uint64], c: lc.Buffer[lc.int8]
):
    i = lc.dispatch_id().x
    a[2 * i] = lc.int32(1) << n[i]
    a[2 * i + 1] = lc.int32(-123456789) >> n[i]
    b[i] = lc.uint64(3) << n[i]
    c[i] = lc.int8(-77) >> n[i]


@lc.kernel
def shift_folded(a: lc.Buffer[lc.int32], b: lc.Buffer[lc.uint64], c: lc.Buffer[lc.int8]):
    for k in lc.static(range(9)):
        n = lc.int32(lc.static(AMOUNTS[k]))
        a[2 * k] = lc.int32(1) << n
        a[2 * k + 1] = lc.int32(-123456789) >> n
        b[k] = lc.uint64(3) << n
        c[k] = lc.int8(-77) >> n


def test_r009_shift_amounts(device):
    def signed(v):
        return (v + 2**31) % 2**32 - 2**31

    wants = (
        [v for n in AMOUNTS for v in (signed(1 << n % 32), -123456789 >> n % 32)],
        [(3 << n % 64) % 2**64 for n in AMOUNTS],
        [-77 >> n % 8 for n in AMOUNTS],
    )
    for folded in (False, True):
        outs = [
            lc.Buffer(k, t, device=device)
            for k, t in [(18, lc.int32), (9, lc.uint64), (9, lc.int8)]
        ]
        if folded:
            shift_folded(*outs, dispatch_size=1)
        else:
            shift_loaded(lc.Buffer(np.int32(AMOUNTS), device=device), *outs, dispatch_size=9)
        for out, want in zip(outs, wants):
            assert out.numpy().tolist() == want, f"folded: {folded}"


# abs(MIN) is MIN, also for whoever asks whether it is negative.


@lc.kernel
def smallest(x, out, sign):
    i = lc.dispatch_id().x
    a = abs(x[i])
    out[i] = a
    sign[i, 0] = lc.sign(a)
    sign[i, 1] = lc.sign(lc.max(a, -3))
    if a < 0:
        sign[i, 2] = 1
    match lc.sign(lc.abs(x[i])):
        case 1:
            sign[i, 3] = 5
        case -1:
            sign[i, 3] = 6


@pytest.mark.parametrize("T", [lc.int8, lc.int16, lc.int32, lc.int64])
def test_abs_of_smallest(device, T):
    x = np.array([np.iinfo(T.dtype).min, -3, 0, 7], T.dtype)
    out, sign = (lc.Buffer(shape, T, device=device) for shape in (4, (4, 4)))
    smallest(lc.Buffer(x, device=device), out, sign, dispatch_size=4)
    assert out.numpy().tolist() == [x[0], 3, 0, 7]
    want = [[-1, -1, 1, 6], [1, 1, 0, 5], [0, 0, 0, 0], [1, 1, 0, 5]]
    assert sign.numpy().tolist() == want
