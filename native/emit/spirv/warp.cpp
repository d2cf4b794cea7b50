// Warp operations: subgroups. What they do on types that subgroups lack has been expanded.
#include "base/error.h"
#include "emit/spirv/emitter.h"

namespace lcpy::spirv {
namespace {

struct CombineRow {
  Op op;
  Opcode on_signed, on_unsigned, on_float;
  GroupOperation operation;
};
constexpr auto kReduce = GroupOperation::Reduce, kScan = GroupOperation::ExclusiveScan;
constexpr CombineRow kCombines[] = {
    {Op::WarpSum, Opcode::GroupNonUniformIAdd, Opcode::GroupNonUniformIAdd,
     Opcode::GroupNonUniformFAdd, kReduce},
    {Op::WarpProduct, Opcode::GroupNonUniformIMul, Opcode::GroupNonUniformIMul,
     Opcode::GroupNonUniformFMul, kReduce},
    {Op::WarpPrefixSum, Opcode::GroupNonUniformIAdd, Opcode::GroupNonUniformIAdd,
     Opcode::GroupNonUniformFAdd, kScan},
    {Op::WarpPrefixProduct, Opcode::GroupNonUniformIMul, Opcode::GroupNonUniformIMul,
     Opcode::GroupNonUniformFMul, kScan},
    {Op::WarpMin, Opcode::GroupNonUniformSMin, Opcode::GroupNonUniformUMin, Opcode::Nop, kReduce},
    {Op::WarpMax, Opcode::GroupNonUniformSMax, Opcode::GroupNonUniformUMax, Opcode::Nop, kReduce},
    {Op::WarpAnd, Opcode::GroupNonUniformBitwiseAnd, Opcode::GroupNonUniformBitwiseAnd, Opcode::Nop,
     kReduce},
    {Op::WarpOr, Opcode::GroupNonUniformBitwiseOr, Opcode::GroupNonUniformBitwiseOr, Opcode::Nop,
     kReduce},
    {Op::WarpXor, Opcode::GroupNonUniformBitwiseXor, Opcode::GroupNonUniformBitwiseXor, Opcode::Nop,
     kReduce},
};

const CombineRow& combine_row(Op op) {
  for (const CombineRow& row : kCombines)
    if (row.op == op) return row;
  throw BugError("no warp row for " + std::string(op_row(op).name));
}

}  // namespace

// Of the processor that the subgroup runs on.
void Emitter::clock(const Operation& o) {
  m_.require(Capability::ShaderClockKHR);
  m_.extension("SPV_KHR_shader_clock");
  alias(o, emit(Opcode::ReadClockKHR, lanes(Scalar::UInt64), subgroup()));
}

void Emitter::warp_id(const Operation& o) {
  m_.require(Capability::GroupNonUniform);
  alias(o, builtin(o.op == Op::WarpSize ? kWarpSize : kWarpLane));
}

Word Emitter::active_lanes() {
  m_.require(Capability::GroupNonUniformBallot);
  const Word all = m_.constant_bool(true);
  return emit(Opcode::GroupNonUniformBallot, lanes(Scalar::UInt32, 4), subgroup(), all);
}

void Emitter::warp_vote(const Operation& o) {
  const Word flag = lanes(Scalar::Bool);
  if (o.op == Op::WarpIsFirst) {
    m_.require(Capability::GroupNonUniform);
    return alias(o, emit(Opcode::GroupNonUniformElect, flag, subgroup()));
  }
  m_.require(Capability::GroupNonUniformVote);
  const Word mine = value(d_.operands_of(o)[0]);
  const auto code = o.op == Op::WarpAll ? Opcode::GroupNonUniformAll : Opcode::GroupNonUniformAny;
  alias(o, emit(code, flag, subgroup(), mine));
}

void Emitter::warp_ballot(const Operation& o) {
  const Word uint = lanes(Scalar::UInt32), uint4 = lanes(Scalar::UInt32, 4), scope = subgroup();
  if (o.op == Op::WarpFirstLane) {
    const Word active = active_lanes();
    return alias(o, emit(Opcode::GroupNonUniformBallotFindLSB, uint, scope, active));
  }
  m_.require(Capability::GroupNonUniformBallot);
  const Word mine = value(d_.operands_of(o)[0]);
  const Word ballot = emit(Opcode::GroupNonUniformBallot, uint4, scope, mine);
  if (o.op == Op::WarpBallot) return alias(o, ballot);
  const GroupOperation how = o.op == Op::WarpCount ? kReduce : kScan;
  alias(o, emit(Opcode::GroupNonUniformBallotBitCount, uint, scope, how, ballot));
}

void Emitter::warp_combine(const Operation& o) {
  m_.require(Capability::GroupNonUniformArithmetic);
  const CombineRow& row = combine_row(o.op);
  const Type t = d_.type_of(d_.result(o));
  const Word mine = value(d_.operands_of(o)[0]);
  const OperandClass kind = operand_class(t.scalar());
  const Opcode code = kind == OperandClass::Float    ? row.on_float
                      : kind == OperandClass::Signed ? row.on_signed
                                                     : row.on_unsigned;
  LCPY_CHECK(code != Opcode::Nop);
  alias(o, emit(code, type(t), subgroup(), row.operation, mine));
}

// A shuffle from a lane that is not there or not active is undefined: the lane is checked first.
void Emitter::warp_read(const Operation& o) {
  const auto x = d_.operands_of(o);
  const Type t = d_.type_of(d_.result(o));
  const Word mine = value(x[0]), scope = subgroup(), whole = type(t);
  if (o.op == Op::WarpReadFirst) {
    m_.require(Capability::GroupNonUniformBallot);
    if (!t.is_float() || target_.exact_zeros)
      return alias(o, emit(Opcode::GroupNonUniformBroadcastFirst, whole, scope, mine));
    // llvmpipe's LLVM dies of the first lane of a sum or product: as an integer that it knows not.
    const Word words = lanes(Scalar::UInt32, t.lanes());
    const Word given = emit(Opcode::Bitcast, words, mine);
    const Word bits = hidden_bits(given, Scalar::UInt32, t.lanes());
    const Word first = emit(Opcode::GroupNonUniformBroadcastFirst, words, scope, bits);
    return alias(o, emit(Opcode::Bitcast, whole, first));
  }
  m_.require(Capability::GroupNonUniformShuffle);
  const Word flag = lanes(Scalar::Bool), uint = lanes(Scalar::UInt32);
  const Word wanted = value(x[1]), size = builtin(kWarpSize), self = builtin(kWarpLane);
  const Word active = active_lanes();
  const Word exists = emit(Opcode::ULessThan, flag, wanted, size);
  const Word lane = emit(Opcode::Select, uint, exists, wanted, self);
  const Word on = emit(Opcode::GroupNonUniformBallotBitExtract, flag, scope, active, lane);
  const Word there = emit(Opcode::LogicalAnd, flag, exists, on);
  const Word safe = emit(Opcode::Select, uint, on, lane, self);
  const Word read = emit(Opcode::GroupNonUniformShuffle, whole, scope, mine, safe);
  const Word zero = m_.constant_null(whole);
  alias(o, select_components(there, read, zero, t));
}

// ---- blocks of several axes -----------------------------------------------------------------
// Drivers put threads into subgroups along x, or by row: a block of warps is emitted with all its
// threads along x, and its ids are taken from the thread's linear index.

Word Emitter::linear_thread_id() {
  if (linear_thread_) return linear_thread_;
  const Word uint = lanes(Scalar::UInt32), index = builtin(kThreadIndex);
  Words* const current = out_;
  out_ = &early_;
  const Word x = emit(Opcode::UMod, uint, index, u32(d_.block_size[0]));
  const Word row = emit(Opcode::UDiv, uint, index, u32(d_.block_size[0]));
  const Word parts[] = {x, emit(Opcode::UMod, uint, row, u32(d_.block_size[1])),
                        emit(Opcode::UDiv, uint, row, u32(d_.block_size[1]))};
  linear_thread_ = emit_list(Opcode::CompositeConstruct, lanes(Scalar::UInt32, 3), parts);
  out_ = current;
  return linear_thread_;
}

Word Emitter::linear_dispatch_id() {
  if (linear_dispatch_) return linear_dispatch_;
  const Word uint3 = lanes(Scalar::UInt32, 3);
  const Word block = builtin(kBlockId), thread = thread_of_block();
  const Word size[] = {u32(d_.block_size[0]), u32(d_.block_size[1]), u32(d_.block_size[2])};
  Words* const current = out_;
  out_ = &early_;
  const Word extent = m_.constant_composite(uint3, size);
  const Word first = emit(Opcode::IMul, uint3, block, extent);
  linear_dispatch_ = emit(Opcode::IAdd, uint3, first, thread);
  out_ = current;
  return linear_dispatch_;
}

}  // namespace lcpy::spirv
