"""Small kernels tried twice: with their numbers loaded from buffers, and with the same numbers as
literals in the source, so that everything folds."""

import inspect
import re

import numpy as np
from loading import load_source

import lcpy as lc

HEAD = "from {module} import *\n\n\n"


class Case:
    """One kernel function ``f(a, b, …, out)`` over float32 buffers, and what it writes to `out`."""

    def __init__(self, function, want, inputs):
        self.function, self.want, self.inputs = function, want, inputs
        self.__name__ = function.__name__

    def run(self, device, kernel, buffers):
        out = lc.Buffer(len(self.want), lc.float32, device=device)
        kernel(*(lc.Buffer(np.float32(x), device=device) for x in buffers), out, dispatch_size=1)
        np.testing.assert_array_equal(out.numpy(), np.float32(self.want))

    def loaded(self, device):
        self.run(device, lc.kernel(self.function, math="strict"), self.inputs)

    def folded(self, device, folder):
        """The source with ``a[0]`` as the literal that the buffer `a` holds there."""
        function = self.function
        names = function.__code__.co_varnames[: len(self.inputs)]
        text = inspect.getsource(function)
        text = text[text.index("def ") :]
        for name, values in zip(names, self.inputs):
            text = re.sub(rf"\b{name}: F, ", "", text)
            text = re.sub(rf"\b{name}\[(\d)\]", lambda m, v=values: f"({v[int(m[1])]!r})", text)
            assert not re.search(rf"\b{name}\b", text), f"'{name}' is used in another way"
        head = HEAD.format(module=function.__module__)
        module = load_source(folder, f"folded_{self.__name__}_{device.kind}", head + text)
        kernel = lc.kernel(getattr(module, self.__name__), math="strict")
        self.run(device, kernel, ())


def register(cases):
    """A decorator ``case(want, input, …)`` that appends to `cases`."""

    def case(want, *inputs):
        def add(function):
            cases.append(Case(function, want, inputs))
            return function

        return add

    return case
