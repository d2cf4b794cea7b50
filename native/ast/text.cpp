// A readable listing: declarations, then statements with expressions written out. A node that is
// used in several places is listed once, as %n, so that the text stays as large as the graph.
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "ast/build.h"
#include "ast/visit.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

std::string float_text(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", v);
  bool plain = std::strpbrk(text, ".en") == nullptr;
  return std::string(text) + (plain ? ".0" : "");
}

std::string literal_text(const ExprNode& n) {
  switch (n.type.is_scalar() ? scalar_class(n.type.scalar()) : ScalarClass::Storage) {
    case ScalarClass::Bool:
      return n.value.u ? "True" : "False";
    case ScalarClass::Signed:
      return n.is_unsigned ? std::to_string(n.value.u) : std::to_string(n.value.i);
    case ScalarClass::Unsigned:
      return std::to_string(n.value.u) + "u";
    default:
      return float_text(n.value.f);
  }
}

class Listing {
 public:
  explicit Listing(const FunctionBuilder& f) : f_(f), uses_(f.expr_count()) {}

  std::string function() {
    count(f_.body());
    out_ = f_.kind() == FunctionBuilder::Kind::Kernel ? "kernel "
           : f_.external()                            ? "external "
                                                      : "callable ";
    out_ += f_.name() + "(";
    for (size_t i = 0; i < f_.arguments().size(); ++i) {
      if (i > 0) out_ += ", ";
      const Variable& v = f_.variable(f_.arguments()[i]);
      if (v.kind == VariableKind::Reference) out_ += "ref ";
      out_ += name(f_.arguments()[i]) + ": " + type_spelling(v.type);
    }
    out_ += ")";
    if (!f_.return_type().is_void()) out_ += " -> " + type_spelling(f_.return_type());
    out_ += "\n";
    if (f_.external())
      for (const auto& [language, source] : f_.external()->texts)
        out_ += "  text for " + language + ", " + std::to_string(source.size()) + " bytes\n";
    declarations();
    scope(f_.body());
    return std::move(out_);
  }

  // visit_expr: the text of a node.
  std::string Literal(ExprId, const ExprNode& n) { return literal_text(n); }
  std::string Constant(ExprId, const ExprNode& n) {
    return "constant " + type_spelling(n.type) + " at " + std::to_string(n.index);
  }
  std::string Ref(ExprId, const ExprNode& n) { return name(VariableId(n.index)); }
  std::string Unary(ExprId, const ExprNode& n) {
    return std::string(op_row(n.op).name) + "(" + expr(n.a) + ")";
  }
  std::string Binary(ExprId, const ExprNode& n) {
    return std::string(op_row(n.op).name) + "(" + expr(n.a) + ", " + expr(n.b) + ")";
  }
  std::string Conditional(ExprId, const ExprNode& n) {
    return "(" + expr(n.b) + " if " + expr(n.a) + " else " + expr(n.c) + ")";
  }
  std::string Member(ExprId, const ExprNode& n) {
    return expr(n.a) + ".m" + std::to_string(n.index);
  }
  std::string Swizzle(ExprId, const ExprNode& n) {
    std::string lanes;
    for (uint32_t i = 0; i < n.count; ++i) lanes += "xyzw"[n.index >> (4 * i) & 3];
    return expr(n.a) + "." + lanes;
  }
  std::string Access(ExprId, const ExprNode& n) { return expr(n.a) + "[" + list(n) + "]"; }
  std::string Call(ExprId, const ExprNode& n) {
    std::string made = n.op == Op::Make || n.op == Op::MakeStruct || n.op == Op::Zero
                           ? type_spelling(n.type)
                           : std::string(op_row(n.op).name);
    return made + "(" + list(n) + ")";
  }
  std::string CustomCall(ExprId, const ExprNode& n) {
    return f_.callees()[n.index]->name() + "(" + list(n) + ")";
  }
  std::string ExternalCall(ExprId id, const ExprNode& n) { return "external " + CustomCall(id, n); }
  std::string Cast(ExprId, const ExprNode& n) {
    return type_spelling(n.type) + "(" + expr(n.a) + ")";
  }
  std::string Bitcast(ExprId, const ExprNode& n) {
    return "bitcast(" + type_spelling(n.type) + ", " + expr(n.a) + ")";
  }
  std::string TypeIdExpr(ExprId, const ExprNode& n) { return plain("type_id", n); }
  std::string StringIdExpr(ExprId, const ExprNode& n) { return plain("string_id", n); }
  std::string FuncRef(ExprId, const ExprNode& n) { return plain("func_ref", n); }
  std::string CpuCustom(ExprId, const ExprNode& n) { return plain("cpu_custom", n); }
  std::string GpuCustom(ExprId, const ExprNode& n) { return plain("gpu_custom", n); }

  // visit_stmt: appends lines.
  void Break(StmtId, const StmtNode&) { line("break"); }
  void Continue(StmtId, const StmtNode&) { line("continue"); }
  void Return(StmtId, const StmtNode& n) { line(n.a ? "return " + expr(n.a.value) : "return"); }
  void Scope(StmtId, const StmtNode& n) { block("scope:", n.scope); }
  void If(StmtId, const StmtNode& n) {
    block("if " + expr(n.a.value) + ":", n.scope);
    if (!f_.scope(n.other).statements.empty()) block("else:", n.other);
  }
  void Loop(StmtId, const StmtNode& n) { block("loop:", n.scope); }
  void For(StmtId, const StmtNode& n) {
    block("for " + name(n.variable) + " in range(" + expr(n.a.value) + ", " + expr(n.b.value) +
              ", " + expr(n.c.value) + "):",
          n.scope);
  }
  void Switch(StmtId, const StmtNode& n) { block("match " + expr(n.a.value) + ":", n.scope); }
  void SwitchCase(StmtId, const StmtNode& n) {
    std::string values;
    for (ExprId e : f_.args(n.extra_begin, n.extra_count)) {
      values += (values.empty() ? "" : " | ") + expr(e.value);
    }
    block("case " + values + ":", n.scope);
  }
  void SwitchDefault(StmtId, const StmtNode& n) { block("case _:", n.scope); }
  void Assign(StmtId, const StmtNode& n) { line(expr(n.a.value) + " = " + expr(n.b.value)); }
  void Expr(StmtId, const StmtNode& n) { line(expr(n.a.value)); }
  void Comment(StmtId, const StmtNode& n) { line("# " + f_.text_of(n)); }
  void Print(StmtId, const StmtNode& n) {
    std::string text = "print '" + f_.text_of(n) + "'";
    for (ExprId e : f_.args(n.extra_begin, n.extra_count)) text += ", " + expr(e.value);
    line(text);
  }
  void Assert(StmtId, const StmtNode& n) {
    line("assert " + expr(n.a.value) + ", '" + f_.text_of(n) + "'");
  }
  void RayQuery(StmtId, const StmtNode& n) {
    block("ray_query " + expr(n.a.value) + ":", n.scope);
    block("on_procedural:", n.other);
  }
  void Suspend(StmtId, const StmtNode& n) { line("suspend '" + f_.text_of(n) + "'"); }
  void AutoDiff(StmtId, const StmtNode& n) { block("autodiff:", n.scope); }
  void DebugBreak(StmtId, const StmtNode&) { line("debug_break"); }

 private:
  std::string name(VariableId v) const {
    return f_.variable(v).name + "#" + std::to_string(v.value);
  }

  void declarations() {
    for (uint32_t i = 0; i < f_.variables().size(); ++i) {
      const Variable& v = f_.variables()[i];
      if (v.kind == VariableKind::Local || v.kind == VariableKind::Shared) {
        std::string kind = v.kind == VariableKind::Local ? "local " : "shared ";
        line(kind + name(VariableId(i)) + ": " + type_spelling(v.type));
      }
    }
  }

  void count(ScopeId id) {
    for (StmtId s : f_.scope(id).statements) {
      each_part(
          f_, f_.stmt(s), [&](ExprId e) { count(e); }, [&](ScopeId inner) { count(inner); });
    }
  }
  void count(ExprId id) {
    if (uses_[id.value]++ > 0) return;
    each_child(f_, f_.expr(id), [&](ExprId child) { count(child); });
  }

  std::string plain(const char* what, const ExprNode& n) {
    return std::string(what) + "(" + std::to_string(n.index) + ")";
  }

  std::string list(const ExprNode& n) {
    std::string out;
    for (ExprId e : f_.args_of(n)) out += (out.empty() ? "" : ", ") + expr(e.value);
    return out;
  }

  std::string expr(uint32_t id) {
    const ExprNode& n = f_.expr(ExprId(id));
    bool leaf =
        n.kind == ExprKind::Literal || n.kind == ExprKind::Ref || n.kind == ExprKind::Constant;
    if (leaf || uses_[id] < 2) return visit_expr(f_, ExprId(id), *this);
    std::string label = "%" + std::to_string(id);
    if (!listed_.insert(id).second) return label;
    std::string text = visit_expr(f_, ExprId(id), *this);
    line(label + " := " + text);
    return label;
  }

  void line(const std::string& text) { out_ += std::string(2 * depth_ + 2, ' ') + text + "\n"; }
  void block(const std::string& head, ScopeId id) {
    line(head);
    ++depth_;
    scope(id);
    --depth_;
  }
  void scope(ScopeId id) {
    for (StmtId s : f_.scope(id).statements) visit_stmt(f_, s, *this);
  }

  const FunctionBuilder& f_;
  std::vector<uint32_t> uses_;
  std::unordered_set<uint32_t> listed_;
  std::string out_;
  size_t depth_ = 0;
};

}  // namespace

std::string FunctionBuilder::text() const {
  std::string out;
  for (const auto& c : callees_) out += c->text() + "\n";
  return out + Listing(*this).function();
}

}  // namespace lcpy::ast
