// Implicit and explicit conversion, makers, bit casts, literals from bytes, constants.
#include <cmath>
#include <cstring>
#include <limits>

#include "ast_kit.h"
#include "check.h"

using namespace lcpy;
using namespace lcpy::ast;
using namespace lcpy::test;

namespace {

bool converts(std::string_view from, std::string_view to) {
  Kit k;
  ExprId x = k.arg(from, "x");
  Diagnostic d = diagnostic_of([&] { k.f.convert(x, Kit::type(to), "it", k.at); });
  return d.code == Diag{};
}

template <class T>
ExprId literal(Kit& k, std::string_view type, T value) {
  return k.f.literal(Kit::type(type), &value, k.at);
}

}  // namespace

TEST(exact_conversions_alone_are_implicit) {
  CHECK(converts("short", "int") && converts("ubyte", "int") && converts("uint", "long"));
  CHECK(converts("ubyte", "half") && converts("byte", "half") && converts("ushort", "float"));
  CHECK(converts("int", "double") && converts("half", "float") && converts("float", "double"));
  CHECK(converts("bfloat16", "float") && converts("float8_e4m3", "half"));
  CHECK(converts("vector<short,3>", "vector<int,3>") &&
        converts("matrix<half,2>", "matrix<float,2>"));
  CHECK(!converts("int", "uint") && !converts("uint", "int") && !converts("int", "short"));
  CHECK(!converts("short", "half") && !converts("int", "float") && !converts("long", "double"));
  CHECK(!converts("double", "float") && !converts("float", "int") && !converts("bool", "int"));
  CHECK(!converts("int", "bool") && !converts("bfloat16", "half") && !converts("byte", "ushort"));
  CHECK(!converts("float", "vector<float,3>") && !converts("vector<float,3>", "vector<float,2>"));
}

TEST(literals_convert_where_they_fit) {
  Kit k;
  auto to = [&](ExprId e, std::string_view t) { return k.f.convert(e, Kit::type(t), "it", k.at); };
  CHECK_EQ(k.type_of(to(k.i(200), "ubyte")), "ubyte");
  CHECK_EQ(k.node(to(k.d(0.1), "half")).value.f, 0.0999755859375);
  CHECK_EQ(k.type_of(to(k.i(3), "double")), "double");
  CHECK_EQ(k.type_of(to(k.d(1), "bfloat16")), "bfloat16");
  CHECK_DIAG(to(k.i(200), "byte"), literal_range);
  CHECK_DIAG(to(k.d(2.0), "int"), not_exact);
  CHECK_DIAG(to(k.truth(true), "int"), not_exact);
  CHECK_DIAG(to(k.i(1), "bool"), not_exact);
  CHECK_DIAG(to(k.i(1), "vector<float,3>"), wrong_type);
}

TEST(casts_of_literals) {
  Kit k;
  auto bits = [&](std::string_view t, ExprId e) { return k.node(k.cast(t, e)).value.i; };
  CHECK_EQ(bits("uint", k.i(-1)), 4294967295ll);
  CHECK_EQ(bits("byte", k.i(300)), 44);
  CHECK_EQ(bits("int", k.d(-2.9)), -2);
  CHECK_EQ(bits("int", k.d(std::numeric_limits<double>::infinity())), 2147483647);
  CHECK_EQ(bits("int", k.d(-std::numeric_limits<double>::infinity())), -2147483648ll);
  CHECK_EQ(bits("ubyte", k.d(std::nan(""))), 0);
  CHECK_EQ(bits("bool", k.d(0.5)), 1);
  CHECK_EQ(bits("int", k.truth(true)), 1);
  CHECK_DIAG(k.cast("half", k.d(1e6)), literal_range);
  CHECK_DIAG(k.cast("int", k.d(1e10)), literal_range);
  CHECK_EQ(k.type_of(k.cast("vector<float,3>", k.i(1))), "vector<float,3>");
}

TEST(casts_are_not_places) {
  Kit k;
  ExprId x = k.local("int", "x");
  CHECK(k.f.is_place(x));
  CHECK(!k.f.is_place(k.cast("int", x)));
  CHECK(!k.f.is_place(k.cast("float", x)));
}

TEST(makers) {
  Kit k;
  ExprId f2 = k.arg("vector<float,2>", "f2"), i4 = k.arg("vector<int,4>", "i4");
  auto op_of = [&](ExprId e) { return k.node(e).op; };
  CHECK(op_of(k.make("vector<float,3>", {})) == Op::Zero);
  CHECK_EQ(k.f.args_of(k.node(k.make("vector<float,4>", {f2, k.i(0), k.d(1)}))).size(), 3u);
  ExprId splat = k.make("vector<float,3>", {k.i(1)});
  CHECK_EQ(k.f.args_of(k.node(splat)).size(), 1u);
  ExprId cut = k.make("vector<float,3>", {i4});
  CHECK(k.node(cut).kind == ExprKind::Cast);
  CHECK(k.node(ExprId(k.node(cut).a)).kind == ExprKind::Swizzle);
  ExprId matrix = k.make("matrix<float,2>", {f2, f2});
  CHECK(op_of(matrix) == Op::Make);
  ExprId rows[] = {f2, f2};
  CHECK(op_of(k.f.from_rows(Kit::type("matrix<float,2>"), rows, k.at)) == Op::Transpose);
  CHECK_EQ(k.type_of(k.make("struct<4,int,float>", {k.i(1), k.i(2)})), "struct<4,int,float>");
  CHECK_EQ(k.type_of(k.make("array<float,2>", {k.i(1), k.d(2)})), "array<float,2>");
  CHECK_DIAG(k.make("array<int,2>", {k.i(1)}), operand_count);
  CHECK_DIAG(k.make("struct<4,int>", {k.arg("float", "x")}), not_exact);
  CHECK_DIAG(k.make("vector<float,3>", {f2}), make_lanes);
  CHECK_DIAG(k.make("buffer<float>", {f2}), make_parts);
}

TEST(bitcasts) {
  Kit k;
  ExprId f3 = k.arg("vector<float,3>", "f3"), h2 = k.arg("vector<half,2>", "h2");
  CHECK_EQ(k.type_of(k.f.bitcast(Kit::type("vector<uint,3>"), f3, k.at)), "vector<uint,3>");
  CHECK_EQ(k.type_of(k.f.bitcast(Kit::type("uint"), h2, k.at)), "uint");
  CHECK_DIAG(k.f.bitcast(Kit::type("vector<uint,4>"), f3, k.at), bitcast_size);
  CHECK_DIAG(k.f.bitcast(Kit::type("bool"), k.arg("ubyte", "u"), k.at), bitcast_size);
  CHECK_DIAG(k.f.bitcast(Kit::type("matrix<float,2>"), k.arg("vector<float,4>", "v"), k.at),
             bitcast_size);
}

TEST(literals_keep_their_bits) {
  Kit k;
  CHECK_EQ(k.node(literal<int8_t>(k, "byte", -3)).value.i, -3);
  CHECK_EQ(k.node(literal<uint16_t>(k, "half", 0x0001)).value.f, std::ldexp(1.0, -24));
  CHECK_EQ(k.node(literal<uint16_t>(k, "half", 0xfbff)).value.f, -65504.0);
  CHECK(std::signbit(k.node(literal<float>(k, "float", -0.0f)).value.f));
  // Payloads of NaN are kept as bytes.
  ExprId nan = literal<uint32_t>(k, "float", 0x7fa00001);
  CHECK(k.node(nan).kind == ExprKind::Constant);
  uint32_t bits;
  std::memcpy(&bits, k.f.constant_bytes(k.node(nan)).data(), 4);
  CHECK_EQ(bits, 0x7fa00001u);
}

TEST(half_rounds_once_to_even) {
  Kit k;
  auto half = [&](double v) { return k.node(k.cast("half", k.d(v))).value.f; };
  CHECK_EQ(half(2049), 2048.0);
  CHECK_EQ(half(2051), 2052.0);
  CHECK_EQ(half(65519), 65504.0);
  CHECK_EQ(half(std::ldexp(1.0, -25)), 0.0);
  CHECK_EQ(half(std::ldexp(1.5, -25)), std::ldexp(1.0, -24));
  CHECK_DIAG(half(65520), literal_range);
}

TEST(constants_are_canonical) {
  Kit k;
  std::byte bytes[8]{};
  bytes[0] = std::byte{7};  // a bool
  bytes[1] = std::byte{9};  // padding
  bytes[4] = std::byte{3};
  ExprId e = k.f.constant(Kit::type("struct<4,bool,int>"), bytes, k.at);
  auto kept = k.f.constant_bytes(k.node(e));
  CHECK_EQ(static_cast<int>(kept[0]), 1);
  CHECK_EQ(static_cast<int>(kept[1]), 0);
  CHECK_EQ(static_cast<int>(kept[4]), 3);
  CHECK_THROWS(k.f.constant(Kit::type("int"), bytes, k.at), ArgumentError);
}

TEST(common_types) {
  Kit k;
  auto common = [&](std::vector<ExprId> e) {
    return k.f.common_type(e, "the bounds", k.at).description();
  };
  ExprId i = k.arg("int", "i"), u = k.arg("uint", "u"), s = k.arg("struct<4,int>", "s");
  CHECK_EQ(common({k.i(0), u}), "uint");
  CHECK_EQ(common({k.i(0), k.i(10)}), "int");
  CHECK_EQ(common({k.i(0), k.i(1ll << 40)}), "long");
  CHECK_EQ(common({i, k.arg("long", "l")}), "long");
  CHECK_EQ(common({s, s}), "struct<4,int>");
  CHECK_DIAG(common({i, u}), sign_mix);
  CHECK_DIAG(common({i, s}), no_common_type);
  CHECK_DIAG(common({i, k.arg("bool", "b")}), no_common_type);
}
