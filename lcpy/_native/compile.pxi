# Descriptors and what is emitted from them: a door to native/kernel and native/api/compile.h.
from cython.operator cimport dereference

from lcpy._native.decl cimport compile as c_compile
from lcpy._native.decl cimport kernel as c_kernel
from lcpy._native.decl.compile cimport CSpirvModule, CudaTarget, OpenclTarget, VulkanTarget
from lcpy._native.decl.kernel cimport ArgumentBlock, SharedDescriptor, Site, Slot

cdef tuple _memory_classes = ("global", "uniform", "constant", "shared", "scratch", "texture",
                              "sampler", "heap", "accel")
cdef tuple _site_kinds = ("assert", "trap", "print", "bounds")
cdef tuple _accesses = ("none", "read", "write", "read_write")
cdef dict _math_modes = {"ieee": 0, "strict": 1, "fast": 2}
cdef dict _block_kinds = {"push": 0, "uniform": 1, "storage": 2}


cdef object _offset(uint32_t value):
    return -1 if value == 0xffffffffu else value


@cython.final
cdef class Descriptor:
    """A kernel descriptor: what a device runs. Immutable."""
    cdef SharedDescriptor c

    @property
    def name(self):
        return self.c.get().name.decode()

    @property
    def block_size(self):
        return tuple([c_kernel.block_axis(dereference(self.c), i) for i in range(3)])

    @property
    def math(self):
        return ("ieee", "strict", "fast")[c_kernel.math_mode(dereference(self.c))]

    @property
    def slots(self):
        """(name, type, memory class, access, number, atomics) of every slot, host slots first."""
        cdef const Slot* s
        cdef size_t i
        out = []
        for i in range(self.c.get().slots.size()):
            s = &self.c.get().slots[i]
            out.append((s.name.decode(), wrap_type(s.type),
                        _memory_classes[c_kernel.slot_memory(s[0])],
                        _accesses[c_kernel.slot_access(s[0])], s.number, bool(s.atomics)))
        return out

    @property
    def counted_in_32_bits(self):
        """Of every slot: whether the kernel asks for the buffer's length in 32 bits."""
        cdef vector[cbool] found = c_compile.counted_in_32_bits(dereference(self.c))
        return [bool(found[i]) for i in range(found.size())]

    @property
    def sites(self):
        """(kind, text, types, file, line, the line's text) of every place that reports."""
        cdef const Site* s
        cdef size_t i, k
        out = []
        for i in range(self.c.get().sites.size()):
            s = &self.c.get().sites[i]
            out.append((_site_kinds[c_kernel.site_kind(s[0])], s.text.decode(),
                        tuple([wrap_type(s.types[k]) for k in range(s.types.size())]),
                        c_kernel.source_name(s.span.file).decode(), s.span.line,
                        c_kernel.source_line(s.span.file, s.span.line).decode()))
        return out

    @property
    def report_tag(self):
        """Number of the slot for the tag of each launch; None in a kernel that reports nothing.
        The report memory is the next slot, the last that the host binds."""
        cdef uint32_t tag = c_kernel.report_tag(dereference(self.c))
        return None if tag == 0xffffffffu else tag

    @property
    def view_offsets(self):
        return bool(self.c.get().view_offsets)

    @property
    def uses_barrier(self):
        return bool(self.c.get().uses_barrier())

    @property
    def uses_warp(self):
        return bool(self.c.get().uses_warp())

    @property
    def uses_shared(self):
        return bool(self.c.get().uses_shared())

    @property
    def shared_bytes(self):
        return self.c.get().shared_bytes()

    @property
    def indexes_arguments(self):
        """Whether it indexes its by-value arguments at run time."""
        return bool(c_compile.indexes_arguments(dereference(self.c)))

    @property
    def hash(self):
        return self.c.get().hash()

    def argument_block(self):
        """(bytes, [(value, length, extents, base), …]): offsets by slot, -1 for what it lacks."""
        cdef ArgumentBlock block = c_kernel.argument_block(dereference(self.c))
        return block.size, [(_offset(e.value), _offset(e.length), _offset(e.extents),
                             _offset(e.base)) for e in block.entries]

    def text(self):
        """The readable form, which `parse_descriptor` reads back."""
        return c_kernel.to_text(dereference(self.c)).decode()

    def __repr__(self):
        return f"<Descriptor {self.name}>"


cdef Descriptor _wrap_descriptor(SharedDescriptor c):
    cdef Descriptor made = Descriptor.__new__(Descriptor)
    made.c = c
    return made


def parse_descriptor(str text not None):
    """The descriptor of a text form; LoadError when it is not well formed."""
    cdef string source = text.encode()
    cdef SharedDescriptor made
    with nogil:
        made = c_kernel.parse_descriptor(source)
    return _wrap_descriptor(made)


def lower(Builder builder not None, str math="ieee", int opt=1, bint ragged=True,
          bint view_offsets=False, bint bounds=False):
    """AST to descriptor. `bounds`: accesses out of range trap."""
    cdef int mode = _math_modes[math]
    cdef SharedDescriptor made
    with nogil:
        made = c_compile.lower(builder.b[0], mode, opt, ragged, view_offsets, bounds)
    return _wrap_descriptor(made)


@cython.final
cdef class SpirvModule:
    """Words of one module and what they ask of the device."""
    cdef readonly bytes words
    cdef readonly tuple capabilities
    cdef readonly tuple extensions
    cdef readonly uint64_t shared_bytes


def vulkan_flags():
    """The flags of emit_spirv by name, and what they are unless told."""
    cdef VulkanTarget t
    return {flag.first.decode(): bool(flag.second) for flag in c_compile.flags_of(t)}


def emit_spirv(Descriptor descriptor not None, plan, *, int version=12, uint32_t block_x=1024,
               uint32_t own_functions=0xffffffff, **flags):
    """SPIR-V for Vulkan 1.0 to 1.4 (`version` 10 to 14); `plan` as lcpy.plan makes it, `flags` by
    their names in native/emit/vulkan.def."""
    cdef VulkanTarget t
    t.version, t.block_x, t.own_functions = version, block_x, own_functions
    for name, value in flags.items():
        if not c_compile.set_flag(t, name.encode(), value):
            raise TypeError(f"emit_spirv has no flag {name!r}")
    cdef vector[uint32_t] places
    for place in plan.slots:
        set_number, binding = place if place is not None else (0, 0)
        places.push_back(set_number)
        places.push_back(binding)
    places.push_back(plan.block_place[0])
    places.push_back(plan.block_place[1])
    cdef int block = _block_kinds[plan.block]
    cdef CSpirvModule made
    with nogil:
        made = c_compile.emit_spirv(dereference(descriptor.c), places, block, t)
    cdef SpirvModule module = SpirvModule.__new__(SpirvModule)
    module.words = (<char*>made.words.data())[:made.words.size() * 4]
    module.capabilities = tuple([c.decode() for c in made.capabilities])
    module.extensions = tuple([e.decode() for e in made.extensions])
    module.shared_bytes = made.shared_bytes
    return module


def emit_opencl(Descriptor descriptor not None, *, int version=12, bint fp64=True,
                bint fp16=False, bint int64_atomics=True, bint subgroups=False,
                bint subgroup_vote=False, bint subgroup_ballot=False,
                bint subgroup_arithmetic=False, bint subgroup_shuffle=False, bint ptx=False,
                bint restrict=False, uint32_t own_functions=0,
                bint own_double_functions=False, bint clock=False):
    """OpenCL C source of one kernel, `lcpy_main`."""
    cdef OpenclTarget t
    t.own_functions, t.own_double_functions = own_functions, own_double_functions
    t.version, t.fp64, t.fp16, t.int64_atomics = version, fp64, fp16, int64_atomics
    t.ptx, t.clock, t.restrict_ = ptx, clock, restrict
    t.subgroups, t.subgroup_vote, t.subgroup_ballot = subgroups, subgroup_vote, subgroup_ballot
    t.subgroup_arithmetic, t.subgroup_shuffle = subgroup_arithmetic, subgroup_shuffle
    cdef string made
    with nogil:
        made = c_compile.emit_opencl(dereference(descriptor.c), t)
    return made.decode()


def opencl_build_options(Descriptor descriptor not None, *, int version=12,
                         bint correct_divide_sqrt=True):
    """What to pass to the driver's compiler with the source, as one string."""
    cdef OpenclTarget t
    t.version, t.correct_divide_sqrt = version, correct_divide_sqrt
    return c_compile.opencl_build_options(dereference(descriptor.c), t).decode()


def emit_cuda(Descriptor descriptor not None, *, int arch=75, bint fold=False, bint restrict=False):
    """CUDA C++ source of one kernel, `lcpy_main`, for compute capability `arch` (90 for sm_90).

    `fold`: block ids come from the linear index of the block. `restrict`: no two buffers overlap,
    and each has fewer than 2^31 elements.
    """
    cdef CudaTarget t
    t.arch, t.fold, t.restrict_ = arch, fold, restrict
    cdef string made
    with nogil:
        made = c_compile.emit_cuda(dereference(descriptor.c), t)
    return made.decode()


def cuda_build_options(Descriptor descriptor not None, int arch=75):
    """What to pass to NVRTC or nvcc with the source, without the architecture, as one string."""
    cdef CudaTarget t
    t.arch = arch
    return c_compile.cuda_build_options(dereference(descriptor.c), t).decode()


def cuda_dynamic_shared(Descriptor descriptor not None):
    """Bytes of dynamic shared memory to launch with; 0 up to 48 KiB, which are static."""
    return c_compile.cuda_dynamic_shared(dereference(descriptor.c))


def own_functions(names=None):
    """The mask of `own_functions` with these of the core's own functions; None: all of them."""
    cdef vector[string] known = c_compile.own_function_names()
    rows = [name.decode() for name in known]
    if names is None:
        names = rows
    mask = 0
    for name in names:
        mask |= 1 << rows.index(name)
    return mask


def own_function_names():
    """The functions that the core can write itself, by bit."""
    return tuple([name.decode() for name in c_compile.own_function_names()])
