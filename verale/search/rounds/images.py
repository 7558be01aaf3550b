"""A batch of images as the search in rounds sees it: estimates of likeness, similarity and margins.

The *likeness* of a patch and a prototype is minus their dissimilarity (`verale.bounds.similarity`): similarities rise
with it, and so does their maximum over patches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor

from verale.bounds import LinearMargins, Projection
from verale.bounds.similarity import dissimilarity
from verale.head import Head, LogRatio
from verale.head.head import similarity
from verale.rounding import Enclosure
from verale.search.problem import Problem

FAR = 2.0**20
"""An observable without an upper end is taken to be at most so many times the greatest that was observed, plus one."""


class Space:
    """What statements about a patch are made of; estimates.

    Attributes:
        is_distance: whether observables are squared distances.
        points: (P, D) the vectors of the prototypes, as of `Projection.points`, in as few coordinates as they need.
        squares: (P,) their squares.
        reach: (P, P) the squared distances between them; None unless observables are distances.
        whole: the square of the radius of the ball in which latents lie; 0 for distances.
        shift: (P,) observables of the ball's centre.
        sign: 1, or -1 for distances: a signed observable is the observable times this.
        peak: (P,) the signed observable of greatest likeness; None where likeness rises with it.
        least_residual: see `verale.bounds.projection.Hull`.
        domain: (P,) each, the least and the greatest likeness over the domain.
    """

    def __init__(self, head: Head, paradigm: Projection, farthest: float) -> None:
        """That of a head; no observable of the images is greater than `farthest`."""
        points = paradigm.points
        if points.shape[1] > points.shape[0]:
            values, vectors = torch.linalg.eigh(paradigm.gram)
            points = vectors * values.clamp(min=0).sqrt()
        self.points, self.is_distance = points.contiguous(), paradigm.is_of_distances
        self.squares = paradigm.gram.diagonal().contiguous()
        self.reach: Tensor | None = None
        if self.is_distance:
            self.reach = (self.squares[:, None] - 2 * paradigm.gram + self.squares).clamp_(min=0)
        self.whole, self.shift, self.least_residual = paradigm.whole, paradigm.shift, paradigm.least_residual
        self.sign = -1.0 if self.is_distance else 1.0
        self.peak: Tensor | None = None
        if head.similarity.unimodal:
            squares = self.squares
            self.peak = torch.zeros_like(squares) if head.peak is None else self.sign * head.peak.to(squares)
        ends = paradigm.domain.lower, paradigm.domain.upper.nan_to_num(posinf=FAR * (1 + farthest))
        low, high = (-ends[1], -ends[0]) if self.is_distance else ends
        self.domain = likeness_between(low, high, self.peak)


def likeness_between(low: Tensor, high: Tensor, peak: Tensor | None) -> tuple[Tensor, Tensor]:
    """The least and the greatest likeness of signed observables between `low` and `high`, whose memory it may use."""
    if peak is None:
        return low, high
    above, below = low - peak, peak - high
    greatest = torch.maximum(above, below).clamp_(min=0).neg_()
    return torch.minimum(above, below), greatest


def likeness_of(ranges: Enclosure, space: Space) -> tuple[Tensor, Tensor]:
    """The least and the greatest likeness of observables (..., P) in ranges, whose memory it may use."""
    low, high = (ranges.upper.neg_(), ranges.lower.neg_()) if space.is_distance else (ranges.lower, ranges.upper)
    return likeness_between(low, high, space.peak)


def _similarity_of_likeness(head: Head) -> Callable[[Tensor], Tensor]:
    """The similarities of likenesses (..., P), whose memory it may use."""
    factor = torch.ones(head.size, dtype=torch.float64) if head.scale is None else head.scale.to(torch.float64)
    if isinstance(head.similarity, LogRatio):
        epsilon = head.similarity.epsilon
        shift, share = epsilon / factor, (1 - epsilon) / factor

        def log_ratio(likeness: Tensor) -> Tensor:
            torch.div(share, likeness.neg_().add_(shift), out=likeness)
            return likeness.add_(1.0).log_()

        return log_ratio
    if head.similarity.unimodal:
        return lambda likeness: head.similarity.of(likeness.neg_(), head.geometry, factor, 0.0)
    if head.geometry.is_distance:
        return lambda likeness: similarity(head, likeness.neg())
    return lambda likeness: similarity(head, likeness)


class Images:
    """N images of L patches of one head with a linear readout and a maximum as pooling.

    Attributes:
        space: the geometry.
        likeness: (N, L, P) of the images' own patches.
        observed: (N, L, P) their signed observables.
        attained: (N, P) the patch that may be stated and is most similar.
        nearest: (N, L) the prototype that may be stated and is most similar.
        actual: (N, P) the activations.
        weights: (N, K, P) W_predicted - W_rival.
        positive, negative: (N, P, K) the parts of them.
        bias: (N, K) b_predicted - b_rival, less what margins are asked for beyond 0; infinite for the predicted class.
        asked: (N, K) that.
        allowed: (L, P) which pairs may be stated; None if all may.
        hidden: (L, P) which prototypes do not look at which patches; None if all look at all.
    """

    def __init__(self, problem: Problem, paradigm: Projection) -> None:
        head, margins = problem.head, cast(LinearMargins, problem.margins)  # `admits` takes no other
        count, patches, size = len(problem), problem.patches, head.size
        middle = (problem.observed.lower + problem.observed.upper) / 2
        self.head = head
        self.space = Space(head, paradigm, float(middle.abs().amax()))
        self.observed = (self.space.sign * middle).view(count, patches, size)
        self.likeness = -dissimilarity(head, middle).view(count, patches, size)
        self.hidden = head.pooling.hidden(patches, size)
        if self.hidden is not None:
            self.likeness.masked_fill_(self.hidden, -torch.inf)
        allowed = problem.patches_left[:, None] & problem.prototypes_left
        self.allowed = None if bool(allowed.all()) else allowed
        may = self.likeness if self.allowed is None else self.likeness.masked_fill(~allowed, -torch.inf)
        self.attained, self.nearest = may.argmax(1), may.argmax(2)
        self.actual = (problem.activations.lower + problem.activations.upper) / 2
        self.similar = _similarity_of_likeness(head)
        self.positive, self.negative, self._bias = margins.positive, margins.negative, margins.bias
        self.ask(torch.zeros_like(margins.bias))
        self.weights = (margins.positive + margins.negative).transpose(1, 2).contiguous()

    def __len__(self) -> int:
        return len(self.bias)

    def ask(self, margins: Tensor) -> None:
        """Count margins (N, K) as 0."""
        self.asked, self.bias = margins, self._bias - margins

    @property
    def patches(self) -> int:
        """L."""
        return int(self.likeness.shape[1])

    @property
    def size(self) -> int:
        """P."""
        return int(self.likeness.shape[2])
