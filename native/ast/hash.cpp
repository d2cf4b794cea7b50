// The structural hash: kinds, types, operations, values and callees; no names, no spans (but the
// place of a function whose reports name its lines), no nodes that nothing uses. Stable across
// processes, machines and versions: it is written to files.
#include "ast/build.h"
#include "ast/visit.h"
#include "base/source.h"

namespace lcpy::ast {
namespace {

class Hasher {
 public:
  Hasher(const FunctionBuilder& f, bool with_place)
      : f_(f), place_(with_place), exprs_(f.expr_count()), numbers_(f.variables().size()) {}

  uint64_t function() {
    uint64_t h = mix(1, static_cast<uint64_t>(f_.kind()));
    h = mix(h, f_.return_type().hash());
    if (f_.kind() == FunctionBuilder::Kind::Kernel) {
      for (uint32_t n : f_.block_size()) h = mix(h, n);
    }
    for (VariableId v : f_.arguments()) h = mix(h, variable(v.value));
    if (const External* e = f_.external()) h = mix(h, external(*e));
    if (place_) h = mix(h, place());
    return mix(h, scope(f_.body()));
  }

 private:
  static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 32;
    return h * 0xd6e8feb86659fd93ull;
  }

  uint64_t external(const External& e) {
    uint64_t h = text(6, f_.name());  // the texts define a function of this name
    for (const auto& [language, source] : e.texts) h = text(text(h, language), source);
    for (Usage u : e.usages) h = mix(h, static_cast<uint64_t>(u));
    return mix(h, e.has_body);
  }
  static uint64_t text(uint64_t h, std::string_view s) {
    for (char c : s) h = mix(h, static_cast<unsigned char>(c));
    return mix(h, s.size());
  }

  uint64_t place() const {
    uint64_t h = f_.span().line;
    for (char c : source_name(f_.span().file)) h = mix(h, static_cast<unsigned char>(c));
    return mix(h, f_.span().column);
  }

  // Numbered as they are met, so that unused variables do not matter.
  uint64_t variable(uint32_t index) {
    uint32_t& number = numbers_[index];
    if (number == 0) number = ++met_;
    const Variable& v = f_.variable(VariableId(index));
    return mix(mix(number, static_cast<uint64_t>(v.kind)), v.type.hash());
  }

  uint64_t scope(ScopeId id) {
    uint64_t h = 2;
    for (StmtId s : f_.scope(id).statements) {
      if (f_.stmt(s).kind != StmtKind::Comment) h = mix(h, statement(f_.stmt(s)));
    }
    return h;
  }

  uint64_t statement(const StmtNode& n) {
    uint64_t h = mix(3, static_cast<uint64_t>(n.kind) << 8 | n.hint);
    if (n.variable) h = mix(h, variable(n.variable.value));
    for (char c : f_.text_of(n)) h = mix(h, static_cast<unsigned char>(c));
    each_part(
        f_, n, [&](ExprId e) { h = mix(h, expr(e)); }, [&](ScopeId s) { h = mix(h, scope(s)); });
    return h;
  }

  uint64_t expr(ExprId id) {
    uint64_t& known = exprs_[id.value];
    if (known != 0) return known;
    const ExprNode& n = f_.expr(id);
    uint64_t h = mix(4, static_cast<uint64_t>(n.kind) << 16 | static_cast<uint64_t>(n.op));
    h = mix(h, n.type.hash());
    h = mix(h, own(n));
    each_child(f_, n, [&](ExprId child) { h = mix(h, expr(child)); });
    h |= h == 0;
    exprs_[id.value] = h;
    return h;
  }

  uint64_t own(const ExprNode& n) {
    switch (n.kind) {
      case ExprKind::Literal:
        return n.value.u;
      case ExprKind::Ref:
        return variable(n.index);
      case ExprKind::Constant: {
        uint64_t h = 5;
        for (std::byte b : f_.constant_bytes(n)) h = mix(h, static_cast<uint64_t>(b));
        return h;
      }
      case ExprKind::CustomCall:
      case ExprKind::ExternalCall:
        return f_.callees()[n.index]->hash();
      default:
        return static_cast<uint64_t>(n.count) << 32 | n.index;
    }
  }

  const FunctionBuilder& f_;
  bool place_;
  std::vector<uint64_t> exprs_;
  std::vector<uint32_t> numbers_;
  uint32_t met_ = 0;
};

}  // namespace

uint64_t Build::compute_hash() const { return Hasher(f, f.keeps_place_).function(); }

}  // namespace lcpy::ast
