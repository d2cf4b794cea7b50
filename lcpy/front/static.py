"""Compile-time evaluation: ``lc.static(...)``, annotations, keys of host containers."""

import _ast

from .. import functions, types
from .._native import core
from ..objects import RAISED
from .captures import attribute
from .host import reason, spelled
from .names import captured, host_value
from .signature import MISSING, type_class
from .source import walk
from .values import Local, Static, describe


def is_static(function):
    return function is functions.static


def argument(frame, call):
    """The Python value of ``lc.static(expression)``."""
    if len(call.args) != 1 or call.keywords or call.args[0].__class__ is _ast.Starred:
        frame.fail("static_arguments", call)
    return evaluate(frame, call.args[0])


def evaluate(frame, node):
    """Evaluates any Python expression on the host, over compile-time names only."""
    names = {}
    inner = _bound_inside(node)
    typed = _asked_for_types(node)
    for n in walk(node):
        if n.__class__ is _ast.Name and n.id not in names and n.id not in inner:
            found = _compile_time(frame, n, id(n) in typed)
            if found is not MISSING:
                names[n.id] = found
    try:
        code = _compiled(frame, node)
    except SyntaxError as error:  # a yield, an await
        frame.fail("static_failed", node, error.msg)
    try:
        result = eval(code, {"__builtins__": __builtins__, **names})
    except RAISED as error:  # whatever the user's expression does
        frame.fail("static_failed", node, reason(error))
    _note_attributes(frame, node, names)
    return result


def _compiled(frame, node):
    """Code of the expression with the file's line numbers, so that a lambda in it has a source."""
    shift = frame.parsed.shift
    placed = [n for n in walk(node) if hasattr(n, "lineno")]
    for n in placed:
        n.lineno += shift
        n.end_lineno += shift
    try:
        return compile(_ast.Expression(body=node), frame.parsed.filename, "eval", 0, True)
    finally:
        for n in placed:
            n.lineno -= shift
            n.end_lineno -= shift


def _bound_inside(node):
    """Names that the expression binds itself: comprehension variables, lambda parameters."""
    bound = set()
    for n in walk(node):
        if n.__class__ is _ast.Name and n.ctx.__class__ is not _ast.Load:
            bound.add(n.id)
        elif n.__class__ is _ast.arg:
            bound.add(n.arg)
    return bound


class _Typed:
    """Stands for a run-time variable of which an expression asks nothing but the type."""

    def __init__(self, cls):
        self._kernel_type = cls
        self.dtype = cls.element if cls.kind in ("buffer", "array") else cls


def _asked_for_types(node):
    """Ids of the names that stand in ``x.dtype`` and ``lc.type_of(x)``, and nowhere else."""
    asked, other = {}, set()
    for n in walk(node):
        if n.__class__ is _ast.Attribute and n.attr == "dtype" and n.value.__class__ is _ast.Name:
            asked[id(n.value)] = n.value.id
        elif n.__class__ is _ast.Call and len(n.args) == 1 and n.args[0].__class__ is _ast.Name:
            if getattr(n.func, "attr", getattr(n.func, "id", "")) == "type_of":
                asked[id(n.args[0])] = n.args[0].id
    for n in walk(node):
        if n.__class__ is _ast.Name and id(n) not in asked:
            other.add(n.id)
    return {key for key, text in asked.items() if text not in other}


def _compile_time(frame, node, typed=False):
    """The compile-time value of a name in lc.static; MISSING for a name of the builtins."""
    text = node.id
    owner = frame
    while owner is not None:
        found = owner.names.get(text)
        if found.__class__ is Static:
            if found.value.__class__ is core.Expr:
                frame.fail("static_of_variable", node, text)
            return found.value
        if (
            found.__class__ is Local
            and found.cls.kind == "buffer"
            and text not in owner.local_names
        ):
            break
        if found is not None and typed:
            return _Typed(_class_of_name(owner, found))
        if found is not None:
            frame.fail("static_of_variable", node, text)
        if text in owner.local_names:
            frame.fail("name_unassigned", node, text)
        owner = owner.outer
    value = host_value(frame, text)
    if value is MISSING:
        frame.fail("name_unknown", node, text)
    if hasattr(type(value), "__next__"):
        why = f"'{text}' is an iterator, which one pass uses up: make a list or tuple of it"
        frame.fail("static_failed", node, why)
    frame.trace.captures.add_container(value)
    return value


def _class_of_name(owner, found):
    if found.__class__ is Local and found.cls is not None:
        return found.cls
    variable = found if found.__class__ is int else found.variable
    return types.from_core(owner.builder.variable_type(variable))


def _note_attributes(frame, node, names):
    """Attributes that the expression read through a name are captures too."""
    captures = frame.trace.captures
    for n in walk(node):
        if n.__class__ is not _ast.Attribute:
            continue
        path = []
        at = n
        while at.__class__ is _ast.Attribute:
            path.append(at.attr)
            at = at.value
        if at.__class__ is not _ast.Name or at.id not in names:
            continue
        owner = names[at.id]
        if owner.__class__ is _Typed:
            continue
        for attr in reversed(path):
            value = attribute(owner, attr)
            if value is MISSING or isinstance(owner, types.TypeClass):
                break
            if not hasattr(value, "__self__"):  # methods are made anew at each look-up
                captures.add_attribute(owner, attr, value)
                captures.add_container(value)
            owner = value


def evaluate_parts(frame, node):
    """A key in brackets after a compile-time object: ``Array[T, n]``, ``table["name"]``."""
    from .expr import value

    if node.__class__ is _ast.Tuple:
        return tuple(evaluate_parts(frame, e) for e in node.elts)
    found = value(frame, node)
    if found.__class__ is core.Expr:
        frame.fail("static_key", node)
    return found


def evaluate_type(frame, node, owner):
    """The type class that the annotation of `owner` inside a function names."""
    from .expr import value

    if node.__class__ is _ast.Constant and node.value.__class__ is str:
        try:
            text = compile(node.value, frame.parsed.filename, "eval", 0x400, True).body
        except (SyntaxError, ValueError) as error:
            frame.fail("annotation_failed", node, spelled(node.value), reason(error))
        for n in walk(text):
            if hasattr(n, "lineno"):
                n.lineno, n.col_offset = node.lineno, node.col_offset
                n.end_lineno, n.end_col_offset = node.end_lineno, node.end_col_offset
        node = text
    found = value(frame, node)
    cls = type_class(found)
    if cls is None:
        what = "a run-time value" if found.__class__ is core.Expr else describe(found)
        frame.fail("annotation_no_type", node, owner, what)
    return cls


def result(frame, call):
    """``lc.static(...)`` as a value of the kernel."""
    return captured(frame, argument(frame, call), call)
