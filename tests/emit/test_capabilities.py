"""A module declares the least that its kernel uses, whatever else the device has; and nothing that
the device lacks."""

import pytest
from loading import load_source

import lcpy as lc
from lcpy._native import core

S8, S16 = "StorageBuffer8BitAccess", "StorageBuffer16BitAccess"
BASE = {"Shader", "SignedZeroInfNanPreserve"}
LESS = {"int8": False, "int16": False, "float16": False, "storage8": False, "storage16": False}

# Statements over buffers a of T and o of O with index i; what is declared with everything, and with
# no narrow type.
CASES = {
    "bytes, moved": ("uint8", "uint8", "o[i] = a[i]", {S8}),
    "bytes, widened": ("uint8", "int32", "o[i] = lc.int32(a[i]) * 3", {S8}),
    "bytes, narrowed": ("int32", "int8", "o[i] = lc.int8(a[i] + 1)", {S8}),
    "bytes, computed": ("int8", "int8", "o[i] = a[i] + 1", {S8, "Int8"}),
    "shorts, moved": ("int16", "int16", "o[i] = a[i]", {S16}),
    "shorts, computed": ("uint16", "uint16", "o[i] = a[i] * a[i]", {S16, "Int16"}),
    "bools": ("bool", "bool", "o[i] = not a[i]", {S8}),
    "halves, moved": ("float16", "float16", "o[i] = a[i]", {S16}),
    "halves, widened": ("float16", "float32", "o[i] = lc.float32(a[i]) * 2.0", {S16}),
    "halves, narrowed": ("float32", "float16", "o[i] = lc.float16(a[i])", {S16}),
    "halves, computed": ("float16", "float16", "o[i] = a[i] + a[i]", {S16, "Float16"}),
    "half matrices": ("half3x3", "half3", "o[i] = a[i] @ lc.half3(1)", {S16, "Float16"}),
    "doubles": ("float64", "float64", "o[i] = a[i] * 2.0", {"Float64"}),
    "matrices of double": ("double3x3", "double3", "o[i] = a[i] @ lc.double3(1)", {"Float64"}),
    "longs": ("int64", "int64", "o[i] = a[i] + 1", {"Int64"}),
    "literal index": ("int32", "int32", "o[3 - 2] = a[16 - 1]", set()),
    "wide literal": ("int64", "int32", "o[i] = lc.int32(a[i] >> 33)", {"Int64"}),
    "bfloat16, widened": ("bfloat16", "float32", "o[i] = lc.float32(a[i])", {S16}),
    "bfloat16, moved": ("bfloat16", "bfloat16", "o[i] = a[i]", {S16}),
    "float8, widened": ("float8_e4m3", "float32", "o[i] = lc.float32(a[i])", {S8}),
    "unused widths": ("int32", "int32", "o[i] = a[i] * 5 // 7", set()),
}


@pytest.mark.parametrize("version", [11, 12, 13])
@pytest.mark.parametrize("case", CASES)
def test_declared(case, version, tmp_path):
    T, O, statement, more = CASES[case]
    text = f"""
import lcpy as lc

@lc.kernel
def k(a: lc.Buffer[lc.{T}], o: lc.Buffer[lc.{O}]):
    i = lc.dispatch_id().x
    {statement}
"""
    kernel = load_source(tmp_path, "k", text).k
    made = kernel.compile(lc.Buffer[getattr(lc, T)], lc.Buffer[getattr(lc, O)])
    emit = lambda **target: core.emit_spirv(made.descriptor, made.plan, version=version, **target)
    whole, poor = emit(), emit(**LESS)
    assert set(whole.capabilities) - BASE == more
    wide = {"Int64", "Float64"} & more
    assert set(poor.capabilities) - BASE == wide
    for module in (whole, poor):
        lc.spirv.validate(module.words, f"vulkan1.{version - 10}")


def test_storage_alone_is_enough_for_loads_conversions_and_stores(tmp_path):
    """With 8- and 16-bit buffers and no arithmetic on them, nothing goes by words."""
    text = """
import lcpy as lc

@lc.kernel
def k(a: lc.Buffer[lc.uint8], b: lc.Buffer[lc.half], o: lc.Buffer[lc.int8], p: lc.Buffer[lc.half]):
    i = lc.dispatch_id().x
    o[i] = lc.int8(a[i]) // 3
    p[i] = b[i] * b[i]
"""
    kernel = load_source(tmp_path, "k", text).k
    types = lc.uint8, lc.half, lc.int8, lc.half
    made = kernel.compile(*(lc.Buffer[T] for T in types))
    module = core.emit_spirv(made.descriptor, made.plan, int8=False, int16=False, float16=False)
    assert set(module.capabilities) - BASE == {S8, S16}
    lc.spirv.validate(module.words, "vulkan1.2")


@pytest.mark.parametrize("T, name", [("int64", "shaderInt64"), ("float64", "shaderFloat64")])
def test_64_bits_are_refused_by_name(T, name, tmp_path):
    text = f"""
import lcpy as lc

@lc.kernel
def k(a: lc.Buffer[lc.{T}]):
    a[0] = a[1] + a[2]
"""
    made = load_source(tmp_path, "k", text).k.compile(lc.Buffer[getattr(lc, T)])
    with pytest.raises(lc.UnsupportedError, match=name):
        core.emit_spirv(made.descriptor, made.plan, int64=False, float64=False)


CONTROLS = {
    "float16": {"SignedZeroInfNanPreserve", "DenormPreserve", "RoundingModeRTE"},
    "float64": {"SignedZeroInfNanPreserve", "DenormPreserve"},
    "int32": set(),
}


@pytest.mark.parametrize("T", CONTROLS)
@pytest.mark.parametrize("version", [11, 12, 13])
def test_float_controls_of_the_widths_in_use(T, version, tmp_path):
    text = f"""
import lcpy as lc

@lc.kernel
def k(a: lc.Buffer[lc.{T}]):
    i = lc.dispatch_id().x
    a[i] = a[i] * a[i]
"""
    made = load_source(tmp_path, "k", text).k.compile(lc.Buffer[getattr(lc, T)])
    widths = {f"{name}{w}": True for name in ("signed_zero_inf_nan_preserve", "denorm_preserve")
              for w in (16, 64)}  # fmt: skip
    module = core.emit_spirv(
        made.descriptor, made.plan, version=version, round_even16=True, **widths
    )
    known = {"SignedZeroInfNanPreserve", "DenormPreserve", "RoundingModeRTE"}
    assert known & set(module.capabilities) == CONTROLS[T]
    lc.spirv.validate(module.words, f"vulkan1.{version - 10}")
