"""External functions: texts in a target's own language, bodies elsewhere, refusals by name."""

import numpy as np
import pytest

import lcpy as lc

Floats = lc.Buffer[lc.float32]


def languages(device):
    """Whether the device calls the texts below."""
    return device.kind in ("opencl", "cuda", "cuda_host")


@lc.external(
    opencl="""
float weigh(float x, float3 v, float* product, uint n) {
  for (uint i = 0; i < n; i++) x += v.y;
  *product *= x;
  return x + 0.25f;
}""",
    cuda="""
__device__ float weigh(float x, float3 v, float* product, uint n) {
  for (uint i = 0; i < n; i++) x += v.y;
  *product *= x;
  return x + 0.25f;
}""",
    usages={"product": "read_write"},
)
def weigh(x: lc.float32, v: lc.float3, product: lc.Ref[lc.float32], n: lc.uint32) -> lc.float32:
    for _ in range(n):
        x += v.y
    product *= x
    return x


def test_text_where_there_is_one_and_body_elsewhere(device):
    """The text adds 0.25, so that one can tell which of the two ran."""

    @lc.kernel(block_size=64)
    def use(a: Floats, b: Floats):
        i = lc.dispatch_id().x
        product = 2.0
        a[i] = weigh(a[i], lc.float3(0.0, 0.5, 9.0), product, 4)
        b[i] = product
        a[i] += weigh(1.0, lc.float3(1.0), b[i], 1)  # a place in a buffer is a reference too

    a = np.arange(100, dtype=np.float32)
    x, y = lc.Buffer(a, device=device), lc.Buffer(a, device=device)
    use(x, y, dispatch_size=100)
    extra = 0.5 if languages(device) else 0.0
    assert (x.numpy() == a + 2 + 2 + extra).all()
    assert (y.numpy() == (a + 2) * 2 * 2).all()


@lc.external(
    opencl="""
void spread(__global const int* from, __global int* to, __global uchar* bytes, uint i, bool twice) {
  to[i] = from[i] * (twice ? 2 : 1);
  bytes[4 * i] = (uchar)from[i];
}""",
    cuda="""
__device__ void spread(const int* from, int* to, uchar* bytes, uint i, bool twice) {
  to[i] = from[i] * (twice ? 2 : 1);
  bytes[4 * i] = (uchar)from[i];
}""",
    usages={"source": "read", "target": "write", "bytes_": "write"},
)
def spread(
    source: lc.Buffer[lc.int32],
    target: lc.Buffer[lc.int32],
    bytes_: lc.ByteBuffer,
    i: lc.uint32,
    twice: lc.bool,
):
    target[i] = source[i] * (2 if twice else 1)
    lc.byte_write(bytes_, i * 4, lc.uint8(source[i]))


def test_buffers_views_and_two_instances(device):
    @lc.kernel(block_size=32)
    def use(a: lc.Buffer[lc.int32], b: lc.Buffer[lc.int32], c: lc.ByteBuffer):
        i = lc.dispatch_id().x
        spread(a, b, c, i, True)
        spread(b, a, c, i, False)

    values = np.arange(1, 51, dtype=np.int32)
    a, b = lc.Buffer(values, device=device), lc.Buffer(60, lc.int32, device=device)
    c = lc.ByteBuffer(400, device=device)
    use(a.view(10, 50), b.view(3, 60), c, dispatch_size=40)
    assert (a.numpy()[10:] == values[10:] * 2).all() and (a.numpy()[:10] == values[:10]).all()
    assert (b.numpy()[3:43] == values[10:] * 2).all() and not b.numpy()[43:].any()
    assert (c.numpy()[::4][:40] == values[10:] * 2).all()


def test_usages_are_the_kernels(cpu):
    @lc.kernel(block_size=32)
    def use(a: lc.Buffer[lc.int32], b: lc.Buffer[lc.int32], c: lc.ByteBuffer):
        spread(a, b, c, 0, True)

    T = lc.Buffer[lc.int32]
    for target in ("opencl", "cuda", "spirv"):
        usage = use.compile(T, T, lc.ByteBuffer, target=target).usage
        assert usage == {"a": "read", "b": "write", "c": "write"}
    text = use.descriptor(T, T, lc.ByteBuffer).text()
    assert 'external 0 "spread"' in text and "= External" not in text and "External &1" in text
    from lcpy._native import core

    assert core.parse_descriptor(text).text() == text


@lc.external(
    opencl="int half(int x) { return x / 2; }",
    cuda="__device__ int half(int x) { return x / 2; }",
)
def half(x: lc.int32) -> lc.int32: ...


def make_double():
    @lc.external(
        opencl="int half(int x) { return x * 2; }",
        cuda="__device__ int half(int x) { return x * 2; }",
    )
    def half(x: lc.int32) -> lc.int32:
        """Another function of the same name, which is a type in OpenCL C."""

    return half


def test_names_do_not_meet(device):
    double = make_double()

    @lc.kernel(block_size=32)
    def use(a: lc.Buffer[lc.int32]):
        i = lc.dispatch_id().x
        a[i] = half(a[i]) + double(a[i])

    x = lc.Buffer(np.full(8, 10, np.int32), device=device)
    if languages(device):
        use(x, dispatch_size=8)
        assert (x.numpy() == 25).all()
    else:
        with pytest.raises(lc.UnsupportedError, match="'half' has no text for .* and no body"):
            use(x, dispatch_size=8)
        assert (x.numpy() == 10).all()


def test_a_refusal_leaves_other_kernels_and_targets(cpu):
    @lc.kernel(block_size=32)
    def use(a: lc.Buffer[lc.int32]):
        a[0] = half(a[0])

    T = lc.Buffer[lc.int32]
    with pytest.raises(lc.UnsupportedError, match="Vulkan.*no body") as caught:
        use.compile(T, target="spirv")
    assert "a[0] = half(a[0])" in str(caught.value)
    assert "half" in use.compile(T, target="opencl").text
    assert "half" in use.compile(T, target="cuda").text


def test_one_target_only(cpu):
    @lc.external(cuda="__device__ float fast(float x) { return __sinf(x); }")
    def fast(x: lc.float32) -> lc.float32:
        return lc.sin(x)

    @lc.kernel(block_size=32)
    def use(a: Floats):
        a[0] = fast(a[0])

    assert "__sinf" in use.compile(Floats, target="cuda").text
    assert "__sinf" not in use.compile(Floats, target="opencl").text
    x = lc.Buffer(np.ones(1, np.float32), device=cpu)
    use(x, dispatch_size=1)
    assert abs(x.numpy()[0] - np.sin(1)) < 1e-6


def test_threads_past_the_end_do_not_call_with_a_buffer(device):
    """A block with a barrier runs them, and a text cannot know."""

    @lc.external(
        opencl="void mark(__global int* to, uint i) { to[i] = 7; }",
        cuda="__device__ void mark(int* to, uint i) { to[i] = 7; }",
        usages={"to": "write"},
    )
    def mark(to: lc.Buffer[lc.int32], i: lc.uint32):
        to[i] = 7

    @lc.kernel(block_size=32)
    def use(a: lc.Buffer[lc.int32]):
        lc.sync_block()
        mark(a, lc.dispatch_id().x)

    x = lc.Buffer(64, lc.int32, device=device)
    use(x.view(0, 40), dispatch_size=40)
    assert (x.numpy()[:40] == 7).all() and not x.numpy()[40:].any()


def test_the_hash_and_the_listing_know_the_text():
    def kernel(text):
        @lc.external(opencl=text, cuda="__device__ int f(int x) { return x; }")
        def f(x: lc.int32) -> lc.int32: ...

        @lc.kernel(block_size=32)
        def use(a: lc.Buffer[lc.int32]):
            a[0] = f(a[0])

        return use

    T = lc.Buffer[lc.int32]
    one, two = kernel("int f(int x) { return 1; }"), kernel("int f(int x) { return 2; }")
    again = kernel("int f(int x) { return 1; }")
    assert one.descriptor(T).hash != two.descriptor(T).hash
    assert one.descriptor(T).hash == again.descriptor(T).hash
    assert '"external":{"opencl":"int f(int x) { return 1; }"' in one.ast(T).json()
    assert "external f(" in one.ast(T).text()


@pytest.mark.parametrize("opt", [0, 1])
def test_opt_0_gives_the_same(device, opt):
    @lc.kernel(block_size=64, opt=opt)
    def use(a: Floats):
        i = lc.dispatch_id().x
        product = 1.0
        if i % 2 == 0:
            a[i] = weigh(a[i], lc.float3(1.0), product, 2)
        for k in range(3):
            a[i] += weigh(lc.float32(k), lc.float3(0.0), product, i)
        a[i] += product

    a = np.arange(64, dtype=np.float32)
    x = lc.Buffer(a, device=device)
    use(x, dispatch_size=64)
    extra = np.where(a % 2 == 0, 1.0, 0.75) if languages(device) else 0.0
    want = np.where(a % 2 == 0, a + 2, a) + 3 + extra  # 0 + 1 + 2; the product ends as 0
    assert (x.numpy() == want).all()


def test_wrong_decorations():
    def f(x: lc.int32) -> lc.int32: ...
    def g(x): ...
    def h(x: lc.Ref[lc.int32]): ...

    for function, arguments, message in (
        (f, {"opencl": "int g(int x);"}, "defines no function 'f'"),
        (f, {"opencl": 3}, "wanted the source"),
        (f, {"usages": {"y": "read"}}, "no parameter y"),
        (f, {"usages": {"x": "write"}}, "goes by value"),
        (g, {}, "annotate parameter 'x'"),
        (h, {}, "'read', 'write', 'read_write', not None"),
        (h, {"usages": {"x": "rw"}}, "not 'rw'"),
        (3, {}, "takes a Python function"),
    ):
        with pytest.raises(lc.ArgumentError, match=message):
            lc.external(function, **arguments)
    with pytest.raises(lc.ArgumentError, match="no body in Python"):
        half(3)
