"""Integers of every width: bit operations, shifts, divisions, conversions."""

import numpy as np

import lcpy as lc


@lc.kernel(block_size=(64, 1, 1), math="strict")
def bits(
    a: lc.Buffer[lc.uint8],
    b: lc.Buffer[lc.int16],
    c: lc.Buffer[lc.uint32],
    out: lc.Buffer[lc.int64],
):
    i = lc.dispatch_id().x
    x = a[i]
    y = b[i]
    z = c[i]
    mixed = lc.rotate_left(z, y) ^ lc.reverse_bits(z) ^ lc.uint32(x)
    wide = lc.int64(mixed) * lc.int64(y) - lc.int64(lc.mul_hi(z, mixed))
    wide = (wide // lc.int64(lc.uint32(x) + 1)) + wide % 1000
    wide += lc.int64(lc.popcount(x)) + lc.int64(lc.clz(y)) + lc.int64(lc.ctz(z))
    wide ^= lc.int64(lc.float32(z) * 3.5) << (z % 70)
    out[i] = wide - lc.int64(y >> x) + lc.int64(lc.div(y, lc.int16(7))) ** 3


def run(device):
    random = np.random.default_rng(4)
    arrays = [random.integers(0, 256, 1000, np.uint8)]
    arrays.append(random.integers(-(2**15), 2**15, 1000, np.int16))
    arrays.append(random.integers(0, 2**32, 1000, np.uint32))
    out = lc.Buffer(1000, lc.int64, device=device)
    bits(*(lc.Buffer(v, device=device) for v in arrays), out, dispatch_size=1000)
    return out.numpy()


KERNELS = {
    bits: (lc.Buffer[lc.uint8], lc.Buffer[lc.int16], lc.Buffer[lc.uint32], lc.Buffer[lc.int64]),
}
