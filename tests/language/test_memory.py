"""lcpy/language.md, section "Memory": a test for each rule, of the rule's name."""

import numpy as np
import pytest

import lcpy as lc
from language.harness import run

I, F = lc.int32, lc.float32


def layout_of(T):
    return T.layout.size, T.layout.align


def test_bool_memory(device):
    assert layout_of(lc.bool) == (1, 1) and layout_of(lc.bool3) == (4, 4)

    @lc.kernel
    def k(raw: lc.ByteBuffer, out: lc.Buffer[lc.bool]):
        i = lc.dispatch_id().x
        out[i] = lc.byte_read(lc.bool, raw, i)

    raw = lc.ByteBuffer(np.uint8([0, 1, 2, 255]), device=device)
    out = lc.Buffer(4, lc.bool, device=device)
    k(raw, out, dispatch_size=4)
    assert out.numpy().view(np.uint8).tolist() == [0, 1, 1, 1]


def test_scalar_memory():
    for name in ("int8", "uint16", "int32", "uint64", "float16", "float32", "float64"):
        T = getattr(lc, name)
        assert layout_of(T) == (T.dtype.itemsize, T.dtype.itemsize)


def test_vector_memory(device):
    for T, s in [(lc.byte2, 1), (lc.ushort3, 2), (lc.float3, 4), (lc.double4, 8)]:
        n = {2: 2, 3: 4, 4: 4}[T.lanes]
        assert layout_of(T) == (n * s, n * s)

    @lc.kernel
    def k(a: lc.Buffer[lc.ubyte3], out: lc.Buffer[lc.int3]):
        i = lc.dispatch_id().x
        out[i] = lc.int3(a[i])

    a = np.tile(np.uint8([[1, 2, 3]]), (5, 1))
    a = lc.Buffer(a, lc.ubyte3, device=device)
    assert run(k, device, a, n=5, R=lc.int3, dispatch_size=5).tolist() == [[1, 2, 3]] * 5


def test_matrix_memory(device):
    assert layout_of(lc.float2x2) == (16, 8)
    assert layout_of(lc.float3x3) == (48, 16)
    assert layout_of(lc.double4x4) == (128, 32)

    @lc.kernel
    def k(m: lc.Buffer[lc.float3x3], where: lc.Buffer[I], out: lc.Buffer[F]):
        i = where[0]
        out[0] = m[0][2].x
        out[1] = m[0][0, 2]
        out[2] = m[0][i][0]
        out[3] = m[0][i - 1, i]

    m = lc.Buffer(np.arange(9, dtype=np.float32).reshape(1, 3, 3), lc.float3x3, device=device)
    assert run(k, device, m, np.int32([2]), n=4, R=F).tolist() == [2.0, 2.0, 2.0, 5.0]


@lc.struct
class Mixed:
    y: lc.uint64
    x: lc.uint32


@lc.struct
class Small:
    x: lc.uint32
    y: lc.uint16


@lc.struct
class Inner:
    w: lc.float32
    v: lc.Array[lc.float3, 2]


@lc.struct
class Outer:
    a: lc.uint8
    inner: Inner
    b: lc.uint16
    c: lc.float32


def test_array_memory(device):
    assert lc.Array[lc.float3, 2].layout.size == 32
    assert lc.Array[Mixed, 3].layout.size == 48

    @lc.kernel
    def k(a: lc.Buffer[lc.Array[Small, 3]], where: lc.Buffer[I], out: lc.Buffer[lc.uint32]):
        i = where[0]
        out[0] = a[i][i + 1].x + a[i - 1][i].y

    a = np.zeros(2, lc.Array[Small, 3].dtype)
    a["x"][1, 2], a["y"][0, 1] = 70000, 5
    buffer = lc.Buffer(2, lc.Array[Small, 3], device=device)
    buffer.upload(a)
    assert run(k, device, buffer, np.int32([1]), R=lc.uint32)[0] == 70005


def test_struct_memory(device):
    assert layout_of(Mixed) == (16, 8) and layout_of(Small) == (8, 4)
    assert layout_of(Inner) == (48, 16) and layout_of(Outer) == (80, 16)

    @lc.kernel
    def k(s: lc.Buffer[Outer], out: lc.Buffer[F]):
        i = lc.dispatch_id().x
        o = s[i]
        out[i] = F(o.a) + o.inner.w * 2.0 + o.inner.v[1].z * 4.0 + F(o.b) * 8.0 + o.c * 16.0
        s[i].b = lc.uint16(i)

    a = np.zeros(3, Outer.dtype)
    for i in range(3):
        a[i] = (i + 1, (i + 2, [[0, 0, 0], [0, 0, i + 3]]), i + 4, i + 5)
    s = lc.Buffer(3, Outer, device=device)
    s.upload(a)
    want = [i + 1 + 2 * (i + 2) + 4 * (i + 3) + 8 * (i + 4) + 16 * (i + 5) for i in range(3)]
    assert run(k, device, s, n=3, R=F, dispatch_size=3).tolist() == want
    after = s.numpy()
    assert after["b"].tolist() == [0, 1, 2] and after["c"].tolist() == [5, 6, 7]


def test_matrices_in_numpy(device):
    m = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    buffer = lc.Buffer(m, lc.float2x2, device=device)
    assert (buffer.numpy() == m).all()

    @lc.kernel
    def k(m: lc.Buffer[lc.float2x2], n: lc.float2x2, out: lc.Buffer[F]):
        out[0] = m[1][0, 1] * 100.0 + n[1, 0]

    assert run(k, device, buffer, [[1, 2], [3, 4]], R=F)[0] == 503.0


def test_type_dtype(device):
    assert lc.float3.dtype == np.dtype(("f4", 3)) and lc.float3x3.dtype == np.dtype(("f4", (3, 3)))
    assert np.zeros(1, Outer.dtype)["inner"]["v"].shape == (1, 2, 3)
    assert Outer.layout.offsets["c"] == 68 and Outer.layout.offsets["inner"] == 16
    out = lc.Buffer(3, Outer, device=device).numpy()
    assert out.dtype == Outer.dtype and out.shape == (3,)


def test_zeroed_buffers(device):
    assert not lc.Buffer(1000, lc.float3, device=device).numpy().any()
    assert lc.empty(10, lc.int2, device=device).numpy().shape == (10, 2)


def test_many_axes(device):
    @lc.callable
    def at(b: lc.Buffer[I, 2], y, x):
        return b[y, x] + lc.int(b.shape[0])

    @lc.kernel
    def k(b: lc.Buffer[I, 2], out: lc.Buffer[I, 3]):
        p = lc.dispatch_id()
        out[p.z, p.y, p.x] = at(b, p.y, p.x) + 100 * lc.int(p.z)

    grid = np.arange(6, dtype=np.int32).reshape(2, 3)
    b = lc.Buffer(grid, device=device)
    out = lc.Buffer((2, 2, 3), I, device=device)
    k(b, out, dispatch_size=(3, 2, 2))
    assert (out.numpy() == np.stack([grid + 2, grid + 102])).all()
    assert lc.Buffer((2, 3), lc.float3, device=device).numpy().shape == (2, 3, 3)


def test_buffers_of_arrays(device):
    a = np.arange(12, dtype=np.float32).reshape(4, 3)
    plain, vectors = lc.Buffer(a, device=device), lc.Buffer(a, lc.float3, device=device)
    assert plain.shape == (4, 3) and vectors.shape == (4,)
    a[:] = 0
    assert (plain.numpy() == vectors.numpy()).all() and vectors.numpy()[3, 2] == 11
    s = np.zeros(2, Small.dtype)
    s["y"] = 7
    assert lc.Buffer(s, Small, device=device).numpy()["y"].tolist() == [7, 7]


def test_packed_buffers(device):
    a = np.arange(15, dtype=np.float32).reshape(5, 3)
    packed = lc.Buffer(a, lc.float3, layout="packed", device=device)
    assert packed.nbytes == 60 and (packed.numpy() == a).all()

    @lc.kernel
    def k(p: lc.Buffer[lc.float3], out: lc.Buffer[lc.float3]):
        i = lc.dispatch_id().x
        p[i].y = 9.0
        out[i] = p[i] * 2.0

    got = run(k, device, packed, n=5, R=lc.float3, dispatch_size=5)
    a[:, 1] = 9
    assert (got == a * 2).all() and (packed.numpy() == a).all()
    # The same kernel takes a padded buffer: the layout is not the type's.
    padded = lc.Buffer(a, lc.float3, device=device)
    assert padded.nbytes == 80
    assert (run(k, device, padded, n=5, R=lc.float3, dispatch_size=5) == a * 2).all()
    structs = lc.Buffer(3, Outer, layout="packed", device=device)

    @lc.kernel
    def s(b: lc.Buffer[Outer], out: lc.Buffer[F]):
        i = lc.dispatch_id().x
        b[i] = Outer(lc.uint8(i), Inner(1.0), 2, F(i))
        b[i].inner.v[1].z = 5.0
        out[i] = b[i].c + b[i].inner.v[1].z

    assert run(s, device, structs, n=3, R=F, dispatch_size=3).tolist() == [5, 6, 7]
    assert structs.numpy()["a"].tolist() == [0, 1, 2]


def test_views(device):
    whole = lc.Buffer(np.arange(10, dtype=np.int32), device=device)
    view = whole.view(3, 7)

    @lc.kernel
    def k(b: lc.Buffer[I], out: lc.Buffer[I]):
        i = lc.dispatch_id().x
        out[i] = b[i] + lc.int(len(b)) * 100
        b[i] = -1

    assert run(k, device, view, n=4, dispatch_size=4).tolist() == [403, 404, 405, 406]
    assert whole.numpy().tolist() == [0, 1, 2, -1, -1, -1, -1, 7, 8, 9]
    assert view.view(1, 2).numpy().tolist() == [-1] and len(whole.view(5, 5)) == 0


def test_host_values(device):
    @lc.kernel
    def k(v: lc.float3, m: lc.float2x2, s: Small, out: lc.Buffer[F]):
        out[0] = v.x + v.y * 10.0 + v.z * 100.0
        out[1] = m[0, 1]
        out[2] = F(s.x) + F(s.y)

    for v in [(1, 2, 3), [1.0, 2.0, 3.0], lc.float3(1, 2, 3)]:
        for s in [Small(4, 5), {"x": 4, "y": 5}, (4, 5)]:
            got = run(k, device, v, [[1, 2], [3, 4]], s, n=3, R=F)
            assert got.tolist() == [321.0, 2.0, 9.0]
    b = lc.Buffer(3, Small, device=device)
    b.fill(Small(6, 7))
    assert b.numpy()["y"].tolist() == [7, 7, 7]
    b = lc.Buffer(2, lc.bool3, device=device)
    b.fill((True, False, True))
    assert b.numpy().tolist() == [[True, False, True]] * 2


def test_one_layout():
    """The texts assert sizes and offsets; the module's decorations are the layout's offsets."""
    from lcpy import spirv

    def k(s: lc.Buffer[Outer], out: lc.Buffer[F]):
        out[0] = s[1].c + s[0].inner.v[1].x

    kernel = lc.kernel(k)
    types = (lc.Buffer[Outer], lc.Buffer[F])
    opencl = kernel.compile(*types, target="opencl").text
    cuda = kernel.compile(*types, target="cuda").text
    assert "80" in opencl and "static_assert" in cuda and "80" in cuda
    words = np.frombuffer(kernel.compile(*types, target="spirv", vulkan="1.2").data, np.uint32)
    offsets, at = set(), 5
    while at < len(words):
        count, op = words[at] >> 16, words[at] & 0xFFFF
        if op == 72 and words[at + 3] == 35:  # OpMemberDecorate … Offset
            offsets.add(int(words[at + 4]))
        at += count
    assert {0, 16, 64, 68} <= offsets
    assert spirv is not None


def test_no_padding_shown(device):
    b = lc.Buffer(np.ones((4, 3), np.float32), lc.float3, device=device)
    assert b.numpy().shape == (4, 3)
    assert Outer.dtype.names == ("a", "inner", "b", "c")
    s = np.zeros(2, Outer.dtype)
    s["c"] = [1, 2]
    b = lc.Buffer(2, Outer, device=device)
    b.upload(s)
    assert (b.numpy() == s).all()


def test_host_checks(device):
    b = lc.Buffer(np.arange(3, dtype=np.int32), device=device)

    @lc.kernel
    def k(x: lc.uint8, v: lc.float3, out: lc.Buffer[I]):
        out[0] = lc.int(x) + lc.int(v.x)

    wrong = [(300, (1, 2, 3), b), (1, (1, 2), b), (-1, (1, 2, 3), b), (1.5, (1, 2, 3), b)]
    for arguments, name in zip(wrong, ("x", "v", "x", "x")):
        with pytest.raises(lc.ArgumentError, match=f"'{name}'"):
            k(*arguments, dispatch_size=1)
    with pytest.raises(lc.ArgumentError, match="out"):
        k(1, (1, 2, 3), lc.Buffer(3, F, device=device), dispatch_size=1)
    for array in (np.zeros(3, np.float64), np.zeros(4, np.int32), np.zeros((3, 1), np.int32)):
        with pytest.raises(lc.ArgumentError):
            b.upload(array)
    assert b.numpy().tolist() == [0, 1, 2]


@lc.struct
class Cell:
    m: lc.Array[lc.float2x2, 2]
    v: lc.float3


def test_run_time_indices(device):
    @lc.kernel
    def k(arg: Cell, where: lc.Buffer[I], cells: lc.Buffer[Cell], out: lc.Buffer[F]):
        i = where[0]
        local = lc.Array[Cell, 3]()
        local[i] = arg
        local[i].m[i][i - 1] += lc.float2(1.0, 2.0)
        local[i].v[i + 1] = 7.0
        out[0] = local[i].m[1][0].y + local[i].v.z
        out[1] = arg.m[i][i].y + arg.v[i]
        cells[i].m[i][i, i - 1] += 5.0
        out[2] = cells[1].m[1][0].y
        v = lc.float4(1.0, 2.0, 3.0, 4.0)
        v[i] *= 10.0
        out[3] = v[i] + v[i + 2]
        out[4] = (v * 2.0)[i]
        out[5] = arg.v.zyx[i + 1]

    cell = Cell([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], (9, 10, 11))
    cells = lc.Buffer(2, Cell, device=device)
    got = run(k, device, cell, np.int32([1]), cells, n=6, R=F)
    assert got.tolist() == [7.0 + 2 + 7, 8.0 + 10, 5.0, 24.0, 40.0, 9.0]


def test_swizzles(device):
    @lc.kernel
    def k(a: lc.Buffer[lc.float4], out: lc.Buffer[lc.float4]):
        v = a[0]
        v.xy = v.yx
        v.w += 1.0
        out[0] = v
        out[1] = v.wzyx
        out[2] = lc.float4(v.rg, v.bb)
        a[0].zw = lc.float2(8.0, 9.0)
        out[3] = a[0].xxww

    a = lc.Buffer(np.float32([[1, 2, 3, 4]]), lc.float4, device=device)
    got = run(k, device, a, n=4, R=lc.float4)
    assert got.tolist() == [[2, 1, 3, 5], [5, 3, 1, 2], [2, 1, 3, 3], [1, 1, 9, 9]]


def test_by_value(device):
    @lc.callable
    def f(x: lc.int, v: lc.int3, s: Small):
        x += 1
        v.y = 50
        s.x = 60
        return x + v.y + lc.int(s.x)

    @lc.kernel
    def k(a: lc.Buffer[I], out: lc.Buffer[I]):
        x = a[0]
        v = lc.int3(x)
        s = Small(lc.uint(x))
        out[0] = f(x, v, s)
        out[1] = x + v.y + lc.int(s.x)

    assert run(k, device, np.int32([1]), n=2).tolist() == [112, 3]


def test_references(device):
    @lc.callable
    def inner(r: lc.Ref[lc.int]) -> lc.int:
        r = r * 2
        return r

    @lc.callable
    def outer(r: lc.Ref[lc.int], s: lc.Ref[lc.int]) -> lc.int:
        s += 1
        return inner(r) + inner(s)

    @lc.kernel(block_size=4)
    def k(b: lc.Buffer[lc.int3], where: lc.Buffer[I], out: lc.Buffer[I]):
        shared = lc.shared(lc.int32, 4)
        t = lc.int(lc.thread_id().x)
        shared[t] = t
        x = 5
        a = lc.array(1, 2, 3)
        i = where[0]
        out[8 * t] = outer(x, a[i])
        out[8 * t + 1], out[8 * t + 2] = x, a[1]
        out[8 * t + 3] = outer(shared[t], b[t].y)
        out[8 * t + 4], out[8 * t + 5] = shared[t], b[t].y

    b = lc.Buffer(np.int32([[0, 10, 0]] * 4), lc.int3, device=device)
    got = run(k, device, b, np.int32([1]), n=32, dispatch_size=4).reshape(4, 8)
    for t in range(4):
        assert got[t, :6].tolist() == [10 + 6, 10, 6, 2 * t + 22, 2 * t, 22]


def test_overlapping_references():
    @lc.callable
    def swap(a: lc.Ref[lc.int], b: lc.Ref[lc.int]):
        a, b = b, a

    def wrong(out: lc.Buffer[I]):
        x = out[0]
        swap(x, x)
        out[0] = x

    with pytest.raises(lc.CompileError, match="same memory"):
        lc.kernel(wrong).compile(lc.Buffer[I], target="opencl")


def test_bounds_trap(device):
    @lc.kernel(bounds="trap")
    def two_arrays(a: lc.Buffer[I], b: lc.Buffer[I], out: lc.Buffer[I]):
        i = lc.dispatch_id().x
        out[i] = a[i] + b[i]

    a = np.arange(10, dtype=np.int32)
    assert run(two_arrays, device, a, a, n=10, dispatch_size=10).tolist() == (2 * a).tolist()
    with pytest.raises(lc.KernelTrap) as caught:
        run(two_arrays, device, a, a[:2], n=10, dispatch_size=10)
    message = str(caught.value)
    assert "'b'" in message and "test_memory.py" in message and "b[i]" in message
    assert "2" in message
    assert run(two_arrays, device, a, a, n=10, dispatch_size=10).tolist() == (2 * a).tolist()


def test_wide_indices():
    """The address of element 2^31 is computed in 64 bits; nothing of that size is allocated."""

    def k(a: lc.Buffer[lc.float64], i: lc.uint64, out: lc.Buffer[lc.float64]):
        out[0] = a[i]

    kernel = lc.kernel(k)
    types = (lc.Buffer[lc.float64], lc.uint64, lc.Buffer[lc.float64])
    assert "long" in kernel.compile(*types, target="opencl").text
    assert "long" in kernel.compile(*types, target="cuda").text


def test_asserts(device):
    @lc.kernel
    def k(a: lc.Buffer[I], out: lc.Buffer[I]):
        i = lc.dispatch_id().x
        assert a[i] >= 0, "negative input"
        if a[i] == 7:
            lc.trap(42)
        out[i] = a[i] * 2

    assert run(k, device, np.int32([1, 2]), n=2, dispatch_size=2).tolist() == [2, 4]
    with pytest.raises(lc.KernelTrap, match="negative input"):
        run(k, device, np.int32([1, -2]), n=2, dispatch_size=2)
    with pytest.raises(lc.KernelTrap, match="42"):
        run(k, device, np.int32([1, 7]), n=2, dispatch_size=2)
    assert run(k, device, np.int32([1, 2]), n=2, dispatch_size=2).tolist() == [2, 4]


def test_printing(device, capsys):
    @lc.kernel
    def k(a: lc.Buffer[I], out: lc.Buffer[I]):
        i = lc.dispatch_id().x
        if i == 3:
            print("value", a[i], lc.float2(0.5, -1.0), a[i] > 0)
        out[i] = 1

    run(k, device, np.int32([1, 2, 3, 41]), n=4, dispatch_size=4)
    lc.synchronize()
    text = capsys.readouterr().out
    assert "value 41" in text and "0.5" in text and "True" in text and text.count("\n") == 1

    @lc.kernel
    def much(out: lc.Buffer[I]):
        i = lc.dispatch_id().x
        print("line", i)
        out[0] = 1

    run(much, device, dispatch_size=200000)
    lc.synchronize()
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert len(lines) >= 200000 or "lost" in text
