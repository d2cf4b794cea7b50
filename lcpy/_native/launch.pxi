# The launch path that an unchanged call takes: checks the arguments against a table made when the
# kernel was specialised, packs them into the argument block, and starts the program. Whatever does
# not fit the table is left to lcpy/launch.py, which knows how to say what is wrong.
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_AsUnsignedLongLong

cdef object _default_device = None


def set_default_device(device):
    """The device of launches without a buffer argument; None before one is chosen."""
    global _default_device
    _default_device = device


cdef class DeviceBuffer:
    """What a launch needs to know of a buffer. lcpy.run.buffer.Buffer is its public face."""
    cdef readonly object device
    cdef readonly object memory         # the device's; None once released
    cdef readonly Type core_type        # buffer<T>: compared by identity
    cdef readonly uint64_t count        # elements, all axes together
    cdef readonly uint64_t offset       # of a view, in elements of the slot
    cdef uint32_t[3] axes
    cdef char* host                     # first byte, where the memory is the host's; else NULL
    cdef uint64_t host_bytes
    cdef object __weakref__

    def _bind(self, device, memory, Type core_type not None, tuple shape not None,
              uint64_t offset, size_t address, uint64_t host_bytes):
        """Called once by the constructors in lcpy.run.buffer."""
        cdef int i
        self.device, self.memory, self.core_type = device, memory, core_type
        self.offset, self.host, self.host_bytes = offset, <char*>address, host_bytes
        self.count = 1
        for i in range(3):
            self.axes[i] = 1
        for i in range(len(shape)):
            self.count *= <uint64_t>shape[i]
            self.axes[i] = min(<uint64_t>shape[i], <uint64_t>0xffffffff)

    def _unbind(self):
        """Gives the memory up: launches and copies with this buffer are refused from now on."""
        self.memory, self.host, self.host_bytes = None, <char*>0, 0


cdef enum ArgumentKind:
    BUFFER, SIGNED, UNSIGNED, FLOATING, BOOLEAN, PACKED

cdef struct Argument:
    ArgumentKind kind
    int exact          # unannotated: 1, a Python number's own type was specialised on; 2, another's
    uint32_t bytes
    uint32_t value     # offsets in the block; 0xffffffff for what is not there
    uint32_t length
    uint32_t extents
    uint32_t base
    long long low
    unsigned long long high

cdef dict _kinds = {"buffer": BUFFER, "signed": SIGNED, "unsigned": UNSIGNED, "float": FLOATING,
                    "bool": BOOLEAN, "packed": PACKED}
cdef uint32_t NONE = 0xffffffffu


cdef uint32_t _place(value):
    return NONE if value < 0 else <uint32_t>value


@cython.final
cdef class BoundCall:
    """One kernel, specialised, built for one device: a table of its arguments and where they go.

    `arguments`: (kind, exact, bytes, value, length, extents, base, low, high, type, packer) each;
    `captured`: buffers bound after the declared arguments, described like arguments.
    """
    cdef vector[Argument] table
    cdef list types            # core type of buffers, class of exact packed values, else None
    cdef list hosts            # NumPy's class of an unannotated scalar that was of one
    cdef list packers          # bytes of a value, for PACKED
    cdef tuple captured
    cdef object captures       # says whether captured values are unchanged; None without captures
    cdef object device
    cdef bint follows_default  # no buffer: runs on the default device of the moment
    cdef readonly object executable
    cdef Program program       # of the cpu device
    cdef DirectExecutable direct  # the executable, where it is one; else None
    cdef unsigned threads
    cdef uint32_t[3] block_size
    cdef bint ragged, views
    cdef ReportState reports  # of the device, where the kernel reports; else None
    cdef object sites         # lcpy.run.report.Sites
    cdef uint32_t first_site, tag_place
    cdef int dims              # 0: any number of dispatch axes
    cdef size_t block_bytes

    def __init__(self, arguments, captured, captures, device, executable, Program program,
                 block_size, size_t block_bytes, bint ragged, bint views, int dims,
                 bint follows_default, unsigned threads=0, sites=None):
        cdef Argument a
        self.types, self.hosts, self.packers = [], [], []
        for kind, exact, size, value, length, extents, base, low, high, type_, packer in arguments:
            a.kind, a.exact, a.bytes = <ArgumentKind><int>_kinds[kind], exact, size
            a.value, a.length = _place(value), _place(length)
            a.extents, a.base = _place(extents), _place(base)
            a.low, a.high = low, high
            self.table.push_back(a)
            self.types.append(type_)
            self.hosts.append(type_.dtype.type if exact == 2 and kind != "packed" else None)
            self.packers.append(packer)
        self.captured, self.captures = tuple(captured), captures
        self.device, self.executable, self.program = device, executable, program
        self.direct = executable if isinstance(executable, DirectExecutable) else None
        self.follows_default, self.threads = follows_default, threads
        self.block_size[0], self.block_size[1], self.block_size[2] = block_size
        self.ragged, self.views, self.dims = ragged, views, dims
        self.block_bytes = block_bytes
        self.sites = sites
        if sites is not None:
            self.reports = device.reports
            self.first_site, self.tag_place = sites.first, sites.tag_place

    cdef bint _number(self, Argument* a, object value, bint checked, char* raw,
                      object host) except -1:
        cdef int overflow = 0
        cdef long long i = 0
        cdef unsigned long long u = 0
        cdef double d
        cdef float f
        cdef char[8] unused
        cdef char* to = raw + a.value if a.value != NONE else unused
        if a.exact == 2 and not checked:
            if type(value) is not host:
                return False
            value = value.item()
        if a.kind == FLOATING:
            if type(value) is not float:
                if a.exact or type(value) is not int:
                    return False
            try:
                d = value
            except OverflowError:
                return False
            if a.bytes == 8:
                memcpy(to, &d, 8)
                return True
            if a.bytes != 4:
                return False
            f = <float>d
            if f - f != 0 and d - d == 0:
                return False
            memcpy(to, &f, 4)
            return True
        if a.kind == BOOLEAN:
            if type(value) is not bool:
                return False
            to[0] = 1 if value is True else 0
            return True
        if type(value) is not int:
            return False
        i = PyLong_AsLongLongAndOverflow(value, &overflow)
        if a.kind == SIGNED:
            if overflow != 0 or i < a.low or i > <long long>a.high:
                return False
            memcpy(to, &i, a.bytes)  # the low bytes: the block is little-endian, as the hosts are
            return True
        if overflow < 0 or (overflow == 0 and i < 0):
            return False
        u = PyLong_AsUnsignedLongLong(value) if overflow else <unsigned long long>i
        if u < <unsigned long long>a.low or u > a.high:
            return False
        memcpy(to, &u, a.bytes)
        return True

    cdef bint _buffer(self, Argument* a, object expected, object value, object name, char* raw,
                      vector[Binding]* bindings, list memories) except -1:
        if not isinstance(value, DeviceBuffer):
            return False
        cdef DeviceBuffer b = <DeviceBuffer>value
        cdef Binding one
        if b.core_type is not expected or b.device is not self.device or b.memory is None:
            return False
        if a.bytes == 0:  # checked, but no slot holds it
            return True
        if a.length != NONE:
            if a.high != 0 and b.count > a.high:
                raise _errors.ArgumentError(
                    f"'{name}' has {b.count} elements, and the kernel asks for len({name}), "
                    f"which is a uint: lc.len64({name}) counts more than 2^32 - 1")
            memcpy(raw + a.length, &b.count, 8)
        if a.extents != NONE:
            memcpy(raw + a.extents, b.axes, 12)
        memories.append(b.memory)
        if self.program is not None:
            one.data, one.bytes = b.host, b.host_bytes
            bindings.push_back(one)
            return True
        if a.base != NONE:
            memcpy(raw + a.base, &b.offset, 8)
        elif b.offset != 0:
            return False
        return True

    # What a launch binds is its own: packers run Python, and another thread may launch meanwhile.
    cdef bint _bind_arguments(self, tuple args, bint checked, char* raw,
                              vector[Binding]* bindings, list memories) except -1:
        cdef size_t i, declared = self.table.size() - len(self.captured)
        cdef Argument* a
        cdef bytes data
        if <size_t>len(args) != declared:
            return False
        for i in range(declared):
            a = &self.table[i]
            value = args[i]
            if a.kind == BUFFER:
                if not self._buffer(a, self.types[i], value, self.packers[i], raw, bindings,
                                    memories):
                    return False
            elif a.kind == PACKED:
                if a.exact and not checked and type(value) is not self.types[i]:
                    return False
                data = self.packers[i](value)
                if a.value != NONE:
                    memcpy(raw + a.value, PyBytes_AS_STRING(data), a.bytes)
            elif not self._number(a, value, checked, raw, self.hosts[i]):
                return False
        for i in range(declared, self.table.size()):
            if not self._buffer(&self.table[i], self.types[i], self.captured[i - declared],
                                self.packers[i], raw, bindings, memories):
                return False
        return True

    cdef int _dispatch(self, object size, bint checked, char* raw) except -1:
        """0: does not fit this call; 1: launch; 2: an axis is zero, nothing to launch."""
        cdef uint32_t[3] n
        cdef int i, dims = 1
        cdef bint whole = True
        n[0] = n[1] = n[2] = 1
        if type(size) is int:
            if size < 0 or size > 0xffffffff:
                return 0
            n[0] = size
        elif type(size) is tuple and 1 <= len(<tuple>size) <= 3:
            dims = <int>len(<tuple>size)
            for i in range(dims):
                axis = (<tuple>size)[i]
                if type(axis) is not int or axis < 0 or axis > 0xffffffff:
                    return 0
                n[i] = axis
        else:
            return 0
        if self.dims != 0 and dims != self.dims and not checked:
            return 0
        for i in range(3):
            if n[i] == 0:
                return 2
            if n[i] % self.block_size[i] != 0:
                whole = False
        if whole == self.ragged:
            return 0
        memcpy(raw, n, 12)
        return 1

    def launch(self, tuple args not None, size, bint checked=False):
        """Starts the kernel. False, with nothing done, when the arguments do not fit this call.
        `checked`: the values are normalised and of the types that were specialised on. A KernelTrap
        where the kernel has ended already, by a trap."""
        if self.follows_default and _default_device is not self.device:
            return False
        if self.captures is not None and not self.captures.unchanged():
            return False
        cdef vector[char] block = vector[char](self.block_bytes, 0)
        cdef vector[Binding] bindings
        cdef char* raw = block.data()
        cdef list memories = []  # held while they are used, whatever becomes of the buffers
        cdef int ready = self._dispatch(size, checked, raw)
        if ready == 0 or not self._bind_arguments(args, checked, raw, &bindings, memories):
            return False
        if ready == 2:
            return True
        if self.sites is None:
            return self._start(memories, raw, block.size(), &bindings)
        if self.program is not None:
            return self._run_with_report(raw, block.size(), &bindings)
        with self.reports.lock:
            self.reports.prepare()
            memories.append(self.reports.memory)
            self.reports._write_tag(self.first_site, self.reports.capacity, raw + self.tag_place)
            self.reports.pending[self.first_site] = self.sites
            return self._start(memories, raw, block.size(), &bindings)

    cdef object _start(self, list memories, char* raw, size_t size, vector[Binding]* bindings):
        if self.program is not None:
            with nogil:
                c_interp.run_program(dereference(self.program.c), bindings.data(), bindings.size(),
                                     raw, size, <const uint32_t*>raw, self.threads)
        elif self.direct is None or not self.direct.start(memories, raw, size,
                                                          <const uint32_t*>raw):
            n = <uint32_t*>raw
            data = PyBytes_FromStringAndSize(raw, size)
            self.executable.launch(memories, data, n[0], n[1], n[2])
        return True

    cdef object _run_with_report(self, char* raw, size_t size, vector[Binding]* bindings):
        """On the cpu device, where launches end before they return: each has its own memory."""
        cdef Binding one
        memory = self.reports.take(self.sites.prints)
        one.data, one.bytes = <char*><size_t>memory.address, memory.nbytes
        bindings.push_back(one)
        self.reports._write_tag(self.first_site, memory.nbytes // 4 - kReportHeader,
                                raw + self.tag_place)
        self._start([], raw, size, bindings)
        trap = None
        if _has_report(<const char*>one.data):
            trap = self.reports.finished(self.sites, memory)
        self.reports.give_back(memory)
        return True if trap is None else trap


cdef int RECENT = 3  # bound calls besides the last: programs alternate between a few


cdef class KernelBase:
    """A kernel's call: the last bound calls first, then lcpy.launch.Kernel._launch, which returns
    what the user did wrong: raised from here it has the user's frames alone."""
    cdef public object _last  # BoundCall
    cdef tuple _others        # those before it, the latest first

    def _remember(self, BoundCall call not None):
        """Calls take this one first."""
        if call is not self._last:
            others = [c for c in (self._last, *(self._others or ())) if c is not None]
            self._others = tuple([c for c in others if c is not call][:RECENT])
            self._last = call

    def __call__(self, *args, dispatch_size=None, **named):
        error = False
        if not named and self._last is not None:
            error = (<BoundCall>self._last).launch(args, dispatch_size)
            if error is True:
                return
            if error is False and self._others is not None:
                for call in self._others:
                    error = (<BoundCall>call).launch(args, dispatch_size)
                    if error is True:
                        self._remember(call)
                        return
                    if error is not False:
                        break
        if error is False:
            error = self._launch(args, named, dispatch_size)
        if error is not None:
            raise error
