"""The functions of the kernel language under ``lc.``: markers that a kernel calls by name.

Each is made when first asked for, its documentation from the core's op table.
"""

_EXTRA = {
    "array": "array(a, b, c): an array of the values, of the type that they share",
    "shared": "shared(T, n) or shared(T, (n, m)): memory of a block, at the top level of a kernel;"
    " undefined until written",
    "static": "static(expression): any Python expression, evaluated while compiling."
    " `for i in lc.static(range(3))` unrolls, `if lc.static(flag)` chooses",
}
_HOST = {"static"}  # what also means something on the host
_table = None


class Builtin:
    """A function that exists inside kernels and callables only."""

    def __init__(self, name, op, doc):
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self.op = op

    def __call__(self, *args, **kwargs):
        if self.__name__ in _HOST and len(args) == 1 and not kwargs:
            return args[0]
        from .errors import ArgumentError

        raise ArgumentError(
            f"lc.{self.__name__} works inside kernels and callables; "
            "on the host use Python or NumPy"
        )

    def __repr__(self):
        return f"<lcpy function {self.__name__}>"

    def __reduce__(self):
        return _named, (self.__name__,)


def _named(name):
    return globals().get(name) or __getattr__(name)


def _rows():
    global _table
    if _table is None:
        from ._native import core

        shapes = core.shape_docs()
        _table = {}
        for row in core.op_rows():
            name = row["python_name"]
            if name:
                doc = row["doc"]
                if row["shape"]:
                    doc = f"{doc}.\n\nOperands: {shapes[row['shape']]}"
                if row["level"] == "Refused":
                    doc = f"{row['doc']}. Not available: {row['reason']}."
                _table[name] = (row["op"], doc)
        for name, doc in _EXTRA.items():
            _table[name] = (None, doc)
    return _table


def __getattr__(name):
    if name == "NAMES":
        return tuple(_rows())
    if name.startswith("_"):
        raise AttributeError(f"module 'lcpy.functions' has no attribute '{name}'")
    try:
        op, doc = _rows()[name]
    except KeyError:
        raise AttributeError(f"module 'lcpy.functions' has no attribute '{name}'") from None
    made = globals()[name] = Builtin(name, op, doc)
    return made


def __dir__():
    return sorted({*globals(), *_rows()})
