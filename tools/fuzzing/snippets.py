"""What mutate.py puts into kernels: expressions, statements, annotations, decorators, odd objects.

Each is Python text; ``X`` stands for an expression of the kernel, ``N`` for a name it uses.
"""

EXPRESSIONS = """
0 | -1 | 1.5 | True | None | ... | 'text' | b'bytes' | 1j | 2**31 | 2**64 | 2**70 | -(2**63)
1e39 | 1e400 | -0.0
10**5000 | 1e-400 | 0x7fffffff | 1 << 100000 | 7**7**7 | 1 / 0 | 1 % 0 | 0.0 // 0 | -X | ~X
not X | +X | - -X
X + X | X - X | X * X | X / X | X // X | X % X | X ** X | X @ X | X << X | X >> X | X & X
X ^ X
X < X | X == X | X is X | X is not None | X in X | X in (1, X) | X not in (X, X) | X < X < X
X and X | X or X | X if X else X
X.x | X.xyzw | X.foo | X.__class__ | X.dtype | X.shape | X.T | X.size | X.__dict__ | X.rgbx
X.real | X.a.b.c
X[0] | X[X] | X[-1] | X[0, 0] | X[0, 0, 0] | X[1:2] | X[...] | X[None] | X[()] | X['k']
X[2**40] | X[X, X] | X[::2] | X[True] | X[1.5]
N() | N(X) | N(X, X) | N(*X) | N(**X) | N(x=X) | N(X, order='relaxed') | X() | X(X) | N[X]
(lambda: X)() | (lambda a: a)(X) | (lambda a, b=X: a)(X)
(lambda *a: a)(X) | (lambda **k: 0)(X) | (lambda: (yield))() | (lambda a: lambda b: a + b)(X)(X)
(X,) | (X, X) | () | [X] | [] | {X: X} | {} | {X} | [x for x in X] | {x: x for x in X}
{x for x in X} | (x for x in X) | [*X] | (*X, X)
(n_ := X) | (N := X) | f'{X}' | f'{X!r:>{X}}' | f'' | 'a' 'b' | abs(X) | len(X) | min(X)
min(X, X) | max() | round(X, 2) | pow(X, X) | pow(X, X, X)
int(X) | float(X) | bool(X) | str(X) | list(X) | tuple(X) | range(X) | sum(X) | any(X)
sorted(X) | zip(X, X) | enumerate(X) | isinstance(X, int) | type(X) | getattr(X, 'x') | print(X)
open(X)
super() | globals() | locals() | vars() | dir(X) | hash(X) | id(X) | iter(X) | next(X)
map(N, X) | eval('X') | exec('1') | divmod(X, X) | repr(X) | __import__('os') | input()
object() | complex(X) | slice(X) | bytes(3) | callable(X)
lc | lc.float32 | lc.float3 | lc.Buffer | lc.kernel | lc.callable | lc.struct | lc.Array
lc.Ref | lc.static | lc.foo | lc.Device | lc.errors | lc.types | lc.Error
lc.float3(X) | lc.float3(X, X) | lc.float3(X, X, X) | lc.float3() | lc.float2(X, X).yx
lc.float3x3(X) | lc.float3x3.identity() | lc.float3x3.from_rows(X, X, X)
lc.float3x3.identity(X)
lc.int32(X) | lc.uint8(X) | lc.bool(X) | lc.float16(X) | lc.float64(X) | lc.bfloat16(X)
lc.float8_e4m3(X) | lc.half3(X) | lc.int64(X) | lc.uint(-1) | lc.uint64(2**64)
lc.Array[lc.float32, 3]() | lc.Array[lc.float32, X]() | lc.Array[lc.float32, 0] | lc.Array[X, 3]
lc.Array[lc.float32] | lc.array(X, X) | lc.array() | lc.array(X)[X]
lc.Array[lc.float32, 2**40]()
lc.Buffer[lc.float32] | lc.Buffer(3, lc.float32) | lc.Ref[lc.float32] | lc.Ref[X]
lc.vector(lc.float32, X) | lc.vector(lc.float32, 3)(X) | lc.matrix(lc.float32, 5)
lc.type_of(X) | lc.type_of(X)(0) | X.dtype(X)
lc.static(X) | lc.static(N) | lc.static(1 / 0) | lc.static([1, 2][5]) | lc.static((lambda: 3)())
lc.static(range(10**9)) | lc.static() | lc.static(1, 2) | lc.static(*X)
lc.static([i for i in range(3)]) | lc.static(X if X else X) | lc.static(exit)
lc.static((yield))
lc.bitcast(lc.uint32, X) | lc.bitcast(X, X) | lc.bitcast(lc.float3, X)
lc.shared(lc.float32, 4) | lc.shared(lc.float32, X) | lc.shared(lc.float32, (2, 0))
lc.shared(lc.float32, 2**33) | lc.shared(X, 3)
lc.dispatch_id() | lc.dispatch_id(X) | lc.thread_id().x | lc.block_size().xyz | lc.kernel_id()
lc.warp_size() | lc.warp_sum(X) | lc.warp_lane_id() | lc.sync_block() | lc.len64(X)
lc.len64(X, X) | lc.clock()
lc.atomic_add(X, X) | lc.atomic_add(X[0], X) | lc.atomic_compare_exchange(X[0], X, X)
lc.atomic_load(X[0]) | lc.atomic_store(X[0], X) | lc.atomic_exchange(N, X)
lc.atomic_add(X[0], X, order='acq_rel') | lc.atomic_add(X[0], X, order=X)
lc.sqrt(X) | lc.sin(X) | lc.dot(X, X) | lc.cross(X, X) | lc.normalize(X) | lc.select(X, X, X)
lc.clamp(X, X, X) | lc.lerp(X, X, X) | lc.step(X, X) | lc.all(X) | lc.any(X) | lc.popcount(X)
lc.isnan(X) | lc.fma(X, X, X) | lc.min(X) | lc.min(X, X, X) | lc.min() | lc.pow(X, X)
lc.transpose(X) | lc.inverse(X) | lc.determinant(X) | lc.outer(X, X) | lc.mul_hi(X, X)
lc.div(X, X) | lc.rem(X, X) | lc.rotate_left(X, X) | lc.length(X) | lc.reflect(X, X)
lc.byte_read(lc.float32, X, X) | lc.byte_write(X, X, X) | lc.volatile_read(X) | lc.sum(X)
lc.flatten() | lc.branch(X) | lc.force_case() | lc.trap(X) | lc.sqrt(x=X) | lc.sqrt
lc.sin(lc.sin)
math.sin(X) | math.pi | math.inf | math.nan | -math.nan | math.floor(X) | math.hypot(X, X)
math.factorial(X) | math.log(X, X) | math.foo | math.gcd(X, X) | math.sqrt(-1) | math.exp(1000)
math.radians(X) | math.atan2(X, X) | math.fma
np.float32(X) | np.zeros(3) | np.pi | np.sin(X) | np.array([1, 2])[X] | np.int64 | np.newaxis
np.foo
ODD | ODD() | ODD(X) | ODD.x | ODD[0] | ODD[X] | ODD + X | X + ODD | ODD == X | ODD == ODD
ODD is ODD | X in ODD | ODD in (1, 2) | len(ODD) | abs(ODD) | lc.float32(ODD) | lc.float3(ODD)
lc.static(ODD) | lc.static(ODD.x) | lc.static(ODD == 1) | lc.static(len(ODD))
lc.static(bool(ODD)) | N(ODD) | N(X, ODD) | (lambda a: a)(ODD) | -ODD | not ODD | ODD and X
X if ODD else X | ODD if X else X | (ODD, X) | (*ODD, X) | N(*ODD) | ODD.x.y | ODD(ODD)
ODD[ODD] | lc.static(ODD(X)) | lc.type_of(ODD) | lc.array(ODD, ODD) | ODD @ X | ODD < X < ODD
min(ODD, X) | lc.sin(ODD) | math.sin(ODD) | lc.Array[ODD, 3]() | lc.Array[lc.int32, ODD]()
lc.shared(lc.float32, ODD) | lc.Ref[ODD] | int(ODD) | float(ODD) | ODD.dtype | ODD.shape
round(ODD) | pow(ODD, X)
"""

STATEMENTS = """
pass
break
continue
return
return X
return X, X
X
N = X
N += X
N **= X
N @= X
N: lc.float32 = X
N: lc.float32
N: ODD = X
N: 'lc.float32' = X
N: 'not a type (' = X
N: int = X
N: 3 = 3
fresh_: ODD = X
fresh_: lc.int32 = X
fresh_: 3 = 3
fresh_: X = X
fresh_: lc.Buffer[lc.float32] = X
fresh_: lc.Ref[lc.float32] = X
fresh_ = ODD
fresh_ = X
a_, b_ = X
a_, *b_ = X
[a_, b_] = X, X
(a_, (b_, c_)) = X, (X, X)
a_ = b_ = X
a_, a_ = X, X
X[0] = X
X[X] += X
X.x = X
X.xy += X
X.xx = X
X[0, 0] = X
X[1:2] = X
X[0].x[0].y = X
ODD[0] = X
ODD.x = X
ODD.x += X
ODD += X
N, X[0] = X, X
X[0], X[0] = X[0], X[0]
del N
del X[0]
assert X
assert X, 'text'
raise X
raise ValueError
global N
nonlocal N
import os
from os import path
from . import x
print(X)
def inner_(): return X
def inner_(a: lc.float32, b=X) -> lc.float32: return a + b
def inner_(*a): return 0
def inner_(a, /, b, *, c=1): return a
def inner_(a=ODD): return a
def inner_(a: ODD): return a
def inner_() -> ODD: return 0
def inner_(): nonlocal N; N = X
def inner_(): yield 1
def inner_(): return inner_()
def N(): pass
async def inner_(): pass
async def inner_(): await X
class Inner_: pass
class Inner_: x: lc.float32 = X
with X: pass
with X as y_: pass
with open('x') as f: pass
async with X: pass
try: N = X\nexcept: pass
try: N = X\nfinally: pass
try: N = X\nexcept ValueError as e: pass\nelse: pass
try: N = X\nexcept* ValueError: pass
if X: N = X
if X: N = X\nelse: N = X
if X: fresh_ = X
if lc.static(X): N = X
if X: return
if X: fresh_ = ODD
while X: N = X
while True: break
while X: break\nelse: N = X
while False: N = X
while True: pass
for i_ in range(X): N += X
for i_ in range(X, X, X): N = X
for i_ in range(3): i_ += 1
for i_ in range(0, 10, 0): pass
for i_ in range(): pass
for i_ in X: N = X
for i_ in (1, 2, X): N = X
for i_ in lc.static(range(3)): N = X
for i_ in lc.static(range(5000)): N = X
for i_ in lc.static(X): N = X
for i_ in lc.static(ODD): N = i_
for i_ in ODD: pass
for a_, b_ in lc.static([(1, 2), (3, 4)]): N = a_
for a_, b_ in lc.static([1, 2]): N = a_
for a_, b_ in range(3): pass
for X[0] in range(3): pass
for (a_, *b_) in lc.static([(1, 2)]): pass
for i_ in lc.static(range(3)): continue
for i_ in lc.static(range(3)): break\nelse: N = X
for i_ in lc.static(range(3)):\n    if X: break\n    if X: continue\nelse: N = X
for i_ in range(3): N = X\nelse: N = X
for N in range(X): N = X
async for i_ in X: pass
match X:\n    case 1: N = X
match X:\n    case 1 | 2 if X: N = X\n    case _: N = X
match X:\n    case x_: N = x_
match X:\n    case -1: pass\n    case 1.5: pass
match X:\n    case 'a': pass\n    case None: pass\n    case True: pass
match X:\n    case [1, 2, *rest_]: pass
match X:\n    case {'a': 1, **rest_}: pass
match X:\n    case lc.float3(x=1): pass
match X:\n    case lc.float32: pass\n    case math.pi: pass
match X:\n    case 1 as y_: N = y_\n    case 1: N = X
match X:\n    case 2**70: pass
match X:\n    case 99999999999: pass
match X, X:\n    case 1, 2: pass
match ODD:\n    case 1: pass\n    case ODD.x: pass
match N:\n    case 0: N = X\n    case 0: N = X\n    case -0: N = X
tile_ = lc.shared(lc.float32, 16)
tile_ = lc.shared(lc.float32, (4, 4))
if X: tile_ = lc.shared(lc.float32, 16)
lc.sync_block()
if X: lc.sync_block()
while X: lc.sync_block()
lc.flatten()
lc.atomic_add(X[0], X)
f_ = lambda a: a + X
f_ = lambda: f_()
f_ = N
N = ODD
N = None
N = lc.float32
N = lc.Array[lc.float32, 4]()
N = X, X
yield
yield X
yield from X
await X
"""

ANNOTATIONS = """
lc.float32 | lc.int32 | lc.uint8 | lc.float3 | lc.float3x3 | lc.bool | lc.float16 | lc.float64
lc.bfloat16 | lc.float8_e5m2 | lc.Array[lc.float32, 4]
lc.Buffer[lc.float32] | lc.Buffer[lc.float3] | lc.Buffer[lc.float32, 2] | lc.Buffer[lc.bool]
lc.Buffer[lc.bfloat16] | lc.Buffer | lc.ByteBuffer | lc.Ref[lc.float32]
lc.Ref[lc.Buffer[lc.float32]]
int | float | bool | str | object | None | 'lc.float32' | 'nonsense' | 'lc.float32(' | '1 / 0'
3 | () | [] | lc | lc.kernel | ODD | ODD.x | ODD[0] | np.float32 | np.int64 | np.ndarray
tuple[int, int] | tuple[lc.float32, lc.int32] | tuple[()] | list[int] | int | None | lambda x: x
lc.sqrt | lc.Image2D | lc.Image2D[lc.float4] | lc.Buffer[int] | lc.Buffer[lc.Buffer[lc.float32]]
lc.Buffer[lc.float32, 4] | lc.Buffer[ODD] | lc.Array[lc.Array[lc.float3, 2], 3] | type
Ellipsis | ...
"""

DECORATORS = """
lc.callable | lc.kernel | lc.kernel() | lc.kernel(block_size=64) | lc.kernel(block_size=0)
lc.kernel(block_size=(8, 8, 8, 8)) | lc.kernel(block_size=(64, 64, 64)) | lc.kernel(math='fast')
lc.kernel(math='foo') | lc.kernel(math='strict') | lc.kernel(opt=0) | lc.kernel(opt=7)
lc.kernel(bounds='trap') | lc.kernel(bounds=3) | lc.kernel(foo=1) | lc.kernel(block_size=ODD)
lc.kernel(block_size='x') | lc.kernel(block_size=-1) | lc.kernel(block_size=2**40)
lc.kernel(block_size=1.5) | lc.struct | lc.struct(align=16) | lc.struct(align=3)
lc.struct(align=ODD) | lc.struct(align=-8) | lc.struct(align=2**20) | staticmethod | classmethod
property | functools.lru_cache | functools.wraps(len) | lambda f: f | lambda f: None | ODD
functools.partial(functools.partial) | contextlib.contextmanager
"""

MEMBERS = """
x: lc.float32
y: lc.float3 = (1, 2, 3)
z: lc.float3 = 'text'
w: lc.Array[lc.int32, 4] = [1, 2, 3]
v: ODD
u: lc.int32 = ODD
t: lc.uint8 = 300
s: lc.float32 = None
r: 'Later'
q: int = 2**40
p: lc.Buffer[lc.float32]
o: lc.Ref[lc.int32]
n = 3
m: lc.float3x3 = 1
__slots__ = ('x',)
__init__ = None
__eq__ = None
__len__ = 3
__add__ = ODD
__getitem__ = lambda self, i: i
__call__ = ODD
def __add__(self, o): return self
def __len__(self): return X
def __abs__(self): return X
def __neg__(self, x): return x
def __bool__(self): return True
def __getattr__(self, n): return 0
def __eq__(self, o): return X
def __getitem__(self, i): return X
def __setitem__(self, i, v): self.x = v
def __init__(self): pass
def __iter__(self): return X
def __contains__(self, x): return X
def method_(): return X
def method_(self): return self.method_()
def method_(self, *a): return X
@property\ndef prop_(self): return X
@property\ndef x(self): return X
@staticmethod\ndef stat_(a=1): return X
@classmethod\ndef cls_(cls): return cls()
@functools.lru_cache\ndef cached_(self): return X
class Nested: a: lc.int32
pass
dtype: lc.int32
members: lc.int32
kind: lc.float32
layout: lc.int32
_type: lc.int32
lanes: lc.int32
"""

# name -> how it is made; each stands where the snippets say ODD.
ODD = {
    "none": "None",
    "ellipsis": "...",
    "not_implemented": "NotImplemented",
    "text": "'text'",
    "surrogate": "'\\ud800'",
    "bytes_": "b'abc'",
    "bytearray_": "bytearray(3)",
    "complex_": "1j",
    "huge": "10**5000",
    "minus_huge": "-(10**5000)",
    "nan": "math.nan",
    "inf": "-math.inf",
    "set_": "{1, 2}",
    "frozen": "frozenset((1,))",
    "dict_": "{'x': 1, 0: 2}",
    "list_": "[1, 2, 3]",
    "empty": "[]",
    "ragged": "[[1], [2, 3]]",
    "mixed": "[1, 'x', None]",
    "nested": "[[1, 2], [3, 4]]",
    "tuple_": "(1, 2.5)",
    "empty_tuple": "()",
    "range_": "range(3)",
    "long_range": "range(10**18)",
    "generator": "(i for i in range(3))",
    "counting": "itertools.count()",
    "file": "open(__file__)",
    "module": "sys",
    "slice_": "slice(1)",
    "type_": "int",
    "metaclass": "type",
    "function": "len",
    "method": "[].append",
    "partial": "functools.partial(max, 1)",
    "lambda_": "lambda *a, **k: 0",
    "wrapped": "functools.lru_cache(lambda x: x)",
    "decimal_": "decimal.Decimal('1.5')",
    "fraction": "fractions.Fraction(1, 3)",
    "date": "datetime.date(2020, 1, 1)",
    "enum_": "Colour.RED",
    "enum_text": "Named.A",
    "flag": "Flags.A | Flags.B",
    "named": "Point(1, 2)",
    "data": "Data(1)",
    "raising": "Raising()",
    "raising_type": "Raising",
    "stubborn": "Stubborn()",
    "liar": "Liar()",
    "exits": "Exits()",
    "endless": "Endless()",
    "sub_int": "SubInt(3)",
    "sub_float": "SubFloat(3)",
    "sub_list": "SubList([1, 2])",
    "sub_str": "SubStr('x')",
    "odd_meta": "OddMeta",
    "recursive": "recursive_list()",
    "deep": "deep_list(3000)",
    "deep_tuple": "deep_tuple(200)",
    "object_array": "np.array([None, 1], object)",
    "dates": "np.zeros(3, 'M8[s]')",
    "complex_array": "np.zeros(3, complex)",
    "long_double": "np.longdouble(1)",
    "long_array": "np.zeros(3, np.longdouble)",
    "text_array": "np.array(['a'])",
    "void": "np.zeros(2, 'V3')",
    "structured": "np.zeros(2, [('x', 'f4'), ('y', 'i4', (2,))])",
    "record": "np.zeros((), [('x', 'f4')])[()]",
    "swapped": "np.arange(3, dtype='>i4')",
    "zero_d": "np.array(3)",
    "scalar": "np.float32(2)",
    "bool_": "np.bool_(True)",
    "empty_array": "np.zeros(0)",
    "big": "np.zeros(3_000_000, np.float32)",
    "masked": "np.ma.array([1, 2], mask=[0, 1])",
    "matrix": "np.matrix([[1, 2]])",
    "many_axes": "np.zeros((1,) * 30)",
    "half": "np.zeros(3, np.float16)",
    "buffer": "lc.Buffer(3, lc.float32)",
    "buffer2": "lc.Buffer((2, 2), lc.float3)",
    "packed": "lc.Buffer(3, lc.float3, layout='packed')",
    "released": "released()",
    "device": "lc.Device('cpu')",
    "vector": "lc.float3(1, 2, 3)",
    "matrix_": "lc.float3x3.identity()",
    "array_": "lc.Array[lc.int32, 2](1, 2)",
    "struct": "Struct(1)",
    "struct_type": "Struct",
    "struct_list": "[Struct(1), Struct(2)]",
    "later": "lc.Image2D",
    "weak": "weakref.ref(Raising)",
    "proxy": "weakref.proxy(Raising)",
    "array_array": "array.array('i', [1])",
    "ctypes_": "ctypes.c_int(3)",
    "memory": "memoryview(b'abc')",
    "coroutine": "async_function",
    "generator_function": "generating",
    "property_": "property(len)",
    "static_": "staticmethod(len)",
    "callable_": "lc.callable(lambda x: x)",
    "kernel_": "a_kernel",
    "code": "(lambda: 0).__code__",
    "frame": "sys._getframe()",
    "exception": "ValueError('x')",
    "typing_": "typing.List[int]",
    "union": "int | str",
    "mapping": "types.MappingProxyType({'x': 1})",
    "simple": "types.SimpleNamespace(x=1, y=lc.float3)",
    "executed": "executed_function()",
    "lock": "threading.Lock()",
    "unbound": "int.__add__",
    "bound": "Struct.make",
    "sqrt": "lc.sqrt",
}

PRELUDE = """
import array, contextlib, ctypes, datetime, decimal, enum, fractions, functools, itertools
import math, sys, threading, types, typing, weakref
import collections, dataclasses
import numpy as np
import lcpy as lc

class Colour(enum.IntEnum):
    RED = 1
class Named(enum.Enum):
    A = "text"
class Flags(enum.IntFlag):
    A = 1
    B = 2
Point = collections.namedtuple("Point", "x y")
@dataclasses.dataclass
class Data:
    x: int
class Raising:
    def __getattr__(self, name): raise RuntimeError("no " + name)
    def __eq__(self, other): raise RuntimeError("not compared")
    def __len__(self): raise RuntimeError("no length")
    def __bool__(self): raise RuntimeError("no truth")
    def __iter__(self): raise RuntimeError("no iteration")
    def __repr__(self): raise RuntimeError("no text")
    def __index__(self): raise RuntimeError("no index")
    def __float__(self): raise RuntimeError("no float")
    def __getitem__(self, key): raise RuntimeError("no item")
    def __call__(self, *args): raise RuntimeError("no call")
    __hash__ = None
class Stubborn:
    def __getattribute__(self, name): raise KeyError(name)
    def __instancecheck__(self, other): raise TypeError
class Liar:
    __class__ = property(lambda self: int)
    def __index__(self): return "three"
    def __len__(self): return -1
    def __bool__(self): return 3
    def __repr__(self): return 4
    def __float__(self): return None
    def __eq__(self, other): return self
    def __getitem__(self, key): return self
    def __call__(self, *args): return self
    def __hash__(self): return "x"
class Exits:
    def __getattr__(self, name): raise ValueError("\\n" * 50 + name)
    def __iter__(self): yield from (1, Raising(), 2)
    def __len__(self): return 10**10
class Endless:
    def __iter__(self): return itertools.count()
    def __len__(self): return 2**62
    def __getitem__(self, key): return self
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return self
    def __call__(self, *args): return self
class SubInt(int):
    def __index__(self): raise RuntimeError
    def __add__(self, other): raise RuntimeError
    def __repr__(self): raise RuntimeError
class SubFloat(float):
    def __eq__(self, other): raise RuntimeError
    __hash__ = None
class SubList(list):
    def __iter__(self): raise RuntimeError("no iteration")
    def __len__(self): return 7
class SubStr(str):
    def __eq__(self, other): raise RuntimeError
    __hash__ = None
class Meta(type):
    def __getattribute__(cls, name): raise RuntimeError(name)
    def __eq__(cls, other): raise RuntimeError("types are not compared")
    def __hash__(cls): raise RuntimeError("no hash")
    def __call__(cls): raise RuntimeError("no call")
    def __repr__(cls): raise RuntimeError("no text")
class OddMeta(metaclass=Meta):
    pass
def recursive_list():
    made = [1]
    made.append(made)
    return made
def deep_list(n):
    made = 1
    for _ in range(n): made = [made]
    return made
def deep_tuple(n):
    made = 1
    for _ in range(n): made = (made, made)
    return made
def released():
    made = lc.Buffer(3, lc.float32)
    made.release()
    return made
async def async_function(): pass
def generating(): yield 1
def executed_function():
    names = {}
    exec("def made(x):\\n    return x", names)
    return names["made"]
@lc.struct
class Struct:
    x: lc.float32
    @classmethod
    def make(cls): return cls(1)
@lc.kernel
def a_kernel(b: lc.Buffer[lc.float32]):
    b[0] = 1
"""


def split(text):
    """The snippets of a block of alternatives."""
    return [s.strip() for line in text.strip().split("\n") for s in line.split(" | ") if s.strip()]


def lines(text):
    """The snippets of a block with one a line; ``\\n`` within one is a line break."""
    return [s.replace("\\n", "\n") for s in text.strip().split("\n")]
