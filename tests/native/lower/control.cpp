// Control flow, with values that only the running program knows: branches, loops, early exits,
// matches, short circuit, and assignments that meet.
#include "base/error.h"
#include "lower/lower_kit.h"

using namespace lcpy;
using namespace lcpy::test;

namespace {

// A kernel of one thread that reads ints from `in` and leaves one in `out`.
struct One : Program {
  ExprId in = arg("buffer<int>", "in"), out = arg("buffer<int>", "out");
  ExprId given(int k) { return at_index(in, i(k)); }
  ExprId var(const char* name, int v) {
    ExprId x = local("int", name);
    set(x, i(v));
    return x;
  }
  void result(ExprId v) { set(at_index(out, i(0)), v); }
  void add_to(ExprId x, ExprId v) { set(x, add(x, v)); }
};

}  // namespace

TEST(if_else_and_values_that_meet) {
  for (int x : {-1, 0, 1}) {
    One p;
    ExprId a = p.var("a", 5), b = p.local("int", "b");
    p.when(
        p.less(p.given(0), p.i(0)),
        [&] {
          p.set(a, p.i(7));
          p.set(b, p.i(1));
        },
        [&] {
          p.when(
              p.less(p.i(0), p.given(0)), [&] { p.set(b, a); }, [&] { p.set(b, p.i(3)); });
        });
    p.result(p.add(p.mul(a, p.i(10)), b));
    CHECK_EQ(run_one(p, {x}), x < 0 ? 71 : x > 0 ? 55 : 53);
  }
}

TEST(r026_break_as_last_statement_and_reused_index) {
  One p;
  ExprId x = p.var("x", 0), j = p.local("int", "j");
  p.forever([&] {
    p.when(p.less(p.given(0), p.i(3)), [&] { p.set(x, p.i(-1)); });
    p.stop();
  });
  p.count(j, p.i(0), p.i(3), p.i(1), [&] { p.add_to(x, j); });
  p.count(j, p.i(0), p.add(p.given(0), p.i(1)), p.i(1), [&] { p.add_to(x, p.mul(j, p.i(100))); });
  p.result(x);
  CHECK_EQ(run_one(p, {2}), -1 + 3 + 300);
}

TEST(r027_continue_in_match_in_loop) {
  int total = 0;
  for (int v : {0, 1, 2}) {
    One p;
    ExprId r = p.var("r", 0), k = p.local("int", "k");
    p.count(k, p.i(0), p.i(3), p.i(1), [&] {
      p.match(p.given(0), [&] {
        p.on({0}, [&] {
          p.add_to(r, p.i(1));
          p.next();
        });
        p.on({1}, [&] { p.add_to(r, p.i(2)); });
        p.otherwise([&] { p.add_to(r, p.i(3)); });
      });
      p.add_to(r, p.i(10));
    });
    p.result(r);
    total += run_one(p, {v});
  }
  CHECK_EQ(total, 78);
}

TEST(match_without_default_and_with_alternatives) {
  for (int v : {0, 1, 2, 3}) {
    One p;
    ExprId r = p.var("r", 9);
    p.match(p.given(0), [&] {
      p.on({1, 3}, [&] { p.set(r, p.i(13)); });
      p.on({2}, [&] { p.set(r, p.i(2)); });
    });
    p.result(r);
    CHECK_EQ(run_one(p, {v}), v == 0 ? 9 : v == 2 ? 2 : 13);
  }
}

TEST(r029_unconditional_break_and_values_after_it) {
  One p;
  ExprId k = p.local("int", "k"), y = p.local("int", "y");
  p.count(k, p.i(0), p.i(4), p.i(1), [&] {
    p.set(y, p.add(p.given(0), k));
    p.stop();
    p.set(y, p.i(99));
  });
  p.result(p.add(p.mul(k, p.i(100)), y));
  CHECK_EQ(run_one(p, {7}), 7);
}

TEST(r031_self_assignment_of_a_vector) {
  Program p;
  ExprId out = p.arg("buffer<float>", "out"), v = p.local("vector<float,3>", "v"),
         k = p.local("int", "k");
  p.set(v, p.make("vector<float,3>", {p.d(.1), p.d(.2), p.d(.3)}));
  p.set(k, p.i(0));
  p.loop_while(p.less(k, p.i(10)), [&] {
    p.set(v, v);
    p.set(k, p.add(k, p.i(1)));
  });
  p.set(v, v);
  for (int c = 0; c < 3; c++) p.set(p.at_index(out, p.i(c)), p.at_index(v, p.i(c)));
  CHECK(run(p, {{0, 0, 0}}, 0) == (std::vector<int32_t>{bits(.1f), bits(.2f), bits(.3f)}));
}

TEST(r032_returns_in_loops_and_branches) {
  Program f(Kit::Kind::Callable, "f");
  ExprId n = f.arg("int", "n"), a = f.local("int", "a");
  f.set(a, f.i(1));
  f.forever([&] {
    f.set(a, f.add(a, f.i(1)));
    f.when(f.less(n, a), [&] { f.give(a); });
  });
  f.f.finish();
  Program g(Kit::Kind::Callable, "g");
  ExprId j = g.local("int", "j");
  g.count(j, g.i(0), g.i(5), g.i(1), [&] { g.give(j); });
  g.give(g.i(77));
  g.f.finish();
  Program h(Kit::Kind::Callable, "h");
  ExprId x = h.arg("int", "x");
  h.when(
      h.less(x, h.i(0)),
      [&] {
        h.when(
            h.less(x, h.i(-5)), [&] { h.give(h.i(1)); }, [&] { h.give(h.i(2)); });
      },
      [&] { h.when(h.less(x, h.i(5)), [&] { h.give(h.i(3)); }); });
  h.give(h.i(4));
  h.f.finish();
  One p;
  ExprId r = p.var("r", 0);
  p.set(r, p.call_of(f, {p.given(0)}));
  p.add_to(r, p.mul(p.call_of(g, {}), p.i(100)));
  for (int k = 0; k < 4; k++) p.set(r, p.add(p.mul(r, p.i(10)), p.call_of(h, {p.given(1 + k)})));
  p.result(r);
  CHECK_EQ(run_one(p, {10, -9, -1, 0, 6}), 111234);
}

TEST(return_in_a_loop_beside_one_that_some_threads_take) {
  // All threads return together from the loop; the other return makes threads leave one by one.
  One p;
  ExprId k = p.local("int", "k");
  p.count(k, p.i(0), p.i(3), p.i(1),
          [&] { p.when(p.bin(Op::Equal, p.given(0), p.i(7)), [&] { p.f.return_({}, p.at); }); });
  p.when(p.bin(Op::Equal, p.thread(), p.u(5)), [&] { p.f.return_({}, p.at); });
  p.result(p.i(1));
  CHECK_EQ(run_one(p, {7}), 0);
  CHECK_EQ(run_one(p, {6}), 1);
}

TEST(r037_simultaneous_moves) {
  One p;
  ExprId a = p.var("a", 0), b = p.var("b", 1), c = p.var("c", 2), t = p.local("int", "t"),
         k = p.local("int", "k");
  p.count(k, p.i(0), p.given(0), p.i(1), [&] {
    p.set(t, a);
    p.set(a, b);
    p.set(b, c);
    p.set(c, t);
  });
  p.result(p.add(p.add(p.mul(a, p.i(100)), p.mul(b, p.i(10))), c));
  CHECK_EQ(run_one(p, {1}), 120);
}

TEST(r039_local_array_written_late_in_a_loop) {
  One p;
  ExprId loc = p.local("array<int,8>", "loc"), s = p.var("s", 0), v = p.var("v", 0);
  p.set(loc, p.make("array<int,8>", {}));
  p.loop_while(p.less(s, p.i(5)), [&] {
    p.add_to(v, p.at_index(loc, s));
    p.add_to(s, p.i(1));
    p.set(p.at_index(loc, s), p.i(4));
  });
  p.result(v);
  CHECK_EQ(run_one(p), 16);
}

TEST(r040_parameters_by_value_and_by_reference) {
  Program f(Kit::Kind::Callable, "f");
  ExprId x = f.arg("int", "x");
  f.set(x, f.add(x, f.i(1)));
  f.give(x);
  f.f.finish();
  Program h(Kit::Kind::Callable, "h");
  ExprId r = h.reference("int", "r");
  h.set(r, h.mul(r, h.i(3)));
  h.give(h.i(5));
  h.f.finish();
  Program g(Kit::Kind::Callable, "g");
  ExprId q = g.reference("int", "q");
  g.give(g.call_of(h, {q}));
  g.f.finish();
  One p;
  ExprId a = p.var("a", 4), v = p.local("vector<int,2>", "v");
  p.set(v, p.make("vector<int,2>", {p.given(0), p.given(1)}));
  ExprId y = p.local("int", "y");
  p.set(y, p.call_of(f, {a}));
  p.add_to(y, p.mul(a, p.i(10)));                                // 5 + 40
  p.add_to(y, p.mul(p.call_of(g, {p.lane(v, "y")}), p.i(100)));  // + 500, v.y = 21
  p.run_call(h, {p.at_index(p.out, p.i(0))});                    // out = 0 * 3
  p.result(p.add(p.add(y, p.mul(p.lane(v, "y"), p.i(1000))), p.lane(v, "x")));
  CHECK_EQ(run_one(p, {6, 7}), 21000 + 545 + 6);
}

TEST(r047_continue_in_for) {
  One p;
  ExprId s = p.var("s", 0), k = p.local("int", "k");
  p.count(k, p.i(0), p.i(10), p.i(1), [&] {
    p.when(p.bin(Op::Equal, k, p.given(0)), [&] { p.next(); });
    p.add_to(s, k);
  });
  p.result(s);
  CHECK_EQ(run_one(p, {5}), 40);
}

// ---- counting
// ---------------------------------------------------------------------------------------

static std::pair<int, int> counted(const char* type, std::vector<int64_t> bounds, bool known) {
  // 1000 * trips + last value of the variable, 77 where no trip ran.
  Program p;
  std::string buffer = std::string("buffer<") + type + ">";
  ExprId in = p.arg("buffer<int>", "in"), out = p.arg("buffer<int>", "out");
  ExprId k = p.local(type, "k"), n = p.local("int", "n");
  p.set(n, p.i(0));
  p.set(k, p.cast(type, p.i(77)));
  auto bound = [&](int j) { return known ? p.i(bounds[j]) : p.cast(type, p.at_index(in, p.i(j))); };
  ExprId step = known ? p.i(bounds[2]) : p.at_index(in, p.i(2));
  if (known)
    step = p.i(bounds[2]);
  else if (std::string(type) != "int" && std::string(type) != "uint")
    step = p.cast(type, step);
  p.count(k, bound(0), bound(1), step, [&] {
    p.set(n, p.add(n, p.i(1)));
    p.when(p.bin(Op::Greater, n, p.i(1000)), [&] { p.stop(); });
  });
  p.set(p.at_index(out, p.i(0)), n);
  p.set(p.at_index(out, p.i(1)), p.cast("int", k));
  const auto r = run(p, {{int(bounds[0]), int(bounds[1]), int(bounds[2])}, {0, 0}}, 1);
  return {r[0], r[1]};
}

TEST(for_counts_as_pythons_range) {
  struct Case {
    int begin, end, step;
  };
  for (const Case& c : {Case{0, 10, 1},
                        {10, 0, -1},
                        {0, 10, 3},
                        {0, 9, 3},
                        {5, 5, 1},
                        {7, 2, 1},
                        {2, 7, -1},
                        {10, -3, -4},
                        {-5, 5, 2}}) {
    int trips = 0, last = 77;
    for (int k = c.begin; c.step > 0 ? k < c.end : k > c.end; k += c.step) trips++, last = k;
    for (bool known : {true, false})
      CHECK(counted("int", {c.begin, c.end, c.step}, known) == std::pair(trips, last));
  }
  CHECK(counted("int", {3, 9, 0}, false) == std::pair(0, 77));
}

TEST(for_never_wraps) {
  CHECK(counted("int", {2147483640, 2147483647, 5}, true) == std::pair(2, 2147483645));
  CHECK(counted("int", {2147483640, 2147483647, 5}, false) == std::pair(2, 2147483645));
  CHECK(counted("int", {-2147483640, -2147483647 - 1, -5}, false) == std::pair(2, -2147483645));
  CHECK(counted("uint", {10, 0, -3}, true) == std::pair(4, 1));
  CHECK(counted("uint", {10, 0, -3}, false) == std::pair(4, 1));
  CHECK(counted("byte", {120, 127, 3}, true) == std::pair(3, 126));
}

TEST(for_assigning_its_variable_and_bounds) {
  One p;
  ExprId n = p.var("n", 3), k = p.var("k", 0), s = p.var("s", 0);
  p.count(k, p.i(0), n, p.i(1), [&] {
    p.set(n, p.i(100));
    p.add_to(s, p.i(1));
    p.set(k, p.i(50));
  });
  p.result(p.add(p.mul(s, p.i(1000)), k));
  CHECK_EQ(run_one(p), 3050);
}

// ---- evaluated when needed
// ----------------------------------------------------------------------------

TEST(r036_short_circuit) {
  for (int x : {-1, 0, 1}) {
    One p;
    ExprId n = p.var("n", 0);
    auto bump = [&](bool result) {
      ExprId old = p.call(Op::AtomicAdd, {p.at_index(p.out, p.i(0)), p.i(1)});
      return result ? p.bin(Op::GreaterEqual, old, p.i(0)) : p.bin(Op::Less, old, p.i(0));
    };
    ExprId positive = p.less(p.i(0), p.given(0));
    p.when(p.bin(Op::And, positive, bump(true)), [&] { p.add_to(n, p.i(10)); });
    p.when(p.bin(Op::Or, positive, bump(false)), [&] { p.add_to(n, p.i(100)); });
    ExprId chosen = p.f.conditional(
        positive, p.given(0), p.call(Op::AtomicAdd, {p.at_index(p.out, p.i(0)), p.i(5)}), p.at);
    p.set(n, p.add(n, p.mul(chosen, p.i(1000))));
    p.set(p.at_index(p.out, p.i(0)), p.add(p.mul(n, p.i(100)), p.at_index(p.out, p.i(0))));
    const int r = run_one(p, {x});
    CHECK_EQ(r, x > 0 ? 111001 : 100000 + 6);
  }
}

TEST(comparisons_of_signs_by_value) {
  for (int a : {-1, 0, 5})
    for (uint32_t b : {0u, 5u, 4294967295u}) {
      Program p;
      ExprId in = p.arg("buffer<int>", "in"), un = p.arg("buffer<uint>", "un"),
             out = p.arg("buffer<int>", "out");
      ExprId r = p.local("int", "r"), x = p.at_index(in, p.i(0)), y = p.at_index(un, p.i(0));
      p.set(r, p.i(0));
      int bit = 1, wanted = 0;
      const int64_t wide = a;
      const std::pair<Op, bool> all[] = {{Op::Less, wide < b},    {Op::LessEqual, wide <= b},
                                         {Op::Greater, wide > b}, {Op::GreaterEqual, wide >= b},
                                         {Op::Equal, wide == b},  {Op::NotEqual, wide != b}};
      const bool mirrored[] = {b<wide, b <= wide, b> wide, b >= wide, b == wide, b != wide};
      for (int k = 0; k < 6; k++) {
        p.when(p.bin(all[k].first, x, y), [&] { p.set(r, p.bin(Op::BitOr, r, p.i(bit))); });
        wanted |= all[k].second ? bit : 0;
        bit *= 2;
        p.when(p.bin(all[k].first, y, x), [&] { p.set(r, p.bin(Op::BitOr, r, p.i(bit))); });
        wanted |= mirrored[k] ? bit : 0;
        bit *= 2;
      }
      p.set(p.at_index(out, p.i(0)), r);
      CHECK_EQ(run(p, {{a}, {int32_t(b)}, {0}}, 2)[0], wanted);
    }
}

// ---- definite assignment
// ------------------------------------------------------------------------------

TEST(unassigned_variables_are_refused) {
  auto refuses = [](const std::function<void(One&, ExprId x)>& body) {
    One p;
    ExprId x = p.local("int", "x");
    body(p, x);
    p.result(x);
    try {
      lowered(p);
    } catch (const CompileError& e) {
      return diag_name(e.diagnostics().at(0).code) == "variable_unassigned";
    }
    return false;
  };
  CHECK(refuses([](One&, ExprId) {}));
  CHECK(refuses(
      [](One& p, ExprId x) { p.when(p.less(p.given(0), p.i(0)), [&] { p.set(x, p.i(1)); }); }));
  CHECK(refuses([](One& p, ExprId x) {
    p.match(p.given(0), [&] { p.on({0}, [&] { p.set(x, p.i(1)); }); });
  }));
  CHECK(refuses([](One& p, ExprId x) {
    ExprId k = p.local("int", "k");
    p.count(k, p.i(0), p.given(0), p.i(1), [&] { p.set(x, k); });
  }));
  CHECK(refuses([](One& p, ExprId x) {
    p.forever([&] {
      p.when(p.less(p.given(0), p.i(0)), [&] { p.stop(); });
      p.set(x, p.i(1));
      p.stop();
    });
  }));
  CHECK(!refuses([](One& p, ExprId x) {
    p.when(
        p.less(p.given(0), p.i(0)), [&] { p.set(x, p.i(1)); }, [&] { p.set(x, p.i(2)); });
  }));
  CHECK(!refuses([](One& p, ExprId x) {
    p.forever([&] {
      p.set(x, p.given(0));
      p.when(p.less(x, p.i(5)), [&] { p.stop(); });
    });
  }));
  CHECK(!refuses([](One& p, ExprId x) {
    p.when(
        p.less(p.given(0), p.i(0)), [&] { p.f.return_({}, p.at); }, [&] { p.set(x, p.i(2)); });
  }));
}

TEST(unassigned_note_names_the_place) {
  One p;
  ExprId x = p.local("int", "x");
  p.at.file = 1;
  p.at.line = 42;
  p.when(p.less(p.given(0), p.i(0)), [&] { p.set(x, p.i(1)); });
  p.result(x);
  try {
    lowered(p);
    CHECK(false);
  } catch (const CompileError& e) {
    const Diagnostic& d = e.diagnostics().at(0);
    CHECK(d.message.find("'x'") != std::string::npos);
    CHECK_EQ(d.notes.size(), 1u);
    CHECK_EQ(d.notes[0].span.line, 42u);
  }
}

TEST(nesting_is_limited_by_name) {
  auto nest = [](int depth) {
    One p;
    ExprId x = p.var("x", 0);
    std::function<void(int)> down = [&](int n) {
      if (n == 0) return p.add_to(x, p.i(1));
      p.when(p.less(x, p.given(0)), [&] { down(n - 1); });
    };
    down(depth);
    p.result(x);
    lowered(p);
  };
  nest(58);
  CHECK_DIAG(nest(61), nested_bodies);
}

TEST(divergent_barriers_are_refused) {
  auto build = [](const std::function<void(Program&, ExprId)>& body) {
    Program p;
    ExprId out = p.arg("buffer<int>", "out");
    p.f.set_block_size({64, 1, 1}, p.at);
    body(p, p.lane(p.call(Op::ThreadId, {}), "x"));
    p.set(p.at_index(out, p.thread()), p.i(1));
    lowered(p);
  };
  auto sync = [](Program& p) { p.f.expression(p.call(Op::SyncBlock, {}), p.at); };
  CHECK_DIAG(build([&](Program& p, ExprId t) { p.when(p.less(t, p.u(32)), [&] { sync(p); }); }),
             divergent_barrier);
  CHECK_DIAG(build([&](Program& p, ExprId t) {
               p.when(p.less(t, p.u(32)), [&] { p.f.return_({}, p.at); });
               sync(p);
             }),
             divergent_barrier);
  CHECK_DIAG(build([&](Program& p, ExprId t) {
               ExprId k = p.local("uint", "k");
               p.count(k, p.u(0), t, p.u(1), [&] { sync(p); });
             }),
             divergent_barrier);
  CHECK_DIAG(build([&](Program& p, ExprId t) {
               ExprId n = p.arg("uint", "n");
               p.when(p.less(t, n), [&] { sync(p); });
             }),
             divergent_barrier);
  CHECK_DIAG(
      build([&](Program& p, ExprId) { p.when(p.less(p.thread(), p.u(100)), [&] { sync(p); }); }),
      divergent_barrier);
  CHECK_DIAG(build([&](Program& p, ExprId t) {
               p.forever([&] {
                 sync(p);
                 p.when(p.less(t, p.u(3)), [&] { p.stop(); });
               });
             }),
             divergent_barrier);
  // Uniform after all, or known to the data alone.
  build([&](Program& p, ExprId t) { p.when(p.less(t, p.u(64)), [&] { sync(p); }); });
  build([&](Program& p, ExprId) {
    ExprId n = p.arg("uint", "n");
    p.when(p.less(p.bin(Op::FloorDiv, p.thread(), p.u(64)), n), [&] { sync(p); });
  });
  build([&](Program& p, ExprId) {
    p.when(p.less(p.lane(p.call(Op::BlockId, {}), "x"), p.u(1)), [&] { sync(p); });
  });
  build([&](Program& p, ExprId t) {
    ExprId in = p.arg("buffer<int>", "in");
    p.when(p.less(p.at_index(in, t), p.i(1)), [&] { sync(p); });
  });
  build([&](Program& p, ExprId t) {
    ExprId k = p.local("uint", "k");
    p.count(k, p.u(0), p.u(5), p.u(1), [&] { p.when(p.less(t, p.u(3)), [&] { p.next(); }); });
    sync(p);
  });
}

TEST(divergent_barriers_in_callables) {
  Program wait(Kit::Kind::Callable, "wait");
  ExprId n = wait.arg("uint", "n");
  wait.when(wait.less(n, wait.u(4)),
            [&] { wait.f.expression(wait.call(Op::SyncBlock, {}), wait.at); });
  wait.f.finish();
  auto build = [&](const char* id, int opt) {
    Program p;
    ExprId out = p.arg("buffer<int>", "out");
    ExprId n = p.lane(p.call(std::string(id) == "thread" ? Op::ThreadId : Op::BlockId, {}), "x");
    p.run_call(wait, {n});
    p.set(p.at_index(out, p.thread()), p.i(1));
    lowered(p, opt);
  };
  for (int opt : {0, 1}) {
    CHECK_DIAG(build("thread", opt), divergent_barrier);
    build("block", opt);
  }
}
