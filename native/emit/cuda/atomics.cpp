// Atomics of CUDA C++: the language's own where it has them, else by compare-and-swap on the bits.
// They are relaxed; an order asks for fences around them.
#include "emit/clike/emitter.h"
#include "emit/cuda/dialect.h"

namespace lcpy::cuda {
namespace {

struct Update {
  Op op;
  std::string_view name, builtin;
  std::string_view result;  // of a float's old value a and the operand v
};
// A NaN loses; of two zeros the smaller has the or-ed bits, the larger the and-ed.
constexpr Update kUpdates[] = {
    {Op::AtomicAdd, "add", "atomicAdd", "a + v"},
    {Op::AtomicSub, "sub", "atomicAdd", "a - v"},
    {Op::AtomicAnd, "and", "atomicAnd", ""},
    {Op::AtomicOr, "or", "atomicOr", ""},
    {Op::AtomicXor, "xor", "atomicXor", ""},
    {Op::AtomicMin, "min", "atomicMin", "a == v ? FROM(seen | TO(v)) : a < v || v != v ? a : v"},
    {Op::AtomicMax, "max", "atomicMax", "a == v ? FROM(seen & TO(v)) : a > v || v != v ? a : v"},
    {Op::AtomicExchange, "exchange", "atomicExch", ""},
};

const Update& update_of(Op op) {
  for (const Update& u : kUpdates)
    if (u.op == op) return u;
  return kUpdates[0];
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

constexpr bool is_sequential(MemoryOrder o) { return o == MemoryOrder::SequentiallyConsistent; }
constexpr bool releases(MemoryOrder o) {
  return o == MemoryOrder::Release || o == MemoryOrder::AcquireRelease || is_sequential(o);
}
constexpr bool acquires(MemoryOrder o) {
  return o == MemoryOrder::Acquire || o == MemoryOrder::AcquireRelease || is_sequential(o);
}

}  // namespace

// A function that updates a float by compare-and-swap and gives the old value.
std::string CudaDialect::float_updater(clike::Emitter& e, const Atomic& a) {
  const bool wide = a.type.scalar() == Scalar::Float64;
  const Update& update = update_of(a.op);
  const std::string real(scalar(a.type.scalar())), bits = wide ? "ullong" : "uint";
  const std::string from = wide ? "__longlong_as_double" : "__uint_as_float";
  const std::string to = wide ? "(ullong)__double_as_longlong" : "__float_as_uint";
  const std::string function = "atomic_" + std::string(update.name) + "_" + real;
  if (Text* t = e.define(function))
    *t << "static LCPY_DEV " << real << ' ' << function << "(void* at, " << real << " v) {\n  "
       << bits << "* const p = (" << bits << "*)at;\n  " << bits << " seen = *(volatile " << bits
       << "*)p;\n  for (;;) {\n    const " << real << " a = " << from << "(seen);\n    const "
       << real
       << " made = " << replaced(replaced(std::string(update.result), "FROM", from), "TO", to)
       << ";\n    const " << bits << " old = atomicCAS(p, seen, " << to
       << "(made));\n    if (old == seen) return a;\n    seen = old;\n  }\n}\n";
  return function;
}

void CudaDialect::fence(Text& t, clike::Emitter& e, const Atomic& a, bool sequential) {
  const std::string_view order = sequential ? "sc" : "acq_rel";
  const std::string_view scope = a.memory == MemoryClass::Shared ? "cta" : "gpu";
  const std::string function = "fence_" + std::string(order) + "_" + std::string(scope);
  if (Text* f = e.define(function))
    *f << "static LCPY_DEV void " << function << "() { asm volatile(\"fence." << order << '.'
       << scope << ";\" ::: \"memory\"); }\n";
  t << a.indent << function << "();\n";
}

// The expression of an update that gives the old value, in the type of the place.
void CudaDialect::update(Text& t, clike::Emitter& e, const Atomic& a) {
  const Scalar s = a.type.scalar();
  const bool wide = scalar_size(s) == 8, exchange = a.op == Op::AtomicExchange;
  const Update& update = update_of(a.op);
  if (a.type.is_float() && !exchange) {
    // The machine's addition to a float in global memory flushes denormals.
    const bool adds = a.op == Op::AtomicAdd || a.op == Op::AtomicSub;
    const bool flushes = !wide && a.memory == MemoryClass::Global && math_ == MathMode::Strict;
    if (adds && !flushes)
      t << "atomicAdd((" << scalar(s) << "*)" << a.place << ", "
        << (a.op == Op::AtomicSub ? "-(" : "") << a.value << (a.op == Op::AtomicSub ? "))" : ")");
    else
      t << float_updater(e, a) << '(' << a.place << ", " << a.value << ')';
    return;
  }
  if (a.type.is_float() && wide) {
    t << "__longlong_as_double((llong)atomicExch((ullong*)" << a.place
      << ", (ullong)__double_as_longlong(" << a.value << ")))";
    return;
  }
  const bool ordered = a.op == Op::AtomicMin || a.op == Op::AtomicMax;
  const bool is_signed = scalar_class(s) == ScalarClass::Signed;
  // Of 64 bits the language has the unsigned ones, and signed minima.
  const bool as_unsigned = is_signed && (a.op == Op::AtomicSub || (wide && !ordered));
  const std::string_view type = as_unsigned ? (wide ? "ullong" : "uint") : scalar(s);
  if (as_unsigned) t << '(' << scalar(s) << ')';
  t << update.builtin << "((" << type << "*)" << a.place << ", ";
  if (a.op == Op::AtomicSub) t << "0u - ";
  if (as_unsigned || a.op == Op::AtomicSub)
    t << '(' << type << ")(" << a.value << "))";
  else
    t << a.value << ')';
}

void CudaDialect::atomic(Text& t, clike::Emitter& e, const Atomic& a) {
  const Scalar s = a.type.scalar();
  const bool real = a.type.is_float(), wide = scalar_size(s) == 8;
  const bool is_signed = scalar_class(s) == ScalarClass::Signed;
  if (releases(a.order)) fence(t, e, a, is_sequential(a.order));
  t << a.indent << a.result << (a.result.empty() ? "" : " = ");
  if (a.op == Op::AtomicLoad) {
    t << "*(const volatile " << scalar(s) << "*)" << a.place;
  } else if (a.op == Op::AtomicStore) {
    t << "*(volatile " << scalar(s) << "*)" << a.place << " = " << a.value;
  } else if (a.op == Op::AtomicCompareExchange) {
    const std::string_view type = wide ? "ullong" : is_signed ? "int" : "uint";
    const std::string_view to = !real ? "" : wide ? "__double_as_longlong" : "__float_as_uint";
    const std::string_view from = !real  ? ""
                                  : wide ? "__longlong_as_double((llong)"
                                         : "__uint_as_float(";
    t << from;
    if (!real) t << '(' << scalar(s) << ')';
    t << "atomicCAS((" << type << "*)" << a.place << ", (" << type << ')' << to << '(' << a.expected
      << "), (" << type << ')' << to << '(' << a.value << "))" << (real ? ")" : "");
  } else {
    update(t, e, a);
  }
  t << ";\n";
  if (acquires(a.order)) fence(t, e, a, is_sequential(a.order));
}

}  // namespace lcpy::cuda
