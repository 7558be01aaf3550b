"""What activations say of each other, where an explanation claims that no statement can be dropped."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import inf

import pytest
import torch
from support.small import small_head, small_latents, varied_head

import verale
from verale.bounds import LinearMargins, activation_range, lipschitz
from verale.bounds.lipschitz import Lipschitz
from verale.bounds.margin import kept
from verale.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    Statement,
    SumStatement,
)
from verale.checker import Auditor
from verale.head import Head, InnerProduct, LogRatio, Negated
from verale.head.head import belonging
from verale.search.activations import Stated
from verale.search.linked import Linked, WholeMargins
from verale.search.problem import Problem
from verale.search.several import several

HEADS = ("euclidean", "cosine", "negated", "exponential", "rooted", "cosine exponential")
PARADIGMS = ("top_k", "evidence")
OPEN = {("negated", "evidence")}
"""Nothing below 0 speaks for a class as much as a sum takes back: these images have no explanation."""


def clustered(name: str, seed: int) -> Head:
    """A head whose prototypes lie close together in threes, as those of one class do."""
    sizes = {"prototypes": 12, "classes": 4}
    head = small_head(name, seed, **sizes) if name in ("euclidean", "cosine") else varied_head(name, seed, **sizes)
    if name == "euclidean":  # not so steep that nothing follows for neighbours
        head = replace(head, similarity=LogRatio(0.3), weight=3 * head.weight)
    assert head.prototypes is not None
    near = torch.randn(head.prototypes.shape, generator=torch.Generator().manual_seed(seed)) * 0.005
    points = head.prototypes[[j % 4 for j in range(12)]] + near
    return replace(
        head, prototypes=points if name in ("cosine", "rooted", "cosine exponential") else points.clamp(0, 1)
    )


def explained(head: Head, seed: int, paradigm: str = "top_k") -> list[Certificate]:
    found = verale.explain(head, small_latents(head, 4, 3, seed), paradigm=paradigm)
    return [each for each in found if isinstance(each, Certificate)]


def spare(head: Head, certificate: Certificate) -> bool:
    """Whether the proved checker proves the class without some statement."""
    auditor, every = Auditor(head.to_bytes(), None, "proved"), certificate.statements
    least = tuple(None if margin is None else 2.0**-1074 for margin in certificate.margins)
    fewer = (every[:k] + every[k + 1 :] for k in range(len(every)))
    return any(
        auditor.check(
            replace(certificate, statements=each, margins=least, minimal=False).to_bytes(), entailment_only=True
        ).reason
        == ""
        for each in fewer
    )


@pytest.mark.parametrize(
    ("name", "paradigm"),
    [
        pytest.param(*case, marks=[pytest.mark.long] * (sum(map(len, case)) % 2))  # half of the heads of each paradigm
        for case in product(HEADS, PARADIGMS)
        if case not in OPEN
    ],
)
@pytest.mark.parametrize(
    "seeds", [range(1, 3), pytest.param(range(3, 13), marks=pytest.mark.long)], ids=["few", "many"]
)
def test_no_statement_can_be_dropped_and_every_checker_says_so(
    name, paradigm, seeds, proved_checker, monkeypatch
) -> None:
    """Without any one statement the default audit does not prove the class."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    claimed, shorter = [], 0
    for seed in seeds:
        head = clustered(name, seed)
        for certificate in explained(head, seed, paradigm):
            assert certificate.minimal and not spare(head, certificate), (seed, certificate)
            claimed.append(certificate)
            for kernel in ("proved", "arb"):
                auditor = Auditor(head.to_bytes(), kernel=kernel)
                verdict = auditor.check(certificate.to_bytes(), minimality=True, entailment_only=True)
                assert verdict.exit_code == 0 and verdict.claims.get("minimality") == "proved", verdict.message
            shorter += alone(head, certificate)
    assert len(claimed) > 4 and shorter


def alone(head: Head, certificate: Certificate) -> bool:
    """Whether neighbours are needed for the proof."""
    box = activation_range(head, certificate.patches).intersect(Stated.of(certificate.statements, head.size).ends)
    margins = LinearMargins.of(head, torch.tensor([certificate.predicted]), certificate.patches)
    proved = margins.lower(box[None, None])[0, 0]
    by_own = margins.lower(kept(box, belonging(head, margins.predicted)[0])[None, None])[0, 0]
    for each in certificate.statements:
        if isinstance(each, SumStatement):
            about = slice(None) if each.rivals is None else list(each.rivals)
            proved[about] = proved[about].maximum(by_own[about] - each.upper)
    return not bool((proved > 0).all())


ONE_PATCH = ("euclidean", "negated", "cosine", "inner product", "in a ball")


def of_one_patch(name: str, seed: int) -> Head:
    """A head that need not be any good; the similarity of the euclidean one is linear."""
    if name == "in a ball":
        return replace(small_head("cosine", seed), geometry=InnerProduct(2.0))
    if name == "euclidean":
        return replace(small_head(name, seed), similarity=Negated())
    return small_head(name, seed) if name == "cosine" else varied_head(name, seed)


@pytest.mark.parametrize("name", ONE_PATCH)
def test_of_one_patch_no_statement_is_claimed_where_the_whole_margin_is_proved(
    name, proved_checker, monkeypatch
) -> None:
    """The proved checker bounds it over the domain; whoever drops statements one by one does not."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    head, claimed = of_one_patch(name, 1), []
    bias, enough = torch.zeros(head.classes), 0.01
    while bool(WholeMargins(replace(head, bias=bias)).fall_short(0).any()):
        enough *= 1.1
        bias[0] = enough
    for share in (0.0, 0.5, 1.02):
        biased = replace(head, bias=bias * share)
        for certificate in verale.explain(biased, small_latents(biased, 2, 1, 0), paradigm="top_k"):
            assert isinstance(certificate, Certificate)
            claimed.append(certificate.minimal)
            assert not (certificate.minimal and spare(biased, certificate)), (share, certificate)
    assert False in claimed


def test_a_margin_falls_short_where_a_latent_of_the_domain_shows_it() -> None:
    """Of random heads: what latents show is found, and what is found, latents show."""
    generator, found = torch.Generator().manual_seed(0), []
    for name in ONE_PATCH:
        for seed in range(4):
            head = of_one_patch(name, seed)
            bias = torch.zeros(head.classes)
            bias[0] = seed
            head = replace(head, bias=bias)
            latents = torch.rand(4000, 1, head.depth, generator=generator)
            if name in ("cosine", "in a ball"):  # in corners, too
                latents = (latents * 2 - 1).clamp(min=0) + 1e-6
                latents /= (latents.norm(dim=-1, keepdim=True) / 1.9).clamp(min=1)
            logits = head.logits(latents)
            margins = logits[:, :1] - logits
            short = WholeMargins(head).fall_short(0)
            assert bool((short | (margins > 0).all(0) | (torch.arange(head.classes) == 0)).all()), (name, seed)
            found.extend(short[1:].tolist())
    assert set(found) == {False, True}


def test_several_explanations_claim_no_more(proved_checker, monkeypatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    head = clustered("euclidean", 0)
    orders = several(head, small_latents(head, 1, 3, 0)[0].double(), "top_k")
    found = [one.certificate for _, one in zip(range(12), orders, strict=False) if one.certificate is not None]
    assert len(found) > 2
    assert all(certificate.minimal and not spare(head, certificate) for certificate in found)


def drawn(problem: Problem, generator: torch.Generator) -> list[Statement]:
    """True statements about some activations of an image, a ceiling and a floor."""
    low, high = problem.activations.lower[0], problem.activations.upper[0]
    chosen = torch.randperm(len(low), generator=generator)[:4].tolist()
    ceiling, floor = float(high.median()), float(low.median())
    statements: list[Statement] = [ActivationStatement(j, float(low[j]), float(high[j])) for j in sorted(chosen)]
    statements.append(OrderStatement(tuple((high > ceiling).nonzero()[:, 0].tolist()), ceiling))
    statements.append(FloorStatement(tuple((low < floor).nonzero()[:, 0].tolist()), floor))
    return statements


@pytest.mark.parametrize("name", HEADS)
def test_what_satisfies_the_statements_lies_in_the_box(name) -> None:
    head = clustered(name, 1)
    images = small_latents(head, 40, 3, 1).double()
    every = Problem.of(head, images)
    generator, linked, inside = torch.Generator().manual_seed(0), Linked(head, 3), 0
    for image in range(8):
        stated = Stated.of(drawn(every.take([image]), generator), head.size)
        box = linked.box(stated)
        ends = stated.ends
        for other in every.activations:
            if bool((ends.lower <= other.lower).all() and (other.upper <= ends.upper).all()):
                inside += 1
                assert bool((box.lower <= other.upper).all() and (other.lower <= box.upper).all())
    assert inside >= 8


def test_a_statement_about_a_prototype_beside_another_is_not_needed() -> None:
    """Prototypes 0 and 1 are the same: what is stated of one holds of the other, wherever a ceiling exempts it."""
    head = replace(clustered("euclidean", 0), weight=torch.eye(2).repeat_interleave(6, 1), bias=None)
    assert head.prototypes is not None
    points = head.prototypes.clone()
    points[1] = points[0]
    head = replace(head, prototypes=points)
    both = [ActivationStatement(0, 1.0, inf), ActivationStatement(1, 1.0, inf)]
    linked, margins = Linked(head, 3), LinearMargins.of(head, torch.tensor([0]), 3)
    for clauses in ([], [OrderStatement((0, 1), 0.5)]):
        ceiling = [] if clauses else [ActivationStatement(j, -inf, 0.5) for j in range(6, 12)]
        left, proved, _ = linked.shrunk(margins, [*both, *ceiling, *clauses])
        assert bool((proved > 0).all()) == bool((linked.proved(margins, left) > 0).all())
        assert sum(each in left for each in both) < 2 or not bool((proved > 0).all())
        one = linked.box(Stated.of([both[0], *ceiling, *clauses], head.size))
        assert one.lower[1] > 0.99


def test_links_of_many_prototypes_are_computed_as_they_are_used(monkeypatch) -> None:
    """A table of them would take more memory than a head of 10,000 prototypes may."""
    for name in HEADS:
        head = clustered(name, 2)
        observed = Problem.of(head, small_latents(head, 1, 3, 2).double()).activations[0]
        stated = torch.arange(head.size) % 3 == 0
        floors = observed.lower[stated].view(2, -1), stated.nonzero().view(2, -1)
        table = Lipschitz(head)
        with monkeypatch.context() as context:
            context.setattr(lipschitz, "_LARGEST_TABLE", 0)
            computed = Lipschitz(head)
        ends = []
        for of in (table, computed):
            ranges = of.ranges(observed, stated)
            others = (of.by_others(end, stated, end is observed.upper) for end in (observed.upper, observed.lower))
            ends.append((ranges.lower, ranges.upper, *others, of.floors(*floors)))
        for one, other in zip(*ends, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
