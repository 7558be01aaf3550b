"""What the search emits, the checker proves: every head, every paradigm, minimality included.

Both kernels in the long run; tests/contract/test_capabilities.py has each part and paradigm by each.
"""

from __future__ import annotations

import pytest
import torch
from support.small import GEOMETRIES, small_head, small_latents

import verale
from verale.bounds.margin import LinearMargins
from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.errors import InputError
from verale.head import Box, Cosine, Euclidean, Head, Identity, LogRatio, Softmax, save_latents
from verale.paradigms import PARADIGMS
from verale.search.explain import explain
from verale.search.linked import Linked

CASES = [
    (geometry, name)
    for geometry in GEOMETRIES
    for name, paradigm in PARADIGMS.items()
    if not paradigm.one_patch
    if name == "top_k" or (name in ("simplex", "assignment", "sparse")) == (geometry == "softmax")
]
NEAREST = ("cosine", "softmax")
"""Geometries of which the other order is tried in a short run too."""


@pytest.mark.parametrize(
    ("geometry", "paradigm", "order", "seed", "images", "kernel"),
    [
        *((*case, "rival", 0, 2, "arb") for case in CASES),
        *((*case, "nearest", 0, 2, "mpmath") for case in CASES if case[0] in NEAREST),
        # Another head, and more images.
        *(pytest.param(*case, "nearest", 2, 5, "both", marks=pytest.mark.long) for case in CASES),
    ],
)
def test_every_certificate_is_proved(geometry, paradigm, order, seed, images, kernel, tmp_path):
    head = small_head(geometry, seed)
    latents = small_latents(head, images=images, seed=seed)
    save_latents(tmp_path / "latents.safetensors", latents)
    auditor = Auditor(head.to_bytes(), (tmp_path / "latents.safetensors").read_bytes(), kernel)
    emitted = [c for c in explain(head, latents, paradigm, order=order) if isinstance(c, Certificate)]
    assert emitted
    for certificate in emitted:
        verdict = auditor.check(certificate.to_bytes(), minimality=True)
        assert verdict.status is Status.PROVED, verdict.message
        claims = ["entailment", "instance", *["minimality"] * certificate.minimal]
        assert dict(verdict.claims) == dict.fromkeys(claims, "proved")
        linked = Linked.of(head, certificate.patches) if paradigm == "top_k" else None
        margins = LinearMargins.of(head, torch.tensor([certificate.predicted]), certificate.patches)
        sure = linked is None or linked.shrunk(margins, certificate.statements)[2]
        assert certificate.minimal == (PARADIGMS[paradigm].minimal and sure)
        for claimed, proved in zip(certificate.margins, verdict.margins, strict=True):
            assert (claimed is None and proved is None) or claimed <= proved


@pytest.mark.parametrize("paradigm", ["assignment", "simplex", "sparse", "top_k"])
def test_a_head_with_one_mass_needs_no_statement(paradigm, tmp_path):
    """It is always 1, to the search as to the checker: nothing would be minimal if they disagreed."""
    head = Head(torch.tensor([[1.0], [0.5]]), Softmax(), Identity())
    latents = torch.rand(2, 3, 1)
    save_latents(tmp_path / "z", latents)
    auditor = Auditor(head.to_bytes(), (tmp_path / "z").read_bytes(), "both")
    for certificate in explain(head, latents, paradigm):
        assert certificate.size == 0
        assert auditor.check(certificate.to_bytes(), minimality=True).status is Status.PROVED


@pytest.mark.parametrize("kernel", ["arb", "mpmath", "both"])
def test_latents_that_are_prototypes_have_provable_instances(kernel, tmp_path):
    """Distance exactly 0 and cosine exactly 1: the ends of the observables' ranges."""
    points = torch.rand(6, 4, generator=torch.Generator().manual_seed(1)) + 0.1
    weight = torch.eye(2).repeat(1, 3) * 2 - 1
    for geometry, similarity in ((Euclidean(), LogRatio()), (Cosine(0.0), Identity()), (Cosine(1e-8), Identity())):
        head = Head(weight, geometry, similarity, prototypes=points, domain=Box(0, 2))
        latents = points[None, [0, 2, 0]].clone()
        save_latents(tmp_path / "z", latents)
        for paradigm in ("projection", "top_k"):
            (certificate,) = explain(head, latents, paradigm)
            verdict = Auditor(head.to_bytes(), (tmp_path / "z").read_bytes(), kernel).check(certificate.to_bytes())
            assert verdict.status is Status.PROVED, verdict.message


def test_audit_takes_paths_and_names_the_file_it_cannot_use(tmp_path):
    head = small_head("euclidean")
    latents = small_latents(head)
    head.save(tmp_path / "head.safetensors")
    verale.save_latents(tmp_path / "latents.safetensors", latents)
    certificate = verale.explain(head, latents)[0]
    certificate.save(tmp_path / "0.ale.json")
    paths = (tmp_path / "0.ale.json", tmp_path / "head.safetensors", tmp_path / "latents.safetensors")
    assert verale.audit(*paths).status is Status.PROVED
    assert verale.audit(*paths[:2]).claims["instance"] == "not checked"
    for broken in range(3):
        given = list(paths)
        given[broken] = tmp_path / "nowhere"
        with pytest.raises(InputError, match="nowhere"):
            verale.audit(*given)
    (tmp_path / "nonsense").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="nonsense"):
        verale.audit(paths[0], tmp_path / "nonsense")
    with pytest.raises(InputError, match="nonsense"):
        verale.audit(paths[0], paths[1], tmp_path / "nonsense")
    assert verale.audit(tmp_path / "nonsense", paths[1]).status is Status.MALFORMED
