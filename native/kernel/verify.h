// What verify()'s chapters share: verify.cpp (slots, functions, bodies, dominance),
// verify_rows.cpp (each operation's operands and types by its row), barriers.cpp (divergence).
#pragma once
#include "kernel/descriptor.h"

namespace lcpy {

// Bodies within bodies, the function's own included; of them the program's, since passes may add
// some around it.
inline constexpr uint32_t kDeepestNesting = 64, kDeepestProgram = 60;
inline constexpr std::string_view kReservedPrefix = "__lcpy";  // slot names that are ours

// An operation whose operand ids all exist. Kinds, counts and types are still to be checked.
struct RowContext {
  const KernelDescriptor& d;
  const Operation& o;
  std::span<const Operand> operands;
  size_t count() const { return operands.size(); }
  bool is_value(size_t i) const { return i < operands.size() && operands[i].is_value(); }
  Type type(size_t i) const { return d.type_of(operands[i].value()); }
  Type result() const { return o.result_count == 1 ? d.type_of(o.first_result) : Type(); }
};
// What is wrong, as a rule's name and a message; rule is null when nothing is.
struct RowFault {
  const char* rule = nullptr;
  const char* message = nullptr;
};
RowFault check_row(const RowContext& c);
RowFault check_report(const RowContext& c);  // of Assert, Trap, Print and Bounds

// The type that a chain reaches within a slot; false when the chain does not fit it. For a Global
// slot the chain's first index is the element.
bool chain_type(const KernelDescriptor& d, const Slot& s, std::span<const Operand> chain,
                Type& out);

// A barrier that threads of a block reach apart, and the branch where they part.
struct DivergentBarrier {
  uint32_t function;
  Span barrier, condition;
};
// Barriers under, or after a way out under, conditions that come from the thread's place in its
// block. `certain_only`: conditions of ids and constants alone, which computing them for every
// thread shows to differ; that is what verify() reports. Else also those that take in values which
// are uniform but known at the launch only.
std::vector<DivergentBarrier> divergent_barriers(const KernelDescriptor& d, bool certain_only);

}  // namespace lcpy
