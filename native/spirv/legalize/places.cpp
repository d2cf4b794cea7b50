#include "spirv/legalize/places.h"

#include <algorithm>
#include <array>

namespace lcpy::spirv {

bool pointers_vary(const Editor& editor, StorageClass storage) {
  if (storage == StorageClass::PhysicalStorageBuffer) return true;
  const bool all = editor.has(Capability::VariablePointers);
  if (storage == StorageClass::Workgroup) return all;
  return storage == StorageClass::StorageBuffer &&
         (all || editor.has(Capability::VariablePointersStorageBuffer));
}

bool gives_free_pointer(const Editor& editor, const Instruction& i) {
  if (!i.type() || !editor.is_pointer(i.type())) return false;
  switch (i.opcode()) {
    case Opcode::PtrAccessChain:
    case Opcode::InBoundsPtrAccessChain:
    case Opcode::Select:
    case Opcode::Phi:
      return !pointers_vary(editor, editor.storage_of(i.type()));
    case Opcode::PtrCastToGeneric:
    case Opcode::GenericCastToPtr:
    case Opcode::GenericCastToPtrExplicit:
      return true;
    case Opcode::AccessChain:
    case Opcode::InBoundsAccessChain:
    case Opcode::CopyObject:
      return editor.storage_of(i.type()) == StorageClass::Generic;
    default:
      return false;
  }
}

Places::Places(Editor& editor, Editor::Code& code) : e_(editor), code_(code) {
  size_t label = 0;
  for (size_t k = 0; k < code_.size(); k++) {
    const Opcode code_of = code_[k]->opcode();
    if (code_of == Opcode::Label) labels_[code_[k]->result()] = label = k;
    block_of_[code_[k]] = label;
    if (code_of != Opcode::FunctionEnd) last_[label] = k;
  }
}

void Places::put_first(const Instruction* where, Instruction* what) {
  first_[block(where)].push_back(what);
}

size_t Places::block(const Instruction* where) const {
  const auto found = block_of_.find(where);
  if (found == block_of_.end()) e_.refuse(*where, "it is used in a function that is not its own");
  return found->second;
}

const Instruction* Places::behind_phis(const Instruction* where) {
  const Instruction*& known = behind_[block(where)];
  for (size_t k = block(where) + 1; k < code_.size() && !known; k++) {
    const Opcode code = code_[k]->opcode();
    if (code != Opcode::Phi && code != Opcode::Variable && code != Opcode::Line &&
        code != Opcode::NoLine)
      known = code_[k];
  }
  if (known) return known;
  e_.refuse(*where, "its block has no end");
}

const Instruction* Places::terminator(const Instruction& phi, Word label) const {
  const auto found = labels_.find(label);
  if (found == labels_.end()) e_.refuse(phi, "it comes from a block of another function");
  const size_t k = last_.at(found->second);
  if (k == found->second) e_.refuse(phi, "it comes from a block without an end");
  // Merges stand right before it, and nothing between.
  const Opcode merge = code_[k - 1]->opcode();
  const bool merges = merge == Opcode::SelectionMerge || merge == Opcode::LoopMerge;
  return code_[merges ? k - 1 : k];
}

void Places::write() {
  if (before_.empty() && first_.empty() && dropped_.empty()) return;
  Editor::Code made;
  for (size_t k = 0; k < code_.size(); k++) {
    if (const auto found = before_.find(code_[k]); found != before_.end())
      made.insert(made.end(), found->second.begin(), found->second.end());
    if (!dropped_.contains(code_[k])) made.push_back(code_[k]);
    if (const auto found = first_.find(k); found != first_.end())
      made.insert(made.end(), found->second.begin(), found->second.end());
  }
  code_ = std::move(made);
  e_.changed = true;
}

const Place& Places::of(Word pointer) {
  if (const auto found = known_.find(pointer); found != known_.end()) return found->second;
  const Instruction* i = e_.definition(pointer);
  // A pointer that a loop carries is known before what it becomes; all else that needs itself is
  // in no order of blocks.
  if (!i || !busy_.insert(pointer).second) return known_[pointer] = {pointer, {}};
  constexpr size_t kDeepest = 1000;
  if (busy_.size() > kDeepest) e_.refuse(*i, "it comes from more than 1,000 pointers before it");
  if (i->opcode() == Opcode::Phi && gives_free_pointer(e_, *i)) {
    carry(*i);
    busy_.erase(pointer);
    return known_.at(pointer);
  }
  Place place = resolve(*i);
  busy_.erase(pointer);
  return known_[pointer] = std::move(place);
}

Place Places::resolve(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::AccessChain:
    case Opcode::InBoundsAccessChain: {
      Place place = of(i.operands()[0]);
      append(&place, i.operands().subspan(1));
      return place;
    }
    case Opcode::PtrAccessChain:
    case Opcode::InBoundsPtrAccessChain:
      return gives_free_pointer(e_, i) ? step(i) : Place{i.result(), {}};
    case Opcode::CopyObject:
    case Opcode::PtrCastToGeneric:
    case Opcode::GenericCastToPtr:
    case Opcode::GenericCastToPtrExplicit:
      return of(i.operands()[0]);
    case Opcode::Select:
      return gives_free_pointer(e_, i) ? choose(i) : Place{i.result(), {}};
    default:
      return {i.result(), {}};
  }
}

void Places::append(Place* place, std::span<const Word> indices) const {
  place->path.insert(place->path.end(), indices.begin(), indices.end());
}

// Whether an index of a path may be another: it is into an array.
bool Places::moves(const Place& place, size_t step) const {
  Word type = e_.pointee(e_.type_of(place.root));  // 0 where the root is no pointer
  for (size_t k = 0; k < step && type; k++) type = e_.component(type, place.path[k]);
  return type && e_.is_array(type);
}

Place Places::step(const Instruction& i) {
  const std::span<const Word> operands = i.operands();
  Place place = of(operands[0]);
  const std::optional<uint32_t> element = e_.constant(operands[1]);
  if (!element || *element != 0) {
    if (place.path.empty() || !moves(place, place.path.size() - 1))
      e_.refuse(i, "its base is no element of an array that is known here");
    place.path.back() = sum(i, place.path.back(), operands[1]);
  }
  append(&place, operands.subspan(2));
  return place;
}

Word Places::sum(const Instruction& i, Word index, Word element) {
  const Word type = e_.type_of(index), other = e_.type_of(element);
  const std::optional<uint32_t> a = e_.constant(index), b = e_.constant(element);
  const uint32_t width = e_.integer_type(type).bits, wanted = e_.integer_type(other).bits;
  if (!width || !wanted) e_.refuse(i, "an index of it is no integer");
  if (a && b && width == 32 && wanted == 32) return e_.integer(type, *a + *b);
  if (a && *a == 0 && width == wanted) return element;
  if (width != wanted) {
    const Word id = e_.new_id();
    put_before(&i, e_.make(Opcode::SConvert, type, id, std::array{element}, i.at));
    element = id;
  }
  const Word id = e_.new_id();
  put_before(&i, e_.make(Opcode::IAdd, type, id, std::array{index, element}, i.at));
  return id;
}

Word Places::as_type(const Instruction& i, Word index, Word type, const Instruction* where) {
  if (e_.type_of(index) == type) return index;
  const Editor::Integer own = e_.integer_type(e_.type_of(index)), wanted = e_.integer_type(type);
  if (!own.bits || !wanted.bits) e_.refuse(i, "an index of it is no integer");
  const std::optional<uint32_t> value = e_.constant(index);
  if (value && (wanted.bits == 32 || (wanted.bits == 64 && *value < 0x80000000u)))
    return e_.integer(type, *value);
  const Word id = e_.new_id();
  const Opcode code = own.bits == wanted.bits ? Opcode::Bitcast
                      : own.is_signed         ? Opcode::SConvert
                                              : Opcode::UConvert;
  if (code == Opcode::UConvert && wanted.is_signed)
    e_.refuse(i, "its indices have types of several widths");
  put_before(where, e_.make(code, type, id, std::array{index}, i.at));
  return id;
}

void Places::same_shape(const Instruction& i, const Place& a, const Place& b) const {
  if (a.root != b.root) e_.refuse(i, "it may point into several variables");
  if (a.path.size() != b.path.size()) e_.refuse(i, "it may point to parts of several depths");
  for (size_t k = 0; k < a.path.size(); k++) {
    if (a.path[k] == b.path[k] || moves(a, k)) continue;
    const std::optional<uint32_t> one = e_.constant(a.path[k]), other = e_.constant(b.path[k]);
    if (!one || one != other) e_.refuse(i, "it may point to several members of a structure");
  }
}

Place Places::choose(const Instruction& i) {
  const std::span<const Word> x = i.operands();
  const Place yes = of(x[1]), no = of(x[2]);
  same_shape(i, yes, no);
  Place place = yes;
  for (size_t k = 0; k < place.path.size(); k++) {
    if (yes.path[k] == no.path[k] || !moves(yes, k)) continue;
    const Word type = e_.type_of(yes.path[k]), id = e_.new_id();
    const Word other = as_type(i, no.path[k], type, &i);
    put_before(&i, e_.make(Opcode::Select, type, id, std::array{x[0], yes.path[k], other}, i.at));
    place.path[k] = id;
  }
  return place;
}

// A phi of pointers: its shape is that of the first that does not need itself; then each index that
// may differ is a phi of its own.
void Places::carry(const Instruction& i) {
  const std::span<const Word> x = i.operands();
  const auto depends = [&](Word pointer) {
    std::vector<Word> open = {pointer};
    std::unordered_set<Word> seen;
    while (!open.empty()) {
      const Word id = open.back();
      open.pop_back();
      if (known_.contains(id)) continue;
      if (id == i.result() || busy_.contains(id)) return true;
      const Instruction* d = e_.definition(id);
      if (!d || !d->type() || !e_.is_pointer(d->type()) || !seen.insert(id).second) continue;
      for (const uint16_t at : d->ids)
        if (at != d->type_at && at != d->result_at) open.push_back(d->words[at]);
    }
    return false;
  };
  size_t first = 0;
  while (first < x.size() && depends(x[first])) first += 2;
  if (first >= x.size()) e_.refuse(i, "no pointer that it starts with is known");
  const Place start = of(x[first]);
  Place place = start;
  std::vector<size_t> carried;
  for (size_t k = 0; k < place.path.size(); k++) {
    if (!moves(start, k)) continue;
    carried.push_back(k);
    place.path[k] = e_.new_id();
  }
  // The phis are defined before what comes in is looked at: that may be made of them.
  std::vector<Instruction*> phis;
  for (const size_t k : carried) {
    const Word type = e_.type_of(start.path[k]);
    phis.push_back(e_.make(Opcode::Phi, type, place.path[k], {}, i.at));
  }
  known_[i.result()] = place;
  for (size_t k = 0; k < x.size(); k += 2) {
    const Place given = of(x[k]);
    same_shape(i, place, given);
    for (size_t c = 0; c < carried.size(); c++) {
      const Word type = e_.type_of(place.path[carried[c]]);
      const Word index = as_type(i, given.path[carried[c]], type, terminator(i, x[k + 1]));
      for (const Word word : {index, x[k + 1]}) {
        phis[c]->ids.push_back(static_cast<uint16_t>(phis[c]->words.size()));
        phis[c]->words.push_back(word);
      }
    }
  }
  for (Instruction* phi : phis) {
    phi->resize();
    put_first(&i, phi);
  }
}

}  // namespace lcpy::spirv
