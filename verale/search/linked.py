"""Linked: what statements about activations prove together, and which of them that leaves needless.

An activation bounds those of prototypes that lie near its own (`verale.bounds.lipschitz`). Checkers use that, and so do
the reference ranges by which minimality is defined. So a statement that the others imply is dropped here.

Of one patch a whole margin may be bounded over the domain, which takes no statement (`WholeMargins`). The proved
checker uses that too, though reference ranges do not: an explanation that it may shorten does not claim minimality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

from verale.bounds import Margins, activation_range
from verale.bounds.lipschitz import Lipschitz
from verale.bounds.observables import norm
from verale.certificate import ActivationStatement, Statement
from verale.errors import UsageError
from verale.head import Head, Identity, Linear, MaxPooling, Negated, TopMeanPooling
from verale.rounding import Enclosure, root
from verale.search.activations import Stated
from verale.search.costs import UNIT_COSTS, Costs
from verale.search.covers import one_by_one
from verale.search.problem import NOISE

_FAR = 1e100
"""Stands for infinity: the square of a coordinate at which a margin without bounds is below 0."""
_KEPT = 0.5
"""The share of the least margin that stays when statements lose a side."""
_TOGETHER = 2
"""Of the statements that margins allow to go, by what each of them alone costs, one in so many goes at once."""
_ROUNDED = 1e-9
"""What rounding may do to a margin, of the sizes of its terms, and to a length, of itself."""


class Linked:
    """What statements about activations of one head prove together, of images of L patches.

    Args:
        head: the head.
        patches: L.
    """

    def __init__(self, head: Head, patches: int) -> None:
        self._head, self._range = head, activation_range(head, patches)
        self._whole = WholeMargins(head) if patches == 1 and WholeMargins.admits(head) else None
        self._lipschitz: Lipschitz | _Unlinked
        try:
            self._lipschitz = Lipschitz(head)
        except UsageError:
            self._lipschitz = _Unlinked(self._range)

    def proved(self, margins: Margins, statements: Sequence[Statement]) -> Tensor:
        """(C,) lower bounds of the margins of one image, given statements about activations and clauses."""
        return _least_margins(margins, self.box(Stated.of(statements, self._head.size))[None])[0]

    def shrunk(
        self, margins: Margins, statements: Sequence[Statement], costs: Costs = UNIT_COSTS
    ) -> tuple[list[Statement], Tensor, bool]:
        """The statements without those that the others make needless: the costliest first, of these clauses first, then
        those without which the least margin stays greatest, some of them together, until none is left. Before that they
        lose the sides that are hardly needed; with costs after that, so that what costs most goes before any side.

        Args:
            margins: of one image.
            statements: an explanation by activations, as it is written.
            costs: what statements cost.

        Returns:
            What is left, the margins (C,) that it proves, and whether all of it is needed: without any one of them the
            bounds miss the class by more than rounding can explain, also for a checker that bounds margins of one patch
            as a whole.

        Soundness: each deletion is proved.
        """
        if not costs:
            statements = self._one_sided(margins, statements)
        own = [each for each in statements if isinstance(each, ActivationStatement)]
        clauses: tuple[Statement, ...] = tuple(each for each in statements if not isinstance(each, ActivationStatement))
        rows = self._rows(Stated.of(own, self._head.size))

        @cache
        def around(*of: Statement) -> Enclosure:
            return self._without_own(Stated.of(of, self._head.size))

        def proved(rows: Enclosure, *of: Statement) -> Tensor:
            return _least_margins(margins, _met(rows, around(*of))[None])[0]

        def without_needless(of: tuple[Statement, ...], least: float) -> tuple[Statement, ...]:
            for each in of:
                fewer = tuple(other for other in of if other is not each)
                if costs.of_statement(each) >= least and bool((proved(rows, *fewer) > 0).all()):
                    of = fewer
            return of

        each = torch.tensor([costs.of_statement(one) for one in own], dtype=torch.float64)
        tried = float(each.amax()) if len(own) else 0.0  # clauses that cost as much, and are left, are needed
        clauses = without_needless(clauses, tried)
        most = torch.full((len(own), self._head.classes), math.inf, dtype=torch.float64)  # what was found before
        while True:
            now = proved(rows, *clauses)
            without = torch.minimum(_least_margins(margins, self._alone(rows, around(*clauses))), most)
            least = without.amin(1)
            order = least.argsort(descending=True, stable=True)
            order = order[each[order].argsort(descending=True, stable=True)]
            order = order[least[order] > 0]
            top = float(each[order].amax()) if len(order) else 0.0
            if top < tried:
                before, clauses, tried = clauses, without_needless(clauses, top), top
                if clauses != before:
                    continue
            if not len(order):
                break
            order = order[each[order] == top]
            lost = (now - without[order]).nan_to_num(0.0, 0.0, 0.0).cumsum(0)
            count = max(1, int((lost < now).all(1).long().cumprod(0).sum()) // _TOGETHER)
            while count:
                gone = set(order[:count].tolist())
                rest = [place for place in range(len(own)) if place not in gone]
                bound = proved(rows[rest], *clauses)
                if bool((bound > 0).all()):
                    own, rows, most, each = [own[place] for place in rest], rows[rest], most[rest], each[rest]
                    break
                if count == 1:  # in a product of other shape the last bits are others
                    most[order[0]] = bound
                count //= 2
        bounds = [proved(rows, *(other for other in clauses if other is not one))[None] for one in clauses]
        needed = not bool(self.may_be_proved(margins, torch.cat([without, *bounds])[None]).any())
        left = [*own, *clauses]
        if costs:  # all of it is still needed: what is left says less
            left = list(self._one_sided(margins, left))
            now = self.proved(margins, left)
        return left, now, needed

    def _one_sided(self, margins: Margins, statements: Sequence[Statement]) -> tuple[Statement, ...]:
        """Statements without sides that are hardly needed: of each the side whose loss leaves more, those first that
        leave most, as long as enough of the least margin stays. Each counts by itself, so that what sides cost mostly
        adds up."""
        stated = Stated.of(statements, self._head.size)
        box, free = (self._range.intersect(ends) for ends in (stated.ends, Enclosure.unchecked(*stated.clauses)))
        own = torch.tensor(stated.prototypes, dtype=torch.int64)
        (whole,), row = _least_margins(margins, box[None]), torch.arange(len(own))
        lower, upper = (end.repeat(2, len(own), 1) for end in (box.lower, box.upper))
        upper[0, row, own], lower[1, row, own] = free.upper[own], free.lower[own]
        lost = whole - torch.stack(
            [_least_margins(margins, Enclosure.unchecked(*each)) for each in zip(lower, upper, strict=True)]
        )
        lost = lost.nan_to_num(0.0, math.inf, 0.0)
        least, side = (whole - lost).amin(2).max(0)
        order, kept = least.argsort(descending=True, stable=True), _KEPT * float(whole.amin())
        gone, _ = one_by_one(whole, lost[side, row][order], kept)
        chosen = order[gone]
        while True:  # where margins are no sums, fewer go than each alone could
            low, high = stated.lower.clone(), stated.upper.clone()
            low[own[chosen[side[chosen] > 0]]], high[own[chosen[side[chosen] == 0]]] = -math.inf, math.inf
            sided = stated.with_ends(low, high)
            ends = self._range.intersect(sided.ends)
            if not len(chosen) or float(_least_margins(margins, ends[None]).amin()) >= kept:
                return sided.statements(ActivationStatement)
            chosen = chosen[: len(chosen) // 2]

    @staticmethod
    def _alone(rows: Enclosure, around: Enclosure) -> Enclosure:
        """(S, P) without each row, or tighter: what it says of those that a clause exempts is not taken away."""
        lower, upper = (end.expand(len(rows.lower), -1) for end in (around.lower, around.upper))
        if len(lower) > 1:
            lower = torch.maximum(-_least_of_others(-rows.lower), lower)
            upper = torch.minimum(_least_of_others(rows.upper), upper)
        return Enclosure.unchecked(lower, upper)

    def may_be_proved(self, margins: Margins, without: Tensor) -> Tensor:
        """(N, B) bool: whether a checker that rounds less may prove the class of N images at margins (N, B, C)."""
        least = -NOISE * margins.error.amax(1)
        enough = without > least[:, None, None]
        if self._whole is not None:
            short = torch.stack([self._whole.fall_short(each) for each in margins.predicted.tolist()])
            enough |= ~short[:, None]
        return enough.all(2)

    def box(self, stated: Stated) -> Enclosure:
        """(P,) ranges of the activations: those over the domain, cut by what is stated of each, and by what one other
        activation says of it.

        Soundness: the Lipschitz rule, from ranges that hold.
        """
        return _met(self._rows(stated), self._without_own(stated))

    def _rows(self, stated: Stated) -> Enclosure:
        """(S, P) what each statement about one activation says of all, its own among them."""
        own = torch.zeros_like(stated.below)
        own[stated.prototypes] = True
        return self._lipschitz.ranges(self._range.intersect(stated.ends), own)

    def table(self, observed: Enclosure) -> Enclosure:
        """(P, P): each row is what follows from the statement about one activation alone, of P ends `observed`."""
        return self._lipschitz.ranges(observed, torch.ones_like(observed.lower, dtype=torch.bool))

    def floors(self, low: Tensor, own: Tensor) -> Tensor:
        """(..., S, P) lower ends of all activations by one statement each: that of the prototype that `own` (..., S)
        names is at least `low` (..., S)."""
        return torch.maximum(self._lipschitz.floors(low, own), self._range.lower)

    def _without_own(self, stated: Stated) -> Enclosure:
        """(P,) ranges by the domain and the clauses alone; those that a clause exempts are cut by what it says of all
        others."""
        lower, upper = self._range.lower, self._range.upper
        if stated.has_ceiling:
            upper = self.under(stated.upper[-1:], ~stated.below)[0]
        if stated.has_floor:
            lower = self.over(stated.lower[-1:], ~stated.above)[0]
        return Enclosure.unchecked(lower, upper)

    def under(self, ceilings: Tensor, exempt: Tensor) -> Tensor:
        """(M, P) upper ends of all activations by one of some ceilings (M,) each, which exempts some (M, P) bool."""
        upper = torch.where(exempt, self._range.upper, self._range.upper.minimum(ceilings[:, None]))
        return torch.minimum(upper, self._lipschitz.by_others(upper, exempt.expand_as(upper), True))

    def over(self, floors: Tensor, exempt: Tensor) -> Tensor:
        """The same of lower ends and floors."""
        lower = torch.where(exempt, self._range.lower, self._range.lower.maximum(floors[:, None]))
        return torch.maximum(lower, self._lipschitz.by_others(lower, exempt.expand_as(lower), False))


class WholeMargins:
    """Margins of a linear readout over one patch, where they are one function of its vector y:
    A |y|^2 - 2 <y, B> + C, of which A is 0 but for squared distances.

    Nothing is proved here: vectors of the domain are tried at which a margin may be least. Where one of them has none
    that is positive, no checker proves this margin without a statement.
    """

    def __init__(self, head: Head) -> None:
        geometry, points = head.geometry, head.points.to(torch.float64)
        low, high = head.domain.lower, head.domain.upper
        self._low, self._high = -_FAR if low is None else low, _FAR if high is None else high
        self._radius = math.inf if geometry.radius is None else geometry.radius
        self._rates = torch.ones(head.size, dtype=torch.float64)
        if isinstance(head.similarity, Negated):
            self._rates = -self._rates if head.scale is None else -head.scale.to(torch.float64)
        if geometry.is_distance:
            self._curve, self._slopes, self._constants = 1.0, points, points.square().sum(1)
        else:
            self._curve, self._slopes, self._constants = 0.0, -points / 2, torch.zeros_like(self._rates)
        if geometry.needs_directions:  # the vector is the direction of the latent
            self._slopes = self._slopes / norm(points).upper[:, None]
            self._low, self._high, self._radius = -float(self._low < 0), float(self._high > 0), 1.0
        self._weight = head.weight.to(torch.float64)
        self._bias = self._weight.new_zeros(head.classes) if head.bias is None else head.bias.to(torch.float64)

    @staticmethod
    def admits(head: Head) -> bool:
        """Whether the margins of a head are such functions, for images of one patch."""
        return (
            head.geometry.has_prototypes
            and isinstance(head.similarity, Identity | Negated)
            and isinstance(head.pooling, MaxPooling | TopMeanPooling)
            and isinstance(head.readout, Linear)
        )

    def fall_short(self, predicted: int) -> Tensor:
        """(C,) bool: whether the margin against a class is found to be below 0 somewhere in the domain."""
        gains = (self._weight[predicted] - self._weight) * self._rates
        curve, slope = self._curve * gains.sum(1, keepdim=True), gains @ self._slopes
        constant = gains @ self._constants + self._bias[predicted] - self._bias
        short = torch.zeros(len(gains), dtype=torch.bool)
        # (C, D) where each coordinate alone is best: between the ends, or at one of them
        between = (slope / curve).nan_to_num(0.0, _FAR, -_FAR).clamp(self._low, self._high)
        tried = torch.stack([between, torch.full_like(slope, self._low), torch.full_like(slope, self._high)])
        best = (curve * tried.square() - 2 * slope * tried).argmin(0, keepdim=True)
        # (C, D) the vectors of the ball against which the slopes point, cut to the box
        length = root(slope.square().sum(1, keepdim=True)).clamp(min=1 / _FAR)
        against = slope / length * (min(self._radius, _FAR) * (1 - _ROUNDED))
        for place in (tried.gather(0, best)[0], against.clamp(self._low, self._high)):
            terms = torch.cat([curve * place.square(), -2 * slope * place, constant[:, None]], 1)
            short |= (terms.sum(1) < -_ROUNDED * terms.abs().sum(1)) & (place.square().sum(1) <= self._radius**2)
        return short


class _Unlinked:
    """What stands for the Lipschitz rule where it says nothing: each statement is about its own activation alone."""

    def __init__(self, everywhere: Enclosure) -> None:
        self._everywhere = everywhere

    def ranges(self, observed: Enclosure, stated: Tensor) -> Enclosure:
        own = stated.nonzero()[:, 0]
        ends = [end.repeat(len(own), 1) for end in (self._everywhere.lower, self._everywhere.upper)]
        for end, known in zip(ends, (observed.lower, observed.upper), strict=True):
            end[torch.arange(len(own)), own] = known[own]
        return Enclosure.unchecked(*ends)

    def floors(self, low: Tensor, own: Tensor) -> Tensor:
        ends = self._everywhere.lower.expand(*low.shape, -1).clone()
        return ends.scatter_(-1, own.expand_as(low)[..., None], low[..., None])

    def by_others(self, ends: Tensor, of: Tensor, upper: bool) -> Tensor:
        """See `Lipschitz.by_others`."""
        return torch.full_like(ends, math.inf if upper else -math.inf)


def _least_margins(margins: Margins, boxes: Enclosure) -> Tensor:
    """(B, C) lower bounds of the margins of one image over boxes (B, P)."""
    return margins.lower(boxes[None])[0]


def _met(rows: Enclosure, alone: Enclosure) -> Enclosure:
    """(P,) the intersection of ranges (P,) and of rows (S, P)."""
    every = Enclosure.cat([alone[None], rows])
    return Enclosure.unchecked(every.lower.amax(0), every.upper.amin(0))


def _least_of_others(rows: Tensor) -> Tensor:
    """(S, P) for each row the least of all others."""
    two = rows.topk(2, dim=0, largest=False)
    is_least = torch.arange(len(rows))[:, None] == two.indices[0]
    return torch.where(is_least, two.values[1], two.values[0])
