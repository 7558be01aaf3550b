"""Explanations: true of the image, entailing, minimal, deterministic; and honest where there is none."""

from __future__ import annotations

import sys

import flint
import pytest
import safetensors.torch
import torch
from scipy.optimize import linear_sum_assignment
from support.alike import alike
from support.exact import PRECISION, differences, inside, observable, redrawn_alike
from support.named import head_named
from support.small import GEOMETRIES, VARIED, small_head, small_latents, varied_head

from verale import bounds
from verale.bounds import (
    Hypersphere,
    LinearMargins,
    Projection,
    Simplex,
    hypersphere,
    observe,
    oriented,
    pooled_activation,
    pooling_of,
)
from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.errors import LatentsError, UsageError
from verale.head import Box, Euclidean, Head, Identity, LogRatio, Softmax, as_patches, digest, read_out
from verale.paradigms import ORDERS
from verale.rounding import Enclosure
from verale.runs.explain import open_run
from verale.runs.options import RunOptions
from verale.search import Avoid, Batches, SearchOptions, Unexplained, best_paradigm
from verale.search import batches as searching
from verale.search.explain import explain, explain_batches
from verale.search.paradigms.of_patches import ProjectionSearch
from verale.search.problem import Problem

SPATIAL = {"euclidean": "projection", "scaled": "projection", "cosine": "projection", "softmax": "assignment"}


def optimum(head: Head, certificate: Certificate, statements, floor) -> list[float]:
    """The margins that the best prices prove, by scipy's matching."""
    left, top = [1.0] * certificate.patches, [0.0] * head.size
    for s in statements:
        left[s.patch] -= s.lower
        top[s.prototype] = max(top[s.prototype], s.upper)
    gap = (torch.tensor(left)[:, None] - torch.tensor(top)).clamp(min=0).double()
    for s in statements:
        gap[s.patch, s.prototype] = 0.0
    margins = []
    for rival in set(range(head.classes)) - {certificate.predicted}:
        gain = (head.weight[rival] - head.weight[certificate.predicted]).double()
        weights = gain.clamp(min=0) * gap
        given = weights[linear_sum_assignment(weights.numpy(), maximize=True)].sum()
        known = gain.clamp(min=0) @ torch.tensor(top).double() + gain.clamp(max=0) @ floor
        bias = 0.0 if head.bias is None else float(head.bias[certificate.predicted] - head.bias[rival])
        margins.append(bias - float(known + given))
    return margins


def proves(head: Head, certificate: Certificate, statements) -> bool:
    """Whether the spatial paradigm proves the class from some statements, built from scratch."""
    paradigm = {"projection": Projection, "assignment": Simplex, "hypersphere": Hypersphere}[certificate.paradigm](head)
    lowers, uppers = torch.zeros(2, certificate.patches, head.size, dtype=torch.float64)
    for s in statements:
        lowers[s.patch, s.prototype], uppers[s.patch, s.prototype] = s.lower, s.upper
    stated = [[s.prototype for s in statements if s.patch == patch] for patch in range(certificate.patches)]
    near, far = oriented(head, paradigm.ranges(stated, Enclosure(lowers, uppers)))
    box = pooled_activation(head, near.amin(0), far.amin(0))
    margins = LinearMargins.of(head, torch.tensor([certificate.predicted]), certificate.patches)
    if certificate.paradigm == "assignment":
        return all(o > 0 for o in optimum(head, certificate, statements, box.lower))
    return bool((margins.lower(Enclosure(box.lower[None, None], box.upper[None, None])) > 0).all())


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("seed", [1, pytest.param(0, marks=pytest.mark.long)])
def test_statements_are_true_and_entail_and_none_can_be_dropped(geometry, seed):
    head = small_head(geometry, seed)
    latents = small_latents(head, images=2, seed=seed)
    certificates = explain(head, latents, best_paradigm(head), digits="exact")
    assert any(isinstance(c, Certificate) for c in certificates)
    for image, certificate in zip(as_patches(latents), certificates, strict=True):
        if isinstance(certificate, Unexplained):
            continue
        assert certificate.paradigm == SPATIAL[geometry] == best_paradigm(head)
        assert certificate.latents == digest(image) and certificate.head == head.digest
        with flint.ctx.workprec(PRECISION):
            for s in certificate.statements:
                truth = observable(head, image[s.patch].tolist(), s.prototype)
                assert inside(truth, s.lower, s.upper)
            exact = differences(head, image, certificate.predicted)
            for margin, difference in zip(certificate.margins, exact, strict=True):
                assert margin is None or flint.arb(margin) <= difference
        assert proves(head, certificate, certificate.statements)
        for dropped in certificate.statements:
            assert not proves(head, certificate, [s for s in certificate.statements if s != dropped])


@pytest.mark.parametrize("order", ["rival", pytest.param("nearest", marks=pytest.mark.long)])  # which states more
@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_where_the_order_matters_it_is_kept_and_none_can_be_dropped(geometry, order):
    """Sorted within a patch, as under other paradigms, some of these statements prove nothing."""
    broken = 0
    head = small_head(geometry, 0, prototypes=16)
    results = explain(head, small_latents(head, images=1), "hypersphere", order=order)
    for certificate in (c for c in results if isinstance(c, Certificate)):
        patches = [s.patch for s in certificate.statements]
        assert patches == sorted(patches) and not certificate.minimal  # such a certificate cannot claim it
        assert proves(head, certificate, certificate.statements)
        for dropped in certificate.statements:
            assert not proves(head, certificate, [s for s in certificate.statements if s != dropped])
        by_prototype = sorted(certificate.statements, key=lambda s: (s.patch, s.prototype))
        broken += not proves(head, certificate, by_prototype)
    assert broken


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_with_multipliers_finer_than_float64_what_is_emitted_is_proved(geometry, monkeypatch):
    """All patches with two statements are lost."""
    monkeypatch.setattr(hypersphere, "_STEPS", 2.0**80)
    head = small_head(geometry, 1)
    latents = small_latents(head, seed=1)
    certificates = [c for c in explain(head, latents, "hypersphere") if isinstance(c, Certificate)]
    assert certificates
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents}), "both")
    assert all(auditor.check(c.to_bytes(), minimality=True).status is Status.PROVED for c in certificates)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_latents_that_satisfy_the_explanation_are_classified_alike(geometry):
    """Random latents with the stated observables of other patches free: patches without a statement are redrawn."""
    head = small_head(geometry, 1)
    latents = small_latents(head, seed=1)
    generator = torch.Generator().manual_seed(9)
    redrawn = 0
    for image, certificate in zip(as_patches(latents), explain(head, latents, best_paradigm(head)), strict=True):
        if isinstance(certificate, Unexplained):
            continue
        redrawn += redrawn_alike(head, image, certificate, 20, generator)
    assert redrawn or all(isinstance(c, Unexplained) or c.size > 4 for c in explain(head, latents, best_paradigm(head)))


def softmax_cases():
    """Heads without structure and sparse non-negative ones, with more and fewer prototypes than patches."""
    for seed in range(6):
        head = small_head("softmax", seed, prototypes=(4, 12, 30)[seed % 3], classes=4)
        if seed % 2:
            head = Head(head.weight.clamp(min=0), Softmax(), Identity(), bias=head.bias)
        yield head, small_latents(head, images=4, patches=(1, 5, 9)[seed % 3], seed=seed)


def test_assignment_has_fewer_statements_than_simplex():
    smaller = larger = priced = 0
    for seed, (head, latents) in enumerate(softmax_cases()):
        options = {"order": ORDERS[seed // 3], "digits": "exact"}
        simplex, assignment = (explain(head, latents, name, **options) for name in ("simplex", "assignment"))
        for before, after in zip(simplex, assignment, strict=True):
            assert isinstance(before, Certificate) == isinstance(after, Certificate)
            if isinstance(after, Certificate):
                assert after.minimal
                smaller += max(0, before.size - after.size)
                larger += max(0, after.size - before.size)
                priced += bool(after.prices)
    assert smaller > 5 * larger and priced > 5


def test_nothing_is_kept_between_images():
    """An explainer that kept bounds from one image would explain the second differently (docs/heads.md, 17)."""
    head = small_head("euclidean")
    latents = small_latents(head)
    together = explain(head, latents, "projection")
    apart = [explain(head, latents[n : n + 1], "projection")[0] for n in range(len(latents))]
    assert alike(together, apart)
    assert not alike(together, apart[::-1])


def test_the_search_beats_the_published_order():
    """Summed over a few images: statements chosen against the worst rival are fewer than the nearest ones."""
    head = small_head("euclidean", 5, prototypes=40, depth=12, classes=5)
    latents = small_latents(head, images=1, patches=9, seed=5)
    sizes = {
        name: sum(c.size for c in explain(head, latents, **options) if isinstance(c, Certificate))
        for name, options in {
            "rival": {"paradigm": "projection"},
            "nearest": {"paradigm": "projection", "order": "nearest"},
            "triangle": {"paradigm": "triangle", "order": "nearest"},
        }.items()
    }
    assert sizes["rival"] < sizes["nearest"] < sizes["triangle"]


def test_small_memory_makes_small_batches_with_the_same_certificates():
    head = small_head("euclidean")
    latents = small_latents(head)
    assert alike(explain(head, latents, "projection", max_memory=1e-9), explain(head, latents, "projection"))
    for options, sizes in (({"max_memory": 1e-9}, [1, 1, 1, 1]), ({"batch": 3}, [3, 1])):
        parts = explain_batches(head, latents, SearchOptions("projection", **options))
        assert [len(part) for part in parts] == sizes


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("no memory for that many"), RuntimeError("hipErrorOutOfMemory")]
)
def test_a_batch_that_runs_out_of_memory_is_halved(error, monkeypatch):
    monkeypatch.setattr(ProjectionSearch, "is_alone", False)  # as on a device that searches many images at once
    head = small_head("euclidean")
    latents = small_latents(head)
    whole = explain(head, latents, "projection", order="nearest")
    observe_all = Problem.of.__func__
    sizes = []

    def of(cls, head, images, *options):
        sizes.append(len(images))
        if len(images) > 1:
            raise error
        return observe_all(cls, head, images, *options)

    monkeypatch.setattr(Problem, "of", classmethod(of))
    assert alike(explain(head, latents, "projection", order="nearest"), whole)
    assert sizes == [4, 2, 1, 1, 2, 1, 1]

    def never(cls, head, images, *options):
        raise MemoryError

    monkeypatch.setattr(Problem, "of", classmethod(never))
    with pytest.raises(UsageError, match="single image"):
        explain(head, latents, "projection", order="nearest")


def test_out_of_memory_is_known_by_the_words_of_devices_and_libraries():
    for words in (
        "CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "HIP error: out of memory",
        "hipErrorOutOfMemory",
        "cusolver error: CUSOLVER_STATUS_ALLOC_FAILED",
    ):
        assert searching._OUT_OF_MEMORY.search(words)


@pytest.mark.parametrize(
    "name",
    [
        "scaled",
        pytest.param("cosine", marks=pytest.mark.long),
        pytest.param("inner product in a ball", marks=pytest.mark.long),
        "softmax",
    ],
)
def test_a_certificate_does_not_depend_on_the_threads(name):
    """The batch and an image's place in it may decide between statements as good: a library sums the same products of
    other shapes in other orders. Then too the checker proves what is found."""
    head = head_named(name, prototypes=20, depth=16)
    latents = small_latents(head, images=6, patches=9)

    def explained(images, batch):
        return list(explain(head, images, best_paradigm(head), batch=batch))

    def in_bytes(results):
        return [each.to_bytes() if isinstance(each, Certificate) else str(each) for each in results]

    whole = explained(latents, 16)
    assert sum(isinstance(each, Certificate) for each in whole) > 3
    threads = torch.get_num_threads()
    torch.set_num_threads(threads + 2)
    try:
        assert in_bytes(explained(latents, 16)) == in_bytes(whole)
    finally:
        torch.set_num_threads(threads)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents}), "arb")
    for others in (explained(latents, 1), explained(latents.flip(0), 4)[::-1]):
        for each, other in zip(whole, others, strict=True):
            assert isinstance(other, Certificate) == isinstance(each, Certificate)
            if isinstance(other, Certificate):
                assert auditor.check(other.to_bytes()).status is Status.PROVED


@pytest.mark.parametrize("paradigm", ["assignment", "sparse"])
def test_a_softmax_head_that_cannot_tell_gets_a_reason(paradigm):
    (tie,) = explain(Head(torch.ones(2, 3), Softmax(), Identity()), torch.rand(1, 4, 3), paradigm)
    assert isinstance(tie, Unexplained) and "tie" in tie.reason
    bias = torch.tensor([1e-18, 0.0])
    (close,) = explain(Head(torch.eye(2), Softmax(), Identity(), bias=bias), torch.zeros(1, 4, 2), paradigm)
    assert isinstance(close, Unexplained)
    sure = Head(torch.zeros(2, 3), Softmax(), Identity(), bias=torch.tensor([0.0, 1.0]))
    (result,) = explain(sure, torch.rand(1, 4, 3), paradigm)
    assert (result.predicted, result.size) == (1, 0)


def test_numbers_beyond_float64_are_no_tie_and_give_no_class() -> None:
    scale = 1e200
    head = Head(torch.eye(3), Euclidean(), LogRatio(1e-4), torch.rand(3, 4).double() * scale, domain=Box())
    (result,) = Batches(head, torch.rand(1, 4, 4).double() * scale, SearchOptions("projection")).explain(0)
    assert isinstance(result.explanation, Unexplained)
    assert result.explanation.predicted is None and result.logits is None
    assert "are beyond float64: scale its prototypes down" in result.explanation.reason


def test_a_tiny_margin_is_unknown_not_wrong():
    """Two equal prototypes cancel; the bias alone decides, by less than float64 can vouch for."""
    points = torch.rand(1, 2).expand(2, 2)
    bias = torch.tensor([1e-18, 0.0])
    head = Head(torch.eye(2), Euclidean(), LogRatio(), prototypes=points, bias=bias, domain=Box(0, 1))
    (result,) = explain(head, torch.rand(1, 4, 2), "projection")
    assert isinstance(result, Unexplained)


def test_a_class_that_wins_by_its_bias_needs_no_statement():
    head = Head(torch.zeros(2, 3), Euclidean(), LogRatio(), prototypes=torch.rand(3, 2), bias=torch.tensor([0.0, 1.0]))
    for paradigm in ("projection", "top_k"):
        (result,) = explain(head, torch.rand(1, 4, 2), paradigm)
        assert (result.predicted, result.size) == (1, 0)


def test_minimality_is_claimed_only_where_rounding_does_not_decide():
    """Distances of a million: activations and margins of 1e-13 are as small as what float64 may lose."""
    head = small_head("euclidean", 4)
    assert all(c.minimal for c in explain(head, small_latents(head), "projection") if isinstance(c, Certificate))
    far = Head(head.weight, Euclidean(), LogRatio(), prototypes=head.prototypes * 1e6)
    certificates = [
        c for c in explain(far, small_latents(head, images=6) * 1e6, "projection") if isinstance(c, Certificate)
    ]
    assert certificates and not all(c.minimal for c in certificates)


def test_no_images_give_no_certificates():
    assert explain(small_head("euclidean"), torch.zeros(0, 5, 6)) == []


def test_what_cannot_be_explained_is_refused():
    head = small_head("euclidean")
    with pytest.raises(UsageError, match="unknown"):
        explain(head, small_latents(head), "triangulation")
    for options in ({"order": "random"}, {"batch": 0}, {"max_memory": 0}, {"max_memory": float("nan")}):
        with pytest.raises(UsageError, match=next(iter(options))):
            explain(head, small_latents(head), **options)
    with pytest.raises(UsageError, match="softmax"):
        explain(head, small_latents(head), "simplex")
    for paradigm in ("assignment", "sparse"):
        with pytest.raises(UsageError, match=f"{paradigm}.* needs a softmax head"):
            explain(head, small_latents(head), paradigm)
    with pytest.raises(LatentsError, match="outside"):
        explain(head, small_latents(head) + 2)
    with pytest.raises(UsageError, match="metric"):
        explain(Head(torch.rand(2, 3), Softmax(), Identity()), torch.rand(1, 4, 3), "projection")


# Batches: every image is observed once, whatever is asked about it.


@pytest.fixture
def observed(monkeypatch) -> list[int]:
    """One entry for every image that is observed, from whichever module."""
    calls = []
    original = bounds.observe

    def counted(head, images):
        calls.extend([1] * (len(images) if images.dim() > 2 else 1))
        return original(head, images)

    for name, module in list(sys.modules.items()):
        if name.startswith("verale.") and getattr(module, "observe", None) is original:
            monkeypatch.setattr(module, "observe", counted)
    return calls


@pytest.mark.parametrize("paradigm", ["projection", "top_k"])
def test_a_run_observes_every_image_once(paradigm, observed, tmp_path) -> None:
    head = small_head("euclidean")
    options = SearchOptions(paradigm, batch=2)
    with open_run(tmp_path, head, small_latents(head, images=5), options, how=RunOptions(1)) as run:
        rows = list(run)
    assert all(row.score is not None for row in rows)
    assert len(observed) == len(rows) == 5


def test_the_counter_counts(observed) -> None:
    head = small_head("euclidean")
    batches = Batches(head, small_latents(head, images=2), SearchOptions("projection"))
    batches.explain(0)
    batches.explain(0)
    assert len(observed) == 4


@pytest.mark.parametrize(("name", "tolerance"), [(name, 0.01 * (at % 2)) for at, name in enumerate(VARIED)])
def test_logits_are_those_at_the_midpoints_of_the_activations(name, tolerance) -> None:
    """And depend neither on the tolerance nor on the rest of the batch, nor on what may be stated: here nothing."""
    head = varied_head(name)
    options = SearchOptions("top_k", tolerance=tolerance, avoid=Avoid(tuple(range(head.size))))
    batches = Batches(head, small_latents(head, images=3), options)
    for image, result in zip(batches.images.double(), batches.explain(0), strict=True):
        ranges = observe(head, image)
        activations = pooling_of(head).box(ranges.view(1, *ranges.shape))
        expected = read_out(head, (activations.lower + activations.upper) / 2)[0]
        torch.testing.assert_close(result.logits, expected, rtol=1e-12, atol=1e-12)
