"""Top-k: bounds from the activations themselves (any head)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds.pooling import activation_range
from verale.head import Head
from verale.rounding import Enclosure

__all__ = ["TopK"]


@dataclass(frozen=True, eq=False)
class TopK:
    """The k highest activations are stated, and that no other activation exceeds the least of them.

    A stated activation lies in its interval; any other in the head's own range over its domain, cut from
    above by the order clause. The clause lists whom it exempts, so dropping a statement only makes E weaker.

    Soundness: each bound is a statement or the head's range. The range's lower end is the head's own, not 0:
    similarities can be negative.
    Reference: Soria et al., Formal Abductive Latent Explanations (arXiv 2511.16588), top-k explanations;
    docs/design.md, 3.4 item 4.
    """

    range: Enclosure
    """(P,) the range of each activation over the domain."""

    @classmethod
    def of(cls, head: Head, patches: int, device: torch.device | str = "cpu") -> TopK:
        """The paradigm for one head and images of L patches."""
        return cls(activation_range(head, patches, device))

    def box(self, stated: Tensor, exempt: Tensor, order: Tensor, observed: Enclosure) -> Enclosure:
        """Boxes of activations for R explanations.

        Args:
            stated: (R, P) bool, activations with a statement of their own.
            exempt: (R, P) bool, activations that the order clause leaves out.
            order: (R,) upper end of the order clause, infinity without one.
            observed: (P,) the statements' intervals.

        Returns:
            (R, P) enclosure.
        """
        bound = torch.where(exempt, torch.inf, order[:, None])
        lower = self.range.lower.expand_as(bound)
        upper = torch.minimum(self.range.upper, bound)
        return Enclosure(
            torch.where(stated, torch.maximum(lower, observed.lower), lower),
            torch.where(stated, torch.minimum(upper, observed.upper), upper),
        )
