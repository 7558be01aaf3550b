"""The margins of a head, by its readout."""

from __future__ import annotations

from torch import Tensor

from verale.bounds.margin import LinearMargins, Margins
from verale.bounds.maximum import MaximumMargins
from verale.bounds.tree import TreeMargins
from verale.head import Head, Maximum, SoftTree

__all__ = ["margins_of"]


def margins_of(head: Head, predicted: Tensor, patches: int) -> Margins:
    """Margins of N predicted classes (N,), all classes as rivals, for images of L patches."""
    match head.readout:
        case SoftTree() as tree:
            return TreeMargins.of(head, tree, predicted)
        case Maximum():
            return MaximumMargins.of(head, predicted)
        case _:
            return LinearMargins.of(head, predicted, patches)
