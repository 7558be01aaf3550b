"""An adversary that computes a network in binary32: sums in random orders and trees, with fused products and without,
partial sums kept in more precision, numbers below 2^-126 flushed, functions off by some units in the last place.

Nothing is shared with the checker.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy
from support.network_truth import Drawn, Numbers, Place, Shape, given_of

F32 = numpy.float32
_TINY = 2.0**-126
_ULPS = 8
_NORM = ("mean", "var", "gamma", "beta")


def near(value: float | Fraction) -> float:
    """The nearest binary32 number, as a Python float."""
    return float(F32(float(value)))


class Adversary:
    """One way to compute a network."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)
        self._fused = self._source.random() < 0.5
        self._wide = self._source.random() < 0.3
        self._flushes = self._source.random() < 0.3
        self._reciprocal = self._source.random() < 0.5
        self._ulps = self._source.choice([0, 1, _ULPS])
        self._shape = self._source.choice(["order", "tree", "blocks"])
        functions = {kind: partial(self._function, kind) for kind in ("sigmoid", "tanh")}
        self._numbers = Numbers(near, max, functions, lambda a, b: self.rounded(a * b), self.sum, self._mean)

    def given(
        self, network: Drawn, picture: Sequence[int], norms: dict[str, dict[str, list[float]]] | None = None
    ) -> dict[str, tuple[Shape, dict[Place, float]]]:
        """What every layer gives; of a layer with a batch normalisation, that of `norms`, which has binary32 numbers:
        `weight` and `bias` of the convolution replace those of the file."""
        places = list(product(*map(range, network.shape)))
        start = {
            at: self._pixel(v, network.mean[at[0]], network.std[at[0]]) for at, v in zip(places, picture, strict=True)
        }
        tensors = dict(network.tensors)
        for name, norm in (norms or {}).items():
            tensors |= {f"{name}.weight": norm["weight"], f"{name}.bias": norm.get("bias", [0.0] * len(norm["mean"]))}

        def then(name: str, at: Place, value: float) -> float:
            norm = (norms or {}).get(name)
            return value if norm is None else self._normed(value, *(norm[n][at[0]] for n in _NORM))

        return given_of(replace(network, tensors=tensors), start, self._numbers, then)

    def rounded(self, value: float) -> float:
        """A result, rounded, perhaps flushed."""
        found = near(value)
        if self._flushes and abs(found) < _TINY:
            return 0.0
        if not math.isfinite(found):
            raise OverflowError
        return found

    def _pixel(self, value: int, mean: float, std: float) -> float:
        x = near(value * near(1 / 255)) if self._reciprocal else near(value / 255)
        x = self.rounded(x - near(mean))
        return self.rounded(x * near(1 / near(std))) if self._reciprocal else self.rounded(x / near(std))

    def sum(self, pairs: list[tuple[float, float]], start: list[float]) -> float:
        """The sum of products and of numbers, somehow."""
        self._source.shuffle(pairs)
        if self._wide:  # binary64 throughout, rounded at the end
            return self.rounded(math.fsum([a * b for a, b in pairs] + start))
        if self._fused and self._shape == "order":
            total = start[0] if start else 0.0
            for a, b in pairs:
                total = self.rounded(a * b + total)  # the product is exact in binary64
            for other in start[1:]:
                total = self.rounded(total + other)
            return total
        terms = [self.rounded(a * b) for a, b in pairs] + start
        self._source.shuffle(terms)
        while len(terms) > 1:
            match self._shape:
                case "order":
                    terms[:2] = [self.rounded(terms[0] + terms[1])]
                case "tree":
                    step = [terms[i : i + 2] for i in range(0, len(terms), 2)]
                    terms = [each[0] if len(each) == 1 else self.rounded(each[0] + each[1]) for each in step]
                case _:
                    first, second = (terms.pop(self._source.randrange(len(terms))) for _ in range(2))
                    terms.append(self.rounded(first + second))
        return terms[0] if terms else 0.0

    def _function(self, kind: str, x: float) -> float:
        y = 1 / (1 + math.exp(-x)) if x > -700 else 0.0
        if kind == "tanh":
            y = math.tanh(x)
        found = near(y)
        for _ in range(self._ulps and self._source.randrange(self._ulps)):
            found = float(numpy.nextafter(F32(found), F32(self._source.choice([-2, 2]))))
        return min(1.0, max(0.0 if kind == "sigmoid" else -1.0, found))

    def _mean(self, terms: list[float], count: int) -> float:
        total = self.sum([], terms)
        return self.rounded(total * near(1 / count) if self._reciprocal else total / count)

    def _normed(self, t: float, mean: float, var: float, gamma: float, beta: float) -> float:
        root = near(math.sqrt(near(var + near(1e-5))))
        for _ in range(self._ulps and self._source.randrange(3)):
            root = float(numpy.nextafter(F32(root), F32(self._source.choice([0, 2 * root]))))
        s = self.rounded(gamma * near(1 / root)) if self._reciprocal else self.rounded(gamma / root)
        if self._shape == "order":
            return self.rounded(self.rounded(self.rounded(t - mean) * s) + beta)
        return self.rounded(self.rounded(t * s) + self.rounded(beta - self.rounded(mean * s)))


def folded(norm: dict[str, Any]) -> tuple[Any, list[float], list[float]]:
    """Weight, bias and magnitude in binary64 of a convolution with a batch normalisation."""
    scale = [g / math.sqrt(v + 1e-5) for g, v in zip(norm["gamma"], norm["var"], strict=True)]
    weight = [_times(row, s) for row, s in zip(norm["weight"], scale, strict=True)]
    own = norm.get("bias") or [0.0] * len(scale)
    each = list(zip(scale, own, norm["mean"], norm["beta"], strict=True))
    bias = [s * (b - m) + beta for s, b, m, beta in each]
    return weight, bias, [(abs(s) * (abs(b) + abs(m)) + abs(beta)) * (1 + 2.0**-45) for s, b, m, beta in each]


def _times(values: Any, s: float) -> Any:
    return [_times(value, s) for value in values] if isinstance(values, list) else values * s
