"""The domain's range holds every latent of the domain, and its corners come near it."""

from __future__ import annotations

import pytest
import torch

from verale.bounds import domain_range, observe
from verale.errors import LatentsError
from verale.head import Box, Cosine, Euclidean, Head, Identity, LogRatio, Softmax

POINTS = torch.randn(6, 3, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("box", [Box(0, 1), Box(-0.5, 0.25), Box()], ids=str)
def test_squared_distances_over_a_box(box):
    head = Head(torch.ones(2, 6), Euclidean(), LogRatio(), prototypes=POINTS, domain=box)
    found = domain_range(head)
    if box.upper is None:
        assert (found.lower == 0).all() and (found.upper == torch.inf).all()
        return
    axis = torch.linspace(box.lower, box.upper, 21, dtype=torch.float64)
    inside = observe(head, torch.cartesian_prod(axis, axis, axis))
    assert (found.lower <= inside.lower.amin(0) + 1e-12).all() and (inside.upper.amax(0) - 1e-12 <= found.upper).all()
    assert torch.allclose(found.upper, inside.upper.amax(0), rtol=1e-12)


@pytest.mark.parametrize("box", [Box(0, None), Box(0, 1), Box(-1, 1)], ids=str)
def test_cosines(box):
    points = torch.cat([POINTS, POINTS[:1].abs(), -POINTS[:1].abs()])
    head = Head(torch.ones(2, 8), Cosine(1e-8), Identity(), prototypes=points, domain=box)
    found = domain_range(head)
    lower = -1.0 if box.lower < 0 else 0.0
    axis = torch.linspace(lower, 1, 21, dtype=torch.float64)
    seen = observe(head, torch.cartesian_prod(axis, axis, axis))
    assert (found.lower <= seen.upper.amin(0)).all() and (seen.lower.amax(0) <= found.upper).all()
    if box.lower == 0:
        assert torch.allclose(found.upper, seen.upper.amax(0), atol=5e-3)
        assert found.lower[6] == 0 and found.upper[7] == 0
    else:
        assert (found.lower == -1).all() and (found.upper == 1).all()


def test_a_single_mass_is_one():
    found = domain_range(Head(torch.ones(2, 1), Softmax(), Identity()))
    assert (found.lower.item(), found.upper.item()) == (1.0, 1.0)


def test_softmax():
    found = domain_range(Head(torch.ones(2, 4), Softmax(), Identity()))
    assert (found.lower == 0).all() and (found.upper == 1).all()


@pytest.mark.parametrize(
    ("head", "latents", "reason"),
    [
        (Head(torch.ones(2, 6), Euclidean(), LogRatio(), prototypes=POINTS, domain=Box(0, 1)), [[0.5, 1.5, 0]], "1.5"),
        (
            Head(torch.ones(2, 6), Euclidean(), LogRatio(), prototypes=POINTS, domain=Box(0, 1)),
            [[0.5, -0.1, 0]],
            "-0.1",
        ),
        (Head(torch.ones(2, 6), Cosine(0.0), Identity(), prototypes=POINTS), [[0.0, 0, 0]], "zero vector"),
        (Head(torch.ones(2, 6), Euclidean(), LogRatio(), prototypes=POINTS), [[0.0, 0]], "2 channels"),
    ],
)
def test_latents_outside_the_domain_are_refused(head, latents, reason):
    with pytest.raises(LatentsError, match=reason):
        observe(head, torch.tensor(latents, dtype=torch.float64))
