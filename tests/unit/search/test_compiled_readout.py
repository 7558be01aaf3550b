"""Trees and maxima in machine code: margins as the rounded ones are, and wishes that help."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.compiled import NOT_LINEAR, first_image

from verale.rounding import Enclosure
from verale.search.compiled.margins import no_changes
from verale.search.compiled.readout import change_margins, read_out_margins, wishes


def random_box(image, seed):
    """(2, P) upper and lower ends around the activations."""
    generator = np.random.default_rng(seed)
    width = generator.random((2, len(image.actual)))
    return image.actual + width[0], image.actual - width[1]


def rounded(problem, high, low):
    box = Enclosure(torch.from_numpy(low)[None, None], torch.from_numpy(high)[None, None])
    rivals = problem.margins.rivals[0] != problem.margins.predicted[0]
    return problem.margins.lower(box)[0, 0, rivals].numpy()


@pytest.mark.parametrize("name", NOT_LINEAR)
@pytest.mark.parametrize("seed", range(3))
def test_margins_are_the_rounded_ones(name, seed):
    problem, _, image = first_image(name)
    high, low = random_box(image, seed)
    margins = np.empty(len(image.bias))
    read_out_margins(image.readout, high, low, margins)
    np.testing.assert_allclose(margins, rounded(problem, high, low), atol=1e-9)

    changes, changed = no_changes(len(high)), np.empty(len(image.bias))
    changes.prototype[:2], changes.above[:2], changes.below[:2] = (1, 4), (-0.1, 0.0), (0.0, 0.2)
    change_margins(image.readout, image.weights, changes, 2, high, low, changed)
    high[1], low[4] = high[1] - 0.1, low[4] + 0.2
    np.testing.assert_allclose(changed, rounded(problem, high, low), atol=1e-9)


@pytest.mark.parametrize("name", NOT_LINEAR)
@pytest.mark.parametrize("seed", range(3))
def test_wishes_are_what_helps(name, seed):
    """Knowing all activations that are wished for raises the margin."""
    _, _, image = first_image(name, seed)
    high, low = image.actual + 0.8, image.actual - 0.8
    margins, after, wish = np.empty(len(image.bias)), np.empty(len(image.bias)), np.empty(len(high))
    read_out_margins(image.readout, high, low, margins)
    worst = int(margins.argmin())
    wishes(image.readout, image.weights, worst, image.actual, high, low, wish)
    assert (wish != 0).any()
    high, low = np.where(wish < 0, image.actual, high), np.where(wish > 0, image.actual, low)
    read_out_margins(image.readout, high, low, after)
    assert after[worst] > margins[worst]


def test_of_a_linear_readout_wishes_are_weights():
    _, _, image = first_image("euclidean")
    wish = np.empty(len(image.actual))
    wishes(image.readout, image.weights, 1, image.actual, image.actual, image.actual, wish)
    np.testing.assert_array_equal(wish, image.weights[:, 1])
