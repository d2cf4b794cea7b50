"""What a traced kernel took from the host, and whether it is still the same.

Names of globals and closures, attributes reached through them, and the contents of what can change
in place (lists, arrays, struct instances).
"""

from .._native import core
from ..objects import RAISED
from .signature import MISSING

_NUMBERS = frozenset((int, float, bool, complex, str))


class _Holder:
    def method(self):
        """Only its type is wanted."""


METHOD = type(_Holder().method)


def same(a, b):
    """Whether two captured values are one to the compiler. Attributes may give a fresh object each
    time (``array.shape``, a property), so equal values count as one."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind in _NUMBERS:  # str() tells -0.0 from 0.0 and makes a nan equal to itself
        return str(a) == str(b)
    if kind is METHOD:
        return a.__func__ is b.__func__ and a.__self__ is b.__self__
    try:
        if issubclass(kind, (tuple, list)):
            return len(a) == len(b) and all(map(same, a, b))
        if hasattr(a, "tobytes"):  # NumPy
            return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        return bool(a == b)
    except RAISED:  # whatever the user's __eq__ raises: then they are not known to be equal
        return False


_CHANGING = (list, dict, set, bytearray)
_DEEPEST = 20  # levels of containers within containers; recursive ones end somewhere


def _inside(value, depth):
    """A copy of what a container holds, as tuples to be compared by `same`."""
    kind = type(value)
    if depth > _DEEPEST:
        return ()
    if issubclass(kind, dict):
        return tuple((k, _inside(v, depth + 1)) for k, v in value.items())
    if issubclass(kind, (list, tuple)):
        return tuple(_inside(v, depth + 1) for v in value)
    if issubclass(kind, set):
        return (frozenset(value),)
    if issubclass(kind, bytearray):
        return bytes(value)
    if hasattr(kind, "__array_interface__") and value.shape:
        return str(value.dtype), value.shape, value.tobytes()
    return value


def _same_inside(owner, key):
    return same(_inside(owner, 0), key)


def _same_array(owner, key):
    """Whether a NumPy array is what it was: key is (dtype, shape, bytes)."""
    dtype, shape, data = key
    if owner.dtype != dtype or owner.shape != shape:
        return False
    return core.same_bytes(owner, data) if owner.flags.c_contiguous else owner.tobytes() == data


def attribute(owner, name):
    """The attribute; MISSING where the object has none, or raises something else."""
    try:
        return getattr(owner, name, MISSING)
    except RAISED:  # whatever the user's property raises: it has changed
        return MISSING


class Captures:
    """All captures of a kernel, its callables included."""

    __slots__ = ("names", "cells", "attributes", "items", "contents", "_seen")

    def __init__(self):
        self.names = []  # (namespace, name, value)
        self.cells = []  # (cell, value)
        self.attributes = []  # (object, attribute, value)
        self.items = []  # (container, key, value)
        self.contents = []  # (object, function (object, key) -> whether it still holds, key)
        self._seen = set()

    def add_name(self, namespace, name, value):
        if (id(namespace), name) not in self._seen:
            self._seen.add((id(namespace), name))
            self.names.append((namespace, name, value))

    def add_cell(self, cell, value):
        if id(cell) not in self._seen:
            self._seen.add(id(cell))
            self.cells.append((cell, value))

    def add_attribute(self, owner, name, value):
        if (id(owner), name) not in self._seen:
            self._seen.add((id(owner), name))
            self.attributes.append((owner, name, value))

    def add_item(self, owner, key, value):
        self.items.append((owner, key, value))

    def add_contents(self, owner, holds, key):
        """`holds(owner, key)` tells whether the object's contents are what they were."""
        if (id(owner), MISSING) not in self._seen:
            self._seen.add((id(owner), MISSING))
            self.contents.append((owner, holds, key))

    def add_container(self, owner):
        """A host container that a compile-time expression saw, with all that it holds."""
        if issubclass(type(owner), _CHANGING):
            self.add_contents(owner, _same_inside, _inside(owner, 0))
        elif hasattr(type(owner), "__array_interface__") and owner.shape:
            self.add_contents(owner, _same_array, (owner.dtype, owner.shape, owner.tobytes()))

    def unchanged(self):
        """True while every captured value is what it was when the kernel was traced."""
        for namespace, name, value in self.names:
            now = namespace.get(name, MISSING)
            if now is not value and not same(now, value):
                return False
        for cell, value in self.cells:
            try:
                now = cell.cell_contents
            except ValueError:
                return False
            if now is not value and not same(now, value):
                return False
        for owner, name, value in self.attributes:
            now = attribute(owner, name)
            if now is not value and not same(now, value):
                return False
        for owner, key, value in self.items:
            try:
                now = owner[key]
            except RAISED:  # whatever the user's container raises: it has changed
                return False
            if now is not value and not same(now, value):
                return False
        try:
            return all(holds(owner, key) for owner, holds, key in self.contents)
        except RAISED:  # what was a constant is none any more
            return False

    def __bool__(self):
        return bool(self.names or self.cells or self.attributes or self.items or self.contents)
