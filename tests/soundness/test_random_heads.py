"""A small run of `verale.soundness.random_heads`: whatever is emitted for random heads, both kernels prove."""

from __future__ import annotations

from collections import Counter

import pytest

from verale.soundness.random_heads import audit, emitted_of, random_case


@pytest.mark.parametrize("seed", range(12))
def test_what_is_emitted_is_proved(seed):
    found: Counter[str] = Counter()
    assert audit(*random_case(seed), "both", found) == []
    assert emitted_of(found) > 0
