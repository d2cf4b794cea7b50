// Sections in the logical order, interning, the least of capabilities and extensions.
#include "spirv/module.h"

#include "check.h"
#include "emit/spirv/types.h"

using namespace lcpy;
using namespace lcpy::spirv;

TEST(types_and_constants_are_interned) {
  Module m(kVersion15);
  const Word f = m.type_float(32);
  CHECK_EQ(m.type_float(32), f);
  CHECK(m.type_int(32, false) != m.type_int(32, true));
  CHECK_EQ(m.type_vector(f, 3), m.type_vector(f, 3));
  CHECK_EQ(m.constant_u32(5), m.constant_u32(5));
  CHECK_EQ(m.constant_u32(1u << 20), m.constant_u32(1u << 20));
  const Word zero[] = {0x80000000u}, plus[] = {0u};
  CHECK(m.constant(f, zero) != m.constant(f, plus));  // -0 is not 0
  CHECK(m.constant(f, plus) != m.constant_u32(0));
}

TEST(interning_survives_growth) {
  Module m(kVersion15);
  std::vector<Word> ids;
  for (uint32_t i = 0; i < 3000; i++) ids.push_back(m.constant_u32(i * 7));
  for (uint32_t i = 0; i < 3000; i++) CHECK_EQ(m.constant_u32(i * 7), ids[i]);
}

TEST(capabilities_are_the_least) {
  Module m(kVersion13);
  m.require(Capability::Shader);
  m.require(Capability::Shader);
  m.type_int(64, true);
  m.extension("SPV_KHR_8bit_storage", kVersion15);
  m.extension("SPV_KHR_8bit_storage", kVersion15);
  CHECK_EQ(m.capability_names().size(), 2u);
  CHECK_EQ(m.capability_names()[0], std::string("Int64"));
  CHECK_EQ(m.extension_names().size(), 1u);
  Module newer(kVersion15);
  newer.extension("SPV_KHR_8bit_storage", kVersion15);
  CHECK(newer.extension_names().empty());
}

TEST(finished_words_walk_to_the_end) {
  Module m(kVersion16);
  m.require(Capability::Shader);
  const Word main = m.new_id();
  m.entry_point(main, "main");
  m.execution_mode(main, ExecutionMode::LocalSize, 1u, 1u, 1u);
  Words code;
  code.op(Opcode::Function, m.type_void(), main, FunctionControl::None,
          m.type_function(m.type_void(), {}));
  code.op(Opcode::Label, m.new_id());
  code.op(Opcode::Return);
  code.op(Opcode::FunctionEnd);
  m.function(code);
  const std::vector<Word> words = m.finish();
  CHECK_EQ(words[0], kMagicNumber);
  CHECK_EQ(words[1], kVersion16);
  CHECK_EQ(words[3], m.bound());
  size_t at = 5;
  std::vector<uint32_t> opcodes;
  while (at < words.size()) {
    CHECK(words[at] >> 16);
    opcodes.push_back(words[at] & 0xffff);
    at += words[at] >> 16;
  }
  CHECK_EQ(at, words.size());
  CHECK_EQ(opcodes.front(), uint32_t(Opcode::Capability));
  CHECK_EQ(opcodes.back(), uint32_t(Opcode::FunctionEnd));
}

TEST(families_differ_only_where_they_must) {
  Module m(kVersion15);
  Types t(m);
  const Type f3 = Type::vector(Scalar::Float32, 3), flag = Type::of(Scalar::Bool);
  CHECK(t.same(f3, Family::Laid));
  CHECK(!t.same(flag, Family::Laid));
  CHECK(!t.same(f3, Family::Bits));
  const Type members[] = {f3, Type::of(Scalar::UInt32)};
  const Type plain = Type::structure(members);
  CHECK(!t.same(plain, Family::Laid));
  CHECK(t.copyable(plain, Family::Laid));
  const Type with_flag[] = {f3, flag};
  CHECK(!t.copyable(Type::structure(with_flag), Family::Laid));
  CHECK(!t.copyable(plain, Family::Bits));
  CHECK_EQ(t.id(Type::of(Scalar::BFloat16)), t.id(Type::of(Scalar::UInt16)));
}
