"""Expressions of any type from what a scope offers."""

from . import kinds as T
from .nodes import Node, is_place

_XYZW, _RGBA = "xyzw", "rgba"
COMPARES = ("<", "<=", "==", "!=", ">", ">=")
_INT_BINARY = ("+", "-", "*", "//", "%", "&", "|", "^", "+", "-", "^")
_INT_FN2 = ("lc.min", "lc.max", "lc.div", "lc.rem", "lc.mul_hi", "min", "max")
_INT_FN1 = ("abs", "lc.abs", "lc.sign", "lc.popcount", "lc.clz", "lc.ctz", "lc.reverse_bits")
_FLOAT_BINARY = ("+", "-", "*", "/", "+", "-", "*")
_FLOAT_FN1 = ("lc.abs", "lc.sign", "lc.floor", "lc.ceil", "lc.round", "lc.trunc", "lc.fract",
              "lc.sqrt", "lc.saturate", "abs")  # fmt: skip
_FLOAT_FN2 = ("lc.min", "lc.max", "lc.copysign", "lc.step", "min", "max")


class Variable:
    """What a scope offers under a name: a local, a parameter, or a cell of a buffer."""

    __slots__ = ("name", "type", "mutable", "local", "uniform")

    def __init__(self, name, type_, mutable=True, local=True, uniform=False):
        self.name, self.type, self.mutable, self.local = name, type_, mutable, local
        self.uniform = uniform

    def node(self):
        return Node("var", self.type, (), self.name)


_reach = {}


def reach(whole, part):
    """The ways from a value of one type to a part of another: tuples of (step, type, detail)."""
    key = (whole, part)
    if key not in _reach:
        _reach[key] = _find_ways(whole, part)
    return _reach[key]


def _find_ways(whole, part):
    if whole is part:
        return [()]
    ways = []
    if whole.kind == "struct":
        for name, t in whole.fields:
            ways += [(("field", t, name), *rest) for rest in reach(t, part)]
    elif whole.kind in ("array", "matrix"):
        ways += [(("elem", whole.element, None), *rest) for rest in reach(whole.element, part)]
        if whole.kind == "matrix" and part is whole.scalar:
            ways.append((("melem", part, None),))
    elif whole.kind == "vector" and part.is_lanes and part.scalar is whole.scalar:
        ways.append((("swiz", part, None),))
        if part.kind == "scalar":
            ways.append((("elem", part, None),))
    return ways[:12]


class Expressions:
    """Needs `c`, `scope` (variables), `batch` (types, captures), `callables`, `statics`."""

    def literal(self, t, weak=False):
        b = self.batch
        value = T.some_scalar(self.c, t, denormals=b.denormals)
        if weak and t.is_float and self.c.one_in(3):
            value = self.c.between(-9, 99)
        return Node("lit", t, (), (value, weak))

    def constant(self, t):
        if t.kind == "scalar":
            return self.literal(t)
        if t.kind == "matrix" and self.c.one_in(6):
            return Node("make", t, (), "identity")
        if self.c.one_in(8):
            return Node("make", t)  # T(): zero
        return Node("make", t, [self.constant(k) for k in t.children()])

    # ---- leaves ---------------------------------------------------------------------------------
    def along(self, node, way, depth, distinct=False):
        """The part of `node` that a way leads to, with indices made up."""
        c = self.c
        for step, t, name in way:
            if step == "field":
                node = Node("field", t, [node], name)
            elif step == "elem":
                node = Node("elem", t, [node, self.index(node.type.count, depth)], c.below(3))
            elif step == "melem":
                n = node.type.count
                node = Node("melem", t, [node, self.index(n, depth), self.index(n, depth)])
            else:
                node = self.swizzle(node, t, distinct)
        return node

    def swizzle(self, node, t, distinct=False):
        names = (_RGBA if self.c.one_in(6) else _XYZW)[: node.type.lanes]
        if distinct:
            lanes = self.c.some(names, t.lanes)
        else:
            lanes = [self.c.pick(names) for _ in range(t.lanes)]
        return Node("swiz", t, [node], "".join(lanes))

    def index(self, n, depth):
        if depth <= 0 or self.c.percent(40):
            return Node("lit", T.INT32, (), (self.c.below(n), True))
        return self.gen(self.c.pick((T.INT32, T.UINT32, T.INT32, T.UINT8, T.INT64)), depth - 1)

    def from_scope(self, t, depth, want=lambda v: True, distinct=False):
        """A variable's part of type `t`, or None."""
        found = []
        for v in self.scope:
            if want(v):
                ways = reach(v.type, t)
                if ways and (not distinct or all(self._assignable(v, w) for w in ways)):
                    found.append((v, ways))
        if not found:
            return None
        v, ways = self.c.pick(found[-12:])
        return self.along(v.node(), self.c.pick(ways), depth, distinct)

    @staticmethod
    def _assignable(v, way):
        """Lanes of a smaller vector can be named apart only where there are enough of them."""
        t = v.type
        for step, part, _ in way:
            if step == "swiz" and part.lanes > t.lanes:
                return False
            t = part
        return True

    def place(self, t, depth=1, want=lambda v: True):
        """A place of type `t` that may be assigned, or None."""
        node = self.from_scope(t, depth, lambda v: v.mutable and want(v), distinct=True)
        return node if node is not None and is_place(node) else None

    def leaf(self, t, depth):
        c = self.c
        pick = c.below(20)
        if pick < 14:
            node = self.from_scope(t, depth)
            if node is not None:
                return node
        if pick < 16 and depth > -2:
            node = self.buffer_read(t, depth)
            if node is not None:
                return node
        if pick == 16 and depth > -2:
            node = self.capture(t, depth)
            if node is not None:
                return node
        if pick == 17 and t.is_integer and self.statics:
            return Node("stat", t, (), c.pick(self.statics))
        if pick < 14 and t.is_lanes and c.percent(75):
            node = self.converted(t, depth)
            if node is not None:
                return node
        return self.constant(t)

    def converted(self, t, depth):
        """A cast of what the scope has with as many lanes."""
        found = [v for v in self.scope if v.type.is_lanes and v.type.lanes == t.lanes]
        if found:
            return Node("cast", t, [self.c.pick(found[-8:]).node()])
        if t.lanes == 1:
            return None
        found = [v for v in self.scope if v.type is t.scalar]
        return Node("make", t, [self.c.pick(found[-8:]).node()]) if found else None

    def buffer_read(self, t, depth):
        found = [(b, reach(e, t)) for b, e in self.buffers if reach(e, t)]
        if not found:
            return None
        (name, ways), element = (c := self.c).pick(found), None
        element = dict(self.buffers)[name]
        if t is T.UINT32 and c.one_in(6):
            return Node("len", t, (), name)
        at = self.gen(c.pick((T.INT32, T.UINT32, T.UINT64, T.INT16)), depth - 1)
        return self.along(Node("read", element, [at], name), c.pick(ways), depth - 1)

    def buffers_of(self, element):
        return [name for name, t in self.buffers if t is element]

    def capture(self, t, depth):
        found = [(n, k, reach(k, t)) for n, k in self.batch.captures if reach(k, t)]
        if not found:
            return None
        name, kind, ways = self.c.pick(found)
        return self.along(Node("cap", kind, (), name), self.c.pick(ways), depth)

    # ---- anything -------------------------------------------------------------------------------
    def gen(self, t, depth):
        c = self.c
        if depth <= 0 or c.percent(18):
            return self.leaf(t, depth)
        pick = c.below(24)
        if pick == 0:
            return Node("ifexp", t, [self.gen(T.BOOL, depth - 1), self.gen(t, depth - 1),
                                     self.gen(t, depth - 1)])  # fmt: skip
        if pick == 1:
            return self.select(t, depth)
        if pick in (2, 3):
            node = self.user_call(t, depth)
            if node is not None:
                return node
        if pick == 4 and c.one_in(4) and not self.in_lambda:
            return self.twice(t, depth)
        return getattr(self, "_" + t.kind)(t, depth)

    def select(self, t, depth):
        condition = T.BOOL
        if t.kind == "vector" and self.c.percent(70):
            condition = T.vector(T.BOOL, t.lanes)
        kids = [self.gen(condition, depth - 1), self.gen(t, depth - 1), self.gen(t, depth - 1)]
        return Node("fn", t, kids, "lc.select")

    def twice(self, t, depth):
        """A lambda given to a callable: it sees the variables around it."""
        name = self.names.new("z")
        self.in_lambda = True  # apply_twice within it would be recursion
        argument = self.gen(t, depth - 1)
        self.scope.append(Variable(name, t, mutable=False))
        body = self.gen(t, depth - 1)
        self.scope.pop()
        self.in_lambda = False
        return Node("twice", t, [body, argument], name)

    def user_call(self, t, depth):
        found = [f for f in self.callables if f.pure and f.result is t and self.can_call(f)]
        if not found or self.calls_left <= 0:
            return None
        self.calls_left -= 1
        return self.call_of(self.c.pick(found), depth)

    def can_call(self, f):
        return all(self.buffers_of(p.type) for p in f.params if p.buffer)

    def call_of(self, f, depth, references=()):
        """A call; `references` are the places for its Ref parameters, in order."""
        references = list(references)
        kids = []
        for p in f.params:
            if p.buffer:
                kids.append(Node("buf", p.type, (), self.c.pick(self.buffers_of(p.type))))
            else:
                kids.append(references.pop(0) if p.ref else self.gen(p.type, depth - 1))
        keyword = None
        left = len(f.params)
        while left and f.params[left - 1].default is not None and self.c.one_in(2):
            left -= 1
            kids.pop()
        last = f.params[len(kids) - 1] if kids else None
        if kids and not last.ref and not last.buffer and self.c.one_in(5):
            keyword = last.name
        return Node("call", f.result, kids, (f.name, keyword))

    # ---- by kind --------------------------------------------------------------------------------
    def _scalar(self, t, depth):
        return getattr(self, "_" + ("int" if t.is_integer else t.group))(t, depth)

    def _vector(self, t, depth):
        c = self.c
        pick = c.below(10)
        if pick < 2:
            return self.make_vector(t, depth)
        if pick == 2:
            wide = T.vector(t.scalar, c.between(2, 4))
            return self.swizzle(self.gen(wide, depth - 1), t)
        return self._scalar(t, depth)

    def make_vector(self, t, depth):
        c = self.c
        if c.one_in(4):
            return Node("make", t, [self.gen(t.scalar, depth - 1)])
        if c.one_in(6) and t.lanes < 4:  # truncation
            return Node("make", t, [self.gen(T.vector(t.scalar, 4), depth - 1)])
        kids, left = [], t.lanes
        while left:
            n = c.between(1, left)
            n = min(n, t.lanes - 1)
            kids.append(self.gen(T.vector(t.scalar, n), depth - 1))
            left -= n
        return Node("make", t, kids)

    def pair(self, t, depth, mixed=True):
        """Operands of an operator that gives `t`: one may be a weak literal, a scalar beside a
        vector, or of a type that widens."""
        c = self.c
        kids = [self.gen(t, depth - 1), None]
        pick = c.below(10)
        if pick < 3:
            kids[1] = self.literal(t.scalar, weak=True)
        elif pick == 3 and t.kind == "vector":
            kids[1] = self.gen(t.scalar, depth - 1)
        elif pick == 4 and mixed and t.kind != "matrix":
            kids[1] = self.gen(T.with_scalar(t, self.narrower(t.scalar)), depth - 1)
        else:
            kids[1] = self.gen(t, depth - 1)
        if c.one_in(3):
            kids.reverse()
        return kids

    def narrower(self, s):
        return self.c.pick([k for k in self.batch.scalars if T.joined(s, k) is s] or [s])

    def _int(self, t, depth):
        c = self.c
        pick = c.below(20)
        if pick < 8:
            op = c.pick(_INT_BINARY)
            return Node("bin", t, self.pair(t, depth), op)
        if pick == 8:
            amount = c.pick(self.batch.integers)
            if c.one_in(3):
                n = self.literal(T.INT32, weak=True)
            else:
                n = self.gen(T.with_scalar(t, amount) if c.one_in(2) else amount, depth - 1)
            if c.one_in(4):
                name = c.pick(("lc.rotate_left", "lc.rotate_right"))
                return Node("fn", t, [self.gen(t, depth - 1), n], name)
            return Node("bin", t, [self.gen(t, depth - 1), n], c.pick(("<<", ">>")))
        if pick < 11:
            return Node("fn", t, self.pair(t, depth), c.pick(_INT_FN2))
        if pick == 11:
            return Node("fn", t, [self.gen(t, depth - 1)], c.pick(_INT_FN1))
        if pick == 12:
            kids = [self.gen(t, depth - 1) for _ in range(3)]
            return Node("fn", t, kids, "lc.clamp")
        if pick == 13:
            if c.one_in(3):
                exponent = Node("lit", t.scalar, (), (c.below(9), True))
            else:
                exponent = self.gen(t, depth - 1)
            return Node("bin", t, [self.gen(t, depth - 1), exponent], "**")
        if pick == 14:
            return Node("unary", t, [self.gen(t, depth - 1)], c.pick("-~"))
        if pick == 15:
            return self.lanes_to_one(t, depth)
        if pick == 16:
            return self.bitcast(t, depth)
        return self.cast(t, depth)

    def lanes_to_one(self, t, depth):
        c = self.c
        if t.kind == "vector":
            return self.cast(t, depth)
        v = T.vector(t, c.between(2, 4))
        if t.is_float and c.one_in(2):
            pair = [self.gen(v, depth - 1), self.gen(v, depth - 1)]
            if c.one_in(3):
                return Node("bin", t, pair, "@")
            if c.one_in(3):
                return Node("fn", t, pair[:1], "lc.length_squared")
            return Node("fn", t, pair, "lc.dot")
        name = c.pick(("lc.sum", "lc.product", "lc.reduce_min", "lc.reduce_max"))
        return Node("fn", t, [self.gen(v, depth - 1)], name)

    def cast(self, t, depth):
        source = T.with_scalar(t, self.c.pick(self.batch.scalars))
        return Node("cast", t, [self.gen(source, depth - 1)])

    def bitcast(self, t, depth):
        """From lanes of the same size in all; vectors of 3 only to vectors of 3."""
        c = self.c
        size = t.bits * t.lanes
        found = []
        for s in self.batch.scalars:
            lanes = size // s.bits
            if s is not T.BOOL and s is not t.scalar and lanes * s.bits == size and 0 < lanes <= 4:
                found.append(T.vector(s, lanes))
        if not found:
            return self.cast(t, depth)
        source = c.pick(found)
        # Bits become floats that may be anything only from lanes of the same width.
        if t.is_float and (source.is_float or source.bits != t.bits):
            return self.cast(t, depth)
        return Node("bits", t, [self.gen(source, depth - 1)], "any" if self.batch.denormals else "")

    def _float(self, t, depth):
        c = self.c
        pick = c.below(20)
        if pick < 7:
            return Node("bin", t, self.pair(t, depth), c.pick(_FLOAT_BINARY))
        if pick < 9:
            return Node("fn", t, [self.gen(t, depth - 1)], c.pick(_FLOAT_FN1))
        if pick < 11:
            return Node("fn", t, self.pair(t, depth, mixed=False), c.pick(_FLOAT_FN2))
        if pick < 13:
            name = c.pick(("lc.fma", "lc.clamp", "lc.lerp"))
            return Node("fn", t, [self.gen(t, depth - 1) for _ in range(3)], name)
        if pick == 13:
            return Node("unary", t, [self.gen(t, depth - 1)], "-")
        if pick == 14:
            return self.lanes_to_one(t, depth)
        if pick == 15:
            return self.bitcast(t, depth)
        if pick == 16 and t.bits > 16:
            fits = [s for s in self.batch.integers if (s.bits == 64) == (t.bits == 64)]
            if fits:
                source = T.with_scalar(t, c.pick(fits))
                return Node("bin", t, [self.gen(source, depth - 1) for _ in range(2)], "/")
        if pick == 17 and t.kind == "vector":
            return self.linear(t, depth)
        return self.cast(t, depth)

    def linear(self, t, depth):
        m = T.matrix(t.scalar, t.lanes)
        if t.lanes == 3 and self.c.one_in(2):
            return Node("fn", t, [self.gen(t, depth - 1), self.gen(t, depth - 1)], "lc.cross")
        kids = [self.gen(m, depth - 1), self.gen(t, depth - 1)]
        if self.c.one_in(3):
            kids.reverse()
        return Node("bin", t, kids, "@")

    def _bool(self, t, depth):
        c = self.c
        pick = c.below(16)
        if pick < 7:
            return self.compare(t, depth)
        if pick < 10 and t is T.BOOL:
            kids = [self.gen(t, depth - 1) for _ in range(c.between(2, 3))]
            return Node("logic", t, kids, c.pick(("and", "or")))
        if pick == 10:
            if t is T.BOOL:
                return Node("unary", t, [self.gen(t, depth - 1)], "not ")
            return Node("unary", t, [self.gen(t, depth - 1)], "~")
        if pick == 11:
            kids = [self.gen(t, depth - 1), self.gen(t, depth - 1)]
            return Node("bin", t, kids, c.pick("&|^"))
        if pick == 12 and self.batch.floats:
            source = T.with_scalar(t, c.pick(self.batch.floats))
            name = c.pick(("lc.isnan", "lc.isinf"))
            return Node("fn", t, [self.gen(source, depth - 1)], name)
        if pick == 13 and t is T.BOOL:
            v = T.vector(T.BOOL, c.between(2, 4))
            return Node("fn", t, [self.gen(v, depth - 1)], c.pick(("lc.all", "lc.any")))
        return self.cast(t, depth)

    def compare(self, t, depth):
        c = self.c
        s = c.pick(self.batch.numbers)
        side = T.with_scalar(t, s)
        left = self.gen(side, depth - 1)
        if c.one_in(10):
            right = self.literal(s, weak=True)
        elif s.is_integer and c.one_in(4):  # by value, whatever the signs
            right = self.gen(T.with_scalar(t, c.pick(self.batch.integers)), depth - 1)
        else:
            right = self.gen(side, depth - 1)
        if t is T.BOOL and c.one_in(5):
            middle = self.middle(s)
            if middle is not None:
                ops = (c.pick(COMPARES), c.pick(COMPARES))
                return Node("cmp", t, [left, middle, self.gen(side, depth - 1)], ops)
        return Node("cmp", t, [left, right], (c.pick(COMPARES),))

    def middle(self, s):
        """A plain name: other middles of a chain are evaluated before the statement."""
        found = [v for v in self.scope if v.type is s and v.local]
        return self.c.pick(found).node() if found else None

    def _matrix(self, t, depth):
        c = self.c
        pick = c.below(9)
        if pick < 2:
            columns = [self.gen(t.element, depth - 1) for _ in range(t.count)]
            return Node("make", t, columns, "from_rows" if c.one_in(2) else None)
        if pick < 4:
            return Node("bin", t, [self.gen(t, depth - 1), self.gen(t, depth - 1)], c.pick("+-*@"))
        if pick == 4:
            kids = [self.gen(t, depth - 1), self.gen(t.scalar, depth - 1)]
            if c.one_in(2):
                return Node("bin", t, kids, "/")
            return Node("bin", t, kids if c.one_in(2) else kids[::-1], "*")
        if pick == 5:
            return Node("fn", t, [self.gen(t, depth - 1)], "lc.transpose")
        if pick == 6:
            return Node("fn", t, [self.gen(t.element, depth - 1) for _ in range(2)], "lc.outer")
        if pick == 7:
            return Node("unary", t, [self.gen(t, depth - 1)], "-")
        return self.cast_matrix(t, depth)

    def cast_matrix(self, t, depth):
        other = T.matrix(self.c.pick(self.batch.floats), t.lanes)
        if other is t:
            return self.leaf(t, depth)
        return Node("cast", t, [self.gen(other, depth - 1)])

    def _array(self, t, depth):
        return Node("make", t, [self.gen(t.element, depth - 1) for _ in range(t.count)])

    def _struct(self, t, depth):
        c = self.c
        kids = [self.gen(k, depth - 1) for k in t.children()]
        if c.one_in(4):
            return Node(
                "make", t, kids[: c.between(1, len(kids))], "named" if c.one_in(2) else None
            )
        return Node("make", t, kids)
