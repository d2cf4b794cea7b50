"""assert, lc.trap, bounds="trap": what traps, what a thread that trapped has done, and that nothing
hangs, on every device (R093)."""

import linecache

import numpy as np
import pytest
from loading import load_source
from trapping import runs_clean, trap_of

import lcpy as lc


def line_of(trap):
    return linecache.getline(trap.file, trap.line).strip()


# ---- assert --------------------------------------------------------------------------------------
@lc.kernel
def asserts(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    out[i] = 1
    assert a[i] >= 0, "a is negative"
    out[i] = 2


@pytest.mark.parametrize("n", [7, 256, 1000])
def test_assert(device, n):
    values = np.arange(n, dtype=np.int32)
    a, out = lc.Buffer(values, device=device), lc.Buffer(n, lc.int32, device=device)
    runs_clean(device, lambda: asserts(a, out, dispatch_size=n))
    assert (out.numpy() == 2).all()
    values[5] = -1
    a.upload(values)
    trap = trap_of(device, lambda: asserts(a, out, dispatch_size=n))
    assert trap.kernel == "asserts" and trap.kind == "assert" and trap.message == "a is negative"
    assert trap.thread == (5, 0, 0) and trap.launches == 1
    assert line_of(trap) == trap.source == 'assert a[i] >= 0, "a is negative"'
    assert trap.file == __file__
    text = str(trap)
    for part in ("asserts", __file__, str(trap.line), trap.source, "(5, 0, 0)", "a is negative"):
        assert part in text
    wanted = np.full(n, 2)
    wanted[5] = 1
    assert (out.numpy() == wanted).all()
    a.upload(abs(values))
    runs_clean(device, lambda: asserts(a, out, dispatch_size=n))


@lc.kernel
def asserts_2d(out: lc.Buffer[lc.uint32, 2], bad: lc.uint2):
    p = lc.dispatch_id().xy
    assert not (p.x == bad.x and p.y == bad.y)
    out[p.y, p.x] = 1


def test_thread_of_a_grid(device):
    out = lc.Buffer((9, 35), lc.uint32, device=device)
    trap = trap_of(device, lambda: asserts_2d(out, (33, 7), dispatch_size=(35, 9)))
    assert trap.thread == (33, 7, 0) and trap.message == ""
    assert out.numpy().sum() == 9 * 35 - 1


def test_a_zero_size_launches_nothing(device):
    a, out = lc.Buffer(4, lc.int32, device=device), lc.Buffer(4, lc.int32, device=device)
    a.fill(-1)
    runs_clean(device, lambda: asserts(a, out, dispatch_size=0))


@lc.kernel
def asserts_constants(out: lc.Buffer[lc.int32]):
    assert 1 < 2
    i = lc.dispatch_id().x
    if i == 3:
        assert False, "thread three"
    out[i] = 1


def test_known_conditions(device):
    out = lc.Buffer(8, lc.int32, device=device)
    trap = trap_of(device, lambda: asserts_constants(out, dispatch_size=8))
    assert trap.thread == (3, 0, 0) and trap.message == "thread three"
    assert out.numpy().tolist() == [1, 1, 1, 0, 1, 1, 1, 1]


@lc.callable
def positive_root(x: lc.float32):
    assert x >= 0, "negative root"
    return lc.sqrt(x)


@lc.callable
def find(a: lc.Buffer[lc.int32], wanted: lc.int32, steps: lc.Ref[lc.int32]):
    """Returns within its loop, so that it stays a function."""
    for i in range(len(a)):
        steps += 1
        if a[i] == wanted:
            return lc.int32(i)
        assert a[i] != 99, "met 99"
    return -1


@lc.kernel
def calls(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32], steps: lc.Buffer[lc.int32]):
    i = lc.int32(lc.dispatch_id().x)
    n = 0
    at = find(a, i, n)
    steps[i] = n
    out[i] = at + lc.int32(positive_root(lc.float32(5 - i) * 4))


@pytest.mark.parametrize("opt", [0, 1])
def test_callables(device, opt):
    kernel = lc.kernel(calls.function, opt=opt)
    a = lc.Buffer(np.array([3, 1, 2, 0, 4, 99, 5], np.int32), device=device)
    out, steps = (lc.Buffer(8, lc.int32, device=device) for _ in range(2))
    out.fill(-7)
    runs_clean(device, lambda: kernel(a, out, steps, dispatch_size=5))
    assert out.numpy()[:5].tolist() == [3 + 4, 1 + 4, 2 + 3, 0 + 2, 4 + 2]
    assert steps.numpy()[:5].tolist() == [4, 2, 3, 1, 5]
    out.fill(-7)
    steps.fill(-7)
    trap = trap_of(device, lambda: kernel(a, out, steps, dispatch_size=6))
    assert trap.message == "met 99" and trap.thread == (5, 0, 0)
    assert line_of(trap) == 'assert a[i] != 99, "met 99"'
    assert out.numpy()[5] == -7 and steps.numpy()[5] == -7 and out.numpy()[4] == 6
    a.upload(np.array([3, 1, 2, 0, 4, 5, 6], np.int32))
    trap = trap_of(device, lambda: kernel(a, out, steps, dispatch_size=7))
    assert trap.message == "negative root" and trap.thread == (6, 0, 0)
    assert steps.numpy()[6] == 7 and out.numpy()[6] == -7


SAME = """
import lcpy as lc

@lc.callable
def first(x: lc.int32):
    assert x > 0, "sign"
    return x + 1

@lc.callable
def second(x: lc.int32):
    assert x > 0, "sign"
    return x + 1

@lc.kernel
def both(a: lc.Buffer[lc.int32]):
    a[0] = first(a[0])
    a[1] = second(a[1])
"""


def test_equal_callables_keep_their_lines(device, tmp_path):
    both = load_source(tmp_path, "same_callables", SAME).both
    a = lc.Buffer(np.array([1, 0], np.int32), device=device)
    assert trap_of(device, lambda: both(a, dispatch_size=1)).line == 11
    a.upload(np.array([0, 0], np.int32))
    assert trap_of(device, lambda: both(a, dispatch_size=1)).line == 6


@lc.kernel
def unrolled(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    for k in lc.static(range(4)):
        assert a[k] != k, "met its own index"
        out[k] = 1


def test_unrolled_loop(device):
    a = lc.Buffer(np.array([9, 9, 2, 9], np.int32), device=device)
    out = lc.Buffer(4, lc.int32, device=device)
    trap = trap_of(device, lambda: unrolled(a, out, dispatch_size=1))
    assert line_of(trap).startswith("assert a[k] != k")
    assert out.numpy().tolist() == [1, 1, 0, 0]


# ---- lc.trap -------------------------------------------------------------------------------------
@lc.kernel
def traps_int(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    while a[i] < 10:
        a[i] += 1
        if a[i] == 5:
            lc.trap(a[i] - 12)
    out[i] = a[i]


@lc.kernel
def traps_long(code: lc.uint64):
    lc.trap(code)


@lc.kernel
def traps_short(code: lc.int8):
    if code != 0:
        lc.trap(code)


@lc.kernel
def traps_literal(a: lc.Buffer[lc.int32]):
    match a[0]:
        case 0:
            a[1] = 1
        case _:
            lc.trap(77)
    a[2] = 1


def test_trap_codes(device):
    a = lc.Buffer(np.array([7, 3, 8], np.int32), device=device)
    out = lc.Buffer(3, lc.int32, device=device)
    trap = trap_of(device, lambda: traps_int(a, out, dispatch_size=3))
    assert (trap.kind, trap.code, trap.thread) == ("trap", -7, (1, 0, 0))
    assert "-7" in str(trap)
    assert out.numpy().tolist() == [10, 0, 10] and a.numpy().tolist() == [10, 5, 10]
    if device.features.get("int64", True):
        lc.init(device)
        for code in (2**64 - 1, 2**40 + 3):
            assert trap_of(device, lambda: traps_long(code, dispatch_size=1)).code == code
    lc.init(device)
    assert trap_of(device, lambda: traps_short(-128, dispatch_size=1)).code == -128
    runs_clean(device, lambda: traps_short(0, dispatch_size=1))
    a.upload(np.array([1, 0, 0], np.int32))
    assert trap_of(device, lambda: traps_literal(a, dispatch_size=1)).code == 77
    assert a.numpy().tolist() == [1, 0, 0]


# ---- bounds --------------------------------------------------------------------------------------
BOUNDS = """
import lcpy as lc
import numpy as np

TABLE = lc.array  # unused
NUMBERS = np.arange(5, dtype=np.int32)

@lc.struct
class Cell:
    tag: lc.int32
    parts: lc.Array[lc.int32, 3]

@lc.kernel(bounds="trap", opt={opt})
def reads(b: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32], i: {index}):
    out[0] = 1
    out[0] = b[i] + 100

@lc.kernel(bounds="trap", opt={opt})
def writes(b: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32], i: {index}):
    b[i] = 5
    out[0] = 1

@lc.kernel(bounds="trap", opt={opt})
def adds(b: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32], i: {index}):
    out[0] = 100 + lc.atomic_add(b[i], 7)

@lc.kernel(bounds="trap", opt={opt})
def members(b: lc.Buffer[Cell], out: lc.Buffer[lc.int32], i: {index}, j: {index}):
    b[i].parts[j] += 3
    out[0] = 1

@lc.kernel(bounds="trap", opt={opt})
def axes(b: lc.Buffer[lc.int32, 2], out: lc.Buffer[lc.int32], i: {index}, j: {index}):
    b[i, j] += 3
    out[0] = 1

@lc.kernel(bounds="trap", opt={opt})
def locals_(out: lc.Buffer[lc.int32], i: {index}):
    a = lc.array(1, 2, 3, 4)
    a[i] = 9
    out[0] = a[0] + a[1] + a[2] + a[3]

@lc.kernel(bounds="trap", opt={opt})
def vectors(out: lc.Buffer[lc.int32], i: {index}):
    v = lc.int3(1, 2, 3)
    v[i] = 9
    out[0] = v.x + v.y + v.z

@lc.kernel(bounds="trap", opt={opt})
def matrices(out: lc.Buffer[lc.int32], i: {index}, j: {index}):
    m = lc.float3x3.identity()
    m[i, j] = 9.0
    out[0] = lc.int32(m[0, 0] + m[1, 1] + m[2, 2])

@lc.kernel(bounds="trap", opt={opt})
def tables(out: lc.Buffer[lc.int32], i: {index}):
    out[0] = 100 + NUMBERS[i]

@lc.kernel(bounds="trap", opt={opt}, block_size=4)
def shares(out: lc.Buffer[lc.int32], i: {index}):
    s = lc.shared(lc.int32, 4)
    s[lc.thread_id().x] = 1
    lc.sync_block()
    s[i] = 9
    lc.sync_block()
    if lc.thread_id().x == 0:
        out[0] = s[0] + s[1] + s[2] + s[3]

@lc.kernel(bounds="trap", opt={opt})
def bytes_(b: lc.ByteBuffer, out: lc.Buffer[lc.int32], i: {index}):
    lc.byte_write(b, i, lc.uint8(58))
    out[0] = 100 + lc.int32(lc.byte_read(lc.uint8, b, i))

@lc.kernel(bounds="trap", opt={opt})
def word_of_bytes(b: lc.ByteBuffer, out: lc.Buffer[lc.int32], i: {index}):
    out[0] = lc.int32(lc.byte_read(lc.uint32, b, i))

@lc.kernel(bounds="trap", opt={opt})
def packed(b: lc.Buffer[lc.float3], out: lc.Buffer[lc.int32], i: {index}):
    b[i] = lc.float3(1.0, 2.0, 3.0)
    out[0] = 100 + lc.int32(b[i].y)
"""
INDEX_TYPES = ["lc.int32", "lc.uint32", "lc.int64", "lc.uint64"]


@pytest.fixture(params=INDEX_TYPES, scope="module")
def index_type(request):
    return request.param


@pytest.fixture(params=[0, 1], scope="module")
def checked(request, index_type, tmp_path_factory):
    name = f"bounds_{index_type[3:]}_{request.param}"
    text = BOUNDS.format(opt=request.param, index=index_type)
    module = load_source(tmp_path_factory.mktemp("bounds"), name, text)
    module.signed = "uint" not in index_type
    module.wide = "64" in index_type
    return module


def outside(module, n):
    """Indices that are out of the range of n."""
    found = [n, n + 1, 2**31 - 1]
    if module.signed:
        found += [-1, -(2**31)]
    if module.wide:
        found += [2**32, 2**32 + 1, 2**62 + 1]
        if module.signed:
            found += [-(2**32) + 1, -(2**63)]
    else:
        found += [] if module.signed else [2**32 - 1]
    return found


def check_bounds(device, module, name, make, n, value, buffer, *, before=(), after=()):
    """Good indices give `value(i)`; others trap, name what they indexed, and leave the rest be."""
    kernel = getattr(module, name)
    size = 4 if name == "shares" else 1
    out = lc.Buffer(1, lc.int32, device=device)
    for i in (0, n - 1):
        given = make()
        runs_clean(device, lambda: kernel(*given, out, *before, i, *after, dispatch_size=size))
        assert out.numpy()[0] == value(i)
    for i in outside(module, n):
        given = make()
        held = [b.numpy().tobytes() for b in given]
        out.fill(-5)
        trap = trap_of(device, lambda: kernel(*given, out, *before, i, *after, dispatch_size=size))
        assert (trap.kind, trap.buffer, trap.index) == ("bounds", buffer, i), i
        assert str(i) in str(trap) and trap.source in line_of(trap)
        assert [b.numpy().tobytes() for b in given] == held
        assert out.numpy()[0] == (1 if name == "reads" else -5)
    return trap


def test_bounds_of_a_read(device, checked):
    trap = check_bounds(
        device, checked, "reads", lambda: [lc.Buffer(np.arange(6, dtype=np.int32), device=device)],
        6, lambda i: 100 + i, "b",
    )  # fmt: skip
    assert trap.size == 6 and "of 6 elements" in str(trap)


def test_bounds_of_a_view(device, checked):
    whole = lc.Buffer(np.arange(20, dtype=np.int32), device=device)
    check_bounds(device, checked, "reads", lambda: [whole.view(7, 12)], 5, lambda i: 107 + i, "b")


@pytest.mark.parametrize(
    "name, n, value",
    [
        ("writes", 6, lambda i: 1),
        ("adds", 6, lambda i: 100),
    ],
)
def test_bounds_of_writes(device, checked, name, n, value):
    check_bounds(
        device, checked, name, lambda: [lc.Buffer(n, lc.int32, device=device)], n, value, "b"
    )


def test_bounds_of_members(device, checked):
    def make():
        return [lc.Buffer(3, checked.Cell, device=device)]

    check_bounds(device, checked, "members", make, 3, lambda i: 1, "b", after=(1,))
    trap = check_bounds(device, checked, "members", make, 3, lambda i: 1, "b", before=(1,))
    assert "array in 'b'" in str(trap)


def test_bounds_of_axes(device, checked):
    def make():
        return [lc.Buffer((3, 5), lc.int32, device=device)]

    trap = check_bounds(device, checked, "axes", make, 3, lambda i: 1, "b", after=(1,))
    assert "axis 0 of buffer 'b'" in str(trap) and trap.size == 3
    trap = check_bounds(device, checked, "axes", make, 5, lambda i: 1, "b", before=(1,))
    assert "axis 1 of buffer 'b'" in str(trap) and trap.size == 5


def test_bounds_of_values(device, checked):
    def none():
        return []

    a = [1, 2, 3, 4]
    check_bounds(device, checked, "locals_", none, 4, lambda i: 10 - a[i] + 9, "a")
    check_bounds(device, checked, "vectors", none, 3, lambda i: 6 - a[i] + 9, "v")
    check_bounds(device, checked, "matrices", none, 3, lambda i: 3 + 9 * (i == 1) - (i == 1), "m",
                 after=(1,))  # fmt: skip
    check_bounds(device, checked, "matrices", none, 3, lambda i: 3 + 9 * (i == 2) - (i == 2), "m",
                 before=(2,))  # fmt: skip
    check_bounds(device, checked, "tables", none, 5, lambda i: 100 + i, None)


def test_bounds_of_shared_memory(device, checked):
    check_bounds(device, checked, "shares", lambda: [], 4, lambda i: 12, "s")


def test_bounds_of_bytes(device, checked):
    def make():
        return [lc.ByteBuffer(9, device=device)]

    trap = check_bounds(device, checked, "bytes_", make, 9, lambda i: 158, "b")
    assert trap.size == 9 and "byte offset" in str(trap)
    out = lc.Buffer(1, lc.int32, device=device)
    small = lc.ByteBuffer(3, device=device)
    trap_of(device, lambda: checked.word_of_bytes(small, out, 0, dispatch_size=1))
    trap_of(device, lambda: checked.word_of_bytes(make()[0], out, 8, dispatch_size=1))
    runs_clean(device, lambda: checked.word_of_bytes(make()[0], out, 4, dispatch_size=1))


def test_bounds_of_a_packed_buffer(device, checked):
    check_bounds(
        device, checked, "packed",
        lambda: [lc.Buffer(4, lc.float3, layout="packed", device=device)], 4, lambda i: 102, "b",
    )  # fmt: skip


@lc.kernel(bounds="trap")
def conditional_reads(b: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    i = lc.int32(lc.dispatch_id().x)
    n = lc.int32(len(b))
    v = lc.int4(1, 2, 3, 4)
    if i < n and b[i] > 0:
        out[i] = b[i]
    elif i >= 4 or v[i] == 0:
        out[i] = -1
    out[i] += v[i] if i < 4 else 100


def test_what_is_not_evaluated_is_not_checked(device):
    b = lc.Buffer(np.array([5, 0, 6], np.int32), device=device)
    out = lc.Buffer(6, lc.int32, device=device)
    runs_clean(device, lambda: conditional_reads(b, out, dispatch_size=6))
    assert out.numpy().tolist() == [6, 2, 9, 4, 99, 99]


@lc.kernel(bounds="trap")
def repeated(b: lc.Buffer[lc.float32], i: lc.int32):
    if i > 2:
        b[i] = b[i] * b[i] + b[i]
        b[i] += 1.0
    b[0] = 2.0


def test_an_index_is_checked_once(device):
    text = repeated.descriptor(lc.Buffer[lc.float32], lc.int32).text()
    kernel = text[: text.index("function 1")] if "function 1" in text else text
    assert kernel.count("Call &") == 2, text
    b = lc.Buffer(4, lc.float32, device=device)
    runs_clean(device, lambda: repeated(b, 3, dispatch_size=1))
    assert trap_of(device, lambda: repeated(b, 4, dispatch_size=1)).index == 4


def test_without_sites_nothing_is_added():
    @lc.kernel(bounds="off")
    def plain(b: lc.Buffer[lc.float32], i: lc.int32):
        b[i] = 1.0

    descriptor = plain.descriptor(lc.Buffer[lc.float32], lc.int32)
    assert descriptor.report_tag is None and descriptor.sites == [] and len(descriptor.slots) == 2
