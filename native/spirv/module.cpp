// The module's sections, ids, interning, and its last assembly into words.
#include "spirv/module.h"

#include <algorithm>

#include "base/error.h"
#include "spirv/tables.h"

namespace lcpy::spirv {
namespace {

constexpr uint32_t kEmpty = ~0u;
// Tools without a number in Khronos' registry write 0 (SPIR-V 1.6, 2.3).
constexpr Word kGenerator = 0;

uint64_t mix(uint64_t h, uint64_t w) {
  h ^= w + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdull;
}

}  // namespace

Module::Module(Word version) : version_(version), table_(256, kEmpty) {}

void Module::require(Capability capability) {
  if (!requires_capability(capability)) capabilities_.push_back(capability);
}

bool Module::requires_capability(Capability capability) const {
  return std::find(capabilities_.begin(), capabilities_.end(), capability) != capabilities_.end();
}

void Module::extension(std::string_view name, Word core_since) {
  if (version_ >= core_since) return;
  if (std::find(extensions_.begin(), extensions_.end(), name) == extensions_.end())
    extensions_.emplace_back(name);
}

Word Module::glsl() {
  if (!glsl_) glsl_ = new_id();
  return glsl_;
}

Word Module::debug_info() {
  if (!debug_info_) {
    debug_info_ = new_id();
    extension("SPV_KHR_non_semantic_info", kVersion16);
  }
  return debug_info_;
}

Word Module::debug(uint32_t instruction, std::span<const Word> operands) {
  const Word type = type_void(), set = debug_info(), id = new_id();
  globals_.begin(Opcode::ExtInst);
  for (const Word word : {type, id, set, instruction}) globals_.push(word);
  globals_.push_all(operands);
  LCPY_CHECK(globals_.end());
  return id;
}

// ---- interning ------------------------------------------------------------------------------

Word Module::write(Opcode code, Word type, std::span<const Word> operands) {
  const Word id = new_id();
  globals_.begin(code);
  if (type) globals_.push(type);
  globals_.push(id);
  globals_.push_all(operands);
  LCPY_CHECK(globals_.end());
  return id;
}

// The table is keyed by opcode, type and operands; a hash only speeds the comparison up.
Word Module::intern(Opcode code, Word type, std::span<const Word> operands) {
  uint64_t hash = mix(to_word(code), type);
  for (const Word w : operands) hash = mix(hash, w);
  const size_t skip = type ? 3 : 2;  // first word, type, id
  size_t slot = hash & (table_.size() - 1);
  for (; table_[slot] != kEmpty; slot = (slot + 1) & (table_.size() - 1)) {
    const Interned& e = interned_[table_[slot]];
    if (e.hash != hash) continue;
    const auto old = globals_.view().subspan(e.at);
    if ((old[0] & 0xffff) != to_word(code) || (old[0] >> 16) != skip + operands.size()) continue;
    if (type && old[1] != type) continue;
    if (std::equal(operands.begin(), operands.end(), old.begin() + skip)) return e.id;
  }
  const size_t at = globals_.size();
  const Word id = write(code, type, operands);
  table_[slot] = static_cast<uint32_t>(interned_.size());
  interned_.push_back({hash, id, at});
  if (interned_.size() * 2 > table_.size()) grow();
  return id;
}

void Module::grow() {
  table_.assign(table_.size() * 2, kEmpty);
  for (uint32_t i = 0; i < interned_.size(); i++) {
    size_t slot = interned_[i].hash & (table_.size() - 1);
    while (table_[slot] != kEmpty) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = i;
  }
}

// ---- types ----------------------------------------------------------------------------------

Word Module::type_void() { return intern(Opcode::TypeVoid, 0, {}); }
Word Module::type_bool() { return intern(Opcode::TypeBool, 0, {}); }

Word Module::type_int(uint32_t width, bool is_signed) {
  if (width == 64) require(Capability::Int64);
  const Word operands[] = {width, is_signed ? 1u : 0u};
  return intern(Opcode::TypeInt, 0, operands);
}

Word Module::type_float(uint32_t width) {
  if (width == 64) require(Capability::Float64);
  const Word operands[] = {width};
  return intern(Opcode::TypeFloat, 0, operands);
}

Word Module::type_vector(Word component, uint32_t lanes) {
  const Word operands[] = {component, lanes};
  return intern(Opcode::TypeVector, 0, operands);
}

Word Module::type_matrix(Word column, uint32_t columns) {
  const Word operands[] = {column, columns};
  return intern(Opcode::TypeMatrix, 0, operands);
}

Word Module::type_array(Word element, Word length_constant) {
  const Word operands[] = {element, length_constant};
  return intern(Opcode::TypeArray, 0, operands);
}

Word Module::type_struct(std::span<const Word> members) {
  return intern(Opcode::TypeStruct, 0, members);
}

Word Module::type_pointer(StorageClass storage, Word pointee) {
  const Word operands[] = {to_word(storage), pointee};
  return intern(Opcode::TypePointer, 0, operands);
}

Word Module::type_function(Word result, std::span<const Word> parameters) {
  std::vector<Word> operands{result};
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  return intern(Opcode::TypeFunction, 0, operands);
}

Word Module::new_array(Word element, Word length_constant) {
  const Word operands[] = {element, length_constant};
  return write(Opcode::TypeArray, 0, operands);
}

Word Module::new_runtime_array(Word element) {
  return write(Opcode::TypeRuntimeArray, 0, std::span(&element, 1));
}

Word Module::new_struct(std::span<const Word> members) {
  return write(Opcode::TypeStruct, 0, members);
}

// ---- constants ------------------------------------------------------------------------------

Word Module::constant(Word type, std::span<const Word> words) {
  return intern(Opcode::Constant, type, words);
}

Word Module::constant_u32(uint32_t value) {
  if (value < small_.size() && small_[value]) return small_[value];
  if (!u32_) u32_ = type_int(32, false);
  const Word id = constant(u32_, std::span(&value, 1));
  if (value < 256) {
    if (value >= small_.size()) small_.resize(value + 1, 0);
    small_[value] = id;
  }
  return id;
}

Word Module::constant_bool(bool value) {
  return intern(value ? Opcode::ConstantTrue : Opcode::ConstantFalse, type_bool(), {});
}

Word Module::constant_null(Word type) { return intern(Opcode::ConstantNull, type, {}); }

Word Module::constant_composite(Word type, std::span<const Word> parts) {
  return intern(Opcode::ConstantComposite, type, parts);
}

Word Module::undef(Word type) { return intern(Opcode::Undef, type, {}); }

Word Module::variable(Word pointer_type, StorageClass storage, Word initializer) {
  const Word id = new_id();
  if (initializer) {
    globals_.op(Opcode::Variable, pointer_type, id, storage, initializer);
  } else {
    globals_.op(Opcode::Variable, pointer_type, id, storage);
  }
  const bool in_out = storage == StorageClass::Input || storage == StorageClass::Output;
  if (in_out || version_ >= kVersion14) interface_.push_back(id);
  return id;
}

// ---- names, entry ---------------------------------------------------------------------------

void Module::name(Word target, std::string_view text) {
  names_.begin(Opcode::Name);
  names_.push(target);
  names_.text(text.substr(0, 1024));
  LCPY_CHECK(names_.end());
}

void Module::name_member(Word target, uint32_t member, std::string_view text) {
  names_.begin(Opcode::MemberName);
  names_.push(target);
  names_.push(member);
  names_.text(text.substr(0, 1024));
  LCPY_CHECK(names_.end());
}

Word Module::string(std::string_view text) {
  const Word id = new_id();
  strings_.begin(Opcode::String);
  strings_.push(id);
  strings_.text(text.substr(0, 65536));
  LCPY_CHECK(strings_.end());
  return id;
}

void Module::entry_point(Word function, std::string_view name) {
  entry_ = function;
  entry_name_ = name;
}

std::vector<std::string> Module::capability_names() const {
  std::vector<std::string> names;
  for (const Capability c : capabilities_) names.emplace_back(name_of(c));
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Word> Module::finish() {
  Words head;
  std::sort(capabilities_.begin(), capabilities_.end());
  for (const Capability c : capabilities_) head.op(Opcode::Capability, c);
  for (const std::string& e : extensions_) {
    head.begin(Opcode::Extension);
    head.text(e);
    LCPY_CHECK(head.end());
  }
  if (glsl_) {
    head.begin(Opcode::ExtInstImport);
    head.push(glsl_);
    head.text("GLSL.std.450");
    LCPY_CHECK(head.end());
  }
  if (debug_info_) {
    head.begin(Opcode::ExtInstImport);
    head.push(debug_info_);
    head.text("NonSemantic.Shader.DebugInfo.100");
    LCPY_CHECK(head.end());
  }
  head.op(Opcode::MemoryModel, AddressingModel::Logical, MemoryModel::GLSL450);
  head.begin(Opcode::EntryPoint);
  head.push(ExecutionModel::GLCompute);
  head.push(entry_);
  head.text(entry_name_);
  head.push_all(interface_);
  LCPY_CHECK(head.end());

  const Words* parts[] = {&head,         &modes_,   &strings_,  &names_,
                          &annotations_, &globals_, &functions_};
  size_t total = 5;
  for (const Words* p : parts) total += p->size();
  std::vector<Word> words{kMagicNumber, version_, kGenerator, bound_, 0};
  words.reserve(total);
  for (const Words* p : parts) words.insert(words.end(), p->view().begin(), p->view().end());
  return words;
}

}  // namespace lcpy::spirv
