"""lcpy/language.md, section "Kernels": a test for each rule, of the rule's name."""

import enum

import numpy as np
import pytest

import lcpy as lc
from language.harness import run


def refused(error, function, *types):
    with pytest.raises(error) as caught:
        lc.kernel(function).compile(*types, target="opencl")
    return str(caught.value)


def test_plain_functions(device):
    def double(out):
        out[lc.dispatch_id().x] = 2 * lc.int(lc.dispatch_id().x)

    assert run(lc.kernel(double), device, n=4, dispatch_size=4).tolist() == [0, 2, 4, 6]
    assert "double" in lc.kernel(double).__name__


def test_annotations(device):
    @lc.callable
    def generic(b, i):
        T = b.dtype
        U = lc.type_of(i)
        return T(U(2)) + b[i]

    @lc.kernel
    def k(a, x: lc.float32, out):
        out[0] = generic(a, lc.uint8(1))
        out[1] = lc.int(x)

    assert run(k, device, np.int32([5, 6]), 2.5, n=2).tolist() == [8, 2]
    assert run(k, device, np.int16([5, 7]), 3, n=2).tolist() == [9, 3]


def test_call_forms(device):
    @lc.callable
    def scaled(x: lc.int, by: lc.int = 3, *, plus: lc.int = 0) -> lc.int:
        if x == 0:
            return -1
        return x * by + plus

    @lc.callable
    def divmod_(a: lc.int, b: lc.int):
        return a // b, a % b

    @lc.callable
    def apply(f, x):
        return f(f(x))

    @lc.kernel
    def k(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        x = a[0]
        out[0] = scaled(x)
        out[1] = scaled(x, by=5, plus=1)
        out[2] = scaled(by=2, x=x)
        out[3] = scaled(x - 7)
        q, r = divmod_(x, 4)
        out[4], out[5] = q, r
        out[6] = apply(lambda v: v * v + 1, x)

        def inner(v):
            return v + x

        out[7] = inner(1)
        if x == 7:
            return
        out[7] = 0

    got = run(k, device, np.int32([7]), n=8)
    assert got.tolist() == [21, 36, 14, -1, 1, 3, 2501, 8]


def test_closures(device):
    @lc.kernel
    def k(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        x = a[0]

        def read():
            return x * 10

        out[0] = read()
        x = 5
        out[1] = read()
        for i in range(2):
            x += i
        out[2] = read()
        late = lambda y: x + y  # noqa: E731
        x = 100
        out[3] = late(1)

    assert run(k, device, np.int32([2]), n=4).tolist() == [20, 50, 60, 101]


@lc.callable
def ping(x: lc.int) -> lc.int:
    return pong(x - 1)


@lc.callable
def pong(x: lc.int) -> lc.int:
    return ping(x)


def test_recursion():
    def k(out: lc.Buffer[lc.int32]):
        out[0] = ping(3)

    message = refused(lc.CompileError, k, lc.Buffer[lc.int32])
    assert "ping" in message and "pong" in message


def test_external_functions(device):
    text = "int twice(int x, int* y) { *y += 1; return 2 * x; }"

    @lc.external(opencl=text, cuda=f"__device__ {text}", usages={"y": "read_write"})
    def twice(x: lc.int32, y: lc.Ref[lc.int32]) -> lc.int32:
        y += 1
        return 2 * x

    other = text.replace("twice", "bodiless")

    @lc.external(opencl=other, cuda=f"__device__ {other}", usages={"y": "read_write"})
    def bodiless(x: lc.int32, y: lc.Ref[lc.int32]) -> lc.int32: ...

    @lc.kernel
    def k(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        n = 5
        out[0] = twice(a[0], n)
        out[1] = n

    @lc.kernel
    def text_only(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        n = 5
        out[0] = bodiless(a[0], n)

    a = np.int32([21])
    assert run(k, device, a, n=2).tolist() == [42, 6]
    if device.kind in ("opencl", "cuda", "cuda_host"):
        assert run(text_only, device, a)[0] == 42
    else:
        with pytest.raises(lc.UnsupportedError, match="bodiless"):
            run(text_only, device, a)


def test_modes_hold_below(device):
    @lc.callable
    def sum_of_products(a: lc.float32, b: lc.float32, c: lc.float32) -> lc.float32:
        return a * b + c

    @lc.kernel(math="strict")
    def k(a: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
        out[0] = sum_of_products(a[0], a[0], a[1])

    # (1 + 2^-12)^2 - (1 + 2^-11) is 0 when the product is rounded, 2^-24 when it is contracted.
    a = np.float32([1 + 2**-12, -(1 + 2**-11)])
    assert run(k, device, a, R=lc.float32)[0] == 0.0

    @lc.callable
    def element(b: lc.Buffer[lc.float32], i: lc.int) -> lc.float32:
        return b[i]

    @lc.kernel(bounds="trap")
    def outside(a: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
        out[0] = element(a, 2)

    with pytest.raises(lc.KernelTrap):
        run(outside, device, a, R=lc.float32)


BIG = (1 << 70) // 3
THIRD = 1 / 3


def test_weak_numbers(device):
    @lc.kernel
    def k(out: lc.Buffer[lc.int64]):
        out[0] = BIG % 1000 + (1 << 64) // (1 << 40)
        out[1] = lc.int64(lc.uint8(BIG % 200))
        out[2] = lc.int64(THIRD * 3 == 1.0)

    got = run(k, device, n=3, R=lc.int64)
    assert got.tolist() == [BIG % 1000 + (1 << 24), BIG % 200, 1]


BYTE, REAL, WIDE = np.uint8(200), np.float32(0.5), np.int64(7)


def test_numpy_scalars(device):
    @lc.kernel
    def k(out: lc.Buffer[lc.int64]):
        out[0] = lc.int64(BYTE + lc.uint8(100))
        out[1] = lc.int64((BYTE * REAL) * 2)
        out[2] = WIDE + (1 << 40)
        out[3] = 1 if lc.static(lc.type_of(BYTE) is lc.uint8) else 0

    assert run(k, device, n=4, R=lc.int64).tolist() == [44, 200, 7 + (1 << 40), 1]


class Colour(enum.IntEnum):
    RED = 3
    GREEN = 5


@lc.struct
class Pair:
    x: lc.int32
    v: lc.float2


TABLE = [[1, 2, 3], (4, 5, 6)]
REALS = [0.5, 2]
GRID = np.arange(6, dtype=np.uint16).reshape(2, 3)
PAIRS = [Pair(1, (2.0, 3.0)), Pair(4, (5.0, 6.0))]
VECTOR = lc.int3(7, 8, 9)
MATRIX = lc.float2x2((1.0, 2.0), (3.0, 4.0))


def test_captured_constants(device):
    @lc.kernel
    def k(where: lc.Buffer[lc.int32], out: lc.Buffer[lc.int64]):
        i, j = where[0], where[1]
        out[0] = lc.int64(TABLE[i][j])
        out[1] = lc.int64(REALS[i] * 4)
        out[2] = lc.int64(GRID[i][j])
        out[3] = lc.int64(PAIRS[i].x)
        out[4] = lc.int64(PAIRS[i].v[j - 1])
        out[5] = lc.int64(VECTOR[j])
        out[6] = lc.int64(MATRIX[i][j - 2])
        out[7] = lc.int64(Colour.GREEN)
        out[8] = 1 if lc.static(lc.type_of(TABLE[0][0]) is lc.int32) else 0

    got = run(k, device, np.int32([1, 2]), n=9, R=lc.int64)
    assert got.tolist() == [6, 8, 5, 4, 6, 9, 3, 5, 1]


class Namespace:
    scale = 3


def test_captured_objects(device):
    T = lc.int16

    @lc.callable
    def f(x):
        return T(x) * Namespace.scale

    chosen = {"f": f}

    @lc.kernel
    def k(out: lc.Buffer[lc.int32]):
        g = chosen["f"]
        out[0] = lc.int32(g(5)) + np.int32(1)

    assert run(k, device)[0] == 16


SETTING = 4


def test_captures_are_watched(device):
    global SETTING
    table = np.int32([1, 2, 3])

    @lc.kernel
    def k(where: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        out[0] = SETTING * 100 + table[where[0]]

    at = np.int32([1])
    SETTING = 4
    assert run(k, device, at)[0] == 402
    SETTING = 8
    assert run(k, device, at)[0] == 802
    table[1] = 77
    assert run(k, device, at)[0] == 877
    made = []
    for n in range(3):

        @lc.kernel
        def each(out: lc.Buffer[lc.int32]):
            out[0] = n

        made.append((each, run(each, device)[0]))
    assert [value for _, value in made] == [0, 1, 2]


def test_captured_buffers(device):
    numbers = lc.Buffer(np.int32([3, 4]), device=device)

    @lc.callable
    def second():
        return numbers[1]

    @lc.kernel
    def k(out: lc.Buffer[lc.int32]):
        numbers[0] = numbers[0] + 1
        out[0] = second() + numbers[0]

    assert run(k, device)[0] == 8
    assert numbers.numpy().tolist() == [4, 4]


def test_static_values(device):
    words = {"a": [1, 2], "b": [3]}

    @lc.kernel
    def k(out: lc.Buffer[lc.int32]):
        out[0] = lc.static(sum(len(v) for v in words.values()))
        out[1] = lc.static("ab".index("b") + max(words["a"]))

    assert run(k, device, n=2).tolist() == [3, 3]


def test_static_loops(device):
    i = 7  # the loop's own variable hides it

    @lc.kernel
    def k(out: lc.Buffer[lc.int32]):
        n = 0
        for i in lc.static(range(-2, 3)):
            if i < 0:
                continue
            out[n] = lc.static(i * i)
            n += 1
        for a, b in lc.static([(1, 2), (3, 4)]):
            out[n] = lc.static(a * 10 + b)
            n += 1

    assert run(k, device, n=5).tolist() == [0, 1, 4, 12, 34]
    assert i == 7


def test_static_branches(device):
    for flag, want in [(True, 1), (False, 2)]:

        @lc.kernel
        def k(out: lc.Buffer[lc.int32]):
            if lc.static(flag):
                out[0] = 1
            else:
                out[0] = 2
            if lc.static(False):
                out[0] = no_such_name(out)  # noqa: F821

        assert run(k, device)[0] == want


def test_unroll_limit(device):
    @lc.kernel
    def most(out: lc.Buffer[lc.int32]):
        for i in lc.static(range(4096)):
            out[0] = i

    assert run(most, device)[0] == 4095

    def over(out: lc.Buffer[lc.int32]):
        for i in lc.static(range(4097)):
            out[0] = i

    message = refused(lc.CompileError, over, lc.Buffer[lc.int32])
    assert "4096" in message.replace(",", "") and "for i in lc.static(range(4097))" in message


def test_first_type(device):
    @lc.kernel
    def k(a: lc.Buffer[lc.uint8], out: lc.Buffer[lc.int32]):
        x = lc.int16(a[0])
        x = a[1]
        x += 1
        out[0] = x * 2

    assert run(k, device, np.uint8([1, 255]))[0] == 512

    def wrong(out: lc.Buffer[lc.float32]):
        x = 1
        x = out[0]
        out[0] = lc.float32(x)

    assert "x" in refused(lc.CompileError, wrong, lc.Buffer[lc.float32])


EXACT = [
    (lc.int16, lc.int32, -5), (lc.uint8, lc.int16, 200), (lc.uint8, lc.float32, 255),
    (lc.uint16, lc.float32, 65535), (lc.uint32, lc.int64, 4294967295), (lc.int8, lc.float32, -128),
]  # fmt: skip
LOSSY = [
    (lc.int32, lc.int16), (lc.int32, lc.uint32), (lc.uint32, lc.int32), (lc.int32, lc.float32),
    (lc.int64, lc.float64), (lc.float32, lc.int32), (lc.int8, lc.uint64), (lc.uint16, lc.float16),
]  # fmt: skip


@pytest.mark.parametrize("source, to, value", EXACT)
def test_exact_conversion(device, source, to, value):
    @lc.callable
    def passed(x: to) -> to:
        return x

    @lc.kernel
    def k(a: lc.Buffer[source], out: lc.Buffer[to]):
        out[0] = a[0]
        x = out[0]
        x = a[0]
        out[1] = x
        out[2] = passed(a[0])

    a = np.array([value], source.dtype)
    assert run(k, device, a, n=3, R=to).tolist() == [value] * 3


@pytest.mark.parametrize("source, to", LOSSY)
def test_exact_conversion_else_refused(source, to):
    def k(a: lc.Buffer[source], out: lc.Buffer[to]):
        out[0] = a[0]

    message = refused(lc.CompileError, k, lc.Buffer[source], lc.Buffer[to])
    assert "hint: convert it" in message


def test_literal_arguments(device):
    @lc.callable
    def kind(x):
        return lc.static(lc.type_of(x) is lc.int32), lc.static(lc.type_of(x) is lc.float32)

    @lc.kernel
    def k(out: lc.Buffer[lc.int32]):
        a, b = kind(1)
        c, d = kind(0.5)
        out[0] = lc.int(a) + 2 * lc.int(b) + 4 * lc.int(c) + 8 * lc.int(d)

    assert run(k, device)[0] == 9


def test_unassigned_reads():
    def k(out: lc.Buffer[lc.int32]):
        if out[0] > 0:
            x = 1
        out[0] = x  # noqa: F821

    assert "x" in refused(lc.CompileError, k, lc.Buffer[lc.int32])

    def loop(out: lc.Buffer[lc.int32]):
        for i in range(out[0]):
            y = i
        out[0] = y

    assert "y" in refused(lc.CompileError, loop, lc.Buffer[lc.int32])


def test_missing_return():
    @lc.callable
    def f(x: lc.int) -> lc.int:
        if x > 0:
            return 1

    def k(out: lc.Buffer[lc.int32]):
        out[0] = f(out[0])

    assert "f" in refused(lc.CompileError, k, lc.Buffer[lc.int32])
