"""What a network may compute in float32: intervals that hold every logit of it, whatever the order of its sums.

A head is a function of real numbers. A network computes the same function in float32, and gets other numbers. Here each
step of the head is enclosed for all latents' exact values, and each enclosure is widened by what float32 may lose in
that step. So a logit outside its interval is certainly another function's.

With u = 2^-24 and gamma_n = n u / (1 - n u):

- An operation returns (x op y)(1 + delta) + e with |delta| <= u and |e| <= 2^-126 (underflow, gradual or to zero).
- A product of n factors (1 + delta)^{+1 or -1} is 1 + theta with |theta| <= gamma_n, and n need not be whole, since
  (1 - u)^n >= 1 - n u for every real n >= 1. So a term that passes n operations on its way into a sum is off by at most
  gamma_n of itself. A sum of n terms in any order lets each of them pass at most n - 1 additions. The sum is therefore
  off by at most gamma_n times the sum of the terms' sizes.
- exp and log are within 8 units in the last place, that is 16 u of the result, which 17 roundings cover. (The libraries
  underneath document at most 2 units.)
- Poolings, clamps and similarities that are monotone map intervals end by end.

What this takes for granted: a squared distance is computed from the differences; or from the 3 D terms z_i^2, -2 z_i
p_i and p_i^2, in any order and with any partial sums; or by one matrix product of D + 2 terms (`torch.cdist`).
Perhaps its root is taken and squared again. It is clamped at 0, or replaced by its size, before a logarithm or a
root. A sum of products is computed as such, in float32 or better: neither in TF32 or half precision, nor by
Winograd's or Fourier's transforms. Nothing overflows. Tensors that the head holds in float32 are the network's own.
What the head holds in float64 was folded from other numbers (`published/__init__.py`), and how a network computes it
is not known here. For these tensors `_folded` states an allowance, which is no proof; `proved` says whether a head
needs none.

Reference: Higham, Accuracy and Stability of Numerical Algorithms, lemmas 3.1 and 3.3, and section 3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from verale.bounds.observables import check_domain, observe
from verale.bounds.similarity import stepped
from verale.head import (
    BankPooling,
    Cosine,
    Euclidean,
    FocalPooling,
    Geometry,
    Head,
    InnerProduct,
    Linear,
    MaskedMaxPooling,
    Maximum,
    MaxPooling,
    Pooling,
    Readout,
    Softmax,
    SoftTree,
    Step,
    TopMeanPooling,
)
from verale.rounding import Enclosure, down, up

_U = 2.0**-24
_UNDERFLOW = 2.0**-126

_TRANSCENDENTAL = 17
"""The roundings that stand for one exp: 1 + 16 u <= (1 - u)^-17, and 1 - 16 u >= (1 - u)^17."""

_FOLDED = 64
"""The roundings, beside one a channel, that are allowed for a number that the head holds in float64."""

_OUTWARD = 1 + 2.0**-20
"""A slack computed in float64 from at most 2^28 non-negative terms is off by less than 2^-24 of itself."""


def proved(head: Head) -> bool:
    """Whether `float32_logits` rests on no stated allowance: all tensors are float32, as a network's own are."""
    tensors = (head.prototypes, head.weight, head.bias, head.scale, head.peak)
    return all(tensor is None or tensor.dtype == torch.float32 for tensor in tensors)


def float32_logits(head: Head, patches: Tensor) -> Enclosure:
    """Intervals (N, C) that hold the logits which float32 may give for these latents.

    Args:
        patches: (N, L, D) float64, the exact values of the network's latents.

    Raises:
        LatentsError: latents that do not fit the head (`check_domain`).

    Soundness: the module's docstring says why each step's slack suffices, and what is taken for granted.
    """
    check_domain(head, patches)
    logits = []
    for image in patches:
        observed = observe(head, image)
        slack = _OBSERVED[type(head.geometry)](head.geometry, head, image, observed)
        activations = _POOLED[type(head.pooling)](head.pooling, head, _widened(observed, slack))
        logits.append(_READ_OUT[type(head.readout)](head.readout, head, activations))
    return Enclosure.cat(logits)


def _gamma(roundings: Tensor | float) -> Tensor:
    """gamma_n in float32's u; infinite where n u reaches 1."""
    product = torch.as_tensor(roundings, dtype=torch.float64) * _U
    return torch.where(product < 1, product / (1 - product), torch.inf)


def _folded(tensor: Tensor | None, depth: int) -> int:
    """The roundings stated for a tensor of the head: none for float32, which is the network's own."""
    return 0 if tensor is None or tensor.dtype == torch.float32 else depth + _FOLDED


def _widened(ranges: Enclosure, slack: Tensor) -> Enclosure:
    """The intervals, wider by a slack on both sides."""
    outward = slack * _OUTWARD
    return Enclosure(down(ranges.lower - outward), up(ranges.upper + outward))


def _rounded(ranges: Enclosure, roundings: Tensor | float) -> Enclosure:
    """What a number in the intervals may be after so many roundings, the last of which may underflow."""
    return _widened(ranges, _gamma(roundings) * _size(ranges) + _UNDERFLOW)


def _size(ranges: Enclosure) -> Tensor:
    """The greatest size of a number in the intervals."""
    return torch.maximum(ranges.lower.abs(), ranges.upper.abs())


def _distances(geometry: Euclidean, head: Head, image: Tensor, observed: Enclosure) -> Tensor:
    """A squared distance is a sum of terms whose sizes sum to at most sum_i (|z_i| + |p_i|)^2.

    A term passes its product and at most 3 D - 1 additions; in `torch.cdist` |z|^2 and |p|^2 pass D operations and then
    D + 2. Root and square are 3 more. Of underflow, each of the 3 D terms and their sums loses at most
    2^-126 (|z_i| + |p_i| + 1), several times.
    """
    points = cast(Tensor, head.prototypes).to(image)
    sizes = image.square().sum(1)[:, None] + 2 * image.abs() @ points.abs().T + points.square().sum(1)
    roundings = 3 * head.depth + 8 + 2 * _folded(head.prototypes, head.depth)
    return _gamma(roundings) * sizes + _UNDERFLOW * (16 * head.depth + 8 * sizes)


def _inner_products(geometry: InnerProduct, head: Head, image: Tensor, observed: Enclosure) -> Tensor:
    """D products and D - 1 additions."""
    points = cast(Tensor, head.prototypes).to(image)
    sizes = image.abs() @ points.abs().T
    roundings = head.depth + 2 + _folded(head.prototypes, head.depth)
    return _gamma(roundings) * sizes + _UNDERFLOW * (8 * head.depth + 8 * sizes)


def _cosines(geometry: Cosine, head: Head, image: Tensor, observed: Enclosure) -> Tensor:
    """The terms of a cosine sum to at most 1; two lengths have D / 2 + 2 roundings each, the products D.

    Some networks compute 1 - c, and 1 less that: another 4 u. Squares that underflow change |z|^2 by at most
    D 2^-125, and the products change <z, p> by no more than that; where this is not small, nothing is known.
    """
    points = cast(Tensor, head.prototypes).to(image)
    least = torch.minimum(image.square().sum(1)[:, None], points.square().sum(1))
    lost = head.depth * 2 * _UNDERFLOW / least
    slack = _gamma(2 * head.depth + 24 + 2 * _folded(head.prototypes, head.depth)) * (1 + 8 * lost) + 8 * lost
    return torch.where(lost < 1 / 16, slack, torch.inf)


def _masses(geometry: Softmax, head: Head, image: Tensor, observed: Enclosure) -> Tensor:
    """exp(z_j - max z) over the sum: the exponents, at most the spread r of a patch, are off by r u.

    e^{r u} <= (1 - u)^-r, so that is r roundings, above and below the line; two exponentials, D additions and a
    quotient are the others. A term that underflows loses at most 2^-126, beside a sum of at least 1.
    """
    spread = (image.amax(1) - image.amin(1))[:, None]
    roundings = head.depth + 2 * _TRANSCENDENTAL + 2 + 2 * spread
    return _gamma(roundings) * observed.upper + (head.depth + 2) * 4 * _UNDERFLOW


_OBSERVED: dict[type[Geometry], Callable[[Any, Head, Tensor, Enclosure], Tensor]] = {
    Euclidean: _distances,
    InnerProduct: _inner_products,
    Cosine: _cosines,
    Softmax: _masses,
}
"""From a geometry to how far its computed observables may be off (L, P)."""


def _similarities(head: Head, computed: Enclosure) -> Enclosure:
    """Computed similarities of computed observables (..., P).

    An error of an argument widens the observables (backward), an error of a result widens the similarities (forward).
    """
    for step in head.similarity.steps_of(head.geometry.kind):
        computed = _stepped(head, step, computed)
    return computed


def _stepped(head: Head, step: Step, x: Enclosure) -> Enclosure:
    """A computed step of computed numbers. Its own numbers may have been rounded: a factor once more, an addend by so
    much of its size. What a root, a logarithm or a quotient takes is cut at 0 first, as distances are.

    A logarithm of a quotient may be a difference of two. The quotient has 4 roundings, which shift its logarithm by at
    most 5 u; the difference has 2 u and its own roundings; 2 u and u of sizes are to spare. Its slack is the greatest
    of all patches: a network may take the least distance first, and its logarithm then.
    """
    exact = stepped(step, x, head.scale, head.peak)
    match step.kind:
        case "scale" if head.scale is not None:
            return _rounded(exact, 1 + _folded(head.scale, head.depth))
        case "add":
            return _rounded(_widened(exact, _gamma(1) * abs(float(step.numbers["number"])) * _ones(x)), 1)
        case "multiply":
            return _rounded(exact, 2)
        case "log_ratio":
            low, high = x.lower.clamp(min=0), x.upper.clamp(min=0)
            parts = [[end + float(step.numbers[name]) for end in (low, high)] for name in ("over", "under")]
            over, under = (torch.maximum(least.log().abs(), most.log().abs()) for least, most in parts)
            logs = over + under
            slack = (8 * _U + 18 * _U * logs + _UNDERFLOW).amax(0, keepdim=True)
            known = step.numbers["under"] >= _UNDERFLOW
            return _widened(exact, slack if known else torch.full_like(slack, torch.inf))
        case "exp":
            return _rounded(x.exp(), _TRANSCENDENTAL)  # of no more than 0 if exact, not if computed
        case "root" | "square":
            return _rounded(exact, 1)
        case "reciprocal":
            return _rounded(exact, 3)
        case "from_peak":
            peak = x.lower.new_zeros(()) if head.peak is None else head.peak.to(x.lower).abs()
            return _rounded(_widened(exact, _gamma(_folded(head.peak, head.depth)) * peak * _ones(x)), 1)
        case _:  # a factor of 1, a sign, a selection or a comparison: no rounding
            return exact


def _ones(like: Enclosure) -> Tensor:
    return torch.ones_like(like.lower)


def _mean(ranges: Enclosure, count: int) -> Enclosure:
    """(1, P) the mean of the rows (count, P): additions in any order, and a quotient."""
    mean = Enclosure(ranges.lower.mean(0, keepdim=True), ranges.upper.mean(0, keepdim=True))
    return _widened(mean, _gamma(count + 1) * _size(ranges).mean(0, keepdim=True) + 2 * _UNDERFLOW)


def _greatest(ranges: Enclosure) -> Enclosure:
    """(1, P) the greatest of the rows: exact."""
    return Enclosure.unchecked(ranges.lower.amax(0, keepdim=True), ranges.upper.amax(0, keepdim=True))


def _maximum(pooling: MaxPooling | BankPooling | MaskedMaxPooling, head: Head, computed: Enclosure) -> Enclosure:
    """Over the patches that each prototype looks at."""
    similar = _similarities(head, computed)
    patches, prototypes = similar.lower.shape
    hidden = pooling.hidden(patches, prototypes)
    if hidden is None:
        return _greatest(similar)
    return _greatest(
        Enclosure.unchecked(*(end.masked_fill(hidden, -torch.inf) for end in (similar.lower, similar.upper)))
    )


def _top_mean(pooling: TopMeanPooling, head: Head, computed: Enclosure) -> Enclosure:
    """The k-th greatest is monotone in every entry."""
    similar = _similarities(head, computed)
    count = min(pooling.k, len(similar.lower))
    kept = Enclosure.unchecked(similar.lower.topk(count, dim=0).values, similar.upper.topk(count, dim=0).values)
    return _mean(kept, count)


def _focal(pooling: FocalPooling, head: Head, computed: Enclosure) -> Enclosure:
    similar = _similarities(head, computed)
    patches = len(similar.lower)
    of = _similarities(head, _mean(computed, patches)) if pooling.of_distances else _mean(similar, patches)
    return _rounded(_greatest(similar) - of, 1)


_POOLED: dict[type[Pooling], Callable[[Any, Head, Enclosure], Enclosure]] = {
    MaxPooling: _maximum,
    BankPooling: _maximum,
    MaskedMaxPooling: _maximum,
    TopMeanPooling: _top_mean,
    FocalPooling: _focal,
}
"""From a pooling and computed observables (L, P) to computed activations (1, P)."""


def _linear(readout: Readout, head: Head, activations: Enclosure) -> Enclosure:
    """P products and P additions. A bias in float64 sums constants of about D, of which the head does not say more."""
    weight = head.weight.to(activations.lower)
    rising, falling = weight.clamp(min=0).T, weight.clamp(max=0).T
    lower = activations.lower @ rising + activations.upper @ falling
    upper = activations.upper @ rising + activations.lower @ falling
    sizes = _size(activations)
    # Where slots are merged into the weights, a network sums all slots: some sixteen a class.
    roundings = head.size + 2 + _folded(head.weight, head.depth + 16 * head.classes) + _folded(head.bias, head.depth)
    if head.bias is not None:
        bias = head.bias.to(weight)
        lower, upper = lower + bias, upper + bias
        if _folded(head.bias, head.depth):
            sizes = sizes + head.depth + 8
    terms = sizes @ weight.abs().T + (0.0 if head.bias is None else head.bias.to(weight).abs())
    return _widened(Enclosure(lower, upper), _gamma(roundings) * terms + 2 * head.size * _UNDERFLOW)


def _best(readout: Maximum, head: Head, activations: Enclosure) -> Enclosure:
    """One addition a prototype; the maximum is exact."""
    scores = activations
    if head.bias is not None:
        bias = Enclosure.exact(head.bias.to(scores.lower))
        scores = _widened(scores + bias, _gamma(1 + _folded(head.bias, head.depth)) * (_size(scores) + _size(bias)))
    member = head.weight.to(scores.lower) > 0
    ends = (torch.where(member, end[:, None], -torch.inf).amax(2) for end in (scores.lower, scores.upper))
    return Enclosure.unchecked(*ends)


def _tree(readout: SoftTree, head: Head, activations: Enclosure) -> Enclosure:
    """Node by node, or path by path: a leaf's term passes at most 3 roundings a node of its path, and P additions.

    A node is affine in its activation and its children, with factors that do not change sign within the ends' hull; so
    the range is the hull of the ranges at the two ends. `sizes` bounds the sum of the terms' sizes.
    """
    one = Enclosure.exact(head.weight.new_ones((), dtype=torch.float64))
    below = {-1 - leaf: (Enclosure.exact(column), column.double().abs()) for leaf, column in enumerate(head.weight.T)}
    for node in reversed(range(len(readout.absent))):
        absent, size_absent = below.pop(readout.absent[node])
        present, size_present = below.pop(readout.present[node])
        ends = (activations.lower[0, node], activations.upper[0, node])
        at_ends = [(one - Enclosure.exact(end)) * absent + Enclosure.exact(end) * present for end in ends]
        hull = Enclosure.unchecked(
            torch.minimum(at_ends[0].lower, at_ends[1].lower), torch.maximum(at_ends[0].upper, at_ends[1].upper)
        )
        known, other = max(abs(end) for end in ends), max(abs(1 - end) for end in ends)
        below[node] = hull, (other * size_absent + known * size_present) * _OUTWARD
    exact, sizes = below[0]
    roundings = 4 * head.size + 8 + _folded(head.weight, head.depth + head.classes)
    return _widened(exact, _gamma(roundings) * sizes + 4 * head.size * _UNDERFLOW)[None]


_READ_OUT: dict[type[Readout], Callable[[Any, Head, Enclosure], Enclosure]] = {
    Linear: _linear,
    Maximum: _best,
    SoftTree: _tree,
}
"""From a readout and computed activations (1, P) to computed logits (1, C)."""
