"""What a traced kernel took from the host, and whether it is still the same.

Names of globals and closures, attributes reached through them, and the contents of what can change
in place (lists, arrays, struct instances).
"""

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
    kind = a.__class__
    if kind is not b.__class__:
        return False
    if kind in _NUMBERS:  # str() tells -0.0 from 0.0 and makes a nan equal to itself
        return str(a) == str(b)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if kind is METHOD:
        return a.__func__ is b.__func__ and a.__self__ is b.__self__
    try:
        if hasattr(a, "tobytes"):  # NumPy
            return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        return bool(a == b)
    except Exception:  # whatever the user's __eq__ raises: then they are not known to be equal
        return False


class Captures:
    """All captures of a kernel, its callables included."""

    __slots__ = ("names", "cells", "attributes", "items", "contents", "_seen")

    def __init__(self):
        self.names = []  # (namespace, name, value)
        self.cells = []  # (cell, value)
        self.attributes = []  # (object, attribute, value)
        self.items = []  # (container, key, value)
        self.contents = []  # (object, key function, key)
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

    def add_contents(self, owner, key_of, key):
        """`key_of(owner)` must still give `key`."""
        if (id(owner), MISSING) not in self._seen:
            self._seen.add((id(owner), MISSING))
            self.contents.append((owner, key_of, key))

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
            now = getattr(owner, name, MISSING)
            if now is not value and not same(now, value):
                return False
        for owner, key, value in self.items:
            try:
                now = owner[key]
            except Exception:  # whatever the user's container raises: it has changed
                return False
            if now is not value and not same(now, value):
                return False
        return all(key_of(owner) == key for owner, key_of, key in self.contents)

    def __bool__(self):
        return bool(self.names or self.cells or self.attributes or self.items or self.contents)
