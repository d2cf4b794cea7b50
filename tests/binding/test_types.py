"""Type classes: descriptions, layouts, dtypes, host values, bytes both ways."""

import enum
import subprocess
import sys

import numpy as np
import pytest

import lcpy as lc
from lcpy import types


@lc.struct
class Ray:
    origin: lc.float3
    t_max: float = 1.5
    frame: lc.float3x3
    hit: lc.bool

    def middle(self):
        return self.t_max / 2

    @property
    def twice(self):
        return self.t_max * 2


def test_importing_loads_nothing_heavy():
    heavy = "numpy inspect typing dataclasses ast re enum ctypes vulkan pyopencl".split()
    heavy.append("lcpy._native.core")
    code = f"import sys; import lcpy; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "T, description, size, align",
    [
        (lc.bool, "bool", 1, 1),
        (lc.half3, "vector<half,3>", 8, 8),
        (lc.float3, "vector<float,3>", 16, 16),
        (lc.double2x2, "matrix<double,2>", 32, 16),
        (lc.float3x3, "matrix<float,3>", 48, 16),
        (lc.Array[lc.float3, 5], "array<vector<float,3>,5>", 80, 16),
        (Ray, "struct<16,vector<float,3>,float,matrix<float,3>,bool>", 96, 16),
    ],
)
def test_descriptions_and_layouts(T, description, size, align):
    assert T._type.description == description
    assert (T.layout.size, T.layout.align) == (size, align)
    assert types.from_core(T._type) is T


def test_aliases_are_the_same_class():
    assert (
        lc.int is lc.int32
        and lc.float is lc.float32
        and lc.double is lc.float64
        and lc.half is lc.float16
    )
    assert lc.vector(lc.float32, 3) is lc.float3 and lc.matrix(float, 2) is lc.float2x2
    assert (
        lc.Array[lc.int32, 4] is lc.Array[int, 4] and lc.Buffer[lc.float3] is lc.Buffer[lc.float3]
    )


def test_dtypes():
    assert lc.float3.dtype == np.dtype(("f4", (3,))) and lc.bool.dtype == np.bool_
    assert Ray.dtype == np.dtype(
        [("origin", "f4", (3,)), ("t_max", "f4"), ("frame", "f4", (3, 3)), ("hit", "?")]
    )
    assert Ray.layout.offsets == {"origin": 0, "t_max": 16, "frame": 32, "hit": 80}


def test_scalars_convert_as_casts_do():
    assert lc.uint32(-1) == 4294967295 and lc.int32(3.9) == 3 and lc.int8(200) == -56
    assert lc.uint8(1e9) == 255 and lc.int32(float("nan")) == 0 and lc.uint32(float("-inf")) == 0
    assert lc.float32(0.1).dtype == np.float32 and lc.float16(1e6) == np.inf
    assert isinstance(lc.bool(3), np.bool_)


def test_vectors():
    v = lc.float4(lc.float2(1, 2), 3, 4)
    assert v == (1, 2, 3, 4) and v.wzyx == (4, 3, 2, 1) and v.rg == (1, 2) and v.z == 3
    assert (
        lc.float3(v) == (1, 2, 3)
        and lc.int3(7) == (7, 7, 7)
        and lc.float3(0.1).x == np.float32(0.1)
    )
    for wrong in (lambda: lc.float3(1, 2), lambda: lc.float3(lc.float2(1, 2), 3, 4)):
        with pytest.raises(lc.ArgumentError):
            wrong()
    with pytest.raises(AttributeError):
        v.xq


def test_matrices_are_columns_and_index_as_row_column():
    m = lc.float2x2.from_rows((1, 2), (3, 4))
    assert m[0] == (1, 3) and m[0, 1] == 2 and m == lc.float2x2((1, 3), (2, 4))
    assert lc.float2x2(np.array([[1, 2], [3, 4]])) == m and lc.float3x3.identity()[2, 2] == 1


def test_structs():
    ray = Ray((1, 2, 3), hit=True)
    assert (
        ray.t_max == 1.5
        and ray.frame == lc.float3x3()
        and ray.middle() == 0.75
        and ray.twice == 3.0
    )
    assert ray == Ray(origin=lc.float3(1, 2, 3), hit=True) != Ray()
    assert list(Ray.members) == ["origin", "t_max", "frame", "hit"] and Ray.defaults == {
        "t_max": 1.5
    }
    for wrong in (
        lambda: Ray(1, 2, 3, 4, 5),
        lambda: Ray(nothing=1),
        lambda: Ray((1, 2, 3), origin=(1, 2, 3)),
    ):
        with pytest.raises(lc.ArgumentError):
            wrong()


def test_pack_and_unpack_are_inverse():
    ray = Ray((1, 2, 3), 4.0, lc.float3x3.from_rows((1, 2, 3), (4, 5, 6), (7, 8, 9)), True)
    data = types.pack(Ray, ray)
    assert len(data) == 96 and types.unpack(Ray, data) == ray
    record = np.zeros((), Ray.dtype)
    record["origin"], record["t_max"], record["hit"] = (1, 2, 3), 4, True
    record["frame"] = np.arange(1, 10).reshape(3, 3)
    assert types.pack(Ray, record[()]) == data
    assert (
        types.unpack(
            lc.Array[lc.half3, 2], types.pack(lc.Array[lc.half3, 2], [[1, 2, 3], [4, 5, 6]])
        )[1].y
        == 5
    )


def test_type_of():
    assert (
        lc.type_of(1) is lc.int32
        and lc.type_of(1 << 40) is lc.int64
        and lc.type_of(1 << 63) is lc.uint64
    )
    assert (
        lc.type_of(1.0) is lc.float32
        and lc.type_of(True) is lc.bool
        and lc.type_of(np.float64(1)) is lc.float64
    )
    assert lc.type_of(lc.float3(1)) is lc.float3 and lc.type_of(Ray()) is Ray
    with pytest.raises(lc.ArgumentError):
        lc.type_of("text")


@pytest.mark.parametrize(
    "make",
    [
        lambda: lc.Array[lc.int32, 0],
        lambda: lc.Array[lc.int32],
        lambda: lc.vector(lc.float32, 5),
        lambda: lc.matrix(lc.int32, 2),
        lambda: lc.Buffer[3],
        lambda: lc.Buffer[lc.float32, 4],
        lambda: lc.struct(type("Empty", (), {})),
    ],
)
def test_types_that_do_not_exist(make):
    with pytest.raises(lc.ArgumentError):
        make()


@pytest.mark.parametrize(
    "make, part",
    [
        (lambda: lc.float3("a"), "float32"),
        (lambda: lc.float32("3"), "wanted a number, got str"),
        (lambda: lc.int32(None), "got NoneType"),
        (lambda: lc.int32(1j), "got complex"),
        (lambda: lc.int8(np.zeros(2)), "got an array"),
        (lambda: lc.struct(3), "class"),
    ],
)
def test_host_values_are_made_of_numbers(make, part):
    with pytest.raises(lc.ArgumentError, match=part):
        make()


def test_a_struct_cannot_hold_itself():
    with pytest.raises(lc.ArgumentError, match="member 'next' of struct Node.*cannot hold itself"):

        @lc.struct
        class Node:
            next: "Node"


def test_vectors_of_enum_members():
    class Level(enum.IntEnum):
        LOW = 2

    assert lc.float3(Level.LOW) == (2, 2, 2) and lc.int2(Level.LOW, 3) == (2, 3)
