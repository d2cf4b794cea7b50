"""Buffers: device memory with an element type and one to three axes.

Everything that can be wrong with an argument is found before anything is copied or allocated.
"""

from .. import layout, storage, types
from .._native import core
from ..errors import ArgumentError, DeviceError, UnsupportedError

MINIMUM = 16  # bytes that even an empty buffer owns, so that it can be bound


class Buffer(core.DeviceBuffer):
    """Elements of one type in a device's memory.

    ``Buffer(n, T)`` or ``Buffer((h, w), T)`` starts at zero. ``Buffer(array)`` copies a NumPy array
    and keeps its dtype and shape; ``Buffer(array, lc.float3)`` takes the array's last axis as the
    vector. As an annotation, ``Buffer[T]`` and ``Buffer[T, rank]`` name the type.

    Parameters
    ----------
    source : int, tuple of int, or array
        The shape, or what to copy.
    T : type, optional
        Element type; from the array where that is given.
    device : Device, optional
        The default device if None.
    layout : "packed", optional
        Elements without padding: float3 in 12 bytes.

    Attributes
    ----------
    shape : tuple of int
    size : int
        Elements, all axes together; also ``len()``.
    type, dtype
        The element type.
    device : Device
    """

    __slots__ = ("type", "shape", "packed", "_kernel_class", "_stride")

    def __class_getitem__(cls, parameters):
        T, rank = parameters, 1
        if isinstance(parameters, tuple):
            if len(parameters) != 2:
                raise ArgumentError("write lc.Buffer[T] or lc.Buffer[T, rank]")
            T, rank = parameters
        return types.buffer_type(T, rank)

    def __init__(self, source, T=None, *, device=None, layout=None):
        if layout not in (None, "packed"):
            raise ArgumentError(f"layout: 'packed' or None, not {types.shown(layout)}")
        if T is not None:
            T = types.check_type(T, "T")
        shape = _shape_of(source)
        if shape is not None:
            if T is None:
                raise ArgumentError(
                    "T: a buffer of a shape needs its element type, as in lc.Buffer(n, lc.float32)"
                )
            self._make(shape, T, device, layout, zero=True)
            return
        array, T, shape = _accept_array(source, T)
        self._make(shape, T, device, layout, zero=False)
        self._copy_in(array)

    def _make(self, shape, T, device, layout, zero):
        packed = layout == "packed" and T.kind != "scalar"
        kernel_class = types.buffer_type(T, len(shape), packed)
        stride = T._type.packed_size if packed else kernel_class._type.stride
        if packed:
            _check_units(T, shape)
        self._allocate(kernel_class, shape, stride, device, zero)
        self.type, self.packed = T, packed

    def _allocate(self, kernel_class, shape, stride, device, zero):
        from .device import resolve

        device = resolve(device)
        count = 1
        for n in shape:
            count *= n
        memory, address = device.allocate(max(count * stride, MINIMUM), zero)
        self._bind(device, memory, kernel_class._type, shape, 0, address, count * stride)
        self.shape, self._kernel_class, self._stride = shape, kernel_class, stride

    # ---- facts ----------------------------------------------------------------------------------
    @property
    def _kernel_type(self):
        return self._kernel_class

    @property
    def dtype(self):
        return self.type

    @property
    def size(self):
        return self.count

    @property
    def nbytes(self):
        """Bytes in device memory, padding included."""
        return self.count * self._stride

    @property
    def layout(self):
        return "packed" if self.packed else None

    def __len__(self):
        return self.count

    def __repr__(self):
        shape = self.shape[0] if len(self.shape) == 1 else self.shape
        packed = ", layout='packed'" if self.packed else ""
        return f"lc.Buffer({shape}, {self.type.__name__}{packed}, device={self.device.name!r})"

    def __getitem__(self, index):
        raise ArgumentError(
            "buffers are indexed in kernels; on the host use .numpy() or .view(start, stop)"
        )

    __iter__ = None

    # ---- copies ---------------------------------------------------------------------------------
    def numpy(self):
        """A new array with what the buffer holds once all launches before are done.

        Shape: the buffer's, then the vector's, matrix's [row, column] or array's; dtype: the
        scalar's or the struct's packed dtype. Raises KernelTrap where one of those launches
        trapped; what the buffer then holds can be read by calling it again.
        """
        import numpy

        self._live()
        T = self.type
        array = numpy.empty(self.shape + layout.element_shape(T), layout.base_dtype(T))
        if self.count:
            plan = self._plan(array)
            host = array.ctypes.data

            place = self.memory, self._start, self.nbytes
            if plan is None:
                self.device.download_plain(*place, host)
            else:
                self.device.download(*place, lambda address: plan.to_host(host, address))
            self.device.reports.check()
        return array

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def upload(self, array):
        """Copies an array of the buffer's dtype and shape in; any strides will do."""
        self._live()
        array, _, shape = _accept_array(array, self.type)
        if shape != self.shape:
            raise ArgumentError(
                f"array: its shape gives {shape} elements of {self.type.__name__}, "
                f"the buffer has {self.shape}"
            )
        self._copy_in(array)

    def fill(self, value):
        """Sets every element to `value`, any value of the element type."""
        self._live()
        data = layout.pack(self.type, value, "value")
        if self.packed:
            data = layout.tightly(self.type, data)
        if self.count:
            data += bytes(self._stride - len(data))
            self.device.fill(self.memory, self._start, data, self.count)

    def view(self, start, stop):
        """Elements start to stop, half open, of the same memory; one axis."""
        self._live()
        start, stop = _index(start, "start"), _index(stop, "stop")
        if not 0 <= start <= stop <= self.count:
            raise ArgumentError(
                f"start, stop: {start} to {stop} is not within the {self.count} elements"
            )
        cls = type(self)
        view = cls.__new__(cls)
        view.type, view.packed, view._stride = self.type, self.packed, self._stride
        view.shape = (stop - start,)
        view._kernel_class = self._flat_class()
        scale = self._offset_scale()
        address = self.device.address(self.memory)
        address = address + (self._start + start * self._stride) if address else 0
        nbytes = (stop - start) * self._stride
        view._bind(
            self.device,
            self.memory,
            view._kernel_class._type,
            view.shape,
            self.offset + start * scale,
            address,
            nbytes,
        )
        return view

    def copy_from(self, other):
        """Copies another buffer of the same type and size; between devices by way of the host."""
        self._live()
        other._live()
        if other.core_type is not self.core_type or other.shape != self.shape:
            raise ArgumentError(f"other: wanted {self!r}, got {types.shown(other)}")
        if other.device is not self.device:
            self.upload(other.numpy())
        elif self.count:
            if self.memory is other.memory and abs(self._start - other._start) < self.nbytes:
                if self._start != other._start:
                    raise ArgumentError("other: overlaps this buffer")
                return
            self.device.copy(self.memory, self._start, other.memory, other._start, self.nbytes)

    def release(self):
        """Gives this buffer's hold of the memory back now; views of it keep theirs."""
        self._unbind()

    # ---- inside ---------------------------------------------------------------------------------
    def _flat_class(self):
        return types.buffer_type(self.type, 1, self.packed)

    def _offset_scale(self):
        """Slot elements in one element: packed ones that lose padding are reached by units."""
        t = self.type._type
        if not self.packed or t.packed_size == t.size:
            return 1
        return t.packed_size // t.packed_unit

    @property
    def _start(self):
        """First byte of this view in the memory."""
        return self.offset // self._offset_scale() * self._stride

    def _live(self):
        if self.memory is None:
            raise DeviceError("this buffer was released")

    def _copy_in(self, array):
        if not self.count:
            return
        plan = self._plan(array)
        host = array.__array_interface__["data"][0]

        place = self.memory, self._start, self.nbytes
        if plan is None:
            self.device.upload_plain(*place, host)
        else:
            self.device.upload(*place, lambda address: plan.to_memory(host, address))

    def _plan(self, array):
        """The repacker between `array` and this memory; None when a plain copy does."""
        T, n = self.type, len(self.shape)
        plain = T.kind in ("scalar", "vector") and T.scalar.group != "bool"
        if plain and self._stride == T._type.packed_size and array.flags.c_contiguous:
            return None
        outer, step = [], self._stride
        for count, stride in zip(reversed(array.shape[:n]), reversed(array.strides[:n])):
            outer.insert(0, (count, stride, step))
            step *= count
        leaves = layout.element_leaves(T, array.dtype, array.strides[n:], self.packed)
        return core.Repack(
            [(size, flag, host, memory, outer + axes) for size, flag, host, memory, axes in leaves]
        )


class ByteBuffer(Buffer):
    """Raw bytes of a device's memory: ``ByteBuffer(n)`` zeroed, or ``ByteBuffer(uint8_array)``.

    Kernels read and write it with ``lc.byte_read`` and ``lc.byte_write``.
    """

    __slots__ = ()
    _type = core.type_buffer(None)
    kind, element, rank = "buffer", None, 1

    def __class_getitem__(cls, parameters):
        raise ArgumentError("lc.ByteBuffer has no element type")

    def __init__(self, source, *, device=None):
        T = types.NAMES["uint8"]
        shape = _shape_of(source)
        array = None
        if shape is None:
            array, _, shape = _accept_array(source, T)
        if len(shape) != 1:
            raise ArgumentError(f"source: a byte buffer has one axis, not {len(shape)}")
        self._allocate(ByteBuffer, shape, 1, device, zero=array is None)
        self.type, self.packed = T, False
        if array is not None:
            self._copy_in(array)

    def _flat_class(self):
        return ByteBuffer


def empty(shape, T, *, device=None, layout=None):
    """A buffer whose elements are undefined until written."""
    T = types.check_type(T, "T")
    extents = _shape_of(shape)
    if extents is None:
        raise ArgumentError(f"shape: an int or a tuple of one to three, not {types.shown(shape)}")
    made = Buffer.__new__(Buffer)
    made._make(extents, T, device, layout, zero=False)
    return made


def _check_units(T, shape):
    """Kernels count the units of a packed buffer in 32 bits."""
    count = 1
    for n in shape:
        count *= n
    handle = T._type
    each = handle.packed_size // handle.packed_unit
    if handle.packed_size != handle.size and count * each >= 1 << 32:
        raise UnsupportedError(
            f"layout='packed': {count} elements of {T.__name__} are {count * each} scalars; "
            "the limit is 4294967295"
        )


# ---- arguments ----------------------------------------------------------------------------------
def _index(value, what):
    index = types.whole(value)
    if index is None:
        raise ArgumentError(f"{what}: wanted an int, got {types.shown(value)}")
    return index


def _shape_of(source):
    """The shape that an int or a tuple of ints names; None for anything else."""
    if isinstance(source, tuple) and source and all(hasattr(n, "__index__") for n in source):
        shape = tuple(_index(n, "shape") for n in source)
    elif hasattr(source, "__index__") and type(source).__name__ != "ndarray":
        shape = (_index(source, "shape"),)
    else:
        return None
    if len(shape) > 3:
        raise ArgumentError(f"shape: a buffer has at most 3 axes, not {len(shape)}")
    if any(n < 0 for n in shape):
        raise ArgumentError(f"shape: {shape} has a negative extent")
    if any(n >= 1 << 32 for n in shape) and len(shape) > 1:
        raise ArgumentError(f"shape: an axis of {max(shape)} elements; the limit is 4294967295")
    return shape


def _accept_array(source, T):
    """(array of native byte order, element type, shape in elements), or ArgumentError."""
    import numpy

    if isinstance(source, numpy.ndarray):
        array = source
    elif hasattr(type(source), "__array_interface__"):
        array = numpy.asarray(source)
    elif hasattr(source, "__cuda_array_interface__") or _on_device(source):
        raise ArgumentError(
            f"source: this {type(source).__name__} lies in a GPU's memory; copy it to the host "
            "first (.cpu(), .get())"
        )
    elif hasattr(source, "__array__") or hasattr(source, "__dlpack__"):
        array = _of_library(source)
    elif isinstance(source, (list, tuple)):  # Python numbers have no dtype of their own
        array = _from_sequence(source, T)
    elif hasattr(source, "__buffer__") or isinstance(source, (bytes, bytearray, memoryview)):
        array = numpy.asarray(memoryview(source))
    else:
        raise ArgumentError(f"source: wanted a shape or an array, got {type(source).__name__}")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if T is None:
        T = layout.type_from_dtype(array.dtype)
        inner = ()
    else:
        _check_dtype(T, array.dtype)
        inner = layout.element_shape(T)
    rank = array.ndim - len(inner)
    if array.ndim < len(inner) or array.shape[rank:] != inner:
        raise ArgumentError(
            f"array: shape {array.shape} does not end in {inner}, the parts of {T.__name__}"
        )
    if not 1 <= rank <= 3:
        hint = "; reshape(1) makes a 0-d array one element" if rank == 0 else ""
        raise ArgumentError(
            f"array: shape {array.shape} gives {rank} axes of elements, wanted 1 to 3{hint}"
        )
    return array, T, array.shape[:rank]


def _on_device(source):
    """Whether DLPack says that an array is not in the host's memory (cpu, CUDA's pinned memory)."""
    ask = getattr(source, "__dlpack_device__", None)
    return ask is not None and int(ask()[0]) not in (1, 3)


def _of_library(source):
    """The NumPy array of another library's, by its own conversion or by DLPack."""
    import numpy

    try:
        if hasattr(source, "__array__"):
            return numpy.asarray(source)
        return numpy.from_dlpack(source)
    except Exception as error:  # whatever the other library says
        name = type(source).__name__
        raise ArgumentError(f"source: this {name} gives no array: {error}") from None


def _from_sequence(source, T):
    import numpy

    try:
        if T is not None:
            if T.kind == "struct":
                data = b"".join(layout.pack(T, v, f"source[{i}]") for i, v in enumerate(source))
                return _unpadded(T, data, len(source))
            given = numpy.asarray(source)
            scalar = T
            while scalar.kind == "array":
                scalar = scalar.element
            if scalar.kind != "struct" and scalar.scalar.group == "storage":
                if given.dtype.kind not in "biuf":
                    raise ArgumentError(f"source: wanted numbers for {T.__name__}")
                return scalar.scalar.encode(given)
            wanted = layout.base_dtype(T)
            if given.dtype.kind not in "biuf" or not numpy.can_cast(
                given.dtype, wanted, "same_kind"
            ):
                if not (given.dtype.kind in "iu" and wanted.kind in "iu"):
                    raise ArgumentError(
                        f"source: {given.dtype} numbers do not go into {T.__name__}"
                    )
            return numpy.asarray(source, wanted)
        given = numpy.asarray(source)
        weak = {"i": "int32", "f": "float32", "b": "bool"}.get(given.dtype.kind)
        return given if weak is None else numpy.asarray(source, weak)
    except (ValueError, OverflowError, TypeError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"source: {error}") from None


def _unpadded(T, data, count):
    """A structured array of the packed dtype from elements in memory layout."""
    import numpy

    array = numpy.empty(count, T.dtype)
    stride = T._type.size
    axes = [(count, T.dtype.itemsize, stride)]
    leaves = layout.element_leaves(T, T.dtype, (), False)
    plan = core.Repack([(s, b, h, m, axes + a) for s, b, h, m, a in leaves])
    source = numpy.frombuffer(data, numpy.uint8)
    plan.to_host(array.ctypes.data, source.ctypes.data)
    return array


def _check_dtype(T, dtype):
    """ArgumentError unless arrays of `dtype` hold elements (or parts of elements) of `T`."""
    wanted = layout.base_dtype(T)
    if dtype == wanted or _same_fields(dtype, wanted):
        return
    raise ArgumentError(
        f"array: dtype {dtype}, wanted {wanted} for {T.__name__}; "
        "convert it with .astype() if that is meant"
    )


def _same_fields(a, b):
    """Equal but for where the fields lie: dtypes with padding are taken by offset."""
    if a.subdtype is not None or b.subdtype is not None:
        return (
            a.subdtype is not None
            and b.subdtype is not None
            and a.shape == b.shape
            and _same_fields(a.base, b.base)
        )
    if a.names is None or b.names is None:
        name = storage.TYPES.get(b.name)  # the bits serve too
        return a == b or (name is not None and a == storage.bits_dtype(name))
    return a.names == b.names and all(_same_fields(a.fields[n][0], b.fields[n][0]) for n in a.names)
