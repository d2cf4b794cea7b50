"""A path tracer of spheres and boxes: diffuse, mirror and glass, lit by a lamp in the ceiling.

Each pixel has its own random numbers (PCG hash: Jarzynski and Olano, JCGT 9(3), 2020). Strict
arithmetic without transcendental functions gives the same paths on every device.
"""

import math

import numpy as np

import lcpy as lc

TITLE = "path tracer"
SIZE = 320
BOUND = (2e-2, 1e-2)  # the tests ask strict devices for the same bits
SAMPLES = 20
BOUNCES = 6
FAR = 1.0e9
DIFFUSE, MIRROR, GLASS, LAMP = 0, 1, 2, 3


@lc.struct
class Ray:
    origin: lc.float3
    direction: lc.float3

    def at(self, t):
        return self.origin + self.direction * t


@lc.struct
class Hit:
    t: lc.float32 = FAR
    normal: lc.float3
    colour: lc.float3
    material: lc.int32


@lc.struct
class Ball:
    centre: lc.float3
    radius: lc.float32
    colour: lc.float3
    material: lc.int32


@lc.struct
class Block:
    low: lc.float3
    high: lc.float3
    colour: lc.float3
    material: lc.int32


WHITE, RED, GREEN = (0.73, 0.73, 0.73), (0.65, 0.06, 0.05), (0.13, 0.45, 0.10)
BALLS = [
    Ball((-0.45, -0.65, 0.15), 0.35, (0.95, 0.95, 0.95), MIRROR),
    Ball((0.50, -0.72, -0.40), 0.28, (1.0, 1.0, 1.0), GLASS),
    Ball((0.10, -0.86, -0.70), 0.14, (0.80, 0.60, 0.15), DIFFUSE),
]
BLOCKS = [
    Block((-1.1, -1.1, -1.1), (1.1, -1.0, 1.1), WHITE, DIFFUSE),
    Block((-1.1, 1.0, -1.1), (1.1, 1.1, 1.1), WHITE, DIFFUSE),
    Block((-1.1, -1.1, 1.0), (1.1, 1.1, 1.1), WHITE, DIFFUSE),
    Block((-1.1, -1.1, -1.1), (-1.0, 1.1, 1.1), RED, DIFFUSE),
    Block((1.0, -1.1, -1.1), (1.1, 1.1, 1.1), GREEN, DIFFUSE),
    Block((0.15, -1.0, 0.25), (0.75, 0.25, 0.80), (0.55, 0.60, 0.75), DIFFUSE),
    Block((-0.35, 0.98, -0.35), (0.35, 1.0, 0.35), (11.0, 10.0, 8.5), LAMP),
]
LAMP_SIDE, LAMP_HEIGHT = 0.7, 0.98


@lc.callable
def random(state: lc.Ref[lc.uint32]) -> lc.float32:
    """The next number in [0, 1), of 24 bits."""
    state = state * 747796405 + 2891336453
    word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737
    return lc.float32(((word >> 22) ^ word) >> 8) / 16777216.0


@lc.callable
def random_direction(state: lc.Ref[lc.uint32]) -> lc.float3:
    """Uniform on the unit sphere, by rejection."""
    for _ in range(32):
        v = lc.float3(random(state), random(state), random(state)) * 2.0 - 1.0
        square = lc.length_squared(v)
        if 1e-4 < square <= 1.0:
            return v / lc.sqrt(square)
    return lc.float3(0.0, 1.0, 0.0)


@lc.callable
def hit_ball(ray: Ray, ball: Ball, best: lc.Ref[Hit]):
    offset = ray.origin - ball.centre
    b = lc.dot(offset, ray.direction)
    discriminant = b * b - (lc.length_squared(offset) - ball.radius * ball.radius)
    if discriminant <= 0.0:
        return
    root = lc.sqrt(discriminant)
    t = -b - root
    if t < 1e-3:
        t = -b + root
    if 1e-3 < t < best.t:
        normal = (ray.at(t) - ball.centre) / ball.radius
        best = Hit(t, normal, ball.colour, ball.material)


@lc.callable
def hit_block(ray: Ray, block: Block, best: lc.Ref[Hit]):
    inverse = 1.0 / ray.direction
    a = (block.low - ray.origin) * inverse
    b = (block.high - ray.origin) * inverse
    near = lc.min(a, b)
    far = lc.max(a, b)
    t = max(near.x, max(near.y, near.z))
    leave = min(far.x, min(far.y, far.z))
    if t >= leave or t < 1e-3 or t >= best.t:
        return
    normal = lc.float3(0.0, 0.0, 1.0)
    if near.x == t:
        normal = lc.float3(1.0, 0.0, 0.0)
    elif near.y == t:
        normal = lc.float3(0.0, 1.0, 0.0)
    if lc.dot(normal, ray.direction) > 0.0:
        normal = -normal
    best = Hit(t, normal, block.colour, block.material)


@lc.callable
def closest(ray: Ray) -> Hit:
    best = Hit()
    for i in range(len(BALLS)):
        hit_ball(ray, BALLS[i], best)
    for i in range(len(BLOCKS)):
        hit_block(ray, BLOCKS[i], best)
    return best


@lc.callable
def through_glass(direction: lc.float3, normal: lc.float3, chance: lc.float32) -> lc.float3:
    """Refracted, or reflected by Schlick's approximation of Fresnel's law."""
    outward = normal
    eta = 1.0 / 1.5
    if lc.dot(direction, normal) > 0.0:
        outward = -normal
        eta = 1.5
    cosine = min(-lc.dot(direction, outward), 1.0)
    bent = lc.refract(direction, outward, eta)
    m = 1.0 - cosine
    reflectance = 0.04 + 0.96 * m * m * m * m * m
    if lc.length_squared(bent) == 0.0 or chance < reflectance:
        return lc.reflect(direction, outward)
    return bent


@lc.callable
def lamp_light(place: lc.float3, normal: lc.float3, state: lc.Ref[lc.uint32]) -> lc.float3:
    """Light straight from a random point of the lamp, divided by the albedo it falls on."""
    x = (random(state) - 0.5) * LAMP_SIDE
    z = (random(state) - 0.5) * LAMP_SIDE
    way = lc.float3(x, LAMP_HEIGHT, z) - place
    square = lc.length_squared(way)
    direction = way / lc.sqrt(square)
    facing = lc.dot(normal, direction)
    if facing <= 0.0 or direction.y <= 0.0:
        return lc.float3(0.0)
    hit = closest(Ray(place, direction))
    if hit.material != 3:
        return lc.float3(0.0)
    return hit.colour * (facing * direction.y * LAMP_SIDE * LAMP_SIDE / (math.pi * square))


@lc.callable
def trace(first: Ray, state: lc.Ref[lc.uint32]) -> lc.float3:
    ray = first
    weight = lc.float3(1.0)
    total = lc.float3(0.0)
    sees_lamp = True  # after a diffuse bounce lamp_light has counted it
    for _ in range(BOUNCES):
        hit = closest(ray)
        if hit.t >= FAR:
            return total + weight * lc.float3(0.02, 0.03, 0.05)
        place = ray.at(hit.t)
        direction = hit.normal
        match hit.material:
            case 1:
                direction = lc.reflect(ray.direction, hit.normal)
                sees_lamp = True
            case 2:
                direction = through_glass(ray.direction, hit.normal, random(state))
                sees_lamp = True
            case 3:
                return total + weight * hit.colour if sees_lamp else total
            case _:
                total += weight * hit.colour * lamp_light(place, hit.normal, state)
                direction += random_direction(state)
                if lc.length_squared(direction) < 1e-6:
                    direction = hit.normal
                sees_lamp = False
        weight *= hit.colour
        ray = Ray(place, lc.normalize(direction))
    return total


@lc.kernel(block_size=(8, 8, 1), math="strict")
def render(image: lc.Buffer[lc.float3, 2], samples: lc.int32):
    p = lc.dispatch_id().xy
    size = lc.float2(lc.dispatch_size().xy)
    state = (p.y * lc.dispatch_size().x + p.x) * 9781 + 1
    total = lc.float3(0.0)
    for _ in range(samples):
        jitter = lc.float2(random(state), random(state))
        uv = ((lc.float2(p) + jitter) / size - 0.5) * lc.float2(2.0, -2.0)
        direction = lc.normalize(lc.float3(uv, 2.4))
        total += trace(Ray(lc.float3(0.0, 0.0, -3.35), direction), state)
    mean = total / lc.float32(samples)
    image[p.y, p.x] = lc.sqrt(lc.saturate(mean / (1.0 + 0.25 * mean)))


def run(device, size=SIZE):
    """The image, (size, size, 3) float32 in [0, 1]."""
    image = lc.Buffer((size, size), lc.float3, device=device)
    render(image, SAMPLES, dispatch_size=(size, size))
    return image.numpy()


def picture(result):
    return np.clip(result * 255.0 + 0.5, 0, 255).astype(np.uint8)


KERNELS = {render: (lc.Buffer[lc.float3, 2], lc.int32)}
