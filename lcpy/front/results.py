"""Functions as results: a callable may return a function, a type or another compile-time value
where it is known while compiling which one.

What such a function captured of the callable that made it outlives the call: its run-time variables
are returned too, and the caller keeps them in variables of its own.
"""

import _ast

from .._native import core
from .frame import Frame
from .names import make_tuple
from .source import walk
from .values import BoundMethod, Closure, Local, Pack, Static

Expr = core.Expr


class Returned:
    """What a callable returns besides run-time values: the compile-time value, and the variables of
    the callable (frame, name, variable, class) that its functions captured."""

    __slots__ = ("value", "kept", "frame")

    def __init__(self, value, kept, frame):
        self.value = value
        self.kept = kept
        self.frame = frame


def return_static(frame, v, node):
    """Ends the function with a compile-time value."""
    builder = frame.builder
    if frame.returned is not None:
        return  # what stands after a certain return is never run
    if frame.level:
        frame.fail("result_static", node)
    kept = []
    if _has_run_time(v):
        frame.fail("result_mixed", node)
    _find_kept(frame, v, kept, set(), node)
    frame.returned = Returned(v, kept, frame)
    if not kept:
        builder.return_(None, node)
        return
    parts = Pack(_reference(builder, variable, cls, node) for _, _, variable, cls in kept)
    made = make_tuple(frame, parts, node)
    frame.result = made.cls
    builder.return_(made, node)


def _reference(builder, variable, cls, node):
    e = builder.ref(variable, node)
    e.cls = cls
    return e


def _has_run_time(v):
    if v.__class__ is Pack:
        return any(part.__class__ is Expr or _has_run_time(part) for part in v)
    return v.__class__ is BoundMethod and v.receiver.__class__ is Expr


def _ends(frame, at):
    """Whether the frame `at` belongs to the function `frame` that is about to end."""
    return at is frame or at.alias is frame


def _find_kept(frame, v, kept, seen, node):
    """Appends the run-time variables of `frame` that the functions in `v` may read or write."""
    if v.__class__ is Pack:
        for part in v:
            _find_kept(frame, part, kept, seen, node)
        return
    if v.__class__ is not Closure or id(v) in seen:
        return
    seen.add(id(v))
    texts = {n.id for n in walk(v.node) if n.__class__ is _ast.Name}
    at = v.frame
    while at is not None:
        if _ends(frame, at):
            for text in sorted(texts & at.names.keys()):
                _keep(frame, at, text, kept, seen, node)
        at = at.outer
    for default in v.parameters:
        _find_kept(frame, default.default, kept, seen, node)


def _keep(frame, at, text, kept, seen, node):
    found = at.names[text]
    if found.__class__ is Static:
        _find_kept(frame, found.value, kept, seen, node)
        return
    variable, cls = (found, None) if found.__class__ is int else (found.variable, found.cls)
    if any(k[0] is at and k[1] == text for k in kept):
        return
    if cls is not None and cls.kind == "buffer" or variable in frame.references:
        frame.fail("result_captures", node, text)
    kept.append((at, text, variable, cls))


def adopt(caller, returned, result, node):
    """The compile-time value that a call gives. `result` is the call's run-time part, which holds
    what the value's functions captured; the caller keeps it in variables."""
    builder = caller.builder
    moved = {}
    if returned.kept:
        whole = builder.once(result, "captured", node)
        for i, (at, text, _, cls) in enumerate(returned.kept):
            e = builder.member(whole, i, node)
            e.cls = cls
            variable = builder.declare(text, e, node, node)
            moved[id(at), text] = variable if cls is None else Local(variable, cls)
    return _adopted(caller, returned, returned.value, moved, {}, node)


def _adopted(caller, returned, v, moved, made, node):
    if v.__class__ is Pack:
        return Pack(_adopted(caller, returned, part, moved, made, node) for part in v)
    if v.__class__ is not Closure:
        return v
    key = id(v)
    if key not in made:
        made[key] = new = Closure(v.node, v.frame, v.name, v.parameters, v.result)
        new.frame = _moved_frame(caller, returned, v.frame, moved, made, node)
    return made[key]


def _moved_frame(caller, returned, at, moved, made, node):
    """A frame for the caller in place of one that has ended."""
    if at is None or not _reaches(returned.frame, at):
        return at
    key = id(at)
    if key in made:
        return made[key]
    new = made[key] = Frame.__new__(Frame)
    for slot in Frame.__slots__:
        setattr(new, slot, getattr(at, slot))
    if _ends(returned.frame, at):
        new.alias = caller if caller.alias is None else caller.alias
        new.builder = new.alias.builder
    new.names = {}
    caller.trace.frames.append(new)
    for text, found in at.names.items():
        if found.__class__ is Static:
            value = _adopted(caller, returned, found.value, moved, made, node)
            new.names[text] = Static(value, 0)
        elif (id(at), text) in moved:
            new.names[text] = moved[id(at), text]
    new.outer = _moved_frame(caller, returned, at.outer, moved, made, node)
    return new


def _reaches(ended, at):
    while at is not None:
        if _ends(ended, at):
            return True
        at = at.outer
    return False
