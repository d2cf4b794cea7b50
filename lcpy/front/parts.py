"""Parts of values: tuples, attributes, subscripts."""

import _ast
import builtins

from .. import types
from .._native import core
from ..objects import RAISED
from .host import reason
from .names import captured, host_constant, operand
from .tables import EXPRESSIONS
from .values import (
    WEAK,
    BoundMethod,
    Pack,
    TypeMethod,
    class_of,
    describe,
    find_method,
    members_of,
    tracked,
)

Expr = core.Expr
_LENGTH, _EXTENT = core.op("BufferLength"), core.op("BufferExtent")


# ---- tuples -------------------------------------------------------------------------------------
def _tuple(frame, node):
    parts = []
    for e in node.elts:
        if e.__class__ is _ast.Starred:
            parts.extend(expanded(frame, e))
        else:
            parts.append(EXPRESSIONS[e.__class__](frame, e))
    return Pack(parts)


def expanded(frame, node):
    """The parts of ``*x``."""
    v = EXPRESSIONS[node.value.__class__](frame, node.value)
    parts = components(frame, v, node)
    if parts is None:
        frame.fail("cannot_unpack", node, spoken(v))
    return parts


def spoken(v):
    return f"a value of type {class_of(v).__name__}" if v.__class__ is Expr else describe(v)


def components(frame, v, node):
    """The parts of a tuple, vector or array, each usable once; None if it has no parts."""
    if v.__class__ is Pack:
        return list(v)
    if isinstance(v, (list, tuple)) and not isinstance(type(v), types.TypeClass):
        return list(v)
    if v.__class__ in WEAK:
        return None
    if v.__class__ is not Expr:
        if host_constant(v) is None:
            return None
        v = operand(frame, v, node)
    builder = frame.builder
    cls = v.cls
    kind = cls.kind if cls is not None else v.type.tag if v.type is not None else None
    if kind == "vector":
        v = builder.once(v, "unpacked", node)
        return [builder.swizzle(v, lane, node) for lane in "xyzw"[: v.type.lanes]]
    if kind == "tuple":
        v = builder.once(v, "unpacked", node)
        return [_tuple_part(frame, v, i, node) for i in range(len(cls.elements))]
    if kind == "array":
        v = builder.once(v, "unpacked", node)
        return [_element(frame, v, i, node) for i in range(v.type.count)]
    return None


def _tuple_part(frame, v, index, node):
    e = frame.builder.member(v, index, node)
    e.cls = tracked(v.cls.elements[index])
    return e


# ---- attributes ---------------------------------------------------------------------------------
def _attribute(frame, node):
    base = EXPRESSIONS[node.value.__class__](frame, node.value)
    if base.__class__ is Expr:
        return member(frame, base, node.attr, node)
    return static_attribute(frame, base, node.attr, node)


def member(frame, base, attr, node):
    """base.attr of a run-time value."""
    cls = base.cls
    if cls is None:
        if attr == "dtype":
            return types.from_core(base.type)
        return frame.builder.swizzle(base, attr, node)
    kind = cls.kind
    if kind == "struct":
        found = members_of(cls).get(attr)
        if found is not None:
            e = frame.builder.member(base, found[0], node)
            e.cls = found[1]
            return e
        return _class_attribute(frame, base, cls, attr, node)
    if kind == "buffer" or kind == "array":
        if attr == "dtype":
            return cls.element
        if attr == "shape":
            return _shape(frame, base, cls, node)
    return frame.fail("no_attribute", node, cls.__name__, attr)


def _shape(frame, base, cls, node):
    builder = frame.builder
    if cls.kind == "array":
        return Pack((cls.count,))
    if cls.rank == 1:
        return Pack((builder.call(_LENGTH, (base,), node),))
    return Pack([builder.call(_EXTENT, (base, axis), node) for axis in range(cls.rank)])


def _class_attribute(frame, base, cls, attr, node):
    found = find_method(cls, attr)
    if found is None:
        frame.fail("member_unknown", node, cls.__name__, attr, ", ".join(cls.members))
    if isinstance(found, property):
        from .specialise import call_bound

        return call_bound(frame, base, found.fget, [], None, node)
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, classmethod):
        return BoundMethod(cls, found.__func__)
    if hasattr(found, "__code__") or hasattr(found, "function"):
        return BoundMethod(base, found)
    return captured(frame, found, node)


_MODULE = type(builtins)
_STABLE = frozenset(("math", "cmath", "numpy", "enum"))


def static_attribute(frame, base, attr, node):
    """base.attr of a host object."""
    if isinstance(base, types.TypeClass):
        if attr in ("from_rows", "identity") and base.kind == "matrix":
            return TypeMethod(base, attr)
        found = find_method(base, attr) if base.kind == "struct" else None
        if isinstance(found, classmethod):
            return BoundMethod(base, found.__func__)
    elif isinstance(type(base), types.TypeClass):
        return member(frame, operand(frame, base, node), attr, node)
    try:
        v = getattr(base, attr)
    except AttributeError:
        frame.fail("no_attribute", node, describe(base), attr)
    except RAISED as error:  # a property of the user's object
        frame.fail("static_failed", node, reason(error))
    stable = False
    if type(base) is _MODULE:
        owner = base.__name__
        stable = owner in _STABLE or owner.startswith("lcpy")
    if not stable and not isinstance(base, types.TypeClass):
        frame.trace.captures.add_attribute(base, attr, v)
    return captured(frame, v, node, attr)


# ---- subscripts ---------------------------------------------------------------------------------
def _subscript(frame, node):
    base = EXPRESSIONS[node.value.__class__](frame, node.value)
    if base.__class__ is not Expr:
        return _static_subscript(frame, base, node)
    return subscript(frame, base, indices_of(frame, node.slice), node)


def indices_of(frame, node):
    """The operands between the brackets."""
    if node.__class__ is _ast.Tuple:
        return [_index(frame, e) for e in node.elts]
    return [_index(frame, node)]


def _index(frame, node):
    if node.__class__ is _ast.Slice:
        frame.fail("slice_refused", node)
    return operand(frame, EXPRESSIONS[node.__class__](frame, node), node)


def subscript(frame, base, indices, node):
    """base[indices] of a run-time value."""
    cls = base.cls
    if cls is None:
        if len(indices) == 1:
            return frame.builder.access_one(base, indices[0], node)
        return frame.builder.access(base, indices, node)
    if cls.kind == "tuple":
        index = indices[0]
        if len(indices) != 1 or index.__class__ is not int:
            frame.fail("tuple_index", node)
        if not 0 <= index < len(cls.elements):
            frame.fail("index_range", node, index, "the tuple", len(cls.elements) - 1)
        return _tuple_part(frame, base, index, node)
    if cls.kind == "struct":
        function = find_method(cls, "__getitem__")
        if function is None:
            frame.fail("no_subscript", node, cls.__name__)
        from .specialise import call_bound

        index = indices[0] if len(indices) == 1 else Pack(indices)
        return call_bound(frame, base, function, [index], None, node)
    if cls.kind == "array":
        for index in indices:  # a[i, j] is a[i][j]
            if base.cls is None:
                base = frame.builder.access_one(base, index, node)
            else:
                base = _element(frame, base, index, node)
        return base
    return _element(frame, base, indices[0] if len(indices) == 1 else indices, node)


def _element(frame, base, index, node):
    builder = frame.builder
    if index.__class__ is list:
        e = builder.access(base, index, node)
    else:
        e = builder.access_one(base, index, node)
    e.cls = tracked(base.cls.element)
    return e


def _static_subscript(frame, base, node):
    if base.__class__ is Pack:
        index = _index(frame, node.slice)
        if index.__class__ is not int:
            frame.fail("tuple_index", node)
        if not 0 <= index < len(base):
            frame.fail("index_range", node, index, "the tuple", len(base) - 1)
        return base[index]
    described = host_constant(base)
    if described is not None and described[1] is not None:
        return subscript(frame, operand(frame, base, node), indices_of(frame, node.slice), node)
    from .static import evaluate_parts

    key = evaluate_parts(frame, node.slice)
    if isinstance(base, (list, tuple)):
        key = _checked_key(frame, base, key, node)
    try:
        v = base[key]
    except RAISED as error:  # whatever the user's object does
        frame.fail("static_failed", node, reason(error))
    frame.trace.captures.add_item(base, key, v)
    return captured(frame, v, node)


def _checked_key(frame, base, key, node):
    if key.__class__ is int and not 0 <= key < len(base):
        frame.fail("index_range", node, key, "the list", len(base) - 1)
    return key


EXPRESSIONS.update({
    _ast.Attribute: _attribute, _ast.Subscript: _subscript, _ast.Tuple: _tuple,
})  # fmt: skip
