"""Wrong kernels: each module wrong_*.py beside this one holds some.

A wrong kernel is a function under ``@wrong``; its docstring is the diagnostic exactly as printed,
less the place in front of it (the test checks the place against the line shown). ``LCPY_BLESS=1``
rewrites the docstrings from what is printed now; read the difference before you commit it.
"""

import ast
import re
import textwrap
from pathlib import Path

import lcpy as lc
from lcpy import front
from lcpy._native import core

CASES = []  # (function, error class)
PLACE = re.compile(r"^(  note: )?(?:\S*\.py|<[^>\n]*>):\d+: ", re.MULTILINE)


def wrong(function=None, *, error=None):
    """Registers a wrong kernel."""
    if function is None:
        return lambda f: wrong(f, error=error)
    CASES.append((function, error or lc.CompileError))
    return function


def compile_kernel(function):
    """All that the core does with a kernel before a target sees it."""
    arguments = [(p.name, p.annotation) for p in front.parameters(function)]
    traced = front.trace_kernel(function, arguments, block_size=(64, 1, 1))
    return core.lower(traced.builder, "ieee", 1, True, False)


def without_places(text):
    return PLACE.sub(lambda m: m[1] or "", text)


def bless(path, printed):
    """Rewrites docstrings in a module: {function name: text}."""
    source = Path(path).read_text()
    lines = source.split("\n")
    for node in reversed(ast.parse(source).body):
        if not isinstance(node, ast.FunctionDef) or node.name not in printed:
            continue
        doc = node.body[0]
        text = textwrap.indent('"""\n' + printed[node.name] + '\n"""', " " * doc.col_offset)
        lines[doc.lineno - 1 : doc.end_lineno] = text.split("\n")
    Path(path).write_text("\n".join(lines))
