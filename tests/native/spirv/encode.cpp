// Words of single instructions.
#include "spirv/encode.h"
#include "spirv/tables.h"

#include "check.h"

using namespace lcpy::spirv;

TEST(fixed_instruction) {
  Words w;
  w.op(Opcode::IAdd, 7u, 8u, 9u, 10u);
  CHECK_EQ(w.size(), 5u);
  CHECK_EQ(w[0], 5u << 16 | 128u);
  CHECK_EQ(w[1], 7u);
  CHECK_EQ(w[4], 10u);
}

TEST(open_instruction_counts_its_words) {
  Words w;
  w.op(Opcode::Return);
  w.begin(Opcode::Switch);
  w.push(3u);
  const Word rest[] = {4, 5, 6};
  w.push_all(rest);
  CHECK(w.end());
  CHECK_EQ(w[1], 5u << 16 | to_word(Opcode::Switch));
}

TEST(text_is_padded_and_ended) {
  Words w;
  w.text("main");
  CHECK_EQ(w.size(), 2u);
  CHECK_EQ(w[0], 0x6e69616du);
  CHECK_EQ(w[1], 0u);
  w.clear();
  w.text("abc");
  CHECK_EQ(w.size(), 1u);
  CHECK_EQ(w[0], 0x00636261u);
  w.clear();
  w.text("");
  CHECK_EQ(w.size(), 1u);
}

TEST(too_long_is_told) {
  Words w;
  w.begin(Opcode::CompositeConstruct);
  for (int i = 0; i < 65534; i++) w.push(1u);
  CHECK(w.end());
  w.clear();
  w.begin(Opcode::CompositeConstruct);
  for (int i = 0; i < 65535; i++) w.push(1u);
  CHECK(!w.end());
}

TEST(grammar_rows) {
  InstructionInfo add;
  CHECK(find_instruction(128, &add) && add.name == "IAdd" && add.has_type() && add.has_result());
  CHECK_EQ(add.rules.size(), 4u);
  CHECK(!find_instruction(60000, &add));
  CHECK_EQ(name_of(Capability::Int64Atomics), std::string_view("Int64Atomics"));
  CHECK_EQ(uint32_t(Glsl::NMin), 79u);
}
