"""Arithmetic among weak numbers: as Python does it, exact integers and float64."""

import operator
from _ast import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
    Div,
    Eq,
    FloorDiv,
    Gt,
    GtE,
    Is,
    IsNot,
    LShift,
    Lt,
    LtE,
    MatMult,
    Mod,
    Mult,
    NotEq,
    Pow,
    RShift,
    Sub,
)

from .values import WEAK

BINARY = {
    Add: operator.add, Sub: operator.sub, Mult: operator.mul, Div: operator.truediv,
    FloorDiv: operator.floordiv, Mod: operator.mod, Pow: operator.pow, LShift: operator.lshift,
    RShift: operator.rshift, BitAnd: operator.and_, BitOr: operator.or_, BitXor: operator.xor,
    MatMult: operator.matmul,
}  # fmt: skip
COMPARE = {
    Eq: operator.eq, NotEq: operator.ne, Lt: operator.lt, LtE: operator.le, Gt: operator.gt,
    GtE: operator.ge, Is: operator.is_, IsNot: operator.is_not,
}  # fmt: skip
_SYMBOLS = {
    Add: "+", Sub: "-", Mult: "*", Div: "/", FloorDiv: "//", Mod: "%", Pow: "**", LShift: "<<",
    RShift: ">>", BitAnd: "&", BitOr: "|", BitXor: "^", MatMult: "@",
}  # fmt: skip
_MAX_BITS = 1 << 16  # of an integer that folding may make


def fold(frame, kind, a, b, node):
    """a `kind` b of two weak numbers."""
    if kind is Pow or kind is LShift:
        _check_size(frame, kind, a, b, node)
    return call(frame, BINARY[kind], (a, b), node, f"'{_SYMBOLS[kind]}'")


def _check_size(frame, kind, a, b, node):
    if a.__class__ is float or b.__class__ is float or b <= 0:
        return
    bits = a.bit_length() * b if kind is Pow else a.bit_length() + b
    stays_small = a == 0 or (kind is Pow and a in (1, -1))
    if bits > _MAX_BITS and not stays_small:
        why = f"the integer would have more than {_MAX_BITS} bits"
        frame.fail("literal_operation", node, f"'{_SYMBOLS[kind]}'", why)


def call(frame, function, args, node, what):
    """function(*args) of weak numbers; what Python raises becomes a CompileError."""
    try:
        result = function(*args)
    except ZeroDivisionError:
        frame.fail("literal_zero_division", node, what)
    except (ArithmeticError, ValueError, TypeError) as error:
        frame.fail("literal_operation", node, what, error.args[-1])
    if result.__class__ not in WEAK:
        frame.fail("literal_operation", node, what, f"the result is {result!r}")
    return result
