// The rows of op.def as data, and look-up by name.
#include "ops/op.h"

#include <unordered_map>

namespace lcpy {

constexpr OpRow kRows[] = {
#define OP(name, python, category, shape, usage, level, sync, doc) \
  {                                                                \
      Op::name,                                                    \
      #name,                                                       \
      python,                                                      \
      OpCategory::category,                                        \
      Shape::shape,                                                \
      OpUsage::usage,                                              \
      OpLevel::level,                                              \
      OpSync::sync,                                                \
      "",                                                          \
      doc},
#define REFUSED(name, python, category, usage, reason, doc) \
  {Op::name,         #name,                                 \
   python,           OpCategory::category,                  \
   Shape::Refused,   OpUsage::usage,                        \
   OpLevel::Refused, OpSync::Free,                          \
   reason,           doc},
#include "ops/op.def"
#undef OP
#undef REFUSED
};
static_assert(std::size(kRows) == kOpCount);

namespace {

// What must hold of every row, whatever it is.
constexpr bool rows_are_sound() {
  for (int i = 0; i < kOpCount; ++i) {
    const OpRow& r = kRows[i];
    bool kernel = r.level == OpLevel::Kernel;
    if (static_cast<int>(r.op) != i || r.doc.empty()) return false;
    if (kernel && (r.shape != Shape::KernelOnly || !r.python_name.empty())) return false;
    if ((r.level == OpLevel::Refused) == r.reason.empty()) return false;
    if ((r.level == OpLevel::Refused) != (r.shape == Shape::Refused)) return false;
  }
  return true;
}
static_assert(rows_are_sound(), "op.def: a row breaks a rule of rows_are_sound()");

using Names = std::unordered_map<std::string_view, Op>;

Op find(const Names& names, std::string_view name) {
  auto it = names.find(name);
  return it == names.end() ? static_cast<Op>(kOpCount) : it->second;
}

}  // namespace

const OpRow* const kOpRows = kRows;

Op find_op(std::string_view enumerator_name) {
  static const Names& names = *[] {
    auto* all = new Names;
    for (const OpRow& r : kRows) all->emplace(r.name, r.op);
    return all;
  }();
  return find(names, enumerator_name);
}

Op find_python_op(std::string_view python_name) {
  static const Names& names = *[] {
    auto* all = new Names;
    for (const OpRow& r : kRows) {
      if (!r.python_name.empty()) all->emplace(r.python_name, r.op);
    }
    return all;
  }();
  return find(names, python_name);
}

}  // namespace lcpy
