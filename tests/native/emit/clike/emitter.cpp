// What the shared walk promises whatever the dialect: linear text, values in one place, names.
#include "emit/emit.h"

#include "check.h"

using namespace lcpy;

namespace {

// A chain in which every value is used twice: an emitter that pasted texts would double each step.
KernelDescriptor doubling_chain(int steps) {
  KernelDescriptor d;
  KernelBuilder b(d);
  Slot slot;
  slot.name = "o";
  slot.type = Type::buffer(Type::of(Scalar::Float32));
  slot.access = Access::Write;
  const SlotId out = b.add_slot(slot);
  b.add_function("k", {}, {}, {});
  b.set_insertion(BodyId(0u));
  const Type real = Type::of(Scalar::Float32);
  const ValueId zero = b.integer(Type::of(Scalar::UInt32), 0);
  ValueId v = b.emit(Op::Convert, real, {zero});
  for (int i = 0; i < steps; i++) v = b.emit(Op::Add, real, {v, v});
  const Operand chain[] = {Operand::of(zero)};
  b.store(out, chain, v);
  b.terminate(Op::Return);
  return d;
}

// A chain in which every value is used once.
KernelDescriptor single_chain(int steps) {
  KernelDescriptor d = doubling_chain(0);
  KernelBuilder b(d);
  d.bodies[0].ops.clear();
  b.set_insertion(BodyId(0u));
  const Type real = Type::of(Scalar::Float32);
  const ValueId zero = b.integer(Type::of(Scalar::UInt32), 0);
  ValueId v = b.emit(Op::Convert, real, {zero});
  for (int i = 0; i < steps; i++) v = b.emit(Op::Sin, real, {v});
  const Operand chain[] = {Operand::of(zero)};
  b.store(SlotId(0u), chain, v);
  b.terminate(Op::Return);
  return d;
}

}  // namespace

TEST(text_grows_linearly) {
  for (auto make : {doubling_chain, single_chain}) {
    const size_t one = emit_opencl(make(500), {}).size();
    const size_t four = emit_opencl(make(2000), {}).size();
    CHECK(four < one * 5);
  }
}

TEST(the_same_descriptor_gives_the_same_text) {
  CHECK_EQ(emit_opencl(doubling_chain(20), {}), emit_opencl(doubling_chain(20), {}));
}
