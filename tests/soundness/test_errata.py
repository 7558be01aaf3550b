"""The count of pairs of caps in proofs/errata: how a pair is decided, and that a wrong decision is noticed."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from proofs.errata import count


def test_points_of_the_circle_are_exact() -> None:
    for angle in (0.0, 1e-9, 0.5, math.pi / 2, 3.0, math.pi - 1e-6):
        x, y = count.on_circle(angle)
        assert x * x + y * y == 1
        assert math.isclose(math.atan2(y, x), angle, abs_tol=1e-6)


@pytest.mark.parametrize(
    ("d", "r_1", "r_2", "decided"),
    [
        (math.acos(0.8), math.acos(0.6), math.acos(0.12), (True, True, True)),  # the one of errata.md
        (1.0, 0.7, 0.7, (False, False, False)),  # the foot between the centres
        (0.5, 0.3, 0.1, None),  # apart
        (0.0, 0.3, 0.3, None),  # about one centre
    ],
)
def test_a_pair(d: float, r_1: float, r_2: float, decided: tuple[bool, bool, bool] | None) -> None:
    assert count.decide(d, r_1, r_2) == decided


def test_every_way_to_draw_breaks_some_pairs() -> None:
    for dimension in (3, 128):
        for name, draw in count.draws(random.Random(1), dimension).items():
            pairs = count.count(draw, 200)
            assert 0 < pairs.broken < pairs.crossing <= 200, name


def test_a_wrongly_decided_pair_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count, "decide", lambda *angles: (True, False, False))
    with pytest.raises(ArithmeticError, match="the foot outside False"):
        count.count(lambda: (1.0, 1.0, 1.0), 1)


def test_the_counterexample_of_the_page_holds() -> None:
    """In the numbers of errata.md."""
    p_1, p_2, foot = (Fraction(1), Fraction(0)), (Fraction(4, 5), Fraction(3, 5)), (Fraction(3, 5), Fraction(-3, 5))

    def dot(left: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction]) -> Fraction:
        return left[0] * right[0] + left[1] * right[1]

    assert (dot(foot, p_1), dot(foot, p_2), dot(foot, foot)) == (Fraction(3, 5), Fraction(3, 25), Fraction(18, 25))
    assert dot(p_1, p_1) >= dot(foot, p_1) and dot(p_2, p_1) >= dot(foot, p_2) and dot(p_1, foot) < dot(foot, foot)
