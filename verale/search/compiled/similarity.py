"""Similarities of dissimilarities in float64, for the search. `verale.bounds.similarity` has the enclosures."""

from __future__ import annotations

import math

from verale.search.compiled.arrays import overwrite
from verale.search.compiled.formula import (
    ADD,
    CHOOSE,
    DIVIDE,
    EXP,
    EXPM1,
    GREATER,
    GREATEST,
    LEAST,
    LOG,
    LOG1P,
    MAGNITUDE,
    MULTIPLY,
    OBSERVED,
    PEAK,
    POWER,
    SCALE,
    SQRT,
    SUBTRACT,
    Formula,
)
from verale.search.compiled.image import Floats, ImageArrays
from verale.search.compiled.parts import part

__all__ = ["orient", "similarity"]

_FAR = 1e300
"""Stands for an infinite dissimilarity, of which a formula may be no number."""


@part
def similarity(formula: Formula, scale: float, peak: float, dissimilarity: float) -> float:
    """S of a dissimilarity of one prototype."""
    if formula.epsilon > 0.0:
        return math.log1p((1 - formula.epsilon) / (max(dissimilarity, 0.0) * scale + formula.epsilon))
    return _followed(formula, scale, peak, dissimilarity)


@part
def _followed(formula: Formula, scale: float, peak: float, dissimilarity: float) -> float:
    """The same, step by step."""
    values, steps = formula.values, formula.steps
    far = min(dissimilarity, _FAR)
    observed = -far
    if formula.peaked:
        observed = peak + max(far, 0.0)
    elif formula.of_distance:
        observed = max(far, 0.0)
    values[OBSERVED], values[SCALE], values[PEAK] = observed, scale, peak
    where, result = len(values) - len(steps), observed
    for step in range(len(steps)):
        operation, x, y = steps[step, 0], values[steps[step, 1]], values[steps[step, 2]]
        if operation == ADD:
            result = x + y
        elif operation == SUBTRACT:
            result = x - y
        elif operation == MULTIPLY:
            result = x * y
        elif operation == DIVIDE:
            result = x / y
        elif operation == EXP:
            result = math.exp(x)
        elif operation == LOG:
            result = math.log(x)
        elif operation == SQRT:
            result = math.sqrt(x)
        elif operation == GREATEST:
            result = max(x, y)
        elif operation == LEAST:
            result = min(x, y)
        elif operation == LOG1P:
            result = math.log1p(x)
        elif operation == EXPM1:
            result = math.expm1(x)
        elif operation == POWER:
            result = x**y
        elif operation == MAGNITUDE:
            result = abs(x)
        elif operation == GREATER:
            result = 1.0 if x > y else 0.0
        elif operation == CHOOSE:
            result = y if x != 0.0 else values[steps[step, 3]]
        else:
            result = math.tanh(x)
        values[where + step] = result
    return result


@part
def orient(image: ImageArrays, patch: int, lower: Floats, upper: Floats, near: Floats, far: Floats) -> None:
    """The least and the greatest dissimilarities (P,) of a patch whose observables lie in [lower, upper]."""
    hidden, peak = image.hidden[patch], image.peak
    if image.formula.peaked:
        for k in range(len(near)):
            above, below = lower[k] - peak[k], peak[k] - upper[k]
            near[k] = max(max(above, below), 0.0)
            far[k] = max(upper[k] - peak[k], peak[k] - lower[k])
    elif image.distance:
        overwrite(near, lower)
        overwrite(far, upper)
    else:
        for k in range(len(near)):
            near[k], far[k] = -upper[k], -lower[k]
    for k in range(len(near)):
        if hidden[k]:
            near[k] = far[k] = math.inf
