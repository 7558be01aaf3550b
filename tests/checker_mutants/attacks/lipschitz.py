"""Attacks on what activations say of each other: every step, on grids of a few bits, against exact arithmetic."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from checker_mutants.mutant import Import
from checker_mutants.trials import heads, set_grid
from support import arithmetic
from support.exact import Head
from support.recipes import COUNT

__all__ = ["activations_bound_others"]


def activations_bound_others(module: Import, kernel: str) -> str:
    """Links, inverses, bounds of one dissimilarity by another, and the ends that follow lie outside the real ones."""
    own = module("options").load_arithmetic(kernel)
    generator = random.Random(7)
    try:
        for bits in (3, 6):
            set_grid(module, bits, 0, 128)
            for truth, data in heads():
                head = module("head").read_head(data)
                if head.geometry in ("softmax", "inner_product") or head.similarity.unimodal or head.pooling != "max":
                    continue
                space = module("reading.space").Space(head, own)
                rule = module("reading.lipschitz").Lipschitz(space)
                for wrong in (
                    _links(rule, space, truth),
                    _farthest(rule, space),
                    _steps(rule, space, generator),
                    _inverses(rule, space, truth, generator),
                    _ends(module, rule, space, truth, generator),
                ):
                    if wrong:
                        return f"{wrong}, {head.geometry} {head.similarity.name}"
    finally:
        set_grid(module, 128, 64, 128)
    return ""


def _farthest(rule: Any, space: Any) -> str:
    """No dissimilarity is taken to end before the domain does."""
    upper = space.domain.upper
    if space.head.geometry != "euclidean" or upper is None:
        return ""
    return "domain" if any(rule._most[k] < end for k, end in enumerate(upper)) else ""


def _links(rule: Any, space: Any, truth: Head) -> str:
    """Squared distances of prototypes are exact, cosines rounded down."""
    points = [[Fraction(*x.as_integer_ratio()) for x in row] for row in truth.prototypes or []]
    for i, one in enumerate(points):
        for link, other in zip(rule._links(i), points, strict=True):
            link = Fraction(int(link), 1 << space.bits)
            if space.head.geometry == "euclidean":
                if link != sum((x - y) ** 2 for x, y in zip(one, other, strict=True)):
                    return "distance"
                continue
            product, squares = (sum(x * y for x, y in zip(one, each, strict=True)) for each in (other, one))
            square = squares * sum(y * y for y in other)
            if link > 0 and not (product > 0 and link**2 * square <= product**2):
                return "cosine"
            if link < 0 and product < 0 and link != -1 and link**2 * square < product**2:
                return "cosine"
    return ""


def _steps(rule: Any, space: Any, generator: random.Random) -> str:
    """A bound of one dissimilarity from that of another, as squares say."""
    one = 1 << space.bits
    for _ in range(200):
        if space.head.geometry == "euclidean":
            y, link = (generator.randrange(one * generator.choice((1, 4))) for _ in range(2))
            near, far = rule._raised(0, y, link), rule._lowered(None, y, link)
            if near and not (y > link and y + link >= near and (y + link - near) ** 2 >= 4 * y * link):
                return "nearer"
            if far < y + link or (far - y - link) ** 2 < 4 * y * link:
                return "farther"
        else:
            y, link = (generator.randrange(-one, one + 1) for _ in range(2))
            across = (one * one - y * y) * (one * one - link * link)
            near, far = rule._raised(-one, y, link), rule._lowered(None, y, link)
            gap = y * link - near * one
            if near > -one and not (y + link > 0 and gap >= 0 and gap * gap >= across):
                return "nearer"
            if far is not None:
                gap = far * one - y * link
                if y >= link or gap < 0 or gap * gap < across:
                    return "farther"
    return ""


def _inverses(rule: Any, space: Any, truth: Head, generator: random.Random) -> str:
    """Where a similarity is said to be no less than an end it is, as balls say, and likewise no more."""
    for k in range(COUNT):
        for end in (0, *(generator.randrange(-(1 << space.bits), 4 << space.bits) for _ in range(8))):
            near, far = rule._inverse(k, end)
            value = Fraction(end, 1 << space.bits)
            if near > rule._least and _similar(space, truth, near, k)[1] < value:
                return "near"
            if far is not None and _similar(space, truth, far, k)[0] > value:
                return "far"
    return ""


def _ends(module: Import, rule: Any, space: Any, truth: Head, generator: random.Random) -> str:
    """The ends of activations are no tighter than those of the dissimilarities that they come from."""
    bits = space.bits
    domain = module("reading.pooling").Pooling(space).box({}, 1)
    for k in range(COUNT):
        value = generator.randrange(1, 2 << bits)
        box = module("reading.pooling").Box(list(domain.lower), list(domain.upper), bits)
        box.lower[k] = box.upper[k] = value
        cut = rule.cut(box, ({k}, set(), set()))
        near, far = rule._inverse(k, value)
        for j, link in enumerate(rule._links(k)):
            least, most = rule._raised(rule._least, near, link), rule._lowered(rule._most[j], far, link)
            if cut.upper[j] < box.upper[j] and Fraction(cut.upper[j], 1 << bits) < _similar(space, truth, least, j)[1]:
                return "upper end"
            if cut.lower[j] > box.lower[j] and Fraction(cut.lower[j], 1 << bits) > _similar(space, truth, most, j)[0]:
                return "lower end"
    return ""


def _similar(space: Any, truth: Head, y: int, k: int) -> tuple[Fraction, Fraction]:
    """Ends of the similarity where the dissimilarity is y."""
    m = Fraction(y if space.head.geometry == "euclidean" else -y, 1 << space.bits)
    return arithmetic.ends(truth.similarity(m, k))
