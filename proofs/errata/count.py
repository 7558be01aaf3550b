"""How often the foot of two caps leaves the arc between their centres, which is when Lemma 1 (`caps`) fails.

`python -m proofs.errata.count --pairs 10000 --seed 0` draws pairs of caps whose rims cross, and decides each exactly:
the centres, radii and points tried are rational points of the unit circle in the plane of the centres. A pair breaks
the lemma if one of six points lies in both caps and not in the cap about the foot: the centres, and the two points
where each rim meets that plane. For every pair the script checks that this happens exactly if the foot is outside.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

Point = tuple[Fraction, Fraction]
Angles = tuple[float, float, float]
ROUNDED = 2**30
"""The tangent of half an angle is rounded to a multiple of its inverse."""


class Counts(NamedTuple):
    """Pairs of caps whose rims cross; of these, those that break the lemma, and those that a centre in the other cap
    breaks."""

    crossing: int
    broken: int
    by_a_centre: int


def on_circle(angle: float) -> Point:
    """A rational point of the unit circle at about this angle in [0, pi)."""
    t = Fraction(round(math.tan(angle / 2) * ROUNDED), ROUNDED)
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


def decide(d: float, r_1: float, r_2: float) -> tuple[bool, bool, bool] | None:
    """Whether two caps break the lemma, whether a centre does, and whether the foot is outside. None if the rims do not
    cross.

    Args:
        d: the angle between the centres, radians; rounded so that its sine and cosine are rational, as r_1, r_2 are.
        r_1: the angular radius of the cap about p_1 = (1, 0).
        r_2: that of the cap about p_2 = (cos d, sin d).
    """
    (c, s), (k_1, h_1), (k_2, h_2) = on_circle(d), on_circle(r_1), on_circle(r_2)
    if s == 0:
        return None
    t = (k_2 - c * k_1) / s  # the foot is (k_1, t) = a p_1 + b p_2
    square = k_1 * k_1 + t * t
    if not 0 < square < 1:
        return None
    a, b = k_1 - c * t / s, t / s
    rim_1 = [(k_1, h_1), (k_1, -h_1)]
    rim_2 = [(c * k_2 + s * h_2, s * k_2 - c * h_2), (c * k_2 - s * h_2, s * k_2 + c * h_2)]
    centres = [(Fraction(1), Fraction(0)), (c, s)]

    def breaks(point: Point) -> bool:
        x, y = point
        return x >= k_1 and c * x + s * y >= k_2 and x * k_1 + y * t < square

    centre = any(map(breaks, centres))
    return centre or any(map(breaks, rim_1 + rim_2)), centre, a < 0 or b < 0


def count(draw: Callable[[], Angles], pairs: int) -> Counts:
    """Decide pairs of caps.

    Raises:
        ArithmeticError: a pair breaks the lemma with its foot between the centres, or does not with its foot outside.
    """
    crossing = broken = by_a_centre = 0
    for _ in range(pairs):
        angles = draw()
        decided = decide(*angles)
        if decided is None:
            continue
        breaks, centre, outside = decided
        if breaks != outside:
            raise ArithmeticError(f"caps {angles}: broken {breaks}, the foot outside {outside}")
        crossing += 1
        broken += breaks
        by_a_centre += centre
    return Counts(crossing, broken, by_a_centre)


def draws(generator: random.Random, dimension: int) -> dict[str, Callable[[], Angles]]:
    """Ways to draw (d, r_1, r_2), with centres uniform on the sphere in a space of that dimension, at least 3."""

    def cosine(rest: int) -> float:
        """A coordinate of a uniform point on the sphere in a space of that dimension."""
        return 2 * generator.betavariate((rest - 1) / 2, (rest - 1) / 2) - 1

    def radii(most: float) -> Callable[[], Angles]:
        return lambda: (math.acos(cosine(dimension)), generator.uniform(0, most), generator.uniform(0, most))

    def latent() -> Angles:
        c, x, y = cosine(dimension), cosine(dimension), cosine(dimension - 1)
        other = c * x + math.sqrt((1 - c * c) * (1 - x * x)) * y
        return math.acos(c), math.acos(x), math.acos(max(-1.0, min(1.0, other)))

    return {
        "radii below 90 degrees": radii(math.pi / 2),
        "radii below 180 degrees": radii(math.pi),
        "rims through a random z": latent,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="How often two caps break the lemma.")
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for dimension in (3, 128):
        generator = random.Random(arguments.seed)
        for name, draw in draws(generator, dimension).items():
            counts = count(draw, arguments.pairs)
            print(
                f"dimension {dimension:3}, {name:24} {counts.crossing:6} pairs with crossing rims, "
                f"{counts.broken:6} break the lemma, {counts.by_a_centre:6} of them at a centre"
            )


if __name__ == "__main__":
    main()
