"""Focal heads from explanation to audit: both forms, every geometry, every paradigm, both kernels, minimality."""

from __future__ import annotations

from dataclasses import replace

import pytest
import safetensors.torch
import torch
from support.exact import redrawn_alike
from support.small import FOCAL, focal_head, small_latents

from verale.bounds import activation_range, margins_of
from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.head import Box, Euclidean, FocalPooling, Head, LogRatio, as_patches, evaluate, save_latents
from verale.paradigms import PARADIGMS
from verale.rounding import Enclosure
from verale.search import Unexplained, best_paradigm
from verale.search.explain import explain

METRIC, MASSES = ("projection", "triangle", "hypersphere"), ("simplex", "sparse")
CASES = [
    (geometry, kind, name)
    for geometry, kind in FOCAL
    for name in ("top_k", *(MASSES if geometry == "softmax" else METRIC))
]
FEW = [case for at, case in enumerate(CASES) if at % 5 in (0, 3) or case[2] == MASSES[1]]
"""Each paradigm, and each geometry and kind."""


@pytest.mark.parametrize(
    ("geometry", "kind", "paradigm", "seed", "order", "kernel"),
    [
        # tests/contract/test_capabilities.py has both forms under every paradigm, proved by each kernel.
        *((*case, 0, "rival", "arb") for case in FEW),
        # Which states more.
        *(pytest.param(*case, 2, "nearest", "both", marks=pytest.mark.long) for case in CASES),
    ],
)
def test_every_certificate_is_proved(geometry, kind, paradigm, seed, order, kernel, tmp_path):
    head = focal_head(geometry, kind, seed)
    latents = small_latents(head, images=3, seed=seed)
    save_latents(tmp_path / "latents.safetensors", latents)
    auditor = Auditor(head.to_bytes(), (tmp_path / "latents.safetensors").read_bytes(), kernel)
    emitted = [c for c in explain(head, latents, paradigm, order=order) if isinstance(c, Certificate)]
    assert len(emitted) >= 2
    assert any(certificate.minimal for certificate in emitted) == PARADIGMS[paradigm].minimal
    for certificate in emitted:
        verdict = auditor.check(certificate.to_bytes(), minimality=True)
        assert verdict.status is Status.PROVED, verdict.message
        assert set(verdict.claims.values()) == {"proved"}
        for claimed, proved in zip(certificate.margins, verdict.margins, strict=True):
            assert (claimed is None and proved is None) or claimed <= proved


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_what_a_mean_of_cosines_proves_within_a_tolerance_is_proved_by_both_kernels(seed):
    """A wide cosine may allow more than 1; every patch counts in the mean."""
    head = focal_head("cosine", "max_minus_mean", seed)
    latents = small_latents(head, images=4, seed=seed)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents}), "both")
    results = explain(head, latents, "hypersphere", tolerance=0.01)
    emitted = [result for result in results if isinstance(result, Certificate)]
    assert len(emitted) >= 2
    for certificate in emitted:
        verdict = auditor.check(certificate.to_bytes(), minimality=True)
        assert verdict.status is Status.PROVED, verdict.message


@pytest.mark.parametrize(("geometry", "kind"), FOCAL)
def test_latents_that_satisfy_the_explanation_are_classified_alike(geometry, kind):
    """Patches without a statement are redrawn. A bias leaves some: else the mean asks for all of them."""
    head = focal_head(geometry, kind, 1)
    latents = small_latents(head, images=12, patches=6, seed=1)
    whole = activation_range(head, 6)
    boxes = Enclosure(whole.lower[None, None], whole.upper[None, None])
    unaided = float(margins_of(head, torch.tensor([0]), 6).lower(boxes).min())
    head = replace(head, bias=head.bias + torch.tensor([-0.95 * unaided, 0, 0]))
    generator = torch.Generator().manual_seed(9)
    redrawn = 0
    for image, certificate in zip(as_patches(latents), explain(head, latents, best_paradigm(head)), strict=True):
        if isinstance(certificate, Unexplained):
            continue
        redrawn += redrawn_alike(head, image, certificate, 10, generator)
    assert redrawn


@pytest.mark.parametrize(("geometry", "kind"), FOCAL)
@pytest.mark.parametrize("paradigm", ["spatial", "top_k"])
def test_one_patch_is_a_tie(geometry, kind, paradigm):
    """a = 0 for every latent: without a bias there is a reason and no certificate."""
    head = focal_head(geometry, kind)
    plain = replace(head, bias=None)
    latents = small_latents(head, patches=1)
    for result in explain(plain, latents, best_paradigm(plain) if paradigm == "spatial" else paradigm):
        assert isinstance(result, Unexplained)
        assert "a tie" in result.reason


@pytest.mark.parametrize("kind", ["max_minus_mean", "max_minus_mean_distance"])
def test_the_mean_is_stated_too(kind):
    """The pitfall of docs/heads.md, 17: with the exact mean the patch that shows the prototype would be enough.

    A prototype at 0, patches at 0 and 1. If only the first patch is stated, both may lie at 0, where a = 0.
    """
    head = Head(
        torch.tensor([[1.0], [0.0]]),
        Euclidean(),
        LogRatio(2.0**-10),
        prototypes=torch.zeros(1, 1),
        bias=torch.tensor([0.0, 2.5]),
        domain=Box(0, 1),
        pooling=FocalPooling(kind),
    )
    latents = torch.tensor([[[0.0], [1.0]]])
    assert evaluate(head, as_patches(latents)).predicted.tolist() == [0]
    assert evaluate(head, as_patches(torch.zeros(1, 2, 1))).predicted.tolist() == [1]
    for paradigm in ("projection", "triangle"):
        (certificate,) = explain(head, latents, paradigm)
        assert isinstance(certificate, Certificate)
        assert [(s.patch, s.prototype) for s in certificate.statements] == [(0, 0), (1, 0)]


@pytest.mark.parametrize(("geometry", "kind"), FOCAL)
def test_the_batch_does_not_change_what_is_found(geometry, kind):
    """Statements and margins; the last bits of an interval may depend on it (a product of matrices)."""
    head = focal_head(geometry, kind, 3, prototypes=20, classes=4)
    latents = small_latents(head, images=5, patches=6, seed=3)

    def found(batch):
        return [
            r.reason if isinstance(r, Unexplained) else ([(s.patch, s.prototype) for s in r.statements], r.margins)
            for r in explain(head, latents, best_paradigm(head), batch=batch)
        ]

    assert found(1) == found(2) == found(5)
