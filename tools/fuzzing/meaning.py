"""What expressions mean, in Python's integers and NumPy's floats: a second opinion on the cpu
device, written from the language's rules and sharing nothing with the core.

Scalars are bool, int and NumPy floats; vectors, arrays and structs are tuples of their components,
matrices tuples of columns.
"""

import math

import numpy as np

from . import kinds as T

FLOAT_OF = {16: np.float16, 32: np.float32, 64: np.float64}
_INT_OF = {}


class Beyond(Exception):
    """A program that this evaluator leaves alone: barriers, or too many steps."""


def from_python(t, value):
    """A value as kinds.some_value makes it."""
    if t.kind != "scalar":
        return tuple(from_python(k, v) for k, v in zip(t.children(), value))
    return FLOAT_OF[t.bits](value) if t.is_float else value


# ---- conversions --------------------------------------------------------------------------------
def float_of_int(bits, value):
    """Rounded once."""
    if abs(value) < 1 << 53 or bits != 32:
        return FLOAT_OF[bits](float(value))
    shift = abs(value).bit_length() - 40
    head = abs(value) >> shift | (abs(value) & ((1 << shift) - 1) != 0)
    return np.float32(math.copysign(math.ldexp(float(np.float32(head)), shift), value))


def convert(source, t, value):
    """One scalar by value."""
    if source is t:
        return value
    if t.group == "bool":
        return bool(value != 0)
    if t.is_float:
        if source.is_float:
            return FLOAT_OF[t.bits](value)
        return float_of_int(t.bits, int(value))
    if source.is_float:
        if value != value:
            return 0
        if np.isinf(value):
            return t.high if value > 0 else t.low
        return min(max(int(value), t.low), t.high)
    return T.wrap(t, int(value))


def convert_lanes(source, t, value):
    if source is t:
        return value
    if t.kind == "matrix":
        return tuple(convert_lanes(source.element, t.element, v) for v in value)
    if source.kind == "scalar":
        return convert(source, t.scalar, value)
    return tuple(convert(source.scalar, t.scalar, v) for v in value)


def bits_of(t, value):
    """The bytes of lanes."""
    lanes = (value,) if t.kind == "scalar" else value
    if t.is_float:
        lanes = [upper(v, FLOAT_OF[t.bits](-np.inf)) for v in lanes]
        return np.array(lanes, FLOAT_OF[t.bits]).tobytes()
    return b"".join(int(v).to_bytes(t.bits // 8, "little", signed=v < 0) for v in lanes)


def of_bits(t, data):
    if t.is_float:
        lanes = tuple(np.frombuffer(data, FLOAT_OF[t.bits]))
    else:
        n = t.bits // 8
        signed = t.group == "signed"
        lanes = tuple(
            int.from_bytes(data[i : i + n], "little", signed=signed) for i in range(0, len(data), n)
        )
    return lanes[0] if t.kind == "scalar" else lanes


# ---- scalar operations --------------------------------------------------------------------------
def lower(x, y):
    """A NaN loses; -0 is below +0."""
    if x != x:
        return y
    if y != y:
        return x
    if x == y:
        return x if np.signbit(x) else y
    return x if x < y else y


def upper(x, y):
    if x != x:
        return y
    if y != y:
        return x
    if x == y:
        return y if np.signbit(x) else x
    return x if x > y else y


def truncated(x, y):
    if y == 0:
        return 0
    q = abs(x) // abs(y)
    return q if (x < 0) == (y < 0) else -q


def power(t, x, y):
    if y >= 0:
        return pow(x, y, 1 << t.bits)
    return {1: 1, -1: -1 if y % 2 else 1}.get(x, 0)


def fused(x, y, z):
    """x * y + z rounded once."""
    from fractions import Fraction

    kind = type(x)
    if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
        if np.isinf(z) and np.isfinite(x) and np.isfinite(y):
            return z
        return kind(np.float64(x) * np.float64(y) + np.float64(z))
    product = Fraction(float(x)) * Fraction(float(y))
    exact = product + Fraction(float(z))
    if exact == 0:
        negative = np.signbit(x) != np.signbit(y)
        if product == 0 and negative == np.signbit(z):
            return z
        return kind(0)
    info = np.finfo(kind)
    exponent = abs(exact).numerator.bit_length() - exact.denominator.bit_length()
    if abs(exact) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, int(info.minexp)) - int(info.nmant))
    value = round(abs(exact) / unit) * unit
    result = np.inf if value > Fraction(float(info.max)) else float(value)
    return kind(-result if exact < 0 else result)


_INT_OPS = {
    "+": lambda t, x, y: x + y,
    "-": lambda t, x, y: x - y,
    "*": lambda t, x, y: x * y,
    "//": lambda t, x, y: x // y if y else 0,
    "%": lambda t, x, y: x % y if y else 0,
    "&": lambda t, x, y: x & y,
    "|": lambda t, x, y: x | y,
    "^": lambda t, x, y: x ^ y,
    "<<": lambda t, x, y: x << y % t.bits,
    ">>": lambda t, x, y: x >> y % t.bits,
    "**": power,
}
_FLOAT_OPS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
}
COMPARE = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


def scalar_binary(t, op, x, y):
    """Two scalars of the type `t` (the amount of a shift: any integer)."""
    if t.is_float:
        return _FLOAT_OPS[op](x, y)
    if t.group == "bool":
        return bool(_INT_OPS[op](t, x, y))
    return T.wrap(t, _INT_OPS[op](t, x, y))


def lanewise(t, f, *args):
    """f by lane; scalars spread."""
    if t.kind != "vector":
        return f(*args)
    return tuple(f(*[a[i] if isinstance(a, tuple) else a for a in args]) for i in range(t.lanes))


def _unsigned(t, x):
    return x & ((1 << t.bits) - 1)


def _trailing(t, x):
    x = _unsigned(t, x)
    return (x & -x).bit_length() - 1 if x else t.bits


def _reversed(t, x):
    return int(format(_unsigned(t, x), f"0{t.bits}b")[::-1], 2)


def _rotated(t, x, n):
    n %= t.bits
    x = _unsigned(t, x)
    return x << n | x >> (t.bits - n)


def _sign(x):
    return type(x)(0 if x != x or x == 0 else math.copysign(1, x))


# name: (f of integers (type, …), f of floats (…)); the results are wrapped
FUNCTIONS = {
    "lc.min": (lambda t, x, y: min(x, y), lower),
    "lc.max": (lambda t, x, y: max(x, y), upper),
    "min": (lambda t, x, y: min(x, y), lower),
    "max": (lambda t, x, y: max(x, y), upper),
    "lc.div": (lambda t, x, y: truncated(x, y), None),
    "lc.rem": (lambda t, x, y: x - y * truncated(x, y) if y else 0, None),
    "lc.mul_hi": (lambda t, x, y: x * y >> t.bits, None),
    "lc.abs": (lambda t, x: abs(x), abs),
    "abs": (lambda t, x: abs(x), abs),
    "lc.sign": (lambda t, x: (x > 0) - (x < 0), _sign),
    "lc.popcount": (lambda t, x: bin(_unsigned(t, x)).count("1"), None),
    "lc.clz": (lambda t, x: t.bits - _unsigned(t, x).bit_length(), None),
    "lc.ctz": (_trailing, None),
    "lc.reverse_bits": (_reversed, None),
    "lc.rotate_left": (_rotated, None),
    "lc.rotate_right": (lambda t, x, n: _rotated(t, x, -n), None),
    "lc.clamp": (lambda t, x, a, b: min(max(x, a), b), lambda x, a, b: lower(upper(x, a), b)),
    "lc.floor": (None, np.floor),
    "lc.ceil": (None, np.ceil),
    "lc.round": (None, np.rint),
    "lc.trunc": (None, np.trunc),
    "lc.fract": (None, lambda x: x - np.floor(x)),
    "lc.sqrt": (None, np.sqrt),
    "lc.saturate": (None, lambda x: lower(upper(x, type(x)(0)), type(x)(1))),
    "lc.step": (None, lambda x, y: type(x)(0 if y < x else 1)),
    "lc.lerp": (None, lambda a, b, t: a + t * (b - a)),
    "lc.fma": (None, fused),
    "lc.copysign": (None, lambda x, y: np.copysign(x, upper(y, type(y)(-np.inf)))),
    "lc.isnan": (None, lambda x: bool(x != x)),
    "lc.isinf": (None, lambda x: bool(np.isinf(x))),
}
NO_SIGN = ("lc.sign", "lc.fract", "lc.saturate", "lc.lerp")


def _fold(f, lanes):
    result = lanes[0]
    for v in lanes[1:]:
        result = f(result, v)
    return result


def reduce_lanes(t, name, lanes):
    """sum, product, reduce_min, reduce_max of lanes of the scalar type `t`."""
    if name in ("lc.sum", "lc.product"):
        op = "+" if name == "lc.sum" else "*"
        return _fold(lambda x, y: scalar_binary(t, op, x, y), lanes)
    whole, real = FUNCTIONS["lc.min" if name == "lc.reduce_min" else "lc.max"]
    return _fold(real if t.is_float else lambda x, y: whole(t, x, y), lanes)


def dot(x, y):
    return _fold(lambda p, q: p + q, [a * b for a, b in zip(x, y)])


def cross(a, b):
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def multiply(x, y, x_matrix, y_matrix):
    """x @ y: sums go from lane 0 up."""
    if x_matrix and y_matrix:
        return tuple(multiply(x, column, True, False) for column in y)
    if x_matrix:
        rows = tuple(zip(*x))
        return tuple(dot(row, y) for row in rows)
    if y_matrix:
        return tuple(dot(x, column) for column in y)
    return dot(x, y)
