"""Division and square root on a Vulkan device that does them only roughly, as GPUs do: the core's
own steps, forced here on whatever device there is, against NumPy."""

import numpy as np
import pytest

import lcpy as lc


@pytest.fixture(scope="module")
def rough():
    from lcpy.run import vulkan

    infos = [d for d in lc.devices() if d.kind == "vulkan"]
    if not infos:
        pytest.skip("no Vulkan device")
    device = vulkan.open_device(infos[0])
    device.target["exact_division"] = False
    return device


def operands(rng, n):
    """Pairs of all magnitudes, near each other, of moderate size, and of the hardest divisor."""
    a, b = rng.integers(0, 1 << 32, (2, n), dtype=np.uint64).astype(np.uint32)
    moderate = rng.integers(67, 187, n).astype(np.uint32) << 23
    a[: n // 2] = (a[: n // 2] & 0x807FFFFF) | moderate[: n // 2]
    b[: n // 4] = a[: n // 4] + rng.integers(0, 9, n // 4).astype(np.uint32) - 4
    b[n // 4 : n // 2] = (b[n // 4 : n // 2] & 0x807FFFFF) | moderate[::-1][n // 4 : n // 2]
    b[:300] = 0x3FFFFFFF
    a[:30] = np.arange(30, dtype=np.uint32) + 112 << 23
    edges = np.float32([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 3e38, -1.2e-38, 7]).view(np.uint32)
    a[-100:], b[-100:] = np.repeat(edges, 10), np.tile(edges, 10)
    return a.view(np.float32), b.view(np.float32)


@pytest.mark.parametrize("T, lanes", [(lc.float32, 1), (lc.float3, 3)])
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

    def denormal(x):
        return (x != 0) & (np.abs(x) < np.finfo(np.float32).tiny)

    with np.errstate(all="ignore"):
        quotient, root = a / b, np.sqrt(a)
    # Denormals may be flushed by the device.
    for got, want, skip in [
        (q.numpy().ravel(), quotient, denormal(a) | denormal(b) | denormal(quotient)),
        (r.numpy().ravel(), root, denormal(a)),
    ]:
        same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
        wrong = np.flatnonzero(~(same | skip))
        assert not len(wrong), [(a[i], b[i], got[i], want[i]) for i in wrong[:4]]


DIVISORS = [3.0, -48.0, 0.1, 1.9999998807907104, 1e30, 1e-30, float("inf"), 0.0]


@pytest.mark.parametrize("divisor", DIVISORS)
def test_constants(rough, divisor):
    d = np.float32(divisor)
    v = lc.float3(divisor, 7.0, -0.3)

    @lc.kernel(math="strict")
    def k(
        a: lc.Buffer[lc.float32], q: lc.Buffer[lc.float32], r: lc.Buffer[lc.float32],
        w: lc.Buffer[lc.float3],
    ):  # fmt: skip
        i = lc.dispatch_id().x
        q[i] = a[i] / d
        r[i] = 1.0 / a[i]
        w[i] = lc.float3(a[i], 1.0, a[i]) / v

    n = 30000
    a, _ = operands(np.random.default_rng(9), n)
    q, r = (lc.Buffer(n, lc.float32, device=rough) for _ in range(2))
    w = lc.Buffer(n, lc.float3, device=rough)
    k(lc.Buffer(a, device=rough), q, r, w, dispatch_size=n)
    with np.errstate(all="ignore"):
        wanted = [a / d, np.float32(1) / a, a / np.float32(-0.3)]
    given = [q.numpy(), r.numpy(), np.ascontiguousarray(w.numpy()[:, 2])]
    tiny = np.finfo(np.float32).tiny
    for got, want in zip(given, wanted):
        same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
        flushed = (np.abs(a) < tiny) | (np.abs(want) < tiny)
        wrong = np.flatnonzero(~(same | flushed))
        assert not len(wrong), [(a[i], got[i], want[i]) for i in wrong[:4]]
