// Functions, calls, and the rows that are data: the walk from operation to instruction.
#include <algorithm>

#include "base/error.h"
#include "base/source.h"
#include "emit/spirv/emitter.h"
#include "kernel/walk.h"

namespace lcpy::spirv {

Word Emitter::own_function(Word& made, const char* name, Word type, uint32_t arity,
                           const std::function<void(const Word*)>& body) {
  if (made) return made;
  made = m_.new_id();
  Words code, *const current = out_;
  const Word label = label_;
  const std::vector<Word> parameters(arity, type);
  out_ = &code;
  code.op(Opcode::Function, type, made, FunctionControl::None, m_.type_function(type, parameters));
  Word x[3] = {};
  for (uint32_t i = 0; i < arity; i++) code.op(Opcode::FunctionParameter, type, x[i] = m_.new_id());
  start_block(m_.new_id());
  body(x);
  code.op(Opcode::FunctionEnd);
  if (target_.names) m_.name(made, name);
  m_.function(code);
  out_ = current;
  label_ = label;
  return made;
}

// ---- operations by row ----------------------------------------------------------------------

void Emitter::emit_op(const Operation& o) {
  if (target_.lines) emit_line(o.span);
  if (target_.debug_info) debug_line(o.span);
  const EmitRow& row = *emit_row(o.op);
  switch (row.kind) {
    case RowKind::Instruction:
      return emit_instruction(o, row);
    case RowKind::Glsl:
      return emit_glsl(o, row);
    case RowKind::Own:
      return (this->*row.own)(o);
    case RowKind::Expanded:
    case RowKind::Unsupported:
      break;
  }
  throw BugError("the preflight let " + std::string(op_row(o.op).name) + " pass");
}

void Emitter::emit_instruction(const Operation& o, const EmitRow& row) {
  const auto x = d_.operands_of(o);
  const Type first = type_of(x[0]), result = d_.type_of(d_.result(o));
  const Opcode code = row.opcodes[static_cast<int>(operand_class(first.scalar()))];
  if (code == Opcode::Nop)
    throw BugError(std::string(op_row(o.op).name) + " on " + first.description());
  const Word t = type(result);
  Word id = 0;
  // Of constants alone the driver would know what they make.
  const bool known = first.is_float() && result.is_float() &&
                     std::ranges::all_of(x, [&](Operand v) { return d_.is_constant(v.value()); });
  Word a = known ? unseen(x[0].value()) : value(x[0]);
  if (x.size() == 1) {
    id = emit(code, t, a);
  } else {
    Word b = value(x[1]);
    const bool equals = code == Opcode::IEqual || code == Opcode::INotEqual;
    if (equals) b = compared(x, b, first.scalar(), first.lanes());
    const bool equal_floats = code == Opcode::FOrdEqual || code == Opcode::FUnordNotEqual;
    if (equal_floats && ends_loop(x)) b = unseen(x[1].value());
    // NVIDIA's compiler computes only those bits of 64 that are used, divisions among them.
    if (code == Opcode::BitwiseAnd && scalar_size(first.scalar()) == 8 && !target_.sound_choices) {
      const bool known_first = d_.is_constant(x[0].value());
      if (known_first != d_.is_constant(x[1].value()))
        (known_first ? b : a) = whole_bits(known_first ? b : a, first.scalar(), first.lanes());
    }
    id = emit(code, t, a, b);
  }
  alias(o, wrap(id, result.scalar(), result.lanes()));
  const bool sum_or_product = code == Opcode::FAdd || code == Opcode::FSub || code == Opcode::FMul;
  if (sum_or_product && (strict() || (o.flags & kExactFlag)))
    m_.decorate(value(d_.result(o)), Decoration::NoContraction);
}

// Whether a value is what a loop carries, or that and a sum or two.
bool Emitter::counts(ValueId v, uint32_t steps) const {
  constexpr uint32_t kMostSteps = 4;
  const Value& value = d_.values[v.value];
  if (d_.is_constant(v) || steps == kMostSteps) return false;
  if (value.def == Value::Def::BodyParameter) return true;
  if (value.def != Value::Def::Result) return false;
  const Operation& o = d_.op(OpId(value.source));
  if (o.op != Op::Add && o.op != Op::Sub && o.op != Op::Mul && o.op != Op::Convert) return false;
  return std::ranges::any_of(d_.operands_of(o),
                             [&](Operand x) { return counts(x.value(), steps + 1); });
}

// Whether an equality of these may end a loop by what it counts. llvmpipe thinks that the loop is
// left at once where i + 1 == 0.
bool Emitter::ends_loop(std::span<const Operand> x) const {
  return loop_ && !target_.sound_headers &&
         std::ranges::any_of(x, [&](Operand v) { return counts(v.value()); });
}

// An integer that is compared with another, as the driver may see it.
Word Emitter::compared(std::span<const Operand> x, Word id, Scalar s, uint32_t n) {
  return ends_loop(x) ? hidden_integer(id, s, n) : id;
}

void Emitter::emit_glsl(const Operation& o, const EmitRow& row) {
  const auto x = d_.operands_of(o);
  const Type first = type_of(x[0]);
  const Glsl function = row.functions[static_cast<int>(operand_class(first.scalar()))];
  if (function == Glsl::Bad)
    throw BugError(std::string(op_row(o.op).name) + " on " + first.description());
  scratch_.assign({m_.glsl(), to_word(function)});
  for (const Operand& operand : x) scratch_.push_back(value(operand));
  alias(o, emit_list(Opcode::ExtInst, type(d_.type_of(d_.result(o))), scratch_));
}

void Emitter::emit_line(Span span) {
  if (!span.known() || span == line_) return;
  line_ = span;
  if (span.file >= files_.size()) files_.resize(span.file + 1, 0);
  Word& file = files_[span.file];
  if (!file) file = m_.string(source_name(span.file));
  code_.op(Opcode::Line, file, span.line, span.column + 1u);
}

// ---- functions ------------------------------------------------------------------------------

Word Emitter::function_id(FunctionId f) {
  Word& id = function_ids_[f.value];
  if (!id) {
    id = m_.new_id();
    queue_.push_back(f);
  }
  return id;
}

// Several results are returned as one structure.
Word Emitter::result_type(const Function& f) {
  if (f.results.empty()) return m_.type_void();
  if (f.results.size() == 1) return type(f.results[0]);
  std::vector<Word> members;
  for (const Type t : f.results) members.push_back(type(t));
  return m_.type_struct(members);
}

void Emitter::call(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const Function& f = d_.functions[operands[0].index];
  std::vector<Word> words{function_id(operands[0].function())};
  for (const Operand& x : operands.subspan(1)) words.push_back(unseen(x.value()));
  const Word id = emit_list(Opcode::FunctionCall, result_type(f), words);
  if (o.result_count == 1) return alias(o, id);
  for (uint32_t i = 0; i < o.result_count; i++)
    ids_[d_.result(o, i).value] = emit(Opcode::CompositeExtract, type(f.results[i]), id, i);
}

void Emitter::return_(const Operation& o) {
  const auto operands = d_.operands_of(o);
  const BodyId whole = d_.functions[function_.value].body;
  if (turn_ && &o == &d_.op(d_.body(whole).ops.back())) {  // see emit_in_loop
    const Word zero = zero_at_run_time(Scalar::UInt32), none = u32(0), end = m_.new_id();
    const Word ends = emit(Opcode::IEqual, lanes(Scalar::Bool), zero, none);
    out_->op(Opcode::BranchConditional, ends, end, turn_);
    start_block(end);
  }
  if (operands.empty()) {
    out_->op(Opcode::Return);
  } else if (operands.size() == 1) {
    out_->op(Opcode::ReturnValue, unseen(operands[0].value()));
  } else {
    std::vector<Word> parts;
    for (const Operand& x : operands) parts.push_back(unseen(x.value()));
    const Word t = result_type(d_.functions[function_.value]);
    out_->op(Opcode::ReturnValue, emit_list(Opcode::CompositeConstruct, t, parts));
  }
  label_ = 0;
}

// A loop that never turns, which the driver cannot know: one that makes of each return an else for
// all that follows, makes breaks of them here, which need no nesting.
void Emitter::emit_in_loop(BodyId body) {
  const Word header = m_.new_id(), inside = m_.new_id(), next = m_.new_id(), after = m_.new_id();
  out_->op(Opcode::Branch, header);
  start_block(header);
  out_->op(Opcode::LoopMerge, after, next, LoopControl::None);
  out_->op(Opcode::Branch, inside);
  start_block(inside);
  turn_ = next;
  emit_body(body);
  turn_ = 0;
  start_block(next);
  out_->op(Opcode::Branch, header);
  start_block(after);
  out_->op(Opcode::Unreachable);
}

// Variables and loads for the whole function gather in buffers of their own, before the code.
void Emitter::emit_function(FunctionId id) {
  const Function& f = d_.functions[id.value];
  function_ = id;
  line_ = {};
  head_.clear();
  early_.clear();
  code_.clear();
  flow_values_.clear();
  block_words_.assign(block_.size / 4, 0);
  uniform_values_.assign(d_.slots.size(), 0);
  std::fill(std::begin(builtin_values_), std::end(builtin_values_), 0);
  linear_thread_ = linear_dispatch_ = 0;
  std::fill(std::begin(hidden_zeros_), std::end(hidden_zeros_), 0);
  hidden_words_.clear();
  hidden_constants_.clear();
  folded_ = {};

  const Word result = result_type(f), function = function_ids_[id.value];
  std::vector<Word> parameters;
  for (const ValueId p : f.params) parameters.push_back(type(d_.type_of(p)));
  const Word signature = m_.type_function(result, parameters);
  head_.op(Opcode::Function, result, function, FunctionControl::None, signature);
  for (size_t i = 0; i < parameters.size(); i++) {
    const Word parameter = ids_[f.params[i].value] = m_.new_id();
    head_.op(Opcode::FunctionParameter, parameters[i], parameter);
  }
  label_ = m_.new_id();
  head_.op(Opcode::Label, label_);
  if (target_.debug_info) open_debug(f, function);
  if (target_.fold && id.value == 0) leave_spare_blocks();
  if (!target_.deep_nesting && count_returns(d_, f.body) > kFewReturns)
    emit_in_loop(f.body);
  else
    emit_body(f.body);
  code_.op(Opcode::FunctionEnd);
  if (target_.names) m_.name(function, f.name);
  m_.function(head_);
  m_.function(early_);
  m_.function(code_);
}

// ---- the module -----------------------------------------------------------------------------

static uint32_t threads_of(const KernelDescriptor& d) {
  return d.block_size[0] * d.block_size[1] * d.block_size[2];
}

Emitter::Emitter(const KernelDescriptor& d, const BindingPlan& plan, const VulkanTarget& target,
                 const Needs& needs)
    : d_(d),
      plan_(plan),
      target_(target),
      needs_(needs),
      made_(target.sound_rounding ? MadeOf{} : made_of(d)),
      linear_block_(needs.warp && (d.block_size[1] > 1 || d.block_size[2] > 1) &&
                    threads_of(d) <= target.block_x),
      block_(argument_block(d)),
      m_(target.version >= 13   ? kVersion16
         : target.version == 12 ? kVersion15
         : target.version == 11 ? kVersion13
                                : kVersion10),
      types_(m_, !target.int8, !target.int16),
      ids_(d.values.size(), 0),
      slots_(d.slots.size()),
      function_ids_(d.functions.size(), 0) {
  code_.reserve(d.ops.size() * 5);
}

void Emitter::require_needs() {
  m_.require(Capability::Shader);
  if (needs_.int8) m_.require(Capability::Int8);
  if (needs_.int16) m_.require(Capability::Int16);
  if (needs_.float16) m_.require(Capability::Float16);
  const bool buffers = needs_.buffers > 0 || plan_.block == BindingPlan::Block::Storage;
  if (buffers) m_.extension("SPV_KHR_storage_buffer_storage_class", kVersion13);
  if (needs_.storage16) {
    m_.require(Capability::StorageBuffer16BitAccess);
    m_.extension("SPV_KHR_16bit_storage", kVersion13);
  }
  if (needs_.storage8) {
    m_.require(Capability::StorageBuffer8BitAccess);
    m_.extension("SPV_KHR_8bit_storage", kVersion15);
  }
  if (needs_.int64_atomics) m_.require(Capability::Int64Atomics);
  if (needs_.buffer_float_add || needs_.shared_float_add) {
    m_.require(Capability::AtomicFloat32AddEXT);
    m_.extension("SPV_EXT_shader_atomic_float_add");
  }
}

// NaN, infinities and denormals are kept, unless the kernel asks for what the driver can do.
void Emitter::float_controls(Word entry) {
  if (d_.math == MathMode::Fast) return;
  const auto control = [&](bool wanted, Capability capability, ExecutionMode mode, Word width) {
    if (!wanted) return;
    m_.require(capability);
    m_.extension("SPV_KHR_float_controls", kVersion14);
    m_.execution_mode(entry, mode, width);
  };
  const auto preserve = [&](bool used, bool specials, bool denormals, Word width) {
    control(used && specials, Capability::SignedZeroInfNanPreserve,
            ExecutionMode::SignedZeroInfNanPreserve, width);
    control(used && denormals, Capability::DenormPreserve, ExecutionMode::DenormPreserve, width);
  };
  const VulkanTarget& t = target_;
  preserve(needs_.float32, t.signed_zero_inf_nan_preserve, t.denorm_preserve, 32u);
  preserve(needs_.holds_float16, t.signed_zero_inf_nan_preserve16, t.denorm_preserve16, 16u);
  preserve(needs_.float64 || divides_doubles_, t.signed_zero_inf_nan_preserve64,
           t.denorm_preserve64, 64u);
  control(needs_.holds_float16 && t.round_even16, Capability::RoundingModeRTE,
          ExecutionMode::RoundingModeRTE, 16u);
}

SpirvModule Emitter::run() {
  require_needs();
  const Word main = function_id(FunctionId(0u));
  m_.entry_point(main, "main");
  if (linear_block_)
    m_.execution_mode(main, ExecutionMode::LocalSize, threads_of(d_), 1u, 1u);
  else
    m_.execution_mode(main, ExecutionMode::LocalSize, d_.block_size[0], d_.block_size[1],
                      d_.block_size[2]);
  if (needs_.warp && target_.maximal_reconvergence) {
    m_.extension("SPV_KHR_maximal_reconvergence");
    m_.execution_mode(main, ExecutionMode::MaximallyReconvergesKHR);
  }
  while (!queue_.empty()) {
    const FunctionId next = queue_.back();
    queue_.pop_back();
    emit_function(next);
  }
  float_controls(main);
  SpirvModule module;
  module.words = m_.finish();
  module.capabilities = m_.capability_names();
  module.extensions = m_.extension_names();
  module.shared_bytes = needs_.shared_bytes;
  return module;
}

}  // namespace lcpy::spirv
