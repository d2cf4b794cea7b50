"""Public names that are known and not here yet: using one is refused by name."""

from .errors import UnsupportedError

NAMES = {
    "Stream": "each device has one in-order stream",
    "Event": "lc.synchronize() waits for everything",
    "CommandList": "launches are recorded and sent off together already",
    "Image2D": "images and samplers",
    "Image3D": "images and samplers",
    "BindlessArray": "bindless arrays",
    "Accel": "ray tracing",
    "Library": "libraries of kernels",
    "load_library": "libraries of kernels",
}


class Later:
    """Stands for a name; calling or subscripting it is an UnsupportedError."""

    def __init__(self, name):
        self._name = name

    def __call__(self, *args, **kwargs):
        raise UnsupportedError(f"lc.{self._name} is not here yet ({NAMES[self._name]})")

    def __getitem__(self, parameters):
        return self()

    def __repr__(self):
        return f"<lc.{self._name}: not here yet>"
