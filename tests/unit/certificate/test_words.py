"""Decimals that keep what is said true, and the sentence that a certificate claims."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from verale.certificate.words import below, between, claim, lower_end, others, subjects, upper_end

FINITE = st.floats(allow_nan=False, allow_infinity=False)


SHORT = st.builds(lambda number, digits: round(number, digits), st.floats(-100, 100), st.integers(0, 5))


@given(FINITE, st.integers(1, 17))
def test_below_is_below_by_less_than_one_unit(value, digits):
    low = Fraction(below(value, digits))
    assert low <= Fraction(value)
    assert Fraction(value) - low < max(abs(low), abs(Fraction(value))) / 10 ** (digits - 1) or low == value


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


def test_they_are_short_and_plain():
    assert (below(0.3), below(0.5), below(0.0), below(100.0)) == ("0.299999", "0.5", "0", "100")
    assert (below(-0.1, 2), below(5e-324)) == ("-0.11", "4.94065e-324")
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


def test_what_statements_are_about():
    assert [subjects(*given) for given in ((True, False), (False, True), (True, True))] == [
        "patches",
        "activations",
        "patches and activations",
    ]


def test_a_clause_names_those_that_it_does_not_speak_of():
    assert others(()) == "every prototype"
    assert others((4,)) == "every prototype except prototype 4"
    assert others((4, 7, 9)) == "every prototype except prototypes 4, 7 and 9"
    assert others(tuple(range(8))) == "every prototype except prototypes 0, 1, 2, 3, 4, 5, 6 and 7"
    assert others(tuple(range(20))) == "every prototype except 20 of them (prototypes 0, 1, 2, 3, 4, 5, 6, 7, ...)"
