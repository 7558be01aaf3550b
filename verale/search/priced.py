"""Priced margins: what a class's margins are under a box of numbers, and what each end of the box is worth.

A box has the ends (P,) of one number a prototype, infinite where it is free. `range` (P,) is what each number can be
over the domain; `noise` is by how much rounding may lower a proved margin.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds import Joint, LinearMargins, activation_range, domain_range, margins_of, observe, pooling_of
from verale.certificate import ActivationStatement, PatchStatement, Statement
from verale.errors import UsageError
from verale.head import Head
from verale.rounding import Enclosure, gamma

__all__ = ["PricedActivations", "PricedEnds", "PricedMargins", "PricedObservables"]


@dataclass(frozen=True, eq=False)
class PricedEnds:
    """Margins under a box, and the prices of its ends; estimates, for the search.

    Where the ends move outward, by x_j below and y_j above, the margin of rival c falls by at most
    sum_j lower[c, j] x_j + upper[c, j] y_j.

    Attributes:
        margins: (C,) infinity at the predicted class.
        lower, upper: (C, P) at least 0; 0 where the end changes nothing.
    """

    margins: Tensor
    lower: Tensor
    upper: Tensor


class PricedActivations:
    """Of statements about activations, a linear readout: o_k - o_c = b_k - b_c + sum_j D_cj a_j, D_c = W_k - W_c.

    Over a box it is least at lower_j where D_cj > 0 and at upper_j where D_cj < 0, so |D_cj| is that end's price, as
    long as the end lies within the activation's range.

    Args:
        head: a head with a linear readout.
        predicted: the class k.
        patches: L.

    Raises:
        UsageError: another readout.
    """

    def __init__(self, head: Head, predicted: int, patches: int) -> None:
        margins = margins_of(head, torch.tensor([predicted]), patches)
        if not isinstance(margins, LinearMargins):
            raise UsageError(f"the readout is {head.readout!r}, expected a linear one: only its ends have prices")
        self._head, self._margins = head, margins
        self._gain, self._loss = margins.positive[0].T.contiguous(), margins.negative[0].T.abs()
        self.range = activation_range(head, patches)
        self.noise = float(margins.error.amax())

    def prices(self, box: Enclosure) -> PricedEnds:
        """The margins under a box, and the prices of its ends."""
        inside = self._within(box)
        margins = self._margins.lower(inside[None, None])[0, 0]
        return PricedEnds(
            margins, self._gain * (box.lower > self.range.lower), self._loss * (box.upper < self.range.upper)
        )

    def proved(self, box: Enclosure) -> Tensor:
        """(C,) lower bounds of the margins under a box; infinity at the predicted class.

        Soundness: each bound is a statement or the head's range; `LinearMargins.lower` rounds outward.
        """
        return self._margins.lower(self._within(box)[None, None])[0, 0]

    def observed(self, images: Tensor) -> Enclosure:
        """(N, P) the activations of images (N, L, D)."""
        observed = observe(self._head, images)
        return pooling_of(self._head).box(observed.view(len(images), images.shape[1], self._head.size))

    def statement(self, prototype: int, lower: float, upper: float) -> Statement:
        """The statement that an activation lies in [lower, upper]."""
        return ActivationStatement(prototype, lower, upper)

    def _within(self, box: Enclosure) -> Enclosure:
        return Enclosure(torch.maximum(box.lower, self.range.lower), torch.minimum(box.upper, self.range.upper))


class PricedObservables:
    """Statements about the observables of one patch, a margin that is one target: `verale.bounds.Joint`.

    The weight w of a statement, where positive, is the price of its lower end, and otherwise -w that of its upper end.

    Args:
        head: a head that `Joint` admits.
        predicted: the class.
        patches: 1.

    Raises:
        UsageError: another head, or images of several patches.
    """

    def __init__(self, head: Head, predicted: int, patches: int) -> None:
        if patches != 1:
            raise UsageError(f"images have {patches} patches, expected one for the paradigm 'joint'")
        self._head, self._joint, self._predicted = head, Joint(head), torch.tensor([predicted])
        self.range = domain_range(head)
        size = head.weight.abs().sum(1).max() * torch.maximum(self.range.lower.abs(), self.range.upper.abs()).amax()
        self.noise = float(size) * gamma(64 * (head.size + head.depth))

    def prices(self, box: Enclosure) -> PricedEnds:
        """The margins under a box, and the prices of its ends; these are the best weights that a search finds."""
        margins = self._joint.margins(self._predicted, box.lower[None], box.upper[None])
        weights = margins.weights[0, :, : self._head.size]
        return PricedEnds(
            margins.lower[0],
            weights.clamp(min=0) * box.lower.isfinite(),
            (-weights).clamp(min=0) * box.upper.isfinite(),
        )

    def proved(self, box: Enclosure) -> Tensor:
        """(C,) lower bounds of the margins under a box. Soundness: `Joint.margins` proves what it returns."""
        return self._joint.margins(self._predicted, box.lower[None], box.upper[None]).lower[0]

    def observed(self, images: Tensor) -> Enclosure:
        """(N, P) the observables of the only patch of images (N, 1, D)."""
        return observe(self._head, images)

    def statement(self, prototype: int, lower: float, upper: float) -> Statement:
        """The statement that the patch's observable lies in [lower, upper]."""
        return PatchStatement(0, prototype, lower, upper)


PricedMargins = PricedActivations | PricedObservables
"""The margins of one class of a head from a box of numbers, one a prototype."""
