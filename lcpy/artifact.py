"""Compiled kernels as data: what ``kernel.compile`` gives."""

from ._native import core
from .errors import ArgumentError, UnsupportedError
from .plan import Limits, plan_interface

VULKAN_VERSIONS = {"1.1": 11, "1.2": 12, "1.3": 13}
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
    target : "spirv", "opencl" or "cuda"
    data : bytes
        SPIR-V words, or OpenCL C or CUDA C++ source in UTF-8.
    text : str
        OpenCL C or CUDA C++ source; of SPIR-V there is none here.
    plan : lcpy.plan.Plan
        Where the resources are bound.
    usage : dict
        Parameter name → "none", "read", "write" or "read_write".
    features : tuple of str
        What the module asks of the device: capabilities and extensions.
    """

    def __init__(self, target, name, data, plan, usage, features, descriptor, text=None):
        self.target, self.name, self.data, self.plan = target, name, data, plan
        self.usage, self.features, self.descriptor, self._text = usage, features, descriptor, text

    @property
    def text(self):
        if self._text is None:
            raise UnsupportedError(
                "text of SPIR-V needs the disassembler, which is not here yet; .data has the words"
            )
        return self._text

    def save(self, path):
        raise UnsupportedError(
            "saving artifacts needs the artifact container, which is not here yet"
        )

    def __repr__(self):
        return f"<Artifact {self.name}: {self.target}, {len(self.data)} bytes>"


def plan_of(name, descriptor, limits):
    """The interface plan of a descriptor."""
    slots = [(s[0], s[2], s[3]) for s in descriptor.slots]
    block_bytes = descriptor.argument_block()[0]
    return plan_interface(name, slots, block_bytes, limits, descriptor.indexes_arguments)


def build_artifact(name, descriptor, parameters, target, vulkan):
    """Compiles a descriptor for `target` without a device."""
    slots = descriptor.slots
    access = {s[4]: s[3] for s in slots if s[2] in ("global", "uniform")}
    usage = {p.name: access.get(i, "none") for i, p in enumerate(parameters)}
    if target == "opencl":
        source = core.emit_opencl(descriptor, fp16=True)
        plan = plan_of(name, descriptor, PORTABLE._replace(push_bytes=1 << 20))
        return Artifact("opencl", name, source.encode(), plan, usage, (), descriptor, source)
    if target == "cuda":
        source = core.emit_cuda(descriptor)
        plan = plan_of(name, descriptor, PORTABLE._replace(push_bytes=1 << 20))
        return Artifact("cuda", name, source.encode(), plan, usage, (), descriptor, source)
    if target != "spirv":
        raise ArgumentError(f"target: 'spirv', 'opencl' or 'cuda', not {target!r}")
    if str(vulkan) not in VULKAN_VERSIONS:
        raise ArgumentError(f"vulkan: '1.1', '1.2' or '1.3', not {vulkan!r}")
    plan = plan_of(name, descriptor, PORTABLE)
    module = core.emit_spirv(descriptor, plan, version=VULKAN_VERSIONS[str(vulkan)])
    features = module.capabilities + module.extensions
    return Artifact("spirv", name, module.words, plan, usage, features, descriptor)
