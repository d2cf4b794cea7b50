"""Blocks indented as they are nested, and put in order, beside ``spirv-dis``."""

import importlib
import pkgutil
from pathlib import Path

import pytest
from test_text import run

import lcpy as lc
from lcpy import gallery, primitives

WAYS = {
    "--nested-indent": {"nested": True},
    "--reorder-blocks": {"reorder": True},
    "--nested-indent --reorder-blocks --comment --offsets": {
        "nested": True, "reorder": True, "comments": True, "offsets": True,
    },
    "--nested-indent --no-indent --raw-id --color": {
        "nested": True, "indent": False, "raw_ids": True, "colors": True,
    },
}  # fmt: skip


def modules():
    for package in (gallery, primitives):
        for info in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            for kernel, types in getattr(module, "KERNELS", {}).items():
                yield kernel.compile(*types).data
    for path in Path(__file__).parent.glob("from_clang/*.spvasm"):
        yield lc.spirv.assemble(path.read_text())


@pytest.mark.parametrize("options", WAYS)
def test_as_spirv_dis_has_it(options):
    count = 0
    for words in modules():
        flags = options.split() if "--color" in options else [*options.split(), "--no-color"]
        theirs = run("spirv-dis", *flags, "-", data=words)[1]
        ours = lc.spirv.disassemble(words, **WAYS[options]).encode("utf-8", "surrogateescape")
        assert ours == theirs
        count += 1
    assert count > 10


TEXT = """
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%yes = OpConstantTrue %bool
%main = OpFunction %void None %fn
%entry = OpLabel
OpSelectionMerge %done None
OpBranchConditional %yes %left %right
%done = OpLabel
OpReturn
%lost = OpLabel
OpUnreachable
%right = OpLabel
OpBranch %done
%left = OpLabel
OpBranch %done
OpFunctionEnd
%other = OpFunction %void None %fn
OpFunctionEnd
"""


def test_order_and_what_nothing_reaches():
    words = lc.spirv.assemble(TEXT)
    text = lc.spirv.disassemble(words, reorder=True, nested=True, header=False, raw_ids=True)
    labels = [line for line in text.splitlines() if line.endswith("OpLabel")]
    assert [line.split("=")[0].strip() for line in labels] == ["%6", "%8", "%9", "%7", "%10"]
    assert [line.index("Op") for line in labels] == [15, 19, 19, 15, 15]
    # Blocks without an end, and edges to nowhere, are text as well.
    cut = lc.spirv.assemble(TEXT.replace("OpUnreachable\n", "").replace("%yes %left", "%yes %main"))
    assert "OpBranchConditional" in lc.spirv.disassemble(cut, nested=True, reorder=True)
    for end in range(20, len(words), 4):
        try:
            lc.spirv.disassemble(words[:end], nested=True, reorder=True)
        except lc.LoadError:
            pass
