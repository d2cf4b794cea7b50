// The text of CUDA C++: forms that a build cannot prove, and what is refused. tests/emit compiles
// and runs it.
#include "emit/emit.h"

#include "base/error.h"
#include "check.h"

using namespace lcpy;

namespace {

std::string emit(const std::string& slots, const std::string& code, const char* math = "ieee",
                 const CudaTarget& target = {}) {
  std::string text = std::string("kernel \"k\" block 8 4 1 math ") + math + "\n" + slots;
  text += "function 0 \"k\" () -> () {\n" + code + "  Return\n}\n";
  const KernelDescriptor d = parse_kernel(text);
  verify_or_throw(d, "parsing");
  return emit_cuda(d, target);
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kOut = "slot 0 \"o ut\" global buffer<float> read_write number 0\n";

// An index that is a chain of sums, read at each step.
KernelDescriptor index_chain(int steps, bool doubled) {
  KernelDescriptor d;
  KernelBuilder b(d);
  Slot slot;
  slot.name = "o";
  slot.type = Type::buffer(Type::of(Scalar::Float32));
  slot.access = Access::ReadWrite;
  const SlotId out = b.add_slot(slot);
  b.add_function("k", {}, {}, {});
  b.set_insertion(BodyId(0u));
  const Type index = Type::of(Scalar::UInt32);
  const ValueId one = b.integer(index, 1);
  ValueId v = b.extract(b.emit(Op::DispatchId, Type::vector(Scalar::UInt32, 3), {}), {0});
  for (int i = 0; i < steps; i++) {
    v = b.emit(Op::Add, index, {v, doubled ? v : one});
    const Operand chain[] = {Operand::of(v)};
    b.store(out, chain, b.splat(Type::of(Scalar::Float32), 1));
  }
  b.terminate(Op::Return);
  return d;
}

}  // namespace

TEST(literals_keep_every_bit) {
  const std::string text = emit(kOut,
                                "  Store $0, float(0.1), uint(0)\n"
                                "  Store $0, float(-0), uint(1)\n"
                                "  Store $0, float(0x7f800000), uint(2)\n"
                                "  Store $0, float(0x7fc00001), uint(3)\n"
                                "  Store $0, float(1e-45), uint(4)\n");
  CHECK(has(text, "[0u] = 0x1.99999ap-4f;"));
  CHECK(has(text, "[1u] = (-0.0f);"));
  CHECK(has(text, "[2u] = __uint_as_float(2139095040u);"));
  CHECK(has(text, "[3u] = __uint_as_float(2143289345u);"));
  CHECK(has(text, "[4u] = 0x1p-149f;"));
}

TEST(the_smallest_integers_have_literals) {
  const std::string text = emit(
      "slot 0 \"a\" global buffer<int> write number 0\n"
      "slot 1 \"b\" global buffer<long> write number 1\n",
      "  Store $0, int(-2147483648), uint(0)\n"
      "  Store $1, long(-9223372036854775808), uint(0)\n");
  CHECK(has(text, "= (-2147483647 - 1);"));
  CHECK(has(text, "= (-9223372036854775807LL - 1);"));
}

TEST(a_block_is_bound_and_names_are_mangled) {
  const std::string text = emit(kOut, "");
  CHECK(has(text, "extern \"C\" __global__ void __launch_bounds__(32)\nlcpy_main(float* g0_out,"));
}

TEST(vectors_of_one_name_are_one_struct) {
  const std::string text = emit(
      "slot 0 \"a\" global buffer<vector<ubyte,3>> read number 0\n"
      "slot 1 \"b\" global buffer<vector<bool,3>> read_write number 1\n",
      "  %0: vector<ubyte,3> = Load $0, uint(0)\n"
      "  %1: vector<ubyte,3> = Add %0, %0\n"
      "  %2: vector<bool,3> = Less %0, %1\n"
      "  Store $1, %2, uint(0)\n");
  const size_t first = text.find(" uchar3 {");
  CHECK(first != text.npos && text.find(" uchar3 {", first + 1) == text.npos);
}

TEST(only_what_is_used_is_defined) {
  const std::string text = emit(kOut, "  Store $0, float(1), uint(0)\n");
  for (const char* part : {"half", "operator", "float4", "asm", "LCPY_OFFSET"})
    CHECK(!has(text, part));
}

TEST(text_and_time_grow_linearly) {
  CudaTarget apart;
  apart.restrict_ = true;
  for (bool doubled : {false, true}) {
    const size_t one = emit_cuda(index_chain(500, doubled), apart).size();
    const size_t four = emit_cuda(index_chain(2000, doubled), apart).size();
    CHECK(four < one * 5);
  }
}

TEST(near_elements_share_an_address_when_buffers_are_small) {
  CudaTarget apart;
  apart.restrict_ = true;
  CHECK(has(emit_cuda(index_chain(2, false), apart), ")[1] = 1.0f;"));
  CHECK(!has(emit_cuda(index_chain(2, false), {}), ")[1] = 1.0f;"));
}

TEST(minima_of_strict_order_zeros) {
  const std::string code =
      "  %0: float = Load $0, uint(0)\n"
      "  %1: float = Min %0, float(0)\n"
      "  Store $0, %1, uint(1)\n";
  CHECK(has(emit(kOut, code, "strict"), "min.f32"));
  CHECK(has(emit(kOut, code), "fminf("));
}

TEST(what_no_target_has_is_refused_by_name) {
  CHECK_THROWS(emit("slot 0 \"t\" texture texture<2,float> read number 0\n", ""), UnsupportedError);
}
