import pytest

from lcpy.errors import DeviceError
from lcpy.run import nvrtc


@pytest.fixture(scope="session")
def compiler():
    """NVRTC, which needs no GPU."""
    try:
        return nvrtc.compiler()
    except DeviceError as error:
        pytest.skip(str(error))
