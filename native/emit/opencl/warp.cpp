// Warp operations of OpenCL C: subgroups, in their forms for lanes that have parted.
#include "base/error.h"
#include "emit/clike/emitter.h"
#include "emit/opencl/dialect.h"

namespace lcpy::opencl {

using clike::Text;

namespace {

// Between "before" and "after" stands the value.
struct Row {
  Op op;
  std::string_view before, after;
};
constexpr Row kRows[] = {
    {Op::WarpLaneId, "get_sub_group_local_id(", ")"},
    {Op::WarpSize, "get_max_sub_group_size(", ")"},
    {Op::WarpIsFirst, "sub_group_elect(", ") != 0"},
    {Op::WarpFirstLane, "sub_group_ballot_find_lsb(sub_group_ballot(1", "))"},
    {Op::WarpAll, "sub_group_non_uniform_all(", ") != 0"},
    {Op::WarpAny, "sub_group_non_uniform_any(", ") != 0"},
    {Op::WarpBallot, "sub_group_ballot(", ")"},
    {Op::WarpCount, "sub_group_ballot_bit_count(sub_group_ballot(", "))"},
    {Op::WarpPrefixCount, "sub_group_ballot_exclusive_scan(sub_group_ballot(", "))"},
    {Op::WarpSum, "sub_group_non_uniform_reduce_add(", ")"},
    {Op::WarpProduct, "sub_group_non_uniform_reduce_mul(", ")"},
    {Op::WarpMin, "sub_group_non_uniform_reduce_min(", ")"},
    {Op::WarpMax, "sub_group_non_uniform_reduce_max(", ")"},
    {Op::WarpAnd, "sub_group_non_uniform_reduce_and(", ")"},
    {Op::WarpOr, "sub_group_non_uniform_reduce_or(", ")"},
    {Op::WarpXor, "sub_group_non_uniform_reduce_xor(", ")"},
    {Op::WarpPrefixSum, "sub_group_non_uniform_scan_exclusive_add(", ")"},
    {Op::WarpPrefixProduct, "sub_group_non_uniform_scan_exclusive_mul(", ")"},
    {Op::WarpReadFirst, "sub_group_broadcast_first(", ")"},
};

// The lane's value, zero where the lane is not there or not active; a shuffle from such a one is
// undefined.
std::string reader(clike::Emitter& e, std::string_view type) {
  const std::string name = "warp_read_" + std::string(type);
  if (Text* t = e.define(name))
    *t << "static " << type << ' ' << name << '(' << type << " v, uint lane) {\n"
       << "  const uint4 active = sub_group_ballot(1);\n"
       << "  const bool there = lane < get_max_sub_group_size() &&\n"
       << "                     sub_group_ballot_bit_extract(active, lane) != 0;\n"
       << "  const " << type
       << " read = sub_group_shuffle(v, there ? lane : get_sub_group_local_id());\n"
       << "  return there ? read : (" << type << ")0;\n}\n";
  return name;
}

}  // namespace

void OpenclDialect::warp(Text& t, clike::Emitter& e, const Warp& w) {
  if (w.op == Op::WarpReadLane) {
    t << reader(e, scalar(w.type.scalar())) << '(' << w.value << ", " << w.lane << ')';
    return;
  }
  for (const Row& row : kRows) {
    if (row.op != w.op) continue;
    t << row.before << w.value << row.after;
    return;
  }
  throw BugError("no text for " + std::string(op_row(w.op).name));
}

}  // namespace lcpy::opencl
