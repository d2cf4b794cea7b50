// The rows of ops.def as a table, total by construction: a missing row stops the build with the
// operation's name, and so does an EXPANDED row that pass_expand has no expansion for.
#pragma once
#include <array>

#include "emit/clike/emitter.h"
#include "lower/expand.h"

namespace lcpy::clike {

struct OpForm {
  enum class Kind : uint8_t {
    None,
    Infix,
    Wrapping,
    Compare,
    Function,
    Value,
    Read,
    Statement,
    Expanded
  };
  Kind kind = Kind::None;
  std::string_view text, integer_text;
  void (Emitter::*value)(Text&, const Operation&) = nullptr;
  void (Emitter::*statement)(const Operation&) = nullptr;
};

// Befriended by Emitter, whose functions the rows name.
struct OpForms {
  using Kind = OpForm::Kind;
  static constexpr std::array<OpForm, kOpCount> make() {
    std::array<OpForm, kOpCount> t{};
#define ROW(op) t[static_cast<size_t>(Op::op)]
#define INFIX(op, sign) ROW(op) = {Kind::Infix, sign, sign, nullptr, nullptr};
#define WRAPPING(op, sign) ROW(op) = {Kind::Wrapping, sign, sign, nullptr, nullptr};
#define COMPARE(op, sign) ROW(op) = {Kind::Compare, sign, sign, nullptr, nullptr};
#define FUNCTION(op, name) ROW(op) = {Kind::Function, name, name, nullptr, nullptr};
#define FUNCTIONS(op, real, whole) ROW(op) = {Kind::Function, real, whole, nullptr, nullptr};
#define VALUE(op, f) ROW(op) = {Kind::Value, {}, {}, &Emitter::f, nullptr};
#define READ(op, f) ROW(op) = {Kind::Read, {}, {}, &Emitter::f, nullptr};
#define STATEMENT(op, f) ROW(op) = {Kind::Statement, {}, {}, nullptr, &Emitter::f};
#define EXPANDED(op) ROW(op) = {Kind::Expanded, {}, {}, nullptr, nullptr};
#include "emit/clike/ops.def"
#undef ROW
#undef INFIX
#undef WRAPPING
#undef COMPARE
#undef FUNCTION
#undef FUNCTIONS
#undef VALUE
#undef READ
#undef STATEMENT
#undef EXPANDED
    return t;
  }
};
inline constexpr std::array<OpForm, kOpCount> kForms = OpForms::make();

constexpr const OpForm& form_of(Op op) { return kForms[static_cast<size_t>(op)]; }

#define OP(name, python, category, shape, usage, level, sync, doc)                              \
  static_assert(OpLevel::level == OpLevel::Ast || form_of(Op::name).kind != OpForm::Kind::None, \
                "emit/clike/ops.def lacks a row for " #name);                                   \
  static_assert(form_of(Op::name).kind != OpForm::Kind::Expanded || has_expansion(Op::name),    \
                "lower/expand.def lacks a row for " #name);
#define REFUSED(name, python, category, usage, reason, doc)
#include "ops/op.def"
#undef OP
#undef REFUSED

}  // namespace lcpy::clike
