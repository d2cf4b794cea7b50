# Types: one Python object for each interned type of the core, so that `is` compares types.
from lcpy._native.decl cimport types as c_types
from lcpy._native.decl.types cimport CType

cdef list _types = []  # by CType.index()
cdef tuple _tags = ("void", "scalar", "vector", "matrix", "array", "struct", "buffer", "texture",
                    "bindless_array", "accel", "custom")
cdef dict _scalars = {c_types.scalar_name(i).decode(): i for i in range(c_types.kScalarCount)}


@cython.final
cdef class Type:
    """A type of the kernel language, as the core knows it. Equal types are the same object."""
    cdef CType c
    cdef readonly str description
    cdef readonly str tag
    cdef dict __dict__  # what Python keeps beside a type, for example its class

    def __init__(self):
        raise TypeError("types are made by type_parse, type_vector, type_array and the like")

    def __repr__(self):
        return f"<type {self.description}>"

    def __reduce__(self):
        return type_parse, (self.description,)

    @property
    def size(self):
        """Bytes in memory, padding included."""
        return self.c.size()

    @property
    def align(self):
        return self.c.align()

    @property
    def scalar(self):
        """Name of the scalar of a scalar, vector or matrix."""
        return c_types.scalar_name(c_types.scalar_index(self.c)).decode()

    @property
    def numpy(self):
        """NumPy name of the scalar."""
        return c_types.scalar_numpy(c_types.scalar_index(self.c)).decode()

    @property
    def scalar_size(self):
        return c_types.scalar_size(c_types.scalar_index(self.c))

    @property
    def lanes(self):
        return self.c.lanes()

    @property
    def count(self):
        """Array length, member count, lanes or columns."""
        return self.c.count()

    @property
    def element(self):
        """Type of an element; None of a byte buffer."""
        return wrap_type(self.c.element())

    def component(self, uint64_t index):
        return wrap_type(self.c.component(index))

    @property
    def members(self):
        cdef vector[CType] all = c_types.type_members(self.c)
        return tuple([wrap_type(t) for t in all])

    @property
    def rank(self):
        return self.c.rank()

    @property
    def packed(self):
        return bool(self.c.packed())

    @property
    def stride(self):
        return self.c.stride()

    def offset(self, uint64_t index):
        """Bytes from the start to component `index`."""
        return self.c.offset(index)

    @property
    def packed_size(self):
        return self.c.packed_size()

    @property
    def packed_unit(self):
        """Bytes of the units by which packed elements are reached."""
        return self.c.packed_unit()

    @property
    def hash(self):
        """Of the description: the same on every machine."""
        return self.c.hash()

    @property
    def is_resource(self):
        return bool(self.c.is_resource())

    @property
    def is_integer(self):
        """Integer scalar or vector."""
        return bool(self.c.is_integer())

    @property
    def is_float(self):
        """Float scalar or vector."""
        return bool(self.c.is_float())

    @property
    def is_bool(self):
        """The scalar bool."""
        return bool(self.c.is_bool())

    @property
    def is_basic(self):
        """Scalar, vector or matrix."""
        return bool(self.c.is_basic())


cdef object wrap_type(CType t):
    """The one Python object of a type; None for void."""
    if t.is_void():
        return None
    cdef uint32_t index = t.index()
    cdef Type made
    while len(_types) <= <Py_ssize_t>index:
        _types.append(None)
    found = _types[index]
    if found is not None:
        return found
    made = Type.__new__(Type)
    made.c = t
    made.description = t.description().decode()
    made.tag = _tags[c_types.type_tag(t)]
    _types[index] = made
    return made


cdef int _scalar_of(str name) except -1:
    found = _scalars.get(name)
    if found is None:
        raise _errors.ArgumentError(f"no scalar type is named {name!r}")
    return found


def type_parse(str description not None):
    """The type of a description such as ``vector<float,3>``."""
    return wrap_type(c_types.type_parse(description.encode()))


def type_scalar(str name not None):
    return wrap_type(c_types.type_scalar(_scalar_of(name)))


def type_vector(str name not None, uint32_t lanes):
    return wrap_type(c_types.type_vector(_scalar_of(name), lanes))


def type_matrix(str name not None, uint32_t dimension):
    return wrap_type(c_types.type_matrix(_scalar_of(name), dimension))


def type_array(Type element not None, uint64_t count):
    return wrap_type(c_types.type_array(element.c, count))


def type_struct(members, uint32_t align=0):
    cdef vector[CType] all
    for m in members:
        all.push_back((<Type?>m).c)
    return wrap_type(c_types.type_struct(all, align))


def type_buffer(Type element, uint32_t rank=1, bint packed=False):
    """Buffer of `element`; of bytes if `element` is None."""
    cdef CType inner
    if element is not None:
        inner = element.c
    return wrap_type(c_types.type_buffer(inner, rank, packed))


def scalar_names():
    """Names of all scalar types, in the core's order."""
    return list(_scalars)
