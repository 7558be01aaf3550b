"""Margins move with the activations that change, however many there are."""

from __future__ import annotations

import numpy as np
import pytest

from verale.search.compiled.margins import add_changes, no_changes


@pytest.mark.parametrize("count", range(8))
def test_each_change_counts_once(count):
    generator = np.random.default_rng(count)
    weights, margins = generator.normal(size=(9, 5)), generator.normal(size=5)
    changes = no_changes(9)
    changes.prototype[:9] = generator.permutation(9)
    changes.above[:9], changes.below[:9] = -generator.random(9), generator.random(9)
    expected = margins.copy()
    for at in range(count):
        chosen = weights[changes.prototype[at]]
        expected += chosen * np.where(chosen > 0, changes.below[at], changes.above[at])
    add_changes(weights, changes, count, margins)
    np.testing.assert_allclose(margins, expected, rtol=1e-12)
