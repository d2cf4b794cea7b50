// What the core's own functions are written with: arithmetic on one float or double, whose sums and
// products are rounded as written, so that reductions and compensated sums hold on every driver.
//
// The polynomials' coefficients are in fits.h, of float and of double; everything else is the same
// text for both.
#pragma once
#include <initializer_list>
#include <span>
#include <utility>

#include "lower/expand.h"

namespace lcpy {

class Own {
 public:
  Own(Expander& e, Type t)
      : e_(e), t_(t), wide_(t.scalar() == Scalar::Float64), fused_(e.fused_fma()) {}

  bool wide() const { return wide_; }
  Type type() const { return t_; }
  Type word() const { return Type::of(Scalar::UInt32); }
  Expander& expander() { return e_; }
  // The device's exp2 of float is within a few last places, and its fma rounds once.
  bool has_exp2() const { return !wide_ && fused_ && !e_.wants_own(Op::Exp2, t_); }

  // A number that differs between float and double, or does not.
  ValueId c(double v) { return e_.number(t_, v); }
  ValueId c(double of32, double of64) { return c(wide_ ? of64 : of32); }
  ValueId u(uint32_t v) { return e_.bits(word(), v); }
  ValueId i(int32_t v) { return e_.bits(Type::of(Scalar::Int32), static_cast<uint32_t>(v)); }
  ValueId infinity() { return c(__builtin_inf()); }
  ValueId nan() { return c(__builtin_nan("")); }

  // Floats: each rounded once, as written.
  ValueId add(ValueId a, ValueId b) { return exact(Op::Add, a, b); }
  ValueId sub(ValueId a, ValueId b) { return exact(Op::Sub, a, b); }
  ValueId mul(ValueId a, ValueId b) { return exact(Op::Mul, a, b); }
  // Of finite numbers, b normal; to about one last place.
  ValueId div(ValueId a, ValueId b);
  ValueId sqrt(ValueId a) { return e_.emit(Op::Sqrt, t_, {a}); }
  ValueId neg(ValueId a) { return e_.emit(Op::Neg, t_, {a}); }
  ValueId abs(ValueId a) { return e_.emit(Op::Abs, t_, {a}); }
  ValueId round(ValueId a) { return e_.emit(Op::Round, t_, {a}); }
  // a * b + c, rounded once where the device does that, else twice.
  ValueId mad(ValueId a, ValueId b, ValueId c) {
    return fused_ ? e_.emit_as_is(Op::Fma, t_, {a, b, c}) : add(mul(a, b), c);
  }
  // c - a * b.
  ValueId less_product(ValueId c, ValueId a, ValueId b) {
    return fused_ ? mad(neg(a), b, c) : sub(c, mul(a, b));
  }
  // The polynomial of float or of double, lowest power first.
  ValueId poly(ValueId x, std::span<const double> of32, std::span<const double> of64);

  // Sums and products with what rounding lost.
  struct Pair {
    ValueId high, low;
  };
  Pair sum(ValueId larger, ValueId smaller);  // |larger| >= |smaller|, or larger is 0
  Pair product(ValueId a, ValueId b);
  // The leading bits: 12 of a float, 21 of a double.
  ValueId head(ValueId x);

  // Choice and comparison.
  ValueId select(ValueId c, ValueId a, ValueId b) { return e_.select(c, a, b); }
  ValueId less(ValueId a, ValueId b) { return e_.compare(Op::Less, a, b); }
  ValueId greater(ValueId a, ValueId b) { return e_.compare(Op::Greater, a, b); }
  ValueId at_most(ValueId a, ValueId b) { return e_.compare(Op::LessEqual, a, b); }
  ValueId at_least(ValueId a, ValueId b) { return e_.compare(Op::GreaterEqual, a, b); }
  ValueId equal(ValueId a, ValueId b) { return e_.compare(Op::Equal, a, b); }
  ValueId both(ValueId a, ValueId b) { return e_.bit_and(a, b); }
  ValueId either(ValueId a, ValueId b) { return e_.bit_or(a, b); }
  ValueId is_nan(ValueId x) { return e_.is_nan(x); }
  ValueId keep_nan(ValueId x, ValueId r) { return select(is_nan(x), x, r); }

  // Words. `high` has the sign and the exponent; a float is one word.
  ValueId high(ValueId x);
  ValueId low(ValueId x);  // of a double
  ValueId with_high(ValueId x, ValueId high);
  ValueId sign(ValueId x) { return e_.bit_and(high(x), u(0x80000000u)); }
  // The sign of a positive number or zero, and the other sign where one bit says so.
  ValueId with_sign(ValueId x, ValueId sign) { return with_high(x, e_.bit_or(high(x), sign)); }
  ValueId flip(ValueId x, ValueId sign) { return with_high(x, e_.bit_xor(high(x), sign)); }
  uint32_t exponent_shift() const { return wide_ ? 20 : 23; }
  uint32_t bias() const { return wide_ ? 1023 : 127; }
  ValueId shift_left(ValueId a, uint32_t n) { return e_.shift(Op::ShlUnchecked, a, n); }
  ValueId shift_right(ValueId a, uint32_t n) { return e_.shift(Op::ShrUnchecked, a, n); }
  ValueId shift_left(ValueId a, ValueId n) { return e_.binary(Op::ShlUnchecked, a, n); }
  ValueId shift_right(ValueId a, ValueId n) { return e_.binary(Op::ShrUnchecked, a, n); }

  // A whole number in range, as int32, and back.
  ValueId to_int(ValueId x) { return e_.emit(Op::ConvertUnchecked, Type::of(Scalar::Int32), {x}); }
  ValueId to_float(ValueId n) { return e_.convert(n, t_); }
  ValueId two_to(ValueId n);            // of a normal number
  ValueId scale(ValueId x, ValueId n);  // x * 2^n, rounded once also to denormals

  // Results of `then` or of `other`, each run in a body of its own; same types.
  template <class Then, class Other>
  std::vector<ValueId> branch(ValueId condition, std::span<const Type> types, Then&& then,
                              Other&& other) {
    KernelBuilder& b = e_.builder();
    const BodyId outside = b.insertion();
    const BodyId yes = b.add_body(), no = b.add_body();
    b.set_insertion(yes);
    const std::vector<ValueId> first = then();
    b.terminate(Op::Yield, first);
    b.set_insertion(no);
    const std::vector<ValueId> second = other();
    b.terminate(Op::Yield, second);
    b.set_insertion(outside);
    return results(b.append(
        Op::If, std::array{Operand::of(condition), Operand::of(yes), Operand::of(no)}, types));
  }

  // Calls what `body` writes, a function that is made at the first call of that name.
  template <class Body>
  std::vector<ValueId> call(const char* name, std::span<const ValueId> args,
                            std::span<const Type> types, Body&& body) {
    return e_.call_own(std::string(name) + (wide_ ? "_double" : "_float"), args, types, body);
  }

 private:
  ValueId exact(Op op, ValueId a, ValueId b) { return e_.emit_flagged(op, t_, a, b, kExactFlag); }
  std::vector<ValueId> results(OpId id);

  Expander& e_;
  Type t_;
  bool wide_, fused_;
};

// The body of an own function: its result.
using OwnBody = ValueId (*)(Own& w, std::span<const ValueId> args);
#define OWN(op, function) ValueId function(Own& w, std::span<const ValueId> args);
#include "lower/own.def"
#undef OWN

// Sine and cosine, which have the most of their work in common.
struct OwnTurn {
  ValueId sin, cos;
};
OwnTurn own_turn(Own& w, ValueId x);
// log of a positive, finite, normal number (own_log.cpp); e^x = first * 2^second (own_exp.cpp).
ValueId own_log_inside(Own& w, ValueId x);
struct OwnPower {
  ValueId part, exponent;
};
OwnPower own_exp_parts(Own& w, ValueId x);
// 2^r for |r| <= 1/2.
ValueId own_exp2_inside(Own& w, ValueId r);
// A positive normal number as m * 2^exponent, m in [sqrt(1/2), sqrt(2)]; the exponent as a float.
struct OwnSplit {
  ValueId m, exponent;
};
OwnSplit own_split(Own& w, ValueId x);

}  // namespace lcpy
