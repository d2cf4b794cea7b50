"""Matrices of half, float and double, 2×2 to 4×4, wherever a value can be, indexed at run time."""

import numpy as np
import pytest
from loading import load_source

import lcpy as lc

SCALARS = {"half": np.float16, "float": np.float32, "double": np.float64}
KINDS = [(s, n) for s in SCALARS for n in (2, 3, 4)]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda k: f"{k[0]}{k[1]}x{k[1]}")


def whole_numbers(seed, *shape):
    """Small numbers, whose sums and products every format has exactly."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float64)


ALGEBRA = """
import lcpy as lc

T, V, M = lc.{s}, lc.{s}{n}, lc.{s}{n}x{n}

@lc.kernel
def algebra(a: lc.Buffer[M], b: lc.Buffer[M], v: lc.Buffer[V], m: lc.Buffer[M], w: lc.Buffer[V],
            x: lc.Buffer[T]):
    i = lc.dispatch_id().x
    k = lc.dispatch_size().x
    p, q, u = a[i], b[i], v[i]
    m[i] = p @ q
    m[k + i] = p * q
    m[2 * k + i] = p + q
    m[3 * k + i] = lc.transpose(p) - q
    m[4 * k + i] = lc.outer(u, p[{last}])
    m[5 * k + i] = -p * T(0.5)
    m[6 * k + i] = M.identity() @ q
    m[7 * k + i] = M({columns})
    m[8 * k + i] = M.from_rows({rows})
    w[i] = p @ u
    w[k + i] = u @ p
    w[2 * k + i] = p[i % {n}]
    x[i] = lc.determinant(p)
    x[k + i] = p[i % {n}, (i + 1) % {n}]
    x[2 * k + i] = lc.dot(p[0], u)
"""


@kinds
def test_algebra(kind, device, tmp_path):
    s, n = kind
    columns = ", ".join(f"p[{n - 1 - j}]" for j in range(n))
    rows = ", ".join(f"q[{j}]" for j in range(n))
    text = ALGEBRA.format(s=s, n=n, last=n - 1, columns=columns, rows=rows)
    module = load_source(tmp_path, f"algebra_{s}{n}", text)
    k, dtype = 20, SCALARS[s]
    a, b, v = whole_numbers(1, k, n, n), whole_numbers(2, k, n, n), whole_numbers(3, k, n)
    put = lambda x, T: lc.Buffer(x.astype(dtype), T, device=device)
    m = lc.Buffer(9 * k, module.M, device=device)
    w, x = lc.Buffer(3 * k, module.V, device=device), lc.Buffer(3 * k, module.T, device=device)
    module.algebra(put(a, module.M), put(b, module.M), put(v, module.V), m, w, x, dispatch_size=k)
    at = a.transpose(0, 2, 1)  # [column][row]: a column of M is at[c]
    i = np.arange(k)
    wants = [a @ b, a * b, a + b, at - b]
    wants += [v[:, :, None] * at[:, n - 1][:, None, :], -a * 0.5, b, a[:, :, ::-1]]
    wants += [b.transpose(0, 2, 1)]
    assert m.numpy().dtype == dtype and m.numpy().shape == (9 * k, n, n)
    for j, (got, want) in enumerate(zip(m.numpy().reshape(9, k, n, n), wants, strict=True)):
        assert (got == want).all(), j
    vectors = [np.einsum("kij,kj->ki", a, v), np.einsum("ki,kij->kj", v, a), at[i, i % n]]
    for got, want in zip(w.numpy().reshape(3, k, n), vectors):
        assert (got == want).all()
    got = x.numpy().reshape(3, k)
    assert np.allclose(got[0].astype(float), np.linalg.det(a), rtol=5e-3, atol=0.1)
    assert (got[1] == a[i, i % n, (i + 1) % n]).all()
    assert (got[2] == (at[:, 0] * v).sum(1)).all()


NESTED = """
import numpy as np
import lcpy as lc

T, V, M = lc.{s}, lc.{s}{n}, lc.{s}{n}x{n}

@lc.struct
class Inner:
    tag: lc.uint8
    m: lc.Array[M, 2]
    v: V

@lc.struct
class Outer:
    first: T
    parts: lc.Array[Inner, 3]
    last: lc.uint16

def inner(k):
    rows = [[k + r - c for c in range({n})] for r in range({n})]
    more = [[k * c - r for c in range({n})] for r in range({n})]
    return Inner(k, (M(rows), M(more)), tuple(range(k, k + {n})))

def outer(k):
    return Outer(k + 0.5, (inner(k), inner(k + 1), inner(k + 2)), 40000 + k)

CONSTANT = outer(1)
MATRIX = M([[r * {n} + c for c in range({n})] for r in range({n})])

@lc.callable
def at(o: Outer, i: lc.uint, j: lc.uint, c: lc.uint, r: lc.uint) -> T:
    return o.parts[i].m[j][r, c] + o.parts[i].m[j][c][r] + o.parts[i].v[r]

@lc.callable
def change(m: lc.Ref[M], c: lc.uint, by: T):
    m[c] += by

@lc.kernel(block_size=32)
def nested(a: lc.Buffer[Outer], given: Outer, matrix: M, out: lc.Buffer[Outer], x: lc.Buffer[T]):
    tile = lc.shared(M, 4)
    i = lc.dispatch_id().x
    t = lc.thread_id().x
    if t < 4:
        tile[t] = matrix
        tile[t][t % {n}][0] += T(t)
    lc.sync_block()
    o = a[i]
    p, q, c, r = i % 3, i % 2, i % {n}, (i + 1) % {n}
    x[i * 5] = at(o, p, q, c, r)
    x[i * 5 + 1] = at(given, p, q, c, r)
    x[i * 5 + 2] = at(CONSTANT, p, q, c, r)
    x[i * 5 + 3] = MATRIX[r, c] + matrix[c][r]
    x[i * 5 + 4] = tile[i % 4][r, c] + tile[(i + 1) % 4][0][0]
    o.parts[p].m[q][c][r] += T(2)
    o.parts[p].m[q][r, c] *= T(3)
    o.parts[(p + 1) % 3].m[1 - q][c] = o.parts[p].v
    change(o.parts[p].m[1 - q], r, T(1))
    o.parts[p].v[r] = given.parts[p].m[q][c, r]
    out[i] = o
"""


@kinds
def test_structs_of_arrays_of_matrices(kind, device, tmp_path):
    s, n = kind
    module = load_source(tmp_path, f"nested_{s}{n}", NESTED.format(s=s, n=n))
    Outer, M = module.Outer, module.M
    k = 64
    a = np.zeros(k, Outer.dtype)
    a["first"] = np.arange(k) / 2
    a["parts"]["tag"] = np.arange(3 * k).reshape(k, 3) % 256
    a["parts"]["m"] = whole_numbers(5, k, 3, 2, n, n)
    a["parts"]["v"] = whole_numbers(6, k, 3, n)
    a["last"] = 65535 - np.arange(k)
    given = module.outer(2)
    matrix = M([[r - 2 * c for c in range(n)] for r in range(n)])
    out = lc.Buffer(k, Outer, device=device)
    x = lc.Buffer(5 * k, module.T, device=device)
    arguments = lc.Buffer(a, Outer, device=device), given, matrix, out, x
    room = device.limits.get("push_bytes", 4096) if device.kind == "opencl" else 4096
    if Outer.layout.size + M.layout.size + 64 > room:
        with pytest.raises(lc.UnsupportedError, match=f"the device has {room}"):
            module.nested(*arguments, dispatch_size=k)
        return
    module.nested(*arguments, dispatch_size=k)
    want, numbers = a.copy(), []

    def at(o, i, j, c, r):  # matrices of instances are columns, of arrays [row, column]
        if isinstance(o, np.void):
            part = o["parts"][i]
            return part["m"][j][r, c] * 2 + part["v"][r]
        part = o.parts[i]
        return part.m[j][c][r] * 2 + part.v[r]

    tile = [np.array([[r - 2 * c for c in range(n)] for r in range(n)], float) for _ in range(4)]
    for t in range(4):
        tile[t][0, t % n] += t
    for i in range(k):
        o, p, q, c, r = want[i], i % 3, i % 2, i % n, (i + 1) % n
        numbers += [at(o, p, q, c, r), at(given, p, q, c, r), at(module.CONSTANT, p, q, c, r)]
        numbers += [r * n + c + (r - 2 * c)]
        numbers += [tile[i % 4][r, c] + tile[(i + 1) % 4][0, 0]]
        m = o["parts"][p]["m"]
        m[q][r, c] = (m[q][r, c] + 2) * 3
        o["parts"][(p + 1) % 3]["m"][1 - q][:, c] = o["parts"][p]["v"]
        m[1 - q][:, r] += 1
        o["parts"][p]["v"][r] = given.parts[p].m[q][r][c]
    assert x.numpy().astype(float).tolist() == [float(v) for v in numbers]
    got = out.numpy()
    assert got.dtype == Outer.dtype
    assert (got == want).all()


BY_VALUE = """
import numpy as np
import lcpy as lc

M = lc.{s}{n}x{n}
TABLE = np.array({table}, np.{numpy})  # [k][row][column]: numbers, which the kernel indexes
LIST = [M(t) for t in TABLE.tolist()]

@lc.kernel
def constants(out: lc.Buffer[M], local: lc.Buffer[M]):
    i = lc.dispatch_id().x
    kept = lc.Array[M, 3]()
    for k in lc.static(range(3)):
        kept[k] = LIST[k]
    m = M()
    for r in range({n}):
        for c in range({n}):
            m[r, c] = lc.{s}(TABLE[i % 3, r, c])
    out[i] = m
    local[i] = kept[(i + 1) % 3]
"""


@kinds
def test_captured_matrices_and_arrays(kind, device, tmp_path):
    s, n = kind
    numpy = np.dtype(SCALARS[s]).name
    table = (np.arange(3 * n * n).reshape(3, n, n) / 4).tolist()
    text = BY_VALUE.format(s=s, n=n, table=table, numpy=numpy)
    module = load_source(tmp_path, f"captured_{s}{n}", text)
    out, local = (lc.Buffer(6, module.M, device=device) for _ in range(2))
    module.constants(out, local, dispatch_size=6)
    i = np.arange(6)
    assert (out.numpy() == np.array(table)[i % 3]).all()
    assert (local.numpy() == np.array(table)[(i + 1) % 3]).all()
