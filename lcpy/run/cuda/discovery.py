"""Which CUDA devices there are, by PyCUDA: no context is made and nothing is allocated."""

from ...plan import Limits
from ..device import DeviceInfo

ARGUMENT_BYTES = 4096  # what every device and every compiler takes
OLDEST = (5, 3)  # compute capability that the emitted text needs

drv = None


class Missing(Exception):
    """CUDA cannot be used here; the text says what would add it."""


def load():
    """PyCUDA's driver module, initialised; Missing when there is none."""
    global drv
    if drv is not None:
        return drv
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about parts of PyCUDA that are not used here
            import pycuda.driver as module
    except ImportError as error:
        if "libcuda" in str(error):
            raise Missing(f"CUDA needs NVIDIA's driver, which brings libcuda ({error})") from None
        raise Missing(
            "CUDA needs PyCUDA: pip install lcpy[cuda], which builds it with a C++ compiler and "
            f"the CUDA toolkit ({error})"
        ) from None
    except Exception as error:  # a PyCUDA built for another NumPy, say
        raise Missing(f"PyCUDA cannot be imported: {type(error).__name__}: {error}") from None
    try:
        module.init()
    except module.Error as error:
        raise Missing(f"NVIDIA's driver does not start: {error}") from None
    drv = module
    return drv


def discover():
    try:
        module = load()
        count = module.Device.count()
    except Missing as error:
        return [], str(error)
    found, left_out = [], []
    for ordinal in range(count):
        device = module.Device(ordinal)
        capability = device.compute_capability()
        if capability < OLDEST:
            left_out.append(
                f"{device.name()} was left out: its compute capability is "
                f"{capability[0]}.{capability[1]}, {OLDEST[0]}.{OLDEST[1]} is needed"
            )
        else:
            found.append(device)
    infos = [_describe(f"cuda:{i}", device) for i, device in enumerate(found)]
    if not infos and not left_out:
        left_out.append("NVIDIA's driver shows no device (CUDA_VISIBLE_DEVICES limits them)")
    return infos, "; ".join(left_out) or None


def _describe(name, device):
    names = drv.device_attribute

    def attribute(attribute_name):
        return device.get_attribute(getattr(names, attribute_name))

    shared = attribute("MAX_SHARED_MEMORY_PER_BLOCK")
    if hasattr(names, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"):
        shared = max(shared, attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"))
    limits = Limits(
        storage_buffers=(1 << 31) - 1,
        uniform_buffers=0,
        sets=4,
        push_bytes=ARGUMENT_BYTES,
        uniform_range=0,
        storage_range=1 << 62,
        shared_bytes=shared,
        block_threads=attribute("MAX_THREADS_PER_BLOCK"),
        **{f"block_{axis.lower()}": attribute(f"MAX_BLOCK_DIM_{axis}") for axis in "XYZ"},
        **{f"groups_{axis.lower()}": attribute(f"MAX_GRID_DIM_{axis}") for axis in "XYZ"},
    )._asdict()
    major, minor = device.compute_capability()
    limits.update(
        warp_size=attribute("WARP_SIZE"),
        multiprocessors=attribute("MULTIPROCESSOR_COUNT"),
        memory_bytes=device.total_memory(),
        compute_capability=(major, minor),
    )
    features = {
        "float16": "native",
        "float64": True,
        "int8": True,
        "int16": True,
        "int64": True,
        "int64_atomics": True,
        "denormals": True,
        "exact_division": True,
    }
    version = drv.get_driver_version()
    return DeviceInfo(
        name,
        "cuda",
        "integrated" if attribute("INTEGRATED") else "discrete",
        device.name(),
        f"CUDA {version // 1000}.{version % 1000 // 10}",
        limits,
        features,
        device,
    )
