// pass_guard: threads past the end of a ragged dispatch. Without barriers, shared memory and warp
// operations they do nothing: the kernel's body runs only inside. With one of these they must run,
// and each access to a buffer depends on being inside: reads give zero, writes and atomics do
// nothing and give zero.
#include "lower/inline_vector.h"
#include "lower/lower.h"
#include "lower/rewrite.h"

namespace lcpy {
namespace lower {

// An axis along which a block is one thread wide has no threads past the end; x is compared
// always, since oversized dispatches are folded along it.
ValueId inside(const KernelDescriptor& d, KernelBuilder& b) {
  const Type boolean = Type::of(Scalar::Bool);
  const Type uint3 = Type::vector(Scalar::UInt32, 3);
  const ValueId id = b.emit(Op::DispatchId, uint3, {}), size = b.emit(Op::DispatchSize, uint3, {});
  ValueId all;
  for (uint32_t axis = 0; axis < 3; axis++) {
    if (axis > 0 && d.block_size[axis] == 1) continue;
    const ValueId at = b.extract(id, {axis}), end = b.extract(size, {axis});
    const ValueId here = b.emit(Op::Less, boolean, {at, end});
    all = all ? b.emit(Op::BitAnd, boolean, {all, here}) : here;
  }
  return all;
}

namespace {

void wrap_kernel(KernelDescriptor& d) {
  KernelBuilder b(d);
  Function& kernel = d.functions[0];
  const BodyId old = kernel.body, outer = b.add_body(), idle = b.add_body();
  b.set_span(kernel.span);
  d.functions[0].body = outer;
  Operation& last = d.op(d.body(old).ops.back());
  if (last.op == Op::Return) last.op = Op::Yield;
  b.set_insertion(idle);
  b.terminate(Op::Yield);
  b.set_insertion(outer);
  const Operand operands[] = {Operand::of(inside(d, b)), Operand::of(old), Operand::of(idle)};
  b.append(Op::If, operands);
  b.terminate(Op::Return);
}

bool reaches_buffer(const KernelDescriptor& d, const Operation& o) {
  if (o.op == Op::External) {
    for (const ExternalFunction::Parameter& p : d.external_of(o).parameters)
      if (p.kind == ExternalFunction::Kind::Buffer) return true;
    return false;
  }
  const OpRow& row = op_row(o.op);
  if (row.category != OpCategory::Memory && row.category != OpCategory::Atomic) return false;
  const Slot& s = d.slot(d.operands_of(o)[0].slot());
  return s.memory == MemoryClass::Global && !s.report;  // reports look themselves who writes them
}

// Puts `condition` around each access to a buffer in the body and below.
class Guard {
 public:
  explicit Guard(KernelDescriptor& d) : d_(d), b_(d) {}

  void function(FunctionId f) {
    bool any = false;
    walk_body(d_, d_.functions[f.value].body,
              [&](OpId, const Operation& o) { any |= reaches_buffer(d_, o); });
    if (!any) return;
    const BodyId body = d_.functions[f.value].body;
    std::vector<OpId> ops = std::move(d_.bodies[body.value].ops);
    d_.bodies[body.value].ops.clear();
    b_.set_insertion(body);
    b_.set_span(d_.functions[f.value].span);
    condition_ = inside(d_, b_);
    rebuild(body, ops);
  }

 private:
  void walk(BodyId id) {
    const std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    rebuild(id, ops);
  }

  void rebuild(BodyId id, const std::vector<OpId>& ops) {
    for (OpId op : ops) {
      if (reaches_buffer(d_, d_.op(op))) {
        guard(id, op);
        continue;
      }
      d_.bodies[id.value].ops.push_back(op);
      if (op_row(d_.op(op).op).category != OpCategory::Control) continue;
      for (uint32_t k = 0; k < d_.op(op).operand_count; k++) {
        const Operand x = d_.operands_of(d_.op(op))[k];
        if (x.kind == Operand::Kind::Body) walk(x.body());
      }
    }
  }

  void guard(BodyId in, OpId access) {
    InlineVector<Type, 1> types;
    for (uint32_t i = 0; i < d_.op(access).result_count; i++)
      types.push_back(d_.type_of(d_.result(d_.op(access), i)));
    b_.set_span(d_.op(access).span);
    const BodyId then = b_.add_body(), other = b_.add_body();
    b_.set_insertion(in);
    const Operand operands[] = {Operand::of(condition_), Operand::of(then), Operand::of(other)};
    const OpId made = b_.append(Op::If, operands, types);
    // The If takes over the ids of the access's results, so that their uses need no change.
    std::swap(d_.op(made).first_result, d_.op(access).first_result);
    InlineVector<ValueId, 1> given, zeros;
    for (uint32_t i = 0; i < types.size(); i++) {
      d_.values[d_.result(d_.op(made), i).value].source = made.value;
      d_.values[d_.result(d_.op(access), i).value].source = access.value;
      given.push_back(d_.result(d_.op(access), i));
      zeros.push_back(b_.zero(types[i]));
    }
    d_.bodies[then.value].ops.push_back(access);
    b_.set_insertion(then);
    b_.terminate(Op::Yield, given);
    b_.set_insertion(other);
    b_.terminate(Op::Yield, zeros);
  }

  KernelDescriptor& d_;
  KernelBuilder b_;
  ValueId condition_;
};

}  // namespace
}  // namespace lower

void pass_guard(KernelDescriptor& d, bool ragged) {
  if (!ragged) return;
  if (!d.needs_whole_blocks()) return lower::wrap_kernel(d);
  lower::Guard guard(d);
  for (uint32_t f = 0; f < d.functions.size(); f++) guard.function(FunctionId(f));
}

}  // namespace lcpy
