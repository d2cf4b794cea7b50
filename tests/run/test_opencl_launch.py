"""OpenCL launches: by the driver's functions, and through PyOpenCL where those are not shown."""

import threading

import pytest

import lcpy as lc
from lcpy.run.device import discover


@pytest.fixture(params=["direct", "through PyOpenCL"])
def opened(request):
    infos, reason = discover("opencl")
    if not infos:
        pytest.skip(reason)
    from lcpy.run.opencl import OpenclDevice

    device = OpenclDevice(infos[0])
    if request.param != "direct":
        device.calls = None
    elif device.calls is None:
        pytest.skip("PyOpenCL does not show the driver's functions")
    return device


@lc.kernel(block_size=(8, 4, 1))
def mix(x: lc.Buffer[lc.float32, 2], y: lc.Buffer[lc.int32], a: lc.float32, n: lc.int32):
    p = lc.dispatch_id().xy
    x[p.y, p.x] += a
    y[p.y * lc.dispatch_size().x + p.x] = n


def test_every_launch_has_its_own_arguments(opened):
    x = lc.Buffer((5, 13), lc.float32, device=opened)
    buffers = [lc.Buffer(65, lc.int32, device=opened) for _ in range(3)]
    for i in range(30):
        mix(x, buffers[i % 3], 0.5, i, dispatch_size=(13, 5))
    assert (x.numpy() == 15).all()
    assert [int(b.numpy()[64]) for b in buffers] == [27, 28, 29]


def test_threads_share_a_kernel(opened):
    wrong = []

    def work(k):
        x = lc.Buffer((4, 8), lc.float32, device=opened)
        y = lc.Buffer(32, lc.int32, device=opened)
        for i in range(100):
            mix(x, y, 1.0, k * 1000 + i, dispatch_size=(8, 4))
        if (y.numpy() != k * 1000 + 99).any() or (x.numpy() != 100).any():
            wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not wrong


def test_results_are_errors_by_name(opened):
    x, y = lc.Buffer((4, 8), lc.float32, device=opened), lc.Buffer(32, lc.int32, device=opened)
    mix(x, y, 1.0, 1, dispatch_size=(8, 4))
    executable = mix._last.executable
    for code, kind, name in (
        (-4, lc.OutOfMemory, "MEM_OBJECT_ALLOCATION_FAILURE"),
        (-36, lc.DeviceLost, "INVALID_COMMAND_QUEUE"),
        (-54, lc.DeviceError, "INVALID_WORK_GROUP_SIZE"),
    ):
        with pytest.raises(kind, match=f"launching kernel 'mix' on opencl:0: .*{name}"):
            executable.failed(code)
    opened.refuse("refused for a test")
    for use in (lambda: mix(x, y, 1.0, 1, dispatch_size=(8, 4)), y.numpy):
        with pytest.raises(lc.DeviceError, match="refused for a test"):
            use()
