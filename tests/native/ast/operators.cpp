// Typing rules of operators, literals, comparisons, choice and functions.
#include <cmath>
#include <limits>

#include "ast_kit.h"
#include "check.h"

using namespace lcpy;
using namespace lcpy::ast;
using namespace lcpy::test;

namespace {

struct Scalars {
  Kit k;
  ExprId b = k.arg("bool", "b"), i8 = k.arg("byte", "i8"), u8 = k.arg("ubyte", "u8"),
         i16 = k.arg("short", "i16"), u16 = k.arg("ushort", "u16"), i = k.arg("int", "i"),
         u = k.arg("uint", "u"), l = k.arg("long", "l"), ul = k.arg("ulong", "ul"),
         h = k.arg("half", "h"), f = k.arg("float", "f"), d = k.arg("double", "d"),
         f3 = k.arg("vector<float,3>", "f3"), i3 = k.arg("vector<int,3>", "i3"),
         b3 = k.arg("vector<bool,3>", "b3"), m = k.arg("matrix<float,3>", "m");
  std::string sum(ExprId x, ExprId y) { return k.type_of(k.add(x, y)); }
};

double literal_float(const Kit& k, ExprId e) {
  CHECK(k.node(e).kind == ExprKind::Literal);
  return k.node(e).value.f;
}

int64_t weak_int(const Kit& k, ExprId e) {
  CHECK(k.node(e).weak == WeakKind::Int);
  return k.node(e).value.i;
}

}  // namespace

TEST(wider_wins_within_a_kind) {
  Scalars s;
  CHECK_EQ(s.sum(s.i8, s.i), "int");
  CHECK_EQ(s.sum(s.u8, s.u16), "ushort");
  CHECK_EQ(s.sum(s.l, s.u), "long");
  CHECK_EQ(s.sum(s.u8, s.i), "int");
  CHECK_EQ(s.sum(s.h, s.f), "float");
  CHECK_EQ(s.sum(s.d, s.f), "double");
  CHECK_EQ(s.sum(s.i, s.f), "float");
  CHECK_EQ(s.sum(s.l, s.h), "half");
  CHECK_EQ(s.sum(s.i3, s.f), "vector<float,3>");
  CHECK_DIAG(s.sum(s.i8, s.u8), sign_mix);
  CHECK_DIAG(s.sum(s.l, s.ul), sign_mix);
  CHECK_DIAG(s.sum(s.b, s.b), bool_arithmetic);
}

TEST(operands_get_one_type) {
  Scalars s;
  ExprId e = s.k.mul(s.f3, s.i);
  const ExprNode& right = s.k.node(ExprId(s.k.node(e).b));
  CHECK(right.kind == ExprKind::Call && right.op == Op::Make);
  CHECK_EQ(right.type.description(), "vector<float,3>");
  const ExprNode& cast = s.k.node(s.k.f.args_of(right)[0]);
  CHECK(cast.kind == ExprKind::Cast);
  CHECK_EQ(cast.type.description(), "float");
}

TEST(literals_adapt) {
  Scalars s;
  CHECK_EQ(s.sum(s.u8, s.k.i(255)), "ubyte");
  CHECK_DIAG(s.sum(s.u8, s.k.i(256)), literal_range);
  CHECK_EQ(s.sum(s.h, s.k.i(1)), "half");
  CHECK_EQ(s.sum(s.i, s.k.d(0.5)), "float");
  CHECK_EQ(s.sum(s.l, s.k.d(0.5)), "double");
  CHECK_DIAG(s.sum(s.h, s.k.d(1e6)), literal_range);
  CHECK_DIAG(s.sum(s.h, s.k.i(70000)), literal_range);
  CHECK_EQ(s.sum(s.h, s.k.d(std::numeric_limits<double>::infinity())), "half");
  ExprId e = s.k.add(s.f, s.k.d(0.1));
  CHECK_EQ(literal_float(s.k, ExprId(s.k.node(e).b)), static_cast<double>(0.1f));
  ExprId big = s.k.add(s.f, s.k.i(16777217));
  CHECK_EQ(literal_float(s.k, ExprId(s.k.node(big).b)), 16777216.0);
}

TEST(literals_alone) {
  Kit k;
  auto type = [&](ExprId e) { return k.type_of(k.f.settle(e)); };
  CHECK_EQ(type(k.i(2147483647)), "int");
  CHECK_EQ(type(k.i(2147483648)), "long");
  CHECK_EQ(type(k.i(-2147483648)), "int");
  CHECK_EQ(type(k.u(~0ull)), "ulong");
  CHECK_EQ(type(k.d(1.5)), "float");
  CHECK_EQ(type(k.truth(true)), "bool");
}

TEST(literals_fold_as_python_does) {
  Kit k;
  auto ints = [&](Op op, int64_t a, int64_t b) { return weak_int(k, k.bin(op, k.i(a), k.i(b))); };
  CHECK_EQ(ints(Op::FloorDiv, -7, 2), -4);
  CHECK_EQ(ints(Op::FloorMod, -7, 2), 1);
  CHECK_EQ(ints(Op::FloorMod, 7, -2), -1);
  CHECK_EQ(ints(Op::TruncDiv, -7, 2), -3);
  CHECK_EQ(ints(Op::TruncRem, -7, 2), -1);
  CHECK_EQ(ints(Op::Pow, -3, 3), -27);
  CHECK_EQ(ints(Op::Shr, -5, 1), -3);
  CHECK_EQ(ints(Op::Shr, -5, 100), -1);
  CHECK_EQ(ints(Op::BitAnd, -2, 7), 6);
  CHECK_EQ(ints(Op::BitXor, -1, 5), -6);
  CHECK_EQ(ints(Op::Sub, 3, 5), -2);
  CHECK_EQ(k.node(k.bin(Op::Div, k.i(1), k.i(4))).value.f, 0.25);
  CHECK_EQ(k.node(k.bin(Op::FloorMod, k.d(-0.5), k.i(2))).value.f, 1.5);
  CHECK_EQ(k.node(k.bin(Op::Pow, k.i(2), k.i(-1))).value.f, 0.5);
  CHECK(std::signbit(k.node(k.f.unary(Op::Neg, k.d(0.0), k.at)).value.f));
  ExprId huge = k.f.unary(Op::Neg, k.u(1ull << 63), k.at);
  CHECK_EQ(weak_int(k, huge), std::numeric_limits<int64_t>::min());
  CHECK_EQ(weak_int(k, k.f.unary(Op::BitNot, k.i(5), k.at)), -6);
  CHECK(k.node(k.bin(Op::Less, k.i(-1), k.u(1))).value.u == 1);
  CHECK_EQ(k.node(k.add(k.u(~0ull - 1), k.i(1))).value.u, ~0ull);
}

TEST(division) {
  Scalars s;
  auto quotient = [&](ExprId x, ExprId y) { return s.k.type_of(s.k.bin(Op::Div, x, y)); };
  CHECK_EQ(quotient(s.i, s.i), "float");
  CHECK_EQ(quotient(s.i8, s.k.i(2)), "float");
  CHECK_EQ(quotient(s.l, s.i), "double");
  CHECK_EQ(quotient(s.h, s.i), "half");
  CHECK_EQ(quotient(s.i3, s.k.i(2)), "vector<float,3>");
  CHECK_EQ(quotient(s.m, s.f), "matrix<float,3>");
  CHECK_EQ(s.k.type_of(s.k.bin(Op::FloorDiv, s.i, s.k.i(2))), "int");
  CHECK_DIAG(s.k.bin(Op::Div, s.i, s.u), sign_mix);
}

TEST(powers) {
  Scalars s;
  ExprId whole = s.k.bin(Op::Pow, s.i, s.k.i(3));
  CHECK(s.k.node(whole).op == Op::PowInt);
  ExprId real = s.k.bin(Op::Pow, s.f, s.k.i(-3));
  CHECK(s.k.node(real).op == Op::Pow);
  CHECK_EQ(s.k.type_of(s.k.bin(Op::Pow, s.i, s.k.d(0.5))), "float");
}

TEST(shifts_keep_the_left_type) {
  Scalars s;
  ExprId e = s.k.bin(Op::Shl, s.i8, s.ul);
  CHECK_EQ(s.k.type_of(e), "byte");
  CHECK_EQ(s.k.node(ExprId(s.k.node(e).b)).type.description(), "ulong");
  ExprId known = s.k.bin(Op::Shr, s.u, s.k.i(-1));
  const ExprNode& amount = s.k.node(ExprId(s.k.node(known).b));
  CHECK_EQ(amount.type.description(), "uint");
  CHECK_EQ(amount.value.u, 31u);
  CHECK_EQ(s.k.type_of(s.k.bin(Op::Shl, s.k.i(1), s.u)), "int");
  CHECK_EQ(s.k.type_of(s.k.bin(Op::Shl, s.i3, s.k.i(33))), "vector<int,3>");
  CHECK_DIAG(s.k.bin(Op::Shl, s.f, s.i), operand_type);
}

TEST(comparisons_are_by_value) {
  Scalars s;
  auto compare = [&](Op op, ExprId x, ExprId y) { return s.k.node(s.k.bin(op, x, y)); };
  auto right = [&](const ExprNode& n) { return s.k.node(ExprId(n.b)); };
  auto left = [&](const ExprNode& n) { return s.k.node(ExprId(n.a)); };
  // Signs of one width stay for lowering; int32 holds all of what is narrower; wider signed wins.
  ExprNode n = compare(Op::Less, s.i, s.u);
  CHECK_EQ(left(n).type.description() + right(n).type.description(), "intuint");
  n = compare(Op::Less, s.i8, s.ul);
  CHECK_EQ(left(n).type.description() + right(n).type.description(), "longulong");
  n = compare(Op::Equal, s.u8, s.i8);
  CHECK_EQ(left(n).type.description() + right(n).type.description(), "intint");
  n = compare(Op::Equal, s.l, s.u);
  CHECK_EQ(left(n).type.description() + right(n).type.description(), "longlong");
  CHECK_EQ(compare(Op::Less, s.f3, s.f).type.description(), "vector<bool,3>");
  CHECK_EQ(compare(Op::Equal, s.b, s.k.truth(true)).type.description(), "bool");
  CHECK_DIAG(compare(Op::Less, s.b, s.b), bool_arithmetic);
  CHECK_DIAG(compare(Op::Equal, s.b, s.i), bool_arithmetic);
}

TEST(comparisons_with_literals_are_by_value) {
  Scalars s;
  auto check = [&](Op op, ExprId x, ExprId y, Op expected, int64_t bound) {
    const ExprNode n = s.k.node(s.k.bin(op, x, y));
    CHECK_EQ(op_row(n.op).name, op_row(expected).name);
    CHECK_EQ(s.k.node(ExprId(n.b)).value.i, bound);
  };
  check(Op::Less, s.i, s.k.i(7), Op::Less, 7);
  check(Op::Less, s.k.i(7), s.i, Op::Greater, 7);
  check(Op::Less, s.i, s.k.d(2.5), Op::Less, 3);
  check(Op::LessEqual, s.i, s.k.d(2.5), Op::LessEqual, 2);
  check(Op::Greater, s.i, s.k.d(2.5), Op::Greater, 2);
  check(Op::GreaterEqual, s.i, s.k.d(-2.5), Op::GreaterEqual, -2);
  check(Op::Equal, s.i, s.k.d(4.0), Op::Equal, 4);
  CHECK_EQ(s.k.f.warnings().size(), 0u);
  // Known answers: the least value decides.
  check(Op::Greater, s.u, s.k.i(-1), Op::GreaterEqual, 0);
  check(Op::Less, s.u, s.k.i(-1), Op::Less, 0);
  check(Op::NotEqual, s.u8, s.k.i(300), Op::GreaterEqual, 0);
  check(Op::Equal, s.i, s.k.d(2.5), Op::Less, -2147483648ll);
  check(Op::Less, s.i, s.k.d(1e30), Op::GreaterEqual, -2147483648ll);
  check(Op::Less, s.i, s.k.d(std::nan("")), Op::Less, -2147483648ll);
  check(Op::LessEqual, s.k.d(std::numeric_limits<double>::infinity()), s.i, Op::Less,
        -2147483648ll);
  CHECK_EQ(s.k.f.warnings().size(), 7u);
}

TEST(logic) {
  Scalars s;
  CHECK_EQ(s.k.type_of(s.k.bin(Op::BitAnd, s.b3, s.b)), "vector<bool,3>");
  CHECK_EQ(s.k.type_of(s.k.f.unary(Op::BitNot, s.b3, s.k.at)), "vector<bool,3>");
  CHECK_EQ(s.k.type_of(s.k.bin(Op::And, s.b, s.k.truth(true))), "bool");
  CHECK_DIAG(s.k.bin(Op::BitAnd, s.b, s.i), bool_arithmetic);
  CHECK_DIAG(s.k.bin(Op::BitAnd, s.f, s.f), operand_type);
  CHECK_DIAG(s.k.f.unary(Op::Not, s.b3, s.k.at), bool_operator);
  CHECK_DIAG(s.k.f.unary(Op::Neg, s.b, s.k.at), bool_arithmetic);
  CHECK_EQ(s.k.type_of(s.k.f.unary(Op::Neg, s.u, s.k.at)), "uint");
}

TEST(choice) {
  Scalars s;
  CHECK_EQ(s.k.type_of(s.k.f.conditional(s.b, s.k.i(1), s.f, s.k.at)), "float");
  CHECK_EQ(s.k.type_of(s.k.f.conditional(s.b, s.k.i(1), s.k.d(2), s.k.at)), "float");
  CHECK_EQ(s.k.type_of(s.k.f.conditional(s.b, s.k.truth(true), s.b, s.k.at)), "bool");
  CHECK_DIAG(s.k.f.conditional(s.i, s.f, s.f, s.k.at), condition_type);
  CHECK_EQ(s.k.type_of(s.k.call(Op::Select, {s.b3, s.f3, s.k.i(0)})), "vector<float,3>");
  CHECK_EQ(s.k.type_of(s.k.call(Op::Select, {s.b3, s.k.i(1), s.f})), "vector<float,3>");
  CHECK_EQ(s.k.type_of(s.k.call(Op::Select, {s.b, s.m, s.m})), "matrix<float,3>");
  CHECK_DIAG(s.k.call(Op::Select, {s.f3, s.f3, s.b3}), operand_type);
}

TEST(matrices) {
  Scalars s;
  ExprId v2 = s.k.arg("vector<float,2>", "v2");
  CHECK_EQ(s.k.type_of(s.k.mul(s.m, s.m)), "matrix<float,3>");
  CHECK_EQ(s.k.type_of(s.k.mul(s.k.i(2), s.m)), "matrix<float,3>");
  CHECK_EQ(s.k.type_of(s.k.bin(Op::MatMul, s.m, s.f3)), "vector<float,3>");
  CHECK_EQ(s.k.type_of(s.k.bin(Op::MatMul, s.f3, s.m)), "vector<float,3>");
  CHECK_EQ(s.k.type_of(s.k.bin(Op::MatMul, s.m, s.m)), "matrix<float,3>");
  CHECK_EQ(s.k.type_of(s.k.bin(Op::MatMul, s.f3, s.f3)), "float");
  CHECK_DIAG(s.k.mul(s.m, s.f3), matrix_product);
  CHECK_DIAG(s.k.add(s.m, s.f), operand_type);
  CHECK_DIAG(s.k.bin(Op::MatMul, s.m, v2), matmul_shape);
  CHECK_EQ(s.k.type_of(s.k.call(Op::Determinant, {s.m})), "float");
  CHECK_EQ(s.k.type_of(s.k.call(Op::OuterProduct, {v2, v2})), "matrix<float,2>");
}

TEST(functions) {
  Scalars s;
  auto type = [&](Op op, std::vector<ExprId> e) { return s.k.type_of(s.k.call(op, e)); };
  CHECK_EQ(type(Op::Sqrt, {s.k.i(2)}), "float");
  CHECK_EQ(type(Op::Sqrt, {s.d}), "double");
  CHECK_EQ(type(Op::Sqrt, {s.u16}), "float");
  CHECK_EQ(type(Op::Min, {s.f3, s.k.i(0)}), "vector<float,3>");
  CHECK_EQ(type(Op::Clamp, {s.f3, s.k.i(0), s.f}), "vector<float,3>");
  CHECK_EQ(type(Op::Lerp, {s.f3, s.f3, s.k.d(0.5)}), "vector<float,3>");
  CHECK_EQ(type(Op::IsNan, {s.f3}), "vector<bool,3>");
  CHECK_EQ(type(Op::Dot, {s.f3, s.f3}), "float");
  CHECK_EQ(type(Op::ReduceSum, {s.i3}), "int");
  CHECK_EQ(type(Op::All, {s.b3}), "bool");
  CHECK_EQ(type(Op::Refract, {s.f3, s.f3, s.k.d(1.5)}), "vector<float,3>");
  CHECK_EQ(type(Op::Popcount, {s.u8}), "ubyte");
  CHECK_EQ(type(Op::DispatchId, {}), "vector<uint,3>");
  CHECK_DIAG(type(Op::Cross, {s.k.arg("vector<float,2>", "v"), s.f3}), lanes_differ);
  CHECK_DIAG(type(Op::Popcount, {s.f}), operand_type);
  CHECK_DIAG(type(Op::Length, {s.f}), operand_type);
  CHECK_DIAG(type(Op::All, {s.i3}), operand_type);
  CHECK_THROWS(type(Op::Load, {}), ArgumentError);
}
