"""Finds the kernels that goldens and differential runs share: tests/kernels/corpus and shaders/.

A corpus module has KERNELS, each kernel with its argument types, and run(device) -> NumPy array.
"""

import functools
import importlib
from pathlib import Path

from loading import load_file

FOLDER = Path(__file__).resolve().parent / "kernels/corpus"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


@functools.cache
def load(name):
    return load_file(FOLDER / f"{name}.py")


def kernels():
    """(name, kernel, argument types) of everything that has a golden."""
    for name in NAMES:
        for kernel, types in load(name).KERNELS.items():
            yield f"{name}.{kernel.__name__}", kernel, types
    for name in importlib.import_module("lcpy.gallery").NAMES:
        program = importlib.import_module(f"lcpy.gallery.{name}")
        for kernel, types in program.KERNELS.items():
            yield f"{name}.{kernel.__name__}", kernel, types
