"""Hand-written counterparts of the workloads: OpenCL C through PyOpenCL, GLSL through glslang.

Each `runner` returns a call that launches once and waits, on the same driver and device as lcpy's.
"""

import os
import struct
import subprocess
import tempfile

import numpy as np
import workloads as w
from measure import load

TILE = 16

TILED_LCPY = f"""import lcpy as lc

Floats = lc.Buffer[lc.float32]

@lc.kernel(block_size=({TILE}, {TILE}, 1))
def tiled(a: Floats, b: Floats, c: Floats, n: lc.uint32):
    left = lc.shared(lc.float32, {TILE * TILE})
    right = lc.shared(lc.float32, {TILE * TILE})
    x = lc.thread_id().x
    y = lc.thread_id().y
    row = lc.dispatch_id().y
    column = lc.dispatch_id().x
    total = 0.0
    for t in range(0, n, {TILE}):
        left[y * {TILE} + x] = a[row * n + t + x]
        right[y * {TILE} + x] = b[(t + y) * n + column]
        lc.sync_block()
        for k in range(lc.uint({TILE})):
            total = total + left[y * {TILE} + k] * right[k * {TILE} + x]
        lc.sync_block()
    c[row * n + column] = total
"""

TILED_OPENCL = f"""
__kernel __attribute__((reqd_work_group_size({TILE}, {TILE}, 1)))
void entry(__global float* a, __global float* b, __global float* c, int n_) {{
  __local float left[{TILE * TILE}], right[{TILE * TILE}];
  uint n = n_, x = get_local_id(0), y = get_local_id(1);
  uint row = get_global_id(1), column = get_global_id(0);
  float total = 0.0f;
  for (uint t = 0; t < n; t += {TILE}) {{
    left[y * {TILE} + x] = a[row * n + t + x];
    right[y * {TILE} + x] = b[(t + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < {TILE}; k++) total += left[y * {TILE} + k] * right[k * {TILE} + x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }}
  c[row * n + column] = total;
}}
"""

TILED_GLSL = f"""#version 450
layout(local_size_x = {TILE}, local_size_y = {TILE}) in;
layout(std430, set = 0, binding = 0) readonly buffer A {{ float a[]; }};
layout(std430, set = 0, binding = 1) readonly buffer B {{ float b[]; }};
layout(std430, set = 0, binding = 2) buffer C {{ float c[]; }};
layout(push_constant) uniform Push {{ layout(offset = 16) uint n; }};
shared float left[{TILE * TILE}], right[{TILE * TILE}];
void main() {{
  uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
  uint row = gl_GlobalInvocationID.y, column = gl_GlobalInvocationID.x;
  float total = 0.0;
  for (uint t = 0; t < n; t += {TILE}) {{
    left[y * {TILE} + x] = a[row * n + t + x];
    right[y * {TILE} + x] = b[(t + y) * n + column];
    barrier();
    for (uint k = 0; k < {TILE}; k++) total += left[y * {TILE} + k] * right[k * {TILE} + x];
    barrier();
  }}
  c[row * n + column] = total;
}}
"""


class OpenclHand:
    """One kernel in a context of its own on the same OpenCL device."""

    def __init__(self, device_name, source, arrays, scalars):
        import pyopencl as cl

        self.cl = cl
        platforms = [
            d
            for p in sorted(cl.get_platforms(), key=lambda p: p.version, reverse=True)
            for d in p.get_devices()
        ]
        device = next((d for d in platforms if d.name.strip() == device_name), platforms[0])
        context = cl.Context([device])
        self.queue = cl.CommandQueue(context)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        self.buffers = [cl.Buffer(context, flags, hostbuf=a) for a in arrays]
        program = cl.Program(context, source).build()
        self.kernel = program.entry
        self.arguments = [
            *self.buffers,
            *(np.float32(s) if isinstance(s, float) else np.int32(s) for s in scalars),
        ]
        self.kernel.set_args(*self.arguments)

    def __call__(self, size, block):
        self.cl.enqueue_nd_range_kernel(self.queue, self.kernel, size, block)
        self.queue.finish()


class VulkanHand:
    """One GLSL kernel on the first Vulkan device: host-visible buffers, one command buffer."""

    def __init__(self, glsl, arrays, scalars, groups):
        import vulkan as vk

        self.vk = vk
        ffi = vk.ffi
        with tempfile.TemporaryDirectory() as folder:
            text, binary = os.path.join(folder, "k.comp"), os.path.join(folder, "k.spv")
            with open(text, "w") as f:
                f.write(glsl)
            subprocess.run(
                ["glslangValidator", "-V", "--target-env", "vulkan1.2", text, "-o", binary],
                check=True,
                capture_output=True,
            )
            with open(binary, "rb") as f:
                words = f.read()
        self.keep = []

        def kept(x):
            self.keep.append(x)
            return x

        application = kept(vk.VkApplicationInfo(apiVersion=vk.VK_MAKE_VERSION(1, 2, 0)))
        self.instance = vk.vkCreateInstance(
            kept(vk.VkInstanceCreateInfo(pApplicationInfo=application)), None
        )
        physical = vk.vkEnumeratePhysicalDevices(self.instance)[0]
        families = vk.vkGetPhysicalDeviceQueueFamilyProperties(physical)
        family = next(i for i, q in enumerate(families) if q.queueFlags & vk.VK_QUEUE_COMPUTE_BIT)
        queue_info = kept(
            vk.VkDeviceQueueCreateInfo(queueFamilyIndex=family, pQueuePriorities=[1.0])
        )
        self.device = vk.vkCreateDevice(
            physical, kept(vk.VkDeviceCreateInfo(pQueueCreateInfos=[queue_info])), None
        )
        self.queue = vk.vkGetDeviceQueue(self.device, family, 0)
        memory = vk.vkGetPhysicalDeviceMemoryProperties(physical)
        wanted = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
        usage = vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
        infos = []
        for a in arrays:
            buffer = vk.vkCreateBuffer(
                self.device, kept(vk.VkBufferCreateInfo(size=a.nbytes, usage=usage)), None
            )
            need = vk.vkGetBufferMemoryRequirements(self.device, buffer)
            kind = next(
                i
                for i in range(memory.memoryTypeCount)
                if need.memoryTypeBits >> i & 1
                and memory.memoryTypes[i].propertyFlags & wanted == wanted
            )
            block = vk.vkAllocateMemory(
                self.device,
                kept(vk.VkMemoryAllocateInfo(allocationSize=need.size, memoryTypeIndex=kind)),
                None,
            )
            vk.vkBindBufferMemory(self.device, buffer, block, 0)
            mapped = vk.vkMapMemory(self.device, block, 0, need.size, 0)
            ffi.memmove(mapped, a, a.nbytes)
            vk.vkUnmapMemory(self.device, block)
            infos.append(kept(vk.VkDescriptorBufferInfo(buffer=buffer, offset=0, range=a.nbytes)))
        bindings = [
            kept(
                vk.VkDescriptorSetLayoutBinding(
                    binding=i,
                    descriptorType=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                    descriptorCount=1,
                    stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT,
                )
            )
            for i in range(len(arrays))
        ]
        layout = vk.vkCreateDescriptorSetLayout(
            self.device, kept(vk.VkDescriptorSetLayoutCreateInfo(pBindings=bindings)), None
        )
        push = bytes(16) + b"".join(
            struct.pack("f" if isinstance(s, float) else "i", s) for s in scalars
        )
        ranges = [
            kept(
                vk.VkPushConstantRange(
                    stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT, offset=0, size=len(push)
                )
            )
        ]
        pipeline_layout = vk.vkCreatePipelineLayout(
            self.device,
            kept(vk.VkPipelineLayoutCreateInfo(pSetLayouts=[layout], pPushConstantRanges=ranges)),
            None,
        )
        module = vk.vkCreateShaderModule(
            self.device, kept(vk.VkShaderModuleCreateInfo(codeSize=len(words), pCode=words)), None
        )
        stage = kept(
            vk.VkPipelineShaderStageCreateInfo(
                stage=vk.VK_SHADER_STAGE_COMPUTE_BIT, module=module, pName="main"
            )
        )
        pipeline = vk.vkCreateComputePipelines(
            self.device,
            None,
            1,
            [kept(vk.VkComputePipelineCreateInfo(stage=stage, layout=pipeline_layout))],
            None,
        )[0]
        size = kept(
            vk.VkDescriptorPoolSize(
                type=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptorCount=len(arrays)
            )
        )
        pool = vk.vkCreateDescriptorPool(
            self.device, kept(vk.VkDescriptorPoolCreateInfo(maxSets=1, pPoolSizes=[size])), None
        )
        sets = vk.vkAllocateDescriptorSets(
            self.device,
            kept(vk.VkDescriptorSetAllocateInfo(descriptorPool=pool, pSetLayouts=[layout])),
        )
        writes = [
            kept(
                vk.VkWriteDescriptorSet(
                    dstSet=sets[0],
                    dstBinding=i,
                    descriptorCount=1,
                    descriptorType=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                    pBufferInfo=[info],
                )
            )
            for i, info in enumerate(infos)
        ]
        vk.vkUpdateDescriptorSets(self.device, len(writes), writes, 0, None)
        command_pool = vk.vkCreateCommandPool(
            self.device, kept(vk.VkCommandPoolCreateInfo(queueFamilyIndex=family)), None
        )
        commands = vk.vkAllocateCommandBuffers(
            self.device,
            kept(
                vk.VkCommandBufferAllocateInfo(
                    commandPool=command_pool,
                    level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                    commandBufferCount=1,
                )
            ),
        )
        self.command = commands[0]
        vk.vkBeginCommandBuffer(self.command, kept(vk.VkCommandBufferBeginInfo()))
        vk.vkCmdBindPipeline(self.command, vk.VK_PIPELINE_BIND_POINT_COMPUTE, pipeline)
        vk.vkCmdBindDescriptorSets(
            self.command,
            vk.VK_PIPELINE_BIND_POINT_COMPUTE,
            pipeline_layout,
            0,
            1,
            [sets[0]],
            0,
            None,
        )
        vk.vkCmdPushConstants(
            self.command,
            pipeline_layout,
            vk.VK_SHADER_STAGE_COMPUTE_BIT,
            0,
            len(push),
            kept(ffi.new("char[]", push)),
        )
        vk.vkCmdDispatch(self.command, *groups)
        vk.vkEndCommandBuffer(self.command)
        self.submit = kept(vk.VkSubmitInfo(pCommandBuffers=[self.command]))

    def __call__(self):
        self.vk.vkQueueSubmit(self.queue, 1, [self.submit], None)
        self.vk.vkQueueWaitIdle(self.queue)


def runner(kind, device, name, arrays, scalars, count):
    if kind == "opencl":
        made = OpenclHand(device.info.description, w.opencl_source(name), arrays, scalars)
        return lambda: made((count,), None)
    block = 256
    return VulkanHand(w.glsl_source(name, block), arrays, scalars, (count // block, 1, 1))


def tiled_pair(kind, device, arrays):
    """(lcpy's, the hand-written) tiled product of the same algorithm."""
    import lcpy as lc

    tiled = load(TILED_LCPY, "tiled")
    buffers = [lc.Buffer(a, device=device) for a in arrays]
    side = w.SGEMM_SIDE

    def ours():
        tiled(*buffers, side, dispatch_size=(side, side))
        device.synchronize()

    if kind == "opencl":
        made = OpenclHand(device.info.description, TILED_OPENCL, arrays, [side])
        return ours, lambda: made((side, side), (TILE, TILE))
    return ours, VulkanHand(TILED_GLSL, arrays, [side], (side // TILE, side // TILE, 1))
