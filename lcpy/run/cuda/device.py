"""The device: its primary context, one stream, and the protocol of lcpy.run.device."""

import atexit
import ctypes
import threading
import weakref
from collections import OrderedDict

from ..._native import core
from ...errors import DeviceError
from ...plan import Limits
from ..device import DeviceBase
from . import api
from .api import check
from .memory import LARGEST_STAGING, Pool, Staging

KEPT = 256  # loaded modules that stay although no kernel holds them
_FILL_STEP = 1 << 16  # bytes of a pattern that are written by the host, then doubled


class CudaDevice(DeviceBase):
    """The primary context, shared with PyCUDA, PyTorch and others in this process, is made current
    for the length of a call and never left so."""

    def __init__(self, info):
        super().__init__(info)
        api.load()
        self.plan_limits = Limits(**{name: info.limits[name] for name in Limits._fields})
        major, minor = info.limits["compute_capability"]
        self.arch = major * 10 + minor
        from .discovery import drv

        try:
            self.primary = info._handle.retain_primary_context()  # held as long as the device
        except drv.Error as error:
            raise DeviceError(f"making a context on {self.name}: {error}") from None
        self.context = self.primary.handle
        self.current = api.Current(self.context, self)
        stream = ctypes.c_void_p()
        with self.current:
            # A blocking stream: in order with the default stream, where other libraries work.
            check(api.lib.cuStreamCreate(ctypes.byref(stream), 0), "cuStreamCreate", self)
        self.stream = stream.value
        self.calls = core.CudaCalls(
            self.context,
            self.stream,
            *[
                api.address_of(name)
                for name in (
                    "cuLaunchKernel",
                    "cuCtxGetCurrent",
                    "cuCtxPushCurrent_v2",
                    "cuCtxPopCurrent_v2",
                )
            ],
        )
        self.pool, self.staging = Pool(self), Staging(self)
        self.modules = OrderedDict()  # (source, options) -> Module
        self.lock = threading.Lock()
        atexit.register(_close, weakref.ref(self))

    def refuse(self, text, kind=DeviceError):
        super().refuse(text, kind)
        self.calls.stopped = True

    # ---- memory ---------------------------------------------------------------------------------
    def allocate(self, nbytes, zero):
        self.check()
        memory = self.pool.take(nbytes)
        if zero:
            with self.current:
                check(
                    api.lib.cuMemsetD8Async(memory.pointer, 0, nbytes, self.stream),
                    "cuMemsetD8Async",
                    self,
                )
        return memory, 0

    def _to_device(self, pointer, host, nbytes):
        code = api.lib.cuMemcpyHtoDAsync_v2(pointer, host, nbytes, self.stream)
        check(code, f"cuMemcpyHtoDAsync of {nbytes} bytes", self)

    def _to_host(self, host, pointer, nbytes):
        """Copies and waits."""
        code = api.lib.cuMemcpyDtoHAsync_v2(host, pointer, nbytes, self.stream)
        check(code, f"cuMemcpyDtoHAsync of {nbytes} bytes", self)
        self._wait()

    def _wait(self):
        check(api.lib.cuStreamSynchronize(self.stream), "cuStreamSynchronize", self)

    def upload(self, memory, offset, nbytes, write):
        self.check()
        pointer = memory.pointer + offset
        with self.current:
            if nbytes > LARGEST_STAGING:
                host = ctypes.create_string_buffer(nbytes)
                write(ctypes.addressof(host))
                self._to_device(pointer, ctypes.addressof(host), nbytes)
                self._wait()
                return
            block = self.staging.take(nbytes)
            try:
                write(block.address)
                self._to_device(pointer, block.address, nbytes)
                self.staging.mark(block)
            finally:
                self.staging.give_back(block)

    def download(self, memory, offset, nbytes, read):
        self.check()
        pointer = memory.pointer + offset
        with self.current:
            if nbytes > LARGEST_STAGING:
                host = ctypes.create_string_buffer(nbytes)
                self._to_host(ctypes.addressof(host), pointer, nbytes)
                read(ctypes.addressof(host))
                return
            block = self.staging.take(nbytes)
            try:
                self._to_host(block.address, pointer, nbytes)
                read(block.address)
            finally:
                self.staging.give_back(block)

    def upload_plain(self, memory, offset, nbytes, host):
        if nbytes <= LARGEST_STAGING:
            super().upload_plain(memory, offset, nbytes, host)
            return
        self.check()
        with self.current:
            self._to_device(memory.pointer + offset, host, nbytes)
            self._wait()  # the caller may change its array when this returns

    def download_plain(self, memory, offset, nbytes, host):
        if nbytes <= LARGEST_STAGING:
            super().download_plain(memory, offset, nbytes, host)
            return
        self.check()
        with self.current:
            self._to_host(host, memory.pointer + offset, nbytes)

    def copy(self, to, to_offset, source, source_offset, nbytes):
        self.check()
        with self.current:
            self._copy(to.pointer + to_offset, source.pointer + source_offset, nbytes)

    def _copy(self, to, source, nbytes):
        code = api.lib.cuMemcpyDtoDAsync_v2(to, source, nbytes, self.stream)
        check(code, f"cuMemcpyDtoDAsync of {nbytes} bytes", self)

    def fill(self, memory, offset, pattern, count):
        self.check()
        pointer, size = memory.pointer + offset, len(pattern)
        nbytes = size * count
        for width, call in (
            (1, "cuMemsetD8Async"),
            (2, "cuMemsetD16Async"),
            (4, "cuMemsetD32Async"),
        ):
            if size % width or pointer % width or pattern[:width] * (size // width) != pattern:
                continue
            value = int.from_bytes(pattern[:width], "little")
            with self.current:
                code = getattr(api.lib, call)(pointer, value, nbytes // width, self.stream)
                check(code, call, self)
            return
        first = min(count, max(1, _FILL_STEP // size))
        super().fill(memory, offset, pattern, first)
        done = first * size
        with self.current:
            while done < nbytes:
                step = min(done, nbytes - done)
                self._copy(pointer + done, pointer, step)
                done += step

    # ---- kernels --------------------------------------------------------------------------------
    def compile(self, request):
        self.check()
        from .launch import build

        return build(self, request)

    def module(self, key, load):
        """The loaded module of a key, loaded now if it is not there."""
        with self.lock:
            found = self.modules.get(key)
            if found is not None:
                self.modules.move_to_end(key)
                return found
        made = load()
        with self.lock:
            self.modules[key] = made
            if len(self.modules) > KEPT:
                self.modules.popitem(last=False)
        return made

    def wait(self):
        self.check()
        with self.current:
            self._wait()


def _close(reference):
    """At the end of the process the driver gives everything back by itself, in its own order."""
    device = reference()
    if device is not None:
        device.calls.stopped = True
