"""What the element-wise operations mean, in Python's exact integers and NumPy's IEEE floats.

Integer functions take (type, x, y, z) with Python ints and give any int; `wrap` brings it to the
type. Float functions take NumPy scalars of the type's dtype.
"""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Scalar:
    name: str  # under lc.
    dtype: np.dtype
    kind: str  # "signed", "unsigned", "float", "bool"
    bits: int


def scalar(name, kind):
    dtype = np.dtype("bool" if kind == "bool" else name)
    return Scalar(name, dtype, kind, 8 * dtype.itemsize)


SIGNED = [scalar(f"int{n}", "signed") for n in (8, 16, 32, 64)]
UNSIGNED = [scalar(f"uint{n}", "unsigned") for n in (8, 16, 32, 64)]
INTEGERS = SIGNED + UNSIGNED
FLOATS = [scalar(f"float{n}", "float") for n in (32, 64, 16)]
BOOL = scalar("bool", "bool")
SCALARS = [*INTEGERS, *FLOATS, BOOL]
BY_NAME = {t.name: t for t in SCALARS}


def wrap(t, value):
    """The value modulo 2^bits, in the type's range."""
    value &= (1 << t.bits) - 1
    return value - (1 << t.bits) if t.kind == "signed" and value >> (t.bits - 1) else value


def unsigned(t, value):
    return value & ((1 << t.bits) - 1)


def smallest(t):
    return -(1 << (t.bits - 1)) if t.kind == "signed" else 0


def largest(t):
    return (1 << (t.bits - (t.kind == "signed"))) - 1


def edges(t):
    """Values at which operations go wrong."""
    if t.kind == "bool":
        return [False, True]
    if t.kind == "float":
        info = np.finfo(t.dtype)
        big = float(info.max)
        values = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5]
        values += [3.7, -3.7, 1e-3, 7.0, 5.0, big, -big, float(info.tiny)]
        return [float(t.dtype.type(v)) for v in values]
    low, high = smallest(t), largest(t)
    small = [0, 1, 2, 3, 5, 7, high - 1, high, high // 2 + 1]
    return [low, low + 1, -7, -3, -2, -1, *small] if t.kind == "signed" else small


# integers.


def trunc_div(t, x, y):
    if y == 0:
        return 0
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def trunc_rem(t, x, y):
    return 0 if y == 0 else x - y * trunc_div(t, x, y)


def power(t, x, y):
    if y >= 0:
        return pow(x, y, 1 << t.bits)
    return {1: 1, -1: -1 if y % 2 else 1}.get(x, 0)


def rotate(t, x, n):
    n %= t.bits
    x = unsigned(t, x)
    return (x << n) | (x >> (t.bits - n))


def count_leading(t, x):
    return t.bits - unsigned(t, x).bit_length()


def count_trailing(t, x):
    x = unsigned(t, x)
    return (x & -x).bit_length() - 1 if x else t.bits


def reverse(t, x):
    return int(format(unsigned(t, x), f"0{t.bits}b")[::-1], 2)


def clamp(t, x, lo, hi):
    return min(max(x, lo), hi)


# floats.


def lower(x, y):
    """A NaN loses; -0 is below +0, as in strict mode."""
    if math.isnan(x):
        return y
    if math.isnan(y):
        return x
    if x == y == 0:
        return x if np.signbit(x) else y
    return x if x < y else y


def upper(x, y):
    if math.isnan(x):
        return y
    if math.isnan(y):
        return x
    if x == y == 0:
        return y if np.signbit(x) else x
    return x if x > y else y


def sign(x):
    return type(x)(0) if math.isnan(x) or x == 0 else type(x)(math.copysign(1, x))


def fused(x, y, z):
    """x * y + z rounded once, through exact fractions where they are finite."""
    from fractions import Fraction

    kind = type(x)
    if math.isinf(z) and math.isfinite(x) and math.isfinite(y):
        return z
    if not all(map(math.isfinite, (x, y, z))):
        return kind(np.float64(x) * np.float64(y) + np.float64(z))
    product = Fraction(float(x)) * Fraction(float(y))
    exact = product + Fraction(float(z))
    if exact == 0:
        negative = np.signbit(x) != np.signbit(y)
        if product == 0 and negative == np.signbit(z):
            return kind(z)
        return kind(0)
    return round_fraction(exact, kind)


def round_fraction(exact, kind):
    """The nearest value of a NumPy float type, ties to even."""
    from fractions import Fraction

    info = np.finfo(kind)
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, int(info.minexp)) - int(info.nmant))
    value = round(magnitude / unit) * unit
    result = np.inf if value > Fraction(float(info.max)) else float(value)
    return kind(-result if exact < 0 else result)


def floor_div(x, y):
    """Python's //; by zero as IEEE."""
    return x / y if y == 0 else np.floor_divide(x, y)


def floor_mod(x, y):
    """Python's %; by zero NaN."""
    return type(x)(math.nan) if y == 0 else np.remainder(x, y)


def exact_quotient(x, y):
    """Whether any way of computing x // y and x % y gives the same bits."""
    if math.isnan(x) or math.isnan(y) or y == 0:
        return True
    if math.isinf(x) or math.isinf(y):
        return False
    return abs(x / y) < 1e4 and (4 * x).is_integer() and (4 * y).is_integer()
