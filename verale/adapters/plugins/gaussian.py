"""Isotropic Gaussian prototypes: similarity layers for CaBRNet's ProtoPNet that learn one variance a prototype.

    similarity: {module: verale.adapters.plugins.gaussian, name: MahalanobisLogDistance, params: {cov_type: isotropic}}

With q = exp(-log_var_j) |z - p_j|^2: `MahalanobisLogDistance` is ln((q + 1) / (q + stability_factor));
`MahalanobisLogDensity` is the density's logarithm, -q / 2 - D (ln 2 pi + log_var_j) / 2. Their one tensor is
`log_var` (P,). Distances are sums of squared differences, not ProtoPNet's expansion, which cancels.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from cabrnet.archs.protopnet.decision import ProtoPNetClassifier
from cabrnet.core.utils.similarities import LogDistance, SimilarityLayer
from torch import Tensor, nn


class _Isotropic(SimilarityLayer):
    """Squared distances in units of each prototype's variance."""

    def __init__(self, num_prototypes: int, num_features: int, cov_type: str = "isotropic", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if cov_type != "isotropic":
            raise ValueError(f"cov_type is {cov_type}, expected isotropic: one variance a prototype")
        self.num_features = num_features
        self.log_var = nn.Parameter(torch.zeros(num_prototypes))

    def distances(self, features: Tensor, prototypes: Tensor, **kwargs: Any) -> Tensor:
        """Squared distances (N, P, H, W) of latents (N, D, H, W) to prototypes (P, D, 1, 1), over the variances."""
        points = features.flatten(2).transpose(1, 2)
        squared = torch.cdist(points, prototypes.flatten(1), compute_mode="donot_use_mm_for_euclid_dist").square()
        scaled = (squared * torch.exp(-self.log_var)).transpose(1, 2)
        return scaled.reshape(*scaled.shape[:2], *features.shape[2:])

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *args: Any) -> None:
        # After pruning, CaBRNet adapts only its own tensors to the number of remaining prototypes.
        saved = state_dict.get(f"{prefix}log_var")
        if saved is not None and saved.dim() == 1:
            self.log_var = nn.Parameter(torch.zeros(len(saved)))
        super()._load_from_state_dict(state_dict, prefix, *args)


class MahalanobisLogDistance(_Isotropic, LogDistance):
    """ln((q + 1) / (q + stability_factor))."""


class MahalanobisLogDensity(_Isotropic):
    """-q / 2 - D (ln 2 pi + log_var) / 2."""

    def distances_to_similarities(self, distances: Tensor, **kwargs: Any) -> Tensor:
        """Similarities of scaled squared distances (N, P) or (N, P, H, W)."""
        log_norm = self.num_features / 2 * (math.log(2 * math.pi) + self.log_var)
        return -distances / 2 - log_norm.view(-1, *[1] * (distances.dim() - 2))


GaussianProtoPNetClassifier = ProtoPNetClassifier
"""The name in the papers' configurations; what their class adds to CaBRNet's is not part of the decision."""
