"""``lc.struct``: struct types from annotated classes."""

import sys

from . import types
from .objects import RAISED


class StructBase(metaclass=types.TypeClass):
    """Base of the classes that ``lc.struct`` makes."""

    kind = "struct"
    members = {}
    defaults = {}

    def __init__(self, *args, **kwargs):
        cls = type(self)
        members = cls.members
        if len(args) > len(members):
            raise types._argument_error(
                f"{cls.__name__} has {len(members)} members, {len(args)} given"
            )
        given = dict(zip(members, args))
        for name, value in kwargs.items():
            if name not in members:
                raise types._argument_error(f"{cls.__name__} has no member '{name}'")
            if name in given:
                raise types._argument_error(f"{cls.__name__}: member '{name}' is given twice")
            given[name] = value
        for name, T in members.items():
            value = (
                given.get(name, cls.defaults.get(name))
                if name in given or name in cls.defaults
                else types.zero(T)
            )
            self.__dict__[name] = types.convert(T, value, f"{cls.__name__}.{name}")

    def __eq__(self, other):
        return type(other) is type(self) and self.__dict__ == other.__dict__

    def __hash__(self):
        return hash(tuple(self.__dict__[name] for name in type(self).members))

    def __repr__(self):
        parts = ", ".join(f"{name}={self.__dict__[name]!r}" for name in type(self).members)
        return f"{type(self).__name__}({parts})"


def struct(cls=None, *, align=0):
    """Class decorator: annotated members make a struct type.

    Members may have defaults; methods, operators and properties work in kernels and on the host.
    `align` raises the alignment in memory (a power of two).
    """
    if cls is None:
        frame = sys._getframe(1)
        return lambda c: _make_struct(c, align, frame.f_locals)
    return _make_struct(cls, align, sys._getframe(1).f_locals)


def _make_struct(cls, align, local_names):
    if not isinstance(cls, type):
        raise types._argument_error(f"lc.struct decorates a class, not {types.shown(cls)}")
    annotations = cls.__dict__.get("__annotations__")
    if annotations is None:
        annotations = getattr(cls, "__annotations__", {})  # from 3.14 on made when asked for
    namespace = {
        k: v
        for k, v in cls.__dict__.items()
        if k not in ("__dict__", "__weakref__", "__annotations__")
    }
    if "__init__" in namespace or "__new__" in namespace:
        raise types._argument_error(
            f"struct {cls.__name__}: members and defaults make the constructor; "
            "use a static method to build one otherwise"
        )
    members, defaults = {}, {}
    scope = getattr(sys.modules.get(cls.__module__), "__dict__", {})
    for name, annotation in annotations.items():
        if isinstance(annotation, str):
            annotation = _evaluate(annotation, scope, local_names, name, cls.__name__)
        T = types.check_type(annotation, f"member '{name}' of struct {cls.__name__}")
        if T.kind in ("ref", "buffer"):
            raise types._argument_error(
                f"member '{name}' of struct {cls.__name__} cannot be {T.__name__}"
            )
        members[name] = T
        if name in namespace:
            defaults[name] = types.convert(T, namespace.pop(name), f"{cls.__name__}.{name}")
    if not members:
        raise types._argument_error(f"struct {cls.__name__} has no annotated member")
    if "__slots__" in namespace:
        raise types._argument_error(
            f"struct {cls.__name__}: its members are what is annotated; __slots__ has no place here"
        )
    bases = tuple(b for b in cls.__bases__ if b is not object)
    if bases:
        raise types._argument_error(f"struct {cls.__name__} cannot derive from {bases[0].__name__}")
    return make_struct(cls.__name__, members, defaults, align, namespace)


def _evaluate(annotation, scope, local_names, member, struct_name):
    try:
        return eval(annotation, scope, local_names)
    except RAISED as error:
        hint = "; a struct cannot hold itself" if annotation == struct_name else ""
        raise types._argument_error(
            f"member '{member}' of struct {struct_name}: its annotation {types.shown(annotation)} "
            f"cannot be evaluated: {error}{hint}"
        ) from None


MOST_ALIGN = 4096  # bytes


def make_struct(name, members, defaults=None, align=0, namespace=None):
    """A struct type class from member types: what ``lc.struct`` makes of a class body."""
    namespace = dict(namespace or {})
    if type(align) is not int or not 0 <= align <= MOST_ALIGN or align & (align - 1):
        raise types._argument_error(
            f"struct {name}: align must be a power of two up to {MOST_ALIGN}, "
            f"not {types.shown(align)}"
        )
    inner = ",".join(T._description for T in members.values())
    align = max([align] + [_align_of(T) for T in members.values()])
    namespace.update(
        members=members, defaults=defaults or {}, _description=f"struct<{align},{inner}>"
    )
    namespace.setdefault("__module__", "lcpy")
    cls = types.TypeClass(name, (StructBase,), namespace)
    types._by_description.setdefault(cls._description, cls)
    return cls


def _align_of(T):
    """Only what a description needs before the core is loaded; the core checks it."""
    kind = T.kind
    if kind == "scalar":
        return {"?": 1, "e": 2, "f": 4, "d": 8}.get(T.code) or types._BITS[T.code] // 8
    if kind in ("vector", "matrix"):
        return _align_of(T.scalar) * (2 if T.lanes == 2 else 4)
    if kind == "array":
        return _align_of(T.element)
    return int(T._description[len("struct<") :].split(",", 1)[0])
