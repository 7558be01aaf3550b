"""A small run of the section `emitted` of `verale soundness`: both kernels prove every certificate of random heads.

Many more heads: `verale soundness --only emitted --long`, and `python -m benchmarks.emitted`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from verale.head import Geometry, Head, Pooling, Readout, StepChain, load_latents
from verale.head.similarity import NamedSimilarity, NamedSteps
from verale.search.digits import LEAST_TOLERANCE
from verale.soundness.combinations import TOLERANCES, Draw, draws, searches
from verale.soundness.compare import Group, Question, emitted, explained, unproved
from verale.soundness.corpus.cases import stored

FILES = Path(__file__).parents[1] / "fixtures" / "wide"
WIDE = {"6": 0.3, "27": 0.01, "52": 0.1}
"""Heads and tolerances at which the checker did not prove what was emitted: cosines under `hypersphere`, and the
minimality of `assignment` (27)."""
LARGER = (LEAST_TOLERANCE, 0.3)
"""Tolerances below and above those of draws."""


NUMBERS = (*range(48), 56, 65, 99, 101)
"""The draws that are tried: the last ones have what those before lack, as one of them alone has `assignment`."""


def drawn(numbers: Iterable[int]) -> list[Draw]:
    return [each for _, each in draws(numbers, images=2)]


GROUPS = [NUMBERS[start : start + 4] for start in range(0, len(NUMBERS), 4)]
"""The classes of some images tie, and then nothing is emitted; of four heads some is."""


@pytest.mark.parametrize("group", [pytest.param(g, marks=[pytest.mark.long] * (7 < g[0] < 48)) for g in GROUPS])
def test_what_is_emitted_is_proved(group):
    tried, lines = unproved(emitted(group, 2), "both")
    assert tried > 0 and lines == []


@pytest.mark.parametrize("number", [pytest.param(n, marks=[pytest.mark.long] * (n > 1)) for n in range(16)])
def test_what_is_emitted_within_other_tolerances_is_proved(number):
    """Within the greater one few heads have an explanation."""
    (each,) = drawn([101 + number])
    tried, lines = unproved([explained("", each.head, each.latents, LARGER[number % 2])], "both")
    assert lines == []
    assert tried > 0 or LARGER[number % 2] > LEAST_TOLERANCE


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.long] * (n == "6")) for n in WIDE])
def test_what_once_was_not_proved_is_proved(name):
    head, latents = Head.load(FILES / f"{name}.head.safetensors"), load_latents(FILES / f"{name}.latents.safetensors")
    tried, lines = unproved([explained(name, head, latents, WIDE[name])], "both")
    assert tried > 0 and lines == []


def test_what_is_not_proved_is_told() -> None:
    case = next(case for case in stored("reject") if (case.status, case.reason) == ("NOT_PROVED", "margin"))
    tried, (line,) = unproved([Group(case.head, case.latents, (Question(case.name, case.certificate),))], "arb")
    assert tried == 1 and line.startswith(f"{case.name}: margin: ")


def parts(each: Draw) -> set[object]:
    """What the head of a draw is made of, and how it is explained."""
    head = each.head
    return {*(type(part) for part in (head.geometry, head.similarity, head.pooling, head.readout)), *searches(head)}


def kinds_of(base: type) -> set[type]:
    """What is derived from it, but for what is derived from again."""
    below = base.__subclasses__()
    return {base} if not below else set().union(*map(kinds_of, below))


def test_a_few_draws_have_every_part_and_tolerance() -> None:
    few = drawn(NUMBERS)
    had = set().union(*map(parts, few))
    similarities = {*NamedSimilarity.__subclasses__(), StepChain} - {NamedSteps}
    assert {*Geometry.__subclasses__(), *similarities, *kinds_of(Pooling)} <= had
    assert set(Readout.__subclasses__()) <= had
    assert set().union(*map(parts, drawn(range(200)))) <= had
    assert {each.tolerance for each in few} == set(TOLERANCES)
