"""lcpy/language.md, section "Errors": a test for each rule, of the rule's name."""

import numpy as np
import pytest

import lcpy as lc
from language.harness import run

I = lc.int32  # noqa: E741


def test_compile_error():
    @lc.callable
    def helper(x: lc.float32) -> lc.float32:
        return x + undefined_name  # noqa: F821

    def k(out: lc.Buffer[lc.float32]):
        out[0] = helper(out[0])

    with pytest.raises(lc.CompileError) as caught:
        lc.kernel(k).compile(lc.Buffer[lc.float32], target="opencl")
    lines = str(caught.value).splitlines()
    assert "test_errors.py:15" in lines[0] and "undefined_name" in lines[0]
    assert lines[1].strip().startswith("return x + undefined_name")
    assert lines[2].strip() == "^" * len("undefined_name")
    assert lines[2].index("^") == lines[1].index("undefined_name")
    assert any("test_errors.py:18" in line for line in lines)  # called from here
    frames, at = [], caught.tb
    while at is not None:
        frames.append(at.tb_frame.f_code.co_filename)
        at = at.tb_next
    assert all(f.endswith("test_errors.py") for f in frames) or "lcpy" in frames[-1]


def test_unsupported_error(device):
    @lc.kernel
    def shared(out: lc.Buffer[I]):
        s = lc.shared(lc.float32, 1 << 26)
        s[0] = 1.0
        out[0] = lc.int(s[0])

    with pytest.raises(lc.UnsupportedError) as caught:
        run(shared, device)
    assert "shared" in str(caught.value) and str(4 << 26) in str(caught.value)

    @lc.kernel
    def fine(out: lc.Buffer[I]):
        out[0] = 1

    assert run(fine, device)[0] == 1


def test_argument_error(device):
    @lc.kernel
    def k(count: lc.uint8, out: lc.Buffer[I]):
        out[0] = lc.int(count)

    with pytest.raises(lc.ArgumentError) as caught:
        run(k, device, 256)
    assert "count" in str(caught.value) and "256" in str(caught.value)
    assert isinstance(caught.value, TypeError) and isinstance(caught.value, ValueError)


def test_kernel_trap(device):
    @lc.kernel
    def k(a: lc.Buffer[I], out: lc.Buffer[I]):
        lc.trap(a[0])
        out[0] = 1

    @lc.kernel
    def fine(out: lc.Buffer[I]):
        out[0] = 1

    with pytest.raises(lc.KernelTrap) as caught:
        run(k, device, np.int32([77]))
    assert "77" in str(caught.value) and "test_errors.py" in str(caught.value)
    assert run(fine, device)[0] == 1


def test_device_error(device):
    with pytest.raises(lc.OutOfMemory) as caught:
        lc.empty(1 << 48, lc.float32, device=device)
    assert isinstance(caught.value, lc.DeviceError)
    assert str(4 << 48) in str(caught.value)
    assert lc.Buffer(np.int32([1]), device=device).numpy()[0] == 1


def test_load_error():
    from lcpy import spirv

    with pytest.raises(lc.Error):
        spirv.validate(b"\x03\x02\x23\x07" + b"\0" * 7, "vulkan1.2")


def test_one_base(device):
    for name in (
        "CompileError", "UnsupportedError", "ArgumentError", "KernelTrap", "DeviceError",
        "OutOfMemory", "DeviceLost", "LoadError",
    ):  # fmt: skip
        assert issubclass(getattr(lc, name), lc.Error)

    @lc.kernel
    def k(out: lc.Buffer[I]):
        out[0] = 1.5

    messages = []
    for _ in range(3):
        with pytest.raises(lc.CompileError) as caught:
            run(k, device)
        messages.append(str(caught.value))
    assert len(set(messages)) == 1
