// pass_sequential: for targets that know acquire and release alone. Where every sequentially
// consistent atomic both reads and writes, and acquires and releases, each takes its value from the
// one before it at its place and so happens after that one; all of them then have one order. So
// reads become updates that change nothing, writes exchanges, and a compare-and-swap that fails
// such a read.
#include <array>

#include "lower/inline_vector.h"
#include "lower/lower.h"
#include "lower/rewrite.h"

namespace lcpy {
namespace {

constexpr uint8_t kOrderMask = 7, kBoth = static_cast<uint8_t>(MemoryOrder::AcquireRelease);

class Sequential {
 public:
  explicit Sequential(KernelDescriptor& d) : d_(d), b_(d) {}

  void walk(BodyId id) {
    const std::vector<OpId> ops = std::move(d_.bodies[id.value].ops);
    d_.bodies[id.value].ops.clear();
    for (OpId op : ops) {
      if (is_sequential(d_.op(op))) {
        b_.set_insertion(id);
        b_.set_span(d_.op(op).span);
        rewrite(id, op);
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

 private:
  static bool is_sequential(const Operation& o) {
    return op_row(o.op).category == OpCategory::Atomic &&
           (o.flags & kOrderMask) == static_cast<uint8_t>(MemoryOrder::SequentiallyConsistent);
  }

  void rewrite(BodyId body, OpId id) {
    Operation& o = d_.op(id);
    const auto x = d_.operands_of(o);
    std::vector<Operand> operands(x.begin(), x.end());
    Slot& slot = d_.slots[operands[0].index];
    slot.access = Access::ReadWrite;
    if (o.op == Op::AtomicLoad) {
      take_over(id, read(operands[0], {operands.data() + 1, operands.size() - 1},
                         d_.type_of(o.first_result)));
    } else if (o.op == Op::AtomicStore) {
      b_.append(Op::AtomicExchange, operands, std::array{d_.type_of(operands[1].value())}, kBoth);
    } else if (o.op == Op::AtomicCompareExchange) {
      take_over(id, compare(operands, d_.type_of(o.first_result)));
    } else {
      o.flags = static_cast<uint8_t>((o.flags & ~kOrderMask) | kBoth);
      d_.bodies[body.value].ops.push_back(id);
    }
  }

  // The result of `made` takes over the id of the old operation's, so that uses need no change.
  void take_over(OpId old, OpId made) {
    std::swap(d_.op(made).first_result, d_.op(old).first_result);
    d_.values[d_.op(made).first_result.value].source = made.value;
    d_.values[d_.op(old).first_result.value].source = old.value;
  }

  // An update that keeps every bit: or with 0; a NaN loses to whatever is there.
  OpId read(Operand slot, std::span<const Operand> chain, Type t) {
    const ValueId same =
        t.is_float() ? b_.integer(t, ~uint64_t{0}) : b_.integer(t, 0);
    std::vector<Operand> operands{slot, Operand::of(same)};
    operands.insert(operands.end(), chain.begin(), chain.end());
    return b_.append(t.is_float() ? Op::AtomicMax : Op::AtomicOr, operands, std::array{t}, kBoth);
  }

  ValueId equal(ValueId a, ValueId b, Op how) {
    const Type t = d_.type_of(a);
    const Type bits = Type::of(t.size() == 8 ? Scalar::UInt64 : Scalar::UInt32);
    if (t.is_float()) {
      a = b_.emit(Op::Bitcast, bits, {a});
      b = b_.emit(Op::Bitcast, bits, {b});
    }
    return b_.emit(how, Type::of(Scalar::Bool), {a, b});
  }

  // loop: seen = read; if seen != expected: break seen
  //       seen = compare-and-swap; if seen == expected: break seen
  OpId compare(std::span<const Operand> operands, Type t) {
    const BodyId outside = b_.insertion(), body = b_.add_body();
    const ValueId expected = operands[1].value();
    const auto leave_if = [&](ValueId condition, ValueId seen) {
      const BodyId leave = b_.add_body(), stay = b_.add_body();
      b_.set_insertion(leave);
      b_.terminate(Op::Break, std::array{seen});
      b_.set_insertion(stay);
      b_.terminate(Op::Yield);
      b_.set_insertion(body);
      b_.append(Op::If, std::array{Operand::of(condition), Operand::of(leave), Operand::of(stay)});
    };
    b_.set_insertion(body);
    const ValueId seen = d_.result(d_.op(read(operands[0], operands.subspan(3), t)));
    leave_if(equal(seen, expected, Op::NotEqual), seen);
    const OpId swap = b_.append(Op::AtomicCompareExchange, operands, std::array{t}, kBoth);
    const ValueId found = d_.result(d_.op(swap));
    leave_if(equal(found, expected, Op::Equal), found);
    b_.terminate(Op::Continue);
    b_.set_insertion(outside);
    return b_.append(Op::Loop, std::array{Operand::of(body)}, std::array{t});
  }

  KernelDescriptor& d_;
  KernelBuilder b_;
};

}  // namespace

void pass_sequential(KernelDescriptor& d) {
  bool any = false;
  for (const Slot& s : d.slots) any |= s.atomics;
  if (!any) return;
  Sequential pass(d);
  for (size_t f = 0; f < d.functions.size(); f++) pass.walk(d.functions[f].body);
}

}  // namespace lcpy
