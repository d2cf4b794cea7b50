// Every element-wise operation on every type, over edge values, with rows and cells as operands, on
// every instruction set: the bits of constant evaluation.
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "interp/interp.h"
#include "kernel/descriptor.h"
#include "kernel/evaluate.h"
#include "kernel/scalar_bits.h"

using namespace lcpy;

namespace {

const char* const kIsas[] = {"baseline", "avx2", "avx512"};

std::vector<uint64_t> edges(Scalar s) {
  std::vector<uint64_t> v;
  const auto cls = scalar_class(s);
  if (cls == ScalarClass::Bool) return {0, 1};
  if (cls == ScalarClass::Float) {
    const double inf = std::numeric_limits<double>::infinity();
    for (double x : {0.0,   -0.0,     1.0,
                     -1.0,  0.5,      -0.5,
                     1.5,   2.5,      -2.5,
                     3.7,   -3.7,     7.0,
                     -7.0,  1e-7,     -6e-8,
                     1e4,   -65519.0, 65520.0,
                     3e9,   -3e9,     1e19,
                     1e-40, 1e-310,   1e300,
                     inf,   -inf,     std::numeric_limits<double>::quiet_NaN()})
      v.push_back(scalar_bits(s, x));
    return v;
  }
  const uint64_t top = uint64_t{1} << (8 * scalar_size(s) - 1);
  for (uint64_t x :
       {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, uint64_t{31}, uint64_t{33},
        ~uint64_t{0}, ~uint64_t{1}, ~uint64_t{6}, top, top - 1, top + 1, top / 3, uint64_t{100}})
    v.push_back(x);
  return v;
}

struct Case {
  std::vector<std::byte> in[3];  // operands by lane, element by element
  std::vector<std::byte> out;    // expected
  size_t lanes = 0;
};

std::vector<Scalar> types_of(const char* rule) {
  std::vector<Scalar> all;
  const std::string r = rule;
  for (int i = 0; i < kScalarCount; ++i) {
    const Scalar s = static_cast<Scalar>(i);
    const auto c = scalar_class(s);
    const bool integer = c == ScalarClass::Signed || c == ScalarClass::Unsigned;
    const bool real = c == ScalarClass::Float, truth = c == ScalarClass::Bool;
    if ((integer && r != "Float" && r != "Bool") ||
        (real && (r == "Float" || r == "Number" || r == "NumberBool")) ||
        (truth && (r == "Bool" || r == "Bits" || r == "NumberBool")))
      all.push_back(s);
  }
  return all;
}

// A kernel out[i] = op(a[i], b[i], c[i]); operands in `cells` come from element 0 for all lanes.
KernelDescriptor kernel(Op op, const std::vector<Scalar>& in, Scalar out, unsigned cells) {
  KernelDescriptor d;
  d.name = "k";
  d.block_size = {64, 1, 1};
  KernelBuilder b(d);
  std::vector<SlotId> slots;
  for (size_t i = 0; i <= in.size(); ++i) {
    Slot s;
    s.name = "s" + std::to_string(i);
    s.type = Type::buffer(Type::of(i < in.size() ? in[i] : out));
    s.access = i < in.size() ? Access::Read : Access::Write;
    s.number = static_cast<uint32_t>(i);
    slots.push_back(b.add_slot(s));
  }
  b.add_function("k", {}, {}, {});
  b.set_insertion(BodyId(0u));
  const ValueId id = b.emit(Op::DispatchId, Type::vector(Scalar::UInt32, 3), {});
  const Operand x = Operand::of(b.extract(id, {0}));
  const Operand first = Operand::of(b.integer(Type::of(Scalar::UInt32), 0));
  std::vector<ValueId> values;
  for (size_t i = 0; i < in.size(); ++i)
    values.push_back(b.load(slots[i], {{(cells >> i) & 1 ? first : x}}, Type::of(in[i])));
  const ValueId r = b.emit(op, Type::of(out), std::span<const ValueId>(values));
  b.store(slots.back(), {{x}}, r);
  b.terminate(Op::Return);
  return d;
}

void check_op(Op op, const std::vector<Scalar>& in, Scalar out) {
  std::vector<std::vector<uint64_t>> values;
  size_t lanes = 1;
  for (size_t i = 0; i < in.size(); ++i) {
    values.push_back(edges(in[i]));
    if (i == 2) values.back().resize(6);
    lanes *= values.back().size();
  }
  for (unsigned cells = 0; cells < (1u << in.size()); ++cells) {
    std::vector<std::vector<std::byte>> data(in.size() + 1);
    std::vector<std::byte> expected(lanes * scalar_size(out));
    for (size_t i = 0; i < in.size(); ++i) data[i].resize(lanes * scalar_size(in[i]));
    data.back().resize(expected.size());
    // Element 0 is what cells take; rotate so that it is not always a zero.
    for (size_t l = 0; l < lanes; ++l) {
      size_t k = l + 7 * (cells + 1);
      for (size_t i = 0; i < in.size(); ++i) {
        const uint64_t v = values[i][k % values[i].size()];
        k /= values[i].size();
        std::memcpy(data[i].data() + l * scalar_size(in[i]), &v, scalar_size(in[i]));
      }
    }
    for (size_t l = 0; l < lanes; ++l) {
      std::vector<Type> types;
      std::vector<std::span<const std::byte>> operands;
      for (size_t i = 0; i < in.size(); ++i) {
        const size_t at = (cells >> i) & 1 ? 0 : l;
        types.push_back(Type::of(in[i]));
        operands.push_back({data[i].data() + at * scalar_size(in[i]), scalar_size(in[i])});
      }
      CHECK(evaluate(op, Type::of(out), types, operands, {},
                     {expected.data() + l * scalar_size(out), scalar_size(out)}));
    }
    const KernelDescriptor d = kernel(op, in, out, cells);
    for (const char* isa : kIsas) {
      std::shared_ptr<const interp::Program> program;
      try {
        program = interp::build_program(d, isa);
      } catch (const ArgumentError&) {
        continue;
      }
      std::fill(data.back().begin(), data.back().end(), std::byte{0});
      std::vector<interp::Binding> bindings;
      for (auto& b : data) bindings.push_back({b.data(), b.size()});
      std::vector<std::byte> block(argument_block(d).size);
      interp::run(*program, {{static_cast<uint32_t>(lanes), 1, 1}, bindings, block, 1});
      for (size_t l = 0; l < lanes; ++l) {
        const size_t n = scalar_size(out);
        if (std::memcmp(data.back().data() + l * n, expected.data() + l * n, n) == 0) continue;
        uint64_t bits[5] = {};
        for (size_t i = 0; i < in.size(); ++i)
          std::memcpy(&bits[i], data[i].data() + ((cells >> i) & 1 ? 0 : l) * scalar_size(in[i]),
                      scalar_size(in[i]));
        std::memcpy(&bits[3], data.back().data() + l * n, n);
        std::memcpy(&bits[4], expected.data() + l * n, n);
        char text[200];
        std::snprintf(text, sizeof text,
                      "%s of %s to %s on %s, cells %u: (%llx, %llx, %llx) gave %llx, not %llx",
                      std::string(op_row(op).name).c_str(), std::string(scalar_name(in[0])).c_str(),
                      std::string(scalar_name(out)).c_str(), isa, cells,
                      (unsigned long long)bits[0], (unsigned long long)bits[1],
                      (unsigned long long)bits[2], (unsigned long long)bits[3],
                      (unsigned long long)bits[4]);
        CHECK_EQ(std::string(text), std::string("the evaluated bits"));
      }
    }
  }
}

void check_rule(Op op, int operands, const char* types, const std::string& result) {
  for (Scalar s : types_of(types)) {
    std::vector<Scalar> in(static_cast<size_t>(operands), s);
    if (result == "Shift") {
      for (Scalar n : {s, Scalar::Int32, Scalar::UInt8, Scalar::Int64}) {
        in[1] = n;
        check_op(op, in, s);
      }
    } else {
      check_op(op, in, result == "Test" ? Scalar::Bool : s);
    }
  }
}

}  // namespace

#define ELEMENTWISE(op, operands, types, result) \
  TEST(op) { check_rule(Op::op, operands, #types, #result); }
#include "kernel/elementwise.def"
#undef ELEMENTWISE

TEST(Convert) {
  for (int from = 0; from < kScalarCount; ++from)
    for (int to = 0; to < kScalarCount; ++to) {
      const Scalar a = static_cast<Scalar>(from), b = static_cast<Scalar>(to);
      if (a != b && scalar_class(a) != ScalarClass::Storage) check_op(Op::Convert, {a}, b);
    }
}
TEST(Select) {
  for (Scalar s : {Scalar::Bool, Scalar::Int8, Scalar::Float16, Scalar::UInt32, Scalar::Float64})
    check_op(Op::Select, {Scalar::Bool, s, s}, s);
}
