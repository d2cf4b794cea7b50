"""The driver's functions, called through ctypes beside PyCUDA; results as errors.

PyCUDA finds the driver, describes the devices and retains the primary context. What it makes itself
(memory, modules, streams) can be freed only in the thread that made the context, and a launch
through it costs several µs; so those are the driver's own, on the same context.
"""

import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_ushort, c_void_p

from ...errors import DeviceError, DeviceLost, OutOfMemory

_Address = ctypes.c_uint64
_FUNCTIONS = {
    "cuGetErrorName": (c_int, POINTER(c_char_p)),
    "cuGetErrorString": (c_int, POINTER(c_char_p)),
    "cuCtxGetCurrent": (POINTER(c_void_p),),
    "cuCtxPushCurrent_v2": (c_void_p,),
    "cuCtxPopCurrent_v2": (POINTER(c_void_p),),
    "cuStreamCreate": (POINTER(c_void_p), c_uint),
    "cuStreamSynchronize": (c_void_p,),
    "cuStreamDestroy_v2": (c_void_p,),
    "cuEventCreate": (POINTER(c_void_p), c_uint),
    "cuEventRecord": (c_void_p, c_void_p),
    "cuEventQuery": (c_void_p,),
    "cuEventSynchronize": (c_void_p,),
    "cuMemAlloc_v2": (POINTER(_Address), c_size_t),
    "cuMemFree_v2": (_Address,),
    "cuMemHostAlloc": (POINTER(c_void_p), c_size_t, c_uint),
    "cuMemcpyHtoDAsync_v2": (_Address, c_void_p, c_size_t, c_void_p),
    "cuMemcpyDtoHAsync_v2": (c_void_p, _Address, c_size_t, c_void_p),
    "cuMemcpyDtoDAsync_v2": (_Address, _Address, c_size_t, c_void_p),
    "cuMemsetD8Async": (_Address, c_ubyte, c_size_t, c_void_p),
    "cuMemsetD16Async": (_Address, c_ushort, c_size_t, c_void_p),
    "cuMemsetD32Async": (_Address, c_uint, c_size_t, c_void_p),
    "cuModuleLoadData": (POINTER(c_void_p), c_void_p),
    "cuModuleGetFunction": (POINTER(c_void_p), c_void_p, c_char_p),
    "cuModuleUnload": (c_void_p,),
    "cuFuncGetAttribute": (POINTER(c_int), c_int, c_void_p),
    "cuFuncSetAttribute": (c_void_p, c_int, c_int),
    "cuLaunchKernel": (c_void_p, *[c_uint] * 7, c_void_p, c_void_p, c_void_p),
}
NOT_READY = 600
_OUT_OF_MEMORY = (2,)
# After these the context answers every call with the same error: what it held is gone.
_LOST = (214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721)

lib = None


def load():
    """Opens the driver's library, which PyCUDA has loaded already."""
    global lib
    if lib is not None:
        return
    names = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libcuda.so")
    loader = ctypes.WinDLL if sys.platform == "win32" else ctypes.CDLL
    for name in names:
        try:
            opened = loader(name)
        except OSError:
            continue
        for function, arguments in _FUNCTIONS.items():
            found = getattr(opened, function)
            found.argtypes, found.restype = arguments, c_int
        lib = opened
        return
    raise DeviceError(f"PyCUDA is here, but the driver's library {names[0]} cannot be opened")


def address_of(function):
    """The address of a function of the driver."""
    return ctypes.cast(getattr(lib, function), c_void_p).value


def result_name(code):
    """CUDA_ERROR_… of a result, with what the driver says of it."""
    name, text = c_char_p(), c_char_p()
    if lib.cuGetErrorName(code, byref(name)) or not name.value:
        return f"result {code}"
    if lib.cuGetErrorString(code, byref(text)) or not text.value:
        return name.value.decode()
    return f"{name.value.decode()} ({text.value.decode()})"


def check(code, call, device=None):
    """Raises what a result other than success means, naming the call."""
    if code == 0:
        return
    text = f"{call.replace('_v2', '')}: {result_name(code)}"
    if code in _OUT_OF_MEMORY:
        raise OutOfMemory(text)
    if code in _LOST:
        text += "; everything on this device is gone for this process"
        if device is not None:
            device.refuse(f"device {device.name} was lost ({text})", DeviceLost)
        raise DeviceLost(text)
    raise DeviceError(text)


class Current:
    """Makes a context current for a `with` block, and what was current before again after it."""

    __slots__ = ("context", "device")

    def __init__(self, context, device):
        self.context, self.device = context, device

    def __enter__(self):
        check(lib.cuCtxPushCurrent_v2(self.context), "cuCtxPushCurrent", self.device)

    def __exit__(self, *error):
        lib.cuCtxPopCurrent_v2(byref(c_void_p()))
