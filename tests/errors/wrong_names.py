"""Names, compile-time values, what is no part of the language."""

import sys

from wrong import wrong

import lcpy as lc

Out = lc.Buffer[lc.float32]
FLAG = True
SIZE = 10000
SCALE = 2.0
RAGGED = [[1, 2], [3]]


@wrong
def name_unknown(out: Out):
    """
    error E5101: name 'nothing' is not defined
        out[0] = nothing  # noqa: F821
                 ^^^^^^^
    """
    out[0] = nothing  # noqa: F821


@wrong
def name_unassigned(out: Out):
    """
    error E5102: 'SCALE' is read before it is assigned
        SCALE = SCALE * 2.0  # noqa: F823
                ^^^^^
      hint: assign it first; a name that the function assigns is its own, not the global
    """
    SCALE = SCALE * 2.0  # noqa: F823
    out[0] = SCALE


@wrong
def name_is_variable(out: Out):
    """
    error E5103: 'f' is a run-time variable and cannot hold a compile-time value
        f = lc.sin
        ^
      hint: use another name
    """
    f = 1.0
    f = lc.sin
    out[0] = f


@wrong
def name_is_static(out: Out):
    """
    error E5104: 'f' holds the function 'sin', a compile-time value, and cannot become a run-time variable
        f = f(1.0)
        ^
      hint: use another name
    """
    f = lc.sin
    f = f(1.0)
    out[0] = f


@wrong
def name_not_variable(out: Out):
    """
    error E5105: 'f' is not a variable of this function
        f += 1.0
        ^
    """

    def f(x):
        return x

    f += 1.0
    out[0] = 1.0


@wrong
def name_declared_twice(out: Out):
    """
    error E5106: 'x' has a type already
        x: lc.int32 = 2
        ^
      hint: a name keeps the type that it first got
    """
    x: lc.float32 = 1.0
    x: lc.int32 = 2
    out[0] = x


@wrong
def static_rebound(out: Out):
    """
    error E5107: 'f' holds a compile-time value and cannot change inside run-time control flow
        f = lc.cos
        ^
      hint: choose with lc.static, or use two names
    """
    f = lc.sin
    if out[0] > 1.0:
        f = lc.cos
    out[0] = f(1.0)


@wrong
def not_a_value(out: Out):
    """
    error E5108: the module 'sys' is not a value of a kernel
        out[0] = sys
                 ^^^
    """
    out[0] = sys


@wrong
def empty_tuple(out: Out):
    """
    error E5108: an empty tuple is not a value of a kernel
        out[0], y = 1.0, ()
                    ^^^^^^^
    """
    out[0], y = 1.0, ()


@wrong
def constant_refused(out: Out):
    """
    error E5109: a list whose parts differ in length cannot be a constant of a kernel
        out[0] = RAGGED
                 ^^^^^^
    """
    out[0] = RAGGED


@wrong
def buffer_reassigned(out: Out, other: Out):
    """
    error E5110: 'out' is a buffer; its name cannot be given to another
        out = other
              ^^^^^
      hint: use two names
    """
    out = other
    out[0] = 1.0


@wrong
def annotation_target(out: Out):
    """
    error E5111: only a name can be declared with a type
        out[0]: lc.float32 = 1.0
        ^^^^^^
    """
    out[0]: lc.float32 = 1.0


@wrong
def static_arguments(out: Out):
    """
    error E5112: lc.static takes one expression
        out[0] = lc.static(1, 2)
                 ^^^^^^^^^^^^^^^
    """
    out[0] = lc.static(1, 2)


@wrong
def static_failed(out: Out):
    """
    error E5113: evaluating this while compiling failed: IndexError: list index out of range
        out[0] = lc.static([1, 2][7])
                           ^^^^^^^^^
    """
    out[0] = lc.static([1, 2][7])


@wrong
def static_of_variable(out: Out):
    """
    error E5114: 'x' is a run-time variable, unknown while compiling
        out[0] = lc.static(x + 1)
                           ^
      hint: lc.static sees globals, enclosing values and other lc.static names
    """
    x = out[0]
    out[0] = lc.static(x + 1)


@wrong
def static_key(out: Out):
    """
    error E5115: a compile-time object is indexed by compile-time values
        a = lc.Array[lc.float32, n]()
                                 ^
    """
    n = lc.dispatch_id().x
    a = lc.Array[lc.float32, n]()
    out[0] = a[0]


@wrong
def unroll_limit(out: Out):
    """
    error E5116: unrolling this loop of 'unroll_limit' makes more copies, and 4096 is the limit
        for i in lc.static(range(SIZE)):
                 ^^^^^^^^^^^^^^^^^^^^^^
      hint: loop over range(...) without lc.static
    """
    for i in lc.static(range(SIZE)):
        out[i] = i


@wrong
def statement_refused(out: Out):
    """
    error E5009: del is not part of the kernel language
        del out
        ^^^^^^^
    """
    del out


@wrong
def statement_with(out: Out):
    """
    error E5009: with is not part of the kernel language
        with open("x"):
        ^
    """
    with open("x"):
        out[0] = 1.0


@wrong
def statement_try(out: Out):
    """
    error E5009: try is not part of the kernel language
        try:
        ^
    """
    try:
        out[0] = 1.0
    finally:
        pass


@wrong
def expression_refused(out: Out):
    """
    error E5010: a list (write lc.array(a, b, c), or lc.static(...) for host values) is not part of the kernel language
        a = [out[0], out[1]]
            ^^^^^^^^^^^^^^^^
    """
    a = [out[0], out[1]]
    out[0] = a[0]


@wrong
def expression_comprehension(out: Out):
    """
    error E5302: 'sum' is a function of the host
        a = sum(x for x in range(3))
            ^^^^^^^^^^^^^^^^^^^^^^^^
      hint: use lc.sum
    """
    a = sum(x for x in range(3))
    out[0] = a


@wrong
def literal_refused(out: Out):
    """
    error E5011: a complex literal is not part of the kernel language
        out[0] = 2j
                 ^^
    """
    out[0] = 2j


@wrong
def decorator_refused(out: Out):
    """
    error E5013: a function inside a kernel takes no decorator but lc.callable
        @lc.kernel
         ^^^^^^^^^
    """

    @lc.kernel
    def f(x):
        return x

    out[0] = f(1.0)


@wrong
def function_rebound(out: Out):
    """
    error E5014: the name of the function 'f' is taken already
        def f(x):  # noqa: F811
        ^
      hint: a nested function's name is not given to anything else
    """
    f = 1.0

    def f(x):  # noqa: F811
        return x

    out[0] = f(1.0)


@wrong
def default_run_time(out: Out):
    """
    error E5015: the default of 'y' is a run-time value
        def f(y=x):
                ^
      hint: defaults are known while compiling; pass the value as an argument
    """
    x = out[0]

    def f(y=x):
        return y

    out[0] = f()


@wrong
def nonlocal_unknown(out: Out):
    """
    error E5016: no enclosing function has a run-time variable 'late'
        nonlocal late
        ^^^^^^^^^^^^^
      hint: assign it there before the nested function is defined
      note: called from here
    """
    if FLAG:
        pass

    def f():
        nonlocal late
        late = 2.0

    f()
    late = 1.0
    out[0] = late


@wrong
def variable_arguments(out: Out):
    """
    error E5005: 'f' takes a variable number of arguments
        def f(*args):
               ^^^^
      hint: name each parameter
    """

    def f(*args):
        return 1.0

    out[0] = f(1.0)


@wrong
def annotation_no_type(out: Out, x: "SIZE"):
    """
    error E5006: the annotation of 'x' is no type: 10000
        def annotation_no_type(out: Out, x: "SIZE"):
                                            ^^^^^^
      hint: annotate with an lcpy type such as lc.float32 or lc.Buffer[lc.float3]
    """
    out[0] = x


@wrong
def annotation_failed(out: Out, x: "lc.Buffer[nothing]"):  # noqa: F821
    """
    error E5007: the annotation lc.Buffer[nothing] cannot be evaluated: NameError: name 'nothing' is not defined
        def annotation_failed(out: Out, x: "lc.Buffer[nothing]"):  # noqa: F821
                                           ^^^^^^^^^^^^^^^^^^^^
    """
    out[0] = x


@wrong
def kernel_reference(out: Out, x: lc.Ref[lc.float32]):
    """
    error E5008: a kernel's argument 'x' cannot be a reference
        def kernel_reference(out: Out, x: lc.Ref[lc.float32]):
                                       ^^^^^^^^^^^^^^^^^^^^^
      hint: pass a buffer, or float32 by value
    """
    out[0] = x
