// Interning, descriptions that parse back, and the layout rules of the language.
#include "types/type.h"

#include <random>
#include <thread>

#include "base/error.h"
#include "check.h"

using namespace lcpy;

namespace {

Type parse(std::string_view s) { return Type::parse(s); }

void check_layout(std::string_view description, uint64_t size, uint32_t align, uint64_t packed) {
  Type t = parse(description);
  CHECK_EQ(t.description(), description);
  CHECK_EQ(t.size(), size);
  CHECK_EQ(t.align(), align);
  CHECK_EQ(t.packed_size(), packed);
}

Type random_type(std::mt19937& rng, int depth) {
  auto pick = [&](uint32_t n) { return static_cast<uint32_t>(rng() % n); };
  switch (depth == 0 ? pick(3) : pick(5)) {
    case 0:
      return Type::of(static_cast<Scalar>(pick(kScalarCount)));
    case 1:
      return Type::vector(static_cast<Scalar>(pick(12)), 2 + pick(3));
    case 2:
      return Type::matrix(static_cast<Scalar>(9 + pick(3)), 2 + pick(3));
    case 3:
      return Type::array(random_type(rng, depth - 1), 1 + pick(9));
    default:
      break;
  }
  std::vector<Type> members;
  for (uint32_t n = 1 + pick(5); n > 0; --n) members.push_back(random_type(rng, depth - 1));
  uint32_t own = Type::structure(members).align();
  return Type::structure(members, own << pick(3));
}

// The layout facts of any value type, stated without the code that computes them.
void check_sound(Type t) {
  CHECK(t.size() > 0);
  CHECK_EQ(t.size() % t.align(), 0u);
  CHECK(t.packed_size() <= t.size());
  if (!t.is_struct()) return;
  uint64_t end = 0;
  for (uint64_t i = 0; i < t.count(); ++i) {
    CHECK(t.offset(i) >= end);
    CHECK_EQ(t.offset(i) % t.component(i).align(), 0u);
    end = t.offset(i) + t.component(i).size();
  }
  CHECK(end <= t.size());
}

}  // namespace

TEST(equal_types_have_equal_handles) {
  CHECK(Type::vector(Scalar::Float32, 3) == parse("vector<float,3>"));
  CHECK(Type::of(Scalar::Int32) == parse("int"));
  Type members[] = {Type::of(Scalar::Int32), Type::of(Scalar::Float32)};
  CHECK(Type::structure(members) == parse("struct<4,int,float>"));
  CHECK(Type::structure(members, 16) != Type::structure(members));
  CHECK(Type::array(Type::structure(members, 16), 10) == parse("array<struct<16,int,float>,10>"));
  CHECK(Type::buffer(Type()) == parse("buffer<void>"));
  CHECK(parse("void").is_void());
}

TEST(layout_of_the_language) {
  check_layout("bool", 1, 1, 1);
  check_layout("vector<bool,3>", 4, 4, 3);
  check_layout("vector<half,3>", 8, 8, 6);
  check_layout("vector<float,3>", 16, 16, 12);
  check_layout("vector<double,2>", 16, 16, 16);
  check_layout("vector<double,3>", 32, 32, 24);
  check_layout("vector<double,4>", 32, 32, 32);
  check_layout("matrix<float,2>", 16, 8, 16);
  check_layout("matrix<float,3>", 48, 16, 36);
  check_layout("matrix<double,3>", 96, 32, 72);
  check_layout("array<vector<float,3>,2>", 32, 16, 24);
  check_layout("struct<4,ubyte,float,ubyte>", 12, 4, 6);
  check_layout("struct<16,int,float>", 16, 16, 8);
  check_layout("array<struct<16,int,float>,10>", 160, 16, 80);
  Type s = parse("struct<16,ubyte,vector<float,3>,half>");
  CHECK_EQ(s.offset(1), 16u);
  CHECK_EQ(s.offset(2), 32u);
  CHECK_EQ(s.size(), 48u);
  CHECK_EQ(parse("buffer<vector<float,3>>").stride(), 16u);
  CHECK_EQ(parse("packed_buffer<vector<float,3>>").stride(), 12u);
  CHECK_EQ(parse("buffer<void>").stride(), 1u);
  CHECK_EQ(parse("matrix<float,3>").stride(), 16u);
}

TEST(parts) {
  Type m = parse("matrix<float,3>");
  CHECK(m.element() == parse("vector<float,3>"));
  CHECK(m.component(2) == parse("vector<float,3>"));
  CHECK(m.with_scalar(Scalar::Float64) == parse("matrix<double,3>"));
  CHECK(parse("vector<int,2>").with_lanes(4) == parse("vector<int,4>"));
  CHECK(parse("vector<int,2>").with_lanes(1) == parse("int"));
  Type b = parse("packed_buffer<float,2>");
  CHECK_EQ(b.rank(), 2u);
  CHECK(b.packed() && b.is_resource() && !b.is_value());
  CHECK(parse("texture<2,float>").is_resource());
  CHECK(parse("LC_RayQueryAll").tag() == TypeTag::Custom);
}

TEST(descriptions_parse_back) {
  std::mt19937 rng(7);
  for (int i = 0; i < 400; ++i) {
    Type t = random_type(rng, 3);
    CHECK(Type::parse(t.description()) == t);
    check_sound(t);
    Type b = Type::buffer(t, 1 + rng() % 3, rng() % 2 == 0);
    CHECK(Type::parse(b.description()) == b);
  }
  for (std::string_view text : {"texture<3,uint>", "bindless_array", "accel", "Custom_1"}) {
    CHECK_EQ(Type::parse(text).description(), text);
  }
}

TEST(elements_come_first) {
  Type inner = Type::array(parse("struct<4,int,int,int,int,int>"), 77);
  Type outer = Type::array(inner, 3);
  CHECK(inner.element().index() < inner.index());
  CHECK(inner.index() < outer.index());
  CHECK(Type::at(outer.index()) == outer);
  CHECK(outer.index() < Type::registered());
}

TEST(wrong_descriptions) {
  for (std::string_view text :
       {"", "float ", " float", "vector<float>", "vector<float,3", "vector<float,3>>", "vector<,3>",
        "vector<float3,3>", "array<float,>", "array<float,03>", "struct<0,int>", "buffer<float,1>",
        "array<float,99999999999999999999>", "texture<float,2>", "1abc", "a-b"}) {
    try {
      Type::parse(text);
      CHECK(text == "accepted");
    } catch (const CompileError& e) {
      CHECK(e.diagnostics()[0].code == Diag::type_description ||
            e.diagnostics()[0].code == Diag::type_not_allowed);
    }
  }
  for (std::string_view text :
       {"vector<float,5>", "vector<bfloat16,5>", "matrix<int,2>", "array<buffer<int>,2>",
        "array<int,0>", "struct<4>", "struct<4,accel>", "buffer<buffer<int>>", "buffer<void,2>",
        "packed_buffer<void>", "buffer<int,4>", "texture<4,int>", "texture<2,half>"}) {
    try {
      Type::parse(text);
      CHECK(text == "accepted");
    } catch (const CompileError& e) {
      CHECK(e.diagnostics()[0].code == Diag::type_not_allowed);
    }
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "array<";
  CHECK_THROWS(Type::parse(deep), CompileError);
}

TEST(too_large_and_misaligned) {
  try {
    Type::array(parse("vector<double,4>"), 1u << 30);
    CHECK(false);
  } catch (const CompileError& e) {
    CHECK(e.diagnostics()[0].code == Diag::type_too_large);
  }
  for (std::string_view text : {"struct<3,int>", "struct<2,int>", "struct<8192,int>"}) {
    try {
      Type::parse(text);
      CHECK(text == "accepted");
    } catch (const CompileError& e) {
      CHECK(e.diagnostics()[0].code == Diag::type_alignment);
    }
  }
}

TEST(hash_is_stable) {
  CHECK_EQ(parse("int").hash(), 0x2b9fff192bd4c83eull);
  CHECK(parse("int").hash() != parse("uint").hash());
}

TEST(threads_agree) {
  std::vector<std::thread> threads;
  std::vector<std::vector<Type>> seen(4);
  for (auto& mine : seen) {
    threads.emplace_back([&mine] {
      for (uint64_t n = 1; n <= 200; ++n) {
        mine.push_back(Type::array(Type::of(Scalar::Int16), 1000 + n));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (auto& mine : seen) CHECK(mine == seen[0]);
}
