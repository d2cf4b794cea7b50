"""bfloat16 and the 8-bit floats on the host: from numbers to bits and back.

NumPy has no such dtypes. Where the package ml_dtypes can be imported, ``T.dtype`` is its dtype
(``bfloat16``, ``float8_e4m3fn``, ``float8_e5m2``); elsewhere it is uint16 or uint8, the bits.
Arrays of the bits are taken in either case, and ``T.encode`` and ``T.decode`` work without it.
"""

import math
from collections import namedtuple

# `mantissa` bits, smallest exponent of a normal number, and patterns without the sign: the largest
# number, what overflow and infinity become, NaN. E4M3 is OCP's, which has no infinity.
Format = namedtuple("Format", "mantissa low largest overflow nan sign ml_dtype")
FORMATS = {
    "bfloat16": Format(7, -126, 0x7F7F, 0x7F80, 0x7FC0, 0x8000, "bfloat16"),
    "float8_e4m3": Format(3, -6, 0x7E, 0x7F, 0x7F, 0x80, "float8_e4m3fn"),
    "float8_e5m2": Format(2, -14, 0x7B, 0x7C, 0x7E, 0x80, "float8_e5m2"),
}
TYPES = {f.ml_dtype: name for name, f in FORMATS.items()}  # dtype name -> type name


def bits_of(name, number):
    """The bits of a Python number, rounded once to nearest even."""
    f = FORMATS[name]
    number = float(number)
    sign = f.sign if math.copysign(1.0, number) < 0 else 0
    size = abs(number)
    if size != size:
        return sign | f.nan
    if size == math.inf:
        return sign | f.overflow
    if size == 0:
        return sign
    # The last place is 2**unit; subnormals share that of the smallest normal number.
    unit = max(math.frexp(size)[1] - 1, f.low) - f.mantissa
    steps = round(math.ldexp(size, -unit))
    pattern = ((unit - (f.low - f.mantissa)) << f.mantissa) + steps
    return sign | (pattern if pattern <= f.largest else f.overflow)


def number_of(name, bits):
    """The Python number that the bits stand for."""
    f = FORMATS[name]
    sign = -1.0 if bits & f.sign else 1.0
    size = bits & (f.sign - 1)
    if size > f.largest:
        special = math.inf if size == f.overflow != f.nan else math.nan
        return math.copysign(special, sign)
    exponent = size >> f.mantissa
    steps = size & ((1 << f.mantissa) - 1)
    if exponent:
        steps += 1 << f.mantissa
    return sign * math.ldexp(steps, max(exponent, 1) - 1 + f.low - f.mantissa)


def bits_dtype(name):
    """The unsigned NumPy dtype of the bits."""
    import numpy

    return numpy.dtype("uint16" if name == "bfloat16" else "uint8")


def dtype_of(name):
    """ml_dtypes' dtype where that package is, else the bits'."""
    import numpy

    try:
        import ml_dtypes
    except ImportError:
        return bits_dtype(name)
    return numpy.dtype(getattr(ml_dtypes, FORMATS[name].ml_dtype))


def encode(name, array):
    """Numbers as an array of `dtype_of(name)`, each rounded once to nearest even."""
    import numpy

    f = FORMATS[name]
    x = numpy.asarray(array, numpy.float64)
    size = numpy.abs(x)
    with numpy.errstate(all="ignore"):
        finite = numpy.where(numpy.isfinite(size), size, 0)
        unit = numpy.maximum(numpy.frexp(finite)[1] - 1, f.low) - f.mantissa
        steps = numpy.rint(numpy.ldexp(finite, -unit)).astype(numpy.int64)
    # Beyond float32 the pattern is too large all the same.
    pattern = ((unit.astype(numpy.int64) - (f.low - f.mantissa)) << f.mantissa) + steps
    pattern = numpy.where(size == 0, 0, pattern)
    pattern = numpy.where((pattern > f.largest) | numpy.isinf(size), f.overflow, pattern)
    pattern = numpy.where(numpy.isnan(size), f.nan, pattern)
    pattern = numpy.where(numpy.signbit(x), pattern | f.sign, pattern)
    return pattern.astype(bits_dtype(name)).view(dtype_of(name))


def decode(name, array):
    """An array of bits, or of `dtype_of(name)`, as float32."""
    import numpy

    bits = numpy.ascontiguousarray(array)
    if bits.dtype != bits_dtype(name) and bits.dtype != dtype_of(name):
        from .types import _argument_error

        raise _argument_error(f"{name}.decode: wanted {dtype_of(name)}, got {bits.dtype}")
    bits = bits.view(bits_dtype(name)).reshape(numpy.shape(array))
    if name == "bfloat16":
        return (bits.astype(numpy.uint32) << 16).view(numpy.float32)
    table = numpy.array([number_of(name, k) for k in range(256)], numpy.float32)
    return table[bits]
