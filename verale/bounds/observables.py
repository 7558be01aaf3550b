"""Enclosures of the observables of given latents, which is what statements say about an image; and what spatial
paradigms have in common, which bound all observables of each patch from such statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from verale.errors import LatentsError, UsageError
from verale.head import Cosine, Euclidean, Geometry, Head, InnerProduct, Softmax
from verale.head.head import require_depth
from verale.paradigms import PARADIGMS
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, root, up

_IN_CACHE = 2**15
"""So many sums are computed at once on a CPU: they and their terms stay in its cache."""
_ON_DEVICE = 2**24
"""And on a device, which takes long to begin an operation."""


def observe(head: Head, patches: Tensor) -> Enclosure:
    """Enclose m(z_l, p_j) for all patches and prototypes.

    But for softmax, whose exp is a library's, the bits are the same on every processor and device, and whatever other
    patches there are: sums are taken coordinate by coordinate, and every operation is rounded by itself. A library's
    matrix product has an order of its own, which depends on the processor and on the number of rows.

    Args:
        head: the head.
        patches: (L, D) float64, exact; or those of N images, (N, L, D).

    Returns:
        (L, P) enclosure, or (N * L, P).

    Raises:
        LatentsError: depth that does not fit, a coordinate outside the head's domain, a zero latent where the
            cosine is undefined.

    Soundness: sums of D products lie within gamma_(D+2), relative (squared distance, all terms >= 0) or of the sum of
    the terms' sizes (cosine, inner product); softmax is composed of enclosures.
    """
    check_domain(head, patches if patches.dim() > 2 else patches[None])
    return _OBSERVE[type(head.geometry)](head.geometry, patches.flatten(0, -2), head.points.to(patches))


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
    """(L, P) |z - p|^2, from the differences."""
    sums = patches.new_zeros(len(patches), len(prototypes))
    for rows, part in _parts(patches, sums):
        term = torch.empty_like(part)
        for z, p in zip(rows.T[:, :, None], prototypes.T.contiguous(), strict=True):
            torch.sub(z, p, out=term)
            part.add_(term.square_())
    return sums


def _products(patches: Tensor, prototypes: Tensor) -> tuple[Tensor, Tensor]:
    """(L, P) <z, p>, and sum |z_i p_i|."""
    sums, sizes = (patches.new_zeros(len(patches), len(prototypes)) for _ in range(2))
    for rows, part, size in _parts(patches, sums, sizes):
        term = torch.empty_like(part)
        for z, p in zip(rows.T[:, :, None], prototypes.T.contiguous(), strict=True):
            part.add_(torch.mul(z, p, out=term))
            size.add_(term.abs_())
    return sums, sizes


def _parts(patches: Tensor, sums: Tensor, *more: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """The rows of patches and their sums, some at a time."""
    at_once = _IN_CACHE if patches.device.type == "cpu" else _ON_DEVICE
    step = max(1, at_once // max(1, sums.shape[1]))
    return zip(*(torch.split(each, step) for each in (patches, sums, *more)), strict=True)


def _added(terms: Tensor) -> Tensor:
    """(N,) the sums of rows (N, D), one column after the other."""
    total = terms.new_zeros(len(terms))
    for column in terms.T:
        total.add_(column)
    return total


def squared_distances(geometry: Euclidean, patches: Tensor, prototypes: Tensor) -> Enclosure:
    """(L, P) |z_l - p_j|^2, from the differences, so that nothing cancels.

    Args:
        geometry: unused; functions of other geometries are called alike.
        patches: (L, D) float64.
        prototypes: (P, D) float64.

    Soundness: each of the D terms is rounded twice and their sum D - 1 times, so that gamma_(D + 4) of the sum and what
        underflows cover it, in whatever order it was added.
    """
    depth = patches.shape[1]
    centre = _squares(patches, prototypes)
    return Enclosure.around(centre, up(centre * gamma(depth + 4) + depth * UNDERFLOW)).clamp(lower=0.0)


def _inner_products(geometry: InnerProduct, patches: Tensor, prototypes: Tensor) -> Enclosure:
    """<z, p>: an error of gamma_D of sum |z_i p_i|."""
    depth = patches.shape[1]
    products, sizes = _products(patches, prototypes)
    sizes = up(sizes * (1 + gamma(depth + 4)))
    return Enclosure.around(products, up(sizes * gamma(depth + 4) + depth * UNDERFLOW))


def _cosines(geometry: Cosine, patches: Tensor, prototypes: Tensor) -> Enclosure:
    """<z, p> / (|p| N(z)) with N(z) = |z| + epsilon or sqrt(|z|^2 + epsilon); the numerator is off by gamma_D |z| |p|.

    Both vectors are scaled to largest coordinate 1 first, so that no square overflows or underflows; the
    scaling's own rounding is one more relative error a coordinate.
    """
    relative = gamma(patches.shape[1] + 8)
    z_scale = patches.abs().amax(1, keepdim=True).clamp(min=UNDERFLOW)
    p, z = scaled(prototypes), patches / z_scale
    products, sizes = _products(z, p)
    numerator = Enclosure.around(products, up(up(sizes) * relative + patches.shape[1] * UNDERFLOW))
    epsilon, scale = Enclosure.exact(z.new_tensor(geometry.epsilon)), Enclosure.exact(z_scale[:, 0])
    length = (_squared_norm(z) + epsilon / scale / scale).sqrt() if geometry.rooted else norm(z) + epsilon / scale
    denominator = Enclosure(length.lower[:, None], length.upper[:, None]) * norm(p)
    return (numerator / denominator).clamp(-1.0, 1.0)


def scaled(vectors: Tensor) -> Tensor:
    """Nonzero vectors (N, D) with largest coordinate 1, each coordinate rounded once."""
    return vectors / vectors.abs().amax(1, keepdim=True)


def unit_vectors(vectors: Tensor) -> Tensor:
    """Nonzero vectors (N, D) scaled to a length of 1 at most, and off by at most gamma_(3 D + 40) of the real ones."""
    directions = scaled(vectors)
    return directions / norm(directions).upper[:, None]


def sine(cosine: Tensor) -> Tensor:
    """Upper bounds of (1 - c^2)^(1/2); 0 beyond 1."""
    return up(root(up(up(1 - cosine) * up(1 + cosine)).clamp(min=0)))


def norm(vectors: Tensor) -> Enclosure:
    """Enclose |v| for vectors (N, D) whose coordinates are known up to a few relative roundings."""
    return _squared_norm(vectors).sqrt()


def _squared_norm(vectors: Tensor) -> Enclosure:
    squared, depth = _added(vectors.square()), vectors.shape[1]
    return Enclosure.around(squared, up(squared * gamma(depth + 8) + depth * UNDERFLOW)).clamp(lower=0.0)


def _softmax(geometry: Softmax, patches: Tensor, prototypes: Tensor) -> Enclosure:
    """exp(z_j - max z) / sum_i exp(z_i - max z)."""
    largest = Enclosure.exact(patches.amax(1, keepdim=True))
    mass = (Enclosure.exact(patches) - largest).exp()
    relative = gamma(patches.shape[1])
    total_lower, total_upper = _added(mass.lower)[:, None], _added(mass.upper)[:, None]
    total = Enclosure(down(total_lower - up(total_lower * relative)), up(total_upper + up(total_upper * relative)))
    return (mass / total).clamp(0.0, 1.0)


_OBSERVE: dict[type[Geometry], Callable[[Any, Tensor, Tensor], Enclosure]] = {
    Euclidean: squared_distances,
    InnerProduct: _inner_products,
    Cosine: _cosines,
    Softmax: _softmax,
}
"""From a geometry, patches (L, D) and prototypes (P, D) to observables (L, P)."""


def sum_of_others(values: Tensor) -> Tensor:
    """(..., L, P): for each patch, the sum over the other patches; infinite only where one of these is.

    It is rounded to nearest, L - 1 times at most: whoever needs a bound widens it by gamma(L) of the sum of sizes. Sums
    before and after the patch are added, so that nothing cancels.
    """
    nothing = torch.zeros_like(values[..., :1, :])
    before = torch.cat([nothing, values.cumsum(-2)[..., :-1, :]], -2)
    after = torch.cat([values.flip(-2).cumsum(-2).flip(-2)[..., 1:, :], nothing], -2)
    return before + after


@runtime_checkable
class SpatialParadigm(Protocol):
    """A way from statements about pairs (patch, prototype) to bounds of all observables of each patch."""

    name: str

    ordered: bool
    """Whether the bounds depend on the order of a patch's statements, and fewer statements may give tighter ones."""

    @property
    def size(self) -> int:
        """P."""
        ...

    def ranges(self, stated: Sequence[Sequence[int]], observed: Enclosure) -> Enclosure:
        """(R, P) bounds of the observables of R patches; the statements themselves and the head's domain are included.

        Args:
            stated: for each patch the prototypes whose observables are stated, in their order.
            observed: (R, P) the ends that statements give.
        """
        ...


@runtime_checkable
class ExactParadigm(SpatialParadigm, Protocol):
    """A paradigm that gives the exact ranges of all observables: only under such a one is a statement surely needed."""

    def inner(self) -> ExactParadigm:
        """The same paradigm, but its ranges are from within: each end is attained under the statements, or at least
        lies inside the exact range. Where float64 cannot tell, lower ends are infinity and upper ends minus infinity.
        They serve the claim of minimality, never a proof."""
        ...


def require_geometry(paradigm: str, head: Head, needs: str) -> None:
    """Raise UsageError, which says what the paradigm needs, unless it is defined for the head's geometry."""
    if head.geometry.kind not in PARADIGMS[paradigm].geometries:
        raise UsageError(f"paradigm {paradigm!r} needs {needs}")


def stated_pairs(stated: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """The patches and the prototypes (S,) of all statements, patch by patch."""
    counts = torch.tensor(list(map(len, stated)), dtype=torch.int64)
    prototypes = torch.tensor([j for each in stated for j in each], dtype=torch.int64)
    return torch.arange(len(stated)).repeat_interleave(counts), prototypes


def cut(ranges: Enclosure, pairs: tuple[Tensor, Tensor], stated: Enclosure) -> Enclosure:
    """Ranges (R, P) cut in place, at some pairs of rows and prototypes (S,) each, by what is stated of these (S,)."""
    ranges.lower[pairs] = torch.maximum(ranges.lower[pairs], stated.lower)
    ranges.upper[pairs] = torch.minimum(ranges.upper[pairs], stated.upper)
    return ranges
