"""Whole programs that make a picture or a number; `tools/demo` runs them on every device.

Each module has
- TITLE, SIZE: its name and its usual size,
- run(device, size) -> NumPy array: the whole program,
- BOUND = (limit, share): at most this share of the values may differ from the cpu device's by more
  than the limit,
- picture(result) -> (h, w, 3) uint8,
- KERNELS: each kernel with the argument types that it is used with.
"""

NAMES = [
    "mandelbrot",
    "sdf_scene",
    "game_of_life",
    "n_body",
    "mpm",
    "path_tracer",
    "denoise",
    "terrain",
]
