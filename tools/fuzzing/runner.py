"""Runs a batch of programs on every device and in every way that must not make a difference.

A finding is a dict: `kind` ("differs", "error", "invalid", "meaning"), `program` (number in the
batch), `way` (what was compared: a device's name, "opt0", an instruction set, "folded …"), `text`.
"""

import importlib.util
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from . import compare
from .chance import Chance
from .evaluate import Evaluator
from .meaning import Beyond
from .programs import host_text, module_text

ISAS = ("baseline", "avx2", "avx512")
_RARELY_OFF = ("int", "float", "storage", "subgroup")  # how features begin that programs need
_SUBGROUPS = ("subgroups", "subgroup_vote", "subgroup_ballot", "subgroup_arithmetic",
              "subgroup_shuffle")  # fmt: skip
WHOLE = ("opt0", "isa", "folded", "spirv", "text", "meaning")  # ways besides devices


class Loader:
    """Imports generated modules: kernels are read from their source, so it must be in a file."""

    def __init__(self):
        shm = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.folder = tempfile.TemporaryDirectory(prefix="lcpy-fuzz-", dir=shm)
        self.count = 0

    def load(self, text):
        self.count += 1
        name = f"fuzzed_{os.getpid()}_{self.count}"
        path = Path(self.folder.name) / f"{name}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        sys.dont_write_bytecode = True
        try:
            spec.loader.exec_module(module)
        finally:
            del sys.modules[name]
        module.fuzz_path = path
        return module

    @staticmethod
    def forget(module):
        module.fuzz_path.unlink()


def open_device(name):
    """A device of the package, or CUDA's text on the processor (tests/cuda_host)."""
    import lcpy as lc

    if name != "cuda_host":
        return lc.Device(name)
    folder = str(Path(__file__).resolve().parents[2] / "tests")
    if folder not in sys.path:
        sys.path.append(folder)
    import cuda_host

    return cuda_host.device()


class Runner:
    """`devices`: names, cpu first. `ways`: of WHOLE, or None for all in rotation. `halve`: what no
    program is known for is looked for in halves; else its program is None."""

    def __init__(self, devices, ways=None, halve=True):
        os.environ["LCPY_VALIDATE"] = "1"
        import lcpy

        self.lc = lcpy
        self.cpu = lcpy.Device("cpu")
        self.devices = [open_device(d) for d in devices if d != "cpu"]
        vulkan = [d for d in self.devices if getattr(d, "kind", "") == "vulkan"]
        self.usual = {d.name: dict(d.target) for d in vulkan}
        self.loader = Loader()
        self.ways, self.halve = ways, halve
        self.counts = {}
        self.times = {}

    def count(self, what, n=1):
        self.counts[what] = self.counts.get(what, 0) + n

    def timed(self, what, f, *args, **named):
        start = time.perf_counter()
        try:
            return f(*args, **named)
        finally:
            self.times[what] = self.times.get(what, 0) + time.perf_counter() - start

    # ---- a batch ----------------------------------------------------------------------------
    def run(self, batch, programs=None, ways=None):
        """All findings of some programs of a batch (all if None)."""
        programs = batch.programs if programs is None else programs
        ways = ways or self.ways or self.rotation(batch)
        folded = batch.number % batch.threads
        text = module_text(batch, programs, folded)
        try:
            module = self.loader.load(text)
        except Exception as error:  # the generator's own fault, or the shrinker's attempt
            number = programs[0].number if len(programs) == 1 else None
            finding = {"kind": "load", "program": number, "way": "load", "text": describe(error)}
            return (
                [finding]
                if number is not None
                else self._single_out(batch, programs, ways, [finding])
            )
        try:
            return self._run(batch, programs, ways, module, folded)
        finally:
            self.loader.forget(module)

    def rotation(self, batch):
        """What is tried with a batch besides the devices."""
        n = batch.number
        ways = ["opt0", "spirv", "text", "meaning", "folded"]
        if n % 2:
            ways.append("isa")
        return ways

    def _run(self, batch, programs, ways, module, folded):
        findings = []
        kernel = module.run

        def tried(way, f, *args):
            """f's value, or None where it failed; the program at fault is found by halving."""
            try:
                return self.timed(way.split(" ")[0], f, *args)
            except self.lc.UnsupportedError as error:
                reason = str(error).splitlines()[0].split(": error ")[-1][:90]
                self.count(f"unsupported: {way}: {reason}", len(programs))
            except self.lc.DeviceLost:  # of no more use in this process
                raise
            except Exception as error:
                kind = "invalid" if type(error).__name__ == "ValidationError" else "error"
                findings.append(
                    {"kind": kind, "program": None, "way": way, "text": describe(error)}
                )
            return None

        base = tried("cpu", self.launch, batch, module, kernel, self.cpu)
        if base is None:
            return self._single_out(batch, programs, ways, findings)

        def compared(way, got, rows=None):
            if got is not None:
                findings.extend(self._differences(batch, programs, way, base, got, rows))

        if "meaning" in ways:
            for p in programs:
                self.timed("meaning", self._check_meaning, batch, module, p, base, findings)
        if "spirv" in ways:
            tried("spirv", self._check_spirv, batch, kernel)
        if "text" in ways:
            tried("text", self._check_text, batch, kernel)
        if "isa" in ways:
            for isa in ISAS[:2]:
                compared(
                    f"isa {isa}", tried("isa " + isa, self._with_isa, batch, module, kernel, isa)
                )
        for device in self.devices:
            if device.name not in ways and any(w not in WHOLE for w in ways):
                continue
            if batch.denormals and not device.features.get("denormals"):
                continue
            if batch.parted and not self._keeps_lanes(device):
                self.count(f"{device.name}: not asked for lanes that parted", len(programs))
                continue
            self._pose(device, batch.number)
            # Without passes callables are functions.
            opt = 0 if batch.number % 3 == 1 else 1
            got = tried(device.name, self._with_opt, batch, module, kernel, device, opt)
            if got is not None and any(p.uses("warp") for p in programs):
                # A device's warps have a width of their own, which the cpu device can take on.
                width = device.limits["warp_size"]  # 0: nothing of them was left in the kernel
                if width not in (0, 8, 16, 32, 64):
                    self.count(f"{device.name}: no cpu device has warps of {width}", len(programs))
                    continue
                twin = self.lc.Device("cpu", warp_size=width) if width else self.cpu
                wide = tried("cpu warps", self.launch, batch, module, kernel, twin)
                found = self._differences(batch, programs, device.name, wide or base, got)
                findings.extend(found)
                continue
            compared(device.name, got)
        if "opt0" in ways:
            got = tried("opt0", self._with_opt, batch, module, kernel, self.cpu, 0)
            compared("opt0", got)
        if "folded" in ways and hasattr(module, "folded"):
            for device in [self.cpu, *self.devices[: batch.number % 4 == 0 and 1]]:
                if batch.denormals and not device.features.get("denormals"):
                    continue
                way = f"folded {device.name}"
                got = tried(way, self.launch, batch, module, module.folded, device, 1)
                compared(way, got, folded)
        if any(f["program"] is None for f in findings):
            return self._single_out(batch, programs, ways, findings)
        return findings

    def _keeps_lanes(self, device):
        """Whether lanes that part come together as the program reads."""
        target = getattr(device, "target", None) or {}
        return device.name.startswith("cuda") or bool(target.get("maximal_reconvergence"))

    def _pose(self, device, number):
        """llvmpipe takes what GPUs are given: loops written out, division in steps."""
        if not self.usual.get(device.name, {}).get("exact_division"):
            return
        device.target.update(
            # Not beside division in steps: its compiler then takes minutes over some loops.
            unroll_short_loops=number % 4 == 1,
            sound_choices=number % 2 == 0,
            sound_loops=number % 2 == 0,
            sound_rounding=number % 2 == 0,
            sound_masks=number % 2 == 0,
            int8=number % 4 != 1,
            int16=number % 4 != 1,
            exact_division=number % 4 < 2,
            close_reciprocals=number % 8 >= 4,
        )

    def _single_out(self, batch, programs, ways, findings):
        """Findings that no program is known for: halves are run on their own."""
        if len(programs) == 1:
            for f in findings:
                f["program"] = programs[0].number
            return findings
        if not self.halve:
            return findings
        half = len(programs) // 2
        made = []
        for part in (programs[:half], programs[half:]):
            made += self.run(batch, part, ways)
        if not made:  # only together
            for f in findings:
                f["program"] = programs[0].number
                f["text"] = "only together with others: " + f["text"]
            return findings
        return made

    # ---- launches ---------------------------------------------------------------------------
    def type_of(self, module, t):
        return eval(t.text, {"lc": self.lc, **vars(module)})

    def launch(self, batch, module, kernel, device, threads=None):
        """{output buffer: array} after one launch."""
        lc, args = self.lc, []

        def buffer(name, t, length, values=None):
            T = self.type_of(module, t)
            layout = "packed" if name in batch.packed else None
            first = 3 if batch.views else 0
            made = lc.Buffer(length + 2 * first, T, device=device, layout=layout)
            part = made.view(first, first + length) if first else made
            if values is not None:
                part.upload(compare.host_array(t, T.dtype, values))
            return part

        for name, (t, values) in batch.inputs.items():
            args.append(buffer(name, t, len(values), values))
        outputs = {name: buffer(name, t, batch.output_length) for name, t in batch.outputs.items()}
        for t, value in batch.uniforms.values():
            text = host_text(t, value)
            args.append(eval(text, {"lc": lc, **vars(module)}))
        buffers, uniforms = args[: len(batch.inputs)], args[len(batch.inputs) :]
        args = [*buffers, *outputs.values(), *uniforms]
        kernel(*args, dispatch_size=threads or batch.grid)
        return {name: b.numpy().copy() for name, b in outputs.items()}

    def _afresh(self, kernel):
        """Forgets what was compiled but not what was traced."""
        for made in kernel._specialisations.values():
            for s in made:
                s.descriptors.clear()
                s.calls.clear()
        kernel._last = None

    def _with_opt(self, batch, module, kernel, device, opt):
        if opt == 1:
            return self.launch(batch, module, kernel, device)
        self._afresh(kernel)
        kernel.opt = 0
        try:
            return self.launch(batch, module, kernel, device)
        finally:
            kernel.opt = 1
            self._afresh(kernel)

    def _with_isa(self, batch, module, kernel, isa):
        old, self.cpu.isa = self.cpu.isa, isa
        self._afresh(kernel)
        try:
            return self.launch(batch, module, kernel, self.cpu)
        finally:
            self.cpu.isa = old
            self._afresh(kernel)

    def _descriptor(self, kernel):
        (made,) = next(iter(kernel._specialisations.values()))
        return made.descriptor(True, False)[0]

    def _check_spirv(self, batch, kernel):
        """A module for a device that lacks some things or does some things its own way."""
        from lcpy._native import core
        from lcpy.artifact import PORTABLE, plan_of

        descriptor = self._descriptor(kernel)
        c = Chance(batch.seed, batch.number, 1000)
        version = c.pick((10, 11, 12, 13, 14))
        flags = {
            name: c.one_in(8 if name.startswith(_RARELY_OFF) else 2) != usual
            for name, usual in core.vulkan_flags().items()
        }
        plan = plan_of("run", descriptor, PORTABLE)
        try:
            module = core.emit_spirv(descriptor, plan, version=version, **flags)
        except self.lc.UnsupportedError:
            version = max(version, 11)  # which warp operations need
            module = core.emit_spirv(descriptor, plan, version=version)
        self.lc.spirv.validate(module.words, f"vulkan1.{version % 10}")

    def _check_text(self, batch, kernel):
        from lcpy._native import core

        descriptor = self._descriptor(kernel)
        c = Chance(batch.seed, batch.number, 1001)
        core.emit_cuda(descriptor, arch=c.pick((75, 90)), fold=c.one_in(2), restrict=c.one_in(2))
        subgroups = dict.fromkeys(_SUBGROUPS, True)
        core.emit_opencl(descriptor, version=c.pick((12, 30)), fp16=c.one_in(2), **subgroups)

    # ---- comparisons ------------------------------------------------------------------------
    def _differences(self, batch, programs, way, base, got, row=None):
        """One finding for each program whose cells or totals differ; `row`: one thread alone."""
        bad = {}
        for name, a in base.items():
            for at in np.flatnonzero(compare.differing(a, got[name])):
                number, thread = batch.owner_at(int(at))
                if row is not None and thread != row:
                    continue
                bad.setdefault(number, []).append((name, int(at), thread, a[at], got[name][at]))
        findings = []
        for p in programs:
            found = bad.get(p.number)
            if not found or (row is not None and p.collective):
                continue
            if self._flushed(batch, p, way, found):
                self.count("dismissed: a denormal on a device that flushes them")
                continue
            name, at, thread, want, have = found[0]
            text = f"{name}[{at}] of thread {thread}: cpu {want!s}, {way} {have!s}"
            text += f" ({len(found)} cells)"
            findings.append({"kind": "differs", "program": p.number, "way": way, "text": text})
        return findings

    def _flushed(self, batch, program, way, found):
        """Whether a difference on a device without denormals comes from one."""
        device = next((d for d in self.devices if d.name == way.split(" ")[-1]), None)
        if device is None or device.features.get("denormals"):
            return False
        evaluator = Evaluator(batch, program, watch=True)
        for thread in sorted({f[2] for f in found if f[2] is not None})[:4] or [0]:
            try:
                evaluator.thread_result(thread)
            except Beyond:  # what is written must say
                return any(compare.has_denormal(np.asarray(f[3])) for f in found)
            if evaluator.denormal:
                return True
        return False

    def _check_meaning(self, batch, module, program, base, findings):
        """Python's own opinion of one thread."""
        thread = (batch.number + program.number) % batch.threads
        try:
            results = Evaluator(batch, program).thread_result(thread)
        except Beyond as error:
            self.count(f"meaning not asked: {error}")
            return
        except Exception as error:  # the evaluator's own fault
            text = describe(error)
            found = {"kind": "evaluator", "program": program.number, "way": "meaning", "text": text}
            findings.append(found)
            return
        self.count("meaning agreed")
        for name, cell, t, value in results:
            at = batch.cell_at(thread, program.number, cell)
            have = base[name][at : at + 1]
            want = compare.host_array(t, self.type_of(module, t).dtype, [value])
            if compare.differing(have, want)[0]:
                text = f"{name}[{at}] of thread {thread}: cpu {have[0]!s}, Python {want[0]!s}"
                findings.append(
                    {"kind": "meaning", "program": program.number, "way": "meaning", "text": text}
                )
                self.count("meaning agreed", -1)
                return


def describe(error):
    text = f"{type(error).__name__}: {error}"
    return text if len(text) < 3000 else text[:3000] + " …"
