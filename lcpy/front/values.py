"""What an expression of a kernel can be while it is traced.

A run-time value is a `core.Expr`; a weak number is a plain Python bool, int or float; everything
else is a compile-time value: a host object as it is, or one of the classes here.
"""

from .. import types
from .._native import core
from ..objects import RAISED
from .host import class_name, spelled

WEAK = frozenset((int, float, bool))  # exactly these, no subclasses


class Local:
    """A run-time variable whose class matters; plain ones are just the variable's number."""

    __slots__ = ("variable", "cls")

    def __init__(self, variable, cls):
        self.variable = variable
        self.cls = cls


class Static:
    """A name that holds a compile-time value, bound at nesting `level`."""

    __slots__ = ("value", "level")

    def __init__(self, value, level):
        self.value = value
        self.level = level


class Pack(tuple):
    """A tuple written in the kernel, of values."""

    __slots__ = ()


class Closure:
    """A function or lambda defined inside a traced function."""

    __slots__ = ("node", "frame", "name", "parameters", "result")

    def __init__(self, node, frame, name, parameters, result):
        self.node = node
        self.frame = frame
        self.name = name
        self.parameters = parameters
        self.result = result


class Fixed:
    """A number given to a callable as ``lc.static(...)``: it stays known while compiling."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class BoundMethod:
    """A function of a struct class together with the struct it was taken from."""

    __slots__ = ("receiver", "function")

    def __init__(self, receiver, function):
        self.receiver = receiver
        self.function = function


class TypeMethod:
    """``T.from_rows`` or ``T.identity`` of a matrix type."""

    __slots__ = ("cls", "name")

    def __init__(self, cls, name):
        self.cls = cls
        self.name = name


class SharedRequest:
    """``lc.shared(...)`` before it is given a name."""

    __slots__ = ("cls",)

    def __init__(self, cls):
        self.cls = cls


class TupleType:
    """Class of several values returned or kept together: a struct whose members have no names."""

    __slots__ = ("elements", "_type", "__name__")
    kind = "tuple"

    def __init__(self, elements):
        self.elements = elements
        self._type = core.type_struct([e._type for e in elements])
        self.__name__ = f"tuple[{', '.join(e.__name__ for e in elements)}]"


class _Nothing:
    """Class of a call that gives no value."""

    kind, __name__ = "nothing", "nothing"


NOTHING = _Nothing()
_tuples = {}


def tuple_type(elements):
    """The one TupleType of these element classes."""
    elements = tuple(elements)
    found = _tuples.get(elements)
    if found is None:
        found = _tuples[elements] = TupleType(elements)
    return found


AGGREGATE = frozenset(("struct", "tuple", "array", "buffer"))


def tracked(cls):
    """`cls` where an expression must carry it, None where the core's type says it all."""
    return cls if cls.kind in AGGREGATE else None


def class_of(expr):
    """The type class of a run-time value."""
    if expr.cls is not None:
        return expr.cls
    handle = expr.type
    return NOTHING if handle is None else types.from_core(handle)


_members = {}  # struct class -> {name: (index, class to carry)}


def members_of(cls):
    found = _members.get(cls)
    if found is None:
        found = {}
        for index, (name, member) in enumerate(cls.members.items()):
            found[name] = (index, tracked(member))
        _members[cls] = found
    return found


def find_method(cls, name):
    """What the user's struct class defines under `name`, or None."""
    for base in cls.__mro__:
        if base is types.StructBase:
            return None
        found = base.__dict__.get(name)
        if found is not None:
            return found
    return None


def describe(value):
    """A compile-time value in words, for messages."""
    cls = type(value)
    if cls in WEAK:
        return f"the number {spelled(value)}"
    if value is None:
        return "None"
    if cls is Closure:
        return f"the function '{value.name}'"
    if cls is BoundMethod:
        return f"the method '{value.function.__name__}'"
    if isinstance(value, types.TypeClass):
        return f"the type {value.__name__}"
    if issubclass(cls, type):
        return f"the class {class_name(value)}"
    try:
        name = getattr(value, "__name__", None)
    except RAISED:  # whatever the user's __getattr__ raises
        name = None
    if class_name(cls) == "module":
        return f"the module '{name}'"
    if isinstance(name, str) and callable(value):
        return f"the function '{name}'"
    if cls is str:
        return f"the text {value!r}" if len(value) < 30 else "a text"
    if cls is Pack:
        return "a tuple"
    if cls is SharedRequest:
        return "lc.shared(...)"
    return f"an object of type {class_name(cls)}"
