#!/usr/bin/env python3
"""Computes the polynomials and constants of native/lower/own*.cpp, and writes native/lower/fits.h.

A polynomial interpolates its function at the Chebyshev nodes of the interval, which is near the
best there is; its coefficients are then rounded. The error beside each is relative, of the whole
function, found on a grid. Needs mpmath; `--check` compares instead of writing.
"""

import argparse
import sys
from pathlib import Path

import mpmath as mp

mp.mp.dps = 80
ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "native" / "lower" / "fits.h"
LN2 = mp.log(2)


def rounded(v, single):
    """The nearest float32 or float64, as an mpf."""
    bits = 24 if single else 53
    m, e = mp.frexp(v)
    return mp.nint(m * 2**bits) * mp.mpf(2) ** (int(e) - bits)


def interpolate(f, low, high, count):
    """Coefficients, lowest first, of the polynomial through `count` Chebyshev nodes."""
    middle, radius = (low + high) / 2, (high - low) / 2
    xs = [middle + radius * mp.cos((2 * i + 1) * mp.pi / (2 * count)) for i in range(count)]
    table = [f(x) for x in xs]
    for k in range(1, count):  # divided differences
        for i in range(count - 1, k - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (xs[i] - xs[i - k])
    coefficients = [mp.mpf(0)] * count
    for i in range(count - 1, -1, -1):  # Newton's form, expanded
        for j in range(count - 1, 0, -1):
            coefficients[j] = coefficients[j - 1] - xs[i] * coefficients[j]
        coefficients[0] = table[i] - xs[i] * coefficients[0]
    return coefficients


def fit(f, low, high, count, single):
    return [rounded(c, single) for c in interpolate(f, low, high, count)]


def horner(c, x):
    r = mp.mpf(0)
    for v in reversed(c):
        r = r * x + v
    return r


def root(z):
    return mp.sqrt(z)


class Row:
    """A polynomial P: `of(z)` is what it approximates, `whole(z, p)` the function made of it."""

    def __init__(self, name, text, of, whole, exact, low, high, n32, n64):
        self.name, self.text, self.of, self.whole, self.exact = name, text, of, whole, exact
        self.low, self.high, self.count = mp.mpf(low), mp.mpf(high), {True: n32, False: n64}


def odd(name, text, f, high, n32, n64):
    """f(x) = x + x^3 P(x^2)."""
    return Row(
        name,
        f"{text} = x + x^3 P(x^2)",
        lambda z: (f(root(z)) / root(z) - 1) / z,
        lambda z, p: root(z) * (1 + z * p),
        lambda z: f(root(z)),
        0,
        mp.mpf(high) ** 2,
        n32,
        n64,
    )


def log1p_rest(f):
    return (mp.log1p(f) - f + f * f / 2) / f**3


SLACK = mp.mpf("1.002")  # reductions round
HALF = LN2 / 2 * SLACK
ROWS = [
    Row(
        "Exp",
        "exp(x) = 1 + x + x^2 P(x), |x| <= log(2) / 2",
        lambda x: (mp.expm1(x) - x) / x**2,
        lambda x, p: 1 + x + x * x * p,
        mp.exp,
        -HALF,
        HALF * mp.mpf("1.0001"),  # no node at 0, where the quotient is not computable
        5,
        11,
    ),
    Row(
        "Exp2",
        "2^x = 1 + x P(x), |x| <= 1/2",
        lambda x: mp.expm1(x * LN2) / x,
        lambda x, p: 1 + x * p,
        lambda x: mp.mpf(2) ** x,
        -0.5 * SLACK,
        0.5 * SLACK * mp.mpf("1.0001"),
        6,
        13,
    ),
    Row(
        "Exp10",
        "10^x = 1 + x P(x), |x| <= log10(2) / 2",
        lambda x: mp.expm1(x * mp.log(10)) / x,
        lambda x, p: 1 + x * p,
        lambda x: mp.mpf(10) ** x,
        -mp.log10(2) / 2 * SLACK,
        mp.log10(2) / 2 * SLACK * mp.mpf("1.0001"),
        6,
        13,
    ),
    Row(
        "Log",
        "log(1 + x) = x - x^2 / 2 + x^3 P(x), 1 + x in [sqrt(1/2), sqrt(2)]",
        log1p_rest,
        lambda x, p: x - x * x / 2 + x**3 * p,
        mp.log1p,
        mp.sqrt(mp.mpf(1) / 2) - 1,
        mp.sqrt(2) - 1,
        10,
        0,
    ),
    Row(
        "Atanh2",
        "log((1 + s) / (1 - s)) = 2s + s^3 P(s^2), s <= (sqrt(2) - 1) / (sqrt(2) + 1)",
        lambda z: (2 * mp.atanh(root(z)) / root(z) - 2) / z,
        lambda z, p: root(z) * (2 + z * p),
        lambda z: 2 * mp.atanh(root(z)),
        0,
        ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * SLACK,
        3,
        7,
    ),
    Row(
        "PowLog",
        "log((1 + s) / (1 - s)) = 2s + 2/3 s^3 + s^5 P(s^2), for pow",
        lambda z: (2 * mp.atanh(root(z)) / root(z) - 2 - 2 * z / 3) / z**2,
        lambda z, p: root(z) * (2 + 2 * z / 3 + z * z * p),
        lambda z: 2 * mp.atanh(root(z)),
        0,
        ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * SLACK,
        4,
        9,
    ),
    odd("Sin", "sin(x), |x| <= pi/4,", mp.sin, mp.pi / 4 * SLACK, 4, 7),
    Row(
        "Cos",
        "cos(x) = 1 - x^2 / 2 + x^4 P(x^2), |x| <= pi/4",
        lambda z: (mp.cos(root(z)) - 1 + z / 2) / z**2,
        lambda z, p: 1 - z / 2 + z * z * p,
        lambda z: mp.cos(root(z)),
        0,
        (mp.pi / 4 * SLACK) ** 2,
        3,
        7,
    ),
    odd("Asin", "asin(x), |x| <= 1/2,", mp.asin, 0.5, 6, 13),
    odd("Atan", "atan(x), |x| <= tan(pi/8),", mp.atan, mp.tan(mp.pi / 8) * SLACK, 5, 12),
    odd("Sinh", "sinh(x), |x| <= 1,", mp.sinh, 1, 4, 8),
    odd("Tanh", "tanh(x), |x| <= 5/8,", mp.tanh, 0.625, 6, 13),
    odd("Asinh", "asinh(x), |x| <= 1/2,", mp.asinh, 0.5, 6, 13),
    odd("Atanh", "atanh(x), |x| <= 1/2,", mp.atanh, 0.5, 7, 14),
    Row(
        "Acosh",
        "acosh(1 + x) = sqrt(2x) (1 + x P(x)), x <= 1/2",
        lambda x: (mp.acosh(1 + x) / mp.sqrt(2 * x) - 1) / x,
        lambda x, p: mp.sqrt(2 * x) * (1 + x * p),
        lambda x: mp.acosh(1 + x),
        0,
        0.5,
        6,
        13,
    ),
]


def error(row, c):
    worst = mp.mpf(0)
    count = 300
    for i in range(1, count):
        x = row.low + (row.high - row.low) * (mp.mpf(i) / count)
        if x == 0:
            continue
        worst = max(worst, abs(row.whole(x, horner(c, x)) / row.exact(x) - 1))
    return worst


def number(v):
    return float(v).hex()


def cut(v, bits):
    """The leading bits of v, as an mpf."""
    m, e = mp.frexp(v)
    return mp.floor(m * 2**bits) * mp.mpf(2) ** (int(e) - bits)


def parts(v, sizes, single):
    """v as a sum: parts of so many bits each, the last one whole."""
    out = []
    for bits in sizes:
        out.append(cut(v, bits))
        v -= out[-1]
    out.append(rounded(v, single))
    return out


def split(name, text, v, sizes32, sizes64):
    lines = [f"// {text}"]
    for single, sizes in ((True, sizes32), (False, sizes64)):
        values = ", ".join(number(p) for p in parts(v, sizes, single))
        lines.append(f"inline constexpr double k{name}{32 if single else 64}[] = {{{values}}};")
    return lines


def wrap(values, indent="    "):
    lines, line = [], indent
    for v in values:
        if len(line) + len(v) + 2 > 99:
            lines.append(line.rstrip())
            line = indent
        line += v + ", "
    lines.append(line.rstrip().rstrip(","))
    return "\n".join(lines)


def two_over_pi(words=40, zeros=2):
    mp.mp.dps = 500
    bits = int(mp.floor(2 / mp.pi * mp.mpf(2) ** (32 * (words - zeros))))
    mp.mp.dps = 80
    out = ["0u"] * zeros
    for i in range(words - zeros - 1, -1, -1):
        out.append(f"0x{(bits >> (32 * i)) & 0xFFFFFFFF:08x}u")
    return out


def generate():
    text = [
        "// Coefficients and constants of the core's own functions, lowest power first; errors are",
        "// relative. Generated by tools/gen_fits.py; do not edit.",
        "// clang-format off",
        "#pragma once",
        "#include <cstdint>",
        "",
        "namespace lcpy::fits {",
        "",
    ]
    for row in ROWS:
        text.append(f"// {row.text}.")
        for single in (True, False):
            if not row.count[single]:
                continue
            c = fit(row.of, row.low, row.high, row.count[single], single)
            worst = mp.log(error(row, c), 2)
            text.append(f"// 2^{mp.nstr(worst, 4)}")
            name = f"k{row.name}{32 if single else 64}"
            text.append(f"inline constexpr double {name}[] = {{")
            text.append(wrap([number(v) for v in c]) + "};")
            print(f"{row.name} {32 if single else 64}: 2^{mp.nstr(worst, 4)}", file=sys.stderr)
        text.append("")
    text += split(
        "Ln2",
        "log(2); whole numbers below 2^9 (2^12) times the first part are exact.",
        LN2,
        [15],
        [40],
    )
    text += split("Log10Of2", "log10(2), likewise.", mp.log10(2), [15], [40])
    text += split(
        "HalfPi",
        "pi/2; numbers below 2^9 (2^20) times all but the last part are exact.",
        mp.pi / 2,
        [15, 15, 15],
        [33, 33, 33],
    )
    text += split("Pi2", "pi/2 in two parts.", mp.pi / 2, [24], [53])
    text += split("Log2E", "1 / log(2) in two parts.", 1 / LN2, [24], [53])
    text += split("Third2", "2/3 in two parts.", mp.mpf(2) / 3, [24], [53])
    text.append("")
    text.append("// The bits of 2/pi after its point, behind 64 zeros.")
    text.append("inline constexpr uint32_t kTwoOverPi[] = {")
    text.append(wrap(two_over_pi()) + "};")
    text += ["", "}  // namespace lcpy::fits", ""]
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the file instead")
    options = parser.parse_args()
    text = generate()
    if options.check:
        if OUT.read_text() != text:
            sys.exit(f"{OUT.relative_to(ROOT)} is not what tools/gen_fits.py makes")
        return
    OUT.write_text(text)


if __name__ == "__main__":
    main()
