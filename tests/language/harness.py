"""Runs a callable on rows of values, loaded from buffers and again as literals; compares bits."""

import numpy as np
import pytest

import lcpy as lc


def host_dtype(T):
    return np.dtype(T.dtype)


def column(T, values, device):
    """A buffer of T from a list of host values."""
    if T.kind == "scalar":
        return lc.Buffer(np.array(values, host_dtype(T)), device=device)
    buffer = lc.Buffer(len(values), T, device=device)
    if T.kind == "struct":
        made = np.zeros(len(values), T.dtype)
        for i, v in enumerate(values):
            made[i] = v
        buffer.upload(made)
    else:
        buffer.upload(np.array(values, T.dtype.base))
    return buffer


def literal(T, value):
    """What a kernel captures as a typed constant of T."""
    if T.kind == "scalar":
        return host_dtype(T).type(value)
    return T(*value)


def _loaded(f, types, R, math):
    A = list(types) + [lc.int32] * (4 - len(types))
    A0, A1, A2, A3 = A
    if len(types) == 1:

        @lc.kernel(math=math)
        def loaded(a: lc.Buffer[A0], out: lc.Buffer[R]):
            i = lc.dispatch_id().x
            out[i] = f(a[i])
    elif len(types) == 2:

        @lc.kernel(math=math)
        def loaded(a: lc.Buffer[A0], b: lc.Buffer[A1], out: lc.Buffer[R]):
            i = lc.dispatch_id().x
            out[i] = f(a[i], b[i])
    elif len(types) == 3:

        @lc.kernel(math=math)
        def loaded(a: lc.Buffer[A0], b: lc.Buffer[A1], c: lc.Buffer[A2], out: lc.Buffer[R]):
            i = lc.dispatch_id().x
            out[i] = f(a[i], b[i], c[i])
    else:

        @lc.kernel(math=math)
        def loaded(
            a: lc.Buffer[A0],
            b: lc.Buffer[A1],
            c: lc.Buffer[A2],
            d: lc.Buffer[A3],
            out: lc.Buffer[R],
        ):
            i = lc.dispatch_id().x
            out[i] = f(a[i], b[i], c[i], d[i])

    return loaded


def _folded(f, rows, R, math):
    n, arity = len(rows), len(rows[0])

    @lc.kernel(math=math)
    def folded(out: lc.Buffer[R]):
        for k in lc.static(range(n)):
            if lc.static(arity == 1):
                out[k] = f(lc.static(rows[k][0]))
            elif lc.static(arity == 2):
                out[k] = f(lc.static(rows[k][0]), lc.static(rows[k][1]))
            elif lc.static(arity == 3):
                out[k] = f(lc.static(rows[k][0]), lc.static(rows[k][1]), lc.static(rows[k][2]))
            else:
                out[k] = f(
                    lc.static(rows[k][0]),
                    lc.static(rows[k][1]),
                    lc.static(rows[k][2]),
                    lc.static(rows[k][3]),
                )

    return folded


def same_bits(got, want):
    """Whether two arrays are equal bit for bit; any NaN equals any other."""
    if got.dtype.kind == "f":
        nan = np.isnan(got)
        if not np.array_equal(nan, np.isnan(want)):
            return False
        got, want = np.where(nan, 0, got), np.where(nan, 0, want)
    return got.shape == want.shape and got.tobytes() == want.tobytes()


def agree(device, f, types, rows, want, R, math="ieee", folded=True):
    """`f` gives `want` for `rows`, of the types `types`, as a value of type R.

    Parameters
    ----------
    f : callable
        An lc.callable or plain function of one to four values.
    rows : list of tuples
        Host values of the arguments; numbers, or tuples for vectors.
    want : list
        Host values of the results.
    """
    rows = [row if isinstance(row, tuple) else (row,) for row in rows]
    assert len(rows) == len(want)
    want = np.array(want, R.dtype.base if R.kind != "struct" else R.dtype)
    columns = [column(T, [row[j] for row in rows], device) for j, T in enumerate(types)]
    out = lc.empty(len(rows), R, device=device)
    out.upload(np.ones_like(want))
    _loaded(f, types, R, math)(*columns, out, dispatch_size=len(rows))
    got = out.numpy()
    assert same_bits(got, want), f"loaded: {differences(rows, got, want)}"
    if not folded:
        return
    constants = [tuple(literal(T, v) for T, v in zip(types, row)) for row in rows]
    out.upload(np.ones_like(want))
    _folded(f, constants, R, math)(out, dispatch_size=1)
    got = out.numpy()
    assert same_bits(got, want), f"folded: {differences(rows, got, want)}"


def differences(rows, got, want):
    return [
        (row, g.tolist(), w.tolist()) for row, g, w in zip(rows, got, want) if not same_bits(g, w)
    ][:5]


def run(kernel, device, *arguments, n=1, R=lc.int32, dispatch_size=1):
    """Launches with a zeroed output buffer as the last argument and gives what it holds after."""
    made = [lc.Buffer(a, device=device) if isinstance(a, np.ndarray) else a for a in arguments]
    out = lc.Buffer(n, R, device=device)
    kernel(*made, out, dispatch_size=dispatch_size)
    return out.numpy()


def warp_or_skip(device, kernel, *arguments, **options):
    """Launches, or skips where the device refuses warp operations by name."""
    try:
        return run(kernel, device, *arguments, **options)
    except lc.UnsupportedError as error:
        assert "warp" in str(error) or "subgroup" in str(error)
        pytest.skip(str(error).splitlines()[0])
