"""External functions: a signature in Python, the work in a target's own language.

A device whose language has a text calls that; any other runs the function's body as a callable,
if there is one.
"""

import re

from ..errors import ArgumentError
from . import signature

LANGUAGES = ("opencl", "cuda")
USAGES = {"read": 1, "write": 2, "read_write": 3}


class External:
    """A function for kernels to call, made by :func:`lcpy.external`.

    Called on the host it runs its body, where it has one.
    """

    def __init__(self, function, texts, usages):
        self.function, self.texts = function, texts
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__
        self.usages = _checked(function, usages)

    @property
    def has_body(self):
        """Whether there is more than ``...`` below the signature."""
        import _ast

        from . import source

        for statement in source.parse(self.function).node.body:
            plain = statement.__class__ is _ast.Expr and statement.value.__class__ is _ast.Constant
            if not plain and statement.__class__ is not _ast.Pass:
                return True
        return False

    def __call__(self, *args, **kwargs):
        if not self.has_body:
            raise ArgumentError(f"{self.__name__} has no body in Python: kernels call it")
        return self.function(*args, **kwargs)

    def __repr__(self):
        return f"<lcpy external {self.__qualname__}: {', '.join(self.texts) or 'no text'}>"


def external(function=None, *, opencl=None, cuda=None, usages=None):
    """Decorator: a function that kernels call and that a target's own language defines.

    Parameters
    ----------
    opencl, cuda : str, optional
        OpenCL C and CUDA C++ (there ``__device__``) that define a function of the same name. Values
        go by value; ``lc.Ref[T]`` is a pointer to a variable, ``lc.Buffer[T]`` one to the first
        element (``__global`` in OpenCL C, ``const`` if only read). Types have their names of the
        kernel language: ``float3`` has members x, y, z; CUDA makes one by ``float3(x, y, z)``.
    usages : dict, optional
        "read", "write" or "read_write" for each parameter that is a reference or a buffer.

    The parameters and the result are annotated with numbers, vectors of numbers, bool, references
    to these, and buffers of numbers and vectors. A target without a text runs the body as that of
    a callable; if it is just ``...``, that target refuses the kernel.
    """
    texts = {name: text for name, text in (("opencl", opencl), ("cuda", cuda)) if text is not None}

    def make(f):
        if not hasattr(f, "__code__"):
            raise ArgumentError(f"lc.external takes a Python function, not {f!r}")
        for language, text in texts.items():
            if not isinstance(text, str):
                raise ArgumentError(f"{language}: wanted the source as a str, got {text!r}")
            if not re.search(rf"\b{re.escape(f.__name__)}\s*\(", text):
                raise ArgumentError(f"{language}: the text defines no function '{f.__name__}'")
        return External(f, texts, usages or {})

    return make if function is None else make(function)


def _checked(function, usages):
    """The usage of each parameter as the core's bits."""
    name, out = function.__name__, []
    parameters = signature.parameters(function)
    unknown = set(usages) - {p.name for p in parameters}
    if unknown:
        raise ArgumentError(f"usages: {name}() has no parameter {', '.join(sorted(unknown))}")
    for p in parameters:
        if p.annotation is None:
            raise ArgumentError(f"external function {name}(): annotate parameter '{p.name}'")
        usage = usages.get(p.name)
        if p.annotation.kind in ("ref", "buffer"):
            if usage not in USAGES:
                raise ArgumentError(
                    f"usages: what {name}() does with '{p.name}' is one of "
                    f"{', '.join(map(repr, USAGES))}, not {usage!r}"
                )
        elif usage not in (None, "read"):
            raise ArgumentError(
                f"usages: '{p.name}' of {name}() goes by value; lc.Ref[...] makes it a reference"
            )
        out.append(USAGES[usage or "read"])
    return out
