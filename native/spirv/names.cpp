#include "spirv/names.h"

#include <algorithm>

#include "base/error.h"
#include "spirv/literal.h"
#include "spirv/tokens.h"

namespace lcpy::spirv {
namespace {

bool is_number(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

// Builtins are named as GLSL names them where it does.
std::string builtin_name(Word builtin) {
  struct Renamed {
    BuiltIn builtin;
    std::string_view glsl;
  };
  static constexpr Renamed kRenamed[] = {
      {BuiltIn::VertexId, "VertexID"},
      {BuiltIn::InstanceId, "InstanceID"},
      {BuiltIn::PrimitiveId, "PrimitiveID"},
      {BuiltIn::InvocationId, "InvocationID"},
      {BuiltIn::SampleId, "SampleID"},
      {BuiltIn::NumWorkgroups, "NumWorkGroups"},
      {BuiltIn::WorkgroupSize, "WorkGroupSize"},
      {BuiltIn::WorkgroupId, "WorkGroupID"},
      {BuiltIn::LocalInvocationId, "LocalInvocationID"},
      {BuiltIn::GlobalInvocationId, "GlobalInvocationID"},
  };
  static constexpr BuiltIn kGlsl[] = {
      BuiltIn::Position,
      BuiltIn::PointSize,
      BuiltIn::ClipDistance,
      BuiltIn::CullDistance,
      BuiltIn::Layer,
      BuiltIn::ViewportIndex,
      BuiltIn::TessLevelOuter,
      BuiltIn::TessLevelInner,
      BuiltIn::TessCoord,
      BuiltIn::PatchVertices,
      BuiltIn::FragCoord,
      BuiltIn::PointCoord,
      BuiltIn::FrontFacing,
      BuiltIn::SamplePosition,
      BuiltIn::SampleMask,
      BuiltIn::FragDepth,
      BuiltIn::HelperInvocation,
      BuiltIn::LocalInvocationIndex,
      BuiltIn::VertexIndex,
      BuiltIn::InstanceIndex,
  };
  static constexpr BuiltIn kPlain[] = {
      BuiltIn::WorkDim,
      BuiltIn::GlobalSize,
      BuiltIn::EnqueuedWorkgroupSize,
      BuiltIn::GlobalOffset,
      BuiltIn::GlobalLinearId,
      BuiltIn::SubgroupSize,
      BuiltIn::SubgroupMaxSize,
      BuiltIn::NumSubgroups,
      BuiltIn::NumEnqueuedSubgroups,
      BuiltIn::SubgroupId,
      BuiltIn::SubgroupLocalInvocationId,
      BuiltIn::SubgroupEqMask,
      BuiltIn::SubgroupGeMask,
      BuiltIn::SubgroupGtMask,
      BuiltIn::SubgroupLeMask,
      BuiltIn::SubgroupLtMask,
  };
  const auto wanted = static_cast<BuiltIn>(builtin);
  for (const Renamed& r : kRenamed)
    if (r.builtin == wanted) return "gl_" + std::string(r.glsl);
  const std::string name(name_of(Kind::BuiltIn, builtin));
  if (std::ranges::find(kGlsl, wanted) != std::end(kGlsl)) return "gl_" + name;
  if (std::ranges::find(kPlain, wanted) == std::end(kPlain)) return "";
  return name.ends_with("Mask") ? name + "KHR" : name;
}

std::string integer_name(Word width, bool is_signed) {
  const std::string root = width == 8    ? "char"
                           : width == 16 ? "short"
                           : width == 32 ? "int"
                           : width == 64 ? "long"
                                         : std::to_string(width);
  const bool known = width == 8 || width == 16 || width == 32 || width == 64;
  return (!is_signed ? "u" : known ? "" : "i") + root;
}

std::string float_name(const ReadInstruction& i) {
  const Word width = i.words[2];
  if (i.words.size() > 3) {
    const auto encoding = static_cast<FPEncoding>(i.words[3]);
    if (encoding == FPEncoding::BFloat16KHR) return "bfloat16";
    if (encoding == FPEncoding::Float8E4M3EXT) return "fp8e4m3";
    if (encoding == FPEncoding::Float8E5M2EXT) return "fp8e5m2";
  }
  return width == 16   ? "half"
         : width == 32 ? "float"
         : width == 64 ? "double"
                       : "fp" + std::to_string(width);
}

}  // namespace

FriendlyNames::FriendlyNames(std::span<const Word> words) {
  try {
    Reader reader(words);
    places_.resize(std::min<size_t>(reader.header().bound, words.size() + 1));
    ReadInstruction i;
    while (reader.next(&i)) name(i);
  } catch (const LoadError&) {
    // Who reads on will meet it.
  }
}

void FriendlyNames::write(std::string& out, Word id) const {
  const Place* const found = find(id);
  if (found && found->length)
    out.append(text_, found->at, found->length);
  else
    write_decimal(out, id);
}

FriendlyNames::Place& FriendlyNames::place(Word id) {
  return id < places_.size() ? places_[id] : distant_[id];
}

const FriendlyNames::Place* FriendlyNames::find(Word id) const {
  if (id < places_.size()) return &places_[id];
  const auto found = distant_.find(id);
  return found == distant_.end() ? nullptr : &found->second;
}

std::string FriendlyNames::of(Word id) const {
  std::string name;
  write(name, id);
  return name;
}

void FriendlyNames::save(Word id, std::string_view suggested) {
  Place& saved = place(id);
  if (saved.given) return;
  std::string name(suggested.empty() ? "_" : suggested);
  for (char& c : name)
    if (!is_name_character(c)) c = '_';
  numbers_used_ = numbers_used_ || is_number(name);
  if (!used_.insert(name).second) {
    const std::string base = name + '_';
    for (uint32_t n = 0;; n++) {
      name = base + std::to_string(n);
      if (used_.insert(name).second) break;
    }
  }
  saved = {static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(name.size()), true};
  text_ += name;
}

void FriendlyNames::name(const ReadInstruction& i) {
  const auto& w = i.words;
  switch (i.info.opcode) {
    case Opcode::Name:
      return save(w[1], i.text(i.operands[1]));
    case Opcode::Decorate:
      if (static_cast<Decoration>(w[2]) == Decoration::BuiltIn) {
        const std::string name = builtin_name(w[3]);
        if (!name.empty()) save(w[1], name);
      }
      return;
    case Opcode::TypeVoid:
      return save(i.result, "void");
    case Opcode::TypeBool:
      return save(i.result, "bool");
    case Opcode::TypeInt:
      return save(i.result, integer_name(w[2], w[3]));
    case Opcode::TypeFloat:
      return save(i.result, float_name(i));
    case Opcode::TypeVector:
      return save(i.result, "v" + std::to_string(w[3]) + of(w[2]));
    case Opcode::TypeMatrix:
      return save(i.result, "mat" + std::to_string(w[3]) + of(w[2]));
    case Opcode::TypeArray:
      return save(i.result, "_arr_" + of(w[2]) + '_' + of(w[3]));
    case Opcode::TypeRuntimeArray:
      return save(i.result, "_runtimearr_" + of(w[2]));
    case Opcode::TypePointer:
      return save(i.result,
                  "_ptr_" + std::string(name_of(Kind::StorageClass, w[2])) + '_' + of(w[3]));
    case Opcode::TypeUntypedPointerKHR:
      return save(i.result, "_ptr_" + std::string(name_of(Kind::StorageClass, w[2])));
    case Opcode::TypeNodePayloadArrayAMDX:
      return save(i.result, "_payloadarr_" + of(w[2]));
    case Opcode::TypePipe:
      return save(i.result, "Pipe" + std::string(name_of(Kind::AccessQualifier, w[2])));
    case Opcode::TypeEvent:
      return save(i.result, "Event");
    case Opcode::TypeDeviceEvent:
      return save(i.result, "DeviceEvent");
    case Opcode::TypeReserveId:
      return save(i.result, "ReserveId");
    case Opcode::TypeQueue:
      return save(i.result, "Queue");
    case Opcode::TypeOpaque:
      return save(i.result, "Opaque_" + (w[2] ? i.text(i.operands[1]) : "_"));
    case Opcode::TypePipeStorage:
      return save(i.result, "PipeStorage");
    case Opcode::TypeNamedBarrier:
      return save(i.result, "NamedBarrier");
    case Opcode::TypeStruct:
      return save(i.result, "_struct_" + std::to_string(i.result));
    case Opcode::ConstantTrue:
      return save(i.result, "true");
    case Opcode::ConstantFalse:
      return save(i.result, "false");
    case Opcode::Constant: {
      std::string number;
      const ReadOperand& value = i.operands[2];
      write_number(number, value.type, w.subspan(value.at, value.words));
      std::ranges::replace(number, '-', 'n');
      return save(i.result, of(i.type) + '_' + number);
    }
    default:
      break;
  }
  if (!i.result) return;
  Place& saved = place(i.result);
  if (saved.given) return;
  // Its number, which only a name of digits can have taken.
  if (numbers_used_) return save(i.result, std::to_string(i.result));
  saved.given = true;
}

}  // namespace lcpy::spirv
