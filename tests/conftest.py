"""Devices are found once. LCPY_REQUIRE names the kinds that must be there ("cpu,opencl,vulkan"):
one that is not is a failure of each test that wants it, not a skip.

LCPY_VULKAN_LOG names the file that the Vulkan validation layer writes to; a message in it fails the
test that caused it.
"""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# PoCL's and PyOpenCL's caches would let one test's compilation hide another's.
os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
os.environ.setdefault("POCL_KERNEL_CACHE", "0")
sys.path.insert(0, str(ROOT / "tests"))

import cuda_host  # noqa: E402

import lcpy as lc  # noqa: E402

if Path(lc.__file__).resolve().parent == ROOT / "lcpy":
    # A checkout: the folder shaders/ holds lcpy.primitives and lcpy.gallery.
    lc.__path__.append(str(ROOT / "shaders"))

REQUIRED = [kind for kind in os.environ.get("LCPY_REQUIRE", "").split(",") if kind]
# LCPY_TEST_DEVICES limits the run, for work on one of them.
DEFAULT = "cpu,opencl,vulkan,cuda,cuda_host"
WANTED = os.environ.get("LCPY_TEST_DEVICES", DEFAULT).split(",")
# Where CUDA's text runs on the processor (tests/cuda_host): it is slow to build, and no device of
# the package's own.
HOST_FOLDERS = ("ops", "kernels", "language", "diff/test_corpus.py", "fuzz/test_found_on_gpus")


def find_devices():
    """The first device of each kind: kind -> name."""
    found = {}
    for device in lc.devices():
        if device.kind in WANTED:
            found.setdefault(device.kind, device.name)
    if "cuda_host" in WANTED and cuda_host.device() is not None:
        found["cuda_host"] = cuda_host.device()
    return found


DEVICES = find_devices()
KINDS = list(dict.fromkeys([*DEVICES, *REQUIRED]))


def open_device(kind):
    if kind not in DEVICES:
        pytest.fail(f"there must be a device of kind {kind}, and none was found")
    return lc.Device(DEVICES[kind])


def pytest_collection_modifyitems(config, items):
    """Leaves cuda_host to its folders, unless it is asked for."""
    if "LCPY_TEST_DEVICES" in os.environ:
        return
    folders = tuple(str(ROOT / "tests" / folder) for folder in HOST_FOLDERS)
    elsewhere = [
        item
        for item in items
        if "cuda_host" in getattr(item, "callspec", item).__dict__.get("params", {}).values()
        and not str(item.path).startswith(folders)
    ]
    config.hook.pytest_deselected(items=elsewhere)
    left_out = set(map(id, elsewhere))
    items[:] = [item for item in items if id(item) not in left_out]


@pytest.fixture(params=KINDS, scope="session")
def device(request):
    """Each device in turn."""
    return open_device(request.param)


@pytest.fixture(params=[kind for kind in KINDS if kind != "cpu"], scope="session")
def other_device(request):
    """Each device but cpu, which they are compared with."""
    return open_device(request.param)


@pytest.fixture(scope="session")
def cpu():
    """What the others are compared with: there whatever LCPY_TEST_DEVICES says."""
    return lc.Device("cpu")


# What Vulkan devices may lack, together: nothing narrow at all, arithmetic, storage, and mixtures.
POOR = (
    "int8,int16,float16,storage8,storage16",
    "int8,int16,float16",
    "storage8,storage16",
    "float16",
    "int16,storage8",
)


@pytest.fixture(params=POOR, scope="session")
def poor_device(request):
    """The Vulkan device with features left out that it has."""
    if "vulkan" not in DEVICES:
        open_device("vulkan") if "vulkan" in REQUIRED else pytest.skip("no Vulkan device")
    from lcpy.run.device import DeviceInfo, discover
    from lcpy.run.vulkan.instance import Physical, describe_features

    whole = discover("vulkan")[0][0]
    physical = Physical(whole._handle.handle)
    physical.leave_out(request.param)
    name = f"{whole.name} without {request.param}"
    features = describe_features(physical)
    rest = (whole.type, whole.description, whole.driver, whole.limits)
    return lc.Device(DeviceInfo(name, "vulkan", *rest, features, physical))


# The cpu device's warps are as wide as one asks.
WIDTHS = ["cpu:warp8", "cpu:warp16", "cpu:warp64"] if "cpu" in KINDS else []


@pytest.fixture(params=[*KINDS, *WIDTHS], scope="session")
def warps(request):
    """Each device that has warps, and the cpu device with each width."""
    name = request.param
    device = lc.Device(name) if ":" in name else open_device(name)
    if not device.limits["warp_size"]:
        pytest.skip(f"{device.name} has no warp operations")
    return device


@pytest.fixture(autouse=True)
def no_vulkan_message():
    log = os.environ.get("LCPY_VULKAN_LOG")
    if not log:
        yield
        return
    before = os.path.getsize(log) if os.path.exists(log) else 0
    yield
    if os.path.exists(log) and os.path.getsize(log) > before:
        with open(log, errors="replace") as file:
            file.seek(before)
            pytest.fail("the Vulkan validation layer says:\n" + file.read())


def pytest_report_header():
    return "lcpy devices: " + ", ".join(f"{d.name} ({d.description})" for d in lc.devices())
