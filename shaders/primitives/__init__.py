"""Kernels the package ships: fill, reductions, scans, histogram, transpose and gemm."""
