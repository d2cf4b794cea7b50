"""What the compiler makes of a wrong program, and whether that is a proper answer.

The answer must be an lc.Error that names file and line and shows the user's own line with a caret,
or success; the same question again gets the same answer; the traceback holds none of the tracer.
"""

import random
import re
import signal
import sys
import traceback
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 10  # seconds a program may take


class _TooLong(BaseException):
    """Raised by the alarm while a module is imported."""


def alarm(number, frame):
    raise _TooLong


class Judge:
    """Runs one program and says what is wrong with the answer, or None."""

    def __init__(self):
        import lcpy as lc
        from lcpy._native import core

        if str(ROOT / "shaders") not in lc.__path__:
            lc.__path__.append(str(ROOT / "shaders"))
        self.lc, self.core = lc, core
        self.wrong = 0
        self.right = 0

    def program(self, path, seed):
        """[(kind, signature, text)] of the faults of the program in a file."""
        r = random.Random(seed)
        faults = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = self._load(path, faults)
            for value in list((module or {}).values()):
                if type(value) is self.lc.Kernel and value.function.__code__.co_filename == str(
                    path
                ):
                    if value.__name__ != "a_kernel":
                        self._kernel(value, path, r, faults)
        return faults

    def _load(self, path, faults):
        names = {"__name__": f"wrong_{path.stem}", "__file__": str(path)}
        module = type(sys)(names["__name__"])
        sys.modules[names["__name__"]] = module
        module.__dict__.update(names)
        try:
            signal.setitimer(signal.ITIMER_REAL, LIMIT / 2)
            exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
        except _TooLong as error:  # a fault only where lcpy, not the damaged host code, is busy
            if "/lcpy/" in traceback.extract_tb(error.__traceback__)[-2].filename:
                faults.append(self._fault("hang", error))
            return None
        except self.lc.InternalError as error:
            faults.append(self._fault("internal", error))
            return None
        except self.lc.Error:
            self.wrong += 1
            return None
        except SystemExit:
            return None
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            own = frames and "/lcpy/" in frames[-1].filename
            # What Python itself says of lc.nothing, of an index, of a call on the host, is enough.
            natural = isinstance(error, AttributeError) or own and frames[-1].name in (
                "__call__", "__getitem__")  # fmt: skip
            if own and not natural:
                faults.append(self._fault("exception", error))
            return None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            del sys.modules[names["__name__"]]
        return module.__dict__

    def _kernel(self, kernel, path, r, faults):
        lc = self.lc
        try:
            parameters = kernel._parameters
        except lc.Error as error:
            self._answer(lambda: kernel(dispatch_size=0), path, faults, error)
            return
        except Exception as error:
            faults.append(self._fault("exception", error))
            return
        values, types = self._arguments(parameters, r), self._types(parameters, r)
        strict = r.random() < 0.3
        self._answer(lambda: kernel(*values, dispatch_size=0), path, faults)
        self._answer(lambda: self._compile(kernel, types, strict), path, faults)

    def _types(self, parameters, r):
        lc = self.lc
        pool = (lc.float32, lc.int32, lc.uint32, lc.float3, lc.Buffer[lc.float32],
                lc.Buffer[lc.int32], lc.float64, lc.Buffer[lc.float2], lc.bool)  # fmt: skip
        return [p.annotation if p.annotation not in (None, lc.Buffer) else r.choice(pool)
                for p in parameters]  # fmt: skip

    def _arguments(self, parameters, r):
        lc = self.lc
        pool = (0, 1.5, None, "x", 2**70, float("nan"), (1, 2), [1], {}, lc, lc.float3)
        pool += (lc.float3(1), object(), True, -1, {"x": 1})
        values = []
        for p in parameters:
            T = p.annotation
            if r.random() < 0.3 or T in (None, lc.Buffer):
                values.append(r.choice(pool))
            elif T.kind == "buffer":
                element = T.element or lc.uint8
                values.append(lc.Buffer((2,) * T.rank, element) if T is not lc.ByteBuffer
                              else lc.ByteBuffer(8))  # fmt: skip
            else:
                storage = getattr(T, "group", "") == "storage"
                values.append(1 if T.kind == "ref" or storage else T())
        if r.random() < 0.1 and values:
            values.pop()
        return values

    def _compile(self, kernel, types, strict):
        """All that compiling does, up to the drivers."""
        made = kernel._specialise_types(types)
        descriptor = made.descriptor(True, False, "strict" if strict else None)[0]
        first = None
        for build in (
            lambda: kernel.compile(*types, target="spirv"),
            lambda: kernel.compile(*types, target="opencl"),
            lambda: self.core.Program(descriptor, ""),
        ):
            try:
                build()
            except self.lc.UnsupportedError as error:  # one target's refusal; the others go on
                first = first or error
        if first is not None:
            raise first

    def _answer(self, ask, path, faults, first=None):
        """Asks twice; judges the answers."""
        texts = []
        for _ in range(2):
            error = None
            try:
                ask()
            except self.lc.InternalError as raised:
                faults.append(self._fault("internal", raised))
                return
            except self.lc.Error as raised:
                error = raised
            except Exception as raised:
                faults.append(self._fault("exception", raised))
                return
            texts.append(None if error is None else f"{type(error).__name__}: {error}")
        if texts[0] is None:
            self.right += 1
        else:
            self.wrong += 1
        if texts[0] != texts[1]:
            faults.append(("answers", "differ", f"{texts[0]}\n--- then\n{texts[1]}"))
        if error is not None:
            self._shape(error, path, faults)

    def _shape(self, error, path, faults):
        """File, line, the line itself, the caret, and whose frames the traceback holds."""
        text = str(error)
        if isinstance(error, self.lc.CompileError):
            d = error.diagnostics[-1] if error.diagnostics else None
            if d is None or d.line <= 0:
                faults.append(("place", f"no line: {d and d.code}", text))
                return
            lines = text.split("\n")
            if d.file != str(path):
                return  # the prelude's own, or a callable of another file
            own = re.split("\r\n|\r|\n", path.read_text())
            shown = lines[1] if len(lines) > 1 else ""
            if not (0 < d.line <= len(own)) or shown.strip() != own[d.line - 1].strip():
                faults.append(("line", f"line differs: {d.code}", text))
            elif len(lines) < 3 or "^" not in lines[2]:
                faults.append(("caret", f"no caret: {d.code}", text))
            elif lines[2].index("^") > len(shown):
                faults.append(("caret", f"caret outside: {d.code}", text))
            if "object at 0x" in text:
                faults.append(("message", f"address: {d.code}", text))
        for frame in traceback.extract_tb(error.__traceback__):
            if "/lcpy/front/" in frame.filename:
                faults.append(("frames", f"{frame.filename}:{frame.lineno}", text))
                break
        if error.__context__ is not None and not error.__suppress_context__:
            faults.append(("frames", f"context {type(error.__context__).__name__}", text))

    @staticmethod
    def _fault(kind, error):
        frames = traceback.extract_tb(error.__traceback__)
        ours = [f for f in frames if "/lcpy/" in f.filename] or frames
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
        if kind == "internal":
            where = re.sub(r"[\d']+", "#", str(error).split("\n")[0])[:100]
        try:
            text = "".join(traceback.format_exception(error, limit=-12))
        except Exception:
            text = type(error).__name__
        return kind, f"{type(error).__name__} at {where}", text
