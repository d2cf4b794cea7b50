"""lcpy/language.md, section "Names": a test for each rule, of the rule's name."""

import math

import numpy as np
import pytest

import lcpy as lc
from language.harness import agree, run, warp_or_skip


def test_scalar_names():
    widths = {
        "bool": "?", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4",
        "uint32": "u4", "int64": "i8", "uint64": "u8", "float16": "f2", "float32": "f4",
        "float64": "f8",
    }  # fmt: skip
    for name, code in widths.items():
        assert np.dtype(getattr(lc, name).dtype) == np.dtype(code)
    aliases = {
        "int": "int32",
        "uint": "uint32",
        "half": "float16",
        "float": "float32",
        "double": "float64",
    }
    for alias, name in aliases.items():
        assert getattr(lc, alias) is getattr(lc, name)


VECTORS = {
    "bool": "bool", "byte": "int8", "ubyte": "uint8", "short": "int16", "ushort": "uint16",
    "int": "int32", "uint": "uint32", "long": "int64", "ulong": "uint64", "half": "float16",
    "float": "float32", "double": "float64",
}  # fmt: skip


def test_vector_names():
    for name, scalar in VECTORS.items():
        for n in (2, 3, 4):
            assert getattr(lc, f"{name}{n}") is lc.vector(getattr(lc, scalar), n)


def test_matrix_names():
    for name in ("float", "half", "double"):
        for n in (2, 3, 4):
            assert getattr(lc, f"{name}{n}x{n}") is lc.matrix(getattr(lc, VECTORS[name]), n)


def test_array_types(device):
    A = lc.Array[lc.int32, 3]
    assert lc.Array[lc.int32, 3] is A

    @lc.kernel
    def k(a: A, out: lc.Buffer[lc.int32]):
        out[0] = a[0] + a[1] * 10 + a[2] * 100

    assert run(k, device, [1, 2, 3])[0] == 321


def test_storage_types(device):
    for T, value in [(lc.bfloat16, 1.5), (lc.float8_e4m3, -0.75), (lc.float8_e5m2, 96.0)]:

        @lc.kernel
        def k(x: lc.Buffer[lc.float32], stored: lc.Buffer[T], out: lc.Buffer[lc.float32]):
            stored[0] = T(x[0])
            out[0] = lc.float32(stored[0]) * 2.0

        stored = lc.Buffer(1, T, device=device)
        got = run(k, device, np.float32([value]), stored, R=lc.float32)
        assert got[0] == value * 2

        def arithmetic(stored: lc.Buffer[T], out: lc.Buffer[lc.float32]):
            out[0] = stored[0] + stored[0]

        with pytest.raises(lc.CompileError, match="float"):
            lc.kernel(arithmetic).compile(lc.Buffer[T], lc.Buffer[lc.float32], target="opencl")


@lc.struct
class Ray:
    origin: lc.float3
    direction: lc.float3
    t_max: lc.float32 = 8.0
    count: lc.int32

    def at(self, t):
        return self.origin + t * self.direction

    def move(self, by):
        self.origin += by
        self.count += 1

    def __mul__(self, s):
        return Ray(self.origin * s, self.direction, self.t_max, self.count)

    def __eq__(self, other):
        return self.count == other.count

    @property
    def end(self):
        return self.at(self.t_max)


def test_zero_value(device):
    @lc.kernel
    def k(out: lc.Buffer[lc.float32]):
        r = Ray()
        a = lc.Array[lc.int3, 2]()
        m = lc.float3x3()
        out[0] = lc.float32() + r.t_max
        out[1] = lc.float32(lc.int64()) + lc.float32(lc.bool())
        out[2] = lc.sum(lc.float4()) + lc.float32(a[1].z) + m[2, 2] + r.origin.x

    assert run(k, device, n=3, R=lc.float32).tolist() == [8.0, 0.0, 0.0]


def test_vector_making(device):
    @lc.kernel
    def k(a: lc.Buffer[lc.float32], out: lc.Buffer[lc.float4]):
        x = a[0]
        v = lc.float2(x, 2.0)
        out[0] = lc.float4(x)
        out[1] = lc.float4(v, 3.0, x)
        out[2] = lc.float4(5.0, v, x)
        out[3] = lc.float4(v, v)
        out[4] = lc.float4(lc.float3(out[1]), 9.0)
        out[5] = lc.float4(lc.float2(lc.int4(7, 8, 9, 10)), lc.float2(lc.uint2(1, 2)))

    got = run(k, device, np.float32([1.0]), n=6, R=lc.float4)
    assert got.tolist() == [
        [1, 1, 1, 1], [1, 2, 3, 1], [5, 1, 2, 1], [1, 2, 1, 2], [1, 2, 3, 9], [7, 8, 1, 2],
    ]  # fmt: skip

    def wrong(out: lc.Buffer[lc.float4]):
        out[0] = lc.float4(lc.float2(1.0, 2.0), 3.0)

    with pytest.raises(lc.CompileError):
        lc.kernel(wrong).compile(lc.Buffer[lc.float4], target="opencl")


def test_casts(device):
    agree(device, lambda x: lc.int(x), [lc.float32], [2.9, -2.9], [2, -2], lc.int32)
    agree(device, lambda x: lc.uint8(x), [lc.int32], [-1, 300], [255, 44], lc.uint8)
    agree(device, lambda x: lc.int2(x), [lc.float2], [((1.5, -1.5),)], [(1, -1)], lc.int2)


def test_matrix_making(device):
    @lc.kernel
    def k(a: lc.Buffer[lc.float32], out: lc.Buffer[lc.float2x2]):
        x = a[0]
        out[0] = lc.float2x2(lc.float2(x, 2.0), lc.float2(3.0, 4.0))
        out[1] = lc.float2x2.from_rows(lc.float2(x, 2.0), lc.float2(3.0, 4.0))
        out[2] = lc.float2x2.identity()

    got = run(k, device, np.float32([1.0]), n=3, R=lc.float2x2)
    assert got.tolist() == [[[1, 3], [2, 4]], [[1, 2], [3, 4]], [[1, 0], [0, 1]]]


def test_array_making(device):
    @lc.kernel
    def k(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        zero = lc.Array[lc.int32, 4]()
        three = lc.array(a[0], 20, 30)
        for i in range(3):
            out[i] = three[i] + zero[i]
        out[3] = lc.int(len(three))

    assert run(k, device, np.int32([1]), n=4).tolist() == [1, 20, 30, 3]


def test_bitcasts(device):
    agree(
        device, lambda x: lc.bitcast(lc.uint32, x), [lc.float32], [1.0, -0.0],
        [0x3F800000, 1 << 31],
        lc.uint32,
    )  # fmt: skip
    agree(device, lambda x: lc.bitcast(lc.int32, x), [lc.uint32], [1 << 31], [-(1 << 31)], lc.int32)
    rows = [((1.0, 2.0),)]
    agree(
        device,
        lambda v: lc.bitcast(lc.uint2, v),
        [lc.float2],
        rows,
        [(0x3F800000, 0x40000000)],
        lc.uint2,
    )


def test_structs(device):
    @lc.kernel
    def k(a: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
        r = Ray(lc.float3(a[0]), lc.float3(0.0, 1.0, 0.0), count=1)
        r.move(lc.float3(1.0, 0.0, 0.0))
        twice = r * 2.0
        out[0] = r.origin.x
        out[1] = lc.float32(r.count)
        out[2] = twice.at(3.0).y
        out[3] = r.end.y
        out[4] = 1.0 if r == twice else 0.0

    got = run(k, device, np.float32([2.0]), n=5, R=lc.float32)
    assert got.tolist() == [3.0, 2.0, 7.0, 10.0, 1.0]


def test_struct_defaults(device):
    @lc.kernel
    def k(out: lc.Buffer[lc.float32]):
        r = Ray(direction=lc.float3(1.0))
        out[0] = r.t_max + r.origin.x + r.direction.y + lc.float32(r.count)

    assert run(k, device, R=lc.float32)[0] == 9.0


def test_struct_instances(device):
    ray = Ray((1, 2, 3), (4, 5, 6), 7, 8)

    @lc.kernel
    def k(r: Ray, out: lc.Buffer[lc.float32]):
        out[0] = r.origin.y + r.t_max
        out[1] = ray.direction.z + lc.float32(ray.count)

    assert run(k, device, ray, n=2, R=lc.float32).tolist() == [9.0, 14.0]
    assert Ray.dtype.names == ("origin", "direction", "t_max", "count")
    assert Ray.dtype["origin"] == np.dtype(("f4", 3))


@lc.struct
class Nest:
    rays: lc.Array[Ray, 2]
    matrix: lc.float2x2
    grid: lc.Array[lc.Array[lc.int32, 2], 2]


def test_nested_aggregates(device):
    @lc.callable
    def changed(n: Nest, i: lc.int) -> Nest:
        n.rays[i].origin.y = 5.0
        n.grid[i][0] += 1
        n.matrix[i] = lc.float2(8.0, 9.0)
        return n

    @lc.kernel
    def k(where: lc.Buffer[lc.int32], out: lc.Buffer[Nest]):
        a = Nest()
        b = changed(a, where[0])
        c = b
        c.rays[0] = b.rays[1]
        out[0], out[1], out[2] = a, b, c

    got = run(k, device, np.int32([1]), n=3, R=Nest)
    assert got["rays"]["origin"][:, :, 1].tolist() == [[0, 0], [0, 5], [5, 5]]
    assert got["grid"][:, 1, 0].tolist() == [0, 1, 1]
    assert got["matrix"][1].tolist() == [[0, 8], [0, 9]]


def test_thread_ids(device):
    @lc.kernel(block_size=(4, 2, 2))
    def k(out: lc.Buffer[lc.uint3]):
        p, n = lc.dispatch_id(), lc.dispatch_size()
        at = 3 * ((p.z * n.y + p.y) * n.x + p.x)
        out[at] = lc.thread_id()
        out[at + 1] = lc.block_id()
        out[at + 2] = p - lc.block_id() * lc.block_size() - lc.thread_id()

    w, h, d = 6, 3, 3
    got = run(k, device, n=3 * w * h * d, R=lc.uint3, dispatch_size=(w, h, d)).reshape(
        d, h, w, 3, 3
    )
    z, y, x = np.meshgrid(range(d), range(h), range(w), indexing="ij")
    assert (got[..., 0, :] == np.stack([x % 4, y % 2, z % 2], -1)).all()
    assert (got[..., 1, :] == np.stack([x // 4, y // 2, z // 2], -1)).all()
    assert (got[..., 2, :] == 0).all()


def test_kernel_id(device):
    @lc.kernel
    def k(out: lc.Buffer[lc.uint32]):
        out[0] = lc.kernel_id() + 5

    assert run(k, device, R=lc.uint32)[0] == 5


def test_lane_ids(device):
    @lc.kernel(block_size=(16, 4))
    def k(out: lc.Buffer[lc.uint32]):
        t = lc.thread_id()
        linear = t.y * 16 + t.x
        out[2 * linear] = lc.warp_lane_id()
        out[2 * linear + 1] = lc.warp_size()

    got = warp_or_skip(device, k, n=128, R=lc.uint32, dispatch_size=(16, 4)).reshape(64, 2)
    width = int(got[0, 1])
    assert width in (1, 4, 8, 16, 32, 64) and (got[:, 1] == width).all()
    assert got[:, 0].tolist() == [i % width for i in range(64)]


def test_shared_arrays(device):
    @lc.callable
    def fill(s: lc.Ref[lc.Array[lc.int32, 32]], t: lc.uint):
        s[t] = lc.int(t) * 2
        lc.sync_block()

    @lc.kernel(block_size=32)
    def k(out: lc.Buffer[lc.int32]):
        s = lc.shared(lc.int32, 32)
        grid = lc.shared(lc.int32, (4, 8))
        t = lc.thread_id().x
        fill(s, t)
        grid[t // 8, t % 8] = s[31 - t]
        lc.sync_block()
        out[lc.dispatch_id().x] = grid[t % 4, t // 4] + lc.int(lc.block_id().x) * 1000

    got = run(k, device, n=64, dispatch_size=64)
    want = [2 * (31 - (t % 4 * 8 + t // 4)) for t in range(32)]
    assert got.tolist() == want + [w + 1000 for w in want]


@lc.struct
class Counter:
    v: lc.int4
    a: lc.Array[lc.uint32, 3]


def test_atomic_functions(device):
    @lc.kernel(block_size=64)
    def k(c: lc.Buffer[Counter], seen: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        s = lc.shared(Counter, 2)
        i = lc.int(lc.dispatch_id().x)
        if i == 0:
            s[1] = Counter()
        lc.sync_block()
        seen[lc.atomic_add(out[0], 1)] = 1
        lc.atomic_sub(c[0].v.y, i)
        lc.atomic_max(c[0].v[2], i)
        lc.atomic_min(c[0].v.w, -i)
        lc.atomic_or(c[0].a[0], lc.uint(1) << (lc.uint(i) % 32))
        lc.atomic_xor(c[0].a[1], lc.uint(i))
        lc.atomic_and(c[0].a[2], ~(lc.uint(1) << (lc.uint(i) % 4)))
        lc.atomic_add(s[1].v.x, i)
        lc.sync_block()
        if i == 0:
            out[1] = lc.atomic_exchange(s[1].v.x, 5)
            out[2] = lc.atomic_compare_exchange(s[1].v.x, 5, 6)
            out[3] = lc.atomic_load(s[1].v.x)
            lc.atomic_store(out[4], 9)

    start = np.zeros(1, Counter.dtype)
    start["a"][0, 2] = 0xFFFF
    c = lc.Buffer(1, Counter, device=device)
    c.upload(start)
    seen = lc.Buffer(64, lc.int32, device=device)
    got = run(k, device, c, seen, n=5, dispatch_size=64)
    assert got.tolist() == [64, 2016, 5, 6, 9]
    assert seen.numpy().tolist() == [1] * 64
    after = c.numpy()[0]
    assert after["v"].tolist() == [0, -2016, 63, -63]
    xor = 0
    for i in range(64):
        xor ^= i
    assert after["a"].tolist() == [0xFFFFFFFF, xor, 0xFFF0]


def test_warp_functions(device):
    @lc.kernel(block_size=64)
    def k(a: lc.Buffer[lc.int32], width: lc.Buffer[lc.uint32], out: lc.Buffer[lc.int32]):
        i = lc.dispatch_id().x
        x = a[i]
        width[0] = lc.warp_size()
        b = 20 * i
        out[b] = lc.warp_sum(x)
        out[b + 1] = lc.warp_product(x % 3 - 1)
        out[b + 2] = lc.warp_min(x)
        out[b + 3] = lc.warp_max(x)
        out[b + 4] = lc.warp_and(x)
        out[b + 5] = lc.warp_or(x)
        out[b + 6] = lc.warp_xor(x)
        out[b + 7] = lc.int(lc.warp_all(x > 0))
        out[b + 8] = lc.int(lc.warp_any(x > 90))
        out[b + 9] = lc.int(lc.warp_all_equal(x))
        out[b + 10] = lc.int(lc.popcount(lc.warp_ballot(x % 2 == 0).x))
        out[b + 11] = lc.int(lc.warp_count(x % 2 == 0))
        out[b + 12] = lc.warp_prefix_sum(x)
        out[b + 13] = lc.warp_prefix_product(x % 3 - 1)
        out[b + 14] = lc.int(lc.warp_prefix_count(x % 2 == 0))
        out[b + 15] = lc.warp_read_lane(x, 1)
        out[b + 16] = lc.warp_read_first(x)
        out[b + 17] = lc.int(lc.warp_is_first())

    a = (np.arange(64) * 37 % 101 + 1).astype(np.int32)
    width = lc.Buffer(1, lc.uint32, device=device)
    got = warp_or_skip(device, k, a, width, n=64 * 20, dispatch_size=64).reshape(64, 20)
    w = int(width.numpy()[0])
    for first in range(0, 64, w):
        x = [int(v) for v in a[first : first + w]]
        even = [v % 2 == 0 for v in x]
        m = [v % 3 - 1 for v in x]
        for j in range(len(x)):
            xor = 0
            for v in x:
                xor ^= v
            want = [
                sum(x), math.prod(m), min(x), max(x), np.bitwise_and.reduce(x),
                np.bitwise_or.reduce(x), xor, all(v > 0 for v in x), any(v > 90 for v in x),
                len(set(x)) == 1, sum(even[:32]), sum(even), sum(x[:j]), math.prod(m[:j]),
                sum(even[:j]), x[1] if w > 1 else 0, x[0], j == 0,
            ]  # fmt: skip
            assert got[first + j, :18].tolist() == [int(v) for v in want]


def test_function_names(device):
    F = lc.float32
    rows = [2.5, -0.75, 3.5]
    for f, g in [
        (lambda x: abs(x), abs),
        (lambda x: round(x), round),
        (lambda x: min(x, 1.0), lambda x: min(x, 1.0)),
        (lambda x: max(1.0, x), lambda x: max(1.0, x)),
        (lambda x: math.floor(x) + 0.0, math.floor),
        (lambda x: math.sqrt(x * x), abs),
        (lambda x: math.copysign(2.0, x), lambda x: math.copysign(2.0, x)),
        (lambda x: math.fabs(x) + math.trunc(x), lambda x: abs(x) + math.trunc(x)),
    ]:
        agree(device, f, [F], rows, [g(x) for x in rows], F)
    names = (
        "min max clamp lerp saturate step smoothstep select abs sign floor ceil round "
        "trunc fract sqrt rsqrt exp exp2 exp10 log log2 log10 pow sin cos tan asin acos "
        "atan atan2 sinh cosh tanh asinh acosh atanh fma copysign isnan isinf dot cross "
        "length length_squared distance normalize reflect refract faceforward outer "
        "transpose inverse determinant all any sum product popcount clz ctz reverse_bits "
        "rotate_left rotate_right mul_hi div rem "
    )
    assert all(getattr(lc, name).__doc__ for name in names.split())


def test_buffer_length(device):
    @lc.kernel
    def k(a: lc.Buffer[lc.int32], grid: lc.Buffer[lc.int8, 2], out: lc.Buffer[lc.uint64]):
        out[0] = lc.uint64(len(a))
        out[1] = lc.len64(a) + lc.len64(grid)
        n = len(a)
        out[2] = 1 if lc.static(lc.type_of(n) is lc.uint32) else 0

    grid = lc.Buffer((3, 4), lc.int8, device=device)
    got = run(k, device, np.zeros(5, np.int32), grid, n=3, R=lc.uint64)
    assert got.tolist() == [5, 17, 1]


def test_buffer_shape(device):
    @lc.kernel
    def k(grid: lc.Buffer[lc.int8, 3], out: lc.Buffer[lc.uint32]):
        out[0] = grid.shape[0] * 100 + grid.shape[1] * 10 + grid.shape[2]

    grid = lc.Buffer((2, 3, 4), lc.int8, device=device)
    assert grid.shape == (2, 3, 4)
    assert run(k, device, grid, R=lc.uint32)[0] == 234
