"""Device memory in size classes, and pinned host memory that copies pass through.

All work of a device is on one stream, so a small block that is given back can be handed out again
at once: what comes to use it runs after all that used it before. Blocks come back from destructors,
in any thread and at any moment: lists of them are deques, whose append and pop need no lock.
"""

from collections import deque
from ctypes import byref, c_uint64, c_void_p

from ..._native import core
from ...errors import OutOfMemory
from ..device import size_class
from . import api
from .api import check

SMALLEST = 256  # bytes
LARGEST_SHARED = 1 << 20  # larger blocks go back to the driver
KEPT = 64 << 20  # bytes of one size that stay for reuse
SMALLEST_STAGING, LARGEST_STAGING = 1 << 16, 16 << 20
STAGING_KEPT = 32 << 20  # bytes of one size in flight before the host waits
_EVENT_WITHOUT_TIME = 2  # CU_EVENT_DISABLE_TIMING


class Memory(core.DeviceAddress):
    """What a Buffer holds."""

    __slots__ = ("device", "__weakref__")

    def __init__(self, device, pointer, size):
        self.device, self.pointer, self.size = device, pointer, size

    def __del__(self):
        device = self.device
        if device.calls.stopped:  # after a fork, a loss or the end the driver is not to be called
            return
        device.pool.give_back(self.pointer, self.size)


class Pool:
    """Device memory."""

    def __init__(self, device):
        self.device = device
        self.free = {}  # size class -> deque of addresses
        size = SMALLEST
        while size <= LARGEST_SHARED:
            self.free[size] = deque()
            size *= 2

    def take(self, nbytes):
        """A Memory of at least `nbytes`."""
        size = size_class(nbytes, SMALLEST) if nbytes <= LARGEST_SHARED else nbytes
        free = self.free.get(size)
        if free is not None:
            try:
                return Memory(self.device, free.pop(), size)
            except IndexError:
                pass
        pointer = c_uint64()
        with self.device.current:
            code = api.lib.cuMemAlloc_v2(byref(pointer), size)
            if code == 2:  # what is kept for reuse may be enough
                self._empty()
                code = api.lib.cuMemAlloc_v2(byref(pointer), size)
            try:
                check(code, f"cuMemAlloc of {size} bytes", self.device)
            except OutOfMemory as error:
                total = self.device.limits["memory_bytes"]
                raise OutOfMemory(f"{error}; {self.device.name} has {total} in all") from None
        return Memory(self.device, pointer.value, size)

    def give_back(self, pointer, size):
        free = self.free.get(size)
        if free is not None and len(free) * size < KEPT:
            free.append(pointer)
            return
        lib = api.lib
        if lib.cuCtxPushCurrent_v2(self.device.context) == 0:
            lib.cuMemFree_v2(pointer)  # waits for the launches that use it
            lib.cuCtxPopCurrent_v2(byref(c_void_p()))

    def _empty(self):
        for free in self.free.values():
            while free:
                try:
                    pointer = free.pop()
                except IndexError:
                    break
                check(api.lib.cuMemFree_v2(pointer), "cuMemFree", self.device)


class Block:
    """Pinned host memory, and the event after its last copy."""

    __slots__ = ("address", "size", "event", "busy")

    def __init__(self, address, size, event):
        self.address, self.size, self.event, self.busy = address, size, event, False


class Staging:
    """Pinned blocks by size, in the order in which their copies end."""

    def __init__(self, device):
        self.device = device
        self.blocks = {}
        size = SMALLEST_STAGING
        while size <= LARGEST_STAGING:
            self.blocks[size] = deque()
            size *= 2

    def take(self, nbytes):
        """A block that no copy uses any more. The context is current."""
        size = size_class(nbytes, SMALLEST_STAGING)
        blocks = self.blocks[size]
        try:
            block = blocks.popleft()
        except IndexError:
            return self._make(size)
        if block.busy:
            code = api.lib.cuEventQuery(block.event)
            if code == api.NOT_READY:
                if (len(blocks) + 1) * size < STAGING_KEPT:
                    blocks.appendleft(block)
                    return self._make(size)
                code = api.lib.cuEventSynchronize(block.event)
            check(code, "cuEventSynchronize", self.device)
            block.busy = False
        return block

    def give_back(self, block):
        self.blocks[block.size].append(block)

    def mark(self, block):
        """The block is in use until what is on the stream now is done."""
        check(api.lib.cuEventRecord(block.event, self.device.stream), "cuEventRecord", self.device)
        block.busy = True

    def _make(self, size):
        place, event = c_void_p(), c_void_p()
        check(
            api.lib.cuMemHostAlloc(byref(place), size, 0),
            f"cuMemHostAlloc of {size} bytes",
            self.device,
        )
        check(
            api.lib.cuEventCreate(byref(event), _EVENT_WITHOUT_TIME), "cuEventCreate", self.device
        )
        return Block(place.value, size, event.value)
