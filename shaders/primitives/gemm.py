"""gemm: the product of two matrices held in two-axis buffers.

A block of 16 × 16 threads makes a 64 × 64 tile of the result, 4 × 4 elements a thread, from 16
columns of A and 16 rows of B at a time in shared memory. Edges are padded with zeros, so that every
size is right, 0 and 1 included. Sums run over k in order, so that devices agree.
"""

import functools

import lcpy as lc

TILE, DEPTH, SIDE, EACH = 64, 16, 16, 4


@functools.cache
def gemm_kernel(accumulate):
    """The kernel that sums in the scalar type `accumulate`."""
    lanes = lc.vector(accumulate, EACH)

    @lc.kernel(block_size=(SIDE, SIDE, 1))
    def gemm(a, b, c):
        rows, columns, depth = c.shape[0], c.shape[1], a.shape[1]
        tile_a = lc.shared(a.dtype, (DEPTH, TILE + 1))
        tile_b = lc.shared(b.dtype, (DEPTH, TILE))
        tx = lc.thread_id().x
        ty = lc.thread_id().y
        linear = ty * SIDE + tx
        row0 = lc.block_id().y * TILE
        column0 = lc.block_id().x * TILE
        sum0 = lanes()
        sum1 = lanes()
        sum2 = lanes()
        sum3 = lanes()
        for k0 in range(0, depth, DEPTH):
            for i in lc.static(range(EACH)):
                row = row0 + ty + SIDE * i
                k = k0 + tx
                value = a.dtype()
                if row < rows and k < depth:
                    value = a[row, k]
                tile_a[tx, ty + SIDE * i] = value
            for i in lc.static(range(EACH)):
                k = k0 + linear // TILE + EACH * i
                column = column0 + linear % TILE
                value = b.dtype()
                if k < depth and column < columns:
                    value = b[k, column]
                tile_b[linear // TILE + EACH * i, linear % TILE] = value
            lc.sync_block()
            for k in lc.static(range(DEPTH)):
                right = lanes(
                    tile_b[k, tx],
                    tile_b[k, tx + SIDE],
                    tile_b[k, tx + 2 * SIDE],
                    tile_b[k, tx + 3 * SIDE],
                )
                sum0 += accumulate(tile_a[k, ty * EACH]) * right
                sum1 += accumulate(tile_a[k, ty * EACH + 1]) * right
                sum2 += accumulate(tile_a[k, ty * EACH + 2]) * right
                sum3 += accumulate(tile_a[k, ty * EACH + 3]) * right
            lc.sync_block()
        row = row0 + ty * EACH
        for j in lc.static(range(EACH)):
            column = column0 + tx + SIDE * j
            if column < columns:
                if row < rows:
                    c[row, column] = c.dtype(sum0[j])
                if row + 1 < rows:
                    c[row + 1, column] = c.dtype(sum1[j])
                if row + 2 < rows:
                    c[row + 2, column] = c.dtype(sum2[j])
                if row + 3 < rows:
                    c[row + 3, column] = c.dtype(sum3[j])

    return gemm


def gemm(a, b, c=None):
    """The matrix product of `a` and `b`.

    Parameters
    ----------
    a : lc.Buffer of shape (m, k), an integer or float scalar
    b : lc.Buffer of shape (k, n), the same type
    c : lc.Buffer of shape (m, n), or None for a new one; neither `a` nor `b`
        Integers wrap. float16 is summed in float32 and rounded once.

    Returns
    -------
    lc.Buffer
        c.
    """
    (m, k), (inner, n) = a.shape, b.shape
    if k != inner:
        raise lc.ArgumentError(f"a has shape {(m, k)} and b {(inner, n)}: {k} is not {inner}")
    if c is None:
        c = lc.empty((m, n), a.type, device=a.device)
    if tuple(c.shape) != (m, n):
        raise lc.ArgumentError(f"c has shape {tuple(c.shape)}, needed is {(m, n)}")
    if m and n:
        accumulate = lc.float32 if a.type is lc.float16 else a.type
        size = (-(-n // TILE) * SIDE, -(-m // TILE) * SIDE)
        gemm_kernel(accumulate)(a, b, c, dispatch_size=size)
    return c
