"""Recording and submission: one command buffer takes many launches and copies, with barriers only
where one command touches what an earlier one wrote, or writes what an earlier one read.

Epochs stand for the stretches between barriers: a buffer used in the current epoch has not been
waited for yet. Commands of one queue start in the order of submission, so epochs run on across
submissions. Every submission ends in a barrier towards the host.
"""

import threading
from collections import deque

from ..._native import core
from . import api
from .api import check

FIRST_BATCH, LARGEST_BATCH = 16, 256  # launches in a command buffer before it is sent off
MOST_PENDING = 32  # batches sent off and not done: the host waits rather than run ahead for ever
WAIT_STEP = 100_000_000  # ns: waits look for Ctrl-C between steps


class Batch:
    """A command buffer with the fence that tells when it is done."""

    __slots__ = ("commands", "fence", "fence_list", "command_list")


class Commands(core.Recorder):
    """The device's one in-order stream."""

    def __init__(self, device):
        ffi, lib = api.ffi, api.lib
        self.device, self.lock = device, threading.RLock()
        info = ffi.new(
            "VkCommandPoolCreateInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                "flags": lib.VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                "queueFamilyIndex": device.family,
            },
        )
        made = ffi.new("VkCommandPool*")
        check(
            lib.vkCreateCommandPool(device.handle, info, ffi.NULL, made),
            "vkCreateCommandPool",
            device,
        )
        self.pool = made[0]
        device.own("vkDestroyCommandPool", self.pool)
        self._begin_info = ffi.new(
            "VkCommandBufferBeginInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                "flags": lib.VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
            },
        )
        self._submit_info = ffi.new(
            "VkSubmitInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_SUBMIT_INFO,
                "commandBufferCount": 1,
            },
        )
        self._between = self._barrier(0x40 | 0x1000, 0x20 | 0x40 | 0x800 | 0x1000)
        self._to_host = self._barrier(0x40 | 0x1000, 0x20 | 0x40 | 0x800 | 0x1000 | 0x2000)
        self._copy = ffi.new("VkBufferCopy*")
        self._barrier_call, self._null = lib.vkCmdPipelineBarrier, ffi.NULL
        calls = (
            "Dispatch",
            "PushConstants",
            "BindPipeline",
            "BindDescriptorSets",
            "PipelineBarrier",
        )
        addresses = [lib.vkGetDeviceProcAddr(device.handle, f"vkCmd{c}".encode()) for c in calls]
        self._set_calls(*[api.handle_key(a) for a in addresses], api.handle_key(self._between))
        self.idle, self.pending = [], deque()  # Batches; pending: (number, Batch), oldest first
        self.current = None  # the Batch being recorded
        self.buffer = None  # its command buffer
        self.number = 1  # of the submission being recorded
        self.completed = 0
        self.count, self.limit = 0, FIRST_BATCH
        self.epoch = 0
        self._retired = deque()  # (last use, function, argument)

    def _barrier(self, source, target):
        """Access masks: 0x20 shader read, 0x40 shader write, 0x800 transfer read, 0x1000 transfer
        write, 0x2000 host read."""
        return api.ffi.new(
            "VkMemoryBarrier*",
            {
                "sType": api.lib.VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                "srcAccessMask": source,
                "dstAccessMask": target,
            },
        )

    # ---- recording ------------------------------------------------------------------------------
    def begin(self):
        """The command buffer to record into. The lock is held by the caller."""
        if self.buffer is None:
            self._begin()
        return self.buffer

    def _begin(self):
        lib, device = api.lib, self.device
        device.check()
        self._poll()
        batch = self.idle.pop() if self.idle else self._make_batch()
        check(
            lib.vkBeginCommandBuffer(batch.commands, self._begin_info),
            "vkBeginCommandBuffer",
            device,
        )
        self.current, self.buffer = batch, batch.commands
        self.address = api.handle_key(batch.commands)
        self.count = 0
        self.bound_pipeline = self.bound_set = self.bound_block = None

    def _make_batch(self):
        ffi, lib, device = api.ffi, api.lib, self.device
        batch = Batch()
        info = ffi.new(
            "VkCommandBufferAllocateInfo*",
            {
                "sType": lib.VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                "commandPool": self.pool,
                "level": 0,
                "commandBufferCount": 1,
            },
        )
        batch.command_list = ffi.new("VkCommandBuffer[1]")
        check(
            lib.vkAllocateCommandBuffers(device.handle, info, batch.command_list),
            "vkAllocateCommandBuffers",
            device,
        )
        fence_info = ffi.new(
            "VkFenceCreateInfo*", {"sType": lib.VK_STRUCTURE_TYPE_FENCE_CREATE_INFO}
        )
        batch.fence_list = ffi.new("VkFence[1]")
        check(
            lib.vkCreateFence(device.handle, fence_info, ffi.NULL, batch.fence_list),
            "vkCreateFence",
            device,
        )
        batch.commands, batch.fence = batch.command_list[0], batch.fence_list[0]
        device.own("vkDestroyFence", batch.fence)
        return batch

    def use(self, memory, reads, writes):
        """Whether a barrier must come before this use; marks come after it, by `mark`."""
        epoch = self.epoch
        return memory.written == epoch or (writes and memory.read == epoch)

    def barrier(self):
        """Everything recorded so far happens before everything recorded from now on."""
        self._barrier_call(
            self.buffer,
            0x800 | 0x1000,
            0x800 | 0x1000,
            0,
            1,
            self._between,
            0,
            self._null,
            0,
            self._null,
        )  # compute shader and transfer stages
        self.epoch += 1

    def mark(self, memory, reads, writes):
        if writes:
            memory.written = self.epoch
            memory.last_write = self.number
        if reads:
            memory.read = self.epoch
        memory.last_use = self.number

    def recorded(self):
        """Counts a command; sends the batch off when it is long."""
        self.count += 1
        if self.count >= self.limit:
            self.limit = min(self.limit * 2, LARGEST_BATCH)
            self.submit()

    def copy(self, source, source_offset, to, to_offset, nbytes):
        """Records a copy between Memory objects."""
        with self.lock:
            buffer = self.begin()
            if self.use(source, True, False) or self.use(to, False, True):
                self.barrier()
            c = self._copy
            c.srcOffset, c.dstOffset, c.size = source_offset, to_offset, nbytes
            api.lib.vkCmdCopyBuffer(buffer, source.buffer, to.buffer, 1, c)
            self.mark(source, True, False)
            self.mark(to, False, True)
            self.recorded()

    def fill(self, memory, offset, nbytes, word):
        """Records a fill by one 32-bit word; offset and size are multiples of 4."""
        with self.lock:
            buffer = self.begin()
            if self.use(memory, False, True):
                self.barrier()
            api.lib.vkCmdFillBuffer(buffer, memory.buffer, offset, nbytes, word)
            self.mark(memory, False, True)
            self.recorded()

    # ---- submission -----------------------------------------------------------------------------
    def submit(self):
        """Sends off what is recorded; nothing to do when nothing is."""
        with self.lock:
            batch = self.current
            if batch is None:
                return
            lib, device = api.lib, self.device
            lib.vkCmdPipelineBarrier(
                self.buffer,
                0x800 | 0x1000,
                0x800 | 0x1000 | 0x4000,
                0,
                1,
                self._to_host,
                0,
                self._null,
                0,
                self._null,
            )
            self.epoch += 1
            self.stop()
            check(lib.vkEndCommandBuffer(batch.commands), "vkEndCommandBuffer", device)
            self._submit_info.pCommandBuffers = batch.command_list
            result = lib.vkQueueSubmit(device.queue, 1, self._submit_info, batch.fence)
            check(result, "vkQueueSubmit", device)
            self.pending.append((self.number, batch))
            self.number += 1
            if len(self.pending) > MOST_PENDING:
                self._wait_oldest()

    def stop(self):
        """Leaves the command buffer: the next command begins another, if the device still can."""
        self.current = self.buffer = None
        self.address = 0

    def wait(self, number):
        """Returns when the submission `number`, and so all before it, is done."""
        if number <= self.completed:
            return
        with self.lock:
            self.device.check()
            if number >= self.number:
                self.submit()
            self.limit = FIRST_BATCH
            while self.pending and self.pending[0][0] <= number:
                self._wait_oldest()
            self._collect()

    def finish(self):
        """Waits for everything recorded."""
        with self.lock:
            self.wait(self.number if self.current is not None else self.number - 1)
            self._collect()

    def _wait_oldest(self):
        lib, device = api.lib, self.device
        number, batch = self.pending[0]
        while True:
            result = lib.vkWaitForFences(device.handle, 1, batch.fence_list, 1, WAIT_STEP)
            if result != lib.VK_TIMEOUT:
                break
        check(result, "vkWaitForFences", device)
        self._done(number, batch)

    def _done(self, number, batch):
        self.pending.popleft()
        check(
            api.lib.vkResetFences(self.device.handle, 1, batch.fence_list),
            "vkResetFences",
            self.device,
        )
        self.completed = number
        self.idle.append(batch)

    def _poll(self):
        """Takes note of what is done already, without waiting."""
        lib, device = api.lib, self.device
        while self.pending:
            number, batch = self.pending[0]
            result = lib.vkGetFenceStatus(device.handle, batch.fence)
            if result == lib.VK_NOT_READY:
                break
            check(result, "vkGetFenceStatus", device)
            self._done(number, batch)
        self._collect()

    # ---- what may be given up -------------------------------------------------------------------
    def retire(self, last_use, function, argument):
        """Calls function(argument) once the submission `last_use` is done. From any thread, also
        from a destructor: only appends."""
        self._retired.append((last_use, function, argument))

    def _collect(self):
        for _ in range(len(self._retired)):
            entry = self._retired.popleft()
            if entry[0] <= self.completed:
                entry[1](entry[2])
            else:
                self._retired.append(entry)
