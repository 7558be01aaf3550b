"""What statements about patches and about activations prove together, with a ceiling and a floor (`mixed`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import torch
from torch import Tensor

from verale.bounds import Projection, activation_range
from verale.bounds.lipschitz import Lipschitz
from verale.certificate import ActivationStatement, FloorStatement, OrderStatement, PatchStatement, Statement
from verale.rounding import Enclosure
from verale.search.clauses import Clauses, ClausesOf
from verale.search.patches import Patches
from verale.search.problem import Pair, Problem

__all__ = ["MixedBounds"]


class MixedBounds:
    """The bounds of one image.

    Args:
        problem: the image.
        projection: how statements about patches bound observables.
        lipschitz: how an activation bounds the others.

    Attributes:
        problem: the image.
        observed: (P,) the ends that statements about activations give.
        range: (P,) of the activations over the domain.
        clauses_of: the ceilings and floors.
        left: (P,) bool, which prototypes may be stated.
        none: (P,) bool, no prototype.

    Soundness: all bounds are rounded outward.
    """

    def __init__(self, problem: Problem, projection: Projection, lipschitz: Lipschitz) -> None:
        self.problem, self._projection, self._lipschitz = problem, projection, lipschitz
        self.observed = problem.stated_activations()[0]
        self.range = activation_range(problem.head, problem.patches)
        self.clauses_of = ClausesOf(self.observed, self.range, lipschitz)
        self.left = problem.prototypes_left
        self.none = torch.zeros_like(self.left)

    def patches(self, pairs: Sequence[Pair]) -> Patches:
        """Statements about patches."""
        return Patches(self.problem, self._projection, pairs)

    @cached_property
    def table(self) -> Enclosure:
        """(P, P) row k has the ranges that follow from the statement about a_k; one that is avoided tells nothing."""
        table, avoided = self._lipschitz.ranges(self.observed), ~self.left[:, None]
        return Enclosure(table.lower.masked_fill(avoided, -torch.inf), table.upper.masked_fill(avoided, torch.inf))

    def margins_of(self, statements: Sequence[Statement]) -> Tensor:
        """The margins (C,) that statements prove, whatever their ends."""
        pairs = [(each.patch, each.prototype) for each in statements if isinstance(each, PatchStatement)]
        stated, clauses = self.none.clone(), Clauses()
        for each in statements:
            match each:
                case ActivationStatement(prototype):
                    stated[prototype] = True
                case OrderStatement(exempt, upper):
                    end = self.observed.lower.new_tensor([upper])
                    clauses = replace(clauses, ceiling=self.clauses_of.ceilings_at(end, self._among(exempt))[0])
                case FloorStatement(exempt, lower):
                    end = self.observed.lower.new_tensor([lower])
                    clauses = replace(clauses, floor=self.clauses_of.floors_at(end, self._among(exempt))[0])
        own = self._lipschitz.ranges(self.observed, stated)
        return self.margins(_told(clauses.cut(self.patches(pairs).box), own))

    def _among(self, prototypes: Sequence[int]) -> Tensor:
        """(1, P) bool."""
        among = self.none[None].clone()
        among[0, list(prototypes)] = True
        return among

    def box(self, base: Enclosure, stated: Tensor, clauses: Clauses) -> Enclosure:
        """(P,) ranges of the activations: those of the statements about patches, cut by all others."""
        return _told(clauses.cut(base), self.table[stated])

    def margins(self, box: Enclosure) -> Tensor:
        """(C,) the margins, given a box (P,) of activations."""
        return self.problem.margins.lower(box[None, None])[0, 0]

    def proves(self, base: Enclosure, stated: Tensor, clauses: Clauses) -> bool:
        """Whether statements prove the class; see `box`."""
        return bool((self.margins(self.box(base, stated, clauses)) > 0).all())

    def statements(self, stated: Tensor, clauses: Clauses) -> list[Statement]:
        """The statements about activations, and the clauses."""
        lower, upper = self.observed.lower.tolist(), self.observed.upper.tolist()
        own: list[Statement] = [ActivationStatement(k, lower[k], upper[k]) for k in stated.nonzero()[:, 0].tolist()]
        if clauses.ceiling is not None:
            own.append(OrderStatement(clauses.ceiling.exempts, clauses.ceiling.end))
        if clauses.floor is not None:
            own.append(FloorStatement(clauses.floor.exempts, clauses.floor.end))
        return own


def _told(box: Enclosure, rows: Enclosure) -> Enclosure:
    """A box (P,), cut by what each of some statements (S, P) says."""
    if not len(rows.lower):
        return box
    return box.intersect(Enclosure.unchecked(rows.lower.amax(0), rows.upper.amin(0)))
