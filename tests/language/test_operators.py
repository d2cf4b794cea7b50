"""lcpy/language.md, section "Operators": a test for each rule, of the rule's name."""

import math
import warnings

import numpy as np
import pytest

import lcpy as lc
from language.harness import agree, run

I32 = [lc.int32, lc.int32]
MIN, MAX = -(1 << 31), (1 << 31) - 1


def wrap(value, bits, signed=True):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def refused(error, text, function, *types):
    """Compiling a kernel of `function` is an error whose message has `text`."""
    with pytest.raises(error) as caught:
        lc.kernel(function).compile(*types, target="opencl")
    assert text in str(caught.value), caught.value
    return str(caught.value)


WIDTHS = [(lc.int8, 8, 1), (lc.uint16, 16, 0), (lc.int32, 32, 1), (lc.uint64, 64, 0)]


def test_wrapping(device):
    for T, bits, signed in WIDTHS:
        top = (1 << (bits - signed)) - 1
        low = -top - 1 if signed else 0
        rows = [(top, 1), (low, 1), (top, top), (low, low), (3, 5)]
        for f, g in [
            (lambda a, b: a + b, lambda a, b: a + b),
            (lambda a, b: a - b, lambda a, b: a - b),
            (lambda a, b: a * b, lambda a, b: a * b),
        ]:
            agree(device, f, [T, T], rows, [wrap(g(*r), bits, signed) for r in rows], T)


def test_true_division(device):
    rows = [(7, 2), (-7, 2), (1, 3), (MAX, -1), (1, 0), (-1, 0), (0, 0)]
    with np.errstate(all="ignore"):
        want = [np.float32(a) / np.float32(b) for a, b in rows]
        agree(device, lambda a, b: a / b, I32, rows, want, lc.float32, math="strict")
        if device.info.features["float64"]:
            want = [np.float64(a) / np.float64(b) for a, b in rows]
            f = [lc.int64, lc.int64]
            agree(device, lambda a, b: a / b, f, rows, want, lc.float64, math="strict")


QUOTIENTS = [
    (7, 2),
    (-7, 2),
    (7, -2),
    (-7, -2),
    (6, 3),
    (-6, 3),
    (-1, 8),
    (0, 5),
    (MIN, 3),
    (MAX, -9),
]


def test_floor_division(device):
    agree(device, lambda a, b: a // b, I32, QUOTIENTS, [a // b for a, b in QUOTIENTS], lc.int32)
    agree(device, lambda a, b: a % b, I32, QUOTIENTS, [a % b for a, b in QUOTIENTS], lc.int32)


def test_truncating_division(device):
    want = [int(math.copysign(abs(a) // abs(b), a * b)) if a else 0 for a, b in QUOTIENTS]
    agree(device, lambda a, b: lc.div(a, b), I32, QUOTIENTS, want, lc.int32)
    rest = [a - b * q for (a, b), q in zip(QUOTIENTS, want)]
    agree(device, lambda a, b: lc.rem(a, b), I32, QUOTIENTS, rest, lc.int32)


def test_exact_integer_division(device):
    # 2^24 + 1 and its like have no float32, 2^53 + 1 no float64.
    rows = [(16777217, 1), (MAX, 1), (2147483645, 3), (MIN + 1, 7)]
    agree(device, lambda a, b: a // b, I32, rows, [a // b for a, b in rows], lc.int32)
    rows = [((1 << 53) + 1, 1), ((1 << 62) + 1, 3), (-(1 << 60) - 1, 7), ((1 << 63) - 1, 10)]
    L = [lc.int64, lc.int64]
    agree(device, lambda a, b: a // b, L, rows, [a // b for a, b in rows], lc.int64)
    agree(device, lambda a, b: a % b, L, rows, [a % b for a, b in rows], lc.int64)


def test_division_by_zero(device):
    rows = [(8, 0), (-8, 0), (0, 0), (MIN, -1), (9, 2)]
    for f, want in [
        (lambda a, b: a // b, [0, 0, 0, MIN, 4]),
        (lambda a, b: a % b, [0, 0, 0, 0, 1]),
        (lambda a, b: lc.div(a, b), [0, 0, 0, MIN, 4]),
        (lambda a, b: lc.rem(a, b), [0, 0, 0, 0, 1]),
    ]:
        agree(device, f, I32, rows, want, lc.int32)
    lanes = [((8, 9, -10, MIN), (2, 0, 3, -1))]
    V = [lc.int4, lc.int4]
    agree(device, lambda a, b: a // b, V, lanes, [(4, 0, -4, MIN)], lc.int4)
    agree(device, lambda a, b: a % b, V, lanes, [(0, 0, 2, 0)], lc.int4)


def test_abs_of_min(device):
    agree(device, lambda a: abs(a), [lc.int32], [MIN, MIN + 1, -1, 0], [MIN, MAX, 1, 0], lc.int32)
    agree(device, lambda a: abs(a), [lc.int8], [-128, -127], [-128, 127], lc.int8)


def test_integer_power(device):
    rows = [
        (2, 10),
        (2, 31),
        (-2, 31),
        (0, 0),
        (10, -2),
        (1, -5),
        (-1, -5),
        (-1, -4),
        (0, -1),
        (3, 40),
    ]
    want = [1024, MIN, MIN, 1, 0, 1, -1, 1, 0, wrap(3**40, 32)]
    agree(device, lambda a, b: a**b, I32, rows, want, lc.int32)

    def known(out: lc.Buffer[lc.int32]):
        out[0] = out[0] ** -2

    refused(lc.CompileError, "-2", known, lc.Buffer[lc.int32])


def test_shifts(device):
    rows = [(1, 31), (1, 32), (1, 33), (1, 63), (-8, 1), (-8, 33), (MIN, 31), (5, -1)]
    left = [wrap(a << (n % 32), 32) for a, n in rows]
    agree(device, lambda a, n: a << n, I32, rows, left, lc.int32)
    agree(device, lambda a, n: a >> n, I32, rows, [a >> (n % 32) for a, n in rows], lc.int32)
    unsigned = [(0x80000000, 31), (0x80000000, 35), (1, 64)]
    want = [a >> (n % 32) for a, n in unsigned]
    agree(device, lambda a, n: a >> n, [lc.uint32, lc.int32], unsigned, want, lc.uint32)
    # The amount's own type matters for nothing: 64-bit and narrow ones.
    rows = [(1, 40), (3, 8)]
    want = [wrap(a << (n % 32), 32) for a, n in rows]
    agree(device, lambda a, n: a << n, [lc.int32, lc.uint64], rows, want, lc.int32)
    agree(device, lambda a, n: a << n, [lc.int32, lc.uint8], rows, want, lc.int32)
    rows = [((1 << 63), 63), (1, 64)]
    agree(device, lambda a, n: a >> n, [lc.uint64, lc.int32], rows, [1, 1], lc.uint64)


def test_short_circuit(device):
    @lc.callable
    def touch(count: lc.Buffer[lc.int32], i: lc.int, answer: lc.bool):
        lc.atomic_add(count[i], 1)
        return answer

    @lc.kernel
    def k(flags: lc.Buffer[lc.int32], count: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        t, f = flags[0] == 1, flags[1] == 1
        r = 0
        if f and touch(count, 0, t):
            r += 1
        if t or touch(count, 1, t):
            r += 2
        if t and touch(count, 2, t):
            r += 4
        if f or touch(count, 3, t):
            r += 8
        if t and f and touch(count, 4, t):
            r += 16
        r += 32 if t or touch(count, 5, t) else 64
        v = t if t else touch(count, 6, t)
        out[0] = r + lc.int(v) - 1 + (128 if not f else 256)

    @lc.kernel
    def folded(count: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        r = 0
        if False and touch(count, 0, True):
            r += 1
        if True or touch(count, 1, True):
            r += 2
        if True and touch(count, 2, True):
            r += 4
        if False or touch(count, 3, True):
            r += 8
        out[0] = r

    count = lc.Buffer(8, lc.int32, device=device)
    flags = lc.Buffer(np.int32([1, 0]), device=device)
    assert run(k, device, flags, count)[0] == 2 + 4 + 8 + 32 + 128
    assert count.numpy().tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
    count.fill(0)
    assert run(folded, device, count)[0] == 14
    assert count.numpy().tolist() == [0, 0, 1, 1, 0, 0, 0, 0]

    # Memory of the side not taken is not touched: the index would be far outside.
    @lc.kernel
    def guarded(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        i = lc.int(lc.dispatch_id().x) - 2
        ok = i >= 0 and i < lc.int(len(a)) and a[i] != 0
        out[i + 2] = (a[i] if ok else -1) if i < 3 else -2

    a = np.int32([5, 0, 7])
    got = run(guarded, device, a, n=6, dispatch_size=6)
    assert got.tolist() == [-1, -1, 5, -1, 7, -2]


def test_vector_logic(device):
    B = lc.bool3
    rows = [((1, 0, 1), (1, 1, 0))]
    agree(device, lambda a, b: a & b, [B, B], rows, [(1, 0, 0)], B)
    agree(device, lambda a, b: a | b, [B, B], rows, [(1, 1, 1)], B)
    agree(device, lambda a: ~a, [B], [((1, 0, 1),)], [(0, 1, 0)], B)
    rows = [((1, 0, 1), (1, 2, 3), (-1, -2, -3))]
    agree(
        device,
        lambda c, a, b: lc.select(c, a, b),
        [B, lc.int3, lc.int3],
        rows,
        [(1, -2, 3)],
        lc.int3,
    )


def test_chained_comparisons(device):
    rows = [(1, 2, 3), (1, 3, 2), (2, 2, 2), (3, 2, 1)]
    T = [lc.int32] * 3
    agree(device, lambda a, b, c: a < b < c, T, rows, [1, 0, 0, 0], lc.bool)
    agree(device, lambda a, b, c: a <= b <= c, T, rows, [1, 0, 1, 0], lc.bool)
    agree(device, lambda a, b, c: a == b != c, T, rows, [0, 0, 0, 0], lc.bool)


def test_comparison_by_value(device):
    rows = [(0, -1), (1, 1), (0xFFFFFFFF, -1), (5, 6), (0x80000000, MIN)]
    T = [lc.uint32, lc.int32]
    agree(device, lambda u, i: u > i, T, rows, [1, 0, 1, 0, 1], lc.bool)
    agree(device, lambda u, i: u == i, T, rows, [0, 1, 0, 0, 0], lc.bool)
    agree(device, lambda u, i: i < u, T, rows, [1, 0, 1, 0, 1], lc.bool)
    rows = [((1 << 64) - 1, -1), (3, 3), (1 << 63, -(1 << 63))]
    agree(device, lambda u, i: u > i, [lc.uint64, lc.int64], rows, [1, 0, 1], lc.bool)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        agree(device, lambda u: u > -1, [lc.uint32], [0, 7], [1, 1], lc.bool)
        agree(device, lambda b: b < 300, [lc.uint8], [0, 255], [1, 1], lc.bool)
    assert any(issubclass(w.category, lc.KernelWarning) for w in caught)


def test_linear_algebra(device):
    @lc.kernel
    def k(m: lc.float2x2, n: lc.float2x2, v: lc.float2, out: lc.Buffer[lc.float32]):
        p, q, r, e = m @ n, m @ v, v @ m, m * n
        for i in lc.static(range(2)):
            out[8 + i] = q[i]
            out[10 + i] = r[i]
            for j in lc.static(range(2)):
                out[2 * i + j] = p[i, j]
                out[4 + 2 * i + j] = e[i, j]

    m, n, v = np.float32([[1, 2], [3, 4]]), np.float32([[5, 6], [7, 8]]), np.float32([9, 10])
    want = np.concatenate([(m @ n).ravel(), (m * n).ravel(), m @ v, v @ m])
    assert run(
        k, device, tuple(map(tuple, m)), n.tolist(), tuple(v), n=12, R=lc.float32
    ).tolist() == (want.tolist())

    def wrong(m: lc.float2x2, out: lc.Buffer[lc.float2]):
        out[0] = m * out[0]

    refused(lc.CompileError, "@", wrong, lc.float2x2, lc.Buffer[lc.float2])


def test_scalar_spread(device):
    V, F = lc.float3, lc.float32
    rows = [((1.5, -2.0, 0.25), 0.5)]
    for f, want in [
        (lambda v, s: v + s, (2.0, -1.5, 0.75)),
        (lambda v, s: s - v, (-1.0, 2.5, 0.25)),
        (lambda v, s: lc.min(v, s), (0.5, -2.0, 0.25)),
        (lambda v, s: lc.max(s, v), (1.5, 0.5, 0.5)),
        (lambda v, s: lc.clamp(v, 0.0, s), (0.5, 0.0, 0.25)),
        (lambda v, s: lc.lerp(v, 2.5, s), (2.0, 0.25, 1.375)),
        (lambda v, s: lc.step(s, v), (1.0, 0.0, 0.0)),
        (lambda v, s: lc.smoothstep(-2.0, 2.0, v * 0.0 + s * 0.0), (0.5, 0.5, 0.5)),
        (lambda v, s: lc.select(v > s, v, s), (1.5, 0.5, 0.5)),
        (lambda v, s: lc.select(s > 0.25, v, 7.0), (1.5, -2.0, 0.25)),
        (lambda v, s: v % s, (0.0, 0.0, 0.25)),
        (lambda v, s: lc.round(lc.pow(v * v, s * 4.0) * 16.0), (81.0, 256.0, 0.0)),
    ]:
        agree(device, f, [V, F], rows, [want], V)


def test_vector_conditions(device):
    V = [lc.int3, lc.int3]
    agree(device, lambda a, b: a < b, V, [((1, 5, 3), (2, 4, 3))], [(1, 0, 0)], lc.bool3)

    def wrong(out: lc.Buffer[lc.int3]):
        if out[0] < out[1]:
            out[0] = out[1]

    message = refused(lc.CompileError, "all", wrong, lc.Buffer[lc.int3])
    assert "any" in message


def test_index_types(device):
    @lc.kernel
    def k(a: lc.Buffer[lc.int32], where: lc.Buffer[lc.int64], out: lc.Buffer[lc.int32]):
        local = lc.array(10, 20, 30)
        out[lc.int8(0)] = a[lc.uint8(where[0])]
        out[lc.uint64(1)] = a[where[0]]
        out[lc.uint16(2)] = local[lc.int16(where[0])]
        out[3] = local[lc.uint32(where[0])] + a[2]

    got = run(k, device, np.int32([1, 2, 3]), np.int64([1]), n=4)
    assert got.tolist() == [2, 2, 20, 23]

    @lc.kernel(bounds="trap")
    def negative(a: lc.Buffer[lc.int32], where: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        out[0] = a[where[0]]

    with pytest.raises(lc.KernelTrap):
        run(negative, device, np.int32([1, 2, 3]), np.int32([-1]))


def test_augmented_once(device):
    @lc.callable
    def next_index(n: lc.Ref[lc.int]) -> lc.int:
        n += 1
        return n - 1

    @lc.kernel
    def k(out: lc.Buffer[lc.int32]):
        n = out[3]
        out[next_index(n)] += 5
        out[next_index(n)] *= 3
        out[3] = n

    out = lc.Buffer(np.int32([1, 2, 3, 0]), device=device)
    k(out, dispatch_size=1)
    assert out.numpy().tolist() == [6, 6, 3, 2]


def test_evaluation_order(device):
    @lc.callable
    def note(log: lc.Ref[lc.int], digit: lc.int) -> lc.int:
        log = log * 10 + digit
        return digit

    @lc.kernel
    def k(seed: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        log = seed[0]
        x = note(log, 1) + note(log, 2) * note(log, 3)
        out[0], out[1] = log, x
        a, b, c = seed[1], seed[2], seed[3]
        a, b = b, a + b
        out[2], out[3] = a, b
        a, b, c = b, c, a
        out[4], out[5], out[6] = a, b, c
        seed[1], seed[2] = seed[2], seed[1]
        out[7], out[8] = seed[1], seed[2]
        if seed[0] == 0:
            a, b = b, a
        out[9], out[10] = a, b

    got = run(k, device, np.int32([0, 1, 2, 3]), n=11)
    assert got.tolist() == [123, 7, 2, 3, 3, 3, 2, 2, 1, 3, 3]


def test_integer_literals(device):
    agree(device, lambda a: a + 200, [lc.uint8], [0, 100], [200, 44], lc.uint8)
    agree(device, lambda a: a + 4294967295, [lc.uint32], [1, 0], [0, 4294967295], lc.uint32)
    agree(device, lambda a: a + 16777217, [lc.float32], [0.0], [16777216.0], lc.float32)

    def wrong(out: lc.Buffer[lc.uint32]):
        out[0] = out[0] + (-1)

    refused(lc.CompileError, "-1", wrong, lc.Buffer[lc.uint32])


def test_float_literals(device):
    agree(device, lambda a: a + 0.1, [lc.float32], [0.0], [np.float32(0.1)], lc.float32)
    agree(device, lambda a: a * 0.5, [lc.int32], [3], [1.5], lc.float32)
    if device.info.features["float64"]:
        agree(device, lambda a: a + 0.1, [lc.float64], [0.0], [0.1], lc.float64)
        agree(device, lambda a: a * 0.5, [lc.int64], [3], [1.5], lc.float64)

    def wrong(out: lc.Buffer[lc.float32]):
        out[0] = out[0] * 1e40

    refused(lc.CompileError, "1e", wrong, lc.Buffer[lc.float32])


def test_literal_casts(device):
    @lc.kernel
    def k(out: lc.Buffer[lc.uint32]):
        out[0] = lc.uint(-1)
        out[1] = lc.uint32(lc.uint8(300))
        out[2] = lc.uint32(lc.int8(200) + 100)
        out[3] = lc.bitcast(lc.uint32, lc.float32(float("inf")))

    assert run(k, device, n=4, R=lc.uint32).tolist() == [4294967295, 44, 44, 0x7F800000]

    def wrong(out: lc.Buffer[lc.float32]):
        out[0] = lc.float32(1e300)

    refused(lc.CompileError, "1e", wrong, lc.Buffer[lc.float32])


def test_lone_literals(device):
    @lc.kernel
    def k(flag: lc.Buffer[lc.int32], out: lc.Buffer[lc.int64]):
        a, b, c, d = 2147483647, 4294967296, 9223372036854775808, 1.5
        e = True
        out[0] = lc.int64(a + 1)
        out[1] = b + 1
        out[2] = lc.int64(c >> 1)
        out[3] = lc.int64(lc.bitcast(lc.int32, d))
        u = lc.uint8(flag[0])
        out[4] = lc.int64((u if e else 1) - lc.uint8(2))
        out[5] = lc.int64((1 if flag[0] == 1 else u) - lc.uint8(2))
        for i in range(lc.uint8(2)):
            out[6] = lc.int64(i - lc.uint8(2))

    got = run(k, device, np.int32([1]), n=7, R=lc.int64)
    assert got.tolist() == [MIN, 4294967297, 1 << 62, 0x3FC00000, 255, 255, 255]


def test_range_type(device):
    @lc.kernel
    def k(n: lc.Buffer[lc.uint32], out: lc.Buffer[lc.int64]):
        total = 0
        for i in range(lc.int16(-2), lc.int32(n[0])):
            total = total * 10 + i + 3
        out[0] = lc.int64(total)
        down = lc.uint32(0)
        for k in range(n[0], lc.uint32(0), -1):
            down = down * 10 + k
        out[1] = lc.int64(down)
        last = lc.uint64(0)
        for j in range(lc.uint64(1) << 40, (lc.uint64(1) << 40) + n[0]):
            last = j
        out[2] = lc.int64(last)

    got = run(k, device, np.uint32([3]), n=3, R=lc.int64)
    assert got.tolist() == [12345, 321, (1 << 40) + 2]


def test_wider_wins(device):
    rows = [(-5, 1 << 40)]
    agree(device, lambda a, b: a + b, [lc.int16, lc.int64], rows, [(1 << 40) - 5], lc.int64)
    agree(device, lambda a, b: a + b, [lc.uint8, lc.uint32], [(200, 100)], [300], lc.uint32)
    agree(device, lambda a, b: a * b, [lc.int32, lc.float32], [(3, 0.5)], [1.5], lc.float32)
    if device.info.features["float64"]:
        rows, want = [(0.1, 1.0)], [float(np.float32(0.1)) + 1.0]
        agree(device, lambda a, b: a + b, [lc.float32, lc.float64], rows, want, lc.float64)


def test_bools_are_not_numbers():
    def wrong(out: lc.Buffer[lc.int32]):
        out[0] = (out[1] > 0) + 1

    message = refused(lc.CompileError, "bool", wrong, lc.Buffer[lc.int32])
    assert "convert" in message


def test_mixed_signs():
    def wrong(u: lc.Buffer[lc.uint32], out: lc.Buffer[lc.int32]):
        out[0] = out[1] + u[0]

    message = refused(lc.CompileError, "uint", wrong, lc.Buffer[lc.uint32], lc.Buffer[lc.int32])
    assert "lc.int(" in message.replace("int32", "int") and "lc.uint(" in message.replace(
        "uint32", "uint"
    )


NAMED = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1e-45, 0.1, 3.4028234663852886e38]


def test_literal_bits(device):
    values = NAMED

    @lc.kernel
    def single(out: lc.Buffer[lc.uint32]):
        for k in lc.static(range(len(values))):
            out[2 * k] = lc.bitcast(lc.uint32, lc.float32(lc.static(values[k])))
            out[2 * k + 1] = lc.bitcast(lc.uint32, -lc.float32(lc.static(values[k])))
        out[18] = lc.bitcast(lc.uint32, --lc.float32(0.25))
        out[19] = lc.bitcast(lc.uint32, lc.float32(-0.0))

    with np.errstate(all="ignore"):
        bits = np.float32(NAMED).view(np.uint32)
    want = [x for b in bits for x in (b, b ^ 0x80000000)]
    got = run(single, device, n=20, R=lc.uint32)
    nan = [8, 9]
    assert [g for i, g in enumerate(got[:18]) if i not in nan] == [
        w for i, w in enumerate(want) if i not in nan
    ]
    assert all((g & 0x7FFFFFFF) > 0x7F800000 for g in got[nan])
    assert got[18:].tolist() == [0x3E800000, 0x80000000]

    @lc.kernel
    def whole(out: lc.Buffer[lc.uint64]):
        out[0] = lc.uint64(18446744073709551615)
        out[1] = lc.uint64(lc.int64(9007199254740993))
        out[2] = lc.uint64(lc.int64(-9223372036854775808))

    got = run(whole, device, n=3, R=lc.uint64)
    assert got.tolist() == [(1 << 64) - 1, (1 << 53) + 1, 1 << 63]
    if device.info.features["float64"]:

        @lc.kernel
        def double(out: lc.Buffer[lc.uint64]):
            for k in lc.static(range(len(values))):
                out[k] = lc.bitcast(lc.uint64, lc.float64(lc.static(values[k])))

        got = run(double, device, n=len(values), R=lc.uint64)
        want = np.float64(NAMED).view(np.uint64)
        assert np.delete(got, 4).tolist() == np.delete(want, 4).tolist()
