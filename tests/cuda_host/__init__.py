"""A device for tests: the emitted CUDA C++, compiled by g++ and run on the processor.

It is one of the devices of tests/conftest.py, for the folders that try the language itself. PTX
instructions become calls of functions in shim.h. Threads of a block take turns at barriers and warp
operations; blocks run one after another. LCPY_CUDA_HOST_FLAGS has more options for g++,
"-fsanitize=undefined" say.
NVRTC compiles the text too, for one architecture, with LCPY_CUDA_HOST_ARCH=all for every one.
"""

import ctypes
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from lcpy._native import core
from lcpy.errors import DeviceError, UnsupportedError
from lcpy.run import nvrtc
from lcpy.run.cpu import CpuDevice
from lcpy.run.device import DeviceInfo, Executable

FOLDER = Path(__file__).resolve().parent
COMPILER = os.environ.get("LCPY_CUDA_HOST_CXX") or shutil.which("g++")
CONTRACTION = {"strict": "off", "ieee": "off", "fast": "fast"}
ARCHITECTURES = (75, 90, 100)
ALL_ARCHITECTURES = os.environ.get("LCPY_CUDA_HOST_ARCH") == "all"
_lock = threading.Lock()  # one grid at a time: threadIdx is a global


@functools.cache
def device():
    """The one device, or None without g++."""
    if COMPILER is None:
        return None
    features = dict.fromkeys(
        ("float64", "int64", "int8", "int16", "int64_atomics", "denormals"), True
    )
    features["float16"] = "native"
    limits = {"max_block": 1024, "max_shared": 232448, "warp_size": 32}
    text = "emitted CUDA C++ compiled by g++"
    return HostDevice(
        DeviceInfo("cuda_host", "cuda_host", "software", text, "g++", limits, features)
    )


@functools.cache
def folder():
    """Where what is built lies, for as long as the process lives."""
    import atexit

    path = tempfile.mkdtemp(prefix="lcpy_cuda_host_")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def compile_shared(source, name, flags):
    path = folder() / f"{name}.so"
    command = [COMPILER, "-shared", "-fPIC", "-std=c++17", "-w", *flags, "-x", "c++", "-"]
    command += ["-o", path, "-lm"]
    done = subprocess.run(command, input=source.encode(), capture_output=True)
    if done.returncode:
        (folder() / f"{name}.cpp").write_text(source)
        raise DeviceError(f"g++ of {name}:\n{done.stderr.decode()[:4000]}")
    return path


@functools.cache
def support():
    """The library that runs blocks. It is loaded for all: kernels find threadIdx in it."""
    path = compile_shared((FOLDER / "blocks.cpp").read_text(), "libblocks", ["-O2"])
    return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


ASM = re.compile(
    r'asm(?: volatile)?\("(?:\{(?:\.reg [^;]*; )+)?([a-z0-9_.]+)[^"]*"((?:[^()]|\([^()]*\))*)\);'
)


def as_call(match):
    operands = re.findall(r'"[^"]*"\(([^()]*)\)', match.group(2))
    return f"ptx_{match.group(1).replace('.', '_')}({', '.join(operands)});"


def host_source(source, dynamic_shared):
    """The emitted text as C++, with `lcpy_run(buffers, argument block)` behind the kernel."""
    source = ASM.sub(as_call, source)
    source = source.replace(
        "extern __shared__ __attribute__((aligned(16))) uchar lcpy_shared[];",
        f"alignas(16) static uchar lcpy_shared[{dynamic_shared}];",
    )
    parameters = re.search(r"\nlcpy_main\((.*)\) \{\n", source).group(1).split(", ")[:-1]
    types = [p.rsplit("*", 1)[0] + "*" for p in parameters]
    given = "".join(f"({t})buffers[{i}], " for i, t in enumerate(types))
    call = f"lcpy_main({given}*(const lcpy_block*)block);"
    tail = "}  // namespace lc"
    assert source.rstrip().endswith(tail)
    run = f'extern "C" void lcpy_run(void** buffers, const void* block) {{ {call} }}\n'
    return f'#include "{FOLDER / "shim.h"}"\n' + source.rstrip()[: -len(tail)] + run + tail + "\n"


def check_by_nvrtc(name, text, options, turn):
    """NVRTC, where it is, takes what g++ takes: for one architecture, each in its turn."""
    try:
        compiler = nvrtc.compiler()
    except DeviceError:
        return
    known = [a for a in ARCHITECTURES if a in compiler.architectures]
    for arch in known if ALL_ARCHITECTURES else known[turn % len(known) :][:1]:
        compiler.compile(text, name, options, arch, "ptx")


class HostExecutable(Executable):
    def __init__(self, name, descriptor, math, **how):
        start = time.perf_counter()
        text = core.emit_cuda(descriptor, **how)
        self.fold = how.get("fold", False)
        self.times = {"core": time.perf_counter() - start, "validation": 0.0, "driver": 0.0}
        source = host_source(text, core.cuda_dynamic_shared(descriptor))
        support()
        digest = hashlib.sha256(source.encode() + math.encode()).hexdigest()[:16]
        flags = ["-O1", f"-ffp-contract={CONTRACTION[math]}", "-fno-strict-aliasing"]
        flags += os.environ.get("LCPY_CUDA_HOST_FLAGS", "").split()
        path = folder() / f"{name}_{digest}.so"
        if not path.exists():
            options = core.cuda_build_options(descriptor).split()
            check_by_nvrtc(name, text, options, int(digest, 16))
            compile_shared(source, path.stem, flags)
        library = ctypes.CDLL(str(path))
        self.entry = ctypes.cast(library.lcpy_run, ctypes.c_void_p)
        self.block_size = descriptor.block_size
        self.together = "__syncthreads" in text or "_sync(" in text

    def launch(self, memories, block, x, y, z):
        self.launch_at([m.address for m in memories], block, x, y, z)

    def launch_at(self, addresses, block, x, y, z):
        grid = [-(-n // b) for n, b in zip((x, y, z), self.block_size)]
        if self.fold:  # another grid of at least as many blocks
            count = grid[0] * grid[1] * grid[2]
            grid = [3, 2, count // 6 + 1]
        pointers = (ctypes.c_void_p * max(len(addresses), 1))(*addresses)
        three = ctypes.c_uint * 3
        with _lock:
            support().lcpy_host_launch(
                self.entry, pointers, block, three(*grid), three(*self.block_size), self.together
            )


class LazyExecutable(Executable):
    """Built at its first launch, when it is known whether buffers overlap; once for each case."""

    def __init__(self, request):
        self.request, self.built = request, {}

    def launch(self, memories, block, x, y, z):
        apart = len(set(map(id, memories))) == len(memories)
        made = self.built.get(apart)
        if made is None:
            r = self.request
            made = HostExecutable(r.name, r.descriptor, r.math, restrict=apart)
            self.built[apart] = made
        made.launch(memories, block, x, y, z)


class HostDevice(CpuDevice):
    program_is_host = False

    def compile(self, request):
        need, have = request.descriptor.shared_bytes, self.limits["max_shared"]
        if need > have:
            raise UnsupportedError(
                f"kernel '{request.name}' needs {need} bytes of shared memory a block; the device "
                f"has {have}"
            )
        core.emit_cuda(request.descriptor)  # what is refused is refused before a launch
        return LazyExecutable(request)
