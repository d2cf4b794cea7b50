"""Modules hold no type, constant, variable, extension or import that nothing uses."""

import re
from collections import Counter

import corpus
import pytest

import lcpy as lc
from lcpy import primitives

KERNELS = [*corpus.kernels(), *primitives.kernels()]
DECORATES = r"Op(?:MemberDecorate|Decorate|Name|MemberName) (%\d+)"


@pytest.mark.parametrize("driver", ["any", "none", "nvidia", "llvmpipe"])
@pytest.mark.parametrize("math", ["ieee", "strict", "fast"])
def test_all_that_is_defined_is_used(driver, math):
    for name, kernel, types in KERNELS:
        module = kernel.compile(*types, driver=driver, math=math)
        text = lc.spirv.disassemble(module.data, raw_ids=True, header=False)
        used = Counter(re.findall(r"%\d+", text))
        used.subtract(re.findall(DECORATES, text))
        for line in text.split("\n"):
            found = re.match(
                r"\s*(%\d+) = (Op(?:Type|Constant|Variable|Undef|ExtInstImport)\w*)", line
            )
            assert not found or used[found[1]] > 1, f"{name}: {line} is not used"


@pytest.mark.parametrize("driver", ["any", "none", "nvidia", "llvmpipe"])
def test_extensions_have_a_capability_or_a_mode(driver):
    """Each extension is one that spirv-val misses where it is left out."""
    for name, kernel, types in KERNELS[::3]:
        module = kernel.compile(*types, driver=driver, vulkan="1.0")
        text = module.text
        for extension in re.findall(r'OpExtension "(\w+)"', text):
            without = text.replace(f'OpExtension "{extension}"', "")
            with pytest.raises(lc.spirv.ValidationError):
                lc.spirv.validate(lc.spirv.assemble(without), "vulkan1.0")
                pytest.fail(f"{name}: {extension} is not needed")


def test_sine_and_cosine_of_one_number_are_one_call():
    @lc.kernel(block_size=8)
    def turn(x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float2]):
        i = lc.dispatch_id().x
        angle = x[i]
        out[i] = lc.float2(lc.cos(angle), lc.sin(angle)) * lc.sin(angle)
        if angle > 1.0:
            out[i] = lc.float2(lc.cos(angle), lc.sin(angle + 1.0))

    text = turn.compile(driver="nvidia").text
    call = re.search(r"OpFunctionCall %\S+ (%\S+) %\S+\n", text)[1]
    assert len(re.findall(rf"OpFunctionCall %\S+ {call} ", text)) == 2  # of angle, of angle + 1
