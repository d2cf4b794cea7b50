"""Diagnostics about the source itself, about nesting, and warnings."""

import linecache
import sys
import warnings
from pathlib import Path

import pytest

import lcpy as lc
from lcpy import front

sys.path.insert(0, str(Path(__file__).parent))
import wrong  # noqa: E402

Out = lc.Buffer[lc.float32]


def run_text(text, tmp_path, name="written"):
    """The namespace of a module written to a file."""
    path = tmp_path / f"{name}.py"
    path.write_text("import lcpy as lc\nOut = lc.Buffer[lc.float32]\n" + text)
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names, path


def refused(function, code, error=lc.CompileError):
    with pytest.raises(error) as caught:
        wrong.compile_kernel(function)
    assert caught.value.diagnostics[-1].code == code
    return str(caught.value)


def test_source_missing():
    names = {"Out": Out}
    exec("def f(out: Out):\n    out[0] = 1.0\n", names)
    text = refused(names["f"], "E5001")
    assert "'f'" in text and "<string>" in text


def test_source_from_linecache():
    text = "def f(out: Out):\n    out[0] = 1.0\n"
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(True), "<cell 1>")
    names = {"Out": Out}
    exec(compile(text, "<cell 1>", "exec"), names)
    wrong.compile_kernel(names["f"])


def test_source_changed(tmp_path):
    names, path = run_text("def f(out: Out):\n    out[0] = 1.0\n", tmp_path)
    path.write_text("x = 1\n" * 10)
    refused(names["f"], "E5002")


def test_lambda_ambiguous(tmp_path):
    names, _ = run_text("fs = [lambda x: x, lambda x: x]\ng = fs[0]\n"
                        "def f(out: Out):\n    out[0] = g(1.0)\n", tmp_path)  # fmt: skip
    if sys.version_info >= (3, 11):
        wrong.compile_kernel(names["f"])  # the code's positions tell
    else:
        refused(names["f"], "E5003")


def test_not_a_plain_function(tmp_path):
    names, _ = run_text("async def f(out: Out):\n    out[0] = 1.0\n", tmp_path)
    refused(names["f"], "E5004")


def test_nesting(tmp_path):
    ifs = "".join(f"{'    ' * (i + 1)}if out[{i}] > 1.0:\n" for i in range(70))
    body = f"def f(out: Out):\n{ifs}{'    ' * 71}out[0] = 1.0\n"
    names, _ = run_text(body, tmp_path, "ifs")
    refused(names["f"], "E2053")
    sums = " + ".join(["out[0]"] * 1300)
    names, _ = run_text(f"def f(out: Out):\n    out[0] = {sums}\n", tmp_path, "sums")
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(1000)
        refused(names["f"], "E5012")
        sys.setrecursionlimit(5000)
        refused(names["f"], "E2054")
    finally:
        sys.setrecursionlimit(limit)


def test_block_size():
    with pytest.raises(lc.CompileError) as caught:
        front.trace_kernel(run_nothing, [("out", Out)], block_size=(64, 64, 1))
    assert caught.value.diagnostics[-1].code == "E2043"


def run_nothing(out: Out):
    out[0] = 1.0


def compares(out: Out):
    u = lc.dispatch_id().x
    if u > -1:
        out[0] = 1.0


def test_warning():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wrong.compile_kernel(compares)
    assert len(caught) == 1 and "E2055" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_columns_count_characters(tmp_path):
    text = "def f(out: Out):\n    \u00e4\u00f6 = 1.0; out[0] = \u00e4\u00f6 + nothing\n"
    names, _ = run_text(text, tmp_path)
    lines = refused(names["f"], "E5101").split("\n")
    assert lines[2].index("^") == lines[1].index("nothing")


def test_method_of_a_nested_class(tmp_path):
    names, _ = run_text("def factory():\n    k = 2.0\n    def f(out: Out):\n"
                        "        out[0] = k * nothing\n    return f\nf = factory()\n",
                        tmp_path)  # fmt: skip
    text = refused(names["f"], "E5101")
    assert ":6: error" in text
