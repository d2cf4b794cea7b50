"""Kernels the package ships: fill, reductions, scans, histogram, transpose and gemm."""

from .fill import fill
from .gemm import gemm
from .histogram import histogram
from .kernels import kernels
from .reduce import reduce, reduce_into
from .scan import exclusive_scan, inclusive_scan
from .transpose import transpose

__all__ = [
    "exclusive_scan",
    "fill",
    "gemm",
    "histogram",
    "inclusive_scan",
    "kernels",
    "reduce",
    "reduce_into",
    "transpose",
]
