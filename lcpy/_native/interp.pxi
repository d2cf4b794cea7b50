# The interpreter: a door to native/interp.
from libcpp.memory cimport shared_ptr

from lcpy._native.decl cimport interp as c_interp
from lcpy._native.decl.interp cimport Binding, CProgram


@cython.final
cdef class Program:
    """A descriptor decoded for the interpreter. `isa`: "baseline", "avx2", "avx512" or "" for the
    best that this processor has. `warp_size`: 8, 16, 32 or 64 lanes."""
    cdef shared_ptr[const CProgram] c
    cdef size_t block_size
    cdef size_t buffer_count

    def __init__(self, Descriptor descriptor not None, str isa="", uint32_t warp_size=32):
        cdef string name = isa.encode()
        with nogil:
            self.c = c_interp.build_program(dereference(descriptor.c), name.c_str(), warp_size)
        self.block_size = c_kernel.argument_block(dereference(descriptor.c)).size
        self.buffer_count = sum([s[2] == "global" for s in descriptor.slots])

    def run(self, buffers, block, dispatch, unsigned threads=0):
        """Runs and waits. `buffers`: (address, bytes) by order of Global slots."""
        cdef vector[Binding] bound
        cdef Binding one
        cdef uint32_t[3] size
        cdef bytes data = bytes(block)
        for address, nbytes in buffers:
            one.data = <void*><size_t>address
            one.bytes = nbytes
            bound.push_back(one)
        size[0], size[1], size[2] = dispatch
        if bound.size() != self.buffer_count or <size_t>len(data) != self.block_size:
            raise _errors.ArgumentError(
                f"wanted {self.buffer_count} buffers and a block of {self.block_size} bytes, "
                f"got {bound.size()} and {len(data)}")
        cdef const char* raw = data
        with nogil:
            c_interp.run_program(dereference(self.c), bound.data(), bound.size(), raw,
                                 self.block_size, size, threads)
