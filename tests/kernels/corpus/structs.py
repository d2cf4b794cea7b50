"""Structs with arrays and matrices, references, run-time indices, by-value arguments."""

import numpy as np

import lcpy as lc


@lc.struct
class Part:
    weight: lc.float32
    axes: lc.float3x3
    active: lc.bool
    counts: lc.Array[lc.uint16, 3]


@lc.struct
class Whole:
    parts: lc.Array[Part, 2]
    centre: lc.float3
    tag: lc.int64


@lc.callable
def bump(part: lc.Ref[Part], by: lc.float32):
    part.weight += by
    part.active = not part.active
    for i in range(3):
        part.counts[i] += lc.uint16(i)


@lc.callable
def spread(whole: Whole, i: lc.int32):
    axis = whole.parts[i % 2].axes[i % 3]
    return axis.x + axis.y, whole.parts[1 - i % 2].weight


@lc.kernel(block_size=(32, 1, 1), math="strict")
def structs(items: lc.Buffer[Whole], offset: Part, out: lc.Buffer[lc.float2]):
    i = lc.int32(lc.dispatch_id().x)
    item = items[i]
    bump(item.parts[i % 2], offset.weight)
    bump(items[i].parts[1 - i % 2], 0.5)
    item.centre.zx = item.centre.xy + lc.float2(1.0, 2.0)
    a, b = spread(item, i)
    items[i].centre = item.centre + offset.axes @ item.centre
    items[i].tag = item.tag * 3 - lc.int64(item.parts[0].counts[2])
    out[i] = lc.float2(a, b)


def run(device):
    random = np.random.default_rng(2)
    items = np.zeros(100, Whole.dtype)
    items["parts"]["weight"] = random.integers(0, 9, (100, 2))
    items["parts"]["axes"] = random.integers(-4, 4, (100, 2, 3, 3))
    items["parts"]["counts"] = random.integers(0, 60000, (100, 2, 3))
    items["centre"] = random.integers(-9, 9, (100, 3))
    items["tag"] = random.integers(-(2**40), 2**40, 100)
    offset = np.zeros((), Part.dtype)
    offset["weight"], offset["axes"] = 0.25, np.eye(3) * 2
    buffer = lc.Buffer(items, Whole, device=device)
    out = lc.Buffer(100, lc.float2, device=device)
    structs(buffer, offset[()], out, dispatch_size=100)
    return np.frombuffer(buffer.numpy().tobytes() + out.numpy().tobytes(), np.uint8)


KERNELS = {structs: (lc.Buffer[Whole], Part, lc.Buffer[lc.float2])}
