"""Gravity among n bodies, all pairs, through tiles in shared memory; leapfrog steps."""

import numpy as np

import lcpy as lc

TITLE = "n-body"
SIZE = 2048
BOUND = (1e-3, 0.0)  # the tests ask strict devices for the same bits
STEPS = 40
TILE = 128
SOFTENING = 0.0025


@lc.callable
def attraction(here: lc.float3, there: lc.float4) -> lc.float3:
    d = there.xyz - here
    square = d.x * d.x + d.y * d.y + d.z * d.z + SOFTENING
    inverse = 1.0 / lc.sqrt(square)
    return d * (there.w * inverse * inverse * inverse)


@lc.kernel(block_size=(TILE, 1, 1), math="strict")
def advance(
    bodies: lc.Buffer[lc.float4],
    velocities: lc.Buffer[lc.float3],
    moved: lc.Buffer[lc.float4],
    dt: lc.float32,
):
    """A body is its place and, in w, its mass."""
    tile = lc.shared(lc.float4, TILE)
    i = lc.dispatch_id().x
    thread = lc.thread_id().x
    me = bodies[i]  # zero past the end
    pull = lc.float3(0.0)
    for start in range(0, len(bodies), TILE):
        tile[thread] = bodies[start + thread] if start + thread < len(bodies) else lc.float4(0.0)
        lc.sync_block()
        for j in range(TILE):
            pull += attraction(me.xyz, tile[j])
        lc.sync_block()
    velocity = velocities[i] + pull * dt
    velocities[i] = velocity
    moved[i] = lc.float4(me.xyz + velocity * dt, me.w)


def start(n):
    """A turning disc with a heavy centre: (n, 4) places and masses, (n, 3) velocities."""
    random = np.random.default_rng(7)
    radius = 0.15 + 0.85 * np.sqrt(random.random(n))
    angle = random.random(n) * 2 * np.pi
    place = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    bodies = np.zeros((n, 4), np.float32)
    bodies[:, :2] = place
    bodies[:, 2] = random.normal(0, 0.02, n)
    bodies[:, 3] = 0.3 / n
    speed = np.sqrt((1.0 + 0.3 * radius**2) / radius)
    velocities = np.zeros((n, 3), np.float32)
    velocities[:, 0], velocities[:, 1] = -np.sin(angle) * speed, np.cos(angle) * speed
    bodies[0], velocities[0] = (0, 0, 0, 1), 0
    return bodies, velocities


def run(device, size=SIZE):
    """Places and masses after the steps, (size, 4) float32."""
    bodies, velocities = start(size)
    now = lc.Buffer(bodies, lc.float4, device=device)
    after = lc.Buffer(size, lc.float4, device=device)
    speed = lc.Buffer(velocities, lc.float3, device=device)
    for _ in range(STEPS):
        advance(now, speed, after, 0.01, dispatch_size=size)
        now, after = after, now
    return now.numpy()


def picture(result):
    side = 512
    at = ((result[:, :2] / 2.6 + 0.5) * side).astype(int)
    at = at[((at >= 1) & (at < side - 1)).all(1)]
    light = np.zeros((side, side))
    for dy, dx, weight in [(0, 0, 1.0), (0, 1, 0.4), (1, 0, 0.4), (0, -1, 0.4), (-1, 0, 0.4)]:
        np.add.at(light, (at[:, 1] + dy, at[:, 0] + dx), weight)
    glow = 1 - np.exp(-1.2 * light)[..., None]
    return (glow * np.array([255, 235, 200]) + (1 - glow) * np.array([8, 10, 24])).astype(np.uint8)


KERNELS = {
    advance: (lc.Buffer[lc.float4], lc.Buffer[lc.float3], lc.Buffer[lc.float4], lc.float32),
}
