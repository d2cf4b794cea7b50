#include "emit/clike/warp.h"

#include "emit/clike/emitter.h"

namespace lcpy::clike {

bool keeps_warp(Op op, Type first) {
  switch (op) {
    case Op::WarpAllEqual:
      return false;
    case Op::WarpAnd:
    case Op::WarpOr:
    case Op::WarpXor:
    case Op::WarpMax:
    case Op::WarpMin:
      return first.is_scalar() && first.is_integer() && scalar_size(first.scalar()) >= 4;
    case Op::WarpProduct:
    case Op::WarpSum:
    case Op::WarpPrefixSum:
    case Op::WarpPrefixProduct:
    case Op::WarpReadLane:
    case Op::WarpReadFirst:
      return first.is_scalar() && scalar_size(first.scalar()) >= 4;
    default:
      return true;
  }
}

bool needs_lanes(Op op) {
  return op_row(op).category == OpCategory::Warp && op != Op::WarpLaneId && op != Op::WarpSize;
}

bool sums_floats(Op op, Type first) {
  return first.is_float() && (op == Op::WarpProduct || op == Op::WarpSum ||
                              op == Op::WarpPrefixSum || op == Op::WarpPrefixProduct);
}

void Emitter::read_warp(Text& t, const Operation& op) {
  const auto operands = d_.operands_of(op);
  Text value, lane;
  if (operands.size() > 0) bare(value, operands[0].value());
  if (operands.size() > 1) bare(lane, operands[1].value());
  const Type type = d_.type_of(operands.empty() ? op.first_result : operands[0].value());
  dialect_.warp(t, *this, {op.op, type, value.str(), lane.str(), lanes_});
}

}  // namespace lcpy::clike
