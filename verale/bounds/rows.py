"""Spatial paradigms: from statements about the patches of images to bounds of all observables of each patch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from verale.errors import UsageError
from verale.head import Head
from verale.paradigms import PARADIGMS
from verale.rounding import Enclosure


@runtime_checkable
class SpatialParadigm(Protocol):
    """A way from statements about pairs (patch, prototype) to bounds of all observables of each patch."""

    name: str

    ordered: bool
    """Whether the bounds depend on the order of a patch's statements, and fewer statements may give tighter ones."""

    @property
    def size(self) -> int:
        """P."""
        ...

    def ranges(self, stated: Sequence[Sequence[int]], observed: Enclosure) -> Enclosure:
        """(R, P) bounds of the observables of R patches; the statements themselves and the head's domain are included.

        Args:
            stated: for each patch the prototypes whose observables are stated, in their order.
            observed: (R, P) the ends that statements give.
        """
        ...


@runtime_checkable
class ExactParadigm(SpatialParadigm, Protocol):
    """A paradigm that gives the exact ranges of all observables: only under such a one is a statement surely needed."""

    def inner(self) -> ExactParadigm:
        """The same paradigm, but its ranges are from within: each end is attained under the statements, or at least
        lies inside the exact range. Where float64 cannot tell, lower ends are infinity and upper ends minus infinity.
        They serve the claim of minimality, never a proof."""
        ...


def require_geometry(paradigm: str, head: Head, needs: str) -> None:
    """Raise UsageError, which says what the paradigm needs, unless it is defined for the head's geometry."""
    if head.geometry.kind not in PARADIGMS[paradigm].geometries:
        raise UsageError(f"paradigm {paradigm!r} needs {needs}")


def stated_pairs(stated: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """The patches and the prototypes (S,) of all statements, patch by patch."""
    counts = torch.tensor(list(map(len, stated)), dtype=torch.int64)
    prototypes = torch.tensor([j for each in stated for j in each], dtype=torch.int64)
    return torch.arange(len(stated)).repeat_interleave(counts), prototypes


def cut(ranges: Enclosure, pairs: tuple[Tensor, Tensor], stated: Enclosure) -> Enclosure:
    """Ranges (R, P) cut in place, at some pairs of rows and prototypes (S,) each, by what is stated of these (S,)."""
    ranges.lower[pairs] = torch.maximum(ranges.lower[pairs], stated.lower)
    ranges.upper[pairs] = torch.minimum(ranges.upper[pairs], stated.upper)
    return ranges
