"""Atomics on every place, buffers whole and by the byte, lengths, ids, shared memory."""

import numpy as np
import pytest
from loading import load_source

import lcpy as lc

NUMBERS = ["int32", "uint32", "int64", "uint64", "float32", "float64"]
THREADS = 200  # not a multiple of the block

# Where an atomic may act: declarations, the place for cell j, how to read cells back.
PLACES = {
    "element": ("b: lc.Buffer[T]", "b[{j}]"),
    "member": ("b: lc.Buffer[S]", "b[{j}].inner.value"),
    "lane": ("b: lc.Buffer[V]", "b[{j}].y"),
    "array": ("b: lc.Buffer[S]", "b[{j}].items[1]"),
}
OPERATIONS = {
    "add": lambda a, v: a + v,
    "sub": lambda a, v: a - v,
    "min": min,
    "max": max,
    "exchange": lambda a, v: v,
    "and": lambda a, v: a & v,
    "or": lambda a, v: a | v,
    "xor": lambda a, v: a ^ v,
}
CELLS = 5


def operations_of(name):
    return [op for op in OPERATIONS if name[0] != "f" or op not in ("and", "or", "xor")]


def atomic_source(name, place):
    declaration, where = PLACES[place]
    text = f"""
import lcpy as lc

T = lc.{name}
V = lc.vector(T, 2)

@lc.struct
class Inner:
    pad: lc.int32
    value: T

@lc.struct
class S:
    inner: Inner
    items: lc.Array[T, 3]
"""
    for op in operations_of(name):
        text += f"""
@lc.kernel(block_size=(64, 1, 1))
def do_{op}({declaration}, values: lc.Buffer[T], old: lc.Buffer[T]):
    i = lc.dispatch_id().x
    old[i] = lc.atomic_{op}({where.format(j=f"i % {CELLS}")}, values[i])
"""
    return text


def cells(array, place):
    if place == "element":
        return array
    if place == "member":
        return array["inner"]["value"]
    return array[:, 1] if place == "lane" else array["items"][:, 1]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NUMBERS)
def test_atomics(name, place, device, tmp_path):
    module = load_source(tmp_path, f"atomic_{name}_{place}", atomic_source(name, place))
    element = {"element": module.T, "lane": module.V}.get(place, module.S)
    values = (np.arange(THREADS) * 7 % 61 + 1).astype(name)
    for op in operations_of(name):
        buffer = lc.Buffer(CELLS, element, device=device)
        old = lc.Buffer(THREADS, module.T, device=device)
        inputs = lc.Buffer(values, device=device)
        getattr(module, f"do_{op}")(buffer, inputs, old, dispatch_size=THREADS)
        check_atomic(op, values, cells(buffer.numpy(), place), old.numpy())


def check_atomic(op, values, final, old):
    """The final values, and that the old ones form one chain: some serial order gives them."""
    combine = OPERATIONS[op]
    for cell in range(CELLS):
        mine, seen = values[cell::CELLS], old[cell::CELLS]
        if op == "exchange":
            chain = sorted([*seen.tolist(), final[cell].item()])
            assert chain == sorted([0, *mine.tolist()]), f"{op}: old values are not one chain"
            continue
        total = np.zeros((), values.dtype)
        for v in mine:
            total = np.asarray(combine(total, v)).astype(values.dtype)
        assert final[cell] == total, f"{op}: {final[cell]}, not {total}"
        if op in ("add", "sub"):
            after = seen + mine if op == "add" else seen - mine
            assert sorted([*seen.tolist(), total.item()]) == sorted([0, *after.tolist()]), op


SHARED = """
import lcpy as lc

T = lc.{name}

@lc.kernel(block_size=(64, 1, 1))
def count(values: lc.Buffer[T], out: lc.Buffer[T], ragged: lc.Buffer[T]):
    cells = lc.shared(T, 4)
    thread = lc.thread_id().x
    if thread < 4:
        cells[thread] = T(0)
    lc.sync_block()
    i = lc.dispatch_id().x
    lc.atomic_add(cells[i % 4], values[i])
    lc.atomic_max(ragged[0], values[i])
    lc.sync_block()
    if thread < 4:
        lc.atomic_add(out[thread], cells[thread])
"""


@pytest.mark.parametrize("name", NUMBERS)
def test_shared_atomics(name, device, tmp_path):
    """Threads past the end take part in barriers and read zero."""
    module = load_source(tmp_path, f"shared_{name}", SHARED.format(name=name))
    values = (np.arange(THREADS) % 13).astype(name)
    out = lc.Buffer(4, module.T, device=device)
    ragged = lc.Buffer(1, module.T, device=device)
    module.count(lc.Buffer(values, device=device), out, ragged, dispatch_size=THREADS)
    assert out.numpy().tolist() == [values[k::4].sum() for k in range(4)]
    assert ragged.numpy()[0] == values.max()


COMPARE = """
import lcpy as lc

T = lc.{name}

@lc.kernel(block_size=(32, 1, 1))
def claim(cell: lc.Buffer[T], winners: lc.Buffer[lc.int32], other: lc.Buffer[T]):
    mine = T(lc.dispatch_id().x + 1)
    if lc.atomic_compare_exchange(cell[0], T(0), mine) == T(0):
        lc.atomic_add(winners[0], 1)
    lc.atomic_store(other[lc.dispatch_id().x], mine)
    other[lc.dispatch_id().x] = lc.atomic_load(other[lc.dispatch_id().x]) + T(1)
"""


@pytest.mark.parametrize("name", NUMBERS)
def test_compare_exchange_load_store(name, device, tmp_path):
    module = load_source(tmp_path, f"compare_{name}", COMPARE.format(name=name))
    cell = lc.Buffer(1, module.T, device=device)
    winners = lc.Buffer(1, lc.int32, device=device)
    other = lc.Buffer(50, module.T, device=device)
    module.claim(cell, winners, other, dispatch_size=50)
    assert winners.numpy()[0] == 1
    assert 1 <= cell.numpy()[0] <= 50
    assert (other.numpy() == np.arange(50) + 2).all()


@lc.kernel(block_size=(4, 2, 2))
def write_ids(ids: lc.Buffer[lc.uint3, 3], more: lc.Buffer[lc.uint32, 3]):
    p = lc.dispatch_id()
    size = lc.dispatch_size()
    same = lc.all(p == lc.block_id() * lc.block_size() + lc.thread_id())
    ids[p.z, p.y, p.x] = p if same else lc.uint3(99)
    more[p.z, p.y, p.x] = (p.z * size.y + p.y) * size.x + p.x + lc.kernel_id()


def test_ids(device):
    x, y, z = 7, 5, 3
    ids = lc.Buffer((z, y, x), lc.uint3, device=device)
    more = lc.Buffer((z, y, x), lc.uint32, device=device)
    write_ids(ids, more, dispatch_size=(x, y, z))
    want = np.stack(np.meshgrid(range(z), range(y), range(x), indexing="ij")[::-1], -1)
    assert (ids.numpy() == want).all()
    assert (more.numpy().ravel() == np.arange(x * y * z)).all()


@lc.kernel
def lengths(a: lc.Buffer[lc.float3], b: lc.Buffer[lc.uint8, 2], out: lc.Buffer[lc.uint64]):
    out[0] = lc.uint64(len(a))
    out[1] = lc.len64(a)
    out[2] = lc.uint64(len(b))
    out[3] = lc.uint64(b.shape[0])
    out[4] = lc.uint64(b.shape[1])


def test_lengths(device):
    out = lc.Buffer(5, lc.uint64, device=device)
    a = lc.Buffer(11, lc.float3, device=device)
    b = lc.Buffer((3, 5), lc.uint8, device=device)
    lengths(a, b, out, dispatch_size=1)
    assert out.numpy().tolist() == [11, 11, 15, 3, 5]


@lc.kernel
def read_bytes(raw: lc.ByteBuffer, out: lc.Buffer[lc.uint32]):
    out[0] = lc.byte_read(lc.uint32, raw, 4)
    out[1] = lc.uint32(lc.byte_read(lc.uint16, raw, 2))
    lc.byte_write(raw, 8, lc.float32(1.5))
    out[2] = lc.uint32(len(raw))


def test_byte_buffer(device):
    data = np.arange(16, dtype=np.uint8)
    raw = lc.ByteBuffer(data, device=device)
    out = lc.Buffer(3, lc.uint32, device=device)
    read_bytes(raw, out, dispatch_size=1)
    assert out.numpy().tolist() == [0x07060504, 0x0302, 16]
    assert raw.numpy()[8:12].view(np.float32)[0] == 1.5


@lc.kernel
def volatile(a: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    lc.volatile_write(a, i, lc.volatile_read(a, i) + 1)


def test_volatile(device):
    a = lc.Buffer(np.arange(10, dtype=np.int32), device=device)
    volatile(a, dispatch_size=10)
    assert (a.numpy() == np.arange(10) + 1).all()


@lc.kernel
def hints(a: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    lc.assume(i < 8)
    value = 0
    lc.flatten()
    if i % 2 == 0:
        value = 1
    lc.branch()
    if i % 3 == 0:
        value += 2
    lc.force_case()
    match i:
        case 0 | 1:
            value += 10
        case 2:
            value += 20
    if i > 100:
        lc.unreachable()
    a[i] = value


def test_hints(device):
    a = lc.Buffer(8, lc.int32, device=device)
    hints(a, dispatch_size=8)
    want = [(i % 2 == 0) + 2 * (i % 3 == 0) + {0: 10, 1: 10, 2: 20}.get(i, 0) for i in range(8)]
    assert a.numpy().tolist() == want
