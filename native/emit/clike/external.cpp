// External functions: each text once, under a name of ours, and a function around each that has the
// form of a callable: references become results.
#include "base/error.h"
#include "emit/clike/emitter.h"

namespace lcpy::clike {

// The first external function with this text gives the name its number.
void Emitter::external_name(Text& t, const ExternalFunction& e) const {
  const std::string* text = e.text(dialect_.language());
  LCPY_CHECK(text != nullptr);
  size_t first = 0;
  while (d_.externals[first].symbol != e.symbol ||
         d_.externals[first].text(dialect_.language()) == nullptr ||
         *d_.externals[first].text(dialect_.language()) != *text)
    first++;
  t << "lcpy_x" << first << '_' << e.symbol;
}

// The text's own name for the function is a macro while the text lasts: two texts may use one name,
// and it may be one of the language's.
void Emitter::external_texts(Text& t) const {
  for (size_t i = 0; i < d_.externals.size(); i++) {
    const ExternalFunction& e = d_.externals[i];
    const std::string* text = e.text(dialect_.language());
    Text name, first;
    if (text == nullptr) continue;
    external_name(name, e);
    first << "lcpy_x" << i << '_' << e.symbol;
    if (name.str() != first.str()) continue;
    t << "#define " << e.symbol << ' ' << name << '\n' << *text << "\n#undef " << e.symbol << '\n';
  }
}

void Emitter::define_external(FunctionId f) {
  const Function& function = d_.functions[f.value];
  const ExternalFunction& e = external(f);
  using Kind = ExternalFunction::Kind;
  out_ << '\n';
  function_head(out_, f);
  out_ << " {\n";
  Text call, results;
  const auto result = [&] { results << (results.size() ? ", " : ""); };
  external_name(call, e);
  call << '(';
  for (size_t i = 0; i < e.parameters.size(); i++) {
    const ExternalFunction::Parameter& p = e.parameters[i];
    if (i) call << ", ";
    if (p.kind == Kind::Buffer) {
      call << slot_names_[p.index];
    } else if (p.kind == Kind::Value) {
      call << 'v' << function.params[p.index].value;
    } else {
      const uint32_t v = function.params[p.index].value;
      out_ << "  ";
      types_.value_name(out_, d_.type_of(function.params[p.index]));
      out_ << " r" << v << " = v" << v << ";\n";
      call << "&r" << v;
    }
  }
  call << ')';
  out_ << "  ";
  if (e.returns) {
    types_.value_name(out_, function.results[0]);
    out_ << " result = ";
    result();
    results << "result";
  }
  out_ << call << ";\n";
  for (const ExternalFunction::Parameter& p : e.parameters) {
    const bool written = static_cast<int>(p.access) & static_cast<int>(Access::Write);
    if (p.kind != Kind::Reference || !written) continue;
    result();
    results << 'r' << function.params[p.index].value;
  }
  if (function.results.size() > 1)
    out_ << "  return " << (traits_.cpp ? "" : "(") << 'R' << f.value << (traits_.cpp ? "" : ")")
         << '{' << results << "};\n";
  else if (!function.results.empty())
    out_ << "  return " << results << ";\n";
  out_ << "}\n";
}

}  // namespace lcpy::clike
