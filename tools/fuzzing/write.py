"""A reduced program as a ready pytest file, with its inputs and what they must give."""

import copy
import re

import numpy as np

from . import kinds as T
from .evaluate import Evaluator
from .meaning import Beyond
from .nodes import Signature
from .programs import Program, host_text, module_text, program_text

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


@pytest.mark.parametrize("opt", [0, 1])
def test_found(device, opt):
    kernel = lc.kernel(block_size={block}, math={math!r}, opt=opt, bounds={bounds!r})(run.function)
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
        assert not compare.differing(got, want).any(), f"{{name}}: {{got}}, not {{want}}"


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


def used_alone(batch, program):
    """The batch and the program with no more buffers, structs and constants than they use."""
    text = "\n".join(_words(batch, program))
    batch = copy.copy(batch)
    kept = {i.source for i in program.inputs}
    batch.packed = {n for n in batch.packed if n in {*batch.inputs, *batch.outputs}}
    batch.uniforms = {n: v for n, v in batch.uniforms.items() if n in kept}
    out = {f"o_{t.key}" for t, _ in program.results}
    used = lambda name, k: name in k or re.search(rf"\b{name}\b", text)  # noqa: E731
    batch.inputs = {n: v for n, v in batch.inputs.items() if used(n, kept)}
    batch.outputs = {n: t for n, t in batch.outputs.items() if used(n, out)}
    tree = program.tree.copy()
    body = tree.kids[-1]
    names = {*batch.inputs, *batch.outputs}  # of buffers that are left
    params = [p for p in body.data.params if not p.buffer or p.name in names]
    body.data = Signature(body.data.name, params, body.data.results, annotated=False)
    program = Program(program.number, tree, program.inputs, program.results, program.shared)
    text = "\n".join(_words(batch, program))
    batch.capture_lines = [
        k for k in batch.capture_lines if re.search(rf"\b{k.split(' ')[0]}\b", text)
    ]
    for s in reversed(batch.structs):
        text = module_text(batch, [program])
        if len(re.findall(rf"\b{s.text}\b", text)) == 1:
            batch.structs = [k for k in batch.structs if k is not s]
    return batch, program


def _words(batch, program):
    for line in program_text(program):
        yield re.sub(r"^def p\d+\(.*", "", line)


def expected(batch, program):
    """{output buffer: {index: text}} by the Python evaluator, or None where it abstains."""
    want = {name: {} for name in batch.outputs}
    evaluator = Evaluator(batch, program)
    for thread in range(batch.threads):
        try:
            results = evaluator.thread_result(thread)
        except Beyond:
            return None
        for name, cell, t, value in results:
            if name in want and _text(t, value) != _text(t, T.zero(t)):
                want[name][batch.cell_at(thread, program.number, cell)] = _text(t, value)
    return want


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
        lines = [repr(v.tolist()) for v in a]
        zero = repr(np.zeros_like(a[:1])[0].tolist())
        want[name] = {i: text for i, text in enumerate(lines) if text != zero}
    return want


def test_text(batch, program, finding, options, run=None):
    """The file's text; `run(batch, program)` gives the arrays where the evaluator abstains."""
    batch, program = used_alone(batch, program)
    want = None
    if finding["kind"] in ("differs", "meaning"):  # else there may be nothing that it means
        want = expected(batch, program)
        if want is None and run is not None:
            want = of_run(run(batch, program))
    head = finding["text"].replace("\\", "/").splitlines()[0][:160]
    module = module_text(batch, [program])
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
        pairs = [f"({at}, {text})" for at, text in (want or {}).get(name, {}).items()]
        pairs = f"[{', '.join(pairs)}]" if want is not None else "None"
        lines.append(f'    "{name}": ({t.text}, {pairs}),')
    tail = _TAIL.format(
        inputs="\n".join(inputs), want="\n".join(lines), block=batch.block, math=batch.math,
        bounds=batch.bounds,
        length=batch.output_length, grid=batch.grid, packed=sorted(batch.packed),
        first=3 * batch.views,
        arguments=", ".join(host_text(t, v) for t, v in batch.uniforms.values()),
    )  # fmt: skip
    title = f'"""{finding["kind"]}, {finding["way"]}: {head}\n\n'
    title += f"tools/fuzz --seed {options.seed} --size {options.size} --only {finding['batch']}"
    title += f' --devices {options.devices}, program {finding["program"]}\n"""\n\n'
    return title + module + tail
