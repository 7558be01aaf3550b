"""From observables to activations: monotone similarities commute with max pooling.

One number says how unlike two vectors are, the *dissimilarity*. Small means similar, so every similarity falls with it.
It is the observable itself (squared distances), its negative (cosines, inner products, masses), or its distance from
the prototype's peak (quadratic). The pooled patch is then always the one with the least dissimilarity.

Each similarity has one class here: how it is enclosed, and its inverse for the search for counterexamples. A new
similarity is one more class and its entry in `_BOUNDS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import torch
from torch import Tensor

from verale.head import (
    ExpDistance,
    Exponential,
    Head,
    Identity,
    LogRatio,
    Negated,
    Quadratic,
    Rectified,
    Similarity,
    Threshold,
)
from verale.head.similarity import SIMILARITIES, Step
from verale.rounding import TRANSCENDENTAL_ULPS, UNDERFLOW, UNIT, Enclosure, down, up

__all__ = ["Interval", "activation", "dissimilarity", "observables_between", "oriented", "pooled_activation", "stepped"]

Interval: TypeAlias = tuple[Any, Any]
"""The ends of an observable, as balls; None where there is no end."""

_LOG_RATIO_ERROR = 2 * (2 * TRANSCENDENTAL_ULPS + 4) * UNIT

_BELOW_THRESHOLD = 2.0**-60
"""How far below the threshold a mass is put whose similarity has to be 0; for the search alone."""


def dissimilarity(head: Head, observables: Tensor) -> Tensor:
    """Dissimilarities of observables (..., P); an estimate where a peak is subtracted."""
    return _bounds(head).dissimilarity(observables)


def oriented(head: Head, observables: Enclosure) -> tuple[Tensor, Tensor]:
    """The least and the greatest dissimilarity (..., P) that the bounds allow, rounded outward."""
    return _bounds(head).oriented(observables)


def activation(head: Head, observables: Enclosure) -> Enclosure:
    """Similarities S(m) of observables m (..., P), or activations given pooled observables, elementwise."""
    bounds = _bounds(head)
    return bounds.pooled(*bounds.oriented(observables))


def pooled_activation(head: Head, near: Tensor, far: Tensor, of: Tensor | slice = slice(None)) -> Enclosure:
    """Boxes of activations from the least near and the least far dissimilarity over all patches, (..., P) each; or
    for some prototypes alone, `of`, (..., S).

    Soundness: S falls with the dissimilarity, so max_l S is S of the least one, and each patch ranges over its own
    interval: the range of the pooled dissimilarity is [pool of near ends, pool of far ends].
    """
    return _bounds(head, of).pooled(near, far)


def observables_between(
    head: Head, prototype: int, ends: tuple[float, float], at: float, ball: Callable[[float], Any]
) -> Interval:
    """The observables of a prototype whose similarity lies in an interval; for the search, not for proofs.

    Args:
        head: the head.
        prototype: j.
        ends: of the similarity; infinite where it has none.
        at: an observable. Of a similarity that is not monotone, only the side of the peak where it lies is returned.
        ball: from a float to a number of the arithmetic that the ends are wanted in, such as `flint.arb`.
    """
    return _bounds(head).observables_between(prototype, ends, at, ball)


S = TypeVar("S", bound=Similarity)


@dataclass(frozen=True, eq=False)
class SimilarityBounds(ABC, Generic[S]):
    """How the similarity of one head is bounded, and inverted.

    Attributes:
        similarity: the head's.
        of_distance: whether the observable is a squared distance, so that S falls with it; otherwise S rises.
        scale: (P,), or None for ones.
        peak: (P,), or None for zeros.
        geometry: the kind of the head's.
    """

    similarity: S
    of_distance: bool
    scale: Tensor | None
    peak: Tensor | None
    geometry: str

    def dissimilarity(self, observables: Tensor) -> Tensor:
        """See the function of the same name."""
        if self.similarity.unimodal:
            return (observables - _or_zero(self.peak, observables)).abs()
        return observables if self.of_distance else -observables

    def oriented(self, observables: Enclosure) -> tuple[Tensor, Tensor]:
        """See the function of the same name."""
        if self.similarity.unimodal:
            return _from_peak(observables, _or_zero(self.peak, observables.lower))
        if self.of_distance:
            return observables.lower, observables.upper
        return -observables.upper, -observables.lower

    @abstractmethod
    def pooled(self, near: Tensor, far: Tensor) -> Enclosure:
        """Similarities of dissimilarities in [near, far], (..., P) each; rounded outward."""

    def observables_between(
        self, prototype: int, ends: tuple[float, float], at: float, ball: Callable[[float], Any]
    ) -> Interval:
        """See the function of the same name."""
        scale = ball(1.0 if self.scale is None else float(self.scale[prototype]))
        low, high = (
            None if abs(value) == torch.inf else self.inverse(value, least, scale, ball)
            for value, least in zip(ends, (True, False), strict=True)
        )
        if not self.similarity.unimodal:
            return (high, low) if self.of_distance else (low, high)
        peak = ball(0.0 if self.peak is None else float(self.peak[prototype]))
        far, near = low, ball(0.0) if high is None else high
        if at >= float(peak.mid()):
            return peak + near, None if far is None else peak + far
        return None if far is None else peak - far, peak - near

    @abstractmethod
    def inverse(self, value: float, least: bool, scale: Any, ball: Callable[[float], Any]) -> Any:
        """The observable, or its distance from the peak, with a similarity that is the least or the greatest allowed;
        None where it sets no bound."""

    def scaled(self, near: Tensor, far: Tensor) -> Enclosure:
        """Dissimilarities, at least 0, times the scale."""
        if self.scale is None:
            return Enclosure.unchecked(near, far)
        scale = self.scale.to(near)
        return Enclosure(down(near * scale).clamp(min=0), up(far * scale))


class _Identity(SimilarityBounds[Identity]):
    """Exact."""

    def pooled(self, near: Tensor, far: Tensor) -> Enclosure:
        return Enclosure.unchecked(-far, -near)

    def inverse(self, value: float, least: bool, scale: Any, ball: Callable[[float], Any]) -> Any:
        return ball(value)


class _LogRatio(SimilarityBounds[LogRatio]):
    """ln((x + 1) / (x + e)) = ln(1 + (1 - e) / (x + e)) with x = scale m; 0 at m = infinity.

    Soundness: the argument of log1p carries four relative roundings; |x log1p'(x) / log1p(x)| <= 1 for x > 0, so they
    pass undiminished at most; log1p itself is within TRANSCENDENTAL_ULPS, each at most 2 u; the last product rounds
    once. All of it is below _LOG_RATIO_ERROR.
    """

    def pooled(self, near: Tensor, far: Tensor) -> Enclosure:
        return Enclosure.unchecked(
            (self._estimate(far) * (1 - _LOG_RATIO_ERROR)).sub_(UNDERFLOW).clamp_(min=0),
            (self._estimate(near) * (1 + _LOG_RATIO_ERROR)).add_(UNDERFLOW),
        )

    def _estimate(self, m: Tensor) -> Tensor:
        epsilon = self.similarity.epsilon
        x = m.clamp(min=0) if self.scale is None else m.clamp(min=0) * self.scale.to(m)
        return ((1 - epsilon) / (x + epsilon)).log1p()

    def inverse(self, value: float, least: bool, scale: Any, ball: Callable[[float], Any]) -> Any:
        power = ball(value).exp()
        return (1 - ball(self.similarity.epsilon) * power) / (power - 1) / scale if value > 0 else None


class _Negated(SimilarityBounds[Negated]):
    """Composed of operations rounded once."""

    def pooled(self, near: Tensor, far: Tensor) -> Enclosure:
        return _negative(self.scaled(near, far))

    def inverse(self, value: float, least: bool, scale: Any, ball: Callable[[float], Any]) -> Any:
        return -ball(value) / scale


class _ExpDistance(SimilarityBounds[ExpDistance]):
    """Composed of enclosures."""

    def pooled(self, near: Tensor, far: Tensor) -> Enclosure:
        added = Enclosure.exact(near.new_tensor(self.similarity.epsilon))
        return _negative((Enclosure.unchecked(near.clamp(min=0), far) + added).sqrt()).exp().clamp(0.0, 1.0)

    def inverse(self, value: float, least: bool, scale: Any, ball: Callable[[float], Any]) -> Any:
        return ball(value).log() ** 2 - ball(self.similarity.epsilon) if 0 < value < 1 else None


class _Exponential(SimilarityBounds[Exponential]):
    """Composed of enclosures; of a cosine m, x = 1 - m stands for the squared distance."""

    def pooled(self, near: Tensor, far: Tensor) -> Enclosure:
        if not self.of_distance:
            near, far = down(1 + near), up(1 + far)  # 1 - m
        return _negative(self.scaled(near.clamp(min=0), far.clamp(min=0))).exp().clamp(0.0, 1.0)

    def inverse(self, value: float, least: bool, scale: Any, ball: Callable[[float], Any]) -> Any:
        if value <= 0:
            return None
        return -ball(value).log() / scale if self.of_distance else 1 + ball(value).log() / scale


class _Quadratic(SimilarityBounds[Quadratic]):
    """The dissimilarity is x = |m - peak|, and S = -x^2: operations rounded once."""

    def pooled(self, near: Tensor, far: Tensor) -> Enclosure:
        return Enclosure.unchecked(-up(far.square()), -down(near.square()).clamp(min=0))

    def inverse(self, value: float, least: bool, scale: Any, ball: Callable[[float], Any]) -> Any:
        """The distance from the peak."""
        return (-ball(min(value, 0.0))).sqrt()


class _Rectified(SimilarityBounds[Rectified]):
    """Exact."""

    def pooled(self, near: Tensor, far: Tensor) -> Enclosure:
        return Enclosure.unchecked((-far).clamp(min=0), (-near).clamp(min=0))

    def inverse(self, value: float, least: bool, scale: Any, ball: Callable[[float], Any]) -> Any:
        return ball(value) if value > 0 or not least else None


class _Threshold(SimilarityBounds[Threshold]):
    """Exact. It falls with the dissimilarity, jump included, as masses are at least 0 and the threshold is above."""

    def pooled(self, near: Tensor, far: Tensor) -> Enclosure:
        return Enclosure.unchecked(*(torch.where(-end >= self.similarity.threshold, -end, 0.0) for end in (far, near)))

    def inverse(self, value: float, least: bool, scale: Any, ball: Callable[[float], Any]) -> Any:
        threshold = self.similarity.threshold
        if value >= threshold:
            return ball(value)
        if not least:
            return ball(threshold) - ball(_BELOW_THRESHOLD)
        return ball(threshold) if value > 0 else None


class _Steps(SimilarityBounds[Similarity]):
    """One step after another, of the observable or, after a peak, of the distance from it.

    Soundness: each step is an operation of `Enclosure`, cut to where its values lie, on a range that holds all values
    of the step before. Nothing of it needs a direction.
    """

    def pooled(self, near: Tensor, far: Tensor) -> Enclosure:
        steps, unimodal = self.similarity.steps_of(self.geometry), self.similarity.unimodal
        x = Enclosure.unchecked(near, far) if self.of_distance or unimodal else Enclosure.unchecked(-far, -near)
        for step in steps[unimodal:]:
            x = stepped(step, x, self.scale, self.peak)
        return x

    def inverse(self, value: float, least: bool, scale: Any, ball: Callable[[float], Any]) -> Any:
        x = ball(value)
        for step in reversed(self.similarity.steps_of(self.geometry)[self.similarity.unimodal :]):
            x = _before(step, x, least, scale, ball)
            if x is None:
                return None
            least ^= step.of.falls
        return x


def stepped(step: Step, x: Enclosure, scale: Tensor | None, peak: Tensor | None) -> Enclosure:
    """A step of numbers (..., P) in x, cut to where its values lie; scale and peak (P,) are None for ones and zeros."""

    def number(name: str = "number") -> Enclosure:
        return Enclosure.exact(x.lower.new_tensor(float(step.numbers[name])))

    match step.kind:
        case "scale":
            return x if scale is None else x * Enclosure.exact(scale.to(x.lower))
        case "add":
            return x + number()
        case "multiply":
            return x * number()
        case "negate":
            return _negative(x)
        case "log_ratio":
            apart, below = number("over") - number("under"), x.clamp(lower=0.0) + number("under")
            return (apart / below).clamp(lower=0.0).log1p().clamp(lower=0.0)
        case "exp":
            return x.clamp(upper=0.0).exp().clamp(0.0, 1.0)
        case "root":
            return x.clamp(lower=0.0).sqrt().clamp(lower=0.0)
        case "square":
            x = x.clamp(lower=0.0)
            return (x * x).clamp(lower=0.0)
        case "threshold":
            least = float(step.numbers["number"])
            return Enclosure.unchecked(*(torch.where(end >= least, end, 0.0) for end in (x.lower, x.upper)))
        case "rectify":
            return x.clamp(lower=0.0)
        case "from_peak":
            return Enclosure(*_from_peak(x, _or_zero(peak, x.lower)))
        case _:  # reciprocal
            one = Enclosure.exact(x.lower.new_ones(()))
            return (one / (x.clamp(lower=0.0) + number())).clamp(lower=0.0)


def _before(step: Step, y: Any, least: bool, scale: Any, ball: Callable[[float], Any]) -> Any:
    """What a step takes to y, the least or the greatest value allowed, as a ball; None where that sets no bound."""
    number = {name: ball(float(value)) for name, value in step.numbers.items()}
    match step.kind:
        case "scale":
            return y / scale
        case "add":
            return y - number["number"]
        case "multiply":
            return y / number["number"]
        case "negate":
            return -y
        case "log_ratio":
            return (number["over"] - number["under"] * y.exp()) / (y.exp() - 1) if y > 0 else None
        case "exp":
            return y.log() if y > 0 else None
        case "root":
            return y * y if y > 0 else ball(0.0) if not least else None
        case "square":
            return y.sqrt() if y > 0 else ball(0.0) if not least else None
        case "threshold":
            if y >= number["number"]:
                return y
            return (number["number"] if y > 0 else None) if least else number["number"] - ball(_BELOW_THRESHOLD)
        case "rectify":
            return y if y > 0 or not least else None
        case _:  # reciprocal
            return 1 / y - number["number"] if y > 0 else None


def _or_zero(peak: Tensor | None, like: Tensor) -> Tensor:
    return like.new_zeros(()) if peak is None else peak.to(like)


def _from_peak(observables: Enclosure, peak: Tensor) -> tuple[Tensor, Tensor]:
    """The least and the greatest distance from the peak, rounded outward."""
    above, below = observables.lower - peak, peak - observables.upper
    near = down(torch.maximum(above, below)).clamp(min=0)
    return near, up(torch.maximum(observables.upper - peak, peak - observables.lower))


_BOUNDS: dict[type[Similarity], type[SimilarityBounds[Any]]] = {
    **{kind.part: _Steps for kind in SIMILARITIES.values()},
    Identity: _Identity,
    LogRatio: _LogRatio,
    Negated: _Negated,
    ExpDistance: _ExpDistance,
    Exponential: _Exponential,
    Quadratic: _Quadratic,
    Rectified: _Rectified,
    Threshold: _Threshold,
}


def _bounds(head: Head, of: Tensor | slice = slice(None)) -> SimilarityBounds[Any]:
    scale, peak = (None if each is None else each[of] for each in (head.scale, head.peak))
    return _BOUNDS[type(head.similarity)](head.similarity, head.geometry.is_distance, scale, peak, head.geometry.kind)


def _negative(values: Enclosure) -> Enclosure:
    return Enclosure.unchecked(-values.upper, -values.lower)
