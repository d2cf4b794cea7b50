"""Assembly text that has every instruction, enumerant and extended instruction of the grammar."""

import json
import random
import sysconfig
from pathlib import Path

FOLDER = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/include/spirv/unified1"
# Files of extended sets by the names that modules import them by.
SETS = {
    "GLSL.std.450": "glsl.std.450",
    "OpenCL.std": "opencl.std.100",
    "OpenCL.DebugInfo.100": "opencl.debuginfo.100",
    "DebugInfo": "debuginfo",
    "NonSemantic.Shader.DebugInfo.100": "nonsemantic.shader.debuginfo.100",
    "NonSemantic.ClspvReflection.5": "nonsemantic.clspvreflection",
    "NonSemantic.VkspReflection.1": "nonsemantic.vkspreflection",
    "SPV_AMD_gcn_shader": "spv-amd-gcn-shader",
    "SPV_AMD_shader_ballot": "spv-amd-shader-ballot",
    "SPV_AMD_shader_explicit_vertex_parameter": "spv-amd-shader-explicit-vertex-parameter",
    "SPV_AMD_shader_trinary_minmax": "spv-amd-shader-trinary-minmax",
    "TOSA.001000.1": "tosa.001000.1",
    "Arm.MotionEngine.100": "arm.motion-engine.100",
}
STRINGS = [
    '""',
    '"abc"',
    '"abcd"',
    r'"a \"quoted\" b\\c"',
    '"semi;colon"',
    '"zwölf ☃"',
    '"a\nb\tc"',
]
# The grammar has no names for these: they are made of others, or depend on what came before.
SPECIAL = {
    "OpExtInst",
    "OpExtInstWithForwardRefsKHR",
    "OpSpecConstantOp",
    "OpConstant",
    "OpSpecConstant",
    "OpSwitch",
    "OpTypeInt",
    "OpTypeFloat",
    "OpExtInstImport",
}


# spirv-as takes no masks of several bits there.
SINGLE_BITS = ("OpCooperativeMatrixLoadTensorNV", "OpCooperativeMatrixStoreTensorNV")


def grammar(name="spirv.core"):
    return json.loads((FOLDER / f"{name}.grammar.json").read_text())


class Writer:
    """Instructions with operands at random, each id new or one of those before."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.core = grammar()
        self.kinds = {k["kind"]: k for k in self.core["operand_kinds"]}
        decorations = self.kinds["Decoration"]["enumerants"]  # spirv-dis dies of this one
        decorations[:] = [e for e in decorations if not e["enumerant"].startswith("InitMode")]
        self.instructions = {}
        for i in self.core["instructions"]:
            self.instructions.setdefault(i["opcode"], i)
        self.lines, self.ids, self.single_bits = [], 0, False

    def new_id(self):
        self.ids += 1
        names = (f"%v{self.ids}", f"%{self.ids}", f"%_{self.ids}_x")
        self.last = self.random.choice(names) if self.ids > 40 else f"%v{self.ids}"
        return self.last

    def some_id(self):
        return f"%v{self.random.randint(1, 40)}"

    def operands(self, rules, kinds=None):
        return [text for rule in rules for text in self.rule(rule, kinds or self.kinds)]

    def rule(self, rule, kinds):
        quantifier = rule.get("quantifier")
        if quantifier == "?":
            times = self.random.randint(0, 1)
            if not times:
                self.stopped = True
        else:
            times = self.random.randint(0, 3) if quantifier == "*" else 1
        if quantifier != "?" or times:
            if quantifier and getattr(self, "stopped", False):
                return []  # an operand that is left out leaves out those after it
        return [t for _ in range(times) for t in self.operand(rule["kind"], kinds)]

    def operand(self, kind, kinds):
        k = kinds.get(kind) or self.kinds[kind]
        if k["category"] == "Id":
            return [self.some_id()]
        if k["category"] == "Composite":
            return [t for base in k["bases"] for t in self.operand(base, kinds)]
        if kind == "LiteralInteger":
            return [self.random.choice(["0", "1", "7", "4294967295", "0xff"])]
        if kind == "LiteralFloat":
            return [self.random.choice(["0", "1.5", "-0x1.8p-140", "3e20"])]
        if kind == "LiteralString":
            return [self.random.choice(STRINGS)]
        if k["category"] == "ValueEnum":
            return self.enumerant(self.random.choice(k["enumerants"]), kinds)
        return self.mask(k, kinds)

    def enumerant(self, entry, kinds):
        names = [entry["enumerant"], *entry.get("aliases", [])]
        return [self.random.choice(names), *self.operands(entry.get("parameters", []), kinds)]

    def mask(self, kind, kinds):
        bits = [e for e in kind["enumerants"] if int(e["value"], 16)]
        most = 1 if self.single_bits else min(3, len(bits))
        chosen = self.random.sample(bits, self.random.randint(0, most))
        if not chosen:
            zero = [e for e in kind["enumerants"] if not int(e["value"], 16)]
            chosen = zero[:1] or bits[:1]
        names = "|".join(e["enumerant"] for e in chosen)
        by_bit = sorted({int(e["value"], 16): e for e in chosen}.items(), key=lambda pair: pair[0])
        return [
            names,
            *(t for _, e in by_bit for t in self.operands(e.get("parameters", []), kinds)),
        ]

    def line(self, name, rules, kinds=None):
        self.stopped, self.single_bits = False, name in SINGLE_BITS
        has_result = any(r["kind"] == "IdResult" for r in rules)
        rest = [r for r in rules if r["kind"] != "IdResult"]
        texts = self.operands(rest, kinds)
        head = f"{self.new_id()} = " if has_result else ""
        self.lines.append(f"{head}{name} {' '.join(texts)}".rstrip())

    def numbers(self):
        types = [
            ("OpTypeInt 8 0", ["0", "255"]),
            ("OpTypeInt 8 1", ["-128", "127"]),
            ("OpTypeInt 16 0", ["65535"]),
            ("OpTypeInt 16 1", ["-1", "-32768", "0x7fff"]),
            ("OpTypeInt 32 0", ["4294967295"]),
            ("OpTypeInt 32 1", ["-2147483648", "2147483647", "-1"]),
            ("OpTypeInt 64 0", ["18446744073709551615", "1"]),
            ("OpTypeInt 64 1", ["-9223372036854775808", "-1", "1"]),
            ("OpTypeFloat 16", ["1.5", "65504", "0x1p-24", "0x1p+16", "-0x1.8p+16", "0.1"]),
            ("OpTypeFloat 32", ["0.1", "-0.0", "1e-40", "0x1p+128", "-0x1.8p+128", "16777216",
                                "1e30", "0x1.fffffffp3", "123456.789", "1e-5", "1e-46"]),
            ("OpTypeFloat 64", ["0.1", "1e300", "1e-310", "0x1p+1024", "0x1.8p+1024", "1e22"]),
            ("OpTypeFloat 16 BFloat16KHR", ["1.5", "0.1", "3e38", "0x1p+128"]),
            ("OpTypeFloat 8 Float8E4M3EXT", ["448", "0.1", "-2", "0x1.ep+8"]),
            ("OpTypeFloat 8 Float8E5M2EXT", ["57344", "0.1", "0x1p+16"]),
        ]  # fmt: skip
        for text, values in types:
            type_id = self.new_id()
            self.lines.append(f"{type_id} = {text}")
            for value in values:
                for name in ("OpConstant", "OpSpecConstant"):
                    self.lines.append(f"{self.new_id()} = {name} {type_id} {value}")
            if "Int" in text:
                constant, a, b = self.last, self.some_id(), self.some_id()
                pairs = " ".join(f"{v} {self.some_id()}" for v in values)
                self.lines.append(f"OpSwitch {constant} {a} {pairs} 1 {b}")

    def extended(self):
        for name, file in SETS.items():
            own = grammar(f"extinst.{file}")
            kinds = {k["kind"]: k for k in own.get("operand_kinds", [])}
            imported = self.new_id()
            self.lines.append(f'{imported} = OpExtInstImport "{name}"')
            for entry in own["instructions"]:
                self.stopped = False
                texts = self.operands(entry.get("operands", []), kinds)
                words = " ".join([self.some_id(), imported, entry["opname"], *texts])
                self.lines.append(f"{self.new_id()} = OpExtInst {words}")
        imported = self.new_id()
        self.lines.append(f'{imported} = OpExtInstImport "NonSemantic.Unknown"')
        self.lines.append(f"{self.new_id()} = OpExtInst %v1 {imported} 77 %v2 %v3")

    def enumerants(self):
        """Each value of each kind, after some instruction that takes the kind."""
        takers = {}
        for i in self.instructions.values():
            for at, rule in enumerate(i.get("operands", [])):
                takers.setdefault(rule["kind"], (i, at))
        for name, kind in self.kinds.items():
            if name not in takers or "enumerants" not in kind:
                continue
            instruction, at = takers[name]
            rules = instruction["operands"]
            self.single_bits = instruction["opname"] in SINGLE_BITS
            for entry in kind["enumerants"]:
                self.stopped = False
                before = [r for r in rules[:at] if r["kind"] != "IdResult"]
                texts = [t for r in before for t in self.operand(r["kind"], self.kinds)]
                texts += self.enumerant(entry, self.kinds)
                for r in rules[at + 1 :]:
                    if not r.get("quantifier"):
                        texts += self.operand(r["kind"], self.kinds)
                has_result = any(r["kind"] == "IdResult" for r in rules)
                head = f"{self.new_id()} = " if has_result else ""
                self.lines.append(f"{head}{instruction['opname']} {' '.join(texts)}")

    def text(self, rounds=2):
        for _ in range(40):  # the ids that operands take are defined first, as no types
            self.lines.append(f"{self.new_id()} = OpString {self.random.choice(STRINGS)}")
        self.numbers()
        self.extended()
        self.enumerants()
        for _ in range(rounds):
            for i in self.instructions.values():
                if i["opname"] not in SPECIAL:
                    self.line(i["opname"], i.get("operands", []))
        self.random.shuffle(self.lines[-400:])
        return "\n".join(self.lines) + "\n"


if __name__ == "__main__":
    import sys

    print(Writer(int(sys.argv[1])).text(), end="")
