"""Evidence: true of the image, entailing, proved by the checker, and with as few prototypes of the class as do."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf

import pytest
import safetensors.torch
import torch
from support.problems import small_problem
from support.small import GEOMETRIES, varied_head

from verale.certificate import ActivationStatement, Certificate, SumStatement
from verale.checker import Auditor, Status
from verale.errors import UsageError
from verale.head import Cosine, Head, Identity
from verale.head.head import belonging
from verale.search.costs import Avoid
from verale.search.explain import explain
from verale.search.options import SearchOptions, Unexplained
from verale.search.paradigms import evidence
from verale.search.paradigms.evidence import EvidenceSearch
from verale.search.problem import NoExplanation, Problem


def search_of(head: Head, patches: int) -> EvidenceSearch:
    return EvidenceSearch(head, patches, SearchOptions("evidence"))


def clear_head(
    seed: int, classes: int = 3, each: int = 4, depth: int = 6, near: float = 0.0
) -> tuple[Head, torch.Tensor]:
    """A head of cosines that is right of its images: prototypes of a class lie about one direction, the nearer the
    greater `near` is; and one image (3, L, D) of each class."""
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn(classes, 1, depth, generator=generator, dtype=torch.float64)
    centres /= centres.norm(dim=2, keepdim=True)
    spread = torch.randn(classes, each, depth, generator=generator, dtype=torch.float64)
    prototypes = (centres + (1 - near) * 0.4 * spread).flatten(0, 1)
    weight = torch.full((classes, classes * each), -0.25, dtype=torch.float64)
    for c in range(classes):
        weight[c, c * each : (c + 1) * each] = 1.0
    head = Head(weight, Cosine(0.0), Identity(), prototypes=prototypes)
    images = centres + 0.1 * torch.randn(classes, 2, depth, generator=generator, dtype=torch.float64)
    return head, images


@pytest.mark.parametrize("digits", ["exact", "fewest", 2])
@pytest.mark.parametrize("near", [0.0, 0.9])
def test_every_kernel_proves_what_is_found(digits: int | str, near: float, proved_checker: str, monkeypatch):
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    found = 0
    for seed in range(4):
        head, images = clear_head(seed, near=near)
        latents = safetensors.torch.save({"latents": images})
        auditors = [Auditor(head.to_bytes(), latents, kernel) for kernel in ("proved", "arb", "mpmath")]
        for each in explain(head, images, "evidence", digits=digits):
            assert isinstance(each, Certificate)
            found += 1
            for auditor in auditors:
                assert auditor.check(each.to_bytes()).status is Status.PROVED
    assert found == 12


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_statements_are_true_and_prove_the_class(geometry):
    """In exact numbers of the image's activations: floors of the class's own prototypes, and sums."""
    problem = small_problem(geometry, 4)
    search, weight = search_of(problem.head, problem.patches), problem.head.weight
    for image, solution in enumerate(search.solve(problem, [inf] * len(problem))):
        if isinstance(solution, NoExplanation):
            continue
        one = problem.take([image])
        predicted = int(one.margins.predicted[0])
        statements, margins, _, _ = solution
        own = belonging(problem.head, torch.tensor([predicted]))[0]
        lower, upper = one.activations.lower[0], one.activations.upper[0]
        for each in statements:
            if isinstance(each, ActivationStatement):
                assert bool(own[each.prototype])
                assert each.lower <= float(lower[each.prototype]) and each.upper == inf
                continue
            assert isinstance(each, SumStatement) and each.upper >= 0
            for rival in set(range(problem.head.classes) if each.rivals is None else each.rivals) - {predicted}:
                gains = [
                    Fraction(float(weight[rival, j])) - Fraction(float(weight[predicted, j])) for j in range(len(own))
                ]
                least = sum(
                    min(d * Fraction(float(e)) for e in (lower[j], upper[j])) for j, d in enumerate(gains) if not own[j]
                )
                assert least <= Fraction(each.upper)
        proved = search.prove(one, statements)
        assert (proved > 0).all() and (proved >= torch.tensor(margins, dtype=torch.float64)).all()


def test_the_fewest_prototypes_that_do():
    """No smaller set of the class's own prototypes proves the class with the same sum."""
    for seed in range(6):
        head, images = clear_head(seed)
        problem = Problem.of(head, images)
        search = EvidenceSearch(head, images.shape[1], SearchOptions("evidence", digits="exact"))
        for image, solution in enumerate(search.solve(problem, [inf] * len(problem))):
            assert not isinstance(solution, NoExplanation)
            one = problem.take([image])
            sums = [each for each in solution[0] if isinstance(each, SumStatement)]
            lower = one.activations.lower[0].tolist()
            own = belonging(head, one.margins.predicted)[0].nonzero()[:, 0].tolist()
            for fewer in combinations(own, len(solution[0]) - len(sums) - 1):
                statements = [*(ActivationStatement(j, lower[j], inf) for j in fewer), *sums]
                assert not (search.prove(one, statements) > 0).all()


@pytest.mark.parametrize("digits", ["exact", "fewest", 2])
def test_what_an_image_gets_does_not_depend_on_the_others(digits):
    """Nor where some of them need more statements, or more prototypes than are tried as sets."""
    for each in (4, 16):
        head, images = clear_head(3, each=each)
        images = torch.cat([images, images.flip(2), images.mean(0, keepdim=True)])
        together = explain(head, images, "evidence", digits=digits, batch=len(images))
        alone = explain(head, images, "evidence", digits=digits, batch=1)
        assert len({getattr(one, "size", None) for one in together}) > 1
        for one, other in zip(together, alone, strict=True):
            assert getattr(one, "statements", one) == getattr(other, "statements", other)


@pytest.mark.parametrize("each", [3, 14])
def test_where_sets_are_too_many_prototypes_are_added_one_by_one(each, monkeypatch):
    """Nothing that is found so can be spared, and where all sets are tried there are no more."""
    head, images = clear_head(5, each=each)
    best = explain(head, images, "evidence")
    monkeypatch.setattr(evidence, "_AT_ONCE", 0)
    for one, fewest in zip(explain(head, images, "evidence"), best, strict=True):
        assert isinstance(one, Certificate) and isinstance(fewest, Certificate)
        assert one.minimal and one.size >= fewest.size


def test_neighbours_shorten():
    """Where prototypes lie close together, fewer statements are enough than without what they say of one another."""
    sizes = {}
    for near in (0.0, 0.95):
        head, images = clear_head(1, each=6, near=near)
        sizes[near] = sum(each.size for each in explain(head, images, "evidence"))
    assert sizes[0.95] == 6 < sizes[0.0]  # one prototype and a sum, of each of three images


def test_a_readout_that_is_not_linear_is_refused():
    with pytest.raises(UsageError, match="needs a linear readout"):
        search_of(varied_head("tree"), 9)


def test_avoided_prototypes_are_not_stated():
    head, images = clear_head(0)
    before = explain(head, images[:1], "evidence")[0]
    assert isinstance(before, Certificate)
    named = {each.prototype for each in before.statements if isinstance(each, ActivationStatement)}
    first = min(named)
    after = explain(head, images[:1], "evidence", avoid=Avoid(prototypes=(first,)))[0]
    assert isinstance(after, Certificate)
    assert first not in {each.prototype for each in after.statements if isinstance(each, ActivationStatement)}


def test_says_why_there_is_none():
    """Where what leads is a bias, or prototypes of another class, nothing that the class's own show is enough."""
    head, images = clear_head(0)
    weight = torch.zeros_like(head.weight)
    weight[1, 4:8] = -1.0  # belong to class 0 too, and give it its lead
    weight[2, :] = 1.0
    bias = torch.tensor([9.0, 0.0, -0.5], dtype=torch.float64)
    hostile = Head(weight, head.geometry, head.similarity, prototypes=head.prototypes, bias=bias)
    (given,) = explain(hostile, images[:1], "evidence")
    assert isinstance(given, Unexplained)
    assert given.reason == "the class stays open though all of its prototypes are stated"


def test_the_default_takes_it_where_there_is_least_to_read():
    head, images = clear_head(2, near=0.9)
    assert {each.paradigm for each in explain(head, images, "readable")} == {"evidence"}


@pytest.mark.parametrize("digits", ["exact", "fewest"])
def test_a_close_rival_that_others_do_not_favour_gets_a_sum_of_its_own(digits: str) -> None:
    """Others take back 4 points for class 1, of which the class has 6 more, but none for class 2, of which it has 1
    more: by one sum for both, class 2 would stay open."""
    weight = torch.tensor([[1.0, 0.0, 0.0], [-5.0, 8.0, 0.0], [0.0, 0.0, 4.0]])
    head = Head(weight, Cosine(0.0), Identity(), prototypes=torch.eye(3))
    patches = torch.tensor([[1.0, 0.0, 0.0], [0.75**0.5, 0.5, 0.0]], dtype=torch.float64)
    (found,) = explain(head, patches[None], "evidence", digits=digits)
    assert isinstance(found, Certificate)
    assert [(type(each), getattr(each, "rivals", ())) for each in found.statements] == [
        (ActivationStatement, ()),
        (SumStatement, None),
        (SumStatement, (2,)),
    ]
    for kernel in ("arb", "mpmath"):
        assert Auditor(head.to_bytes(), None, kernel).check(found.to_bytes(), entailment_only=True).status is (
            Status.PROVED
        )
