// pass_dead: keeps what has an effect or is needed by something that has, and nothing else:
// operations, results and parameters of control, scratch memory that is never read, functions,
// slots that only we know, constants. The descriptor is rebuilt compactly, so ids change, and the
// slots' marks are those of what is left.
#include "base/error.h"
#include "lower/inline_vector.h"
#include "lower/lower.h"
#include "lower/rewrite.h"

namespace lcpy {
namespace lower {
namespace {

constexpr uint32_t kNone = 0xffffffffu;

bool is_atomic(Op op) { return op_row(op).category == OpCategory::Atomic; }

// Where a value that an operation passes on goes.
struct Structure {
  std::vector<uint32_t>
      body_op;  // by body: the operation that it belongs to; kNone for a function's
  std::vector<uint32_t> op_body;  // by operation
  std::vector<std::vector<uint32_t>>
      passes;  // by control operation (dense index): Yields or Breaks
  std::vector<std::vector<uint32_t>> continues;
  std::vector<uint32_t> control_index;  // by operation: into the two above
};

class Dead {
 public:
  explicit Dead(KernelDescriptor& d)
      : d_(d),
        op_live_(d.ops.size(), 0),
        value_live_(d.values.size(), 0),
        slot_live_(d.slots.size(), 0),
        scratch_stores_(d.slots.size()) {}

  KernelDescriptor run() {
    s_.body_op.assign(d_.bodies.size(), kNone);
    s_.op_body.assign(d_.ops.size(), kNone);
    s_.control_index.assign(d_.ops.size(), kNone);
    find_effects();
    reach(0);
    while (!work_.empty()) {
      const uint32_t op = work_.back();
      work_.pop_back();
      process(op);
    }
    return copy();
  }

 private:
  // ---- which functions have effects; callees are known before callers ---------------------------
  void find_effects() {
    effects_.assign(d_.functions.size(), 2);
    reached_.assign(d_.functions.size(), 0);
    for (uint32_t i = 0; i < d_.functions.size(); i++) has_effects(i);
  }
  bool has_effects(uint32_t f) {
    if (effects_[f] != 2) return effects_[f];
    effects_[f] = 1;
    bool any = false;
    walk_body(d_, d_.functions[f].body, [&](OpId, const Operation& o) {
      any |= o.op == Op::Call ? has_effects(d_.operands_of(o)[0].index) : has_effect(o);
    });
    effects_[f] = any;
    return any;
  }
  // Of the operation itself, for what is outside the function that it stands in.
  bool has_effect(const Operation& o) const {
    if (o.op == Op::External || is_atomic(o.op) || o.op == Op::ByteStore) return true;
    if (op_row(o.op).sync == OpSync::Uniform || is_report(o.op)) return true;
    if (o.op == Op::Load || o.op == Op::ByteLoad) return o.flags & kVolatileFlag;
    if (o.op != Op::Store) return false;
    return d_.slot(d_.operands_of(o)[0].slot()).memory != MemoryClass::Scratch;
  }

  // ---- marking
  // ------------------------------------------------------------------------------------
  void reach(uint32_t f) {
    if (reached_[f]) return;
    reached_[f] = 1;
    index_body(d_.functions[f].body, kNone, kNone, kNone);
  }

  // Notes where everything stands, and marks what has an effect.
  void index_body(BodyId id, uint32_t owner, uint32_t yields_to, uint32_t loop) {
    s_.body_op[id.value] = owner;
    for (OpId op : d_.body(id).ops) {
      s_.op_body[op.value] = id.value;
      const Operation& o = d_.op(op);
      switch (o.op) {
        case Op::Yield:
          s_.passes[s_.control_index[yields_to]].push_back(op.value);
          break;
        case Op::Break:
          s_.passes[s_.control_index[loop]].push_back(op.value);
          break;
        case Op::Continue:
          s_.continues[s_.control_index[loop]].push_back(op.value);
          break;
        case Op::Return:
          roots_.push_back(op.value);
          break;
        case Op::Store:
          if (d_.slot(d_.operands_of(o)[0].slot()).memory == MemoryClass::Scratch)
            scratch_stores_[d_.operands_of(o)[0].index].push_back(op.value);
          else
            roots_.push_back(op.value);
          break;
        case Op::Call:
          if (effects_[d_.operands_of(o)[0].index]) roots_.push_back(op.value);
          break;
        case Op::If:
        case Op::Switch:
        case Op::Loop: {
          s_.control_index[op.value] = static_cast<uint32_t>(s_.passes.size());
          s_.passes.emplace_back();
          s_.continues.emplace_back();
          const bool is_loop = o.op == Op::Loop;
          for (Operand x : d_.operands_of(o))
            if (x.kind == Operand::Kind::Body)
              index_body(x.body(), op.value, is_loop ? kNone : op.value, is_loop ? op.value : loop);
          // A loop without an exit is an effect of its own: the program stops there.
          if (is_loop && s_.passes[s_.control_index[op.value]].empty()) roots_.push_back(op.value);
          break;
        }
        default:
          if (has_effect(o)) roots_.push_back(op.value);
      }
    }
    if (owner != kNone) return;
    for (uint32_t op : roots_) mark_op(op);
    roots_.clear();
  }

  void mark_op(uint32_t op) {
    if (op_live_[op]) return;
    op_live_[op] = 1;
    work_.push_back(op);
  }

  void mark_slot(SlotId s) {
    if (slot_live_[s.value]) return;
    slot_live_[s.value] = 1;
    for (uint32_t store : scratch_stores_[s.value]) mark_op(store);
  }

  void process(uint32_t id) {
    const Operation& o = d_.op(OpId(id));
    const uint32_t owner = s_.body_op[s_.op_body[id]];
    if (owner != kNone) mark_op(owner);
    switch (o.op) {
      case Op::Yield:
      case Op::Break:
      case Op::Continue:
        return;  // what they pass is needed one by one
      case Op::Loop:
        // A loop that stays needs all its exits and returns to its start.
        for (uint32_t x : s_.passes[s_.control_index[id]]) mark_op(x);
        for (uint32_t x : s_.continues[s_.control_index[id]]) mark_op(x);
        return;
      case Op::If:
      case Op::Switch:
        mark_value(d_.operands_of(o)[0]);
        return;
      case Op::Call:
      case Op::External:
        reach(d_.operands_of(o)[0].index);
        for_each_buffer(o, [&](const auto& p) { mark_slot(SlotId(p.index)); });
        break;
      default:
        break;
    }
    for (Operand x : d_.operands_of(o)) {
      mark_value(x);
      if (x.kind == Operand::Kind::Slot) mark_slot(x.slot());
    }
  }

  // The slots that an external function is given.
  template <class Each>
  void for_each_buffer(const Operation& o, Each&& each) const {
    if (o.op != Op::External) return;
    for (const ExternalFunction::Parameter& p : d_.external_of(o).parameters)
      if (p.kind == ExternalFunction::Kind::Buffer) each(p);
  }

  void mark_value(Operand x) {
    if (!x.is_value() || value_live_[x.index]) return;
    value_live_[x.index] = 1;
    const Value& v = d_.values[x.index];
    if (v.def == Value::Def::Result) {
      mark_op(v.source);
      const uint32_t control = s_.control_index[v.source];
      if (control == kNone) return;
      for (uint32_t p : s_.passes[control]) {
        mark_op(p);
        mark_value(d_.operands_of(d_.op(OpId(p)))[v.index]);
      }
    } else if (v.def == Value::Def::BodyParameter) {
      const uint32_t loop = s_.body_op[v.source];
      mark_op(loop);
      mark_value(d_.operands_of(d_.op(OpId(loop)))[v.index + 1]);
      for (uint32_t p : s_.continues[s_.control_index[loop]])
        mark_value(d_.operands_of(d_.op(OpId(p)))[v.index]);
    }
  }

  KernelDescriptor copy();

  friend class Copy;
  const KernelDescriptor& d_;
  Structure s_;
  std::vector<uint8_t> op_live_, value_live_, slot_live_, effects_, reached_;
  std::vector<std::vector<uint32_t>> scratch_stores_;
  std::vector<uint32_t> work_, roots_;
};

// The live part of a descriptor, rebuilt.
class Copy {
 public:
  Copy(const KernelDescriptor& from, const Dead& live)
      : d_(from),
        live_(live),
        b_(to_),
        values_(from.values.size(), kNone),
        slots_(from.slots.size(), kNone),
        functions_(from.functions.size(), kNone) {}

  KernelDescriptor run() {
    to_.name = d_.name;
    to_.block_size = d_.block_size;
    to_.math = d_.math;
    to_.view_offsets = d_.view_offsets;
    to_.sites = d_.sites;
    to_.ops.reserve(d_.ops.size());
    to_.values.reserve(d_.values.size());
    to_.operands.reserve(d_.operands.size());
    for (uint32_t f = 0; f < d_.functions.size(); f++)
      if (live_.reached_[f]) declare(f);
    slots();
    for (uint32_t f = 0; f < d_.functions.size(); f++) {
      if (!live_.reached_[f]) continue;
      body(d_.functions[f].body, to_.functions[functions_[f]].body);
    }
    return std::move(to_);
  }

 private:
  void declare(uint32_t f) {
    const Function& old = d_.functions[f];
    std::vector<Type> params;
    for (ValueId v : old.params) params.push_back(d_.type_of(v));
    const FunctionId id = b_.add_function(old.name, params, old.results, old.span);
    functions_[f] = id.value;
    if (old.external != Function::kNotExternal) {
      to_.functions[id.value].external = static_cast<uint32_t>(to_.externals.size());
      to_.externals.push_back(d_.externals[old.external]);
    }
    for (size_t i = 0; i < params.size(); i++)
      define(old.params[i], to_.functions[id.value].params[i]);
  }

  // Host slots stay whether used or not: they are the kernel's arguments.
  void slots() {
    uint32_t next = kInternalSlotBase;
    for (uint32_t i = 0; i < d_.slots.size(); i++) {
      const bool internal = d_.slots[i].number >= kInternalSlotBase;
      if (internal && !live_.slot_live_[i]) continue;
      Slot s = d_.slots[i];
      s.access = Access::None;
      s.atomics = s.length_used = s.extents_used = false;
      if (internal) s.number = next++;
      if (s.owner) s.owner = FunctionId(functions_[s.owner.value]);
      slots_[i] = b_.add_slot(std::move(s)).value;
    }
    for (ExternalFunction& e : to_.externals)
      for (ExternalFunction::Parameter& p : e.parameters)
        if (p.kind == ExternalFunction::Kind::Buffer) p.index = slots_[p.index];
  }

  void body(BodyId from, BodyId to) {
    const BodyId outer = b_.insertion();
    b_.set_insertion(to);
    to_.bodies[to.value].ops.reserve(d_.body(from).ops.size());
    for (OpId id : d_.body(from).ops) {
      const Operation& o = d_.op(id);
      if (is_terminator(o.op) || live_.op_live_[id.value]) operation(o);
    }
    b_.set_insertion(outer);
  }

  void operation(const Operation& o) {
    b_.set_span(o.span);
    switch (o.op) {
      case Op::If:
      case Op::Switch:
      case Op::Loop:
        return control(o);
      case Op::Yield:
        return pass_on(o, [&](uint32_t i) { return d_.result(*yields_.back(), i); });
      case Op::Break:
        return pass_on(o, [&](uint32_t i) { return d_.result(*loops_.back(), i); });
      case Op::Continue: {
        const BodyId loop = d_.operands_of(*loops_.back())[0].body();
        return pass_on(o, [&](uint32_t i) { return d_.body(loop).params[i]; });
      }
      default:
        break;
    }
    InlineVector<Operand, 8> operands;
    for (Operand x : d_.operands_of(o)) operands.push_back(map(x));
    InlineVector<Type, 2> types;
    for (uint32_t i = 0; i < o.result_count; i++) types.push_back(d_.type_of(d_.result(o, i)));
    const OpId id = b_.append(o.op, operands, types, o.flags);
    for (uint32_t i = 0; i < o.result_count; i++)
      define(d_.result(o, i), to_.result(to_.op(id), i));
    mark(o);
  }

  template <class Receiver>
  void pass_on(const Operation& o, Receiver receiver) {
    InlineVector<Operand, 8> operands;
    const auto given = d_.operands_of(o);
    for (uint32_t i = 0; i < given.size(); i++)
      if (is_live(receiver(i))) operands.push_back(map(given[i]));
    b_.append(o.op, operands);
  }

  void control(const Operation& o) {
    const bool is_loop = o.op == Op::Loop;
    (is_loop ? loops_ : yields_).push_back(&o);
    InlineVector<Operand, 8> operands;
    const auto given = d_.operands_of(o);
    for (uint32_t i = 0; i < given.size(); i++) {
      if (given[i].kind == Operand::Kind::Body) {
        operands.push_back(Operand::of(inner_body(given[i].body())));
      } else if (!is_loop || is_live(d_.body(given[0].body()).params[i - 1])) {
        operands.push_back(map(given[i]));
      }
    }
    (is_loop ? loops_ : yields_).pop_back();
    InlineVector<Type, 8> types;
    for (uint32_t i = 0; i < o.result_count; i++)
      if (is_live(d_.result(o, i))) types.push_back(d_.type_of(d_.result(o, i)));
    b_.set_span(o.span);
    const OpId id = b_.append(o.op, operands, types, o.flags);
    uint32_t next = 0;
    for (uint32_t i = 0; i < o.result_count; i++)
      if (is_live(d_.result(o, i))) define(d_.result(o, i), to_.result(to_.op(id), next++));
  }

  BodyId inner_body(BodyId from) {
    InlineVector<Type, 8> types;
    for (ValueId p : d_.body(from).params)
      if (is_live(p)) types.push_back(d_.type_of(p));
    const BodyId to = b_.add_body(types);
    uint32_t next = 0;
    for (ValueId p : d_.body(from).params)
      if (is_live(p)) define(p, to_.body(to).params[next++]);
    body(from, to);
    return to;
  }

  Operand map(Operand x) {
    switch (x.kind) {
      case Operand::Kind::Slot:
        return Operand::of(SlotId(slots_[x.index]));
      case Operand::Kind::Function:
        return Operand::of(FunctionId(functions_[x.index]));
      case Operand::Kind::Imm:
        return x;
      case Operand::Kind::Body:
        break;
      case Operand::Kind::Value: {
        uint32_t& known = values_[x.index];
        if (known == kNone) {
          // Only constants are met before their definition is copied.
          known = b_.constant(d_.type_of(x.value()), d_.constant_bytes(x.value())).value;
        }
        return Operand::of(ValueId(known));
      }
    }
    throw BugError("an operand out of place");
  }

  // The slot's marks, from what is left.
  void mark(const Operation& o) {
    live_.for_each_buffer(o, [&](const ExternalFunction::Parameter& p) {
      Slot& s = to_.slots[slots_[p.index]];
      s.access = static_cast<Access>(static_cast<int>(s.access) | static_cast<int>(p.access));
    });
    const auto x = d_.operands_of(o);
    if (x.empty() || x[0].kind != Operand::Kind::Slot) return;
    Slot& s = to_.slots[slots_[x[0].index]];
    const OpRow& row = op_row(o.op);
    if (row.category == OpCategory::Buffer) {
      (o.op == Op::BufferExtent ? s.extents_used : s.length_used) = true;
      return;
    }
    const bool stores = o.op == Op::Store || o.op == Op::ByteStore;
    const Access a = stores || row.usage == OpUsage::Write0 ? Access::Write
                     : row.usage == OpUsage::ReadWrite0     ? Access::ReadWrite
                                                            : Access::Read;
    s.access = static_cast<Access>(static_cast<int>(s.access) | static_cast<int>(a));
    s.atomics |= row.category == OpCategory::Atomic;
  }

  void define(ValueId from, ValueId to) { values_[from.value] = to.value; }
  bool is_live(ValueId v) const { return live_.value_live_[v.value]; }

  const KernelDescriptor& d_;
  const Dead& live_;
  KernelDescriptor to_;
  KernelBuilder b_;
  std::vector<uint32_t> values_, slots_, functions_;
  std::vector<const Operation*> yields_, loops_;
};

KernelDescriptor Dead::copy() { return Copy(d_, *this).run(); }

}  // namespace
}  // namespace lower

void pass_dead(KernelDescriptor& d) { d = lower::Dead(d).run(); }

void remove_dead(KernelDescriptor& d) {
  const std::vector<Slot> before = d.slots;
  pass_dead(d);
  for (size_t i = 0; i < before.size() && before[i].number < kInternalSlotBase; i++) {
    Slot& s = d.slots[i];
    s.access = before[i].access;
    s.length_used = before[i].length_used;
    s.extents_used = before[i].extents_used;
  }
}

}  // namespace lcpy
