#include "emit/clike/types.h"

#include <cstring>

#include "base/error.h"

namespace lcpy::clike {

void Types::value_name(Text& t, Type type) {
  if (type.is_bool()) {
    t << "bool";
  } else if (type.has_class(ScalarClass::Bool)) {
    dialect_.vector_name(t, Scalar::Int32, type.lanes());
  } else {
    memory_name(t, type);
  }
}

void Types::memory_name(Text& t, Type type) {
  if (type.is_void()) {
    t << "void";
  } else if (type.is_scalar()) {
    t << dialect_.scalar(type.scalar());
  } else if (type.is_vector()) {
    dialect_.vector_name(t, type.scalar(), type.lanes());
  } else {
    t << aggregate(type);
  }
}

std::string_view Types::aggregate(Type type) {
  const auto known = names_.find(type);
  if (known != names_.end()) return known->second;
  // Components first: their declarations must come before.
  if (type.is_struct()) {
    for (Type member : type.members())
      if (!member.is_lanes()) aggregate(member);
  } else if (!type.element().is_lanes()) {
    aggregate(type.element());
  }
  std::string name = "T" + std::to_string(names_.size());
  declare(type, name);
  return names_.emplace(type, std::move(name)).first->second;
}

void Types::declare(Type type, const std::string& name) {
  Text& t = declarations_;
  t << "// " << type.description() << "\ntypedef struct {";
  if (type.is_struct()) {
    uint64_t end = 0, index = 0;
    uint32_t pads = 0;
    // Of the widest unit that fits: copies of the struct are made of few accesses then.
    const auto pad_to = [&](uint64_t offset) {
      if (offset <= end) return;
      const bool words = end % 4 == 0 && offset % 4 == 0, halves = end % 2 == 0 && offset % 2 == 0;
      const Scalar unit = words ? Scalar::UInt32 : halves ? Scalar::UInt16 : Scalar::UInt8;
      t << ' ' << dialect_.scalar(unit) << " pad" << pads++ << '['
        << (offset - end) / scalar_size(unit) << "];";
    };
    for (Type member : type.members()) {
      pad_to(type.offset(index));
      t << ' ';
      memory_name(t, member);
      t << " m" << index << ';';
      end = type.offset(index) + member.size();
      index++;
    }
    pad_to(type.size());
  } else {
    t << ' ';
    memory_name(t, type.element());
    t << (type.is_matrix() ? " c[" : " e[") << type.count() << "];";
  }
  t << " } " << dialect_.align_attribute() << type.align() << "))) " << name << ";\n";
  dialect_.assert_layout(t, name, type);
}

bool Types::padded_before(Type structure, uint64_t member) {
  const uint64_t start = member == structure.count() ? structure.size() : structure.offset(member);
  const uint64_t end =
      member == 0 ? 0 : structure.offset(member - 1) + structure.component(member - 1).size();
  return start > end;
}

bool Types::holds_bool(Type type) {
  if (type.is_lanes()) return type.has_class(ScalarClass::Bool);
  if (!type.is_struct()) return holds_bool(type.element());
  for (Type member : type.members())
    if (holds_bool(member)) return true;
  return false;
}

uint64_t lane_bits(Type type, std::span<const std::byte> bytes, uint32_t lane) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + (type.is_vector() ? type.offset(lane) : 0),
              scalar_size(type.scalar()));
  return bits;
}

void put_component(Text& t, Type aggregate, uint64_t index) {
  if (aggregate.is_vector()) {
    t << '.' << "xyzw"[index];
  } else if (aggregate.is_struct()) {
    t << ".m" << index;
  } else {
    t << (aggregate.is_matrix() ? ".c[" : ".e[") << index << ']';
  }
}

}  // namespace lcpy::clike
