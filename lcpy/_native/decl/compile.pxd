# api/compile.h: AST in, descriptor and target code out.
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from lcpy._native.decl.builder cimport FunctionBuilder
from lcpy._native.decl.errors cimport translate
from lcpy._native.decl.kernel cimport KernelDescriptor, SharedDescriptor

cdef extern from "emit/emit.h" namespace "lcpy" nogil:
    cdef cppclass VulkanTarget:
        uint32_t version
        uint32_t block_x
        uint32_t own_functions

    cbool set_flag(VulkanTarget& target, const string& name, cbool value)
    vector[pair[string, cbool]] flags_of(const VulkanTarget& target)

    cbool indexes_arguments "lcpy::indexes_arguments"(const KernelDescriptor& d) except +translate
    vector[cbool] counted_in_32_bits "lcpy::counted_in_32_bits"(
        const KernelDescriptor& d) except +translate

    cdef cppclass CSpirvModule "lcpy::SpirvModule":
        vector[uint32_t] words
        vector[string] capabilities
        vector[string] extensions
        uint64_t shared_bytes

    cdef cppclass OpenclTarget:
        uint32_t version
        cbool fp64
        cbool fp16
        cbool int64_atomics
        cbool ptx
        cbool restrict_
        cbool subgroups
        cbool subgroup_vote
        cbool subgroup_ballot
        cbool subgroup_arithmetic
        cbool subgroup_shuffle
        cbool clock
        cbool correct_divide_sqrt
        uint32_t own_functions
        cbool own_double_functions

    cdef cppclass CudaTarget:
        uint32_t arch
        cbool fold
        cbool restrict_

    string opencl_build_options(const KernelDescriptor& d,
                                const OpenclTarget& target) except +translate
    string cuda_build_options(const KernelDescriptor& d, const CudaTarget& target) except +translate
    uint64_t cuda_dynamic_shared(const KernelDescriptor& d)

cdef extern from *:
    """
    #include <memory>
    #include <string>
    #include <vector>
    #include "api/compile.h"
    namespace lcpy_door {
    static std::vector<std::string> own_function_names() {
      std::vector<std::string> names;
      for (std::string_view name : lcpy::own_function_names()) names.emplace_back(name);
      return names;
    }
    static std::shared_ptr<const lcpy::KernelDescriptor> lower(
        const lcpy::ast::FunctionBuilder& builder, int math, int opt, bool ragged,
        bool view_offsets, bool bounds) {
      lcpy::LowerOptions options;
      options.math = static_cast<lcpy::MathMode>(math);
      options.opt = opt;
      options.ragged = ragged;
      options.view_offsets = view_offsets;
      options.bounds = bounds;
      return std::make_shared<lcpy::KernelDescriptor>(lcpy::api::lower(builder, options));
    }
    // `places` holds set and binding of each slot in turn, then of the argument block.
    static lcpy::SpirvModule emit_spirv(const lcpy::KernelDescriptor& d,
                                        const std::vector<uint32_t>& places, int block,
                                        const lcpy::VulkanTarget& target) {
      lcpy::BindingPlan plan;
      for (size_t i = 0; i + 3 < places.size(); i += 2)
        plan.slots.push_back({places[i], places[i + 1]});
      plan.block = static_cast<lcpy::BindingPlan::Block>(block);
      plan.block_place = {places[places.size() - 2], places[places.size() - 1]};
      return lcpy::api::spirv(d, plan, target);
    }
    }  // namespace lcpy_door
    """
    vector[string] own_function_names "lcpy_door::own_function_names"()
    SharedDescriptor lower "lcpy_door::lower"(const FunctionBuilder& builder, int math, int opt,
        cbool ragged, cbool view_offsets, cbool bounds) except +translate nogil
    CSpirvModule emit_spirv "lcpy_door::emit_spirv"(const KernelDescriptor& d,
        const vector[uint32_t]& places, int block,
        const VulkanTarget& target) except +translate nogil
    string emit_opencl "lcpy::api::opencl"(const KernelDescriptor& d,
        const OpenclTarget& target) except +translate nogil
    string emit_cuda "lcpy::api::cuda"(const KernelDescriptor& d,
        const CudaTarget& target) except +translate nogil
