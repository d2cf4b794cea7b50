"""Every atomic operation on every number, at every kind of place, loaded and as literals, with
every order: the final values and the old ones are those of some serial order."""

from collections import Counter

import numpy as np
import pytest
from loading import load_source

import lcpy as lc

NUMBERS = ["int32", "uint32", "int64", "uint64", "float32", "float64"]
BLOCK, BLOCKS, START = 32, 3, 5
OPERATIONS = {
    "add": lambda a, v: a + v,
    "sub": lambda a, v: a - v,
    "min": min,
    "max": max,
    "exchange": lambda a, v: v,
    "compare_exchange": lambda a, v: v if a == START else a,
    "and": lambda a, v: a & v,
    "or": lambda a, v: a | v,
    "xor": lambda a, v: a ^ v,
}
ORDERS = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"]
DECLARED = """
import lcpy as lc

T = lc.{name}
V = lc.vector(T, 3)

@lc.struct
class Inner:
    pad: lc.int32
    value: T

@lc.struct
class S:
    inner: Inner
    items: lc.Array[T, 3]
    lanes: V

"""
# How a buffer's cell j is reached, and the element type of the buffer.
IN_BUFFERS = {
    "element": ("T", "b[{j}]"),
    "member": ("S", "b[{j}].inner.value"),
    "lane": ("V", "b[{j}].y"),
    "array": ("S", "b[{j}].items[1]"),
    "deep_lane": ("S", "b[{j}].lanes.z"),
    "lane_at_run_time": ("S", "b[{j}].lanes[lc.kernel_id() + 1]"),
}
# Likewise in shared memory: what is declared, how cell j is reached.
IN_SHARED = {
    "element": ("lc.shared(T, {n})", "s[{j}]"),
    "member": ("lc.shared(S, {n})", "s[{j}].inner.value"),
    "lane": ("lc.shared(V, {n})", "s[{j}].y"),
    "array": ("lc.shared(S, {n})", "s[{j}].items[1]"),
    "two_axes": ("lc.shared(T, ({n}, 2))", "s[{j}][1]"),
    "deep_array": ("lc.shared(S, (2, {n}))", "s[1][{j}].items[lc.kernel_id() + 2]"),
}


def operations(name):
    return [op for op in OPERATIONS if name[0] != "f" or op not in ("and", "or", "xor")]


def call(op, place, value, order):
    expected = f"T({START}), " if op == "compare_exchange" else ""
    order = "" if order == "relaxed" else f', order="{order}"'
    return f"lc.atomic_{op}({place}, {expected}{value}{order})"


def calls(name, where, order):
    """One line for each operation, of a loaded value and of a literal: the cell, and the text."""
    number = "2.0" if name[0] == "f" else "6"
    for k, op in enumerate(operations(name)):
        yield 2 * k, call(op, where.format(j=2 * k), "values[i]", order)
        yield 2 * k + 1, call(op, where.format(j=2 * k + 1), number, order)


def buffer_source(name, place, order):
    element, where = IN_BUFFERS[place]
    text = (
        DECLARED.format(name=name)
        + f"""
E = {element}

@lc.kernel(block_size={BLOCK})
def run(b: lc.Buffer[E], values: lc.Buffer[T], old: lc.Buffer[T, 2]):
    i = lc.dispatch_id().x
"""
    )
    for row, line in calls(name, where, order):
        text += f"    old[{row}, i] = {line}\n"
    return text


def shared_source(name, place, order, by_reference):
    declared, where = IN_SHARED[place]
    n = 2 * len(operations(name))
    body = [f"    old[{row}, i] = {line}\n" for row, line in calls(name, where, order)]
    text = DECLARED.format(name=name)
    if by_reference:
        element = "lc.Array[T, 2]" if place == "two_axes" else "T"
        head = f"def all_of(s: lc.Ref[lc.Array[{element}, {n}]], values, old, i):"
        text += f"\n@lc.callable\n{head}\n" + "".join(body) + "\n"
        body = ["    all_of(s, values, old, i)\n"]
    cell, final = where.format(j="thread"), where.format(j="thread")
    text += f"""
@lc.kernel(block_size={BLOCK})
def run(values: lc.Buffer[T], old: lc.Buffer[T, 2], final: lc.Buffer[T, 2]):
    s = {declared.format(n=n)}
    thread = lc.thread_id().x
    i = lc.dispatch_id().x
    if thread < {n}:
        {cell} = T({START})
    lc.sync_block()
"""
    text += "".join(body)
    text += f"""
    lc.sync_block()
    if thread < {n}:
        final[lc.block_id().x, thread] = {final}
"""
    return text


def check(name, values, final, old):
    """final[cell], old[cell, thread]: what each thread made of what it saw is what the next saw."""
    literal = np.full(len(values), 2.0 if name[0] == "f" else 6).astype(name)
    for k, op in enumerate(operations(name)):
        for cell, given in ((2 * k, values), (2 * k + 1, literal)):
            seen = old[cell]
            with np.errstate(over="ignore"):
                made = [OPERATIONS[op](a, v).item() for a, v in zip(seen, given)]
            chain = Counter(seen.tolist()) + Counter([final[cell].item()])
            assert chain == Counter(made) + Counter([START]), f"{op} of cell {cell}"


def given(name, n):
    return (np.arange(n) * 7 % 23 + 1).astype(name)


def cells(array, place):
    if place == "element":
        return array
    if place == "lane":
        return array[:, 1]
    return {
        "member": lambda: array["inner"]["value"],
        "array": lambda: array["items"][:, 1],
        "deep_lane": lambda: array["lanes"][:, 2],
        "lane_at_run_time": lambda: array["lanes"][:, 1],
    }[place]()


def start(module, place, n):
    element = getattr(module, IN_BUFFERS[place][0])
    array = np.zeros(n, element.dtype) if place != "element" else np.zeros(n, element.dtype)
    cells(array, place)[...] = START
    return array, element


ORDER_OF = dict(zip(IN_BUFFERS, [*ORDERS, "relaxed"]))


@pytest.mark.parametrize("place", IN_BUFFERS)
@pytest.mark.parametrize("name", NUMBERS)
def test_atomics_in_buffers(name, place, device, tmp_path):
    """R073: each operation, its old values, at every depth of a buffer's elements."""
    order = ORDER_OF[place]
    module = load_source(tmp_path, f"b_{name}_{place}", buffer_source(name, place, order))
    n, rows = BLOCK * BLOCKS - 7, 2 * len(operations(name))
    array, element = start(module, place, rows)
    b = lc.Buffer(rows, element, device=device)
    b.upload(array)
    values = given(name, n)
    old = lc.Buffer((rows, n), module.T, device=device)
    module.run(b, lc.Buffer(values, device=device), old, dispatch_size=n)
    check(name, values, cells(b.numpy(), place), old.numpy())


@pytest.mark.parametrize("place", IN_SHARED)
@pytest.mark.parametrize("name", NUMBERS)
def test_atomics_in_shared_memory(name, place, device, tmp_path):
    order = dict(zip(IN_SHARED, [*ORDERS, "seq_cst"]))[place]
    source = shared_source(name, place, order, place in ("element", "two_axes"))
    module = load_source(tmp_path, f"s_{name}_{place}", source)
    n, rows = BLOCK * BLOCKS, 2 * len(operations(name))
    values = given(name, n)
    old = lc.Buffer((rows, n), module.T, device=device)
    final = lc.Buffer((BLOCKS, rows), module.T, device=device)
    module.run(lc.Buffer(values, device=device), old, final, dispatch_size=n)
    for block in range(BLOCKS):
        mine = slice(block * BLOCK, (block + 1) * BLOCK)
        check(name, values[mine], final.numpy()[block], old.numpy()[:, mine])


# ---- loads and stores, orders -------------------------------------------------------------------
HANDED = """
import lcpy as lc

T = lc.{name}

@lc.kernel(block_size=1)
def run(data: lc.Buffer[lc.int32], flag: lc.Buffer[T], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    if i == 0:
        data[0] = 41
        lc.atomic_store(flag[0], T(1), order="{store}")
    else:
        if lc.atomic_load(flag[0], order="{load}") == T(1):
            out[i] = data[0]
        else:
            out[i] = -1
"""


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("store, load", [("release", "acquire"), ("seq_cst", "seq_cst")])
def test_what_is_released_is_seen(name, store, load, device, tmp_path):
    text = HANDED.format(name=name, store=store, load=load)
    module = load_source(tmp_path, f"handed_{name}_{store}", text)
    n = 200
    data = lc.Buffer(1, lc.int32, device=device)
    flag = lc.Buffer(1, module.T, device=device)
    out = lc.Buffer(n, lc.int32, device=device)
    module.run(data, flag, out, dispatch_size=n)
    assert set(out.numpy()[1:].tolist()) <= {41, -1}
    assert flag.numpy()[0] == 1


STORE_BUFFERING = """
import lcpy as lc

T = lc.{name}

@lc.kernel(block_size=1)
def run(x: lc.Buffer[T], y: lc.Buffer[T], out: lc.Buffer[T]):
    i = lc.dispatch_id().x
    pair = i // 2
    if i % 2 == 0:
        lc.atomic_store(x[pair], T(1), order="seq_cst")
        out[i] = lc.atomic_load(y[pair], order="seq_cst")
    else:
        lc.atomic_store(y[pair], T(1), order="seq_cst")
        out[i] = lc.atomic_compare_exchange(x[pair], T(7), T(9), order="seq_cst")
"""


@pytest.mark.parametrize("name", NUMBERS)
def test_sequential_consistency(name, device, tmp_path):
    """Of two threads that each write and then read the other's place, one at least sees a 1."""
    text = STORE_BUFFERING.format(name=name)
    module = load_source(tmp_path, f"sequential_{name}", text)
    pairs = 500
    x, y = (lc.Buffer(pairs, module.T, device=device) for _ in range(2))
    out = lc.Buffer(2 * pairs, module.T, device=device)
    module.run(x, y, out, dispatch_size=2 * pairs)
    seen = out.numpy().reshape(pairs, 2)
    assert (seen.max(1) == 1).all()
    assert (x.numpy() == 1).all() and (y.numpy() == 1).all()


# ---- floats by their bits -----------------------------------------------------------------------
BITS = """
import lcpy as lc

T = lc.{name}

@lc.kernel(math="{math}")
def run(b: lc.Buffer[T], v: lc.Buffer[T], old: lc.Buffer[T]):
    old[0] = lc.atomic_compare_exchange(b[0], v[0], T(1))
    old[1] = lc.atomic_compare_exchange(b[1], v[1], T(1))
    old[2] = lc.atomic_compare_exchange(b[2], v[2], T(1))
    old[3] = lc.atomic_compare_exchange(b[3], T(0.0), T(1), order="seq_cst")
    old[4] = lc.atomic_min(b[4], v[4])
    old[5] = lc.atomic_max(b[5], v[5])
    old[6] = lc.atomic_min(b[6], v[6])
    old[7] = lc.atomic_max(b[7], v[7])
    old[8] = lc.atomic_min(b[8], v[8])
    old[9] = lc.atomic_load(b[9], order="seq_cst")
    old[10] = lc.atomic_max(b[10], v[10])
    old[11] = lc.atomic_min(b[11], v[11])
"""


@pytest.mark.parametrize("math", ["ieee", "strict"])
@pytest.mark.parametrize("name", ["float32", "float64"])
def test_floats_by_their_bits(name, math, device, tmp_path):
    """A compare-and-swap compares bits; -0 is below +0; a NaN loses, and stays as it is."""
    module = load_source(tmp_path, f"bits_{name}_{math}", BITS.format(name=name, math=math))
    nan, inf, tiny = np.nan, np.inf, 1.5
    held = [-0.0, 0.0, nan, -0.0, 0.0, -0.0, nan, 2.0, -0.0, nan, nan, inf]
    with_ = [0.0, 0.0, nan, 0.0, -0.0, 0.0, 3.0, nan, 0.0, 0.0, nan, tiny]
    want = [-0.0, 1.0, 1.0, -0.0, -0.0, 0.0, 3.0, 2.0, -0.0, nan, nan, tiny]
    b = lc.Buffer(np.array(held, name), device=device)
    v = lc.Buffer(np.array(with_, name), device=device)
    old = lc.Buffer(12, module.T, device=device)
    module.run(b, v, old, dispatch_size=1)

    def bits(x):
        return np.asarray(x, name).view(f"uint{np.dtype(name).itemsize * 8}").tolist()

    assert bits(old.numpy()) == bits(held)
    assert bits(b.numpy()) == bits(want)


# ---- what is not an atomic place ----------------------------------------------------------------
@pytest.mark.parametrize("name", ["int8", "uint16", "float16", "bool"])
def test_narrow_places_are_refused(name, tmp_path):
    """R021: nothing reinterprets, the error says which widths there are."""
    text = f"""
import lcpy as lc

@lc.kernel
def run(b: lc.Buffer[lc.{name}]):
    lc.atomic_exchange(b[0], lc.{name}(1))
"""
    module = load_source(tmp_path, f"narrow_{name}", text)
    with pytest.raises(lc.CompileError, match="works on 32- and 64-bit integers and floats"):
        module.run.compile(lc.Buffer[getattr(lc, name)], target="opencl")


@lc.kernel
def literal_operands(a: lc.Buffer[lc.float32], b: lc.Buffer[lc.uint64]):
    lc.atomic_max(a[0], 42)
    lc.atomic_add(b[0], 3)
    lc.atomic_exchange(a[1], True + 1)


def test_a_literal_takes_the_places_type(device):
    a, b = lc.Buffer(2, lc.float32, device=device), lc.Buffer(1, lc.uint64, device=device)
    literal_operands(a, b, dispatch_size=1)
    assert a.numpy().tolist() == [42.0, 2.0] and b.numpy().tolist() == [3]
