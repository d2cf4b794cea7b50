// The flags of VulkanTarget by their names.
#include "emit/emit.h"

namespace lcpy {

namespace {

struct Flag {
  std::string_view name;
  bool VulkanTarget::*place;
};
constexpr Flag kFlags[] = {
#define FLAG(name, unless_told) {#name, &VulkanTarget::name},
#include "emit/vulkan.def"
#undef FLAG
};

}  // namespace

bool set_flag(VulkanTarget& target, std::string_view name, bool value) {
  for (const Flag& flag : kFlags) {
    if (flag.name != name) continue;
    target.*flag.place = value;
    return true;
  }
  return false;
}

std::vector<std::pair<std::string, bool>> flags_of(const VulkanTarget& target) {
  std::vector<std::pair<std::string, bool>> all;
  for (const Flag& flag : kFlags) all.emplace_back(flag.name, target.*flag.place);
  return all;
}

}  // namespace lcpy
