"""Buffers whole and by the byte, lengths, ids, hints. test_atomics.py has the atomics."""

import numpy as np

import lcpy as lc


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
