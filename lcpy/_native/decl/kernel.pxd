# kernel/descriptor.h, as far as the door needs it.
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from lcpy._native.decl.errors cimport Span, translate
from lcpy._native.decl.types cimport CType

cdef extern from "kernel/descriptor.h" namespace "lcpy" nogil:
    cdef cppclass Slot:
        string name
        CType type
        uint32_t number
        cbool atomics
        cbool length_used
        cbool extents_used

    cdef cppclass Site:
        string text
        vector[CType] types
        Span span

    cdef cppclass KernelDescriptor:
        string name
        vector[Slot] slots
        vector[Site] sites
        cbool view_offsets
        cbool uses_barrier() except +translate
        cbool uses_warp() except +translate
        cbool uses_shared() except +translate
        uint64_t shared_bytes() except +translate
        uint64_t hash() except +translate

    cdef cppclass ArgumentEntry "lcpy::ArgumentBlock::Entry":
        uint32_t value
        uint32_t length
        uint32_t extents
        uint32_t base

    cdef cppclass ArgumentBlock:
        vector[ArgumentEntry] entries
        uint32_t size

    ArgumentBlock argument_block(const KernelDescriptor& d) except +translate
    string to_text(const KernelDescriptor& d) except +translate

cdef extern from "base/source.h" namespace "lcpy" nogil:
    string source_name(uint32_t file) except +translate
    string source_line(uint32_t file, uint32_t line) except +translate

cdef extern from "kernel/report.h" namespace "lcpy" nogil:
    uint32_t kReportSite
    uint32_t kReportLaunch
    uint32_t kReportThread
    uint32_t kReportValues
    uint32_t kReportCount
    uint32_t kReportUsed
    uint32_t kReportLost
    uint32_t kReportHeader
    uint32_t kLineHeader

# What Cython cannot say: enumerations by number, arrays, and shared ownership of a descriptor.
cdef extern from *:
    """
    #include <memory>
    #include <string>
    #include "kernel/descriptor.h"
    namespace lcpy_door {
    using SharedDescriptor = std::shared_ptr<const lcpy::KernelDescriptor>;
    static SharedDescriptor parse_descriptor(const std::string& text) {
      auto made = std::make_shared<lcpy::KernelDescriptor>(lcpy::parse_kernel(text));
      auto violations = lcpy::verify(*made);
      if (!violations.empty())
        throw lcpy::LoadError("kernel text: " + violations[0].path + ": " + violations[0].message);
      return made;
    }
    static int slot_memory(const lcpy::Slot& s) { return static_cast<int>(s.memory); }
    static int slot_access(const lcpy::Slot& s) { return static_cast<int>(s.access); }
    static uint32_t block_axis(const lcpy::KernelDescriptor& d, int i) { return d.block_size[i]; }
    static int site_kind(const lcpy::Site& s) { return static_cast<int>(s.kind); }
    static uint32_t report_tag(const lcpy::KernelDescriptor& d) { return d.report_tag().value; }
    static int math_mode(const lcpy::KernelDescriptor& d) { return static_cast<int>(d.math); }
    }  // namespace lcpy_door
    """
    ctypedef shared_ptr[const KernelDescriptor] SharedDescriptor "lcpy_door::SharedDescriptor"
    SharedDescriptor parse_descriptor "lcpy_door::parse_descriptor"(
        const string& text) except +translate nogil
    int slot_memory "lcpy_door::slot_memory"(const Slot& s)
    int slot_access "lcpy_door::slot_access"(const Slot& s)
    uint32_t block_axis "lcpy_door::block_axis"(const KernelDescriptor& d, int i)
    int site_kind "lcpy_door::site_kind"(const Site& s)
    uint32_t report_tag "lcpy_door::report_tag"(const KernelDescriptor& d)
    int math_mode "lcpy_door::math_mode"(const KernelDescriptor& d)
