"""Which lanes each warp operation of the CUDA text waits for. What the operations then give is in
tests/kernels/test_warp.py; here each shape of control flow is read as text."""

import re

import pytest

import lcpy as lc
from lcpy._native import core

Ints = lc.Buffer[lc.int32]


def text_of(kernel):
    """The kernel and the functions that it calls, without what stands before them."""
    given = [Ints] * kernel.function.__code__.co_argcount
    text = core.emit_cuda(kernel.descriptor(*given), arch=90)
    assert "__activemask" not in text
    return text


def steps_of(kernel):
    """The kernel's statements about lanes, in order, conditions and values left out: "lanes2 of
    lanes" for a vote, "lanes3 = lanes & ~lanes2", "sum of lanes2" for an operation, and where lanes
    leave."""
    text = text_of(kernel)
    found = []
    for line in text[text.index("lcpy_main(") :].splitlines():
        vote = re.search(r"(lanes\d+) = __ballot_sync\((lanes\d*), ", line)
        operation = re.search(r"\bwarp_(sum|product|read_first)_\w+\((lanes\d*), ", line)
        if vote:
            found.append(f"{vote[1]} of {vote[2]}")
        elif operation:
            found.append(f"{operation[1]} of {operation[2]}")
        elif other := re.search(r"lanes\d+ = lanes.*(?=;)|goto \w+|return\b", line):
            found.append(re.sub(r"(goto \w+?)\d+", r"\1", other[0]))
    return found


@pytest.mark.parametrize(
    "block, first",
    [
        (32, "0xffffffffu"),
        (256, "0xffffffffu"),
        (8, "255u"),
        (48, "threadIdx.x >= 32u ? 65535u : 0xffffffffu"),
        (
            (5, 4, 2),
            "threadIdx.x + 5u * (threadIdx.y + 4u * threadIdx.z) >= 32u ? 255u : 0xffffffffu",
        ),
    ],
)
def test_a_kernel_begins_with_the_lanes_of_its_block(block, first):
    @lc.kernel(block_size=block)
    def whole(a: Ints):
        a[lc.dispatch_id().x] = lc.warp_sum(a[0])

    assert f"  const uint lanes = {first};\n" in text_of(whole)


def test_kernels_that_do_not_ask_name_no_lanes():
    @lc.kernel(block_size=32)
    def plain(a: Ints):
        i = lc.dispatch_id().x
        for k in range(a[i]):
            if a[k] > 3:
                break
            a[i] += k
        a[i] = lc.int32(lc.warp_lane_id() + lc.warp_size())

    text = text_of(plain)
    assert "lanes" not in text and "left" not in text and "_sync" not in text
    assert "lanes" not in core.emit_opencl(plain.descriptor(Ints), subgroups=True)


def test_operations_name_the_lanes_first():
    @lc.kernel(block_size=32)
    def several(a: Ints, b: Ints):
        i = lc.dispatch_id().x
        v = a[i]
        b[0] = lc.int32(lc.warp_first_lane())
        b[1] = lc.int32(lc.warp_is_first())
        b[2] = lc.int32(lc.warp_all(v > 1)) + lc.int32(lc.warp_any(v > 1))
        b[3] = lc.int32(lc.warp_count(v > 1)) + lc.int32(lc.warp_prefix_count(v > 1))
        b[4] = lc.int32(lc.warp_ballot(v > 1).x) + lc.warp_read_lane(v, v)

    text = text_of(several)
    for part in (
        "__ffs((int)lanes) - 1u",
        "warp_lane() == (uint)__ffs((int)lanes) - 1u",
        "__all_sync(lanes, ",
        "__any_sync(lanes, ",
        "(uint)__popc((int)__ballot_sync(lanes, ",
        "__popc((int)(__ballot_sync(lanes, ",
        "uint4(__ballot_sync(lanes, ",
        "warp_read_lane_int(lanes, ",
    ):
        assert part in text, part


def test_ifs_with_operations_part_the_lanes():
    @lc.kernel(block_size=32)
    def nested(a: Ints, b: Ints):
        i = lc.dispatch_id().x
        v = a[i]
        if v > 1:
            b[i] = lc.warp_sum(v)
            if v > 2:
                b[i + 1] = lc.warp_sum(v)
            b[i + 2] = lc.warp_product(v)
        else:
            b[i] = lc.warp_product(v)
        if v > 3:
            b[i + 3] = v
        b[i + 4] = lc.warp_read_first(v)

    assert steps_of(nested) == [
        "lanes1 of lanes",
        "lanes2 = lanes & ~lanes1",
        "sum of lanes1",
        "lanes3 of lanes1",
        "sum of lanes3",
        "product of lanes1",
        "product of lanes2",
        "read_first of lanes",
    ]


def test_after_a_return_the_others_are_here():
    @lc.kernel(block_size=32)
    def returns(a: Ints, b: Ints):
        i = lc.dispatch_id().x
        if a[i] > 1:
            b[i] = lc.warp_product(a[i])
            return
        b[i] = lc.warp_sum(a[i])

    assert steps_of(returns) == [
        "lanes1 of lanes",
        "lanes2 = lanes & ~lanes1",
        "product of lanes1",
        "return",
        "sum of lanes2",
    ]


def test_lanes_that_leave_from_within_meet_the_others():
    @lc.kernel(block_size=32)
    def returns(a: Ints, b: Ints):
        i = lc.dispatch_id().x
        v = a[i]
        if v > 1:
            b[i] = 5
            if v > 2:
                return
            b[i + 1] = 6
        b[i + 2] = lc.warp_sum(v)

    assert steps_of(returns) == ["goto meet", "lanes1 of lanes", "return", "sum of lanes1"]
    text = text_of(returns)
    assert re.search(r'(left\d+) = 2; asm volatile\("" : "\+r"\(\1\)\);\n *goto (meet\d+);', text)
    assert re.search(
        r"(meet\d+):\n *const uint lanes1 = __ballot_sync\(lanes, (left\d+) == 0\);\n"
        r" *if \(\2\) return;",
        text,
    )


def test_lanes_that_leave_a_loop_without_operations_meet_the_others():
    @lc.kernel(block_size=32)
    def returns(a: Ints, b: Ints):
        i = lc.dispatch_id().x
        for k in range(a[i]):
            if a[k] == 7:
                return
            b[i] += a[k]
        b[i] = lc.warp_sum(b[i])

    assert steps_of(returns) == ["goto meet", "lanes1 of lanes", "return", "sum of lanes1"]


def test_loops_without_operations_need_nothing():
    @lc.kernel(block_size=32)
    def breaks(a: Ints, b: Ints):
        i = lc.dispatch_id().x
        total = 0
        for k in range(a[i]):
            if a[k] == 7:
                break
            total += a[k]
        b[i] = lc.warp_sum(total)

    assert steps_of(breaks) == ["sum of lanes"]


def test_rounds_begin_with_the_lanes_that_go_on():
    @lc.kernel(block_size=32)
    def rounds(a: Ints, b: Ints):
        i = lc.dispatch_id().x
        v = a[i]
        while True:
            v += 1
            if v > 9:
                break
            b[i] += lc.warp_sum(v)
            if v > 5:
                if v == 6:
                    continue
                b[i] += 3
            b[i] += lc.warp_product(v)
        b[i] += lc.warp_read_first(v)

    steps = steps_of(rounds)
    assert steps == [
        "lanes1 = lanes",
        "lanes2 of lanes1",
        "goto next",
        "sum of lanes2",
        "goto meet",
        "lanes3 of lanes2",
        "goto next",
        "product of lanes3",
        "lanes1 of lanes1",
        "read_first of lanes",
    ]
    text = text_of(rounds)
    assert re.search(
        r"(next\d+):\n *if \((left\d+) == 3\) \2 = 0;\n"
        r" *lanes1 = __ballot_sync\(lanes1, \2 == 0\);\n *if \(\2\) break;",
        text,
    )


def test_returns_from_rounds_are_voted_on_behind_the_loop():
    @lc.kernel(block_size=32)
    def rounds(a: Ints, b: Ints):
        i = lc.dispatch_id().x
        for k in range(a[i]):
            if lc.warp_sum(k) == 7:
                return
        b[i] += lc.warp_product(a[i])

    text = text_of(rounds)
    after = re.search(
        r"const uint (lanes\d+) = __ballot_sync\(lanes, (left\d+) != 2\);\n"
        r" *if \(\2 == 2\) \{\n *return;\n",
        text,
    )
    assert after and f"warp_product_uint({after[1]}, " in text


def test_a_match_votes_for_each_case_that_asks():
    @lc.kernel(block_size=32, opt=0)
    def cases(a: Ints, b: Ints):
        i = lc.dispatch_id().x
        v = a[i]
        match v:
            case 1 | 2:
                b[i] = lc.warp_sum(v)
            case 3:
                b[i] = 4
            case 4:
                return
            case _:
                b[i] = lc.warp_product(v)
        b[i] += lc.warp_read_first(v)

    text = text_of(cases)
    rest = re.search(r"(lanes\d+) = __ballot_sync\(lanes, !\((.*)\)\);", text)
    assert rest[2].count(" == ") == 4 and f"warp_product_uint({rest[1]}, " in text
    two = re.search(r"(lanes\d+) = __ballot_sync\(lanes, (v\d+) == 1 \|\| \2 == 2\);", text)
    assert f"warp_sum_uint({two[1]}, " in text
    staying = re.search(r"(lanes\d+) = __ballot_sync\(lanes, !\(v\d+ == 4\)\);", text)
    assert f"warp_read_first_int({staying[1]}, " in text


@lc.callable
def chooses(v: lc.int32) -> lc.int32:
    if v % 2 == 0:
        for k in range(3):
            if v == k:
                return k
    return lc.warp_sum(v)


def test_functions_are_told_the_lanes():
    @lc.kernel(block_size=32, opt=0)
    def calls(a: Ints, b: Ints):
        i = lc.dispatch_id().x
        if a[i] > 1:
            b[i] = chooses(a[i])

    text = text_of(calls)
    assert re.search(r"\bint f\d+\(const uint\* const w, const uint lanes, const int v\d+\)", text)
    assert re.search(r"const uint lanes1 = __ballot_sync\(lanes, ", text[text.index("lcpy_main") :])
    assert re.search(r"f\d+\(w, lanes1, ", text)
    function = re.search(r"\n[^\n]* f\d+\([^\n]*\) \{\n(.*?)\n\}\n", text, re.S)[1]
    assert "const uint lanes1 = __ballot_sync(lanes, left" in function
    assert re.search(r"if \(left\d+\) return kept0;", function)
    assert "warp_sum_uint(lanes1, " in function
