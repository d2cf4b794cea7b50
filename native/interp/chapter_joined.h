// Two operations in one pass over the rows, one instruction set: products with sums, comparisons
// with branches.
#include "interp/loops_elements.h"

namespace lcpy::interp::LCPY_ISA {
namespace {

// The product is rounded before it is added: the bits are those of two operations.
struct MulAdd {
  template <class T>
  LCPY_INLINE T of(T a, T b, T c) {
    return a * b + c;
  }
};
struct MulSub {
  template <class T>
  LCPY_INLINE T of(T a, T b, T c) {
    return a * b - c;
  }
};
struct SubMul {
  template <class T>
  LCPY_INLINE T of(T a, T b, T c) {
    return c - a * b;
  }
};

template <class How, class T, Form F>
const Instr* product(const Instr* at, char* f, State& s) {
  const auto d = row<T>(f, at->d), a = row<T>(f, at->a);
  const auto b = left<T, F>(f, at->b);
  const auto c = right<T, F>(f, at->c);
  LCPY_LANES(l) d.put(l, How::of(a.get(l), b.get(l), c.get(l)));
  LCPY_NEXT;
}
template <class How, class T>
constexpr std::array<Fn, kForms> product_forms() {
  return {&product<How, T, Form::Cells>, &product<How, T, Form::Rows>,
          &product<How, T, Form::RowCell>, &product<How, T, Form::CellRow>};
}

template <class Op, class T, bool Cell, bool Inverted>
const Instr* if_compare(const Instr* at, char* f, State& s) {
  const auto a = row<T>(f, at->a);
  uint64_t c;
  if constexpr (Cell)
    c = compare_rows<Op, T>(a, spread<T>(f, at->b));
  else
    c = compare_rows<Op, T>(a, row<T>(f, at->b));
  if (Inverted) c = ~c;
  const uint64_t in = s.mask & c;
  if (in == 0) {
    set_cell(f, at->d, uint64_t{0});
    LCPY_GO(at + at->target, f, s);
  }
  set_cell(f, at->d, s.mask & ~c);
  s.mask = in;
  LCPY_NEXT;
}
template <class Op, class T>
constexpr std::array<std::array<Fn, 2>, 2> if_forms() {
  return {{{&if_compare<Op, T, false, false>, &if_compare<Op, T, false, true>},
           {&if_compare<Op, T, true, false>, &if_compare<Op, T, true, true>}}};
}
template <class Op>
constexpr std::array<std::array<std::array<Fn, 2>, 2>, kJoinedTypes> if_types() {
  return {if_forms<Op, int32_t>(), if_forms<Op, uint32_t>(), if_forms<Op, float>()};
}

}  // namespace

void fill_joined(Loops& loops) {
  loops.product = {{{product_forms<MulAdd, float>(), product_forms<MulAdd, double>()},
                    {product_forms<MulSub, float>(), product_forms<MulSub, double>()},
                    {product_forms<SubMul, float>(), product_forms<SubMul, double>()}}};
  loops.if_compare = {if_types<sem::Less>(),      if_types<sem::Greater>(),
                      if_types<sem::LessEqual>(), if_types<sem::GreaterEqual>(),
                      if_types<sem::Equal>(),     if_types<sem::NotEqual>()};
}

}  // namespace lcpy::interp::LCPY_ISA
