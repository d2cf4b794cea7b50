"""Nested loops with break and continue, a switch, early returns, short circuits."""

import numpy as np

import lcpy as lc


@lc.callable
def collatz(n: lc.uint32, limit: lc.int32) -> lc.int32:
    steps = 0
    while n != 1:
        if steps >= limit:
            return -1
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@lc.callable
def classify(v: lc.int32) -> lc.int32:
    match v % 7:
        case 0 | 3:
            return 1
        case 5 if v > 20:
            return 2
        case 6:
            v += 100
        case _:
            v -= 1
    return v


@lc.kernel(block_size=(32, 1, 1))
def control(values: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    v = values[i]
    total = 0
    for a in range(v % 11):
        if a == 7:
            continue
        for b in range(a, 20, 3):
            if a * b > v:
                break
            total += a ^ b
        else:
            total += 1000
    near = i + 1 < len(values) and values[i + 1] > v
    if near or v < 0:
        total = -total
    out[i] = total + 7 * classify(v) + collatz(lc.uint32(v + 1), 60)


def run(device):
    values = (np.arange(500) * 37 % 211).astype(np.int32)
    out = lc.Buffer(500, lc.int32, device=device)
    control(lc.Buffer(values, device=device), out, dispatch_size=500)
    return out.numpy()


KERNELS = {control: (lc.Buffer[lc.int32], lc.Buffer[lc.int32])}
