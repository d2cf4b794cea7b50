"""Compilation ahead of time: the kernels of a Python file to files, for build systems."""

import importlib.util
import os
import sys
from pathlib import Path

from .artifact import TARGETS
from .errors import ArgumentError
from .launch import Kernel

FORMATS = {  # name: (ending, what is written of an artifact)
    "artifact": (".lcpy", lambda a: a.to_bytes()),
    "code": (None, lambda a: a.data),
    "text": (".spvasm", lambda a: a.text.encode("utf-8", "surrogateescape")),
    "header": (".h", lambda a: a.header().encode()),
}
_ENDINGS = {"spirv": ".spv", "opencl": ".cl", "cuda": ".cu", "cpu": ".kernel"}


def compile_files(
    file, directory, *, targets=("spirv",), formats=("artifact",), vulkan="1.2",
    driver="any", math=None, debug=False, optimize=None, views=False, depfile=None,
    write=True,
):  # fmt: skip
    """Compiles kernels of a Python file; returns the paths of what was written.

    The files are ``KERNEL.TARGET`` and the format's ending, as in ``blur.spirv.lcpy``. They are the
    same bytes on every machine for the same sources and the same lcpy.

    Parameters
    ----------
    file : str
        A path; after a colon, names of kernels with commas, else all of the file's.
    directory : path
        Made if it is not there.
    targets : sequence of "spirv", "opencl", "cuda", "cpu"
    formats : sequence of "artifact", "code", "text", "header"
    depfile : path, optional
        Written in make's language: the outputs, and the Python files that they come of; absolute
        paths if the directory's is.
    write : bool
        False: the paths alone.
    """
    for name in formats:
        if name not in FORMATS:
            raise ArgumentError(f"format: one of {', '.join(FORMATS)}; not {name!r}")
    path, names = str(file), ""
    if not os.path.isfile(path):  # a path may have colons of its own
        path, _, names = path.rpartition(":")
    path = Path(path or file)
    before = set(sys.modules)
    module = _imported(path)
    kernels = _chosen(module, path, names.split(",") if names else None)
    given = {k: tuple(types) for k, types in getattr(module, "KERNELS", {}).items()}
    directory = Path(directory)
    if write:
        directory.mkdir(parents=True, exist_ok=True)
    written = {}
    for name, kernel in kernels:
        for target in targets:
            paths = {directory / _name(name, target, form): form for form in formats}
            written.update(dict.fromkeys(map(str, paths)))
            if not write:
                continue
            artifact = kernel.compile(
                *given.get(kernel, ()), target=target, vulkan=vulkan, driver=driver, math=math,
                debug=debug, optimize=optimize if target == "spirv" else None,
                views=views,
            )  # fmt: skip
            for to, form in paths.items():
                to.write_bytes(FORMATS[form][1](artifact))
    if write and depfile is not None:
        sources = _sources(path, before)
        if directory.is_absolute():
            sources = [os.path.abspath(file) for file in sources]
        Path(depfile).write_text(_rule(written, sources))
    return list(written)


def _name(kernel, target, form):
    if target not in TARGETS:
        raise ArgumentError(f"target: one of {', '.join(TARGETS)}; not {target!r}")
    ending = FORMATS[form][0]
    if form == "code" or (form == "text" and target != "spirv"):
        ending = _ENDINGS[target]
    return f"{kernel}.{target}{ending}"


def _imported(path):
    """The module of a file: within its package, if its folder is one."""
    if not path.is_file():
        raise ArgumentError(f"{path}: no such file")
    path = path.resolve()
    root, parts = path.parent, [path.stem]
    while (root / "__init__.py").exists():
        parts.insert(0, root.name)
        root = root.parent
    name = ".".join(parts)
    sys.path.insert(0, str(root))
    try:
        if len(parts) > 1:
            module = importlib.import_module(name)
            if Path(module.__file__).resolve() != path:
                raise ArgumentError(f"{path}: '{name}' is {module.__file__} already")
            return module
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(name, module)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(root))


def _chosen(module, path, names):
    """(name, kernel) of those asked for, or of all that the module made itself."""
    if names is None:
        own = [
            (name, value)
            for name, value in vars(module).items()
            if isinstance(value, Kernel) and value.__module__ == module.__name__
        ]
        if not own:
            raise ArgumentError(f"{path}: no kernel in it")
        return own
    for name in names:
        if not isinstance(getattr(module, name, None), Kernel):
            raise ArgumentError(f"{path}: no kernel '{name}' in it")
    return [(name, getattr(module, name)) for name in names]


def _sources(path, before):
    """The file, and the Python files that it imported, but for those of installed packages."""
    found = {os.path.relpath(path)}
    installed = [p for p in (sys.prefix, sys.base_prefix, str(Path(__file__).parent)) if p]
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and file.endswith(".py") and not any(file.startswith(p) for p in installed):
            found.add(os.path.relpath(file))
    return sorted(found)


def _rule(outputs, sources):
    def escaped(name):
        return name.replace("\\", "/").replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")

    return f"{' '.join(map(escaped, outputs))}: {' '.join(map(escaped, sources))}\n"
