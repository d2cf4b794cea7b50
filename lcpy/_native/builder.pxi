# FunctionBuilder for Python: each method is one call of the core (a few are two). Wherever an
# expression is taken, a Python bool, int or float is a weak literal.
#
# `at` says where in the source: an AST node (its lineno and columns, shifted by Builder.at_source),
# a tuple (file, line, column, end_column), or None.
from cpython.long cimport PyLong_AsLongLongAndOverflow
from lcpy._native.decl cimport builder as c_builder
from lcpy._native.decl cimport ops as c_ops
from lcpy._native.decl.builder cimport BuilderPtr, FunctionBuilder

cdef dict _ops = {c_ops.op_facts[i].name.decode(): i for i in range(c_ops.op_count)}


def op(str name not None):
    """Number of the operation that op.def calls `name`."""
    return _ops[name]


def op_rows():
    """Every row of op.def as a dict of its columns."""
    rows = []
    for i in range(c_ops.op_count):
        f = c_ops.op_facts[i]
        rows.append({
            "op": i, "name": f.name.decode(), "python_name": f.python_name.decode(),
            "category": f.category.decode(), "shape": f.shape.decode(),
            "usage": f.usage.decode(), "level": f.level.decode(), "sync": f.sync.decode(),
            "reason": f.reason.decode(), "doc": f.doc.decode(),
        })
    return rows


def shape_docs():
    """{shape: the operands that it takes, in words}"""
    return {c_ops.shape_facts[i].name.decode(): c_ops.shape_facts[i].doc.decode()
            for i in range(c_ops.shape_count)}


@cython.final
@cython.freelist(256)
@cython.no_gc
cdef class Expr:
    """An expression of one builder. `cls` is the Python class of its type where the core's type
    does not tell it (structs and what holds them); else None."""
    cdef readonly Builder builder
    cdef uint32_t id
    cdef public object cls

    def __init__(self):
        raise TypeError("expressions are made by a Builder")

    @property
    def type(self):
        """core.Type; None for a call that gives nothing."""
        return wrap_type(c_builder.expr_type(self.builder.b, self.id))

    @property
    def is_weak(self):
        return bool(c_builder.is_weak(self.builder.b, self.id))

    @property
    def variable(self):
        """Number of the variable that a plain reference names; None for anything else."""
        cdef int64_t v = c_builder.expr_variable(self.builder.b, self.id)
        return None if v < 0 else v

    def __repr__(self):
        return f"<expression {self.id}: {self.type}>"


@cython.final
cdef class Builder:
    """Builds one kernel (`kind` "kernel") or callable ("callable")."""
    cdef BuilderPtr owner
    cdef FunctionBuilder* b
    cdef readonly str kind
    cdef readonly str name
    cdef uint32_t file
    cdef int line_shift
    cdef list callees  # keeps the Python objects alive as long as this one

    def __cinit__(self, str kind not None, str name not None, span=None):
        if kind not in ("kernel", "callable"):
            raise _errors.ArgumentError(f"a builder is a kernel or a callable, not {kind!r}")
        self.kind = kind
        self.name = name
        self.callees = []
        self.owner = c_builder.create(kind == "kernel", name.encode(), _span_of_tuple(span))
        self.b = self.owner.get()

    def at_source(self, uint32_t file, int line_shift):
        """Nodes given as `at` from now on lie in `file`, at their line plus `line_shift`."""
        self.file = file
        self.line_shift = line_shift

    def span(self, at):
        """(file, line, column, end_column) of a node."""
        cdef Span s = self.place(at)
        return s.file, s.line, s.column, s.end_column

    cdef Span place(self, object at) except *:
        cdef Span s
        cdef Py_ssize_t column, end
        if at is None:
            return s
        if type(at) is tuple:
            return _span_of_tuple(at)
        s.file = self.file
        line = at.lineno
        s.line = <uint32_t>(<int>line + self.line_shift)
        column = at.col_offset
        s.column = <uint16_t>(column if column < 65535 else 65535)
        if at.end_lineno == line:
            end = at.end_col_offset
            s.end_column = <uint16_t>(end if end < 65535 else 65535)
        return s

    cdef Expr wrap(self, uint32_t id):
        cdef Expr e = Expr.__new__(Expr)
        e.builder = self
        e.id = id
        e.cls = None
        return e

    cdef uint32_t take(self, object x, Span s) except? 0xffffffff:
        """Id of an operand: an expression of this builder, or a weak literal."""
        cdef int overflow = 0
        cdef long long value
        if type(x) is Expr:
            if (<Expr>x).builder is not self:
                raise _errors.InternalError("an expression of another function was used")
            return (<Expr>x).id
        if type(x) is float:
            return c_builder.weak_float(self.b, <double>x, s)
        if type(x) is int:
            value = PyLong_AsLongLongAndOverflow(x, &overflow)
            if overflow == 0:
                return c_builder.weak_int(self.b, value, s)
            if overflow > 0 and x <= 0xffffffffffffffff:
                return c_builder.weak_uint(self.b, <uint64_t>x, s)
            c_errors.throw_compile_error(_codes["literal_too_large"], s, vector[string]())
        if type(x) is bool:
            return c_builder.weak_bool(self.b, x is True, s)
        raise _errors.InternalError(f"{type(x).__name__} is no operand")

    cdef vector[uint32_t] take_all(self, object xs, Span s) except *:
        cdef vector[uint32_t] out
        for x in xs:
            out.push_back(self.take(x, s))
        return out

    # ---- declarations ----------------------------------------------------------------------
    def argument(self, Type type not None, str name not None, at):
        return c_builder.argument(self.b, type.c, name.encode(), self.place(at))

    def reference(self, Type type not None, str name not None, at):
        return c_builder.reference(self.b, type.c, name.encode(), self.place(at))

    def local(self, Type type not None, str name not None, at):
        return c_builder.local(self.b, type.c, name.encode(), self.place(at))

    def shared(self, Type type not None, str name not None, at):
        return c_builder.shared(self.b, type.c, name.encode(), self.place(at))

    def set_block_size(self, uint32_t x, uint32_t y, uint32_t z, at):
        c_builder.set_block_size(self.b, x, y, z, self.place(at))

    def set_return_type(self, Type type not None):
        self.b.set_return_type(type.c)

    def set_external(self, texts, usages, bint has_body):
        """Makes the callable external: [(language, source), …], Usage bits by argument."""
        cdef vector[string] sources
        cdef vector[int] bits = usages
        for language, source in texts:
            sources.push_back(language.encode())
            sources.push_back(source.encode())
        c_builder.set_external(self.b, sources, bits, has_body)

    def variable_type(self, uint32_t variable):
        return wrap_type(c_builder.variable_type(self.b, variable))

    # ---- expressions -----------------------------------------------------------------------
    def weak(self, x, at):
        """The weak literal of a Python number, as an expression."""
        return self.wrap(self.take(x, self.place(at)))

    def literal(self, Type type not None, bytes data not None, at):
        if <uint64_t>len(data) != type.c.size():
            raise _errors.InternalError("a literal's bytes do not have its type's size")
        return self.wrap(c_builder.literal(self.b, type.c, data, self.place(at)))

    def constant(self, Type type not None, bytes data not None, at):
        return self.wrap(c_builder.constant(self.b, type.c, data, self.place(at)))

    def ref(self, uint32_t variable, at):
        return self.wrap(c_builder.ref(self.b, variable, self.place(at)))

    def unary(self, int op, a, at):
        cdef Span s = self.place(at)
        return self.wrap(c_builder.unary(self.b, op, self.take(a, s), s))

    def binary(self, int op, a, b, at):
        cdef Span s = self.place(at)
        cdef uint32_t x = self.take(a, s), y = self.take(b, s)
        return self.wrap(c_builder.binary(self.b, op, x, y, s))

    def conditional(self, condition, a, b, at):
        cdef Span s = self.place(at)
        cdef uint32_t c = self.take(condition, s), x = self.take(a, s), y = self.take(b, s)
        return self.wrap(c_builder.conditional(self.b, c, x, y, s))

    def member(self, a, uint32_t index, at):
        cdef Span s = self.place(at)
        return self.wrap(c_builder.member(self.b, self.take(a, s), index, s))

    def swizzle(self, a, str lanes not None, at):
        cdef Span s = self.place(at)
        return self.wrap(c_builder.swizzle(self.b, self.take(a, s), lanes.encode(), s))

    def access(self, a, indices, at):
        cdef Span s = self.place(at)
        cdef uint32_t base = self.take(a, s)
        return self.wrap(c_builder.access(self.b, base, self.take_all(indices, s), s))

    def access_one(self, a, index, at):
        cdef Span s = self.place(at)
        cdef uint32_t base = self.take(a, s), i = self.take(index, s)
        return self.wrap(c_builder.access_one(self.b, base, i, s))

    def call(self, int op, args, at, Type result=None):
        cdef Span s = self.place(at)
        cdef CType t
        if result is not None:
            t = result.c
        return self.wrap(c_builder.call_op(self.b, op, self.take_all(args, s), s, t))

    def call_function(self, Builder callee not None, args, at):
        cdef Span s = self.place(at)
        cdef Expr e = self.wrap(
            c_builder.call_function(self.b, callee.owner, self.take_all(args, s), s))
        self.callees.append(callee)
        return e

    def make(self, Type type not None, args, at):
        cdef Span s = self.place(at)
        return self.wrap(c_builder.make(self.b, type.c, self.take_all(args, s), s))

    def from_rows(self, Type matrix not None, rows, at):
        cdef Span s = self.place(at)
        return self.wrap(c_builder.from_rows(self.b, matrix.c, self.take_all(rows, s), s))

    def cast(self, Type type not None, a, at):
        cdef Span s = self.place(at)
        return self.wrap(c_builder.cast(self.b, type.c, self.take(a, s), s))

    def bitcast(self, Type type not None, a, at):
        cdef Span s = self.place(at)
        return self.wrap(c_builder.bitcast(self.b, type.c, self.take(a, s), s))

    def settle(self, a, at):
        """Gives a weak literal its stand-alone type."""
        cdef Expr e
        if type(a) is Expr and not c_builder.is_weak(self.b, (<Expr>a).id):
            return a
        e = self.wrap(c_builder.settle(self.b, self.take(a, self.place(at))))
        return e

    def convert(self, a, Type type not None, str what not None, at):
        cdef Span s = self.place(at)
        cdef Expr e = self.wrap(
            c_builder.convert(self.b, self.take(a, s), type.c, what.encode(), s))
        return e

    def common_type(self, values, str what not None, at):
        """The one type that the values adapt to, as the sides of a conditional do."""
        cdef Span s = self.place(at)
        return wrap_type(c_builder.common_type(self.b, self.take_all(values, s), what.encode(), s))

    def once(self, a, str name not None, at):
        cdef Span s = self.place(at)
        cdef Expr e = self.wrap(c_builder.once(self.b, self.take(a, s), name.encode(), s))
        if type(a) is Expr:
            e.cls = (<Expr>a).cls
        return e

    def copy(self, a, str name not None, at):
        """The value of `a` now, in a fresh local; weak literals come back unchanged."""
        cdef Expr e
        if type(a) is not Expr or c_builder.is_weak(self.b, (<Expr>a).id):
            return a
        cdef Span s = self.place(at)
        cdef uint32_t value = self.take(a, s)
        cdef uint32_t v = c_builder.local(
            self.b, c_builder.expr_type(self.b, value), name.encode(), s)
        c_builder.assign(self.b, c_builder.ref(self.b, v, s), value, s)
        e = self.wrap(c_builder.ref(self.b, v, s))
        e.cls = (<Expr>a).cls
        return e

    def is_place(self, a):
        return type(a) is Expr and bool(c_builder.is_place(self.b, (<Expr>a).id))

    # ---- statements ------------------------------------------------------------------------
    def assign(self, Expr place not None, value, at):
        cdef Span s = self.place(at)
        c_builder.assign(self.b, self.take(place, s), self.take(value, s), s)

    def assign_variable(self, uint32_t variable, value, target, at):
        """`variable` = value; `target` is where the name stands."""
        cdef Span s = self.place(at)
        cdef uint32_t v = self.take(value, s)
        c_builder.assign(self.b, c_builder.ref(self.b, variable, self.place(target)), v, s)

    def declare(self, str name not None, value, target, at):
        """A new local of the value's (settled) type, assigned; gives the variable."""
        cdef Span s = self.place(at)
        cdef Span t = self.place(target)
        cdef uint32_t v = c_builder.settle(self.b, self.take(value, s))
        cdef CType type = c_builder.expr_type(self.b, v)
        cdef uint32_t variable = c_builder.local(self.b, type, name.encode(), t)
        c_builder.assign(self.b, c_builder.ref(self.b, variable, t), v, s)
        return variable

    def expression(self, a, at):
        cdef Span s = self.place(at)
        c_builder.expression(self.b, self.take(a, s), s)

    def assert_(self, condition, str message not None, at):
        cdef Span s = self.place(at)
        c_builder.assert_(self.b, self.take(condition, s), message.encode(), s)

    def print_(self, str format not None, values, at):
        """A line of `values`, which the host puts together by `format`."""
        cdef Span s = self.place(at)
        c_builder.print_(self.b, format.encode(), self.take_all(values, s), s)

    def keep_place(self):
        """Equal functions of different places are two from now on: reports name their lines."""
        self.b.keep_place()

    def break_(self, at):
        c_builder.break_(self.b, self.place(at))

    def continue_(self, at):
        c_builder.continue_(self.b, self.place(at))

    def return_(self, value, at):
        cdef Span s = self.place(at)
        if value is None:
            c_builder.return_none(self.b, s)
        else:
            c_builder.return_value(self.b, self.take(value, s), s)

    def if_(self, condition, at, uint8_t hint=0):
        """(scope if true, scope if false)"""
        cdef Span s = self.place(at)
        cdef uint32_t other = 0
        cdef uint32_t then = c_builder.if_(self.b, self.take(condition, s), s, hint, &other)
        return then, other

    def loop(self, at):
        return c_builder.loop(self.b, self.place(at))

    def for_(self, uint32_t variable, begin, end, step, at):
        cdef Span s = self.place(at)
        return c_builder.for_(self.b, variable, self.take(begin, s), self.take(end, s),
                              self.take(step, s), s)

    def switch_(self, value, at, uint8_t hint=0):
        cdef Span s = self.place(at)
        return c_builder.switch_(self.b, self.take(value, s), s, hint)

    def case_(self, literals, at):
        cdef Span s = self.place(at)
        return c_builder.case_(self.b, self.take_all(literals, s), s)

    def default_(self, at):
        return c_builder.default_(self.b, self.place(at))

    def comment(self, str text not None, at):
        self.b.comment(text.encode(), self.place(at))

    def push_scope(self, uint32_t scope):
        c_builder.push_scope(self.b, scope)

    def pop_scope(self):
        self.b.pop_scope()

    def finish(self):
        with nogil:
            self.b.finish()

    # ---- reading ---------------------------------------------------------------------------
    @property
    def finished(self):
        return bool(self.b.finished())

    @property
    def return_type(self):
        """core.Type; None where nothing is returned."""
        return wrap_type(self.b.return_type())

    @property
    def hash(self):
        return self.b.hash()

    @property
    def expr_count(self):
        return self.b.expr_count()

    def text(self):
        """The function, readable."""
        cdef string out
        with nogil:
            out = self.b.text()
        return out.decode("utf-8", "replace")

    def json(self):
        """The whole graph of functions as JSON."""
        cdef string out
        with nogil:
            out = self.b.json()
        return out.decode("utf-8", "replace")

    def usages(self):
        """[(name, "none" | "read" | "write" | "read-write")] of the arguments, in order."""
        names = ("none", "read", "write", "read-write")
        cdef vector[uint32_t] ids = c_builder.arguments(self.b)
        return [(c_builder.variable_name(self.b, v).decode(),
                 names[c_builder.variable_usage(self.b, v)]) for v in ids]

    def warnings(self):
        """Diagnostics that are no errors: what the author can hardly have meant."""
        return [_errors.Diagnostic(*d) for d in c_builder.warnings(self.b)]

    def fail(self, str name not None, at, *args):
        """Raises the CompileError of the diagnostic row `name`."""
        c_errors.throw_compile_error(_codes[name], self.place(at), _texts(args))

    def unsupported(self, str name not None, at, *args):
        """Raises the UnsupportedError of the diagnostic row `name`."""
        c_errors.throw_unsupported(_codes[name], self.place(at), _texts(args))

