"""Every message of the Vulkan validation layer (LCPY_VALIDATE=1) fails the test that caused it."""

import sys

import pytest


@pytest.fixture(autouse=True)
def no_validation_message():
    vulkan = sys.modules.get("lcpy.run.vulkan")
    before = len(vulkan.messages()) if vulkan else 0
    yield
    vulkan = sys.modules.get("lcpy.run.vulkan")
    if vulkan:
        assert vulkan.messages()[before:] == []
