"""lcpy on a GPU beside hand-written CUDA C++: prints `R {"name": value}` lines and then a table.

usage: gpu.py [--scale N] [--rounds N] [--devices cuda,vulkan,opencl] [CASE …]

All contestants are in one process. A round times each in turn, long enough that the cost of a
launch is hidden; a figure is the median over the rounds, relative to the hand-written median.
"""

import argparse
import statistics
import sys
import traceback
from pathlib import Path

import numpy as np
from measure import now, report

HERE = Path(__file__).resolve().parent
SECONDS = 0.03  # of one measurement


class Hand:
    """Kernels of one .cu file, compiled by NVRTC, launched through PyCUDA."""

    def __init__(self, device, name):
        import pycuda.driver as drv

        from lcpy.run.cuda.launch import compiler

        self.drv = drv
        text = (HERE / "gpu" / f"{name}.cu").read_text()
        strict = text.startswith("// strict")
        source = "#define STRICT\n" if strict else ""
        source += (HERE / "gpu" / "vec.cuh").read_text() + text
        options = ["--std=c++17", *(["--fmad=false"] if strict else [])]
        start = now()
        cubin = compiler().compile(source, name, options, device.arch)
        self.seconds = now() - start
        self.module = drv.module_from_buffer(cubin)

    def kernel(self, name, types):
        function = self.module.get_function(name)
        function.prepare(types)
        return function.prepared_call

    def empty(self, shape, dtype):
        return HandArray(self.drv, shape, np.dtype(dtype))

    def array(self, data):
        made = self.empty(data.shape, data.dtype)
        self.drv.memcpy_htod(made.at, np.ascontiguousarray(data))
        return made


class HandArray:
    """Device memory of a NumPy shape."""

    def __init__(self, drv, shape, dtype):
        self.drv, self.shape, self.dtype = drv, shape, dtype
        self.nbytes = int(np.prod(shape)) * dtype.itemsize
        self.memory = drv.mem_alloc(max(self.nbytes, 16))
        self.at = int(self.memory)

    def get(self):
        out = np.empty(self.shape, self.dtype)
        self.drv.memcpy_dtoh(out, self.at)
        return out

    def zero(self):
        self.drv.memset_d8_async(self.at, 0, self.nbytes)


class Contestant:
    """One way to run a case."""

    def __init__(self, name, launch, result, wait):
        self.name, self.launch, self.result, self.wait = name, launch, result, wait
        self.times = []

    def prepare(self):
        """Runs once, and finds how many launches one measurement takes."""
        start = now()
        self.launch()
        self.wait()
        self.first = now() - start
        count = 1
        while True:
            spent = self.time(count)
            if spent > SECONDS / 4:
                break
            count *= 4
        self.count = max(1, round(count * SECONDS / spent))

    def time(self, count):
        launch = self.launch
        start = now()
        for _ in range(count):
            launch()
        self.wait()
        return now() - start

    def measure(self):
        self.times.append(self.time(self.count) / self.count)

    def median(self):
        return statistics.median(self.times)


def differing(case, a, b):
    """The share of values that differ by more than the case allows."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        return 1.0
    bad = ~(np.abs(a - b) <= case.limit * np.maximum(1, np.maximum(np.abs(a), np.abs(b))))
    return float(bad.mean())


def run_case(case, devices, rounds):
    """Rows of one case: {contestant: (seconds, ratio, share of values that differ)}."""
    import pycuda.driver as drv

    hand = Hand(devices["cuda"], case.source)
    launch, result = case.hand(hand)
    contestants = [Contestant("hand", launch, result, drv.Context.synchronize)]
    faults = {}
    for kind, device in devices.items():
        try:
            launch, result = case.ours(device)
            contestants.append(Contestant(kind, launch, result, device.synchronize))
        except Exception as error:
            traceback.print_exc()
            faults[kind] = f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"
    results, ready = {}, []
    for c in contestants:
        try:
            c.launch()
            results[c.name] = c.result()
            c.prepare()
            ready.append(c)
        except Exception as error:
            traceback.print_exc()
            faults[c.name] = f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"
    for _ in range(rounds):
        for c in ready:
            c.measure()
    rows = {}
    for c in ready:
        share = differing(case, results["hand"], results[c.name])
        rows[c.name] = (c.median(), c.median() / ready[0].median(), share)
    return rows, faults


def compare(case, rows):
    wrong = [n for n, (_, _, share) in rows.items() if share > case.share]
    return f"  DIFFERS: {', '.join(f'{n} {rows[n][2]:.2%}' for n in wrong)}" if wrong else ""


def launch_costs(devices):
    """Host time of one launch of an empty kernel, µs; many are queued before the wait."""
    import pycuda.driver as drv

    import lcpy as lc
    from lcpy.run.cuda.launch import compiler

    @lc.kernel(block_size=32)
    def empty(x: lc.Buffer[lc.float32], a: lc.float32):
        if a > 2.0:
            x[0] = a

    def cost(launch, wait):
        times = []
        for _ in range(7):
            launch(), wait()
            start = now()
            for _ in range(800):
                launch()
            times.append((now() - start) / 800 * 1e6)
            wait()
        return statistics.median(times)

    text = 'extern "C" __global__ void k(float* x, float a) { if (a > 2.0f) x[0] = a; }'
    cubin = compiler().compile(text, "k", [], devices["cuda"].arch)
    module = drv.module_from_buffer(cubin)
    f, x = module.get_function("k"), drv.mem_alloc(16)
    f.prepare("Pf")
    stream, at, one = drv.Stream(), int(x), (1, 1, 1)
    out = {
        "pycuda prepared_call": cost(
            lambda: f.prepared_call(one, (32, 1, 1), at, 1.0), drv.Context.synchronize
        ),
        "pycuda prepared_async_call": cost(
            lambda: f.prepared_async_call(one, (32, 1, 1), stream, at, 1.0),
            drv.Context.synchronize,
        ),
    }
    for kind, device in devices.items():
        buffer = lc.Buffer(4, lc.float32, device=device)
        out[f"lcpy {kind}"] = cost(
            lambda b=buffer: empty(b, 1.0, dispatch_size=32), device.synchronize
        )
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--devices", default="cuda,vulkan,opencl")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE.parent))
    import environment

    import lcpy as lc

    if Path(lc.__file__).resolve().parent.parent == environment.ROOT:
        environment.use_checkout()
    import gpu_cases

    infos = {}
    for info in lc.devices():
        if info.type == "discrete" or info.kind == "cuda":
            infos.setdefault(info.kind, info)
    if "cuda" not in infos:
        try:
            lc.Device("cuda")
        except lc.Error as error:
            raise SystemExit(f"tools/bench gpu compares with CUDA C++: {error}") from None
    wanted = options.devices.split(",")
    devices = {k: lc.Device(infos[k]) for k in wanted if k in infos}
    devices.setdefault("cuda", lc.Device(infos["cuda"]))
    cuda = devices["cuda"]
    print(", ".join(repr(d.info) for d in devices.values()))
    cuda.primary.push()
    try:
        for name, value in launch_costs(devices).items():
            print(f"launch  {name:28} {value:6.2f} us")
            report(**{f"launch_us {name}": value})
        kinds = list(devices)
        print(f"{'case':14}{'hand ms':>10}" + "".join(f"{k:>10}" for k in kinds), flush=True)
        worst = dict.fromkeys(kinds, 0.0)
        for make in gpu_cases.CASES:
            case = make(options.scale)
            if options.cases and case.name not in options.cases:
                continue
            rows, faults = run_case(case, devices, options.rounds)
            line = f"{case.name:14}{rows['hand'][0] * 1e3:10.3f}"
            for kind in kinds:
                line += f"{rows[kind][1]:10.3f}" if kind in rows else f"{'-':>10}"
                if kind in rows:
                    worst[kind] = max(worst[kind], rows[kind][1])
                    report(**{f"{case.name}_{kind}": rows[kind][1]})
            line += compare(case, rows)
            line += "".join(f"  {kind}: {text}" for kind, text in faults.items())
            print(line, flush=True)
        print(f"{'worst':24}" + "".join(f"{worst[k]:10.3f}" for k in kinds))
        report(**{f"{k}_vs_cuda": v for k, v in worst.items()})
    finally:
        cuda.primary.pop()


if __name__ == "__main__":
    main()
