"""Compiled kernels as data: what ``kernel.compile`` gives, and what ``load_artifact`` reads.

The file is the core's (native/artifact): it can be read in C++ as well, without Python.
"""

import array
import os
import re

from . import spirv
from ._native import core
from .errors import ArgumentError, UnsupportedError
from .plan import Limits, Plan, plan_interface

TARGETS = ("spirv", "opencl", "cuda", "cpu")
VULKAN_VERSIONS = {"1.0": 10, "1.1": 11, "1.2": 12, "1.3": 13, "1.4": 14}
# What Vulkan guarantees where that matters to the interface, and no limit elsewhere: the device
# that loads the artifact checks its own.
PORTABLE = Limits(
    storage_buffers=1 << 20,
    uniform_buffers=12,
    sets=4,
    push_bytes=128,
    uniform_range=16384,
    storage_range=1 << 27,
    shared_bytes=1 << 31,
    block_threads=1 << 31,
    block_x=1 << 31,
    block_y=1 << 31,
    block_z=1 << 31,
    groups_x=65535,
    groups_y=65535,
    groups_z=65535,
)


class Artifact:
    """A kernel compiled for a target.

    Attributes
    ----------
    target : "spirv", "opencl", "cuda" or "cpu"
    environment : str
        What it was made for: "vulkan1.2", "opencl1.2", "sm_75", "interpreter".
    name : str
        The kernel's.
    data : bytes
        SPIR-V words, OpenCL C or CUDA C++ in UTF-8, or a descriptor's text.
    text : str
        The code as text; of SPIR-V, what the disassembler makes of it.
    plan : lcpy.plan.Plan
        Where the resources are bound.
    parameters : tuple of (name, type)
        The kernel's parameters; types as their descriptions say.
    usage : dict
        Parameter name → "none", "read", "write" or "read_write".
    features : tuple of str
        What a module or source asks of the device: capabilities and extensions; "fused_fma" and
        "deep_nesting", which some drivers lack (native/emit/vulkan.def); "driver NAME" of a module
        that is for one driver alone.
    block_size : tuple of three ints
    math : "ieee", "strict" or "fast"
    hash : int
        Of the kernel's structure: equal kernels have equal ones on every machine.
    lines : tuple of (word, file, line, column)
        From where in the Python source a module's words come; each row holds from its word on.
    descriptor
        The kernel's descriptor, or what a loaded artifact has of it.
    """

    def __init__(self, fields, descriptor=None):
        self._fields = fields
        self.target, self.environment = fields["target"], fields["environment"]
        self.name, self.data, self.math = fields["kernel"], fields["code"], fields["math"]
        self.block_size, self.hash = tuple(fields["block_size"]), fields["hash"]
        self.features, self.parameters = tuple(fields["features"]), tuple(fields["parameters"])
        self.plan = _plan(fields)
        host = {s["number"]: s["access"] for s in fields["slots"] if s["memory"] in HOST}
        self.usage = {name: host.get(i, "none") for i, (name, _) in enumerate(self.parameters)}
        self.descriptor = StoredKernel(fields) if descriptor is None else descriptor

    @property
    def text(self):
        if self.target != "spirv":
            return self.data.decode()
        from . import spirv

        return spirv.disassemble(self.data)

    @property
    def lines(self):
        files = self._fields["files"]
        return tuple(
            (word, files[f], line, column) for word, f, line, column in self._fields["lines"]
        )

    def to_bytes(self):
        """The artifact as the bytes of its file: the same on every machine."""
        self._without_captures()
        return core.pack_artifact(self._fields)

    def save(self, path):
        """Writes the artifact; a file of that name is replaced in one step."""
        aside = f"{os.fspath(path)}.{os.getpid()}.part"
        try:
            with open(aside, "wb") as file:
                file.write(self.to_bytes())
            os.replace(aside, path)
        finally:
            if os.path.exists(aside):
                os.unlink(aside)

    def load(self, device=None):
        """The kernel on a device, to be called like the one that it was compiled of.

        Parameters
        ----------
        device : Device or str, optional
            Of the artifact's target: "spirv" runs on Vulkan, the others where their name says. The
            first such device if None.

        Raises
        ------
        UnsupportedError
            The device is of another kind, or lacks what the kernel needs.
        lcpy.spirv.ValidationError
            SPIRV-Tools rejects the module.
        """
        from .loaded import LoadedKernel

        return LoadedKernel(self, device)

    def _without_captures(self):
        """UnsupportedError of a kernel that captured buffers: they are of this process."""
        captured = [name for name, _ in self.parameters if name.startswith("captured ")]
        if captured:
            raise UnsupportedError(
                f"artifact '{self.name}': the kernel captures {len(captured)} buffers, which no "
                "file holds; give them as arguments"
            )

    def header(self, prefix=None):
        """The artifact as a header for C and C++: the code as a table, and what binds it."""
        from .header import c_header

        return c_header(self, prefix or self.name)

    def __str__(self):
        from .header import summary

        return summary(self)

    def __repr__(self):
        return f"<Artifact {self.name}: {self.target}, {len(self.data)} bytes>"


def load_artifact(path):
    """The Artifact of a file that ``Artifact.save`` or ``python -m lcpy compile`` wrote.

    Raises
    ------
    LoadError
        It is none, is damaged, or is of a newer version.
    """
    with open(path, "rb") as file:
        return Artifact(core.unpack_artifact(file.read()))


HOST = ("global", "uniform")  # memory of slots that the host gives


class StoredKernel:
    """What the runtime asks a descriptor for, of an artifact that was loaded."""

    def __init__(self, fields):
        self.name, self.math = fields["kernel"], fields["math"]
        self.block_size = tuple(fields["block_size"])
        self.uses_warp, self.shared_bytes = fields["uses_warp"], fields["shared_bytes"]
        self.indexes_arguments, self.hash = fields["indexes_arguments"], fields["hash"]
        self.report_tag = None if fields["report_tag"] < 0 else fields["report_tag"]
        self._slots, self._sites = fields["slots"], fields["sites"]
        self._block_bytes = fields["block_bytes"]
        self.counted_in_32_bits = [s["counted_in_32_bits"] for s in self._slots]

    @property
    def slots(self):
        return [
            (
                s["name"],
                core.type_parse(s["type"]),
                s["memory"],
                s["access"],
                s["number"],
                s["atomics"],
            )
            for s in self._slots
        ]

    @property
    def sites(self):
        return [
            (kind, text, tuple(core.type_parse(t) for t in types), file, line, source)
            for kind, text, types, file, line, source in self._sites
        ]

    def argument_block(self):
        entries = [(s["value"], s["length"], s["extents"], s["base"]) for s in self._slots]
        return self._block_bytes, entries


def plan_of(name, descriptor, limits):
    """The interface plan of a descriptor."""
    slots = [(s[0], s[2], s[3]) for s in descriptor.slots]
    block_bytes = descriptor.argument_block()[0]
    return plan_interface(name, slots, block_bytes, limits, descriptor.indexes_arguments)


def _plan(fields):
    """The Plan that an artifact's fields say."""
    block, size = fields["block"], fields["block_bytes"]
    bound = [s for s in fields["slots"] if s["bound"]]
    sets = [tuple((s["binding"], "storage_buffer", 1) for s in bound)]
    if block != "push":
        sets.append(((fields["block_binding"], f"{block}_buffer", 1),))
    return Plan(
        tuple((s["set"], s["binding"]) if s["bound"] else None for s in fields["slots"]),
        block,
        (fields["block_set"], fields["block_binding"]),
        size,
        tuple(sets),
        ((0, size),) if block == "push" else (),
        tuple(s["access"] for s in bound),
    )


def _driver_options(driver):
    """core.emit_spirv's options for modules that are for a driver."""
    from .run.vulkan import drivers

    if driver == "none":
        return {}
    if driver == "any":
        return drivers.portable()
    if driver not in drivers.NAMES:
        wanted = ", ".join(map(repr, drivers.NAMES))
        raise ArgumentError(f"driver: 'any', 'none', {wanted}; not {driver!r}")
    number = drivers.NAMES[driver]
    return {
        **drivers.flags(number),
        "own_functions": core.own_functions(drivers.lacking(number)),
    }


def _driver_needs(driver, words, descriptor, plan, options):
    """What a module, emitted with these options, takes for granted of a driver."""
    from .run.vulkan import drivers

    if driver != "any":
        return (f"driver {driver}",)
    needs = []
    for name in drivers.ASSUMED:
        try:
            without = core.emit_spirv(descriptor, plan, **options, **{name: False}).words
        except UnsupportedError:
            without = None
        if without != words:
            needs.append(name)
    return tuple(needs)


def build_artifact(
    name, descriptor, parameters, target, facts, vulkan="1.2", driver="any", debug=False,
    optimize=None,
):  # fmt: skip
    """Compiles a descriptor for `target` without a device. `facts`: "math" and "ragged"."""
    if target not in TARGETS:
        wanted = ", ".join(map(repr, TARGETS[:-1])) + f" or {TARGETS[-1]!r}"
        raise ArgumentError(f"target: {wanted}, not {target!r}")
    if optimize is not None and target != "spirv":
        raise ArgumentError(f"optimize: of target 'spirv' alone, not of {target!r}")
    if str(vulkan) not in VULKAN_VERSIONS:
        raise ArgumentError(f"vulkan: '1.0' to '1.4', not {vulkan!r}")
    fields = _described(name, descriptor, parameters, facts)
    if target == "spirv":
        plan = plan_of(name, descriptor, PORTABLE)
        options = {"version": VULKAN_VERSIONS[str(vulkan)], **_driver_options(driver)}
        options.update(names=bool(debug), debug_info=bool(debug))
        module = core.emit_spirv(descriptor, plan, **options)
        needs = _driver_needs(driver, module.words, descriptor, plan, options)
        lined = core.emit_spirv(descriptor, plan, lines=True, **options)
        code, lined = module.words, lined.words
        if optimize is not None:
            lined = spirv.optimize(lined, optimize, f"vulkan{vulkan}")
            code = _without_lines(lined, keeps_strings=debug)
        files, lines = _source_map(code, lined)
        fields.update(
            environment=f"vulkan{vulkan}",
            entry_point="main",
            code=code,
            features=module.capabilities + module.extensions + needs,
            shared_bytes=module.shared_bytes,
            files=[_portable(f) for f in files],
            lines=lines,
        )
    else:
        plan = plan_of(name, descriptor, PORTABLE._replace(push_bytes=1 << 20))
        fields.update(_TEXTS[target](descriptor))
    fields["target"] = target
    fields["block"], (fields["block_set"], fields["block_binding"]) = plan.block, plan.block_place
    for slot, place in zip(fields["slots"], plan.slots):
        slot["bound"] = place is not None
        slot["set"], slot["binding"] = place or (0, 0)
    return Artifact(fields, descriptor)


def _opencl(descriptor):
    options = core.opencl_build_options(descriptor, version=30 if descriptor.uses_warp else 12)
    source = core.emit_opencl(descriptor)  # halves as their bits: few devices have cl_khr_fp16
    return {
        "environment": "opencl1.2",
        "features": re.findall(r"#pragma OPENCL EXTENSION (\w+) : enable", source),
        "entry_point": "lcpy_main",
        "build_options": options,
        "code": source.encode(),
    }


def _cuda(descriptor):
    return {
        "environment": "sm_75",
        "entry_point": "lcpy_main",
        "build_options": core.cuda_build_options(descriptor),
        "dynamic_shared": core.cuda_dynamic_shared(descriptor),
        "code": core.emit_cuda(descriptor).encode(),
    }


def _cpu(descriptor):
    return {"environment": "interpreter", "code": descriptor.text().encode()}


_TEXTS = {"opencl": _opencl, "cuda": _cuda, "cpu": _cpu}


def _described(name, descriptor, parameters, facts):
    """The fields that every target has."""
    from . import __version__

    size, entries = descriptor.argument_block()
    slots = []
    for slot, entry, counted in zip(descriptor.slots, entries, descriptor.counted_in_32_bits):
        row = dict(zip(("name", "type", "memory", "access", "number", "atomics"), slot))
        row.update(zip(("value", "length", "extents", "base"), entry))
        row["type"] = row["type"].description
        slots.append({**row, "counted_in_32_bits": counted})
    sites = [
        (kind, text, [t.description for t in types], _portable(file), line, source)
        for kind, text, types, file, line, source in descriptor.sites
    ]
    return {
        "producer": f"lcpy {__version__}",
        "kernel": name,
        "entry_point": "",
        "build_options": "",
        "math": facts["math"],
        "ragged": facts["ragged"],
        "block_size": descriptor.block_size,
        "uses_warp": descriptor.uses_warp,
        "indexes_arguments": descriptor.indexes_arguments,
        "shared_bytes": descriptor.shared_bytes,
        "dynamic_shared": 0,
        "hash": descriptor.hash,
        "parameters": [(p.name, p.type._type.description) for p in parameters],
        "slots": slots,
        "block_bytes": size,
        "features": [],
        "report_tag": -1 if descriptor.report_tag is None else descriptor.report_tag,
        "sites": sites,
        "files": [],
        "lines": [],
    }


def _portable(file):
    """A source's name that does not say where on which machine it was: relative to the working
    directory if it is below it, else the last part alone."""
    absolute = os.path.abspath(file)
    below = os.path.relpath(absolute, os.getcwd()) if os.path.isabs(file) else file
    name = os.path.basename(file) if below.startswith("..") else below
    return name.replace(os.sep, "/")


_STRING, _LINE, _NO_LINE = 7, 8, 317  # opcodes


def _without_lines(lined, keeps_strings):
    words = memoryview(lined).cast("I")
    kept, at = list(words[:5]), 5
    dropped = (_LINE, _NO_LINE) if keeps_strings else (_LINE, _NO_LINE, _STRING)
    while at < len(words):
        count = words[at] >> 16
        if words[at] & 0xFFFF not in dropped:
            kept += words[at : at + count]
        at += count
    return array.array("I", kept).tobytes()


def _source_map(words, lined):
    """(files, rows of (word, file, line, column)) of a module, by one with OpLine that has the same
    other instructions in the same order."""
    plain, other = memoryview(words).cast("I"), memoryview(lined).cast("I")
    names, files, rows = {}, [], []
    at, here, current = 5, 5, None
    while at < len(other):
        count, op = other[at] >> 16, other[at] & 0xFFFF
        if op == _STRING:
            text = lined[4 * (at + 2) : 4 * (at + count)]
            names[other[at + 1]] = text[: text.index(0)].decode("utf-8", "replace")
        elif op == _LINE:
            name = names[other[at + 1]]
            if name not in files:
                files.append(name)
            current = (files.index(name), other[at + 2], other[at + 3])
        elif op == _NO_LINE:
            current = None
        else:
            while plain[here] & 0xFFFF == _STRING:  # of debug information
                here += plain[here] >> 16
            if plain[here] & 0xFFFF != op:
                raise UnsupportedError("a source map: the module with lines is another")
            if current is not None and (not rows or rows[-1][1:] != current):
                rows.append((here, *current))
            here += plain[here] >> 16
        at += count
    return files, rows
