"""Two blocks of jelly by the material point method in two dimensions; scattering to the grid by
float atomics.

Method: Hu et al., "A moving least squares material point method", ACM TOG 37(4), 2018.
"""

import numpy as np

import lcpy as lc

TITLE = "mpm"
SIZE = 64  # cells of a side
STEPS = 900
# Atomic additions come in any order, so places differ by rounding that the steps amplify.
BOUND = (1e-3, 0.0)
PER_CELL = 4
TIME = 0.0128  # of a step, in cells: the fastest wave crosses less than half a cell
SPEED = 3.0  # downwards, at the start
YOUNG, POISSON = 1000.0, 0.2
MU = YOUNG / (2 * (1 + POISSON))
LAMBDA = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))


@lc.struct
class Particle:
    x: lc.float2
    v: lc.float2
    c: lc.float2x2  # affine velocity field
    f: lc.float2x2  # deformation gradient


@lc.callable
def weight(fraction: lc.float2, i: lc.int32) -> lc.float2:
    """Quadratic B-spline of the three nodes around a place, node i of each axis."""
    if i == 0:
        return 0.5 * (1.5 - fraction) * (1.5 - fraction)
    if i == 1:
        return 0.75 - (fraction - 1.0) * (fraction - 1.0)
    return 0.5 * (fraction - 0.5) * (fraction - 0.5)


@lc.callable
def stress(f: lc.float2x2) -> lc.float2x2:
    """Kirchhoff stress of a compressible neo-Hookean solid."""
    j = max(lc.determinant(f), 0.05)
    return MU * (f @ lc.transpose(f) - lc.float2x2.identity()) + (
        LAMBDA * lc.log(j) * lc.float2x2.identity()
    )


@lc.kernel(block_size=(128, 1, 1))
def clear(grid: lc.Buffer[lc.float3]):
    grid[lc.dispatch_id().x] = lc.float3(0.0)


@lc.kernel(block_size=(128, 1, 1))
def to_grid(particles: lc.Buffer[Particle], grid: lc.Buffer[lc.float3], side: lc.int32):
    dt = TIME / lc.float32(side)
    p = particles[lc.dispatch_id().x]
    p.f = (lc.float2x2.identity() + dt * p.c) @ p.f
    particles[lc.dispatch_id().x].f = p.f
    place = p.x * lc.float32(side)
    base = lc.int2(place - 0.5)
    fraction = place - lc.float2(base)
    volume = 1.0 / (lc.float32(PER_CELL) * lc.float32(side) * lc.float32(side))
    mass = volume
    side_squared = lc.float32(side) * lc.float32(side)
    affine = (-dt * volume * 4.0 * side_squared) * stress(p.f) + mass * p.c
    for i in range(3):
        for j in range(3):
            offset = lc.int2(i, j)
            distance = (lc.float2(offset) - fraction) / lc.float32(side)
            w = weight(fraction, i).x * weight(fraction, j).y
            momentum = w * (mass * p.v + affine @ distance)
            node = (base.y + j) * side + base.x + i
            lc.atomic_add(grid[node].x, momentum.x)
            lc.atomic_add(grid[node].y, momentum.y)
            lc.atomic_add(grid[node].z, w * mass)


@lc.kernel(block_size=(128, 1, 1))
def move_grid(grid: lc.Buffer[lc.float3], side: lc.int32):
    dt = TIME / lc.float32(side)
    i = lc.int32(lc.dispatch_id().x)
    node = grid[i]
    if node.z > 0.0:
        v = node.xy / node.z
        v.y += dt * -9.8
        x = i % side
        y = i // side
        if (x < 3 and v.x < 0.0) or (x >= side - 3 and v.x > 0.0):
            v.x = 0.0
        if (y < 3 and v.y < 0.0) or (y >= side - 3 and v.y > 0.0):
            v.y = 0.0
        grid[i] = lc.float3(v, node.z)


@lc.kernel(block_size=(128, 1, 1))
def to_particles(particles: lc.Buffer[Particle], grid: lc.Buffer[lc.float3], side: lc.int32):
    dt = TIME / lc.float32(side)
    p = particles[lc.dispatch_id().x]
    place = p.x * lc.float32(side)
    base = lc.int2(place - 0.5)
    fraction = place - lc.float2(base)
    v = lc.float2(0.0)
    c = lc.float2x2()
    for i in range(3):
        for j in range(3):
            distance = lc.float2(lc.float32(i), lc.float32(j)) - fraction
            w = weight(fraction, i).x * weight(fraction, j).y
            node = grid[(base.y + j) * side + base.x + i].xy
            v += w * node
            c += 4.0 * lc.float32(side) * w * lc.outer(node, distance)
    p.v = v
    p.c = c
    edge = 2.0 / lc.float32(side)
    p.x = lc.clamp(p.x + dt * v, edge, 1.0 - edge)
    particles[lc.dispatch_id().x] = p


def start(side):
    """Two squares in a regular filling: a structured array of particles."""
    spacing = 1.0 / (side * np.sqrt(PER_CELL))
    line = np.arange(0.0, 0.28, spacing)
    square = np.stack(np.meshgrid(line, line), -1).reshape(-1, 2)
    x = np.concatenate([square + [0.22, 0.12], square + [0.40, 0.55]])
    particles = np.zeros(len(x), Particle.dtype)
    particles["x"] = x
    particles["v"] = [0.0, -SPEED]
    particles["f"] = np.eye(2)
    return particles


def run(device, size=SIZE):
    """Places after the steps, (n, 2) float32 in [0, 1], y upward."""
    particles = lc.Buffer(start(size), Particle, device=device)
    grid = lc.Buffer(size * size, lc.float3, device=device)
    n = len(particles)
    for _ in range(STEPS):
        clear(grid, dispatch_size=size * size)
        to_grid(particles, grid, size, dispatch_size=n)
        move_grid(grid, size, dispatch_size=size * size)
        to_particles(particles, grid, size, dispatch_size=n)
    return particles.numpy()["x"]


def picture(result):
    side = 384
    image = np.full((side, side, 3), 22, np.uint8)
    at = (result * side).astype(int).clip(2, side - 3)
    half = len(at) // 2
    for part, colour in ((at[:half], (110, 190, 250)), (at[half:], (250, 160, 110))):
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                image[side - 1 - part[:, 1] + dy, part[:, 0] + dx] = colour
    return image


KERNELS = {
    clear: (lc.Buffer[lc.float3],),
    to_grid: (lc.Buffer[Particle], lc.Buffer[lc.float3], lc.int32),
    move_grid: (lc.Buffer[lc.float3], lc.int32),
    to_particles: (lc.Buffer[Particle], lc.Buffer[lc.float3], lc.int32),
}
