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

// The user's mistake, though verify() knows the certain cases too. Looked at with callables
// inlined, whatever the options, so that a program is judged alike each time.
void refuse_divergent_barriers(const KernelDescriptor& d, bool certain_only) {
  std::vector<DivergentBarrier> found;
  if (d.functions.size() > 1 && d.uses_barrier()) {
    KernelDescriptor inlined = d;
    pass_inline(inlined);
    found = divergent_barriers(inlined, certain_only);
  } else {
    found = divergent_barriers(d, certain_only);
  }
  std::vector<Diagnostic> all;
  for (const DivergentBarrier& b : found) {
    all.push_back(make_diagnostic(Diag::divergent_barrier, b.barrier));
    all.back().notes.push_back({b.condition, "the threads of a block part here"});
  }
  if (!all.empty()) throw CompileError(std::move(all));
}

bool reports(const KernelDescriptor& d) { return !d.sites.empty(); }

}  // namespace

KernelDescriptor lower_kernel(const ast::FunctionBuilder& kernel, const LowerOptions& options) {
  KernelDescriptor d;
  Pipeline p(d, options);
  p.stage("lower", [&] {
    d = lower_ast(kernel, options);
    refuse_divergent_barriers(d, false);
  });
  if (options.opt > 0) p.stage("inline", [&] { pass_inline(d); });
  if (reports(d)) {
    // Before traps become branches: what is known to hold, and what is checked twice.
    if (options.opt > 0) {
      p.stage("fold", [&] { pass_fold(d); });
      p.stage("simplify", [&] { pass_simplify(d); });
      p.stage("common", [&] { pass_common(d); });
    } else if (d.uses_barrier()) {
      // PoCL miscompiles functions with barriers that threads without effects go through.
      p.stage("inline", [&] { pass_inline(d); });
    }
    p.stage("report", [&] { pass_report(d, options.ragged); });
  }
  p.stage("guard", [&] { pass_guard(d, options.ragged); });
  if (options.opt > 0) {
    p.stage("fold", [&] { pass_fold(d); });
    p.stage("simplify", [&] { pass_simplify(d); });
    p.stage("common", [&] { pass_common(d); });
    p.stage("dead", [&] { pass_dead(d); });
  }
  // Passes may have made certain what was not.
  if (options.opt > 0) refuse_divergent_barriers(d, true);
  verify_or_throw(d, "the pipeline");
  return d;
}

}  // namespace lcpy
