"""Launches on every device: binding of arguments, specialisation, dispatch sizes, errors."""

import numpy as np
import pytest

import lcpy as lc


@lc.kernel(block_size=64)
def saxpy(x: lc.Buffer[lc.float32], y: lc.Buffer[lc.float32], a: lc.float32 = 2.0):
    i = lc.dispatch_id().x
    y[i] = a * x[i] + y[i]


@lc.kernel
def where(out: lc.Buffer[lc.uint3]):
    p = lc.dispatch_id()
    n = lc.dispatch_size()
    out[(p.z * n.y + p.y) * n.x + p.x] = p


def pair(device, n=100):
    return lc.Buffer(np.arange(n, dtype=np.float32), device=device), lc.Buffer(
        n, lc.float32, device=device
    )


def test_positional_keyword_and_default(device):
    x, y = pair(device)
    saxpy(x, y, dispatch_size=100)
    saxpy(x, y, 3, dispatch_size=(100,))
    saxpy(y=y, a=np.float32(1), x=x, dispatch_size=np.int64(100))
    saxpy(x, y, a=np.int16(4), dispatch_size=[100])
    assert (y.numpy() == 10 * np.arange(100)).all()


def test_launches_follow_one_another(device):
    """Reads see the writes of launches before, with nothing in between to wait for."""
    x, y = pair(device)
    for _ in range(50):
        saxpy(x, y, 1.0, dispatch_size=100)
        saxpy(y, x, -1.0, dispatch_size=100)
    a, b = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    for _ in range(50):
        b += a
        a -= b
    np.testing.assert_array_equal(x.numpy(), a)
    np.testing.assert_array_equal(y.numpy(), b)


@pytest.mark.parametrize(
    "size", [1, 5, 256, 1000, (7, 5), (16, 32), (33, 17), (3, 5, 7), (8, 8, 4), (1, 1, 9)]
)
def test_dispatch_sizes(device, size):
    full = (size if isinstance(size, tuple) else (size,)) + (1,) * (3 - len(np.atleast_1d(size)))
    out = lc.Buffer(int(np.prod(full)), lc.uint3, device=device)
    out.fill((9999, 0, 0))
    where(out, dispatch_size=size)
    z, y, x = np.indices(full[::-1])
    assert (out.numpy() == np.stack([x.ravel(), y.ravel(), z.ravel()], 1)).all()


def test_zero_launches_nothing(device):
    """R064."""
    x, y = pair(device)
    for size in (0, (0, 5), (5, 0), (1, 1, 0)):
        saxpy(x, y, 1.0, dispatch_size=size)
    empty = lc.Buffer(0, lc.float32, device=device)
    saxpy(empty, empty, 1.0, dispatch_size=0)
    assert not y.numpy().any()


@lc.kernel
def guarded(data: lc.Buffer[lc.int32], out: lc.Buffer[lc.uint32]):
    if lc.dispatch_id().x < len(data):
        data[lc.dispatch_id().x] = 1
    out[lc.dispatch_id().x] = len(data)


def test_empty_buffers_in_a_launch(device):
    """R064."""
    out = lc.Buffer(10, lc.uint32, device=device)
    guarded(lc.Buffer(0, lc.int32, device=device), out, dispatch_size=10)
    assert (out.numpy() == 0).all()


def test_views_at_any_start(device):
    x = lc.Buffer(np.arange(1000, dtype=np.float32), device=device)
    y = lc.Buffer(1000, lc.float32, device=device)
    for start in (0, 1, 3, 64, 77):
        saxpy(x.view(start, start + 10), y.view(start + 1, start + 11), 1.0, dispatch_size=10)
    want = np.zeros(1000, np.float32)
    for start in (0, 1, 3, 64, 77):
        want[start + 1 : start + 11] += np.arange(start, start + 10)
    assert (y.numpy() == want).all()


@lc.kernel
def lengths(a: lc.Buffer[lc.int8], b: lc.Buffer[lc.float3, 2], out: lc.Buffer[lc.uint32]):
    out[0] = len(a)
    out[1] = len(b)
    out[2] = b.shape[0]
    out[3] = b.shape[1]
    b[1, 2] = lc.float3(1, 2, 3)


def test_lengths_and_extents(device):
    a = lc.Buffer(100, lc.int8, device=device)
    b = lc.Buffer((3, 4), lc.float3, device=device)
    out = lc.Buffer(4, lc.uint32, device=device)
    lengths(a.view(7, 20), b, out, dispatch_size=1)
    assert out.numpy().tolist() == [13, 12, 3, 4]
    assert b.numpy()[1, 2].tolist() == [1, 2, 3] and b.numpy().sum() == 6


@lc.kernel
def move(source: lc.Buffer[lc.float3], to: lc.Buffer[lc.float3]):
    to[lc.dispatch_id().x] = source[lc.dispatch_id().x] + 1.0


def test_packed_and_padded_buffers_meet(device):
    """R048: padding is the buffer's matter, not the type's."""
    array = np.arange(33, dtype=np.float32).reshape(11, 3)
    for one in (None, "packed"):
        for two in (None, "packed"):
            source = lc.Buffer(array, lc.float3, layout=one, device=device)
            to = lc.Buffer(11, lc.float3, layout=two, device=device)
            move(source.view(1, 11), to.view(0, 10), dispatch_size=10)
            assert (to.numpy()[:10] == array[1:] + 1).all() and not to.numpy()[10].any()


@lc.struct
class Values:
    x: lc.Array[lc.uint32, 2]
    y: lc.float32
    z: lc.Array[lc.uint32, 3]


@lc.kernel
def by_value(
    out: lc.Buffer[lc.double],
    i: lc.int32,
    f: lc.float32,
    u: lc.uint64,
    n: lc.int8,
    v: lc.float3,
    b: lc.bool,
    d: lc.double3,
    s: Values,
    m: lc.float2x2,
):
    out[0] = lc.double(i)
    out[1] = lc.double(f)
    out[2] = lc.double(u)
    out[3] = lc.double(n)
    out[4] = lc.double(v.z)
    out[5] = 1.0 if b else 0.0
    out[6] = d.y
    out[7] = lc.double(s.x[1] + s.z[2])
    out[8] = lc.double(s.y)
    out[9] = lc.double(m[0, 1])


def test_by_value_arguments(device):
    """R058, R059."""
    out = lc.Buffer(10, lc.double, device=device)
    by_value(
        out,
        -3,
        2.5,
        1 << 40,
        -7,
        (1, 2, 3),
        True,
        np.array([4.0, 5, 6]),
        {"x": (1, 2), "y": 0.5, "z": (3, 4, 5)},
        [[1, 2], [3, 4]],
        dispatch_size=1,
    )
    assert out.numpy().tolist() == [-3, 2.5, 1 << 40, -7, 3, 1, 5, 7, 0.5, 2]
    by_value(
        out,
        1,
        1,
        1,
        1,
        lc.float3(9),
        False,
        (1, 1, 1),
        Values((0, 1), 1, (0, 0, 1)),
        lc.float2x2.identity(),
        dispatch_size=1,
    )
    assert out.numpy().tolist() == [1, 1, 1, 1, 9, 0, 1, 2, 1, 0]


@lc.kernel
def half_by_value(out: lc.Buffer[lc.float32], h: lc.half):
    out[0] = lc.float32(h)


def test_a_half_argument(device):
    out = lc.Buffer(1, lc.float32, device=device)
    half_by_value(out, 0.25, dispatch_size=1)
    assert out.numpy()[0] == 0.25
    assert device.features["float16"] in ("native", "emulated")


def many_values(count):
    """A kernel of `count` by-value float4, written as its source would be."""
    import linecache

    names = [f"v{i}" for i in range(count)]
    text = f"def wide(out: lc.Buffer[lc.float32], {', '.join(n + ': lc.float4' for n in names)}):\n"
    text += f"    out[0] = {' + '.join(n + '.w' for n in names)}\n"
    name = f"<wide {count}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"lc": lc}
    exec(compile(text, name, "exec"), scope)
    return lc.kernel(scope["wide"])


@pytest.mark.parametrize("count", [2, 20, 50])
def test_many_by_value_arguments(device, count):
    """R066: what cannot be pushed comes another way."""
    out = lc.Buffer(1, lc.float32, device=device)
    wide = many_values(count)
    for factor in (1, 2, 3):
        wide(out, *[(0, 0, 0, i * factor) for i in range(count)], dispatch_size=1)
        assert out.numpy()[0] == factor * count * (count - 1) / 2


@lc.kernel
def generic(out, v):
    out[lc.dispatch_id().x] = out.dtype(v)


def test_parameters_without_annotation(device):
    ints, floats = lc.Buffer(4, lc.int32, device=device), lc.Buffer(4, lc.float64, device=device)
    for value in (3, 2.75, np.float64(0.1), np.uint8(200), 1 << 33, 5):
        generic(floats, value, dispatch_size=4)
        kept = np.float32(value) if type(value) is float else value
        assert (floats.numpy() == float(kept)).all()
    generic(ints, 2.75, dispatch_size=4)
    assert (ints.numpy() == 2).all()


captured_factor = 3


@lc.kernel
def captures(out: lc.Buffer[lc.int32]):
    out[lc.dispatch_id().x] = captured_factor


def test_a_changed_capture_specialises_anew(device):
    global captured_factor
    out = lc.Buffer(1, lc.int32, device=device)
    for captured_factor in (3, 4, 4, 5, 3):
        captures(out, dispatch_size=1)
        assert out.numpy()[0] == captured_factor


def test_a_captured_buffer_is_bound(device):
    table = lc.Buffer(np.arange(10, dtype=np.int32) * 11, device=device)

    @lc.kernel
    def look_up(out: lc.Buffer[lc.int32]):
        out[lc.dispatch_id().x] = table[lc.dispatch_id().x]

    out = lc.Buffer(10, lc.int32, device=device)
    look_up(out, dispatch_size=10)
    table.fill(7)
    look_up(out.view(0, 5), dispatch_size=5)
    assert out.numpy().tolist() == [7] * 5 + [55, 66, 77, 88, 99]


def wrong(x, y, /, *args, **named):
    named.setdefault("dispatch_size", 10)
    return lambda: saxpy(x, y, *args, **named)


def test_wrong_arguments_are_named(device):
    x, y = pair(device)
    ints = lc.Buffer(10, lc.int32, device=device)
    deep = lc.Buffer((10, 10), lc.float32, device=device)
    gone = lc.Buffer(10, lc.float32, device=device)
    gone.release()
    for call, parts in (
        (wrong(x, ints, 1.0), ("'y'", "Buffer[float32]", "Buffer[int32]")),
        (wrong(deep, y, 1.0), ("'x'", "Buffer[float32, 2]")),
        (wrong(x, np.zeros(10, np.float32), 1.0), ("'y'", "lc.Buffer(array)")),
        (wrong(x, y, "2"), ("'a'", "str '2'")),
        (wrong(x, y, True), ("'a'", "bool")),
        (wrong(x, y, 1e300), ("'a'", "beyond the range")),
        (wrong(x, y, np.zeros(2)), ("'a'", "array")),
        (wrong(x, y, 1.0, 2.0), ("3 arguments", "4 given")),
        (wrong(x, y, b=1.0), ("no argument 'b'",)),
        (wrong(x, y, x=x), ("'x'", "twice")),
        (lambda: saxpy(x, dispatch_size=10), ("'y'", "missing")),
        (lambda: saxpy(x, y, 1.0), ("dispatch_size", "missing")),
        (wrong(x, y, 1.0, dispatch_size=-1), ("dispatch_size", "-1")),
        (wrong(x, y, 1.0, dispatch_size=(1, 2, 3, 4)), ("dispatch_size",)),
        (wrong(x, y, 1.0, dispatch_size=2.5), ("dispatch_size", "2.5")),
        (wrong(x, y, 1.0, dispatch_size=1 << 32), ("dispatch_size", "out of range")),
        (wrong(x, gone, 1.0), ("'y'", "released")),
    ):
        with pytest.raises(lc.ArgumentError) as raised:
            call()
        for part in parts:
            assert part in str(raised.value)
        assert isinstance(raised.value, TypeError) and isinstance(raised.value, ValueError)
    assert not y.numpy().any()


@lc.kernel
def take_int(out: lc.Buffer[lc.int64], v: lc.int8, u: lc.uint32):
    out[0] = lc.int64(v) + lc.int64(u)


def test_ranges_of_integers(device):
    out = lc.Buffer(1, lc.int64, device=device)
    take_int(out, -128, 4294967295, dispatch_size=1)
    assert out.numpy()[0] == 4294967167
    for v, u, part in (
        (128, 0, "-128 to 127"),
        (0, -1, "0 to 4294967295"),
        (0, 1 << 32, "u"),
        (1.0, 0, "'v'"),
    ):
        with pytest.raises(lc.ArgumentError, match=part):
            take_int(out, v, u, dispatch_size=1)


def test_buffers_of_two_devices_are_refused(other_device, cpu):
    x, y = lc.Buffer(4, lc.float32, device=cpu), lc.Buffer(4, lc.float32, device=other_device)
    with pytest.raises(lc.ArgumentError, match="'y' is on"):
        saxpy(x, y, 1.0, dispatch_size=4)


def test_one_kernel_on_every_device(device, cpu):
    for _ in range(2):
        for d in (device, cpu):
            x, y = pair(d)
            saxpy(x, y, 1.0, dispatch_size=100)
            assert (y.numpy() == np.arange(100)).all()


def test_threads_share_a_kernel(device):
    from concurrent.futures import ThreadPoolExecutor

    def work(seed):
        x, y = pair(device)
        for _ in range(20):
            saxpy(x, y, float(seed), dispatch_size=100)
        return (y.numpy() == 20 * seed * np.arange(100)).all()

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


@lc.kernel
def scaled(x: lc.Buffer[lc.float32], v: lc.float2):
    x[lc.dispatch_id().x] += v.y


def test_a_thread_may_launch_while_another_packs_its_arguments(device):
    """Packing a vector runs Python, where threads change; each launch keeps its own arguments."""
    from threading import Thread

    class Slow(tuple):
        def __iter__(self):  # a launch of the same kernel in the midst of packing
            thread = Thread(target=scaled, args=(other, (0, 100)), kwargs={"dispatch_size": 10})
            thread.start()
            thread.join()
            return super().__iter__()

    x, other = lc.Buffer(10, lc.float32, device=device), lc.Buffer(10, lc.float32, device=device)
    for _ in range(3):
        scaled(x, (0, 1), dispatch_size=10)
        scaled(x, Slow((0, 2)), dispatch_size=10)
    assert (x.numpy() == 9).all() and (other.numpy() % 100 == 0).all() and other.numpy().all()


def test_closures_made_over_and_over(device):
    """R089: building the same kernel again neither leaks nor goes stale."""
    out = lc.Buffer(4, lc.int32, device=device)
    for k in range(12):

        @lc.kernel
        def closure(out: lc.Buffer[lc.int32]):
            out[lc.dispatch_id().x] = k

        closure(out, dispatch_size=4)
        assert (out.numpy() == k).all()


@pytest.mark.parametrize(
    "make, part",
    [
        (lambda: lc.kernel(3), "function"),
        (lambda: lc.kernel(math="exact")(len), "function"),
        (lambda: lc.kernel(math="exact")(pair), "math"),
        (lambda: lc.kernel(block_size=0)(pair), "block_size"),
        (lambda: lc.kernel(block_size=(1, 2, 3, 4))(pair), "block_size"),
        (lambda: lc.kernel(opt=7)(pair), "opt"),
    ],
)
def test_wrong_options(make, part):
    with pytest.raises(lc.ArgumentError, match=part):
        make()


def test_compile_without_a_device():
    artifact = saxpy.compile(lc.Buffer[lc.float32], lc.Buffer[lc.float32], lc.float32, vulkan="1.1")
    assert artifact.data[:4] == b"\x03\x02\x23\x07" and artifact.usage == {
        "x": "read",
        "y": "read_write",
        "a": "read",
    }
    assert "Shader" in artifact.features and artifact.plan.block == "push"
    source = saxpy.compile(lc.Buffer[lc.float32], lc.Buffer[lc.float32], float, target="opencl")
    assert "lcpy_main" in source.text
    assert (
        'kernel "saxpy"'
        in saxpy.descriptor(lc.Buffer[lc.float32], lc.Buffer[lc.float32], float).text()
    )
    assert saxpy.ast(lc.Buffer[lc.float32], lc.Buffer[lc.float32], float).json()
    cuda = saxpy.compile(lc.Buffer[lc.float32], lc.Buffer[lc.float32], float, target="cuda")
    assert "lcpy_main(" in cuda.text and cuda.data == cuda.text.encode()
    assert cuda.usage == {"x": "read", "y": "read_write", "a": "read"}
    with pytest.raises(lc.ArgumentError, match="metal"):
        saxpy.compile(lc.Buffer[lc.float32], lc.Buffer[lc.float32], float, target="metal")
    with pytest.raises(lc.ArgumentError, match="3 wanted|3 types"):
        saxpy.compile(lc.float32)
    with pytest.raises(lc.ArgumentError, match="'y'"):
        saxpy.compile(lc.Buffer[lc.float32], lc.Buffer[lc.int32], float)


def test_mistakes_show_the_users_frames_alone(device):
    import traceback

    @lc.kernel
    def wrong_types(x: lc.Buffer[lc.float32]):
        x[0] = lc.float2(1.0)

    x = lc.Buffer(1, lc.float32, device=device)
    for call, kind in (
        (lambda: wrong_types(x, dispatch_size=1), lc.CompileError),
        (lambda: saxpy(x, x, "no", dispatch_size=1), lc.ArgumentError),
    ):
        for _ in range(2):  # after an error the same call gives the same error
            with pytest.raises(kind) as raised:
                call()
            files = [frame.filename for frame in traceback.extract_tb(raised.value.__traceback__)]
            assert [f for f in files if f.endswith(".py")] == [__file__] * 2


def test_alternating_calls(device):
    """A kernel launched in turn with other types, sizes and views finds the right program."""

    @lc.kernel(block_size=32)
    def k(a, scale, out):
        i = lc.dispatch_id().x
        out[i] = out.dtype(a[i] * scale)

    ints = np.arange(64, dtype=np.int32)
    reals = ints.astype(np.float32) / 4
    whole = lc.Buffer(ints, device=device)
    for turn in range(6):
        for n in (64, 33):  # whole blocks and a ragged one
            for source, scale, want in [
                (whole, np.int32(turn + 2), ints * (turn + 2)),
                (lc.Buffer(reals, device=device), np.float32(turn), reals * np.float32(turn)),
                (whole.view(5, 64), np.int32(-1), np.append(ints[5:], [0] * 5) * -1),
                (whole, np.int64(3), ints.astype(np.int64) * 3),
                (whole, 7, ints * 7),
            ]:
                n = min(n, len(source))
                out = lc.Buffer(n, lc.type_of(want[0]), device=device)
                k(source, scale, out, dispatch_size=n)
                assert (out.numpy() == want[:n]).all()


def test_memory_comes_again_clean(device):
    @lc.kernel
    def dirty(a: lc.Buffer[lc.int32]):
        a[lc.dispatch_id().x] = -1

    for n in (10, 1000, 70000, 600000):
        for _ in range(4):
            a = lc.Buffer(n, lc.int32, device=device)
            dirty(a, dispatch_size=n)
            del a
            assert not lc.Buffer(n, lc.int32, device=device).numpy().any()
