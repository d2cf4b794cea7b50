// Kernels of one operation, run by the interpreter.
#pragma once
#include <span>
#include <vector>

#include "interp/interp.h"
#include "kernel/descriptor.h"
#include "lower/lower.h"

namespace lcpy::test {

inline bool nothing_native(Op, Type, Type, MathMode) { return false; }

inline Slot buffer(const char* name, Type element, uint32_t number, Access access) {
  Slot slot;
  slot.name = name;
  slot.type = Type::buffer(element);
  slot.number = number;
  slot.access = access;
  return slot;
}

// One thread an element: out[i] = op(a[i], b[i]).
inline KernelDescriptor elementwise(Op op, Type result, std::span<const Type> types) {
  KernelDescriptor d;
  KernelBuilder b(d);
  for (uint32_t i = 0; i < types.size(); i++) b.add_slot(buffer("a", types[i], i, Access::Read));
  const SlotId out =
      b.add_slot(buffer("o", result, static_cast<uint32_t>(types.size()), Access::Write));
  b.add_function("k", {}, {}, {});
  b.set_insertion(BodyId(0u));
  const ValueId id = b.emit(Op::DispatchId, Type::vector(Scalar::UInt32, 3), {});
  const Operand at = Operand::of(b.extract(id, {0}));
  std::vector<ValueId> args;
  for (uint32_t i = 0; i < types.size(); i++)
    args.push_back(b.load(SlotId(i), std::span(&at, 1), types[i]));
  b.store(out, std::span(&at, 1), b.emit(op, result, std::span<const ValueId>(args)));
  b.terminate(Op::Return);
  return d;
}

template <class R, class... Args>
std::vector<R> run(const KernelDescriptor& d, size_t n, size_t stride, std::vector<Args>... args) {
  std::vector<R> out(n * stride);
  const interp::Binding bindings[] = {{args.data(), args.size() * sizeof(args[0])}...,
                                      {out.data(), out.size() * sizeof(R)}};
  const std::vector<std::byte> block(argument_block(d).size);
  interp::Launch launch;
  launch.dispatch_size = {static_cast<uint32_t>(n), 1, 1};
  launch.buffers = bindings;
  launch.block = block;
  launch.threads = 1;
  interp::run(*interp::build_program(d), launch);
  return out;
}

}  // namespace lcpy::test
