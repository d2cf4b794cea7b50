// Shapes of control flow: each is judged, and those with a fast path are checked to take it or not.
#include "base/error.h"
#include "base/source.h"
#include "judge.h"

using namespace lcpy;
using lcpy::spirv::Opcode;
using lcpy::test::count_of;
using lcpy::test::judge;

namespace {

// A kernel over `out` and `n` (%2), the thread's index being %1.
SpirvModule judge_body(const std::string& body) {
  const std::string text = R"(kernel "k" block 64 1 1 math ieee
slot 0 "out" global buffer<uint> write number 0
slot 1 "n" uniform uint read number 1
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: uint = Load $1
  %3: bool = Less %1, %2
)" + body + "}\n";
  const KernelDescriptor d = parse_kernel(text);
  verify_or_throw(d, "the test");
  return judge(d);
}

}  // namespace

TEST(empty_sides_become_select) {
  const SpirvModule m = judge_body(R"(
  %4: uint = If %3, {
    Yield %1
  }, {
    Yield %2
  }
  Store $0, %4, %1
  Return
)");
  CHECK_EQ(count_of(m.words, Opcode::Select), 1u);
  CHECK_EQ(count_of(m.words, Opcode::SelectionMerge), 0u);
}

TEST(few_cheap_operations_are_evaluated_on_both_sides) {
  const SpirvModule m = judge_body(R"(
  %4: uint, %5: float = If %3, {
    %6: uint = Add %1, %2
    %7: float = Convert %6
    Yield %6, %7
  }, {
    %8: uint = Mul %2, %2
    Yield %8, float(1)
  }
  %9: uint = Bitcast %5
  %10: uint = Add %4, %9
  Store $0, %10, %1
  Return
)");
  CHECK_EQ(count_of(m.words, Opcode::Label), 1u);
  CHECK_EQ(count_of(m.words, Opcode::Select), 2u);
}

TEST(what_could_fault_or_reads_memory_is_not_evaluated_on_both_sides) {
  const SpirvModule m = judge_body(R"(
  %4: uint = If %3, {
    %5: uint = DivUnchecked %1, %2
    Yield %5
  }, {
    Yield %2
  } !1
  Store $0, %4, %1
  Return
)");
  CHECK_EQ(count_of(m.words, Opcode::Select), 0u);
  CHECK_EQ(count_of(m.words, Opcode::SelectionMerge), 1u);
}

TEST(one_side_only) {
  const SpirvModule m = judge_body(R"(
  %4: uint = If %3, {
    %5: uint = Add %1, %2
    Yield %5
  }, {
    Yield %2
  } !2
  Store $0, %4, %1
  Return
)");
  CHECK_EQ(count_of(m.words, Opcode::Phi), 1u);
  CHECK_EQ(count_of(m.words, Opcode::Label), 3u);
}

TEST(equal_values_need_no_phi) {
  const SpirvModule m = judge_body(R"(
  %4: uint, %5: uint = If %3, {
    Store $0, %1, %1
    Yield %2, %1
  }, {
    Store $0, %2, %1
    Yield %2, %2
  }
  %6: uint = Add %4, %5
  Store $0, %6, %1
  Return
)");
  CHECK_EQ(count_of(m.words, Opcode::Phi), 1u);
}

TEST(both_sides_leave) {
  judge_body(R"(
  If %3, {
    Return
  }, {
    Store $0, %2, %1
    Return
  }
  Unreachable
)");
}

TEST(one_side_leaves_and_its_value_is_used) {
  const SpirvModule m = judge_body(R"(
  %4: uint = If %3, {
    Return
  }, {
    %5: uint = Add %1, %2
    Yield %5
  }
  Store $0, %4, %1
  Return
)");
  CHECK_EQ(count_of(m.words, Opcode::Phi), 0u);
}

static const char* const kCounted = R"(
  %4: uint = Loop (%5: uint, %6: uint) {
    %7: bool = Less %5, %2
    If %7, {
      Yield
    }, {
      Break %6
    }
    %8: uint = Add %6, %5
    %9: uint = Add %5, uint(1)
    Continue %9, %8
  }, uint(0), uint(0)
  Store $0, %4, %1
  Return
)";

TEST(counted_loop_has_a_conditional_header) {
  const SpirvModule m = judge_body(kCounted);
  CHECK_EQ(count_of(m.words, Opcode::SelectionMerge), 0u);
  CHECK_EQ(count_of(m.words, Opcode::LoopMerge), 1u);
  CHECK_EQ(count_of(m.words, Opcode::Label), 5u);
  CHECK_EQ(count_of(m.words, Opcode::Phi), 2u);
  CHECK_EQ(count_of(m.words, Opcode::Variable), 3u);  // out, arguments, the thread's id
}

TEST(a_test_with_work_in_it_is_no_header) {
  const SpirvModule m = judge_body(R"(
  Loop (%5: uint) {
    %7: bool = Less %5, %2
    If %7, {
      Store $0, %5, %5
      Yield
    }, {
      Break
    }
    %9: uint = Add %5, uint(1)
    Continue %9
  }, uint(0)
  Return
)");
  CHECK_EQ(count_of(m.words, Opcode::SelectionMerge), 1u);
}

TEST(a_header_may_pass_values_on) {
  judge_body(R"(
  %4: uint = Loop (%5: uint) {
    %6: uint = Mul %5, uint(3)
    %7: bool = Less %6, %2
    %8: uint = If %7, {
      Yield %6
    }, {
      Break %6
    }
    %9: uint = Add %8, uint(1)
    Continue %9
  }, uint(0)
  Store $0, %4, %1
  Return
)");
}

TEST(breaks_and_continues_from_within_selections) {
  judge_body(R"(
  %4: uint = Loop (%5: uint, %6: uint) {
    %7: uint = If %3, {
      %10: bool = Less %5, uint(7)
      If %10, {
        Continue uint(8), %6
      }, {
        Yield
      }
      Yield %5
    }, {
      %11: bool = Greater %6, uint(100)
      If %11, {
        Break %6
      }, {
        Yield
      }
      Yield %6
    }
    %8: uint = Add %7, %6
    %9: uint = Add %5, uint(1)
    %12: bool = Less %9, %2
    If %12, {
      Continue %9, %8
    }, {
      Break %8
    }
    Unreachable
  }, uint(0), uint(0)
  Store $0, %4, %1
  Return
)");
}

TEST(continue_in_a_switch_in_a_loop) {
  judge_body(R"(
  %4: uint = Loop (%5: uint, %6: uint) {
    %7: bool = Less %5, %2
    If %7, {
      Yield
    }, {
      Break %6
    }
    %8: uint = Add %5, uint(1)
    %9: uint = Switch %5, {
      %12: uint = Add %6, uint(3)
      Yield %12
    }, uint(0), {
      %13: uint = Add %6, uint(1)
      Continue %8, %13
    }, uint(1), uint(5), {
      Break %6
    }
    %11: uint = Add %9, uint(10)
    Continue %8, %11
  }, uint(0), uint(0)
  Store $0, %4, %1
  Return
)");
}

TEST(switches_of_both_widths) {
  for (const char* type : {"int", "uint", "long", "ulong"}) {
    const std::string t = type;
    judge_body("  %4: " + t + " = Convert %1\n  %5: uint = Switch %4, {\n    Yield uint(9)\n  }, " +
               t + "(1), {\n    Yield uint(3)\n  }, " + t + "(2), " + t +
               "(127), {\n    Yield %2\n  }\n" + "  Store $0, %5, %1\n  Return\n");
  }
  judge_body(R"(
  Switch %1, {
    Yield
  }, uint(4), {
    Return
  }
  Return
)");
}

TEST(a_loop_that_only_breaks_and_one_that_never_does) {
  judge_body(R"(
  %4: uint = Loop (%5: uint) {
    Store $0, %5, %1
    Break %5
  }, uint(3)
  Store $0, %4, %1
  Return
)");
  judge_body(R"(
  Loop (%5: uint) {
    %6: uint = Add %5, uint(1)
    %7: bool = Less %6, %2
    If %7, {
      Yield
    }, {
      Return
    }
    Continue %6
  }, uint(0)
  Unreachable
)");
}

TEST(swapped_carried_values_and_nested_loops) {
  judge_body(R"(
  %4: uint, %5: uint = Loop (%6: uint, %7: uint, %8: uint) {
    %9: bool = Less %8, %2
    If %9, {
      Yield
    }, {
      Break %6, %7
    }
    %10: uint = Loop (%11: uint) {
      %12: bool = Less %11, %8
      If %12, {
        Yield
      }, {
        Break %11
      }
      %13: bool = Equal %11, uint(5)
      If %13, {
        Break %11
      }, {
        Yield
      }
      %14: uint = Add %11, uint(2)
      Continue %14
    }, %7
    %15: uint = Add %8, uint(1)
    Continue %7, %6, %15
  }, uint(1), uint(2), uint(0)
  %16: uint = Add %4, %5
  Store $0, %16, %1
  Return
)");
}

TEST(the_break_of_a_loop_outlives_the_merge_of_a_selection) {
  const SpirvModule m = judge_body(R"(
  %4: uint = Loop (%5: uint) {
    %6: uint = If %3, {
      Yield %5
    }, {
      %7: uint = Add %5, %2
      Break %7
    }
    %8: uint = Mul %6, %2
    %9: bool = Less %8, uint(50)
    If %9, {
      Continue %8
    }, {
      Break uint(77)
    }
    Unreachable
  }, uint(1)
  Store $0, %4, %1
  Return
)");
  CHECK_EQ(count_of(m.words, Opcode::Phi), 2u);
}

TEST(calls_with_none_one_and_several_results) {
  const KernelDescriptor d = parse_kernel(R"(kernel "k" block 64 1 1 math ieee
slot 0 "out" global buffer<float> write number 0
slot 1 "n" uniform float read number 1
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: float = Load $1
  %3: float = Call &1, %2
  %4: float, %5: bool = Call &2, %3, %2
  Call &3, %4
  %6: float = Select %5, %4, %3
  Store $0, %6, %1
  Return
}
function 1 "one" (%7: float) -> (float) {
  %8: float = Load $1
  %9: float = Mul %7, %8
  Return %9
}
function 2 "two" (%10: float, %11: float) -> (float, bool) {
  %12: bool = Less %10, %11
  If %12, {
    Return %11, %12
  }, {
    Yield
  }
  %13: float = Call &1, %10
  Return %13, %12
}
function 3 "none" (%14: float) -> () {
  %15: vector<uint,3> = DispatchId
  %16: uint = Extract %15, 1
  Store $0, %14, %16
  Return
}
)");
  verify_or_throw(d, "the test");
  const SpirvModule m = judge(d);
  CHECK_EQ(count_of(m.words, Opcode::Function), 4u);
  VulkanTarget folded;
  folded.fold = folded.names = folded.lines = true;
  judge(d, folded);
}

TEST(names_and_lines_when_asked) {
  const uint32_t file = register_source("sample.py", "x = 1\ny = 2\n");
  const std::string at = " @" + std::to_string(file) + ":";
  const KernelDescriptor d = parse_kernel(R"(kernel "k" block 64 1 1 math ieee
slot 0 "out" global buffer<uint> write number 0
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId)" + at + R"(1:0-1
  %1: uint = Extract %0, 0)" + at + R"(1:0-1
  Store $0, %1, %1)" + at + R"(2:0-1
  Return
}
)");
  VulkanTarget asked;
  asked.names = asked.lines = true;
  const SpirvModule m = judge(d, asked);
  CHECK_EQ(count_of(m.words, Opcode::String), 1u);
  CHECK_EQ(count_of(m.words, Opcode::Line), 2u);
  CHECK_EQ(count_of(m.words, Opcode::Name), 3u);  // out, the thread's id, the function
}

TEST(strict_mode_forbids_contraction) {
  KernelDescriptor d = parse_kernel(R"(kernel "k" block 64 1 1 math strict
slot 0 "out" global buffer<float> read_write number 0
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: float = Load $0, %1
  %3: float = Mul %2, %2
  %4: float = Add %3, %2
  Store $0, %4, %1
  Return
}
)");
  const auto marks = [](const SpirvModule& m) {
    size_t n = 0;
    for (const auto& i : lcpy::test::instructions(m.words))
      n += i.opcode == Opcode::Decorate &&
           i.operands[1] == static_cast<uint32_t>(spirv::Decoration::NoContraction);
    return n;
  };
  CHECK_EQ(marks(judge(d)), 2u);
  d.math = MathMode::Ieee;
  CHECK_EQ(marks(judge(d)), 0u);
}

TEST(denormals_are_kept_where_the_device_can) {
  KernelDescriptor d = parse_kernel(R"(kernel "k" block 64 1 1 math ieee
slot 0 "out" global buffer<float> read_write number 0
function 0 "k" () -> () {
  %0: float = Load $0, 1
  Store $0, %0, 0
  Return
}
)");
  VulkanTarget target;
  CHECK_EQ(count_of(judge(d, target).words, Opcode::ExecutionMode), 2u);
  target.denorm_preserve = true;
  CHECK_EQ(count_of(judge(d, target).words, Opcode::ExecutionMode), 3u);
  d.math = MathMode::Fast;
  CHECK_EQ(count_of(judge(d, target).words, Opcode::ExecutionMode), 1u);
}

TEST(no_names_unless_asked) { CHECK_EQ(count_of(judge_body(kCounted).words, Opcode::Name), 0u); }
