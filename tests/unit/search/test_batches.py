"""Batches: every image is observed once, whatever is asked about it."""

from __future__ import annotations

import sys

import pytest
import torch
from support.small import VARIED, small_head, small_latents, varied_head

from verale import bounds
from verale.bounds import observe, pooling_of
from verale.head import read_out
from verale.runs.explain import open_run
from verale.runs.options import RunOptions
from verale.search import Batches, SearchOptions


@pytest.fixture
def observed(monkeypatch) -> list[int]:
    """One entry for every image that is observed, from whichever module."""
    calls = []
    original = bounds.observe

    def counted(head, images):
        calls.extend([1] * (len(images) if images.dim() > 2 else 1))
        return original(head, images)

    for name, module in list(sys.modules.items()):
        if name.startswith("verale.") and getattr(module, "observe", None) is original:
            monkeypatch.setattr(module, "observe", counted)
    return calls


@pytest.mark.parametrize("paradigm", ["projection", "top_k"])
def test_a_run_observes_every_image_once(paradigm, observed, tmp_path) -> None:
    head = small_head("euclidean")
    options = SearchOptions(paradigm, batch=2)
    with open_run(tmp_path, head, small_latents(head, images=5), options, how=RunOptions(1)) as run:
        rows = list(run)
    assert all(row.score is not None for row in rows)
    assert len(observed) == len(rows) == 5


def test_the_counter_counts(observed) -> None:
    head = small_head("euclidean")
    batches = Batches(head, small_latents(head, images=2), SearchOptions("projection"))
    batches.explain(0)
    batches.explain(0)
    assert len(observed) == 4


@pytest.mark.parametrize(("name", "tolerance"), [(name, 0.01 * (at % 2)) for at, name in enumerate(VARIED)])
def test_logits_are_those_at_the_midpoints_of_the_activations(name, tolerance) -> None:
    """And depend neither on the tolerance nor on the rest of the batch."""
    head = varied_head(name)
    batches = Batches(head, small_latents(head, images=3), SearchOptions("top_k", tolerance=tolerance))
    for image, result in zip(batches.images.double(), batches.explain(0), strict=True):
        ranges = observe(head, image)
        activations = pooling_of(head).box(ranges.view(1, *ranges.shape))
        expected = read_out(head, (activations.lower + activations.upper) / 2)[0]
        torch.testing.assert_close(result.logits, expected, rtol=1e-12, atol=1e-12)
