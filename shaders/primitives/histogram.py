"""histogram: how often each of the values 0 to bins - 1 occurs.

Each block counts a share in shared memory, where its threads do not meet those of other blocks,
and adds its counts to the result once. Too many bins for that count in the result directly.
"""

import functools

import lcpy as lc

BLOCK = 256
BLOCKS = 64
UNROLL = 4
SHARED_BINS = 4096  # 16 KiB, what every device has


@functools.cache
def histogram_kernel(bins):
    """The kernel for a number of bins that fits in shared memory."""

    @lc.kernel(block_size=(BLOCK, 1, 1))
    def histogram(values, counts):
        mine = lc.shared(lc.uint, bins)
        for b in range(lc.thread_id().x, bins, BLOCK):
            mine[b] = 0
        lc.sync_block()
        stride = lc.dispatch_size().x
        i = lc.dispatch_id().x
        for _ in range(len(values) // (stride * UNROLL)):
            for step in lc.static(range(UNROLL)):
                value = values[i + step * stride]
                if 0 <= value < bins:
                    lc.atomic_add(mine[value], 1)
            i += stride * UNROLL
        while i < len(values):
            value = values[i]
            if 0 <= value < bins:
                lc.atomic_add(mine[value], 1)
            i += stride
        lc.sync_block()
        for b in range(lc.thread_id().x, bins, BLOCK):
            if mine[b] > 0:
                lc.atomic_add(counts[b], mine[b])

    return histogram


@lc.kernel(block_size=(BLOCK, 1, 1))
def direct_histogram_kernel(values, counts):
    value = values[lc.dispatch_id().x]
    if 0 <= value < len(counts):
        lc.atomic_add(counts[value], 1)


def histogram(values, bins):
    """Counts the values of an integer buffer.

    Parameters
    ----------
    values : lc.Buffer of an integer scalar, one axis
        Values outside of [0, bins) are not counted.
    bins : int, at least 1

    Returns
    -------
    lc.Buffer of lc.uint, `bins` elements
    """
    if bins < 1:
        raise lc.ArgumentError(f"bins is {bins}; at least 1 is needed")
    counts = lc.Buffer(bins, lc.uint, device=values.device)
    if not len(values):
        return counts
    if bins > SHARED_BINS:
        direct_histogram_kernel(values, counts, dispatch_size=len(values))
        return counts
    blocks = min(BLOCKS, -(-len(values) // (BLOCK * UNROLL)))
    histogram_kernel(bins)(values, counts, dispatch_size=blocks * BLOCK)
    return counts
