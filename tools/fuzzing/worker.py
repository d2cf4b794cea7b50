"""A process that runs batches, for farm.py: what a driver does to it, it does to nobody else.

Reads lines "number" or "number program" from its input and answers each with a line of JSON. With
--shrink it reduces one finding instead and prints where the test went.
"""

import argparse
import json
import os
import sys
import time
import warnings

import lcpy as lc

from .programs import Batch, module_text
from .runner import Runner, describe
from .shrink import TOGETHER, Shrinker, likeness, ways_of

OWNED = ("differs", "meaning", "evaluator")  # kinds that are one program's, whoever is beside it


def arguments(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--devices", required=True)
    parser.add_argument("--features", default="")
    parser.add_argument("--shrink", help="a finding as JSON, with its batch")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--out")
    return parser.parse_args(argv)


def make_batch(options, number):
    return Batch(options.seed, number, options.size, tuple(options.features.split(",")))


def serve(options):
    # Drivers print to the standard output: answers have a channel of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    runner = Runner(options.devices.split(","))
    answers.write(json.dumps({"ready": [d.description for d in runner.devices]}) + "\n")
    answers.flush()
    for line in sys.stdin:
        number, *alone = map(int, line.split())
        runner.counts, runner.times = {}, {}
        start = time.perf_counter()
        batch = make_batch(options, number)
        runner.times["generate"] = time.perf_counter() - start
        programs = [batch.programs[alone[0]]] if alone else None
        try:
            findings = runner.run(batch, programs)
        except lc.DeviceLost as error:  # a crash: another process can have the device again
            print(describe(error), file=sys.stderr, flush=True)
            os.abort()
        except Exception as error:  # of the tool itself
            findings = [{"kind": "tool", "program": 0, "way": "tool", "text": describe(error)}]
        for f in findings:
            f["batch"] = number
        answer = {"findings": findings, "counts": runner.counts, "times": runner.times}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


# ---- reduction ----------------------------------------------------------------------------------
def same_in_process(options, finding):
    """A function (batch, programs) that says whether the finding is still there, what it found
    last, and a function that gives what the cpu device makes of them."""
    runner = Runner(options.devices.split(","), halve=False)
    want, ways = likeness(finding), ways_of(finding)
    last = {}

    def fails(batch, programs):
        for found in runner.run(batch, programs, ways):
            # Another program's difference may be another fault.
            mine = finding["kind"] not in OWNED or found["program"] == finding["program"]
            if mine and likeness(found) == want:
                last.update(text=found["text"])
                return True
        return False

    def cpu(batch, programs):
        module = runner.loader.load(module_text(batch, programs))
        return runner.launch(batch, module, module.run, runner.cpu)

    return fails, last, cpu


def same_in_child(options, finding, limit=20):
    """The same for crashes and hangs: each attempt is a process, devices are opened in it. `limit`:
    seconds of one program; each that is beside it adds a quarter."""

    def fails(batch, programs):
        child = os.fork()
        if child == 0:
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                Runner(options.devices.split(","), halve=False).run(batch, programs, None)
            except lc.DeviceLost:
                os.abort()
            finally:
                os._exit(0)
        end = time.monotonic() + limit * (3 + len(programs)) / 4
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return finding["kind"] == "crash" and os.WIFSIGNALED(status)
            time.sleep(0.005)
        os.kill(child, 9)
        os.waitpid(child, 0)
        return finding["kind"] == "hang"

    return fails, {}, None


def shrinker_of(options, finding, batch, fails):
    """A Shrinker of the finding's program, of the whole batch where it fails only in company, or
    None where it does not fail at all."""
    number, together = finding["program"], batch.programs
    if number is not None:
        alone = [together[number]]
        if fails(batch, alone):
            return Shrinker(batch, alone, fails, options.seconds)
        if len(together) == 1:
            return None
    if not fails(batch, together):
        return None
    return Shrinker(batch, together, fails, TOGETHER * options.seconds, number)


def shrink(options):
    from .write import test_text

    finding = json.loads(options.shrink)
    batch = make_batch(options, finding["batch"])
    kind, number = finding["kind"], finding["program"]
    make = same_in_child if kind in ("crash", "hang") else same_in_process
    fails, last, cpu = make(options, finding)
    shrinker = shrinker_of(options, finding, batch, fails)
    if shrinker is None:
        print(json.dumps({"again": False}))
        return
    batch, programs = shrinker.run()
    what = "together" if number is None else number
    name = f"test_found_{options.seed}_{finding['batch']}_{what}.py"
    text = test_text(batch, programs, {**finding, **last}, options, cpu)
    path = os.path.join(options.out or ".", name)
    if options.out:
        os.makedirs(options.out, exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    numbers = [p.number for p in programs]
    facts = {"again": True, "tried": shrinker.tried, "programs": numbers, "path": path}
    print(json.dumps({**facts, "text": text}))


def main():
    warnings.simplefilter("ignore")
    options = arguments(sys.argv[1:])
    shrink(options) if options.shrink else serve(options)


if __name__ == "__main__":
    main()
