"""Demands: what a certificate requires of single observables, and steps towards latents that comply. Before them what a
search may take: how large certificates it accepts, how much it computes at once, and when it stops."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any

import flint
import torch
from torch import Tensor

from verale.bounds import Interval, activation, observables_between
from verale.certificate import Certificate, FloorStatement, OrderStatement, PatchStatement, SumStatement
from verale.certificate.statements import activations_bounded
from verale.errors import UsageError, option
from verale.head import Cosine, Head, InnerProduct, Softmax, observables
from verale.rounding import Enclosure

TOGETHER = 2**20
"""Numbers of one array of a batch: some ten such arrays exist at a time."""

_MOST_NUMBERS = 2**20
"""The most coordinates and similarities of an image, for each megabyte that the head's numbers begin. The checker keeps
coordinates as integers of 200 bytes."""
_MEGABYTE = 2**20
_EQUATIONS = 2**22
"""The most numbers in the equations of one patch."""
_MOST_DEMANDS = 2**18
"""The most demands on single observables: each takes some hundred microseconds."""
_PER_SECOND = 2**26
"""Multiplications of exact numbers in a second: the checker evaluates a candidate, which takes L P D of them."""

GRACE = 5.0
"""Seconds that the first climb may take beyond those asked for."""


class TimeIsUpError(Exception):
    """The search has to stop. It never leaves `counterexamples`."""


@dataclass(frozen=True)
class Clock:
    """When to stop, on the clock of `time.monotonic`.

    Attributes:
        deadline: when no further climb begins.
        latest: when a climb that began is given up.
    """

    deadline: float
    latest: float

    @classmethod
    def of(cls, seconds: float, grace: float = GRACE) -> Clock:
        """A clock that starts now."""
        now = time.monotonic()
        return cls(now + seconds, now + seconds + grace)

    @property
    def is_over(self) -> bool:
        """Whether no further climb begins."""
        return time.monotonic() > self.deadline

    def check(self) -> None:
        """Raises TimeIsUpError when even what began is given up."""
        if time.monotonic() > self.latest:
            raise TimeIsUpError


ENDLESS = Clock(math.inf, math.inf)
"""A clock that never stops anything."""


def require_searchable(head: Head, certificate: Certificate, seconds: float) -> None:
    """Raise UsageError, which names the limit, unless a search stays within memory and about its time."""
    patches, depth, size = certificate.patches, head.depth, head.size
    stated = Counter(s.patch for s in certificate.statements if isinstance(s, PatchStatement))
    own = max(stated.values(), default=0)
    whole = sum(not isinstance(s, PatchStatement) for s in certificate.statements)
    clause = any(isinstance(s, OrderStatement | FloorStatement) for s in certificate.statements)
    each = size if clause else min(size, own + whole)
    count = patches * each if whole else len(certificate.statements)
    megabytes = 1 + 4 * (head.weight.numel() + head.points.numel()) // _MEGABYTE
    what = f"the certificate has {patches} patches of {depth} channels, for {size} prototypes"
    for number, limit, name in (
        (patches * (depth + size), _MOST_NUMBERS * megabytes, "coordinates and similarities of an image"),
        (each * max(each, depth), _EQUATIONS, f"numbers in the equations of a patch with {each} demands"),
        (count, _MOST_DEMANDS, "demands on observables"),
    ):
        if number > limit:
            raise UsageError(f"{what}: a search would have {number} {name}, expected at most {limit}")
    steps, most = patches * size * depth, int((seconds + GRACE) * _PER_SECOND)
    if head.prototypes is not None and steps > most:
        raise UsageError(
            f"{what}: evaluating one candidate exactly takes {steps} multiplications, expected at most {most} in"
            f" {seconds:g} seconds; search longer ({option('seconds', -(-steps // _PER_SECOND))})"
        )


PRECISION = 320
"""Bits of a ball: far more than statements need. The checker proves what comes out, never this module."""

_TINY = 1e-300
_RIDGE = 1e-13


@dataclass(frozen=True, eq=False)
class Demands:
    """Intervals in which single observables of L patches have to lie.

    Attributes:
        head: the head.
        exact: for each patch, intervals by prototype.
        index: (L, K) prototypes, patch by patch.
        lower, upper: (L, K) the same ends rounded to nearest; infinite without an end and where `index` is padding.
        pinned: (L,) patches that must not change.
        clock: says when to stop; every step asks it.
    """

    head: Head
    exact: tuple[dict[int, Interval], ...]
    index: Tensor
    lower: Tensor
    upper: Tensor
    pinned: Tensor
    clock: Clock

    def violation(self, images: Tensor) -> Tensor:
        """(N,) how far images (N, L, D) are from complying, as a distance in latent space; an estimate."""
        if not self.index.shape[1]:
            return images.new_zeros(len(images))
        parts = self._parts(images.flatten(0, 1), *self._rows(len(images)))
        worst: Tensor = torch.cat([self._missing(*part)[2].abs().amax(1) for part in parts])
        return worst.view(len(images), -1).amax(1)

    def comply(self, images: Tensor, steps: int) -> Tensor:
        """Images (N, L, D) near those given that comply better: Gauss-Newton steps within the domain.

        A step is the shortest one that would meet all demands on a patch if observables were linear in the latent. With
        squared distances it stays in the plane through the anchors' hull and the latent: a step that starts at a
        prototype ends where the latents that comply are nearest to it. Masses are replaced in one step.
        """
        if not self.index.shape[1]:
            return into_domain(self.head, images)
        kept = images[:, self.pinned]
        flat, rows = into_domain(self.head, images.flatten(0, 1)), self._rows(len(images))
        for _ in range(steps):
            flat = torch.cat([into_domain(self.head, self._step(*part)) for part in self._parts(flat, *rows)])
        images = flat.view_as(images).clone()
        images[:, self.pinned] = kept
        return images

    def _rows(self, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """The demands of N images' patches."""
        return self.index.repeat(count, 1), self.lower.repeat(count, 1), self.upper.repeat(count, 1)

    def _parts(self, flat: Tensor, *rows: Tensor) -> Iterator[tuple[Tensor, ...]]:
        """Latents (R, D) and their demands, as many at once as fit the memory."""
        kept, depth = self.index.shape[1], flat.shape[1]
        many = max(1, TOGETHER // (kept * max(kept, depth)))
        for part in zip(*(torch.split(each, many) for each in (flat, *rows)), strict=True):
            self.clock.check()
            yield part

    def _missing(self, flat: Tensor, index: Tensor, lower: Tensor, upper: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(R, K) observables, (R, K, D) their unit gradients, and (R, K) their distance to the interval / |gradient|.

        Both are zero where an interval has a single end and the observable complies.
        """
        observed, slope = observables_and_slopes(self.head, flat, index)
        missing = torch.maximum(torch.minimum(observed, upper), lower) - observed
        active = (missing != 0) | (torch.isfinite(lower) & torch.isfinite(upper))
        length = slope.norm(dim=2).clamp(min=_TINY)
        slope = torch.where(active[:, :, None], slope / length[:, :, None], 0.0)
        return observed, slope, torch.where(active, missing / length, 0.0)

    def _step(self, flat: Tensor, index: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
        if self.head.prototypes is None:
            return _masses_moved(flat, index, lower, upper)
        _, slope, missing = self._missing(flat, index, lower, upper)
        low, high = self.head.domain.ends
        free, step = torch.ones_like(flat), torch.zeros_like(flat)
        for _ in range(3):  # a coordinate at the domain's end stays there if the step would move it out
            open_slope = slope * free[:, None]
            normal = open_slope @ open_slope.transpose(1, 2)
            ridge = torch.where(normal.diagonal(dim1=1, dim2=2) > 0, _RIDGE, 1.0)
            solved, _ = torch.linalg.solve_ex(normal + torch.diag_embed(ridge), missing[:, :, None])
            step = (open_slope * solved).sum(1).nan_to_num(0.0, 0.0, 0.0)
            stuck = ((flat <= low) & (step < 0)) | ((flat >= high) & (step > 0))
            if not bool(stuck.any()):
                break
            free = free.masked_fill(stuck, 0.0)
        return flat + step


def demands_of(head: Head, certificate: Certificate, image: Tensor, known: bool, clock: Clock = ENDLESS) -> Demands:
    """The demands of a certificate's statements on images that resemble one.

    A statement about an activation demands that the patch with that activation in the image keeps it as stated, and
    that no other patch exceeds it. That is sufficient, not necessary. The ceiling and the floor are such statements
    about all prototypes that they do not exempt. Under a pooling with a mean no demand that simple is sufficient, so
    all patches are pinned.

    Args:
        certificate: a certificate of this head.
        image: (L, D) float64.
        known: whether the statements are about this image. Then patches with as many two-sided demands as coordinates
            are pinned, as the demands determine them.
        clock: says when to stop.
    """
    patches, observed = certificate.patches, observables(head, image[None])[0]
    shown = activation(head, Enclosure.exact(observed)).upper
    hidden = head.pooling.hidden(patches, head.size)
    shown = shown if hidden is None else shown.masked_fill(hidden, -torch.inf)
    beyond = observed >= (0.0 if head.peak is None else head.peak.to(observed))  # on which side of its peak each lies

    @cache
    def between(prototype: int, low: float, high: float, above: bool) -> Interval:
        return observables_between(head, prototype, (low, high), torch.inf if above else -torch.inf, flint.arb)

    exact: list[dict[int, Interval]] = [{} for _ in range(patches)]
    pinned = torch.zeros(patches, dtype=torch.bool)
    with flint.ctx.workprec(PRECISION):
        for statement in certificate.statements:
            match statement:
                case PatchStatement(patch, prototype, lower, upper):
                    low_end, high_end = (flint.arb(end) if isfinite(end) else None for end in (lower, upper))
                    exact[patch][prototype] = _met((low_end, high_end), exact[patch].get(prototype, (None, None)))
                    continue
                case SumStatement():  # of no observable alone: the checker says whether it is true
                    continue
            clock.check()
            pinned |= head.pooling.needs_all_patches
            for prototype, lower, upper in activations_bounded(statement, head.size):
                clock.check()
                at = int(shown[:, prototype].argmax())
                for patch in (shown[:, prototype] > -torch.inf).nonzero().flatten().tolist():
                    low = lower if patch == at else -torch.inf
                    if -low == upper == torch.inf:
                        continue
                    interval = between(prototype, low, upper, bool(beyond[patch, prototype]))
                    exact[patch][prototype] = _met(interval, exact[patch].get(prototype, (None, None)))
        width = max(map(len, exact))
        index = torch.zeros(patches, width, dtype=torch.int64)
        ends = torch.tensor([-torch.inf, torch.inf], dtype=torch.float64)[:, None, None].repeat(1, patches, width)
        for patch, intervals in enumerate(exact):
            for column, (prototype, interval) in enumerate(intervals.items()):
                index[patch, column] = prototype
                for end, ball in enumerate(interval):
                    if ball is not None:
                        ends[end, patch, column] = float(ball.mid())
    counts = torch.tensor([sum(None not in interval for interval in intervals.values()) for intervals in exact])
    if known and head.prototypes is not None:
        pinned |= counts >= head.depth
    return Demands(head, tuple(exact), index, ends[0], ends[1], pinned, clock)


def into_domain(head: Head, latents: Tensor) -> Tensor:
    """The nearest latents (..., D) of the head's domain."""
    if head.domain.lower is not None or head.domain.upper is not None:
        latents = latents.clamp(head.domain.lower, head.domain.upper)
    radius = head.geometry.radius
    if radius is not None:
        inside = radius * (1 - 2.0**-40)
        latents = latents * (inside / latents.norm(dim=-1, keepdim=True).clamp(min=_TINY)).clamp(max=1)
    return latents


def observables_and_slopes(head: Head, flat: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """(R, K) observables of latents (R, D) and (R, K, D) their gradients; of softmax, of their logarithms."""
    points, geometry = head.points.to(flat), head.geometry
    match geometry:
        case Softmax():
            logs = torch.log_softmax(flat, dim=1)
            each = torch.nn.functional.one_hot(index, flat.shape[1]).to(flat)
            return logs.gather(1, index).exp(), each - logs.exp()[:, None]
        case InnerProduct():
            return (flat[:, None] * points[index]).sum(2), points[index]
        case Cosine():
            directions = (points / points.norm(dim=1, keepdim=True))[index]
            plain = flat.norm(dim=1).clamp(min=_TINY)
            length = (plain.square() + geometry.epsilon).sqrt() if geometry.rooted else plain + geometry.epsilon
            cosines = (flat[:, None] * directions).sum(2) / length[:, None]
            outward = flat / (length if geometry.rooted else plain)[:, None]
            return cosines, (directions - cosines[:, :, None] * outward[:, None]) / length[:, None, None]
        case _:
            away = flat[:, None] - points[index]
            return away.square().sum(2), 2 * away


def _masses_moved(flat: Tensor, index: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """Logits whose stated masses are the nearest that comply, and whose other masses keep their shares of the rest."""
    masses = torch.softmax(flat, dim=1).clamp(min=_TINY)
    mine = masses.gather(1, index)
    wanted = torch.maximum(torch.minimum(mine, upper), lower)
    fixed = (wanted != mine) | (torch.isfinite(lower) & torch.isfinite(upper))
    # Padding names prototype 0; it is never fixed, so it changes nothing.
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


def _met(first: Interval, second: Interval) -> Interval:
    """The intersection of two intervals."""

    def middle(ball: Any) -> float:
        return float(ball.mid())

    low = [end for end in (first[0], second[0]) if end is not None]
    high = [end for end in (first[1], second[1]) if end is not None]
    return (max(low, key=middle) if low else None, min(high, key=middle) if high else None)
