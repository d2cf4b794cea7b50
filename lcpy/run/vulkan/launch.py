"""A launch, recorded.

An unchanged launch does no descriptor work: the set is found by the memories' identity, and
pipeline, set and block are bound only when they differ from what is bound. The usual launch is
recorded by core.RecordedExecutable (_native/record.pxi); what it leaves comes to `launch` here.
"""

from ..._native import core
from ...errors import UnsupportedError
from ..device import Executable
from . import api

_COMPUTE = 1  # VK_PIPELINE_BIND_POINT_COMPUTE
_STAGE = 0x20  # VK_SHADER_STAGE_COMPUTE_BIT
_MARKS = {
    "none": (False, False),
    "read": (True, False),
    "write": (False, True),
    "read_write": (True, True),
}


class VulkanExecutable(core.RecordedExecutable, Executable):
    """A kernel built for a Vulkan device."""

    def __init__(self, device, request, plan, built, times):
        self.device, self.commands, self.plan, self.built = device, device.commands, plan, built
        self.request, self.name, self.times = request, request.name, times
        self.block_size = request.descriptor.block_size
        self.marks = tuple(_MARKS[a] for a in plan.accesses)
        limits = device.plan_limits
        self.groups = (limits.groups_x, limits.groups_y, limits.groups_z)
        self.folded = None
        lib, self.null = api.lib, api.ffi.NULL
        self._prepare(
            device.commands,
            built,
            api.handle_key(built.pipeline),
            api.handle_key(built.layout),
            built.table.sets if built.table is not None else {},
            bytes(reads + 2 * writes for reads, writes in self.marks),
            bool(plan.push_ranges),
            self.block_size,
            self.groups,
        )
        self.dispatch, self.push = lib.vkCmdDispatch, lib.vkCmdPushConstants
        self.bind_pipeline, self.bind_sets = lib.vkCmdBindPipeline, lib.vkCmdBindDescriptorSets

    def launch(self, memories, block, x, y, z):
        device, commands = self.device, self.commands
        if device._refused is not None:
            device.check()
        bx, by, bz = self.block_size
        x, y, z = (x + bx - 1) // bx, (y + by - 1) // by, (z + bz - 1) // bz
        lx, ly, lz = self.groups
        built = self.built
        if x > lx or y > ly or z > lz:
            built, x, y, z = self._fold(x, y, z)
        with commands.lock:
            to = commands.buffer or commands.begin()
            epoch = commands.epoch
            for memory, mark in zip(memories, self.marks):
                if memory.written == epoch or (mark[1] and memory.read == epoch):
                    commands.barrier()
                    epoch += 1
                    break
            if commands.bound_pipeline is not built:
                self.bind_pipeline(to, _COMPUTE, built.pipeline)
                commands.bound_pipeline = built
                commands.bound_set = commands.bound_block = None
            if memories:
                key = tuple(map(id, memories))
                entry = built.table.sets.get(key) or self._make_set(built, key, memories)
                if commands.bound_set is not entry:
                    self.bind_sets(to, _COMPUTE, built.layout, 0, 1, entry[0], 0, self.null)
                    commands.bound_set = entry
            if commands.bound_block != block:
                if self.plan.push_ranges:
                    self.push(to, built.layout, _STAGE, 0, len(block), block)
                else:
                    self._bind_block(to, built, block)
                commands.bound_block = block
            self.dispatch(to, x, y, z)
            number = commands.number
            for memory, mark in zip(memories, self.marks):
                if mark[1]:
                    memory.written = epoch
                    memory.last_write = number
                if mark[0]:
                    memory.read = epoch
                memory.last_use = number
            commands.count += 1
            if commands.count >= commands.limit:
                commands.count -= 1
                commands.recorded()

    def _make_set(self, built, key, memories):
        limits = self.device.plan_limits
        for memory in memories:
            limits.require("storage_range", memory.size, f"kernel '{self.name}'")
        return built.table.make(key, memories, [m.size for m in memories])

    def _bind_block(self, to, built, block):
        """A block that is too big to push: copied into the ring, bound by a dynamic offset."""
        chunk, offset = self.device.pipelines.ring.put(block)
        chunk.last_use = self.commands.number
        key = (id(chunk),)
        entry = built.block_table.sets.get(key)
        if entry is None:
            entry = built.block_table.make(key, [chunk], [self.plan.block_bytes])
        offsets = api.ffi.new("uint32_t[1]", [offset])
        self.bind_sets(to, _COMPUTE, built.layout, 1, 1, entry[0], 1, offsets)

    def _fold(self, x, y, z):
        """A grid beyond the device's limits: the same blocks by linear index in one within them."""
        total = x * y * z
        lx, ly, lz = self.groups
        gx = min(total, lx)
        gy = min(-(-total // gx), ly)
        gz = -(-total // (gx * gy))
        if total >= 1 << 32 or gz > lz:
            raise UnsupportedError(
                f"kernel '{self.name}': a dispatch of {total} blocks; {self.device.name} "
                f"takes {min(lx * ly * lz, (1 << 32) - 1)}"
            )
        if self.folded is None:
            store = self.device.pipelines
            self.folded = store.pipeline(self.request, self.plan, True, dict(self.times))
        return self.folded, gx, gy, gz
