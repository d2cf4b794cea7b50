"""Sizes: zero, odd, huge grids, many bindings, large arrays."""

import numpy as np
import pytest
from loading import load_source

import lcpy as lc

# R062: byte offsets beyond 2^31 are computed in 64 bits.


@lc.kernel
def far_offsets(i: lc.Buffer[lc.uint32], out: lc.Buffer[lc.uint64]):
    row = lc.uint64(i[0])
    out[0] = row * lc.uint64(i[1]) + lc.uint64(i[2])
    out[1] = (row * lc.uint64(i[1]) + lc.uint64(i[2])) * 8


def test_r062_index_arithmetic(device):
    out = lc.Buffer(2, lc.uint64, device=device)
    i = lc.Buffer(np.uint32([131071, 65536, 65535]), device=device)
    far_offsets(i, out, dispatch_size=1)
    last = 131071 * 65536 + 65535
    assert out.numpy().tolist() == [last, last * 8]


@lc.kernel
def last_of_many(a: lc.Buffer[lc.uint8], out: lc.Buffer[lc.uint8]):
    out[0] = a[lc.len64(a) - 1]
    a[lc.len64(a) - 2] = 7


@pytest.mark.slow
def test_r062_beyond_two_gib(cpu):
    n = (1 << 31) + 5
    a = lc.empty(n, lc.uint8, device=cpu)
    out = lc.Buffer(1, lc.uint8, device=cpu)
    a.view(n - 1, n).fill(3)
    last_of_many(a, out, dispatch_size=1)
    assert out.numpy()[0] == 3
    assert a.view(n - 2, n).numpy().tolist() == [7, 3]


@lc.kernel(bounds="trap")
def checked(a: lc.Buffer[lc.uint8], at: lc.Buffer[lc.uint32], out: lc.Buffer[lc.uint32]):
    i = lc.dispatch_id().x
    out[i] = lc.uint(a[at[i]])


@lc.kernel
def asks_for_its_length(a: lc.Buffer[lc.uint8], out: lc.Buffer[lc.uint32]):
    out[0] = len(a)


@pytest.mark.parametrize("kind", ["cpu", "opencl"])
def test_lengths_beyond_32_bits(kind, request):
    """A check by a 32-bit index does not cut the length; len() refuses what it cannot count."""
    device = request.getfixturevalue("cpu")
    if kind == "opencl":
        found = [d for d in lc.devices() if d.kind == kind]
        if not found:
            pytest.skip("no OpenCL device")
        device = lc.Device(found[0].name)
    n = (1 << 32) + 5
    try:
        a = lc.empty(n, lc.uint8, device=device)
    except lc.DeviceError as error:  # what one buffer may hold, or what the machine has
        pytest.skip(str(error))
    a.view(0, 64).fill(9)
    a.view((1 << 32) - 2, (1 << 32) - 1).fill(7)
    at = np.uint32([0, 10, 63, (1 << 32) - 2])
    out = lc.Buffer(4, lc.uint32, device=device)
    checked(a, lc.Buffer(at, device=device), out, dispatch_size=4)
    assert out.numpy().tolist() == [9, 9, 9, 7]
    with pytest.raises(lc.ArgumentError, match=r"'a' has 4294967301 .*lc\.len64\(a\)"):
        asks_for_its_length(a, out, dispatch_size=1)
    asks_for_its_length(a.view(0, (1 << 32) - 1), out, dispatch_size=1)
    assert out.numpy()[0] == (1 << 32) - 1


# R064: nothing of size zero is an error.


@lc.kernel
def guarded(a: lc.Buffer[lc.float32], out: lc.Buffer[lc.uint32]):
    i = lc.dispatch_id().x
    if i < len(a):
        a[i] = 1.0
    out[i] = len(a)


def test_r064(device):
    empty = lc.Buffer(np.zeros(0, np.float32), device=device)
    out = lc.Buffer(10, lc.uint32, device=device)
    out.fill(5)
    guarded(empty, out, dispatch_size=0)
    assert out.numpy().tolist() == [5] * 10
    guarded(empty, out, dispatch_size=10)
    assert out.numpy().tolist() == [0] * 10
    assert empty.numpy().shape == (0,) and len(empty) == 0
    empty.upload(np.zeros(0, np.float32))
    assert out.view(3, 3).numpy().shape == (0,)
    guarded(empty, out, dispatch_size=(0, 4))
    assert lc.Buffer((0, 3), lc.float3, device=device).numpy().shape == (0, 3, 3)


# R065: more blocks than a device takes along an axis.


@lc.kernel(block_size=(64, 1, 1))
def once_x(out: lc.Buffer[lc.uint8]):
    i = lc.dispatch_id().x
    out[i] = out[i] + lc.uint8(1)


@lc.kernel(block_size=(1, 1, 1))
def once_y(out: lc.Buffer[lc.uint8]):
    p = lc.dispatch_id()
    i = (p.z * lc.dispatch_size().y + p.y) * lc.dispatch_size().x + p.x
    out[i] = out[i] + lc.uint8(lc.all(p < lc.dispatch_size()))


def test_r065_x(device):
    n = 65536 * 64 + 1
    out = lc.Buffer(n, lc.uint8, device=device)
    once_x(out, dispatch_size=n)
    assert (out.numpy() == 1).all()


@pytest.mark.parametrize("size", [(2, 70000), (1, 2, 70000), (3, 70000, 2)])
def test_r065_y_z(size, device):
    n = int(np.prod(size))
    out = lc.Buffer(n, lc.uint8, device=device)
    once_y(out, dispatch_size=size)
    assert (out.numpy() == 1).all()


# R066: forty buffers and 200 bytes of scalars work, or are refused by name and number.


def many_source(buffers, scalars):
    names = [f"b{k}: lc.Buffer[lc.float32]" for k in range(buffers)]
    names += [f"s{k}: lc.float32" for k in range(scalars)]
    total = " + ".join([f"b{k}[1]" for k in range(1, buffers)] + [f"s{k}" for k in range(scalars)])
    return f"import lcpy as lc\n\n@lc.kernel\ndef many({', '.join(names)}):\n    b0[0] = {total}\n"


@pytest.mark.parametrize(("buffers", "scalars"), [(8, 50), (40, 50)])
def test_r066(buffers, scalars, device, tmp_path):
    module = load_source(tmp_path, f"many_{buffers}", many_source(buffers, scalars))
    bound = [lc.Buffer(np.float32([0, k]), device=device) for k in range(buffers)]
    try:
        module.many(*bound, *range(scalars), dispatch_size=1)
    except lc.UnsupportedError as error:
        assert buffers > 16 and str(buffers) in str(error)
        return
    assert bound[0].numpy()[0] == sum(range(buffers)) + sum(range(scalars))


# R067: a large local array works; too much shared memory is refused, and the device lives on.


@lc.kernel(block_size=(4, 1, 1))
def large_local(at: lc.Buffer[lc.int32], out: lc.Buffer[lc.float32]):
    cells = lc.Array[lc.float4, 2048]()
    i = lc.int32(lc.dispatch_id().x)
    for k in range(2048):
        cells[(k * 7 + i) % 2048] = lc.float4(lc.float32(k))
    out[i] = cells[at[i]].z


@lc.kernel(block_size=(64, 1, 1))
def large_shared(out: lc.Buffer[lc.float32]):
    cells = lc.shared(lc.float4, 8388608)
    cells[lc.thread_id().x * 1000] = lc.float4(1.0)
    lc.sync_block()
    out[0] = cells[1000].x


def test_r067(device):
    at = np.int32([0, 100, 2000, 2047])
    out = lc.Buffer(4, lc.float32, device=device)
    try:
        large_local(lc.Buffer(at, device=device), out, dispatch_size=4)
        inverse = {(k * 7) % 2048: k for k in range(2048)}
        assert out.numpy().tolist() == [inverse[(a - i) % 2048] for i, a in enumerate(at)]
    except lc.DeviceError as error:  # a driver may give up on it; the device stays usable
        assert "large_local" in str(error) and "32768 bytes" in str(error)
        assert device.kind == "vulkan"
    if device.kind != "cpu":
        with pytest.raises((lc.UnsupportedError, lc.DeviceError)):
            large_shared(out, dispatch_size=64)
        once_x(lc.Buffer(4, lc.uint8, device=device), dispatch_size=4)


# A view may start anywhere.


@lc.kernel
def add_one(a: lc.Buffer[lc.int32]):
    a[lc.dispatch_id().x] += 1


def test_views(device):
    a = lc.Buffer(np.arange(20, dtype=np.int32), device=device)
    add_one(a.view(3, 8), dispatch_size=5)
    add_one(a.view(7, 20).view(1, 3), dispatch_size=2)
    want = np.arange(20)
    want[3:8] += 1
    want[8:10] += 1
    assert a.numpy().tolist() == want.tolist()


@pytest.mark.parametrize("size", [1, 63, 64, 65, 255, 256, 257, 1000])
def test_ragged_sizes(size, device):
    a = lc.Buffer(size, lc.int32, device=device)
    add_one(a, dispatch_size=size)
    assert (a.numpy() == 1).all()


# A variable that is known to be a negative index, in a branch that does not run.


@lc.kernel
def guarded_negative(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    tile = lc.shared(lc.int32, 4)
    i = -1
    k = lc.int64(-1)
    out[0] = 1
    if v[0] > 5:
        tile[i] = v[i]
        out[k] = tile[i]


def test_negative_constants_behind_a_guard(device):
    out = lc.Buffer(2, lc.int32, device=device)
    guarded_negative(lc.Buffer(np.int32([3]), device=device), out, dispatch_size=1)
    assert out.numpy().tolist() == [1, 0]
