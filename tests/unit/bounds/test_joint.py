"""Joint margins and the weights that serve best, against exact values at latents that satisfy the statements."""

from __future__ import annotations

import math
from dataclasses import replace

import flint
import pytest
import safetensors.torch
import torch
from support.exact import PRECISION, differences
from support.joint import HEADS, joint_head
from support.small import small_head, varied_head
from torch import Tensor

from verale.bounds import Joint, margins_of, observe
from verale.bounds.joint import Facts, best_weights
from verale.certificate import Certificate, PatchStatement
from verale.checker import Status, check
from verale.errors import UsageError
from verale.head import Head, TopMeanPooling, digest, evaluate
from verale.rounding import Enclosure

INF = float("inf")


def hull(head: Head, images: Tensor) -> Enclosure:
    """(1, P) the least intervals that hold the observables of all these patches."""
    each = observe(head, images[:, 0])
    return Enclosure(each.lower.amin(0, keepdim=True), each.upper.amax(0, keepdim=True))


def alike(head: Head, seed: int, count: int = 6, spread: float = 0.2) -> tuple[Tensor, Tensor]:
    """Some latents (N, 1, D) near each other, and the class of the first."""
    generator = torch.Generator().manual_seed(seed)
    first = torch.rand(1, 1, head.depth, generator=generator).double()
    images = (first + spread * (torch.rand(count, 1, head.depth, generator=generator).double() - 0.5)).clamp(0, 1)
    return images, evaluate(head, images[:1]).predicted


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", HEADS)
def test_no_latents_that_satisfy_the_statements_have_a_smaller_margin(name: str, seed: int) -> None:
    head = joint_head(name, seed)
    images, predicted = alike(head, seed)
    stated = hull(head, images)
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.rand(4, head.size, generator=generator)
    lower = torch.where(drawn < 0.7, stated.lower, -INF)
    upper = torch.where((drawn > 0.3) & (drawn < 0.9), stated.upper, INF)
    joint = Joint(head)
    bounds = joint.margins(predicted.expand(4), lower, upper)
    for weights in (
        bounds.weights,
        bounds.weights * 1.01,
        bounds.weights * torch.tensor([[[0.9, 1.2, 1.0, 0.5, 1.1, 1.0]]])[..., : bounds.weights.shape[-1]],
    ):
        proved = joint.proved(predicted.expand(4), lower, upper, weights)
        with flint.ctx.workprec(PRECISION):
            for image in images:
                for rival, margin in enumerate(differences(head, image, int(predicted))):
                    if rival != int(predicted):
                        assert all(margin >= flint.arb(bound) for bound in proved[:, rival].tolist())
    assert torch.isinf(bounds.lower[:, predicted]).all()


@pytest.mark.parametrize("name", HEADS)
def test_if_everything_is_stated_the_margins_are_those_of_the_image(name: str) -> None:
    head = joint_head(name)
    images, predicted = alike(head, 1)
    logits = evaluate(head, images[:1]).logits[0]
    stated = hull(head, images[:1])
    proved = Joint(head).margins(predicted, stated.lower, stated.upper).lower[0]
    rivals = [rival for rival in range(head.classes) if rival != int(predicted)]
    expected = (logits[predicted] - logits)[rivals]
    assert torch.allclose(proved[rivals], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", HEADS)
def test_wide_statements_prove_no_less_than_term_by_term(name: str) -> None:
    head = joint_head(name)
    images, predicted = alike(head, 2)
    stated = hull(head, images)
    ends = (stated.lower, stated.upper) if not head.geometry.is_distance else (stated.upper, stated.lower)
    scale = 1.0 if head.scale is None else head.scale.double()
    sign = -1.0 if head.geometry.is_distance else 1.0
    box = Enclosure(*(sign * scale * end for end in ends))
    one_by_one = margins_of(head, predicted, 1).lower(box[None])[0, 0]
    proved = Joint(head).margins(predicted, stated.lower, stated.upper).lower[0]
    assert (proved >= one_by_one - 1e-6).all()
    assert (proved > one_by_one + 1e-3).any()


def test_a_missing_end_is_the_domain_s() -> None:
    head = joint_head("plain")
    images, predicted = alike(head, 3)
    stated = hull(head, images)
    joint = Joint(head)
    far = joint.margins(predicted, stated.lower, torch.full_like(stated.upper, INF)).lower
    farther = joint.margins(predicted, stated.lower, torch.full_like(stated.upper, 1e6)).lower
    assert torch.isfinite(far[0][far[0] < INF]).all() and (farther <= far + 1e-9).all() and (farther < far).any()


def test_prices_say_what_an_end_may_move() -> None:
    head = joint_head("negated")
    images, predicted = alike(head, 4)
    stated = hull(head, images)
    joint = Joint(head)
    bounds = joint.margins(predicted, stated.lower, stated.upper)
    rival = int(bounds.lower[0].argmin())
    price = bounds.weights[0, rival]
    lower = stated.lower - 0.01 * (price > 0).double()
    upper = stated.upper + 0.01 * (price < 0).double()
    moved = joint.proved(predicted, lower, upper, bounds.weights)[0, rival]
    assert float(moved) == pytest.approx(float(bounds.lower[0, rival] - 0.01 * price.abs().sum()), abs=1e-9)


def test_other_heads_have_no_such_target() -> None:
    for head in (
        small_head("euclidean"),
        small_head("softmax"),
        varied_head("quartic"),
        varied_head("inner product quadratic"),
        varied_head("maximum"),
        replace(varied_head("negated"), pooling=TopMeanPooling(2)),
    ):
        with pytest.raises(UsageError, match="joint"):
            Joint(head)


def test_no_explanations_have_no_margins() -> None:
    head = joint_head("plain")
    none = torch.zeros(0, head.size).double()
    assert Joint(head).margins(torch.zeros(0, dtype=torch.int64), none, none).lower.shape == (0, head.classes)


@pytest.mark.parametrize("name", HEADS)
def test_what_is_proved_here_is_proved_by_the_checker(name: str) -> None:
    """Wide statements and statements with one end, of some prototypes: else an audit would refuse what is emitted."""
    open_ends = 0
    for seed in range(3):
        head = joint_head(name, seed)
        images, predicted = alike(head, seed, spread=0.1)
        stated, generator = hull(head, images), torch.Generator().manual_seed(seed)
        drawn = torch.rand(head.size, generator=generator)
        lower = torch.where(drawn < 0.6, stated.lower, -INF)
        upper = torch.where((drawn > 0.2) & (drawn < 0.8), stated.upper, INF)
        margins = Joint(head).margins(predicted, lower, upper).lower[0]
        if not bool((margins > 0).all()):
            continue
        statements = tuple(
            PatchStatement(0, j, float(lower[0, j]), float(upper[0, j])) for j in range(head.size) if drawn[j] < 0.8
        )
        open_ends += int((drawn < 0.2).sum() + ((drawn > 0.6) & (drawn < 0.8)).sum())
        claimed = tuple(None if math.isinf(margin) else margin * (1 - 1e-9) for margin in margins.tolist())
        certificate = Certificate(
            head=head.digest,
            latents=digest(images[0]),
            predicted=int(predicted),
            paradigm="joint",
            patches=1,
            statements=statements,
            margins=claimed,
            minimal=False,
            version="0",
        )
        latents = safetensors.torch.save({"latents": images.contiguous()})
        verdict = check(certificate.to_bytes(), head.to_bytes(), latents, "both")
        assert verdict.status is Status.PROVED, verdict.message
    assert open_ends > 0


def distances(points: Tensor) -> Facts:
    """Squared distances to some points."""
    ones = torch.ones(len(points)).double()
    return Facts(ones, points, points.square().sum(1), ones * 4)


def bound(facts: Facts, targets: Tensor, lower: Tensor, upper: Tensor, weights: Tensor) -> Tensor:
    """(B,) h, as the module's docstring has it."""
    share = targets - weights
    curve = share @ facts.curves
    place = share @ facts.vectors / curve[:, None]
    values = facts.curves * place.square().sum(1, keepdim=True) - 2 * place @ facts.vectors.T + facts.constants
    ends = torch.where(weights > 0, lower, upper).masked_fill(weights == 0, 0.0)
    return (share * values + weights * ends).sum(1)


def row(*numbers: float) -> Tensor:
    return torch.tensor([numbers], dtype=torch.float64)


@pytest.mark.parametrize(
    ("lower", "upper", "least"),
    [
        ((1.0, -INF), (1.0, INF), 1.0),  # at the distance 1 from 0: (2 - 1)^2 from 2
        ((0.0, -INF), (0.25, INF), 2.25),
        ((0.25, -INF), (2.25, INF), 0.25),
        ((-INF, -INF), (2.25, INF), 0.25),
        ((1.0, 3.0), (1.0, 16.0), 3.0),  # stated of the target itself
    ],
)
def test_the_least_distance_between_two_points(
    lower: tuple[float, float], upper: tuple[float, float], least: float
) -> None:
    facts = distances(row(0.0, 2.0).T)
    targets, ends = row(0.0, 1.0), (row(*lower), row(*upper))
    weights = best_weights(facts, targets, *ends)
    assert float(bound(facts, targets, *ends, weights)) == pytest.approx(least, abs=1e-6)


def test_facts_that_say_nothing_have_no_weight() -> None:
    facts = distances(torch.rand(4, 3, generator=torch.Generator().manual_seed(0)).double())
    targets = torch.ones(2, 4).double()
    lower, upper = row(-INF, 0.1, -INF, -INF).expand(2, -1), row(INF, 0.2, INF, INF).expand(2, -1)
    weights = best_weights(facts, targets, lower, upper)
    assert (weights[:, [0, 2, 3]] == 0).all() and (weights[:, 1] != 0).all()
    assert (best_weights(facts, targets, lower - INF, upper + INF) == 0).all()


@pytest.mark.parametrize(("seed", "width"), [(0, 0.0), (1, 0.01), (2, 0.3)])
def test_no_weights_that_are_near_are_better(seed: int, width: float) -> None:
    """h is concave: where no small change makes it greater, nothing does."""
    generator = torch.Generator().manual_seed(seed)
    points, place = torch.rand(5, 4, generator=generator).double(), torch.rand(1, 4, generator=generator).double()
    facts = distances(points)
    observed = (place - points).square().sum(1)[None].expand(6, -1)
    lower, upper = observed * (1 - width), observed * (1 + width)
    hidden = torch.rand(5, generator=generator) < 0.4
    lower, upper = lower.masked_fill(hidden, -INF), upper.masked_fill(hidden, INF)
    targets = torch.randn(6, 5, generator=generator).double()
    weights = best_weights(facts, targets, lower, upper)
    best = bound(facts, targets, lower, upper, weights)
    assert torch.isfinite(best).all()
    assert (best <= (targets * observed).sum(1) + 1e-9).all()
    for size in (1e-2, 1e-3):
        for _ in range(40):
            other = weights + size * torch.randn(6, 5, generator=generator).double() * ~hidden
            near = bound(facts, targets, lower, upper, other)
            usable = (targets - other).sum(1) > 0
            assert (near[usable] <= best[usable] + 1e-5).all()
