#include "spirv/reflect.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "spirv/module_index.h"

namespace lcpy::spirv {
namespace {

class Reflector {
 public:
  explicit Reflector(std::span<const Word> words) : m_(words) {}

  Reflection run() {
    out_.header = m_.header();
    for (const size_t at : m_.places(Opcode::Capability))
      out_.capabilities.emplace_back(name_of(Kind::Capability, m_.at(at)[1]));
    for (const size_t at : m_.places(Opcode::Extension))
      out_.extensions.push_back(string_of(m_.at(at).subspan(1)));
    for (const size_t at : m_.places(Opcode::ExtInstImport))
      out_.instruction_sets.push_back(string_of(m_.at(at).subspan(2)));
    for (const size_t at : m_.places(Opcode::MemoryModel)) {
      out_.addressing_model = name_of(Kind::AddressingModel, m_.at(at)[1]);
      out_.memory_model = name_of(Kind::MemoryModel, m_.at(at)[2]);
    }
    for (const size_t at : m_.places(Opcode::EntryPoint)) entry_point(m_.at(at));
    for (const size_t at : m_.places(Opcode::ExecutionMode)) mode(m_.at(at), false);
    for (const size_t at : m_.places(Opcode::ExecutionModeId)) mode(m_.at(at), true);
    for (const size_t at : m_.places(Opcode::Variable)) variable(m_.at(at));
    for (const Opcode code :
         {Opcode::SpecConstantTrue, Opcode::SpecConstantFalse, Opcode::SpecConstant})
      for (const size_t at : m_.places(code)) spec_constant(m_.at(at));
    workgroup_size();
    std::ranges::sort(out_.bindings, {}, [](const auto& b) { return std::pair(b.set, b.binding); });
    std::ranges::sort(out_.spec_constants, {}, [](const auto& c) { return c.id; });
    return std::move(out_);
  }

 private:
  // ---- entry points --------------------------------------------------------------------------

  void entry_point(std::span<const Word> w) {
    Reflection::EntryPoint e;
    e.model = name_of(Kind::ExecutionModel, w[1]);
    e.id = w[2];
    e.name = string_of(w.subspan(3));
    const auto interface = w.subspan(3 + e.name.size() / 4 + 1);
    e.interface.assign(interface.begin(), interface.end());
    out_.entry_points.push_back(std::move(e));
  }

  void mode(std::span<const Word> w, bool by_id) {
    for (Reflection::EntryPoint& e : out_.entry_points) {
      if (e.id != w[1]) continue;
      const auto what = static_cast<ExecutionMode>(w[2]);
      std::string text(name_of(Kind::ExecutionMode, w[2]));
      for (const Word operand : w.subspan(3)) {
        uint64_t value = operand;
        if (by_id) m_.constant(operand, &value);
        text += ' ' + std::to_string(value);
      }
      e.modes.push_back(text);
      if (what == ExecutionMode::LocalSize && w.size() == 6)
        for (int axis = 0; axis < 3; axis++) e.local_size[axis] = w[3 + axis];
      if (what == ExecutionMode::LocalSizeId && w.size() == 6)
        for (int axis = 0; axis < 3; axis++) size_by(e, axis, w[3 + axis]);
    }
  }

  void size_by(Reflection::EntryPoint& e, int axis, Word constant) {
    uint64_t value = 0;
    if (m_.constant(constant, &value)) e.local_size[axis] = static_cast<uint32_t>(value);
    m_.decoration(constant, Decoration::SpecId, &e.local_size_ids[axis]);
  }

  // A constant that is decorated WorkgroupSize comes before what entry points say.
  void workgroup_size() {
    for (const Opcode code : {Opcode::ConstantComposite, Opcode::SpecConstantComposite})
      for (const size_t at : m_.places(code)) {
        const auto w = m_.at(at);
        uint32_t builtin = 0;
        if (!m_.decoration(w[2], Decoration::BuiltIn, &builtin) || w.size() != 6 ||
            static_cast<BuiltIn>(builtin) != BuiltIn::WorkgroupSize)
          continue;
        for (Reflection::EntryPoint& e : out_.entry_points)
          for (int axis = 0; axis < 3; axis++) size_by(e, axis, w[3 + axis]);
      }
  }

  // ---- variables -----------------------------------------------------------------------------

  void variable(std::span<const Word> w) {
    const Word id = w[2];
    const auto storage = static_cast<StorageClass>(w[3]);
    const auto pointer = m_.definition(w[1]);
    if (pointer.size() < 4) return;
    Word type = pointer[3];
    if (storage == StorageClass::PushConstant) return push_constant(id, type);
    Reflection::Binding b;
    const bool bound = m_.decoration(id, Decoration::Binding, &b.binding);
    if (!bound && !m_.decorated(id, Decoration::DescriptorSet)) return;
    m_.decoration(id, Decoration::DescriptorSet, &b.set);
    int depth = 0;
    for (Opcode code = m_.opcode(type);
         code == Opcode::TypeArray || code == Opcode::TypeRuntimeArray; code = m_.opcode(type)) {
      constexpr int kDeepest = 64;
      if (++depth > kDeepest) throw LoadError("SPIR-V: arrays of descriptors nested beyond 64");
      const auto array = m_.definition(type);
      uint64_t length = 0;
      if (code == Opcode::TypeArray) m_.constant(array[3], &length);
      b.count *= static_cast<uint32_t>(length);
      type = array[2];
    }
    b.name = m_.name(id).empty() ? m_.name(type) : m_.name(id);
    if (!kind(storage, type, &b.kind)) return;
    access(id, type, &b);
    if (m_.opcode(type) == Opcode::TypeStruct) {
      b.size = size_of(type);
      b.stride = tail_stride(type);
    }
    out_.bindings.push_back(std::move(b));
  }

  bool kind(StorageClass storage, Word type, DescriptorKind* found) const {
    const auto w = m_.definition(type);
    switch (m_.opcode(type)) {
      case Opcode::TypeSampler:
        return *found = DescriptorKind::Sampler, true;
      case Opcode::TypeSampledImage:
        return *found = DescriptorKind::CombinedImageSampler, true;
      case Opcode::TypeAccelerationStructureKHR:
        return *found = DescriptorKind::AccelerationStructure, true;
      case Opcode::TypeImage: {
        const auto dim = static_cast<Dim>(w[3]);
        const bool stored = w[7] == 2;
        *found = dim == Dim::SubpassData ? DescriptorKind::InputAttachment
                 : dim == Dim::Buffer    ? (stored ? DescriptorKind::StorageTexelBuffer
                                                   : DescriptorKind::UniformTexelBuffer)
                 : stored                ? DescriptorKind::StorageImage
                                         : DescriptorKind::SampledImage;
        return true;
      }
      case Opcode::TypeStruct:
        *found =
            storage == StorageClass::StorageBuffer || m_.decorated(type, Decoration::BufferBlock)
                ? DescriptorKind::StorageBuffer
                : DescriptorKind::UniformBuffer;
        return true;
      default:
        return false;
    }
  }

  // Of a block: what all of its members say is said of it.
  void access(Word id, Word type, Reflection::Binding* b) const {
    const auto all = [&](Decoration d) {
      if (m_.decorated(id, d)) return true;
      const auto w = m_.definition(type);
      if (m_.opcode(type) != Opcode::TypeStruct || w.size() == 2) return false;
      for (uint32_t member = 0; member + 2 < w.size(); member++)
        if (!m_.decorated(type, d, member)) return false;
      return true;
    };
    const bool stores = b->kind == DescriptorKind::StorageBuffer ||
                        b->kind == DescriptorKind::StorageImage ||
                        b->kind == DescriptorKind::StorageTexelBuffer;
    b->reads = !all(Decoration::NonReadable);
    b->writes = stores && !all(Decoration::NonWritable);
  }

  void push_constant(Word id, Word type) {
    Reflection::PushConstant p;
    p.name = m_.name(id).empty() ? m_.name(type) : m_.name(id);
    const auto w = m_.definition(type);
    const uint64_t end = size_of(type);
    p.first = end;
    for (uint32_t member = 0; member + 2 < w.size(); member++) {
      uint32_t offset = 0;
      m_.decoration(type, Decoration::Offset, &offset, member);
      p.first = std::min<uint64_t>(p.first, offset);
    }
    p.size = end - p.first;
    out_.push_constants.push_back(std::move(p));
  }

  // ---- sizes ---------------------------------------------------------------------------------

  // Bytes up to the end of the last member, a run-time array not counted. Each type is measured
  // once; one that holds itself has no size.
  uint64_t size_of(Word type) {
    const auto [at, is_new] = sizes_.try_emplace(type, kMeasuring);
    if (!is_new && at->second == kMeasuring)
      throw LoadError("SPIR-V: the type " + std::to_string(type) + " holds itself");
    if (!is_new) return at->second;
    const uint64_t size = measure(type);
    sizes_[type] = size;
    return size;
  }

  uint64_t measure(Word type) {
    const auto w = m_.definition(type);
    switch (m_.opcode(type)) {
      case Opcode::TypeInt:
      case Opcode::TypeFloat:
        return w[2] / 8;
      case Opcode::TypePointer:
        return 8;
      case Opcode::TypeVector:
        return w[3] * size_of(w[2]);
      case Opcode::TypeArray: {
        uint64_t length = 0;
        m_.constant(w[3], &length);
        const uint64_t element = size_of(w[2]);
        return length ? (length - 1) * std::max(stride_of(type), element) + element : 0;
      }
      case Opcode::TypeStruct: {
        uint64_t end = 0;
        for (uint32_t member = 0; member + 2 < w.size(); member++) {
          uint32_t offset = 0;
          m_.decoration(type, Decoration::Offset, &offset, member);
          end = std::max(end, offset + member_size(type, member, w[2 + member]));
        }
        return end;
      }
      default:
        return 0;
    }
  }

  uint64_t stride_of(Word array) const {
    uint32_t stride = 0;
    m_.decoration(array, Decoration::ArrayStride, &stride);
    return stride;
  }

  // Of the run-time array that a block ends with.
  uint64_t tail_stride(Word block) const {
    const auto w = m_.definition(block);
    const bool has = w.size() > 2 && m_.opcode(w.back()) == Opcode::TypeRuntimeArray;
    return has ? stride_of(w.back()) : 0;
  }

  // Matrices have the stride of their member.
  uint64_t member_size(Word type, uint32_t member, Word of) {
    if (m_.opcode(of) != Opcode::TypeMatrix) return size_of(of);
    const auto w = m_.definition(of);
    const auto column = m_.definition(w[2]);
    if (m_.opcode(w[2]) != Opcode::TypeVector) return 0;
    uint32_t step = 0;
    m_.decoration(type, Decoration::MatrixStride, &step, member);
    const bool rows = m_.decorated(type, Decoration::RowMajor, member);
    const uint64_t lines = rows ? column[3] : w[3], across = rows ? w[3] : column[3];
    return lines ? (lines - 1) * step + across * size_of(column[2]) : 0;
  }

  // ---- specialisation ------------------------------------------------------------------------

  void spec_constant(std::span<const Word> w) {
    Reflection::SpecConstant c;
    if (!m_.decoration(w[2], Decoration::SpecId, &c.id)) return;
    c.name = m_.name(w[2]);
    const auto code = static_cast<Opcode>(w[0] & 0xffff);
    const auto type = m_.definition(w[1]);
    if (code != Opcode::SpecConstant) {
      c.type = "bool";
      c.bits = code == Opcode::SpecConstantTrue;
    } else {
      const bool real = m_.opcode(w[1]) == Opcode::TypeFloat;
      c.type = real ? "float" : type[3] ? "int" : "uint";
      c.type += std::to_string(type[2]);
      c.bits = w[3] | (w.size() > 4 ? uint64_t{w[4]} << 32 : 0);
    }
    out_.spec_constants.push_back(std::move(c));
  }

  static constexpr uint64_t kMeasuring = ~uint64_t{0};
  ModuleIndex m_;
  std::unordered_map<Word, uint64_t> sizes_;  // by type
  Reflection out_;
};

}  // namespace

std::string_view name_of(DescriptorKind kind) {
  static constexpr std::string_view kNames[] = {
      "sampler",
      "combined_image_sampler",
      "sampled_image",
      "storage_image",
      "uniform_texel_buffer",
      "storage_texel_buffer",
      "uniform_buffer",
      "storage_buffer",
      "input_attachment",
      "acceleration_structure",
  };
  return kNames[static_cast<size_t>(kind)];
}

Reflection reflect(std::span<const Word> words) { return Reflector(words).run(); }

}  // namespace lcpy::spirv
