# native/artifact: compiled kernels as files.
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from lcpy._native.decl.errors cimport translate

cdef extern from "artifact/artifact.h" nogil:
    cdef cppclass CArtifact "lcpy::Artifact":
        string target, environment, producer, kernel, entry_point, math, build_options
        uint32_t* block_axes "block_size.data" ()
        cbool ragged, uses_warp, indexes_arguments
        uint64_t shared_bytes, dynamic_shared, hash
        vector[CParameter] parameters
        vector[CSlot] slots
        string block
        uint32_t block_set, block_binding, block_bytes, report_tag
        vector[string] features, files
        vector[CSite] sites
        vector[CLine] lines
        string code
    cdef cppclass CParameter "lcpy::Artifact::Parameter":
        string name, type
    cdef cppclass CSlot "lcpy::Artifact::Slot":
        string name, type, memory, access
        uint32_t number, set, binding, value, length, extents, base
        cbool atomics, bound, counted_in_32_bits
    cdef cppclass CSite "lcpy::Artifact::Site":
        string kind, text, file, source
        vector[string] types
        uint32_t line
    cdef cppclass CLine "lcpy::Artifact::Line":
        uint32_t place, file, line, column

    string write_artifact "lcpy::write_artifact" (const CArtifact& artifact) except +translate
    CArtifact read_artifact "lcpy::read_artifact" (const string& bytes) except +translate
