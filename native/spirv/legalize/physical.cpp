#include <algorithm>

#include "spirv/legalize/fixups.h"
#include "spirv/legalize/places.h"

namespace lcpy::spirv {
namespace {

bool has_body(const Editor::Code& function) {
  return std::ranges::any_of(function,
                             [](const Instruction* i) { return i->opcode() == Opcode::Label; });
}

// Memory operands say that an access is aligned, which logical ones may not: of loads and stores.
void drop_alignment(Instruction* i) {
  const size_t at = i->opcode() == Opcode::Load ? 4 : 3;
  if ((i->opcode() != Opcode::Load && i->opcode() != Opcode::Store) || i->words.size() <= at)
    return;
  constexpr Word kAligned = 2;
  if (!(i->words[at] & kAligned)) return;
  i->words[at] &= ~kAligned;
  // Its number is the first operand of the mask: the one bit below it, volatile, has none.
  i->words.erase(i->words.begin() + static_cast<ptrdiff_t>(at) + 1);
  if (!i->words[at]) i->words.resize(at);
  for (uint16_t& id : i->ids)
    if (id > at) id--;
  i->resize();
}

bool is_physical_decoration(Word decoration) {
  switch (static_cast<Decoration>(decoration)) {
    case Decoration::FuncParamAttr:
    case Decoration::Alignment:
    case Decoration::AlignmentId:
    case Decoration::MaxByteOffset:
    case Decoration::MaxByteOffsetId:
      return true;
    default:
      return false;
  }
}

// Where variables live, in bytes; and casts that said so.
void drop_lifetimes(Editor& e) {
  const auto drop = [&](const auto& drops) {
    for (Editor::Code& f : e.functions) std::erase_if(f, drops);
  };
  drop([](const Instruction* i) {
    return i->opcode() == Opcode::LifetimeStart || i->opcode() == Opcode::LifetimeStop;
  });
  const std::unordered_set<Word> uses = e.uses();
  std::unordered_set<Word> gone;
  drop([&](const Instruction* i) {
    const bool unused =
        i->opcode() == Opcode::Bitcast && e.is_pointer(i->type()) && !uses.contains(i->result());
    if (unused) gone.insert(i->result());
    return unused;
  });
  if (!gone.empty()) e.forget(gone);
}

// Types of generic pointers, and of functions, that nothing is of any more.
void drop_types(Editor& e) {
  for (bool found = true; found;) {
    const std::unordered_set<Word> uses = e.uses();
    std::unordered_set<Word> gone;
    std::erase_if(e.head, [&](const Instruction* i) {
      const bool generic = i->opcode() == Opcode::TypePointer &&
                           static_cast<StorageClass>(i->words[2]) == StorageClass::Generic;
      const bool unused =
          (generic || i->opcode() == Opcode::TypeFunction) && !uses.contains(i->result());
      if (unused) gone.insert(i->result());
      return unused;
    });
    found = !gone.empty();
    if (found) e.forget(gone);
  }
}

// Functions of other modules: none calls them, or the module is half a program.
void drop_imports(Editor& e) {
  std::unordered_set<Word> gone;
  for (const Editor::Code& f : e.functions)
    if (!has_body(f))
      for (const Instruction* i : f)
        if (i->result()) gone.insert(i->result());
  for (const Editor::Code& f : e.functions)
    for (const Instruction* i : f)
      if (i->opcode() == Opcode::FunctionCall && gone.contains(i->operands()[0]))
        e.refuse(*i, "the function is of another module: link them first");
  if (gone.empty()) return;
  std::erase_if(e.functions, [](const Editor::Code& f) { return !has_body(f); });
  e.forget(gone);
}

}  // namespace

void drop_physical(Editor& e) {
  bool physical = false, entered = false;
  for (const Instruction* i : e.head) {
    if (i->opcode() == Opcode::MemoryModel) {
      const auto model = static_cast<AddressingModel>(i->words[1]);
      physical = model == AddressingModel::Physical32 || model == AddressingModel::Physical64;
    }
    entered |= i->opcode() == Opcode::EntryPoint;
  }
  // A library of logical functions is as it should be.
  const bool linked = e.has(Capability::Linkage) && (entered || physical);
  if (linked) drop_imports(e);
  const auto drops = [&](const Instruction* i) {
    switch (i->opcode()) {
      case Opcode::Capability: {
        const auto c = static_cast<Capability>(i->words[1]);
        return (physical && (c == Capability::Addresses || c == Capability::GenericPointer)) ||
               (linked && entered && c == Capability::Linkage);
      }
      case Opcode::Decorate:
      case Opcode::DecorateId:
        return (linked && entered &&
                static_cast<Decoration>(i->words[2]) == Decoration::LinkageAttributes) ||
               (physical && is_physical_decoration(i->words[2]));
      default:
        return false;
    }
  };
  if (std::erase_if(e.head, drops)) e.changed = true;
  if (!physical) return;
  e.changed = true;
  for (Instruction* i : e.head)
    if (i->opcode() == Opcode::MemoryModel) i->words[1] = to_word(AddressingModel::Logical);
  for (Editor::Code& f : e.functions)
    for (Instruction* i : f) drop_alignment(i);
  drop_lifetimes(e);
  drop_types(e);
}

void require_logical(const Editor& e) {
  const auto free_pointer = [&](Word type) {
    return e.is_pointer(type) && !pointers_vary(e, e.storage_of(type));
  };
  const auto check = [&](const Instruction* i) {
    const auto refuse = [&](const char* reason) { e.refuse(*i, reason); };
    switch (i->opcode()) {
      case Opcode::ConvertPtrToU:
      case Opcode::ConvertUToPtr:
        if (!e.has(Capability::PhysicalStorageBufferAddresses))
          refuse("a pointer is no number where addresses are logical");
        return;
      case Opcode::PtrCastToGeneric:
      case Opcode::GenericCastToPtr:
      case Opcode::GenericCastToPtrExplicit:
      case Opcode::GenericPtrMemSemantics:
        return refuse("there are no generic pointers where addresses are logical");
      case Opcode::PtrAccessChain:
      case Opcode::InBoundsPtrAccessChain:
      case Opcode::Select:
      case Opcode::Phi:
        if (gives_free_pointer(e, *i)) refuse("it is in no function that is reached");
        return;
      case Opcode::Bitcast:
        if (e.is_pointer(i->type()) || e.is_pointer(e.type_of(i->operands()[0])))
          refuse("a pointer keeps its type where addresses are logical");
        return;
      case Opcode::CopyMemorySized:
        return refuse("it copies bytes, of which logical memory has none");
      case Opcode::SizeOf:
        return refuse("types have no sizes where addresses are logical");
      case Opcode::PtrEqual:
      case Opcode::PtrNotEqual:
      case Opcode::PtrDiff:
        if (free_pointer(e.type_of(i->operands()[0])))
          refuse("pointers are not compared where addresses are logical");
        return;
      case Opcode::TypeForwardPointer:
        if (static_cast<StorageClass>(i->words[2]) != StorageClass::PhysicalStorageBuffer)
          refuse("memory holds no pointers where addresses are logical");
        return;
      case Opcode::Load:
        if (free_pointer(i->type()))
          refuse("it reads a pointer from memory (compilers that optimise leave none there)");
        return;
      case Opcode::FunctionCall:
      case Opcode::ConstantNull:
      case Opcode::CompositeExtract:
        if (free_pointer(i->type())) refuse("it gives a pointer of which nothing is known here");
        return;
      default:
        return;
    }
  };
  for (const Instruction* i : e.head) check(i);
  for (const Editor::Code& f : e.functions)
    for (const Instruction* i : f) check(i);
}

}  // namespace lcpy::spirv
