"""Discovery, choice, limits, fork, threads and the end of the process."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import lcpy as lc
from lcpy.run import device as devices


def run_python(code, **environment):
    """Runs a program of its own; its standard output. A crash or a hang fails."""
    header = f"import sys; sys.path[:0] = {sys.path!r}\nimport lcpy as lc, numpy as np\n"
    # Kernels are read from their source, so the program needs a file.
    path = os.path.join(os.environ["PYTEST_TMP"], f"program{abs(hash(code))}.py")
    with open(path, "w") as file:
        file.write(header + textwrap.dedent(code))
    done = subprocess.run(
        [sys.executable, path],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_TMP", str(tmp_path))


KERNEL = """
@lc.kernel(block_size=64)
def double(x: lc.Buffer[lc.float32]):
    x[lc.dispatch_id().x] *= 2.0
"""


def test_devices_are_described():
    found = lc.devices()
    assert [d.name for d in found].count("cpu") == 1
    for info in found:
        assert info.kind in devices.KINDS and info.type in ("discrete", "integrated", "software")
        assert (
            info.description
            and info.driver
            and info.limits["block_threads" if info.kind != "cpu" else "threads"]
        )
        assert lc.Device(info.name) is lc.Device(info) and lc.Device(info.name).name == info.name


def test_names_that_are_no_device():
    for name in ("gpu", "cpu:x", "vulkan:-1", ""):
        with pytest.raises(lc.ArgumentError, match="vulkan"):
            lc.Device(name)
    with pytest.raises(lc.ArgumentError):
        lc.Device(3)
    with pytest.raises(lc.DeviceError, match="found of its kind: cpu"):
        lc.Device("cpu:1")


def test_names_that_are_to_come_are_refused_by_name():
    for use in (lambda: lc.Stream(), lambda: lc.Image2D[lc.float32]):
        with pytest.raises(lc.UnsupportedError, match="not here yet"):
            use()
    assert not hasattr(lc, "nothing_of_the_sort")


def test_the_environment_chooses_the_default():
    code = """
    print(lc.Buffer(3, int).device.name, lc.init("cpu").name, lc.Buffer(3, int).device.name)
    """
    assert run_python(code, LCPY_DEVICE="cpu") == "cpu cpu cpu"
    code = """
    try:
        lc.Buffer(3, lc.int32)
    except lc.Error as e:
        print(type(e).__name__, "nothing" in str(e))
    """
    assert run_python(code, LCPY_DEVICE="nothing") == "ArgumentError True"


def test_a_missing_driver_says_what_would_add_it():
    code = """
    import importlib.util as u
    real = u.find_spec
    u.find_spec = lambda name, *a: None if name == "vulkan" else real(name, *a)
    sys.modules["pyopencl"] = sys.modules["pycuda"] = None
    assert [d.name for d in lc.devices()] == ["cpu"]
    for kind in ("vulkan", "opencl", "cuda"):
        try: lc.init(kind)
        except lc.DeviceError as e: print(e)
    """
    out = run_python(code)
    for kind in ("vulkan", "opencl", "cuda"):
        assert f"pip install lcpy[{kind}]" in out


def test_importing_and_listing_loads_no_driver_before_it_is_asked_for():
    code = (
        KERNEL
        + """
x = lc.Buffer(np.ones(100, np.float32), device="cpu")
double(x, dispatch_size=100)
drivers = ("pyopencl", "pycuda", "lcpy.run.vulkan", "lcpy.run.opencl", "lcpy.run.cuda")
print(x.numpy().sum(), [m for m in drivers if m in sys.modules])
"""
    )
    assert run_python(code) == "200.0 []"


def test_fork_gives_a_clear_error_in_the_child(device):
    """R080; the cpu device goes on working."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    code = (
        KERNEL
        + f"""
import os
x = lc.Buffer(np.ones(300, np.float32), device={device.name!r})
double(x, dispatch_size=300)
x.numpy()
pid = os.fork()
if pid == 0:
    try:
        double(x, dispatch_size=300)
        print("child", x.numpy().sum())
    except lc.DeviceError as e:
        print("child", "forked" in str(e))
    sys.stdout.flush()
    os._exit(0)
os.waitpid(pid, 0)
double(x, dispatch_size=300)
print("parent", x.numpy().sum())
"""
    )
    out = run_python(code).splitlines()
    assert out == ["child 1200.0" if device.kind == "cpu" else "child True", "parent 1200.0"]


def test_the_process_ends_well_with_work_under_way(device):
    """R089: no crash at exit, whatever is alive and in whatever order it goes."""
    code = (
        KERNEL
        + f"""
x = lc.Buffer(np.ones(1000, np.float32), device={device.name!r})
keep = [x.view(i, i + 10) for i in range(5)]
for _ in range(40):
    double(x, dispatch_size=1000)
print("end")
"""
    )
    assert run_python(code) == "end"


def test_memory_is_flat(device):
    """R089: buffers, launches and errors over and over."""
    import resource

    @lc.kernel
    def add(x: lc.Buffer[lc.float32], v: lc.float32):
        x[lc.dispatch_id().x] += v

    def work(n):
        for i in range(n):
            x = lc.Buffer(1000 + i % 3, lc.float32, device=device)
            add(x, 1.0, dispatch_size=1000)
            if i % 20 == 0:
                assert x.numpy()[:1000].min() == 1
                with pytest.raises(lc.ArgumentError):
                    add(x, "no", dispatch_size=1)

    work(200)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work(1500)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB


def test_block_limits_come_before_the_driver(other_device):
    """R067."""
    limits = other_device.limits

    @lc.kernel(block_size=64)
    def hungry(x: lc.Buffer[lc.float32]):
        s = lc.shared(lc.float32, 1 << 20)
        s[lc.thread_id().x] = 1.0
        lc.sync_block()
        x[0] = s[3]

    x = lc.Buffer(4, lc.float32, device=other_device)
    with pytest.raises(
        lc.UnsupportedError, match=f"4194304 bytes of shared memory.*{limits['shared_bytes']}"
    ):
        hungry(x, dispatch_size=64)

    x.fill(2)
    assert (x.numpy() == 2).all()  # the device is as usable as before


def test_too_many_buffers_name_limit_and_count(other_device):
    """R066."""
    import linecache

    n = 40
    text = (
        f"def crowded({', '.join(f'b{i}: lc.Buffer[lc.int32]' for i in range(n))}, v: lc.int32):\n"
    )
    text += "".join(f"    b{i}[0] = v + {i}\n" for i in range(n))
    linecache.cache["<crowded>"] = (len(text), None, text.splitlines(True), "<crowded>")
    scope = {"lc": lc}
    exec(compile(text, "<crowded>", "exec"), scope)
    crowded = lc.kernel(scope["crowded"])
    buffers = [lc.Buffer(1, lc.int32, device=other_device) for _ in range(n)]
    if other_device.limits["storage_buffers"] >= n:
        crowded(*buffers, 100, dispatch_size=1)
        assert [int(b.numpy()[0]) for b in buffers] == [100 + i for i in range(n)]
    else:
        with pytest.raises(
            lc.UnsupportedError,
            match=f"40 storage buffers.*{other_device.limits['storage_buffers']}",
        ):
            crowded(*buffers, 100, dispatch_size=1)


@lc.kernel(block_size=1)
def count_up(out: lc.Buffer[lc.uint32]):
    p = lc.dispatch_id()
    n = lc.dispatch_size()
    out[(p.z * n.y + p.y) * n.x + p.x] += (p.z * n.y + p.y) * n.x + p.x


@pytest.mark.parametrize("size", [65536 * 2 + 1, (70000, 2), (2, 70001), (1, 2, 66000)])
def test_dispatches_beyond_the_group_limit(device, size):
    """R065: every element once, with its true id."""
    n = int(np.prod(size))
    out = lc.Buffer(n, lc.uint32, device=device)
    count_up(out, dispatch_size=size)
    assert (out.numpy() == np.arange(n)).all()


@lc.kernel(block_size=(4, 2, 1))
def shared_fold(out: lc.Buffer[lc.uint32]):
    s = lc.shared(lc.uint32, 8)
    t = lc.thread_id()
    s[t.y * 4 + t.x] = lc.dispatch_id().x
    lc.sync_block()
    p = lc.dispatch_id()
    out[p.y * lc.dispatch_size().x + p.x] = s[t.y * 4 + 3 - t.x] + lc.block_id().x


def test_folded_grids_with_barriers(device):
    n = 4 * 66000
    out = lc.Buffer(2 * n, lc.uint32, device=device)
    shared_fold(out, dispatch_size=(n, 2))
    x = np.arange(n)
    want = (x // 4 * 4 + 3 - x % 4) + x // 4
    assert (out.numpy().reshape(2, n) == want).all()


def test_synchronize(device):
    x = lc.Buffer(10, lc.uint32, device=device)
    count_up(x, dispatch_size=10)
    device.synchronize()
    lc.synchronize()
    lc.synchronize(device)
    assert x.numpy()[9] == 9
