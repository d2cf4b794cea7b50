"""The language's types as Python classes.

Each class names one type of the core, as annotation (``x: lc.float3``), as constructor inside a
kernel, and as constructor of a host value (``lc.float3(1, 2, 3)``). ``T._type`` is the core's type,
made when first asked for: importing this module loads neither the core nor NumPy.

Scalars called on the host give NumPy scalars; vectors, matrices and arrays are tuples; structs are
instances. They can be built, indexed, compared and swizzled; arithmetic on them belongs in kernels.
"""

import sys
from operator import index

from .objects import RAISED, shown, whole

_SCALARS = (  # name, description, NumPy name, struct code, class
    ("bool", "bool", "bool", "?", "bool"),
    ("int8", "byte", "int8", "b", "int"),
    ("uint8", "ubyte", "uint8", "B", "int"),
    ("int16", "short", "int16", "h", "int"),
    ("uint16", "ushort", "uint16", "H", "int"),
    ("int32", "int", "int32", "i", "int"),
    ("uint32", "uint", "uint32", "I", "int"),
    ("int64", "long", "int64", "q", "int"),
    ("uint64", "ulong", "uint64", "Q", "int"),
    ("float16", "half", "float16", "e", "float"),
    ("float32", "float", "float32", "f", "float"),
    ("float64", "double", "float64", "d", "float"),
    ("bfloat16", "bfloat16", "uint16", "H", "storage"),
    ("float8_e4m3", "float8_e4m3", "uint8", "B", "storage"),
    ("float8_e5m2", "float8_e5m2", "uint8", "B", "storage"),
)
_BITS = {"b": 8, "B": 8, "h": 16, "H": 16, "i": 32, "I": 32, "q": 64, "Q": 64}

NAMES = {}  # every public type name -> class; also the source of this module's attributes
_by_description = {}


def __getattr__(name):
    try:
        return NAMES[name]
    except KeyError:
        raise AttributeError(f"module 'lcpy.types' has no attribute '{name}'") from None


def _argument_error(text):
    from .errors import ArgumentError

    return ArgumentError(text)


class TypeClass(type):
    """Metaclass of all type classes: what can be asked of a type."""

    @property
    def _type(cls):
        """The core's interned type."""
        handle = cls.__dict__.get("_handle")
        if handle is None:
            from ._native import core
            from .errors import CompileError

            try:
                handle = core.type_parse(cls._description)
            except CompileError as error:  # too large, wrongly aligned
                raise _argument_error(error.diagnostics[-1].message) from None
            cls._handle = handle
        return handle

    @property
    def dtype(cls):
        """The packed NumPy dtype that ``Buffer.numpy()`` returns and uploads take."""
        found = cls.__dict__.get("_dtype")
        if found is None:
            from .layout import numpy_dtype

            found = cls._dtype = numpy_dtype(cls)
        return found

    @property
    def layout(cls):
        """Where the parts lie in device memory: size, align, stride, offsets."""
        found = cls.__dict__.get("_layout")
        if found is None:
            from .layout import memory_layout

            found = cls._layout = memory_layout(cls)
        return found

    def __repr__(cls):
        return cls.__name__

    def __reduce__(cls):
        return (getattr, (sys.modules[__name__], cls.__name__))


def _new_type(base, name, description, **facts):
    facts["_description"] = description
    facts["__slots__"] = ()
    facts["__module__"] = "lcpy"
    cls = TypeClass(name, (base,), facts)
    _by_description[description] = cls
    return cls


# ---- scalars ------------------------------------------------------------------------------------
class Scalar(metaclass=TypeClass):
    """Base of the scalar types; calling one converts as a cast in a kernel does."""

    kind = "scalar"
    lanes = 1
    __slots__ = ()

    def __new__(cls, value=0):
        from .layout import numpy_scalar

        return numpy_scalar(cls, value)


class StorageScalar(Scalar):
    """Base of bfloat16 and the 8-bit floats, which exist in memory only (lcpy/storage.py)."""

    __slots__ = ()

    @classmethod
    def encode(cls, array):
        """Numbers as an array of ``T.dtype``, rounded to nearest even; overflow gives infinity.

        float8_e4m3 has no infinity: NaN there.
        """
        from . import storage

        return storage.encode(cls._description, array)

    @classmethod
    def decode(cls, array):
        """An array of ``T.dtype``, or of the bits, as float32: every value is exact."""
        from . import storage

        return storage.decode(cls._description, array)


def exact_number(cls, value):
    """`value` as the Python number that the scalar type `cls` holds after a cast."""
    kind = type(value)
    if not hasattr(kind, "__float__") and not hasattr(kind, "__index__"):
        raise _argument_error(f"{cls.__name__}: wanted a number, got {kind.__name__}")
    if getattr(value, "ndim", 0):
        raise _argument_error(f"{cls.__name__}: wanted a number, got an array")
    if cls.group == "bool":
        return bool(value)
    if cls.group == "int":
        bits = _BITS[cls.code]
        low, high = cls.range
        if isinstance(value, float) or (
            not hasattr(value, "__index__") and hasattr(value, "__float__")
        ):
            value = float(value)
            if value != value:
                return 0
            return low if value <= low else high if value >= high else int(value)
        value = value.__index__() & ((1 << bits) - 1)
        return value - (1 << bits) if low < 0 and value > high else value
    import struct as codes

    try:
        value = float(value)
    except OverflowError:  # an integer beyond any float
        return float("inf") if value > 0 else float("-inf")
    except (TypeError, ValueError):  # a record, a string of NumPy
        raise _argument_error(f"{cls.__name__}: wanted a number, got {shown(value)}") from None
    if cls.group == "storage":
        from . import storage

        return storage.number_of(cls._description, storage.bits_of(cls._description, value))
    if cls.code == "d":
        return value
    try:
        return codes.unpack(cls.code, codes.pack(cls.code, value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _make_scalars():
    for name, description, numpy_name, code, group in _SCALARS:
        facts = {"numpy_name": numpy_name, "code": code, "group": group}
        if group == "int":
            bits = _BITS[code]
            signed = code.islower()
            facts["range"] = (
                (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
            )
        base = StorageScalar if group == "storage" else Scalar
        cls = _new_type(base, name, description, **facts)
        cls.scalar = cls
        NAMES[name] = NAMES[description] = cls


_make_scalars()
FLOAT32, INT32, UINT32 = NAMES["float32"], NAMES["int32"], NAMES["uint32"]
INT64, UINT64, BOOL = NAMES["int64"], NAMES["uint64"], NAMES["bool"]
_BUILTINS = {bool: BOOL, int: INT32, float: FLOAT32}


# ---- vectors and matrices -----------------------------------------------------------------------
def _flatten(values, out, depth=0):
    """Appends the numbers of nested sequences; more than any vector or matrix has are left."""
    for v in values:
        if len(out) > 16:
            break
        kind = type(v)
        if issubclass(kind, (str, bytes, type)) or depth > 8:
            out.append(v)  # refused as a number
        elif issubclass(kind, (tuple, list)) or (
            hasattr(v, "__len__") and getattr(v, "__iter__", None) is not None
        ):
            _flatten(v if getattr(v, "ndim", 1) != 0 else (v.item(),), out, depth + 1)
        else:
            out.append(v)
    return out


_LANES = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}


class Vector(tuple, metaclass=TypeClass):
    """Base of the vector types: 2 to 4 lanes of a scalar."""

    kind = "vector"
    __slots__ = ()

    def __new__(cls, *args):
        lanes = _flatten(args, [])
        n = cls.lanes
        if not args:
            lanes = [0] * n
        elif len(lanes) == 1:
            lanes = lanes * n
        elif len(args) == 1 and isinstance(args[0], Vector) and len(lanes) > n:
            lanes = lanes[:n]
        if len(lanes) != n:
            raise _argument_error(f"{cls.__name__} has {n} lanes, {len(lanes)} given")
        scalar = cls.scalar
        return tuple.__new__(cls, [exact_number(scalar, v) for v in lanes])

    def __getattr__(self, name):
        lanes = [_LANES.get(c, 9) for c in name]
        if len(lanes) > 4 or any(i >= len(self) for i in lanes):
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")
        if len(lanes) == 1:
            return self[lanes[0]]
        return vector(self.scalar, len(lanes))(*[self[i] for i in lanes])

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self))})"


class Matrix(tuple, metaclass=TypeClass):
    """Base of the square matrix types: a tuple of column vectors; ``m[row, column]`` an element."""

    kind = "matrix"
    __slots__ = ()

    def __new__(cls, *args):
        n = cls.lanes
        if not args:
            return tuple.__new__(cls, [cls.column() for _ in range(n)])
        if len(args) == 1:
            if isinstance(args[0], Matrix):
                return tuple.__new__(cls, [cls.column(*c) for c in args[0]])
            rows = args[0]  # nested sequences and arrays are [row, column]
            if isinstance(rows, (str, bytes, type, dict)) or not hasattr(rows, "__len__"):
                raise _argument_error(f"{cls.__name__} takes {n} columns, or {n} rows of {n}")
            return cls.from_rows(*rows)
        if len(args) == n:
            return tuple.__new__(cls, [cls.column(*c) for c in args])
        flat = _flatten(args, [])
        if len(flat) != n * n:
            raise _argument_error(f"{cls.__name__} takes {n} columns")
        return tuple.__new__(cls, [cls.column(*flat[i * n : i * n + n]) for i in range(n)])

    @classmethod
    def from_rows(cls, *rows):
        """The matrix whose row r is ``rows[r]``."""
        n = cls.lanes
        if len(rows) != n or any(map(cls._is_no_row, rows)):
            raise _argument_error(f"{cls.__name__}.from_rows takes {n} rows of {n}")
        return tuple.__new__(cls, [cls.column(*[r[c] for r in rows]) for c in range(n)])

    @classmethod
    def _is_no_row(cls, row):
        return isinstance(row, type) or not hasattr(row, "__len__") or len(row) != cls.lanes

    @classmethod
    def identity(cls):
        """Ones on the diagonal."""
        n = cls.lanes
        columns = [cls.column(*[1 if r == c else 0 for r in range(n)]) for c in range(n)]
        return tuple.__new__(cls, columns)

    def __getitem__(self, index):
        if isinstance(index, tuple):
            row, column = index
            return tuple.__getitem__(self, column)[row]
        return tuple.__getitem__(self, index)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self))})"


def _make_vectors():
    for name, description, _, _, group in _SCALARS:
        scalar = NAMES[name]
        separator = "x" if group == "storage" else ""  # bfloat16x2: its name ends in a digit
        for n in (2, 3, 4):
            cls = _new_type(
                Vector,
                f"{description}{separator}{n}",
                f"vector<{description},{n}>",
                scalar=scalar,
                lanes=n,
            )
            NAMES[cls.__name__] = cls
            if group == "float":
                m = _new_type(
                    Matrix,
                    f"{description}{n}x{n}",
                    f"matrix<{description},{n}>",
                    scalar=scalar,
                    lanes=n,
                    column=cls,
                )
                NAMES[m.__name__] = m


_make_vectors()


def check_type(T, what="a type"):
    """The type class that `T` names: Python's bool, int, float stand for bool, int32, float32."""
    if issubclass(type(T), TypeClass):
        return T
    for own, cls in _BUILTINS.items():  # by identity: the user's classes may not be hashable
        if T is own:
            return cls
    raise _argument_error(f"{what} must be an lcpy type, not {shown(T)}")


def vector(T, n):
    """The vector type of `n` lanes of the scalar `T`; ``vector(T, 1)`` is `T`."""
    T, n = check_type(T), whole(n)
    if n == 1 and T.kind == "scalar":
        return T
    found = None
    if n in (2, 3, 4):
        found = _by_description.get(f"vector<{T._description},{n}>")
    if found is None:
        raise _argument_error(f"there is no vector of {shown(n)} {T.__name__}")
    return found


def matrix(T, n):
    """The n×n matrix type over the scalar `T`."""
    T, n = check_type(T), whole(n)
    found = None
    if n in (2, 3, 4):
        found = _by_description.get(f"matrix<{T._description},{n}>")
    if found is None:
        raise _argument_error(f"there is no {shown(n)}×{shown(n)} matrix of {T.__name__}")
    return found


# ---- arrays -------------------------------------------------------------------------------------
class ArrayBase(tuple, metaclass=TypeClass):
    """Base of the fixed-length array types; a host value is a tuple of element values."""

    kind = "array"
    __slots__ = ()

    def __new__(cls, *args):
        values = list(args[0]) if len(args) == 1 and hasattr(args[0], "__len__") else list(args)
        if not values:
            values = [zero(cls.element) for _ in range(cls.count)]
        if len(values) != cls.count:
            raise _argument_error(f"{cls.__name__} has {cls.count} elements, {len(values)} given")
        return tuple.__new__(cls, [convert(cls.element, v) for v in values])

    def __repr__(self):
        return f"{type(self).__name__}({tuple.__repr__(self)[1:-1]})"


class Array:
    """``lc.Array[T, n]``: a fixed-length array type."""

    __slots__ = ()

    def __class_getitem__(cls, parameters):
        try:
            T, n = parameters
            n = index(n)
        except RAISED:  # whatever the user's objects raise
            raise _argument_error("write lc.Array[T, n] with a type and a length") from None
        return array_type(T, n)

    def __new__(cls, *args, **kwargs):
        raise _argument_error(
            "write lc.Array[T, n]: an array type needs its element type and length"
        )


_structural = {}  # (base, parameters...) -> class: structs of one layout stay different types


def array_type(T, n):
    """``lc.Array[T, n]``."""
    T = check_type(T, "an array's element")
    if T.kind in ("ref", "buffer"):
        raise _argument_error(f"an array cannot hold {T.__name__}")
    found = _structural.get((ArrayBase, T, n))
    if found is None:
        if not 1 <= n < 1 << 32:
            raise _argument_error(f"an array has 1 to 4294967295 elements, not {shown(n)}")
        found = _new_type(
            ArrayBase,
            f"Array[{T.__name__}, {n}]",
            f"array<{T._description},{n}>",
            element=T,
            count=n,
        )
        _structural[ArrayBase, T, n] = found
    return found


# ---- references and buffers ---------------------------------------------------------------------
class RefBase(metaclass=TypeClass):
    """Base of the reference types of callables' parameters."""

    kind = "ref"
    __slots__ = ()


class Ref:
    """``lc.Ref[T]``: a parameter passed by reference."""

    __slots__ = ()

    def __class_getitem__(cls, T):
        T = check_type(T, "lc.Ref's type")
        found = _structural.get((RefBase, T))
        if found is None:
            facts = {
                "inner": T,
                "_description": T._description,
                "__module__": "lcpy",
                "__slots__": (),
            }
            found = _structural[RefBase, T] = TypeClass(f"Ref[{T.__name__}]", (RefBase,), facts)
        return found


class BufferBase(metaclass=TypeClass):
    """Base of the buffer types that annotations name; ``lc.Buffer`` makes the buffers."""

    kind = "buffer"
    __slots__ = ()


def buffer_type(T, rank=1, packed=False):
    """The type class of a buffer of `T` with 1 to 3 axes."""
    T = check_type(T, "a buffer's element")
    if T.kind in ("ref", "buffer"):
        raise _argument_error(f"a buffer cannot hold {T.__name__}")
    if type(rank) is not int or not 1 <= rank <= 3:
        raise _argument_error(f"a buffer has 1, 2 or 3 axes, not {shown(rank)}")
    found = _structural.get((BufferBase, T, rank, packed))
    if found is None:
        tail = "" if rank == 1 else f",{rank}"
        name = f"Buffer[{T.__name__}" + ("]" if rank == 1 else f", {rank}]")
        prefix = "packed_" if packed else ""
        found = _new_type(
            BufferBase,
            prefix + name,
            f"{prefix}buffer<{T._description}{tail}>",
            element=T,
            rank=rank,
            packed=packed,
        )
        _structural[BufferBase, T, rank, packed] = found
    return found


# ---- values -------------------------------------------------------------------------------------
def zero(T):
    """The host value of `T` with every scalar zero."""
    return exact_number(T, 0) if T.kind == "scalar" else T()


def convert(T, value, what="value"):
    """`value` as a host value of `T`: numbers, tuples, NumPy arrays, dicts, instances."""
    kind = T.kind
    try:
        if kind == "scalar":
            return exact_number(T, value)
        if isinstance(value, T):
            return value
        if kind == "struct":
            return _convert_struct(T, value)
        if kind == "vector":
            return T(*value) if hasattr(value, "__len__") else T(value)
        if hasattr(value, "__len__"):
            return T(value)
    except (TypeError, AttributeError, ValueError, KeyError, IndexError):
        pass
    raise _argument_error(f"{what}: {shown(value)} is not a value of {T.__name__}")


def _convert_struct(T, value):
    if isinstance(value, dict):
        return T(**value)
    names = getattr(getattr(value, "dtype", None), "names", None)
    if names is not None:  # a record of a structured array
        return T(**{name: value[name] for name in names})
    return T(*value)


def pack(T, value, what="value"):
    """The bytes of `value` in `T`'s memory layout, padding zero."""
    from .layout import pack as pack_value

    return pack_value(check_type(T), value, what)


def unpack(T, data):
    """The host value of `T` in the memory layout's bytes."""
    from .layout import unpack as unpack_value

    return unpack_value(check_type(T), data)


def type_of(value):
    """The type class of a host value: what an unannotated parameter takes from its argument."""
    kind = type(value)
    if isinstance(kind, TypeClass):
        return kind
    own = getattr(value, "_kernel_type", None)  # buffers
    if own is not None:
        return own
    if kind is bool:
        return BOOL
    if kind is int:
        if -(1 << 31) <= value < 1 << 31:
            return INT32
        return INT64 if -(1 << 63) <= value < 1 << 63 else UINT64
    if kind is float:
        return FLOAT32
    dtype = getattr(value, "dtype", None)
    if dtype is not None and getattr(value, "shape", None) == ():
        found = NAMES.get(getattr(dtype, "name", ""))
        if found is not None:
            return found
        if getattr(dtype, "names", None):
            from .layout import type_from_dtype

            return type_from_dtype(dtype)
    raise _argument_error(f"{shown(value)} has no lcpy type")


def from_core(handle):
    """The class of a core type. Of structs with one layout, the first class that was made."""
    found = _by_description.get(handle.description)
    if found is not None:
        return found
    if handle.tag == "array":
        return array_type(from_core(handle.element), handle.count)
    if handle.tag == "buffer" and handle.element is None:
        from .run.buffer import ByteBuffer

        return ByteBuffer
    if handle.tag == "buffer":
        return buffer_type(from_core(handle.element), handle.rank, handle.packed)
    if handle.tag == "struct":
        members = {f"m{i}": from_core(m) for i, m in enumerate(handle.members)}
        return make_struct("struct", members, align=handle.align)
    raise _argument_error(f"no Python class stands for {handle.description}")


# Structs are types of their own file; what they need of this one is above.
from .structs import StructBase, make_struct, struct  # noqa: E402, F401
