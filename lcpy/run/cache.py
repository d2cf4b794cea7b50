"""What compilers made, kept on disk: any process may read and write at any time.

An entry is a file named by a hash of everything that the result depends on. It is written aside and
renamed, and carries a checksum, so that a reader finds a whole entry or none; one that is broken
counts as none. Nothing is locked: two processes that build the same entry both write it. A folder
that cannot be read or written means that nothing is kept, not that anything fails.

Folder: LCPY_CACHE_DIR, else lcpy below XDG_CACHE_HOME or ~/.cache. An empty LCPY_CACHE_DIR keeps
nothing. LCPY_CACHE_MB bounds the folder; the entries that were not used for longest go.
"""

import contextlib
import os
import threading

_MAGIC = b"lcpy cache 1\n"
_DIGEST = 32
DEFAULT_MB = 1024


def key_of(*parts):
    """A name for what `parts`, strings or bytes, determine together."""
    import hashlib

    h = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        h.update(len(data).to_bytes(8, "little"))  # so that ("a", "bc") is not ("ab", "c")
        h.update(data)
    return h.hexdigest()


def default_folder():
    """The folder of this user and environment; None where there is none."""
    named = os.environ.get("LCPY_CACHE_DIR")
    if named is not None:
        return named or None
    root = os.environ.get("XDG_CACHE_HOME")
    if not root:
        home = os.path.expanduser("~")
        if not os.path.isabs(home):  # no HOME and no such user
            return None
        root = os.path.join(home, ".cache")
    return os.path.join(root, "lcpy", "compiled")


class Cache:
    """Entries of bytes in one folder.

    Attributes
    ----------
    folder : str or None
        None keeps nothing.
    limit : int
        Bytes of all entries together.
    """

    def __init__(self, folder, limit=DEFAULT_MB << 20):
        self.folder, self.limit = folder, limit
        self._lock = threading.Lock()
        self._building = {}  # key -> lock of the thread that builds it
        self._pruned = False

    def fetch(self, key, build):
        """The entry of `key`; built by `build()`, once among the threads of this process, if it is
        not there. What `build` raises is passed on, and nothing is kept."""
        found = self.get(key)
        if found is not None:
            return found
        with self._lock:
            building = self._building.setdefault(key, threading.Lock())
        try:
            with building:
                found = self.get(key)
                if found is None:
                    found = build()
                    self.put(key, found)
        finally:
            with self._lock:
                self._building.pop(key, None)
        return found

    def get(self, key):
        """The bytes of an entry; None when it is missing or broken."""
        if self.folder is None:
            return None
        import hashlib

        path = self._path(key)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST
        body = data[start:]
        if data[: len(_MAGIC)] != _MAGIC:
            return None
        if hashlib.sha256(key.encode() + body).digest() != data[len(_MAGIC) : start]:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the order of last use, for pruning
        return body

    def put(self, key, body):
        """Keeps an entry, if it can."""
        if self.folder is None:
            return
        import hashlib
        import tempfile

        digest = hashlib.sha256(key.encode() + body).digest()
        partial = None
        try:
            path = self._path(key)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            handle, partial = tempfile.mkstemp(prefix=".partial-", dir=os.path.dirname(path))
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + digest + body)
            os.replace(partial, path)
        except OSError:  # full, read-only, not ours: this process has its result all the same
            if partial is not None:
                with contextlib.suppress(OSError):
                    os.unlink(partial)
            return
        if not self._pruned:
            self._pruned = True
            self.prune()

    def prune(self):
        """Removes what was not used for longest until the limit holds, and what was left half
        written a day ago. Called once a process, after its first new entry."""
        import time

        entries, total = [], 0
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    status = os.stat(path)
                    if name.startswith(".partial-"):
                        if status.st_mtime < time.time() - 86400:
                            os.unlink(path)
                        continue
                except OSError:
                    continue
                entries.append((status.st_mtime, status.st_size, path))
                total += status.st_size
        for _, size, path in sorted(entries):
            if total <= self.limit:
                break
            try:
                os.unlink(path)
            except OSError:
                continue
            total -= size

    def _path(self, key):
        return os.path.join(self.folder, key[:2], key[2:])


_default = None


def default():
    """The cache of the environment's folder."""
    global _default
    folder = default_folder()
    if _default is None or _default.folder != folder:
        try:
            limit = int(os.environ.get("LCPY_CACHE_MB", DEFAULT_MB)) << 20
        except ValueError:
            limit = DEFAULT_MB << 20
        _default = Cache(folder, limit)
    return _default
