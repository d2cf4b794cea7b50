"""The generator and the shrinker of tools/fuzz; a short run with a fixed seed."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import conftest as devices
import numpy as np
import pytest
from fuzzing import kinds
from fuzzing.chance import Chance
from fuzzing.evaluate import Evaluator
from fuzzing.meaning import Beyond
from fuzzing.nodes import Node, write
from fuzzing.programs import Batch, module_text
from fuzzing.shrink import Shrinker

TOOLS = Path(__file__).resolve().parents[2] / "tools"
DIGEST = """
import hashlib, sys
sys.path.insert(0, {tools!r})
from fuzzing.programs import Batch, module_text
h = hashlib.sha256()
for number in range(6):
    batch = Batch(11, number, 3, ("float16",))
    h.update(module_text(batch, batch.programs, 0).encode())
    h.update(repr([values for _, values in batch.inputs.values()]).encode())
print(h.hexdigest())
"""


def digest(python, hash_seed):
    done = subprocess.run(
        [python, "-c", DIGEST.format(tools=str(TOOLS))],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        text=True,
        capture_output=True,
        check=True,
    )
    return done.stdout.strip()


def test_same_seed_same_programs():
    """Whatever the hash seed and the version of Python."""
    want = digest(sys.executable, "1")
    pythons = {shutil.which(f"python3.{n}") for n in range(10, 14)} - {None}
    for python in [sys.executable, *sorted(pythons)]:
        if not subprocess.run([python, "-c", ""], capture_output=True).returncode:
            assert digest(python, "2") == want, python


def test_seeds_differ():
    def text(seed, number):
        batch = Batch(seed, number, 2)
        return hashlib.sha256(module_text(batch, batch.programs).encode()).digest()

    assert len({text(seed, number) for seed in range(3) for number in range(3)}) == 9


def test_modules_are_python():
    for number in range(20):
        batch = Batch(12, number, 2)
        compile(module_text(batch, batch.programs, 0), "module", "exec")


def test_values_are_in_range():
    c = Chance(3)
    for t in kinds.SCALARS.values():
        for _ in range(200):
            value = kinds.some_scalar(c, t)
            if t.is_integer:
                assert t.low <= value <= t.high
            elif t.is_float:
                assert kinds.round_to(t.bits, value) == value or value != value


def test_evaluator_ends():
    ended = 0
    for number in range(20):
        batch = Batch(13, number, 3)
        for program in batch.programs:
            try:
                values = Evaluator(batch, program).thread_result(0)
                assert len(values) >= len(program.results)
                ended += 1
            except Beyond:
                pass
    assert ended > 30


def test_shrinker():
    """A fault that is one function's: little else is left."""
    batch = Batch(14, 0, 30)

    def fails(batch, programs):
        (program,) = programs
        if any(n.kind == "stat" for n in program.tree.walk()):
            return False
        return "lc.popcount" in "".join(
            write(n) for n in program.tree.walk() if n.kind == "fn" and n.data == "lc.popcount"
        )

    program = next(p for p in batch.programs if fails(batch, [p]))
    before = program.tree.size()
    _, (small,) = Shrinker(batch, [program], fails).run()
    assert fails(batch, [small])
    assert small.tree.size() < 30 < before
    assert isinstance(small.tree, Node)


@pytest.mark.parametrize("kind", devices.KINDS)
def test_short_run(kind):
    name = devices.open_device(kind).name
    command = [sys.executable, str(TOOLS / "fuzz"), "--seed", "1", "--programs", "24"]
    command += ["--devices", f"cpu,{name}", "--jobs", "1", "--no-shrink"]
    done = subprocess.run(command, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_evaluator_sees_denormals_of_assignments():
    batch = Batch(14, 0, 1)
    evaluator = Evaluator(batch, batch.programs[0], watch=True)
    evaluator.steps, evaluator.denormal = 100, False
    place = Node("var", kinds.FLOAT32, (), "x")
    for divisor, seen in ((2.0, False), (3e38, True)):
        env = {"x": np.float32(1)}
        value = Node("lit", kinds.FLOAT32, (), (divisor, False))
        evaluator.s_aug(Node("aug", None, (place, value), "/"), env)
        assert evaluator.denormal == seen and env["x"] == np.float32(1) / np.float32(divisor)


def test_warp_operations_where_lanes_have_parted():
    """In some batches alone, and they leave no mark on the others."""
    batches = [Batch(6, number, 4) for number in range(120)]
    parted = [b for b in batches if b.parted]
    assert parted and all(b.warp for b in parted)

    def below_a_branch(node, inside=False):
        if inside and node.kind == "warp":
            return True
        inside = inside or node.kind in ("if", "match", "while", "for")
        return any(k is not None and below_a_branch(k, inside) for k in node.kids)

    assert any(below_a_branch(p.tree) for b in parted for p in b.programs)
