"""Costs: uniform ones change nothing, others never make an explanation dearer, and what is wrong is named."""

from __future__ import annotations

import math
import random
from dataclasses import asdict, replace
from itertools import combinations

import pytest
import safetensors.torch
from support.activations import cheapest
from support.joint import HEADS, joint_head, margins_of_sets
from support.problems import problem_of
from support.small import small_head, small_latents, varied_head

from verale.bounds import Joint
from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.checker import Auditor, Status
from verale.errors import UsageError
from verale.head import Head, as_patches
from verale.paradigms import READABLE
from verale.search import Costs, SearchOptions
from verale.search.activations import Activations
from verale.search.costs import UNIT_COSTS
from verale.search.explain import explain
from verale.search.problem import Problem
from verale.search.smallest import SEARCHES

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


@pytest.mark.parametrize(("name", "paradigm"), CASES)
def test_an_explanation_is_never_dearer_and_some_are_cheaper(name, paradigm):
    head, costs, cheaper = head_of(name), drawn(1), 0
    images = small_latents(head, images=2)
    plain = explain(head, images, paradigm)
    for one, other in zip(plain, proved(head, images, paradigm, costs), strict=True):
        assert isinstance(one, Certificate) == isinstance(other, Certificate)
        if isinstance(one, Certificate):
            assert costs.total(other.statements) <= costs.total(one.statements)
            cheaper += costs.total(other.statements) < costs.total(one.statements)
    assert cheaper


@pytest.mark.parametrize(("name", "few"), [*zip(HEADS, (0, 2**17) * 3, strict=True)])  # test_avoid.py has the others
def test_joint_explanations_are_never_dearer(name, few, monkeypatch):
    monkeypatch.setattr("verale.search.paradigms.joint._TRIALS", few)
    head, explained = joint_head(name, 1, 14), 0
    images = small_latents(head, images=1, patches=1)
    costs = Costs.of({j: 1 + j % 7 for j in range(14)})
    for one, other in zip(explain(head, images, "joint"), proved(head, images, "joint", costs), strict=True):
        if isinstance(one, Certificate):
            assert costs.total(other.statements) <= costs.total(one.statements)
            explained += bool(one.statements)
    assert explained


@pytest.mark.parametrize("name", HEADS)
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


def test_an_order_is_costs_that_double():
    """The explanation avoids the last prototype if any can, of those that do the one before, and so on."""
    head = small_head("softmax", 3)
    images = small_latents(head, images=6)
    costs, ranked = Costs.of({j: 2.0**j for j in range(12)}), 0
    for image in images:
        (result,) = explain(head, image[None], "sparse", costs=costs)
        if not isinstance(result, Certificate):
            continue
        kept = {each.prototype for each in result.statements}
        ranked += 1
        activations = Activations(Problem.of(head, as_patches(image[None])))
        entailing = list(range(12))
        for j in reversed(range(12)):
            without = [k for k in entailing if k != j]
            if activations.least(activations.state(without)) > 0:
                entailing = without
        assert kept == set(entailing)
    assert ranked


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
    ],
)
def test_what_the_command_line_says(texts, expected):
    assert Costs.parse(texts) == expected
    assert Costs.parse(str(expected).split()) == expected
    assert bool(expected) == bool(texts)
    assert Costs(**asdict(expected)) == expected


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
    ("costs", "message"),
    [
        (Costs.of({12: 2}), "costs of prototypes: there is no 12, expected 0 to 11"),
        (Costs.of(None, {5: 2}), "costs of patches: there is no 5, expected 0 to 4"),
        (Costs.of(statements={(5, 0): 2}), "costs of patches of statements: there is no 5, expected 0 to 4"),
        (Costs.of(statements={(0, 12): 2}), "costs of prototypes of statements: there is no 12, expected 0 to 11"),
    ],
)
def test_what_there_is_not_has_no_cost(costs, message):
    head = small_head("euclidean", 3)
    with pytest.raises(UsageError, match=message):
        explain(head, small_latents(head), costs=costs)


def test_negative_indices_and_other_costs_are_refused():
    with pytest.raises(UsageError, match="costs of patches: -1 is negative"):
        Costs.of(None, {-1: 2})
    with pytest.raises(UsageError, match="the cost of statement:1,2 is nan"):
        Costs.of(statements={(1, 2): math.nan})
