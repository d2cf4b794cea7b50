// A module that the build made of a Python kernel, as a table in a header.
#include <cstdio>

#include "saxpy.spirv.h"

int main() {
  const bool good = SAXPY_BLOCK_X == 64 && SAXPY_X_BINDING == 0 && SAXPY_Y_BINDING == 1 &&
                    saxpy_code[0] == 0x07230203u && sizeof saxpy_code == saxpy_code_bytes;
  return std::puts(good ? "ok" : "another module"), good ? 0 : 1;
}
