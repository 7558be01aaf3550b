"""What float32 may compute: every logit that some order of operations gives lies in its interval."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.cases import every
from support.small import FOCAL, GEOMETRIES, VARIED, focal_head, small_head, small_latents, varied_head
from torch import Tensor

from benchmarks.architectures import cases
from tests.unit.adapters.test_published import reference
from verale.adapters.float32 import (
    _OBSERVED,
    _POOLED,
    _READ_OUT,
    _similarities,
    _widened,
    float32_logits,
    proved,
)
from verale.bounds.observables import observe
from verale.errors import LatentsError
from verale.head import (
    Cosine,
    Euclidean,
    Exponential,
    Head,
    LogRatio,
    StepChain,
    as_patches,
    evaluate,
    evaluate_observed,
    read_out,
)
from verale.head.head import similarity
from verale.rounding import Enclosure

PLAIN = {name: lambda seed, name=name: small_head(name, seed) for name in GEOMETRIES}
HEADS = {
    **PLAIN,
    **{name: lambda seed, name=name: varied_head(name, seed) for name in VARIED},
    **{f"{geometry} {kind}": lambda seed, g=geometry, k=kind: focal_head(g, k, seed) for geometry, kind in FOCAL},
}


def one_by_one(terms: Tensor, generator: torch.Generator) -> Tensor:
    """The sums over the last dimension, one term after the other, in a random order."""
    total = torch.zeros_like(terms[..., 0])
    for index in torch.randperm(terms.shape[-1], generator=generator).tolist():
        total = total + terms[..., index]
    return total


def distances(patches: Tensor, points: Tensor) -> dict[str, Tensor]:
    """Squared distances (N, L, P) in float32, as networks compute them, and worse."""
    generator = torch.Generator().manual_seed(11)
    z, p = patches[:, :, None].expand(-1, -1, len(points), -1), points.expand(*patches.shape[:2], -1, -1)
    largest_first = torch.cat([z.square(), p.square(), -2 * z * p], dim=-1).sort(descending=True).values
    cross, lengths = patches @ points.T, patches.square().sum(-1, keepdim=True)
    own = points.square().sum(-1)
    ways = {
        "mixed": one_by_one(torch.cat([z.square(), p.square(), -2 * z * p], dim=-1), generator),
        "largest first": largest_first.cumsum(-1)[..., -1],
        "lengths first": lengths + own - 2 * cross,
        "prototypes first": lengths + (own - 2 * cross),
        "products": torch.cdist(patches, points, compute_mode="use_mm_for_euclid_dist").square(),
        "differences": torch.cdist(patches, points, compute_mode="donot_use_mm_for_euclid_dist").square(),
    }
    return {way: computed.clamp(min=0) for way, computed in ways.items()}


def shuffled(head: Head, patches: Tensor, generator: torch.Generator) -> tuple[Head, Tensor]:
    """The same function with its channels in another order, so that sums over them have another order."""
    if head.prototypes is None:
        return head, patches
    order = torch.randperm(head.depth, generator=generator)
    return replace(head, prototypes=head.prototypes[:, order]), patches[..., order]


def in_float32(head: Head, latents: Tensor, generator: torch.Generator) -> list[Tensor]:
    """Logits that the head's formulas give in float32, computed in several ways."""
    patches = as_patches(latents).float()
    computed = []
    for _ in range(3):
        other, some = shuffled(head, patches, generator)
        computed.append(evaluate(other, some).logits)
        if isinstance(head.geometry, Euclidean):
            ways = distances(some, other.points.float())
            computed += [evaluate_observed(other, observed).logits for observed in ways.values()]
    return computed


@pytest.mark.parametrize("name", HEADS)
def test_float32_logits_lie_in_their_intervals(name):
    generator = torch.Generator().manual_seed(7)
    head = HEADS[name](0)
    latents = small_latents(head, images=5, patches=6)
    bounds = float32_logits(head, as_patches(latents))
    for logits in in_float32(head, latents, generator):
        assert logits.dtype == torch.float32
        assert bool(((bounds.lower <= logits) & (logits <= bounds.upper)).all())
    exact = head.logits(latents)
    assert bool(((bounds.lower < exact) & (exact < bounds.upper)).all())


@every("name", [name for name in HEADS if not name.startswith("euclidean")])
def test_the_intervals_are_narrow_enough_to_tell_something(name):
    head = HEADS[name](0)
    bounds = float32_logits(head, as_patches(small_latents(head, images=5, patches=6)))
    assert float((bounds.upper - bounds.lower).max()) < 0.05


@pytest.mark.parametrize("name", cases())
def test_what_published_code_computes_in_float32_lies_in_the_intervals(name, monkeypatch):
    """Also where the head holds folded numbers, for which the intervals rest on an allowance."""
    case = cases()[name]
    bounds = float32_logits(case.head(), as_patches(case.latents))
    monkeypatch.setattr(Tensor, "double", Tensor.float)
    computed = reference(name, case, case.latents)
    assert computed.dtype == torch.float32
    assert bool(((bounds.lower <= computed) & (computed <= bounds.upper)).all())


def test_latents_on_a_prototype_are_covered_however_their_distance_cancels():
    generator = torch.Generator().manual_seed(3)
    points = torch.rand(6, 128, generator=generator)
    head = Head(torch.eye(6), Euclidean(), LogRatio(1e-4), prototypes=points)
    latents = points[None, :3] + torch.tensor([0.0, 1e-6, 1e-3])[:, None]
    bounds = float32_logits(head, as_patches(latents))
    for observed in distances(latents, points).values():
        logits = evaluate_observed(head, observed).logits
        assert bool(((bounds.lower <= logits) & (logits <= bounds.upper)).all())
    assert float(bounds.upper.max()) < 9.3, "the clamp at 0 bounds the logarithm by ln(1 / epsilon)"


@pytest.mark.parametrize("exponential", [Exponential(), StepChain([{"kind": "negate"}, {"kind": "exp"}])], ids=repr)
def test_distances_that_come_out_below_0_are_covered_where_nothing_cuts_them(exponential):
    """As sums of three products they do, and exp(-d) is then above 1."""
    points = 100 * torch.rand(3, 7, generator=torch.Generator().manual_seed(5))
    head = Head(torch.eye(3), Euclidean(), exponential, points)
    lengths = points.square().sum(-1)
    computed = lengths[:, None] + lengths - 2 * points @ points.T - 2.0**-10  # as another order of sums may
    bounds = float32_logits(head, points.double()[:, None])
    assert (computed.diagonal() < 0).any()
    logits = torch.exp(-computed).double()
    assert ((bounds.lower <= logits) & (logits <= bounds.upper)).all()


def test_cosines_of_lengths_that_underflow_are_not_bounded():
    head = Head(torch.eye(2), Cosine(1e-8), varied_head("cosine rectified").similarity, prototypes=torch.rand(2, 3) + 1)
    bounds = float32_logits(head, as_patches(torch.full((1, 1, 3), 1e-22)))
    assert bool(torch.isinf(bounds.upper).all())


def test_folded_numbers_are_an_allowance_and_no_proof():
    head = small_head("euclidean")
    assert proved(head) and not proved(replace(head, weight=head.weight.double()))
    patches = as_patches(small_latents(head, images=2, patches=4))
    own, folded = (float32_logits(each, patches) for each in (head, replace(head, weight=head.weight.double())))
    assert bool((folded.lower < own.lower).all() & (own.upper < folded.upper).all())
    with pytest.raises(LatentsError, match="channels"):
        float32_logits(head, torch.rand(1, 4, 5, dtype=torch.float64))


# Each step alone: on the way through a whole head, the slack of one step may hide that of another.


def holds(ranges: Enclosure, computed: Tensor) -> bool:
    assert computed.dtype == torch.float32
    return bool(((ranges.lower <= computed) & (computed <= ranges.upper)).all())


@every("name", ["euclidean", "cosine", "rooted", "inner product", "softmax"])
@every("depth", [3, 64, 500])
def test_computed_observables(name, depth):
    build = small_head if name in GEOMETRIES else varied_head
    head = build(name, 1, depth=depth, prototypes=depth if name == "softmax" else 20)
    patches = as_patches(small_latents(head, images=3, patches=6))
    computed = head.geometry.observables(patches.float(), head.points.float())
    for image, of_image in zip(patches, computed, strict=True):
        exact = observe(head, image)
        assert not holds(exact, of_image), "float32 rounds, or this test tells nothing"
        assert holds(_widened(exact, _OBSERVED[type(head.geometry)](head.geometry, head, image, exact)), of_image)


def observed_in_float32(head: Head, seed: int) -> Tensor:
    """(N, L, P) exactly those of some float32 computation."""
    latents = as_patches(small_latents(head, images=4, patches=9, seed=seed)).float()
    return head.geometry.observables(latents, head.points.float())


@every("name", HEADS)
def test_computed_similarities(name):
    head = HEADS[name](2)
    for observed in observed_in_float32(head, 5):
        assert holds(_similarities(head, Enclosure.exact(observed)), similarity(head, observed))


@every("name", HEADS)
def test_computed_activations_and_logits(name):
    head = HEADS[name](2)
    for observed in observed_in_float32(head, 6):
        computed = head.pooling.pool(observed[None], lambda values: similarity(head, values))
        assert holds(_POOLED[type(head.pooling)](head.pooling, head, Enclosure.exact(observed)), computed)
    for activations in torch.rand(8, 1, head.size, generator=torch.Generator().manual_seed(8)):
        ranges = _READ_OUT[type(head.readout)](head.readout, head, Enclosure.exact(activations))
        assert holds(ranges, read_out(head, activations))
