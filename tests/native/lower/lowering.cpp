// Lowering of each kind of statement as text, before any pass.
#include "base/error.h"
#include "lower/lower_kit.h"

using namespace lcpy;
using namespace lcpy::test;

namespace {

struct One : Program {
  ExprId in = arg("buffer<int>", "in"), n = arg("int", "n");
  ExprId given() { return at_index(in, i(0)); }
  ExprId var(const char* name, int v) {
    ExprId x = local("int", name);
    set(x, i(v));
    return x;
  }
  void result(ExprId v) { set(at_index(in, i(1)), v); }
};

// The kernel's body at opt=0 for a whole dispatch.
std::string body_of(Program& p) {
  std::string text = to_text(lowered(p, 0, false));
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

}  // namespace

TEST(assignments_are_values) {
  One p;
  ExprId x = p.var("x", 1);
  p.set(x, p.add(x, p.n));
  p.set(x, p.mul(x, x));
  p.result(x);
  CHECK_EQ(body_of(p), R"(%0: int = Load $1
%1: int = Add int(1), %0
%2: int = Mul %1, %1
Store $0, %2, 1
Return
)");
}

TEST(if_yields_what_its_arms_change) {
  One p;
  ExprId x = p.var("x", 1), y = p.var("y", 2);
  p.when(
      p.less(p.n, p.i(0)), [&] { p.set(x, p.n); },
      [&] {
        ExprId t = p.var("t", 3);
        p.set(y, t);
      });
  p.result(p.add(x, y));
  CHECK_EQ(body_of(p), R"(%0: int = Load $1
%1: bool = Less %0, int(0)
%2: int, %3: int = If %1, {
  Yield %0, int(2)
}, {
  Yield int(1), int(3)
}
%4: int = Add %2, %3
Store $0, %4, 1
Return
)");
}

TEST(an_arm_that_ends_yields_nothing) {
  One p;
  ExprId x = p.var("x", 1);
  p.when(
      p.less(p.n, p.i(0)),
      [&] {
        p.set(x, p.i(5));
        p.f.return_({}, p.at);
      },
      [&] { p.set(x, p.add(x, p.n)); });
  p.result(x);
  CHECK_EQ(body_of(p), R"(%0: int = Load $1
%1: bool = Less %0, int(0)
%2: int = If %1, {
  Return
}, {
  %3: int = Add int(1), %0
  Yield %3
}
Store $0, %2, 1
Return
)");
}

TEST(loops_carry_what_they_assign) {
  One p;
  ExprId x = p.var("x", 1), y = p.var("y", 2), z = p.var("z", 3);
  p.forever([&] {
    p.when(p.less(p.i(9), x), [&] { p.stop(); });
    p.set(x, p.add(x, y));
    p.when(p.less(x, p.n), [&] { p.next(); });
    p.set(y, z);
  });
  p.result(p.add(x, z));
  CHECK_EQ(body_of(p), R"(%0: int = Load $1
%1: int, %2: int = Loop (%3: int, %4: int) {
  %5: bool = Greater %3, int(9)
  If %5, {
    Break %3, %4
  }, {
    Yield
  }
  %6: int = Add %3, %4
  %7: bool = Less %6, %0
  If %7, {
    Continue %6, %4
  }, {
    Yield
  }
  Continue %6, int(3)
}, int(1), int(2)
%8: int = Add %1, int(3)
Store $0, %8, 1
Return
)");
}

TEST(for_counts_apart_from_its_variable) {
  One p;
  ExprId k = p.var("k", 7), s = p.var("s", 0);
  p.count(k, p.i(0), p.n, p.i(1), [&] { p.set(s, p.add(s, k)); });
  p.result(p.add(s, k));
  CHECK_EQ(body_of(p), R"(%0: int = Load $1
%1: int, %2: int = Loop (%3: int, %4: int, %5: int) {
  %6: bool = Less %3, %0
  If %6, {
    Yield
  }, {
    Break %4, %5
  }
  %7: int = Add %3, int(1)
  %8: int = Add %5, %3
  Continue %7, %3, %8
}, int(0), int(7), int(0)
%9: int = Add %2, %1
Store $0, %9, 1
Return
)");
}

TEST(match_is_a_switch) {
  One p;
  ExprId x = p.var("x", 0);
  p.match(p.n, [&] {
    p.on({1, 2}, [&] { p.set(x, p.i(10)); });
    p.on({3}, [&] { p.f.return_({}, p.at); });
  });
  p.result(x);
  CHECK_EQ(body_of(p), R"(%0: int = Load $1
%1: int = Switch %0, {
  Yield int(0)
}, int(1), int(2), {
  Yield int(10)
}, int(3), {
  Return
}
Store $0, %1, 1
Return
)");
}

TEST(what_is_not_needed_is_not_evaluated) {
  One p;
  ExprId positive = p.less(p.i(0), p.n);
  p.when(p.bin(Op::And, positive, p.less(p.given(), p.i(3))), [&] { p.result(p.i(1)); });
  p.when(p.bin(Op::Or, positive, p.less(p.n, p.i(-9))), [&] { p.result(p.i(2)); });
  CHECK_EQ(body_of(p), R"(%0: int = Load $1
%1: bool = Greater %0, int(0)
%2: bool = If %1, {
  %3: int = Load $0, 0
  %4: bool = Less %3, int(3)
  Yield %4
}, {
  Yield bool(false)
}
If %2, {
  Store $0, int(1), 1
  Yield
}, {
  Yield
}
%5: bool = Greater %0, int(0)
%6: bool = Less %0, int(-9)
%7: bool = BitOr %5, %6
If %7, {
  Store $0, int(2), 1
  Yield
}, {
  Yield
}
Return
)");
}

TEST(calls_copy_references_in_and_out) {
  Program f(Kit::Kind::Callable, "f");
  ExprId a = f.arg("int", "a"), r = f.reference("int", "r"), q = f.reference("int", "q");
  f.set(r, f.add(a, q));
  f.give(a);
  f.f.finish();
  One p;
  ExprId x = p.var("x", 1);
  p.result(p.call_of(f, {p.n, p.at_index(p.in, p.i(2)), x}));
  const std::string text = to_text(lowered(p, 0, false));
  CHECK_EQ(text.substr(text.find("function 0")), R"(function 0 "k" () -> () {
  %0: int = Load $1
  %1: int = Load $0, 2
  %2: int, %3: int = Call &1, %0, %1, int(1)
  Store $0, %3, 2
  Store $0, %2, 1
  Return
}
function 1 "f" (%4: int, %5: int, %6: int) -> (int, int) {
  %7: int = Add %4, %6
  Return %4, %7
}
)");
}

TEST(nothing_lives_after_a_path_that_ends) {
  One p;
  ExprId x = p.var("x", 1);
  p.forever([&] {
    p.when(
        p.less(x, p.n), [&] { p.f.return_({}, p.at); }, [&] { p.next(); });
    p.set(x, p.i(3));
  });
  p.result(x);
  CHECK_EQ(body_of(p), R"(%0: int = Load $1
Loop (%1: int) {
  %2: bool = Less %1, %0
  If %2, {
    Return
  }, {
    Continue %1
  }
  Unreachable
}, int(1)
Unreachable
)");
}

TEST(a_print_has_a_site) {
  One p;
  ExprId values[] = {p.n};
  p.f.print("{}", values, p.at);
  const KernelDescriptor d = lowered(p);
  CHECK_EQ(d.sites.size(), 1u);
  CHECK(d.sites[0].kind == Site::Kind::Print);
}
