"""What is special of focal heads, whose means speak of every patch; test_explain_and_audit.py proves what they emit."""

from __future__ import annotations

from dataclasses import replace

import pytest
import safetensors.torch
import torch
from support.small import FOCAL, focal_head, small_latents

from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.head import Box, Euclidean, FocalPooling, Head, LogRatio, as_patches, evaluate
from verale.search import Unexplained, best_paradigm
from verale.search.explain import explain


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
    head = focal_head(geometry, kind, 3)
    latents = small_latents(head, images=3, patches=4, seed=3)

    def found(batch):
        return [
            r.reason if isinstance(r, Unexplained) else ([(s.patch, s.prototype) for s in r.statements], r.margins)
            for r in explain(head, latents, best_paradigm(head), batch=batch)
        ]

    assert found(1) == found(2) == found(3)
