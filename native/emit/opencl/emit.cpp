// emit_opencl: preflight, expansion, text. And the options that a driver is to build it with.
#include <vector>

#include "base/error.h"
#include "emit/clike/emitter.h"
#include "emit/opencl/dialect.h"
#include "kernel/walk.h"
#include "lower/lower.h"

namespace lcpy {
namespace {

constexpr const char* kTarget = "OpenCL";

// Which scalars and atomics the kernel uses, and what the device lacks of them.
class Preflight {
 public:
  Preflight(const KernelDescriptor& d, const OpenclTarget& target) : d_(d), target_(target) {}

  void run() {
    for (const Slot& slot : d_.slots) type(slot.type, slot.span);
    walk_functions(d_, [&](OpId, const Operation& op) { operation(op); });
    for (const Function& f : d_.functions)
      for (ValueId p : f.params) type(d_.type_of(p), f.span);
    if (!faults_.empty()) throw UnsupportedError(std::move(faults_));
  }

  bool doubles() const { return doubles_; }
  bool halves() const { return halves_; }
  bool long_atomics() const { return long_atomics_; }

 private:
  void operation(const Operation& op) {
    const OpRow& row = op_row(op.op);
    if (row.level == OpLevel::Refused)
      fault(Diag::op_unsupported, op.span, {row.name, kTarget, row.reason});
    for (uint32_t i = 0; i < op.result_count; i++) type(d_.type_of(d_.result(op, i)), op.span);
    for (Operand o : d_.operands_of(op))
      if (o.is_value() && d_.is_constant(o.value())) type(d_.type_of(o.value()), op.span);
    if (row.category == OpCategory::Atomic) atomic(op, row);
    if (op.op == Op::Clock && !target_.clock)
      fault(Diag::feature_missing, op.span, {"lc.clock", "cl_khr_kernel_clock"});
  }

  void atomic(const Operation& op, const OpRow& row) {
    const auto operands = d_.operands_of(op);
    const ValueId value = op.result_count ? op.first_result : operands[1].value();
    const bool plain = op.op == Op::AtomicLoad || op.op == Op::AtomicStore;
    if (plain || scalar_size(d_.type_of(value).scalar()) < 8) return;
    long_atomics_ = true;
    if (!target_.int64_atomics)
      fault(Diag::feature_missing, op.span,
            {std::string(row.name) + " on 64 bits",
             "cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics"});
  }

  void type(Type t, Span span) {
    if (t.is_void()) return;
    if (seen_.size() <= t.index()) seen_.resize(t.index() + 1);
    if (seen_[t.index()]) return;
    seen_[t.index()] = true;
    if (t.is_struct()) {
      for (Type member : t.members()) type(member, span);
    } else if (t.is_array() || t.is_buffer()) {
      type(t.element(), span);
    } else if (t.is_basic()) {
      scalar(t.scalar(), span);
    } else {
      fault(Diag::op_unsupported, span,
            {t.description(), kTarget, "textures, bindless arrays and accels are not there yet"});
    }
  }

  void scalar(Scalar s, Span span) {
    if (s == Scalar::Float64 && !doubles_) {
      doubles_ = true;
      if (!target_.fp64) fault(Diag::feature_missing, span, {"double", "cl_khr_fp64"});
    } else if (s == Scalar::Float16 && !halves_) {
      halves_ = true;
    }
  }

  void fault(Diag code, Span span, std::initializer_list<std::string_view> args) {
    faults_.push_back(make_diagnostic(code, span, args));
  }

  const KernelDescriptor& d_;
  const OpenclTarget& target_;
  std::vector<bool> seen_;  // by type index
  std::vector<Diagnostic> faults_;
  bool doubles_ = false, halves_ = false, long_atomics_ = false;
};

// Which relative of cl_khr_subgroups each warp operation is of, expanded ones included.
void check_warp(const KernelDescriptor& d, const OpenclTarget& target) {
  std::vector<Diagnostic> faults;
  const auto need = [&](const Operation& op, bool has, const char* extension) {
    if (!has)
      faults.push_back(
          make_diagnostic(Diag::feature_missing, op.span, {op_row(op.op).name, extension}));
  };
  walk_functions(d, [&](OpId, const Operation& op) {
    if (op_row(op.op).category != OpCategory::Warp) return;
    need(op, target.subgroups, "cl_khr_subgroups");
    if (!target.subgroups) return;
    switch (op.op) {
      case Op::WarpLaneId:
      case Op::WarpSize:
        return;
      case Op::WarpIsFirst:
      case Op::WarpAll:
      case Op::WarpAny:
        return need(op, target.subgroup_vote, "cl_khr_subgroup_non_uniform_vote");
      case Op::WarpReadLane:
        need(op, target.subgroup_shuffle, "cl_khr_subgroup_shuffle");
        return need(op, target.subgroup_ballot, "cl_khr_subgroup_ballot");
      case Op::WarpFirstLane:
      case Op::WarpBallot:
      case Op::WarpCount:
      case Op::WarpPrefixCount:
      case Op::WarpReadFirst:
        return need(op, target.subgroup_ballot, "cl_khr_subgroup_ballot");
      default:
        return need(op, target.subgroup_arithmetic, "cl_khr_subgroup_non_uniform_arithmetic");
    }
  });
  if (!faults.empty()) throw UnsupportedError(std::move(faults));
}

}  // namespace

std::string emit_opencl(const KernelDescriptor& whole, const OpenclTarget& target) {
  KernelDescriptor resolved;
  if (!whole.externals.empty()) {
    resolved = whole;
    pass_external(resolved, "opencl", kTarget);
  }
  const KernelDescriptor& d = whole.externals.empty() ? whole : resolved;
  Preflight preflight(d, target);
  preflight.run();
  const bool halves = preflight.halves() && target.fp16;
  opencl::OpenclDialect dialect(target, preflight.doubles(), halves, preflight.long_atomics());
  KernelDescriptor expanded = d;
  pass_sequential(expanded);
  if (target.ptx) {
    pass_split(expanded);
    pass_unroll(expanded);
  }
  if (!target.fp16) pass_widen(expanded);
  OwnFunctions own;
  own.float32 = target.own_functions;
  own.float16 = true;
  own.float64 = target.own_double_functions;
  pass_expand(expanded, dialect.native(), own);
  if (expanded.uses_warp()) check_warp(expanded, target);
  return clike::Emitter(expanded, dialect).emit();
}

std::string opencl_build_options(const KernelDescriptor& d, const OpenclTarget& target) {
  std::string options = target.version >= 30   ? "-cl-std=CL3.0"
                        : target.version >= 20 ? "-cl-std=CL2.0"
                                               : "-cl-std=CL1.2";
  if (d.math == MathMode::Fast) options += " -cl-fast-relaxed-math -cl-mad-enable";
  if (d.math != MathMode::Fast && target.correct_divide_sqrt)
    options += " -cl-fp32-correctly-rounded-divide-sqrt";
  return options;
}

}  // namespace lcpy
