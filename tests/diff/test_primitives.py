"""The primitives on every device against NumPy, at sizes around their tiles."""

import numpy as np
import pytest

import lcpy as lc
from lcpy import primitives

SIZES = [0, 1, 2, 255, 256, 257, 2047, 2048, 2049, 5000, 70001]
REDUCE = {"sum": np.sum, "product": np.prod, "min": np.min, "max": np.max}
ACCUMULATE = {"sum": np.cumsum, "product": np.cumprod}
ACCUMULATE |= {"min": np.minimum.accumulate, "max": np.maximum.accumulate}


def numbers(n, dtype, seed=1):
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return random.integers(-8, 8, n).astype(dtype)  # sums of these are exact in any order
    return random.integers(0, 100, n).astype(dtype)


@pytest.mark.parametrize("n", SIZES)
def test_sum(n, device):
    for dtype in ("float32", "int32"):
        a = numbers(n, dtype)
        got = primitives.reduce(lc.Buffer(a, device=device))
        assert got == a.sum(dtype=dtype) and got.dtype == dtype


@pytest.mark.parametrize("op", REDUCE)
@pytest.mark.parametrize("dtype", ["float32", "uint32", "int64", "float64"])
def test_reduce(op, dtype, device):
    a = numbers(5000, dtype)
    if op == "product":
        a = np.where(np.arange(5000) % 500 == 3, 2, 1).astype(dtype)
    got = primitives.reduce(lc.Buffer(a, device=device), op)
    assert got == REDUCE[op](a).astype(dtype)


def test_sums_are_the_same_bits_everywhere(other_device, cpu):
    a = np.random.default_rng(3).random(70001, np.float32)
    sums = [primitives.reduce(lc.Buffer(a, device=d)) for d in (other_device, cpu)]
    assert sums[0].tobytes() == sums[1].tobytes()
    assert abs(float(sums[0]) - a.sum(dtype=np.float64)) < 0.05


@pytest.mark.parametrize("n", SIZES)
def test_scan(n, device):
    for dtype in ("int32", "float32"):
        a = numbers(n, dtype)
        source = lc.Buffer(a, device=device)
        inclusive = np.cumsum(a, dtype=dtype)
        assert (primitives.inclusive_scan(source).numpy() == inclusive).all()
        assert (primitives.exclusive_scan(source).numpy() == inclusive - a).all()


@pytest.mark.parametrize("op", ACCUMULATE)
def test_scan_ops(op, device):
    a = numbers(4099, "int64") if op != "product" else np.full(4099, 3, np.int64)
    source = lc.Buffer(a, device=device)
    want = ACCUMULATE[op](a)
    assert (primitives.inclusive_scan(source, op=op).numpy() == want).all()
    assert (primitives.exclusive_scan(source, op=op).numpy()[1:] == want[:-1]).all()
    primitives.inclusive_scan(source, source, op=op)
    assert (source.numpy() == want).all()


@pytest.mark.parametrize("bins", [1, 7, 256, 5000])
@pytest.mark.parametrize("n", [0, 1, 300, 20001])
def test_histogram(n, bins, device):
    values = np.random.default_rng(6).integers(-3, bins + 3, n).astype(np.int32)
    got = primitives.histogram(lc.Buffer(values, device=device), bins).numpy()
    inside = values[(values >= 0) & (values < bins)]
    assert (got == np.bincount(inside, minlength=bins)).all() and got.dtype == np.uint32


def test_histogram_of_bytes(device):
    values = (np.arange(10000) * 31 % 251).astype(np.uint8)
    got = primitives.histogram(lc.Buffer(values, device=device), 256).numpy()
    assert (got == np.bincount(values, minlength=256)).all()


@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (17, 5), (5, 20), (100, 33), (0, 4)])
def test_transpose(shape, device):
    a = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    assert (primitives.transpose(lc.Buffer(a, device=device)).numpy() == a.T).all()
    rows = np.arange(np.prod(shape) * 3, dtype=np.float32).reshape(*shape, 3)
    got = primitives.transpose(lc.Buffer(rows, lc.float3, device=device)).numpy()
    assert (got == rows.swapaxes(0, 1)).all()


@pytest.mark.parametrize(
    "size",
    [(1, 1, 1), (64, 64, 16), (65, 63, 17), (3, 130, 70), (128, 5, 33), (4, 4, 0), (0, 3, 2)],
)
def test_gemm(size, device):
    m, n, k = size
    for dtype in ("float32", "int32"):
        a, b = numbers(m * k, dtype).reshape(m, k), numbers(k * n, dtype, 2).reshape(k, n)
        got = primitives.gemm(lc.Buffer(a, device=device), lc.Buffer(b, device=device)).numpy()
        assert got.shape == (m, n) and (got == a @ b).all()


def test_fill(device):
    a = lc.Buffer(1000, lc.float3, device=device)
    primitives.fill(a, (1.0, 2.0, 3.0))
    assert (a.numpy() == [1, 2, 3]).all()
    b = lc.Buffer(0, lc.int8, device=device)
    primitives.fill(b, -4)
    b = lc.Buffer(77, lc.int8, device=device)
    primitives.fill(b, -4)
    assert (b.numpy() == -4).all()


def test_wrong_arguments(cpu):
    a = lc.Buffer(10, lc.float32, device=cpu)
    with pytest.raises(lc.ArgumentError, match="op"):
        primitives.reduce(a, "mean")
    with pytest.raises(lc.ArgumentError, match="elements"):
        primitives.inclusive_scan(a, lc.Buffer(9, lc.float32, device=cpu))
    with pytest.raises(lc.ArgumentError, match="bins"):
        primitives.histogram(lc.Buffer(10, lc.int32, device=cpu), 0)
    square = lc.Buffer((4, 5), lc.float32, device=cpu)
    with pytest.raises(lc.ArgumentError, match="shape"):
        primitives.gemm(square, square)
