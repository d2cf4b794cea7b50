"""Run-time indices into values, nested places, and loops that compilers got wrong elsewhere."""

import numpy as np

import lcpy as lc

# R043: long division on eight 16-bit limbs.


@lc.callable
def limb_of(n: lc.Array[lc.uint32, 8], i: lc.int32) -> lc.uint32:
    return n[i]


@lc.kernel
def long_division(
    n: lc.Buffer[lc.Array[lc.uint32, 8]],
    d: lc.Buffer[lc.Array[lc.uint32, 8]],
    q: lc.Buffer[lc.Array[lc.uint32, 8]],
    r: lc.Buffer[lc.Array[lc.uint32, 8]],
):
    k = lc.dispatch_id().x
    divisor = d[k]
    quotient = lc.Array[lc.uint32, 8]()
    rest = lc.Array[lc.uint32, 8]()
    bit = 127
    while bit >= 0:
        carry = (limb_of(n[k], bit // 16) >> (bit % 16)) & 1
        for i in range(8):
            shifted = (rest[i] << 1) | carry
            rest[i] = shifted & 0xFFFF
            carry = shifted >> 16
        order = 0
        i = 7
        while i >= 0:
            if rest[i] != divisor[i]:
                order = 1 if rest[i] > divisor[i] else -1
                break
            i -= 1
        if order >= 0:
            borrow = lc.uint32(0)
            for j in range(8):
                taken = divisor[j] + borrow
                borrow = lc.uint32(rest[j] < taken)
                rest[j] = (rest[j] - taken) & 0xFFFF
            quotient[bit // 16] |= lc.uint32(1) << (bit % 16)
        bit -= 1
    q[k] = quotient
    r[k] = rest


def limbs(value):
    return [(value >> 16 * i) & 0xFFFF for i in range(8)]


def test_r043(device):
    random = np.random.default_rng(8)

    def number(bits):
        return int.from_bytes(random.bytes(16), "little") >> (128 - bits)

    pairs = [(number(127), number(64) + 1), (number(120), number(119) + 1), (12345, 7), (3, 10**30)]
    element = lc.Array[lc.uint32, 8]
    n, d = (
        lc.Buffer(np.uint32([limbs(v) for v in c]), element, device=device) for c in zip(*pairs)
    )
    q, r = (lc.Buffer(len(pairs), element, device=device) for _ in range(2))
    long_division(n, d, q, r, dispatch_size=len(pairs))
    for (a, b), x, y in zip(pairs, q.numpy(), r.numpy()):
        assert x.tolist() == limbs(a // b) and y.tolist() == limbs(a % b)


# R045: a run-time index into what a call or an operation gives.


@lc.struct
class Cell:
    tag: lc.int32
    m: lc.float2x2
    v: lc.float3
    a: lc.Array[lc.int32, 3]


@lc.callable
def make_cell(x: lc.float32) -> Cell:
    return Cell(3, lc.float2x2(lc.float2(x, x + 1.0), lc.float2(x + 2.0, x + 3.0)),
                lc.float3(x, 2.0 * x, 3.0 * x), lc.array(7, 8, 9))  # fmt: skip


@lc.callable
def make_cells(x: lc.float32) -> lc.Array[Cell, 2]:
    return lc.array(make_cell(x), make_cell(x + 10.0))


@lc.kernel
def index_values(at: lc.Buffer[lc.int32], x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    i = at[0]
    j = at[1]
    out[0] = make_cell(x[0]).v[i]
    out[1] = (make_cell(x[0]).m @ make_cell(x[1]).m)[i, j]
    out[2] = make_cell(x[0]).v.zyx[i]
    out[3] = make_cells(x[0])[j].v[i]
    out[4] = lc.float32(make_cells(x[0])[j].a[i])
    out[5] = make_cell(x[0]).m[j].y
    v = lc.float4(x[0], x[1], 5.0, 6.0)
    v[i] = 9.0
    v[j] += 0.5
    out[6] = v.x
    out[7] = v.y
    m = make_cell(x[0]).m
    m[i, j] = 40.0
    m[j] = m[j] * 2.0
    out[8] = m[1, 0]
    out[9] = m[0, 1]
    out[10] = (lc.float3(1.0, 2.0, 3.0) * x[0])[i]


def test_r045(device):
    x = np.float32([2.0, 3.0])
    i, j = 1, 0
    out = lc.Buffer(11, lc.float32, device=device)
    at = lc.Buffer(np.int32([i, j]), device=device)
    index_values(at, lc.Buffer(x, device=device), out, dispatch_size=1)

    def matrix(s):
        return np.float32([[s, s + 2], [s + 1, s + 3]])

    def vector(s):
        return np.float32([s, 2 * s, 3 * s])

    product = matrix(x[0]) @ matrix(x[1])
    m = matrix(x[0])
    m[i, j] = 40
    m[:, j] *= 2
    want = [vector(2)[i], product[i, j], vector(2)[::-1][i], vector(2)[i], 8, matrix(2)[1, j]]
    want += [2.5, 9.0, m[1, 0], m[0, 1], 4.0]
    assert out.numpy().tolist() == want


# R046: stores into parts of parts reach the variable, the buffer, the shared array.


@lc.struct
class Deep:
    cells: lc.Array[Cell, 2]
    w: lc.float4


@lc.kernel
def nested_stores(at: lc.Buffer[lc.int32], b: lc.Buffer[Deep]):
    i = at[0]
    s = Deep()
    s.cells[i].m[i][0] = 1.0
    s.cells[i].m[0, i] = 2.0
    s.cells[1 - i].v.xy = lc.float2(3.0, 4.0)
    s.cells[1 - i].a[i] += 5
    s.w.zw = s.w.zw + lc.float2(6.0, 7.0)
    s.w[i - 1] = 8.0
    b[0] = s
    b[1].cells[i].m[i][0] = 1.0
    b[1].cells[i].m[0, i] = 2.0
    b[1].cells[1 - i].v.xy = lc.float2(3.0, 4.0)
    b[1].cells[1 - i].a[i] += 5
    b[1].w.zw = b[1].w.zw + lc.float2(6.0, 7.0)
    b[1].w[i - 1] = 8.0
    copy = b[1]
    copy.w.x = 100.0
    b[2] = copy
    b[3].cells[0] = b[1].cells[1]
    b[3].w = b[2].w


def test_r046(device):
    b = lc.Buffer(4, Deep, device=device)
    nested_stores(lc.Buffer(np.int32([1]), device=device), b, dispatch_size=1)
    got = b.numpy()
    want = np.zeros(4, Deep.dtype)
    for k in (0, 1, 2):
        want["cells"]["m"][k, 1] = [[0, 2], [0, 0]]
        want["cells"]["m"][k, 1, 0, 1] = 2
        want["cells"]["v"][k, 0, :2] = [3, 4]
        want["cells"]["a"][k, 0, 1] = 5
        want["w"][k] = [8, 0, 6, 7]
    want["w"][2, 0] = 100
    want["cells"][3, 0] = want["cells"][1, 1]
    want["w"][3] = want["w"][2]
    # m[1][0] = 1 is column 1, row 0: the same element as m[0, 1] = 2, which came after it.
    assert got.tobytes() == want.tobytes()


# R047: continue reaches the increment; a condition from variables of the body.


@lc.kernel
def loop_continue(v: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    s = 0
    for i in range(v[0]):
        if i == v[1]:
            continue
        s += i
    out[0] = s
    n = 0
    go = True
    while go:
        n += 1
        half = n // 2
        go = half < v[1]
        if n % 3 == 0:
            continue
        out[1] += 1
    out[2] = n


def test_r047(device):
    out = lc.Buffer(3, lc.int32, device=device)
    loop_continue(lc.Buffer(np.int32([10, 5]), device=device), out, dispatch_size=1)
    assert out.numpy().tolist() == [40, 7, 10]


# Makers of every kind.


@lc.kernel
def makers(v: lc.Buffer[lc.float32], out: lc.Buffer[lc.float4]):
    a = v[0]
    b = lc.float2(v[1], v[2])
    out[0] = lc.float4(a)
    out[1] = lc.float4(b, a, 9.0)
    out[2] = lc.float4(a, b, 9.0)
    out[3] = lc.float4(b, b)
    out[4] = lc.float4(lc.float3(lc.float4(1.0, 2.0, 3.0, 4.0)), a)
    out[5] = lc.float4(b.yxx, b.y)
    out[6] = lc.float4()
    m = lc.float2x2.from_rows(lc.float2(1.0, 2.0), b)
    out[7] = lc.float4(m[0], m[1])
    out[8] = lc.float4(lc.int4(1, -2, 3, lc.int32(a)))
    c = Cell()
    out[9] = lc.float4(lc.float32(c.tag), c.v)
    items = lc.array(a, 5.0, v[2])
    out[10] = lc.float4(items[0], items[1], items[2], 1.0)


def test_makers(device):
    out = lc.Buffer(11, lc.float4, device=device)
    makers(lc.Buffer(np.float32([7, 2, 3]), device=device), out, dispatch_size=1)
    want = [[7, 7, 7, 7], [2, 3, 7, 9], [7, 2, 3, 9], [2, 3, 2, 3], [1, 2, 3, 7], [3, 2, 2, 3]]
    want += [[0, 0, 0, 0], [1, 2, 2, 3], [1, -2, 3, 7], [0, 0, 0, 0], [7, 5, 3, 1]]
    assert out.numpy().tolist() == want
