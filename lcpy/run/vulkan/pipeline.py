"""Descriptor to compute pipeline: limits, SPIR-V, validation, layouts, the pipeline itself."""

import time
from collections import OrderedDict

from ... import spirv
from ...errors import DeviceError, UnsupportedError
from ...plan import check_limits
from ..device import Executable
from . import api
from .api import Keep, check
from .descriptors import BlockRing, SetPools, SetTable
from .launch import VulkanExecutable

KEPT = 256  # pipelines that stay although no kernel holds them
# What a module may ask for beyond what every device has: the feature that must be on for it, the
# kind of subgroup operations or the float control that the device must have.
CAPABILITY_FEATURES = {
    "Int8": "shaderInt8",
    "Int16": "shaderInt16",
    "Int64": "shaderInt64",
    "Float16": "shaderFloat16",
    "Float64": "shaderFloat64",
    "StorageBuffer8BitAccess": "storageBuffer8BitAccess",
    "StorageBuffer16BitAccess": "storageBuffer16BitAccess",
    "Int64Atomics": "shaderBufferInt64Atomics",
    "AtomicFloat32AddEXT": "shaderBufferFloat32AtomicAdd",
    "VulkanMemoryModel": "vulkanMemoryModel",
    "GroupNonUniform": "basic",
    "GroupNonUniformVote": "vote",
    "GroupNonUniformBallot": "ballot",
    "GroupNonUniformArithmetic": "arithmetic",
    "GroupNonUniformShuffle": "shuffle",
    "SignedZeroInfNanPreserve": "shaderSignedZeroInfNanPreserveFloat32",
}


class Built:
    """A pipeline with its layouts and descriptor tables; shared by executables of equal modules."""

    def __init__(self, device, plan):
        self.device, self.plan = device, plan
        self.handles = []  # (destroyer, handle) in the order of destruction
        self.pipeline = self.layout = self.table = self.block_table = None

    def __del__(self):
        device = self.device
        if device.closed:
            return
        number = device.commands.number
        for table in (self.table, self.block_table):
            for key in list(table.sets) if table is not None else ():
                table.drop(key, number)
        for entry in self.handles:
            device.commands.retire(number, device.pipelines.destroy, entry)


class PipelineStore:
    """Builds pipelines; equal modules share one."""

    def __init__(self, device):
        self.device = device
        self.sets, self.ring = SetPools(device), BlockRing(device)
        self.built = OrderedDict()  # (words, plan) -> Built
        ffi, lib = api.ffi, api.lib
        info = ffi.new(
            "VkPipelineCacheCreateInfo*",
            {"sType": lib.VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO},
        )
        made = ffi.new("VkPipelineCache*")
        check(
            lib.vkCreatePipelineCache(device.handle, info, ffi.NULL, made),
            "vkCreatePipelineCache",
            device,
        )
        self.cache = made[0]
        device.own("vkDestroyPipelineCache", self.cache)

    def destroy(self, entry):
        self.device.destroy(*entry)

    def build(self, request):
        """An executable for a CompileRequest."""
        descriptor, device = request.descriptor, self.device
        check_limits(
            device.plan_limits, request.name, descriptor.block_size, descriptor.shared_bytes
        )
        plan = request.plan(device.plan_limits)
        times = dict(Executable.times)
        built = self.pipeline(request, plan, False, times)
        return VulkanExecutable(device, request, plan, built, times)

    def pipeline(self, request, plan, fold, times):
        """The Built of a request; `fold`: block ids come from the hardware's linear index."""
        start = time.perf_counter()
        name, descriptor = request.name, request.descriptor
        module = request.spirv(plan, fold, self.device.target)
        times["core"] += time.perf_counter() - start
        self._check_capabilities(name, module)
        limits = self.device.plan_limits
        limits.require("shared_bytes", module.shared_bytes, f"kernel '{name}', as declared here,")
        with self.device.commands.lock:
            key = (module.words, plan)
            built = self.built.get(key)
            if built is None:
                if self.device.validate and not request.is_validated:
                    start = time.perf_counter()
                    self._validate(module, request, plan, fold)
                    times["validation"] += time.perf_counter() - start
                start = time.perf_counter()
                try:
                    built = self._make(name, module, plan, self._full_warps(descriptor))
                    self.built[key] = built
                except DeviceError as error:
                    raise _with_size(error, descriptor) from None
                times["driver"] += time.perf_counter() - start
                if len(self.built) > KEPT:
                    self.built.popitem(last=False)
            else:
                self.built.move_to_end(key)
        return built

    def _validate(self, module, request, plan, fold):
        env = "vulkan1.2" if self.device.target["version"] >= 12 else "vulkan1.1"
        try:
            spirv.validate(module.words, env)
        except spirv.ValidationError:
            # The same module with lines, so that the error says from which of the program's it is.
            lined = request.spirv(plan, fold, self.device.target, lines=True)
            spirv.validate(lined.words, env)
            raise

    def _check_capabilities(self, name, module):
        physical = self.device.physical
        has = {
            *physical.feature_names, *physical.subgroup_operations, *physical.float_controls
        }  # fmt: skip
        for capability in module.capabilities:
            feature = CAPABILITY_FEATURES.get(capability)
            if feature is not None and feature not in has:
                raise UnsupportedError(
                    f"kernel '{name}' needs the feature {feature} ({capability}), "
                    f"which {self.device.name} lacks"
                )

    def _full_warps(self, descriptor):
        """Whether to ask for warps without lanes that belong to no thread: where the block, which
        is emitted along x, is whole warps, and the device can promise it."""
        physical = self.device.physical
        if not descriptor.uses_warp or "computeFullSubgroups" not in physical.feature_names:
            return False
        x, y, z = descriptor.block_size
        along_x = x * y * z if x * y * z <= self.device.plan_limits.block_x else x
        return along_x % physical.subgroup_size == 0

    def _make(self, name, module, plan, full_warps):
        ffi, lib, device = api.ffi, api.lib, self.device
        keep, built = Keep(), Built(device, plan)
        set_layouts = [self._set_layout(keep, built, bindings) for bindings in plan.sets]
        n = len(plan.sets[0])
        if n:
            built.table = SetTable(device, set_layouts[0], lib.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, n)
        if len(plan.sets) > 1:
            built.block_table = SetTable(
                device, set_layouts[1], _descriptor_type(plan.sets[1][0][1], True), 1
            )
        built.layout = self._pipeline_layout(keep, set_layouts, plan)
        built.handles.insert(0, ("vkDestroyPipelineLayout", built.layout))
        shader = self._shader(keep, name, module.words)
        try:
            built.pipeline = self._pipeline(keep, name, shader, built.layout, full_warps)
        finally:
            lib.vkDestroyShaderModule(device.handle, shader, ffi.NULL)
        built.handles.insert(0, ("vkDestroyPipeline", built.pipeline))
        return built

    def _set_layout(self, keep, built, bindings):
        ffi, lib, device = api.ffi, api.lib, self.device
        table = keep.new("VkDescriptorSetLayoutBinding[]", max(len(bindings), 1))
        for i, (binding, kind, count) in enumerate(bindings):
            table[i].binding, table[i].descriptorCount = binding, count
            table[i].descriptorType = _descriptor_type(
                kind, kind == "uniform_buffer" or bindings is not built.plan.sets[0]
            )
            table[i].stageFlags = lib.VK_SHADER_STAGE_COMPUTE_BIT
        info = keep.new(
            "VkDescriptorSetLayoutCreateInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                "bindingCount": len(bindings),
                "pBindings": table,
            },
        )
        made = ffi.new("VkDescriptorSetLayout*")
        result = lib.vkCreateDescriptorSetLayout(device.handle, info, ffi.NULL, made)
        check(result, "vkCreateDescriptorSetLayout", device)
        device.own("vkDestroyDescriptorSetLayout", made[0])
        built.handles.append(("vkDestroyDescriptorSetLayout", made[0]))
        return made[0]

    def _pipeline_layout(self, keep, set_layouts, plan):
        ffi, lib, device = api.ffi, api.lib, self.device
        ranges = keep.new("VkPushConstantRange[]", max(len(plan.push_ranges), 1))
        for i, (offset, size) in enumerate(plan.push_ranges):
            ranges[i].stageFlags, ranges[i].offset, ranges[i].size = (
                lib.VK_SHADER_STAGE_COMPUTE_BIT,
                offset,
                size,
            )
        info = keep.new(
            "VkPipelineLayoutCreateInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                "setLayoutCount": len(set_layouts),
                "pSetLayouts": keep.new("VkDescriptorSetLayout[]", set_layouts),
                "pushConstantRangeCount": len(plan.push_ranges),
                "pPushConstantRanges": ranges,
            },
        )
        made = ffi.new("VkPipelineLayout*")
        check(
            lib.vkCreatePipelineLayout(device.handle, info, ffi.NULL, made),
            "vkCreatePipelineLayout",
            device,
        )
        device.own("vkDestroyPipelineLayout", made[0])
        return made[0]

    def _shader(self, keep, name, words):
        ffi, lib, device = api.ffi, api.lib, self.device
        code = keep.new("uint32_t[]", len(words) // 4)
        ffi.memmove(code, words, len(words))
        info = keep.new(
            "VkShaderModuleCreateInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                "codeSize": len(words),
                "pCode": code,
            },
        )
        made = ffi.new("VkShaderModule*")
        result = lib.vkCreateShaderModule(device.handle, info, ffi.NULL, made)
        check(result, f"vkCreateShaderModule of kernel '{name}'", device)
        return made[0]

    def _pipeline(self, keep, name, shader, layout, full_warps):
        ffi, lib, device = api.ffi, api.lib, self.device
        entry = keep.text("main")
        info = keep.new("VkComputePipelineCreateInfo*")
        info.sType = lib.VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO
        info.stage.sType = lib.VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO
        info.stage.stage = lib.VK_SHADER_STAGE_COMPUTE_BIT
        if full_warps:
            info.stage.flags = lib.VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT
        info.stage.module, info.stage.pName, info.layout = shader, entry, layout
        made = ffi.new("VkPipeline*")
        result = lib.vkCreateComputePipelines(device.handle, self.cache, 1, info, ffi.NULL, made)
        check(result, f"vkCreateComputePipelines of kernel '{name}'", device)
        device.own("vkDestroyPipeline", made[0])
        return made[0]


def _with_size(error, descriptor):
    """The error that a driver gives up with, with what most often makes it do so."""
    local = sum(s[1].size for s in descriptor.slots if s[2] == "scratch")
    return type(error)(f"{error}; its local arrays take {local} bytes a thread") if local else error


def _descriptor_type(kind, dynamic):
    lib = api.lib
    if kind == "uniform_buffer":
        return lib.VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC
    return (
        lib.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC
        if dynamic
        else lib.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
    )
