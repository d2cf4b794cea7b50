"""Faults of drivers that no code of ours can mend, each with where it is seen. A test that meets one
leaves out what it spoils, and nothing else."""

# llvmpipe's code generator takes x * 0 as 0, x + 0 as x, 0 - x as -x, where the zero is a literal,
# whatever x is and whatever SignedZeroInfNanPreserve and NoContraction say (Mesa 22.3).
FOLDS_ZERO = ("llvmpipe",)


def folds_zero(device):
    return device.kind == "vulkan" and any(name in device.description for name in FOLDS_ZERO)
