# api/repack.h
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from lcpy._native.decl.errors cimport translate

cdef extern from "api/repack.h" namespace "lcpy::api" nogil:
    cdef cppclass Axis:
        uint64_t count
        int64_t host
        int64_t memory

    cdef cppclass Leaf:
        uint64_t bytes
        cbool is_bool
        int64_t host
        int64_t memory
        vector[Axis] axes

    cdef cppclass CopyPlan:
        CopyPlan(vector[Leaf] leaves) except +translate
        cbool is_plain()
        const vector[Leaf]& leaves()

cdef extern from *:
    """
    #include <cstdlib>
    #include <cstring>
    #include "api/repack.h"
    namespace lcpy_door {
    static void copy_plan(const lcpy::api::CopyPlan& plan, uintptr_t host, uintptr_t memory,
                          bool to_memory) {
      auto* h = reinterpret_cast<std::byte*>(host);
      auto* m = reinterpret_cast<std::byte*>(memory);
      if (to_memory) plan.to_memory(h, m);
      else plan.to_host(h, m);
    }
    static void fill_memory(uintptr_t to, const char* value, size_t bytes, uint64_t stride,
                            uint64_t count) {
      lcpy::api::fill_pattern(reinterpret_cast<std::byte*>(to),
                              {reinterpret_cast<const std::byte*>(value), bytes}, stride, count);
    }
    }  // namespace lcpy_door
    """
    void copy_plan "lcpy_door::copy_plan"(const CopyPlan& plan, size_t host, size_t memory,
                                          cbool to_memory) nogil
    void fill_memory "lcpy_door::fill_memory"(size_t to, const char* value, size_t bytes,
                                              uint64_t stride, uint64_t count) nogil
