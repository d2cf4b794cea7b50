"""NVRTC, NVIDIA's compiler of CUDA C++, through ctypes: source in, cubin or PTX out.

It needs no GPU, no driver and no toolkit: the wheel ``nvidia-cuda-nvrtc-cu12`` is enough.
"""

import ctypes
import functools
import glob
import importlib.util
import os
import threading
from pathlib import Path

from ..errors import DeviceError

WINDOWS = os.name == "nt"
PATTERN = "nvrtc64_*_0.dll" if WINDOWS else "libnvrtc.so.*[0-9]"
# Folders of the wheels nvidia-cuda-nvrtc-cu12, nvidia-cuda-nvrtc (13 and later), -cu11.
WHEELS = ("cuda_nvrtc", "cu13", "cu14", "cu11")
MISSING = (
    "NVRTC, which compiles CUDA C++, is not here: pip install nvidia-cuda-nvrtc-cu12, "
    "or set LCPY_NVRTC to the path of libnvrtc"
)


def _wheel_folders():
    """Folders of wheels; the package ``nvidia`` is a namespace that each of them extends."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        spec = None
    for root in list(spec.submodule_search_locations or ()) if spec else ():
        for wheel in WHEELS:
            yield Path(root, wheel, "bin" if WINDOWS else "lib")


def _toolkit_folders():
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield from (Path(os.environ[name], f) for f in ("lib64", "lib", "bin"))
    if not WINDOWS:
        for root in ["/usr/local/cuda", *sorted(glob.glob("/usr/local/cuda-*"), reverse=True)]:
            yield Path(root, "lib64")
            yield from Path(root, "targets").glob("*/lib")
        yield from (Path(p) for p in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"))


def libraries():
    """Paths of every NVRTC found, the preferred one first: LCPY_NVRTC, wheels, toolkits."""
    chosen = os.environ.get("LCPY_NVRTC")
    if chosen:
        return [Path(chosen)]
    found = {}
    for folder in [*_wheel_folders(), *_toolkit_folders()]:
        # The shortest name is the link to the library's own version; the newest version first.
        names = [p for p in folder.glob(PATTERN) if "builtins" not in p.name]
        for path in sorted(names, key=lambda p: (-_version_in(p), len(p.name))):
            found.setdefault(path.resolve(), path)
    return list(found.values())


def _version_in(path):
    digits = "".join(c if c.isdigit() else " " for c in path.name.split("nvrtc", 1)[1]).split()
    return int(digits[-1 if WINDOWS else 0]) if digits else 0


@functools.cache
def compiler(path=None):
    """The Compiler of a library, or of the preferred one; DeviceError where there is none."""
    if path is None:
        found = libraries()
        if not found:
            raise DeviceError(MISSING)
        path = found[0]
    return Compiler(path)


class Compiler:
    """One libnvrtc. It is loaded when it is first needed.

    Attributes
    ----------
    path : pathlib.Path
    identity : str
        Changes with the library, and is known without loading it.
    """

    def __init__(self, path):
        self.path = Path(path)
        try:
            real = self.path.resolve()
            stat = real.stat()
        except OSError as error:
            raise DeviceError(f"NVRTC at {self.path}: {error.strerror}") from None
        self.identity = f"{real} {stat.st_size} {stat.st_mtime_ns}"
        self._lock = threading.Lock()
        self._library = None

    @property
    def library(self):
        with self._lock:
            if self._library is None:
                try:
                    self._library = ctypes.CDLL(str(self.path))
                except OSError as error:
                    raise DeviceError(f"NVRTC at {self.path} does not load: {error}") from None
                self._library.nvrtcGetErrorString.restype = ctypes.c_char_p
            return self._library

    @functools.cached_property
    def version(self):
        """(major, minor) of the CUDA that it belongs to."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._check("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

    @functools.cached_property
    def architectures(self):
        """Compute capabilities that it compiles for, ascending: (75, 80, 86, 90…)."""
        count = ctypes.c_int()
        self._check("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        self._check("nvrtcGetSupportedArchs", numbers)
        return tuple(sorted(numbers))

    def compile(self, source, name="lcpy", options=(), arch=75, form="cubin"):
        """Machine code of one source.

        Parameters
        ----------
        source : str
        name : str
            What messages call the source.
        options : sequence of str
            As core.cuda_build_options gives them, split.
        arch : int
            Compute capability, 90 for sm_90. Beyond what this NVRTC knows, the result is PTX of the
            newest that it does, which the driver compiles.
        form : "cubin" or "ptx"

        Returns
        -------
        bytes
            For cuModuleLoadData; PTX ends with a zero byte.

        Raises
        ------
        DeviceError
            With the compiler's log.
        """
        if arch not in self.architectures:
            arch = max((a for a in self.architectures if a <= arch), default=self.architectures[0])
            form = "ptx"
        flags = [*options, f"--gpu-architecture={'sm' if form == 'cubin' else 'compute'}_{arch}"]
        program = ctypes.c_void_p()
        self._check(
            "nvrtcCreateProgram", ctypes.byref(program), source.encode(),
            f"{name}.cu".encode(), 0, None, None,
        )  # fmt: skip
        try:
            array = (ctypes.c_char_p * len(flags))(*[flag.encode() for flag in flags])
            result = self.library.nvrtcCompileProgram(program, len(flags), array)
            if result:
                log = self._bytes("ProgramLog", program).rstrip(b"\0").decode(errors="replace")
                raise DeviceError(
                    f"NVRTC {self.version[0]}.{self.version[1]}, {' '.join(flags)}: "
                    f"{self._text(result)} of '{name}'\n{log.strip()}"
                )
            return self._bytes("CUBIN" if form == "cubin" else "PTX", program)
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))

    def _bytes(self, what, program):
        size = ctypes.c_size_t()
        self._check(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._check(f"nvrtcGet{what}", program, buffer)
        return buffer.raw

    def _text(self, result):
        return self.library.nvrtcGetErrorString(result).decode()

    def _check(self, call, *arguments):
        try:
            function = getattr(self.library, call)
        except AttributeError:
            raise DeviceError(f"NVRTC at {self.path} has no {call}: too old") from None
        result = function(*arguments)
        if result:
            raise DeviceError(f"{call}: {self._text(result)}")
