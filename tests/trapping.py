"""Launches that trap, and launches that must not."""

import pytest

import lcpy as lc


def trap_of(device, launch):
    """The KernelTrap of a launch: raised at once on cpu, else when the device is waited for."""
    with pytest.raises(lc.KernelTrap) as caught:
        launch()
        device.synchronize()
    device.synchronize()  # and the device is clean again
    return caught.value


def runs_clean(device, launch):
    launch()
    device.synchronize()
