"""TesNet as in "Beyond L2": cosine to unit prototypes, the largest of the image, a linear layer.

    extractor: ..., similarity: {name: CosineSimilarity},
    classifier: {module: verale.adapters.plugins.tesnet, name: TesNetClassifier},
    top_arch: {module: verale.adapters.plugins.tesnet, name: TesNet}

The tensors are a ProtoPNet's. Prototypes are stored as training or projection left them; only `forward` normalises
them.
"""

from __future__ import annotations

from typing import Any

import torch
from cabrnet.archs.protopnet.decision import ProtoPNetClassifier
from cabrnet.archs.protopnet.model import ProtoPNet
from torch import Tensor
from torch.nn.functional import normalize


class TesNetClassifier(ProtoPNetClassifier):
    """logits = W max_l cos(z_l, p_j), by the similarity layer `CosineSimilarity`."""

    def forward(self, features: Tensor, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Logits (N, C) and least cosine distances (N, P) of latents (N, D, H, W)."""
        distances = self.similarity_layer.distances(features, normalize(self.prototypes, dim=1))
        least = distances.flatten(2).amin(2)
        return self.last_layer(self.similarity_layer.distances_to_similarities(least)), least


class TesNet(ProtoPNet):
    """A ProtoPNet whose loss also favours orthogonal prototypes within a class, and different subspaces of classes.

    To ProtoPNet's loss it adds, with B_c the unit prototypes of class c as rows,

        orthogonality * mean_c |B_c B_c' - I|^2  +  subspaces * mean_{c<k} |B_c' B_c - B_k' B_k| / sqrt(2)

    in Frobenius norms; `subspaces` is negative, because distances should grow (Wang et al., ICCV 2021).
    """

    def __init__(self, extractor: torch.nn.Module, classifier: TesNetClassifier, **kwargs: Any) -> None:
        super().__init__(extractor, classifier, **kwargs)
        self.loss_coefficients |= {"orthogonality": 1e-4, "subspaces": -1e-7}

    def loss(self, model_output: Any, label: Tensor, **kwargs: Any) -> tuple[Tensor, dict[str, float]]:
        """The loss of a batch, and its parts."""
        total, parts = super().loss(model_output, label, **kwargs)
        bases = normalize(self.classifier.prototypes.flatten(1), dim=1).view(
            self.classifier.num_classes, -1, self.classifier.num_features
        )
        gram = bases @ bases.transpose(1, 2)
        orthogonality = (gram - torch.eye(bases.shape[1], device=bases.device)).square().sum((1, 2)).mean()
        projections = (bases.transpose(1, 2) @ bases).flatten(1)
        subspaces = torch.pdist(projections).mean() / 2**0.5
        total = (
            total
            + self.loss_coefficients["orthogonality"] * orthogonality
            + self.loss_coefficients["subspaces"] * subspaces
        )
        extra = {"loss": total.item(), "orthogonality": orthogonality.item(), "subspaces": subspaces.item()}
        return total, parts | extra
