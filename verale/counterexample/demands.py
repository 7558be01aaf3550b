"""Demands: what a certificate asks of single observables, and the way back to latents that comply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import flint
import torch
from torch import Tensor

from verale.bounds import activation, unseen
from verale.certificate import ActivationStatement, Certificate, OrderStatement, PatchStatement
from verale.head import (
    BankPooling,
    Cosine,
    Euclidean,
    ExpDistance,
    Exponential,
    Head,
    Identity,
    InnerProduct,
    LogRatio,
    MaxPooling,
    Negated,
    Quadratic,
    Rectified,
    Threshold,
    observables,
)
from verale.rounding import Enclosure

__all__ = ["PRECISION", "Demands", "Interval", "demands_of", "into_domain", "observables_and_slopes"]

PRECISION = 320
"""Bits of a ball: far more than statements tell apart. What is found is proved by the checker, never here."""

Interval: TypeAlias = tuple[Any, Any]
"""Ends of an observable, balls; None where there is no end."""

_TINY = 1e-300
_RIDGE = 1e-13


@dataclass(frozen=True, eq=False)
class Demands:
    """What single observables of L patches have to be.

    Attributes:
        head: the head.
        exact: for each patch, intervals by prototype.
        index: (L, K) prototypes, patch by patch.
        lower, upper: (L, K) the same ends rounded to nearest, infinite where there is none or where `index` is padding.
        pinned: (L,) patches that have to stay what they are.
    """

    head: Head
    exact: tuple[dict[int, Interval], ...]
    index: Tensor
    lower: Tensor
    upper: Tensor
    pinned: Tensor

    def violation(self, images: Tensor) -> Tensor:
        """(N,) how far images (N, L, D) are from complying, relative to what is asked; an estimate."""
        if not self.index.shape[1]:
            return images.new_zeros(len(images))
        flat = images.flatten(0, 1)
        _, _, missing = self._missing(flat, *self._rows(len(images)))
        worst: Tensor = missing.abs().view(len(images), -1).amax(1)
        return worst

    def comply(self, images: Tensor, steps: int) -> Tensor:
        """Images (N, L, D) near those given that comply better: Gauss and Newton's steps, within the domain.

        A step is the shortest one that meets all statements about a patch, were observables linear in the latent. Of a
        squared distance it stays in the plane through the anchors' hull and the latent: from a prototype's place it
        ends where the latents that comply are nearest to that prototype. Masses are replaced in one step.
        """
        if not self.index.shape[1]:
            return into_domain(self.head, images)
        kept = images[:, self.pinned]
        flat, rows = into_domain(self.head, images.flatten(0, 1)), self._rows(len(images))
        for _ in range(steps):
            flat = into_domain(self.head, self._step(flat, *rows))
        images = flat.view_as(images).clone()
        images[:, self.pinned] = kept
        return images

    def _rows(self, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """The demands of N images' patches."""
        return self.index.repeat(count, 1), self.lower.repeat(count, 1), self.upper.repeat(count, 1)

    def _missing(self, flat: Tensor, index: Tensor, lower: Tensor, upper: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(R, K) observables, (R, K, D) their gradients, and (R, K) what the observables lack, relative to |gradient|.

        Gradients are zero, and nothing is lacking, where an interval has one end and holds.
        """
        observed, slope = observables_and_slopes(self.head, flat, index)
        missing = torch.maximum(torch.minimum(observed, upper), lower) - observed
        asked = (missing != 0) | (torch.isfinite(lower) & torch.isfinite(upper))
        length = slope.norm(dim=2).clamp(min=_TINY)
        slope = torch.where(asked[:, :, None], slope / length[:, :, None], 0.0)
        return observed, slope, torch.where(asked, missing / length, 0.0)

    def _step(self, flat: Tensor, index: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
        if self.head.prototypes is None:
            return _masses_moved(flat, index, lower, upper)
        _, slope, missing = self._missing(flat, index, lower, upper)
        low, high = self.head.domain.lower, self.head.domain.upper
        free, step = torch.ones_like(flat), torch.zeros_like(flat)
        for _ in range(3):  # a coordinate at the domain's end that a step would move out of it is left where it is
            open_slope = slope * free[:, None]
            normal = open_slope @ open_slope.transpose(1, 2)
            ridge = torch.where(normal.diagonal(dim1=1, dim2=2) > 0, _RIDGE, 1.0)
            solved, _ = torch.linalg.solve_ex(normal + torch.diag_embed(ridge), missing[:, :, None])
            step = (open_slope * solved).sum(1).nan_to_num(0.0, 0.0, 0.0)
            stuck = torch.zeros_like(flat, dtype=torch.bool)
            if low is not None:
                stuck |= (flat <= low) & (step < 0)
            if high is not None:
                stuck |= (flat >= high) & (step > 0)
            if not bool(stuck.any()):
                break
            free = free.masked_fill(stuck, 0.0)
        return flat + step


def demands_of(head: Head, certificate: Certificate, image: Tensor, known: bool) -> Demands:
    """The demands of a certificate's statements on images that resemble one.

    A statement about an activation asks that the patch which shows the prototype in that image shows it as stated, and
    that no other patch shows it better: that is enough, and not all that there is. Under a pooling with a mean nothing
    as simple is enough: all patches are pinned.

    Args:
        head: the head.
        certificate: a certificate of this head.
        image: (L, D) float64.
        known: whether the image is one of which the statements are to be true: then patches of which the statements
            leave nothing open, those with as many as coordinates, are pinned.
    """
    patches, observed = certificate.patches, observables(head, image[None])[0]
    shown = activation(head, Enclosure.exact(observed)).upper
    hidden = unseen(head, patches)
    shown = shown if hidden is None else shown.masked_fill(hidden, -torch.inf)
    exact: list[dict[int, Interval]] = [{} for _ in range(patches)]
    pinned = torch.zeros(patches, dtype=torch.bool)
    with flint.ctx.workprec(PRECISION):
        for statement in certificate.statements:
            match statement:
                case PatchStatement(patch, prototype, lower, upper):
                    exact[patch][prototype] = flint.arb(lower), flint.arb(upper)
                    continue
                case ActivationStatement(prototype, lower, upper):
                    at, asked = int(shown[:, prototype].argmax()), {prototype: lower}
                case OrderStatement(exempt, upper):
                    at, asked = -1, dict.fromkeys(sorted(set(range(head.size)) - set(exempt)), -torch.inf)
            pinned |= not isinstance(head.pooling, (MaxPooling, BankPooling))
            for prototype, least in asked.items():
                for patch in (shown[:, prototype] > -torch.inf).nonzero().flatten().tolist():
                    above = float(observed[patch, prototype]) >= _peak(head, prototype)
                    low = least if patch == at else -torch.inf
                    found = _observable_between(head, prototype, low, upper, above)
                    exact[patch][prototype] = _met(found, exact[patch].get(prototype, (None, None)))
        width = max(map(len, exact))
        index = torch.zeros(patches, width, dtype=torch.int64)
        ends = torch.tensor([-torch.inf, torch.inf], dtype=torch.float64)[:, None, None].repeat(1, patches, width)
        for patch, intervals in enumerate(exact):
            for place, (prototype, interval) in enumerate(intervals.items()):
                index[patch, place] = prototype
                for end, ball in enumerate(interval):
                    if ball is not None:
                        ends[end, patch, place] = float(ball.mid())
    counts = torch.tensor([sum(None not in interval for interval in asked.values()) for asked in exact])
    if known and head.prototypes is not None:
        pinned |= counts >= head.depth
    return Demands(head, tuple(exact), index, ends[0], ends[1], pinned)


def into_domain(head: Head, latents: Tensor) -> Tensor:
    """The latents (..., D) of the head's domain that are nearest."""
    if head.domain.lower is not None or head.domain.upper is not None:
        latents = latents.clamp(head.domain.lower, head.domain.upper)
    radius = head.geometry.radius if isinstance(head.geometry, InnerProduct) else None
    if radius is not None:
        inside = radius * (1 - 2.0**-40)
        latents = latents * (inside / latents.norm(dim=-1, keepdim=True).clamp(min=_TINY)).clamp(max=1)
    return latents


def observables_and_slopes(head: Head, flat: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """(R, K) observables of latents (R, D) and (R, K, D) their gradients; of softmax, of their logarithms."""
    if head.prototypes is None:
        logs = torch.log_softmax(flat, dim=1)
        each = torch.nn.functional.one_hot(index, head.size).to(flat)
        return logs.gather(1, index).exp(), each - logs.exp()[:, None]
    points = head.prototypes.to(flat)
    match head.geometry:
        case Euclidean():
            away = flat[:, None] - points[index]
            return away.square().sum(2), 2 * away
        case InnerProduct():
            return (flat[:, None] * points[index]).sum(2), points[index]
        case Cosine(epsilon, rooted):
            directions = (points / points.norm(dim=1, keepdim=True))[index]
            plain = flat.norm(dim=1).clamp(min=_TINY)
            length = (plain.square() + epsilon).sqrt() if rooted else plain + epsilon
            cosines = (flat[:, None] * directions).sum(2) / length[:, None]
            outward = flat / (length if rooted else plain)[:, None]
            return cosines, (directions - cosines[:, :, None] * outward[:, None]) / length[:, None, None]
        case _:
            raise TypeError(f"no observable of {type(head.geometry).__name__}")


def _masses_moved(flat: Tensor, index: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """Logits whose stated masses are the nearest that comply, and whose other masses share the rest as they did."""
    masses = torch.softmax(flat, dim=1).clamp(min=_TINY)
    mine = masses.gather(1, index)
    wanted = torch.maximum(torch.minimum(mine, upper), lower)
    fixed = (wanted != mine) | (torch.isfinite(lower) & torch.isfinite(upper))
    # Padding names prototype 0: it writes nothing, because it is never fixed.
    row = torch.arange(len(flat))[:, None].expand_as(index)[fixed]
    stated = torch.zeros_like(masses, dtype=torch.bool)
    stated[row, index[fixed]] = True
    moved = masses.clone()
    moved[row, index[fixed]] = wanted[fixed]
    rest = (1 - torch.where(stated, moved, 0.0).sum(1, keepdim=True)).clamp(min=_TINY)
    free = torch.where(stated, 0.0, masses).sum(1, keepdim=True).clamp(min=_TINY)
    moved = torch.where(stated, moved, masses * (rest / free)).clamp(min=_TINY)
    shift = (flat - moved.log()).masked_fill(stated, 0.0).sum(1, keepdim=True) / (~stated).sum(1, keepdim=True).clamp(1)
    return moved.log() + shift


def _peak(head: Head, prototype: int) -> float:
    return 0.0 if head.peak is None else float(head.peak[prototype])


def _observable_between(head: Head, prototype: int, lower: float, upper: float, above: bool) -> Interval:
    """The observables whose similarity lies in [lower, upper]; of a quadratic one, those above the peak or below."""
    if isinstance(head.similarity, Quadratic):
        peak: Any = flint.arb(_peak(head, prototype))
        near = (-flint.arb(min(upper, 0.0))).sqrt()
        far: Any = None if lower == -torch.inf else (-flint.arb(min(lower, 0.0))).sqrt()
        ends = peak + near, None if far is None else peak + far
        return ends if above else (None if far is None else peak - far, peak - near)
    ends = _inverse(head, prototype, lower, True), _inverse(head, prototype, upper, False)
    return (ends[1], ends[0]) if isinstance(head.geometry, Euclidean) else ends


def _inverse(head: Head, prototype: int, value: float, least: bool) -> Any:
    """The observable of a similarity that is the least or the greatest allowed; None where it sets no bound."""
    scale = flint.arb(1.0 if head.scale is None else float(head.scale[prototype]))
    a = flint.arb(value) if value > -torch.inf else None
    match head.similarity:
        case _ if a is None:
            return None
        case Identity():
            return a
        case LogRatio(epsilon):
            return (1 - flint.arb(epsilon) * a.exp()) / (a.exp() - 1) / scale if value > 0 else None
        case Negated():
            return -a / scale
        case ExpDistance(epsilon):
            return a.log() ** 2 - flint.arb(epsilon) if 0 < value < 1 else None
        case Exponential():
            if value <= 0:
                return None
            return -a.log() / scale if isinstance(head.geometry, Euclidean) else 1 + a.log() / scale
        case Rectified():
            return a if value > 0 or not least else None
        case Threshold(threshold):
            if value >= threshold:
                return a
            if not least:
                return flint.arb(threshold) - flint.arb(2.0**-60)  # what is below the threshold has similarity 0
            return flint.arb(threshold) if value > 0 else None
        case _:
            raise TypeError(f"no inverse of {type(head.similarity).__name__}")


def _met(first: Interval, second: Interval) -> Interval:
    """Both hold."""
    low = [end for end in (first[0], second[0]) if end is not None]
    high = [end for end in (first[1], second[1]) if end is not None]
    return (max(low, key=_middle) if low else None, min(high, key=_middle) if high else None)


def _middle(ball: Any) -> Any:
    return float(ball.mid())
