"""bfloat16 and the 8-bit floats: storage that converts exactly one way and rounds once the other,
compared with ml_dtypes on every value."""

import subprocess
import sys

import numpy as np
import pytest
from loading import load_source

import lcpy as lc

ml_dtypes = pytest.importorskip("ml_dtypes")

FORMATS = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}
formats = pytest.mark.parametrize("name", FORMATS)


def every(name):
    """All values, as the format's dtype."""
    dtype = np.dtype(FORMATS[name])
    bits = np.arange(1 << (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
    return bits.view(dtype)


def same(a, b):
    """Equal bits, or both NaN."""
    bits = f"u{a.dtype.itemsize}"
    nan = np.isnan(a.astype(np.float32)) & np.isnan(b.astype(np.float32))
    return (a.view(bits) == b.view(bits)) | nan


READ = """
import lcpy as lc

T = lc.{name}

@lc.kernel
def read(a: lc.Buffer[T], f: lc.Buffer[lc.float32], d: lc.Buffer[lc.float64], o: lc.Buffer[T]):
    i = lc.dispatch_id().x
    f[i] = a[i]  # by itself: every value is exact
    d[i] = lc.float64(a[i])
    o[i] = a[i]

@lc.kernel
def more(a: lc.Buffer[T], h: lc.Buffer[lc.float16], n: lc.Buffer[lc.int32], b: lc.Buffer[lc.bool]):
    i = lc.dispatch_id().x
    h[i] = lc.float16(a[i])
    n[i] = lc.int32(a[i])
    b[i] = bool(a[i])
"""


@formats
@np.errstate(all="ignore")
def test_every_value_read(name, device, tmp_path):
    module = load_source(tmp_path, f"read_{name}", READ.format(name=name))
    values, T = every(name), module.T
    n = len(values)
    a = lc.Buffer(values, device=device)
    assert a.type is T and a.numpy().dtype == T.dtype == FORMATS[name]
    make = lambda U: lc.Buffer(n, U, device=device)
    f, d, o, h, k, b = map(make, (lc.float32, lc.float64, T, lc.float16, lc.int32, lc.bool))
    module.read(a, f, d, o, dispatch_size=n)
    module.more(a, h, k, b, dispatch_size=n)
    exact = values.astype(np.float32)
    tiny = (exact != 0) & (np.abs(exact) < np.finfo(np.float32).tiny)
    kept = np.ones(n, bool) if device.features["denormals"] else ~tiny
    assert same(f.numpy(), exact)[kept].all()
    assert same(d.numpy(), exact.astype(np.float64))[kept].all()
    assert o.numpy().tobytes() == values.tobytes()
    assert same(h.numpy(), exact.astype(np.float16)).all()
    whole = [ref_int(float(v)) for v in exact]
    assert k.numpy().tolist() == whole
    assert ((b.numpy() == (exact != 0)) | ~kept).all()


def ref_int(value):
    if value != value:
        return 0
    return int(min(max(value, -(2**31)), 2**31 - 1))


def hard_floats(name):
    """Every value, the midpoints between neighbours, and what lies just beside these."""
    values = every(name).astype(np.float32)
    steps = np.unique(np.abs(values[np.isfinite(values)]))
    middle = ((steps[1:].astype(np.float64) + steps[:-1]) / 2).astype(np.float32)
    top = steps[-1]
    beyond = np.array([top * 1.03, top * 1.04, top * 1.07, top * 1.2, np.inf, np.nan], np.float32)
    near = [np.nextafter(middle, np.float32(0)), middle, np.nextafter(middle, np.float32(np.inf))]
    found = np.concatenate([steps, *near, beyond])
    return np.concatenate([found, -found])


WRITE = """
import lcpy as lc

T = lc.{name}

@lc.kernel
def write(f: lc.Buffer[lc.float32], o: lc.Buffer[T]):
    i = lc.dispatch_id().x
    o[i] = T(f[i])

@lc.kernel
def numbers(d: lc.Buffer[lc.float64], k: lc.Buffer[lc.int64], h: lc.Buffer[lc.float16],
            o: lc.Buffer[T]):
    i = lc.dispatch_id().x
    n = lc.dispatch_size().x
    o[i] = T(d[i])
    o[n + i] = T(k[i])
    o[2 * n + i] = T(h[i])
    o[3 * n + i] = T(lc.uint16(k[i]))
"""


@formats
@np.errstate(all="ignore")
def test_floats_are_rounded_to_nearest_even(name, device, tmp_path):
    module = load_source(tmp_path, f"write_{name}", WRITE.format(name=name))
    f = hard_floats(name)
    out = lc.Buffer(len(f), module.T, device=device)
    module.write(lc.Buffer(f, device=device), out, dispatch_size=len(f))
    want = f.astype(FORMATS[name])
    good = same(out.numpy(), want)
    if not device.features["denormals"]:
        good |= (f != 0) & (np.abs(f) < np.finfo(np.float32).tiny)
    k = int(np.argmin(good))
    assert good.all(), f"{f[k]!r}: {out.numpy()[k]!r}, not {want[k]!r}"


@formats
@np.errstate(all="ignore")
def test_numbers_of_other_types_are_rounded_once(name, device, tmp_path):
    module = load_source(tmp_path, f"numbers_{name}", WRITE.format(name=name))
    T = module.T
    f = hard_floats(name)
    f = f[np.isfinite(f) & (np.abs(f) > 1e-30)].astype(np.float64)
    # Beside the midpoints by less than a float32 can tell.
    d = np.concatenate([np.nextafter(f, 0), f, np.nextafter(f, np.inf)])[:3000]
    n = len(d)
    tops = np.array([1, 3, 129, 257, 259, 385, 387, 2**24 + 1, 2**53 + 1], np.int64)
    k = np.concatenate([(tops << s) + e for s in (0, 8, 10) for e in (-1, 0, 1)] + [-tops])
    k = np.resize(k, n)
    h = np.resize(np.arange(65536, dtype=np.uint16).view(np.float16)[:: 65536 // n], n)
    out = lc.Buffer(4 * n, T, device=device)
    buffers = (lc.Buffer(v, device=device) for v in (d, k, h))
    module.numbers(*buffers, out, dispatch_size=n)
    got = out.numpy().reshape(4, n)
    exact = lc.storage.encode
    wants = d, k.astype(object), h.astype(np.float64), k.astype(np.uint16)
    for kind, row, want in zip(("float64", "int64", "float16", "uint16"), got, wants):
        want = np.array([rounded(name, v) for v in want])
        good = same(row, want.astype(row.view(f"u{row.dtype.itemsize}").dtype).view(row.dtype))
        at = int(np.argmin(good))
        assert good.all(), f"{kind} {wants and (d, k, h, k)[0][at]!r}"
    assert exact(name, [1.0]).astype(np.float32) == 1


def rounded(name, value):
    """The bits of an integer or a float, by exact fractions."""
    from fractions import Fraction

    from lcpy import storage

    value = value if isinstance(value, int) else float(value)
    if isinstance(value, float) and value - value != 0:
        return storage.bits_of(name, value)
    # Integers beyond 53 bits: sticky in the last place of a double.
    if isinstance(value, int) and abs(value) >> 53:
        low = abs(value) & 0x7FF
        size = (abs(value) >> 11 << 11) | ((low != 0) << 11)
        value = size if value > 0 else -size
    assert Fraction(float(value)) == Fraction(value)
    return storage.bits_of(name, float(value))


# ---- everywhere a value can be ----

PLACES = """
import lcpy as lc
import numpy as np

T = lc.{name}
V = lc.vector(T, 3)

@lc.struct
class Part:
    a: T
    v: V
    many: lc.Array[T, 5]
    n: lc.uint32

TABLE = Part(1.5, (2, -3, 0.5), (1, 2, 3, 4, 6), 7)

@lc.callable
def total(p: Part) -> lc.float32:
    sum = lc.float32(p.a)
    for k in range(5):
        sum += lc.float32(p.many[k])
    w = lc.float3(p.v)
    return sum + w.x + w.y + w.z

@lc.kernel(block_size=16)
def places(parts: lc.Buffer[Part], given: Part, x: T, v: V, out: lc.Buffer[Part],
           sums: lc.Buffer[lc.float32]):
    cells = lc.shared(T, 16)
    local = lc.Array[T, 4]()
    i = lc.dispatch_id().x
    t = lc.thread_id().x
    cells[t] = T(lc.float32(t))
    lc.sync_block()
    p = parts[i]
    local[i % 4] = cells[15 - t]
    p.a = local[i % 4]
    p.many[i % 5] = given.many[(i + 1) % 5]
    p.v = V(lc.float3(p.v) + lc.float3(v))
    p.v.y = x
    p.many[(i + 2) % 5] = TABLE.many[i % 5]
    out[i] = p
    sums[i] = total(p) + total(TABLE) + lc.float32(T(0.75))
"""


@formats
def test_places(name, device, tmp_path):
    module = load_source(tmp_path, f"places_{name}", PLACES.format(name=name))
    Part, F = module.Part, FORMATS[name]
    n = 32
    parts = np.zeros(n, Part.dtype)
    k = np.arange(n)
    parts["a"] = (k % 7).astype(F)
    parts["v"] = (np.arange(3 * n).reshape(n, 3) % 5).astype(F)
    parts["many"] = (np.arange(5 * n).reshape(n, 5) % 9).astype(F)
    parts["n"] = k
    given = Part(a=6, v=(1, 1, 1), many=(0.5, 1, 2, 4, 8), n=1)
    assert given.a == 6 and given.many == (0.5, 1, 2, 4, 8)
    out = lc.Buffer(n, Part, device=device)
    sums = lc.Buffer(n, lc.float32, device=device)
    source = lc.Buffer(parts, Part, device=device)
    module.places(source, given, 2.5, (1, 0.5, -1), out, sums, dispatch_size=n)
    want = parts.copy()
    for i in range(n):
        want["a"][i] = F(15 - i % 16)
        want["many"][i][i % 5] = F((0.5, 1, 2, 4, 8)[(i + 1) % 5])
        v = parts["v"][i].astype(np.float32) + np.float32([1, 0.5, -1])
        want["v"][i] = v.astype(F)
        want["v"][i][1] = F(2.5)
        want["many"][i][(i + 2) % 5] = F((1, 2, 3, 4, 6)[i % 5])
    got = out.numpy()
    for field in ("a", "v", "many", "n"):
        assert (got[field] == want[field]).all(), field
    table = 1.5 + 2 - 3 + 0.5 + 16
    plain = [float(want["a"][i]) + want["many"][i].astype(float).sum() for i in range(n)]
    plain = [p + want["v"][i].astype(float).sum() for i, p in enumerate(plain)]
    assert sums.numpy().tolist() == [p + table + 0.75 for p in plain]


LITERALS = """
import lcpy as lc

T = lc.{name}

@lc.kernel
def write(o: lc.Buffer[T], f: lc.Buffer[lc.float32]):
{lines}
"""


@formats
@np.errstate(all="ignore")
def test_literals(name, device, tmp_path):
    """Folded: the same bits as NumPy's, and as of loaded values."""
    top = float(every(name)[np.isfinite(every(name).astype(np.float32))].astype(np.float32).max())
    beyond = {"bfloat16": 1.003, "float8_e4m3": 1.04, "float8_e5m2": 1.08}[name]
    small = float(np.abs(every(name).astype(np.float32))[1])
    values = [0.0, -0.0, 1.0, -1.5, 0.1, 1 / 3, 2.0625, 17.0, 300.0, top, -top, small, top * beyond]
    lines = [f"    o[{k}] = T({v!r})" for k, v in enumerate(values)]
    lines += [f"    f[{k}] = lc.float32(T({v!r}))" for k, v in enumerate(values)]
    text = LITERALS.format(name=name, lines="\n".join(lines))
    module = load_source(tmp_path, f"literals_{name}", text)
    out = lc.Buffer(len(values), module.T, device=device)
    f = lc.Buffer(len(values), lc.float32, device=device)
    module.write(out, f, dispatch_size=1)
    want = np.array(values, np.float32).astype(FORMATS[name])
    assert same(out.numpy(), want).all(), (out.numpy(), want)
    exact = want.astype(np.float32)
    tiny = (exact != 0) & (np.abs(exact) < np.finfo(np.float32).tiny)
    assert (same(f.numpy(), exact) | tiny).all()


STORAGE = "it is for storage only; convert it: lc.float(x)"
REFUSED = {
    "o[0] = a[0] + a[1]": ("'+' does not take", STORAGE),
    "o[0] = -a[0]": ("'-' does not take", STORAGE),
    "o[0] = a[0] if a[0] < a[1] else a[1]": ("'<' does not take", STORAGE),
    "f[0] = lc.sin(a[0])": ("lc.sin does not take", STORAGE),
    "f[0] = lc.max(a[0], a[1])": ("lc.max does not take", STORAGE),
    "o[0] = f[0]": ("float does not convert to it by itself", "convert it: lc.NAME(x)"),
    "lc.atomic_add(a[0], a[1])": ("lc.atomic_add does not work on", "32- and 64-bit"),
}


@formats
@pytest.mark.parametrize("statement", REFUSED)
def test_arithmetic_is_refused(name, statement, tmp_path):
    text = f"""
import lcpy as lc

@lc.kernel
def k(a: lc.Buffer[lc.{name}], o: lc.Buffer[lc.{name}], f: lc.Buffer[lc.float32]):
    {statement}
"""
    module = load_source(tmp_path, "refused", text)
    T = getattr(lc, name)
    with pytest.raises(lc.CompileError) as caught:
        module.k.compile(lc.Buffer[T], lc.Buffer[T], lc.Buffer[lc.float32])
    for part in REFUSED[statement]:
        assert part.replace("NAME", name) in str(caught.value)


# ---- the host ----


@formats
@np.errstate(all="ignore")
def test_encode_and_decode_as_ml_dtypes(name):
    T, values = getattr(lc, name), every(name)
    assert same(T.decode(values), values.astype(np.float32)).all()
    bits = values.view(f"u{values.dtype.itemsize}")
    assert same(T.decode(bits), values.astype(np.float32)).all()
    f = hard_floats(name)
    assert same(T.encode(f), f.astype(FORMATS[name])).all()
    with pytest.raises(lc.ArgumentError, match="wanted"):
        T.decode(f)


@formats
def test_buffers_from_the_host(name, device):
    T, F = getattr(lc, name), FORMATS[name]
    a = np.array([1.5, -2, 0.25, 6], F)
    assert (lc.Buffer(a, device=device).numpy() == a).all()
    assert (lc.Buffer([1.5, -2, 0.25, 6], T, device=device).numpy() == a).all()
    bits = a.view(f"u{a.dtype.itemsize}")
    assert (lc.Buffer(bits, T, device=device).numpy() == a).all()
    pairs = lc.Buffer(a.reshape(2, 2), lc.vector(T, 2), device=device)
    assert pairs.shape == (2,) and (pairs.numpy() == a.reshape(2, 2)).all()
    filled = lc.Buffer(3, T, device=device)
    filled.fill(2.5)
    assert (filled.numpy() == F(2.5)).all()
    with pytest.raises(lc.ArgumentError, match="wanted"):
        lc.Buffer(np.float32([1, 2]), T, device=device)
    assert T(1.2) == F(1.2) and T(1.2).dtype == F


def test_another_float8_is_not_taken_for_ours(cpu):
    with pytest.raises(lc.ArgumentError, match="no lcpy type holds"):
        lc.Buffer(np.zeros(3, ml_dtypes.float8_e4m3), device=cpu)


WITHOUT = """
import sys
sys.modules["ml_dtypes"] = None
import numpy as np
import lcpy as lc

T = lc.float8_e4m3
assert T.dtype == np.uint8 and lc.bfloat16.dtype == np.uint16
b = lc.Buffer(T.encode([1.5, -448.0, 500.0]), T, device="cpu")
assert b.numpy().tolist() == [0x3C, 0xFE, 0x7F]
assert T.decode(b.numpy())[:2].tolist() == [1.5, -448.0]
assert lc.bfloat16(1.01) == np.float32(1.0078125)
assert lc.vector(T, 2).dtype == np.dtype((np.uint8, (2,)))
print("good")
"""


def test_without_ml_dtypes_arrays_are_bits():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.stdout.strip() == "good", done.stderr
