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
        "sound_masks": False,
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


NAMES = {"nvidia": NVIDIA, "llvmpipe": LLVMPIPE}
# Flags that say what hardware does beyond the specification: of no use to other devices.
_BEYOND = (
    "exact_division",
    "nvidia_arithmetic",
    "close_reciprocals",
    "unroll_short_loops",
    "rounds_double_quotients",
)
# What a module for all of them may still take for granted, since doing without costs features that
# many devices lack: it is written down where one does.
ASSUMED = ("fused_fma", "deep_nesting")


def portable():
    """Flags for devices of any driver: what one gets wrong is avoided for all."""
    return {
        name: value
        for faults in FLAGS.values()
        for name, value in faults.items()
        if name not in (*_BEYOND, *ASSUMED)
    }


def name_of(driver):
    """The name in NAMES of a VkDriverId; None of one that has none."""
    return next((name for name, number in NAMES.items() if number == driver), None)
