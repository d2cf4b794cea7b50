// emit_cuda: preflight, expansion, text. And how to build and launch it.
#include <vector>

#include "base/error.h"
#include "emit/clike/emitter.h"
#include "emit/cuda/dialect.h"
#include "kernel/walk.h"
#include "lower/lower.h"

namespace lcpy {
namespace {

constexpr const char* kTarget = "CUDA";
constexpr uint64_t kStaticShared = 48 * 1024;
constexpr uint64_t kParameterBytes = 32764;  // since CUDA 12.1, from compute capability 7.0

// What no CUDA device has, by name and all at once; and whether there is a float16.
class Preflight {
 public:
  explicit Preflight(const KernelDescriptor& d) : d_(d) {}

  void run() {
    for (const Slot& slot : d_.slots) type(slot.type, slot.span);
    walk_functions(d_, [&](OpId, const Operation& op) { operation(op); });
    for (const Function& f : d_.functions)
      for (ValueId p : f.params) type(d_.type_of(p), f.span);
    parameters();
    if (!faults_.empty()) throw UnsupportedError(std::move(faults_));
  }

  bool halves() const { return halves_; }

 private:
  void parameters() {
    uint64_t bytes = argument_block(d_).size;
    for (const Slot& slot : d_.slots)
      if (slot.memory == MemoryClass::Global) bytes += 8;
    if (bytes > kParameterBytes)
      fault(Diag::limit_exceeded, d_.functions[0].span,
            {"the size of the arguments", std::to_string(bytes) + " bytes", kTarget,
             std::to_string(kParameterBytes)});
  }

  void operation(const Operation& op) {
    const OpRow& row = op_row(op.op);
    if (row.level == OpLevel::Refused)
      fault(Diag::op_unsupported, op.span, {row.name, kTarget, row.reason});
    for (uint32_t i = 0; i < op.result_count; i++) type(d_.type_of(d_.result(op, i)), op.span);
    for (Operand o : d_.operands_of(op))
      if (o.is_value() && d_.is_constant(o.value())) type(d_.type_of(o.value()), op.span);
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
      halves_ = halves_ || t.scalar() == Scalar::Float16;
    } else {
      fault(Diag::op_unsupported, span,
            {t.description(), kTarget, "textures, bindless arrays and accels are not there yet"});
    }
  }

  void fault(Diag code, Span span, std::initializer_list<std::string_view> args) {
    faults_.push_back(make_diagnostic(code, span, args));
  }

  const KernelDescriptor& d_;
  std::vector<bool> seen_;  // by type index
  std::vector<Diagnostic> faults_;
  bool halves_ = false;
};

}  // namespace

std::string emit_cuda(const KernelDescriptor& whole, const CudaTarget& target) {
  KernelDescriptor resolved;
  if (!whole.externals.empty()) {
    resolved = whole;
    pass_external(resolved, "cuda", "CUDA");
  }
  const KernelDescriptor& d = whole.externals.empty() ? whole : resolved;
  Preflight preflight(d);
  preflight.run();
  cuda::CudaDialect dialect(d, target, preflight.halves());
  KernelDescriptor expanded = d;
  OwnFunctions own;
  own.float16 = true;
  pass_expand(expanded, dialect.native(), own);
  return clike::Emitter(expanded, dialect).emit();
}

// Of the compiler's defaults only contraction is not strict's; all are said, whatever the defaults.
std::string cuda_build_options(const KernelDescriptor& d, const CudaTarget&) {
  std::string options = "--std=c++17 -w";
  if (d.math == MathMode::Fast) return options + " --use_fast_math";
  options += " --ftz=false --prec-div=true --prec-sqrt=true";
  return options + (d.math == MathMode::Strict ? " --fmad=false" : " --fmad=true");
}

uint64_t cuda_dynamic_shared(const KernelDescriptor& d) {
  const uint64_t bytes = d.shared_bytes();
  return bytes > kStaticShared ? bytes : 0;
}

}  // namespace lcpy
