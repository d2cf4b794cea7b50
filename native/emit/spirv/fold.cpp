// Dispatches of more blocks than the device takes along an axis: the hardware grid is any that
// holds as many groups, and a group's linear index there says which block it is.
#include <array>

#include "emit/spirv/emitter.h"

namespace lcpy::spirv {

// Made in the function's first block.
const Emitter::Folded& Emitter::folded() {
  if (folded_.block) return folded_;
  const Word uint = lanes(Scalar::UInt32), uint3 = lanes(Scalar::UInt32, 3);
  const Word group = builtin(kBlockId), groups = builtin(kBlocks), thread = thread_of_block();
  Word size[3];
  for (uint32_t i = 0; i < 3; i++) size[i] = block_word(ArgumentBlock::kDispatchSize + 4 * i);
  Words* const current = out_;
  out_ = &early_;
  const auto part = [&](Word vector, uint32_t i) {
    return emit(Opcode::CompositeExtract, uint, vector, i);
  };
  const auto join = [&](const std::array<Word, 3>& parts) {
    return emit_list(Opcode::CompositeConstruct, uint3, parts);
  };
  const auto scaled = [&](Word base, Word factor, Word rest) {
    const Word product = emit(Opcode::IMul, uint, factor, rest);
    return emit(Opcode::IAdd, uint, base, product);
  };
  const Word x = part(group, 0), y = part(group, 1), z = part(group, 2);
  const Word width = part(groups, 0), height = part(groups, 1);
  folded_.linear = scaled(x, width, scaled(y, height, z));

  Word blocks[3];  // along each axis: (size - 1) / block + 1, sizes being at least 1
  for (uint32_t i = 0; i < 3; i++) {
    const Word last = emit(Opcode::ISub, uint, size[i], u32(1));
    const Word whole = emit(Opcode::UDiv, uint, last, u32(d_.block_size[i]));
    blocks[i] = emit(Opcode::IAdd, uint, whole, u32(1));
  }
  const Word plane = emit(Opcode::IMul, uint, blocks[0], blocks[1]);
  folded_.total = emit(Opcode::IMul, uint, plane, blocks[2]);
  const Word row = emit(Opcode::UDiv, uint, folded_.linear, blocks[0]);
  folded_.block = join({emit(Opcode::UMod, uint, folded_.linear, blocks[0]),
                        emit(Opcode::UMod, uint, row, blocks[1]),
                        emit(Opcode::UDiv, uint, folded_.linear, plane)});
  const Word extent = join({u32(d_.block_size[0]), u32(d_.block_size[1]), u32(d_.block_size[2])});
  const Word first = emit(Opcode::IMul, uint3, folded_.block, extent);
  folded_.dispatch = emit(Opcode::IAdd, uint3, first, thread);
  out_ = current;
  return folded_;
}

// Whole groups leave, so barriers stay uniform.
void Emitter::leave_spare_blocks() {
  const Folded& f = folded();
  const Word spare = emit(Opcode::UGreaterThanEqual, lanes(Scalar::Bool), f.linear, f.total);
  const Word leave = m_.new_id(), stay = m_.new_id();
  out_->op(Opcode::SelectionMerge, stay, SelectionControl::None);
  out_->op(Opcode::BranchConditional, spare, leave, stay);
  start_block(leave);
  out_->op(Opcode::Return);
  start_block(stay);
}

}  // namespace lcpy::spirv
