"""Operands of the wrong type: what the builder refuses."""

from wrong import wrong

import lcpy as lc

Out = lc.Buffer[lc.float32]


@wrong
def operand_count(out: Out):
    """
    error E2004: lc.clamp takes 3 operands, not 2
        out[0] = lc.clamp(1.0, 2.0)
                 ^^^^^^^^^^^^^^^^^^
    """
    out[0] = lc.clamp(1.0, 2.0)


@wrong
def operand_type(out: Out):
    """
    error E2005: lc.cross does not take float
        out[0] = lc.cross(out[0], out[1])
                 ^^^^^^^^^^^^^^^^^^^^^^^^
      hint: it takes float vectors
    """
    out[0] = lc.cross(out[0], out[1])


@wrong(error=lc.UnsupportedError)
def op_refused(out: Out):
    """
    error E2003: lc.detach cannot be used yet: there is no automatic differentiation yet
        out[0] = lc.detach(out[1])
                 ^^^^^^^^^^^^^^^^^
    """
    out[0] = lc.detach(out[1])


@wrong
def lanes_differ(out: Out):
    """
    error E2006: '+' between float2 and float3: the numbers of lanes differ
        v = lc.float2(1.0) + lc.float3(2.0)
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: make them equal, for example by a swizzle
    """
    v = lc.float2(1.0) + lc.float3(2.0)
    out[0] = v.x


@wrong
def bool_arithmetic(out: Out):
    """
    error E2007: '+' on a bool: it is not a number
        out[0] = out[1] + b
                 ^^^^^^^^^^
      hint: convert it first, for example lc.int(x)
    """
    b = out[0] > 1.0
    out[0] = out[1] + b


@wrong
def sign_mix(out: Out):
    """
    error E2008: '+' between int and uint: signed and unsigned integers of equal width do not mix
        out[0] = lc.float32(a + b)
                            ^^^^^
      hint: convert one of them: lc.int(x) or lc.uint(x)
    """
    a = lc.int32(out[0])
    b = lc.uint32(out[1])
    out[0] = lc.float32(a + b)


@wrong
def literal_range(out: Out):
    """
    error E2009: the literal -1 does not fit uint
        out[0] = lc.float32(u + (-1))
                            ^^^^^^^^
      hint: convert it with lc.uint(-1), or use a wider type
    """
    u = lc.uint32(out[0])
    out[0] = lc.float32(u + (-1))


@wrong
def literal_too_large(out: Out):
    """
    error E2010: an integer literal of more than 64 bits
        out[0] = lc.float32(123456789012345678901234567890)
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: use a float
    """
    out[0] = lc.float32(123456789012345678901234567890)


@wrong
def literal_zero_division(out: Out):
    """
    error E2011: '//' by zero between literals
        out[0] = 1 // 0
                 ^^^^^^
    """
    out[0] = 1 // 0


@wrong
def literal_operation(out: Out):
    """
    error E2012: '**' between literals: Numerical result out of range
        out[0] = 2.0**10000
                 ^^^^^^^^^^
    """
    out[0] = 2.0**10000


@wrong
def literal_shifted_far(out: Out):
    """
    error E2012: '<<' between literals: the integer would have more than 65536 bits
        out[0] = 1 << 100_000_000_000
                 ^^^^^^^^^^^^^^^^^^^^
    """
    out[0] = 1 << 100_000_000_000


@wrong
def literal_beyond_floats(out: Out):
    """
    error E2009: the literal inf does not fit any float
        out[0] = 1e999
                 ^^^^^
      hint: infinity is spelled math.inf
    """
    out[0] = 1e999


@wrong
def literal_too_many_bits(out: Out):
    """
    error E2012: '**' between literals: the integer would have more than 65536 bits
        out[0] = 3 ** (10**9)
                 ^^^^^^^^^^^^
    """
    out[0] = 3 ** (10**9)


@wrong
def not_exact(out: Out):
    """
    error E2013: variable 'i' is int, and float does not convert to it by itself: values could change
        i = out[0]
            ^^^^^^
      hint: convert it: lc.int(x)
    """
    i = 1
    i = out[0]
    out[0] = i


@wrong
def wrong_type(out: Out):
    """
    error E2014: variable 'v' is float3, not float
        v = 2.0
            ^^^
      hint: spread it: lc.float3(x)
    """
    v = lc.float3(1.0)
    v = 2.0
    out[0] = v.x


@wrong
def condition_type(out: Out):
    """
    error E2015: a condition is a bool, not bool3
        if v > 1.0:
           ^^^^^^^
      hint: say which lanes: lc.all(x) or lc.any(x)
    """
    v = lc.float3(out[0])
    if v > 1.0:
        out[0] = 1.0


@wrong
def condition_number(out: Out):
    """
    error E2015: a condition is a bool, not float
        if out[0]:
           ^^^^^^
      hint: compare it, for example x != 0
    """
    if out[0]:
        out[0] = 1.0


@wrong
def bool_operator(out: Out):
    """
    error E2016: 'and' takes single bools, not bool3
        if (v > 1.0) and (v < 2.0):
           ^^^^^^^^^^^^^^^^^^^^^^^
      hint: by lane it is '&' and '|'; for one answer lc.all(x) or lc.any(x)
    """
    v = lc.float3(out[0])
    if (v > 1.0) and (v < 2.0):
        out[0] = 1.0


@wrong
def matrix_product(out: Out):
    """
    error E2017: '*' between float3x3 and float3 is element-wise, and their shapes differ
        v = m * lc.float3(1.0)
            ^^^^^^^^^^^^^^^^^^
      hint: use '@' for linear algebra
    """
    m = lc.float3x3.identity()
    v = m * lc.float3(1.0)
    out[0] = v.x


@wrong
def matmul_shape(out: Out):
    """
    error E2018: '@' does not go between float3x3 and float2
        v = m @ lc.float2(1.0)
            ^^^^^^^^^^^^^^^^^^
      hint: it takes matrices and vectors of equal size
    """
    m = lc.float3x3.identity()
    v = m @ lc.float2(1.0)
    out[0] = v.x


@wrong
def negative_power(out: Out):
    """
    error E2019: an integer to the power -2 is not an integer
        out[0] = lc.float32(i**-2)
                            ^^^^^
      hint: make the base a float: lc.float(x) ** -2
    """
    i = lc.int32(out[0])
    out[0] = lc.float32(i**-2)


@lc.callable
def nothing(x):
    x += 1.0


@wrong
def no_value(out: Out):
    """
    error E2020: 'x' takes a value, and this call gives none
        x = nothing(out[0])
            ^^^^^^^^^^^^^^^
    """
    x = nothing(out[0])
    out[0] = x


@wrong
def no_value_operand(out: Out):
    """
    error E2020: '+' takes a value, and this call gives none
        out[0] = 1.0 + nothing(out[0])
                 ^^^^^^^^^^^^^^^^^^^^^
    """
    out[0] = 1.0 + nothing(out[0])


@wrong
def atomic_place(out: Out):
    """
    error E2029: lc.atomic_add needs a place in a buffer or a shared array
        lc.atomic_add(x, 1.0)
        ^^^^^^^^^^^^^^^^^^^^^
      hint: for example buffer[i] or shared[i].member
    """
    x = out[0]
    lc.atomic_add(x, 1.0)


@wrong
def atomic_type(out: lc.Buffer[lc.int16]):
    """
    error E2030: lc.atomic_add does not work on short
        lc.atomic_add(out[0], 1)
        ^^^^^^^^^^^^^^^^^^^^^^^^
      hint: it works on 32- and 64-bit integers and floats
    """
    lc.atomic_add(out[0], 1)


@wrong
def make_lanes(out: Out):
    """
    error E2031: float4 is made from 4 lanes, not 5
        out[0] = lc.float4(lc.float3(1.0), lc.float2(2.0)).x
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    """
    out[0] = lc.float4(lc.float3(1.0), lc.float2(2.0)).x


@wrong
def make_parts(out: Out):
    """
    error E2032: float3 cannot be made from float3x3
        v = lc.float3(lc.float3x3.identity())
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    """
    v = lc.float3(lc.float3x3.identity())
    out[0] = v.x


@wrong
def cast_type(out: Out):
    """
    error E2033: float3 does not convert to float
        out[0] = lc.float32(lc.float3(1.0))
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^
    """
    out[0] = lc.float32(lc.float3(1.0))


@wrong
def bitcast_size(out: Out):
    """
    error E2034: lc.bitcast from float to double: it takes numbers, or vectors of them, of equal size
        out[0] = lc.bitcast(lc.float64, out[0])
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    """
    out[0] = lc.bitcast(lc.float64, out[0])


@wrong
def block_size_unused(out: Out):
    """
    error E2004: lc.block_size takes 0 operands, not 1
        out[0] = lc.block_size(1)
                 ^^^^^^^^^^^^^^^^
    """
    out[0] = lc.block_size(1)


@wrong
def return_mismatch(out: Out):
    """
    error E2013: the result of 'f' is int, and float does not convert to it by itself: values could change
        return x
        ^^^^^^^^
      hint: convert it: lc.int(x)
      note: called from here
    """

    def f(x):
        if x > 1.0:
            return 1
        return x

    out[0] = f(out[0])


@wrong
def return_missing(out: Out):
    """
    error E2047: 'f' returns float, and a path through it ends without a return
        def f(x):
        ^
      hint: end every path with a return
      note: called from here
    """

    def f(x):
        if x > 1.0:
            return x

    out[0] = f(out[0])


@wrong
def range_step(out: Out):
    """
    error E2048: the step of a range is zero
        for i in range(0, 10, 0):
                 ^^^^^^^^^^^^^^^
    """
    for i in range(0, 10, 0):
        out[i] = 1.0


@wrong
def range_variable(out: Out):
    """
    error E2049: a range counts integers, not float
        for i in range(out[0]):
                 ^^^^^^^^^^^^^
    """
    for i in range(out[0]):
        out[i] = 1.0


@wrong
def switch_type(out: Out):
    """
    error E2050: a match is on an integer, not float
        match out[0]:
              ^^^^^^
    """
    match out[0]:
        case 1:
            out[0] = 2.0


@wrong
def case_value(out: lc.Buffer[lc.uint8]):
    """
    error E2009: the literal 300 does not fit ubyte
        case 300:
             ^^^
      hint: convert it with lc.ubyte(300), or use a wider type
    """
    match out[0]:
        case 300:
            out[0] = 2


@wrong
def no_common_type(out: Out):
    """
    error E2056: the two sides of a conditional expression need one type, and float3 and float2 have none in common
        x = lc.float3(1.0) if out[0] > 1.0 else lc.float2(1.0)
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: convert one of them
    """
    x = lc.float3(1.0) if out[0] > 1.0 else lc.float2(1.0)
    out[0] = x.x


@wrong
def kernel_returns(out: Out):
    """
    error E2045: a kernel returns nothing
        return out[0]
        ^^^^^^^^^^^^^
      hint: write the value to a buffer
    """
    return out[0]
