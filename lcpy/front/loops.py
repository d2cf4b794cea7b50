"""Loops: for over range, unrolled for, while; break, continue and else."""

import _ast
from itertools import islice

from .._native import core
from ..objects import RAISED
from . import static
from .calls import arguments
from .expr import condition, value
from .frame import UNROLL_LIMIT, EndCopy, run
from .host import reason
from .names import captured, operand
from .stmt import assign, block
from .tables import STATEMENTS
from .values import WEAK, Local, Pack, Static, describe

Expr = core.Expr


class _Loop:
    """A run-time loop. `broke` is the flag that break sets where the loop has an else."""

    __slots__ = ("broke",)
    unrolled = False

    def __init__(self, broke):
        self.broke = broke


class _Copy:
    """An unrolled loop while one of its copies is traced. A break or continue that is certain (no
    run-time branch around it) ends the copy while tracing; the others leave one-pass loops that
    stand around the copy and around all of them. After a continue that is not certain no break is:
    `parted` says that there was one."""

    __slots__ = ("level", "broke", "parted")
    unrolled = True

    def __init__(self, level, broke):
        self.level = level
        self.broke = broke
        self.parted = False


def _leaves(statements, kinds):
    """Whether a break or continue in these statements belongs to the loop around them."""
    for s in statements:
        if s.__class__ in kinds:
            return True
        if s.__class__ in (_ast.For, _ast.While):
            if _leaves(s.orelse, kinds):
                return True
            continue
        for field in ("body", "orelse"):
            inner = getattr(s, field, None)
            if (
                inner.__class__ is list
                and s.__class__ is not _ast.FunctionDef
                and _leaves(inner, kinds)
            ):
                return True
        if s.__class__ is _ast.Match and any(_leaves(c.body, kinds) for c in s.cases):
            return True
    return False


def _flag(frame, node):
    """A fresh bool variable that is False."""
    return frame.builder.declare("broke", False, node, node)


def _break(frame, node):
    _exit(frame, node, True)


def _continue(frame, node):
    _exit(frame, node, False)


def _exit(frame, node, breaking):
    loop = frame.loops[-1]
    builder = frame.builder
    if breaking and loop.broke is not None:
        builder.assign_variable(loop.broke, True, node, node)
    if not loop.unrolled:
        builder.break_(node) if breaking else builder.continue_(node)
        return
    builder.break_(node)  # out of the copy's own one-pass loop
    if frame.level == loop.level:
        raise EndCopy(breaking and not loop.parted)
    loop.parted = loop.parted or not breaking


def _else(frame, node, broke):
    """The else part of a loop that `broke` tells about."""
    if not node.orelse:
        return
    builder = frame.builder
    _, other = builder.if_(builder.ref(broke, node), node)
    block(frame, other, node.orelse)


# ---- while --------------------------------------------------------------------------------------
def _while(frame, node):
    broke = None
    if node.orelse and _leaves(node.body, (_ast.Break,)):
        broke = _flag(frame, node.test)
    builder = frame.builder
    frame.enter(builder.loop(node.test))
    chosen = condition(frame, node.test)
    if chosen.__class__ is Expr:
        _, other = builder.if_(chosen, node.test)
        builder.push_scope(other)
        builder.break_(node.test)
        builder.pop_scope()
    elif not chosen:
        builder.break_(node.test)
    frame.loops.append(_Loop(broke))
    run(frame, node.body)
    frame.loops.pop()
    frame.leave()
    if broke is not None:
        _else(frame, node, broke)
    else:
        _plain_else(frame, node)


def _plain_else(frame, node):
    """An else whose loop no break leaves: it always runs."""
    run(frame, node.orelse)


# ---- for ----------------------------------------------------------------------------------------
def _for(frame, node):
    over = node.iter
    if over.__class__ is _ast.Call:
        function = value(frame, over.func)
        if function is range:
            _for_range(frame, node, over)
            return
        if static.is_static(function):
            _unroll(frame, node, static.argument(frame, over))
            return
        frame.fail("for_refused", over, describe(function))
    items = value(frame, over)
    if items.__class__ is Pack:
        _unroll(frame, node, items)
        return
    frame.fail(
        "for_refused", over, "a run-time value" if items.__class__ is Expr else describe(items)
    )


def _bounds(frame, over):
    args, keywords = arguments(frame, over)
    if keywords or not 1 <= len(args) <= 3:
        frame.fail("range_arguments", over)
    args = [operand(frame, a, over) for a in args]
    begin, end = (0, args[0]) if len(args) == 1 else args[:2]
    step = args[2] if len(args) == 3 else 1
    if step.__class__ in WEAK and step == 0:
        frame.fail("range_step", over)
    for v in (begin, end, step):
        if v.__class__ is float:
            frame.fail("range_variable", over, "floats")
    return begin, end, step


def _for_range(frame, node, over):
    if node.target.__class__ is not _ast.Name:
        frame.fail("for_target", node.target)
    begin, end, step = _bounds(frame, over)
    builder = frame.builder
    typed = (begin, end) if step.__class__ in WEAK else (begin, end, step)
    kind = builder.common_type(typed, "the bounds of range", over)
    variable, counter = _loop_variable(frame, node.target, kind)
    broke = _flag(frame, over) if node.orelse and _leaves(node.body, (_ast.Break,)) else None
    scope = builder.for_(counter, begin, end, step, over)
    frame.enter(scope)
    if counter != variable:
        builder.assign_variable(variable, builder.ref(counter, node.target), node.target, over)
    frame.loops.append(_Loop(broke))
    run(frame, node.body)
    frame.loops.pop()
    frame.leave()
    if broke is not None:
        _else(frame, node, broke)
    else:
        _plain_else(frame, node)


def _loop_variable(frame, target, kind):
    """(the name's variable, the one that counts): two where the name has another type already."""
    text = target.id
    builder = frame.builder
    found = frame.names.get(text)
    if found is None:
        found = frame.names[text] = builder.local(kind, text, target)
        return found, found
    if found.__class__ is Static:
        frame.drop_static(text, found, target)
        found = frame.names[text] = builder.local(kind, text, target)
        return found, found
    if found.__class__ is Local:
        found = found.variable
    if builder.variable_type(found) is kind:
        return found, found
    return found, builder.local(kind, text, target)


# ---- unrolling ----------------------------------------------------------------------------------
def _unroll(frame, node, items):
    try:
        items = list(islice(iter(items), UNROLL_LIMIT + 1))
    except TypeError:
        frame.fail("for_refused", node.iter, describe(items))
    except RAISED as error:  # whatever the user's iterator raises
        frame.fail("static_failed", node.iter, reason(error))
    trace = frame.trace
    copies = trace.unrolled * max(len(items), 1)
    if copies > UNROLL_LIMIT:
        count = "more" if len(items) > UNROLL_LIMIT else str(copies)
        frame.fail("unroll_limit", node.iter, frame.title, count, UNROLL_LIMIT)
    outer, trace.unrolled = trace.unrolled, copies
    hidden = _hide_variables(frame, node.target)
    breaks = _leaves(node.body, (_ast.Break,))
    continues = _leaves(node.body, (_ast.Continue,))
    if breaks or continues:
        _unroll_with_exits(frame, node, items, breaks, hidden)
    else:
        for item in items:
            _next_item(frame, node, item, hidden)
            run(frame, node.body)
        _restore_variables(frame, hidden)
        _plain_else(frame, node)
    trace.unrolled = outer


def _hide_variables(frame, target):
    """Takes run-time variables of the loop's names aside: while unrolling, the names hold items."""
    hidden = {}
    for n in target.elts if target.__class__ in (_ast.Tuple, _ast.List) else (target,):
        if n.__class__ is _ast.Name:
            found = frame.names.get(n.id)
            if found is not None and found.__class__ is not Static:
                hidden[n.id] = frame.names.pop(n.id)
    return hidden


def _next_item(frame, node, item, hidden):
    """Gives the loop's names the item; a run-time variable taken aside follows, so that after the
    loop, however it ends, it holds what Python's name would."""
    _bind_target(frame, node.target, item)
    for text, variable in hidden.items():
        now = frame.names[text]
        if now.__class__ is Static:
            number = operand(frame, now.value, node.target)
            to = variable.variable if variable.__class__ is Local else variable
            frame.builder.assign_variable(to, number, node.target, node.iter)


def _restore_variables(frame, hidden):
    for text, variable in hidden.items():
        if frame.names.get(text).__class__ is Static and text in frame.statics[-1]:
            frame.statics[-1].remove(text)
        frame.names[text] = variable


def _bind_target(frame, target, item):
    if target.__class__ is _ast.Name:
        item = captured(frame, item, target, target.id)
        if item.__class__ is Expr and (item.cls is None or item.cls.kind != "buffer"):
            assign(frame, target, item, target)
            return
        found = frame.names.get(target.id)
        if found is not None and found.__class__ is not Static:
            frame.fail("name_is_variable", target, target.id)
        if found is None:
            frame.statics[-1].append(target.id)
        frame.names[target.id] = Static(item, frame.level)
        return
    if target.__class__ not in (_ast.Tuple, _ast.List):
        frame.fail("for_target", target)
    try:
        parts = list(islice(iter(item), len(target.elts) + 1))
    except TypeError:
        frame.fail("cannot_unpack", target, describe(item))
    if len(parts) != len(target.elts):
        frame.fail("unpack_count", target, len(target.elts), len(parts))
    for t, part in zip(target.elts, parts):
        _bind_target(frame, t, part)


def _unroll_with_exits(frame, node, items, breaks, hidden):
    """Each copy stands in a loop that runs once, which continue leaves; where there is a break,
    a flag tells the loop around all copies to end too."""
    builder = frame.builder
    broke = _flag(frame, node.iter) if breaks else None
    frame.enter(builder.loop(node.iter))
    for item in items:
        last = False
        _next_item(frame, node, item, hidden)
        frame.enter(builder.loop(node.iter))
        frame.loops.append(_Copy(frame.level, broke))
        try:
            run(frame, node.body)
            builder.break_(node.iter)
        except EndCopy as end:
            last = end.last
        frame.loops.pop()
        frame.leave()
        if last:
            break
        if breaks:
            then, _ = builder.if_(builder.ref(broke, node.iter), node.iter)
            builder.push_scope(then)
            builder.break_(node.iter)
            builder.pop_scope()
    builder.break_(node.iter)
    frame.leave()
    frame.names.update(hidden)
    if broke is not None:
        _else(frame, node, broke)
    else:
        _plain_else(frame, node)


STATEMENTS.update({
    _ast.Break: _break, _ast.Continue: _continue, _ast.For: _for, _ast.While: _while,
})  # fmt: skip
