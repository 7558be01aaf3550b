"""Coverage: which images satisfy statements, against the head's reference evaluation."""

from __future__ import annotations

import pytest
import torch
from support.small import GEOMETRIES, small_head, small_latents

from verale.certificate import ActivationStatement, FloorStatement, OrderStatement, PatchStatement, SumStatement
from verale.head import as_patches, evaluate
from verale.rules import coverage
from verale.rules.coverage import coverage_of

INF = torch.inf


def truth(statement, done) -> torch.Tensor:
    """(N,) whether a statement is true in float64."""
    match statement:
        case PatchStatement(patch, j, lower, upper):
            number = done.observables[:, patch, j, None]
        case OrderStatement(exempt, upper):
            others = [j for j in range(done.activations.shape[1]) if j not in exempt]
            lower, number = -INF, done.activations[:, others]
        case FloorStatement(exempt, lower):
            others = [j for j in range(done.activations.shape[1]) if j not in exempt]
            upper, number = INF, done.activations[:, others]
        case ActivationStatement(j, lower, upper):
            number = done.activations[:, j, None]
    return ((number >= lower) & (number <= upper)).all(1)


def statements(done) -> list:
    """Every form, one-sided and not, each true of about half of the images."""
    middle, patch = done.activations.median(0).values, done.observables[:, 2].median(0).values
    high, low = (done.activations[:, 3:].amax(1).median(), done.activations[:, 3:].amin(1).median())
    return [
        PatchStatement(2, 1, -INF, float(patch[1])),
        PatchStatement(2, 4, float(patch[4]) - 0.1, float(patch[4]) + 0.1),
        ActivationStatement(0, float(middle[0]), INF),
        ActivationStatement(5, -INF, float(middle[5])),
        OrderStatement((0, 1, 2), float(high)),
        FloorStatement((0, 1, 2), float(low)),
        OrderStatement((), -1e6),
        OrderStatement(tuple(range(done.activations.shape[1])), -1e6),
    ]


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_images_that_satisfy_each_statement(geometry, monkeypatch):
    monkeypatch.setattr(coverage, "_CHUNK", 700)  # several parts
    head = small_head(geometry)
    images = as_patches(small_latents(head, images=40))
    done = evaluate(head, images)
    said = statements(done)
    covers = [coverage_of(head, images, [each], 0) for each in said]
    for cover, each in zip(covers, said, strict=True):
        true = truth(each, done)
        assert (cover.certain <= true).all() and (true <= cover.possible).all()
        assert int((cover.possible & ~cover.certain).sum()) <= 1  # the median itself is an end
        assert cover.proposed == [image for image, maybe in enumerate(cover.possible.tolist()) if maybe]
    assert 0 < int(covers[2].certain.sum()) < 40
    assert not covers[6].possible.any() and covers[7].certain.all()


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_images_that_satisfy_a_sum(geometry):
    """What is taken back in float64 decides, but where it is just the sum."""
    head = small_head(geometry)
    images = as_patches(small_latents(head, images=40))
    activations, weight = evaluate(head, images).activations, head.weight.double()
    for predicted in range(head.classes):
        others = (weight > weight[predicted]).any(0)
        taken = ((weight - weight[predicted]) * others) @ activations.T
        for rivals in (None, *((c,) for c in range(head.classes) if c != predicted)):
            most = taken[[c for c in range(head.classes) if c != predicted] if rivals is None else list(rivals)].amax(0)
            upper = max(0.0, float(most.median()) + 1e-6)
            cover = coverage_of(head, images, [SumStatement(rivals, upper)], predicted)
            assert torch.equal(cover.certain, most <= upper)
            assert torch.equal(cover.possible, most <= upper)


def test_all_statements_have_to_hold():
    head = small_head("euclidean")
    images = as_patches(small_latents(head, images=40))
    done = evaluate(head, images)
    some = statements(done)[2:5]
    together = coverage_of(head, images, some, 0)
    apart = [coverage_of(head, images, [each], 0) for each in some]
    assert torch.equal(together.certain, torch.stack([each.certain for each in apart]).all(0))
    assert torch.equal(together.possible, torch.stack([each.possible for each in apart]).all(0))
    assert coverage_of(head, images, [], 0).certain.all()
