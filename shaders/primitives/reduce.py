"""reduce: sum, product, min or max of a buffer.

Two launches. 64 threads walk a contiguous stretch side by side: GPUs read whole lines, and devices
that run few threads at a time find the stretch in a cache. A block combines its threads' results in
two steps of sixteen in shared memory; one block combines the blocks' results. The stretches depend
on the length alone, so the same buffer gives the same bits everywhere, whatever the warp width.
"""

import functools

import lcpy as lc

from .combine import COMBINE, check_op, identity

BLOCK = 256
SIDE = 16  # BLOCK = SIDE * SIDE
GROUP = 64  # threads that walk side by side
UNROLL = 8
LEAST, MOST = 2, 32  # rounds of UNROLL elements a thread
AIM = 512  # blocks, as long as each thread has enough to do


@functools.cache
def reduce_kernel(op, element):
    """The kernel for an operation and element type: `partial[block]` combines the block's chunk."""
    combine = COMBINE[op]

    @lc.kernel(block_size=(BLOCK, 1, 1))
    def reduce(source, partial, neutral: element, rounds: lc.uint32):
        totals = lc.shared(element, BLOCK)
        thread = lc.thread_id().x
        stretch = rounds * (UNROLL * GROUP)
        start = (lc.block_id().x * (BLOCK // GROUP) + thread // GROUP) * stretch
        i = start + thread % GROUP
        total = neutral
        if start < len(source) and stretch <= len(source) - start:
            for _ in range(rounds):
                for step in lc.static(range(UNROLL)):
                    total = combine(total, source[i + step * GROUP])
                i += UNROLL * GROUP
        else:
            for _ in range(rounds * UNROLL):
                if start <= i < len(source):  # i may wrap at the end of 2^32
                    total = combine(total, source[i])
                i += GROUP
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
    neutral = identity(op, source.type.dtype)
    kernel = reduce_kernel(op, source.type)
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
