"""R081: words of C, C++, CUDA, OpenCL and GLSL, and common macros, as names of a program."""

import keyword

import numpy as np
import pytest
from loading import load_source

import lcpy as lc

WORDS = """
alignas alignof and_eq asm atomic_cancel atomic_commit auto bitand bitor bool case catch char
char8_t char16_t char32_t co_await co_return co_yield compl concept const const_cast consteval
constexpr constinit decltype default delete do double dynamic_cast enum explicit export extern false
final float friend goto import inline int int8_t int32_t long main module mutable namespace new
noexcept not_eq nullptr operator or_eq override private protected public register reinterpret_cast
requires restrict short signed size_t sizeof static static_assert static_cast std struct switch
synchronized template this thread_local throw true typedef typeid typename uint8_t uint32_t
uint64_t union unsigned using virtual void volatile wchar_t xor xor_eq _Bool _Complex _Atomic
__host__ __device__ __global__ __shared__ __constant__ __managed__ __restrict__ __launch_bounds__
__syncthreads threadIdx blockIdx blockDim gridDim warpSize __half half half2 float2 float3 float4
float4x4 int2 uint3 uchar4 ulong longlong double3 dim3 make_float3 atomicAdd __shfl_sync __ldg
__kernel kernel __global global __local local __constant constant __private __generic generic
__read_only read_only __write_only write_only pipe image2d_t image3d_t sampler_t event_t queue_t
uchar ushort uint bool3 get_global_id get_local_id barrier mem_fence vload3 vstore3 as_float
convert_int select mix clamp step sign dot cross normalize length native_sin half_sqrt printf
CLK_LOCAL_MEM_FENCE M_PI M_E NULL INFINITY NAN HUGE_VALF FLT_MAX INT_MAX MAXFLOAT EOF I
attribute varying uniform buffer shared coherent readonly writeonly layout centroid flat smooth
noperspective patch sample precise invariant highp mediump lowp precision vec2 vec3 vec4 ivec3 mat3
sampler2D samplerCube texture image subpassInput discard inout input output
gl_GlobalInvocationID gl_Position texelFetch gather packed filter hvec2 fvec3 common partition
active superp fixed resource sizeof cast interface
min max abs floor ceil round sqrt pow exp log sin cos tan fma fmin fmax isnan isinf rsqrt popcount
assert near far small interface_ errno stdin linux unix i386 __CUDA_ARCH__ __OPENCL_VERSION__
__LINE__ __FILE__ __VA_ARGS__ __func__ defined lcpy lcpy_main lcpy_block lc_
tmp block thread t0 v0 s0 b0 e1
""".split()
NAMES = sorted({w for w in WORDS if not keyword.iskeyword(w) and w.isidentifier()})
KERNEL = """
@lc.struct
class S_{n}:
    {n}: lc.float32
    other: lc.int32

    def {m}(self, {n}):
        return self.{n} + {n}

def {c}({n}):
    {n} += 1.0
    return {n}

@lc.kernel
def {k}({n}: lc.Buffer[lc.float32]):
    s = S_{n}({n}[0])
    r = {c}({n}[0]) + s.{m}(2.0)
    if r > 0.0:
        r += s.{n}
    {n}[1] = r

@lc.kernel
def local_{n}(a_: lc.Buffer[lc.float32], out_: lc.Buffer[lc.float32]):
    {n} = a_[0]
    for i_ in range(2):
        {n} = {n} * 2.0
    out_[0] = {n}

PAIRS.append(({k}, local_{n}))
"""
SIZE = 24


def text_of(names):
    out = ["import lcpy as lc", "PAIRS = []"]
    for n in names:
        # Its own kernel, its own function, its own method: what Python's scoping allows at once.
        member = n if not n.startswith("__") else f"m{n}"
        out.append(KERNEL.format(n=member, m=f"{member}_", c=f"f_{member}", k=f"k_{member}"))
        out.append(f"@lc.callable\ndef {n}(x):\n    return x + 2.0\n")
        out.append(f"def call_{member}(x):\n    return {n}(x)\n")
        out.append(
            f"@lc.kernel\ndef use_{member}(a_: lc.Buffer[lc.float32]):\n"
            f"    a_[0] = {n}(a_[0])\nPAIRS[-1] += (use_{member},)\n"
        )
        out.append(
            f"def make_{member}():\n    @lc.kernel\n"
            f"    def {n}(a_: lc.Buffer[lc.float32]):\n        a_[0] += 3.0\n    return {n}\n"
            f"PAIRS[-1] += (make_{member}(),)\n"
        )
    return "\n\n".join(out)


@pytest.mark.parametrize("start", range(0, len(NAMES), SIZE))
def test_r081_words_of_other_languages(device, start, tmp_path):
    names = NAMES[start : start + SIZE]
    module = load_source(tmp_path, f"words_{start}_{device.kind}", text_of(names))
    # Drivers compile for long: a few of each batch run, every one is compiled to its target's text.
    for number, (kernel, local, use, named) in enumerate(module.PAIRS):
        for target in ("spirv", "opencl"):
            kernel.compile(lc.Buffer[lc.float32], target=target)
            named.compile(lc.Buffer[lc.float32], target=target)
        if number % (1 if device.kind == "cpu" else 6):
            continue
        a = lc.Buffer(np.float32([3, 0]), device=device)
        out = lc.Buffer(1, lc.float32, device=device)
        kernel(a, dispatch_size=1)
        local(a, out, dispatch_size=1)
        assert a.numpy()[1] == 4 + 5 + 3 and out.numpy()[0] == 12
        use(a, dispatch_size=1)
        assert a.numpy()[0] == 5
        named(a, dispatch_size=1)
        assert a.numpy()[0] == 8
