"""What every contestant of tools/bench does alike: report figures, time a steady call, and load a
kernel's text as a module from a file of its own, since compilers of Python read their source."""

import importlib.util
import json
import os
import statistics
import sys
import tempfile
import time

now = time.perf_counter


def report(**figures):
    print("R " + json.dumps(figures), flush=True)


def steady(call, seconds=0.4, most=15):
    """Median seconds of a call that has run before."""
    call()
    times, begin = [], now()
    while len(times) < 3 or (now() - begin < seconds and len(times) < most):
        t = now()
        call()
        times.append(now() - t)
    return statistics.median(times)


def load(text, name):
    """The object `name` of the module that `text` is."""
    folder = tempfile.mkdtemp(prefix="lcpy-bench-")
    path = os.path.join(folder, f"bench_{name}.py")
    with open(path, "w") as f:
        f.write(text)
    spec = importlib.util.spec_from_file_location(f"bench_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)
