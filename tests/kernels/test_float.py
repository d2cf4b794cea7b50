"""Floating point that went wrong elsewhere, loaded and folded."""

import numpy as np
import pytest
from loading import load_source

import lcpy as lc

# R019: clamp with lo above hi.


@lc.kernel
def clamp_loaded(v: lc.Buffer[lc.int32], f: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    out[0] = lc.float32(lc.clamp(v[0], v[1], v[2]))
    out[1] = lc.clamp(f[0], f[1], f[2])


@lc.kernel
def clamp_folded(out: lc.Buffer[lc.float32]):
    out[0] = lc.float32(lc.clamp(lc.int32(3), 46, 6))
    out[1] = lc.clamp(lc.float32(3.0), 46.0, 6.0)


def test_r019_clamp(device):
    out = lc.Buffer(2, lc.float32, device=device)
    v = lc.Buffer(np.int32([3, 46, 6]), device=device)
    f = lc.Buffer(np.float32([3, 46, 6]), device=device)
    clamp_loaded(v, f, out, dispatch_size=1)
    assert out.numpy().tolist() == [6, 6]
    out.fill(0)
    clamp_folded(out, dispatch_size=1)
    assert out.numpy().tolist() == [6, 6]


# R021: the operand of an atomic is converted, or the operation refused.


def test_r021_half_atomics_are_refused(cpu):
    @lc.kernel
    def wrong(a: lc.Buffer[lc.float16]):
        lc.atomic_max(a[0], 42.0)

    with pytest.raises((lc.CompileError, lc.UnsupportedError)):
        wrong(lc.Buffer(1, lc.float16, device=cpu), dispatch_size=1)


@lc.kernel
def atomic_literal(a: lc.Buffer[lc.float32], b: lc.Buffer[lc.int64]):
    lc.atomic_max(a[0], 42)
    lc.atomic_max(b[0], 42)


def test_r021_literal_operands(device):
    a = lc.Buffer(1, lc.float32, device=device)
    b = lc.Buffer(1, lc.int64, device=device)
    atomic_literal(a, b, dispatch_size=1)
    assert a.numpy()[0] == 42 and b.numpy()[0] == 42


# R023: a cast to the same type vanishes.

SAME = """
import lcpy as lc

T = lc.{name}

@lc.kernel
def copy(a: lc.Buffer[T], out: lc.Buffer[T]):
    i = lc.dispatch_id().x
    out[i] = T(T(a[i]))
"""


@pytest.mark.parametrize("name", ["int64", "uint16", "uint8", "bool", "float64", "float16"])
def test_r023_same_cast(name, device, tmp_path):
    module = load_source(tmp_path, f"same_{name}", SAME.format(name=name))
    a = np.array([0, 1, 1, 0, 1]).astype(name)
    out = lc.Buffer(5, module.T, device=device)
    module.copy(lc.Buffer(a, device=device), out, dispatch_size=5)
    assert (out.numpy() == a).all()
    module.copy.compile(lc.Buffer[module.T], lc.Buffer[module.T], target="spirv", vulkan="1.2")


# R024: every constant arrives with NumPy's bits.


def constants(name):
    info = np.finfo(name)
    tiny = float(info.smallest_subnormal)
    values = [0.0, -0.0, np.inf, -np.inf, np.nan, float(info.max), -float(info.max), tiny]
    return np.array(values, name)


CONSTANTS = """
import math
import lcpy as lc

INF, NAN = math.inf, math.nan

@lc.kernel
def write(out: lc.Buffer[lc.{name}]):
{lines}
"""


@pytest.mark.parametrize("name", ["float32", "float64", "float16"])
def test_r024_constants(name, device, tmp_path):
    values = constants(name)
    words = {"inf": "INF", "-inf": "-INF", "nan": "NAN"}
    texts = [words.get(str(float(v)), repr(float(v))) for v in values]
    lines = [f"    out[{k}] = lc.{name}({t})" for k, t in enumerate(texts)]
    lines += [f"    out[{len(values) + k}] = -lc.{name}({t})" for k, t in enumerate(texts)]
    source = CONSTANTS.format(name=name, lines="\n".join(lines))
    module = load_source(tmp_path, f"constants_{name}", source)
    out = lc.Buffer(2 * len(values), getattr(lc, name), device=device)
    module.write(out, dispatch_size=1)
    got, want = out.numpy(), np.concatenate([values, -values])
    bits = f"u{got.dtype.itemsize}"
    same = (got.view(bits) == want.view(bits)) | (np.isnan(got) & np.isnan(want))
    assert same.all(), f"{got[~same]}, not {want[~same]}"


EVERYWHERE = """
import math
import numpy as np
import lcpy as lc

T = lc.{name}
BITS = lc.uint{bits}
VALUES = np.array({values}, np.uint{bits}).view(np.{name})

@lc.struct
class Pair:
    a: T
    v: lc.vector(T, 3)

PAIR = Pair(VALUES[1], VALUES[2:5])
ARRAY = VALUES.copy()

@lc.kernel(math="strict")
def copies(a: lc.Buffer[T], x: T, p: Pair, out: lc.Buffer[BITS]):
    i = lc.dispatch_id().x
    n = lc.dispatch_size().x
    out[i] = lc.bitcast(BITS, a[i])
    out[n + i] = lc.bitcast(BITS, -a[i])
    out[2 * n + i] = lc.bitcast(BITS, abs(a[i]))
    out[3 * n + i] = lc.bitcast(BITS, lc.copysign(a[i], a[n - 1 - i]))
    out[4 * n + i] = lc.bitcast(BITS, T(ARRAY[i]))
    m = lc.Array[T, {count}]()
    for k in range({count}):
        m[k] = a[k]
    out[5 * n + i] = lc.bitcast(BITS, m[i])
    if i == 0:
        out[6 * n] = lc.bitcast(BITS, x)
        out[6 * n + 1] = lc.bitcast(BITS, PAIR.a)
        out[6 * n + 2] = lc.bitcast(BITS, p.a)
        for j in range(lc.uint(3)):
            out[6 * n + 3 + j] = lc.bitcast(BITS, PAIR.v[j])
            out[6 * n + 6 + j] = lc.bitcast(BITS, p.v[j])
"""


@pytest.mark.parametrize("name", ["float32", "float64", "float16"])
def test_r024_loaded_captured_and_passed(name, device, tmp_path):
    """Moving a value changes no bit of it, NaN or not; its sign alone is changed on numbers (what a
    NaN becomes is the processor's choice, and denormals may be flushed where they are not kept)."""
    values = constants(name)
    bits = f"uint{8 * values.itemsize}"
    quiet = np.array([np.nan, -np.nan], name).view(bits) | np.array([5, 9], bits)
    values = np.concatenate([values, quiet.view(name)])
    n = len(values)
    text = EVERYWHERE.format(name=name, bits=bits[4:], values=values.view(bits).tolist(), count=n)
    module = load_source(tmp_path, f"everywhere_{name}", text)
    out = lc.Buffer(7 * n, module.BITS, device=device)
    p = module.Pair(values[7], values[4:7])
    module.copies(lc.Buffer(values, device=device), values[7], p, out, dispatch_size=n)
    word = values.view(bits)
    top = bits_type = word.dtype.type
    sign = top(1) << bits_type(8 * values.itemsize - 1)
    got = out.numpy()
    wants = [word, word ^ sign, word & ~sign, (word & ~sign) | (word[::-1] & sign), word, word]
    number = ~np.isnan(values)
    if name == "float32" and not device.features["denormals"]:
        number &= (values == 0) | (np.abs(values) >= np.finfo(name).tiny)
    for k, want in enumerate(wants):
        kept = number if k in (1, 2, 3) else slice(None)
        assert got[k * n : (k + 1) * n][kept].tolist() == want[kept].tolist(), k
    want = [word[7], word[1], word[7], *word[2:5], *word[4:7]]
    assert got[6 * n : 6 * n + 9].tolist() == [int(v) for v in want]


@lc.kernel(math="strict")
def negate(a: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    i = lc.dispatch_id().x
    out[i] = --a[i]
    out[i + 4] = 0.0 - a[i]
    out[i + 8] = a[i] + 0.0


def test_signs_of_zero(device):
    a = np.float32([0.0, -0.0, 1.0, -1.0])
    out = lc.Buffer(12, lc.float32, device=device)
    negate(lc.Buffer(a, device=device), out, dispatch_size=4)
    got, want = out.numpy(), np.concatenate([a, 0 - a, a + 0])
    assert (got.view("u4") == want.view("u4")).all()


# x ** 2 is a product, where a driver's pow is a few units off.


@lc.kernel
def square_loaded(x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    out[0] = x[0] ** 2
    out[1] = lc.pow(x[1], 2.0)
    out[2] = (lc.float2(x[0], x[1]) ** 2.0).x


@lc.kernel
def square_folded(out: lc.Buffer[lc.float32]):
    out[0] = lc.float32(-2.5) ** 2
    out[1] = lc.pow(lc.float32(0.1), 2.0)
    out[2] = (lc.float2(-2.5, 0.1) ** 2.0).x


def test_squares_are_products(device):
    x = np.float32([-2.5, 0.1])
    want = [6.25, float(x[1] * x[1]), 6.25]
    out = lc.Buffer(3, lc.float32, device=device)
    square_loaded(lc.Buffer(x, device=device), out, dispatch_size=1)
    assert out.numpy().tolist() == want
    out.fill(0)
    square_folded(out, dispatch_size=1)
    assert out.numpy().tolist() == want
