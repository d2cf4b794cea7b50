// Building a kernel from declarations to finish(), usage marks, and foreign nodes.
#include "ast/builder.h"

#include "ast_kit.h"
#include "check.h"

using namespace lcpy;
using namespace lcpy::ast;
using namespace lcpy::test;

TEST(saxpy) {
  Kit k;
  auto x = k.arg("buffer<float>", "x"), y = k.arg("buffer<float>", "y");
  auto a = k.arg("float", "a");
  ExprId id = k.f.call(Op::DispatchId, {}, k.at);
  ExprId i = k.f.swizzle(id, "x", k.at);
  ExprId value = k.add(k.mul(a, k.at_index(x, i)), k.at_index(y, i));
  k.f.assign(k.at_index(y, i), value, k.at);
  k.f.finish();
  CHECK(k.usage("x") == Usage::Read);
  CHECK(k.usage("y") == Usage::ReadWrite);
  CHECK(k.usage("a") == Usage::Read);
  CHECK_EQ(k.f.text(),
           "kernel k(x#0: Buffer[float], y#1: Buffer[float], a#2: float)\n"
           "  %4 := DispatchId().x\n"
           "  y#1[%4] = Add(Mul(a#2, x#0[%4]), y#1[%4])\n");
}

TEST(usage_follows_the_rows) {
  Kit k;
  ExprId r = k.arg("buffer<int>", "read"), w = k.arg("buffer<int>", "written"),
         both = k.arg("buffer<int>", "both"), length = k.arg("buffer<int>", "length"),
         bytes = k.arg("buffer<void>", "bytes"), index = k.arg("int", "index");
  ExprId parts = k.local("struct<16,vector<float,3>,int>", "parts");
  k.f.assign(k.at_index(w, index), k.at_index(r, k.i(0)), k.at);
  k.f.expression(k.call(Op::AtomicAdd, {k.at_index(both, k.i(0)), k.i(1)}), k.at);
  k.f.expression(k.call(Op::BufferLength, {length}), k.at);
  k.f.expression(k.call(Op::ByteBufferWrite, {bytes, k.i(0), k.d(1)}), k.at);
  k.f.assign(k.f.swizzle(k.f.member(parts, 0, k.at), "xy", k.at),
             k.make("vector<float,2>", {k.i(1)}), k.at);
  CHECK(k.usage("read") == Usage::Read);
  CHECK(k.usage("written") == Usage::Write);
  CHECK(k.usage("both") == Usage::ReadWrite);
  CHECK(k.usage("length") == Usage::None);
  CHECK(k.usage("bytes") == Usage::Write);
  CHECK(k.usage("index") == Usage::Read);
  CHECK(k.usage("parts") == Usage::Write);
}

namespace {

// reads b, writes out, ignores unused
std::shared_ptr<FunctionBuilder> callee(std::string name = "callee") {
  Kit c(Kit::Kind::Callable, std::move(name));
  ExprId b = c.arg("buffer<float>", "b"), out = c.reference("float", "out");
  c.reference("float", "unused");
  ExprId scale = c.arg("float", "scale");
  c.f.assign(out, c.mul(c.at_index(b, c.i(0)), scale), c.at);
  c.f.return_(c.at_index(b, c.i(1)), c.at);
  c.f.finish();
  return c.handle;
}

}  // namespace

TEST(calls_carry_the_callee_s_usage) {
  Kit k;
  ExprId b = k.arg("buffer<float>", "b"), out = k.arg("buffer<float>", "out");
  ExprId x = k.local("float", "x");
  ExprId args[] = {b, k.at_index(out, k.i(3)), x, k.i(2)};
  ExprId e = k.f.call(callee(), args, k.at);
  CHECK_EQ(k.type_of(e), "float");
  CHECK(k.usage("b") == Usage::Read);
  CHECK(k.usage("out") == Usage::Write);
  CHECK(k.usage("x") == Usage::None);
  // An equal callable under another name is the same callee.
  k.f.call(callee("other_name"), args, k.at);
  CHECK_EQ(k.f.callees().size(), 1u);
  ExprId bad[] = {b, k.add(x, x), x, k.i(2)};
  CHECK_DIAG(k.f.call(callee(), bad, k.at), not_place);
}

TEST(references_overlap_where_it_can_be_seen) {
  Kit c(Kit::Kind::Callable, "swap");
  ExprId a = c.reference("float", "a"), b = c.reference("float", "b");
  c.f.assign(a, b, c.at);
  c.f.finish();
  Kit k;
  ExprId v = k.local("vector<float,3>", "v"), s = k.local("array<float,4>", "s");
  ExprId i = k.arg("int", "i"), j = k.arg("int", "j");
  auto call = [&](ExprId x, ExprId y) {
    ExprId both[] = {x, y};
    return k.f.call(c.handle, both, k.at);
  };
  auto lane = [&](const char* name) { return k.f.swizzle(v, name, k.at); };
  call(lane("x"), lane("y"));
  call(k.at_index(s, k.i(0)), k.at_index(s, k.i(1)));
  call(k.at_index(s, i), k.at_index(s, j));
  CHECK_DIAG(call(lane("x"), lane("r")), reference_overlap);
  CHECK_DIAG(call(k.at_index(v, k.i(2)), lane("z")), reference_overlap);
  CHECK_DIAG(call(k.at_index(s, i), k.at_index(s, i)), reference_overlap);
  CHECK_DIAG(call(k.at_index(s, k.i(1)), k.at_index(s, k.i(1))), reference_overlap);
}

TEST(returns_agree_and_end_every_path) {
  auto finish = [](auto&& body) {
    Kit c(Kit::Kind::Callable, "f");
    body(c);
    c.f.finish();
  };
  auto inside = [](Kit& c, ScopeId scope, auto&& body) {
    c.f.push_scope(scope);
    body();
    c.f.pop_scope();
  };
  auto give = [](Kit& c) { c.f.return_(c.i(1), c.at); };
  finish([&](Kit& c) {  // if and else
    StmtId s = c.f.if_(c.arg("bool", "b"), c.at);
    inside(c, c.f.stmt(s).scope, [&] { give(c); });
    inside(c, c.f.stmt(s).other, [&] { give(c); });
  });
  finish([&](Kit& c) {  // a loop that only a return leaves
    StmtId s = c.f.loop(c.at);
    inside(c, c.f.stmt(s).scope, [&] { give(c); });
  });
  auto leaves_by_break = [&](Kit& c) {
    StmtId s = c.f.loop(c.at);
    inside(c, c.f.stmt(s).scope, [&] {
      StmtId t = c.f.if_(c.arg("bool", "b"), c.at);
      inside(c, c.f.stmt(t).scope, [&] { c.f.break_(c.at); });
      give(c);
    });
  };
  CHECK_DIAG(finish(leaves_by_break), return_missing);
  auto open_match = [&](Kit& c) {
    StmtId s = c.f.switch_(c.arg("int", "x"), c.at);
    inside(c, c.f.stmt(s).scope, [&] {
      ExprId one = c.i(1);
      StmtId t = c.f.case_({&one, 1}, c.at);
      inside(c, c.f.stmt(t).scope, [&] { give(c); });
    });
  };
  CHECK_DIAG(finish(open_match), return_missing);
  finish([&](Kit& c) {
    open_match(c);
    c.f.expression(c.call(Op::Unreachable, {}), c.at);
  });
  CHECK_DIAG(finish([&](Kit& c) {
               c.f.set_return_type(Kit::type("int"));
               c.f.return_(c.d(1.5), c.at);
             }),
             not_exact);
}

TEST(ranges) {
  Kit k;
  auto step_type = [&](std::string_view variable, ExprId step) {
    VariableId v = k.f.local(Kit::type(variable), "i", k.at);
    StmtId s = k.f.for_(v, k.i(0), k.i(10), step, k.at);
    return k.type_of(k.f.stmt(s).c);
  };
  CHECK_EQ(step_type("int", k.i(1)), "int");
  CHECK_EQ(step_type("uint", k.i(1)), "uint");
  CHECK_EQ(step_type("uint", k.i(-1)), "int");
  CHECK_EQ(step_type("uint", k.u(3000000000u)), "uint");
  CHECK_EQ(step_type("ulong", k.arg("int", "n")), "long");
  CHECK_EQ(step_type("long", k.arg("ubyte", "m")), "ulong");
  CHECK_DIAG(step_type("int", k.u(3000000000u)), literal_range);
  CHECK_DIAG(step_type("int", k.arg("long", "w")), not_exact);
}

TEST(scopes) {
  Kit k;
  StmtId s = k.f.switch_(k.arg("int", "x"), k.at);
  k.f.push_scope(k.f.stmt(s).scope);
  CHECK_DIAG(k.f.expression(k.call(Op::SyncBlock, {}), k.at), case_place);
  CHECK_DIAG(k.f.break_(k.at), outside_loop);
  k.f.default_(k.at);
  CHECK_DIAG(k.f.default_(k.at), case_place);
  k.f.pop_scope();
  CHECK_DIAG(k.f.default_(k.at), case_place);
  CHECK_THROWS(k.f.pop_scope(), ArgumentError);
  CHECK_THROWS(k.f.push_scope(ScopeId(99u)), ArgumentError);
  // A scope that was left may be entered again.
  StmtId t = k.f.loop(k.at);
  for (int n = 0; n < 2; ++n) {
    k.f.push_scope(k.f.stmt(t).scope);
    k.f.break_(k.at);
    k.f.pop_scope();
  }
  CHECK_EQ(k.f.scope(k.f.stmt(t).scope).statements.size(), 2u);
}

TEST(foreign_nodes_are_refused) {
  Kit a, b;
  ExprId x = a.arg("float", "x");
  b.arg("float", "y");
  CHECK_DIAG(b.f.settle(x), foreign_node);
  CHECK_DIAG(b.add(x, x), foreign_node);
  CHECK_DIAG(b.f.swizzle(x, "x", b.at), foreign_node);
  CHECK_DIAG(b.f.expression(x, b.at), foreign_node);
  CHECK_DIAG(b.f.ref(VariableId(a.node(x).index, x.owner), b.at), foreign_node);
  CHECK_DIAG(b.f.expression(ExprId(1000u), b.at), foreign_node);
}

TEST(once_evaluates_into_a_local) {
  Kit k;
  ExprId x = k.arg("float", "x");
  CHECK(k.f.once(x, "t", k.at) == x);
  ExprId e = k.f.once(k.add(x, x), "t", k.at);
  CHECK(k.node(e).kind == ExprKind::Ref);
  CHECK_EQ(k.f.scope(k.f.body()).statements.size(), 1u);
}

namespace {

uint64_t hash_of(const char* name, double constant, bool garbage, bool comment) {
  Kit k(Kit::Kind::Kernel, name);
  if (garbage) k.local("int", "never_used");
  ExprId out = k.arg("buffer<float>", name);
  if (garbage)
    k.add(k.arg("float", "x"), k.d(1));
  else
    k.arg("float", "y");
  if (comment) k.f.comment("text", k.at);
  ExprId id = k.call(Op::DispatchId, {});
  k.f.assign(k.at_index(out, k.f.swizzle(id, "x", k.at)), k.d(constant), k.at);
  k.f.finish();
  return k.f.hash();
}

}  // namespace

// The hash is in files: this value may change only together with their version.
TEST(hash_is_structural_and_stable) {
  CHECK_EQ(hash_of("a", 1, false, false), 0xef8702bb5be168b6ull);
  CHECK_EQ(hash_of("a", 1, false, false), hash_of("b", 1, true, true));
  CHECK(hash_of("a", 1, false, false) != hash_of("a", 2, false, false));
}

namespace {

std::shared_ptr<FunctionBuilder> scaled(const char* name, double by) {
  Kit k(Kit::Kind::Callable, name);
  ExprId x = k.arg("float", "x");
  k.f.return_(k.mul(x, k.d(by)), k.at);
  k.f.finish();
  return k.handle;
}

}  // namespace

// Equality decides what is one callable; hashes that collide change nothing.
TEST(r090_equal_hashes_of_different_callables) {
  auto twice = scaled("twice", 2), thrice = scaled("thrice", 3), again = scaled("again", 2);
  CHECK(equal(*twice, *again));
  CHECK(!equal(*twice, *thrice));
  thrice->assume_hash(twice->hash());
  CHECK(!equal(*twice, *thrice));
  Kit k;
  ExprId out = k.arg("buffer<float>", "out");
  uint32_t number = 0;
  for (const auto& f : {twice, thrice, again, thrice}) {
    std::array<ExprId, 1> args{k.d(1)};
    k.f.assign(k.at_index(out, k.i(number++)), k.f.call(f, args, k.at), k.at);
  }
  k.f.finish();
  CHECK_EQ(k.f.callees().size(), 2u);
  CHECK(k.f.callees()[0] == twice && k.f.callees()[1] == thrice);
}

// Chains of doubling calls are compared in linear time.
TEST(equality_of_chains) {
  std::shared_ptr<FunctionBuilder> ends[2];
  for (auto& last : ends) {
    last = scaled("f", 2);
    for (int n = 0; n < 60; ++n) {
      Kit k(Kit::Kind::Callable, "f");
      std::array<ExprId, 1> args{k.arg("float", "x")};
      ExprId a = k.f.call(last, args, k.at), b = k.f.call(last, args, k.at);
      k.f.return_(k.add(a, b), k.at);
      k.f.finish();
      last = k.handle;
    }
  }
  CHECK(ends[0] != ends[1] && equal(*ends[0], *ends[1]));
}

TEST(json_shows_the_graph) {
  Kit k;
  ExprId x = k.arg("float", "a\"b");
  k.f.assign(k.local("float", "y"), k.mul(x, k.d(2)), k.at);
  k.f.finish();
  std::string json = k.f.json();
  CHECK(json.find("\"name\":\"a\\\"b\"") != std::string::npos);
  CHECK(json.find("\"kind\":\"Binary\",\"type\":\"float\",\"op\":\"Mul\"") != std::string::npos);
  CHECK(json.find("\"usage\":\"write\"") != std::string::npos);
  CHECK_EQ(json.front(), '{');
  CHECK_EQ(json.back(), '}');
}

TEST(shared_graphs_stay_linear) {
  Kit k;
  ExprId e = k.arg("float", "x");
  for (int n = 0; n < 200; ++n) e = k.add(e, e);
  k.f.expression(e, k.at);
  k.f.finish();
  CHECK(k.f.text().size() < 20000);
  CHECK(k.f.hash() != 0);
}

TEST(copies_hold_what_is_used) {
  Kit k;
  k.local("int", "never_used");
  ExprId b = k.arg("buffer<float>", "b");
  for (int n = 0; n < 50; ++n) k.add(k.d(n), k.at_index(b, k.i(n)));
  int table[] = {1, 2, 3};
  ExprId c = k.f.constant(Kit::type("array<int,3>"), std::as_bytes(std::span(table)), k.at);
  ExprId x = k.local("float", "x"), out = k.local("float", "out");
  StmtId s = k.f.loop(k.at);
  k.f.push_scope(k.f.stmt(s).scope);
  ExprId args[] = {b, out, x, k.at_index(c, k.i(1))};
  args[3] = k.cast("float", args[3]);
  k.f.expression(k.f.call(callee(), args, k.at), k.at);
  k.f.comment("leave", k.at);
  k.f.break_(k.at);
  k.f.pop_scope();
  k.f.finish();
  std::shared_ptr<FunctionBuilder> copy = k.f.copy();
  CHECK_EQ(copy->hash(), k.f.hash());
  CHECK(copy->expr_count() < 12);
  CHECK_EQ(copy->variables().size(), 3u);
  CHECK(copy->variable(copy->arguments()[0]).usage == Usage::Read);
  CHECK_EQ(copy->copy()->text(), copy->text());
  CHECK(copy->text().find("# leave") != std::string::npos);
  CHECK_DIAG(copy->break_(k.at), function_finished);
}
