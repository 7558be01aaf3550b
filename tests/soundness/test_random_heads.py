"""A small run of `verale.soundness.random_heads`: both kernels prove every certificate of random heads."""

from __future__ import annotations

from collections import Counter

import pytest

from verale.search.options import LEAST_TOLERANCE
from verale.soundness.random_heads import audit, emitted_of, random_case, random_tolerance

LONG = (3, 8, 9, 10, 11)  # 3 and 8 take longer than all others together


@pytest.mark.parametrize("seed", [pytest.param(n, marks=[pytest.mark.long] * (n in LONG)) for n in range(12)])
def test_what_is_emitted_is_proved(seed):
    counts: Counter[str] = Counter()
    assert audit(*random_case(seed), "both", counts) == []
    assert emitted_of(counts) > 0


WIDE = ((6, 0.3), (27, 0.01), (52, 0.1))
"""Cases and tolerances at which the checker did not prove what was emitted: cosines under `hypersphere`, and the
minimality of `assignment` (27)."""


@pytest.mark.parametrize(
    ("seed", "tolerance"),
    [*WIDE]
    + [
        pytest.param(seed, tolerance, marks=pytest.mark.long)
        for seed in range(12, 60)
        for tolerance in (LEAST_TOLERANCE, 0.001, 0.01, 0.1, 0.3)
        if (seed, tolerance) not in WIDE
    ],
)
def test_what_is_emitted_within_a_tolerance_is_proved(seed, tolerance):
    counts: Counter[str] = Counter()
    assert audit(*random_case(seed), "both", counts, tolerance=tolerance) == []
    assert emitted_of(counts) > 0 or (seed, tolerance) not in WIDE


def test_half_of_the_cases_have_a_tolerance():
    drawn = [random_tolerance(seed) for seed in range(200)]
    assert 60 < sum(tolerance == 0 for tolerance in drawn) < 140
    assert all(tolerance == 0 or LEAST_TOLERANCE <= tolerance <= 1 for tolerance in drawn)
    assert any(0 < tolerance < 1e-6 for tolerance in drawn) and any(tolerance > 0.1 for tolerance in drawn)
