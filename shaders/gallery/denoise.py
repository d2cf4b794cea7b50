"""A noisy photograph cleaned by non-local means: each pixel becomes the mean of the pixels around
it, weighted by how alike the patches around them are.

Method: Buades, Coll, Morel, "A non-local algorithm for image denoising", CVPR 2005.
"""

import numpy as np

import lcpy as lc

TITLE = "denoise"
SIZE = 320  # rows of the photograph that are taken
BOUND = (2e-4, 0.0)
SEARCH, PATCH = 5, 1  # radii in pixels
NOISE = 0.12


@lc.callable
def pixel(image: lc.Buffer[lc.float3, 2], x: lc.int32, y: lc.int32) -> lc.float3:
    """The nearest pixel that exists."""
    h = lc.int32(image.shape[0])
    w = lc.int32(image.shape[1])
    return image[lc.clamp(y, 0, h - 1), lc.clamp(x, 0, w - 1)]


@lc.kernel(block_size=(16, 16, 1))
def non_local_means(
    noisy: lc.Buffer[lc.float3, 2], clean: lc.Buffer[lc.float3, 2], strength: lc.float32
):
    p = lc.int2(lc.dispatch_id().xy)
    total = lc.float3(0.0)
    weights = 0.0
    for dy in range(-SEARCH, SEARCH + 1):
        for dx in range(-SEARCH, SEARCH + 1):
            difference = 0.0
            for v in lc.static(range(-PATCH, PATCH + 1)):
                for u in lc.static(range(-PATCH, PATCH + 1)):
                    here = pixel(noisy, p.x + u, p.y + v)
                    there = pixel(noisy, p.x + dx + u, p.y + dy + v)
                    difference += lc.length_squared(here - there)
            w = lc.exp(-difference * strength)
            total += w * pixel(noisy, p.x + dx, p.y + dy)
            weights += w
    clean[p.y, p.x] = total / weights


def photograph(rows):
    """The upper part of matplotlib's portrait of Grace Hopper: (rows, 512, 3) float32 in [0, 1]."""
    from matplotlib.cbook import get_sample_data
    from PIL import Image

    with get_sample_data("grace_hopper.jpg") as file:
        image = np.asarray(Image.open(file).convert("RGB"), np.float32) / 255.0
    return image[:rows]


def add_noise(image):
    noise = np.random.default_rng(3).normal(0.0, NOISE, image.shape)
    return (image + noise).clip(0.0, 1.0).astype(np.float32)


def run(device, size=SIZE):
    """The cleaned photograph, (size, 512, 3) float32 in [0, 1]."""
    noisy = lc.Buffer(add_noise(photograph(size)), lc.float3, device=device)
    h, w = noisy.shape
    clean = lc.Buffer((h, w), lc.float3, device=device)
    count = (2 * PATCH + 1) ** 2 * 3
    strength = 1.0 / (count * (NOISE * 0.75) ** 2 * 2)
    non_local_means(noisy, clean, strength, dispatch_size=(w, h))
    return clean.numpy()


def picture(result):
    """Noisy on the left, cleaned on the right."""
    noisy = add_noise(photograph(len(result)))
    both = np.concatenate([noisy, result], axis=1)
    return np.clip(both * 255.0 + 0.5, 0, 255).astype(np.uint8)


KERNELS = {
    non_local_means: (lc.Buffer[lc.float3, 2], lc.Buffer[lc.float3, 2], lc.float32),
}
