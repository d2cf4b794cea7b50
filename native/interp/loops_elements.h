// Handlers of element-wise operations: cells, rows and mixed. Included by the arithmetic chapters.
#pragma once
#include "interp/loops.h"

namespace lcpy::interp::LCPY_ISA {
namespace {

enum class Result { Same, Test, Shift };

template <class T, Form F>
LCPY_INLINE auto left(char* f, uint32_t at) {
  if constexpr (F == Form::Rows || F == Form::RowCell)
    return row<T>(f, at);
  else
    return spread<T>(f, at);
}
template <class T, Form F>
LCPY_INLINE auto right(char* f, uint32_t at) {
  if constexpr (F == Form::Rows || F == Form::CellRow)
    return row<T>(f, at);
  else
    return spread<T>(f, at);
}

// Shift amounts come in the left operand's width.
template <class Op, Result R, class T>
LCPY_INLINE T apply(T a, T b) {
  if constexpr (R == Result::Shift)
    return Op::of(a, static_cast<uint32_t>(static_cast<sem::bits_t<T>>(b)));
  else
    return Op::of(a, b);
}

#if LCPY_X86 && defined(__AVX512DQ__)
// One instruction has min and max as we mean them (a NaN loses, -0 is below +0), but for signaling
// NaNs, which win: where there is a NaN at all, the other operand is taken.
template <class Op, class T, class A, class B>
LCPY_INLINE void range_rows(Row<T> d, A x, B y) {
  constexpr int how = std::is_same_v<Op, sem::Max> ? 5 : 4;
#pragma GCC unroll 16
  for (int l = 0; l < kLanes; l += kPerWide<T>) {
    if constexpr (sizeof(T) == 4) {
      const __m512 a = (__m512)wide<T>(x, l), b = (__m512)wide<T>(y, l);
      __m512 r = _mm512_range_ps(a, b, how);
      if (__builtin_expect(_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q) != 0, 0)) {
        r = _mm512_mask_mov_ps(r, _mm512_cmp_ps_mask(b, b, _CMP_UNORD_Q), a);
        r = _mm512_mask_mov_ps(r, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), b);
      }
      _mm512_store_ps(d.p + l, r);
    } else {
      const __m512d a = (__m512d)wide<T>(x, l), b = (__m512d)wide<T>(y, l);
      __m512d r = _mm512_range_pd(a, b, how);
      if (__builtin_expect(_mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q) != 0, 0)) {
        r = _mm512_mask_mov_pd(r, _mm512_cmp_pd_mask(b, b, _CMP_UNORD_Q), a);
        r = _mm512_mask_mov_pd(r, _mm512_cmp_pd_mask(a, a, _CMP_UNORD_Q), b);
      }
      _mm512_store_pd(d.p + l, r);
    }
  }
}
template <class Op, class T>
inline constexpr bool kHasRange = (std::is_same_v<Op, sem::Min> ||
                                   std::is_same_v<Op, sem::Max>)&&sem::is_real_v<T>;
#else
template <class Op, class T>
inline constexpr bool kHasRange = false;
template <class Op, class T, class A, class B>
LCPY_INLINE void range_rows(Row<T>, A, B) {}
#endif

template <class Op, int Operands, Result R, class T, Form F>
const Instr* element(const Instr* at, char* f, State& s) {
  if constexpr (F == Form::Cells) {
    const T a = cell<T>(f, at->a);
    if constexpr (Operands == 1) {
      if constexpr (R == Result::Test)
        set_cell(f, at->d, bits_of(Op::of(a)));
      else
        set_cell(f, at->d, Op::of(a));
    } else if constexpr (Operands == 2) {
      const T b = cell<T>(f, at->b);
      if constexpr (R == Result::Test)
        set_cell(f, at->d, bits_of(Op::of(a, b)));
      else
        set_cell(f, at->d, apply<Op, R, T>(a, b));
    } else {
      set_cell(f, at->d, Op::of(a, cell<T>(f, at->b), cell<T>(f, at->c)));
    }
  } else {
    const auto a = left<T, F>(f, at->a);
    if constexpr (Operands == 1) {
      if constexpr (R == Result::Test) {
        set_cell(f, at->d, test_bytes([&](int l) __attribute__((always_inline)) {
                   return Op::of(a.get(l));
                 }));
      } else {
        const auto d = row<T>(f, at->d);
        LCPY_LANES(l) d.put(l, Op::of(a.get(l)));
      }
    } else if constexpr (Operands == 2) {
      const auto b = right<T, F>(f, at->b);
      if constexpr (R == Result::Test) {
        set_cell(f, at->d, compare_rows<Op, T>(a, b));
      } else if constexpr (kHasRange<Op, T>) {
        range_rows<Op, T>(row<T>(f, at->d), a, b);
      } else {
        const auto d = row<T>(f, at->d);
        LCPY_LANES(l) d.put(l, apply<Op, R, T>(a.get(l), b.get(l)));
      }
    } else {
      const auto d = row<T>(f, at->d), b = row<T>(f, at->b), c = row<T>(f, at->c);
      LCPY_LANES(l) d.put(l, Op::of(a.get(l), b.get(l), c.get(l)));
    }
  }
  LCPY_NEXT;
}

// Operations that are worth forms of their own for a cell beside a row.
template <class Op>
inline constexpr bool kMixed = false;
#define LCPY_MIXED(op) \
  template <>          \
  inline constexpr bool kMixed<sem::op> = true;
LCPY_MIXED(Add)
LCPY_MIXED(Sub) LCPY_MIXED(Mul) LCPY_MIXED(Div) LCPY_MIXED(Min) LCPY_MIXED(Max) LCPY_MIXED(BitAnd)
    LCPY_MIXED(BitOr) LCPY_MIXED(BitXor) LCPY_MIXED(Shl) LCPY_MIXED(Shr) LCPY_MIXED(Less)
        LCPY_MIXED(Greater) LCPY_MIXED(LessEqual) LCPY_MIXED(GreaterEqual) LCPY_MIXED(Equal)
            LCPY_MIXED(NotEqual) LCPY_MIXED(FloorDiv) LCPY_MIXED(FloorMod) LCPY_MIXED(TruncDiv)
                LCPY_MIXED(TruncRem) LCPY_MIXED(ShlUnchecked) LCPY_MIXED(ShrUnchecked)
                    LCPY_MIXED(DivUnchecked) LCPY_MIXED(RemUnchecked)
#undef LCPY_MIXED

                        template <class Op, int Operands, Result R, class T>
                        constexpr void set_element(Loops& loops, lcpy::Op op, Scalar scalar) {
  auto& forms = loops.ops[static_cast<int>(op)][static_cast<int>(scalar)];
  forms[static_cast<int>(Form::Cells)] = &element<Op, Operands, R, T, Form::Cells>;
  forms[static_cast<int>(Form::Rows)] = &element<Op, Operands, R, T, Form::Rows>;
  if constexpr (Operands == 2 && kMixed<Op> && sizeof(T) >= 4) {
    forms[static_cast<int>(Form::RowCell)] = &element<Op, Operands, R, T, Form::RowCell>;
    forms[static_cast<int>(Form::CellRow)] = &element<Op, Operands, R, T, Form::CellRow>;
  }
}

}  // namespace
}  // namespace lcpy::interp::LCPY_ISA
