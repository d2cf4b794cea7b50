"""What tools/fuzz found on GPUs: aggregates in local memory, narrow integers, conversions."""

import numpy as np
import pytest

import lcpy as lc


@lc.struct
class Four:
    m: lc.Array[lc.int64, 4]


@lc.struct
class Rows:
    first: lc.ulong3
    second: lc.Array[lc.float32, 2]
    third: lc.int32


@pytest.mark.parametrize("opt", [0, 1])
def test_a_local_array_at_an_index_that_branches_give(device, opt):
    """NVIDIA's OpenCL compiler wrote what it held in registers over what such a store had left."""

    @lc.kernel(block_size=16, math="strict", opt=opt)
    def run(n: lc.Buffer[lc.int32], source: lc.Buffer[Four], out: lc.Buffer[Four]):
        shared = lc.shared(Four, 16)
        t = lc.dispatch_id().x
        shared[lc.thread_id().x] = Four()
        x = source[(t + 3) % 16]
        x.m[n[0] % 4] = lc.int64(0)
        out[t] = x

    rows = np.arange(1, 65, dtype=np.int64).reshape(16, 4)
    source = lc.Buffer(16, Four, device=device)
    source.upload(np.array([(row,) for row in rows], Four.dtype))
    out = lc.Buffer(8, Four, device=device)
    run(lc.Buffer(np.int32([6]), device=device), source, out, dispatch_size=8)
    want = rows[(np.arange(8) + 3) % 16]
    want[:, 2] = 0
    assert (out.numpy()["m"] == want).all()


@pytest.mark.parametrize("opt", [0, 1])
def test_aggregates_that_flow_into_local_memory(device, opt):
    """NVIDIA's OpenCL compiler forgot columns and members of what was copied as a whole."""

    @lc.callable
    def column(m: lc.float4x4, keep: lc.bool, at: lc.int32) -> lc.float4x4:
        if lc.float32(0.0) < lc.copysign(m[0, 1], lc.float32(0.0)) and at > 5:
            return m
        if keep:
            m = m
        else:
            m[lc.clamp(at, 0, 3)], m[0] = lc.float4(), lc.float4()
        return m

    @lc.callable
    def taken(rows: lc.Array[Rows, 2], at: lc.int32, out: lc.Buffer[lc.float32], q: lc.uint32):
        if out[q] >= 0.0:
            again = rows
            lc.atomic_add(out[q], again[0].second[lc.uint8(at) % 2])

    @lc.kernel(block_size=8, math="strict", opt=opt)
    def run(
        matrices: lc.Buffer[lc.float4x4],
        rows: lc.Buffer[lc.Array[Rows, 2]],
        at: lc.Buffer[lc.int32],
        columns: lc.Buffer[lc.float4x4],
        copies: lc.Buffer[lc.Array[Rows, 2]],
        sums: lc.Buffer[lc.float32],
    ):
        shared = lc.shared(Rows, 8)
        t = lc.dispatch_id().x
        shared[lc.thread_id().x] = Rows()
        columns[t] = column(matrices[t], t % 2 == 0, at[t])
        both = rows[t]
        taken(both, at[t], sums, t)
        copies[t] = both

    n = 6  # not all of a block
    matrices = np.arange(1, 16 * n + 1, dtype=np.float32).reshape(n, 4, 4)
    cells = np.zeros((n, 2), Rows.dtype)
    for i in range(n):
        for j in range(2):
            first = [2**63 + i, 7 * i, j]
            cells[i, j] = (first, [i + 0.5, j - 2.0], 3 * i - j)
    given = lc.Buffer(n, lc.Array[Rows, 2], device=device)
    given.upload(cells)
    at = np.int32([0, 1, 2, 3, 4, 5])
    columns = lc.Buffer(n, lc.float4x4, device=device)
    copies = lc.Buffer(n, lc.Array[Rows, 2], device=device)
    sums = lc.Buffer(n, lc.float32, device=device)
    sources = lc.Buffer(n, lc.float4x4, device=device), lc.Buffer(at, device=device)
    sources[0].upload(matrices)
    run(sources[0], given, sources[1], columns, copies, sums, dispatch_size=n)
    want = matrices.copy()
    for i in range(1, n, 2):
        want[i][:, min(at[i], 3)] = 0
        want[i][:, 0] = 0
    assert (columns.numpy() == want).all()
    assert (copies.numpy() == cells).all()
    assert sums.numpy().tolist() == [cells[i, 0]["second"][at[i] % 2] for i in range(n)]


@lc.struct
class Padded:
    a: lc.Array[lc.int32, 1]
    b: lc.float64
    c: lc.ushort3
    d: lc.Array[lc.ushort3, 4]


@pytest.mark.parametrize("opt", [0, 1])
def test_structs_with_arrays_of_three_lanes(device, opt):
    """NVIDIA's OpenCL compiler died of one that was stored whole."""

    @lc.callable
    def made(c: lc.ushort3, d: lc.Array[lc.ushort3, 4]) -> Padded:
        return Padded(lc.Array[lc.int32, 1](), lc.float64(0.0), c, d)

    @lc.kernel(block_size=1, opt=opt)
    def run(
        at: lc.Buffer[lc.int32],
        source: lc.Buffer[Padded],
        lanes: lc.Buffer[lc.ushort3],
        out: lc.Buffer[Padded],
    ):
        t = lc.dispatch_id().x
        out[t] = made(lanes[t + 1], source[at[t] % 4].d)

    cells = np.zeros(4, Padded.dtype)
    cells["d"] = np.arange(48, dtype=np.uint16).reshape(4, 4, 3)
    source, out = (lc.Buffer(4, Padded, device=device) for _ in range(2))
    source.upload(cells)
    lanes = lc.Buffer(5, lc.ushort3, device=device)
    lanes.upload(np.arange(15, dtype=np.uint16).reshape(5, 3))
    run(lc.Buffer(np.int32([3, -1, 0, 6]), device=device), source, lanes, out, dispatch_size=4)
    got = out.numpy()
    assert (got["d"] == cells["d"][[3, 3, 0, 2]]).all()
    assert (got["c"] == np.arange(3, 15).reshape(4, 3)).all()
    assert (got["a"] == 0).all() and (got["b"] == 0).all()


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("opt", [0, 1])
def test_minima_of_narrow_integers_that_are_compared(device, bits, opt):
    """NVIDIA's OpenCL driver took a minimum of 2 and 0 for another number than 0."""
    T = getattr(lc, f"int{bits}")

    @lc.kernel(block_size=1, opt=opt)
    def run(x: lc.Buffer[T], out: lc.Buffer[T], most: lc.uint32):
        i = lc.dispatch_id().x
        out[3 * i] = x[i] // lc.min(T(most), T(0))
        out[3 * i + 1] = lc.max(x[i], T(most)) % lc.max(T(most), T(0))
        out[3 * i + 2] = T(1) if lc.min(T(most), x[i]) == 0 else T(2)

    x = [0, 5, -7, 100]
    out = lc.Buffer(12, T, device=device)
    run(lc.Buffer(np.array(x, T.dtype), device=device), out, 2, dispatch_size=4)
    want = [n for v in x for n in (0, max(v, 2) % 2, 1 if min(2, v) == 0 else 2)]
    assert out.numpy().tolist() == want


@pytest.mark.parametrize("opt", [0, 1])
def test_loops_that_carry_bools(device, opt):
    """NVIDIA's Vulkan compiler died of each."""

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(given: lc.Buffer[lc.bool], x: lc.Buffer[lc.float32], out: lc.Buffer[lc.bool]):
        a, b = given[0], given[1]
        for _ in range(lc.uint64(0)):
            a, b = b, a
        out[0] = a
        found = lc.uint32(0) == lc.bitcast(lc.uint32, lc.max(x[1], -1.0))
        turns = 0
        while turns < 3 and 0.0 >= x[0]:
            turns += 1
            found = given[2]
        out[1] = found
        c, d = lc.bool2(given[0], given[1]), lc.bool2(given[1], given[1])
        for _ in range(lc.uint64(x[1])):
            c, d = d, c
        out[2] = c.x
        out[3] = d.x

    out = lc.Buffer(4, lc.bool, device=device)
    given = lc.Buffer(np.array([False, True, True]), device=device)
    run(given, lc.Buffer(np.float32([-1.0, 3.0]), device=device), out, dispatch_size=1)
    assert out.numpy().tolist() == [False, True, True, False]


@pytest.mark.parametrize("opt", [0, 1])
def test_loops_that_turn_once_at_most(device, opt):
    """NVIDIA's Vulkan compiler, told to unroll one, took it to turn always."""

    @lc.kernel(block_size=1, opt=opt)
    def run(v: lc.Buffer[lc.uint32], out: lc.Buffer[lc.int64]):
        a, b = v[0], v[1]
        for _ in range(0, (lc.uint8(out[0]) ** 6) % 2):
            a, b = b, a
        turns = 0
        while True:
            if turns >= 3:
                break
            turns += 1
            out[0] = (out[0] % lc.uint8(a)) + lc.int64(1)

    out = lc.Buffer(1, lc.int64, device=device)
    run(lc.Buffer(np.uint32([1, 4294967290]), device=device), out, dispatch_size=1)
    assert out.numpy().tolist() == [1]


@pytest.mark.parametrize("opt", [0, 1])
def test_floats_are_rounded_before_they_are_integers(device, opt):
    """NVIDIA's Vulkan compiler converted what they were rounded from."""
    if not device.features["float64"] or not device.features["float16"]:
        pytest.skip("no double or no half")

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(h: lc.Buffer[lc.float16], i: lc.Buffer[lc.int64], out: lc.Buffer[lc.int64]):
        out[0] = lc.int64(h[0] / lc.float16(3.69921875))
        out[1] = lc.int64(lc.float32(i[0] + lc.float64(0.0)))
        out[2] = lc.int64(lc.float16(lc.float32(i[1])))
        out[3] = lc.int64(lc.uint32(lc.float32(lc.float64(i[1]) + 0.25)))

    exact = 8721401130457179450
    out = lc.Buffer(4, lc.int64, device=device)
    half = lc.Buffer(np.float16([65504]), device=device)
    run(half, lc.Buffer(np.int64([exact, 16777217]), device=device), out, dispatch_size=1)
    want = [17712, int(np.float32(exact)), 0, 16777218]
    want[2] = 2**63 - 1  # that half is infinite
    want[3] = int(np.float32(16777217.25))
    assert out.numpy().tolist() == want


@pytest.mark.parametrize("opt", [0, 1])
def test_doubles_divided_by_quotients(device, opt):
    """NVIDIA's Vulkan compiler made a / (1 / t) a * t."""
    if not device.features["float64"]:
        pytest.skip("no double")

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(x: lc.Buffer[lc.float64], out: lc.Buffer[lc.float64]):
        t = lc.dispatch_id().x
        out[3 * t] = x[t] / (lc.float64(1.0) / (t + 1))
        out[3 * t + 1] = x[t] / x[t + 1] / (t + 3)
        out[3 * t + 2] = lc.float64(7.0) / (x[t] / x[t + 1])

    x = np.array([432.57, 0.1, -3.7, 1e300, 104.596, 3.0, 0.7, 29.6, 11.0])
    out = lc.Buffer(24, lc.float64, device=device)
    run(lc.Buffer(x, device=device), out, dispatch_size=8)
    t = np.arange(8)
    want = np.stack([x[:8] / (1.0 / (t + 1)), x[:8] / x[1:] / (t + 3), 7.0 / (x[:8] / x[1:])], 1)
    assert (out.numpy() == want.ravel()).all()


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("opt", [0, 1])
def test_the_smallest_integer_negated(device, bits, opt):
    """NVIDIA's compilers negated it in 32 bits, where it has become positive."""
    T = getattr(lc, f"int{bits}")
    V = lc.vector(T, 3)

    @lc.kernel(block_size=1, opt=opt)
    def run(x: lc.Buffer[T], wide: lc.Buffer[lc.int32], out: lc.Buffer[T], lanes: lc.Buffer[V]):
        i = lc.dispatch_id().x
        wide[3 * i] = lc.int32(-x[i]) % 5
        wide[3 * i + 1] = lc.int32(T(0) - x[i])
        match (-x[i]) % 5:
            case 3 | 0:
                wide[3 * i + 2] = 1
            case _:
                wide[3 * i + 2] = 2
        out[i] = lc.clamp(T(0), -x[i], T(1))
        lanes[i] = lc.max(-lanes[i], V(T(-5)))

    least = -(1 << (bits - 1))
    x = [least, least + 1, -3, 0, 4, -least - 1]
    negated = [least if v == least else -v for v in x]
    wide, out = lc.Buffer(18, lc.int32, device=device), lc.Buffer(6, T, device=device)
    lanes = lc.Buffer(6, V, device=device)
    lanes.upload(np.array([[v, -4, 7] for v in x], T.dtype))
    run(lc.Buffer(np.array(x, T.dtype), device=device), wide, out, lanes, dispatch_size=6)
    want = [n for v in negated for n in (v % 5, v, 1 if v % 5 in (0, 3) else 2)]
    assert wide.numpy().tolist() == want
    assert out.numpy().tolist() == [min(max(v, 0), 1) for v in negated]
    assert lanes.numpy().tolist() == [[max(v, -5), 4, -5] for v in negated]


@pytest.mark.parametrize("opt", [0, 1])
def test_integers_by_way_of_floats_as_indices(device, opt):
    """NVIDIA's Vulkan compiler converted to 32 bits where an index used no more of them."""

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(
        x: lc.Buffer[lc.uint32],
        y: lc.Buffer[lc.short2],
        table: lc.Buffer[lc.int32],
        out: lc.Buffer[lc.int32],
        lanes: lc.Buffer[lc.uint2],
    ):
        i = lc.dispatch_id().x
        out[i] = table[lc.uint64(lc.float32(x[i])) % 16]
        lanes[i] = lc.uint2(lc.float2(y[i]))

    x = np.array([4294967291, 5, 2147483647, 16777217], np.uint32)
    table = lc.Buffer(np.arange(100, 116, dtype=np.int32), device=device)
    out, lanes = lc.Buffer(4, lc.int32, device=device), lc.Buffer(4, lc.uint2, device=device)
    y = lc.Buffer(4, lc.short2, device=device)
    y.upload(np.int16([[-4, 23783], [7, -1], [0, -32768], [32767, 1]]))
    run(lc.Buffer(x, device=device), y, table, out, lanes, dispatch_size=4)
    assert out.numpy().tolist() == [100 + int(np.float32(v)) % 16 for v in x]
    assert lanes.numpy().tolist() == [[0, 23783], [7, 0], [0, 0], [32767, 1]]


@pytest.mark.parametrize("opt", [0, 1])
def test_low_bits_of_long_divisions(device, opt):
    """NVIDIA's Vulkan compiler divided only the low bits where only they were used."""

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(
        x: lc.Buffer[lc.int64], m: lc.Buffer[lc.uint64], y: lc.Buffer[lc.int64],
        out: lc.Buffer[lc.int32], turns: lc.Buffer[lc.int16],
    ):  # fmt: skip
        t = lc.dispatch_id().x
        out[3 * t] = lc.int32((x[t] // y[t]) % 2)
        out[3 * t + 1] = lc.int32((m[t] // lc.uint64(16521863422564559735)) & 3)
        out[3 * t + 2] = lc.int32((m[t] % lc.uint64(16521863422564559735)) % 2)
        turned = lc.int16(0)
        for _ in range((lc.int64(2147483646) // y[t]) % 2):
            turned += 1
        turns[t] = turned

    x = [2147483646, -(2**63), 2**62 + 12345, -9, 7 << 40, 3]
    y = [-(2**63), 3, -(2**33) - 1, 2**63 - 1, (1 << 32) + 1, -(2**40)]
    m = [2**64 - 10, 2**64 - 1, 1 << 63, 16521863422564559735, 16521863422564559734, 5]
    out, turns = lc.Buffer(18, lc.int32, device=device), lc.Buffer(6, lc.int16, device=device)
    inputs = [lc.Buffer(np.array(v, t), device=device)
              for v, t in ((x, np.int64), (m, np.uint64), (y, np.int64))]  # fmt: skip
    run(*inputs, out, turns, dispatch_size=6)
    c = 16521863422564559735
    want = [v for a, b, k in zip(x, y, m) for v in (a // b % 2, k // c & 3, k % c % 2)]
    assert out.numpy().tolist() == want
    assert turns.numpy().tolist() == [2147483646 // b % 2 for b in y]


@pytest.mark.parametrize("opt", [0, 1])
def test_powers_with_exponents_that_the_compiler_knows(device, opt):
    """NVIDIA's Vulkan compiler, told to unroll the loop of a power, took it to turn for ever where
    it knew that it does not turn."""

    @lc.kernel(block_size=8, math="strict", opt=opt)
    def run(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        t = lc.dispatch_id().x
        exponent = lc.bitcast(lc.int32, max(lc.uint32(4294967291), lc.uint32(lc.int8(-127))))
        for _ in range(1, v[t] % 5):
            exponent |= -8
            break
        out[t] = v[t] ** exponent
        none = 0
        while none != 0:
            none >>= 1
            out[t] += 1

    v = np.int32([1, -1, 2, 7, 0, 9, 3, 5])
    out = lc.Buffer(8, lc.int32, device=device)
    run(lc.Buffer(v, device=device), out, dispatch_size=8)
    assert out.numpy().tolist() == [1, -1, 0, 0, 0, 0, 0, 0]


@lc.struct
class Points:
    weight: lc.float32
    rows: lc.Array[lc.float3, 4]


@pytest.mark.parametrize("opt", [0, 1])
def test_an_array_of_a_struct_that_a_branch_reads(device, opt):
    """NVIDIA's OpenCL compiler took other elements of what it had copied whole."""

    @lc.kernel(block_size=(8, 2), math="strict", opt=opt)
    def run(points: lc.Buffer[Points], dots: lc.Buffer[lc.float32], copies: lc.Buffer[Points]):
        t = lc.dispatch_id().y * lc.dispatch_size().x + lc.dispatch_id().x
        shared = lc.shared(lc.uint8, 16)
        taken = points[(t * 3) % 16]
        dots[t] = lc.dot(points[t % 16].rows[0], taken.rows[0])
        copies[t] = taken
        shared[lc.thread_id().x + lc.thread_id().y * 8] = lc.uint8()

    rng = np.random.default_rng(7)
    rows = np.zeros(16, Points.dtype)
    rows["weight"], rows["rows"] = rng.integers(-9, 9, 16), rng.integers(-9, 9, (16, 4, 3))
    points = lc.Buffer(16, Points, device=device)
    points.upload(rows)
    dots = lc.Buffer(15, lc.float32, device=device)
    copies = lc.Buffer(15, Points, device=device)
    run(points, dots, copies, dispatch_size=(5, 3))
    t = np.arange(15)
    first, taken = rows["rows"][:, 0], rows[(t * 3) % 16]
    assert (dots.numpy() == (first[t % 16] * taken["rows"][:, 0]).sum(1)).all()
    got = copies.numpy()
    assert (got["weight"] == taken["weight"]).all() and (got["rows"] == taken["rows"]).all()


@pytest.mark.parametrize("opt", [0, 1])
def test_narrow_lanes_taken_from_zeros_in_company(device, opt):
    """NVIDIA's Vulkan compiler did not make a pipeline of these."""
    if not device.features["int64"]:
        pytest.skip("no 64 bits")

    @lc.kernel(block_size=8, math="strict", opt=opt)
    def run(a: lc.Buffer[lc.int8], n: lc.Buffer[lc.uint64], out: lc.Buffer[lc.byte3]):
        t = lc.dispatch_id().x
        x = lc.byte3(lc.int8(0), lc.int8(-1), lc.int8(0)) - a[t]
        match n[t] % 5:
            case 2:
                pass
            case _:
                x = lc.sign(x)
        out[t] = x

    a = np.int8([-128, -127, -1, 0, 1, 5, 126, 127])
    out = lc.Buffer(8, lc.byte3, device=device)
    run(lc.Buffer(a, device=device), lc.Buffer(np.arange(8, dtype=np.uint64) + 2, device=device),
        out, dispatch_size=8)  # fmt: skip
    want = (np.int8([0, -1, 0])[None] - a[:, None]).astype(np.int8)
    want[1:5], want[6:] = np.sign(want[1:5]), np.sign(want[6:])
    assert out.numpy().tolist() == want.tolist()


@pytest.mark.parametrize("opt", [0, 1])
def test_halves_are_rounded_before_they_are_floats(device, opt):
    """NVIDIA's Vulkan compiler left out what a half rounds where only a float was made of it."""
    if not device.features["float16"]:
        pytest.skip("no half")

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
        t = lc.dispatch_id().x
        out[3 * t] = lc.float32(lc.float16(x[t]))
        out[3 * t + 1] = lc.float32(lc.int32(lc.float16(x[t] * 3.0)))
        pair = lc.half2(lc.float16(x[t]), lc.float16(1.0)) / lc.float16(3.0)
        out[3 * t + 2] = lc.float32(pair.x) + lc.float32(pair.y)

    x = np.float32([0.1, 1000.3, 65519.0, 65520.0, -2049.5, 3e-6, 123.456, np.inf])
    out = lc.Buffer(24, lc.float32, device=device)
    run(lc.Buffer(x, device=device), out, dispatch_size=8)
    with np.errstate(over="ignore"):
        h = x.astype(np.float16)
        whole = (x * np.float32(3)).astype(np.float16).astype(np.float64)
        whole = np.clip(np.trunc(whole), -(2**31), 2**31 - 1).astype(np.int32)
        third = (h / np.float16(3)).astype(np.float32) + np.float32(np.float16(1) / np.float16(3))
    want = np.stack([h.astype(np.float32), whole.astype(np.float32), third], 1).ravel()
    assert (out.numpy() == want).all()
