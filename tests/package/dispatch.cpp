// An artifact on plain Vulkan, with nothing of Python's: reads the file, makes what binds it,
// starts it and looks at what it wrote. Takes the artifact; prints "ok", or "no device", and exits
// 0, or says what went wrong.
#include <vulkan/vulkan.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "artifact/artifact.h"

namespace {

constexpr uint32_t kCount = 1000;

void check(VkResult result, const char* what) {
  if (result != VK_SUCCESS) throw std::runtime_error(what + (": " + std::to_string(result)));
}

lcpy::Artifact read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return lcpy::read_artifact(
      std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
}

// What the process needs of Vulkan; the system takes it back at the end.
struct Vulkan {
  VkInstance instance{};
  VkPhysicalDevice physical{};
  VkDevice device{};
  VkQueue queue{};
  uint32_t family = 0;

  bool open() {
    VkApplicationInfo app{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    app.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &app;
    if (vkCreateInstance(&info, nullptr, &instance) != VK_SUCCESS) return false;
    uint32_t count = 1;
    vkEnumeratePhysicalDevices(instance, &count, &physical);
    if (count == 0) return false;
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_2) return false;
    uint32_t families = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &families, nullptr);
    std::vector<VkQueueFamilyProperties> all(families);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &families, all.data());
    while (family < families && !(all[family].queueFlags & VK_QUEUE_COMPUTE_BIT)) family++;
    if (family == families) return false;
    const float priority = 1;
    VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queues.queueFamilyIndex = family, queues.queueCount = 1, queues.pQueuePriorities = &priority;
    VkDeviceCreateInfo made{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    made.queueCreateInfoCount = 1, made.pQueueCreateInfos = &queues;
    check(vkCreateDevice(physical, &made, nullptr, &device), "vkCreateDevice");
    vkGetDeviceQueue(device, family, 0, &queue);
    return true;
  }

  uint32_t visible_memory(uint32_t types) const {
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    constexpr VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
      if ((types >> i & 1) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
    throw std::runtime_error("no memory that both sides see");
  }

  VkBuffer buffer(float** mapped) const {
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = kCount * sizeof(float), info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    VkBuffer made{};
    check(vkCreateBuffer(device, &info, nullptr, &made), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, made, &needs);
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = visible_memory(needs.memoryTypeBits);
    VkDeviceMemory memory{};
    check(vkAllocateMemory(device, &allocate, nullptr, &memory), "vkAllocateMemory");
    check(vkBindBufferMemory(device, made, memory, 0), "vkBindBufferMemory");
    void* address = nullptr;
    check(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &address), "vkMapMemory");
    *mapped = static_cast<float*>(address);
    return made;
  }
};

// Layout, set and pipeline as the artifact's slots say.
struct Program {
  VkDescriptorSetLayout set_layout{};
  VkPipelineLayout layout{};
  VkPipeline pipeline{};
  VkDescriptorSet set{};

  Program(const Vulkan& v, const lcpy::Artifact& a, const std::vector<VkBuffer>& buffers) {
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (const auto& slot : a.slots)
      if (slot.bound)
        bindings.push_back({slot.binding, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                            VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
    VkDescriptorSetLayoutCreateInfo sets{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    sets.bindingCount = static_cast<uint32_t>(bindings.size()), sets.pBindings = bindings.data();
    check(vkCreateDescriptorSetLayout(v.device, &sets, nullptr, &set_layout), "set layout");
    const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, a.block_bytes};
    VkPipelineLayoutCreateInfo layouts{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layouts.setLayoutCount = 1, layouts.pSetLayouts = &set_layout;
    layouts.pushConstantRangeCount = 1, layouts.pPushConstantRanges = &push;
    check(vkCreatePipelineLayout(v.device, &layouts, nullptr, &layout), "pipeline layout");

    std::vector<uint32_t> words(a.code.size() / 4);
    std::memcpy(words.data(), a.code.data(), a.code.size());
    VkShaderModuleCreateInfo modules{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    modules.codeSize = a.code.size(), modules.pCode = words.data();
    VkShaderModule module{};
    check(vkCreateShaderModule(v.device, &modules, nullptr, &module), "shader module");
    VkComputePipelineCreateInfo pipelines{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    pipelines.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    pipelines.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipelines.stage.module = module, pipelines.stage.pName = a.entry_point.c_str();
    pipelines.layout = layout;
    check(vkCreateComputePipelines(v.device, nullptr, 1, &pipelines, nullptr, &pipeline),
          "pipeline");

    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                    static_cast<uint32_t>(bindings.size())};
    VkDescriptorPoolCreateInfo pools{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pools.maxSets = 1, pools.poolSizeCount = 1, pools.pPoolSizes = &size;
    VkDescriptorPool pool{};
    check(vkCreateDescriptorPool(v.device, &pools, nullptr, &pool), "descriptor pool");
    VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    allocate.descriptorPool = pool, allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &set_layout;
    check(vkAllocateDescriptorSets(v.device, &allocate, &set), "descriptor set");
    for (size_t i = 0; i < bindings.size(); i++) {
      const VkDescriptorBufferInfo whole{buffers[i], 0, VK_WHOLE_SIZE};
      VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
      write.dstSet = set, write.dstBinding = bindings[i].binding, write.descriptorCount = 1;
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, write.pBufferInfo = &whole;
      vkUpdateDescriptorSets(v.device, 1, &write, 0, nullptr);
    }
  }
};

void run(const Vulkan& v, const Program& p, const std::vector<std::byte>& block, uint32_t groups) {
  VkCommandPoolCreateInfo pools{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pools.queueFamilyIndex = v.family;
  VkCommandPool pool{};
  check(vkCreateCommandPool(v.device, &pools, nullptr, &pool), "command pool");
  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = pool, allocate.commandBufferCount = 1;
  VkCommandBuffer commands{};
  check(vkAllocateCommandBuffers(v.device, &allocate, &commands), "command buffer");
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  check(vkBeginCommandBuffer(commands, &begin), "begin");
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p.pipeline);
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p.layout, 0, 1, &p.set, 0,
                          nullptr);
  vkCmdPushConstants(commands, p.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                     static_cast<uint32_t>(block.size()), block.data());
  vkCmdDispatch(commands, groups, 1, 1);
  check(vkEndCommandBuffer(commands), "end");
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1, submit.pCommandBuffers = &commands;
  check(vkQueueSubmit(v.queue, 1, &submit, nullptr), "submit");
  check(vkQueueWaitIdle(v.queue), "wait");
}

bool saxpy(const char* path) {
  const lcpy::Artifact a = read(path);
  if (a.target != "spirv" || a.block != "push") throw std::runtime_error("another artifact");
  Vulkan v;
  if (!v.open()) return std::puts("no device"), true;
  float *x = nullptr, *y = nullptr;
  const std::vector<VkBuffer> buffers{v.buffer(&x), v.buffer(&y)};
  for (uint32_t i = 0; i < kCount; i++) x[i] = static_cast<float>(i), y[i] = 1;
  const Program program(v, a, buffers);

  // The argument block: threads, then what slots take by value.
  std::vector<std::byte> block(a.block_bytes);
  const uint32_t threads[3] = {kCount, 1, 1};
  std::memcpy(block.data(), threads, sizeof threads);
  const float by = 2;
  for (const auto& slot : a.slots)
    if (slot.value != lcpy::Artifact::kNone) std::memcpy(block.data() + slot.value, &by, sizeof by);
  run(v, program, block, (kCount + a.block_size[0] - 1) / a.block_size[0]);
  for (uint32_t i = 0; i < kCount; i++)
    if (y[i] != 2 * static_cast<float>(i) + 1) return std::puts("a wrong number"), false;
  return std::puts("ok"), true;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return argc == 2 && saxpy(argv[1]) ? 0 : 1;
  } catch (const std::exception& error) {
    return std::puts(error.what()), 1;
  }
}
