"""NVIDIA's OpenCL C gets the machine's addition of floats by PTX, where that means the same."""

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
