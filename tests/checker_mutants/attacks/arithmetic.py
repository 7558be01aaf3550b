"""Attacks on exact numbers, kernels and the heaviest matching. Each returns what it finds wrong, "" for nothing."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations
from math import inf, nextafter
from typing import Any
from unittest.mock import patch

import flint
from checker_mutants.mutant import Import

__all__ = ["foreign_integers", "matching", "numbers", "transcendentals"]


def numbers(module: Import, kernel: str) -> str:
    """Rounding of integers, roots, hex floats."""
    dyadic = module("dyadic")
    generator = random.Random(1)
    for _ in range(60):
        value = Fraction(generator.randrange(-99, 99), generator.choice((1, 3, 8, 64)))
        bits = generator.randrange(5)
        low, high = dyadic.floor_at(value, bits), dyadic.ceil_at(value, bits)
        if not (Fraction(low, 1 << bits) <= value < Fraction(low + 1, 1 << bits)):
            return "floor_at"
        if not (Fraction(high - 1, 1 << bits) < value <= Fraction(high, 1 << bits)):
            return "ceil_at"
        number, places = generator.randrange(-99, 99), generator.randrange(-4, 4)
        exact = Fraction(number) * Fraction(2) ** places
        if not exact - 1 < dyadic.floor_shift(number, places) <= exact <= dyadic.ceil_shift(number, places) < exact + 1:
            return "shift"
        low, high = dyadic.sqrt_ends(abs(number))
        if not (low * low <= abs(number) <= high * high and high - low == (low * low != abs(number))):
            return "sqrt_ends"
        x = generator.choice((1.0, -1.0)) * generator.choice(
            (2.0**-1074, nextafter(inf, 0.0), generator.random(), 0.0, 3e-310)
        )
        if dyadic.hex_float(x.hex()) != Fraction(x):
            return "hex_float"
        rows = [generator.choice((0.375, -(2.0**-1074), 1e300, float(number))) for _ in range(4)]
        read = dyadic.exact(rows, 2)
        if [Fraction(entry, 1 << read.bits) for row in read.rows for entry in row] != list(map(Fraction, rows)):
            return "exact"
    wrong = (
        "0x1p+1024",
        "0x1.8p-1074",
        "0x1p-1075",
        "1.0",
        "0x2p+0",
        "0x1.Ap+0",
        "0X1p+0",
        "0x1p0",
        "0x1p+0\n",
        " 0x1p+0",
    )
    for text in (*wrong, "0x1.00000000000000p+0", "0x1.00000000000001p+0", "0x1.p+0", "0x1p+00001", "+0x1p+0", "inf"):
        if dyadic.hex_float(text) is not None:
            return f"hex_float {text}"
    return ""


def transcendentals(module: Import, kernel: str) -> str:
    """log and exp enclose, with few bits and a small guard."""
    generator = random.Random(2)
    for guard in (4, 32):
        implementation = module({"arb": "arb", "mpmath": "series"}[kernel])
        implementation.GUARD_BITS = guard
        own = module("options").load_arithmetic(kernel)
        for _ in range(150):
            bits = generator.choice((0, 1, 2, 3, 5, 12, 40))
            n, d = (generator.randrange(1, 1 << generator.choice((3, 9, 60))) for _ in range(2))
            mantissa, exponent = generator.randrange(-99, 40), generator.choice((-70, -9, -5, -4, -3))
            for enclosed, truth in (
                (own.log(n, d, bits), flint.arb(flint.fmpq(n, d)).log()),
                (own.exp(mantissa, exponent, bits), _ball(mantissa, exponent).exp()),
            ):
                low, high = (flint.arb(int(end)) / 2**bits for end in enclosed)
                if truth < low or truth > high:
                    return f"{bits} bits, guard {guard}"
            if own.exp(0, 0, bits) != (1 << bits, 1 << bits):
                return "exp(0)"
            low, high = own.log(n, d, 40)
            if guard == 32 and high - low > 8:
                return "log is wide"
    implementation.GUARD_BITS = 32
    return ""


def _ball(mantissa: int, exponent: int) -> Any:
    return flint.arb((flint.fmpz(mantissa), flint.fmpz(exponent)))


class _Foreign(int):
    """An integer of another package, as gmpy2's `mpz`: what is computed of it is one too."""

    def __neg__(self) -> _Foreign:
        return _Foreign(-int(self))

    def __lshift__(self, places: int) -> _Foreign:
        return _Foreign(int(self) << places)

    def __rshift__(self, places: int) -> _Foreign:
        return _Foreign(int(self) >> places)

    def __rlshift__(self, value: int) -> _Foreign:
        return _Foreign(value << int(self))

    def __rrshift__(self, value: int) -> _Foreign:
        return _Foreign(value >> int(self))

    def __add__(self, other: int) -> _Foreign:
        return _Foreign(int(self) + other)


def foreign_integers(module: Import, kernel: str) -> str:
    """What the kernel `mpmath` gives are Python's integers, whatever package mpmath computes its own with."""
    own, implementation = module("options").load_arithmetic("mpmath"), module("series")
    add = implementation.mpi_add

    def foreign(*given: Any) -> Any:
        return tuple((sign, _Foreign(m), _Foreign(exponent), size) for sign, m, exponent, size in add(*given))

    with patch.object(implementation, "mpi_add", foreign):
        for ends in (own.log(2, 3, 20), own.log(5, 3, 9), own.exp(-3, -1, 20)):
            if any(type(end) is not int for end in ends):
                return "integers of another package"
    return ""


def matching(module: Import, kernel: str) -> str:
    """The heaviest matching is as heavy as the best of all."""
    heaviest = module("reading.masses").heaviest_matching
    generator = random.Random(3)
    for _ in range(80):
        rows, columns = generator.randrange(1, 6), generator.randrange(1, 6)
        weights = [[generator.randrange(9) for _ in range(columns)] for _ in range(rows)]
        pairs = heaviest(weights)
        if len({row for row, _ in pairs}) != len(pairs) or len({column for _, column in pairs}) != len(pairs):
            return "no matching"
        padded = [[weights[i][j] if i < rows and j < columns else 0 for j in range(5)] for i in range(5)]
        best = max(sum(padded[i][j] for i, j in enumerate(order)) for order in permutations(range(5)))
        if sum(weights[row][column] for row, column in pairs) != best:
            return "not the heaviest"
    return ""
