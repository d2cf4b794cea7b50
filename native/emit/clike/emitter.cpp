// The text as a whole: declarations, tables, functions, the kernel; and one operation after
// another.
#include "emit/clike/emitter.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/error.h"
#include "emit/clike/ops.h"

namespace lcpy::clike {
namespace {

// Longer texts are not written into others, so that text grows linearly and stays readable.
constexpr size_t kLongestInline = 120;

// "g0_image": a letter for the memory class, the slot's number, and what C allows of the name.
std::string slot_name(const Slot& slot, size_t index) {
  constexpr std::string_view letters = "guksltmhx";
  std::string name(1, letters[static_cast<size_t>(slot.memory)]);
  name += std::to_string(index) + "_";
  for (char c : slot.name.substr(0, 32)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || c == '_') name += c;
  }
  return name;
}

// A name with one pair of brackets behind it, "sqrt(a + b)" or "w[4]": needs no parentheses.
bool is_primary(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_'))
    i++;
  if (i == 0 || i == text.size() || (text[i] != '(' && text[i] != '[')) return false;
  size_t depth = 0;
  for (; i < text.size(); i++) {
    if (text[i] == '(' || text[i] == '[') depth++;
    if ((text[i] == ')' || text[i] == ']') && --depth == 0) return i + 1 == text.size();
  }
  return false;
}

}  // namespace

Emitter::Emitter(const KernelDescriptor& d, Dialect& dialect)
    : d_(d),
      dialect_(dialect),
      traits_(dialect.traits()),
      types_(dialect),
      block_(argument_block(d)) {
  for (size_t i = 0; i < d.slots.size(); i++) slot_names_.push_back(slot_name(d.slots[i], i));
}

Text* Emitter::define(const std::string& name) {
  return defined_.insert(name).second ? &head_ : nullptr;
}

Text* Emitter::define(uint32_t number) {
  if (number >= defined_numbers_.size()) defined_numbers_.resize(number + 1);
  if (defined_numbers_[number]) return nullptr;
  defined_numbers_[number] = true;
  return &head_;
}

std::string Emitter::emit() {
  analyse();
  analyse_apart();
  out_.reserve(d_.ops.size() * 40 + 1024);
  Text prototypes;
  for (size_t f = 1; f < d_.functions.size(); f++) declare_results(FunctionId(f));
  for (size_t f = 1; f < d_.functions.size(); f++) {
    function_head(prototypes, FunctionId(f));
    prototypes << ";\n";
  }
  for (size_t i = 0; i < d_.slots.size(); i++) {
    const Slot& slot = d_.slots[i];
    if (slot.memory == MemoryClass::Constant) constant_table(slot_names_[i], slot.data, slot.type);
  }
  for (size_t f = 1; f < d_.functions.size(); f++) define_function(FunctionId(f));
  define_kernel();

  Text all;
  dialect_.prelude(all, *this);
  all << types_.declarations();
  external_texts(all);
  all << head_ << prototypes << out_;
  dialect_.epilogue(all);
  return all.take();
}

// Tables are words, reinterpreted where they are read: every bit arrives as it is.
void Emitter::constant_table(const std::string& name, std::span<const std::byte> data, Type type) {
  Text& t = head_;
  const size_t words = (data.size() + 3) / 4;
  t << dialect_.constant_prefix() << dialect_.scalar(Scalar::UInt32) << ' ' << name << '[' << words
    << "] " << dialect_.align_attribute() << std::max<uint32_t>(type.align(), 4) << "))) = {";
  for (size_t i = 0; i < words; i++) {
    uint32_t word = 0;
    std::memcpy(&word, data.data() + i * 4, std::min<size_t>(4, data.size() - i * 4));
    t << (i % 8 == 0 ? "\n  " : " ") << word << "u,";
  }
  t << "\n};\n";
}

void Emitter::declare_results(FunctionId f) {
  const Function& function = d_.functions[f.value];
  if (function.results.size() < 2) return;
  Text fields;
  for (size_t i = 0; i < function.results.size(); i++) {
    fields << ' ';
    types_.value_name(fields, function.results[i]);
    fields << " r" << i << ';';
  }
  head_ << "typedef struct {" << fields << " } R" << f.value << ";\n";
}

void Emitter::function_head(Text& t, FunctionId f) {
  const Function& function = d_.functions[f.value];
  bool shared = false;
  for (size_t s = 0; s < d_.slots.size(); s++)
    shared |= d_.slots[s].memory == MemoryClass::Shared && facts_[f.value].slots[s];
  t << dialect_.function_prefix() << (shared ? dialect_.takes_shared() : "");
  if (function.results.empty())
    t << "void";
  else if (function.results.size() == 1)
    types_.value_name(t, function.results[0]);
  else
    t << 'R' << f.value;
  t << " f" << f.value << "(const " << dialect_.scalar(Scalar::UInt32) << "* const w";
  if (names_lanes(f)) t << ", const " << dialect_.scalar(Scalar::UInt32) << " lanes";
  for (size_t s = 0; s < d_.slots.size(); s++) {
    const MemoryClass memory = d_.slots[s].memory;
    if (!facts_[f.value].slots[s]) continue;
    if (memory != MemoryClass::Global && memory != MemoryClass::Shared) continue;
    t << ", ";
    slot_parameter(t, SlotId(s));
  }
  for (ValueId p : function.params) {
    t << ", const ";
    types_.value_name(t, d_.type_of(p));
    t << " v" << p.value;
  }
  t << ')';
}

void Emitter::slot_parameter(Text& t, SlotId s) {
  const Slot& slot = d_.slot(s);
  const bool bytes = slot.type.is_buffer() && slot.type.element().is_void();
  t << dialect_.pointer_space(slot.memory);
  if (slot.access == Access::Read || slot.access == Access::None) t << "const ";
  if (bytes)
    t << dialect_.scalar(Scalar::UInt8);
  else
    types_.memory_name(t, slot.memory == MemoryClass::Global ? slot.type.element() : slot.type);
  t << dialect_.pointer() << slot_names_[s.value];
}

void Emitter::define_function(FunctionId f) {
  if (is_external(f)) return define_external(f);
  function_ = f;
  out_ << '\n';
  function_head(out_, f);
  out_ << " {\n";
  indent_ = "  ";
  for (size_t i = 0; keeps_results(f) && i < d_.functions[f.value].results.size(); i++) {
    line();
    types_.value_name(out_, d_.functions[f.value].results[i]);
    out_ << " kept" << i << ";\n";
  }
  scratch_slots(f);
  begin_lanes(f);
  apart_now_ = function_apart_[f.value];
  body(d_.functions[f.value].body);
  apart_now_ = 0;
  out_ << "}\n";
}

void Emitter::define_kernel() {
  function_ = FunctionId(0u);
  out_ << '\n';
  dialect_.open_kernel(out_, d_);
  for (size_t s = 0; s < d_.slots.size(); s++) {
    if (d_.slots[s].memory != MemoryClass::Global) continue;
    slot_parameter(out_, SlotId(s));
    out_ << ", ";
  }
  out_ << dialect_.block_parameter() << ") {\n";
  indent_ = "  ";
  line() << "const " << dialect_.scalar(Scalar::UInt32) << "* const w = block.w;\n";
  dialect_.begin_kernel(out_, d_);
  uint64_t shared = 0;  // as shared_bytes() lays them out
  Text type;
  for (size_t s = 0; s < d_.slots.size(); s++) {
    const Slot& slot = d_.slots[s];
    if (slot.memory == MemoryClass::Shared) {
      type.clear();
      types_.memory_name(type, slot.type);
      shared = (shared + slot.type.align() - 1) / slot.type.align() * slot.type.align();
      dialect_.declare_shared(line(), type.str(), slot_names_[s], shared);
      out_ << ";\n";
      shared += slot.type.size();
    } else if (slot.memory == MemoryClass::Global && d_.view_offsets) {
      line() << slot_names_[s] << " += ";
      block_scalar(out_, Scalar::UInt64, block_.entries[s].base);
      out_ << ";\n";
    }
  }
  scratch_slots(function_);
  begin_lanes(function_);
  if (names_lanes(function_)) {
    line() << "const " << dialect_.scalar(Scalar::UInt32) << " lanes = ";
    dialect_.first_lanes(out_);
    out_ << ";\n";
  }
  body(d_.functions[0].body);
  out_ << "}\n";
}

void Emitter::scratch_slots(FunctionId f) {
  for (size_t s = 0; s < d_.slots.size(); s++) {
    const Slot& slot = d_.slots[s];
    if (slot.memory != MemoryClass::Scratch || slot.owner != f || !facts_[f.value].slots[s])
      continue;
    line();
    types_.memory_name(out_, slot.type);
    out_ << ' ' << slot_names_[s] << ";\n";
  }
}

void Emitter::body(BodyId id) {
  const BodyId outer = body_;
  const size_t accessed = accessed_.size();
  const uint8_t apart = apart_now_;
  apart_now_ |= apart_[id.value];
  body_ = id;
  uint32_t at = 0;
  for (OpId op_id : d_.body(id).ops) {
    lanes_follow_ = traits_.names_lanes && ++at < last_warp_[id.value];
    const Operation& op = d_.op(op_id);
    const OpForm& form = form_of(op.op);
    if (form.kind == OpForm::Kind::Statement)
      (this->*form.statement)(op);
    else
      value(op, form);
    if (any_apart_)
      if (const auto after = apart_after_.find(op_id.value); after != apart_after_.end())
        apart_now_ |= after->second;
  }
  apart_now_ = apart;
  accessed_.resize(accessed);
  body_ = outer;
}

void Emitter::declare(Text& t, ValueId v, bool is_const) {
  if (is_const) t << "const ";
  types_.value_name(t, d_.type_of(v));
  t << " v" << v.value;
}

void Emitter::value(const Operation& op, const OpForm& form) {
  const ValueId v = op.first_result;
  const bool pure = form.kind != OpForm::Kind::Read;
  // An unused read may still be volatile; the compiler drops the others.
  if (pure && uses_[v.value] == 0) return;
  if (op.op == Op::Extract && alias_extract(op)) return;
  scratch_.clear();
  expression(scratch_, op, form);
  // A sum or product that must not be contracted stands alone.
  const bool alone = (op.flags & kExactFlag) && op_row(op.op).category == OpCategory::Operator;
  const bool once = uses_[v.value] == 1 && user_body_[v.value] == body_ && !alone;
  if ((pure && once && scratch_.size() <= kLongestInline) || id_operation(v)) {
    const bool primary = is_primary(scratch_.str());
    texts_.push_back(primary ? scratch_.str() : "(" + scratch_.str() + ")");
    inlined_[v.value] = static_cast<uint32_t>(texts_.size());
    return;
  }
  line();
  if (reads_parts(op) || (op.op == Op::Extract && copies_parts(v))) {
    const std::string place = scratch_.str();
    declare(out_, v, false);
    out_ << ";\n";
    return copy_parts("v" + std::to_string(v.value), place, d_.type_of(v), cleans(op));
  }
  declare(out_, v, true);
  out_ << " = " << scratch_ << ";\n";
}

}  // namespace lcpy::clike
