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

from .programs import Batch, module_text
from .runner import Runner, describe
from .shrink import Shrinker, likeness, ways_of


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
        except Exception as error:  # of the tool itself
            findings = [{"kind": "tool", "program": 0, "way": "tool", "text": describe(error)}]
        for f in findings:
            f["batch"] = number
        answer = {"findings": findings, "counts": runner.counts, "times": runner.times}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


# ---- reduction ----------------------------------------------------------------------------------
def same_in_process(options, finding):
    """A function (batch, program) that says whether the finding is still there."""
    runner = Runner(options.devices.split(","))
    want, ways = likeness(finding), ways_of(finding)
    last = {}

    def fails(batch, program):
        for found in runner.run(batch, [program], ways):
            if likeness(found) == want:
                last.update(found)
                return True
        return False

    def cpu(batch, program):
        module = runner.loader.load(module_text(batch, [program]))
        return runner.launch(batch, module, module.run, runner.cpu)

    return fails, last, cpu


def same_in_child(options, finding, limit=20):
    """The same for crashes and hangs: each attempt is a process, devices are opened in it."""

    def fails(batch, program):
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            Runner(options.devices.split(",")).run(batch, [program], None)
            os._exit(0)
        end = time.monotonic() + limit
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return finding["kind"] == "crash" and os.WIFSIGNALED(status)
            time.sleep(0.005)
        os.kill(child, 9)
        os.waitpid(child, 0)
        return finding["kind"] == "hang"

    return fails, {}, None


def shrink(options):
    from .write import test_text

    finding = json.loads(options.shrink)
    batch = make_batch(options, finding["batch"])
    program = batch.programs[finding["program"]]
    kind = finding["kind"]
    make = same_in_child if kind in ("crash", "hang") else same_in_process
    fails, last, cpu = make(options, finding)
    shrinker = Shrinker(batch, program, fails, options.seconds)
    if not fails(batch, program):
        print(json.dumps({"again": False}))
        return
    batch, program = shrinker.run()
    name = f"test_found_{options.seed}_{finding['batch']}_{finding['program']}.py"
    text = test_text(batch, program, {**finding, **last}, options, cpu)
    path = os.path.join(options.out or ".", name)
    if options.out:
        os.makedirs(options.out, exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    print(json.dumps({"again": True, "tried": shrinker.tried, "path": path, "text": text}))


def main():
    warnings.simplefilter("ignore")
    options = arguments(sys.argv[1:])
    shrink(options) if options.shrink else serve(options)


if __name__ == "__main__":
    main()
