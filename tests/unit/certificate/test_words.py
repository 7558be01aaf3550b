"""Decimals that keep what is said true, and the sentence that a certificate claims."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

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


def test_they_are_short_and_plain():
    assert (below(0.3), below(0.5), below(0.0), below(100.0)) == ("0.2999", "0.5", "0", "100")
    assert (below(-0.1, 2), below(5e-324), above(5e-324)) == ("-0.11", "4.94e-324", "4.941e-324")
    assert (below(2.0**1023), above(1e-308), about(123456.0)) == ("8.988e+307", "1e-308", "123500")
    assert (about(2.5, 1), about(3.5, 1), about(math.inf), above(-math.inf)) == ("2", "4", "inf", "-inf")
    assert (written(1e-4), written(-0.0), written(0.1 + 0.2), written(1e300)) == (
        "0.0001",
        "0",
        "0.30000000000000004",
        "1e+300",
    )
    outside = math.nextafter(0.3, 1)
    assert (lower_end(0.3), upper_end(outside), upper_end(0.3)) == ("0.3", "0.3", "0.29999999999999998")
    assert (between(0.3, outside), between(None, 0.5), between(-1.0, math.inf)) == (
        "[0.3, 0.3]",
        "at most 0.5",
        "at least -1",
    )


def test_the_claim_counts():
    assert "satisfies the 2 statements about patches is classified as bee" in claim("bee", 2, "0.5", "patches")
    assert "the one statement about activations" in claim("bee", 1, "0.5", "activations")
    assert "Every latent tensor of the head's domain is classified" in claim("bee", 0, "0.5", "")


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


def test_a_share_is_all_only_if_it_is():
    assert [percent(*each) for each in ((1, 60), (34, 60), (999, 1000), (1999, 2000), (5, 5), (0, 5))] == [
        "1.6 %",
        "56.6 %",
        "99.9 %",
        "99.9 %",
        "100.0 %",
        "0.0 %",
    ]
