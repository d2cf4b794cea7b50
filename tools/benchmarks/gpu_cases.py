"""The programs of `tools/bench gpu`: each as lcpy kernels and as hand-written CUDA C++ (gpu/*.cu),
of the same algorithm, sizes and math mode.

A case has `ours(device)` and `hand(cuda)`; both give (launch, result): a call that enqueues one run
of the program, and one that gives what it made as a NumPy array. After one run at most `share` of
the values may differ between the two by more than `limit`, relative to the larger of 1 and the
value.
"""

import functools

import numpy as np

import lcpy as lc


class Case:
    """One program; `scale` divides the sizes, for a check on a small device."""

    source = None  # file in gpu/, without its ending
    limit, share = 1e-4, 1e-3

    def __init__(self, scale=1):
        self.scale = scale

    @property
    def name(self):
        return type(self).__name__.lower()


def image_of(buffer):
    """(h, w, 3) of float4 pixels that the hand-written kernels store."""
    return lambda: buffer.get()[..., :3]


def groups(*pairs):
    out = [-(-n // b) for n, b in pairs]
    return tuple(out + [1] * (3 - len(out)))


class Mandelbrot(Case):
    source = "mandelbrot"

    def side(self):
        return 4096 // self.scale

    def ours(self, device):
        from lcpy.gallery.mandelbrot import mandelbrot

        n = self.side()
        image = lc.Buffer((n, n), lc.float3, device=device)
        counts = lc.Buffer((n, n), lc.int32, device=device)
        return lambda: mandelbrot(image, counts, dispatch_size=(n, n)), image.numpy

    def hand(self, cuda):
        n = self.side()
        image, counts = cuda.empty((n, n, 4), "f4"), cuda.empty((n, n), "i4")
        f = cuda.kernel("mandelbrot", "PPii")
        grid = groups((n, 16), (n, 16))
        return lambda: f(grid, (16, 16, 1), image.at, counts.at, n, n), image_of(image)


class Sdf_scene(Case):
    source = "sdf_scene"
    limit, share = 1e-2, 5e-3

    def side(self):
        return 2048 // self.scale

    def ours(self, device):
        from lcpy.gallery.sdf_scene import render

        n = self.side()
        image = lc.Buffer((n, n), lc.float3, device=device)
        return lambda: render(image, dispatch_size=(n, n)), image.numpy

    def hand(self, cuda):
        n = self.side()
        image = cuda.empty((n, n, 4), "f4")
        f, grid = cuda.kernel("render", "Pii"), groups((n, 16), (n, 16))
        return lambda: f(grid, (16, 16, 1), image.at, n, n), image_of(image)


class Game_of_life(Case):
    source = "game_of_life"
    limit, share = 0.0, 0.0

    def side(self):
        return 16384 // self.scale

    def ours(self, device):
        from lcpy.gallery.game_of_life import seed, step

        n = self.side()
        old = lc.Buffer((n, n), lc.uint8, device=device)
        new = lc.Buffer((n, n), lc.uint8, device=device)
        seed(old, dispatch_size=(n, n))
        return lambda: step(old, new, dispatch_size=(n, n)), new.numpy

    def hand(self, cuda):
        n = self.side()
        old, new = cuda.empty((n, n), "u1"), cuda.empty((n, n), "u1")
        grid, block = groups((n, 16), (n, 16)), (16, 16, 1)
        cuda.kernel("seed", "PII")(grid, block, old.at, n, n)
        f = cuda.kernel("step", "PPII")
        return lambda: f(grid, block, old.at, new.at, n, n), new.get


class N_body(Case):
    source = "n_body"
    limit, share = 1e-4, 0.0

    def start(self):
        from lcpy.gallery.n_body import start

        return start(65536 // self.scale)

    def ours(self, device):
        from lcpy.gallery.n_body import advance

        bodies, velocities = self.start()
        n = len(bodies)
        now, after = (lc.Buffer(bodies, lc.float4, device=device) for _ in range(2))
        speed = lc.Buffer(velocities, lc.float3, device=device)
        return lambda: advance(now, speed, after, 1e-6, dispatch_size=n), after.numpy

    def hand(self, cuda):
        bodies, velocities = self.start()
        n = len(bodies)
        now, after = cuda.array(bodies), cuda.array(bodies)
        speed = cuda.array(np.pad(velocities, ((0, 0), (0, 1))))
        f, grid = cuda.kernel("advance", "PPPfi"), groups((n, 128))
        return lambda: f(grid, (128, 1, 1), now.at, speed.at, after.at, 1e-6, n), after.get


class Mpm(Case):
    source = "mpm"
    limit, share = 1e-4, 0.0  # atomics add in any order

    def side(self):
        return 2048 // self.scale

    def ours(self, device):
        from lcpy.gallery import mpm

        side = self.side()
        particles = lc.Buffer(mpm.start(side), mpm.Particle, device=device)
        grid = lc.Buffer(side * side, lc.float3, device=device)
        n, cells = len(particles), side * side

        def step():
            mpm.clear(grid, dispatch_size=cells)
            mpm.to_grid(particles, grid, side, dispatch_size=n)
            mpm.move_grid(grid, side, dispatch_size=cells)
            mpm.to_particles(particles, grid, side, dispatch_size=n)

        return step, lambda: particles.numpy()["x"]

    def hand(self, cuda):
        from lcpy.gallery import mpm

        side, start = self.side(), mpm.start(self.side())
        flat = [start["x"], start["v"]]
        for name in ("c", "f"):  # by columns
            flat.append(start[name].transpose(0, 2, 1).reshape(-1, 4))
        particles = cuda.array(np.concatenate(flat, 1).astype(np.float32))
        grid = cuda.empty((side * side, 4), "f4")
        n, cells = len(start), side * side
        clear, move = cuda.kernel("clear", "Pi"), cuda.kernel("move_grid", "Pi")
        scatter, gather = cuda.kernel("to_grid", "PPii"), cuda.kernel("to_particles", "PPii")
        all_cells, all_particles, block = groups((cells, 128)), groups((n, 128)), (128, 1, 1)

        def step():
            clear(all_cells, block, grid.at, cells)
            scatter(all_particles, block, particles.at, grid.at, side, n)
            move(all_cells, block, grid.at, side)
            gather(all_particles, block, particles.at, grid.at, side, n)

        return step, lambda: particles.get()[:, :2]


class Path_tracer(Case):
    source = "path_tracer"
    limit, share = 2e-2, 1e-2

    def side(self):
        return 1024 // self.scale

    def ours(self, device):
        from lcpy.gallery.path_tracer import render

        n = self.side()
        image = lc.Buffer((n, n), lc.float3, device=device)
        return lambda: render(image, 4, dispatch_size=(n, n)), image.numpy

    def hand(self, cuda):
        n = self.side()
        image = cuda.empty((n, n, 4), "f4")
        f, grid = cuda.kernel("render", "Piii"), groups((n, 8), (n, 8))
        return lambda: f(grid, (8, 8, 1), image.at, 4, n, n), image_of(image)


class Denoise(Case):
    source = "denoise"

    def noisy(self):
        n = 2048 // self.scale
        return np.random.default_rng(5).random((n, n, 3), np.float32)

    def ours(self, device):
        from lcpy.gallery.denoise import non_local_means

        noisy = lc.Buffer(self.noisy(), lc.float3, device=device)
        h, w = noisy.shape
        clean = lc.Buffer((h, w), lc.float3, device=device)
        return lambda: non_local_means(noisy, clean, 0.4, dispatch_size=(w, h)), clean.numpy

    def hand(self, cuda):
        noisy = cuda.array(np.pad(self.noisy(), ((0, 0), (0, 0), (0, 1))))
        h, w = noisy.shape[:2]
        clean = cuda.empty((h, w, 4), "f4")
        f, grid = cuda.kernel("non_local_means", "PPfii"), groups((w, 16), (h, 16))
        return lambda: f(grid, (16, 16, 1), noisy.at, clean.at, 0.4, w, h), image_of(clean)


class Terrain(Case):
    source = "terrain"
    limit, share = 2e-3, 5e-3

    def field(self):
        """Hills of the size of the gallery's."""
        y, x = np.mgrid[0:344, 0:403].astype(np.float32)
        hills = np.sin(x / 23) * np.cos(y / 17) + 0.5 * np.sin(x / 7 + y / 11) + np.cos(x / 61)
        return (500 + 130 * hills).astype(np.float32)

    def size(self):
        return 3224 // self.scale, 2752 // self.scale, 8.0 / self.scale

    def ours(self, device):
        from lcpy.gallery.terrain import shade

        w, h, scale = self.size()
        field = lc.Buffer(self.field(), device=device)
        image = lc.Buffer((h, w), lc.float3, device=device)
        return lambda: shade(field, image, scale, dispatch_size=(w, h)), image.numpy

    def hand(self, cuda):
        w, h, scale = self.size()
        field, image = cuda.array(self.field()), cuda.empty((h, w, 4), "f4")
        f, grid = cuda.kernel("shade", "PPfiiii"), groups((w, 16), (h, 16))
        fh, fw = field.shape
        return (
            lambda: f(grid, (16, 16, 1), field.at, image.at, scale, fw, fh, w, h),
            image_of(image),
        )


@lc.kernel(block_size=256)
def saxpy(x: lc.Buffer[lc.float32], y: lc.Buffer[lc.float32], a: lc.float32):
    i = lc.dispatch_id().x
    y[i] = a * x[i] + y[i]


@lc.kernel(block_size=(16, 16, 1))
def sgemm(a: lc.Buffer[lc.float32], b: lc.Buffer[lc.float32], c: lc.Buffer[lc.float32], n: lc.uint):
    row = lc.dispatch_id().y
    column = lc.dispatch_id().x
    total = 0.0
    for k in range(n):
        total += a[row * n + k] * b[k * n + column]
    c[row * n + column] = total


@functools.lru_cache(2)
def floats(*shape):
    return np.random.default_rng(1).random(shape, np.float32)


@functools.lru_cache(1)
def integers(n):
    return np.random.default_rng(2).integers(0, 256, n, np.int32)


class Saxpy(Case):
    source = "linear"

    def ours(self, device):
        n = (1 << 26) // self.scale
        x = lc.Buffer(floats(n), device=device)
        y = lc.Buffer(floats(n), device=device)
        return lambda: saxpy(x, y, 0.5, dispatch_size=n), y.numpy

    def hand(self, cuda):
        n = (1 << 26) // self.scale
        x, y, f = cuda.array(floats(n)), cuda.array(floats(n)), cuda.kernel("saxpy", "PPfI")
        return lambda: f(groups((n, 256)), (256, 1, 1), x.at, y.at, 0.5, n), y.get


class Sgemm_naive(Case):
    source = "linear"

    def ours(self, device):
        n = 2048 // self.scale
        a, b = (lc.Buffer(floats(n * n), device=device) for _ in range(2))
        c = lc.Buffer(n * n, lc.float32, device=device)
        return lambda: sgemm(a, b, c, n, dispatch_size=(n, n)), c.numpy

    def hand(self, cuda):
        n = 2048 // self.scale
        a, b, c = cuda.array(floats(n * n)), cuda.array(floats(n * n)), cuda.empty((n * n,), "f4")
        f, grid = cuda.kernel("sgemm_naive", "PPPI"), groups((n, 16), (n, 16))
        return lambda: f(grid, (16, 16, 1), a.at, b.at, c.at, n), c.get


class Sgemm_tiled(Case):
    source = "linear"

    def ours(self, device):
        from lcpy.primitives import gemm

        n = 4096 // self.scale
        a, b = (lc.Buffer(floats(n, n), device=device) for _ in range(2))
        c = lc.Buffer((n, n), lc.float32, device=device)
        return lambda: gemm(a, b, c), c.numpy

    def hand(self, cuda):
        n = 4096 // self.scale
        a, b, c = cuda.array(floats(n, n)), cuda.array(floats(n, n)), cuda.empty((n, n), "f4")
        f, grid = cuda.kernel("sgemm_tiled", "PPPIII"), groups((n, 64), (n, 64))
        return lambda: f(grid, (16, 16, 1), a.at, b.at, c.at, n, n, n), c.get


class Reduce(Case):
    source = "primitives"

    def ours(self, device):
        from lcpy.primitives import reduce_into

        source = lc.Buffer(floats((1 << 28) // self.scale), device=device)
        result = lc.Buffer(1, lc.float32, device=device)
        return lambda: reduce_into(source, result), result.numpy

    def hand(self, cuda):
        n = (1 << 28) // self.scale
        source, result = cuda.array(floats(n)), cuda.empty((1,), "f4")
        f = cuda.kernel("reduce", "PPII")
        rounds = min(max(-(-n // (2048 * 512)), 2), 32)
        blocks = -(-n // (2048 * rounds))
        partial, block = cuda.empty((blocks,), "f4"), (256, 1, 1)

        def run():
            f((blocks, 1, 1), block, source.at, partial.at, n, rounds)
            f((1, 1, 1), block, partial.at, result.at, blocks, -(-blocks // 2048))

        return run, result.get


class Scan(Case):
    source = "primitives"

    def ours(self, device):
        from lcpy.primitives import inclusive_scan

        source = lc.Buffer(floats((1 << 27) // self.scale), device=device)
        target = lc.Buffer(len(source), lc.float32, device=device)
        return lambda: inclusive_scan(source, target), target.numpy

    def hand(self, cuda):
        n = (1 << 27) // self.scale
        levels, size = [], n
        while True:  # (elements, their tiles)
            levels.append((size, -(-size // 2048)))
            if levels[-1][1] == 1:
                break
            size = levels[-1][1]
        source, target = cuda.array(floats(n)), cuda.empty((n,), "f4")
        totals = [cuda.empty((tiles,), "f4") for _, tiles in levels]
        offsets = [cuda.array(np.zeros(tiles, np.float32)) for _, tiles in levels]
        add, scan, block = cuda.kernel("tile_totals", "PPI"), cuda.kernel("tile_scan", "PPPI?"), 256

        def run():
            at = source
            for k, (size, tiles) in enumerate(levels[:-1]):
                add((tiles, 1, 1), (block, 1, 1), at.at, totals[k].at, size)
                at = totals[k]
            for k in range(len(levels) - 1, -1, -1):
                size, tiles = levels[k]
                a, b = (source, target) if k == 0 else (totals[k - 1], offsets[k - 1])
                scan((tiles, 1, 1), (block, 1, 1), a.at, b.at, offsets[k].at, size, k == 0)

        return run, target.get


class Histogram(Case):
    source = "primitives"
    limit, share = 0.0, 0.0

    def values(self):
        return integers((1 << 27) // self.scale)

    def ours(self, device):
        from lcpy.primitives import histogram

        values, made = lc.Buffer(self.values(), device=device), []

        def run():
            made[:] = [histogram(values, 256)]

        return run, lambda: made[0].numpy()

    def hand(self, cuda):
        values, counts = cuda.array(self.values()), cuda.empty((256,), "u4")
        n = values.shape[0]
        rounds = min(max(-(-n // (2048 * 256)), 2), 32)
        f, blocks = cuda.kernel("histogram", "PPII"), -(-n // (2048 * rounds))

        def run():
            counts.zero()
            f((blocks, 1, 1), (256, 1, 1), values.at, counts.at, n, rounds)

        return run, counts.get


CASES = (
    Mandelbrot,
    Sdf_scene,
    Game_of_life,
    N_body,
    Mpm,
    Path_tracer,
    Denoise,
    Terrain,
    Saxpy,
    Sgemm_naive,
    Sgemm_tiled,
    Reduce,
    Scan,
    Histogram,
)
