"""What the search in rounds sees of images: likenesses, and the similarities and margins that follow from them."""

from __future__ import annotations

import pytest
import torch
from support.named import problem_named

from verale.bounds import Projection
from verale.bounds.similarity import dissimilarity
from verale.rounding import Enclosure
from verale.search.rounds.images import Images, likeness_between, likeness_of

NAMES = ("euclidean", "scaled", "cosine", "exponential", "quartic", "cosine quadratic", "inner product", "masked")
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(params=NAMES)
def subject(request):
    problem = problem_named(request.param)
    return problem, Images(problem, Projection(problem.head))


def test_activations_are_the_similarities_of_the_greatest_likeness(subject):
    _, images = subject
    greatest = images.likeness.gather(1, images.attained[:, None])[:, 0]
    assert torch.equal(greatest, images.likeness.amax(1))
    torch.testing.assert_close(images.similar(greatest.clone()), images.actual, **CLOSE)


def test_weights_and_biases_give_the_margins_of_the_images(subject):
    problem, images = subject
    margins = (images.weights @ images.actual[:, :, None])[:, :, 0] + images.bias
    exact = Enclosure(problem.activations.lower[:, None], problem.activations.upper[:, None])
    torch.testing.assert_close(margins, problem.margins.lower(exact)[:, 0], rtol=1e-6, atol=1e-6)


def test_ranges_of_observables_become_ranges_of_likeness(subject):
    """Whatever observable is in a range, its likeness is in that range's; the ends are attained."""
    problem, images = subject
    middle = (problem.observed.lower + problem.observed.upper) / 2
    least = middle - 0.3
    ranges = Enclosure(least.clamp(min=0) if images.space.is_distance else least, middle + 0.2)
    ends = ranges.lower.clone(), ranges.upper.clone()
    steps = torch.linspace(0, 1, 101, dtype=torch.float64)[:, None, None]
    within = -torch.stack([dissimilarity(problem.head, each) for each in ends[0] + steps * (ends[1] - ends[0])])
    low, high = likeness_of(ranges, images.space)
    torch.testing.assert_close(within.amin(0), low, **CLOSE)
    assert bool((within.amax(0) <= high + 1e-9).all())
    torch.testing.assert_close(within.amax(0), high, rtol=0, atol=0.01)


def test_likeness_falls_on_both_sides_of_a_peak():
    low, high, peak = torch.tensor([[-1.0, 1.0, -3.0], [2.0, 4.0, -1.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    least, greatest = likeness_between(low, high, peak)
    assert (least.tolist(), greatest.tolist()) == ([-2.0, -4.0, -3.0], [0.0, -1.0, -1.0])
    least, greatest = likeness_between(low, high, None)
    assert least is low and greatest is high
