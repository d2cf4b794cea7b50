"""Runs functions on a device and finds their worst error.

Many functions share a launch: expression k reads arguments k * n + i. A type or function that the
device refuses is noted with the reason, and the others go on.
"""

import importlib.util
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import samples
from .functions import WIDE

FUNCTIONS_A_KERNEL = 8


@dataclass
class Worst:
    op: str
    ulp: float | None  # None: refused
    arguments: tuple = ()
    got: float = 0.0
    want: float = 0.0
    refused: str = ""
    wrong: int = 0  # results of the wrong kind: NaN for a number, or the other way round

    def as_json(self):
        if self.ulp is None:
            return {"op": self.op, "refused": self.refused}
        return {
            "op": self.op,
            "ulp": round(self.ulp, 3) if np.isfinite(self.ulp) else "inf",
            "arguments": [repr(float(v)) for v in self.arguments],
            "got": repr(float(self.got)),
            "want": str(self.want),
            "wrong": self.wrong,
        }


def reference(function, arguments):
    """The function's value in longdouble, and the magnitude that its error is measured against."""
    if np.finfo(WIDE).nmant < 63:
        raise SystemExit("this machine's long double is no longer than double: measure elsewhere")
    with np.errstate(all="ignore"):
        wide = [a.astype(WIDE) for a in arguments]
        want = function.real(*wide)
        scale = abs(want)
        if function.scale is not None:
            scale = np.maximum(scale, function.scale(*wide))
        if function.op == "Pow":  # C99, of which NumPy's longdouble leaves nothing out
            want = np.where((wide[1] == 0) | (wide[0] == 1), WIDE(1), want)
    return want, scale


def last_place(scale, dtype):
    """The last place of numbers of this magnitude."""
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.where(np.isfinite(scale), scale, 1))
    exponent = np.clip(exponent - 1, int(info.minexp), int(info.maxexp) - 1)
    return np.exp2((exponent - int(info.nmant)).astype(WIDE))


def errors(function, arguments, got, dtype, keeps_denormals=True):
    """Errors in ULP; infinite where the result is of the wrong kind."""
    want, scale = reference(function, arguments)
    info = np.finfo(dtype)
    top = WIDE(info.max)
    beyond = top + last_place(top, dtype)  # the power of two that infinity stands for
    with np.errstate(all="ignore"):
        clipped = np.clip(want, -beyond, beyond)
        value = np.clip(got.astype(WIDE), -beyond, beyond)
        error = abs(value - clipped) / last_place(scale, dtype)
    error = np.where(got == want, 0, error)
    error = np.where(
        np.isinf(got) & (abs(want) >= beyond) & (np.sign(got) == np.sign(want)), 0, error
    )
    error = np.where(np.isnan(got) & np.isnan(want), 0, error)
    error = np.where(np.isnan(got) != np.isnan(want), np.inf, error)
    if not keeps_denormals:
        # A flushed argument, result or intermediate: nothing is promised of these.
        tiny = WIDE(info.tiny)
        flushed = abs(want) < tiny * 2
        for a in arguments:
            flushed |= (abs(a) < info.tiny) & (a != 0)
        error = np.where(flushed, 0, error)
    return error.astype(np.float64), want


def kernel_source(functions, dtype, math):
    name = np.dtype(dtype).name
    arity = max(f.arity for f in functions)
    names = ["a", "b", "c"][:arity]
    text = [
        "import lcpy as lc",
        f"T = lc.{name}",
        "",
        f'@lc.kernel(block_size=(64, 1, 1), math="{math}")',
    ]
    text.append(f"def run({', '.join(f'{n}: lc.Buffer[T]' for n in names)}, out: lc.Buffer[T]):")
    text += ["    i = lc.dispatch_id().x", "    n = lc.dispatch_size().x"]
    for k, function in enumerate(functions):
        for name, variable in list(zip(names, "xyz"))[: function.arity]:
            text.append(f"    {variable}{k} = {name}[{k} * n + i]")
        expression = function.text
        for variable in "xyz":
            expression = _rename(expression, variable, f"{variable}{k}")
        text.append(f"    out[{k} * n + i] = {expression}")
    return "\n".join(text) + "\n"


def _rename(text, old, new):
    import re

    return re.sub(rf"(?<![\w.]){old}(?!\w)", new, text)


def run(lc, device, functions, dtype, math, columns):
    """What the device gives for each function; one launch."""
    n = len(columns[0][0])
    arity = max(f.arity for f in functions)
    inputs = []
    for k in range(arity):
        parts = [c[k] if k < len(c) else np.zeros(n, dtype) for c in columns]
        inputs.append(np.concatenate(parts).astype(dtype))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "accuracy.py"
        path.write_text(kernel_source(functions, dtype, math))
        spec = importlib.util.spec_from_file_location(f"accuracy_{id(columns)}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        buffers = [lc.Buffer(a, device=device) for a in inputs]
        out = lc.Buffer(len(functions) * n, getattr(lc, np.dtype(dtype).name), device=device)
        module.run(*buffers, out, dispatch_size=n)
        return out.numpy().reshape(len(functions), n)


def measure(lc, device, functions, dtype, math, count, seed=7):
    """The worst error of each function."""
    found = []
    groups = [[f for f in functions if f.arity == 1], [f for f in functions if f.arity > 1]]
    for group in groups:
        for at in range(0, len(group), FUNCTIONS_A_KERNEL):
            part = group[at : at + FUNCTIONS_A_KERNEL]
            columns = [samples.take(f, dtype, count, seed) for f in part]
            found += measure_part(lc, device, part, dtype, math, columns)
    return found


def measure_part(lc, device, part, dtype, math, columns):
    try:
        results = run(lc, device, part, dtype, math, columns)
    except lc.UnsupportedError as error:
        if len(part) == 1:
            reason = str(error).splitlines()[0].partition(": error ")[2]
            return [Worst(part[0].op, None, refused=reason or str(error))]
        return [
            worst
            for f, c in zip(part, columns)
            for worst in measure_part(lc, device, [f], dtype, math, [c])
        ]
    found = []
    for function, arguments, got in zip(part, columns, results):
        error, want = errors(function, arguments, got, dtype, device.features["denormals"])
        at = int(np.argmax(error))
        found.append(
            Worst(
                function.op,
                float(error[at]),
                tuple(a[at] for a in arguments),
                got[at],
                want[at],
                wrong=int(np.isinf(error).sum()),
            )
        )
    return found
