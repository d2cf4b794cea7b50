"""Descriptor sets, kept by the buffers they name; the ring of argument blocks too big to push."""

from ... import errors
from ..._native import core
from . import api
from .api import check
from .memory import Memory

POOL_SETS = 256
RING_BYTES = 256 << 10
TABLE_LIMIT = 4096  # sets that one pipeline keeps


class SetPools:
    """Descriptor pools that grow as sets are asked for."""

    def __init__(self, device):
        self.device, self.pools = device, []

    def take(self, layout, kind, count):
        """(cffi array of one set, its pool) for `count` descriptors of a VkDescriptorType."""
        ffi, lib, device = api.ffi, api.lib, self.device
        layouts = ffi.new("VkDescriptorSetLayout[1]", [layout])
        info = ffi.new(
            "VkDescriptorSetAllocateInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                "descriptorSetCount": 1,
                "pSetLayouts": layouts,
            },
        )
        made = ffi.new("VkDescriptorSet[1]")
        for pool, kinds in reversed(self.pools):
            if kinds.get(kind, 0) >= count:
                info.descriptorPool = pool
                if lib.vkAllocateDescriptorSets(device.handle, info, made) == 0:
                    return made, pool
        pool = self._grow(kind, count)
        info.descriptorPool = pool
        check(
            lib.vkAllocateDescriptorSets(device.handle, info, made),
            "vkAllocateDescriptorSets",
            device,
        )
        return made, pool

    def _grow(self, kind, count):
        ffi, lib, device = api.ffi, api.lib, self.device
        each = max(count, 4)
        sizes = ffi.new(
            "VkDescriptorPoolSize[1]", [{"type": kind, "descriptorCount": each * POOL_SETS}]
        )
        info = ffi.new(
            "VkDescriptorPoolCreateInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                "flags": lib.VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT,
                "maxSets": POOL_SETS,
                "poolSizeCount": 1,
                "pPoolSizes": sizes,
            },
        )
        made = ffi.new("VkDescriptorPool*")
        check(
            lib.vkCreateDescriptorPool(device.handle, info, ffi.NULL, made),
            "vkCreateDescriptorPool",
            device,
        )
        device.own("vkDestroyDescriptorPool", made[0])
        self.pools.append((made[0], {kind: each}))
        return made[0]

    def give_back(self, entry):
        made, pool, _ = entry
        if not self.device.closed:
            api.lib.vkFreeDescriptorSets(self.device.handle, pool, 1, made)


class SetTable:
    """The sets of one layout, by the memories that they name: a set is written once."""

    def __init__(self, device, layout, kind, count):
        self.device, self.layout, self.kind, self.count = device, layout, kind, count
        self.sets = {}  # ids of the memories -> (cffi array of one set, pool, its address)

    def make(self, key, memories, ranges):
        """Makes and keeps the set; `ranges` are bytes seen through each binding."""
        if len(self.sets) >= TABLE_LIMIT:
            self._clear()
        device = self.device
        made, pool = device.pipelines.sets.take(self.layout, self.kind, self.count)
        self._write(made, memories, ranges)
        entry = self.sets[key] = (made, pool, api.handle_key(made))
        for memory in memories:
            # Partners that went away took their sets along, and their addresses come again.
            if memory.tables is None:
                memory.tables = {}
            elif len(memory.tables) >= 64 and (self, key) not in memory.tables:
                memory.tables = {(t, k): None for t, k in memory.tables if k in t.sets}
            memory.tables[self, key] = None
        return entry

    def _write(self, made, memories, ranges):
        ffi, lib, device = api.ffi, api.lib, self.device
        n = len(memories)
        infos = ffi.new("VkDescriptorBufferInfo[]", n)
        writes = ffi.new("VkWriteDescriptorSet[]", n)
        for i, (memory, size) in enumerate(zip(memories, ranges)):
            infos[i].buffer, infos[i].offset, infos[i].range = memory.buffer, 0, size
            w = writes[i]
            w.sType = lib.VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET
            w.dstSet, w.dstBinding, w.descriptorCount = made[0], i, 1
            w.descriptorType, w.pBufferInfo = self.kind, infos + i
        lib.vkUpdateDescriptorSets(device.handle, n, writes, 0, ffi.NULL)

    def drop(self, key, last_use):
        """Forgets the set of a memory that goes away."""
        entry = self.sets.pop(key, None)
        if entry is not None:
            self.device.commands.retire(last_use, self.device.pipelines.sets.give_back, entry)

    def _clear(self):
        last = self.device.commands.number
        for key in list(self.sets):
            self.drop(key, last)


class BlockRing:
    """Argument blocks in memory that the host sees, one after another; a full chunk is let go."""

    def __init__(self, device):
        limits = device.physical.limits
        self.device = device
        self.align = max(
            limits.minUniformBufferOffsetAlignment, limits.minStorageBufferOffsetAlignment, 16
        )
        self.chunk, self.used = None, 0

    def put(self, block):
        """(memory, offset) of a copy of the bytes."""
        device = self.device
        step = -(-len(block) // self.align) * self.align
        if self.chunk is None or self.used + step > self.chunk.size:
            size = max(RING_BYTES, step)
            place = device.memory_types.host.take(size)
            if not place.address:
                raise errors.InternalError("argument blocks need memory that the host sees")
            self.chunk, self.used = Memory(device, place, size), 0
        offset, self.used = self.used, self.used + step
        source = api.ffi.from_buffer(block)
        core.copy_bytes(self.chunk.block.address + offset, api.handle_key(source), len(block))
        return self.chunk, offset
