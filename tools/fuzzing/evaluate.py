"""Runs a program's tree in Python, one thread at a time, by the operations of meaning.py."""

import numpy as np

from . import kinds as T
from . import meaning as M
from .nodes import _EXPONENT_BIT, COUNT, Node

STEPS = 30000  # nodes looked at before a program is left alone


class Evaluator:
    """`thread_result(thread)`: [(type, value)] of the results, then of the cells."""

    def __init__(self, batch, program, watch=False):
        self.batch, self.program = batch, program
        self.inputs = {
            name: (t, [M.from_python(t, v) for v in values])
            for name, (t, values) in batch.inputs.items()
        }
        self.captures = {
            name: M.from_python(t, batch.capture_values[name]) for name, t in batch.captures
        }
        self.functions = {f.data.name: f for f in program.tree.kids}
        self.watch, self.denormal = watch, False
        self.statics = {}

    def thread_result(self, thread):
        self.steps, self.denormal = STEPS, False
        p = self.program
        if p.collective:
            raise M.Beyond("barriers")
        env = {"t": thread, "q": self.batch.cell_at(thread, p.number)}
        for i in p.inputs:
            env[i.name] = M.from_python(i.type, i.value(self.batch, thread))
        for name in self.inputs:
            env[name] = name
        cells = {}
        for name, t in self.batch.outputs.items():
            for n in (2, 3):
                cells[f"{name}[q + {n}]"] = (name, n, t)
                env[f"{name}[q + {n}]"] = M.from_python(t, T.zero(t))
        self.body = env
        with np.errstate(all="ignore"):
            done = self.block(p.body.kids[0], env)
        values = [(f"o_{t.key}", cell, t, v) for (t, cell), v in zip(p.results, done[1])]
        return values + [(*place, env[key]) for key, place in cells.items()]

    # ---- statements -------------------------------------------------------------------------
    def block(self, node, env):
        for s in node.kids:
            done = getattr(self, "s_" + s.kind)(s, env)
            if done is not None:
                return done
        return None

    def s_function(self, s, env):
        self.functions[s.data.name] = s

    def s_assign(self, s, env):
        self.put(s.kids[0], self.ev(s.kids[1], env), env)

    def s_aug(self, s, env):
        place, value = self.frozen(s.kids[0], env), s.kids[1]
        node = _Binary(s.data, place.type, place, value)
        self.put(place, self.seen(place.type, self.binary(node, env)), env)

    def s_tuple(self, s, env):
        values = [self.ev(k, env) for k in s.kids[s.data :]]
        for place, value in zip(s.kids, values):
            self.put(place, value, env)

    def s_unpack(self, s, env):
        values = self.call(s.kids[-1], env)
        for place, value in zip(s.kids, values):
            self.put(place, value, env)

    def s_expr(self, s, env):
        self.call(s.kids[0], env)

    def s_if(self, s, env):
        for i in range(0, len(s.kids) - 1, 2):
            if self.ev(s.kids[i], env):
                return self.block(s.kids[i + 1], env)
        if len(s.kids) % 2 and s.kids[-1] is not None:
            return self.block(s.kids[-1], env)
        return None

    def turns(self, values, assign, body, other, env):
        for value in values:
            assign(value)
            self.step()
            done = self.block(body, env)
            if done == "break":
                return None
            if done is not None and done != "continue":
                return done
        return self.block(other, env) if other is not None else None

    def s_for(self, s, env):
        *bounds, body, other = s.kids
        values = range(*[self.ev(b, env) for b in bounds])

        def assign(value):
            env[s.data] = value

        return self.turns(values, assign, body, other, env)

    def s_static(self, s, env):
        name, values = s.data

        def assign(value):
            self.statics[name] = value

        return self.turns(eval(values), assign, s.kids[0], None, env)

    def s_staticif(self, s, env):
        return self.block(s.kids[0 if eval(s.data, {"COUNT": 4, **self.statics}) else 1], env)

    def s_while(self, s, env):
        counter, limit, way = s.data
        condition, body, other = s.kids
        env[counter] = 0

        def goes_on():
            """None: ends by its condition. False: by a break."""
            if way == 2:
                env[counter] += 1
                return not (env[counter] > limit or self.ev(condition, env))
            if way == 0:
                going = env[counter] < limit and self.ev(condition, env)
            else:
                if not self.ev(condition, env):
                    return None
                going = env[counter] < limit
                if not going:
                    return False
            if not going:
                return None
            env[counter] += 1
            return True

        while going := goes_on():
            self.step()
            done = self.block(body, env)
            if done == "break":
                return None
            if done is not None and done != "continue":
                return done
        if going is None and other is not None:
            return self.block(other, env)
        return None

    def s_match(self, s, env):
        subject = self.ev(s.kids[0], env)
        for i, pattern in enumerate(s.data):
            guard, body = s.kids[1 + 2 * i], s.kids[2 + 2 * i]
            if pattern is None or subject in pattern:
                if guard is None or self.ev(guard, env):
                    return self.block(body, env)
        return None

    def s_assert(self, s, env):
        assert self.ev(s.kids[0], env) < s.data

    def s_break(self, s, env):
        return "break"

    def s_continue(self, s, env):
        return "continue"

    def s_return(self, s, env):
        return ("return", [self.ev(k, env) for k in s.kids])

    def s_atomic(self, s, env):
        function, place, target = s.data
        args = [self.ev(k, env) for k in s.kids]
        if place not in env:
            return  # a total
        t, old, v = s.kids[0].type, env[place], args[-1]
        name = function[len("lc.atomic_") :]
        if name == "exchange":
            new = v
        elif name == "compare_exchange":
            same = M.bits_of(t, old) == M.bits_of(t, args[0]) if t.is_float else old == args[0]
            new = v if same else old
        elif name in ("min", "max"):
            whole, real = M.FUNCTIONS["lc." + name]
            new = real(old, v) if t.is_float else whole(t, old, v)
        else:
            op = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}[name]
            new = M.scalar_binary(t, op, old, v)
        env[place] = self.seen(t, new)
        if target:
            env[target] = old

    def s_exchange(self, s, env):
        raise M.Beyond("barriers")

    s_barrier = s_warp = s_exchange

    # ---- places -----------------------------------------------------------------------------
    def put(self, place, value, env):
        kind = place.kind
        if kind == "var":
            env[place.data] = value
            return
        whole = place.kids[0]
        old = self.ev(whole, env)
        if kind == "field":
            at = [name for name, _ in whole.type.fields].index(place.data)
            new = (*old[:at], value, *old[at + 1 :])
        elif kind == "elem":
            at = self.index(place.kids[1], len(old), place.data or 0, env)
            new = (*old[:at], value, *old[at + 1 :])
        elif kind == "melem":
            row = self.index(place.kids[1], len(old), 0, env)
            at = self.index(place.kids[2], len(old), 0, env)
            column = (*old[at][:row], value, *old[at][row + 1 :])
            new = (*old[:at], column, *old[at + 1 :])
        else:
            new = list(old)
            for i, letter in enumerate(place.data):
                new[_LANE[letter]] = value[i] if len(place.data) > 1 else value
            new = tuple(new)
        self.put(whole, new, env)

    def frozen(self, place, env):
        """The place with its indices as they are now."""
        if place.kind == "var":
            return place
        whole = self.frozen(place.kids[0], env)
        way = place.data or 0 if place.kind == "elem" else 0
        at = [self.index(k, whole.type.count, way, env) for k in place.kids[1:]]
        kids = [Node("lit", T.INT32, (), (i, True)) for i in at]
        return Node(place.kind, place.type, [whole, *kids], place.data)

    def index(self, node, n, way, env):
        value = self.ev(node, env)
        if node.kind == "lit" and 0 <= value < n:
            return value
        return min(max(value, 0), n - 1) if way == 2 else value % n

    # ---- expressions ------------------------------------------------------------------------
    def step(self):
        self.steps -= 1
        if self.steps < 0:
            raise M.Beyond("steps")

    def ev(self, n, env):
        self.steps -= 1
        if self.steps < 0:
            raise M.Beyond("steps")
        value = getattr(self, "e_" + n.kind)(n, env)
        return value if n.kind == "buf" else self.seen(n.type, value)

    def seen(self, t, value):
        """The value, after a look at it where denormals are watched for."""
        if self.watch and t.is_float:
            self.look(t, value)
        return value

    def look(self, t, value):
        if isinstance(value, tuple):
            for v in value:
                self.look(t, v)
        elif value != 0 and abs(value) < np.finfo(M.FLOAT_OF[t.bits]).tiny:
            self.denormal = True

    def e_lit(self, n, env):
        value = n.data[0]
        return M.FLOAT_OF[n.type.bits](value) if n.type.is_float else value

    def e_var(self, n, env):
        return env[n.data]

    def e_cap(self, n, env):
        return self.captures[n.data]

    def e_stat(self, n, env):
        value = T.wrap(n.type, self.statics[n.data])
        return (value,) * n.type.lanes if n.type.kind == "vector" else value

    def e_field(self, n, env):
        whole = n.kids[0]
        return self.ev(whole, env)[[name for name, _ in whole.type.fields].index(n.data)]

    def e_elem(self, n, env):
        whole = self.ev(n.kids[0], env)
        return whole[self.index(n.kids[1], len(whole), n.data or 0, env)]

    def e_melem(self, n, env):
        whole = self.ev(n.kids[0], env)
        row = self.index(n.kids[1], len(whole), 0, env)
        return whole[self.index(n.kids[2], len(whole), 0, env)][row]

    def e_swiz(self, n, env):
        whole = self.ev(n.kids[0], env)
        lanes = tuple(whole[_LANE[letter]] for letter in n.data)
        return lanes if len(lanes) > 1 else lanes[0]

    def e_unary(self, n, env):
        t, value = n.type, self.ev(n.kids[0], env)
        if n.data == "not ":
            return not value
        if t.kind == "matrix":
            return tuple(tuple(-v for v in column) for column in value)
        if t.group == "bool":
            return M.lanewise(t, lambda x: not x, value)
        if t.is_float:
            return M.lanewise(t, lambda x: -x, value)
        f = (lambda x: T.wrap(t, -x)) if n.data == "-" else (lambda x: T.wrap(t, ~x))
        return M.lanewise(t, f, value)

    def e_bin(self, n, env):
        return self.binary(n, env)

    def binary(self, n, env):
        t, op = n.type, n.data
        a, b = n.kids
        x, y = self.ev(a, env), self.ev(b, env)
        if op == "@":
            matrices = (a.type.kind == "matrix", b.type.kind == "matrix")
            return M.multiply(x, y, *matrices)
        if t.kind == "matrix":
            columns = [
                (x[i] if a.type.kind == "matrix" else x, y[i] if b.type.kind == "matrix" else y)
                for i in range(t.count)
            ]
            f = lambda p, q: M.scalar_binary(t.scalar, op, p, q)  # noqa: E731
            return tuple(M.lanewise(t.element, f, p, q) for p, q in columns)
        s = t.scalar
        x = M.convert_lanes(a.type, T.with_scalar(a.type, s), x)
        if op not in ("<<", ">>"):
            y = M.convert_lanes(b.type, T.with_scalar(b.type, s), y)
        return M.lanewise(t, lambda p, q: M.scalar_binary(s, op, p, q), x, y)

    def e_cmp(self, n, env):
        values = [self.ev(k, env) for k in n.kids]
        result = True
        for op, x, y in zip(n.data, values, values[1:]):
            one = M.lanewise(n.type, lambda p, q, op=op: bool(M.COMPARE[op](p, q)), x, y)
            if len(n.data) == 1:
                return one
            result = result and one
        return result

    def e_logic(self, n, env):
        value = False
        for k in n.kids:
            value = self.ev(k, env)
            if value == (n.data == "or"):
                break
        return value

    def e_ifexp(self, n, env):
        return self.ev(n.kids[1 if self.ev(n.kids[0], env) else 2], env)

    def e_fn(self, n, env):
        t, name = n.type, n.data
        args = [self.ev(k, env) for k in n.kids]
        if name == "lc.select":
            if n.kids[0].type.kind == "scalar":
                return args[1] if args[0] else args[2]
            return M.lanewise(t, lambda c, x, y: x if c else y, *args)
        if name in ("lc.all", "lc.any"):
            return all(args[0]) if name == "lc.all" else any(args[0])
        if name in _WHOLE:
            return _WHOLE[name](*args)
        if name in ("lc.sum", "lc.product", "lc.reduce_min", "lc.reduce_max"):
            return M.reduce_lanes(t, name, args[0])
        whole, real = M.FUNCTIONS[name]
        if name in ("lc.isnan", "lc.isinf"):
            return M.lanewise(t, real, *args)
        s = t.scalar
        if not name.startswith("lc.rotate"):
            args = [
                M.convert_lanes(k.type, T.with_scalar(k.type, s), v) for k, v in zip(n.kids, args)
            ]
        if s.is_float:
            result = M.lanewise(t, real, *args)
            if name in M.NO_SIGN:
                result = M.lanewise(t, lambda x: x + type(x)(0), result)
            return result
        return M.lanewise(t, lambda *v: T.wrap(s, whole(s, *v)), *args)

    def e_cast(self, n, env):
        return M.convert_lanes(n.kids[0].type, n.type, self.ev(n.kids[0], env))

    def e_bits(self, n, env):
        source, t = n.kids[0].type, n.type
        value = self.ev(n.kids[0], env)
        if t.is_float and not source.is_float and n.data != "any":
            bit = _EXPONENT_BIT[t.bits]
            value = M.lanewise(source, lambda x: T.wrap(source.scalar, x | bit), value)
        return M.of_bits(t, M.bits_of(source, value))

    def e_make(self, n, env):
        t = n.type
        parts = [self.ev(k, env) for k in n.kids]
        if n.data == "identity":
            one = M.FLOAT_OF[t.bits]
            return tuple(tuple(one(r == c) for r in range(t.count)) for c in range(t.count))
        if n.data == "from_rows":
            return tuple(zip(*parts))
        if t.kind != "vector":
            left = t.children()[len(parts) :]
            return (*parts, *(M.from_python(k, T.zero(k)) for k in left))
        if not parts:
            return M.from_python(t, T.zero(t))
        lanes = []
        for v in parts:
            lanes.extend(v if isinstance(v, tuple) else (v,))
        if len(lanes) == 1:
            lanes *= t.lanes
        return tuple(lanes[: t.lanes])

    def e_read(self, n, env):
        t, values = self.inputs[env[n.data]]
        return values[self.index(n.kids[0], COUNT, 0, env)]

    def e_len(self, n, env):
        return COUNT

    def e_twice(self, n, env):
        value = self.ev(n.kids[1], env)
        for _ in range(2):
            value = self.ev(n.kids[0], {**env, n.data: value})
        return value

    def e_small(self, n, env):
        return self.ev(n.kids[0], env) % n.data

    def e_buf(self, n, env):
        return env[n.data]

    def e_call(self, n, env):
        return self.call(n, env)[0]

    def call(self, n, env):
        """The results of a user's function."""
        self.step()
        node = self.functions[n.data[0]]
        f = node.data
        values, places = [], []
        for p, k in zip(f.params, n.kids):
            if p.ref:
                k = self.frozen(k, env)
            places.append(k)
            values.append(self.ev(k, env))
        inner = dict(self.body) if f.name.startswith("g") else {}
        for p, value in zip(f.params, values):
            inner[p.name] = value
        for p in f.params[len(values) :]:
            inner[p.name] = self.ev(p.default, env)
        statics, self.statics = self.statics, {}
        done = self.block(node.kids[0], inner)
        self.statics = statics
        for name in f.outer:
            env[name] = inner[name]
        for p, place in zip(f.params, places):
            if p.ref:
                self.put(place, inner[p.name], env)
        return done[1] if done else []


class _Binary:
    """What Evaluator.binary needs of an augmented assignment."""

    def __init__(self, op, t, a, b):
        self.data, self.type, self.kids = op, t, (a, b)


_LANE = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}
_WHOLE = {
    "lc.dot": M.dot,
    "lc.length_squared": lambda v: M.dot(v, v),
    "lc.cross": M.cross,
    "lc.transpose": lambda m: tuple(zip(*m)),
    "lc.outer": lambda a, b: tuple(tuple(x * y for x in a) for y in b),
}
