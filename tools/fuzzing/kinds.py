"""The types of generated programs: how Python spells them, what they are made of, which values are
likely to show faults.

Types are interned, so `is` compares them.
"""

import math

_interned = {}


class Type:
    """`kind` is "scalar", "vector", "matrix", "array" or "struct"; `key` an identifier."""

    __slots__ = ("kind", "key", "text", "scalar", "lanes", "element", "count", "fields", "group",
                 "bits", "parts")  # fmt: skip

    def __init__(self, kind, key, text, **facts):
        self.kind, self.key, self.text = kind, key, text
        self.scalar = self.element = self.fields = self.group = None
        self.lanes, self.count, self.bits = 1, 0, 0
        for name, value in facts.items():
            setattr(self, name, value)
        self.parts = 1 if kind == "scalar" else sum(t.parts for t in self.children())

    def __repr__(self):
        return self.text

    def children(self):
        """Types of the components, in order."""
        if self.kind == "struct":
            return [t for _, t in self.fields]
        return [self.element] * self.count

    @property
    def is_integer(self):
        return self.group in ("signed", "unsigned")

    @property
    def is_float(self):
        return self.group == "float"

    @property
    def is_lanes(self):
        return self.kind in ("scalar", "vector")

    @property
    def low(self):
        return -(1 << (self.bits - 1)) if self.group == "signed" else 0

    @property
    def high(self):
        return (1 << (self.bits - (self.group == "signed"))) - 1


def _scalar(name, group, bits):
    t = Type("scalar", name, f"lc.{name}", group=group, bits=bits)
    t.scalar = t
    return t


BOOL = _scalar("bool", "bool", 8)
INT8, INT16, INT32, INT64 = (_scalar(f"int{n}", "signed", n) for n in (8, 16, 32, 64))
UINT8, UINT16, UINT32, UINT64 = (_scalar(f"uint{n}", "unsigned", n) for n in (8, 16, 32, 64))
FLOAT16, FLOAT32, FLOAT64 = (_scalar(f"float{n}", "float", n) for n in (16, 32, 64))
SIGNED, UNSIGNED = (INT8, INT16, INT32, INT64), (UINT8, UINT16, UINT32, UINT64)
INTEGERS, FLOATS = SIGNED + UNSIGNED, (FLOAT16, FLOAT32, FLOAT64)
SCALARS = {t.key: t for t in (BOOL, *INTEGERS, *FLOATS)}
_VECTOR_NAMES = {
    "bool": "bool", "int8": "byte", "uint8": "ubyte", "int16": "short", "uint16": "ushort",
    "int32": "int", "uint32": "uint", "int64": "long", "uint64": "ulong", "float16": "half",
    "float32": "float", "float64": "double",
}  # fmt: skip


def vector(scalar, lanes):
    """The vector of 2 to 4 lanes; the scalar for 1."""
    if lanes == 1:
        return scalar
    key = f"{_VECTOR_NAMES[scalar.key]}{lanes}"
    if key not in _interned:
        _interned[key] = Type("vector", key, f"lc.{key}", scalar=scalar, lanes=lanes,
                              element=scalar, count=lanes, group=scalar.group,
                              bits=scalar.bits)  # fmt: skip
    return _interned[key]


def matrix(scalar, n):
    key = f"{_VECTOR_NAMES[scalar.key]}{n}x{n}"
    if key not in _interned:
        _interned[key] = Type("matrix", key, f"lc.{key}", scalar=scalar, lanes=n, count=n,
                              element=vector(scalar, n), group=scalar.group,
                              bits=scalar.bits)  # fmt: skip
    return _interned[key]


def array(element, n):
    key = f"a{n}_{element.key}"
    found = _interned.get((key, element))
    if found is None:
        text = f"lc.Array[{element.text}, {n}]"
        found = _interned[key, element] = Type("array", key, text, element=element, count=n)
    return found


def struct(name, fields):
    """A new type each time: two batches may give different structs one name."""
    return Type("struct", name, name, fields=tuple(fields))


def with_scalar(t, scalar):
    return vector(scalar, t.lanes) if t.is_lanes else matrix(scalar, t.lanes)


def joined(a, b):
    """The scalar type that two meet at in an operator, or None where the language refuses."""
    if a.group == "bool" or b.group == "bool":
        return None
    if a.is_float != b.is_float:
        return a if a.is_float else b
    if a.bits == b.bits:
        return a if a.group == b.group else None
    return a if a.bits > b.bits else b


# ---- values -------------------------------------------------------------------------------------
INF, NAN = math.inf, math.nan
_SMALL_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 7.0, -8.0, 0.1, 3.7, -3.7)
_BIG_FLOATS = {16: (1000.0, -2049.0, 65504.0), 32: (16777217.0, -1e10, 4e9, 3.4028234663852886e38),
               64: (9007199254740993.0, -1e19, 1e300, 3e9)}  # fmt: skip
_TINY_FLOATS = {16: (6e-8, 6e-5), 32: (1e-45, -1e-40, 1.17549435e-38), 64: (5e-324, 1e-310)}
_FORMATS = {16: "<e", 32: "<f", 64: "<d"}


def round_to(bits, value):
    """A Python float rounded to the float type of that width."""
    import struct as codes

    try:
        return codes.unpack(_FORMATS[bits], codes.pack(_FORMATS[bits], value))[0]
    except OverflowError:
        return math.copysign(INF, value)


def some_scalar(c, t, denormals=False, finite=False):
    """A value of a scalar type, often one at an edge."""
    if t.group == "bool":
        return c.one_in(2)
    if t.group == "float":
        pick = c.below(20)
        if pick < 10:
            return round_to(t.bits, c.pick(_SMALL_FLOATS))
        if pick < 13:
            return float(c.between(-40, 40)) / 4
        if pick < 15:
            return round_to(t.bits, c.between(-(10**6), 10**6) / 1000)
        if pick < 16 and denormals:
            return round_to(t.bits, c.pick(_TINY_FLOATS[t.bits]))
        if pick < 18 or finite:
            return round_to(t.bits, c.pick(_BIG_FLOATS[t.bits]))
        return c.pick((INF, -INF, NAN))
    pick = c.below(16)
    if pick < 6:
        value = c.between(-9, 9)
    elif pick < 8:
        value = t.low + c.below(3)
    elif pick < 10:
        value = t.high - c.below(3)
    elif pick < 12:
        value = (1 << c.below(t.bits)) - c.below(2)
    else:
        value = c.bits()
    return wrap(t, value)


def wrap(t, value):
    """An integer modulo 2^bits, in the type's range."""
    value &= (1 << t.bits) - 1
    return value - (1 << t.bits) if t.group == "signed" and value >> (t.bits - 1) else value


def some_value(c, t, **options):
    """A value of any type: scalars as Python's, aggregates as tuples of their components."""
    if t.kind == "scalar":
        return some_scalar(c, t, **options)
    return tuple(some_value(c, child, **options) for child in t.children())


def zero(t):
    if t.kind == "scalar":
        return False if t.group == "bool" else 0.0 if t.group == "float" else 0
    return tuple(zero(child) for child in t.children())
