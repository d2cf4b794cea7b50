"""Conversions between all scalar types, loaded and as literals, and bit casts."""

import math

import numpy as np
import pytest
from loading import load_source
from ops import reference as ref
from ops.test_elementwise import literal, refused

import lcpy as lc

# Floats at the borders of the integer types, besides the common edges.
FLOAT_EDGES = [-5.5, 1e20, -1e20, 2147483648.0, 2147483520.0, -2147483648.0, 200.0, 300.0, 60000.0]
INTEGER_EDGES = [200, 60000, 3_000_000_000, 16_777_217, (1 << 53) + 1, -56]


def values_of(t):
    values = list(ref.edges(t))
    if t.kind == "float":
        limit = float(np.finfo(t.dtype).max)
        values += [float(t.dtype.type(v)) for v in FLOAT_EDGES if abs(v) <= limit]
    elif t.kind != "bool":
        values += [v for v in INTEGER_EDGES if ref.smallest(t) <= v <= ref.largest(t)]
    return values


def convert(source, target, value):
    """language.md: truncate and saturate, NaN to 0; modulo; nearest even, once."""
    if target.kind == "bool":
        return bool(value != 0)
    if source.kind == "bool":
        return target.dtype.type(value)
    if target.kind == "float":
        if source.kind == "float":
            return target.dtype.type(source.dtype.type(value))
        return integer_to_float(target, value)
    if source.kind == "float":
        if math.isnan(value):
            return 0
        if math.isinf(value):
            return ref.largest(target) if value > 0 else ref.smallest(target)
        return min(max(int(value), ref.smallest(target)), ref.largest(target))
    return ref.wrap(target, value)


def integer_to_float(target, value):
    from fractions import Fraction

    return (
        target.dtype.type(0)
        if value == 0
        else ref.round_fraction(Fraction(value), target.dtype.type)
    )


def source_text(source, folded):
    text = ["import math", "import lcpy as lc", "INF, NAN = math.inf, math.nan", ""]
    outs = ", ".join(f"o_{t.name}: lc.Buffer[lc.{t.name}]" for t in targets(source))
    text += ["@lc.kernel(block_size=(32, 1, 1))"]
    if folded:
        text += [f"def convert({outs}):"]
        for k, value in enumerate(values_of(source)):
            for t in targets(source):
                x = f"lc.{source.name}({literal(value)})"
                text.append(f"    o_{t.name}[{k}] = lc.{t.name}({x})")
    else:
        text += [f"def convert(a: lc.Buffer[lc.{source.name}], {outs}):"]
        text += ["    i = lc.dispatch_id().x"]
        text += [f"    o_{t.name}[i] = lc.{t.name}(a[i])" for t in targets(source)]
    return "\n".join([*text, ""])


def targets(source):
    return ref.SCALARS


@pytest.mark.parametrize("folded", [False, True], ids=["loaded", "folded"])
@pytest.mark.parametrize("source", ref.SCALARS, ids=lambda t: t.name)
@np.errstate(all="ignore")
def test_convert(source, folded, device, tmp_path):
    module = load_source(tmp_path, f"convert_{source.name}", source_text(source, folded))
    values = values_of(source)
    outs = [lc.Buffer(len(values), getattr(lc, t.name), device=device) for t in targets(source)]
    inputs = [] if folded else [lc.Buffer(np.array(values, source.dtype), device=device)]
    try:
        module.convert(*inputs, *outs, dispatch_size=1 if folded else len(values))
    except lc.UnsupportedError as error:
        if refused(device, source):
            pytest.skip(f"{device.name}: {error}")
        raise
    faults = []
    for t, out in zip(targets(source), outs):
        for value, got in zip(values, out.numpy()):
            want = convert(source, t, value)
            both_nan = t.kind == "float" and math.isnan(want) and math.isnan(got)
            if not (got == want or both_nan):
                faults.append(f"{t.name}({source.name} {value!r}) is {got!r}, not {want!r}")
    assert not faults, "\n".join(faults)


PAIRS = [("int32", "float32"), ("uint64", "float64"), ("int8", "uint8"), ("uint16", "int16")]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: "-".join(p))
def test_bitcast(pair, device, tmp_path):
    a, b = pair
    text = f"""
import lcpy as lc

@lc.kernel(block_size=(32, 1, 1))
def cast(x: lc.Buffer[lc.{a}], y: lc.Buffer[lc.{b}], back: lc.Buffer[lc.{a}]):
    i = lc.dispatch_id().x
    y[i] = lc.bitcast(lc.{b}, x[i])
    back[i] = lc.bitcast(lc.{a}, lc.bitcast(lc.{b}, x[i]))
"""
    module = load_source(tmp_path, f"bitcast_{a}", text)
    bits = np.random.default_rng(1).integers(0, 256, 64 * 8, dtype=np.uint8)
    x = bits.view(ref.BY_NAME[a].dtype)
    buffers = [lc.Buffer(x, device=device)]
    buffers += [lc.Buffer(len(x), getattr(lc, name), device=device) for name in (b, a)]
    module.cast(*buffers, dispatch_size=len(x))
    y = buffers[1].numpy()
    integers = f"u{x.dtype.itemsize}"
    good = (y.view(integers) == x.view(integers)) | (np.isnan(y) if y.dtype.kind == "f" else False)
    assert good.all()
    if ref.BY_NAME[b].kind != "float":
        assert (buffers[2].numpy() == x).all()
