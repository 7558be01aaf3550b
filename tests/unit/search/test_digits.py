"""Digits: ends move outward to short decimals, and stay what they are about."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.digits import told
from support.small import small_head

from verale.certificate import ActivationStatement, FloorStatement, OrderStatement, PatchStatement
from verale.certificate.statements import statement_in_words
from verale.errors import UsageError
from verale.search.digits import MOST_DIGITS, check_digits, in_digits, least_unit

ENDS = st.floats(-1e6, 1e6).filter(lambda end: end == 0 or abs(end) > 1e-6)


@given(ENDS, st.floats(0, 1), st.integers(1, MOST_DIGITS))
def test_ends_move_outward_to_so_many_digits_and_stay_there(lower, width, digits):
    statement = PatchStatement(0, 1, lower, lower + width)
    (wide,) = in_digits([statement], digits, 1e-8)
    assert wide.lower <= statement.lower and wide.upper >= statement.upper
    size = max(abs(statement.lower), abs(statement.upper))
    unit = Decimal(10) ** max(-8, Decimal(size).adjusted() - digits + 1 if size else -8)
    for text in told([wide]):
        assert (Decimal(text) / unit) % 1 == 0
    for end, moved in ((statement.lower, wide.lower), (statement.upper, wide.upper)):
        assert abs(Decimal(end) - Decimal(moved)) <= unit + abs(Decimal(math.ulp(moved)))
    if max(abs(wide.lower), abs(wide.upper)) < 10 * 10 ** Decimal(size).adjusted():
        assert in_digits([wide], digits, 1e-8) == [wide]


def test_every_kind_of_statement_keeps_what_it_is_about():
    statements = [
        PatchStatement(3, 1, 0.123456, 0.123457),
        ActivationStatement(2, 1.23456, math.inf),
        ActivationStatement(4, -math.inf, -0.034567),
        OrderStatement((1, 2), 1.00749),
        FloorStatement((), -1.00749),
    ]
    short = in_digits(statements, 2, 1e-8)
    assert told(short) == ["0.12", "0.13", "1.2", "-0.034", "1.1", "-1.1"]
    assert [statement_in_words(each)[0] for each in short] == [statement_in_words(each)[0] for each in statements]


@pytest.mark.parametrize("given", [0, 9, -1, True, 2.0, "3", "few", None])
def test_other_digits_are_refused(given):
    with pytest.raises(UsageError, match="expected 1 to 8, 'fewest' or 'exact'"):
        check_digits(given)


def test_the_least_unit_grows_with_what_an_observable_can_be():
    assert least_unit(small_head("euclidean", depth=6)) == 1e-8
    assert least_unit(small_head("euclidean", depth=64)) == 1e-7
    assert least_unit(small_head("softmax")) == 1e-9
