"""reduce: sum, product, min or max of a buffer.

Two launches. A block takes a contiguous chunk, its threads side by side, so that a chunk stays in a
cache on devices that run threads one after the other; then it combines its threads' results in two
steps of sixteen in shared memory. One block combines the blocks' results. The chunks depend on the
length alone, so the same buffer gives the same bits on every device, whatever its warp width.
"""

import functools

import lcpy as lc

from .combine import COMBINE, check_op, identity

BLOCK = 256
SIDE = 16  # BLOCK = SIDE * SIDE
UNROLL = 8
LEAST, MOST = 2, 32  # rounds of UNROLL elements a thread
AIM = 512  # blocks, as long as each thread has enough to do


@functools.cache
def reduce_kernel(op):
    """The kernel for one operation: `partial[block]` is the combination of the block's chunk."""
    combine = COMBINE[op]

    @lc.kernel(block_size=(BLOCK, 1, 1))
    def reduce(source, partial, neutral, rounds: lc.uint32):
        totals = lc.shared(source.dtype, BLOCK)
        thread = lc.thread_id().x
        start = lc.block_id().x * rounds * (UNROLL * BLOCK)
        i = start + thread
        total = neutral
        if start + rounds * (UNROLL * BLOCK) <= len(source):
            for _ in range(rounds):
                for step in lc.static(range(UNROLL)):
                    total = combine(total, source[i + step * BLOCK])
                i += UNROLL * BLOCK
        else:
            while i < len(source):
                total = combine(total, source[i])
                i += BLOCK
        totals[thread] = total
        lc.sync_block()
        if thread < SIDE:
            for k in lc.static(range(1, SIDE)):
                total = combine(total, totals[thread + k * SIDE])
            totals[thread] = total
        lc.sync_block()
        if thread == 0:
            for k in lc.static(range(1, SIDE)):
                total = combine(total, totals[k])
            partial[lc.block_id().x] = total

    return reduce


def reduce_into(source, result, op="sum"):
    """Like `reduce`, but leaves the value in `result[0]`, a buffer of the same type and device."""
    check_op(op)
    neutral = source.type(identity(op, source.type.dtype))
    kernel = reduce_kernel(op)
    rounds = min(max(-(-len(source) // (BLOCK * UNROLL * AIM)), LEAST), MOST)
    blocks = -(-len(source) // (BLOCK * UNROLL * rounds))
    if blocks <= 1:
        kernel(source, result, neutral, rounds, dispatch_size=BLOCK)
        return
    partial = lc.empty(blocks, source.type, device=source.device)
    kernel(source, partial, neutral, rounds, dispatch_size=blocks * BLOCK)
    rounds = -(-blocks // (BLOCK * UNROLL))
    kernel(partial, result, neutral, rounds, dispatch_size=BLOCK)


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
