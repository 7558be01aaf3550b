"""A small run of `verale.soundness.random_heads`: both kernels prove every certificate of random heads."""

from __future__ import annotations

from collections import Counter

import pytest

from verale.soundness.random_heads import audit, emitted_of, random_case

LONG = (3, 8, 9, 10, 11)  # 3 and 8 take longer than all others together


@pytest.mark.parametrize("seed", [pytest.param(n, marks=[pytest.mark.long] * (n in LONG)) for n in range(12)])
def test_what_is_emitted_is_proved(seed):
    counts: Counter[str] = Counter()
    assert audit(*random_case(seed), "both", counts) == []
    assert emitted_of(counts) > 0
