"""What NVIDIA's OpenCL C gets: the machine's addition of floats by PTX, where that means the same;
short loops unrolled; buffers that are apart."""

import pytest

import lcpy as lc
from lcpy._native import core

PTX = "atom.global.add.f32"


def kernel(math):
    @lc.kernel(block_size=64, math=math)
    def add(a: lc.Buffer[lc.float3], b: lc.Buffer[lc.float64]):
        s = lc.shared(lc.float32, 4)
        lc.atomic_add(s[0], 1.0)
        lc.atomic_max(a[0].x, 1.0)
        lc.atomic_add(b[0], 1.0)
        lc.sync_block()
        lc.atomic_add(a[0].y, s[0])
        a[1].x = lc.atomic_sub(a[2].x, 2.0)

    return add.descriptor(lc.Buffer[lc.float3], lc.Buffer[lc.float64])


@pytest.mark.parametrize("math", ["ieee", "fast", "strict"])
def test_only_for_global_floats_and_not_in_strict(math):
    """The machine's addition flushes denormals, which strict keeps."""
    text = core.emit_opencl(kernel(math), ptx=True)
    assert text.count(PTX) == (0 if math == "strict" else 2)  # added and subtracted
    assert PTX not in core.emit_opencl(kernel(math))
    without = text.replace("asm volatile", "")
    assert without.count("cmpxchg") >= 3  # shared memory, maxima and doubles by compare-and-swap


def test_short_loops_are_unrolled_there():
    @lc.kernel(block_size=64)
    def short(a: lc.Buffer[lc.float32]):
        for i in range(4):
            a[lc.dispatch_id().x] += lc.float32(i)

    @lc.kernel(block_size=64)
    def left(a: lc.Buffer[lc.float32]):
        for i in range(4):
            if a[i] > 2.0:
                break
            a[lc.dispatch_id().x] += lc.float32(i)

    descriptor = short.descriptor(lc.Buffer[lc.float32])
    assert "for (" not in core.emit_opencl(descriptor, ptx=True)
    assert "for (" in core.emit_opencl(descriptor)
    assert "#pragma" not in core.emit_opencl(descriptor)
    descriptor = left.descriptor(lc.Buffer[lc.float32])
    assert "#pragma unroll\n" in core.emit_opencl(descriptor, ptx=True)


def test_three_lanes_are_read_as_four():
    @lc.kernel(block_size=64)
    def copy(a: lc.Buffer[lc.float3], b: lc.Buffer[lc.float3]):
        i = lc.dispatch_id().x
        b[i] = a[i]

    descriptor = copy.descriptor(lc.Buffer[lc.float3], lc.Buffer[lc.float3])
    assert "const float4*)&g0_a[" in core.emit_opencl(descriptor, ptx=True)
    assert "float4" not in core.emit_opencl(descriptor)


def test_buffers_that_meet_get_a_kernel_without_restrict():
    """Forced on whatever device is here."""
    from lcpy.run.device import discover

    infos, reason = discover("opencl")
    if not infos:
        pytest.skip(reason)
    from lcpy.run.opencl import OpenclDevice

    device = OpenclDevice(infos[0])
    device.restricts = True

    @lc.kernel(block_size=64)
    def shift(a: lc.Buffer[lc.float32], b: lc.Buffer[lc.float32]):
        i = lc.dispatch_id().x
        b[i] = a[i] + 1.0
        b[i] += a[i]

    x = lc.Buffer([1.0] * 64, lc.float32, device=device)
    y = lc.Buffer(64, lc.float32, device=device)
    for _ in range(2):
        shift(x, y, dispatch_size=64)
        assert (y.numpy() == 3).all()
    executable = shift._last.executable
    assert executable.restrict and executable.unrestricted is None
    for want in (4, 10):
        shift(x, x, dispatch_size=64)
        assert (x.numpy() == want).all()
    assert not executable.unrestricted.restrict
