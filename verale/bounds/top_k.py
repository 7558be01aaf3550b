"""Top-k and sparse: bounds from the activations themselves (any head)."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from verale.bounds.pooling import activation_range
from verale.head import Head
from verale.rounding import Enclosure

__all__ = ["TopK"]


@dataclass(frozen=True, eq=False)
class TopK:
    """Statements about activations, a ceiling and a floor: each activation lies in its range and in what is stated.

    A clause names the activations that it exempts, so dropping a statement only makes E weaker.

    Soundness: each bound is a statement or the head's range, and an intersection of true intervals is true. The range's
    lower end is the head's own, not 0: similarities can be negative.
    Reference: Soria et al., Formal Abductive Latent Explanations (arXiv 2511.16588), top-k explanations;
    docs/design.md, 3.4 item 4.
    """

    range: Enclosure
    """(P,) the range of each activation over the domain."""

    @classmethod
    def of(cls, head: Head, patches: int) -> TopK:
        """The paradigm for one head and images of L patches."""
        return cls(activation_range(head, patches))

    def box(self, stated: Enclosure) -> Enclosure:
        """Boxes of activations (..., P), given the ends (..., P) that are stated; infinite where there is none."""
        return Enclosure(
            torch.maximum(self.range.lower, stated.lower),
            torch.minimum(self.range.upper, stated.upper),
        )
