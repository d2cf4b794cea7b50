"""Element-wise operations on every type and device: loaded values and literals against Python."""

import itertools
import math

import numpy as np
import pytest
from loading import load_source
from ops import reference as ref
from ops.rows import EXACT, FUNCTIONS

import lcpy as lc

RESULTS = ("same", "bool", "true_divide")
LANES = {"int8": 4, "int32": 3, "uint32": 2, "int64": 2, "float16": 3, "float32": 3, "float64": 2}


def rows_for(t, result):
    field = "real" if t.kind == "float" else "integer"
    return [row for row in EXACT if row.result == result and getattr(row, field)]


def result_type(t, result):
    if result == "same" or (result == "true_divide" and t.kind == "float"):
        return t
    if result == "bool":
        return ref.BOOL
    return ref.BY_NAME["float64" if t.bits == 64 else "float32"]


def triples(t, seed=5):
    """All pairs of edges, each with some third."""
    values = ref.edges(t)
    random = np.random.default_rng(seed)
    pairs = list(itertools.product(values, values))
    return [(x, y, values[random.integers(len(values))]) for x, y in pairs]


def expected(row, t, triple):
    x, y, z = (t.dtype.type(v) if t.kind == "float" else v for v in triple)
    value = row.real(x, y, z) if t.kind == "float" else row.integer(t, x, y, z)
    if row.result == "true_divide" and t.kind != "float":
        out = result_type(t, row.result).dtype.type
        return out(value[0]) / out(value[1])
    if row.result == "same" and t.kind != "float":
        return ref.wrap(t, value)
    return value


def source(t, lanes, folded):
    """A module with one kernel for each kind of result."""
    name = f"lc.{t.name}" if lanes == 1 else f"lc.vector(lc.{t.name}, {lanes})"
    text = ["import math", "import lcpy as lc", f"T = {name}", "INF, NAN = math.inf, math.nan", ""]
    for result in RESULTS:
        out = result_type(t, result).name
        out = f"lc.{out}" if lanes == 1 else f"lc.vector(lc.{out}, {lanes})"
        text += [f"O_{result} = {out}", '@lc.kernel(block_size=(64, 1, 1), math="strict")']
        if folded:
            text += [f"def {result}(out: lc.Buffer[O_{result}]):"]
            for k, (row, triple) in enumerate(literal_cases(t, result)):
                x, y, z = (f"T({literal(v)})" for v in triple)
                text.append(f"    x, y, z = {x}, {y}, {z}")
                text.append(f"    out[{k}] = {row.text}")
        else:
            names = "a: lc.Buffer[T], b: lc.Buffer[T], c: lc.Buffer[T]"
            text += [f"def {result}({names}, out: lc.Buffer[O_{result}]):"]
            text += ["    i = lc.dispatch_id().x", "    n = lc.dispatch_size().x"]
            text += ["    x, y, z = a[i], b[i], c[i]"]
            for k, row in enumerate(rows_for(t, result)):
                text.append(f"    out[{k} * n + i] = {row.text}")
        text.append("")
    return "\n".join(text)


def literal(value):
    if isinstance(value, float):
        if math.isnan(value):
            return "NAN"
        if math.isinf(value):
            return "INF" if value > 0 else "-INF"
    return repr(value)


def literal_cases(t, result, count=7):
    """(row, triple) of a folded kernel: for each row a few pairs, all edges in their turn."""
    found = []
    everything = triples(t, seed=9)
    for k, row in enumerate(rows_for(t, result)):
        step = len(everything) // count
        found += [(row, everything[(k * 5 + j * step) % len(everything)]) for j in range(count)]
    return found


def denormal(value, dtype):
    return 0 < abs(value) < np.finfo(dtype).tiny


def flushed(device, row, t, triple, got, want):
    """Whether a device that says that it flushes denormals did that to an operand or result."""
    if device.features["denormals"] or t.kind != "float":
        return False
    if denormal(want, t.dtype):
        return got == 0
    operands = [t.dtype.type(0.0) if denormal(v, t.dtype) else t.dtype.type(v) for v in triple]
    if not any(denormal(v, t.dtype) for v in triple):
        return False
    again = t.dtype.type(expected(row, t, operands))
    return bool(got == again) or (math.isnan(got) and math.isnan(again))


def check(device, row, t, triple, got, lane=""):
    want = expected(row, t, triple)
    kind = result_type(t, row.result)
    if kind.kind != "float":
        assert got == want, f"{row.text} with x, y, z = {triple}{lane}: {got}, not {want}"
        return
    if t.kind == "float" and not row.compared(*(float(v) for v in triple[:2])):
        return
    want = kind.dtype.type(want)
    same = bool(got == want) or (math.isnan(got) and math.isnan(want))
    if row.zero_sign and want == 0:
        same = same and np.signbit(got) == np.signbit(want)
    same = same or flushed(device, row, t, triple, got, want)
    assert same, f"{row.text} with x, y, z = {triple}{lane}: {got!r}, not {want!r}"


def refused(device, t):
    """Whether a device may refuse a type: it says so by name."""
    return t.name == "float64" and not device.features["float64"]


def launch(device, t, kernel, *arguments, **options):
    try:
        kernel(*arguments, **options)
    except lc.UnsupportedError as error:
        if refused(device, t):
            pytest.skip(f"{device.name}: {error}")
        raise


@pytest.mark.parametrize("t", [*ref.INTEGERS, *ref.FLOATS], ids=lambda t: t.name)
@np.errstate(all="ignore")
def test_loaded(t, device, tmp_path):
    module = load_source(tmp_path, f"loaded_{t.name}", source(t, 1, False))
    cases = triples(t)
    columns = [np.array([case[k] for case in cases], t.dtype) for k in range(3)]
    inputs = [lc.Buffer(column, device=device) for column in columns]
    for result in RESULTS:
        rows = rows_for(t, result)
        if not rows:
            continue
        kind = result_type(t, result)
        out = lc.Buffer(len(rows) * len(cases), getattr(lc, kind.name), device=device)
        launch(device, t, getattr(module, result), *inputs, out, dispatch_size=len(cases))
        values = out.numpy().reshape(len(rows), len(cases))
        for row, column in zip(rows, values):
            for triple, got in zip(cases, column):
                check(device, row, t, triple, got)


@pytest.mark.parametrize("name", LANES)
@np.errstate(all="ignore")
def test_vectors(name, device, tmp_path):
    t, lanes = ref.BY_NAME[name], LANES[name]
    module = load_source(tmp_path, f"vector_{name}", source(t, lanes, False))
    cases = triples(t)
    cases = cases[: len(cases) // lanes * lanes]
    vector = lc.vector(getattr(lc, name), lanes)
    inputs = []
    for k in range(3):
        column = np.array([case[k] for case in cases], t.dtype).reshape(-1, lanes)
        inputs.append(lc.Buffer(column, vector, device=device))
    n = len(cases) // lanes
    for result in RESULTS:
        rows = rows_for(t, result)
        kind = lc.vector(getattr(lc, result_type(t, result).name), lanes)
        out = lc.Buffer(len(rows) * n, kind, device=device)
        launch(device, t, getattr(module, result), *inputs, out, dispatch_size=n)
        values = out.numpy().reshape(len(rows), len(cases))
        for row, column in zip(rows, values):
            for k, (triple, got) in enumerate(zip(cases, column)):
                check(device, row, t, triple, got, f" in lane {k % lanes}")


@pytest.mark.parametrize("t", [*ref.INTEGERS, *ref.FLOATS], ids=lambda t: t.name)
@np.errstate(all="ignore")
def test_folded(t, device, tmp_path):
    module = load_source(tmp_path, f"folded_{t.name}", source(t, 1, True))
    for result in RESULTS:
        cases = literal_cases(t, result)
        if not cases:
            continue
        kind = result_type(t, result)
        out = lc.Buffer(len(cases), getattr(lc, kind.name), device=device)
        launch(device, t, getattr(module, result), out, dispatch_size=1)
        for (row, triple), got in zip(cases, out.numpy()):
            check(device, row, t, triple, got)


def function_source(t):
    text = ["import lcpy as lc", ""]
    for k, row in enumerate(FUNCTIONS):
        text += ["@lc.kernel(block_size=(64, 1, 1))"]
        text += [f"def f{k}(a: lc.Buffer[lc.{t.name}], b: lc.Buffer[lc.{t.name}],"]
        text += [f"       out: lc.Buffer[lc.{t.name}]):"]
        text += [
            "    i = lc.dispatch_id().x",
            "    x, y = a[i], b[i]",
            f"    out[i] = {row.text}",
            "",
        ]
    return "\n".join(text)


def function_inputs(t, row, count=400):
    random = np.random.default_rng(11)
    x = random.uniform(*row.x, count)
    y = random.uniform(*row.y, count)
    for k, (sx, sy, _) in enumerate(row.special):
        x[k], y[k] = sx, sy
    return x.astype(t.dtype), y.astype(t.dtype)


@pytest.mark.parametrize("t", ref.FLOATS, ids=lambda t: t.name)
@np.errstate(all="ignore")
def test_functions(t, device, tmp_path):
    """Functions that devices approximate, within the stated error."""
    module = load_source(tmp_path, f"functions_{t.name}", function_source(t))
    scale = float(np.finfo(t.dtype).eps) / float(np.finfo(np.float32).eps)
    faults = []
    for k, row in enumerate(FUNCTIONS):
        x, y = function_inputs(t, row)
        out = lc.Buffer(len(x), getattr(lc, t.name), device=device)
        a, b = lc.Buffer(x, device=device), lc.Buffer(y, device=device)
        launch(device, t, getattr(module, f"f{k}"), a, b, out, dispatch_size=len(x))
        got = out.numpy().astype(np.float64)
        want = row.real(x.astype(np.float64), y.astype(np.float64))
        allowed = scale * (row.relative * np.abs(want) + row.absolute)
        overflow = np.isinf(got) & (np.abs(want) > float(np.finfo(t.dtype).max))
        good = (np.abs(got - want) <= allowed) | (got == want) | overflow
        if not good.all():
            worst = int(np.argmax(np.where(good, 0, np.abs(got - want) / allowed)))
            faults.append(
                f"{row.text} with x, y = {x[worst]}, {y[worst]}: {got[worst]}, {want[worst]}"
            )
    assert not faults, "\n".join(faults)
