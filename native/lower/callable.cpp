// Calls of callables. By-value arguments become operands; buffers and places in shared memory are
// bound, so that the callee names the slot itself; any other reference is copied in at the call and
// back, in argument order, after it. A parameter that the callee only reads is not copied back.
#include "base/error.h"
#include "lower/lowering.h"

namespace lcpy::lower {

ValueId FunctionLowering::custom_call(const ExprNode& n) {
  const FunctionBuilder& callee = *f_.callees()[n.index];
  const auto args = f_.args_of(n);
  const size_t count = args.size();
  LCPY_CHECK(count == callee.arguments().size());
  const bool external = n.kind == ExprKind::ExternalCall;
  std::vector<ValueId> values(count);
  std::vector<Place> places(count);
  std::vector<Bound> bindings(count);
  std::vector<const Bound*> bound(count, nullptr);
  for (size_t i = 0; i < count; i++) {
    const ast::Variable& p = callee.variable(callee.arguments()[i]);
    if (p.kind == VariableKind::Resource) {
      bindings[i].slot = resource(args[i]);
      bound[i] = &bindings[i];
      if (external) mark(bindings[i].slot, static_cast<Access>(p.usage));
    } else if (p.kind == VariableKind::Reference) {
      places[i] = place(args[i]);
      const bool written = static_cast<int>(p.usage) & static_cast<int>(ast::Usage::Write);
      if (external) continue;  // a text gets a pointer to a variable, whatever the memory
      if (places[i].kind != Place::Kind::Slot || places[i].lanes) continue;
      const MemoryClass m = d_.slot(places[i].slot).memory;
      const bool readable = m == MemoryClass::Uniform || m == MemoryClass::Constant;
      if (m != MemoryClass::Shared && !(readable && !written)) continue;
      bindings[i].slot = places[i].slot;
      bindings[i].chain = places[i].chain;
      bound[i] = &bindings[i];
    } else {
      values[i] = value(args[i]);
    }
  }
  const Instance instance = all_.instance(callee, bound, n.span);
  b_.set_span(n.span);
  InlineVector<Operand, 8> operands;
  operands.push_back(Operand::of(instance.id));
  for (size_t i = 0; i < count; i++) {
    if (bound[i]) {
      for (Operand o : bound[i]->chain)
        if (o.is_value()) operands.push_back(o);
      continue;
    }
    const bool by_value = values[i].valid();
    operands.push_back(Operand::of(by_value ? values[i] : read(places[i], n.span)));
  }
  const std::vector<Type> results = d_.functions[instance.id.value].results;
  const OpId made = b_.append(external ? Op::External : Op::Call, operands, results);
  uint32_t next = callee.return_type().is_void() ? 0 : 1;
  for (uint32_t i : instance.written) write(places[i], d_.result(d_.op(made), next++), n.span);
  return callee.return_type().is_void() ? ValueId() : d_.result(d_.op(made));
}

}  // namespace lcpy::lower
