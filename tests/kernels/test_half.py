"""float16 means the same on every device, also where it is emulated: every value, against NumPy."""

import numpy as np
import pytest
from ops import reference as ref

import lcpy as lc

H = lc.half
ALL = np.arange(65536, dtype=np.uint16).view(np.float16)
ONE = np.float16(1)


def check(names, got, wants, *inputs, any_zero=()):
    """Bits equal, or both NaN; `any_zero` names results whose zeros may have either sign."""
    for name, row, want in zip(names, got.reshape(len(names), -1), wants, strict=True):
        want = np.asarray(want, np.float16)
        same = (row.view(np.uint16) == want.view(np.uint16)) | (np.isnan(row) & np.isnan(want))
        if name in any_zero:
            same |= row == want
        k = int(np.argmin(same))
        at = [x[k] for x in inputs]
        assert same.all(), f"{name} of {at}: {row[k]!r}, not {want[k]!r} ({(~same).sum()} differ)"


@lc.kernel(math="strict")
def unary(a: lc.Buffer[H], o: lc.Buffer[H]):
    i = lc.dispatch_id().x
    n = lc.dispatch_size().x
    x = a[i]
    o[i] = x
    o[n + i] = -x
    o[2 * n + i] = abs(x)
    o[3 * n + i] = lc.floor(x)
    o[4 * n + i] = lc.ceil(x)
    o[5 * n + i] = lc.round(x)
    o[6 * n + i] = lc.trunc(x)
    o[7 * n + i] = lc.fract(x)
    o[8 * n + i] = lc.sqrt(x)
    o[9 * n + i] = lc.sign(x)
    o[10 * n + i] = x * x
    o[11 * n + i] = H(1.0) / x
    o[12 * n + i] = H(lc.float32(x))
    o[13 * n + i] = H(lc.float64(x))
    o[14 * n + i] = lc.saturate(x)
    o[15 * n + i] = H(lc.int32(x)) if abs(x) < H(1e3) else H(0.0)


@np.errstate(all="ignore")
def test_unary_operations_on_every_half(device):
    out = lc.Buffer(16 * len(ALL), H, device=device)
    unary(lc.Buffer(ALL, device=device), out, dispatch_size=len(ALL))
    x, nan = ALL, np.isnan(ALL)
    small = np.where(np.abs(x) < np.float16(1e3), x, ONE * 0)
    wants = {
        "x": x,
        "-x": -x,
        "abs": np.abs(x),
        "floor": np.floor(x),
        "ceil": np.ceil(x),
        "round": np.rint(x),
        "trunc": np.trunc(x),
        "fract": x - np.floor(x),
        "sqrt": np.sqrt(x),
        "sign": np.where(nan, ONE * 0, np.sign(x)),
        "x * x": x * x,
        "1 / x": ONE / x,
        "through float32": x,
        "through float64": x,
        "saturate": np.where(nan, ONE * 0, np.clip(x, ONE * 0, ONE)),
        "through int32": small.astype(np.int32).astype(np.float16),
    }
    check(wants, out.numpy(), wants.values(), x, any_zero=("sign", "fract", "saturate"))


@lc.kernel
def questions(a: lc.Buffer[H], o: lc.Buffer[lc.uint8]):
    i = lc.dispatch_id().x
    x = a[i]
    bits = lc.uint8(0)
    bits |= lc.uint8(lc.isnan(x))
    bits |= lc.uint8(lc.isinf(x)) << 1
    bits |= lc.uint8(bool(x)) << 2
    bits |= lc.uint8(x == H(0.5)) << 3
    bits |= lc.uint8(x < H(0.5)) << 4
    bits |= lc.uint8(x != x) << 5
    bits |= lc.uint8(lc.bitcast(lc.uint16, x) == lc.bitcast(lc.uint16, -(-x))) << 6
    o[i] = bits


def test_questions_about_every_half(device):
    out = lc.Buffer(len(ALL), lc.uint8, device=device)
    questions(lc.Buffer(ALL, device=device), out, dispatch_size=len(ALL))
    x = ALL
    parts = [np.isnan(x), np.isinf(x), x != 0, x == 0.5, x < 0.5, x != x, np.ones(len(x), bool)]
    want = sum(p.astype(np.uint8) << k for k, p in enumerate(parts))
    assert (out.numpy() == want).all()


def samples(count=60_000):
    """Three columns of halves: anything, numbers near one, small and subnormal ones."""
    random = np.random.default_rng(3)

    def column():
        sign = random.integers(0, 2, count) << 15
        near = random.integers(0x3800, 0x4400, count) | sign
        small = random.integers(0, 0x600, count) | sign
        kind = random.integers(0, 4, count)
        anything = random.integers(0, 65536, count)
        bits = np.where(kind == 0, near, np.where(kind == 1, small, anything))
        return bits.astype(np.uint16).view(np.float16)

    return column(), column(), column()


@lc.kernel(math="strict")
def binary(a: lc.Buffer[H], b: lc.Buffer[H], c: lc.Buffer[H], o: lc.Buffer[H]):
    i = lc.dispatch_id().x
    n = lc.dispatch_size().x
    x, y, z = a[i], b[i], c[i]
    o[i] = x + y
    o[n + i] = x - y
    o[2 * n + i] = x * y
    o[3 * n + i] = x / y
    o[4 * n + i] = lc.copysign(x, y)
    o[5 * n + i] = x // y
    o[6 * n + i] = x % y
    o[7 * n + i] = lc.min(x, y)
    o[8 * n + i] = lc.max(x, y)
    o[9 * n + i] = lc.fma(x, y, z)
    o[10 * n + i] = x if x < y else z
    o[11 * n + i] = lc.lerp(x, y, z)


def fused(x, y, z):
    """The product is exact in float64; what the sum loses there makes it odd before it rounds."""
    product = x.astype(np.float64) * y.astype(np.float64)
    c = z.astype(np.float64)
    total = product + c
    part = total - product
    lost = (product - (total - part)) + (c - part)
    bits = total.view(np.int64).copy()
    inexact = (lost != 0) & np.isfinite(total) & np.isfinite(lost)
    bits -= (inexact & ((lost < 0) != (total < 0))).astype(np.int64)
    bits |= inexact
    return bits.view(np.float64).astype(np.float16)


@np.errstate(all="ignore")
def test_binary_operations(device):
    x, y, z = samples()
    out = lc.Buffer(12 * len(x), H, device=device)
    inputs = [lc.Buffer(v, device=device) for v in (x, y, z)]
    binary(*inputs, out, dispatch_size=len(x))
    wants = {
        "x + y": x + y,
        "x - y": x - y,
        "x * y": x * y,
        "x / y": x / y,
        "copysign": np.copysign(x, y),
        "x // y": np.where(y == 0, x / y, np.floor_divide(x, y)),
        "x % y": np.where(y == 0, np.nan, np.remainder(x, y)),
        "min": [ref.lower(*p) for p in zip(x, y)],
        "max": [ref.upper(*p) for p in zip(x, y)],
        "fma": fused(x, y, z),
        "x < y": np.where(x < y, x, z),
        "lerp": x + z * (y - x),
    }
    check(wants, out.numpy(), wants.values(), x, y, z, any_zero=("x // y", "x % y", "lerp"))


def midpoints(dtype):
    """Where rounding to half decides: halves, the points between them, and both neighbours."""
    halves = ALL[np.isfinite(ALL)].astype(np.float64)
    steps = np.unique(np.abs(halves))
    middle = (steps[1:] + steps[:-1]) / 2
    middle = np.append(middle, [65520.0, 65536.0, 1e5, 1e30])
    middle = middle.astype(dtype)
    near = [np.nextafter(middle, dtype(0)), middle, np.nextafter(middle, dtype(np.inf))]
    special = np.array([0, np.inf, np.nan, np.finfo(dtype).max, np.finfo(dtype).tiny], dtype)
    values = np.concatenate([*near, special])
    return np.concatenate([values, -values])


@lc.kernel
def from_floats(a: lc.Buffer[lc.float32], b: lc.Buffer[lc.float64], o: lc.Buffer[H]):
    i = lc.dispatch_id().x
    o[i] = H(a[i])
    o[lc.dispatch_size().x + i] = H(b[i])


@np.errstate(all="ignore")
def test_floats_round_to_half_once(device):
    a, b = midpoints(np.float32), midpoints(np.float64)
    out = lc.Buffer(2 * len(a), H, device=device)
    from_floats(lc.Buffer(a, device=device), lc.Buffer(b, device=device), out, dispatch_size=len(a))
    check(("float32", "float64"), out.numpy(), (a.astype(np.float16), b.astype(np.float16)), b)


@lc.kernel
def from_integers(a: lc.Buffer[lc.int64], b: lc.Buffer[lc.uint64], o: lc.Buffer[H]):
    i = lc.dispatch_id().x
    n = lc.dispatch_size().x
    o[i] = H(a[i])
    o[n + i] = H(b[i])
    o[2 * n + i] = H(lc.int32(a[i]))
    o[3 * n + i] = H(lc.uint16(a[i]))
    o[4 * n + i] = H(lc.int8(a[i]))


@np.errstate(all="ignore")
def test_integers_round_to_half_once(device):
    base = np.array([0, 1, 2049, 4098, 4099, 65519, 65520, 65535, 2**24 + 1, 2**53 + 1, 2**62 + 1])
    a = np.concatenate([base, base + 1, -base, -base - 1])
    b = a.astype(np.uint64)
    out = lc.Buffer(5 * len(a), H, device=device)
    buffers = lc.Buffer(a, device=device), lc.Buffer(b, device=device)
    from_integers(*buffers, out, dispatch_size=len(a))
    kinds = (np.int64, np.uint64, np.int32, np.uint16, np.int8)
    wants = [[np.float16(float(v)) for v in a.astype(k).tolist()] for k in kinds]
    check([k.__name__ for k in kinds], out.numpy(), wants, a)


@lc.kernel
def to_others(
    a: lc.Buffer[H], w: lc.Buffer[lc.int64], u: lc.Buffer[lc.uint8], d: lc.Buffer[lc.float64]
):
    i = lc.dispatch_id().x
    w[i] = lc.int64(a[i])
    u[i] = lc.uint8(a[i])
    d[i] = lc.float64(a[i])


@np.errstate(all="ignore")
def test_every_half_to_other_types(device):
    n = len(ALL)
    outs = [lc.Buffer(n, T, device=device) for T in (lc.int64, lc.uint8, lc.float64)]
    to_others(lc.Buffer(ALL, device=device), *outs, dispatch_size=n)
    whole, byte, double = (o.numpy() for o in outs)
    finite = np.isfinite(ALL)
    x = np.where(finite, ALL, ONE * 0).astype(np.float64)
    assert (whole[finite] == np.trunc(x)[finite]).all() and (whole[np.isnan(ALL)] == 0).all()
    assert (whole[ALL == np.inf] == 2**63 - 1).all() and (whole[ALL == -np.inf] == -(2**63)).all()
    assert (byte[finite] == np.clip(np.trunc(x), 0, 255)[finite]).all()
    assert (byte[ALL == np.inf] == 255).all() and (byte[ALL == -np.inf] == 0).all()
    want = ALL.astype(np.float64)
    assert ((double == want) | (np.isnan(double) & np.isnan(want))).all()


# ---- everywhere a half can be ----


@lc.struct
class Part:
    m: lc.half2x2
    v: lc.half3
    s: H
    t: lc.Array[H, 3]


TABLE = np.array([0.5, 1.5, -2.5, 3.0], np.float16)
TWO = lc.half2(0.25, -4.0)


@lc.callable
def scaled(x: lc.half3, factor: H) -> lc.half3:
    return x * factor + lc.half3(0.125)


@lc.callable
def raise_by(x: lc.Ref[H], amount: H):
    x += amount


@lc.kernel(block_size=32)
def places(
    parts: lc.Buffer[Part],
    out: lc.Buffer[Part],
    v: lc.half3,
    h: H,
    given: Part,
    table: lc.Array[H, 4],
):
    near = lc.shared(H, 32)
    i = lc.dispatch_id().x
    t = lc.thread_id().x
    near[t] = H(t) * H(0.5)
    lc.sync_block()
    p = parts[i]
    local = lc.Array[H, 4]()
    for k in range(4):
        local[k] = table[k] * TWO[k % 2] + TABLE[(lc.uint(k) + i) % 4]
    p.v = scaled(p.v, h) + v + given.v
    p.m = p.m @ given.m + lc.half2x2(TWO, TWO.yx)
    p.s = near[31 - t] + local[i % 4]
    raise_by(p.s, given.t[i % 3])
    p.t[i % 3] = p.s
    raise_by(p.t[(i + 1) % 3], h)
    p.v[i % 3] += p.m[0, 1]
    if p.s > H(4.0):
        p.t[2] -= 1.0
    out[i] = p


@np.errstate(all="ignore")
def test_halves_in_every_place(device, cpu):
    random = np.random.default_rng(8)
    n = 64
    parts = np.zeros(n, Part.dtype)
    for name in parts.dtype.names:
        field = parts[name]
        field[...] = random.uniform(-4, 4, field.shape).astype(np.float16)
    f = np.float16
    v, h = (0.5, -1.25, 2.0), 1.5
    given = Part(m=lc.half2x2.from_rows((1, 0.5), (-0.25, 2)), v=(1, 2, 3), s=4, t=(0.5, 0.25, -8))
    table = (1.0, 2.0, 0.1, -0.3)
    out = lc.Buffer(n, Part, device=device)
    arguments = lc.Buffer(parts, Part, device=device), out, v, h, given, table
    places(*arguments, dispatch_size=n)
    want = parts.copy()
    m2 = np.array([[1, 0.5], [-0.25, 2]], f)
    two = np.array([0.25, -4.0], f)
    for i in range(n):
        p, t = want[i], i % 32
        local = [f(table[k]) * two[k % 2] + TABLE[(k + i) % 4] for k in range(4)]
        p["v"] = (p["v"] * f(h) + f(0.125)) + np.array(v, f) + np.array([1, 2, 3], f)
        m = p["m"].copy()
        for r in range(2):
            for c in range(2):
                total = m[r, 0] * m2[0, c] + m[r, 1] * m2[1, c]
                p["m"][r, c] = total + (two if c == 0 else two[::-1])[r]
        p["s"] = f(31 - t) * f(0.5) + local[i % 4]
        p["s"] += f((0.5, 0.25, -8)[i % 3])
        p["t"][i % 3] = p["s"]
        p["t"][(i + 1) % 3] += f(h)
        p["v"][i % 3] += p["m"][0, 1]
        if p["s"] > 4:
            p["t"][2] -= f(1)
    got = out.numpy()
    for name in got.dtype.names:
        # A product and a sum may be contracted: one step of the last place, no more.
        step = np.spacing(np.maximum(np.abs(want[name]), f(1))).astype(np.float32)
        error = np.abs(got[name].astype(np.float32) - want[name].astype(np.float32))
        assert (error <= 4 * step).all(), name


@lc.kernel(math="strict")
def algebra(a: lc.Buffer[lc.half3x3], v: lc.Buffer[lc.half3], o: lc.Buffer[H]):
    i = lc.dispatch_id().x
    m, w = a[i], v[i]
    r = m @ w
    o[i * 8] = r.x
    o[i * 8 + 1] = lc.determinant(m)
    o[i * 8 + 2] = lc.dot(w, r)
    o[i * 8 + 3] = lc.transpose(m)[2, 0]
    o[i * 8 + 4] = (m * m)[1, 2]
    o[i * 8 + 5] = lc.outer(w, w)[2, 1]
    o[i * 8 + 6] = lc.sum(w) + lc.product(w)
    o[i * 8 + 7] = lc.length_squared(lc.cross(w, r))


def test_half_matrices_as_on_cpu(other_device, cpu):
    random = np.random.default_rng(9)
    a = random.uniform(-2, 2, (50, 3, 3)).astype(np.float16)
    v = random.uniform(-2, 2, (50, 3)).astype(np.float16)
    results = []
    for device in (cpu, other_device):
        out = lc.Buffer(400, H, device=device)
        buffers = (
            lc.Buffer(a, lc.half3x3, device=device),
            lc.Buffer(v, lc.half3, device=device),
        )
        algebra(*buffers, out, dispatch_size=50)
        results.append(out.numpy())
    assert (results[0].view(np.uint16) == results[1].view(np.uint16)).all()
    exact = np.einsum("ij,ij->i", a[:, 0].astype(np.float64), v.astype(np.float64))
    assert np.allclose(results[0][::8], exact, atol=0.02)


@pytest.mark.parametrize("lanes", [2, 3, 4])
def test_vectors_of_half_copy_and_add(lanes, device):
    V = lc.vector(H, lanes)
    x = np.arange(5 * lanes, dtype=np.float16).reshape(5, lanes)
    out = lc.Buffer(5, V, device=device)
    {2: add2, 3: add3, 4: add4}[lanes](lc.Buffer(x, V, device=device), out, dispatch_size=5)
    assert (out.numpy() == x + np.arange(1, lanes + 1, dtype=np.float16)).all()


@lc.kernel
def add2(a: lc.Buffer[lc.half2], o: lc.Buffer[lc.half2]):
    o[lc.dispatch_id().x] = a[lc.dispatch_id().x] + lc.half2(1, 2)


@lc.kernel
def add3(a: lc.Buffer[lc.half3], o: lc.Buffer[lc.half3]):
    o[lc.dispatch_id().x] = a[lc.dispatch_id().x] + lc.half3(1, 2, 3)


@lc.kernel
def add4(a: lc.Buffer[lc.half4], o: lc.Buffer[lc.half4]):
    o[lc.dispatch_id().x] = a[lc.dispatch_id().x] + lc.half4(1, 2, 3, 4)


@lc.external(opencl="half twice(half x) { return x + x; }")
def twice(x: H) -> H:
    return x + x


@lc.kernel
def use_external(o: lc.Buffer[H]):
    o[0] = twice(o[0] + H(1.5))


def test_an_external_function_of_half_needs_half(device):
    out = lc.Buffer(1, H, device=device)
    if device.kind == "opencl" and device.features["float16"] == "emulated":
        with pytest.raises(lc.UnsupportedError, match="an external function of half.*cl_khr_fp16"):
            use_external(out, dispatch_size=1)
    else:
        use_external(out, dispatch_size=1)
        assert out.numpy()[0] == 3
