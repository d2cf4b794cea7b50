"""The pack table: kinds, offsets, ranges, and the bytes of values (R058, R059)."""

import struct

import pytest

import lcpy as lc
from lcpy.errors import ArgumentError
from lcpy.plan import Parameter, pack_table


@lc.struct
class Mixed:
    x: lc.Array[lc.uint32, 2]
    y: lc.float32
    z: lc.Array[lc.uint32, 3]


def row(T, **entry):
    offsets = tuple(entry.get(k, -1) for k in ("value", "length", "extents", "base"))
    slot = ("p", T._type, "global" if T.kind == "buffer" else "uniform", "read", 0, False)
    return pack_table([Parameter("p", T, 0)], [slot], [offsets], [entry.get("short", False)])[0]


@pytest.mark.parametrize(
    "T, kind",
    [
        (lc.int32, "signed"),
        (lc.uint8, "unsigned"),
        (lc.int64, "signed"),
        (lc.uint64, "unsigned"),
        (lc.float32, "float"),
        (lc.float64, "float"),
        (lc.bool, "bool"),
        (lc.float16, "packed"),
        (lc.float3, "packed"),
        (lc.float3x3, "packed"),
        (Mixed, "packed"),
        (lc.Array[lc.int32, 3], "packed"),
    ],
)
def test_kinds(T, kind):
    made = row(T, value=16)
    assert (made.kind, made.value, made.bytes) == (kind, 16, T._type.size)


def test_buffer_rows():
    made = row(lc.Buffer[lc.float3, 2], length=24, extents=32, base=48)
    assert (made.kind, made.bytes, made.length, made.extents, made.base) == (
        "buffer",
        1,
        24,
        32,
        48,
    )
    assert made.type is lc.Buffer[lc.float3, 2]._type
    assert (made.high, made.packer) == (0, "p")  # of any length
    counted = row(lc.Buffer[lc.float3], length=24, short=True)
    assert counted.high == 2**32 - 1


def test_an_argument_without_a_slot_is_still_checked():
    made = pack_table([Parameter("p", lc.Buffer[lc.int32], 0)], [], [], [])[0]
    assert made.kind == "buffer" and made.bytes == 0


def test_struct_bytes():
    data = row(Mixed, value=16).packer(Mixed((1, 2), 0.5, (3, 4, 5)))
    assert data == struct.pack("<IIfIII", 1, 2, 0.5, 3, 4, 5)


def test_vectors_and_matrices_are_padded():
    assert row(lc.double3, value=0).packer((1, 2, 3)) == struct.pack("<ddd8x", 1, 2, 3)
    columns = row(lc.float2x2, value=0).packer([[1, 2], [3, 4]])  # rows, as NumPy has them
    assert columns == struct.pack("<ffff", 1, 3, 2, 4)


@pytest.mark.parametrize(
    "T, value, part",
    [
        (lc.float3, (1, 2), "wanted float3"),
        (lc.int2, (1, 1 << 40), "out of range"),
        (lc.float16, 1e6, "beyond the range"),
        (Mixed, {"x": (1, 2), "y": 1.0}, "'z'"),
        (Mixed, (1, 2, 3, 4), "wanted Mixed"),
        (lc.float2, "ab", "wanted float2"),
    ],
)
def test_wrong_values_name_the_argument(T, value, part):
    with pytest.raises(ArgumentError, match=part) as raised:
        row(T, value=0).packer(value)
    assert "'p'" in str(raised.value)
