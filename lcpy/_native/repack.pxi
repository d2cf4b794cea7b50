# Host memory and copies between host arrays and memory layout (native/api/repack.h): a door only.
from cpython.buffer cimport (
    PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer)
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset
from libcpp.memory cimport unique_ptr

from lcpy._native.decl cimport repack as c_repack
from lcpy._native.decl.repack cimport Axis, CopyPlan, Leaf


def same_bytes(array, bytes data not None):
    """Whether a C-contiguous array holds just these bytes; nothing is copied."""
    cdef Py_buffer view
    cdef bint same
    PyObject_GetBuffer(array, &view, PyBUF_SIMPLE)
    same = view.len == len(data) and memcmp(view.buf, <char*>data, view.len) == 0
    PyBuffer_Release(&view)
    return same


@cython.final
cdef class HostMemory:
    """`nbytes` bytes of the host's memory, aligned to a cache line; zero unless `zero` is False."""
    cdef char* raw
    cdef char* start
    cdef readonly size_t nbytes

    def __cinit__(self, size_t nbytes, bint zero=True):
        if nbytes > <size_t>-1 // 2:
            raise MemoryError()
        self.raw = <char*>(calloc(1, nbytes + 128) if zero else malloc(nbytes + 128))
        if self.raw == NULL:
            raise MemoryError()
        self.start = self.raw + (64 - <size_t>self.raw % 64)
        self.nbytes = nbytes

    def __dealloc__(self):
        free(self.raw)

    @property
    def address(self):
        return <size_t>self.start

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.start, self.nbytes, 0, flags)

    def __releasebuffer__(self, Py_buffer* view):
        pass


@cython.final
cdef class Repack:
    """A copy plan. `leaves`: (bytes, is_bool, host offset, memory offset, axes), each axis being
    (count, host stride, memory stride), outermost first."""
    cdef unique_ptr[CopyPlan] c

    def __init__(self, leaves):
        cdef vector[Leaf] all
        cdef Leaf leaf
        cdef Axis axis
        for size, is_bool, host, memory, axes in leaves:
            leaf.bytes, leaf.is_bool, leaf.host, leaf.memory = size, is_bool, host, memory
            leaf.axes.clear()
            for count, host_stride, memory_stride in axes:
                axis.count, axis.host, axis.memory = count, host_stride, memory_stride
                leaf.axes.push_back(axis)
            all.push_back(leaf)
        self.c.reset(new CopyPlan(all))

    @property
    def is_plain(self):
        """Whether the plan is one run of bytes."""
        return self.c.get().is_plain()

    def to_memory(self, size_t host, size_t memory):
        """Copies from the host array at address `host` to memory at address `memory`."""
        with nogil:
            c_repack.copy_plan(self.c.get()[0], host, memory, True)

    def to_host(self, size_t host, size_t memory):
        with nogil:
            c_repack.copy_plan(self.c.get()[0], host, memory, False)


def copy_bytes(size_t to, size_t source, size_t nbytes):
    """memcpy between addresses, without the GIL."""
    with nogil:
        memcpy(<void*>to, <const void*>source, nbytes)


def fill_bytes(size_t to, bytes value not None, uint64_t stride, uint64_t count):
    """`count` copies of `value`, `stride` bytes apart."""
    cdef const char* source = value
    cdef size_t size = len(value)
    with nogil:
        c_repack.fill_memory(to, source, size, stride, count)
