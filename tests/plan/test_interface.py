"""Interface plans: where buffers and the argument block go, and what is refused."""

import pytest

from lcpy.errors import UnsupportedError
from lcpy.plan import Limits, check_limits, plan_interface

LIMITS = Limits(
    storage_buffers=8,
    uniform_buffers=4,
    sets=4,
    push_bytes=128,
    uniform_range=512,
    storage_range=4096,
    shared_bytes=1024,
    block_threads=256,
    block_x=256,
    block_y=256,
    block_z=64,
    groups_x=65535,
    groups_y=65535,
    groups_z=65535,
)


def slots(n, values=1):
    made = [(f"b{i}", "global", "read_write" if i % 2 else "read") for i in range(n)]
    return (
        made
        + [(f"v{i}", "uniform", "read") for i in range(values)]
        + [("s", "shared", "read_write")]
    )


def test_small_blocks_are_pushed():
    plan = plan_interface("k", slots(2), 128, LIMITS)
    assert plan.block == "push" and plan.push_ranges == ((0, 128),)
    assert plan.slots == ((0, 0), (0, 1), None, None)
    assert plan.sets == (((0, "storage_buffer", 1), (1, "storage_buffer", 1)),)
    assert plan.accesses == ("read", "read_write")


def test_bigger_blocks_become_a_uniform_then_a_storage_buffer():
    uniform = plan_interface("k", slots(2), 144, LIMITS)
    assert (uniform.block, uniform.block_place, uniform.push_ranges) == ("uniform", (1, 0), ())
    assert uniform.sets[1] == ((0, "uniform_buffer", 1),)
    storage = plan_interface("k", slots(2), 528, LIMITS)
    assert storage.block == "storage" and storage.sets[1] == ((0, "storage_buffer", 1),)


def test_values_before_buffers_take_no_binding():
    plan = plan_interface("k", [("a", "uniform", "read"), ("b", "global", "write")], 32, LIMITS)
    assert plan.slots == (None, (0, 0))


@pytest.mark.parametrize(
    "buffers, block, parts",
    [
        (9, 64, ("9 storage buffers", "has 8")),
        (8, 1024, ("9 storage buffers", "has 8")),  # the block would be the ninth
        (1, 5000, ("5000 bytes", "has 4096")),
    ],
)
def test_what_does_not_fit_names_limit_and_count(buffers, block, parts):
    with pytest.raises(UnsupportedError) as raised:
        plan_interface("crowded", slots(buffers), block, LIMITS)
    for part in ("crowded", *parts):
        assert part in str(raised.value)


@pytest.mark.parametrize(
    "block, shared, part",
    [
        ((512, 1, 1), 0, "along x"),
        ((1, 1, 65), 0, "along z"),
        ((16, 16, 2), 0, "512 threads of a block"),
        ((1, 1, 1), 2048, "2048 bytes of shared memory"),
    ],
)
def test_block_limits(block, shared, part):
    with pytest.raises(UnsupportedError, match=part):
        check_limits(LIMITS, "k", block, shared)
    check_limits(LIMITS, "k", (16, 16, 1), 1024)


def test_plans_are_equal_hashable_and_printable():
    one, two = (plan_interface("k", slots(3), 640, LIMITS) for _ in range(2))
    assert one == two and hash(one) == hash(two)
    assert str(one) == str(two) and "set 1 binding 0: storage_buffer" in str(one)
    with pytest.raises(AttributeError):
        one.block = "push"


def test_arguments_indexed_at_run_time_are_not_pushed():
    """Threads may index push constants alike only."""
    assert plan_interface("k", slots(2), 64, LIMITS).block == "push"
    assert plan_interface("k", slots(2), 64, LIMITS, indexed=True).block == "uniform"
