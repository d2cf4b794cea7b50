// Builds kernels with short names, lowers them with and without passes, and runs them on the
// interpreter: both must give the same words.
#pragma once
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "ast/ast_kit.h"
#include "interp/interp.h"
#include "lower/lower.h"

namespace lcpy::test {

using ast::ExprId;
using ast::StmtId;

struct Program : Kit {
  using Kit::Kit;
  using Block = std::function<void()>;

  void set(ExprId place, ExprId v) { f.assign(place, v, at); }
  void inside(ast::ScopeId scope, const Block& block) {
    f.push_scope(scope);
    block();
    f.pop_scope();
  }
  void when(ExprId c, const Block& then, const Block& other = {}) {
    const StmtId s = f.if_(c, at);
    inside(f.stmt(s).scope, then);
    if (other) inside(f.stmt(s).other, other);
  }
  void forever(const Block& block) { inside(f.stmt(f.loop(at)).scope, block); }
  void loop_while(ExprId c, const Block& block) {
    forever([&] {
      when(bin(Op::BitXor, c, f.literal(type("bool"), "\1", at)), [&] { stop(); });
      block();
    });
  }
  void count(ExprId v, ExprId begin, ExprId end, ExprId step, const Block& block) {
    const ast::VariableId id(f.expr(v).index);
    inside(f.stmt(f.for_(id, begin, end, step, at)).scope, block);
  }
  StmtId match(ExprId v, const Block& cases) {
    const StmtId s = f.switch_(v, at);
    inside(f.stmt(s).scope, cases);
    return s;
  }
  void on(std::vector<int> values, const Block& block) {
    std::vector<ExprId> all;
    for (int v : values) all.push_back(i(v));
    inside(f.stmt(f.case_(all, at)).scope, block);
  }
  void otherwise(const Block& block) { inside(f.stmt(f.default_(at)).scope, block); }
  void stop() { f.break_(at); }
  void next() { f.continue_(at); }
  void give(ExprId v) { f.return_(v, at); }
  ExprId lane(ExprId v, std::string_view lanes) { return f.swizzle(v, lanes, at); }
  ExprId part(ExprId v, uint32_t index) { return f.member(v, index, at); }
  ExprId less(ExprId a, ExprId b) { return bin(Op::Less, a, b); }
  ExprId thread() { return lane(call(Op::DispatchId, {}), "x"); }
  ExprId call_of(Program& callee, std::vector<ExprId> args) {
    return f.call(callee.handle, args, at);
  }
  void run_call(Program& callee, std::vector<ExprId> args) {
    f.expression(call_of(callee, args), at);
  }
};

inline KernelDescriptor lowered(Program& p, int opt = 1, bool ragged = true) {
  if (!p.f.finished()) p.f.finish();
  LowerOptions o;
  o.opt = opt;
  o.ragged = ragged;
  o.verify_each = true;
  return lower_kernel(*p.handle, o);
}

// Words of buffer `result` after `threads` threads ran; buffers hold 32-bit words.
inline std::vector<int32_t> run(Program& p, std::vector<std::vector<int32_t>> buffers,
                                size_t result, uint32_t threads = 1) {
  std::vector<int32_t> first;
  for (int opt : {0, 1}) {
    const KernelDescriptor d = lowered(p, opt);
    const auto program = interp::build_program(d);
    auto data = buffers;
    std::vector<interp::Binding> bindings;
    for (auto& b : data) bindings.push_back({b.data(), b.size() * 4});
    std::vector<std::byte> block(argument_block(d).size);
    const ArgumentBlock layout = argument_block(d);
    size_t next = 0;
    for (size_t s = 0; s < d.slots.size(); s++) {
      if (d.slots[s].memory != MemoryClass::Global) continue;
      const uint64_t length = data[next++].size();
      if (layout.entries[s].length != ArgumentBlock::kNone)
        std::memcpy(block.data() + layout.entries[s].length, &length, 8);
    }
    interp::run(*program, {{threads, 1, 1}, bindings, block, 1});
    if (opt == 0)
      first = data[result];
    else
      CHECK(first == data[result]);
  }
  return first;
}

inline int32_t run_one(Program& p, std::vector<int32_t> in = {}) {
  return run(p, {std::move(in), {0}}, 1)[0];
}

inline int32_t bits(float f) {
  int32_t i;
  std::memcpy(&i, &f, 4);
  return i;
}

}  // namespace lcpy::test
