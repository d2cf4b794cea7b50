"""Arrays from the host: any strides, byte orders and producers; and back, for every dtype."""

import numpy as np
import pytest

import lcpy as lc

ROWS = np.arange(24 * 8, dtype=np.float32).reshape(24, 8)
STRIDED = {
    "columns": ROWS[:, 4:],
    "every_other": ROWS[::2],
    "backwards": ROWS[::-1],
    "both_backwards": ROWS[::-1, ::-1],
    "transposed": ROWS.T,
    "fortran": np.asfortranarray(ROWS),
    "broadcast": np.broadcast_to(ROWS[0], (5, 8)),
    "read_only": np.frombuffer(ROWS.tobytes(), np.float32).reshape(24, 8),
    "swapped": ROWS.astype(ROWS.dtype.newbyteorder()),
    "unaligned": np.frombuffer(b"x" + ROWS.tobytes(), np.float32, 192, 1).reshape(24, 8),
}
DTYPES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")


@lc.kernel
def copy_rows(a: lc.Buffer[lc.float32, 2], out: lc.Buffer[lc.float32, 2]):
    p = lc.dispatch_id().xy
    out[p.y, p.x] = a[p.y, p.x]


@lc.kernel
def copy_vectors(a: lc.Buffer[lc.float3], out: lc.Buffer[lc.float3]):
    i = lc.dispatch_id().x
    out[i] = a[i].zyx


@pytest.mark.parametrize("name", STRIDED)
@pytest.mark.parametrize("layout", [None, "packed"])
def test_r083_strides(device, name, layout):
    array = STRIDED[name]
    a = lc.Buffer(array, device=device)
    out = lc.Buffer(array.shape, lc.float32, device=device)
    copy_rows(a, out, dispatch_size=array.shape[::-1])
    np.testing.assert_array_equal(out.numpy(), array)
    vectors = array[:, 1:4]
    a = lc.Buffer(vectors, lc.float3, device=device, layout=layout)
    out = lc.Buffer(len(vectors), lc.float3, device=device, layout=layout)
    copy_vectors(a, out, dispatch_size=len(vectors))
    np.testing.assert_array_equal(out.numpy(), vectors[:, ::-1])
    out.upload(vectors)
    np.testing.assert_array_equal(out.numpy(), vectors)


def test_r083_no_axes(device):
    with pytest.raises(lc.ArgumentError, match="0-d array"):
        lc.Buffer(np.array(3.0, np.float32), device=device)


@lc.kernel
def copy_all(a, out):
    i = lc.dispatch_id().x
    out[i] = a[i]


@pytest.mark.parametrize("code", DTYPES)
def test_r086_every_accessor(device, code):
    array = (np.arange(10) % 2 if code == "?" else np.arange(10)).astype(code)
    a = lc.Buffer(array, device=device)
    out = lc.Buffer(10, a.type, device=device)
    copy_all(a, out, dispatch_size=10)
    for got in (out.numpy(), np.asarray(out), np.array(out), out.view(0, 10).numpy()):
        assert got.dtype == array.dtype
        np.testing.assert_array_equal(got, array)
    np.testing.assert_array_equal(out.view(3, 7).numpy(), array[3:7])
    assert np.asarray(out, np.float64).tolist() == array.astype(np.float64).tolist()


class Producer:
    """An array of another library: `of` is what it answers with."""

    def __init__(self, array, **of):
        self._array = array
        self.__dict__.update(of)


class ByInterface(Producer):
    @property
    def __array_interface__(self):
        return self._array.__array_interface__


class ByDlpack(Producer):
    kind = 1

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return (self.kind, 0)


class ByCuda(Producer):
    @property
    def __cuda_array_interface__(self):
        return {"shape": (3,), "typestr": "<f4", "data": (1 << 40, False), "version": 3}


class Failing(Producer):
    def __array__(self, dtype=None, copy=None):
        raise TypeError("bfloat16 has no NumPy dtype")


@pytest.mark.parametrize("producer", [ByInterface, ByDlpack])
def test_arrays_of_other_libraries(device, producer):
    array = np.arange(12, dtype=np.float32).reshape(4, 3)
    a = lc.Buffer(producer(array), lc.float3, device=device)
    np.testing.assert_array_equal(a.numpy(), array)
    a = lc.Buffer(producer(array[::2]), device=device)
    np.testing.assert_array_equal(a.numpy(), array[::2])
    a.upload(producer(array[1::2]))
    np.testing.assert_array_equal(a.numpy(), array[1::2])


def test_arrays_in_a_gpus_memory_are_refused(cpu):
    array = np.zeros(3, np.float32)
    for source in (ByCuda(array), ByDlpack(array, kind=2)):
        with pytest.raises(lc.ArgumentError, match="a GPU's memory.*copy it to the host"):
            lc.Buffer(source, device=cpu)
    with pytest.raises(lc.ArgumentError, match="Failing.*bfloat16 has no NumPy dtype"):
        lc.Buffer(Failing(array), device=cpu)


# ---- packed buffers of structs and arrays
@lc.struct
class Same:
    v: lc.float3
    m: lc.float3x3
    a: lc.Array[lc.float3, 2]
    k: lc.float32


@lc.struct
class Words:
    v: lc.float3
    n: lc.int32
    h: lc.uint32
    w: lc.Array[lc.int3, 2]


@lc.struct
class Halves:
    h: lc.float16
    v: lc.float3
    s: lc.int16
    big: lc.int64
    d: lc.float64


@lc.struct
class Bytes:
    flag: lc.bool
    b: lc.int8
    v: lc.float3
    n: lc.uint64
    inner: Words


def numbers(dtype, n):
    """An array of a structured dtype with a different small number in every scalar."""
    array = np.zeros(n, dtype)
    count = 0

    def fill(part):
        nonlocal count
        if part.dtype.names:
            for name in part.dtype.names:
                fill(part[name])
        else:
            values = count + np.arange(part.size)
            count += part.size
            part[...] = (values % (2 if part.dtype.kind == "b" else 100)).reshape(part.shape)

    fill(array)
    return array


@lc.kernel
def turn_around(a, out):
    i = lc.dispatch_id().x
    n = lc.dispatch_size().x
    out[n - 1 - i] = a[i]


@lc.kernel
def touch_same(a: lc.Buffer[Same], k: lc.int32):
    i = lc.dispatch_id().x
    a[i].v.y += 1000.0
    a[i].m[k, 2] = a[i].a[k - 1].z
    a[i].a[k].xz = lc.float2(-1.0, -2.0)


@lc.kernel
def touch_bytes(a: lc.Buffer[Bytes], k: lc.int32):
    i = lc.dispatch_id().x
    a[i].flag = not a[i].flag
    a[i].b -= 101
    a[i].inner.w[k].y *= -3
    a[i].inner.v[k] += 0.5
    a[i].n = a[i].n << 40


@pytest.mark.parametrize("T", [Same, Words, Halves, Bytes, lc.Array[lc.float3, 3], lc.float2x2])
def test_packed_elements(device, T):
    base = T.dtype.base if T.dtype.subdtype else T.dtype
    shape = T.dtype.shape if T.dtype.subdtype else ()
    array = numbers(base, (7, *shape))
    a = lc.Buffer(array, T, device=device, layout="packed")
    assert a.nbytes == array.nbytes
    np.testing.assert_array_equal(a.numpy(), array)
    out = lc.Buffer(7, T, device=device, layout="packed")
    turn_around(a, out, dispatch_size=7)
    np.testing.assert_array_equal(out.numpy(), array[::-1])
    plain = lc.Buffer(7, T, device=device)
    turn_around(a, plain, dispatch_size=7)
    np.testing.assert_array_equal(plain.numpy(), array[::-1])
    out.fill(array[3] if base.names else array[3].tolist())
    np.testing.assert_array_equal(out.numpy(), np.broadcast_to(array[3], array.shape))
    # Views at any start.
    turn_around(a.view(2, 5), out.view(3, 6), dispatch_size=3)
    want = np.array(np.broadcast_to(array[3], array.shape))
    want[3:6] = array[2:5][::-1]
    np.testing.assert_array_equal(out.numpy(), want)


def test_packed_parts_at_run_time(device):
    array = numbers(Same.dtype, 3)
    a = lc.Buffer(array, Same, device=device, layout="packed")
    touch_same(a, 1, dispatch_size=3)
    array["v"][:, 1] += 1000
    array["m"][:, 1, 2] = array["a"][:, 0, 2]
    array["a"][:, 1, 0], array["a"][:, 1, 2] = -1, -2
    np.testing.assert_array_equal(a.numpy(), array)


def test_packed_bytes_at_run_time(device):
    array = numbers(Bytes.dtype, 3)
    a = lc.Buffer(array, Bytes, device=device, layout="packed")
    touch_bytes(a, 1, dispatch_size=3)
    array["flag"] = ~array["flag"]
    array["b"] = (array["b"].astype(int) - 101).astype(np.int8)
    array["inner"]["w"][:, 1, 1] *= -3
    array["inner"]["v"][:, 1] += 0.5
    array["n"] <<= np.uint64(40)
    np.testing.assert_array_equal(a.numpy(), array)


def test_packed_shape_and_axes(device):
    @lc.kernel
    def write(b: lc.Buffer[lc.float3, 2], out: lc.Buffer[lc.uint32]):
        p = lc.dispatch_id().xy
        b[p.y, p.x] = lc.float3(lc.float2(p), 9.0)
        rows, columns = b.shape
        out[0] = rows
        out[1] = columns
        out[2] = len(b)
        out[3] = lc.uint32(lc.len64(b))

    b = lc.Buffer((2, 5), lc.float3, device=device, layout="packed")
    out = lc.Buffer(4, lc.uint32, device=device)
    write(b, out, dispatch_size=(5, 2))
    got = b.numpy()
    assert got.shape == (2, 5, 3) and got[1, 4].tolist() == [4, 1, 9]
    assert out.numpy().tolist() == [2, 5, 2, 10] or out.numpy().tolist() == [2, 5, 10, 10]


def test_packed_limit(cpu):
    with pytest.raises(lc.UnsupportedError, match="the limit is 4294967295"):
        lc.empty(1 << 31, lc.float3, device=cpu, layout="packed")
