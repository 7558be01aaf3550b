"""Coverage: which images satisfy the statements of a certificate, by enclosures of what they speak of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds import LinearMargins, observe, pooling_of
from verale.bounds.margin import kept
from verale.certificate import (
    ActivationStatement,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
    SumStatement,
)
from verale.certificate.statements import activations_bounded
from verale.head import Head
from verale.head.head import belonging
from verale.rounding import Enclosure

_CHUNK = 2**23
"""About how many observables are kept at once: two ends of 64 MiB."""


@dataclass(frozen=True, eq=False)
class Coverage:
    """Which of N images satisfy some statements.

    Attributes:
        certain: (N,) every statement is true, proved in outward-rounded float64.
        possible: (N,) no statement is certainly false. All others are.
    """

    certain: Tensor
    possible: Tensor

    @property
    def proposed(self) -> list[int]:
        """The indices of the possible ones."""
        indices: list[int] = self.possible.nonzero()[:, 0].tolist()
        return indices


def coverage_of(head: Head, images: Tensor, statements: Sequence[Statement], predicted: int) -> Coverage:
    """The coverage of statements about images of a class over images (N, L, D) float64.

    Raises:
        LatentsError: latents that do not fit the head.
    """
    certain = torch.ones(len(images), dtype=torch.bool)
    possible = torch.ones_like(certain)
    step = max(1, _CHUNK // (images.shape[1] * head.size))
    for start in range(0, len(images), step):
        some = slice(start, start + step)
        flat = observe(head, images[some].flatten(0, 1))
        shape = -1, images.shape[1], head.size
        observed = Enclosure.unchecked(flat.lower.view(shape), flat.upper.view(shape))
        activations = pooling_of(head).box(observed)
        for each in statements:
            if isinstance(each, SumStatement):
                sure, maybe = _sum_holds(head, predicted, images.shape[1], each, activations)
            else:
                sure, maybe = _holds(each, observed, activations)
            certain[some] &= sure
            possible[some] &= maybe
    return Coverage(certain, possible)


def _sum_holds(
    head: Head, predicted: int, patches: int, statement: SumStatement, activations: Enclosure
) -> tuple[Tensor, Tensor]:
    """The same as `_holds` of a sum."""
    classes = torch.tensor([predicted])
    margins, own = LinearMargins.of(head, classes, patches), belonging(head, classes)
    rivals = [c for c in range(head.classes) if c != predicted] if statement.rivals is None else list(statement.rivals)
    images = range(len(activations.lower))
    most = torch.cat([margins.taken_back(activations[image, None], own) for image in images])[:, rivals]
    others = kept(activations, ~own)
    least = -(others.upper @ margins.positive[0] + others.lower @ margins.negative[0]) - margins.error
    return (most <= statement.upper).all(1), (least[:, rivals] <= statement.upper).all(1)


def _holds(
    statement: PatchStatement | ActivationStatement | OrderStatement | FloorStatement,
    observed: Enclosure,
    activations: Enclosure,
) -> tuple[Tensor, Tensor]:
    """(n,) each: whether a statement is certainly true, and whether it is not certainly false."""
    lower, upper = getattr(statement, "lower", -torch.inf), getattr(statement, "upper", torch.inf)
    if isinstance(statement, PatchStatement):
        number = observed[:, statement.patch, statement.prototype, None]
    else:
        bounds = activations_bounded(statement, activations.lower.shape[1])
        number = activations[:, [prototype for prototype, *_ in bounds]]
    sure = (number.lower >= lower) & (number.upper <= upper)
    maybe = (number.upper >= lower) & (number.lower <= upper)
    return sure.all(1), maybe.all(1)
