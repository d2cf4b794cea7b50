"""The protocol that each driver meets, and which devices there are.

No driver is imported before a device of its kind is asked for. A device that cannot be had is
absent from ``lc.devices()``, and asking for it by name says what would add it.
"""

import os
import threading

from ..errors import ArgumentError, DeviceError

KINDS = (
    "cpu",
    "opencl",
    "vulkan",
    "cuda",
)  # module lcpy.run.<kind> has discover() and open_device(info)
# "auto" takes the first found: GPUs before software, and of software our own. CUDA first, where it
# is: its buffers have no size limit, its atomics and types are whole, and compiled kernels are kept
# on disk.
PREFERENCE = (
    ("cuda", "discrete"),
    ("vulkan", "discrete"),
    ("opencl", "discrete"),
    ("cuda", "integrated"),
    ("vulkan", "integrated"),
    ("opencl", "integrated"),
    ("cpu", "software"),
)


def size_class(nbytes, smallest):
    """The power of two, at least `smallest` (itself one), that holds `nbytes`: pools keep by it."""
    return max(smallest, 1 << (nbytes - 1).bit_length())


class DeviceInfo:
    """What discovery knows of a device that is not opened yet.

    Attributes
    ----------
    name : str
        ``"vulkan:0"``: what ``lc.Device`` takes.
    kind : str
        "cpu", "opencl", "vulkan" or "cuda".
    type : str
        "discrete", "integrated" or "software".
    description, driver : str
        As the driver names itself.
    limits, features : dict
        Every kind has the features float64, int64, int64_atomics and denormals (kept), and float16:
        "native", or "emulated" by float32 rounded after each operation, which gives the same bits.
        Every kind has the limit warp_size: lanes of a warp, 0 without warp operations.
    """

    def __init__(self, name, kind, type, description, driver, limits, features, handle=None):
        self.name, self.kind, self.type = name, kind, type
        self.description, self.driver = description, driver
        self.limits, self.features, self._handle = limits, features, handle

    def __repr__(self):
        return f"<{self.name}: {self.description} ({self.type}), {self.driver}>"


class Executable:
    """A kernel built for one device.

    `launch(memories, block, x, y, z)` starts it: memories by order of Global slots, the bytes of
    the argument block, the dispatch size in threads. On devices with `program_is_host` the core
    runs `program` instead. `times` has seconds spent in core, validation and driver.
    """

    times = {"core": 0.0, "validation": 0.0, "driver": 0.0}

    def launch(self, memories, block, x, y, z):
        raise NotImplementedError


def most_bytes(descriptor):
    """By Global slot: the bytes of a buffer of fewer than 2^31 elements, in which an index that is
    in range does not wrap around (what the emitters' `restrict` may take for granted)."""
    buffers = [s[1] for s in descriptor.slots if s[2] == "global"]
    return [((1 << 31) - 1) * (t.element.size if t.element else 1 << 31) for t in buffers]


def small_and_apart(memories, most):
    """Whether no two memories are one, and each has at most its bytes of `most_bytes`."""
    return len({m.pointer for m in memories}) == len(memories) and all(
        m.size <= limit for m, limit in zip(memories, most)
    )


class DeviceBase:
    """The protocol. Memory objects belong to the driver; buffers hold them and nothing else does.

    Copies take a function that works on an address: `upload` calls `write(address)` with where
    `nbytes` bytes for the device go, `download` calls `read(address)` with where they came to lie.
    """

    program_is_host = False  # launches run in the interpreter on the buffers' own addresses
    threads = 0

    def __init__(self, info):
        self.info = info
        self.name, self.kind, self.description = info.name, info.kind, info.description
        self.limits, self.features = info.limits, info.features
        from .report import Reports

        self.reports = Reports(self)
        self._refused = None  # a reason why nothing works any more: fork, loss
        self.validate = os.environ.get("LCPY_VALIDATE", "") not in ("", "0")

    def __repr__(self):
        return f"<lc.Device {self.name}: {self.description}>"

    def __reduce__(self):
        return (Device, (self.name,))

    def check(self):
        """DeviceError when this device can no longer be used in this process."""
        if self._refused is not None:
            kind, text = self._refused
            raise kind(text)

    def refuse(self, text, kind=DeviceError):
        self._refused = (kind, text)

    def allocate(self, nbytes, zero):
        """(memory, host address or 0)."""
        raise NotImplementedError

    def address(self, memory):
        """Host address of memory that launches use in place; 0 elsewhere."""
        return 0

    def upload(self, memory, offset, nbytes, write):
        raise NotImplementedError

    def download(self, memory, offset, nbytes, read):
        raise NotImplementedError

    def upload_plain(self, memory, offset, nbytes, host):
        """Uploads the bytes at the address `host` as they are."""
        from .._native import core

        self.upload(memory, offset, nbytes, lambda a: core.copy_bytes(a, host, nbytes))

    def download_plain(self, memory, offset, nbytes, host):
        """Downloads to the address `host`."""
        from .._native import core

        self.download(memory, offset, nbytes, lambda a: core.copy_bytes(host, a, nbytes))

    def copy(self, to, to_offset, source, source_offset, nbytes):
        raise NotImplementedError

    def fill(self, memory, offset, pattern, count):
        """`count` times the bytes of `pattern`."""
        from .._native import core

        nbytes = len(pattern) * count
        self.upload(
            memory, offset, nbytes, lambda a: core.fill_bytes(a, pattern, len(pattern), count)
        )

    def compile(self, request):
        """An Executable from a CompileRequest (lcpy/launch.py)."""
        raise NotImplementedError

    def wait(self):
        """Waits until everything launched here is done."""
        raise NotImplementedError

    def synchronize(self):
        """Waits, writes what kernels printed, and raises KernelTrap if one trapped."""
        self.wait()
        self.reports.check()


# ---- discovery ----------------------------------------------------------------------------------
_lock = threading.RLock()
_found = {}  # kind -> (list of DeviceInfo, reason why there are not more or None)
_open = {}  # name -> device
_default = None


def _driver(kind):
    from importlib import import_module

    return import_module(f"lcpy.run.{kind}")


def discover(kind):
    """([DeviceInfo, …], what would add devices of this kind or None); asked of the driver once."""
    with _lock:
        found = _found.get(kind)
        if found is None:
            found = _found[kind] = _driver(kind).discover()
        return found


def devices():
    """Every device found, as DeviceInfo: name, kind, type, driver, limits, features."""
    return [info for kind in KINDS for info in discover(kind)[0]]


def Device(name=None, *, warp_size=None):
    """The device called `name`: "cpu", "opencl", "opencl:1", "vulkan:0", "cuda", or "auto".

    Opened on first use; later calls give the same object.

    Parameters
    ----------
    name : str, optional
    warp_size : int, optional
        Lanes of a warp, 8, 16, 32 or 64, of the cpu device alone: elsewhere the hardware has its
        own. Each width is a device of its own, "cpu:warp8"; the default is LCPY_CPU_WARP, or 32.
    """
    if warp_size is not None:
        return _with_warp_size(name, warp_size)
    if name is None or name == "auto":
        return _open_info(_choose())
    if isinstance(name, DeviceInfo):
        return _open_info(name)
    if isinstance(name, DeviceBase):
        return name
    if not isinstance(name, str):
        raise ArgumentError(f"device: wanted a name such as 'vulkan:0', got {name!r}")
    opened = _open.get(name)
    if opened is not None:
        return opened
    kind, _, index = name.partition(":")
    width = index[4:] if kind == "cpu" and index.startswith("warp") else ""
    if width:
        index = ""
    if kind not in KINDS or (index and not index.isdigit()):
        raise ArgumentError(
            f"device: {name!r} is none of auto, cpu, opencl[:i], vulkan[:i], cuda[:i]"
        )
    infos, reason = discover(kind)
    if width:
        return _with_warp_size("cpu", width)
    number = int(index or 0)
    if number >= len(infos):
        have = ", ".join(i.name for i in infos) or "none"
        text = f"device {name!r} is not here (found of its kind: {have})"
        raise DeviceError(text + (f". {reason}" if reason else ""))
    return _open_info(infos[number])


def _with_warp_size(name, width):
    if name != "cpu":
        raise ArgumentError(
            f"warp_size: only lc.Device('cpu') has a width to choose, not {name!r}: the hardware's "
            "is in its .info.limits"
        )
    cpu = _driver("cpu")
    width = cpu.warp_size_of(width, "warp_size")
    return _open_info(cpu.with_warp_size(discover("cpu")[0][0], width))


def _open_info(info):
    with _lock:
        device = _open.get(info.name)
        if device is None:
            device = _open[info.name] = _driver(info.kind).open_device(info)
        return device


def _has_gpu_node():
    """Whether looking for a GPU is worth loading drivers for: Linux shows each as a device node."""
    import sys

    if not sys.platform.startswith("linux"):
        return True
    if any(os.path.exists(p) for p in ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")):
        return True
    try:
        return any(n.startswith("render") for n in os.listdir("/dev/dri"))
    except OSError:
        return False


def _choose():
    wanted = os.environ.get("LCPY_DEVICE")
    if wanted and wanted != "auto":
        return Device(wanted).info
    kinds = KINDS if _has_gpu_node() else ("cpu",)
    for kind, type_ in PREFERENCE:
        if kind in kinds:
            for info in discover(kind)[0]:
                if info.type == type_:
                    return info
    return discover("cpu")[0][0]


def init(name="auto"):
    """Sets and returns the default device."""
    global _default
    device = Device(name)
    from .._native import core

    with _lock:
        _default = device
        core.set_default_device(device)
    return device


def default_device():
    """The default device, chosen now if none was: LCPY_DEVICE, else a GPU, else cpu."""
    return _default if _default is not None else init("auto")


def resolve(device):
    """The opened device that an argument names; the default for None."""
    if device is None:
        device = default_device()
    elif not isinstance(device, DeviceBase):
        device = Device(device)
    device.check()
    return device


def synchronize(device=None):
    """Waits until everything launched on a device, or on all of them, is done.

    Writes what the kernels printed. Of several errors the first is raised; a KernelTrap of another
    device is raised when that one is next waited for.
    """
    if device is not None:
        resolve(device).synchronize()
        return
    from ..errors import Error

    first = None
    for opened in list(_open.values()):
        if opened._refused is not None:
            continue
        try:
            opened.wait()
            if first is None:
                opened.reports.check()
            else:
                opened.reports.collect()
                opened.reports.tell()
        except Error as error:
            first = first or error
    if first is not None:
        raise first


def _after_fork():
    for device in _open.values():
        device.reports.forget()
        if device.kind != "cpu":
            device.refuse(
                f"device {device.name} was opened before this process was forked and cannot be "
                "used here: open devices after the fork, or use the 'spawn' start method"
            )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
