# types/type.h
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from lcpy._native.decl.errors cimport translate

cdef extern from "types/type.h" namespace "lcpy" nogil:
    cdef enum class Scalar(uint8_t):
        pass
    cdef enum class TypeTag(uint8_t):
        pass
    int kScalarCount

    cdef cppclass CType "lcpy::Type":
        CType()
        TypeTag tag()
        cbool is_void()
        cbool is_scalar()
        cbool is_vector()
        cbool is_matrix()
        cbool is_array()
        cbool is_struct()
        cbool is_buffer()
        cbool is_resource()
        cbool is_value()
        cbool is_basic()
        cbool is_bool()
        cbool is_integer()
        cbool is_float()
        Scalar scalar() except +translate
        uint32_t lanes() except +translate
        uint64_t count() except +translate
        CType element() except +translate
        CType component(uint64_t index) except +translate
        uint32_t rank() except +translate
        cbool packed() except +translate
        uint64_t size() except +translate
        uint32_t align() except +translate
        uint64_t stride() except +translate
        uint64_t offset(uint64_t index) except +translate
        uint64_t packed_size() except +translate
        uint64_t packed_unit() except +translate
        const string& description() except +translate
        uint64_t hash() except +translate
        uint32_t index()
        cbool operator==(CType other)

# What Cython cannot say: static members, spans and enumerator counts of type.h.
cdef extern from *:
    """
    #include <string>
    #include <vector>
    #include "types/type.h"
    namespace lcpy_door {
    static lcpy::Type type_scalar(int s) { return lcpy::Type::of(static_cast<lcpy::Scalar>(s)); }
    static lcpy::Type type_vector(int s, uint32_t n) {
      return lcpy::Type::vector(static_cast<lcpy::Scalar>(s), n);
    }
    static lcpy::Type type_matrix(int s, uint32_t n) {
      return lcpy::Type::matrix(static_cast<lcpy::Scalar>(s), n);
    }
    static lcpy::Type type_array(lcpy::Type t, uint64_t n) { return lcpy::Type::array(t, n); }
    static lcpy::Type type_struct(const std::vector<lcpy::Type>& members, uint32_t align) {
      return lcpy::Type::structure(members, align);
    }
    static lcpy::Type type_buffer(lcpy::Type t, uint32_t rank, bool packed) {
      return lcpy::Type::buffer(t, rank, packed);
    }
    static lcpy::Type type_parse(const std::string& s) { return lcpy::Type::parse(s); }
    static std::string scalar_name(int s) {
      return std::string(lcpy::scalar_name(static_cast<lcpy::Scalar>(s)));
    }
    static std::string scalar_numpy(int s) {
      return std::string(lcpy::scalar_numpy(static_cast<lcpy::Scalar>(s)));
    }
    static int scalar_index(lcpy::Type t) { return static_cast<int>(t.scalar()); }
    static int scalar_size(int s) { return lcpy::scalar_size(static_cast<lcpy::Scalar>(s)); }
    static int type_tag(lcpy::Type t) { return static_cast<int>(t.tag()); }
    static std::vector<lcpy::Type> type_members(lcpy::Type t) {
      auto m = t.members();
      return {m.begin(), m.end()};
    }
    }  // namespace lcpy_door
    """
    CType type_scalar "lcpy_door::type_scalar"(int s) except +translate
    CType type_vector "lcpy_door::type_vector"(int s, uint32_t n) except +translate
    CType type_matrix "lcpy_door::type_matrix"(int s, uint32_t n) except +translate
    CType type_array "lcpy_door::type_array"(CType t, uint64_t n) except +translate
    CType type_struct "lcpy_door::type_struct"(
        const vector[CType]& m, uint32_t align) except +translate
    CType type_buffer "lcpy_door::type_buffer"(
        CType t, uint32_t rank, cbool packed) except +translate
    CType type_parse "lcpy_door::type_parse"(const string& s) except +translate
    string scalar_name "lcpy_door::scalar_name"(int s) except +translate
    string scalar_numpy "lcpy_door::scalar_numpy"(int s) except +translate
    int scalar_index "lcpy_door::scalar_index"(CType t) except +translate
    int scalar_size "lcpy_door::scalar_size"(int s) except +translate
    int type_tag "lcpy_door::type_tag"(CType t)
    vector[CType] type_members "lcpy_door::type_members"(CType t) except +translate
