"""Calls: builtins of the language by their op table row, types as constructors, Python's own
functions, the math module, and callables (specialise.py).
"""

import _ast
import builtins
import math
import sys

from .. import functions, types
from .._native import core
from ..objects import RAISED
from . import order, report, static, weak
from .captures import METHOD
from .expr import own_method, same_class
from .external import External
from .host import on_host, reason
from .names import captured, operand
from .parts import expanded
from .signature import Callable, type_class
from .specialise import call_bound, call_function
from .tables import EXPRESSIONS
from .values import (
    WEAK,
    BoundMethod,
    Closure,
    Fixed,
    Pack,
    SharedRequest,
    TypeMethod,
    class_of,
    describe,
    find_method,
    tracked,
)

Expr = core.Expr
op = core.op
Builtin = functions.Builtin
_LENGTH, _POW = op("BufferLength"), op("Pow")
_OWN_METHODS = {  # functions that a struct may define for itself
    op("Abs"): "__abs__", op("Round"): "__round__", op("Floor"): "__floor__",
    op("Ceil"): "__ceil__", op("Trunc"): "__trunc__", _POW: "__pow__",
}  # fmt: skip


def arguments(frame, node):
    """(positional values, {keyword: value} or None) of a call, evaluated left to right."""
    args = []
    for a in node.args:
        if a.__class__ is _ast.Starred:
            args.extend(expanded(frame, a))
        else:
            args.append(EXPRESSIONS[a.__class__](frame, a))
    if not node.keywords:
        return args, None
    keywords = {}
    early = []
    for k in node.keywords:
        if k.arg is None:
            frame.fail("double_starred", k.value)
        v = EXPRESSIONS[k.value.__class__](frame, k.value)
        if len(node.keywords) > 1 and v.__class__ is Expr and not frame.builder.is_place(v):
            v = frame.builder.once(v, k.arg, k.value)  # they may be passed in another order
            early.append(k.value)
        keywords[k.arg] = v
    if early:
        order.check(frame, node, early)
    return args, keywords


def arguments_of_function(frame, node):
    """As `arguments`, for a function read from its source: numbers of lc.static stay known."""
    args, keywords = arguments(frame, node)
    if len(args) == len(node.args):
        args = [_fixed(frame, n, v) for n, v in zip(node.args, args)]
    if keywords:
        keywords = {k.arg: _fixed(frame, k.value, keywords[k.arg]) for k in node.keywords}
    return args, keywords


def _fixed(frame, node, v):
    if v.__class__ not in WEAK or node.__class__ is not _ast.Call:
        return v
    function = EXPRESSIONS[node.func.__class__](frame, node.func)
    return Fixed(v) if static.is_static(function) else v


def call(frame, node):
    """Any call."""
    target = node.func
    function = EXPRESSIONS[target.__class__](frame, target)
    handler = _BY_CLASS.get(function.__class__)
    if handler is not None:
        return handler(frame, function, node)
    if issubclass(type(function), type):
        return _call_class(frame, function, node)
    return _call_object(frame, function, node)


# ---- the language's own functions ---------------------------------------------------------------
def _call_builtin(frame, function, node):
    handler = _SPECIAL.get(function.__name__)
    if handler is not None:
        return handler(frame, function, node)
    args, keywords = arguments(frame, node)
    if keywords:
        frame.fail("keyword_refused", node, function.__name__)
    return _apply(frame, function.op, args, node)


def _apply(frame, number, args, node, result=None):
    """A builtin on any values."""
    args = [
        a if a.__class__ is Expr or a.__class__ in WEAK else operand(frame, a, node) for a in args
    ]
    if args and args[0].__class__ is Expr and args[0].cls is not None and number in _OWN_METHODS:
        own = own_method(frame, args[0], _OWN_METHODS[number], args[1:], node)
        if own is not None:
            return own
    return frame.builder.call(number, args, node, result)


# Numbers of MemoryOrder.
_ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
_ATOMIC_OPERANDS = {"atomic_load": 1, "atomic_compare_exchange": 3}


def _atomic(frame, function, node):
    args, keywords = arguments(frame, node)
    order = (keywords or {}).pop("order", "relaxed")
    if keywords:
        frame.fail("keyword_refused", node, function.__name__)
    if order.__class__ is not str or order not in _ORDERS:
        shown = order if order.__class__ is str else describe(order)
        known = ", ".join(f"'{name}'" for name in _ORDERS[:-1]) + f" or '{_ORDERS[-1]}'"
        frame.fail("atomic_order", node, f"lc.{function.__name__}", shown, known)
    wanted = _ATOMIC_OPERANDS.get(function.__name__, 2)
    if order != "relaxed" and len(args) == wanted:  # a wrong count is the builder's to say
        args.append(_ORDERS.index(order))
    elif len(args) == wanted + 1:
        frame.fail("too_many_arguments", node, f"lc.{function.__name__}", wanted, len(args))
    return _apply(frame, function.op, args, node)


def _extreme(frame, function, node):
    args, keywords = arguments(frame, node)
    if keywords:
        frame.fail("keyword_refused", node, function.__name__)
    return _fold_pairs(frame, function.op, args, node)


def _fold_pairs(frame, number, args, node):
    """min and max of two or more."""
    if len(args) < 2:
        return _apply(frame, number, args, node)
    result = args[0]
    for a in args[1:]:
        result = _apply(frame, number, (result, a), node)
    return result


def _select(frame, function, node):
    args, keywords = arguments(frame, node)
    if keywords:
        frame.fail("keyword_refused", node, function.__name__)
    args = [operand(frame, a, node) for a in args]
    e = frame.builder.call(function.op, args, node)
    if len(args) == 3:
        e.cls = same_class(frame, args[1], args[2], node)
    return e


def _element_read(frame, function, node):
    args, _ = arguments(frame, node)
    e = _apply(frame, function.op, args, node)
    if args[0].__class__ is Expr and args[0].cls is not None:
        e.cls = tracked(args[0].cls.element)
    return e


def _typed(frame, node, name):
    """The type and the other arguments of ``f(T, ...)``."""
    args, keywords = arguments(frame, node)
    cls = type_class(args[0]) if args and not keywords else None
    if cls is None:
        frame.fail("type_argument", node, name)
    return cls, args[1:]


def _bitcast(frame, function, node):
    cls, args = _typed(frame, node, "bitcast")
    if len(args) != 1:
        frame.fail("type_argument", node, "bitcast")
    e = frame.builder.bitcast(cls._type, operand(frame, args[0], node), node)
    e.cls = tracked(cls)
    return e


def _byte_read(frame, function, node):
    cls, args = _typed(frame, node, function.__name__)
    e = _apply(frame, function.op, args, node, cls._type)
    e.cls = tracked(cls)
    return e


def _hint(frame, function, node):
    arguments(frame, node)
    frame.hint = {"flatten": 1, "branch": 2, "force_case": 3}[function.__name__]


def _shared(frame, function, node):
    cls, args = _typed(frame, node, "shared")
    size = args[0] if len(args) == 1 else None
    if size.__class__ is not tuple and size.__class__ is not Pack:
        size = (size,)
    for n in reversed(size):
        if n.__class__ is not int or n < 1:
            frame.fail("shared_size", node)
        cls = types.array_type(cls, n)
    return SharedRequest(cls)


def _array(frame, function, node):
    args, keywords = arguments(frame, node)
    if not args or keywords:
        frame.fail("array_empty", node)
    args = [operand(frame, a, node) for a in args]
    builder = frame.builder
    first = args[0]
    if first.__class__ is Expr and first.cls is not None:
        element = first.cls
        for a in args[1:]:
            same_class(frame, first, a, node)
    else:
        element = types.from_core(builder.common_type(args, "the elements", node))
    cls = types.array_type(element, len(args))
    e = builder.make(cls._type, args, node)
    e.cls = cls
    return e


def _type_of(frame, function, node):
    args, _ = arguments(frame, node)
    if len(args) != 1:
        frame.fail("type_argument", node, "type_of")
    v = operand(frame, args[0], node)
    return class_of(v if v.__class__ is Expr else frame.builder.settle(v, node))


def _static(frame, function, node):
    return static.result(frame, node)


_SPECIAL = {
    "array": _array, "bitcast": _bitcast, "branch": _hint, "byte_read": _byte_read,
    "byte_volatile_read": _byte_read, "unpack": _byte_read,
    "flatten": _hint, "force_case": _hint, "max": _extreme, "min": _extreme, "select": _select,
    "shared": _shared, "static": _static, "volatile_read": _element_read,
    **{row["python_name"]: _atomic for row in core.op_rows() if row["category"] == "Atomic"},
}  # fmt: skip


# ---- types as constructors ----------------------------------------------------------------------
def _call_class(frame, cls, node):
    handler = _PYTHON_TYPES.get(cls)
    if handler is not None:
        return handler(frame, node)
    found = type_class(cls)
    if found is None:
        frame.fail("not_callable", node, describe(cls))
    args, keywords = arguments(frame, node)
    return make(frame, found, args, keywords, node)


def make(frame, cls, args, keywords, node):
    """cls(*args, **keywords) as a value."""
    if cls.kind == "struct":
        return _make_struct(frame, cls, args, keywords, node)
    if keywords:
        frame.fail("keyword_refused", node, cls.__name__)
    if cls.kind in ("buffer", "ref"):
        frame.fail("not_constructible", node, cls.__name__)
    args = [
        a if a.__class__ is Expr or a.__class__ in WEAK else operand(frame, a, node) for a in args
    ]
    if cls.kind == "scalar" and len(args) == 1:
        return frame.builder.cast(cls._type, args[0], node)
    e = frame.builder.make(cls._type, args, node)
    e.cls = tracked(cls)
    return e


def _make_struct(frame, cls, args, keywords, node):
    members = cls.members
    if len(args) > len(members):
        frame.fail("too_many_arguments", node, cls.__name__, len(members), len(args))
    given = dict(zip(members, args))
    for name, v in (keywords or {}).items():
        if name not in members:
            frame.fail("member_unknown", node, cls.__name__, name, ", ".join(members))
        if name in given:
            frame.fail("argument_twice", node, cls.__name__, name)
        given[name] = v
    builder = frame.builder
    parts = []
    for name, T in members.items():
        if name in given:
            v = operand(frame, given[name], node)
            if T.kind == "struct" and (v.__class__ is not Expr or v.cls is not T):
                what = class_of(v).__name__ if v.__class__ is Expr else "a number"
                frame.fail("class_changed", node, f"member '{name}'", T.__name__, what)
        elif name in cls.defaults:
            v = cls.defaults[name]
            if v.__class__ in WEAK:
                v = builder.cast(T._type, v, node)
            else:
                v = operand(frame, v, node)
        else:
            v = builder.make(T._type, (), node)
        parts.append(v)
    e = builder.make(cls._type, parts, node)
    e.cls = cls
    return e


def _call_type_method(frame, method, node):
    args, keywords = arguments(frame, node)
    if keywords:
        frame.fail("keyword_refused", node, method.name)
    cls = method.cls
    if method.name == "from_rows":
        return frame.builder.from_rows(cls._type, [operand(frame, a, node) for a in args], node)
    if args:
        frame.fail("too_many_arguments", node, "identity", 0, len(args))
    return frame.builder.constant(cls._type, types.pack(cls, cls.identity()), node)


# ---- Python's own functions ---------------------------------------------------------------------
def _positional(frame, node, name, low, high):
    args, keywords = arguments(frame, node)
    if keywords or not low <= len(args) <= high:
        frame.fail("python_arguments", node, name)
    return [operand(frame, a, node) if a.__class__ is not Pack else a for a in args]


def _all_weak(args):
    return all(a.__class__ in WEAK for a in args)


def _python_int(frame, node):
    return _convert_number(frame, node, int, types.INT32)


def _python_float(frame, node):
    if len(node.args) == 1 and node.args[0].__class__ is _ast.Constant and not node.keywords:
        if node.args[0].value.__class__ is str:  # float("inf")
            return weak.call(frame, float, (node.args[0].value,), node, "float()")
    return _convert_number(frame, node, float, types.FLOAT32)


def _python_bool(frame, node):
    return _convert_number(frame, node, bool, types.BOOL)


def _convert_number(frame, node, convert, cls):
    args = _positional(frame, node, convert.__name__, 0, 1)
    if _all_weak(args):
        return weak.call(frame, convert, args, node, f"{convert.__name__}()")
    own = own_method(frame, args[0], f"__{convert.__name__}__", [], node)
    if own is not None:
        return own
    return frame.builder.cast(cls._type, args[0], node)


def _python_abs(frame, node):
    args = _positional(frame, node, "abs", 1, 1)
    return abs(args[0]) if _all_weak(args) else _apply(frame, op("Abs"), args, node)


def _python_round(frame, node):
    args = _positional(frame, node, "round", 1, 1)
    if _all_weak(args):
        return weak.call(frame, lambda x: float(round(x)), args, node, "round()")
    return _apply(frame, op("Round"), args, node)


def _python_pow(frame, node):
    args = _positional(frame, node, "pow", 2, 2)
    if _all_weak(args):
        return weak.fold(frame, _ast.Pow, *args, node)
    return _apply(frame, _POW, args, node)


def _python_min(frame, node):
    args = _positional(frame, node, "min", 2, 255)
    return min(args) if _all_weak(args) else _fold_pairs(frame, op("Min"), args, node)


def _python_max(frame, node):
    args = _positional(frame, node, "max", 2, 255)
    return max(args) if _all_weak(args) else _fold_pairs(frame, op("Max"), args, node)


def _python_len(frame, node):
    args, keywords = arguments(frame, node)
    if keywords or len(args) != 1:
        frame.fail("python_arguments", node, "len")
    v = args[0]
    if v.__class__ is not Expr:
        if issubclass(type(v), type) or not hasattr(v, "__len__"):
            frame.fail("no_length", node, describe(v))
        return on_host(frame, node, len, v)
    cls = class_of(v)
    if cls.kind == "buffer":
        return frame.builder.call(_LENGTH, (v,), node)
    if cls.kind == "tuple":
        return len(cls.elements)
    if cls.kind == "struct":
        own = own_method(frame, v, "__len__", [], node)
        if own is not None:
            return own
    elif cls.kind != "scalar":
        return v.type.count
    return frame.fail("no_length", node, f"a value of type {cls.__name__}")


def _python_range(frame, node):
    frame.fail("range_placement", node)


_PYTHON_TYPES = {
    bool: _python_bool, float: _python_float, int: _python_int, range: _python_range,
}  # fmt: skip
_PYTHON = {
    abs: _python_abs, len: _python_len, max: _python_max, min: _python_min, pow: _python_pow,
    print: report.print_, round: _python_round,
}  # fmt: skip
_CALLED = (
    "kernels call lc.* functions, those of the math module, and functions read from their source"
)
_OWN_HOST_MODULES = ("lcpy.run.", "lcpy.launch", "lcpy.front.")
_INSTEAD = {"sum": "use lc.sum", "any": "use lc.any",
            "all": "use lc.all", "isinstance": "compare x.dtype or lc.type_of(x)",
            "enumerate": "loop over range", "zip": "loop over range",
            "divmod": "use // and %"}  # fmt: skip


def _math_table():
    """math's functions that are builtins of the language under the same name."""
    named = {row["python_name"]: row["op"] for row in core.op_rows() if row["level"] != "Refused"}
    table = {}
    for name, function in vars(math).items():
        number = named.get({"fabs": "abs"}.get(name, name))
        if number is not None and builtins.callable(function):
            table[function] = number
    return table


_MATH = _math_table()
_ANGLES = {math.radians: math.pi / 180, math.degrees: 180 / math.pi}


def _call_host(frame, function, node):
    """A function written in C: Python's builtins and the math module's."""
    handler = _PYTHON.get(function)
    if handler is not None:
        return handler(frame, node)
    number = _MATH.get(function)
    if number is None and function not in _ANGLES:
        name = function.__name__
        module = function.__module__ or "builtins"
        if module == "builtins":
            frame.fail("host_function", node, name, _INSTEAD.get(name) or _CALLED)
        frame.fail("host_function", node, f"{module}.{name}", _CALLED)
    args, keywords = arguments(frame, node)
    args = [operand(frame, a, node) for a in args]
    if keywords:
        frame.fail("keyword_refused", node, f"math.{function.__name__}")
    if _all_weak(args):
        return weak.call(frame, function, args, node, f"math.{function.__name__}()")
    if number is None:
        if len(args) != 1:
            frame.fail("python_arguments", node, f"math.{function.__name__}")
        from .expr import binary

        return binary(frame, _ast.Mult, args[0], _ANGLES[function], node)
    return _apply(frame, number, args, node)


# ---- functions written in Python ----------------------------------------------------------------
def _call_python(frame, function, node):
    if function.__module__ == "lcpy.types":  # lc.vector, lc.matrix, lc.type_of: of types and values
        return _call_types_function(frame, function, node)
    if (function.__module__ or "").startswith(_OWN_HOST_MODULES):
        frame.fail("host_function", node, f"lc.{function.__name__}", _CALLED)
    args, keywords = arguments_of_function(frame, node)
    return call_function(frame, function, args, keywords, node)


def _call_types_function(frame, function, node):
    if function is types.type_of:
        return _type_of(frame, function, node)
    args, keywords = arguments(frame, node)
    try:
        return function(*args, **(keywords or {}))
    except RAISED as error:  # a wrong argument of the user's
        frame.fail("static_failed", node, reason(error))


def _call_callable(frame, function, node):
    args, keywords = arguments_of_function(frame, node)
    return call_function(frame, function.function, args, keywords, node)


def _call_external(frame, function, node):
    args, keywords = arguments(frame, node)
    return call_function(frame, function.function, args, keywords, node, external=function)


def _call_closure(frame, function, node):
    args, keywords = arguments_of_function(frame, node)
    return call_function(frame, function, args, keywords, node)


def _call_bound_method(frame, method, node):
    args, keywords = arguments_of_function(frame, node)
    return call_bound(frame, method.receiver, method.function, args, keywords, node)


def _call_host_method(frame, method, node):
    """A method written in Python of a host object, which is part of the specialisation."""
    if not hasattr(method.__func__, "__code__"):
        frame.fail("not_callable", node, describe(method))
    args, keywords = arguments_of_function(frame, node)
    return call_function(frame, method.__func__, [method.__self__, *args], keywords, node)


def _call_value(frame, v, node):
    """A run-time value that is called: a struct with __call__, or a mistake."""
    if v.cls is not None and v.cls.kind == "struct":
        function = find_method(v.cls, "__call__")
        if function is not None:
            args, keywords = arguments_of_function(frame, node)
            return call_bound(frame, v, function, args, keywords, node)
    return frame.fail("not_callable", node, f"a value of type {class_of(v).__name__}")


def _call_partial(frame, partial, node):
    """functools.partial of a function that kernels can call."""
    args, keywords = arguments(frame, node)
    args = [*(captured(frame, a, node) for a in partial.args), *args]
    keywords = {**{k: captured(frame, v, node) for k, v in partial.keywords.items()},
                **(keywords or {})}  # fmt: skip
    return invoke(frame, partial.func, args, keywords, node)


def invoke(frame, function, args, keywords, node):
    """function(*args, **keywords) of values, for the callables whose arguments are plain values."""
    kind = type(function)
    if kind is Callable:
        function = function.function
    elif kind is BoundMethod:
        return call_bound(frame, function.receiver, function.function, args, keywords, node)
    elif kind is METHOD:
        function, args = function.__func__, [function.__self__, *args]
    elif isinstance(function, types.TypeClass):
        return make(frame, function, args, keywords, node)
    elif kind is Builtin and function.op is not None and not keywords:
        return _apply(frame, function.op, args, node)
    elif kind is not Closure and kind is not type(call):
        frame.fail("not_callable", node, f"a partial of {describe(function)}")
    return call_function(frame, function, args, keywords, node)


def _call_object(frame, function, node):
    partial = sys.modules["functools"].partial if "functools" in sys.modules else None
    if type(function) is partial:
        return _call_partial(frame, function, node)
    if isinstance(type(function), types.TypeClass):
        return _call_value(frame, operand(frame, function, node), node)
    launch = sys.modules.get("lcpy.launch")
    if launch is not None and isinstance(function, launch.Kernel):
        frame.fail("kernel_called", node, getattr(function, "__name__", "a kernel"))
    return frame.fail("not_callable", node, describe(function))


_BY_CLASS = {
    Builtin: _call_builtin, BoundMethod: _call_bound_method, Callable: _call_callable,
    Closure: _call_closure, Expr: _call_value, External: _call_external,
    TypeMethod: _call_type_method, METHOD: _call_host_method, type(call): _call_python,
    type(builtins.abs): _call_host,
}  # fmt: skip
EXPRESSIONS[_ast.Call] = call
