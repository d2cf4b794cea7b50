"""The part of pycuda.driver that lcpy uses, over the library that FAKE_CUDA names."""

import ctypes
import os

import numpy  # noqa: F401  as PyCUDA does

lib = ctypes.CDLL(os.environ["FAKE_CUDA"], ctypes.RTLD_GLOBAL)
lib.fake_text.restype = ctypes.c_char_p
lib.fake_retain.restype = ctypes.c_void_p
lib.fake_total.restype = ctypes.c_size_t
lib.fake_limit.argtypes = (ctypes.c_size_t,)

COUNT = int(os.environ.get("FAKE_CUDA_DEVICES", "1"))
_initialised = False


class Error(Exception):
    """PyCUDA's base of errors."""


class _Names:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return name


device_attribute = _Names()
_ATTRIBUTES = {
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 0x7FFFFFFF,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK": 49152,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
    "WARP_SIZE": 32,
    "MULTIPROCESSOR_COUNT": 132,
    "INTEGRATED": 0,
}


def init(flags=0):
    global _initialised
    if os.environ.get("FAKE_CUDA_INIT"):
        raise Error(os.environ["FAKE_CUDA_INIT"])
    _initialised = True


def get_driver_version():
    return 13000


class Context:
    def __init__(self):
        self.handle = lib.fake_retain()


class Device:
    def __init__(self, ordinal):
        assert _initialised
        self.ordinal = ordinal

    @staticmethod
    def count():
        assert _initialised
        return COUNT

    def name(self):
        return "Fake GPU"

    def compute_capability(self):
        return (3, 0) if os.environ.get("FAKE_CUDA_OLD") else (9, 0)

    def total_memory(self):
        return 1 << 37

    def get_attribute(self, attribute):
        return _ATTRIBUTES[attribute]

    def retain_primary_context(self):
        return Context()
