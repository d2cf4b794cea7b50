// Choices between constants of float, for NVIDIA's compilers. Of a choice between -0.0 and -1.0
// ptxas makes one between the integers 0 and -1, which it converts: the zero loses its sign. Such
// choices come from others when NVVM moves operations into their sides: of `c ? 1.0 : 0.0`, negated
// or multiplied. So a choice with a constant is one of bits, of which an instruction that NVVM
// cannot see through makes a float: a Select, and what branches and loops give, b12 before it is
// v12. Where the type must stay (parts of aggregates, results of functions, local memory), zeros
// hide.
#include "emit/clike/ops.h"

namespace lcpy::clike {
bool Emitter::chosen_as_bits(Type type) const {
  return traits_.chosen_as_bits && d_.math != MathMode::Fast && type.is_lanes() &&
         type.is_float() && type.scalar() != Scalar::Float16;
}

// A constant, or a vector with one among its lanes.
bool Emitter::holds_constant(ValueId v) const {
  if (d_.is_constant(v)) return true;
  const Value& value = d_.values[v.value];
  if (value.def != Value::Def::Result) return false;
  const Operation& op = d_.op(OpId(value.source));
  if (op.op != Op::Construct || !d_.type_of(v).is_vector()) return false;
  for (Operand o : d_.operands_of(op))
    if (holds_constant(o.value())) return true;
  return false;
}

// Whether it is a constant that hides where its type stays while it meets others: zeros of floats.
bool Emitter::hides(ValueId v) const {
  const Type type = d_.type_of(v);
  if (!d_.is_constant(v) || !chosen_as_bits(type)) return false;
  for (uint32_t i = 0; i < type.lanes(); i++)
    if (lane_bits(v, i) << (65 - 8 * scalar_size(type.scalar())) == 0) return true;
  return false;
}

// A scalar or vector of floats as unsigned integers.
void Emitter::bits(Text& t, ValueId v) {
  const Type type = d_.type_of(v), to = unsigned_like(type);
  if (d_.is_constant(v)) {
    constant_lanes(t, to, d_.constant_bytes(v));
  } else {
    dialect_.open_bitcast(t, *this, to, type);
    bare(t, v);
    t << ')';
  }
}

void Emitter::hide_zeros(ValueId v) {
  const Value& value = d_.values[v.value];
  if (value.def != Value::Def::Result || chosen_[v.value]) return;
  const Operation& op = d_.op(OpId(value.source));
  if (op.op != Op::Construct) return;
  chosen_[v.value] = true;
  for (Operand o : d_.operands_of(op)) hide_zeros(o.value());
}

// Scalars and vectors are chosen as bits, wherever one of those that meet is constant.
void Emitter::analyse_choices(const Operation& op) {
  if (!traits_.chosen_as_bits || d_.math == MathMode::Fast) return;
  const bool yields = op.op == Op::Yield, breaks = op.op == Op::Break;
  const bool kept = op.op == Op::Store || op.op == Op::Insert || op.op == Op::Return;
  if (!yields && !breaks && !kept && op.op != Op::Select) return;
  const auto operands = d_.operands_of(op);
  if (op.op == Op::Store && d_.slot(operands[0].slot()).memory != MemoryClass::Scratch) return;
  for (uint32_t i = 0; i < operands.size(); i++) {
    if (!operands[i].is_value()) continue;
    const ValueId v = operands[i].value();
    if (kept || !d_.type_of(v).is_lanes())
      hide_zeros(v);
    else if ((yields || breaks) && chosen_as_bits(d_.type_of(v)) && holds_constant(v))
      chosen_[(yields ? yields_ : loops_).back().first_result.value + i] = true;
  }
}

void Emitter::chosen_results(const Operation& op) {
  for (uint32_t i = 0; i < op.result_count; i++) {
    const ValueId v = d_.result(op, i);
    if (!uses_[v.value] || !chosen_[v.value]) continue;
    line();
    declare(out_, v, true);
    out_ << " = ";
    dialect_.open_unseen(out_, *this, d_.type_of(v));
    out_ << 'b' << v.value << ");\n";
  }
}

}  // namespace lcpy::clike
