"""OpenCL C and CUDA C++ from descriptors' text forms, built without a warning and run: layout of
every aggregate kind, the argument block, control, atomics, byte buffers. tests/ops has what
operations give."""

import functools

import cuda_host
import numpy as np
import pytest

from lcpy._native import core

HEAD = 'kernel "k" block {block} math ieee\n'


def descriptor(slots, code, block="1 1 1", functions="", extra=""):
    text = HEAD.format(block=block)[:-1] + extra + "\n" + slots.strip() + "\n"
    text += 'function 0 "k" () -> () {\n' + code.rstrip() + "\n  Return\n}\n" + functions
    return core.parse_descriptor(text)


def argument_block(kernel, threads, uniforms):
    """The header, and the bytes of the uniforms after it."""
    block = np.zeros(kernel.argument_block()[0], np.uint8)
    block[:12] = np.frombuffer(np.array([threads, 1, 1], np.uint32).tobytes(), np.uint8)
    block[16 : 16 + len(uniforms)] = np.frombuffer(uniforms, np.uint8)
    return block


def opencl_queue():
    cl = pytest.importorskip("pyopencl")
    # Of several PoCLs the newest: an old one may not know the processor.
    platforms = sorted(cl.get_platforms(), key=lambda p: p.version)
    if not platforms:
        pytest.skip("no OpenCL platform")
    return cl.CommandQueue(cl.Context([platforms[-1].get_devices()[0]]))


def run_opencl(queue, kernel, buffers, threads, uniforms=b""):
    import pyopencl as cl

    source = core.emit_opencl(kernel)
    program = cl.Program(queue.context, source).build(["-cl-std=CL1.2", "-Werror"])
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    memory = [cl.Buffer(queue.context, flags, hostbuf=b) for b in buffers]
    entry = program.lcpy_main
    for i, m in enumerate(memory):
        entry.set_arg(i, m)
    entry.set_arg(len(memory), argument_block(kernel, threads, uniforms))
    local = kernel.block_size
    whole = ((threads + local[0] - 1) // local[0] * local[0], local[1], local[2])
    cl.enqueue_nd_range_kernel(queue, entry, whole, local)
    for m, b in zip(memory, buffers):
        cl.enqueue_copy(queue, b, m)
    queue.finish()


def run_cuda(kernel, buffers, threads, uniforms=b""):
    executable = cuda_host.HostExecutable("k", kernel, "ieee")
    block = argument_block(kernel, threads, uniforms).tobytes()
    executable.launch_at([b.ctypes.data for b in buffers], block, threads, 1, 1)


@pytest.fixture(scope="module", params=["opencl", "cuda"])
def run(request):
    """run(descriptor, arrays, threads, bytes of uniforms) writes to the arrays."""
    if request.param == "opencl":
        return functools.partial(run_opencl, opencl_queue())
    if cuda_host.device() is None:
        pytest.skip("no g++")
    return run_cuda


THREAD = """  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
"""

# Every alignment beside every other: bool, short, float3, double, an array of structs, a matrix.
INNER = "struct<16,bool,vector<float,3>>"
OUTER = f"struct<16,bool,short,vector<float,3>,byte,double,array<{INNER},2>,matrix<float,3>,bool>"


def outer_dtype():
    inner = np.dtype(
        {"names": ["f", "v"], "formats": ["u1", "3f4"], "offsets": [0, 16], "itemsize": 32}
    )
    return np.dtype(
        {
            "names": ["a", "b", "c", "d", "e", "f", "g", "h"],
            "formats": ["u1", "i2", "3f4", "i1", "f8", (inner, 2), "(3,4)f4", "u1"],
            "offsets": [0, 2, 16, 32, 40, 48, 112, 160],
            "itemsize": 176,
        }
    )


def sample(n):
    a = np.zeros(n, outer_dtype())
    for i in range(n):
        a[i] = (
            [0, 1, 2, 255][i % 4], -i, (i + 0.5, i + 1.5, i + 2.5), i, 1.5 * i,
            [(1, (i, 1, 2)), (0, (3, 4, i))], np.arange(12).reshape(3, 4) + i, i % 2,
        )  # fmt: skip
    return a


def test_members_of_a_struct_lie_where_the_core_says(run):
    kernel = descriptor(
        f"""
slot 0 "s" global buffer<{OUTER}> read number 0
slot 1 "o" global buffer<double> write number 1
""",
        THREAD
        + """  %2: uint = Mul %1, uint(8)
  %10: bool = Load $0, %1, 0
  %11: short = Load $0, %1, 1
  %12: float = Load $0, %1, 2, 2
  %13: byte = Load $0, %1, 3
  %14: double = Load $0, %1, 4
  %15: uint = BitAnd %1, uint(1)
  %16: float = Load $0, %1, 5, %15, 1, %15
  %17: float = Load $0, %1, 6, %15, 2
  %18: bool = Load $0, %1, 7
  %20: double = Convert %10
  %21: double = Convert %11
  %22: double = Convert %12
  %23: double = Convert %13
  %25: double = Convert %16
  %26: double = Convert %17
  %27: double = Convert %18
  Store $1, %20, %2
  %30: uint = Add %2, uint(1)
  Store $1, %21, %30
  %31: uint = Add %2, uint(2)
  Store $1, %22, %31
  %32: uint = Add %2, uint(3)
  Store $1, %23, %32
  %33: uint = Add %2, uint(4)
  Store $1, %14, %33
  %34: uint = Add %2, uint(5)
  Store $1, %25, %34
  %35: uint = Add %2, uint(6)
  Store $1, %26, %35
  %36: uint = Add %2, uint(7)
  Store $1, %27, %36""",
    )
    s, o = sample(6), np.zeros(48)
    run(kernel, [s, o], 6)
    for i, row in enumerate(o.reshape(6, 8)):
        j = i & 1
        assert row.tolist() == [
            float(s[i]["a"] != 0), -i, i + 2.5, i, 1.5 * i,
            s[i]["f"]["v"][j][j], s[i]["g"][j][2], i % 2,
        ]  # fmt: skip


def test_whole_structs_travel_and_bools_come_out_as_0_or_1(run):
    kernel = descriptor(
        f"""
slot 0 "s" global buffer<{OUTER}> read number 0
slot 1 "o" global buffer<{OUTER}> write number 1
""",
        THREAD
        + f"""  %2: {OUTER} = Load $0, %1
  %3: bool = Extract %2, 7
  %4: bool = Not %3
  %5: {OUTER} = Insert %2, %4, 7
  %6: {OUTER} = Insert %5, float(9), 6, 1, 2
  Store $1, %6, %1""",
    )
    s = sample(4)
    o = np.zeros_like(s)
    run(kernel, [s, o], 4)
    for name in "bcde":
        assert (o[name] == s[name]).all()
    assert o["a"].tolist() == [0, 1, 1, 1]
    assert o["h"].tolist() == [1, 0, 1, 0]
    expected = s["g"].copy()
    expected[:, 1, 2] = 9
    assert (o["g"][:, :, :3] == expected[:, :, :3]).all()
    assert (o["f"]["v"] == s["f"]["v"]).all() and (o["f"]["f"] == [1, 0]).all()


def test_a_write_to_one_lane_leaves_the_others(run):
    kernel = descriptor(
        'slot 0 "v" global buffer<vector<float,4>> read_write number 0',
        THREAD
        + """  %2: uint = ShrUnchecked %1, uint(2)
  %3: uint = BitAnd %1, uint(3)
  %4: float = Convert %1
  Store $0, %4, %2, %3
  Store $0, float(-1), %2, 0""",
        block="64 1 1",
    )
    v = np.zeros((64, 4), np.float32)
    run(kernel, [v], 256)
    expected = np.arange(256, dtype=np.float32).reshape(64, 4)
    expected[:, 0] = -1
    assert (v == expected).all()


def test_the_argument_block_by_offset_and_by_index(run):
    kernel = descriptor(
        """
slot 0 "o" global buffer<double> write number 0 length
slot 1 "flag" uniform bool read number 1
slot 2 "small" uniform short read number 2
slot 3 "big" uniform long read number 3
slot 4 "v" uniform vector<float,3> read number 4
slot 5 "a" uniform array<struct<8,bool,double>,3> read number 5
slot 6 "m" uniform vector<bool,3> read number 6
""",
        THREAD
        + """  %2: bool = Load $1
  %3: short = Load $2
  %4: long = Load $3
  %5: vector<float,3> = Load $4
  %6: float = Extract %5, 1
  %7: float = Load $4, %1
  %8: double = Load $5, %1, 1
  %9: bool = Load $5, %1, 0
  %10: vector<bool,3> = Load $6
  %11: bool = Extract %10, 2
  %12: bool = Load $6, %1
  %13: uint = BufferLength $0
  %20: double = Convert %2
  %21: double = Convert %3
  %22: double = Convert %4
  %23: double = Convert %6
  %24: double = Convert %7
  %25: double = Convert %9
  %26: double = Convert %11
  %27: double = Convert %12
  %28: double = Convert %13
  %40: uint = Mul %1, uint(10)
  Store $0, %20, %40
  %41: uint = Add %40, uint(1)
  Store $0, %21, %41
  %42: uint = Add %40, uint(2)
  Store $0, %22, %42
  %43: uint = Add %40, uint(3)
  Store $0, %23, %43
  %44: uint = Add %40, uint(4)
  Store $0, %24, %44
  %45: uint = Add %40, uint(5)
  Store $0, %8, %45
  %46: uint = Add %40, uint(6)
  Store $0, %25, %46
  %47: uint = Add %40, uint(7)
  Store $0, %26, %47
  %48: uint = Add %40, uint(8)
  Store $0, %27, %48
  %49: uint = Add %40, uint(9)
  Store $0, %28, %49""",
    )
    block = np.zeros(120, np.uint8)  # after the header of 16 bytes
    block[0] = 7
    block[2:4] = np.frombuffer(np.int16(-5).tobytes(), np.uint8)
    block[8:16] = np.frombuffer(np.int64(-(2**40) - 3).tobytes(), np.uint8)
    block[16:28] = np.frombuffer(np.array([1.5, 2.5, 3.5], np.float32).tobytes(), np.uint8)
    for i in range(3):
        block[32 + 16 * i] = i
        block[40 + 16 * i : 48 + 16 * i] = np.frombuffer(np.float64(i / 3).tobytes(), np.uint8)
    block[80:83] = [0, 1, 4]
    block[88:96] = np.frombuffer(np.uint64(30).tobytes(), np.uint8)
    o = np.zeros(30)
    run(kernel, [o], 3, block.tobytes()[:96])
    for i, row in enumerate(o.reshape(3, 10)):
        assert row.tolist() == [
            1, -5, -(2.0**40) - 3, 2.5, i + 1.5, i / 3, float(i > 0), 1, float(i > 0), 30
        ]  # fmt: skip


def test_moves_at_a_loop_edge_are_simultaneous(run):
    kernel = descriptor(
        'slot 0 "o" global buffer<int> write number 0',
        THREAD
        + """  %2: int, %3: int, %4: int = Loop (%5: int, %6: int, %7: int, %8: uint) {
    %9: bool = Less %8, %1
    If %9, {
      Yield
    }, {
      Break %5, %6, %7
    }
    %10: uint = Add %8, uint(1)
    Continue %6, %7, %5, %10
  }, int(1), int(2), int(3), uint(0)
  %11: int = Mul %2, int(100)
  %12: int = Mul %3, int(10)
  %13: int = Add %11, %12
  %14: int = Add %13, %4
  Store $0, %14, %1""",
    )
    o = np.zeros(4, np.int32)
    run(kernel, [o], 4)
    assert o.tolist() == [123, 231, 312, 123]


def test_switch_with_and_without_a_break_of_the_loop_around(run):
    kernel = descriptor(
        'slot 0 "o" global buffer<int> write number 0',
        THREAD
        + """  %2: int = Convert %1
  %3: int = Switch %2, {
    Yield int(-1)
  }, int(0), int(3), {
    Yield int(10)
  }, int(1), {
    Yield int(20)
  }
  %4: int = Loop (%5: int) {
    %6: int = Add %5, int(1)
    %8: int = Add %5, %2
    %7: int = Switch %8, {
      Yield %6
    }, int(5), int(7), {
      Break %5
    }, int(6), {
      Continue %6
    }
    Continue %7
  }, int(0)
  %9: int = Mul %4, int(100)
  %10: int = Add %3, %9
  Store $0, %10, %1""",
    )
    o = np.zeros(4, np.int32)
    run(kernel, [o], 4)
    assert o.tolist() == [510, 420, 299, 210]


def test_functions_with_several_results_reach_slots(run):
    table = "array<vector<float,2>,3>"
    kernel = descriptor(
        f"""
slot 0 "o" global buffer<float> read_write number 0
slot 1 "tile" shared array<float,64> read_write number 16777216
slot 2 "table" constant {table} read number 16777217 data {table}((1, 2), (3, 4), (-0, 0x7f800000))
slot 3 "mine" scratch array<float,2> read_write number 16777218 owner 1
""",
        THREAD
        + """  %2: vector<uint,3> = ThreadId
  %3: uint = Extract %2, 0
  %4: float = Convert %3
  Store $1, %4, %3
  SyncBlock
  %5: float, %6: bool = Call &1, %3
  %7: float = Select %6, %5, float(-1)
  Store $0, %7, %1""",
        block="64 1 1",
        functions="""function 1 "pick" (%20: uint) -> (float, bool) {
  %21: uint = BitXor %20, uint(63)
  %22: float = Load $1, %21
  Store $3, %22, 0
  %23: uint = BitAnd %20, uint(1)
  %24: float = Load $2, %23, %23
  Store $3, %24, 1
  %25: bool = Less %20, uint(32)
  If %25, {
    %26: float = Load $3, 0
    %27: float = Load $3, 1
    %28: float = Add %26, %27
    Return %28, bool(true)
  }, {
    Yield
  }
  Return float(0), bool(false)
}
""",
    )
    o = np.zeros(64, np.float32)
    run(kernel, [o], 64)
    lane = np.arange(64)
    expected = np.where(lane < 32, 63 - lane + np.where(lane & 1, 4, 1), -1)
    assert (o == expected).all()


@pytest.mark.parametrize("scalar", ["int", "uint", "long", "ulong", "float", "double"])
def test_atomics_on_a_lane_and_on_a_shared_member(run, scalar):
    integer = scalar not in ("float", "double")
    bits = ""
    if integer:
        bits = f"""  %20: {scalar} = AtomicOr $0, %2, 3, 1
  %21: {scalar} = AtomicXor $0, %2, 4, 1
  %22: {scalar} = AtomicAnd $0, {scalar}(-1), 5, 1
"""
        if scalar.startswith("u"):
            bits = bits.replace("(-1)", "(4294967295)")
    kernel = descriptor(
        f"""
slot 0 "b" global buffer<vector<{scalar},2>> read_write number 0 atomics
slot 1 "s" shared struct<8,int,{scalar}> read_write number 16777216 atomics
""",
        THREAD
        + f"""  %2: {scalar} = Convert %1
  %3: {scalar} = AtomicAdd $0, %2, 0, 1
  %4: {scalar} = AtomicMin $0, %2, 1, 1
  %5: {scalar} = AtomicMax $0, %2, 2, 1
{bits}  %6: bool = Equal %1, uint(0)
  If %6, {{
    AtomicStore $1, {scalar}(0), 1
    Yield
  }}, {{
    Yield
  }}
  SyncBlock
  %7: {scalar} = AtomicSub $1, %2, 1 !4
  SyncBlock
  %8: {scalar} = AtomicLoad $1, 1
  If %6, {{
    %9: {scalar} = AtomicExchange $0, %8, 6, 1
    %10: {scalar} = AtomicCompareExchange $0, {scalar}(7), %8, 7, 1
    %11: {scalar} = AtomicCompareExchange $0, {scalar}(8), {scalar}(9), 8, 1
    Store $0, %11, 9, 0
    Yield
  }}, {{
    Yield
  }}""",
        block="64 1 1",
    )
    dtype = dict(int="i4", uint="u4", long="i8", ulong="u8", float="f4", double="f8")[scalar]
    b = np.full((10, 2), 7, dtype)
    run(kernel, [b], 64)
    total = sum(range(64))
    less = np.array([0 - total]).astype(dtype)[0] if integer else -total
    assert b[0].tolist() == [7, 7 + total]
    assert b[1].tolist() == [7, 0]
    assert b[2].tolist() == [7, 63]
    if integer:
        assert b[3:6, 1].tolist() == [63, 7, 7]
    assert b[6, 1] == less and b[7, 1] == less
    assert b[8].tolist() == [7, 7] and b[9, 0] == 7


def test_byte_buffers_hold_values_of_any_type(run):
    kernel = descriptor(
        """
slot 0 "in" global buffer<void> read number 0
slot 1 "out" global buffer<void> write number 1
""",
        """  %0: vector<float,3> = ByteLoad $0, uint(4)
  %1: struct<8,bool,short,double> = ByteLoad $0, uint(20)
  %2: matrix<float,2> = ByteLoad $0, ulong(40)
  %3: bool = ByteLoad $0, uint(57)
  ByteStore $1, %0, uint(0)
  ByteStore $1, %1, uint(16)
  ByteStore $1, %2, uint(36)
  ByteStore $1, %3, uint(53)
  %4: vector<float,3> = Neg %0
  ByteStore $1, %4, uint(56)""",
    )
    data = np.zeros(72, np.uint8)
    data[4:16] = np.frombuffer(np.array([1.5, -2, 3], "f4").tobytes(), np.uint8)
    data[20] = 2
    data[22:24] = np.frombuffer(np.int16(-300).tobytes(), np.uint8)
    data[28:36] = np.frombuffer(np.float64(0.1).tobytes(), np.uint8)
    data[40:56] = np.frombuffer(np.array([1, 2, 3, 4], "f4").tobytes(), np.uint8)
    data[57] = 9
    out = np.zeros(72, np.uint8)
    run(kernel, [data, out], 1)
    assert np.frombuffer(out[:12].tobytes(), "f4").tolist() == [1.5, -2, 3]
    assert out[16] == 1
    assert np.frombuffer(out[18:20].tobytes(), "i2").tolist() == [-300]
    assert np.frombuffer(out[24:32].tobytes(), "f8").tolist() == [0.1]
    assert np.frombuffer(out[36:52].tobytes(), "f4").tolist() == [1, 2, 3, 4]
    assert out[53] == 1
    assert np.frombuffer(out[56:68].tobytes(), "f4").tolist() == [-1.5, 2, -3]


@pytest.mark.parametrize("scalar", ["byte", "ushort", "int", "ulong", "float", "double"])
def test_bool_lanes_select_compare_and_store_in_every_width(run, scalar):
    vector = f"vector<{scalar},3>"
    kernel = descriptor(
        f"""
slot 0 "a" global buffer<{vector}> read number 0
slot 1 "b" global buffer<{vector}> read number 1
slot 2 "o" global buffer<{vector}> write number 2
slot 3 "m" global buffer<vector<bool,3>> read_write number 3
""",
        THREAD
        + f"""  %2: {vector} = Load $0, %1
  %3: {vector} = Load $1, %1
  %4: vector<bool,3> = Less %2, %3
  %5: vector<bool,3> = Load $3, %1
  %6: vector<bool,3> = BitXor %4, %5
  %7: vector<bool,3> = NotEqual %6, vector<bool,3>(false, true, false)
  %8: {vector} = Select %7, %2, %3
  %9: bool = Any %7
  %10: bool = All %4
  %11: vector<bool,3> = Construct %9, %10, %9
  %12: vector<bool,3> = Select %11, %7, %5
  %13: bool = Extract %12, 0
  %14: bool = Not %13
  %15: vector<bool,3> = Insert %12, %14, 0
  Store $2, %8, %1
  Store $3, %15, %1""",
    )
    n = 8
    dtype = dict(byte="i1", ushort="u2", int="i4", ulong="u8", float="f4", double="f8")[scalar]
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 100, (n, 4)).astype(dtype) for _ in range(2))
    o = np.zeros_like(a)
    m = rng.integers(0, 3, (n, 4)).astype("u1")
    before = m[:, :3] != 0
    run(kernel, [a, b, o, m], n)
    less = a[:, :3] < b[:, :3]
    chosen = (less ^ before) != [False, True, False]
    assert (o[:, :3] == np.where(chosen, a[:, :3], b[:, :3])).all()
    one, every = chosen.any(1), less.all(1)
    final = np.where(np.stack([one, every, one], 1), chosen, before)
    final[:, 0] = ~final[:, 0]
    assert (m[:, :3] == final).all()


def test_views_start_anywhere(run):
    kernel = descriptor(
        """
slot 0 "o" global buffer<float> write number 0
slot 1 "a" global buffer<float> read number 1
""",
        THREAD
        + """  %2: float = Load $1, %1
  Store $0, %2, %1""",
        extra=" view_offsets",
    )
    o, a = np.zeros(8, "f4"), np.arange(16, dtype="f4")
    run(kernel, [o, a], 4, np.array([3, 5], np.uint64).tobytes())
    assert o.tolist() == [0, 0, 0, 5, 6, 7, 8, 0]


def test_what_the_device_lacks_is_refused_by_name():
    from lcpy.errors import UnsupportedError

    kernel = descriptor(
        'slot 0 "o" global buffer<double> write number 0',
        "  Store $0, double(1), uint(0)",
    )
    with pytest.raises(UnsupportedError, match="cl_khr_fp64"):
        core.emit_opencl(kernel, fp64=False)


def test_half_without_the_extension_is_its_bits():
    kernel = descriptor(
        'slot 0 "o" global buffer<half> read_write number 0',
        """
  %0: half = Load $0, uint(0)
  %1: half = Add %0, half(0x3c00)
  Store $0, %1, uint(0)""",
    )
    native = core.emit_opencl(kernel, fp16=True)
    assert "cl_khr_fp16" in native and "__global half* " in native
    emulated = core.emit_opencl(kernel, fp16=False)
    assert "cl_khr_fp16" not in emulated and "__global ushort* " in emulated
    assert emulated.count("vload_half(") == 1 and "vstore_half_rte(" in emulated


def test_wide_atomics_are_refused_by_name():
    from lcpy.errors import UnsupportedError

    kernel = descriptor(
        'slot 0 "o" global buffer<long> read_write number 0 atomics',
        "  %0: long = AtomicAdd $0, long(1), uint(0)",
    )
    with pytest.raises(UnsupportedError, match="cl_khr_int64_base_atomics"):
        core.emit_opencl(kernel, int64_atomics=False)
