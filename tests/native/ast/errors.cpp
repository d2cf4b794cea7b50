// Every diagnostic of types and of AST construction, raised by a wrong program, with its text.
#include <functional>
#include <map>

#include "ast_kit.h"
#include "base/source.h"
#include "check.h"

using namespace lcpy;
using namespace lcpy::ast;
using namespace lcpy::test;

namespace {

struct Case {
  Diag code;
  std::string message;  // the whole message
  std::function<void(Kit&)> body;
  Kit::Kind kind = Kit::Kind::Kernel;
};

std::shared_ptr<FunctionBuilder> two_references(bool writes) {
  Kit c(Kit::Kind::Callable, "swap");
  ExprId a = c.reference("float", "a"), b = c.reference("float", "b");
  if (writes) c.f.assign(a, b, c.at);
  c.f.return_(std::nullopt, c.at);
  c.f.finish();
  return c.handle;
}

std::shared_ptr<FunctionBuilder> half_of() {
  Kit c(Kit::Kind::Callable, "half_of");
  c.f.return_(c.mul(c.arg("float", "x"), c.d(0.5)), c.at);
  c.f.finish();
  return c.handle;
}

std::shared_ptr<FunctionBuilder> first_of() {
  Kit c(Kit::Kind::Callable, "first_of");
  c.f.return_(c.at_index(c.arg("buffer<float>", "b"), c.i(0)), c.at);
  c.f.finish();
  return c.handle;
}

ExprId call(Kit& k, const std::shared_ptr<FunctionBuilder>& f, std::vector<ExprId> args) {
  return k.f.call(f, args, k.at);
}

const auto kCallable = Kit::Kind::Callable;

std::vector<Case> type_cases() {
  return {
      {Diag::type_description,
       "not a type description: 'float3 x', character 6: nothing may follow "
       "the type",
       [](Kit&) { Type::parse("float3 x"); }},
      {Diag::type_not_allowed,
       "bfloat16 cannot be a matrix's scalar: that is half, float or double",
       [](Kit&) { Type::parse("matrix<bfloat16,2>"); }},
      {Diag::type_too_large,
       "array<vector<double,4>,1000000000> takes more than the 4 GiB that a value may",
       [](Kit&) { Type::parse("array<vector<double,4>,1000000000>"); }},
      {Diag::type_alignment, "a struct cannot be aligned to 3 bytes",
       [](Kit&) { Type::parse("struct<3,ubyte>"); }},
  };
}

std::vector<Case> operand_cases() {
  return {
      {Diag::foreign_node, "this value belongs to another function",
       [](Kit& k) {
         Kit other;
         ExprId x = other.arg("float", "x");
         k.arg("float", "y");
         k.add(x, x);
       }},
      {Diag::function_finished, "function 'k' is finished; nothing can be added to it",
       [](Kit& k) {
         k.f.finish();
         k.arg("float", "x");
       }},
      {Diag::op_refused, "lc.detach cannot be used yet: there is no automatic differentiation yet",
       [](Kit& k) { k.call(Op::Detach, {k.arg("float", "x")}); }},
      {Diag::operand_count, "lc.min takes 2 operands, not 1",
       [](Kit& k) { k.call(Op::Min, {k.arg("float", "x")}); }},
      {Diag::operand_type, "lc.sqrt does not take int",
       [](Kit& k) { k.call(Op::Sqrt, {k.arg("int", "x")}); }},
      {Diag::lanes_differ, "'+' between float2 and float3: the numbers of lanes differ",
       [](Kit& k) { k.add(k.arg("vector<float,2>", "a"), k.arg("vector<float,3>", "b")); }},
      {Diag::bool_arithmetic, "'+' on a bool: it is not a number",
       [](Kit& k) { k.add(k.arg("bool", "a"), k.arg("int", "b")); }},
      {Diag::sign_mix,
       "'+' between int and uint: signed and unsigned integers of equal width do not mix",
       [](Kit& k) { k.add(k.arg("int", "a"), k.arg("uint", "b")); }},
      {Diag::literal_range, "the literal -1 does not fit uint",
       [](Kit& k) { k.add(k.arg("uint", "a"), k.i(-1)); }},
      {Diag::literal_too_large, "an integer literal of more than 64 bits",
       [](Kit& k) { k.mul(k.u(1ull << 63), k.i(2)); }},
      {Diag::literal_zero_division, "'//' by zero between literals",
       [](Kit& k) { k.bin(Op::FloorDiv, k.i(1), k.i(0)); }},
      {Diag::literal_operation, "'<<' between literals: the amount is negative",
       [](Kit& k) { k.bin(Op::Shl, k.i(1), k.i(-1)); }},
      {Diag::condition_type, "a condition is a bool, not bool3",
       [](Kit& k) { k.f.if_(k.arg("vector<bool,3>", "c"), k.at); }},
      {Diag::bool_operator, "'and' takes single bools, not int",
       [](Kit& k) { k.bin(Op::And, k.arg("int", "a"), k.arg("bool", "b")); }},
      {Diag::matrix_product,
       "'*' between float3x3 and float3 is element-wise, and their shapes differ",
       [](Kit& k) { k.mul(k.arg("matrix<float,3>", "m"), k.arg("vector<float,3>", "v")); }},
      {Diag::matmul_shape, "'@' does not go between float3x3 and float2",
       [](Kit& k) {
         k.bin(Op::MatMul, k.arg("matrix<float,3>", "m"), k.arg("vector<float,2>", "v"));
       }},
      {Diag::negative_power, "an integer to the power -2 is not an integer",
       [](Kit& k) { k.bin(Op::Pow, k.arg("int", "a"), k.i(-2)); }},
      {Diag::no_value, "'+' takes a value, and this call gives none",
       [](Kit& k) { k.add(k.call(Op::SyncBlock, {}), k.i(1)); }},
      {Diag::comparison_constant, "this comparison is always True: uint never holds -1",
       [](Kit& k) {
         k.bin(Op::Greater, k.arg("uint", "a"), k.i(-1));
         throw CompileError(k.f.warnings().at(0));
       }},
      {Diag::no_common_type,
       "the two sides of a conditional expression need one type, and float and float2 have none in "
       "common",
       [](Kit& k) {
         k.f.conditional(k.arg("bool", "c"), k.arg("float", "a"), k.arg("vector<float,2>", "b"),
                         k.at);
       }},
      {Diag::expression_too_deep, "the expression is nested deeper than 1000",
       [](Kit& k) {
         ExprId x = k.arg("float", "x");
         ExprId e = x;
         for (int i = 0; i < 1000; ++i) e = k.add(e, x);
       }},
  };
}

std::vector<Case> conversion_cases() {
  return {
      {Diag::not_exact,
       "variable 'y' is int, and float does not convert to it by itself: values could change",
       [](Kit& k) { k.f.assign(k.local("int", "y"), k.arg("float", "x"), k.at); }},
      {Diag::wrong_type, "variable 'y' is float3, not float",
       [](Kit& k) { k.f.assign(k.local("vector<float,3>", "y"), k.arg("float", "x"), k.at); }},
      {Diag::make_lanes, "float3 is made from 3 lanes, not 4",
       [](Kit& k) {
         ExprId v = k.arg("vector<float,2>", "v");
         k.make("vector<float,3>", {v, v});
       }},
      {Diag::make_parts, "float3x3 cannot be made from float",
       [](Kit& k) { k.make("matrix<float,3>", {k.arg("float", "x")}); }},
      {Diag::cast_type, "float3x3 does not convert to float",
       [](Kit& k) { k.cast("float", k.arg("matrix<float,3>", "m")); }},
      {Diag::bitcast_size,
       "lc.bitcast from float to ulong: it takes numbers, or vectors of them, of equal size",
       [](Kit& k) { k.f.bitcast(Kit::type("ulong"), k.arg("float", "x"), k.at); }},
  };
}

std::vector<Case> place_cases() {
  return {
      {Diag::no_member, "struct(int, float) has no member number 2",
       [](Kit& k) { k.f.member(k.arg("struct<4,int,float>", "s"), 2, k.at); }},
      {Diag::swizzle_lanes, "'xg' does not name lanes of float3",
       [](Kit& k) { k.f.swizzle(k.arg("vector<float,3>", "v"), "xg", k.at); }},
      {Diag::swizzle_duplicate, "the target 'xx' names a lane twice",
       [](Kit& k) {
         ExprId v = k.local("vector<float,2>", "v");
         k.f.assign(k.f.swizzle(v, "xx", k.at), v, k.at);
       }},
      {Diag::not_indexable, "float cannot be indexed",
       [](Kit& k) { k.at_index(k.arg("float", "x"), k.i(0)); }},
      {Diag::index_count, "Buffer[float, 2] takes 2 indices, not 1",
       [](Kit& k) { k.at_index(k.arg("buffer<float,2>", "b"), k.i(0)); }},
      {Diag::not_integer, "an index is an integer, not float",
       [](Kit& k) { k.at_index(k.arg("buffer<float>", "b"), k.arg("float", "x")); }},
      {Diag::index_range, "index 3 is outside float3",
       [](Kit& k) { k.at_index(k.arg("vector<float,3>", "v"), k.i(3)); }},
      {Diag::not_place, "an assignment needs a place: a variable, a member, or an element",
       [](Kit& k) {
         ExprId x = k.arg("float", "x");
         k.f.assign(k.add(x, x), x, k.at);
       }},
      {Diag::whole_resource, "variable 'b' cannot be assigned as a whole",
       [](Kit& k) {
         ExprId b = k.arg("buffer<float>", "b");
         k.f.assign(b, b, k.at);
       }},
      {Diag::atomic_place, "lc.atomic_add needs a place in a buffer or a shared array",
       [](Kit& k) {
         k.call(Op::AtomicAdd, {k.local("int", "x"), k.i(1)});
       }},
      {Diag::atomic_type, "lc.atomic_and does not work on float",
       [](Kit& k) {
         k.call(Op::AtomicAnd, {k.at_index(k.arg("buffer<float>", "b"), k.i(0)), k.d(1)});
       }},
  };
}

std::vector<Case> call_cases() {
  return {
      {Diag::call_kernel, "'other' is a kernel and cannot be called from a kernel",
       [](Kit& k) {
         Kit other(Kit::Kind::Kernel, "other");
         other.f.finish();
         call(k, other.handle, {});
       }},
      {Diag::call_recursive, "'k' calls itself", [](Kit& k) { call(k, k.handle, {}); }, kCallable},
      {Diag::call_count, "'half_of' takes 1 arguments, not 0",
       [](Kit& k) { call(k, half_of(), {}); }},
      {Diag::reference_type, "argument 'b' of 'swap' is a reference to float, not to int",
       [](Kit& k) {
         call(k, two_references(false), {k.local("float", "x"), k.local("int", "y")});
       }},
      {Diag::reference_overlap,
       "arguments 'a' and 'b' of 'swap' are the same memory, and it is "
       "written",
       [](Kit& k) {
         ExprId x = k.local("float", "x");
         call(k, two_references(true), {x, x});
       }},
      {Diag::resource_argument, "argument 'b' of 'first_of' is Buffer[float], not Buffer[int]",
       [](Kit& k) { call(k, first_of(), {k.arg("buffer<int>", "x")}); }},
      {Diag::declaration_type, "a variable cannot be Buffer[float]",
       [](Kit& k) { k.local("buffer<float>", "b"); }},
      {Diag::declaration_place, "shared memory cannot be declared here",
       [](Kit& k) { k.shared("float", "s"); }, kCallable},
      {Diag::block_size, "a block of 64 × 32 × 1 threads",
       [](Kit& k) {
         k.f.set_block_size({64, 32, 1}, k.at);
       }},
  };
}

std::vector<Case> statement_cases() {
  return {
      {Diag::outside_loop, "'break' outside a loop", [](Kit& k) { k.f.break_(k.at); }},
      {Diag::kernel_returns, "a kernel returns nothing", [](Kit& k) { k.f.return_(k.i(1), k.at); }},
      {Diag::return_mismatch, "this return gives nothing, and 'k' returns int",
       [](Kit& k) {
         k.f.return_(k.i(1), k.at);
         k.f.return_(std::nullopt, k.at);
       },
       kCallable},
      {Diag::return_missing, "'k' returns int, and a path through it ends without a return",
       [](Kit& k) {
         StmtId s = k.f.if_(k.arg("bool", "c"), k.at);
         k.f.push_scope(k.f.stmt(s).scope);
         k.f.return_(k.i(1), k.at);
         k.f.pop_scope();
         k.f.finish();
       },
       kCallable},
      {Diag::range_step, "the step of a range is zero",
       [](Kit& k) {
         VariableId v = k.f.local(Kit::type("int"), "i", k.at);
         k.f.for_(v, k.i(0), k.i(4), k.i(0), k.at);
       }},
      {Diag::range_variable, "a range counts integers, not float",
       [](Kit& k) {
         VariableId v = k.f.local(Kit::type("float"), "i", k.at);
         k.f.for_(v, k.i(0), k.i(4), k.i(1), k.at);
       }},
      {Diag::switch_type, "a match is on an integer, not float",
       [](Kit& k) { k.f.switch_(k.arg("float", "x"), k.at); }},
      {Diag::case_place, "case 1 stands twice in its match",
       [](Kit& k) {
         StmtId s = k.f.switch_(k.arg("int", "x"), k.at);
         k.f.push_scope(k.f.stmt(s).scope);
         for (int n = 0; n < 2; ++n) {
           ExprId one = k.i(1);
           k.f.case_({&one, 1}, k.at);
         }
       }},
      {Diag::case_value, "a case is an integer literal that fits int",
       [](Kit& k) {
         ExprId x = k.arg("int", "x");
         StmtId s = k.f.switch_(x, k.at);
         k.f.push_scope(k.f.stmt(s).scope);
         k.f.case_({&x, 1}, k.at);
       }},
      {Diag::nested_too_deep, "statements are nested deeper than 64",
       [](Kit& k) {
         for (int n = 0; n < 64; ++n) k.f.push_scope(k.f.stmt(k.f.loop(k.at)).scope);
       }},
  };
}

std::vector<Case> external_cases() {
  return {
      {Diag::external_type, "argument 'm' of external function 'k' is float2x2",
       [](Kit& k) {
         k.arg("matrix<float,2>", "m");
         k.f.set_external({{{"opencl", "void k(float m) {}"}}, {Usage::Read}, false});
         k.f.finish();
       },
       Kit::Kind::Callable},
      {Diag::external_usage,
       "the body of external function 'k' does more with 'b' than its usage says",
       [](Kit& k) {
         ExprId b = k.arg("buffer<float>", "b");
         k.f.set_external({{{"opencl", "void k(__global float* b) {}"}}, {Usage::Read}, true});
         k.f.assign(k.at_index(b, k.i(0)), k.d(1), k.at);
         k.f.finish();
       },
       Kit::Kind::Callable},
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (auto part : {type_cases(), operand_cases(), conversion_cases(), place_cases(), call_cases(),
                    statement_cases(), external_cases()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

TEST(every_wrong_program_has_its_diagnostic) {
  for (const Case& c : all_cases()) {
    Kit k(c.kind);
    Diagnostic d = diagnostic_of([&] { c.body(k); });
    CHECK_EQ(d.message, c.message);
    CHECK_EQ(diag_name(d.code), diag_name(c.code));
  }
}

TEST(every_row_of_these_stages_is_raised) {
  std::map<int, bool> raised;
  for (const Case& c : all_cases()) raised[static_cast<int>(c.code)] = true;
#define DIAG(code, name, message, hint) \
  if (code < 3000 && !raised[code]) fail(__FILE__, __LINE__, "no wrong program for " #name);
#include "base/diag.def"
#undef DIAG
}

TEST(the_same_call_gives_the_same_error) {
  Kit k;
  ExprId a = k.arg("int", "a"), b = k.arg("uint", "b");
  Diagnostic first = diagnostic_of([&] { k.add(a, b); });
  Diagnostic second = diagnostic_of([&] { k.add(a, b); });
  CHECK_EQ(render(first), render(second));
  CHECK_EQ(first.hint, "convert one of them: lc.int(x) or lc.uint(x)");
}

TEST(spans_point_at_the_operation) {
  Kit k;
  k.at = {register_source("wrong.py", "y = a + b"), 1, 4, 9};
  ExprId a = k.arg("int", "a"), b = k.arg("uint", "b");
  try {
    k.add(a, b);
    CHECK(false);
  } catch (const CompileError& e) {
    CHECK_EQ(std::string(e.what()),
             "wrong.py:1: error E2008: '+' between int and uint: signed and unsigned integers of "
             "equal width do not mix\n"
             "    y = a + b\n"
             "        ^^^^^\n"
             "  hint: convert one of them: lc.int(x) or lc.uint(x)");
  }
}
