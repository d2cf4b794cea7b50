"""Arguments at which functions go wrong: every exponent, edges, poles, and where users are.

Each function takes (dtype, count, random generator) and gives one array for each argument.
"""

import numpy as np

UINT = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def bits_of(dtype):
    return UINT[np.dtype(dtype).itemsize]


def every(dtype):
    """All the values of a type of 16 bits."""
    return np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(dtype)


def edges(dtype):
    info = np.finfo(dtype)
    values = [0.0, 1.0, 0.5, 2.0, 1.5, 3.0, 10.0, 100.0, 1000.0, 0.25, 0.1, np.pi, np.e]
    values += [info.max, info.tiny, info.smallest_subnormal, info.eps, np.inf, np.nan]
    values = np.array(values, dtype)
    near = [np.nextafter(values, dtype(np.inf)), np.nextafter(values, dtype(0))]
    values = np.concatenate([values, *near])
    return np.concatenate([values, -values])


def anything(dtype, count, random):
    """Every sign, exponent and significand alike."""
    word = bits_of(dtype)
    bits = random.integers(0, 1 << 63, count, dtype=np.uint64) << np.uint64(1)
    bits |= random.integers(0, 2, count, dtype=np.uint64)
    values = (bits >> np.uint64(64 - 8 * word().itemsize)).astype(word).view(dtype)
    return np.where(np.isfinite(values), values, dtype(1))


def sized(dtype, count, random, low, high):
    """Both signs, exponents from low to high."""
    info = np.finfo(dtype)
    low, high = max(low, int(info.minexp)), min(high, int(info.maxexp) - 1)
    values = random.uniform(1, 2, count) * np.exp2(random.integers(low, high + 1, count))
    return (values * random.choice([-1, 1], count)).astype(dtype)


def mixed(dtype, count, random, parts):
    """Edges, then equal shares of the parts, in an order that mixes them."""
    first = edges(dtype)
    share = -(-max(count - len(first), 0) // len(parts))
    values = np.concatenate([first, *(part(share) for part in parts)])[:count]
    return values.astype(dtype)


def near(dtype, points, count, random):
    """A few last places around the points."""
    places = random.choice(np.asarray(points, np.longdouble), count).astype(dtype)
    steps = random.integers(-3, 4, count).astype(bits_of(dtype))
    return (places.view(bits_of(dtype)) + steps).view(dtype)


def around(dtype, centre, count, random):
    """centre ± 2^-k."""
    info = np.finfo(dtype)
    distance = random.uniform(1, 2, count) * np.exp2(random.integers(-info.nmant - 1, 0, count))
    return (centre + distance * random.choice([-1, 1], count)).astype(dtype)


def all_(dtype, count, random):
    parts = [
        lambda n: anything(dtype, n, random),
        lambda n: sized(dtype, n, random, -12, 8),
        lambda n: random.uniform(-3, 3, n),
    ]
    return (mixed(dtype, count, random, parts),)


def small(dtype, count, random):
    parts = [lambda n: anything(dtype, n, random), lambda n: random.uniform(-9, 9, n)]
    return (mixed(dtype, count, random, parts),)


def positive(dtype, count, random):
    parts = [
        lambda n: abs(anything(dtype, n, random)),
        lambda n: abs(sized(dtype, n, random, -4, 4)),
        lambda n: around(dtype, 1.0, n, random),
        lambda n: random.uniform(0.5, 2, n),
    ]
    return (mixed(dtype, count, random, parts),)


def powers(dtype, count, random):
    limit = {2: 18.0, 4: 155.0, 8: 1080.0}[np.dtype(dtype).itemsize]
    parts = [
        lambda n: random.uniform(-limit, limit, n),
        lambda n: random.uniform(-limit, limit, n) * 0.7,
        lambda n: random.uniform(-4, 4, n),
        lambda n: sized(dtype, n, random, -30, 3),
    ]
    return (mixed(dtype, count, random, parts),)


def angles(dtype, count, random):
    from .functions import PI

    quarter = PI / 2
    turns = np.exp2(random.uniform(0, 22, 4096)).astype(np.int64).astype(np.longdouble)
    parts = [
        lambda n: anything(dtype, n, random),
        lambda n: random.uniform(-7, 7, n),
        lambda n: near(
            dtype, np.concatenate([turns * quarter, np.arange(1, 99) * quarter]), n, random
        ),
        lambda n: sized(dtype, n, random, -12, 24),
    ]
    return (mixed(dtype, count, random, parts),)


def unit(dtype, count, random):
    parts = [
        lambda n: random.uniform(-1, 1, n),
        lambda n: np.clip(around(dtype, 1.0, n, random), -1, 1) * random.choice([-1, 1], n),
        lambda n: sized(dtype, n, random, -30, -1),
        lambda n: around(dtype, 0.5, n, random) * random.choice([-1, 1], n),
    ]
    return (mixed(dtype, count, random, parts),)


def above_one(dtype, count, random):
    parts = [
        lambda n: np.maximum(1, abs(anything(dtype, n, random))),
        lambda n: 1 + abs(around(dtype, 1.0, n, random) - 1),
        lambda n: random.uniform(1, 4, n),
    ]
    return (mixed(dtype, count, random, parts),)


def edge_pairs(dtype):
    values = edges(dtype)[::2]
    x, y = np.meshgrid(values, values)
    return x.ravel(), y.ravel()


def with_edges(dtype, count, x, y):
    ex, ey = edge_pairs(dtype)
    x, y = np.concatenate([ex, x]), np.concatenate([ey, y])
    return x[:count].astype(dtype), y[:count].astype(dtype)


def pairs(dtype, count, random):
    half = count // 2
    x = np.concatenate([anything(dtype, half, random), sized(dtype, count - half, random, -9, 9)])
    ratio = np.exp2(random.uniform(-6, 6, count - half)) * random.choice([-1, 1], count - half)
    y = np.concatenate([anything(dtype, half, random), x[half:] * ratio])
    order = random.permutation(count)
    return with_edges(dtype, count, x[order], y[order])


def bases(dtype, count, random):
    x = np.concatenate(
        [
            abs(anything(dtype, count // 3, random)),
            around(dtype, 1.0, count // 3, random),
            random.uniform(0.01, 20, count - 2 * (count // 3)),
        ]
    ).astype(dtype)
    limit = np.finfo(dtype).maxexp * 1.1
    log = np.log2(x.astype(np.longdouble))
    log = np.where((log == 0) | ~np.isfinite(log), 1, log)
    y = random.uniform(-limit, limit, count) / log
    y[::3] = np.round(y[::3])
    y[::7] = random.choice([2, 3, -1, -2, 0.5, 1.5, 2.2, 1 / 2.2, 2.4, 5, 17], len(y[::7]))
    x = np.where(random.integers(0, 8, count) == 0, -x, x)
    order = random.permutation(count)
    with np.errstate(all="ignore"):
        return with_edges(dtype, count, x[order], y[order].astype(dtype))


def quotients(dtype, count, random):
    y = sized(dtype, count, random, -9, 9)
    ratio = np.exp2(random.uniform(-6, np.finfo(dtype).nmant - 3, count))
    x = (y * ratio * random.choice([-1, 1], count)).astype(dtype)
    return x, y


def sums(dtype, count, random):
    x, y = sized(dtype, count, random, -9, 9), sized(dtype, count, random, -9, 9)
    z = sized(dtype, count, random, -18, 18)
    cancel = (-x.astype(np.longdouble) * y).astype(dtype)
    return x, y, np.where(random.integers(0, 2, count) == 0, z, cancel)


def blends(dtype, count, random):
    x, y = sized(dtype, count, random, -6, 6), sized(dtype, count, random, -6, 6)
    return x, y, random.uniform(0, 1, count).astype(dtype)


def steps(dtype, count, random):
    x = random.uniform(-2, 2, count).astype(dtype)
    y = (x + random.uniform(0.5, 4, count)).astype(dtype)
    return x, y, (x + (y - x) * random.uniform(-0.2, 1.2, count)).astype(dtype)


def middle(dtype, count, random):
    return tuple(sized(dtype, count, random, -5, 5) for _ in range(3))


def take(function, dtype, count, seed=7):
    """Arguments of a function of functions.py; every value of a half's only argument."""
    dtype = np.dtype(dtype).type
    if dtype is np.float16 and function.arity == 1:
        return (every(dtype),)
    maker = all_ if function.samples == "all" else globals()[function.samples]
    with np.errstate(all="ignore"):
        return maker(dtype, count, np.random.default_rng(seed))
