// Places at any depth, references, buffers, shared memory, constants, packed buffers, atomics, and
// threads past the end.
#include "base/error.h"
#include "lower/lower_kit.h"

using namespace lcpy;
using namespace lcpy::test;

namespace {

struct One : Program {
  ExprId in = arg("buffer<int>", "in"), out = arg("buffer<int>", "out");
  ExprId given(int k) { return at_index(in, i(k)); }
  void result(int k, ExprId v) { set(at_index(out, i(k)), v); }
};
std::vector<int32_t> run_out(Program& p, std::vector<int32_t> in, size_t n) {
  return run(p, {std::move(in), std::vector<int32_t>(n)}, 1);
}

}  // namespace

TEST(r045_run_time_index_of_values) {
  Program make(Kit::Kind::Callable, "make");
  ExprId x = make.arg("int", "x");
  make.give(make.make("array<int,3>", {x, make.add(x, make.i(1)), make.add(x, make.i(2))}));
  make.f.finish();
  One p;
  ExprId v = p.local("vector<int,4>", "v"), k = p.given(0);
  p.set(v, p.make("vector<int,4>", {p.i(10), p.i(20), p.i(30), p.i(40)}));
  p.result(0, p.at_index(p.call_of(make, {p.i(5)}), k));
  p.result(1, p.at_index(p.lane(v, "wzyx"), k));
  p.result(2, p.at_index(v, k));
  p.set(p.at_index(v, k), p.i(99));
  p.set(p.at_index(p.lane(v, "zw"), p.bin(Op::Sub, k, p.i(1))), p.i(7));
  for (int c = 0; c < 4; c++) p.result(3 + c, p.at_index(v, p.i(c)));
  CHECK(run_out(p, {1}, 7) == (std::vector<int32_t>{6, 30, 20, 10, 99, 7, 40}));
}

TEST(r045_matrices_and_structs_of_arrays) {
  Program p;
  ExprId in = p.arg("buffer<int>", "in"), out = p.arg("buffer<float>", "out");
  ExprId m = p.local("matrix<float,3>", "m"),
         s = p.local("struct<16,array<matrix<float,2>,2>,vector<float,3>>", "s");
  auto column = [&](double a, double b, double c) {
    return p.make("vector<float,3>", {p.d(a), p.d(b), p.d(c)});
  };
  p.set(m, p.make("matrix<float,3>", {column(1, 2, 3), column(4, 5, 6), column(7, 8, 9)}));
  p.set(s, p.make("struct<16,array<matrix<float,2>,2>,vector<float,3>>", {}));
  ExprId k = p.at_index(in, p.i(0));
  p.set(p.at_index(m, k, p.i(0)), p.d(50));            // row 1, column 0
  p.set(p.lane(p.at_index(m, p.i(2)), "x"), p.d(60));  // column 2, row 0
  p.set(p.at_index(p.at_index(p.at_index(p.part(s, 0), k), p.i(0)), k), p.d(70));
  p.set(p.at_index(p.part(s, 1), k), p.d(80));
  ExprId product = p.bin(Op::MatMul, m, column(1, 0, 0));
  p.set(p.at_index(out, p.i(0)), p.at_index(product, k));
  p.set(p.at_index(out, p.i(1)), p.at_index(m, p.i(0), k));
  p.set(p.at_index(out, p.i(2)), p.at_index(m, p.i(0), p.i(2)));
  p.set(p.at_index(out, p.i(3)),
        p.at_index(p.at_index(p.at_index(p.part(s, 0), p.i(1)), p.i(0)), p.i(1)));
  p.set(p.at_index(out, p.i(4)), p.lane(p.part(s, 1), "y"));
  p.set(p.at_index(out, p.i(5)), p.at_index(p.bin(Op::Mul, m, p.d(2)), p.i(1), p.i(1)));
  CHECK(run(p, {{1}, {0, 0, 0, 0, 0, 0}}, 1) ==
        (std::vector<int32_t>{bits(50), bits(4), bits(60), bits(70), bits(80), bits(10)}));
}

TEST(r046_stores_reach_the_original) {
  Program p;
  ExprId in = p.arg("buffer<int>", "in"),
         out = p.arg("buffer<struct<16,vector<int,3>,array<int,2>>>", "out");
  ExprId v = p.local("vector<int,4>", "v"), a = p.local("array<struct<4,int,array<int,2>>,2>", "a");
  p.set(v, p.make("vector<int,4>", {p.i(1), p.i(2), p.i(3), p.i(4)}));
  p.set(p.lane(v, "wx"), p.make("vector<int,2>", {p.i(40), p.i(10)}));
  p.set(a, p.make("array<struct<4,int,array<int,2>>,2>", {}));
  ExprId k = p.at_index(in, p.i(0));
  p.set(p.at_index(p.part(p.at_index(a, k), 1), k), p.i(5));
  ExprId cell = p.at_index(p.part(p.at_index(a, k), 1), k);
  p.set(cell, p.add(cell, p.i(1)));
  ExprId element = p.at_index(out, p.i(0));
  p.set(p.lane(p.part(element, 0), "zx"), p.lane(v, "wx"));
  p.set(p.at_index(p.part(element, 1), k), p.at_index(p.part(p.at_index(a, p.i(1)), 1), p.i(1)));
  CHECK(run(p, {{1}, {1, 2, 3, 9, 4, 5, 9, 9}}, 1) ==
        (std::vector<int32_t>{10, 2, 40, 9, 4, 6, 9, 9}));
}

TEST(index_expressions_are_evaluated_once) {
  One p;
  ExprId bump = p.call(Op::AtomicAdd, {p.at_index(p.out, p.i(0)), p.i(1)});
  ExprId cell = p.at_index(p.out, p.add(bump, p.i(1)));
  p.set(cell, p.add(cell, p.i(7)));  // the same node is target and operand
  CHECK(run_out(p, {}, 3) == (std::vector<int32_t>{1, 7, 0}));
}

TEST(constant_tables) {
  One p;
  const int32_t table[] = {3, 1, 4, 1, 5};
  ExprId t = p.f.constant(Type::parse("array<int,5>"), std::as_bytes(std::span(table)), p.at);
  p.result(0, p.at_index(t, p.given(0)));
  p.result(1, p.at_index(t, p.given(1)));
  p.result(2, p.at_index(t, p.i(4)));
  CHECK(run_out(p, {2, 0}, 3) == (std::vector<int32_t>{4, 3, 5}));
  const KernelDescriptor d = lowered(p);
  size_t tables = 0;
  for (const Slot& s : d.slots) tables += s.memory == MemoryClass::Constant;
  CHECK_EQ(tables, 1u);
}

TEST(by_value_arguments) {
  Program p;
  ExprId s = p.arg("struct<16,vector<int,3>,array<int,2>>", "s"), n = p.arg("int", "n"),
         v = p.arg("vector<int,3>", "v");
  ExprId out = p.arg("buffer<int>", "out");
  p.set(n, p.add(n, p.i(1)));
  p.set(p.at_index(out, p.i(0)), p.add(n, p.lane(p.part(s, 0), "y")));
  p.set(p.at_index(out, p.i(1)), p.at_index(p.part(s, 1), n));
  p.set(p.at_index(out, p.i(2)), p.at_index(v, n));
  for (int opt : {0, 1}) {
    const KernelDescriptor d = lowered(p, opt);
    CHECK_EQ(d.slots[0].access == Access::Read && d.slots[3].access == Access::Write, true);
    const ArgumentBlock layout = argument_block(d);
    std::vector<std::byte> block(layout.size);
    const int32_t sv[] = {1, 2, 3, 0, 70, 71}, nv = 0, vv[] = {7, 8, 9};
    std::memcpy(block.data() + layout.entries[0].value, sv, sizeof sv);
    std::memcpy(block.data() + layout.entries[1].value, &nv, 4);
    std::memcpy(block.data() + layout.entries[2].value, vv, 12);
    std::vector<int32_t> data(3);
    const interp::Binding binding{data.data(), 12};
    interp::run(*interp::build_program(d), {{1, 1, 1}, {&binding, 1}, block, 1});
    CHECK(data == (std::vector<int32_t>{3, 71, 8}));
  }
}

TEST(references_to_many_kinds_of_places) {
  Program add(Kit::Kind::Callable, "add");
  ExprId r = add.reference("int", "r"), by = add.arg("int", "by");
  add.set(r, add.add(r, by));
  add.f.finish();
  Program peek(Kit::Kind::Callable, "peek");
  ExprId q = peek.reference("int", "q");
  peek.give(peek.mul(q, peek.i(2)));
  peek.f.finish();
  One p;
  ExprId a = p.local("array<int,4>", "a"), v = p.local("vector<int,3>", "v"), k = p.given(0);
  p.set(a, p.make("array<int,4>", {}));
  p.set(v, p.make("vector<int,3>", {p.i(1), p.i(2), p.i(3)}));
  p.run_call(add, {p.at_index(a, k), p.i(5)});
  p.run_call(add, {p.lane(v, "z"), p.i(30)});
  p.run_call(add, {p.at_index(p.out, k), p.i(100)});
  p.result(0, p.add(p.at_index(a, k), p.lane(v, "z")));
  p.result(2, p.call_of(peek, {p.given(0)}));
  CHECK(run_out(p, {1}, 3) == (std::vector<int32_t>{38, 100, 2}));
  const KernelDescriptor d = lowered(p);
  CHECK(d.slots[0].access == Access::Read);  // a reference that is only read is not copied back
}

TEST(buffers_and_shared_arrays_are_bound) {
  Program fill(Kit::Kind::Callable, "fill");
  ExprId s = fill.reference("array<int,8>", "s"), b = fill.arg("buffer<int>", "b"),
         t = fill.arg("uint", "t");
  fill.set(fill.at_index(s, t), fill.mul(fill.at_index(b, t), fill.i(2)));
  fill.f.expression(fill.call(Op::AtomicAdd, {fill.at_index(s, fill.i(0)), fill.i(1)}), fill.at);
  fill.f.finish();
  One p;
  p.f.set_block_size({8, 1, 1}, p.at);
  ExprId tile = p.shared("array<array<int,8>,2>", "tile"),
         t8 = p.lane(p.call(Op::ThreadId, {}), "x");
  auto sync = [&] { p.f.expression(p.call(Op::SyncBlock, {}), p.at); };
  p.run_call(fill, {p.at_index(tile, p.given(8)), p.in, t8});
  sync();
  p.set(p.at_index(p.out, t8), p.at_index(p.at_index(tile, p.i(1)), p.bin(Op::Sub, p.u(7), t8)));
  const auto r = run(p, {{1, 2, 3, 4, 5, 6, 7, 8, 1}, std::vector<int32_t>(8)}, 1, 8);
  CHECK(r[0] == 16 && r[1] == 14 && r[6] == 4);
  const KernelDescriptor d = lowered(p);
  CHECK(d.uses_shared() && d.shared_bytes() == 64);
}

TEST(callables_are_specialised_once_for_each_binding) {
  Program get(Kit::Kind::Callable, "get");
  ExprId b = get.arg("buffer<int>", "b"), k = get.arg("int", "k");
  get.give(get.at_index(b, k));
  get.f.finish();
  One p;
  p.result(0, p.add(p.call_of(get, {p.in, p.i(0)}), p.call_of(get, {p.in, p.i(1)})));
  p.result(1, p.call_of(get, {p.out, p.i(0)}));
  CHECK(run_out(p, {4, 5}, 2) == (std::vector<int32_t>{9, 9}));
  CHECK_EQ(lowered(p, 0).functions.size(), 3u);
  CHECK_EQ(lowered(p, 1).functions.size(), 1u);
}

TEST(r088_chain_of_doubling_calls_stays_small) {
  std::vector<std::unique_ptr<Program>> chain;
  for (int k = 0; k < 20; k++) {
    auto f = std::make_unique<Program>(Kit::Kind::Callable, "f" + std::to_string(k));
    ExprId x = f->arg("int", "x");
    if (k == 0)
      f->give(f->add(x, x));
    else
      f->give(f->add(f->call_of(*chain.back(), {x}), f->call_of(*chain.back(), {x})));
    f->f.finish();
    chain.push_back(std::move(f));
  }
  One p;
  p.result(0, p.call_of(*chain.back(), {p.given(0)}));
  CHECK_EQ(run_out(p, {3}, 1)[0], 3 << 20);
  CHECK(lowered(p).ops.size() < 1000);
}

TEST(packed_buffers_are_read_by_scalars) {
  Program p;
  ExprId in = p.arg("packed_buffer<vector<int,3>>", "in"),
         out = p.arg("packed_buffer<vector<int,3>>", "out");
  ExprId t = p.thread(), v = p.local("vector<int,3>", "v");
  p.set(v, p.at_index(in, t));
  p.set(p.at_index(out, t), p.lane(v, "zyx"));
  p.set(p.lane(p.at_index(out, t), "y"), p.at_index(p.at_index(in, t), t));
  CHECK(run(p, {{1, 2, 3, 4, 5, 6}, std::vector<int32_t>(6)}, 1, 2) ==
        (std::vector<int32_t>{3, 1, 1, 6, 5, 4}));
  CHECK_EQ(lowered(p).slots[0].type.description(), "buffer<int>");
  // Of several types: by unsigned integers of the size that divides all places.
  const auto unit = [](const char* type) {
    Program q;
    ExprId x = q.arg(type, "x");
    q.set(q.at_index(x, q.i(1)), q.at_index(x, q.i(0)));
    return lowered(q).slots[0].type.description();
  };
  CHECK_EQ(unit("packed_buffer<struct<8,byte,double>>"), "buffer<ubyte>");
  CHECK_EQ(unit("packed_buffer<struct<4,float,int>>"), "buffer<struct<4,float,int>>");
  CHECK_EQ(unit("packed_buffer<struct<16,int,vector<float,3>>>"), "buffer<uint>");
  CHECK_EQ(unit("packed_buffer<struct<8,long,int>>"), "buffer<uint>");
  CHECK_EQ(unit("packed_buffer<struct<8,half,long>>"), "buffer<ushort>");
  auto refuse = [] {
    Program q;
    ExprId x = q.arg("packed_buffer<struct<8,int,long>>", "x");
    ExprId place = q.f.member(q.at_index(x, q.i(0)), 0, q.at);
    q.f.expression(q.call(Op::AtomicAdd, {place, q.i(1)}), q.at);
    lowered(q);
  };
  CHECK_DIAG(refuse(), packed_atomic);
}

TEST(atomics_reach_memory_alone) {
  Program bump(Kit::Kind::Callable, "bump");
  ExprId r = bump.reference("int", "r");
  bump.give(bump.call(Op::AtomicAdd, {r, bump.i(1)}));
  bump.f.finish();
  auto refuse = [&] {
    One p;
    p.result(0, p.call_of(bump, {p.at_index(p.out, p.i(1))}));
    lowered(p);
  };
  CHECK_DIAG(refuse(), atomic_reference);
}

// ---- threads past the end
// ------------------------------------------------------------------------------

TEST(threads_past_the_end_touch_nothing) {
  One p;
  p.set(p.at_index(p.out, p.thread()), p.add(p.at_index(p.in, p.thread()), p.i(1)));
  CHECK(run(p, {{1, 2, 3}, {0, 0, 0, 7}}, 1, 3) == (std::vector<int32_t>{2, 3, 4, 7}));
  CHECK(to_text(lowered(p, 1, false)).find("DispatchSize") == std::string::npos);
}

TEST(threads_past_the_end_of_a_block_with_barriers) {
  // All threads reach the barrier and share memory; buffers are a bottomless zero past the end.
  One p;
  p.f.set_block_size({8, 1, 1}, p.at);
  ExprId tile = p.shared("array<int,8>", "tile"), t = p.lane(p.call(Op::ThreadId, {}), "x");
  p.set(p.at_index(tile, t), p.add(p.at_index(p.in, p.thread()), p.i(10)));
  p.f.expression(p.call(Op::SyncBlock, {}), p.at);
  ExprId old = p.call(Op::AtomicAdd,
                      {p.at_index(p.out, p.i(3)), p.at_index(tile, p.bin(Op::Sub, p.u(7), t))});
  p.set(p.at_index(p.out, p.thread()), old);
  const auto r = run(p, {{1, 2, 3}, {0, 0, 0, 0, 55}}, 1, 3);
  CHECK_EQ(r[3], 30);  // tile[7], tile[6], tile[5]: 10 each
  CHECK_EQ(r[4], 55);
}
