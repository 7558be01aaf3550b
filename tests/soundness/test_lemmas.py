"""Every lemma of proofs/ is proved, its twins are refuted, and it names the rules that it justifies. Lemmas of
proofs/errata justify no rule; their twins are published claims."""

from __future__ import annotations

import math
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest
import z3

from proofs.errata import count
from proofs.lemma import Case, Lemma, run
from verale.soundness.lemmas import lemma as named
from verale.soundness.lemmas import lemmas, names

ROOT = Path(__file__).parents[2]
NAMES = names()
SLOW = ("assignment", "lipschitz", "nextafter")
"""Three to ten seconds each."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name in SLOW)) for name in NAMES],
)
def test_a_lemma_is_proved_and_its_twins_are_refuted(name: str) -> None:
    assert run(named(name)).failures == ()


def test_the_code_that_a_lemma_names_exists() -> None:
    named_files = [(name, file) for name, lemma in lemmas().items() for file in lemma.code]
    assert named_files and [each for each in named_files if not (ROOT / each[1]).is_file()] == []


def test_every_rule_of_the_trusted_base_names_its_lemmas_and_every_lemma_is_named() -> None:
    table = (ROOT / "TRUSTED.md").read_text().split("## The rules")[1].split("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    in_table = {row[0].strip(): set(re.findall(r"`(\w+)`", row[-1])) for row in rows}
    assert all(in_table.values()), [rule for rule, found in in_table.items() if not found]
    rules = {name: lemma.rules for name, lemma in lemmas().items()}
    justifying = [name for name in rules if not name.startswith("errata.")]
    assert in_table == {rule: {name for name in justifying if rule in rules[name]} for rule in in_table}
    assert [name for name in rules if not set(rules[name]) <= {*in_table, "search"}] == []


X = z3.Real("x")
TRUE = Case("x + 1 is more than x", [X > 0], X + 1 > X)
FALSE = Case("x is more than 1", [X > 0], X > 1)
VACUOUS = Case("from a contradiction", [X > 0, X < 0], X > 1)
HARD = Case("out of time", [z3.ForAll(X, z3.Exists(z3.Real("y"), z3.Real("y") ** X == X + 3))], X == 0, seconds=0.1)


@pytest.mark.parametrize(
    "lemma",
    [
        Lemma((), (), (FALSE,), (FALSE,)),  # a claim that is false
        Lemma((), (), (VACUOUS,), (FALSE,)),  # hypotheses that contradict each other
        Lemma((), (), (HARD,), (FALSE,)),  # unknown
        Lemma((), (), (TRUE,), (TRUE,)),  # a twin that is true
        Lemma((), (), (TRUE,), (VACUOUS,)),
        Lemma((), (), (TRUE,), ()),  # no twin
        Lemma((), (), (), (FALSE,)),
    ],
)
def test_a_false_or_vacuous_lemma_fails(lemma: Lemma) -> None:
    assert len(run(lemma).failures) == 1
    assert run(Lemma((), (), (TRUE,), (FALSE,))).failures == ()


# The count of pairs of caps in proofs/errata: how a pair is decided, and that a wrong decision is noticed.


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
