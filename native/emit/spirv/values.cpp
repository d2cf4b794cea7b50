// Operations on values that are more than one instruction of a row.
#include "base/error.h"
#include "emit/spirv/emitter.h"

namespace lcpy::spirv {
Word Emitter::emit_list(Opcode code, Word result_type, std::span<const Word> operands) {
  const Word id = m_.new_id();
  out_->begin(code);
  out_->push(result_type);
  out_->push(id);
  out_->push_all(operands);
  if (!out_->end())
    fail(Diag::limit_exceeded, line_, {"an operation", "too long", "SPIR-V", "65,535 words"});
  return id;
}

// A scalar in each of n lanes.
Word Emitter::spread(Word id, Scalar s, uint32_t n) {
  const Word parts[] = {id, id, id, id};
  return n == 1 ? id : emit_list(Opcode::CompositeConstruct, lanes(s, n), std::span(parts, n));
}

// ---- choice ---------------------------------------------------------------------------------

void Emitter::select(const Operation& o) {
  const auto x = d_.operands_of(o);
  const Type t = d_.type_of(d_.result(o));
  const Word cond = value(x[0]), a = choice(x[1].value()), b = choice(x[2].value());
  if (type_of(x[0]).is_scalar()) {
    alias(o, select_components(cond, a, b, t));
  } else {
    alias(o, emit(Opcode::Select, type(t), cond, a, b));
  }
}

// Before version 1.4 a scalar condition chooses scalars only.
Word Emitter::select_components(Word cond, Word a, Word b, Type t) {
  if (t.is_scalar() || m_.version() >= kVersion14) return emit(Opcode::Select, type(t), cond, a, b);
  std::vector<Word> parts(t.count());
  if (t.is_vector()) {
    parts.assign(t.count(), cond);
    cond = emit_list(Opcode::CompositeConstruct, lanes(Scalar::Bool, t.lanes()), parts);
    return emit(Opcode::Select, type(t), cond, a, b);
  }
  for (uint32_t i = 0; i < parts.size(); i++) {
    const Type part = t.component(i);
    const Word left = emit(Opcode::CompositeExtract, type(part), a, i);
    const Word right = emit(Opcode::CompositeExtract, type(part), b, i);
    parts[i] = select_components(cond, left, right, part);
  }
  return emit_list(Opcode::CompositeConstruct, type(t), parts);
}

// ---- numbers --------------------------------------------------------------------------------

void Emitter::abs(const Operation& o) {
  const Word given = value(d_.operands_of(o)[0]);
  const Type t = d_.type_of(d_.result(o));
  switch (operand_class(t.scalar())) {
    case OperandClass::Float:
      alias(o, glsl(Glsl::FAbs, type(t), given));
      break;
    case OperandClass::Signed: {
      // Compilers take what SAbs gives to be no less than 0, which that of the smallest is. So by
      // its sign, all ones or none: (x ^ sign) - sign.
      const uint32_t width = types_.held(t.scalar()) ? 32 : 8 * scalar_size(t.scalar());
      const Word places = lane_constant(Scalar::UInt32, t.lanes(), width - 1);
      const Word sign = emit(Opcode::ShiftRightArithmetic, type(t), given, places);
      const Word turned = emit(Opcode::BitwiseXor, type(t), given, sign);
      alias(o, wrap(emit(Opcode::ISub, type(t), turned, sign), t.scalar(), t.lanes()));
      break;
    }
    case OperandClass::Bool:
    case OperandClass::Unsigned:
      alias(o, given);
      break;
  }
}

// NVIDIA's compiler extends a negated narrow integer as if it had been negated in 32 bits: it is
// taken from a zero that the compiler does not know.
void Emitter::neg(const Operation& o) {
  const Word x = value(d_.operands_of(o)[0]);
  const Type t = d_.type_of(d_.result(o));
  const Scalar s = t.scalar();
  const uint32_t n = t.lanes();
  if (t.is_float()) return alias(o, emit(Opcode::FNegate, type(t), x));
  if (scalar_size(s) >= 4 || types_.held(s) || target_.sound_choices)
    return alias(o, wrap(emit(Opcode::SNegate, type(t), x), s, n));
  const Scalar word = scalar_size(s) == 1 ? Scalar::UInt8 : Scalar::UInt16;
  const Word zero = emit(Opcode::UConvert, lanes(word), zero_at_run_time(Scalar::UInt32));
  const Word whole = type(t), zeros = spread(zero, word, n);
  alias(o, emit(Opcode::ISub, whole, zeros, x));
}

// FindUMsb and FindILsb give -1 for 0.
void Emitter::clz(const Operation& o) {
  const Type t = d_.type_of(d_.result(o));
  const Word x = value(d_.operands_of(o)[0]), most = lane_constant(t.scalar(), t.lanes(), 31);
  const Word top = glsl(Glsl::FindUMsb, type(t), x);
  alias(o, emit(Opcode::ISub, type(t), most, top));
}

void Emitter::ctz(const Operation& o) {
  const Type t = d_.type_of(d_.result(o));
  const Word x = value(d_.operands_of(o)[0]), most = lane_constant(t.scalar(), t.lanes(), 32);
  const Word low = glsl(Glsl::FindILsb, type(t), x);
  alias(o, glsl(Glsl::UMin, type(t), low, most));
}

void Emitter::mul_hi(const Operation& o) {
  const auto x = d_.operands_of(o);
  const Type t = d_.type_of(d_.result(o));
  const Word halves[] = {type(t), type(t)};
  const bool is_signed = operand_class(t.scalar()) == OperandClass::Signed;
  const Word pair = m_.type_struct(halves), a = value(x[0]), b = value(x[1]);
  const Word both = emit(is_signed ? Opcode::SMulExtended : Opcode::UMulExtended, pair, a, b);
  alias(o, emit(Opcode::CompositeExtract, type(t), both, 1u));
}

// ---- lanes and matrices ---------------------------------------------------------------------

void Emitter::all_lanes(const Operation& o) {
  const Operand x = d_.operands_of(o)[0];
  if (type_of(x).is_scalar()) return alias(o, value(x));
  const Word given = value(x);
  alias(o, emit(Opcode::All, lanes(Scalar::Bool), given));
}

void Emitter::any_lane(const Operation& o) {
  const Operand x = d_.operands_of(o)[0];
  if (type_of(x).is_scalar()) return alias(o, value(x));
  const Word given = value(x);
  alias(o, emit(Opcode::Any, lanes(Scalar::Bool), given));
}

void Emitter::outer_product(const Operation& o) {
  const auto x = d_.operands_of(o);
  const Word column = value(x[0]), row = value(x[1]);
  alias(o, emit(Opcode::OuterProduct, type(d_.type_of(d_.result(o))), column, row));
}

void Emitter::transpose(const Operation& o) {
  const Word x = value(d_.operands_of(o)[0]);
  alias(o, emit(Opcode::Transpose, type(d_.type_of(d_.result(o))), x));
}

// ---- aggregates -----------------------------------------------------------------------------

void Emitter::construct(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const Word t = type(d_.type_of(d_.result(o)));
  scratch_.clear();
  bool constant = true;
  for (const Operand& x : operands) {
    scratch_.push_back(value(x));
    constant &= d_.is_constant(x.value()) && ids_[x.index] != 0;  // not with hidden zeros
  }
  alias(o, constant ? m_.constant_composite(t, scratch_)
                    : emit_list(Opcode::CompositeConstruct, t, scratch_));
}

void Emitter::extract(const Operation& o) {
  const auto operands = d_.operands_of(o);
  if (operands.size() == 1) return alias(o, value(operands[0]));
  scratch_.assign(1, value(operands[0]));
  for (const Operand& x : operands.subspan(1)) scratch_.push_back(x.index);
  alias(o, emit_list(Opcode::CompositeExtract, type(d_.type_of(d_.result(o))), scratch_));
}

void Emitter::insert(const Operation& o) {
  const auto operands = d_.operands_of(o);
  if (operands.size() == 2) return alias(o, value(operands[1]));
  const Word whole = value(operands[0]);
  scratch_.assign({value(operands[1]), whole});
  for (const Operand& x : operands.subspan(2)) scratch_.push_back(x.index);
  alias(o, emit_list(Opcode::CompositeInsert, type(d_.type_of(d_.result(o))), scratch_));
}

void Emitter::shuffle(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const Word vector = value(operands[0]), t = type(d_.type_of(d_.result(o)));
  if (operands.size() == 2)
    return alias(o, emit(Opcode::CompositeExtract, t, vector, operands[1].index));
  scratch_.assign({vector, vector});
  for (const Operand& x : operands.subspan(1)) scratch_.push_back(x.index);
  alias(o, emit_list(Opcode::VectorShuffle, t, scratch_));
}

}  // namespace lcpy::spirv
