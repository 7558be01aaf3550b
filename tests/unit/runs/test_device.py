"""Devices by name: what torch cannot use is refused with a remedy."""

from __future__ import annotations

import pytest
import torch

from verale.errors import UsageError
from verale.runs.device import device_named


def test_the_cpu_is_always_there() -> None:
    assert device_named("cpu") == "cpu"


@pytest.mark.parametrize(("available", "name"), [(True, "cuda"), (False, "cpu")])
def test_auto_takes_cuda_where_there_is_one(available, name, monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: available)
    monkeypatch.setattr("verale.rounding.require_float64", lambda device: None)
    assert device_named("auto") == name


@pytest.mark.parametrize("name", ["abacus", "cpu:99999999999", "cuda:99", "meta", "mps"])
def test_a_device_that_cannot_be_used_is_refused_on_one_line(name) -> None:
    with pytest.raises(UsageError, match=f"device '{name}' cannot be used here .*try --device cpu") as raised:
        device_named(name)
    assert "\n" not in str(raised.value)
