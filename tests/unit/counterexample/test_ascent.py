"""The ascent with a penalty."""

from __future__ import annotations

from dataclasses import replace

import torch
from support.boxes import coordinates

from verale.certificate import ActivationStatement
from verale.counterexample.demands import demands_of
from verale.counterexample.search import ascend
from verale.head import evaluate_observed, observables


def test_what_is_bounded_stays_near_its_bounds_and_the_rest_is_raised() -> None:
    head, certificate = coordinates(3, (2.0, 0.0))
    bounded = replace(certificate, statements=(ActivationStatement(0, 0.25, 0.5), ActivationStatement(1, 0.0, 0.0)))
    start = torch.full((2, 1, 3), 0.3, dtype=torch.float64)
    demands = demands_of(head, bounded, start[0], known=False)

    def ascended(pinned: bool) -> torch.Tensor:
        asked = replace(demands, pinned=torch.tensor([pinned]))
        return ascend(
            *(asked, start, observables, lambda observed: evaluate_observed(head, observed).logits),
            *(lambda logits: logits[:, 1] - logits[:, 0], 300),
        )

    assert torch.equal(ascended(pinned=True), start)
    for first, second, third in ascended(pinned=False)[:, 0].tolist():
        assert abs(second) < 0.01 and third > 0.3 and 0.24 < first < 0.51
