"""match on integers: a switch where every case is literals, else a chain of ifs."""

import _ast

from .._native import core
from .expr import both, compare, condition, value
from .frame import run
from .host import on_host
from .names import host_constant, operand
from .stmt import assign_name, block
from .tables import STATEMENTS
from .values import WEAK

Expr = core.Expr


def _match(frame, node):
    subject = value(frame, node.subject)
    kind = subject.__class__
    if kind in WEAK or kind is not Expr and host_constant(subject) is None:
        _chain(frame, subject, node.cases, 0)  # which case it is, is known while compiling
        return
    subject = operand(frame, subject, node.subject)
    if subject.__class__ is Expr:
        simple = _switch_cases(frame, node)
        if simple is not None:
            _switch(frame, node, subject, simple)
            return
        subject = frame.builder.copy(subject, "subject", node.subject)
    _chain(frame, subject, node.cases, 0)


# ---- switch -------------------------------------------------------------------------------------
def _literals(frame, pattern):
    """The integers of a pattern made of values and ``|``; None for any other."""
    kind = pattern.__class__
    if kind is _ast.MatchValue:
        v = operand(frame, value(frame, pattern.value), pattern)
        return [v] if v.__class__ is int else None
    if kind is _ast.MatchOr:
        found = []
        for p in pattern.patterns:
            part = _literals(frame, p)
            if part is None:
                return None
            found.extend(part)
        return found
    return None


def _is_wildcard(pattern):
    return pattern.__class__ is _ast.MatchAs and pattern.pattern is None and pattern.name is None


def _switch_cases(frame, node):
    """[(literals or None for the last wildcard, case)], or None where a switch will not do."""
    seen = set()
    made = []
    for i, case in enumerate(node.cases):
        if case.guard is not None:
            return None
        if _is_wildcard(case.pattern) and i == len(node.cases) - 1:
            made.append((None, case))
            continue
        literals = _literals(frame, case.pattern)
        if literals is None:
            return None
        made.append(([v for v in dict.fromkeys(literals) if v not in seen], case))
        seen.update(literals)
    return made


def _switch(frame, node, subject, cases):
    builder = frame.builder
    hint, frame.hint = frame.hint, 0
    builder.push_scope(builder.switch_(subject, node.subject, hint))
    for literals, case in cases:
        if literals is None:
            block(frame, builder.default_(case.pattern), case.body)
        elif literals:
            block(frame, builder.case_(literals, case.pattern), case.body)
    builder.pop_scope()


# ---- chain --------------------------------------------------------------------------------------
def _chain(frame, subject, cases, index):
    """Cases from `index` on, each in the else of the one before it."""
    if index == len(cases):
        return
    case = cases[index]
    matched = _matches(frame, subject, case.pattern)
    if case.guard is not None:  # names are bound where the pattern matches, before the guard
        matched = both(
            frame, _ast.And, matched, lambda f: _guard(f, subject, case), True, case.guard
        )
    if matched is False:
        _chain(frame, subject, cases, index + 1)
        return
    if matched is True:
        _case_body(frame, subject, case)
        return
    then, other = frame.builder.if_(matched, case.pattern)
    frame.enter(then)
    _case_body(frame, subject, case)
    frame.leave()
    if index + 1 < len(cases):
        frame.enter(other)
        _chain(frame, subject, cases, index + 1)
        frame.leave()


def _guard(frame, subject, case):
    _bind_name(frame, subject, case.pattern)
    return condition(frame, case.guard)


def _case_body(frame, subject, case):
    # With a guard the name was bound in its branch; here once more, where every path sees it.
    _bind_name(frame, subject, case.pattern)
    run(frame, case.body)


def _matches(frame, subject, pattern):
    """Whether the subject matches: an expression or a bool."""
    kind = pattern.__class__
    if subject.__class__ is not Expr and kind in (_ast.MatchValue, _ast.MatchSingleton):
        if kind is _ast.MatchSingleton:
            return subject is pattern.value
        v = value(frame, pattern.value)
        if v.__class__ is Expr:
            frame.fail("pattern_refused", pattern)
        return on_host(frame, pattern, lambda: bool(subject == v))
    if kind is _ast.MatchSingleton and pattern.value is not None:
        return compare(frame, _ast.Eq, subject, pattern.value, pattern)
    if kind is _ast.MatchValue:
        v = operand(frame, value(frame, pattern.value), pattern)
        if v.__class__ is not int:
            frame.fail("pattern_refused", pattern)
        return compare(frame, _ast.Eq, subject, v, pattern)
    if kind is _ast.MatchAs:
        return True if pattern.pattern is None else _matches(frame, subject, pattern.pattern)
    if kind is _ast.MatchOr:
        found = False
        for p in pattern.patterns:
            one = _matches(frame, subject, p)
            found = both(frame, _ast.Or, found, lambda _, one=one: one, False, p)
        return found
    return frame.fail("pattern_refused", pattern)


def _bind_name(frame, subject, pattern):
    """``case x`` and ``case 1 | 2 as x`` give the subject a name."""
    if pattern.__class__ is _ast.MatchAs and pattern.name is not None:
        target = _ast.Name(id=pattern.name, ctx=_ast.Store())
        target.lineno, target.col_offset = pattern.lineno, pattern.col_offset
        target.end_lineno, target.end_col_offset = pattern.end_lineno, pattern.end_col_offset
        assign_name(frame, target, subject, pattern)


STATEMENTS[_ast.Match] = _match
