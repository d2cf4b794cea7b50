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
    declare(out_, v, false);
    out_ << ";\n";
  }
}

void Emitter::move(ValueId to, ValueId from) {
  if (to == from || !uses_[to.value]) return;
  line() << 'v' << to.value << " = ";
  bare(out_, from);
  out_ << ";\n";
}

void Emitter::if_else(const Operation& op) {
  const auto operands = d_.operands_of(op);
  const BodyId yes = operands[1].body(), no = operands[2].body();
  results(op);
  yields_.push_back({op.first_result, op.result_count, {}});
  const bool negated = is_empty(yes) && !is_empty(no);
  line() << (negated ? "if (!" : "if (");
  if (negated)
    operand(out_, operands[0].value());
  else
    bare(out_, operands[0].value());
  out_ << ") {\n";
  nested(negated ? no : yes);
  if (!negated && !is_empty(no)) {
    line() << "} else {\n";
    nested(no);
  }
  line() << "}\n";
  yields_.pop_back();
}

// A C switch, unless a break of the loop around would end the switch instead.
void Emitter::switch_case(const Operation& op) {
  const auto operands = d_.operands_of(op);
  results(op);
  yields_.push_back({op.first_result, op.result_count, {}});
  bool crossed = false;
  for (Operand o : operands)
    if (o.kind == Operand::Kind::Body) crossed = crossed || breaks_[o.index];
  if (crossed) {
    if_chain(op);
  } else {
    line() << "switch (";
    bare(out_, operands[0].value());
    out_ << ") {\n";
    const auto arm = [&](BodyId id) {
      out_ << " {\n";
      nested(id);
      if (ends_with(id, Op::Yield)) line() << "  break;\n";
      line() << "}\n";
    };
    for (size_t i = 2; i < operands.size(); i++) {
      if (operands[i].is_value()) {
        const bool first = !operands[i - 1].is_value();
        if (first) line();
        out_ << (first ? "case " : " case ");
        operand(out_, operands[i].value());
        out_ << ':';
      } else {
        arm(operands[i].body());
      }
    }
    line() << "default:";
    arm(operands[1].body());
    line() << "}\n";
  }
  yields_.pop_back();
}

void Emitter::if_chain(const Operation& op) {
  const auto operands = d_.operands_of(op);
  const ValueId selector = operands[0].value();
  Text chosen;
  if (inlined_[selector.value]) {
    line() << "const ";
    types_.value_name(out_, d_.type_of(selector));
    out_ << " s" << selector.value << " = ";
    operand(out_, selector);
    out_ << ";\n";
    chosen << 's' << selector.value;
  } else {
    operand(chosen, selector);
  }
  bool first = true, any = false;
  line();
  for (size_t i = 2; i < operands.size(); i++) {
    if (operands[i].is_value()) {
      out_ << (first ? (any ? "} else if (" : "if (") : " || ") << chosen << " == ";
      operand(out_, operands[i].value());
      first = false;
      any = true;
    } else {
      out_ << ") {\n";
      nested(operands[i].body());
      line();
      first = true;
    }
  }
  out_ << (any ? "} else {\n" : "{\n");
  nested(operands[1].body());
  line() << "}\n";
}

void Emitter::loop(const Operation& op) {
  const auto operands = d_.operands_of(op);
  const BodyId id = operands[0].body();
  const auto& params = d_.body(id).params;
  results(op);
  for (size_t i = 0; i < params.size(); i++) {
    if (!uses_[params[i].value]) continue;
    line();
    declare(out_, params[i], false);
    out_ << " = ";
    bare(out_, operands[i + 1].value());
    out_ << ";\n";
  }
  const bool joined = joins(id);
  if (joined)
    line() << "int left" << id.value << " = 0;\n";
  else if (const uint64_t count = known_turns(d_, op))
    out_ << dialect_.loop_hint(count, weight(d_, id, kMostUnrolled));
  loops_.push_back({op.first_result, op.result_count, id});
  line() << "for (;;) {\n";
  if (joined) line() << "  {\n";
  nested(id);
  if (joined) {
    line() << "  }\n";
    line() << "next" << id.value << ":\n";
    line() << "  ";
    dialect_.join_lanes(out_);
    out_ << '\n';
    line() << "  if (left" << id.value << ") break;\n";
  }
  line() << "}\n";
  loops_.pop_back();
  if (!joined || !returns_[id.value]) return;
  line() << "if (left" << id.value << " == 2) {\n";
  indent_ += "  ";
  if (!loops_.empty() && joins(loops_.back().body))
    leave(2);
  else
    return_kept();
  indent_.resize(indent_.size() - 2);
  line() << "}\n";
}

// To the end of the innermost loop, and out of it there: 1 by a break, 2 by a return.
void Emitter::leave(uint32_t how) {
  const uint32_t loop = loops_.back().body.value;
  line();
  dialect_.set_unseen(out_, "left" + std::to_string(loop), how);
  out_ << '\n';
  line() << "goto next" << loop << ";\n";
}

// Whether returns from within joined loops keep the function's results in variables.
bool Emitter::keeps_results(FunctionId f) const {
  const Function& function = d_.functions[f.value];
  return traits_.joins_lanes && warps_[function.body.value] && !function.results.empty();
}

void Emitter::return_kept() {
  const size_t count = d_.functions[function_.value].results.size();
  line() << "return";
  if (count > 1) out_ << " R" << function_.value << '{';
  for (size_t i = 0; i < count; i++) out_ << (i ? ", " : count > 1 ? "" : " ") << "kept" << i;
  out_ << (count > 1 ? "};\n" : ";\n");
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
  if (joins(to.body)) return leave(1);
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
  if (joins(id))
    line() << "goto next" << id.value << ";\n";
  else
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
  if (!loops_.empty() && joins(loops_.back().body)) {
    for (size_t i = 0; i < operands.size(); i++) {
      line() << "kept" << i << " = ";
      bare(out_, operands[i].value());
      out_ << ";\n";
    }
    return leave(2);
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
