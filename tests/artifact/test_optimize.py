"""SPIRV-Tools' optimizer on modules and artifacts: an option, and never needed."""

import numpy as np
import pytest

import lcpy as lc


@lc.callable
def twice(x: lc.float32) -> lc.float32:
    return x * 2.0


@lc.kernel(block_size=8)
def wasteful(x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    i = lc.dispatch_id().x
    a = x[i]
    for _ in range(4):
        a = twice(a) + 1.0
    out[i] = a


@pytest.fixture(autouse=True)
def program():
    if lc.spirv._program("spirv-opt") is None:
        pytest.skip("no spirv-opt")


def test_an_optimized_artifact_runs_and_knows_its_lines():
    plain, small = wasteful.compile(), wasteful.compile(optimize="-O")
    assert small.data != plain.data
    lc.spirv.validate(small.data, "vulkan1.2")
    assert "OpLine" not in small.text and "OpString" not in small.text
    first = wasteful.function.__code__.co_firstlineno
    lines = {row[2] for row in small.lines}
    assert lines and lines <= set(range(first - 12, first + 8))
    devices = [d for d in lc.devices() if d.kind == "vulkan"]
    if not devices:
        pytest.skip("no Vulkan device")
    device = lc.Device(devices[0].name)
    x = np.arange(16, dtype=np.float32)
    out = lc.Buffer(16, lc.float32, device=device)
    small.load(device)(lc.Buffer(x, device=device), out, dispatch_size=16)
    assert out.numpy().tolist() == (x * 16 + 15).tolist()


def test_passes_by_name(tmp_path):
    words = wasteful.compile().data
    once = lc.spirv.optimize(words, ["--inline-entry-points-exhaustive", "--merge-blocks"])
    assert lc.spirv.optimize(words, "-Os") != words and len(once) > 20
    from lcpy.cli import main

    assert main(["compile", __file__ + ":wasteful", "-o", str(tmp_path), "--optimize=-O"]) == 0
    made = lc.artifact.load_artifact(tmp_path / "wasteful.spirv.lcpy")
    assert made.data == wasteful.compile(optimize="-O").data


def test_what_is_wrong_is_named(monkeypatch):
    words = wasteful.compile().data
    with pytest.raises(lc.ArgumentError, match="passes: .*nonsense"):
        lc.spirv.optimize(words, "--nonsense")
    with pytest.raises(lc.ArgumentError, match="passes: names as spirv-opt takes them"):
        lc.spirv.optimize(words, ["O"])
    with pytest.raises(lc.ArgumentError, match="env: one of"):
        lc.spirv.optimize(words, env="metal")
    with pytest.raises(lc.spirv.ValidationError, match="spirv-opt does not take"):
        lc.spirv.optimize(words[:40])
    with pytest.raises(lc.ArgumentError, match="of target 'spirv' alone"):
        wasteful.compile(target="cuda", optimize="-O")
    monkeypatch.setattr(lc.spirv, "_program", lambda name: None)
    with pytest.raises(lc.spirv.ToolsMissing, match="spirv-opt is not here.*pip install"):
        wasteful.compile(optimize="-O")
