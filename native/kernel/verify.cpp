// verify(): slots, functions, the tree of bodies, dominance and what bodies pass. Reports every
// violation with its path, in one walk; linear in the size of the descriptor.
#include "kernel/verify.h"

#include <string>
#include <unordered_set>

#include "base/error.h"
#include "kernel/walk.h"

namespace lcpy {
namespace {

class Verifier {
 public:
  explicit Verifier(const KernelDescriptor& d)
      : d_(d),
        state_(d.values.size(), State::Unseen),
        body_seen_(d.bodies.size(), 0),
        op_seen_(d.ops.size(), 0) {}

  std::vector<Violation> run() {
    header();
    slots();
    for (size_t i = 0; i < d_.values.size(); i++)
      if (d_.values[i].def == Value::Def::Constant) constant(ValueId(i));
    if (d_.functions.empty()) report("function_signature", "there is no function 0, the kernel");
    for (size_t i = 0; i < d_.functions.size(); i++) function(static_cast<uint32_t>(i));
    for (size_t i = 0; i < d_.bodies.size(); i++)
      if (!body_seen_[i] && (!d_.bodies[i].ops.empty() || !d_.bodies[i].params.empty()))
        report("body_shared", "body " + std::to_string(i) + " is used by no operation");
    call_cycles();
    return std::move(found_);
  }

 private:
  enum class State : uint8_t { Unseen, InScope, Left };
  // What ends a body: where its terminator's values go.
  struct Frame {
    uint32_t op_index = 0;          // within the enclosing body
    const char* op_name = nullptr;  // null for the function's body
    std::string_view role;          // "then", "case"…
    uint32_t role_index = 0;
  };
  struct Context {
    const Operation* yields_to = nullptr;  // If or Switch whose body this directly is
    const Operation* loop = nullptr;       // innermost loop
    BodyId loop_body;
    const Function* function = nullptr;
  };

  void report(const char* rule, std::string message, Span span = {}) {
    std::string path;
    if (function_ != kOutside) {
      path = "function " + std::to_string(function_);
      for (size_t i = 0; i < frames_.size(); i++) {
        const Frame& f = frames_[i];
        if (!f.op_name) continue;
        path +=
            " / op " + std::to_string(f.op_index) + ' ' + f.op_name + " / " + std::string(f.role);
        if (f.role == "case") path += ' ' + std::to_string(f.role_index);
      }
      if (at_op_)
        path += " / op " + std::to_string(op_index_) + ' ' + std::string(op_row(at_op_->op).name);
    } else {
      path = place_;
    }
    found_.push_back({std::move(path), rule, std::move(message), span});
  }

  // ---- header and slots -----------------------------------------------------------------------
  void header() {
    place_ = "kernel";
    for (uint32_t n : d_.block_size)
      if (n == 0) report("block_size", "an axis of the block has no threads");
    constexpr size_t most = ValueId::kNone;
    if (d_.values.size() >= most || d_.ops.size() >= most || d_.bodies.size() >= most ||
        d_.operands.size() >= most || d_.slots.size() >= kInternalSlotBase)
      report("id_range", "more than ids can count");
  }

  void slots() {
    std::unordered_set<uint32_t> numbers;
    bool internal = false;
    for (size_t i = 0; i < d_.slots.size(); i++) {
      const Slot& s = d_.slots[i];
      place_ = "slot " + std::to_string(i);
      const bool inner = s.memory == MemoryClass::Shared || s.memory == MemoryClass::Scratch ||
                         s.memory == MemoryClass::Constant;
      if (!numbers.insert(s.number).second) report("slot_number", "the number is taken", s.span);
      if (inner != (s.number >= kInternalSlotBase))
        report(
            "slot_number",
            inner ? "internal memory with a binding's number" : "a binding in the internal range",
            s.span);
      if (!inner && internal) report("slot_order", "host slots come first", s.span);
      internal |= inner;
      if (s.name.starts_with(kReservedPrefix))
        report("reserved_name", "names in __lcpy are ours", s.span);
      slot_type(s);
      const bool writes = static_cast<int>(s.access) & static_cast<int>(Access::Write);
      if (writes && (s.memory == MemoryClass::Uniform || s.memory == MemoryClass::Constant))
        report("slot_class", "read-only memory marked as written", s.span);
      const bool data = s.memory == MemoryClass::Constant;
      if (data ? s.data.size() != s.type.size() : !s.data.empty())
        report("slot_data", "constant memory has exactly its type's bytes, other memory none",
               s.span);
      const bool owned = s.owner.valid();
      if (owned != (s.memory == MemoryClass::Scratch) ||
          (owned && s.owner.value >= d_.functions.size()))
        report("slot_owner", "scratch memory belongs to one function, other memory to none",
               s.span);
      const Type words = s.memory == MemoryClass::Global
                             ? Type::buffer(Type::of(Scalar::UInt32), 1)
                             : Type::vector(Scalar::UInt32, 4);
      if (s.report && (s.type != words || inner))
        report("slot_type", "a report's slot is a uint4 by value or a buffer of uint", s.span);
      if (s.atomics && s.memory != MemoryClass::Global && s.memory != MemoryClass::Shared)
        report("slot_class", "atomics reach buffers and shared memory only", s.span);
    }
  }

  void slot_type(const Slot& s) {
    const bool good = s.memory == MemoryClass::Global ? s.type.is_buffer() && !s.type.packed()
                      : s.memory == MemoryClass::Texture || s.memory == MemoryClass::Sampler ||
                              s.memory == MemoryClass::Heap || s.memory == MemoryClass::Accel
                          ? s.type.is_resource() || s.type.tag() == TypeTag::Custom
                          : s.type.is_value();
    if (!good) report("slot_type", "the type does not fit the memory class", s.span);
  }

  void constant(ValueId v) {
    const Value& value = d_.values[v.value];
    place_ = "constant value " + std::to_string(v.value);
    if (value.source >= d_.constants.size()) return report("value_ids", "no such constant");
    const Constant& c = d_.constants[value.source];
    if (c.type != value.type || !c.type.is_value())
      return report("value_ids", "the constant's type is not the value's");
    if (c.data + c.type.size() > d_.constant_data.size())
      return report("value_ids", "the constant's bytes are missing");
    state_[v.value] = State::InScope;
  }

  // ---- functions ------------------------------------------------------------------------------
  void function(uint32_t index) {
    const Function& f = d_.functions[index];
    function_ = index;
    frames_.clear();
    at_op_ = nullptr;
    if (index == 0 && (!f.params.empty() || !f.results.empty()))
      report("function_signature", "the kernel takes and gives nothing", f.span);
    for (Type t : f.results)
      if (!t.is_value()) report("function_signature", "a result is not a value", f.span);
    const size_t mark = scope_.size();
    for (size_t i = 0; i < f.params.size(); i++)
      define(f.params[i], Value::Def::FunctionParameter, index, static_cast<uint32_t>(i));
    Context c;
    c.function = &f;
    frames_.push_back({});
    body(f.body, c, 1);
    frames_.pop_back();
    leave(mark);
    function_ = kOutside;
  }

  void define(ValueId v, Value::Def def, uint32_t source, uint32_t index) {
    if (v.value >= d_.values.size()) return report("value_ids", "a defined value does not exist");
    const Value& value = d_.values[v.value];
    if (value.def != def || value.source != source || value.index != index)
      return report("value_ids",
                    "value " + std::to_string(v.value) + " is not defined by what defines it");
    if (state_[v.value] != State::Unseen)
      return report("value_ids", "value " + std::to_string(v.value) + " is defined twice");
    if (!value.type.is_value()) report("result_type", "a value of a type without values");
    state_[v.value] = State::InScope;
    scope_.push_back(v.value);
  }

  void leave(size_t mark) {
    while (scope_.size() > mark) {
      state_[scope_.back()] = State::Left;
      scope_.pop_back();
    }
  }

  // ---- bodies ---------------------------------------------------------------------------------
  void body(BodyId id, const Context& c, uint32_t depth) {
    if (id.value >= d_.bodies.size()) return report("body_shared", "the body does not exist");
    if (body_seen_[id.value]) return report("body_shared", "the body is used twice");
    body_seen_[id.value] = 1;
    if (depth > kDeepestNesting) {
      mark_seen(id);
      return report("nesting_depth", "bodies are nested more than 64 deep");
    }
    const Body& b = d_.body(id);
    const size_t mark = scope_.size();
    for (size_t i = 0; i < b.params.size(); i++)
      define(b.params[i], Value::Def::BodyParameter, id.value, static_cast<uint32_t>(i));
    if (b.ops.empty()) report("terminator", "the body is empty");
    for (size_t i = 0; i < b.ops.size(); i++) {
      const OpId op = b.ops[i];
      op_index_ = static_cast<uint32_t>(i);
      at_op_ = nullptr;
      if (op.value >= d_.ops.size()) {
        report("operation_shared", "operation " + std::to_string(i) + " does not exist");
        continue;
      }
      const Operation& o = d_.op(op);
      at_op_ = &o;
      if (op_seen_[op.value]++) {
        report("operation_shared", "the operation stands twice", o.span);
        continue;
      }
      operation(op, o, c, depth, static_cast<uint32_t>(i));
      at_op_ = &o;
      op_index_ = static_cast<uint32_t>(i);
      const bool last = i + 1 == b.ops.size();
      if (is_terminator(o.op) != last)
        report("terminator",
               last ? "the body's last operation ends nothing" : "operations follow a terminator",
               o.span);
    }
    at_op_ = nullptr;
    leave(mark);
  }

  // Bodies below the deepest level are not looked at; they must not be reported as unused too.
  void mark_seen(BodyId top) {
    std::vector<BodyId> rest{top};
    while (!rest.empty()) {
      const BodyId id = rest.back();
      rest.pop_back();
      for (OpId op : d_.body(id).ops) {
        if (op.value >= d_.ops.size()) continue;
        for (Operand x : d_.operands_of(d_.op(op)))
          if (x.kind == Operand::Kind::Body && x.index < d_.bodies.size() && !body_seen_[x.index]++)
            rest.push_back(x.body());
      }
    }
  }

  void operation(OpId id, const Operation& o, const Context& c, uint32_t depth, uint32_t index) {
    bool usable = operands(o);
    for (uint32_t i = 0; i < o.result_count && usable; i++)
      if (o.first_result.value + i >= d_.values.size()) {
        report("value_ids", "a result does not exist", o.span);
        usable = false;
      }
    if (usable) {
      const RowFault f = check_row({d_, o, d_.operands_of(o)});
      if (f.rule) report(f.rule, f.message, o.span);
      scratch_owner(o);
      if ((o.op == Op::Call || o.op == Op::External) && !f.rule)
        calls_.push_back({function_, d_.operands_of(o)[0].index});
      passes(o, c);
    }
    bodies_of(o, c, depth, index);
    at_op_ = &o;
    op_index_ = index;
    for (uint32_t i = 0; i < o.result_count; i++)
      define(ValueId(o.first_result.value + i), Value::Def::Result, id.value, i);
  }

  // Whether each id exists; a value must also be defined here and on every path.
  bool operands(const Operation& o) {
    if (size_t(o.operand_begin) + o.operand_count > d_.operands.size()) {
      report("operand_count", "operands lie outside the list", o.span);
      return false;
    }
    bool exist = true;
    for (Operand x : d_.operands_of(o)) {
      bool exists = true;
      switch (x.kind) {
        case Operand::Kind::Value:
          exists = x.index < d_.values.size();
          break;
        case Operand::Kind::Slot:
          exists = x.index < d_.slots.size();
          break;
        case Operand::Kind::Body:
          exists = x.index < d_.bodies.size();
          break;
        case Operand::Kind::Function:
          exists = x.index < d_.functions.size();
          break;
        case Operand::Kind::Imm:
          break;
      }
      if (!exists) {
        report("operand_exists", "an operand names what does not exist", o.span);
      } else if (x.kind == Operand::Kind::Value && state_[x.index] != State::InScope) {
        report("dominance",
               "value " + std::to_string(x.index) +
                   (state_[x.index] == State::Left ? " is used outside the body that defines it"
                                                   : " is used before its definition"),
               o.span);
      }
      exist &= exists;
    }
    return exist;
  }

  void scratch_owner(const Operation& o) {
    const auto x = d_.operands_of(o);
    if (x.empty() || x[0].kind != Operand::Kind::Slot) return;
    const Slot& s = d_.slot(x[0].slot());
    if (s.memory == MemoryClass::Scratch && s.owner.value != function_)
      report("slot_owner", "another function's scratch memory", o.span);
  }

  // The values that a terminator passes must be what their receiver expects.
  void passes(const Operation& o, const Context& c) {
    if (o.op == Op::Yield) {
      if (!c.yields_to) return report("terminator", "Yield outside a body of If or Switch", o.span);
      carried(o, c.yields_to->result_count,
              [&](uint32_t i) { return d_.type_of(d_.result(*c.yields_to, i)); });
    } else if (o.op == Op::Break || o.op == Op::Continue) {
      if (!c.loop) return report("terminator", "outside a loop", o.span);
      if (o.op == Op::Break) {
        carried(o, c.loop->result_count,
                [&](uint32_t i) { return d_.type_of(d_.result(*c.loop, i)); });
      } else {
        const auto& params = d_.body(c.loop_body).params;
        carried(o, params.size(), [&](uint32_t i) { return d_.type_of(params[i]); });
      }
    } else if (o.op == Op::Return) {
      carried(o, c.function->results.size(), [&](uint32_t i) { return c.function->results[i]; });
    }
  }

  template <class Wanted>
  void carried(const Operation& o, size_t count, Wanted wanted) {
    const auto x = d_.operands_of(o);
    if (x.size() != count)
      return report("carried",
                    "passes " + std::to_string(x.size()) + " values where " +
                        std::to_string(count) + " are expected",
                    o.span);
    for (uint32_t i = 0; i < count; i++)
      if (x[i].is_value() && d_.type_of(x[i].value()) != wanted(i))
        report("carried", "value " + std::to_string(i) + " passed has the wrong type", o.span);
  }

  void bodies_of(const Operation& o, const Context& c, uint32_t depth, uint32_t index) {
    if (op_row(o.op).category != OpCategory::Control) return;
    Context inner = c;
    uint32_t cases = 0, seen = 0;
    for (Operand x : d_.operands_of(o)) {
      if (x.kind != Operand::Kind::Body || x.index >= d_.bodies.size()) continue;
      Frame f{index, op_row(o.op).name.data(), "body", 0};
      inner.yields_to = &o;
      if (o.op == Op::If) {
        f.role = seen == 0 ? "then" : "else";
      } else if (o.op == Op::Switch) {
        f.role = seen == 0 ? "default" : "case";
        f.role_index = seen ? cases++ : 0;
      } else {
        inner.yields_to = nullptr;
        inner.loop = &o;
        inner.loop_body = x.body();
      }
      seen++;
      frames_.push_back(f);
      body(x.body(), inner, depth + 1);
      frames_.pop_back();
    }
    if (o.op == Op::Switch) switch_constants(o);
  }

  void switch_constants(const Operation& o) {
    std::unordered_set<uint32_t> values;
    bool first = true;
    for (Operand x : d_.operands_of(o)) {
      if (x.is_value() && !first && !values.insert(x.index).second)
        report("switch_constants", "a case's constant stands twice", o.span);
      first = false;
    }
  }

  // ---- calls ----------------------------------------------------------------------------------
  void call_cycles() {
    std::vector<std::vector<uint32_t>> calls(d_.functions.size());
    for (auto [function, callee] : calls_) calls[function].push_back(callee);
    std::vector<uint8_t> colour(d_.functions.size(), 0);
    for (uint32_t i = 0; i < d_.functions.size(); i++)
      if (!colour[i]) visit(i, calls, colour);
  }
  void visit(uint32_t f, const std::vector<std::vector<uint32_t>>& calls,
             std::vector<uint8_t>& colour) {
    colour[f] = 1;
    for (uint32_t callee : calls[f]) {
      if (callee >= colour.size()) continue;
      if (colour[callee] == 1) {
        place_ = "function " + std::to_string(f);
        report("call_cycle", "functions call one another in a circle");
      } else if (!colour[callee]) {
        visit(callee, calls, colour);
      }
    }
    colour[f] = 2;
  }

  static constexpr uint32_t kOutside = 0xffffffffu;
  const KernelDescriptor& d_;
  std::vector<Violation> found_;
  std::vector<State> state_;
  std::vector<uint8_t> body_seen_, op_seen_;
  std::vector<uint32_t> scope_;  // values in scope, in order of definition
  std::vector<Frame> frames_;
  std::vector<std::pair<uint32_t, uint32_t>> calls_;
  uint32_t function_ = kOutside, op_index_ = 0;
  const Operation* at_op_ = nullptr;
  std::string place_;
};

}  // namespace

std::vector<Violation> verify(const KernelDescriptor& d) {
  std::vector<Violation> found = Verifier(d).run();
  if (!found.empty()) return found;  // the rest needs a well-formed descriptor
  for (const DivergentBarrier& b : divergent_barriers(d, true))
    found.push_back({"function " + std::to_string(b.function), "divergent_barrier",
                     "not every thread of the block reaches this barrier", b.barrier});
  return found;
}

void verify_or_throw(const KernelDescriptor& d, const char* after) {
  const std::vector<Violation> found = verify(d);
  if (found.empty()) return;
  std::string text = "the kernel '" + d.name + "' is ill-formed after " + after + ":";
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < found.size() && i < kShown; i++)
    text += "\n  " + found[i].path + ": " + found[i].rule + ": " + found[i].message;
  if (found.size() > kShown) text += "\n  and " + std::to_string(found.size() - kShown) + " more";
  throw BugError(text);
}

}  // namespace lcpy
