"""Wrong programs: valid kernels, damaged, and what the compiler makes of them.

The answer must be an lc.Error that names file and line and shows the user's own line with a caret,
or success. Another exception, a crash, more than ten seconds, another answer to the same question,
or a traceback through the tracer is a fault.

``python tools/fuzzing/mutate.py --wrong 1000 --seed 1`` runs by itself; `run` is for tools/fuzz.
"""

import argparse
import ast
import copy
import importlib.util
import os
import random
import re
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "tests", Path(__file__).parent]
if importlib.util.find_spec("lcpy") is None:
    FOLDERS.append(ROOT)  # the package built in place
for folder in FOLDERS:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import judge  # noqa: E402
import snippets  # noqa: E402

MEMORY = 6 << 30  # bytes of address space
BATCH = 400  # programs of one child process

Fault = namedtuple("Fault", "kind signature program text")


# ---- valid programs -----------------------------------------------------------------------------
def corpus():
    """[(name, module's syntax tree cut down to one kernel)] of all kernels of tests and shaders."""
    found = []
    paths = [*ROOT.glob("tests/kernels/corpus/*.py"), *ROOT.glob("shaders/gallery/*.py"),
             *ROOT.glob("shaders/primitives/kernels.py"), *ROOT.glob("tests/kernels/test_*.py"),
             *Path(__file__).parent.glob("seeds/*.py")]  # fmt: skip
    for path in sorted(paths):
        tree = ast.parse(path.read_text())
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and _is_kernel(node):
                found.append((f"{path.stem}.{node.name}", _slice(tree, node)))
    return found


def _is_kernel(node):
    return any("lc.kernel" in ast.unparse(d) for d in node.decorator_list)


def _names(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _slice(tree, kernel):
    """The module with the kernel and what it reaches by name, and no more."""
    wanted = _names(kernel)
    kept = {id(kernel)}
    changed = True
    while changed:
        changed = False
        for node in tree.body:
            if id(node) in kept or isinstance(node, (ast.Import, ast.ImportFrom, ast.Expr)):
                continue
            made = {getattr(node, "name", None)}
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                made |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not _loads(n)}
            if made & wanted and not (isinstance(node, ast.FunctionDef) and _is_kernel(node)):
                kept.add(id(node))
                wanted |= _names(node)
                changed = True
    body = [n for n in tree.body if id(n) in kept]
    return ast.Module(body=copy.deepcopy(body), type_ignores=[])


def _loads(node):
    return isinstance(node.ctx, ast.Load)


# ---- damage -------------------------------------------------------------------------------------
class Mutator:
    """Damages syntax trees by a random generator; the same seed gives the same programs."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.expressions = snippets.split(snippets.EXPRESSIONS)
        self.with_odd = [s for s in self.expressions if "ODD" in s]
        self.statements = snippets.lines(snippets.STATEMENTS)
        self.annotations = snippets.split(snippets.ANNOTATIONS)
        self.decorators = snippets.split(snippets.DECORATORS)
        self.members = snippets.lines(snippets.MEMBERS)
        self.odd = list(snippets.ODD.values())

    def program(self, tree):
        """The text of a damaged copy of `tree`, or None where Python itself refuses it."""
        r = self.random
        tree = copy.deepcopy(tree)
        try:
            for _ in range(r.choice((1, 1, 1, 2, 2, 3, 5))):
                self._damage(tree)
            text = ast.unparse(ast.fix_missing_locations(tree))
        except (ValueError, RecursionError, AttributeError, TypeError, IndexError):
            return None
        odd = r.choice(self.odd)
        text = f"{snippets.PRELUDE}\nODD = {odd}\n{text}\n"
        if r.random() < 0.1:
            text = self._damage_text(text)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(text, "wrong", "exec")
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
            return None
        return text

    def _damage(self, tree):
        functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
        if not functions:
            return
        target = self.random.choice(functions)
        kinds = (
            (self._expression, 10), (self._statement, 8), (self._swap, 3), (self._delete, 2),
            (self._duplicate, 2), (self._literal, 3), (self._rename, 3), (self._signature, 4),
            (self._decorate, 1), (self._member, 2), (self._operator, 2), (self._nest, 1),
            (self._shuffle, 1), (self._class_of_node, 2),
        )  # fmt: skip
        how = self.random.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
        how(target)

    # -- pieces
    def _all(self, root, kinds):
        """[(parent, field, index or None, node)] of the nodes of some kinds below `root`."""
        found = []
        for parent in ast.walk(root):
            for field, child in ast.iter_fields(parent):
                if isinstance(child, kinds):
                    found.append((parent, field, None, child))
                elif isinstance(child, list):
                    found.extend((parent, field, i, c) for i, c in enumerate(child)
                                 if isinstance(c, kinds))  # fmt: skip
        return found

    def _pick(self, root, kinds):
        found = self._all(root, kinds)
        return self.random.choice(found) if found else None

    def _reading(self, root):
        found = [f for f in self._all(root, ast.expr) if isinstance(
            getattr(f[3], "ctx", ast.Load()), ast.Load)]  # fmt: skip
        return self.random.choice(found) if found else None

    @staticmethod
    def _put(at, node):
        parent, field, index, _ = at
        if index is None:
            setattr(parent, field, node)
        else:
            getattr(parent, field)[index] = node

    def _filled(self, text, root):
        """A snippet with expressions and names of the program in its places."""
        names = sorted(_names(root)) or ["x"]

        def some(_):
            at = self._reading(root)
            made = ast.unparse(at[3]) if at is not None else "1"
            return f"({made})" if len(made) < 300 else "2.0"

        text = re.sub(r"\bX\b", some, text)
        return re.sub(r"\bN\b", lambda _: self.random.choice(names), text)

    def _snippet(self, root):
        pool = self.with_odd if self.random.random() < 0.25 else self.expressions
        try:
            return ast.parse(self._filled(self.random.choice(pool), root), mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            return ast.Constant(0)

    # -- kinds of damage
    def _expression(self, root):
        at = self._reading(root)
        if at is not None:
            self._put(at, self._snippet(root))

    def _bodies(self, root):
        fields = ("body", "orelse", "finalbody")
        found = [getattr(n, f, None) for n in ast.walk(root) for f in fields]
        return [body for body in found if isinstance(body, list) and body]

    def _statement(self, root):
        body = self.random.choice(self._bodies(root))
        try:
            made = ast.parse(self._filled(self.random.choice(self.statements), root)).body
        except (SyntaxError, ValueError, RecursionError):
            return
        at = self.random.randint(0, len(body))
        body[at:at] = made

    def _swap(self, root):
        kinds = self.random.choice((ast.expr, ast.expr, ast.stmt))
        a, b = self._pick(root, kinds), self._pick(root, kinds)
        if a is None or b is None:
            return
        first, second = copy.deepcopy(a[3]), copy.deepcopy(b[3])
        self._put(a, second)
        self._put(b, first)

    def _delete(self, root):
        body = self.random.choice(self._bodies(root))
        del body[self.random.randrange(len(body))]
        if not body:
            body.append(ast.Pass())

    def _duplicate(self, root):
        lists = [child for n in ast.walk(root) for _, child in ast.iter_fields(n)
                 if isinstance(child, list) and child]  # fmt: skip
        if lists:
            chosen = self.random.choice(lists)
            i = self.random.randrange(len(chosen))
            chosen.insert(i, copy.deepcopy(chosen[i]))

    def _literal(self, root):
        at = self._pick(root, ast.Constant)
        if at is not None:
            r = self.random
            self._put(at, ast.Constant(r.choice((
                0, -1, 1, 2, 3, 2**31, 2**32, 2**63, 2**64, 10**400, 1.5, 1e39, 1e300, 0.1, True,
                None, "text", b"x", ..., 1j, -(2**31), "\u00e9\u4e2d", "\U0001f600",
            ))))  # fmt: skip

    def _rename(self, root):
        at = self._pick(root, (ast.Name, ast.arg, ast.Attribute, ast.keyword))
        if at is None:
            return
        names = sorted(_names(root)) + snippets.split(
            "ODD | lc | math | len | print | self | int | float | range | type | é | 变量"
            " | __name__ | __class__ | __debug__ | main | float4 | kernel"
            " | half | NULL | _ | __ | e\u0301"
        )
        node, name = at[3], self.random.choice(names)
        field = {ast.Name: "id", ast.Attribute: "attr"}.get(type(node), "arg")
        setattr(node, field, name)

    def _signature(self, root):
        at = self._pick(root, ast.arguments)
        if at is None:
            return
        r, a = self.random, at[3]

        def parsed():
            choice = self._filled(r.choice(self.annotations), root)
            return ast.parse(choice, mode="eval").body

        what = r.randrange(7)
        if what == 0 and a.args:
            r.choice(a.args).annotation = parsed()
        elif what == 1 and a.args:
            r.choice(a.args).annotation = None
        elif what == 2 and isinstance(at[0], ast.FunctionDef):
            at[0].returns = parsed()
        elif what == 3 and a.args:
            a.defaults = [self._snippet(root) for _ in range(r.randint(1, len(a.args)))]
        elif what == 4:
            a.args.insert(r.randint(0, len(a.args)), ast.arg(r.choice(("new_", "x", "self"))))
        elif what == 5 and a.args:
            del a.args[r.randrange(len(a.args))]
            a.defaults = a.defaults[: len(a.args)]
        else:
            which = r.choice(("vararg", "kwarg", "kwonly", "posonly"))
            if which == "kwonly":
                a.kwonlyargs.append(ast.arg("only_"))
                a.kw_defaults.append(r.choice((None, self._snippet(root))))
            elif which == "posonly":
                a.posonlyargs, a.args = a.posonlyargs + a.args, []
            else:
                setattr(a, which, ast.arg("rest_"))

    def _decorate(self, root):
        r = self.random
        made = ast.parse(self._filled(r.choice(self.decorators), root), mode="eval").body
        if r.random() < 0.5 and root.decorator_list:
            root.decorator_list[r.randrange(len(root.decorator_list))] = made
        else:
            root.decorator_list.insert(r.randint(0, len(root.decorator_list)), made)

    def _member(self, root):
        if isinstance(root, ast.ClassDef):
            try:
                made = ast.parse(self._filled(self.random.choice(self.members), root)).body
            except SyntaxError:
                return
            root.body[self.random.randint(0, len(root.body)) : 0] = made
        else:
            self._statement(root)

    def _operator(self, root):
        at = self._pick(root, (ast.operator, ast.cmpop, ast.boolop, ast.unaryop))
        if at is not None:
            for base in (ast.operator, ast.cmpop, ast.boolop, ast.unaryop):
                if isinstance(at[3], base):
                    self._put(at, self.random.choice(base.__subclasses__())())

    def _nest(self, root):
        """Deep nesting of one kind."""
        at = self._reading(root)
        if at is None:
            return
        text = ast.unparse(at[3])
        if len(text) > 60:
            text = "1"
        r = self.random
        n = r.choice((5, 30, 90, 300, 900, 1500))
        head, tail = r.choice((
            ("(-", ")"), ("(1 + ", ")"), ("lc.abs(", ")"), ("(lambda: ", ")()"), ("(", ",)"),
            ("(not ", ")"), ("(1 if True else ", ")"), ("", "[0]"), ("", ".x"), ("", " + 1"),
            ("(0 < ", ")"), ("", " and True"),
        ))  # fmt: skip
        if r.random() < 0.2:
            body = r.choice(self._bodies(root))
            inner = ast.Pass()
            for _ in range(r.choice((5, 19, 60, 90))):
                inner = r.choice((
                    lambda s: ast.If(ast.parse(text, mode="eval").body, [s], []),
                    lambda s: ast.While(ast.Constant(True), [s], []),
                    lambda s: ast.For(ast.Name("i_", ast.Store()), ast.parse("range(3)",
                                      mode="eval").body, [s], []),
                ))(inner)  # fmt: skip
            body.append(inner)
            return
        try:
            self._put(at, ast.parse(head * n + text + tail * n, mode="eval").body)
        except (SyntaxError, RecursionError, MemoryError, ValueError):
            return

    def _shuffle(self, root):
        self.random.shuffle(self.random.choice(self._bodies(root)))

    def _class_of_node(self, root):
        """Another node class with the same children, where its fields fit."""
        at = self._reading(root)
        if at is None:
            return
        x = at[3]
        made = self.random.choice((
            lambda: ast.List([x], ast.Load()), lambda: ast.Tuple([x, x], ast.Load()),
            lambda: ast.Starred(x, ast.Load()),
            lambda: ast.NamedExpr(ast.Name("w_", ast.Store()), x),
            lambda: ast.Lambda(_no_arguments(), x), lambda: ast.Await(x), lambda: ast.Yield(x),
            lambda: ast.JoinedStr([ast.FormattedValue(x, -1, None)]), lambda: ast.Set([x]),
            lambda: ast.Dict([x], [x]), lambda: ast.Dict([None], [x]), lambda: ast.Slice(x, x, x),
            lambda: ast.Subscript(x, ast.Slice(x, None, None), ast.Load()),
            lambda: ast.Call(x, [ast.Starred(x, ast.Load())], [ast.keyword(None, x)]),
            lambda: ast.GeneratorExp(
                x, [ast.comprehension(ast.Name("c_", ast.Store()), x, [x], 0)]),
            lambda: ast.Compare(x, [ast.Lt(), ast.In(), ast.Is()], [x, x, x]),
        ))()  # fmt: skip
        self._put(at, made)

    def _damage_text(self, text):
        """A character or token of the text replaced."""
        r = self.random
        lines = text.split("\n")
        start = len(snippets.PRELUDE.split("\n"))
        for _ in range(r.choice((1, 1, 3))):
            i = r.randrange(start, len(lines))
            line = lines[i]
            if not line.strip():
                continue
            at = r.randrange(len(line))
            lines[i] = line[:at] + r.choice((
                "", " ", "(", ")", "0", ",", "\\\n", "\t", "é", "😀", "#", "''", "'''", "-", "*",
                ".", ":", "\x0c", "1_", "lc.", "@", "= ", ";", "if 1 else ", "　", "\r",
            )) + line[at + r.choice((0, 0, 1)):]  # fmt: skip
        return "\n".join(lines)


def _no_arguments():
    return ast.arguments([], [], None, [], [], None, [])


# ---- processes ----------------------------------------------------------------------------------
def _child(write, numbers, seed, bases, folder):
    """Runs programs; a line for each goes through the pipe: started, faults, done."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    signal.signal(signal.SIGALRM, judge.alarm)
    asked = judge.Judge()
    for number in numbers:
        mutator = Mutator(f"{seed}:{number}")
        name, tree = mutator.random.choice(bases)
        text = None
        for _ in range(20):
            text = mutator.program(tree)
            if text is not None:
                break
        if text is None:
            os.write(write, f"done {number} 0 0\n".encode())
            continue
        path = folder / f"wrong_{number}.py"
        path.write_text(text, errors="surrogatepass")
        os.write(write, f"start {number}\n".encode())
        faults = asked.program(path, f"{seed}:{number}")
        for kind, signature, shown in faults:
            log = folder / f"fault_{number}.txt"
            log.write_text(f"{name}\n{kind}: {signature}\n{shown}", errors="replace")
            signature = signature.replace("\n", " ").encode(errors="replace").decode()
            os.write(write, f"fault {number} {kind} {signature}\n".encode())
        if not faults:
            path.unlink()
        os.write(write, f"done {number} {asked.right} {asked.wrong}\n".encode())
    os._exit(0)


def run(count, seed, folder=None, progress=None):
    """Runs `count` wrong programs of a seed.

    Returns
    -------
    (faults, right, wrong)
        Faults, each with the text that explains it, and how many questions were answered with
        success and with an error.
    """
    folder = Path(folder or tempfile.mkdtemp(prefix="lcpy_wrong_"))
    folder.mkdir(parents=True, exist_ok=True)
    bases = corpus()
    faults = []
    totals = [0, 0]
    todo = list(range(count))
    while todo:
        batch, todo = todo[:BATCH], todo[BATCH:]
        left = _run_batch(batch, seed, bases, folder, faults, totals)
        todo = left + todo
        if progress is not None:
            progress(count - len(todo), faults)
    return faults, totals[0], totals[1]


def _run_batch(numbers, seed, bases, folder, faults, totals):
    """Runs numbers in a child; gives those left when it died."""
    read, write = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            import lcpy

            lcpy.init("cpu")  # a device that the parent opened is not this process's
            _child(write, numbers, seed, bases, folder)
        except BaseException:
            traceback.print_exc(limit=-6)
        finally:
            os._exit(3)
    os.close(write)
    pending, at, started, right, wrong = b"", None, time.monotonic(), 0, 0
    done = set()
    reason = None
    while True:
        ready, _, _ = select.select([read], [], [], 1.0)
        if not ready:
            if time.monotonic() - started > judge.LIMIT:
                reason = "hang"
                os.kill(pid, signal.SIGKILL)
                break
            continue
        data = os.read(read, 65536)
        if not data:
            break
        pending += data
        *lines, pending = pending.split(b"\n")
        for line in lines:
            kind, number, *rest = line.decode().split(" ", 3)
            started = time.monotonic()
            if kind == "start":
                at = int(number)
            elif kind == "fault":
                faults.append(_fault_of(folder, int(number), rest[0], rest[1]))
            else:
                done.add(int(number))
                right, wrong = int(rest[0]), int(rest[1])
    os.close(read)
    _, status = os.waitpid(pid, 0)
    totals[0] += right
    totals[1] += wrong
    if reason is None and os.WIFSIGNALED(status):
        reason = f"crash by signal {os.WTERMSIG(status)}"
    elif reason is None and status:
        reason = f"exit {os.WEXITSTATUS(status)}"
    if reason is not None and at is not None:
        faults.append(Fault(reason, reason, str(folder / f"wrong_{at}.py"), reason))
        done.add(at)
    elif reason is not None:
        raise RuntimeError(f"the child ended with {reason} before its first program")
    return [n for n in numbers if n not in done]


def _fault_of(folder, number, kind, signature):
    log = folder / f"fault_{number}.txt"
    shown = log.read_text(errors="replace") if log.exists() else ""
    return Fault(kind, signature, str(folder / f"wrong_{number}.py"), shown)


def main(arguments=None):
    """The command line: prints each kind of fault once, with its count and an example."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wrong", type=int, default=300, metavar="N", help="how many programs")
    parser.add_argument("--seed", default=None)
    parser.add_argument("--out", default=None, help="folder for programs with faults")
    options = parser.parse_args(arguments)
    seed = options.seed if options.seed is not None else str(random.SystemRandom().getrandbits(32))
    print(f"seed {seed}", flush=True)
    begin = time.monotonic()
    faults, right, wrong = run(options.wrong, seed, options.out)
    kinds = {}
    for fault in faults:
        kinds.setdefault((fault.kind, fault.signature), []).append(fault)
    for (kind, signature), found in sorted(kinds.items(), key=lambda k: -len(k[1])):
        print(f"{len(found):5} {kind}: {signature}   {found[0].program}")
    print(f"{options.wrong} programs in {time.monotonic() - begin:.0f} s: {right} accepted, "
          f"{wrong} refused, {len(faults)} faults of {len(kinds)} kinds")  # fmt: skip
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
