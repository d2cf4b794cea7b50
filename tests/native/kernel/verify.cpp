// verify(): well-formed kernels pass; each rule has a kernel that breaks it; all violations are
// reported with their paths, never the first alone.
#include <algorithm>

#include "base/error.h"
#include "check.h"
#include "kernel/descriptor.h"

using namespace lcpy;

static const char* const kSlots = R"(kernel "k" block 8 1 1 math ieee
slot 0 "b" global buffer<float> read_write number 0 atomics
slot 1 "n" uniform uint read number 1
slot 2 "r" global buffer<void> read number 5
slot 3 "s" shared array<int,4> read_write number 16777216 atomics
slot 4 "t" scratch array<float,4> read_write number 16777217 owner 0
slot 5 "c" constant array<float,2> read number 16777218 data array<float,2>(1, 2)
function 0 "k" () -> () )";

static KernelDescriptor kernel(const std::string& body, const std::string& rest = "") {
  return parse_kernel(kSlots + std::string("{\n") + body + "}\n" + rest);
}
static std::string rules(const std::vector<Violation>& found) {
  std::string all;
  for (const Violation& v : found) all += (all.empty() ? "" : " ") + v.rule;
  return all;
}
static std::string rules(const std::string& body, const std::string& rest = "") {
  return rules(verify(kernel(body, rest)));
}

TEST(well_formed) {
  CHECK_EQ(rules("Return\n"), "");
  CHECK_EQ(rules(R"(
    %0: vector<uint,3> = DispatchId
    %1: uint = Extract %0, 0
    %2: float = Load $0, %1
    %3: bool = Less %2, float(1)
    %4: float = If %3, {
      %5: float = Add %2, %2
      Yield %5
    }, {
      Return
    }
    %6: uint, %7: float = Loop (%8: uint) {
      %9: bool = Less %8, %1
      If %9, { Yield }, { Break %8, %4 }
      Switch %8, { Yield }, uint(1), uint(2), { Continue %8 }
      %10: uint = Add %8, uint(1)
      Continue %10
    }, uint(0)
    Store $0, %7, %6
    Store $4, %7, 2
    %11: int = AtomicAdd $3, int(1), 3
    %12: float = Load $5, %11
    %13: vector<float,2> = ByteLoad $2, %1
    %14: float = Call &1, %12
    Return
)",
                 "function 1 \"f\" (%20: float) -> (float) {\nReturn %20\n}\n"),
           "");
}

TEST(dominance) {
  CHECK_EQ(rules("%0: float = Add %1, %1\n%1: float = Neg float(1)\nReturn\n"),
           "dominance dominance");
  CHECK_EQ(rules("If bool(true), {\n%0: float = Neg float(1)\nYield\n}, {\nYield\n}\n%1: float = "
                 "Neg %0\nReturn\n"),
           "dominance");
  CHECK_EQ(rules("If bool(true), {\n%0: float = Neg float(1)\nYield\n}, {\n%1: float = Neg "
                 "%0\nYield\n}\nReturn\n"),
           "dominance");
  // A child may use what was made before its operation, not after.
  CHECK_EQ(rules("%0: float = Neg float(1)\nIf bool(true), {\n%1: float = Neg %0\nYield\n}, "
                 "{\nYield\n}\nReturn\n"),
           "");
  CHECK_EQ(rules("If bool(true), {\n%1: float = Neg %0\nYield\n}, {\nYield\n}\n%0: float = Neg "
                 "float(1)\nReturn\n"),
           "dominance");
  // An operation's own result inside its body.
  CHECK_EQ(rules("%0: float = If bool(true), {\nYield %0\n}, {\nYield float(1)\n}\nReturn\n"),
           "dominance");
  CHECK_EQ(rules("%0: float = Neg float(1)\nReturn\n",
                 "function 1 \"f\" () -> (float) {\nReturn %0\n}\n"),
           "dominance");
}

TEST(terminators) {
  CHECK_EQ(rules("SyncBlock\n"), "terminator");
  CHECK_EQ(rules(""), "terminator");
  CHECK_EQ(rules("Return\nReturn\n"), "terminator");
  CHECK_EQ(rules("Yield\n"), "terminator");
  CHECK_EQ(rules("Break\n"), "terminator");
  CHECK_EQ(rules("Continue\n"), "terminator");
  CHECK_EQ(rules("Loop {\nYield\n}\nReturn\n"), "terminator");
  CHECK_EQ(rules("If bool(true), {\nBreak\n}, {\nYield\n}\nReturn\n"), "terminator");
}

TEST(carried_values) {
  CHECK_EQ(
      rules("%0: float = If bool(true), {\nYield\n}, {\nYield float(1), float(2)\n}\nReturn\n"),
      "carried carried");
  CHECK_EQ(rules("%0: float = If bool(true), {\nYield int(1)\n}, {\nYield float(1)\n}\nReturn\n"),
           "carried");
  CHECK_EQ(rules("Loop (%0: float) {\nBreak\n}\nReturn\n"), "carried");
  CHECK_EQ(rules("Loop (%0: float) {\nBreak\n}, int(1)\nReturn\n"), "carried");
  CHECK_EQ(rules("Loop (%0: float) {\nContinue\n}, float(1)\nReturn\n"), "carried");
  CHECK_EQ(rules("%1: int = Loop {\nBreak float(1)\n}\nReturn\n"), "carried");
  CHECK_EQ(rules("Return int(1)\n"), "carried");
  CHECK_EQ(rules("Return\n", "function 1 \"f\" () -> (float) {\nReturn\n}\n"), "carried");
}

TEST(operand_counts_and_kinds) {
  CHECK_EQ(rules("%0: float = Add float(1)\nReturn\n"), "operand_count");
  CHECK_EQ(rules("%0: float = Add float(1), float(1), float(1)\nReturn\n"), "operand_count");
  CHECK_EQ(rules("%0: float = Add float(1), $0\nReturn\n"), "operand_kind");
  CHECK_EQ(rules("%0: float, %1: float = Add float(1), float(1)\nReturn\n"), "result_count");
  CHECK_EQ(rules("SyncBlock int(1)\nReturn\n"), "operand_count");
  CHECK_EQ(rules("%0: float = Load int(1)\nReturn\n"), "operand_kind");
  CHECK_EQ(rules("Store $0\nReturn\n"), "operand_count");
  CHECK_EQ(rules("%0: int = AtomicCompareExchange $3, int(1)\nReturn\n"), "operand_count");
  CHECK_EQ(rules("If bool(true), {\nYield\n}\nReturn\n"), "operand_count");
  CHECK_EQ(rules("%0: vector<float,2> = Construct float(1)\nReturn\n"), "operand_count");
}

TEST(types) {
  CHECK_EQ(rules("%0: float = Add float(1), int(1)\nReturn\n"), "operand_type");
  CHECK_EQ(rules("%0: vector<float,2> = Add float(1), float(1)\nReturn\n"), "operand_type");
  CHECK_EQ(rules("%0: float = Less float(1), float(1)\nReturn\n"), "operand_type");
  CHECK_EQ(rules("%0: int = Div int(1), int(1)\nReturn\n"), "operand_type");
  CHECK_EQ(rules("If int(1), {\nYield\n}, {\nYield\n}\nReturn\n"), "operand_type");
  CHECK_EQ(rules("%0: int = Load $0, uint(1)\nReturn\n"), "operand_type");
  CHECK_EQ(rules("%0: uint = DispatchId\nReturn\n"), "operand_type");
  CHECK_EQ(rules("%0: int = Bitcast double(1)\nReturn\n"), "operand_type");
  CHECK_EQ(rules("%0: bool = Sqrt bool(true)\nReturn\n"), "operand_type");
  CHECK_EQ(rules("%0: float = Call &1, int(1)\nReturn\n",
                 "function 1 \"f\" (%9: float) -> (float) {\nReturn %9\n}\n"),
           "operand_type");
  CHECK_EQ(rules("%0: float = Sin vector<float,2>(zero)\nReturn\n"), "operand_type");
}

TEST(rows_that_lowering_replaces) {
  CHECK_EQ(rules("%0: bool = And bool(true), bool(true)\nReturn\n"), "level");
  CHECK_EQ(rules("%0: float = Make float(1)\nReturn\n"), "level");
  CHECK_EQ(rules("%0: ulong = AddressOf\nReturn\n"), "level");
}

TEST(memory_access) {
  CHECK_EQ(rules("Store $1, uint(1)\nReturn\n"), "slot_class");
  CHECK_EQ(rules("Store $5, float(1), 0\nReturn\n"), "slot_class");
  CHECK_EQ(rules("%0: float = Load $0\nReturn\n"), "chain");
  CHECK_EQ(rules("%0: float = Load $4, 4\nReturn\n"), "chain");
  CHECK_EQ(rules("%0: float = Load $4, float(1)\nReturn\n"), "chain");
  CHECK_EQ(rules("%0: float = Load $4, short(1)\nReturn\n"), "chain");
  CHECK_EQ(rules("%0: float = Load $0, int(1), 0\nReturn\n"), "chain");
  CHECK_EQ(rules("%0: uint = AtomicAdd $1, uint(1)\nReturn\n"), "slot_class");
  CHECK_EQ(rules("%0: float = AtomicAdd $4, float(1), 0\nReturn\n"), "slot_class");
  CHECK_EQ(rules("%0: float = AtomicAnd $0, float(1), int(0)\nReturn\n"), "operand_type");
  CHECK_EQ(rules("%0: float = Load $2, uint(0)\nReturn\n"), "chain");
  CHECK_EQ(rules("ByteStore $2, float(1), uint(0)\nReturn\n"), "slot_access");
  CHECK_EQ(rules("%0: uint = BufferLength $0\nReturn\n"), "slot_access");
  CHECK_EQ(rules("%0: uint = BufferLength $1\nReturn\n"), "slot_class");
  KernelDescriptor d = kernel("Store $0, float(1), int(0)\n%0: float = Load $0, int(0)\nReturn\n");
  d.slots[0].access = Access::Read;
  CHECK_EQ(rules(verify(d)), "slot_access");
  d.slots[0].access = Access::Write;
  CHECK_EQ(rules(verify(d)), "slot_access");
}

TEST(scratch_belongs_to_its_function) {
  CHECK_EQ(
      rules("Return\n", "function 1 \"f\" () -> (float) {\n%0: float = Load $4, 0\nReturn %0\n}\n"),
      "slot_owner");
}

TEST(missing_things) {
  CHECK_EQ(rules("Store $9, float(1), int(0)\nReturn\n"), "operand_exists");
  CHECK_EQ(rules("Call &7\nReturn\n"), "operand_exists");
  KernelDescriptor d = kernel("%0: float = Neg float(1)\nReturn\n");
  d.operands[0] = Operand::of(ValueId(999u));
  CHECK_EQ(rules(verify(d)), "operand_exists");
  d.operands[0] = Operand::of(ValueId());
  CHECK_EQ(rules(verify(d)), "operand_exists");
  d = kernel("Return\n");
  d.functions.clear();
  CHECK(rules(verify(d)).find("function_signature") != std::string::npos);
}

TEST(ids_are_defined_once) {
  KernelDescriptor d = kernel("%0: float = Neg float(1)\n%1: float = Neg %0\nReturn\n");
  d.ops[1].first_result = d.ops[0].first_result;
  CHECK_EQ(rules(verify(d)), "value_ids");
  d = kernel("%0: float = Neg float(1)\nReturn\n");
  d.bodies[0].ops.insert(d.bodies[0].ops.begin(), d.bodies[0].ops[0]);
  CHECK_EQ(rules(verify(d)), "operation_shared");
  d = kernel("If bool(true), {\nYield\n}, {\nYield\n}\nReturn\n");
  d.operands[2] = d.operands[1];
  CHECK_EQ(rules(verify(d)), "body_shared body_shared");  // used twice; the other not at all
  d = kernel("If bool(true), {\nYield\n}, {\nYield\n}\nReturn\n");
  d.operands[2] = Operand::of(d.functions[0].body);  // a body within itself
  CHECK_EQ(rules(verify(d)), "body_shared body_shared");
}

TEST(call_cycles) {
  CHECK_EQ(rules("Call &0\nReturn\n"), "call");
  CHECK_EQ(rules("Return\n",
                 "function 1 \"f\" () -> () {\nCall &2\nReturn\n}\nfunction 2 \"g\" () -> () "
                 "{\nCall &1\nReturn\n}\n"),
           "call_cycle");
  CHECK_EQ(rules("Return\n", "function 1 \"f\" () -> () {\nCall &1\nReturn\n}\n"), "call_cycle");
}

TEST(switches) {
  CHECK_EQ(rules("Switch int(1), {\nYield\n}, int(1), {\nYield\n}, int(1), {\nYield\n}\nReturn\n"),
           "switch_constants");
  CHECK_EQ(rules("Switch int(1), {\nYield\n}, uint(1), {\nYield\n}\nReturn\n"), "operand_type");
  CHECK_EQ(rules("Switch int(1), {\nYield\n}, int(1)\nReturn\n"), "operand_kind");
  CHECK_EQ(rules("Switch int(1), {\nYield\n}, {\nYield\n}\nReturn\n"), "operand_kind");
  CHECK_EQ(rules("%0: int = Neg int(1)\nSwitch %0, {\nYield\n}, %0, {\nYield\n}\nReturn\n"),
           "operand_kind");
}

TEST(slots) {
  auto with = [](auto change) {
    KernelDescriptor d = kernel("Return\n");
    change(d);
    return rules(verify(d));
  };
  CHECK_EQ(with([](auto& d) { d.slots[1].number = 0; }), "slot_number");
  CHECK_EQ(with([](auto& d) { d.slots[0].number = kInternalSlotBase + 9; }), "slot_number");
  CHECK_EQ(with([](auto& d) { d.slots[3].number = 7; }), "slot_number");
  CHECK_EQ(with([](auto& d) { d.slots[0].name = "__lcpy_trap"; }), "reserved_name");
  CHECK_EQ(with([](auto& d) { d.slots[1].access = Access::ReadWrite; }), "slot_class");
  CHECK_EQ(with([](auto& d) { d.slots[4].owner = {}; }), "slot_owner");
  CHECK_EQ(with([](auto& d) { d.slots[4].owner = FunctionId(5u); }), "slot_owner");
  CHECK_EQ(with([](auto& d) { d.slots[5].data.pop_back(); }), "slot_data");
  CHECK_EQ(with([](auto& d) { d.slots[0].type = Type::of(Scalar::Float32); }), "slot_type");
  CHECK_EQ(with([](auto& d) { std::swap(d.slots[2], d.slots[3]); }), "slot_order");
  CHECK_EQ(with([](auto& d) { d.slots[4].atomics = true; }), "slot_class");
  CHECK_EQ(with([](auto& d) { d.block_size[2] = 0; }), "block_size");
}

TEST(nesting_is_limited) {
  auto nest = [](int depth) {
    std::string open, close;
    for (int i = 1; i < depth; i++)
      open += "If bool(true), {\n", close += "Yield\n}, {\nYield\n}\n";
    return rules(open + close + "Return\n");
  };
  CHECK_EQ(nest(64), "");
  CHECK_EQ(nest(65), "nesting_depth nesting_depth");  // both arms of the deepest If
}

TEST(all_violations_with_paths) {
  const auto found = verify(kernel(R"(
    %0: float = Add float(1), int(1)
    Switch int(1), { Yield }, int(4), { Yield }, int(5), {
      Loop {
        If bool(true), { Yield }, {
          Store $1, uint(1)
          Break
        }
        Continue int(1)
      }
      Yield
    }
    Return
)"));
  CHECK_EQ(rules(found), "operand_type slot_class carried");
  CHECK_EQ(found[0].path, "function 0 / op 0 Add");
  CHECK_EQ(found[1].path,
           "function 0 / op 1 Switch / case 1 / op 0 Loop / body / op 0 If / else / op 0 Store");
  CHECK_EQ(found[2].path, "function 0 / op 1 Switch / case 1 / op 0 Loop / body / op 1 Continue");
  CHECK_THROWS(verify_or_throw(kernel("SyncBlock\n"), "test"), BugError);
}

TEST(divergent_barriers_that_are_certain) {
  const std::string id = "%0: vector<uint,3> = ThreadId\n%1: uint = Extract %0, 0\n";
  const std::string under = ", {\nSyncBlock\nYield\n}, {\nYield\n}\nReturn\n";
  CHECK_EQ(rules(id + "%2: bool = Less %1, uint(4)\nIf %2" + under), "divergent_barrier");
  CHECK_EQ(rules(id + "%2: bool = Less %1, uint(8)\nIf %2" + under), "");
  CHECK_EQ(rules(id + "%3: uint = Load $1\n%2: bool = Less %1, %3\nIf %2" + under), "");
  CHECK_EQ(
      rules(id +
            "%2: bool = Less %1, uint(4)\nIf %2, {\nReturn\n}, {\nYield\n}\nSyncBlock\nReturn\n"),
      "divergent_barrier");
}
