"""The disk cache: R074, R078 and R079 of compiled kernels, threads and processes, faults."""

import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import lcpy as lc
from lcpy.run import cache

KEY = cache.key_of("test", "source")


def entry(folder):
    """The one file of an entry."""
    found = [os.path.join(f, n) for f, _, names in os.walk(folder) for n in names]
    assert len(found) == 1, found
    return found[0]


def test_keys_tell_parts_apart():
    assert cache.key_of("a", "bc") != cache.key_of("ab", "c") != cache.key_of("abc")
    assert cache.key_of("a", b"b") == cache.key_of("a", "b")
    assert cache.key_of("ä") == cache.key_of("ä".encode())


def test_an_entry_is_built_once_and_found_again(tmp_path):
    built = []

    def build():
        built.append(1)
        return b"cubin\0data"

    for _ in range(3):
        assert cache.Cache(str(tmp_path)).fetch(KEY, build) == b"cubin\0data"
    assert built == [1]
    assert cache.Cache(str(tmp_path)).get(cache.key_of("other")) is None


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign", "folder", "other entry"])
def test_a_broken_entry_is_built_anew(tmp_path, damage):
    kept = cache.Cache(str(tmp_path))
    kept.put(KEY, bytes(range(256)) * 40)
    path = entry(tmp_path)
    data = open(path, "rb").read()
    other = cache.key_of("other")
    kept.put(other, b"other")
    other_path = next(p for p in _files(tmp_path) if p != path)
    if damage == "folder":
        os.unlink(path)
        os.mkdir(path)
    else:
        changed = {
            "cut": data[:-1],
            "flipped": data[:5000] + bytes([data[5000] ^ 4]) + data[5001:],
            "empty": b"",
            "foreign": b"\x7fELF" + data,
            "other entry": open(other_path, "rb").read(),  # whole, under the wrong name
        }[damage]
        with open(path, "wb") as file:
            file.write(changed)
    assert kept.get(KEY) is None
    assert kept.fetch(KEY, lambda: b"new") == b"new"
    if damage != "folder":  # there it cannot be kept, and that is all
        assert kept.get(KEY) == b"new"
    assert kept.get(other) == b"other"


def _files(folder):
    return [os.path.join(f, n) for f, _, names in os.walk(folder) for n in names]


def test_a_failed_build_keeps_nothing(tmp_path):
    kept = cache.Cache(str(tmp_path))

    def fails():
        raise lc.DeviceError("no")

    for _ in range(2):
        with pytest.raises(lc.DeviceError, match="no"):
            kept.fetch(KEY, fails)
    assert not _files(tmp_path) and not kept._building
    assert kept.fetch(KEY, lambda: b"yes") == b"yes"


def test_threads_build_one_entry_once(tmp_path):
    kept, built, got = cache.Cache(str(tmp_path)), [], []
    start = threading.Barrier(8)

    def build(key):
        built.append(key)
        time.sleep(0.05)
        return key.encode() * 1000

    def work(offset):
        start.wait()
        for i in range(5):
            key = cache.key_of(str((i + offset) % 5))
            got.append(kept.fetch(key, lambda: build(key)) == key.encode() * 1000)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert all(got) and len(got) == 40
    assert sorted(built) == sorted(set(built)) and len(built) == 5


PROCESS = """
import sys, time
sys.path[:0] = {path!r}
from lcpy.run import cache
kept = cache.Cache({folder!r})
built = 0
for i in range(40):
    key = cache.key_of(str((i * 7 + int(sys.argv[1])) % 20))
    def build():
        global built
        built += 1
        return (key * 3000).encode()
    assert kept.fetch(key, build) == (key * 3000).encode()
    if sys.argv[2] == "forever":
        kept.put(key, build())
        print("going", flush=True) if i == 3 else None
while sys.argv[2] == "forever":
    for i in range(20):
        key = cache.key_of(str(i))
        kept.put(key, (key * 3000).encode())
print(built)
"""


def test_processes_share_a_folder_and_may_be_killed(tmp_path):
    """R079: no entry is ever seen half written."""
    code = PROCESS.format(path=sys.path, folder=str(tmp_path))

    def start(*arguments):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    victim = start(0, "forever")
    assert victim.stdout.readline() == "going\n"
    others = [start(i, "once") for i in range(8)]
    time.sleep(0.2)
    victim.send_signal(signal.SIGKILL)
    for process in others:
        out, error = process.communicate(timeout=60)
        assert process.returncode == 0, error
        assert int(out) <= 20
    victim.communicate()
    kept = cache.Cache(str(tmp_path))
    for i in range(20):
        key = cache.key_of(str(i))
        assert kept.get(key) == (key * 3000).encode()


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_folder_that_cannot_be_used_is_done_without(tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(stat.S_IRUSR | stat.S_IXUSR)
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    for folder in (str(locked / "below"), str(blocked), "/proc/nothing", None):
        kept = cache.Cache(folder)
        assert kept.fetch(KEY, lambda: b"made") == b"made"
    locked.chmod(stat.S_IRWXU)


def test_where_the_folder_is(monkeypatch, tmp_path):
    monkeypatch.delenv("LCPY_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache.default_folder() == os.path.join("/x", "lcpy", "compiled")
    monkeypatch.setenv("LCPY_CACHE_DIR", str(tmp_path))
    assert cache.default_folder() == str(tmp_path) == cache.default().folder
    monkeypatch.setenv("LCPY_CACHE_DIR", "")
    assert cache.default_folder() is None
    monkeypatch.delenv("LCPY_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/h")
    assert cache.default_folder() == os.path.join("/h", ".cache", "lcpy", "compiled")
    monkeypatch.setattr(os.path, "expanduser", lambda p: p)  # no HOME, no such user
    assert cache.default_folder() is None


def test_what_was_not_used_for_longest_goes(tmp_path, monkeypatch):
    kept = cache.Cache(str(tmp_path), limit=5000)
    keys = [cache.key_of(str(i)) for i in range(6)]
    for i, key in enumerate(keys):
        kept.put(key, bytes(1000))
        os.utime(kept._path(key), (i + 1, i + 1))
    assert kept.get(keys[0]) is not None  # used now
    old = tmp_path / ".partial-old"
    old.write_text("left by a process that was killed")
    os.utime(old, (1, 1))
    kept.prune()
    assert not old.exists()
    assert [kept.get(key) is not None for key in keys] == [True, False, False, True, True, True]


# ---- what the key of a kernel is made of --------------------------------------------------------
def hash_of(kernel):
    return kernel.descriptor(lc.Buffer[lc.float32]).text()


def factory(function):
    functions = [function]

    @lc.kernel
    def apply(x: lc.Buffer[lc.float32]):
        x[lc.dispatch_id().x] = functions[0](x[lc.dispatch_id().x])

    return apply


@lc.callable
def twice(a):
    return a * 2.0


@lc.callable
def thrice(a):
    return a * 3.0


def test_kernels_of_one_factory_differ(cpu):
    """R074: what is reached through a list element is in the key."""
    assert hash_of(factory(twice)) != hash_of(factory(thrice))
    x = lc.Buffer(np.ones(4, np.float32), device=cpu)
    factory(twice)(x, dispatch_size=4)
    factory(thrice)(x, dispatch_size=4)
    assert x.numpy()[0] == 6


STABLE = """
import sys
sys.path[:0] = {path!r}
import lcpy as lc
from lcpy.run import cache

{first}

{second}

T = lc.Buffer[lc.float32]
print(*[cache.key_of(k.compile(T, target="opencl").text) for k in (one, two)])
"""
ONE = """
@lc.kernel
def one(x: lc.Buffer[lc.float32]):
    {name} = x[0]
    for k in range(4):
        {name} = {name} + lc.float32(k)
    x[lc.dispatch_id().x] = {name}
"""
TWO = """
@lc.callable
def helper(a: lc.float32) -> lc.float32:
    return a {operator} 2.0

@lc.kernel
def two(x: lc.Buffer[lc.float32]):
    x[lc.dispatch_id().x] = helper(x[1])
"""


def test_keys_are_the_same_in_every_process(tmp_path):
    """R078: the order of definitions and local names do not matter; R074: a helper's body does."""

    def keys(*parts):
        path = tmp_path / "stable.py"
        text = STABLE.format(path=sys.path, first=parts[0], second=parts[1])
        path.write_text(textwrap.dedent(text))
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    one, two = ONE.format(name="total"), TWO.format(operator="*")
    plain = keys(one, two)
    assert keys(two, one) == plain
    assert keys(ONE.format(name="s"), two) == plain
    changed = keys(one, TWO.format(operator="+"))
    assert changed[0] == plain[0] and changed[1] != plain[1]
