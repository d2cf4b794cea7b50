"""histogram: how often each of the values 0 to bins - 1 occurs.

Each block counts in shared memory, where its threads do not meet those of other blocks, and adds
its counts to the result once; 64 threads walk a contiguous stretch side by side, as in reduce. Too
many bins for shared memory count in the result directly.
"""

import functools

import lcpy as lc

BLOCK = 256
GROUP = 64
UNROLL = 8
LEAST, MOST = 2, 32  # rounds of UNROLL values a thread
AIM = 256  # blocks
SHARED_BINS = 4096  # 16 KiB, what every device has


def key_type(values):
    """The unsigned type in which a negative value is far beyond every bin."""
    return lc.uint64 if values.type in (lc.int64, lc.uint64) else lc.uint32


@functools.cache
def histogram_kernel(bins, key):
    """The kernel for a number of bins that fits in shared memory."""

    @lc.kernel(block_size=(BLOCK, 1, 1))
    def histogram(values, counts, rounds: lc.uint32):
        mine = lc.shared(lc.uint, bins)
        for b in range(lc.thread_id().x, bins, BLOCK):
            mine[b] = 0
        lc.sync_block()
        stretch = rounds * (UNROLL * GROUP)
        start = (lc.block_id().x * (BLOCK // GROUP) + lc.thread_id().x // GROUP) * stretch
        i = start + lc.thread_id().x % GROUP
        if start < len(values) and stretch <= len(values) - start:
            for _ in range(rounds):
                for step in lc.static(range(UNROLL)):
                    value = key(values[i + step * GROUP])
                    if value < bins:
                        lc.atomic_add(mine[value], 1)
                i += UNROLL * GROUP
        else:
            for _ in range(rounds * UNROLL):
                if start <= i < len(values):  # i may wrap at the end of 2^32
                    value = key(values[i])
                    if value < bins:
                        lc.atomic_add(mine[value], 1)
                i += GROUP
        lc.sync_block()
        for b in range(lc.thread_id().x, bins, BLOCK):
            if mine[b] > 0:
                lc.atomic_add(counts[b], mine[b])

    return histogram


@functools.cache
def direct_kernel(key):
    """The kernel that counts in the result."""

    @lc.kernel(block_size=(BLOCK, 1, 1))
    def direct_histogram(values, counts):
        value = key(values[lc.dispatch_id().x])
        if value < len(counts):
            lc.atomic_add(counts[value], 1)

    return direct_histogram


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
        direct_kernel(key_type(values))(values, counts, dispatch_size=len(values))
        return counts
    rounds = min(max(-(-len(values) // (BLOCK * UNROLL * AIM)), LEAST), MOST)
    blocks = -(-len(values) // (BLOCK * UNROLL * rounds))
    kernel = histogram_kernel(bins, key_type(values))
    kernel(values, counts, rounds, dispatch_size=blocks * BLOCK)
    return counts
