"""One row for each element-wise operation: the op, how a kernel writes it, and what it means."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from ops import reference as ref


@dataclass(frozen=True)
class Row:
    op: str  # enumerator in op.def
    text: str  # expression of x, y, z
    integer: Callable | None = None  # (type, x, y, z) -> int; None: not on integers
    real: Callable | None = None  # (x, y, z) NumPy scalars -> value; None: not on floats
    result: str = "same"  # "same", "bool", "true_divide"
    zero_sign: bool = True  # whether the sign of a zero is part of the meaning
    compared: Callable = lambda x, y: True  # floats on which the bits are promised


def both(f):
    """An operation with one meaning on integers and floats."""
    return {"integer": lambda t, x, y, z: f(x, y, z), "real": f}


def whole(f):
    return {"integer": f}


EXACT = [
    Row("Neg", "-x", **both(lambda x, y, z: -x)),
    Row("Add", "x + y", **both(lambda x, y, z: x + y)),
    Row("Sub", "x - y", **both(lambda x, y, z: x - y)),
    Row("Mul", "x * y", **both(lambda x, y, z: x * y)),
    Row(
        "Div",
        "x / y",
        integer=lambda t, x, y, z: (x, y),
        real=lambda x, y, z: x / y,
        result="true_divide",
    ),
    Row(
        "FloorDiv",
        "x // y",
        integer=lambda t, x, y, z: x // y if y else 0,
        real=lambda x, y, z: ref.floor_div(x, y),
        zero_sign=False,
        compared=ref.exact_quotient,
    ),
    Row(
        "FloorMod",
        "x % y",
        integer=lambda t, x, y, z: x % y if y else 0,
        real=lambda x, y, z: ref.floor_mod(x, y),
        zero_sign=False,
        compared=ref.exact_quotient,
    ),
    Row("TruncDiv", "lc.div(x, y)", **whole(lambda t, x, y, z: ref.trunc_div(t, x, y))),
    Row("TruncRem", "lc.rem(x, y)", **whole(lambda t, x, y, z: ref.trunc_rem(t, x, y))),
    Row("BitNot", "~x", **whole(lambda t, x, y, z: ~x)),
    Row("BitAnd", "x & y", **whole(lambda t, x, y, z: x & y)),
    Row("BitOr", "x | y", **whole(lambda t, x, y, z: x | y)),
    Row("BitXor", "x ^ y", **whole(lambda t, x, y, z: x ^ y)),
    Row("Shl", "x << y", **whole(lambda t, x, y, z: x << (y % t.bits))),
    Row("Shr", "x >> y", **whole(lambda t, x, y, z: x >> (y % t.bits))),
    Row("Less", "x < y", **both(lambda x, y, z: x < y), result="bool"),
    Row("Greater", "x > y", **both(lambda x, y, z: x > y), result="bool"),
    Row("LessEqual", "x <= y", **both(lambda x, y, z: x <= y), result="bool"),
    Row("GreaterEqual", "x >= y", **both(lambda x, y, z: x >= y), result="bool"),
    Row("Equal", "x == y", **both(lambda x, y, z: x == y), result="bool"),
    Row("NotEqual", "x != y", **both(lambda x, y, z: x != y), result="bool"),
    Row("Select", "lc.select(x < y, x, z)", **both(lambda x, y, z: x if x < y else z)),
    Row(
        "Min",
        "lc.min(x, y)",
        integer=lambda t, x, y, z: min(x, y),
        real=lambda x, y, z: ref.lower(x, y),
    ),
    Row(
        "Max",
        "lc.max(x, y)",
        integer=lambda t, x, y, z: max(x, y),
        real=lambda x, y, z: ref.upper(x, y),
    ),
    Row(
        "Clamp",
        "lc.clamp(x, y, z)",
        integer=lambda t, x, y, z: ref.clamp(t, x, y, z),
        real=lambda x, y, z: ref.lower(ref.upper(x, y), z),
    ),
    Row("Abs", "abs(x)", **both(lambda x, y, z: abs(x))),
    Row(
        "Sign",
        "lc.sign(x)",
        integer=lambda t, x, y, z: (x > 0) - (x < 0),
        real=lambda x, y, z: ref.sign(x),
        zero_sign=False,
    ),
    Row("PowInt", "x ** y", **whole(lambda t, x, y, z: ref.power(t, x, y))),
    Row("Clz", "lc.clz(x)", **whole(lambda t, x, y, z: ref.count_leading(t, x))),
    Row("Ctz", "lc.ctz(x)", **whole(lambda t, x, y, z: ref.count_trailing(t, x))),
    Row("Popcount", "lc.popcount(x)", **whole(lambda t, x, y, z: ref.unsigned(t, x).bit_count())),
    Row("ReverseBits", "lc.reverse_bits(x)", **whole(lambda t, x, y, z: ref.reverse(t, x))),
    Row("RotateLeft", "lc.rotate_left(x, y)", **whole(lambda t, x, y, z: ref.rotate(t, x, y))),
    Row("RotateRight", "lc.rotate_right(x, y)", **whole(lambda t, x, y, z: ref.rotate(t, x, -y))),
    Row("MulHi", "lc.mul_hi(x, y)", **whole(lambda t, x, y, z: (x * y) >> t.bits)),
    Row("Floor", "lc.floor(x)", real=lambda x, y, z: np.floor(x)),
    Row("Ceil", "lc.ceil(x)", real=lambda x, y, z: np.ceil(x)),
    Row("Round", "lc.round(x)", real=lambda x, y, z: np.rint(x)),
    Row("Trunc", "lc.trunc(x)", real=lambda x, y, z: np.trunc(x)),
    Row("Fract", "lc.fract(x)", real=lambda x, y, z: x - np.floor(x), zero_sign=False),
    Row("Sqrt", "lc.sqrt(x)", real=lambda x, y, z: np.sqrt(x)),
    Row("Fma", "lc.fma(x, y, z)", real=lambda x, y, z: ref.fused(x, y, z)),
    Row("Copysign", "lc.copysign(x, y)", real=lambda x, y, z: np.copysign(x, y)),
    Row("IsNan", "lc.isnan(x)", real=lambda x, y, z: math.isnan(x), result="bool"),
    Row("IsInf", "lc.isinf(x)", real=lambda x, y, z: math.isinf(x), result="bool"),
    Row(
        "Saturate",
        "lc.saturate(x)",
        real=lambda x, y, z: ref.lower(ref.upper(x, type(x)(0)), type(x)(1)),
        zero_sign=False,
    ),
    Row("Step", "lc.step(x, y)", real=lambda x, y, z: 0.0 if y < x else 1.0),
    Row("Lerp", "lc.lerp(x, y, z)", real=lambda x, y, z: x + z * (y - x), zero_sign=False),
]


@dataclass(frozen=True)
class Function:
    """A function that devices approximate: inputs within its domain, and how far off it may be."""

    op: str
    text: str
    real: Callable  # float64 arrays -> float64 array
    x: tuple[float, float]  # where x is taken from
    y: tuple[float, float] = (0.0, 1.0)
    relative: float = 2e-6  # of float32
    absolute: float = 1e-6
    special: tuple = ()  # (x, y, value) that hold to one part in 10^6


INF, NAN = math.inf, math.nan
FUNCTIONS = [
    Function(
        "Rsqrt", "lc.rsqrt(x)", lambda x, y: 1 / np.sqrt(x), (1e-3, 1e4), special=((0, 1, INF),)
    ),
    Function("Exp", "lc.exp(x)", lambda x, y: np.exp(x), (-20, 10), special=((0, 1, 1),)),
    Function("Exp2", "lc.exp2(x)", lambda x, y: np.exp2(x), (-20, 10), special=((3, 1, 8),)),
    Function("Exp10", "lc.exp10(x)", lambda x, y: 10.0**x, (-10, 4), relative=8e-6),
    Function("Log", "lc.log(x)", lambda x, y: np.log(x), (1e-3, 1e4), special=((1, 1, 0),)),
    Function("Log2", "lc.log2(x)", lambda x, y: np.log2(x), (1e-3, 1e4), special=((8, 1, 3),)),
    Function("Log10", "lc.log10(x)", lambda x, y: np.log10(x), (1e-3, 1e4)),
    Function("Pow", "x ** y", lambda x, y: x**y, (0.01, 20), (-3, 3), 2e-5, special=((0, 0, 1),)),
    Function("Sin", "lc.sin(x)", lambda x, y: np.sin(x), (-6, 6), absolute=4e-6),
    Function("Cos", "lc.cos(x)", lambda x, y: np.cos(x), (-6, 6), absolute=4e-6),
    Function("Tan", "lc.tan(x)", lambda x, y: np.tan(x), (-1.4, 1.4), relative=2e-5),
    Function("Asin", "lc.asin(x)", lambda x, y: np.arcsin(x), (-1, 1), absolute=4e-4),
    Function("Acos", "lc.acos(x)", lambda x, y: np.arccos(x), (-1, 1), absolute=4e-4),
    Function("Atan", "lc.atan(x)", lambda x, y: np.arctan(x), (-30, 30), absolute=4e-6),
    Function("Atan2", "lc.atan2(x, y)", np.arctan2, (-9, 9), (-9, 9), absolute=8e-6),
    Function("Sinh", "lc.sinh(x)", lambda x, y: np.sinh(x), (-8, 8), relative=2e-5),
    Function("Cosh", "lc.cosh(x)", lambda x, y: np.cosh(x), (-8, 8), relative=8e-6),
    Function("Tanh", "lc.tanh(x)", lambda x, y: np.tanh(x), (-8, 8), absolute=4e-6),
    Function("Asinh", "lc.asinh(x)", lambda x, y: np.arcsinh(x), (-90, 90), relative=2e-5),
    Function("Acosh", "lc.acosh(x)", lambda x, y: np.arccosh(x), (1.01, 90), relative=2e-5),
    Function("Atanh", "lc.atanh(x)", lambda x, y: np.arctanh(x), (-0.95, 0.95), relative=2e-5),
    Function(
        "Smoothstep",
        "lc.smoothstep(x, x + 2.0, y)",
        lambda x, y: (lambda t: t * t * (3 - 2 * t))(np.clip((y - x) / 2, 0, 1)),
        (-1, 1),
        (-3, 3),
    ),
]
