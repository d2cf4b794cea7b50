"""The pack table: where each host argument goes in the argument block, and what values it takes."""

from collections import namedtuple

from .. import layout


class Parameter(namedtuple("Parameter", "name type exact")):
    """A kernel parameter as specialised: its type class, and whether a value's type decided it."""

    __slots__ = ()


class ArgumentRow(
    namedtuple("ArgumentRow", "kind exact bytes value length extents base low high type packer")
):
    """One row for core.BoundCall. Offsets are in the argument block, -1 for what is not there.

    `kind` is "buffer", "signed", "unsigned", "float", "bool" or "packed". Of a buffer, `bytes` is 1
    if a slot holds it and 0 if the kernel never touches it, `high` the most elements that it may
    have (0: any number), `packer` its name.
    """

    __slots__ = ()


def pack_table(parameters, slots, entries, counted):
    """Rows by parameter.

    Parameters
    ----------
    parameters : sequence of Parameter
        Declared ones, then captured buffers.
    slots : sequence of (name, type, memory class, access, number, atomics)
        The descriptor's; a host slot's number is the position of its parameter.
    entries : sequence of (value, length, extents, base)
        The argument block's, by slot.
    counted : sequence of bool
        By slot: whether the kernel asks for the buffer's length in 32 bits.
    """
    where, most = {}, {}
    for slot, entry, short in zip(slots, entries, counted):
        if slot[2] in ("global", "uniform"):
            where[slot[4]] = entry
            most[slot[4]] = 2**32 - 1 if short else 0
    return tuple(_row(p, where.get(i), most.get(i, 0)) for i, p in enumerate(parameters))


def _row(parameter, entry, most):
    T = parameter.type
    value, length, extents, base = entry if entry is not None else (-1, -1, -1, -1)
    if T.kind == "buffer":
        bound = 0 if entry is None else 1
        named = parameter.name  # for the error about too many elements
        return ArgumentRow(
            "buffer", False, bound, -1, length, extents, base, 0, most, T._type, named
        )
    kind, low, high, packer = "packed", 0, 0, None
    if T.kind == "scalar" and T.group == "int":
        low, high = T.range
        kind = "signed" if low < 0 else "unsigned"
    elif T.kind == "scalar" and T.group in ("float", "bool"):
        kind = T.group
    if kind == "packed" or T._type.size not in (1, 2, 4, 8) or T.kind == "scalar" and T.code == "e":
        kind, packer = "packed", _packer(T, parameter.name)
    return ArgumentRow(kind, parameter.exact, T._type.size, value, -1, -1, -1, low, high, T, packer)


def _packer(T, name):
    found = layout.packer(T)
    what = f"argument '{name}'"

    def pack(value):
        numbers = []
        found.flatten(value, numbers, what)
        return found.format.pack(*numbers)

    return pack
