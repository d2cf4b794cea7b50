// The pipeline, read aloud: lower, then the passes in their order. Each stage has the name that the
// dump switch knows.
#include "base/error.h"
#include "kernel/text.h"
#include "kernel/verify.h"
#include "lower/lower.h"

namespace lcpy {
namespace {

class Pipeline {
 public:
  Pipeline(KernelDescriptor& d, const LowerOptions& options) : d_(d), options_(options) {}

  template <class Pass>
  void stage(const char* name, Pass&& pass) {
    pass();
    if (options_.verify_each) verify_or_throw(d_, name);
    if (options_.dump) options_.dump(options_.dump_user, name, to_text(d_));
  }

 private:
  KernelDescriptor& d_;
  const LowerOptions& options_;
};

// The user's mistake, though verify() knows the rule too.
void refuse_divergent_barriers(const KernelDescriptor& d) {
  std::vector<Diagnostic> all;
  for (const Violation& v : check_barriers(d))
    all.push_back(make_diagnostic(Diag::divergent_barrier, v.span));
  if (!all.empty()) throw CompileError(std::move(all));
}

}  // namespace

KernelDescriptor lower_kernel(const ast::FunctionBuilder& kernel, const LowerOptions& options) {
  KernelDescriptor d;
  Pipeline p(d, options);
  p.stage("lower", [&] {
    d = lower_ast(kernel, options);
    refuse_divergent_barriers(d);
  });
  if (options.opt > 0) p.stage("inline", [&] { pass_inline(d); });
  p.stage("guard", [&] { pass_guard(d, options.ragged); });
  if (options.opt > 0) {
    p.stage("fold", [&] { pass_fold(d); });
    p.stage("simplify", [&] { pass_simplify(d); });
    p.stage("common", [&] { pass_common(d); });
    p.stage("dead", [&] { pass_dead(d); });
  }
  verify_or_throw(d, "the pipeline");
  return d;
}

}  // namespace lcpy
