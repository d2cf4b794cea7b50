"""The gallery on every device against cpu, and its modules against SPIRV-Tools."""

import importlib

import numpy as np
import pytest

import lcpy as lc

# Small, and odd where the program allows it, so that last blocks are ragged.
SIZES = {
    "mandelbrot": 75,
    "sdf_scene": 61,
    "game_of_life": 67,
    "n_body": 301,
    "mpm": 32,
    "path_tracer": 41,
    "denoise": 37,
    "terrain": 1,
}
STRICT = ("game_of_life", "n_body", "path_tracer")  # the same bits everywhere


def program(name):
    return importlib.import_module(f"lcpy.gallery.{name}")


def test_sizes_are_total():
    assert sorted(SIZES) == sorted(importlib.import_module("lcpy.gallery").NAMES)


@pytest.fixture(scope="module")
def references(cpu):
    """What each program gives on cpu, computed once."""
    made = {}

    def reference(name):
        if name not in made:
            made[name] = program(name).run(cpu, SIZES[name])
        return made[name]

    return reference


@pytest.mark.parametrize("name", SIZES)
def test_reference_is_a_picture(name, references):
    result = references(name)
    assert np.isfinite(result).all()
    picture = program(name).picture(result)
    assert picture.dtype == np.uint8 and picture.ndim == 3 and picture.shape[2] == 3
    assert picture.std() > 3  # not one colour


@pytest.mark.parametrize("name", SIZES)
def test_devices_agree(name, other_device, references):
    result = program(name).run(other_device, SIZES[name])
    limit, share = (0.0, 0.0) if name in STRICT else program(name).BOUND
    difference = np.abs(result.astype(np.float64) - references(name).astype(np.float64))
    assert np.isfinite(difference).all()
    assert (difference > limit).mean() <= share, f"largest difference {difference.max()}"


@pytest.mark.parametrize("version", ["1.1", "1.2", "1.3"])
@pytest.mark.parametrize("name", SIZES)
def test_modules_are_valid(name, version):
    for kernel, types in program(name).KERNELS.items():
        module = kernel.compile(*types, target="spirv", vulkan=version)
        lc.spirv.validate(module.data, f"vulkan{version}")


@pytest.mark.parametrize("name", SIZES)
def test_no_pass_changes_bits(name, cpu):
    """opt=0 runs no pass and gives the same bits, on one program of each kind of arithmetic."""
    if name not in ("mandelbrot", "game_of_life"):
        pytest.skip("one program of each kind is enough")
    kernels = program(name)
    source = kernels.mandelbrot if name == "mandelbrot" else kernels.seed
    element = [lc.float3, lc.int32] if name == "mandelbrot" else [lc.uint8]
    math = "strict" if name == "mandelbrot" else "ieee"
    outs = []
    for opt in (0, 1):
        kernel = lc.kernel(block_size=(16, 16, 1), math=math, opt=opt)(source.function)
        buffers = [lc.Buffer((40, 40), t, device=cpu) for t in element]
        kernel(*buffers, dispatch_size=(40, 40))
        outs.append([b.numpy().tobytes() for b in buffers])
    assert outs[0] == outs[1]
