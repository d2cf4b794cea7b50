"""How functions are cut out of their files."""

import sys
from pathlib import Path

import pytest

import lcpy as lc
from lcpy import front

sys.path.insert(0, str(Path(__file__).parent))

HEAD = "import lcpy as lc\nOut = lc.Buffer[lc.float32]\n"


def load(tmp_path, text, name="written", newline="\n"):
    path = tmp_path / f"{name}.py"
    path.write_bytes((HEAD + text).replace("\n", newline).encode())
    names = {}
    exec(compile(path.read_bytes(), str(path), "exec"), names)
    return names


def listing(function):
    arguments = [(p.name, p.annotation) for p in front.parameters(function)]
    return front.trace_kernel(function, arguments, block_size=(64, 1, 1)).builder.text()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("name, text", {
    "plain": "def f(out: Out):\n    out[0] = 5.0\n",
    "one_line": "def f(out: Out): out[0] = 5.0\n",
    "last_line": "def f(out: Out):\n    out[0] = 5.0",
    "long_head": "def f(\n    out: Out,\n):\n    out[0] = 5.0\nx = 1\n",
    "long_text": 'def f(out: Out):\n    """A text.\nMore of it.\n  """\n    out[0] = 5.0\nx = 1\n',
    "comments": "def f(out: Out):\n# a\n    x = 2.0\n\n#   b\n    out[0] = x\n# c\nx = 1\n",
    "brackets": "def f(out: Out):\n    out[0] = (\n2.0 +\n3.0\n)\ndef g(): pass\n",
    "continued": "def f(out: Out):\n    out[0] = 2.0 + \\\n3.0\ndef g(): pass\n",
    "tabs": "if True:\n\tdef f(out: Out):\n\t\tout[0] = 5.0\n",
    "decorated": "def keep(*a):\n    return lambda f: f\n@keep(\n    1,\n)\n@keep()\n"
    "def f(out: Out):\n    out[0] = 5.0\n",
    "nested": "class C:\n    def make():\n        def f(out: Out):\n            out[0] = 5.0\n"
    "        return f\nf = C.make()\n",
    "lambda": "five = lambda: (\n    5.0)\ndef f(out: Out):\n    out[0] = five()\n",
    "lambdas": "g = [lambda x: x, lambda x: x + 1.0][1]\ndef f(out: Out):\n    out[0] = g(4.0)\n",
    "annotated_by_text": "def f(out: 'Out'):\n    out[0] = 5.0\n",
}.items())  # fmt: skip
def test_cut(tmp_path, name, text, newline):
    if name == "lambdas" and sys.version_info < (3, 11):
        pytest.skip("only code positions tell which lambda it is")
    function = load(tmp_path, text, name, newline)["f"]
    assert "out#0[0] = " in listing(function)


def test_kernel_of_a_lambda():
    kernel = lc.kernel(lambda out: lc.atomic_add(out[0], 1.0))
    assert "AtomicAdd" in kernel.ast(lc.Buffer[lc.float32]).text()


def test_lines_and_columns(tmp_path):
    names = load(tmp_path, "\n\nif True:\n    def f(out: Out):\n        out[0] = unknown\n")
    with pytest.raises(lc.CompileError) as caught:
        listing(names["f"])
    found = caught.value.diagnostics[-1]
    assert (found.line, found.column, found.end_column) == (7, 17, 24)


def test_a_file_that_changes(tmp_path):
    first = load(tmp_path, "def f(out: Out):\n    out[0] = 5.0\n")["f"]
    assert "5.0" in listing(first)
    second = load(tmp_path, "\n\ndef f(out: Out):\n    out[0] = 6.0\n")["f"]
    assert "6.0" in listing(second)
