// Constant evaluation. Every operation that a descriptor can hold has a row, in elementwise.def or
// in evaluate.def; a missing one stops the build.
#include "kernel/evaluate.h"

#include <algorithm>
#include <array>

#include "kernel/semantics.h"

namespace lcpy {
namespace {

namespace sem = lcpy::semantics;

// ---- lane by lane
// --------------------------------------------------------------------------------

using Element = void (*)(const std::byte* const* in, std::byte* out);

template <class T>
T get(const std::byte* p) {
  if constexpr (sem::is_bool_v<T>) {
    return p[0] != std::byte{0};
  } else {
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
}
template <class T>
void put(std::byte* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

enum class Result { Same, Test, Shift };

template <class Op, int Operands, Result R, class T>
void element(const std::byte* const* in, std::byte* out) {
  if constexpr (R == Result::Shift) {
    // The low byte of an amount, whatever its type, is all that the widths' masks leave.
    put(out, Op::of(get<T>(in[0]), static_cast<uint32_t>(get<uint8_t>(in[1]))));
  } else if constexpr (Operands == 1) {
    put(out, Op::of(get<T>(in[0])));
  } else if constexpr (Operands == 2) {
    put(out, Op::of(get<T>(in[0]), get<T>(in[1])));
  } else {
    put(out, Op::of(get<T>(in[0]), get<T>(in[1]), get<T>(in[2])));
  }
}

// SCALAR_TYPES(X, …): every scalar with arithmetic and its C++ type.
#define LCPY_INTS(X, ...)                                                                        \
  X(Int8, int8_t, __VA_ARGS__)                                                                   \
  X(UInt8, uint8_t, __VA_ARGS__) X(Int16, int16_t, __VA_ARGS__) X(UInt16, uint16_t, __VA_ARGS__) \
      X(Int32, int32_t, __VA_ARGS__) X(UInt32, uint32_t, __VA_ARGS__)                            \
          X(Int64, int64_t, __VA_ARGS__) X(UInt64, uint64_t, __VA_ARGS__)
#define LCPY_FLOATS(X, ...) \
  X(Float16, sem::Half, __VA_ARGS__) X(Float32, float, __VA_ARGS__) X(Float64, double, __VA_ARGS__)
#define LCPY_BOOLS(X, ...) X(Bool, bool, __VA_ARGS__)
#define LCPY_STORAGE(X, ...)            \
  X(BFloat16, sem::BFloat, __VA_ARGS__) \
  X(Float8E4M3, sem::Float8E4M3, __VA_ARGS__) X(Float8E5M2, sem::Float8E5M2, __VA_ARGS__)
#define LCPY_TYPES_Int(X, ...) LCPY_INTS(X, __VA_ARGS__)
#define LCPY_TYPES_Float(X, ...) LCPY_FLOATS(X, __VA_ARGS__)
#define LCPY_TYPES_Bool(X, ...) LCPY_BOOLS(X, __VA_ARGS__)
#define LCPY_TYPES_Number(X, ...) LCPY_INTS(X, __VA_ARGS__) LCPY_FLOATS(X, __VA_ARGS__)
#define LCPY_TYPES_Bits(X, ...) LCPY_INTS(X, __VA_ARGS__) LCPY_BOOLS(X, __VA_ARGS__)
#define LCPY_TYPES_NumberBool(X, ...) \
  LCPY_INTS(X, __VA_ARGS__) LCPY_FLOATS(X, __VA_ARGS__) LCPY_BOOLS(X, __VA_ARGS__)

struct ElementRow {
  int operands = 0;
  Result result{};
  std::array<Element, kScalarCount> of{};
};

constexpr auto kElements = [] {
  std::array<ElementRow, kOpCount> rows{};
#define LCPY_CELL(scalar, type, op, operands, result) \
  row.of[static_cast<int>(Scalar::scalar)] = &element<sem::op, operands, Result::result, type>;
#define ELEMENTWISE(name, operand_count, types, result_rule)        \
  {                                                                 \
    ElementRow& row = rows[static_cast<int>(Op::name)];             \
    row.operands = operand_count;                                   \
    row.result = Result::result_rule;                               \
    LCPY_TYPES_##types(LCPY_CELL, name, operand_count, result_rule) \
  }
#include "kernel/elementwise.def"
#undef ELEMENTWISE
#undef LCPY_CELL
  return rows;
}();

// ---- shapes
// --------------------------------------------------------------------------------------

struct Args {
  Op op;
  Type result;
  std::span<const Type> types;
  std::span<const std::span<const std::byte>> operands;
  std::span<const uint32_t> immediates;
  std::span<std::byte> out;
};

uint32_t leaves(Type t) { return t.is_matrix() ? t.lanes() * t.lanes() : t.lanes(); }
uint64_t leaf_offset(Type t, uint32_t i) {
  if (t.is_scalar()) return 0;
  if (t.is_vector()) return t.offset(i);
  return t.offset(i / t.lanes()) + t.element().offset(i % t.lanes());
}

bool lane_by_lane(const Args& a, const ElementRow& row) {
  if (a.operands.size() != static_cast<size_t>(row.operands)) return false;
  for (Type t : a.types)
    if (!t.is_basic()) return false;
  if (!a.result.is_basic()) return false;
  const Element f = row.of[static_cast<int>(a.types[0].scalar())];
  if (f == nullptr) return false;
  for (uint32_t i = 0; i < leaves(a.result); ++i) {
    std::array<const std::byte*, 3> in{};
    for (size_t k = 0; k < a.operands.size(); ++k) {
      const uint32_t n = leaves(a.types[k]);
      in[k] = a.operands[k].data() + leaf_offset(a.types[k], n == 1 ? 0 : i);
    }
    f(in.data(), a.out.data() + leaf_offset(a.result, i));
  }
  return true;
}

bool never(const Args&) { return false; }

bool select(const Args& a) {
  const Type c = a.types[0];
  if (c.is_scalar()) {
    const auto& from = a.operands[get<bool>(a.operands[0].data()) ? 1 : 2];
    std::copy(from.begin(), from.end(), a.out.begin());
    return true;
  }
  const uint64_t size = scalar_size(a.result.scalar());
  for (uint32_t i = 0; i < a.result.lanes(); ++i) {
    const int k = get<bool>(a.operands[0].data() + c.offset(i)) ? 1 : 2;
    const uint64_t at = a.types[k].is_scalar() ? 0 : a.types[k].offset(i);
    std::memcpy(a.out.data() + a.result.offset(i), a.operands[k].data() + at, size);
  }
  return true;
}

bool clamp(const Args& a) {
  std::array<std::byte, 64> inner{};
  if (a.result.size() > inner.size()) return false;
  const std::span<std::byte> middle(inner.data(), a.result.size());
  // max(x, lo) first, then min with hi.
  const std::array<Type, 2> low{a.types[0], a.types[1]}, high{a.result, a.types[2]};
  const std::array<std::span<const std::byte>, 2> with_low{a.operands[0], a.operands[1]};
  const std::array<std::span<const std::byte>, 2> with_high{middle, a.operands[2]};
  return lane_by_lane({Op::Max, a.result, low, with_low, {}, middle}, kElements[int(Op::Max)]) &&
         lane_by_lane({Op::Min, a.result, high, with_high, {}, a.out}, kElements[int(Op::Min)]);
}

bool reduce(const Args& a, Op op) {
  const Type t = a.types[0];
  const Element f = kElements[static_cast<int>(op)].of[static_cast<int>(t.scalar())];
  if (f == nullptr) return false;
  std::array<std::byte, 8> total{}, next{};
  const uint64_t size = scalar_size(t.scalar());
  std::memcpy(total.data(), a.operands[0].data(), size);
  for (uint32_t i = 1; i < t.lanes(); ++i) {
    const std::byte* in[] = {total.data(), a.operands[0].data() + t.offset(i)};
    f(in, next.data());
    total = next;
  }
  std::memcpy(a.out.data(), total.data(), size);
  return true;
}
bool all(const Args& a) { return reduce(a, Op::BitAnd); }
bool any(const Args& a) { return reduce(a, Op::BitOr); }
bool reduce_sum(const Args& a) { return reduce(a, Op::Add); }
bool reduce_product(const Args& a) { return reduce(a, Op::Mul); }
bool reduce_min(const Args& a) { return reduce(a, Op::Min); }
bool reduce_max(const Args& a) { return reduce(a, Op::Max); }

bool transpose(const Args& a) {
  const uint32_t n = a.result.lanes();
  const uint64_t size = scalar_size(a.result.scalar());
  for (uint32_t i = 0; i < n * n; ++i)
    std::memcpy(a.out.data() + leaf_offset(a.result, i),
                a.operands[0].data() + leaf_offset(a.types[0], i % n * n + i / n), size);
  return true;
}

// ---- conversions
// ---------------------------------------------------------------------------------

template <class From, class To>
void convert_element(const std::byte* const* in, std::byte* out) {
  put(out, sem::convert<To>(get<From>(in[0])));
}

// Sanitisers keep addresses from being compared while compiling: whether a row is there is said
// apart.
struct Conversion {
  Element f = nullptr;
  bool known = false;
};
constexpr auto kConversions = [] {
  std::array<std::array<Conversion, kScalarCount>, kScalarCount> table{};
#define LCPY_ALL(X, ...)    \
  LCPY_INTS(X, __VA_ARGS__) \
  LCPY_FLOATS(X, __VA_ARGS__) LCPY_BOOLS(X, __VA_ARGS__) LCPY_STORAGE(X, __VA_ARGS__)
#define LCPY_CELL(scalar, type, from_scalar, from_type)                              \
  table[static_cast<int>(Scalar::from_scalar)][static_cast<int>(Scalar::scalar)] = { \
      &convert_element<from_type, type>, true};
#define LCPY_ROW(scalar, type) LCPY_ALL(LCPY_CELL, scalar, type)
  LCPY_ROW(Bool, bool)
  LCPY_ROW(Int8, int8_t)
  LCPY_ROW(UInt8, uint8_t) LCPY_ROW(Int16, int16_t) LCPY_ROW(UInt16, uint16_t)
      LCPY_ROW(Int32, int32_t) LCPY_ROW(UInt32, uint32_t) LCPY_ROW(Int64, int64_t)
          LCPY_ROW(UInt64, uint64_t) LCPY_ROW(Float16, sem::Half) LCPY_ROW(Float32, float)
              LCPY_ROW(Float64, double) LCPY_ROW(BFloat16, sem::BFloat)
                  LCPY_ROW(Float8E4M3, sem::Float8E4M3) LCPY_ROW(Float8E5M2, sem::Float8E5M2)
#undef LCPY_ROW
#undef LCPY_CELL
#undef LCPY_ALL
                      return table;
}();
static_assert(
    [] {
      for (auto& row : kConversions)
        for (const Conversion& c : row)
          if (!c.known) return false;
      return true;
    }(),
    "every pair of scalars has a conversion");

bool convert_value(const Args& a) {
  const Type from = a.types[0];
  if (!from.is_basic() || !a.result.is_basic() || leaves(from) != leaves(a.result)) return false;
  const Element f =
      kConversions[static_cast<int>(from.scalar())][static_cast<int>(a.result.scalar())].f;
  for (uint32_t i = 0; i < leaves(a.result); ++i) {
    const std::byte* in = a.operands[0].data() + leaf_offset(from, i);
    f(&in, a.out.data() + leaf_offset(a.result, i));
  }
  return true;
}

bool unpack_half(const Args& a) {
  const std::array<Type, 1> half{a.types[0].with_scalar(Scalar::Float16)};
  return convert_value({a.op, a.result, half, a.operands, {}, a.out});
}
bool pack_half(const Args& a) {
  const Type half = a.result.with_scalar(Scalar::Float16);
  return convert_value({a.op, half, a.types, a.operands, {}, a.out});
}

bool bitcast(const Args& a) {
  if (!a.types[0].is_lanes() || !a.result.is_lanes()) return false;
  const uint64_t bytes = uint64_t{scalar_size(a.result.scalar())} * a.result.lanes();
  if (bytes != uint64_t{scalar_size(a.types[0].scalar())} * a.types[0].lanes()) return false;
  std::memcpy(a.out.data(), a.operands[0].data(), bytes);
  return true;
}

// ---- aggregates
// ----------------------------------------------------------------------------------

struct Part {
  Type type;
  uint64_t offset = 0;
};
Part walk(Type t, std::span<const uint32_t> path) {
  Part p{t, 0};
  for (uint32_t i : path) {
    p.offset += p.type.offset(i);
    p.type = p.type.component(i);
  }
  return p;
}

bool construct(const Args& a) {
  for (size_t i = 0; i < a.operands.size(); ++i)
    std::memcpy(a.out.data() + a.result.offset(i), a.operands[i].data(), a.types[i].size());
  return true;
}
bool extract(const Args& a) {
  const Part p = walk(a.types[0], a.immediates);
  std::memcpy(a.out.data(), a.operands[0].data() + p.offset, a.result.size());
  return true;
}
bool insert(const Args& a) {
  std::memcpy(a.out.data(), a.operands[0].data(), a.result.size());
  const Part p = walk(a.result, a.immediates);
  std::memcpy(a.out.data() + p.offset, a.operands[1].data(), p.type.size());
  return true;
}
bool shuffle(const Args& a) {
  const uint64_t size = scalar_size(a.result.scalar());
  for (size_t i = 0; i < a.immediates.size(); ++i)
    std::memcpy(a.out.data() + (a.result.is_scalar() ? 0 : a.result.offset(i)),
                a.operands[0].data() + a.types[0].offset(a.immediates[i]), size);
  return true;
}

// ---- warps: every active lane holds the constant
// -------------------------------------------------------------------------------

bool warp_same(const Args& a) {
  std::memcpy(a.out.data(), a.operands[0].data(), a.result.size());
  return true;
}
bool warp_of_none(const Args& a) {  // how many are True, and which: known where the bool is False
  return a.operands[0][0] == std::byte{0};
}
bool warp_all_equal(const Args& a) {
  const Type types[] = {a.types[0], a.types[0]};
  const std::span<const std::byte> pair[] = {a.operands[0], a.operands[0]};
  return evaluate(Op::Equal, a.result, types, pair, {}, a.out);
}

struct How {
  bool (*f)(const Args&) = nullptr;
  bool known = false;
};
constexpr auto kHow = [] {
  std::array<How, kOpCount> rows{};
#define EVALUATE(op, how) rows[static_cast<int>(Op::op)] = {&how, true};
#include "kernel/evaluate.def"
#undef EVALUATE
  return rows;
}();

#define OP(name, python, category, shape, usage, level, sync, doc)                          \
  static_assert(OpLevel::level == OpLevel::Ast || kHow[static_cast<int>(Op::name)].known || \
                    kElements[static_cast<int>(Op::name)].operands != 0,                    \
                "a row of elementwise.def or evaluate.def is missing for " #name);
#define REFUSED(name, python, category, usage, reason, doc)
#include "ops/op.def"
#undef OP
#undef REFUSED

}  // namespace

bool evaluate(Op op, Type result, std::span<const Type> types,
              std::span<const std::span<const std::byte>> operands,
              std::span<const uint32_t> immediates, std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});  // padding is zero
  const Args args{op, result, types, operands, immediates, out};
  const ElementRow& row = kElements[static_cast<int>(op)];
  if (row.operands != 0) return lane_by_lane(args, row);
  const How& how = kHow[static_cast<int>(op)];
  return how.known && how.f(args);
}

}  // namespace lcpy
