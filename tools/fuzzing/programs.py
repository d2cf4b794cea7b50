"""Whole programs, and batches of them: one module, one kernel, one launch.

A program is a function of values and buffers. What it returns and what it leaves in its own cells
of the output buffers is its result.
"""

from . import kinds as T
from .chance import Chance
from .expressions import Variable, reach
from .nodes import COUNT, Node, Parameter, Signature, block_lines, constant_text, number
from .statements import Names, Writer, write_callable

CELLS = 4  # of each output buffer for each program and thread: two results, two cells
TOTALS = 2  # of each output buffer for each program, behind all cells


class Input:
    """Where a parameter of a program's body comes from: an element of an input buffer, or a part of
    an argument of the kernel, at an index that grows with the thread."""

    __slots__ = ("name", "type", "source", "factor", "offset", "way")

    def __init__(self, name, type_, source, factor, offset, way=None):
        self.name, self.type, self.source = name, type_, source
        self.factor, self.offset, self.way = factor, offset, way

    def text(self):
        index = f"(t * {self.factor} + {self.offset})"
        if self.way is None:
            return f"{self.source}[{index} % {COUNT}]"
        text = self.source
        for step, count in self.way:
            text += f"[{index} % {count}]" if step is None else f".{step}"
        return text

    def value(self, batch, thread):
        at = thread * self.factor + self.offset
        if self.way is None:
            return batch.inputs[self.source][1][at % COUNT]
        t, value = batch.uniforms[self.source]
        for step, count in self.way:
            if step is None:
                t, value = t.element, value[at % count]
            else:
                i = [name for name, _ in t.fields].index(step)
                t, value = t.fields[i][1], value[i]
        return value

    def at_thread(self, thread):
        """The same value whatever the thread."""
        offset = thread * self.factor + self.offset
        return Input(self.name, self.type, self.source, 0, offset, self.way)


def uniform_way(whole, part):
    """A way in the sense of Input from an argument to a part of it, or None."""
    for way in reach(whole, part):
        steps, t = [], whole
        for step, k, name in way:
            if step not in ("field", "elem"):
                break
            steps.append((name, 0) if step == "field" else (None, t.count))
            t = k
        else:
            return steps
    return None


class Program:
    """`tree`: a "program" node, functions first and the body last, whose Signature has `inputs`
    (parameter name, buffer) and what else the kernel passes."""

    def __init__(self, number, tree, inputs, results, shared):
        self.number, self.tree, self.inputs = number, tree, inputs
        self.results, self.shared = results, shared  # [(type, cell)], (name, count, type) or None

    @property
    def body(self):
        return self.tree.kids[-1]

    def with_tree(self, tree):
        return Program(self.number, tree, self.inputs, self.results, self.shared)

    @property
    def collective(self):
        """Whether threads depend on each other's values."""
        return self.shared is not None or self.uses("warp")

    def uses(self, kind):
        return any(n.kind == kind for n in self.tree.walk())


class Batch:
    """What the programs of one module share: types, constants, buffers, the dispatch."""

    def __init__(self, seed, number, size, features=()):
        c = Chance(seed, number)
        self.seed, self.number, self.size = seed, number, size
        self.denormals = c.one_in(6)
        self.grid = c.pick(((5,), (8,), (13,), (16,), (5, 3), (4, 4), (3, 2, 2)))
        self.block = c.pick(_BLOCKS[len(self.grid)])
        self.warp = c.one_in(6)  # some programs have warp operations
        # Also where lanes have parted. Decided by chance of its own: seeds keep their programs.
        self.parted = self.warp and Chance(seed, number, _PARTED).one_in(3)
        self.views = c.one_in(4)  # every buffer is a part of a longer one
        # Of integers every mode gives the same bits.
        self.math = c.pick(("ieee", "fast")) if c.one_in(8) else "strict"
        self.bounds = "trap" if c.one_in(6) else "off"  # every index is in range
        self._choose_scalars(c, features)
        self._choose_types(c)
        self._choose_captures(c)
        self.inputs = {  # buffer name -> (element type, values)
            f"i_{t.key}": (t, [T.some_value(c, t, denormals=self.denormals) for _ in range(COUNT)])
            for t in self.palette
        }
        self.outputs = {f"o_{t.key}": t for t in self.palette}
        self.uniforms = {}  # argument name -> (type, value)
        for t in c.some(self.palette, c.between(0, 3)):
            self.uniforms[f"u_{t.key}"] = (t, T.some_value(c, t, denormals=self.denormals))
        lanes = [t for t in self.palette if t.kind in ("vector", "matrix")]
        self.packed = {f"{k}_{t.key}" for t in lanes for k in "io" if c.one_in(4)}
        self.programs = [self._program(Chance(seed, number, i + 1), i) for i in range(size)]

    def _choose_scalars(self, c, features):
        chosen = [T.BOOL, T.INT32, T.UINT32, T.FLOAT32]
        for t in (T.INT8, T.UINT8, T.INT16, T.UINT16, T.INT64, T.UINT64, T.FLOAT64):
            if c.percent(40):
                chosen.append(t)
        if "float16" in features and c.percent(25):
            chosen.append(T.FLOAT16)
        if self.math != "strict":
            chosen = [t for t in chosen if not t.is_float]
        self.scalars = tuple(chosen)
        self.numbers = tuple(t for t in chosen if t is not T.BOOL)
        self.integers = tuple(t for t in chosen if t.is_integer)
        self.floats = tuple(t for t in chosen if t.is_float)

    def _choose_types(self, c):
        """The palette: types of buffers, inputs, results and most variables."""
        palette = list(c.some(self.scalars, c.between(3, 5)))
        palette += [T.vector(c.pick(self.scalars), c.between(2, 4)) for _ in range(c.between(1, 3))]
        if c.one_in(2) and self.floats:
            palette.append(T.matrix(c.pick(self.floats), c.between(2, 4)))
        self.structs = []
        parts = list(palette)
        for _ in range(c.between(1, 2)):
            fields = []
            for i in range(c.between(1, 4)):
                t = c.pick(parts)
                if c.one_in(4):
                    t = T.array(t, c.between(1, 4))
                if t.parts <= 16:
                    fields.append((f"m{i}", t))
            if not fields:
                continue
            made = T.struct(f"S{len(self.structs)}", fields)
            self.structs.append(made)
            parts.append(made)
            palette.append(made)
        for _ in range(c.between(0, 2)):
            t = T.array(c.pick(parts), c.between(1, 4))
            if t.parts <= 32:
                palette.append(t)
        self.palette = tuple(dict.fromkeys(t for t in palette if t.parts <= 32))[:11]

    def _choose_captures(self, c):
        """Constants of the module: [(name, type)], and their text."""
        self.captures, self.capture_lines, self.capture_values = [], [], {}
        for i in range(c.between(0, 3)):
            name, pick = f"C{i}", c.below(4)
            if pick == 0:
                t = T.array(T.INT32, c.between(1, 5))
                value = T.some_value(c, t)
                text = f"{list(value)}"
            elif pick == 1:
                t = T.array(c.pick(self.integers), c.between(2, 4))
                value = T.some_value(c, t)
                text = f"np.array({list(value)}, np.{t.element.key})"
            else:
                t = c.pick([p for p in self.palette if p.kind in ("vector", "struct", "scalar")])
                value = T.some_value(c, t, finite=True)
                if t.kind == "scalar":
                    text = f"np.bool_({value})" if t is T.BOOL else f"np.{t.key}({value!r})"
                else:
                    text = host_text(t, value)
            self.captures.append((name, t))
            self.capture_lines.append(f"{name} = {text}")
            self.capture_values[name] = value

    def some_type(self, c):
        if c.percent(80):
            return c.pick(self.palette)
        s = c.pick(self.scalars)
        return s if c.one_in(2) else T.vector(s, c.between(2, 4))

    # ---- one program ------------------------------------------------------------------------
    def _program(self, c, number):
        names = Names(number)
        functions = []
        for _ in range(c.weighted(((3, 0), (4, 1), (3, 2), (1, 3)))):
            functions.append(write_callable(c, self, names, [f.data for f in functions]))
        results = self._results(c)
        w = Writer(c, self, names, [f.data for f in functions], [t for t, _ in results])
        params = [Parameter("q", T.UINT32), Parameter("t", T.UINT32)]
        w.scope.append(Variable("t", T.UINT32, mutable=False))
        inputs = []
        for _ in range(c.between(1, 4)):
            t, name = c.pick(self.palette), names.new("x")
            params.append(Parameter(name, t))
            w.scope.append(Variable(name, t))
            inputs.append(self._input(c, name, t))
        shared = None
        if c.one_in(6):
            t = c.pick(self.palette)
            count = product(self.block)
            shared = (f"s{number}", count, t)
            params += [Parameter("lane", T.UINT32)]
            params += [Parameter(shared[0], T.array(t, count), ref=True)]
            w.scope.append(Variable(f"{shared[0]}[lane]", t, local=False))
            w.shared, w.may_return = shared, False
        if self.warp and c.one_in(2):
            w.warp, w.may_return = True, False
        w.buffers = [(name, t) for name, (t, _) in self.inputs.items()]
        self._give_cells(c, w, number)
        kids = []
        if c.one_in(4):
            nested = write_callable(c, self, names, [f.data for f in functions], outer=w)
            kids.append(nested)
            w.callables.append(nested.data)
        depth = c.weighted(((1, 1), (3, 2), (2, 3)))
        kids += [w.statement(depth) for _ in range(c.between(2, 7))]
        kids.append(w.finish(1))
        params += [Parameter(name, t, buffer=True) for name, t in w.buffers]
        params += [Parameter(name, t, buffer=True) for name, t in self.outputs.items()]
        signature = Signature(f"p{number}", params, [t for t, _ in results], annotated=False)
        body = Node("function", None, [Node("block", None, kids)], signature)
        return Program(number, Node("program", None, [*functions, body]), inputs, results, shared)

    def _input(self, c, name, t):
        factor, offset = c.between(1, 5), c.below(COUNT)
        if c.one_in(3):
            for source, (whole, _) in self.uniforms.items():
                way = uniform_way(whole, t)
                if way is not None:
                    return Input(name, t, source, factor, offset, way)
        return Input(name, t, f"i_{t.key}", factor, offset)

    def _results(self, c):
        """[(type, cell)]: two of one type at most."""
        seen, results = {}, []
        for _ in range(c.between(1, 4)):
            t = c.pick(self.palette)
            if seen.setdefault(t, 0) < 2:
                results.append((t, seen[t]))
                seen[t] += 1
        return results

    def _give_cells(self, c, w, number):
        for name, t in self.outputs.items():
            if c.one_in(4):
                cell = Variable(f"{name}[q + {c.between(2, 3)}]", t, local=False)
                w.scope.append(cell)
                w.cells.append(cell)
            if t.kind == "scalar" and t.bits >= 32 and c.one_in(2):
                first = self.totals_at(number)
                w.totals.append((f"{name}[{first + c.below(TOTALS)}]", t))

    @property
    def threads(self):
        return product(self.grid)

    # ---- places in the output buffers -------------------------------------------------------
    def cell_at(self, thread, number, cell=0):
        return (thread * self.size + number) * CELLS + cell

    def totals_at(self, number):
        return self.threads * self.size * CELLS + number * TOTALS

    @property
    def output_length(self):
        return self.totals_at(self.size)

    def owner_at(self, at):
        """(program, thread) of an element of an output buffer; thread None for a total."""
        first = self.totals_at(0)
        if at >= first:
            return (at - first) // TOTALS, None
        return at // CELLS % self.size, at // CELLS // self.size


_PARTED = 1 << 20  # beyond the numbers of programs
_BLOCKS = {1: ((4,), (8,), (16,)), 2: ((4, 2), (8, 2), (3, 3)), 3: ((2, 2, 2), (4, 1, 2))}
# The thread's and the lane's number, by the axes of the dispatch.
_THREAD = {
    1: "lc.dispatch_id().x",
    2: "lc.dispatch_id().y * lc.dispatch_size().x + lc.dispatch_id().x",
    3: "(lc.dispatch_id().z * lc.dispatch_size().y + lc.dispatch_id().y) * lc.dispatch_size().x"
    " + lc.dispatch_id().x",
}


def lane_text(block):
    text = "lc.thread_id().x"
    for axis, factor in zip("yz", (block[0], product(block[:2]))):
        if len(block) > "xyz".index(axis):
            text += f" + lc.thread_id().{axis} * {factor}"
    return text


def product(sizes):
    result = 1
    for n in sizes:
        result *= n
    return result


def host_text(t, value):
    """A value as a module builds it on the host."""
    if t.kind == "scalar":
        return str(value) if t.group == "bool" else f"{t.text}({number(value)})"
    parts = ", ".join(host_text(k, v) for k, v in zip(t.children(), value))
    return f"[{parts}]" if t.kind == "array" else f"{t.text}({parts})"


# ---- text ---------------------------------------------------------------------------------------
HEAD = """import numpy as np

import lcpy as lc

inf, nan = float("inf"), float("nan")


COUNT = 4


def apply_twice(f, x):
    return f(f(x))
"""


def types_text(batch):
    lines = []
    for s in batch.structs:
        lines += ["", "", "@lc.struct", f"class {s.text}:"]
        lines += [f"    {name}: {t.text}" for name, t in s.fields]
    return lines


def program_text(program):
    lines = []
    for f in program.tree.kids:
        lines += ["", "", *block_lines(Node("block", None, [f]), 0)]
    return lines


def _call_lines(batch, program, q, t, args):
    """The call of one program and the stores of its results."""
    number = program.number
    names = [f"r{number}_{i}" for i in range(len(program.results))]
    lines = []
    if program.shared:
        name, count, element = program.shared
        args = [*args, lane_text(batch.block), name]
        lines.append(f"    {name}[{lane_text(batch.block)}] = {element.text}()")
    buffers = [p.name for p in program.body.data.params if p.buffer]
    call = f"{program.body.data.name}({', '.join([q, t, *args, *buffers])})"
    lines.append(f"    {', '.join(names)} = {call}")
    for name, (result, cell) in zip(names, program.results):
        lines.append(f"    o_{result.key}[{q} + {cell}] = {name}")
    return lines


def kernel_lines(batch, programs, folded=None):
    """The kernel of some programs of a batch; `folded`: the thread whose inputs are literals."""
    buffers = [f"    {name}: lc.Buffer[{t.text}]," for name, (t, _) in batch.inputs.items()]
    buffers += [f"    {name}: lc.Buffer[{t.text}]," for name, t in batch.outputs.items()]
    buffers += [f"    {name}: {t.text}," for name, (t, _) in batch.uniforms.items()]
    name = "run" if folded is None else "folded"
    bounds = ", bounds='trap'" if batch.bounds == "trap" else ""
    head = f"@lc.kernel(block_size={batch.block}, math={batch.math!r}{bounds})"
    lines = ["", "", head, f"def {name}(", *buffers, "):"]
    for p in programs:
        if p.shared:
            lines.append(f"    {p.shared[0]} = lc.shared({p.shared[2].text}, {p.shared[1]})")
    if folded is None:
        lines.append(f"    t = {_THREAD[len(batch.grid)]}")
    for p in programs:
        if folded is None:
            q = f"q{p.number}"
            lines.append(f"    {q} = (t * {batch.size} + {p.number}) * {CELLS}")
            args = [i.text() for i in p.inputs]
            lines += _call_lines(batch, p, q, "t", args)
        else:
            q = f"lc.uint32({batch.cell_at(folded, p.number)})"
            args = [constant_text(i.type, i.value(batch, folded)) for i in p.inputs]
            lines += _call_lines(batch, p, q, f"lc.uint32({folded})", args)
    return lines


def module_text(batch, programs, folded=None, plain=True):
    """A module with the kernel `run` if `plain`, and `folded` for a thread."""
    lines = [HEAD.rstrip("\n"), *types_text(batch)]
    if batch.capture_lines:
        lines += ["", "", *batch.capture_lines] if batch.structs else ["", *batch.capture_lines]
    for p in programs:
        lines += program_text(p)
    if plain:
        lines += kernel_lines(batch, programs)
    if folded is not None:
        able = [p for p in programs if not p.collective]
        if able:
            lines += kernel_lines(batch, able, folded)
    return "\n".join(lines) + "\n"
