"""Properties that some injected faults break only at extremes: arguments next to the grid, latents at the ends of
stated intervals, poor weights.

Each function returns what is wrong, "" for nothing. Latents are rational numbers here, as fine as needed: a rule holds
for all real ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Any

import flint
from checker_mutants.mutant import Import
from checker_mutants.trials import set_weight_places
from support import arithmetic, files
from support.arithmetic import Interval, Matrix
from support.rationals import cosine_ends, root

_FINE = 1 << 400


def next_to_the_grid(module: Import, kernel: str) -> str:
    """Series whose first terms lie on the grid, so that the terms left out decide.

    Of the logarithm of (2^k + 1) / (2^k - 1) the first term lies on the grid and the others far below. Of the
    exponential of -1/4, with two bits and no guard bits, the first terms lie on the grid.
    """
    implementation = module({"arb": "arb", "mpmath": "series"}[kernel])
    own = module("options").load_arithmetic(kernel)
    for k, bits in product((20, 30, 40), range(30, 48)):
        n, d = (1 << k) + 1, (1 << k) - 1
        for numerator, denominator in ((n, d), (d, n)):
            truth = flint.arb(flint.fmpq(numerator, denominator)).log()
            if _outside(truth, own.log(numerator, denominator, bits), bits):
                return "log"
    implementation.GUARD_BITS = 0
    for mantissa, bits in product((-1, 1), (2, 3, 4)):
        if _outside((flint.arb(mantissa) / 4).exp(), own.exp(mantissa, -2, bits), bits):
            return "exp"
    implementation.GUARD_BITS = 32
    return ""


def _outside(truth: Any, ends: tuple[int, int], bits: int) -> bool:
    low, high = (flint.arb(int(end)) / 2**bits for end in ends)
    return bool(truth < low or truth > high)


def attained(module: Import, kernel: str) -> str:
    """One statement: latents on the line through its prototype and the target attain both ends of the target's."""
    own, generator = module("options").load_arithmetic(kernel), random.Random(8)
    for trial in range(20):
        # With few bits of the weights nothing but the rule's own rounding is between the truth and the end.
        set_weight_places(module, (256, 8)[trial % 2])
        cosine = trial % 4 > 1
        rows = [[float(generator.randrange(-9, 10)), float(generator.randrange(1, 10))] for _ in range(2)]
        cases = _on_circle(rows, generator) if cosine else _on_line(rows, generator)
        space = _space(module, own, "cosine" if cosine else "euclidean", rows, 64.0)
        for stated, observables in cases:
            statement = module("certificate").PatchStatement(0, 0, *stated)
            rule = module("reading.quadratic").QuadraticRule(space)
            if not holds(space, rule.ranges([statement]), observables):
                return "quadratic"
    set_weight_places(module, 256)
    return ""


def _on_line(rows: Matrix, generator: random.Random) -> Iterator[tuple[Interval, list[Interval]]]:
    """The interval stated of prototype 0, and the observables of latents on the line from it to prototype 1."""
    end = Fraction(generator.randrange(1, 1 << 9), 1 << generator.choice((4, 9)))
    apart = arithmetic.squared_distance(rows[1], rows[0])
    for way in (1, -1):
        share = Fraction(isqrt(int(end / (apart or 1) * _FINE**2)), _FINE)
        distances = [share * share * apart, (1 - way * share) ** 2 * apart]
        yield (end - Fraction(1, 2**390), end), [(d, d) for d in distances]


def _on_circle(rows: Matrix, generator: random.Random) -> Iterator[tuple[Interval, list[Interval]]]:
    """The same of cosines: latents in the plane of both prototypes."""
    m = Fraction(generator.choice((1, -1)) * generator.randrange(8), 8)
    (x, y), side = map(Fraction, rows[0]), Fraction(isqrt(int((1 - m * m) * _FINE**2)), _FINE)
    for way in (1, -1):
        z: Any = [m * x - way * side * y, m * y + way * side * x]
        observables = [cosine_ends(z, row, 0.0) for row in rows]
        yield (min(m, observables[0][0]), max(m, observables[0][1])), observables


def _space(module: Import, own: Any, geometry: str, rows: Matrix, edge: float) -> Any:
    parts: dict[str, Any] = {"domain": files.domain(-edge, edge + 1.0)}
    if geometry != "euclidean":
        kind = files.cosine(0.0) if geometry == "cosine" else {"kind": geometry, "radius": None}
        parts |= {"geometry": kind, "similarity": files.IDENTITY}
    data = files.head([[1.0] * len(rows), [0.0] * len(rows)], rows, **parts)
    return module("reading.space").Space(module("head").read_head(data), own)


def poor_weights(module: Import, kernel: str) -> str:
    """The rules hold for any weights, and any ball's frame, also for such as are far from the best."""
    own, generator = module("options").load_arithmetic(kernel), random.Random(30)
    dual = module("reading.weights")
    good, framed = dual.Weights.best, dual.Weights.frame

    def off(weights: Sequence[int]) -> list[int]:
        return [generator.choice((-1, 2, 3, 4, 4, 4, 6)) * weight >> 2 for weight in weights]

    def poor(self: Any, target: Any) -> Any:
        weights = off(good(self, target))
        return [weights[0] + generator.choice((0, 0, 3 << self.precision.places)), *weights[1:]]

    def poor_frame(self: Any) -> Any:
        frame = framed(self)
        return replace(frame, foot=off(frame.foot), basis=list(map(off, frame.basis)))

    dual.Weights.best, dual.Weights.frame = poor, poor_frame
    try:
        for trial in range(90):
            geometry = ("euclidean", "cosine", "inner_product")[trial % 3]
            wrong = _with_poor(module, own, generator, geometry)
            if wrong:
                return f"{wrong}, {geometry} at {trial}"
    finally:
        dual.Weights.best, dual.Weights.frame = good, framed
    return ""


def _with_poor(module: Import, own: Any, generator: random.Random, geometry: str) -> str:
    depth, far = generator.choice((1, 2, 3)), generator.choice((1, 64))
    rows = [[generator.uniform(-1.0, 1.0) for _ in range(depth)] for _ in range(4)]
    # The longest target, and what is farthest from it; latents in its direction attain what is between.
    rows += [[1.0] * depth, [-1.0] * depth]
    z = [far * generator.uniform(-1.0, 1.0) for _ in range(depth)]
    near = [x / 8.0 - 1.0 for x in rows[0]]
    z = generator.choice((z, near, [1.0 * far] * depth))
    space = _space(module, own, geometry, rows, 2.0 * far)
    truths = [true_ends(geometry, z, row) for row in rows]
    group = []
    for j in generator.sample(range(len(rows)), generator.randrange(1, depth + 2)):
        width, other = (Fraction(generator.choice((0.0, 0.0, 2.0**-31, 0.25))) for _ in range(2))
        group.append(module("certificate").PatchStatement(0, j, truths[j][0] - width, truths[j][1] + other))
    rule = module("reading.quadratic").QuadraticRule(space)
    if not holds(space, rule.ranges(group), truths) or not holds(space, rule.pooled({0: group}, 1, True), truths):
        return "quadratic"
    shares = {j: generator.randrange(-4, 5) for j in generator.sample(range(len(rows)), 2)}
    for known in (group, [replace(s, upper=None) for s in group]):
        if not holds(space, rule.ranges(known), truths):
            return "without upper ends"
        if not _holds_combined(space, combined(rule, known, shares), truths, shares):
            return "combination"
    return ""


def combined(rule: Any, statements: Sequence[Any], shares: Mapping[int, int]) -> Interval:
    """The range of a combination."""
    return rule.combination(statements, shares), -rule.combination(
        statements, {k: -share for k, share in shares.items()}
    )


def true_ends(geometry: str, z: Sequence[float], row: Sequence[float]) -> Interval:
    """An enclosure of an observable of one patch."""
    if geometry == "cosine":
        return cosine_ends(list(z), list(row), 0.0)
    value = (arithmetic.squared_distance if geometry == "euclidean" else arithmetic.product)(list(z), list(row))
    return value, value


def _holds_combined(space: Any, ends: Interval, truths: list[Interval], shares: dict[int, int]) -> bool:
    """Whether the range of a combination of working observables holds the true one."""
    low = high = Fraction(0)
    for j, share in shares.items():
        scales = root(Fraction(int(space.squares[j]))) if space.head.geometry == "cosine" else (1,)
        each = [share * end * scale for end in truths[j] for scale in scales]
        low, high = low + min(each), high + max(each)
    return ends[0] <= high and low <= ends[1]


def holds(space: Any, ranges: Any, observables: list[Interval]) -> bool:
    """Whether the working observables lie in their ranges."""
    lower = [Fraction(int(low), 1 << space.bits) for low in ranges.lower]
    upper = None if ranges.upper is None else [Fraction(int(high), 1 << space.bits) for high in ranges.upper]
    for j, (least, greatest) in enumerate(observables):
        if space.head.geometry in ("cosine", "rooted_cosine"):
            square = sum(entry * entry for entry in space.vectors[j])
            near, far = (Fraction(isqrt(square << 400) + up, 1 << 200) for up in (0, 1))
            least, greatest = min(least * near, least * far), max(greatest * near, greatest * far)
        if lower[j] > greatest or (upper is not None and upper[j] < least):
            return False
    return True
