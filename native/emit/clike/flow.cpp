// Control: if, switch, loops, calls, and the terminators that pass values along.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "emit/clike/ops.h"
#include "kernel/turns.h"

namespace lcpy::clike {

bool Emitter::ends_with(BodyId body, Op terminator) const {
  const auto& ops = d_.body(body).ops;
  return !ops.empty() && d_.op(ops.back()).op == terminator;
}

// Nothing but a yield of nothing that anyone uses.
bool Emitter::is_empty(BodyId body) const {
  return d_.body(body).ops.size() == 1 && ends_with(body, Op::Yield) &&
         d_.op(d_.body(body).ops[0]).operand_count == 0;
}

void Emitter::nested(BodyId id) {
  indent_ += "  ";
  body(id);
  indent_.resize(indent_.size() - 2);
}

void Emitter::results(const Operation& op) {
  for (uint32_t i = 0; i < op.result_count; i++) {
    const ValueId v = d_.result(op, i);
    if (!uses_[v.value]) continue;
    line();
    if (chosen_[v.value]) {
      types_.value_name(out_, unsigned_like(d_.type_of(v)));
      out_ << " b" << v.value;
    } else {
      declare(out_, v, false);
    }
    out_ << ";\n";
  }
}

void Emitter::move(ValueId to, ValueId from) {
  if (to == from || !uses_[to.value]) return;
  if (chosen_[to.value]) {
    line() << 'b' << to.value << " = ";
    bits(out_, from);
    out_ << ";\n";
    return;
  }
  Text text;
  bare(text, from);
  copy("v" + std::to_string(to.value), text.str(), from);
}

void Emitter::if_else(const Operation& op) {
  const auto operands = d_.operands_of(op);
  const BodyId yes = operands[1].body(), no = operands[2].body();
  results(op);
  Parting parting{{"", ""}, lanes_};
  Text condition;
  const bool negated = is_empty(yes) && !is_empty(no);
  if (parts({yes, no})) {
    condition << named(operands[0].value());
    parting = part_lanes(std::array<Arm, 2>{{{yes, condition.str()}, {no, ""}}});
  } else if (negated) {
    operand(condition, operands[0].value());
  } else {
    bare(condition, operands[0].value());
  }
  if (parting.meets) open_meeting(yes);
  yields_.push_back({op.first_result, op.result_count, {}});
  line() << (negated ? "if (!" : "if (") << condition << ") {\n";
  arm(negated ? no : yes, parting.lanes[negated]);
  if (!negated && !is_empty(no)) {
    line() << "} else {\n";
    arm(no, parting.lanes[1]);
  }
  line() << "}\n";
  yields_.pop_back();
  lanes_ = parting.after;
  if (parting.meets) close_meeting();
  chosen_results(op);
}

// The default arm first, which has no condition.
std::vector<Emitter::Arm> Emitter::switch_arms(const Operation& op, std::string_view selector) {
  const auto operands = d_.operands_of(op);
  std::vector<Arm> arms{{operands[1].body(), ""}};
  Text condition;
  for (size_t i = 2; i < operands.size(); i++) {
    if (operands[i].is_value()) {
      condition << (condition.size() ? " || " : "") << selector << " == ";
      operand(condition, operands[i].value());
    } else {
      arms.push_back({operands[i].body(), condition.take()});
      condition.clear();
    }
  }
  return arms;
}

// A C switch, unless a break of the loop around would end the switch instead.
void Emitter::switch_case(const Operation& op) {
  const auto operands = d_.operands_of(op);
  results(op);
  bool crossed = false, parted = false;
  for (Operand o : operands.subspan(1)) {
    if (o.is_value()) continue;
    crossed = crossed || breaks_[o.index];
    parted = parted || parts(o.body());
  }
  Text selector;
  if (crossed || parted)
    selector << named(operands[0].value());
  else
    bare(selector, operands[0].value());
  const std::vector<Arm> arms = switch_arms(op, selector.str());
  Parting parting{std::vector<std::string>(arms.size()), lanes_};
  if (parted) parting = part_lanes(arms);
  if (parting.meets) open_meeting(arms[0].body);
  yields_.push_back({op.first_result, op.result_count, {}});
  if (crossed)
    if_chain(arms, parting.lanes);
  else
    switch_of(op, selector.str(), parting.lanes);
  yields_.pop_back();
  lanes_ = parting.after;
  if (parting.meets) close_meeting();
  chosen_results(op);
}

void Emitter::switch_of(const Operation& op, std::string_view selector,
                        std::span<const std::string> lanes) {
  const auto operands = d_.operands_of(op);
  line() << "switch (" << selector << ") {\n";
  const auto one = [&](BodyId id, const std::string& here) {
    out_ << " {\n";
    arm(id, here);
    if (ends_with(id, Op::Yield)) line() << "  break;\n";
    line() << "}\n";
  };
  size_t at = 0;
  for (size_t i = 2; i < operands.size(); i++) {
    if (operands[i].is_value()) {
      const bool first = !operands[i - 1].is_value();
      if (first) line();
      out_ << (first ? "case " : " case ");
      operand(out_, operands[i].value());
      out_ << ':';
    } else {
      one(operands[i].body(), lanes[++at]);
    }
  }
  line() << "default:";
  one(operands[1].body(), lanes[0]);
  line() << "}\n";
}

void Emitter::if_chain(std::span<const Arm> arms, std::span<const std::string> lanes) {
  line();
  for (size_t i = 1; i < arms.size(); i++) {
    out_ << (i > 1 ? "} else if (" : "if (") << arms[i].condition << ") {\n";
    arm(arms[i].body, lanes[i]);
    line();
  }
  out_ << (arms.size() > 1 ? "} else {\n" : "{\n");
  arm(arms[0].body, lanes[0]);
  line() << "}\n";
}

// A name for it: its own, unless it was to be written where it is used.
std::string Emitter::named(ValueId v) {
  Text name;
  if (!inlined_[v.value]) {
    operand(name, v);
    return name.take();
  }
  name << 's' << v.value;
  line() << "const ";
  types_.value_name(out_, d_.type_of(v));
  out_ << ' ' << name << " = ";
  bare(out_, v);
  out_ << ";\n";
  return name.take();
}

void Emitter::loop(const Operation& op) {
  const auto operands = d_.operands_of(op);
  const BodyId id = operands[0].body();
  const auto& params = d_.body(id).params;
  const bool follow = lanes_follow_, joined = joins(id);
  const bool meets = follow && !joined && returns_[id.value];
  results(op);
  for (size_t i = 0; i < params.size(); i++) {
    if (!uses_[params[i].value]) continue;
    line();
    declare(out_, params[i], false);
    out_ << " = ";
    bare(out_, operands[i + 1].value());
    out_ << ";\n";
  }
  const std::string outside = lanes_;
  if (meets) open_meeting(id);
  if (joined)
    open_rounds(id);
  else if (const uint64_t count = known_turns(d_, op))
    out_ << dialect_.loop_hint(count, weight(d_, id, kMostUnrolled));
  loops_.push_back({op.first_result, op.result_count, id});
  line() << "for (;;) {\n";
  if (joined) line() << "  {\n";
  arm(id, lanes_);
  if (joined) close_rounds();
  line() << "}\n";
  loops_.pop_back();
  lanes_ = outside;
  if (meets) close_meeting();
  chosen_results(op);
  if (joined && returns_[id.value]) returned(id, follow);
}

void Emitter::yield(const Operation& op) {
  const auto operands = d_.operands_of(op);
  LCPY_CHECK(!yields_.empty());
  const Open to = yields_.back();
  for (uint32_t i = 0; i < operands.size(); i++)
    move(ValueId(to.first_result.value + i), operands[i].value());
}

void Emitter::break_loop(const Operation& op) {
  const auto operands = d_.operands_of(op);
  LCPY_CHECK(!loops_.empty());
  const Open to = loops_.back();
  for (uint32_t i = 0; i < operands.size(); i++)
    move(ValueId(to.first_result.value + i), operands[i].value());
  if (joins(to.body)) return leave(Leave::Break);
  line() << "break;\n";
}

// All moves at once: a parameter that a later move still reads is kept aside first.
void Emitter::continue_loop(const Operation& op) {
  const auto operands = d_.operands_of(op);
  LCPY_CHECK(!loops_.empty());
  const BodyId id = loops_.back().body;
  const auto& params = d_.body(id).params;
  const auto is_overwritten = [&](size_t i) {
    const ValueId from = operands[i].value();
    const Value& v = d_.values[from.value];
    return v.def == Value::Def::BodyParameter && v.source == id.value && v.index < i &&
           uses_[params[i].value] != 0 && operands[v.index].value() != from;
  };
  for (size_t i = 0; i < params.size(); i++) {
    if (!is_overwritten(i)) continue;
    line() << "const ";
    types_.value_name(out_, d_.type_of(params[i]));
    out_ << " n" << params[i].value << " = v" << operands[i].index << ";\n";
  }
  for (size_t i = 0; i < params.size(); i++) {
    if (is_overwritten(i))
      line() << 'v' << params[i].value << " = n" << params[i].value << ";\n";
    else
      move(params[i], operands[i].value());
  }
  if (body_ == id) return;
  if (joins(id)) return leave(Leave::Continue);
  line() << "continue;\n";
}

void Emitter::call(const Operation& op) {
  const auto operands = d_.operands_of(op);
  const FunctionId f = operands[0].function();
  const bool many = op.result_count > 1;
  line();
  if (many) {
    out_ << "const R" << f.value << " c" << op.first_result.value << " = ";
  } else if (op.result_count == 1) {
    declare(out_, op.first_result, true);
    out_ << " = ";
  }
  out_ << 'f' << f.value << "(w";
  if (names_lanes(f)) out_ << ", " << lanes_;
  for (size_t s = 0; s < d_.slots.size(); s++) {
    const MemoryClass memory = d_.slots[s].memory;
    if (!facts_[f.value].slots[s]) continue;
    if (memory == MemoryClass::Global || memory == MemoryClass::Shared)
      out_ << ", " << slot_names_[s];
  }
  for (Operand o : operands.subspan(1)) {
    out_ << ", ";
    bare(out_, o.value());
  }
  out_ << ");\n";
  if (!many) return;
  for (uint32_t i = 0; i < op.result_count; i++) {
    const ValueId v = d_.result(op, i);
    if (!uses_[v.value]) continue;
    line();
    declare(out_, v, true);
    out_ << " = c" << op.first_result.value << ".r" << i << ";\n";
  }
}

void Emitter::return_results(const Operation& op) {
  const auto operands = d_.operands_of(op);
  const Function& f = d_.functions[function_.value];
  if (!meetings_.empty()) {
    for (size_t i = 0; i < operands.size(); i++) {
      line() << "kept" << i << " = ";
      bare(out_, operands[i].value());
      out_ << ";\n";
    }
    return leave(Leave::Return);
  }
  if (operands.empty()) {
    if (body_ != f.body) line() << "return;\n";
    return;
  }
  line() << "return ";
  const bool many = operands.size() > 1;
  if (many && traits_.cpp)
    out_ << 'R' << function_.value << '{';
  else if (many)
    out_ << "(R" << function_.value << "){";
  for (size_t i = 0; i < operands.size(); i++) {
    if (i) out_ << ", ";
    // In C++ `a & b` of bools is an int, which braces refuse for a bool.
    if (many && traits_.cpp && d_.type_of(operands[i].value()).is_bool()) {
      out_ << "(bool)";
      operand(out_, operands[i].value());
    } else if (hides(operands[i].value())) {
      hidden(out_, operands[i].value());
    } else {
      bare(out_, operands[i].value());
    }
  }
  out_ << (operands.size() > 1 ? "};\n" : ";\n");
}

// Control does not get here: there is nothing to say.
void Emitter::unreachable(const Operation&) {}

void Emitter::not_lowered(const Operation& o) {
  throw BugError(std::string(op_row(o.op).name) + " was not lowered to a report");
}

}  // namespace lcpy::clike
