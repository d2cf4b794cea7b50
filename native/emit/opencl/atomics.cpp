// Atomics of OpenCL C: built in for integers, by compare-and-swap on the bits for floats. Builtins
// are relaxed; an order asks for fences around them.
#include "emit/clike/emitter.h"
#include "emit/opencl/dialect.h"

namespace lcpy::opencl {

using clike::Text;

namespace {

struct Builtin {
  Op op;
  std::string_view name;  // after "atomic_" or "atom_"
};
constexpr Builtin kIntegerBuiltins[] = {{Op::AtomicExchange, "xchg"}, {Op::AtomicAdd, "add"},
                                        {Op::AtomicSub, "sub"},       {Op::AtomicAnd, "and"},
                                        {Op::AtomicOr, "or"},         {Op::AtomicXor, "xor"},
                                        {Op::AtomicMin, "min"},       {Op::AtomicMax, "max"}};

struct FloatUpdate {
  Op op;
  std::string_view name, sign;  // of the old value a and the operand v
};
constexpr FloatUpdate kFloatUpdates[] = {{Op::AtomicAdd, "add", "+"},
                                         {Op::AtomicSub, "sub", "-"},
                                         {Op::AtomicMin, "min", "<"},
                                         {Op::AtomicMax, "max", ">"}};

std::string_view prefix_of(bool wide) { return wide ? "atom_" : "atomic_"; }

// NVIDIA's OpenCL C has the machine's addition of floats in PTX alone. It flushes denormals, which
// strict keeps.
std::string ptx_adder(clike::Emitter& e, Op op) {
  const bool subtract = op == Op::AtomicSub;
  std::string name = subtract ? "atomic_sub_float_global" : "atomic_add_float_global";
  if (Text* t = e.define(name))
    *t << "static float " << name << "(volatile __global uint* p, float v) {\n  float old;\n"
       << "  asm volatile(\"atom.global.add.f32 %0, [%1], %2;\" : \"=f\"(old) : \"l\"(p), \"f\"("
       << (subtract ? "-v" : "v") << ") : \"memory\");\n  return old;\n}\n";
  return name;
}

// A function that updates a float by compare-and-swap and gives the old value.
std::string float_updater(clike::Emitter& e, const clike::Dialect& dialect,
                          const clike::Dialect::Atomic& a, const FloatUpdate& update) {
  const bool wide = a.type.scalar() == Scalar::Float64;
  const std::string_view real = dialect.scalar(a.type.scalar()), bits = wide ? "ulong" : "uint";
  std::string name = "atomic_" + std::string(update.name) + "_" + std::string(real);
  name += a.memory == MemoryClass::Shared ? "_local" : "_global";
  if (Text* t = e.define(name)) {
    *t << "static " << real << ' ' << name << "(volatile " << dialect.pointer_space(a.memory)
       << bits << "* p, " << real << " v) {\n  const " << bits << " given = as_" << bits
       << "(v);\n  " << bits << " seen = *p;\n  for (;;) {\n    const " << real << " a = as_"
       << real << "(seen);\n    const " << bits << " made = ";
    // A NaN loses; of two zeros the smaller has the or-ed bits, the larger the and-ed.
    if (a.op == Op::AtomicAdd || a.op == Op::AtomicSub)
      *t << "as_" << bits << "(a " << update.sign << " v);\n";
    else
      *t << "(seen | given) << 1 == 0 ? seen " << (a.op == Op::AtomicMin ? '|' : '&')
         << " given : a " << update.sign << " v || v != v ? seen : given;\n";
    *t << "    const " << bits << " old = " << prefix_of(wide) << "cmpxchg(p, seen, made);\n"
       << "    if (old == seen) return a;\n    seen = old;\n  }\n}\n";
  }
  return name;
}

}  // namespace

void OpenclDialect::atomic(Text& t, clike::Emitter& e, const Atomic& a) {
  const bool real = a.type.is_float(), wide = scalar_size(a.type.scalar()) == 8;
  const std::string_view type = scalar(a.type.scalar());
  const std::string_view bits = wide ? "ulong" : "uint";
  const bool release = a.order == MemoryOrder::Release || a.order == MemoryOrder::AcquireRelease ||
                       a.order == MemoryOrder::SequentiallyConsistent;
  const bool acquire = a.order == MemoryOrder::Acquire || a.order == MemoryOrder::AcquireRelease ||
                       a.order == MemoryOrder::SequentiallyConsistent;
  // NVIDIA's mem_fence orders what other threads of the block see, and no more.
  const auto fence = [&] {
    const bool whole_device = target_.ptx && a.memory != MemoryClass::Shared;
    t << a.indent
      << (whole_device ? "asm volatile(\"membar.gl;\" ::: \"memory\");\n"
                       : "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n");
  };
  const auto pointer = [&](std::string_view to) {
    t << "(volatile " << pointer_space(a.memory) << to << "*)" << a.place;
  };
  if (release) fence();
  t << a.indent << a.result << (a.result.empty() ? "" : " = ");
  if (a.op == Op::AtomicLoad) {
    t << '*';
    pointer(type);
  } else if (a.op == Op::AtomicStore) {
    t << '*';
    pointer(type);
    t << " = " << a.value;
  } else if (a.op == Op::AtomicCompareExchange) {
    if (real) t << "as_" << type << '(';
    t << prefix_of(wide) << "cmpxchg(";
    pointer(real ? bits : type);
    const auto argument = [&](std::string_view v) {
      t << ", ";
      if (real)
        t << "as_" << bits << '(' << v << ')';
      else
        t << v;
    };
    argument(a.expected);
    argument(a.value);
    t << (real ? "))" : ")");
  } else if (real && a.op == Op::AtomicExchange) {
    t << "as_" << type << '(' << prefix_of(wide) << "xchg(";
    pointer(bits);
    t << ", as_" << bits << '(' << a.value << ")))";
  } else if (real) {
    for (const FloatUpdate& update : kFloatUpdates) {
      if (update.op != a.op) continue;
      const bool adds = a.op == Op::AtomicAdd || a.op == Op::AtomicSub;
      const bool ptx = target_.ptx && adds && !wide && a.memory == MemoryClass::Global &&
                       e.descriptor().math != MathMode::Strict;
      t << (ptx ? ptx_adder(e, a.op) : float_updater(e, *this, a, update)) << '(';
      pointer(bits);
      t << ", " << a.value << ')';
    }
  } else {
    for (const Builtin& builtin : kIntegerBuiltins) {
      if (builtin.op != a.op) continue;
      t << prefix_of(wide) << builtin.name << '(';
      pointer(type);
      t << ", " << a.value << ')';
    }
  }
  t << ";\n";
  if (acquire) fence();
}

}  // namespace lcpy::opencl
