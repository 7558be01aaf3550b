"""Certificates on which the checker and the second checker are compared, and what else must hold of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from verale.checker import Auditor
from verale.paradigms import ORDERS
from verale.soundness.corpus.cases import Case, accepted, stored
from verale.soundness.corpus.judge import judge_of, known_false, precisely
from verale.soundness.corpus.mutants import mutants_of
from verale.soundness.corpus.truth import FALSE
from verale.soundness.second import SecondChecker
from verale.soundness.second.comparison import Agreement, Comparison, Relation, compared

__all__ = ["TRIALS", "of_corpora", "of_demo", "of_mutants", "of_random_heads"]


def of_corpora(checker: SecondChecker, cases: Iterable[Case] | None = None, auditor: Any = Auditor) -> Agreement:
    """All cases. The second checker has to prove what v1.md proves, and nothing that is marked false."""
    agreement = Agreement()
    for case in stored() if cases is None else cases:
        found = compared(checker, case, auditor)
        if _is_tie(case, found):
            found = replace(found, relation=Relation.REASON)
        agreement.add(case.name, found, _unlike(case, found))
    return agreement


def _is_tie(case: Case, found: Comparison) -> bool:
    """Whether the second checker alone sees a tie at the image of a claim that is marked as false."""
    false = case.truth is not None and case.truth.mark == FALSE
    unseen = case.reason == "entailment" and found.checker == (case.status, case.reason)
    return false and unseen and found.second.status == "REFUTED"


def _unlike(case: Case, found: Comparison) -> str | None:
    """What the corpora know better."""
    said = found.second
    if case.truth is not None and case.truth.mark == FALSE:
        return "the claim is false" if said.status == "PROVED" else None
    return None if case.allows((said.status, said.reason)) else f"expected {case.status} {case.reason}"


def of_mutants(
    checker: SecondChecker, one_in: int, cases: Iterable[Case] | None = None, auditor: Any = Auditor
) -> Agreement:
    """Mutants of the accepted cases, one in so many. What one of the checkers proves alone is judged without them, by
    what is certainly false: the independent reading knows enclosures alone, and a cosine of exactly 1 is for it not
    certainly 1."""
    agreement = Agreement()
    with precisely():
        for number, case, mutant in mutants_of(accepted() if cases is None else cases, one_in):
            files = mutant.certificate, mutant.head, mutant.latents
            found, fault = compared(checker, _case(case.name, *files), auditor), None
            if found.relation in (Relation.SECOND, Relation.CHECKER):
                fault = known_false(*files, partial(judge_of(case).refuted, thoroughly=True), certainly=False)
            agreement.add(f"{case.name}, mutant {number} ({mutant.kind})", found, fault)
    return agreement


def of_random_heads(checker: SecondChecker, numbers: Iterable[int], auditor: Any = Auditor) -> Agreement:
    """Certificates that verale emits of random heads, with a tolerance for three in four heads."""
    from verale.soundness.combinations import draws

    agreement = Agreement()
    for name, drawn in draws(numbers, images=6):
        for case in _emitted(name, drawn.head, drawn.latents, drawn.tolerance):
            agreement.add(case.name, compared(checker, case, auditor))
    return agreement


def of_demo(checker: SecondChecker, images: int, auditor: Any = Auditor) -> Agreement:
    """Certificates of the first images of `verale demo`, under every paradigm of its head."""
    from verale.adapters.cabrnet import load_head
    from verale.demo.network import RUN, load_images, load_network

    latents = load_network().latents(load_images().images[:images])
    agreement = Agreement()
    for case in _emitted("demo", load_head(RUN), latents, 0.0, orders=("rival",)):
        agreement.add(case.name, compared(checker, case, auditor))
    return agreement


def _emitted(name: str, head: Any, latents: Any, tolerance: float, orders: tuple[str, ...] = ORDERS) -> Iterator[Case]:
    """Certificates of latents (N, L, D) under every paradigm and order that the head admits."""
    import safetensors.torch

    from verale.certificate import Certificate
    from verale.head import as_patches
    from verale.soundness.random_heads import explained

    flat = as_patches(latents)
    files = head.to_bytes(), safetensors.torch.save({"latents": flat.contiguous()})
    for paradigm, order, index, result in explained(head, flat, tolerance, orders):
        if isinstance(result, Certificate):
            yield _case(f"{name}, image {index}, {paradigm} {order}", result.to_bytes(), *files)


def _case(name: str, certificate: bytes, head: bytes, latents: bytes | None) -> Case:
    """Files of which nothing is expected."""
    return Case(name, certificate, head, latents, "", "", "")


TRIALS: dict[str, Callable[[SecondChecker, bool, int], Agreement]] = {
    "corpora": lambda checker, long, seed: of_corpora(checker, [*stored(), *(stored("sizes") if long else ())]),
    "mutants": lambda checker, long, seed: of_mutants(checker, 5 if long else 200),
    "random heads": lambda checker, long, seed: of_random_heads(checker, _numbers(400 if long else 6, seed)),
    "demo": lambda checker, long, seed: of_demo(checker, 50 if long else 3),
}
"""What is compared, given whether to try everything and a seed."""


def _numbers(count: int, seed: int) -> range:
    return range(count * seed, count * (seed + 1))
