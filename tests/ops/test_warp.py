"""Warp operations on every type, loaded and as literals, against the serial model."""

import numpy as np
import pytest
from loading import load_source
from warp_model import before, model, product, same

import lcpy as lc

INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
FLOATS = ["float16", "float32", "float64"]
TYPED = """
import lcpy as lc

T = lc.{name}
V = lc.vector(T, 3)
B = lc.vector(lc.uint32, 3)

@lc.kernel(block_size=40)
def run(a: lc.Buffer[V], out: lc.Buffer[V, 2], flags: lc.Buffer[lc.uint32, 2]):
    i = lc.dispatch_id().x
    v = a[i]
    out[0, i] = lc.warp_sum(v)
    out[1, i] = lc.warp_product(v)
    out[2, i] = lc.warp_min(v)
    out[3, i] = lc.warp_max(v)
    out[4, i] = lc.warp_prefix_sum(v)
    out[5, i] = lc.warp_prefix_product(v)
    out[6, i] = lc.warp_read_lane(v, lc.warp_size() - 1 - lc.warp_lane_id())
    out[7, i] = lc.warp_read_first(v)
    out[8, i] = V(lc.warp_sum(v.y), lc.warp_min(v.z), lc.warp_read_lane(v.x, 2))
    flags[0, i] = lc.uint32(lc.all(B(lc.warp_all_equal(v)) == B(0, 0, 1)))
    if i % 40 < 3:
        flags[1, i] = lc.uint32(lc.warp_all_equal(v.x))
{more}
"""
BITS = """
    out[9, i] = lc.warp_and(v)
    out[10, i] = lc.warp_or(v)
    out[11, i] = lc.warp_xor(v)
"""


def needs(device, name):
    feature = {"float16": "float16", "float64": "float64", "int64": "int64", "uint64": "int64"}
    if not device.features.get(feature.get(name), True):
        pytest.skip(f"{device.name} has no {name}")


@pytest.mark.parametrize("name", INTEGERS + FLOATS)
def test_warp_types(name, warps, tmp_path):
    needs(warps, name)
    integer = name in INTEGERS
    module = load_source(
        tmp_path, f"typed_{name}", TYPED.format(name=name, more=BITS if integer else "")
    )
    n, width, dtype = 80, warps.limits["warp_size"], np.dtype(name)
    # Small whole numbers: every order of summation gives the same float.
    values = np.stack([np.arange(n) % 3 + 1, np.arange(n) * 5 % 4, np.full(n, 7)], -1)
    if integer:
        high = np.iinfo(dtype).max - 5
        values[:, 1] = np.where(values[:, 1] == 3, min(high, 1 << 62), values[:, 1])
    values[:, 0] = np.where(np.arange(n) % 20 < 3, values[:, 0], 1)
    values = values.astype(dtype)
    out = lc.Buffer((12, n), module.V, device=warps)
    flags = lc.Buffer((2, n), lc.uint32, device=warps)
    module.run(lc.Buffer(values, lc.vector(module.T, 3), device=warps), out, flags, dispatch_size=n)
    got = out.numpy()

    def check(row, function, component):
        column = [int(x) for x in values[:, component]]
        want = model(column, 40, width, [True] * n, function)
        if integer:
            bits = dtype.itemsize * 8
            want = [x % (1 << bits) for x in want]
            want = np.array(want, np.uint64).astype(f"uint{bits}").view(dtype)
        else:
            with np.errstate(over="ignore"):
                want = np.array([float(x) for x in want]).astype(dtype)
        assert got[row, :, component].tolist() == want.tolist(), (row, component)

    for component in range(3):
        check(0, same(sum), component)
        check(4, before(sum), component)
        check(2, same(min), component)
        check(3, same(max), component)
        check(7, same(lambda v: v[0]), component)
        turned = lambda v, at: [  # noqa: E731
            v[width - 1 - k] if width - 1 - k < len(v) else 0 for k in at
        ]
        check(6, turned, component)
        if integer:
            check(1, same(product), component)
            check(5, before(product), component)

            def folded(f):
                return same(lambda v: int(f.reduce(np.array(v, object))))

            check(9, folded(np.bitwise_and), component)
            check(10, folded(np.bitwise_or), component)
            check(11, folded(np.bitwise_xor), component)
        elif component == 0:
            check(1, same(product), component)
            check(5, before(product), component)
    flags = flags.numpy()
    equal = [
        model(values[:, c].tolist(), 40, width, [True] * n, same(lambda v: len(set(v)) == 1))
        for c in range(3)
    ]
    want = [int((a, b, c) == (False, False, True)) for a, b, c in zip(*equal)]
    assert flags[0].tolist() == want
    few = [i % 40 < 3 for i in range(n)]
    want = model(values[:, 0].tolist(), 40, width, few, same(lambda v: len(set(v)) == 1))
    assert flags[1].tolist() == [int(x) for x in want]


LITERALS = """
import lcpy as lc

T = lc.{name}

@lc.kernel(block_size=24, opt={opt})
def run(out: lc.Buffer[T], flags: lc.Buffer[lc.uint32]):
    i = lc.dispatch_id().x
    out[i * 4] = lc.warp_min(T(3))
    out[i * 4 + 1] = lc.warp_read_first(T(5))
    out[i * 4 + 2] = lc.warp_sum(T(2))
    out[i * 4 + 3] = lc.warp_read_lane(T(9), 0)
    flags[i] = lc.uint32(lc.warp_all(True)) + 2 * lc.uint32(lc.warp_any(False))
    flags[i] += 4 * lc.warp_count(False) + 8 * lc.uint32(lc.warp_all_equal(T(1)))
    flags[i] += 16 * lc.uint32(lc.warp_xor(True)) + 32 * lc.warp_ballot(False).x
"""


@pytest.mark.parametrize("opt", [0, 1])
@pytest.mark.parametrize("name", INTEGERS + FLOATS)
def test_literals_fold_to_what_running_gives(name, opt, warps, tmp_path):
    needs(warps, name)
    module = load_source(tmp_path, f"literal_{name}_{opt}", LITERALS.format(name=name, opt=opt))
    n, width = 24, warps.limits["warp_size"]
    out = lc.Buffer(n * 4, module.T, device=warps)
    flags = lc.Buffer(n, lc.uint32, device=warps)
    module.run(out, flags, dispatch_size=n)
    count = model([1] * n, 24, width, [True] * n, same(sum)).tolist()
    assert out.numpy().tolist() == [x for c in count for x in (3, 5, 2 * c, 9)]
    assert flags.numpy().tolist() == [9 + 16 * (c % 2) for c in count]


def test_what_is_certain_folds():
    @lc.kernel
    def certain(out: lc.Buffer[lc.uint32]):
        out[0] = lc.uint32(lc.warp_all(True))
        out[1] = lc.warp_count(False)
        out[2] = lc.warp_read_first(lc.uint32(7))

    assert "Warp" not in certain.descriptor(lc.Buffer[lc.uint32]).text()


# ---- bools, lanes that are not there, floats ----------------------------------------------------
@lc.kernel(block_size=40)
def bools(a: lc.Buffer[lc.bool], out: lc.Buffer[lc.bool, 2]):
    i = lc.dispatch_id().x
    v = a[i]
    out[0, i] = lc.warp_and(v)
    out[1, i] = lc.warp_or(v)
    out[2, i] = lc.warp_xor(v)
    out[3, i] = lc.warp_read_lane(v, lc.warp_lane_id() ^ 1)
    out[4, i] = lc.warp_read_first(v)
    out[5, i] = lc.warp_all_equal(v)
    out[6, i] = lc.warp_xor(lc.bool2(not v, v)).y


def test_bools(warps):
    n, width = 80, warps.limits["warp_size"]
    if width < 2:
        pytest.skip("a warp has one lane")
    values = [bool(x) for x in np.arange(n) // 5 % 3]
    out = lc.Buffer((7, n), lc.bool, device=warps)
    bools(lc.Buffer(np.array(values), device=warps), out, dispatch_size=n)
    odd = same(lambda v: sum(v) % 2 == 1)
    functions = [
        same(all),
        same(any),
        odd,
        lambda v, at: [v[k ^ 1] for k in at],
        same(lambda v: v[0]),
        same(lambda v: len(set(v)) == 1),
        odd,
    ]
    for row, function in enumerate(functions):
        want = model(values, 40, width, [True] * n, function)
        assert out.numpy()[row].tolist() == want.tolist(), f"row {row}"


READS = """
import lcpy as lc

@lc.kernel(block_size=64)
def run(a: lc.Buffer[lc.{name}], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    if i % 2 == 0:
        out[i] = lc.warp_read_lane(lc.int32(i) + 1, a[i])
"""


@pytest.mark.parametrize("name", ["int32", "uint32", "int64", "uint64", "int8", "uint16"])
def test_lanes_that_are_not_there_read_as_zero(name, warps, tmp_path):
    """Those that are off, past the warp, negative, or beyond 32 bits."""
    module = load_source(tmp_path, f"reads_{name}", READS.format(name=name))
    width = warps.limits["warp_size"]
    wide = 1 << 32 if "64" in name else 0
    cases = [0, 1, 2, 3, 64, 127, wide + 2, -1 if name[0] == "i" else 65]
    lanes = [cases[i // 2 % 8] for i in range(64)]
    out = lc.Buffer(64, lc.int32, device=warps)
    module.run(lc.Buffer(np.array(lanes, name), device=warps), out, dispatch_size=64)
    want = [0] * 64
    for i in range(0, 64, 2):
        first, lane = i // width * width, lanes[i]
        if 0 <= lane < width and lane % 2 == 0:
            want[i] = first + lane + 1
    assert out.numpy().tolist() == want


EXTREMES = """
import lcpy as lc

T = lc.{name}

@lc.kernel(block_size=8, math="{math}")
def run(a: lc.Buffer[T], out: lc.Buffer[T]):
    i = lc.dispatch_id().x
    out[2 * i] = lc.warp_min(a[i])
    out[2 * i + 1] = lc.warp_max(a[i])
"""


@pytest.mark.parametrize("math", ["ieee", "strict"])
@pytest.mark.parametrize("name", FLOATS)
def test_a_nan_loses(name, math, warps, tmp_path):
    needs(warps, name)
    if warps.limits["warp_size"] < 8:
        pytest.skip("a warp has fewer than 8 lanes")
    module = load_source(tmp_path, f"extremes_{name}_{math}", EXTREMES.format(name=name, math=math))
    inf, nan = np.inf, np.nan
    rows = [
        [1, nan, -2, 5, nan, 0, 3, 4],
        [nan] * 8,
        [nan, inf, nan, nan, inf, inf, nan, inf],
        [nan, -inf, nan, 2, -1, inf, nan, inf],
        [0.0, -0.0, 0.0, 0.0, -0.0, 0.0, 0.0, 0.0],
        [-1, -3, -2, -8, -5, -1, -9, -4],
    ]
    values = np.array(rows, name)
    out = lc.Buffer(2 * values.size, module.T, device=warps)
    module.run(lc.Buffer(values.ravel(), device=warps), out, dispatch_size=values.size)
    got = out.numpy().reshape(len(rows), 8, 2)
    low, high = np.fmin.reduce(values, 1), np.fmax.reduce(values, 1)
    for k in range(len(rows)):
        np.testing.assert_array_equal(got[k, :, 0], np.full(8, low[k]))
        np.testing.assert_array_equal(got[k, :, 1], np.full(8, high[k]))
    assert np.signbit(got[4, :, 0]).all() and not np.signbit(got[4, :, 1]).any()


SUMS = """
import lcpy as lc

T = lc.{name}

@lc.kernel(block_size=24, math="strict")
def run(a: lc.Buffer[T], out: lc.Buffer[T]):
    i = lc.dispatch_id().x
    if i % 3 != 1:
        out[4 * i] = lc.warp_sum(a[i])
        out[4 * i + 1] = lc.warp_product(a[i])
        out[4 * i + 2] = lc.warp_prefix_sum(a[i])
        out[4 * i + 3] = lc.warp_prefix_product(a[i])
"""


@pytest.mark.parametrize("name", FLOATS)
def test_strict_sums_go_from_the_lowest_lane_up(name, warps, tmp_path):
    needs(warps, name)
    module = load_source(tmp_path, f"sums_{name}", SUMS.format(name=name))
    n, width, dtype = 72, warps.limits["warp_size"], np.dtype(name)
    values = (np.random.default_rng(3).standard_normal(n) * 1.7).astype(dtype)
    out = lc.Buffer(4 * n, module.T, device=warps)
    module.run(lc.Buffer(values, device=warps), out, dispatch_size=n)

    def total(op, empty):
        def f(v):
            result = v[0] if v else dtype.type(empty)
            for x in v[1:]:
                result = op(result, x)
            return result

        return f

    active = [i % 3 != 1 for i in range(n)]
    add, multiply = total(np.add, 0), total(np.multiply, 1)
    for row, function in enumerate([same(add), same(multiply), before(add), before(multiply)]):
        want = model(list(values), 24, width, active, function)
        assert out.numpy()[row::4].tolist() == want.tolist(), f"row {row}"
