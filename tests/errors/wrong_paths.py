"""Paths: variables that may be unassigned, barriers that not every thread reaches, what reaches
memory."""

from wrong import wrong

import lcpy as lc

Out = lc.Buffer[lc.float32]


@lc.struct
class Mixed:
    a: lc.float32
    b: lc.int16


@lc.callable
def add_to(x: lc.Ref[lc.float32]):
    lc.atomic_add(x, 1.0)


@wrong
def variable_unassigned(out: Out):
    """
    error E3001: variable 'x' is read where it may be unassigned
        out[0] = x
                 ^
      hint: assign it on every path before this
      note: 'x' is assigned on some paths through this only
    """
    if out[0] > 1.0:
        x = 1.0
    out[0] = x


@wrong
def variable_unassigned_in_loop(out: Out, n: lc.int32):
    """
    error E3001: variable 'x' is read where it may be unassigned
        out[0] = x
                 ^
      hint: assign it on every path before this
      note: 'x' may be unassigned when the loop ends here
    """
    for i in range(n):
        x = out[i]
    out[0] = x


@wrong
def loop_variable_unassigned(out: Out, n: lc.int32):
    """
    error E3001: variable 'i' is read where it may be unassigned
        out[0] = lc.float32(i)
                            ^
      hint: assign it on every path before this
      note: 'i' may be unassigned when the loop ends here
    """
    for i in range(n):
        out[i] = 1.0
    out[0] = lc.float32(i)


@wrong
def divergent_barrier(out: Out):
    """
    error E3009: sync_block() is not reached by every thread of the block
        lc.sync_block()
        ^^^^^^^^^^^^^^^
      hint: move it out of the branch or loop that only some threads take
      note: the threads of a block part here
    """
    tile = lc.shared(lc.float32, 64)
    i = lc.thread_id().x
    if i < 32:
        tile[i] = out[i]
        lc.sync_block()
    out[i] = tile[63 - i]


@wrong
def atomic_reference(out: Out):
    """
    error E3008: an atomic operation on a copy: a reference reaches memory only when it comes from a shared array
        lc.atomic_add(x, 1.0)
        ^^^^^^^^^^^^^^^^^^^^^
      hint: pass the buffer and the index
      note: 'add_to' is called here
    """
    x = 1.0
    add_to(x)
    out[0] = x


@wrong(error=lc.UnsupportedError)
def packed_atomic(out: lc.types.buffer_type(Mixed, 1, True)):
    """
    error E3007: an atomic operation on float in a packed buffer whose elements mix scalars of several types
        lc.atomic_add(out[0].a, 1.0)
        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: use an ordinary buffer
    """
    lc.atomic_add(out[0].a, 1.0)
