"""Kernels on the host: binding and checking of arguments, specialisation, launch.

A call first tries the bound call of the last launch (core.BoundCall: a table of the arguments, no
Python objects made). Whatever does not fit it comes to `Kernel._launch`, which finds what is wrong
or specialises anew.
"""

import threading
import time

from . import front, layout, types
from ._native import core
from .errors import ArgumentError, CompileError, InternalError, UnsupportedError
from .run.buffer import Buffer, ByteBuffer
from .run.device import default_device, resolve

on_compile = None  # called after each build with {kernel, device, front, core, validation, driver}
DEFAULT_BLOCKS = {1: (256, 1, 1), 2: (16, 16, 1), 3: (8, 8, 4)}
STALE_LIMIT = 16  # specialisations kept of one signature whose captured values have changed


def kernel(function=None, *, block_size=None, math="ieee", bounds="off", opt=1):
    """Decorator: makes a kernel of a Python function.

    Parameters
    ----------
    block_size : int or tuple of one to three ints, optional
        Threads of a block; 256, 16×16 or 8×8×4 by the dispatch's axes if None.
    math : "ieee", "strict" or "fast"
    bounds : "off" or "trap"
        "trap": an access out of range does nothing or reads zero, and the launch raises
        KernelTrap.
    opt : int
        0 runs no optional pass; the same bits.
    """
    if function is None:
        return lambda f: Kernel(f, block_size, math, bounds, opt)
    return Kernel(function, block_size, math, bounds, opt)


class CompileRequest:
    """What a device compiles: one specialisation as a descriptor. Devices ask it for code, since a
    loaded artifact (lcpy/loaded.py) has that and no descriptor to make it of."""

    is_validated = False  # whether `spirv` gives modules that SPIRV-Tools has seen

    def __init__(self, name, descriptor, math, front_seconds, lower_seconds):
        self.name, self.descriptor, self.math = name, descriptor, math
        self.front_seconds, self.lower_seconds = front_seconds, lower_seconds

    def plan(self, limits):
        """The interface plan for a device's limits."""
        from .artifact import plan_of

        return plan_of(self.name, self.descriptor, limits)

    def spirv(self, plan, fold, target, lines=False):
        return core.emit_spirv(self.descriptor, plan, fold=fold, lines=lines, **target)

    def opencl(self, version, correct_divide_sqrt, **target):
        """(source, the compiler's options)"""
        options = core.opencl_build_options(
            self.descriptor, version=version, correct_divide_sqrt=correct_divide_sqrt
        )
        return core.emit_opencl(self.descriptor, **target), options

    def cuda(self, arch, fold, restrict):
        """(source, the compiler's options)"""
        source = core.emit_cuda(self.descriptor, arch=arch, fold=fold, restrict=restrict)
        return source, core.cuda_build_options(self.descriptor, arch)

    def dynamic_shared(self):
        """Bytes of shared memory that a launch on CUDA passes."""
        return core.cuda_dynamic_shared(self.descriptor)


class _Specialisation:
    """One traced kernel, its descriptors by variant, and its bound calls by device and variant."""

    def __init__(self, kernel, class_list, block_size, exact):
        start = time.perf_counter()
        names = [p.name for p in kernel._parameters]
        traced = front.trace_kernel(
            kernel.function,
            list(zip(names, class_list)),
            block_size=block_size,
            name=kernel.__name__,
            bounds=kernel.bounds == "trap",
        )
        self.front_seconds = time.perf_counter() - start
        self.builder = traced.builder
        self.captures = traced.captures or None  # nothing captured: nothing to look after
        self.bound = list(traced.bound)
        self.block_size = block_size
        self.kernel = kernel
        from .plan import Parameter

        self.parameters = [Parameter(n, T, e) for n, T, e in zip(names, class_list, exact)]
        self.parameters += [
            Parameter(f"captured {i}", b._kernel_type, 0) for i, b in enumerate(self.bound)
        ]
        self.descriptors = {}
        self.calls = {}

    def unchanged(self):
        return self.captures is None or self.captures.unchanged()

    def descriptor(self, ragged, views, math=None):
        math = math or self.kernel.math
        found = self.descriptors.get((ragged, views, math))
        if found is None:
            start = time.perf_counter()
            bounds = self.kernel.bounds == "trap"
            made = core.lower(self.builder, math, self.kernel.opt, ragged, views, bounds)
            found = self.descriptors[ragged, views, math] = (made, time.perf_counter() - start)
        return found

    def call(self, device, ragged, views, dims, follows_default):
        key = (device, ragged, views, dims)
        found = self.calls.get(key)
        if found is None:
            found = self.calls[key] = self._build(device, ragged, views, dims, follows_default)
        return found

    def _build(self, device, ragged, views, dims, follows_default):
        views = views and not device.program_is_host
        descriptor, lower_seconds = self.descriptor(ragged, views)
        request = CompileRequest(
            self.kernel.__name__, descriptor, self.kernel.math, self.front_seconds, lower_seconds
        )
        executable = device.compile(request)
        if on_compile is not None:
            times = dict(executable.times)
            times["core"] += lower_seconds
            on_compile(
                {
                    "kernel": self.kernel.__name__,
                    "device": device.name,
                    "front": self.front_seconds,
                    **times,
                }
            )
        return bound_call(
            self.kernel.__name__,
            descriptor,
            self.parameters,
            executable,
            device,
            self.block_size,
            ragged,
            views=views,
            dims=dims,
            bound=self.bound,
            captures=self.captures,
            follows_default=follows_default,
        )


def bound_call(
    name, descriptor, parameters, executable, device, block_size, ragged, *, views=False, dims=0,
    bound=(), captures=None, follows_default=False,
):  # fmt: skip
    """The core.BoundCall of a kernel that is built, of its descriptor or what an artifact has of
    one."""
    from .plan import pack_table

    block_bytes, entries = descriptor.argument_block()
    rows = pack_table(parameters, descriptor.slots, entries, descriptor.counted_in_32_bits)
    sites = None
    if descriptor.report_tag is not None:
        from .run.report import Sites

        sites = Sites(name, descriptor, entries[descriptor.report_tag][0])
    program = executable.program if device.program_is_host else None
    return core.BoundCall(
        rows, bound, captures, device, executable, program, block_size, block_bytes, ragged, views,
        dims, follows_default, device.threads, sites,
    )  # fmt: skip


def bind(name, parameters, args, named):
    """Values by parameter, (name, default) each, from positional and keyword arguments."""
    n = len(parameters)
    if "stream" in named:
        if named["stream"] is not None:
            raise UnsupportedError(
                "stream: each device has one in-order stream; lc.Stream is not here yet"
            )
        named = {k: v for k, v in named.items() if k != "stream"}
    if len(args) > n:
        raise ArgumentError(f"{name}() takes {n} arguments, {len(args)} given")
    index = {own: i for i, (own, _) in enumerate(parameters)}
    values = list(args) + [front.MISSING] * (n - len(args))
    for key, value in named.items():
        i = index.get(key)
        if i is None:
            raise ArgumentError(f"{name}() has no argument '{key}'")
        if i < len(args):
            raise ArgumentError(f"{name}(): argument '{key}' is given twice")
        values[i] = value
    for i, (own, default) in enumerate(parameters):
        if values[i] is front.MISSING:
            if default is front.MISSING:
                raise ArgumentError(f"{name}(): argument '{own}' is missing")
            values[i] = default
    return values


def checked_value(T, value, what):
    """An argument by value, normalised; ArgumentError where it is none of the type."""
    if T.kind == "scalar":
        return layout.check_scalar(T, value, what)
    layout.packer(T).flatten(value, [], what)
    return value


class Kernel(core.KernelBase):
    """A kernel: call it with arguments and ``dispatch_size``.

    Attributes
    ----------
    function
        The Python function it was made of.
    block_size : tuple of three ints, or None
    math, opt
    """

    def __init__(self, function, block_size=None, math="ieee", bounds="off", opt=1):
        if not hasattr(function, "__code__"):
            raise ArgumentError(f"lc.kernel: wanted a Python function, got {types.shown(function)}")
        if type(math) is not str or math not in ("ieee", "strict", "fast"):
            raise ArgumentError(f"math: 'ieee', 'strict' or 'fast', not {types.shown(math)}")
        if type(bounds) is not str or bounds not in ("off", "trap"):
            raise ArgumentError(f"bounds: 'off' or 'trap', not {types.shown(bounds)}")
        if type(opt) not in (int, bool) or opt not in (0, 1):
            raise ArgumentError(f"opt: 0 or 1, not {types.shown(opt)}")
        self.function, self.math, self.bounds, self.opt = function, math, bounds, opt
        self.block_size = None if block_size is None else _three(block_size, "block_size")
        if self.block_size is not None and 0 in self.block_size:
            raise ArgumentError(f"block_size: {types.shown(block_size)} has no threads")
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.__wrapped__ = function
        self._parameter_list = None
        self._specialisations = {}
        self._lock = threading.RLock()

    def __repr__(self):
        return f"<lc.kernel {self.__qualname__}>"

    @property
    def _parameters(self):
        if self._parameter_list is None:
            self._parameter_list = front.parameters(self.function)
        return self._parameter_list

    # ---- launch ---------------------------------------------------------------------------------
    def _launch(self, args, named, dispatch_size):
        """The careful way: every check, in order, then the launch. Returns the user's mistake, or
        the KernelTrap of a launch that has ended."""
        try:
            return self._check_and_launch(args, named, dispatch_size)
        except (ArgumentError, CompileError, UnsupportedError) as error:
            error.__cause__ = None
            error.__suppress_context__ = True
            return error.with_traceback(None)

    def _check_and_launch(self, args, named, dispatch_size):
        values, class_list, exact = self._check_arguments(
            bind(self.__name__, [(p.name, p.default) for p in self._parameters], args, named)
        )
        dims, size = _dispatch(dispatch_size)
        device, follows_default = self._device_of(values)
        if 0 in size:
            return None
        block = self.block_size or DEFAULT_BLOCKS[dims]
        with self._lock:
            made = self._specialise(tuple(class_list), block, exact)
            if made.bound:
                device, follows_default = self._device_of(values + made.bound)
            ragged = any(n % b for n, b in zip(size, block))
            views = any(isinstance(v, Buffer) and v.offset for v in values + made.bound)
            dims = dims if self.block_size is None else 0
            call = made.call(device, ragged, views, dims, follows_default)
        trap = call.launch(tuple(values), size, True)
        if trap is False:
            raise InternalError(f"kernel '{self.__name__}': checked arguments were not taken")
        self._remember(call)
        return None if trap is True else trap

    def _check_arguments(self, values):
        """(normalised values, their type classes, how exactly the host's type decided)."""
        class_list, exact, out = [], [], []
        for parameter, value in zip(self._parameters, values):
            what = f"argument '{parameter.name}'"
            T = _annotated(parameter, what)
            if T is None and not isinstance(value, Buffer):
                T, how = _value_class(value, what)
            elif T is None or T.kind == "buffer":
                T, how = _buffer_class(T, value, what), 0
            else:
                how = 0
            if T.kind != "buffer":
                value = checked_value(T, value, what)
            class_list.append(T)
            exact.append(how)
            out.append(value)
        return out, class_list, exact

    def _device_of(self, values):
        """(device, whether it is the default for want of a buffer)."""
        device = first = None
        for i, value in enumerate(values):
            if not isinstance(value, Buffer):
                continue
            name = self._parameters[i].name if i < len(self._parameters) else "a captured buffer"
            if value.memory is None:
                raise ArgumentError(f"argument '{name}': this buffer was released")
            if device is None:
                device, first = value.device, name
            elif value.device is not device:
                raise ArgumentError(
                    f"argument '{name}' is on {value.device.name}, '{first}' on {device.name}: "
                    "all buffers of a launch are on one device"
                )
        if device is None:
            return resolve(default_device()), True
        device.check()
        return device, False

    def _specialise(self, class_list, block, exact=None):
        key = (class_list, block)
        made = self._specialisations.setdefault(key, [])
        for found in made:
            if found.unchanged():
                return found
        fresh = _Specialisation(self, list(class_list), block, exact or [0] * len(class_list))
        made.insert(0, fresh)
        del made[STALE_LIMIT:]
        return fresh

    # ---- without a launch -----------------------------------------------------------------------
    def _specialise_types(self, given, block_size=None):
        if len(given) != len(self._parameters):
            names = [p.name for p in self._parameters]
            raise ArgumentError(
                f"{self.__name__}: {len(names)} types wanted, for {names}; {len(given)} given"
            )
        class_list = []
        for parameter, T in zip(self._parameters, given):
            T = T if T is ByteBuffer else types.check_type(T, f"the type of '{parameter.name}'")
            wanted = _annotated(parameter, f"argument '{parameter.name}'")
            if wanted is not None and wanted is not T and not _packed_twin(wanted, T):
                raise ArgumentError(
                    f"argument '{parameter.name}': wanted {wanted.__name__}, got {T.__name__}"
                )
            class_list.append(T)
        block = (
            _three(block_size, "block_size") if block_size else self.block_size or DEFAULT_BLOCKS[1]
        )
        try:
            with self._lock:
                return self._specialise(tuple(class_list), block)
        except (CompileError, UnsupportedError) as error:
            raise error.with_traceback(None) from None

    def ast(self, *types_):
        """The kernel's AST for argument types: ``.json()``, ``.text()``."""
        return self._specialise_types(types_).builder

    def descriptor(self, *types_, ragged=True, view_offsets=False):
        """The kernel descriptor for argument types: ``.text()``."""
        return self._specialise_types(types_).descriptor(ragged, view_offsets)[0]

    def compile(
        self,
        *types_,
        target="spirv",
        vulkan="1.2",
        driver="any",
        math=None,
        block_size=None,
        ragged=True,
        debug=False,
        optimize=None,
        views=False,
    ):
        """An Artifact for argument types, without a device.

        Parameters
        ----------
        *types_
            One type for each parameter; of those that are annotated with one, nothing need be
            given if all are.
        target : "spirv", "opencl", "cuda" or "cpu"
        vulkan : "1.0", "1.1", "1.2", "1.3" or "1.4"
            Of "spirv": the least version of the devices that it is for.
        driver : "any", "none", "nvidia" or "llvmpipe"
            Of "spirv": "any" keeps clear of what any known driver gets wrong. The module of "none"
            is smaller, and for drivers that get nothing wrong; that of one driver may be faster,
            and runs with no other.
        math : "ieee", "strict" or "fast", optional
            The kernel's if None.
        block_size : int or tuple of ints, optional
            The kernel's if None, or 256.
        ragged : bool
            False: only for dispatches of whole blocks.
        debug : bool
            Of "spirv": names, and NonSemantic.Shader.DebugInfo.100 with functions, lines and the
            Python source, for tools that show them. File names are whole paths then.
        optimize : str or sequence of str, optional
            Of "spirv": passes of SPIRV-Tools' ``spirv-opt``, as "-O"; see lcpy.spirv.optimize. The
            same bytes come of the same version of SPIRV-Tools alone.
        views : bool
            True: buffers may be views that begin within their memory, for which each access adds
            an offset (of "cpu" they always may).
        """
        from .artifact import build_artifact

        made = self._specialise_types(types_ or self._annotated_types(), block_size)
        if math not in (None, "ieee", "strict", "fast"):
            raise ArgumentError(f"math: 'ieee', 'strict' or 'fast', not {types.shown(math)}")
        descriptor = made.descriptor(ragged, bool(views) and target != "cpu", math)[0]
        facts = {"math": math or self.math, "ragged": bool(ragged)}
        return build_artifact(
            self.__name__,
            descriptor,
            made.parameters,
            target,
            facts,
            vulkan,
            driver,
            debug,
            optimize,
        )

    def _annotated_types(self):
        """The types of all parameters by their annotations."""
        found = []
        for parameter in self._parameters:
            T = _annotated(parameter, f"argument '{parameter.name}'")
            if T is None:
                raise ArgumentError(
                    f"{self.__name__}: the type of '{parameter.name}' is not annotated; annotate "
                    "it, as in lc.Buffer[lc.float32], or give the types of all arguments"
                )
            found.append(T)
        return found


# ---- arguments ----------------------------------------------------------------------------------
def _three(size, what):
    axes = size if isinstance(size, (tuple, list)) else (size,)
    if not 1 <= len(axes) <= 3:
        raise ArgumentError(f"{what}: an int or a tuple of one to three, not {types.shown(size)}")
    out = []
    for n in axes:
        count = types.whole(n)
        if count is None:
            raise ArgumentError(f"{what}: wanted ints, got {types.shown(n)}")
        if not 0 <= count < 1 << 32:
            raise ArgumentError(f"{what}: {types.shown(count)} is out of range (0 to 4294967295)")
        out.append(count)
    return tuple(out + [1] * (3 - len(out)))


def _dispatch(size):
    """(number of axes as given, three extents)."""
    if size is None:
        raise ArgumentError(
            "dispatch_size: missing; it counts threads, as in dispatch_size=n or (w, h)"
        )
    dims = len(size) if isinstance(size, (tuple, list)) else 1
    return dims, _three(size, "dispatch_size")


def _annotated(parameter, what):
    """The type class that a parameter's annotation fixes; None where the argument decides."""
    annotation = parameter.annotation
    if annotation is None or annotation is Buffer:
        return None
    if annotation is ByteBuffer:
        return ByteBuffer
    T = types.check_type(annotation, f"the annotation of {what}")
    if T.kind == "ref":
        raise ArgumentError(f"{what}: a kernel takes no references; pass a buffer")
    return T


def _value_class(value, what):
    try:
        T = types.type_of(value)
    except ArgumentError:
        raise ArgumentError(
            f"{what}: {layout._describe(value)} has no lcpy type; annotate the parameter"
        ) from None
    # 1: a Python number of the same kind again has the same type; 2: only the careful way can tell.
    plain = type(value) in (bool, float) or (type(value) is int and T is types.INT32)
    return T, 1 if plain or T.kind != "scalar" else 2


def _buffer_class(T, value, what):
    """The buffer type that a launch specialises on: the annotation's, packed if the buffer is."""
    if not isinstance(value, Buffer):
        hint = (
            "; make a buffer of it: lc.Buffer(array)"
            if hasattr(value, "__array_interface__")
            else ""
        )
        raise ArgumentError(f"{what}: wanted {T.__name__}, got {layout._describe(value)}{hint}")
    own = value._kernel_type
    if T is None or T is own or _packed_twin(T, own):
        return own
    raise ArgumentError(f"{what}: wanted {T.__name__}, got {own.__name__}")


def _packed_twin(T, own):
    """Whether the two differ in padding alone, a property of the buffer and not of the type."""
    return T.kind == own.kind == "buffer" and T.element is own.element and T.rank == own.rank
