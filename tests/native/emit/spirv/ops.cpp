// Every value operation on every type that it takes is emitted, or refused by name, and judged.
#include "emit/spirv/ops.h"

#include "base/error.h"
#include "judge.h"
#include "lower/expand.h"

using namespace lcpy;
using lcpy::test::judge;

namespace {

constexpr Scalar kScalars[] = {Scalar::Bool,   Scalar::Int8,    Scalar::UInt8,   Scalar::Int16,
                               Scalar::UInt16, Scalar::Int32,   Scalar::UInt32,  Scalar::Int64,
                               Scalar::UInt64, Scalar::Float16, Scalar::Float32, Scalar::Float64};

// out[i] = op(in0[i], in1[i], …)
KernelDescriptor kernel_of(Op op, Type result, const std::vector<Type>& types, MathMode math) {
  KernelDescriptor d;
  d.name = op_row(op).name;
  d.block_size = {64, 1, 1};
  d.math = math;
  KernelBuilder b(d);
  const FunctionId f = b.add_function("k", {}, {}, {});
  b.set_insertion(d.functions[f.value].body);
  const auto buffer = [&](Type t, Access access) {
    Slot s;
    s.name = "b" + std::to_string(d.slots.size());
    s.type = Type::buffer(t);
    s.access = access;
    s.number = static_cast<uint32_t>(d.slots.size());
    return b.add_slot(std::move(s));
  };
  const SlotId out = buffer(result, Access::Write);
  std::vector<SlotId> in;
  for (const Type t : types) in.push_back(buffer(t, Access::Read));
  const ValueId id =
      b.emit(Op::DispatchId, Type::vector(Scalar::UInt32, 3), std::span<const ValueId>());
  const Operand at = Operand::of(b.extract(id, {0}));
  std::vector<ValueId> values;
  for (size_t i = 0; i < in.size(); i++) values.push_back(b.load(in[i], {&at, 1}, types[i]));
  b.store(out, {&at, 1}, b.emit(op, result, values));
  b.terminate(Op::Return);
  return d;
}

void judge_op(Op op, Type result, const std::vector<Type>& types, MathMode math = MathMode::Ieee) {
  const KernelDescriptor d = kernel_of(op, result, types, math);
  try {
    judge(d);
  } catch (const Error& e) {
    lcpy::test::fail(__FILE__, __LINE__, d.name + " " + types[0].description() + ": " + e.what());
  }
}

std::vector<Type> lane_types(std::initializer_list<ScalarClass> classes) {
  std::vector<Type> all;
  for (const Scalar s : kScalars)
    for (const ScalarClass c : classes)
      if (scalar_class(s) == c)
        for (const uint32_t n : {1u, 3u}) all.push_back(n == 1 ? Type::of(s) : Type::vector(s, n));
  return all;
}

constexpr auto B = ScalarClass::Bool, S = ScalarClass::Signed, U = ScalarClass::Unsigned,
               F = ScalarClass::Float;

std::vector<Op> ops_of(std::initializer_list<Shape> shapes) {
  std::vector<Op> all;
  for (int i = 0; i < kOpCount; i++) {
    const OpRow& row = op_row(static_cast<Op>(i));
    for (const Shape s : shapes)
      if (row.shape == s && row.level == OpLevel::Both) all.push_back(row.op);
  }
  return all;
}

void same_type(std::initializer_list<Shape> shapes, std::initializer_list<ScalarClass> classes,
               size_t operands) {
  for (const Op op : ops_of(shapes))
    for (const Type t : lane_types(classes)) judge_op(op, t, std::vector<Type>(operands, t));
}

}  // namespace

TEST(table_is_total) {
  for (int i = 0; i < kOpCount; i++) {
    const OpRow& row = op_row(static_cast<Op>(i));
    const bool in_descriptors = row.level == OpLevel::Both || row.level == OpLevel::Kernel;
    CHECK_EQ(spirv::emit_row(row.op) != nullptr, in_descriptors);
  }
}

TEST(arithmetic) {
  same_type({Shape::NumUnary}, {S, U, F}, 1);
  same_type({Shape::NumBinary}, {S, U, F}, 2);
  same_type({Shape::NumTernary}, {S, U, F}, 3);
}

TEST(integers) {
  same_type({Shape::IntUnary}, {S, U}, 1);
  same_type({Shape::IntBinary, Shape::Shift}, {S, U}, 2);
  for (const Op op : {Op::DivUnchecked, Op::RemUnchecked, Op::ShlUnchecked, Op::ShrUnchecked})
    for (const Type t : lane_types({S, U})) judge_op(op, t, {t, t});
}

TEST(bits_and_bools) {
  same_type({Shape::BitsUnary}, {B, S, U}, 1);
  same_type({Shape::BitsBinary}, {B, S, U}, 2);
  judge_op(Op::Not, Type::of(Scalar::Bool), {Type::of(Scalar::Bool)});
  for (const Op op : {Op::All, Op::Any})
    for (const Type t : lane_types({B})) judge_op(op, Type::of(Scalar::Bool), {t});
}

TEST(warps) {
  same_type({Shape::WarpNumber}, {S, U, F}, 1);
  same_type({Shape::WarpBits}, {B, S, U}, 1);
  same_type({Shape::WarpReadShape}, {B, S, U, F}, 1);
  const Type flag = Type::of(Scalar::Bool), uint = Type::of(Scalar::UInt32);
  for (const Type t : lane_types({B, S, U, F})) {
    judge_op(Op::WarpAllEqual, t.with_scalar(Scalar::Bool), {t});
    judge_op(Op::WarpReadLane, t, {t, uint});
  }
  for (const Op op : ops_of({Shape::WarpVote})) judge_op(op, flag, {flag});
  for (const Op op : ops_of({Shape::WarpCountShape})) judge_op(op, uint, {flag});
  judge_op(Op::WarpBallot, Type::vector(Scalar::UInt32, 4), {flag});
}

TEST(comparisons) {
  for (const Op op : ops_of({Shape::Compare, Shape::CompareEqual}))
    for (const Type t : lane_types({S, U, F})) judge_op(op, t.with_scalar(Scalar::Bool), {t, t});
  for (const Op op : {Op::Equal, Op::NotEqual})
    for (const Type t : lane_types({B})) judge_op(op, t, {t, t});
  for (const Op op : ops_of({Shape::FloatTest}))
    for (const Type t : lane_types({F})) judge_op(op, t.with_scalar(Scalar::Bool), {t});
}

TEST(selections) {
  const Type flag = Type::of(Scalar::Bool);
  for (const Type t : lane_types({B, S, U, F})) {
    judge_op(Op::Select, t, {t.with_scalar(Scalar::Bool), t, t});
    judge_op(Op::Select, t, {flag, t, t});
  }
  const Type members[] = {Type::matrix(Scalar::Float32, 3), Type::array(flag, 2)};
  const Type s = Type::structure(members);
  judge_op(Op::Select, s, {flag, s, s});
}

TEST(float_functions) {
  same_type({Shape::FloatUnary}, {F}, 1);
  same_type({Shape::FloatBinary, Shape::PowShape, Shape::TrueDivide}, {F}, 2);
  same_type({Shape::FloatTernary}, {F}, 3);
  const Type f = Type::vector(Scalar::Float32, 2);
  for (const MathMode math : {MathMode::Strict, MathMode::Fast})
    for (const Op op : {Op::Pow, Op::Min, Op::Max, Op::Add, Op::Mul, Op::Div, Op::FloorMod})
      judge_op(op, f, {f, f}, math);
}

TEST(geometry_and_matrices) {
  for (const Scalar s : {Scalar::Float16, Scalar::Float32, Scalar::Float64}) {
    const Type one = Type::of(s);
    for (const uint32_t n : {2u, 3u, 4u}) {
      const Type v = Type::vector(s, n), m = Type::matrix(s, n);
      for (const Op op : ops_of({Shape::VectorToScalar})) judge_op(op, one, {v});
      for (const Op op : ops_of({Shape::VectorPairToScalar})) judge_op(op, one, {v, v});
      for (const Op op : ops_of({Shape::FloatVectorUnary})) judge_op(op, v, {v});
      for (const Op op : ops_of({Shape::FloatVectorBinary})) judge_op(op, v, {v, v});
      for (const Op op : ops_of({Shape::FloatVectorTernary})) judge_op(op, v, {v, v, v});
      for (const Op op : ops_of({Shape::RefractShape})) judge_op(op, v, {v, v, one});
      for (const Op op : ops_of({Shape::LanesToScalar})) judge_op(op, one, {v});
      for (const Op op : ops_of({Shape::OuterShape})) judge_op(op, m, {v, v});
      for (const Op op : ops_of({Shape::MatrixUnary})) judge_op(op, m, {m});
      for (const Op op : ops_of({Shape::MatrixToScalar})) judge_op(op, one, {m});
      judge_op(Op::MatMul, m, {m, m});
      judge_op(Op::MatMul, v, {m, v});
      judge_op(Op::MatMul, v, {v, m});
    }
    judge_op(Op::Cross, Type::vector(s, 3), {Type::vector(s, 3), Type::vector(s, 3)});
  }
}

TEST(conversions) {
  for (const Type from : lane_types({B, S, U, F}))
    for (const Scalar s : kScalars) judge_op(Op::Convert, from.with_scalar(s), {from});
  for (const Type from : lane_types({F}))
    for (const Type to : lane_types({S, U}))
      if (from.lanes() == to.lanes()) judge_op(Op::ConvertUnchecked, to, {from});
  for (const Scalar storage : {Scalar::BFloat16, Scalar::Float8E4M3, Scalar::Float8E5M2}) {
    judge_op(Op::Convert, Type::of(Scalar::Float32), {Type::of(storage)});
    judge_op(Op::Convert, Type::of(storage), {Type::of(Scalar::Float32)});
  }
}

TEST(bit_casts) {
  for (const Type from : lane_types({S, U, F}))
    for (const Type to : lane_types({S, U, F}))
      if (from.lanes() == to.lanes() && scalar_size(from.scalar()) == scalar_size(to.scalar()))
        judge_op(Op::Bitcast, to, {from});
  judge_op(Op::Bitcast, Type::of(Scalar::Float64), {Type::vector(Scalar::UInt32, 2)});
  judge_op(Op::Bitcast, Type::vector(Scalar::UInt8, 4), {Type::of(Scalar::Float32)});
  judge_op(Op::Bitcast, Type::of(Scalar::UInt16), {Type::of(Scalar::BFloat16)});
}

TEST(narrow_storage_without_narrow_arithmetic) {
  VulkanTarget target;
  target.int8 = target.int16 = target.float16 = false;
  const auto judged = [&](Op op, Type result, Type from) {
    const SpirvModule m = judge(kernel_of(op, result, {from}, MathMode::Ieee), target);
    for (const std::string& c : m.capabilities)
      CHECK(c != "Int8" && c != "Int16" && c != "Float16");
  };
  for (const Scalar narrow : {Scalar::Int8, Scalar::UInt8, Scalar::Int16, Scalar::UInt16})
    for (const Scalar wide : {Scalar::Int32, Scalar::UInt32, Scalar::Float32, Scalar::Bool}) {
      judged(Op::Convert, Type::of(wide), Type::of(narrow));
      if (wide != Scalar::Float32)
        judged(Op::Convert, Type::vector(narrow, 3), Type::vector(wide, 3));
    }
  judged(Op::Convert, Type::of(Scalar::Float32), Type::of(Scalar::Float16));
  judged(Op::Convert, Type::of(Scalar::Float16), Type::of(Scalar::Float32));
}

// Values are held in 32 bits, halves as their bits; without storage, buffers are words.
TEST(narrow_arithmetic_on_devices_without_it) {
  VulkanTarget target;
  target.int8 = target.int16 = target.float16 = false;
  for (const bool storage : {true, false}) {
    target.storage8 = target.storage16 = storage;
    const auto judged = [&](Op op, Type t, std::vector<Type> from) {
      const SpirvModule m = judge(kernel_of(op, t, from, MathMode::Ieee), target);
      for (const std::string& c : m.capabilities) {
        CHECK(c != "Int8" && c != "Int16" && c != "Float16");
        CHECK(storage || (c != "StorageBuffer8BitAccess" && c != "StorageBuffer16BitAccess"));
      }
    };
    for (const Scalar narrow : {Scalar::Int8, Scalar::UInt8, Scalar::Int16, Scalar::UInt16})
      for (const uint32_t lanes : {1u, 3u}) {
        const Type t = Type::of(narrow).with_lanes(lanes);
        for (const Op op : {Op::Add, Op::Mul, Op::Shl, Op::Shr, Op::FloorDiv, Op::Max, Op::MulHi})
          judged(op, t, {t, t});
        for (const Op op : {Op::Neg, Op::BitNot, Op::Abs, Op::Clz, Op::ReverseBits})
          judged(op, t, {t});
        judged(Op::Less, t.with_scalar(Scalar::Bool), {t, t});
      }
    for (const uint32_t lanes : {1u, 3u}) {
      const Type t = Type::of(Scalar::Float16).with_lanes(lanes);
      for (const Op op : {Op::Add, Op::Div, Op::Min, Op::FloorDiv}) judged(op, t, {t, t});
      for (const Op op : {Op::Sqrt, Op::Sin, Op::Saturate}) judged(op, t, {t});
      judged(Op::Fma, t, {t, t, t});
    }
    judged(Op::Bitcast, Type::of(Scalar::UInt32), {Type::vector(Scalar::UInt8, 4)});
    judged(Op::Bitcast, Type::vector(Scalar::Int16, 4), {Type::of(Scalar::Float64)});
  }
}
