"""Parameters of a function, read from its code object: names, type classes, defaults.

The same objects serve kernels, callables and the host's argument binding; inspect is not needed.
"""

from _weakref import ref as _weakref

from .. import types
from ..objects import RAISED
from .host import class_name, reason, spelled


class _Missing:
    __slots__ = ()

    def __repr__(self):
        return "MISSING"


MISSING = _Missing()
_ALIAS = type(tuple[int])
POSITIONAL_ONLY, ORDINARY, KEYWORD_ONLY = 0, 1, 2


class Parameter:
    """One parameter: `annotation` is a type class or None, `default` a host value or MISSING."""

    __slots__ = ("name", "annotation", "default", "kind")

    def __init__(self, name, annotation, default, kind):
        self.name = name
        self.annotation = annotation
        self.default = default
        self.kind = kind

    def __repr__(self):
        return f"Parameter({self.name}, {self.annotation}, {self.default})"


class Callable:
    """A function for kernels to call, made by :func:`lcpy.callable`.

    Called on the host it runs as the plain Python function that it is.
    """

    def __init__(self, function):
        self.function = function
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    def __get__(self, instance, owner=None):
        return self if instance is None else self.function.__get__(instance, owner)

    def __repr__(self):
        return f"<lcpy callable {self.__qualname__}>"


def callable(function):
    """Marks a function as one that kernels call.

    Parameters may be annotated with types; one that is not is specialised from the argument.
    ``lc.Ref[T]`` marks a parameter that is passed by reference.
    """
    if isinstance(function, Callable):
        return function
    if not hasattr(function, "__code__"):
        from ..errors import ArgumentError

        raise ArgumentError(f"lc.callable takes a Python function, not {types.shown(function)}")
    return Callable(function)


_parameters = {}  # id of a function -> (weak reference, parameters, result)


def _described(function):
    key = id(function)
    found = _parameters.get(key)
    if found is not None and found[0]() is function:
        return found
    made = _describe(function)
    gone = _weakref(function, lambda _, key=key: _parameters.pop(key, None))
    _parameters[key] = found = (gone, *made)
    return found


def parameters(function):
    """The parameters of a Python function, in order.

    Raises CompileError where an annotation names no type, or the function takes ``*`` or ``**``.
    """
    return _described(function)[1]


def result_annotation(function):
    """What the function says it returns: a type class, a tuple of them, None, or MISSING."""
    return _described(function)[2]


def _describe(function):
    code = function.__code__
    if code.co_flags & 0x0C:  # CO_VARARGS, CO_VARKEYWORDS
        _fail(function, "variable_arguments", None, function.__name__)
    annotations = function.__annotations__
    positional = code.co_argcount
    names = code.co_varnames
    defaults = function.__defaults__ or ()
    first_default = positional - len(defaults)
    keyword_defaults = function.__kwdefaults__ or {}
    made = []
    for i in range(positional + code.co_kwonlyargcount):
        name = names[i]
        if i >= positional:
            kind, default = KEYWORD_ONLY, keyword_defaults.get(name, MISSING)
        else:
            kind = POSITIONAL_ONLY if i < code.co_posonlyargcount else ORDINARY
            default = defaults[i - first_default] if i >= first_default else MISSING
        annotation = annotations.get(name)
        if annotation is not None:
            annotation = _annotated(function, name, annotation)
        made.append(Parameter(name, annotation, default, kind))
    result = annotations.get("return", MISSING)
    return made, _result(function, result)


def _evaluated(function, name, annotation):
    """The object that an annotation given as text names."""
    if not issubclass(type(annotation), str):
        return annotation
    names = dict(function.__globals__)
    for free, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            names[free] = cell.cell_contents
        except ValueError:
            continue  # not assigned yet
    try:
        return eval(annotation, names)
    except RAISED as error:  # whatever the user's annotation does
        _fail(function, "annotation_failed", name, spelled(annotation), reason(error))


def type_class(T):
    """The type class that an annotation names, or None."""
    kind = type(T)  # isinstance would ask the object itself
    if issubclass(kind, types.TypeClass):
        return T
    if kind is type:
        if getattr(T, "kind", None) == "buffer":  # lc.ByteBuffer is its own type class
            return T
        found = types._BUILTINS.get(T)
        if found is None and T.__module__ == "numpy":
            found = types.NAMES.get({"bool_": "bool"}.get(T.__name__, T.__name__))
        return found
    return None


def _annotated(function, name, annotation):
    annotation = _evaluated(function, name, annotation)
    if annotation is None:
        return None
    found = type_class(annotation)
    if found is None:
        _fail(function, "annotation_no_type", name, name, _spelled(annotation))
    return found


def _result(function, annotation):
    if annotation is MISSING:
        return MISSING
    annotation = _evaluated(function, "return", annotation)
    if annotation is None:
        return None
    if type(annotation) is _ALIAS and annotation.__origin__ is tuple and annotation.__args__:
        return tuple(_annotated(function, "return", a) for a in annotation.__args__)
    found = type_class(annotation)
    if found is None:
        _fail(function, "annotation_no_type", "return", "return", _spelled(annotation))
    return found


def _spelled(annotation):
    is_class = issubclass(type(annotation), type)
    return class_name(annotation) if is_class else spelled(annotation)


def _fail(function, code, name, *args):
    """Raises the CompileError at the parameter `name` (None: at the function)."""
    from .._native import core
    from . import source

    parsed = source.parse(function)
    node = parsed.node
    if name == "return":
        node = getattr(node, "returns", None) or node
    elif name is not None:
        a = node.args
        for argument in (*a.posonlyargs, *a.args, *a.kwonlyargs):
            if argument.arg == name:
                node = argument.annotation or argument
    elif node.args.vararg or node.args.kwarg:
        node = node.args.vararg or node.args.kwarg
    core.fail(code, parsed.span(node), *args)
