"""The observables of given latents, enclosed: what a statement says of an instance."""

from __future__ import annotations

import torch
from torch import Tensor

from verale.errors import LatentsError
from verale.head import Cosine, Euclidean, Head
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up

__all__ = ["check_domain", "norm", "observe", "scaled"]

_CHUNK_BYTES = 64 * 2**20


def observe(head: Head, patches: Tensor) -> Enclosure:
    """Enclose m(z_l, p_j) for all patches and prototypes.

    Args:
        head: the head.
        patches: (L, D) float64, exact.

    Returns:
        (L, P) enclosure.

    Raises:
        LatentsError: depth that does not fit, a coordinate outside the head's domain, a zero latent where the
            cosine is undefined.

    Soundness: sums of D products lie within gamma_(D+2) relative (squared distance, all terms >= 0) or
    absolute (cosine, where sum |z_i p_i| <= |z| |p|); softmax is composed of enclosures.
    """
    check_domain(head, patches[None])
    if head.prototypes is None:
        return _softmax(patches)
    prototypes = head.prototypes.to(patches)
    if isinstance(head.geometry, Euclidean):
        return _squared_distances(patches, prototypes)
    epsilon = head.geometry.epsilon if isinstance(head.geometry, Cosine) else 0.0
    return _cosines(patches, prototypes, epsilon)


def check_domain(head: Head, patches: Tensor) -> None:
    """Raise LatentsError unless all latents (N, L, D) are latents of this head: its depth, its domain."""
    if patches.shape[-1] != head.depth:
        raise LatentsError(
            f"latents have {patches.shape[-1]} channels, the head expects {head.depth}: another network's?"
        )
    lower, upper = head.domain.lower, head.domain.upper
    outside = torch.zeros_like(patches, dtype=torch.bool)
    if lower is not None:
        outside |= patches < lower
    if upper is not None:
        outside |= patches > upper
    if outside.any():
        image, patch, channel = outside.nonzero()[0].tolist()
        raise LatentsError(
            f"image {image}, patch {patch}, channel {channel} is {patches[image, patch, channel].item()}, outside the "
            f"head's domain [{lower}, {upper}]: another network's latents?"
        )
    if isinstance(head.geometry, Cosine) and head.geometry.epsilon == 0 and bool((patches == 0).all(dim=-1).any()):
        raise LatentsError("a patch is the zero vector, whose cosine is undefined with epsilon 0")


def _squared_distances(patches: Tensor, prototypes: Tensor) -> Enclosure:
    """|z_l - p_j|^2 from the differences: no cancellation."""
    depth = patches.shape[1]
    step = max(1, _CHUNK_BYTES // (8 * prototypes.numel()))
    centre = torch.cat([(chunk[:, None, :] - prototypes).square_().sum(-1) for chunk in torch.split(patches, step)])
    relative = gamma(depth + 4)
    lost = depth * UNDERFLOW
    return Enclosure(
        down(centre - up(centre * relative + lost)).clamp(min=0), up(centre + up(centre * relative + lost))
    )


def _cosines(patches: Tensor, prototypes: Tensor, epsilon: float) -> Enclosure:
    """<z, p> / (|p| (|z| + epsilon)), whose numerator is off by at most gamma_D |z| |p|.

    Both vectors are scaled to largest coordinate 1 first, so that no square overflows or underflows; the
    scaling's own rounding is one more relative error a coordinate.
    """
    relative = gamma(patches.shape[1] + 8)
    z_scale = patches.abs().amax(1, keepdim=True).clamp(min=UNDERFLOW)
    p, z = scaled(prototypes), patches / z_scale
    numerator = Enclosure.around(z @ p.T, up(up(z.abs() @ p.abs().T) * relative + patches.shape[1] * UNDERFLOW))
    z_norm = norm(z) + Enclosure.exact(z.new_tensor(epsilon)) / Enclosure.exact(z_scale[:, 0])
    denominator = Enclosure(z_norm.lower[:, None], z_norm.upper[:, None]) * norm(p)
    return (numerator / denominator).clamp(-1.0, 1.0)


def scaled(vectors: Tensor) -> Tensor:
    """Nonzero vectors (N, D) with largest coordinate 1, each coordinate rounded once."""
    return vectors / vectors.abs().amax(1, keepdim=True)


def norm(vectors: Tensor) -> Enclosure:
    """Enclose |v| for vectors (N, D) whose coordinates are known up to a few relative roundings."""
    squared = vectors.square().sum(1)
    slack = up(squared * gamma(vectors.shape[1] + 8) + vectors.shape[1] * UNDERFLOW)
    return Enclosure(down(squared - slack).clamp(min=0), up(squared + slack)).sqrt()


def _softmax(patches: Tensor) -> Enclosure:
    """exp(z_j - max z) / sum_i exp(z_i - max z)."""
    largest = Enclosure.exact(patches.amax(1, keepdim=True))
    mass = (Enclosure.exact(patches) - largest).exp()
    relative = gamma(patches.shape[1])
    total_lower, total_upper = mass.lower.sum(1, keepdim=True), mass.upper.sum(1, keepdim=True)
    total = Enclosure(down(total_lower - up(total_lower * relative)), up(total_upper + up(total_upper * relative)))
    return (mass / total).clamp(0.0, 1.0)
