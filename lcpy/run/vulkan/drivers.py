"""What each driver gets wrong, or does its own way: flags of native/emit/vulkan.def by VkDriverId.

native/emit/DRIVERS.md has the shapes that brought each to light, and their tests.
"""

NVIDIA, LLVMPIPE = 4, 13

FLAGS = {
    NVIDIA: {
        "int8": False,  # such arithmetic is wrong in many ways, and no faster than that of 32 bits
        "int16": False,
        "sound_choices": False,
        "sound_loops": False,
        "sound_rounding": False,
        "nvidia_arithmetic": True,
        "close_reciprocals": True,
        "unroll_short_loops": True,
        "rounds_double_quotients": True,
    },
    LLVMPIPE: {
        "exact_division": True,
        "fused_fma": False,
        "rounds_doubles": False,
        "exact_zeros": False,
        "sound_extension": False,
        "sound_headers": False,
        "deep_nesting": False,
        "sound_orders": False,
    },
}

# Functions of float that NVIDIA's compiler makes worse than is promised, as tools/ulp measured.
NVIDIA_LACKS = ("exp", "log", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "pow")


def flags(driver):
    """What to tell core.emit_spirv of a driver; of one that is not known, nothing."""
    return FLAGS.get(driver, {})


def lacking(driver):
    """Functions of float that are the core's own there; None for all of them."""
    return list(NVIDIA_LACKS) if driver == NVIDIA else None
