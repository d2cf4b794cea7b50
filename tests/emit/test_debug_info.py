"""NonSemantic.Shader.DebugInfo.100: what tools show of a module."""

import re

import corpus
import pytest

import lcpy as lc
from lcpy import primitives

KERNELS = [*corpus.kernels(), *primitives.kernels()]


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "1.3", "1.4"])
@pytest.mark.parametrize("driver", ["none", "nvidia", "llvmpipe"])
def test_modules_are_valid(version, driver):
    for _, kernel, types in KERNELS:
        module = kernel.compile(*types, vulkan=version, driver=driver, debug=True)
        lc.spirv.validate(module.data, f"vulkan{version}")


@lc.callable
def half_of(x):
    return x / 2


@lc.kernel
def halves(x: lc.Buffer[lc.float32]):
    i = lc.dispatch_id().x
    value = x[i]
    if value > 1.0:
        value = half_of(value) + half_of(value * 3.0)
    x[i] = value


def text_of(kernel, **options):
    return kernel.compile(debug=True, **options).text


def test_what_is_in_it():
    text = text_of(halves)
    assert 'OpExtension "SPV_KHR_non_semantic_info"' in text
    assert "SPV_KHR_non_semantic_info" not in text_of(halves, vulkan="1.3")
    assert text.count("DebugCompilationUnit") == text.count("DebugSource ") == 1
    functions = re.findall(r"DebugFunction %(\d+)", text)
    assert text.count("DebugFunctionDefinition") == len(functions) >= 1
    names = {re.search(rf'%{n} = OpString "(.*)"', text)[1] for n in functions}
    assert "halves" in names
    (name,) = {s for s in re.findall(r'OpString "(.*?)"', text) if s.endswith(".py")}
    assert name == __file__


def test_lines_and_source():
    text = text_of(halves)
    with open(__file__) as file:
        mine = file.read().split("\n")
    lines = {int(n) for n in re.findall(r"DebugLine %\d+ %uint_(\d+)", text)}
    shown = {mine[n - 1].strip() for n in lines}
    assert {"value = x[i]", "x[i] = value", "return x / 2"} <= shown
    source = re.search(r'OpString "(\n*@lc.callable.*?)(?<!\\)"', text, re.S)
    embedded = source[1].replace('\\"', '"').split("\n")
    for n in lines:
        assert embedded[n - 1] == mine[n - 1]


def test_every_block_with_lines_has_its_scope():
    text = text_of(halves)
    for block in re.split(r"= OpLabel\n", text)[1:]:
        body = block.split("\n")
        said = [line for line in body if "DebugLine" in line or "DebugScope" in line]
        if said:
            assert "DebugScope" in said[0] and sum("DebugScope" in s for s in said) == 1


def test_without_it_nothing_is_there():
    text = halves.compile(driver="none").text
    assert "Debug" not in text and "OpString" not in text and "OpName" not in text
