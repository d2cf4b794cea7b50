// How messages name operations, and the two errors that every shape can raise.
#include "ast/build.h"
#include "types/spelling.h"

namespace lcpy::ast {
namespace {

struct Symbol {
  Op op;
  std::string_view text;
};
// Python's own operators; everything else has a name under `lc.`.
constexpr Symbol kSymbols[] = {
    {Op::Neg, "-"},          {Op::Not, "not"},     {Op::BitNot, "~"},     {Op::Add, "+"},
    {Op::Sub, "-"},          {Op::Mul, "*"},       {Op::Div, "/"},        {Op::FloorDiv, "//"},
    {Op::FloorMod, "%"},     {Op::BitAnd, "&"},    {Op::BitOr, "|"},      {Op::BitXor, "^"},
    {Op::Shl, "<<"},         {Op::Shr, ">>"},      {Op::And, "and"},      {Op::Or, "or"},
    {Op::Less, "<"},         {Op::Greater, ">"},   {Op::LessEqual, "<="}, {Op::GreaterEqual, ">="},
    {Op::Equal, "=="},       {Op::NotEqual, "!="}, {Op::MatMul, "@"},     {Op::PowInt, "**"},
    {Op::IfElse, "if else"},
};

}  // namespace

std::string op_spelling(Op op) {
  for (const Symbol& s : kSymbols) {
    if (s.op == op) return "'" + std::string(s.text) + "'";
  }
  const OpRow& row = op_row(op);
  if (!row.python_name.empty()) return "lc." + std::string(row.python_name);
  return std::string(row.name);
}

void Build::need_count(Op op, std::span<const ExprId> args, size_t count, Span span) const {
  if (args.size() == count) return;
  fail(Diag::operand_count, span,
       {op_spelling(op), std::to_string(count), std::to_string(args.size())});
}

void Build::wrong_operand(Op op, Type type, std::string_view hint, Span span) const {
  if (type.is_void()) fail(Diag::no_value, span, {op_spelling(op)});
  fail(Diag::operand_type, span, {op_spelling(op), type_spelling(type), hint});
}

}  // namespace lcpy::ast
