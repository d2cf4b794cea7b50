"""Source text and syntax tree of a function, without inspect: one file read, one parse.

A function is cut out of its file by indentation and parsed alone. Nodes keep columns of the file
(in code points), and `Parsed.shift` added to a node's line gives the line in the file.
"""

import os
from _ast import FunctionDef, Lambda

from .._native import core

_ONLY_AST = 0x400
_files = {}  # file name -> ((mtime, size), lines)
_parsed = {}  # id of a code object -> Parsed
_KEPT_LINES = 20000  # of source whose syntax trees are kept
_kept_lines = 0


class Parsed:
    """A function's syntax tree and where it comes from."""

    __slots__ = ("node", "file", "shift", "filename", "code", "stamp")

    def __init__(self, node, file, shift, filename, code, stamp):
        self.node = node
        self.file = file
        self.shift = shift
        self.filename = filename
        self.code = code
        self.stamp = stamp

    def span(self, node):
        """(file, line, column, end_column) of a node."""
        end = node.end_col_offset if node.end_lineno == node.lineno else 0
        return self.file, node.lineno + self.shift, min(node.col_offset, 65535), min(end, 65535)

    def header(self):
        """Span of the function's name line."""
        node = self.node
        return self.file, node.lineno + self.shift, node.col_offset, 0


def parse(function):
    """The Parsed of a Python function; CompileError where its source cannot be had."""
    code = function.__code__
    found = _parsed.get(id(code))
    stamp = _stamp(code.co_filename)
    if found is not None and found.code is code and found.stamp == stamp:
        return found
    lines = _lines(code.co_filename, stamp, function)
    if not lines or code.co_firstlineno > len(lines):
        core.fail("source_missing", None, function.__qualname__, code.co_filename)
    if code.co_name == "<lambda>":
        made = _parse_lambda(function, code, lines, stamp)
    else:
        made = _parse_def(function, code, lines, stamp)
    _keep(made)
    return made


def _keep(parsed):
    global _kept_lines
    node = parsed.node
    _kept_lines += node.end_lineno - node.lineno + 1
    if _kept_lines > _KEPT_LINES:
        forget()
    _parsed[id(parsed.code)] = parsed


def _stamp(filename):
    try:
        s = os.stat(filename)
    except (OSError, ValueError):
        return None
    return s.st_mtime_ns, s.st_size


def _lines(filename, stamp, function):
    found = _files.get(filename)
    if found is not None and stamp is not None and found[0] == stamp:
        return found[1]
    lines = None
    if stamp is not None:
        try:
            with open(filename, "rb") as f:
                lines = _decode(f.read(), filename)
        except (OSError, SyntaxError, ValueError, LookupError):
            lines = None
    if lines is None:  # an interactive cell, an archive, a debugger's entry
        import linecache

        cached = linecache.getlines(filename, function.__globals__)
        return [line.rstrip("\r\n") for line in cached]
    _files[filename] = (stamp, lines)
    return lines


def _decode(data, filename):
    head = data[:400].split(b"\n", 2)[:2]
    if any(b"coding" in line for line in head):
        import tokenize

        with tokenize.open(filename) as f:
            text = f.read()
    else:
        text = data.decode("utf-8-sig")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


def _indent(line):
    return len(line) - len(line.lstrip())


def _ends(lines, start):
    """Line indices (exclusive) where the block that starts at `start` may end, nearest first."""
    base = _indent(lines[start])
    n = len(lines)
    i = start
    while i < n and not lines[i].lstrip().startswith(("def ", "def\t", "async ")):
        i += 1
    i += 1
    while i < n:
        line = lines[i]
        if line and not line[: base + 1].isspace() and _indent(line) <= base:
            text = line.strip()
            if text and text[0] != "#":
                yield i
        i += 1
    yield n


def _compile(text, filename):
    return compile(text, filename, "exec", _ONLY_AST, True)


def _parse_def(function, code, lines, stamp):
    start = code.co_firstlineno - 1
    wrapped = _indent(lines[start]) > 0
    module = None
    # A line at the function's own indentation may still belong to it (a text over several lines,
    # a closing bracket): then the cut does not parse, and the next possible end is tried.
    for attempt, end in enumerate(_ends(lines, start)):
        text = "\n".join(lines[start:end])
        try:
            module = _compile("if 1:\n" + text if wrapped else text, code.co_filename)
            break
        except SyntaxError:
            if attempt > 200:
                break
    body = module.body if module is not None else []
    if body and wrapped:
        body = body[0].body
    node = body[0] if body else None
    if node is None or getattr(node, "name", None) != code.co_name:
        core.fail("source_changed", None, function.__qualname__, code.co_filename)
    file = core.register_source(code.co_filename, text, start + 1)
    if not text.isascii():
        _count_code_points(node, lines, start - (1 if wrapped else 0))
    shift = start - 1 if wrapped else start
    if node.__class__ is not FunctionDef:
        parsed = Parsed(node, file, shift, code.co_filename, code, stamp)
        core.fail("not_a_plain_function", parsed.header(), node.name)
    return Parsed(node, file, shift, code.co_filename, code, stamp)


def _parse_lambda(function, code, lines, stamp):
    text = "\n".join(lines)
    try:
        module = _compile(text, code.co_filename)
    except SyntaxError:
        core.fail("source_changed", None, "a lambda", code.co_filename)
    if not text.isascii():
        _count_code_points(module, lines, 0)
    file = core.register_source(code.co_filename, text, 1)
    found = [n for n in _walk(module) if n.__class__ is Lambda and _is_lambda_of(n, code)]
    if len(found) > 1:
        found = _nearest(found, code)
    if len(found) != 1:
        span = (file, code.co_firstlineno, 0, 0)
        core.fail("lambda_ambiguous", span)
    return Parsed(found[0], file, 0, code.co_filename, code, stamp)


def _is_lambda_of(node, code):
    if node.lineno != code.co_firstlineno:
        return False
    a = node.args
    names = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    return tuple(names) == code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _nearest(nodes, code):
    """Of lambdas on one line, that whose body holds the code's positions (Python 3.11 and up)."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return nodes
    columns = [p[2] for p in positions() if p[0] == p[1] == nodes[0].lineno and p[2] is not None]
    columns = [c for c in columns if c > 0]
    if not columns:
        return nodes
    low, high = min(columns), max(columns)
    return [n for n in nodes if n.body.col_offset <= low and high < n.body.end_col_offset]


def _walk(node):
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        for field in node._fields:
            child = getattr(node, field, None)
            if child.__class__ is list:
                stack.extend(c for c in child if hasattr(c, "_fields"))
            elif hasattr(child, "_fields"):
                stack.append(child)


walk = _walk


def _count_code_points(root, lines, shift):
    """Turns the parser's byte columns into code points."""
    for node in _walk(root):
        line = getattr(node, "lineno", None)
        if line is None:
            continue
        node.col_offset = _code_points(lines, line - 1 + shift, node.col_offset)
        node.end_col_offset = _code_points(lines, node.end_lineno - 1 + shift, node.end_col_offset)


def _code_points(lines, index, column):
    line = lines[index] if 0 <= index < len(lines) else ""
    if line.isascii():
        return column
    return len(line.encode()[:column].decode("utf-8", "replace"))


def forget():
    """Drops what is kept of sources; it is read again when it is needed."""
    global _kept_lines
    _files.clear()
    _parsed.clear()
    _kept_lines = 0
