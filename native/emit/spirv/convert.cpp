// Conversions between scalar types, by lane. Narrow types pass through 32 bits, so that a device
// with narrow storage and no narrow arithmetic can run them.
#include "base/error.h"
#include "emit/spirv/emitter.h"

namespace lcpy::spirv {
namespace {

constexpr uint64_t kOneFloat32 = 0x3f800000u, kOneFloat64 = 0x3ff0000000000000u;

Scalar unsigned_of(uint32_t size) {
  switch (size) {
    case 1:
      return Scalar::UInt8;
    case 2:
      return Scalar::UInt16;
    case 4:
      return Scalar::UInt32;
    default:
      return Scalar::UInt64;
  }
}

Scalar widened(Scalar s) {
  if (scalar_size(s) >= 4) return s;
  return scalar_class(s) == ScalarClass::Signed ? Scalar::Int32 : Scalar::UInt32;
}

}  // namespace

void Emitter::convert(const Operation& o) {
  const Operand x = d_.operands_of(o)[0];
  const Type to = d_.type_of(d_.result(o)), from = type_of(x);
  const bool asks_for_zero = to.has_class(ScalarClass::Bool);
  Word given = asks_for_zero ? value(x) : rounded(x.value());
  // Whether a counter is 0 is a comparison.
  if (asks_for_zero && from.is_integer())
    given = compared(d_.operands_of(o), given, from.scalar(), from.lanes());
  const Word made =
      convert_lanes(given, from.scalar(), to.scalar(), to.lanes(), hides_conversion(o));
  // Where the machine saturates, NaN gives 0 by itself only from float to 32 bits.
  const bool asks = o.op == Op::Convert && from.is_float() && to.is_integer() &&
                    (scalar_size(from.scalar()) == 8 || scalar_size(to.scalar()) == 8);
  if (!asks) return alias(o, made);
  const Type flag = to.with_scalar(Scalar::Bool);
  const Word number = emit(Opcode::FOrdEqual, type(flag), given, given);
  const Word none = lane_constant(to.scalar(), to.lanes(), 0);
  alias(o, emit(Opcode::Select, type(to), number, made, none));
}

// A value that is made longer, rounded to what its type holds.
Word Emitter::rounded(ValueId v) {
  if (!hides_half(d_, v, target_.sound_rounding)) return value(v);
  return hidden_float(value(v), Scalar::Float16, d_.type_of(v).lanes());
}

Hides Emitter::hides_conversion(const Operation& o) const {
  const ValueId from = d_.operands_of(o)[0].value(), to = d_.result(o);
  if (target_.sound_rounding || !d_.type_of(from).is_float() || !d_.type_of(to).is_integer())
    return {};
  return {d_.type_of(from).scalar() != Scalar::Float32 || made_.rounded[from.value] ||
              made_.extreme[from.value],
          scalar_size(d_.type_of(to).scalar()) != 4 || made_.in_parts[to.value]};
}

// A narrow integer that is held in 32 bits, after an operation that may have left its range.
Word Emitter::wrap(Word id, Scalar s, uint32_t n) {
  if (!types_.held(s)) return id;
  const Word t = lanes(s, n);
  const uint32_t bits = scalar_size(s) * 8;
  const auto word = [&](uint32_t number) {
    if (target_.sound_masks) return lane_constant(Scalar::UInt32, n, number);
    return spread(hidden_word(number), Scalar::UInt32, n);
  };
  if (scalar_class(s) != ScalarClass::Signed)
    return emit(Opcode::BitwiseAnd, t, id, word((1u << bits) - 1));
  const Word shift = word(32 - bits);
  const Word top = emit(Opcode::ShiftLeftLogical, t, id, shift);
  return emit(Opcode::ShiftRightArithmetic, t, top, shift);
}

Word Emitter::convert_integer(Word id, Scalar from, Scalar to, uint32_t n) {
  if (from == to) return id;
  if (types_.held(from)) return convert_integer(id, types_.held_as(from), to, n);
  if (types_.held(to)) return wrap(convert_integer(id, from, types_.held_as(to), n), to, n);
  const uint32_t size = scalar_size(from), wanted = scalar_size(to);
  const bool to_signed = scalar_class(to) == ScalarClass::Signed;
  if (size == wanted) return emit(Opcode::Bitcast, lanes(to, n), id);
  const bool extends_sign = wanted > size && scalar_class(from) == ScalarClass::Signed;
  if (extends_sign && size == 4 && !target_.sound_extension) return extend_by_offset(id, to, n);
  if (extends_sign || (wanted < size && to_signed)) return emit(Opcode::SConvert, lanes(to, n), id);
  if (to_signed && wanted < 4) {  // a bit cast of narrow lanes would be arithmetic
    const Word wide = convert_integer(id, from, Scalar::UInt32, n);
    return emit(Opcode::SConvert, lanes(to, n), wide);
  }
  const Word plain = emit(Opcode::UConvert, lanes(unsigned_of(wanted), n), id);
  return to_signed ? emit(Opcode::Bitcast, lanes(to, n), plain) : plain;
}

// int to 64 bits: x + 2^31 as an unsigned number, extended by zeros, less 2^31.
Word Emitter::extend_by_offset(Word id, Scalar to, uint32_t n) {
  constexpr uint64_t kOffset = uint64_t{1} << 31;
  const Word narrow = lanes(Scalar::UInt32, n), wide = lanes(Scalar::UInt64, n);
  const Word bits = emit(Opcode::Bitcast, narrow, id);
  const Word moved =
      emit(Opcode::BitwiseXor, narrow, bits, lane_constant(Scalar::UInt32, n, kOffset));
  const Word extended = emit(Opcode::UConvert, wide, moved);
  const Word back = emit(Opcode::ISub, wide, extended, lane_constant(Scalar::UInt64, n, kOffset));
  return to == Scalar::UInt64 ? back : emit(Opcode::Bitcast, lanes(to, n), back);
}

Word Emitter::convert_lanes(Word id, Scalar from, Scalar to, uint32_t n, Hides hides) {
  if (from == to) return id;
  const ScalarClass source = scalar_class(from), result = scalar_class(to);
  const bool to_float = result == ScalarClass::Float;
  if (source == ScalarClass::Bool) {
    Scalar wide = to_float ? Scalar::Float32 : Scalar::UInt32;
    if (scalar_size(to) >= 4) wide = to;
    uint64_t one = 1;
    if (to_float) one = wide == Scalar::Float64 ? kOneFloat64 : kOneFloat32;
    const Word yes = lane_constant(wide, n, one);
    Word no = lane_constant(wide, n, 0);
    if (to_float && (this->hides() || hides_choices())) {
      no = spread(zero_at_run_time(wide), wide, n);
    }
    return convert_lanes(emit(Opcode::Select, lanes(wide, n), id, yes, no), wide, to, n);
  }
  if (source == ScalarClass::Float) {
    if (from == Scalar::Float64 && to == Scalar::Float16 && d_.math != MathMode::Fast)
      return double_to_half(id, n);
    if (to_float) return emit(Opcode::FConvert, lanes(to, n), id);
    if (from == Scalar::Float16) {
      id = emit(Opcode::FConvert, lanes(Scalar::Float32, n), id);
      from = Scalar::Float32;
    } else if (hides.number) {
      id = from == Scalar::Float64 ? hidden_double(id, n) : hidden_float(id, from, n);
    }
    if (result == ScalarClass::Bool) {
      const Word zero = lane_constant(from, n, 0);
      return emit(Opcode::FUnordNotEqual, lanes(to, n), id, zero);
    }
    const Scalar wide = widened(to);
    const auto code = result == ScalarClass::Signed ? Opcode::ConvertFToS : Opcode::ConvertFToU;
    id = emit(code, lanes(wide, n), id);
    return convert_integer(hides.bits ? hidden_bits(id, wide, n) : id, wide, to, n);
  }
  if (!to_float && result != ScalarClass::Bool) return convert_integer(id, from, to, n);
  const Scalar wide = widened(from);
  id = convert_integer(id, from, wide, n);
  if (result == ScalarClass::Bool) {
    const Word zero = lane_constant(wide, n, 0);
    return emit(Opcode::INotEqual, lanes(to, n), id, zero);
  }
  const auto code = source == ScalarClass::Signed ? Opcode::ConvertSToF : Opcode::ConvertUToF;
  id = hidden_integer(id, wide, n);
  return emit(code, lanes(to, n), id);
}

// Equal SPIR-V types (bfloat16 and its bits) are the same value.
void Emitter::bitcast(const Operation& o) {
  const Operand x = d_.operands_of(o)[0];
  const Type from = type_of(x), to = d_.type_of(d_.result(o));
  const bool number = from.is_integer() && to.is_float() && from.lanes() == to.lanes();
  if (number && scalar_size(from.scalar()) >= 4 && hides()) {
    const Word hidden = hidden_integer(value(x), from.scalar(), from.lanes());
    return alias(o, emit(Opcode::Bitcast, type(to), hidden));
  }
  const bool held = types_.held(from.scalar()) || types_.held(to.scalar());
  if (!held && type(from) == type(to)) return alias(o, value(x));
  const bool fits =
      from.is_lanes() && to.is_lanes() && !from.has_class(ScalarClass::Bool) &&
      !to.has_class(ScalarClass::Bool) &&
      from.lanes() * scalar_size(from.scalar()) == to.lanes() * scalar_size(to.scalar());
  if (!fits)
    fail(Diag::op_unsupported, o.span,
         {"a bit cast of " + from.description() + " to " + to.description(), "Vulkan",
          "it casts scalars and vectors of equally many bits"});
  const Word given = value(x);
  alias(o, held ? bitcast_by_words(given, from, to) : emit(Opcode::Bitcast, type(to), given));
}

// Where lanes of 8 or 16 bits are held in 32, their bits are put together by shifts.
Word Emitter::bitcast_by_words(Word id, Type from, Type to) {
  const Scalar s = from.scalar(), wanted = to.scalar();
  const uint32_t size = scalar_size(s), out = scalar_size(wanted);
  const Word uint = lanes(Scalar::UInt32);
  const bool integers = s != Scalar::Float16 && wanted != Scalar::Float16;
  if (size == out && integers) return convert_integer(id, s, wanted, to.lanes());
  std::vector<Word> words((from.lanes() * size + 3) / 4, 0);
  for (uint32_t i = 0; i < from.lanes(); i++) {
    const Word lane = from.is_scalar() ? id : emit(Opcode::CompositeExtract, lanes(s), id, i);
    Word bits[2] = {};
    word_bits(lane, s, bits);
    const uint32_t at = i * size / 4, shift = i * size % 4 * 8;
    if (shift) bits[0] = emit(Opcode::ShiftLeftLogical, uint, bits[0], u32(shift));
    words[at] = words[at] ? emit(Opcode::BitwiseOr, uint, words[at], bits[0]) : bits[0];
    if (size == 8) words[at + 1] = bits[1];
  }
  std::vector<Word> parts(to.lanes());
  for (uint32_t i = 0; i < parts.size(); i++) {
    const uint32_t at = i * out / 4, shift = i * out % 4 * 8;
    const Word low =
        shift ? emit(Opcode::ShiftRightLogical, uint, words[at], u32(shift)) : words[at];
    parts[i] = scalar_of_words(wanted, low, out == 8 ? words[at + 1] : 0);
  }
  return parts.size() == 1 ? parts[0] : emit_list(Opcode::CompositeConstruct, type(to), parts);
}

Word Emitter::to_u32(Word id, Scalar from) { return convert_integer(id, from, Scalar::UInt32, 1); }

}  // namespace lcpy::spirv
