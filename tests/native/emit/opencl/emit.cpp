// The text of OpenCL C: forms that a build cannot prove, and what is refused. tests/emit builds and
// runs it.
#include "emit/emit.h"

#include "base/error.h"
#include "check.h"

using namespace lcpy;

namespace {

std::string emit(const std::string& slots, const std::string& code, const char* math = "ieee",
                 const OpenclTarget& target = {}) {
  std::string text = std::string("kernel \"k\" block 8 4 1 math ") + math + "\n" + slots;
  text += "function 0 \"k\" () -> () {\n" + code + "  Return\n}\n";
  const KernelDescriptor d = parse_kernel(text);
  verify_or_throw(d, "parsing");
  return emit_opencl(d, target);
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kOut = "slot 0 \"o ut\" global buffer<float> write number 0\n";

}  // namespace

TEST(literals_keep_every_bit) {
  const std::string text = emit(kOut,
                                "  Store $0, float(0.1), uint(0)\n"
                                "  Store $0, float(-0), uint(1)\n"
                                "  Store $0, float(0x7f800000), uint(2)\n"
                                "  Store $0, float(0x7fc00001), uint(3)\n"
                                "  Store $0, float(1e-45), uint(4)\n"
                                "  Store $0, float(1.5), uint(5)\n");
  CHECK(has(text, "[0u] = 0x1.99999ap-4f;"));
  CHECK(has(text, "[1u] = (-0.0f);"));
  CHECK(has(text, "[2u] = as_float(2139095040u);"));
  CHECK(has(text, "[3u] = as_float(2143289345u);"));
  CHECK(has(text, "[4u] = 0x1p-149f;"));
  CHECK(has(text, "[5u] = 1.5f;"));
}

TEST(the_smallest_integers_have_literals) {
  const std::string text = emit(
      "slot 0 \"a\" global buffer<int> write number 0\n"
      "slot 1 \"b\" global buffer<long> write number 1\n",
      "  Store $0, int(-2147483648), uint(0)\n"
      "  Store $1, long(-9223372036854775808), uint(0)\n");
  CHECK(has(text, "= (-2147483647 - 1);"));
  CHECK(has(text, "= (-9223372036854775807L - 1);"));
}

TEST(user_names_are_mangled) {
  const std::string text = emit(kOut, "");
  CHECK(has(text, "__global float* g0_out,"));
  CHECK(has(text, "reqd_work_group_size(8, 4, 1)"));
}

TEST(products_stay_in_the_expression_that_adds_them) {
  const std::string code =
      "  %0: vector<uint,3> = DispatchId\n"
      "  %1: uint = Extract %0, 0\n"
      "  %2: float = Convert %1\n"
      "  %3: float = Mul %2, float(3)\n"
      "  %4: float = Add %3, %2\n"
      "  Store $0, %4, %1\n";
  CHECK(has(emit(kOut, code), " * 3.0f) + v"));
  CHECK(!has(emit(kOut, code), "FP_CONTRACT"));
  CHECK(has(emit(kOut, code, "strict"), "#pragma OPENCL FP_CONTRACT OFF"));
}

TEST(signed_integers_wrap) {
  const std::string text = emit("slot 0 \"a\" global buffer<int> read_write number 0\n",
                                "  %0: int = Load $0, uint(0)\n"
                                "  %1: int = Add %0, int(1)\n"
                                "  Store $0, %1, uint(0)\n");
  CHECK(has(text, "= (int)((uint)v") && has(text, " + 1u);"));
}

TEST(only_reading_is_const) {
  const std::string text = emit(
      "slot 0 \"a\" global buffer<int> read number 0\n"
      "slot 1 \"b\" global buffer<int> read_write number 1\n",
      "  %0: int = Load $0, uint(0)\n"
      "  Store $1, %0, uint(0)\n");
  CHECK(has(text, "__global const int* g0_a, __global int* g1_b"));
}

TEST(refusals_name_what_is_missing) {
  OpenclTarget bare;
  bare.fp64 = false;
  const std::string slots = "slot 0 \"a\" global buffer<double> write number 0\n";
  const std::string code = "  Store $0, double(1), uint(0)\n";
  CHECK(has(emit(slots, code), "cl_khr_fp64 : enable"));
  CHECK_THROWS(emit(slots, code, "ieee", bare), UnsupportedError);
  try {
    emit(slots, code, "ieee", bare);
  } catch (const UnsupportedError& e) {
    CHECK(has(e.what(), "cl_khr_fp64"));
  }
}

TEST(build_options_follow_the_mode) {
  KernelDescriptor d;
  OpenclTarget t;
  CHECK_EQ(opencl_build_options(d, t),
           std::string("-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"));
  d.math = MathMode::Strict;
  CHECK(has(opencl_build_options(d, t), "-cl-fp32-correctly-rounded-divide-sqrt"));
  t.correct_divide_sqrt = false;
  CHECK(!has(opencl_build_options(d, t), "correctly-rounded"));
  d.math = MathMode::Fast;
  CHECK(has(opencl_build_options(d, t), "-cl-fast-relaxed-math"));
}
