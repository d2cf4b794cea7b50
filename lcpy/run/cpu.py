"""The cpu device: the core's interpreter on the host's own memory. The wheel is all it needs."""

import os
import time

from .._native import core
from ..errors import ArgumentError, OutOfMemory, UnsupportedError
from .device import DeviceBase, DeviceInfo, Executable

LIMITS = {"max_block": 1024, "max_shared": 1 << 20}
WARP_SIZES = (8, 16, 32, 64)


def warp_size_of(text, what):
    """A warp's width from what the user wrote; ArgumentError when it is none."""
    try:
        width = int(text)
    except (TypeError, ValueError):
        width = 0
    if width not in WARP_SIZES or isinstance(text, (bool, float)):
        raise ArgumentError(f"{what}: 8, 16, 32 or 64, not {text!r}")
    return width


def discover():
    import platform

    processor = platform.machine()
    width = warp_size_of(os.environ.get("LCPY_CPU_WARP") or 32, "LCPY_CPU_WARP")
    limits = dict(LIMITS, threads=os.cpu_count(), warp_size=width)
    features = {
        "float16": "native",
        "float64": True,
        "int64": True,
        "int8": True,
        "int16": True,
        "int64_atomics": True,
        "denormals": True,
    }
    info = DeviceInfo(
        "cpu", "cpu", "software", f"interpreter on {processor}", "lcpy", limits, features
    )
    return [info], None


def with_warp_size(info, width):
    """The DeviceInfo of the cpu device with warps of that many lanes: a device of its own."""
    if width == info.limits["warp_size"]:
        return info
    return DeviceInfo(
        f"cpu:warp{width}",
        *(info.kind, info.type, info.description, info.driver),
        dict(info.limits, warp_size=width),
        info.features,
    )


def open_device(info):
    return CpuDevice(info)


class CpuExecutable(Executable):
    """Holds the program that core.BoundCall runs; every launch has ended when it returns."""

    def __init__(self, program, seconds):
        self.program = program
        self.times = {"core": seconds, "validation": 0.0, "driver": 0.0}


class CpuDevice(DeviceBase):
    program_is_host = True

    def __init__(self, info):
        super().__init__(info)
        self.isa = os.environ.get("LCPY_CPU_ISA", "")
        self.threads = int(os.environ.get("LCPY_CPU_THREADS", "0"))

    def allocate(self, nbytes, zero):
        try:
            memory = core.HostMemory(nbytes, zero)
        except MemoryError:
            raise OutOfMemory(f"cpu: {nbytes} bytes cannot be had") from None
        return memory, memory.address

    def address(self, memory):
        return memory.address

    def upload(self, memory, offset, nbytes, write):
        write(memory.address + offset)

    def download(self, memory, offset, nbytes, read):
        read(memory.address + offset)

    def copy(self, to, to_offset, source, source_offset, nbytes):
        core.copy_bytes(to.address + to_offset, source.address + source_offset, nbytes)

    def compile(self, request):
        need, have = request.descriptor.shared_bytes, LIMITS["max_shared"]
        if need > have:
            raise UnsupportedError(
                f"kernel '{request.name}' needs {need} bytes of shared memory a block; the device "
                f"has {have}"
            )
        start = time.perf_counter()
        program = core.Program(request.descriptor, self.isa, self.limits["warp_size"])
        return CpuExecutable(program, time.perf_counter() - start)

    def wait(self):
        pass
