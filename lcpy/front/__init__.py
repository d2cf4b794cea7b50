"""The front end: a Python function, read from its source, becomes calls of the core's builder.

Importing this package is light; the tracer itself is loaded when the first kernel is traced.
"""

from .external import external
from .signature import MISSING, Callable, Parameter, callable, parameters

__all__ = [
    "MISSING",
    "Callable",
    "Parameter",
    "Traced",
    "callable",
    "external",
    "parameters",
    "trace_kernel",
]


def __getattr__(name):
    if name in ("trace_kernel", "Traced"):
        from . import trace

        return getattr(trace, name)
    raise AttributeError(f"module 'lcpy.front' has no attribute '{name}'")
