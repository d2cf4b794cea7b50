/* The core from C: an artifact that the build made of a Python kernel is read, its SPIR-V goes through
 * text and back, and the same kernel, of its descriptor, is emitted and run. Takes the artifacts for
 * spirv and cpu; prints "ok" and exits 0, or says what went wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capi/lcpy.h"

static void fail(const char* what) {
  printf("%s: %s\n", what, lcpy_error());
  exit(1);
}
#define CHECK(condition) \
  if (!(condition)) fail(#condition)

static lcpy_artifact* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  CHECK(file != NULL);
  char* bytes = malloc(1 << 20);
  const size_t size = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  lcpy_artifact* found = lcpy_artifact_read(bytes, size);
  CHECK(found != NULL);
  if (size) {
    bytes[size / 2] = (char)(bytes[size / 2] ^ 1);
    CHECK(lcpy_artifact_read(bytes, size) == NULL && strstr(lcpy_error(), "damaged") != NULL);
  }
  free(bytes);
  return found;
}

static void check_module(const lcpy_artifact* saxpy) {
  CHECK(strcmp(lcpy_artifact_text(saxpy, LCPY_TARGET), "spirv") == 0);
  CHECK(strcmp(lcpy_artifact_text(saxpy, LCPY_KERNEL), "saxpy") == 0);
  CHECK(strcmp(lcpy_artifact_text(saxpy, LCPY_BLOCK), "push") == 0);
  uint32_t block[3], bytes;
  lcpy_artifact_block_size(saxpy, block);
  lcpy_artifact_block(saxpy, NULL, NULL, &bytes);
  CHECK(block[0] == 64 && block[1] == 1 && block[2] == 1 && bytes == 32);
  lcpy_slot slot;
  size_t bound = 0, n = 0;
  while (lcpy_artifact_slot(saxpy, n++, &slot))
    if (slot.bound) CHECK(slot.set == 0 && slot.binding == bound++);
  CHECK(bound == 2);
  CHECK(lcpy_artifact_feature(saxpy, 0) != NULL && lcpy_artifact_feature(saxpy, 99) == NULL);

  size_t size = 0, count = 0;
  const void* code = lcpy_artifact_code(saxpy, &size);
  char* text = lcpy_spirv_disassemble(code, size, 1);
  CHECK(text != NULL && strstr(text, "OpEntryPoint GLCompute") != NULL);
  uint32_t* words = lcpy_spirv_assemble(text, strlen(text), NULL, 1, &count);
  CHECK(words != NULL && count * 4 == size);
  words[2] = ((const uint32_t*)code)[2]; /* the generator's number is not in the text */
  CHECK(memcmp(words, code, size) == 0);
  if (!lcpy_spirv_validate(words, count, "vulkan1.2", NULL) && !strstr(lcpy_error(), "libSPIRV"))
    fail("validation");
  lcpy_free(words);
  lcpy_free(text);
  CHECK(lcpy_spirv_assemble("OpNosuch", 8, NULL, 0, &count) == NULL);
  CHECK(strstr(lcpy_error(), "1:1") != NULL);
  CHECK(lcpy_spirv_assemble("", 0, "vulkan9", 0, &count) == NULL);
  CHECK(lcpy_spirv_disassemble("no module", 9, 0) == NULL);
}

static void run_kernel(const lcpy_artifact* saxpy) {
  size_t size = 0, count = 0;
  const char* text = lcpy_artifact_code(saxpy, &size);
  lcpy_kernel* kernel = lcpy_kernel_parse(text, size);
  CHECK(kernel != NULL);
  CHECK(lcpy_kernel_parse("kernel", 6) == NULL && lcpy_error()[0] != 0);
  uint32_t* words = lcpy_kernel_spirv(kernel, 2, &count);
  CHECK(words != NULL && words[0] == 0x07230203u);
  CHECK(lcpy_kernel_spirv(kernel, 9, &count) == NULL);
  char *opencl = lcpy_kernel_opencl(kernel), *cuda = lcpy_kernel_cuda(kernel);
  CHECK(opencl != NULL && strstr(opencl, "__kernel") && cuda != NULL && strstr(cuda, "__global__"));
  lcpy_free(words), lcpy_free(opencl), lcpy_free(cuda);

  enum { N = 1000 };
  float x[N], y[N], a = 2.0f;
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1.0f;
  unsigned char block[32] = {0};
  lcpy_slot slot;
  for (size_t n = 0; lcpy_artifact_slot(saxpy, n, &slot); n++)
    if (slot.value != LCPY_NONE) memcpy(block + slot.value, &a, sizeof a);
  const lcpy_buffer buffers[] = {{x, sizeof x}, {y, sizeof y}};
  const uint32_t threads[3] = {N, 1, 1};
  CHECK(lcpy_kernel_block_bytes(kernel) == sizeof block);
  CHECK(lcpy_kernel_run(kernel, threads, buffers, 2, block, sizeof block));
  for (int i = 0; i < N; i++) CHECK(y[i] == 2.0f * (float)i + 1.0f);
  CHECK(!lcpy_kernel_run(kernel, threads, buffers, 1, block, sizeof block));
  CHECK(strstr(lcpy_error(), "2 buffers") != NULL);
  lcpy_kernel_free(kernel);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  CHECK(lcpy_version()[0] == '0' && lcpy_error()[0] == 0);
  lcpy_artifact *module = read_file(argv[1]), *descriptor = read_file(argv[2]);
  check_module(module);
  run_kernel(descriptor);
  lcpy_artifact_free(module);
  lcpy_artifact_free(descriptor);
  return puts("ok"), 0;
}
