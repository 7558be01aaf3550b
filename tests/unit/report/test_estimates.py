"""Estimates from head and latents, against the reference evaluation."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.small import VARIED, small_head, small_latents, varied_head

from verale.certificate import Certificate
from verale.certificate.words import about
from verale.checker.certificate import (
    ActivationStatement,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    read_certificate,
)
from verale.errors import LatentsError
from verale.head import BankPooling, as_patches, evaluate
from verale.head.head import similarity
from verale.report import estimates as module
from verale.report.collect import Collection
from verale.report.estimates import (
    Estimates,
    estimates_of,
    favoured_classes,
    given_and_taken,
    standing_of,
)
from verale.search.explain import explain


def explained(head, paradigm=None):
    """An image and a certificate of it, of statements about patches if no paradigm is given."""
    latents = small_latents(head, images=2)
    paradigm = paradigm or ("simplex" if head.geometry.kind == "softmax" else "projection")
    for index, certificate in enumerate(explain(head, latents, paradigm, digits="exact")):
        if isinstance(certificate, Certificate):
            return latents[index : index + 1], read_certificate(certificate.to_bytes())
    raise AssertionError("no image has a certificate")


@pytest.mark.parametrize("name", ["euclidean", "scaled", "cosine", "softmax", *VARIED])
def test_similarities_and_leads_are_the_heads(name):
    head = varied_head(name) if name in VARIED else small_head(name)
    image, certificate = explained(head)
    estimates = estimates_of(certificate, head, image)
    reference = evaluate(head, as_patches(image))
    similar = similarity(head, reference.observables)[0]
    for statement, value in zip(certificate.statements, estimates.similarity, strict=True):
        assert isinstance(statement, PatchStatement)
        assert value == pytest.approx(float(similar[statement.patch, statement.prototype]), abs=1e-9)
    logits = reference.logits[0]
    assert estimates.ahead == pytest.approx((logits[certificate.predicted] - logits).tolist(), abs=1e-9)
    for margin, ahead in zip(certificate.margins, estimates.ahead, strict=True):
        assert margin is None or margin <= ahead + 1e-9
    assert estimates_of(certificate, head, None) == Estimates(), "without the image nothing is said of it"


@pytest.mark.parametrize("name", ["euclidean", "scaled", "cosine", "softmax"])
@pytest.mark.parametrize("paradigm", [None, "top_k"])
def test_what_patches_add_where_it_is_attained_sums_to_the_lead_over_the_runner_up(name, paradigm):
    head = small_head(name)
    image, certificate = explained(head, paradigm)
    estimates = estimates_of(certificate, head, image)
    predicted, second = certificate.predicted, estimates.second
    assert second is not None
    assert estimates.ahead[second] == min(ahead for c, ahead in enumerate(estimates.ahead) if c != predicted)
    bias = torch.zeros(head.classes) if head.bias is None else head.bias.double()
    assert sum(estimates.heat.values()) + float(bias[predicted] - bias[second]) == pytest.approx(
        estimates.ahead[second], abs=1e-9
    )
    activations = evaluate(head, as_patches(image)).activations[0]
    parts = (head.weight[predicted].double() - head.weight[second].double()) * activations
    best = similarity(head, evaluate(head, as_patches(image)).observables)[0].argmax(0)
    for statement, added, patch in zip(certificate.statements, estimates.adds, estimates.attained, strict=True):
        assert patch == (best[statement.prototype] if isinstance(statement, ActivationStatement) else None)
        if isinstance(statement, OrderStatement | FloorStatement):
            assert added is None
        elif isinstance(statement, PatchStatement) and best[statement.prototype] != statement.patch:
            assert added == 0
        else:
            assert added == pytest.approx(float(parts[statement.prototype]), abs=1e-9)


def test_only_a_linear_readout_says_what_prototypes_add():
    head = varied_head("tree")
    image, certificate = explained(head)
    estimates = estimates_of(certificate, head, image)
    assert estimates.ahead and estimates.second is not None
    assert estimates.adds == [] and estimates.heat == {}


def test_where_an_activation_is_attained_depends_on_the_pooling():
    """The class token has its own prototypes; a mean comes from no single patch."""
    head = replace(small_head("euclidean"), pooling=BankPooling(4))
    image, certificate = explained(head, "top_k")
    for statement, patch in zip(certificate.statements, estimates_of(certificate, head, image).attained, strict=True):
        if isinstance(statement, ActivationStatement):
            assert (patch == 0) == (statement.prototype < 4)
    head = varied_head("top mean")
    image, certificate = explained(head, "top_k")
    assert set(estimates_of(certificate, head, image).attained) == {None}


def test_prototypes_vote_for_a_class_where_they_do():
    head = small_head("euclidean")
    assert favoured_classes(head) == [j % 3 for j in range(12)]
    assert favoured_classes(replace(head, weight=-head.weight.abs())) == [None] * 12
    assert set(favoured_classes(varied_head("tree"))) == {None}


def test_what_does_not_fit_the_head_is_left_out_or_refused():
    head = small_head("euclidean")
    image, certificate = explained(head)
    beyond = replace(
        certificate,
        predicted=99,
        statements=(PatchStatement(0, 10**9, 0, 1), PatchStatement(10**9, 0, 0, 1), ActivationStatement(10**9, 0, 1)),
    )
    assert estimates_of(beyond, head, image).similarity == [None] * 3 and estimates_of(beyond, head, image).ahead == []
    with pytest.raises(LatentsError):
        estimates_of(certificate, head, torch.zeros(1, 5, head.depth + 1))


def test_one_patch_with_banks_has_no_lead():
    head = replace(small_head("euclidean"), pooling=BankPooling(4))
    _, certificate = explained(head)
    single = replace(certificate, patches=1, statements=(PatchStatement(0, 0, 0, 1),))
    assert estimates_of(single, head, torch.zeros(1, 1, head.depth)).ahead == []


@pytest.mark.parametrize("name", ["euclidean", "cosine", "softmax"])
def test_what_is_given_less_what_is_taken_back_is_the_lead_of_the_image(name):
    head = small_head(name)
    image, certificate = explained(head)
    estimates = estimates_of(certificate, head, image)
    rivals = [c for c in range(head.classes) if c != certificate.predicted]
    pairs = given_and_taken(head, estimates, certificate.predicted, rivals)
    leads = [given - taken for given, taken in pairs]
    assert leads == pytest.approx([estimates.ahead[c] for c in rivals], abs=1e-9)
    assert estimates.logits == pytest.approx(evaluate(head, as_patches(image)).logits[0].tolist(), abs=1e-9)


def test_of_what_is_pooled_nothing_of_patches_is_kept():
    """Of many images, activations are collected chunk by chunk: a view would keep all patches of each."""
    for name in VARIED:
        patches = as_patches(small_latents(varied_head(name), images=2))
        for few in (patches, patches[:, : varied_head(name).pooling.least_patches]):
            activations = evaluate(varied_head(name), few).activations
            assert activations.untyped_storage().nbytes() == activations.numel() * activations.element_size(), name


def test_an_activation_stands_among_those_of_all_images(tmp_path, monkeypatch):
    """Of the head, whatever is computed at once; of few images, of too many, or of another head nothing is said."""
    head = small_head("euclidean")
    collection = Collection(tmp_path, (), head, small_latents(head, images=12))
    activations = evaluate(head, as_patches(collection.latents)).activations
    monkeypatch.setattr(module, "_AT_ONCE", 1)
    told = standing_of(collection)
    for image, prototype in ((0, 0), (5, 3), (11, 7)):
        own = activations[:, prototype]
        below = int((own < own[image]).sum())
        said = f"about {about(float(own[image]))}, more than {below} of the 11 other images here"
        assert told(image, prototype) == said
    other = small_latents(small_head("euclidean", depth=7), images=12)
    for latents in (small_latents(head, images=9), None, other):
        assert standing_of(replace(collection, latents=latents)) is None
    monkeypatch.setattr(module, "_MOST", 1)
    assert standing_of(collection) is None, "that would take too long"
