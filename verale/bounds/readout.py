"""The margins of a head, by its readout."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from verale.bounds.margin import LinearMargins, Margins
from verale.bounds.maximum import MaximumMargins
from verale.bounds.tree import TreeMargins
from verale.head import Head, Linear, Maximum, Readout, SoftTree

__all__ = ["margins_of"]

_MARGINS: dict[type[Readout], Callable[[Head, Tensor, int], Margins]] = {
    Linear: LinearMargins.of,
    SoftTree: TreeMargins.of,
    Maximum: MaximumMargins.of,
}


def margins_of(head: Head, predicted: Tensor, patches: int) -> Margins:
    """Margins of N predicted classes (N,), all classes as rivals, for images of L patches."""
    return _MARGINS[type(head.readout)](head, predicted, patches)
