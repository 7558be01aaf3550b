"""Simplex: how much mass the stated masses of a patch leave for the others (softmax heads)."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds.domain import domain_range, inner_domain_range
from verale.bounds.rows import cut, require_geometry, stated_pairs
from verale.head import Head
from verale.rounding import Enclosure, down, gamma, up

__all__ = ["Simplex", "SimplexRows"]


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
