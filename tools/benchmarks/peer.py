"""One peer, one group, one fresh process: prints `R {"name": value}` under tools/bench's names.

usage: peer.py taichi|numba|warp|wgpu import|first|compile|launch|throughput
"""

import functools
import re
import statistics
import sys
import tempfile

import workloads as w
from measure import load, now, report, steady


def indent(text):
    return "\n".join("    " + line if line.strip() else line for line in text.splitlines())


class Taichi:
    def __init__(self):
        import taichi as ti

        self.ti = ti

    def start(self):
        self.ti.init(arch=self.ti.cpu, offline_cache=False, log_level=self.ti.ERROR)

    def kernel(self, name):
        arrays, scalars, body = w.python_kernel(name)
        types = {"f": "ti.f32", "i": "ti.i32"}
        arguments = [f"{a}: ti.types.ndarray(dtype=ti.f32, ndim=1)" for a in arrays]
        arguments += [f"{s[0]}: {types[s[2]]}" for s in scalars] + ["total_count: ti.i32"]
        body = re.sub(r"f32\(([^()]*)\)", r"ti.cast(\1, ti.f32)", w.spell(body))
        text = (
            w.spell(w.FUNCTIONS).replace("@FUNCTION", "@ti.func") if name == "march" else ""
        ) + (
            f"@ti.kernel\ndef {name}({', '.join(arguments)}):\n    for idx in range(total_count):\n"
            + indent(body)
            + "\n"
        )
        text = re.sub(r"\bf(abs|min|max)\(", r"\1(", text).replace("sqrt(", "ti.sqrt(")
        return load("import taichi as ti\n" + text, name)

    def array(self, values):
        a = self.ti.ndarray(self.ti.i32 if values.dtype.kind == "i" else self.ti.f32, values.shape)
        a.from_numpy(values)
        return a

    def launch(self, kernel, arrays, scalars, count):
        kernel(*arrays, *scalars, count)
        self.ti.sync()

    def launch_only(self, kernel, arrays, scalars, count):
        kernel(*arrays, *scalars, count)

    def finish(self):
        self.ti.sync()

    def sum(self, values):
        ti = self.ti
        kernel = load(
            "import taichi as ti\n@ti.kernel\n"
            "def total(x: ti.types.ndarray(dtype=ti.f32, ndim=1)) -> ti.f32:\n"
            "    s = 0.0\n    for i in x:\n        s += x[i]\n    return s\n",
            "total",
        )
        x = self.array(values)
        return lambda: (kernel(x), ti.sync())

    def histogram(self, values):
        import numpy as np

        ti = self.ti
        kernel = load(
            "import taichi as ti\n@ti.kernel\ndef count(x: ti.types.ndarray(dtype=ti.i32, ndim=1), "
            "h: ti.types.ndarray(dtype=ti.i32, ndim=1)):\n"
            "    for i in x:\n        ti.atomic_add(h[x[i]], 1)\n",
            "count",
        )
        x, h = self.array(values), self.array(np.zeros(256, np.int32))
        return lambda: (kernel(x, h), ti.sync())


class Numba:
    def __init__(self):
        import numba

        self.numba = numba

    def start(self):
        pass

    def kernel(self, name):
        arrays, scalars, body = w.python_kernel(name)
        arguments = ", ".join([*arrays, *(s[0] for s in scalars), "total_count"])
        functions = (
            w.spell(w.FUNCTIONS).replace("@FUNCTION", "@nb.njit(fastmath=True)")
            if name == "march"
            else ""
        )
        text = functions + (
            f"@nb.njit(parallel=True, fastmath=True)\ndef {name}({arguments}):\n"
            "    for idx in nb.prange(total_count):\n" + indent(w.spell(body)) + "\n"
        )
        text = re.sub(r"\bf(abs|min|max)\(", r"\1(", text).replace("sqrt(", "math.sqrt(")
        # A float literal makes Numba compute in float64; typed globals keep float32.
        names = {}
        text = re.sub(
            r"(?<![\w.])\d+\.\d+", lambda m: names.setdefault(m[0], f"C{len(names)}"), text
        )
        head = "import math\nimport numba as nb\nimport numpy as np\nf32 = np.float32\n"
        return load(head + "".join(f"{v} = f32({k})\n" for k, v in names.items()) + text, name)

    def array(self, values):
        return values.copy()

    def launch(self, kernel, arrays, scalars, count):
        import numpy as np

        kernel(*arrays, *(np.float32(s) if isinstance(s, float) else s for s in scalars), count)

    launch_only = launch

    def finish(self):
        pass

    def sum(self, values):
        kernel = load(
            "import numba as nb\nimport numpy as np\n"
            "@nb.njit(parallel=True, fastmath=True)\ndef total(x):\n"
            "    s = np.float32(0)\n    for i in nb.prange(x.size):\n"
            "        s += x[i]\n    return s\n",
            "total",
        )
        return lambda: kernel(values)

    def histogram(self, values):
        import numpy as np

        # Numba has no CPU atomics: private bins for each thread.
        kernel = load(
            "import numba as nb\nimport numpy as np\n@nb.njit(parallel=True)\ndef count(x, h):\n"
            "    threads = nb.get_num_threads()\n    part = np.zeros((threads, 256), np.int32)\n"
            "    for t in nb.prange(threads):\n"
            "        for i in range(x.size * t // threads, x.size * (t + 1) // threads):\n"
            "            part[t, x[i]] += 1\n"
            "    for b in range(256):\n"
            "        for t in range(threads):\n            h[b] += part[t, b]\n",
            "count",
        )
        h = np.zeros(256, np.int32)
        return lambda: kernel(values, h)


class Warp:
    def __init__(self):
        import warp

        self.wp = warp

    def start(self):
        self.wp.config.kernel_cache_dir = tempfile.mkdtemp(prefix="lcpy-bench-warp-")
        self.wp.config.enable_backward = False
        self.wp.config.quiet = True
        self.wp.init()

    def kernel(self, name):
        arrays, scalars, body = w.python_kernel(name)
        types = {"f": "float", "i": "int"}
        arguments = [f"{a}: wp.array(dtype=float)" for a in arrays] + [
            f"{s[0]}: {types[s[2]]}" for s in scalars
        ]
        body = w.spell(body, variables=False)
        functions = (
            w.spell(w.FUNCTIONS, variables=False).replace("@FUNCTION", "@wp.func")
            if name == "march"
            else ""
        )
        functions = re.sub(
            r"def (\w+)\(([^)]*)\)",
            lambda m: f"def {m[1]}({', '.join(a + ': float' for a in m[2].split(', '))})",
            functions,
        )
        text = (
            functions
            + f"@wp.kernel\ndef {name}({', '.join(arguments)}):\n    idx = wp.tid()\n{body}\n"
        )
        text = re.sub(r"\bIVAR\(", "int(", re.sub(r"\bVAR\(", "float(", text)).replace(
            "f32(", "float("
        )
        text = re.sub(r"\bf(abs|min|max)\(", r"wp.\1(", text).replace("sqrt(", "wp.sqrt(")
        return load("import warp as wp\n" + text, name)

    def array(self, values):
        return self.wp.array(values, dtype=int if values.dtype.kind == "i" else float, device="cpu")

    def launch(self, kernel, arrays, scalars, count):
        self.wp.launch(kernel, count, [*arrays, *scalars], device="cpu")
        self.wp.synchronize()

    def launch_only(self, kernel, arrays, scalars, count):
        self.wp.launch(kernel, count, [*arrays, *scalars], device="cpu")

    def finish(self):
        self.wp.synchronize()

    def sum(self, values):
        x = self.array(values)
        return lambda: self.wp.utils.array_sum(x)

    def histogram(self, values):
        import numpy as np

        kernel = load(
            "import warp as wp\n@wp.kernel\n"
            "def count(x: wp.array(dtype=int), h: wp.array(dtype=int)):\n"
            "    wp.atomic_add(h, x[wp.tid()], 1)\n",
            "count",
        )
        x, h = self.array(values), self.array(np.zeros(256, np.int32))
        return lambda: self.launch(kernel, [x, h], [], values.size)


class Wgpu:
    def __init__(self):
        import wgpu

        self.wgpu = wgpu

    def start(self):
        adapter = self.wgpu.gpu.request_adapter_sync(power_preference="high-performance")
        self.device = adapter.request_device_sync(
            required_limits={
                "max-storage-buffer-binding-size": 1 << 27,
                "max-storage-buffers-per-shader-stage": 8,
            }
        )
        self.usage = (
            self.wgpu.BufferUsage.STORAGE
            | self.wgpu.BufferUsage.COPY_SRC
            | self.wgpu.BufferUsage.COPY_DST
        )

    def kernel(self, name):
        block = 1 if name == "empty" else 64
        t = now()
        module = self.device.create_shader_module(code=w.wgsl_source(name, block))
        self.module_ms = (now() - t) * 1e3
        pipeline = self.device.create_compute_pipeline(
            layout="auto", compute={"module": module, "entry_point": "entry"}
        )
        return pipeline, block, {}

    def array(self, values):
        return self.device.create_buffer_with_data(data=values, usage=self.usage)

    def record(self, kernel, arrays, scalars, count):
        import numpy as np

        pipeline, block, groups = kernel
        if "group" not in groups:
            buffers = list(arrays)
            for s in scalars:
                data = np.array([s], np.float32 if isinstance(s, float) else np.int32)
                buffers.append(
                    self.device.create_buffer_with_data(
                        data=data, usage=self.wgpu.BufferUsage.UNIFORM
                    )
                )
            groups["group"] = self.device.create_bind_group(
                layout=pipeline.get_bind_group_layout(0),
                entries=[{"binding": i, "resource": {"buffer": b}} for i, b in enumerate(buffers)],
            )
        encoder = self.device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, groups["group"])
        compute.dispatch_workgroups((count + block - 1) // block)
        compute.end()
        self.device.queue.submit([encoder.finish()])

    def launch(self, kernel, arrays, scalars, count):
        self.record(kernel, arrays, scalars, count)
        self.finish()

    launch_only = record

    def finish(self):
        if hasattr(self.device, "_poll_wait"):
            self.device._poll_wait()
        else:
            self.device.queue.on_submitted_work_done_sync()


PEERS = {"taichi": Taichi, "numba": Numba, "warp": Warp, "wgpu": Wgpu}


def main():
    name, group = sys.argv[1:3]
    t = now()
    peer = PEERS[name]()
    if group == "import":
        report(import_ms=(now() - t) * 1e3)
        return
    import numpy as np

    peer.start()
    ones = np.ones(1024, np.float32)
    if group == "first":
        x, y = peer.array(ones), peer.array(ones)
        peer.launch(peer.kernel("saxpy"), [x, y], [2.0], 1024)
        report(first_result=1)
    elif group == "compile":
        x, y = peer.array(ones), peer.array(ones)
        peer.launch(peer.kernel("saxpy"), [x, y], [2.0], 1024)  # what only the first kernel pays
        jobs = [
            ("saxpy_total_ms", "saxpy", [x, y], [2.0]),
            ("march_core_ms", "march", [x], [512]),
            ("gen500_core_ms", "gen500", [x, y], []),
        ]
        if name in ("wgpu",):
            jobs.append(("gen2000_vulkan_ms", "gen2000", [x, y], []))
        for figure, kernel_name, arrays, scalars in jobs:
            t = now()
            kernel = peer.kernel(kernel_name)
            peer.launch(kernel, arrays, scalars, 1024)
            first = now() - t
            again = functools.partial(peer.launch, kernel, arrays, scalars, 1024)
            report(**{figure: (first - steady(again, 0.05, 5)) * 1e3})
    elif group == "launch":
        x = peer.array(np.ones(1, np.float32))
        kernel = peer.kernel("empty")
        peer.launch(kernel, [x], [1.0], 1)
        best = []
        for _ in range(3):
            t = now()
            for _ in range(2000):
                peer.launch_only(kernel, [x], [1.0], 1)
            peer.finish()
            best.append((now() - t) / 2000 * 1e6)
        report(launch_us=statistics.median(best))
    else:
        throughput(peer, np)


def throughput(peer, np):
    random = np.random.default_rng(0)

    def floats(n):
        return peer.array(random.random(n, dtype=np.float32))

    def measure(figure, kernel_name, arrays, scalars, count):
        kernel = peer.kernel(kernel_name)
        report(**{figure: steady(lambda: peer.launch(kernel, arrays, scalars, count)) * 1e3})

    n = w.SAXPY_COUNT if not isinstance(peer, Wgpu) else 1 << 21
    if not isinstance(peer, Wgpu):
        measure("saxpy_run_ms", "saxpy", [floats(n), floats(n)], [0.5], n)
        report(sum_run_ms=steady(peer.sum(random.random(w.SAXPY_COUNT, dtype=np.float32))) * 1e3)
        report(
            histogram_run_ms=steady(
                peer.histogram(random.integers(0, 256, w.HISTOGRAM_COUNT, dtype=np.int32))
            )
            * 1e3
        )
    measure(
        "mandelbrot_run_ms",
        "mandelbrot",
        [floats(w.MANDELBROT_SIDE**2)],
        [w.MANDELBROT_SIDE],
        w.MANDELBROT_SIDE**2,
    )
    measure("march_run_ms", "march", [floats(w.MARCH_SIDE**2)], [w.MARCH_SIDE], w.MARCH_SIDE**2)
    bodies = [floats(3 * w.BODIES) for _ in range(3)]
    measure("nbody_run_ms", "nbody", bodies, [w.BODIES], w.BODIES)
    matrices = [floats(w.SGEMM_SIDE**2) for _ in range(3)]
    measure("sgemm_run_ms", "sgemm", matrices, [w.SGEMM_SIDE], w.SGEMM_SIDE**2)


if __name__ == "__main__":
    main()
