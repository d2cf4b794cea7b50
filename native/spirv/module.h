// Owns a SPIR-V module while it is built: one buffer for each part of the logical layout
// (SPIR-V 1.6, 2.4), result ids, interned types and constants, and the least set of capabilities
// and extensions. It knows the specification's rules, and nothing of kernel descriptors.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spirv/encode.h"

namespace lcpy::spirv {

inline constexpr Word kVersion10 = 0x00010000, kVersion13 = 0x00010300, kVersion14 = 0x00010400,
                      kVersion15 = 0x00010500, kVersion16 = 0x00010600;

class Module {
 public:
  explicit Module(Word version);

  Word version() const { return version_; }
  Word new_id() { return bound_++; }
  Word bound() const { return bound_; }

  // Asking twice is asking once. An extension that `core_since` has taken in is left out.
  void require(Capability capability);
  void extension(std::string_view name, Word core_since = ~0u);
  bool requires_capability(Capability capability) const;
  Word glsl();        // the id of GLSL.std.450
  Word debug_info();  // the id of NonSemantic.Shader.DebugInfo.100
  // An instruction of that set, among the types and constants.
  Word debug(uint32_t instruction, std::span<const Word> operands);

  // Interned: types that are not told apart by decorations.
  Word type_void();
  Word type_bool();
  Word type_int(uint32_t width, bool is_signed);
  Word type_float(uint32_t width);
  Word type_vector(Word component, uint32_t lanes);
  Word type_matrix(Word column, uint32_t columns);
  Word type_array(Word element, Word length_constant);
  Word type_struct(std::span<const Word> members);
  Word type_pointer(StorageClass storage, Word pointee);
  Word type_function(Word result, std::span<const Word> parameters);
  // A new id each time, to be decorated by the caller.
  Word new_array(Word element, Word length_constant);
  Word new_runtime_array(Word element);
  Word new_struct(std::span<const Word> members);

  // Interned constants. `words` hold the literal, low word first, narrow ones extended.
  Word constant(Word type, std::span<const Word> words);
  Word constant_u32(uint32_t value);
  Word constant_bool(bool value);
  Word constant_null(Word type);
  Word constant_composite(Word type, std::span<const Word> parts);
  Word undef(Word type);

  // A module-scope variable; from version 1.4 the entry point lists every one.
  Word variable(Word pointer_type, StorageClass storage, Word initializer = 0);

  template <class... Extra>
  void decorate(Word target, Decoration decoration, Extra... extra) {
    annotations_.op(Opcode::Decorate, target, decoration, extra...);
  }
  template <class... Extra>
  void decorate_member(Word target, uint32_t member, Decoration decoration, Extra... extra) {
    annotations_.op(Opcode::MemberDecorate, target, member, decoration, extra...);
  }
  void name(Word target, std::string_view text);
  void name_member(Word target, uint32_t member, std::string_view text);
  Word string(std::string_view text);  // OpString

  template <class... Extra>
  void execution_mode(Word entry, ExecutionMode mode, Extra... extra) {
    modes_.op(Opcode::ExecutionMode, entry, mode, extra...);
  }
  void entry_point(Word function, std::string_view name);
  void function(const Words& code) { functions_.append(code); }
  void reserve(size_t function_words) { functions_.reserve(function_words); }

  // The words of the whole module.
  std::vector<Word> finish();
  std::vector<std::string> capability_names() const;  // sorted
  const std::vector<std::string>& extension_names() const { return extensions_; }

 private:
  struct Interned {
    uint64_t hash = 0;
    Word id = 0;
    size_t at = 0;  // of the instruction in globals_
  };
  Word intern(Opcode code, Word type, std::span<const Word> operands);
  Word write(Opcode code, Word type, std::span<const Word> operands);
  void grow();

  Word version_;
  Word bound_ = 1;
  Word glsl_ = 0, debug_info_ = 0;
  Word u32_ = 0;
  Word entry_ = 0;
  std::string entry_name_;
  std::vector<Capability> capabilities_;
  std::vector<std::string> extensions_;
  std::vector<Word> interface_;
  Words modes_, strings_, names_, annotations_, globals_, functions_;
  std::vector<Interned> interned_;
  std::vector<uint32_t> table_;  // open addressing into interned_; kEmpty where free
  std::vector<Word> small_;      // constant_u32 by value, for the frequent ones
};

}  // namespace lcpy::spirv
