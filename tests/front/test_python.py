"""The same function run by Python and by a kernel: control flow, assignment, calls.

Each function below takes two values and gives one; it is plain Python, so Python itself is the
oracle. In the kernel the values come from a buffer.
"""

import numpy as np
import pytest

import lcpy as lc

CASES = []  # (function, rows of inputs, dtype)


def case(*inputs, kind="int32"):
    def add(function):
        CASES.append((function, inputs, kind))
        return function

    return add


def make_kernel(function, T):
    @lc.kernel(block_size=64)
    def run(values: lc.Buffer[T, 2], out: lc.Buffer[T]):
        i = lc.dispatch_id().x
        out[i] = T(function(values[i, 0], values[i, 1]))

    return run


@case((0, 0), (3, 1), (-5, 7))
def early_return(a, b):
    if a > b:
        return a
    if a < 0:
        return -a
    return b


@case((0, 5), (3, 20), (7, 1))
def loops(a, b):
    s = 0
    for i in range(b):
        if i == a:
            continue
        if i > 12:
            break
        s += i
    else:
        s += 1000
    return s * 100


@case((0, 5), (3, 20), (7, 1))
def after_the_loop(a, b):
    i = 77
    for i in range(a):
        i += b
    return i


@case((5, 0), (0, 0), (1, 9))
def while_else(a, b):
    n = 0
    while a > 0:
        a -= 1
        n += a
        if n > 6:
            break
    else:
        n -= 100
    return n + b


@case((10, -3), (1, -1), (-4, -1), (20, -7))
def negative_step(a, b):
    s = 0
    i = -1
    for i in range(a, 0, b):
        s = s * 3 + i
    return s + i


@case((2, 3), (0, 0), (4, 1))
def nested(a, b):
    s = 0
    for i in range(a):
        for j in range(b + i):
            if j == 2:
                break
            if (i + j) % 2 == 0:
                continue
            s += 10 * i + j
        s += 1000
    return s


@case((0, 3), (1, 3), (2, 3), (5, 3), (5, 9), (7, 3), (9, 3), (-1, 9))
def matches(a, b):
    match a:
        case 0:
            r = 10
        case 1 | 2:
            r = 20
        case 5 if b > 3:
            r = 30
        case 5 | 7 as both if b < 4:
            r = 40 + both
        case -1:
            r = 50
        case other:
            r = other * b
    return r


@case((0, 3), (1, 3), (2, 3))
def match_falls_out(a, b):
    r = b
    match a:
        case 1:
            r = 10
        case 2:
            return 7
    return r


@case((0, 1), (1, 0), (5, 6))
def assignments(a, b):
    a, b = b, a + b
    x = y = a * 2
    x += 1
    (p, q), r = (x, y), b
    p, q, r = r, p, q
    return p * 100 + q * 10 + r


@case((0, 1), (3, 5), (5, 3), (9, 9))
def chained(a, b):
    r = 0
    if 0 < a < b:
        r += 1
    if a <= b <= 9 > 2:
        r += 2
    if a == b != 3:
        r += 4
    if not a < b < 100:
        r += 8
    return r


@case((0, 1), (3, 5), (5, 3), (9, 9))
def truth(a, b):
    r = 1 if a > 2 and b > 4 or a == b else 2
    r += 10 if (a < b or b == 3) and not a == 0 else 20
    ok = a > b
    if ok or r == 12:
        r += 100
    return r


@case((0, 1), (7, 2), (-7, 2), (7, -2), (-7, -2))
def division(a, b):
    return (a // b) * 100 + a % b


@case((0, 3), (12, 10), (-9, 4))
def bits(a, b):
    return (a & b) + (a | b) * 2 + (a ^ b) * 3 + (a << 2) + (a >> 1) + ~a


@case((0, 3), (12, 10), (-9, 4))
def functions_of_python(a, b):
    return min(a, b, 5) + max(a, b) * 2 + abs(a) * 3 + pow(a, 2) + int(b) + len((a, b))


def helper(x, scale=3, *, offset=1):
    return x * scale + offset


@case((2, 3), (5, -1))
def keywords(a, b):
    return helper(a) + helper(b, 2) * 10 + helper(scale=a, x=b, offset=a) * 100


def in_order(a, b):
    if a > b:
        return b, a
    return a, b


@case((2, 3), (5, -1))
def several_results(a, b):
    low, high = in_order(a, b)
    pair = in_order(high, low)
    return low + high * 10 + pair[0] * 100 + pair[1] * 1000


@case((2, 3), (5, -1))
def inner_functions(a, b):
    total = a

    def add(x):
        return x + total

    def bump(x):
        nonlocal total
        total += x

    r = add(1)
    bump(b)
    r += add(2) * 10
    twice = lambda f, x: f(f(x))  # noqa: E731
    return r + twice(add, 3) * 100 + (lambda x, y=2: x * y + b)(a)


@case((2, 3), (5, -1))
def functions_in_functions(a, b):
    def outer(x):
        k = x * b

        def inner(y):
            return y + k + a

        return inner(x) + inner(1)

    return outer(2) * 100 + outer(a)


TABLE = (3, 1, 4, 1, 5)
NAMED = {"first": helper, "second": in_order}
LIMIT = 4


@case((0, 1), (3, 2), (4, 4))
def captured(a, b):
    return TABLE[a] * 10 + TABLE[b] + LIMIT + NAMED["first"](a)


@case((0, 1), (3, 2), (4, 4))
def walrus(a, b):
    r = 0
    if (n := a + b) > 3:
        r = n
    while (n := n - 1) > 0:
        r += n
    return r + n


@case((0, 1), (3, 2), (4, 4))
def contains(a, b):
    return 1 if a in (3, b, 9) else 2 if b not in (1, 2) else 3


@case((0, 1), (3, 2))
def static_loops(a, b):
    s = 0
    for i in lc.static(range(-2, 3)):
        if i < 0:
            continue
        s = s * 10 + i
        if s > a + 5:
            break
    else:
        s += 5000
    for k, v in lc.static([(1, 2), (3, 4)]):
        s += k * a + v * b
    for j in range(2):
        s += j
    for j in lc.static((7, 8)):
        s += j
    return s + j


@case((0, 1), (3, 2))
def functions_in_static_loops(a, b):
    def scaled(x):
        return x * (k + 1)

    r = 0
    for k in lc.static(range(3)):

        def shifted(x):
            return x + k * 100

        r += scaled(a) + shifted(b)
    return r


@case((0, 1), (3, 2))
def static_choice(a, b):
    r = a
    if lc.static(LIMIT > 3):
        r += 10
    else:
        r += undefined  # noqa: F821
    if LIMIT == 4:
        r += 100
    return r + lc.static(sum(TABLE)) * b


@case((5, 3), (0, 3))
def return_in_loops(a, b):
    n = 1
    while True:
        n += 1
        if n > 10:
            return n
        for j in range(b):
            if j == a:
                return j * 1000
    return 0


@case((2, 3), (4, 0))
def augmented(a, b):
    a += b
    a *= 3
    a -= 1
    a //= 2
    a %= 7
    a <<= 2
    a |= 1
    a ^= 2
    return a


@case((0.5, 2.25), (-1.5, 0.5), kind="float32")
def floats(a, b):
    x = 0.0
    for i in range(4):
        x = x * 0.5 + a * i - b
    return x if x > b else -x


@case((0.5, 2.5), (-1.5, 3.5), (7.0, -2.0), kind="float32")
def float_operators(a, b):
    return (a // b) + (a % b) * 8.0 + a / 4.0 + a**2 + round(b) + abs(a)


@pytest.mark.parametrize(
    ("function", "inputs", "kind"), CASES, ids=[f.__name__ for f, _, _ in CASES]
)
def test_python(device, function, inputs, kind):
    values = np.array(inputs, kind)
    want = [function(*(v.item() for v in row)) for row in values]
    run = make_kernel(function, getattr(lc, kind))
    out = lc.Buffer(len(inputs), getattr(lc, kind), device=device)
    run(lc.Buffer(values, device=device), out, dispatch_size=len(inputs))
    assert out.numpy().tolist() == want


@pytest.mark.parametrize("opt", [0, 1])
def test_names_alone(opt):
    """A statement that is only a name, of whatever, does nothing."""

    @lc.kernel(opt=opt)
    def names(i: lc.Buffer[lc.int32], b: lc.ByteBuffer, n: lc.int32):
        s = lc.shared(lc.int32, 4)
        i
        b
        n
        s
        s[0]
        i[0] = 7

    out = lc.Buffer(1, lc.int32, device="cpu")
    names(out, lc.ByteBuffer(4, device="cpu"), 3, dispatch_size=1)
    assert out.numpy()[0] == 7


def test_slots_of_a_struct():
    with pytest.raises(lc.ArgumentError, match="__slots__"):

        @lc.struct
        class Slotted:
            a: lc.int32
            __slots__ = ("x",)


@pytest.mark.parametrize("align", [3, -4, 8192, 2**20])
def test_alignment_of_a_struct(align):
    with pytest.raises(lc.ArgumentError, match="power of two up to 4096"):

        @lc.struct(align=align)
        class Aligned:
            a: lc.int32
