// Text both ways, and modules that are none. tests/spirv compares with SPIRV-Tools.
#include "spirv/assemble.h"

#include "check.h"
#include "spirv/disassemble.h"
#include "spirv/reader.h"

using namespace lcpy;
using namespace lcpy::spirv;

static constexpr std::string_view kText =
    "; SPIR-V\n"
    "; Version: 1.6\n"
    "; Generator: Khronos SPIR-V Tools Assembler; 0\n"
    "; Bound: 6\n"
    "; Schema: 0\n"
    "               OpCapability Shader\n"
    "          %1 = OpExtInstImport \"GLSL.std.450\"\n"
    "               OpName %x \"x\"\n"
    "      %float = OpTypeFloat 32\n"
    "  %float_1_5 = OpConstant %float 1.5\n"
    "          %x = OpExtInst %float %1 Sin %float_1_5\n"
    "               OpStore %5 %x Volatile|Aligned 16\n";

TEST(text_to_words_and_back) {
  const std::vector<Word> words = assemble(kText);
  CHECK_EQ(words[3], 6u);
  CHECK_EQ(disassemble(words), std::string(kText));
}

TEST(errors_have_a_place) {
  try {
    assemble("OpNop\n  OpStore %a 5");
    CHECK(false);
  } catch (const AssemblyError& e) {
    CHECK_EQ(e.line, 2u);
    CHECK_EQ(e.column, 14u);
    CHECK_EQ(e.message, std::string("an id is expected, not '5'"));
  }
}

TEST(options) {
  AssembleOptions options;
  options.version = version_of_environment("vulkan1.1");
  options.preserve_numeric_ids = true;
  const std::vector<Word> words = assemble("%7 = OpTypeVoid\n%a = OpTypeBool", options);
  CHECK_EQ(words[1], 0x00010300u);
  CHECK_EQ(words[3], 8u);
  CHECK_EQ(words[6], 7u);
  CHECK_EQ(words[8], 1u);
  CHECK_EQ(version_of_environment("metal"), 0u);
}

// Every prefix, and every word replaced: an error that names a word, or text.
TEST(damaged_modules) {
  const std::vector<Word> words = assemble(kText);
  for (size_t n = 0; n < words.size(); n++) {
    try {
      disassemble(std::span(words).first(n));
    } catch (const LoadError&) {
    }
    for (const Word w : {0u, 1u, 0xffffu, 0x10000u, 0xffff0000u, 0xffffffffu}) {
      std::vector<Word> damaged = words;
      damaged[n] = w;
      try {
        disassemble(damaged);
      } catch (const LoadError& e) {
        CHECK(std::string(e.what()).find("word") != std::string::npos);
      }
    }
  }
}

TEST(either_byte_order) {
  const std::vector<Word> words = assemble(kText);
  std::vector<std::byte> bytes;
  for (const Word w : words)
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(std::byte(w >> shift));
  CHECK(words_of(bytes) == words);
  bytes.pop_back();
  CHECK_THROWS(words_of(bytes), LoadError);
}
