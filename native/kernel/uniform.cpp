// Uniformity: every value starts as uniform, and what a thread's place in its block can change is
// spread along uses, branches and loop exits until nothing changes.
#include "kernel/uniform.h"

#include "kernel/walk.h"

namespace lcpy {
namespace {

constexpr uint32_t kNone = 0xffffffffu;

class Uniform {
 public:
  explicit Uniform(const KernelDescriptor& d)
      : d_(d),
        differs_(d.values.size(), false),
        first_use_(d.values.size() + 1, 0),
        escapes_(d.ops.size(), kNone) {}

  std::vector<bool> run() {
    count_uses();
    for (size_t f = 0; f < d_.functions.size(); f++) {
      if (f)
        for (ValueId p : d_.functions[f].params) spread(p);
      seed(d_.functions[f].body);
    }
    while (!work_.empty()) {
      const uint32_t v = work_.back();
      work_.pop_back();
      for (uint32_t i = first_use_[v]; i < first_use_[v + 1]; i++) use(OpId(uses_[i]));
    }
    std::vector<bool> uniform(differs_.size());
    for (size_t i = 0; i < uniform.size(); i++) uniform[i] = !differs_[i];
    return uniform;
  }

 private:
  struct Escape {  // a Break or Continue out of a branch, and the loop that it belongs to
    const Operation* terminator;
    const Operation* loop;
  };

  void count_uses() {
    auto each = [&](auto&& visit) {
      walk_functions(d_, [&](OpId id, const Operation& o) {
        for (Operand x : d_.operands_of(o))
          if (x.is_value()) visit(x.index, id.value);
      });
    };
    each([&](uint32_t v, uint32_t) { first_use_[v + 1]++; });
    for (size_t i = 1; i < first_use_.size(); i++) first_use_[i] += first_use_[i - 1];
    uses_.resize(first_use_.back());
    std::vector<uint32_t> next(first_use_.begin(), first_use_.end() - 1);
    each([&](uint32_t v, uint32_t op) { uses_[next[v]++] = op; });
    // Where each terminator's values go, and which branches it leaves.
    for (const Function& f : d_.functions) connect(f.body, nullptr, nullptr);
  }

  void connect(BodyId id, const Operation* owner, const Operation* loop) {
    for (OpId op : d_.body(id).ops) {
      const Operation& o = d_.op(op);
      if (o.op == Op::Yield) receiver_.emplace_back(op.value, owner);
      if (o.op == Op::Break || o.op == Op::Continue) {
        receiver_.emplace_back(op.value, loop);
        for (uint32_t branch : branches_) escape_lists_[escapes_[branch]].push_back({&o, loop});
      }
      if (op_row(o.op).category != OpCategory::Control) continue;
      const bool is_loop = o.op == Op::Loop;
      std::vector<uint32_t> outer_branches;
      if (is_loop) {
        outer_branches.swap(branches_);
      } else if (o.op == Op::If || o.op == Op::Switch) {
        escapes_[op.value] = static_cast<uint32_t>(escape_lists_.size());
        escape_lists_.emplace_back();
        branches_.push_back(op.value);
      }
      for (Operand x : d_.operands_of(o))
        if (x.kind == Operand::Kind::Body) connect(x.body(), &o, is_loop ? &o : loop);
      if (is_loop)
        branches_.swap(outer_branches);
      else if (o.op == Op::If || o.op == Op::Switch)
        branches_.pop_back();
    }
  }

  const Operation* receiver(uint32_t op) {
    if (receiver_index_.empty()) {
      receiver_index_.assign(d_.ops.size(), nullptr);
      for (auto [terminator, to] : receiver_) receiver_index_[terminator] = to;
    }
    return receiver_index_[op];
  }

  void seed(BodyId id) {
    walk_body(d_, id, [&](OpId, const Operation& o) {
      if (is_source(o)) results(o);
    });
  }

  // Gives different values whatever its operands are.
  bool is_source(const Operation& o) const {
    if (o.op == Op::ThreadId || o.op == Op::DispatchId || o.op == Op::Call ||
        o.op == Op::External)
      return true;
    if (op_row(o.op).category == OpCategory::Atomic) return true;
    if (o.op == Op::Clock) return true;
    // Warps of one block give results of their own.
    if (op_row(o.op).category == OpCategory::Warp) return o.op != Op::WarpSize;
    if (o.op != Op::Load && o.op != Op::ByteLoad) return false;
    const Slot& s = d_.slot(d_.operands_of(o)[0].slot());
    if (s.memory == MemoryClass::Uniform || s.memory == MemoryClass::Constant) return false;
    return s.memory != MemoryClass::Global || s.access != Access::Read || s.atomics;
  }

  void spread(ValueId v) {
    if (differs_[v.value]) return;
    differs_[v.value] = true;
    work_.push_back(v.value);
  }
  void results(const Operation& o) {
    for (uint32_t i = 0; i < o.result_count; i++) spread(d_.result(o, i));
  }
  void params(const Operation& loop) {
    for (ValueId p : d_.body(d_.operands_of(loop)[0].body()).params) spread(p);
  }

  // Along an axis where a block is one thread wide all threads have the same id.
  bool is_narrow_axis(const Operation& o) const {
    if (o.op != Op::Extract) return false;
    const auto x = d_.operands_of(o);
    const Value& v = d_.values[x[0].index];
    if (v.def != Value::Def::Result) return false;
    const Op from = d_.op(OpId(v.source)).op;
    return (from == Op::ThreadId || from == Op::DispatchId) && d_.block_size[x[1].index] == 1;
  }

  void use(OpId id) {
    const Operation& o = d_.op(id);
    const auto x = d_.operands_of(o);
    switch (o.op) {
      case Op::Yield:
      case Op::Break:
        for (uint32_t i = 0; i < x.size(); i++)
          if (differs_[x[i].index]) spread(d_.result(*receiver(id.value), i));
        return;
      case Op::Continue: {
        const Body& body = d_.body(d_.operands_of(*receiver(id.value))[0].body());
        for (uint32_t i = 0; i < x.size(); i++)
          if (differs_[x[i].index]) spread(body.params[i]);
        return;
      }
      case Op::Loop:
        for (uint32_t i = 1; i < x.size(); i++)
          if (differs_[x[i].index]) spread(d_.body(x[0].body()).params[i - 1]);
        return;
      case Op::If:
      case Op::Switch:
        branch(id, o);
        return;
      case Op::Return:
        return;
      default:
        if (!is_narrow_axis(o)) results(o);
    }
  }

  // Threads part here: what the arms yield differs, and what leaves a loop from within.
  void branch(OpId id, const Operation& o) {
    if (!differs_[d_.operands_of(o)[0].index]) return;
    results(o);
    for (const Escape& e : escape_lists_[escapes_[id.value]]) {
      if (e.terminator->op == Op::Break)
        results(*e.loop);
      else
        params(*e.loop);
    }
  }

  const KernelDescriptor& d_;
  std::vector<bool> differs_;
  std::vector<uint32_t> first_use_, uses_, work_, branches_;
  std::vector<uint32_t> escapes_;  // by operation: into the lists, for branches
  std::vector<std::vector<Escape>> escape_lists_;
  std::vector<std::pair<uint32_t, const Operation*>> receiver_;
  std::vector<const Operation*> receiver_index_;
};

}  // namespace

std::vector<bool> uniform_values(const KernelDescriptor& d) { return Uniform(d).run(); }

}  // namespace lcpy
