// The text form: what is printed parses back to the same text; damage is a LoadError with a place.
#include "kernel/text.h"

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "check.h"
#include "kernel/walk.h"

using namespace lcpy;

static const char* const kLoop = R"(kernel "count" block 64 1 1 math ieee
slot 0 "out" global buffer<uint> write number 0 length
slot 1 "n" uniform uint read number 1 @1:2:3-9
slot 2 "table" constant array<float,3> read number 16777216 data array<float,3>(1, -0, 0x7fc00000)
slot 3 "a b\"c" scratch array<vector<float,3>,2> read_write number 16777217 owner 0
function 0 "count" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: uint = Load $1
  %3: uint, %4: float = Loop (%5: uint, %6: float) {
    %7: bool = Less %5, %2
    If %7, {
      Yield
    }, {
      Break %5, %6
    } !2
    %8: float = Load $2, int(1) !8
    %9: uint = Add %5, uint(1)
    Continue %9, %8
  }, uint(0), float(0.1) @1:3:4-5
  %10: bool = Equal %4, float(1e-45)
  SyncBlock
  Store $0, %3, %1
  Return
}
)";

TEST(round_trip) { CHECK_EQ(to_text(parse_kernel(kLoop)), std::string(kLoop)); }

TEST(parsed_structure) {
  const KernelDescriptor d = parse_kernel(kLoop);
  CHECK_EQ(d.slots.size(), 4u);
  CHECK_EQ(d.block_size[0], 64u);
  CHECK(d.uses_barrier());
  CHECK(!d.uses_shared());
  CHECK_EQ(d.functions.size(), 1u);
  size_t ops = 0;
  walk_functions(d, [&](OpId, const Operation&) { ops++; });
  CHECK_EQ(ops, 15u);
  float table[3];
  std::memcpy(table, d.slots[2].data.data(), sizeof table);
  CHECK(table[0] == 1 && std::signbit(table[1]) && table[2] != table[2]);
}

TEST(every_constant_kind_reads_back) {
  KernelDescriptor d;
  KernelBuilder b(d);
  b.add_function("k", {}, {}, {});
  b.set_insertion(BodyId(0u));
  auto use = [&](ValueId v) { b.emit(Op::Bitcast, d.type_of(v), {v}); };
  for (Scalar s : {Scalar::Int8, Scalar::Int16, Scalar::Int32, Scalar::Int64})
    use(b.splat(Type::of(s), -1e30));
  for (Scalar s : {Scalar::UInt8, Scalar::UInt16, Scalar::UInt32, Scalar::UInt64})
    use(b.splat(Type::of(s), 1e30));
  for (Scalar s : {Scalar::Float16, Scalar::Float32, Scalar::Float64})
    for (double x : {0.0, -0.0, 0.1, 1e-320, 1e308 * 10, 65504.0}) use(b.splat(Type::of(s), x));
  use(b.boolean(true));
  const Type inner[] = {Type::vector(Scalar::Float32, 3), Type::of(Scalar::Bool)};
  const Type s = Type::structure(inner);
  std::vector<std::byte> bytes(s.size(), std::byte{2});
  use(b.constant(s, bytes));
  use(b.zero(Type::array(s, 2)));
  b.terminate(Op::Return);
  const std::string text = to_text(d);
  CHECK_EQ(to_text(parse_kernel(text)), text);
}

TEST(constants_are_interned) {
  KernelDescriptor d;
  KernelBuilder b(d);
  const ValueId one = b.splat(Type::of(Scalar::Float32), 1);
  for (int i = 0; i < 1000; i++) b.integer(Type::of(Scalar::Int32), i);
  CHECK(b.splat(Type::of(Scalar::Float32), 1) == one);
  CHECK(b.splat(Type::of(Scalar::Float32), 0) != b.splat(Type::of(Scalar::Float32), -0.0));
  CHECK(b.integer(Type::of(Scalar::Int32), 1) != b.integer(Type::of(Scalar::UInt32), 1));
  KernelBuilder again(d);
  CHECK(again.splat(Type::of(Scalar::Float32), 1) == one);
}

TEST(hash_ignores_names_and_spans_and_leftovers) {
  KernelDescriptor a = parse_kernel(kLoop), b = a;
  b.name = "other";
  b.slots[0].name = "x";
  for (Operation& o : b.ops) o.span = {};
  KernelBuilder(b).zero(Type::of(Scalar::Float64));
  CHECK_EQ(a.hash(), b.hash());
  b.block_size[1] = 2;
  CHECK(a.hash() != b.hash());
}

TEST(damage_is_a_load_error) {
  const std::string text = kLoop;
  for (const char* cut :
       {"block", "uniform", "%2: uint", "Loop", "Continue", "float(0.1)", "vector<uint,3>"}) {
    std::string broken = text;
    broken.replace(broken.find(cut), std::strlen(cut), "?");
    CHECK_THROWS(parse_kernel(broken), LoadError);
  }
  for (size_t n = 0; n + 2 < text.size(); n += 7)
    CHECK_THROWS(parse_kernel(text.substr(0, n)), LoadError);
  try {
    parse_kernel(
        "kernel \"x\" block 1 1 1 math ieee\nfunction 0 \"x\" () -> () {\n  Nonsense\n}\n");
    CHECK(false);
  } catch (const LoadError& e) {
    CHECK(std::strstr(e.what(), "line 3, column 3") != nullptr);
  }
}

TEST(argument_block_layout) {
  KernelDescriptor d = parse_kernel(R"(kernel "k" block 1 1 1 math ieee view_offsets
slot 0 "b" global buffer<float,2> read number 0 length extents
slot 1 "flag" uniform bool read number 1
slot 2 "v" uniform vector<float,3> read number 2
slot 3 "c" global buffer<float> read number 3
function 0 "k" () -> () {
  Return
}
)");
  const ArgumentBlock a = argument_block(d);
  CHECK_EQ(a.entries[1].value, 16u);
  CHECK_EQ(a.entries[2].value, 32u);
  CHECK_EQ(a.entries[0].length, 48u);
  CHECK_EQ(a.entries[0].extents, 56u);
  CHECK_EQ(a.entries[0].base, 72u);
  CHECK_EQ(a.entries[3].base, 80u);
  CHECK_EQ(a.entries[3].length, ArgumentBlock::kNone);
  CHECK_EQ(a.size, 96u);
}
