"""Costs: uniform ones change nothing, others never make an explanation dearer, and what is wrong is named."""

from __future__ import annotations

import math
import random
from dataclasses import asdict, replace
from itertools import combinations

import numpy as np
import pytest
import safetensors.torch
import torch
from support.activations import cheapest
from support.cases import every
from support.joint import HEADS, joint_head, margins_of_sets
from support.problems import problem_of, small_problem
from support.small import small_head, small_latents, varied_head
from torch import Tensor

from verale.bounds import Joint
from verale.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    SumStatement,
)
from verale.checker import Auditor, Status
from verale.errors import UsageError
from verale.head import Head, as_patches, evaluate
from verale.paradigms import ORDERS, READABLE
from verale.search import Avoid, Batches, Costs, SearchOptions, Unexplained
from verale.search.activations import Activations
from verale.search.costs import UNIT_COSTS
from verale.search.covers import START
from verale.search.explain import explain
from verale.search.problem import Problem
from verale.search.smallest import SEARCHES
from verale.soundness.combinations import draws

CASES = [
    ("euclidean", "projection"),
    ("cosine", "projection"),
    ("top mean", "projection"),
    ("euclidean", "triangle"),
    ("softmax", "simplex"),
    ("softmax", "assignment"),
    ("euclidean", "top_k"),
    ("tree", "top_k"),
    ("softmax", "sparse"),
    pytest.param("euclidean", "mixed", marks=pytest.mark.long),
    ("softmax", READABLE),
]


def head_of(name: str, seed: int = 3) -> Head:
    return varied_head(name, seed) if name in ("top mean", "tree") else small_head(name, seed)


def drawn(seed: int, prototypes: int = 12, patches: int = 5) -> Costs:
    """Costs of some prototypes, patches, statements and clauses, zeros and fractions among them."""
    draw = random.Random(seed)
    values = (0.0, 0.25, 1.0, 2.0, 3.5, 20.0)
    return Costs.of(
        {j: draw.choice(values) for j in range(prototypes)},
        {patch: draw.choice(values) for patch in range(0, patches, 2)},
        {(patch, j): draw.choice(values) for patch in range(patches) for j in range(0, prototypes, 5)},
        draw.choice(values),
        draw.choice(values),
    )


def proved(head: Head, images, paradigm: str, costs: Costs) -> list[Certificate]:
    """The certificates, each of which the checker proves."""
    results = explain(head, images, paradigm, costs=costs)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": images}))
    for result in results:
        if isinstance(result, Certificate):
            verdict = auditor.check(result.to_bytes(), minimality=result.minimal)
            assert verdict.status is Status.PROVED, verdict.message
    return results


JOINT = [(HEADS[0], 0), (HEADS[1], 2**17)]
"""One of the heads has too many sets for all to be tried; `test_joint_avoids` has others."""


@pytest.mark.parametrize(("name", "paradigm"), [*CASES, *JOINT])
def test_an_explanation_is_never_dearer_and_some_are_cheaper(name, paradigm, monkeypatch):
    if isinstance(paradigm, int):
        monkeypatch.setattr("verale.search.paradigms.joint._TRIALS", paradigm)
        head, costs, paradigm = joint_head(name, 1, 14), Costs.of({j: 1 + j % 7 for j in range(14)}), "joint"
    else:
        head, costs = head_of(name), drawn(1)
    images = small_latents(head, images=1, patches=1) if paradigm == "joint" else small_latents(head, images=2)
    cheaper = explained = 0
    plain = explain(head, images, paradigm)
    for one, other in zip(plain, proved(head, images, paradigm, costs), strict=True):
        assert isinstance(one, Certificate) == isinstance(other, Certificate)
        if isinstance(one, Certificate):
            assert costs.total(other.statements) <= costs.total(one.statements)
            cheaper += costs.total(other.statements) < costs.total(one.statements)
            explained += bool(one.statements)
    assert explained and (cheaper or paradigm == "joint")


@pytest.mark.parametrize(("number", "most"), [(38, 35.5), (112, 6.25), (149, 9.5)])
def test_what_costs_most_goes_before_cheaper_clauses_and_sides(number, most):
    """They cost more where a clause waits for cheaper statements, or where sides that go first use up margin."""
    ((_, drawn),) = draws([number], 4)
    costs = Costs.of({0: 5.0, 1: 0.25}, ceiling=3.0, floor=0.5)
    results = explain(drawn.head, drawn.latents, "top_k", order="highest", costs=costs)
    assert sum(costs.total(each.statements) for each in results if isinstance(each, Certificate)) <= most


@pytest.mark.parametrize("name", HEADS[::2])
def test_no_small_set_is_cheaper_than_a_joint_explanation(name):
    """The bound of each set of at most three statements is that of the paradigm itself."""
    head, costs, explained = joint_head(name, 1, 6), Costs.of({j: 1.0 + 4 * (j % 3) for j in range(6)}), 0
    images = small_latents(head, images=1, patches=1)
    for image, result in zip(images, explain(head, images, "joint", costs=costs), strict=True):
        if isinstance(result, Certificate):
            sets = [each for count in range(4) for each in combinations(range(6), count)]
            each = costs.of_prototypes(6)
            margins = margins_of_sets(Joint(head), Problem.of(head, as_patches(image[None])), 0, sets)
            entailing = (chosen for chosen, least in zip(sets, margins, strict=True) if (least > 0).all())
            proved = [sum(each[j] for j in chosen) for chosen in entailing]
            assert costs.total(result.statements) <= min(proved, default=math.inf)
            explained += bool(result.statements)
    assert explained


@pytest.mark.parametrize("geometry", ["euclidean", "cosine", "softmax"])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_explanations_by_activations_cost_no_less_than_the_cheapest_and_hardly_more(geometry, seed):
    """Over all sets of statements: no cost is counted too low, and the search stays near."""
    sums = [0.0, 0.0]
    for number in range(2):
        costs = drawn(seed + 2 * number, prototypes=8)
        problem = problem_of(small_head(geometry, seed, prototypes=8), seed=seed, images=3)
        top_k = SEARCHES["top_k"](problem.head, problem.patches, SearchOptions("top_k"))
        for image in range(len(problem)):
            one = problem.take([image])
            best = cheapest(Activations(one), costs)
            cost = min(
                costs.total(top_k.explain(each, math.inf).statements) for each in (one, replace(one, costs=costs))
            )
            assert cost >= best - 1e-9
            sums[0] += cost
            sums[1] += best
    assert sums[0] <= 1.05 * sums[1]


def test_a_statement_costs_what_its_prototype_and_patch_cost():
    costs = Costs.of({7: 3.0}, {5: 10.0}, {(5, 8): 0.5}, 2.0, 0.0)
    assert costs.total([ActivationStatement(7, 0.0, 1.0), ActivationStatement(8, 0.0, 1.0)]) == 4
    pairs = [(5, 7), (5, 8), (5, 9), (4, 7), (4, 8)]
    assert [costs.of_statement(PatchStatement(*pair, 0.0, 1.0)) for pair in pairs] == [30, 0.5, 10, 3, 1]
    assert [float(costs.of_pairs(6, 10)[pair]) for pair in pairs] == [30, 0.5, 10, 3, 1]
    assert costs.total([OrderStatement((), 1.0), FloorStatement((), 1.0)]) == 2
    assert not UNIT_COSTS and not Costs.of({7: 1.0}, {5: 1}, {(5, 7): 1.0}) and costs
    assert Costs.of({7: 3.0}, statements={(5, 7): 1.0}).of_pair((5, 7)) == 1


def test_fewer_statements_than_a_cost_allows():
    assert UNIT_COSTS.statements_below(math.inf) == math.inf
    assert UNIT_COSTS.statements_below(4.0) == 3
    assert Costs.of({1: 0.5}).statements_below(4.0) == 7
    assert Costs.of({1: 0.5}, {1: 0.5}).statements_below(4.0) == 15
    assert Costs.of({1: 0.0}).statements_below(4.0) == math.inf
    assert Costs.of({1: 9.0}).step == 1 and 0 < Costs.of({1: 0.5, 2: 0.0}).step < 1e-5


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], Costs()),
        (["prototypes:3,7-8=2", "prototypes:7=4"], Costs.of({3: 2, 7: 4, 8: 2})),
        (["patches:0-1=1e1", "statement: 5 , 7 =.5"], Costs.of(None, {0: 10, 1: 10}, {(5, 7): 0.5})),
        (["ceiling=2", "floor=0"], Costs.of(ceiling=2, floor=0)),
        (["prototypes:1=0.123456789", "ceiling=1e-7"], Costs.of({1: 0.123456789}, ceiling=1e-7)),
        ([], Avoid()),
        (["prototypes:3,7-9"], Avoid((3, 7, 8, 9))),
        (["patches:0-2", "prototypes: 5 , 4", "patches:2,9"], Avoid((4, 5), (0, 1, 2, 9))),
    ],
)
def test_what_the_command_line_says(texts, expected):
    assert type(expected).parse(texts) == expected == type(expected)(**asdict(expected))
    assert bool(expected) == bool(texts)
    if isinstance(expected, Costs):
        assert Costs.parse(str(expected).split()) == expected
    assert str(Avoid((9, 3, 7, 8), (0, 1))) == "prototypes 3, 7-9 and patches 0-1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prototypes:3", "'prototypes:3' does not say what costs how much, expected prototypes:3,7-9=2"),
        ("classes:1=2", "'classes:1=2' does not say what costs how much"),
        ("prototypes=2", "'prototypes=2' does not say what costs how much"),
        ("ceiling:1=2", "'ceiling:1=2' does not say what costs how much"),
        ("patches:=1", "'' is not an index or a range"),
        ("patches:7-3=1", "the range 7-3 is empty"),
        ("statement:5=1", "'5' is not a patch and a prototype, such as 5,7"),
        ("prototypes:3=much", "'prototypes:3=much': 'much' is not a number"),
        ("prototypes:3=-1", "the cost of prototypes:3 is -1, expected a number from 0 to 1e\\+06"),
        ("prototypes:3=nan", "the cost of prototypes:3 is nan"),
        ("ceiling=inf", "the cost of ceiling is inf"),
    ],
)
def test_another_form_is_named(text, message):
    with pytest.raises(UsageError, match=message):
        Costs.parse([text])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "'3' does not say what to avoid, expected prototypes:3,7-9 or patches:0-7"),
        ("classes:1", "'classes:1' does not say what to avoid"),
        ("patches:1,,2", "'' is not an index or a range"),
        ("patches:-1", "'-1' is not an index or a range"),
        ("patches:0-999999999", "'0-999999999' is not an index or a range"),
        ("prototypes:a", "'a' is not an index"),
    ],
)
def test_another_form_of_what_to_avoid_is_named(text, message):
    with pytest.raises(UsageError, match=message):
        Avoid.parse([text])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"costs": Costs.of({12: 2})}, "costs of prototypes: there is no 12, expected 0 to 11"),
        ({"costs": Costs.of(None, {5: 2})}, "costs of patches: there is no 5, expected 0 to 4"),
        ({"costs": Costs.of(statements={(5, 0): 2})}, "costs of patches of statements: there is no 5, expected 0 to 4"),
        ({"costs": Costs.of(statements={(0, 12): 2})}, "costs of prototypes of statements: there is no 12, expected 0"),
        ({"avoid": Avoid((12,))}, "prototypes to avoid: there is no 12, expected 0 to 11"),
        ({"avoid": Avoid(patches=(5,))}, "patches to avoid: there is no 5, expected 0 to 4"),
    ],
)
def test_what_there_is_not_has_no_cost_and_cannot_be_avoided(options, message):
    head = small_head("euclidean", 3)
    with pytest.raises(UsageError, match=message):
        explain(head, small_latents(head), **options)


def test_negative_indices_and_other_costs_are_refused():
    with pytest.raises(UsageError, match="costs of patches: -1 is negative"):
        Costs.of(None, {-1: 2})
    with pytest.raises(UsageError, match="the cost of statement:1,2 is nan"):
        Costs.of(statements={(1, 2): math.nan})
    with pytest.raises(UsageError, match="prototypes to avoid: -1 is negative"):
        Avoid((-1,))


# Avoid: what is avoided is never stated, what remains is proved, and where nothing remains the reason says so.


PROTOTYPES = Avoid(prototypes=(0, 3, 4))
PATCHES = Avoid(patches=(1,), prototypes=(4,))

SPATIAL = [
    ("euclidean", "projection"),
    ("scaled", "projection"),
    ("cosine", "projection"),
    ("top mean", "projection"),
    ("euclidean", "triangle"),
    ("cosine", "hypersphere"),
    ("softmax", "simplex"),
    ("softmax", "assignment"),
]
OF_ACTIVATIONS = [
    ("euclidean", "top_k"),
    ("softmax", "top_k"),
    ("tree", "top_k"),
    ("softmax", "sparse"),
    ("euclidean", "evidence"),
    ("euclidean", "mixed"),
    pytest.param("cosine", "mixed", marks=pytest.mark.long),
]


def named(statement) -> tuple[set[int], set[int]]:
    """The patches and the prototypes that a statement is about; none for a clause."""
    match statement:
        case PatchStatement():
            return {statement.patch}, {statement.prototype}
        case ActivationStatement():
            return set(), {statement.prototype}
        case OrderStatement() | FloorStatement() | SumStatement():
            return set(), set()
    raise TypeError(statement)


def certificates(head: Head, images, paradigm: str, avoid: Avoid, **options) -> list[Certificate]:
    """The certificates, each of which the checker proves and none of which states what is avoided."""
    results = explain(head, images, paradigm, avoid=avoid, **options)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": images}))
    for result in results:
        if isinstance(result, Unexplained):
            assert result.reason.endswith(f"; avoided: {avoid}")
            continue
        verdict = auditor.check(result.to_bytes(), minimality=result.minimal)
        assert verdict.status is Status.PROVED, verdict.message
        for patches, prototypes in map(named, result.statements):
            assert not patches & set(avoid.patches) and not prototypes & set(avoid.prototypes)
    return [result for result in results if isinstance(result, Certificate)]


def states(certificate: Certificate, avoid: Avoid) -> bool:
    return any(
        patches & set(avoid.patches) or prototypes & set(avoid.prototypes)
        for patches, prototypes in map(named, certificate.statements)
    )


@pytest.mark.parametrize(("name", "paradigm"), [*SPATIAL, *OF_ACTIVATIONS])
def test_prototypes_are_avoided_that_would_be_stated(name, paradigm):
    head = head_of(name)
    images = small_latents(head, images=6)[: None if paradigm in ("sparse", "mixed") else 2]
    plain = [each for each in explain(head, images, paradigm, digits="exact") if isinstance(each, Certificate)]
    assert any(states(each, PROTOTYPES) for each in plain)
    assert sum(len(certificates(head, images, paradigm, each)) for each in (PROTOTYPES, Avoid((3,))))


def head_of_support(name: str, images: Tensor) -> Head:
    """A head whose first class is entailed by evidence for it alone, wherever it is; nothing speaks for the others."""
    head = head_of(name)
    weight = torch.zeros_like(head.weight)
    weight[0] = 1.0
    support = replace(head, weight=weight, bias=None)
    least = float(evaluate(support, as_patches(images)).logits[:, 0].amin())
    return replace(support, bias=torch.tensor([0.0, 0.5 * least, 0.5 * least]))


@pytest.mark.parametrize(
    ("name", "paradigm", "order"),
    [
        pytest.param(*case, order, marks=[pytest.mark.long] * (number % len(ORDERS) != place))
        for number, case in enumerate(SPATIAL)
        for place, order in enumerate(ORDERS)
    ],
)
def test_patches_are_avoided_that_would_be_stated(name, paradigm, order):
    images = small_latents(head_of(name), images=3)
    head, avoid = head_of_support(name, images), Avoid((4,), (0,))
    plain = explain(head, images, paradigm, order=order, digits="exact")
    assert any(isinstance(each, Certificate) and states(each, avoid) for each in plain)
    assert certificates(head, images, paradigm, avoid, order=order)


@pytest.mark.parametrize(("name", "few"), [(HEADS[2], 2**17), (HEADS[3], 0)])
def test_joint_avoids(name, few, monkeypatch):
    monkeypatch.setattr("verale.search.paradigms.joint._TRIALS", few)
    head = joint_head(name, 1, 14)
    images = small_latents(head, images=1, patches=1)
    plain = [each for each in explain(head, images, "joint") if isinstance(each, Certificate)]
    avoid = Avoid(tuple({j for each in plain for s in each.statements for j in named(s)[1]}))
    assert avoid and certificates(head, images, "joint", avoid)


@every("order", ORDERS)
@every("everything", [Avoid(tuple(range(12))), Avoid(patches=tuple(range(5)))])
@every(("name", "paradigm"), [*SPATIAL, ("euclidean", "top_k"), ("euclidean", "evidence"), ("softmax", "sparse")])
def test_nothing_left_to_state_is_a_reason_that_names_what_was_avoided(name, paradigm, everything, order):
    head = head_of(name)
    images = small_latents(head, images=1)
    if paradigm in ("top_k", "evidence", "sparse") and everything.patches:
        with pytest.raises(UsageError, match=f"paradigm '{paradigm}' states activations, which speak of all patches"):
            explain(head, images, paradigm, avoid=everything)
        return
    for result in explain(head, images, paradigm, avoid=everything, order=order):
        if isinstance(result, Certificate):  # clauses alone
            assert all(isinstance(each, (OrderStatement, FloorStatement)) for each in result.statements)
        else:
            assert result.reason.endswith(f"; avoided: {everything}")


@pytest.mark.parametrize("paradigm", ["top_k", "mixed"])
def test_a_reason_claims_no_more_than_was_tried(paradigm):
    head, everything = head_of("euclidean"), Avoid(tuple(range(12)))
    results = explain(head, small_latents(head, images=3), paradigm, avoid=everything)
    reasons = {result.reason for result in results if isinstance(result, Unexplained)}
    assert reasons == {"no explanation was found; avoided: prototypes 0-11"}


def test_a_joint_explanation_without_its_patch_has_a_reason():
    head = joint_head("plain", 1, 40)
    images = small_latents(head, images=2, patches=1)
    for result in explain(head, images, "joint", avoid=Avoid(patches=(0,))):
        assert isinstance(result, Unexplained)
        assert result.reason == "the class stays open though every observable is stated; avoided: patches 0"


def test_smallest_tries_what_can_avoid_patches():
    head = head_of("euclidean")
    images = small_latents(head, images=2)
    assert {"top_k", "mixed"} <= set(Batches(head, images, SearchOptions(READABLE)).paradigms)
    assert Batches(head, images, SearchOptions(READABLE, avoid=PATCHES)).paradigms == ("projection",)
    assert certificates(head, images, READABLE, PROTOTYPES)


def test_where_no_paradigm_is_left_the_refusal_is_given(monkeypatch):
    def refuse(needed, what, options):
        raise UsageError(f"{what} take too much")

    monkeypatch.setattr("verale.search.paradigms.base.require_memory", refuse)
    head = head_of("euclidean")
    with pytest.raises(UsageError, match="the products of 12 prototypes take too much"):
        Batches(head, small_latents(head), SearchOptions(READABLE, avoid=PATCHES))


def test_a_cover_is_found_under_clauses_where_the_first_ceiling_does_not_serve():
    """Of some images every cover needs a ceiling, or a floor, where the first ceiling would exempt what is avoided."""
    problem, later = small_problem("euclidean", 2, images=3), 0
    for image in range(len(problem)):
        for j in range(problem.head.size):
            activations = Activations(replace(problem.take([image]), avoid=Avoid((j,))))
            covers, clauses = activations.covers, activations.clauses
            start = float(np.quantile(activations.observed.upper.numpy(), START, method="nearest"))
            cover = covers.best(clauses)
            assert cover is None or j not in cover.stated
            if cover is not None and covers._solve(clauses, (start, -math.inf), math.inf) is None:
                assert activations.least(activations.cover(cover)) > 0
                later += 1
    assert later
