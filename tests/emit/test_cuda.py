"""What only CUDA C++ has: folded grids, dynamic shared memory, limits of parameters, fences, layout
assertions. The text runs on the processor (cuda_host)."""

import cuda_host
import numpy as np
import pytest

import lcpy as lc
from lcpy._native import core
from lcpy.errors import DeviceError
from lcpy.run import nvrtc

needs_compiler = pytest.mark.skipif(cuda_host.device() is None, reason="no g++")


def block_of(descriptor, x, y, z):
    block = np.zeros(descriptor.argument_block()[0], np.uint8)
    block[:12] = np.frombuffer(np.array([x, y, z], np.uint32).tobytes(), np.uint8)
    return block.tobytes()


def launch(descriptor, arrays, x, y=1, z=1, **how):
    executable = cuda_host.HostExecutable("k", descriptor, "ieee", **how)
    executable.launch_at([a.ctypes.data for a in arrays], block_of(descriptor, x, y, z), x, y, z)


@lc.callable
def place() -> lc.uint3:
    return lc.block_id() * lc.block_size() + lc.thread_id()


@lc.kernel(block_size=(4, 2, 1), opt=0)
def ids(seen: lc.Buffer[lc.uint3], size: lc.uint3):
    p = place()
    q = lc.dispatch_id()
    i = (q.z * size.y + q.y) * size.x + q.x
    seen[i] = p + lc.uint3(1)


@needs_compiler
@pytest.mark.parametrize("size", [(5, 4, 3), (1, 1, 1), (64, 1, 2), (3, 7, 1)])
def test_a_folded_grid_runs_each_block_once(size):
    descriptor = ids.descriptor(lc.Buffer[lc.uint3], lc.uint3)
    x, y, z = size
    block = bytearray(block_of(descriptor, x, y, z))
    block[16:28] = np.array(size, np.uint32).tobytes()
    seen = np.zeros((z, y, x, 4), np.uint32)
    for fold in (False, True):
        seen[:] = 0
        executable = cuda_host.HostExecutable("ids", descriptor, "ieee", fold=fold)
        executable.launch_at([seen.ctypes.data], bytes(block), x, y, z)
        want = np.stack(np.meshgrid(*map(np.arange, size), indexing="ij"), -1).transpose(2, 1, 0, 3)
        assert (seen[..., :3] == want + 1).all(), f"fold={fold}"


@lc.kernel(block_size=64)
def wide(out: lc.Buffer[lc.float32]):
    flag = lc.shared(lc.uint8, 3)
    cells = lc.shared(lc.float4, 4000)
    i = lc.thread_id().x
    if i == 0:
        flag[2] = lc.uint8(7)
    for k in range(lc.uint(4)):
        cells[i * 60 + k * 11] = lc.float4(lc.float32(i + k))
    lc.sync_block()
    j = 63 - i
    out[lc.dispatch_id().x] = cells[j * 60 + 33].w + lc.float32(flag[2])


@needs_compiler
def test_shared_memory_beyond_48_kib_is_dynamic():
    descriptor = wide.descriptor(lc.Buffer[lc.float32])
    assert core.cuda_dynamic_shared(descriptor) == descriptor.shared_bytes == 64016
    assert "extern __shared__" in core.emit_cuda(descriptor)
    out = np.zeros(128, np.float32)
    launch(descriptor, [out], 128)
    assert (out == np.tile(63 - np.arange(64) + 3 + 7, 2)).all()


def test_static_shared_memory_up_to_48_kib():
    @lc.kernel(block_size=64)
    def just(out: lc.Buffer[lc.float32]):
        cells = lc.shared(lc.float32, 12288)
        cells[lc.thread_id().x] = 1.0
        lc.sync_block()
        out[0] = cells[0]

    descriptor = just.descriptor(lc.Buffer[lc.float32])
    assert core.cuda_dynamic_shared(descriptor) == 0
    assert "extern __shared__" not in core.emit_cuda(descriptor)


def test_arguments_beyond_the_limit_are_refused_by_name():
    @lc.kernel
    def big(a: lc.Array[lc.float32, 8190], out: lc.Buffer[lc.float32]):
        out[0] = a[lc.dispatch_id().x]

    for _ in range(2):
        with pytest.raises(lc.UnsupportedError, match="32792 bytes.*CUDA.*32764"):
            big.compile(lc.Array[lc.float32, 8190], lc.Buffer[lc.float32], target="cuda")

    @lc.kernel
    def fits(a: lc.Array[lc.float32, 8180], out: lc.Buffer[lc.float32]):
        out[0] = a[lc.dispatch_id().x]

    artifact = fits.compile(lc.Array[lc.float32, 8180], lc.Buffer[lc.float32], target="cuda")
    try:
        compiler = nvrtc.compiler()
    except DeviceError as error:
        pytest.skip(str(error))
    options = core.cuda_build_options(artifact.descriptor).split()
    assert compiler.compile(artifact.text, "fits", options, 75)


def test_options_say_what_the_modes_mean():
    @lc.kernel
    def k(out: lc.Buffer[lc.float32]):
        out[0] = 1.0

    def options(math):
        artifact = k.compile(lc.Buffer[lc.float32], target="cuda", math=math)
        return core.cuda_build_options(artifact.descriptor).split()

    exact = {"--ftz=false", "--prec-div=true", "--prec-sqrt=true"}
    assert {*exact, "--fmad=false"} <= set(options("strict"))
    assert {*exact, "--fmad=true"} <= set(options("ieee"))
    assert "--use_fast_math" in options("fast")


@lc.kernel(block_size=32)
def neighbours(a: lc.Buffer[lc.int32], at: lc.Buffer[lc.uint32], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    j = at[i]
    total = a[j + 2] * 1000 + a[j + 1] * 100 + a[lc.int(j) - 1] * 10 + a[j]
    if total > 0:
        total += a[j + 3] * 10000
    out[i] = total


@lc.kernel(block_size=32)
def around(a: lc.Buffer[lc.int32], at: lc.Buffer[lc.uint32], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    j = at[i]
    total = 0
    if j < 100:
        total = a[j]
    out[i] = total + a[j + 1]


@needs_compiler
def test_elements_near_one_another_are_reached_from_one_address():
    types = lc.Buffer[lc.int32], lc.Buffer[lc.uint32], lc.Buffer[lc.int32]
    a, at = np.arange(100, dtype=np.int32) % 9, np.uint32([1, 5, 17, 90] * 8)
    want = [sum(int(a[int(j) + d]) * w for d, w in
                ((0, 1), (-1, 10), (1, 100), (2, 1000), (3, 10000))) for j in at]  # fmt: skip
    for apart in (False, True):
        descriptor = neighbours.descriptor(*types)
        text = core.emit_cuda(descriptor, restrict=apart)
        assert text.count("(g0_a + (") == (4 if apart else 0)
        out = np.zeros(32, np.int32)
        launch(descriptor, [a, at, out], 32, restrict=apart)
        assert out.tolist() == want
    # Where an element need not have been accessed, an index before it may wrap.
    descriptor = around.descriptor(*types)
    assert "(g0_a + (" not in core.emit_cuda(descriptor, restrict=True)
    at[:2] = 0xFFFFFFFF
    launch(descriptor, [a, at, out], 32, restrict=True)
    assert out[:2].tolist() == [a[0], a[0]] and out[2] == a[17] + a[18]


def test_restrict_is_written_when_asked_for():
    @lc.kernel
    def k(a: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
        out[0] = a[0]

    descriptor = k.descriptor(lc.Buffer[lc.float32], lc.Buffer[lc.float32])
    assert "__restrict__" not in core.emit_cuda(descriptor)
    text = core.emit_cuda(descriptor, restrict=True)
    assert "const float* __restrict__ g0_a, float* __restrict__ g1_out" in text


ORDERED = """kernel "k" block 1 1 1 math {math}
slot 0 "b" global buffer<float> read_write number 0 atomics
function 0 "k" () -> () {{
  %0: float = AtomicAdd $0, float(1), uint(0) !{order}
  Store $0, %0, uint(1)
  Return
}}
"""


@pytest.mark.parametrize(
    "order, before, after",
    [
        (0, "", ""),
        (1, "", "acq_rel"),
        (2, "acq_rel", ""),
        (3, "acq_rel", "acq_rel"),
        (4, "sc", "sc"),
    ],
)
def test_fences_stand_where_the_order_asks(order, before, after):
    text = core.emit_cuda(core.parse_descriptor(ORDERED.format(math="ieee", order=order)))
    lines = [line.strip() for line in text.splitlines()]
    at = next(i for i, line in enumerate(lines) if "= atomicAdd(" in line)
    assert lines[at - 1].startswith(f"fence_{before}_gpu();") == bool(before)
    assert lines[at + 1].startswith(f"fence_{after}_gpu();") == bool(after)


def test_strict_keeps_denormals_in_atomic_sums():
    text = core.emit_cuda(core.parse_descriptor(ORDERED.format(math="strict", order=0)))
    assert "atomicCAS" in text and "atomicAdd" not in text


def test_layout_is_asserted():
    @lc.struct
    class Pair:
        a: lc.uint8
        b: lc.float3
        c: lc.float64

    @lc.kernel
    def k(p: lc.Buffer[Pair]):
        q = p[0]
        q.c = 1.0
        p[1] = q

    text = k.compile(lc.Buffer[Pair], target="cuda").text
    assert (
        "static_assert(sizeof(T0) == 48 && alignof(T0) == 16 && LCPY_OFFSET(T0, m0) == 0 && "
        "LCPY_OFFSET(T0, m1) == 16 && LCPY_OFFSET(T0, m2) == 32" in text
    )


def test_the_dump_switch(monkeypatch, tmp_path):
    monkeypatch.setenv("LCPY_DUMP", "cuda")
    monkeypatch.setenv("LCPY_DUMP_DIR", str(tmp_path))
    text = ids.compile(lc.Buffer[lc.uint3], lc.uint3, target="cuda").text
    (file,) = tmp_path.iterdir()
    assert file.name.endswith("_ids_cuda.txt") and file.read_text() == text
