// pass_fold: operations on constants become constants, by the arithmetic that the interpreter runs,
// and so do elements of constant tables.
#include <cstring>

#include "kernel/evaluate.h"
#include "lower/inline_vector.h"
#include "lower/lower.h"
#include "lower/rewrite.h"

namespace lcpy {
namespace lower {

ValueId fold_operation(KernelDescriptor& d, KernelBuilder& b, const Operation& o) {
  // Over lanes that all hold one constant, what a warp operation gives may be known.
  const bool foldable = is_pure(o.op) || op_row(o.op).category == OpCategory::Warp;
  if (o.result_count != 1 || o.operand_count == 0 || !foldable) return {};
  const auto operands = d.operands_of(o);
  for (Operand x : operands)
    if (x.is_value() ? !d.is_constant(x.value()) : !x.is_imm()) return {};
  InlineVector<Type, 8> types;
  InlineVector<std::span<const std::byte>, 8> bytes;
  InlineVector<uint32_t, 8> immediates;
  for (Operand x : operands) {
    if (x.is_imm()) {
      immediates.push_back(x.index);
    } else {
      types.push_back(d.type_of(x.value()));
      bytes.push_back(d.constant_bytes(x.value()));
    }
  }
  const Type result = d.type_of(o.first_result);
  constexpr size_t kSmall = 64;
  std::byte small[kSmall];
  std::vector<std::byte> large;
  const size_t size = result.size();
  if (size > kSmall) large.resize(size);
  const std::span<std::byte> out{size > kSmall ? large.data() : small, size};
  if (!evaluate(o.op, result, types, bytes, immediates, out)) return {};
  return b.constant(result, out);
}

namespace {

// The element of a constant table that a load reads; none where that is not known here.
ValueId table_element(const KernelDescriptor& d, KernelBuilder& b, const Operation& o) {
  if (o.op != Op::Load || !is_constant_load(d, o)) return {};
  const auto operands = d.operands_of(o);
  const Slot& slot = d.slot(operands[0].slot());
  if (slot.memory != MemoryClass::Constant) return {};
  Type t = slot.type;
  uint64_t at = 0;
  for (Operand x : operands.subspan(1)) {
    uint64_t index = x.index;
    if (x.is_value()) {
      if (!d.is_constant(x.value())) return {};
      index = 0;
      const auto bytes = d.constant_bytes(x.value());
      std::memcpy(&index, bytes.data(), bytes.size());  // a negative one is beyond any count
    }
    if (index >= t.count()) return {};
    at += t.offset(index);
    t = t.component(index);
  }
  return b.constant(t, std::span(slot.data).subspan(at, t.size()));
}

class Fold : public Rewriter<Fold> {
 public:
  using Rewriter::Rewriter;

 private:
  friend Rewriter;
  bool visit(OpId id) {
    ValueId folded = fold_operation(d_, b_, d_.op(id));
    if (!folded) folded = table_element(d_, b_, d_.op(id));
    if (!folded) return true;
    replace(d_.result(d_.op(id)), folded);
    return false;
  }
};

}  // namespace
}  // namespace lower

void pass_fold(KernelDescriptor& d) { lower::Fold(d).run(); }

}  // namespace lcpy
