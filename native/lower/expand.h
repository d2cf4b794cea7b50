// What the expansions of expand.def are written with: an emitter that expands, in turn, whatever it
// is asked to emit, so that each expansion is stated in the language's own operations.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernel/descriptor.h"
#include "lower/lower.h"

namespace lcpy {

// True for the operations of expand.def; a target's table checks its EXPANDED rows against this.
constexpr bool has_expansion(Op op) {
  constexpr Op rows[] = {
#define EXPANSION(op, function, when) Op::op,
#include "lower/expand.def"
#undef EXPANSION
  };
  for (Op row : rows)
    if (row == op) return true;
  return false;
}

struct ExpandCall {
  Op op;
  Type type;  // of the result
  std::span<const ValueId> args;
};

class Expander {
 public:
  Expander(KernelDescriptor& d, NativeOp native, const OwnFunctions& own = {})
      : builder_(d), native_(native), own_(own) {}

  // One operation: folded when its operands are constants, expanded when the target lacks it.
  ValueId emit(Op op, Type type, std::span<const ValueId> args);
  ValueId emit(Op op, Type type, std::initializer_list<ValueId> args) {
    return emit(op, type, std::span<const ValueId>(args.begin(), args.size()));
  }
  // The operation itself, whatever the target says of it.
  ValueId emit_as_is(Op op, Type type, std::initializer_list<ValueId> args);

  // Add, Sub, Mul or Div with kExactFlag or kLooseFlag.
  ValueId emit_flagged(Op op, Type type, ValueId a, ValueId b, uint8_t flags);
  bool fused_fma() const { return own_.fused_fma; }

  // The core's own functions (own.h).
  bool wants_own(Op op, Type type) const;
  ValueId emit_own(const ExpandCall& call);
  // A call of what `body` writes, made once for each name.
  template <class Body>
  std::vector<ValueId> call_own(const std::string& name, std::span<const ValueId> args,
                                std::span<const Type> types, Body&& body) {
    FunctionId f = own_function(name);
    if (!f.valid()) {
      const BodyId outside = builder_.insertion();
      std::vector<Type> parameters;
      for (ValueId v : args) parameters.push_back(type(v));
      f = builder_.add_function(name, parameters, types, builder_.span());
      own_functions_.push_back({name, f});
      builder_.set_insertion(descriptor().functions[f.value].body);
      const std::vector<ValueId> params = descriptor().functions[f.value].params;
      const std::vector<ValueId> results = body(std::span<const ValueId>(params));
      builder_.terminate(Op::Return, results);
      builder_.set_insertion(outside);
    }
    return append_call(f, args, types);
  }
  SlotId own_table(std::span<const uint32_t> words);  // one slot for each table
  std::array<ValueId, 2> sin_and_cos(class Own& w, ValueId x);

  // Operations whose result has the type of `a`; a scalar `b` spreads over the lanes of `a`.
  ValueId unary(Op op, ValueId a) { return emit(op, type(a), {a}); }
  ValueId binary(Op op, ValueId a, ValueId b) { return emit(op, type(a), {a, spread(b, type(a))}); }
  ValueId add(ValueId a, ValueId b) { return binary(Op::Add, a, b); }
  ValueId sub(ValueId a, ValueId b) { return binary(Op::Sub, a, b); }
  ValueId mul(ValueId a, ValueId b) { return binary(Op::Mul, a, b); }
  ValueId div(ValueId a, ValueId b) { return binary(Op::Div, a, b); }
  ValueId bit_and(ValueId a, ValueId b) { return binary(Op::BitAnd, a, b); }
  ValueId bit_or(ValueId a, ValueId b) { return binary(Op::BitOr, a, b); }
  ValueId bit_xor(ValueId a, ValueId b) { return binary(Op::BitXor, a, b); }
  ValueId compare(Op op, ValueId a, ValueId b);
  ValueId is_nan(ValueId x) { return emit(Op::IsNan, type(x).with_scalar(Scalar::Bool), {x}); }
  ValueId select(ValueId condition, ValueId if_true, ValueId if_false);
  ValueId shift(Op unchecked, ValueId a, uint32_t amount);
  ValueId convert(ValueId a, Type to);  // none when the type is the same
  ValueId bitcast(ValueId a, Type to);

  // Values. Numbers and bits take the lanes and the scalar of `like`.
  ValueId number(Type like, double value) { return builder_.splat(like, value); }
  ValueId bits(Type like, uint64_t value) { return builder_.integer(like, value); }
  ValueId boolean(Type like, bool value);
  ValueId spread(ValueId scalar, Type lanes);
  ValueId lane(ValueId v, uint32_t i);  // of a vector; the scalar itself of a scalar
  ValueId part(ValueId v, uint32_t i) { return builder_.extract(v, {i}); }
  ValueId gather(Type type, std::span<const ValueId> parts);

  Type type(ValueId v) const { return builder_const().type_of(v); }
  MathMode math() const { return builder_const().math; }
  KernelBuilder& builder() { return builder_; }
  KernelDescriptor& descriptor() { return builder_.descriptor(); }
  bool is_native(Op op, Type result, Type first) const {
    return native_(op, result, first, math());
  }
  // The bits of lane `i` of an integer constant, sign-extended; false when `v` is no constant.
  bool constant_lane(ValueId v, uint32_t i, int64_t* out) const;

 private:
  const KernelDescriptor& builder_const() const {
    return const_cast<KernelBuilder&>(builder_).descriptor();
  }
  ValueId fold(Op op, Type type, std::span<const ValueId> args);
  FunctionId own_function(const std::string& name) const;
  std::vector<ValueId> append_call(FunctionId f, std::span<const ValueId> args,
                                   std::span<const Type> types);

  KernelBuilder builder_;
  NativeOp native_;
  OwnFunctions own_;
  std::vector<std::pair<std::string, FunctionId>> own_functions_;
  std::vector<std::pair<const uint32_t*, SlotId>> own_tables_;
  struct Turn {
    uint32_t body, number;  // in which, and of which value
    std::array<ValueId, 2> both;
  };
  std::vector<Turn> turns_;  // the latest calls for sine and cosine
};

using Expansion = ValueId (*)(Expander& e, const ExpandCall& call);
#define EXPANSION(op, function, when) ValueId function(Expander& e, const ExpandCall& call);
#include "lower/expand.def"
#undef EXPANSION

// The expansion of one operation that has one, whether or not the target lacks it.
ValueId expand_one(Expander& e, const ExpandCall& call);

// The float nearest to a number that is wider, with its last bit set where it is inexact ("round to
// odd"): rounding it again to at most 22 bits is as if only that had rounded.
ValueId to_sticky_float(Expander& e, ValueId x);

inline uint32_t width_of(Type lanes) { return scalar_size(lanes.scalar()) * 8; }
inline bool is_signed(Type lanes) { return lanes.has_class(ScalarClass::Signed); }
inline Type bool_like(Type lanes) { return lanes.with_scalar(Scalar::Bool); }
// The unsigned or signed integer type of the same lanes and width.
Type unsigned_like(Type lanes);
Type signed_like(Type lanes);

}  // namespace lcpy
