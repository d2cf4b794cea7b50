// The whole graph as JSON, for people and tools: flat lists, nodes by their index.
#include <cmath>
#include <map>

#include "ast/build.h"
#include "ast/visit.h"
#include "base/source.h"

namespace lcpy::ast {
namespace {

constexpr std::string_view kExprNames[] = {
#define EXPR(name, doc) #name,
#define STMT(name, doc)
#include "ast/node.def"
#undef EXPR
#undef STMT
};
constexpr std::string_view kStmtNames[] = {
#define EXPR(name, doc)
#define STMT(name, doc) #name,
#include "ast/node.def"
#undef EXPR
#undef STMT
};
constexpr std::string_view kVariableNames[] = {"Local", "Shared", "Argument", "Reference",
                                               "Resource"};
constexpr std::string_view kUsageNames[] = {"none", "read", "write", "read_write"};

class Writer {
 public:
  std::string take() { return std::move(out_); }

  void object(char open) {
    separate();
    out_ += open;
    first_ = true;
  }
  void close(char c) {
    out_ += c;
    first_ = false;
  }
  void key(std::string_view name) {
    separate();
    quote(name);
    out_ += ':';
    first_ = true;
  }
  void text(std::string_view s) {
    separate();
    quote(s);
  }
  void number(uint64_t n) { raw(std::to_string(n)); }
  void raw(std::string_view s) {
    separate();
    out_ += s;
  }
  void field(std::string_view name, std::string_view s) {
    key(name);
    text(s);
  }
  void field(std::string_view name, uint64_t n) {
    key(name);
    number(n);
  }

 private:
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  void quote(std::string_view s) {
    out_ += '"';
    for (char c : s) {
      auto u = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (u < 0x20) {
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\u%04x", u);
        out_ += escaped;
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }

  std::string out_;
  bool first_ = true;
};

class Exporter {
 public:
  explicit Exporter(const FunctionBuilder& root) : root_(root) {}

  std::string run() {
    collect(root_);
    w_.object('{');
    w_.field("format", "lcpy-ast-1");
    w_.field("root", numbers_.at(&root_));
    w_.key("functions");
    w_.object('[');
    for (const FunctionBuilder* f : order_) function(*f);
    w_.close(']');
    w_.close('}');
    return w_.take();
  }

 private:
  void collect(const FunctionBuilder& f) {
    if (numbers_.count(&f)) return;
    for (const auto& c : f.callees()) collect(*c);
    numbers_[&f] = order_.size();
    order_.push_back(&f);
  }

  void span(Span s) {
    if (!s.known()) return;
    w_.key("at");
    w_.object('[');
    w_.text(source_name(s.file));
    for (uint32_t n :
         {s.line, static_cast<uint32_t>(s.column), static_cast<uint32_t>(s.end_column)}) {
      w_.number(n);
    }
    w_.close(']');
  }

  void function(const FunctionBuilder& f) {
    bool kernel = f.kind() == FunctionBuilder::Kind::Kernel;
    w_.object('{');
    w_.field("name", f.name());
    w_.field("kind", kernel ? "kernel" : "callable");
    if (f.finished()) {
      char hash[24];
      std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(f.hash()));
      w_.field("hash", hash);
    }
    w_.field("returns", f.return_type().description());
    if (kernel) list("block_size", f.block_size(), [&](uint32_t n) { w_.number(n); });
    list("arguments", f.arguments(), [&](VariableId v) { w_.number(v.value); });
    list("variables", f.variables(), [&](const Variable& v) { variable(v); });
    if (f.external()) external(*f.external());
    list("callees", f.callees(), [&](const auto& c) { w_.number(numbers_.at(c.get())); });
    w_.key("expressions");
    w_.object('[');
    for (uint32_t i = 0; i < f.expr_count(); ++i) expression(f, ExprId(i));
    w_.close(']');
    w_.key("body");
    scope(f, f.body());
    w_.close('}');
  }

  template <class Range, class Each>
  void list(std::string_view name, const Range& range, Each&& each) {
    w_.key(name);
    w_.object('[');
    for (const auto& item : range) each(item);
    w_.close(']');
  }

  void external(const External& e) {
    w_.key("external");
    w_.object('{');
    for (const auto& [language, source] : e.texts) w_.field(language, source);
    list("usages", e.usages, [&](Usage u) { w_.text(kUsageNames[static_cast<int>(u)]); });
    w_.field("body", e.has_body ? 1 : 0);
    w_.close('}');
  }

  void variable(const Variable& v) {
    w_.object('{');
    w_.field("name", v.name);
    w_.field("kind", kVariableNames[static_cast<int>(v.kind)]);
    w_.field("type", v.type.description());
    w_.field("usage", kUsageNames[static_cast<int>(v.usage)]);
    span(v.span);
    w_.close('}');
  }

  void literal(const ExprNode& n) {
    w_.key("value");
    ScalarClass cls = scalar_class(n.type.scalar());
    if (cls == ScalarClass::Bool) {
      w_.raw(n.value.u ? "true" : "false");
    } else if (cls == ScalarClass::Signed && !n.is_unsigned) {
      w_.raw(std::to_string(n.value.i));
    } else if (cls != ScalarClass::Float) {
      w_.number(n.value.u);
    } else if (std::isfinite(n.value.f)) {
      char text[32];
      std::snprintf(text, sizeof text, "%.17g", n.value.f);
      w_.raw(text);
    } else {
      w_.text(std::isnan(n.value.f) ? "nan" : n.value.f > 0 ? "inf" : "-inf");
    }
  }

  void expression(const FunctionBuilder& f, ExprId id) {
    const ExprNode& n = f.expr(id);
    w_.object('{');
    w_.field("kind", kExprNames[static_cast<int>(n.kind)]);
    w_.field("type", n.type.description());
    bool has_op =
        n.kind == ExprKind::Unary || n.kind == ExprKind::Binary || n.kind == ExprKind::Call;
    if (has_op) w_.field("op", op_row(n.op).name);
    if (n.kind == ExprKind::Literal) literal(n);
    if (n.kind == ExprKind::Constant) constant(f, n);
    if (n.kind == ExprKind::Ref) w_.field("variable", n.index);
    if (n.kind == ExprKind::Member) w_.field("member", n.index);
    if (n.kind == ExprKind::CustomCall || n.kind == ExprKind::ExternalCall)
      w_.field("callee", n.index);
    if (n.kind == ExprKind::Swizzle) {
      std::string lanes;
      for (uint32_t i = 0; i < n.count; ++i) lanes += "xyzw"[n.index >> (4 * i) & 3];
      w_.field("lanes", lanes);
    }
    w_.key("operands");
    w_.object('[');
    each_child(f, n, [&](ExprId child) { w_.number(child.value); });
    w_.close(']');
    span(n.span);
    w_.close('}');
  }

  void constant(const FunctionBuilder& f, const ExprNode& n) {
    std::string hex;
    for (std::byte b : f.constant_bytes(n)) {
      hex += "0123456789abcdef"[static_cast<int>(b) >> 4];
      hex += "0123456789abcdef"[static_cast<int>(b) & 15];
    }
    w_.field("bytes", hex);
  }

  void scope(const FunctionBuilder& f, ScopeId id) {
    w_.object('[');
    for (StmtId s : f.scope(id).statements) statement(f, f.stmt(s));
    w_.close(']');
  }

  void statement(const FunctionBuilder& f, const StmtNode& n) {
    w_.object('{');
    w_.field("kind", kStmtNames[static_cast<int>(n.kind)]);
    if (n.variable) w_.field("variable", n.variable.value);
    if (n.text != 0) w_.field("text", f.text_of(n));
    w_.key("expressions");
    w_.object('[');
    for (ExprId e : {n.a, n.b, n.c}) {
      if (e) w_.number(e.value);
    }
    for (ExprId e : f.args(n.extra_begin, n.extra_count)) w_.number(e.value);
    w_.close(']');
    if (n.scope) {
      w_.key("scope");
      scope(f, n.scope);
    }
    if (n.other) {
      w_.key("other");
      scope(f, n.other);
    }
    span(n.span);
    w_.close('}');
  }

  const FunctionBuilder& root_;
  Writer w_;
  std::map<const FunctionBuilder*, size_t> numbers_;
  std::vector<const FunctionBuilder*> order_;
};

}  // namespace

std::string FunctionBuilder::json() const { return Exporter(*this).run(); }

}  // namespace lcpy::ast
