"""assert, print and lc.trap."""

from wrong import wrong

import lcpy as lc

Out = lc.Buffer[lc.float32]
Ints = lc.Buffer[lc.int32]


@lc.external(opencl="float twice(float x) { return 2 * x; }")
def twice(x: lc.float32) -> lc.float32:
    assert x > 0
    return 2 * x


@wrong
def assert_message(out: Out):
    """
    error E5330: the message of an assert is a text known while compiling
        assert out[0] > 0, f"it is {out[0]}"
                           ^^^^^^^^^^^^^^^^^
      hint: print the values before the assert
    """
    assert out[0] > 0, f"it is {out[0]}"


@wrong
def assert_condition(out: Out):
    """
    error E2015: a condition is a bool, not bool2
        assert lc.float2(out[0], 1.0) > 0, "positive"
        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: say which lanes: lc.all(x) or lc.any(x)
    """
    assert lc.float2(out[0], 1.0) > 0, "positive"


@wrong
def assert_number(a: Ints):
    """
    error E2015: a condition is a bool, not int
        assert a[0], "not zero"
        ^^^^^^^^^^^^^^^^^^^^^^^
      hint: compare it, for example x != 0
    """
    assert a[0], "not zero"


@wrong
def trap_code(out: Out):
    """
    error E2026: a trap's code is an integer, not float
        lc.trap(out[0])
        ^^^^^^^^^^^^^^^
      hint: convert it: lc.int(x)
    """
    lc.trap(out[0])


@wrong
def trap_without_code(out: Out):
    """
    error E2004: lc.trap takes 1 operands, not 0
        lc.trap()
        ^^^^^^^^^
    """
    lc.trap()


@wrong
def print_option(out: Out):
    """
    error E5331: print does not take 'file' in a kernel
        print(out[0], file=None)
                           ^^^^
      hint: it takes values, sep and end
    """
    print(out[0], file=None)


@wrong
def print_starred(out: Out):
    """
    error E5331: print does not take '*' in a kernel
        print(*(out[0], out[1]))
              ^^^^^^^^^^^^^^^^^
      hint: it takes values, sep and end
    """
    print(*(out[0], out[1]))


@wrong
def print_separator(out: Out):
    """
    error E5332: 'sep' of print is a text known while compiling, or None
        print(out[0], sep=1)
                          ^
    """
    print(out[0], sep=1)


@wrong
def print_spec(out: Out):
    """
    error E5333: this format is not possible: Unknown format code 'd' for object of type 'float'
        print(f"{out[0]:d}")
                 ^^^^^^
    """
    print(f"{out[0]:d}")


@wrong
def print_spec_of_a_variable(a: Ints):
    """
    error E5333: this format is not possible: it depends on a run-time value
        print(f"{a[0]:{a[1]}}")
              ^^^^^^^^^^^^^^^^
    """
    print(f"{a[0]:{a[1]}}")


@wrong
def print_constant_spec(out: Out):
    """
    error E5333: this format is not possible: Unknown format code 'd' for object of type 'str'
        print(f"{'text':d}", out[0])
                 ^^^^^^
    """
    print(f"{'text':d}", out[0])


@wrong
def print_buffer(out: Out):
    """
    error E5334: a buffer is not printed as a whole
        print("buffer", out)
                        ^^^
      hint: print its elements, or buffer.numpy() on the host
    """
    print("buffer", out)


@wrong
def print_conversion(out: Out):
    """
    error E5335: a conversion such as !r together with a format spec: the spec would format a text
        print(f"{out[0]!r:>8}")
                 ^^^^^^
      hint: leave one of them out
    """
    print(f"{out[0]!r:>8}")


@wrong
def print_nothing(out: Out):
    """
    error E2020: print takes a value, and this call gives none
        print(lc.sync_block())
              ^^^^^^^^^^^^^^^
    """
    print(lc.sync_block())


@wrong
def print_too_long(out: Out):
    """
    error E3010: a print of more than 512 numbers
        print(many)
        ^^^^^^^^^^^
      hint: print fewer, or in several calls
    """
    many = lc.Array[lc.float32, 600]()
    print(many)


@wrong
def print_as_a_value(out: Out):
    """
    error E5108: None is not a value of a kernel
        out[0] = print(1)
                 ^^^^^^^^
    """
    out[0] = print(1)


@wrong(error=lc.UnsupportedError)
def report_escape(a: Ints):
    """
    error E3011: the way to a barrier leads out of a branch or loop that can trap, by more than one branch
        if a[0] > 1:
           ^^^^^^^^
      hint: move what can trap (assert, lc.trap, checked accesses) before it, or the jump out of the inner branch
    """
    while True:
        if a[0] > 1:
            assert a[1] > 0
            if a[2] > 1:
                break
        lc.sync_block()


@wrong(error=lc.UnsupportedError)
def report_external(out: Out):
    """
    error E3012: the body of the external function 'twice' can trap, by an assert, lc.trap or a checked access
        def twice(x: lc.float32) -> lc.float32:
        ^
      hint: check before the call
    """
    out[0] = twice(out[1])
