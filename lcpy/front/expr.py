"""Expressions: one function a node class, in the table EXPRESSIONS.

Each takes (frame, node) and gives a value (see values.py); calls.py adds its own. Types are the core's business: nothing
here looks at one, except to tell whether a struct's own operator applies.
"""

import _ast
import sys

from .. import types
from .._native import core
from . import weak
from .names import captured, host_constant, name, operand
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
op = core.op

BINARY = {
    _ast.Add: op("Add"), _ast.Sub: op("Sub"), _ast.Mult: op("Mul"), _ast.Div: op("Div"),
    _ast.FloorDiv: op("FloorDiv"), _ast.Mod: op("FloorMod"), _ast.Pow: op("Pow"),
    _ast.LShift: op("Shl"), _ast.RShift: op("Shr"), _ast.BitAnd: op("BitAnd"),
    _ast.BitOr: op("BitOr"), _ast.BitXor: op("BitXor"), _ast.MatMult: op("MatMul"),
}  # fmt: skip
COMPARE = {
    _ast.Eq: op("Equal"), _ast.NotEq: op("NotEqual"), _ast.Lt: op("Less"),
    _ast.LtE: op("LessEqual"), _ast.Gt: op("Greater"), _ast.GtE: op("GreaterEqual"),
}  # fmt: skip
_AND, _OR, _NOT, _NEG, _BITNOT = op("And"), op("Or"), op("Not"), op("Neg"), op("BitNot")
_LENGTH, _EXTENT = op("BufferLength"), op("BufferExtent")

METHODS = {  # operators that a struct class may define: (its method, the reflected one)
    _ast.Add: ("__add__", "__radd__"), _ast.Sub: ("__sub__", "__rsub__"),
    _ast.Mult: ("__mul__", "__rmul__"), _ast.Div: ("__truediv__", "__rtruediv__"),
    _ast.FloorDiv: ("__floordiv__", "__rfloordiv__"), _ast.Mod: ("__mod__", "__rmod__"),
    _ast.Pow: ("__pow__", "__rpow__"), _ast.LShift: ("__lshift__", "__rlshift__"),
    _ast.RShift: ("__rshift__", "__rrshift__"), _ast.BitAnd: ("__and__", "__rand__"),
    _ast.BitOr: ("__or__", "__ror__"), _ast.BitXor: ("__xor__", "__rxor__"),
    _ast.MatMult: ("__matmul__", "__rmatmul__"), _ast.Eq: ("__eq__", "__eq__"),
    _ast.NotEq: ("__ne__", "__ne__"), _ast.Lt: ("__lt__", "__gt__"),
    _ast.LtE: ("__le__", "__ge__"), _ast.Gt: ("__gt__", "__lt__"), _ast.GtE: ("__ge__", "__le__"),
    _ast.USub: ("__neg__", None), _ast.UAdd: ("__pos__", None), _ast.Invert: ("__invert__", None),
}  # fmt: skip


def value(frame, node):
    """The value of an expression node."""
    return EXPRESSIONS[node.__class__](frame, node)


def run_time(frame, node):
    """The node's value as an operand: an expression or a weak number."""
    v = EXPRESSIONS[node.__class__](frame, node)
    kind = v.__class__
    if kind is Expr or kind in WEAK:
        return v
    return operand(frame, v, node)


# ---- literals and tuples ------------------------------------------------------------------------
def _constant(frame, node):
    v = node.value
    if v.__class__ in WEAK or v is None or v.__class__ is str:
        return v
    frame.fail("literal_refused", node, "..." if v is ... else f"a {type(v).__name__} literal")


def _tuple(frame, node):
    parts = []
    for e in node.elts:
        if e.__class__ is _ast.Starred:
            parts.extend(expanded(frame, e))
        else:
            parts.append(value(frame, e))
    return Pack(parts)


def expanded(frame, node):
    """The parts of ``*x``."""
    v = value(frame, node.value)
    parts = components(frame, v, node)
    if parts is None:
        frame.fail("cannot_unpack", node, _spoken(v))
    return parts


def _spoken(v):
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


# ---- operators ----------------------------------------------------------------------------------
def _binary(frame, node):
    left, right = node.left, node.right
    a = EXPRESSIONS[left.__class__](frame, left)
    b = EXPRESSIONS[right.__class__](frame, right)
    ka, kb = a.__class__, b.__class__
    if ka is Expr:
        if (kb is Expr and a.cls is None and b.cls is None) or (kb in WEAK and a.cls is None):
            return frame.builder.binary(BINARY[node.op.__class__], a, b, node)
    elif ka in WEAK:
        if kb in WEAK:
            return weak.fold(frame, node.op.__class__, a, b, node)
        if kb is Expr and b.cls is None:
            return frame.builder.binary(BINARY[node.op.__class__], a, b, node)
    return binary(frame, node.op.__class__, a, b, node)


def binary(frame, kind, a, b, node):
    """a `kind` b of any two values."""
    a = operand(frame, a, node)
    b = operand(frame, b, node)
    if a.__class__ in WEAK and b.__class__ in WEAK:
        return weak.fold(frame, kind, a, b, node)
    found = struct_operator(frame, kind, a, b, node)
    if found is not None:
        return found
    return frame.builder.binary(BINARY[kind], a, b, node)


def struct_operator(frame, kind, a, b, node):
    """What a struct class's own operator gives, or None where no class defines it."""
    direct, reflected = METHODS[kind]
    for receiver, other, method in ((a, b, direct), (b, a, reflected)):
        if receiver.__class__ is not Expr or receiver.cls is None or method is None:
            continue
        if receiver.cls.kind == "struct":
            function = find_method(receiver.cls, method)
            if function is not None:
                from .specialise import call_bound

                return call_bound(frame, receiver, function, [other], None, node)
    return None


def _unary(frame, node):
    kind = node.op.__class__
    a = run_time(frame, node.operand)
    if a.__class__ in WEAK:
        if kind is _ast.USub:
            return -a
        if kind is _ast.Not:
            return not a
        if kind is _ast.UAdd:
            return +a
        if a.__class__ is int:
            return ~a
        return frame.builder.unary(_BITNOT, a, node)
    if a.cls is not None and a.cls.kind == "struct" and kind is not _ast.Not:
        function = find_method(a.cls, METHODS[kind][0])
        if function is not None:
            from .specialise import call_bound

            return call_bound(frame, a, function, [], None, node)
    if kind is _ast.USub:
        return frame.builder.unary(_NEG, a, node)
    if kind is _ast.Not:
        return frame.builder.unary(_NOT, a, node)
    if kind is _ast.Invert:
        return frame.builder.unary(_BITNOT, a, node)
    return a


def _compare(frame, node):
    ops = node.ops
    a = value(frame, node.left)
    if len(ops) == 1:
        return compare(frame, ops[0].__class__, a, value(frame, node.comparators[0]), node)
    return _chain(frame, node, a)


def compare(frame, kind, a, b, node):
    ka, kb = a.__class__, b.__class__
    if ka is Expr and kb is Expr or ka is Expr and kb in WEAK or ka in WEAK and kb is Expr:
        if kind in COMPARE and (ka is not Expr or a.cls is None) and (kb is not Expr or b.cls is None):
            return frame.builder.binary(COMPARE[kind], a, b, node)
    if kind is _ast.In or kind is _ast.NotIn:
        return _contains(frame, kind, a, b, node)
    if ka is not Expr and kb is not Expr and (kind in (_ast.Is, _ast.IsNot) or _plain(a) and _plain(b)):
        return weak.COMPARE[kind](a, b)  # types, functions, texts, None
    if kind not in COMPARE:
        frame.fail("identity_of_value", node)
    a, b = operand(frame, a, node), operand(frame, b, node)
    if a.__class__ in WEAK and b.__class__ in WEAK:
        return weak.COMPARE[kind](a, b)
    found = struct_operator(frame, kind, a, b, node)
    if found is not None:
        return found
    return frame.builder.binary(COMPARE[kind], a, b, node)


def _plain(v):
    """A host object that is compared by the host: a type, a text, None, a module."""
    return v is None or isinstance(v, (type, str)) or (
        v.__class__ not in WEAK and host_constant(v) is None and not isinstance(v, int)
        and v.__class__ is not Pack
    )  # fmt: skip


def _chain(frame, node, a):
    """a < b < c: each operand once, the later ones only where the earlier comparisons hold."""
    builder = frame.builder
    operators, others = node.ops, node.comparators
    b = value(frame, others[0])
    if b.__class__ is Expr:
        b = builder.once(b, "compared", others[0])
    first = compare(frame, operators[0].__class__, a, b, node)
    if len(operators) == 1:
        return first

    def rest(frame):
        tail = _ast.Compare(left=None, ops=operators[1:], comparators=others[1:])
        _place(tail, node)
        if len(operators) == 2:
            return compare(frame, operators[1].__class__, b, value(frame, others[1]), node)
        return _chain(frame, tail, b)

    return both(frame, _ast.And, first, rest, len(operators) > 2 or hoists(others[1]), node)


def _place(new, node):
    new.lineno, new.col_offset = node.lineno, node.col_offset
    new.end_lineno, new.end_col_offset = node.end_lineno, node.end_col_offset


def _contains(frame, kind, a, b, node):
    """x in (a, b, c): comparisons joined by or."""
    if a.__class__ is not Expr and isinstance(b, (list, tuple, range, dict, set, frozenset, str)):
        if b.__class__ is not Pack:
            return (a in b) is (kind is _ast.In)
    parts = components(frame, b, node) if b.__class__ is Pack or isinstance(b, (list, tuple)) else None
    if parts is None:
        frame.fail("in_refused", node)
    a = frame.builder.once(operand(frame, a, node), "member", node)
    found = False
    for part in parts:
        equal = compare(frame, _ast.Eq, a, part, node)
        if equal is True or found is True:
            found = True
        elif found is False:
            found = equal
        elif equal is not False:
            found = frame.builder.binary(_OR, found, equal, node)
    return found if kind is _ast.In else negate(frame, found, node)


def negate(frame, v, node):
    return (not v) if v.__class__ is not Expr else frame.builder.unary(_NOT, v, node)


def condition(frame, node):
    """A truth value: an expression, or a Python bool where it is known while compiling."""
    v = value(frame, node)
    kind = v.__class__
    if kind is Expr or kind is bool:
        return v
    if kind in WEAK or v is None or v.__class__ is str:
        return bool(v)
    v = operand(frame, v, node)
    return v if v.__class__ is Expr else bool(v)


# ---- short circuit ------------------------------------------------------------------------------
def hoists(node):
    """Whether evaluating the node may need statements of its own, before the statement it is in."""
    from .source import walk

    for n in walk(node):
        kind = n.__class__
        if kind is _ast.Compare:
            if len(n.ops) > 1 or n.ops[0].__class__ in (_ast.In, _ast.NotIn):
                return True
        elif kind is _ast.NamedExpr or kind is _ast.Starred:
            return True
        elif kind is _ast.Call and len(n.keywords) > 1:
            return True
    return False


def _bool(frame, node):
    kind = node.op.__class__
    return _bool_chain(frame, kind, node.values, 0, node)


def _bool_chain(frame, kind, nodes, index, node):
    first = condition(frame, nodes[index])
    if index + 1 == len(nodes):
        return first
    later = nodes[index + 1 :]
    return both(frame, kind, first, lambda f: _bool_chain(f, kind, nodes, index + 1, node),
                any(map(hoists, later)), node)  # fmt: skip


def both(frame, kind, first, rest, hoisting, node):
    """first and/or rest(frame), the second evaluated only where it is needed."""
    if first.__class__ is not Expr:
        return rest(frame) if first is (kind is _ast.And) else first
    builder = frame.builder
    if not hoisting:
        second = rest(frame)
        if second.__class__ is not Expr and second is (kind is _ast.And):
            return first
        return builder.binary(_AND if kind is _ast.And else _OR, first, second, node)
    # The second side has statements of its own: they go into a branch.
    result = builder.declare("both", first, node, node)
    then, other = builder.if_(builder.ref(result, node), node)
    frame.enter(then if kind is _ast.And else other)
    builder.assign_variable(result, rest(frame), node, node)
    frame.leave()
    return builder.ref(result, node)


def _conditional(frame, node):
    chosen = condition(frame, node.test)
    if chosen.__class__ is not Expr:
        return value(frame, node.body if chosen else node.orelse)
    if hoists(node.body) or hoists(node.orelse):
        return _branched(frame, chosen, node)
    a, b = run_time(frame, node.body), run_time(frame, node.orelse)
    e = frame.builder.conditional(chosen, a, b, node)
    e.cls = same_class(frame, a, b, node)
    return e


def same_class(frame, a, b, node):
    """The class that two alternatives share."""
    ca = a.cls if a.__class__ is Expr else None
    cb = b.cls if b.__class__ is Expr else None
    if ca is not cb and (ca is not None and ca.kind == "struct" or cb is not None and cb.kind == "struct"):
        frame.fail("classes_differ", node, _spoken(a), _spoken(b))
    return ca


def _branched(frame, chosen, node):
    """A conditional expression whose sides need statements: an if that sets a variable."""
    builder = frame.builder
    then, other = builder.if_(chosen, node)
    frame.enter(then)
    a = run_time(frame, node.body)
    frame.leave()
    frame.enter(other)
    b = run_time(frame, node.orelse)
    frame.leave()
    result = builder.local(builder.common_type((a, b), "both sides", node), "chosen", node)
    for scope, side in ((then, a), (other, b)):
        frame.enter(scope)
        builder.assign_variable(result, side, node, node)
        frame.leave()
    e = builder.ref(result, node)
    e.cls = same_class(frame, a, b, node)
    return e


# ---- attributes ---------------------------------------------------------------------------------
def _attribute(frame, node):
    base = value(frame, node.value)
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
    frame.fail("no_attribute", node, cls.__name__, attr)


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
    except Exception as error:  # a property of the user's object
        frame.fail("static_failed", node, f"{type(error).__name__}: {error}")
    owner = getattr(base, "__name__", "")
    stable = owner in _STABLE or owner.startswith("lcpy") if base.__class__.__name__ == "module" else False
    if not stable and not isinstance(base, types.TypeClass):
        frame.trace.captures.add_attribute(base, attr, v)
    return captured(frame, v, node, attr)


# ---- subscripts ---------------------------------------------------------------------------------
def _subscript(frame, node):
    base = value(frame, node.value)
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
    return run_time(frame, node)


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
        index = run_time(frame, node.slice)
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
    except Exception as error:  # whatever the user's object does
        frame.fail("static_failed", node, f"{type(error).__name__}: {error}")
    return captured(frame, v, node)


def _checked_key(frame, base, key, node):
    if key.__class__ is int and not 0 <= key < len(base):
        frame.fail("index_range", node, key, "the list", len(base) - 1)
    return key


# ---- functions and the rest ---------------------------------------------------------------------
def _lambda(frame, node):
    from .specialise import closure

    return closure(frame, node, "<lambda>")


def _named(frame, node):
    from .stmt import assign_name

    v = value(frame, node.value)
    if v.__class__ is Expr or v.__class__ in WEAK:
        assign_name(frame, node.target, v, node)
        return name(frame, _loaded(node.target))
    frame.fail("expression_refused", node, "an assignment expression of a compile-time value")


def _loaded(node):
    made = _ast.Name(id=node.id, ctx=_ast.Load())
    _place(made, node)
    return made


def _refused(words):
    def refuse(frame, node):
        frame.fail("expression_refused", node, words)

    return refuse


EXPRESSIONS.update({
    _ast.Attribute: _attribute, _ast.BinOp: _binary, _ast.BoolOp: _bool,
    _ast.Compare: _compare, _ast.Constant: _constant, _ast.IfExp: _conditional,
    _ast.Lambda: _lambda, _ast.Name: name, _ast.NamedExpr: _named, _ast.Subscript: _subscript,
    _ast.Tuple: _tuple, _ast.UnaryOp: _unary,
    _ast.Await: _refused("await"),
    _ast.Dict: _refused("a dict"),
    _ast.DictComp: _refused("a dict comprehension"),
    _ast.FormattedValue: _refused("a formatted text"),
    _ast.GeneratorExp: _refused("a generator expression"),
    _ast.JoinedStr: _refused("a formatted text"),
    _ast.List: _refused("a list (write lc.array(a, b, c), or lc.static(...) for host values)"),
    _ast.ListComp: _refused("a list comprehension (lc.static(...) evaluates one on the host)"),
    _ast.Set: _refused("a set"),
    _ast.SetComp: _refused("a set comprehension"),
    _ast.Slice: _refused("a slice"),
    _ast.Starred: _refused("a starred expression here"),
    _ast.Yield: _refused("yield"),
    _ast.YieldFrom: _refused("yield from"),
})  # fmt: skip
for _class in _ast.expr.__subclasses__():  # node classes of newer Pythons
    if _class is not _ast.Call:
        EXPRESSIONS.setdefault(_class, _refused(f"syntax of Python 3.{sys.version_info[1]}"))
