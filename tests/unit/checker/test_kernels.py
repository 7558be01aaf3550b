"""Kernels at chosen arguments, against 400-bit balls and exact rationals; mpmath's own enclosures do not hold.

Drawn arguments are in `test_enclosures`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any
from unittest.mock import patch

import flint
import mpmath
import pytest

from verale.checker import arb, series
from verale.checker.arithmetic import Arithmetic
from verale.checker.errors import KernelError
from verale.checker.options import KERNELS, load_arithmetic

TRUTH_BITS = 400


@pytest.fixture(params=KERNELS, scope="module")
def kernel(request: pytest.FixtureRequest) -> Arithmetic:
    return load_arithmetic(request.param)


def truth(ball: flint.arb, bits: int) -> tuple[Fraction, Fraction]:
    """The ends of a ball, exactly, times 2^bits."""
    ends = []
    for end in (ball.lower(), ball.upper()):
        mantissa, exponent = end.man_exp()
        ends.append(Fraction(int(mantissa)) * Fraction(2) ** (int(exponent) + bits))
    return ends[0], ends[1]


def holds(ends: tuple[int, int], ball: flint.arb, bits: int) -> None:
    low, high = truth(ball, bits)
    assert ends[0] <= low
    assert high <= ends[1]


def check(ends: tuple[int, int], ball: flint.arb, bits: int) -> None:
    holds(ends, ball, bits)
    assert ends[1] - ends[0] <= 2


def logarithms() -> list[tuple[int, int, int]]:
    cases = [
        (1, 1, 64),
        (2**53 + 2, 2**53, 128),
        (2**200 + 1, 2**200, 128),
        (2**200 - 1, 2**200, 256),
        (2, 3, 90),
        (4, 3, 90),
    ]
    cases += [(1, 10**300, 128), (10**300, 1, 128), (3, 1 << 1074, 128), (1 << 1024, 1, 200), (1, 2, 1), (1, 3, 0)]
    return cases


def exponents() -> list[tuple[int, int, int]]:
    cases = [
        (0, 0, 128),
        (1, -1074, 128),
        (-1, -1074, 200),
        (1, 0, 64),
        (-1, 0, 64),
        (1, 9, 64),
        (-127, 0, 128),
        (-128, 0, 128),
    ]
    cases += [
        (-1, 5, 32),
        (-33, 0, 32),
        (-(10**18), -60, 256),
        (709, 0, 64),
        (1, -1, 80),
        (-1, -1, 80),
        (-1, -1, 1),
        (1, 0, 0),
    ]
    return cases


def test_log_encloses(kernel: Arithmetic) -> None:
    with flint.ctx.workprec(TRUTH_BITS + 1100):
        for numerator, denominator, bits in logarithms():
            ball = (flint.arb(flint.fmpz(numerator)) / flint.arb(flint.fmpz(denominator))).log()
            check(kernel.log(numerator, denominator, bits), ball, bits)


def test_exp_encloses(kernel: Arithmetic) -> None:
    with flint.ctx.workprec(TRUTH_BITS + 1100):
        for mantissa, exponent, bits in exponents():
            ball = (flint.arb(flint.fmpz(mantissa)) * flint.arb(2) ** exponent).exp()
            check(kernel.exp(mantissa, exponent, bits), ball, bits)


IMPLEMENTATIONS = {"arb": arb, "mpmath": series}


@pytest.mark.parametrize("name", KERNELS)
def test_terms_that_are_left_out_decide_where_the_first_lie_on_the_grid(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the logarithm of (2^k + 1) / (2^k - 1) the first term lies on the grid and the others far below. Of the
    exponential of -1/4, with two bits and no guard bits, the first terms lie on the grid."""
    kernel = load_arithmetic(name)
    with flint.ctx.workprec(TRUTH_BITS):
        for k, bits in product((20, 30, 40), range(30, 48)):
            n, d = (1 << k) + 1, (1 << k) - 1
            for numerator, denominator in ((n, d), (d, n)):
                holds(
                    kernel.log(numerator, denominator, bits), flint.arb(flint.fmpq(numerator, denominator)).log(), bits
                )
        monkeypatch.setattr(IMPLEMENTATIONS[name], "GUARD_BITS", 0)
        for mantissa, bits in product((-1, 1), (2, 3, 4)):
            holds(kernel.exp(mantissa, -2, bits), (flint.arb(mantissa) / 4).exp(), bits)


def test_exp_that_vanishes_and_exp_that_overflows(kernel: Arithmetic) -> None:
    assert kernel.exp(-3, 1000, 128) == (0, 1)
    assert kernel.exp(-1, 7, 127) == (0, 1)
    with pytest.raises(OverflowError, match="more than"):
        kernel.exp(1, 21, 64)
    with pytest.raises(OverflowError, match="more than"):
        kernel.exp(3, 1000, 64)


def test_mpmath_itself_does_not_enclose_exp() -> None:
    """The reason for our own series: mpmath's interval exp is [1, 1] where the value is above 1."""
    x = 6.569357051766728e-21
    wrong = mpmath.iv.exp(mpmath.iv.mpf(x))
    assert (wrong.a, wrong.b) == (1.0, 1.0)
    mantissa, denominator = x.as_integer_ratio()
    for name in KERNELS:
        low, high = load_arithmetic(name).exp(mantissa, 1 - denominator.bit_length(), 128)
        assert high > (1 << 128)  # exp(x) > 1
        assert low <= math.floor((1 + Fraction(x) + Fraction(x) ** 2) * 2**128)  # exp(x) < 1 + x + x^2
        assert low > 1 << 128
        assert Fraction(high, 1 << 128) > 1 + Fraction(x)  # exp(x) > 1 + x


class Foreign(int):
    """An integer of another package, as gmpy2's `mpz`: what is computed of it is one too."""

    def __neg__(self) -> Foreign:
        return Foreign(-int(self))

    def __lshift__(self, places: int) -> Foreign:
        return Foreign(int(self) << places)

    def __rshift__(self, places: int) -> Foreign:
        return Foreign(int(self) >> places)

    def __rlshift__(self, value: int) -> Foreign:
        return Foreign(value << int(self))

    def __rrshift__(self, value: int) -> Foreign:
        return Foreign(value >> int(self))

    def __add__(self, other: int) -> Foreign:
        return Foreign(int(self) + other)


def test_the_integers_of_mpmath_s_backend_stay_in_the_kernel() -> None:
    """gmpy2's, say, of which Decimal makes no number: a message about what is not proved then ended in a TypeError."""
    kernel, add = load_arithmetic("mpmath"), series.mpi_add

    def foreign(*given: Any) -> Any:
        return tuple((sign, Foreign(m), Foreign(exponent), size) for sign, m, exponent, size in add(*given))

    with patch.object(series, "mpi_add", foreign):
        for ends in (kernel.log(2, 3, 20), kernel.log(5, 3, 9), kernel.exp(-3, -1, 20)):
            assert all(type(end) is int for end in ends)


def test_an_unknown_kernel() -> None:
    with pytest.raises(
        KernelError, match="'float' is unknown, expected one of proved-or-arb, proved, arb, mpmath, both, all"
    ):
        load_arithmetic("float")


@pytest.mark.parametrize(("name", "package"), [("arb", "python-flint"), ("mpmath", "mpmath")])
def test_a_kernel_that_is_not_installed(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "verale.checker." + {"arb": "arb", "mpmath": "series"}[name], None)
    with pytest.raises(KernelError, match=f"needs {package} .*: install it, or choose the other kernel"):
        load_arithmetic(name)
