// fma rounded once, where a driver's rounds twice. A short format's goes through a longer one,
// whose sum is rounded to odd; a double's is put together of what the steps of plain arithmetic
// lose.
#include "emit/spirv/emitter.h"

namespace lcpy::spirv {

// Doubles, and steps of error-free arithmetic on them that nothing may contract.
struct Emitter::Doubles {
  Emitter& e;
  Word type, flag, uint, pair;
  static constexpr uint32_t kBias = 1023;
  explicit Doubles(Emitter& emitter)
      : e(emitter),
        type(e.lanes(Scalar::Float64)),
        flag(e.lanes(Scalar::Bool)),
        uint(e.lanes(Scalar::UInt32)),
        pair(e.lanes(Scalar::UInt32, 2)) {}

  Word count(Opcode code, Word a, Word b) { return e.emit(code, uint, a, b); }
  Word of_words(Word low, Word high) {
    const Word words[] = {low, high};
    return e.emit(Opcode::Bitcast, type, e.emit_list(Opcode::CompositeConstruct, pair, words));
  }
  // 2 to the power of a signed integer, of a normal number.
  Word power(Word exponent) {
    const Word biased = count(Opcode::IAdd, exponent, e.u32(kBias)), none = e.u32(0);
    return of_words(none, count(Opcode::ShiftLeftLogical, biased, e.u32(20)));
  }
  struct Words2 {
    Word low, high;
  };
  Words2 words_of(Word v) {
    const Word bits = e.emit(Opcode::Bitcast, pair, v);
    const Word low = e.emit(Opcode::CompositeExtract, uint, bits, 0u);
    return {low, e.emit(Opcode::CompositeExtract, uint, bits, 1u)};
  }
  Word biased_exponent(Word high) {
    const Word shifted = count(Opcode::ShiftRightLogical, high, e.u32(20));
    return count(Opcode::BitwiseAnd, shifted, e.u32(0x7ff));
  }
  // A significand in [1, 2), with the sign, and the exponent above -1023; of zeros, zero.
  struct Spread {
    Word significand, exponent, ordinary, finite;  // ordinary: not zero, nor infinite
  };
  Spread spread(Word v) {
    const Word none = e.u32(0), raise = e.scalar_constant(Scalar::Float64, 0x43f0000000000000);
    const Word stored = biased_exponent(words_of(v).high);
    const Word is_small = e.emit(Opcode::IEqual, flag, stored, none);
    const Word raised = mul(v, raise);  // by 2^64
    const Words2 bits = words_of(e.emit(Opcode::Select, type, is_small, raised, v));
    const Word found = biased_exponent(bits.high);
    const Word some = e.emit(Opcode::INotEqual, flag, found, none);
    const Word finite = e.emit(Opcode::ULessThan, flag, found, e.u32(0x7ff));
    const Word ordinary = e.emit(Opcode::LogicalAnd, flag, some, finite);
    const Word fraction = count(Opcode::BitwiseAnd, bits.high, e.u32(0x800fffff));
    const Word one = count(Opcode::BitwiseOr, fraction, e.u32(kBias << 20));
    const Word sign = count(Opcode::BitwiseAnd, bits.high, e.u32(0x80000000));
    const Word high = e.emit(Opcode::Select, uint, ordinary, one, sign);
    const Word low = e.emit(Opcode::Select, uint, ordinary, bits.low, none);
    const Word lowered = e.emit(Opcode::Select, uint, is_small, e.u32(64), none);
    return {of_words(low, high), count(Opcode::ISub, found, lowered), ordinary, finite};
  }

  Word fixed(Opcode code, Word a, Word b) {
    const Word id = e.emit(code, type, a, b);
    e.m_.decorate(id, Decoration::NoContraction);
    return id;
  }
  Word add(Word a, Word b) { return fixed(Opcode::FAdd, a, b); }
  Word sub(Word a, Word b) { return fixed(Opcode::FSub, a, b); }
  Word mul(Word a, Word b) { return fixed(Opcode::FMul, a, b); }
  // a + b = sum + what rounding lost (Knuth).
  Word lost(Word a, Word b, Word sum) {
    const Word part = sub(sum, a);
    const Word of_a = sub(a, sub(sum, part)), of_b = sub(b, part);
    return add(of_a, of_b);
  }
  // The sum rounded to odd: where it is inexact, that neighbour of the exact sum whose last bit is
  // set. Rounding it again to a shorter format then is as if only that had rounded.
  Word to_odd(Word sum, Word lost) {
    const Word zero = e.scalar_constant(Scalar::Float64, 0), none = e.u32(0), one = e.u32(1);
    const auto [low, high] = words_of(sum);
    const Word last = e.emit(Opcode::BitwiseAnd, uint, low, one);
    const Word even = e.emit(Opcode::IEqual, flag, last, none);
    const Word inexact = e.emit(Opcode::FOrdNotEqual, flag, lost, zero);
    const Word move = e.emit(Opcode::LogicalAnd, flag, even, inexact);
    // Away from zero an even word gains its last bit; toward zero the pair counts down.
    const Word lost_below = e.emit(Opcode::FOrdLessThan, flag, lost, zero);
    const Word sum_below = e.emit(Opcode::FOrdLessThan, flag, sum, zero);
    const Word up = e.emit(Opcode::LogicalEqual, flag, lost_below, sum_below);
    const Word wraps = e.emit(Opcode::IEqual, flag, low, none);
    const Word borrow = e.emit(Opcode::Select, uint, wraps, one, none);
    const Word outward = of_words(e.emit(Opcode::BitwiseOr, uint, low, one), high);
    const Word fewer = e.emit(Opcode::ISub, uint, low, one);
    const Word inward = of_words(fewer, e.emit(Opcode::ISub, uint, high, borrow));
    const Word moved = e.emit(Opcode::Select, type, up, outward, inward);
    return e.emit(Opcode::Select, type, move, moved, sum);
  }
  // a = high + low, each short enough that products of them are exact (Veltkamp).
  void split(Word a, Word* high, Word* low) {
    const Word scaled = mul(e.scalar_constant(Scalar::Float64, 0x41a0000002000000), a);  // 2^27 + 1
    *high = sub(scaled, sub(scaled, a));
    *low = sub(a, *high);
  }
  // The sum, and what it lost, to odd.
  struct Sum {
    Word value, tail;
  };
  // a * b + c.
  Sum sum_of(Word a, Word b, Word c) {
    Word ah, al, bh, bl;
    split(a, &ah, &al);
    split(b, &bh, &bl);
    const Word product = mul(a, b);
    Word rest = sub(mul(ah, bh), product);
    rest = add(rest, mul(ah, bl));
    rest = add(rest, mul(al, bh));
    rest = add(rest, mul(al, bl));
    const Word t = add(c, rest), t_low = lost(c, rest, t);
    const Word v = add(product, t), v_low = lost(product, t, v);
    const Word tail = add(t_low, v_low);
    return {v, to_odd(tail, lost(t_low, v_low, tail))};
  }
  // The sum as it is when scaled by a power of two, of that exponent: with fewer bits where that
  // leaves a denormal. Adding a number whose last place is the smallest denormal's rounds there.
  Word rounded(const Sum& sum, Word scale) {
    const Word least = e.u32(-1022u), lowest = e.u32(-1000u), zero_word = e.u32(0);
    const Word apart = count(Opcode::ISub, least, scale);
    const Word unit = power(e.glsl(Glsl::SMax, uint, apart, lowest));
    const Word once = add(sum.value, sum.tail);
    const Word size = e.glsl(Glsl::FAbs, type, once);
    const Word is_small = e.emit(Opcode::FOrdLessThan, flag, size, unit);
    const Word sign = count(Opcode::BitwiseAnd, words_of(once).high, e.u32(0x80000000));
    const Words2 of_unit = words_of(unit);
    const Word kept = count(Opcode::BitwiseOr, of_unit.high, sign);
    const Word high = e.emit(Opcode::Select, uint, is_small, kept, zero_word);
    const Word large = of_words(of_unit.low, high);
    const Word whole = add(large, sum.value), whole_lost = lost(large, sum.value, whole);
    const Word tail = add(whole_lost, sum.tail);
    const Word odd = to_odd(tail, lost(whole_lost, sum.tail, tail));
    const Words2 rest = words_of(sub(add(whole, odd), large));  // a zero keeps its sign
    const Word few_bits = of_words(rest.low, count(Opcode::BitwiseOr, rest.high, sign));
    return e.emit(Opcode::Select, type, is_small, few_bits, once);
  }
};

// The product of two floats is exact in double; the sum is rounded to odd, then to the float.
Word Emitter::fma_narrow(Word a, Word b, Word c, Scalar s) {
  Doubles d(*this);
  a = emit(Opcode::FConvert, d.type, a);
  b = emit(Opcode::FConvert, d.type, b);
  c = emit(Opcode::FConvert, d.type, c);
  const Word product = d.mul(a, b), sum = d.add(product, c);
  const Word odd = d.to_odd(sum, d.lost(product, c, sum));
  return emit(Opcode::FConvert, lanes(s), odd);
}

// The product of two halves is exact in float, and the sum is rounded to odd there.
Word Emitter::fma_half(Word a, Word b, Word c) {
  const Word wide = lanes(Scalar::Float32), bits = lanes(Scalar::UInt32);
  const Word flag = lanes(Scalar::Bool);
  const auto fixed = [&](Opcode code, Word x, Word y) {
    const Word id = emit(code, wide, x, y);
    m_.decorate(id, Decoration::NoContraction);
    return id;
  };
  a = emit(Opcode::FConvert, wide, a);
  b = emit(Opcode::FConvert, wide, b);
  c = emit(Opcode::FConvert, wide, c);
  const Word product = fixed(Opcode::FMul, a, b), sum = fixed(Opcode::FAdd, product, c);
  // What the sum lost (Knuth): NaN, so neither more nor less, where the sum is not finite.
  const Word part = fixed(Opcode::FSub, sum, product), rest = fixed(Opcode::FSub, sum, part);
  const Word of_product = fixed(Opcode::FSub, product, rest), of_c = fixed(Opcode::FSub, c, part);
  const Word lost = fixed(Opcode::FAdd, of_product, of_c);
  const Word zero = scalar_constant(Scalar::Float32, 0), none = u32(0), one = u32(1);
  const Word more = emit(Opcode::FOrdGreaterThan, flag, lost, zero);
  const Word less = emit(Opcode::FOrdLessThan, flag, lost, zero);
  const Word below = emit(Opcode::FOrdLessThan, flag, sum, zero);
  const Word inward = emit(Opcode::Select, flag, below, more, less);
  const Word word = emit(Opcode::Bitcast, bits, sum);
  const Word last = emit(Opcode::BitwiseAnd, bits, word, one);
  const Word even = emit(Opcode::IEqual, flag, last, none);
  const Word inexact = emit(Opcode::LogicalOr, flag, more, less);
  const Word move = emit(Opcode::LogicalAnd, flag, even, inexact);
  const Word down = emit(Opcode::ISub, bits, word, one);
  const Word up = emit(Opcode::BitwiseOr, bits, word, one);
  const Word odd = emit(Opcode::Select, bits, inward, down, up);
  const Word chosen = emit(Opcode::Select, bits, move, odd, word);
  const Word rounded = emit(Opcode::Bitcast, wide, chosen);
  return emit(Opcode::FConvert, lanes(Scalar::Float16), rounded);
}

// Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008, of the significands:
// then neither the split of a factor nor an error term leaves the normal numbers. Where c lies far
// below or above the product, it is enough that the lesser of them is there, with its sign. Zero
// factors, infinities and NaNs take the plain way.
Word Emitter::fma_double(Word a, Word b, Word c) {
  Doubles d(*this);
  const auto body = [&](const Word* x) {
    constexpr uint32_t kFar = 130;
    const Doubles::Spread p = d.spread(x[0]), q = d.spread(x[1]), r = d.spread(x[2]);
    const Word bias = u32(Doubles::kBias), far = u32(kFar), far_below = u32(-kFar);
    const Word raised = d.count(Opcode::IAdd, p.exponent, q.exponent);
    const Word exponent = d.count(Opcode::ISub, raised, bias);
    const Word apart = d.count(Opcode::ISub, r.exponent, exponent);
    const Word near = glsl(Glsl::SClamp, d.uint, apart, far_below, far);
    const Word beside = d.mul(r.significand, d.power(near));
    const Doubles::Sum sum = d.sum_of(p.significand, q.significand, beside);
    // The scale comes back in two steps, since one power of two may be out of range.
    const Word least = d.count(Opcode::ISub, r.exponent, far);
    const Word lifted = glsl(Glsl::SMax, d.uint, exponent, least);
    const Word unbiased = d.count(Opcode::ISub, lifted, bias), most = u32(1200);
    const Word scale = glsl(Glsl::SMin, d.uint, unbiased, most);
    const Word first = d.count(Opcode::ShiftRightArithmetic, scale, u32(1));
    const Word second = d.count(Opcode::ISub, scale, first);
    const Word half_way = d.mul(d.rounded(sum, scale), d.power(first));
    const Word fused = d.mul(half_way, d.power(second));
    // A product that is finite but too large does not turn an infinite c into NaN.
    const Word factors = emit(Opcode::LogicalAnd, d.flag, p.finite, q.finite);
    const Word stays = emit(Opcode::LogicalAnd, d.flag, factors, emit(Opcode::IsInf, d.flag, x[2]));
    const Word plain = d.add(d.mul(x[0], x[1]), x[2]);
    const Word other = emit(Opcode::Select, d.type, stays, x[2], plain);
    const Word some = emit(Opcode::LogicalAnd, d.flag, p.ordinary, q.ordinary);
    const Word ordinary = emit(Opcode::LogicalAnd, d.flag, some, r.finite);
    const Word result = emit(Opcode::Select, d.type, ordinary, fused, other);
    out_->op(Opcode::ReturnValue, result);
  };
  const Word function = own_function(fma_function_, "fma", d.type, 3, body);
  return emit(Opcode::FunctionCall, d.type, function, a, b, c);
}

Word Emitter::fma_lanes(Word a, Word b, Word c, Scalar s, uint32_t n) {
  if (target_.fused_fma || d_.math == MathMode::Fast) return glsl(Glsl::Fma, lanes(s, n), a, b, c);
  std::vector<Word> parts(n);
  for (uint32_t i = 0; i < n; i++) {
    const auto lane = [&](Word v) {
      return n == 1 ? v : emit(Opcode::CompositeExtract, lanes(s), v, i);
    };
    const Word p = lane(a), q = lane(b), r = lane(c);
    parts[i] = s == Scalar::Float64   ? fma_double(p, q, r)
               : s == Scalar::Float16 ? fma_half(p, q, r)
                                      : fma_narrow(p, q, r, s);
  }
  return n == 1 ? parts[0] : emit_list(Opcode::CompositeConstruct, lanes(s, n), parts);
}

void Emitter::fma(const Operation& o) {
  const auto x = d_.operands_of(o);
  const Type t = d_.type_of(d_.result(o));
  const Word a = value(x[0]), b = value(x[1]), c = value(x[2]);
  alias(o, fma_lanes(a, b, c, t.scalar(), t.lanes()));
}

}  // namespace lcpy::spirv
