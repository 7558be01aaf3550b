"""Hypersphere: explanations under the published bounds."""

from __future__ import annotations

import pytest
from support.published import require_its_own_and_no_smaller

from verale.bounds import Hypersphere


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_explanations_are_its_own_and_no_smaller(geometry):
    require_its_own_and_no_smaller("hypersphere", Hypersphere, geometry)
