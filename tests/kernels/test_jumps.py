"""Jumps: what is certain to leave, and what then nobody reaches. Loaded, and with literals."""

import numpy as np

import lcpy as lc


def check(device, loaded, make_folded, values, want):
    """`loaded(values, out)` with one thread and `make_folded(*values)(out)` both give `want`."""
    out = lc.Buffer(len(want), lc.int32, device=device)
    loaded(lc.Buffer(np.int32(values), device=device), out, dispatch_size=1)
    assert out.numpy().tolist() == want
    out = lc.Buffer(len(want), lc.int32, device=device)
    make_folded(*values)(out, dispatch_size=1)
    assert out.numpy().tolist() == want, "folded"


# A break that stands alone in an unrolled loop's body, but behind a continue: it is not certain.


@lc.callable
def continue_before_break(c: lc.int32, n: lc.int32) -> lc.int32:
    x = 0
    for k in lc.static(range(1, 5)):
        x = x * 10 + k
        if c > k:
            continue
        for i in range(n):
            if i == k:
                break
        else:
            continue
        break
    else:
        x = -x
    return x


@lc.kernel
def unrolled_break(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    out[0] = continue_before_break(v[0], v[0])
    out[1] = continue_before_break(v[0], v[1])
    out[2] = continue_before_break(v[1], v[1])
    out[3] = continue_before_break(v[2], v[1])


def unrolled_break_folded(a, b, c):
    @lc.kernel
    def kernel(out: lc.Buffer[lc.int32]):
        out[0] = continue_before_break(a, a)
        out[1] = continue_before_break(a, b)
        out[2] = continue_before_break(b, b)
        out[3] = continue_before_break(c, b)

    return kernel


def test_break_behind_continue(device):
    check(device, unrolled_break, unrolled_break_folded, [0, 9, 3], [-1234, 1, -1234, 123])


# What stands behind a branch that leaves on both sides is reached by nobody, and uses its results.


@lc.callable
def behind(c: lc.int32, n: lc.int32) -> lc.int32:
    x = n
    for i in range(n):
        if c > i:
            continue
        elif lc.bool(lc.uint32(2)):
            break
        else:
            x <<= 1
        x = x + c
        if x > 100:
            return x
    match c:
        case 1:
            return x + 1
        case _:
            while True:
                if n > 2:
                    return x + 2
                elif lc.bool(lc.uint32(2)):
                    return x + 3
                else:
                    x = 7
                x = x * 2
    return x


@lc.kernel
def behind_loaded(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    out[0] = behind(v[0], v[1])
    out[1] = behind(v[1], v[1])
    out[2] = behind(v[1], v[2])


def behind_folded(a, b, c):
    @lc.kernel
    def kernel(out: lc.Buffer[lc.int32]):
        out[0] = behind(a, b)
        out[1] = behind(b, b)
        out[2] = behind(b, c)

    return kernel


def test_behind_a_branch_that_leaves(device):
    check(device, behind_loaded, behind_folded, [1, 4, 2], [5, 6, 5])
