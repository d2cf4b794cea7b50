"""inclusive_scan and exclusive_scan: running sums (or products, minima, maxima) of a buffer.

Three steps: the total of each tile, the exclusive scan of those totals (the same again, for few
elements), and the scan within each tile on top of its offset. Only barriers and shared memory are
used, never the width of a warp. The order of combination depends on the length alone.
"""

import functools

import lcpy as lc

from .combine import COMBINE, check_op, identity

BLOCK = 256
ITEMS = 8  # consecutive elements of one thread
TILE = BLOCK * ITEMS


@functools.cache
def scan_kernels(op):
    """(totals, scan) for one operation."""
    combine = COMBINE[op]

    @lc.kernel(block_size=(BLOCK, 1, 1))
    def tile_totals(source, totals, neutral):
        shared = lc.shared(source.dtype, TILE)
        sums = lc.shared(source.dtype, BLOCK)
        thread = lc.thread_id().x
        first = lc.block_id().x * TILE
        for k in lc.static(range(ITEMS)):
            i = first + k * BLOCK + thread
            value = neutral
            if i < len(source):
                value = source[i]
            shared[k * BLOCK + thread] = value
        lc.sync_block()
        total = shared[thread * ITEMS]
        for k in lc.static(range(1, ITEMS)):
            total = combine(total, shared[thread * ITEMS + k])
        sums[thread] = total
        lc.sync_block()
        # Neighbours combine with neighbours: the operation need not commute.
        for step in lc.static([1, 2, 4, 8, 16, 32, 64, 128]):
            if thread % (2 * step) == 0:
                sums[thread] = combine(sums[thread], sums[thread + step])
            lc.sync_block()
        if thread == 0:
            totals[lc.block_id().x] = sums[0]

    @lc.kernel(block_size=(BLOCK, 1, 1))
    def tile_scan(source, target, offsets, neutral, inclusive: lc.bool):
        shared = lc.shared(source.dtype, TILE)
        sums = lc.shared(source.dtype, BLOCK)
        thread = lc.thread_id().x
        first = lc.block_id().x * TILE
        for k in lc.static(range(ITEMS)):
            i = first + k * BLOCK + thread
            value = neutral
            if i < len(source):
                value = source[i]
            shared[k * BLOCK + thread] = value
        lc.sync_block()
        total = shared[thread * ITEMS]
        for k in lc.static(range(1, ITEMS)):
            total = combine(total, shared[thread * ITEMS + k])
        sums[thread] = total
        lc.sync_block()
        # Running totals of the threads: after each step a thread covers twice as many before it.
        for step in lc.static([1, 2, 4, 8, 16, 32, 64, 128]):
            before = neutral
            if thread >= step:
                before = sums[thread - step]
            lc.sync_block()
            if thread >= step:
                sums[thread] = combine(before, sums[thread])
            lc.sync_block()
        running = offsets[lc.block_id().x]
        if thread > 0:
            running = combine(running, sums[thread - 1])
        for k in lc.static(range(ITEMS)):
            value = shared[thread * ITEMS + k]
            after = combine(running, value)
            shared[thread * ITEMS + k] = after if inclusive else running
            running = after
        lc.sync_block()
        for k in lc.static(range(ITEMS)):
            i = first + k * BLOCK + thread
            if i < len(target):
                target[i] = shared[k * BLOCK + thread]

    return tile_totals, tile_scan


def scan_into(source, target, op, inclusive):
    check_op(op)
    if len(source) != len(target):
        raise lc.ArgumentError(f"target has {len(target)} elements, source {len(source)}")
    if not len(source):
        return
    neutral = source.type(identity(op, source.type.dtype))
    tile_totals, tile_scan = scan_kernels(op)
    tiles = -(-len(source) // TILE)
    offsets = lc.empty(tiles, source.type, device=source.device)
    if tiles == 1:
        offsets.fill(neutral)
    else:
        totals = lc.empty(tiles, source.type, device=source.device)
        tile_totals(source, totals, neutral, dispatch_size=tiles * BLOCK)
        scan_into(totals, offsets, op, False)
    tile_scan(source, target, offsets, neutral, inclusive, dispatch_size=tiles * BLOCK)


def inclusive_scan(source, target=None, op="sum"):
    """`target[i]` combines `source[0]` to `source[i]`.

    Parameters
    ----------
    source : lc.Buffer of an integer or float scalar, one axis
    target : lc.Buffer of the same type and length, or None for a new one; may be `source`
    op : "sum", "product", "min" or "max"

    Returns
    -------
    lc.Buffer
        The target.
    """
    if target is None:
        target = lc.empty(len(source), source.type, device=source.device)
    scan_into(source, target, op, True)
    return target


def exclusive_scan(source, target=None, op="sum"):
    """`target[i]` combines the elements before `source[i]`; `target[0]` is the identity.

    Parameters and result as of `inclusive_scan`.
    """
    if target is None:
        target = lc.empty(len(source), source.type, device=source.device)
    scan_into(source, target, op, False)
    return target
