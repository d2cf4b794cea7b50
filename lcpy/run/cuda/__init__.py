"""The cuda devices: CUDA C++ through NVRTC, on the primary context that PyCUDA retains."""

from .discovery import discover

__all__ = ["discover", "open_device"]


def open_device(info):
    from .device import CudaDevice

    return CudaDevice(info)
