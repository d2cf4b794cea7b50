"""OpenCL devices through PyOpenCL, which is imported when a device of this kind is first asked for.

The argument block goes by value, as one struct of words: no vector or struct argument of the user's
is left to the driver's idea of a layout. A kernel object carries its arguments, so each has a lock.
"""

import atexit
import contextlib
import os
import threading
import time
import weakref
from collections import OrderedDict

from .._native import core
from ..errors import DeviceError, DeviceLost, OutOfMemory, UnsupportedError
from ..plan import Limits, check_limits
from .device import DeviceBase, DeviceInfo, Executable, most_bytes, size_class, small_and_apart

KEPT = 256  # built programs that stay although no kernel holds them
_OUT_OF_MEMORY = (-4, -5, -6, -61)  # no memory of some sort; a buffer over the limit
_LOST = (-36, -9999)  # invalid queue, and NVIDIA's code for a fault in a kernel

cl = None


def _load():
    """PyOpenCL, or an ImportError."""
    global cl
    if cl is None:
        os.environ.setdefault("PYOPENCL_NO_CACHE", "1")  # its disk cache locks the home directory
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # notices about optional parts that are not used here
            import pyopencl

        cl = pyopencl
    return cl


def translated(error, call):
    """The lcpy error of a PyOpenCL error."""
    return _error(getattr(error, "code", 0), f"{call}: {error}")


def _error(code, text):
    kind = OutOfMemory if code in _OUT_OF_MEMORY else DeviceLost if code in _LOST else DeviceError
    return kind(text)


# ---- discovery ----------------------------------------------------------------------------------
def discover():
    try:
        _load()
    except ImportError as error:
        return [], (
            "OpenCL needs PyOpenCL: pip install lcpy[opencl], which brings PoCL for the processor "
            f"({error})"
        )
    found, left_out = [], []
    try:
        platforms = cl.get_platforms()
    except cl.Error:
        platforms = []
    for platform in platforms:
        try:
            devices = platform.get_devices()
        except cl.Error:
            continue
        for device in devices:
            reason = _unusable(platform, device)
            if reason is None:
                found.append(device)
            else:
                left_out.append(f"{device.name} of {platform.version} was left out: {reason}")
    found.sort(key=_rank)
    infos = [_describe(f"opencl:{i}", device) for i, device in enumerate(found)]
    if left_out:
        hint = "Debian's package pocl-opencl-icd has a newer PoCL"
        return infos, f"{'; '.join(left_out)}. {hint}"
    if infos:
        return infos, None
    return [], (
        "no OpenCL device answers: install the GPU's driver, or for the processor "
        "pip install pocl-binary-distribution or Debian's pocl-opencl-icd"
    )


def _type_of(device):
    if device.type & cl.device_type.GPU or device.type & cl.device_type.ACCELERATOR:
        return "integrated" if device.host_unified_memory else "discrete"
    return "software"


def _version(text):
    """(major, minor) of PoCL in a platform's version; None for other platforms."""
    _, found, rest = text.partition("PoCL ")
    if not found:
        return None
    numbers = rest.replace("-", ".").replace("+", ".").split(".")
    try:
        return int(numbers[0]), int(numbers[1])
    except (ValueError, IndexError):
        return None


def _rank(device):
    """GPUs first, then newer PoCL before older."""
    version = _version(device.platform.version) or (0, 0)
    return (
        {"discrete": 0, "integrated": 1, "software": 2}[_type_of(device)],
        -version[0],
        -version[1],
    )


def _unusable(platform, device):
    """Why a device cannot compile anything, or None. An old PoCL's LLVM may not know the processor:
    it is tried once, and the verdict kept in the user's cache."""
    version = _version(platform.version)
    if version is None or version >= (3, 1):
        return None
    path = _verdict_path(platform, device)
    try:
        with open(path) as file:
            return file.read() or None
    except OSError:
        pass
    reason = ""
    try:
        cl.Program(
            cl.Context([device]), "__kernel void probe(__global int* a) { a[0] = 1; }"
        ).build(cache_dir=False)
    except Exception as error:  # whatever the driver makes of it
        lines = [line for line in str(error).splitlines() if line.strip()]
        reason = next(
            (line for line in lines if "error" in line.lower()),
            lines[0] if lines else "it cannot compile",
        )
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        partial = f"{path}.{os.getpid()}"
        with open(partial, "w") as file:
            file.write(reason)
        os.replace(partial, path)
    except OSError:
        pass  # the cache is a convenience: without it the next process asks again
    return reason or None


def _verdict_path(platform, device):
    import hashlib

    key = hashlib.sha256(f"{platform.version}|{device.name}|{_processor()}".encode()).hexdigest()[
        :16
    ]
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, "lcpy", f"opencl-{key}")


def _processor():
    try:
        with open("/proc/cpuinfo") as file:
            return next((line for line in file if line.startswith("model name")), "")
    except OSError:
        return ""


def _describe(name, device):
    sizes = device.max_work_item_sizes
    unlimited = (1 << 31) - 1
    limits = Limits(
        storage_buffers=unlimited,
        uniform_buffers=0,
        sets=4,
        push_bytes=device.max_parameter_size,
        uniform_range=0,
        storage_range=device.max_mem_alloc_size,
        shared_bytes=device.local_mem_size,
        block_threads=device.max_work_group_size,
        block_x=sizes[0],
        block_y=sizes[1],
        block_z=sizes[2],
        groups_x=unlimited,
        groups_y=unlimited,
        groups_z=unlimited,
    )
    extensions = set(device.extensions.split())
    features = {
        "int64": True,
        "float64": "cl_khr_fp64" in extensions,
        "float16": "native" if "cl_khr_fp16" in extensions else "emulated",
        "int64_atomics": {"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"}
        <= extensions,
        "denormals": bool(device.single_fp_config & cl.device_fp_config.DENORM),
        "exact_division": bool(
            device.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
        ),
    }
    features["ptx"] = device.platform.name == "NVIDIA CUDA"
    features |= {
        "clock": "cl_khr_kernel_clock" in extensions,
        "subgroups": "cl_khr_subgroups" in extensions,
        "subgroup_vote": "cl_khr_subgroup_non_uniform_vote" in extensions,
        "subgroup_ballot": "cl_khr_subgroup_ballot" in extensions,
        "subgroup_arithmetic": "cl_khr_subgroup_non_uniform_arithmetic" in extensions,
        "subgroup_shuffle": "cl_khr_subgroup_shuffle" in extensions,
    }
    return DeviceInfo(
        name,
        "opencl",
        _type_of(device),
        device.name.strip(),
        device.platform.version,
        dict(limits._asdict(), warp_size=_warp_size(device, features)),
        features,
        device,
    )


def _warp_size(device, features):
    """Lanes of a warp, where kernels may use them and the device says how many; else 0."""
    if not features["subgroups"]:
        return 0
    for name in ("warp_size_nv", "wavefront_width_amd", "sub_group_sizes_intel"):
        try:
            size = getattr(device, name)
            return int(max(size) if hasattr(size, "__len__") else size)
        except Exception:  # whatever the binding makes of a query that the driver does not know
            continue
    return 0


def open_device(info):
    return OpenclDevice(info)


# ---- memory -------------------------------------------------------------------------------------
class Memory(core.DeviceAddress):
    """What a Buffer holds: a cl.Buffer, which goes back to its device's pool."""

    __slots__ = ("buffer", "nbytes", "pool", "__weakref__")

    def __init__(self, buffer, nbytes, pool):
        self.buffer, self.nbytes, self.pool = buffer, nbytes, pool
        self.pointer, self.size = buffer.int_ptr, nbytes

    def __del__(self):
        if self.pool is not None:
            self.pool.give_back(self.buffer, self.nbytes)


class Pool:
    """Memory given back, kept for the next buffer of its size: drivers take long to make one.

    The queue is in order, so what was given back is free when the next command begins.
    """

    SMALLEST = 256  # bytes
    SHARE = 16  # of the device's memory, at most this part is kept

    def __init__(self, context, device):
        self.context, self.limit = context, device.global_mem_size // self.SHARE
        self.most = device.max_mem_alloc_size  # of one buffer
        self.free, self.kept = {}, 0
        self.lock = threading.RLock()  # a collection may give back while memory is taken

    def take(self, nbytes):
        size = self.rounded(nbytes)
        with self.lock:
            free = self.free.get(size)
            if free:
                self.kept -= size
                return Memory(free.pop(), size, self)
        try:
            return Memory(self._make(size), size, self)
        except cl.Error as error:
            if getattr(error, "code", 0) not in _OUT_OF_MEMORY or not self.kept:
                raise
        self.clear()
        return Memory(self._make(size), size, self)

    def _make(self, size):
        return cl.Buffer(self.context, cl.mem_flags.READ_WRITE, size)

    def rounded(self, nbytes):
        """The next power of two; above 1 MiB the next eighth of one."""
        size = size_class(nbytes, self.SMALLEST)
        if size <= 1 << 20:
            return size
        step = size // 16
        rounded = -(-nbytes // step) * step
        return rounded if rounded <= self.most else nbytes

    def give_back(self, buffer, size):
        with self.lock:
            if self.kept + size <= self.limit:
                self.kept += size
                self.free.setdefault(size, []).append(buffer)

    def clear(self):
        with self.lock:
            self.free, self.kept = {}, 0


def _launch_calls(queue):
    """core.OpenclCalls, or None where PyOpenCL does not show the functions that it is linked to."""
    import ctypes

    try:
        linked = ctypes.CDLL(cl._cl.__file__)
        functions = linked.clSetKernelArg, linked.clEnqueueNDRangeKernel
    except (OSError, AttributeError):
        return None
    return core.OpenclCalls(
        queue.int_ptr, *[ctypes.cast(f, ctypes.c_void_p).value for f in functions]
    )


# ---- the device ---------------------------------------------------------------------------------
class OpenclDevice(DeviceBase):
    """One context with one in-order queue, made with the device."""

    def __init__(self, info):
        super().__init__(info)
        self.plan_limits = Limits.of(info.limits)
        try:
            self.context = cl.Context([info._handle])
            self.queue = cl.CommandQueue(self.context)
        except cl.Error as error:
            raise translated(error, f"making a context on {self.name}") from None
        self.calls = _launch_calls(self.queue)
        # Kernels are first built for small buffers that are apart, where a compiler gains by it.
        self.restricts = info.features["ptx"]
        self.pool = Pool(self.context, info._handle)
        self.memory_size = info._handle.global_mem_size
        # OpenCL's full profile bounds functions to some ULP; the embedded one hardly does.
        self.own_functions = 0
        self.own_double_functions = False
        if "EMBEDDED" in info._handle.profile:
            self.own_functions = core.own_functions()
        elif _version(info._handle.platform.version):  # PoCL: tanh(inf) is below 1
            self.own_functions = core.own_functions(["tanh"])
        self.built = OrderedDict()  # (source, options) -> program
        self.lock = threading.Lock()
        atexit.register(_finish, weakref.ref(self))

    def refuse(self, text, kind=DeviceError):
        super().refuse(text, kind)
        if self.calls is not None:
            self.calls.stopped = True

    def allocate(self, nbytes, zero):
        self.check()
        if nbytes > self.memory_size:  # some drivers find out at the first launch
            raise OutOfMemory(
                f"allocating {nbytes} bytes on {self.name}, which has {self.memory_size}"
            )
        try:
            memory = self.pool.take(nbytes)
            if zero:
                self._fill(memory, 0, bytes(16 if nbytes % 16 == 0 else 1), nbytes)
            return memory, 0
        except cl.Error as error:
            raise translated(error, f"allocating {nbytes} bytes on {self.name}") from None

    def _fill(self, memory, offset, pattern, nbytes):
        import numpy

        end = offset + nbytes
        if len(pattern) < 4 and end > 1 << 31:
            # NVIDIA's queue is lost by filling parts of words that far out: they are written.
            start, body = offset, min(offset + -offset % 4, end)
            offset, end = body, body + (end - body) // 4 * 4
            for at, count in ((start, body - start), (end, start + nbytes - end)):
                if count:
                    ends = numpy.frombuffer(pattern * 4, numpy.uint8, count)
                    cl.enqueue_copy(self.queue, memory.buffer, ends, dst_offset=at)
        if end > offset:
            data = numpy.frombuffer(pattern, numpy.uint8)
            cl.enqueue_fill_buffer(self.queue, memory.buffer, data, offset, end - offset)

    def fill(self, memory, offset, pattern, count):
        size = len(pattern)
        if size & (size - 1) or size > 128 or offset % size:  # OpenCL takes powers of two
            super().fill(memory, offset, pattern, count)
            return
        self.check()
        try:
            self._fill(memory, offset, pattern, size * count)
        except cl.Error as error:
            raise translated(error, f"filling {size * count} bytes on {self.name}") from None

    def _map(self, memory, flags, offset, nbytes, work):
        import numpy

        self.check()
        try:
            array, event = cl.enqueue_map_buffer(
                self.queue, memory.buffer, flags, offset, (nbytes,), numpy.uint8
            )
            event.wait()
            try:
                work(array.__array_interface__["data"][0])
            finally:
                array.base.release(self.queue)
        except cl.Error as error:
            raise translated(error, f"copying {nbytes} bytes to or from {self.name}") from None

    def upload(self, memory, offset, nbytes, write):
        self._map(memory, cl.map_flags.WRITE, offset, nbytes, write)

    def download(self, memory, offset, nbytes, read):
        self._map(memory, cl.map_flags.READ, offset, nbytes, read)

    def copy(self, to, to_offset, source, source_offset, nbytes):
        self.check()
        try:
            cl.enqueue_copy(
                self.queue,
                to.buffer,
                source.buffer,
                src_offset=source_offset,
                dst_offset=to_offset,
                byte_count=nbytes,
            )
        except cl.Error as error:
            raise translated(error, f"copying {nbytes} bytes on {self.name}") from None

    def compile(self, request):
        self.check()
        descriptor, name = request.descriptor, request.name
        check_limits(self.plan_limits, name, descriptor.block_size, descriptor.shared_bytes)
        buffers = sum(s[2] == "global" for s in descriptor.slots)
        need = descriptor.argument_block()[0] + buffers * 8
        self.plan_limits.require("push_bytes", need, f"kernel '{name}'", "bytes of arguments")
        return OpenclExecutable(self, request, buffers, self.restricts)

    def program(self, request, restrict, times):
        """The descriptor's program, built; `times` grows."""
        descriptor, features = request.descriptor, self.features
        start = time.perf_counter()
        # Subgroups came to the language with 2.0, and are optional in 3.0.
        source, options = request.opencl(
            30 if descriptor.uses_warp else 12,
            features["exact_division"],
            fp64=features["float64"],
            fp16=features["float16"] == "native",
            int64_atomics=features["int64_atomics"],
            ptx=features["ptx"],
            clock=features["clock"],
            restrict=restrict,
            **{name: value for name, value in features.items() if name.startswith("subgroup")},
            own_functions=self.own_functions,
            own_double_functions=self.own_double_functions,
        )
        emitted = time.perf_counter()
        program = self._program(request.name, source, tuple(options.split()))
        times["core"] += emitted - start
        times["driver"] += time.perf_counter() - emitted
        return program

    def _program(self, name, source, options):
        with self.lock:
            program = self.built.get((source, options))
            if program is not None:
                self.built.move_to_end((source, options))
                return program
        import warnings

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the compiler's notices about our own source
                program = cl.Program(self.context, source).build(
                    options=list(options), cache_dir=False
                )
        except cl.Error as error:
            raise DeviceError(f"{self.name} could not compile kernel '{name}': {error}") from None
        with self.lock:
            self.built[source, options] = program
            if len(self.built) > KEPT:
                self.built.popitem(last=False)
        return program

    def wait(self):
        self.check()
        try:
            self.queue.finish()
        except cl.Error as error:
            raise translated(error, f"finishing the queue of {self.name}") from None


def _finish(reference):
    """At the process' end: a driver may crash when it is unloaded under the threads that work."""
    device = reference()
    if device is not None and device._refused is None:
        with contextlib.suppress(cl.Error):  # nobody is left who could be told
            device.queue.finish()


class OpenclExecutable(core.OpenclExecutable, Executable):
    """A built kernel; arguments are set under a lock. The usual launch is the core's.

    `restrict`: it is for buffers of which no two are in one memory and none has 2^31 elements;
    other launches get an executable without it.
    """

    def __init__(self, device, request, buffers, restrict):
        self.device, self.request, self.restrict = device, request, restrict
        self.name, self.block_size = request.name, request.descriptor.block_size
        self.times = {"core": 0.0, "validation": 0.0, "driver": 0.0}
        program = device.program(request, restrict, self.times)
        self.kernel = cl.Kernel(program, "lcpy_main")
        self.buffers = buffers
        self.unrestricted = None
        self.lock = threading.Lock()
        threads = self.kernel.get_work_group_info(
            cl.kernel_work_group_info.WORK_GROUP_SIZE, device.info._handle
        )
        x, y, z = self.block_size
        if x * y * z > threads:
            raise UnsupportedError(
                f"kernel '{self.name}' needs {x * y * z} threads of a block; {device.name} runs "
                f"this kernel with {threads}"
            )
        self.most_bytes = most_bytes(request.descriptor) if restrict else []
        self._prepare(
            device.calls,
            self.kernel.int_ptr,
            self.lock,
            self.block_size,
            restrict,
            self.most_bytes,
        )

    def failed(self, code):
        """Raises what a result other than success means."""
        name = cl.status_code.to_string(code, "%d")
        raise _error(code, f"launching kernel '{self.name}' on {self.device.name}: {name}")

    def launch(self, memories, block, x, y, z):
        device = self.device
        if device._refused is not None:
            device.check()
        if self.restrict and not small_and_apart(memories, self.most_bytes):
            if self.unrestricted is None:
                self.unrestricted = OpenclExecutable(device, self.request, self.buffers, False)
            self.unrestricted.launch(memories, block, x, y, z)
            return
        bx, by, bz = self.block_size
        size = ((x + bx - 1) // bx * bx, (y + by - 1) // by * by, (z + bz - 1) // bz * bz)
        kernel = self.kernel
        with self.lock:
            try:
                for i, memory in enumerate(memories):
                    kernel.set_arg(i, memory.buffer)
                kernel.set_arg(self.buffers, block)
                cl.enqueue_nd_range_kernel(device.queue, kernel, size, self.block_size)
            except cl.Error as error:
                raise translated(
                    error, f"launching kernel '{self.name}' on {device.name}"
                ) from None
