"""An adversary that computes a network in binary32: sums in random orders and trees, with fused products and without,
partial sums kept in more precision, numbers below 2^-126 flushed, functions off by some units in the last place.

Nothing is shared with the checker.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy
from support import files
from support.network_truth import Drawn, Place, Shape

__all__ = ["Adversary", "folded", "near"]

F32 = numpy.float32
_TINY = 2.0**-126
_ULPS = 8


def near(value: float) -> float:
    """The nearest binary32 number, as a Python float."""
    return float(F32(value))


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

    def given(
        self, network: Drawn, picture: Sequence[int], norms: dict[str, dict[str, list[float]]] | None = None
    ) -> dict[str, tuple[Shape, dict[Place, float]]]:
        """What every layer gives; of a layer with a batch normalisation, that of `norms`, which has binary32 numbers:
        `weight` and `bias` of the convolution replace those of the file."""
        places = list(product(*map(range, network.shape)))
        start = {
            at: self._pixel(v, network.mean[at[0]], network.std[at[0]]) for at, v in zip(places, picture, strict=True)
        }
        known: dict[str, tuple[Shape, dict[Place, float]]] = {"picture": (network.shape, start)}
        for layer in network.layers:
            read = [known[name] for name in layer["inputs"]]
            known[layer["name"]] = self._layer(layer, read, network.tensors, (norms or {}).get(layer["name"]))
        return known

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

    def _layer(
        self,
        layer: dict[str, Any],
        read: list[tuple[Shape, dict[Place, float]]],
        tensors: dict[str, Any],
        norm: dict[str, list[float]] | None,
    ) -> tuple[Shape, dict[Place, float]]:
        (shape, x), kind, name = read[0], layer["kind"], layer["name"]
        if kind in ("conv2d", "linear"):
            weight = norm["weight"] if norm else tensors[f"{name}.weight"]
            bias = (norm or {}).get("bias") or (None if norm else tensors.get(f"{name}.bias"))
            return self._sums(layer, shape, x, weight, bias, norm)
        if kind in ("max_pool2d", "avg_pool2d"):
            kernel, stride, padding = layer["kernel"], layer["stride"], layer["padding"]
            sizes = [(shape[1 + i] + 2 * padding[i] - kernel[i]) // stride[i] + 1 for i in (0, 1)]
            out = {}
            for c, y, z in product(range(shape[0]), range(sizes[0]), range(sizes[1])):
                at = [
                    (c, y * stride[0] + a - padding[0], z * stride[1] + b - padding[1])
                    for a, b in product(*map(range, kernel))
                ]
                seen = [x[place] for place in at if place in x]
                if kind == "max_pool2d":
                    out[c, y, z] = max(seen)
                else:
                    total = self.sum([], seen)
                    count = prod(kernel)
                    out[c, y, z] = self.rounded(total * near(1 / count) if self._reciprocal else total / count)
            return (shape[0], *sizes), out
        if kind == "add":
            return shape, {at: self.sum([], [other[at] for _, other in read]) for at in x}
        if kind == "concat":
            out, start = {}, 0
            for part, values in read:
                out |= {(start + at[0], *at[1:]): value for at, value in values.items()}
                start += part[0]
            return (start, *shape[1:]), out
        if kind == "flatten":
            return (prod(shape),), {((c * shape[1] + y) * shape[2] + z,): x[c, y, z] for c, y, z in x}
        if kind == "upsample_nearest":
            down, along = layer["scale"]
            larger = (shape[0], shape[1] * down, shape[2] * along)
            return larger, {(c, y, z): x[c, y // down, z // along] for c, y, z in product(*map(range, larger))}
        if kind in ("sigmoid", "tanh"):
            return shape, {at: self._function(kind, value) for at, value in x.items()}
        if kind == "clamp":
            low, high = (near(float.fromhex(layer[end])) for end in ("lower", "upper"))
            return shape, {at: min(high, max(low, value)) for at, value in x.items()}
        slope = near(float.fromhex(layer["slope"])) if kind == "leaky_relu" else 0.0
        return shape, {at: value if value >= 0 else self.rounded(slope * value) for at, value in x.items()}

    def _sums(
        self,
        layer: dict[str, Any],
        shape: Shape,
        x: dict[Place, float],
        weight: Any,
        bias: list[float] | None,
        norm: dict[str, list[float]] | None,
    ) -> tuple[Shape, dict[Place, float]]:
        outputs = len(weight)
        if layer["kind"] == "linear":
            terms = {(o,): [(near(w), x[i,]) for i, w in enumerate(row)] for o, row in enumerate(weight)}
            found: Shape = (outputs,)
        else:
            kernel, groups = files.shape(weight)[2:], layer["groups"]
            stride, padding, spread = layer["stride"], layer["padding"], layer["dilation"]
            sizes = [(shape[1 + i] + 2 * padding[i] - spread[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in (0, 1)]
            own = shape[0] // groups
            terms = {}
            for o, y, z in product(range(outputs), range(sizes[0]), range(sizes[1])):
                first = o * groups // outputs * own
                pairs = []
                for c, a, b in product(range(own), range(kernel[0]), range(kernel[1])):
                    at = (
                        first + c,
                        y * stride[0] + a * spread[0] - padding[0],
                        z * stride[1] + b * spread[1] - padding[1],
                    )
                    if at in x or self._source.random() < 0.5:
                        pairs.append((near(weight[o][c][a][b]), x.get(at, 0.0)))
                terms[o, y, z] = pairs
            found = (outputs, *sizes)
        out = {}
        for at, pairs in terms.items():
            start = [] if bias is None else [near(bias[at[0]])]
            value = self.sum(pairs, start)
            out[at] = (
                value
                if norm is None
                else self._normed(value, *(norm[n][at[0]] for n in ("mean", "var", "gamma", "beta")))
            )
        return found, out

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
