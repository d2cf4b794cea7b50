"""Vector geometry, reductions over lanes, matrices and makers against NumPy in float64."""

import numpy as np
import pytest
from loading import load_source

import lcpy as lc

COUNT = 24
TOLERANCE = {"float32": 3e-6, "float64": 1e-13}


def dot(a, b):
    return (a * b).sum(-1)


def length(a):
    return np.sqrt(dot(a, a))


def refract(v, n, eta):
    d = dot(n, v)
    k = 1 - eta**2 * (1 - d**2)
    bent = eta * v - (eta * d + np.sqrt(np.maximum(k, 0)))[:, None] * n
    return np.where(k[:, None] < 0, 0, bent)


def unit(a):
    return a / length(a)[:, None]


def faceforward(n, i, n_ref):
    return np.where((dot(n_ref, i) < 0)[:, None], n, -n)


# (op, kernel expression of vectors a, b, c, is the result a scalar, reference)
VECTOR_ROWS = [
    ("Dot", "lc.dot(a, b)", True, lambda a, b, c: dot(a, b)),
    ("Length", "lc.length(a)", True, lambda a, b, c: length(a)),
    ("LengthSquared", "lc.length_squared(a)", True, lambda a, b, c: dot(a, a)),
    ("Distance", "lc.distance(a, b)", True, lambda a, b, c: length(a - b)),
    ("ReduceSum", "lc.sum(a)", True, lambda a, b, c: a.sum(-1)),
    ("ReduceProduct", "lc.product(a)", True, lambda a, b, c: a.prod(-1)),
    ("ReduceMin", "lc.reduce_min(a)", True, lambda a, b, c: a.min(-1)),
    ("ReduceMax", "lc.reduce_max(a)", True, lambda a, b, c: a.max(-1)),
    ("Normalize", "lc.normalize(a)", False, lambda a, b, c: unit(a)),
    (
        "Reflect",
        "lc.reflect(a, lc.normalize(b))",
        False,
        lambda a, b, c: a - 2 * dot(a, unit(b))[:, None] * unit(b),
    ),
    (
        "Refract",
        "lc.refract(lc.normalize(a), lc.normalize(b), 0.7)",
        False,
        lambda a, b, c: refract(unit(a), unit(b), 0.7),
    ),
    ("Faceforward", "lc.faceforward(a, b, c)", False, lambda a, b, c: faceforward(a, b, c)),
    ("Any", "lc.select(lc.any(a > b), a, b)", False, lambda a, b, c: pick((a > b).any(-1), a, b)),
    ("All", "lc.select(lc.all(a > c), a, b)", False, lambda a, b, c: pick((a > c).all(-1), a, b)),
]
CROSS_ROW = ("Cross", "lc.cross(a, b)", False, lambda a, b, c: np.cross(a, b))


def pick(condition, a, b):
    return np.where(condition[:, None], a, b)


# (op, kernel expression of matrices m, k and vector v, kind of result, reference)
MATRIX_ROWS = [
    ("MatMul", "m @ k", "matrix", lambda m, k, v: m @ k),
    ("MatMul", "m @ v", "vector", lambda m, k, v: (m @ v[..., None])[..., 0]),
    ("MatMul", "v @ m", "vector", lambda m, k, v: (v[:, None] @ m)[:, 0]),
    ("MatMul", "v @ v", "scalar", lambda m, k, v: dot(v, v)),
    ("Transpose", "lc.transpose(m)", "matrix", lambda m, k, v: m.swapaxes(1, 2)),
    ("Determinant", "lc.determinant(m)", "scalar", lambda m, k, v: np.linalg.det(m)),
    ("Inverse", "lc.inverse(m)", "matrix", lambda m, k, v: np.linalg.inv(m)),
    ("OuterProduct", "lc.outer(v, m[0])", "matrix", lambda m, k, v: outer(v, m[:, :, 0])),
    ("Add", "m + k", "matrix", lambda m, k, v: m + k),
    ("Sub", "m - k", "matrix", lambda m, k, v: m - k),
    ("Mul", "m * k", "matrix", lambda m, k, v: m * k),
    ("Mul", "m * 2.0", "matrix", lambda m, k, v: m * 2),
    ("Neg", "-m", "matrix", lambda m, k, v: -m),
    ("Make", "M.identity()", "matrix", lambda m, k, v: np.eye(m.shape[1]) + 0 * m),
    ("Access", "m[0, 1]", "scalar", lambda m, k, v: m[:, 0, 1]),
    ("Access", "m[1]", "vector", lambda m, k, v: m[:, :, 1]),
]


def outer(a, b):
    return a[:, :, None] * b[:, None, :]


def close(got, want, name, what):
    scale = TOLERANCE[name] * np.maximum(np.abs(want), 1.0)
    bad = ~(np.abs(got.astype(np.float64) - want) <= scale)
    assert not bad.any(), f"{what}: {got[bad][:3]}, not {want[bad][:3]}"


def vector_source(name, lanes, rows):
    text = ["import lcpy as lc", f"S, V = lc.{name}, lc.vector(lc.{name}, {lanes})", ""]
    text += ["@lc.kernel(block_size=(32, 1, 1))"]
    text += ["def run(x: lc.Buffer[V], y: lc.Buffer[V], z: lc.Buffer[V],"]
    text += ["        scalars: lc.Buffer[S], vectors: lc.Buffer[V]):"]
    text += ["    i = lc.dispatch_id().x", "    n = lc.dispatch_size().x"]
    text += ["    a, b, c = x[i], y[i], z[i]"]
    for k, (_, expression, is_scalar, _) in enumerate(rows):
        target = "scalars" if is_scalar else "vectors"
        text.append(f"    {target}[{k} * n + i] = {expression}")
    return "\n".join([*text, ""])


@pytest.mark.parametrize("lanes", [2, 3, 4])
@pytest.mark.parametrize("name", TOLERANCE)
def test_vectors(name, lanes, device, tmp_path):
    rows = VECTOR_ROWS + ([CROSS_ROW] if lanes == 3 else [])
    module = load_source(tmp_path, f"geometry_{name}{lanes}", vector_source(name, lanes, rows))
    random = np.random.default_rng(2)
    arrays = [random.uniform(-2, 2, (COUNT, lanes)).astype(name) for _ in range(3)]
    arrays[0][0] = [0.6, -0.8, 0, 0][:lanes]
    scalar, vector = getattr(lc, name), lc.vector(getattr(lc, name), lanes)
    inputs = [lc.Buffer(a, vector, device=device) for a in arrays]
    scalars = lc.Buffer(len(rows) * COUNT, scalar, device=device)
    vectors = lc.Buffer(len(rows) * COUNT, vector, device=device)
    module.run(*inputs, scalars, vectors, dispatch_size=COUNT)
    scalars = scalars.numpy().reshape(len(rows), COUNT)
    vectors = vectors.numpy().reshape(len(rows), COUNT, lanes)
    wide = [a.astype(np.float64) for a in arrays]
    for k, (_, expression, is_scalar, reference) in enumerate(rows):
        close((scalars if is_scalar else vectors)[k], reference(*wide), name, expression)


def matrix_source(name, n):
    text = ["import lcpy as lc", f"S, V = lc.{name}, lc.vector(lc.{name}, {n})"]
    text += [f"M = lc.matrix(lc.{name}, {n})", "", "@lc.kernel(block_size=(32, 1, 1))"]
    text += ["def run(x: lc.Buffer[M], y: lc.Buffer[M], z: lc.Buffer[V],"]
    text += ["        scalar: lc.Buffer[S], vector: lc.Buffer[V], matrix: lc.Buffer[M]):"]
    text += ["    i = lc.dispatch_id().x", "    n = lc.dispatch_size().x"]
    text += ["    m, k, v = x[i], y[i], z[i]"]
    for row, (_, expression, kind, _) in enumerate(MATRIX_ROWS):
        text.append(f"    {kind}[{row} * n + i] = {expression}")
    return "\n".join([*text, ""])


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("name", TOLERANCE)
def test_matrices(name, n, device, tmp_path):
    module = load_source(tmp_path, f"matrix_{name}{n}", matrix_source(name, n))
    random = np.random.default_rng(4)
    m = (random.uniform(-1, 1, (COUNT, n, n)) + 2 * np.eye(n)).astype(name)
    k = random.uniform(-1, 1, (COUNT, n, n)).astype(name)
    v = random.uniform(-1, 1, (COUNT, n)).astype(name)
    scalar = getattr(lc, name)
    vector, matrix = lc.vector(scalar, n), lc.matrix(scalar, n)
    inputs = [lc.Buffer(m, matrix, device=device), lc.Buffer(k, matrix, device=device)]
    inputs.append(lc.Buffer(v, vector, device=device))
    count = len(MATRIX_ROWS) * COUNT
    outs = {
        kind: lc.Buffer(count, t, device=device)
        for kind, t in {"scalar": scalar, "vector": vector, "matrix": matrix}.items()
    }
    module.run(*inputs, *outs.values(), dispatch_size=COUNT)
    shapes = {"scalar": (), "vector": (n,), "matrix": (n, n)}
    got = {
        kind: out.numpy().reshape(len(MATRIX_ROWS), COUNT, *shapes[kind])
        for kind, out in outs.items()
    }
    wide = [a.astype(np.float64) for a in (m, k, v)]
    for row, (_, expression, kind, reference) in enumerate(MATRIX_ROWS):
        close(got[kind][row], reference(*wide), name, expression)


def test_normalize_of_zero_is_zero(device, tmp_path):
    text = """
import lcpy as lc

@lc.kernel
def run(v: lc.Buffer[lc.float3]):
    v[0] = lc.normalize(v[0])
    v[1] = lc.normalize(lc.float3(0.0))
"""
    module = load_source(tmp_path, "normalize_zero", text)
    out = lc.Buffer(2, lc.float3, device=device)
    module.run(out, dispatch_size=1)
    assert (out.numpy() == 0).all()
