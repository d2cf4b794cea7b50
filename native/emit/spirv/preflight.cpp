// One walk over what the kernel reaches: features, refusals, slots that hold bits.
#include "emit/spirv/preflight.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "emit/spirv/ops.h"
#include "emit/spirv/types.h"
#include "kernel/walk.h"

namespace lcpy::spirv {
namespace {

class Preflight {
 public:
  Preflight(const KernelDescriptor& d, const BindingPlan& plan, const VulkanTarget& target)
      : d_(d), plan_(plan), target_(target), module_(kVersion13), types_(module_) {}

  Needs run() {
    needs_.bits.assign(d_.slots.size(), false);
    needs_.reached.assign(d_.slots.size(), false);
    needs_.words.assign(d_.slots.size(), false);
    for (size_t i = 0; i < d_.slots.size(); i++) find_words(SlotId(i));
    std::vector<bool> seen(d_.functions.size(), false);
    std::vector<FunctionId> queue{FunctionId(0u)};
    seen[0] = true;
    while (!queue.empty()) {
      const Function& f = d_.functions[queue.back().value];
      queue.pop_back();
      for (const ValueId v : f.params) narrow(types_.facts(d_.type_of(v)));
      walk_body(d_, f.body, [&](OpId, const Operation& o) {
        visit(o);
        for (const Operand& x : d_.operands_of(o))
          if (x.kind == Operand::Kind::Function && !seen[x.index]) {
            seen[x.index] = true;
            queue.push_back(x.function());
          }
      });
    }
    for (size_t i = 0; i < d_.slots.size(); i++)
      if (needs_.reached[i]) visit_slot(SlotId(i));
    check_features();
    if (!target_.deep_nesting) check_nesting();
    if (!errors_.empty()) throw UnsupportedError(std::move(errors_));
    return std::move(needs_);
  }

 private:
  void refuse(Diag code, Span span, std::initializer_list<std::string_view> args) {
    errors_.push_back(make_diagnostic(code, span, args));
  }

  // ---- nesting ---------------------------------------------------------------------------------

  // A driver that puts all functions into one nests them as they call one another. What is ours
  // (exact division, loops of atomics, a loop for returns) takes a few levels more.
  void check_nesting() {
    constexpr uint32_t kMost = 72;
    depths_.assign(d_.functions.size(), 0);
    const uint32_t depth = depth_of(FunctionId(0u));
    if (depth > kMost)
      refuse(Diag::limit_exceeded, d_.functions[0].span,
             {"the nesting of branches and loops, calls counted,", std::to_string(depth) + " deep",
              "the Vulkan driver", std::to_string(kMost)});
  }

  uint32_t depth_of(FunctionId f) {
    uint32_t& known = depths_[f.value];
    if (known) return known;
    const uint32_t own = depth_of(d_.functions[f.value].body, 0);
    const uint32_t returns = count_returns(d_, d_.functions[f.value].body);
    return depths_[f.value] = own + std::min(returns, kFewReturns);
  }

  uint32_t depth_of(BodyId body, uint32_t level) {
    uint32_t deepest = level;
    for (const OpId id : d_.body(body).ops) {
      const Operation& o = d_.op(id);
      for (const Operand& x : d_.operands_of(o)) {
        if (x.kind == Operand::Kind::Function)
          deepest = std::max(deepest, level + depth_of(x.function()));
        if (x.kind == Operand::Kind::Body)
          deepest = std::max(deepest, depth_of(x.body(), level + 1));
      }
    }
    return deepest;
  }

  // Remembers where a type was first met, for the message.
  void hold(uint16_t facts, Span span) {
    const uint16_t news = facts & ~held_;
    held_ |= facts;
    if (news & kHoldsInt64) int64_at_ = span;
    if (news & kHoldsFloat64) float64_at_ = span;
  }

  // Widths that the device lacks are held in 32 bits, and ask for nothing.
  void narrow(uint16_t facts) {
    needs_.int8 |= target_.int8 && (facts & kHoldsInt8);
    needs_.int16 |= target_.int16 && (facts & kHoldsInt16);
    needs_.float16 |= (facts & kHoldsFloat16) != 0;
  }

  void visit(const Operation& o) {
    const EmitRow* row = emit_row(o.op);
    LCPY_CHECK(row != nullptr);
    const auto operands = d_.operands_of(o);
    uint16_t facts = 0;
    Type first;
    for (const Operand& x : operands) {
      if (x.kind == Operand::Kind::Slot) needs_.reached[x.index] = true;
      if (!x.is_value()) continue;
      const Type t = d_.type_of(x.value());
      if (first.is_void()) first = t;
      facts |= types_.facts(t);
      if (d_.is_constant(x.value())) narrow(types_.facts(t));
    }
    for (uint32_t i = 0; i < o.result_count; i++)
      facts |= types_.facts(d_.type_of(d_.result(o, i)));
    hold(facts, o.span);
    check_row(o, *row, first);
    if (o.op == Op::SyncBlock) needs_.barrier = true;
    if (op_row(o.op).category == OpCategory::Warp) visit_warp(o);
    if (o.op == Op::Clock && !target_.clock)
      refuse(Diag::feature_missing, o.span,
             {"lc.clock", "VK_KHR_shader_clock (shaderSubgroupClock)"});
    // A device that rounds twice gets fma in double (precise.cpp).
    const bool corrected = (o.op == Op::Div || o.op == Op::Sqrt) && !target_.exact_division;
    const bool on_half = first.is_float() && first.scalar() == Scalar::Float16;
    const bool by_fma = (o.op == Op::Fma && !on_half) || corrected;
    if (by_fma && !target_.fused_fma && d_.math != MathMode::Fast) hold(kHoldsFloat64, o.span);
    if (op_row(o.op).category == OpCategory::Atomic) visit_atomic(o);
    if (facts & (kHoldsInt8 | kHoldsInt16 | kHoldsFloat16)) visit_narrow(o, facts);
  }

  void check_row(const Operation& o, const EmitRow& row, Type first) {
    const std::string name(op_row(o.op).name);
    if (row.kind == RowKind::Expanded)
      throw BugError("pass_expand left " + name + " on " + first.description());
    if (row.kind == RowKind::Unsupported)
      refuse(Diag::op_unsupported, o.span, {name, "Vulkan", row.reason});
    const bool on_float64 = first.is_float() && first.scalar() == Scalar::Float64;
    if (on_float64 && row.width64 == Width64::No)
      throw BugError("pass_expand left " + name + ", which GLSL.std.450 lacks, on double");
  }

  // Narrow types may be loaded, stored and converted with no more than storage support.
  void visit_narrow(const Operation& o, uint16_t facts) {
    if (o.op == Op::Load || o.op == Op::Store) {
      const auto operands = d_.operands_of(o);
      const Slot& slot = d_.slot(operands[0].slot());
      const Type t = place_type(d_, operands, o.op == Op::Load ? 1 : 2);
      const bool words = needs_.words[operands[0].index];
      if (slot.memory == MemoryClass::Global && t.is_lanes() && !words) return;
    } else if (o.op == Op::Convert || o.op == Op::ConvertUnchecked) {
      const Type to = d_.type_of(d_.result(o)), from = d_.type_of(d_.operands_of(o)[0].value());
      const bool cast = to.is_integer() && from.is_integer() &&
                        scalar_size(to.scalar()) == scalar_size(from.scalar());
      const bool rounds = to.scalar() == Scalar::Float16 && from.is_integer();
      const bool hides = !to.has_class(ScalarClass::Bool) &&
                         hides_half(d_, d_.operands_of(o)[0].value(), target_.sound_rounding);
      if (!cast && !rounds && !hides) return;
    } else if (o.op == Op::Bitcast) {
      // Storage formats and their bits are one type.
      const auto bits = [](Type t) {
        return t.has_class(ScalarClass::Storage) || t.has_class(ScalarClass::Unsigned);
      };
      const Type to = d_.type_of(d_.result(o)), from = d_.type_of(d_.operands_of(o)[0].value());
      if (bits(to) && bits(from) && to.lanes() == from.lanes()) return;
    }
    narrow(facts);
  }

  // The kind of subgroup operation, which devices have or lack as a whole.
  void visit_warp(const Operation& o) {
    needs_.warp = true;
    const auto need = [&](bool has, const char* kind) {
      if (!has)
        refuse(Diag::feature_missing, o.span,
               {op_row(o.op).name, std::string("subgroup operations in compute shaders: ") + kind});
    };
    if (target_.version < 11)
      refuse(Diag::feature_missing, o.span, {op_row(o.op).name, "Vulkan 1.1"});
    switch (o.op) {
      case Op::WarpLaneId:
      case Op::WarpSize:
      case Op::WarpIsFirst:
        return need(target_.subgroup_basic, "VK_SUBGROUP_FEATURE_BASIC_BIT");
      case Op::WarpAll:
      case Op::WarpAny:
        return need(target_.subgroup_vote, "VK_SUBGROUP_FEATURE_VOTE_BIT");
      case Op::WarpFirstLane:
      case Op::WarpBallot:
      case Op::WarpCount:
      case Op::WarpPrefixCount:
      case Op::WarpReadFirst:
        return need(target_.subgroup_ballot, "VK_SUBGROUP_FEATURE_BALLOT_BIT");
      case Op::WarpReadLane:
        need(target_.subgroup_ballot, "VK_SUBGROUP_FEATURE_BALLOT_BIT");
        return need(target_.subgroup_shuffle, "VK_SUBGROUP_FEATURE_SHUFFLE_BIT");
      default:
        return need(target_.subgroup_arithmetic, "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT");
    }
  }

  void visit_atomic(const Operation& o) {
    needs_.ordered |= (o.flags & 7) != 0;
    const auto operands = d_.operands_of(o);
    const Slot& slot = d_.slot(operands[0].slot());
    size_t first = 1;
    if (o.op == Op::AtomicCompareExchange)
      first = 3;
    else if (o.op != Op::AtomicLoad)
      first = 2;
    const Type t = place_type(d_, operands, first);
    const bool words = needs_.words[operands[0].index];
    const bool native = !words && native_float_atomic(o.op, t, slot.memory, target_);
    if (words && scalar_size(t.scalar()) == 8)
      refuse(Diag::feature_missing, o.span,
             {"a 64-bit atomic in a buffer that holds 8- or 16-bit values",
              "8- and 16-bit buffer elements (storageBuffer8BitAccess, storageBuffer16BitAccess)"});
    if (t.is_float() && !native) needs_.bits[operands[0].index] = true;
    if (t.is_float() && native)
      (slot.memory == MemoryClass::Global ? needs_.buffer_float_add : needs_.shared_float_add) =
          true;
    if (scalar_size(t.scalar()) == 8 && !needs_.int64_atomics) {
      needs_.int64_atomics = true;
      if (!target_.int64_atomics)
        refuse(Diag::feature_missing, o.span,
               {"a 64-bit atomic", "64-bit integer atomics (shaderBufferInt64Atomics)"});
    }
  }

  void find_words(SlotId id) {
    const Slot& slot = d_.slot(id);
    if (slot.memory != MemoryClass::Global || slot.type.element().is_void()) return;
    const uint16_t facts = types_.facts(slot.type.element());
    const bool bytes = (facts & (kHoldsBool | kHoldsInt8)) && !target_.storage8;
    const bool pairs = (facts & (kHoldsInt16 | kHoldsFloat16)) && !target_.storage16;
    needs_.words[id.value] = bytes || pairs;
  }

  void visit_slot(SlotId id) {
    const Slot& slot = d_.slot(id);
    switch (slot.memory) {
      case MemoryClass::Global:
        break;
      case MemoryClass::Uniform:
        narrow(types_.facts(slot.type));
        return;
      case MemoryClass::Constant:
      case MemoryClass::Shared:
      case MemoryClass::Scratch:
        if (slot.memory == MemoryClass::Shared)
          needs_.shared_bytes += std::max(slot.type.size(), declared_bytes(slot.type));
        narrow(types_.facts(slot.type));
        hold(types_.facts(slot.type), slot.span);
        return;
      case MemoryClass::Texture:
      case MemoryClass::Sampler:
      case MemoryClass::Heap:
      case MemoryClass::Accel:
        refuse(Diag::type_unsupported, slot.span, {slot.type.description(), "bound", "Vulkan yet"});
        return;
    }
    if (id.value >= plan_.slots.size())
      throw ArgumentError("the binding plan has no place for slot '" + slot.name + "'");
    needs_.buffers++;
    needs_.writes_buffer |= (static_cast<int>(slot.access) & static_cast<int>(Access::Write)) != 0;
    const Type element = slot.type.element();
    if (element.is_void()) return;  // bytes: declared as words
    const uint16_t facts = types_.facts(element);
    hold(facts, slot.span);
    if (needs_.words[id.value]) return;
    needs_.storage8 |= (facts & (kHoldsBool | kHoldsInt8)) != 0;
    needs_.storage16 |= (facts & (kHoldsInt16 | kHoldsFloat16)) != 0;
  }

  // A narrow type that only conversions mention still needs a capability to be declared with:
  // that of arithmetic, or that of storage on a device with no other.
  void declare_narrow() {
    if ((held_ & kHoldsInt8) && !needs_.storage8) needs_.int8 = target_.int8;
    if ((held_ & kHoldsInt16) && !needs_.storage16) needs_.int16 = target_.int16;
    if ((held_ & kHoldsFloat16) && !needs_.storage16)
      (target_.float16 || !target_.storage16 ? needs_.float16 : needs_.storage16) = true;
  }

  void check_features() {
    const std::string what = "kernel '" + d_.name + "'";
    const Span span = d_.functions[0].span;
    const auto need = [&](bool needed, bool has, Span at, const char* feature) {
      if (needed && !has) refuse(Diag::feature_missing, at.known() ? at : span, {what, feature});
    };
    declare_narrow();
    need(needs_.float16, target_.float16, span, "half arithmetic (shaderFloat16)");
    need(held_ & kHoldsInt64, target_.int64, int64_at_, "64-bit integers (shaderInt64)");
    need(held_ & kHoldsFloat64, target_.float64, float64_at_, "double (shaderFloat64)");
    needs_.float32 = (held_ & kHoldsFloat32) != 0;
    needs_.holds_float16 = (held_ & kHoldsFloat16) != 0;
    needs_.float64 = (held_ & kHoldsFloat64) != 0;
  }

  // Bytes of a type in memory that only the kernel sees.
  uint64_t declared_bytes(Type t) const {
    if (t.is_scalar()) {
      const uint32_t size = scalar_size(t.scalar());
      const bool narrow = t.is_integer() || t.has_class(ScalarClass::Storage);
      const bool held = narrow && ((size == 1 && !target_.int8) || (size == 2 && !target_.int16));
      return held ? 4 : size;
    }
    if (!t.is_struct()) return t.count() * declared_bytes(t.element());
    uint64_t total = 0;
    for (const Type member : t.members()) total += declared_bytes(member);
    return total;
  }

  const KernelDescriptor& d_;
  const BindingPlan& plan_;
  const VulkanTarget& target_;
  Module module_;  // only so that types_ can answer
  Types types_;
  Needs needs_;
  std::vector<uint32_t> depths_;  // of functions, from 1; 0 until known
  uint16_t held_ = 0;
  Span int64_at_, float64_at_;
  std::vector<Diagnostic> errors_;
};

}  // namespace

bool native_float_atomic(Op op, Type type, MemoryClass memory, const VulkanTarget& target) {
  if (type.scalar() != Scalar::Float32) return false;
  if (!(memory == MemoryClass::Global ? target.buffer_float_add : target.shared_float_add))
    return false;
  return op == Op::AtomicAdd || op == Op::AtomicSub || op == Op::AtomicLoad ||
         op == Op::AtomicStore || op == Op::AtomicExchange;
}

Type place_type(const KernelDescriptor& d, std::span<const Operand> operands, size_t first) {
  const Slot& slot = d.slot(operands[0].slot());
  Type t = slot.type;
  for (size_t i = first; i < operands.size(); i++)
    t = t.is_struct() ? t.component(operands[i].index) : t.element();
  return t;
}

bool hides_half(const KernelDescriptor& d, ValueId v, bool sound_rounding) {
  if (sound_rounding || d.math == MathMode::Fast) return false;
  if (!d.type_of(v).is_lanes() || d.type_of(v).scalar() != Scalar::Float16 || d.is_constant(v))
    return false;
  // What memory held was rounded, but where this kernel may have put it there.
  while (d.values[v.value].def == Value::Def::Result) {
    const Operation& o = d.op(OpId(d.values[v.value].source));
    if (o.op == Op::Load) {
      const Access access = d.slot(d.operands_of(o)[0].slot()).access;
      return access == Access::Write || access == Access::ReadWrite;
    }
    if (o.op != Op::Extract && o.op != Op::Shuffle) break;
    v = d.operands_of(o)[0].value();
  }
  return true;
}

bool computes_half(const KernelDescriptor& d, const BindingPlan& plan, const VulkanTarget& target) {
  Module module(kVersion13);
  Types types(module);
  bool held = false;
  for (const Value& v : d.values) held = held || (types.facts(v.type) & kHoldsFloat16);
  for (const Slot& s : d.slots) {
    const Type t = s.type.is_buffer() ? s.type.element() : s.type;
    held = held || (t.is_value() && (types.facts(t) & kHoldsFloat16));
  }
  if (!held) return false;
  VulkanTarget able = target;
  able.float16 = true;
  return Preflight(d, plan, able).run().float16;
}

Needs preflight(const KernelDescriptor& d, const BindingPlan& plan, const VulkanTarget& target) {
  return Preflight(d, plan, target).run();
}

}  // namespace lcpy::spirv
