"""Order of evaluation: which parts of an expression need statements of their own, and whether that
would run them before something that stands left of them.
"""

import _ast

from .source import walk
from .values import Static

_BRANCHING = (_ast.BoolOp, _ast.IfExp)  # their first part is done before the others are begun
_MEMBERSHIP = (_ast.In, _ast.NotIn)


def is_simple(node):
    """A name or a literal, which may be evaluated twice."""
    return node.__class__ is _ast.Name or node.__class__ is _ast.Constant


def hoists(node):
    """Whether evaluating the node may need statements of its own, before the statement it is in."""
    for n in walk(node):
        kind = n.__class__
        if kind is _ast.Compare:
            twice = (*n.comparators[:-1], *((n.left,) if n.ops[0].__class__ in _MEMBERSHIP else ()))
            if not all(map(is_simple, twice)):
                return True
        elif (
            kind is _ast.NamedExpr
            or kind is _ast.Starred
            or kind is _ast.Call
            and (len(n.keywords) > 1 or _is_print(n.func))
        ):
            return True
    return False


def _is_print(node):
    """print is a statement of its own, wherever it stands."""
    return node.__class__ is _ast.Name and node.id == "print"


def check(frame, node, early):
    """Refuses `node`, whose parts `early` run before its statement, where that could be seen: they
    or what stands left of them call something, and the others read or call."""
    left = _left_of(frame.statement, node) if frame.statement is not None else None
    if not left:
        return
    left_reads, left_calls = _effects(frame, left)
    early_reads, early_calls = _effects(frame, early)
    if (early_calls and left_reads) or (left_calls and early_reads):
        frame.fail("evaluated_early", node)


def check_branch(frame, node):
    """Refuses `node`, which needs statements of its own, where the expression it stands in may not
    evaluate it, or evaluates something before it that this could change."""
    at = frame.statement
    while at is not None and at is not node:
        inner = next((p for p in _parts(at) if _left_of(p, node) is not None), None)
        branching = at.__class__ in _BRANCHING or at.__class__ is _ast.Compare and len(at.ops) > 1
        if branching and inner is not _parts(at)[0]:
            frame.fail("evaluated_early", node)
        at = inner
    check(frame, node, (node,))


def _effects(frame, nodes):
    """(whether they read anything at run time, whether they call anything)"""
    reads = calls = False
    for root in nodes:
        for n in walk(root):
            if n.__class__ is _ast.Call:
                reads = calls = True
            elif n.__class__ is _ast.Name:
                found = frame.names.get(n.id)
                reads = reads or (found is not None and found.__class__ is not Static)
    return reads, calls


def _parts(node):
    """Expressions directly inside a node, in the order of evaluation."""
    kind = node.__class__
    if kind in (_ast.Assign, _ast.AnnAssign, _ast.NamedExpr):
        fields = (node.value,)
    elif kind is _ast.Call:
        fields = (node.func, *node.args, *(k.value for k in node.keywords))
    else:
        fields = []
        for name in node._fields:
            child = getattr(node, name, None)
            fields.extend(child if child.__class__ is list else (child,))
    return [f for f in fields if isinstance(f, _ast.expr)]


def _left_of(at, node):
    """What is evaluated before `node` within `at`; None where `node` is not in it."""
    if at is node:
        return []
    before = []
    for part in _parts(at):
        found = _left_of(part, node)
        if found is not None:
            return found if at.__class__ in _BRANCHING else before + found
        before.append(part)
    return None
