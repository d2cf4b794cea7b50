"""Callables: methods and operators of structs, functions as arguments and results, what nested
functions capture, defaults, compile-time arguments."""

import enum
import functools
import math

import pytest
from folding import register

import lcpy as lc

F = lc.Buffer[lc.float32]
CASES = []
case = register(CASES)


@lc.struct
class V:
    x: lc.float32
    y: lc.float32 = 2.0

    def __abs__(self):
        return lc.sqrt(self.x * self.x + self.y * self.y)

    def __len__(self):
        return 2

    def __neg__(self):
        return V(-self.x, -self.y)

    def __getitem__(self, i):
        return self.x if i == 0 else self.y

    def __setitem__(self, i, v):
        if i == 0:
            self.x = v
        else:
            self.y = v

    def __call__(self, k):
        return self.x * k + self.y

    def __round__(self):
        return V(round(self.x), round(self.y))

    def __bool__(self):
        return self.x != 0.0

    def __contains__(self, v):
        return self.x == v or self.y == v

    def __float__(self):
        return self.x

    def __int__(self):
        return lc.int(self.x)

    def __pos__(self):
        return self

    def __invert__(self):
        return V(self.y, self.x)

    def __add__(self, o):
        return V(self.x + o.x, self.y + o.y)

    def __floor__(self):
        return lc.floor(self.x)

    def __pow__(self, n):
        return self.x * lc.float(n)

    @property
    def first(self):
        return self.x

    @first.setter
    def first(self, v):
        self.x = v

    @staticmethod
    def make(a):
        return V(a, a)

    @classmethod
    def unit(cls):
        return cls(1.0, 0.0)

    def scaler(self):
        k = self.x
        return lambda v: v * k

    def times(self, v):
        return v * self.x


@lc.struct
class Sized:
    n: lc.int32

    def __len__(self):
        return self.n


@case([5, 2, -3, 3, 4, 10, 4, 1, 1, 0, 3, 3, 4, 6], [3.0, 4.0])
def pythons_functions(b: F, out: F):
    v = V(b[0], b[1])
    out[0] = abs(v)
    out[1] = lc.float(len(v))
    out[2] = (-v).x
    out[3] = v[0]
    out[4] = v[1]
    out[5] = v(2.0)
    out[6] = round(v).y
    out[7] = 1.0 if v else 0.0
    out[8] = 1.0 if 3.0 in v else 0.0
    out[9] = 1.0 if 7.0 in v else 0.0
    out[10] = float(v)
    out[11] = lc.float(int(v))
    out[12] = (~v).x
    out[13] = (v + v).x


@case([3, 1, 1, 6, 9, 3, 9, 9, 5, 1, 0], [3.0, 4.0])
def more_of_pythons_functions(b: F, out: F):
    v = V(b[0], b[1])
    out[0] = (+v).x
    out[1] = 1.0 if not V() else 0.0
    out[2] = 1.0 if v and v.x > 1.0 else 0.0
    v[0] = 6.0
    out[3] = v.first
    v.first += 3.0
    out[4] = v.x
    v.first = b[0]
    out[5] = math.floor(v)
    out[6] = v.x**2
    out[7] = pow(v, 3)
    out[8] = lc.abs(V(b[0], b[1]))
    out[9] = 1.0 if Sized(lc.int(b[0])) else 0.0
    out[10] = 1.0 if Sized(0) else 0.0


@case([2, 1, 0, 10], [5.0, 4.0])
def class_methods_and_loops(b: F, out: F):
    out[0] = V.make(2.0).y
    out[1] = V.unit().x
    out[2] = V.unit().make(0.0).x
    v = V(b[0], b[1])
    total = 0.0
    while v:
        v.x -= 1.0
        total += 2.0
    out[3] = total


OPERATIONS = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b}
CHOICE = "mul"
FUNCTIONS = (lambda x: x + 1.0, lambda x: x * 2.0)


def apply(f, x):
    return f(x)


def apply_twice(f, x):
    return apply(f, apply(f, x))


def twice(f):
    return lambda x: f(f(x))


def adder(k):
    return lambda x: x + k


add_three = adder(3.0)
triple = functools.partial(lambda a, c: a * c, 3.0)
clamped = functools.partial(lc.clamp, 9.0)


@case([12, 7, 4, 8, 7, 8, 16, 10, 12, 4], [3.0, 4.0])
def higher_order(b: F, out: F):
    x = b[0]
    out[0] = OPERATIONS[CHOICE](x, b[1])
    out[1] = OPERATIONS["add"](x, b[1])
    out[2] = FUNCTIONS[0](x)
    out[3] = FUNCTIONS[lc.static(len(OPERATIONS) - 1)](b[1])
    g = add_three
    out[4] = g(b[1])
    out[5] = apply_twice(lambda v: v + 2.0, b[1])
    h = apply_twice
    out[6] = h(FUNCTIONS[1], b[1])
    out[7] = apply(lambda v: apply(lambda w: w + v, v + b[1]), x)
    out[8] = triple(b[1])
    out[9] = clamped(0.0, b[1])


@case([12, 5, 7], [3.0, 4.0])
def functions_returned(b: F, out: F):
    f = twice(lambda v: v * 2.0)
    out[0] = f(b[0])
    out[1] = twice(lambda v: v + 1.0)(b[0])
    k = b[0]
    out[2] = adder(k)(b[1])


def counter(start):
    total = start

    def add(v):
        nonlocal total
        total += v
        return total

    def get():
        return total

    return add, get


@case([4, 9, 9, 10], [3.0, 4.0])
def returned_functions_share_state(b: F, out: F):
    add, get = counter(1.0)
    add(b[0])
    out[0] = get()
    out[1] = add(5.0)
    out[2] = get()
    other, _ = counter(10.0)
    out[3] = other(0.0)


def compose(f, g):
    return lambda x: g(f(x))


def curry(a):
    return lambda b: lambda c: a * 100.0 + b * 10.0 + c


def pick(flag):
    if lc.static(flag):
        return lambda x: x + 1.0
    return lambda x: x - 1.0


def type_of_it(x):
    return lc.type_of(x)


@case([8, 345, 5, 3, 20, 12], [3.0, 4.0, 5.0])
def composed(b: F, out: F):
    h = compose(lambda x: x + 1.0, lambda x: x * 2.0)
    out[0] = h(b[0])
    out[1] = curry(b[0])(b[1])(b[2])
    out[2] = pick(lc.static(True))(b[1])
    out[3] = pick(flag=lc.static(False))(b[1])
    f = V(b[2]).scaler()
    out[4] = f(b[1])
    T = type_of_it(b[0])
    out[5] = T(b[0]) * 4.0


@case([6, 8, 16], [3.0, 4.0])
def returned_in_loops(b: F, out: F):
    for k in lc.static(range(2)):
        f = compose(lambda x: x * 2.0, lambda x: x + 0.0)
        out[k] = f(b[0] + k)
    i = 0
    while i < 2:
        g = compose(lambda x: x * 2.0, lambda x: x * 2.0)
        out[2] = g(b[0] + lc.float(i))
        i += 1


def use(pair, x):
    f, k = pair
    return f(x) * k


def use_method(m, x):
    return m(x) + m(1.0)


@case([18, 20, 30], [3.0, 4.0, 5.0])
def tuples_of_functions_and_values(b: F, out: F):
    out[0] = use((lambda v: v + b[0], 3.0), b[0])
    s = V(b[1])
    m = s.times
    out[1] = use_method(m, b[1])

    def inner():
        return m(b[2]) + p[1]

    p = (lambda v: v, 10.0)
    out[2] = inner()


@case([10, 14], [3.0, 4.0])
def tuples_of_functions(b: F, out: F):
    pair = (lambda a: a + 1.0, lambda a: a * 2.0)
    out[0] = pair[0](pair[1](b[0])) + 3.0
    s = 0.0
    for f in pair:
        s += f(b[1]) + 0.5
    out[1] = s


@case([3, 4, 30, 7, 10], [3.0, 4.0])
def nested(b: F, out: F):
    total = 0.0

    def add(v):
        nonlocal total
        total += v

    def both(v):
        add(v)

        def inner(w):
            return w * total

        return inner(10.0)

    add(b[0])
    out[0] = total
    total = 0.0
    add(b[1])
    out[1] = total
    total = 0.0
    out[2] = both(3.0)
    add(b[1])
    out[3] = total
    f = lambda a, c=3.0: a + c  # noqa: E731
    out[4] = f(b[0], 7.0)


def defaulted(a, k=2.0, *, c=(1.0, 2.0), f=lambda v: v, g: lc.float32 = 4):
    return f(a * k + c[1] + g)


@case([12, 15, 24, 3], [3.0, 4.0])
def defaults(b: F, out: F):
    out[0] = defaulted(b[0])
    out[1] = defaulted(b[0], 3.0)
    out[2] = defaulted(b[0], f=lambda v: v * 2.0)
    out[3] = defaulted(c=(0.0, 1.0), a=b[0], k=0.0, g=2)


def product(x, y):
    T = lc.type_of(x)
    return T(y) * x


@case([12, 12, 6], [3.0, 4.0])
def generic(b: F, out: F):
    out[0] = product(b[0], 4)
    out[1] = lc.float(product(lc.int(b[0]), 4.7))
    v = product(lc.float2(b[0], 1.0), 2.0)
    out[2] = v.x


def changes(r: lc.Ref[lc.float32]):
    return changes_more(r)


def changes_more(r: lc.Ref[lc.float32]):
    r += 1.0


def changes_its_own(x):
    x += 1.0
    return x


@case([4, 5, 4, 10], [3.0, 4.0])
def r040_references_and_values(b: F, out: F):
    a = b[0]
    changes(a)
    out[0] = a
    y = changes_its_own(a)
    out[1] = y
    out[2] = a
    out[3] = 9.0
    changes(out[3])


i = 7


@case([-2, -1, 0, 1, 2, 0, 1, 2, 4], [3.0])
def r042_unrolling(b: F, out: F):
    n = 0
    for i in lc.static(range(-2, 3)):
        out[n] = lc.static(i)
        n += 1
    for i in lc.static(range(-2, 3)):
        if i < 0:
            continue
        out[n] = lc.static(i)
        n += 1
    out[n] = b[0] + 1.0


def repeated(x, n):
    for _ in lc.static(range(n)):
        x = x * 2.0
    n += 1
    return x + n


@case([12 + 3, 24 + 4], [3.0])
def compile_time_arguments(b: F, out: F):
    out[0] = repeated(b[0], lc.static(2))
    out[1] = repeated(b[0], n=lc.static(1 + 2))


class Colour(enum.IntEnum):
    RED = 1
    BLUE = -5


class Space:
    k = 7


def matched(v):
    r = 0.0
    match v:
        case Colour.RED:
            r = 1.0
        case Colour.BLUE:
            r = 2.0
        case Space.k:
            r = 3.0
        case 2 as z if z < 3:
            r = 2.0 * lc.float(z)
        case 3 | 5 as q if q > 3:
            r = 100.0 + lc.float(q)
        case 3:
            r = 6.0
    return r


@case([1, 2, 3, 4, 105, 0, 6], [1.0, -5.0, 7.0, 2.0, 5.0, 9.0, 3.0])
def matching(b: F, out: F):
    out[0] = matched(lc.int(b[0]))
    out[1] = matched(lc.int(b[1]))
    out[2] = matched(lc.int64(b[2]))
    out[3] = matched(lc.int(b[3]))
    out[4] = matched(lc.int8(b[4]))
    out[5] = matched(lc.int(b[5]))
    out[6] = matched(lc.int16(b[6]))


MODE = "fast"


@case([2, 9, 1, 5], [1.0])
def matching_while_compiling(b: F, out: F):
    match MODE:
        case "slow":
            out[0] = 1.0
        case "fast":
            out[0] = 2.0
        case _:
            out[0] = 3.0
    match lc.static(3):
        case 1 | 2:
            out[1] = 1.0
        case 3:
            out[1] = 9.0
    match b[0] > 0.5:
        case True:
            out[2] = 1.0
        case False:
            out[2] = 0.0
    match lc.type_of(b[0]):
        case lc.int32:
            out[3] = 4.0
        case lc.float32:
            out[3] = 5.0


@pytest.mark.parametrize("c", CASES, ids=lambda c: c.__name__)
def test_loaded(device, c):
    c.loaded(device)


@pytest.mark.parametrize("c", CASES, ids=lambda c: c.__name__)
def test_folded(device, c, tmp_path):
    c.folded(device, tmp_path)
