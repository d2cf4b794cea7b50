#include "ast/builder.h"
#include "base/error.h"
#include "check.h"
#include "lower/lower.h"

using namespace lcpy;
using ast::FunctionBuilder;

TEST(first) {
  auto f = FunctionBuilder::create(FunctionBuilder::Kind::Kernel, "saxpy", {});
  const Span s{};
  auto x = f->argument(Type::parse("buffer<float>"), "x", s);
  auto y = f->argument(Type::parse("buffer<float>"), "y", s);
  auto a = f->argument(Type::of(Scalar::Float32), "a", s);
  auto i = f->local(Type::of(Scalar::UInt32), "i", s);
  auto sum = f->local(Type::of(Scalar::Float32), "sum", s);
  f->assign(f->ref(i, s), f->swizzle(f->call(Op::DispatchId, {}, s), "x", s), s);
  ast::ExprId ix[] = {f->ref(i, s)};
  f->assign(f->ref(sum, s), f->weak_float(0, s), s);
  auto k = f->local(Type::of(Scalar::Int32), "k", s);
  auto loop = f->for_(k, f->weak_int(0, s), f->weak_int(10, s), f->weak_int(1, s), s);
  f->push_scope(f->stmt(loop).scope);
  auto cond = f->if_(f->binary(Op::Greater, f->ref(k, s), f->weak_int(5, s), s), s);
  f->push_scope(f->stmt(cond).scope);
  f->break_(s);
  f->pop_scope();
  f->assign(f->ref(sum, s), f->binary(Op::Add, f->ref(sum, s), f->access(f->ref(x, s), ix, s), s), s);
  f->pop_scope();
  auto v = f->binary(Op::Add, f->binary(Op::Mul, f->ref(a, s), f->ref(sum, s), s), f->access(f->ref(y, s), ix, s), s);
  f->assign(f->access(f->ref(y, s), ix, s), v, s);
  f->finish();
  LowerOptions o;
  o.verify_each = true;
  o.dump = [](void*, std::string_view stage, std::string_view text) { printf("== %.*s\n%.*s\n", int(stage.size()), stage.data(), int(text.size()), text.data()); };
  lower_kernel(*f, o);
}
