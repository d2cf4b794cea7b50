"""The cuda device's own logic, on a stand-in for the driver (fake_cuda/): contexts, memory, copies,
argument packing, folding, errors, caching. Each test is a program of its own, because the driver's
library is loaded once a process. What kernels compute is tested elsewhere.
"""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

FAKE = Path(__file__).with_name("fake_cuda")

HEADER = """
import sys
sys.path[:0] = {path!r}
import ctypes, re, types
import numpy as np
import lcpy as lc
from lcpy._native import core
from lcpy.run import cache
from lcpy.run.device import discover
import pycuda.driver as driver

fake = driver.lib


class Compiler:
    identity = "fake 1"
    built = []

    def compile(self, source, name, options, arch):
        self.built.append((source, name, options, arch))
        signature = re.search(r"lcpy_main\\(([^)]*)\\)", source)[1]
        words = re.search(r"w\\[(\\d+)\\]", source)[1]
        return f"FAKE {{signature.count('*')}} {{words}}".encode()


compiler = Compiler()
from lcpy.run.cuda import launch as launching
real = launching.compiler
launching.compiler = lambda: compiler


def log():
    return fake.fake_text().decode().splitlines()


def launches():
    return [line for line in log() if line.startswith("launch")]


def raises(kind, function, *parts):
    try:
        function()
    except kind as error:
        assert type(error) is kind, type(error)
        for part in parts:
            assert part in str(error), str(error)
        return error
    raise AssertionError(f"no {{kind.__name__}}")


@lc.kernel(block_size=64)
def double(x: lc.Buffer[lc.float32]):
    x[lc.dispatch_id().x] *= 2.0


@lc.kernel(block_size=(8, 8, 1))
def add(x: lc.Buffer[lc.float32], y: lc.Buffer[lc.int32], a: lc.int32):
    y[lc.dispatch_id().x] = y[lc.dispatch_id().x] + lc.int32(x[0]) + a
"""
FOOTER = """
assert not [line for line in log() if line.startswith("FAULT")], log()
assert fake.fake_depth() == 0, "a context was left current"
print("end")
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The stand-in for libcuda, compiled."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if not compiler:
        pytest.skip("no C++ compiler for the stand-in driver")
    made = tmp_path_factory.mktemp("fake") / "libcuda.so.1"
    command = [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"]
    subprocess.run([*command, str(FAKE / "libcuda.cpp"), "-o", str(made), "-ldl"], check=True)
    return made


@pytest.fixture
def program(library, tmp_path):
    """Runs a program on the stand-in; a crash, a fault of use or a hang fails."""

    def run(code, footer=FOOTER, **environment):
        path = tmp_path / f"program{abs(hash(code))}.py"
        header = HEADER.format(path=[str(FAKE), *sys.path])
        path.write_text(header + textwrap.dedent(code) + footer)
        variables = {
            **os.environ,
            "FAKE_CUDA": str(library),
            "LCPY_CACHE_DIR": str(tmp_path / "cache"),
            **environment,
        }
        done = subprocess.run(
            [sys.executable, str(path)], capture_output=True, text=True, timeout=120, env=variables
        )
        assert done.returncode == 0, done.stderr
        assert not footer or done.stdout.endswith("end\n"), done.stdout
        return done.stdout

    return run


def test_discovery_makes_no_context_and_describes(program):
    program(
        """
        infos = discover("cuda")[0]  # not all devices: other drivers would meet the stand-in
        assert [d.name for d in infos] == ["cuda:0", "cuda:1"]
        assert infos[0].type == "discrete" and infos[0].driver == "CUDA 13.0"
        assert infos[0].limits["warp_size"] == 32 and infos[0].limits["shared_bytes"] == 232448
        assert infos[0].limits["compute_capability"] == (9, 0)
        assert all(infos[0].features.values())
        assert fake.fake_retained() == 0
        assert lc.Device("cuda") is lc.Device("cuda:0") and fake.fake_retained() == 1
        raises(lc.DeviceError, lambda: lc.Device("cuda:2"), "cuda:0, cuda:1")
        """,
        FAKE_CUDA_DEVICES="2",
    )


def test_what_is_missing_is_said(program):
    code = """
    raises(lc.DeviceError, lambda: lc.Device("cuda"), {part!r})
    assert not discover("cuda")[0]
    """
    program(code.format(part="does not start: no CUDA-capable"), FAKE_CUDA_INIT="no CUDA-capable")
    program(code.format(part="shows no device"), FAKE_CUDA_DEVICES="0")
    program(code.format(part="compute capability is 3.0, 5.3 is needed"), FAKE_CUDA_OLD="1")
    program(
        "\n    del sys.modules['pycuda.driver']; sys.modules['pycuda'] = None"
        + code.format(part="pip install lcpy[cuda]")
    )


def test_copies_of_every_size_and_fills(program):
    program(
        """
        lc.init("cuda")
        for n in (0, 1, 3, 1000, 70_000, 5_000_000):  # up to 20 MB, past the staging blocks
            a = np.arange(n, dtype=np.int32)
            b = lc.Buffer(a)
            assert (b.numpy() == a).all()
            c = lc.Buffer(n, lc.int32)
            assert not c.numpy().any()
            c.copy_from(b)
            assert (c.numpy() == a).all()
        v = np.random.default_rng(1).random((3_000_000, 3), np.float32)  # repacked, 48 MB
        assert (lc.Buffer(v, lc.float3).numpy() == v).all()
        for value, T in ((7, lc.uint8), (300, lc.int16), (-5, lc.int32), (1.5, lc.float64),
                         ((1, 2, 3), lc.float3), ((4, 4, 4, 4), lc.int4), ((1, 2), lc.ubyte2)):
            for n in (1, 5, 40_000):
                b = lc.Buffer(n + 2, T)
                b.view(1, n + 1).fill(value)
                got = b.numpy()
                assert (got[1 : n + 1] == np.asarray(value)).all() and not got[0].any()
                assert not got[n + 1].any(), (T, n)
        assert fake.fake_count(b"cuMemAlloc") < 60  # small ones are used again
        """
    )


def test_memory_comes_back(program):
    program(
        """
        import gc
        lc.init("cuda")
        for n in (10, 100_000, 3_000_000):
            for _ in range(50):
                lc.Buffer(n, lc.float32)
        gc.collect()
        assert fake.fake_total() < 2 << 20, fake.fake_total()
        keep = [lc.Buffer(1000, lc.float32) for _ in range(100)]
        before = fake.fake_count(b"cuMemAlloc")
        del keep
        keep = [lc.Buffer(1000, lc.float32) for _ in range(100)]
        assert fake.fake_count(b"cuMemAlloc") == before
        """
    )


def test_out_of_memory_can_be_survived(program):
    program(
        """
        lc.init("cuda")
        x = lc.Buffer(np.ones(64, np.float32))
        small = [lc.Buffer(200_000, lc.float32) for _ in range(8)]
        del small  # kept for reuse
        fake.fake_limit(fake.fake_total() + 1000)
        big = lc.Buffer(1_500_000, lc.float32)  # takes the room of what was kept
        raises(lc.DeviceError.OutOfMemory, lambda: lc.Buffer(1 << 30, lc.float32),
               "cuMemAlloc of 4294967296 bytes", "CUDA_ERROR_OUT_OF_MEMORY", "cuda:0 has")
        double(x, dispatch_size=64)
        assert x.numpy()[0] == 1 and len(launches()) == 1
        """
    )


def test_arguments_and_grids(program):
    program(
        """
        device = lc.init("cuda")
        x, y = lc.Buffer(100, lc.float32), lc.Buffer(100, lc.int32)
        for _ in range(3):
            double(x, dispatch_size=128)
        double(x, dispatch_size=100)
        lines = [line.split(" / ") for line in launches()]
        assert [line[0] for line in lines] == ["launch 2 1 1"] * 4
        assert all(line[1:4] == ["64 1 1", "0", "1"] for line in lines), lines
        sizes = [line[4].split()[:3] for line in lines]
        assert sizes == [["80", "1", "1"]] * 3 + [["64", "1", "1"]]
        add(x, y, -2, dispatch_size=(20, 9))
        line = launches()[-1].split(" / ")
        assert line[0] == "launch 3 2 1" and line[1] == "8 8 1" and line[3] == "1 1"
        assert line[4].split()[:3] == ["14", "9", "1"] and "fffffffe" in line[4].split()
        double(x, dispatch_size=0)
        assert len(launches()) == 5
        view = x.view(10, 20)
        double(view, dispatch_size=64)
        assert "a" in launches()[-1].split(" / ")[4].split()  # its start travels in the block
        """
    )


def test_a_grid_over_the_limits_is_folded(program):
    program(
        """
        lc.init("cuda")
        x, y = lc.Buffer(100, lc.float32), lc.Buffer(100, lc.int32)
        for _ in range(2):
            add(x, y, 1, dispatch_size=(8, 8 * 100_000))
        lines = [line.split(" / ") for line in launches()]
        assert [line[0] for line in lines] == ["launch 100000 1 1"] * 2, lines
        assert lines[0][4].split()[:3] == ["8", "c3500", "1"]
        assert len(compiler.built) == 2 and compiler.built[0][0] != compiler.built[1][0]
        raises(lc.UnsupportedError, lambda: add(x, y, 1, dispatch_size=(1 << 31, 1 << 31)),
               "a dispatch of", "takes 4294967295")
        """
    )


def test_shared_memory_over_the_static_limit_is_asked_for(program):
    program(
        """
        lc.init("cuda")

        def kernel(n):
            @lc.kernel(block_size=64)
            def uses(x: lc.Buffer[lc.float32]):
                s = lc.shared(lc.float32, n)
                s[lc.thread_id().x] = 1.0
                lc.sync_block()
                x[0] = s[3]
            return uses

        x = lc.Buffer(4, lc.float32)
        kernel(1000)(x, dispatch_size=64)
        kernel(20_000)(x, dispatch_size=64)
        assert [line.split(" / ")[2] for line in launches()] == ["0", "80000"]
        raises(lc.UnsupportedError, lambda: kernel(1 << 20)(x, dispatch_size=64), "232448")
        """
    )


def test_buffers_that_overlap_are_not_called_restrict(program):
    program(
        """
        lc.init("cuda")

        @lc.kernel(block_size=64)
        def move(a: lc.Buffer[lc.float32], b: lc.Buffer[lc.float32]):
            b[lc.dispatch_id().x] = a[lc.dispatch_id().x]

        x, y = lc.Buffer(64, lc.float32), lc.Buffer(64, lc.float32)
        for _ in range(2):
            move(x, y, dispatch_size=64)
        for _ in range(2):
            move(x, x, dispatch_size=64)
        assert ["restrict" in built[0] for built in compiler.built] == [True, False]
        assert len(launches()) == 4
        """
    )


def test_errors_name_the_call_and_the_code(program):
    program(
        """
        lc.init("cuda")
        x = lc.Buffer(np.ones(64, np.float32))
        double(x, dispatch_size=64)
        fake.fake_fail(b"cuLaunchKernel", 701, 0)
        raises(lc.DeviceError, lambda: double(x, dispatch_size=64), "cuLaunchKernel of 'double'",
               "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")
        double(x, dispatch_size=64)  # the device goes on
        assert x.numpy()[5] == 1
        fake.fake_fail(b"cuLaunchKernel", 999, 0)
        raises(lc.DeviceError, lambda: double(x, dispatch_size=64), "result 999")
        fake.fake_fail(b"cuMemHostAlloc", 2, 0)
        raises(lc.DeviceError.OutOfMemory, lambda: lc.Buffer(np.ones(1 << 20, np.float32)))
        """
    )


def test_a_fault_in_a_kernel_loses_the_device_and_no_other(program):
    program(
        """
        lc.init("cuda")
        x = lc.Buffer(np.ones(64, np.float32))
        double(x, dispatch_size=64)
        fake.fake_fail(b"cuStreamSynchronize", 700, 0)
        lost = lc.DeviceError.DeviceLost
        raises(lost, lambda: x.numpy(), "cuStreamSynchronize", "CUDA_ERROR_ILLEGAL_ADDRESS")
        for use in (lambda: x.numpy(), lambda: double(x, dispatch_size=64), lambda: x.fill(1),
                    lambda: lc.Buffer(3, lc.float32), lambda: lc.Buffer(np.ones(3))):
            raises(lost, use, "was lost")
        assert len(launches()) == 1
        lc.synchronize()
        y = lc.Buffer(np.ones(64, np.float32), device="cpu")
        double(y, dispatch_size=64)
        assert y.numpy().sum() == 128
        """
    )


def test_threads_fork_and_end(program):
    program(
        """
        import os, threading
        lc.init("cuda")
        x = lc.Buffer(np.ones(640, np.float32))
        wrong = []

        def work(k):
            try:
                for i in range(100):
                    y = lc.Buffer(np.full(1000 + 3000 * k, k, np.float32))
                    double(x, dispatch_size=640)
                    if (y.numpy() != k).any() or fake.fake_depth():
                        wrong.append(k)
            except Exception as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        [t.start() for t in threads], [t.join() for t in threads]
        assert not wrong, wrong
        assert len(launches()) == 800 and len(compiler.built) == 1
        pid = os.fork()
        if pid == 0:
            for use in (lambda: double(x, dispatch_size=640), x.numpy):
                raises(lc.DeviceError, use, "before this process was forked")
            del x
            sys.stdout.flush()
            os._exit(0 if len(launches()) == 800 else 1)
        assert os.waitpid(pid, 0)[1] == 0
        double(x, dispatch_size=640)
        assert len(launches()) == 801
        keep = [x.view(i, i + 1) for i in range(9)]
        """
    )


def test_compiled_kernels_are_kept_for_the_next_process(program):
    code = """
    lc.init("cuda")
    x = lc.Buffer(np.ones(64, np.float32))
    double(x, dispatch_size=64)
    double(x, dispatch_size=64)
    print(len(compiler.built), len(launches()))
    """
    assert program(code).startswith("1 2")
    assert program(code).startswith("0 2")
    assert program(code.replace("lc.init", 'compiler.identity = "fake 2"; lc.init')).startswith(
        "1 2"
    )


def test_a_build_that_fails_keeps_nothing(program):
    program(
        """
        lc.init("cuda")
        x = lc.Buffer(np.ones(64, np.float32))
        works = compiler.compile

        def fails(*arguments):
            raise lc.DeviceError("NVRTC: no")

        compiler.compile = fails
        for _ in range(2):
            raises(lc.DeviceError, lambda: double(x, dispatch_size=64), "NVRTC: no")
        compiler.compile = works
        double(x, dispatch_size=64)
        assert len(compiler.built) == 1 and len(launches()) == 1
        """
    )


def test_another_users_context_stays_current(program):
    program(
        """
        lc.init("cuda")
        x = lc.Buffer(np.ones(64, np.float32))
        other = ctypes.c_void_p(1234)
        fake.cuCtxPushCurrent_v2(other)
        for _ in range(3):
            double(x, dispatch_size=64)
        x.numpy()
        now = ctypes.c_void_p()
        fake.cuCtxGetCurrent(ctypes.byref(now))
        assert now.value == 1234 and fake.fake_depth() == 1
        fake.cuCtxPopCurrent_v2(ctypes.byref(now))
        """
    )


def test_a_real_cubin_is_loaded_and_kept(program):
    from lcpy.run import nvrtc

    if not nvrtc.libraries():
        pytest.skip("NVRTC is not here")
    code = """
    import json, os, subprocess

    def apart(source, name, options, arch):
        compiler.built.append(name)
        variables = dict(os.environ, APART_PATH=json.dumps(sys.path))
        command = [sys.executable, os.environ["APART"], str(arch), *options]
        done = subprocess.run(
            command, input=source.encode(), stdout=subprocess.PIPE, check=True, env=variables
        )
        return done.stdout

    compiler.compile = apart
    lc.init("cuda")
    x = lc.Buffer(np.ones(64, np.float32))
    double(x, dispatch_size=64)
    assert len(launches()) == 1
    print(len(compiler.built))
    """
    apart = str(FAKE / "compile_apart.py")
    assert program(code, APART=apart).startswith("1")
    assert program(code, APART=apart).startswith("0")


def test_without_nvrtc_nvcc_is_asked(program, tmp_path):
    """A stand-in for nvcc checks its arguments; without it the error names both."""
    code = """
    from lcpy.run import nvrtc
    def missing():
        raise lc.DeviceError("NVRTC is not here")
    nvrtc.compiler = missing
    launching.compiler = real
    lc.init("cuda")
    x = lc.Buffer(np.ones(64, np.float32))
    """
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "a = sys.argv[1:]\n"
        "assert a[:2] == ['-cubin', '-arch=sm_90'] and '--std=c++17' in a and a[-2] == '-o', a\n"
        "source = open(a[-3]).read()\n"
        "if 'broken' in source: sys.exit('kernel.cu(3): error: no')\n"
        "open(a[-1], 'w').write('FAKE 1 4')\n"
    )
    nvcc.chmod(0o755)
    code = textwrap.dedent(code)
    here = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    program(code + "double(x, dispatch_size=64); assert len(launches()) == 1", **here)
    broken = """
    @lc.kernel(block_size=64)
    def broken(broken: lc.Buffer[lc.float32]):
        broken[0] = 1.0
    raises(lc.DeviceError, lambda: broken(x, dispatch_size=64), "compile 'broken'", "error: no")
    """
    program(code + textwrap.dedent(broken), **here)
    neither = """
    raises(lc.DeviceError, lambda: double(x, dispatch_size=64), "NVRTC is not here", "nvcc")
    """
    nowhere = {"PATH": "/nowhere", "CUDA_HOME": "", "CUDA_PATH": "", "LCPY_CACHE_DIR": ""}
    program(code + textwrap.dedent(neither), **nowhere)
