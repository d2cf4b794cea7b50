"""Kernels are read from their source, so a generated one is written to a file and imported."""

import importlib.util
from pathlib import Path


def load_source(directory, name, text):
    """Writes a Python source file and imports it."""
    path = Path(directory) / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
