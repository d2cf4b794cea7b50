"""Warp operations as text: NVRTC takes the CUDA C++, and PoCL the OpenCL C, given stand-ins for the
subgroup functions that it lacks: subgroups of one lane."""

import pytest
from loading import load_source
from ops.test_warp import BITS, FLOATS, INTEGERS, TYPED

import lcpy as lc
from lcpy._native import core
from lcpy.errors import DeviceError
from lcpy.run import nvrtc

SUBGROUPS = {
    f"subgroup{name}": True for name in ("s", "_vote", "_ballot", "_arithmetic", "_shuffle")
}
VOTES = """
import lcpy as lc

@lc.kernel(block_size=32, math="{math}")
def run(a: lc.Buffer[lc.uint32], b: lc.Buffer[lc.bool]):
    i = lc.dispatch_id().x
    v = b[i]
    a[i] = lc.warp_lane_id() + lc.warp_size() + lc.warp_first_lane() + lc.warp_count(v)
    a[i] += lc.warp_prefix_count(v) + lc.warp_ballot(v).y + lc.warp_sum(lc.uint32(v))
    b[i] = lc.warp_all(v) == lc.warp_any(v) or lc.warp_is_first() or lc.warp_xor(v)
    b[i + 1] = lc.warp_read_lane(v, 3) and lc.warp_read_first(v) and lc.warp_all_equal(v)
"""


def descriptors(tmp_path, math):
    for name in INTEGERS + FLOATS:
        source = TYPED.format(name=name, more=BITS if name in INTEGERS else "")
        source = source.replace("block_size=40", f'block_size=40, math="{math}"')
        module = load_source(tmp_path, f"text_{name}_{math}", source)
        flags = lc.Buffer[lc.uint32, 2]
        yield name, module.run.descriptor(lc.Buffer[module.V], lc.Buffer[module.V, 2], flags)
    module = load_source(tmp_path, f"votes_{math}", VOTES.format(math=math))
    yield "votes", module.run.descriptor(lc.Buffer[lc.uint32], lc.Buffer[lc.bool])


@pytest.mark.parametrize("arch", [75, 90, 100])
@pytest.mark.parametrize("math", ["ieee", "strict"])
def test_nvrtc_takes_warp_operations(arch, math, tmp_path):
    try:
        compiler = nvrtc.compiler()
    except DeviceError as error:
        pytest.skip(str(error))
    if arch not in compiler.architectures:
        pytest.skip(f"this NVRTC does not know sm_{arch}")
    for name, descriptor in descriptors(tmp_path, math):
        source = core.emit_cuda(descriptor, arch=arch)
        options = core.cuda_build_options(descriptor).split()
        assert compiler.compile(source, name, options, arch)[:4] == b"\x7fELF"


def stand_ins():
    """OpenCL C: the functions of cl_khr_subgroups and its relatives, for one lane."""
    lines = [
        "uint get_sub_group_local_id() { return 0; }",
        "uint get_max_sub_group_size() { return 1; }",
        "int sub_group_elect() { return 1; }",
        "int sub_group_non_uniform_all(int x) { return x; }",
        "int sub_group_non_uniform_any(int x) { return x; }",
        "uint4 sub_group_ballot(int x) { return (uint4)(x != 0, 0, 0, 0); }",
        "uint sub_group_ballot_bit_count(uint4 x) { return x.x; }",
        "uint sub_group_ballot_find_lsb(uint4 x) { return 0; }",
        "uint sub_group_ballot_exclusive_scan(uint4 x) { return 0; }",
        "int sub_group_ballot_bit_extract(uint4 x, uint i) { return x.x >> i & 1; }",
    ]
    over = "__attribute__((overloadable))"
    for t in ("int", "uint", "long", "ulong", "float", "double"):
        reductions = ["add", "mul", "min", "max"] + (["and", "or", "xor"] if "o" not in t else [])
        reductions += ["and", "or", "xor"] if "long" in t else []
        for name in reductions:
            lines.append(f"{over} {t} sub_group_non_uniform_reduce_{name}({t} x) {{ return x; }}")
        for name, empty in (("add", 0), ("mul", 1)):
            lines.append(
                f"{over} {t} sub_group_non_uniform_scan_exclusive_{name}({t} x) "
                f"{{ return {empty}; }}"
            )
        lines.append(f"{over} {t} sub_group_broadcast_first({t} x) {{ return x; }}")
        lines.append(f"{over} {t} sub_group_shuffle({t} x, uint i) {{ return x; }}")
    return "\n".join(["#pragma OPENCL EXTENSION cl_khr_fp64 : enable", *lines, ""])


@pytest.mark.parametrize("math", ["ieee", "strict"])
def test_opencl_text_compiles(math, tmp_path):
    cl = pytest.importorskip("pyopencl")
    devices = [info for info in lc.devices() if info.kind == "opencl"]
    if not devices:
        pytest.skip("no OpenCL device")
    context = cl.Context([devices[0]._handle])
    for name, descriptor in descriptors(tmp_path, math):
        if name == "float16":
            continue  # PoCL has no cl_khr_fp16
        source = core.emit_opencl(descriptor, **SUBGROUPS)
        assert "sub_group_" in source
        cl.Program(context, stand_ins() + source).build(["-cl-std=CL1.2"], cache_dir=False)


def test_each_missing_extension_is_named(tmp_path):
    descriptor = dict(descriptors(tmp_path, "ieee"))["votes"]
    for missing, extension in (
        ("s", "cl_khr_subgroups"),
        ("_vote", "cl_khr_subgroup_non_uniform_vote"),
        ("_ballot", "cl_khr_subgroup_ballot"),
        ("_arithmetic", "cl_khr_subgroup_non_uniform_arithmetic"),
        ("_shuffle", "cl_khr_subgroup_shuffle"),
    ):
        have = {**SUBGROUPS, f"subgroup{missing}": False}
        with pytest.raises(lc.UnsupportedError, match=f"needs {extension}, which the device"):
            core.emit_opencl(descriptor, **have)


def test_each_missing_kind_of_subgroup_operation_is_named(tmp_path):
    from lcpy.artifact import PORTABLE, plan_of

    descriptor = dict(descriptors(tmp_path, "ieee"))["votes"]
    plan = plan_of("votes", descriptor, PORTABLE)
    for kind in ("basic", "vote", "ballot", "arithmetic", "shuffle"):
        with pytest.raises(lc.UnsupportedError, match=f"VK_SUBGROUP_FEATURE_{kind.upper()}_BIT"):
            core.emit_spirv(descriptor, plan, **{f"subgroup_{kind}": False})


def test_a_module_asks_for_the_capabilities_that_it_uses():
    @lc.kernel
    def first(a: lc.Buffer[lc.uint32]):
        a[0] = lc.warp_lane_id()

    @lc.kernel
    def vote(a: lc.Buffer[lc.uint32]):
        a[0] = lc.uint32(lc.warp_all(a[1] == 0))

    features = first.compile(lc.Buffer[lc.uint32]).features
    assert [f for f in features if "Group" in f] == ["GroupNonUniform"]
    features = vote.compile(lc.Buffer[lc.uint32]).features
    assert [f for f in features if "Group" in f] == ["GroupNonUniformVote"]
