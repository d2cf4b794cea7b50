// What a host needs to know of a module to run it: entry points, bindings, push constants,
// specialisation constants, what it asks of the device.
#pragma once
#include <array>
#include <span>
#include <string>
#include <vector>

#include "spirv/reader.h"

namespace lcpy::spirv {

// VkDescriptorType, of what can be told from a module alone.
enum class DescriptorKind : uint8_t {
  Sampler,
  CombinedImageSampler,
  SampledImage,
  StorageImage,
  UniformTexelBuffer,
  StorageTexelBuffer,
  UniformBuffer,
  StorageBuffer,
  InputAttachment,
  AccelerationStructure,
};
std::string_view name_of(DescriptorKind kind);  // "storage_buffer"

struct Reflection {
  Header header;
  std::vector<std::string> capabilities, extensions, instruction_sets;
  std::string addressing_model, memory_model;

  struct EntryPoint {
    std::string name, model;
    Word id = 0;
    std::vector<Word> interface;
    std::vector<std::string> modes;
    // Of compute, mesh and task: 0 where the module leaves it open. A size that specialisation
    // changes has the SpecId of its axis; kNone elsewhere.
    std::array<uint32_t, 3> local_size{}, local_size_ids{kNone, kNone, kNone};
  };
  std::vector<EntryPoint> entry_points;

  static constexpr uint32_t kNone = ~0u;
  struct Binding {
    uint32_t set = 0, binding = 0;
    std::string name;
    DescriptorKind kind{};
    uint32_t count = 1;  // descriptors; 0: as many as the host binds
    bool reads = true, writes = true;
    uint64_t size = 0;    // bytes of a block without its run-time array
    uint64_t stride = 0;  // of one element of that array; 0 without
  };
  std::vector<Binding> bindings;  // by set and binding

  struct PushConstant {
    std::string name;
    uint64_t first = 0, size = 0;  // bytes
  };
  std::vector<PushConstant> push_constants;

  struct SpecConstant {
    uint32_t id = 0;  // SpecId
    std::string name;
    std::string type;   // "bool", "int32", "uint32", "float32", …
    uint64_t bits = 0;  // of the default
  };
  std::vector<SpecConstant> spec_constants;  // by id
};

// LoadError when the words are no module.
Reflection reflect(std::span<const Word> words);

}  // namespace lcpy::spirv
