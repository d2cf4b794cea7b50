"""What tools/fuzz found on GPUs, and what must hold everywhere: reads, loops, warps, choices."""

import numpy as np
import pytest
from warp_model import model, product, same

import lcpy as lc


@lc.kernel(block_size=1, math="strict")
def reads_its_write(
    source: lc.Buffer[lc.uint64],
    out: lc.Buffer[lc.uint64],
    copies: lc.Buffer[lc.Array[lc.uint64, 2]],
):
    at = lc.dispatch_id().x * 4
    out[at + 2] = source[at]
    copies[at] = lc.array(out[at + 2], out[at + 2])


def test_a_thread_reads_what_it_wrote(device):
    """Though another buffer of the same type is only read."""
    source = lc.Buffer(np.arange(1, 17, dtype=np.uint64) << 40, device=device)
    out = lc.Buffer(16, lc.uint64, device=device)
    copies = lc.Buffer(16, lc.Array[lc.uint64, 2], device=device)
    reads_its_write(source, out, copies, dispatch_size=4)
    want = np.arange(1, 17, 4, dtype=np.uint64) << 40
    assert (copies.numpy()[::4] == want[:, None]).all()


@lc.kernel(block_size=4, math="strict")
def reads_after_an_atomic(source: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    i = lc.dispatch_id().x
    start = source[i] + out[i]
    turns = 0
    while turns < 6:
        turns += 1
        if out[i] == start:
            lc.atomic_add(out[i], 1.0)


def test_a_thread_reads_what_its_atomic_left(device):
    out = lc.Buffer(8, lc.float32, device=device)
    reads_after_an_atomic(lc.Buffer(8, lc.float32, device=device), out, dispatch_size=8)
    assert out.numpy().tolist() == [1.0] * 8


def test_only_read_and_written_buffers_share_no_type():
    types = (lc.Buffer[lc.uint64], lc.Buffer[lc.uint64], lc.Buffer[lc.Array[lc.uint64, 2]])
    module = reads_its_write.compile(*types, target="spirv", vulkan="1.2")
    words = np.frombuffer(module.data, np.uint32)
    pointers, at = [], 5
    while at < len(words):
        count, op = words[at] >> 16, words[at] & 0xFFFF
        if op == 59 and words[at + 3] == 12:  # OpVariable in StorageBuffer
            pointers.append(int(words[at + 1]))
        at += count
    assert len(pointers) == len(set(pointers)) == 3


@lc.kernel(math="strict")
def smaller(a: lc.Buffer[lc.uint32], out: lc.Buffer[lc.float32]):
    i = lc.dispatch_id().x
    x = lc.bitcast(lc.float32, a[i])
    out[4 * i] = lc.min(x, 0.5)
    out[4 * i + 1] = lc.max(0.5, x)
    out[4 * i + 2] = lc.clamp(x, -1.0, 1.0)
    out[4 * i + 3] = lc.min(x, lc.bitcast(lc.float32, a[0]))


def test_signaling_nans_lose(device):
    signaling = np.uint32([0x40000000, 0x7F8FC204, 0xFFA00001, 0x7FC00000] * 20)
    out = lc.Buffer(320, lc.float32, device=device)
    smaller(lc.Buffer(signaling, device=device), out, dispatch_size=80)
    rows = out.numpy().reshape(-1, 4, 4)
    assert (rows[:, 0] == [0.5, 2.0, 1.0, 2.0]).all()
    assert (rows[:, 1:] == [0.5, 0.5, -1.0, 2.0]).all()


@lc.kernel
def once_through(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    total = a[i]
    for k in lc.static(range(3)):
        while True:
            if a[i] > k:
                total += 10
                break
            total = total * 2
            break
    for k in range(2, 9, 3):
        total += k
        if total > 0:
            break
    out[i] = total


def test_loops_that_run_once(device):
    out = lc.Buffer(4, lc.int32, device=device)
    once_through(lc.Buffer(np.int32([0, 1, 2, 5]), device=device), out, dispatch_size=4)
    assert out.numpy().tolist() == [2, 46, 46, 37]


@lc.kernel
def trailing(a: lc.Buffer[lc.uint8], b: lc.Buffer[lc.int16], out: lc.Buffer[lc.int32]):
    i = lc.dispatch_id().x
    out[3 * i] = lc.int32(lc.ctz(a[i]))
    out[3 * i + 1] = lc.int32(lc.ctz(b[i]))
    out[3 * i + 2] = lc.int32(lc.sum(lc.ctz(lc.ubyte4(a[i]))))


def test_trailing_zeros_of_narrow_zeros(device):
    a, b = np.uint8([0, 1, 128, 6]), np.int16([0, -32768, 2, -1])
    out = lc.Buffer(12, lc.int32, device=device)
    trailing(lc.Buffer(a, device=device), lc.Buffer(b, device=device), out, dispatch_size=4)
    assert out.numpy().tolist() == [8, 16, 32, 0, 15, 0, 7, 1, 28, 1, 0, 4]


@lc.kernel(block_size=32)
def reads_one_or_the_other(
    fixed: lc.Buffer[lc.int16], out: lc.Buffer[lc.int16], seen: lc.Buffer[lc.int16]
):
    i = lc.dispatch_id().x
    out[i] = lc.int16(i + 1)
    seen[i] = fixed[i] if fixed[0] > 0 else out[i]


@lc.kernel(block_size=32)
def reads_in_two_ifs(
    fixed: lc.Buffer[lc.int16], out: lc.Buffer[lc.int16], seen: lc.Buffer[lc.int16]
):
    i = lc.dispatch_id().x
    out[i] = lc.int16(i + 1)
    v = lc.int16(0)
    which = fixed[0] > 0
    if which:
        v = fixed[i]
    if not which:
        v = out[i]
    seen[i] = v


@lc.callable
def one_of(fixed, out, i, which) -> lc.int16:
    if which > 0:
        return fixed[i].y
    return out[i].x


@lc.kernel(block_size=32)
def returns_one_or_the_other(
    fixed: lc.Buffer[lc.short2], out: lc.Buffer[lc.short2], seen: lc.Buffer[lc.int16]
):
    i = lc.dispatch_id().x
    out[i] = lc.short2(lc.int16(i + 1), lc.int16(0))
    seen[i] = one_of(fixed, out, i, fixed[0].x)


@pytest.mark.parametrize(
    "kernel", [reads_one_or_the_other, reads_in_two_ifs, returns_one_or_the_other]
)
def test_a_thread_reads_what_it_wrote_beside_a_buffer_that_is_only_read(device, kernel):
    """NVIDIA's compiler made one read of both, past the caches that know of writes."""
    T = lc.short2 if kernel is returns_one_or_the_other else lc.int16
    fixed, out = (lc.Buffer(64, T, device=device) for _ in range(2))
    seen = lc.Buffer(64, lc.int16, device=device)
    kernel(fixed, out, seen, dispatch_size=64)
    assert seen.numpy().tolist() == list(range(1, 65))


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_such_reads_stay_apart(target):
    from lcpy._native import core

    def text(kernel, *types):
        descriptor = kernel.descriptor(*types)
        if target == "cuda":
            return core.emit_cuda(descriptor, restrict=True), core.emit_cuda(descriptor)
        return core.emit_opencl(descriptor, ptx=True, restrict=True), core.emit_opencl(descriptor)

    @lc.kernel(block_size=32)
    def of_other_sizes(
        fixed: lc.Buffer[lc.float32], out: lc.Buffer[lc.int16], seen: lc.Buffer[lc.float32]
    ):
        i = lc.dispatch_id().x
        out[i] = lc.int16(1)
        seen[i] = fixed[i] if i > 3 else lc.float32(out[i])

    @lc.kernel(block_size=32)
    def one_after_the_other(
        fixed: lc.Buffer[lc.int16], out: lc.Buffer[lc.int16], seen: lc.Buffer[lc.int16]
    ):
        i = lc.dispatch_id().x
        if i > 3:
            seen[i] = fixed[i]
        out[i] += lc.int16(1)

    short, pair, wide = lc.Buffer[lc.int16], lc.Buffer[lc.short2], lc.Buffer[lc.float32]
    for kernel, types in [
        (reads_one_or_the_other, (short, short, short)),
        (returns_one_or_the_other, (pair, pair, short)),
    ]:
        apart, plain = text(kernel, *types)
        assert apart.count("apart(&") == 1 and "apart" not in plain
    assert "apart" not in text(of_other_sizes, wide, short, wide)[0]
    assert "apart" not in text(one_after_the_other, short, short, short)[0]

    @lc.kernel(block_size=32)
    def guarded(fixed: lc.Buffer[lc.int16], out: lc.Buffer[lc.int16], seen: lc.Buffer[lc.int16]):
        i = lc.dispatch_id().x
        inside = i < 9
        a = fixed[i] if inside else lc.int16(0)
        b = out[i] if inside else lc.int16(0)
        seen[i] = a + b

    assert text(reads_in_two_ifs, short, short, short)[0].count("apart(&") == 1
    assert "apart" not in text(guarded, short, short, short)[0]


@lc.callable
def leaves_early(v: lc.int32, turns: lc.int32) -> lc.int32:
    if v % 3 == 0:
        for k in range(turns):
            if k == v:
                return k
    return lc.warp_sum(v) * 5


@lc.kernel(block_size=32)
def parted_lanes(a: lc.Buffer[lc.int32], out: lc.Buffer[lc.int32, 2]):
    i = lc.dispatch_id().x
    v = a[i]
    turns = 0
    while True:
        turns += 1
        if turns > 3 or a[(i + lc.uint(turns)) % len(a)] % 2 == 0:
            break
        out[0, i] = turns
    match v:
        case 1 | 4:
            out[0, i] += turns
        case 2:
            for k in range(v + turns):
                out[0, i] += k
    out[1, i] = lc.warp_product(v)
    out[2, i] = lc.warp_sum(turns)
    if v > 2:
        if turns == 1:
            out[3, i] = lc.warp_sum(v)
        elif turns == 2:
            out[3, i] = -1
        else:
            out[3, i] = lc.warp_product(v)
        out[4, i] = lc.warp_sum(v)
    for k in range(turns + 1):
        if v == k:
            break
        if k == 1:
            if v == 3:
                continue
            out[5, i] += 1000
        out[5, i] += lc.warp_sum(v)
    out[6, i] = leaves_early(v, 4)
    if turns == 1:
        out[7, i] = 1
        if v == 5:
            return
    out[7, i] += lc.warp_product(v)


def test_lanes_that_part_come_together_as_the_program_reads(warps):
    n, width = 96, warps.limits["warp_size"]
    values = (np.arange(n) * 5 % 7).tolist()
    out = lc.Buffer((8, n), lc.int32, device=warps)
    parted_lanes(lc.Buffer(np.array(values, np.int32), device=warps), out, dispatch_size=n)
    got = out.numpy()

    def over(active, function, of=values):
        return model(of, 32, width, active, same(function))

    def check(row, want):
        want = [(int(x) + 2**31) % 2**32 - 2**31 for x in want]
        assert got[row].tolist() == want, f"row {row}"

    everyone = [True] * n
    turns = []
    for i in range(n):
        even = [k for k in (1, 2, 3) if values[(i + k) % n] % 2 == 0]
        turns.append(even[0] if even else 4)
    check(1, over(everyone, product))
    check(2, over(everyone, sum, turns))
    large = [v > 2 for v in values]
    first, second = ([v > 2 and t == k for v, t in zip(values, turns)] for k in (1, 2))
    last = [v > 2 and t > 2 for v, t in zip(values, turns)]
    check(3, over(first, sum) - np.array(second, int) + over(last, product))
    check(4, over(large, sum))
    total = np.zeros(n, object)
    here = everyone
    for k in range(5):
        here = [h and k <= t and v != k for h, t, v in zip(here, turns, values)]
        some = [h and not (k == 1 and v == 3) for h, v in zip(here, values)]
        total += over(some, sum) + 1000 * np.array(some, int) * (k == 1)
    check(5, total)
    left = [v % 3 == 0 and v < 4 for v in values]
    check(6, 5 * over([not x for x in left], sum) + np.where(left, values, 0))
    gone = [t == 1 and v == 5 for v, t in zip(values, turns)]
    check(7, over([not x for x in gone], product) + np.array([t == 1 for t in turns], int))


@lc.kernel(block_size=64)
def turns(a: lc.Buffer[lc.int16], n: lc.int64, out: lc.Buffer[lc.int16], ones: lc.Buffer[lc.int16]):
    i = lc.dispatch_id().x
    out[i] = lc.rotate_right(a[i], 8)
    out[i + len(a)] = lc.rotate_left(a[i], n)
    ones[i] = lc.popcount(a[i] * lc.int16(8))
    ones[i + len(a)] = lc.clz(a[i] * lc.int16(8))


def test_turns_and_counts_of_narrow_integers(device):
    """NVIDIA's Vulkan compiler turned 16 bits by 8 wrongly, and counted bits above a product."""
    values = np.arange(1 << 16, dtype=np.uint16)
    a = lc.Buffer(values.view(np.int16), device=device)
    out, ones = (lc.Buffer(2 << 16, lc.int16, device=device) for _ in range(2))
    turns(a, 3, out, ones, dispatch_size=1 << 16)
    want = [values >> 8 | values << 8, values << 3 | values >> 13]
    assert (out.numpy().view(np.uint16) == np.concatenate(want)).all()
    product = (values * np.uint16(8)).astype(np.uint32)
    counts = [np.array([bin(v).count("1") for v in product]),
              np.array([16 - int(v).bit_length() for v in product])]  # fmt: skip
    assert (ones.numpy() == np.concatenate(counts)).all()


@lc.struct
class HalfAndInt:
    a: lc.float16
    b: lc.int32


@lc.kernel(block_size=1, opt=0)
def chooses_a_struct(out: lc.Buffer[lc.int32]):
    made = lc.array(
        HalfAndInt(), HalfAndInt(1.0, 7), lc.select(False, HalfAndInt(), HalfAndInt(2.0, 9))
    )
    out[0] = made[2].b


def test_a_choice_between_structs_that_is_known(device):
    """NVRTC died of it."""
    out = lc.Buffer(1, lc.int32, device=device)
    try:
        chooses_a_struct(out, dispatch_size=1)
    except lc.UnsupportedError as error:
        pytest.skip(str(error))
    assert out.numpy()[0] == 9


@lc.kernel(block_size=4, math="strict")
def chosen_zeros(c: lc.Buffer[lc.bool], x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32, 2]):
    i = lc.dispatch_id().x
    branch = lc.float32(0.0)
    if c[i]:
        branch = 1.0
    lanes = lc.float2(0.0, x[i]) if c[i] else lc.float2(1.0, x[i])
    a = lc.array(lc.float32(1.0), x[i])
    if c[i]:
        a = lc.array(lc.float32(0.0), x[i])
    out[i, 0] = -lc.float32(c[i])
    out[i, 1] = lc.float32(c[i]) * -2.0 * 0.5
    out[i, 2] = -1.0 if c[i] else -0.0
    out[i, 3] = -branch
    out[i, 4] = -lanes.x
    out[i, 5] = -a[0]
    out[i, 6] = lc.float32(-lc.float64(lc.float32(c[i])))
    out[i, 7] = -lc.select(lc.bool2(c[i]), lc.float2(1.0), lc.float2(0.0)).y


def test_chosen_zeros_keep_their_sign(device):
    c, x = np.array([True, False, False, True]), np.float32([1.0, 2.0, 0.0, -1.0])
    out = lc.Buffer((4, 8), lc.float32, device=device)
    try:
        chosen_zeros(lc.Buffer(c, device=device), lc.Buffer(x, device=device), out, dispatch_size=4)
    except lc.UnsupportedError:
        pytest.skip("no float64")
    yes = np.array([True, True, True, True, False, False, True, True])
    want = np.where(c[:, None] == yes, np.float32(-1.0), np.float32(-0.0))
    assert (out.numpy().view("u4") == want.view("u4")).all()


@lc.kernel(block_size=4)
def one_lane_of_a_division(out: lc.Buffer[lc.uint16], wide: lc.Buffer[lc.uint32]):
    i = lc.dispatch_id().x
    narrow = (lc.ushort2(0, 1) - lc.rem(lc.ushort2(out[i]), 47650)) * 56766
    out[i] = narrow.y
    wide[i] = ((lc.uint2(wide[i]) // 7 + lc.uint2(5, 9)) ^ 3).y


def test_one_lane_of_a_division_by_a_constant(device):
    x, y = np.uint16([0, 1, 50000, 7]), np.uint32([0, 70, 1 << 31, 20])
    out, wide = lc.Buffer(x, device=device), lc.Buffer(y, device=device)
    one_lane_of_a_division(out, wide, dispatch_size=4)
    assert out.numpy().tolist() == [(1 - int(v) % 47650) * 56766 & 0xFFFF for v in x]
    assert wide.numpy().tolist() == [(int(v) // 7 + 9) ^ 3 for v in y]
