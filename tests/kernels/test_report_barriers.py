"""Traps in kernels with barriers: every thread reaches every barrier, nothing hangs, a block that
a thread trapped in does nothing from its next barrier on, and the other blocks finish (R033)."""

import numpy as np
import pytest
from loading import load_source
from trapping import runs_clean, trap_of

import lcpy as lc

KERNELS = """
import lcpy as lc

BLOCK = 16

@lc.kernel(block_size=BLOCK, opt={opt})
def stages(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32], seen: lc.Buffer[lc.int32]):
    s = lc.shared(lc.int32, BLOCK)
    t = lc.thread_id().x
    i = lc.dispatch_id().x
    s[t] = a[i]
    lc.sync_block()
    seen[i] = 1
    assert s[t] >= 0, "stage one"
    seen[i] = 2
    lc.sync_block()
    seen[i] = 3
    out[i] = s[BLOCK - 1 - t]

@lc.kernel(block_size=BLOCK, opt={opt})
def reduces(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32], limit: lc.int32):
    s = lc.shared(lc.int32, BLOCK)
    t = lc.thread_id().x
    s[t] = a[lc.dispatch_id().x]
    half = lc.uint32(BLOCK // 2)
    while half > 0:
        lc.sync_block()
        if t < half:
            s[t] += s[t + half]
            assert s[t] < limit, "too much"
        half //= 2
    lc.sync_block()
    if t == 0:
        out[lc.block_id().x] = s[0]

@lc.kernel(block_size=BLOCK, opt={opt})
def waits_for_one(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    '''All threads loop until thread 0 says so; thread 0 may trap and never say it.'''
    done = lc.shared(lc.int32, 1)
    t = lc.thread_id().x
    rounds = 0
    if t == 0:
        done[0] = 0
    lc.sync_block()
    while done[0] == 0:
        rounds += 1
        lc.sync_block()
        if t == 0:
            assert a[lc.block_id().x] != 5, "five"
            if rounds > a[lc.block_id().x]:
                done[0] = 1
        lc.sync_block()
    out[lc.dispatch_id().x] = rounds

@lc.kernel(block_size=BLOCK, opt={opt})
def spins(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    '''Without the assert the inner loop would never end.'''
    s = lc.shared(lc.int32, BLOCK)
    t = lc.thread_id().x
    i = lc.dispatch_id().x
    s[t] = 0
    lc.sync_block()
    x = 0
    while x < 100:
        assert a[i] > 0, "no progress"
        x += a[i]
    s[t] = x
    lc.sync_block()
    out[i] = s[BLOCK - 1 - t]

@lc.kernel(block_size=BLOCK, opt={opt})
def decides(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    '''Whether there is a barrier depends on what a loop found, equal in all threads but for one
    that traps.'''
    s = lc.shared(lc.int32, BLOCK)
    t = lc.thread_id().x
    i = lc.dispatch_id().x
    s[t] = 7
    found = 0
    for k in range(4):
        assert a[i] != k, "met k"
        found += 1
    if found == 4:
        lc.sync_block()
        s[(t + 1) % BLOCK] += 1
        lc.sync_block()
    if found != 4:
        return
    lc.sync_block()
    out[i] = s[t]

@lc.callable
def halves(s: lc.Ref[lc.Array[lc.int32, BLOCK]], t: lc.uint32, n: lc.int32):
    '''A callable with barriers, a trap and an early return.'''
    for k in range(n):
        lc.sync_block()
        assert s[t] % 2 == 0, "odd"
        s[t] //= 2
    if n > 2:
        return
    lc.sync_block()
    s[t] += 100

@lc.kernel(block_size=BLOCK, opt={opt})
def calls(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32], n: lc.int32):
    s = lc.shared(lc.int32, BLOCK)
    t = lc.thread_id().x
    i = lc.dispatch_id().x
    s[t] = a[i]
    halves(s, t, n)
    lc.sync_block()
    halves(s, t, 1)
    lc.sync_block()
    out[i] = s[BLOCK - 1 - t]

@lc.kernel(block_size=BLOCK, opt={opt})
def returns_early(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    '''A return that all threads of a block take together, behind an assert in a loop.'''
    s = lc.shared(lc.int32, BLOCK)
    t = lc.thread_id().x
    b = lc.block_id().x
    for k in range(3):
        assert a[lc.dispatch_id().x] >= 0, "negative"
        if b == 1 and k == 1:
            return
    s[t] = lc.int32(t)
    lc.sync_block()
    out[lc.dispatch_id().x] = s[BLOCK - 1 - t] + 1

@lc.kernel(block_size=BLOCK, opt={opt}, bounds="trap")
def tiles(a: lc.Buffer[lc.float32, 2], x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32],
          n: lc.int32):
    '''out = a @ x, by tiles of x.'''
    tile = lc.shared(lc.float32, BLOCK)
    t = lc.int32(lc.thread_id().x)
    i = lc.int32(lc.dispatch_id().x)
    total = 0.0
    for start in range(0, n, BLOCK):
        tile[t] = x[start + t]
        lc.sync_block()
        for k in range(BLOCK):
            total += a[i, start + k] * tile[k]
        lc.sync_block()
    out[i] = total
"""
BLOCK = 16


@pytest.fixture(params=[0, 1], scope="module")
def made(request, tmp_path_factory):
    text = KERNELS.format(opt=request.param)
    return load_source(tmp_path_factory.mktemp("barriers"), f"barriers_{request.param}", text)


def buffers(device, *arrays):
    return [lc.Buffer(np.asarray(a), device=device) for a in arrays]


@pytest.mark.parametrize("n", [48, 41])
def test_a_block_stops_at_its_next_barrier(device, made, n):
    values = np.arange(n, dtype=np.int32)
    a, out, seen = buffers(device, values, np.full(n, -5, np.int32), np.zeros(n, np.int32))
    runs_clean(device, lambda: made.stages(a, out, seen, dispatch_size=n))
    whole = np.zeros(48, np.int32)
    whole[:n] = values
    wanted = whole.reshape(3, BLOCK)[:, ::-1].reshape(-1)[:n]
    assert (out.numpy() == wanted).all() and (seen.numpy() == 3).all()
    values[20] = -1
    a.upload(values)
    out.fill(-5)
    seen.fill(0)
    trap = trap_of(device, lambda: made.stages(a, out, seen, dispatch_size=n))
    assert trap.thread == (20, 0, 0) and trap.message == "stage one"
    wanted[16:32] = -5
    assert (out.numpy() == wanted).all()
    steps = np.full(n, 3)
    steps[16:32] = 2
    steps[20] = 1
    assert (seen.numpy() == steps).all()


def test_within_a_loop_with_barriers(device, made):
    values = np.ones(64, np.int32)
    values[17] = 50
    a, out = buffers(device, values, np.full(4, -5, np.int32))
    runs_clean(device, lambda: made.reduces(a, out, 1000, dispatch_size=64))
    assert out.numpy().tolist() == [16, 65, 16, 16]
    out.fill(-5)
    trap = trap_of(device, lambda: made.reduces(a, out, 50, dispatch_size=64))
    assert trap.thread == (17, 0, 0) and trap.message == "too much"
    assert out.numpy().tolist() == [16, -5, 16, 16]


def test_threads_that_wait_for_the_one_that_trapped(device, made):
    a, out = buffers(device, np.array([2, 5, 0], np.int32), np.full(48, -5, np.int32))
    trap = trap_of(device, lambda: made.waits_for_one(a, out, dispatch_size=48))
    assert trap.message == "five" and trap.thread == (16, 0, 0)
    assert out.numpy().reshape(3, 16).tolist() == [[3] * 16, [-5] * 16, [1] * 16]


def test_a_loop_without_barriers_ends(device, made):
    values = np.full(32, 50, np.int32)
    values[3] = 0
    a, out = buffers(device, values, np.full(32, -5, np.int32))
    trap = trap_of(device, lambda: made.spins(a, out, dispatch_size=32))
    assert trap.message == "no progress" and trap.thread == (3, 0, 0)
    assert out.numpy().tolist() == [-5] * 16 + [100] * 16


@pytest.mark.parametrize("bad", [None, 0, 3])
def test_barriers_that_depend_on_what_was_computed(device, made, bad):
    values = np.full(32, 9, np.int32)
    if bad is not None:
        values[5] = bad
    a, out = buffers(device, values, np.full(32, -5, np.int32))
    if bad is None:
        runs_clean(device, lambda: made.decides(a, out, dispatch_size=32))
        assert out.numpy().tolist() == [8] * 32
    else:
        trap = trap_of(device, lambda: made.decides(a, out, dispatch_size=32))
        assert trap.message == "met k" and trap.thread == (5, 0, 0)
        assert out.numpy().tolist() == [-5] * 16 + [8] * 16


def halved(values, n):
    v = values // 2**n
    v = v if n > 2 else v + 100
    v = v // 2 + 100
    return v.reshape(-1, BLOCK)[:, ::-1].reshape(-1)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_callables_with_barriers(device, made, n):
    values = (np.arange(32) * 16).astype(np.int32)
    a, out = buffers(device, values, np.full(32, -5, np.int32))
    runs_clean(device, lambda: made.calls(a, out, n, dispatch_size=32))
    assert (out.numpy() == halved(values, n)).all()
    values[30] = 2
    a.upload(values)
    out.fill(-5)
    launch = lambda: made.calls(a, out, n, dispatch_size=32)  # noqa: E731
    if n == 1:  # 2 / 2 + 100 is odd
        trap = trap_of(device, launch)
    else:
        trap = trap_of(device, launch)
    assert trap.message == "odd" and trap.thread == (30, 0, 0)
    wanted = halved(values, n)
    wanted[16:] = -5
    assert (out.numpy() == wanted).all()


def test_a_return_that_a_whole_block_takes(device, made):
    values = np.ones(48, np.int32)
    a, out = buffers(device, values, np.full(48, -5, np.int32))
    runs_clean(device, lambda: made.returns_early(a, out, dispatch_size=48))
    wanted = np.tile(np.arange(16, 0, -1), 3).astype(np.int32)
    wanted[16:32] = -5
    assert (out.numpy() == wanted).all()
    for bad in (2, 18, 40):
        values[:] = 1
        values[bad] = -1
        a.upload(values)
        out.fill(-5)
        trap = trap_of(device, lambda: made.returns_early(a, out, dispatch_size=48))
        assert trap.thread == (bad, 0, 0)
        again = wanted.copy()
        again[bad // 16 * 16 : bad // 16 * 16 + 16] = -5
        assert (out.numpy() == again).all()


@pytest.mark.parametrize("rows", [32, 48])
def test_tiles_with_checked_accesses(device, made, rows):
    rng = np.random.default_rng(5)
    m, v = rng.integers(0, 9, (rows, 64)), rng.integers(0, 9, 64)
    a, x = buffers(device, m.astype(np.float32), v.astype(np.float32))
    out = lc.Buffer(rows, lc.float32, device=device)
    out.fill(-5)
    runs_clean(device, lambda: made.tiles(a, x, out, 64, dispatch_size=rows))
    assert (out.numpy() == m @ v).all()
    out.fill(-5)
    trap = trap_of(device, lambda: made.tiles(a, x, out, 80, dispatch_size=rows))
    assert trap.kind == "bounds" and trap.buffer == "x" and trap.index in range(64, 80)
    assert trap.size == 64 and (out.numpy() == -5).all()
