"""The experiment's bounds hold, up to rounding to nearest, and use the domain."""

from __future__ import annotations

import pytest
import torch
from support.small import small_head, small_latents

from benchmarks import domain
from benchmarks.domain import DomainProjection
from benchmarks.heads import Subject
from verale.bounds import Projection, observe
from verale.head import Box, Cosine, Euclidean, Head, Identity, LogRatio

ROUNDING = 1e-7


@pytest.mark.parametrize("turns", [0, 3])
@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
@pytest.mark.parametrize("seed", range(5))
def test_the_truth_is_inside_and_the_domain_never_loosens(geometry, seed, turns):
    head = small_head(geometry, seed, prototypes=24, depth=8)
    latents = small_latents(head, images=1, patches=12, seed=seed)[0].double()
    # Latents on the domain's boundary, where a bound that were too tight would show.
    latents = (2 * latents - 0.5).clamp(0, 1)
    observed, paradigm = observe(head, latents), DomainProjection(head, turns)
    gained = 0.0
    for count in range(1, 6):
        stated = [list(range(count))] * len(latents)
        ranges, plain = paradigm.ranges(stated, observed), Projection(head).ranges(stated, observed)
        assert (ranges.lower <= observed.upper + ROUNDING).all()
        assert (ranges.upper >= observed.lower - ROUNDING).all()
        assert (ranges.lower >= plain.lower).all() and (ranges.upper <= plain.upper).all()
        gained += float((plain.upper - plain.lower - ranges.upper + ranges.lower).sum())
    assert gained > 0.1


@pytest.mark.parametrize("turns", [0, 3])
@pytest.mark.parametrize(
    ("geometry", "points", "latent", "expected"),
    [
        (Cosine(0.0), [[1, 0, 0], [0, 1, -1]], [0.6, 0.8, 0.0], (-(0.32**0.5), 0.32**0.5)),
        (Euclidean(), [[0, 0], [1, 0], [0, 1]], [0.5, 0.5], (0.5, 1.5)),
        (Euclidean(), [[1, 1], [0, 1], [1, 0]], [0.5, 0.5], (0.5, 1.5)),
    ],
)
def test_both_ends_are_attained_where_the_domain_cuts_the_free_direction(geometry, points, latent, expected, turns):
    """The statements leave a sphere, of which the domain allows a part; its ends are known."""
    distances = isinstance(geometry, Euclidean)
    similarity, box = (LogRatio(1e-4), Box(0, 1)) if distances else (Identity(), Box(0, None))
    prototypes = torch.tensor(points, dtype=torch.float32)
    head = Head(torch.ones(2, len(points)), geometry, similarity, prototypes=prototypes, domain=box)
    observed = observe(head, torch.tensor([latent], dtype=torch.float64))
    ranges = []
    for paradigm in (Projection(head), DomainProjection(head, turns)):
        known = paradigm.ranges([list(range(len(points) - 1))], observed)
        ranges.append((float(known.lower[0, -1]), float(known.upper[0, -1])))
    plain, tighter = ranges
    assert tighter == pytest.approx(expected, abs=1e-6)
    assert plain[1] > expected[1] + 0.1


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_it_runs_and_reports_every_variant(geometry, monkeypatch, capsys):
    head = small_head(geometry)
    subject = Subject("tiny", head, None, small_latents(head, images=2), "synthetic, tiny")
    monkeypatch.setattr(domain, "build", lambda *_: subject)
    assert domain.main(["--heads", "tiny", "--images", "2", "--turns", "0,1"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("  shrink: size") == 2 and printed.count("image 1: plain") == 2
