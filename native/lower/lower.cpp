// Kernels and functions: slots for what the host binds, homes for variables, definite assignment,
// and callables made once for each way their buffers and shared arrays are bound.
#include "base/error.h"
#include "lower/lowering.h"

namespace lcpy::lower {

// ---- the kernel
// -----------------------------------------------------------------------------------

Lowering::Lowering(const FunctionBuilder& kernel, const LowerOptions& o)
    : b(d), options(o), kernel_(kernel) {}

KernelDescriptor Lowering::run() {
  LCPY_CHECK(kernel_.kind() == FunctionBuilder::Kind::Kernel && kernel_.finished());
  d.name = kernel_.name();
  d.block_size = kernel_.block_size();
  d.math = options.math;
  d.view_offsets = options.view_offsets;
  d.ops.reserve(kernel_.expr_count() + 64);
  d.values.reserve(kernel_.expr_count() + 64);
  d.operands.reserve(kernel_.expr_count() * 2 + 64);
  host_slots();
  const FunctionId id = b.add_function(kernel_.name(), {}, {}, kernel_.span());
  FunctionLowering function(*this, kernel_, id);
  function.bind_kernel();
  function.run({}, {});
  return std::move(d);
}

void Lowering::host_slots() {
  const auto arguments = kernel_.arguments();
  for (size_t i = 0; i < arguments.size(); i++) {
    const ast::Variable& v = kernel_.variable(arguments[i]);
    Slot s;
    s.name = v.name;
    s.type = v.type;
    s.number = static_cast<uint32_t>(i);
    s.span = v.span;
    s.memory = MemoryClass::Uniform;
    if (v.kind == VariableKind::Resource) {
      if (!v.type.is_buffer())
        fail_at(Diag::resource_unsupported, v.span, {v.name, v.type.description()});
      s.memory = MemoryClass::Global;
      const Type element = v.type.element();
      if (v.type.packed() && !element.is_void()) {
        // Without padding there is nothing to pack; else scalars are reached by their own indices.
        const Type unit = is_dense(element) ? element : packed_unit(element);
        s.type = Type::buffer(unit, v.type.rank());
      } else if (v.type.packed()) {
        s.type = Type::buffer(element, v.type.rank());
      }
    }
    b.add_slot(std::move(s));
  }
  if (!options.bounds && !kernel_.reports()) return;
  const auto number = static_cast<uint32_t>(arguments.size());
  Slot tag, report;
  tag.name = "report_tag";
  tag.type = Type::vector(Scalar::UInt32, 4);
  tag.memory = MemoryClass::Uniform;
  tag.number = number;
  report.name = "report";
  report.type = Type::buffer(Type::of(Scalar::UInt32), 1);
  report.number = number + 1;
  tag.report = report.report = true;
  tag.span = report.span = kernel_.span();
  b.add_slot(std::move(tag));
  b.add_slot(std::move(report));
}

uint32_t Lowering::add_site(Site::Kind kind, std::string text, std::vector<Type> types, Span span) {
  d.sites.push_back({kind, std::move(text), std::move(types), span});
  return static_cast<uint32_t>(d.sites.size() - 1);
}

bool uniform_leaf(Type t, Type& leaf) {
  if (t.is_basic()) {
    leaf = Type::of(t.scalar());
    return true;
  }
  if (t.is_array()) return uniform_leaf(t.element(), leaf);
  if (!t.is_struct()) return false;
  Type first;
  for (Type m : t.members()) {
    if (!uniform_leaf(m, leaf) || (!first.is_void() && leaf != first)) return false;
    first = leaf;
  }
  return true;
}

Type packed_unit(Type element) {
  Type leaf;
  if (uniform_leaf(element, leaf)) return leaf;
  switch (element.packed_unit()) {
    case 1:
      return Type::of(Scalar::UInt8);
    case 2:
      return Type::of(Scalar::UInt16);
    case 4:
      return Type::of(Scalar::UInt32);
    default:
      return Type::of(Scalar::UInt64);
  }
}

SlotId Lowering::add_internal(MemoryClass memory, Type type, std::string name, FunctionId owner,
                              Span span) {
  Slot s;
  s.name = std::move(name);
  s.type = type;
  s.memory = memory;
  s.number = next_internal_++;
  s.owner = owner;
  s.span = span;
  return b.add_slot(std::move(s));
}

SlotId Lowering::constant_slot(ValueId constant) {
  const auto known = constant_slots_.find(constant.value);
  if (known != constant_slots_.end()) return known->second;
  const auto bytes = d.constant_bytes(constant);
  const SlotId id = add_internal(MemoryClass::Constant, d.type_of(constant), "table", {}, {});
  d.slots[id.value].data.assign(bytes.begin(), bytes.end());
  constant_slots_.emplace(constant.value, id);
  return id;
}

void Lowering::fail_at(Diag code, Span span, std::initializer_list<std::string_view> args,
                       const Note* note) const {
  Diagnostic diagnostic = make_diagnostic(code, span, args);
  if (note && !note->text.empty()) diagnostic.notes.push_back(*note);
  for (size_t i = calls_.size(); i-- > 0;)
    diagnostic.notes.push_back(
        {calls_[i].second, "'" + calls_[i].first->name() + "' is called here"});
  if (code == Diag::statement_unsupported || code == Diag::expression_unsupported ||
      code == Diag::resource_unsupported || code == Diag::packed_atomic)
    throw UnsupportedError(std::move(diagnostic));
  throw CompileError(std::move(diagnostic));
}

namespace {

// Callables are the same function when they are the same builder and the same memory is bound in
// the same way; run-time indices are parameters, so only their place counts.
std::string instance_key(const KernelDescriptor& d, const FunctionBuilder& callee,
                         std::span<const Bound* const> bound) {
  std::string key;
  auto put = [&](uint64_t n) { key.append(reinterpret_cast<const char*>(&n), sizeof n); };
  put(reinterpret_cast<uintptr_t>(&callee));
  for (const Bound* x : bound) {
    if (!x) {
      put(~0ull);
      continue;
    }
    put(x->slot.value);
    put(x->chain.size());
    for (Operand o : x->chain)
      put(o.is_imm() ? o.index : (1ull << 32) | d.type_of(o.value()).index());
  }
  return key;
}

ExternalFunction external_function(const FunctionBuilder& callee,
                                   std::span<const Bound* const> bound) {
  const ast::External& external = *callee.external();
  ExternalFunction made;
  made.symbol = callee.name();
  made.texts = external.texts;
  made.returns = !callee.return_type().is_void();
  made.has_body = external.has_body;
  uint32_t next = 0;
  for (size_t i = 0; i < bound.size(); i++) {
    const ast::Variable& v = callee.variable(callee.arguments()[i]);
    using Kind = ExternalFunction::Kind;
    const Access access = static_cast<Access>(external.usages[i]);
    if (bound[i])
      made.parameters.push_back({Kind::Buffer, access, bound[i]->slot.value});
    else if (v.kind == VariableKind::Reference)
      made.parameters.push_back({Kind::Reference, access, next++});
    else
      made.parameters.push_back({Kind::Value, Access::Read, next++});
  }
  return made;
}

}  // namespace

const Instance& Lowering::instance(const FunctionBuilder& callee,
                                   std::span<const Bound* const> bound, Span span) {
  std::string key = instance_key(d, callee, bound);
  const auto known = instances_.find(key);
  if (known != instances_.end()) return known->second;
  std::vector<Type> params, results;
  Instance made;
  if (!callee.return_type().is_void()) results.push_back(callee.return_type());
  const auto arguments = callee.arguments();
  for (uint32_t i = 0; i < arguments.size(); i++) {
    const ast::Variable& v = callee.variable(arguments[i]);
    if (bound[i]) {
      for (Operand o : bound[i]->chain)
        if (o.is_value()) params.push_back(d.type_of(o.value()));
      continue;
    }
    params.push_back(v.type);
    const bool written = static_cast<int>(v.usage) & static_cast<int>(ast::Usage::Write);
    if (v.kind == VariableKind::Reference && written) {
      results.push_back(v.type);
      made.written.push_back(i);
    }
  }
  const BodyId body = b.insertion();
  const Span at = b.span();
  calls_.push_back({&callee, span});
  made.id = b.add_function(callee.name(), params, results, callee.span());
  if (callee.external()) {
    d.functions[made.id.value].external = static_cast<uint32_t>(d.externals.size());
    d.externals.push_back(external_function(callee, bound));
  }
  {
    FunctionLowering function(*this, callee, made.id);
    function.run(bound, made.written);
  }
  calls_.pop_back();
  b.set_insertion(body);
  b.set_span(at);
  return instances_.emplace(std::move(key), std::move(made)).first->second;
}

// ---- functions
// --------------------------------------------------------------------------------------

FunctionLowering::FunctionLowering(Lowering& all, const FunctionBuilder& f, FunctionId id)
    : all_(all), d_(all.d), b_(all.b), f_(f), id_(id), scan_(scan_function(f)) {
  const size_t n = f.variables().size();
  types_.reserve(n + 16);
  for (const ast::Variable& v : f.variables()) types_.push_back(v.type);
  homes_.resize(n);
  current_.assign(n, kUnassigned);
  unassigned_.resize(n);
  seen_.assign(n, 0);
  slot_of_variable_.assign(n, 0);
  b_.set_insertion(d_.functions[id.value].body);
  b_.set_span(f.span());
}

// The kernel's by-value arguments are Uniform slots. Small ones that only constants index are
// loaded once; aggregates are read in place, part by part, unless the kernel writes them.
void FunctionLowering::bind_kernel() {
  const auto arguments = f_.arguments();
  for (uint32_t i = 0; i < arguments.size(); i++) {
    const uint32_t v = arguments[i].value;
    const ast::Variable& variable = f_.variables()[v];
    const SlotId slot(i);
    if (variable.kind == VariableKind::Resource) {
      homes_[v] = {true, slot, {}};
      current_[v] = kInMemory;
      continue;
    }
    if (variable.usage == ast::Usage::None) {
      homes_[v] = {true, slot, {}};
      current_[v] = kInMemory;
      continue;
    }
    mark(slot, Access::Read);
    const bool written = static_cast<int>(variable.usage) & static_cast<int>(ast::Usage::Write);
    const bool in_place = !written && (!variable.type.is_lanes() || scan_.scratch[v]);
    if (in_place) {
      homes_[v] = {true, slot, {}};
      current_[v] = kInMemory;
    } else {
      b_.set_span(variable.span);
      const ValueId whole = b_.load(slot, {}, variable.type);
      if (scan_.scratch[v]) scratch_home(v);
      initialise(v, whole);
    }
  }
  for (uint32_t v = 0; v < f_.variables().size(); v++) {
    const ast::Variable& variable = f_.variables()[v];
    if (variable.kind != VariableKind::Shared) continue;
    homes_[v] = {
        true,
        all_.add_internal(MemoryClass::Shared, variable.type, variable.name, {}, variable.span),
        {}};
    current_[v] = kInMemory;
  }
}

void FunctionLowering::run(std::span<const Bound* const> bound, std::span<const uint32_t> written) {
  const auto arguments = f_.arguments();
  uint32_t param = 0;
  auto next_param = [&] { return d_.functions[id_.value].params[param++]; };
  for (uint32_t i = 0; i < bound.size(); i++) {
    const uint32_t v = arguments[i].value;
    if (bound[i]) {
      Home home{true, bound[i]->slot, {}};
      for (Operand o : bound[i]->chain)
        home.prefix.push_back(o.is_imm() ? o : Operand::of(next_param()));
      homes_[v] = home;
      current_[v] = kInMemory;
    } else {
      if (scan_.scratch[v]) scratch_home(v);
      initialise(v, next_param());
    }
  }
  for (uint32_t i : written) returned_.push_back(arguments[i].value);
  for (uint32_t v = 0; v < f_.variables().size(); v++)
    if (scan_.scratch[v] && !homes_[v].memory && f_.variables()[v].kind == VariableKind::Local)
      scratch_home(v);
  if (f_.external() && !f_.external()->has_body) return b_.terminate(Op::Unreachable);
  if (!scope(f_.body())) return;
  if (!f_.return_type().is_void()) all_.fail_at(Diag::path_without_return, f_.span(), {f_.name()});
  std::vector<ValueId> results;
  for (uint32_t v : returned_) results.push_back(whole(v, f_.span()));
  b_.terminate(Op::Return, results);
}

// ---- variables
// --------------------------------------------------------------------------------------

void FunctionLowering::scratch_home(uint32_t v) {
  const ast::Variable& variable = f_.variables()[v];
  homes_[v] = {
      true,
      all_.add_internal(MemoryClass::Scratch, variable.type, variable.name, id_, variable.span),
      {}};
}

void FunctionLowering::assign(uint32_t v, uint32_t value) {
  if (current_[v] == value) return;
  log_.push_back({v, current_[v]});
  current_[v] = value;
}

void FunctionLowering::initialise(uint32_t v, ValueId value) {
  if (!homes_[v].memory) return assign(v, value.value);
  mark(homes_[v].slot, Access::Write);
  b_.store(homes_[v].slot, homes_[v].prefix, value);
  assign(v, kInMemory);
}

void FunctionLowering::need_assigned(uint32_t v, Span span) {
  if (current_[v] != kUnassigned) return;
  all_.fail_at(Diag::variable_unassigned, span, {f_.variables()[v].name}, &unassigned_[v]);
}

ValueId FunctionLowering::value_of(uint32_t v, Span span) {
  need_assigned(v, span);
  return ValueId(current_[v]);
}

ValueId FunctionLowering::whole(uint32_t v, Span span) {
  return read(variable_place(v, span), span);
}

void FunctionLowering::left_unassigned(uint32_t v, Span span, const char* why) {
  unassigned_[v] = {span, "'" + f_.variables()[v].name + "' " + why};
}

void FunctionLowering::mark(SlotId slot, Access access) {
  Slot& s = d_.slots[slot.value];
  s.access = static_cast<Access>(static_cast<int>(s.access) | static_cast<int>(access));
}

}  // namespace lcpy::lower

namespace lcpy {

KernelDescriptor lower_ast(const ast::FunctionBuilder& kernel, const LowerOptions& options) {
  return lower::Lowering(kernel, options).run();
}

}  // namespace lcpy
