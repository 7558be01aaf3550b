"""Every part of a head from explanation to audit: every paradigm that is defined for it, minimality included."""

from __future__ import annotations

from itertools import islice

import pytest
import torch
from support.exact import redrawn_alike
from support.small import VARIED, small_latents, varied_head

from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.errors import UsageError
from verale.head import as_patches, save_latents
from verale.paradigms import PARADIGMS
from verale.search import best_paradigm
from verale.search.explain import explain

NOT_ALWAYS = {"evidence"}
"""What prototypes of other classes give is not stated one by one, so that some classes stay open."""


@pytest.mark.parametrize("name", VARIED)
@pytest.mark.parametrize(
    ("order", "kernel", "one_in"),
    [("rival", "arb", 2), pytest.param("nearest", "both", 1, marks=pytest.mark.long)],  # which states more
)
def test_every_certificate_is_proved(name, order, kernel, one_in, tmp_path):
    """One in so many paradigms; tests/contract/test_capabilities.py has every part under each."""
    head = varied_head(name, seed=4)
    latents = small_latents(head, images=1, seed=4)
    save_latents(tmp_path / "latents.safetensors", latents)
    auditor = Auditor(head.to_bytes(), (tmp_path / "latents.safetensors").read_bytes(), kernel)
    emitted = []
    for paradigm in islice(PARADIGMS, VARIED.index(name) % one_in, None, one_in):
        try:
            results = explain(head, latents, paradigm, order=order)
        except UsageError:
            continue
        explained = [result for result in results if isinstance(result, Certificate)]
        assert len(explained) == len(results) or paradigm in NOT_ALWAYS
        emitted += explained
    assert len({certificate.paradigm for certificate in emitted}) >= 2 / one_in
    for certificate in emitted:
        verdict = auditor.check(certificate.to_bytes(), minimality=True)
        assert verdict.status is Status.PROVED, (certificate.paradigm, verdict.message)
        assert set(verdict.claims.values()) == {"proved"}
        for claimed, proved in zip(certificate.margins, verdict.margins, strict=True):
            assert (claimed is None and proved is None) or claimed <= proved


@pytest.mark.parametrize("name", VARIED)
def test_latents_that_satisfy_the_explanation_are_classified_alike(name):
    head = varied_head(name, seed=2)
    latents = small_latents(head, images=3, patches=7, seed=2)
    generator = torch.Generator().manual_seed(9)
    for image, certificate in zip(as_patches(latents), explain(head, latents, best_paradigm(head)), strict=True):
        redrawn_alike(head, image, certificate, 3, generator)
