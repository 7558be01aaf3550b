"""Joint: margins as one target, against exact values at latents that satisfy the statements."""

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


@pytest.mark.parametrize("seed", range(4))
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
