"""The vulkan device where the host cannot see its memory: every copy is staged and recorded.
Software devices are forced to it, so that the path of discrete GPUs is tested everywhere."""

import numpy as np
import pytest

import lcpy as lc
from lcpy.run.device import discover


@pytest.fixture(scope="module")
def staged():
    infos, reason = discover("vulkan")
    if not infos:
        pytest.skip(reason)
    from lcpy.run.vulkan.device import VulkanDevice
    from lcpy.run.vulkan.memory import Pool

    device = VulkanDevice(infos[0])
    memory_types = device.memory_types
    if memory_types.unified:
        index = memory_types.local.type_index
        memory_types.unified = False
        memory_types.local = Pool(device, index, mapped=False)
        memory_types.host = Pool(device, index, mapped=True)
    yield device
    device.close()


@lc.kernel
def add(x: lc.Buffer[lc.float3], v: lc.float32):
    x[lc.dispatch_id().x] += v


def test_uploads_launches_and_downloads_keep_their_order(staged):
    a = np.arange(3000, dtype=np.float32).reshape(1000, 3)
    x = lc.Buffer(a, lc.float3, device=staged)
    for step in range(30):
        add(x, 1.0, dispatch_size=1000)
        if step % 7 == 0:
            assert (x.numpy() == a + step % 10 + 1 + step // 10 * 10).all()
    x.upload(a[::-1])
    add(x, 1.0, dispatch_size=1000)
    assert (x.numpy() == a[::-1] + 1).all()


def test_zeroed_filled_viewed(staged):
    for n in (1, 3, 1000, 300_000):
        x = lc.Buffer(n, lc.float3, device=staged)
        assert not x.numpy().any()
        x.fill((1, 1, 1))
        x.view(n // 2, n).fill((2, 3, 4))
        assert (x.numpy()[n // 2 :] == (2, 3, 4)).all() and (x.numpy()[: n // 2] == 1).all()
    for T, value in (
        (lc.uint8, 9),
        (lc.int16, -3),
        (lc.float32, 0.5),
        (lc.float64, 0.25),
        (lc.uint4, (7,) * 4),
    ):
        x = lc.Buffer(37, T, device=staged)
        x.view(5, 30).fill(value)
        want = np.zeros_like(x.numpy())
        want[5:30] = value
        assert (x.numpy() == want).all()


def test_copies(staged):
    a = lc.Buffer(np.arange(100, dtype=np.int32), device=staged)
    b = lc.Buffer(100, lc.int32, device=staged)
    b.view(10, 20).copy_from(a.view(50, 60))
    a.fill(0)  # after the copy, though neither has run yet
    assert b.numpy()[9:21].tolist() == [0, *range(50, 60), 0]


def test_memory_returns_only_after_its_last_use(staged):
    kept = lc.Buffer(1000, lc.float3, device=staged)
    for i in range(200):
        made = lc.Buffer(np.full((1000, 3), i, np.float32), lc.float3, device=staged)
        add(made, 1.0, dispatch_size=1000)
        kept.copy_from(made)
        del made
    assert (kept.numpy() == 200).all()


def test_closing_frees_everything_and_refuses_further_use():
    infos, reason = discover("vulkan")
    if not infos:
        pytest.skip(reason)
    from lcpy.run.vulkan.device import VulkanDevice

    device = VulkanDevice(infos[0])
    x = lc.Buffer(np.ones((10, 3), np.float32), lc.float3, device=device)
    add(x, 1.0, dispatch_size=10)
    device.close()
    for use in (
        x.numpy,
        lambda: x.fill((0, 0, 0)),
        lambda: add(x, 1.0, dispatch_size=10),
        device.synchronize,
        lambda: lc.Buffer(1, lc.int32, device=device),
    ):
        with pytest.raises(lc.DeviceError, match="closed"):
            use()
    device.close()
