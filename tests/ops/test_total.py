"""Every row of the op table is tried by a test here, or is the business of others, by name."""

import re
from pathlib import Path

import pytest
from ops.rows import EXACT, FUNCTIONS
from ops.test_geometry import CROSS_ROW, MATRIX_ROWS, VECTOR_ROWS

ROOT = Path(__file__).resolve().parent.parent.parent
ELSEWHERE = {
    "Not And Or IfElse": "tests/kernels/test_control.py",
    "Make MakeStruct Zero One": "tests/kernels/test_ssa.py",
    "BufferRead BufferWrite SyncBlock Bitcast": "used by all tests here",
    "ThreadId BlockId DispatchId DispatchSize BlockSize KernelId": "test_memory.py, test_ids",
    "BufferVolatileRead BufferVolatileWrite": "test_memory.py, test_volatile",
    "ByteBufferVolatileRead ByteBufferVolatileWrite Pack Unpack Clock": "test_words.py",
    "BufferLength BufferLength64 BufferExtent": "test_memory.py, test_lengths",
    "ByteBufferRead ByteBufferWrite ByteBufferSize": "test_memory.py, test_byte_buffer",
    "AtomicLoad AtomicStore AtomicExchange AtomicCompareExchange": "test_atomics.py",
    "AtomicAdd AtomicSub AtomicAnd AtomicOr AtomicXor AtomicMin AtomicMax": "test_atomics.py",
    "WarpLaneId WarpSize WarpIsFirst WarpFirstLane WarpAllEqual WarpAnd": "test_warp.py",
    "WarpOr WarpXor WarpCount WarpMax WarpMin WarpProduct WarpSum": "test_warp.py",
    "WarpAll WarpAny WarpBallot": "test_warp.py",
    "WarpPrefixCount WarpPrefixSum WarpPrefixProduct WarpReadLane WarpReadFirst": "test_warp.py",
    "Trap": "tests/kernels/test_report.py",
    "Assume Unreachable HintFlatten HintBranch HintForceCase": "test_memory.py, test_hints",
}


def test_every_row_has_a_test():
    table = ROOT / "native/ops/op.def"
    if not table.exists():
        pytest.skip("the sources are not here")
    rows = re.findall(r"^OP\((\w+), .*, (Ast|Both|Kernel), \w+, \"", table.read_text(), re.M)
    tried = {row.op for row in [*EXACT, *FUNCTIONS]}
    tried |= {row[0] for row in [*VECTOR_ROWS, CROSS_ROW, *MATRIX_ROWS]}
    tried |= {name for names in ELSEWHERE for name in names.split()}
    missing = [op for op, level in rows if level != "Kernel" and op not in tried]
    assert not missing, f"no test tries {', '.join(missing)}"
    assert len(rows) > 100
