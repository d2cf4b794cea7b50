"""Artifacts as text: a header for C and C++, and a summary for people."""

import re

from .artifact import HOST

_ROW = 8  # numbers of a line


def _name(text):
    found = re.sub(r"\W", "_", text, flags=re.ASCII)
    return f"_{found}" if found[:1].isdigit() else found


def c_header(artifact, prefix):
    """A header that needs nothing but <stddef.h> and <stdint.h>: the code, and where the arguments
    go. Names begin with `prefix`."""
    p = _name(prefix)
    guard = f"{p.upper()}_LCPY_H"
    out = [f"/* Kernel {artifact.name} for {artifact.environment}, by lcpy. */"]
    out += [
        f"#ifndef {guard}",
        f"#define {guard}",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
    ]

    def constant(name, value, why=""):
        out.append(f"#define {p.upper()}_{name} {value}" + (f" /* {why} */" if why else ""))

    for axis, n in zip("XYZ", artifact.block_size):
        constant(f"BLOCK_{axis}", n)
    fields = artifact._fields
    block = {"push": "pushed", "uniform": "a uniform buffer", "storage": "a storage buffer"}
    constant("ARGUMENT_BYTES", fields["block_bytes"], block[fields["block"]])
    constant("DISPATCH_SIZE_OFFSET", 0, "three uint32_t: threads")
    constant("KERNEL_ID_OFFSET", 12, "uint32_t, 0 for a single dispatch")
    if fields["block"] != "push":
        constant("ARGUMENT_SET", fields["block_set"])
        constant("ARGUMENT_BINDING", fields["block_binding"])
    names = []
    for i, (name, _) in enumerate(artifact.parameters):
        own = _name(name).upper()
        names.append(f"{own}_{i}" if own in names else own)  # x and X
    for slot in fields["slots"]:
        if slot["memory"] not in HOST:
            continue
        own = names[slot["number"]] if slot["number"] < len(names) else _name(slot["name"]).upper()
        if slot["bound"]:
            constant(f"{own}_SET", slot["set"], slot["type"])
            constant(f"{own}_BINDING", slot["binding"], slot["access"])
        for what in ("value", "length", "extents", "base"):
            if slot[what] >= 0:
                constant(f"{own}_{what.upper()}_OFFSET", slot[what], slot["type"])
    out.append("")
    code = artifact.data
    if artifact.target == "spirv":
        words = memoryview(code).cast("I")
        out.append(f"static const uint32_t {p}_code[{len(words)}] = {{")
        out += _table([f"0x{w:08x}u" for w in words])
    else:
        out.append(f"static const char {p}_code[{len(code) + 1}] = {{")
        out += _table([str(b) if b < 128 else f"(char){b}" for b in code + b"\0"])
    out += ["};", f"static const size_t {p}_code_bytes = {len(code)};", "", "#endif", ""]
    return "\n".join(out)


def _table(numbers):
    rows = (numbers[i : i + _ROW] for i in range(0, len(numbers), _ROW))
    return ["  " + ", ".join(row) + "," for row in rows]


def summary(artifact):
    """What an artifact is, for people."""
    fields = artifact._fields
    code = f"{len(artifact.data)} bytes"
    out = [
        f"kernel {artifact.name} for {artifact.environment} ({artifact.target}, {code}), "
        f"made by {fields['producer']}",
        f"block {artifact.block_size}, math {artifact.math}, hash {artifact.hash:016x}",
    ]
    for name, type_ in artifact.parameters:
        out.append(f"parameter {name}: {type_}, {artifact.usage[name]}")
    out += str(artifact.plan).splitlines()
    if artifact.features:
        out.append("needs " + ", ".join(artifact.features))
    if artifact.lines:
        files = sorted({file for _, file, _, _ in artifact.lines})
        out.append(f"source map: {len(artifact.lines)} rows of {', '.join(files)}")
    if fields["sites"]:
        out.append(f"{len(fields['sites'])} places that assert, trap or print")
    return "\n".join(out)
