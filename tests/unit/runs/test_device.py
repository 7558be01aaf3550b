"""Devices by name: what torch cannot use is refused with a remedy."""

from __future__ import annotations

import pytest
import torch

from verale.errors import UsageError
from verale.rounding import device
from verale.runs.options import use_device


def test_auto_is_the_faster_one(monkeypatch) -> None:
    """docs/decisions/0007 has what was measured."""
    asked: list[str] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(device, "require_device", asked.append)
    use_device("auto")
    assert asked == ["cpu"]


@pytest.mark.parametrize("name", ["abacus", "cpu:99999999999", "cuda:99", "meta", "mps"])
def test_a_device_that_cannot_be_used_is_refused_on_one_line(name) -> None:
    with pytest.raises(UsageError, match=f"device '{name}' cannot be used here .*try device='cpu'") as raised:
        use_device(name)
    assert "\n" not in str(raised.value)
