"""Smallest: of each image the explanation with the least to read is kept, and what the others gave is told."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest
import torch
from support.problems import small_problem
from support.small import GEOMETRIES, focal_head, small_head, small_latents, varied_head

from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement
from verale.certificate.statements import to_read
from verale.checker import Auditor, Status
from verale.errors import LatentsError, UsageError
from verale.head import as_patches
from verale.paradigms import ORDERS, PARADIGMS, READABLE
from verale.search import Batches, NotKept, SearchOptions, Unexplained, smallest
from verale.search import several as searching
from verale.search.costs import UNIT_COSTS
from verale.search.explain import explain
from verale.search.paradigms.base import cheaper, require_memory
from verale.search.problem import Explanation, NoExplanation, UnexplainedError
from verale.search.several import several
from verale.search.smallest import SEARCHES, SHORT_ENOUGH, best_paradigm, keep_smallest, paradigms_taken, searches_of


def results_of(head, latents, paradigm, **options):
    batches = Batches(head, latents, SearchOptions(paradigm, **options))
    return batches, [result for start in batches.starts for result in batches.explain(start)]


class Scripted:
    """A search that gives solutions of known sizes; None for no solution."""

    def __init__(self, name, sizes):
        self.name, self.sizes, self.most = name, sizes, []

    def solve(self, problem, most):
        self.most = most
        return [
            NoExplanation("no luck")
            if size is None
            else Explanation([ActivationStatement(0, 0.0, 1.0)] * size, torch.ones(0), True)
            for size in self.sizes
        ]


def test_the_least_to_read_is_kept_the_earlier_on_a_tie_and_each_is_told_what_it_has_to_beat():
    """Each of these statements has three words to read, as `mixed` may state; a statement about a patch has four."""
    problem = small_problem("euclidean", 2).take([0, 1])
    first, second, third = (
        Scripted(*each) for each in (("top_k", [8, None]), ("mixed", [8, 12]), ("projection", [5, None]))
    )
    kept = keep_smallest(problem, [first, second, third])
    assert (first.most, second.most, third.most) == ([math.inf] * 2, [7, math.inf], [5, 8])
    assert [each.paradigm for each in kept] == ["projection", "mixed"]
    assert kept[0].others == (NotKept("top_k", 8), NotKept("mixed", 8))
    assert kept[1].others == (NotKept("top_k", None, "no luck"), NotKept("projection", None, "no luck"))
    tie = keep_smallest(problem, [first, second])
    assert [each.paradigm for each in tie] == ["top_k", "mixed"]
    keep_smallest(problem, [second, third, first])
    assert (third.most, first.most) == ([5, 8], [4, 11])


def test_what_is_read_at_a_glance_is_not_searched_again():
    """Four statements of three words are; five are not."""
    problem = small_problem("euclidean", 2).take([0, 1])
    first, second = Scripted("top_k", [4, 5]), Scripted("mixed", [2])
    kept = keep_smallest(problem, [first, second])
    assert second.most == [4] and [each.paradigm for each in kept] == ["top_k", "mixed"]
    assert kept[0].others == (NotKept("mixed", None, SHORT_ENOUGH.reason),)


def test_a_reason_is_never_cheaper():
    solution, why = Explanation([], torch.ones(0), True), NoExplanation("why")
    assert cheaper(UNIT_COSTS, why, solution) == cheaper(UNIT_COSTS, solution, why) == solution
    assert cheaper(UNIT_COSTS, why, NoExplanation("or why")) == why


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_no_paradigm_gives_less_to_read(geometry, monkeypatch):
    """But what is read at a glance anyhow."""
    monkeypatch.setattr(smallest, "AT_A_GLANCE", 0)
    head = small_head(geometry, 3)
    latents = small_latents(head, images=1, seed=3)
    batches, results = results_of(head, latents, READABLE)
    auditor = Auditor(head.to_bytes())
    single = {name: explain(head, latents, name) for name in batches.paradigms}
    explained = 0
    for image, result in enumerate(results):
        given = {name: each[image] for name, each in single.items() if isinstance(each[image], Certificate)}
        read = {name: to_read(each.statements, head.size, each.patches) for name, each in given.items()}
        if not given:
            assert not isinstance(result.explanation, Certificate)
            continue
        explained += 1
        assert read[result.explanation.paradigm] == min(read.values())
        assert result.explanation == single[result.explanation.paradigm][image]
        assert auditor.check(result.explanation.to_bytes(), minimality=True).status is Status.PROVED
        assert {other.paradigm for other in result.others} == set(batches.paradigms) - {result.explanation.paradigm}
        for other in result.others:
            assert other.size == given[other.paradigm].size if other.size is not None else "given up" in other.reason
    assert explained


def test_a_paradigm_that_cannot_win_is_given_up(monkeypatch):
    """Its search stops long before it has an explanation."""
    monkeypatch.setattr(smallest, "AT_A_GLANCE", 0)
    head = small_head("euclidean", 5, prototypes=20, depth=12, classes=5)
    latents = small_latents(head, images=2, patches=30, seed=5)
    batches, results = results_of(head, latents, READABLE)
    given_up = [other for result in results for other in result.others if "given up" in other.reason]
    assert given_up and all(other.size is None for other in given_up)
    assert batches.paradigms == ("evidence", "top_k", "mixed", "projection")


# Searches: those that a head has, in the order in which they are tried, and what is refused.


def names_of(head, paradigm=READABLE, patches=5, **options):
    return [each.name for each in searches_of(head, patches, paradigm, SearchOptions(paradigm, **options))]


def test_smallest_tries_what_the_head_has_and_leaves_out_what_is_seldom_smaller():
    assert names_of(small_head("euclidean")) == ["evidence", "top_k", "mixed", "projection"]
    assert names_of(small_head("softmax")) == ["evidence", "sparse", "top_k", "assignment"]
    assert names_of(varied_head("negated"), patches=1)[-1] == "joint"
    assert names_of(small_head("euclidean"), "triangle") == ["triangle"]
    assert names_of(varied_head("threshold")) == ["evidence", "sparse", "top_k", "simplex"]


def test_every_paradigm_has_its_search_and_its_facts_agree():
    assert SEARCHES.keys() == PARADIGMS.keys()
    for name, search in SEARCHES.items():
        assert search.name == name
        assert (search.priced is not None) == PARADIGMS[name].priced


def test_the_best_spatial_paradigm_is_the_default():
    assert best_paradigm(small_head("euclidean")) == "projection"
    assert best_paradigm(small_head("softmax")) == "assignment"
    assert best_paradigm(varied_head("threshold")) == "simplex"


def test_a_paradigm_that_a_head_does_not_take_is_none_of_its_own():
    assert "mixed" in paradigms_taken(small_head("euclidean"), 5)
    assert "mixed" not in paradigms_taken(focal_head("euclidean", "max_minus_mean"), 5)
    assert "joint" in paradigms_taken(small_head("euclidean"), 1)


@pytest.mark.parametrize(("name", "of"), [("sparse", "euclidean"), ("mixed", "softmax"), ("joint", "euclidean")])
def test_what_a_head_has_not_is_refused(name, of):
    assert name in PARADIGMS
    with pytest.raises(UsageError):
        SEARCHES[name](small_head(of), 5, SearchOptions(name))


def test_what_takes_more_memory_than_is_allowed_is_refused():
    with pytest.raises(UsageError, match="a thing take about 8 GiB, expected at most 4: allow more"):
        require_memory(8 * 2**30, "a thing", SearchOptions())
    require_memory(4 * 2**30, "a thing", SearchOptions())


# Options are checked when they are given.


def test_every_paradigm_and_order_of_the_tables_is_accepted():
    assert {SearchOptions(paradigm=name).paradigm for name in PARADIGMS} == set(PARADIGMS)
    assert [SearchOptions(order=order).order for order in ORDERS] == list(ORDERS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"paradigm": "triangulation"}, "paradigm 'triangulation' is unknown, expected one of readable, projection"),
        ({"order": "random"}, "order 'random' is unknown, expected one of rival, nearest, highest"),
        ({"order": "highest"}, "order 'highest' is one of paradigm 'top_k'"),
        ({"order": "highest", "paradigm": "mixed"}, "order 'highest' is one of paradigm 'top_k'"),
        ({"tolerance": -1e-9}, "tolerance is -1e-09"),
        ({"tolerance": 1e-9}, "tolerance is 1e-09, expected at least 1.86e-09, or 0 for the tightest intervals"),
        ({"tolerance": math.nan}, "tolerance is nan"),
        ({"tolerance": math.inf}, "tolerance is inf"),
        ({"batch": 0}, "batch is 0, expected at least 1"),
        ({"max_memory": 0}, "max_memory is 0"),
        ({"max_memory": math.nan}, "max_memory is nan"),
        ({"max_memory": 4 * 2**30}, "max_memory is 4294967296, expected a number of GiB"),
    ],
)
def test_an_invalid_option_is_named(options, message):
    with pytest.raises(UsageError, match=message):
        SearchOptions(**options)


def test_an_image_without_a_certificate_has_no_numbers_and_no_statements():
    result = Unexplained(2, "a tie")
    assert (result.size, result.margin, result.paradigm, result.minimal) == (None,) * 4
    assert (result.statements, result.margins) == ((), ())
    assert str(result) == "No certificate for this image, of class 2 by floats: a tie"
    assert repr(result) == "Unexplained(predicted=2, reason='a tie')"


# Several explanations: all different, all proved, nothing to drop from any; and the same for the same seed.


CASES = [
    ("euclidean", "top_k"),
    ("cosine", "top_k"),
    ("softmax", "sparse"),
    ("euclidean", "projection"),
    ("softmax", "simplex"),
]
TRIED = 8


def given(geometry: str, seed: int = 1):
    head = small_head(geometry, seed)
    return head, as_patches(small_latents(head, images=1, patches=3, seed=seed))[0]


def found(head, patches, paradigm: str, seed: int = 0):
    tried = list(islice(several(head, patches, paradigm, seed), TRIED))
    return tried, [each.certificate for each in tried if each.certificate is not None]


def items(certificate) -> frozenset[object]:
    """What each statement is about."""
    return frozenset(
        type(each)
        if isinstance(each, OrderStatement | FloorStatement)
        else (getattr(each, "patch", None), each.prototype)
        for each in certificate.statements
    )


@cache
def found_of(geometry: str, paradigm: str):
    """What is found of a small head's image."""
    return found(*given(geometry), paradigm)


@pytest.mark.parametrize(("geometry", "paradigm"), CASES)
def test_all_are_different_and_proved_with_nothing_to_drop(geometry, paradigm):
    head, _ = given(geometry)
    tried, certificates = found_of(geometry, paradigm)
    assert len(certificates) > 1 and tried[-1].found == len(certificates)
    stated = [items(each) for each in certificates]
    for number, one in enumerate(stated):
        assert not any(one <= other or other <= one for other in stated[:number])
    auditor, by_rules = Auditor(head.to_bytes(), None), Auditor(head.to_bytes(), None, "arb")
    for each in certificates:
        assert each.paradigm == paradigm and (each.minimal or paradigm == "top_k")
        verdict = auditor.check(each.to_bytes(), minimality=True, entailment_only=True)
        assert verdict.status.value == "PROVED", verdict.reason
        assert verdict.claims.get("minimality") == ("proved" if each.minimal else None)
        # By the reference ranges nothing can be dropped, also where activations say more of each other.
        claimed = replace(each, minimal=True).to_bytes()
        assert by_rules.check(claimed, minimality=True, entailment_only=True).claims["minimality"] == "proved"


@pytest.mark.parametrize(("geometry", "paradigm"), CASES)
def test_the_first_is_what_explain_gives(geometry, paradigm):
    head, patches = given(geometry)
    usual = explain(head, patches[None], paradigm, order="rival")
    _, certificates = found_of(geometry, paradigm)
    assert items(certificates[0]) == items(usual[0] if isinstance(usual, list) else usual)


def test_the_seed_decides():
    head, patches = given("euclidean")
    first, again, other = ([each.to_bytes() for each in found(head, patches, "top_k", seed)[1]] for seed in (1, 1, 2))
    assert first == again and first != other and first[0] == other[0]


def test_an_order_that_gives_nothing_new_has_no_certificate():
    head, patches = given("euclidean")
    tried = list(islice(several(head, patches, "top_k"), 60))
    counts = [each.found for each in tried]
    assert any(each.certificate is None for each in tried)
    assert counts == [sum(each.certificate is not None for each in tried[: n + 1]) for n in range(len(tried))]


def test_a_class_that_needs_no_statement_has_one_explanation():
    head, patches = given("euclidean")
    bias = torch.tensor([1e6, 0.0, 0.0])
    for paradigm in ("top_k", "projection"):
        tried, certificates = found(replace(head, bias=bias), patches, paradigm)
        assert [each.size for each in certificates] == [0] and tried[-1].found == 1


def test_what_cannot_be_explained_is_named(monkeypatch):
    head, patches = given("euclidean")
    with pytest.raises(UsageError, match="paradigm is 'hypersphere', expected one of projection, top_k"):
        several(head, patches, "hypersphere")
    with pytest.raises(UsageError, match="paradigm is 'sparse'"):
        several(head, patches, "sparse")
    with pytest.raises(LatentsError):
        several(head, patches + 2, "top_k")
    tied = replace(head, weight=torch.zeros_like(head.weight), bias=None)
    with pytest.raises(UnexplainedError, match="no class certainly"):
        several(tied, patches, "top_k")
    monkeypatch.setattr(searching, "_MOST_PAIRS", 3 * head.size - 1)
    with pytest.raises(UsageError, match="more than 35 statements"):
        several(head, patches, "projection")
