// What a C compiler may not know: it is hidden behind the top bit of the kernel's id, which is 0.
#include "emit/clike/ops.h"

namespace lcpy::clike {

// An int of all bits or none, of which no compiler knows a bit; it is 0.
void Emitter::hidden_zero(Text& t) const {
  t << "(int)w[" << ArgumentBlock::kKernelId / 4 << "] >> 31";
}

// A function's argument. What the compiler may find to be an infinity, NaN or a large number is
// hidden from it: PoCL's functions convert their argument to an integer and branch by it, and what
// a compiler finds undefined there takes the whole kernel with it.
void Emitter::argument(Text& t, Op op, ValueId v) {
  const Type type = d_.type_of(v);
  if (!type.is_float() || type.is_matrix() || d_.math == MathMode::Fast ||
      traits_.total_functions || is_unknown(v, false))
    return bare(t, v);
  if (d_.is_constant(v)) return hidden(t, v);
  const bool plain = op == Op::Min || op == Op::Max || op == Op::Abs || op == Op::Sqrt ||
                     op == Op::Fma || op == Op::Copysign;
  if (plain) return bare(t, v);  // they convert nothing
  const Type bits = unsigned_like(type);
  Text cast;
  cast << '(' << dialect_.scalar(bits.scalar());
  if (bits.is_vector()) cast << bits.lanes();
  cast << ")(";
  dialect_.open_bitcast(t, *this, type, bits);
  if (bits.is_scalar()) t << cast;
  dialect_.open_bitcast(t, *this, bits, type);
  bare(t, v);
  t << ") + " << cast;
  hidden_zero(t);
  t << (bits.is_scalar() ? ")))" : "))");
}

// Whether a float is a small number, or no compiler can know it: it is read where the kernel does
// not write, or made of such (`within`) and of finite numbers. What branches give may be anything.
bool Emitter::is_unknown(ValueId v, bool within, uint32_t steps) const {
  constexpr uint32_t kMostSteps = 8;
  const Type type = d_.type_of(v);
  if (!type.is_float()) return !type.is_integer() || is_unknown_integer(v, steps);
  if (d_.is_constant(v)) {
    const uint32_t size = scalar_size(type.scalar()), sign = size * 8 - 1;
    const uint64_t infinity = size == 2 ? 0x7c00 : size == 4 ? 0x7f800000 : 0x7ff0000000000000;
    const uint64_t large = size == 2 ? 0x7800 : size == 4 ? 0x47000000 : 0x40e0000000000000;
    for (uint32_t i = 0; i < type.lanes(); i++)
      if ((lane_bits(v, i) & ~(uint64_t{1} << sign)) >= (within ? infinity : large)) return false;
    return true;
  }
  const Value& value = d_.values[v.value];
  if (value.def != Value::Def::Result || steps == kMostSteps) return false;
  const Operation& op = d_.op(OpId(value.source));
  const OpCategory category = op_row(op.op).category;
  if (category == OpCategory::Atomic || category == OpCategory::Memory) return is_read(v);
  if (category == OpCategory::Control) return false;
  if (op.op == Op::Bitcast) return is_read(d_.operands_of(op)[0].value());
  bool any_read = false;
  for (Operand o : d_.operands_of(op)) {
    if (!o.is_value()) continue;
    if (!d_.is_constant(o.value())) any_read = true;
    if (!is_unknown(o.value(), true, steps + 1)) return false;
  }
  return any_read;  // of constants alone it may be folded to anything
}

// Whether memory that the kernel does not write, an atomic or a thread's place gives a value. What
// the kernel writes the compiler may have known.
bool Emitter::is_read(ValueId v) const {
  const Value& value = d_.values[v.value];
  if (d_.is_constant(v) || value.def != Value::Def::Result) return false;
  const Operation& op = d_.op(OpId(value.source));
  const OpCategory category = op_row(op.op).category;
  if (category == OpCategory::Atomic || category == OpCategory::Ids) return true;
  if (op.op == Op::Extract) return is_read(d_.operands_of(op)[0].value());
  if (category != OpCategory::Memory) return false;
  const Operand from = d_.operands_of(op)[0];
  return from.kind == Operand::Kind::Slot && d_.slot(from.slot()).access == Access::Read;
}

// Likewise of an integer that becomes a float: a small one, what is read, or sums and products of
// such. Bits that are put together may be those of a number that is known to be large.
bool Emitter::is_unknown_integer(ValueId v, uint32_t steps) const {
  constexpr uint32_t kMostSteps = 8;
  constexpr uint64_t kSmall = 1 << 15;
  const Type type = d_.type_of(v);
  if (d_.is_constant(v)) {
    for (uint32_t i = 0; i < type.lanes(); i++)
      if (lane_bits(v, i) >= kSmall) return false;
    return true;
  }
  if (is_read(v)) return true;
  const Value& value = d_.values[v.value];
  if (value.def != Value::Def::Result || steps >= kMostSteps) return false;
  const Operation& op = d_.op(OpId(value.source));
  const bool passes = op.op == Op::Add || op.op == Op::Mul || op.op == Op::Convert ||
                      op.op == Op::Construct || op.op == Op::Extract || op.op == Op::Shuffle;
  bool any_read = false;
  for (Operand o : d_.operands_of(op)) {
    if (!o.is_value()) continue;
    if (!passes || !d_.type_of(o.value()).is_integer() || !d_.type_of(o.value()).is_lanes() ||
        !is_unknown_integer(o.value(), steps + 1))
      return false;
    if (!d_.is_constant(o.value())) any_read = true;
  }
  return any_read;
}

// A constant of which no compiler knows a bit, by the top bit of the kernel's id, which is 0.
void Emitter::hidden(Text& t, ValueId v) {
  const Type type = d_.type_of(v), one = Type::of(type.scalar());
  const uint32_t n = type.lanes();
  const std::string_view bits = dialect_.scalar(unsigned_of(type.scalar()));
  if (n > 1) dialect_.open_vector(t, type.scalar(), n);
  for (uint32_t i = 0; i < n; i++) {
    if (i) t << ", ";
    dialect_.open_bitcast(t, *this, one, unsigned_like(one));
    t << '(' << bits << ")(";
    dialect_.literal(t, unsigned_of(type.scalar()), lane_bits(v, i));
    t << " + (" << bits << ")(";
    hidden_zero(t);
    t << ")))";
  }
  if (n > 1) t << ')';
}

// Whether branches may meet in an index: it comes from an If or a Switch, or from another function.
// NVIDIA's OpenCL compiler makes a choice between addresses of that, and then takes a store through
// it to reach nothing but one of them.
bool Emitter::is_met(ValueId v, uint32_t steps) const {
  constexpr uint32_t kMostSteps = 8;
  const Value& value = d_.values[v.value];
  if (d_.is_constant(v) || value.def == Value::Def::BodyParameter) return false;
  if (value.def == Value::Def::FunctionParameter || steps == kMostSteps) return true;
  const Operation& op = d_.op(OpId(value.source));
  switch (op_row(op.op).category) {
    case OpCategory::Control:
      return true;
    case OpCategory::Memory:
    case OpCategory::Atomic:
    case OpCategory::Ids:
      return false;
    default:
      break;
  }
  for (Operand o : d_.operands_of(op))
    if (o.is_value() && is_met(o.value(), steps + 1)) return true;
  return false;
}

// NVIDIA's ptxas extends a negated integer of 16 bits as if it had been negated in 32: that of the
// smallest becomes positive. So such are taken from a zero that it does not know.
void Emitter::negate_narrow(Text& t, ValueId v) {
  const Type type = d_.type_of(v);
  if (type.is_vector()) dialect_.open_vector(t, type.scalar(), type.lanes());
  for (uint32_t i = 0; i < type.lanes(); i++) {
    t << (i ? ", (" : "(") << dialect_.scalar(type.scalar()) << ")((uint)(";
    hidden_zero(t);
    t << ") - (uint)";
    operand(t, v);
    if (type.is_vector()) t << '.' << "xyzw"[i];
    t << ')';
  }
  if (type.is_vector()) t << ')';
}

}  // namespace lcpy::clike
