"""Simplex: how much mass the stated masses of a patch leave for the others (softmax heads).

Assignment: a patch can spend its remaining mass only once (softmax heads).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds.domain import domain_range, inner_domain_range
from verale.bounds.margin import LinearMargins
from verale.bounds.observables import cut, require_geometry, stated_pairs
from verale.errors import UsageError
from verale.head import Head, Identity
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up


@dataclass(frozen=True, eq=False)
class SimplexRows:
    """R patches.

    Attributes:
        lower, upper: (R, P) bounds of the masses.
        top: (R, P) upper bounds of stated masses by the statements alone, whatever the domain; 0 where none is stated.
        stated: (R, P) which masses are stated.
        remainder: (R,) upper bound of 1 - the sum of the stated masses.
        shortfall: (R,) lower bound of 1 - the sum of the stated masses.
    """

    lower: Tensor
    upper: Tensor
    top: Tensor
    stated: Tensor
    remainder: Tensor
    shortfall: Tensor

    @property
    def range(self) -> Enclosure:
        """(R, P) bounds of the masses."""
        return Enclosure.unchecked(self.lower, self.upper)


class Simplex:
    """With R_l = 1 - sum of the stated masses of patch l: an unstated mass lies in [0, R_l], a stated one in
    its interval.

    If all masses but one are stated, that one is R_l itself. All lie in their ranges over the domain.

    Soundness: the masses of a patch are >= 0 and sum to 1; every difference is rounded outward.
    Reference: Soria et al., Formal Abductive Latent Explanations (arXiv 2511.16588), PIP-Net bounds.
    """

    name = "simplex"
    ordered = False

    def __init__(self, head: Head) -> None:
        self.require(head)
        self._head, self._domain = head, domain_range(head)
        self._inside = False

    @classmethod
    def require(cls, head: Head) -> None:
        """Raise UsageError unless observables are masses."""
        require_geometry(cls.name, head, "a softmax head; for a metric head use 'projection'")

    @property
    def size(self) -> int:
        """P."""
        return int(self._domain.shape[0])

    def ranges(self, stated: Sequence[Sequence[int]], observed: Enclosure) -> Enclosure:
        """See `SpatialParadigm`."""
        there = torch.zeros_like(observed.lower, dtype=torch.bool)
        there[stated_pairs(stated)] = True
        return self.of_masses(there, observed)

    def of_masses(self, stated: Tensor, observed: Enclosure) -> Enclosure:
        """(R, P) ranges of patches of which some masses are stated, (R, P) bool; see `ranges`."""
        patch, prototype = stated.nonzero(as_tuple=True)
        return self.from_statements(len(stated), patch, prototype, observed[patch, prototype]).range

    def from_statements(self, rows: int, patch: Tensor, prototype: Tensor, observed: Enclosure) -> SimplexRows:
        """Patches that know S different statements, all entered at once.

        Args:
            rows: how many patches.
            patch, prototype: (S,).
            observed: (S,) their masses.

        Soundness: masses are >= 0, so that a patch's sum of at most P of them lies within gamma_P, relative, in any
        order; the differences are rounded outward.
        """
        low, high = (
            self._domain.lower.new_zeros(rows).index_add_(0, patch, end) for end in (observed.lower, observed.upper)
        )
        relative = gamma(self.size)
        remainder = up(1 - down(low - up(low * relative))).clamp(min=0)
        shortfall = down(1 - up(high + up(high * relative)))
        lower, upper = (end.expand(rows, -1).clone() for end in (self._domain.lower, self._domain.upper))
        stated, top = torch.zeros_like(lower, dtype=torch.bool), torch.zeros_like(lower)
        stated[patch, prototype] = True
        cut(Enclosure.unchecked(lower, upper), (patch, prototype), observed)
        top[patch, prototype] = observed.upper
        left, short = (shortfall.clamp(min=0), remainder) if self._inside else (remainder, shortfall)
        most = torch.where(stated, up(lower + left[:, None]), left[:, None])
        top = torch.minimum(top, most)
        alone = ~stated & (stated.sum(1, keepdim=True) == self.size - 1)
        least = torch.where(alone, short[:, None], 0.0)
        if self._inside:  # if all masses are stated, each is what the others leave
            full = stated.all(1, keepdim=True)
            least, most = least.masked_fill(full, torch.inf), most.masked_fill(full, -torch.inf)
        return SimplexRows(torch.maximum(lower, least), torch.minimum(upper, most), top, stated, remainder, shortfall)

    def inner(self) -> Simplex:
        """See `SpatialParadigm.inner`."""
        within = copy(self)
        within._inside, within._domain = True, inner_domain_range(self._head)
        return within


_WEIGHTS_AT_ONCE = 2**22
"""So many weights of rivals are looked at at once."""
_PRODUCTS_AT_ONCE = 2**20
"""So many products of patches and prototypes are bounded at once."""


class Assignment(Simplex):
    """The bounds of `Simplex`, patch by patch; rivals that these leave open are bounded by `assignment_margins`."""

    name = "assignment"

    @classmethod
    def require(cls, head: Head) -> None:
        """Raise UsageError unless the activations of a softmax head are greatest masses, of which the bound speaks."""
        super().require(head)
        if not (head.pooling.is_maximum and isinstance(head.similarity, Identity)):
            raise UsageError(
                "paradigm 'assignment' needs max pooling of masses as they are; for this head use 'simplex'"
            )


def assignment_margins(
    rows: SimplexRows, margins: LinearMargins, images: Tensor, rivals: Tensor, prices: Sequence[Mapping[int, float]]
) -> Tensor:
    """Lower bounds of o_predicted - o_c for some rivals of some images, from prices of prototypes.

    With w_k = W_ck - W_pred,k, o_k the largest stated mass of k, R_l the remaining mass of patch l, and any v_k >= 0:
        sum_k w_k a_k <= sum_{w_k <= 0} w_k a_k^low + sum_{w_k > 0} (w_k o_k + v_k)
                         + sum_l max(0, max {w_k (R_l - o_k)^+ - v_k : k unstated at l, w_k > 0}).

    Args:
        rows: the N * L patches of all images, image by image, with their statements entered.
        margins: of these images, with all classes.
        images, rivals: (B,) whose margins to bound.
        prices: for each of them the prices v_k >= 0, 0 where there is none; those with w_k <= 0 are ignored.

    Returns:
        (B,) float64.

    Soundness: the bound holds for any prices (proof: `verale.checker.reading.masses`), and grows with R and o. Both
    are rounded up in `rows`; each difference and product is rounded up here; the sums have terms >= 0, so that they
    lie within gamma, relative, in any order.
    """
    count, size = len(margins.predicted), rows.top.shape[1]
    top = rows.top.view(count, -1, size).amax(1)
    lower = rows.lower.view(count, -1, size).amax(1)
    without = margins.lower(Enclosure(lower[:, None], top[:, None]))[:, 0][images, rivals]
    gap = up(rows.remainder.view(count, -1)[..., None] - top[:, None]).clamp(min=0)
    gap = gap.masked_fill(rows.stated.view_as(gap), 0.0)
    bounds = torch.zeros_like(without)
    for image in sorted(set(images.tolist())):
        (pairs,) = (images == image).nonzero(as_tuple=True)
        for some in torch.split(pairs, max(1, _WEIGHTS_AT_ONCE // size)):
            weight = -margins.negative[image].index_select(1, rivals[some]).T
            paid = torch.zeros_like(weight)
            for row, pair in zip(paid, some.tolist(), strict=True):
                row[list(prices[pair])] = row.new_tensor(list(prices[pair].values()))
            bounds[some] = _most(weight, paid, gap[image])
    return down(without - bounds)


def _most(weight: Tensor, paid: Tensor, gap: Tensor) -> Tensor:
    """(B,) sum_k v_k + sum_l max(0, max_k w_k gap_lk - v_k) over the k with w_k > 0, or more.

    Args:
        weight, paid: (B, P) w, whose entries were rounded once, and v.
        gap: (L, P) (R_l - o_k)^+, 0 where k is stated, or more.
    """
    needed = max(1, int((weight > 0).sum(1).max()))
    weight, columns = weight.topk(needed, dim=1)
    # The difference of two weights was rounded once; where it is 0 it is exact.
    weight, price = up(weight), paid.gather(1, columns).masked_fill(weight == 0, 0.0)
    parts = (torch.split(rows, max(1, _PRODUCTS_AT_ONCE // needed // len(gap))) for rows in (weight, price, columns))
    excess = torch.cat(
        [
            up(up(w[:, None] * gap[:, chosen].transpose(0, 1)) - v[:, None]).clamp(min=0).amax(2).sum(1)
            for w, v, chosen in zip(*parts, strict=True)
        ]
    )
    terms = needed + len(gap)
    total = up(price.sum(1) + excess)
    return up(total + up(total * gamma(terms + 2) + terms * UNDERFLOW))
