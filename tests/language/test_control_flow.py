"""lcpy/language.md, section "Control flow": a test for each rule, of the rule's name."""

import numpy as np
import pytest

import lcpy as lc
from language.harness import agree, run

I = lc.int32  # noqa: E741


def same_as_python(device, f, rows, types=None):
    """`f` gives in a kernel what Python gives for it."""
    agree(device, lc.callable(f), types or [I] * len(rows[0]), rows, [f(*r) for r in rows], I)


def test_statements(device):
    def f(n, stop):
        total = 0
        i = 0
        while i < n:
            i += 1
            if i == 3:
                continue
            elif i == stop:
                break
            else:
                for j in range(i):
                    if j == 4:
                        break
                    if j % 2 == 1:
                        continue
                    total += j * 10 + 1
                    if total > 500:
                        return -total
        return total

    same_as_python(device, f, [(0, 0), (2, 9), (10, 5), (10, 99), (40, 99)])


def test_match_integers(device):
    def f(v, w):
        r = 0
        for i in range(3):
            match v:
                case 0:
                    r += 1
                    continue
                case 1 | 5:
                    r += 2
                case 2 if w > 3:
                    r += 100
                    break
                case -7:
                    return -r - 5
                case 9:
                    pass
            r += 10
        return r

    same_as_python(device, f, [(v, w) for v in (0, 1, 2, 5, -7, 9, 3) for w in (0, 4)])

    def unsigned(v):
        match v:
            case 4294967295:
                r = 1
            case 0:
                r = 2
            case _:
                r = 3
        return r

    agree(device, lc.callable(unsigned), [lc.uint32], [4294967295, 0, 7], [1, 2, 3], I)


def test_loop_else(device):
    def f(n, stop):
        r = 0
        for i in range(n):
            if i == stop:
                r += 1
                break
        else:
            r += 10
        while n > 0:
            n -= 1
            if n == stop:
                break
        else:
            r += 100
        return r

    same_as_python(device, f, [(5, 3), (5, 9), (0, 0)])


def test_conditional_expressions(device):
    def f(a, b):
        return (a if a > b else b) * 10 + (1 if a > 0 else 2 if b > 0 else 3)

    same_as_python(device, f, [(1, 2), (3, 2), (-1, 5), (-1, -5)])


def test_range_once(device):
    def f(n, m):
        total = 0
        i = -1
        for i in range(n):
            total += i
            i += 5
            n = 0
        total += i * 1000
        for i in range(m, -3, -2):
            total += i
        total += i * 100000
        for i in range(3, 3):
            total = -1
        return total + i * 7

    same_as_python(device, f, [(4, 6), (0, 1), (1, -8)])


def test_no_value_leaks(device):
    def f(a, b):
        x = a
        y = 1
        if b > 0:
            x = 5
            z = x + 1
            y = z
        elif b == 0:
            y = x * 2
        for i in range(b):
            if i == 2:
                x = 50
        return x * 1000 + y

    same_as_python(device, f, [(1, 1), (2, 0), (3, -1), (4, 3), (5, 2)])

    @lc.kernel
    def arrays(n: lc.Buffer[I], out: lc.Buffer[I]):
        loc = lc.Array[lc.int32, 8]()
        s = 0
        v = 0
        while s < n[0]:
            v += loc[s]
            s += 1
            loc[s] = 4
        out[0] = v

    assert run(arrays, device, np.int32([5]))[0] == 16


def test_loop_edges(device):
    def f(n):
        a, b, c = 1, 2, 3
        while n > 0:
            a, b, c = b, c, a
            n -= 1
        d, e = 0, 1
        for i in range(a):
            d, e = e, d + e
        return a * 1000 + b * 100 + c * 10 + e

    same_as_python(device, f, [(0,), (1,), (2,), (3,), (7,)])


def test_no_hoisting(device):
    @lc.kernel
    def k(a: lc.Buffer[I], which: lc.Buffer[I], seen: lc.Buffer[I], out: lc.Buffer[I]):
        i = lc.int(lc.dispatch_id().x)
        n = lc.int(len(a))
        at = which[i]
        r = 0
        if at >= 0:
            if at < n:
                r = a[at]
                seen[i] = 1
        for k in range(at, at + 3):
            if k >= 0 and k < n:
                r += a[k] * 100
        out[i] = r

    a, which = np.int32([1, 2, 3, 4]), np.int32([-1000000, 0, 3, 2000000000, -1])
    seen = lc.Buffer(5, I, device=device)
    got = run(k, device, a, which, seen, n=5, dispatch_size=5)
    assert got.tolist() == [0, 601, 404, 0, 300]
    assert seen.numpy().tolist() == [0, 1, 1, 0, 0]


def test_assigned_before_read(device):
    def wrong(out: lc.Buffer[I]):
        while out[0] > 0:
            if out[1] > 0:
                x = 1
            else:
                break
        out[2] = x

    with pytest.raises(lc.CompileError, match="x"):
        lc.kernel(wrong).compile(lc.Buffer[I], target="opencl")

    def fine(a):
        if a > 0:
            x = 1
        elif a == 0:
            x = 2
        else:
            return -1
        while True:
            y = x
            if a > -5:
                break
        return x + y

    same_as_python(device, fine, [(1,), (0,), (-1,)])


def test_fixed_functions():
    def wrong(out: lc.Buffer[I]):
        def f(x):
            return x + 1

        if out[0] > 0:

            def f(x):
                return x + 2

        out[0] = f(out[0])

    with pytest.raises(lc.CompileError, match="f"):
        lc.kernel(wrong).compile(lc.Buffer[I], target="opencl")
