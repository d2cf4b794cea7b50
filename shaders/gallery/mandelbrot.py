"""The Mandelbrot set: an escape-time loop with a break, coloured by a cosine palette.

Strict arithmetic makes the counts the same on every device; only the palette's cosine may differ.
"""

import numpy as np

import lcpy as lc

TITLE = "mandelbrot"
SIZE = 768
# A device that contracts or flushes in spite of strict may miscount at the border of the set.
BOUND = (1e-5, 1e-3)
STEPS = 256


@lc.callable
def palette(t: lc.float32) -> lc.float3:
    phase = lc.float3(0.0, 0.10, 0.20)
    return 0.5 + 0.5 * lc.cos(6.2831853 * (t + phase) + 3.0)


@lc.kernel(block_size=(16, 16, 1), math="strict")
def mandelbrot(image: lc.Buffer[lc.float3, 2], counts: lc.Buffer[lc.int32, 2]):
    p = lc.dispatch_id().xy
    c = (lc.float2(p) / lc.float2(lc.dispatch_size().xy) - lc.float2(0.72, 0.5)) * 2.7
    z = lc.float2(0.0)
    count = 0
    while count < STEPS:
        square = z * z
        if square.x + square.y > 4.0:
            break
        z = lc.float2(square.x - square.y, 2.0 * z.x * z.y) + c
        count += 1
    counts[p.y, p.x] = count
    colour = lc.float3(0.0)
    if count < STEPS:
        colour = palette(lc.float32(count) / 48.0)
    image[p.y, p.x] = colour


def run(device, size=SIZE):
    """The image, (size, size, 3) float32 in [0, 1]."""
    image = lc.Buffer((size, size), lc.float3, device=device)
    counts = lc.Buffer((size, size), lc.int32, device=device)
    mandelbrot(image, counts, dispatch_size=(size, size))
    return image.numpy()


def picture(result):
    return np.clip(result * 255.0 + 0.5, 0, 255).astype(np.uint8)


KERNELS = {mandelbrot: (lc.Buffer[lc.float3, 2], lc.Buffer[lc.int32, 2])}
