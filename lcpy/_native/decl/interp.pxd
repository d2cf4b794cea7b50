# interp/interp.h
from libc.stdint cimport uint32_t, uint64_t
from libcpp.memory cimport shared_ptr

from lcpy._native.decl.errors cimport translate
from lcpy._native.decl.kernel cimport KernelDescriptor

cdef extern from "interp/interp.h" namespace "lcpy::interp" nogil:
    cdef cppclass CProgram "lcpy::interp::Program":
        pass

    cdef cppclass Binding:
        void* data
        uint64_t bytes

    shared_ptr[const CProgram] build_program(const KernelDescriptor& d,
                                             const char* isa,
                                             uint32_t warp_size) except +translate

cdef extern from *:
    """
    #include "interp/interp.h"
    namespace lcpy_door {
    static void run_program(const lcpy::interp::Program& program,
                            const lcpy::interp::Binding* buffers, size_t buffer_count,
                            const char* block, size_t block_size, const uint32_t* dispatch,
                            unsigned threads) {
      lcpy::interp::Launch launch;
      launch.dispatch_size = {dispatch[0], dispatch[1], dispatch[2]};
      launch.buffers = {buffers, buffer_count};
      launch.block = {reinterpret_cast<const std::byte*>(block), block_size};
      launch.threads = threads;
      lcpy::interp::run(program, launch);
    }
    }  // namespace lcpy_door
    """
    void run_program "lcpy_door::run_program"(const CProgram& program, const Binding* buffers,
        size_t buffer_count, const char* block, size_t block_size, const uint32_t* dispatch,
        unsigned threads) except +translate nogil
