"""The vulkan device: SPIR-V through the `vulkan` wheel's raw cffi interface."""

from .instance import discover, messages

__all__ = ["discover", "messages", "open_device"]


def open_device(info):
    from .device import VulkanDevice

    return VulkanDevice(info)
