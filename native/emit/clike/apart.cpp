// Where two ways through the program read memory, one of a buffer that the kernel only reads, the
// other of one that it also writes, NVIDIA's compiler makes one read of both: of an address that it
// chooses, but through the cache that knows of no writes. So the first of the two is read at an
// address that the compiler knows nothing of. Ways are the arms of an If or a Switch, also of two
// of them in one body, unless it is the same arm of the same condition; and an arm that does not
// come back beside all that follows it.
#include <array>
#include <map>

#include "emit/clike/ops.h"

namespace lcpy::clike {
namespace {

// One bit for each size of a scalar within: the compiler merges reads of one size.
uint8_t sizes_of(Type t) {
  if (t.is_void()) return 1 | 4;  // bytes and words
  if (t.is_scalar() || t.is_vector() || t.is_matrix())
    return static_cast<uint8_t>(scalar_size(t.scalar()));
  if (t.is_array()) return sizes_of(t.element());
  uint8_t sizes = 0;
  for (uint64_t i = 0; t.is_struct() && i < t.count(); i++) sizes |= sizes_of(t.component(i));
  return sizes;
}

}  // namespace

Emitter::Reads Emitter::reads_of(const Operation& op) const {
  Reads reads;
  if (op.op != Op::Load && op.op != Op::ByteLoad) return reads;
  const Slot& slot = d_.slot(d_.operands_of(op)[0].slot());
  if (slot.memory != MemoryClass::Global) return reads;
  const uint8_t sizes = op.op == Op::ByteLoad ? 1 | 4 : sizes_of(d_.type_of(op.first_result));
  (slot.access == Access::Read ? reads.fixed : reads.changing) = sizes;
  return reads;
}

// The arms of a body's constructs by condition and place, and what they read.
class Emitter::Ways {
 public:
  void add(uint64_t condition, uint64_t place, BodyId arm, Reads reads) {
    if (!reads.fixed && !reads.changing) return;
    Way& way = ways_[{condition, place}];
    way.changing |= reads.changing;
    if (reads.fixed) way.arms.push_back({arm, reads.fixed});
  }

  // Calls found(arm, sizes) for reads of fixed buffers beside which others change.
  template <class Found>
  void beside(Found&& found) const {
    std::array<uint32_t, 8> count{};  // ways by the size of what changes
    for (const auto& [key, way] : ways_)
      for (uint32_t bit = 0; bit < 8; bit++) count[bit] += way.changing >> bit & 1;
    for (const auto& [key, way] : ways_) {
      uint8_t others = 0;
      for (uint32_t bit = 0; bit < 8; bit++)
        if (count[bit] > (way.changing >> bit & 1u)) others |= static_cast<uint8_t>(1u << bit);
      for (const auto& [arm, fixed] : way.arms)
        if (fixed & others) found(arm, static_cast<uint8_t>(fixed & others));
    }
  }

 private:
  struct Way {
    uint8_t changing = 0;
    std::vector<std::pair<BodyId, uint8_t>> arms;
  };
  std::map<std::pair<uint64_t, uint64_t>, Way> ways_;
};

// What a body reads; finds on the way which of its arms are apart.
Emitter::Reads Emitter::find_apart(BodyId id) {
  Reads sum;
  Ways ways;
  const auto& ops = d_.body(id).ops;
  for (size_t i = ops.size(); i-- > 0;) {
    const Operation& op = d_.op(ops[i]);
    const Reads rest = sum;
    sum |= reads_of(op);
    std::vector<BodyId> arms;
    for (Operand x : d_.operands_of(op)) {
      if (x.kind == Operand::Kind::Function) sum |= function_reads(x.function());
      if (x.kind == Operand::Kind::Body) arms.push_back(x.body());
    }
    std::vector<Reads> reads;
    for (BodyId arm : arms) reads.push_back(find_apart(arm));
    for (size_t k = 0; k < arms.size(); k++) {
      const bool returns = op.op != Op::Loop && !ends_with(arms[k], Op::Yield);
      apart_[arms[k].value] = reads[k].fixed & (returns ? rest.changing : 0);
      // Values and operations count apart.
      if (op.op == Op::If) ways.add(d_.operands_of(op)[0].index, k, arms[k], reads[k]);
      if (op.op == Op::Switch) ways.add(uint64_t{1} << 32 | ops[i].value, k, arms[k], reads[k]);
      if (const uint8_t after = returns ? reads[k].changing & rest.fixed : 0)
        apart_after_[ops[i].value] |= after;
      any_apart_ |= apart_[arms[k].value] || (returns && (reads[k].changing & rest.fixed));
    }
    for (const Reads& r : reads) sum |= r;
  }
  ways.beside([&](BodyId arm, uint8_t sizes) {
    apart_[arm.value] |= sizes;
    any_apart_ = true;
  });
  return sum;
}

Emitter::Reads Emitter::function_reads(FunctionId f) {
  if (function_known_[f.value]) return function_reads_[f.value];
  function_known_[f.value] = true;
  if (!is_external(f)) function_reads_[f.value] = find_apart(d_.functions[f.value].body);
  return function_reads_[f.value];
}

// What holds where a function is called holds in it.
void Emitter::spread_apart(BodyId id, uint8_t apart) {
  for (OpId op_id : d_.body(id).ops) {
    const Operation& op = d_.op(op_id);
    for (Operand x : d_.operands_of(op)) {
      if (x.kind == Operand::Kind::Body) spread_apart(x.body(), apart | apart_[x.index]);
      if (x.kind != Operand::Kind::Function || is_external(x.function())) continue;
      uint8_t& in = function_apart_[x.index];
      if (function_known_[x.index] && (in | apart) == in) continue;
      function_known_[x.index] = true;
      in |= apart;
      spread_apart(d_.functions[x.index].body, in);
    }
    if (const auto after = apart_after_.find(op_id.value); after != apart_after_.end())
      apart |= after->second;
  }
}

void Emitter::analyse_apart() {
  apart_.assign(d_.bodies.size(), 0);
  function_apart_.assign(d_.functions.size(), 0);
  if (!traits_.merges_reads) return;
  function_known_.assign(d_.functions.size(), false);
  function_reads_.assign(d_.functions.size(), {});
  function_reads(FunctionId(0u));
  if (!any_apart_) return;
  function_known_.assign(d_.functions.size(), false);
  spread_apart(d_.functions[0].body, 0);
}

bool Emitter::is_apart(const Operation& read) const {
  return apart_now_ && (reads_of(read).fixed & apart_now_);
}

// `at` is an lvalue; the result is one of the same type.
void Emitter::read_apart(Text& at, std::string_view type) {
  if (Text* t = define("apart")) dialect_.define_apart(*t);
  Text through;
  const std::string_view space = dialect_.pointer_space(MemoryClass::Global);
  through << "(*(" << space << "const " << type << "*)apart(&" << at << "))";
  at = std::move(through);
}

}  // namespace lcpy::clike
