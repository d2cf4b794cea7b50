"""What NVIDIA's compilers get wrong, and how the text keeps them from it."""

import re

import numpy as np
import pytest
from loading import load_source

import lcpy as lc
from lcpy._native import core
from lcpy.artifact import PORTABLE, plan_of
from lcpy.spirv import validate

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
    """NVVM drops the lanes of a divisor that nobody wants, then takes the quotient for undefined;
    clang finds remainders of some constants to be 0."""

    @lc.kernel(block_size=64)
    def divide(a: lc.Buffer[lc.ushort2], b: lc.Buffer[lc.int3]):
        i = lc.dispatch_id().x
        a[i] = lc.rem(a[i], 47650) * a[i + 1]
        b[i] = lc.div(b[i], b[i + 1]) + b[i + 2]

    descriptor = divide.descriptor(lc.Buffer[lc.ushort2], lc.Buffer[lc.int3])
    text, plain = core.emit_opencl(descriptor, ptx=True), core.emit_opencl(descriptor)
    scalar = r"%s \(?\(?(?:ushort\)|\w+\.)"
    assert len(re.findall(r" % ", text)) == 2 and len(re.findall(r" / ", text)) == 3
    assert len(re.findall(r" % ", plain)) == 2 and len(re.findall(r" / ", plain)) == 3
    assert re.search(scalar % "%", text)


@lc.kernel(block_size=64, math="strict")
def extremes(a: lc.Buffer[lc.float32], b: lc.Buffer[lc.float3], n: lc.Buffer[lc.int16]):
    i = lc.dispatch_id().x
    b[i] = lc.min(b[i], lc.max(a[i], a[i + 1]))
    n[i] = lc.min(n[i], n[i + 1])
    a[lc.uint64(a[i])] = lc.float32(lc.uint32(a[i + 2]))


def test_opencl_has_the_machine_s_conversions_and_extremes():
    types = (lc.Buffer[lc.float32], lc.Buffer[lc.float3], lc.Buffer[lc.int16])
    text = core.emit_opencl(extremes.descriptor(*types), ptx=True)
    assert 'asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r;' in text
    assert 'asm("cvt.rzi.u64.f32 %0, %1;" : "=l"(r) : "f"(a)); return a == a ? r : 0;' in text
    assert "float3 min_strict3(float3 a, float3 b)" in text and "min.f32" in text
    assert not re.search(r"\bmin\(\(?\(?short", text)  # minima of 16 bits are those of 32
    plain = core.emit_opencl(extremes.descriptor(*types))
    assert "asm" not in plain


def test_opencl_orders_what_other_blocks_see():
    @lc.kernel(block_size=64)
    def ordered(a: lc.Buffer[lc.uint32]):
        shared = lc.shared(lc.uint32, 4)
        lc.atomic_store(a[0], lc.uint32(1), order="seq_cst")
        lc.atomic_add(shared[1], lc.uint32(1), order="seq_cst")

    text = core.emit_opencl(ordered.descriptor(lc.Buffer[lc.uint32]), ptx=True)
    assert text.count("membar.gl") == 2 and text.count("mem_fence") == 2
    assert "membar" not in core.emit_opencl(ordered.descriptor(lc.Buffer[lc.uint32]))


def instructions(module):
    words, at = np.frombuffer(module.words, np.uint32), 5
    while at < len(words):
        count = int(words[at] >> 16)
        yield int(words[at] & 0xFFFF), words[at + 1 : at + count].tolist()
        at += count


def test_vulkan_carries_bools_as_integers():
    @lc.kernel(block_size=1)
    def carries(given: lc.Buffer[lc.bool], n: lc.Buffer[lc.int32]):
        a, b = given[0], given[1]
        for _ in range(n[0]):
            a, b = b, a
        given[0] = a

    descriptor = carries.descriptor(lc.Buffer[lc.bool], lc.Buffer[lc.int32])
    plan = plan_of("carries", descriptor, PORTABLE)
    for sound in (True, False):
        module = core.emit_spirv(descriptor, plan, sound_loops=sound)
        bools = {words[0] for op, words in instructions(module) if op == 20}
        phis = [words[0] in bools for op, words in instructions(module) if op == 245]
        assert len(phis) == 3 and sum(phis) == (2 if sound else 0)
        validate(module.words)


@pytest.mark.parametrize(("bound", "unrolled"), [("n[0]", True), ("n[0] % 2", False)])
def test_vulkan_unrolls_what_the_driver_does_not_count(bound, unrolled, tmp_path):
    text = f"""
import lcpy as lc

@lc.kernel(block_size=1)
def turns(n: lc.Buffer[lc.int32], x: lc.Buffer[lc.uint32]):
    a = x[0]
    for _ in range({bound}):
        a = a * 3 + 1
    x[0] = a
"""
    kernel = load_source(tmp_path, "turns", text).turns
    descriptor = kernel.descriptor(lc.Buffer[lc.int32], lc.Buffer[lc.uint32])
    plan = plan_of("turns", descriptor, PORTABLE)
    module = core.emit_spirv(descriptor, plan, sound_loops=False, unroll_short_loops=True)
    controls = [words[2] for op, words in instructions(module) if op == 246]
    assert controls == [1 if unrolled else 0]


@lc.struct
class Turns:
    count: lc.int16
    flags: lc.Array[lc.bool, 3]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_loop_that_moves_parts_of_an_element_turns(compiler, arch):
    """NVVM takes the copy of a chosen part out of the loop that writes it, then drops the loop."""
    Matrices = lc.Array[lc.float4x4, 2]

    @lc.kernel(block_size=1, math="strict")
    def move(s: lc.Buffer[Turns], x: lc.Buffer[Matrices], out: lc.Buffer[Matrices]):
        t = lc.dispatch_id().x
        mine = s[t]
        for _ in range(lc.uint16(0), lc.bitcast(lc.uint16, mine.count), 1):
            out[t + 3] = lc.array(x[0][0], out[t + 3][1] if mine.flags[0] else out[t + 3][0])

    descriptor = move.descriptor(lc.Buffer[Turns], lc.Buffer[Matrices], lc.Buffer[Matrices])
    text = ptx(compiler, descriptor, arch, restrict=True)
    labels = {m[1]: m.start() for m in re.finditer(r"^(\$L__BB\S+):", text, re.M)}
    branches = re.finditer(r"bra(?:\.uni)?\s+(\$L__BB\S+);", text)
    assert any(labels[branch[1]] < branch.start() for branch in branches)
