"""Every kernel behind the primitives, with argument types that it is used with: what is validated
for each Vulkan version, and what can be compiled ahead of a first call."""

import lcpy as lc

from .combine import COMBINE
from .fill import fill_kernel
from .gemm import gemm_kernel
from .histogram import direct_kernel, histogram_kernel
from .reduce import reduce_kernel
from .scan import scan_kernel, totals_kernel
from .transpose import transpose_kernel


def kernels(elements=(lc.float32, lc.int32)):
    """Yields (name, kernel, argument types) for each primitive, operation and element type."""
    for T in elements:
        flat, grid, name = lc.Buffer[T], lc.Buffer[T, 2], T.__name__
        yield f"fill.{name}", fill_kernel, (flat, T)
        yield f"transpose.{name}", transpose_kernel, (grid, grid)
        yield f"gemm.{name}", gemm_kernel(T), (grid, grid, grid)
        for op in COMBINE:
            yield f"reduce.{op}.{name}", reduce_kernel(op, T), (flat, flat, T, lc.uint32)
            yield f"scan_totals.{op}.{name}", totals_kernel(op, T), (flat, flat, T)
            yield f"scan.{op}.{name}", scan_kernel(op, T), (flat, flat, flat, T, lc.bool)
    counts = lc.Buffer[lc.uint32]
    for T, key in ((lc.int32, lc.uint32), (lc.uint64, lc.uint64)):
        values, name = lc.Buffer[T], T.__name__
        yield f"histogram.{name}", histogram_kernel(256, key), (values, counts, lc.uint32)
        yield f"histogram_direct.{name}", direct_kernel(key), (values, counts)
