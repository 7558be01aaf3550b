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
from verale.errors import VeraleError
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

    @property
    def possible(self) -> bool:
        """Whether any activations are between the ends."""
        return all(low.value <= high.value for low, high in zip(self.lower, self.upper, strict=True))

    def copy(self) -> Ends:
        """The same ends, to be tightened."""
        return Ends(list(self.lower), list(self.upper))

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
        self._ranges: dict[int, tuple[Enclosure, Ends]] = {}

    def of(self, certificates: Sequence[Certificate]) -> list[Ends | None]:
        """The ends given the statements of each certificate; None where margins are not bounded by single activations,
        the statements contradict each other, the head does not have the paradigm, or bounding all prototypes would take
        seconds."""
        ends: list[Ends | None] = []
        for certificate in certificates:
            try:
                ends.append(self._stated(certificate))
            except VeraleError:
                ends.append(None)
        mixed = [
            (certificate, own)
            for certificate, own in zip(certificates, ends, strict=True)
            if own is not None and certificate.paradigm == "mixed"
        ]
        if mixed:
            self._enter_neighbours(*zip(*mixed, strict=True))
        return [None if own is None or not own.possible else own for own in ends]

    def _stated(self, certificate: Certificate) -> Ends | None:
        """The ends without what activations say of each other. Raises VeraleError: a paradigm that the head does not
        have."""
        numbered = list(enumerate(certificate.statements))
        of_patches = [(i, s) for i, s in numbered if isinstance(s, PatchStatement)]
        paradigm = SEARCHES.get(certificate.paradigm)
        if paradigm is None or paradigm.bounds_margins_whole or (of_patches and paradigm.bounds is None):
            return None
        if len(of_patches) * self.head.size > _MOST:
            return None
        if certificate.paradigm == "mixed":
            Lipschitz.require(self.head)
        ends = self._range(certificate.patches)[1].copy()
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
        return ends

    @cached_property
    def _lipschitz(self) -> Lipschitz:
        return Lipschitz(self.head)

    @cached_property
    def _domain(self) -> Enclosure:
        return domain_range(self.head)

    def _range(self, patches: int) -> tuple[Enclosure, Ends]:
        """(P,) what each activation can be over the domain."""
        if patches not in self._ranges:
            box = activation_range(self.head, patches)
            self._ranges[patches] = box, Ends.of(box)
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

    def _enter_neighbours(self, certificates: Sequence[Certificate], ends: Sequence[Ends]) -> None:
        """What stated activations and clauses say of the others (the Lipschitz rule), of all certificates together."""
        activations: list[tuple[Ends, list[tuple[int, int]]]] = []
        clauses: tuple[list[tuple[Ends, int]], list[tuple[Ends, int]]] = [], []
        boxes: list[Enclosure] = []
        most: list[torch.Tensor] = []
        least: list[torch.Tensor] = []
        for certificate, own in zip(certificates, ends, strict=True):
            domain = self._range(certificate.patches)[0]
            stated = [(i, s) for i, s in enumerate(certificate.statements) if isinstance(s, ActivationStatement)]
            if stated:
                low, high = domain.lower.clone(), domain.upper.clone()
                for _, s in stated:
                    if s.lower is not None:
                        low[s.prototype] = low[s.prototype].clamp(min=float(s.lower))
                    if s.upper is not None:
                        high[s.prototype] = high[s.prototype].clamp(max=float(s.upper))
                activations.append((own, [(i, s.prototype) for i, s in stated]))
                boxes.append(Enclosure.unchecked(low, high))
            for index, clause in enumerate(certificate.statements):
                if isinstance(clause, OrderStatement):
                    exempt = _mask(clause.exempt, domain.lower)
                    most.append(torch.where(exempt, domain.upper, domain.upper.clamp(max=float(clause.upper))))
                    clauses[0].append((own, index))
                elif isinstance(clause, FloorStatement):
                    exempt = _mask(clause.exempt, domain.lower)
                    least.append(torch.where(exempt, domain.lower, domain.lower.clamp(min=float(clause.lower))))
                    clauses[1].append((own, index))
        nothing = [None] * self.head.size
        if boxes:
            where = torch.stack(
                [
                    _mask([prototype for _, prototype in stated], box.lower)
                    for (_, stated), box in zip(activations, boxes, strict=True)
                ]
            )
            observed = Enclosure.unchecked(
                torch.stack([box.lower for box in boxes]), torch.stack([box.upper for box in boxes])
            )
            tables = self._lipschitz.ranges_of_several(observed, where)
            for (own, named), table in zip(activations, tables, strict=True):
                rows = sorted({prototype for _, prototype in named})
                for index, prototype in named:
                    row = rows.index(prototype)
                    _enter(own, table.lower[row].tolist(), table.upper[row].tolist(), index)
        if most:
            for (own, index), row in zip(clauses[0], self._lipschitz.most(torch.stack(most)).tolist(), strict=True):
                _enter(own, nothing, row, index)
        if least:
            low = torch.stack(least)
            follows = self._lipschitz.least(low, torch.ones_like(low, dtype=torch.bool))
            for (own, index), row in zip(clauses[1], follows.tolist(), strict=True):
                _enter(own, row, nothing, index)


def _enter(ends: Ends, lower: Iterable[float | None], upper: Iterable[float | None], index: int) -> None:
    for prototype, (low, high) in enumerate(zip(lower, upper, strict=True)):
        ends.tighten(prototype, low, high, (index,))


def _mask(prototypes: Sequence[int], like: torch.Tensor) -> torch.Tensor:
    mask = torch.zeros_like(like, dtype=torch.bool)
    mask[list(prototypes)] = True
    return mask


def _number(end: Any) -> float | None:
    return None if end is None else float(end)
