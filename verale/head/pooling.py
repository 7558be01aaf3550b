"""Poolings: from the similarities of all patches to one activation a prototype."""

from __future__ import annotations

from dataclasses import dataclass

from verale.errors import HeadError

__all__ = ["BankPooling", "FocalPooling", "MaxPooling", "Pooling", "TopMeanPooling"]


@dataclass(frozen=True)
class MaxPooling:
    """Activation a_j = max over patches of the similarity g_lj."""


@dataclass(frozen=True)
class BankPooling:
    """Two banks of prototypes (ProtoPFormer): patch 0 is the class token, seen by the first prototypes only.

    a_j = g_0j for j < class_token; a_j = max over the patches 1, 2, ... of g_lj for the others. Statements may speak of
    any patch and prototype: all live in one latent space.
    """

    class_token: int

    def __post_init__(self) -> None:
        if self.class_token < 1:
            raise HeadError("pooling.class_token", f"is {self.class_token}, expected at least 1 prototype")


@dataclass(frozen=True)
class TopMeanPooling:
    """Activation a_j = mean of the k greatest similarities g_lj, of all of them where there are fewer (ProtoPNeXt)."""

    k: int = 1

    def __post_init__(self) -> None:
        if self.k < 1:
            raise HeadError("pooling.k", f"is {self.k}, expected at least 1")


_FOCAL_KINDS = ("max_minus_mean", "max_minus_mean_distance")


@dataclass(frozen=True)
class FocalPooling:
    """Activation a_j = the largest similarity, less what the image has of it everywhere; >= 0, and 0 for one patch.

    - `max_minus_mean`: a_j = max_l S(m_lj) - mean_l S(m_lj), less the mean similarity (Beyond L2, section 3.5).
    - `max_minus_mean_distance`: a_j = S(min_l m_lj) - S(mean_l m_lj), less the similarity at the mean squared distance
      (ProtoPool's code). Euclidean only: of other observables the mean is no distance. `slots.merge_slots` makes
      the weights of such a head.
    """

    kind: str = "max_minus_mean"

    def __post_init__(self) -> None:
        if self.kind not in _FOCAL_KINDS:
            raise HeadError("pooling", f"is focal of kind {self.kind!r}, expected one of {', '.join(_FOCAL_KINDS)}")


Pooling = MaxPooling | BankPooling | TopMeanPooling | FocalPooling
