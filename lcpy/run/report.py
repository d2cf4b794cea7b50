"""What kernels report: traps as KernelTrap, prints as text.

Kernels write into report memory (native/kernel/report.h) through an argument of their own. On the
cpu device each launch has a memory of its own, read when the launch has ended. Elsewhere a device
has one, shared by all its launches, which is read when somebody waits for the device. Words are
read by place, values by the types of the site that they came from.
"""

import itertools
import json
import os
import sys
import threading

from .._native import core
from ..errors import KernelTrap

_PLACE = core.REPORT
_HEADER = _PLACE["header"]
_numbers = itertools.count()
_number_lock = threading.Lock()


def capacity():
    """Words for printed lines of one memory: LCPY_PRINT_BYTES, 4 MiB without."""
    text = os.environ.get("LCPY_PRINT_BYTES", "")
    nbytes = int(text) if text.isdigit() else 4 << 20
    return min(max(nbytes, 64), 1 << 31) // 4


class Sites:
    """The sites of one built kernel, numbered among those of all kernels of the process."""

    __slots__ = ("kernel", "rows", "first", "tag_place", "prints", "_formats")
    _next = 0

    def __init__(self, kernel, descriptor, tag_place):
        self.kernel, self.rows, self.tag_place = kernel, descriptor.sites, tag_place
        self.prints = any(row[0] == "print" for row in self.rows)
        self._formats = {}
        with _number_lock:
            first = Sites._next
            if first + len(self.rows) >= 1 << 31:  # the numbers are 32 bits wide: begin again
                first = 0
            Sites._next = first + len(self.rows)
        self.first = first

    def line(self, number, words):
        """The text of a printed line, and how many words its values take."""
        found = self._formats.get(number)
        if found is None:
            _, text, types, _, _, _ = self.rows[number]
            pieces = json.loads(text)
            found = self._formats[number] = (pieces, [_reader(t) for t in types])
        pieces, readers = found
        values, at = [], 0
        for reader in readers:
            value, at = reader(words, at)
            values.append(value)
        out, index = [], 0
        for piece in pieces:
            if piece.__class__ is str:
                out.append(piece)
            else:
                out.append(formatted(values[index], piece[0], piece[1]))
                index += 1
        return "".join(out), at

    def words(self, number):
        """How many words the values of a line take."""
        return sum(_words(t) for t in self.rows[number][2])

    def trap(self, number, thread, values, launches):
        """The KernelTrap of a site."""
        kind, text, types, file, line, source = self.rows[number]
        details = {"thread": thread, "kernel": self.kernel, "file": file, "line": line}
        details.update(source=source.strip(), launches=launches, kind=kind)
        if kind == "assert":
            what = f"assertion failed: {text}" if text else "assertion failed"
            details["message"] = text
        elif kind == "trap":
            code = _integer(types[0], values[0], values[1])
            what = f"trap with code {code}"
            details["code"] = code
        else:
            index = _integer(types[0], values[0], values[1])
            size = values[2] | values[3] << 32
            what = _out_of_range(text, index, size, types)
            details.update(index=index, size=size)
            if "'" in text:
                details["buffer"] = text.split("'")[1]
        shown = f"kernel '{self.kernel}', thread {thread}: {what}\n  {file}:{line}"
        if source:
            shown += f"\n    {source.strip()}"
        if launches > 1:
            more = "launch" if launches == 2 else "launches"
            shown += f"\n  note: {launches - 1} more {more} trapped"
        return KernelTrap(shown, **details)


def _out_of_range(text, index, size, types):
    if text.startswith("byte buffer"):
        return (
            f"byte offset {index} is out of range for {types[1].size} bytes of {text}, "
            f"which has {size}"
        )
    noun = "" if text.startswith(("axis", "vector", "matrix")) else " elements"
    return f"index {index} is out of range for {text} of {'size ' if not noun else ''}{size}{noun}"


# ---- values --------------------------------------------------------------------------------------
def _words(t):
    if t.tag == "scalar":
        return 2 if t.size == 8 else 1
    if t.tag == "struct":
        return sum(_words(m) for m in t.members)
    return t.count * _words(t.component(0))


def _integer(t, low, high):
    if t.numpy.startswith("int"):
        bits = low | high << 32
        return bits - (1 << 64) if bits >> 63 else bits
    return low | high << 32


def _reader(t):
    """A function of (words, place) that gives a value of core type `t` and the place after it."""
    tag = t.tag
    if tag == "scalar":
        return _scalar_reader(t)
    if tag == "struct":
        parts = [_reader(m) for m in t.members]
    else:
        parts = [_reader(t.component(0))] * t.count

    def read(words, at):
        values = []
        for part in parts:
            value, at = part(words, at)
            values.append(value)
        if tag == "matrix":  # memory has columns, people read rows
            values = list(zip(*values))
        return (values if tag == "array" else tuple(values)), at

    return read


def _scalar_reader(t):
    name, size = t.numpy, t.size
    if name == "bool":
        return lambda words, at: (words[at] != 0, at + 1)
    if "float" in t.scalar or t.scalar in ("half", "double"):
        import numpy

        # bfloat16 and the 8-bit floats come as the float32 that they stand for.
        make = getattr(numpy, name) if name.startswith("float") else numpy.float32
        if size == 8:

            def read(words, at):
                pair = numpy.array(words[at : at + 2], numpy.uint32)
                return pair.view(numpy.float64)[0], at + 2

            return read

        def read(words, at):
            return make(numpy.uint32(words[at]).view(numpy.float32)), at + 1

        return read
    if size == 8:
        if name == "int64":
            return lambda words, at: (_integer(t, words[at], words[at + 1]), at + 2)
        return lambda words, at: (words[at] | words[at + 1] << 32, at + 2)
    mask, sign = (1 << 8 * size) - 1, 1 << (8 * size - 1)
    if name.startswith("int"):
        return lambda words, at: (((words[at] & mask) ^ sign) - sign, at + 1)
    return lambda words, at: (words[at] & mask, at + 1)


def formatted(value, spec, shape=None):
    """A value as text: scalars by Python's format with `spec`, what is made of them in brackets.

    `shape` names the parts of structs: [name, {member: shape of member}]; of arrays it is [shape].
    """
    if value.__class__ is tuple:
        if shape and shape[0] is not None:
            parts = (
                f"{name}={formatted(v, spec, inner)}"
                for (name, inner), v in zip(shape[1].items(), value)
            )
            return f"{shape[0]}({', '.join(parts)})"
        inner = shape[1] if shape else [None] * len(value)
        text = ", ".join(formatted(v, spec, s) for v, s in zip(value, inner))
        return f"({text},)" if len(value) == 1 else f"({text})"
    if value.__class__ is list:
        inner = shape[0] if shape else None
        return f"[{', '.join(formatted(v, spec, inner) for v in value)}]"
    if not spec:
        return str(value)
    return format(value if isinstance(value, (bool, int)) else float(value), spec)


# ---- memory --------------------------------------------------------------------------------------
class Reports(core.ReportState):
    """What the kernels of one device have reported and nobody has been told yet."""

    def __init__(self, device):
        self.device, self.lock = device, threading.RLock()
        self.memory, self.launches, self.capacity, self.pending = None, 0, 0, {}
        self.idle = {False: [], True: []}  # cpu: memories of launches that have ended, by prints
        self.read = []  # (words, {number: Sites}): read, and not told yet
        self.traps = []  # told by nobody yet

    # ---- cpu: a memory a launch
    def take(self, prints):
        try:
            return self.idle[prints].pop()
        except IndexError:
            words = capacity() if prints else 0
            return core.HostMemory((_HEADER + words) * 4)

    def give_back(self, memory):
        idle = self.idle[memory.nbytes > _HEADER * 4]
        if len(idle) < 8:
            idle.append(memory)

    def finished(self, sites, memory):
        """The KernelTrap of a launch that has ended, or None; what it printed is written."""
        view = memoryview(memory).cast("B").cast("I")
        words = view[: _used(view)].tolist()
        view[:_HEADER] = memoryview(bytes(_HEADER * 4)).cast("I")
        view.release()
        traps = []
        write(_lines(words, {sites.first: sites}, traps))
        return traps[0] if traps else None

    # ---- others: one memory, read when the device is waited for
    def prepare(self):
        """Makes the memory; called with the lock held."""
        if self.memory is not None:
            return
        words = capacity()
        self.memory, _ = self.device.allocate((_HEADER + words) * 4, False)
        self._reset()
        self.capacity = words
        _tell_at_exit()

    def _reset(self):
        self.device.upload(
            self.memory, 0, _HEADER * 4, lambda a: core.fill_bytes(a, b"\0", 1, _HEADER * 4)
        )

    def _download(self, nbytes):
        made = core.HostMemory(nbytes, False)
        self.device.download(
            self.memory, 0, nbytes, lambda a: core.copy_bytes(made.address, a, nbytes)
        )
        return memoryview(made).cast("B").cast("I")

    def collect(self):
        """Reads what was reported up to now, waiting for it, and makes the memory clean again."""
        with self.lock:
            if not self.pending:
                return
            words = self._download(_HEADER * 4)
            if any(words[_PLACE[name]] for name in ("site", "used", "lost")):
                used = _used(words)
                if used > _HEADER:
                    words = self._download(used * 4)
                self.read.append((words.tolist(), dict(self.pending)))
                self._reset()
            self.pending.clear()

    def tell(self):
        """Writes what was printed. Traps are left for `check` to raise, in their order."""
        while self.read:
            words, known = self.read.pop(0)
            write(_lines(words, known, self.traps))

    def check(self):
        """Writes what was printed and raises the first trap; what else there is stays for later."""
        if self.pending:
            self.collect()
        if self.read:
            self.tell()
        if self.traps:
            raise self.traps.pop(0)

    def forget(self):
        """In a forked child: what its parent launched is its parent's to tell."""
        self.lock = threading.RLock()
        self.pending, self.read, self.traps, self.memory = {}, [], [], None


def _used(words):
    """Words of a memory that may hold something, from its header."""
    return _HEADER + min(words[_PLACE["used"]], len(words) - _HEADER if len(words) > _HEADER else
                         capacity())  # fmt: skip


def write(text):
    if text:
        sys.stdout.write(text)


def _owner(known, number):
    """The Sites that a number (one more than the site's) belongs to, and the site's own number."""
    for first, sites in known.items():
        if first < number <= first + len(sites.rows):
            return sites, number - 1 - first
    return None, 0


def _lines(words, known, traps):
    """The text of all lines: by launch, within one by thread (z, y, x), and a thread's in its own
    order. Appends the KernelTrap, if there is one."""
    site = words[_PLACE["site"]]
    if site:
        sites, number = _owner(known, site)
        at, values = _PLACE["thread"], _PLACE["values"]
        if sites is not None:
            thread = tuple(words[at : at + 3])
            traps.append(
                sites.trap(number, thread, words[values : values + 4], words[_PLACE["count"]])
            )
    at, end, header = _HEADER, len(words), _PLACE["line_header"]
    found, owners = [], {}
    first_launch = None
    while at + header <= end and words[at]:
        number, launch, x, y, z = words[at : at + header]
        owner = owners.get(number)
        if owner is None:
            sites, inner = _owner(known, number)
            if sites is None:
                break
            owner = owners[number] = (sites, inner, sites.words(inner))
        if first_launch is None:
            first_launch = launch
        start = at + header
        at = start + owner[2]
        if at > end:
            break
        # Launches are counted in 32 bits and may have gone round.
        found.append(((launch - first_launch) & 0xFFFFFFFF, z, y, x, len(found), owner, start))
    found.sort(key=lambda line: line[:5])
    out = []
    for line in found:
        sites, inner, count = line[5]
        out.append(sites.line(inner, words[line[6] : line[6] + count])[0])
    lost = words[_PLACE["lost"]]
    if lost:
        out.append(
            f"lcpy: {lost} printed line{'s' if lost > 1 else ''} found no room and "
            f"{'are' if lost > 1 else 'is'} lost (LCPY_PRINT_BYTES sets the room)\n"
        )
    return "".join(out)


# ---- the end of the process ----------------------------------------------------------------------
_registered = False


def _tell_at_exit():
    global _registered
    if not _registered:
        import atexit

        _registered = True
        atexit.register(_at_exit)  # after the devices' own, so it comes before them


def _at_exit():
    from . import device as devices

    for device in list(devices._open.values()):
        reports = device.reports
        if not (reports.pending or reports.read or reports.traps) or device._refused is not None:
            continue
        try:
            reports.check()
        except KernelTrap as trap:
            sys.stderr.write(f"lcpy: nobody waited for this launch\n{trap}\n")
        except Exception as error:  # the process ends in any case
            sys.stderr.write(f"lcpy: the reports of {device.name} are lost: {error}\n")
