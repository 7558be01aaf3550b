"""Enclosures of the observables of given latents: what statements say about an image."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from verale.errors import LatentsError
from verale.head import Cosine, Euclidean, Geometry, Head, InnerProduct, Softmax
from verale.head.evaluation import require_depth
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up

__all__ = ["TENSOR_SUMS", "CoordinateSums", "check_domain", "norm", "observe", "scaled", "squared_distances"]

_CHUNK_BYTES = 64 * 2**20


class CoordinateSums(NamedTuple):
    """How sums over the coordinates of patches (L, D) and prototypes (P, D) are computed, in whatever order.

    Attributes:
        squares: gives (L, P) |z - p|^2, from the differences.
        products: gives (L, P) <z, p> and sum |z_i p_i|.
    """

    squares: Callable[[Tensor, Tensor], Tensor]
    products: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def observe(head: Head, patches: Tensor, sums: CoordinateSums | None = None) -> Enclosure:
    """Enclose m(z_l, p_j) for all patches and prototypes.

    Args:
        head: the head.
        patches: (L, D) float64, exact.
        sums: `TENSOR_SUMS`, should there be nothing faster.

    Returns:
        (L, P) enclosure.

    Raises:
        LatentsError: depth that does not fit, a coordinate outside the head's domain, a zero latent where the
            cosine is undefined.

    Soundness: sums of D products lie within gamma_(D+2), relative (squared distance, all terms >= 0) or of the sum of
    the terms' sizes (cosine, inner product); softmax is composed of enclosures.
    """
    check_domain(head, patches[None])
    return _OBSERVE[type(head.geometry)](head.geometry, patches, head.points.to(patches), sums or TENSOR_SUMS)


def check_domain(head: Head, patches: Tensor, first: int = 0) -> None:
    """Raise LatentsError unless latents (N, L, D) fit the head: its depth, its least number of patches, its domain.

    In a message, images are counted from `first`.
    """
    require_depth(head, patches)
    if patches.shape[-2] < head.pooling.least_patches:
        raise LatentsError(
            f"latents have {patches.shape[-2]} patch(es), expected at least {head.pooling.least_patches} for"
            f" {head.pooling!r}, whose prototypes look at different patches"
        )
    lower, upper = head.domain.ends
    outside = (patches < lower) | (patches > upper)
    if outside.any():
        image, patch, channel = outside.nonzero()[0].tolist()
        value = patches[image, patch, channel].item()
        raise LatentsError(
            f"image {first + image}, patch {patch}, channel {channel} is {value}, outside the "
            f"head's domain [{head.domain.lower}, {head.domain.upper}]: another network's latents?"
        )
    if head.geometry.undefined_at_zero and bool((patches == 0).all(dim=-1).any()):
        raise LatentsError("a patch is the zero vector, whose cosine is undefined with epsilon 0")
    radius = head.geometry.radius
    if radius is not None and patches.numel():
        longest = float(norm(patches.flatten(0, -2)).upper.max())
        if longest > radius:
            raise LatentsError(f"a patch has length {longest:.9g}, expected at most the radius {radius} of the domain")


def _squares(patches: Tensor, prototypes: Tensor) -> Tensor:
    step = max(1, _CHUNK_BYTES // (8 * prototypes.numel()))
    return torch.cat([(chunk[:, None, :] - prototypes).square_().sum(-1) for chunk in torch.split(patches, step)])


def _products(patches: Tensor, prototypes: Tensor) -> tuple[Tensor, Tensor]:
    return patches @ prototypes.T, patches.abs() @ prototypes.abs().T


TENSOR_SUMS = CoordinateSums(_squares, _products)
"""By torch."""


def squared_distances(
    geometry: Euclidean, patches: Tensor, prototypes: Tensor, sums: CoordinateSums = TENSOR_SUMS
) -> Enclosure:
    """(L, P) |z_l - p_j|^2, from the differences, so that nothing cancels.

    Args:
        geometry: unused; functions of other geometries are called alike.
        patches: (L, D) float64.
        prototypes: (P, D) float64.
        sums: what does most of the arithmetic, rounded to nearest.

    Soundness: each of the D terms is rounded twice and their sum D - 1 times, so that gamma_(D + 4) of the sum and what
        underflows cover it, in whatever order it was added.
    """
    depth = patches.shape[1]
    centre = sums.squares(patches, prototypes)
    relative = gamma(depth + 4)
    lost = depth * UNDERFLOW
    return Enclosure(
        down(centre - up(centre * relative + lost)).clamp(min=0), up(centre + up(centre * relative + lost))
    )


def _inner_products(geometry: InnerProduct, patches: Tensor, prototypes: Tensor, sums: CoordinateSums) -> Enclosure:
    """<z, p>: an error of gamma_D of sum |z_i p_i|."""
    depth = patches.shape[1]
    products, sizes = sums.products(patches, prototypes)
    sizes = up(sizes * (1 + gamma(depth + 4)))
    return Enclosure.around(products, up(sizes * gamma(depth + 4) + depth * UNDERFLOW))


def _cosines(geometry: Cosine, patches: Tensor, prototypes: Tensor, sums: CoordinateSums) -> Enclosure:
    """<z, p> / (|p| N(z)) with N(z) = |z| + epsilon or sqrt(|z|^2 + epsilon); the numerator is off by gamma_D |z| |p|.

    Both vectors are scaled to largest coordinate 1 first, so that no square overflows or underflows; the
    scaling's own rounding is one more relative error a coordinate.
    """
    relative = gamma(patches.shape[1] + 8)
    z_scale = patches.abs().amax(1, keepdim=True).clamp(min=UNDERFLOW)
    p, z = scaled(prototypes), patches / z_scale
    products, sizes = sums.products(z, p)
    numerator = Enclosure.around(products, up(up(sizes) * relative + patches.shape[1] * UNDERFLOW))
    epsilon, scale = Enclosure.exact(z.new_tensor(geometry.epsilon)), Enclosure.exact(z_scale[:, 0])
    length = (_squared_norm(z) + epsilon / scale / scale).sqrt() if geometry.rooted else norm(z) + epsilon / scale
    denominator = Enclosure(length.lower[:, None], length.upper[:, None]) * norm(p)
    return (numerator / denominator).clamp(-1.0, 1.0)


def scaled(vectors: Tensor) -> Tensor:
    """Nonzero vectors (N, D) with largest coordinate 1, each coordinate rounded once."""
    return vectors / vectors.abs().amax(1, keepdim=True)


def norm(vectors: Tensor) -> Enclosure:
    """Enclose |v| for vectors (N, D) whose coordinates are known up to a few relative roundings."""
    return _squared_norm(vectors).sqrt()


def _squared_norm(vectors: Tensor) -> Enclosure:
    squared = vectors.square().sum(1)
    slack = up(squared * gamma(vectors.shape[1] + 8) + vectors.shape[1] * UNDERFLOW)
    return Enclosure(down(squared - slack).clamp(min=0), up(squared + slack))


def _softmax(geometry: Softmax, patches: Tensor, prototypes: Tensor, sums: CoordinateSums) -> Enclosure:
    """exp(z_j - max z) / sum_i exp(z_i - max z)."""
    largest = Enclosure.exact(patches.amax(1, keepdim=True))
    mass = (Enclosure.exact(patches) - largest).exp()
    relative = gamma(patches.shape[1])
    total_lower, total_upper = mass.lower.sum(1, keepdim=True), mass.upper.sum(1, keepdim=True)
    total = Enclosure(down(total_lower - up(total_lower * relative)), up(total_upper + up(total_upper * relative)))
    return (mass / total).clamp(0.0, 1.0)


_OBSERVE: dict[type[Geometry], Callable[[Any, Tensor, Tensor, CoordinateSums], Enclosure]] = {
    Euclidean: squared_distances,
    InnerProduct: _inner_products,
    Cosine: _cosines,
    Softmax: _softmax,
}
"""From a geometry, patches (L, D) and prototypes (P, D) to observables (L, P)."""
