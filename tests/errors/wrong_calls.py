"""Calls, arguments, loops and patterns."""

import os

from wrong import wrong

import lcpy as lc

Out = lc.Buffer[lc.float32]


@lc.struct
class Ray:
    t: lc.float32


@lc.struct
class Box:
    t: lc.float32


@lc.kernel
def other_kernel(out: Out):
    out[0] = 1.0


@lc.callable
def bump(x: lc.Ref[lc.float32], by: lc.float32 = 1.0):
    x += by


@lc.callable
def bump_both(x: lc.Ref[lc.float32], y: lc.Ref[lc.float32]):
    x += y


@lc.callable
def of_ray(r: Ray, n: lc.int32 = 1):
    return r.t


@lc.callable
def around(x):
    return inside(x)


@lc.callable
def inside(x):
    return around(x)


@lc.callable
def outer_of_wrong(x):
    return middle_of_wrong(x)


@lc.callable
def middle_of_wrong(x):
    return x + lc.float2(1.0).z


def takes_many(*values):
    return 1.0


@wrong
def not_callable(out: Out):
    """
    error E5301: a value of type float32 cannot be called in a kernel
        out[0] = out[0](1)
                 ^^^^^^^^^
    """
    out[0] = out[0](1)


@wrong
def not_callable_object(out: Out):
    """
    error E5215: the type float32 has no attribute 'nothing'
        out[0] = Out.element.nothing()
                 ^^^^^^^^^^^^^^^^^^^
    """
    out[0] = Out.element.nothing()


@wrong
def host_function(out: Out):
    """
    error E5302: 'input' is a function of the host
        input(out[0])
        ^^^^^^^^^^^^^
      hint: kernels call lc.* functions, those of the math module, and functions read from their source
    """
    input(out[0])


@wrong
def host_function_of_module(out: Out):
    """
    error E5302: 'posix.getpid' is a function of the host
        out[0] = os.getpid()
                 ^^^^^^^^^^^
      hint: kernels call lc.* functions, those of the math module, and functions read from their source
    """
    out[0] = os.getpid()


@wrong
def host_function_of_lcpy(out: Out):
    """
    error E5302: 'lc.synchronize' is a function of the host
        lc.synchronize()
        ^^^^^^^^^^^^^^^^
      hint: kernels call lc.* functions, those of the math module, and functions read from their source
    """
    lc.synchronize()


@wrong
def kernel_called(out: Out):
    """
    error E5303: 'other_kernel' is a kernel and cannot be called from a kernel
        other_kernel(out)
        ^^^^^^^^^^^^^^^^^
      hint: make it an lc.callable
    """
    other_kernel(out)


@wrong
def too_many_arguments(out: Out):
    """
    error E5304: 'bump' takes 2 arguments, not 3
        bump(out[0], 1.0, 2.0)
        ^^^^^^^^^^^^^^^^^^^^^^
    """
    bump(out[0], 1.0, 2.0)


@wrong
def missing_argument(out: Out):
    """
    error E5305: 'bump' lacks a value for 'x'
        bump()
        ^^^^^^
    """
    bump()
    out[0] = 1.0


@wrong
def unknown_argument(out: Out):
    """
    error E5306: 'bump' has no parameter 'amount'
        bump(out[0], amount=2.0)
        ^^^^^^^^^^^^^^^^^^^^^^^^
    """
    bump(out[0], amount=2.0)


@wrong
def argument_twice(out: Out):
    """
    error E5307: 'bump' gets 'x' twice
        bump(out[0], x=out[1])
        ^^^^^^^^^^^^^^^^^^^^^^
    """
    bump(out[0], x=out[1])


@wrong
def keyword_refused(out: Out):
    """
    error E5308: 'clamp' takes its arguments by position
        out[0] = lc.clamp(out[0], lo=1.0, hi=2.0)
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    """
    out[0] = lc.clamp(out[0], lo=1.0, hi=2.0)


@wrong
def double_starred(out: Out):
    """
    error E5309: ** is not part of the kernel language
        bump(**{"x": out[0]})
               ^^^^^^^^^^^^^
      hint: name each argument
    """
    bump(**{"x": out[0]})


@wrong
def argument_refused(out: Out):
    """
    error E5310: argument 'r' takes Ray, not the function 'sin'
        out[0] = of_ray(lc.sin)
                 ^^^^^^^^^^^^^^
    """
    out[0] = of_ray(lc.sin)


@wrong
def argument_of_other_struct(out: Out):
    """
    error E5202: argument 'r' takes Ray, not Box
        out[0] = of_ray(Box(1.0))
                 ^^^^^^^^^^^^^^^^
    """
    out[0] = of_ray(Box(1.0))


@wrong
def argument_not_exact(out: Out):
    """
    error E2013: argument 'n' is int, and float does not convert to it by itself: values could change
        out[0] = of_ray(Ray(1.0), out[0])
                 ^^^^^^^^^^^^^^^^^^^^^^^^
      hint: convert it: lc.int(x)
    """
    out[0] = of_ray(Ray(1.0), out[0])


@wrong
def reference_needs_place(out: Out):
    """
    error E5311: argument 'x' is a reference to float32: it takes a place, not a value
        bump(out[0] + 1.0)
        ^^^^^^^^^^^^^^^^^^
      hint: pass a variable, a member or an element
    """
    bump(out[0] + 1.0)


@wrong
def reference_type(out: Out):
    """
    error E2038: argument 'x' of 'bump' is a reference to float, not to int
        bump(i)
        ^^^^^^^
      hint: a reference does not convert; use a variable of its type
    """
    i = 1
    bump(i)
    out[0] = 1.0


@wrong
def reference_overlap(out: Out):
    """
    error E2039: arguments 'x' and 'y' of 'bump_both' are the same memory, and it is written
        bump_both(out[0], out[0])
        ^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: pass a copy for one of them
    """
    bump_both(out[0], out[0])


@wrong
def resource_argument(out: Out, n: lc.Buffer[lc.int32]):
    """
    error E5310: argument 'b' takes Buffer[float32], not Buffer[int32]
        out[0] = f(n)
                 ^^^^
    """

    def f(b: lc.Buffer[lc.float32]):
        return b[0]

    out[0] = f(n)


@wrong
def recursion(out: Out):
    """
    error E5312: functions call themselves: around → inside → around
        return around(x)
               ^^^^^^^^^
      hint: there is no recursion; use a loop
      note: called from here
      note: called from here
    """
    out[0] = around(out[0])


@wrong
def call_chain(out: Out):
    """
    error E2022: 'z' does not name lanes of float2
        return x + lc.float2(1.0).z
                   ^^^^^^^^^^^^^^^^
      hint: lanes are x y z w or r g b a, not mixed, as many as the vector has
      note: called from here
      note: called from here
    """
    out[0] = outer_of_wrong(out[0])


@wrong
def variable_arguments(out: Out):
    """
    error E5005: 'takes_many' takes a variable number of arguments
        def takes_many(*values):
                        ^^^^^^
      hint: name each parameter
    """
    out[0] = takes_many(1.0)


@wrong
def type_argument(out: Out):
    """
    error E5313: lc.bitcast takes a type first
        out[0] = lc.bitcast(out[0], lc.float32)
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: lc.bitcast(lc.float32, ...)
    """
    out[0] = lc.bitcast(out[0], lc.float32)


@wrong
def not_constructible(out: Out):
    """
    error E5314: Buffer[float32] cannot be made in a kernel
        b = Out(3)
            ^^^^^^
    """
    b = Out(3)
    out[0] = b[0]


@wrong
def python_arguments(out: Out):
    """
    error E5315: 'round' does not take these arguments in a kernel
        out[0] = round(out[0], 2)
                 ^^^^^^^^^^^^^^^^
    """
    out[0] = round(out[0], 2)


@wrong
def no_length(out: Out):
    """
    error E5316: a value of type float32 has no length
        out[0] = len(out[0])
                 ^^^^^^^^^^^
    """
    out[0] = len(out[0])


@wrong
def atomic_order(out: Out):
    """
    error E5317: lc.atomic_add does not take the order 'sloppy'
        lc.atomic_add(out[0], 1.0, order="sloppy")
        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: it takes 'relaxed', 'acquire', 'release', 'acq_rel' or 'seq_cst'
    """
    lc.atomic_add(out[0], 1.0, order="sloppy")


@wrong
def order_of_a_load(out: Out):
    """
    error E5317: lc.atomic_load does not take the order 'release'
        out[0] = lc.atomic_load(out[1], order="release")
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: it takes 'relaxed', 'acquire' or 'seq_cst': it writes nothing
    """
    out[0] = lc.atomic_load(out[1], order="release")


@wrong
def order_of_a_store(out: Out):
    """
    error E5317: lc.atomic_store does not take the order 'acq_rel'
        lc.atomic_store(out[1], 0.0, order="acq_rel")
        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: it takes 'relaxed', 'release' or 'seq_cst': it reads nothing
    """
    lc.atomic_store(out[1], 0.0, order="acq_rel")


@wrong
def for_refused(out: Out):
    """
    error E5401: a for loop does not go over a run-time value
        for x in out:
                 ^^^
      hint: loop over range(...), or unroll with lc.static(...)
    """
    for x in out:
        out[0] = x


@wrong
def for_over_enumerate(out: Out):
    """
    error E5401: a for loop does not go over the class enumerate
        for i, x in enumerate((1.0, 2.0)):
                    ^^^^^^^^^^^^^^^^^^^^^
      hint: loop over range(...), or unroll with lc.static(...)
    """
    for i, x in enumerate((1.0, 2.0)):
        out[i] = x


@wrong
def for_target(out: Out):
    """
    error E5402: a loop over range counts in one name
        for a, b in range(3):
            ^^^^
    """
    for a, b in range(3):
        out[a] = b


@wrong
def range_arguments(out: Out):
    """
    error E5403: range takes one to three integers
        for i in range():
                 ^^^^^^^
    """
    for i in range():
        out[i] = 1.0


@wrong
def range_placement(out: Out):
    """
    error E5404: range stands in the head of a for loop
        r = range(3)
            ^^^^^^^^
    """
    r = range(3)
    out[0] = 1.0


@wrong
def pattern_refused(out: Out):
    """
    error E5405: this pattern is not part of the kernel language
        case [a, b]:
             ^^^^^^
      hint: a case is an integer, several joined by |, a name, or _
    """
    match lc.dispatch_id().x:
        case [a, b]:
            out[0] = 1.0


@lc.external(opencl="float turn(int x) { return 1.0f; }")
def turn(x: lc.float2x2) -> lc.float32: ...


@lc.external(opencl="void peek(__global float* a) {}", usages={"a": "read"})
def peek(a: Out):
    a[0] = 1.0


@wrong
def external_type(out: Out):
    """
    error E2090: argument 'x' of external function 'turn' is float2x2
        def turn(x: lc.float2x2) -> lc.float32: ...
                 ^^^^^^^^^^^^^^
      hint: external functions take and give numbers, vectors of numbers, bools, and buffers of numbers and vectors that are not packed
      note: called from here
    """
    out[0] = turn(lc.float2x2.identity())


@wrong
def external_usage(out: Out):
    """
    error E2091: the body of external function 'peek' does more with 'a' than its usage says
        def peek(a: Out):
                 ^^^^^^
      hint: say "read_write" of it in usages
      note: called from here
    """
    peek(out)


def either(flag):
    if flag:
        return lambda x: x + 1.0
    return lambda x: x - 1.0


@wrong
def function_chosen_at_run_time(out: Out):
    """
    error E5222: which compile-time value this function returns is not known while compiling
        return lambda x: x + 1.0
        ^^^^^^^^^^^^^^^^^^^^^^^^
      hint: return it from the function's own level, the same on every path; choose with lc.static
      note: called from here
    """
    f = either(out[0] > 0.0)
    out[0] = f(out[1])


def function_and_value(x):
    return (lambda v: v), x


@wrong
def function_returned_with_value(out: Out):
    """
    error E5223: functions and run-time values are returned together
        return (lambda v: v), x
        ^^^^^^^^^^^^^^^^^^^^^^^
      hint: return them from two functions
      note: called from here
    """
    f, x = function_and_value(out[0])
    out[0] = f(x)


def over_reference(x: lc.Ref[lc.float32]):
    return lambda v: x + v


@wrong
def function_returned_over_reference(out: Out):
    """
    error E5224: the function returned uses 'x', which ends with this call
        return lambda v: x + v
        ^^^^^^^^^^^^^^^^^^^^^^
      hint: pass it to the returned function as an argument
      note: called from here
    """
    a = out[0]
    out[0] = over_reference(a)(1.0)


def more_and_more(f, x):
    return more_and_more(lambda v: f(v), x)


@wrong
def recursion_through_lambdas(out: Out):
    """
    error E5312: functions call themselves: more_and_more → more_and_more
        return more_and_more(lambda v: f(v), x)
               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: there is no recursion; use a loop
      note: called from here
      note: called from here
    """
    out[0] = more_and_more(lambda v: v, out[0])


def keeps(k):
    return lambda v: v + k


@wrong
def function_returned_in_a_branch(out: Out):
    """
    error E5221: this part of the statement would run before what stands left of it
        out[0] = 0.0 if out[0] > 1.0 else keeps(out[1])(2.0)
                                          ^^^^^^^^^^^^^
      hint: assign it to a variable first
    """
    out[0] = 0.0 if out[0] > 1.0 else keeps(out[1])(2.0)
