// Places of every memory class and type, loaded and stored; atomics native and emulated.
#include "base/error.h"
#include "judge.h"

using namespace lcpy;
using lcpy::spirv::Opcode;
using lcpy::test::count_of;
using lcpy::test::judge;

namespace {

const char* const kHead = R"(kernel "k" block 64 1 1 math ieee
)";
const char* const kStart = R"(function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
)";

KernelDescriptor kernel(const std::string& slots, const std::string& body) {
  KernelDescriptor d = parse_kernel(kHead + slots + kStart + body + "  Return\n}\n");
  verify_or_throw(d, "the test");
  return d;
}

const char* const kTypes[] = {"bool",
                              "byte",
                              "ushort",
                              "half",
                              "int",
                              "double",
                              "ulong",
                              "vector<bool,3>",
                              "vector<float,3>",
                              "vector<ubyte,3>",
                              "vector<double,3>",
                              "matrix<float,2>",
                              "matrix<float,3>",
                              "matrix<half,3>",
                              "matrix<double,4>",
                              "array<float,5>",
                              "array<bool,3>",
                              "array<matrix<float,2>,3>",
                              "struct<4,bool,int>",
                              "struct<16,vector<float,3>,float,matrix<float,3>>",
                              "struct<8,ulong,uint,array<struct<2,ushort,bool>,2>>",
                              "bfloat16"};

SpirvModule judge_all_plans(const KernelDescriptor& d) {
  BindingPlan plan = default_plan(d);
  SpirvModule m;
  for (const auto block :
       {BindingPlan::Block::Uniform, BindingPlan::Block::Storage, BindingPlan::Block::Push}) {
    plan.block = block;
    plan.block_place = {1, 0};
    m = judge(d, {}, &plan);
  }
  return m;
}

}  // namespace

TEST(every_type_in_every_memory) {
  for (const char* type : kTypes) {
    const std::string t = type;
    const KernelDescriptor d = kernel(
        "slot 0 \"out\" global buffer<" + t + "> read_write number 0\n" +
            "slot 1 \"arg\" uniform " + t + " read number 1\n" +
            "slot 2 \"scratch\" scratch array<" + t + ",3> read_write number 16777216 owner 0\n" +
            "slot 3 \"shared\" shared array<" + t + ",64> read_write number 16777217\n",
        "  %2: " + t + " = Load $1\n  Store $2, %2, %1\n  %3: " + t +
            " = Load $2, 1\n  Store $3, %3, %1\n" + "  SyncBlock\n  %4: " + t +
            " = Load $3, 5\n  Store $0, %4, %1\n  %5: " + t + " = Load $0, 7\n  Store $0, %5, 8\n");
    judge_all_plans(d);
    KernelDescriptor views = d;
    views.view_offsets = true;
    judge_all_plans(views);
  }
}

TEST(parts_of_places) {
  const std::string s = "struct<16,vector<float,3>,array<bool,4>,matrix<float,3>>";
  judge_all_plans(kernel("slot 0 \"a\" global buffer<" + s + "> read_write number 0\n" +
                             "slot 1 \"b\" uniform array<" + s + ",2> read number 1\n" +
                             "slot 2 \"i\" uniform int read number 2\n" +
                             "slot 3 \"l\" uniform long read number 3\n",
                         R"(
  %2: int = Load $2
  %3: long = Load $3
  %4: float = Load $0, %1, 0, %2
  %5: bool = Load $0, %3, 1, %2
  %6: vector<float,3> = Load $0, %1, 2, %2
  %7: float = Load $0, %1, 2, 1, 2
  %8: float = Load $1, %2, 0, %1
  %9: bool = Load $1, 1, 1, %2
  %10: vector<float,3> = Load $1, 0, 2, 1
  %11: bool = BitAnd %5, %9
  Store $0, %11, %1, 1, %2
  Store $0, %6, %1, 0
  %12: float = Add %4, %7
  %13: float = Add %12, %8
  Store $0, %13, %1, 2, 0, %2
  Store $0, %10, %1, 2, 1 !8
)"));
}

TEST(bools_in_buffers_need_no_arithmetic) {
  VulkanTarget target;
  target.int8 = false;
  const KernelDescriptor d =
      kernel("slot 0 \"a\" global buffer<struct<4,bool,int>> read_write number 0\n",
             "  %2: struct<4,bool,int> = Load $0, %1\n  Store $0, %2, 3\n");
  const SpirvModule m = judge(d, target);
  for (const std::string& c : m.capabilities) CHECK(c != "Int8");
}

TEST(constant_tables_and_byte_buffers) {
  judge(
      kernel("slot 0 \"a\" global buffer<float> write number 0\n"
             "slot 1 \"t\" constant array<vector<float,2>,2> read number 16777216 data "
             "array<vector<float,2>,2>((1, 2), (0, -0))\n",
             "  %2: float = Load $1, %1, 1\n  Store $0, %2, %1\n"));
  for (const char* type : kTypes) {
    const std::string t = type;
    KernelDescriptor d =
        kernel("slot 0 \"a\" global buffer<void> read_write number 0\n",
               "  %2: " + t + " = ByteLoad $0, %1\n  %3: uint = Add %1, uint(64)\n" +
                   "  ByteStore $0, %2, %3\n");
    judge(d);
    d.view_offsets = true;
    judge(d);
  }
}

TEST(lengths_extents_and_ids) {
  judge_all_plans(kernel("slot 0 \"a\" global buffer<uint,2> write number 0 length extents\n", R"(
  %2: uint = BufferLength $0
  %3: ulong = BufferLength64 $0
  %4: uint = BufferExtent $0, 1
  %5: vector<uint,3> = ThreadId
  %6: vector<uint,3> = BlockId
  %7: vector<uint,3> = DispatchSize
  %8: uint = KernelId
  %9: uint = Convert %3
  %10: uint = Add %2, %4
  %11: uint = Add %9, %8
  %12: uint = Extract %5, 0
  %13: uint = Extract %6, 1
  %14: uint = Extract %7, 2
  %15: uint = Add %12, %13
  %16: uint = Add %14, %15
  %17: uint = Add %10, %11
  %18: uint = Add %16, %17
  Store $0, %18, %1
)"));
}

TEST(integer_atomics) {
  for (const char* type : {"int", "uint", "long", "ulong"}) {
    const std::string t = type;
    std::string body = "  %2: " + t + " = Convert %1\n";
    int next = 3;
    for (const char* op : {"Exchange", "Add", "Sub", "And", "Or", "Xor", "Min", "Max"})
      for (const char* slot : {"$0", "$1"})
        body += "  %" + std::to_string(next++) + ": " + t + " = Atomic" + op + " " + slot +
                ", %2, %1\n";
    body += "  %" + std::to_string(next++) + ": " + t + " = AtomicCompareExchange $0, %2, %2, %1\n";
    body += "  %" + std::to_string(next++) + ": " + t + " = AtomicLoad $1, %1 !1\n";
    body += "  AtomicStore $0, %2, %1 !2\n";
    body += "  %" + std::to_string(next++) + ": " + t + " = AtomicAdd $0, %2, %1 !4\n";
    judge(kernel("slot 0 \"a\" global buffer<" + t + "> read_write number 0 atomics\n" +
                     "slot 1 \"s\" shared array<" + t + ",64> read_write number 16777216 atomics\n",
                 body));
  }
}

TEST(float_atomics) {
  for (const char* type : {"float", "double"}) {
    const std::string t = type;
    for (const char* op : {"Exchange", "Add", "Sub", "Min", "Max", "Load"}) {
      std::string body = "  %2: " + t + " = Convert %1\n";
      int next = 3;
      for (const std::string slot : {"$0", "$1"}) {
        const bool load = op == std::string("Load");
        const std::string rest = slot == "$0" ? ", %1, 0\n" : ", %1\n";
        body += "  %" + std::to_string(next++) + ": " + t + " = Atomic" + op + " " + slot +
                (load ? "" : ", %2") + rest;
        body += "  AtomicStore " + slot + ", %2" + rest;
        body += "  %" + std::to_string(next++) + ": " + t + " = Load " + slot + rest;
        body += "  Store " + slot + ", %2" + rest;
      }
      body += "  %" + std::to_string(next++) + ": " + t +
              " = AtomicCompareExchange $0, %2, %2, %1, 0\n";
      // The element is a vector and a bool: parts of it are plain.
      body += "  %" + std::to_string(next) + ": bool = Load $0, %1, 1\n";
      const KernelDescriptor d = kernel(
          "slot 0 \"a\" global buffer<struct<8," + t + ",bool>> read_write number 0 atomics\n" +
              "slot 1 \"s\" shared array<" + t + ",64> read_write number 16777216 atomics\n",
          body);
      judge(d);
      VulkanTarget plain;
      plain.buffer_float_add = plain.shared_float_add = false;
      judge(d, plain);
    }
  }
}

TEST(native_float_add_is_one_instruction) {
  const KernelDescriptor d =
      kernel("slot 0 \"a\" global buffer<float> read_write number 0 atomics\n",
             "  %2: float = Convert %1\n  %3: float = AtomicAdd $0, %2, %1\n");
  CHECK_EQ(count_of(judge(d).words, Opcode::AtomicFAddEXT), 1u);
  VulkanTarget plain;
  plain.buffer_float_add = false;
  const SpirvModule m = judge(d, plain);
  CHECK_EQ(count_of(m.words, Opcode::AtomicFAddEXT), 0u);
  CHECK_EQ(count_of(m.words, Opcode::AtomicCompareExchange), 1u);
  CHECK(m.extensions.empty());
}

TEST(missing_features_are_refused_by_name) {
  const auto refusal = [](const KernelDescriptor& d, const VulkanTarget& t) {
    try {
      emit_spirv(d, default_plan(d), t);
    } catch (const UnsupportedError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  VulkanTarget t;
  t.float64 = t.int64 = t.storage8 = t.int64_atomics = false;
  const auto named = [&](const std::string& slots, const std::string& body, const char* feature) {
    const std::string text = refusal(kernel(slots, body), t);
    if (text.find(feature) == std::string::npos) lcpy::test::fail(__FILE__, __LINE__, text);
  };
  named("slot 0 \"a\" global buffer<double> write number 0\n", "  Store $0, double(1), %1\n",
        "shaderFloat64");
  named("slot 0 \"a\" global buffer<long> write number 0\n", "  Store $0, long(1), %1\n",
        "shaderInt64");
  named("slot 0 \"a\" global buffer<struct<8,ubyte,ulong>> read_write number 0 atomics\n",
        "  %2: ulong = AtomicAdd $0, ulong(1), %1, 1\n", "storageBuffer8BitAccess");
  named("slot 0 \"a\" global buffer<ulong> read_write number 0 atomics\n",
        "  %2: ulong = AtomicAdd $0, ulong(1), %1\n", "shaderBufferInt64Atomics");
}
