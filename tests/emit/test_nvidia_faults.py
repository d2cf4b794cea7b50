"""What NVIDIA's compilers get wrong, and how the text keeps them from it."""

import re

import pytest

import lcpy as lc
from lcpy._native import core
from lcpy.errors import DeviceError
from lcpy.run import nvrtc

FLAGS, FLOATS = lc.Buffer[lc.bool], lc.Buffer[lc.float32]
ARCHITECTURES = (75, 90, 100, 120)


def choosing(math):
    @lc.kernel(block_size=64, math=math)
    def choose(c: FLAGS, x: FLOATS, out: FLOATS):
        i = lc.dispatch_id().x
        v = lc.float32(0.0)
        if c[i]:
            v = 1.0
        lanes = lc.float2(0.0, x[i]) if c[i + 1] else lc.float2(1.0, x[i + 2])
        a = lc.array(lc.float32(1.0), x[i])
        if c[i + 2]:
            a = lc.array(lc.float32(0.0), x[i + 3])
        out[i] = -lc.float32(c[i + 3])
        out[i + 1] = lc.float32(c[i + 4]) * -2.0 * 0.5
        out[i + 2] = -1.0 if c[i + 5] else -0.0
        out[i + 3] = -v
        out[i + 4] = -lanes.x
        out[i + 5] = -a[0]
        out[i + 6] = lc.float32(-lc.float64(lc.float32(c[i + 6])))
        out[i + 7] = -(0.0 if i < 3 else 1.0 if i >= 3 else 2.0)
        out[i + 8] = -(lc.float32(c[i + 7]) * lc.float32(c[i + 8]))
        out[i + 9] = -lc.select(lc.float2(x[i]) < lc.float2(1.0, 2.0), 0.0, lc.float2(1.0)).y

    return choose.descriptor(FLAGS, FLOATS, FLOATS)


@pytest.fixture(scope="module")
def compiler():
    try:
        return nvrtc.compiler()
    except DeviceError as error:
        pytest.skip(str(error))


def ptx(compiler, descriptor, arch, **how):
    if arch not in compiler.architectures:
        pytest.skip(f"this NVRTC does not know sm_{arch}")
    text = core.emit_cuda(descriptor, **how)
    options = core.cuda_build_options(descriptor).split()
    return compiler.compile(text, "kernel", options, arch, "ptx").decode()


@pytest.mark.parametrize("restrict", [False, True])
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("math", ["strict", "ieee"])
def test_no_float_is_chosen_of_minus_zero_and_minus_one(compiler, math, arch, restrict):
    """ptxas makes an integer of that choice and converts it: the zero loses its sign."""
    text = ptx(compiler, choosing(math), arch, restrict=restrict)
    constants = dict(re.findall(r"mov\.[bf]32\s+(%f\d+), (0f[0-9A-F]{8})", text))
    for line in re.findall(r"(?:selp|slct)\.f32\s+[^;]*;", text):
        sides = {constants.get(side, side) for side in re.split(r",\s*", line)[1:3]}
        assert sides != {"0f80000000", "0fBF800000"}, line
    assert "selp" in text


def test_choices_of_constants_are_of_bits():
    for math in ("strict", "ieee", "fast"):
        descriptor = choosing(math)
        texts = core.emit_cuda(descriptor), core.emit_opencl(descriptor, ptx=True)
        for text in texts:
            assert ("unseen_float(" in text) == (math != "fast")
        if math != "fast":
            assert "unseen_float2(uint2" in texts[0]
            assert re.search(r"const float v\d+ = unseen_float\(b\d+\);", texts[0])
        assert "unseen" not in core.emit_opencl(descriptor)
    assert 'asm("mov.b32 %0, %1;" : "=f"(r) : "r"(a))' in core.emit_opencl(
        choosing("strict"), ptx=True
    )


def test_divisions_of_vectors_go_by_lane():
    """NVVM drops the divisor's lanes that nobody wants, then takes the quotient for undefined."""

    @lc.kernel(block_size=64)
    def divide(a: lc.Buffer[lc.ushort2], b: lc.Buffer[lc.int3]):
        i = lc.dispatch_id().x
        a[i] = lc.rem(a[i], 47650) * a[i + 1]
        b[i] = lc.div(b[i], b[i + 1]) + b[i + 2]

    descriptor = divide.descriptor(lc.Buffer[lc.ushort2], lc.Buffer[lc.int3])
    text, plain = core.emit_opencl(descriptor, ptx=True), core.emit_opencl(descriptor)
    scalar = r"%s \(?\(?(?:ushort\)|\w+\.)"
    assert len(re.findall(r" % ", text)) == 2 and len(re.findall(r" / ", text)) == 3
    assert len(re.findall(r" % ", plain)) == 1 and len(re.findall(r" / ", plain)) == 1
    assert re.search(scalar % "%", text)
