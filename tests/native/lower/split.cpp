// pass_split as text: a kernel before and after, cleaned up; what stays whole has a case too.
#include "check.h"
#include "lower/lower.h"

using namespace lcpy;

namespace {

const char* const kHead = R"(kernel "k" block 64 1 1 math ieee
slot 0 "p" global buffer<$P> read_write number 0
slot 1 "n" uniform int read number 1
slot 2 "o" global buffer<int> read_write number 2
slot 3 "q" global buffer<$N> read_write number 3
)";
// Two structs, a vector and an array, spelled short.
const std::pair<const char*, const char*> kSigns[] = {
    {"$P", "struct<8,float,vector<float,2>>"},
    {"$N", "struct<8,int,struct<8,float,vector<float,2>>,array<float,3>>"},
    {"$V", "vector<float,2>"},
    {"$A", "array<float,3>"}};

std::string spelled(std::string text) {
  for (const auto& [sign, type] : kSigns)
    for (size_t at = 0; (at = text.find(sign, at)) != std::string::npos;) text.replace(at, 2, type);
  return text;
}

KernelDescriptor parsed(const std::string& functions) {
  KernelDescriptor d = parse_kernel(spelled(kHead + functions));
  verify_or_throw(d, "the test's text");
  return d;
}

std::string functions_of(const KernelDescriptor& d) {
  const std::string text = to_text(d);
  return text.substr(text.find("function 0"));
}

std::string split(const std::string& functions) {
  KernelDescriptor d = parsed(functions);
  pass_split(d);
  verify_or_throw(d, "split");
  return functions_of(d);
}

std::string in_kernel(const std::string& body) {
  return "function 0 \"k\" () -> () {\n" + body + "}\n";
}

}  // namespace

TEST(split_carried_values_and_results_of_loops) {
  CHECK_EQ(split(in_kernel(R"(  %0: $P = Load $0, 0
  %1: int = Load $1
  %2: $P, %3: int = Loop (%4: int, %5: $P) {
    %6: bool = Less %4, %1
    If %6, {
      Yield
    }, {
      Break %5, %4
    }
    %7: float = Extract %5, 0
    %8: float = Mul %7, %7
    %9: $P = Insert %5, %8, 0
    %10: $P = Insert %9, %7, 1, 1
    %11: int = Add %4, int(1)
    Continue %11, %10
  }, int(0), %0
  Store $0, %2, 0
  Store $2, %3, 0
  Return
)")),
           spelled(in_kernel(R"(  %0: $P = Load $0, 0
  %1: int = Load $1
  %2: float = Extract %0, 0
  %3: $V = Extract %0, 1
  %4: float, %5: $V, %6: int = Loop (%7: int, %8: float, %9: $V) {
    %10: bool = Less %7, %1
    If %10, {
      Yield
    }, {
      Break %8, %9, %7
    }
    %11: float = Mul %8, %8
    %12: $V = Insert %9, %8, 1
    %13: int = Add %7, int(1)
    Continue %13, %11, %12
  }, int(0), %2, %3
  %14: $P = Construct %4, %5
  Store $0, %14, 0
  Store $2, %6, 0
  Return
)")));
}

TEST(split_members_that_a_loop_leaves_alone_are_not_carried) {
  const std::string text = split(in_kernel(R"(  %0: int = Load $1
  %1: $P = Loop (%2: int, %3: $P) {
    %4: bool = Less %2, %0
    If %4, {
      Yield
    }, {
      Break %3
    }
    %5: float = Extract %3, 0
    %6: float = Add %5, float(1)
    %7: $P = Insert %3, %6, 0
    %8: int = Add %2, int(1)
    Continue %8, %7
  }, int(0), $P(1, (2, 3))
  %9: float = Extract %1, 0
  %10: int = Convert %9
  Store $2, %10, 1
  %11: float = Extract %1, 1, 1
  %12: int = Convert %11
  Store $2, %12, 2
  Return
)"));
  CHECK(text.find("Loop (%3: int, %4: float) {") != std::string::npos);
  CHECK(text.find("Break %4, vector<float,2>(2, 3)") != std::string::npos);
  CHECK(text.find("struct") == std::string::npos);
}

TEST(split_results_of_branches) {
  CHECK_EQ(split(in_kernel(R"(  %0: int = Load $1
  %1: bool = Less %0, int(0)
  %2: int, %3: $P = If %1, {
    %4: $P = Load $0, %0
    Store $2, int(1), 0
    Yield int(7), %4
  }, {
    %5: float = Convert %0
    %6: $V = Construct %5, float(1)
    %7: $P = Construct %5, %6
    Yield %0, %7
  }
  %8: $V = Extract %3, 1
  %9: $P = Construct float(0), %8
  Store $0, %9, %2
  Return
)")),
           spelled(in_kernel(R"(  %0: int = Load $1
  %1: bool = Less %0, int(0)
  %2: int, %3: $V = If %1, {
    %4: $P = Load $0, %0
    Store $2, int(1), 0
    %5: $V = Extract %4, 1
    Yield int(7), %5
  }, {
    %6: float = Convert %0
    %7: $V = Construct %6, float(1)
    Yield %0, %7
  }
  %8: $P = Construct float(0), %3
  Store $0, %8, %2
  Return
)")));
}

TEST(split_switches_and_choices) {
  CHECK_EQ(split(in_kernel(R"(  %0: int = Load $1
  %1: $P = Load $0, 0
  %2: $P = Switch %0, {
    Yield $P(zero)
  }, int(1), int(2), {
    Store $2, int(1), 0
    Yield %1
  }
  %3: bool = Less %0, int(0)
  %4: $P = Select %3, %1, %2
  %5: float = Extract %4, 0
  %6: int = Convert %5
  Store $2, %6, 1
  Return
)")),
           spelled(in_kernel(R"(  %0: int = Load $1
  %1: $P = Load $0, 0
  %2: float = Switch %0, {
    Yield float(0)
  }, int(1), int(2), {
    Store $2, int(1), 0
    %3: float = Extract %1, 0
    Yield %3
  }
  %4: bool = Less %0, int(0)
  %5: float = Extract %1, 0
  %6: float = Select %4, %5, %2
  %7: int = Convert %6
  Store $2, %7, 1
  Return
)")));
}

TEST(split_nested_structs_keep_arrays_whole) {
  CHECK_EQ(split(in_kernel(R"(  %0: int = Load $1
  %1: $N = Load $3, 0
  %2: $N = Loop (%3: int, %4: $N) {
    %5: bool = Less %3, %0
    If %5, {
      Yield
    }, {
      Break %4
    }
    %6: $P = Extract %4, 1
    %7: float = Extract %6, 1, 0
    %8: $P = Load $0, %3
    %9: $N = Insert %4, %8, 1
    %10: $N = Insert %9, %7, 2, 1
    %11: $N = Insert %10, %7, 1, 0
    %12: int = Add %3, int(1)
    Continue %12, %11
  }, int(0), %1
  Store $3, %2, 1
  Return
)")),
           spelled(in_kernel(R"(  %0: int = Load $1
  %1: $N = Load $3, 0
  %2: int = Extract %1, 0
  %3: float = Extract %1, 1, 0
  %4: $V = Extract %1, 1, 1
  %5: array<float,3> = Extract %1, 2
  %6: int, %7: float, %8: $V, %9: $A = Loop (%10: int, %11: float, %12: $V, %13: $A) {
    %14: bool = Less %10, %0
    If %14, {
      Yield
    }, {
      Break %2, %11, %12, %13
    }
    %15: float = Extract %12, 0
    %16: $P = Load $0, %10
    %17: $V = Extract %16, 1
    %18: array<float,3> = Insert %13, %15, 1
    %19: int = Add %10, int(1)
    Continue %19, %15, %17, %18
  }, int(0), %3, %4, %5
  %20: $P = Construct %7, %8
  %21: $N = Construct %6, %20, %9
  Store $3, %21, 1
  Return
)")));
}

TEST(split_long_chains_of_changes_leave_no_struct) {
  std::string body = "  %0: int = Load $1\n  %1: $P = Load $0, 0\n  %2: $P = Loop (%3: $P) {\n";
  int last = 3;
  for (int i = 0; i < 12; i++) {
    const std::string from = std::to_string(last), part = std::to_string(last + 1);
    body += "    %" + part + ": float = Extract %" + from + ", 1, 0\n";
    const std::string to = std::to_string(last + 2), path = i % 2 ? "0" : "1, 1";
    body += "    %" + to + ": $P = Insert %" + from + ", %" + part + ", " + path + "\n";
    last += 2;
  }
  body += R"(    Store $2, int(1), 0
    If bool(true), {
      Break %)" +
          std::to_string(last) + R"(
    }, {
      Yield
    }
    Continue %)" +
          std::to_string(last) + "\n  }, %1\n  Store $0, %2, 1\n  Return\n";
  const std::string text = split(in_kernel(body));
  CHECK(text.find(", 1, ") == std::string::npos);  // nothing by a path into the struct
  size_t whole = 0;                                // what is loaded and what is stored
  for (size_t at = 0; (at = text.find("struct<", at)) != std::string::npos; at++) whole++;
  CHECK_EQ(whole, 2u);
}

TEST(split_functions) {
  // Several returns, several results, called twice, and one that calls another.
  CHECK_EQ(split(in_kernel(R"(  %0: $P = Load $0, 0
  %1: int, %2: $P = Call &1, int(3), %0
  %3: int, %4: $P = Call &1, %1, %2
  Store $0, %4, 1
  Store $2, %3, 0
  Return
)") + R"(function 1 "f" (%5: int, %6: $P) -> (int, $P) {
  %7: bool = Less %5, int(0)
  If %7, {
    Return %5, %6
  }, {
    Yield
  }
  %8: $P = Call &2, %6, %5
  Return int(1), %8
}
function 2 "g" (%9: $P, %10: int) -> ($P) {
  %11: float = Convert %10
  %12: $P = Insert %9, %11, 0
  Return %12
}
)"),
           spelled(in_kernel(R"(  %0: $P = Load $0, 0
  %1: float = Extract %0, 0
  %2: $V = Extract %0, 1
  %3: int, %4: float, %5: $V = Call &1, int(3), %1, %2
  %6: int, %7: float, %8: $V = Call &1, %3, %4, %5
  %9: $P = Construct %7, %8
  Store $0, %9, 1
  Store $2, %6, 0
  Return
)") + R"(function 1 "f" (%10: int, %11: float, %12: $V) -> (int, float, $V) {
  %13: bool = Less %10, int(0)
  If %13, {
    Return %10, %11, %12
  }, {
    Yield
  }
  %14: float, %15: $V = Call &2, %11, %12, %10
  Return int(1), %14, %15
}
function 2 "g" (%16: float, %17: $V, %18: int) -> (float, vector<float,2>) {
  %19: float = Convert %18
  Return %19, %17
}
)"));
}

TEST(split_leaves_external_functions) {
  const std::string external =
      R"(external 0 "fast" returns body (value read 0) opencl "P fast(P p);"
)";
  const std::string functions = in_kernel(R"(  %0: int = Load $1
  %1: $P = Load $0, 0
  %2: bool = Less %0, int(0)
  %3: $P = If %2, {
    %4: $P = External &1, %1
    Yield %4
  }, {
    Yield %1
  }
  %5: $P = External &1, %3
  Store $0, %5, 0
  Return
)") + R"(function 1 "fast" (%6: $P) -> ($P) external 0 {
  %7: float = Extract %6, 0
  %8: $P = Insert %6, %7, 1, 0
  Return %8
}
)";
  KernelDescriptor d = parsed(external + functions);
  pass_split(d);
  verify_or_throw(d, "split");
  CHECK_EQ(functions_of(d), spelled(in_kernel(R"(  %0: int = Load $1
  %1: $P = Load $0, 0
  %2: bool = Less %0, int(0)
  %3: float, %4: $V = If %2, {
    %5: $P = External &1, %1
    %6: float = Extract %5, 0
    %7: $V = Extract %5, 1
    Yield %6, %7
  }, {
    %8: float = Extract %1, 0
    %9: $V = Extract %1, 1
    Yield %8, %9
  }
  %10: $P = Construct %3, %4
  %11: $P = External &1, %10
  Store $0, %11, 0
  Return
)") + R"(function 1 "fast" (%12: $P) -> ($P) external 0 {
  %13: float = Extract %12, 0
  %14: $V = Extract %12, 1
  %15: $V = Insert %14, %13, 0
  %16: $P = Construct %13, %15
  Return %16
}
)"));
}

TEST(split_leaves_kernels_without_structs_that_flow) {
  // Not even cleaned up: what adds nothing would go.
  const std::string text = in_kernel(R"(  %0: int = Load $1
  %1: int = Add %0, int(0)
  %2: $P = Load $0, %1
  %3: $P = Insert %2, float(0), 0
  Store $0, %3, 0
  Return
)");
  CHECK_EQ(split(text), spelled(text));
}

TEST(split_limits) {
  const auto structure = [](int members) {
    std::string t = "struct<4";
    for (int i = 0; i < members; i++) t += ",float";
    return t + ">";
  };
  const auto branch = [&](int members) {
    const std::string t = structure(members);
    return split(in_kernel("  %0: int = Load $1\n  %1: bool = Less %0, int(0)\n  %2: " + t +
                           " = If %1, {\n    Store $2, int(1), 0\n    Yield " + t +
                           "(zero)\n  }, {\n    Yield " + t +
                           "(zero)\n  }\n  %3: float = "
                           "Extract %2, 1\n  %4: int = Convert %3\n  Store $2, %4, 0\n  "
                           "Return\n"));
  };
  CHECK(branch(64).find("struct") == std::string::npos);
  CHECK(branch(65).find("struct") != std::string::npos);
  // Two of these are as many parameters and results as are allowed; an int more, and none splits.
  const auto function = [&](int more) {
    const std::string t = structure(64), n = std::to_string(7 + more);
    std::string ints, zeros;
    for (int i = 0; i < more; i++) {
      ints += ", %" + std::to_string(6 + i) + ": int";
      zeros += ", %0";
    }
    return split(in_kernel("  %0: int = Load $1\n  %1: " + t + " = Call &1, " + t + "(zero)" +
                           zeros +
                           "\n  %2: float = Extract %1, 1\n  %3: int = Convert %2\n  "
                           "Store $2, %3, 0\n  Return\n") +
                 "function 1 \"f\" (%5: " + t + ints + ") -> (" + t + ") {\n  %" + n + ": " + t +
                 " = Insert %5, float(2), 3\n  Return %" + n + "\n}\n");
  };
  CHECK(function(0).find("struct") == std::string::npos);
  CHECK(function(1).find("-> (struct<") != std::string::npos);
}
