"""Narrow types on Vulkan devices that lack their arithmetic, their storage, or both."""

import numpy as np
import pytest
from kernels import test_half, test_layout
from loading import load_source
from ops import reference as ref
from ops import test_convert, test_elementwise

import lcpy as lc

NARROW = [ref.BY_NAME[name] for name in ("int8", "uint8", "int16", "uint16", "float16")]
by_name = {"ids": lambda t: t.name}


@pytest.mark.parametrize("t", NARROW, **by_name)
@pytest.mark.parametrize("folded", [False, True], ids=["loaded", "folded"])
def test_every_operation(t, folded, poor_device, tmp_path):
    test = test_elementwise.test_folded if folded else test_elementwise.test_loaded
    test(t, poor_device, tmp_path)


@pytest.mark.parametrize("name", ["int8", "float16"])
def test_vectors(name, poor_device, tmp_path):
    test_elementwise.test_vectors(name, poor_device, tmp_path)


@pytest.mark.parametrize(
    "source", [*NARROW, ref.BY_NAME["bool"], ref.BY_NAME["float64"]], **by_name
)
def test_conversions(source, poor_device, tmp_path):
    test_convert.test_convert(source, False, poor_device, tmp_path)


def test_every_half(poor_device):
    test_half.test_unary_operations_on_every_half(poor_device)
    test_half.test_floats_round_to_half_once(poor_device)
    test_half.test_integers_round_to_half_once(poor_device)


def test_halves_everywhere(poor_device, cpu):
    test_half.test_halves_in_every_place(poor_device, cpu)
    test_half.test_half_matrices_as_on_cpu(poor_device, cpu)


def test_neighbouring_bytes_stay(poor_device):
    test_layout.test_r055(poor_device)


@lc.struct
class Mixed:
    tag: lc.uint8
    count: lc.uint32
    pair: lc.short2
    total: lc.float32
    flag: lc.bool
    wide: lc.int64
    bytes: lc.Array[lc.int8, 5]
    h: lc.half


@lc.kernel(block_size=64)
def mixed(a: lc.Buffer[Mixed], given: Mixed, out: lc.Buffer[Mixed]):
    cells = lc.shared(lc.uint8, 64)
    i = lc.dispatch_id().x
    t = lc.thread_id().x
    cells[t] = lc.uint8(t * 7)
    lc.sync_block()
    m = a[i]
    lc.atomic_add(out[0].count, lc.uint32(m.tag))
    lc.atomic_add(out[0].total, 0.5)
    lc.atomic_max(out[1].count, i)
    if i > 1:
        m.tag = m.tag * cells[63 - t] + given.tag
        m.pair = m.pair + given.pair.yx
        m.flag = not m.flag
        m.wide -= lc.int64(m.bytes[i % 5]) << 40
        m.bytes[i % 5] = lc.int8(lc.min(lc.int32(m.bytes[i % 5]) * 3, 100)) + given.bytes[i % 5]
        m.h = m.h * given.h
        out[i] = m
        out[i].bytes[(i + 1) % 5] += 1
        out[i].pair.y //= 3


@np.errstate(all="ignore")
def test_structs_of_narrow_members(poor_device):
    random = np.random.default_rng(4)
    n = 128
    a = np.zeros(n, Mixed.dtype)
    for name in ("tag", "count", "pair", "wide", "bytes"):
        kind = a[name].dtype
        info = np.iinfo(kind)
        a[name] = random.integers(info.min, info.max, a[name].shape, kind)
    a["flag"] = random.integers(0, 2, n)
    a["h"] = random.uniform(-9, 9, n)
    given = Mixed(tag=200, pair=(30000, -7), bytes=(1, -1, 100, -100, 7), h=1.5)
    out = lc.Buffer(n, Mixed, device=poor_device)
    mixed(lc.Buffer(a, Mixed, device=poor_device), given, out, dispatch_size=n)
    want = a.copy()
    want[:2] = np.zeros(2, Mixed.dtype)
    want[0]["count"], want[0]["total"] = a["tag"].astype(np.uint32).sum(), n / 2
    want[1]["count"] = n - 1
    for i in range(2, n):
        w, k = want[i], i % 5
        cell = (63 - i % 64) * 7 % 256
        w["tag"] = (int(a[i]["tag"]) * cell + 200) % 256
        pair = [
            ref.wrap(ref.BY_NAME["int16"], int(x) + y) for x, y in zip(a[i]["pair"], (-7, 30000))
        ]
        w["pair"] = pair[0], pair[1] // 3
        w["flag"] = not a[i]["flag"]
        byte = int(a[i]["bytes"][k])
        w["wide"] = ref.wrap(ref.BY_NAME["int64"], int(a[i]["wide"]) - (byte << 40))
        tripled = ref.wrap(ref.BY_NAME["int8"], min(byte * 3, 100))
        w["bytes"][k] = ref.wrap(ref.BY_NAME["int8"], tripled + (1, -1, 100, -100, 7)[k])
        other = (i + 1) % 5
        w["bytes"][other] = ref.wrap(ref.BY_NAME["int8"], int(a[i]["bytes"][other]) + 1)
        w["h"] = a[i]["h"] * np.float16(1.5)
    got = out.numpy()
    for name in got.dtype.names:
        assert (got[name] == want[name]).all(), name


@lc.kernel
def shift_bytes(a: lc.Buffer[lc.uint8], out: lc.Buffer[lc.uint8], s: lc.Buffer[lc.int16]):
    i = lc.dispatch_id().x
    out[i] = a[i] + 1
    s[i] = lc.int16(a[i]) - 300


@pytest.mark.parametrize("start", [0, 1, 2, 3, 5])
def test_views_at_any_byte(start, poor_device):
    a = np.arange(64, dtype=np.uint8)
    data = lc.Buffer(a, device=poor_device)
    out, s = (
        lc.Buffer(64, lc.uint8, device=poor_device),
        lc.Buffer(64, lc.int16, device=poor_device),
    )
    n = 21
    views = data.view(start, start + n), out.view(7, 7 + n), s.view(start, start + n)
    shift_bytes(*views, dispatch_size=n)
    want = np.zeros(64, np.uint8)
    want[7 : 7 + n] = a[start : start + n] + 1
    assert (out.numpy() == want).all()
    assert (s.numpy()[start : start + n] == a[start : start + n].astype(np.int16) - 300).all()
    assert (np.delete(s.numpy(), np.arange(start, start + n)) == 0).all()


CASTS = [("int8", 4, "uint32", 1), ("uint16", 2, "float32", 1), ("int64", 1, "uint16", 4)]
CASTS += [("float16", 2, "int32", 1), ("int16", 4, "float64", 1), ("uint8", 2, "int16", 1)]
CASTS += [("uint16", 1, "float16", 1), ("float16", 2, "uint8", 4)]


@pytest.mark.parametrize("case", CASTS, ids=lambda c: f"{c[0]}x{c[1]}-{c[2]}x{c[3]}")
def test_bit_casts(case, poor_device, tmp_path):
    a, m, b, n = case
    text = f"""
import lcpy as lc

A, B = lc.vector(lc.{a}, {m}), lc.vector(lc.{b}, {n})

@lc.kernel
def cast(x: lc.Buffer[A], y: lc.Buffer[B], back: lc.Buffer[A]):
    i = lc.dispatch_id().x
    y[i] = lc.bitcast(B, x[i])
    back[i] = lc.bitcast(A, y[i])
"""
    module = load_source(tmp_path, f"cast_{a}{m}_{b}{n}", text)
    bits = np.random.default_rng(2).integers(0, 256, 64 * m * np.dtype(a).itemsize, dtype=np.uint8)
    x = bits.view(a).reshape(64, m) if m > 1 else bits.view(a)
    first = lc.Buffer(x, module.A, device=poor_device)
    y, back = (lc.Buffer(64, T, device=poor_device) for T in (module.B, module.A))
    module.cast(first, y, back, dispatch_size=64)
    assert y.numpy().tobytes() == x.tobytes() and back.numpy().tobytes() == x.tobytes()


@lc.kernel(block_size=64)
def much_shared(out: lc.Buffer[lc.uint8]):
    cells = lc.shared(lc.uint8, 30000)
    cells[lc.thread_id().x] = 1
    lc.sync_block()
    out[lc.dispatch_id().x] = cells[63 - lc.thread_id().x]


def test_shared_bytes_that_no_longer_fit_are_a_limit(poor_device):
    out = lc.Buffer(64, lc.uint8, device=poor_device)
    held = not poor_device.target["int8"]  # a byte in a word of 32 bits
    if held and poor_device.limits["shared_bytes"] < 120_000:
        with pytest.raises(lc.UnsupportedError, match="120000 bytes of shared memory"):
            much_shared(out, dispatch_size=64)
    else:
        much_shared(out, dispatch_size=64)
        assert (out.numpy() == 1).all()


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3"])
def test_storage_formats(name, poor_device, tmp_path):
    pytest.importorskip("ml_dtypes")
    from kernels import test_storage

    test_storage.test_every_value_read(name, poor_device, tmp_path)
    test_storage.test_floats_are_rounded_to_nearest_even(name, poor_device, tmp_path)
    test_storage.test_places(name, poor_device, tmp_path)
