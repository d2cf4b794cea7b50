"""Division and square root on a Vulkan device that does them only roughly, as GPUs do: the core's
own steps, forced here on whatever device there is, against NumPy."""

import numpy as np
import pytest

import lcpy as lc

F = lc.float32
TINY = np.finfo(np.float32).tiny


@pytest.fixture(scope="module", params=[False, True], ids=["loose", "close"])
def rough(request):
    """`close` takes the steps that are enough for NVIDIA's reciprocals, and for exact ones."""
    from lcpy.run import vulkan

    infos = [d for d in lc.devices() if d.kind == "vulkan"]
    if not infos:
        pytest.skip("no Vulkan device")
    device = vulkan.open_device(infos[0])
    target = device.target
    if request.param and not any(
        target.get(name) for name in ("exact_division", "close_reciprocals")
    ):
        pytest.skip("this device's reciprocals are looser")
    target.update(exact_division=False, close_reciprocals=request.param)
    return device


def operands(rng, n):
    """Pairs of all magnitudes, near each other, of moderate size, of the hardest divisor, with
    denormal quotients, and of edges."""
    a, b = rng.integers(0, 1 << 32, (2, n), dtype=np.uint64).astype(np.uint32)
    moderate = rng.integers(67, 187, n).astype(np.uint32) << 23
    a[: n // 2] = (a[: n // 2] & 0x807FFFFF) | moderate[: n // 2]
    b[: n // 4] = a[: n // 4] + rng.integers(0, 9, n // 4).astype(np.uint32) - 4
    b[n // 4 : n // 2] = (b[n // 4 : n // 2] & 0x807FFFFF) | moderate[::-1][n // 4 : n // 2]
    b[:300] = 0x3FFFFFFF
    a[:30] = np.arange(30, dtype=np.uint32) + 112 << 23
    edges = np.float32([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 3e38, -1.2e-38, 7, 1e-45, -1e-40])
    count = len(edges) ** 2
    a[-count:] = np.repeat(edges, len(edges)).view(np.uint32)
    b[-count:] = np.tile(edges, len(edges)).view(np.uint32)
    a, b = a.view(np.float32), b.view(np.float32)
    part = slice(n // 2, n // 2 + n // 8)
    small = (rng.random(n // 8) + 1) * 2.0 ** rng.integers(-149, -125, n // 8)
    b[part] = (rng.random(n // 8) + 1) * 2.0 ** rng.integers(-20, 127, n // 8)
    with np.errstate(all="ignore"):
        a[part] = b[part] * small
    b[part][::9] = (rng.random(len(b[part][::9])) + 1) * 2.0**126
    return a, b


def check(device, rows):
    """(what, got, want, operands that may be flushed with a denormal result): the same bits."""
    keeps = device.features["denormals"]
    for what, got, want, given in rows:
        same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
        if not keeps:
            for x in (want, *given):
                same |= (x != 0) & (np.abs(x) < TINY)
        wrong = np.flatnonzero(~same)
        faults = [(*(x[i] for x in given), got[i], want[i]) for i in wrong[:4]]
        assert not len(wrong), (what, len(wrong), faults)


@pytest.mark.parametrize("T, lanes", [(F, 1), (lc.float3, 3)])
def test_rounded_as_ieee_says(rough, T, lanes):
    @lc.kernel(math="strict")
    def k(a: lc.Buffer[T], b: lc.Buffer[T], q: lc.Buffer[T], r: lc.Buffer[T]):
        i = lc.dispatch_id().x
        q[i] = a[i] / b[i]
        r[i] = lc.sqrt(a[i])

    n = 60000
    a, b = operands(np.random.default_rng(7), n)
    shape = (n // 3, 3) if lanes == 3 else (n,)
    made = [lc.Buffer(x.reshape(shape), T, device=rough) for x in (a, b)]
    q, r = (lc.Buffer(shape[0], T, device=rough) for _ in range(2))
    k(*made, q, r, dispatch_size=shape[0])
    with np.errstate(all="ignore"):
        quotient, root = a / b, np.sqrt(a)
    check(
        rough, [("/", q.numpy().ravel(), quotient, (a, b)), ("sqrt", r.numpy().ravel(), root, (a,))]
    )


def hard_operands(rng, n):
    """Pairs whose quotient is as close to the middle between two floats as one can be: of integers
    A, B of 24 bits and an odd M of 25, A 2^s = M B + k for a small k."""
    a, b = [], []
    for shift in (24, 25):
        B = rng.integers(1 << 22, 1 << 23, n).astype(np.uint64) * 2 + 1
        inverse = B.copy()
        for _ in range(5):
            inverse *= 2 - B * inverse  # Newton's, of integers modulo 2^64
        for k in (-3, -2, -1, 1, 2, 3):
            M = (np.uint64(-k % (1 << 64)) * inverse) & np.uint64((1 << shift) - 1)
            M = np.where(M < 1 << 24, M + np.uint64(1 << shift), M)
            A = (M * B + np.uint64(k % (1 << 64))) >> np.uint64(shift)
            fits = (M < 1 << 25) & (A >= 1 << 23) & (A < 1 << 24)
            a.append(A[fits])
            b.append(B[fits])
    a, b = (np.concatenate(x).astype(np.float32) for x in (a, b))
    return np.ldexp(a, rng.integers(-60, 60, len(a))), np.ldexp(b, rng.integers(-60, 30, len(b)))


def test_quotients_next_to_the_middle_of_two_floats(rough):
    @lc.kernel(math="strict")
    def k(a: lc.Buffer[F], b: lc.Buffer[F], q: lc.Buffer[F]):
        i = lc.dispatch_id().x
        q[i] = a[i] / b[i]

    a, b = hard_operands(np.random.default_rng(11), 100_000)
    assert len(a) > 300_000
    q = lc.Buffer(len(a), F, device=rough)
    k(lc.Buffer(a, device=rough), lc.Buffer(b, device=rough), q, dispatch_size=len(a))
    check(rough, [("/", q.numpy(), a / b, (a, b))])


DIVISORS = [3.0, -48.0, 0.1, 1.9999998807907104, 1e30, 1e-30, float("inf"), 0.0, 1e38, 1e-40]


@pytest.mark.parametrize("divisor", DIVISORS)
def test_constants(rough, divisor):
    d = np.float32(divisor)
    v = lc.float3(divisor, 7.0, -0.3)

    @lc.kernel(math="strict")
    def k(a: lc.Buffer[F], q: lc.Buffer[F], r: lc.Buffer[F], w: lc.Buffer[lc.float3]):
        i = lc.dispatch_id().x
        q[i] = a[i] / d
        r[i] = 1.0 / a[i]
        w[i] = lc.float3(a[i], 1.0, a[i]) / v

    n = 30000
    a, _ = operands(np.random.default_rng(9), n)
    q, r = (lc.Buffer(n, F, device=rough) for _ in range(2))
    w = lc.Buffer(n, lc.float3, device=rough)
    k(lc.Buffer(a, device=rough), q, r, w, dispatch_size=n)
    third = np.float32(-0.3)
    with np.errstate(all="ignore"):
        wanted = [a / d, np.float32(1) / a, a / third]
    given = [q.numpy(), r.numpy(), np.ascontiguousarray(w.numpy()[:, 2])]
    divisors = [np.full(n, d), np.ones(n, np.float32), np.full(n, third)]
    check(rough, [("/", g, x, (a, b)) for g, x, b in zip(given, wanted, divisors)])


def test_every_significand(rough):
    """Of reciprocals, roots and reciprocals of roots, whose exponent is odd or even."""

    @lc.kernel(math="strict")
    def k(r: lc.Buffer[F], s: lc.Buffer[F], t: lc.Buffer[F]):
        i = lc.dispatch_id().x
        x = lc.bitcast(F, 0x3F800000 + i)
        r[i] = 1.0 / x
        s[i] = lc.sqrt(x)
        t[i] = 1.0 / lc.sqrt(x)

    n = 1 << 24
    r, s, t = (lc.Buffer(n, F, device=rough) for _ in range(3))
    k(r, s, t, dispatch_size=n)
    x = (np.arange(n, dtype=np.uint32) + 0x3F800000).view(np.float32)
    one, root = np.float32(1), np.sqrt(x)
    rows = [("1/x", r, one / x), ("sqrt", s, root), ("1/sqrt", t, one / root)]
    check(rough, [(what, got.numpy(), want, (x,)) for what, got, want in rows])


@pytest.mark.parametrize("divisor", [3.0e9, 3.0, 0.1, -7.0e-300])
def test_doubles_by_a_constant(rough, divisor):
    """A driver that multiplies by the rounded reciprocal is off by a place."""
    if not rough.features["float64"]:
        pytest.skip("no float64")
    v = lc.double2(divisor, 7.0)

    @lc.kernel(math="strict")
    def k(a: lc.Buffer[lc.float64], q: lc.Buffer[lc.float64], w: lc.Buffer[lc.double2]):
        i = lc.dispatch_id().x
        q[i] = a[i] / divisor
        w[i] = lc.double2(a[i], a[i]) / v

    a = np.random.default_rng(5).random(20000) * 10.0 ** np.repeat(np.arange(-10, 10), 1000)
    q, w = (lc.Buffer(len(a), T, device=rough) for T in (lc.float64, lc.double2))
    k(lc.Buffer(a, device=rough), q, w, dispatch_size=len(a))
    assert (q.numpy() == a / divisor).all()
    assert (w.numpy() == np.stack([a / divisor, a / 7.0], 1)).all()


@pytest.mark.parametrize("opt", [0, 1])
def test_doubles_by_constants(rough, opt):
    """What is hidden twice stays hidden: llvmpipe hides the zeros, the division all constants."""
    if not rough.features["float64"]:
        pytest.skip("no double")

    @lc.kernel(block_size=1, math="strict", opt=opt)
    def divide(x: lc.Buffer[lc.double3], out: lc.Buffer[lc.double3]):
        out[0] = x[0] / lc.uint3()
        out[1] = x[0] / lc.double3(3.0, -0.0, 0.1)
        out[2] = x[0] / 0.0

    x = np.array([[-2.5, 7.0, 0.0]])
    source, out = (lc.Buffer(n, lc.double3, device=rough) for n in (1, 3))
    source.upload(x)
    divide(source, out, dispatch_size=1)
    with np.errstate(all="ignore"):
        want = np.stack([x[0] / 0.0, x[0] / [3.0, -0.0, 0.1], x[0] / 0.0])
    np.testing.assert_array_equal(out.numpy(), want)
