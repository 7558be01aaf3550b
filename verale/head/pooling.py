"""Poolings: from the similarities of all patches to one activation a prototype."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from verale.errors import HeadError
from verale.head.fields import Kind

__all__ = ["POOLINGS", "BankPooling", "FocalPooling", "MaskedMaxPooling", "MaxPooling", "Pooling", "TopMeanPooling"]


class Pooling(ABC):
    """What all poolings answer; each one is a frozen dataclass with an entry in `POOLINGS`.

    Attributes:
        is_maximum: whether an activation is the greatest similarity over all patches.
        needs_all_patches: whether an activation depends on more than the best patch.
        is_difference: whether an activation is a difference of two similarities, and so up to twice as large.
    """

    is_maximum: ClassVar[bool] = False
    needs_all_patches: ClassVar[bool] = False
    is_difference: ClassVar[bool] = False

    @property
    def least_patches(self) -> int:
        """The least number of patches of an image."""
        return 1

    @property
    def tensors(self) -> dict[str, Tensor]:
        """What of it head files keep as tensors."""
        return {}

    @property
    @abstractmethod
    def kind(self) -> str:
        """Its name in head files."""

    @abstractmethod
    def pool(self, observed: Tensor, similarity: Callable[[Tensor], Tensor]) -> Tensor:
        """Activations (N, P) of observables (N, L, P) in float64, rounded to nearest; `similarity` keeps shapes."""

    def hidden(self, patches: int, prototypes: int) -> Tensor | None:
        """(L, P) which prototypes do not look at which patches; None where all look at all."""
        return None


class _Greatest(Pooling):
    """The greatest similarity of the patches that a prototype looks at."""

    def pool(self, observed: Tensor, similarity: Callable[[Tensor], Tensor]) -> Tensor:
        similar = similarity(observed)
        hidden = self.hidden(similar.shape[1], similar.shape[2])
        return (similar if hidden is None else similar.masked_fill(hidden.to(similar.device), -torch.inf)).amax(dim=1)


@dataclass(frozen=True)
class MaxPooling(_Greatest):
    """Activation a_j = max over patches of the similarity g_lj."""

    kind = "max"
    is_maximum = True


@dataclass(frozen=True)
class BankPooling(_Greatest):
    """Two banks of prototypes (ProtoPFormer): the first ones look at patch 0, the class token, and the others do not.

    a_j = g_0j for j < class_token; a_j = max over the patches 1, 2, ... of g_lj for the others. Statements may speak of
    any patch and prototype: all live in one latent space.
    """

    class_token: int

    kind = "banks"

    @property
    def least_patches(self) -> int:
        return 2

    def hidden(self, patches: int, prototypes: int) -> Tensor:
        return (torch.arange(patches)[:, None] == 0) != (torch.arange(prototypes) < self.class_token)


MOST_COLUMNS = 2**16


@dataclass(frozen=True, eq=False)
class MaskedMaxPooling(_Greatest):
    """Activation a_j = max of g_lj over the patches l that prototype j looks at: those with mask[j, min(l, K - 1)] = 1.

    The last column of the mask stands for all further patches, so an image has at least K. Where prototypes are fixed
    to positions in images of L patches, K = L (`at`). `BankPooling` is a mask of two columns.

    Attributes:
        mask: (P, K) of 0 and 1, or of False and True; a tensor, an array or lists. Every row has a 1.
    """

    mask: Tensor

    kind = "masked_max"

    def __post_init__(self) -> None:
        try:
            entries = torch.as_tensor(self.mask)
        except (TypeError, ValueError, RuntimeError) as error:
            raise HeadError("mask", f"is {type(self.mask).__name__}, expected (P, K) of 0 and 1") from error
        if entries.dim() != 2 or not 1 <= entries.shape[1] <= MOST_COLUMNS:
            raise HeadError(
                "mask", f"has shape {tuple(entries.shape)}, expected (P, K) with K from 1 to {MOST_COLUMNS}"
            )
        mask = entries.detach().cpu() != 0
        wrong = ((entries.detach().cpu() != 1) & mask).any(1) | ~mask.any(1)
        if wrong.any():
            row = int(wrong.nonzero()[0])
            raise HeadError("mask", f"row {row} is not of 0 and 1 with a 1, expected which patches it looks at")
        object.__setattr__(self, "mask", mask)

    @classmethod
    def at(cls, positions: Iterable[int | Iterable[int]], patches: int) -> MaskedMaxPooling:
        """The pooling of prototypes that look at these patches, or at this one, of images with so many patches.

        Args:
            positions: for each prototype a patch, or some.
            patches: L.

        Raises:
            HeadError: a patch that is no integer from 0 to L - 1, or occurs twice; a prototype without one.
        """
        rows = [[each] if isinstance(each, int) else list(each) for each in positions]
        if not 1 <= patches <= MOST_COLUMNS:
            raise HeadError("positions", f"are of {patches} patches, expected 1 to {MOST_COLUMNS}")
        for j, row in enumerate(rows):
            wrong = [each for each in row if type(each) is not int or not 0 <= each < patches]
            if wrong:
                raise HeadError(
                    "positions", f"of prototype {j} hold {wrong[0]!r}, expected patches from 0 to {patches - 1}"
                )
            if not row or len({*row}) < len(row):
                raise HeadError("positions", f"of prototype {j} are {row}, expected at least one patch, none twice")
        mask = torch.zeros(len(rows), patches, dtype=torch.bool)
        for j, row in enumerate(rows):
            mask[j, row] = True
        return cls(mask)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MaskedMaxPooling) and torch.equal(self.mask, other.mask)

    def __hash__(self) -> int:
        return hash(self.mask.numpy().tobytes())

    def __repr__(self) -> str:
        rows, columns = self.mask.shape
        return f"MaskedMaxPooling(mask of {rows} prototypes and {columns} columns)"

    @property
    def least_patches(self) -> int:
        return int(self.mask.shape[1])

    @property
    def tensors(self) -> dict[str, Tensor]:
        return {"mask": self.mask.to(torch.float32)}

    def hidden(self, patches: int, prototypes: int) -> Tensor:
        return ~self.mask.T[torch.arange(patches).clamp(max=self.least_patches - 1)]


@dataclass(frozen=True)
class TopMeanPooling(Pooling):
    """Activation a_j = mean of the k greatest similarities g_lj, of all of them where there are fewer (ProtoPNeXt)."""

    k: int = 1

    kind = "top_mean"
    needs_all_patches = True

    def pool(self, observed: Tensor, similarity: Callable[[Tensor], Tensor]) -> Tensor:
        similar = similarity(observed)
        return similar.topk(min(self.k, similar.shape[1]), dim=1).values.mean(dim=1)


_OF_SIMILARITIES = "max_minus_mean"
_OF_DISTANCES = "max_minus_mean_distance"


@dataclass(frozen=True)
class FocalPooling(Pooling):
    """Activation a_j = the largest similarity minus a mean over the whole image; >= 0, and 0 for one patch.

    - `max_minus_mean`: a_j = max_l S(m_lj) - mean_l S(m_lj), minus the mean similarity (Beyond L2, section 3.5).
    - `max_minus_mean_distance`: a_j = S(min_l m_lj) - S(mean_l m_lj), minus the similarity at the mean squared distance
      (ProtoPool's code). Euclidean only: of other observables the mean is no distance. `slots.merge_slots` computes
      the weights of such a head.
    """

    kind: str = _OF_SIMILARITIES

    needs_all_patches = True
    is_difference = True

    def __post_init__(self) -> None:
        kinds = (_OF_SIMILARITIES, _OF_DISTANCES)
        if self.kind not in kinds:
            raise HeadError("pooling", f"is focal of kind {self.kind!r}, expected one of {', '.join(kinds)}")

    @property
    def of_distances(self) -> bool:
        """Whether the mean is of distances, and not of similarities."""
        return self.kind == _OF_DISTANCES

    def pool(self, observed: Tensor, similarity: Callable[[Tensor], Tensor]) -> Tensor:
        similar = similarity(observed)
        mean = similarity(observed.mean(dim=1)) if self.of_distances else similar.mean(dim=1)
        return similar.amax(dim=1) - mean


POOLINGS: dict[str, Kind[Pooling]] = {
    "max": Kind(MaxPooling),
    "banks": Kind(BankPooling),
    "masked_max": Kind(MaskedMaxPooling, tensors=("mask",)),
    "top_mean": Kind(TopMeanPooling),
    **{kind: Kind(FocalPooling, {"kind": kind}) for kind in (_OF_SIMILARITIES, _OF_DISTANCES)},
}
"""The poolings of head files, by their kind."""
