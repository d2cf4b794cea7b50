"""Kernels that are compiled to files."""

import lcpy as lc


@lc.struct
class Body:
    mass: lc.float32
    place: lc.float3


@lc.kernel(math="strict")
def move(
    bodies: lc.Buffer[Body], wind: lc.float3, seconds: lc.float32, count: lc.Buffer[lc.uint32]
):
    i = lc.dispatch_id().x
    body = bodies[i]
    body.place += wind * (seconds / body.mass)
    bodies[i] = body
    count[i] = len(bodies) + lc.uint32(i)


@lc.kernel(block_size=32)
def sums(x: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    shared = lc.shared(lc.int32, 32)
    t = lc.thread_id().x
    shared[t] = x[lc.dispatch_id().x]
    lc.sync_block()
    if t == 0:
        total = 0
        for k in range(32):
            total += shared[k]
        out[lc.block_id().x] = total


@lc.kernel
def careful(x: lc.Buffer[lc.int32], most: lc.int32):
    i = lc.dispatch_id().x
    assert x[i] < most, "too large"
    x[i] += 1


@lc.kernel
def mixed(
    grid: lc.Buffer[lc.float32, 2],
    weights: lc.Array[lc.float32, 3],
    turn: lc.float3x3,
    halves: lc.Buffer[lc.half3],
    raw: lc.ByteBuffer,
):
    p = lc.dispatch_id().xy
    i = p.y * grid.shape[1] + p.x
    halves[i] = lc.half3(turn @ lc.float3(grid[p.y, p.x], weights[1], weights[p.x % 3]))
    lc.byte_write(raw, i * 4, i + 5)


@lc.kernel
def any_type(x, by):
    x[lc.dispatch_id().x] += by


KERNELS = {any_type: (lc.Buffer[lc.float32], lc.float32)}
