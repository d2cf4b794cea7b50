"""Bit for bit, but any NaN equals any NaN."""

import numpy as np


def differing(a, b):
    """Which elements of two arrays of one dtype differ: one bool an element of the first axis."""
    if a.dtype.names:
        result = np.zeros(len(a), bool)
        for name in a.dtype.names:
            result |= differing(a[name], b[name])
        return result
    different = _bits(a) != _bits(b)
    if a.dtype.kind == "f":
        different &= ~(np.isnan(a) & np.isnan(b))
    return different.reshape(len(a), -1).any(axis=1)


def has_denormal(a):
    """Whether an array, of structs too, holds a denormal float of 32 bits or more."""
    if a.dtype.names:
        return any(has_denormal(a[name]) for name in a.dtype.names)
    if a.dtype.kind != "f" or a.dtype.itemsize < 4:
        return False
    size = np.abs(a)
    return bool(((size > 0) & (size < np.finfo(a.dtype).tiny)).any())


def _bits(a):
    if a.dtype.kind == "b":
        return a.view(np.uint8)
    return np.ascontiguousarray(a).view(f"u{a.dtype.itemsize}")


def host_array(t, dtype, values):
    """Values of a generated type as `T.dtype` wants them: matrices as rows."""
    made = np.zeros(len(values), dtype)
    for i, v in enumerate(values):
        made[i] = _host(t, v)
    return made


def _host(t, v):
    if t.kind == "scalar":
        return v
    if t.kind == "matrix":
        return [list(row) for row in zip(*v)]
    parts = [_host(k, x) for k, x in zip(t.children(), v)]
    return tuple(parts) if t.kind == "struct" else parts
