"""The exceptions of lcpy. Each says whose turn it is: the program's author, the caller, the device.

All derive from :class:`Error`. After an error the same call gives the same error; nothing is left
half done.
"""

_CALLED = "called from here"


class Diagnostic:
    """One thing that is wrong with a program, and where.

    Attributes
    ----------
    code : str
        Stable code, for example ``"E2003"``.
    file : str
        Source file; ``"<unknown>"`` where there is none.
    line : int
        1-based line; 0 where there is none.
    column, end_column : int
        0-based columns in code points; `end_column` is 0 when unknown.
    message, hint : str
        What is wrong, and how to mend it (may be empty).
    notes : tuple of (file, line, text)
        For example the calls that led here.
    """

    __slots__ = ("code", "file", "line", "column", "end_column", "message", "hint", "notes")

    def __init__(self, code, file, line, column, end_column, message, hint, notes):
        self.code = code
        self.file = file
        self.line = line
        self.column = column
        self.end_column = end_column
        self.message = message
        self.hint = hint
        self.notes = tuple(notes)

    def __repr__(self):
        return f"Diagnostic({self.code}, {self.file}:{self.line}:{self.column}, {self.message!r})"


class Error(Exception):
    """Base of all errors that lcpy raises on purpose."""


class _Diagnosed(Error):
    """An error that carries diagnostics; ``str()`` is the text as rendered by the core.

    Attributes
    ----------
    diagnostics : tuple of Diagnostic
    """

    def __init__(self, text, diagnostics=()):
        super().__init__(text)
        self.text = text
        self.diagnostics = tuple(diagnostics)

    def __str__(self):
        return self.text

    def __reduce__(self):
        return type(self), (self.text, ())

    def _called_from(self, file, line):
        """Adds the call at `file`:`line` to the chain that led to the error."""
        if self.diagnostics and self.diagnostics[-1].notes[-1:] == ((file, line, _CALLED),):
            return  # once is enough of a function within itself
        self.text = f"{self.text.rstrip()}\n  note: {file}:{line}: {_CALLED}"
        if self.diagnostics:
            last = self.diagnostics[-1]
            last.notes += ((file, line, _CALLED),)


class CompileError(_Diagnosed):
    """The program is wrong. The text shows file, line, the line itself, a caret and a hint."""


class UnsupportedError(_Diagnosed):
    """The program is right, and this device or target cannot run it. Names the feature or limit."""


class ArgumentError(Error, TypeError, ValueError):
    """A launch, upload or constructor got the wrong thing. Raised before anything is copied."""


class KernelTrap(Error):
    """An assertion, a trap or a bounds check of a running kernel.

    Attributes
    ----------
    kernel : str
    kind : "assert", "trap" or "bounds"
    file, line, source
        The place in the program, and the line's text.
    thread : tuple of three int
        ``lc.dispatch_id()`` of the thread.
    message : str
        Of an assertion; "" without.
    code : int or None
        Of ``lc.trap(code)``.
    buffer, index, size
        Of a bounds check: the name of what was indexed, the index, and how many there are. None
        otherwise.
    launches : int
        How many launches had trapped by the time that this was noticed; this is the first.
    """

    def __init__(self, text="", **details):
        super().__init__(text)
        self.kernel = self.kind = self.file = self.code = None
        self.buffer = self.index = self.size = None
        self.line, self.source, self.message = 0, "", ""
        self.thread, self.launches = (0, 0, 0), 1
        for name, value in details.items():
            setattr(self, name, value)


class DeviceError(Error):
    """A driver refused a call. Names the call and its result."""


class OutOfMemory(DeviceError):
    """The device has not enough memory left. The device stays usable."""


class DeviceLost(DeviceError):
    """The device stopped answering; everything on it is gone. Other devices stay usable."""


class LoadError(Error):
    """A library, artifact or text form is damaged, foreign or of an unknown version."""


class InternalError(Error):
    """A fault of lcpy itself. Please report it with the program that led to it."""


class KernelWarning(UserWarning):
    """A kernel is right, yet says something that its author can hardly have meant."""


DeviceError.OutOfMemory = OutOfMemory
DeviceError.DeviceLost = DeviceLost
