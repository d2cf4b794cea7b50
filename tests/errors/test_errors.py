"""Every wrong kernel gives its diagnostic, byte for byte; every diagnostic that Python can reach
has a wrong kernel."""

import inspect
import os
import sys
import textwrap
import traceback
from importlib import import_module
from pathlib import Path

import pytest

import lcpy as lc
from lcpy._native import core

sys.path.insert(0, str(Path(__file__).parent))
import wrong  # noqa: E402

for path in sorted(Path(__file__).parent.glob("wrong_*.py")):
    import_module(path.stem)

# Rows that no kernel written in Python can reach, and why.
OUT_OF_REACH = {
    "foreign_node": "the front end uses expressions in the function that made them",
    "function_finished": "the front end finishes a function last",
    "no_member": "members are found by name",
    "call_kernel": "kernel_called says it first",
    "call_recursive": "recursion says it first",
    "call_count": "arguments are bound by name first",
    "resource_argument": "argument_refused says it first",
    "declaration_place": "shared_placement says it first",
    "outside_loop": "Python says it first",
    "return_mismatch": "not_exact says it first",
    "case_place": "cases are placed by the front end",
    "case_value": "a case that is no integer makes no switch",
    "whole_resource": "buffer_reassigned says it first",
    "path_without_return": "return_missing says it first",
    "nested_bodies": "nested_too_deep says it first",
    "statement_unsupported": "the front end makes no such statement",
    "expression_unsupported": "the front end makes no such expression",
    "resource_unsupported": "Python has no class for such a resource",
    "external_missing": "targets say it: tests/kernels/test_external.py",
    "source_changed": "test_source_changed",
    "source_missing": "test_source_missing",
    "lambda_ambiguous": "test_lambda_ambiguous",
    "not_a_plain_function": "test_not_a_plain_function",
    "nested_too_deeply": "test_nesting",
    "nested_too_deep": "test_nesting",
    "expression_too_deep": "test_nesting",
    "comparison_constant": "test_warning",
    "block_size": "test_block_size",
}


BLESSED = {}


def printed(function, error):
    with pytest.raises(error) as caught:
        wrong.compile_kernel(function)
    return caught.value


@pytest.mark.parametrize(
    ("function", "error"), wrong.CASES, ids=lambda v: getattr(v, "__name__", None)
)
def test_diagnostic(function, error):
    raised = printed(function, error)
    text = wrong.without_places(str(raised))
    if os.environ.get("LCPY_BLESS"):
        BLESSED.setdefault(inspect.getsourcefile(function), {})[function.__name__] = text
        return
    assert text == textwrap.dedent(function.__doc__).strip("\n")
    diagnostic = raised.diagnostics[-1]
    if diagnostic.line:
        lines = Path(diagnostic.file).read_text().split("\n")
        shown = str(raised).split("\n")[1].strip()
        assert lines[diagnostic.line - 1].strip() == shown
        assert str(raised).startswith(
            f"{diagnostic.file}:{diagnostic.line}: error {diagnostic.code}"
        )


def test_every_row_has_a_case():
    if os.environ.get("LCPY_BLESS"):
        for path, texts in BLESSED.items():
            wrong.bless(path, texts)
        return
    seen = set()
    for function, _ in wrong.CASES:
        seen.add((function.__doc__ or "").split("error E", 1)[-1][:4])
    missing = [
        f"E{code} {name}"
        for code, name, _, _ in core.diagnostic_rows()
        if code // 1000 in (2, 3, 5) and str(code) not in seen and name not in OUT_OF_REACH
    ]
    assert not missing, "no wrong kernel for: " + ", ".join(missing)


def test_only_the_users_frames():
    """The traceback holds the user's call and the door it went through, nothing of the tracer."""
    function = wrong.CASES[0][0]
    kernel = lc.kernel(function)
    try:
        kernel(
            *[lc.Buffer(1, lc.float32) for _ in wrong.front.parameters(function)], dispatch_size=1
        )
    except lc.CompileError as error:
        frames = traceback.extract_tb(error.__traceback__)
        assert error.__cause__ is None and error.__suppress_context__
        assert not [f for f in frames if "lcpy/front" in f.filename.replace(os.sep, "/")]
        assert len(frames) <= 3
    else:
        pytest.fail("no error")


def test_the_same_error_again():
    function = wrong.CASES[0][0]
    assert str(printed(function, lc.CompileError)) == str(printed(function, lc.CompileError))
