"""The instance, its validation messages, and the physical devices found."""

import os

from ...errors import ArgumentError
from ..device import DeviceInfo
from . import api
from .api import Keep, Missing, check

API_VERSION = (1 << 22) | (3 << 12)  # the highest that is asked for; drivers may offer less
VALIDATION_LAYER = "VK_LAYER_KHRONOS_validation"
_TYPES = {0: "software", 1: "integrated", 2: "discrete", 3: "integrated", 4: "software"}
_instance = None


class Instance:
    """The process's one instance. `messages` has what the validation layer said, oldest first."""

    def __init__(self):
        api.load()
        ffi, lib = api.ffi, api.lib
        self.messages = []
        keep = Keep()
        version = ffi.new("uint32_t*")
        check(lib.vkEnumerateInstanceVersion(version), "vkEnumerateInstanceVersion")
        if version[0] < (1 << 22) | (1 << 12):
            raise Missing("Vulkan 1.1 is needed; the loader here offers 1.0")
        self.version = min(API_VERSION, version[0])
        extensions = self._extensions()
        layers, wanted, flags = [], [], 0
        self.validating = self._may_validate()
        if self.validating:
            layers.append(VALIDATION_LAYER)
            wanted += [e for e in ("VK_EXT_debug_utils",) if e in extensions]
        if "VK_KHR_portability_enumeration" in extensions:
            wanted.append("VK_KHR_portability_enumeration")
            flags = 1
        application = keep.new(
            "VkApplicationInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_APPLICATION_INFO,
                "pApplicationName": keep.text("lcpy"),
                "pEngineName": keep.text("lcpy"),
                "apiVersion": self.version,
            },
        )
        info = keep.new(
            "VkInstanceCreateInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                "flags": flags,
                "pApplicationInfo": application,
                "enabledLayerCount": len(layers),
                "ppEnabledLayerNames": keep.texts(layers),
                "enabledExtensionCount": len(wanted),
                "ppEnabledExtensionNames": keep.texts(wanted),
            },
        )
        if "VK_EXT_debug_utils" in wanted:
            self._messenger_info = self._describe_messenger()
            info.pNext = self._messenger_info
        made = ffi.new("VkInstance*")
        result = lib.vkCreateInstance(info, ffi.NULL, made)
        if result == lib.VK_ERROR_INCOMPATIBLE_DRIVER:
            raise Missing(
                "no Vulkan driver is installed: Debian's mesa-vulkan-drivers has one in software"
            )
        check(result, "vkCreateInstance")
        self.handle = made[0]
        if "VK_EXT_debug_utils" in wanted:
            self._create_messenger()

    def _may_validate(self):
        if os.environ.get("LCPY_VALIDATE", "") in ("", "0"):
            return False
        if self._has_layer():
            return True
        import warnings

        warnings.warn(
            f"LCPY_VALIDATE is set and {VALIDATION_LAYER} is not installed (Debian's package "
            "vulkan-validationlayers): modules are validated, calls of the driver are not",
            RuntimeWarning,
            stacklevel=2,
        )
        return False

    def _extensions(self):
        ffi, lib = api.ffi, api.lib
        count = ffi.new("uint32_t*")
        lib.vkEnumerateInstanceExtensionProperties(ffi.NULL, count, ffi.NULL)
        found = ffi.new("VkExtensionProperties[]", count[0])
        lib.vkEnumerateInstanceExtensionProperties(ffi.NULL, count, found)
        return {ffi.string(found[i].extensionName).decode() for i in range(count[0])}

    def _has_layer(self):
        ffi, lib = api.ffi, api.lib
        count = ffi.new("uint32_t*")
        lib.vkEnumerateInstanceLayerProperties(count, ffi.NULL)
        found = ffi.new("VkLayerProperties[]", count[0])
        lib.vkEnumerateInstanceLayerProperties(count, found)
        return any(
            ffi.string(found[i].layerName).decode() == VALIDATION_LAYER for i in range(count[0])
        )

    def _describe_messenger(self):
        ffi, lib = api.ffi, api.lib
        messages = self.messages

        @ffi.callback(
            "VkBool32(VkDebugUtilsMessageSeverityFlagBitsEXT, uint32_t,"
            " VkDebugUtilsMessengerCallbackDataEXT*, void*)"
        )
        def collect(severity, kinds, data, user):
            messages.append(ffi.string(data.pMessage).decode(errors="replace"))
            return 0

        self._callback = collect
        return ffi.new(
            "VkDebugUtilsMessengerCreateInfoEXT*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
                "messageSeverity": 0x100 | 0x1000,  # warnings and errors
                "messageType": 1 | 2 | 4,
                "pfnUserCallback": collect,
            },
        )

    def _create_messenger(self):
        ffi, lib = api.ffi, api.lib
        address = lib.vkGetInstanceProcAddr(self.handle, b"vkCreateDebugUtilsMessengerEXT")
        create = ffi.cast("PFN_vkCreateDebugUtilsMessengerEXT", address)
        self._messenger = ffi.new("VkDebugUtilsMessengerEXT*")
        check(
            create(self.handle, self._messenger_info, ffi.NULL, self._messenger),
            "vkCreateDebugUtilsMessengerEXT",
        )

    def physical_devices(self):
        ffi, lib = api.ffi, api.lib
        count = ffi.new("uint32_t*")
        check(
            lib.vkEnumeratePhysicalDevices(self.handle, count, ffi.NULL),
            "vkEnumeratePhysicalDevices",
        )
        if not count[0]:
            return []
        found = ffi.new("VkPhysicalDevice[]", count[0])
        check(
            lib.vkEnumeratePhysicalDevices(self.handle, count, found), "vkEnumeratePhysicalDevices"
        )
        return [found[i] for i in range(count[0])]


def instance():
    """The process's instance, made on first use; Missing says why there is none."""
    global _instance
    if _instance is None:
        _instance = Instance()
    return _instance


def messages():
    """What the validation layer has said so far: LCPY_VALIDATE=1 turns it on where it is."""
    return list(_instance.messages) if _instance is not None else []


# ---- discovery ----------------------------------------------------------------------------------
class Physical:
    """What one physical device offers: properties, limits, features, extensions."""

    def __init__(self, handle):
        ffi, lib = api.ffi, api.lib
        self.handle = handle
        properties = ffi.new("VkPhysicalDeviceProperties*")
        lib.vkGetPhysicalDeviceProperties(handle, properties)
        self.name = ffi.string(properties.deviceName).decode()
        self.version = min(properties.apiVersion, API_VERSION)
        self.driver_version = properties.driverVersion
        self.type = _TYPES.get(properties.deviceType, "software")
        self.limits = properties.limits
        self._properties = properties
        self.extensions = self._device_extensions()
        self._query_features()
        self.driver = self._query_driver()
        self._query_subgroups()

    def _device_extensions(self):
        ffi, lib = api.ffi, api.lib
        count = ffi.new("uint32_t*")
        lib.vkEnumerateDeviceExtensionProperties(self.handle, ffi.NULL, count, ffi.NULL)
        found = ffi.new("VkExtensionProperties[]", count[0])
        lib.vkEnumerateDeviceExtensionProperties(self.handle, ffi.NULL, count, found)
        return {ffi.string(found[i].extensionName).decode() for i in range(count[0])}

    def _query_features(self):
        """Feature structures chained for a query; what they say is kept by name."""
        ffi, lib = api.ffi, api.lib
        self.core = ffi.new("VkPhysicalDeviceFeatures2*")
        self.core.sType = lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2
        chain = []
        if self.version >= (1 << 22) | (2 << 12):
            chain += [
                (
                    "VkPhysicalDeviceVulkan11Features",
                    lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                ),
                (
                    "VkPhysicalDeviceVulkan12Features",
                    lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                ),
            ]
        else:
            chain.append(
                (
                    "VkPhysicalDevice16BitStorageFeatures",
                    lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
                )
            )
        if "VK_EXT_shader_atomic_float" in self.extensions:
            chain.append(
                (
                    "VkPhysicalDeviceShaderAtomicFloatFeaturesEXT",
                    lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT,
                )
            )
        if "VK_KHR_shader_maximal_reconvergence" in self.extensions and hasattr(
            lib, "VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_MAXIMAL_RECONVERGENCE_FEATURES_KHR"
        ):
            chain.append(
                (
                    "VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR",
                    lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_MAXIMAL_RECONVERGENCE_FEATURES_KHR,
                )
            )
        if "VK_EXT_subgroup_size_control" in self.extensions:
            chain.append(
                (
                    "VkPhysicalDeviceSubgroupSizeControlFeatures",
                    lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
                )
            )
        if "VK_KHR_shader_clock" in self.extensions:
            chain.append(
                (
                    "VkPhysicalDeviceShaderClockFeaturesKHR",
                    lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR,
                )
            )
        self.chain_kinds = chain
        structs, last = [], self.core
        for kind, stype in chain:
            struct = ffi.new(kind + "*")
            struct.sType = stype
            last.pNext = struct
            structs.append(struct)
            last = struct
        lib.vkGetPhysicalDeviceFeatures2(self.handle, self.core)
        core = ffi.new("VkPhysicalDeviceFeatures*", self.core.features)
        self.feature_names = api.features(core)
        for struct in structs:
            self.feature_names |= api.features(struct)
        self.leave_out(os.environ.get("LCPY_VULKAN_WITHOUT", ""))

    def leave_out(self, names):
        """Features that are not used although they are there: "int8,storage16" and the like."""
        for name in filter(None, names.split(",")):
            if name not in LEFT_OUT:
                raise ArgumentError(
                    f"LCPY_VULKAN_WITHOUT: {name!r} is none of {', '.join(LEFT_OUT)}"
                )
            self.feature_names -= set(LEFT_OUT[name])

    def _query_driver(self):
        ffi, lib = api.ffi, api.lib
        self.float_controls, self.driver_id = set(), 0
        if self.version < (1 << 22) | (2 << 12):
            return f"driver {self.driver_version:#x}"
        own = ffi.new("VkPhysicalDeviceVulkan12Properties*")
        own.sType = lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES
        both = ffi.new("VkPhysicalDeviceProperties2*")
        both.sType, both.pNext = lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, own
        lib.vkGetPhysicalDeviceProperties2(self.handle, both)
        self.driver_id = own.driverID
        self.float_controls = {name for name in api.features(own) if name.startswith("shader")}
        return f"{ffi.string(own.driverName).decode()} {ffi.string(own.driverInfo).decode()}"

    def _query_subgroups(self):
        """How many lanes a subgroup has, and the operations that compute shaders may use."""
        ffi, lib = api.ffi, api.lib
        own = ffi.new("VkPhysicalDeviceSubgroupProperties*")
        own.sType = lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES
        both = ffi.new("VkPhysicalDeviceProperties2*")
        both.sType, both.pNext = lib.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, own
        lib.vkGetPhysicalDeviceProperties2(self.handle, both)
        compute = bool(own.supportedStages & lib.VK_SHADER_STAGE_COMPUTE_BIT)
        self.subgroup_size = own.subgroupSize if compute else 0
        self.subgroup_operations = {
            name
            for name, bit in SUBGROUP_OPERATIONS.items()
            if compute and own.supportedOperations & bit
        }


# What LCPY_VULKAN_WITHOUT may name, for trying what poorer devices get.
LEFT_OUT = {
    "int8": ("shaderInt8",),
    "int16": ("shaderInt16",),
    "int64": ("shaderInt64",),
    "float16": ("shaderFloat16",),
    "float64": ("shaderFloat64",),
    "storage8": ("storageBuffer8BitAccess", "uniformAndStorageBuffer8BitAccess"),
    "storage16": ("storageBuffer16BitAccess", "uniformAndStorageBuffer16BitAccess"),
}

SUBGROUP_OPERATIONS = {"basic": 1, "vote": 2, "arithmetic": 4, "ballot": 8, "shuffle": 16}
# Features that kernels may use: on where the device has them, and no others.
USED_FEATURES = (
    "shaderInt64",
    "shaderInt16",
    "shaderFloat64",
    "storageBuffer16BitAccess",
    "uniformAndStorageBuffer16BitAccess",
    "storagePushConstant16",
    "storageBuffer8BitAccess",
    "uniformAndStorageBuffer8BitAccess",
    "storagePushConstant8",
    "shaderFloat16",
    "shaderInt8",
    "shaderBufferInt64Atomics",
    "shaderSharedInt64Atomics",
    "vulkanMemoryModel",
    "vulkanMemoryModelDeviceScope",
    "shaderBufferFloat32Atomics",
    "shaderBufferFloat32AtomicAdd",
    "shaderSharedFloat32Atomics",
    "shaderSharedFloat32AtomicAdd",
    "shaderSubgroupClock",
    "shaderMaximalReconvergence",
    "computeFullSubgroups",
)


def describe_limits(physical):
    """The limits that kernels meet, by the names of lcpy.plan.Limits."""
    v = physical.limits
    return {
        "storage_buffers": v.maxPerStageDescriptorStorageBuffers,
        "uniform_buffers": v.maxPerStageDescriptorUniformBuffers,
        "sets": v.maxBoundDescriptorSets,
        "push_bytes": v.maxPushConstantsSize,
        "uniform_range": v.maxUniformBufferRange,
        "storage_range": v.maxStorageBufferRange,
        "shared_bytes": v.maxComputeSharedMemorySize,
        "block_threads": v.maxComputeWorkGroupInvocations,
        "block_x": v.maxComputeWorkGroupSize[0],
        "block_y": v.maxComputeWorkGroupSize[1],
        "block_z": v.maxComputeWorkGroupSize[2],
        "groups_x": v.maxComputeWorkGroupCount[0],
        "groups_y": v.maxComputeWorkGroupCount[1],
        "groups_z": v.maxComputeWorkGroupCount[2],
        "warp_size": physical.subgroup_size,
    }


def describe_features(physical):
    """Features by the names that every kind of device has, then Vulkan's own that are on."""
    have = physical.feature_names
    common = {
        "float16": "native" if "shaderFloat16" in have else "emulated",
        "float64": "shaderFloat64" in have,
        "int64": "shaderInt64" in have,
        "int64_atomics": {"shaderBufferInt64Atomics", "shaderSharedInt64Atomics"} <= have,
        "denormals": "shaderDenormPreserveFloat32" in physical.float_controls,
    }
    return common | {name: True for name in USED_FEATURES if name in have}


def discover():
    """([DeviceInfo, …] discrete GPUs first, what would add devices or None)."""
    try:
        found = [Physical(handle) for handle in instance().physical_devices()]
    except Missing as error:
        return [], str(error)
    order = {"discrete": 0, "integrated": 1, "software": 2}
    found = sorted(
        (p for p in found if p.version >= (1 << 22) | (1 << 12)), key=lambda p: order[p.type]
    )
    infos = []
    for i, p in enumerate(found):
        on = describe_features(p)
        infos.append(
            DeviceInfo(f"vulkan:{i}", "vulkan", p.type, p.name, p.driver, describe_limits(p), on, p)
        )
    if infos:
        return infos, None
    return (
        [],
        "no Vulkan 1.1 device answers: install the GPU's driver, or Debian's mesa-vulkan-drivers "
        "for one in software",
    )
