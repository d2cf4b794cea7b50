// Atomics: lanes in order; on buffers each a real atomic operation, for other threads run other
// strips.
#include "interp/code.h"
#include "kernel/semantics.h"

namespace lcpy::interp {
namespace {

namespace sem = lcpy::semantics;

template <class T>
T cell(const char* f, uint32_t at) {
  T v;
  __builtin_memcpy(&v, f + at, sizeof v);
  return v;
}
template <class T>
T lane(const char* f, uint32_t at, int l) {
  return cell<T>(f, at + static_cast<uint32_t>(l) * sizeof(T));
}

// How the new value comes from the old one. `wished` is compare-exchange's alone.
struct LoadOp {
  template <class T>
  static T of(T old, T, T) {
    return old;
  }
};
struct ExchangeOp {
  template <class T>
  static T of(T, T v, T) {
    return v;
  }
};
struct CompareExchangeOp {
  template <class T>
  static T of(T old, T v, T wished) {
    // By the bits, as every machine compares.
    return sem::bit_copy<sem::bits_t<T>>(old) == sem::bit_copy<sem::bits_t<T>>(v) ? wished : old;
  }
};
struct AddOp {
  template <class T>
  static T of(T old, T v, T) {
    return sem::Add::of(old, v);
  }
};
struct SubOp {
  template <class T>
  static T of(T old, T v, T) {
    return sem::Sub::of(old, v);
  }
};
struct AndOp {
  template <class T>
  static T of(T old, T v, T) {
    return old & v;
  }
};
struct OrOp {
  template <class T>
  static T of(T old, T v, T) {
    return old | v;
  }
};
struct XorOp {
  template <class T>
  static T of(T old, T v, T) {
    return old ^ v;
  }
};
struct MinOp {
  template <class T>
  static T of(T old, T v, T) {
    return sem::Min::of(old, v);
  }
};
struct MaxOp {
  template <class T>
  static T of(T old, T v, T) {
    return sem::Max::of(old, v);
  }
};

// Shared memory belongs to one thread of the pool while its block runs: no lock.
template <class Op, class T>
T change_shared(char* p, T v, T wished) {
  T old;
  __builtin_memcpy(&old, p, sizeof old);
  if constexpr (!std::is_same_v<Op, LoadOp>) {
    const T next = Op::template of<T>(old, v, wished);
    __builtin_memcpy(p, &next, sizeof next);
  }
  return old;
}

template <class Op, class T>
T change(char* p, T v, T wished) {
  using U = sem::bits_t<T>;
  U* const u = reinterpret_cast<U*>(p);
  constexpr bool is_int = std::is_integral_v<T>;
  if constexpr (std::is_same_v<Op, LoadOp>) {
    return sem::bit_copy<T>(__atomic_load_n(u, __ATOMIC_SEQ_CST));
  } else if constexpr (std::is_same_v<Op, ExchangeOp>) {
    return sem::bit_copy<T>(__atomic_exchange_n(u, sem::bit_copy<U>(v), __ATOMIC_SEQ_CST));
  } else if constexpr (std::is_same_v<Op, AddOp> && is_int) {
    return static_cast<T>(__atomic_fetch_add(u, static_cast<U>(v), __ATOMIC_SEQ_CST));
  } else if constexpr (std::is_same_v<Op, SubOp> && is_int) {
    return static_cast<T>(__atomic_fetch_sub(u, static_cast<U>(v), __ATOMIC_SEQ_CST));
  } else {
    U old = __atomic_load_n(u, __ATOMIC_RELAXED);
    for (;;) {
      const U next = sem::bit_copy<U>(Op::template of<T>(sem::bit_copy<T>(old), v, wished));
      if (__atomic_compare_exchange_n(u, &old, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        return sem::bit_copy<T>(old);
    }
  }
}

struct OnePlace {};  // instead of an index type: the address is equal in all lanes

// d is 0 when nobody asks for the old values.
template <class Op, class T, class I, bool Shared>
const Instr* atomic(const Instr* at, char* f, State& s) {
  constexpr bool compares = std::is_same_v<Op, CompareExchangeOp>;
  char* const p = cell<char*>(f, at->a) + at->offset;
  const uint32_t place = at->d, values = at->c, indices = at->b;
  const int64_t stride = compares ? 1 : at->stride;
  const auto one = [&](int l) __attribute__((always_inline)) {
    char* q = p;
    if constexpr (!std::is_same_v<I, OnePlace>)
      q += static_cast<int64_t>(lane<I>(f, indices, l)) * stride;
    T v{}, wished{};
    if constexpr (!std::is_same_v<Op, LoadOp>) v = lane<T>(f, values, l);
    if constexpr (compares) wished = lane<T>(f, static_cast<uint32_t>(at->stride), l);
    const T old = Shared ? change_shared<Op, T>(q, v, wished) : change<Op, T>(q, v, wished);
    if (place != 0)
      __builtin_memcpy(f + place + static_cast<uint32_t>(l) * sizeof(T), &old, sizeof old);
  };
  if (s.mask == kAllLanes) {
    for (int l = 0; l < kLanes; ++l) one(l);
  } else {
    for (uint64_t mask = s.mask; mask != 0; mask &= mask - 1) one(__builtin_ctzll(mask));
  }
  LCPY_GO(at + 1, f, s);
}

// [op][type][shared][index, or kIndices for one place]
using Places = std::array<Fn, kIndices + 1>;
using Table = std::array<std::array<std::array<Places, 2>, kScalarCount>, kOpCount>;
template <class How, class T, bool Shared>
constexpr Places places() {
  return {&atomic<How, T, int32_t, Shared>, &atomic<How, T, uint32_t, Shared>,
          &atomic<How, T, int64_t, Shared>, &atomic<How, T, OnePlace, Shared>};
}
template <class How, class T>
constexpr void set(Table& table, Op op, Scalar s) {
  table[static_cast<int>(op)][static_cast<int>(s)] = {places<How, T, false>(),
                                                      places<How, T, true>()};
}
template <class How>
constexpr void set_integers(Table& table, Op op) {
  set<How, int32_t>(table, op, Scalar::Int32);
  set<How, uint32_t>(table, op, Scalar::UInt32);
  set<How, int64_t>(table, op, Scalar::Int64);
  set<How, uint64_t>(table, op, Scalar::UInt64);
}
template <class How>
constexpr void set_numbers(Table& table, Op op) {
  set_integers<How>(table, op);
  set<How, float>(table, op, Scalar::Float32);
  set<How, double>(table, op, Scalar::Float64);
}
constexpr Table kAtomics = [] {
  Table table{};
  set_numbers<LoadOp>(table, Op::AtomicLoad);
  set_numbers<ExchangeOp>(table, Op::AtomicStore);  // the old value goes to a row that nobody reads
  set_numbers<ExchangeOp>(table, Op::AtomicExchange);
  set_numbers<CompareExchangeOp>(table, Op::AtomicCompareExchange);
  set_numbers<AddOp>(table, Op::AtomicAdd);
  set_numbers<SubOp>(table, Op::AtomicSub);
  set_integers<AndOp>(table, Op::AtomicAnd);
  set_integers<OrOp>(table, Op::AtomicOr);
  set_integers<XorOp>(table, Op::AtomicXor);
  set_numbers<MinOp>(table, Op::AtomicMin);
  set_numbers<MaxOp>(table, Op::AtomicMax);
  return table;
}();

}  // namespace

Fn atomic_fn(Op op, Scalar type, bool shared, int index) {
  return kAtomics[static_cast<int>(op)][static_cast<int>(type)][shared ? 1 : 0][index];
}

}  // namespace lcpy::interp
