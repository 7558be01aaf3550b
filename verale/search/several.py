"""Several: different subset-minimal explanations of one image, by dropping statements in random orders."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, cast

import torch
from torch import Tensor

from verale.bounds import check_domain
from verale.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    Statement,
)
from verale.certificate.statements import subjects_of
from verale.errors import CertificateError, UsageError
from verale.head import Head, digest
from verale.paradigms import PARADIGMS, paradigms_of
from verale.search.activations import Activations, Stated
from verale.search.covers import Cover
from verale.search.digits import EXACT_DIGITS
from verale.search.options import SearchOptions
from verale.search.paradigms.base import ParadigmSearch
from verale.search.paradigms.of_activations import OneByOne
from verale.search.paradigms.of_patches import OfPatches
from verale.search.problem import Explanation, NoExplanation, Pair, Problem, UnexplainedError, shortened
from verale.search.prove import UNSETTLED, not_surely_needed, pairs_of, statements_about, without_doubtful
from verale.search.smallest import searches_of

_MOST_PAIRS = 2**14
"""The most pairs of patch and prototype that are dropped one after the other."""


Remember = Callable[[Callable[[], Certificate | None]], Certificate | None]
"""Gives what a step of a search gives: by doing it, or from what an interrupted search has noted of it."""


def anew(step: Callable[[], Certificate | None]) -> Certificate | None:
    """Do every step."""
    return step()


def require_fitting(
    certificate: Certificate, head: Head, patches: int, predicted: int, paradigm: str, latents: str | None = None
) -> None:
    """Raise CertificateError where a remembered certificate is not what a step could give: a paradigm's explanation of
    a class of the head, for images of so many patches, or of the one with this digest alone.

    Soundness: an audit finds a certificate's image among several by the digest that the certificate names. So one that
    explains another of them would be proved, and be told of this one.
    """
    ends = {"prototype": head.size, "patch": patches, "sum": 0}
    subjects = (each for statement in certificate.statements for each in subjects_of(statement))
    expected = replace(
        certificate.of_latents(latents), head=head.digest, patches=patches, predicted=predicted, paradigm=paradigm
    )
    if certificate != expected or any((number or 0) >= ends.get(kind, 1) for kind, number in subjects):
        raise CertificateError(
            "what an interrupted search has noted is about another head, image, paradigm or class: begin in another"
            " folder"
        )


@dataclass(frozen=True)
class OneOrder:
    """What one order gives.

    Attributes:
        certificate: the explanation; None if an earlier order gave it too, or if float64 does not prove it.
        found: how many different explanations there are so far.
    """

    certificate: Certificate | None
    found: int


def several(head: Head, patches: Tensor, paradigm: str, seed: int = 0, remember: Remember = anew) -> Iterator[OneOrder]:
    """Different subset-minimal explanations of one image, one order after the other, without end.

    All statements of an explanation come from one finite set. Under `sparse` it has the statement about each
    activation; under `top_k` also the clauses of the explanation that `explain` gives; under `projection` and `simplex`
    the statement about each patch and each prototype. Each order drops one statement after the other if the class still
    follows without it. The first order begins with the statements that `explain` does not use, so it gives what
    `explain` gives. All others are drawn at random.

    Args:
        head: the head.
        patches: (L, D) the image.
        paradigm: one that the head has, of which several are found (`verale.paradigms`).
        seed: of the orders; the same seed gives the same explanations.
        remember: asked once for each order.

    Raises:
        LatentsError: latents that do not fit the head.
        UsageError: a paradigm that is not one of these, or too many statements.
        UnexplainedError: no class certainly beats all others, or all statements together do not prove it.

    Soundness: each deletion, and each explanation at the end, is proved in outward-rounded float64. Bounds are monotone
    in what is stated, so one pass leaves nothing that can be dropped; a certificate claims that where rounding cannot
    decide it, as those of `explain` do.
    """
    known = [name for name in paradigms_of(head.geometry.kind, len(patches)) if PARADIGMS[name].several]
    if paradigm not in known:
        raise UsageError(f"paradigm is {paradigm!r}, expected one of {', '.join(known)} for this head")
    check_domain(head, patches[None])
    (search,) = searches_of(head, len(patches), paradigm, SearchOptions(paradigm, digits=EXACT_DIGITS))
    problem = Problem.of(head, patches[None])
    if not float(problem.settled[0]) > 0:
        raise UnexplainedError("no class certainly beats all others at these latents")
    vocabulary = (
        _OfPatches(problem, search)
        if isinstance(search, OfPatches)
        else _OfActivations(problem, cast(OneByOne, search))
    )

    def attempts() -> Iterator[OneOrder]:
        drawn = random.Random(seed)
        seen: set[frozenset[object]] = set()
        image, predicted = digest(patches), int(problem.margins.predicted[0])
        for number in count():
            order = vocabulary.items.copy()
            drawn.shuffle(order)
            if number == 0:
                order.sort(key=vocabulary.last.__contains__)

            def step(order: list[Any] = order) -> Certificate | None:
                left = vocabulary.explanation(_needed(vocabulary.entails, order))
                if _subjects(left.statements) in seen or not bool((left.margins > 0).all()):
                    return None
                return replace(left, margins=shortened(left.margins)).certificate(
                    head, {"latents": image}, predicted, paradigm, len(patches)
                )

            certificate = remember(step)
            if certificate is not None:
                require_fitting(certificate, head, len(patches), predicted, paradigm, image)
                if (subjects := _subjects(certificate.statements)) in seen:
                    raise CertificateError(
                        "an interrupted search has noted an explanation twice: begin in another folder"
                    )
                seen.add(subjects)
            yield OneOrder(certificate, len(seen))

    return attempts()


def _subjects(statements: Sequence[Statement]) -> frozenset[object]:
    """What statements are about."""
    return frozenset(tuple(subjects_of(each)) for each in statements)


def _usual(problem: Problem, search: ParadigmSearch) -> list[Statement]:
    """What `explain` states. Raises UnexplainedError."""
    (solution,) = search.solve(problem, [math.inf])
    if isinstance(solution, NoExplanation):
        raise UnexplainedError(solution.reason)
    return solution.statements


def _needed(entails: Callable[[list[Any]], bool], order: list[Any]) -> list[Any]:
    """What is left after dropping in this order, as many at once as can be: one, two more, four more, until that is too
    many, then by bisection. The next one is needed. So most tries differ little from the one before."""
    needed: list[Any] = []
    while order:
        low, high, step = 0, 0, 1
        while low < len(order) and entails(needed + order[(high := min(low + step, len(order))) :]):
            low, step = high, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if entails(needed + order[middle:]) else (low, middle)
        needed, order = [*needed, *order[low : low + 1]], order[low + 1 :]
    return needed


class _OfActivations:
    """Statements about each of P activations, and the clauses of the explanation that `explain` gives.

    Attributes:
        problem: the image.
        items: what the statements are about that orders shuffle: prototypes; P is the ceiling, and P + 1 the floor.
        last: those that `explain` uses.
    """

    def __init__(self, problem: Problem, search: OneByOne) -> None:
        self.problem, self._activations, self._search = problem, Activations(problem), search
        usual, size = _usual(problem, search), problem.head.size
        ceiling = next((each.upper for each in usual if isinstance(each, OrderStatement)), math.inf)
        floor = next((each.lower for each in usual if isinstance(each, FloorStatement)), -math.inf)
        self._all = self._activations.cover(Cover(list(range(size)), ceiling, floor))
        self.items = list(range(size + 2))
        self.last = {each.prototype for each in usual if isinstance(each, ActivationStatement)} | {size, size + 1}

    def entails(self, items: list[int]) -> bool:
        """Whether the statements about some items prove the class."""
        return self._activations.least(self._stated(items)) > 0

    def explanation(self, items: list[int]) -> Explanation:
        """What is left of statements all of which are needed: some that others imply may go."""
        return self._search.shrunk(self.problem, self._activations.explanation(self._stated(items)))

    def _stated(self, items: list[int]) -> Stated:
        made = torch.zeros(len(self.items), dtype=torch.bool).index_fill(0, self.problem.index(items), True)
        own = torch.cat([made[:-2], made[-1:]]), made[:-1]
        return self._all.with_ends(self._all.lower.where(own[0], -math.inf), self._all.upper.where(own[1], math.inf))


class _OfPatches:
    """Statements about each patch and each prototype, by what they are about; see `_OfActivations`."""

    def __init__(self, problem: Problem, search: OfPatches) -> None:
        head = problem.head
        if problem.patches * head.size > _MOST_PAIRS:
            raise UsageError(
                f"{problem.patches} patches and {head.size} prototypes have more than {_MOST_PAIRS} statements to drop:"
                " choose the paradigm top_k or sparse"
            )
        self.problem, self._paradigm = problem, search.spatial
        hidden = head.pooling.hidden(problem.patches, head.size)
        pairs = [(patch, j) for patch in range(problem.patches) for j in range(head.size)]
        self.items = pairs if hidden is None else [pair for pair in pairs if not bool(hidden[pair])]
        self.last = set(pairs_of(_usual(problem, search)))
        self._stated: list[list[int]] = [[]] * problem.patches
        self._ranges = problem.ranges(self._paradigm, [[]])
        """(L, P) what `_stated` says of each patch."""
        if not self.entails(self.items):
            raise UnexplainedError(UNSETTLED.reason)

    def entails(self, items: list[Pair]) -> bool:
        """Whether the class follows; only patches are bounded of which something else was stated the last time."""
        by_patch = self.problem.by_patch([items])
        stated = [by_patch.get(patch, []) for patch in range(self.problem.patches)]
        other = [patch for patch, each in enumerate(stated) if each != self._stated[patch]]
        if other:
            rows = self.problem.index(other)
            found = self._paradigm.ranges([stated[patch] for patch in other], self.problem.observed[rows])
            self._ranges.lower[rows], self._ranges.upper[rows], self._stated = found.lower, found.upper, stated
        return bool((self.problem.proved_margins(self._ranges) > 0).all())

    def explanation(self, items: list[Pair]) -> Explanation:
        pairs, doubtful = items, not_surely_needed(self.problem, self._paradigm, items)
        if doubtful:
            pairs = without_doubtful(self.problem, self._paradigm, pairs, doubtful)
            doubtful = not_surely_needed(self.problem, self._paradigm, pairs)
        pairs = sorted(pairs)
        (margins,) = self.problem.proved_margins(self.problem.ranges(self._paradigm, [pairs]))
        return Explanation(statements_about(self.problem, pairs), margins, not doubtful)
