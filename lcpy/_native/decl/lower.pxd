# lower/lower.h
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr
from libcpp.pair cimport pair
from libcpp.string cimport string
from libcpp.vector cimport vector

from lcpy._native.decl.builder cimport FunctionBuilder
from lcpy._native.decl.errors cimport translate
from lcpy._native.decl.kernel cimport SharedDescriptor

cdef extern from *:
    """
    #include <memory>
    #include <string>
    #include <utility>
    #include <vector>
    #include "lower/lower.h"
    namespace lcpy_door {
    using Stages = std::vector<std::pair<std::string, std::string>>;
    // `stages` collects the dumps, so that no Python runs while the core works; null: no dumps.
    static std::shared_ptr<const lcpy::KernelDescriptor> lower(
        const lcpy::ast::FunctionBuilder& builder, int math, int opt, bool ragged,
        bool view_offsets, Stages* stages) {
      lcpy::LowerOptions options;
      options.math = static_cast<lcpy::MathMode>(math);
      options.opt = opt;
      options.ragged = ragged;
      options.view_offsets = view_offsets;
      if (stages) {
        options.dump_user = stages;
        options.dump = [](void* user, std::string_view stage, std::string_view text) {
          static_cast<Stages*>(user)->emplace_back(stage, text);
        };
      }
      return std::make_shared<lcpy::KernelDescriptor>(lcpy::lower_kernel(builder, options));
    }
    }  // namespace lcpy_door
    """
    ctypedef vector[pair[string, string]] Stages "lcpy_door::Stages"
    SharedDescriptor lower "lcpy_door::lower"(const FunctionBuilder& builder, int math, int opt,
        cbool ragged, cbool view_offsets, Stages* stages) except +translate nogil
