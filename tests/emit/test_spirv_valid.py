"""Every kernel of the corpus and of the primitives becomes a module that SPIRV-Tools accepts, for
each Vulkan version and for each way in which it may be compiled."""

import corpus
import pytest

import lcpy as lc
from lcpy import primitives

KERNELS = [*corpus.kernels(), *primitives.kernels()]
VERSIONS = ("1.1", "1.2", "1.3")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "kernel, types", [row[1:] for row in KERNELS], ids=[row[0] for row in KERNELS]
)
def test_module(kernel, types, version):
    """As compiled by default."""
    module = kernel.compile(*types, vulkan=version)
    lc.spirv.validate(module.data, f"vulkan{version}")


@pytest.mark.parametrize(
    "kernel, types", [row[1:] for row in KERNELS], ids=[row[0] for row in KERNELS]
)
def test_strict_and_whole_blocks(kernel, types):
    """Without contraction, and for dispatches that end at a block's end."""
    module = kernel.compile(*types, vulkan="1.1", math="strict", ragged=False)
    lc.spirv.validate(module.data, "vulkan1.1")
