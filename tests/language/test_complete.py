"""Each rule of lcpy/language.md has its test, and no test is of a rule that is not there."""

import re
from pathlib import Path

HERE = Path(__file__).parent
SECTIONS = {
    "Kernels": "kernels",
    "Names": "names",
    "Operators": "operators",
    "Floating point": "floating_point",
    "Control flow": "control_flow",
    "Memory": "memory",
    "Errors": "errors",
}


def rules():
    """section -> names of its rules, in order."""
    found = {}
    for line in (HERE.parents[1] / "lcpy" / "language.md").read_text().splitlines():
        if line.startswith("## "):
            section = found.setdefault(line[3:], [])
        elif match := re.match(r"- `([a-z0-9-]+)`", line):
            section.append(match[1])
    return found


def test_every_rule_has_its_test():
    found = rules()
    assert set(found) == set(SECTIONS)
    for section, names in found.items():
        text = "".join(p.read_text() for p in HERE.glob(f"test_{SECTIONS[section]}*.py"))
        tests = set(re.findall(r"^def test_(\w+)\(", text, re.M))
        missing = [name for name in names if name.replace("-", "_") not in tests]
        assert not missing, f"{section}: {missing}"
        assert len(names) == len(set(names)) > 5
