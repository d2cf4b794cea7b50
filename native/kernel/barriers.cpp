// Barriers that not every thread of a block reaches: under a branch, or after a branch that ends
// some threads' way, whose condition comes from the thread's place in its block. Conditions on data
// are not judged: only the running program knows them.
#include "kernel/evaluate.h"
#include "kernel/uniform.h"
#include "kernel/verify.h"
#include "kernel/walk.h"

namespace lcpy {
namespace {

constexpr size_t kLargest = 24;            // operations of a condition that is computed
constexpr uint32_t kBlocks[] = {0, 1, 6};  // that a condition on dispatch_id is computed for

// Ways out of a branch, as bits: what follows them in the body is reached by the others alone.
constexpr uint32_t kContinues = 1, kBreaks = 2, kReturns = 4;

class Barriers {
 public:
  Barriers(const KernelDescriptor& d, bool certain_only)
      : d_(d),
        certain_only_(certain_only),
        uniform_(uniform_values(d)),
        syncs_(d.functions.size(), 2) {}

  std::vector<DivergentBarrier> run() {
    for (uint32_t f = 0; f < d_.functions.size(); f++) {
      function_ = f;
      if (syncs(f)) body(d_.functions[f].body);
    }
    return std::move(found_);
  }

 private:
  bool is_barrier(const Operation& o) {
    return op_row(o.op).sync == OpSync::Uniform ||
           ((o.op == Op::Call || o.op == Op::External) && syncs(d_.operands_of(o)[0].index));
  }
  bool syncs(uint32_t f) {
    if (syncs_[f] == 2) {
      syncs_[f] = 0;
      syncs_[f] = contains(d_.functions[f].body);
    }
    return syncs_[f] == 1;
  }
  bool contains(BodyId id) {
    bool any = false;
    walk_body(d_, id, [&](OpId, const Operation& o) { any |= is_barrier(o); });
    return any;
  }

  // Gives the ways out by which threads part within the body.
  uint32_t body(BodyId id) {
    uint32_t parted = 0;
    Span where;
    for (OpId op : d_.body(id).ops) {
      const Operation& o = d_.op(op);
      const auto x = d_.operands_of(o);
      if (parted && is_barrier(o)) report(o.span, where);
      if (o.op == Op::Loop) {
        const uint32_t inner = loop(x[0].body());
        if (inner) where = o.span;
        parted |= inner & kReturns;
      }
      if (o.op != Op::If && o.op != Op::Switch) continue;
      const uint32_t inner = branch(o);
      if (inner) where = o.span;
      parted |= inner;
    }
    return parted;
  }

  // Threads that left in one round are missing in the next.
  uint32_t loop(BodyId id) {
    const size_t before = found_.size();
    const uint32_t parted = body(id);
    if ((parted & (kBreaks | kReturns)) && found_.size() == before) report_within(id, parting_);
    return parted;
  }

  uint32_t branch(const Operation& o) {
    const auto x = d_.operands_of(o);
    const bool parts =
        o.op == Op::If && !uniform_[x[0].index] && concerns(x) && parts_threads(x[0].value());
    uint32_t parted = 0;
    for (Operand arm : x) {
      if (arm.kind != Operand::Kind::Body) continue;
      if (parts) {
        parting_ = o.span;
        report_within(arm.body(), o.span);
        parted |= escapes(arm.body(), false);
      } else if (!certain_only_ || uniform_[x[0].index]) {
        parted |= body(arm.body());
      }
    }
    return parted;
  }

  // Whether it matters if threads part at this branch.
  bool concerns(std::span<const Operand> x) {
    return contains(x[1].body()) || contains(x[2].body()) || escapes(x[1].body(), false) ||
           escapes(x[2].body(), false);
  }

  uint32_t escapes(BodyId id, bool in_loop) const {
    uint32_t ways = 0;
    for (OpId op : d_.body(id).ops) {
      const Operation& o = d_.op(op);
      if (o.op == Op::Return) ways |= kReturns;
      if (o.op == Op::Break && !in_loop) ways |= kBreaks;
      if (o.op == Op::Continue && !in_loop) ways |= kContinues;
      if (op_row(o.op).category != OpCategory::Control) continue;
      for (Operand x : d_.operands_of(o))
        if (x.kind == Operand::Kind::Body) ways |= escapes(x.body(), in_loop || o.op == Op::Loop);
    }
    return ways;
  }

  void report_within(BodyId id, Span condition) {
    walk_body(d_, id, [&](OpId, const Operation& o) {
      if (is_barrier(o)) report(o.span, condition);
    });
  }
  void report(Span barrier, Span condition) { found_.push_back({function_, barrier, condition}); }

  // ---- what a condition depends on
  // ------------------------------------------------------------------
  enum class Kind : uint8_t { Uniform, ByThread, Data };
  struct Dependence {
    Kind kind = Kind::Data;
    bool computable = false;  // from thread ids and constants alone
  };

  Dependence dependence(ValueId v, size_t& budget) {
    if (d_.is_constant(v)) return {Kind::Uniform, true};
    const Value& value = d_.values[v.value];
    const Operation* o = value.def == Value::Def::Result ? &d_.op(OpId(value.source)) : nullptr;
    const bool is_id = o && (o->op == Op::ThreadId || o->op == Op::DispatchId);
    if (is_id) return {Kind::ByThread, true};
    const OpCategory c = o ? op_row(o->op).category : OpCategory::Control;
    const bool pure = o && o->result_count == 1 && o->operand_count && c != OpCategory::Control &&
                      c != OpCategory::Memory && c != OpCategory::Atomic && c != OpCategory::Buffer;
    if (!pure || budget == 0) return {uniform_[v.value] ? Kind::Uniform : Kind::Data, false};
    budget--;
    Dependence all{Kind::Uniform, true};
    bool by_thread = false, data = false;
    for (Operand x : d_.operands_of(*o)) {
      if (!x.is_value()) continue;
      Dependence part = dependence(x.value(), budget);
      all.computable &= part.computable;
      by_thread |= part.kind == Kind::ByThread;
      data |= part.kind == Kind::Data;
    }
    if (by_thread && !all.computable) {
      // Beside values that only the launch knows, parts that are computable may yet be uniform.
      by_thread = false;
      for (Operand x : d_.operands_of(*o)) {
        if (!x.is_value()) continue;
        const Dependence part = dependence(x.value(), budget);
        by_thread |= part.kind == Kind::ByThread && (!part.computable || differs(x.value()));
      }
    }
    all.kind = data ? Kind::Data : by_thread ? Kind::ByThread : Kind::Uniform;
    return all;
  }

  bool parts_threads(ValueId condition) {
    size_t budget = kLargest;
    const Dependence all = dependence(condition, budget);
    if (all.kind != Kind::ByThread) return false;
    if (all.computable) return differs(condition);
    return !certain_only_;
  }

  // ---- computing a value for every thread
  // ------------------------------------------------------------ Collects the operations that
  // compute v, operands first.
  bool collect(ValueId v) {
    if (d_.is_constant(v)) return true;
    for (ValueId known : order_)
      if (known == v) return true;
    if (order_.size() >= kLargest || d_.values[v.value].def != Value::Def::Result) return false;
    const Operation& o = d_.op(OpId(d_.values[v.value].source));
    if (o.op != Op::ThreadId && o.op != Op::DispatchId)
      for (Operand x : d_.operands_of(o))
        if (x.is_value() && !collect(x.value())) return false;
    order_.push_back(v);
    return true;
  }

  // Whether threads of one block get different values; what cannot be computed may differ.
  bool differs(ValueId v) {
    order_.clear();
    if (!collect(v)) return !certain_only_;
    const uint32_t total = d_.block_size[0] * d_.block_size[1] * d_.block_size[2];
    for (uint32_t block : kBlocks) {
      std::vector<std::byte> first;
      for (uint32_t t = 0; t < total; t++) {
        if (!compute(t, block)) return !certain_only_;
        if (t == 0)
          first = values_.back();
        else if (values_.back() != first)
          return true;
      }
    }
    return false;
  }

  std::span<const std::byte> bytes_of(ValueId v) const {
    if (d_.is_constant(v)) return d_.constant_bytes(v);
    for (size_t i = 0; i < order_.size(); i++)
      if (order_[i] == v) return values_[i];
    return {};
  }

  bool compute(uint32_t thread, uint32_t block) {
    values_.resize(order_.size());
    for (size_t i = 0; i < order_.size(); i++) {
      const Type t = d_.type_of(order_[i]);
      values_[i].assign(t.size(), std::byte{0});
      const Operation& o = d_.op(OpId(d_.values[order_[i].value].source));
      if (o.op == Op::ThreadId || o.op == Op::DispatchId) {
        const auto& size = d_.block_size;
        uint32_t id[3] = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]};
        for (size_t k = 0; k < 12; k++) {
          const uint32_t at = id[k / 4] + (o.op == Op::DispatchId ? block * size[k / 4] : 0);
          values_[i][k] = std::byte(at >> (8 * (k % 4)));
        }
        continue;
      }
      std::vector<Type> types;
      std::vector<std::span<const std::byte>> operands;
      std::vector<uint32_t> immediates;
      for (Operand x : d_.operands_of(o)) {
        if (x.is_imm()) {
          immediates.push_back(x.index);
        } else {
          types.push_back(d_.type_of(x.value()));
          operands.push_back(bytes_of(x.value()));
        }
      }
      if (!evaluate(o.op, t, types, operands, immediates, values_[i])) return false;
    }
    return true;
  }

  const KernelDescriptor& d_;
  bool certain_only_;
  std::vector<bool> uniform_;
  std::vector<uint8_t> syncs_;
  std::vector<ValueId> order_;
  std::vector<std::vector<std::byte>> values_;
  std::vector<DivergentBarrier> found_;
  Span parting_;  // of the branch that parted threads last
  uint32_t function_ = 0;
};

}  // namespace

std::vector<DivergentBarrier> divergent_barriers(const KernelDescriptor& d, bool certain_only) {
  if (!d.uses_barrier()) return {};
  return Barriers(d, certain_only).run();
}

}  // namespace lcpy
