# SPIR-V as text, and its validation.
from lcpy._native.decl cimport spirv as c_spirv


def spirv_version(str env not None):
    """The version word of a `spirv-as` environment; 0 when there is none of that name."""
    return c_spirv.version_of_environment(env.encode())


def spirv_assemble(str text not None, uint32_t version, bint preserve_numeric_ids):
    """(words as bytes, None), or (None, (line, column, message))."""
    cdef bytes encoded = text.encode("utf-8", "surrogateescape")
    cdef const char* source = encoded
    cdef size_t size = len(encoded)
    cdef c_spirv.Assembled made
    with nogil:
        made = c_spirv.assemble(source, size, version, preserve_numeric_ids)
    if not made.error.empty():
        return None, (made.line, made.column, made.error.decode("utf-8", "replace"))
    return (<char*>made.words.data())[:made.words.size() * 4], None


def spirv_disassemble(bytes module not None, bint raw_ids, bint indent, bint header,
                      bint offsets, bint comments, bint colors, bint nested, bint reorder):
    """The text of a module's bytes, which may be in either order."""
    cdef c_spirv.DisassembleOptions options
    options.raw_ids, options.indent, options.header = raw_ids, indent, header
    options.offsets, options.comments, options.colors = offsets, comments, colors
    options.nested, options.reorder = nested, reorder
    cdef string data = module
    cdef string text
    with nogil:
        text = c_spirv.disassemble(c_spirv.words_of(data), options)
    return text.decode("utf-8", "surrogateescape")


def spirv_legalize(bytes module not None, bint values, bint pointers, bint parameters,
                   bint physical):
    """The module with logical addressing; lcpy.spirv.legalize documents it."""
    cdef c_spirv.Fixups fixups
    fixups.values, fixups.pointers = values, pointers
    fixups.parameters, fixups.physical = parameters, physical
    cdef string data = module
    cdef vector[uint32_t] words
    with nogil:
        words = c_spirv.words_of(data)
        words = c_spirv.legalize(words, fixups)
    return (<char*>words.data())[:words.size() * 4]


def spirv_can_validate(str library not None):
    """Whether SPIRV-Tools is at that path, or, for "", where the system looks."""
    return c_spirv.can_validate(library.encode())


def spirv_validate(bytes module not None, str env not None, str library not None):
    """None when SPIRV-Tools accepts a module, else (message, word, file, line); the last two are ""
    and 0 where the module does not say from which line it came."""
    cdef string data = module, environment = env.encode(), path = library.encode()
    cdef vector[uint32_t] words
    cdef c_spirv.Validation found
    cdef c_spirv.SourceLine place
    with nogil:
        words = c_spirv.words_of(data)
        found = c_spirv.validate(words, environment, path)
        if not found.valid:
            place = c_spirv.source_line(words, found.word)
    if found.valid:
        return None
    return (found.message.decode("utf-8", "replace"), found.word,
            place.file.decode("utf-8", "replace"), place.line)


cdef list _decoded(const vector[string]& all):
    cdef size_t i
    return [all[i].decode("utf-8", "replace") for i in range(all.size())]


cdef list _axes(const c_spirv.EntryPoint& e, bint ids):
    axes = [c_spirv.size_axis_id(e, i) if ids else c_spirv.size_axis(e, i) for i in range(3)]
    return [None if a == 0xffffffff else a for a in axes]


def spirv_reflect(bytes module not None):
    """What a host needs to know of a module, as dictionaries; lcpy.spirv.reflect documents them."""
    cdef string data = module
    cdef c_spirv.Reflection r
    cdef size_t i
    with nogil:
        r = c_spirv.reflect(data)
    entries, bindings, pushed, constants = [], [], [], []
    for i in range(r.entry_points.size()):
        entries.append({
            "name": r.entry_points[i].name.decode("utf-8", "replace"),
            "model": r.entry_points[i].model.decode(),
            "local_size": _axes(r.entry_points[i], False),
            "local_size_ids": _axes(r.entry_points[i], True),
            "modes": _decoded(r.entry_points[i].modes)})
    for i in range(r.bindings.size()):
        bindings.append({
            "set": r.bindings[i].set, "binding": r.bindings[i].binding,
            "name": r.bindings[i].name.decode("utf-8", "replace"),
            "kind": c_spirv.kind_name(r.bindings[i]).decode(), "count": r.bindings[i].count,
            "reads": r.bindings[i].reads, "writes": r.bindings[i].writes,
            "size": r.bindings[i].size, "stride": r.bindings[i].stride})
    for i in range(r.push_constants.size()):
        pushed.append({"name": r.push_constants[i].name.decode("utf-8", "replace"),
                       "first": r.push_constants[i].first, "size": r.push_constants[i].size})
    for i in range(r.spec_constants.size()):
        constants.append({"id": r.spec_constants[i].id,
                          "name": r.spec_constants[i].name.decode("utf-8", "replace"),
                          "type": r.spec_constants[i].type.decode(),
                          "bits": r.spec_constants[i].bits})
    version = r.header.version
    return {"version": f"{version >> 16 & 255}.{version >> 8 & 255}", "bound": r.header.bound,
            "generator": r.header.generator, "capabilities": _decoded(r.capabilities),
            "extensions": _decoded(r.extensions), "instruction_sets": _decoded(r.instruction_sets),
            "addressing_model": r.addressing_model.decode(),
            "memory_model": r.memory_model.decode(), "entry_points": entries,
            "bindings": bindings, "push_constants": pushed, "spec_constants": constants}
