"""What the statements of a certificate prove of each activation, and which of them prove it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from verale.bounds import activation_range, domain_range, pooling_of
from verale.bounds.lipschitz import Lipschitz
from verale.checker.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
)
from verale.head import Head
from verale.rounding import Enclosure
from verale.search.at_once import ranges_of
from verale.search.searches import SEARCHES

__all__ = ["End", "Ends", "ProvedEnds"]

_MOST = 2**20
"""Of more products of statements about patches and prototypes nothing is computed: that would take seconds."""

Numbered = tuple[int, PatchStatement]


@dataclass(frozen=True)
class End:
    """One end of an activation.

    Attributes:
        value: the end that the statements prove, rounded outward.
        domain: the end over the whole domain.
        by: the indices of the statements that give it: those about the prototype itself where they do. Empty where it
            is the domain's, or follows from the statements about patches and other prototypes together.
    """

    value: float
    domain: float
    by: tuple[int, ...] = ()

    def tightened(self, value: float, by: tuple[int, ...], upper: bool) -> End:
        """This end, or another one that says more."""
        tighter = value < self.value if upper else value > self.value
        return End(value, self.domain, by) if tighter else self


@dataclass
class Ends:
    """The ends of all P activations; they are tightened one by one."""

    lower: list[End]
    upper: list[End]

    @classmethod
    def of(cls, box: Enclosure) -> Ends:
        """Without statements: (P,) the domain's."""
        return cls(*([End(end, end) for end in each.tolist()] for each in (box.lower, box.upper)))

    def tighten(self, prototype: int, lower: float | None, upper: float | None, by: tuple[int, ...]) -> None:
        """Enter what some statements prove of an activation; None says nothing."""
        if lower is not None:
            self.lower[prototype] = self.lower[prototype].tightened(lower, by, False)
        if upper is not None:
            self.upper[prototype] = self.upper[prototype].tightened(upper, by, True)


class ProvedEnds:
    """A head, and what of it is needed for each of its certificates.

    Soundness: every end is one of `verale.bounds`, rounded outward, and no other bound is used than what a paradigm's
    own rule allows. Statements of which it makes no use here only widen the ends.
    """

    def __init__(self, head: Head) -> None:
        self.head = head
        self._paradigms: dict[str, Any] = {}
        self._ranges: dict[int, Enclosure] = {}

    def of(self, certificate: Certificate) -> Ends | None:
        """The ends given a certificate's statements; None where margins are not bounded by single activations, the
        statements contradict each other, or bounding all prototypes would take seconds.

        Raises:
            VeraleError: a paradigm that the head does not have.
        """
        numbered = list(enumerate(certificate.statements))
        of_patches = [(i, s) for i, s in numbered if isinstance(s, PatchStatement)]
        paradigm = SEARCHES.get(certificate.paradigm)
        if paradigm is None or paradigm.bounds_margins_whole or (of_patches and paradigm.bounds is None):
            return None
        if len(of_patches) * self.head.size > _MOST:
            return None
        ends = Ends.of(self._range(certificate.patches))
        if of_patches:
            self._enter_patches(ends, certificate, of_patches)
        for index, s in numbered:
            if isinstance(s, ActivationStatement):
                ends.tighten(s.prototype, _number(s.lower), _number(s.upper), (index,))
        for index, s in numbered:
            if isinstance(s, OrderStatement | FloorStatement):
                lower = float(s.lower) if isinstance(s, FloorStatement) else None
                upper = float(s.upper) if isinstance(s, OrderStatement) else None
                for prototype in set(range(self.head.size)) - set(s.exempt):
                    ends.tighten(prototype, lower, upper, (index,))
        if certificate.paradigm == "mixed":
            self._enter_neighbours(ends, certificate)
        possible = all(low.value <= high.value for low, high in zip(ends.lower, ends.upper, strict=True))
        return ends if possible else None

    @cached_property
    def _lipschitz(self) -> Lipschitz:
        return Lipschitz(self.head)

    @cached_property
    def _domain(self) -> Enclosure:
        return domain_range(self.head)

    def _range(self, patches: int) -> Enclosure:
        """(P,) what each activation can be over the domain."""
        if patches not in self._ranges:
            self._ranges[patches] = activation_range(self.head, patches)
        return self._ranges[patches]

    def _enter_patches(self, ends: Ends, certificate: Certificate, stated: Sequence[Numbered]) -> None:
        box = pooling_of(self.head).box(self._observables(certificate, stated))
        own: dict[int, tuple[int, ...]] = {}
        for index, statement in stated:
            own[statement.prototype] = (*own.get(statement.prototype, ()), index)
        for prototype, (lower, upper) in enumerate(zip(box.lower.tolist(), box.upper.tolist(), strict=True)):
            ends.tighten(prototype, lower, upper, own.get(prototype, ()))

    def _observables(self, certificate: Certificate, stated: Sequence[Numbered]) -> Enclosure:
        """(L, P) ranges of the observables of all patches."""
        name, domain = certificate.paradigm, self._domain
        bounds = SEARCHES[name].bounds
        if bounds is not None and name not in self._paradigms:
            self._paradigms[name] = bounds(self.head)
        paradigm: Any = self._paradigms[name]
        lower, upper = (end.expand(certificate.patches, -1).clone() for end in (domain.lower, domain.upper))
        groups: list[list[int]] = [[] for _ in range(certificate.patches)]
        for _, s in stated:
            groups[s.patch].append(s.prototype)
            if s.lower is not None:
                lower[s.patch, s.prototype] = float(s.lower)
            if s.upper is not None:
                upper[s.patch, s.prototype] = float(s.upper)
        observed = Enclosure(lower, upper)
        return ranges_of(paradigm, groups, observed)

    def _enter_neighbours(self, ends: Ends, certificate: Certificate) -> None:
        """What stated activations, and clauses, say of the others (the Lipschitz rule)."""
        domain = self._range(certificate.patches)
        low, high = domain.lower.tolist(), domain.upper.tolist()
        stated = [(i, s) for i, s in enumerate(certificate.statements) if isinstance(s, ActivationStatement)]
        for _, s in stated:
            low[s.prototype] = max(low[s.prototype], low[s.prototype] if s.lower is None else float(s.lower))
            high[s.prototype] = min(high[s.prototype], high[s.prototype] if s.upper is None else float(s.upper))
        if stated:
            table = self._lipschitz.ranges(Enclosure(*(torch.tensor(end, dtype=torch.float64) for end in (low, high))))
            for index, s in stated:
                _enter(ends, table.lower[s.prototype].tolist(), table.upper[s.prototype].tolist(), index)
        for index, clause in enumerate(certificate.statements):
            if isinstance(clause, OrderStatement):
                exempt = _mask(clause.exempt, domain.lower)
                most = torch.where(exempt, domain.upper, domain.upper.clamp(max=float(clause.upper)))
                _enter(ends, [None] * self.head.size, self._lipschitz.most(most).tolist(), index)
            elif isinstance(clause, FloorStatement):
                exempt = _mask(clause.exempt, domain.lower)
                least = torch.where(exempt, domain.lower, domain.lower.clamp(min=float(clause.lower)))
                follows = self._lipschitz.ranges(Enclosure.unchecked(least, domain.upper)).lower.amax(0)
                _enter(ends, follows.tolist(), [None] * self.head.size, index)


def _enter(ends: Ends, lower: Iterable[float | None], upper: Iterable[float | None], index: int) -> None:
    for prototype, (low, high) in enumerate(zip(lower, upper, strict=True)):
        ends.tighten(prototype, low, high, (index,))


def _mask(prototypes: Sequence[int], like: torch.Tensor) -> torch.Tensor:
    mask = torch.zeros_like(like, dtype=torch.bool)
    mask[list(prototypes)] = True
    return mask


def _number(end: Any) -> float | None:
    return None if end is None else float(end)
