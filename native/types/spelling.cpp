#include "types/spelling.h"

namespace lcpy {
namespace {

std::string spell_struct(Type type) {
  std::string out = "struct(";
  constexpr size_t kShown = 4;  // enough to recognise it by
  for (size_t i = 0; i < type.members().size() && i < kShown; ++i) {
    if (i > 0) out += ", ";
    out += type_spelling(type.members()[i]);
  }
  return out + (type.members().size() > kShown ? ", …)" : ")");
}

std::string spell_buffer(Type type) {
  std::string out = "Buffer[" + (type.element().is_void() ? "void" : type_spelling(type.element()));
  if (type.rank() > 1) out += ", " + std::to_string(type.rank());
  return out + (type.packed() ? "] in packed layout" : "]");
}

}  // namespace

std::string type_spelling(Type type) {
  switch (type.tag()) {
    case TypeTag::Void:
      return "nothing";
    case TypeTag::Scalar:
      return std::string(scalar_name(type.scalar()));
    case TypeTag::Vector:
      return std::string(scalar_name(type.scalar())) + std::to_string(type.lanes());
    case TypeTag::Matrix: {
      std::string n = std::to_string(type.lanes());
      return std::string(scalar_name(type.scalar())) + n + "x" + n;
    }
    case TypeTag::Array:
      return "Array[" + type_spelling(type.element()) + ", " + std::to_string(type.count()) + "]";
    case TypeTag::Struct:
      return spell_struct(type);
    case TypeTag::Buffer:
      return spell_buffer(type);
    case TypeTag::Texture:
      return "Image" + std::to_string(type.rank()) + "D[" +
             std::string(scalar_name(type.scalar())) + "]";
    case TypeTag::BindlessArray:
      return "BindlessArray";
    case TypeTag::Accel:
      return "Accel";
    case TypeTag::Custom:
      return type.description();
  }
  return type.description();
}

}  // namespace lcpy
