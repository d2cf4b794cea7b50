"""A measured terrain lit by a low sun: each pixel marches over the height field towards the sun for
its shadow, and in sixteen directions for the part of the sky that it sees.

Data: the elevation model of the Jacksboro fault (USGS) that matplotlib ships.
"""

import numpy as np

import lcpy as lc

TITLE = "terrain"
SIZE = 2  # pixels for each measured point
BOUND = (2e-3, 2e-3)  # a ray that grazes a ridge may fall on either side
DIRECTIONS = 16
METRES = 90.0  # between measured points


@lc.callable
def height(field: lc.Buffer[lc.float32, 2], p: lc.float2) -> lc.float32:
    """Bilinear between the measured points, in metres."""
    limit = lc.float2(lc.uint2(field.shape[1], field.shape[0])) - 1.001
    q = lc.clamp(p, lc.float2(0.0), limit)
    cell = lc.uint2(q)
    f = lc.fract(q)
    top = lc.lerp(field[cell.y, cell.x], field[cell.y, cell.x + 1], f.x)
    bottom = lc.lerp(field[cell.y + 1, cell.x], field[cell.y + 1, cell.x + 1], f.x)
    return lc.lerp(top, bottom, f.y)


@lc.callable
def inside(field: lc.Buffer[lc.float32, 2], p: lc.float2) -> lc.bool:
    return (
        p.x >= 0.0
        and p.y >= 0.0
        and p.x < lc.float32(field.shape[1])
        and p.y < lc.float32(field.shape[0])
    )


@lc.callable
def sunlight(field: lc.Buffer[lc.float32, 2], p: lc.float2, sun: lc.float3) -> lc.float32:
    """1 in the sun, 0 in the shadow, between in the penumbra."""
    start = height(field, p) + 1.0
    light = 1.0
    t = 0.5
    while t < 90.0:
        q = p + sun.xy * t
        if not inside(field, q):
            break
        clearance = start + sun.z * METRES * t - height(field, q)
        light = min(light, 0.5 + clearance / (4.0 * t))
        if light <= 0.0:
            return 0.0
        t += 0.5 + 0.01 * t
    return light


@lc.callable
def horizon(field: lc.Buffer[lc.float32, 2], p: lc.float2, direction: lc.float2) -> lc.float32:
    """Sine of the angle of the horizon in one direction."""
    start = height(field, p)
    steepest = 0.0
    t = 1.0
    for _ in range(14):
        q = p + direction * t
        if not inside(field, q):
            break
        steepest = max(steepest, (height(field, q) - start) / (METRES * t))
        t *= 1.3
    return steepest * lc.rsqrt(1.0 + steepest * steepest)


@lc.callable
def ground(metres: lc.float32, slope: lc.float32) -> lc.float3:
    """Colour by height, rock where it is steep."""
    t = lc.saturate((metres - 260.0) / 640.0)
    low = lc.lerp(lc.float3(0.24, 0.36, 0.17), lc.float3(0.52, 0.47, 0.27), lc.saturate(2.0 * t))
    high = lc.lerp(low, lc.float3(0.86, 0.84, 0.80), lc.saturate(2.0 * t - 1.0))
    return lc.lerp(high, lc.float3(0.42, 0.38, 0.34), lc.smoothstep(0.25, 0.6, slope))


@lc.kernel(block_size=(16, 16, 1))
def shade(field: lc.Buffer[lc.float32, 2], image: lc.Buffer[lc.float3, 2], scale: lc.float32):
    pixel = lc.dispatch_id().xy
    p = lc.float2(pixel) / scale
    e = lc.float2(0.5, 0.0)
    dx = (height(field, p + e) - height(field, p - e)) / METRES
    dy = (height(field, p + e.yx) - height(field, p - e.yx)) / METRES
    normal = lc.normalize(lc.float3(-dx * 2.0, -dy * 2.0, 1.0))
    sun = lc.normalize(lc.float3(-0.80, -0.55, 0.24))
    direct = lc.saturate(lc.dot(normal, sun)) * lc.saturate(sunlight(field, p, sun))
    blocked = 0.0
    for k in range(DIRECTIONS):
        angle = 6.2831853 * lc.float32(k) / lc.float32(DIRECTIONS)
        blocked += horizon(field, p, lc.float2(lc.cos(angle), lc.sin(angle)))
    sky = 1.0 - 1.4 * blocked / lc.float32(DIRECTIONS)
    light = direct * lc.float3(2.3, 1.9, 1.4) + sky * lc.float3(0.34, 0.42, 0.55)
    colour = ground(height(field, p), lc.length(lc.float2(dx, dy))) * light
    image[pixel.y, pixel.x] = lc.sqrt(lc.saturate(colour / (1.0 + 0.25 * colour)))


def elevation():
    """(344, 403) float32, metres above the sea."""
    from matplotlib.cbook import get_sample_data

    with get_sample_data("jacksboro_fault_dem.npz") as data:
        return data["elevation"].astype(np.float32)


def run(device, size=SIZE):
    """The image, (344 * size, 403 * size, 3) float32 in [0, 1]."""
    field = lc.Buffer(elevation(), device=device)
    h, w = (n * size for n in field.shape)
    image = lc.Buffer((h, w), lc.float3, device=device)
    shade(field, image, float(size), dispatch_size=(w, h))
    return image.numpy()


def picture(result):
    return np.clip(result * 255.0 + 0.5, 0, 255).astype(np.uint8)


KERNELS = {
    shade: (lc.Buffer[lc.float32, 2], lc.Buffer[lc.float3, 2], lc.float32),
}
