"""The corpus on every device: the same bits as on cpu."""

import corpus
import numpy as np
import pytest


@pytest.mark.parametrize("name", corpus.NAMES)
def test_devices_agree(name, other_device, cpu):
    module = corpus.load(name)
    want, got = module.run(cpu), module.run(other_device)
    assert want.dtype == got.dtype and np.array_equal(want, got)
    assert len(np.unique(want)) > 10
