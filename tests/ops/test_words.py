"""Values in words: volatile accesses of elements and bytes, pack and unpack; the clock."""

import numpy as np
import pytest
from loading import load_source

import lcpy as lc

TYPES = {
    "bool": True,
    "int8": -5,
    "uint8": 200,
    "int16": -300,
    "uint16": 60000,
    "int32": -70000,
    "uint32": 4000000000,
    "int64": -(1 << 40) - 3,
    "uint64": (1 << 63) + 5,
    "float16": 1.5,
    "float32": -2.25,
    "float64": 1e-200,
}
SOURCE = """
import lcpy as lc

T = lc.{name}
V = lc.vector(T, 3)

@lc.struct
class S:
    a: T
    v: V
    items: lc.Array[T, 2]
    last: lc.uint8

@lc.kernel(opt={opt})
def packing(words: lc.Buffer[lc.uint32], x: lc.Buffer[S], out: lc.Buffer[S]):
    i = lc.dispatch_id().x
    lc.pack(words, i * 16, x[i])
    out[i] = lc.unpack(S, words, i * 16)

@lc.kernel(opt={opt})
def literals(words: lc.Buffer[lc.uint32], out: lc.Buffer[T]):
    lc.pack(words, 1, T({value!r}))
    out[0] = lc.unpack(T, words, 1)

@lc.kernel(opt={opt})
def volatile_elements(x: lc.Buffer[S], out: lc.Buffer[S]):
    i = lc.dispatch_id().x
    first = lc.volatile_read(x, i)
    lc.volatile_write(out, i, lc.volatile_read(x, i))
    if first.last != 7:
        out[i].last = 0

@lc.kernel(opt={opt})
def volatile_bytes(raw: lc.ByteBuffer, x: lc.Buffer[S], out: lc.Buffer[S], one: lc.Buffer[T]):
    i = lc.dispatch_id().x
    lc.byte_volatile_write(raw, i * {size}, x[i])
    one[i] = lc.byte_volatile_read(T, raw, i * {size})
    out[i] = lc.byte_volatile_read(S, raw, i * {size})
"""


def needs(device, name):
    feature = {"float64": "float64", "int64": "int64", "uint64": "int64"}.get(name)
    if not device.features.get(feature, True):
        pytest.skip(f"{device.name} has no {name}")


def module_of(name, opt, tmp_path):
    probe = SOURCE.format(name=name, opt=opt, value=TYPES[name], size=0)
    size = load_source(tmp_path, f"probe_{name}_{opt}", probe).S._type.size
    text = SOURCE.format(name=name, opt=opt, value=TYPES[name], size=size)
    return load_source(tmp_path, f"words_{name}_{opt}", text), size


def some(module, name, n):
    array = np.zeros(n, module.S.dtype)
    value = np.array(TYPES[name]).astype(name)
    for i in range(n):
        array["a"][i] = value
        array["v"][i] = [0, value, 1]
        array["items"][i] = [value, i % 2]
    array["last"] = 7
    return array


@pytest.mark.parametrize("opt", [0, 1])
@pytest.mark.parametrize("name", TYPES)
def test_pack_is_undone_by_unpack(name, opt, device, tmp_path):
    needs(device, name)
    module, _ = module_of(name, opt, tmp_path)
    values = some(module, name, 5)
    x = lc.Buffer(5, module.S, device=device)
    x.upload(values)
    words = lc.Buffer(5 * 16, lc.uint32, device=device)
    out = lc.Buffer(5, module.S, device=device)
    module.packing(words, x, out, dispatch_size=5)
    assert out.numpy().tobytes() == values.tobytes()
    # One word a scalar, two of 64 bits, the low one first; narrow ones are extended with zeros.
    raw = np.asarray(values["a"][0]).astype(name).reshape(1)
    size = raw.dtype.itemsize
    want = raw.view(f"uint{8 * size}").astype(np.uint64)[0]
    got = words.numpy()
    assert got[0] == want & np.uint64(0xFFFFFFFF)
    if size == 8:
        assert got[1] == want >> np.uint64(32)
    one = lc.Buffer(1, module.T, device=device)
    module.literals(words, one, dispatch_size=1)
    assert one.numpy()[0] == np.array(TYPES[name]).astype(name)


@pytest.mark.parametrize("opt", [0, 1])
@pytest.mark.parametrize("name", TYPES)
def test_volatile_accesses(name, opt, device, tmp_path):
    needs(device, name)
    module, size = module_of(name, opt, tmp_path)
    values = some(module, name, 5)
    x = lc.Buffer(5, module.S, device=device)
    x.upload(values)
    out = lc.Buffer(5, module.S, device=device)
    module.volatile_elements(x, out, dispatch_size=5)
    assert out.numpy().tobytes() == values.tobytes()
    raw = lc.ByteBuffer(np.zeros(5 * size, np.uint8), device=device)
    one = lc.Buffer(5, module.T, device=device)
    module.volatile_bytes(raw, x, out, one, dispatch_size=5)
    assert out.numpy().tobytes() == values.tobytes()
    assert one.numpy().tolist() == values["a"].tolist()


def test_volatile_accesses_are_not_merged():
    @lc.kernel
    def twice(a: lc.Buffer[lc.int32], raw: lc.ByteBuffer):
        x = lc.volatile_read(a, 0)
        y = lc.volatile_read(a, 0)
        lc.volatile_write(a, 1, x + y)
        lc.volatile_write(a, 1, x + y)
        lc.byte_volatile_read(lc.uint32, raw, 0)
        lc.byte_volatile_write(raw, 0, lc.uint32(1))
        lc.byte_volatile_write(raw, 0, lc.uint32(1))

    text = twice.descriptor(lc.Buffer[lc.int32], lc.ByteBuffer).text()
    for op, count in (("Load", 2), ("Store", 2), ("ByteLoad", 1), ("ByteStore", 2)):
        assert sum(f" {op} " in line and "!8" in line for line in text.splitlines()) == count, op
    source = twice.compile(lc.Buffer[lc.int32], lc.ByteBuffer, target="opencl").text
    assert source.count("volatile") >= 6


def test_wrong_buffers_of_words():
    @lc.kernel
    def floats(a: lc.Buffer[lc.float32]):
        lc.pack(a, 0, 1)

    with pytest.raises(lc.CompileError, match="it takes a buffer of uint"):
        floats.descriptor(lc.Buffer[lc.float32])


# ---- the clock ----------------------------------------------------------------------------------
@lc.kernel(block_size=32)
def ticks(out: lc.Buffer[lc.uint64], work: lc.Buffer[lc.float32]):
    i = lc.dispatch_id().x
    before = lc.clock()
    x = work[i]
    for _ in range(1000):
        x = x * 1.0001 + 0.5
    work[i] = x
    out[i] = lc.clock() - before


def test_clock(device):
    """Time that passes is counted; who has no counter says what is missing."""
    out = lc.Buffer(64, lc.uint64, device=device)
    work = lc.Buffer(64, lc.float32, device=device)
    try:
        ticks(out, work, dispatch_size=64)
    except lc.UnsupportedError as error:
        assert "lc.clock" in str(error)
        assert "cl_khr_kernel_clock" in str(error) or "VK_KHR_shader_clock" in str(error)
        return
    passed = out.numpy()
    assert (passed < 1 << 40).all() and passed.any()
