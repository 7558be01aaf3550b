"""Linked: whether the class may follow without one of the statements of an explanation by activations.

The bounds of `top_k` and `sparse` take activations one by one, and so do the reference ranges by which minimality is
defined. But an activation bounds those of prototypes that lie near its own (`verale.bounds.lipschitz`), and the proved
checker uses that under every paradigm. Of one patch it also bounds a whole margin over the domain, which takes no
statement (`WholeMargins`). So it may prove the class without a statement that the reference ranges need. Such an
explanation does not claim minimality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from verale.bounds import TopK, margins_of
from verale.bounds.lipschitz import Lipschitz
from verale.bounds.observables import norm
from verale.certificate import Statement
from verale.errors import UsageError
from verale.head import Head, Identity, Linear, MaxPooling, Negated, TopMeanPooling
from verale.rounding import Enclosure, root
from verale.search.problem import NOISE
from verale.search.stated import Stated

__all__ = ["Linked", "WholeMargins"]

_FAR = 1e100
"""Stands for infinity: the square of a coordinate at which a margin without bounds is below 0."""
_ROUNDED = 1e-9
"""What rounding may do to a margin, of the sizes of its terms, and to a length, of itself."""


class Linked:
    """What statements about activations of one head prove together, of images of L patches.

    Args:
        head: the head.
        patches: L.

    Raises:
        UsageError: activations of this head say nothing of each other, nor is a margin bounded as a whole.
    """

    def __init__(self, head: Head, patches: int) -> None:
        self._head, self._patches, self._range = head, patches, TopK.of(head, patches).range
        self._whole = WholeMargins(head) if patches == 1 and WholeMargins.admits(head) else None
        self._lipschitz: Lipschitz | _Unlinked
        try:
            self._lipschitz = Lipschitz(head)
        except UsageError:
            if self._whole is None:
                raise
            self._lipschitz = _Unlinked(self._range)

    @classmethod
    def of(cls, head: Head, patches: int) -> Linked | None:
        """The same; None where nothing but the reference ranges says anything of a margin."""
        try:
            return cls(head, patches)
        except UsageError:
            return None

    def may_lose_one(self, predicted: int, statements: Sequence[Statement]) -> bool:
        """Whether the class may follow without one of the statements, also for a checker that rounds less.

        Args:
            predicted: the class.
            statements: an explanation by activations, as it is written.
        """
        stated = Stated.of(statements, self._head.size)
        margins = margins_of(self._head, torch.tensor([predicted]), self._patches)
        least = -NOISE * float(margins.error[0].amax())
        anyway = torch.zeros(self._head.classes, dtype=torch.bool)
        if self._whole is not None:
            anyway = ~self._whole.fall_short(predicted)

        def proves(boxes: Enclosure) -> Tensor:
            return ((margins.lower(boxes[None])[0] > least) | anyway).all(1)

        fewer = [_without(stated, stated.prototypes[index]) for index in _true(proves(self._within_each(stated)))]
        fewer += [replace(stated, upper=_with_last(stated.upper, math.inf))] * stated.has_ceiling
        fewer += [replace(stated, lower=_with_last(stated.lower, -math.inf))] * stated.has_floor
        return any(bool(proves(self.box(each)[None])) for each in fewer)

    def box(self, stated: Stated) -> Enclosure:
        """(P,) ranges of the activations: those over the domain, cut by what is stated of each, and by what one other
        activation says of it.

        Soundness: the Lipschitz rule, from ranges that hold.
        """
        every = Enclosure.cat([self._without_own(stated)[None], self._rows(stated)])
        return Enclosure.unchecked(every.lower.amax(0), every.upper.amin(0))

    def _within_each(self, stated: Stated) -> Enclosure:
        """(S, P) boxes without the statement about each of S activations, or tighter: what the lost one says of those
        that a clause exempts is not taken away."""
        rows, alone = self._rows(stated), self._without_own(stated)
        if len(rows.lower) < 2:
            return Enclosure.unchecked(*(end.expand(len(rows.lower), -1) for end in (alone.lower, alone.upper)))
        lower, upper = -_least_of_others(-rows.lower), _least_of_others(rows.upper)
        return Enclosure.unchecked(torch.maximum(lower, alone.lower), torch.minimum(upper, alone.upper))

    def _rows(self, stated: Stated) -> Enclosure:
        """(S, P) what each statement about one activation says of all, its own among them."""
        own = torch.zeros_like(stated.below)
        own[stated.prototypes] = True
        return self.rows(self._range.intersect(stated.ends), own)

    def rows(self, ends: Enclosure, stated: Tensor) -> Enclosure:
        """(S, P) what statements about single activations, S of which there are, say of all; `ends` (P,) are theirs."""
        return self._lipschitz.ranges(ends, stated)

    def _without_own(self, stated: Stated) -> Enclosure:
        """(P,) ranges by the domain and the clauses; those that a clause exempts are cut by what all others say."""
        floor, ceiling = stated.clauses
        known = self._range.intersect(stated.ends)
        lower, upper = torch.maximum(self._range.lower, floor), torch.minimum(self._range.upper, ceiling)
        if stated.has_ceiling:
            upper = torch.minimum(upper, self._lipschitz.most_by_others(known.upper, ~stated.below))
        if stated.has_floor:
            lower = torch.maximum(lower, self._lipschitz.least_by_others(known.lower, ~stated.above))
        return Enclosure.unchecked(lower, upper)


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
        for place in (self._corners(curve, slope), self._on_the_ball(slope)):
            terms = torch.cat([curve * place.square(), -2 * slope * place, constant[:, None]], 1)
            short |= (terms.sum(1) < -_ROUNDED * terms.abs().sum(1)) & (place.square().sum(1) <= self._radius**2)
        return short

    def _corners(self, curve: Tensor, slope: Tensor) -> Tensor:
        """(C, D) where each coordinate alone is best: between the ends, or at one of them."""
        between = (slope / curve).nan_to_num(0.0, _FAR, -_FAR).clamp(self._low, self._high)
        tried = torch.stack([between, torch.full_like(slope, self._low), torch.full_like(slope, self._high)])
        best = (curve * tried.square() - 2 * slope * tried).argmin(0, keepdim=True)
        return tried.gather(0, best)[0]

    def _on_the_ball(self, slope: Tensor) -> Tensor:
        """(C, D) the vectors of the ball against which the slopes point, cut to the box."""
        length = root(slope.square().sum(1, keepdim=True)).clamp(min=1 / _FAR)
        return (slope / length * (min(self._radius, _FAR) * (1 - _ROUNDED))).clamp(self._low, self._high)


class _Unlinked:
    """What stands for the Lipschitz rule where it says nothing: each statement is about its own activation alone."""

    def __init__(self, everywhere: Enclosure) -> None:
        self._everywhere = everywhere

    def ranges(self, observed: Enclosure, stated: Tensor) -> Enclosure:
        """See `Lipschitz.ranges`."""
        own = stated.nonzero()[:, 0]
        ends = [end.repeat(len(own), 1) for end in (self._everywhere.lower, self._everywhere.upper)]
        for end, known in zip(ends, (observed.lower, observed.upper), strict=True):
            end[torch.arange(len(own)), own] = known[own]
        return Enclosure.unchecked(*ends)

    def most_by_others(self, high: Tensor, of: Tensor) -> Tensor:
        """See `Lipschitz.most_by_others`."""
        return torch.full_like(high, math.inf)

    def least_by_others(self, low: Tensor, of: Tensor) -> Tensor:
        """See `Lipschitz.least_by_others`."""
        return torch.full_like(low, -math.inf)


def _least_of_others(rows: Tensor) -> Tensor:
    """(S, P) for each row the least of all others."""
    two = rows.topk(2, dim=0, largest=False)
    is_least = torch.arange(len(rows))[:, None] == two.indices[0]
    return torch.where(is_least, two.values[1], two.values[0])


def _without(stated: Stated, prototype: int) -> Stated:
    lower, upper = stated.lower.clone(), stated.upper.clone()
    lower[prototype], upper[prototype] = -math.inf, math.inf
    return stated.with_ends(lower, upper)


def _with_last(ends: Tensor, end: float) -> Tensor:
    return torch.cat([ends[:-1], ends.new_tensor([end])])


def _true(values: Tensor) -> list[int]:
    indices: list[int] = values.nonzero()[:, 0].tolist()
    return indices
