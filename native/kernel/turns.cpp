// Counted loops, and how much a body does.
#include "kernel/turns.h"

#include <algorithm>
#include <cstring>

namespace lcpy {
namespace {

uint64_t most(Type integer) {
  const uint32_t bits = scalar_size(integer.scalar()) * 8 - integer.has_class(ScalarClass::Signed);
  return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

}  // namespace

bool known_integer(const KernelDescriptor& d, ValueId v, int64_t* out) {
  const Type type = d.type_of(v);
  if (!d.is_constant(v) || !type.is_scalar() || !type.is_integer()) return false;
  const uint32_t size = scalar_size(type.scalar()), unused = 64 - size * 8;
  uint64_t bits = 0;
  std::memcpy(&bits, d.constant_bytes(v).data(), size);
  const bool negative_too = type.has_class(ScalarClass::Signed);
  *out = negative_too ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
  return negative_too || bits <= INT64_MAX;
}

uint64_t known_turns(const KernelDescriptor& d, const Operation& loop) {
  const auto operands = d.operands_of(loop);
  const BodyId id = operands[0].body();
  const auto& ops = d.body(id).ops;
  const Operation& test = d.op(ops[0]);
  const Operation& last = d.op(ops.back());
  if (test.op != Op::Less || last.op != Op::Continue) return 0;
  const auto compared = d.operands_of(test);
  const Value& counter = d.values[compared[0].index];
  if (counter.def != Value::Def::BodyParameter || counter.source != id.value) return 0;
  const Value& next = d.values[d.operands_of(last)[counter.index].index];
  if (next.def != Value::Def::Result || d.op(OpId(next.source)).op != Op::Add) return 0;
  const auto terms = d.operands_of(d.op(OpId(next.source)));
  const bool first = terms[0].value() == compared[0].value();
  if (!first && terms[1].value() != compared[0].value()) return 0;
  int64_t begin = 0, end = 0, step = 0;
  if (!known_integer(d, operands[1 + counter.index].value(), &begin) ||
      !known_integer(d, compared[1].value(), &end) ||
      !known_integer(d, terms[first ? 1 : 0].value(), &step))
    return 0;
  if (step <= 0 || end <= begin) return 0;
  const uint64_t room = static_cast<uint64_t>(end) - static_cast<uint64_t>(begin) - 1;
  const uint64_t turns = room / static_cast<uint64_t>(step) + 1;
  // The counter's last value is `short_of` below the end, and one step from it must not wrap.
  const uint64_t short_of = room - (turns - 1) * static_cast<uint64_t>(step) + 1;
  const uint64_t above = most(counter.type) - static_cast<uint64_t>(end);
  return static_cast<uint64_t>(step) - short_of <= above ? turns : 0;
}

uint64_t weight(const KernelDescriptor& d, BodyId body, uint64_t enough) {
  uint64_t sum = 0;
  for (OpId id : d.body(body).ops) {
    if (++sum > enough) break;
    const Operation& op = d.op(id);
    if (op_row(op.op).category != OpCategory::Control) continue;
    uint64_t inner = 0;
    for (Operand x : d.operands_of(op)) {
      if (x.kind == Operand::Kind::Body) inner += weight(d, x.body(), enough - sum);
      if (x.kind == Operand::Kind::Function)
        inner += weight(d, d.functions[x.index].body, enough - sum);
    }
    sum += inner * (op.op == Op::Loop ? std::max<uint64_t>(known_turns(d, op), 1) : 1);
  }
  return sum;
}

}  // namespace lcpy
