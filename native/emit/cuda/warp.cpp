// Warp operations of CUDA C++: each is told which lanes are here, and waits for those. A full warp
// exchanges in five steps; otherwise, and where the order of a sum matters, lanes are taken one by
// one from the lowest up. 32-bit integers have instructions from sm_80 on.
#include "base/error.h"
#include "emit/clike/emitter.h"
#include "emit/clike/warp.h"
#include "emit/cuda/dialect.h"

namespace lcpy::cuda {
namespace {

struct Combine {
  Op op;
  std::string_view name, of_two;  // of a and b
  std::string_view instruction;   // of 32-bit integers
  std::string_view empty;         // of a prefix
};
constexpr Combine kCombines[] = {
    {Op::WarpSum, "sum", "a + b", "__reduce_add_sync", ""},
    {Op::WarpProduct, "product", "a * b", "", ""},
    {Op::WarpMin, "min", "b < a ? b : a", "__reduce_min_sync", ""},
    {Op::WarpMax, "max", "a < b ? b : a", "__reduce_max_sync", ""},
    {Op::WarpAnd, "and", "a & b", "__reduce_and_sync", ""},
    {Op::WarpOr, "or", "a | b", "__reduce_or_sync", ""},
    {Op::WarpXor, "xor", "a ^ b", "__reduce_xor_sync", ""},
    {Op::WarpPrefixSum, "prefix_sum", "a + b", "", "0"},
    {Op::WarpPrefixProduct, "prefix_product", "a * b", "", "1"},
};

const Combine& combine_of(Op op) {
  for (const Combine& c : kCombines)
    if (c.op == op) return c;
  throw BugError("no text for " + std::string(op_row(op).name));
}

// The lanes that are here stand between "before" and "between", the value behind that.
struct Plain {
  Op op;
  std::string_view before, between, after;
};
constexpr Plain kPlain[] = {
    {Op::WarpIsFirst, "warp_lane() == (uint)__ffs((int)", "", ") - 1u"},
    {Op::WarpFirstLane, "(uint)__ffs((int)", "", ") - 1u"},
    {Op::WarpAll, "__all_sync(", ", ", ") != 0"},
    {Op::WarpAny, "__any_sync(", ", ", ") != 0"},
    {Op::WarpCount, "(uint)__popc((int)__ballot_sync(", ", ", "))"},
    {Op::WarpPrefixCount, "(uint)__popc((int)(__ballot_sync(", ", ",
     ") & ((1u << warp_lane()) - 1u)))"},
};

void define_lane(clike::Emitter& e) {
  if (Text* t = e.define("warp_lane"))
    *t << "static LCPY_DEV uint warp_lane() { uint lane; "
          "asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane)); return lane; }\n";
}

// Signed integers wrap through unsigned ones.
bool wraps(Op op, Scalar s) {
  return scalar_class(s) == ScalarClass::Signed &&
         (op == Op::WarpSum || op == Op::WarpProduct || op == Op::WarpPrefixSum ||
          op == Op::WarpPrefixProduct);
}

}  // namespace

// A function that combines the values of the lanes that are here.
std::string CudaDialect::combiner(clike::Emitter& e, const Warp& w) {
  const Combine& c = combine_of(w.op);
  const Scalar s = w.type.scalar();
  const Scalar as = wraps(w.op, s) ? (scalar_size(s) == 8 ? Scalar::UInt64 : Scalar::UInt32) : s;
  const std::string type(scalar(as));
  const std::string function = "warp_" + std::string(c.name) + "_" + type;
  define_lane(e);
  Text* t = e.define(function);
  if (!t) return function;
  const bool in_order = math_ == MathMode::Strict && clike::sums_floats(w.op, w.type);
  const bool prefix = !c.empty.empty();
  const auto two = [&](std::string_view a, std::string_view b) {
    *t << function << "_of(" << a << ", " << b << ')';
  };
  *t << "static LCPY_DEV " << type << ' ' << function << "_of(" << type << " a, " << type
     << " b) { return " << c.of_two << "; }\n"
     << "static LCPY_DEV " << type << ' ' << function << "(uint active, " << type
     << " v) {\n";
  if (!c.instruction.empty() && w.type.is_integer() && scalar_size(as) == 4)
    *t << "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n  return (" << type << ')'
       << c.instruction << "(active, v);\n#else\n";
  if (prefix) *t << "  const uint mine = warp_lane();\n";
  if (!in_order) {
    *t << "  if (active == 0xffffffffu) {\n";
    if (prefix) {
      *t << "    for (uint step = 1; step < 32; step *= 2) {\n      const " << type
         << " below = __shfl_up_sync(active, v, step);\n      if (mine >= step) v = ";
      two("below", "v");
      *t << ";\n    }\n    const " << type
         << " all = __shfl_up_sync(active, v, 1);\n    return mine == 0 ? (" << type << ')'
         << c.empty << " : all;\n  }\n";
    } else {
      *t << "    for (uint step = 16; step > 0; step /= 2) v = ";
      two("v", "__shfl_xor_sync(active, v, (int)step)");
      *t << ";\n    return v;\n  }\n";
    }
  }
  *t << "  uint rest = active;\n  " << type
     << " total = __shfl_sync(active, v, __ffs((int)rest) - 1);\n";
  if (prefix) *t << "  bool any = mine > (uint)__ffs((int)rest) - 1u;\n";
  *t << "  for (rest &= rest - 1u; rest; rest &= rest - 1u) {\n"
     << "    const uint lane = (uint)__ffs((int)rest) - 1u;\n    const " << type
     << " theirs = __shfl_sync(active, v, (int)lane);\n    "
     << (prefix ? "if (lane < mine) total = " : "total = ");
  two("total", "theirs");
  *t << ";\n  }\n";
  if (prefix)
    *t << "  return any ? total : (" << type << ')' << c.empty << ";\n";
  else
    *t << "  return total;\n";
  if (!c.instruction.empty() && w.type.is_integer() && scalar_size(as) == 4) *t << "#endif\n";
  *t << "}\n";
  return function;
}

std::string CudaDialect::lane_reader(clike::Emitter& e, const Warp& w) {
  const std::string type(scalar(w.type.scalar()));
  const bool first = w.op == Op::WarpReadFirst;
  const std::string function = (first ? "warp_read_first_" : "warp_read_lane_") + type;
  Text* t = e.define(function);
  if (!t) return function;
  *t << "static LCPY_DEV " << type << ' ' << function << "(uint active, " << type << " v"
     << (first ? "" : ", uint lane") << ") {\n";
  if (first)
    *t << "  return __shfl_sync(active, v, __ffs((int)active) - 1);\n}\n";
  else
    *t << "  const bool there = lane < (uint)warpSize && (active >> (lane & 31u) & 1u);\n  const "
       << type << " read = __shfl_sync(active, v, (int)(lane & 31u));\n"
       << "  return there ? read : (" << type << ")0;\n}\n";
  return function;
}

// All of a full warp; the last warp of a block may have fewer.
void CudaDialect::first_lanes(Text& t) const {
  const auto& [x, y, z] = block_size_;
  const uint32_t threads = x * y * z, rest = threads % 32, last = (1u << rest) - 1;
  if (threads < 32) {
    t << last << 'u';
    return;
  }
  if (rest) {
    t << "threadIdx.x";
    if (y * z > 1) t << " + " << x << "u * (threadIdx.y + " << y << "u * threadIdx.z)";
    t << " >= " << threads - rest << "u ? " << last << "u : ";
  }
  t << "0xffffffffu";
}

void CudaDialect::warp(Text& t, clike::Emitter& e, const Warp& w) {
  if (w.op == Op::WarpReadLane || w.op == Op::WarpReadFirst) {
    t << lane_reader(e, w) << '(' << w.lanes << ", " << w.value;
    if (w.op == Op::WarpReadLane) t << ", " << w.lane;
    t << ')';
    return;
  }
  if (w.op == Op::WarpBallot) {
    open_vector(t, Scalar::UInt32, 4);
    t << "__ballot_sync(" << w.lanes << ", " << w.value << "), 0u, 0u, 0u)";
    return;
  }
  if (w.op == Op::WarpSize) {
    t << "(uint)warpSize";
    return;
  }
  if (w.op == Op::WarpLaneId) {
    define_lane(e);
    t << "warp_lane()";
    return;
  }
  for (const Plain& row : kPlain) {
    if (row.op != w.op) continue;
    define_lane(e);
    t << row.before << w.lanes << row.between << w.value << row.after;
    return;
  }
  const Scalar s = w.type.scalar();
  const std::string function = combiner(e, w);
  if (!wraps(w.op, s)) {
    t << function << '(' << w.lanes << ", " << w.value << ')';
    return;
  }
  t << '(' << scalar(s) << ')' << function << '(' << w.lanes << ", ("
    << (scalar_size(s) == 8 ? "ullong" : "uint") << ")(" << w.value << "))";
}

}  // namespace lcpy::cuda
