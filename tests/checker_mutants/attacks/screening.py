"""Attacks on coarse ranges and on what is pooled with their help."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from checker_mutants.attacks.extremes import coarse_ranges, holds, true_ends

from verale.soundness.independent import files
from verale.soundness.mutant import Import

__all__ = ["screened_ranges_contain"]


def screened_ranges_contain(module: Import, kernel: str) -> str:
    """Coarse ranges hold where little but rounding is between them and the truth, and what is pooled with their help is
    what all exact ranges give."""
    own, generator = module("kernel").load_kernel(kernel), random.Random(7)
    module("plain.quadratic.rule").TOGETHER = 3
    for trial in range(12 if kernel == "arb" else 3):
        geometry = ("euclidean", "cosine", "inner_product")[trial % 3]
        # With more bits roundings make good less of what is left out.
        module("plain.quadratic.coarse")._BITS = (26, 60)[trial % 2]
        depth, scale = generator.choice((1, 2, 16)), generator.choice((1.0, 2.0**-12))
        sign = generator.choice((0.0, -scale))
        rows = [[generator.uniform(sign, scale) for _ in range(depth)] for _ in range(9)]
        rows.append([x * 2.0**-30 for x in rows[0]])
        patches = [[x * generator.choice((1.0, 0.9)) for x in generator.choice(rows[:9])] for _ in range(6)]
        patches += [[generator.uniform(sign, scale) for _ in range(depth)] for _ in range(2)]
        parts: dict[str, Any] = {"domain": files.domain(-scale, scale)}
        if geometry != "euclidean":
            kind = files.cosine(0.0) if geometry == "cosine" else {"kind": geometry, "radius": None}
            parts |= {"geometry": kind, "similarity": files.IDENTITY}
        data = files.head([[1.0] * len(rows), [0.0] * len(rows)], rows, **parts)
        space = module("plain.space").Space(module("head_file").read_head(data), own)
        rule, groups = module("plain.quadratic").QuadraticRule(space), []
        for patch, z in enumerate(patches):
            truths = [true_ends(geometry, z, row) for row in rows]
            group = []
            for j in generator.sample(range(len(rows)), min(generator.randrange(1, 5), depth + 1)):
                width = Fraction(generator.choice((0, 1)), 2**31)
                low, high = truths[j][0] - generator.choice((0, 1)) * width, truths[j][1] + width
                group.append(module("certificate").PatchStatement(patch, j, low, high))
            if not all(holds(space, ranges, truths) for ranges in coarse_ranges(module, rule, group)):
                return "coarse"
            groups.append(group)
        each = [rule.ranges(group) for group in groups]
        pool, smallest = module("plain.pooling").pool, geometry == "euclidean"
        # A lower end may be less tight, as weights found in floats decide which patches are asked for it.
        expected = pool(each, smallest)
        for pooled in (rule.pooled(groups, None), rule.pooled(groups[1:], each[0])):
            if not _alike(pooled, expected, 1 << space.bits - 40):
                return "pooled"
    return ""


def _alike(one: Any, other: Any, slack: int) -> bool:
    ends = [*zip(one.lower, other.lower, strict=True), *zip(one.upper or [], other.upper or [], strict=True)]
    return all(abs(a - b) <= slack for a, b in ends)
