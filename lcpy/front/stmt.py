"""Statements: one function a node class, in the table STATEMENTS. Loops and match are in loops.py
and match.py; they add theirs.
"""

import _ast
import sys

from .. import types
from .._native import core
from . import expr, parts, report, results
from .expr import condition, run_time, value
from .frame import run
from .names import host_constant, make_tuple, operand
from .parts import indices_of, member
from .tables import EXPRESSIONS, STATEMENTS
from .values import (
    WEAK,
    Closure,
    Local,
    Pack,
    SharedRequest,
    Static,
    class_of,
    find_method,
    tracked,
)

Expr = core.Expr


def block(frame, scope, statements):
    """Traces statements into a scope of their own."""
    frame.enter(scope)
    run(frame, statements)
    frame.leave()


# ---- assignment ---------------------------------------------------------------------------------
def _assign(frame, node):
    right = node.value
    v = EXPRESSIONS[right.__class__](frame, right)
    targets = node.targets
    if len(targets) == 1:
        target = targets[0]
        if target.__class__ is _ast.Name:
            assign_name(frame, target, v, right)
        else:
            assign(frame, target, v, right)
        return
    if v.__class__ is Expr:  # a = b = value: one evaluation
        v = frame.builder.once(v, "assigned", right)
    for target in targets:
        assign(frame, target, v, right)


def assign(frame, target, v, node):
    """Stores a value in any kind of target; `node` is where the value stands."""
    kind = target.__class__
    if kind is _ast.Name:
        assign_name(frame, target, v, node)
    elif kind is _ast.Tuple or kind is _ast.List:
        _unpack(frame, target, v, node)
    elif kind is _ast.Starred:
        frame.fail("starred_target", target)
    else:
        store(frame, target, operand(frame, v, node), node)


def assign_name(frame, target, v, node):
    """name = value. The first assignment decides the name's type."""
    text = target.id
    kind = v.__class__
    found = frame.names.get(text)
    if found.__class__ is int and (kind is Expr and v.cls is None or kind in WEAK):
        frame.builder.assign_variable(found, v, target, node)
        return
    if kind is not Expr and kind not in WEAK:
        if kind is SharedRequest:
            _declare_shared(frame, target, v, node)
            return
        if not _has_value(v):
            _bind_static(frame, target, v, found)
            return
        v = operand(frame, v, node)
    cls = v.cls if v.__class__ is Expr else None
    if found.__class__ is Static:
        frame.drop_static(text, found, target)
        found = None
    if found is None:
        if cls is not None and cls.kind == "buffer":
            frame.names[text] = Local(v.variable, cls)  # another name for it
            return
        if v.__class__ is Expr and v.type is None:
            frame.fail("no_value", node, f"'{text}'")
        variable = frame.builder.declare(text, v, target, node)
        frame.names[text] = variable if cls is None else Local(variable, cls)
        return
    if found.__class__ is Local:
        _check_class(frame, text, found.cls, v, node)
        found = found.variable
    elif cls is not None:
        _check_class(frame, text, types.from_core(frame.builder.variable_type(found)), v, node)
    frame.builder.assign_variable(found, v, target, node)


def _has_value(v):
    """Whether a compile-time value becomes a run-time one when it is given a name."""
    if v.__class__ is Pack:
        return all(
            not _is_resource(x) if x.__class__ is Expr else x.__class__ in WEAK or _has_value(x)
            for x in v
        )
    if v.__class__ is Closure or v is None or issubclass(type(v), (type, str)):
        return False
    return host_constant(v) is not None or issubclass(type(v), int) or _is_enum(v)


def _is_enum(v):
    enum = sys.modules.get("enum")
    return enum is not None and issubclass(type(v), enum.Enum)


def _bind_static(frame, target, v, found):
    if found is not None and found.__class__ is not Static:
        frame.fail("name_is_variable", target, target.id)
    if v.__class__ is Pack:
        v = _kept(frame, v, target)
    frame.bind_static(target.id, v, target)


def _kept(frame, pack, target):
    """A tuple with functions, types or buffers in it: its values are kept as they are now."""
    return Pack(
        _kept(frame, x, target) if x.__class__ is Pack
        else x if x.__class__ is not Expr or _is_resource(x)
        else _copied(frame, x, target)
        for x in pack
    )  # fmt: skip


def _copied(frame, x, target):
    e = frame.builder.copy(x, target.id, target)
    e.cls = x.cls
    return e


def _check_class(frame, text, cls, v, node):
    """Structs of one layout are still different types; a buffer's name is not given to another."""
    if cls.kind == "buffer":
        frame.fail("buffer_reassigned", node, text)
    given = v.cls if v.__class__ is Expr else None
    if given is not cls and "struct" in (cls.kind, given and given.kind):
        name = class_of(v).__name__ if v.__class__ is Expr else "a number"
        frame.fail("class_changed", node, f"'{text}'", cls.__name__, name)


def _declare_shared(frame, target, request, node):
    text = target.id
    if text in frame.names:
        frame.fail("shared_rebound", target, text)
    if not frame.is_kernel or frame.level:
        frame.fail("shared_placement", node)
    variable = frame.builder.shared(request.cls._type, text, target)
    frame.names[text] = Local(variable, request.cls)


def _unpack(frame, target, v, node):
    """a, b = value: all right sides are evaluated before the first store."""
    copy = frame.builder.copy
    whole = v.__class__ is Expr and not _is_resource(v)
    if whole and v.type is not None:
        v = copy(v, "unpacked", node)
    found = parts.components(frame, v, node)
    if found is None:
        frame.fail("cannot_unpack", node, parts.spoken(v))
    if len(found) != len(target.elts):
        starred = [t for t in target.elts if t.__class__ is _ast.Starred]
        if starred:
            frame.fail("starred_target", starred[0])
        frame.fail("unpack_count", node, len(target.elts), len(found))
    if not whole:
        found = [copy(p, "unpacked", node) if p.__class__ is Expr and not _is_resource(p) else p
                 for p in found]  # fmt: skip
    for t, part in zip(target.elts, found):
        assign(frame, t, part, node)


def _is_resource(e):
    return e.cls is not None and e.cls.kind == "buffer"


def _annotated(frame, node):
    """x: T = value declares x with the type T."""
    from .static import evaluate_type

    target = node.target
    if target.__class__ is not _ast.Name:
        frame.fail("annotation_target", target)
    cls = evaluate_type(frame, node.annotation, target.id)
    if target.id in frame.names:
        frame.fail("name_declared_twice", target, target.id)
    v = run_time(frame, node.value) if node.value is not None else None
    variable = frame.builder.local(cls._type, target.id, target)
    cls = tracked(cls)
    frame.names[target.id] = variable if cls is None else Local(variable, cls)
    if v is not None:
        assign_name(frame, target, v, node.value)


# ---- places -------------------------------------------------------------------------------------
def place(frame, node, once=False):
    """A node as something that can be stored to; with `once`, its indices are evaluated now."""
    kind = node.__class__
    if kind is _ast.Attribute or kind is _ast.Subscript:
        base = place(frame, node.value, once)
        if base.__class__ is Expr:
            return _part(frame, base, node, _indices(frame, node, once))
        if kind is _ast.Attribute:
            return parts.static_attribute(frame, base, node.attr, node)
    return value(frame, node)


def _indices(frame, node, once):
    if node.__class__ is not _ast.Subscript:
        return None
    indices = indices_of(frame, node.slice)
    if once:
        indices = [frame.builder.copy(i, "index", node.slice) for i in indices]
    return indices


def _part(frame, base, node, indices):
    """The attribute or element of `base` that a target node names."""
    if indices is None:
        return member(frame, base, node.attr, node)
    return parts.subscript(frame, base, indices, node)


def _methods(frame, base, node):
    """(getter, setter) of a property, or __getitem__ and __setitem__, where the struct class of
    `base` has them; else None."""
    if base.__class__ is not Expr or base.cls is None or base.cls.kind != "struct":
        return None
    if node.__class__ is _ast.Attribute:
        found = find_method(base.cls, node.attr)
        if not isinstance(found, property):
            return None
        if found.fset is None:
            frame.fail("property_read_only", node, base.cls.__name__, node.attr)
        return found.fget, found.fset
    found = find_method(base.cls, "__setitem__")
    return None if found is None else (find_method(base.cls, "__getitem__"), found)


def _call_method(frame, base, function, indices, v, node):
    """A getter or setter with the indices, if any, and the value, if any."""
    from .specialise import call_bound

    args = []
    if indices is not None:
        args.append(indices[0] if len(indices) == 1 else Pack(indices))
    if v is not None:
        args.append(v)
    return call_bound(frame, base, function, args, None, node)


def _checked_place(frame, base, target, indices):
    to = _part(frame, base, target, indices)
    if not frame.builder.is_place(to):
        frame.fail("not_place", target, "an assignment", "a value that was computed is not kept")
    return to


def _base(frame, target, once):
    base = place(frame, target.value, once)
    if base.__class__ is Expr:
        return base
    found = host_constant(base)
    if found is None or found[1] is None:
        frame.fail("not_assignable", target)
    return operand(frame, base, target)


def store(frame, target, v, node):
    """Stores an operand in an attribute or an element."""
    base = _base(frame, target, False)
    methods = _methods(frame, base, target)
    indices = _indices(frame, target, False)
    if methods is not None:
        _effect(frame, _call_method(frame, base, methods[1], indices, v, node), node)
        return
    to = _checked_place(frame, base, target, indices)
    if to.cls is not None and to.cls.kind == "struct":
        _check_class(frame, "place", to.cls, v, node)
    frame.builder.assign(to, v, node)


def _effect(frame, result, node):
    if result.__class__ is Expr:
        frame.builder.expression(result, node)


def _augmented(frame, node):
    """target op= value, the target evaluated once."""
    target = node.target
    kind = node.op.__class__
    if target.__class__ is _ast.Name:
        found = frame.names.get(target.id)
        if found.__class__ is Static and found.value.__class__ in WEAK:
            if found.level == frame.level:  # it becomes a variable from here on
                assign_name(frame, target, found.value, node)
                found = frame.names[target.id]
        if found is None or found.__class__ is Static:
            EXPRESSIONS[_ast.Name](frame, target)  # says what is wrong with an unknown name
            frame.fail("name_not_variable", target, target.id)
        left = EXPRESSIONS[_ast.Name](frame, target)
        right = EXPRESSIONS[node.value.__class__](frame, node.value)
        assign_name(frame, target, _combined(frame, kind, left, right, node), node)
        return
    base = _base(frame, target, True)
    methods = _methods(frame, base, target)
    indices = _indices(frame, target, True)
    if methods is None:
        left = _checked_place(frame, base, target, indices)
    else:
        left = _call_method(frame, base, methods[0], indices, None, target)
    right = EXPRESSIONS[node.value.__class__](frame, node.value)
    v = operand(frame, _combined(frame, kind, left, right, node), node)
    if methods is None:
        frame.builder.assign(left, v, node)
    else:
        _effect(frame, _call_method(frame, base, methods[1], indices, v, node), node)


def _combined(frame, kind, left, right, node):
    """What an augmented assignment stores: a struct's own __iadd__ goes before its __add__."""
    if left.__class__ is Expr and left.cls is not None and left.cls.kind == "struct":
        name = expr.METHODS[kind][0]
        function = find_method(left.cls, f"__i{name[2:]}")
        if function is not None:
            from .specialise import call_bound

            return call_bound(frame, left, function, [right], None, node)
    return expr.binary(frame, kind, left, right, node)


# ---- control ------------------------------------------------------------------------------------
def _if(frame, node):
    chosen = condition(frame, node.test)
    if chosen.__class__ is not Expr:
        run(frame, node.body if chosen else node.orelse)
        return
    hint, frame.hint = frame.hint, 0
    then, other = frame.builder.if_(chosen, node.test, hint)
    block(frame, then, node.body)
    if node.orelse:
        block(frame, other, node.orelse)


def _return(frame, node):
    if node.value is None:
        frame.builder.return_(None, node)
        return
    return_value(frame, value(frame, node.value), node)


def return_value(frame, v, node):
    """Ends the function with a value."""
    builder = frame.builder
    if v is None:
        builder.return_(None, node)
        return
    if frame.is_kernel:
        frame.fail("kernel_returns", node)
    if frame.returned is not None or not _is_operand(v):
        results.return_static(frame, v, node)
        return
    expected = frame.result
    if v.__class__ is Pack:
        if expected is not None and expected.kind != "tuple":
            frame.fail("result_differs", node, expected.__name__, "a tuple")
        v = make_tuple(frame, v, node, expected)
    else:
        v = operand(frame, v, node)
    cls = v.cls if v.__class__ is Expr else None
    if v.__class__ is Expr and v.type is None:  # return f(x), f giving nothing
        builder.expression(v, node)
        builder.return_(None, node)
        return
    if expected is None:
        frame.result = cls
    elif cls is not expected and (expected.kind != "array" or cls is None):
        frame.fail("result_differs", node, expected.__name__,
                   class_of(v).__name__ if v.__class__ is Expr else "a number")  # fmt: skip
    builder.return_(v, node)


def _is_operand(v):
    """Whether `v` is a run-time value, or one that becomes an operand, or is refused as one."""
    kind = v.__class__
    if kind is Expr or kind in WEAK or isinstance(v, str):
        return True
    if kind is Pack and v:
        return all(map(_is_operand, v))
    return _has_value(v) or not (
        kind in (Closure, Pack, parts.BoundMethod, parts.TypeMethod) or callable(v)
    )


def _expression(frame, node):
    e = node.value
    if e.__class__ is _ast.Constant and (e.value.__class__ is str or e.value is ...):
        return
    v = value(frame, e)
    if v.__class__ is Expr:
        frame.builder.expression(v, node)
    elif v.__class__ is SharedRequest:
        frame.fail("shared_placement", node)


def _pass(frame, node):
    pass


# ---- definitions --------------------------------------------------------------------------------
def _function(frame, node):
    from .specialise import closure

    found = frame.names.get(node.name)
    if found is not None and not (
        found.__class__ is Static and getattr(found.value, "node", 0) is node
    ):
        frame.fail("function_rebound", node, node.name)
    frame.bind_static(node.name, closure(frame, node, node.name), node)


def _nonlocal(frame, node):
    for text in node.names:
        outer = frame.outer
        while outer is not None:
            found = outer.names.get(text)
            if found is not None and found.__class__ is not Static:
                break
            outer = outer.outer
        if outer is None:
            frame.fail("nonlocal_unknown", node, text)
        reference = _ast.Name(id=text, ctx=_ast.Load())
        expr._place(reference, node)
        frame.local_names -= {text}
        EXPRESSIONS[_ast.Name](frame, reference)


def _refused(words):
    def refuse(frame, node):
        frame.fail("statement_refused", node, words)

    return refuse


STATEMENTS.update({
    _ast.AnnAssign: _annotated, _ast.Assign: _assign, _ast.AugAssign: _augmented,
    _ast.Expr: _expression, _ast.FunctionDef: _function, _ast.If: _if, _ast.Nonlocal: _nonlocal,
    _ast.Pass: _pass, _ast.Return: _return,
    _ast.Assert: report.assert_,
    _ast.AsyncFor: _refused("async for"),
    _ast.AsyncFunctionDef: _refused("async def"),
    _ast.AsyncWith: _refused("async with"),
    _ast.ClassDef: _refused("class"),
    _ast.Delete: _refused("del"),
    _ast.Global: _refused("global"),
    _ast.Import: _refused("import"),
    _ast.ImportFrom: _refused("import"),
    _ast.Raise: _refused("raise"),
    _ast.Try: _refused("try"),
    _ast.With: _refused("with"),
})  # fmt: skip


def complete():
    """Refuses what is left: node classes of newer Pythons. Called when all tables are filled."""
    for cls in _ast.stmt.__subclasses__():
        STATEMENTS.setdefault(cls, _refused(f"syntax of Python 3.{sys.version_info[1]}"))
