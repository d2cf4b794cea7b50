"""What tracing keeps: one Trace a kernel, one Frame a function being read."""

from .. import errors
from ..objects import RAISED
from .captures import Captures
from .host import blame, has_place
from .tables import STATEMENTS
from .values import WEAK, Closure, Local, Static, describe, tracked

UNROLL_LIMIT = 4096


class Trace:
    """What all functions of one kernel share while it is traced."""

    __slots__ = ("captures", "bound", "specialised", "stack", "kept", "unrolled", "frames",
                 "bounds")  # fmt: skip

    def __init__(self, bounds=False):
        self.bounds = bounds  # accesses are checked
        self.captures = Captures()
        self.bound = []
        self.specialised = {}  # (function, argument keys) -> Specialisation
        self.stack = []  # functions being traced, outermost first
        self.kept = []  # objects whose ids are keys
        self.frames = []  # all that were made
        self.unrolled = 1  # copies that the loops around this place make

    def close(self):
        """Breaks the cycles between frames and nested functions, so that a trace is freed at once
        and not when garbage is next collected."""
        for frame in self.frames:
            frame.names.clear()
            frame.hidden.clear()
            frame.constants.clear()
            frame.static_reads.clear()
        self.frames.clear()
        self.specialised.clear()


class Frame:
    """One function being traced: its builder, its names, where it is in the source."""

    __slots__ = (
        "trace", "builder", "parsed", "title", "names", "local_names", "outer", "globals", "cells",
        "is_kernel", "result", "loops", "level", "statics", "hidden", "constants", "hint",
        "static_reads", "statement", "alias", "returned", "references",
    )  # fmt: skip

    def __init__(self, trace, builder, parsed, title, local_names, outer, host_globals, cells):
        self.trace = trace
        self.builder = builder
        self.parsed = parsed
        self.title = title  # the function's name in messages
        self.names = {}  # name -> variable number, Local or Static
        self.local_names = local_names  # names that Python makes local to the function
        self.outer = outer  # the frame that a nested function was defined in
        self.globals = host_globals
        self.cells = cells  # name -> closure cell
        self.is_kernel = False
        self.result = None  # class of what it returns, where that must be tracked
        self.loops = []  # innermost last
        self.level = 0  # nesting of run-time control flow
        self.statics = [[]]  # compile-time names bound at each level
        self.hidden = {}  # captured variables and buffers -> (Hidden, variable)
        self.constants = {}  # id of a host object -> (object, expression)
        self.statement = None  # the one being traced
        self.alias = None  # the frame that took over the variables of this one, which has ended
        self.returned = None  # the compile-time value that the function gives
        self.references = set()  # variables that are parameters by reference
        self.static_reads = []  # (frame, name, value): compile-time names of enclosing functions
        self.hint = 0  # branch hint for the next if or match
        trace.frames.append(self)
        builder.at_source(parsed.file, parsed.shift)

    def fail(self, code, node, *args):
        """Raises the CompileError of the diagnostic row `code` at `node`."""
        self.builder.fail(code, node, *args)

    def bind_argument(self, name, variable, cls):
        cls = tracked(cls)
        self.names[name] = variable if cls is None else Local(variable, cls)

    def bind_static(self, name, value, node):
        """Gives `name` a compile-time value, for the rest of the scope."""
        found = self.names.get(name)
        if found is None:
            self.statics[-1].append(name)
        elif found.__class__ is not Static:
            self.fail("name_is_variable", node, name)
        elif found.value is value:
            return
        elif _same_definition(found.value, value):
            pass  # the same def again, in the next copy of an unrolled loop
        elif found.level != self.level:
            self.fail("static_rebound", node, name)
        self.names[name] = Static(value, self.level)

    def drop_static(self, name, found, node):
        """Frees a name that an unrolled loop left with a number, for a run-time variable."""
        if found.value.__class__ not in WEAK:
            self.fail("name_is_static", node, name, describe(found.value))
        if name in self.statics[found.level]:  # a parameter is in none
            self.statics[found.level].remove(name)
        del self.names[name]

    def enter(self, scope):
        self.builder.push_scope(scope)
        self.level += 1
        self.statics.append([])

    def leave(self):
        for name in self.statics.pop():
            del self.names[name]
        self.level -= 1
        self.builder.pop_scope()


def _same_definition(a, b):
    return a.__class__ is Closure and b.__class__ is Closure and a.node is b.node


def host_cells(function):
    """name -> cell of a function's closure."""
    free = function.__code__.co_freevars
    return dict(zip(free, function.__closure__)) if free else {}


class EndCopy(Exception):
    """Ends the trace of one copy of an unrolled loop; `last`: of all further ones too."""

    def __init__(self, last):
        self.last = last


def run(frame, statements):
    """Traces statements, one after the other."""
    s = None
    try:
        for s in statements:
            frame.statement = s
            STATEMENTS[s.__class__](frame, s)
    except (EndCopy, RecursionError):
        raise
    except errors._Diagnosed as error:
        if has_place(error):
            raise
        blame(frame, s, error)
    except RAISED as error:  # whatever the user's objects raise when they are looked at
        blame(frame, s, error)
