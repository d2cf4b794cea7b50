"""Host side of the memory layout: NumPy dtypes, bytes of by-value arguments, and the leaves that
the core's repacker copies by.

Sizes, offsets and strides all come from the core's types; nothing here computes a layout.
"""

from . import storage, types


class Layout:
    """Where a type's parts lie in device memory, in bytes."""

    __slots__ = ("size", "align", "stride", "offsets")

    def __init__(self, size, align, stride, offsets):
        self.size, self.align, self.stride, self.offsets = size, align, stride, offsets

    def __repr__(self):
        parts = (f"{name}={getattr(self, name)}" for name in self.__slots__)
        return f"Layout({', '.join(parts)})"


def memory_layout(T):
    """The Layout of `T`: offsets by member of a struct; stride of a vector, matrix or array."""
    handle = T._type
    if T.kind == "struct":
        offsets = {name: handle.offset(i) for i, name in enumerate(T.members)}
        return Layout(handle.size, handle.align, None, offsets)
    stride = handle.stride if T.kind in ("vector", "matrix", "array", "buffer") else None
    if T.kind == "buffer":
        return Layout(None, T.element._type.align, stride, None)
    return Layout(handle.size, handle.align, stride, None)


# ---- NumPy dtypes -------------------------------------------------------------------------------
def numpy_dtype(T):
    """The packed dtype of `T`: subarrays for vectors, matrices [row, column] and arrays."""
    import numpy

    kind = T.kind
    if kind == "scalar":
        if T.group == "storage":
            return storage.dtype_of(T._description)
        return numpy.dtype(T.numpy_name)
    if kind == "vector":
        return numpy.dtype((T.scalar.dtype, (T.lanes,)))
    if kind == "matrix":
        return numpy.dtype((T.scalar.numpy_name, (T.lanes, T.lanes)))
    if kind == "array":
        return numpy.dtype((T.element.dtype, (T.count,)))
    if kind == "struct":
        return numpy.dtype([(name, M.dtype) for name, M in T.members.items()])
    if kind == "ref":
        return T.inner.dtype
    return T.element.dtype


_anonymous = {}


def type_from_dtype(dtype, name="struct"):
    """The type of elements with a scalar, subarray or structured NumPy dtype."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        T = type_from_dtype(base)
        for n in reversed(shape):
            T = types.array_type(T, n)
        return T
    if dtype.names is not None:
        key = str(dtype.descr) if not dtype.hasobject else None
        found = _anonymous.get(key)
        if found is None:
            members = {n: type_from_dtype(dtype.fields[n][0]) for n in dtype.names}
            found = _anonymous[key] = types.make_struct(name, members)
        return found
    # ml_dtypes' float8_e4m3 is another format than ours, which is its float8_e4m3fn.
    other = dtype.name in storage.FORMATS and dtype.name not in storage.TYPES
    found = None if other else types.NAMES.get(storage.TYPES.get(dtype.name, dtype.name))
    if found is None:
        raise types._argument_error(f"no lcpy type holds NumPy dtype {dtype}")
    return found


def numpy_scalar(cls, value):
    """A NumPy scalar of the scalar type `cls`, converted as a cast in a kernel converts."""
    import numpy

    if cls.group == "storage" and cls.dtype.kind == "u":  # no ml_dtypes: the value as float32
        return numpy.float32(types.exact_number(cls, value))
    if getattr(value, "dtype", None) == cls.dtype and getattr(value, "shape", None) == ():
        return cls.dtype.type(value)
    number = types.exact_number(cls, value)
    with numpy.errstate(over="ignore"):
        return cls.dtype.type(number)


# ---- bytes of values ----------------------------------------------------------------------------
class _Packer:
    """One compiled struct format for a type, and the way from a value to its numbers."""

    __slots__ = ("format", "flatten", "build")

    def __init__(self, T):
        import struct

        codes, size = _format(T)
        self.format = struct.Struct("<" + codes)
        if self.format.size != T._type.size or size != self.format.size:
            from .errors import InternalError

            raise InternalError(
                f"{T.__name__}: the host packs {self.format.size} of {T._type.size} bytes"
            )
        self.flatten = _flattener(T)
        self.build = _builder(T)


_packers = {}


def packer(T):
    """The cached packer of `T`."""
    found = _packers.get(T)
    if found is None:
        found = _packers[T] = _Packer(T)
    return found


def pack(T, value, what="value"):
    """Bytes of `value` in the memory layout; an error names `what`."""
    found = packer(T)
    out = []
    found.flatten(value, out, what)
    return found.format.pack(*out)


def unpack(T, data):
    """The host value in the memory layout's bytes."""
    found = packer(T)
    return found.build(iter(found.format.unpack(bytes(data))))


def _format(T):
    """(struct codes with explicit padding, bytes) of the memory layout."""
    handle = T._type
    if T.kind == "scalar":
        return T.code, handle.size
    parts = list(T.members.values()) if T.kind == "struct" else None
    count = len(parts) if parts is not None else handle.count
    codes, at = [], 0
    for i in range(count):
        inner, size = _format(parts[i] if parts is not None else component(T))
        offset = handle.offset(i)
        codes.append("x" * (offset - at) + inner)
        at = offset + size
    codes.append("x" * (handle.size - at))
    return "".join(codes), handle.size


def component(T):
    """The type of a vector's lane, a matrix's column or an array's element."""
    return T.scalar if T.kind == "vector" else T.column if T.kind == "matrix" else T.element


def check_scalar(T, value, what):
    """The Python number for a scalar argument; ArgumentError when it is none or out of range."""
    group = T.group
    if group == "int":
        index = getattr(value, "__index__", None)
        if index is None or value is True or value is False:
            raise types._argument_error(f"{what}: wanted {T.__name__}, got {_describe(value)}")
        value = index()
        low, high = T.range
        if not low <= value <= high:
            raise types._argument_error(
                f"{what}: {value} is out of range of {T.__name__} ({low} to {high})"
            )
        return value
    if group == "bool":
        if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
            return bool(value)
        raise types._argument_error(f"{what}: wanted bool, got {_describe(value)}")
    is_float = getattr(value, "__float__", None) is not None and not isinstance(value, (str, bytes))
    if not is_float or value is True or value is False or getattr(value, "ndim", 0):
        raise types._argument_error(f"{what}: wanted {T.__name__}, got {_describe(value)}")
    try:
        number = float(value)
    except OverflowError:
        raise types._argument_error(f"{what}: too large for {T.__name__}") from None
    if T.code != "d" and number - number == 0:
        rounded = types.exact_number(T, number)
        if rounded - rounded != 0:
            raise types._argument_error(f"{what}: {number!r} is beyond the range of {T.__name__}")
        return rounded
    return number


def _describe(value):
    dtype = getattr(value, "dtype", None)
    if dtype is not None and getattr(value, "ndim", 0):
        return f"an array of {dtype}, shape {value.shape}"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


def _flattener(T):
    """A function (value, out, what) that appends the value's numbers in memory order."""
    kind = T.kind
    if kind == "scalar" and T.group == "storage":
        name = T._description
        return lambda value, out, what: out.append(
            storage.bits_of(name, check_scalar(T, value, what))
        )
    if kind == "scalar":
        return lambda value, out, what: out.append(check_scalar(T, value, what))
    if kind == "struct":
        return _struct_flattener(T)
    inner = _flattener(component(T))
    count = T._type.count
    own = T

    def flatten(value, out, what):
        try:
            n = len(value)
        except TypeError:
            n = -1
        if n != count or isinstance(value, (str, bytes, dict)):
            raise types._argument_error(f"{what}: wanted {own.__name__}, got {_describe(value)}")
        if kind == "matrix" and not isinstance(
            value, types.Matrix
        ):  # nested or array: [row][column]
            rows = [list(row) if hasattr(row, "__len__") else [] for row in value]
            if any(len(row) != count for row in rows):
                raise types._argument_error(
                    f"{what}: wanted {count}×{count} numbers, [row][column]"
                )
            value = list(zip(*rows))
        for i, part in enumerate(value):
            inner(part, out, f"{what}[{i}]")

    return flatten


def _struct_flattener(T):
    members = [(name, _flattener(M)) for name, M in T.members.items()]
    names = list(T.members)

    def flatten(value, out, what):
        if isinstance(value, types.StructBase):
            if type(value) is not T and type(value)._description != T._description:
                raise types._argument_error(
                    f"{what}: wanted {T.__name__}, got {type(value).__name__}"
                )
            parts = [value.__dict__[name] for name in type(value).members]
        elif isinstance(value, dict):
            wrong = [n for n in value if n not in T.members] + [n for n in names if n not in value]
            if wrong:
                raise types._argument_error(
                    f"{what}: {T.__name__} has members {names}; '{wrong[0]}' does not match"
                )
            parts = [value[name] for name in names]
        elif getattr(getattr(value, "dtype", None), "names", None) is not None:
            if list(value.dtype.names) != names:
                raise types._argument_error(
                    f"{what}: {T.__name__} has members {names}, got {value.dtype.names}"
                )
            parts = [value[name] for name in names]
        elif isinstance(value, (tuple, list)) and len(value) == len(names):
            parts = value
        else:
            raise types._argument_error(f"{what}: wanted {T.__name__}, got {_describe(value)}")
        for (name, inner), part in zip(members, parts):
            inner(part, out, f"{what}.{name}")

    return flatten


def _builder(T):
    kind = T.kind
    if kind == "scalar" and T.group == "storage":
        return lambda numbers: storage.number_of(T._description, next(numbers))
    if kind == "scalar":
        return lambda numbers: next(numbers)
    if kind == "struct":
        parts = [(name, _builder(M)) for name, M in T.members.items()]
        return lambda numbers: T(**{name: build(numbers) for name, build in parts})
    inner, count = _builder(component(T)), T._type.count
    return lambda numbers: T(*[inner(numbers) for _ in range(count)])


# ---- leaves for the repacker --------------------------------------------------------------------
def element_leaves(T, dtype, strides, packed):
    """How one element of `T` lies in an array of `dtype`, against memory.

    `strides` are those of the array's axes that belong to the element (a vector's lanes, a matrix's
    rows and columns). Gives a list of (bytes, is_bool, array offset, memory offset,
    [(count, array stride, memory stride), …]), one for each scalar leaf.
    """
    out = []
    _leaves(T, dtype, list(strides), 0, 0, [], packed, out)
    return out


def _leaves(T, dtype, strides, at, memory, dims, packed, out):
    handle, kind = T._type, T.kind
    if dtype.subdtype is not None and not strides:
        base, shape = dtype.subdtype
        step, strides = base.itemsize, []
        for n in reversed(shape):
            strides.insert(0, step)
            step *= n
        dtype = base
    if kind == "scalar":
        out.append((handle.size, T.group == "bool", at, memory, dims))
        return
    if kind == "struct":
        to = memory
        for i, M in enumerate(T.members.values()):
            field, offset = dtype.fields[dtype.names[i]][:2]
            to = to if packed else memory + handle.offset(i)
            _leaves(M, field, strides, at + offset, to, dims, packed, out)
            to += M._type.packed_size if packed else 0
        return
    if kind == "matrix":
        row, column = strides[:2]
        size = T.scalar._type.size
        n, step = T.lanes, T.lanes * size if packed else handle.stride
        _leaves(
            T.scalar, dtype, [], at, memory, dims + [(n, column, step), (n, row, size)], packed, out
        )
        return
    inner = component(T)
    step = inner._type.packed_size if packed else handle.stride
    _leaves(
        inner,
        dtype,
        strides[1:],
        at,
        memory,
        dims + [(handle.count, strides[0], step)],
        packed,
        out,
    )


def tightly(T, data):
    """The packed form of one element from its bytes in the memory layout."""
    handle = T._type
    if T.kind == "scalar":
        return data[: handle.size]
    parts = list(T.members.values()) if T.kind == "struct" else [component(T)] * handle.count
    return b"".join(tightly(P, data[handle.offset(i) :]) for i, P in enumerate(parts))


def element_shape(T):
    """The trailing NumPy axes that belong to one element: (3,) of float3, () of a struct."""
    if T.kind == "vector":
        return (T.lanes,)
    if T.kind == "matrix":
        return (T.lanes, T.lanes)
    if T.kind == "array":
        return (T.count,) + element_shape(T.element)
    return ()


def base_dtype(T):
    """The dtype of the array whose trailing axes are `element_shape(T)`."""
    while T.kind == "array":
        T = T.element
    return T.scalar.dtype if T.kind in ("vector", "matrix") else T.dtype
