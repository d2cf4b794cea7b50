"""What tools/fuzz found on drivers that run on processors, and what must hold everywhere."""

import numpy as np
import pytest
from loading import load_source

import lcpy as lc


@lc.struct
class Wide:
    a: lc.ulong4
    b: lc.uint32
    c: lc.float64
    d: lc.uint16


@lc.callable
def nothing(q: lc.uint32, t: lc.uint32) -> Wide:
    return Wide()


@lc.callable
def nothing_of(q: lc.uint32, t: lc.uint32, x: lc.uint32, y: Wide) -> Wide:
    return Wide()


@lc.callable
def counts_down(
    counts: lc.Ref[lc.Array[lc.uint32, 8]],
    small: lc.Buffer[lc.uint16],
    q: lc.uint32,
    t: lc.uint32,
    x: lc.ulong4,
    lane: lc.uint32,
) -> Wide:
    counts[lane] -= lc.uint32(1)
    seen = small[0]
    return Wide(x, counts[lane], lc.float64(0.0), seen)


@pytest.mark.parametrize("opt", [0, 1])
def test_a_function_uses_its_own_block_s_shared_array(device, opt):
    """PoCL gave each block its arrays by looking at the kernel alone, where a function of it may
    name them too: all blocks, and all launches, then counted in one array."""

    @lc.kernel(block_size=(1,), math="strict", bounds="trap", opt=opt)
    def kernel(
        small: lc.Buffer[lc.uint16],
        numbers: lc.Buffer[lc.uint32],
        places: lc.Buffer[lc.ulong4],
        wide: lc.Buffer[Wide],
        out: lc.Buffer[Wide],
        u: lc.ulong4,
    ):
        counts = lc.shared(lc.uint32, 8)
        t = lc.dispatch_id().x
        q = (t * 4 + 0) * 4
        out[q + 0] = nothing(q, t)
        q = (t * 4 + 1) * 4
        out[q + 0] = nothing_of(q, t, numbers[(t * 4 + 10) % 16], wide[(t * 5 + 14) % 16])
        q = (t * 4 + 2) * 4
        counts[lc.thread_id().x] = lc.uint32()
        lane = lc.thread_id().x
        out[q + 0] = counts_down(counts, small, q, t, places[(t * 4 + 2) % 16], lane)

    def buffer(T):
        return lc.Buffer(64, T, device=device)

    inputs = [buffer(T) for T in (lc.uint16, lc.uint32, lc.ulong4, Wide)]
    out = buffer(Wide)
    for _ in range(3):
        kernel(*inputs, out, (1, 2, 3, 4), dispatch_size=4)
        assert out.numpy()["b"][8::16].tolist() == [2**32 - 1] * 4


@lc.callable
def leaves_early(t, x, turns) -> lc.float32:
    for _ in range(turns):
        if t > 0:
            continue
        return x + 1.0
    return x


@lc.callable
def breaks_early(t, x, turns) -> lc.float32:
    left = False
    found = lc.float32(0.0)
    for _ in range(turns):
        if t > 0:
            continue
        found = x + 1.0
        left = True
        break
    if left:
        return found
    return x


@lc.callable
def leaves_two_loops(t, x, turns) -> lc.float32:
    for _ in range(turns):
        for _ in range(turns):
            if t > 2:
                continue
            return x - 1.0
        if t > 4:
            continue
        return x - 3.0
    return x


WAYS_OUT = [
    (leaves_early, [6, 5, 5, 5, 5, 5, 5, 5]),
    (breaks_early, [6, 5, 5, 5, 5, 5, 5, 5]),
    (leaves_two_loops, [4, 4, 4, 2, 2, 5, 5, 5]),
]


@pytest.mark.parametrize(("way", "want"), WAYS_OUT, ids=lambda v: getattr(v, "__name__", ""))
@pytest.mark.parametrize("turns", [1, 2, 3])
def test_lanes_that_go_on_early_and_lanes_that_leave(device, way, want, turns):
    """llvmpipe forgot which way out of a loop of one turn the first lanes had taken."""

    @lc.kernel(block_size=8)
    def counted(out: lc.Buffer[lc.float32], x: lc.float32, n: lc.int32):
        t = lc.int32(lc.dispatch_id().x)
        out[t] = way(t, x, n)

    @lc.kernel(block_size=8)
    def known(out: lc.Buffer[lc.float32], x: lc.float32):
        t = lc.int32(lc.dispatch_id().x)
        out[t] = way(t, x, turns)

    out = lc.Buffer(8, lc.float32, device=device)
    counted(out, 5.0, turns, dispatch_size=8)
    assert out.numpy().tolist() == np.float32(want).tolist()
    known(out, 5.0, dispatch_size=8)
    assert out.numpy().tolist() == np.float32(want).tolist()


@lc.kernel(block_size=8, math="strict")
def reads_a_product_as_a_float(v: lc.Buffer[lc.int32], o: lc.Buffer[lc.float32]):
    i = lc.dispatch_id().x
    o[i] = lc.bitcast(lc.float32, v[i] * 285985041) + 0.0


def test_an_integer_product_read_as_a_float(device):
    """The interpreter made one instruction of the product and the sum, both of floats."""
    v = np.array([2147483647, 6, 5, -7, -72673490, 8, 2147483645], np.int64)
    want = (v * 285985041 & 0xFFFFFFFF).astype(np.uint32)
    out = lc.Buffer(len(v), lc.float32, device=device)
    source = lc.Buffer(v.astype(np.int32), device=device)
    reads_a_product_as_a_float(source, out, dispatch_size=len(v))
    assert (out.numpy().view(np.uint32)[:5] == want[:5]).all()  # the others are denormals


@pytest.mark.parametrize("opt", [0, 1])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("log2", [0, 1, 2, 6, "most"])
def test_division_by_negated_powers_of_two(device, bits, log2, opt):
    """PoCL and NVIDIA's Vulkan compiler find some of these remainders to be others."""
    T = getattr(lc, f"int{bits}")
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    by = least if log2 == "most" else -(1 << log2)

    @lc.callable
    def divisor() -> T:
        return lc.static(by)

    @lc.kernel(block_size=16, opt=opt)
    def divide(x: lc.Buffer[T], q: lc.Buffer[T], r: lc.Buffer[T], pairs: lc.Buffer[T]):
        i = lc.dispatch_id().x
        q[i] = x[i] // lc.static(by)
        r[i] = x[i] % divisor()
        two = lc.vector(T, 2)(x[i], x[15 - i])
        rest = two % lc.static(by)
        pairs[2 * i] = rest.x
        pairs[2 * i + 1] = rest.y

    x = [0, 1, -1, 2, -2, 3, -3, 4, -4, 63, -63, 64, least, least + 1, most, most - 1]
    buffers = [lc.Buffer(n, T, device=device) for n in (16, 16, 32)]
    try:
        divide(lc.Buffer(np.array(x, T.dtype), device=device), *buffers, dispatch_size=16)
    except lc.UnsupportedError as error:
        pytest.skip(str(error))
    q, r, pairs = (b.numpy().tolist() for b in buffers)
    wrapped = [least if (v, by) == (least, -1) else v // by for v in x]
    assert q == wrapped
    assert r == [v % by for v in x]
    assert pairs == [v % by for i in range(16) for v in (x[i], x[15 - i])]


@lc.callable
def remainder_of_known(a: lc.long2) -> lc.long2:
    return lc.long2(lc.int2(1, 0)) % a


@pytest.mark.parametrize("opt", [0, 1])
def test_remainders_of_known_vectors(device, opt):
    @lc.kernel(block_size=1, opt=opt)
    def run(out: lc.Buffer[lc.long2]):
        out[0] = remainder_of_known(lc.long2(-9, 0))

    out = lc.Buffer(1, lc.long2, device=device)
    run(out, dispatch_size=1)
    assert out.numpy().tolist() == [[-8, 0]]


LARGE = 3.4028234663852886e38


@pytest.mark.parametrize("opt", [0, 1])
@pytest.mark.parametrize("name", ["round", "trunc", "floor", "ceil", "sin", "exp", "log"])
def test_functions_of_what_the_compiler_knows(device, name, opt):
    """PoCL's convert their argument to an integer: of numbers that none holds, clang made anything,
    or a loop without an end."""
    f = getattr(lc, name)

    @lc.callable
    def nothing() -> lc.float32:
        return lc.float32(float("nan"))

    @lc.kernel(block_size=8, math="strict", opt=opt)
    def run(x: lc.Buffer[lc.float32], counts: lc.Buffer[lc.uint32], out: lc.Buffer[lc.float32]):
        i = lc.dispatch_id().x
        n = lc.uint32(3)
        while n > 0:
            counts[i] += n
            n -= 1
        out[5 * i] = f(lc.float32(LARGE))
        out[5 * i + 1] = f(x[i] / nothing())
        out[5 * i + 2] = f(nothing())
        out[5 * i + 3] = 2.0 if f(x[i] / nothing()) != 0.0 else 1.0
        out[5 * i + 4] = lc.float32(float("inf")) - lc.float32(float("inf"))
        out[5 * i + 4] = f(out[5 * i + 4])
        out[5 * i] += f(lc.bitcast(lc.float32, lc.uint32(4294967291) | 536870912))
        out[5 * i] += f(lc.float32((lc.uint64(1) << 63) | lc.uint64(n)))

    def on_cpu():
        out = lc.Buffer(5, lc.float32, device="cpu")
        x, counts = (lc.Buffer(8, t, device="cpu") for t in (lc.float32, lc.uint32))
        run(x, counts, out, dispatch_size=1)
        return out.numpy()

    want = on_cpu()
    out = lc.Buffer(40, lc.float32, device=device)
    counts = lc.Buffer(8, lc.uint32, device=device)
    x = lc.Buffer(np.arange(8, dtype=np.float32), device=device)
    run(x, counts, out, dispatch_size=8)
    got = out.numpy().reshape(8, 5)
    assert counts.numpy().tolist() == [6] * 8
    assert np.isnan(got[:, [1, 2, 4]]).all() and (got[:, 3] == 2.0).all()
    np.testing.assert_allclose(got[:, 0], want[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("opt", [0, 1])
def test_a_difference_of_what_a_function_gave(device, opt):
    """llvmpipe takes x * 0 for 0, also where the 0 is 1 - 1."""

    @lc.callable
    def one() -> lc.float32:
        return lc.float32(1.0)

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(t: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
        x = one()
        out[0] = lc.lerp(x, x, t[0])
        out[1] = (lc.float32(2.5) - lc.float32(2.5)) * t[0]
        out[2] = (x - 1.0) * t[1]

    out = lc.Buffer(3, lc.float32, device=device)
    run(lc.Buffer(np.float32([np.nan, np.inf]), device=device), out, dispatch_size=1)
    assert np.isnan(out.numpy()).all()


@lc.callable
def left_by_equality(n) -> lc.int32:
    w = 0
    while True:
        if w >= n:
            break
        w += 1
        if w == 0:
            return 5
    return w


@lc.callable
def left_by_truth(n) -> lc.int32:
    w = lc.int16(0)
    while True:
        if w >= n:
            break
        w += 1
        if lc.bool(w):
            pass
        else:
            return 5
    return w


@lc.callable
def left_by_match(n) -> lc.int32:
    w = 0
    while w < n:
        w += 1
        match w:
            case 0:
                return 5
            case 9:
                return 6
    return w


@lc.callable
def left_by_floats(n) -> lc.int32:
    w = lc.float32(0.0)
    while w < n:
        w += 1.0
        if w == 0.0:
            return 5
    return lc.int32(w)


LEFT = (left_by_equality, left_by_truth, left_by_match, left_by_floats)


@pytest.mark.parametrize("opt", [0, 1])
@pytest.mark.parametrize("turns", [2, 3])
@pytest.mark.parametrize("way", LEFT, ids=lambda f: f.__name__)
def test_loops_that_an_equality_might_end(device, way, turns, opt):
    """llvmpipe thought that i + 1 == 0 ends a loop at once."""

    @lc.kernel(block_size=1, opt=opt)
    def run(out: lc.Buffer[lc.int32]):
        out[0] = way(lc.static(turns))

    out = lc.Buffer(1, lc.int32, device=device)
    run(out, dispatch_size=1)
    assert out.numpy().tolist() == [turns]


def test_the_first_lane_of_a_sum(device):
    """llvmpipe's LLVM died of it."""

    @lc.kernel(block_size=8)
    def run(x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
        i = lc.dispatch_id().x
        out[2 * i] = lc.warp_read_first(x[i] + x[8]) + 1.0
        out[2 * i + 1] = lc.warp_read_first(x[i] * 2.0 - x[8]) * 3.0

    x, out = np.arange(1, 10, dtype=np.float32), lc.Buffer(16, lc.float32, device=device)
    try:
        run(lc.Buffer(x, device=device), out, dispatch_size=8)
    except lc.UnsupportedError as error:
        pytest.skip(str(error))
    width = device.limits["warp_size"] or 8
    first = x[:8][np.arange(8) // min(width, 8) * min(width, 8)]
    assert (
        out.numpy().tolist()
        == np.stack([first + x[8] + 1, (first * 2 - x[8]) * 3], 1).ravel().tolist()
    )


def test_fma_of_a_product_beyond_double_and_infinity(device):
    """Where fma is computed in double, the product overflowed, and infinity made NaN of it."""
    if not device.features["float64"]:
        pytest.skip("no double")

    @lc.kernel(block_size=8, math="strict")
    def run(a: lc.Buffer[lc.float64], c: lc.Buffer[lc.float64], out: lc.Buffer[lc.float64]):
        i = lc.dispatch_id().x
        out[i] = lc.fma(a[i], lc.float64(-1e19), c[i])

    inf, nan = np.inf, np.nan
    a = np.array([1e300, 1e300, inf, -inf, nan, 2.0, 1e300, 0.0])
    c = np.array([inf, -inf, inf, -inf, inf, 3.0, 1.0, inf])
    out = lc.Buffer(8, lc.float64, device=device)
    run(lc.Buffer(a, device=device), lc.Buffer(c, device=device), out, dispatch_size=8)
    want = np.array([inf, -inf, nan, nan, nan, -2e19 + 3.0, -inf, inf])
    np.testing.assert_array_equal(out.numpy(), want)


@pytest.mark.parametrize("opt", [0, 1])
def test_a_choice_between_known_masks(device, opt):
    """PoCL's LLVM died of it."""

    @lc.kernel(block_size=8, opt=opt)
    def run(c: lc.Buffer[lc.bool], n: lc.Buffer[lc.Array[lc.uint32, 4]], out: lc.Buffer[lc.int3]):
        i = lc.dispatch_id().x
        masks = lc.int3(lc.bool3() if c[i] else lc.bool3(True, False, False))
        at = lc.clamp(lc.int3(1, 0, 0), lc.int3(), masks)
        for _ in range(lc.uint32(0), n[i][lc.clamp(at.x, 0, 3)]):
            out[i] += at + masks

    n = lc.Buffer(8, lc.Array[lc.uint32, 4], device=device)
    n.upload(np.tile(np.arange(2, 6, dtype=np.uint32), (8, 1)))
    out = lc.Buffer(8, lc.int3, device=device)
    run(lc.Buffer(np.arange(8) % 3 == 0, device=device), n, out, dispatch_size=8)
    assert out.numpy()[:, 0].tolist() == [0 if i % 3 == 0 else 6 for i in range(8)]
    assert not out.numpy()[:, 1:].any()


@pytest.mark.parametrize("name", ["trunc", "round", "floor", "ceil"])
def test_doubles_rounded_to_integers(device, name):
    """llvmpipe without AVX-512 kept what is beyond 2^24 as it was, and lost the sign of zeros."""
    if not device.features["float64"]:
        pytest.skip("no double")
    function = getattr(lc, name)

    @lc.kernel(math="strict")
    def run(a: lc.Buffer[lc.float64], out: lc.Buffer[lc.float64], lanes: lc.Buffer[lc.double3]):
        i = lc.dispatch_id().x
        out[i] = function(a[i])
        lanes[i] = function(lc.double3(a[i], -a[i], a[i] * 0.5))

    least = np.nextafter(0.5, 0)
    ends = [0.0, 0.3, least, 0.5, 0.7, 1.5, 2.5, 3.5, 1e10 + 0.5, 2.0**51 + 0.5, 2.0**52 + 1, 1e300]
    a = np.array([*ends, np.inf, np.nan])
    a = np.concatenate([a, -a])
    out = lc.Buffer(len(a), lc.float64, device=device)
    lanes = lc.Buffer(len(a), lc.double3, device=device)
    run(lc.Buffer(a, device=device), out, lanes, dispatch_size=len(a))
    expected = getattr(np, {"round": "rint"}.get(name, name))
    for got, of in ((out.numpy(), a), (lanes.numpy(), np.stack([a, -a, a * 0.5], 1))):
        want = expected(of)
        assert np.array_equal(got, want, equal_nan=True)
        assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


@pytest.mark.parametrize("checks", [12, 100])
def test_many_checks_in_a_row(device, tmp_path, checks):
    """llvmpipe put what follows each into an else, and beyond 80 of them ran both sides."""
    lines = "\n".join(
        f"    out[i * {checks} + {k}] = a[i * {checks} + {k}] + {k}" for k in range(checks)
    )
    module = load_source(
        tmp_path,
        "found",
        f"""
import lcpy as lc

@lc.kernel(bounds="trap", block_size=8)
def run(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
{lines}
""",
    )
    a = np.arange(20 * checks, dtype=np.int32)
    out = lc.Buffer(len(a), lc.int32, device=device)
    module.run(lc.Buffer(a, device=device), out, dispatch_size=20)
    assert np.array_equal(out.numpy(), a + np.tile(np.arange(checks, dtype=np.int32), 20))
    short = lc.Buffer(a[:-1], device=device)
    with pytest.raises(lc.KernelTrap, match=f"index {len(a) - 1} is out of range"):
        module.run(short, out, dispatch_size=20)
        out.numpy()


def test_many_returns(device, tmp_path):
    lines = "\n".join(f"    if a == {k}:\n        return {k * 3}" for k in range(100))
    module = load_source(
        tmp_path,
        "found",
        f"""
import lcpy as lc

@lc.callable
def chosen(a: lc.int32) -> lc.int32:
{lines}
    return -1

@lc.kernel
def run(out: lc.Buffer[lc.int32]):
    i = lc.int32(lc.dispatch_id().x)
    out[i] = chosen(i) + 1000 * chosen(i + 1)
""",
    )
    out = lc.Buffer(120, lc.int32, device=device)
    module.run(out, dispatch_size=120)
    of = [k * 3 if k < 100 else -1 for k in range(121)]
    assert out.numpy().tolist() == [of[k] + 1000 * of[k + 1] for k in range(120)]


@pytest.mark.parametrize("outer, inner", [(20, 20), (50, 45)])
def test_nesting_through_calls(device, tmp_path, outer, inner):
    """Right, or refused by name: llvmpipe ran both sides of branches beyond 80 levels."""

    def nested(count, first, innermost):
        lines = [f"{'    ' * (k + 1)}if a[{first + k}] < i:" for k in range(count)]
        lines.append(f"{'    ' * (count + 1)}{innermost}")
        for k in reversed(range(count)):
            lines.append(f"{'    ' * (k + 1)}else:\n{'    ' * (k + 2)}r += {first + k}")
        return "\n".join(lines)

    module = load_source(
        tmp_path,
        "found",
        f"""
import lcpy as lc

@lc.callable
def within(a: lc.Buffer[lc.int32], i: lc.int32) -> lc.int32:
    r = 0
{nested(inner, 100, "r = 7")}
    return r

@lc.kernel(block_size=8)
def run(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    i = lc.int32(lc.dispatch_id().x) + 1
    r = 0
{nested(outer, 0, "r = within(a, i) + within(a, i + 1)")}
    out[i - 1] = r
""",
    )
    a = np.zeros(200, np.int32)
    a[100 + inner - 1] = 4  # the innermost branch of some threads
    out = lc.Buffer(8, lc.int32, device=device)
    try:
        module.run(lc.Buffer(a, device=device), out, dispatch_size=8)
    except lc.UnsupportedError as error:
        assert "calls counted, is 9" in str(error)
        return
    of = [7 if i > 4 else 100 + inner - 1 for i in range(10)]
    assert out.numpy().tolist() == [of[i] + of[i + 1] for i in range(1, 9)]


@pytest.mark.parametrize("opt", [0, 1])
def test_a_constant_that_comes_back_from_memory(device, opt):
    """llvmpipe took what was stored for what is read again: -1 + 1 was a zero that stays one."""

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def run(out: lc.Buffer[lc.float3], more: lc.Buffer[lc.float32]):
        out[1].y = -1.0
        out[1].y = (out[1].y + 1.0) / lc.float32(0.0)
        more[0] = 2.0
        more[1] = (more[0] - 2.0) * lc.bitcast(lc.float32, lc.uint32(0x7F800000))

    out, more = lc.Buffer(2, lc.float3, device=device), lc.Buffer(2, lc.float32, device=device)
    run(out, more, dispatch_size=1)
    assert np.isnan(out.numpy()[1]).tolist() == [False, True, False]
    assert np.isnan(more.numpy()).tolist() == [False, True]
