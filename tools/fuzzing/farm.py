"""Worker processes, each with batches of its own; one that dies or hangs is started anew, and the
program at fault is found by running its batch's programs alone. Where none of them is, all are.
"""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .shrink import TOGETHER

TOOLS = Path(__file__).resolve().parent.parent
BATCH_LIMIT = 180  # seconds
ALONE_LIMIT = 60


def environment():
    """Variables of a worker: no cache on disk may stand for a driver's work."""
    settings = {
        "PYOPENCL_NO_CACHE": "1",
        "POCL_KERNEL_CACHE": "0",
        "MESA_SHADER_CACHE_DISABLE": "true",
        "__GL_SHADER_DISK_CACHE": "0",
        "CUDA_CACHE_DISABLE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LCPY_CPU_THREADS": "1",
    }
    # Absolute: workers run in TOOLS, so that no checkout without a build is imported instead of the
    # package.
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = os.pathsep.join([str(TOOLS), *(os.path.abspath(p) for p in given if p)])
    return {**os.environ, **settings, "PYTHONPATH": path}


class Worker:
    def __init__(self, arguments):
        self.arguments = arguments
        self.errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzzing.worker", *self.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment(),
            cwd=TOOLS,
            text=True,
        )
        self.job, self.since = "ready", time.monotonic()

    def give(self, *job):
        self.job, self.since = job, time.monotonic()
        self.errors.seek(0)
        self.errors.truncate()
        self.process.stdin.write(" ".join(map(str, job)) + "\n")
        self.process.stdin.flush()

    def answer(self):
        """A dict, or None where the process is gone."""
        line = self.process.stdout.readline()
        return json.loads(line) if line.endswith("\n") else None

    def last_words(self):
        self.errors.seek(0)
        return self.errors.read()[-1500:]

    def end(self):
        self.process.kill()
        self.process.wait()


class Farm:
    """`numbers`: an iterator of batch numbers. `report(finding)` is called for each finding."""

    def __init__(self, arguments, jobs, numbers, size, report, end=None):
        self.numbers, self.size, self.report, self.end = iter(numbers), size, report, end
        self.workers = [Worker(arguments) for _ in range(jobs)]
        self.again = []  # (batch, program) to run alone
        self.lost_batches = {}  # number: (its finding, results of the programs alone)
        self.programs = 0
        self.counts, self.times = {}, {}
        self.devices = None

    def next_job(self):
        if self.again:
            return self.again.pop()
        if self.end is not None and time.monotonic() > self.end:
            return None
        number = next(self.numbers, None)
        return None if number is None else (number,)

    def run(self):
        busy = list(self.workers)
        while busy:
            ready, _, _ = select.select([w.process.stdout for w in busy], [], [], 0.5)
            for w in list(busy):
                if w.process.stdout in ready:
                    self.take(w)
                elif time.monotonic() - w.since > (BATCH_LIMIT if len(w.job) != 2 else ALONE_LIMIT):
                    self.lost(w, "hang")
                if w.job is None:
                    job = self.next_job()
                    if job is None:
                        w.end()
                        busy.remove(w)
                    else:
                        w.give(*job)

    def take(self, w):
        answer = w.answer()
        if answer is None:
            return self.lost(w, "crash")
        if w.job == "ready":
            self.devices = answer["ready"]
        else:
            if len(w.job) == 1:
                self.programs += self.size
            for name in ("counts", "times"):
                mine = getattr(self, name)
                for key, n in answer[name].items():
                    mine[key] = mine.get(key, 0) + n
            for finding in answer["findings"]:
                self.report(finding)
            if len(w.job) == 2:
                self.ran_alone(w.job[0], lost=False)
        w.job = None
        return None

    def lost(self, w, kind):
        """A worker that died or stands still."""
        job = w.job
        if kind == "crash":
            code = w.process.wait()
            text = f"the process ended with {code}"
        else:
            text = f"no answer for {time.monotonic() - w.since:.0f} seconds"
        text += "\n" + w.last_words()
        w.end()
        if job == "ready":
            raise SystemExit(f"a worker does not start: {text}")
        if len(job) == 1:
            self.again += [(job[0], i) for i in range(self.size)]
            self.counts["batches lost"] = self.counts.get("batches lost", 0) + 1
            self.lost_batches[job[0]] = (_lost(kind, job[0], None, f"only together, {text}"), [])
        else:
            self.report(_lost(kind, *job, text))
            self.ran_alone(job[0], lost=True)
        w.start()

    def ran_alone(self, number, lost):
        """One more program of a lost batch ended, or was lost itself."""
        finding, ends = self.lost_batches[number]
        ends.append(lost)
        if len(ends) == self.size:
            del self.lost_batches[number]
            if not any(ends):
                self.report(finding)


def _lost(kind, batch, program, text):
    return {"kind": kind, "batch": batch, "program": program, "way": "process", "text": text}


def place(finding):
    """Where a finding is, for people."""
    program = finding["program"]
    return f"batch {finding['batch']} " + ("together" if program is None else f"program {program}")


def shrink(arguments, finding, seconds, out):
    """What worker.py --shrink says of a finding, or None where it died. It may take TOGETHER times
    the seconds where programs fail only together."""
    command = [sys.executable, "-m", "fuzzing.worker", *arguments, "--shrink", json.dumps(finding)]
    command += ["--seconds", str(seconds), *(["--out", str(out)] if out else [])]
    try:
        done = subprocess.run(
            command,
            env=environment(),
            cwd=TOOLS,
            text=True,
            capture_output=True,
            timeout=TOGETHER * seconds + 240,
        )
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        return None
