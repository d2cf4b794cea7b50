// Barriers that certainly not every thread of a block reaches: under a branch, or after a branch
// that ends some threads' way, whose condition is computed from the thread's place in its block and
// constants. The condition is evaluated for every thread; conditions that need more are not judged.
#include "kernel/evaluate.h"
#include "kernel/uniform.h"
#include "kernel/verify.h"
#include "kernel/walk.h"

namespace lcpy {
namespace {

constexpr size_t kLargest = 24;  // operations of a condition that is looked at

class Barriers {
 public:
  explicit Barriers(const KernelDescriptor& d)
      : d_(d), uniform_(uniform_values(d)), syncs_(d.functions.size(), 2) {}

  std::vector<Violation> run() {
    for (uint32_t f = 0; f < d_.functions.size(); f++) {
      function_ = f;
      if (syncs(f)) body(d_.functions[f].body);
    }
    return std::move(found_);
  }

 private:
  bool is_barrier(const Operation& o) {
    return op_row(o.op).sync == OpSync::Uniform ||
           (o.op == Op::Call && syncs(d_.operands_of(o)[0].index));
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

  // Only reached with all threads of the block together, as far as is known.
  void body(BodyId id) {
    bool parted = false;
    for (OpId op : d_.body(id).ops) {
      const Operation& o = d_.op(op);
      const auto x = d_.operands_of(o);
      if (parted && is_barrier(o)) report(o.span, "after some threads of the block have left");
      if (o.op == Op::Loop) body(x[0].body());
      if (o.op != Op::If && o.op != Op::Switch) continue;
      if (uniform_[x[0].index]) {
        for (Operand arm : x)
          if (arm.kind == Operand::Kind::Body) body(arm.body());
        continue;
      }
      if (o.op == Op::Switch) continue;
      const bool inside = contains(x[1].body()) || contains(x[2].body());
      const bool leaves = ends(x[1].body()) != ends(x[2].body());
      if ((!inside && !leaves) || !parts_threads(x[0].value())) continue;
      if (inside) report_within(x);
      parted |= leaves;
    }
  }

  bool ends(BodyId id) const { return d_.op(d_.body(id).ops.back()).op != Op::Yield; }

  void report_within(std::span<const Operand> branch) {
    for (size_t i = 1; i < 3; i++)
      walk_body(d_, branch[i].body(), [&](OpId, const Operation& o) {
        if (is_barrier(o))
          report(o.span, "under a condition that differs between threads of the block");
      });
  }

  void report(Span span, const char* where) {
    found_.push_back({"function " + std::to_string(function_), "divergent_barrier",
                      std::string("a barrier ") + where, span});
  }

  // ---- the condition, for every thread
  // ------------------------------------------------------------ Collects what computes v, operands
  // first. A loop's parameter is what it is in the first round.
  bool collect(ValueId v, bool& by_thread) {
    if (d_.is_constant(v)) return true;
    for (const auto& [known, at] : order_)
      if (known == v) return true;
    if (order_.size() >= kLargest) return false;
    const Value& value = d_.values[v.value];
    if (value.def == Value::Def::BodyParameter) {
      const ValueId initial = initial_of(value);
      if (!initial || !collect(initial, by_thread)) return false;
      order_.push_back({v, initial});
      return true;
    }
    if (value.def != Value::Def::Result) return false;
    const Operation& o = d_.op(OpId(value.source));
    if (o.op == Op::ThreadId) {
      by_thread = true;
    } else {
      if (o.operand_count == 0 || o.result_count != 1) return false;
      for (Operand x : d_.operands_of(o)) {
        if (x.is_value() ? !collect(x.value(), by_thread) : !x.is_imm()) return false;
      }
    }
    order_.push_back({v, ValueId()});
    return true;
  }

  ValueId initial_of(const Value& parameter) {
    if (initials_.empty()) {
      initials_.resize(d_.bodies.size());
      walk_functions(d_, [&](OpId id, const Operation& o) {
        if (o.op == Op::Loop) initials_[d_.operands_of(o)[0].index] = id;
      });
    }
    const OpId loop = initials_[parameter.source];
    if (!loop) return {};
    return d_.operands_of(d_.op(loop))[parameter.index + 1].value();
  }

  bool parts_threads(ValueId condition) {
    order_.clear();
    bool by_thread = false;
    if (!collect(condition, by_thread) || !by_thread) return false;
    const uint32_t total = d_.block_size[0] * d_.block_size[1] * d_.block_size[2];
    bool seen[2] = {};
    for (uint32_t t = 0; t < total && !(seen[0] && seen[1]); t++) {
      bool answer = false;
      if (!compute(t, answer)) return false;
      seen[answer] = true;
    }
    return seen[0] && seen[1];
  }

  std::span<const std::byte> bytes_of(ValueId v) const {
    if (d_.is_constant(v)) return d_.constant_bytes(v);
    for (size_t i = 0; i < order_.size(); i++)
      if (order_[i].first == v) return values_[i];
    return {};
  }

  bool compute(uint32_t thread, bool& answer) {
    values_.resize(order_.size());
    for (size_t i = 0; i < order_.size(); i++) {
      const auto [v, initial] = order_[i];
      values_[i].assign(d_.type_of(v).size(), std::byte{0});
      if (initial) {
        const auto from = bytes_of(initial);
        values_[i].assign(from.begin(), from.end());
        continue;
      }
      const Operation& o = d_.op(OpId(d_.values[v.value].source));
      if (o.op == Op::ThreadId) {
        const auto& size = d_.block_size;
        const uint32_t id[3] = {thread % size[0], thread / size[0] % size[1],
                                thread / size[0] / size[1]};
        for (size_t k = 0; k < 12; k++) values_[i][k] = std::byte(id[k / 4] >> (8 * (k % 4)));
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
      if (!evaluate(o.op, d_.type_of(v), types, operands, immediates, values_[i])) return false;
    }
    answer = values_.back()[0] != std::byte{0};
    return true;
  }

  const KernelDescriptor& d_;
  std::vector<bool> uniform_;
  std::vector<uint8_t> syncs_;
  std::vector<OpId> initials_;                      // by body: the loop that it belongs to
  std::vector<std::pair<ValueId, ValueId>> order_;  // what to compute; with what it starts as
  std::vector<std::vector<std::byte>> values_;
  std::vector<Violation> found_;
  uint32_t function_ = 0;
};

}  // namespace

std::vector<Violation> check_barriers(const KernelDescriptor& d) {
  if (!d.uses_barrier()) return {};
  return Barriers(d).run();
}

}  // namespace lcpy
