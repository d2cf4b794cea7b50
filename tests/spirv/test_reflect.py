"""Reflection: of modules of our own, and of text that has what ours have not."""

import json
import struct
import subprocess
import sys

import pytest

import lcpy as lc
from lcpy import spirv

TEXT = """
OpCapability Shader
OpCapability Int64
OpExtension "SPV_KHR_storage_buffer_storage_class"
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "shade" %id
OpEntryPoint GLCompute %other "more"
OpExecutionMode %main LocalSize 64 2 1
OpExecutionModeId %other LocalSizeId %four %wide %four
OpName %data "data"
OpName %Push "Push"
OpName %images "images"
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %data DescriptorSet 1
OpDecorate %data Binding 3
OpDecorate %Block Block
OpMemberDecorate %Block 0 Offset 0
OpMemberDecorate %Block 1 Offset 64
OpMemberDecorate %Block 0 ColMajor
OpMemberDecorate %Block 0 MatrixStride 16
OpMemberDecorate %Block 0 NonWritable
OpMemberDecorate %Block 1 NonWritable
OpDecorate %run ArrayStride 24
OpDecorate %Old BufferBlock
OpMemberDecorate %Old 0 Offset 4
OpDecorate %old DescriptorSet 0
OpDecorate %old Binding 2
OpDecorate %old NonReadable
OpDecorate %images DescriptorSet 0
OpDecorate %images Binding 1
OpDecorate %stored DescriptorSet 0
OpDecorate %stored Binding 0
OpDecorate %Push Block
OpMemberDecorate %Push 0 Offset 16
OpMemberDecorate %Push 1 Offset 24
OpDecorate %wide SpecId 7
OpDecorate %flag SpecId 2
OpDecorate %far SpecId 3
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%long = OpTypeInt 64 1
%float = OpTypeFloat 32
%v3 = OpTypeVector %uint 3
%v4 = OpTypeVector %float 4
%mat = OpTypeMatrix %v4 4
%four = OpConstant %uint 4
%wide = OpSpecConstant %uint 32
%flag = OpSpecConstantTrue %bool
%far = OpSpecConstant %long -2
%run = OpTypeRuntimeArray %v3
%Block = OpTypeStruct %mat %run
%Old = OpTypeStruct %uint
%Push = OpTypeStruct %long %uint
%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%sampled = OpTypeSampledImage %image
%four_images = OpTypeArray %sampled %four
%texels = OpTypeImage %float Buffer 0 0 0 2 R32f
%p_block = OpTypePointer StorageBuffer %Block
%p_old = OpTypePointer Uniform %Old
%p_push = OpTypePointer PushConstant %Push
%p_images = OpTypePointer UniformConstant %four_images
%p_texels = OpTypePointer UniformConstant %texels
%p_in = OpTypePointer Input %v3
%data = OpVariable %p_block StorageBuffer
%old = OpVariable %p_old Uniform
%pushed = OpVariable %p_push PushConstant
%images = OpVariable %p_images UniformConstant
%stored = OpVariable %p_texels UniformConstant
%id = OpVariable %p_in Input
%main = OpFunction %void None %fn
%a = OpLabel
OpReturn
OpFunctionEnd
%other = OpFunction %void None %fn
%b = OpLabel
OpReturn
OpFunctionEnd
"""


def test_everything_that_a_host_asks():
    r = spirv.reflect(spirv.assemble(TEXT))
    assert (r["version"], r["addressing_model"], r["memory_model"]) == ("1.6", "Logical", "GLSL450")
    assert r["capabilities"] == ["Shader", "Int64"]
    assert r["extensions"] == ["SPV_KHR_storage_buffer_storage_class"]
    assert r["instruction_sets"] == ["GLSL.std.450"]
    main, other = r["entry_points"]
    assert (main["name"], main["model"], main["local_size"]) == ("shade", "GLCompute", [64, 2, 1])
    assert main["modes"] == ["LocalSize 64 2 1"]
    assert (other["local_size"], other["local_size_ids"]) == ([4, 32, 4], [None, 7, None])
    bindings = {(b["set"], b["binding"]): b for b in r["bindings"]}
    assert list(bindings) == [(0, 0), (0, 1), (0, 2), (1, 3)]
    assert bindings[0, 0]["kind"] == "storage_texel_buffer"
    assert bindings[0, 1]["kind"] == "combined_image_sampler"
    assert (bindings[0, 1]["count"], bindings[0, 1]["name"]) == (4, "images")
    old = bindings[0, 2]
    assert (old["kind"], old["reads"], old["writes"], old["size"]) == (
        "storage_buffer",
        False,
        True,
        8,
    )
    data = bindings[1, 3]
    assert (data["reads"], data["writes"], data["size"], data["stride"]) == (True, False, 64, 24)
    assert r["push_constants"] == [{"name": "Push", "first": 16, "size": 12}]
    assert [(c["id"], c["type"], c["bits"]) for c in r["spec_constants"]] == [
        (2, "bool", 1),
        (3, "int64", 2**64 - 2),
        (7, "uint32", 32),
    ]


@lc.kernel(block_size=(8, 4, 1))
def ours(a: lc.Buffer[lc.float3], out: lc.Buffer[lc.float32], n: lc.uint32):
    i = lc.dispatch_id().x
    if i < n:
        out[i] = a[i].x


def test_modules_of_ours_say_what_the_plan_says():
    made = ours.compile(lc.Buffer[lc.float3], lc.Buffer[lc.float32], lc.uint32)
    r = spirv.reflect(made.data)
    assert r["entry_points"][0]["local_size"] == [8, 4, 1]
    kinds = [(b["kind"], b["stride"], b["reads"], b["writes"]) for b in r["bindings"]]
    assert kinds == [("storage_buffer", 16, True, False), ("storage_buffer", 4, False, True)]


def test_damaged_modules_are_refused():
    words = spirv.assemble(TEXT)
    for n in range(0, len(words), 4):
        for value in (0, 0xFFFFFFFF, 0x10000):
            damaged = words[:n] + struct.pack("<I", value) + words[n + 4 :]
            try:
                spirv.reflect(damaged)
            except lc.LoadError as error:
                assert "SPIR-V" in str(error)
    twice = spirv.assemble("%l = OpLabel\n%l = OpLabel")
    with pytest.raises(lc.LoadError, match="word"):
        spirv.reflect(twice)


def test_types_that_hold_themselves_end():
    """No valid module has one; its size has none either."""
    bound = "OpDecorate %v DescriptorSet 0\nOpDecorate %v Binding 0\n"
    variable = "%p = OpTypePointer StorageBuffer %S\n%v = OpVariable %p StorageBuffer\n"
    with pytest.raises(lc.LoadError, match="holds itself"):
        spirv.reflect(spirv.assemble(f"{bound}%S = OpTypeStruct %S %S\n{variable}"))
    array = "%n = OpTypeInt 32 0\n%l = OpConstant %n 2\n%S = OpTypeArray %S %l\n"
    with pytest.raises(lc.LoadError, match="nested"):
        spirv.reflect(spirv.assemble(bound + array + variable))
    # And what holds others twice, sixty times over, is measured at once.
    chain = "%t0 = OpTypeInt 32 0\n" + "".join(
        f"%t{i + 1} = OpTypeStruct %t{i} %t{i}\n" for i in range(60)
    )
    text = f"{bound}{chain}%S = OpTypeStruct %t60\n{variable}"
    assert spirv.reflect(spirv.assemble(text))["bindings"][0]["size"] == 4


def test_the_command_line(tmp_path):
    module = tmp_path / "a.spv"
    module.write_bytes(spirv.assemble(TEXT))
    command = [sys.executable, "-m", "lcpy", "reflect"]
    done = subprocess.run([*command, str(module)], capture_output=True)
    assert json.loads(done.stdout)["entry_points"][0]["name"] == "shade"
    module.write_bytes(b"none")
    done = subprocess.run([*command, str(module)], capture_output=True)
    assert done.returncode == 1 and b"no SPIR-V module" in done.stderr
