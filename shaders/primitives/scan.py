"""inclusive_scan and exclusive_scan: running sums (or products, minima, maxima) of a buffer.

Three steps: the total of each tile, the exclusive scan of those totals (the same again, for few
elements), and the scan within each tile on top of its offset. Only barriers and shared memory are
used, never the width of a warp. The order of combination depends on the length alone.
"""

import functools

import lcpy as lc

from .combine import COMBINE, check_op, identity

BLOCK = 256
SIDE = 16  # BLOCK = SIDE * SIDE
ITEMS = 8  # consecutive elements of one thread
TILE = BLOCK * ITEMS


@functools.cache
def tile_callables(op, element):
    """(load_tile, total_of_items): what both kernels begin with."""
    combine = COMBINE[op]
    Tile = lc.Array[element, TILE]

    @lc.callable
    def load_tile(source, neutral, tile: lc.Ref[Tile]):
        """Side by side from memory; then a thread has its consecutive elements in the tile."""
        first = lc.block_id().x * TILE + lc.thread_id().x
        for k in lc.static(range(ITEMS)):
            value = neutral
            if first + k * BLOCK < len(source):
                value = source[first + k * BLOCK]
            tile[k * BLOCK + lc.thread_id().x] = value
        lc.sync_block()

    @lc.callable
    def total_of_items(tile: lc.Ref[Tile]):
        total = tile[lc.thread_id().x * ITEMS]
        for k in lc.static(range(1, ITEMS)):
            total = combine(total, tile[lc.thread_id().x * ITEMS + k])
        return total

    return load_tile, total_of_items


@functools.cache
def totals_kernel(op, element):
    """The kernel for the total of each tile."""
    combine = COMBINE[op]
    load_tile, total_of_items = tile_callables(op, element)

    @lc.kernel(block_size=(BLOCK, 1, 1))
    def tile_totals(source, totals, neutral: element):
        tile = lc.shared(element, TILE)
        sums = lc.shared(element, BLOCK)
        thread = lc.thread_id().x
        load_tile(source, neutral, tile)
        sums[thread] = total_of_items(tile)
        lc.sync_block()
        # Neighbours combine with neighbours: the operation need not commute.
        if thread < SIDE:
            total = sums[thread * SIDE]
            for k in lc.static(range(1, SIDE)):
                total = combine(total, sums[thread * SIDE + k])
            sums[thread * SIDE] = total
        lc.sync_block()
        if thread == 0:
            total = sums[0]
            for k in lc.static(range(1, SIDE)):
                total = combine(total, sums[k * SIDE])
            totals[lc.block_id().x] = total

    return tile_totals


@functools.cache
def scan_kernel(op, element):
    """The kernel that scans each tile on top of what comes before it."""
    combine = COMBINE[op]
    load_tile, total_of_items = tile_callables(op, element)

    @lc.kernel(block_size=(BLOCK, 1, 1))
    def tile_scan(source, target, offsets, neutral: element, inclusive: lc.bool):
        tile = lc.shared(element, TILE)
        sums = lc.shared(element, BLOCK)
        groups = lc.shared(element, SIDE)
        thread = lc.thread_id().x
        load_tile(source, neutral, tile)
        sums[thread] = total_of_items(tile)
        lc.sync_block()
        # What comes before each thread within its group of SIDE, and before each group.
        if thread < SIDE:
            running = neutral
            for k in lc.static(range(SIDE)):
                after = combine(running, sums[thread * SIDE + k])
                sums[thread * SIDE + k] = running
                running = after
            groups[thread] = running
        lc.sync_block()
        if thread == 0:
            running = offsets[lc.block_id().x]
            for k in lc.static(range(SIDE)):
                after = combine(running, groups[k])
                groups[k] = running
                running = after
        lc.sync_block()
        running = combine(groups[thread // SIDE], sums[thread])
        for k in lc.static(range(ITEMS)):
            after = combine(running, tile[thread * ITEMS + k])
            tile[thread * ITEMS + k] = after if inclusive else running
            running = after
        lc.sync_block()
        first = lc.block_id().x * TILE + thread
        for k in lc.static(range(ITEMS)):
            if first + k * BLOCK < len(target):
                target[first + k * BLOCK] = tile[k * BLOCK + thread]

    return tile_scan


def scan_into(source, target, op, inclusive):
    check_op(op)
    if len(source) != len(target):
        raise lc.ArgumentError(f"target has {len(target)} elements, source {len(source)}")
    if not len(source):
        return
    neutral = identity(op, source.type.dtype)
    tiles = -(-len(source) // TILE)
    offsets = lc.empty(tiles, source.type, device=source.device)
    if tiles == 1:
        offsets.fill(neutral)
    else:
        totals = lc.empty(tiles, source.type, device=source.device)
        kernel = totals_kernel(op, source.type)
        kernel(source, totals, neutral, dispatch_size=tiles * BLOCK)
        scan_into(totals, offsets, op, False)
    kernel = scan_kernel(op, source.type)
    kernel(source, target, offsets, neutral, inclusive, dispatch_size=tiles * BLOCK)


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
