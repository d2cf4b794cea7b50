"""The driver's functions and structures, `lib` and `ffi` of the `vulkan` wheel; results as errors.

The wheel's own wrappers cost several µs a call, so its cffi data are used directly. Whatever a
create-info points to must stay alive until the call returns: `Keep` holds it.
"""

from ...errors import DeviceError, DeviceLost, OutOfMemory

ffi = lib = None


class Missing(Exception):
    """Vulkan cannot be used here; the text says what would add it."""


def load():
    """Loads the wheel's cffi module and the Vulkan loader once; Missing when there is none."""
    global ffi, lib
    if lib is not None:
        return
    from importlib import util

    spec = util.find_spec("vulkan")
    if spec is None or not spec.submodule_search_locations:
        raise Missing("Vulkan needs the wheel 'vulkan': pip install lcpy[vulkan]")
    import os
    import sys

    path = os.path.join(spec.submodule_search_locations[0], "_vulkancache.py")
    # Not `import vulkan`: its __init__ defines wrappers for every function, five times the cost.
    module_spec = util.spec_from_file_location("lcpy.run.vulkan._cffi", path)
    try:
        module = util.module_from_spec(module_spec)
        module_spec.loader.exec_module(module)
    except (OSError, ImportError) as error:
        raise Missing(f"the wheel 'vulkan' cannot be loaded: {error}") from None
    if sys.platform == "win32":
        names = ("vulkan-1.dll",)
    elif sys.platform == "darwin":
        names = ("libvulkan.dylib", "libvulkan.1.dylib", "libMoltenVK.dylib")
    else:
        names = ("libvulkan.so.1", "libvulkan.so")
    for name in names:
        try:
            loaded = module.ffi.dlopen(name)
        except OSError:
            continue
        ffi, lib = module.ffi, loaded
        return
    raise Missing("Vulkan needs the loader, Debian's package libvulkan1, and a driver")


def result_name(result):
    """The name of a VkResult, such as VK_ERROR_DEVICE_LOST."""
    return ffi.typeof("enum VkResult").elements.get(result, str(result))


def check(result, call, device=None):
    """Raises what a VkResult other than success means, naming the call."""
    if result == 0:
        return
    text = f"{call}: {result_name(result)}"
    if result in (-1, -2):
        raise OutOfMemory(text)
    if result == -4:
        text += "; everything on this device is gone"
        if device is not None:
            device.refuse(f"device {device.name} was lost ({call})", DeviceLost)
        raise DeviceLost(text)
    raise DeviceError(text)


class Keep:
    """Makes cffi structures and keeps them, and all that they point to, alive together."""

    def __init__(self):
        self.held = []

    def new(self, kind, value=None):
        made = ffi.new(kind, value) if value is not None else ffi.new(kind)
        self.held.append((made, value))
        return made

    def text(self, value):
        return self.new("char[]", value.encode())

    def texts(self, values):
        """A `const char* const*` of strings; NULL for none."""
        return self.new("char*[]", [self.text(v) for v in values]) if values else ffi.NULL


def features(struct):
    """Names of the fields of a feature structure that are on."""
    fields = [name for name, _ in ffi.typeof(struct[0]).fields if name not in ("sType", "pNext")]
    return {name for name in fields if getattr(struct, name)}


def handle_key(handle):
    """An int that names a handle, for dictionaries."""
    return int(ffi.cast("uintptr_t", handle))
