"""Decimals that keep what is said true, and the sentence that a certificate claims."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from verale.certificate.words import above, below, claim, others, subjects

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE, st.integers(1, 17))
def test_below_and_above_enclose_by_less_than_one_unit(value, digits):
    low, high = Fraction(below(value, digits)), Fraction(above(value, digits))
    assert low <= Fraction(value) <= high
    if low == high:
        assert low == Fraction(value)
    else:
        units = max(abs(low), abs(high)) / 10 ** (digits - 1)
        assert 0 < high - low <= units


def test_they_are_short_and_plain():
    assert (below(0.3), above(0.3)) == ("0.299999", "0.3")
    assert (below(0.5), above(0.5), below(0.0), below(100.0)) == ("0.5", "0.5", "0", "100")
    assert (below(-0.1, 2), above(-0.1, 2)) == ("-0.11", "-0.1")
    assert (below(5e-324), above(1.7976931348623157e308, 3)) == ("4.94065e-324", "1.8e+308")
    assert above(999999.9) == "1000000"


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
    assert others((4,)) == "every prototype but 4"
    assert others((4, 7, 9)) == "every prototype but 4, 7 and 9"
    assert others(tuple(range(8))) == "every prototype but 0, 1, 2, 3, 4, 5, 6 and 7"
    assert others(tuple(range(20))) == "every prototype but 20 (0, 1, 2, 3, 4, 5, 6, 7, ...)"
