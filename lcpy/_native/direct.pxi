# Launches that need no Python: the base of what BoundCall starts by itself, and those of CUDA and
# OpenCL, which call the driver by address. What is not as usual (a stopped device, a grid over the
# limits) is left to Python.
from libc.stdint cimport uintptr_t

ctypedef int (*CuLaunchKernel)(void*, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                               uint32_t, void*, void**, void**) noexcept nogil
ctypedef int (*CuCtxGetCurrent)(void**) noexcept nogil
ctypedef int (*CuCtxPushCurrent)(void*) noexcept nogil
ctypedef int (*CuCtxPopCurrent)(void**) noexcept nogil

ctypedef void* Place

cdef enum:
    MOST_POINTERS = 512  # a kernel's arguments are 4096 bytes at most


cdef class DirectExecutable:
    """An executable that BoundCall may start by itself."""

    cdef bint start(self, list memories, const char* block, size_t size,
                    const uint32_t* threads) except -1:
        """Launches. False, with nothing done, when Python must."""
        return False


cdef class DeviceAddress:
    """Memory that a driver knows by an address or a handle; base of what buffers hold."""
    cdef public uint64_t pointer
    cdef public uint64_t size           # bytes


cdef bint _small_and_apart(list memories, const vector[uint64_t]& most_bytes) except -1:
    """Whether no two memories are one, and each has at most its bytes."""
    cdef Py_ssize_t i, j
    for i in range(len(memories)):
        if (<DeviceAddress?>memories[i]).size > most_bytes[i]:
            return False
        for j in range(i):
            if memories[i] is memories[j]:
                return False
    return True


@cython.final
cdef class CudaCalls:
    """One device's context and stream, and the driver's functions by address."""
    cdef public bint stopped            # nothing is launched any more: fork, loss, end of process
    cdef void* context
    cdef void* stream
    cdef CuLaunchKernel launch_kernel
    cdef CuCtxGetCurrent get_current
    cdef CuCtxPushCurrent push
    cdef CuCtxPopCurrent pop

    def __init__(self, size_t context, size_t stream, size_t launch_kernel, size_t get_current,
                 size_t push, size_t pop):
        self.context, self.stream = <void*>context, <void*>stream
        self.launch_kernel = <CuLaunchKernel><void*>launch_kernel
        self.get_current = <CuCtxGetCurrent><void*>get_current
        self.push = <CuCtxPushCurrent><void*>push
        self.pop = <CuCtxPopCurrent><void*>pop


cdef class CudaExecutable(DirectExecutable):
    """A loaded function; base of lcpy.run.cuda.launch's, whose `failed(code)` raises."""
    cdef CudaCalls calls
    cdef void* function
    cdef uint32_t shared_bytes          # dynamic
    cdef uint32_t[3] block_axes
    cdef uint32_t[3] group_limits
    cdef public bint plain              # False: every launch goes through Python
    cdef bint distinct                  # built for buffers of which no two are in one memory
    cdef vector[uint64_t] most_bytes    # of each buffer, if it is distinct

    def _prepare(self, CudaCalls calls not None, size_t function, uint32_t shared_bytes, block_size,
                 groups, bint distinct, most_bytes):
        self.calls, self.function, self.shared_bytes = calls, <void*>function, shared_bytes
        self.plain, self.distinct = True, distinct
        for size in most_bytes:
            self.most_bytes.push_back(size)
        for i in range(3):
            self.block_axes[i], self.group_limits[i] = block_size[i], min(groups[i], 0xffffffff)

    cdef int _launch(self, list memories, const char* block, const uint32_t* groups) except -1:
        """The driver's result; 0 is success."""
        cdef uint64_t[MOST_POINTERS] pointers
        cdef Place[MOST_POINTERS + 1] places
        cdef Py_ssize_t i, n = len(memories)
        cdef void* before = NULL
        cdef void* unused = NULL
        cdef int result
        cdef CudaCalls calls = self.calls
        cdef uint32_t x = groups[0], y = groups[1], z = groups[2]
        if n > MOST_POINTERS:
            raise ValueError("too many buffers")
        for i in range(n):
            pointers[i] = (<DeviceAddress?>memories[i]).pointer
            places[i] = &pointers[i]
        places[n] = <void*>block
        with nogil:  # the driver blocks when too many launches wait
            result = calls.get_current(&before)
            if result == 0 and before != calls.context:
                result = calls.push(calls.context)
            if result == 0:
                result = calls.launch_kernel(self.function, x, y, z, self.block_axes[0],
                                             self.block_axes[1], self.block_axes[2],
                                             self.shared_bytes, calls.stream, places, NULL)
                if before != calls.context:
                    calls.pop(&unused)
        return result

    cdef bint start(self, list memories, const char* block, size_t size,
                    const uint32_t* threads) except -1:
        cdef uint32_t[3] groups
        cdef int i, result
        if not self.plain or self.calls is None or self.calls.stopped:
            return False
        for i in range(3):
            groups[i] = (threads[i] - 1) // self.block_axes[i] + 1
            if groups[i] > self.group_limits[i]:
                return False
        if self.distinct and not _small_and_apart(memories, self.most_bytes):
            return False
        result = self._launch(memories, block, groups)
        if result != 0:
            self.failed(result)
        return True

    def run(self, list memories not None, bytes block not None, uint32_t x, uint32_t y, uint32_t z):
        """Launches a grid of blocks, as `launch` of lcpy.run.cuda.launch has worked it out."""
        cdef uint32_t[3] groups
        groups[0], groups[1], groups[2] = x, y, z
        cdef int result = self._launch(memories, <const char*>block, groups)
        if result != 0:
            self.failed(result)


ctypedef int (*ClSetKernelArg)(void*, uint32_t, size_t, const void*) noexcept nogil
ctypedef int (*ClEnqueueNDRangeKernel)(void*, void*, uint32_t, const size_t*, const size_t*,
                                       const size_t*, uint32_t, const void*, void*) noexcept nogil


@cython.final
cdef class OpenclCalls:
    """One device's queue, and the two functions of a launch by address."""
    cdef public bint stopped
    cdef void* queue
    cdef ClSetKernelArg set_argument
    cdef ClEnqueueNDRangeKernel enqueue

    def __init__(self, size_t queue, size_t set_argument, size_t enqueue):
        self.queue = <void*>queue
        self.set_argument = <ClSetKernelArg><void*>set_argument
        self.enqueue = <ClEnqueueNDRangeKernel><void*>enqueue


cdef class OpenclExecutable(DirectExecutable):
    """A kernel object; base of lcpy.run.opencl's, whose `failed(code)` raises. The object holds its
    arguments, so whoever sets them has the lock."""
    cdef OpenclCalls calls              # None: every launch goes through Python
    cdef void* kernel
    cdef object guard                   # a lock
    cdef size_t[3] local_size
    cdef bint distinct                  # as CudaExecutable's
    cdef vector[uint64_t] most_bytes

    def _prepare(self, OpenclCalls calls, size_t kernel, guard, block_size, bint distinct,
                 most_bytes):
        self.calls, self.kernel, self.guard = calls, <void*>kernel, guard
        self.distinct = distinct
        for size in most_bytes:
            self.most_bytes.push_back(size)
        for i in range(3):
            self.local_size[i] = block_size[i]

    cdef int _launch(self, list memories, const char* block, size_t size,
                     const size_t* global_size) except -1:
        cdef OpenclCalls calls = self.calls
        cdef uint32_t i = 0
        cdef void* handle
        cdef int result
        for memory in memories:
            handle = <void*><size_t>(<DeviceAddress?>memory).pointer
            result = calls.set_argument(self.kernel, i, sizeof(void*), &handle)
            if result != 0:
                return result
            i += 1
        result = calls.set_argument(self.kernel, i, size, block)
        if result != 0:
            return result
        with nogil:
            result = calls.enqueue(calls.queue, self.kernel, 3, NULL, global_size, self.local_size,
                                   0, NULL, NULL)
        return result

    cdef bint start(self, list memories, const char* block, size_t size,
                    const uint32_t* threads) except -1:
        cdef size_t[3] global_size
        cdef int i, result
        if self.calls is None or self.calls.stopped:
            return False
        if self.distinct and not _small_and_apart(memories, self.most_bytes):
            return False
        if not self.guard.acquire(False):
            return False
        try:
            for i in range(3):
                global_size[i] = ((threads[i] - 1) // self.local_size[i] + 1) * self.local_size[i]
            result = self._launch(memories, block, size, global_size)
        finally:
            self.guard.release()
        if result != 0:
            self.failed(result)
        return True
