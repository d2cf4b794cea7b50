"""The user's own objects may raise whatever they like when they are looked at: an attribute, an
iterator, a comparison, a repr. That is an error of the program, at the statement that looked.
"""

import os

from .. import errors, types
from ..objects import RAISED

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NAME = type.__dict__["__name__"]  # a metaclass cannot change what this one gives
LONG = 60  # characters of a value that messages show


def class_name(cls):
    """A class's name, whatever its metaclass does."""
    return _NAME.__get__(cls)


def spelled(value):
    """A value in words of its own, one short line."""
    text = value if type(value) is str else types.shown(value)
    text = " ".join(text.split())
    return text if len(text) <= LONG else text[: LONG - 3] + "..."


def reason(error):
    """An exception in one line: its class and its text."""
    try:
        text = " ".join(str(error).split())
    except RAISED:
        text = ""
    name = class_name(type(error))
    return f"{name}: {text[:300]}" if text else name


def _is_users(error):
    """Whether the exception came out of code that is not lcpy's."""
    last = None
    at = error.__traceback__
    while at is not None:
        last = at.tb_frame.f_code.co_filename
        at = at.tb_next
    return last is not None and not last.startswith((_OWN, "lcpy/"))


def blame(frame, node, error):
    """Raises what an unexpected exception during the statement `node` means: the program's error
    where the user's code raised it or lcpy refused a value, else a fault of lcpy."""
    if isinstance(error, errors._Diagnosed):  # of the core, that knew no place
        text = error.diagnostics[-1].message if error.diagnostics else str(error)
        frame.fail("static_failed", node, text)
    if isinstance(error, errors.InternalError):
        raise error
    if isinstance(error, errors.Error):
        frame.fail("static_failed", node, reason(error).split(": ", 1)[-1])
    if _is_users(error):
        frame.fail("static_failed", node, reason(error))
    file, line, _, _ = frame.builder.span(node)
    where = f"{frame.parsed.filename}:{line}"
    raise errors.InternalError(f"tracing '{frame.title}' at {where}: {reason(error)}") from error


def has_place(error):
    """Whether a diagnosed error names a line."""
    return not error.diagnostics or error.diagnostics[-1].line > 0


def on_host(frame, node, function, *args):
    """function(*args) of host objects; whatever it raises is the program's error."""
    try:
        return function(*args)
    except RAISED as error:
        return frame.fail("static_failed", node, reason(error))
