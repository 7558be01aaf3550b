"""What all paradigms promise: statements prove what the search proved, less if they are wider, nothing if some lack."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import inf

import pytest
import safetensors.torch
import torch
from support.digits import digits_of
from support.joint import HEADS, joint_head, margins_of_sets
from support.problems import small_problem
from support.small import GEOMETRIES, small_head, small_latents

from verale.bounds import Hypersphere, Joint, Triangle
from verale.certificate import ActivationStatement, Certificate, SumStatement
from verale.checker import Auditor, Status
from verale.head import Cosine, Head, Identity, as_patches
from verale.head.head import belonging
from verale.paradigms import ORDERS
from verale.search import Costs, SearchOptions
from verale.search.digits import in_digits, least_unit
from verale.search.explain import explain
from verale.search.options import Unexplained
from verale.search.paradigms import evidence
from verale.search.paradigms.evidence import EvidenceSearch
from verale.search.paradigms.joint import _TRIALS, _Estimates
from verale.search.problem import NoExplanation, Problem
from verale.search.smallest import SEARCHES

CASES = [
    *((geometry, "top_k") for geometry in GEOMETRIES),
    ("euclidean", "projection"),
    ("cosine", "projection"),
    ("euclidean", "triangle"),
    ("cosine", "hypersphere"),
    ("euclidean", "mixed"),
    ("softmax", "simplex"),
    ("softmax", "assignment"),
    ("softmax", "sparse"),
]


@pytest.mark.parametrize(("geometry", "paradigm"), CASES)
def test_statements_prove_what_was_proved_of_them(geometry, paradigm):
    problem = small_problem(geometry, 1).take([0])
    search = SEARCHES[paradigm](problem.head, problem.patches, SearchOptions(paradigm, digits="exact"))
    (solution,) = search.solve(problem, [float("inf")])
    assert not isinstance(solution, NoExplanation)
    statements = solution.statements

    def proved(some):
        return search.prove(problem, some, solution.prices)

    again = proved(statements)
    finite = again.isfinite()
    torch.testing.assert_close(again[finite], solution.margins[finite], rtol=1e-5, atol=1e-6)
    wide = [proved(in_digits(statements, digits, 1e-8))[finite] for digits in (6, 3, 1)]
    for narrower, wider in zip([again[finite], *wide], wide, strict=False):
        assert (wider <= narrower + 1e-9).all()
    assert (wide[-1] < again[finite] - 1e-6).any()
    assert not (proved([]) > 0).all()


# Paradigms of patches: what the search asks of their bounds.


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
@pytest.mark.parametrize(("name", "bounds"), [("triangle", Triangle), ("hypersphere", Hypersphere)])
def test_explanations_by_published_bounds_are_its_own_and_no_smaller(name, bounds, geometry):
    head = small_head(geometry, 2)
    images = small_latents(head, images=2, patches=5)
    published, ours = (explain(head, images, paradigm) for paradigm in (name, "projection"))
    assert {each.paradigm for each in published} == {name}
    assert not any(each.minimal for each in published)
    assert sum(each.size for each in published) >= sum(each.size for each in ours)
    assert isinstance(SEARCHES[name](head, 5, SearchOptions(name)).spatial, bounds)


# simplex: of both orders the smaller explanation is kept, unless one is chosen


def test_the_smaller_of_both_orders_is_kept():
    best = set()
    for seed in range(4):
        head = small_head("softmax", seed, prototypes=16)
        images = small_latents(head, images=4, patches=6)
        smaller, *by_order = (
            explain(head, images, "simplex", order=order, digits="exact") for order in (None, *ORDERS)
        )
        for kept, *each in zip(smaller, *by_order, strict=True):
            sizes = [one.size for one in each]
            assert kept.size == min(sizes)
            best |= {sizes.index(min(sizes))} if len(set(sizes)) > 1 else set()
    assert best == {0, 1}, "neither order is always best"


def test_the_second_order_is_told_how_many_statements_the_first_one_has(monkeypatch):
    problem = small_problem("softmax")
    search = SEARCHES["simplex"](problem.head, problem.patches, SearchOptions("simplex"))
    told = []
    explain_ = type(search).explain
    monkeypatch.setattr(type(search), "explain", lambda self, *given: told.append(given[1:]) or explain_(self, *given))
    search.propose(problem, [2.0] + [math.inf] * (len(problem) - 1))
    monkeypatch.undo()
    sizes = [len(each.pairs) for each in search.explain(problem, ORDERS[0], [math.inf] * len(problem))]
    assert [order for order, _ in told] == list(ORDERS)
    assert told[1][1] == [2.0, *sizes[1:]]


# Projection with slack: statements of few digits that prove the class, where exact ones leave too little for that.


def asked(geometry: str, digits: int):
    """For each image its search, and what it is asked for where so many digits do not prove the class."""
    problem = small_problem(geometry, 1, images=4)
    search = SEARCHES["projection"](problem.head, problem.patches, SearchOptions("projection", digits="exact"))
    least = least_unit(problem.head)
    for number in range(len(problem)):
        image = problem.take([number])
        (solution,) = search.solve(image, [float("inf")])
        assert not isinstance(solution, NoExplanation)
        margins = search.prove(image, in_digits(solution.statements, digits, least))
        if not (margins > 0).all():
            yield search, image, ([solution.statements], (solution.margins - margins)[None], digits, least)


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_with_slack_few_digits_prove_the_class(geometry):
    found = []
    for search, image, given in [each for digits in (2, 3) for each in asked(geometry, digits)]:
        (solved,) = search.with_slack(image, *given)
        if solved is None:
            continue
        statements = solved.statements
        found.append(statements)
        assert digits_of(statements) <= given[2] and solved.prices == ()
        assert len(statements) <= 1.1 * len(given[0][0])
        proved = search.prove(image, statements)
        assert (proved > 0).all()
        assert (proved >= solved.margins).all()
    assert found


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_rounds_choose_statements_whose_margins_allow_for_few_digits(geometry, monkeypatch):
    monkeypatch.setattr("verale.search.rounds.explain.SHORT", 0)
    proved = []
    for digits in (2, 3):
        for exact, image, given in asked(geometry, digits):
            search = SEARCHES["projection"](image.head, image.patches, SearchOptions("projection", digits=digits))
            (solution,) = search.solve(image, [float("inf")])
            proved.append(bool((exact.prove(image, in_digits(solution.statements, digits, given[3])) > 0).all()))
    assert any(proved)


def test_with_costs_no_others_are_looked_for():
    search, image, given = next(each for digits in (1, 2, 3) for each in asked("euclidean", digits))
    costly = replace(image, costs=Costs.of(prototypes={0: 2.0}))
    assert search.with_slack(costly, *given) == [None]


def test_images_are_asked_together_as_each_alone():
    problem = small_problem("euclidean", 1, images=4)
    search = SEARCHES["projection"](problem.head, problem.patches, SearchOptions("projection", digits="exact"))
    solutions, least = search.solve(problem, [float("inf")] * len(problem)), least_unit(problem.head)
    for digits in (2, "fewest"):
        together = search.in_short_numbers(problem, solutions, digits, least)
        assert any(together)
        for image, (one, solution) in enumerate(zip(together, solutions, strict=True)):
            (alone,) = search.in_short_numbers(problem.take([image]), [solution], digits, least)
            assert (one and one.statements) == (alone and alone.statements)


# Joint: the smallest sets of statements about one patch, proved by the checker.


def explained(problem: Problem, most: float = inf):
    search = SEARCHES["joint"](problem.head, 1, SearchOptions("joint"))
    return search.explain(problem, "rival", [most] * len(problem))


def latents(head: Head, seed: int) -> torch.Tensor:
    return small_latents(head, images=2, patches=1, seed=seed)


@pytest.mark.parametrize(
    ("name", "prototypes", "tolerance"),
    [
        pytest.param(name, *sizes, marks=[pytest.mark.long] * (place != number % 2))
        for number, name in enumerate(HEADS)
        for place, sizes in enumerate(((5, 0.001), (20, 0.0), (5, 0.0), (20, 0.001)))
    ],
)
def test_the_checker_proves_what_is_found_and_that_it_is_minimal(name: str, prototypes: int, tolerance: float) -> None:
    head = joint_head(name, 1, prototypes)
    images = latents(head, 1)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": images}))
    for explanation in explain(head, images, "joint", tolerance=tolerance):
        assert isinstance(explanation, Certificate)
        assert explanation.minimal or tolerance
        verdict = auditor.check(explanation.to_bytes(), minimality=explanation.minimal)
        assert verdict.status is Status.PROVED, verdict.message


@pytest.mark.parametrize("name", HEADS)
def test_no_smaller_set_is_proved(name: str) -> None:
    head = joint_head(name, 2)
    joint, problem = Joint(head), Problem.of(head, as_patches(latents(head, 2)))
    for image, explanation in enumerate(explained(problem)):
        assert not isinstance(explanation, NoExplanation)
        sets = list(combinations(range(head.size), max(0, len(explanation.pairs) - 1)))
        margins = margins_of_sets(joint, problem, image, sets)
        assert not explanation.pairs or not (margins > 0).all(1).any()


@pytest.mark.parametrize("name", HEADS)
def test_estimates_are_what_is_proved(name: str) -> None:
    head = joint_head(name, 3)
    joint, problem = Joint(head), Problem.of(head, as_patches(latents(head, 3)))
    observed, predicted = problem.observed[:1], problem.margins.predicted[:1]
    estimates = _Estimates(joint, int(predicted), (observed.lower + observed.upper)[0] / 2)
    for count in (1, 2, 3):
        sets = list(combinations(range(head.size - 1), count))  # the last prototype equals the first
        found, proved = estimates.of_sets(torch.tensor(sets)), margins_of_sets(joint, problem, 0, sets)
        rivals = torch.arange(head.classes) != predicted
        assert torch.allclose(found[:, rivals], proved[:, rivals], rtol=0, atol=1e-4)


def test_many_prototypes_are_added_one_by_one() -> None:
    head = joint_head("inner product", 4, 400)
    assert 400 * 399 // 2 * head.classes > _TRIALS
    for explanation in explain(head, latents(head, 4), "joint"):
        assert isinstance(explanation, Certificate) and 1 <= explanation.size <= 6 and explanation.minimal


@pytest.mark.parametrize("trials", [_TRIALS, 0])
def test_a_limit_of_statements_is_kept(trials: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verale.search.paradigms.joint._TRIALS", trials)
    head = joint_head("inner product", 1, 9)
    problem = Problem.of(head, as_patches(latents(head, 1)[:2]))
    sizes = [len(each.pairs) for each in explained(problem) if not isinstance(each, NoExplanation)]
    assert len(sizes) == 2 and max(sizes) > 1
    for limit in (1.0, 5.0):
        for size, each in zip(sizes, explained(problem, limit), strict=True):
            if size <= limit:
                assert not isinstance(each, NoExplanation) and len(each.pairs) == size
            else:
                assert each.reason == f"no explanation was found with at most {limit:.0f} statements"


def test_nothing_is_stated_where_nothing_has_to_be() -> None:
    head = joint_head("negated", 5)
    bias = torch.zeros(head.classes)
    bias[1] = 1e3
    sure = Head(head.weight, head.geometry, head.similarity, head.prototypes, bias, head.scale, domain=head.domain)
    for explanation in explain(sure, latents(sure, 5), "joint"):
        assert isinstance(explanation, Certificate) and explanation.size == 0 and explanation.minimal


# Evidence: true of the image, entailing, proved by the checker, and with as few prototypes of the class as do.


def evidence_of(head: Head, patches: int) -> EvidenceSearch:
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
    search, weight = evidence_of(problem.head, problem.patches), problem.head.weight
    for image, solution in enumerate(search.solve(problem, [inf] * len(problem))):
        if isinstance(solution, NoExplanation):
            continue
        one = problem.take([image])
        predicted = int(one.margins.predicted[0])
        statements = solution.statements
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
        assert (proved > 0).all() and (proved >= solution.margins).all()


def test_the_fewest_prototypes_that_do():
    """No smaller set of the class's own prototypes proves the class with the same sum."""
    for seed in range(6):
        head, images = clear_head(seed)
        problem = Problem.of(head, images)
        search = EvidenceSearch(head, images.shape[1], SearchOptions("evidence", digits="exact"))
        for image, solution in enumerate(search.solve(problem, [inf] * len(problem))):
            assert not isinstance(solution, NoExplanation)
            one = problem.take([image])
            sums = [each for each in solution.statements if isinstance(each, SumStatement)]
            lower = one.activations.lower[0].tolist()
            own = belonging(head, one.margins.predicted)[0].nonzero()[:, 0].tolist()
            for fewer in combinations(own, len(solution.statements) - len(sums) - 1):
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
