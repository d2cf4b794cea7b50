"""Reduced programs as a ready pytest file: one kernel, its inputs and what they must give."""

import copy
import re

import numpy as np

from . import kinds as T
from .evaluate import Evaluator
from .meaning import Beyond
from .nodes import Signature
from .programs import host_text, module_text, program_text

_TAIL = """

INPUTS = {{
{inputs}
}}
WANT = {{  # output buffer: [(index, value)], all else zero
{want}
}}
ARGUMENTS = [{arguments}]
PACKED = {packed}
FIRST = {first}  # where the views start
{cells}

@pytest.mark.parametrize("opt", [0, 1])
def test_found(device, opt):
    options = dict(block_size={block}, math={math!r}, bounds={bounds!r})
    kernel = lc.kernel(**options, opt=opt)({kernel}.function)
    inputs = [upload(name, *pair, device) for name, pair in INPUTS.items()]
    outputs = [part(name, t, {length}, device) for name, (t, _) in WANT.items()]
    try:
        kernel(*inputs, *outputs, *ARGUMENTS, dispatch_size={grid})
    except lc.UnsupportedError as error:
        pytest.skip(str(error))
    for (name, (t, wanted)), out in zip(WANT.items(), outputs):
        got = out.numpy()
        if wanted is None:
            continue
        want = np.zeros_like(got)
        for at, value in wanted:
            want[at] = value
        at = np.flatnonzero(compare.differing(got, want)){part}
        assert not at.size, f"{{name}}{{at}}: {{got[at]}}, not {{want[at]}}"


def part(name, t, length, device):
    layout = "packed" if name in PACKED else None
    whole = lc.Buffer(length + 2 * FIRST, t, device=device, layout=layout)
    return whole.view(FIRST, FIRST + length) if FIRST else whole


def upload(name, t, values, device):
    a = np.zeros(len(values), t.dtype)
    for i, value in enumerate(values):
        a[i] = value
    made = part(name, t, len(values), device)
    made.upload(a)
    return made
"""


def used_only(batch, programs):
    """The batch and the programs with no more buffers, structs and constants than they use."""
    text = _words(programs)
    batch = copy.copy(batch)
    kept = {i.source for p in programs for i in p.inputs}
    batch.uniforms = {n: v for n, v in batch.uniforms.items() if n in kept}
    out = {f"o_{t.key}" for p in programs for t, _ in p.results}
    used = lambda name, k: name in k or re.search(rf"\b{name}\b", text)  # noqa: E731
    batch.inputs = {n: v for n, v in batch.inputs.items() if used(n, kept)}
    batch.outputs = {n: t for n, t in batch.outputs.items() if used(n, out)}
    names = {*batch.inputs, *batch.outputs}  # of buffers that are left
    batch.packed = batch.packed & names
    programs = [_with_buffers(p, names) for p in programs]
    text = _words(programs)
    batch.capture_lines = [
        k for k in batch.capture_lines if re.search(rf"\b{k.split(' ')[0]}\b", text)
    ]
    for s in reversed(batch.structs):
        text = module_text(batch, programs)
        if len(re.findall(rf"\b{s.text}\b", text)) == 1:
            batch.structs = [k for k in batch.structs if k is not s]
    return batch, programs


def _with_buffers(program, names):
    """The program with the parameters of these buffers and no others."""
    tree = program.tree.copy()
    body = tree.kids[-1]
    params = [p for p in body.data.params if not p.buffer or p.name in names]
    body.data = Signature(body.data.name, params, body.data.results, annotated=False)
    return program.with_tree(tree)


def _words(programs):
    """The programs' text without their buffers' parameters."""
    lines = [re.sub(r"^def p\d+\(.*", "", k) for p in programs for k in program_text(p)]
    return "\n".join(lines)


def expected(batch, programs, run=None):
    """{output buffer: {index: text}} by the Python evaluator, and by `run(batch, programs)`, which
    gives arrays, for programs that it abstains from and for totals; None where that is missing."""
    want = {name: {} for name in batch.outputs}
    silent = set()
    for p in programs:
        try:
            made = _evaluated(batch, p)
        except Beyond:
            silent.add(p.number)
            continue
        for name, at, text in made:
            want[name][at] = text
    if not silent and not any(p.uses("atomic") for p in programs):
        return want
    if run is None:
        return None
    for name, cells in of_run(run(batch, programs)).items():
        for at, text in cells.items():
            number, thread = batch.owner_at(at)
            if number in silent or thread is None:
                want[name][at] = text
    return want


def _evaluated(batch, program):
    """[(output buffer, index, text)] of what is not zero in a program's cells."""
    evaluator, made = Evaluator(batch, program), []
    for thread in range(batch.threads):
        for name, cell, t, value in evaluator.thread_result(thread):
            if name in batch.outputs and _text(t, value) != _text(t, T.zero(t)):
                made.append((name, batch.cell_at(thread, program.number, cell), _text(t, value)))
    return made


def _text(t, v):
    """A value as Python source that NumPy takes: matrices as rows."""
    if t.kind == "scalar":
        return repr(v.item() if hasattr(v, "item") else v)
    if t.kind == "matrix":
        return "[" + ", ".join(_text(t.element, row) for row in zip(*v)) + "]"
    parts = ", ".join(_text(k, x) for k, x in zip(t.children(), v))
    return f"({parts},)" if t.kind == "struct" else f"[{parts}]"


def of_run(arrays):
    """The same from what a device gave."""
    want = {}
    for name, a in arrays.items():
        lines = [repr(_plain(v)) for v in a]
        zero = repr(_plain(np.zeros_like(a[:1])[0]))
        want[name] = {i: text for i, text in enumerate(lines) if text != zero}
    return want


def _plain(v):
    """Of a NumPy value: lists, tuples and Python's numbers."""
    names = v.dtype.names if isinstance(v, np.void) else None
    if names:
        return tuple(_plain(v[name]) for name in names)
    if isinstance(v, np.ndarray) and v.dtype.names:
        return [_plain(part) for part in v]
    return v.tolist()


def test_text(batch, programs, finding, options, run=None):
    """The file's text; `run(batch, programs)` gives the arrays where the evaluator abstains."""
    batch, programs = used_only(batch, programs)
    want = None
    if finding["kind"] in ("differs", "meaning"):  # else there may be nothing that it means
        want = expected(batch, programs, run)
    folded = finding["way"].startswith("folded")
    thread = batch.number % batch.threads if folded else None
    module = module_text(batch, programs, thread, plain=not folded)
    module = module.replace("import numpy as np\n", "import numpy as np\nimport pytest\n", 1)
    module = module.replace(
        "import lcpy as lc\n", "import lcpy as lc\nfrom fuzzing import compare\n", 1
    )
    inputs = [
        f'    "{name}": ({t.text}, [{", ".join(_text(t, v) for v in values)}]),'
        for name, (t, values) in batch.inputs.items()
    ]
    lines = []
    for name, t in batch.outputs.items():
        pairs = [f"({at}, {text})" for at, text in sorted((want or {}).get(name, {}).items())]
        pairs = f"[{', '.join(pairs)}]" if want is not None else "None"
        lines.append(f'    "{name}": ({t.text}, {pairs}),')
    cells = part = ""
    if folded:
        ends = batch.cell_at(thread, 0), batch.cell_at(thread + 1, 0)
        part = "\n        at = np.intersect1d(at, CELLS)"
        cells = f"CELLS = np.arange{ends}  # of the one thread\n"
    tail = _TAIL.format(
        inputs="\n".join(inputs), want="\n".join(lines), block=batch.block, math=batch.math,
        bounds=batch.bounds, length=batch.output_length, packed=sorted(batch.packed),
        first=3 * batch.views, cells=cells, part=part,
        kernel="folded" if folded else "run", grid=1 if folded else batch.grid,
        arguments=", ".join(host_text(t, v) for t, v in batch.uniforms.values()),
    )  # fmt: skip
    return _title(finding, programs, options) + module + tail


def _title(finding, programs, options):
    head = finding["text"].replace("\\", "/").splitlines()[0][:160]
    numbers = [p.number for p in programs]
    which = f"program {numbers[0]}"
    if len(numbers) > 1:
        which = f"programs {', '.join(map(str, numbers))} together"
    title = f'"""{finding["kind"]}, {finding["way"]}: {head}\n\n'
    title += f"tools/fuzz --seed {options.seed} --size {options.size} --only {finding['batch']}"
    return title + f' --devices {options.devices}, {which}\n"""\n\n'
