// What GLSL.std.450 or a driver leaves looser than the language: double to half rounded once, atan2
// at zeros and infinities, arithmetic on literal zeros.
#include <bit>
#include <cstring>

#include "emit/spirv/emitter.h"
#include "kernel/semantics.h"

namespace lcpy::spirv {

// The kernel's index in an indirect dispatch is far below 2^31, which a driver cannot know. It
// knows no bit of this zero. What it is added to is hidden, also twice, where xor would show it.
Word Emitter::zero_at_run_time(Scalar s) {
  Word& known = hidden_zeros_[static_cast<int>(s)];
  if (known) return known;
  const Word number = block_word(ArgumentBlock::kKernelId);
  Words* const current = out_;
  out_ = &early_;
  const Word zero = emit(Opcode::ShiftRightArithmetic, lanes(Scalar::UInt32), number, u32(31));
  if (s == Scalar::UInt32) {
    known = zero;
  } else if (scalar_size(s) == 8) {
    const Word pair[] = {zero, zero};
    const Word both = emit_list(Opcode::CompositeConstruct, lanes(Scalar::UInt32, 2), pair);
    known = emit(Opcode::Bitcast, lanes(s), both);
  } else if (s == Scalar::Float16) {
    const Word pair = emit(Opcode::Bitcast, lanes(s, 2), zero);
    known = emit(Opcode::CompositeExtract, lanes(s), pair, 0u);
  } else {
    known = emit(Opcode::Bitcast, lanes(s), zero);
  }
  out_ = current;
  return known;
}

// A number that the driver does not know.
Word Emitter::hidden_word(uint32_t number) {
  for (const auto& [known, id] : hidden_words_)
    if (known == number) return id;
  const Word zero = zero_at_run_time(Scalar::UInt32);
  Words* const current = out_;
  out_ = &early_;
  const Word id = emit(Opcode::IAdd, lanes(Scalar::UInt32), zero, u32(number));
  out_ = current;
  hidden_words_.emplace_back(number, id);
  return id;
}

// An integer on its way to a float: where the driver knows it to be zero it would know the float.
Word Emitter::hidden_integer(Word id, Scalar s, uint32_t n) {
  return hides() ? hidden_bits(id, s, n) : id;
}

// An integer of which the driver does not know where it comes from.
Word Emitter::hidden_bits(Word id, Scalar s, uint32_t n) {
  const bool wide = scalar_size(s) == 8, narrow = scalar_size(s) < 4 && !types_.held(s);
  const Scalar bits = wide ? Scalar::UInt64 : Scalar::UInt32;
  Word zero = zero_at_run_time(bits);
  const Scalar as = !narrow ? bits : scalar_size(s) == 1 ? Scalar::UInt8 : Scalar::UInt16;
  if (narrow) zero = emit(Opcode::UConvert, lanes(as), zero);
  const Word whole = lanes(s, n), zeros = spread(zero, as, n);
  return emit(Opcode::IAdd, whole, id, zeros);
}

// An integer of 64 bits of which the driver needs all, whatever it makes of them: shifted by none,
// which it does not know. (Ids of kernels are small.)
Word Emitter::whole_bits(Word id, Scalar s, uint32_t n) {
  const Word number = block_word(ArgumentBlock::kKernelId);
  const Word none = emit(Opcode::ShiftRightLogical, lanes(Scalar::UInt32), number, u32(26));
  const Word steps = spread(none, Scalar::UInt32, n), whole = lanes(s, n);
  const bool is_signed = scalar_class(s) == ScalarClass::Signed;
  const Opcode shift = is_signed ? Opcode::ShiftRightArithmetic : Opcode::ShiftRightLogical;
  return emit(shift, whole, id, steps);
}

// A half or float of which the driver does not know what it was rounded from.
Word Emitter::hidden_float(Word id, Scalar s, uint32_t n) {
  const Word zero = zero_at_run_time(Scalar::UInt32);
  if (s == Scalar::Float16) {  // in pairs, without integers of 16 bits
    const Word pair = lanes(s, 2), word = lanes(Scalar::UInt32), half = lanes(s);
    std::vector<Word> parts(n);
    for (uint32_t i = 0; i < n; i++) {
      const Word lane = n == 1 ? id : emit(Opcode::CompositeExtract, half, id, i);
      const Word both[] = {lane, lane};
      const Word bits =
          emit(Opcode::Bitcast, word, emit_list(Opcode::CompositeConstruct, pair, both));
      const Word hidden = emit(Opcode::IAdd, word, bits, zero);
      parts[i] = emit(Opcode::CompositeExtract, half, emit(Opcode::Bitcast, pair, hidden), 0u);
    }
    return n == 1 ? parts[0] : emit_list(Opcode::CompositeConstruct, lanes(s, n), parts);
  }
  const Word bits = lanes(Scalar::UInt32, n), zeros = spread(zero, Scalar::UInt32, n);
  const Word hidden = emit(Opcode::IAdd, bits, emit(Opcode::Bitcast, bits, id), zeros);
  const Word real = lanes(s, n);
  return emit(Opcode::Bitcast, real, hidden);
}

// A constant that the driver does not know.
Word Emitter::hidden_number(Type t, const std::byte* bytes) {
  const Scalar s = t.scalar();
  const uint32_t n = t.lanes();
  if (s == Scalar::Float16) {  // without arithmetic of halves
    std::vector<Word> parts(n);
    for (uint32_t i = 0; i < n; i++) {
      uint16_t half = 0;
      std::memcpy(&half, bytes + (n > 1 ? t.offset(i) : 0), sizeof half);
      const float v = semantics::half_to_float({half});
      parts[i] = hidden_float(scalar_constant(Scalar::Float32, std::bit_cast<uint32_t>(v)),
                              Scalar::Float32, 1);
      parts[i] = emit(Opcode::FConvert, lanes(s), parts[i]);
    }
    return n == 1 ? parts[0] : emit_list(Opcode::CompositeConstruct, lanes(s, n), parts);
  }
  const Word id = constant(t, bytes);
  return s == Scalar::Float64 ? hidden_double(id, n) : hidden_float(id, s, n);
}

// A double of which the driver does not know what it is.
Word Emitter::hidden_double(Word id, uint32_t n) {
  const Word zero = zero_at_run_time(Scalar::UInt32), pair = lanes(Scalar::UInt32, 2);
  const Word none[] = {zero, zero};
  const auto hide = [&](Word v) {
    const Word bits = emit(Opcode::Bitcast, pair, v);
    const Word zeros = emit_list(Opcode::CompositeConstruct, pair, none);
    return emit(Opcode::Bitcast, lanes(Scalar::Float64), emit(Opcode::IAdd, pair, bits, zeros));
  };
  if (n == 1) return hide(id);
  std::vector<Word> parts(n);
  for (uint32_t i = 0; i < n; i++)
    parts[i] = hide(emit(Opcode::CompositeExtract, lanes(Scalar::Float64), id, i));
  return emit_list(Opcode::CompositeConstruct, lanes(Scalar::Float64, n), parts);
}

// Whether a constant has a zero that the driver would simplify by. It does so also where the zero
// comes to an operation through memory, a choice or a loop, so every use of one is hidden. Not of
// long arrays: what they hold is not simplified by.
bool Emitter::hides_zeros(Type t, const std::byte* bytes) const {
  if (t.is_scalar()) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes, t.size());
    return t.is_float() && (bits << (64 - t.size() * 8 + 1)) == 0;
  }
  constexpr uint32_t kLongest = 64;
  if (t.count() > kLongest) return false;
  for (uint32_t i = 0; i < t.count(); i++)
    if (hides_zeros(t.component(i), bytes + t.offset(i))) return true;
  return false;
}

Word Emitter::with_hidden_zeros(Type t, const std::byte* bytes) {
  if (!hides_zeros(t, bytes)) return constant(t, bytes);
  if (t.is_scalar()) {
    const Word zero = zero_at_run_time(t.scalar());
    const bool negative = bytes[t.size() - 1] != std::byte{0};
    return negative ? emit(Opcode::FNegate, type(t), zero) : zero;
  }
  std::vector<Word> parts(t.count());
  for (uint32_t i = 0; i < t.count(); i++)
    parts[i] = with_hidden_zeros(t.component(i), bytes + t.offset(i));
  return emit_list(Opcode::CompositeConstruct, type(t), parts);
}

// To the nearest integer, ties to even: up from where the rest above the next lower integer is more
// than a half, or a half above an odd one. Floor and Ceil keep the sign of zeros.
void Emitter::round_whole(const Operation& o) {
  const Type t = d_.type_of(d_.result(o));
  const Word a = value(d_.operands_of(o)[0]), real = type(t);
  if (t.scalar() != Scalar::Float64 || target_.rounds_doubles)
    return alias(o, glsl(Glsl::RoundEven, real, a));
  const Word flag = lanes(Scalar::Bool, t.lanes());
  const Word half = lane_constant(Scalar::Float64, t.lanes(), 0x3fe0000000000000);
  const Word below = glsl(Glsl::Floor, real, a), above = glsl(Glsl::Ceil, real, a);
  const Word rest = emit(Opcode::FSub, real, a, below);
  m_.decorate(rest, Decoration::NoContraction);
  const Word halved = emit(Opcode::FMul, real, below, half);
  const Word odd = emit(Opcode::FOrdNotEqual, flag, glsl(Glsl::Floor, real, halved), halved);
  const Word middle = emit(Opcode::FOrdEqual, flag, rest, half);
  const Word more = emit(Opcode::FOrdGreaterThan, flag, rest, half);
  const Word from_middle = emit(Opcode::LogicalAnd, flag, middle, odd);
  const Word up = emit(Opcode::LogicalOr, flag, more, from_middle);
  alias(o, emit(Opcode::Select, real, up, above, below));
}

// Toward zero.
void Emitter::truncate(const Operation& o) {
  const Type t = d_.type_of(d_.result(o));
  const Word a = value(d_.operands_of(o)[0]), real = type(t);
  if (t.scalar() != Scalar::Float64 || target_.rounds_doubles)
    return alias(o, glsl(Glsl::Trunc, real, a));
  const Word zero = lane_constant(Scalar::Float64, t.lanes(), 0);
  const Word is_below = emit(Opcode::FOrdLessThan, lanes(Scalar::Bool, t.lanes()), a, zero);
  const Word up = glsl(Glsl::Ceil, real, a), down = glsl(Glsl::Floor, real, a);
  alias(o, emit(Opcode::Select, real, is_below, up, down));
}

// Drivers go from double to half by way of float, and round at each step. The first step here
// rounds to odd: where it is inexact, to that neighbour whose last bit is set.
Word Emitter::double_to_half(Word id, uint32_t n) {
  constexpr Scalar f = Scalar::Float32;
  const Word bits = lanes(Scalar::UInt32, n), flag = lanes(Scalar::Bool, n);
  const Word wide = lanes(Scalar::Float64, n), narrow = lanes(f, n);
  const Word zero = lane_constant(Scalar::Float64, n, 0),
             none = lane_constant(Scalar::UInt32, n, 0);
  const Word one = lane_constant(Scalar::UInt32, n, 1);
  const Word nearest = emit(Opcode::FConvert, narrow, id);
  const Word back = emit(Opcode::FConvert, wide, nearest);
  const Word word = emit(Opcode::Bitcast, bits, nearest);
  const Word even = emit(Opcode::IEqual, flag, emit(Opcode::BitwiseAnd, bits, word, one), none);
  const Word inexact = emit(Opcode::FOrdNotEqual, flag, back, id);
  const Word move = emit(Opcode::LogicalAnd, flag, even, inexact);
  // Away from zero an even word gains its last bit; toward zero it counts down.
  const Word below = emit(Opcode::FOrdLessThan, flag, id, zero);
  const Word rose = emit(Opcode::FOrdLessThan, flag, id, back);
  const Word outward = emit(Opcode::LogicalEqual, flag, below, rose);
  const Word more = emit(Opcode::BitwiseOr, bits, word, one);
  const Word less = emit(Opcode::ISub, bits, word, one);
  const Word moved = emit(Opcode::Select, bits, outward, more, less);
  const Word odd = emit(Opcode::Select, bits, move, moved, word);
  const Word rounded = emit(Opcode::Bitcast, narrow, odd);
  return emit(Opcode::FConvert, lanes(Scalar::Float16, n), rounded);
}

// GLSL.std.450's Atan2 is undefined where both are zero, and drivers differ where both are
// infinite. There the signs decide: x stands for ±1, and an infinite y too.
void Emitter::atan2(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const Type t = d_.type_of(d_.result(o));
  const uint32_t n = t.lanes();
  const Scalar s = t.scalar();
  Word y = value(operands[0]), x = value(operands[1]);
  if (d_.math == MathMode::Fast) return alias(o, glsl(Glsl::Atan2, type(t), y, x));
  constexpr Scalar f = Scalar::Float32;
  y = convert_lanes(rounded(operands[0].value()), s, f, n);
  x = convert_lanes(rounded(operands[1].value()), s, f, n);
  const Word wide = lanes(f, n), bits = lanes(Scalar::UInt32, n), flag = lanes(Scalar::Bool, n);
  const Word zero = lane_constant(f, n, 0), sign = lane_constant(Scalar::UInt32, n, 0x80000000u);
  const Word one = lane_constant(Scalar::UInt32, n, 0x3f800000u);
  const Word rest = lane_constant(Scalar::UInt32, n, 0x7fffffffu);
  const auto unit = [&](Word v) {
    const Word signs = emit(Opcode::BitwiseAnd, bits, emit(Opcode::Bitcast, bits, v), sign);
    return emit(Opcode::Bitcast, wide, emit(Opcode::BitwiseOr, bits, signs, one));
  };
  const Word x_zero = emit(Opcode::FOrdEqual, flag, x, zero),
             y_zero = emit(Opcode::FOrdEqual, flag, y, zero);
  const Word zeros = emit(Opcode::LogicalAnd, flag, x_zero, y_zero);
  const Word x_inf = emit(Opcode::IsInf, flag, x), y_inf = emit(Opcode::IsInf, flag, y);
  const Word infinities = emit(Opcode::LogicalAnd, flag, x_inf, y_inf);
  const Word either = emit(Opcode::LogicalOr, flag, zeros, infinities);
  const Word safe_x = emit(Opcode::Select, wide, either, unit(x), x);
  const Word safe_y = emit(Opcode::Select, wide, infinities, unit(y), y);
  const Word angle = emit(Opcode::Bitcast, bits, glsl(Glsl::Atan2, wide, safe_y, safe_x));
  // The angle has y's sign, also at zero.
  const Word magnitude = emit(Opcode::BitwiseAnd, bits, angle, rest);
  const Word signs = emit(Opcode::BitwiseAnd, bits, emit(Opcode::Bitcast, bits, y), sign);
  const Word whole = emit(Opcode::BitwiseOr, bits, magnitude, signs);
  alias(o, convert_lanes(emit(Opcode::Bitcast, wide, whole), f, s, n));
}

}  // namespace lcpy::spirv
