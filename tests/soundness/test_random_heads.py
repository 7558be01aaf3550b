"""A small run of `verale.soundness.random_heads`: both kernels prove every certificate of random heads.

Many more heads: `verale soundness --only emitted --long`, and `python -m benchmarks.emitted` with tolerances.
"""

from __future__ import annotations

from collections import Counter

import pytest

from verale.head import Geometry, Pooling, Readout, Similarity
from verale.search.options import LEAST_TOLERANCE
from verale.soundness.random_heads import audit, emitted_of, random_case, random_tolerance, searches

LONG = (2, 3, 6, 8, 9, 10, 11)  # 3 and 8 take longer than all others together


@pytest.mark.parametrize("seed", [pytest.param(n, marks=[pytest.mark.long] * (n in LONG)) for n in range(12)])
def test_what_is_emitted_is_proved(seed):
    counts: Counter[str] = Counter()
    assert audit(*random_case(seed), "both", counts) == []
    assert emitted_of(counts) > 0


WIDE = ((6, 0.3), (27, 0.01), (52, 0.1))
"""Cases and tolerances at which the checker did not prove what was emitted: cosines under `hypersphere`, and the
minimality of `assignment` (27)."""


def parts(seed: int) -> set[object]:
    """What the head of a case is made of, and how it is explained."""
    head, _ = random_case(seed)
    return {*(type(part) for part in (head.geometry, head.similarity, head.pooling, head.readout)), *searches(head)}


def seeds_of_every_part(seeds: range) -> list[int]:
    """The seeds that have a part, or a paradigm and order, which no earlier one has."""
    had: set[object] = set()
    chosen = []
    for seed in seeds:
        if parts(seed) - had:
            chosen.append(seed)
            had |= parts(seed)
    return chosen


CHOSEN = seeds_of_every_part(range(12, 100))
TOLERANCES = (LEAST_TOLERANCE, 0.001, 0.01, 0.1, 0.3)
"""Each seed is tried within two of these, each of these with six seeds."""


@pytest.mark.parametrize(
    ("seed", "tolerance"),
    [pytest.param(*case, marks=[pytest.mark.long] * (case == WIDE[0])) for case in WIDE]  # 52 has its geometry
    + [
        pytest.param(seed, tolerance, marks=pytest.mark.long)
        for number, seed in enumerate(CHOSEN)
        for tolerance in (TOLERANCES[number % 5], TOLERANCES[(number + 2) % 5])
        if (seed, tolerance) not in WIDE
    ],
)
def test_what_is_emitted_within_a_tolerance_is_proved(seed, tolerance):
    counts: Counter[str] = Counter()
    assert audit(*random_case(seed), "both", counts, tolerance=tolerance) == []
    assert emitted_of(counts) > 0 or (seed, tolerance) not in WIDE


def test_the_heads_within_a_tolerance_have_every_part() -> None:
    had = set().union(*map(parts, CHOSEN))
    assert {*Geometry.__subclasses__(), *Similarity.__subclasses__(), *Pooling.__subclasses__()} <= had
    assert set(Readout.__subclasses__()) <= had
    assert set().union(*map(parts, range(200))) <= had
    assert len(CHOSEN) < 20


def test_half_of_the_cases_have_a_tolerance():
    drawn = [random_tolerance(seed) for seed in range(200)]
    assert 60 < sum(tolerance == 0 for tolerance in drawn) < 140
    assert all(tolerance == 0 or LEAST_TOLERANCE <= tolerance <= 1 for tolerance in drawn)
    assert any(0 < tolerance < 1e-6 for tolerance in drawn) and any(tolerance > 0.1 for tolerance in drawn)
