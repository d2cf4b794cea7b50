"""Kernels are read from their source, so a generated one is written to a file and imported."""

import importlib.util
import sys
from pathlib import Path


def load_file(path):
    """Imports a Python source file under its stem."""
    name = f"lcpy_test_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_source(directory, name, text):
    """Writes a Python source file and imports it."""
    path = Path(directory) / f"{name}.py"
    path.write_text(text)
    return load_file(path)
