"""Options are checked when they are given."""

from __future__ import annotations

import math

import pytest

from verale.errors import UsageError
from verale.paradigms import ORDERS, PARADIGMS
from verale.search import SearchOptions, Unexplained


def test_every_paradigm_and_order_of_the_tables_is_accepted():
    assert {SearchOptions(paradigm=name).paradigm for name in PARADIGMS} == set(PARADIGMS)
    assert [SearchOptions(order=order).order for order in ORDERS] == list(ORDERS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"paradigm": "triangulation"}, "paradigm 'triangulation' is unknown, expected one of readable, projection"),
        ({"order": "random"}, "order 'random' is unknown, expected one of rival, nearest, highest"),
        ({"order": "highest"}, "order 'highest' is one of paradigm 'top_k'"),
        ({"order": "highest", "paradigm": "mixed"}, "order 'highest' is one of paradigm 'top_k'"),
        ({"tolerance": -1e-9}, "tolerance is -1e-09"),
        ({"tolerance": 1e-9}, "tolerance is 1e-09, expected at least 1.86e-09, or 0 for the tightest intervals"),
        ({"tolerance": math.nan}, "tolerance is nan"),
        ({"tolerance": math.inf}, "tolerance is inf"),
        ({"batch": 0}, "batch is 0, expected at least 1"),
        ({"max_memory": 0}, "max_memory is 0"),
        ({"max_memory": math.nan}, "max_memory is nan"),
        ({"max_memory": 4 * 2**30}, "max_memory is 4294967296, expected a number of GiB"),
    ],
)
def test_an_invalid_option_is_named(options, message):
    with pytest.raises(UsageError, match=message):
        SearchOptions(**options)


def test_an_image_without_a_certificate_has_no_numbers_and_no_statements():
    result = Unexplained(2, "a tie")
    assert (result.size, result.margin, result.paradigm, result.minimal) == (None,) * 4
    assert (result.statements, result.margins) == ((), ())
    assert str(result) == "No certificate for this image, of class 2 by floats: a tie"
    assert repr(result) == "Unexplained(predicted=2, reason='a tie')"
