"""lcpy, one group, one fresh process: prints `R {"name": value}` under tools/bench's names.

usage: ours.py import|compile|memory|end_to_end|launch|throughput
"""

import sys
import time

if __name__ == "__main__" and sys.argv[1] == "import":
    t = time.perf_counter()
    import lcpy  # noqa: F401

    spent = (time.perf_counter() - t) * 1e3
    heavy = [m for m in ("numpy", "vulkan", "pyopencl", "pycuda") if m in sys.modules]
    if heavy:
        raise SystemExit(f"import lcpy loaded {', '.join(heavy)}")
    print(f'R {{"import_ms": {spent}}}')
    raise SystemExit

import ctypes  # noqa: E402
import os  # noqa: E402
import resource  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402

import workloads as w  # noqa: E402
from measure import load, now, report, steady  # noqa: E402

HERE = Path(__file__).resolve().parent


def kernel(name, math="ieee"):
    """The lcpy kernel of a workload."""
    return load(w.lcpy_source(name, math), name)


def types_of(name):
    import lcpy as lc

    arrays, scalars, _ = w.python_kernel(name)
    kinds = {"f": lc.float32, "i": lc.int32}
    return [(a, lc.Buffer[lc.float32]) for a in arrays] + [(s[0], kinds[s[2]]) for s in scalars]


class Stages:
    """Times of one compilation in ms: front (Python source to AST), core (AST to words).

    `cuda`: AST to CUDA C++, where that is asked for.
    """

    def __init__(self, name, cuda=False):
        from lcpy import artifact, front
        from lcpy._native import core

        function = kernel(name).function
        arguments = types_of(name)
        t0 = now()
        traced = front.trace_kernel(function, arguments, block_size=(256, 1, 1), name=name)
        t1 = now()
        descriptor = core.lower(traced.builder)
        t2 = now()
        layout = artifact.plan_of(name, descriptor, artifact.PORTABLE)
        t3 = now()
        module = core.emit_spirv(descriptor, layout)
        t4 = now()
        self.front = (t1 - t0) * 1e3
        self.core = (t2 - t1 + t4 - t3) * 1e3
        self.total = (t4 - t0) * 1e3
        self.words = module.words
        self.bytes = len(module.words)
        if cuda:
            t5 = now()
            core.emit_cuda(descriptor)
            self.cuda = (t2 - t1 + now() - t5) * 1e3


def median_stages(name, count):
    made = [Stages(name, cuda=True) for _ in range(count)]
    return {
        k: statistics.median(getattr(m, k) for m in made)
        for k in ("front", "core", "total", "bytes", "cuda")
    }


def compile_group():
    Stages("empty")  # what only the first compilation of a process pays: modules, registries
    saxpy = Stages("saxpy")
    report(saxpy_total_ms=saxpy.total, saxpy_core_ms=saxpy.core)
    report(gen500_front_ms=Stages("gen500").front)
    march = median_stages("march", 5)
    report(march_core_ms=march["core"])
    ratios = [march["cuda"] / march["core"]]
    for count in w.GENERATED:
        figures = median_stages(f"gen{count}", 3)
        ratios.append(figures["cuda"] / figures["core"])
        report(**{f"gen{count}_core_ms": figures["core"]})
        if count == 500:
            report(gen500_kb=figures["bytes"] / 1e3)
    report(cuda_vs_spirv_core=max(ratios))


def memory_group():
    Stages("saxpy")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    Stages("gen8000")
    report(gen8000_peak_mb=(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


def end_to_end_group():
    import numpy as np

    import lcpy as lc

    lc.init("vulkan")
    warm = kernel("saxpy")
    x, y = lc.Buffer(np.ones(1024, np.float32)), lc.Buffer(np.ones(1024, np.float32))
    warm(x, y, 2.0, dispatch_size=1024)
    y.numpy()
    generated = kernel("gen2000")
    t = now()
    generated(x, y, dispatch_size=1024)
    y.numpy()
    first = now() - t

    def again():
        generated(x, y, dispatch_size=1024)
        y.numpy()

    report(gen2000_vulkan_ms=(first - steady(again, 0.05, 5)) * 1e3)


def launch_group():
    import numpy as np

    import lcpy as lc

    for device, name in (("cpu", "cpu_launch_us"), ("vulkan", "vulkan_record_us")):
        lc.init(device)
        empty = kernel("empty")
        x = lc.Buffer(np.ones(1, np.float32))
        empty(x, 1.0, dispatch_size=1)
        lc.synchronize()
        times = []
        for _ in range(5):
            t = now()
            for _ in range(2000):
                empty(x, 1.0, dispatch_size=1)
            times.append((now() - t) / 2000 * 1e6)
            lc.synchronize()
        report(**{name: statistics.median(times)})


def native_library():
    path = os.path.join(tempfile.mkdtemp(prefix="lcpy-bench-"), "native.so")
    subprocess.run(
        [
            os.environ.get("CXX", "g++"),
            "-O3",
            "-march=native",
            "-ffast-math",
            "-std=c++20",
            "-shared",
            "-fPIC",
            "-pthread",
            str(HERE / "native.cpp"),
            "-o",
            path,
        ],
        check=True,
    )
    library = ctypes.CDLL(path)
    library.native_sum.restype = ctypes.c_float
    return library


def pairs(ours, theirs, rounds=7):
    """Interleaved medians of two calls, seconds."""
    ours(), theirs()
    a, b = [], []
    for _ in range(rounds):
        for call, times in ((ours, a), (theirs, b)):
            t = now()
            call()
            times.append(now() - t)
    return statistics.median(a), statistics.median(b)


def throughput_group():
    import hand
    import numpy as np

    import lcpy as lc

    random = np.random.default_rng(0)
    jobs = {
        "mandelbrot": ([w.MANDELBROT_SIDE**2], [w.MANDELBROT_SIDE], w.MANDELBROT_SIDE**2),
        "march": ([w.MARCH_SIDE**2], [w.MARCH_SIDE], w.MARCH_SIDE**2),
        "nbody": ([3 * w.BODIES] * 3, [w.BODIES], w.BODIES),
        "sgemm": ([w.SGEMM_SIDE**2] * 3, [w.SGEMM_SIDE], w.SGEMM_SIDE**2),
        "saxpy": ([w.SAXPY_COUNT] * 2, [0.5], w.SAXPY_COUNT),
    }
    data = {
        n: [random.random(size, dtype=np.float32) for size in job[0]] for n, job in jobs.items()
    }
    kernels = {n: kernel(n) for n in jobs}

    def runner(device, name, math="ieee"):
        _, scalars, count = jobs[name]
        buffers = [lc.Buffer(a, device=device) for a in data[name]]
        k = kernels[name] if math == "ieee" else kernel(name, math)

        def run():
            k(*buffers, *scalars, dispatch_size=count)
            device.synchronize()

        return run

    found = {d.kind: d for d in lc.devices()}
    cpu = lc.Device("cpu")
    for name in jobs:
        report(**{f"{name}_run_ms": steady(runner(cpu, name)) * 1e3})
    for kind, figure in (("opencl", "opencl_vs_hand"), ("vulkan", "vulkan_vs_hand")):
        if kind not in found:
            continue
        device = lc.Device(kind)
        worst = 0.0
        for name in ("mandelbrot", "march", "nbody"):
            theirs = hand.runner(kind, device, name, data[name], *jobs[name][1:])
            if kind == "vulkan":
                # GLSL leaves signed zeros, infinities and NaN to the driver: so does math="fast".
                # What keeping them costs has a figure of its own.
                a, b = pairs(runner(device, name), theirs)
                report(**{f"{figure}_{name}_ieee": a / b})
            math = "fast" if kind == "vulkan" else "ieee"
            a, b = pairs(runner(device, name, math), theirs)
            report(**{f"{figure}_{name}": a / b})
            worst = max(worst, a / b)
            if kind == "opencl":
                c, p = pairs(runner(cpu, name), theirs)
                report(**{f"cpu_vs_pocl_{name}": c / p})
        ours, theirs = hand.tiled_pair(kind, device, data["sgemm"])
        a, b = pairs(ours, theirs)
        report(**{f"{figure}_sgemm": a / b})
        report(**{figure: max(worst, a / b)})
    primitives_group(found)


def primitives_group(found):
    import numpy as np

    import lcpy as lc

    sys.path.insert(0, str(HERE.parent))
    import environment

    if Path(lc.__file__).resolve().parent.parent == environment.ROOT:
        environment.use_checkout()
    from lcpy import primitives

    library = native_library()
    random = np.random.default_rng(1)
    floats = random.random(w.SAXPY_COUNT, dtype=np.float32)
    bytes_ = random.integers(0, 256, w.HISTOGRAM_COUNT, dtype=np.int32)
    bins = np.zeros(256, np.int32)
    best = {}
    for device in found.values():
        x, values = lc.Buffer(floats, device=device), lc.Buffer(bytes_, device=device)
        for name, ours, theirs in (
            (
                "sum",
                lambda: primitives.reduce(x),  # noqa: B023
                lambda: library.native_sum(
                    floats.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(floats.size)
                ),
            ),
            (
                "histogram",
                lambda: primitives.histogram(values, 256).numpy(),  # noqa: B023
                lambda: library.native_histogram(
                    bytes_.ctypes.data_as(ctypes.c_void_p),
                    ctypes.c_int64(bytes_.size),
                    bins.ctypes.data_as(ctypes.c_void_p),
                ),
            ),
        ):
            a, b = pairs(ours, theirs)
            report(
                **{
                    f"{name}_vs_native_{device.kind}": a / b,
                    f"{name}_run_ms_{device.kind}": a * 1e3,
                }
            )
            best[name] = min(best.get(name, 1e9), a / b)
    for name, value in best.items():
        report(**{f"{name}_vs_native": value})


if __name__ == "__main__":
    {
        "compile": compile_group,
        "memory": memory_group,
        "end_to_end": end_to_end_group,
        "launch": launch_group,
        "throughput": throughput_group,
    }[sys.argv[1]]()
