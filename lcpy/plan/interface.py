"""Descriptor sets, bindings and the argument block's way to the kernel.

Set 0 has the buffers, bindings 0 to n - 1 by order of slots; it changes with a launch's buffers.
The argument block is pushed when it fits, because that costs no descriptor; else it is a uniform
buffer, else a storage buffer, in set 1, binding 0, which changes with each launch.
"""

from collections import namedtuple

_FIELDS = "slots block block_place block_bytes sets push_ranges accesses"


class Plan(namedtuple("Plan", _FIELDS)):
    """A frozen interface plan.

    Attributes
    ----------
    slots : tuple of (set, binding) or None
        By slot of the descriptor; None for what the host does not bind.
    block : "push", "uniform" or "storage"
        How the argument block arrives.
    block_place : (set, binding)
        Of a uniform or storage block.
    block_bytes : int
    sets : tuple of tuples of (binding, descriptor type, count)
    push_ranges : tuple of (offset, bytes)
    accesses : tuple of str
        What the kernel does with each bound buffer: "none", "read", "write" or "read_write".
    """

    __slots__ = ()

    def __str__(self):
        lines = []
        for number, bindings in enumerate(self.sets):
            for binding, kind, count in bindings:
                access = f" {self.accesses[binding]}" if number == 0 else " argument block"
                lines.append(f"set {number} binding {binding}: {kind} ×{count}{access}")
        lines += [f"push constants {offset}..{offset + size}" for offset, size in self.push_ranges]
        return "\n".join(lines)


def plan_interface(name, slots, block_bytes, limits, indexed=False):
    """The Plan of a kernel.

    Parameters
    ----------
    name : str
        For messages.
    slots : sequence of (name, memory class, access)
        The descriptor's slots in order.
    block_bytes : int
        Size of the argument block.
    limits : Limits
    indexed : bool
        Whether the kernel indexes its by-value arguments at run time: Vulkan lets threads index
        push constants alike only, and drivers rely on it.
    """
    who = f"kernel '{name}'"
    places, accesses, buffers = [], [], []
    for _, memory, access in slots:
        if memory == "global":
            places.append((0, len(buffers)))
            buffers.append((len(buffers), "storage_buffer", 1))
            accesses.append(access)
        else:
            places.append(None)
    limits.require("storage_buffers", len(buffers), who)
    sets, push = [tuple(buffers)], ()
    place = (1, 0)
    if block_bytes <= limits.push_bytes and not indexed:
        block, push = "push", ((0, block_bytes),)
    else:
        # The last resort, too, must fit: the message then names the push constants' limit no more.
        fits = block_bytes <= limits.uniform_range and limits.uniform_buffers >= 1
        block = "uniform" if fits else "storage"
        if block == "storage":
            limits.require("storage_buffers", len(buffers) + 1, who)
            limits.require("storage_range", block_bytes, f"{who} (its by-value arguments)")
        sets.append(((0, f"{block}_buffer", 1),))
    limits.require("sets", len(sets), who)
    return Plan(tuple(places), block, place, block_bytes, tuple(sets), push, tuple(accesses))
