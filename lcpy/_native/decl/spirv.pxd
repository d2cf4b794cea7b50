# native/spirv: the assembly language, and SPIRV-Tools' validator.
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from lcpy._native.decl.errors cimport translate

cdef extern from *:
    """
    #include "spirv/assemble.h"
    #include "spirv/disassemble.h"
    #include "spirv/legalize/legalize.h"
    #include "spirv/reader.h"
    #include "spirv/reflect.h"
    #include "spirv/source_line.h"
    #include "spirv/validate.h"

    namespace lcpy_door {

    struct Assembled {
      std::vector<uint32_t> words;
      uint32_t line = 0, column = 0;  // of the error, if there is one
      std::string error;
    };
    static Assembled assemble(const char* data, size_t size, uint32_t version, bool preserve) {
      const std::string_view text(data, size);
      Assembled made;
      try {
        lcpy::spirv::AssembleOptions options;
        options.version = version;
        options.preserve_numeric_ids = preserve;
        made.words = lcpy::spirv::assemble(text, options);
      } catch (const lcpy::spirv::AssemblyError& e) {
        made.line = e.line;
        made.column = e.column;
        made.error = e.message;
      }
      return made;
    }
    static std::vector<uint32_t> words_of(const std::string& bytes) {
      return lcpy::spirv::words_of(std::as_bytes(std::span(bytes.data(), bytes.size())));
    }
    static lcpy::spirv::Reflection reflect(const std::string& bytes) {
      return lcpy::spirv::reflect(words_of(bytes));
    }
    static std::string kind_name(const lcpy::spirv::Reflection::Binding& b) {
      return std::string(lcpy::spirv::name_of(b.kind));
    }
    static uint32_t size_axis(const lcpy::spirv::Reflection::EntryPoint& e, int axis) {
      return e.local_size[axis];
    }
    static uint32_t size_axis_id(const lcpy::spirv::Reflection::EntryPoint& e, int axis) {
      return e.local_size_ids[axis];
    }
    static lcpy::spirv::SourceLine source_line(const std::vector<uint32_t>& words, size_t word) {
      try {
        return lcpy::spirv::source_line(words, word);
      } catch (const lcpy::LoadError&) {
        return {};  // the validator has said what is wrong
      }
    }
    static lcpy::spirv::Validation validate(const std::vector<uint32_t>& words,
                                            const std::string& env, const std::string& library) {
      return lcpy::spirv::validate(words, env, library);
    }

    }  // namespace lcpy_door
    """
    cdef cppclass Assembled "lcpy_door::Assembled":
        vector[uint32_t] words
        uint32_t line
        uint32_t column
        string error
    Assembled assemble "lcpy_door::assemble"(
        const char* data, size_t size, uint32_t version, cbool preserve) except +translate nogil
    vector[uint32_t] words_of "lcpy_door::words_of"(const string& bytes) except +translate nogil
    cdef cppclass Validation "lcpy::spirv::Validation":
        cbool valid
        string message
        size_t word
    cdef cppclass SourceLine "lcpy::spirv::SourceLine":
        string file
        uint32_t line
    SourceLine source_line "lcpy_door::source_line"(
        const vector[uint32_t]& words, size_t word) except +translate nogil
    Validation validate "lcpy_door::validate"(
        const vector[uint32_t]& words, const string& env, const string& library
    ) except +translate nogil

cdef extern from "spirv/legalize/legalize.h" namespace "lcpy::spirv" nogil:
    cdef cppclass Fixups:
        cbool values, pointers, parameters, physical
    vector[uint32_t] legalize(const vector[uint32_t]& words, const Fixups& fixups) except +translate


cdef extern from "spirv/reflect.h" namespace "lcpy::spirv" nogil:
    cdef cppclass Header:
        uint32_t version
        uint32_t generator
        uint32_t bound
    cdef cppclass EntryPoint "lcpy::spirv::Reflection::EntryPoint":
        string name
        string model
        vector[string] modes
    cdef cppclass ReflectedBinding "lcpy::spirv::Reflection::Binding":
        uint32_t set
        uint32_t binding
        string name
        uint32_t count
        cbool reads
        cbool writes
        uint64_t size
        uint64_t stride
    cdef cppclass PushConstant "lcpy::spirv::Reflection::PushConstant":
        string name
        uint64_t first
        uint64_t size
    cdef cppclass SpecConstant "lcpy::spirv::Reflection::SpecConstant":
        uint32_t id
        string name
        string type
        uint64_t bits
    cdef cppclass Reflection:
        Header header
        vector[string] capabilities
        vector[string] extensions
        vector[string] instruction_sets
        string addressing_model
        string memory_model
        vector[EntryPoint] entry_points
        vector[ReflectedBinding] bindings
        vector[PushConstant] push_constants
        vector[SpecConstant] spec_constants

cdef extern from *:
    Reflection reflect "lcpy_door::reflect"(const string& bytes) except +translate nogil
    string kind_name "lcpy_door::kind_name"(const ReflectedBinding& b)
    uint32_t size_axis "lcpy_door::size_axis"(const EntryPoint& e, int axis)
    uint32_t size_axis_id "lcpy_door::size_axis_id"(const EntryPoint& e, int axis)

cdef extern from "spirv/assemble.h" namespace "lcpy::spirv" nogil:
    uint32_t version_of_environment(const string& name)

cdef extern from "spirv/disassemble.h" namespace "lcpy::spirv" nogil:
    cdef cppclass DisassembleOptions:
        cbool raw_ids
        cbool indent
        cbool header
        cbool offsets
        cbool comments
        cbool colors
        cbool nested
        cbool reorder
    string disassemble(
        const vector[uint32_t]& words, const DisassembleOptions& options) except +translate

cdef extern from "spirv/validate.h" namespace "lcpy::spirv" nogil:
    cbool can_validate(const string& library)
