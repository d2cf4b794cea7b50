"""fma of doubles: one rounding at every exponent, also where a device's own has two."""

from fractions import Fraction

import numpy as np
import pytest

import lcpy as lc

LEAST, MOST = -1074, 1023
ENDS = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1.0,
    -1.0,
    2.0**LEAST,
    -(2.0**-1022),
    1.7976931348623157e308,
]


@lc.kernel(math="strict")
def fused(
    a: lc.Buffer[lc.float64],
    b: lc.Buffer[lc.float64],
    c: lc.Buffer[lc.float64],
    out: lc.Buffer[lc.float64],
):
    i = lc.dispatch_id().x
    out[i] = lc.fma(a[i], b[i], c[i])


def expected(a, b, c):
    if not np.isfinite([a, b, c]).all():
        if np.isfinite([a, b]).all():
            return c
        with np.errstate(invalid="ignore"):
            return np.float64(a) * np.float64(b) + np.float64(c)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        zero = np.float64(a) * np.float64(b)
        return zero + c if zero == 0 else 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    place = Fraction(2) ** max(exponent - 52, LEAST)
    steps = round(size / place)
    if steps * place >= Fraction(2) ** (MOST + 1):
        return np.copysign(np.inf, 1 if exact > 0 else -1)
    return np.copysign(float(steps * place), 1 if exact > 0 else -1)


def operands():
    """Products at every exponent, beside numbers near them, far from them, or that cancel them."""
    rng, n = np.random.default_rng(7), 3000

    def numbers(exponents):
        significands = rng.uniform(1, 2, n) * rng.choice([-1, 1], n)
        significands[rng.random(n) < 0.15] = 1.0
        return np.ldexp(significands, np.clip(exponents, LEAST, MOST).astype(int))

    of_product, of_a = rng.integers(-1130, 1040, n), rng.integers(LEAST, MOST, n)
    near = of_product + rng.integers(-115, 115, n)
    far = rng.integers(LEAST, MOST, n)
    a, b = numbers(of_a), numbers(of_product - of_a)
    c = numbers(np.where(rng.random(n) < 0.8, near, far))
    cancels = rng.random(n) < 0.2
    with np.errstate(all="ignore"):
        c[cancels] = -(a * b)[cancels]
    some = rng.random(n) < 0.1
    c[some] = np.nextafter(c[some], 0)
    for v in (a, b, c):
        ends = rng.random(n) < 0.03
        v[ends] = rng.choice(ENDS, ends.sum())
    return a, b, c


def test_fma_of_doubles_rounds_once(device):
    if not device.features["float64"]:
        pytest.skip("no double")
    values = operands()
    with np.errstate(all="ignore"):
        want = np.array([expected(*v) for v in zip(*values)])
    out = lc.Buffer(len(want), lc.float64, device=device)
    fused(*[lc.Buffer(v, device=device) for v in values], out, dispatch_size=len(want))
    got = out.numpy()
    right = (got.view(np.uint64) == want.view(np.uint64)) | (np.isnan(got) & np.isnan(want))
    # A device that keeps no denormals may take them for zero, and make none.
    small = [(np.abs(v) < 2.0**-1022) & (v != 0) for v in (*values, want)]
    kept = device.features.get("denormals", True)
    wrong = ~right & (True if kept else ~np.any(small, axis=0))
    assert not wrong.any(), [
        (*(float(v[i]).hex() for v in values), float(got[i]).hex(), float(want[i]).hex())
        for i in np.flatnonzero(wrong)[:5]
    ]
