"""Fitted rules: each covers images of its class only, the first covers most, and what they say entails the class."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice

import pytest
import torch
from support.small import small_head, small_latents, varied_head

from verale.errors import LatentsError, UsageError
from verale.head import as_patches, evaluate, read_out
from verale.rules.coverage import coverage_of
from verale.rules.fit import fit
from verale.search.activations import Stated
from verale.search.smallest import priced_margins

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
