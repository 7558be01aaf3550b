"""Repair: from latents that comply within rounding to floats that comply exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import flint
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from verale.bounds import Interval
from verale.counterexample.demands import PRECISION, TOGETHER, Clock, Demands, into_domain, observables_and_slopes
from verale.head import Cosine, Head, InnerProduct

_Vector = NDArray[np.float64]

_ROUNDS = 6
_ATTEMPTS = 8
_NARROW = 2.0**-70
"""The width to aim for, relative to its size, of an interval without width."""

_FINE = (None, 2.0**-12, 2.0**-24, 2.0**-36)
"""The sizes tried for coordinates whose last bits are needed; None leaves the coordinates as they are."""


def repair(demands: Demands, image: Tensor, generator: np.random.Generator) -> Tensor | None:
    """Latents (L, D) float64 near those given that certainly meet every demand, by ball arithmetic; None if the repair
    fails.

    It works patch by patch. The observables are known exactly, and what they lack to the middles of their intervals is
    spread over the coordinates in turn: each takes its share of the shortest step that corrects all, rounded to a
    multiple of its own last bit, and later coordinates make up for the rounding. Coordinates whose last bit moves the
    observables least come last. If this does not end inside all intervals, it tries again after making as many
    coordinates small as there are statements, because small coordinates have smaller last bits.
    """
    rows = []
    with flint.ctx.workprec(PRECISION):
        for patch, asked in enumerate(demands.exact):
            demands.clock.check()
            row = image[patch]
            if asked and not bool(demands.pinned[patch]):
                repaired = _repaired_patch(demands, asked, row, generator)
                if repaired is None:
                    return None
                row = repaired
            rows.append(row)
    return torch.stack(rows)


def _repaired_patch(
    demands: Demands, asked: dict[int, Interval], row: Tensor, generator: np.random.Generator
) -> Tensor | None:
    head, exact = demands.head, _ExactObservables(demands.head, asked, demands.clock)
    nearest = row.to(torch.float32).to(torch.float64)  # often float32: tight statements may hold of it alone
    for start in (row, nearest):
        if exact.holds(start.numpy()):
            return start
    lower, upper = head.domain.ends
    for fine in _FINE:
        # Small numbers have to lie in the domain, and logits would lose their meaning.
        if fine is not None and not (head.prototypes is not None and lower <= 0 < upper):
            break
        for attempt in range(_ATTEMPTS):
            z = row.numpy().copy()
            if fine is not None:
                # Coordinates that change little if they are made small, other ones at each attempt; then the others
                # comply within rounding.
                count = min(len(z), len(asked) + 1 + attempt // 2)
                chosen = np.argsort(np.abs(z) * (1 + attempt * generator.random(len(z))))[:count]
                z[chosen] = fine * (1 + generator.random(len(chosen)))
                free = np.ones(len(z))
                free[chosen] = 0.0
                for _ in range(20):
                    demands.clock.check()
                    lacking, slope = exact.lacking(z), exact.slope(z) * free
                    step = np.linalg.lstsq(slope, lacking, rcond=1e-12)[0]
                    z = np.where(free > 0, into_domain(head, torch.from_numpy(z + step)).numpy(), z)
            for _ in range(_ROUNDS):
                z = exact.corrected(z, generator if attempt else None)
                if exact.holds(z):
                    return torch.from_numpy(z)
    return None


class _ExactObservables:
    """The observables of one patch that have an interval, as balls.

    Args:
        asked: the intervals by prototype.
        clock: is asked before each long step.
    """

    def __init__(self, head: Head, asked: dict[int, Interval], clock: Clock) -> None:
        self.head, self.clock = head, clock
        self._indices, self._ends = list(asked), list(asked.values())
        self._both = np.array([None not in ends for ends in self._ends])
        widths = []  # not less than a small minimum; of a single end, how far to stay away from it
        for low, high in self._ends:
            size = max(abs(float(end.mid())) for end in (low, high) if end is not None)
            if low is None or high is None:
                widths.append(2.0**-40 * max(size, 2.0**-20))
            else:
                widths.append(max(float((high - low).mid()), _NARROW * size, 2.0**-400))
        self._widths = np.array(widths)
        self._index = torch.tensor([self._indices])
        points = None if head.prototypes is None else head.prototypes[self._indices].tolist()
        self._rows = None if points is None else [list(map(flint.arb, row)) for row in points]
        self._squares = [sum((x * x for x in row), flint.arb(0)) for row in self._rows or ()]

    def holds(self, z: _Vector) -> bool:
        """Whether all observables certainly lie in their intervals, and the latent in the domain."""
        lower, upper = self.head.domain.ends
        if z.min() < lower or z.max() > upper:
            return False
        return all(
            (low is None or bool(low <= value)) and (high is None or bool(value <= high))
            for value, (low, high) in zip(self._values(z), self._ends, strict=True)
        )

    def lacking(self, z: _Vector, aim: _Vector | None = None) -> _Vector:
        """What each observable lacks to its goal: the share `aim` (0 to 1) of its interval, by default the middle.

        It is 0 where the interval has a single end, and the observable satisfies it.
        """
        missing = np.zeros(len(self._ends))
        for index, (value, (low, high)) in enumerate(zip(self._values(z), self._ends, strict=True)):
            inward = flint.arb(self._widths[index])
            if low is not None and high is not None:
                goal = low + (high - low) * (0.5 if aim is None else float(aim[index]))
            elif low is not None and not low <= value:
                goal = low + inward
            elif high is not None and not value <= high:
                goal = high - inward
            else:
                continue
            missing[index] = float((goal - value).mid())
        return missing

    def slope(self, z: _Vector) -> _Vector:
        """(K, D) gradients of the observables."""
        observed, slopes = observables_and_slopes(self.head, torch.from_numpy(z)[None], self._index)
        if self._rows is None:
            slopes = slopes * observed[:, :, None]
        return np.asarray(slopes[0].numpy())

    def corrected(self, z: _Vector, generator: np.random.Generator | None) -> _Vector:
        """z moved by multiples of its coordinates' last bits towards all intervals; see `repair`."""
        aim = None if generator is None else 0.5 + (generator.random(len(self._ends)) - 0.5) * 0.6
        lacking = self.lacking(z, aim)
        used = self._both | (lacking != 0)
        if not used.any():
            return z
        lacking, slope = (lacking / self._widths)[used], (self.slope(z) / self._widths[:, None])[used]
        effect = np.linalg.norm(slope, axis=0) * np.spacing(np.abs(z))
        if generator is not None:
            effect = effect * np.exp(generator.normal(0, 0.5, len(z)))
        order = np.argsort(-effect, kind="stable")
        columns = slope[:, order].T
        together = _grams(columns)
        moved = z.copy()
        lower, upper = self.head.domain.ends
        for index, coordinate in enumerate(order):
            self.clock.check()
            gram, share = together(index), 0.0
            if scale := float(np.trace(gram)):
                share = columns[index] @ np.linalg.solve(gram + 1e-13 * scale * np.eye(len(gram)), lacking)
            target = min(max(z[coordinate] + share, lower), upper)  # rounded to a multiple of its last bit
            moved[coordinate] = target
            lacking = lacking - columns[index] * (target - z[coordinate])
        return moved

    def _values(self, z: _Vector) -> list[Any]:
        """The observables."""
        own = list(map(flint.arb, z.tolist()))
        if self._rows is None:
            masses = [x.exp() for x in own]
            whole = sum(masses, flint.arb(0))
            return [masses[j] / whole for j in self._indices]
        if self.head.geometry.is_distance:
            return [sum(((a - b) ** 2 for a, b in zip(own, row, strict=True)), flint.arb(0)) for row in self._rows]
        products = [sum((a * b for a, b in zip(own, row, strict=True)), flint.arb(0)) for row in self._rows]
        if isinstance(self.head.geometry, InnerProduct):
            return products
        geometry = cast(Cosine, self.head.geometry)
        square, epsilon = sum((x * x for x in own), flint.arb(0)), flint.arb(geometry.epsilon)
        length = (square + epsilon).sqrt() if geometry.rooted else square.sqrt() + epsilon
        return [product / (length * other.sqrt()) for product, other in zip(products, self._squares, strict=True)]


def _grams(columns: _Vector) -> Callable[[int], _Vector]:
    """What a coordinate and all later ones can do together: the Gram matrix of their columns (D, K), by coordinate."""
    if columns.size * columns.shape[1] > TOGETHER:
        return lambda index: np.asarray(columns[index:].T @ columns[index:])
    grams = np.cumsum((columns[:, :, None] * columns[:, None, :])[::-1], axis=0)[::-1]
    return lambda index: np.asarray(grams[index])
