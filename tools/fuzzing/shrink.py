"""Makes programs that fail smaller while they fail in the same way: one alone, or several in one
kernel where none of them can be left out."""

import copy
import re
import time

from . import kinds as T
from .nodes import Node, Signature
from .programs import Program, module_text

TOGETHER = 3  # times as long may several programs take as one
_LAST_PART = 0.15  # of the time is kept for the grid and the inputs


def likeness(finding):
    """What two findings have in common that are the same fault."""
    if finding["kind"] == "differs" or finding["kind"] == "meaning":
        return (finding["kind"], finding["way"])
    lines = finding["text"].split("\n")
    line = next((k for k in lines if "error:" in k or "error E" in k), lines[0])
    line = re.sub(r"0x[0-9a-f]+|\d+|'[^']*'", "#", line.rsplit(": ", 1)[-1])
    return (finding["kind"], finding["way"], line[:80])


def ways_of(finding):
    """What Runner.run has to try to see the finding again."""
    way = finding["way"].split(" ")
    if finding["kind"] == "meaning":
        return ["meaning"]
    return ["folded", way[1]] if way[0] == "folded" else [way[0]] if way[0] != "cpu" else ["none"]


class Shrinker:
    """`fails(batch, programs)` says whether the finding is still there with these in one kernel.

    Every pass works on one of the programs, `program`, in the company of the others as they are;
    the one numbered `first` gets its turn first.
    """

    def __init__(self, batch, programs, fails, seconds=120, first=None):
        self.batch, self.programs, self.fails = batch, list(programs), fails
        numbers = [p.number for p in self.programs]
        self.first = self.number = first if first in numbers else numbers[0]
        self.end = self.until = time.monotonic() + seconds
        self.last_part = _LAST_PART * seconds
        self.seen = {hash(_facts(batch, programs))}  # passes come upon an attempt again
        self.tried = 0

    @property
    def program(self):
        return next(p for p in self.programs if p.number == self.number)

    def size(self):
        return sum(p.tree.size() for p in self.programs)

    def try_tree(self, tree):
        return self.try_program(self.program.with_tree(tree))

    def try_program(self, program):
        """With another program in place of the one that is reduced."""
        programs = [program if p.number == program.number else p for p in self.programs]
        return self.try_it(self.batch, programs)

    def try_it(self, batch, programs):
        if time.monotonic() > self.until:
            return False
        attempt = hash(_facts(batch, programs))
        if attempt in self.seen:
            return False
        self.seen.add(attempt)
        self.tried += 1
        if not self.fails(batch, programs):
            return False
        self.batch, self.programs = batch, programs
        return True

    def run(self):
        """(batch, programs) as small as they got."""
        while not self.late():
            before = self.size()
            self.company()
            self.in_turn(self.results, self.statements, self.unwrap, self.functions)
            self.in_turn(self.expressions)
            if self.size() >= before:
                break
        self.until = self.end
        self.one_thread()
        self.settings()
        self.in_turn(self.inputs, self.values, all_time=True)
        return self.batch, self.programs

    def late(self):
        """Whether what is left of the time is for the grid and the inputs."""
        return time.monotonic() > self.end - self.last_part

    def company(self):
        """Fewer programs: halves first, then one by one."""
        size = len(self.programs) // 2
        while size:
            for first in range(len(self.programs) - size, -1, -size):
                kept = self.programs[:first] + self.programs[first + size :]
                if kept:
                    self.try_it(self.batch, kept)
            size //= 2
        if all(p.number != self.first for p in self.programs):
            self.first = self.number = self.programs[0].number

    def in_turn(self, *passes, all_time=False):
        """The passes over each program, which share the time that is left."""
        numbers = sorted((p.number for p in self.programs), key=lambda n: (n != self.first, n))
        end = self.end if all_time else self.end - self.last_part
        for i, self.number in enumerate(numbers):
            now = time.monotonic()
            self.until = now + (end - now) / (len(numbers) - i)
            for part in passes:
                part()
        self.until = end

    # ---- parts ------------------------------------------------------------------------------
    def nth(self, tree, at):
        for i, n in enumerate(tree.walk()):
            if i == at:
                return n
        return None

    def changed(self, at, change):
        """Tries the tree with a change to a copy of its node `at`; `change` may give False."""
        tree = self.program.tree.copy()
        if change(self.nth(tree, at)) is False:
            return False
        return self.try_tree(tree)

    def results(self):
        """Fewer results: one at a time is left out of every return of the body."""
        at = len(self.program.results) - 1
        while at >= 0 and len(self.program.results) > 1:
            p, tree = self.program, self.program.tree.copy()
            results = [r for i, r in enumerate(p.results) if i != at]
            body = tree.kids[-1]
            for n in _own(body.kids[0]):
                if n.kind == "return":
                    del n.kids[at]
            f = body.data
            body.data = Signature(f.name, f.params, [t for t, _ in results], annotated=False)
            self.try_program(Program(p.number, tree, p.inputs, results, p.shared))
            at -= 1

    def statements(self):
        """Without some statements of a block: halves first, then one by one."""
        at = 0
        while True:
            node = self.nth(self.program.tree, at)
            if node is None:
                return
            if node.kind == "block" and node.kids:
                size = len(node.kids)
                while size:
                    first = len(node.kids) - size
                    while first > -size:
                        low = max(first, 0)
                        self.changed(at, _without(slice(low, low + size)))
                        node = self.nth(self.program.tree, at)
                        first = min(first, len(node.kids)) - size
                    size = min(size // 2, len(node.kids))
            at += 1

    def unwrap(self):
        """A compound statement's block in its place; without else, elif, cases."""
        at = 0
        while (node := self.nth(self.program.tree, at)) is not None:
            if node.kind == "block":
                for i in range(len(node.kids) - 1, -1, -1):
                    for j in range(len(node.kids[i].kids)):
                        if self._splice(at, i, j):
                            break
                    node = self.nth(self.program.tree, at)
            elif node.kind == "if":
                for i in range(len(node.kids) // 2 - 1, 0, -1):
                    self.changed(at, _without(slice(2 * i, 2 * i + 2)))
                if len(node.kids) % 2:
                    self.changed(at, lambda n: n.kids.pop() and None)
            elif node.kind in ("for", "while") and node.kids[-1] is not None:
                self.changed(at, lambda n: n.kids.__setitem__(-1, None))
            elif node.kind == "match":
                self._cases(at, node)
            at += 1

    def _splice(self, at, i, j):
        def change(n):
            if i >= len(n.kids) or j >= len(n.kids[i].kids):
                return False
            inner = n.kids[i].kids[j]
            if inner is None or inner.kind != "block" or n.kids[i].kind == "function":
                return False
            n.kids[i : i + 1] = inner.kids
            return None

        return self.changed(at, change)

    def _cases(self, at, node):
        for i in range(len(node.data) - 1, -1, -1):

            def drop(n, i=i):
                if len(n.data) < 2 or i >= len(n.data):
                    return False
                n.data = n.data[:i] + n.data[i + 1 :]
                del n.kids[1 + 2 * i : 3 + 2 * i]
                return None

            def plain(n, i=i):
                if i >= len(n.data):
                    return False
                if n.kids[1 + 2 * i] is None:
                    return False
                n.kids[1 + 2 * i] = None
                return None

            self.changed(at, drop) or self.changed(at, plain)

    def functions(self):
        """Without functions that nobody calls."""
        called = {n.data[0] for n in self.program.tree.walk() if n.kind == "call"}
        tree = self.program.tree.copy()
        tree.kids = [f for f in tree.kids[:-1] if f.data.name in called] + tree.kids[-1:]
        if len(tree.kids) < len(self.program.tree.kids):
            self.try_tree(tree)

    def expressions(self):
        at = 0
        while (node := self.nth(self.program.tree, at)) is not None:
            if node.type is not None and node.kind not in ("function", "buf"):
                for other in self._smaller(node):

                    def change(n, other=other):
                        n.kind, n.type, n.data = other.kind, other.type, other.data
                        n.kids = other.copy().kids

                    if other.size() < node.size() or node.kind in ("lit", "read", "cap"):
                        if self.changed(at, change):
                            break
            at += 1

    def _smaller(self, node):
        """What may stand in a node's place."""
        t = node.type
        found = []
        if node.kind == "lit":
            value, weak = node.data
            if t.is_integer or t.is_float:
                for other in (0, 1):
                    if value != other and not (value in (0, 1) and other == 1):
                        found.append(
                            Node("lit", t, (), (float(other) if t.is_float else other, weak))
                        )
            elif value:
                found.append(Node("lit", t, (), (False, weak)))
            return found
        for k in node.walk():
            if k is not node and k.type is t and k.kind != "buf":
                k = k.copy()
                if k.kind == "lit":
                    k.data = (k.data[0], False)
                found.append(k)
        found.sort(key=Node.size)
        found = found[:4] + found[-2:]
        if t.kind == "scalar":
            if t.group == "bool":
                found[:0] = [Node("lit", t, (), (v, False)) for v in (False, True)]
            else:
                one = 1.0 if t.is_float else 1
                found[:0] = [Node("lit", t, (), (one * v, False)) for v in (0, 1)]
        elif node.kind != "make" or node.kids:
            found.insert(0, Node("make", t))
        return found

    # ---- inputs -----------------------------------------------------------------------------
    def one_thread(self):
        """The failing thread alone."""
        programs, old = self.programs, self.batch
        if any(p.shared is not None for p in programs):
            return
        if any(p.uses("atomic") for p in programs) and old.threads > 1:
            return  # the places of totals are written out
        for thread in range(old.threads):
            batch = copy.copy(old)
            batch.grid, batch.block = (1,), (1,)
            alone = [
                Program(p.number, p.tree, [i.at_thread(thread) for i in p.inputs], p.results, None)
                for p in programs
            ]
            if self.try_it(batch, alone):
                return

    def settings(self):
        """The usual buffers, and indices that nothing checks."""
        for name, usual in (("views", False), ("packed", frozenset()), ("bounds", "off")):
            batch = copy.copy(self.batch)
            setattr(batch, name, usual)
            self.try_it(batch, self.programs)

    def inputs(self):
        """Without inputs that nothing reads."""
        for name in [i.name for i in self.program.inputs]:
            p = self.program
            if any(n.kind == "var" and n.data == name for n in p.tree.walk()):
                continue
            tree = p.tree.copy()
            body, f = tree.kids[-1], tree.kids[-1].data
            params = [q for q in f.params if q.name != name]
            body.data = Signature(f.name, params, f.results, annotated=False)
            inputs = [i for i in p.inputs if i.name != name]
            self.try_program(Program(p.number, tree, inputs, p.results, p.shared))

    def values(self):
        """Simpler numbers in the inputs, where one thread reads them."""
        if self.batch.threads != 1:
            return
        for i in self.program.inputs:
            t, value = i.type, i.value(self.batch, 0)
            if i.way is not None:
                continue
            for path in list(_paths(t)):
                for simple in (0, 1):
                    new = _replaced(t, value, path, simple)
                    if new is None or repr(new) == repr(value):
                        continue
                    batch = copy.copy(self.batch)
                    name = i.source
                    values = list(batch.inputs[name][1])
                    values[i.offset % len(values)] = new
                    batch.inputs = {**batch.inputs, name: (t, values)}
                    if self.try_it(batch, self.programs):
                        value = new
                        break


def _facts(batch, programs):
    """What tells one attempt from another."""
    inputs = [values for _, values in batch.inputs.values()]
    facts = batch.grid, batch.views, sorted(batch.packed), inputs
    return f"{module_text(batch, programs)}{facts}"


def _without(part):
    """A change that deletes some of a node's kids."""
    return lambda n: n.kids.__delitem__(part)


def _own(node):
    """Nodes of a body without those of nested functions."""
    yield node
    if node.kind != "function":
        for k in node.kids:
            if k is not None:
                yield from _own(k)


def _paths(t):
    if t.kind == "scalar":
        yield ()
    else:
        for i, k in enumerate(t.children()):
            for rest in _paths(k):
                yield (i, *rest)


def _replaced(t, value, path, simple):
    if not path:
        return T.zero(t) if simple == 0 else type(T.zero(t))(1)
    i = path[0]
    return (*value[:i], _replaced(t.children()[i], value[i], path[1:], simple), *value[i + 1 :])
