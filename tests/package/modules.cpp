// lcpy's SPIR-V part alone: text to a module, its pointers made logical, what a host needs to know
// of it, text again. Ends with 1 where something is not as it should be.
#include <cstdio>
#include <string>

#include "base/error.h"
#include "spirv/assemble.h"
#include "spirv/disassemble.h"
#include "spirv/legalize/legalize.h"
#include "spirv/reflect.h"
#include "spirv/validate.h"

namespace {

constexpr const char* kText = R"(
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main"
               OpExecutionMode %main LocalSize 8 1 1
               OpDecorate %floats ArrayStride 4
               OpDecorate %block Block
               OpMemberDecorate %block 0 Offset 0
               OpDecorate %buffer DescriptorSet 0
               OpDecorate %buffer Binding 3
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
       %uint = OpTypeInt 32 0
      %float = OpTypeFloat 32
     %floats = OpTypeRuntimeArray %float
      %block = OpTypeStruct %floats
    %p_block = OpTypePointer StorageBuffer %block
    %p_float = OpTypePointer StorageBuffer %float
     %buffer = OpVariable %p_block StorageBuffer
       %zero = OpConstant %uint 0
       %five = OpConstant %uint 5
        %one = OpConstant %float 1
       %main = OpFunction %void None %fn
      %entry = OpLabel
      %first = OpAccessChain %p_float %buffer %zero %five
       %next = OpPtrAccessChain %p_float %first %five
               OpStore %next %one
               OpReturn
               OpFunctionEnd
)";

}  // namespace

int main() {
  using namespace lcpy::spirv;
  try {
    AssembleOptions options;
    options.version = version_of_environment("vulkan1.1");
    const std::vector<Word> words = legalize(assemble(kText, options));
    const Reflection known = reflect(words);
    const std::string text = disassemble(words);
    std::printf("%s", text.c_str());
    if (text.find("PtrAccessChain") != std::string::npos) return 1;
    if (known.entry_points.size() != 1 || known.entry_points[0].local_size[0] != 8) return 1;
    if (can_validate() && !validate(words, "vulkan1.1").valid) return 1;
    assemble("%1 = OpTypeFlot 32");
  } catch (const AssemblyError& error) {
    std::printf("as it should be: %s\n", error.what());
    return 0;
  } catch (const lcpy::Error& error) {
    std::printf("%s\n", error.what());
  }
  return 1;
}
