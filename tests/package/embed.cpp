// An embedder's program: builds y = a * x + y as AST, lowers it, emits it for both GPU targets and
// runs it in the interpreter. Prints "ok" and exits 0, or says what went wrong.
#include <cstdio>
#include <cstring>
#include <vector>

#include "ast/builder.h"
#include "emit/emit.h"
#include "interp/interp.h"
#include "lower/lower.h"

using namespace lcpy;

static std::shared_ptr<ast::FunctionBuilder> build_saxpy() {
  const Type f32 = Type::of(Scalar::Float32), buffer = Type::buffer(f32);
  auto f = ast::FunctionBuilder::create(ast::FunctionBuilder::Kind::Kernel, "saxpy", {});
  f->set_block_size({64, 1, 1}, {});
  const auto x = f->argument(buffer, "x", {});
  const auto y = f->argument(buffer, "y", {});
  const auto a = f->argument(f32, "a", {});
  const auto id = f->swizzle(f->call(Op::DispatchId, {}, {}), "x", {});
  const ast::ExprId index[] = {id};
  const auto place = f->access(f->ref(y, {}), index, {});
  const auto product = f->binary(Op::Mul, f->ref(a, {}), f->access(f->ref(x, {}), index, {}), {});
  const auto sum = f->binary(Op::Add, product, f->access(f->ref(y, {}), index, {}), {});
  f->assign(place, sum, {});
  f->finish();
  return f;
}

static bool run_saxpy(const KernelDescriptor& descriptor) {
  constexpr uint32_t n = 1000;
  std::vector<float> x(n), y(n, 1.0f);
  for (uint32_t i = 0; i < n; i++) x[i] = static_cast<float>(i);
  const interp::Binding buffers[] = {{x.data(), n * 4}, {y.data(), n * 4}};
  const ArgumentBlock layout = argument_block(descriptor);
  std::vector<std::byte> block(layout.size);
  const float a = 2.0f;
  for (size_t i = 0; i < descriptor.slots.size(); i++) {
    if (descriptor.slots[i].memory != MemoryClass::Uniform) continue;
    std::memcpy(block.data() + layout.entries[i].value, &a, sizeof a);
  }
  interp::Launch launch;
  launch.dispatch_size = {n, 1, 1};
  launch.buffers = buffers;
  launch.block = block;
  interp::run(*interp::build_program(descriptor), launch);
  for (uint32_t i = 0; i < n; i++) {
    if (y[i] != 2.0f * static_cast<float>(i) + 1.0f) return false;
  }
  return true;
}

int main() {
  try {
    const KernelDescriptor descriptor = lower_kernel(*build_saxpy(), {});
    const SpirvModule module = emit_spirv(descriptor, default_plan(descriptor), {});
    const std::string text = emit_opencl(descriptor, {});
    if (module.words.empty() || module.words[0] != 0x07230203u) return std::puts("no SPIR-V"), 1;
    if (text.find("__kernel") == std::string::npos) return std::puts("no OpenCL C"), 1;
    if (!run_saxpy(descriptor)) return std::puts("wrong result"), 1;
  } catch (const std::exception& error) {
    return std::puts(error.what()), 1;
  }
  return std::puts("ok"), 0;
}
