"""Device memory: chunks, buffers in size classes, staging; given back only after its last use.

Small buffers share chunks of memory and come back to a free list of their size, so that making and
dropping many is cheap and their number meets no driver limit.
"""

from ..._native import core
from ...errors import OutOfMemory
from ..device import size_class
from . import api
from .api import check

SMALLEST = 256  # bytes: no device aligns storage buffers more coarsely
LARGEST_SHARED = 1 << 20  # a larger buffer has memory of its own
CHUNK = 4 << 20
_DEVICE_LOCAL, _VISIBLE, _COHERENT, _CACHED = 1, 2, 4, 8


class Block:
    """A VkBuffer and the memory behind it; `address` where the host sees it, else 0."""

    __slots__ = ("buffer", "memory", "address", "size", "pool")

    def __init__(self, buffer, memory, address, size, pool):
        self.buffer, self.memory, self.address, self.size, self.pool = (
            buffer,
            memory,
            address,
            size,
            pool,
        )


class Memory(core.RecordedMemory):
    """What a Buffer holds. `written` and `read` are the barrier epochs of its last uses, `last_use`
    and `last_write` the numbers of the submissions that use it."""

    __slots__ = ("device", "block", "buffer", "size", "tables", "__weakref__")

    def __init__(self, device, block, size):
        self.device, self.block, self.buffer, self.size = device, block, block.buffer, size
        self.written = self.read = -1
        self.last_use = self.last_write = 0
        self.tables = None  # {(descriptor table, key): None} that name this memory

    def __del__(self):
        device = self.device
        if device.closed:
            return
        for table, key in self.tables or ():
            table.drop(key, self.last_use)
        device.commands.retire(self.last_use, self.block.pool.give_back, self.block)


class Pool:
    """Buffers over one memory type."""

    def __init__(self, device, type_index, mapped):
        self.device, self.type_index, self.mapped = device, type_index, mapped
        self.free = {}  # size class -> [Block, …]

    def take(self, nbytes):
        """A Block of at least `nbytes`, a multiple of 4."""
        size = size_class(nbytes, SMALLEST)
        if size > LARGEST_SHARED:
            return self._own_memory((nbytes + 255) & ~255)
        free = self.free.setdefault(size, [])
        if not free:
            self._fill(size, free)
        return free.pop()

    def give_back(self, block):
        if block.size > LARGEST_SHARED:
            self.device.destroy("vkDestroyBuffer", block.buffer)
            self.device.destroy("vkFreeMemory", block.memory)
        else:
            self.free[block.size].append(block)

    def _own_memory(self, size):
        buffer, needs = self.make_buffer(size)
        try:
            memory, address = self._memory(needs)
            self._bind(buffer, memory, 0)
        except Exception:
            self.device.destroy("vkDestroyBuffer", buffer)
            raise
        return Block(buffer, memory, address, size, self)

    def _fill(self, size, free):
        buffer, needs = self.make_buffer(size)
        step = -(-needs.size // needs.alignment) * needs.alignment
        # A device's first buffers are few: chunks start small and grow to CHUNK.
        count = max(1, min(CHUNK // step, 64))
        needs.size = step * count
        try:
            memory, address = self._memory(needs)
        except Exception:
            self.device.destroy("vkDestroyBuffer", buffer)
            raise
        for i in range(count):
            if i:
                buffer = self.make_buffer(size)[0]
            self._bind(buffer, memory, i * step)
            free.append(Block(buffer, memory, address + i * step if address else 0, size, self))
        free.reverse()

    def make_buffer(self, size):
        """(VkBuffer without memory, what it needs)."""
        if size > self.device.heap_bytes:  # drivers differ in how, and whether, they refuse it
            raise OutOfMemory(
                f"{self.device.name}: a buffer of {size} bytes; its largest memory has "
                f"{self.device.heap_bytes}"
            )
        ffi, lib, device = api.ffi, api.lib, self.device
        info = ffi.new(
            "VkBufferCreateInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                "size": size,
                "usage": 0x1
                | 0x2
                | 0x10
                | 0x20,  # transfer source and destination, uniform, storage
            },
        )
        made = ffi.new("VkBuffer*")
        check(
            lib.vkCreateBuffer(device.handle, info, ffi.NULL, made),
            f"vkCreateBuffer of {size} bytes",
            device,
        )
        device.own("vkDestroyBuffer", made[0])
        needs = ffi.new("VkMemoryRequirements*")
        lib.vkGetBufferMemoryRequirements(device.handle, made[0], needs)
        return made[0], needs

    def _memory(self, needs):
        ffi, lib, device = api.ffi, api.lib, self.device
        info = ffi.new(
            "VkMemoryAllocateInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                "allocationSize": needs.size,
                "memoryTypeIndex": self.type_index,
            },
        )
        made = ffi.new("VkDeviceMemory*")
        result = lib.vkAllocateMemory(device.handle, info, ffi.NULL, made)
        if result in (-1, -2):  # what waits for its last use may be enough
            device.commands.finish()
            result = lib.vkAllocateMemory(device.handle, info, ffi.NULL, made)
        check(result, f"vkAllocateMemory of {needs.size} bytes", device)
        device.own("vkFreeMemory", made[0])
        address = 0
        if self.mapped:
            place = ffi.new("void**")
            check(
                lib.vkMapMemory(device.handle, made[0], 0, 0xFFFFFFFFFFFFFFFF, 0, place),
                "vkMapMemory",
                device,
            )
            address = int(ffi.cast("uintptr_t", place[0]))
        return made[0], address

    def _bind(self, buffer, memory, offset):
        device = self.device
        check(
            api.lib.vkBindBufferMemory(device.handle, buffer, memory, offset),
            "vkBindBufferMemory",
            device,
        )


class MemoryTypes:
    """Which memory types serve buffers, uploads and downloads.

    `unified`: the buffers' own memory is cached host memory, as on software and integrated devices;
    the host then reads and writes it in place. Memory that is visible but not cached is not used
    so: reading it is slower than a copy by orders of magnitude.
    """

    def __init__(self, device):
        ffi, lib = api.ffi, api.lib
        properties = ffi.new("VkPhysicalDeviceMemoryProperties*")
        lib.vkGetPhysicalDeviceMemoryProperties(device.physical.handle, properties)
        heaps = [properties.memoryHeaps[i].size for i in range(properties.memoryHeapCount)]
        device.heap_bytes = max(heaps)
        probe = Pool(device, 0, False)
        buffer, needs = probe.make_buffer(SMALLEST)
        device.destroy("vkDestroyBuffer", buffer)
        flags = [  # of a type that holds no buffers: none at all
            properties.memoryTypes[i].propertyFlags if needs.memoryTypeBits >> i & 1 else -1
            for i in range(properties.memoryTypeCount)
        ]
        everything = _DEVICE_LOCAL | _VISIBLE | _COHERENT | _CACHED
        host = self._first(flags, _VISIBLE | _COHERENT | _CACHED, _VISIBLE | _COHERENT)
        together = self._first(flags, everything)
        self.unified = together is not None
        local = together if self.unified else self._first(flags, _DEVICE_LOCAL, 0)
        self.local = Pool(device, local, self.unified)
        self.host = self.local if self.unified else Pool(device, host, True)

    @staticmethod
    def _first(flags, *wanted):
        for want in wanted:
            for i, have in enumerate(flags):
                if have >= 0 and have & want == want:
                    return i
        return None
