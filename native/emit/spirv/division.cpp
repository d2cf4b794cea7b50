// Division and square root of floats, rounded as IEEE says. Vulkan allows errors of a few units in
// the last place and GPUs make them.
//
// Each is a function of the module. Where neither the result nor a remainder can leave the normal
// numbers, a few steps of fma on the operands themselves round as they should; tried on every
// significand, from reciprocals and reciprocal roots that are up to four places off, and on the
// quotients that are closest to the middle between two floats. Of NVIDIA's, which are closer, fewer
// steps are enough. All other divisions take a branch, one lane after the other: a rare branch is
// cheap if it is short, dear where it keeps the compiler from unrolling what is around it. There
// they are made in double, if that is to be had and rounds: a quotient of floats is so far from the
// middle between two floats that its rounding to double decides nothing. Else the significands
// alone are divided, the quotient is improved until its remainder is exact, and the remainder says
// which neighbour is right. Roots of small numbers are made of raised ones.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "base/error.h"
#include "emit/spirv/emitter.h"

namespace lcpy::spirv {
namespace {

constexpr uint32_t kOne = 0x3f800000, kLargestFraction = 0x7fffff;
constexpr uint32_t kInfinity = 0x7f800000;
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
  Word real, flag;
  FloatBits(Emitter& emitter, uint32_t count)
      : e(emitter), n(count), real(e.lanes(Scalar::Float32, n)), flag(e.lanes(Scalar::Bool, n)) {}

  Word bits() const { return e.lanes(Scalar::UInt32, n); }  // a type that not all need
  Word number(uint32_t v) { return e.lane_constant(Scalar::UInt32, n, v); }
  Word of(Word value) { return e.emit(Opcode::Bitcast, bits(), value); }
  Word value(Word pattern) { return e.emit(Opcode::Bitcast, real, pattern); }
  Word with(Opcode code, Word a, uint32_t constant) {
    const Word b = number(constant);
    return e.emit(code, bits(), a, b);
  }
  Word real_number(uint32_t pattern) { return e.lane_constant(Scalar::Float32, n, pattern); }
  // 1 where the condition holds.
  Word one_if(Word condition) {
    const Word one = number(1), none = number(0);
    return e.emit(Opcode::Select, bits(), condition, one, none);
  }
  // A finite number but zero as a significand in [1, 2) and an exponent.
  struct Spread {
    Word significand, exponent, ordinary;
  };
  Spread spread(Word v) {
    const Word size = with(Opcode::BitwiseAnd, of(v), 0x7fffffff);
    const Word limit = number(0x7f7fffff), before = with(Opcode::ISub, size, 1);
    const Word ordinary = e.emit(Opcode::ULessThan, flag, before, limit);
    const Word least = number(0x00800000);
    const Word is_denormal = e.emit(Opcode::ULessThan, flag, size, least);
    const Word raised = of(exact(Opcode::FMul, value(size), real_number(0x4b800000)));  // 2^24
    const Word pattern = e.emit(Opcode::Select, bits(), is_denormal, raised, size);
    const Word bias = number(127), more = number(127 + 24);
    const Word offset = e.emit(Opcode::Select, bits(), is_denormal, more, bias);
    const Word biased = with(Opcode::ShiftRightLogical, pattern, 23);
    const Word fraction = with(Opcode::BitwiseAnd, pattern, kLargestFraction);
    return {value(with(Opcode::BitwiseOr, fraction, kOne)),
            e.emit(Opcode::ISub, bits(), biased, offset), ordinary};
  }
  // 1 with the sign of `v` where the condition holds, else `v`.
  Word unit_if(Word condition, Word v) {
    const Word sign = with(Opcode::BitwiseAnd, of(v), 0x80000000);
    const Word one = value(with(Opcode::BitwiseOr, sign, kOne));
    return e.emit(Opcode::Select, real, condition, one, v);
  }
  // 2 to the power of a signed integer; 0 below the normal numbers.
  Word power(Word exponent) {
    return value(with(Opcode::ShiftLeftLogical, with(Opcode::IAdd, exponent, 127), 23));
  }
  // An operation that nothing contracts.
  Word exact(Opcode code, Word a, Word b) {
    const Word id = e.emit(code, real, a, b);
    e.m_.decorate(id, Decoration::NoContraction);
    return id;
  }
  Word both(Word a, Word b) { return e.emit(Opcode::LogicalAnd, flag, a, b); }
  Word fma(Word a, Word b, Word c) { return e.fma_lanes(a, b, c, Scalar::Float32, n); }
  Word negative(Word a) { return e.emit(Opcode::FNegate, real, a); }
  // One step up where the remainder is above the limit, down where it is below minus the limit.
  Word nearest(Word estimate, Word remainder, Word limit, Opcode below) {
    const Word above = one_if(e.emit(Opcode::FOrdGreaterThan, flag, remainder, limit));
    const Word low = negative(limit);
    const Word under = one_if(e.emit(below, flag, remainder, low));
    const Word up = e.emit(Opcode::IAdd, bits(), of(estimate), above);
    return e.emit(Opcode::ISub, bits(), up, under);
  }
};

// A function that gives one expression of its parameters.
Word Emitter::plain_function(Word& made, const char* name, uint32_t n,
                             const std::function<Word(Word)>& body) {
  return own_function(made, name, lanes(Scalar::Float32, n), 1, [&](const Word* x) {
    const Word result = body(x[0]);
    out_->op(Opcode::ReturnValue, result);
  });
}

// A function whose quick result holds where a check of it and its parameters says so of all lanes.
Word Emitter::branching_function(Word& made, const char* name, uint32_t arity, uint32_t n,
                                 const OwnValue& quick, const OwnCheck& holds,
                                 const OwnValue& careful) {
  return own_function(made, name, lanes(Scalar::Float32, n), arity, [&](const Word* x) {
    const Word soon = quick(x), each = holds(x, soon), all = lanes(Scalar::Bool);
    const Word always = n == 1 ? each : emit(Opcode::All, all, each);
    const Word common = m_.new_id(), rare = m_.new_id(), after = m_.new_id();
    out_->op(Opcode::SelectionMerge, after, SelectionControl::DontFlatten);
    out_->op(Opcode::BranchConditional, always, common, rare);
    start_block(common);
    out_->op(Opcode::ReturnValue, soon);
    start_block(rare);
    const Word late = careful(x);
    out_->op(Opcode::ReturnValue, late);
    start_block(after);
    out_->op(Opcode::Unreachable);
  });
}

// Whether the size of each lane is more, or less, than a number, and no NaN.
Word Emitter::size_is(Opcode comparison, Word v, uint32_t limit, uint32_t n) {
  const Word size = glsl(Glsl::FAbs, lanes(Scalar::Float32, n), v);
  const Word bound = lane_constant(Scalar::Float32, n, limit);
  return emit(comparison, lanes(Scalar::Bool, n), size, bound);
}

// 1 / b, rounded as it should if neither is small. From a divisor that is zero, infinite or has no
// reciprocal, NaN.
Word Emitter::quick_reciprocal(Word b, int steps, uint32_t n) {
  FloatBits f(*this, n);
  const Word one = lane_constant(Scalar::Float32, n, kOne), minus = f.negative(b);
  Word y = emit(Opcode::FDiv, f.real, one, b);
  for (int step = 0; step < steps; step++) y = f.fma(f.fma(minus, y, one), y, y);
  return y;
}

// The reciprocal of the largest significand may come out one place too low: such go the other way.
Word Emitter::divides_closely(Word fits, Word b, uint32_t n) {
  if (target_.close_reciprocals) return fits;
  FloatBits f(*this, n);
  const Word significand = f.with(Opcode::ShiftLeftLogical, f.of(b), 9);
  const Word largest = f.number(kLargestFraction << 9);
  return f.both(fits, emit(Opcode::ULessThan, f.flag, significand, largest));
}

// A remainder loses nothing if the dividend is not small. All else that goes wrong shows: where the
// reciprocal or the quotient leave the numbers, the last step makes NaN of them.
Word Emitter::exact_quotient(Word a, Word b, uint32_t n) {
  FloatBits f(*this, n);
  const Word function = branching_function(
      quotient_functions_[n], "divide", 2, n,
      [&](const Word* x) {
        const Word y = quick_reciprocal(x[1], 1, n), minus = f.negative(x[1]);
        Word q = emit(Opcode::FMul, f.real, x[0], y);
        // From the rounded reciprocal one step is enough (Markstein), as for constants.
        const int steps = target_.close_reciprocals ? 1 : 2;
        for (int step = 0; step < steps; step++) q = f.fma(f.fma(minus, q, x[0]), y, q);
        return q;
      },
      [&](const Word* x, Word q) {
        const Word first = size_is(Opcode::FOrdGreaterThan, x[0], kLeastModerate, n);
        const Word second = size_is(Opcode::FOrdLessThan, x[1], kMostModerate, n);
        const Word result = size_is(Opcode::FOrdLessThan, q, kInfinity, n);
        return divides_closely(f.both(f.both(first, second), result), x[1], n);
      },
      [&](const Word* x) { return rare_quotient(x[0], x[1], n); });
  return emit(Opcode::FunctionCall, f.real, function, a, b);
}

Word Emitter::exact_reciprocal(Word b, uint32_t n) {
  FloatBits f(*this, n);
  const Word one = lane_constant(Scalar::Float32, n, kOne);
  const Word function = branching_function(
      reciprocal_functions_[n], "reciprocal", 1, n,
      [&](const Word* x) { return quick_reciprocal(x[0], target_.close_reciprocals ? 1 : 2, n); },
      [&](const Word* x, Word y) {
        const Word fits = size_is(Opcode::FOrdGreaterThan, y, kLeastModerate, n);
        const Word whole = target_.close_reciprocals
                               ? fits
                               : f.both(fits, size_is(Opcode::FOrdLessThan, y, kMostModerate, n));
        return divides_closely(whole, x[0], n);
      },
      [&](const Word* x) { return rare_quotient(one, x[0], n); });
  return emit(Opcode::FunctionCall, f.real, function, b);
}

// By a constant, of which the rounded reciprocal is known: one step is enough.
Word Emitter::exact_quotient_by(Word a, Word b, Word reciprocal, uint32_t n) {
  FloatBits f(*this, n);
  const Word function = branching_function(
      constant_functions_[n], "divide_by_constant", 3, n,
      [&](const Word* x) {
        const Word q = emit(Opcode::FMul, f.real, x[0], x[2]);
        return f.fma(f.fma(f.negative(x[1]), q, x[0]), x[2], q);
      },
      [&](const Word* x, Word q) {
        const Word first = size_is(Opcode::FOrdGreaterThan, x[0], kLeastModerate, n);
        return f.both(first, size_is(Opcode::FOrdLessThan, q, kInfinity, n));
      },
      [&](const Word* x) { return rare_quotient(x[0], x[1], n); });
  return emit(Opcode::FunctionCall, f.real, function, a, b, reciprocal);
}

// Goldschmidt's iteration: g goes to the root, h to half its reciprocal.
Word Emitter::quick_root(Word x, uint32_t n) {
  FloatBits f(*this, n);
  const Word half = f.real_number(0x3f000000);
  const Word y = glsl(Glsl::InverseSqrt, f.real, x);
  Word g = emit(Opcode::FMul, f.real, x, y), h = emit(Opcode::FMul, f.real, half, y);
  if (!target_.close_reciprocals) {
    const Word e = f.fma(f.negative(h), g, half);
    g = f.fma(g, e, g);
    h = f.fma(h, e, h);
  }
  return f.fma(f.fma(f.negative(g), g, x), h, g);
}

// A small operand is raised; zeros and infinity are roots of themselves, others have none.
Word Emitter::exact_root(Word a, uint32_t n) {
  FloatBits f(*this, n);
  const Word function = branching_function(
      root_functions_[n], "square_root", 1, n, [&](const Word* x) { return quick_root(x[0], n); },
      [&](const Word* x, Word) {  // positive, neither small nor infinite
        const Word above = f.with(Opcode::ISub, f.of(x[0]), kLeastModerate);
        const Word span = f.number(kInfinity - kLeastModerate);
        return emit(Opcode::ULessThan, f.flag, above, span);
      },
      [&](const Word* x) {
        const Word least = f.real_number(kLeastModerate);
        const Word is_small = emit(Opcode::FOrdLessThan, f.flag, x[0], least);
        const Word raised = f.exact(Opcode::FMul, x[0], f.real_number(0x5f800000));  // 2^64
        const Word operand = emit(Opcode::Select, f.real, is_small, raised, x[0]);
        const Word root = quick_root(operand, n);
        const Word lowered = f.exact(Opcode::FMul, root, f.real_number(0x2f800000));  // 2^-32
        const Word right = emit(Opcode::Select, f.real, is_small, lowered, root);
        return emit(Opcode::Select, f.real, is_end(x[0], n), x[0], right);
      });
  return emit(Opcode::FunctionCall, f.real, function, a);
}

// Whether lanes are zero or positive infinity.
Word Emitter::is_end(Word v, uint32_t n) {
  FloatBits f(*this, n);
  const Word zero = emit(Opcode::FOrdEqual, f.flag, v, f.real_number(0));
  const Word infinite = emit(Opcode::FOrdEqual, f.flag, v, f.real_number(kInfinity));
  return emit(Opcode::LogicalOr, f.flag, zero, infinite);
}

// The reciprocal of a root is far from the smallest and the largest numbers, unless it is an end.
Word Emitter::reciprocal_of_root(Word b, uint32_t n) {
  FloatBits f(*this, n);
  const Word function =
      plain_function(root_reciprocals_[n], "reciprocal_of_root", n, [&](Word root) {
        const Word one = f.real_number(kOne);
        const Word seed = emit(Opcode::FDiv, f.real, one, root);
        const Word y = f.fma(f.fma(f.negative(root), seed, one), seed, seed);
        return emit(Opcode::Select, f.real, is_end(root, n), seed, y);
      });
  return emit(Opcode::FunctionCall, f.real, function, b);
}

// Exact for all operands, by lane in a loop, so that there is one copy of what is long.
Word Emitter::rare_quotient(Word a, Word b, uint32_t n) {
  const Word real = lanes(Scalar::Float32);
  const auto of_lane = [&](Word x, Word y) {
    if (!target_.rounds_double_quotients || !target_.float64) return careful_quotient(x, y, 1);
    divides_doubles_ = true;
    m_.require(Capability::Float64);
    const Word wide = lanes(Scalar::Float64);
    const Word p = emit(Opcode::FConvert, wide, x), q = emit(Opcode::FConvert, wide, y);
    return emit(Opcode::FConvert, real, emit(Opcode::FDiv, wide, p, q));
  };
  if (n == 1) return of_lane(a, b);
  const Word vector = lanes(Scalar::Float32, n), count = lanes(Scalar::UInt32);
  const Word before = label_, header = m_.new_id(), body = m_.new_id(), next = m_.new_id(),
             after = m_.new_id();
  // Each turn takes the first lanes, and turns all three vectors by one: after n turns the
  // quotients stand where they belong.
  const Word x = m_.new_id(), y = m_.new_id(), q = m_.new_id(), i = m_.new_id();
  Word turned[4];
  for (Word& id : turned) id = m_.new_id();
  const Word none = u32(0), one = u32(1), all = u32(n);
  out_->op(Opcode::Branch, header);
  start_block(header);
  out_->op(Opcode::Phi, vector, x, a, before, turned[0], next);
  out_->op(Opcode::Phi, vector, y, b, before, turned[1], next);
  out_->op(Opcode::Phi, vector, q, a, before, turned[2], next);
  out_->op(Opcode::Phi, count, i, none, before, turned[3], next);
  out_->op(Opcode::LoopMerge, after, next, LoopControl::DontUnroll);
  out_->op(Opcode::Branch, body);
  start_block(body);
  const Word first = emit(Opcode::CompositeExtract, real, x, 0u);
  const Word second = emit(Opcode::CompositeExtract, real, y, 0u);
  const Word quotient = of_lane(first, second);
  out_->op(Opcode::Branch, next);
  start_block(next);
  const auto turn = [&](Word id, Word v, Word last) {
    std::vector<Word> parts;
    for (uint32_t k = 1; k < n; k++) parts.push_back(emit(Opcode::CompositeExtract, real, v, k));
    parts.push_back(last);
    out_->begin(Opcode::CompositeConstruct);
    out_->push(vector);
    out_->push(id);
    out_->push_all(parts);
    LCPY_CHECK(out_->end());
  };
  turn(turned[0], x, first);
  turn(turned[1], y, second);
  turn(turned[2], q, quotient);
  out_->op(Opcode::IAdd, count, turned[3], i, one);
  const Word more = emit(Opcode::ULessThan, lanes(Scalar::Bool), turned[3], all);
  out_->op(Opcode::BranchConditional, more, header, after);
  start_block(after);
  return turned[2];
}

// Exact for all operands. The quotient of the significands is rounded to 24 bits, with a remainder
// that tells on which side of it the true one is. Where fewer bits are left, in a denormal, it is
// rounded again, and only from the middle between two such does that side decide.
Word Emitter::careful_quotient(Word a, Word b, uint32_t n) {
  FloatBits f(*this, n);
  const FloatBits::Spread top = f.spread(a), bottom = f.spread(b);
  // Zeros, infinities and NaNs by the device's division, where what is ordinary is 1: a device that
  // divides by multiplying with a reciprocal makes NaN of infinity by a large number.
  const Word a_unit = f.unit_if(top.ordinary, a), b_unit = f.unit_if(bottom.ordinary, b);
  const Word plain = emit(Opcode::FDiv, f.real, a_unit, b_unit);
  // A quotient in [1, 2), so that its last place is 2^-23.
  const Word less = emit(Opcode::FOrdLessThan, f.flag, top.significand, bottom.significand);
  const Word twice = f.one_if(less);
  const Word doubled = f.with(Opcode::ShiftLeftLogical, twice, 23);
  const Word x = f.value(emit(Opcode::IAdd, f.bits(), f.of(top.significand), doubled));
  const Word y = bottom.significand, minus_y = f.negative(y);
  const Word reciprocal = emit(Opcode::FDiv, f.real, f.real_number(kOne), y);
  Word q = emit(Opcode::FMul, f.real, x, reciprocal);
  q = f.fma(f.fma(q, minus_y, x), reciprocal, q);
  const Word limit = emit(Opcode::FMul, f.real, y, f.real_number(0x33800000));  // 2^-24
  q = f.value(f.nearest(q, f.fma(q, minus_y, x), limit, Opcode::FOrdLessThan));
  const Word rest = f.fma(q, minus_y, x), none = f.real_number(0);
  // Its exponent; beyond these the result is 0 or infinite all the same.
  const Word apart = emit(Opcode::ISub, f.bits(), top.exponent, bottom.exponent);
  const Word whole = emit(Opcode::ISub, f.bits(), apart, twice);
  const Word least = f.number(-152u), most = f.number(200);
  const Word exponent = glsl(Glsl::SClamp, f.bits(), whole, least, most);
  // Rounding to multiples of a unit, by a sum whose last place that is.
  const Word unit_exponent = emit(Opcode::ISub, f.bits(), f.number(-149u), exponent);
  const Word unit = f.power(unit_exponent);
  const Word large = f.exact(Opcode::FMul, unit, f.real_number(0x4b000000));  // 2^23
  const Word rounded = f.exact(Opcode::FSub, f.exact(Opcode::FAdd, q, large), large);
  const Word left = f.exact(Opcode::FSub, q, rounded);
  const Word half = f.exact(Opcode::FMul, unit, f.real_number(0x3f000000));
  const auto from_middle = [&](Opcode side, Word middle) {
    const Word at = emit(Opcode::FOrdEqual, f.flag, left, middle);
    return f.both(at, emit(side, f.flag, rest, none));
  };
  const Word above = f.exact(Opcode::FAdd, rounded, unit);
  const Word below = f.exact(Opcode::FSub, rounded, unit);
  const Word goes_up = from_middle(Opcode::FOrdGreaterThan, half);
  const Word goes_down = from_middle(Opcode::FOrdLessThan, f.negative(half));
  const Word up = emit(Opcode::Select, f.real, goes_up, above, rounded);
  const Word few_bits = emit(Opcode::Select, f.real, goes_down, below, up);
  const Word is_denormal = emit(Opcode::SLessThan, f.flag, exponent, f.number(-126u));
  const Word result = emit(Opcode::Select, f.real, is_denormal, few_bits, q);
  // In two steps, since one power of two may be out of range; neither rounds.
  const Word first = f.with(Opcode::ShiftRightArithmetic, exponent, 1);
  const Word second = emit(Opcode::ISub, f.bits(), exponent, first);
  const Word once = f.exact(Opcode::FMul, result, f.power(first));
  const Word size = f.of(f.exact(Opcode::FMul, once, f.power(second)));
  const Word a_bits = f.of(a), b_bits = f.of(b);
  const Word signs = emit(Opcode::BitwiseXor, f.bits(), a_bits, b_bits);
  const Word sign = f.with(Opcode::BitwiseAnd, signs, 0x80000000);
  const Word quotient = f.value(emit(Opcode::BitwiseOr, f.bits(), size, sign));
  return emit(Opcode::Select, f.real, f.both(top.ordinary, bottom.ordinary), quotient, plain);
}

// A quotient of which one side may be a constant.
Word Emitter::quotient_of(ValueId dividend, ValueId divisor, Word a, Word b, uint32_t n) {
  float known[4] = {};
  if (d_.is_constant(dividend)) {
    std::memcpy(known, d_.constant_bytes(dividend).data(), n * sizeof(float));
    if (std::all_of(known, known + n, [](float v) { return v == 1.0f; })) {
      const Value& v = d_.values[divisor.value];
      const bool of_root = v.def == Value::Def::Result && d_.op(OpId(v.source)).op == Op::Sqrt;
      return of_root && target_.close_reciprocals ? reciprocal_of_root(b, n)
                                                  : exact_reciprocal(b, n);
    }
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
  // A driver would multiply by the reciprocal of a known double.
  if (s == Scalar::Float64 && d_.math != MathMode::Fast && !target_.exact_division &&
      d_.is_constant(x[1].value()))
    b = hidden_double(b, n);
  if (!corrects_division(s) || (o.flags & kLooseFlag)) {
    const Word quotient = emit(Opcode::FDiv, type(t), a, b);
    // Else a / (b / c) may become a * (c / b).
    if (s == Scalar::Float64 && d_.math != MathMode::Fast && !target_.exact_division)
      m_.decorate(quotient, Decoration::NoContraction);
    return alias(o, quotient);
  }
  if (s == Scalar::Float32) return alias(o, quotient_of(x[0].value(), x[1].value(), a, b, n));
  a = convert_lanes(rounded(x[0].value()), s, Scalar::Float32, n);
  b = convert_lanes(rounded(x[1].value()), s, Scalar::Float32, n);
  alias(o, convert_lanes(exact_quotient(a, b, n), Scalar::Float32, s, n));
}

// Lane after lane on NVIDIA: of a vector of which some lanes are not used, its compiler takes
// their divisors for undefined, and with one of them the whole quotient.
Word Emitter::divide_integers(Opcode code, Type t, Word a, Word b) {
  const uint32_t n = t.lanes();
  if (n == 1 || target_.sound_choices) return emit(code, type(t), a, b);
  const Word lane = lanes(t.scalar());
  std::vector<Word> parts(n);
  for (uint32_t i = 0; i < n; i++) {
    const Word p = emit(Opcode::CompositeExtract, lane, a, i);
    const Word q = emit(Opcode::CompositeExtract, lane, b, i);
    parts[i] = emit(code, lane, p, q);
  }
  return emit_list(Opcode::CompositeConstruct, type(t), parts);
}

// A divisor of 64 bits that the driver alone may know is hidden: NVIDIA's compiler takes another
// lane's remainder for that of a signed division by -4.
void Emitter::div_integer(const Operation& o) {
  const auto x = d_.operands_of(o);
  const Type t = d_.type_of(d_.result(o));
  const Scalar s = t.scalar();
  const bool is_signed = operand_class(s) == OperandClass::Signed;
  const Word a = value(x[0]);
  Word b = value(x[1]);
  if (is_signed && scalar_size(s) == 8 && !target_.sound_choices && !d_.is_constant(x[1].value()))
    b = hidden_bits(b, s, t.lanes());
  const Word id = divide_integers(is_signed ? Opcode::SDiv : Opcode::UDiv, t, a, b);
  alias(o, whole_quotient(id, t));
}

void Emitter::rem_integer(const Operation& o) {
  const auto x = d_.operands_of(o);
  const Type t = d_.type_of(d_.result(o));
  const Word a = value(x[0]), b = value(x[1]);
  alias(o, whole_quotient(divide_integers(Opcode::UMod, t, a, b), t));
}

// NVIDIA's compiler divides only the low bits of 64 where only they are used.
Word Emitter::whole_quotient(Word id, Type t) {
  const Scalar s = t.scalar();
  if (scalar_size(s) == 8 && !target_.sound_choices) return whole_bits(id, s, t.lanes());
  return wrap(id, s, t.lanes());
}

void Emitter::sqrt(const Operation& o) {
  const Type t = d_.type_of(d_.result(o));
  const Scalar s = t.scalar();
  const uint32_t n = t.lanes();
  Word a = value(d_.operands_of(o)[0]);
  if (!corrects_division(s)) return alias(o, glsl(Glsl::Sqrt, type(t), a));
  a = convert_lanes(rounded(d_.operands_of(o)[0].value()), s, Scalar::Float32, n);
  alias(o, convert_lanes(exact_root(a, n), Scalar::Float32, s, n));
}

}  // namespace lcpy::spirv
