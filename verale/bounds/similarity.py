"""From observables to activations: monotone similarities commute with max pooling.

One number says how unlike two vectors are, the *dissimilarity*. Small means similar, so every similarity falls with it.
It is the observable itself (squared distances), its negative (cosines, inner products, masses), or its distance from
the prototype's peak (unimodal similarities). The pooled patch is then always the one with the least dissimilarity.

A similarity is a chain of steps (certificates/v1.md, "Steps"), those that a head gives as those that have a name. Each
step is enclosed (`stepped`) and inverted (`_before`) here, the latter for the search for counterexamples.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor

from verale.head import Head
from verale.head.similarity import Step
from verale.rounding import TRANSCENDENTAL_ULPS, UNDERFLOW, UNIT, Enclosure, down, up

Interval: TypeAlias = tuple[Any, Any]
"""The ends of an observable, as balls; None where there is no end."""

_LARGEST = sys.float_info.max
_LOG_RATIO_ERROR = 2 * (2 * TRANSCENDENTAL_ULPS + 4) * UNIT

_BELOW_THRESHOLD = 2.0**-60
"""How far below the threshold a mass is put whose similarity has to be 0; for the search alone."""


def dissimilarity(head: Head, observables: Tensor) -> Tensor:
    """Dissimilarities of observables (..., P); an estimate where a peak is subtracted."""
    if head.similarity.unimodal:
        return (observables - _or_zero(head.peak, observables)).abs()
    return observables if head.geometry.is_distance else -observables


def oriented(head: Head, observables: Enclosure) -> tuple[Tensor, Tensor]:
    """The least and the greatest dissimilarity (..., P) that the bounds allow, rounded outward."""
    if head.similarity.unimodal:
        return _from_peak(observables, _or_zero(head.peak, observables.lower))
    if head.geometry.is_distance:
        return observables.lower, observables.upper
    return -observables.upper, -observables.lower


def activation(head: Head, observables: Enclosure) -> Enclosure:
    """Similarities S(m) of observables m (..., P), or activations given pooled observables, elementwise."""
    return pooled_activation(head, *oriented(head, observables))


def pooled_activation(head: Head, near: Tensor, far: Tensor, of: Tensor | slice = slice(None)) -> Enclosure:
    """Boxes of activations from the least near and the least far dissimilarity over all patches, (..., P) each; or
    for some prototypes alone, `of`, (..., S).

    Soundness: S falls with the dissimilarity, so max_l S is S of the least one, and each patch ranges over its own
    interval: the range of the pooled dissimilarity is [pool of near ends, pool of far ends]. S is one step after
    another, each on a range that holds all values of the step before.
    """
    if head.similarity.unimodal:
        x = Enclosure.unchecked(near, far)
    elif head.geometry.is_distance:
        x = Enclosure.unchecked(near, far).clamp(lower=0.0)
    else:
        x = Enclosure.unchecked(-far, -near)
    scale = None if head.scale is None else head.scale[of]
    for step in _steps(head):
        x = stepped(step, x, scale, None)
    return x


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
    scale, peak = (
        ball(default if tensor is None else float(tensor[prototype]))
        for tensor, default in ((head.scale, 1.0), (head.peak, 0.0))
    )
    low, high = (
        None if abs(value) == torch.inf else _inverse(head, value, least, scale, ball)
        for value, least in zip(ends, (True, False), strict=True)
    )
    if not head.similarity.unimodal:
        return (high, low) if head.geometry.is_distance else (low, high)
    far, near = low, ball(0.0) if high is None else high
    if at >= float(peak.mid()):
        return peak + near, None if far is None else peak + far
    return None if far is None else peak - far, peak - near


def _steps(head: Head) -> tuple[Step, ...]:
    """Those after the peak."""
    return head.similarity.steps_of(head.geometry.kind)[head.similarity.unimodal :]


def stepped(step: Step, x: Enclosure, scale: Tensor | None, peak: Tensor | None) -> Enclosure:
    """A step of numbers (..., P) in x, cut to where its values lie; scale and peak (P,) are None for ones and zeros.

    Soundness: a step rises or falls throughout (`verale.checker.read.similarities`), its factors being positive. So it
    takes ends to ends, exchanged where it falls, each rounded outward. No end becomes NaN: factors are positive and
    finite, addends finite, divisors positive.
    """
    number = float(step.numbers.get("number", 0))
    match step.kind:
        case "scale":
            return x if scale is None else _times(x, scale.to(x.lower))
        case "add":
            return Enclosure.unchecked(down(x.lower + number), up(x.upper + number))
        case "multiply":
            return _times(x, number)
        case "negate":
            return Enclosure.unchecked(-x.upper, -x.lower)
        case "log_ratio":
            return _log_ratio(step, x)
        case "exp":
            return x.clamp(upper=0.0).exp().clamp(upper=1.0)
        case "root":
            return x.sqrt()
        case "square":
            x = x.clamp(lower=0.0)
            return Enclosure.unchecked(down(x.lower.square()).clamp(min=0), up(x.upper.square()))
        case "threshold":
            return Enclosure.unchecked(*(torch.where(end >= number, end, 0.0) for end in (x.lower, x.upper)))
        case "rectify":
            return x.clamp(lower=0.0)
        case "from_peak":
            return Enclosure(*_from_peak(x, _or_zero(peak, x.lower)))
        case _:  # reciprocal
            x, one = x.clamp(lower=0.0), x.lower.new_ones(())
            near, far = down(x.lower + number), up(x.upper + number)
            return Enclosure.unchecked(down(one / far).clamp(min=0), up(one / near.clamp(min=0)))


def _times(x: Enclosure, factor: Tensor | float) -> Enclosure:
    """By a positive factor."""
    return Enclosure.unchecked(down(x.lower * factor), up(x.upper * factor))


def _log_ratio(step: Step, x: Enclosure) -> Enclosure:
    """ln((x + a) / (x + b)) = ln(1 + (a - b) / (x + b)); 0 at x = infinity.

    Soundness: the argument of log1p carries three relative roundings, as a - b of two floats has no underflow; since
    |y log1p'(y) / log1p(y)| <= 1 for y > 0, they pass undiminished at most. log1p itself is within TRANSCENDENTAL_ULPS,
    each at most 2 u; the last product rounds once. All of it is below _LOG_RATIO_ERROR, and what the quotient, the
    logarithm and the product may lose to underflow below 4 UNDERFLOW, log1p being no steeper than 1. A quotient beyond
    float64 is at least the greatest float.
    """
    over, under = step.numbers["over"], float(step.numbers["under"])
    apart = x.lower.new_tensor(float(over - step.numbers["under"]))
    low, high = (apart / end.clamp(min=0).add_(under) for end in (x.upper, x.lower))
    least, most = low.clamp_(max=_LARGEST).log1p_(), high.log1p_()
    return Enclosure.unchecked(
        least.mul_(1 - _LOG_RATIO_ERROR).sub_(4 * UNDERFLOW).clamp_(min=0),
        most.mul_(1 + _LOG_RATIO_ERROR).add_(4 * UNDERFLOW),
    )


def _inverse(head: Head, value: float, least: bool, scale: Any, ball: Callable[[float], Any]) -> Any:
    """The observable, or its distance from the peak, with a similarity that is the least or the greatest allowed; None
    where it sets no bound."""
    x = ball(value)
    for step in reversed(_steps(head)):
        x = _before(step, x, least, scale, ball)
        if x is None:
            return None
        least ^= step.of.falls
    return x


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
