"""Kernels of artifacts on a device: launched as others are, with nothing compiled but what the
driver does."""

import threading
from collections import OrderedDict

from . import layout, types
from ._native import core
from .errors import ArgumentError, UnsupportedError
from .front import MISSING
from .launch import CompileRequest, _dispatch, bind, bound_call, checked_value
from .plan import Parameter
from .run.buffer import Buffer

KEPT = 64  # modules that SPIRV-Tools need not look at again in this process
_valid = OrderedDict()  # (words, environment)
KIND_OF = {"spirv": "vulkan", "opencl": "opencl", "cuda": "cuda", "cpu": "cpu"}


class StoredRequest(CompileRequest):
    """What a device is asked to compile: an artifact's code, as it is."""

    is_validated = True  # here, whatever the device's option says

    def __init__(self, artifact):
        descriptor = artifact.descriptor
        if artifact.target == "cpu" and not hasattr(descriptor, "text"):
            descriptor = core.parse_descriptor(artifact.data.decode())
        super().__init__(artifact.name, descriptor, artifact.math, 0.0, 0.0)
        self.artifact = artifact

    def _whole(self, fold):
        if fold:
            raise UnsupportedError(
                f"artifact '{self.name}': a dispatch of more blocks than the device takes at once; "
                "the kernel itself, compiled here, can be folded into fewer"
            )

    def plan(self, limits):
        plan, who = self.artifact.plan, f"artifact '{self.name}'"
        limits.require("storage_buffers", len(plan.sets[0]) + (plan.block == "storage"), who)
        limits.require("sets", len(plan.sets), who)
        if plan.block == "push":
            limits.require("push_bytes", plan.block_bytes, who)
        return plan

    def spirv(self, plan, fold, target, lines=False):
        from . import spirv

        self._whole(fold)
        artifact = self.artifact
        if spirv.available() and (artifact.data, artifact.environment) not in _valid:
            try:
                spirv.validate(artifact.data, artifact.environment)
            except spirv.ValidationError as error:
                raise self._placed(error) from None
            _valid[artifact.data, artifact.environment] = True
            if len(_valid) > KEPT:
                _valid.popitem(last=False)
        return _Module(artifact)

    def _placed(self, error):
        """The validator's error with the line of the source, by the artifact's map."""
        from .spirv import ValidationError

        rows = [
            row for row in self.artifact.lines if error.word is not None and row[0] <= error.word
        ]
        if not rows:
            return error
        _, file, line, _ = rows[-1]
        return ValidationError(f"{error}\n  from {file}:{line}", error.word, file, line)

    def opencl(self, version, correct_divide_sqrt, **target):
        return self.artifact.text, self.artifact._fields["build_options"]

    def cuda(self, arch, fold, restrict):
        self._whole(fold)
        return self.artifact.text, self.artifact._fields["build_options"]

    def dynamic_shared(self):
        return self.artifact._fields["dynamic_shared"]


class _Module:
    """As core.emit_spirv gives one."""

    def __init__(self, artifact):
        self.words = artifact.data
        self.capabilities = tuple(f for f in artifact.features if not f.startswith("SPV_"))
        self.extensions = tuple(f for f in artifact.features if f.startswith("SPV_"))
        self.shared_bytes = artifact._fields["shared_bytes"]


def _check_device(artifact, device):
    """UnsupportedError where the device's Vulkan or driver is not what the artifact is for."""
    # A module for 1.4 is one for 1.3: nothing of 1.4 is used yet.
    needed = min(int(artifact.environment.removeprefix("vulkan1.")), 3)
    have = device.physical.version >> 12 & 0x3FF
    if needed > have:
        raise UnsupportedError(
            f"artifact '{artifact.name}' is for Vulkan 1.{needed} and later; {device.name} has "
            f"1.{have}"
        )
    from .run.vulkan import drivers

    own = drivers.name_of(device.physical.driver_id) or "none"
    for need in artifact.features:
        other = need.startswith("driver ") and need != f"driver {own}"
        if other or (need in drivers.ASSUMED and not device.target.get(need, True)):
            raise UnsupportedError(
                f"artifact '{artifact.name}' needs '{need}', which {device.name} is not or lacks; "
                f"compile it with driver={own!r}"
            )


def _check_extensions(artifact, device):
    have = device.info._handle.extensions.split()
    missing = [name for name in artifact.features if name not in have]
    if missing:
        raise UnsupportedError(
            f"artifact '{artifact.name}' needs {', '.join(missing)}, which {device.name} lacks"
        )


class LoadedKernel(core.KernelBase):
    """An artifact's kernel on one device: call it with arguments and ``dispatch_size``.

    Attributes
    ----------
    artifact : Artifact
    device : Device
    """

    def __init__(self, artifact, device=None):
        from .run.device import resolve

        artifact._without_captures()
        kind = KIND_OF[artifact.target]
        device = resolve(kind if device is None else device)
        if device.kind != kind:
            raise UnsupportedError(
                f"artifact '{artifact.name}' is for {kind}; {device.name} is not"
            )
        if kind == "vulkan":
            _check_device(artifact, device)
        elif kind == "opencl":
            _check_extensions(artifact, device)
        self.artifact, self.device, self.__name__ = artifact, device, artifact.name
        self._parameters = [
            Parameter(name, types.from_core(core.type_parse(description)), 0)
            for name, description in artifact.parameters
        ]
        self._views = any(slot["base"] >= 0 for slot in artifact._fields["slots"])
        self._calls, self._lock = {}, threading.Lock()
        self._executable = device.compile(StoredRequest(artifact))

    def __repr__(self):
        return f"<{self.artifact!r} on {self.device.name}>"

    def _call_for(self, ragged):
        with self._lock:
            found = self._calls.get(ragged)
            if found is None:
                found = self._calls[ragged] = bound_call(
                    self.__name__,
                    self.artifact.descriptor,
                    self._parameters,
                    self._executable,
                    self.device,
                    self.artifact.block_size,
                    ragged,
                    views=self._views,
                )
            return found

    # ---- a launch with every check --------------------------------------------------------------
    def _launch(self, args, named, dispatch_size):
        """The user's mistake, or the trap of a launch that has ended; None where it started."""
        try:
            given = [(p.name, MISSING) for p in self._parameters]
            values = bind(self.__name__, given, args, named)
            values = [self._accepted(p, v) for p, v in zip(self._parameters, values)]
            _, size = _dispatch(dispatch_size)
            self.device.check()
            if 0 in size:
                return None
            ragged = any(n % b for n, b in zip(size, self.artifact.block_size))
            if ragged and not self.artifact._fields["ragged"]:
                raise ArgumentError(
                    f"{self.__name__}: dispatch_size {size} is not whole blocks of "
                    f"{self.artifact.block_size}, as the artifact was compiled for"
                )
            call = self._call_for(ragged)
            trap = call.launch(tuple(values), size, True)
            if trap is False:
                raise ArgumentError(f"{self.__name__}: these arguments do not fit the artifact")
            self._remember(call)
            return None if trap is True else trap
        except (ArgumentError, UnsupportedError) as error:
            return error.with_traceback(None)

    def _accepted(self, parameter, value):
        T, what = parameter.type, f"argument '{parameter.name}'"
        if T.kind != "buffer":
            return checked_value(T, value, what)
        if not isinstance(value, Buffer):
            raise ArgumentError(f"{what}: wanted {T.__name__}, got {layout._describe(value)}")
        if value.memory is None:
            raise ArgumentError(f"{what}: this buffer was released")
        if value.device is not self.device:
            raise ArgumentError(
                f"{what} is on {value.device.name}; the artifact was loaded on {self.device.name}"
            )
        if value._kernel_type._type != T._type:
            raise ArgumentError(f"{what}: wanted {T.__name__}, got {value._kernel_type.__name__}")
        if value.offset and not self._views and not self.device.program_is_host:
            raise UnsupportedError(
                f"{what}: a view that begins within its buffer; the artifact was compiled for "
                "whole ones (views=True takes both)"
            )
        return value
