"""What was measured, kept by device, and the table that tools/ulp.md shows of it."""

import json
import re
from pathlib import Path

from .functions import FUNCTIONS

FOLDER = Path(__file__).resolve().parent
KEPT = FOLDER / "measured.json"
TABLE = FOLDER.parent / "ulp.md"

# ULP of float that specifications grant in their own terms: Vulkan's "Precision and Operation of
# SPIR-V Instructions", OpenCL C's "Relative Error as ULPs" (full profile), CUDA's "Mathematical
# Functions". "-": no bound in ULP.
GRANTED = {
    "Div": ("2.5", "2.5", "0.5"),
    "Fma": ("mul, add", "0.5", "0.5"),
    "Sqrt": ("1 / rsqrt", "3", "0.5"),
    "Rsqrt": ("2", "2", "2"),
    "Exp": ("3 + 2 abs(x)", "3", "2"),
    "Exp2": ("3 + 2 abs(x)", "3", "2"),
    "Exp10": ("-", "3", "2"),
    "Log": ("3; 2^-21 in 0.5 to 2", "3", "1"),
    "Log2": ("3; 2^-21 in 0.5 to 2", "3", "1"),
    "Log10": ("-", "3", "2"),
    "Pow": ("exp2(y log2(x))", "16", "4"),
    "Sin": ("2^-11 in -pi to pi", "4", "2"),
    "Cos": ("2^-11 in -pi to pi", "4", "2"),
    "Tan": ("sin / cos", "5", "4"),
    "Asin": ("atan2(x, sqrt(1 - x x))", "4", "2"),
    "Acos": ("atan2(sqrt(1 - x x), x)", "4", "2"),
    "Atan": ("4096", "5", "2"),
    "Atan2": ("4096", "6", "3"),
    "Sinh": ("exp", "4", "3"),
    "Cosh": ("exp", "4", "2"),
    "Tanh": ("sinh / cosh", "5", "2"),
    "Asinh": ("log", "4", "3"),
    "Acosh": ("log", "4", "4"),
    "Atanh": ("log", "5", "3"),
}

HEAD = """# Errors of functions

The worst error found in ULP (units in the last place of the exact result), by device; written by
`tools/ulp --write`, not by hand. `promised` holds in ieee and strict mode on every device; a test
on samples guards it. Arguments of half are all there are where a function takes one; the others are
samples of every exponent, edges, poles, near multiples of pi/2, and where programs are. `lerp`,
`dot`, `//` and the like are measured against the largest term where terms cancel.

- `-` the device refuses the type, by name.
- Vulkan computes what the core's own versions (native/lower/own.def) are for by these: the
  specification bounds most functions loosely or not at all. Functions of double have no other
  version there; functions of half go through float on every device and are rounded once.
- Angles of any size are reduced exactly.
- Fast mode is what the driver does; its functions may be wrong by far at edges.
"""


def device_key(info):
    """The kind, and what the driver says of itself but for what differs from process to process."""
    if info.kind == "cpu":
        return "cpu"
    return f"{info.kind}: {re.sub(r'[ ]+', ' ', info.description)}, {info.driver}"


def load():
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def merge(old, new):
    """`new` over `old`, by device, mode, type and operation."""
    for key, value in new.items():
        if isinstance(value, dict) and "ulp" not in value and "refused" not in value:
            merge(old.setdefault(key, {}), value)
        else:
            old[key] = value
    return old


def brief(results):
    """Without what the table does not show, but for where the error is."""
    if "ulp" in results or "refused" in results:
        return {k: v for k, v in results.items() if k in ("ulp", "arguments", "refused")}
    return {key: brief(value) for key, value in results.items() if isinstance(value, dict)}


def keep(results):
    kept = merge(load(), brief(results))
    KEPT.write_text(json.dumps(kept, sort_keys=True).replace("}, ", "},\n") + "\n")
    TABLE.write_text(table(kept))


def check():
    if TABLE.read_text() != table(load()):
        print("tools/ulp.md is not what tools/accuracy/measured.json gives: tools/ulp --write")
        return 1
    return 0


def cell(entry):
    if entry is None:
        return ""
    if "refused" in entry:
        return "-"
    if entry["ulp"] == "inf":
        return "wrong"
    ulp = float(entry["ulp"])
    return f"{ulp:.2f}" if ulp < 100 else f"{ulp:.0e}".replace("e+0", "e").replace("e+", "e")


def section(kept, mode, kind, devices):
    lines = ["", f"## {mode}, {kind}", ""]
    promised = mode != "fast"
    lines.append("| | " + ("promised | " if promised else "") + " | ".join(devices.values()) + " |")
    lines.append("| --- " * (len(devices) + 1 + promised) + "|")
    for f in FUNCTIONS:
        row = [f.op]
        if promised:
            row.append(f"{f.promised[kind]:g}")
        row += [cell(kept[d].get(mode, {}).get(kind, {}).get(f.op)) for d in devices]
        lines.append("| " + " | ".join(row) + " |")
    return lines


def table(kept):
    order = ("cpu", "opencl", "vulkan", "cuda")
    names = sorted(kept, key=lambda d: (order.index(d.partition(":")[0]), d))
    devices = {d: f"{d.partition(':')[0]} {i}" if ":" in d else d for i, d in enumerate(names)}
    lines = [HEAD.rstrip(), "", "| column | device |", "| --- | --- |"]
    lines += [
        f"| {short} | {d.partition(': ')[2] or 'the interpreter'} |" for d, short in devices.items()
    ]
    for mode in ("ieee", "strict", "fast"):
        for kind in ("float16", "float32", "float64"):
            if any(kind in kept[d].get(mode, {}) for d in names):
                lines += section(kept, mode, kind, devices)
    lines += ["", "## What specifications grant for float", ""]
    lines += ["| | Vulkan | OpenCL | CUDA |", "| --- | --- | --- | --- |"]
    lines += [f"| {op} | {' | '.join(row)} |" for op, row in GRANTED.items()]
    return "\n".join(lines) + "\n"
