"""Control flow that went wrong elsewhere. A kernel takes its values from a buffer, so nothing
folds; its twin is made by a factory with the values as literals, so everything does."""

import numpy as np
import pytest

import lcpy as lc


def check(device, loaded, make_folded, values, want, element=lc.int32, dtype=np.int32):
    """`loaded(values, out)` with one thread and `make_folded(values)(out)` both give `want`."""
    out = lc.Buffer(len(want), element, device=device)
    loaded(lc.Buffer(np.array(values, dtype), device=device), out, dispatch_size=1)
    assert out.numpy().tolist() == want
    out = lc.Buffer(len(want), element, device=device)
    make_folded(*values)(out, dispatch_size=1)
    assert out.numpy().tolist() == want, "folded"


# R026: break as the last statement; one name for a static and a run-time loop.


@lc.callable
def break_last(c: lc.int32, n: lc.int32) -> lc.int32:
    x = 0
    while True:
        if c > 0:
            x = -1
        break
    for j in lc.static(range(3)):
        x += 10 * j
    for j in range(n + 1):
        x += 100 * j
    return x


@lc.kernel
def r026(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    out[0] = break_last(v[0], v[1])
    out[1] = break_last(v[2], v[1])


def r026_folded(c, n, d):
    @lc.kernel
    def kernel(out: lc.Buffer[lc.int32]):
        out[0] = break_last(c, n)
        out[1] = break_last(d, n)

    return kernel


def test_r026(device):
    check(device, r026, r026_folded, [1, 3, 0], [29 + 600, 30 + 600])


# R027: continue inside a switch inside a loop.


@lc.callable
def switch_continue(v: lc.int32) -> lc.int32:
    r = 0
    for _ in range(3):
        match v:
            case 0:
                r += 1
                continue
            case 1:
                r += 2
            case _:
                r += 3
        r += 10
    return r


@lc.kernel
def r027(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    for i in range(3):
        out[i] = switch_continue(v[i])


def r027_folded(a, b, c):
    @lc.kernel
    def kernel(out: lc.Buffer[lc.int32]):
        out[0] = switch_continue(a)
        out[1] = switch_continue(b)
        out[2] = switch_continue(c)

    return kernel


def test_r027(device):
    check(device, r027, r027_folded, [0, 1, 2], [3, 36, 39])


# R029: an unconditional break, and a value from before it used after the loop.


@lc.callable
def break_first(x: lc.int32) -> lc.int32:
    y = 0
    i = 7
    for i in range(4):
        y = x * 3 + i
        break
    return y * 10 + i


@lc.kernel
def r029(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    out[0] = break_first(v[0])


def r029_folded(a):
    @lc.kernel
    def kernel(out: lc.Buffer[lc.int32]):
        out[0] = break_first(a)

    return kernel


def test_r029(device):
    check(device, r029, r029_folded, [5], [150])


# R031: self-assignment of an aggregate across a loop edge.


@lc.callable
def self_assign(v: lc.float3, n: lc.int32) -> lc.float3:
    i = 0
    while i < n:
        v = v
        i += 1
    v = v
    return v


@lc.kernel
def r031(v: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    r = self_assign(lc.float3(v[0], v[1], v[2]), lc.int32(v[3]))
    out[0] = r.x
    out[1] = r.y
    out[2] = r.z


def r031_folded(a, b, c, n):
    @lc.kernel
    def kernel(out: lc.Buffer[lc.float32]):
        r = self_assign(lc.float3(a, b, c), lc.int32(n))
        out[0] = r.x
        out[1] = r.y
        out[2] = r.z

    return kernel


def test_r031(device):
    values = [0.5, 0.25, 0.125, 10.0]
    check(device, r031, r031_folded, values, values[:3], lc.float32, np.float32)


# R032: return from inside loops and nested branches.


@lc.callable
def return_in_while(limit: lc.int32) -> lc.int32:
    a = 1
    while True:
        a += 1
        if a > limit:
            return a


@lc.callable
def return_in_for(n: lc.int32) -> lc.int32:
    for j in range(n):
        return j
    return -1


@lc.callable
def return_from_leaves(a: lc.int32, b: lc.int32) -> lc.int32:
    if a > 0:
        if b > 0:
            return 1
        else:
            return 2
    elif a == 0:
        return 3
    else:
        for i in range(5):
            for j in range(5):
                if i * j == b:
                    return 10 * i + j
        return 4


@lc.kernel
def r032(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    out[0] = return_in_while(v[0])
    out[1] = return_in_for(v[1])
    out[2] = return_in_for(v[2])
    out[3] = return_from_leaves(v[3], v[3])
    out[4] = return_from_leaves(v[3], v[4])
    out[5] = return_from_leaves(v[2], v[4])
    out[6] = return_from_leaves(v[4], v[5])
    out[7] = return_from_leaves(v[4], v[4])


def r032_folded(*v):
    @lc.kernel
    def kernel(out: lc.Buffer[lc.int32]):
        out[0] = return_in_while(lc.static(v[0]))
        out[1] = return_in_for(lc.static(v[1]))
        out[2] = return_in_for(lc.static(v[2]))
        out[3] = return_from_leaves(lc.static(v[3]), lc.static(v[3]))
        out[4] = return_from_leaves(lc.static(v[3]), lc.static(v[4]))
        out[5] = return_from_leaves(lc.static(v[2]), lc.static(v[4]))
        out[6] = return_from_leaves(lc.static(v[4]), lc.static(v[5]))
        out[7] = return_from_leaves(lc.static(v[4]), lc.static(v[4]))

    return kernel


def test_r032(device):
    check(device, r032, r032_folded, [10, 5, 0, 1, -1, 6], [11, 0, -1, 1, 2, 3, 23, 4])


# R033: a path that falls off the end of a callable.


def test_r033(cpu):
    @lc.callable
    def partly(x: lc.int32) -> lc.int32:
        if x > 0:
            return 1

    @lc.kernel
    def kernel(out: lc.Buffer[lc.int32]):
        out[0] = partly(out[0])

    with pytest.raises(lc.CompileError, match="partly|return"):
        kernel(lc.Buffer(1, lc.int32, device=cpu), dispatch_size=1)


# R036: the right side is not evaluated when the left decides.


@lc.callable
def counted(counter: lc.Buffer[lc.int32], value: lc.bool) -> lc.bool:
    lc.atomic_add(counter[0], 1)
    return value


@lc.kernel
def short_circuit(
    a: lc.Buffer[lc.int32],
    at: lc.Buffer[lc.int32],
    n: lc.Buffer[lc.int32],
    out: lc.Buffer[lc.int32],
):
    k = lc.dispatch_id().x
    i = at[k]
    size = lc.int32(len(a))
    found = i >= 0 and i < size and a[i] != 0
    out[3 * k] = lc.int32(found)
    out[3 * k + 1] = lc.int32(i < 0 or i >= size or a[i] == 0)
    out[3 * k + 2] = a[i] if 0 <= i < size else -5
    if i == 1 and counted(n, True):
        out[3 * k] += 10
    if i == 1 or counted(n, False):
        out[3 * k + 1] += 10


def test_r036(device):
    at = np.int32([-1, 0, 1, 2, 3, 1000000000])
    a = np.int32([0, 7, 9])
    counter = lc.Buffer(1, lc.int32, device=device)
    out = lc.Buffer(18, lc.int32, device=device)
    inputs = (lc.Buffer(a, device=device), lc.Buffer(at, device=device))
    short_circuit(*inputs, counter, out, dispatch_size=6)
    want = []
    for i in at:
        inside = 0 <= i < 3
        found = inside and a[i] != 0
        want += [int(found) + 10 * (i == 1), int(not found) + 10 * (i == 1)]
        want += [int(a[i]) if inside else -5]
    assert out.numpy().tolist() == want
    assert counter.numpy()[0] == 1 + 5


# R037: all right sides are evaluated before any store.


@lc.kernel
def r037(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    a, b = v[0], v[1]
    a, b = b, a + b
    out[0] = a
    out[1] = b
    if v[1] > v[0]:
        a, b = b, a
    c = 5
    a, b, c = b, c, a
    out[2] = a
    out[3] = b
    out[4] = c
    i, j = v[2], v[3]
    v[i], v[j] = v[j], v[i]
    out[5] = v[2]
    out[6] = v[3]


def test_r037(device):
    out = lc.Buffer(7, lc.int32, device=device)
    r037(lc.Buffer(np.int32([0, 1, 3, 2]), device=device), out, dispatch_size=1)
    assert out.numpy().tolist() == [1, 1, 1, 5, 1, 2, 3]


# R039: a local array written late in a loop is loop-carried state.


@lc.callable
def late_write(n: lc.int32, value: lc.float32) -> lc.float32:
    loc = lc.Array[lc.float32, 8]()
    s = 0
    v = 0.0
    while s < n:
        v += loc[s]
        s += 1
        loc[s] = value
    return v


@lc.kernel
def r039(v: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    out[0] = late_write(lc.int32(v[0]), v[1])


def r039_folded(n, value):
    @lc.kernel
    def kernel(out: lc.Buffer[lc.float32]):
        out[0] = late_write(lc.int32(n), value)

    return kernel


def test_r039(device):
    check(device, r039, r039_folded, [5.0, 4.0], [16.0], lc.float32, np.float32)


# R040: by value the caller's variable stays; by reference it changes through all levels.


@lc.callable
def by_value(x: lc.int32) -> lc.int32:
    x += 1
    return x


@lc.callable
def inner(r: lc.Ref[lc.int32]) -> lc.int32:
    r = r * 2
    return r + 100


@lc.callable
def outer(r: lc.Ref[lc.int32]) -> lc.int32:
    return inner(r)


@lc.callable
def writes_only(r: lc.Ref[lc.int32]):
    inner(r)


@lc.kernel
def r040(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    a = v[0]
    out[0] = by_value(a)
    out[1] = a
    out[2] = outer(a)
    out[3] = a
    writes_only(a)
    out[4] = a
    writes_only(v[0])
    out[5] = v[0]
    q = lc.int3(1, 2, 3)
    writes_only(q.y)
    out[6] = q.y


def test_r040(device):
    out = lc.Buffer(7, lc.int32, device=device)
    r040(lc.Buffer(np.int32([5]), device=device), out, dispatch_size=1)
    assert out.numpy().tolist() == [6, 5, 110, 10, 20, 10, 4]


# R042: the index of an unrolled loop, not a module variable of that name.

i = 7


@lc.kernel
def r042(out: lc.Buffer[lc.int32]):
    n = 0
    for i in lc.static(range(-2, 3)):
        out[n] = lc.static(i)
        n += 1
    for i in lc.static(range(-2, 3)):
        if lc.static(i < 0):
            continue
        out[n] = lc.static(i * 10)
        n += 1


def test_r042(device):
    out = lc.Buffer(8, lc.int32, device=device)
    r042(out, dispatch_size=1)
    assert out.numpy().tolist() == [-2, -1, 0, 1, 2, 0, 10, 20]


# The rest of language.md's control flow.


@lc.kernel
def loop_else(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    k = lc.dispatch_id().x
    for j in range(5):
        if j == v[k]:
            break
    else:
        j = 77
    out[2 * k] = j
    n = 0
    while n < 3:
        n += 1
        if v[k] == 100:
            break
    else:
        n = 50
    out[2 * k + 1] = n


def test_loop_else(device):
    out = lc.Buffer(6, lc.int32, device=device)
    loop_else(lc.Buffer(np.int32([3, 9, 100]), device=device), out, dispatch_size=3)
    assert out.numpy().tolist() == [3, 50, 77, 50, 77, 1]


@lc.kernel
def ranges(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    last = -9
    for j in range(v[0]):
        last = j
        j += 5
    out[0] = last
    total = 0
    for j in range(v[0], 0, -1):
        total = total * 10 + j
    out[1] = total
    n = v[0]
    count = 0
    for _ in range(n):
        n = 100
        count += 1
    out[2] = count
    down = 0
    for u in range(lc.uint32(3), lc.uint32(0), -1):
        down = down * 10 + lc.int32(u)
    out[3] = down
    for j in range(2, v[0], 3):
        last = j
    out[4] = last


def test_ranges(device):
    out = lc.Buffer(5, lc.int32, device=device)
    ranges(lc.Buffer(np.int32([4]), device=device), out, dispatch_size=1)
    assert out.numpy().tolist() == [3, 4321, 4, 321, 2]


@lc.kernel
def match_guards(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    k = lc.dispatch_id().x
    r = 0
    match v[k]:
        case 1 | 2:
            r = 10
        case 3 if k == 2:
            r = 20
        case 3:
            r = 30
        case -4:
            r = 40
    out[k] = r


def test_match(device):
    out = lc.Buffer(6, lc.int32, device=device)
    values = np.int32([1, 2, 3, 3, -4, 9])
    match_guards(lc.Buffer(values, device=device), out, dispatch_size=6)
    assert out.numpy().tolist() == [10, 10, 20, 30, 40, 0]


@lc.kernel
def mixed_compare(u: lc.Buffer[lc.uint32], s: lc.Buffer[lc.int32], out: lc.Buffer[lc.bool]):
    out[0] = u[0] > s[0]
    out[1] = s[0] < u[0]
    out[2] = u[0] == s[0]
    out[3] = s[1] < u[1] <= s[2]


def test_comparison_by_value(device):
    out = lc.Buffer(4, lc.bool, device=device)
    u = lc.Buffer(np.uint32([2**32 - 1, 5]), device=device)
    s = lc.Buffer(np.int32([-1, 4, 5]), device=device)
    mixed_compare(u, s, out, dispatch_size=1)
    assert out.numpy().tolist() == [True, True, False, True]
