"""nvcc, the toolkit's compiler, for where NVRTC is not: the same source, options and result."""

import os
import shutil
import subprocess
import tempfile

from ..errors import DeviceError


def compiler():
    """The Compiler of the nvcc on the path, or of CUDA_HOME; None where there is none."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    path = shutil.which("nvcc") or (shutil.which("nvcc", path=f"{home}/bin") if home else None)
    return Compiler(path) if path else None


class Compiler:
    """One nvcc.

    Attributes
    ----------
    path, identity : str
        `identity` changes with the program.
    """

    def __init__(self, path):
        self.path = os.path.realpath(path)
        status = os.stat(self.path)
        self.identity = f"{self.path} {status.st_size} {status.st_mtime_ns}"

    def compile(self, source, name="lcpy", options=(), arch=75):
        """The cubin of one source, as lcpy.run.nvrtc.Compiler.compile gives it."""
        with tempfile.TemporaryDirectory(prefix="lcpy-nvcc-") as folder:
            given, made = os.path.join(folder, "kernel.cu"), os.path.join(folder, "kernel.cubin")
            with open(given, "w", encoding="utf-8") as file:
                file.write(source)
            command = [self.path, "-cubin", f"-arch=sm_{arch}", *options, given, "-o", made]
            try:
                done = subprocess.run(command, capture_output=True, text=True)
            except OSError as error:
                raise DeviceError(f"{self.path} does not run: {error}") from None
            if done.returncode or not os.path.exists(made):
                log = (done.stderr or done.stdout).strip()
                raise DeviceError(
                    f"nvcc, {' '.join(command[1:-3])}: cannot compile '{name}'\n{log}"
                )
            with open(made, "rb") as file:
                return file.read()
