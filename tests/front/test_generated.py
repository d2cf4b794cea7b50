"""Random programs run by Python and by a kernel: nested control flow over a few int32 variables.

Every program is plain Python, so Python is the oracle; values stay small, so nothing wraps.
"""

import random
import sys
from pathlib import Path

import numpy as np
import pytest

import lcpy as lc

sys.path.insert(0, str(Path(__file__).parent.parent))
from loading import load_source  # noqa: E402

PROGRAMS = 24  # in one kernel file
INPUTS = [(0, 0), (1, 2), (-3, 5), (17, -4), (8, 8), (100, 7)]


class Writer:
    """Writes one function f(a, b) -> int."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines = []
        self.loops = 0
        self.names = ["a", "b", "c", "d"]

    def value(self, depth=0):
        r = self.r
        pick = r.randrange(12)
        if depth > 2 or pick < 4:
            return r.choice(self.names) if r.random() < 0.7 else str(r.randrange(-9, 10))
        a, b = self.value(depth + 1), self.value(depth + 1)
        if pick < 9:
            return self.operation(a, b)
        if pick == 9:
            return f"({a} if {self.condition(depth + 1)} else {b})"
        if pick == 10:
            return f"{r.choice(['min', 'max'])}({a}, {b})"
        return f"helper({a}, {b})"

    def operation(self, a, b):
        op = self.r.choice(["+", "-", "*", "//", "%", "&", "|", "^"])
        if op in ("//", "%"):
            return f"({a} {op} ({b} | 1))"
        if op == "*":
            return f"({a} % 32 * {b})"
        return f"({a} {op} {b})"

    def condition(self, depth=0):
        r = self.r
        pick = r.randrange(6)
        a, b = self.value(depth + 1), self.value(depth + 1)
        compare = r.choice(["<", "<=", "==", "!=", ">", ">="])
        if pick < 3 or depth > 2:
            return f"{a} {compare} {b}"
        if pick == 3:
            return f"{r.randrange(-5, 5)} {r.choice(['<', '<='])} {r.choice(self.names)} < {b}"
        word = r.choice(["and", "or"])
        left, right = self.condition(depth + 1), self.condition(depth + 1)
        return f"({'not ' * (pick == 4)}{left} {word} {right})"

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def block(self, depth, size):
        for _ in range(self.r.randint(1, size)):
            self.statement(depth)

    def statement(self, depth):
        r = self.r
        pick = r.randrange(16)
        name = r.choice(self.names)
        if pick < 5 or depth > 4:
            self.put(depth, f"{name} = {self.value()} % 997")
        elif pick < 7:
            self.put(depth, f"{name} {r.choice(['+', '-', '^'])}= {self.value()} % 97")
        elif pick == 7:
            one, two = r.sample(self.names, 2)
            self.put(depth, f"{one}, {two} = {two} % 997, {self.value()} % 997")
        elif pick < 11:
            self.put(depth, f"if {self.condition()}:")
            self.block(depth + 1, 3)
            if r.random() < 0.3:
                self.put(depth, f"elif {self.condition()}:")
                self.block(depth + 1, 2)
            if r.random() < 0.6:
                self.put(depth, "else:")
                self.block(depth + 1, 2)
        elif pick < 13 and self.loops < 3:
            self.loop(depth)
        elif pick == 13:
            self.put(depth, f"match {name} % 5:")
            self.put(depth + 1, "case 0 | 3:")
            self.block(depth + 2, 2)
            self.put(depth + 1, f"case 1 if {self.condition()}:")
            self.block(depth + 2, 2)
            if r.random() < 0.5:
                self.put(depth + 1, "case _:")
                self.block(depth + 2, 2)
        elif pick == 14 and self.loops:
            self.put(depth, f"if {self.condition()}:")
            self.put(depth + 1, r.choice(["break", "continue"]))
        elif pick == 15 and r.random() < 0.4:
            self.put(depth, f"if {self.condition()}:")
            self.put(depth + 1, f"return {self.value()} % 997")
        else:
            self.put(depth, f"{name} = {self.value()} % 997")

    def loop(self, depth):
        r = self.r
        self.loops += 1
        kind = r.randrange(3)
        if kind == 0:
            step = r.choice(["", ", 2", ", -1"])
            down = f"{r.randrange(4, 9)}, {r.randrange(-2, 3)}"
            ends = down if step == ", -1" else f"{r.randrange(-2, 3)}, d % 7"
            self.put(depth, f"for i{depth} in range({ends}{step}):")
            self.put(depth + 1, f"c += i{depth}")
            self.block(depth + 1, 3)
        elif kind == 1:
            self.put(depth, f"w{depth} = 0")
            self.put(depth, f"while w{depth} < 6 and {self.condition()}:")
            self.put(depth + 1, f"w{depth} += 1")
            self.block(depth + 1, 3)
        else:
            self.put(depth, f"for i{depth} in lc.static(range({r.randint(1, 3)})):")
            self.put(depth + 1, f"c += i{depth} * a % 97")
            self.block(depth + 1, 2)
        if r.random() < 0.3:
            self.put(depth, "else:")
            self.loops -= 1
            self.block(depth + 1, 2)
            self.loops += 1
        self.loops -= 1

    def function(self, number):
        self.put(0, f"def f{number}(a, b):")
        self.put(1, "c = a + b")
        self.put(1, "d = a - b")
        self.block(1, 7)
        self.put(1, "return (a + 3 * b + 5 * c + 7 * d) % 9973")
        return "\n".join(self.lines) + "\n\n"


def module(seed):
    text = "import lcpy as lc\n\n\ndef helper(x, y):\n    if x > y:\n        return x - y\n"
    text += "    return y\n\n\n"
    text += "".join(Writer(f"{seed} {i}").function(i) for i in range(PROGRAMS))
    text += "@lc.kernel\ndef run(values: lc.Buffer[lc.int32, 2], out: lc.Buffer[lc.int32, 2]):\n"
    text += "    i = lc.dispatch_id().x\n    a = values[i, 0]\n    b = values[i, 1]\n"
    return text + "".join(f"    out[i, {n}] = f{n}(a, b)\n" for n in range(PROGRAMS))


@pytest.mark.parametrize("seed", range(3))
def test_generated(device, seed, tmp_path):
    made = load_source(tmp_path, f"generated_{seed}", module(seed))
    values = np.array(INPUTS, np.int32)
    out = lc.Buffer((len(INPUTS), PROGRAMS), lc.int32, device=device)
    made.run(lc.Buffer(values, device=device), out, dispatch_size=len(INPUTS))
    got = out.numpy()
    for number in range(PROGRAMS):
        function = getattr(made, f"f{number}")
        want = [function(a, b) for a, b in INPUTS]
        assert got[:, number].tolist() == want, f"f{number} of seed {seed}"
