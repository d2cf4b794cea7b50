"""What warp operations mean, one thread after the other: a warp is so many threads of a block, and
those whose control flow is at the operation take part."""

import numpy as np


def groups(block, width, active):
    """Indices of the active threads of each warp, over whole blocks of `block` threads."""
    for start in range(0, len(active), block):
        for first in range(start, start + block, width):
            lanes = range(first, min(first + width, start + block))
            here = [i for i in lanes if active[i]]
            if here:
                yield first, here


def model(values, block, width, active, function):
    """function(values of the active lanes, their lane numbers) gives one result for each."""
    out = np.zeros(len(values), object)
    for first, here in groups(block, width, active):
        results = function([values[i] for i in here], [i - first for i in here])
        for i, r in zip(here, results):
            out[i] = r
    return out


def same(f):
    return lambda v, lanes: [f(v)] * len(v)


def before(f):
    return lambda v, lanes: [f(v[:k]) for k in range(len(v))]


def product(v):
    total = 1
    for x in v:
        total *= x
    return total


def ballot(v, lanes):
    return sum(1 << n for x, n in zip(v, lanes) if x)
