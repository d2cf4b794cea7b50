# The one exception translator: exceptions of the core become those of lcpy.errors, with the text
# that the core rendered and the diagnostics as objects. The C++ half is in decl/errors.pxd.
from lcpy import errors as _errors
from lcpy._native.decl cimport errors as c_errors
from lcpy._native.decl.errors cimport Span

cdef _make_exception(kind, text, diagnostics):
    cls = getattr(_errors, kind)
    if issubclass(cls, _errors._Diagnosed):
        return cls(text, [_errors.Diagnostic(*d) for d in diagnostics])
    return cls(text)


class _Maker:
    """Calls _make_exception; the C++ half holds the one instance for the life of the process."""
    def __call__(self, kind, text, diagnostics):
        return _make_exception(kind, text, diagnostics)


cdef object _maker = _Maker()

cdef extern from *:
    """
    static void lcpy_install(PyObject* maker) {
      Py_INCREF(maker);
      lcpy_door::make_exception = maker;
    }
    """
    void lcpy_install(object maker)

lcpy_install(_maker)


cdef dict _codes = {c_errors.diag_rows[i].name.decode(): c_errors.diag_rows[i].code
                    for i in range(c_errors.diag_row_count)}


def diagnostic_rows():
    """Every row of diag.def: (code, name, message, hint)."""
    return [(c_errors.diag_rows[i].code, c_errors.diag_rows[i].name.decode(),
             c_errors.diag_rows[i].message.decode(), c_errors.diag_rows[i].hint.decode())
            for i in range(c_errors.diag_row_count)]


cdef vector[string] _texts(tuple args) except *:
    cdef vector[string] out
    for a in args:
        out.push_back(str(a).encode("utf-8", "replace"))
    return out


def register_source(str name not None, str text not None, int first_line=1):
    """File id of a source text, for spans."""
    return c_errors.register_source(name.encode("utf-8", "replace"),
                                    text.encode("utf-8", "replace"), first_line)


def fail(str name not None, span, *args):
    """Raises the CompileError of the row `name` at `span` = (file, line, column, end)."""
    c_errors.throw_compile_error(_codes[name], _span_of_tuple(span), _texts(args))


def unsupported(str name not None, span, *args):
    """Raises the UnsupportedError of the diagnostic row `name` at `span`."""
    c_errors.throw_unsupported(_codes[name], _span_of_tuple(span), _texts(args))


cdef Span _span_of_tuple(span) except *:
    cdef Span s
    if span is not None:
        s.file, s.line, s.column, s.end_column = span
    return s
