"""Buffers on every device: shapes, dtypes, strides, views, fills, and what is refused."""

import numpy as np
import pytest

import lcpy as lc

SCALARS = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]


@lc.struct
class Mixed:
    a: lc.int8
    v: lc.float3
    h: lc.half
    m: lc.float3x3
    xs: lc.Array[lc.short3, 2]
    b: lc.bool


@lc.struct
class Rgb:
    r: float
    g: float
    b: float


def random(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2 if np.dtype(dtype) == np.bool_ else 100, shape).astype(dtype)


@pytest.mark.parametrize("name", SCALARS)
def test_every_scalar_comes_back(device, name):
    """R086: each element, not the first one repeated."""
    T = getattr(lc, name)
    array = np.arange(10).astype(T.dtype)
    buffer = lc.Buffer(array, device=device)
    assert buffer.type is T and buffer.numpy().dtype == T.dtype
    assert (buffer.numpy() == array).all()
    buffer.upload(array[::-1])
    assert (buffer.numpy() == array[::-1]).all()


def test_new_buffers_are_zero_also_where_memory_was_used(device):
    for _ in range(3):
        buffer = lc.Buffer(1000, lc.float3, device=device)
        assert not buffer.numpy().any()
        buffer.fill((1, 2, 3))
        assert (buffer.numpy() == (1, 2, 3)).all()


@pytest.mark.parametrize(
    "T, shape",
    [
        (lc.float3, (5,)),
        (lc.float3, (4, 5)),
        (lc.double2, (2, 3, 4)),
        (lc.half3x3, (3,)),
        (lc.Array[lc.float3, 3], (4,)),
        (lc.bool4, (6,)),
        (lc.float4, (3, 3)),
    ],
)
def test_numpy_shapes(device, T, shape):
    from lcpy import layout

    array = random(shape + layout.element_shape(T), layout.base_dtype(T))
    buffer = lc.Buffer(array, T, device=device)
    assert buffer.shape == shape and buffer.size == len(buffer) == np.prod(shape)
    assert buffer.numpy().shape == array.shape and (buffer.numpy() == array).all()


def test_strided_and_ordered_sources(device):
    """R083."""
    x = random((8, 9), np.float32)
    readonly = x.copy()
    readonly.flags.writeable = False
    for source in (
        x[:, 4:],
        x[::2],
        x[::-1],
        x.T,
        np.asfortranarray(x),
        np.broadcast_to(x[0], (4, 9)),
        readonly,
        x.astype(">f4"),
    ):
        buffer = lc.Buffer(source, device=device)
        assert buffer.shape == source.shape and (buffer.numpy() == source).all()
    rows = random((6, 4), np.float32)
    assert (lc.Buffer(rows[:, :3], lc.float3, device=device).numpy() == rows[:, :3]).all()


def test_structs_have_no_padding_in_numpy(device):
    """R050, R061."""
    array = np.zeros((3, 2), Mixed.dtype)
    rng = np.random.default_rng(2)
    for name in Mixed.dtype.names:
        array[name] = rng.integers(0, 2, array[name].shape)
    buffer = lc.Buffer(array, Mixed, device=device)
    back = buffer.numpy()
    assert back.dtype == Mixed.dtype and (back == array).all()
    padded = np.zeros(4, np.dtype([("r", "f4"), ("g", "f4"), ("b", "f4")], align=True))
    padded["g"] = 1, 2, 3, 4
    assert (lc.Buffer(padded, Rgb, device=device).numpy()["g"] == padded["g"]).all()
    plain = lc.Buffer(padded, device=device)  # the type is made of the dtype
    assert plain.numpy().dtype.names == ("r", "g", "b") and (plain.numpy() == padded).all()
    listed = lc.Buffer([Rgb(1, 2, 3), (4, 5, 6)], Rgb, device=device)
    assert listed.numpy()["b"].tolist() == [3, 6]


def test_packed_layout(device):
    array = random((7, 3), np.float32)
    buffer = lc.Buffer(array, lc.float3, layout="packed", device=device)
    assert buffer.nbytes == 84 and (buffer.numpy() == array).all()
    buffer.fill((1, 2, 3))
    assert (buffer.numpy() == (1, 2, 3)).all()
    matrices = random((4, 3, 3), np.float64)
    assert (
        lc.Buffer(matrices, lc.double3x3, layout="packed", device=device).numpy() == matrices
    ).all()


def test_views(device):
    buffer = lc.Buffer(np.arange(100, dtype=np.float32), device=device)
    view = buffer.view(10, 20)
    assert view.shape == (10,) and (view.numpy() == np.arange(10, 20)).all()
    view.view(3, 5).fill(-1)
    view.view(0, 2).upload(np.float32([7, 8]))
    assert buffer.numpy()[8:18].tolist() == [8, 9, 7, 8, 12, -1, -1, 15, 16, 17]
    assert lc.Buffer((4, 5), lc.int32, device=device).view(3, 17).shape == (14,)
    del buffer
    assert view.numpy()[0] == 7  # a view keeps the memory


def test_empty(device):
    """R064."""
    for buffer in (
        lc.Buffer(0, lc.float32, device=device),
        lc.Buffer(np.zeros((0, 3), "f4"), lc.float3, device=device),
        lc.Buffer((3, 0), lc.int32, device=device),
        lc.Buffer(5, lc.int32, device=device).view(2, 2),
    ):
        assert len(buffer) == 0 and buffer.numpy().size == 0
        buffer.fill(0 if buffer.type is not lc.float3 else (0, 0, 0))
        buffer.upload(buffer.numpy())


def test_fill(device):
    for T, value in (
        (lc.uint8, 7),
        (lc.half, 1.5),
        (lc.float32, -2),
        (lc.int64, -(1 << 40)),
        (lc.int4, (1, 2, 3, 4)),
    ):
        buffer = lc.Buffer(11, T, device=device)
        buffer.view(3, 8).fill(value)
        want = np.zeros_like(buffer.numpy())
        want[3:8] = value
        assert (buffer.numpy() == want).all()
    nested = lc.Buffer(2, Mixed, device=device)
    nested.fill(Mixed(a=3, v=(1, 2, 3), m=lc.float3x3.identity(), b=True))
    assert nested.numpy()["m"][1].tolist() == np.eye(3).tolist()


def test_lists_are_numbers_without_dtype(device):
    assert lc.Buffer([1, 2, 3], device=device).type is lc.int32
    assert lc.Buffer([1.0, 2], device=device).type is lc.float32
    assert lc.Buffer([[1, 2, 3]], lc.float3, device=device).numpy().tolist() == [[1, 2, 3]]


def test_byte_buffers(device):
    data = np.arange(13, dtype=np.uint8)
    buffer = lc.ByteBuffer(data, device=device)
    assert (buffer.numpy() == data).all() and (buffer.view(5, 9).numpy() == data[5:9]).all()
    assert lc.ByteBuffer(4, device=device).numpy().tolist() == [0] * 4


def test_copies_between_buffers_and_devices(device):
    a = lc.Buffer(np.arange(10, dtype=np.int32), device=device)
    b = lc.Buffer(10, lc.int32, device=device)
    b.copy_from(a)
    b.view(0, 3).copy_from(a.view(5, 8))
    assert b.numpy().tolist() == [5, 6, 7, 3, 4, 5, 6, 7, 8, 9]
    c = lc.Buffer(10, lc.int32, device="cpu")
    c.copy_from(b)
    assert (c.numpy() == b.numpy()).all()
    with pytest.raises(lc.ArgumentError, match="overlaps"):
        a.view(0, 5).copy_from(a.view(2, 7))


def test_a_released_buffer_is_refused(device):
    buffer = lc.Buffer(10, lc.int32, device=device)
    view = buffer.view(2, 4)
    buffer.release()
    with pytest.raises(lc.DeviceError, match="released"):
        buffer.numpy()
    assert view.numpy().tolist() == [0, 0]


F = np.zeros((4, 3), np.float32)


@pytest.mark.parametrize(
    "make, part",
    [
        (lambda: lc.Buffer(10), "T:"),
        (lambda: lc.Buffer(-1, lc.int32), "negative"),
        (lambda: lc.Buffer((1, 2, 3, 4), lc.int32), "3 axes"),
        (lambda: lc.Buffer("abc", lc.int32), "str"),
        (lambda: lc.Buffer(10, int, layout="tight"), "layout"),
        (lambda: lc.Buffer(F, lc.float2), "does not end in"),
        (lambda: lc.Buffer(F, lc.double3), "float32"),
        (lambda: lc.Buffer(F.astype(complex)), "complex"),
        (lambda: lc.Buffer(np.float32(3)), "array"),
        (lambda: lc.Buffer(np.array(3.5)), "0-d"),
        (lambda: lc.Buffer(np.zeros((2,) * 4)), "4 axes"),
        (lambda: lc.Buffer(np.array(2)), "0-d"),
        (lambda: lc.Buffer(np.array(2.5)), "0-d"),
        (lambda: lc.Buffer(F[0], Rgb), "dtype"),
        (lambda: lc.Buffer([1.5, 2], lc.int32), "do not go"),
        (lambda: lc.Buffer([1, 300], lc.uint8), "source"),
        (lambda: lc.Buffer(4, lc.int32).upload(F), "dtype"),
        (lambda: lc.Buffer(4, lc.float3).upload(F[:3]), "shape"),
        (lambda: lc.Buffer(4, lc.int32).view(3, 9), "not within"),
        (lambda: lc.Buffer(4, lc.int32).view(0.5, 2), "start"),
        (lambda: lc.Buffer(4, lc.uint8).fill(256), "out of range"),
        (lambda: lc.Buffer(4, lc.float2).fill(1), "wanted"),
        (lambda: lc.Buffer(4, lc.int32)[0], "kernels"),
        (lambda: lc.Buffer(4, lc.int32, device="gpu"), "device"),
    ],
)
def test_refused(make, part):
    with pytest.raises((lc.ArgumentError, lc.DeviceError)) as raised:
        make()
    assert part in str(raised.value)


def test_an_error_copies_nothing(device):
    buffer = lc.Buffer(np.arange(4, dtype=np.int32), device=device)
    for wrong in (np.zeros(5, np.int32), np.zeros(4, np.int64), np.zeros((4, 1), np.int32)):
        with pytest.raises(lc.ArgumentError):
            buffer.upload(wrong)
    assert buffer.numpy().tolist() == [0, 1, 2, 3]


def test_numpy_takes_buffers_and_buffers_take_buffers(device):
    buffer = lc.Buffer(np.arange(6, dtype=np.float32).reshape(2, 3), device=device)
    assert (np.asarray(buffer) == buffer.numpy()).all() and np.asarray(buffer, int)[1, 2] == 5
    again = lc.Buffer(buffer, device=device)
    buffer.fill(0)
    assert again.numpy()[1, 2] == 5


def test_out_of_memory_leaves_the_device_usable(device):
    with pytest.raises(lc.OutOfMemory):
        lc.Buffer(1 << 44, lc.float64, device=device)
    assert lc.Buffer([1, 2], device=device).numpy().tolist() == [1, 2]


def test_many_buffers_come_and_go(device):
    """R089: memory in use stays bounded; what lives keeps its contents."""
    kept = lc.Buffer(np.arange(100, dtype=np.int32), device=device)
    for i in range(300):
        made = lc.Buffer(50 + i % 7, lc.float3, device=device)
        made.fill((i, i, i))
        if i % 50 == 0:
            assert (made.numpy() == i).all()
    assert (kept.numpy() == np.arange(100)).all()
