"""Literal zeros that reach an operation by a detour, which drivers simplify by; narrow choices."""

import numpy as np
import pytest

import lcpy as lc

X = np.float64([-1.0, 2.0, -0.0, 0.0])


def bits(a):
    return a.view(f"u{a.dtype.itemsize}").tolist()


# A literal beside a value of another thread's: one of the operands is the same in all lanes.


@lc.kernel(block_size=8, math="strict")
def extremes(x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32, 2]):
    i = lc.dispatch_id().x
    out[i, 0] = lc.min(lc.float32(-0.0), x[i])
    out[i, 1] = lc.min(x[i], -0.0)
    out[i, 2] = lc.max(lc.float32(0.0), x[i])
    out[i, 3] = lc.max(x[i], -0.0)
    out[i, 4] = lc.clamp(lc.float32(-0.0), -0.0, x[i])


@pytest.mark.parametrize("isa", ["", "baseline", "avx2", "avx512"])
def test_extremes(device, isa, monkeypatch):
    if isa and device.kind != "cpu":
        pytest.skip("instruction sets are the cpu device's")
    x = np.float32([-0.0, 0.0, 3.0, -3.0])
    out = lc.Buffer((4, 5), lc.float32, device=device)
    if isa:
        monkeypatch.setattr(device, "isa", isa)
    kernel = lc.kernel(block_size=8, math="strict")(extremes.function)
    try:
        kernel(lc.Buffer(x, device=device), out, dispatch_size=4)
    except lc.ArgumentError as error:
        pytest.skip(str(error))  # the processor lacks it
    want = np.float32(
        [
            [-0.0, -0.0, 0.0, -0.0, -0.0],
            [-0.0, -0.0, 0.0, 0.0, -0.0],
            [-0.0, -0.0, 3.0, 3.0, -0.0],
            [-3.0, -3.0, 0.0, -0.0, -3.0],
        ]
    )
    assert bits(out.numpy()) == bits(want)


# Zeros through vectors, memory, loops, choices.


@lc.kernel(math="strict")
def detours(x: lc.Buffer[lc.float64], out: lc.Buffer[lc.float64, 2]):
    i = lc.dispatch_id().x
    zeros = lc.double3()
    a = lc.Array[lc.float64, 2]()
    a[i % 2] = 5.0
    carried = lc.float64(0.0)
    for k in range(i):
        carried = 0.0 if k < 9 else 1.0
    m = lc.outer(zeros, lc.double3(x[i], 1.0, 2.0))
    out[i, 0] = m[0][1]
    out[i, 1] = (zeros - lc.double3(x[i])).y
    out[i, 2] = x[i] * a[1 - i % 2]
    out[i, 3] = carried - x[i]
    out[i, 4] = x[i] * -0.0


def test_detours(device):
    out = lc.Buffer((4, 5), lc.float64, device=device)
    try:
        detours(lc.Buffer(X, device=device), out, dispatch_size=4)
    except lc.UnsupportedError as error:
        pytest.skip(str(error))
    want = np.stack([0.0 * X, 0.0 - X, X * 0.0, 0.0 - X, X * -0.0], axis=1)
    assert bits(out.numpy()) == bits(want)


# Narrow integers chosen by a bool: a C compiler makes an int of the choice.


@lc.kernel
def narrow(x: lc.Buffer[lc.int8], out: lc.Buffer[lc.int8, 2], bytes: lc.Buffer[lc.uint8]):
    i = lc.dispatch_id().x
    out[i, 0] = lc.min(lc.int8(0), lc.int8(x[i] > 2))
    out[i, 1] = lc.max(x[i], lc.int8(1) if x[i] < 0 else lc.int8(3))
    bytes[i] = lc.bitcast(lc.uint8, x[i] // lc.int8(0) if x[i] > 2 else x[i])


def test_narrow(device):
    x = np.int8([-2, 1, 3])
    out, other = lc.Buffer((3, 2), lc.int8, device=device), lc.Buffer(3, lc.uint8, device=device)
    narrow(lc.Buffer(x, device=device), out, other, dispatch_size=3)
    assert out.numpy().tolist() == [[0, 1], [0, 3], [0, 3]]
    assert other.numpy().tolist() == [254, 1, 0]


# Zeros that were integers: what is known of those is known of the floats.


@lc.kernel(math="strict")
def from_integers(n: lc.Buffer[lc.int32], x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32, 2]):
    i = lc.dispatch_id().x
    out[i, 0] = x[i] / lc.float32(n[i] // 0)
    out[i, 1] = lc.float32(n[0] & 0) / lc.float32(n[i])
    out[i, 2] = x[i] * lc.float32(n[i] - n[i])
    out[i, 3] = x[i] * lc.float32(n[i] < n[i])
    out[i, 4] = x[i] * lc.bitcast(lc.float32, n[i] // 0)
    out[i, 5] = (lc.float3(lc.int3()) / lc.float3(lc.int3(n[i]))).y


def test_from_integers(device):
    n, x = np.int32([0, 1, -2, 0]), np.float32([1.0, -1.0, np.inf, 0.0])
    out = lc.Buffer((4, 6), lc.float32, device=device)
    from_integers(lc.Buffer(n, device=device), lc.Buffer(x, device=device), out, dispatch_size=4)
    with np.errstate(all="ignore"):
        zero = np.float32(0)
        quotient = zero / n.astype(np.float32)
        product = x * zero
        want = np.stack([x / zero, quotient, product, product, product, quotient], axis=1)
    got = out.numpy()
    same = (got.view("u4") == want.view("u4")) | (np.isnan(got) & np.isnan(want))
    assert same.all(), f"{got}, not {want}"
