"""Conway's game of life on a torus of bytes, two buffers in turn. Exact on every device."""

import numpy as np

import lcpy as lc

TITLE = "game of life"
SIZE = 512
BOUND = (0.0, 0.0)
GENERATIONS = 120


@lc.kernel(block_size=(16, 16, 1))
def seed(cells: lc.Buffer[lc.uint8, 2]):
    p = lc.dispatch_id().xy
    # One round of a multiplicative hash is random enough for a first generation.
    h = (p.x * 73856093) ^ (p.y * 19349663)
    h = (h ^ (h >> 13)) * 1274126177
    cells[p.y, p.x] = lc.uint8((h >> 16) % 5 == 0)


@lc.kernel(block_size=(16, 16, 1))
def step(old: lc.Buffer[lc.uint8, 2], new: lc.Buffer[lc.uint8, 2]):
    p = lc.dispatch_id().xy
    h, w = old.shape
    left = p.x - 1 if p.x > 0 else w - 1
    right = p.x + 1 if p.x + 1 < w else 0
    up = p.y - 1 if p.y > 0 else h - 1
    down = p.y + 1 if p.y + 1 < h else 0
    neighbours = lc.uint32(old[p.y, left]) + lc.uint32(old[p.y, right])
    neighbours += lc.uint32(old[up, left]) + lc.uint32(old[up, p.x]) + lc.uint32(old[up, right])
    neighbours += lc.uint32(old[down, left]) + lc.uint32(old[down, p.x])
    neighbours += lc.uint32(old[down, right])
    alive = old[p.y, p.x] != 0
    new[p.y, p.x] = lc.uint8(neighbours == 3 or (alive and neighbours == 2))


def run(device, size=SIZE):
    """The cells after some generations, (size, size) uint8 of 0 and 1."""
    cells = lc.Buffer((size, size), lc.uint8, device=device)
    other = lc.Buffer((size, size), lc.uint8, device=device)
    seed(cells, dispatch_size=(size, size))
    for _ in range(GENERATIONS):
        step(cells, other, dispatch_size=(size, size))
        cells, other = other, cells
    return cells.numpy()


def picture(result):
    shade = np.where(result[..., None] != 0, np.uint8([240, 220, 130]), np.uint8([24, 28, 44]))
    return np.ascontiguousarray(shade, np.uint8)


KERNELS = {
    seed: (lc.Buffer[lc.uint8, 2],),
    step: (lc.Buffer[lc.uint8, 2], lc.Buffer[lc.uint8, 2]),
}
