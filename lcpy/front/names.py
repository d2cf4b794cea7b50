"""Names: locals, the enclosing functions, closure cells, globals, builtins; and host values as
operands: weak numbers, typed scalars, constants, captured buffers."""

import builtins
import sys

from .. import errors, types
from .._native import core
from .host import class_name
from .signature import MISSING
from .values import WEAK, BoundMethod, Local, Pack, Static, class_of, describe, tracked, tuple_type

Expr = core.Expr
_MOST_LEAVES = 1 << 20  # of a captured list; nested tuples may stand for more than memory holds
_BUILTINS = builtins.__dict__


class Hidden:
    """Something of an enclosing function, or a captured buffer, that a callable reaches by a
    parameter which the source does not show."""

    __slots__ = ("owner", "variable", "name", "type", "cls", "buffer")

    def __init__(self, owner, variable, name, type, cls, buffer):
        self.owner = owner  # the frame whose variable it is; None for a buffer
        self.variable = variable
        self.name = name
        self.type = type
        self.cls = cls
        self.buffer = buffer

    @property
    def key(self):
        return id(self.buffer) if self.owner is None else (self.owner, self.variable)


def name(frame, node):
    """A name that is read."""
    found = frame.names.get(node.id)
    if found.__class__ is int:
        return frame.builder.ref(found, node)
    if found is None:
        return _resolve(frame, node)
    if found.__class__ is Local:
        e = frame.builder.ref(found.variable, node)
        e.cls = found.cls
        return e
    return found.value


def _resolve(frame, node):
    text = node.id
    if text in frame.local_names:
        frame.fail("name_unassigned", node, text)
    outer = frame.outer
    while outer is not None:
        found = outer.names.get(text)
        if found is not None:
            if found.__class__ is Static:
                frame.static_reads.append((outer, text, found.value))
                return _within(frame, outer, text, found.value, node)
            return _reach(frame, outer, text, found, node)
        if text in outer.local_names:
            frame.fail("name_unassigned", node, text)
        outer = outer.outer
    value = host_value(frame, text)
    if value is MISSING:
        frame.fail("name_unknown", node, text)
    value = captured(frame, value, node, text)
    if value.__class__ is Expr:
        frame.names[text] = Local(value.variable, value.cls)
    else:
        frame.names[text] = Static(value, 0)
    return value


def _within(frame, owner, text, value, node):
    """A compile-time value of an enclosing frame; its run-time parts are variables there."""
    kind = value.__class__
    if kind is Expr:
        found = value.variable if value.cls is None else Local(value.variable, value.cls)
        e = _reach(frame, owner, text, found, node)
        del frame.names[text]
        return e
    if kind is Pack:
        return Pack([_within(frame, owner, text, part, node) for part in value])
    if kind is BoundMethod:
        return BoundMethod(_within(frame, owner, text, value.receiver, node), value.function)
    return value


def _reach(frame, owner, text, found, node):
    """The value of the variable `found` of an enclosing frame."""
    owner = owner.alias or owner
    variable, cls = (found, None) if found.__class__ is int else (found.variable, found.cls)
    hidden = Hidden(owner, variable, text, owner.builder.variable_type(variable), cls, None)
    variable = materialise_variable(frame, hidden, node)
    frame.names[text] = variable if cls is None else Local(variable, cls)
    e = frame.builder.ref(variable, node)
    e.cls = cls
    return e


def materialise_variable(frame, hidden, node):
    """The variable of `frame` through which it reaches `hidden`: its own, or a hidden parameter."""
    if hidden.owner is frame:
        return hidden.variable
    found = frame.hidden.get(hidden.key)
    if found is None:
        builder = frame.builder
        if hidden.type.is_resource:
            variable = builder.argument(hidden.type, hidden.name, node)
            if frame.is_kernel:
                frame.trace.bound.append(hidden.buffer)
        else:
            variable = builder.reference(hidden.type, hidden.name, node)
        found = frame.hidden[hidden.key] = (hidden, variable)
    return found[1]


def host_value(frame, text):
    """The host's value of a name, noted as a capture; MISSING where there is none."""
    captures = frame.trace.captures
    cell = frame.cells.get(text)
    if cell is not None:
        try:
            value = cell.cell_contents
        except ValueError:
            return MISSING
        captures.add_cell(cell, value)
        return value
    value = frame.globals.get(text, MISSING)
    captures.add_name(frame.globals, text, value)
    if value is MISSING:
        value = _BUILTINS.get(text, MISSING)
    return value


def captured(frame, value, node, text="buffer"):
    """A host value as the kernel sees it: a buffer becomes a bound argument."""
    kind = type(value)
    if kind in WEAK or issubclass(kind, type):
        return value
    if issubclass(kind, core.DeviceBuffer):
        cls = value._kernel_type
        frame.trace.kept.append(value)
        hidden = Hidden(None, None, text, cls._type, cls, value)
        e = frame.builder.ref(materialise_variable(frame, hidden, node), node)
        e.cls = cls
        return e
    if value.__class__ in WEAK:  # an object whose __class__ says that it is a number
        frame.fail("not_a_value", node, f"an object of type {class_name(kind)}")
    return value


# ---- operands -----------------------------------------------------------------------------------
def operand(frame, value, node):
    """`value` as something the builder takes: an expression or a weak number."""
    kind = value.__class__
    if kind is Expr or kind in WEAK:
        return value
    if kind is Pack:
        return make_tuple(frame, value, node)
    found = frame.constants.get(id(value))
    if found is not None:
        return found[1]
    number = _weak_number(value)
    if number is not None:
        return number
    described = host_constant(value)
    if described is None:
        frame.fail("not_a_value", node, describe(value))
    cls, data = described
    if data is None:
        frame.fail("constant_refused", node, cls)
    make = frame.builder.literal if cls.kind == "scalar" else frame.builder.constant
    e = make(cls._type, data, node)
    e.cls = tracked(cls)
    frame.constants[id(value)] = (value, e)
    _note_contents(frame, value, cls, described)
    return e


def _note_contents(frame, value, cls, described):
    """What can change in place is compared before each launch."""
    add = frame.trace.captures.add_contents
    if issubclass(type(value), types.StructBase):
        nested = any(T.kind in ("struct", "array") for T in cls.members.values())
        if nested:
            add(value, _same_constant, described)
        else:
            add(value, _same_members, tuple(value.__dict__.values()))
    elif hasattr(value, "setflags"):
        frame.trace.captures.add_container(value)
    elif isinstance(value, list) or (
        value.__class__ is tuple and any(v.__class__ not in WEAK for v in value)
    ):
        add(value, _same_constant, described)


def _same_members(value, key):
    return tuple(value.__dict__.values()) == key


def _same_constant(value, key):
    return host_constant(value) == key


def _weak_number(value):
    """The plain number of an enum member or a subclass of int; None for anything else."""
    enum = sys.modules.get("enum")
    kind = type(value)
    if enum is not None and issubclass(kind, enum.Enum):
        value = value.value
        return value if type(value) in WEAK else _weak_number(value)
    if issubclass(kind, int):
        return int.__index__(value)
    return None


def make_tuple(frame, pack, node, expected=None):
    """A tuple of values as a struct; `expected` is the TupleType that it must have."""
    builder = frame.builder
    if not pack:
        frame.fail("not_a_value", node, "an empty tuple")
    parts = [operand(frame, v, node) for v in pack]
    if expected is None:
        parts = [builder.settle(v, node) for v in parts]
        for v in parts:
            if v.type is None:
                frame.fail("no_value", node, "this place")
        expected = tuple_type(class_of(v) for v in parts)
    elif len(parts) != len(expected.elements):
        frame.fail("tuple_length", node, len(expected.elements), len(parts))
    e = builder.make(expected._type, parts, node)
    e.cls = expected
    return e


def host_constant(value):
    """(type class, bytes in memory layout) of a host value; None if it is no value at all;
    (reason, None) if it looks like one and cannot be taken."""
    kind = type(value)
    if isinstance(kind, types.TypeClass):
        return kind, types.pack(kind, value)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if issubclass(kind, numpy.generic):
            return _numpy_scalar(value)
        if issubclass(kind, numpy.ndarray):
            return _numpy_array(numpy, value)
    if issubclass(kind, (list, tuple)):
        return _sequence(value)
    return None


def _numpy_scalar(value):
    try:
        cls = types.type_of(value)
    except errors.ArgumentError:
        return f"a NumPy {value.dtype}", None
    if cls.kind == "scalar":
        return cls, value.astype(value.dtype.newbyteorder("=")).tobytes()
    return cls, types.pack(cls, value)


def _numpy_array(numpy, value):
    if value.dtype.names or value.dtype.name not in types.NAMES:
        return f"a NumPy array of {value.dtype}", None
    if value.size == 0:
        return "an empty array", None
    cls = types.NAMES[value.dtype.name]
    data = numpy.ascontiguousarray(value, value.dtype.newbyteorder("=")).tobytes()
    for n in reversed(value.shape):
        cls = types.array_type(cls, n)
    return cls, data


def _sequence(value):
    """A regular list or tuple, of any depth, as an array."""
    leaves = []
    shape = _flatten(value, leaves)
    if shape is None:
        return "a list whose parts differ in length", None
    if not leaves:
        return "an empty list", None
    described = _leaves(leaves)
    if described is None or described[1] is None:
        return described
    cls, data = described
    for n in reversed(shape):
        cls = types.array_type(cls, n)
    return cls, data


def _flatten(value, leaves):
    """Appends the leaves; gives the shape, or None where it is not regular."""
    kind = type(value)
    if isinstance(kind, types.TypeClass) or not issubclass(kind, (list, tuple)):
        leaves.append(value)
        return ()
    if len(leaves) > _MOST_LEAVES:
        raise errors.ArgumentError(f"a list of more than {_MOST_LEAVES} values; use a NumPy array")
    inner = None
    for part in value:
        shape = _flatten(part, leaves)
        if shape is None or (inner is not None and shape != inner):
            return None
        inner = shape
    return (len(value), *(inner or ()))


def _leaves(leaves):
    numbers = [v if v.__class__ in WEAK else _weak_number(v) for v in leaves]
    if None not in numbers:
        return _number_bytes(numbers)
    described = [host_constant(v) for v in leaves]
    if None in described:
        return None
    cls = described[0][0]
    for other, data in described:
        if data is None:
            return other, None
        if other is not cls:
            return f"a list that mixes {cls.__name__} and {other.__name__}", None
    return cls, b"".join(data for _, data in described)


def _number_bytes(numbers):
    import struct

    kinds = {v.__class__ for v in numbers}
    n = len(numbers)
    if kinds == {bool}:
        return types.BOOL, bytes(numbers)
    if float not in kinds:
        for v in numbers:
            if not -(1 << 31) <= v < 1 << 31:
                return f"a list of int32 that holds {v}", None
        return types.INT32, struct.pack(f"={n}i", *numbers)
    try:
        return types.FLOAT32, struct.pack(f"={n}f", *numbers)
    except OverflowError:
        return "a list of float32 that holds a number beyond its range", None
