// Division and square root of floats, rounded as IEEE says. Vulkan allows errors of a few units in
// the last place and GPUs make them.
//
// Each is a function of the module. Where the operands' exponents are moderate, neither the result
// nor a remainder can leave the normal numbers, and a few steps of fma on the operands themselves
// round as they should; tried on every significand, from reciprocals and reciprocal roots that are
// up to four places off. All other operands take a branch: there the significands alone are
// divided, the quotient is improved until its remainder is exact, and the remainder's size says
// which neighbour is right.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "emit/spirv/emitter.h"

namespace lcpy::spirv {
namespace {

constexpr uint32_t kOne = 0x3f800000, kLargestFraction = 0x7fffff;
constexpr uint32_t kLeastModerate = 0x21800000, kMostModerate = 0x5d800000;  // 2^-60, 2^60

// Whether the lanes of a constant divide quickly.
bool is_moderate(std::span<const float> lanes) {
  return std::ranges::all_of(lanes, [](float lane) {
    const uint32_t bits = std::bit_cast<uint32_t>(lane) & 0x7fffffff;
    return bits > kLeastModerate && bits < kMostModerate &&
           (bits & kLargestFraction) != kLargestFraction;
  });
}

}  // namespace

// Steps on the bits of float lanes.
struct Emitter::FloatBits {
  Emitter& e;
  uint32_t n;
  Word real, bits, flag;
  FloatBits(Emitter& emitter, uint32_t count)
      : e(emitter),
        n(count),
        real(e.lanes(Scalar::Float32, n)),
        bits(e.lanes(Scalar::UInt32, n)),
        flag(e.lanes(Scalar::Bool, n)) {}

  Word number(uint32_t v) { return e.lane_constant(Scalar::UInt32, n, v); }
  Word of(Word value) { return e.emit(Opcode::Bitcast, bits, value); }
  Word value(Word pattern) { return e.emit(Opcode::Bitcast, real, pattern); }
  Word with(Opcode code, Word a, uint32_t constant) {
    const Word b = number(constant);
    return e.emit(code, bits, a, b);
  }
  Word exponent(Word pattern) {
    return with(Opcode::BitwiseAnd, with(Opcode::ShiftRightLogical, pattern, 23), 255);
  }
  Word fraction(Word pattern) { return with(Opcode::BitwiseAnd, pattern, 0x7fffff); }
  // 1 where the condition holds.
  Word one_if(Word condition) {
    const Word one = number(1), none = number(0);
    return e.emit(Opcode::Select, bits, condition, one, none);
  }
  // The significand in [1, 2), doubled where `twice` is 1.
  Word significand(Word fraction, Word twice) {
    const Word one = with(Opcode::BitwiseOr, fraction, 0x3f800000);
    const Word step = with(Opcode::ShiftLeftLogical, twice, 23);
    return value(e.emit(Opcode::IAdd, bits, one, step));
  }
  // 2 to the power of a signed integer; 0 below the normal numbers.
  Word power(Word exponent) {
    return value(with(Opcode::ShiftLeftLogical, with(Opcode::IAdd, exponent, 127), 23));
  }
  // True for the exponents of normal numbers.
  Word normal(Word exponent) {
    const Word limit = number(254), less = with(Opcode::ISub, exponent, 1);
    return e.emit(Opcode::ULessThan, flag, less, limit);
  }
  Word both(Word a, Word b) { return e.emit(Opcode::LogicalAnd, flag, a, b); }
  Word fma(Word a, Word b, Word c) { return e.fma_lanes(a, b, c, Scalar::Float32, n); }
  Word negative(Word a) { return e.emit(Opcode::FNegate, real, a); }
  // One step up where the remainder is above the limit, down where it is below minus the limit.
  Word nearest(Word estimate, Word remainder, Word limit, Opcode below) {
    const Word above = one_if(e.emit(Opcode::FOrdGreaterThan, flag, remainder, limit));
    const Word low = negative(limit);
    const Word under = one_if(e.emit(below, flag, remainder, low));
    const Word up = e.emit(Opcode::IAdd, bits, of(estimate), above);
    return e.emit(Opcode::ISub, bits, up, under);
  }
};

// A function of one to three arguments on n lanes of float, made at its first use.
template <class Moderate, class Quick, class Careful>
Word Emitter::branching_function(Word& made, const char* name, uint32_t arity, uint32_t n,
                                 Moderate moderate, Quick quick, Careful careful) {
  if (made) return made;
  made = m_.new_id();
  Words code, *const current = out_;
  const Word label = label_, real = lanes(Scalar::Float32, n);
  const std::vector<Word> parameters(arity, real);
  out_ = &code;
  code.op(Opcode::Function, real, made, FunctionControl::None,
          m_.type_function(real, parameters));
  Word x[3] = {};
  for (uint32_t i = 0; i < arity; i++)
    code.op(Opcode::FunctionParameter, real, x[i] = m_.new_id());
  start_block(m_.new_id());
  const Word fits = moderate(x), all = lanes(Scalar::Bool);
  const Word always = n == 1 ? fits : emit(Opcode::All, all, fits);
  const Word common = m_.new_id(), rare = m_.new_id(), after = m_.new_id();
  code.op(Opcode::SelectionMerge, after, SelectionControl::DontFlatten);
  code.op(Opcode::BranchConditional, always, common, rare);
  start_block(common);
  code.op(Opcode::ReturnValue, quick(x));
  start_block(rare);
  code.op(Opcode::ReturnValue, careful(x));
  start_block(after);
  code.op(Opcode::Unreachable);
  code.op(Opcode::FunctionEnd);
  if (target_.names) m_.name(made, name);
  m_.function(code);
  out_ = current;
  label_ = label;
  return made;
}

// Whether each lane is between 2^-60 and 2^60.
Word Emitter::moderate(Word size, uint32_t n) {
  const Word flag = lanes(Scalar::Bool, n);
  const Word low = lane_constant(Scalar::Float32, n, kLeastModerate);
  const Word high = lane_constant(Scalar::Float32, n, kMostModerate);
  const Word over = emit(Opcode::FOrdGreaterThan, flag, size, low);
  const Word under = emit(Opcode::FOrdLessThan, flag, size, high);
  return emit(Opcode::LogicalAnd, flag, over, under);
}

// The reciprocal of the largest significand may come out one place too low: such go the other way.
Word Emitter::divides_quickly(Word b, uint32_t n) {
  FloatBits f(*this, n);
  const Word fits = moderate(glsl(Glsl::FAbs, f.real, b), n);
  const Word significand = f.with(Opcode::ShiftLeftLogical, f.of(b), 9);
  const Word largest = f.number(kLargestFraction << 9);
  return f.both(fits, emit(Opcode::ULessThan, f.flag, significand, largest));
}

Word Emitter::exact_quotient(Word a, Word b, uint32_t n) {
  FloatBits f(*this, n);
  const Word function = branching_function(
      quotient_functions_[n], "divide", 2, n,
      [&](const Word* x) {
        const Word size = glsl(Glsl::FAbs, f.real, x[0]);
        const Word first = moderate(size, n), second = divides_quickly(x[1], n);
        return f.both(first, second);
      },
      [&](const Word* x) {
        const Word one = lane_constant(Scalar::Float32, n, kOne);
        const Word minus = f.negative(x[1]);
        Word y = emit(Opcode::FDiv, f.real, one, x[1]);
        y = f.fma(f.fma(minus, y, one), y, y);
        Word q = emit(Opcode::FMul, f.real, x[0], y);
        for (int step = 0; step < 2; step++) q = f.fma(f.fma(minus, q, x[0]), y, q);
        return q;
      },
      [&](const Word* x) { return careful_quotient(x[0], x[1], n); });
  return emit(Opcode::FunctionCall, f.real, function, a, b);
}

Word Emitter::exact_reciprocal(Word b, uint32_t n) {
  FloatBits f(*this, n);
  const Word one = lane_constant(Scalar::Float32, n, kOne);
  const Word function = branching_function(
      reciprocal_functions_[n], "reciprocal", 1, n,
      [&](const Word* x) { return divides_quickly(x[0], n); },
      [&](const Word* x) {
        const Word minus = f.negative(x[0]);
        Word y = emit(Opcode::FDiv, f.real, one, x[0]);
        for (int step = 0; step < 2; step++) y = f.fma(f.fma(minus, y, one), y, y);
        return y;
      },
      [&](const Word* x) { return careful_quotient(one, x[0], n); });
  return emit(Opcode::FunctionCall, f.real, function, b);
}

// By a constant, of which the rounded reciprocal is known: one step is enough.
Word Emitter::exact_quotient_by(Word a, Word b, Word reciprocal, uint32_t n) {
  FloatBits f(*this, n);
  const Word function = branching_function(
      constant_functions_[n], "divide_by_constant", 3, n,
      [&](const Word* x) { return moderate(glsl(Glsl::FAbs, f.real, x[0]), n); },
      [&](const Word* x) {
        const Word q = emit(Opcode::FMul, f.real, x[0], x[2]);
        return f.fma(f.fma(f.negative(x[1]), q, x[0]), x[2], q);
      },
      [&](const Word* x) { return careful_quotient(x[0], x[1], n); });
  return emit(Opcode::FunctionCall, f.real, function, a, b, reciprocal);
}

Word Emitter::exact_root(Word a, uint32_t n) {
  FloatBits f(*this, n);
  const Word function = branching_function(
      root_functions_[n], "square_root", 1, n,
      [&](const Word* x) { return moderate(x[0], n); },  // below zero: the careful way
      [&](const Word* x) {
        // Goldschmidt's iteration: g goes to the root, h to half its reciprocal.
        const Word half = lane_constant(Scalar::Float32, n, 0x3f000000);
        const Word y = glsl(Glsl::InverseSqrt, f.real, x[0]);
        Word g = emit(Opcode::FMul, f.real, x[0], y), h = emit(Opcode::FMul, f.real, half, y);
        const Word e = f.fma(f.negative(h), g, half);
        g = f.fma(g, e, g);
        h = f.fma(h, e, h);
        return f.fma(f.fma(f.negative(g), g, x[0]), h, g);
      },
      [&](const Word* x) { return careful_root(x[0], n); });
  return emit(Opcode::FunctionCall, f.real, function, a);
}

Word Emitter::careful_quotient(Word a, Word b, uint32_t n) {
  FloatBits f(*this, n);
  const Word plain = emit(Opcode::FDiv, f.real, a, b);
  const Word a_bits = f.of(a), b_bits = f.of(b);
  const Word a_exponent = f.exponent(a_bits), b_exponent = f.exponent(b_bits);
  const Word a_fraction = f.fraction(a_bits), b_fraction = f.fraction(b_bits);
  // A quotient in [1, 2), so that its last place is 2^-23.
  const Word twice = f.one_if(emit(Opcode::ULessThan, f.flag, a_fraction, b_fraction));
  const Word x = f.significand(a_fraction, twice), y = f.significand(b_fraction, f.number(0));
  const Word one = lane_constant(Scalar::Float32, n, 0x3f800000);
  const Word half_place = lane_constant(Scalar::Float32, n, 0x33800000);  // 2^-24
  const Word reciprocal = emit(Opcode::FDiv, f.real, one, y), minus_y = f.negative(y);
  Word q = emit(Opcode::FMul, f.real, x, reciprocal);
  q = f.fma(f.fma(q, minus_y, x), reciprocal, q);
  const Word remainder = f.fma(q, minus_y, x);
  const Word limit = emit(Opcode::FMul, f.real, y, half_place);
  const Word right = f.nearest(q, remainder, limit, Opcode::FOrdLessThan);
  // What is not normal in a (0, infinity, NaN, denormal) needs no exact quotient, only y's range.
  const Word a_normal = f.normal(a_exponent), b_normal = f.normal(b_exponent);
  const Word unusual = emit(Opcode::FMul, f.real, a, reciprocal);
  const Word sign_of_a = f.with(Opcode::BitwiseAnd, a_bits, 0x80000000);
  const Word signed_right = f.value(emit(Opcode::BitwiseOr, f.bits, right, sign_of_a));
  const Word quotient = emit(Opcode::Select, f.real, a_normal, signed_right, unusual);
  const Word sign_of_b = f.with(Opcode::BitwiseAnd, b_bits, 0x80000000);
  const Word turned = f.value(emit(Opcode::BitwiseXor, f.bits, f.of(quotient), sign_of_b));
  // Back to the operands' exponents, in two steps since one power of two may be out of range; the
  // last of them alone rounds, where the result is denormal.
  const Word from = emit(Opcode::ISub, f.bits, a_exponent, twice), bias = f.number(127);
  const Word top = emit(Opcode::Select, f.bits, a_normal, from, bias);
  const Word scale = emit(Opcode::ISub, f.bits, top, b_exponent);
  const Word first = f.with(Opcode::ShiftRightArithmetic, scale, 1);
  const Word second = emit(Opcode::ISub, f.bits, scale, first);
  const Word once = emit(Opcode::FMul, f.real, turned, f.power(first));
  const Word exact = emit(Opcode::FMul, f.real, once, f.power(second));
  m_.decorate(once, Decoration::NoContraction);
  m_.decorate(exact, Decoration::NoContraction);
  return emit(Opcode::Select, f.real, b_normal, exact, plain);
}

Word Emitter::careful_root(Word a, uint32_t n) {
  FloatBits f(*this, n);
  const Word plain = glsl(Glsl::Sqrt, f.real, a);
  const Word pattern = f.of(a);
  const Word exponent = f.exponent(pattern);
  // A root in [1, 2]: of the significand, doubled where the exponent is odd.
  const Word twice = f.with(Opcode::BitwiseXor, f.with(Opcode::BitwiseAnd, exponent, 1), 1);
  const Word x = f.significand(f.fraction(pattern), twice);
  const Word half = lane_constant(Scalar::Float32, n, 0x3f000000);
  const Word place = lane_constant(Scalar::Float32, n, 0x34000000);  // 2^-23
  Word s = glsl(Glsl::Sqrt, f.real, x);
  const Word slope = emit(Opcode::FDiv, f.real, half, s);
  s = f.fma(f.fma(f.negative(s), s, x), slope, s);
  const Word remainder = f.fma(f.negative(s), s, x);
  const Word limit = emit(Opcode::FMul, f.real, s, place);
  const Word right = f.nearest(s, remainder, limit, Opcode::FOrdLessThanEqual);
  // Half the exponent: (exponent - 127 - twice) / 2, kept above zero for the shift.
  const Word even = emit(Opcode::ISub, f.bits, exponent, twice);
  const Word raised = f.with(Opcode::IAdd, even, 1024 - 127);
  const Word scale = f.with(Opcode::ISub, f.with(Opcode::ShiftRightLogical, raised, 1), 512);
  const Word shifted = f.with(Opcode::ShiftLeftLogical, scale, 23);
  const Word exact = f.value(emit(Opcode::IAdd, f.bits, right, shifted));
  const Word sign = f.with(Opcode::ShiftRightLogical, pattern, 31), none = f.number(0);
  const Word positive = emit(Opcode::IEqual, f.flag, sign, none);
  const Word safe = f.both(positive, f.normal(exponent));
  return emit(Opcode::Select, f.real, safe, exact, plain);
}

// A quotient of which one side may be a constant.
Word Emitter::quotient_of(ValueId dividend, ValueId divisor, Word a, Word b, uint32_t n) {
  float known[4] = {};
  if (d_.is_constant(dividend)) {
    std::memcpy(known, d_.constant_bytes(dividend).data(), n * sizeof(float));
    if (std::all_of(known, known + n, [](float v) { return v == 1.0f; }))
      return exact_reciprocal(b, n);
  }
  if (d_.is_constant(divisor)) {
    std::memcpy(known, d_.constant_bytes(divisor).data(), n * sizeof(float));
    if (is_moderate({known, n})) {
      for (uint32_t i = 0; i < n; i++) known[i] = 1.0f / known[i];
      const Type t = d_.type_of(divisor);
      const Word reciprocal = constant(t, reinterpret_cast<const std::byte*>(known));
      return exact_quotient_by(a, b, reciprocal, n);
    }
  }
  return exact_quotient(a, b, n);
}

// Half goes through float, which holds its quotients and roots to more than twice its length.
void Emitter::div(const Operation& o) {
  const auto x = d_.operands_of(o);
  const Type t = d_.type_of(d_.result(o));
  const Scalar s = t.scalar();
  const uint32_t n = t.lanes();
  Word a = value(x[0]), b = value(x[1]);
  if (!corrects_division(s) || (o.flags & kLooseFlag))
    return alias(o, emit(Opcode::FDiv, type(t), a, b));
  if (s == Scalar::Float32) return alias(o, quotient_of(x[0].value(), x[1].value(), a, b, n));
  a = convert_lanes(a, s, Scalar::Float32, n);
  b = convert_lanes(b, s, Scalar::Float32, n);
  alias(o, convert_lanes(exact_quotient(a, b, n), Scalar::Float32, s, n));
}

void Emitter::sqrt(const Operation& o) {
  const Type t = d_.type_of(d_.result(o));
  const Scalar s = t.scalar();
  const uint32_t n = t.lanes();
  Word a = value(d_.operands_of(o)[0]);
  if (!corrects_division(s)) return alias(o, glsl(Glsl::Sqrt, type(t), a));
  a = convert_lanes(a, s, Scalar::Float32, n);
  alias(o, convert_lanes(exact_root(a, n), Scalar::Float32, s, n));
}

}  // namespace lcpy::spirv
