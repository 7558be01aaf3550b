"""Attacks on similarities, and on margins over boxes of activations."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import flint
from checker_mutants.mutant import Import
from checker_mutants.trials import heads, set_grid, trials
from support import arithmetic
from support.recipes import COUNT

__all__ = ["margins", "similarities"]


def margins(module: Import, kernel: str) -> str:
    """The bound of a margin is the least value over all corners of a box, or a hair less."""
    bound, box_of = module("reading.margin").lower_bound, module("reading.pooling").Box
    generator = random.Random(5)
    for trial in trials()[::3]:
        head = module("head").read_head(trial.data)
        bits = generator.randrange(1, 4)
        sides = [sorted(generator.randrange((1 << bits) + 1) for _ in range(2)) for _ in range(COUNT)]
        box = box_of([low for low, _ in sides], [high for _, high in sides], bits)
        weight, unit = head.weight.rows, Fraction(1, 1 << head.weight.bits)
        bias = [Fraction(x, 1 << head.bias.bits) for x in head.bias.rows[0]]
        for c, d in ((0, 1), (1, 2), (2, 0)):
            corners = [[Fraction(x, 1 << bits) for x in corner] for corner in product(*sides)]
            least = min(
                _logit(head, weight[c], bias, c, a, unit) - _logit(head, weight[d], bias, d, a, unit) for a in corners
            )
            margin = bound(head, box, c, d)
            shared = head.readout == "maximum" and any(x and y for x, y in zip(weight[c], weight[d], strict=True))
            if margin > least or (not shared and margin < least - 4 * unit):
                return str(head.readout)
    return ""


def _logit(head: Any, row: list[int], bias: list[Fraction], c: int, a: list[Fraction], unit: Fraction) -> Fraction:
    if head.readout == "maximum":
        return max(x + b for x, b, own in zip(a, bias, row, strict=True) if own)
    if head.readout == "linear":
        return sum((w * unit * x for w, x in zip(row, a, strict=True)), bias[c])

    def below(node: int) -> Fraction:
        if node < 0:
            return row[-1 - node] * unit
        return (1 - a[node]) * below(head.absent[node]) + a[node] * below(head.present[node])

    return below(0)


def similarities(module: Import, kernel: str) -> str:
    """Similarities of ranges on a coarse grid hold those of the ranges' own ends."""
    own = module("options").load_arithmetic(kernel)
    set_grid(module, 4, 0, 128)
    generator = random.Random(6)
    try:
        for made_head, data in heads():
            head = module("head").read_head(data)
            space = module("reading.space").Space(head, own)
            similarity = module("reading.pooling").Pooling(space)
            for _ in range(16):
                values = [generator.randrange(1 << space.bits) for _ in range(COUNT)]
                if head.geometry != "euclidean" and head.geometry != "softmax":
                    values = [value - (1 << space.bits - 1) for value in values]
                box = similarity.similarities(module("reading.space").Ranges(values, list(values)))
                for j, (value, low, high) in enumerate(zip(values, box.lower, box.upper, strict=True)):
                    m = flint.arb(value) / 2**space.bits
                    if head.geometry in ("cosine", "rooted_cosine"):
                        m = m / flint.arb(sum(x * x for x in space.vectors[j])).sqrt()
                    least, greatest = arithmetic.ends(made_head.similarity(m, j))
                    if Fraction(low, 1 << box.bits) > greatest or Fraction(high, 1 << box.bits) < least:
                        return str(head.similarity.name)
    finally:
        set_grid(module, 128, 64, 128)
    return ""
