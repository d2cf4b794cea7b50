// Each pass as text: a kernel before and after. What a pass must leave alone has a case too.
#include "base/error.h"
#include "check.h"
#include "lower/lower.h"

using namespace lcpy;

namespace {

const char* const kHead = R"(kernel "k" block 64 1 1 math ieee
slot 0 "b" global buffer<float> read_write number 0
slot 1 "n" uniform int read number 1
slot 2 "u" uniform uint read number 2
slot 3 "f" uniform float read number 3
slot 4 "o" global buffer<int> read_write number 4
function 0 "k" () -> () )";

using Pass = void (*)(KernelDescriptor&);

KernelDescriptor parse(const std::string& body, const std::string& rest = "") {
  KernelDescriptor d = parse_kernel(kHead + ("{\n" + body) + "}\n" + rest);
  verify_or_throw(d, "the test's text");
  return d;
}

// The function's body after the passes, dead code dropped, without the outer braces' indentation.
std::string after(std::initializer_list<Pass> passes, const std::string& body,
                  const std::string& rest = "") {
  KernelDescriptor d = parse(body, rest);
  for (Pass p : passes) {
    p(d);
    verify_or_throw(d, "a pass");
  }
  pass_dead(d);
  verify_or_throw(d, "dead");
  std::string text = to_text(d);
  text = text.substr(text.find("-> () {\n") + 8);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    if (line.starts_with("  ")) line = line.substr(2);
    out += line + "\n";
    at = end + 1;
  }
  return out.substr(0, out.rfind("}\n"));
}

// What int operand x, uint y, float z (loaded) and `line` give: the value stored, as text of its
// operation, or "%x" where it is the operand itself.
std::string simplified(const std::string& type, const std::string& line) {
  const bool number = type != "bool";
  const std::string text = after(
      {pass_simplify}, "%0: int = Load $1\n%1: uint = Load $2\n%2: float = Load $3\n%3: " + type +
                           " = " + line + "\n" +
                           (type == "float" ? "Store $0, %3, 0\n"
                            : type == "int" ? "Store $4, %3, 0\n"
                                            : "") +
                           (type == "uint" ? "%4: int = Convert %3\nStore $4, %4, 0\n" : "") +
                           (number ? "" : "%4: int = Convert %3\nStore $4, %4, 0\n") + "Return\n");
  return text;
}
bool becomes(const std::string& type, const std::string& line, const std::string& wanted) {
  const std::string text = simplified(type, line);
  if (text.find(wanted) != std::string::npos) return true;
  lcpy::test::fail(__FILE__, __LINE__, line + " gave\n" + text + "instead of " + wanted);
}

}  // namespace

TEST(fold_gives_the_interpreters_bits) {
  CHECK_EQ(
      after(
          {pass_fold},
          "%0: int = FloorDiv int(-5), int(3)\nStore $4, %0, 0\n%1: int = FloorMod int(7), int(0)\n"
          "Store $4, %1, 1\n%2: float = Mul float(0.1), float(3)\nStore $0, %2, 0\n"
          "%3: float = Mul float(-0), float(0)\nStore $0, %3, 1\nReturn\n"),
      "Store $4, int(-2), 0\nStore $4, int(0), 1\nStore $0, float(0.3), 0\nStore $0, float(-0), "
      "1\nReturn\n");
  CHECK_EQ(after({pass_fold}, "%0: float = Sin float(1)\nStore $0, %0, 0\nReturn\n"),
           "%0: float = Sin float(1)\nStore $0, %0, 0\nReturn\n");
}

TEST(simplify_integers) {
  CHECK(becomes("int", "Add %0, int(0)", "Store $4, %0, 0"));
  CHECK(becomes("int", "Mul int(0), %0", "Store $4, int(0), 0"));
  CHECK(becomes("int", "Sub %0, %0", "Store $4, int(0), 0"));
  CHECK(becomes("int", "FloorDiv %0, int(8)", "ShrUnchecked %0, int(3)"));
  CHECK(becomes("int", "FloorMod %0, int(8)", "BitAnd %0, int(7)"));
  CHECK(becomes("int", "TruncDiv %0, int(7)", "DivUnchecked %0, int(7)"));
  CHECK(becomes("int", "TruncDiv %0, int(-1)", "TruncDiv %0, int(-1)"));
  CHECK(becomes("int", "TruncRem %0, int(0)", "TruncRem %0, int(0)"));
  CHECK(becomes("uint", "FloorMod %1, uint(10)", "RemUnchecked %0, uint(10)"));
  CHECK(becomes("int", "FloorMod %0, int(1)", "Store $4, int(0), 0"));
  CHECK(becomes("int", "Shl %0, int(33)", "ShlUnchecked %0, int(1)"));
  CHECK(becomes("int", "Shl %0, ulong(32)", "Store $4, %0, 0"));
  CHECK(becomes("int", "BitXor %0, int(-1)", "BitNot %0"));
}

TEST(simplify_floats_keeps_every_bit) {
  CHECK(becomes("float", "Mul %2, float(1)", "Store $0, %0, 0"));
  CHECK(becomes("float", "Mul %2, float(0)", "Mul %0, float(0)"));
  CHECK(becomes("float", "Add %2, float(0)", "Add %0, float(0)"));
  CHECK(becomes("float", "Add %2, float(-0)", "Store $0, %0, 0"));
  CHECK(becomes("float", "Sub %2, float(0)", "Store $0, %0, 0"));
  CHECK(becomes("float", "Sub %2, float(-0)", "Sub %0, float(-0)"));
  CHECK(becomes("float", "Sub %2, %2", "Sub %0, %0"));
  CHECK(becomes("float", "Div %2, %2", "Div %0, %0"));
  CHECK(becomes("float", "Div %2, float(8)", "Mul %0, float(0.125)"));
  CHECK(becomes("float", "Div %2, float(3)", "Div %0, float(3)"));
  CHECK(becomes("float", "FloorMod %2, float(1)", "FloorMod %0, float(1)"));  // R007
  CHECK(becomes("bool", "Equal %2, %2", "Equal %0, %0"));
  CHECK(becomes("bool", "LessEqual %0, %0", "Store $4, int(1), 0"));
}

TEST(simplify_turns_comparisons_round_where_nan_allows) {
  CHECK_EQ(after({pass_simplify},
                 "%0: int = Load $1\n%1: bool = Less %0, int(3)\n%2: bool = BitNot %1\n%3: int = "
                 "Convert %2\nStore $4, %3, 0\nReturn\n"),
           "%0: int = Load $1\n%1: bool = GreaterEqual %0, int(3)\n%2: int = Convert %1\nStore $4, "
           "%2, 0\nReturn\n");
  CHECK(after({pass_simplify},
              "%0: float = Load $3\n%1: bool = Less %0, float(3)\n%2: bool = BitNot %1\n%3: int = "
              "Convert %2\nStore $4, %3, 0\nReturn\n")
            .find("BitNot") != std::string::npos);
}

TEST(simplify_components) {
  CHECK_EQ(after({pass_simplify}, R"(%0: float = Load $3
%1: vector<float,3> = Construct %0, float(1), float(2)
%2: vector<float,3> = Insert %1, float(5), 1
%3: vector<float,2> = Shuffle %2, 1, 0
%4: float = Extract %3, 1
%5: float = Extract %3, 0
Store $0, %4, 0
Store $0, %5, 1
Return
)"),
           "%0: float = Load $3\nStore $0, %0, 0\nStore $0, float(5), 1\nReturn\n");
  CHECK_EQ(after({pass_simplify}, R"(%0: vector<uint,3> = ThreadId
%1: uint = Extract %0, 0
%2: uint = Extract %0, 1
%3: vector<uint,2> = Construct %2, %1
%4: uint = ReduceSum %3
%5: int = Convert %4
Store $4, %5, 0
Return
)"),
           "%0: vector<uint,3> = ThreadId\n%1: vector<uint,2> = Shuffle %0, 1, 0\n%2: uint = "
           "ReduceSum %1\n%3: int = Convert %2\nStore $4, %3, 0\nReturn\n");
}

TEST(simplify_known_branches_and_loops) {
  CHECK_EQ(after({pass_simplify}, R"(%0: int = If bool(true), {
  %1: int = Load $1
  Yield %1
}, {
  Yield int(2)
}
%2: int = Switch int(3), {
  Yield %0
}, int(1), int(3), {
  %3: int = Add %0, int(1)
  Yield %3
}, int(4), {
  Yield int(9)
}
Store $4, %2, 0
Return
)"),
           "%0: int = Load $1\n%1: int = Add %0, int(1)\nStore $4, %1, 0\nReturn\n");
  // A known branch that leaves the loop ends what follows it; a loop that leaves in its first round
  // is no loop.
  CHECK_EQ(after({pass_simplify}, R"(%0: int = Loop (%1: int) {
  %2: int = Add %1, int(1)
  If bool(true), {
    Break %2
  }, {
    Yield
  }
  Store $4, %1, 0
  Continue %2
}, int(4)
Store $4, %0, 0
Return
)"),
           "%0: int = Loop (%1: int) {\n  %2: int = Add %1, int(1)\n  Break %2\n}, int(4)\nStore "
           "$4, %0, 0\nReturn\n");
  CHECK_EQ(after({pass_simplify},
                 "%0: int = Loop (%1: int) {\n%2: int = Load $1\n%3: int = Add %1, %2\nBreak "
                 "%3\n}, int(4)\nStore $4, %0, 0\nReturn\n"),
           "%0: int = Load $1\n%1: int = Add int(4), %0\nStore $4, %1, 0\nReturn\n");
}

TEST(simplify_choices_and_carried_values) {
  CHECK_EQ(after({pass_simplify}, R"(%0: int = Load $1
%1: bool = Less %0, int(0)
%2: int, %3: int = If %1, {
  Yield int(1), %0
}, {
  Yield int(2), %0
}
Store $4, %2, %3
Return
)"),
           "%0: int = Load $1\n%1: bool = Less %0, int(0)\n%2: int = Select %1, int(1), "
           "int(2)\nStore $4, %2, %0\nReturn\n");
  CHECK_EQ(after({pass_simplify}, R"(%0: int = Load $1
%1: int = Loop (%2: int, %3: int) {
  %4: bool = Less %2, %3
  If %4, {
    Yield
  }, {
    Break %3
  }
  Store $4, %2, %2
  %5: int = Add %2, int(1)
  Continue %5, %3
}, int(0), %0
Store $4, %1, 0
Return
)"),
           R"(%0: int = Load $1
%1: int = Loop (%2: int) {
  %3: bool = Less %2, %0
  If %3, {
    Yield
  }, {
    Break %0
  }
  Store $4, %2, %2
  %4: int = Add %2, int(1)
  Continue %4
}, int(0)
Store $4, %1, 0
Return
)");
}

TEST(common_along_dominance_only) {
  CHECK_EQ(after({pass_common}, R"(%0: int = Load $1
%1: int = Load $1
%2: int = Add %0, int(3)
%3: int = Add int(3), %1
%4: bool = Less %2, %3
If %4, {
  %5: int = Mul %0, %0
  Store $4, %5, 0
  Yield
}, {
  %6: int = Mul %0, %0
  Store $4, %6, 1
  Yield
}
%7: int = Sub %0, int(3)
%8: int = Sub int(3), %0
Store $4, %7, %8
Return
)"),
           R"(%0: int = Load $1
%1: int = Add %0, int(3)
%2: bool = Less %1, %1
If %2, {
  %3: int = Mul %0, %0
  Store $4, %3, 0
  Yield
}, {
  %4: int = Mul %0, %0
  Store $4, %4, 1
  Yield
}
%5: int = Sub %0, int(3)
%6: int = Sub int(3), %0
Store $4, %5, %6
Return
)");
  // Loads of memory that may be written stay; so do atomics.
  const std::string loads =
      "%0: float = Load $0, 0\n%1: float = Load $0, 0\n%2: float = Add %0, %1\nStore $0, %2, "
      "1\nReturn\n";
  CHECK_EQ(after({pass_common}, loads), loads);
}

TEST(dead_drops_what_has_no_effect) {
  CHECK_EQ(after({}, R"(%0: float = Load $0, 5
%1: int, %2: int = Loop (%3: int, %4: int) {
  %5: bool = Less %3, int(9)
  If %5, {
    Yield
  }, {
    Break %3, %4
  }
  %6: int = Add %3, int(1)
  %7: int = Mul %4, int(3)
  Continue %6, %7
}, int(0), int(1)
%8: float = Call &1, %0
Store $4, %1, 0
Return
)",
                 "function 1 \"f\" (%20: float) -> (float) {\nReturn %20\n}\n"),
           R"(%0: int = Loop (%1: int) {
  %2: bool = Less %1, int(9)
  If %2, {
    Yield
  }, {
    Break %1
  }
  %3: int = Add %1, int(1)
  Continue %3
}, int(0)
Store $4, %0, 0
Return
)");
  CHECK_EQ(after({}, "Loop {\nContinue\n}\nUnreachable\n"), "Loop {\n  Continue\n}\nUnreachable\n");
}

TEST(dead_drops_memory_that_nothing_reads) {
  KernelDescriptor d = parse_kernel(R"(kernel "k" block 1 1 1 math ieee
slot 0 "b" global buffer<int> read_write number 0 length
slot 1 "t" scratch array<int,4> read_write number 16777216 owner 0
slot 2 "c" constant int read number 16777217 data int(4)
slot 3 "s" shared int read_write number 16777218
slot 4 "used" scratch int read_write number 16777219 owner 0
function 0 "k" () -> () {
  Store $1, int(1), 0
  Store $4, int(3)
  Store $3, int(1)
  %0: int = Load $4
  Store $0, %0, 0
  Return
}
)");
  pass_dead(d);
  verify_or_throw(d, "dead");
  CHECK_EQ(d.slots.size(), 3u);
  CHECK(d.slots[0].access == Access::Write && !d.slots[0].length_used);
  CHECK(d.slots[1].memory == MemoryClass::Shared && d.slots[2].name == "used");
}

TEST(inline_early_returns) {
  CHECK_EQ(
      after({pass_inline}, "%0: int = Load $1\n%1: int = Call &1, %0\nStore $4, %1, 0\nReturn\n",
            R"(function 1 "f" (%20: int) -> (int) {
  %21: bool = Less %20, int(0)
  %22: int = If %21, {
    Return int(7)
  }, {
    %23: int = Add %20, int(1)
    Yield %23
  }
  %24: int = Mul %22, %22
  Return %24
}
)"),
      R"(%0: int = Load $1
%1: bool = Less %0, int(0)
%2: int = If %1, {
  Yield int(7)
}, {
  %3: int = Add %0, int(1)
  %4: int = Mul %3, %3
  Yield %4
}
Store $4, %2, 0
Return
)");
}

TEST(inline_leaves_returns_in_loops_and_two_ways_on) {
  const char* const loop = R"(function 1 "f" (%20: int) -> (int) {
  Loop {
    If bool(true), {
      Return %20
    }, {
      Yield
    }
    Continue
  }
  Unreachable
}
)";
  const std::string call = "%0: int = Load $1\n%1: int = Call &1, %0\nStore $4, %1, 0\nReturn\n";
  CHECK(after({pass_inline}, call, loop).find("Call &1") != std::string::npos);
  const char* const both = R"(function 1 "f" (%20: int) -> (int) {
  %21: bool = Less %20, int(0)
  If %21, {
    %22: bool = Less %20, int(-5)
    If %22, {
      Return int(1)
    }, {
      Yield
    }
    Yield
  }, {
    Yield
  }
  Return %20
}
)";
  CHECK(after({pass_inline}, call, both).find("Call &1") != std::string::npos);
}

TEST(inline_gives_scratch_memory_to_the_caller) {
  KernelDescriptor d = parse_kernel(R"(kernel "k" block 1 1 1 math ieee
slot 0 "b" global buffer<int> read_write number 0
slot 1 "t" scratch array<int,4> read_write number 16777216 owner 1
function 0 "k" () -> () {
  %0: int = Call &1, int(2)
  %1: int = Call &1, %0
  Store $0, %1, 0
  Return
}
function 1 "f" (%2: int) -> (int) {
  Store $1, %2, %2
  %3: int = Load $1, 2
  Return %3
}
)");
  pass_inline(d);
  verify_or_throw(d, "inline");
  pass_dead(d);
  verify_or_throw(d, "dead");
  CHECK_EQ(d.functions.size(), 1u);
  CHECK_EQ(d.slots.size(), 2u);
}

TEST(guard_with_and_without_barriers) {
  const std::string plain = "Store $0, float(1), 0\nReturn\n";
  auto guarded = [](const std::string& body, bool ragged) {
    KernelDescriptor d = parse(body);
    pass_guard(d, ragged);
    verify_or_throw(d, "guard");
    pass_dead(d);
    const std::string text = to_text(d);
    return text.substr(text.find("-> () {\n") + 8);
  };
  CHECK_EQ(guarded(plain, false), "  Store $0, float(1), 0\n  Return\n}\n");
  const std::string test = R"(  %0: vector<uint,3> = DispatchId
  %1: vector<uint,3> = DispatchSize
  %2: uint = Extract %0, 0
  %3: uint = Extract %1, 0
  %4: bool = Less %2, %3
)";
  CHECK_EQ(guarded(plain, true), test +
                                     "  If %4, {\n    Store $0, float(1), 0\n    Yield\n  }, {\n   "
                                     " Yield\n  }\n  Return\n}\n");
  CHECK_EQ(guarded("%0: float = Load $0, 0\nSyncBlock\nStore $0, %0, 1\nReturn\n", true),
           test + R"(  %5: float = If %4, {
    %6: float = Load $0, 0
    Yield %6
  }, {
    Yield float(0)
  }
  SyncBlock
  If %4, {
    Store $0, %5, 1
    Yield
  }, {
    Yield
  }
  Return
}
)");
}

TEST(uniform_values_of_a_block) {
  const KernelDescriptor d = parse(R"(%0: vector<uint,3> = DispatchId
%1: uint = Extract %0, 0
%2: uint = Extract %0, 1
%3: vector<uint,3> = BlockId
%4: int = Load $1
%5: float = Load $0, 0
%6: bool = Less %1, uint(3)
%7: int = If %6, {
  Yield int(1)
}, {
  Yield int(2)
}
%8: int = Loop (%9: int) {
  %10: bool = Less %9, %4
  If %10, {
    Yield
  }, {
    Break %9
  }
  %11: int = Add %9, int(1)
  Continue %11
}, int(0)
%12: int = Loop (%13: int) {
  If %6, {
    Break %13
  }, {
    Yield
  }
  %14: int = Add %13, int(1)
  Continue %14
}, int(0)
Return
)");
  const std::vector<bool> uniform = uniform_values(d);
  auto is = [&](size_t op, uint32_t result = 0) {
    return bool(uniform[d.result(d.op(d.body(d.functions[0].body).ops[op]), result).value]);
  };
  CHECK(!is(0) && !is(1) && is(2) && is(3) && is(4));  // axis 1 of the block is one thread wide
  CHECK(!is(5) && !is(6) && !is(7));
  CHECK(is(8) && !is(9));
}
