"""Assignment, parts of values, tuples, shared arrays."""

from wrong import wrong

import lcpy as lc

Out = lc.Buffer[lc.float32]
TABLE = (1.0, 2.0)


@lc.struct
class Ray:
    origin: lc.float3
    t: lc.float32 = 1.0

    @property
    def end(self):
        return self.t


@lc.struct
class Box:
    low: lc.float3
    t: lc.float32 = 1.0


@wrong
def not_assignable(out: Out):
    """
    error E5201: this cannot be assigned
        lc.half = 1.0
        ^^^^^^^
      hint: only variables, their parts, and elements of buffers and shared arrays can
    """
    lc.half = 1.0
    out[0] = 1.0


@wrong
def not_place(out: Out):
    """
    error E2028: an assignment needs a place: a variable, a member, or an element
        TABLE[0] = 1.0
        ^^^^^^^^
      hint: a value that was computed is not kept
    """
    TABLE[0] = 1.0
    out[0] = 1.0


@wrong
def class_changed(out: Out):
    """
    error E5202: 'r' takes Ray, not Box
        r = Box()
            ^^^^^
    """
    r = Ray()
    r = Box()
    out[0] = r.t


@wrong
def classes_differ(out: Out):
    """
    error E5203: the two sides have different types: a value of type Ray and a value of type Box
        r = Ray() if out[0] > 1.0 else Box()
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    """
    r = Ray() if out[0] > 1.0 else Box()
    out[0] = r.t


@wrong
def cannot_unpack(out: Out):
    """
    error E5204: a value of type float32 cannot be unpacked
        a, b = out[0]
               ^^^^^^
      hint: tuples, vectors and arrays can
    """
    a, b = out[0]
    out[1] = a + b


@wrong
def unpack_count(out: Out):
    """
    error E5205: 2 names for 3 values
        a, b = lc.dispatch_id()
               ^^^^^^^^^^^^^^^^
    """
    a, b = lc.dispatch_id()
    out[1] = lc.float32(a + b)


@wrong
def starred_target(out: Out):
    """
    error E5206: a starred target is not part of the kernel language
        a, *b = lc.dispatch_id()
           ^^
      hint: name each value
    """
    a, *b = lc.dispatch_id()
    out[1] = a


@lc.callable
def two_or_three(x):
    if x > 1.0:
        return x, x
    return x, x, x


@wrong
def tuple_length(out: Out):
    """
    error E5207: this tuple has 3 values, and earlier returns give 2
        return x, x, x
        ^^^^^^^^^^^^^^
      note: called from here
    """
    a, b = two_or_three(out[0])
    out[1] = a + b


@wrong
def tuple_index(out: Out):
    """
    error E5208: a tuple is indexed by one literal
        out[0] = t[lc.dispatch_id().x]
                 ^^^^^^^^^^^^^^^^^^^^^
      hint: use lc.array for values that a variable indexes
    """
    t = (out[0], out[1])
    out[0] = t[lc.dispatch_id().x]


@wrong
def tuple_index_range(out: Out):
    """
    error E2027: index 2 is outside the tuple
        out[0] = t[2]
                 ^^^^
      hint: indices run from 0 to 1; a negative one does not count from the end
    """
    t = (out[0], out[1])
    out[0] = t[2]


@wrong
def property_read_only(out: Out):
    """
    error E5209: Ray.end is a property without a setter
        r.end = 2.0
        ^^^^^
    """
    r = Ray()
    r.end = 2.0
    out[0] = r.t


@lc.callable
def ray_or_box(x):
    if x > 1.0:
        return Ray()
    return Box()


@wrong
def result_differs(out: Out):
    """
    error E5210: this returns Box, and the function returns Ray
        return Box()
        ^^^^^^^^^^^^
      note: called from here
    """
    r = ray_or_box(out[0])
    out[0] = r.t


@wrong
def shared_placement(out: Out):
    """
    error E5211: lc.shared stands alone on the right of a name, at the top level of a kernel
        tile = lc.shared(lc.float32, 16)
               ^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: tile = lc.shared(lc.float32, 256); hand it to callables by lc.Ref
    """
    if out[0] > 1.0:
        tile = lc.shared(lc.float32, 16)
        tile[0] = 1.0


@wrong
def shared_alone(out: Out):
    """
    error E5211: lc.shared stands alone on the right of a name, at the top level of a kernel
        lc.shared(lc.float32, 16)
        ^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: tile = lc.shared(lc.float32, 256); hand it to callables by lc.Ref
    """
    lc.shared(lc.float32, 16)
    out[0] = 1.0


@wrong
def shared_rebound(out: Out):
    """
    error E5212: 'tile' has a value already
        tile = lc.shared(lc.float32, 16)
        ^^^^
      hint: give the shared array a name of its own
    """
    tile = 1.0
    tile = lc.shared(lc.float32, 16)
    out[0] = tile[0]


@wrong
def shared_size(out: Out):
    """
    error E5213: the size of a shared array is a positive integer known while compiling, or a tuple of them
        tile = lc.shared(lc.float32, 0)
               ^^^^^^^^^^^^^^^^^^^^^^^^
    """
    tile = lc.shared(lc.float32, 0)
    out[0] = tile[0]


@wrong
def array_empty(out: Out):
    """
    error E5214: lc.array takes at least one value
        a = lc.array()
            ^^^^^^^^^^
      hint: lc.Array[T, n]() makes one of zeros
    """
    a = lc.array()
    out[0] = a[0]


@wrong
def no_attribute(out: Out):
    """
    error E5215: Buffer[float32] has no attribute 'size'
        out[0] = out.size
                 ^^^^^^^^
    """
    out[0] = out.size


@wrong
def no_attribute_of_module(out: Out):
    """
    error E5215: the module 'lcpy' has no attribute 'nothing'
        out[0] = lc.nothing(1.0)
                 ^^^^^^^^^^
    """
    out[0] = lc.nothing(1.0)


@wrong
def member_unknown(out: Out):
    """
    error E5216: Ray has no member 'length'
        out[0] = r.length
                 ^^^^^^^^
      hint: its members are origin, t
    """
    r = Ray()
    out[0] = r.length


@wrong
def no_subscript(out: Out):
    """
    error E5217: Ray cannot be indexed
        out[0] = r[0]
                 ^^^^
      hint: define __getitem__, or name the member
    """
    r = Ray()
    out[0] = r[0]


@wrong
def slice_refused(out: Out):
    """
    error E5218: a slice is not part of the kernel language
        x = out[1:3]
                ^^^
      hint: loop over the elements, or pass a view of the buffer
    """
    x = out[1:3]
    out[0] = x[0]


@wrong
def identity_of_value(out: Out):
    """
    error E5219: 'is' compares compile-time objects
        if out[0] is out[1]:
           ^^^^^^^^^^^^^^^^
      hint: use ==
    """
    if out[0] is out[1]:
        out[0] = 1.0


@wrong
def in_refused(out: Out):
    """
    error E5220: 'in' takes a tuple of values or a compile-time container
        if 1.0 in out:
           ^^^^^^^^^^
    """
    if 1.0 in out:
        out[0] = 1.0


@wrong
def swizzle_lanes(out: Out):
    """
    error E2022: 'z' does not name lanes of float2
        out[0] = lc.float2(1.0).z
                 ^^^^^^^^^^^^^^^^
      hint: lanes are x y z w or r g b a, not mixed, as many as the vector has
    """
    out[0] = lc.float2(1.0).z


@wrong
def swizzle_duplicate(out: Out):
    """
    error E2023: the target 'xx' names a lane twice
        v.xx = lc.float2(2.0)
               ^^^^^^^^^^^^^^
      hint: name each lane once
    """
    v = lc.float3(1.0)
    v.xx = lc.float2(2.0)
    out[0] = v.x


@wrong
def not_indexable(out: Out):
    """
    error E2024: float cannot be indexed
        out[0] = x[0]
                 ^^^^
    """
    x = out[0]
    out[0] = x[0]


@wrong
def index_count(out: Out):
    """
    error E2025: Buffer[float] takes 1 index, not 2
        out[0, 1] = 1.0
        ^^^^^^^^^
    """
    out[0, 1] = 1.0


@wrong
def not_integer(out: Out):
    """
    error E2026: an index is an integer, not float
        out[1.5] = 1.0
        ^^^^^^^^
      hint: convert it: lc.int(x)
    """
    out[1.5] = 1.0


@wrong
def index_range(out: Out):
    """
    error E2027: index 3 is outside float3
        out[0] = v[3]
                 ^^^^
      hint: indices run from 0 to 2; a negative one does not count from the end
    """
    v = lc.float3(1.0)
    out[0] = v[3]


@wrong
def index_negative(out: Out):
    """
    error E2027: index -1 is outside float3
        out[0] = v[-1]
                 ^^^^^
      hint: indices run from 0 to 2; a negative one does not count from the end
    """
    v = lc.float3(1.0)
    out[0] = v[-1]


@wrong
def whole_resource(out: lc.Buffer[lc.float32], other: Out):
    """
    error E2056: the two values of lc.select need one type, and Buffer[float] and Buffer[float] have none in common
        a = lc.select(out[0] > 1.0, out, other)
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: convert one of them
    """
    a = lc.select(out[0] > 1.0, out, other)
    out[0] = a[0]


@wrong
def declaration_type(out: Out):
    """
    error E2041: a variable cannot be Buffer[float]
        x: lc.Buffer[lc.float32]
        ^
    """
    x: lc.Buffer[lc.float32]
    out[0] = x[0]


@lc.callable
def count(x: lc.Ref[lc.float32]):
    x += 1.0
    return x


@wrong
def evaluated_early(out: Out):
    """
    error E5221: this part of the statement would run before what stands left of it
        out[0] = a + lc.float32(0.0 < count(a) < 3.0)
                                ^^^^^^^^^^^^^^^^^^^^
      hint: assign it to a variable first
    """
    a = out[0]
    out[0] = a + lc.float32(0.0 < count(a) < 3.0)
