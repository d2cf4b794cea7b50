"""Every kernel of the corpus and of the primitives becomes a module that SPIRV-Tools accepts, for
each Vulkan version and for each way in which it may be compiled."""

import corpus
import pytest

import lcpy as lc
from lcpy import primitives

KERNELS = [*corpus.kernels(), *primitives.kernels()]
VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4")


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


def test_warps_need_vulkan_1_1():
    @lc.kernel(block_size=32)
    def lanes(x: lc.Buffer[lc.uint32]):
        x[lc.dispatch_id().x] = lc.warp_sum(lc.uint32(1))

    with pytest.raises(lc.UnsupportedError, match=r"WarpSum needs Vulkan 1\.1"):
        lanes.compile(vulkan="1.0")
    lc.spirv.validate(lanes.compile(vulkan="1.1").data, "vulkan1.1")


def test_versions_of_spirv():
    @lc.kernel
    def halves(x: lc.Buffer[lc.int16]):
        x[lc.dispatch_id().x] += 1

    for vulkan, words in (("1.0", 0x10000), ("1.1", 0x10300), ("1.4", 0x10600)):
        module = halves.compile(vulkan=vulkan)
        assert int.from_bytes(module.data[4:8], "little") == words
        extensions = {f for f in module.features if f.startswith("SPV_")}
        old = {"SPV_KHR_storage_buffer_storage_class", "SPV_KHR_16bit_storage"}
        assert extensions == (old if vulkan == "1.0" else set())
