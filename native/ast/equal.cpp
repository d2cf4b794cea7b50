// Structural equality of finished functions: what the hash covers, compared part by part. It
// decides whether two callables are one; the hash only speeds it up.
#include <algorithm>
#include <set>

#include "ast/build.h"
#include "ast/visit.h"

namespace lcpy::ast {
namespace {

class Comparison {
 public:
  // Pairs of callables found equal, so that chains of calls take linear time.
  using Equal = std::set<std::pair<const FunctionBuilder*, const FunctionBuilder*>>;

  Comparison(const FunctionBuilder& a, const FunctionBuilder& b, Equal& found)
      : a_(a),
        b_(b),
        found_(found),
        partners_(a.expr_count()),
        variables_(a.variables().size()),
        back_(b.variables().size()) {}

  static bool equal(const FunctionBuilder& a, const FunctionBuilder& b, Equal& found) {
    if (&a == &b || found.count({&a, &b}) != 0) return true;
    if (a.hash() != b.hash() || !Comparison(a, b, found).functions()) return false;
    found.insert({&a, &b});
    return true;
  }

  bool functions() {
    if (a_.kind() != b_.kind() || a_.return_type() != b_.return_type()) return false;
    if (a_.kind() == FunctionBuilder::Kind::Kernel && a_.block_size() != b_.block_size())
      return false;
    if (!externals()) return false;
    const auto& x = a_.arguments();
    const auto& y = b_.arguments();
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!variable(x[i].value, y[i].value)) return false;
    }
    return scope(a_.body(), b_.body());
  }

 private:
  bool externals() const {
    const External* x = a_.external();
    const External* y = b_.external();
    if (x == nullptr || y == nullptr) return x == y;
    return a_.name() == b_.name() && x->texts == y->texts && x->usages == y->usages &&
           x->has_body == y->has_body;
  }

  // Each variable of the one stands for one of the other, and the other way round.
  bool variable(uint32_t x, uint32_t y) {
    if (variables_[x] != 0 || back_[y] != 0) return variables_[x] == y + 1;
    const Variable& v = a_.variable(VariableId(x));
    const Variable& w = b_.variable(VariableId(y));
    if (v.kind != w.kind || v.type != w.type) return false;
    variables_[x] = y + 1, back_[y] = x + 1;
    return true;
  }

  bool scope(ScopeId x, ScopeId y) {
    const std::vector<StmtId> p = statements(a_, x), q = statements(b_, y);
    return std::equal(p.begin(), p.end(), q.begin(), q.end(), [&](StmtId s, StmtId t) {
      return statement(a_.stmt(s), b_.stmt(t));
    });
  }

  static std::vector<StmtId> statements(const FunctionBuilder& f, ScopeId scope) {
    std::vector<StmtId> found;
    for (StmtId s : f.scope(scope).statements) {
      if (f.stmt(s).kind != StmtKind::Comment) found.push_back(s);
    }
    return found;
  }

  bool statement(const StmtNode& m, const StmtNode& n) {
    if (m.kind != n.kind || m.hint != n.hint || a_.text_of(m) != b_.text_of(n)) return false;
    if (static_cast<bool>(m.variable) != static_cast<bool>(n.variable)) return false;
    if (m.variable && !variable(m.variable.value, n.variable.value)) return false;
    std::vector<ExprId> p, q;
    std::vector<ScopeId> s, t;
    each_part(
        a_, m, [&](ExprId e) { p.push_back(e); }, [&](ScopeId e) { s.push_back(e); });
    each_part(
        b_, n, [&](ExprId e) { q.push_back(e); }, [&](ScopeId e) { t.push_back(e); });
    return std::equal(p.begin(), p.end(), q.begin(), q.end(),
                      [&](ExprId x, ExprId y) { return expr(x, y); }) &&
           std::equal(s.begin(), s.end(), t.begin(), t.end(),
                      [&](ScopeId x, ScopeId y) { return scope(x, y); });
  }

  bool expr(ExprId x, ExprId y) {
    uint32_t& partner = partners_[x.value];
    if (partner == y.value + 1) return true;
    const ExprNode& m = a_.expr(x);
    const ExprNode& n = b_.expr(y);
    if (m.kind != n.kind || m.op != n.op || m.type != n.type || !own(m, n)) return false;
    std::vector<ExprId> p, q;
    each_child(a_, m, [&](ExprId e) { p.push_back(e); });
    each_child(b_, n, [&](ExprId e) { q.push_back(e); });
    if (!std::equal(p.begin(), p.end(), q.begin(), q.end(),
                    [&](ExprId e, ExprId f) { return expr(e, f); }))
      return false;
    partner = y.value + 1;
    return true;
  }

  bool own(const ExprNode& m, const ExprNode& n) {
    switch (m.kind) {
      case ExprKind::Literal:
        return m.value.u == n.value.u;
      case ExprKind::Ref:
        return variable(m.index, n.index);
      case ExprKind::Constant: {
        const auto p = a_.constant_bytes(m), q = b_.constant_bytes(n);
        return std::equal(p.begin(), p.end(), q.begin(), q.end());
      }
      case ExprKind::CustomCall:
      case ExprKind::ExternalCall:
        return equal(*a_.callees()[m.index], *b_.callees()[n.index], found_);
      default:
        return m.count == n.count && m.index == n.index;
    }
  }

  const FunctionBuilder& a_;
  const FunctionBuilder& b_;
  Equal& found_;
  std::vector<uint32_t> partners_;   // by expression of a: the equal one of b, plus one
  std::vector<uint32_t> variables_;  // by variable of a: that of b, plus one
  std::vector<uint32_t> back_;       // by variable of b: that of a, plus one
};

}  // namespace

bool equal(const FunctionBuilder& a, const FunctionBuilder& b) {
  Comparison::Equal found;
  return Comparison::equal(a, b, found);
}

}  // namespace lcpy::ast
