"""Structs, vectors, matrices, arrays, references, shared memory, captures: by results."""

import enum
import math

import numpy as np
import pytest

import lcpy as lc


@lc.struct
class Ray:
    origin: lc.float3
    direction: lc.float3
    t_max: lc.float32 = 8.0

    BIAS = 0.5

    def at(self, t):
        return self.origin + t * self.direction

    def move(self, d):
        self.origin += d
        return self.t_max

    def nudge(self):
        self.move(lc.float3(1.0, 0.0, 0.0))

    @property
    def half(self):
        return self.t_max * self.BIAS

    @half.setter
    def half(self, v):
        self.t_max = v / self.BIAS

    @staticmethod
    def along(x):
        return Ray(lc.float3(x), lc.float3(0.0, 1.0, 0.0))

    @classmethod
    def zero(cls):
        return cls(t_max=1.0)

    def __add__(self, other):
        return Ray(self.origin + other, self.direction, self.t_max)

    def __radd__(self, other):
        return Ray(self.origin - other, self.direction, self.t_max)

    def __neg__(self):
        return Ray(-self.origin, -self.direction, self.t_max)

    def __getitem__(self, i):
        return self.origin[i]

    def __setitem__(self, i, v):
        self.origin[i] = v

    def __call__(self, t):
        return self.at(t)

    def __len__(self):
        return 3


@lc.struct
class Pair:
    first: Ray
    counts: lc.Array[lc.int32, 3]


class Level(enum.IntEnum):
    LOW = 2
    HIGH = 7


class Mode(enum.Enum):
    FAST = 3


class Settings:
    gain = 2.0


CAMERA = Ray((1, 2, 3), (0, 0, 1), 4)
TABLE = np.array([[1, 2, 3], [4, 5, 6]], np.int16)
WEIGHTS = [0.25, 0.5, 0.25]
RAYS = [CAMERA, Ray((4, 5, 6), (1, 0, 0))]
STEP = np.float32(0.1)


def run(body, count, device, *arguments):
    """The first `count` floats that a kernel writes."""
    out = lc.Buffer(count, lc.float32, device=device)
    body(out, *arguments, dispatch_size=1)
    return out.numpy().tolist()


@lc.kernel
def structs(out: lc.Buffer[lc.float32], rays: lc.Buffer[Ray]):
    r = rays[0]
    out[0] = r.at(2.0).z
    out[1] = r.move(lc.float3(1.0, 1.0, 1.0))
    out[2] = r.origin.x
    rays[0].move(lc.float3(10.0, 0.0, 0.0))
    out[3] = rays[0].origin.x
    rays[0].nudge()
    out[4] = rays[0][0]
    out[5] = r.half
    r.half = 3.0
    out[6] = r.t_max
    q = r + lc.float3(1.0)
    p = lc.float3(1.0) + r
    out[7] = q.origin.y
    out[8] = p.origin.y
    out[9] = (-r).origin.z
    r[1] = 40.0
    r[1] += 2.0
    out[10] = r[1]
    out[11] = r(1.0).z
    out[12] = lc.float32(len(r))
    out[13] = Ray.along(5.0).origin.z
    out[14] = Ray.zero().t_max
    s = r if out[0] > 1000.0 else Ray.zero()
    out[15] = s.t_max
    out[16] = Ray(origin=lc.float3(9.0), direction=lc.float3(0.0)).t_max


def test_structs(device):
    rays = lc.Buffer(1, Ray, device=device)
    rays.upload(np.array([((1, 2, 3), (0, 0, 1), 4)], Ray.dtype))
    got = run(structs, 17, device, rays)
    assert got == [5, 4, 2, 11, 12, 2, 6, 4, 2, -4, 42, 5, 3, 5, 1, 1, 8]


@lc.kernel
def parts(out: lc.Buffer[lc.float32], pairs: lc.Buffer[Pair], k: lc.int32):
    pairs[0].counts[k] = 7
    pairs[0].counts[k] += 1
    pairs[0].first.direction.yz = lc.float2(3.0, 4.0)
    pairs[0].first.direction.zx += 1.0
    p = pairs[0]
    p.counts[k + 1] = 5
    v = p.first.direction
    v.xy = v.yx
    v[k] = 9.0
    m = lc.float3x3(v, v * 2.0, v * 3.0)
    m[0, 2] = -1.0
    m[1][1] = -2.0
    out[0] = lc.float32(p.counts[1])
    out[1] = lc.float32(p.counts[2])
    out[2] = v.x
    out[3] = v.y
    out[4] = v.z
    out[5] = m[0, 2]
    out[6] = m[1, 1]
    out[7] = m[2].x + (m @ lc.float3(1.0, 0.0, 0.0)).z
    a = lc.Array[lc.float3, 2]()
    a[k].y = 3.0
    b = a
    b[k].y += 1.0
    out[8] = a[1].y * 10.0 + b[1].y
    grid = lc.Array[lc.Array[lc.int32, 3], 2]()
    grid[k, 2] = 6
    out[9] = lc.float32(grid[1][2]) + len(grid) * 10 + len(v)
    x, y, z = v
    out[10] = x + y * 10.0 + z * 100.0


def test_parts(device):
    pairs = lc.Buffer(1, Pair, device=device)
    got = run(parts, 11, device, pairs, 1)
    # direction (0, 0, 0) -> yz = (3, 4) -> zx += 1: (1, 3, 5); v: (3, 1, 5) -> v[1] = 9: (3, 9, 5)
    assert got == [8, 5, 3, 9, 5, -1, -2, -1 + 5, 34, 6 + 20 + 3, 3 + 90 + 500]
    assert pairs.numpy()["counts"].tolist() == [[0, 8, 0]]


@lc.callable
def increment(x: lc.Ref[lc.float32], by=1.0):
    x += by


@lc.callable
def through(x: lc.Ref[lc.float32]):
    return increment(x, 10.0)


@lc.callable
def by_value(x):
    x += 100.0
    return x


@lc.callable
def fill(tile: lc.Ref[lc.Array[lc.float32, 8]], v):
    i = lc.thread_id().x
    tile[i] = v + lc.float32(i)
    lc.sync_block()


@lc.kernel(block_size=8)
def references(out: lc.Buffer[lc.float32]):
    tile = lc.shared(lc.float32, 8)
    fill(tile, 3.0)
    v = lc.float3(1.0)
    increment(v.y)
    through(v.y)
    a = lc.array(1.0, 2.0)
    increment(a[1], 5.0)
    x = 2.0
    y = by_value(x)
    if lc.thread_id().x == 0:
        increment(out[0], 4.0)
        out[1] = v.y
        out[2] = a[1]
        out[3] = x * 1000.0 + y
        out[4] = tile[7] + tile[0]


def test_references(device):
    assert run(references, 5, device) == [4, 12, 7, 2102, 13]


@lc.kernel
def constants(out: lc.Buffer[lc.float32], k: lc.int32):
    out[0] = CAMERA.origin.y + CAMERA.at(2.0).z + CAMERA[k]
    out[1] = TABLE[k, 2] + TABLE[0][k]
    out[2] = WEIGHTS[k] + WEIGHTS[0]
    out[3] = RAYS[k].origin.x + RAYS[1].t_max
    out[4] = Level.HIGH + Level.LOW * 10
    out[5] = Mode.FAST
    out[6] = STEP
    out[7] = math.pi + math.sqrt(16.0) + math.floor(lc.float32(k) + 0.5)
    out[8] = Settings.gain
    out[9] = 1.0 if Level.LOW is Level.LOW and Mode.FAST != 4 else 0.0
    out[10] = math.degrees(lc.float32(k))


def test_constants(device):
    got = run(constants, 11, device, 1)
    want = [2 + 5 + 2, 6 + 2, 0.75, 12, 27, 3, np.float32(0.1), np.float32(math.pi + 4 + 1), 2, 1]
    assert got[:10] == pytest.approx(want, rel=1e-6) and got[10] == pytest.approx(57.29578)


@lc.kernel
def typed(out: lc.Buffer[lc.float32], x, y: lc.Buffer[lc.int16]):
    total = x.dtype(0)
    T = lc.type_of(total)
    for i in range(len(x)):
        total += x[i]
    if lc.static(T is lc.float64):
        out[0] = lc.float32(total)
    else:
        out[0] = -lc.float32(total)
    out[1] = lc.float32(y.shape[0]) + lc.float32(len(y))
    narrow: lc.int64 = y[0]
    out[2] = lc.float32(narrow)
    V = lc.vector(T, 2)
    out[3] = lc.float32(V(2.0).y)


def test_generic(device):
    y = lc.Buffer(np.array([5, 6], np.int16), device=device)
    for dtype, sign in ((np.float64, 1), (np.float32, -1)):
        if dtype is np.float64 and "float64" in getattr(device, "lacks", ()):
            continue
        x = lc.Buffer(np.array([1, 2, 3], dtype), device=device)
        assert run(typed, 4, device, x, y) == [6 * sign, 4, 5, 2]


def test_captures_change(device):
    scale = 2.0
    table = [1, 2, 3]

    @lc.kernel
    def uses(out: lc.Buffer[lc.float32]):
        out[0] = scale * 10.0 + table[1] + Settings.gain

    assert run(uses, 1, device) == [24]
    scale = 3.0
    assert run(uses, 1, device) == [34]
    table[1] = 7
    assert run(uses, 1, device) == [39]
    Settings.gain = 5.0
    assert run(uses, 1, device) == [42]
    Settings.gain = 2.0
    table[1] = 2
    scale = 2.0
    assert run(uses, 1, device) == [24]


def test_captured_containers_change(device):
    choose = {"f": lambda x: x + 1.0}
    camera = Ray((1, 2, 3), (0, 0, 1))
    array = np.array([1, 2], np.float32)

    @lc.kernel
    def uses(out: lc.Buffer[lc.float32]):
        out[0] = choose["f"](10.0) + camera.t_max + array[1]

    assert run(uses, 1, device) == [21]
    choose["f"] = lambda x: x * 2.0
    assert run(uses, 1, device) == [30]
    camera.t_max = 1.0
    assert run(uses, 1, device) == [23]
    array[1] = 5.0
    assert run(uses, 1, device) == [26]


@lc.kernel
def host_lambdas(out: lc.Buffer[lc.float32]):
    f = lc.static({"a": lambda x: x + 1.0}["a"])
    g = lc.static([lambda x: x * STEP for _ in range(2)][1])
    out[0] = f(2.0) + g(10.0)


def test_host_lambdas(cpu):
    assert run(host_lambdas, 1, cpu) == [4]


class Model:
    def __init__(self, gain):
        self.gain = gain
        self.table = np.array([[1, 2, 3], [4, 5, 6]], np.float32)

    @property
    def tint(self):
        return lc.float3(self.gain, 2.0, 3.0)

    def apply(self, x):
        return x * self.gain + self.tint.y


def test_host_objects(cpu):
    model = Model(2.0)

    @lc.kernel
    def uses(out: lc.Buffer[lc.float32]):
        s = model.apply(10.0)
        for i in range(model.table.shape[1]):
            s += model.table[1, i]
        out[0] = s + model.table.T[2, 0]

    assert run(uses, 1, cpu) == [22 + 15 + 3]
    assert uses._specialise_types([lc.Buffer[lc.float32]]).unchanged()
    model.gain = 3.0
    assert run(uses, 1, cpu) == [32 + 15 + 3]


def test_captured_buffer(device):
    data = lc.Buffer(np.array([1, 2, 3], np.float32), device=device)

    @lc.callable
    def read(i):
        return data[i]

    @lc.kernel
    def uses(out: lc.Buffer[lc.float32]):
        def add(x):
            return read(1) + x

        out[0] = data[2] + read(0) + add(10.0)
        data[0] = 9.0

    assert run(uses, 1, device) == [16]
    assert data.numpy().tolist() == [9, 2, 3]
    data = lc.Buffer(np.array([5, 6, 7, 8], np.float32), device=device)
    assert run(uses, 1, device) == [28]


def test_factory(device):
    def make(f, n):
        @lc.kernel
        def uses(out: lc.Buffer[lc.float32]):
            s = 0.0
            for i in range(n):
                s += f(lc.float32(i))
            out[0] = s

        return uses

    assert run(make(lambda x: x * x, 4), 1, device) == [14]
    assert run(make(lambda x: x + 1.0, 3), 1, device) == [6]
    assert run(make(lc.abs, 3), 1, device) == [3]


@lc.kernel
def atomics(out: lc.Buffer[lc.int32], places: lc.Buffer[Pair]):
    i = lc.dispatch_id().x
    old = lc.atomic_add(out[0], 1)
    lc.atomic_max(out[1], old)
    lc.atomic_add(places[0].counts[i % 3], 2)
    lc.atomic_add(places[0].first.origin.y, 0.5)


def test_atomics(device):
    out = lc.Buffer(2, lc.int32, device=device)
    places = lc.Buffer(1, Pair, device=device)
    atomics(out, places, dispatch_size=300)
    assert out.numpy().tolist() == [300, 299]
    assert places.numpy()["counts"].tolist() == [[200, 200, 200]]
    assert places.numpy()["first"]["origin"].tolist() == [[0, 150, 0]]


@lc.kernel
def guarded(out: lc.Buffer[lc.int32], n: lc.int32):
    i = lc.int32(lc.dispatch_id().x) - 1
    if 0 <= i < n and out[i] == 0 and lc.atomic_add(out[n], 1) >= 0:
        out[i] = 1
    flag = i < 0 or out[i] != 0
    out[n + 1 + i] = 5 if flag and not n < 0 < i else 6


def test_short_circuit(device):
    out = lc.Buffer(16, lc.int32, device=device)
    guarded(out, 4, dispatch_size=6)
    got = out.numpy().tolist()
    assert got[:4] == [1, 1, 1, 1]


def test_host_calls():
    assert increment.__name__ == "increment"
    assert Ray.along.__name__ == "along"
    with pytest.raises(lc.ArgumentError, match="inside kernels"):
        lc.sin(1.0)
    assert lc.static(5) == 5
    assert "Sine" in lc.sin.__doc__
    assert by_value(1.0) == 101.0


@lc.kernel
def host_truth(out: lc.Buffer[lc.float32], x: lc.Buffer[lc.float64]):
    T = x.dtype
    if lc.static(np.bool_(True)):
        out[0] = 1.0
    else:
        out[0] = undefined  # noqa: F821
    if not lc.static([]) and T in (lc.float32, lc.float64) and T is not lc.float32:
        out[1] = 2.0
    out[2] = float("inf")
    out[3] = -math.inf
    out[4] = 3.0 if STEP else undefined  # noqa: F821


def test_host_truth(cpu):
    x = lc.Buffer(1, lc.float64, device=cpu)
    assert run(host_truth, 5, cpu, x) == [1, 2, math.inf, -math.inf, 3]


@lc.struct
class Span:
    low: lc.float32
    high: lc.float32 = 4.0

    def __eq__(self, other):
        return self.low == other.low and self.high == other.high

    def __add__(self, other):
        return Span(self.low + other.low, self.high + other.high)

    def __iadd__(self, other):
        self.low += other.low
        return self


@lc.kernel
def python_protocols(out: lc.Buffer[lc.float32], spans: lc.Buffer[Span]):
    a = Span(out[0])
    b = Span(1.0, 2.0)
    out[1] = lc.float32(a != b)
    out[2] = lc.float32(a != a)
    a += b
    spans[0] += b
    out[3] = a.low * 10.0 + a.high
    out[4] = spans[0].low * 10.0 + spans[0].high


def test_operators_that_python_derives_or_prefers(device):
    """!= is __eq__ inverted, and += is __iadd__ where there is one."""
    out = lc.Buffer(np.float32([2, 0, 0, 0, 0]), device=device)
    spans = lc.Buffer(np.array([(5, 6)], Span.dtype), Span, device=device)
    python_protocols(out, spans, dispatch_size=1)
    assert out.numpy().tolist() == [2, 1, 0, 34, 66]


class Leaves:
    @property
    def value(self):
        raise SystemExit(3)

    def __iter__(self):
        raise SystemExit(4)


LEAVES = Leaves()


def leaves_by_static(out: lc.Buffer[lc.int32]):
    out[0] = lc.static(exit(2))


def leaves_by_property(out: lc.Buffer[lc.int32]):
    out[0] = LEAVES.value


def leaves_by_iterator(out: lc.Buffer[lc.int32]):
    for i in lc.static(LEAVES):
        out[i] = 1


@pytest.mark.parametrize("function", [leaves_by_static, leaves_by_property, leaves_by_iterator])
def test_exit_in_a_program_is_its_error(function):
    """A compiler does not end the process because the code that it runs asks for it."""
    with pytest.raises(lc.CompileError, match="SystemExit"):
        lc.kernel(function).compile(lc.Buffer[lc.int32], target="opencl")
