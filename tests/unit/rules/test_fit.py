"""Rules: which images satisfy statements, what is fitted covers images of its class only, and rules in words."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest
import torch
from support.small import GEOMETRIES, small_head, small_latents, varied_head

from verale.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    SumStatement,
)
from verale.certificate.statements import bounds_in_words
from verale.errors import LatentsError, UsageError
from verale.head import Cosine, Euclidean, InnerProduct, Softmax, as_patches, evaluate, read_out
from verale.rules import coverage
from verale.rules.coverage import coverage_of
from verale.rules.fit import conditions, fit
from verale.search.activations import Stated
from verale.search.smallest import priced_margins

INF = math.inf


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


HEADS = {
    "top_k": (small_head("euclidean", 1), 5),
    "cosines": (small_head("cosine", 1), 5),
    "sparse": (small_head("softmax", 1), 5),
    "joint": (varied_head("negated", 1), 1),
    "inner products": (varied_head("inner product", 1), 1),
}


def images_of(head, patches: int, count: int) -> torch.Tensor:
    """Images all of whose patches are near one prototype, as those of a trained network are."""
    drawn = torch.Generator().manual_seed(7)
    near = torch.randint(head.size, (count,), generator=drawn)
    noise = torch.rand(count, patches, head.depth, generator=drawn)
    if head.prototypes is None:
        return as_patches(4 * torch.eye(head.size)[near][:, None] + noise)
    return as_patches(0.8 * head.prototypes[near][:, None].clamp(0, 1) + 0.2 * noise)


@cache
def rules_of(name: str):
    head, patches = HEADS[name]
    images = images_of(head, patches, count=20 if name == "joint" else 30)
    paradigm = {"cosines": "top_k", "inner products": "joint"}.get(name, name)
    return head, images, list(islice(fit(head, images, paradigm), 1 if name == "joint" else 2))


INNER_PRODUCTS = pytest.param("inner products", marks=pytest.mark.long)  # whose fit takes long: joint rules as well


@pytest.mark.parametrize("name", ["top_k", "cosines", "sparse", "joint", INNER_PRODUCTS])
def test_rules_cover_images_of_their_class_only(name):
    head, images, rules = rules_of(name)
    predicted = evaluate(head, images).predicted
    cover = [coverage_of(head, images, rule.statements, rule.predicted).certain for rule in rules]
    covered = torch.zeros(len(images), dtype=torch.bool)
    news = []
    for rule, covers in zip(rules, cover, strict=True):
        assert rule.latents is None and rule.margin > 0
        assert (predicted[covers] == rule.predicted).all()
        news.append(int((covers & ~covered).sum()))
        covered |= covers
    assert min(news) > 0 and news[0] == max(news)
    assert int(covered.sum()) > 3 * len(rules)  # rules say more than descriptions of one image


@pytest.mark.parametrize("name", ["top_k", "cosines", "sparse"])
def test_activations_that_satisfy_a_rule_have_its_class(name):
    head, images, rules = rules_of(name)
    drawn = torch.Generator().manual_seed(0)
    for rule in rules:
        margins = priced_margins(rule.paradigm, head, rule.predicted, images.shape[1])
        ends = Stated.of(rule.statements, head.size).ends
        lower, upper = ends.lower.maximum(margins.range.lower), ends.upper.minimum(margins.range.upper)
        share = (3 * torch.rand(1000, head.size, generator=drawn, dtype=torch.float64) - 1).clamp(0, 1)
        logits = read_out(head, lower + share * (upper - lower))
        rivals = [c for c in range(head.classes) if c != rule.predicted]
        assert (logits[:, [rule.predicted]] > logits[:, rivals]).all()


@pytest.mark.parametrize("name", ["joint", INNER_PRODUCTS])
def test_latents_that_satisfy_a_rule_have_its_class(name):
    head, _, rules = rules_of(name)
    drawn = torch.rand(20000, 1, head.depth, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    predicted = evaluate(head, drawn).predicted
    cover = [coverage_of(head, drawn, rule.statements, rule.predicted).certain for rule in rules]
    for rule, covers in zip(rules, cover, strict=True):
        assert (predicted[covers] == rule.predicted).all()
    assert torch.stack(cover).any()


def test_a_class_without_images_has_no_rule():
    head = replace(small_head("euclidean"), bias=torch.tensor([100.0, 0.0, 0.0]))
    images = as_patches(small_latents(head, images=10))
    rules = list(fit(head, images, "top_k"))
    assert [rule.predicted for rule in rules] == [0]
    assert coverage_of(head, images, rules[0].statements, rules[0].predicted).certain.all()
    assert rules[0].statements == (), "nothing has to be said where every latent has the class"


def test_what_cannot_be_fitted_is_refused():
    head = small_head("euclidean")
    with pytest.raises(UsageError, match="hold of no other image"):
        fit(head, as_patches(small_latents(head)), "projection")
    with pytest.raises(UsageError, match="5 patches, expected one"):
        fit(varied_head("negated"), as_patches(small_latents(head)), "joint")
    with pytest.raises(LatentsError, match="outside the head's domain"):
        fit(head, torch.full((2, 5, 6), 2.0, dtype=torch.float64), "top_k")
    assert list(fit(head, torch.empty(0, 5, 6, dtype=torch.float64), "top_k")) == []


def rule(*statements, paradigm: str = "top_k") -> Certificate:
    return Certificate("0" * 64, None, 4, paradigm, 1, statements, (1.0, 1.0, 1.0, 1.0, None), False, "0")


_WITH = "at least 0.75 with prototype 2 and 0.5 with 0, at most 0.25 with prototype 5"


@pytest.mark.parametrize(
    ("geometry", "words"),
    [
        (Euclidean(), "squared distance at most 0.25 from prototype 5, at least 0.75 from prototype 2 and 0.5 from 0"),
        (Cosine(), f"cosine {_WITH}"),
        (Cosine(1e-4, rooted=True), f"cosine {_WITH}"),
        (InnerProduct(), f"inner product {_WITH}"),
        (Softmax(), f"mass {_WITH.replace(' with', ' of')}"),
    ],
)
def test_observables_of_a_patch(geometry, words):
    said = rule(PatchStatement(0, 5, -INF, 0.25), PatchStatement(0, 2, 0.75, INF), PatchStatement(0, 0, 0.5, INF))
    assert conditions(said, geometry, 50) == words


def test_activations_and_clauses():
    said = rule(
        ActivationStatement(0, 1.0, 2.0),
        ActivationStatement(1, 3.0, INF),
        ActivationStatement(3, -1.0, 2.5),
        OrderStatement((0, 1, 3), 0.25),
        FloorStatement((), -2.0),
    )
    assert conditions(said, Euclidean(), 50) == (
        "activation at least 3 of prototype 1, from 1 to 2 of prototype 0 and -1 to 2.5 of 3,"
        " at most 0.25 of every prototype except prototypes 0, 1 and 3, at least -2 of every prototype"
    )
    assert conditions(rule(), Euclidean(), 50) == "any image"


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        (1 / 3, INF, "at least 0.33333333333333332"),
        (-INF, 1 / 3, "at most 0.3333333333333333"),
        (1 / 3, 2 / 3, "from 0.33333333333333332 to 0.6666666666666666"),
        (math.nextafter(0.1, 0), math.nextafter(0.3, 1), "from 0.1 to 0.3"),
        (3.3, math.nextafter(3.3, 4), "from 3.3 to 3.3"),
    ],
)
def test_bounds_are_told_in_the_statements_own_numbers(lower, upper, words):
    assert bounds_in_words(ActivationStatement(0, lower, upper)) == words
