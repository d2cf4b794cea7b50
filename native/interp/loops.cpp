// The choice of an instruction set, once a process.
#include <string>

#include "base/error.h"
#include "interp/code.h"

namespace lcpy::interp {
namespace {

template <void (*... Fill)(Loops&)>
const Loops& build() {
  static const Loops loops = [] {
    Loops l;
    (Fill(l), ...);
    return l;
  }();
  return loops;
}
#define LCPY_BUILD(isa)                                                                  \
  build<&isa::fill_integers, &isa::fill_narrow, &isa::fill_floats, &isa::fill_functions, \
        &isa::fill_conversions, &isa::fill_memory, &isa::fill_joined>()

}  // namespace

const Loops& loops_for(const char* isa) {
  const std::string name = isa == nullptr ? "" : isa;
  if (name == "baseline") return LCPY_BUILD(baseline);
#if LCPY_X86
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi2");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
  if (has_avx512 && (name.empty() || name == "avx512")) return LCPY_BUILD(avx512);
  if (has_avx2 && (name.empty() || name == "avx2")) return LCPY_BUILD(avx2);
#endif
  if (name.empty()) return LCPY_BUILD(baseline);
  throw ArgumentError("instruction set '" + name + "' is not there: this processor has baseline" +
#if LCPY_X86
                      (has_avx2 ? ", avx2" : "") + (has_avx512 ? ", avx512" : "") +
#endif
                      "");
}

}  // namespace lcpy::interp
