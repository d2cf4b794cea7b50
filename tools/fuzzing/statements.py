"""Statements and the bodies of functions."""

from . import kinds as T
from .expressions import Expressions, Variable
from .nodes import Node, Parameter, Signature, root

_AUG_INT = ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>")
_AUG_FLOAT = ("+", "-", "*", "/")
_ATOMIC_INT = ("lc.atomic_add", "lc.atomic_sub", "lc.atomic_and", "lc.atomic_or",
               "lc.atomic_xor", "lc.atomic_min", "lc.atomic_max", "lc.atomic_exchange")  # fmt: skip
# Of floats: min and max confuse zeros on some devices, and comparing is by value or by bits.
_ATOMIC_FLOAT = ("lc.atomic_add", "lc.atomic_exchange")
COST_LIMIT = 48  # turns of the innermost loop


class Names:
    """Names of a program, each once."""

    def __init__(self, prefix):
        self.prefix, self.count = prefix, 0

    def new(self, letter="v"):
        self.count += 1
        return f"{letter}{self.prefix}_{self.count}"


class Writer(Expressions):
    """Writes one function. `results`: types that every return gives."""

    def __init__(self, chance, batch, names, callables, results=()):
        self.c, self.batch, self.names = chance, batch, names
        self.callables, self.results = list(callables), results
        self.scope, self.buffers, self.statics = [], [], []
        self.cells = []  # Variables in buffers that this thread alone uses
        self.totals = []  # (place as text, type): all threads meet here, by atomics alone
        self.shared = None  # (name, count, element type)
        self.warp = self.in_lambda = False
        self.calls_left = 6
        self.loops = []  # whether break and continue may be written, innermost last
        self.cost = 1
        self.may_return = True
        self.uniform = True

    # ---- blocks -----------------------------------------------------------------------------
    def block(self, depth, size, extra=()):
        """A nested block. `extra` variables are visible in it alone."""
        before, uniform = len(self.scope), self.uniform
        self.scope.extend(extra)
        kids = [self.statement(depth) for _ in range(self.c.between(1, size))]
        end = self.jump(depth)
        if end is not None:
            kids.append(end)
            if self.c.one_in(8):
                kids.append(self.statement(0))  # never reached
        del self.scope[before:]
        self.uniform = uniform
        return Node("block", None, kids)

    def apart(self, depth, size, extra=()):
        """A block that not all threads may enter."""
        uniform, self.uniform = self.uniform, False
        made = self.block(depth, size, extra)
        self.uniform = uniform
        return made

    def jump(self, depth):
        c = self.c
        if self.loops and self.loops[-1] and c.percent(30):
            return Node(c.pick(("break", "continue")), None)
        if self.may_return and c.percent(6):
            return self.finish(1)
        return None

    def finish(self, depth):
        return Node("return", None, [self.gen(t, depth) for t in self.results])

    def deep(self):
        return self.c.weighted(((3, 1), (3, 2), (2, 3)))

    # ---- statements -------------------------------------------------------------------------
    def statement(self, depth):
        for _ in range(8):
            name = self.c.weighted(self._CHOICES)
            made = getattr(self, name)(depth)
            if made is not None:
                return made
        return self.s_declare(depth)

    def s_declare(self, depth):
        t = self.batch.some_type(self.c)
        value = self.gen(t, self.deep())
        v = Variable(self.names.new(), t)
        self.scope.append(v)
        return Node("assign", None, [v.node(), value])

    def target(self, t=None):
        """A place to assign, of the type if given."""
        c = self.c
        for _ in range(6):
            kind = t
            if kind is None:
                v = c.pick(self.scope) if self.scope else None
                if v is None or not v.mutable:
                    continue
                kind = self.part_of(v.type)
            place = self.place(kind)
            if place is not None:
                return place
        return None

    def part_of(self, t):
        """The type of some part of a value."""
        c = self.c
        while t.kind != "scalar" and c.percent(60):
            if t.kind == "vector" and c.one_in(2):
                return T.vector(t.scalar, c.between(1, t.lanes))
            t = c.pick(t.children())
        return t

    def s_assign(self, depth):
        place = self.target()
        if place is None:
            return None
        return Node("assign", None, [place, self.gen(place.type, self.deep())])

    def s_aug(self, depth):
        c = self.c
        place = self.target()
        if place is None or place.type.group in (None, "bool"):
            return None
        t = place.type
        if t.is_integer:
            op = c.pick(_AUG_INT)
        elif t.kind == "matrix":
            op = c.pick("+-*@")
        else:
            op = c.pick(_AUG_FLOAT)
        if op in ("<<", ">>"):
            value = self.gen(c.pick(self.batch.integers), 2)
        elif t.kind != "matrix" and c.one_in(3):
            value = self.literal(t.scalar, weak=True)
        elif t.kind == "vector" and c.one_in(3):
            value = self.gen(t.scalar, 2)
        else:
            value = self.gen(t, 2)
        return Node("aug", None, [place, value], op)

    def s_tuple(self, depth):
        first = self.target()
        if first is None:
            return None
        second = self.target(first.type)
        if second is None:
            return None
        if self.c.one_in(2):
            values = [second.copy(), first.copy()]
        else:
            values = [self.gen(first.type, 2), self.gen(second.type, 2)]
        return Node("tuple", None, [first, second, *values], 2)

    def s_if(self, depth):
        if depth <= 0:
            return None
        c = self.c
        kids = []
        for _ in range(c.weighted(((6, 1), (2, 2), (1, 3)))):
            kids += [self.condition(), self.apart(depth - 1, 2)]
        if c.percent(45):
            kids.append(self.apart(depth - 1, 2))
        return Node("if", None, kids)

    def condition(self):
        """A bool; now and then with a call whose effects happen only if it is reached."""
        c = self.c
        if c.one_in(6):
            found = [f for f in self.callables if not f.pure and f.result is T.BOOL]
            call = self.call_with_places(c.pick(found), 1) if found else None
            if call is not None:
                return Node("logic", T.BOOL, [self.gen(T.BOOL, 2), call], c.pick(("and", "or")))
        return self.gen(T.BOOL, self.deep())

    # ---- loops ------------------------------------------------------------------------------
    def room(self, limit):
        """How often a loop may turn here; 0: no further loop."""
        return min(limit, COST_LIMIT // self.cost)

    def loop_body(self, depth, turns, extra, jumps=True):
        cost, self.cost = self.cost, self.cost * turns
        self.loops.append(jumps)
        made = self.apart(depth, 2, extra) if jumps else self.block(depth, 2, extra)
        self.loops.pop()
        self.cost = cost
        return made

    def loop_else(self, depth):
        return self.apart(depth - 1, 2) if self.c.one_in(5) else None

    def s_for(self, depth):
        turns = self.room(self.c.between(2, 7))
        if depth <= 0 or turns < 2:
            return None
        c = self.c
        t = c.pick(self.batch.integers)
        bounds = self.range_bounds(t, turns)
        old = [v for v in self.scope if v.type is t and v.local and v.mutable]
        extra, name = (), None
        if old and c.one_in(4):
            name = c.pick(old).name
        else:
            name = self.names.new("i")
            extra = (Variable(name, t),)
        body = self.loop_body(depth - 1, turns, extra)
        return Node("for", None, [*bounds, body, self.loop_else(depth)], name)

    def range_bounds(self, t, turns):
        """Arguments of a range that ends; one of them at least has the type `t`."""
        c = self.c
        pick = c.below(8)
        step = c.pick((1, 1, 2, 3))
        lit = lambda value, weak=False: Node("lit", t, (), (value, weak))  # noqa: E731
        if pick == 0:  # at the upper end of the type
            return [lit(t.high - c.below(turns)), lit(t.high), lit(step, True)]
        if pick == 1:  # at the lower end, downwards
            return [lit(t.low + c.below(turns)), lit(t.low), Node("lit", t, (), (-step, True))]
        some = lambda: Node("small", t, [self.gen(t, 2)], turns)  # noqa: E731
        if pick < 4:
            return [some()]
        if pick < 6:
            return [some(), some()] if c.one_in(2) else [lit(c.below(3), True), some()]
        if pick == 6:
            return [some(), some(), lit(step, True)]
        return [some(), lit(c.below(3), True), Node("lit", t, (), (-step, True))]

    def s_while(self, depth):
        turns = self.room(self.c.between(2, 6))
        if depth <= 0 or turns < 2:
            return None
        counter = self.names.new("w")
        condition = self.gen(T.BOOL, 2)
        body = self.loop_body(depth - 1, turns, (Variable(counter, T.INT32, mutable=False),))
        kids = [condition, body, self.loop_else(depth)]
        return Node("while", None, kids, (counter, turns, self.c.below(3)))

    def s_static(self, depth):
        c = self.c
        if depth <= 0 or len(self.statics) > 1 or self.cost > 8:
            return None
        name = self.names.new("k")
        values = c.pick(("range(3)", "range(-1, 2)", "(4, 0)", "range(5, 1, -2)"))
        self.statics.append(name)
        jumps = c.one_in(2)
        body = self.loop_body(depth - 1, 3, (), jumps) if jumps else self.plain(depth - 1)
        self.statics.pop()
        return Node("static", None, [body], (name, values))

    def plain(self, depth):
        """A body of an unrolled loop without jumps: barriers may stand in it."""
        self.loops.append(False)
        may_return, self.may_return = self.may_return, False
        made = self.block(depth, 2)
        self.may_return = may_return
        self.loops.pop()
        return made

    def s_uniform_loop(self, depth):
        """A loop that all threads of a block turn alike, for barriers to stand in."""
        if self.shared is None or not self.uniform or depth <= 0 or self.cost > 2:
            return None
        name = self.names.new("i")
        v = Variable(name, T.INT32, mutable=False)
        bounds = [Node("lit", T.INT32, (), (self.c.between(1, 3), True))]
        body = self.loop_body(depth - 1, 3, (v,), jumps=False)
        body.kids.append(self.s_exchange(depth))
        self.scope.pop()
        return Node("for", None, [*bounds, body, None], name)

    def s_match(self, depth):
        c = self.c
        if depth <= 0:
            return None
        t = c.pick(self.batch.integers)
        subject = self.gen(t, 2)
        if c.percent(70):
            subject = Node("small", t, [subject], 5)
        kids, patterns = [subject], []
        guards = c.one_in(3)
        for _ in range(c.between(1, 4)):
            some = [c.below(6) if c.percent(80) else T.some_scalar(c, t) for _ in range(3)]
            some = list(dict.fromkeys(some))[: c.between(1, 3)]
            patterns.append(tuple(some))
            guard = self.gen(T.BOOL, 2) if guards and c.one_in(2) else None
            kids += [guard, self.apart(depth - 1, 2)]
        if c.percent(60):
            patterns.append(None)
            kids += [None, self.apart(depth - 1, 2)]
        return Node("match", None, kids, tuple(patterns))

    # ---- calls ------------------------------------------------------------------------------
    def call_with_places(self, f, depth):
        """A call of a function with references, its places in different variables; or None."""
        if self.calls_left <= 0 or not self.can_call(f):
            return None
        places, roots = [], set()
        for p in f.params:
            if p.ref:
                place = self.place(p.type, 1, lambda v: v.name not in roots)
                if place is None or place.kind == "swiz" and len(place.data) > 1:
                    return None
                roots.add(root(place).data)
                places.append(place)
        self.calls_left -= 1
        return self.call_of(f, depth + 1, places)

    def s_call(self, depth):
        found = [f for f in self.callables if not f.pure or len(f.results) > 1]
        if not found:
            return None
        f = self.c.pick(found)
        call = self.call_with_places(f, 1)
        if call is None:
            return None
        if not f.results or (f.result and self.c.one_in(4)):
            return Node("expr", None, [call])
        if f.result is not None and self.c.one_in(2):
            return self.within(f.result, call)
        made = [Variable(self.names.new(), t) for t in f.results]
        self.scope.extend(made)
        if f.result is not None:
            return Node("assign", None, [made[0].node(), call])
        return Node("unpack", None, [*(v.node() for v in made), call])

    def within(self, t, call):
        """A call that changes variables among expressions that read them: left before right."""
        c = self.c
        place = self.target(t)
        if place is None:
            return Node("expr", None, [call])
        if t.group in (None, "bool") or t.kind == "matrix" or c.one_in(3):
            return Node("assign", None, [place, call])
        sides = [self.gen(t, 1), call]
        if c.one_in(3):
            sides.reverse()
        value = Node("bin", t, sides, c.pick("+-*"))
        if c.one_in(3):
            return Node("aug", None, [place, value], c.pick("+-"))
        return Node("assign", None, [place, value])

    # ---- memory that others see -------------------------------------------------------------
    def s_atomic(self, depth):
        """On a cell of this thread the old value is certain; on a total it is not looked at."""
        c = self.c
        if self.totals and c.one_in(2):
            place, t = c.pick(self.totals)
            function = self.total_function(place, t)
            value = self.gen(t, 2)
            if t.is_float:  # no -0
                value = Node("bin", t, [value, Node("lit", t, (), (0.0, True))], "+")
            return Node("atomic", None, [value], (function, place, None))
        found = [v for v in self.cells if v.type.kind == "scalar" and v.type.bits >= 32
                 and v.type.group != "bool"]  # fmt: skip
        if not found:
            return None
        cell = c.pick(found)
        if c.one_in(6) and not cell.type.is_float:
            function, kids = "lc.atomic_compare_exchange", 2
        else:
            function, kids = c.pick(_ATOMIC_FLOAT if cell.type.is_float else _ATOMIC_INT), 1
        args = [self.gen(cell.type, 2) for _ in range(kids)]
        target = self.names.new() if c.one_in(2) else None
        if target is not None:
            self.scope.append(Variable(target, cell.type))
        return Node("atomic", None, args, (function, cell.name, target))

    def total_function(self, place, t):
        """One operation a total: different ones do not commute."""
        group = sum(map(ord, place)) % 6
        if t.is_float:
            return ("lc.atomic_min", "lc.atomic_max")[group % 2]
        if group == 0:
            return self.c.pick(("lc.atomic_add", "lc.atomic_sub"))
        return ("", "lc.atomic_and", "lc.atomic_or", "lc.atomic_xor", "lc.atomic_min",
                "lc.atomic_max")[group]  # fmt: skip

    def s_exchange(self, depth):
        if self.shared is None or not self.uniform:
            return None
        name, count, t = self.shared
        at = self.gen(T.UINT32, 2)
        v = Variable(self.names.new(), t)
        self.scope.append(v)
        return Node("exchange", None, [at], (name, count, v.name, ""))

    def s_warp(self, depth):
        if not self.warp or not (self.uniform or self.batch.parted):
            return None
        c = self.c
        t = c.pick(self.batch.numbers)
        if c.one_in(3):
            t = T.vector(t, c.between(2, 4))
        names = ["sum", "product", "min", "max", "prefix_sum", "prefix_product", "read_first"]
        if t.is_integer:
            names += ["and", "or", "xor"]
        name, result = c.pick([*names, "read_lane", "count", "prefix_count", "all", "any"]), t
        if name in ("count", "prefix_count", "all", "any"):
            t, result = T.BOOL, T.UINT32 if name.endswith("count") else T.BOOL
        kids = [self.gen(t, 2)]
        if name == "read_lane":
            kids.append(self.gen(T.UINT32, 2))
        v = Variable(self.names.new(), result)
        self.scope.append(v)
        return Node("warp", None, kids, (f"lc.warp_{name}", v.name))

    def s_assert(self, depth):
        """One that holds."""
        c = self.c
        if self.batch.bounds != "trap":
            return None
        value = Node("small", T.INT32, [self.gen(T.INT32, 2)], 5)
        return Node("assert", None, [value], 5 + c.below(3))

    def s_staticif(self, depth):
        if depth <= 0:
            return None
        flag = self.c.pick(("True", "False", "COUNT > 3"))
        if self.statics:
            flag = f"{self.c.pick(self.statics)} > 1"
        kids = [self.arm(depth - 1), self.arm(depth - 1)]
        return Node("staticif", None, kids, flag)

    def arm(self, depth):
        """One side of a choice made while compiling: it may leave nothing behind."""
        return self.block(depth, 2)

    _CHOICES = (
        (18, "s_declare"),
        (24, "s_assign"),
        (14, "s_aug"),
        (4, "s_tuple"),
        (12, "s_if"),
        (7, "s_for"),
        (5, "s_while"),
        (5, "s_match"),
        (9, "s_call"),
        (2, "s_static"),
        (3, "s_atomic"),
        (5, "s_exchange"),
        (9, "s_warp"),
        (2, "s_staticif"),
        (4, "s_assert"),
        (2, "s_uniform_loop"),
    )


def _let_assign(c, w, f, outer):
    """A nested function that assigns variables around it: called in statements alone."""
    found = [v for v in outer.scope if v.local and v.mutable]
    f.outer = tuple(v.name for v in c.some(found, c.between(1, 2)))
    for v in w.scope:
        v.mutable = v.mutable or v.name in f.outer


# ---- callables ----------------------------------------------------------------------------------
def write_callable(chance, batch, names, callables, outer=None):
    """A "function" node. `outer`: the Writer of the function that it is nested in."""
    c = chance
    params = []
    for _ in range(c.between(1, 4)):
        t = batch.some_type(c)
        ref = outer is None and c.percent(30)
        params.append(Parameter(names.new("a"), t, ref=ref))
    if c.one_in(6):
        params.append(Parameter(names.new("b"), c.pick(batch.palette), buffer=True))
    if not any(p.ref for p in params) and c.one_in(5):  # defaults stand last
        t = c.pick(batch.scalars)
        value = T.some_scalar(c, t, finite=True)
        weak = outer is not None or c.one_in(2)
        params.append(Parameter(names.new("a"), t, default=Node("lit", t, (), (value, weak))))
    impure = any(p.ref for p in params)
    if impure and c.percent(35):
        results = ()
    elif c.one_in(6):
        results = tuple(batch.some_type(c) for _ in range(2))
    elif impure and c.one_in(3):
        results = (T.BOOL,)
    else:
        results = (batch.some_type(c),)
    # A default is a host value, and a generic parameter takes its type from the argument.
    generic = c.percent(30) and all(p.default is None for p in params)
    f = Signature(
        names.new("f" if outer is None else "g"),
        params,
        results,
        generic,
        c.percent(80),
        c.one_in(3),
    )
    w = Writer(c, batch, names, callables, results)
    w.calls_left = 2
    w.cost = 6
    for p in params:
        if p.buffer:
            w.buffers.append((p.name, p.type))
        else:
            w.scope.append(Variable(p.name, p.type))
    if outer is not None:
        w.buffers += outer.buffers
        w.scope[:0] = [Variable(v.name, v.type, mutable=False) for v in outer.scope if v.local]
        f.decorated = False
        if c.one_in(3):
            _let_assign(c, w, f, outer)
    kids = [w.statement(c.between(1, 2)) for _ in range(c.between(1, 4))]
    if results:
        kids.append(w.finish(2))
    return Node("function", None, [Node("block", None, kids)], f)
