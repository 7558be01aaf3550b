"""Margins: exact, term by term, and what step 7 says of them."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import handmade as hm
import pytest

from verale.checker.errors import UnprovedError
from verale.checker.head_file import read_head
from verale.checker.rules.margin import lower_bound, proved_margins, require
from verale.checker.rules.similarity import Box


@pytest.mark.parametrize("scale", [1.0, 1e-320, 1e300])
def test_is_the_least_difference_over_the_box(scale: float) -> None:
    generator = random.Random(1)
    for _ in range(20):
        weight = [[generator.gauss(0, scale) for _ in range(4)] for _ in range(3)]
        bias = [generator.choice((generator.gauss(0, 1), 5e-324, 0.0)) for _ in range(3)]
        head = read_head(hm.head(weight, bias=bias, geometry=hm.SOFTMAX, similarity=hm.IDENTITY))
        low = [generator.randrange(-99, 99) for _ in range(4)]
        high = [end + generator.randrange(9) for end in low]
        box = Box(low, high, 5)
        for predicted, margins in ((p, proved_margins(head, box, p)) for p in range(3)):
            assert margins[predicted] is None
            for rival in set(range(3)) - {predicted}:
                truth = (
                    min(
                        sum(
                            (Fraction(weight[predicted][j]) - Fraction(weight[rival][j])) * Fraction(a, 32)
                            for j, a in enumerate(corner)
                        )
                        for corner in itertools.product(*zip(low, high, strict=True))
                    )
                    + Fraction(bias[predicted])
                    - Fraction(bias[rival])
                )
                assert margins[rival] == truth == lower_bound(head, box, predicted, rival)


def test_what_two_classes_share_cancels() -> None:
    head = read_head(hm.head([[1.0, 3.0], [0.0, 3.0]], geometry=hm.SOFTMAX, similarity=hm.IDENTITY))
    assert lower_bound(head, Box([1, -(10**9)], [1, 10**9], 0), 0, 1) == 1


def test_zero_is_no_margin() -> None:
    half = Fraction(1, 2)
    with pytest.raises(UnprovedError, match=r"rival 2: .* margin is 0, expected more than 0") as caught:
        require((half, None, Fraction(0)), (half, None, half))
    assert caught.value.reason == "entailment"


def test_the_worst_rival_is_named() -> None:
    with pytest.raises(UnprovedError, match="rival 3"):
        require((None, Fraction(1), Fraction(-1), Fraction(-2)), (None, Fraction(1), Fraction(1), Fraction(1)))


def test_a_stated_margin_must_be_reached_exactly() -> None:
    bound = Fraction(1, 3)
    require((None, bound), (None, bound))
    with pytest.raises(UnprovedError, match=r"rival 1: .* less than the stated") as caught:
        require((None, bound), (None, bound + Fraction(1, 10**400)))
    assert caught.value.reason == "margin"
