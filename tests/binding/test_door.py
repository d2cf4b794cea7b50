"""The door to the core: descriptors as text, the repacker, host memory, programs."""

import numpy as np
import pytest

import lcpy as lc
from lcpy._native import core

DOUBLE = """kernel "double" block 64 1 1 math ieee
slot 0 "x" global buffer<int> read_write number 0
function 0 "double" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: int = Load $0, %1
  %3: int = Add %2, %2
  Store $0, %3, %1
  Return
}
"""


def test_descriptors_parse_and_print():
    d = core.parse_descriptor(DOUBLE)
    assert (
        d.text() == DOUBLE
        and d.name == "double"
        and d.block_size == (64, 1, 1)
        and d.math == "ieee"
    )
    assert d.slots == [("x", lc.Buffer[lc.int32]._type, "global", "read_write", 0, False)]
    size, entries = d.argument_block()
    assert size % 16 == 0 and entries == [(-1, -1, -1, -1)]
    assert not d.uses_barrier and not d.uses_shared and d.shared_bytes == 0
    assert d.hash == core.parse_descriptor(DOUBLE).hash


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "kernel",
        DOUBLE[:-5],
        DOUBLE.replace("%3: int", "%3: uint"),
        DOUBLE.replace("Load $0", "Load $7"),
    ],
)
def test_damaged_text_is_refused(damage):
    with pytest.raises(lc.LoadError):
        core.parse_descriptor(damage)


def test_programs_run():
    program = core.Program(core.parse_descriptor(DOUBLE))
    memory = core.HostMemory(64 * 4)
    numbers = np.frombuffer(memory, np.int32)
    numbers[:] = np.arange(64)
    program.run([(memory.address, memory.nbytes)], bytes(16), (64, 1, 1))
    assert (numbers == 2 * np.arange(64)).all()
    with pytest.raises(lc.ArgumentError):
        program.run([], bytes(16), (64, 1, 1))
    with pytest.raises(lc.ArgumentError):
        core.Program(core.parse_descriptor(DOUBLE), "no such isa")


FAR = """kernel "far" block 1 1 1 math ieee
slot 0 "x" global buffer<long> read_write number 0
slot 1 "i" uniform uint read number 1
function 0 "far" () -> () {
  %0: uint = Load $1
  %1: long = Load $0, %0
  %2: long = Add %1, long(1)
  Store $0, %2, %0
  Return
}
"""


@pytest.mark.parametrize("index", [1 << 28, (1 << 30) + 3, (1 << 32) - 1])
def test_offsets_have_64_bits(index):
    """R062, with a base so far below the memory that only the element itself is real."""
    memory = core.HostMemory(8)
    program = core.Program(core.parse_descriptor(FAR))
    block = bytes(16) + index.to_bytes(16, "little")
    base = (memory.address - 8 * index) % (1 << 64)  # below zero where the heap starts low
    program.run([(base, 8 * (index + 1))], block, (1, 1, 1))
    assert bytes(memory) == (1).to_bytes(8, "little")


def test_host_memory_is_zero_and_aligned():
    memory = core.HostMemory(1000)
    assert memory.address % 64 == 0 and bytes(memory) == bytes(1000)


@pytest.mark.parametrize(
    "name", ["float3", "half3", "bool3", "double3x3", "float2x2", "ubyte3", "long4"]
)
def test_repack_round_trip(name):
    """R048: every lane of every element, whatever the padding."""
    T = getattr(lc, name)
    rng = np.random.default_rng(1)
    shape = (7,) + (T.dtype.shape)
    array = (rng.random(shape) * 100).astype(T.dtype.base)
    for source in (
        array,
        array[::-1],
        np.asfortranarray(array),
        array[:, ::-1],
        np.broadcast_to(array[0], shape),
    ):
        buffer = lc.Buffer(source, T, device="cpu")
        assert (buffer.numpy() == source).all()
