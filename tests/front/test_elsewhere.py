"""Front end faults that users of other kernel compilers met."""

import enum
import time

import numpy as np
import pytest

import lcpy as lc


def one(kernel, device, *arguments):
    out = lc.Buffer(1, lc.float32, device=device)
    kernel(out, *arguments, dispatch_size=1)
    return out.numpy().item()


# R087: defaults, keyword arguments, functions as values.

TOLERANCE = 0.5


def near(a, b, rtol=TOLERANCE, *, table=(1.0, 2.0)):
    return a * 100.0 + b * 10.0 + rtol + table[1]


g = near
CHOICES = {"near": near, "far": lambda a, b: a - b}


@lc.kernel
def r087(out: lc.Buffer[lc.float32]):
    f = near
    out[0] = g(2.0, 3.0) + f(b=1.0, a=0.0, rtol=0.25) * 1000.0 + CHOICES["far"](5.0, 1.0) * 1e6


def test_r087(device):
    assert one(r087, device) == 232.5 + 12250 + 4e6
    assert near(2.0, 3.0) == 232.5


# R088: a chain of twenty functions that call the one before twice.


def chain(n):
    f = lambda x: x  # noqa: E731
    for _ in range(n):
        f = doubled(f)
    return f


def doubled(inner):
    def f(x):
        return inner(x) + inner(x)

    return f


def test_r088(cpu):
    top = chain(20)

    @lc.kernel
    def r088(out: lc.Buffer[lc.float32]):
        out[0] = top(1.0)

    start = time.perf_counter()
    builder = r088.ast(lc.Buffer[lc.float32])
    assert builder.text().count("callable f") == 20
    assert time.perf_counter() - start < 20  # not 2 ** 20 calls


# R091: captured lists of structs, nested tuples, NumPy scalars, enums.


@lc.struct
class S:
    n: lc.int32
    v: lc.float2


class Kind(enum.IntEnum):
    A = 3


ITEMS = [S(1, (2, 3)), S(4, (5, 6))]
NESTED = ((1, (2, 3)), (4, (5, 6)))
GRID = (((1, 2), (3, 4)), ((5, 6), (7, 8)))
FLAG = np.bool_(True)
COUNT = np.uint8(200)


@lc.kernel
def r091(out: lc.Buffer[lc.float32], i: lc.int32):
    s = ITEMS[i]
    out[0] = (
        lc.float32(s.n) * 1000.0
        + s.v.y * 100.0
        + NESTED[1][1][0] * 10.0
        + lc.float32(GRID[i][0, i])
        + (0.5 if FLAG and Kind.A == 3 else 0.25)
        + COUNT * 10000.0
    )


def test_r091(device):
    assert one(r091, device, 1) == 4000 + 600 + 50 + 6 + 0.5 + 2000000


# R081: names that are words of the targets.


@lc.callable
def kernel(double, half):
    return double - half


@lc.kernel
def main(out: lc.Buffer[lc.float32], switch: lc.float32, get_global_id: lc.float32):
    vector = switch
    union = lc.float2(1.0, 2.0)
    I = 3.0  # noqa: E741
    NULL = kernel(vector, get_global_id)
    int4 = 0.0
    for register in range(3):
        int4 += lc.float32(register)
    out[0] = NULL + union.y + I + int4


def test_r081(device):
    assert one(main, device, 10.0, 4.0) == 14


# A method's self, a lambda's capture and a loop's name each keep their own meaning.


@lc.kernel
def scopes(out: lc.Buffer[lc.float32], n: lc.uint32):
    total = 0.0
    for i in range(n, 0, -1):
        add = lambda x: x + lc.float32(i) + total  # noqa: B023, E731
        total = add(1.0)
    out[0] = total


def test_scopes(device):
    def python(n):
        total = 0.0
        for i in range(n, 0, -1):
            total = 1.0 + i + total
        return total

    assert one(scopes, device, 4) == python(4)


@pytest.mark.parametrize("size", [4096, 4097])
def test_unrolling_limit(cpu, size):
    @lc.kernel
    def unrolled(out: lc.Buffer[lc.float32]):
        s = 0.0
        for i in lc.static(range(size)):
            s += i
        out[0] = s

    if size > 4096:
        with pytest.raises(lc.CompileError, match="4096"):
            one(unrolled, cpu)
    else:
        assert one(unrolled, cpu) == float(np.cumsum(np.arange(4096, dtype=np.float32))[-1])
