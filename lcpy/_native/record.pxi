# Recording of an unchanged launch for lcpy.run.vulkan: the driver's functions are called by
# address, and no Python object is made but the key of the descriptor set. Whatever is not as it was
# before (no command buffer, a new set, a block that is not pushed, a full batch) is left to Python.
#
# Handles are pointers, as they are on every 64-bit system.
from cpython.bytes cimport PyBytes_GET_SIZE
from cpython.long cimport PyLong_FromSize_t
from cpython.ref cimport Py_INCREF, PyObject
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.string cimport memcmp

ctypedef void (*DispatchCall)(void*, uint32_t, uint32_t, uint32_t) noexcept nogil
ctypedef void (*PushCall)(void*, void*, uint32_t, uint32_t, uint32_t, const void*) noexcept nogil
ctypedef void (*BindPipelineCall)(void*, int, void*) noexcept nogil
ctypedef void (*BindSetsCall)(void*, int, void*, uint32_t, uint32_t, const void*, uint32_t,
                              const uint32_t*) noexcept nogil
ctypedef void (*BarrierCall)(void*, uint32_t, uint32_t, uint32_t, uint32_t, const void*, uint32_t,
                             const void*, uint32_t, const void*) noexcept nogil

cdef enum:
    BIND_POINT_COMPUTE = 1
    STAGE_COMPUTE = 0x20                # VkShaderStageFlagBits
    COMPUTE_AND_TRANSFER = 0x800 | 0x1000  # VkPipelineStageFlagBits
    READS = 1
    WRITES = 2


cdef class RecordedMemory:
    """Marks of a memory's last uses: barrier epochs, and numbers of submissions."""
    cdef public int64_t written
    cdef public int64_t read
    cdef public int64_t last_use
    cdef public int64_t last_write


cdef class Recorder:
    """The state of the command buffer under construction; lcpy.run.vulkan.commands has the rest."""
    cdef public object lock
    cdef public size_t address          # of the command buffer; 0 while none is recorded
    cdef public int64_t epoch
    cdef public int64_t number          # of the submission being recorded
    cdef public int count
    cdef public int limit
    cdef public object bound_pipeline
    cdef public object bound_set
    cdef public object bound_block      # bytes
    cdef DispatchCall dispatch
    cdef PushCall push
    cdef BindPipelineCall bind_pipeline
    cdef BindSetsCall bind_sets
    cdef BarrierCall barrier_call
    cdef void* barrier_struct

    def _set_calls(self, size_t dispatch, size_t push, size_t bind_pipeline, size_t bind_sets,
                   size_t barrier, size_t barrier_struct):
        """Addresses of vkCmdDispatch… and of the VkMemoryBarrier between launches."""
        self.dispatch, self.push = <DispatchCall><void*>dispatch, <PushCall><void*>push
        self.bind_pipeline = <BindPipelineCall><void*>bind_pipeline
        self.bind_sets = <BindSetsCall><void*>bind_sets
        self.barrier_call = <BarrierCall><void*>barrier
        self.barrier_struct = <void*>barrier_struct


cdef class RecordedExecutable(DirectExecutable):
    """A pipeline that can be recorded without Python; base of lcpy.run.vulkan.launch's."""
    cdef Recorder recorder
    cdef object pipeline_object         # identity: what bound_pipeline holds
    cdef void* pipeline
    cdef void* layout
    cdef dict sets                      # ids of memories -> (array, pool, address of the array)
    cdef bytes marks                    # READS | WRITES of each memory
    cdef bint pushes
    cdef uint32_t[3] block_axes
    cdef uint32_t[3] group_limits

    def _prepare(self, Recorder recorder, pipeline_object, size_t pipeline, size_t layout, sets,
                 bytes marks, bint pushes, block_size, groups):
        self.recorder, self.pipeline_object = recorder, pipeline_object
        self.pipeline, self.layout = <void*>pipeline, <void*>layout
        self.sets, self.marks, self.pushes = sets, marks, pushes
        for i in range(3):
            self.block_axes[i], self.group_limits[i] = block_size[i], min(groups[i], 0xffffffff)

    cdef object _find_set(self, list memories):
        """The set's entry, or None when it must be made."""
        cdef Py_ssize_t i, n = len(memories)
        key = PyTuple_New(n)
        for i in range(n):
            part = PyLong_FromSize_t(<size_t><PyObject*>memories[i])
            Py_INCREF(part)
            PyTuple_SET_ITEM(key, i, part)
        return self.sets.get(key)

    cdef bint start(self, list memories, const char* block, size_t size,
                    const uint32_t* threads) except -1:
        """Records the launch. False, with nothing done, when Python must."""
        cdef Recorder r = self.recorder
        cdef uint32_t[3] groups
        cdef int i
        if r is None or not self.pushes or r.address == 0 or r.count + 1 >= r.limit:
            return False
        for i in range(3):
            groups[i] = (threads[i] - 1) // self.block_axes[i] + 1
            if groups[i] > self.group_limits[i]:
                return False
        entry = None
        if self.marks:
            entry = self._find_set(memories)
            if entry is None:
                return False
        if not r.lock.acquire(False):
            return False
        try:
            if r.address == 0 or r.count + 1 >= r.limit:
                return False
            self._record(r, memories, entry, block, size, groups)
        finally:
            r.lock.release()
        return True

    cdef int _record(self, Recorder r, list memories, object entry, const char* block, size_t size,
                     const uint32_t* groups) except -1:
        cdef void* to = <void*>r.address
        cdef Py_ssize_t i, n = len(memories)
        cdef const unsigned char* marks = self.marks
        cdef RecordedMemory m
        cdef size_t place
        for i in range(n):
            m = <RecordedMemory?>memories[i]
            if m.written == r.epoch or (marks[i] & WRITES and m.read == r.epoch):
                r.barrier_call(to, COMPUTE_AND_TRANSFER, COMPUTE_AND_TRANSFER, 0, 1,
                               r.barrier_struct, 0, NULL, 0, NULL)
                r.epoch += 1
                break
        if r.bound_pipeline is not self.pipeline_object:
            r.bind_pipeline(to, BIND_POINT_COMPUTE, self.pipeline)
            r.bound_pipeline, r.bound_set, r.bound_block = self.pipeline_object, None, None
        if entry is not None and r.bound_set is not entry:
            place = entry[2]
            r.bind_sets(to, BIND_POINT_COMPUTE, self.layout, 0, 1, <void*>place, 0, NULL)
            r.bound_set = entry
        if not self._is_bound(r, block, size):
            r.push(to, self.layout, STAGE_COMPUTE, 0, <uint32_t>size, block)
            r.bound_block = PyBytes_FromStringAndSize(block, size)
        r.dispatch(to, groups[0], groups[1], groups[2])
        for i in range(n):
            m = <RecordedMemory>memories[i]
            if marks[i] & WRITES:
                m.written = r.epoch
                m.last_write = r.number
            if marks[i] & READS:
                m.read = r.epoch
            m.last_use = r.number
        r.count += 1
        return 0

    cdef bint _is_bound(self, Recorder r, const char* block, size_t size):
        if r.bound_block is None:
            return False
        cdef const char* bound = <bytes>r.bound_block
        return <size_t>PyBytes_GET_SIZE(r.bound_block) == size and memcmp(bound, block, size) == 0
