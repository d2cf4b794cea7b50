// The flags of VulkanTarget by their names.
#include "emit/emit.h"

namespace lcpy {

bool set_flag(VulkanTarget& target, std::string_view name, bool value) {
  struct Flag {
    std::string_view name;
    bool VulkanTarget::*place;
  };
  static constexpr Flag kFlags[] = {
#define FLAG(name, unless_told) {#name, &VulkanTarget::name},
#include "emit/vulkan.def"
#undef FLAG
  };
  for (const Flag& flag : kFlags) {
    if (flag.name != name) continue;
    target.*flag.place = value;
    return true;
  }
  return false;
}

}  // namespace lcpy
