// The layout rules of language.md's table "Memory".
#include "types/layout.h"

#include <algorithm>

namespace lcpy {
namespace {

void layout_lanes(TypeInfo& t) {
  uint32_t scalar = scalar_size(t.scalar);
  uint32_t padded = t.lanes == 3 ? 4 : t.lanes;
  t.size = t.align = scalar * padded;
  t.stride = scalar;
  t.packed_size = scalar * t.lanes;
}

bool layout_array(TypeInfo& t) {
  uint64_t stride = round_up(t.element.size(), t.element.align());
  if (t.count > kMaxValueBytes / stride) return false;
  t.stride = stride;
  t.align = t.element.align();
  t.size = t.count * stride;
  t.packed_size = t.count * t.element.packed_size();
  return true;
}

bool layout_struct(TypeInfo& t) {
  uint64_t at = 0;
  for (Type member : t.members) {
    at = round_up(at, member.align());
    t.offsets.push_back(at);
    at += member.size();
    t.packed_size += member.packed_size();
    t.align = std::max(t.align, member.align());
    if (at > kMaxValueBytes) return false;
  }
  t.size = round_up(at, t.align);
  return t.size <= kMaxValueBytes;
}

}  // namespace

bool compute_layout(TypeInfo& t) {
  switch (t.tag) {
    case TypeTag::Scalar:
    case TypeTag::Vector:
      layout_lanes(t);
      return true;
    case TypeTag::Matrix:
      t.stride = t.element.size();
      t.align = t.element.align();
      t.size = t.count * t.stride;
      t.packed_size = t.count * t.element.packed_size();
      return true;
    case TypeTag::Array:
      return layout_array(t);
    case TypeTag::Struct:
      return layout_struct(t);
    case TypeTag::Buffer:
      if (t.element.is_void()) {
        t.stride = 1;
      } else {
        t.stride =
            t.packed ? t.element.packed_size() : round_up(t.element.size(), t.element.align());
      }
      return true;
    case TypeTag::Void:
    case TypeTag::Texture:
    case TypeTag::BindlessArray:
    case TypeTag::Accel:
    case TypeTag::Custom:
      return true;
  }
  return true;
}

}  // namespace lcpy
