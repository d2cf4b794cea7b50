"""Damaged kernels: a token deleted, doubled or replaced gives a CompileError or a kernel, and
nothing else."""

import ast
import io
import random
import tokenize
import warnings

import pytest

import lcpy as lc
from lcpy import front
from lcpy._native import core

SAMPLES = {
    "mandelbrot": """
def kernel(out: Out, width: lc.uint32):
    p = lc.dispatch_id().xy
    c = lc.float2(p) / lc.float2(lc.dispatch_size().xy) * 3.0 - lc.float2(2.0, 1.5)
    z = lc.float2(0.0)
    n = 0
    for i in range(64):
        z = lc.float2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c
        if lc.dot(z, z) > 4.0:
            break
        n += 1
    out[p.y * width + p.x] = lc.float32(n) / 64.0
""",
    "structs": """
def kernel(out: Out, rays: lc.Buffer[Ray]):
    i = lc.dispatch_id().x
    ray = rays[i]
    ray.move(lc.float3(1.0, 2.0, 3.0))
    t, hit = meet(ray, 2.0)
    rays[i].origin.xy += ray.at(t).zx
    out[i] = t if hit and 0.0 < t < 10.0 else -1.0
""",
    "shared": """
def kernel(out: Out, x: Out):
    tile = lc.shared(lc.float32, 64)
    t = lc.thread_id().x
    tile[t] = x[lc.dispatch_id().x]
    lc.sync_block()
    s = lc.uint32(32)
    while s > 0:
        if t < s:
            tile[t] = tile[t] + tile[t + s]
        lc.sync_block()
        s >>= 1
    if t == 0:
        lc.atomic_add(out[0], tile[0])
""",
    "choices": """
def kernel(out: Out, k: lc.int32):
    def scaled(v, by=2.0):
        return v * by
    r = 0.0
    match k:
        case 0 | 1:
            r = scaled(1.0)
        case 5 if out[0] > 1.0:
            r = scaled(3.0, by=4.0)
        case _:
            r = apply(lambda v: v + 1.0, r)
    for j in lc.static(range(3)):
        if j == 1:
            continue
        r += j * WEIGHTS[j]
    else:
        r = -r
    a, b = r, scaled(r)
    a, b = b, a
    m = lc.float3x3.identity()
    m[0, 2] = a
    out[k] = (m @ lc.float3(b)).x
""",
}
HEAD = """
import lcpy as lc
Out = lc.Buffer[lc.float32]
WEIGHTS = (0.5, 0.25, 0.125)

@lc.struct
class Ray:
    origin: lc.float3
    direction: lc.float3

    def at(self, t):
        return self.origin + t * self.direction

    def move(self, d):
        self.origin += d

def meet(ray, radius):
    b = lc.dot(ray.origin, ray.direction)
    h = b * b - lc.dot(ray.origin, ray.origin) + radius * radius
    if h < 0.0:
        return 0.0, False
    return -b - lc.sqrt(h), True

def apply(f, x):
    return f(x)
"""
SPARES = """0 1.5 - * @ // not x lc out ( ) [0] .y None lc.int32 'text' lambda:0 , : in and == =
rays 2**70""".split()


def tokens_of(text):
    wanted = (tokenize.NAME, tokenize.OP, tokenize.NUMBER)
    return [t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type in wanted]


def damaged(text, r):
    """The text with one or two tokens deleted, doubled or replaced; None if Python refuses it."""
    lines = text.split("\n")
    for t in sorted(r.sample(tokens_of(text), r.choice((1, 1, 2))), key=lambda t: t.start)[::-1]:
        (row, begin), (_, end) = t.start, t.end
        line = lines[row - 1]
        new = r.choice(("", f"{t.string} {t.string}", r.choice(SPARES), r.choice(SPARES)))
        lines[row - 1] = line[:begin] + new + line[end:]
    changed = "\n".join(lines)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(changed)
            compile(changed, "damaged", "exec")
    except (SyntaxError, ValueError, OverflowError):
        return None
    function = tree.body[0] if tree.body else None
    return changed if isinstance(function, ast.FunctionDef) else None


@pytest.mark.parametrize("name", SAMPLES)
def test_damaged(name, tmp_path):
    r = random.Random(name)
    compiled = refused = 0
    for number in range(120):
        text = damaged(SAMPLES[name], r)
        if text is None:
            continue
        path = tmp_path / f"damaged_{number}.py"
        path.write_text(HEAD + text)
        names = {}
        try:
            exec(compile(path.read_text(), str(path), "exec"), names)
            function = names["kernel"]
        except Exception:
            continue  # Python itself refuses the definition
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                declared = front.parameters(function)
                parameters = [(p.name, p.annotation or lc.float32) for p in declared]
                traced = front.trace_kernel(function, parameters, block_size=(64, 1, 1))
                core.lower(traced.builder, "ieee", 1, True, False)
            compiled += 1
        except (lc.CompileError, lc.UnsupportedError) as error:
            assert error.diagnostics and error.diagnostics[-1].line > 0, text
            refused += 1
        except BaseException as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n{text}") from error
    assert compiled and refused
