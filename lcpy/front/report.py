"""assert and print. A line's format goes to the host as JSON: texts, and for each value the format
spec and the names of its parts; whatever is known while compiling is text already.
"""

import _ast
import json

from .._native import core
from .tables import EXPRESSIONS
from .values import Pack, class_of

Expr = core.Expr


# ---- assert --------------------------------------------------------------------------------------
def assert_(frame, node):
    """assert condition, message"""
    from .expr import condition

    message = "" if node.msg is None else _message(frame, node.msg)
    chosen = condition(frame, node.test)
    if chosen.__class__ is Expr or not chosen:
        frame.builder.assert_(chosen, message, node)


def _message(frame, node):
    pieces, values = [], []
    _piece(frame, node, pieces, values)
    if values:
        frame.fail("assert_message", node)
    return "".join(pieces)


# ---- print ---------------------------------------------------------------------------------------
def print_(frame, node):
    """print(*values, sep=" ", end="\\n")"""
    options = {"sep": " ", "end": "\n"}
    for k in node.keywords:
        if k.arg not in options:
            frame.fail("print_option", k.value, k.arg or "**")
        v = EXPRESSIONS[k.value.__class__](frame, k.value)
        if v is not None and v.__class__ is not str:
            frame.fail("print_text", k.value, k.arg)
        if v is not None:
            options[k.arg] = v
    pieces, values = [], []
    for i, a in enumerate(node.args):
        if a.__class__ is _ast.Starred:
            frame.fail("print_option", a, "*")
        if i:
            pieces.append(options["sep"])
        _piece(frame, a, pieces, values)
    pieces.append(options["end"])
    frame.builder.print_(json.dumps(_joined(pieces)), values, node)


def _joined(pieces):
    """Neighbouring texts as one."""
    out = []
    for p in pieces:
        if p.__class__ is str and out and out[-1].__class__ is str:
            out[-1] += p
        elif p != "":
            out.append(p)
    return out


def _piece(frame, node, pieces, values):
    if node.__class__ is not _ast.JoinedStr:
        v = EXPRESSIONS[node.__class__](frame, node)
        _value(frame, v, "", node, pieces, values)
        return
    for part in node.values:
        if part.__class__ is _ast.Constant:
            pieces.append(part.value)
            continue
        spec = _spec(frame, part.format_spec)
        v = EXPRESSIONS[part.value.__class__](frame, part.value)
        convert = {-1: None, 114: repr, 115: str, 97: ascii}[part.conversion]
        if convert is not None and v.__class__ is not Expr and v.__class__ is not Pack:
            v = convert(v)
        elif convert is not None and spec:
            frame.fail("print_conversion", part.value)
        _value(frame, v, spec, part.value, pieces, values)


def _spec(frame, node):
    """The text of a format spec; its parts are known while compiling."""
    if node is None:
        return ""
    pieces, values = [], []
    for part in node.values:
        _piece(frame, _ast.JoinedStr(values=[part]), pieces, values)
    if values:
        frame.fail("print_spec", node, "it depends on a run-time value")
    return "".join(pieces)


def _value(frame, v, spec, node, pieces, values):
    if v.__class__ is Pack:
        pieces.append("(")
        for i, part in enumerate(v):
            if i:
                pieces.append(", ")
            _value(frame, part, spec, node, pieces, values)
        pieces.append(",)" if len(v) == 1 else ")")
        return
    if v.__class__ is not Expr:
        try:
            pieces.append(format(v, spec))
        except (ValueError, TypeError) as error:
            frame.fail("print_spec", node, str(error))
        return
    if v.type is None:
        frame.fail("no_value", node, "print")
    cls = class_of(v)
    if cls.kind == "buffer":
        frame.fail("print_buffer", node)
    if spec:
        _check_spec(frame, v.type, spec, node)
    pieces.append([spec, _shape(cls)])
    values.append(v)


def _check_spec(frame, t, spec, node):
    """Format specs are Python's own, so Python says what is wrong with one."""
    if t.tag not in ("scalar", "vector", "matrix"):
        for i in range(t.count if t.tag == "struct" else 1):
            _check_spec(frame, t.component(i), spec, node)
        return
    floats = "float" in t.scalar or t.scalar in ("half", "double")
    zero = False if t.scalar == "bool" else 0.0 if floats else 0
    try:
        format(zero, spec)
    except ValueError as error:
        frame.fail("print_spec", node, str(error))


def _shape(cls):
    """Names of a struct and its members, at any depth; None where there are none."""
    if cls.kind == "struct":
        return [cls.__name__, {name: _shape(T) for name, T in cls.members.items()}]
    if cls.kind == "tuple":
        return [None, [_shape(T) for T in cls.elements]]
    if cls.kind == "array":
        return [_shape(cls.element)]
    return None
