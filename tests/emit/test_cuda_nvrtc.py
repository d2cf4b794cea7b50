"""NVRTC, which needs no GPU, takes the CUDA C++ of every kernel of the corpus, the gallery and the
primitives, for each architecture and for each way in which it may be compiled."""

import corpus
import pytest

from lcpy import primitives
from lcpy._native import core
from lcpy.errors import DeviceError

KERNELS = [*corpus.kernels(), *primitives.kernels()]
ARCHITECTURES = (75, 90, 100)
every_kernel = pytest.mark.parametrize(
    "kernel, types", [row[1:] for row in KERNELS], ids=[row[0] for row in KERNELS]
)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@every_kernel
def test_machine_code(compiler, kernel, types, arch):
    """As compiled by default."""
    if arch not in compiler.architectures:
        pytest.skip(f"this NVRTC does not know sm_{arch}")
    artifact = kernel.compile(*types, target="cuda")
    options = core.cuda_build_options(artifact.descriptor).split()
    assert compiler.compile(artifact.text, artifact.name, options, arch)[:4] == b"\x7fELF"


@pytest.mark.parametrize("math", ["strict", "fast"])
@every_kernel
def test_folded_grids_and_buffers_apart(compiler, kernel, types, math):
    """For dispatches beyond the grid's limits, that end at a block's end, of distinct buffers."""
    artifact = kernel.compile(*types, target="cuda", math=math, ragged=False)
    source = core.emit_cuda(artifact.descriptor, fold=True, restrict=True)
    options = core.cuda_build_options(artifact.descriptor).split()
    assert b".entry lcpy_main" in compiler.compile(source, artifact.name, options, 75, "ptx")


def test_an_error_comes_with_the_log(compiler):
    with pytest.raises(DeviceError, match="nonsense"):
        compiler.compile("nonsense", "wrong")


def test_an_architecture_that_it_does_not_know_gets_ptx(compiler):
    source = 'extern "C" __global__ void f() {}'
    code = compiler.compile(source, arch=9999)
    assert f".target sm_{max(compiler.architectures)}".encode() in code
