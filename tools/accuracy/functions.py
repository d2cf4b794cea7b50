"""What tools/ulp and tests/ops measure: how a kernel writes each function, its value to more than
double's precision, where arguments are taken from, and the error that is promised.

Every row of op.def that computes floats is here, or in EXACT with the reason why it is not.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

WIDE = np.longdouble
PI = WIDE("3.14159265358979323846264338327950288")
LN10 = WIDE("2.30258509299404568401799145468436421")


@dataclass(frozen=True)
class Function:
    op: str  # enumerator in op.def
    text: str  # expression of x, y, z
    real: Callable  # longdouble arrays -> longdouble array
    arity: int = 1
    samples: str = "all"  # how arguments are taken: a function of samples.py
    # The magnitude that errors are measured against, where terms cancel; else the value's own.
    scale: Callable | None = None
    # Promised in ieee and strict mode, in ULP, by type; None: no more than the format allows.
    promised: dict = field(default_factory=lambda: dict(PROMISED))


PROMISED = {"float16": 1.0, "float32": 4.0, "float64": 4.0}


def promise(float32, float64=None, float16=1.0):
    return {"float16": float16, "float32": float32, "float64": float64 or float32}


def floor_mod(x, y):
    r = np.fmod(x, y)
    r = np.where((r != 0) & ((r < 0) != (y < 0)), r + y, r)
    return np.where(r == 0, np.copysign(WIDE(0), y), r)


def floor_div(x, y):
    return np.floor((x - floor_mod(x, y)) / y + WIDE(0.5))


def smooth(a, b, x):
    t = np.clip((x - a) / (b - a), 0, 1)
    return t * t * (3 - 2 * t)


def length3(x, y, z):
    return np.sqrt(x * x + y * y + z * z)


FUNCTIONS = [
    Function("Div", "x / y", lambda x, y: x / y, 2, "pairs", promised=promise(0.5, 0.5, 0.5)),
    Function("FloorDiv", "x // y", floor_div, 2, "quotients", promised=promise(1, 1, 1)),
    Function("FloorMod", "x % y", floor_mod, 2, "quotients", promised=promise(0.5, 0.5, 0.5)),
    Function(
        "Fma",
        "lc.fma(x, y, z)",
        lambda x, y, z: x * y + z,
        3,
        "sums",
        scale=lambda x, y, z: np.maximum(abs(x * y), abs(z)),  # longdouble cancels too
        promised=promise(0.51, 0.51, 0.51),
    ),
    Function(
        "Fract", "lc.fract(x)", lambda x: x - np.floor(x), samples="small", promised=promise(0.5)
    ),
    Function(
        "Lerp",
        "lc.lerp(x, y, z)",
        lambda a, b, t: a + t * (b - a),
        3,
        "blends",
        scale=lambda a, b, t: np.maximum(abs(a), abs(t) * np.maximum(abs(a), abs(b))),
        promised=promise(4, 4, 4),
    ),
    Function(
        "Smoothstep",
        "lc.smoothstep(x, y, z)",
        smooth,
        3,
        "steps",
        scale=lambda a, b, x: np.maximum(smooth(a, b, x), WIDE(2.0**-10)),
        promised=promise(8, 8, 8),
    ),
    Function("Sqrt", "lc.sqrt(x)", np.sqrt, samples="positive", promised=promise(0.5, 0.5, 0.5)),
    Function("Rsqrt", "lc.rsqrt(x)", lambda x: 1 / np.sqrt(x), samples="positive"),
    Function("Exp", "lc.exp(x)", np.exp, samples="powers"),
    Function("Exp2", "lc.exp2(x)", np.exp2, samples="powers"),
    Function("Exp10", "lc.exp10(x)", lambda x: np.power(WIDE(10), x), samples="powers"),
    Function("Log", "lc.log(x)", np.log, samples="positive"),
    Function("Log2", "lc.log2(x)", np.log2, samples="positive"),
    Function("Log10", "lc.log10(x)", np.log10, samples="positive"),
    Function("Pow", "x ** y", np.power, 2, "bases", promised=promise(16, 4)),
    Function("Sin", "lc.sin(x)", np.sin, samples="angles"),
    Function("Cos", "lc.cos(x)", np.cos, samples="angles"),
    Function("Tan", "lc.tan(x)", np.tan, samples="angles", promised=promise(5)),
    Function("Asin", "lc.asin(x)", np.arcsin, samples="unit"),
    Function("Acos", "lc.acos(x)", np.arccos, samples="unit"),
    Function("Atan", "lc.atan(x)", np.arctan, promised=promise(5, 4)),
    Function("Atan2", "lc.atan2(x, y)", np.arctan2, 2, "pairs", promised=promise(6, 4)),
    Function("Sinh", "lc.sinh(x)", np.sinh, samples="powers"),
    Function("Cosh", "lc.cosh(x)", np.cosh, samples="powers"),
    Function("Tanh", "lc.tanh(x)", np.tanh, samples="powers", promised=promise(5, 4)),
    Function("Asinh", "lc.asinh(x)", np.arcsinh),
    Function("Acosh", "lc.acosh(x)", np.arccosh, samples="above_one"),
    Function("Atanh", "lc.atanh(x)", np.arctanh, samples="unit", promised=promise(5, 4)),
    Function(
        "Dot",
        "lc.dot(lc.vector(T, 3)(x, y, z), lc.vector(T, 3)(z, x, y))",
        lambda x, y, z: x * z + y * x + z * y,
        3,
        "middle",
        scale=lambda x, y, z: abs(x * z) + abs(y * x) + abs(z * y),
        promised=promise(3, 3, 3),
    ),
    Function(
        "Length",
        "lc.length(lc.vector(T, 3)(x, y, z))",
        length3,
        3,
        "middle",
        promised=promise(3, 3, 3),
    ),
    Function(
        "LengthSquared",
        "lc.length_squared(lc.vector(T, 3)(x, y, z))",
        lambda x, y, z: x * x + y * y + z * z,
        3,
        "middle",
        promised=promise(3, 3, 3),
    ),
    Function(
        "Distance",
        "lc.distance(lc.vector(T, 3)(x, y, z), lc.vector(T, 3)(T(0)))",
        length3,
        3,
        "middle",
        promised=promise(3, 3, 3),
    ),
    Function(
        "Normalize",
        "lc.normalize(lc.vector(T, 3)(x, y, z)).x",
        lambda x, y, z: x / length3(x, y, z),
        3,
        "middle",
        promised=promise(4, 4, 4),
    ),
]

EXACT = {
    "Neg Add Sub Mul Min Max Clamp Saturate Step Abs Sign Floor Ceil Round Trunc Copysign": (
        "one rounding or none, compared bit for bit by tests/ops"
    ),
    "Select IsNan IsInf Faceforward": "a choice",
    "Transpose ReduceMin ReduceMax": "no arithmetic",
    "MatMul OuterProduct Determinant Inverse ReduceSum ReduceProduct Cross Reflect Refract": (
        "sums of products that may cancel: their parts are rounded as dot's are"
    ),
}


def exact_names():
    return {name for names in EXACT for name in names.split()}


def unmeasured(op_rows):
    """Operations of the table that compute floats and are in neither list."""
    known = {f.op for f in FUNCTIONS} | exact_names()
    shapes = ("Num", "Float", "Vector", "TrueDivide", "PowShape", "Refract", "Cross", "Lanes")
    shapes += ("Matrix", "Linear", "Outer")
    return [
        row["name"]
        for row in op_rows
        if row["category"] in ("Math", "Geometry", "Reduce", "Matrix", "Operator")
        and row["shape"].startswith(shapes)
        and row["name"] not in known
    ]
