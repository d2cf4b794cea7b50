"""The front end's one entry for the runtime: `trace_kernel`."""

import gc
import sys

from .. import errors
from .._native import core
from . import calls, expr, loops, match, source, stmt  # noqa: F401  they fill the tables
from .frame import Frame, Trace, host_cells, run

stmt.complete()


class Traced:
    """A kernel read from its source.

    Attributes
    ----------
    builder : core.Builder
        The finished kernel.
    bound : list
        Captured buffers, bound after the declared arguments, in order.
    captures : Captures
        ``captures.unchanged()`` tells whether all that was captured is what it was.
    """

    __slots__ = ("builder", "bound", "captures")

    def __init__(self, builder, bound, captures):
        self.builder = builder
        self.bound = bound
        self.captures = captures


def trace_kernel(function, args, *, block_size=None, name=None, bounds=False):
    """Reads a kernel from its source, for arguments of the given types.

    Parameters
    ----------
    function : function
        A plain Python function.
    args : list of (name, type class)
        The declared parameters, in order.
    block_size : tuple of 3 ints, optional
    name : str, optional
        The kernel's name; the function's by default.
    bounds : bool
        Accesses will be checked, so that their lines matter.

    Returns
    -------
    Traced

    Raises
    ------
    CompileError, UnsupportedError
        The traceback holds no frame of the tracer.
    """
    collecting = gc.isenabled()
    gc.disable()  # thousands of nodes, no garbage
    trace = Trace(bounds)
    try:
        return _trace_kernel(trace, function, args, block_size, name or function.__name__)
    except errors._Diagnosed as error:
        raise error.with_traceback(None) from None
    finally:
        trace.close()
        if collecting:
            gc.enable()


def _trace_kernel(trace, function, args, block_size, name):
    parsed = source.parse(function)
    node = parsed.node
    builder = core.Builder("kernel", name, parsed.header())
    code = function.__code__
    frame = Frame(trace, builder, parsed, name, frozenset(code.co_varnames + code.co_cellvars),
                  None, function.__globals__, host_cells(function))  # fmt: skip
    frame.is_kernel = True
    a = node.args
    places = {x.arg: x for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
    for argument, cls in args:
        place = places.get(argument, node)
        if cls.kind == "ref":
            frame.fail("kernel_reference", place, argument, cls.inner.__name__)
        frame.bind_argument(argument, builder.argument(cls._type, argument, place), cls)
    if block_size is not None:
        builder.set_block_size(*block_size, parsed.header())
    trace.stack.append(((function, ()), name))
    try:
        if node.body.__class__ is list:
            run(frame, node.body)
        else:
            v = expr.value(frame, node.body)  # a lambda, for its effect
            if v.__class__ is core.Expr:
                builder.expression(v, node.body)
        builder.finish()
    except RecursionError:
        core.fail("nested_too_deeply", parsed.header(), name, sys.getrecursionlimit())
    callables = [s.builder for made in trace.specialised.values() for s in made]
    for b in [builder, *callables]:
        for warning in b.warnings():
            _warn(warning)
    return Traced(builder, trace.bound, trace.captures)


def _warn(diagnostic):
    """A diagnostic that is no error, as a Python warning at its place."""
    from warnings import warn_explicit

    text = f"{diagnostic.code}: {diagnostic.message}"
    if diagnostic.hint:
        text += f" ({diagnostic.hint})"
    warn_explicit(text, errors.KernelWarning, diagnostic.file, diagnostic.line)
