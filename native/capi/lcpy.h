/* The core for other languages: SPIR-V, compiled kernels, descriptors. C99, nothing but the
 * standard library's headers.
 *
 * Functions that may fail give NULL or 0 and leave a message for lcpy_error() of the same thread.
 * What a function gives belongs to the caller, and is freed by the function that its type names;
 * texts and code inside an object live as long as it does. Objects may be read by any number of
 * threads at once. */
#ifndef LCPY_H
#define LCPY_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
const char* lcpy_version(void);
/* What went wrong in the last call of this thread that failed; "" before that. */
const char* lcpy_error(void);
/* Frees texts and words. */
void lcpy_free(void* memory);

/* ---- SPIR-V -----------------------------------------------------------------------------------
 */
/* Words of assembly text of `size` bytes; `environment` as spirv-as takes it ("vulkan1.2",
 * "spv1.4"), or NULL for what the text says. `preserve_ids`: %12 stays 12. */
uint32_t* lcpy_spirv_assemble(const char* text, size_t size, const char* environment,
                              int preserve_ids, size_t* word_count);
/* Text, ended by 0, of a module in either byte order. `raw_ids`: numbers instead of names. */
char* lcpy_spirv_disassemble(const void* module, size_t bytes, int raw_ids);
/* 1 where SPIRV-Tools, which must be on the system or at `library`, accepts the module for an
 * environment ("vulkan1.2"); 0, with its message, where it does not or is not there. */
int lcpy_spirv_validate(const uint32_t* words, size_t word_count, const char* environment,
                        const char* library);

/* ---- compiled kernels -------------------------------------------------------------------------
 */
typedef struct lcpy_artifact lcpy_artifact;

/* Reads the bytes of a file that `python -m lcpy compile` or Artifact.save wrote. */
lcpy_artifact* lcpy_artifact_read(const void* bytes, size_t size);
void lcpy_artifact_free(lcpy_artifact* artifact);

typedef enum {
  LCPY_TARGET,        /* "spirv", "opencl", "cuda", "cpu" */
  LCPY_ENVIRONMENT,   /* "vulkan1.2", … */
  LCPY_PRODUCER,      /* "lcpy 0.1.0" */
  LCPY_KERNEL,        /* the kernel's name */
  LCPY_ENTRY_POINT,   /* the function to start */
  LCPY_MATH,          /* "ieee", "strict", "fast" */
  LCPY_BUILD_OPTIONS, /* for the compiler of OpenCL C or CUDA C++ */
  LCPY_BLOCK          /* how the argument block arrives: "push", "uniform", "storage" */
} lcpy_text;
const char* lcpy_artifact_text(const lcpy_artifact* artifact, lcpy_text which);
/* SPIR-V words, source text (not ended by 0) or a descriptor's text. */
const void* lcpy_artifact_code(const lcpy_artifact* artifact, size_t* bytes);
/* Threads of a block along three axes. */
void lcpy_artifact_block_size(const lcpy_artifact* artifact, uint32_t size[3]);
/* Set and binding of the argument block where it is not pushed, and its size in bytes. Its first
 * three uint32_t are the dispatch size in threads, the fourth is 0. */
void lcpy_artifact_block(const lcpy_artifact* artifact, uint32_t* set, uint32_t* binding,
                         uint32_t* bytes);
/* The index-th capability, extension or other need; NULL beyond the last. */
const char* lcpy_artifact_feature(const lcpy_artifact* artifact, size_t index);

#define LCPY_NONE 0xffffffffu
/* What the kernel names: a parameter, or memory of its own. Offsets are in the argument block, or
 * LCPY_NONE: `value` of an argument by value; of a buffer, `length` (uint64_t elements), `extents`
 * (three uint32_t) and `base` (uint64_t, the first element), where the kernel asks for them. */
typedef struct {
  const char *name, *type, *memory, *access;
  uint32_t parameter; /* which, of global and uniform memory */
  int bound;          /* whether it is a buffer that the host binds at set and binding */
  uint32_t set, binding;
  uint32_t value, length, extents, base;
} lcpy_slot;
/* 0 beyond the last. */
int lcpy_artifact_slot(const lcpy_artifact* artifact, size_t index, lcpy_slot* slot);

/* ---- kernel descriptors -----------------------------------------------------------------------
 */
typedef struct lcpy_kernel lcpy_kernel;

/* A kernel of its text form, as an artifact for "cpu" and kernel.descriptor(…).text() have it. */
lcpy_kernel* lcpy_kernel_parse(const char* text, size_t size);
void lcpy_kernel_free(lcpy_kernel* kernel);
/* Words for Vulkan 1.`minor` (0 to 4); buffers in set 0 by order of slots, arguments as
 * lcpy_artifact_block says of "push" up to 128 bytes, else in set 1, binding 0. */
uint32_t* lcpy_kernel_spirv(const lcpy_kernel* kernel, unsigned minor, size_t* word_count);
/* OpenCL C 1.2, or CUDA C++17 for sm_75 and later; ended by 0. */
char* lcpy_kernel_opencl(const lcpy_kernel* kernel);
char* lcpy_kernel_cuda(const lcpy_kernel* kernel);

typedef struct {
  void* data;
  uint64_t bytes;
} lcpy_buffer;
/* Runs the kernel on the processor: buffers by order of global slots; `block`: the argument block,
 * whose dispatch size is taken from `threads`. 1 when it has run. */
int lcpy_kernel_run(const lcpy_kernel* kernel, const uint32_t threads[3],
                    const lcpy_buffer* buffers, size_t buffer_count, const void* block,
                    size_t block_bytes);
/* Size of the argument block. */
uint32_t lcpy_kernel_block_bytes(const lcpy_kernel* kernel);

#ifdef __cplusplus
}
#endif
#endif
