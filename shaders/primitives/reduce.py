"""reduce: sum, product, min or max of a buffer.

Two launches. Each thread combines a strided share, a block combines its threads in a tree in shared
memory, and one block combines the blocks' results. The shares depend on the length alone, so the
same buffer gives the same bits on every device, whatever its warp width.
"""

import functools

import lcpy as lc

from .combine import COMBINE, check_op, identity

BLOCK = 256
BLOCKS = 256  # at most, in the first launch
UNROLL = 8


@functools.cache
def reduce_kernel(op):
    """The kernel for one operation: `partial[block]` is the combination of the block's share."""
    combine = COMBINE[op]

    @lc.kernel(block_size=(BLOCK, 1, 1))
    def reduce(source, partial, neutral):
        totals = lc.shared(source.dtype, BLOCK)
        thread = lc.thread_id().x
        total = neutral
        stride = lc.dispatch_size().x
        i = lc.dispatch_id().x
        # Whole rounds first: no comparison between the loads, so that they overlap.
        for _ in range(len(source) // (stride * UNROLL)):
            for step in lc.static(range(UNROLL)):
                total = combine(total, source[i + step * stride])
            i += stride * UNROLL
        while i < len(source):
            total = combine(total, source[i])
            i += stride
        totals[thread] = total
        lc.sync_block()
        for half in lc.static([128, 64, 32, 16, 8, 4, 2, 1]):
            if thread < half:
                totals[thread] = combine(totals[thread], totals[thread + half])
            lc.sync_block()
        if thread == 0:
            partial[lc.block_id().x] = totals[0]

    return reduce


def reduce_into(source, result, op="sum"):
    """Like `reduce`, but leaves the value in `result[0]`, a buffer of the same type and device."""
    check_op(op)
    neutral = source.type(identity(op, source.type.dtype))
    kernel = reduce_kernel(op)
    blocks = max(1, min(BLOCKS, -(-len(source) // (BLOCK * UNROLL))))
    if blocks == 1:
        kernel(source, result, neutral, dispatch_size=BLOCK)
        return
    partial = lc.empty(blocks, source.type, device=source.device)
    kernel(source, partial, neutral, dispatch_size=blocks * BLOCK)
    kernel(partial, result, neutral, dispatch_size=BLOCK)


def reduce(source, op="sum"):
    """Combines all elements of a buffer.

    Parameters
    ----------
    source : lc.Buffer of an integer or float scalar
    op : "sum", "product", "min" or "max"
        Of an empty buffer the operation's identity. Integers wrap; a NaN loses in min and max.

    Returns
    -------
    NumPy scalar of the element type
    """
    result = lc.empty(1, source.type, device=source.device)
    reduce_into(source, result, op)
    return result.numpy()[0]
