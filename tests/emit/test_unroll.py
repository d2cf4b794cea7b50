"""Short loops written out (native/lower/unroll.cpp): what becomes of them, what stays a loop, and
that it makes no difference."""

import numpy as np
import pytest

import lcpy as lc
from lcpy._native import core

TABLE = [(1.0, 2.0, 4.0), (-3.0, 5.0, 0.25), (7.0, -8.0, 0.5)]
POINTS = [lc.float3(*row) for row in TABLE]
I, F = lc.int32, lc.float32  # noqa: E741


@lc.kernel(block_size=32, math="strict")
def table(a: lc.Buffer[F], out: lc.Buffer[F]):
    i = lc.dispatch_id().x
    nearest = F(1e9)
    for k in range(3):
        d = lc.abs(POINTS[k].x - a[i]) * POINTS[k].z
        if d < nearest:
            nearest = d
    out[i] = nearest


@lc.kernel(block_size=32)
def nested(a: lc.Buffer[I], out: lc.Buffer[I]):
    i = lc.dispatch_id().x
    total = 0
    for y in range(-1, 2):
        for x in range(3, 9, 2):
            total += a[i] * x + y
    out[i] = total


@lc.kernel(block_size=32)
def carried(a: lc.Buffer[I], out: lc.Buffer[I]):
    """Values that change places, an inner loop of unknown length, and one that is left."""
    i = lc.dispatch_id().x
    x, y = a[i], I(1)
    for k in range(4):
        x, y = y, x + k
        for _ in range(a[i] & 3):
            y += 1
        while True:
            y ^= 4
            if y & 1 == 1:
                break
            y += 1
    out[i] = x * 1000 + y


@lc.kernel(block_size=32)
def arrays(a: lc.Buffer[I], out: lc.Buffer[I]):
    i = lc.dispatch_id().x
    local = lc.Array[I, 4]()
    for k in range(4):
        local[k] = a[i] + k
    for k in range(3):
        local[k + 1] -= local[k]
    out[i] = local[3]


KERNELS = [(table, F), (nested, I), (carried, I), (arrays, I)]


def loops(kernel, T, **target):
    descriptor = kernel.descriptor(lc.Buffer[T], lc.Buffer[T])
    return core.emit_opencl(descriptor, **target).count("for (;;)")


@pytest.mark.parametrize(("kernel", "T"), KERNELS, ids=lambda v: getattr(v, "__name__", ""))
def test_same_values(kernel, T):
    """On a Vulkan device that is told to."""
    from lcpy.run.device import discover

    infos, reason = discover("vulkan")
    if not infos:
        pytest.skip(reason)
    from lcpy.run.vulkan.device import VulkanDevice

    values = np.arange(-40, 60).astype(T.dtype)
    results = []
    for unroll in (None, False, True):
        device = lc.Device("cpu") if unroll is None else VulkanDevice(infos[0])
        if unroll is not None:
            device.target["unroll_short_loops"] = unroll
        out = lc.Buffer(len(values), T, device=device)
        kernel(lc.Buffer(values, device=device), out, dispatch_size=len(values))
        results.append(out.numpy())
    assert (results[1] == results[0]).all() and (results[2] == results[0]).all()


def test_what_is_written_out():
    assert [loops(k, T) for k, T in KERNELS] == [1, 2, 3, 2]
    assert [loops(k, T, ptx=True) for k, T in KERNELS] == [0, 0, 8, 0]


def test_a_table_becomes_literals():
    types = lc.Buffer[F], lc.Buffer[F]
    text = core.emit_opencl(table.descriptor(*types), ptx=True)
    assert "__constant" not in text and "3.0f" in text


def counted(begin, end, step):
    @lc.kernel(block_size=32)
    def kernel(out: lc.Buffer[I]):
        for k in range(begin, end, step):
            out[lc.dispatch_id().x] += k

    return core.emit_opencl(kernel.descriptor(lc.Buffer[I]), ptx=True).count("for (;;)")


def test_limits():
    assert counted(0, 16, 1) == 0
    assert counted(0, 17, 1) == 1
    assert counted(0, 32, 2) == 0

    @lc.kernel(block_size=32)
    def long_turns(a: lc.Buffer[F]):
        for k in range(8):
            x = a[k]
            for _ in range(8):
                x = lc.sin(x) + lc.cos(x) * x - lc.exp(x) / (x + 1.0)
                x = x * x - 3.0 * x + lc.sqrt(x) + lc.atan(x) * lc.tanh(x)
            a[k] = x

    text = core.emit_opencl(long_turns.descriptor(lc.Buffer[F]), ptx=True)
    assert text.count("for (;;)") == 1  # the inner one is written out


def test_a_counter_that_would_wrap_around():
    @lc.kernel(block_size=32)
    def kernel(out: lc.Buffer[I]):
        k = lc.int8(100)
        while k < lc.int8(127):
            out[0] += 1
            k += lc.int8(25)
            if out[0] > 5:
                break

    @lc.kernel(block_size=32)
    def plain(out: lc.Buffer[I]):
        k = lc.int8(100)
        while k < lc.int8(127):
            out[0] += 1
            k += lc.int8(25)

    for k in (kernel, plain):
        assert "for (;;)" in core.emit_opencl(k.descriptor(lc.Buffer[I]), ptx=True)
