"""The errors that tools/accuracy/functions.py promises, on samples; and values at the edges, loaded
and as literals.
"""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from loading import load_source

import lcpy as lc
from lcpy._native import core

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
from accuracy import functions, measure, report  # noqa: E402

INF, NAN = math.inf, math.nan
CASES = [("float32", "ieee"), ("float32", "strict"), ("float64", "ieee"), ("float16", "ieee")]


def refused(device, name):
    """Half may be refused by name, and double where there is none."""
    return name != "float32" and not device.features[name]


@pytest.mark.parametrize(("name", "math_mode"), CASES)
def test_promised(name, math_mode, device):
    count = 2000 if name != "float16" else 65536
    faults = []
    for worst in measure.measure(lc, device, functions.FUNCTIONS, name, math_mode, count, seed=23):
        if worst.ulp is None:
            assert refused(device, name), f"{worst.op}: {worst.refused}"
            continue
        promised = {f.op: f.promised for f in functions.FUNCTIONS}[worst.op][name]
        if worst.ulp > promised:
            at = ", ".join(repr(float(v)) for v in worst.arguments)
            faults.append(
                f"{worst.op}({at}) = {worst.got!r}, not {worst.want!r}: {worst.ulp:.2f} ULP, "
                f"{promised} are promised"
            )
    assert not faults, "\n".join(faults)


def test_every_function_is_measured():
    assert functions.unmeasured(core.op_rows()) == []


def test_table_is_what_was_measured():
    assert report.check() == 0


def test_coefficients_are_what_the_generator_makes():
    pytest.importorskip("mpmath")
    command = [sys.executable, str(TOOLS / "gen_fits.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# (expression of x and y, x, y, value); values that are no round numbers to two last places.
PI = math.pi
EDGES = [
    *[(f"lc.{f}(x)", z, 0, z) for f in ("sin", "tan", "asin", "atan") for z in (0.0, -0.0)],
    *[(f"lc.{f}(x)", z, 0, z) for f in ("sinh", "tanh", "asinh", "atanh") for z in (0.0, -0.0)],
    *[(f"lc.{f}(x)", z, 0, NAN) for f in ("sin", "cos", "tan") for z in (INF, -INF, NAN)],
    *[(f"lc.{f}(x)", z, 0, NAN) for f in ("asin", "acos", "atanh") for z in (1.5, -INF, NAN)],
    ("lc.cos(x)", 0, 0, 1),
    ("lc.asin(x)", 1, 0, PI / 2),
    ("lc.acos(x)", 1, 0, 0.0),
    ("lc.acos(x)", -1, 0, PI),
    ("lc.atan(x)", INF, 0, PI / 2),
    ("lc.atan(x)", -INF, 0, -PI / 2),
    ("lc.atan(x)", NAN, 0, NAN),
    *[("lc.exp(x)", a, 0, b) for a, b in ((0, 1), (-0.0, 1), (INF, INF), (-INF, 0.0), (NAN, NAN))],
    *[("lc.exp2(x)", a, 0, b) for a, b in ((0, 1), (3, 8), (-2, 0.25), (INF, INF), (-INF, 0.0))],
    *[("lc.exp10(x)", a, 0, b) for a, b in ((0, 1), (INF, INF), (-INF, 0.0), (NAN, NAN))],
    *[(f"lc.{f}(x)", 0.0, 0, -INF) for f in ("log", "log2", "log10")],
    *[(f"lc.{f}(x)", -0.0, 0, -INF) for f in ("log", "log2", "log10")],
    *[(f"lc.{f}(x)", 1, 0, 0.0) for f in ("log", "log2", "log10")],
    *[(f"lc.{f}(x)", INF, 0, INF) for f in ("log", "log2", "log10", "sqrt", "acosh")],
    *[(f"lc.{f}(x)", -1, 0, NAN) for f in ("log", "log2", "log10", "sqrt", "rsqrt", "acosh")],
    ("lc.log2(x)", 8, 0, 3),
    ("lc.log2(x)", 0.25, 0, -2),
    ("lc.sqrt(x)", -0.0, 0, -0.0),
    ("lc.rsqrt(x)", 0.0, 0, INF),
    ("lc.rsqrt(x)", INF, 0, 0.0),
    ("lc.sinh(x)", INF, 0, INF),
    ("lc.sinh(x)", -INF, 0, -INF),
    ("lc.cosh(x)", -INF, 0, INF),
    ("lc.cosh(x)", 0, 0, 1),
    ("lc.tanh(x)", INF, 0, 1),
    ("lc.tanh(x)", -INF, 0, -1),
    ("lc.tanh(x)", NAN, 0, NAN),
    ("lc.asinh(x)", INF, 0, INF),
    ("lc.asinh(x)", -INF, 0, -INF),
    ("lc.acosh(x)", 1, 0, 0.0),
    ("lc.acosh(x)", 0.5, 0, NAN),
    ("lc.atanh(x)", 1, 0, INF),
    ("lc.atanh(x)", -1, 0, -INF),
    # atan2(y, x) with x the first and y the second argument here, as C99 lists them.
    ("lc.atan2(x, y)", 0.0, -0.0, PI),
    ("lc.atan2(x, y)", -0.0, -0.0, -PI),
    ("lc.atan2(x, y)", 0.0, 0.0, 0.0),
    ("lc.atan2(x, y)", -0.0, 0.0, -0.0),
    ("lc.atan2(x, y)", 0.0, -1, PI),
    ("lc.atan2(x, y)", -0.0, -1, -PI),
    ("lc.atan2(x, y)", 0.0, 1, 0.0),
    ("lc.atan2(x, y)", -0.0, 1, -0.0),
    ("lc.atan2(x, y)", -1, 0.0, -PI / 2),
    ("lc.atan2(x, y)", 1, -0.0, PI / 2),
    ("lc.atan2(x, y)", 1, -INF, PI),
    ("lc.atan2(x, y)", -1, INF, -0.0),
    ("lc.atan2(x, y)", INF, 1, PI / 2),
    ("lc.atan2(x, y)", -INF, -INF, -3 * PI / 4),
    ("lc.atan2(x, y)", INF, INF, PI / 4),
    ("lc.atan2(x, y)", NAN, 1, NAN),
    ("lc.atan2(x, y)", 1, NAN, NAN),
    # pow, as C99 lists them.
    ("x ** y", 0.0, -3, INF),
    ("x ** y", -0.0, -3, -INF),
    ("x ** y", -0.0, -2, INF),
    ("x ** y", -0.0, -2.5, INF),
    ("x ** y", 0.0, -INF, INF),
    ("x ** y", -0.0, 3, -0.0),
    ("x ** y", -0.0, 2, 0.0),
    ("x ** y", 0.0, 0.5, 0.0),
    ("x ** y", -1, INF, 1),
    ("x ** y", -1, -INF, 1),
    *[("x ** y", 1, y, 1) for y in (0, NAN, INF, -5)],
    *[("x ** y", x, y, 1) for x in (0.0, -0.0, NAN, INF, -INF, -2) for y in (0.0, -0.0)],
    ("x ** y", -2, 0.5, NAN),
    ("x ** y", -8, 1 / 3, NAN),
    ("x ** y", 0.5, -INF, INF),
    ("x ** y", -2, -INF, 0.0),
    ("x ** y", 0.5, INF, 0.0),
    ("x ** y", 2, INF, INF),
    ("x ** y", -INF, -3, -0.0),
    ("x ** y", -INF, -2.5, 0.0),
    ("x ** y", -INF, 3, -INF),
    ("x ** y", -INF, 2.5, INF),
    ("x ** y", INF, -1, 0.0),
    ("x ** y", INF, 0.25, INF),
    ("x ** y", NAN, 1, NAN),
    ("x ** y", 2, NAN, NAN),
    ("x ** y", -2, 3, -8),
    ("x ** y", -2, 4, 16),
    ("x ** y", 2, -1, 0.5),
    ("x ** y", 9, 0.5, 3),
    # Exact without a function.
    ("lc.sign(x)", 0.0, 0, 0.0),
    ("lc.sign(x)", NAN, 0, 0.0),
    ("lc.normalize(lc.vector(T, 3)(x, y, T(0))).x", 0.0, 0.0, 0.0),
    ("lc.length(lc.vector(T, 2)(x, y))", 3, 4, 5),
]
# Of each expression: where its cases are.
EXPRESSIONS = list(dict.fromkeys(edge[0] for edge in EDGES))


def literal(value):
    if math.isnan(value) or math.isinf(value):
        return "NAN" if math.isnan(value) else "INF" if value > 0 else "-INF"
    return repr(float(value))


def edge_source(name, math_mode):
    text = ["import math", "import lcpy as lc", f"T = lc.{name}"]
    text += ["INF, NAN = math.inf, math.nan", "", f'@lc.kernel(math="{math_mode}")']
    text += ["def loaded(a: lc.Buffer[T], b: lc.Buffer[T], out: lc.Buffer[T]):"]
    text += ["    n = lc.dispatch_size().x", "    i = lc.dispatch_id().x", "    x, y = a[i], b[i]"]
    text += [f"    out[{k} * n + i] = {e}" for k, e in enumerate(EXPRESSIONS)]
    text += ["", f'@lc.kernel(math="{math_mode}")', "def folded(out: lc.Buffer[T]):"]
    for k, (expression, x, y, _) in enumerate(EDGES):
        text += [f"    x, y = T({literal(x)}), T({literal(y)})", f"    out[{k}] = {expression}"]
    return "\n".join([*text, ""])


def same(got, want, dtype, exact):
    """`exact`: whole numbers come out as such; else as near as other numbers."""
    want = dtype(want)
    whole = want == np.round(want) and (exact or abs(want) <= 1)
    if np.isnan(want) or np.isinf(want) or whole:
        return (np.isnan(got) and np.isnan(want)) or (
            got == want and np.signbit(got) == np.signbit(want)
        )
    return abs(got - want) <= 2 * abs(np.spacing(want))


@pytest.mark.parametrize(("name", "math_mode"), CASES)
@np.errstate(all="ignore")
def test_edges(name, math_mode, device, tmp_path):
    dtype = np.dtype(name).type
    module = load_source(tmp_path, f"edges_{name}_{math_mode}", edge_source(name, math_mode))
    pairs = list(dict.fromkeys((repr(float(x)), repr(float(y))) for _, x, y, _ in EDGES))
    a, b = (np.array([float(p[k]) for p in pairs], dtype) for k in (0, 1))
    scalar = getattr(lc, name)
    out = lc.Buffer(len(EXPRESSIONS) * len(pairs), scalar, device=device)
    literals = lc.Buffer(len(EDGES), scalar, device=device)
    try:
        inputs = [lc.Buffer(v, device=device) for v in (a, b)]
        module.loaded(*inputs, out, dispatch_size=len(pairs))
        module.folded(literals, dispatch_size=1)
    except lc.UnsupportedError:
        if refused(device, name):
            pytest.skip(f"{device.name} has no {name}")
        raise
    values = out.numpy().reshape(len(EXPRESSIONS), len(pairs))
    # Functions of double are CUDA's and OpenCL's own there, good to a place.
    exact = name != "float64" or device.kind in ("cpu", "vulkan")
    faults = []
    for k, (expression, x, y, want) in enumerate(EDGES):
        column = pairs.index((repr(float(x)), repr(float(y))))
        got = values[EXPRESSIONS.index(expression), column]
        for how, value in (("loaded", got), ("literal", literals.numpy()[k])):
            if not same(value, want, dtype, exact):
                faults.append(f"{expression} with x, y = {x}, {y}, {how}: {value!r}, not {want}")
    assert not faults, "\n".join(faults)
