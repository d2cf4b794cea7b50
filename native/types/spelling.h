// Types as users write them, for messages: float3, float3x3, Array[int, 4], Buffer[float3].
#pragma once
#include <string>

#include "types/type.h"

namespace lcpy {

std::string type_spelling(Type type);

}  // namespace lcpy
