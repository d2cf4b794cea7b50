"""Descriptor to loaded function, and its launches that are not as usual."""

import time
from ctypes import byref, c_char_p, c_int, c_void_p

from ..._native import core
from ...errors import DeviceError, UnsupportedError
from ...plan import check_limits
from .. import cache
from ..device import Executable, most_bytes, small_and_apart
from . import api
from .api import check

_MAX_THREADS, _MAX_DYNAMIC_SHARED = 0, 8  # CUfunction_attribute


class Module:
    """A cubin on the device, with its one function."""

    __slots__ = ("device", "handle", "function")

    def __init__(self, device, cubin):
        self.device = device
        handle, function = c_void_p(), c_void_p()
        with device.current:
            check(
                api.lib.cuModuleLoadData(byref(handle), c_char_p(cubin)), "cuModuleLoadData", device
            )
            self.handle = handle.value
            code = api.lib.cuModuleGetFunction(byref(function), handle, b"lcpy_main")
            check(code, "cuModuleGetFunction", device)
        self.function = function.value

    def __del__(self):
        device = self.device
        if device.calls.stopped or not hasattr(self, "handle"):
            return
        lib = api.lib
        if lib.cuCtxPushCurrent_v2(device.context) == 0:
            lib.cuStreamSynchronize(device.stream)  # a launch of it may wait there
            lib.cuModuleUnload(self.handle)
            lib.cuCtxPopCurrent_v2(byref(c_void_p()))


def build(device, request):
    """An executable from a CompileRequest."""
    descriptor, name = request.descriptor, request.name
    check_limits(device.plan_limits, name, descriptor.block_size, descriptor.shared_bytes)
    buffers = sum(s[2] == "global" for s in descriptor.slots)
    need = descriptor.argument_block()[0] + buffers * 8
    if need > device.plan_limits.push_bytes:
        raise UnsupportedError(
            f"kernel '{name}' needs {need} bytes of arguments; CUDA takes "
            f"{device.plan_limits.push_bytes}"
        )
    times = {"core": 0.0, "validation": 0.0, "driver": 0.0}
    return CudaExecutable(device, request, (False, False), times)


def compile_module(device, request, fold, overlap, times):
    """The descriptor's module, from this process, the disk or the compiler."""
    start = time.perf_counter()
    source, options = request.cuda(device.arch, fold, not overlap)
    emitted = time.perf_counter()
    key = (source, tuple(options.split()))
    module = device.module(key, lambda: Module(device, _cubin(device, request.name, *key)))
    times["core"] += emitted - start
    times["driver"] += time.perf_counter() - emitted
    return module


def compiler():
    """What makes cubins: NVRTC, else nvcc; DeviceError where neither is."""
    from .. import nvrtc

    try:
        return nvrtc.compiler()
    except DeviceError as error:
        from .. import nvcc

        found = nvcc.compiler()
        if found is None:
            raise DeviceError(f"{error}; nvcc, which would do too, is not on the path") from None
        return found


def _cubin(device, name, source, options):
    made_by = compiler()
    key = cache.key_of("cubin", source, *options, str(device.arch), made_by.identity)
    return cache.default().fetch(
        key, lambda: made_by.compile(source, name, list(options), device.arch)
    )


class CudaExecutable(core.CudaExecutable, Executable):
    """A kernel built for a CUDA device.

    `variant`: (whether the grid is folded, whether two buffers may be in the same memory or one has
    2^31 elements or more).
    """

    def __init__(self, device, request, variant, times):
        self.device, self.request, self.times = device, request, times
        self.name, self.block_size = request.name, request.descriptor.block_size
        limits = device.plan_limits
        self.groups = (limits.groups_x, limits.groups_y, limits.groups_z)
        self.variants = {variant: self}
        self.most_bytes = most_bytes(request.descriptor)
        self.module = compile_module(device, request, *variant, times)
        dynamic = self._ready(self.module.function)
        self._prepare(
            device.calls,
            self.module.function,
            dynamic,
            self.block_size,
            self.groups,
            not variant[1],
            self.most_bytes,
        )

    def _ready(self, function):
        """The bytes of dynamic shared memory, asked for; UnsupportedError for too large a block."""
        device = self.device
        with device.current:
            threads = c_int()
            code = api.lib.cuFuncGetAttribute(byref(threads), _MAX_THREADS, function)
            check(code, "cuFuncGetAttribute", device)
            x, y, z = self.block_size
            if x * y * z > threads.value:
                raise UnsupportedError(
                    f"kernel '{self.name}' needs {x * y * z} threads of a block; {device.name} "
                    f"runs this kernel with {threads.value}"
                )
            dynamic = self.request.dynamic_shared()
            if dynamic:
                code = api.lib.cuFuncSetAttribute(function, _MAX_DYNAMIC_SHARED, dynamic)
                check(code, "cuFuncSetAttribute", device)
            return dynamic

    def failed(self, code):
        check(code, f"cuLaunchKernel of '{self.name}'", self.device)

    def launch(self, memories, block, x, y, z):
        self.device.check()
        bx, by, bz = self.block_size
        x, y, z = (x + bx - 1) // bx, (y + by - 1) // by, (z + bz - 1) // bz
        lx, ly, lz = self.groups
        fold = x > lx or y > ly or z > lz
        if fold:
            x, y, z = self._folded(x, y, z)
        overlap = not small_and_apart(memories, self.most_bytes)
        executable = self.variants.get((fold, overlap))
        if executable is None:
            executable = CudaExecutable(
                self.device, self.request, (fold, overlap), dict(self.times)
            )
            self.variants[fold, overlap] = executable
        executable.run(memories, block, x, y, z)

    def _folded(self, x, y, z):
        """A grid within the limits with room for the blocks of one that is not."""
        total = x * y * z
        lx, ly, lz = self.groups
        gx = min(total, lx)
        gy = min(-(-total // gx), ly)
        gz = -(-total // (gx * gy))
        if total >= 1 << 32 or gz > lz:
            raise UnsupportedError(
                f"kernel '{self.name}': a dispatch of {total} blocks; {self.device.name} takes "
                f"{min(lx * ly * lz, (1 << 32) - 1)}"
            )
        return gx, gy, gz
