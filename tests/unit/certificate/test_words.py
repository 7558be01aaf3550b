"""Decimals that keep what is said true, and the sentence that a certificate claims."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st
from support.cases import every

from verale.certificate.words import (
    about,
    above,
    below,
    between,
    claim,
    float_below,
    lower_end,
    meant_by,
    percent,
    upper_end,
    written,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)


SHORT = st.builds(lambda number, digits: round(number, digits), st.floats(-100, 100), st.integers(0, 5))


@given(FINITE, st.integers(1, 17))
def test_below_is_below_by_less_than_one_unit(value, digits):
    low = Fraction(below(value, digits))
    assert low <= Fraction(value)
    assert Fraction(value) - low < max(abs(low), abs(Fraction(value))) / 10 ** (digits - 1) or low == value


@given(FINITE, st.integers(1, 17))
def test_above_is_above_by_less_than_one_unit(value, digits):
    assert Fraction(value) <= Fraction(above(value, digits)) == -Fraction(below(-value, digits))


@given(FINITE, st.integers(1, 17))
def test_about_is_the_nearer_of_both(value, digits):
    low, near, high = (Fraction(say(value, digits)) for say in (below, about, above))
    exact = Fraction(value)
    assert near in (low, high) and abs(near - exact) == min(exact - low, high - exact)


@given(st.one_of(FINITE, SHORT))
def test_a_number_of_a_table_is_below_however_it_is_printed(value):
    told = float_below(value)
    assert told == -math.inf or max(Fraction(repr(told)), Fraction(told)) <= Fraction(value)
    assert float_below(0.87411937) == 0.8741 and float_below(5e-324) == 0.0


@given(FINITE)
def test_what_is_written_is_given_back(value):
    assert float(written(value)) == value
    assert len(written(value).lstrip("-").replace(".", "").split("e")[0].strip("0")) <= 17


def rounded(text: str, towards: float) -> float:
    """The float nearest to a decimal on one side of it, by exact comparison."""
    exact, near = Fraction(Decimal(text)), float(text)
    if math.isinf(near):
        return math.nextafter(near, 0)
    outside = Fraction(near) < exact if towards > 0 else Fraction(near) > exact
    return math.nextafter(near, towards) if outside else near


@given(st.one_of(FINITE, SHORT))
def test_ends_are_read_back_as_they_are(value):
    """The decimal lies on the inner side, and the nearest float on its outer side is the end itself."""
    assert Fraction(Decimal(upper_end(value))) <= Fraction(value) <= Fraction(Decimal(lower_end(value))) or (
        abs(value) == 0
    )
    assert rounded(upper_end(value), math.inf) == value
    assert rounded(lower_end(value), -math.inf) == value


@given(st.integers(-9999, 9999), st.integers(-8, 8))
def test_a_short_decimal_is_told_as_it_is(number, power):
    """Of the float next to it on the outer side: that is how the search states it."""
    text = f"{number}e{power}"
    assert Decimal(upper_end(rounded(text, math.inf))) == Decimal(text)
    assert Decimal(lower_end(rounded(text, -math.inf))) == Decimal(text)


@given(st.one_of(FINITE, SHORT), st.integers(0, 2))
def test_an_interval_is_never_told_in_the_wrong_order(lower, steps):
    """Nothing would satisfy it; and it is read back as it is."""
    upper = lower
    for _ in range(steps):
        upper = math.nextafter(upper, math.inf)
    if math.isfinite(upper):
        low, high = between(lower, upper, "{} {}").split()
        assert Decimal(low) <= Decimal(high)
        assert (rounded(low, -math.inf), rounded(high, math.inf)) == (lower, upper)


def test_a_number_is_told_with_all_its_digits_where_it_is_the_interval():
    assert between(0.5, 0.5) == "[0.5, 0.5]"
    third = "0.333333333333333314829616256247390992939472198486328125"
    assert between(1 / 3, 1 / 3) == f"[{third}, {third}]"
    assert between(1e20, 1e20) == "[1e+20, 1e+20]"


OUTSIDE = math.nextafter(0.3, 1)


@every(
    ("say", "rows"),
    [
        (below, {(0.3,): "0.2999", (0.5,): "0.5", (0.0,): "0", (100.0,): "100", (5e-324,): "4.94e-324",
                 (2.0**1023,): "8.988e+307", (-0.1, 2): "-0.11"}),
        (above, {(5e-324,): "4.941e-324", (1e-308,): "1e-308", (-math.inf,): "-inf"}),
        (about, {(123456.0,): "123500", (2.5, 1): "2", (3.5, 1): "4", (math.inf,): "inf"}),
        (written, {(1e-4,): "0.0001", (-0.0,): "0", (0.1 + 0.2,): "0.30000000000000004", (1e300,): "1e+300"}),
        (lower_end, {(0.3,): "0.3"}),
        (upper_end, {(0.3,): "0.29999999999999998", (OUTSIDE,): "0.3"}),
        (between, {(0.3, OUTSIDE): "[0.3, 0.3]", (None, 0.5): "at most 0.5", (-1.0, math.inf): "at least -1"}),
        (percent, {(1, 60): "1.6 %", (34, 60): "56.6 %", (999, 1000): "99.9 %", (1999, 2000): "99.9 %",
                   (5, 5): "100.0 %", (0, 5): "0.0 %"}),
    ],
)  # fmt: skip
def test_they_are_short_and_plain_and_a_share_is_all_only_if_it_is(say, rows):
    for arguments, told in rows.items():
        assert say(*arguments) == told


def test_the_claim_counts():
    for size, about_what, said in (
        (2, "patches", "satisfies the 2 statements about patches is classified as bee"),
        (1, "activations", "the one statement about activations"),
        (0, "", "Every latent tensor of the head's domain is classified"),
    ):
        assert said in claim("bee", size, "0.5", about_what)


def numbers_in(said: str) -> list[int]:
    """The prototypes that are named, ranges among them."""
    found = []
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", re.sub(r"\d+ prototypes", "", said)):
        found += range(int(first), int(last or first) + 1)
    return found


def test_a_clause_is_told_by_those_that_it_speaks_of_where_they_are_fewer():
    """1,166 exempt ones of 1,200 were listed, and two of fifty were told as all but forty-eight."""
    assert meant_by(tuple(range(1166)), 1200) == "34 prototypes (1166-1199)"
    assert meant_by((0, 2, *range(4, 50)), 50) == "prototypes 1 and 3"
    assert meant_by(tuple(range(49)), 50) == "prototype 49"
    assert meant_by(tuple(range(50)), 50) == "no prototype"
    assert meant_by((0, 1), 4) == "every prototype except prototypes 0 and 1"
    assert meant_by((), 50) == meant_by((), None) == "every prototype"
    assert meant_by((4,), None) == "every prototype except prototype 4"
    assert meant_by((4, 7, 9), None) == "every prototype except prototypes 4, 7 and 9"
    assert meant_by(tuple(range(8)), None) == "every prototype except prototypes 0, 1, 2, 3, 4, 5, 6 and 7"
    assert meant_by((0, *range(2, 16), 18, 19), 99) == "every prototype except 17 prototypes (0, 2-15, 18 and 19)"


@given(st.sets(st.integers(0, 59)), st.integers(1, 60))
@example(set(range(0, 40, 2)), 60)
@example(set(range(20, 60, 2)), 60)
def test_no_list_leaves_out_any_prototype(exempt, prototypes):
    every = set(range(prototypes))
    said = meant_by(tuple(sorted(exempt & every)), prototypes)
    named = numbers_in(said)
    assert named == sorted(set(named)) and "..." not in said
    assert (every - set(named) if said.startswith("every") else set(named)) == every - exempt
    count = re.search(r"(\d+) prototypes", said)
    assert count is None or int(count[1]) == len(named)
