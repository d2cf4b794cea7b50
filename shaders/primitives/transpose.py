"""transpose: rows to columns, through tiles in shared memory so that both sides are contiguous."""

import lcpy as lc

TILE = 16


@lc.kernel(block_size=(TILE, TILE, 1))
def transpose_kernel(source, target):
    # One column more than needed keeps the threads of a column in different banks.
    tile = lc.shared(source.dtype, (TILE, TILE + 1))
    thread = lc.thread_id().xy
    corner = lc.block_id().xy * TILE
    x = corner.x + thread.x
    y = corner.y + thread.y
    if y < source.shape[0] and x < source.shape[1]:
        tile[thread.y, thread.x] = source[y, x]
    lc.sync_block()
    row = corner.x + thread.y
    column = corner.y + thread.x
    if row < target.shape[0] and column < target.shape[1]:
        target[row, column] = tile[thread.x, thread.y]


def transpose(source, target=None):
    """The transpose of a two-axis buffer.

    Parameters
    ----------
    source : lc.Buffer of shape (h, w), any element type
    target : lc.Buffer of shape (w, h), or None for a new one; not `source` itself

    Returns
    -------
    lc.Buffer
        The target.
    """
    h, w = source.shape
    if target is None:
        target = lc.empty((w, h), source.type, device=source.device)
    if tuple(target.shape) != (w, h):
        raise lc.ArgumentError(f"target has shape {tuple(target.shape)}, needed is {(w, h)}")
    if h and w:
        # Whole blocks: a thread past the end of the source writes within the target.
        size = (-(-w // TILE) * TILE, -(-h // TILE) * TILE)
        transpose_kernel(source, target, dispatch_size=size)
    return target
