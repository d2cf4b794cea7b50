"""The logical device: its queue, what it owns, and the protocol of lcpy.run.device."""

import atexit
import weakref

from ..._native import core
from ...errors import DeviceError
from ...plan import Limits
from ..device import DeviceBase
from . import api, drivers
from .api import check, handle_key
from .commands import Commands
from .instance import SUBGROUP_OPERATIONS, USED_FEATURES
from .memory import Memory, MemoryTypes

# In which order what is left at the end is destroyed: users before what they use.
_ORDER = (
    "vkDestroyPipeline",
    "vkDestroyPipelineLayout",
    "vkDestroyDescriptorPool",
    "vkDestroyDescriptorSetLayout",
    "vkDestroyPipelineCache",
    "vkDestroyFence",
    "vkDestroyCommandPool",
    "vkDestroyBuffer",
    "vkFreeMemory",
)


class VulkanDevice(DeviceBase):
    """One logical device with one queue."""

    def __init__(self, info):
        super().__init__(info)
        self.physical = info._handle
        self.closed = False
        self._owned = {name: {} for name in _ORDER}
        self.plan_limits = Limits.of(info.limits)
        self.family = self._queue_family()
        self.handle, self.queue = self._create()
        self.memory_types = MemoryTypes(self)
        self.commands = Commands(self)
        self.target = self._target()
        from .pipeline import PipelineStore

        self.pipelines = PipelineStore(self)
        atexit.register(_close, weakref.ref(self))

    def _queue_family(self):
        ffi, lib = api.ffi, api.lib
        count = ffi.new("uint32_t*")
        lib.vkGetPhysicalDeviceQueueFamilyProperties(self.physical.handle, count, ffi.NULL)
        found = ffi.new("VkQueueFamilyProperties[]", count[0])
        lib.vkGetPhysicalDeviceQueueFamilyProperties(self.physical.handle, count, found)
        for i in range(count[0]):
            if found[i].queueFlags & lib.VK_QUEUE_COMPUTE_BIT:
                return i
        raise DeviceError(f"{self.name} has no queue for compute")

    def _create(self):
        """The device, with those of USED_FEATURES and those extensions that it lists."""
        ffi, lib = api.ffi, api.lib
        keep, physical = api.Keep(), self.physical
        structs = [keep.new(kind + "*", {"sType": stype}) for kind, stype in physical.chain_kinds]
        for before, after in zip(structs, structs[1:]):
            before.pNext = after
        core_features = keep.new(
            "VkPhysicalDeviceFeatures2*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                "pNext": structs[0] if structs else ffi.NULL,
            },
        )
        for struct in (core_features.features, *structs):
            kind = ffi.typeof(struct)
            fields = {n for n, _ in (kind.item if kind.kind == "pointer" else kind).fields}
            for name in USED_FEATURES:
                if name in fields and name in physical.feature_names:
                    setattr(struct, name, 1)
        extensions = [
            e
            for e in (
                "VK_EXT_shader_atomic_float",
                "VK_EXT_subgroup_size_control",
                "VK_KHR_shader_clock",
                "VK_KHR_portability_subset",
            )
            if e in physical.extensions
        ]
        extensions += [
            e
            for e in ("VK_KHR_shader_maximal_reconvergence",)
            if "shaderMaximalReconvergence" in physical.feature_names
        ]
        queue = keep.new(
            "VkDeviceQueueCreateInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                "queueFamilyIndex": self.family,
                "queueCount": 1,
                "pQueuePriorities": keep.new("float[1]", [1.0]),
            },
        )
        info = keep.new(
            "VkDeviceCreateInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                "pNext": core_features,
                "queueCreateInfoCount": 1,
                "pQueueCreateInfos": queue,
                "enabledExtensionCount": len(extensions),
                "ppEnabledExtensionNames": keep.texts(extensions),
            },
        )
        made = ffi.new("VkDevice*")
        check(
            lib.vkCreateDevice(physical.handle, info, ffi.NULL, made),
            f"vkCreateDevice of {self.name}",
        )
        got = ffi.new("VkQueue*")
        lib.vkGetDeviceQueue(made[0], self.family, 0, got)
        return made[0], got[0]

    def _target(self):
        """Options of core.emit_spirv for this device."""
        have, controls = self.physical.feature_names, self.physical.float_controls
        return {
            "version": 12 if self.physical.version >= (1 << 22) | (2 << 12) else 11,
            "int8": "shaderInt8" in have,
            "int16": "shaderInt16" in have,
            "int64": "shaderInt64" in have,
            "float16": "shaderFloat16" in have,
            "float64": "shaderFloat64" in have,
            "storage8": "storageBuffer8BitAccess" in have,
            "storage16": "storageBuffer16BitAccess" in have,
            "buffer_float_add": {"shaderBufferFloat32Atomics", "shaderBufferFloat32AtomicAdd"}
            <= have,
            "shared_float_add": {"shaderSharedFloat32Atomics", "shaderSharedFloat32AtomicAdd"}
            <= have,
            "int64_atomics": "shaderBufferInt64Atomics" in have
            and "shaderSharedInt64Atomics" in have,
            **{
                f"subgroup_{name}": name in self.physical.subgroup_operations
                for name in SUBGROUP_OPERATIONS
            },
            "clock": "shaderSubgroupClock" in have,
            "maximal_reconvergence": "shaderMaximalReconvergence" in have,
            "block_x": self.plan_limits.block_x,
            "signed_zero_inf_nan_preserve": "shaderSignedZeroInfNanPreserveFloat32" in controls,
            "denorm_preserve": "shaderDenormPreserveFloat32" in controls,
            "signed_zero_inf_nan_preserve16": "shaderSignedZeroInfNanPreserveFloat16" in controls,
            "signed_zero_inf_nan_preserve64": "shaderSignedZeroInfNanPreserveFloat64" in controls,
            "denorm_preserve16": "shaderDenormPreserveFloat16" in controls,
            "denorm_preserve64": "shaderDenormPreserveFloat64" in controls,
            "round_even16": "shaderRoundingModeRTEFloat16" in controls,
            **drivers.flags(self.physical.driver_id),
            "own_functions": core.own_functions(drivers.lacking(self.physical.driver_id)),
        }

    # ---- ownership ------------------------------------------------------------------------------
    def own(self, destroyer, handle):
        """Notes a handle that `destroyer` ends; close() ends what is left."""
        self._owned[destroyer][handle_key(handle)] = handle

    def destroy(self, destroyer, handle):
        if not self.closed and self._owned[destroyer].pop(handle_key(handle), None) is not None:
            getattr(api.lib, destroyer)(self.handle, handle, api.ffi.NULL)

    def refuse(self, text, kind=DeviceError):
        super().refuse(text, kind)
        self.commands.stop()  # a launch that finds no command buffer asks the device first

    def close(self):
        """Waits, then destroys all that the device made, in order, and the device."""
        if self.closed or (self._refused is not None and "fork" in self._refused[1]):
            return
        lib, null = api.lib, api.ffi.NULL
        with self.commands.lock:
            if self._refused is None:
                self.commands.finish()
                self.refuse(f"device {self.name} is closed")
            lib.vkDeviceWaitIdle(self.handle)
            self.closed = True
            for destroyer in _ORDER:
                for handle in self._owned[destroyer].values():
                    getattr(lib, destroyer)(self.handle, handle, null)
            lib.vkDestroyDevice(self.handle, null)

    # ---- the protocol ---------------------------------------------------------------------------
    def allocate(self, nbytes, zero):
        nbytes = (nbytes + 3) & ~3
        self.check()
        with self.commands.lock:
            block = self.memory_types.local.take(nbytes)
        memory = Memory(self, block, nbytes)
        if zero:
            if block.address:
                core.fill_bytes(block.address, b"\0", 1, nbytes)
            else:
                self.commands.fill(memory, 0, nbytes, 0)
        return memory, 0

    def _staging(self, nbytes):
        with self.commands.lock:
            return Memory(self, self.memory_types.host.take((nbytes + 3) & ~3), nbytes)

    def upload(self, memory, offset, nbytes, write):
        self.check()
        if memory.block.address:
            self.commands.wait(memory.last_use)
            write(memory.block.address + offset)
            return
        staging = self._staging(nbytes)
        write(staging.block.address)
        self.commands.copy(staging, 0, memory, offset, nbytes)

    def download(self, memory, offset, nbytes, read):
        self.check()
        if memory.block.address:
            self.commands.wait(memory.last_write)
            read(memory.block.address + offset)
            return
        staging = self._staging(nbytes)
        self.commands.copy(memory, offset, staging, 0, nbytes)
        self.commands.wait(staging.last_use)
        read(staging.block.address)

    def copy(self, to, to_offset, source, source_offset, nbytes):
        self.check()
        self.commands.copy(source, source_offset, to, to_offset, nbytes)

    def fill(self, memory, offset, pattern, count):
        self.check()
        nbytes = len(pattern) * count
        word = pattern[:4] if len(pattern) >= 4 else (pattern * 4)[:4]
        uniform = (word * (len(pattern) // 4 + 1))[: len(pattern)] == pattern
        if memory.block.address or not uniform or (offset | nbytes) % 4 or 4 % min(len(pattern), 4):
            super().fill(memory, offset, pattern, count)
        else:
            self.commands.fill(memory, offset, nbytes, int.from_bytes(word, "little"))

    def compile(self, request):
        self.check()
        return self.pipelines.build(request)

    def wait(self):
        self.check()
        self.commands.finish()


def _close(reference):
    device = reference()
    if device is not None:
        device.close()
