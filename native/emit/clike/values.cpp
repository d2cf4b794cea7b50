// Expressions: operands, constants, operators, and the operations on values that are no plain call.
#include <algorithm>

#include "base/error.h"
#include "emit/clike/ops.h"

namespace lcpy::clike {
namespace {

bool is_bools(Type t) { return t.has_class(ScalarClass::Bool); }

}  // namespace

void Emitter::operand(Text& t, ValueId v) {
  if (inlined_[v.value])
    t << std::string_view(texts_[inlined_[v.value] - 1]);
  else if (d_.is_constant(v))
    constant(t, v);
  else
    t << 'v' << v.value;
}

// Where the context separates it anyway: an inlined text without its outer parentheses.
void Emitter::bare(Text& t, ValueId v) {
  if (!inlined_[v.value]) return operand(t, v);
  const std::string_view text = texts_[inlined_[v.value] - 1];
  t << (text[0] == '(' ? text.substr(1, text.size() - 2) : text);
}

void Emitter::constant(Text& t, ValueId v) {
  const Type type = d_.type_of(v);
  const auto bytes = d_.constant_bytes(v);
  if (type.is_bool()) {
    t << (bytes[0] != std::byte{} ? "true" : "false");
  } else if (type.is_lanes()) {
    constant_lanes(t, type, bytes);
  } else {
    const std::string name = "k" + std::to_string(v.value);
    if (!table_defined_[v.value]) {
      table_defined_[v.value] = true;
      constant_table(name, bytes, type);
    }
    t << "(*(" << dialect_.pointer_space(MemoryClass::Constant) << "const "
      << types_.aggregate(type) << "*)" << name << ')';
  }
}

// A number or a vector; bools in a vector as masks.
void Emitter::constant_lanes(Text& t, Type type, std::span<const std::byte> bytes) {
  const bool bools = is_bools(type);
  const Scalar s = bools ? Scalar::Int32 : type.scalar();
  if (type.is_vector()) dialect_.open_vector(t, s, type.lanes());
  for (uint32_t i = 0; i < type.lanes(); i++) {
    if (i) t << ", ";
    const uint64_t bits = clike::lane_bits(type, bytes, i);
    dialect_.literal(t, s, bools ? (bits ? 0xffffffffu : 0u) : bits);
  }
  if (type.is_vector()) t << ')';
}

bool Emitter::is_zero(ValueId v) const {
  if (!d_.is_constant(v)) return false;
  const auto bytes = d_.constant_bytes(v);
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

// A scalar or vector as unsigned of at least 32 bits (a vector: of its own width).
void Emitter::operand_unsigned(Text& t, ValueId v) {
  const Type type = d_.type_of(v);
  const Scalar wide = is_narrow(type) ? Scalar::UInt32 : unsigned_of(type.scalar());
  if (type.is_vector()) {
    dialect_.open_bitcast(t, *this, unsigned_like(type), type);
    operand(t, v);
    t << ')';
  } else if (d_.is_constant(v)) {
    uint64_t bits = lane_bits(v, 0);
    const uint32_t unused = 64 - scalar_size(type.scalar()) * 8;
    if (is_signed(type))
      bits = static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused);
    dialect_.literal(t, wide, wide == Scalar::UInt32 ? bits & 0xffffffffu : bits);
  } else {
    t << '(' << dialect_.scalar(wide) << ')';
    operand(t, v);
  }
}

void Emitter::expression(Text& t, const Operation& op, const OpForm& form) {
  const auto operands = d_.operands_of(op);
  const Type type = d_.type_of(op.first_result);
  switch (form.kind) {
    case OpForm::Kind::Infix:
      if (type.is_vector()) dialect_.use_operator(*this, op.op, type);
      if (type.is_scalar() && is_narrow(type)) t << '(' << dialect_.scalar(type.scalar()) << ")(";
      operand(t, operands[0].value());
      t << ' ' << form.text << ' ';
      operand(t, operands[1].value());
      if (type.is_scalar() && is_narrow(type)) t << ')';
      return;
    case OpForm::Kind::Wrapping:
      if (traits_.negates_by_zero && op.op == Op::Sub && is_narrow(type) &&
          is_zero(operands[0].value()))
        return negate_narrow(t, operands[1].value());
      return wrapping(t, op, form.text);
    case OpForm::Kind::Compare:
      return compare(t, op, form.text);
    case OpForm::Kind::Function:
      dialect_.open_function(t, *this, op.op, type,
                             type.is_integer() ? form.integer_text : form.text);
      for (size_t i = 0; i < operands.size(); i++) {
        if (i) t << ", ";
        argument(t, op.op, operands[i].value());
      }
      t << ')';
      return;
    case OpForm::Kind::Value:
    case OpForm::Kind::Read:
      return (this->*form.value)(t, op);
    default:
      throw BugError("no text for " + std::string(op_row(op.op).name));
  }
}

void Emitter::wrapping(Text& t, const Operation& op, std::string_view sign) {
  const auto operands = d_.operands_of(op);
  const Type type = d_.type_of(op.first_result);
  const bool through = type.is_vector() ? is_signed(type) && !traits_.wrapping_vectors
                                        : is_signed(type) || is_narrow(type);
  if (type.is_vector()) dialect_.use_operator(*this, op.op, type);
  if (through && type.is_vector())
    dialect_.open_bitcast(t, *this, type, unsigned_like(type));
  else if (through)
    t << '(' << dialect_.scalar(type.scalar()) << ")(";
  for (size_t i = 0; i < 2; i++) {
    if (i) t << ' ' << sign << ' ';
    if (through)
      operand_unsigned(t, operands[i].value());
    else
      operand(t, operands[i].value());
  }
  if (through) t << ')';
}

void Emitter::compare(Text& t, const Operation& op, std::string_view sign) {
  const auto operands = d_.operands_of(op);
  const Type compared = d_.type_of(operands[0].value());
  const bool widen = traits_.wide_masks && compared.is_vector() && !is_bools(compared) &&
                     scalar_size(compared.scalar()) != 4;
  if (compared.is_vector()) dialect_.use_operator(*this, op.op, compared);
  if (widen)
    dialect_.open_convert(t, *this, compared.with_scalar(Scalar::Int32), signed_like(compared));
  operand(t, operands[0].value());
  t << ' ' << sign << ' ';
  operand(t, operands[1].value());
  if (widen) t << ')';
}

void Emitter::value_neg(Text& t, const Operation& op) {
  const ValueId v = d_.operands_of(op)[0].value();
  const Type type = d_.type_of(v);
  if (traits_.negates_by_zero && is_narrow(type)) return negate_narrow(t, v);
  if (type.is_vector()) dialect_.use_operator(*this, op.op, type);
  if (type.is_float() || (type.is_vector() && traits_.wrapping_vectors)) {
    t << '-';
    operand(t, v);
    return;
  }
  if (type.is_vector())
    dialect_.open_bitcast(t, *this, type, unsigned_like(type));
  else
    t << '(' << dialect_.scalar(type.scalar()) << ')' << '(';
  t << '-';
  operand_unsigned(t, v);
  t << ')';
}

void Emitter::value_not(Text& t, const Operation& op) {
  const ValueId v = d_.operands_of(op)[0].value();
  const Type type = d_.type_of(v);
  const bool narrow = is_narrow(type) && type.is_scalar();
  if (type.is_vector()) dialect_.use_operator(*this, Op::BitNot, type);
  if (narrow) t << '(' << dialect_.scalar(type.scalar()) << ')';
  t << (type.is_bool() ? '!' : '~');
  operand(t, v);
}

// By a function: NVRTC dies of a choice between braces whose condition it knows.
void Emitter::select_whole(Text& t, ValueId condition, ValueId yes, ValueId no) {
  if (Text* f = define("choose"))
    *f << "template <class T> " << dialect_.function_prefix()
       << "T choose(bool c, T yes, T no) { return c ? yes : no; }\n";
  t << "choose(";
  bare(t, condition);
  t << ", ";
  bare(t, yes);
  t << ", ";
  bare(t, no);
  t << ')';
}

void Emitter::value_select(Text& t, const Operation& op) {
  const auto operands = d_.operands_of(op);
  const ValueId condition = operands[0].value(), yes = operands[1].value(),
                no = operands[2].value();
  const Type given = d_.type_of(op.first_result);
  if (traits_.cpp && !given.is_lanes()) return select_whole(t, condition, yes, no);
  const bool as_bits = chosen_as_bits(given) && (holds_constant(yes) || holds_constant(no));
  const Type type = as_bits ? unsigned_like(given) : given;
  const auto side = [&](ValueId v) {
    if (as_bits)
      bits(t, v);
    else
      operand(t, v);
  };
  // PoCL's LLVM dies of a scalar's choice between two masks that it knows.
  const bool known_masks = is_bools(type) && type.is_vector() && traits_.wide_masks &&
                           d_.is_constant(yes) && d_.is_constant(no);
  if (as_bits) dialect_.open_unseen(t, *this, given);
  if (d_.type_of(condition).is_scalar()) {
    // C makes an int of it where its sides are narrower, and functions are chosen by type.
    const bool narrow = is_narrow(type) && type.is_scalar();
    if (narrow) t << '(' << dialect_.scalar(type.scalar()) << ")(";
    operand(t, condition);
    t << " ? ";
    side(yes);
    t << " : ";
    if (known_masks) {
      t << '(';
      side(no);
      t << " + (int" << type.lanes() << ")(";
      hidden_zero(t);
      t << "))";
    } else {
      side(no);
    }
    if (narrow || as_bits) t << ')';
    return;
  }
  dialect_.open_select(t, *this, type);
  side(no);
  t << ", ";
  side(yes);
  t << ", ";
  const bool resize = traits_.wide_masks && !is_bools(type) && scalar_size(type.scalar()) != 4;
  if (resize)
    dialect_.open_convert(t, *this, signed_like(type),
                          signed_like(type).with_scalar(Scalar::Int32));
  operand(t, condition);
  t << (resize ? "))" : ")") << (as_bits ? ")" : "");
}

void Emitter::value_abs(Text& t, const Operation& op) {
  const ValueId v = d_.operands_of(op)[0].value();
  const Type type = d_.type_of(v);
  // abs() gives the unsigned type, which holds the magnitude of the smallest integer.
  if (is_signed(type)) dialect_.open_bitcast(t, *this, type, unsigned_like(type));
  dialect_.open_function(t, *this, op.op, type, type.is_float() ? "fabs" : "abs");
  operand(t, v);
  t << (is_signed(type) ? "))" : ")");
}

void Emitter::value_bit_count(Text& t, const Operation& op) {
  dialect_.open_function(t, *this, op.op, d_.type_of(op.first_result),
                         op.op == Op::Clz ? "clz" : "popcount");
  operand(t, d_.operands_of(op)[0].value());
  t << ')';
}

void Emitter::value_mul_hi(Text& t, const Operation& op) {
  dialect_.open_function(t, *this, op.op, d_.type_of(op.first_result), "mul_hi");
  operand(t, d_.operands_of(op)[0].value());
  t << ", ";
  operand(t, d_.operands_of(op)[1].value());
  t << ')';
}

void Emitter::value_all_any(Text& t, const Operation& op) {
  dialect_.open_function(t, *this, op.op, d_.type_of(d_.operands_of(op)[0].value()),
                         op.op == Op::All ? "all" : "any");
  operand(t, d_.operands_of(op)[0].value());
  t << ')';
}

void Emitter::value_convert(Text& t, const Operation& op) {
  const Type type = d_.type_of(op.first_result);
  const ValueId from = d_.operands_of(op)[0].value();
  dialect_.open_convert(t, *this, type, d_.type_of(from));
  operand(t, from);
  t << ')';
}

void Emitter::value_bitcast(Text& t, const Operation& op) {
  const Type type = d_.type_of(op.first_result);
  const ValueId from = d_.operands_of(op)[0].value();
  dialect_.open_bitcast(t, *this, type, d_.type_of(from));
  operand(t, from);
  t << ')';
}

void Dialect::open_unpack_half(Text&, Emitter&, uint32_t) {
  throw BugError("halves as bits in a dialect that has half");
}
void Dialect::open_pack_half(Text&, Emitter&, uint32_t) {
  throw BugError("halves as bits in a dialect that has half");
}
void Dialect::open_unseen(Text&, Emitter&, Type) {
  throw BugError("floats from unseen bits in a dialect that has no need of them");
}

void Emitter::value_unpack_half(Text& t, const Operation& op) {
  dialect_.open_unpack_half(t, *this, d_.type_of(op.first_result).lanes());
  bare(t, d_.operands_of(op)[0].value());
  t << ')';
}

void Emitter::value_pack_half(Text& t, const Operation& op) {
  dialect_.open_pack_half(t, *this, d_.type_of(op.first_result).lanes());
  bare(t, d_.operands_of(op)[0].value());
  t << ')';
}

// A value as a member of an aggregate or of memory: bools as bytes.
void Emitter::to_memory(Text& t, ValueId v) {
  const Type type = d_.type_of(v);
  if (!type.is_lanes() || !is_bools(type)) return bare(t, v);
  if (type.is_scalar()) {
    t << '(' << dialect_.scalar(Scalar::UInt8) << ')';
    operand(t, v);
  } else {
    dialect_.open_bytes_of_bools(t, *this, type.lanes());
    operand(t, v);
    t << ')';
  }
}

void Emitter::from_memory(Text& t, std::string_view place, Type type) {
  if (type.is_bool()) {
    t << place << " != 0";
  } else if (type.is_lanes() && is_bools(type)) {
    dialect_.bools_of_bytes(t, *this, place, type.lanes());
  } else {
    t << place;
  }
}

void Emitter::value_construct(Text& t, const Operation& op) {
  const auto operands = d_.operands_of(op);
  const Type type = d_.type_of(op.first_result);
  if (type.is_vector()) {
    bool same = true;
    for (Operand o : operands) same = same && o == operands[0];
    const bool bools = is_bools(type);
    dialect_.open_vector(t, bools ? Scalar::Int32 : type.scalar(), type.lanes());
    const size_t n = same ? 1 : operands.size();
    for (size_t i = 0; i < n; i++) {
      t << (i ? ", " : "") << (bools ? "-(int)" : "");
      if (chosen_[op.first_result.value] && hides(operands[i].value()))
        hidden(t, operands[i].value());
      else
        operand(t, operands[i].value());
    }
    t << ')';
    return;
  }
  const std::string_view name = types_.aggregate(type);
  if (traits_.cpp)
    t << name;
  else
    t << '(' << name << ')';
  t << (type.is_struct() ? "{" : "{{");
  for (size_t i = 0; i < operands.size(); i++) {
    if (i) t << ", ";
    if (type.is_struct() && !traits_.cpp) t << ".m" << i << " = ";
    if (type.is_struct() && traits_.cpp && Types::padded_before(type, i)) t << "{}, ";
    if (chosen_[op.first_result.value] && hides(operands[i].value()))
      hidden(t, operands[i].value());
    else
      to_memory(t, operands[i].value());
  }
  t << (type.is_struct() ? "}" : "}}");
}

void Emitter::value_extract(Text& t, const Operation& op) {
  const auto operands = d_.operands_of(op);
  if (const Operation* id = id_operation(operands[0].value()))
    return id_lane(t, id->op, operands[1].index);
  Text path;
  operand(path, operands[0].value());
  Type type = d_.type_of(operands[0].value());
  bool in_vector = false;
  for (Operand o : operands.subspan(1)) {
    put_component(path, type, o.index);
    in_vector = type.is_vector() && type == d_.type_of(operands[0].value());
    type = type.component(o.index);
  }
  // A lane of a bool vector is a mask; anywhere else a bool is a byte. Both are true unless 0.
  if (in_vector && type.is_bool())
    t << path << " != 0";
  else
    from_memory(t, path.str(), type);
}

void Emitter::id_lane(Text& t, Op id, uint32_t lane) {
  if (id == Op::DispatchSize)
    block_scalar(t, Scalar::UInt32, lane * 4);
  else
    dialect_.thread_index(t, id, lane);
}

// The operation that gave `v`, if that is a vector of ids; its lanes are written one by one.
const Operation* Emitter::id_operation(ValueId v) const {
  const Value& value = d_.values[v.value];
  if (value.def != Value::Def::Result) return nullptr;
  const Operation& op = d_.op(OpId(value.source));
  return op_row(op.op).category == OpCategory::Ids && op.op != Op::KernelId ? &op : nullptr;
}

// A component of a variable that never changes needs no variable of its own.
bool Emitter::alias_extract(const Operation& op) {
  const ValueId from = d_.operands_of(op)[0].value();
  const Type type = d_.type_of(op.first_result);
  if (id_operation(from) || d_.is_constant(from) || (inlined_[from.value] && !aliases_[from.value]))
    return false;
  if (d_.values[from.value].def == Value::Def::BodyParameter) return false;
  if (type.is_lanes() && is_bools(type)) return false;
  Text t;
  value_extract(t, op);
  texts_.push_back(t.take());
  inlined_[op.first_result.value] = static_cast<uint32_t>(texts_.size());
  aliases_[op.first_result.value] = true;
  return true;
}

void Emitter::value_shuffle(Text& t, const Operation& op) {
  const auto operands = d_.operands_of(op);
  const bool to_bool = d_.type_of(op.first_result).is_bool();
  const Type type = d_.type_of(op.first_result);
  if (traits_.swizzles || type.is_scalar()) {
    operand(t, operands[0].value());
    t << '.';
    for (Operand o : operands.subspan(1)) t << "xyzw"[o.index];
    if (to_bool) t << " != 0";
    return;
  }
  dialect_.open_vector(t, is_bools(type) ? Scalar::Int32 : type.scalar(), type.lanes());
  for (size_t i = 1; i < operands.size(); i++) {
    if (i > 1) t << ", ";
    if (const Operation* id = id_operation(operands[0].value())) {
      id_lane(t, id->op, operands[i].index);
      continue;
    }
    operand(t, operands[0].value());
    t << '.' << "xyzw"[operands[i].index];
  }
  t << ')';
}

void Emitter::value_remainder(Text& t, const Operation& op) {
  const auto operands = d_.operands_of(op);
  const Type type = d_.type_of(op.first_result);
  const bool narrow = is_narrow(type) && type.is_scalar();
  if (type.is_float())
    dialect_.open_function(t, *this, op.op, type, "fmod");
  else if (type.is_vector())
    dialect_.use_operator(*this, op.op, type);
  else if (narrow)
    t << '(' << dialect_.scalar(type.scalar()) << ")(";
  operand(t, operands[0].value());
  t << (type.is_float() ? ", " : " % ");
  operand(t, operands[1].value());
  if (type.is_float() || narrow) t << ')';
}

void Emitter::value_shift_left(Text& t, const Operation& op) {
  const auto operands = d_.operands_of(op);
  const Type type = d_.type_of(op.first_result);
  if (type.is_vector()) {
    dialect_.use_operator(*this, op.op, unsigned_like(type));
    dialect_.open_bitcast(t, *this, type, unsigned_like(type));
  } else {
    t << '(' << dialect_.scalar(type.scalar()) << ")(";
  }
  operand_unsigned(t, operands[0].value());
  t << " << ";
  operand_unsigned(t, operands[1].value());
  t << ')';
}

void Emitter::insert(const Operation& op) {
  const ValueId v = op.first_result;
  if (uses_[v.value] == 0) return;
  const auto operands = d_.operands_of(op);
  const ValueId part = operands[1].value();
  line();
  declare(out_, v, false);
  out_ << " = ";
  operand(out_, operands[0].value());
  out_ << "; v" << v.value;
  Type type = d_.type_of(v);
  const bool lane_of_bools = type.is_vector() && is_bools(type);
  for (Operand o : operands.subspan(2)) {
    put_component(out_, type, o.index);
    type = type.component(o.index);
  }
  out_ << " = ";
  if (lane_of_bools) {
    out_ << "-(int)";
    operand(out_, part);
  } else if (hides(part)) {
    hidden(out_, part);
  } else {
    to_memory(out_, part);
  }
  out_ << ";\n";
}

}  // namespace lcpy::clike
