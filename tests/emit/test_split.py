"""Structs by their members (native/lower/split.cpp): nothing flows as a struct where NVIDIA
compiles, and it makes no difference."""

import importlib
import re

import numpy as np
import pytest

import lcpy as lc
from lcpy._native import core
from lcpy.artifact import PORTABLE, plan_of

I, F = lc.int32, lc.float32  # noqa: E741


@lc.struct
class Pair:
    key: F
    place: lc.float3


@lc.struct
class State:
    best: Pair
    table: lc.Array[I, 3]
    found: lc.bool
    count: lc.int8


@lc.callable
def nearer(a: Pair, b: Pair) -> Pair:
    """Several returns, one of them within a loop, which keeps it a function."""
    for k in range(5):
        if a.key > b.key + F(k):
            return b
        if a.place.x == b.place.y:
            return Pair(F(k), a.place)
    return a


@lc.callable
def note(state: lc.Ref[State], pair: Pair) -> lc.bool:
    while state.count < 5:
        state.count += lc.int8(1)
        state.best = nearer(pair, state.best)
        state.table[I(state.count) % 3] += 1
        if state.count % 3 == 2:
            return state.found
    state.found = not state.found
    return state.found


@lc.kernel(block_size=32, math="strict")
def carried(a: lc.Buffer[F], pairs: lc.Buffer[Pair]):
    """Through loops, branches and functions, both ways."""
    i = I(lc.dispatch_id().x)
    pair = pairs[i]
    state = State(pair, lc.Array[I, 3](1, 2, 3), False, 0)
    k = 0
    while k < I(a[i]) % 7:
        if a[(i + k) % 64] > 20.0:
            pair = Pair(a[i] - F(k), pair.place.zxy)
        elif note(state, pair):
            pair.place.y += F(state.table[1])
        else:
            pair = state.best
        k += 1
    chosen = lc.select(state.found, state.best, pair)
    chosen.place.z += F(state.table[0] + state.table[2] * 10 + I(state.count) * 100)
    pairs[i] = chosen


@lc.kernel(block_size=32, math="strict")
def switched(a: lc.Buffer[F], pairs: lc.Buffer[Pair]):
    i = lc.dispatch_id().x
    local = lc.Array[Pair, 2](Pair(1.0, lc.float3(2.0)), pairs[i])
    pair = Pair(0.0, lc.float3(a[i]))
    for k in range(20):
        match I(a[i]) + k & 3:
            case 0:
                pair = local[k & 1]
            case 1:
                local[1] = pair
            case 2:
                pair.key += 1.0
                continue
            case _:
                pair = nearer(pair, local[0])
        if pair.key > 12.0:
            break
    pairs[i] = nearer(local[1], pair)


KERNELS = [carried, switched]


def told_devices():
    """cpu, and a Vulkan device that is told to and not."""
    from lcpy.run.device import discover

    infos, reason = discover("vulkan")
    if not infos:
        pytest.skip(reason)
    from lcpy.run.vulkan.device import VulkanDevice

    yield lc.Device("cpu")
    for told in (False, True):
        device = VulkanDevice(infos[0])
        device.target["unroll_short_loops"] = told
        yield device


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_same_values(kernel):
    values = np.arange(64, dtype=np.float32) * 3 % 41 - 8
    pairs = np.zeros(64, Pair.dtype)
    pairs["key"] = values[::-1]
    pairs["place"] = np.arange(192, dtype=np.float32).reshape(64, 3) % 17
    results = []
    for device in told_devices():
        out = lc.Buffer(pairs, Pair, device=device)
        kernel(lc.Buffer(values, device=device), out, dispatch_size=64)
        results.append(out.numpy())
    assert len(np.unique(results[0]["key"])) > 5
    for name in ("key", "place"):
        assert (results[1][name] == results[0][name]).all()
        assert (results[2][name] == results[0][name]).all()


@pytest.mark.parametrize("name", ["path_tracer", "sdf_scene", "mpm", "terrain"])
def test_gallery(name):
    program = importlib.import_module(f"lcpy.gallery.{name}")
    size = {"path_tracer": 23, "sdf_scene": 31, "mpm": 16, "terrain": 1}[name]
    cpu, _, told = (program.run(device, size) for device in told_devices())
    limit, share = (0.0, 0.0) if name == "path_tracer" else program.BOUND
    assert (np.abs(cpu.astype(np.float64) - told) > limit).mean() <= share


def flowing(text):
    """Structs of the program that functions of OpenCL text take or give, or that are variables
    which branches and loops set. (Arrays are wrapped in a struct, and stay; what is read from
    memory is filled at once, part by part.)"""
    names = re.findall(r"^// struct<.*\n.*\b(T\d+);$", text, re.M)
    given = [
        rf"\b{name} f\d+\(|, const {name} v\d+|^ +{name} (v\d+)\b(?!;\n +\1\.m0)" for name in names
    ]
    given += [rf"typedef struct \{{[^}}]*\b{name} r\d+;[^}}]*\}} R\d+;" for name in names]
    return [found[0] for pattern in given for found in re.finditer(pattern, text, re.M)]


def descriptors():
    program = importlib.import_module("lcpy.gallery.path_tracer")
    types = program.KERNELS[program.render]
    yield program.render.descriptor(*types)
    for kernel in KERNELS:
        yield kernel.descriptor(lc.Buffer[F], lc.Buffer[Pair])


def test_nothing_flows_as_a_struct():
    for descriptor in descriptors():
        before = core.emit_opencl(descriptor)
        assert flowing(before)
        assert not flowing(core.emit_opencl(descriptor, ptx=True))


def flowing_words(descriptor, **target):
    """How often SPIR-V passes on a struct that is not of arrays alone, or takes one."""
    plan = plan_of("k", descriptor, PORTABLE)
    words = np.frombuffer(core.emit_spirv(descriptor, plan, **target).words, np.uint32).tolist()
    structs, arrays, count, at = set(), set(), 0, 5
    while at < len(words):
        opcode, length = words[at] & 0xFFFF, words[at] >> 16
        if opcode == 28:  # OpTypeArray
            arrays.add(words[at + 1])
        elif opcode == 30 and not set(words[at + 2 : at + length]) <= arrays:  # OpTypeStruct
            structs.add(words[at + 1])
        elif opcode in (55, 245):  # OpFunctionParameter, OpPhi
            count += words[at + 1] in structs
        at += length
    return count


def test_nothing_flows_as_a_struct_in_vulkan():
    for descriptor in descriptors():
        assert flowing_words(descriptor) > 5
        assert flowing_words(descriptor, unroll_short_loops=True) == 0


def test_a_struct_in_memory_stays():
    """Arrays of structs, buffers and what is stored whole."""
    text = core.emit_opencl(switched.descriptor(lc.Buffer[F], lc.Buffer[Pair]), ptx=True)
    assert re.search(r"__global T\d+\* g1_pairs", text)
    assert re.search(r"g1_pairs\[.*\]\.m0 = v\d+;\n.*g1_pairs\[.*\]\.m1 = ", text)
