"""The associative operations that reductions and scans know, with their identities.

A kernel is made once for each operation; the element type is the argument's own.
"""

import numpy as np

import lcpy as lc


@lc.callable
def add(a, b):
    return a + b


@lc.callable
def multiply(a, b):
    return a * b


@lc.callable
def smaller(a, b):
    return lc.min(a, b)


@lc.callable
def larger(a, b):
    return lc.max(a, b)


COMBINE = {"sum": add, "product": multiply, "min": smaller, "max": larger}


def identity(op, dtype):
    """The value that changes nothing under `op` among numbers of the dtype, as Python's."""
    dtype = np.dtype(dtype)
    number = float if dtype.kind == "f" else int
    if op in ("sum", "product"):
        return number(op == "product")
    if dtype.kind == "f":
        return np.inf if op == "min" else -np.inf
    limits = np.iinfo(dtype)
    return int(limits.max if op == "min" else limits.min)


def check_op(op):
    if op not in COMBINE:
        raise lc.ArgumentError(f"op is {op!r}; known are {', '.join(COMBINE)}")
