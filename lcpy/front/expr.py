"""Expressions: one function a node class, in the table EXPRESSIONS.

Each takes (frame, node) and gives a value (see values.py); parts.py
and calls.py add theirs. Types are the core's business:
nothing here looks at one, except to tell whether a struct's own operator applies.
"""

import _ast
import sys

from .. import types
from .._native import core
from . import order, weak
from .host import on_host
from .names import host_constant, name, operand
from .parts import components, spoken
from .tables import EXPRESSIONS
from .values import WEAK, Pack, find_method

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
_INFINITY = float("inf")
_AND, _OR, _NOT, _NEG, _BITNOT = op("And"), op("Or"), op("Not"), op("Neg"), op("BitNot")

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


# ---- literals -----------------------------------------------------------------------------------
def _constant(frame, node):
    v = node.value
    if v.__class__ is float and v == _INFINITY:  # how Python reads 1e999
        frame.fail("literal_range", node, "inf", "any float", "infinity is spelled math.inf")
    if v.__class__ in WEAK or v is None or v.__class__ is str:
        return v
    return frame.fail(
        "literal_refused", node, "..." if v is ... else f"a {type(v).__name__} literal"
    )


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


def own_method(frame, v, name, args, node):
    """What a struct's own method `name` gives; None where `v` is no struct or lacks it."""
    if v.__class__ is not Expr or v.cls is None or v.cls.kind != "struct":
        return None
    function = find_method(v.cls, name)
    if function is None:
        return None
    from .specialise import call_bound

    return call_bound(frame, v, function, args, None, node)


def _unary(frame, node):
    kind = node.op.__class__
    if kind is _ast.Not:
        return negate(frame, condition(frame, node.operand), node)
    a = run_time(frame, node.operand)
    if a.__class__ in WEAK:
        if kind is _ast.USub:
            return -a
        if kind is _ast.UAdd:
            return +a
        if a.__class__ is int:
            return ~a
        return frame.builder.unary(_BITNOT, a, node)
    if a.cls is not None:
        own = own_method(frame, a, METHODS[kind][0], [], node)
        if own is not None:
            return own
    if kind is _ast.USub:
        return frame.builder.unary(_NEG, a, node)
    if kind is _ast.Invert:
        return frame.builder.unary(_BITNOT, a, node)
    return a


def _compare(frame, node):
    ops = node.ops
    a = value(frame, node.left)
    if len(ops) == 1:
        return compare(frame, ops[0].__class__, a, value(frame, node.comparators[0]), node)
    return _chain(frame, node, a, ops, node.comparators)


def compare(frame, kind, a, b, node):
    ka, kb = a.__class__, b.__class__
    if ka is Expr and kb is Expr or ka is Expr and kb in WEAK or ka in WEAK and kb is Expr:
        if (
            kind in COMPARE
            and (ka is not Expr or a.cls is None)
            and (kb is not Expr or b.cls is None)
        ):
            return frame.builder.binary(COMPARE[kind], a, b, node)
    if kind is _ast.In or kind is _ast.NotIn:
        return _contains(frame, kind, a, b, node)
    if (
        ka is not Expr
        and kb is not Expr
        and (kind in (_ast.Is, _ast.IsNot) or _plain(a) and _plain(b))
    ):
        # Types, functions, texts, None.
        return on_host(frame, node, lambda: bool(weak.COMPARE[kind](a, b)))
    if kind not in COMPARE:
        frame.fail("identity_of_value", node)
    a, b = operand(frame, a, node), operand(frame, b, node)
    if a.__class__ in WEAK and b.__class__ in WEAK:
        return weak.COMPARE[kind](a, b)
    found = struct_operator(frame, kind, a, b, node)
    if found is not None:
        return found
    if kind is _ast.NotEq:  # Python's default: what __eq__ gives, inverted
        equal = struct_operator(frame, _ast.Eq, a, b, node)
        if equal is not None:
            return negate(frame, equal, node)
    return frame.builder.binary(COMPARE[kind], a, b, node)


def _plain(v):
    """A host object that is compared by the host: a type, a text, None, a module."""
    kind = type(v)
    return v is None or issubclass(kind, (type, str)) or (
        kind not in WEAK and host_constant(v) is None and not issubclass(kind, int)
        and kind is not Pack
    )  # fmt: skip


def _chain(frame, node, a, operators, others):
    """a < b < c: each operand once, the later ones only where the earlier comparisons hold."""
    middle = others[0]
    b = value(frame, middle)
    if b.__class__ is Expr and len(operators) > 1:
        if not order.is_simple(middle):
            order.check(frame, node, (node.left, middle))
        b = frame.builder.once(b, "compared", middle)
    first = compare(frame, operators[0].__class__, a, b, node)
    if len(operators) == 1:
        return first
    hoisting = not all(map(order.is_simple, others[1:-1])) or any(map(order.hoists, others[1:]))
    return both(frame, _ast.And, first, lambda f: _chain(f, node, b, operators[1:], others[1:]),
                hoisting, node)  # fmt: skip


def _place(new, node):
    new.lineno, new.col_offset = node.lineno, node.col_offset
    new.end_lineno, new.end_col_offset = node.end_lineno, node.end_col_offset


_CONTAINERS = (list, tuple, range, dict, set, frozenset, str)


def _holds(container, value):
    return value in container


def _contains(frame, kind, a, b, node):
    """x in (a, b, c): comparisons joined by or."""
    if a.__class__ is not Expr and issubclass(type(b), _CONTAINERS):
        if b.__class__ is not Pack or all(part.__class__ is not Expr for part in b):
            return on_host(frame, node, _holds, b, a) is (kind is _ast.In)
    own = own_method(frame, b, "__contains__", [a], node)
    if own is not None:
        return own if kind is _ast.In else negate(frame, own, node)
    parts = (
        components(frame, b, node) if b.__class__ is Pack or isinstance(b, (list, tuple)) else None
    )
    if parts is None:
        frame.fail("in_refused", node)
    if not order.is_simple(node.left):
        order.check(frame, node, (node.left,))
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
    if kind is Expr and v.cls is not None:
        return truth(frame, v, node)
    if kind is Expr or kind is bool:
        return v
    if kind is Pack or isinstance(kind, types.TypeClass):  # the core says why not
        return operand(frame, v, node)
    # A host object: numbers, NumPy scalars, texts, containers, None.
    return on_host(frame, node, bool, v)


def truth(frame, v, node):
    """A struct's truth value by its own __bool__, else its __len__, as Python has it."""
    own = own_method(frame, v, "__bool__", [], node)
    if own is None:
        own = own_method(frame, v, "__len__", [], node)
        if own is not None:
            own = compare(frame, _ast.NotEq, own, 0, node)
    return v if own is None else own


# ---- short circuit ------------------------------------------------------------------------------
def _bool(frame, node):
    kind = node.op.__class__
    return _bool_chain(frame, kind, node.values, 0, node)


def _bool_chain(frame, kind, nodes, index, node):
    first = condition(frame, nodes[index])
    if index + 1 == len(nodes):
        return first
    later = nodes[index + 1 :]
    return both(frame, kind, first, lambda f: _bool_chain(f, kind, nodes, index + 1, node),
                any(map(order.hoists, later)), node)  # fmt: skip


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
    order.check(frame, node, (node,))
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
    if order.hoists(node.body) or order.hoists(node.orelse):
        return _branched(frame, chosen, node)
    a, b = run_time(frame, node.body), run_time(frame, node.orelse)
    e = frame.builder.conditional(chosen, a, b, node)
    e.cls = same_class(frame, a, b, node)
    return e


def same_class(frame, a, b, node):
    """The class that two alternatives share."""
    ca = a.cls if a.__class__ is Expr else None
    cb = b.cls if b.__class__ is Expr else None
    if ca is not cb and (
        ca is not None and ca.kind == "struct" or cb is not None and cb.kind == "struct"
    ):
        frame.fail("classes_differ", node, spoken(a), spoken(b))
    return ca


def _branched(frame, chosen, node):
    """A conditional expression whose sides need statements: an if that sets a variable."""
    builder = frame.builder
    order.check(frame, node, (node,))
    then, other = builder.if_(chosen, node)
    sides = []
    for scope, side in ((then, node.body), (other, node.orelse)):
        frame.enter(scope)
        sides.append(value(frame, side))
        frame.leave()
    a, b = sides
    if a is None and b is None:  # print(...) if c else print(...)
        return None
    for scope, side, v in ((then, node.body, a), (other, node.orelse, b)):
        if v.__class__ is not Expr and v.__class__ not in WEAK:
            frame.enter(scope)
            sides[side is node.orelse] = operand(frame, v, side)
            frame.leave()
    a, b = sides
    result = builder.local(builder.common_type((a, b), "both sides", node), "chosen", node)
    for scope, side in ((then, a), (other, b)):
        frame.enter(scope)
        builder.assign_variable(result, side, node, node)
        frame.leave()
    e = builder.ref(result, node)
    e.cls = same_class(frame, a, b, node)
    return e


# ---- functions and the rest ---------------------------------------------------------------------
def _lambda(frame, node):
    from .specialise import closure

    return closure(frame, node, "<lambda>")


def _named(frame, node):
    from .stmt import assign_name

    v = value(frame, node.value)
    if v.__class__ is Expr or v.__class__ in WEAK:
        order.check(frame, node, (node,))
        assign_name(frame, node.target, v, node)
        return name(frame, _loaded(node.target))
    return frame.fail(
        "expression_refused", node, "an assignment expression of a compile-time value"
    )


def _loaded(node):
    made = _ast.Name(id=node.id, ctx=_ast.Load())
    _place(made, node)
    return made


def _refused(words):
    def refuse(frame, node):
        frame.fail("expression_refused", node, words)

    return refuse


EXPRESSIONS.update({
    _ast.BinOp: _binary, _ast.BoolOp: _bool,
    _ast.Compare: _compare, _ast.Constant: _constant, _ast.IfExp: _conditional,
    _ast.Lambda: _lambda, _ast.Name: name, _ast.NamedExpr: _named,
    _ast.UnaryOp: _unary,
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
