"""Reduction by tools/fuzzing: programs that fail only together, and the test that is written."""

import argparse
import importlib.util
import json
import os
import re
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from fuzzing import farm, shrink, worker
from fuzzing.nodes import write
from fuzzing.programs import Batch, module_text
from fuzzing.runner import Runner
from fuzzing.shrink import Shrinker
from fuzzing.write import expected, of_run

import lcpy as lc


def has(program, kind, text=""):
    """Whether a program has a node of a kind whose text has `text`."""
    found = (n for n in program.tree.walk() if n.kind == kind)
    return any(not text or text in write(n) for n in found)


def without(programs, number):
    return [p for p in programs if p.number != number]


# ---- the shrinker -------------------------------------------------------------------------------
def loop_beside_popcount(batch, programs):
    """A fault of one program's function in the company of another's loop."""
    return any(
        has(p, "fn", "lc.popcount")
        and any(has(other, "for") for other in without(programs, p.number))
        for p in programs
    )


def pair_of_faults():
    """A batch, and the number of a program with a popcount where another has a loop."""
    batch = Batch(14, 0, 30)
    number = next(p.number for p in batch.programs if has(p, "fn", "lc.popcount"))
    assert loop_beside_popcount(batch, batch.programs)
    assert not loop_beside_popcount(batch, [batch.programs[number]])
    return batch, number


def test_programs_that_fail_together():
    """No third stays, each of the two is small, and neither can be left out."""
    batch, number = pair_of_faults()

    def fails(batch, programs):
        of = [p for p in programs if p.number == number and has(p, "fn", "lc.popcount")]
        return bool(of) and any(has(p, "for") for p in without(programs, number))

    _, small = Shrinker(batch, batch.programs, fails, first=number).run()
    assert len(small) == 2 and fails(batch, small)
    assert number in [p.number for p in small]
    for p in small:
        before = batch.programs[p.number]
        assert p.tree.size() < 30 < before.tree.size()
        assert len(p.results) == 1
        assert not fails(batch, without(small, p.number))
    (other,) = without(small, number)
    assert not has(other, "fn")


def test_the_first_program_may_go():
    """A fault that is nobody's own is reduced with whoever it needs."""
    batch, number = pair_of_faults()
    loops = [p.number for p in batch.programs if has(p, "for")][:2]
    first = next(p.number for p in batch.programs if p.number not in loops)

    def fails(batch, programs):
        return sum(p.number in loops and has(p, "for") for p in programs) == 2

    _, small = Shrinker(batch, batch.programs, fails, first=first).run()
    assert [p.number for p in small] == loops
    assert all(p.tree.size() < 20 for p in small)


def some_programs(batch, n):
    """Programs that one thread may run alone."""
    able = [p for p in batch.programs if p.shared is None and not p.uses("atomic")]
    return able[:n]


@pytest.mark.parametrize("threads", [1, 2])
def test_grid_and_inputs(threads):
    """One thread and no inputs for all programs, unless the fault needs more."""
    batch = Batch(14, 0, 30)
    programs = some_programs(batch, 2)
    assert all(p.inputs for p in programs) and batch.threads > 1

    def fails(batch, programs):
        return len(programs) == 2 and batch.threads >= threads

    small, left = Shrinker(batch, programs, fails).run()
    assert not any(p.inputs for p in left)
    if threads == 1:
        assert small.grid == small.block == (1,)
    else:
        assert (small.grid, small.block) == (batch.grid, batch.block)
    assert (small.views, len(small.packed), small.bounds) == (False, 0, "off")


def test_inputs_are_those_of_the_thread():
    """All programs read what the failing thread read, and nothing else."""
    batch = Batch(14, 0, 30)
    programs = some_programs(batch, 2)
    sources = [next(i for i in p.inputs if i.way is None) for p in programs]
    wanted = [i.value(batch, 3) for i in sources]

    def fails(batch, programs):
        if len(programs) < 2:
            return False
        for p, source, want in zip(programs, sources, wanted):
            found = [i for i in p.inputs if i.name == source.name]
            if not found or all(
                repr(found[0].value(batch, t)) != repr(want) for t in range(batch.threads)
            ):
                return False
        return True

    small, left = Shrinker(batch, programs, fails).run()
    assert small.threads == 1
    for p, source, want in zip(left, sources, wanted):
        assert [i.name for i in p.inputs] == [source.name]
        assert repr(p.inputs[0].value(small, 0)) == repr(want)


def test_no_attempt_is_made_twice():
    batch, _ = pair_of_faults()
    seen = []

    def fails(batch, programs):
        values = [values for _, values in batch.inputs.values()]
        facts = batch.grid, batch.views, sorted(batch.packed), values
        seen.append(f"{module_text(batch, programs)}{facts}")
        return loop_beside_popcount(batch, programs)

    shrinker = Shrinker(batch, batch.programs, fails)
    shrinker.run()
    assert shrinker.tried == len(seen) == len(set(seen))


def test_time_is_shared(monkeypatch):
    """A program that does not get smaller leaves time for its companion, and both for the grid."""
    now = [0]
    monkeypatch.setattr(shrink.time, "monotonic", lambda: now[0])
    batch = Batch(14, 0, 30)
    stiff, soft = some_programs(batch, 2)

    def fails(batch, programs):
        now[0] += 1
        return len(programs) == 2 and programs[0].tree.size() == stiff.tree.size()

    small, (_, left) = Shrinker(batch, [stiff, soft], fails, seconds=25).run()
    assert now[0] <= 26
    assert left.tree.size() < soft.tree.size() / 2
    assert small.grid == (1,)


# ---- the worker ---------------------------------------------------------------------------------
VICTIM, NEEDS = 1, 3  # programs: the one that is wrong, and only beside the other


class Bad:
    """A device that is wrong in VICTIM's first result, where that is not zero and NEEDS is in the
    kernel too."""

    name, features, limits = "bad", {"denormals": True}, {"warp_size": 0}


class BadRunner(Runner):
    """Has a Bad device, which is cpu with a fault."""

    kernel, threads = "run", 1  # which kernel has the fault, and from how many threads on
    breaks = False  # an exception in place of a wrong value

    def __init__(self, devices, ways=None, halve=True):
        super().__init__(["cpu"], ways, halve)
        self.devices = [Bad] if "bad" in devices else []

    def launch(self, batch, module, kernel, device, threads=None):
        cpu = self.cpu if device is Bad else device
        arrays = super().launch(batch, module, kernel, cpu, threads)
        both = all(hasattr(module, f"p{n}") for n in (VICTIM, NEEDS))
        if device is not Bad or not both or batch.threads < self.threads:
            return arrays
        if self.breaks:
            raise RuntimeError("it broke")
        # Batches of every third number are run without passes.
        way = 0 if batch.number % 3 == 1 and self.kernel == "run" else 1
        if kernel.function.__name__ == self.kernel and kernel.opt == way:
            text = module.fuzz_path.read_text()
            name = re.search(rf"(\w+)\[.* \+ 0\] = r{VICTIM}_0", text)[1]
            for thread in range(batch.threads):
                at = batch.cell_at(thread, VICTIM)
                if arrays[name][at : at + 1].tobytes().strip(b"\0"):
                    flip(arrays[name], at)
        return arrays


def flip(array, at):
    """Changes a bit of each byte of an element: a NaN alone may stay one."""
    bits = array.view(np.uint8).reshape(len(array), -1)
    bits[at] ^= 1


def reduced(tmp_path, capsys, monkeypatch, number, finding, runner=BadRunner, **faults):
    """What worker.shrink says of a finding of a batch of four."""
    monkeypatch.setattr(worker, "Runner", runner)
    for name, value in faults.items():
        monkeypatch.setattr(runner, name, value)
    finding = {"batch": number, "program": VICTIM, "text": "a fault", **finding}
    options = argparse.Namespace(
        seed=21, size=4, devices="cpu,bad", features="", seconds=20, out=str(tmp_path),
        shrink=json.dumps(finding),
    )  # fmt: skip
    worker.shrink(options)
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def loaded(made):
    assert made["again"] and made["programs"] == [VICTIM, NEEDS]
    assert made["text"] == Path(made["path"]).read_text()
    spec = importlib.util.spec_from_file_location(Path(made["path"]).stem, made["path"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert f"programs {VICTIM}, {NEEDS} together" in module.__doc__
    assert [n for n in range(4) if hasattr(module, f"p{n}")] == [VICTIM, NEEDS]
    return module


def passes(module, monkeypatch, wrong=None):
    """Whether the written test passes on cpu where the element `wrong` of each buffer is not what
    the kernel gives."""
    plain = lc.Buffer.numpy

    def numpy(self):
        got = plain(self).copy()
        if wrong is not None:
            flip(got, wrong)
        return got

    with monkeypatch.context() as patch:
        patch.setattr(lc.Buffer, "numpy", numpy)
        try:
            for opt in (0, 1):
                module.test_found(lc.Device("cpu"), opt)
        except AssertionError as error:
            assert f"[{wrong}]" in str(error)
            return False
    return True


def test_a_difference_in_company(tmp_path, capsys, monkeypatch):
    """The written test holds both programs, passes on a device that is right, and fails where
    either has another result."""
    finding = {"kind": "differs", "way": "bad"}
    made = reduced(tmp_path, capsys, monkeypatch, 19, finding)
    module = loaded(made)
    assert len(made["text"].splitlines()) < 110
    assert "dispatch_size=(1,)" in made["text"]
    assert passes(module, monkeypatch)
    assert module.WANT["o_S0"][1]
    for number in (VICTIM, NEEDS):
        assert not passes(module, monkeypatch, Batch(21, 19, 4).cell_at(0, number))


def test_a_difference_alone(tmp_path, capsys, monkeypatch):
    """No other program stays where none is needed."""
    monkeypatch.setitem(globals(), "NEEDS", VICTIM)
    finding = {"kind": "differs", "way": "bad"}
    made = reduced(tmp_path, capsys, monkeypatch, 19, finding)
    assert made["programs"] == [VICTIM]
    assert f"program {VICTIM}\n" in made["text"] and "together" not in made["text"]
    assert "def p3" not in made["text"] and "dispatch_size=(1,)" in made["text"]


def test_a_folded_difference_in_company(tmp_path, capsys, monkeypatch):
    """The test runs the kernel of literals, and looks at its thread alone."""
    finding = {"kind": "differs", "way": "folded bad"}
    made = reduced(tmp_path, capsys, monkeypatch, 4, finding, kernel="folded", threads=2)
    module = loaded(made)
    assert hasattr(module, "folded") and not hasattr(module, "run")
    assert passes(module, monkeypatch)
    batch = Batch(21, 4, 4)
    for number in (VICTIM, NEEDS):
        assert not passes(module, monkeypatch, batch.cell_at(4, number))
        assert passes(module, monkeypatch, batch.cell_at(5, number))


def test_an_error_in_company(tmp_path, capsys, monkeypatch):
    """It is nobody's own: the program that it was put down to is left out."""
    text = "only together with others: RuntimeError: it broke"
    finding = {"kind": "error", "way": "bad", "program": 0, "text": text}
    made = reduced(tmp_path, capsys, monkeypatch, 19, finding, breaks=True)
    module = loaded(made)
    assert all(want is None for _, want in module.WANT.values())
    assert passes(module, monkeypatch)


def test_another_programs_difference_is_another_fault(tmp_path, capsys, monkeypatch):
    finding = {"kind": "differs", "way": "bad", "program": 2}
    made = reduced(tmp_path, capsys, monkeypatch, 19, finding)
    assert made == {"again": False}


class Dying:
    """A Runner whose process dies, or stands still, where two programs share a kernel and both
    return something."""

    def __init__(self, devices, halve=True):
        self.hang = "hang" in devices

    def run(self, batch, programs, ways):
        ends = {p.number for p in programs if p.body.kids[0].kids[-1].kind == "return"}
        if {VICTIM, NEEDS} <= ends:
            if self.hang:
                time.sleep(60)
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("program", [None, 0, NEEDS])
def test_a_crash_in_company(tmp_path, capsys, monkeypatch, program):
    finding = {"kind": "crash", "way": "process", "program": program}
    made = reduced(tmp_path, capsys, monkeypatch, 19, finding, runner=Dying)
    module = loaded(made)
    assert passes(module, monkeypatch)
    assert len(made["text"].splitlines()) < 100
    name = "together" if program is None else program
    assert Path(made["path"]).name == f"test_found_21_19_{name}.py"


def test_a_hang_in_company(monkeypatch):
    monkeypatch.setattr(worker, "Runner", Dying)
    batch = Batch(21, 19, 4)
    options = argparse.Namespace(devices="cpu,hang", seconds=1)
    fails, *_ = worker.same_in_child(options, {"kind": "hang"}, limit=0.2)
    assert fails(batch, batch.programs)
    assert not fails(batch, batch.programs[:3])


def test_time_for_programs_together():
    """Is three times that for one alone, which is tried first."""
    batch, options = Batch(21, 19, 4), argparse.Namespace(seconds=100)
    for least in (1, 2):
        start = time.monotonic()
        made = worker.shrinker_of(
            options, {"program": NEEDS}, batch, lambda batch, programs: len(programs) >= least
        )
        assert made.programs == ([batch.programs[NEEDS]] if least == 1 else batch.programs)
        assert made.first == NEEDS
        seconds = 100 if least == 1 else 300
        assert start + seconds <= made.end < start + seconds + 50
    assert worker.shrinker_of(options, {"program": None}, batch, lambda *_: False) is None


# ---- the expected values ------------------------------------------------------------------------
def test_expected_values_of_several_programs():
    """The evaluator's where it has any; a run's for programs with barriers and for totals."""
    batch = Batch(21, 13, 4)
    plain, silent = batch.programs[0], batch.programs[1]
    assert silent.collective and not plain.collective
    runs = []

    def run(batch, programs):
        runs.append([p.number for p in programs])
        return {name: np.full(batch.output_length, 77, np.int64) for name in batch.outputs}

    alone = expected(batch, [plain], run)
    assert not runs and any(alone.values())
    assert expected(batch, [plain, silent]) is None
    both = expected(batch, [plain, silent], run)
    assert runs == [[0, 1]]
    for name, cells in both.items():
        owners = {at: batch.owner_at(at) for at in range(batch.output_length)}
        of_the_run = {at for at, (n, thread) in owners.items() if n == 1 or thread is None}
        assert {at for at, text in cells.items() if text == "77"} >= of_the_run
        others = {at: text for at, text in cells.items() if at not in of_the_run}
        assert others == alone[name]


def test_values_of_a_run_are_python():
    t = np.dtype([("a", np.uint64, 2), ("b", [("c", np.float32, (2, 2))]), ("d", np.bool_)])
    a = np.zeros(3, t)
    a[1] = ([1, 2], ([[3, 4], [5, 6]],), True)
    want = of_run({"o": a})
    assert list(want["o"]) == [1]
    assert eval(want["o"][1], {}) == ([1, 2], ([[3.0, 4.0], [5.0, 6.0]],), True)


# ---- the farm -----------------------------------------------------------------------------------
class Lent:
    """A farm's worker with a job, which dies where it is asked, or else finds nothing."""

    def __init__(self, *job, dies):
        self.job, self.dies, self.since, self.process = job, dies, 0, self

    def wait(self):
        return -6

    def answer(self):
        return None if self.dies else {"findings": [], "counts": {}, "times": {}}

    def last_words(self):
        return "last words"

    def start(self):
        self.job = "ready"

    def end(self):
        pass


@pytest.mark.parametrize("guilty", [None, 2])
def test_a_batch_that_dies(guilty):
    """Is reported as a whole where no program dies alone, and only there."""
    found = []
    crew = farm.Farm([], 0, [], 4, found.append)
    crew.take(Lent(9, dies=True))
    jobs = []
    while (job := crew.next_job()) is not None:
        jobs.append(job)
        crew.take(Lent(*job, dies=job[1] == guilty))
    assert sorted(jobs) == [(9, n) for n in range(4)]
    (finding,) = found
    assert finding["kind"] == "crash" and finding["program"] == guilty
    assert ("only together" in finding["text"]) == (guilty is None)
    assert "the process ended with -6" in finding["text"]
    assert farm.place(finding) == ("batch 9 together" if guilty is None else "batch 9 program 2")
    assert not crew.lost_batches
