"""Callables: argument binding, one specialisation for each combination of argument types, captures
as hidden parameters.

A callable is traced into a builder of its own when it is first called with some argument types; the
same types again give the same builder. Types, functions and other host objects given as arguments
are part of the key and do not exist at run time.
"""

import _ast

from .. import errors, types
from .._native import core
from . import order, results, signature, source
from .frame import Frame, host_cells, run
from .names import materialise_variable, operand
from .signature import KEYWORD_ONLY, MISSING, POSITIONAL_ONLY, Callable, Parameter
from .static import evaluate_type
from .values import (
    WEAK,
    BoundMethod,
    Closure,
    Fixed,
    Pack,
    Static,
    class_of,
    describe,
    tracked,
    tuple_type,
)

Expr = core.Expr
_DEEPEST = 32  # times that a function may be within itself, each time for other arguments


class Specialisation:
    """A callable traced for certain argument types."""

    __slots__ = ("builder", "result", "hidden", "static_reads", "returned")

    def __init__(self, builder, result, hidden, static_reads, returned):
        self.returned = returned  # a compile-time value that it gives, as results.Returned
        self.builder = builder
        self.result = result  # class that the result's expression carries
        self.hidden = hidden  # what the hidden parameters stand for, in order
        self.static_reads = static_reads  # compile-time names of enclosing functions

    def holds(self):
        """Whether the compile-time names that it read still have their values: an unrolled loop
        changes its own from copy to copy."""
        for frame, name, value in self.static_reads:
            now = frame.names.get(name)
            if now.__class__ is not Static or now.value is not value:
                return False
        return True


class _Identity:
    """A host object as part of a key: equal only to itself."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return other.__class__ is _Identity and other.value is self.value

    def __hash__(self):
        return id(self.value)


# ---- binding ------------------------------------------------------------------------------------
def _bind(frame, title, parameters, args, keywords, node):
    """The values by parameter, in the parameters' order."""
    if not keywords and len(args) == len(parameters):
        if all(p.kind != KEYWORD_ONLY for p in parameters):
            return args
    positional = [p for p in parameters if p.kind != KEYWORD_ONLY]
    if len(args) > len(positional):
        frame.fail("too_many_arguments", node, title, len(positional), len(args))
    given = {p.name: v for p, v in zip(positional, args)}
    by_name = {p.name: p for p in parameters}
    for text, v in (keywords or {}).items():
        p = by_name.get(text)
        if p is None or p.kind == POSITIONAL_ONLY:
            frame.fail("unknown_argument", node, title, text)
        if text in given:
            frame.fail("argument_twice", node, title, text)
        given[text] = v
    bound = []
    for p in parameters:
        v = given.get(p.name, p.default)
        if v is MISSING:
            frame.fail("missing_argument", node, title, p.name)
        bound.append(v)
    return bound


def _is_value(v):
    """Whether an argument is passed at run time, rather than being part of the key."""
    if v.__class__ is Expr or v.__class__ in WEAK:
        return True
    if v is None or issubclass(type(v), (type, str)) or v.__class__ is Closure:
        return False
    from .stmt import _has_value

    return _has_value(v)


def _prepare_any(frame, v, node):
    """(key, expressions to pass) of an argument whose parameter takes what comes."""
    if v.__class__ is not Fixed and _is_value(v):
        v = frame.builder.settle(operand(frame, v, node), node)
        if v.type is None:
            frame.fail("no_value", node, "this place")
        return (v.type, v.cls), [v]
    if v.__class__ is Fixed:
        return ("fixed", v.value.__class__, repr(v.value)), []
    if v.__class__ is Pack:  # some of its parts are functions, types, buffers
        keys, passed = [], []
        for part in v:
            key, more = _prepare_any(frame, part, node)
            keys.append(key)
            passed += more
        return ("pack", *keys), passed
    if v.__class__ is BoundMethod and v.receiver.__class__ is Expr:
        key, passed = _receiver(frame, v.receiver, node)
        return ("bound", key, _Identity(v.function)), passed
    frame.trace.kept.append(v)
    return _Identity(v), []


def _receiver(frame, v, node):
    """(key, expressions to pass) of a method's self: by reference where it is a place."""
    if frame.builder.is_place(v):
        return ("self", v.type, v.cls), [v]
    return _prepare_any(frame, v, node)


def _prepare(frame, p, v, node):
    """(key, expressions to pass) of one argument."""
    annotation = p.annotation
    if annotation is None:
        return _prepare_any(frame, v, node)
    if v.__class__ is Fixed:
        v = v.value
    what = f"argument '{p.name}'"
    if annotation.kind == "ref":
        if v.__class__ is not Expr or not frame.builder.is_place(v):
            frame.fail("reference_needs_place", node, p.name, annotation.inner.__name__)
        _check_class(frame, what, annotation.inner, v, node)
        return annotation, [v]
    if annotation.kind == "buffer":
        return _prepare_buffer(frame, p, annotation, v, node)
    if not _is_value(v):
        frame.fail("argument_refused", node, p.name, annotation.__name__, describe(v))
    v = operand(frame, v, node)
    _check_class(frame, what, annotation, v, node)
    cls = v.cls if v.__class__ is Expr else None
    v = frame.builder.convert(v, annotation._type, what, node)
    v.cls = cls
    return annotation, [v]


def _prepare_buffer(frame, p, annotation, v, node):
    """Buffers of either storage serve: the layout belongs to the buffer, not to the parameter."""
    cls = v.cls if v.__class__ is Expr else None
    if (
        cls is None
        or cls.kind != "buffer"
        or cls.element is not annotation.element
        or cls.rank != annotation.rank
    ):
        what = class_of(v).__name__ if v.__class__ is Expr else describe(v)
        frame.fail("argument_refused", node, p.name, annotation.__name__, what)
    return cls, [v]


def _check_class(frame, what, cls, v, node):
    if cls.kind != "struct":
        return
    given = v.cls if v.__class__ is Expr else None
    if given is not cls:
        name = class_of(v).__name__ if v.__class__ is Expr else "a number"
        frame.fail("class_changed", node, what, cls.__name__, name)


# ---- calling ------------------------------------------------------------------------------------
def call_bound(frame, receiver, function, args, keywords, node):
    """A method of a struct: self by reference where it is a place, else by value."""
    if isinstance(function, Callable):
        function = function.function
    return call_function(frame, function, [receiver, *args], keywords, node, method=True)


def call_function(frame, function, args, keywords, node, method=False, external=None):
    """The value of function(*args, **keywords); `external`: the External that it belongs to."""
    if function.__class__ is Closure:
        parameters, title = function.parameters, function.name
    else:
        parameters, title = signature.parameters(function), function.__name__
    bound = _bind(frame, title, parameters, args, keywords, node)
    keys, passed = [], []
    for i, (p, v) in enumerate(zip(parameters, bound)):
        if method and i == 0 and p.annotation is None and v.__class__ is Expr:
            key, more = _receiver(frame, v, node)
        else:
            key, more = _prepare(frame, p, v, node)
        keys.append(key)
        passed += more
    key = (function, tuple(keys))
    made = frame.trace.specialised.setdefault(key, [])
    found = next((s for s in made if s.holds()), None)
    if found is None:
        found = _specialise(frame, key, title, parameters, node, external)
        made.append(found)
    frame.static_reads.extend(r for r in found.static_reads if r[0] is not frame)
    for hidden in found.hidden:
        variable = materialise_variable(frame, hidden, node)
        passed.append(frame.builder.ref(variable, node))
    e = frame.builder.call_function(found.builder, passed, node)
    e.cls = found.result
    if found.returned is None:
        return e
    if found.returned.kept or not _only_returns(function):
        order.check_branch(frame, node)
        if not found.returned.kept:
            frame.builder.expression(e, node)
    return results.adopt(frame, found.returned, e, node)


def _only_returns(function):
    """Whether a function does nothing but give a value."""
    definition = function.node if function.__class__ is Closure else source.parse(function).node
    body = definition.body
    return body.__class__ is not list or len(body) == 1 and body[0].__class__ is _ast.Return


def _check_recursion(frame, key, title, node):
    """The same function for the same arguments again, or again and again for ever new ones."""
    function, _ = key
    trace = frame.trace
    again = [i for i, (k, _) in enumerate(trace.stack) if k[0] is function]
    if again and (any(trace.stack[i][0] == key for i in again) or len(again) >= _DEEPEST):
        names = [name for _, name in trace.stack]
        frame.fail("recursion", node, " → ".join([*names[again[-1] :], title]))


def _specialise(frame, key, title, parameters, node, external):
    trace = frame.trace
    _check_recursion(frame, key, title, node)
    function, keys = key
    trace.stack.append((key, title))
    try:
        inner = _enter(frame, function, title)
        _declare(inner, parameters, keys)
        definition = inner.parsed.node if function.__class__ is not Closure else function.node
        has_body = external is None or external.has_body
        if external is not None:
            inner.builder.set_external(list(external.texts.items()), external.usages, has_body)
        if not has_body:
            pass
        elif definition.__class__ is _ast.Lambda:
            inner.statement = definition.body
            _lambda_body(inner, definition)
        else:
            run(inner, definition.body)
        inner.builder.finish()
    except errors._Diagnosed as error:
        file, line, _, _ = frame.builder.span(node)
        error._called_from(frame.parsed.filename, line)
        raise
    trace.stack.pop()
    hidden = [h for h, _ in inner.hidden.values()]
    return Specialisation(inner.builder, inner.result, hidden, inner.static_reads, inner.returned)


def _enter(frame, function, title):
    """The frame of a function about to be traced, its result type declared."""
    if function.__class__ is Closure:
        outer = function.frame
        parsed = outer.parsed
        builder = core.Builder("callable", title, parsed.span(function.node))
        inner = Frame(frame.trace, builder, parsed, title, _assigned(function.node), outer,
                      outer.globals, outer.cells)  # fmt: skip
        result = function.result
    else:
        parsed = source.parse(function)
        code = function.__code__
        builder = core.Builder("callable", title, parsed.header())
        inner = Frame(frame.trace, builder, parsed, title,
                      frozenset(code.co_varnames + code.co_cellvars), None,
                      function.__globals__, host_cells(function))  # fmt: skip
        result = signature.result_annotation(function)
    if frame.trace.bounds:
        builder.keep_place()
    if result.__class__ is tuple:
        result = tuple_type(result)
    if result is not MISSING and result is not None:
        builder.set_return_type(result._type)
        inner.result = tracked(result)
    return inner


def _declare(inner, parameters, keys):
    definition = inner.parsed.node if inner.outer is None else None
    places = {}
    if definition is not None:
        a = definition.args
        places = {x.arg: x for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
    builder = inner.builder
    for p, key in zip(parameters, keys):
        at = places.get(p.name) or (definition if definition is not None else p.kind_node)
        if key.__class__ is tuple and key[0] not in ("pack", "bound", "fixed"):
            variable, cls = _declare_value(inner, p.name, key, at)
            inner.bind_argument(p.name, variable, cls)
        elif key.__class__ is tuple or key.__class__ is _Identity:
            inner.names[p.name] = Static(_declare_parts(inner, p.name, key, at), 0)
        elif key.kind == "ref":
            variable = builder.reference(key._type, p.name, at)
            inner.references.add(variable)
            inner.bind_argument(p.name, variable, key.inner)
        else:
            inner.bind_argument(p.name, builder.argument(key._type, p.name, at), key)


def _declare_value(inner, text, key, at):
    """(variable, class) of a parameter that takes a run-time value."""
    if key[0] == "self":
        variable = inner.builder.reference(key[1], text, at)
        inner.references.add(variable)
        return variable, key[2]
    return inner.builder.argument(key[0], text, at), key[1] or types.from_core(key[0])


def _declare_parts(inner, text, key, at):
    """The value of a parameter that is known while compiling, but for run-time parts of it."""
    if key.__class__ is _Identity:
        return key.value
    if key[0] == "fixed":
        return key[2] == "True" if key[1] is bool else key[1](key[2])
    if key[0] == "pack":
        return Pack([_declare_parts(inner, text, part, at) for part in key[1:]])
    if key[0] == "bound":
        return BoundMethod(_declare_parts(inner, text, key[1], at), key[2].value)
    variable, cls = _declare_value(inner, text, key, at)
    e = inner.builder.ref(variable, at)
    e.cls = tracked(cls)
    return e


def _lambda_body(inner, definition):
    from .expr import value
    from .stmt import return_value

    v = value(inner, definition.body)
    if v.__class__ is Expr and v.type is None:
        inner.builder.expression(v, definition.body)
    else:
        return_value(inner, v, definition.body)


# ---- functions defined inside -------------------------------------------------------------------
class _InnerParameter(Parameter):
    """A parameter of a nested function; `kind_node` is its place in the source."""

    __slots__ = ("kind_node",)


def closure(frame, node, title):
    """The value of a nested def or a lambda."""
    for decorator in getattr(node, "decorator_list", ()):
        from .expr import value

        if value(frame, decorator) is not signature.callable:
            frame.fail("decorator_refused", decorator)
    a = node.args
    if a.vararg is not None or a.kwarg is not None:
        frame.fail("variable_arguments", a.vararg or a.kwarg, title)
    made = []
    positional = [*a.posonlyargs, *a.args]
    missing = len(positional) - len(a.defaults)
    for i, x in enumerate(positional):
        kind = POSITIONAL_ONLY if i < len(a.posonlyargs) else signature.ORDINARY
        default = a.defaults[i - missing] if i >= missing else None
        made.append(_inner_parameter(frame, x, default, kind))
    for x, default in zip(a.kwonlyargs, a.kw_defaults):
        made.append(_inner_parameter(frame, x, default, KEYWORD_ONLY))
    result = MISSING
    returns = getattr(node, "returns", None)
    if returns is not None:
        is_none = returns.__class__ is _ast.Constant and returns.value is None
        result = None if is_none else evaluate_type(frame, returns, "return")
    return Closure(node, frame, title, made, result)


def _inner_parameter(frame, x, default, kind):
    from .expr import value

    annotation = evaluate_type(frame, x.annotation, x.arg) if x.annotation is not None else None
    v = MISSING if default is None else value(frame, default)
    if v.__class__ is Expr or v.__class__ is Pack:
        frame.fail("default_run_time", default, x.arg)
    made = _InnerParameter(x.arg, annotation, v, kind)
    made.kind_node = x
    return made


def _assigned(node):
    """Names that Python makes local to a nested function or lambda."""
    a = node.args
    names = {x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
    outer = set()
    stack = list(node.body) if node.body.__class__ is list else [node.body]
    while stack:
        n = stack.pop()
        kind = n.__class__
        if kind is _ast.Name and n.ctx.__class__ is _ast.Store:
            names.add(n.id)
        elif kind is _ast.Nonlocal:
            outer.update(n.names)
        elif kind is _ast.MatchAs and n.name is not None:
            names.add(n.name)
        elif kind is _ast.FunctionDef:
            names.add(n.name)
            continue
        elif kind is _ast.Lambda:
            continue
        for field in n._fields:
            child = getattr(n, field, None)
            if child.__class__ is list:
                stack.extend(c for c in child if hasattr(c, "_fields"))
            elif hasattr(child, "_fields"):
                stack.append(child)
    return frozenset(names - outer)
