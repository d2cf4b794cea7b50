"""Artifacts: their fields (native/artifact/artifact.h) to bytes and back."""
from lcpy._native.decl.artifact cimport (
    CArtifact, CLine, CParameter, CSite, CSlot, read_artifact, write_artifact,
)


cdef vector[string] _encoded(texts):
    cdef vector[string] out
    for text in texts:
        out.push_back(text.encode())
    return out


def pack_artifact(dict fields not None):
    """The bytes of an artifact."""
    cdef CArtifact a
    cdef CParameter p
    cdef CSlot s
    cdef CSite site
    cdef CLine line
    cdef int i
    a.target, a.environment = fields["target"].encode(), fields["environment"].encode()
    a.producer, a.kernel = fields["producer"].encode(), fields["kernel"].encode()
    a.entry_point, a.math = fields["entry_point"].encode(), fields["math"].encode()
    a.build_options, a.block = fields["build_options"].encode(), fields["block"].encode()
    for i in range(3):
        a.block_axes()[i] = fields["block_size"][i]
    a.ragged, a.uses_warp = fields["ragged"], fields["uses_warp"]
    a.indexes_arguments = fields["indexes_arguments"]
    a.shared_bytes, a.dynamic_shared = fields["shared_bytes"], fields["dynamic_shared"]
    a.hash = fields["hash"]
    for name, type_ in fields["parameters"]:
        p.name, p.type = name.encode(), type_.encode()
        a.parameters.push_back(p)
    for row in fields["slots"]:
        s.name, s.type = row["name"].encode(), row["type"].encode()
        s.memory, s.access = row["memory"].encode(), row["access"].encode()
        s.number, s.atomics, s.bound = row["number"], row["atomics"], row["bound"]
        s.counted_in_32_bits = row["counted_in_32_bits"]
        s.set, s.binding = row["set"], row["binding"]
        s.value, s.length = _place(row["value"]), _place(row["length"])
        s.extents, s.base = _place(row["extents"]), _place(row["base"])
        a.slots.push_back(s)
    a.block_set, a.block_binding = fields["block_set"], fields["block_binding"]
    a.block_bytes, a.report_tag = fields["block_bytes"], _place(fields["report_tag"])
    a.features, a.files = _encoded(fields["features"]), _encoded(fields["files"])
    for kind, text, types, file, number, source in fields["sites"]:
        site.kind, site.text = kind.encode(), text.encode()
        site.file, site.source = file.encode(), source.encode()
        site.types, site.line = _encoded(types), number
        a.sites.push_back(site)
    for place, file, number, column in fields["lines"]:
        line.place, line.file, line.line, line.column = place, file, number, column
        a.lines.push_back(line)
    a.code = fields["code"]
    return <bytes>write_artifact(a)


def unpack_artifact(bytes data not None):
    """The fields of an artifact; LoadError for what is none, is damaged or of another version."""
    cdef string given = data
    cdef CArtifact a
    with nogil:
        a = read_artifact(given)
    return {
        "target": a.target.decode(), "environment": a.environment.decode(),
        "producer": a.producer.decode(), "kernel": a.kernel.decode(),
        "entry_point": a.entry_point.decode(), "math": a.math.decode(),
        "build_options": a.build_options.decode(), "block": a.block.decode(),
        "block_size": tuple([a.block_axes()[i] for i in range(3)]),
        "ragged": bool(a.ragged), "uses_warp": bool(a.uses_warp),
        "indexes_arguments": bool(a.indexes_arguments),
        "shared_bytes": a.shared_bytes, "dynamic_shared": a.dynamic_shared, "hash": a.hash,
        "parameters": [(p.name.decode(), p.type.decode()) for p in a.parameters],
        "slots": [{
            "name": s.name.decode(), "type": s.type.decode(), "memory": s.memory.decode(),
            "access": s.access.decode(), "number": s.number, "atomics": bool(s.atomics),
            "bound": bool(s.bound), "counted_in_32_bits": bool(s.counted_in_32_bits),
            "set": s.set, "binding": s.binding, "value": _offset(s.value),
            "length": _offset(s.length), "extents": _offset(s.extents), "base": _offset(s.base),
        } for s in a.slots],
        "block_set": a.block_set, "block_binding": a.block_binding,
        "block_bytes": a.block_bytes, "report_tag": _offset(a.report_tag),
        "features": _decoded(a.features), "files": _decoded(a.files),
        "sites": [(s.kind.decode(), s.text.decode(), tuple(_decoded(s.types)), s.file.decode(),
                   s.line, s.source.decode()) for s in a.sites],
        "lines": [(line.place, line.file, line.line, line.column) for line in a.lines],
        "code": <bytes>a.code,
    }
