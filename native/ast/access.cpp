// Members, swizzles, elements, and what can be said about the places that they form.
#include <algorithm>

#include "ast/build.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

// Lane codes of "xyzw" or "rgba"; false when the letters are not lanes of the vector or are mixed.
bool parse_swizzle(std::string_view text, uint32_t lanes, uint32_t& code) {
  if (text.empty() || text.size() > 4) return false;
  code = 0;
  for (std::string_view letters : {std::string_view("xyzw"), std::string_view("rgba")}) {
    bool all = true;
    uint32_t out = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      size_t lane = letters.find(text[i]);
      all &= lane < lanes;
      out |= static_cast<uint32_t>(lane & 15) << (4 * i);
    }
    if (!all) continue;
    code = out;
    return true;
  }
  return false;
}

// One step of a place, from its variable down: what selects the part.
struct Step {
  enum class Kind : uint8_t { Member, Lanes, Element } kind;
  uint64_t index = 0;            // member; mask of lanes; constant element
  bool known = true;             // Element: by a constant
  const ExprNode* by = nullptr;  // Element: by this expression
};

void add_element(const Build& b, uint32_t index_expr, bool lane, std::vector<Step>& out) {
  const ExprNode& n = b.node(b.id(index_expr));
  if (n.kind != ExprKind::Literal) {
    out.push_back({Step::Kind::Element, 0, false, &n});
  } else if (lane) {
    out.push_back({Step::Kind::Lanes, 1ull << (n.value.u & 3), true, &n});
  } else {
    out.push_back({Step::Kind::Element, n.value.u, true, &n});
  }
}

// From the variable down.
std::vector<Step> path(const Build& b, ExprId place) {
  std::vector<Step> steps;
  ExprId at = place;
  for (;;) {
    const ExprNode& n = b.node(at);
    size_t begin = steps.size();
    if (n.kind == ExprKind::Member) {
      steps.push_back({Step::Kind::Member, n.index});
    } else if (n.kind == ExprKind::Swizzle) {
      uint64_t mask = 0;
      for (uint32_t i = 0; i < n.count; ++i) mask |= 1ull << (n.index >> (4 * i) & 15);
      steps.push_back({Step::Kind::Lanes, mask});
    } else if (n.kind == ExprKind::Access) {
      bool lane = b.type(b.id(n.a)).is_vector();
      for (ExprId i : b.f.args_of(n)) add_element(b, i.value, lane, steps);
      // A matrix's [row, column] selects the column first.
      if (b.type(b.id(n.a)).is_matrix() && n.args_count == 2) {
        std::swap(steps[begin], steps[begin + 1]);
      }
      std::reverse(steps.begin() + static_cast<ptrdiff_t>(begin), steps.end());
    } else {
      break;
    }
    at = b.id(n.a);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// Two run-time indices that are certainly equal: the same node or the same variable.
bool same_index(const ExprNode& a, const ExprNode& b) {
  if (&a == &b) return true;
  return a.kind == ExprKind::Ref && b.kind == ExprKind::Ref && a.index == b.index;
}

}  // namespace

bool Build::overlap(ExprId a, ExprId b) const {
  VariableId ra = root(a), rb = root(b);
  if (!ra || !rb || ra != rb) return false;
  std::vector<Step> x = path(*this, a), y = path(*this, b);
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (x[i].kind == Step::Kind::Lanes && y[i].kind == Step::Kind::Lanes) {
      if ((x[i].index & y[i].index) == 0) return false;
    } else if (x[i].known && y[i].known) {
      if (x[i].index != y[i].index) return false;
    } else if (!x[i].by || !y[i].by || !same_index(*x[i].by, *y[i].by)) {
      return false;  // perhaps, but not visibly
    }
  }
  return true;
}

VariableId Build::buffer(Op op, ExprId a, Span span) {
  const ExprNode& n = node(a);
  if (n.kind != ExprKind::Ref || !n.type.is_buffer())
    wrong_operand(op, n.type, "it takes a buffer", span);
  return VariableId(n.index, f.owner_);
}

ExprId FunctionBuilder::member(ExprId a, uint32_t index, Span span) {
  Build build(*this);
  build.check_open();
  build.check(a, span);
  Type t = build.type(a);
  if (!t.is_struct() || index >= t.count()) {
    fail(Diag::no_member, span, {type_spelling(t), std::to_string(index)});
  }
  ExprNode n;
  n.kind = ExprKind::Member;
  n.type = t.component(index);
  n.span = span;
  n.a = a.value;
  n.index = index;
  return build.add(n);
}

ExprId FunctionBuilder::swizzle(ExprId a, std::string_view lanes, Span span) {
  Build build(*this);
  build.check_open();
  build.check(a, span);
  Type t = build.type(a);
  uint32_t code = 0;
  if (!t.is_vector() || !parse_swizzle(lanes, t.lanes(), code)) {
    fail(Diag::swizzle_lanes, span, {lanes, type_spelling(t)});
  }
  ExprNode n;
  n.kind = ExprKind::Swizzle;
  n.type = t.with_lanes(static_cast<uint32_t>(lanes.size()));
  n.span = span;
  n.a = a.value;
  n.index = code;
  n.count = static_cast<uint8_t>(lanes.size());
  return build.add(n);
}

namespace {

// Checks one index against a known count and gives it its type.
ExprId index_of(Build& b, ExprId e, Type base, uint64_t count, Span span) {
  const ExprNode n = b.node(e);
  ExprId index = b.integer(e, "an index", span);
  if (n.kind != ExprKind::Literal) return index;
  bool negative = is_signed(scalar_of(n.type)) && n.value.i < 0;
  if (negative || (count != 0 && n.value.u >= count)) {
    std::string shown = negative ? std::to_string(n.value.i) : std::to_string(n.value.u);
    std::string last = count != 0 ? std::to_string(count - 1) : "its length - 1";
    fail(Diag::index_range, span, {shown, type_spelling(base), last});
  }
  return index;
}

}  // namespace

ExprId Build::access_one(ExprId base, std::span<const ExprId> indices, Span span) {
  Type t = type(base);
  std::array<ExprId, 3> fixed;
  for (size_t i = 0; i < indices.size(); ++i) {
    uint64_t count = t.is_buffer() ? 0 : t.count();
    fixed[i] = index_of(*this, indices[i], t, count, span);
    read(fixed[i]);
  }
  ExprNode n;
  n.kind = ExprKind::Access;
  n.type = indices.size() == 2 && t.is_matrix() ? Type::of(t.scalar()) : t.element();
  n.span = span;
  n.a = base.value;
  n.args_begin = add_args({fixed.data(), indices.size()});
  n.args_count = static_cast<uint32_t>(indices.size());
  return add(n);
}

ExprId FunctionBuilder::access(ExprId a, std::span<const ExprId> indices, Span span) {
  Build build(*this);
  build.check_open();
  build.check(a, span);
  build.check(indices, span);
  Type t = build.type(a);
  auto count_is = [&](size_t n) {
    if (indices.size() != n) {
      fail(Diag::index_count, span,
           {type_spelling(t),
            t.is_matrix() ? "1 or 2 indices"
            : n == 1      ? "1 index"
                          : std::to_string(n) + " indices",
            std::to_string(indices.size())});
    }
  };
  switch (t.tag()) {
    case TypeTag::Vector:
      count_is(1);
      return build.access_one(a, indices, span);
    case TypeTag::Matrix:
      if (indices.size() != 2) count_is(1);
      return build.access_one(a, indices, span);
    case TypeTag::Array: {
      // a[i, j] of nested arrays is a[i][j].
      if (indices.empty()) count_is(1);
      for (size_t i = 0; i < indices.size(); ++i) {
        Type part = build.type(a);
        if (!part.is_array()) count_is(i);
        a = build.access_one(a, indices.subspan(i, 1), span);
      }
      return a;
    }
    case TypeTag::Buffer:
      if (t.element().is_void()) {
        fail(Diag::not_indexable, span,
             {"a byte buffer", "use lc.byte_read(T, buffer, offset) and lc.byte_write"});
      }
      count_is(t.rank());
      return build.access_one(a, indices, span);
    case TypeTag::Struct:
      fail(Diag::not_indexable, span, {type_spelling(t), "name the member"});
    default:
      fail(Diag::not_indexable, span, {type_spelling(t), ""});
  }
}

}  // namespace lcpy::ast
