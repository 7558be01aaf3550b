"""Poolings: from the similarities of all patches to one activation a prototype."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from verale.errors import HeadError
from verale.head.fields import Kind
from verale.head.geometry import Geometry
from verale.head.similarity import Similarity

__all__ = ["POOLINGS", "BankPooling", "FocalPooling", "MaxPooling", "Pooling", "TopMeanPooling"]


class Pooling(ABC):
    """What all poolings answer; each one is a frozen dataclass with an entry in `POOLINGS`."""

    is_maximum: ClassVar[bool] = False
    """Whether an activation is the greatest similarity over all patches."""

    needs_all_patches: ClassVar[bool] = False
    """Whether an activation depends on more than the best patch."""

    is_difference: ClassVar[bool] = False
    """Whether an activation is a difference of two similarities, and so up to twice as large."""

    least_patches: ClassVar[int] = 1
    """The least number of patches of an image."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """Its name in head files."""

    @abstractmethod
    def pool(self, observed: Tensor, similarity: Callable[[Tensor], Tensor]) -> Tensor:
        """Activations (N, P) of observables (N, L, P) in float64, rounded to nearest; `similarity` keeps shapes."""

    def hidden(self, patches: int, prototypes: int, device: torch.device | str) -> Tensor | None:
        """(L, P) which prototypes do not look at which patches; None where all look at all."""
        return None

    def check(self, geometry: Geometry, similarity: Similarity) -> None:  # noqa: B027, most are defined for all
        """Raise HeadError unless it is defined for the geometry and the similarity."""

    def check_size(self, prototypes: int) -> None:  # noqa: B027
        """Raise HeadError unless it is defined for this number of prototypes."""


@dataclass(frozen=True)
class MaxPooling(Pooling):
    """Activation a_j = max over patches of the similarity g_lj."""

    kind = "max"
    is_maximum = True

    def pool(self, observed: Tensor, similarity: Callable[[Tensor], Tensor]) -> Tensor:
        """max_l g_lj."""
        return similarity(observed).amax(dim=1)


@dataclass(frozen=True)
class BankPooling(Pooling):
    """Two banks of prototypes (ProtoPFormer): the first ones look at patch 0, the class token, and the others do not.

    a_j = g_0j for j < class_token; a_j = max over the patches 1, 2, ... of g_lj for the others. Statements may speak of
    any patch and prototype: all live in one latent space.
    """

    class_token: int

    kind = "banks"
    least_patches = 2

    def __post_init__(self) -> None:
        if self.class_token < 1:
            raise HeadError("pooling.class_token", f"is {self.class_token}, expected at least 1 prototype")

    def pool(self, observed: Tensor, similarity: Callable[[Tensor], Tensor]) -> Tensor:
        """The class token's similarities, then the greatest of the other patches."""
        similar, bank = similarity(observed), self.class_token
        return torch.cat([similar[:, 0, :bank], similar[:, 1:, bank:].amax(dim=1)], dim=1)

    def hidden(self, patches: int, prototypes: int, device: torch.device | str) -> Tensor:
        """Each bank does not look at the other's patches."""
        token = torch.arange(patches, device=device)[:, None] == 0
        bank = torch.arange(prototypes, device=device) < self.class_token
        return token != bank

    def check_size(self, prototypes: int) -> None:
        """Both banks have prototypes."""
        if not self.class_token < prototypes:
            raise HeadError(
                "pooling.class_token", f"is {self.class_token}, expected less than the {prototypes} prototypes"
            )


@dataclass(frozen=True)
class TopMeanPooling(Pooling):
    """Activation a_j = mean of the k greatest similarities g_lj, of all of them where there are fewer (ProtoPNeXt)."""

    k: int = 1

    kind = "top_mean"
    needs_all_patches = True

    def __post_init__(self) -> None:
        if self.k < 1:
            raise HeadError("pooling.k", f"is {self.k}, expected at least 1")

    def pool(self, observed: Tensor, similarity: Callable[[Tensor], Tensor]) -> Tensor:
        """The mean of the min(k, L) greatest g_lj."""
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
        """The largest similarity minus the mean, or minus the similarity at the mean."""
        similar = similarity(observed)
        mean = similarity(observed.mean(dim=1)) if self.of_distances else similar.mean(dim=1)
        return similar.amax(dim=1) - mean

    def check(self, geometry: Geometry, similarity: Similarity) -> None:
        """Defined for some similarities only; the mean distance needs distances."""
        if not similarity.focal:
            raise HeadError("pooling", f"is focal, expected another for {similarity!r}")
        if self.of_distances and not geometry.is_distance:
            raise HeadError("pooling", f"is {self.kind}, expected another: only Euclidean has it, not {geometry!r}")


POOLINGS: dict[str, Kind[Pooling]] = {
    "max": Kind(MaxPooling),
    "banks": Kind(BankPooling),
    "top_mean": Kind(TopMeanPooling),
    **{kind: Kind(FocalPooling, {"kind": kind}) for kind in (_OF_SIMILARITIES, _OF_DISTANCES)},
}
"""The poolings of head files, by their kind."""
