// What must be known of a function before it is lowered: which variables need memory, and which
// each loop assigns. One pass over the expressions and one over the statements.
#include "lower/lowering.h"

namespace lcpy::lower {
namespace {

constexpr uint32_t kNone = 0xffffffffu;

bool climbs(ExprKind k) {
  return k == ExprKind::Member || k == ExprKind::Swizzle || k == ExprKind::Access;
}

bool is_call(ExprKind k) { return k == ExprKind::CustomCall || k == ExprKind::ExternalCall; }

// The variable that a place lies in; kNone for values.
uint32_t root_of(const FunctionBuilder& f, uint32_t e) {
  while (climbs(f.expr(ExprId(e)).kind)) e = f.expr(ExprId(e)).a;
  const ExprNode& n = f.expr(ExprId(e));
  return n.kind == ExprKind::Ref ? n.index : kNone;
}

bool is_private(const ast::Variable& v) {
  return v.kind == VariableKind::Local || v.kind == VariableKind::Argument ||
         v.kind == VariableKind::Reference;
}

class Scanner {
 public:
  explicit Scanner(const FunctionBuilder& f) : f_(f), seen_(f.variables().size(), 0) {}

  Scan run() {
    variables();
    expressions();
    scope(f_.body());
    return std::move(out_);
  }

 private:
  void variables() {
    out_.scratch.resize(f_.variables().size());
    for (size_t i = 0; i < f_.variables().size(); i++)
      out_.scratch[i] = is_private(f_.variables()[i]) && f_.variables()[i].type.is_array();
  }

  // Operands come before what uses them, so one ascending pass sees children first.
  void expressions() {
    const size_t n = f_.expr_count();
    out_.calls.resize(n);
    for (uint32_t i = 0; i < n; i++) {
      const ExprNode& e = f_.expr(ExprId(i));
      bool calls = is_call(e.kind);
      for (uint32_t child : {e.a, e.b, e.c}) calls |= child < i && out_.calls[child];
      for (ExprId x : f_.args_of(e)) calls |= x.value < i && out_.calls[x.value];
      out_.calls[i] = calls;
      if (e.kind != ExprKind::Access) continue;
      uint64_t ignored;
      bool dynamic = false;
      for (ExprId x : f_.args_of(e)) dynamic |= !constant_integer(f_, x, ignored);
      if (!dynamic) continue;
      const uint32_t v = root_of(f_, e.a);
      if (v != kNone && is_private(f_.variables()[v])) out_.scratch[v] = true;
    }
  }

  void assigned(uint32_t v) {
    if (v != kNone && is_private(f_.variables()[v])) log_.push_back(v);
  }

  void expression(uint32_t e) {
    if (e >= f_.expr_count() || !out_.calls[e]) return;
    const ExprNode& n = f_.expr(ExprId(e));
    if (is_call(n.kind)) {
      const FunctionBuilder& callee = *f_.callees()[n.index];
      const auto args = f_.args_of(n);
      for (size_t i = 0; i < args.size(); i++) {
        const ast::Variable& p = callee.variable(callee.arguments()[i]);
        if (p.kind == VariableKind::Reference && (static_cast<int>(p.usage) & 2))
          assigned(root_of(f_, args[i].value));
      }
    }
    for (uint32_t child : {n.a, n.b, n.c})
      if (child < e) expression(child);
    for (ExprId x : f_.args_of(n)) expression(x.value);
  }

  void scope(ScopeId id) {
    if (!id) return;
    for (StmtId s : f_.scope(id).statements) statement(s);
  }

  void statement(StmtId id) {
    const StmtNode& s = f_.stmt(id);
    for (ExprId e : {s.a, s.b, s.c}) expression(e.value);
    for (ExprId e : f_.args(s.extra_begin, s.extra_count)) expression(e.value);
    if (s.kind == StmtKind::Assign) assigned(root_of(f_, s.a.value));
    const bool loop = s.kind == StmtKind::Loop || s.kind == StmtKind::For;
    const size_t mark = log_.size();
    if (s.kind == StmtKind::For) assigned(s.variable.value);
    scope(s.scope);
    scope(s.other);
    if (!loop) return;
    // What stays in the log is the set without repeats, so that an outer loop pays for each once.
    stamp_++;
    size_t kept = mark;
    for (size_t i = mark; i < log_.size(); i++) {
      const uint32_t v = log_[i];
      if (seen_[v] == stamp_) continue;
      seen_[v] = stamp_;
      log_[kept++] = v;
    }
    log_.resize(kept);
    if (id.value >= out_.loop_sets.size()) out_.loop_sets.resize(id.value + 1, kNone);
    out_.loop_sets[id.value] = static_cast<uint32_t>(out_.sets.size());
    out_.sets.emplace_back(log_.begin() + mark, log_.end());
  }

  const FunctionBuilder& f_;
  Scan out_;
  std::vector<uint32_t> log_, seen_;
  uint32_t stamp_ = 0;
};

}  // namespace

Scan scan_function(const FunctionBuilder& f) { return Scanner(f).run(); }

bool constant_integer(const FunctionBuilder& f, ExprId e, uint64_t& out) {
  const ExprNode& n = f.expr(e);
  if (!n.type.is_scalar() || !n.type.is_integer()) return false;
  if (n.kind == ExprKind::Literal) {
    out = n.value.u;
    return true;
  }
  if (n.kind != ExprKind::Constant) return false;
  const auto bytes = f.constant_bytes(n);
  uint64_t bits = 0;
  for (size_t k = 0; k < bytes.size(); k++) bits |= uint64_t(bytes[k]) << (8 * k);
  const int shift = 64 - static_cast<int>(bytes.size()) * 8;
  const bool is_signed = scalar_class(n.type.scalar()) == ScalarClass::Signed;
  out = is_signed ? static_cast<uint64_t>(static_cast<int64_t>(bits << shift) >> shift) : bits;
  return true;
}

bool is_dense(Type t) { return t.packed_size() == t.size(); }

}  // namespace lcpy::lower
