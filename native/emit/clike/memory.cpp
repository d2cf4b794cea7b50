// Places, reads and writes, atomics, ids, and the argument block.
#include <utility>

#include "base/error.h"
#include "emit/clike/ops.h"

namespace lcpy::clike {
namespace {

constexpr uint8_t kVolatile = 8, kOrderMask = 7;

bool is_bools(Type t) { return t.is_lanes() && t.has_class(ScalarClass::Bool); }

// Whether nothing within is shorter than 32 bits.
bool is_words(Type t) {
  if (t.is_lanes()) return !t.has_class(ScalarClass::Bool) && scalar_size(t.scalar()) >= 4;
  if (!t.is_struct()) return is_words(t.component(0));
  for (uint32_t i = 0; i < t.count(); i++)
    if (!is_words(t.component(i))) return false;
  return true;
}

}  // namespace

void Emitter::index(Text& t, Operand o, MemoryClass memory) {
  const bool own = memory == MemoryClass::Scratch || memory == MemoryClass::Shared;
  if (o.is_imm()) {
    t << o.index;
  } else if (own && traits_.hides_met_indices && is_met(o.value())) {
    const bool wide = scalar_size(d_.type_of(o.value()).scalar()) == 8;
    dialect_.open_unseen(t, *this, Type::of(wide ? Scalar::UInt64 : Scalar::UInt32));
    bare(t, o.value());
    t << ')';
  } else {
    bare(t, o.value());
  }
}

// The terms of sums of 32 bits; conversions between such integers keep every bit.
void Emitter::add_terms(Sum& sum, ValueId v) const {
  constexpr uint32_t kMostSteps = 16;  // beyond them a sum is taken whole
  int64_t constant = 0;
  if (known_integer(d_, v, &constant)) {
    sum.constant += static_cast<uint32_t>(constant);
    return;
  }
  const auto is_word = [&](ValueId x) {
    const Type t = d_.type_of(x);
    return t.is_scalar() && t.is_integer() && scalar_size(t.scalar()) == 4;
  };
  const Value& value = d_.values[v.value];
  if (value.def == Value::Def::Result && sum.steps < kMostSteps) {
    sum.steps++;
    const Operation& op = d_.op(OpId(value.source));
    const auto operands = d_.operands_of(op);
    if (op.op == Op::Add) {
      add_terms(sum, operands[0].value());
      return add_terms(sum, operands[1].value());
    }
    if (op.op == Op::Sub && known_integer(d_, operands[1].value(), &constant)) {
      sum.constant -= static_cast<uint32_t>(constant);
      return add_terms(sum, operands[0].value());
    }
    if (op.op == Op::Convert && is_word(operands[0].value()))
      return add_terms(sum, operands[0].value());
  }
  sum.fits = sum.fits && sum.count < sum.terms.size();
  if (!sum.fits) return;
  uint32_t at = sum.count++;
  for (; at > 0 && sum.terms[at - 1] > v.value; at--) sum.terms[at] = sum.terms[at - 1];
  sum.terms[at] = v.value;
}

// "g0_a[i + 1u]", or "(g0_a + i)[1]" where element i has been accessed: then i is in range, and in
// a small buffer i + 1 cannot wrap. Only so can the compiler take both from one address.
void Emitter::element(Text& t, uint32_t slot, Operand o) {
  constexpr size_t kRecent = 12;
  constexpr int32_t kNear = 1 << 16;
  const std::string& name = slot_names_[slot];
  const bool word = !o.is_imm() && scalar_size(d_.type_of(o.value()).scalar()) == 4;
  Sum sum;
  if (traits_.small_buffers && word) add_terms(sum, o.value());
  Text plain;
  index(plain, o, MemoryClass::Global);
  if (sum.count == 0 || !sum.fits) {
    t << name << '[' << plain << ']';
    return;
  }
  const uint32_t constant = std::exchange(sum.constant, 0);
  sum.steps = 0;
  const size_t oldest = accessed_.size() > kRecent ? accessed_.size() - kRecent : 0;
  for (size_t i = accessed_.size(); i-- > oldest;) {
    const Accessed& near = accessed_[i];
    if (near.slot != slot || near.sum != sum) continue;
    const int32_t apart = static_cast<int32_t>(constant - near.constant);
    if (apart >= kNear || apart <= -kNear) continue;
    t << '(' << name << " + (" << near.index << "))[" << (apart < 0 ? "-" : "")
      << static_cast<uint32_t>(apart < 0 ? -apart : apart) << ']';
    return;
  }
  t << name << '[' << plain << ']';
  accessed_.push_back({slot, sum, constant, plain.take()});
}

// The lvalue that operands[0] (a slot) and the chain from operands[chain] reach. Lanes are reached
// through a pointer to the scalar where the lane is chosen at run time, where its address is
// wanted, and where a write must leave the other lanes alone.
Emitter::Place Emitter::place(std::span<const Operand> operands, size_t chain, bool addressable) {
  const Slot& slot = d_.slot(operands[0].slot());
  Place p{Text(), slot.type, slot.memory};
  const std::string_view name = slot_names_[operands[0].index];
  size_t i = chain;
  if (slot.memory == MemoryClass::Global) {
    element(p.text, operands[0].index, operands[i++]);
    p.type = slot.type.element();
  } else if (slot.memory == MemoryClass::Shared) {
    p.text << name << "[0]";
  } else if (slot.memory == MemoryClass::Constant) {
    p.text << "(*(" << dialect_.pointer_space(MemoryClass::Constant) << "const ";
    types_.memory_name(p.text, slot.type);
    p.text << "*)" << name << ')';
  } else {
    p.text << name;
  }
  for (; i < operands.size(); i++) {
    const Operand o = operands[i];
    if (p.type.is_vector() && (addressable || !o.is_imm())) {
      Text through;
      through << "((" << dialect_.pointer_space(slot.memory)
              << (slot.memory == MemoryClass::Constant ? "const " : "")
              << dialect_.scalar(p.type.scalar()) << "*)&" << p.text << ")[";
      index(through, o, slot.memory);
      through << ']';
      p.text = std::move(through);
    } else if (o.is_imm()) {
      put_component(p.text, p.type, o.index);
    } else {
      p.text << (p.type.is_matrix() ? ".c[" : ".e[");
      index(p.text, o, slot.memory);
      p.text << ']';
    }
    p.type = p.type.component(o.is_imm() ? o.index : 0);
  }
  return p;
}

// Three lanes in memory are as large as four: one access instead of two.
void Emitter::four_lanes(Text& t, const Place& p) {
  t << "(*(" << dialect_.pointer_space(p.memory) << "const ";
  dialect_.vector_name(t, p.type.scalar(), 4);
  t << "*)&" << p.text << ").xyz";
}

void Emitter::read_place(Text& t, const Operation& op) {
  const auto operands = d_.operands_of(op);
  const Slot& slot = d_.slot(operands[0].slot());
  if (slot.memory == MemoryClass::Uniform) return read_uniform(t, op);
  const bool is_volatile = (op.flags & kVolatile) != 0;
  const bool apart = !is_volatile && is_apart(op);
  Place p = place(operands, 1, is_volatile || apart);
  if (apart) {
    Text type;
    types_.memory_name(type, p.type);
    read_apart(p.text, type.str());
  }
  Text source;
  if (is_volatile)
    dialect_.volatile_load(source, *this, p.type, slot.memory, p.text.str());
  else if (traits_.reads_four && slot.memory == MemoryClass::Global && p.type.is_vector() &&
           p.type.lanes() == 3 && !is_bools(p.type))
    four_lanes(source, p);
  else
    source << p.text;
  if (cleans(op) && !reads_parts(op))
    t << cleaner(p.type) << '(' << source << ')';
  else
    from_memory(t, source.str(), p.type);
}

// Whether a load of an aggregate is written part by part. Of copies that it knows to meet no other
// buffer, NVIDIA's CUDA compiler forgets that their own is written: it takes them out of loops.
bool Emitter::reads_parts(const Operation& o) const {
  if (o.op != Op::Load || d_.type_of(d_.result(o)).is_lanes()) return false;
  const Slot& slot = d_.slot(d_.operands_of(o)[0].slot());
  const bool written = slot.memory == MemoryClass::Global && slot.access == Access::ReadWrite;
  return traits_.copies_parts || (traits_.reads_parts && written);
}

// Whether a load takes bools within an aggregate from where the host writes, who alone writes other
// bytes than 0 and 1.
bool Emitter::cleans(const Operation& o) const {
  const Type t = d_.type_of(d_.result(o));
  return o.op == Op::Load && !t.is_lanes() && Types::holds_bool(t) &&
         d_.slot(d_.operands_of(o)[0].slot()).memory == MemoryClass::Global;
}

// Bools in memory, any byte but 0 being True, as 0 and 1.
void Emitter::clean_bools(Text& t, Type type, std::string_view place) {
  if (type.is_bool()) {
    t << place << " != 0";
    return;
  }
  dialect_.open_bytes_of_bools(t, *this, type.lanes());
  dialect_.bools_of_bytes(t, *this, place, type.lanes());
  t << ')';
}

// A function that makes the bools within an aggregate 0 or 1: any byte but 0 reads as true.
std::string Emitter::cleaner(Type type) {
  const std::string type_name(types_.aggregate(type));
  const std::string name = "clean_" + type_name;
  if (defined_.count(name)) return name;
  Text body;
  const auto clean = [&](std::string_view place, Type part) {
    if (!Types::holds_bool(part)) return;
    body << place << " = ";
    if (part.is_lanes())
      clean_bools(body, part, place);
    else
      body << cleaner(part) << '(' << place << ')';
    body << "; ";
  };
  if (type.is_struct()) {
    for (uint64_t i = 0; i < type.count(); i++) clean("v.m" + std::to_string(i), type.component(i));
  } else {
    body << "for (int i = 0; i < " << type.count() << "; i++) { ";
    clean("v.e[i]", type.element());
    body << "} ";
  }
  Text& t = *define(name);
  t << dialect_.function_prefix() << type_name << ' ' << name << '(' << type_name << " v) { "
    << body << "return v; }\n";
  return name;
}

void Emitter::store(const Operation& op) {
  const auto operands = d_.operands_of(op);
  const Slot& slot = d_.slot(operands[0].slot());
  const bool is_volatile = (op.flags & kVolatile) != 0;
  const bool visible = slot.memory == MemoryClass::Global || slot.memory == MemoryClass::Shared;
  const Place p = place(operands, 2, visible || is_volatile);
  const ValueId v = operands[1].value();
  if (!is_volatile && stores_parts(v, slot.memory))
    return store_parts(p.text.str(), v, slot.memory);
  line();
  if (is_volatile)
    dialect_.open_volatile_store(out_, *this, p.type, slot.memory, p.text.str());
  else
    out_ << p.text << " = ";
  if (slot.memory == MemoryClass::Scratch && hides(v))
    hidden(out_, v);
  else
    to_memory(out_, v);
  out_ << (is_volatile ? dialect_.close_volatile_store(p.type) : "") << ";\n";
}

// Whether an aggregate is written part by part. NVIDIA's OpenCL compiler dies of some structs that
// are put together and written whole, and forgets parts of some that are copied into local memory.
bool Emitter::stores_parts(ValueId v, MemoryClass memory) const {
  const Type t = d_.type_of(v);
  if (!traits_.copies_parts || t.is_lanes() || d_.is_constant(v)) return false;
  return is_put_together(v) || (memory == MemoryClass::Scratch && !inlined_[v.value]);
}

// A struct that is put together for the store alone.
bool Emitter::is_put_together(ValueId v) const {
  const Value& value = d_.values[v.value];
  return d_.type_of(v).is_struct() && inlined_[v.value] && value.def == Value::Def::Result &&
         d_.op(OpId(value.source)).op == Op::Construct;
}

void Emitter::store_parts(const std::string& place, ValueId v, MemoryClass memory) {
  if (!is_put_together(v)) {
    const std::string from = "v" + std::to_string(v.value);
    const Type t = d_.type_of(v);
    return is_words(t) ? copy_words(place, from, t) : copy_parts(place, from, t, false);
  }
  uint32_t i = 0;
  for (Operand o : d_.operands_of(d_.op(OpId(d_.values[v.value].source)))) {
    const std::string member = place + ".m" + std::to_string(i++);
    if (stores_parts(o.value(), memory)) {
      store_parts(member, o.value(), memory);
      continue;
    }
    line();
    out_ << member << " = ";
    if (chosen_[v.value] && hides(o.value()))
      hidden(out_, o.value());
    else
      to_memory(out_, o.value());
    out_ << ";\n";
  }
}

// Whether a value is an aggregate that some place holds, and is taken from there part by part.
// NVIDIA's OpenCL compiler loses parts of what it copies as a whole.
bool Emitter::copies_parts(ValueId v) const {
  if (!traits_.copies_parts || d_.type_of(v).is_lanes()) return false;
  const Value& value = d_.values[v.value];
  if (value.def != Value::Def::Result || !inlined_[v.value]) return true;
  const Op op = d_.op(OpId(value.source)).op;
  return op == Op::Load || op == Op::Extract;
}

void Emitter::copy(const std::string& to, const std::string& from, ValueId v) {
  if (copies_parts(v)) return copy_parts(to, from, d_.type_of(v), false);
  line();
  out_ << to << " = " << from << ";\n";
}

void Emitter::copy_words(const std::string& to, const std::string& from, Type t) {
  line();
  out_ << "for (uint i = 0; i < " << t.size() / 4 << "; i++) ((uint*)&" << to
       << ")[i] = ((const uint*)&" << from << ")[i];\n";
}

// One scalar or vector at a time: words of narrow lanes are what that compiler dies of.
void Emitter::copy_parts(const std::string& to, const std::string& from, Type t, bool clean,
                         uint32_t depth) {
  if (t.is_lanes()) {
    line();
    out_ << to << " = ";
    if (clean && Types::holds_bool(t))
      clean_bools(out_, t, from);
    else
      out_ << from;
    out_ << ";\n";
  } else if (t.is_struct()) {
    for (uint32_t i = 0; i < t.count(); i++) {
      const std::string member = ".m" + std::to_string(i);
      copy_parts(to + member, from + member, t.component(i), clean, depth);
    }
  } else {
    const std::string i(1, "ijklmnop"[depth % 8]);
    const std::string part = (t.is_matrix() ? ".c[" : ".e[") + i + ']';
    line();
    out_ << "for (uint " << i << " = 0; " << i << " < " << t.count() << "; " << i << "++) {\n";
    indent_ += "  ";
    copy_parts(to + part, from + part, t.component(0), clean, depth + 1);
    indent_.resize(indent_.size() - 2);
    line();
    out_ << "}\n";
  }
}

void Emitter::atomic(const Operation& op) {
  const auto operands = d_.operands_of(op);
  const bool load = op.op == Op::AtomicLoad, exchange = op.op == Op::AtomicCompareExchange;
  const size_t values = load ? 0 : exchange ? 2 : 1;
  Place p = place(operands, 1 + values, true);
  Text pointer, value, expected, result;
  pointer << '&' << p.text;
  if (values) bare(value, operands[values].value());
  if (exchange) bare(expected, operands[1].value());
  if (op.result_count && uses_[op.first_result.value]) declare(result, op.first_result, true);
  dialect_.atomic(out_, *this,
                  {op.op, p.type, p.memory, static_cast<MemoryOrder>(op.flags & kOrderMask),
                   pointer.str(), value.str(), expected.str(), result.str(), indent_});
}

void Emitter::sync_block(const Operation&) {
  line();
  dialect_.barrier(out_);
  out_ << ";\n";
}

void Emitter::value_id(Text& t, const Operation& op) {
  dialect_.open_vector(t, Scalar::UInt32, 3);
  for (uint32_t axis = 0; axis < 3; axis++) {
    if (axis) t << ", ";
    dialect_.thread_index(t, op.op, axis);
  }
  t << ')';
}

void Emitter::value_dispatch_size(Text& t, const Operation&) {
  block_value(t, Type::vector(Scalar::UInt32, 3), ArgumentBlock::kDispatchSize);
}

void Emitter::value_kernel_id(Text& t, const Operation&) {
  block_scalar(t, Scalar::UInt32, ArgumentBlock::kKernelId);
}

void Emitter::value_buffer_length(Text& t, const Operation& op) {
  const uint32_t slot = d_.operands_of(op)[0].index;
  const uint32_t at = block_.entries[slot].length;
  if (op.op == Op::BufferLength64) return block_scalar(t, Scalar::UInt64, at);
  if (!(op.flags & kSaturatingFlag)) return block_scalar(t, Scalar::UInt32, at);
  t << '(';
  block_scalar(t, Scalar::UInt32, at + 4);
  t << " ? 0xffffffffu : ";
  block_scalar(t, Scalar::UInt32, at);
  t << ')';
}

void Emitter::value_buffer_extent(Text& t, const Operation& op) {
  const auto operands = d_.operands_of(op);
  const uint32_t axis = operands[1].index;
  block_scalar(t, Scalar::UInt32, block_.entries[operands[0].index].extents + axis * 4);
}

// ---- the argument block: words of 32 bits, read by offset
// ----------------------------------------

void Emitter::block_scalar(Text& t, Scalar s, uint32_t offset) {
  const uint32_t size = scalar_size(s), word = offset / 4, shift = offset % 4 * 8;
  const std::string_view wide = dialect_.scalar(Scalar::UInt64);
  if (s == Scalar::Bool) {
    t << "(w[" << word << "] >> " << shift << " & 255) != 0";
  } else if (s == Scalar::UInt32) {
    t << "w[" << word << ']';
  } else if (s == Scalar::UInt64) {
    t << '(' << wide << ")w[" << word + 1 << "] << 32 | w[" << word << ']';
  } else {
    dialect_.open_bitcast(t, *this, Type::of(s), unsigned_like(Type::of(s)));
    if (size == 8)
      t << '(' << wide << ")w[" << word + 1 << "] << 32 | w[" << word << ']';
    else if (size == 4)
      t << "w[" << word << ']';
    else
      t << '(' << dialect_.scalar(size == 2 ? Scalar::UInt16 : Scalar::UInt8) << ")(w[" << word
        << "] >> " << shift << ')';
    t << ')';
  }
}

void Emitter::block_value(Text& t, Type type, uint32_t offset) {
  if (type.is_scalar()) return block_scalar(t, type.scalar(), offset);
  if (!type.is_vector()) {
    t << reader(type, Source::Block) << "(w, " << offset << "u)";
    return;
  }
  const bool bools = is_bools(type);
  dialect_.open_vector(t, bools ? Scalar::Int32 : type.scalar(), type.lanes());
  for (uint32_t i = 0; i < type.lanes(); i++) {
    t << (i ? ", " : "") << (bools ? "-(" : "");
    block_scalar(t, type.scalar(), offset + static_cast<uint32_t>(type.offset(i)));
    if (bools) t << ')';
  }
  t << ')';
}

void Emitter::read_uniform(Text& t, const Operation& op) {
  const auto operands = d_.operands_of(op);
  const SlotId slot = operands[0].slot();
  Type type = d_.slot(slot).type;
  uint64_t offset = block_.entries[slot.value].value;
  Text dynamic;
  for (Operand o : operands.subspan(1)) {
    if (o.is_imm()) {
      offset += type.offset(o.index);
    } else {
      dynamic << " + (" << dialect_.scalar(Scalar::UInt32) << ')';
      operand(dynamic, o.value());
      dynamic << " * " << type.stride() << 'u';
    }
    type = type.component(o.is_imm() ? o.index : 0);
  }
  if (dynamic.size() == 0) return block_value(t, type, static_cast<uint32_t>(offset));
  Text source;
  source << reader(type, Source::Block) << "(w, " << offset << 'u' << dynamic << ')';
  from_memory(t, source.str(), type);
}

void Emitter::read_bytes(Text& t, const Operation& op) {
  const auto operands = d_.operands_of(op);
  const Type type = d_.type_of(op.first_result);
  Text source;
  const bool is_volatile = (op.flags & kVolatile) != 0;
  const std::string& name = slot_names_[operands[0].index];
  source << reader(type, is_volatile ? Source::VolatileBytes : Source::Bytes) << '(';
  if (!is_volatile && is_apart(op)) {
    Text first;
    first << name << "[0]";
    read_apart(first, dialect_.scalar(Scalar::UInt8));
    source << '&' << first << ", ";
  } else {
    source << name << ", ";
  }
  operand(source, operands[1].value());
  source << ')';
  from_memory(t, source.str(), type);
}

void Emitter::byte_store(const Operation& op) {
  const auto operands = d_.operands_of(op);
  const bool is_volatile = (op.flags & kVolatile) != 0;
  line() << writer(d_.type_of(operands[1].value()), is_volatile) << '('
         << slot_names_[operands[0].index] << ", ";
  operand(out_, operands[2].value());
  out_ << ", ";
  to_memory(out_, operands[1].value());
  out_ << ");\n";
}

}  // namespace lcpy::clike
