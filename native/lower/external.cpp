// pass_external: which calls of external functions a target can make by their text, and which by
// their body.
#include "base/error.h"
#include "lower/lower.h"
#include "lower/rewrite.h"

namespace lcpy {
namespace {

// Leaves nothing of a body that nobody runs but an end.
void empty_body(KernelDescriptor& d, FunctionId f) {
  lower::drop_body(d, d.functions[f.value].body);
  KernelBuilder b(d);
  b.set_insertion(d.functions[f.value].body);
  b.terminate(Op::Unreachable);
}

std::string remedy(std::string_view language) {
  if (language.empty()) return "use a device that has one";
  return std::string("a text: lc.external(") + std::string(language) + "=...)";
}

}  // namespace

void pass_external(KernelDescriptor& d, std::string_view language, std::string_view target) {
  if (d.externals.empty()) return;
  std::vector<Diagnostic> faults;
  walk_functions(d, [&](OpId id, const Operation& o) {
    if (o.op != Op::External) return;
    const ExternalFunction& e = d.external_of(o);
    if (e.text(language)) return;
    if (e.has_body)
      d.op(id).op = Op::Call;
    else
      faults.push_back(make_diagnostic(Diag::external_missing, o.span,
                                       {e.symbol, target, remedy(language)}));
  });
  if (!faults.empty()) throw UnsupportedError(std::move(faults));
  for (size_t f = 1; f < d.functions.size(); f++) {
    Function& function = d.functions[f];
    if (function.external == Function::kNotExternal) continue;
    if (d.externals[function.external].text(language))
      empty_body(d, FunctionId(f));
    else
      function.external = Function::kNotExternal;
  }
  // What only the bodies that went away used must not ask anything of the target.
  remove_dead(d);
}

}  // namespace lcpy
