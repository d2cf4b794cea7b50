"""Layouts that host and device must agree on: vectors, structs, bools, by-value arguments."""

import itertools

import numpy as np
import pytest
from loading import load_source

import lcpy as lc

# R048: rows of three from NumPy, any count.

VECTORS = """
import lcpy as lc

V = lc.vector(lc.{name}, {lanes})

@lc.kernel
def copy(a: lc.Buffer[V], out: lc.Buffer[V], first: lc.Buffer[lc.{name}]):
    i = lc.dispatch_id().x
    out[i] = a[i]
    first[i] = a[i][{last}]
"""


@pytest.mark.parametrize("lanes", [2, 3, 4])
@pytest.mark.parametrize("name", ["uint8", "float32", "int16", "float64"])
def test_r048(name, lanes, device, tmp_path):
    source = VECTORS.format(name=name, lanes=lanes, last=lanes - 1)
    module = load_source(tmp_path, f"copy_{name}{lanes}", source)
    a = (np.arange(7 * lanes) % 120).astype(name).reshape(7, lanes)
    out = lc.Buffer(7, module.V, device=device)
    last = lc.Buffer(7, getattr(lc, name), device=device)
    module.copy(lc.Buffer(a, module.V, device=device), out, last, dispatch_size=7)
    assert out.numpy().shape == (7, lanes) and (out.numpy() == a).all()
    assert (last.numpy() == a[:, -1]).all()


# R050: sizes of structs are rounded to their alignment.


@lc.struct
class Long:
    y: lc.uint64
    x: lc.uint32


@lc.struct
class Short:
    x: lc.uint32
    y: lc.uint16


@lc.struct
class Middle:
    a: lc.float32
    m: lc.Array[lc.double3x3, 2]


@lc.struct
class Mixed:
    a: lc.int16
    b: Middle
    c: lc.float32


def test_r050_sizes():
    assert (Long.layout.size, Short.layout.size) == (16, 8)
    assert Mixed.layout.size % Mixed.layout.align == 0
    assert Long.dtype.names == ("y", "x")


@lc.kernel
def copy_long(a: lc.Buffer[Long], out: lc.Buffer[Long]):
    i = lc.dispatch_id().x
    out[i] = Long(a[i].y + 1, a[i].x + 2)


@lc.kernel
def copy_short(a: lc.Buffer[Short], out: lc.Buffer[Short]):
    i = lc.dispatch_id().x
    out[i] = Short(a[i].x + 1, a[i].y + lc.uint16(2))


@lc.kernel
def copy_mixed(a: lc.Buffer[Mixed], out: lc.Buffer[Mixed]):
    i = lc.dispatch_id().x
    value = a[i]
    value.a += lc.int16(1)
    value.b.m[1][2].y += 2.0
    value.c += value.b.a
    out[i] = value


def filled(dtype, n):
    """A structured array in which every scalar is another small number."""
    array = np.zeros(n, dtype)
    counter = itertools.count(1)

    def fill(part):
        if part.dtype.names:
            for name in part.dtype.names:
                fill(part[name])
        else:
            flat = np.array([next(counter) % 50 for _ in range(part.size)])
            part[...] = flat.reshape(part.shape)

    fill(array)
    return array


def test_r050_arrays(device):
    a = filled(Long.dtype, 5)
    out = lc.Buffer(5, Long, device=device)
    copy_long(lc.Buffer(a, Long, device=device), out, dispatch_size=5)
    assert (out.numpy()["y"] == a["y"] + 1).all() and (out.numpy()["x"] == a["x"] + 2).all()
    a = filled(Short.dtype, 5)
    out = lc.Buffer(5, Short, device=device)
    copy_short(lc.Buffer(a, Short, device=device), out, dispatch_size=5)
    assert (out.numpy()["x"] == a["x"] + 1).all() and (out.numpy()["y"] == a["y"] + 2).all()
    a = filled(Mixed.dtype, 5)
    out = lc.Buffer(5, Mixed, device=device)
    copy_mixed(lc.Buffer(a, Mixed, device=device), out, dispatch_size=5)
    want = a.copy()
    want["a"] += 1
    want["b"]["m"][:, 1, 1, 2] += 2  # column 2, row 1: [row, column] on the host
    want["c"] += want["b"]["a"]
    assert out.numpy().tobytes() == want.tobytes()


# R052: matrices alone, in a struct, and by value.


@lc.struct
class Matrices:
    before: lc.float32
    two: lc.float2x2
    three: lc.float3x3
    four: lc.float4x4
    after: lc.float32


@lc.kernel
def matrices(
    a: lc.Buffer[lc.float2x2], s: lc.Buffer[Matrices], by_value: Matrices, out: lc.Buffer[Matrices]
):
    out[0] = s[0]
    out[1] = by_value
    out[2].two = a[1] + s[0].two + by_value.two
    out[2].three[1, 2] = by_value.three[1, 2]
    out[2].after = by_value.after


def test_r052(device):
    s = filled(Matrices.dtype, 2)
    a = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    out = lc.Buffer(3, Matrices, device=device)
    inputs = (lc.Buffer(a, lc.float2x2, device=device), lc.Buffer(s[:1], Matrices, device=device))
    matrices(*inputs, s[1], out, dispatch_size=1)
    got = out.numpy()
    assert got[0].tobytes() == s[0].tobytes() and got[1].tobytes() == s[1].tobytes()
    assert (got[2]["two"] == a[1] + s[0]["two"] + s[1]["two"]).all()
    three = np.zeros((3, 3))
    three[1, 2] = s[1]["three"][1, 2]
    assert (got[2]["three"] == three).all()
    assert got[2]["after"] == s[1]["after"]


# R053: bool in memory is a byte, true when not zero; 0 or 1 is written.


@lc.struct
class Flags:
    b: lc.bool
    x: lc.int32
    many: lc.Array[lc.bool, 3]
    v: lc.bool3


@lc.kernel
def bools(raw: lc.Buffer[lc.bool], flags: lc.Buffer[Flags], out: lc.Buffer[lc.bool]):
    i = lc.dispatch_id().x
    out[i] = raw[i]
    if i == 0:
        flags[1] = flags[0]
        flags[2].v.zx = lc.bool2(raw[1], raw[2])
        flags[2].many[raw_index(raw[2])] = not raw[0]
        flags[2].b = flags[0].b and flags[0].v.y


@lc.callable
def raw_index(flag: lc.bool) -> lc.int32:
    return lc.int32(flag) + 1


def test_r053(device):
    raw = np.uint8([0, 1, 2, 255]).view(np.bool_)
    flags = np.zeros(3, Flags.dtype)
    flags[0] = (True, 5, (True, False, True), (False, True, True))
    flags = lc.Buffer(flags, Flags, device=device)
    out = lc.Buffer(4, lc.bool, device=device)
    bools(lc.Buffer(raw, device=device), flags, out, dispatch_size=4)
    assert out.numpy().view(np.uint8).tolist() == [0, 1, 1, 1]
    got = flags.numpy()
    assert got[1].tobytes() == got[0].tobytes()
    assert got[2]["v"].tolist() == [True, False, True]
    assert got[2]["many"].tolist() == [False, False, True] and bool(got[2]["b"])


# R055, R056: a narrow store changes its own bytes only.


@lc.kernel(block_size=(256, 1, 1))
def narrow(a: lc.Buffer[lc.int8], b: lc.Buffer[lc.uint16], c: lc.Buffer[lc.int8]):
    i = lc.dispatch_id().x
    a[i] = lc.int8(lc.int32(a[i]) * 3 + lc.int32(i) % 5)
    b[i] = lc.uint16(lc.uint32(b[i]) + i)
    if i == 1:
        c[1] = -1


def test_r055(device):
    a, b = (np.arange(256) % 40).astype(np.int8), np.arange(256).astype(np.uint16)
    buffers = [lc.Buffer(v, device=device) for v in (a, b, np.int8([1, 2, 3]))]
    narrow(*buffers, dispatch_size=256)
    i = np.arange(256)
    assert (buffers[0].numpy() == (a.astype(int) * 3 + i % 5).astype(np.int8)).all()
    assert (buffers[1].numpy() == b + i).all()
    assert buffers[2].numpy().tolist() == [1, -1, 3]


# R058, R059: by-value arguments of all widths, in every order.

ARGUMENTS = {
    "i": ("lc.int32", 1),
    "f": ("lc.float32", 2.5),
    "l": ("lc.uint64", 2**40),
    "n": ("lc.int8", -3),
    "v": ("lc.float3", (1.5, 2.5, 3.5)),
    "b": ("lc.bool", True),
    "d": ("lc.double3", (0.1, 0.2, 0.3)),
}
READ = {"v": "v.x + v.y + v.z", "d": "lc.float32(d.x + d.y + d.z)"}


@pytest.mark.parametrize("order", ["ifln", "vibdl", "dbnf", "bnlvfid", "lbd"])
def test_r058(order, device, tmp_path):
    declared = ", ".join(f"{k}: {ARGUMENTS[k][0]}" for k in order)
    text = f"import lcpy as lc\n\n@lc.kernel\ndef push({declared}, out: lc.Buffer[lc.float32]):\n"
    for at, k in enumerate(order):
        text += f"    out[{at}] = {READ.get(k, f'lc.float32({k})')}\n"
    module = load_source(tmp_path, f"push_{order}", text)
    out = lc.Buffer(len(order), lc.float32, device=device)
    module.push(*(ARGUMENTS[k][1] for k in order), out, dispatch_size=1)
    want = [np.float32(np.sum(np.float64(ARGUMENTS[k][1]))) for k in order]
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-6)


@lc.struct
class Argument:
    x: lc.Array[lc.uint32, 2]
    y: lc.float32
    z: lc.Array[lc.uint32, 3]


@lc.kernel
def struct_argument(s: Argument, i: lc.int32, v: lc.double3, out: lc.Buffer[lc.float32]):
    out[0] = lc.float32(s.x[0] + s.x[i])
    out[1] = s.y
    out[2] = lc.float32(s.z[i] + s.z[i + 1])
    out[3] = lc.float32(v[i])


def test_r059(device):
    out = lc.Buffer(4, lc.float32, device=device)
    value = Argument((1, 2), 3.5, (4, 5, 6))
    struct_argument(value, 1, (0.5, 1.5, 2.5), out, dispatch_size=1)
    assert out.numpy().tolist() == [3, 3.5, 11, 1.5]


# R061: structs come back as they went, without padding.


@lc.struct
class Colour:
    r: lc.float32
    g: lc.float32
    b: lc.float32


@lc.kernel
def brighten(image: lc.Buffer[Colour, 2]):
    p = lc.dispatch_id().xy
    image[p.y, p.x].g += 1.0


def test_r061(device):
    image = filled(Colour.dtype, 6).reshape(2, 3)
    buffer = lc.Buffer(image, Colour, device=device)
    assert buffer.numpy().tobytes() == image.tobytes()
    brighten(buffer, dispatch_size=(3, 2))
    image["g"] += 1
    assert buffer.numpy().shape == (2, 3) and buffer.numpy().tobytes() == image.tobytes()


@lc.kernel
def packed_rows(a, out: lc.Buffer[lc.float3]):
    i = lc.dispatch_id().x
    out[i] = a[i] * 2.0
    a[i].y = 9.0


def test_packed_buffer(device):
    rows = np.arange(15, dtype=np.float32).reshape(5, 3)
    a = lc.Buffer(rows, lc.float3, layout="packed", device=device)
    out = lc.Buffer(5, lc.float3, device=device)
    packed_rows(a, out, dispatch_size=5)
    assert (out.numpy() == rows * 2).all()
    rows[:, 1] = 9
    assert (a.numpy() == rows).all()


# Views of packed buffers: those of elements without padding are reached by elements, not scalars.


@lc.kernel
def copy_elements(a, out):
    i = lc.dispatch_id().x
    out[i] = a[i]


@pytest.mark.parametrize("T", [lc.int2, lc.float3, lc.float4, lc.float2x2, lc.float3x3])
@pytest.mark.parametrize("layouts", [("packed", None), (None, "packed"), ("packed", "packed")])
def test_views_of_packed_buffers(device, T, layouts):
    source, target = (lc.Buffer(9, T, device=device, layout=layout) for layout in layouts)
    values = np.arange(1, 1 + 4 * np.prod(T.dtype.shape)).reshape(4, *T.dtype.shape)
    source.view(3, 7).upload(values.astype(T.dtype.base))
    copy_elements(source.view(3, 7), target.view(2, 6), dispatch_size=4)
    assert (target.view(2, 6).numpy() == values).all()
    assert not target.view(0, 2).numpy().any() and not target.view(6, 9).numpy().any()


# The host packs what the descriptor asks for, also where an emitter finds that nothing uses it.


@lc.callable
def rest_of(a: lc.Buffer[lc.float16], x: lc.float16) -> lc.float16:
    unused = len(a) * 2
    return x + 1.0


@lc.kernel(opt=0)
def unused_length(a: lc.Buffer[lc.float16], out: lc.Buffer[lc.float16], k: lc.int32):
    i = lc.dispatch_id().x
    out[i] = rest_of(a, a[i]) * lc.float16(k)


def test_unused_length(device):
    a, out = (lc.Buffer(9, lc.float16, device=device) for _ in range(2))
    a.upload(np.float16(range(9)))
    try:
        unused_length(a.view(2, 6), out.view(3, 7), 3, dispatch_size=4)
    except lc.UnsupportedError as error:
        pytest.skip(str(error))
    assert out.numpy().tolist() == [0, 0, 0, 9, 12, 15, 18, 0, 0]


# By-value arguments that each thread indexes by itself, the result being an index again.


@lc.struct
class Rows:
    tag: lc.int8
    at: lc.int4
    more: lc.Array[lc.uint16, 3]


@lc.kernel(block_size=16)
def indexed(a: lc.Buffer[lc.int32], given: Rows, v: lc.int3, out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    out[i] = a[given.at[(i * 2 + 1) % 4] % 16]
    out[16 + i] = a[v[i % 3]]
    out[32 + i] = a[given.more[i % 3]]


def test_arguments_indexed_by_each_thread(device):
    a = np.arange(16, dtype=np.int32) + 100
    out = lc.Buffer(48, lc.int32, device=device)
    given = Rows(tag=1, at=(5, 2, 9, 8), more=(15, 4, 7))
    indexed(lc.Buffer(a, device=device), given, (3, 14, 1), out, dispatch_size=16)
    i = np.arange(16)
    want = [a[np.array([5, 2, 9, 8])[(i * 2 + 1) % 4]], a[np.array([3, 14, 1])[i % 3]]]
    want += [a[np.array([15, 4, 7])[i % 3]]]
    assert out.numpy().tolist() == np.concatenate(want).tolist()
