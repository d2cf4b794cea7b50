"""lcpy: GPU kernels written in Python, compiled by a C++ core, run on cpu, OpenCL and Vulkan.

Public names only. Each loads what it needs when first used: importing lcpy loads neither the
core, nor NumPy, nor any driver.
"""

from . import types as _types
from .types import Array, Ref, matrix, struct, type_of, vector

__version__ = "0.1.0"

_HOMES = {  # public name -> module that has it
    "Buffer": "run.buffer",
    "ByteBuffer": "run.buffer",
    "empty": "run.buffer",
    "Device": "run.device",
    "devices": "run.device",
    "init": "run.device",
    "synchronize": "run.device",
    "kernel": "launch",
    "Kernel": "launch",
    "callable": "front",
    "external": "front",
    "Artifact": "artifact",
    "load_artifact": "artifact",
}
# Modules below the package: found by the import system, public or not.
_MODULES = (
    "artifact",
    "cli",
    "errors",
    "front",
    "functions",
    "gallery",
    "launch",
    "later",
    "layout",
    "plan",
    "primitives",
    "run",
    "spirv",
    "types",
)
_ERRORS = (
    "Error",
    "CompileError",
    "UnsupportedError",
    "ArgumentError",
    "KernelTrap",
    "KernelWarning",
    "DeviceError",
    "OutOfMemory",
    "DeviceLost",
    "LoadError",
    "InternalError",
)

globals().update(
    {name: cls for name, cls in _types.NAMES.items() if name not in ("bool", "int", "float")}
)


def __getattr__(name):
    if name in _types.NAMES:  # bool, int, float: kept out of this module's own scope
        return _types.NAMES[name]
    from importlib import import_module

    if name in _MODULES:
        try:
            value = import_module("." + name, __name__)
        except ModuleNotFoundError as error:  # the shipped kernels of a checkout are elsewhere
            raise AttributeError(f"module 'lcpy' has no attribute '{name}': {error}") from None
    elif name in _HOMES:
        value = getattr(import_module("." + _HOMES[name], __name__), name)
    elif name in _ERRORS:
        value = getattr(import_module(".errors", __name__), name)
    elif name.startswith("_"):
        raise AttributeError(f"module 'lcpy' has no attribute '{name}'")
    else:
        value = _function_or_refusal(name)
    globals()[name] = value
    return value


def _function_or_refusal(name):
    """A function of the kernel language (lc.sqrt, lc.dispatch_id, …), or a name that is to come."""
    from . import functions, later

    if name in later.NAMES:
        return later.Later(name)
    try:
        return getattr(functions, name)
    except AttributeError:
        raise AttributeError(f"module 'lcpy' has no attribute '{name}'") from None


def __dir__():
    from . import functions

    return sorted({*globals(), *_HOMES, *_ERRORS, *_types.NAMES, *functions.NAMES})
