"""Reports at run time: what print writes and when, traps of several launches, devices, threads."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import lcpy as lc


@lc.struct
class Ray:
    origin: lc.float3
    tags: lc.Array[lc.uint8, 2]
    t: lc.float32 = 0.5


def printed(device, capsys, launch):
    """What a launch prints, with its lines in the documented order."""
    capsys.readouterr()
    launch()
    device.synchronize()
    return capsys.readouterr().out


# ---- formats -------------------------------------------------------------------------------------
@lc.kernel
def prints_numbers(a: lc.Buffer[lc.int32], f: lc.Buffer[lc.float32]):
    print("numbers", a[0], lc.uint32(a[0]), lc.int8(a[0]), lc.uint16(a[0]), a[0] < 0, 7, 2.5)
    print(f[0], f[1], f[2], f[3], f[4], sep="|", end="$\n")
    print(f"{a[1]:5d}|{a[1]:<5}|{a[1]:#x}|{a[0]:+}|{f[0]:.3f}|{f[1]:e}|{f[0]!r}|{True}|{1 + 1}")
    print()


def test_numbers(device, capsys):
    a = lc.Buffer(np.array([-5, 42], np.int32), device=device)
    f = lc.Buffer(np.array([0.1, 1e10, np.nan, -np.inf, -0.0], np.float32), device=device)
    text = printed(device, capsys, lambda: prints_numbers(a, f, dispatch_size=1))
    assert text.splitlines() == [
        "numbers -5 4294967291 -5 65531 True 7 2.5",
        "0.1|1e+10|nan|-inf|-0.0$",
        f"   42|42   |0x2a|-5|0.100|{float(np.float32(1e10)):e}|0.1|True|2",
        "",
    ]


@lc.kernel
def prints_halves(f: lc.Buffer[lc.float32]):
    print(lc.half(f[0]), lc.half(f[2]), lc.half(f[4]), f"{lc.half(f[0]):.2f}", lc.half2(f[0]))


def test_halves(device, capsys):
    if not device.features["float16"]:
        pytest.skip("no float16")
    f = lc.Buffer(np.array([0.1, 1e10, np.nan, -np.inf, -0.0], np.float32), device=device)
    text = printed(device, capsys, lambda: prints_halves(f, dispatch_size=1))
    assert text == "0.1 nan -0.0 0.10 (0.1, 0.1)\n"


@lc.kernel
def prints_storage(b: lc.Buffer[lc.bfloat16], e: lc.Buffer[lc.float8_e4m3]):
    v = b[0]
    print(v, f"{b[1]:.3f}", b[2], e[0], f"{e[1]:+}")


def test_storage_types(device, capsys):
    b = lc.Buffer(3, lc.bfloat16, device=device)
    b.upload(lc.bfloat16.encode(np.float32([1.5, -0.25, np.inf])))
    e = lc.Buffer(2, lc.float8_e4m3, device=device)
    e.upload(lc.float8_e4m3.encode(np.float32([-448, 0.5])))
    text = printed(device, capsys, lambda: prints_storage(b, e, dispatch_size=1))
    assert text == "1.5 -0.250 inf -448.0 +0.5\n"


@lc.kernel
def prints_wide(a: lc.Buffer[lc.int64], d: lc.Buffer[lc.float64]):
    print(a[0], lc.uint64(a[0]), a[1], d[0], f"{d[0]:.3f}", d[1])


def test_wide_numbers(device, capsys):
    if not device.features["float64"]:
        pytest.skip("no float64")
    a = lc.Buffer(np.array([-(2**63), 2**40 + 1], np.int64), device=device)
    d = lc.Buffer(np.array([0.1, -1e300]), device=device)
    text = printed(device, capsys, lambda: prints_wide(a, d, dispatch_size=1))
    assert text == f"{-(2**63)} {2**63} {2**40 + 1} 0.1 0.100 -1e+300\n"


@lc.kernel
def prints_parts(a: lc.Buffer[lc.int32], f: lc.Buffer[lc.float32]):
    v = lc.float3(f[0], f[1], 2.0)
    m = lc.float2x2.from_rows(lc.float2(1.0, 2.0), lc.float2(3.0, f[0]))
    r = Ray(v, lc.array(lc.uint8(1), lc.uint8(a[0])))
    print(v, lc.bool2(a[0] < 0, a[0] > 0), m)
    print(f"{v:.2f} {lc.array(a[0], a[1])}", (a[0], "text", v.x))
    print(r)
    print(f"{r.tags:02x}")


def test_vectors_matrices_structs_arrays(device, capsys):
    a = lc.Buffer(np.array([-5, 42], np.int32), device=device)
    f = lc.Buffer(np.array([0.5, 1.25], np.float32), device=device)
    text = printed(device, capsys, lambda: prints_parts(a, f, dispatch_size=1))
    assert text.splitlines() == [
        "(0.5, 1.25, 2.0) (True, False) ((1.0, 2.0), (3.0, 0.5))",
        "(0.50, 1.25, 2.00) [-5, 42] (-5, text, 0.5)",
        "Ray(origin=(0.5, 1.25, 2.0), tags=[1, 251], t=0.5)",
        "[01, fb]",
    ]


# ---- order ---------------------------------------------------------------------------------------
@lc.callable
def tell(x: lc.uint32):
    print("even" if lc.static(False) else "odd", x)


@lc.kernel
def prints_flow(n: lc.uint32):
    i = lc.dispatch_id().x
    for k in range(n):
        if (i + k) % 2 == 0:
            print(i, k)
        else:
            tell(i)
    for k in lc.static(range(2)):
        print("copy", k, i)


def test_lines_go_by_thread_and_then_in_order(device, capsys):
    lc.init(device)
    text = printed(device, capsys, lambda: prints_flow(3, dispatch_size=70))
    wanted = []
    for i in range(70):
        wanted += [f"{i} {k}" if (i + k) % 2 == 0 else f"odd {i}" for k in range(3)]
        wanted += [f"copy 0 {i}", f"copy 1 {i}"]
    assert text.splitlines() == wanted


@lc.kernel
def prints_conditionally(a: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    a[i] > 2 and print("big", i)
    print("odd", i) if a[i] % 2 == 1 else print("even", i)


def test_print_within_an_expression(device, capsys):
    a = lc.Buffer(np.array([1, 4], np.int32), device=device)
    text = printed(device, capsys, lambda: prints_conditionally(a, dispatch_size=2))
    assert text.splitlines() == ["odd 0", "big 1", "even 1"]


@lc.kernel
def prints_launch(n: lc.int32):
    print("launch", n)


def test_launches_in_their_order(device, capsys):
    lc.init(device)

    def launch():
        for n in range(300):
            prints_launch(n, dispatch_size=1)

    text = printed(device, capsys, launch)
    assert text.splitlines() == [f"launch {n}" for n in range(300)]


@lc.kernel
def prints_and_writes(out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    out[i] = 1
    print("thread", i)


def test_a_download_writes_what_was_printed(device, capsys):
    out = lc.Buffer(3, lc.int32, device=device)
    capsys.readouterr()
    prints_and_writes(out, dispatch_size=3)
    assert out.numpy().tolist() == [1, 1, 1]
    assert capsys.readouterr().out == "thread 0\nthread 1\nthread 2\n"
    out.numpy()
    device.synchronize()
    assert capsys.readouterr().out == ""


@lc.kernel(block_size=32)
def prints_with_barriers(out: lc.Buffer[lc.int32]):
    s = lc.shared(lc.int32, 32)
    t = lc.thread_id().x
    s[t] = lc.int32(t)
    lc.sync_block()
    print(lc.dispatch_id().x, s[31 - t])


def test_threads_past_the_end_print_nothing(device, capsys):
    out = lc.Buffer(1, lc.int32, device=device)
    text = printed(device, capsys, lambda: prints_with_barriers(out, dispatch_size=40))
    assert text.splitlines() == [f"{i} {31 - i % 32}" for i in range(40)]


# ---- room ----------------------------------------------------------------------------------------
@lc.kernel
def prints_much(out: lc.Buffer[lc.uint32]):
    i = lc.dispatch_id().x
    print("line", i)
    lc.atomic_add(out[0], 1)


def test_what_finds_no_room_is_counted(device, capsys):
    n = 1_000_000
    lc.init(device)
    out = lc.Buffer(1, lc.uint32, device=device)
    text = printed(device, capsys, lambda: prints_much(out, dispatch_size=n))
    *lines, last = text.splitlines()
    room = (4 << 20) // 4 // 6
    assert len(lines) == room and last.startswith(f"lcpy: {n - room} printed lines found no room")
    numbers = [int(line.removeprefix("line ")) for line in lines]
    assert numbers == sorted(set(numbers)) and numbers[-1] < n
    assert out.numpy()[0] == n
    assert printed(device, capsys, lambda: prints_launch(5, dispatch_size=1)) == "launch 5\n"


def test_the_room_is_set_by_the_environment(capsys, monkeypatch):
    device = lc.Device("cpu")
    monkeypatch.setenv("LCPY_PRINT_BYTES", str(64 << 20))
    device.reports.idle[True].clear()
    out = lc.Buffer(1, lc.uint32, device=device)
    text = printed(device, capsys, lambda: prints_much(out, dispatch_size=1_000_000))
    device.reports.idle[True].clear()
    assert text.count("\n") == 1_000_000 and text.endswith("line 999999\n")


# ---- traps of several launches -------------------------------------------------------------------
@lc.kernel
def fails_first(out: lc.Buffer[lc.int32]):
    out[0] += 1
    assert out[0] == 0, "first"


@lc.kernel
def fails_second(out: lc.Buffer[lc.int32]):
    out[1] += 1
    print("before")
    lc.trap(9)
    print("after")


def asynchronous(device):
    if device.kind == "cpu":
        pytest.skip("launches end before they return")


def test_the_first_of_several_traps(device, capsys):
    asynchronous(device)
    out = lc.Buffer(2, lc.int32, device=device)
    capsys.readouterr()
    fails_second(out, dispatch_size=1)
    fails_first(out, dispatch_size=1)
    fails_second(out, dispatch_size=1)
    with pytest.raises(lc.KernelTrap) as caught:
        out.numpy()
    assert caught.value.code == 9 and caught.value.launches == 3
    assert "2 more launches trapped" in str(caught.value)
    assert capsys.readouterr().out == "before\nbefore\n"
    assert out.numpy().tolist() == [1, 2]
    device.synchronize()


def test_cpu_raises_at_the_launch(capsys):
    out = lc.Buffer(2, lc.int32, device="cpu")
    for _ in range(2):
        with pytest.raises(lc.KernelTrap) as caught:
            fails_second(out, dispatch_size=1)
        mine, *others = [f.name for f in caught.traceback]
        assert mine == "test_cpu_raises_at_the_launch" and len(others) <= 1  # Cython's __call__
    assert capsys.readouterr().out == "before\nbefore\n"
    assert out.numpy().tolist() == [0, 2]


def test_one_device_does_not_lose_the_reports_of_another(capsys):
    opened = [lc.Device(i.name) for i in lc.devices() if i.kind in ("opencl", "vulkan")]
    if len(opened) < 2:
        pytest.skip("two devices other than cpu")
    buffers = [lc.Buffer(2, lc.int32, device=d) for d in opened]
    capsys.readouterr()
    for b in buffers:
        fails_second(b, dispatch_size=1)
    for _ in opened:
        with pytest.raises(lc.KernelTrap):
            lc.synchronize()
    lc.synchronize()
    assert capsys.readouterr().out == "before\n" * len(opened)


def test_a_trap_travels(device):
    import pickle

    out = lc.Buffer(2, lc.int32, device=device)
    out.fill(1)
    with pytest.raises(lc.KernelTrap) as caught:
        fails_first(out, dispatch_size=1)
        lc.synchronize(device)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.message == "first"
    assert isinstance(again, lc.KernelTrap) and again.thread == (0, 0, 0)


@lc.kernel
def fails_at(out: lc.Buffer[lc.int32], n: lc.int32):
    i = lc.int32(lc.dispatch_id().x)
    if i == n % 64:
        lc.trap(n)
    out[i] = n


def test_threads_of_the_host(device):
    """Each thread of the host launches and waits; on cpu each gets its own trap."""
    wrong, caught = [], []

    def work(n):
        out = lc.Buffer(64, lc.int32, device=device)
        for k in range(20):
            try:
                fails_at(out, 1000 * n + k, dispatch_size=64)
                device.synchronize()
            except lc.KernelTrap as trap:
                caught.append(trap.code)
                if device.kind == "cpu" and trap.code != 1000 * n + k:
                    wrong.append((n, k, trap.code))
                if trap.thread != (trap.code % 64, 0, 0):
                    wrong.append((n, k, trap.thread))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    try:
        device.synchronize()
    except lc.KernelTrap as trap:
        caught.append(trap.code)
    assert not wrong and caught
    if device.kind == "cpu":
        assert sorted(caught) == sorted(1000 * n + k for n in range(4) for k in range(20))


AT_EXIT = """
import lcpy as lc
import lcpy_test_at_exit_kernels as kernels

out = lc.Buffer(1, lc.int32, device={device!r})
kernels.speaks(out, dispatch_size=2)
"""
KERNELS = """
import lcpy as lc

@lc.kernel
def speaks(out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    print("hello from", i)
    assert i == 0, "at the end"
"""


def test_the_end_of_the_process_tells(device, tmp_path):
    asynchronous(device)
    (tmp_path / "lcpy_test_at_exit_kernels.py").write_text(KERNELS)
    path = os.pathsep.join([str(tmp_path), os.path.dirname(os.path.dirname(lc.__file__))])
    environment = dict(os.environ, PYTHONPATH=path)
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT.format(device=device.name)],
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout == "hello from 0\nhello from 1\n", done.stderr
    assert "at the end" in done.stderr and "speaks" in done.stderr


def test_a_plain_launch_has_no_report(device):
    @lc.kernel
    def plain(out: lc.Buffer[lc.int32]):
        out[lc.dispatch_id().x] = 1

    out = lc.Buffer(8, lc.int32, device=device)
    plain(out, dispatch_size=8)
    assert not device.reports.pending
    artifact = plain.compile(lc.Buffer[lc.int32])
    assert len(artifact.plan.accesses) == 1


def test_the_plan_shows_the_report():
    artifact = prints_and_writes.compile(lc.Buffer[lc.int32])
    assert artifact.plan.accesses == ("write", "read_write")
    slots = artifact.descriptor.slots
    assert slots[artifact.descriptor.report_tag + 1][:3] == (
        "report", artifact.descriptor.slots[-1][1], "global",
    )  # fmt: skip
    assert "site 0 print" in artifact.descriptor.text()
    from lcpy._native import core

    again = core.parse_descriptor(artifact.descriptor.text())
    assert again.text() == artifact.descriptor.text() and again.hash == artifact.descriptor.hash
    assert [s[:3] for s in again.sites] == [s[:3] for s in artifact.descriptor.sites]
