"""Maxima: the best lower end of the class against the best upper end of a rival."""

from __future__ import annotations

import pytest
import torch

from verale.bounds.margin import MaximumMargins
from verale.head import Box, Cosine, Head, Identity, Maximum
from verale.rounding import Enclosure


def mixture(weight: list[list[int]], bias: list[float] | None = None) -> Head:
    return Head(
        torch.tensor(weight, dtype=torch.float64),
        Cosine(1e-8),
        Identity(),
        prototypes=torch.eye(len(weight[0])),
        bias=None if bias is None else torch.tensor(bias),
        domain=Box(0, 1),
        readout=Maximum(),
    )


def lower(head: Head, predicted: int, least: list[float], most: list[float]) -> list[float]:
    box = Enclosure(torch.tensor([[least]], dtype=torch.float64), torch.tensor([[most]], dtype=torch.float64))
    bounds: list[float] = MaximumMargins.of(head, torch.tensor([predicted]), 1).lower(box)[0, 0].tolist()
    return bounds


def test_classes_of_different_sizes():
    """The class with one prototype is not helped by the padding of the table."""
    head = mixture([[1, 0, 0, 0], [0, 1, 1, 1]])
    least, most = [0.5, 0.1, 0.2, 0.3], [0.9, 0.2, 0.25, 0.75]
    bounds = lower(head, 0, least, most)
    assert bounds[0] == torch.inf and bounds[1] <= -0.25 and bounds[1] == pytest.approx(-0.25, abs=1e-15)
    assert lower(head, 1, least, most)[0] == pytest.approx(0.3 - 0.9, abs=1e-15)


def test_the_bias_moves_each_prototype():
    head = mixture([[1, 1, 0], [0, 0, 1]], [0.5, 0.0, 0.25])
    assert lower(head, 0, [0.25, 0.5, 0.0], [1, 1, 0.5])[1] == pytest.approx(0.75 - 0.75, abs=1e-15)


def test_a_prototype_of_both_classes_may_help_the_rival():
    """It is bounded from each side apart: sound, and not exact."""
    head = mixture([[1, 1, 0], [0, 1, 1]])
    assert lower(head, 0, [0.2, 0.4, 0.0], [0.3, 0.9, 0.1])[1] == pytest.approx(0.4 - 0.9, abs=1e-15)
