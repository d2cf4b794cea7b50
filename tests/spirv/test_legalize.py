"""Fixups to logical addressing: each alone, all together, and what is left alone or refused."""

import random
import re
from pathlib import Path

import numpy as np
import pytest

import lcpy as lc

HEAD = """
OpCapability Shader
{capabilities}
OpMemoryModel {model} GLSL450
OpEntryPoint GLCompute %main "main" %id
OpExecutionMode %main LocalSize 4 1 1
OpName %helper "helper"
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %run ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 64
OpDecorate %few ArrayStride 4
OpDecorate %buf DescriptorSet 0
OpDecorate %buf Binding 0
OpDecorate %sum NoContraction
{decorations}
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%v3 = OpTypeVector %uint 3
%p_v3 = OpTypePointer Input %v3
%id = OpVariable %p_v3 Input
%c0 = OpConstant %uint 0
%c1 = OpConstant %uint 1
%c2 = OpConstant %uint 2
%c16 = OpConstant %uint 16
%i1 = OpConstant %int 1
%f2 = OpConstant %float 2
%run = OpTypeRuntimeArray %float
%few = OpTypeArray %float %c16
%block = OpTypeStruct %few %run
%p_block = OpTypePointer StorageBuffer %block
%p_float = OpTypePointer StorageBuffer %float
%p_run = OpTypePointer StorageBuffer %run
%buf = OpVariable %p_block StorageBuffer
%p_shared = OpTypePointer Workgroup %float
%local = OpTypeArray %float %c16
%p_local = OpTypePointer Function %local
%p_private = OpTypePointer Function %float
%takes = OpTypeFunction %float %p_float %uint
%takes2 = OpTypeFunction %float %p_private %uint
{types}
"""
MAIN = """
%main = OpFunction %void None %fn
%entry = OpLabel
{variables}
%ids = OpLoad %v3 %id
%x = OpCompositeExtract %uint %ids 0
%cond = OpULessThan %bool %x %c2
{body}
OpReturn
OpFunctionEnd
{functions}
"""


def module(body, functions="", variables="", types="", capabilities="", decorations="", model=""):
    text = (HEAD + MAIN).format(
        body=body, functions=functions, variables=variables, types=types,
        capabilities=capabilities, decorations=decorations, model=model or "Logical",
    )  # fmt: skip
    if "%helper" not in functions:
        text = text.replace('OpName %helper "helper"\n', "")
    if "%sum" not in functions + body:
        text = text.replace("OpDecorate %sum NoContraction\n", "")
    return lc.spirv.assemble(text, env="vulkan1.1")


def settled(words, fixups=lc.spirv.FIXUPS):
    """The legalised module, which SPIRV-Tools takes and which is itself legal, as text."""
    made = lc.spirv.legalize(words, fixups)
    if tuple(fixups) == lc.spirv.FIXUPS:
        lc.spirv.validate(made, "vulkan1.1")
        assert lc.spirv.legalize(made) == made
    return lc.spirv.disassemble(made, indent=False, header=False)


STEP = """
%first = OpAccessChain %p_float %buf %c1 %x
%third = OpPtrAccessChain %p_float %first %c2
%fourth = OpInBoundsPtrAccessChain %p_float %third %x
%v = OpLoad %float %fourth
OpStore %third %v
"""


def test_elements_are_added_to_the_last_index():
    text = settled(module(STEP))
    assert "PtrAccessChain" not in text
    sums = re.findall(r"(%\w+) = OpIAdd %uint %(\w+) %(\w+)", text)
    assert len(sums) == 2 and sums[1][1] == sums[0][0][1:]
    assert f"OpAccessChain %_ptr_StorageBuffer_float %18 %uint_1 {sums[0][0]}" in re.sub(
        r"(StorageBuffer_float) %\w+ (%uint_1)", r"\1 %18 \2", text
    )


def test_element_zero_and_constants_need_no_sum():
    body = """
%a = OpAccessChain %p_float %buf %c1 %c0
%b = OpPtrAccessChain %p_float %a %c0
%c = OpPtrAccessChain %p_float %a %x
%d0 = OpAccessChain %p_float %buf %c0 %c1
%d = OpPtrAccessChain %p_float %d0 %c2
%v = OpLoad %float %b
OpStore %c %v
OpStore %d %v
"""
    text = settled(module(body))
    assert "OpIAdd" not in text and "OpConstant %uint 3" in text


def test_a_chosen_pointer_is_a_chosen_index():
    body = """
%a = OpAccessChain %p_float %buf %c1 %x
%b = OpAccessChain %p_float %buf %c1 %c2
%p = OpSelect %p_float %cond %a %b
%v = OpLoad %float %p
%q = OpPtrAccessChain %p_float %p %i1
OpStore %q %v
"""
    text = settled(module(body))
    assert re.search(r"OpSelect %uint %\w+ %\w+ %uint_2", text)
    assert "OpSelect %_ptr" not in text


LOOP = """
%a = OpAccessChain %p_float %buf %c1 %c0
OpBranch %head
%head = OpLabel
%p = OpPhi %p_float %a %entry %next %cont
%n = OpPhi %uint %c0 %entry %n1 %cont
%go = OpULessThan %bool %n %c16
OpLoopMerge %done %cont None
OpBranchConditional %go %work %done
%work = OpLabel
OpStore %p %f2
OpBranch %cont
%cont = OpLabel
%next = OpPtrAccessChain %p_float %p %i1
%n1 = OpIAdd %uint %n %c1
OpBranch %head
%done = OpLabel
"""


def test_a_pointer_that_a_loop_carries_is_an_index_that_it_carries():
    text = settled(module(LOOP))
    assert "OpPhi %_ptr" not in text and text.count("OpPhi %uint") == 2
    phi = re.search(r"(%\w+) = OpPhi %uint %uint_0 %\w+ (%\w+) %\w+\n", text)
    assert re.search(rf"{phi[2]} = OpIAdd %uint {phi[1]} %\w+", text)


def test_nested_loops_carry_through_both():
    body = """
%a = OpAccessChain %p_float %buf %c1 %x
OpBranch %head
%head = OpLabel
%p = OpPhi %p_float %a %entry %q2 %cont
%n = OpPhi %uint %c0 %entry %n1 %cont
%go = OpULessThan %bool %n %c16
OpLoopMerge %done %cont None
OpBranchConditional %go %inner0 %done
%inner0 = OpLabel
OpBranch %inner
%inner = OpLabel
%q = OpPhi %p_float %p %inner0 %q1 %more
%m = OpPhi %uint %c0 %inner0 %m1 %more
%go2 = OpULessThan %bool %m %c2
OpLoopMerge %out %more None
OpBranchConditional %go2 %more %out
%more = OpLabel
OpStore %q %f2
%q1 = OpPtrAccessChain %p_float %q %i1
%m1 = OpIAdd %uint %m %c1
OpBranch %inner
%out = OpLabel
OpBranch %cont
%cont = OpLabel
%q2 = OpPtrAccessChain %p_float %q %c2
%n1 = OpIAdd %uint %n %c1
OpBranch %head
%done = OpLabel
"""
    text = settled(module(body))
    assert text.count("OpPhi %uint") == 4 and "OpPhi %_ptr" not in text


HELPER = """
%helper = OpFunction %float None %takes
%hp = OpFunctionParameter %p_float
%hi = OpFunctionParameter %uint
%h0 = OpLabel
%hq = OpPtrAccessChain %p_float %hp %hi
%hv = OpLoad %float %hq
%sum = OpFAdd %float %hv %f2
OpReturnValue %sum
OpFunctionEnd
"""


def test_functions_are_made_for_where_their_pointers_point():
    body = """
%a = OpAccessChain %p_float %buf %c1 %x
%b = OpAccessChain %p_float %buf %c0 %c2
%r1 = OpFunctionCall %float %helper %a %c1
%r2 = OpFunctionCall %float %helper %b %c1
%r3 = OpFunctionCall %float %helper %a %c2
OpStore %a %r1
OpStore %b %r2
OpStore %b %r3
"""
    text = settled(module(body, HELPER))
    assert text.count("OpFunction %float") == 2  # by member; the first is gone
    assert text.count('"helper"') == 2 and text.count("NoContraction") == 2
    assert not re.search(r"OpFunctionParameter %_ptr", text)


def test_pointers_go_on_through_functions():
    chain = (
        HELPER
        + """
%outer = OpFunction %float None %takes
%op = OpFunctionParameter %p_float
%oi = OpFunctionParameter %uint
%o0 = OpLabel
%oq = OpPtrAccessChain %p_float %op %c2
%or = OpFunctionCall %float %helper %oq %oi
OpReturnValue %or
OpFunctionEnd
"""
    )
    body = "%a = OpAccessChain %p_float %buf %c1 %x\n%r = OpFunctionCall %float %outer %a %c1\n"
    text = settled(module(body + "OpStore %a %r", chain))
    assert text.count("OpFunction %float") == 2 and "PtrAccessChain" not in text


def test_parts_of_a_function_s_own_variables_are_given_as_indices():
    helper = HELPER.replace("%takes", "%takes2").replace("%p_float", "%p_private")
    body = """
%a = OpAccessChain %p_private %own %x
%r = OpFunctionCall %float %helper %a %c1
%o = OpAccessChain %p_float %buf %c1 %x
OpStore %o %r
"""
    text = settled(module(body, helper, variables="%own = OpVariable %p_local Function"))
    assert re.search(r"OpFunctionParameter %_ptr_Function__arr", text)
    assert text.count("OpVariable %_ptr_Function") == 1  # nothing is copied


def test_values_that_are_indexed_are_kept_in_a_variable():
    body = """
%w = OpCompositeConstruct %local %f2 %f2 %f2 %f2 %f2 %f2 %f2 %f2 %f2 %f2 %f2 %f2 %f2 %f2 %f2 %f2
%e = OpAccessChain %p_private %w %x
%e2 = OpAccessChain %p_private %w %c1
%v = OpLoad %float %e
%v2 = OpLoad %float %e2
%s = OpFAdd %float %v %v2
%o = OpAccessChain %p_float %buf %c1 %x
OpStore %o %s
"""
    text = settled(module(body))
    assert text.count("OpVariable %_ptr_Function") == 1
    store = re.search(r"OpStore (%\w+) (%\w+)\n", text)
    assert f"{store[2]} = OpCompositeConstruct" in text and f"{store[1]} = OpVariable" in text


def test_physical_modules_lose_what_is_said_of_addresses():
    body = STEP.replace("OpLoad %float %fourth", "OpLoad %float %fourth Volatile|Aligned 4")
    words = module(
        body.replace("OpStore %third %v", "OpStore %third %v Aligned 4"),
        capabilities="OpCapability Addresses\nOpCapability Linkage",
        decorations='OpDecorate %main LinkageAttributes "m" Export\nOpDecorate %buf Alignment 16',
        model="Physical64",
    )
    text = settled(words)
    for gone in ("Addresses", "Linkage", "Alignment", "Aligned", "Physical"):
        assert gone not in text, gone
    assert "Volatile" in text


def test_each_alone():
    words = module(STEP, capabilities="OpCapability Addresses", model="Physical64")
    text = settled(words, ["pointers"])
    assert "Addresses" in text and "PtrAccessChain" not in text
    body = "%a = OpAccessChain %p_float %buf %c1 %x\n%r = OpFunctionCall %float %helper %a %c1\n"
    calls = module(body + "OpStore %a %r", HELPER)
    assert settled(calls, ["values"]) == lc.spirv.disassemble(calls, indent=False, header=False)
    assert not re.search("FunctionParameter %_ptr", settled(calls, ["parameters"]))
    with pytest.raises(lc.ArgumentError, match="of values, pointers, parameters, physical"):
        lc.spirv.legalize(words, ["all"])


VARYING = "OpCapability VariablePointers"


def test_what_is_legal_stays():
    for words in (
        module(STEP, capabilities=VARYING),
        module(LOOP, capabilities=VARYING),
        module("%o = OpAccessChain %p_float %buf %c1 %x\nOpStore %o %f2"),
    ):
        assert lc.spirv.legalize(words) == words


def test_the_gallery_and_the_primitives_stay():
    import importlib
    import pkgutil

    from lcpy import gallery, primitives

    count = 0
    for package in (gallery, primitives):
        for info in pkgutil.iter_modules(package.__path__):
            kernels = getattr(
                importlib.import_module(f"{package.__name__}.{info.name}"), "KERNELS", {}
            )
            for kernel, types in kernels.items():
                for vulkan in ("1.0", "1.3"):
                    try:
                        words = kernel.compile(*types, vulkan=vulkan).data
                    except lc.UnsupportedError:
                        continue
                    assert lc.spirv.legalize(words) == words
                    count += 1
    assert count > 10


@lc.kernel(block_size=8)
def three_point(x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    i = lc.dispatch_id().x
    out[i] = x[i] + 2.0 * x[i + 1] - x[i + 2]


def test_it_means_the_same():
    """Chains taken apart into moved and chosen pointers, then legalised, on a device."""
    devices = [d for d in lc.devices() if d.kind == "vulkan"]
    if not devices:
        pytest.skip("no Vulkan device")
    artifact = three_point.compile(lc.Buffer[lc.float32], lc.Buffer[lc.float32])
    text = lc.spirv.disassemble(artifact.data, indent=False)
    chain = re.compile(r"(%\w+) = OpAccessChain (%_ptr_StorageBuffer_float) (%\w+) (%\w+) (%\w+)\n")

    def loosened(m):
        loosened.count += 1
        n, (result, pointer, base, first, index) = loosened.count, m.groups()
        return (
            f"%s{n} = OpAccessChain {pointer} {base} {first} {first}\n"
            f"%t{n} = OpPtrAccessChain {pointer} %s{n} {index}\n"
            f"%u{n} = OpPtrAccessChain {pointer} %s{n} {first}\n"
            f"%yes{n} = OpIEqual %bool {index} {index}\n"
            f"{result} = OpSelect {pointer} %yes{n} %t{n} %u{n}\n"
        )

    loosened.count = 0
    loose = lc.spirv.assemble(chain.sub(loosened, text))
    assert loosened.count == 4
    with pytest.raises(lc.spirv.ValidationError):
        lc.spirv.validate(loose, "vulkan1.2")
    made = lc.spirv.legalize(loose)
    fields = {**artifact._fields, "code": made}
    x = np.arange(40, dtype=np.float32) ** 2
    device = lc.Device(devices[0].name)
    out = lc.Buffer(32, lc.float32, device=device)
    run = type(artifact)(fields).load(device)
    run(lc.Buffer(x, device=device), out, dispatch_size=32)
    assert (out.numpy() == x[:32] + 2 * x[1:33] - x[2:34]).all()


def test_what_clang_makes_of_pointers():
    """Generic pointers, chosen ones, parts of program-scope arrays given to a function.

    Made by clang -cc1 -triple spir64 -cl-std=CL2.0 -finclude-default-header -O2 -emit-llvm-bc
    and llvm-spirv, both of LLVM 14.
    """
    path = Path(__file__).with_name("from_clang") / "pointers.spvasm"
    words = lc.spirv.assemble(path.read_text())
    text = lc.spirv.disassemble(lc.spirv.legalize(words), indent=False, header=False)
    for gone in ("PtrAccessChain", "Generic", "Lifetime", "Addresses", "Aligned", "Physical"):
        assert gone not in text, gone
    # `put` has its index alone; where it points from is named in it.
    assert not re.search("OpFunctionParameter %_ptr", text) and "OpAccessChain" in text
    lc.spirv.validate(lc.spirv.legalize(words), "spv1.6")


def test_generic_pointers_are_of_where_they_point():
    body = """
%a = OpAccessChain %p_private %own %x
%g = OpPtrCastToGeneric %p_generic %a
%g1 = OpInBoundsPtrAccessChain %p_generic %g %c1
%r = OpFunctionCall %float %helper %g1 %c1
%back = OpGenericCastToPtr %p_private %g1
OpStore %back %r
"""
    helper = HELPER.replace("%takes", "%takes3").replace("%p_float", "%p_generic")
    types = "%p_generic = OpTypePointer Generic %float\n"
    types += "%takes3 = OpTypeFunction %float %p_generic %uint"
    caps = "OpCapability Addresses\nOpCapability GenericPointer"
    variables = "%own = OpVariable %p_local Function"
    words = module(body, helper, variables, types, caps, model="Physical32")
    assert "Generic" not in settled(words)


def test_memory_without_pointers():
    body = "%a = OpAccessChain %p_private %own %x\nOpStore %kept %a\n%q = OpLoad %p_private %kept\n"
    variables = "%own = OpVariable %p_local Function\n%kept = OpVariable %p_p Function"
    types = "%p_p = OpTypePointer Function %p_private"
    refused(module(body, "", variables, types), "reads a pointer from memory")


def refused(words, what):
    with pytest.raises(lc.UnsupportedError, match=what):
        lc.spirv.legalize(words)


def test_what_cannot_be_made_logical_is_named():
    two = """
%a = OpAccessChain %p_float %buf %c1 %x
%b = OpAccessChain %p_float %other %c1 %x
%p = OpSelect %p_float %cond %a %b
OpStore %p %f2
"""
    other = "%other = OpVariable %p_block StorageBuffer"
    refused(
        module(two, types=other), r'"%\w+ = OpSelect .*" has no form .*: it may point into several'
    )
    parts = two.replace("%other %c1", "%buf %c0")
    refused(module(parts), "several members of a structure")
    whole = "%r = OpAccessChain %p_run %buf %c1\n%q = OpPtrAccessChain %p_run %r %x\n"
    refused(module(whole), r"OpPtrAccessChain.*no element of an array")
    number = "%a = OpAccessChain %p_float %buf %c1 %x\n%n = OpConvertPtrToU %uint %a\n"
    refused(module(number, capabilities="OpCapability Addresses", model="Physical32"), "no number")
    cast = "%a = OpAccessChain %p_float %buf %c1 %x\n%n = OpBitcast %p_run %a\n"
    refused(module(cast), "keeps its type")
    imported = """
%helper = OpFunction %float None %takes
%hp = OpFunctionParameter %p_float
%hi = OpFunctionParameter %uint
OpFunctionEnd
"""
    body = "%a = OpAccessChain %p_float %buf %c1 %x\n%r = OpFunctionCall %float %helper %a %c1\n"
    refused(
        module(
            body,
            imported,
            capabilities="OpCapability Linkage",
            decorations='OpDecorate %helper LinkageAttributes "helper" Import',
        ),
        "another module|nothing of the function",
    )


def test_damaged_modules():
    rng = random.Random(4)
    sources = [
        module(STEP), module(LOOP),
        module("%a = OpAccessChain %p_float %buf %c1 %x\n%r = OpFunctionCall %float %helper %a %c1",
               HELPER),
    ]  # fmt: skip
    for turn in range(3000):
        words = bytearray(sources[turn % len(sources)])
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(5, len(words) // 4) * 4
            before = int.from_bytes(words[at - 4 : at], "little")
            word = rng.choice((rng.randrange(60), rng.randrange(1 << 32), before))
            words[at : at + 4] = word.to_bytes(4, "little")
        try:
            lc.spirv.legalize(bytes(words))
        except (lc.LoadError, lc.UnsupportedError):
            pass
