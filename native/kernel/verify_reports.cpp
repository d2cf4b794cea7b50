// The rows of reports: [Imm site, values...], the values as the site's table says.
#include "kernel/verify.h"

namespace lcpy {
namespace {

constexpr RowFault kFine{};
constexpr RowFault kCount{"operand_count", "wrong number of operands"};
constexpr RowFault kTypes{"operand_type", "operand and result types do not fit the site"};

bool is_index(Type t) { return t.is_scalar() && t.is_integer() && t.size() >= 4; }

Site::Kind kind_of(Op op) {
  return op == Op::Assert  ? Site::Kind::Assert
         : op == Op::Trap  ? Site::Kind::Trap
         : op == Op::Print ? Site::Kind::Print
                           : Site::Kind::Bounds;
}

RowFault check_print(const RowContext& c, const Site& s) {
  if (s.types.size() != c.count() - 1) return kCount;
  for (size_t i = 0; i < s.types.size(); i++)
    if (c.type(i + 1) != s.types[i] || !s.types[i].is_value()) return kTypes;
  return kFine;
}

RowFault check_bounds(const RowContext& c, const Site& s) {
  if (c.count() != 4) return kCount;
  if (s.types.empty() || c.type(1) != s.types[0] || !is_index(s.types[0])) return kTypes;
  const Type limit = Type::of(s.types[0].size() == 8 ? Scalar::UInt64 : Scalar::UInt32);
  return c.type(2) == limit && c.type(3) == limit ? kFine : kTypes;
}

}  // namespace

RowFault check_report(const RowContext& c) {
  if (!c.count() || !c.operands[0].is_imm())
    return {"operand_kind", "a report begins with the number of its site"};
  if (c.operands[0].index >= c.d.sites.size()) return {"site", "there is no such site"};
  const Site& s = c.d.sites[c.operands[0].index];
  if (s.kind != kind_of(c.o.op)) return {"site", "the site is of another kind"};
  for (size_t i = 1; i < c.count(); i++)
    if (!c.is_value(i)) return {"operand_kind", "a report takes values"};
  if (c.o.result_count) return {"result_count", "a report gives nothing"};
  if (c.o.op == Op::Print) return check_print(c, s);
  if (c.o.op == Op::Bounds) return check_bounds(c, s);
  if (c.count() != 2) return kCount;
  if (c.o.op == Op::Assert) return c.type(1).is_bool() ? kFine : kTypes;
  const bool good = s.types.size() == 1 && c.type(1) == s.types[0] && is_index(s.types[0]);
  return good ? kFine : kTypes;
}

}  // namespace lcpy
