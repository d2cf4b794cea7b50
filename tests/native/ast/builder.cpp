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
