// One function for each row of ops/shape.def; a row without a function does not link.
#pragma once
#include "ast/build.h"

namespace lcpy::ast {

#define SHAPE(name, doc) \
  ExprId shape_##name(Build& b, Op op, std::span<const ExprId> args, Type result, Span span);
#include "ops/shape.def"
#undef SHAPE

// Heads a definition; most shapes need no result type.
#define LCPY_SHAPE(name)                                                                           \
  ExprId shape_##name(Build& b, Op op, std::span<const ExprId> args, [[maybe_unused]] Type result, \
                      [[maybe_unused]] Span span)

}  // namespace lcpy::ast
