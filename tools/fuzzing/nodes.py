"""The tree of a generated program and its Python text.

What makes a program well defined is part of how a node is written, not of what stands around it: an
index is reduced to its range, a loop counts its turns, a float whose bits are looked at is rid of
NaN. So the shrinker may put any expression of a type in place of any other.
"""

COUNT = 16  # elements of each input buffer


class Node:
    """`type` is None for statements. `kids` are nodes or None; `data` is immutable."""

    __slots__ = ("kind", "type", "kids", "data")

    def __init__(self, kind, type_, kids=(), data=None):
        self.kind, self.type, self.kids, self.data = kind, type_, list(kids), data

    def copy(self):
        kids = [k if k is None else k.copy() for k in self.kids]
        return Node(self.kind, self.type, kids, self.data)

    def walk(self):
        yield self
        for k in self.kids:
            if k is not None:
                yield from k.walk()

    def size(self):
        return 1 + sum(k.size() for k in self.kids if k is not None)


def is_place(node):
    """Whether a node can be assigned."""
    while node.kind in ("field", "elem", "melem", "swiz"):
        if node.kind == "swiz" and len(set(node.data)) != len(node.data):
            return False
        node = node.kids[0]
    return node.kind == "var"


def root(node):
    while node.kind in ("field", "elem", "melem", "swiz"):
        node = node.kids[0]
    return node


# ---- expressions --------------------------------------------------------------------------------
def number(value):
    """A Python number as source text that gives it back."""
    if isinstance(value, float):
        if value != value:
            return "nan"
        if value in (float("inf"), float("-inf")):
            return "inf" if value > 0 else "(-inf)"
        text = repr(value)
        return f"({text})" if text[0] == "-" else text
    return f"({value})" if value < 0 else str(value)


def constant_text(t, value):
    """A typed constant of any type as an expression."""
    if t.kind == "scalar":
        return str(value) if t.group == "bool" else f"{t.text}({number(value)})"
    parts = ", ".join(constant_text(k, v) for k, v in zip(t.children(), value))
    return f"lc.array({parts})" if t.kind == "array" else f"{t.text}({parts})"


def _literal(n):
    value, weak = n.data
    if n.type.group == "bool":
        return str(value)
    return number(value) if weak else f"{n.type.text}({number(value)})"


def index_text(node, n, way=0):
    """An index brought into 0 to n - 1."""
    if node.kind == "lit" and 0 <= node.data[0] < n:
        return str(node.data[0])
    text = write(node)
    if way == 1 and n & (n - 1) == 0:
        return f"{text} & {n - 1}"
    if way == 2:
        return f"lc.clamp({text}, 0, {n - 1})"
    return f"{text} % {n}"


def _element(n):
    whole = n.kids[0]
    return f"{write(whole)}[{index_text(n.kids[1], whole.type.count, n.data or 0)}]"


def _matrix_element(n):
    whole, row, column = n.kids
    size = whole.type.count
    return f"{write(whole)}[{index_text(row, size)}, {index_text(column, size)}]"


def _compare(n):
    text = write(n.kids[0])
    for op, kid in zip(n.data, n.kids[1:]):
        text += f" {op} {write(kid)}"
    return f"({text})"


_NO_SIGN = ("lc.sign", "lc.fract", "lc.saturate", "lc.lerp")  # the sign of a zero is not promised


def _function(n):
    args = [write(k) for k in n.kids]
    if n.data == "lc.copysign":
        args[1] = f"lc.max({args[1]}, -inf)"
    text = f"{n.data}({', '.join(args)})"
    return f"({text} + 0.0)" if n.data in _NO_SIGN and n.type.is_float else text


_EXPONENT_BIT = {16: 0x2000, 32: 0x20000000, 64: 0x2000000000000000}


def _bitcast(n):
    kid = n.kids[0]
    text = write(kid)
    if kid.type.is_float and not n.type.is_float:
        text = f"lc.max({text}, -inf)"  # a NaN has no certain bits
    elif n.type.is_float and not kid.type.is_float and n.data != "any":
        text = f"{text} | {_EXPONENT_BIT[n.type.bits]}"  # never denormal
    return f"lc.bitcast({n.type.text}, {text})"


def _make(n):
    args = ", ".join(write(k) for k in n.kids)
    if n.type.kind == "array" and n.kids:
        return f"lc.array({args})"
    if n.data in ("from_rows", "identity"):
        return f"{n.type.text}.{n.data}({args})"
    if n.data == "named":  # one keyword: several are evaluated before what stands left of them
        args = [write(k) for k in n.kids]
        args[-1] = f"{n.type.fields[len(args) - 1][0]}={args[-1]}"
        return f"{n.type.text}({', '.join(args)})"
    return f"{n.type.text}({args})"


def _call(n):
    name, keyword = n.data
    args = [write(k) for k in n.kids]
    if keyword:
        args[-1] = f"{keyword}={args[-1]}"
    return f"{name}({', '.join(args)})"


_WRITERS = {
    "lit": _literal,
    "var": lambda n: n.data,
    "cap": lambda n: n.data,
    "buf": lambda n: n.data,
    "stat": lambda n: f"{n.type.text}({n.data})",
    "field": lambda n: f"{write(n.kids[0])}.{n.data}",
    "elem": _element,
    "melem": _matrix_element,
    "swiz": lambda n: f"{write(n.kids[0])}.{n.data}",
    "unary": lambda n: f"({n.data}{write(n.kids[0])})",
    "bin": lambda n: f"({write(n.kids[0])} {n.data} {write(n.kids[1])})",
    "cmp": _compare,
    "logic": lambda n: "(" + f" {n.data} ".join(write(k) for k in n.kids) + ")",
    "ifexp": lambda n: f"({write(n.kids[1])} if {write(n.kids[0])} else {write(n.kids[2])})",
    "fn": _function,
    "cast": lambda n: f"{n.type.text}({write(n.kids[0])})",
    "bits": _bitcast,
    "make": _make,
    "call": _call,
    "read": lambda n: f"{n.data}[{index_text(n.kids[0], COUNT)}]",
    "len": lambda n: f"len({n.data})",
    "twice": lambda n: f"apply_twice(lambda {n.data}: {write(n.kids[0])}, {write(n.kids[1])})",
    "small": lambda n: f"({write(n.kids[0])} % {n.data})",
}


def write(n):
    """The text of an expression, in parentheses where it needs them anywhere."""
    return _WRITERS[n.kind](n)


def bare(n):
    """The text of an expression that stands alone."""
    text = write(n)
    if text[0] == "(" and text[-1] == ")":
        depth = 0
        for i, letter in enumerate(text):
            depth += (letter == "(") - (letter == ")")
            if depth == 0:
                return text[1:-1] if i == len(text) - 1 else text
    return text


# ---- functions ----------------------------------------------------------------------------------
class Parameter:
    """`ref`: by reference. `buffer`: a buffer of `type`. `default`: a Node or None."""

    __slots__ = ("name", "type", "ref", "buffer", "default")

    def __init__(self, name, type_, ref=False, buffer=False, default=None):
        self.name, self.type, self.ref, self.buffer = name, type_, ref, buffer
        self.default = default

    def text(self, generic=False):
        t = self.type.text
        kind = f"lc.Ref[{t}]" if self.ref else f"lc.Buffer[{t}]" if self.buffer else t
        if generic and not self.ref and not self.buffer:
            text = self.name
        else:
            text = f"{self.name}: {kind}"
        if self.default is None:
            return text
        return f"{text}={write(self.default)}" if generic else f"{text} = {write(self.default)}"


class Signature:
    """What calls of a function know. `result`: its type where it has one result."""

    __slots__ = ("name", "params", "results", "generic", "annotated", "decorated", "outer")

    def __init__(self, name, params, results, generic=False, annotated=True, decorated=False):
        self.name, self.params, self.results = name, tuple(params), tuple(results)
        self.generic, self.decorated = generic, decorated
        self.annotated = annotated and len(self.results) == 1 and not generic
        self.outer = ()  # variables around a nested function that it assigns

    @property
    def result(self):
        return self.results[0] if len(self.results) == 1 else None

    @property
    def pure(self):
        return not self.outer and not any(p.ref for p in self.params)


# ---- statements ---------------------------------------------------------------------------------
def block_lines(node, depth):
    lines = []
    for s in node.kids:
        lines += _STATEMENTS[s.kind](s, "    " * depth, depth)
    return lines or ["    " * depth + "pass"]


def _assign(s, pad, depth):
    return [f"{pad}{write(s.kids[0])} = {bare(s.kids[1])}"]


def _tuple(s, pad, depth):
    places, values = s.kids[: s.data], s.kids[s.data :]
    return [f"{pad}{', '.join(map(write, places))} = {', '.join(map(write, values))}"]


def _unpack(s, pad, depth):
    return [f"{pad}{', '.join(map(write, s.kids[:-1]))} = {write(s.kids[-1])}"]


def _if(s, pad, depth):
    lines = []
    pairs = len(s.kids) // 2
    for i in range(pairs):
        lines.append(f"{pad}{'elif' if i else 'if'} {bare(s.kids[2 * i])}:")
        lines += block_lines(s.kids[2 * i + 1], depth + 1)
    if len(s.kids) % 2 and s.kids[-1] is not None:
        lines += [f"{pad}else:", *block_lines(s.kids[-1], depth + 1)]
    return lines


def _loop_else(s, pad, depth):
    if s.kids[-1] is None:
        return []
    return [f"{pad}else:", *block_lines(s.kids[-1], depth + 1)]


def _for(s, pad, depth):
    *bounds, body, _ = s.kids
    text = ", ".join(bare(b) for b in bounds)
    lines = [f"{pad}for {s.data} in range({text}):", *block_lines(body, depth + 1)]
    return lines + _loop_else(s, pad, depth)


def _while(s, pad, depth):
    counter, limit, way = s.data
    condition, body, _ = s.kids
    inner = pad + "    "
    lines = [f"{pad}{counter} = 0"]
    if way == 0:
        lines += [f"{pad}while {counter} < {limit} and {write(condition)}:"]
        lines += [f"{inner}{counter} += 1"]
    elif way == 1:
        lines += [f"{pad}while {write(condition)}:", f"{inner}if {counter} >= {limit}:"]
        lines += [f"{inner}    break", f"{inner}{counter} += 1"]
    else:
        lines += [f"{pad}while True:", f"{inner}{counter} += 1"]
        lines += [f"{inner}if {counter} > {limit} or {write(condition)}:", f"{inner}    break"]
    return lines + block_lines(body, depth + 1) + _loop_else(s, pad, depth)


def _match(s, pad, depth):
    lines = [f"{pad}match {bare(s.kids[0])}:"]
    for i, pattern in enumerate(s.data):
        guard, body = s.kids[1 + 2 * i], s.kids[2 + 2 * i]
        text = "_" if pattern is None else " | ".join(map(str, pattern))
        tail = f" if {bare(guard)}" if guard is not None else ""
        lines += [f"{pad}    case {text}{tail}:", *block_lines(body, depth + 2)]
    return lines


def _return(s, pad, depth):
    return [f"{pad}return " + ", ".join(bare(k) if len(s.kids) == 1 else write(k) for k in s.kids)]


def _static(s, pad, depth):
    name, values = s.data
    return [f"{pad}for {name} in lc.static({values}):", *block_lines(s.kids[0], depth + 1)]


def _static_if(s, pad, depth):
    lines = [f"{pad}if lc.static({s.data}):", *block_lines(s.kids[0], depth + 1)]
    return lines + [f"{pad}else:", *block_lines(s.kids[1], depth + 1)]


def _atomic(s, pad, depth):
    """data: (function, place as text, target's name or None)."""
    function, place, target = s.data
    text = f"{function}({', '.join([place, *map(write, s.kids)])})"
    return [f"{pad}{target} = {text}" if target else f"{pad}{text}"]


def _warp(s, pad, depth):
    """data: (function, target). What a warp computes depends on its width."""
    function, target = s.data
    args = [write(k) for k in s.kids]
    if function == "lc.warp_read_lane":
        args[1] = f"{args[1]} % lc.warp_size()"
    return [f"{pad}{target} = {function}({', '.join(args)})"]


def _exchange(s, pad, depth):
    """A read of another thread's shared cell, between two barriers."""
    shared, count, target, part = s.data
    index = index_text(s.kids[0], count)
    sync = f"{pad}lc.sync_block()"
    return [sync, f"{pad}{target} = {shared}[{index}]{part}", sync]


def _function_lines(s, pad, depth):
    f = s.data
    head = f"{pad}def {f.name}({', '.join(p.text(f.generic) for p in f.params)})"
    if f.annotated and f.results:
        head += f" -> {f.results[0].text}"
    lines = [f"{pad}@lc.callable"] if f.decorated else []
    lines.append(head + ":")
    if f.outer:
        lines.append(f"{pad}    nonlocal {', '.join(f.outer)}")
    return [*lines, *block_lines(s.kids[0], depth + 1)]


_STATEMENTS = {
    "function": _function_lines,
    "assign": _assign,
    "aug": lambda s, pad, d: [f"{pad}{write(s.kids[0])} {s.data}= {bare(s.kids[1])}"],
    "tuple": _tuple,
    "unpack": _unpack,
    "expr": lambda s, pad, d: [pad + write(s.kids[0])],
    "if": _if,
    "for": _for,
    "while": _while,
    "match": _match,
    "break": lambda s, pad, d: [pad + "break"],
    "continue": lambda s, pad, d: [pad + "continue"],
    "return": _return,
    "static": _static,
    "staticif": _static_if,
    "atomic": _atomic,
    "exchange": _exchange,
    "warp": _warp,
    "assert": lambda s, pad, d: [f'{pad}assert {write(s.kids[0])} < {s.data}, "held"'],
    "barrier": lambda s, pad, d: [pad + "lc.sync_block()"],
}
