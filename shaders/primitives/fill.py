"""fill: every element of a buffer to one value, by a kernel; any element type."""

import lcpy as lc


@lc.kernel
def fill_kernel(target, value):
    if lc.dispatch_id().x < len(target):
        target[lc.dispatch_id().x] = value


def fill(target, value):
    """Sets every element of `target` to `value`.

    Parameters
    ----------
    target : lc.Buffer
        One axis, any element type.
    value : element of the buffer's type, or what converts to it
    """
    if len(target):
        fill_kernel(target, target.type(value), dispatch_size=len(target))
