// The door for embedders and the binding: AST in, descriptor and target code out. Reads the dump
// switch LCPY_DUMP (a comma-separated list of stage names, or "all"; text goes to stderr, or to
// files in the folder LCPY_DUMP_DIR names).
//
// Stages: ast, lower, the passes of lower/pipeline.cpp by name, kernel (the final descriptor),
// spirv (hex words), opencl, cuda (text).
#pragma once
#include <memory>
#include <string>

#include "ast/builder.h"
#include "emit/emit.h"
#include "kernel/descriptor.h"
#include "lower/lower.h"

namespace lcpy::api {

KernelDescriptor lower(const ast::FunctionBuilder& kernel, LowerOptions options);
SpirvModule spirv(const KernelDescriptor& d, const BindingPlan& plan, const VulkanTarget& target);
std::string opencl(const KernelDescriptor& d, const OpenclTarget& target);
std::string cuda(const KernelDescriptor& d, const CudaTarget& target);

}  // namespace lcpy::api
