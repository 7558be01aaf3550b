"""Devices that do not compute in float64 as the bounds need it are refused, with a remedy."""

from __future__ import annotations

import pytest
import torch

from verale.errors import UsageError
from verale.rounding import require_float64


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> str:
    """A device of the kind CUDA, as far as it is looked at here."""
    made = torch.full
    monkeypatch.setattr(torch, "full", lambda *shape, device, **more: made(*shape, **more))
    return "cuda:0"


@pytest.mark.parametrize("value", ["1", "true"])
def test_emulated_products_are_refused(value: str, cuda: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUBLAS_EMULATE_DOUBLE_PRECISION", value)
    with pytest.raises(UsageError, match=r"'cuda:0' cannot be used while .* is set: .*unset CUBLAS_EMULATE"):
        require_float64(cuda)
    require_float64("cpu")


@pytest.mark.parametrize("value", ["", "0"])
def test_cublas_without_emulation_is_not(value: str, cuda: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUBLAS_EMULATE_DOUBLE_PRECISION", value)
    require_float64(cuda)


def test_a_device_that_computes_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = torch.full
    monkeypatch.setattr(torch, "full", lambda *shape, dtype, **more: made(*shape, dtype=torch.float32, **more))
    with pytest.raises(UsageError, match=r"in float64, eight times 0.1 gives 0\.8"):
        require_float64("cpu")
