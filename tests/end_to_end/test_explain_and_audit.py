"""What the search emits, the checker proves: every head, every paradigm that it has, minimality included.

tests/contract/test_capabilities.py has each part and paradigm by each kernel.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

import pytest
import safetensors.torch
import torch
from support.exact import redrawn_alike
from support.named import head_named
from support.small import FOCAL, GEOMETRIES, VARIED, focal_head, small_head, small_latents

import verale
from benchmarks.architectures import heads
from verale.bounds import activation_range, margins_of
from verale.bounds.margin import LinearMargins
from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.errors import InputError, UsageError
from verale.head import (
    Box,
    Cosine,
    Euclidean,
    FocalPooling,
    Head,
    Identity,
    LogRatio,
    Softmax,
    as_patches,
    evaluate,
    save_latents,
)
from verale.paradigms import PARADIGMS, paradigms_of
from verale.rounding import Enclosure
from verale.search import Unexplained, best_paradigm
from verale.search.explain import explain
from verale.search.linked import Linked

FOCAL_HEADS = tuple(f"{geometry} {kind}" for geometry, kind in FOCAL)
HEADS = (*GEOMETRIES, *FOCAL_HEADS, *VARIED)
ARCHITECTURES = heads()


def proved(head: Head, latents: torch.Tensor, results: Iterable[object], kernel: str) -> int:
    """How many certificates there are, all of which this kernel proves with whatever they claim."""
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents.contiguous()}), kernel)
    emitted = [result for result in results if isinstance(result, Certificate)]
    for certificate in emitted:
        verdict = auditor.check(certificate.to_bytes(), minimality=True)
        assert verdict.status is Status.PROVED, verdict.message
    return len(emitted)


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize(
    ("order", "kernel", "first"),
    [("rival", "arb", 0), pytest.param("nearest", "both", 1, marks=pytest.mark.long)],  # which states more
)
def test_every_certificate_is_proved(name, order, kernel, first, tmp_path):
    """Under one in three of a head's paradigms."""
    head = head_named(name, 4)
    latents = small_latents(head, images=1 if kernel == "arb" else 2, seed=4)
    save_latents(tmp_path / "latents.safetensors", latents)
    auditor = Auditor(head.to_bytes(), (tmp_path / "latents.safetensors").read_bytes(), kernel)
    proved_under = 0
    for paradigm in islice(paradigms_of(head.geometry.kind, patches=5), (HEADS.index(name) + first) % 3, None, 3):
        try:
            emitted = [c for c in explain(head, latents, paradigm, order=order) if isinstance(c, Certificate)]
        except UsageError:  # it needs another readout, or a pooling by one patch
            continue
        # What prototypes of other classes give is not stated one by one there, so that some classes stay open.
        assert emitted or paradigm == "evidence"
        proved_under += 1
        for certificate in emitted:
            verdict = auditor.check(certificate.to_bytes(), minimality=True)
            assert verdict.status is Status.PROVED, (paradigm, verdict.message)
            claims = ["entailment", "instance", *["minimality"] * certificate.minimal]
            assert dict(verdict.claims) == dict.fromkeys(claims, "proved")
            if name in GEOMETRIES:
                linked = Linked(head, certificate.patches)
                margins = LinearMargins.of(head, torch.tensor([certificate.predicted]), certificate.patches)
                sure = paradigm != "top_k" or linked.shrunk(margins, certificate.statements)[2]
                assert certificate.minimal == (PARADIGMS[paradigm].minimal and sure)
            for claimed, proved in zip(certificate.margins, verdict.margins, strict=True):
                assert (claimed is None and proved is None) or claimed <= proved
    assert proved_under > 0 or head.geometry.kind == "softmax"


@pytest.mark.parametrize(
    ("name", "paradigm"),
    [
        pytest.param(name, paradigm, marks=[pytest.mark.long] * ((number + which) % 4 != 2))
        for number, name in enumerate(sorted(ARCHITECTURES))
        for which, paradigm in enumerate(("best", "top_k"))
    ],
)
def test_every_architecture_is_proved(name, paradigm):
    head, latents = ARCHITECTURES[name]
    results = explain(head, latents[:1], best_paradigm(head) if paradigm == "best" else paradigm)
    assert proved(head, latents[:1], results, "arb")


@pytest.mark.parametrize(
    "name", [*FOCAL_HEADS, *VARIED[::2], *(pytest.param(name, marks=pytest.mark.long) for name in VARIED[1::2])]
)
def test_latents_that_satisfy_the_explanation_are_classified_alike(name):
    """Patches without a statement are redrawn. Of a focal head a bias leaves some: else the mean asks for all."""
    head = head_named(name, 2)
    latents = small_latents(head, images=4 if name in FOCAL_HEADS else 2, patches=7, seed=2)
    if name in FOCAL_HEADS:
        whole = activation_range(head, 7)
        boxes = Enclosure(whole.lower[None, None], whole.upper[None, None])
        unaided = float(margins_of(head, torch.tensor([0]), 7).lower(boxes).min())
        head = replace(head, bias=head.bias + torch.tensor([-0.95 * unaided, 0, 0]))
    generator, redrawn = torch.Generator().manual_seed(9), 0
    for image, certificate in zip(as_patches(latents), explain(head, latents, best_paradigm(head)), strict=True):
        if isinstance(certificate, Certificate):
            redrawn += redrawn_alike(head, image, certificate, 5, generator)
    assert redrawn or name in VARIED


@pytest.mark.parametrize("paradigm", ["assignment", "simplex", "sparse", "top_k"])
def test_a_head_with_one_mass_needs_no_statement(paradigm):
    """It is always 1, to the search as to the checker: nothing would be minimal if they disagreed."""
    head = Head(torch.tensor([[1.0], [0.5]]), Softmax(), Identity())
    latents = torch.rand(2, 3, 1)
    results = explain(head, latents, paradigm)
    assert [each.size for each in results] == [0, 0] and proved(head, latents, results, "both") == 2


@pytest.mark.parametrize("kernel", ["mpmath", "both"])
def test_latents_that_are_prototypes_have_provable_instances(kernel):
    """Distance exactly 0 and cosine exactly 1: the ends of the observables' ranges."""
    points = torch.rand(6, 4, generator=torch.Generator().manual_seed(1)) + 0.1
    weight = torch.eye(2).repeat(1, 3) * 2 - 1
    for geometry, similarity in ((Euclidean(), LogRatio()), (Cosine(0.0), Identity()), (Cosine(1e-8), Identity())):
        head = Head(weight, geometry, similarity, prototypes=points, domain=Box(0, 2))
        latents = points[None, [0, 2, 0]].clone()
        for paradigm in ("projection", "top_k"):
            assert proved(head, latents, explain(head, latents, paradigm), kernel) == 1


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


# Focal heads, whose means speak of every patch


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_what_a_mean_of_cosines_proves_within_a_tolerance_is_proved_by_both_kernels(seed):
    """A wide cosine may allow more than 1; every patch counts in the mean."""
    head = focal_head("cosine", "max_minus_mean", seed)
    latents = small_latents(head, images=4, seed=seed)
    assert proved(head, latents, explain(head, latents, "hypersphere", tolerance=0.01), "both") >= 2


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
