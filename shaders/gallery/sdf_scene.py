"""A scene of signed distance functions, sphere-traced, with soft shadows and ambient occlusion.

Distances: Inigo Quilez, "Distance functions", https://iquilezles.org/articles/distfunctions/.
"""

import numpy as np

import lcpy as lc

TITLE = "sdf scene"
SIZE = 512
# Contraction is allowed here, so a silhouette may move by a pixel between devices.
BOUND = (1e-2, 2e-3)


@lc.callable
def sphere(p: lc.float3, radius: lc.float32) -> lc.float32:
    return lc.length(p) - radius


@lc.callable
def box(p: lc.float3, half: lc.float3) -> lc.float32:
    q = abs(p) - half
    outside = lc.length(lc.max(q, 0.0))
    return outside + min(max(q.x, max(q.y, q.z)), 0.0)


@lc.callable
def torus(p: lc.float3, large: lc.float32, small: lc.float32) -> lc.float32:
    return lc.length(lc.float2(lc.length(p.xz) - large, p.y)) - small


@lc.callable
def smooth_min(a: lc.float32, b: lc.float32, k: lc.float32) -> lc.float32:
    h = max(k - abs(a - b), 0.0) / k
    return min(a, b) - h * h * k * 0.25


@lc.callable
def scene(p: lc.float3) -> lc.float32:
    d = sphere(p - lc.float3(0.0, 0.5, 0.0), 0.7)
    d = smooth_min(d, box(p - lc.float3(1.1, 0.4, 0.0), lc.float3(0.4)), 0.3)
    d = min(d, torus(p - lc.float3(-1.3, 0.3, 0.0), 0.5, 0.15))
    for i in range(5):
        d = min(d, sphere(p - lc.float3(lc.float32(i) * 0.8 - 1.6, -0.05, -1.3), 0.15))
    return min(d, p.y + 0.2)


@lc.callable
def normal(p: lc.float3) -> lc.float3:
    e = lc.float2(1.0, -1.0) * 0.0005
    n = e.xyy * scene(p + e.xyy) + e.yyx * scene(p + e.yyx)
    n += e.yxy * scene(p + e.yxy) + e.xxx * scene(p + e.xxx)
    return lc.normalize(n)


@lc.callable
def soft_shadow(origin: lc.float3, direction: lc.float3) -> lc.float32:
    light = 1.0
    t = 0.03
    for _ in range(48):
        h = scene(origin + direction * t)
        if h < 0.0005:
            return 0.0
        light = min(light, 10.0 * h / t)
        t += lc.clamp(h, 0.01, 0.25)
        if t > 8.0:
            break
    return light


@lc.callable
def occlusion(p: lc.float3, n: lc.float3) -> lc.float32:
    total = 0.0
    weight = 1.0
    for i in range(5):
        h = 0.02 + 0.09 * lc.float32(i)
        total += (h - scene(p + n * h)) * weight
        weight *= 0.85
    return lc.saturate(1.0 - 1.6 * total)


@lc.callable
def shade(p: lc.float3, eye: lc.float3) -> lc.float3:
    n = normal(p)
    sun = lc.normalize(lc.float3(0.6, 0.7, -0.4))
    albedo = lc.float3(0.62, 0.42, 0.30)
    if p.y < -0.19:
        tile = (lc.int32(lc.floor(p.x * 2.0)) + lc.int32(lc.floor(p.z * 2.0))) % 2
        albedo = lc.float3(0.28) + 0.22 * lc.float32(tile)
    diffuse = lc.saturate(lc.dot(n, sun))
    if diffuse > 0.0:
        diffuse *= soft_shadow(p + n * 0.002, sun)
    halfway = lc.normalize(sun + eye)
    shine = lc.saturate(lc.dot(n, halfway)) ** 32.0 * diffuse
    sky = 0.5 + 0.5 * n.y
    light = diffuse * lc.float3(2.4, 2.1, 1.7)
    light += sky * occlusion(p, n) * lc.float3(0.45, 0.55, 0.75)
    return albedo * light + shine * 0.6


@lc.kernel(block_size=(16, 16, 1))
def render(image: lc.Buffer[lc.float3, 2]):
    p = lc.dispatch_id().xy
    size = lc.float2(lc.dispatch_size().xy)
    uv = (lc.float2(p) + 0.5 - 0.5 * size) / size.y
    origin = lc.float3(0.0, 1.5, -5.8)
    direction = lc.normalize(lc.float3(uv.x, -uv.y - 0.30, 1.4))
    t = 0.0
    hit = False
    for _ in range(96):
        d = scene(origin + direction * t)
        if d < 0.0005 * (1.0 + t):
            hit = True
            break
        t += d
        if t > 24.0:
            break
    colour = lc.lerp(lc.float3(0.75, 0.82, 0.95), lc.float3(0.30, 0.48, 0.80), -uv.y + 0.5)
    if hit:
        lit = shade(origin + direction * t, -direction)
        colour = lc.lerp(lit, colour, 1.0 - lc.exp(-0.0006 * t * t * t))
    image[p.y, p.x] = lc.sqrt(lc.saturate(colour / (1.0 + 0.35 * colour)))


def run(device, size=SIZE):
    """The image, (size, size, 3) float32 in [0, 1]."""
    image = lc.Buffer((size, size), lc.float3, device=device)
    render(image, dispatch_size=(size, size))
    return image.numpy()


def picture(result):
    return np.clip(result * 255.0 + 0.5, 0, 255).astype(np.uint8)


KERNELS = {render: (lc.Buffer[lc.float3, 2],)}
