"""What is measured of a step: the work is done, and the checker counts steps for it."""

from __future__ import annotations

from itertools import islice

import pytest

from benchmarks import prices


@pytest.mark.parametrize("kernel", ["arb", "mpmath"])
def test_ranges_are_found_and_counted(kernel: str, monkeypatch) -> None:
    monkeypatch.setattr(prices, "_COUNTS", {kernel: 50})
    ranges, without = islice(prices.kinds(kernel), 2)
    assert (ranges.name, without.name) == ("ranges", "ranges without")
    assert all(box is not None for _, box in without.action())
    (once, seconds), (inward, longer) = prices.measured(ranges, 1), prices.measured(without, 1)
    assert 0 < once < inward and seconds > 0 and longer > 0
