"""lcpy/language.md, section "Kernels", of dispatches: a test for each rule, of the rule's name."""

import numpy as np
import pytest
from loading import load_source

import lcpy as lc
from language.harness import run


def test_dispatch_forms(device):
    @lc.kernel(block_size=(4, 2))
    def k(out: lc.Buffer[lc.int32]):
        p, n = lc.dispatch_id(), lc.dispatch_size()
        out[(p.z * n.y + p.y) * n.x + p.x] = lc.int(p.x + 10 * p.y + 100 * p.z)

    assert run(k, device, n=3, dispatch_size=3).tolist() == [0, 1, 2]
    assert run(k, device, n=3, dispatch_size=(3,)).tolist() == [0, 1, 2]
    assert run(k, device, n=4, dispatch_size=(2, 2)).tolist() == [0, 1, 10, 11]
    got = run(k, device, n=12, dispatch_size=(2, 2, 3))
    assert got.tolist() == [
        x + 10 * y + 100 * z for z in range(3) for y in range(2) for x in range(2)
    ]

    @lc.kernel(block_size=64)
    def one(out: lc.Buffer[lc.int32]):
        out[0] = lc.int(lc.block_size().x)

    assert run(one, device)[0] == 64
    for wrong in [(1, 2, 3, 4), (), -1, "3", 2.5]:
        with pytest.raises(lc.ArgumentError):
            run(k, device, dispatch_size=wrong)


def test_any_dispatch(device):
    @lc.kernel(block_size=(8, 4, 1))
    def k(out: lc.Buffer[lc.int32]):
        p, n = lc.dispatch_id(), lc.dispatch_size()
        lc.atomic_add(out[p.y * n.x + p.x], 1)

    for w, h in [(1, 1), (7, 5), (8, 4), (9, 4), (8, 5), (65, 3)]:
        assert run(k, device, n=w * h, dispatch_size=(w, h)).tolist() == [1] * (w * h)


def test_empty_dispatch(device):
    @lc.kernel
    def k(out: lc.Buffer[lc.int32]):
        out[0] = 1

    for size in [0, (0,), (3, 0), (0, 0, 0), (1, 1, 0)]:
        assert run(k, device, dispatch_size=size)[0] == 0


def test_folded_dispatch(device):
    @lc.kernel(block_size=1)
    def k(out: lc.Buffer[lc.uint32]):
        i = lc.dispatch_id().x
        out[i] = i + lc.block_id().x

    n = 65536 * 3 + 1
    got = run(k, device, n=n, R=lc.uint32, dispatch_size=n)
    assert (got == 2 * np.arange(n, dtype=np.uint32)).all()

    @lc.kernel(block_size=(1, 1))
    def tall(out: lc.Buffer[lc.uint32]):
        out[lc.dispatch_id().y] = lc.dispatch_id().y

    n = 65536 + 3
    got = run(tall, device, n=n, R=lc.uint32, dispatch_size=(1, n))
    assert (got == np.arange(n)).all()


def test_no_idle_threads(device):
    @lc.kernel(block_size=64)
    def k(out: lc.Buffer[lc.int32]):
        lc.atomic_add(out[0], 1)
        lc.atomic_max(out[1], lc.int(lc.dispatch_id().x))

    assert run(k, device, n=2, dispatch_size=70).tolist() == [70, 69]


def test_idle_threads(device):
    @lc.kernel(block_size=64)
    def k(a: lc.Buffer[lc.int32], seen: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        s = lc.shared(lc.int32, 64)
        t = lc.thread_id().x
        past = lc.dispatch_id().x >= lc.dispatch_size().x
        s[t] = a[0] + (100 if past else 0) + lc.atomic_add(seen[0], 1) * 0
        lc.sync_block()
        if t == 0:
            total = 0
            for i in range(64):
                total += s[i]
            out[0] = total
        if past:
            out[1] = 1

    seen = lc.Buffer(1, lc.int32, device=device)
    # Ten threads read 7; the other 54 read 0 and add 100.
    assert run(k, device, np.int32([7]), seen, n=2, dispatch_size=10).tolist() == [70 + 5400, 0]
    assert seen.numpy()[0] == 10


def test_ragged_blocks(device):
    @lc.kernel(block_size=256)
    def k(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
        s = lc.shared(lc.int32, 256)
        t = lc.thread_id().x
        s[t] = a[lc.dispatch_id().x]
        lc.sync_block()
        half = lc.uint(128)
        while half > 0:
            if t < half:
                s[t] += s[t + half]
            lc.sync_block()
            half //= 2
        if t == 0:
            lc.atomic_add(out[0], s[0])

    for n in (1, 255, 256, 257, 1000):
        a = np.arange(1, n + 1, dtype=np.int32)
        assert run(k, device, a, dispatch_size=n)[0] == a.sum()


def test_compare_exchange_ends(device):
    @lc.kernel(block_size=64)
    def k(out: lc.Buffer[lc.int32]):
        s = lc.shared(lc.int32, 1)
        s[0] = 0
        lc.sync_block()
        old = lc.atomic_load(out[0])
        while True:
            seen = lc.atomic_compare_exchange(out[0], old, old + 1)
            if seen == old:
                break
            old = seen
        lc.sync_block()

    assert run(k, device, dispatch_size=70)[0] == 70


def test_bare_decorator(device):
    @lc.kernel
    def k(out: lc.Buffer[lc.uint32]):
        size = lc.block_size()
        out[0], out[1], out[2] = size.x, size.y, size.z

    assert run(k, device, n=3, R=lc.uint32, dispatch_size=5).tolist() == [256, 1, 1]
    assert run(k, device, n=3, R=lc.uint32, dispatch_size=(5, 5)).tolist() == [16, 16, 1]
    assert run(k, device, n=3, R=lc.uint32, dispatch_size=(5, 5, 5)).tolist() == [8, 8, 4]


def test_unoptimised(device):
    def body(a: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
        i = lc.dispatch_id().x
        x = a[i] * 1.0 + 0.0
        for k in range(3):
            x = x * 1.5 - a[(i + lc.uint(k)) % len(a)] / 3.0
            if x > 10.0:
                break
        out[i] = x

    a = np.linspace(-7, 9, 50).astype(np.float32)
    both = [
        run(lc.kernel(body, opt=o, math="strict"), device, a, n=50, R=lc.float32, dispatch_size=50)
        for o in (0, 1)
    ]
    assert both[0].tobytes() == both[1].tobytes()


def test_checked_each_time(device, tmp_path):
    text = "import lcpy as lc\n\n\n@lc.kernel\ndef k(out: lc.Buffer[lc.int32]):\n    out[0] = 1.5\n"
    k = load_source(tmp_path, "judged", text).k
    messages = []
    for _ in range(2):
        with pytest.raises(lc.CompileError) as caught:
            run(k, device)
        messages.append(str(caught.value))
        with pytest.raises(lc.CompileError) as caught:
            k.compile(lc.Buffer[lc.int32], target="opencl")
        messages.append(str(caught.value))
    assert len(set(messages)) == 1
