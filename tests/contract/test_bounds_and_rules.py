"""The ranges of the search are nowhere narrower than those of the checker: so what the search proves, the checker
proves too. docs/design.md says which bound mirrors which rule.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from support.small import metric_head
from torch import Tensor

from verale.bounds import Hypersphere, Projection, Simplex, SpatialParadigm, Triangle, observe
from verale.checker.certificate import PatchStatement
from verale.checker.head import read_head
from verale.checker.options import load_arithmetic
from verale.checker.reading.masses import Simplex as SimplexRule
from verale.checker.reading.quadratic import QuadraticRule
from verale.checker.reading.space import Space
from verale.head import Box, Cosine, Euclidean, Geometry, Head, Identity, InnerProduct, Softmax
from verale.rounding import Enclosure
from verale.search.digits import LEAST_TOLERANCE

RULES = {
    Projection: QuadraticRule,
    Triangle: QuadraticRule,
    Hypersphere: QuadraticRule,
    Simplex: SimplexRule,
}
METRIC = (Euclidean(), Cosine(1e-8), Cosine(1e-4, rooted=True), InnerProduct())
CASES = [
    *((paradigm, geometry) for paradigm in (Triangle, Hypersphere) for geometry in METRIC[:2]),
    *((Projection, geometry) for geometry in METRIC),
    (Simplex, Softmax()),
]
EXACT = [case for case in CASES if case[0] in (Projection, Simplex)]
"""The paradigms that give the exact ranges; these alone claim that a statement is needed."""

DEPTHS = (1, 2, 3, 20)
WIDTHS = (0.0, LEAST_TOLERANCE * max(DEPTHS), 1e-6, 0.01, 0.1, 0.5, 2.0)
"""The second is more than 2^-32 of what a squared distance can be, below which the checker takes an interval for an
equality. The search does not, and what it says of such intervals may be narrower by a share of their width."""
OTHER_DEPTHS = pytest.mark.parametrize("others", [False, pytest.param(True, marks=pytest.mark.long)])
"""Whether it is not the one depth of this width that a short run has, but all the others."""
COUNT, PATCHES = 5, 3
ROUNDING = 1e-12
"""More than what is lost where the checker's numbers become floats."""

FLOATS = 1e-15
"""What is lost there: so much less than the ranges from within give away."""


def chosen_depths(number: int, others: bool) -> list[tuple[int, int]]:
    """A seed and a depth for each."""
    return [(seed, depth) for seed, depth in enumerate(DEPTHS) if (seed == number % len(DEPTHS)) != others]


def drawn(geometry: Geometry, depth: int, seed: int) -> tuple[Head, Tensor]:
    """A head and latents (PATCHES, D), the first patch at a prototype and the second far from all."""
    generator = torch.Generator().manual_seed(seed)
    points, latents = (torch.rand(n, depth, generator=generator) for n in (COUNT, PATCHES))
    if isinstance(geometry, Softmax):
        latents = 4 * torch.rand(PATCHES, COUNT, generator=generator)
        domain = Box(0, 4) if seed % 2 else Box()
        return Head(torch.eye(2, COUNT), geometry, Identity(), domain=domain), latents.double()
    points[-1] = points[0]
    latents[0], latents[1] = points[1], torch.tensor([1.0, 0.0]).repeat(depth)[:depth]
    head = metric_head(geometry, points - (0.0 if seed % 2 else 0.4), Box(0, 1))
    return head, latents.double()


def ranges_of(
    head: Head, space: Space, rule: QuadraticRule | SimplexRule, stated: list[tuple[int, float, float]]
) -> tuple[Tensor, Tensor]:
    """The checker's ranges (P,) of the observables of one patch, as floats."""
    statements = [PatchStatement(0, j, Fraction(low), Fraction(high)) for j, low, high in stated]
    found = rule.ranges(statements)
    unit = Fraction(1, 1 << space.bits)
    norms = [Fraction(1)] * head.size
    if isinstance(head.geometry, Cosine):
        norms = [Fraction(low + high, 2) * unit for low, high in space.norms]
    lower, upper = (
        [float(int(end) * unit / norm) for end, norm in zip(ends, norms, strict=True)]
        for ends in (found.lower, found.upper)
    )
    return torch.tensor(lower, dtype=torch.float64), torch.tensor(upper, dtype=torch.float64)


def widened(observed: Enclosure, width: float, generator: torch.Generator) -> Enclosure:
    """Intervals at least `width` wide, as with a tolerance: what is not negative stays so."""
    first = width * torch.rand(observed.shape, generator=generator, dtype=torch.float64)
    lower = observed.lower - first
    lower = torch.where(observed.lower >= 0, lower.clamp(min=0), lower)
    return Enclosure(lower, torch.maximum(lower + width, observed.upper + (width - first)))


@pytest.mark.parametrize(("paradigm", "geometry"), CASES, ids=lambda each: getattr(each, "__name__", repr(each)))
@pytest.mark.parametrize("width", WIDTHS)
@OTHER_DEPTHS
def test_the_ranges_of_the_search_hold_those_of_the_checker(
    paradigm: type[SpatialParadigm], geometry: Geometry, width: float, others: bool
) -> None:
    for seed, depth in chosen_depths(WIDTHS.index(width), others):
        head, latents = drawn(geometry, depth, seed)
        generator = torch.Generator().manual_seed(seed)
        observed = widened(observe(head, latents), width, generator)
        bounds = paradigm(head)
        space = Space(read_head(head.to_bytes()), load_arithmetic("mpmath"))
        rule = RULES[paradigm](space)
        order = torch.randperm(COUNT, generator=generator).tolist()
        for count in range(1 + seed % 2, COUNT + 1, 2):  # the others at another seed
            stated = [order[:count]] * PATCHES
            known = bounds.ranges(stated, observed)
            for patch in range(PATCHES):
                entered = [(j, float(observed.lower[patch, j]), float(observed.upper[patch, j])) for j in order[:count]]
                lower, upper = ranges_of(head, space, rule, entered)
                case = f"seed {seed}, patch {patch}, statements {entered}"
                assert (known.lower[patch] <= lower + ROUNDING).all(), case
                assert (known.upper[patch] >= upper - ROUNDING).all(), case


@pytest.mark.parametrize("geometry", METRIC, ids=repr)
@pytest.mark.parametrize("width", WIDTHS)
def test_what_wide_statements_give_from_within_lies_in_the_ranges_of_the_checker(
    geometry: Geometry, width: float
) -> None:
    seed = WIDTHS.index(width)
    head, latents = drawn(geometry, DEPTHS[seed % len(DEPTHS)], seed)
    observed = widened(observe(head, latents), width, torch.Generator().manual_seed(seed))
    space = Space(read_head(head.to_bytes()), load_arithmetic("mpmath"))
    rule, inner = QuadraticRule(space), Projection(head).inner()
    for count in range(1, COUNT):
        known = inner.ranges([list(range(count))] * PATCHES, observed)
        for patch in range(PATCHES):
            stated = [(j, float(observed.lower[patch, j]), float(observed.upper[patch, j])) for j in range(count)]
            lower, upper = ranges_of(head, space, rule, stated)
            assert (known.lower[patch] >= lower - ROUNDING)[count:].all(), stated
            assert (known.upper[patch] <= upper + ROUNDING)[count:].all(), stated


NEARLY_EQUAL = (0.0, 1e-9, 1e-7, 1e-5, 1e-3, 1.0)
"""How far the prototypes are apart."""


@pytest.mark.parametrize(("paradigm", "geometry"), EXACT, ids=lambda each: getattr(each, "__name__", repr(each)))
@pytest.mark.parametrize("apart", NEARLY_EQUAL)
@OTHER_DEPTHS
def test_the_ranges_from_within_lie_in_those_of_the_checker(
    paradigm: type[SpatialParadigm], geometry: Geometry, apart: float, others: bool
) -> None:
    known = total = 0
    for seed, depth in chosen_depths(NEARLY_EQUAL.index(apart), others):
        head, latents = drawn(geometry, depth, seed)
        generator = torch.Generator().manual_seed(seed)
        if head.prototypes is not None:
            spread = apart * torch.rand(COUNT, depth, generator=generator)
            head = metric_head(geometry, 0.7 * head.prototypes[:1] + 0.2 * spread, Box(0, 1))
        observed = observe(head, latents)
        bounds = paradigm(head)
        space = Space(read_head(head.to_bytes()), load_arithmetic("mpmath"))
        rule = RULES[paradigm](space)
        order = torch.randperm(COUNT, generator=generator).tolist()
        for count in range(1, COUNT + 1):
            within = bounds.inner().ranges([order[:count]] * PATCHES, observed)
            for patch in range(PATCHES):
                entered = [(j, float(observed.lower[patch, j]), float(observed.upper[patch, j])) for j in order[:count]]
                lower, upper = ranges_of(head, space, rule, entered)
                least = torch.minimum(within.lower[patch], observed.upper[patch])
                most = torch.maximum(within.upper[patch], observed.lower[patch])
                case = f"seed {seed}, patch {patch}, statements {entered}"
                assert (least >= lower - FLOATS).all() and (most <= upper + FLOATS).all(), case
                assert head.prototypes is not None or (most - least >= upper - lower - ROUNDING).all(), case
                known += int((most - least >= 0.9 * (upper - lower) - ROUNDING).sum())
                total += COUNT
    assert apart < 1 or known > 0.8 * total
