#include "artifact/artifact.h"

#include <cstring>

#include "base/error.h"

// Bytes of an artifact behind its header: size and hash are put right, so that what they guard is
// reached. What can be read is written and read again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeader = 32;
  std::string file("\x89LCPY\r\n\x1a\1\0\0\0", 12);
  file.resize(kHeader);
  if (size) file[12] = static_cast<char>(data[0] % 16);  // sections
  file.append(reinterpret_cast<const char*>(data), size);
  const uint64_t length = file.size();
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = kHeader; i < file.size(); i++)
    hash = (hash ^ static_cast<uint8_t>(file[i])) * 0x100000001b3u;
  std::memcpy(file.data() + 16, &length, 8);
  std::memcpy(file.data() + 24, &hash, 8);
  try {
    const lcpy::Artifact found = lcpy::read_artifact(file);
    const std::string again = lcpy::write_artifact(found);
    if (lcpy::write_artifact(lcpy::read_artifact(again)) != again) __builtin_trap();
  } catch (const lcpy::LoadError&) {
  }
  return 0;
}
