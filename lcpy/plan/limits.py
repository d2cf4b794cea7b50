"""What a device can bind and run, and the checks against it that come before any driver call."""

from collections import namedtuple

from ..errors import UnsupportedError

_FIELDS = (  # name, what messages call it
    ("storage_buffers", "storage buffers of a kernel"),
    ("uniform_buffers", "uniform buffers of a kernel"),
    ("sets", "descriptor sets"),
    ("push_bytes", "bytes of push constants"),
    ("uniform_range", "bytes of a uniform buffer"),
    ("storage_range", "bytes of a bound buffer"),
    ("shared_bytes", "bytes of shared memory a block"),
    ("block_threads", "threads of a block"),
    ("block_x", "threads of a block along x"),
    ("block_y", "threads of a block along y"),
    ("block_z", "threads of a block along z"),
    ("groups_x", "blocks of a dispatch along x"),
    ("groups_y", "blocks of a dispatch along y"),
    ("groups_z", "blocks of a dispatch along z"),
)


class Limits(namedtuple("Limits", [name for name, _ in _FIELDS])):
    """Limits of a device, in the units that the names say."""

    __slots__ = ()

    @classmethod
    def of(cls, limits):
        """Those of a device's limits that bind and launch."""
        return cls(**{name: limits[name] for name in cls._fields})

    def require(self, name, need, who, what=None):
        """UnsupportedError, naming limit and count, when `need` is more than the device has;
        `what` names the limit where the usual words do not fit the device."""
        have = getattr(self, name)
        if need > have:
            raise UnsupportedError(
                f"{who} needs {need} {what or dict(_FIELDS)[name]}; the device has {have}"
            )


def check_limits(limits, name, block_size, shared_bytes):
    """Block size and shared memory, before a pipeline is made: drivers may not survive the try."""
    who = f"kernel '{name}'"
    x, y, z = block_size
    limits.require("block_x", x, who)
    limits.require("block_y", y, who)
    limits.require("block_z", z, who)
    limits.require("block_threads", x * y * z, who)
    limits.require("shared_bytes", shared_bytes, who)
