"""Exact numbers: nothing is lost, rounding goes one way. Drawn ones are in `test_enclosures`."""

from __future__ import annotations

from fractions import Fraction

import pytest
from support.cases import every

from verale.checker.dyadic import exact, hex_float, sqrt_ends

EXTREMES = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e-30, 0.1]


@pytest.mark.parametrize("values", [EXTREMES, [0.0], [1e300, 2e300], [1e300, 2.0**-200]])
def test_exact_keeps_every_value(values: list[float]) -> None:
    matrix = exact(values, 1)
    assert [Fraction(row[0], 1 << matrix.bits) for row in matrix.rows] == [Fraction(value) for value in values]


def test_exact_takes_the_smallest_common_exponent_and_splits_rows() -> None:
    matrix = exact([0.5, 3.0, -0.25, 1.0], 2)
    assert (matrix.rows, matrix.bits) == ([[2, 12], [-1, 4]], 2)
    assert exact([], 3).rows == []


@every(
    "text",
    [
        "",
        "0x1", "1p+0", "0x1p0", "0X1p+0", "0x1P+0", "+0x1p+0", "0x2p+0", "0x1.p+0", "0x1.00000000000000p+0", "0x1.Ap+0",
        "0x1p+00001", "0x1p+0 ", "0x1p+0\n", "nan", "inf", "0x1p+\u0661", "--0x1p+0",
    ],
)  # fmt: skip
def test_hex_float_refuses_another_grammar(text: str) -> None:
    assert hex_float(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "0x1p+1024",
        "0x1.8p-1074",
        "0x1p-1075",
        "0x0.0000000000001p-1023",
        "-0x1p+9999",
        "0x1p-9999",
        "0x1.0000000000001p-1030",
    ],
)
def test_hex_float_refuses_what_is_no_binary64(text: str) -> None:
    assert hex_float(text) is None


def test_hex_float_takes_every_spelling_of_a_binary64() -> None:
    assert hex_float("0x0.0000000000001p-1022") == Fraction(5e-324)
    assert hex_float("0x1.fffffffffffffp+1023") == Fraction(1.7976931348623157e308)
    assert hex_float("0x0.8p+1024") == Fraction(2) ** 1023
    assert hex_float("-0x0p+9999") == 0


@pytest.mark.parametrize("value", [0, 1, 2, 3, 4, 10**40, 10**40 + 1, 10**40 - 1, (10**33 + 7) ** 2])
def test_sqrt_ends(value: int) -> None:
    low, high = sqrt_ends(value)
    assert low * low <= value <= high * high
    assert high - low == (low * low != value)
