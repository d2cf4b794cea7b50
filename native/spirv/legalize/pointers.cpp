#include "spirv/legalize/fixups.h"
#include "spirv/legalize/places.h"

namespace lcpy::spirv {

void settle_pointers(Editor& e, Editor::Code& code) {
  Editor::Code free;
  for (Instruction* i : code)
    if (gives_free_pointer(e, *i)) free.push_back(i);
  if (free.empty()) return;
  Places places(e, code);
  for (const Instruction* i : free) {
    const auto& [base, path] = places.of(i->result());
    std::vector<Word> operands = {base};
    operands.insert(operands.end(), path.begin(), path.end());
    const bool in_bounds = i->opcode() == Opcode::InBoundsPtrAccessChain;
    const Opcode code_of = path.empty() ? Opcode::CopyObject
                           : in_bounds  ? Opcode::InBoundsAccessChain
                                        : Opcode::AccessChain;
    const Word root = e.type_of(base);
    if (!e.is_pointer(root)) e.refuse(*i, "what it is made of is no pointer");
    // Generic pointers are of the storage where they point.
    const StorageClass storage = e.storage_of(root), own = e.storage_of(i->type());
    if (own != storage && own != StorageClass::Generic)
      e.refuse(*i, "it points into other storage than its type says");
    const Word type = own == storage ? i->type() : e.pointer_type(storage, e.pointee(i->type()));
    Instruction* settled = e.make(code_of, type, i->result(), operands, i->at);
    places.put_before(i->opcode() == Opcode::Phi ? places.behind_phis(i) : i, settled);
    places.drop(i);
  }
  places.write();
}

}  // namespace lcpy::spirv
