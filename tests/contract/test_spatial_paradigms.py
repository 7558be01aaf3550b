"""One suite that every spatial paradigm passes on every geometry it is defined for. Tolerance zero; exact truth.

A case is a head and latents; statements are the observables of those latents, one more at a time; after each, the
true observables must lie within the bounds. Cases include what breaks formulas: duplicate, collinear, zero, huge, tiny
and denormal prototypes, one dimension, one patch, one prototype, more statements than dimensions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import flint
import pytest
import torch
from support.exact import PRECISION, inside, observable
from support.small import metric_head
from torch import Tensor

from verale.bounds import Assignment, Hypersphere, Projection, Simplex, Triangle, observe
from verale.head import Box, Cosine, Euclidean, Head, Identity, InnerProduct, Softmax
from verale.rounding import Enclosure


@dataclass(frozen=True, eq=False)
class Case:
    name: str
    paradigm: type
    head: Head
    latents: Tensor

    def __str__(self) -> str:
        return f"{self.paradigm.__name__}-{type(self.head.geometry).__name__}-{self.name}"


def cases() -> list[Case]:
    generator = torch.Generator().manual_seed(7)

    def rand(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator)

    points = rand(10, 5) + 0.01
    line = points[:1] + torch.arange(10)[:, None] * (points[1:2] - points[:1]) / 8
    clouds: dict[str, tuple[Tensor, Tensor]] = {
        "random": (points, rand(2, 5)),
        "duplicates": (points[[0, 0, 1, 1, 1, 2, 3, 0]], rand(2, 5)),
        "nearly duplicates": (points[:1] + 1e-6 * rand(10, 5), rand(2, 5)),
        "collinear": (line, rand(2, 5)),
        "latents on prototypes": (points, points[:2].clone()),
        "latents between prototypes": (points, (points[:2] + points[4:6]) / 2),
        "one dimension": (points[:, :1], rand(2, 1)),
        "two dimensions": (points[:, :2], rand(2, 2)),
        "one patch": (points, rand(1, 5)),
        "one prototype": (points[:1], rand(2, 5)),
        "huge": (points * 1e15, rand(2, 5) * 1e15),
        "tiny": (points * 1e-18, rand(2, 5) * 1e-18),
        "denormal": (points * 1e-40, rand(2, 5) * 1e-40),
        "huge and tiny": (points * torch.logspace(-20, 15, 10)[:, None], rand(2, 5)),
        "negative": (points - 0.5, rand(2, 5) - 0.5),
        "far from the origin": (points + 1000, rand(2, 5) + 1000),
    }
    every = []
    for name, (prototypes, latents) in clouds.items():
        for geometry in (Euclidean(), Cosine(0.0), Cosine(1e-4, rooted=True)):
            head = metric_head(geometry, prototypes)
            every += [
                Case(f"{name}-{geometry}", paradigm, head, latents) for paradigm in (Projection, Triangle, Hypersphere)
            ]
        low, high = float(latents.min()), float(latents.max())
        longest = float(latents.double().norm(dim=1).max()) * 1.0001
        for geometry, domain in (
            (InnerProduct(), Box(low, high + (low == high))),
            (InnerProduct(longest), Box()),
            (InnerProduct(longest), Box(min(low, 0.0), None)),
        ):
            head = metric_head(geometry, prototypes, domain)
            every += [
                Case(f"{name}-{geometry}-{domain}", paradigm, head, latents) for paradigm in (Projection, Triangle)
            ]
    orthant = metric_head(Cosine(1e-8), points - 0.5, Box(0, None))
    for name, head, latents in (
        ("zero prototype", metric_head(Euclidean(), torch.cat([points, torch.zeros(1, 5)])), rand(2, 5)),
        ("box", metric_head(Euclidean(), points, Box(0, 1)), rand(2, 5)),
        ("half box", metric_head(Euclidean(), points - 0.5, Box(0, None)), rand(2, 5)),
        ("orthant", orthant, rand(2, 5)),
        ("zero latent", orthant, torch.zeros(1, 5)),
    ):
        every += [Case(name, paradigm, head, latents) for paradigm in (Projection, Hypersphere)]
    for name, latents in {
        "random": rand(4, 6) * 5,
        "peaked": torch.eye(4, 6) * 60,
        "flat": torch.zeros(4, 6),
        "one channel": rand(4, 1),
        "two channels": rand(4, 2) * 9,
        "huge": rand(4, 6) * 1e30,
    }.items():
        head = Head(torch.ones(2, latents.shape[1]), Softmax(), Identity())
        every += [Case(name, paradigm, head, latents) for paradigm in (Simplex, Assignment)]
    return every


def entered(case: Case, seed: int, counts: Iterable[int]) -> list[Enclosure]:
    """The ranges after so many statements a patch, in a random order without repetition."""
    generator = torch.Generator().manual_seed(seed)
    paradigm = case.paradigm(case.head)
    patches = case.latents.to(torch.float64)
    observed = observe(case.head, patches)
    order = [torch.randperm(case.head.size, generator=generator).tolist() for _ in patches]
    known = [count for count in counts if count <= case.head.size]
    return [paradigm.ranges([each[:count] for each in order], observed) for count in known]


def groups() -> dict[str, list[Case]]:
    """The cases by paradigm and geometry."""
    grouped: dict[str, list[Case]] = {}
    for case in cases():
        grouped.setdefault(f"{case.paradigm.__name__}-{type(case.head.geometry).__name__}", []).append(case)
    return grouped


GROUPS = groups()


@cache
def truth_of(head: Head, latents: Tensor) -> list[list[object]]:
    """The observables of each patch, exact or in balls; paradigms share heads and latents."""
    with flint.ctx.workprec(PRECISION):
        return [[observable(head, z, j) for j in range(head.size)] for z in latents.to(torch.float64).tolist()]


@pytest.mark.parametrize(
    ("seed", "counts"), [(3, (0, 1, 2, 6, 7)), pytest.param(0, range(8), marks=pytest.mark.long)], ids=["3", "0"]
)
@pytest.mark.parametrize("group", GROUPS)
def test_true_observables_lie_within_the_bounds_and_a_statement_more_loosens_none(group, seed, counts):
    for case in GROUPS[group]:
        truth = truth_of(case.head, case.latents)
        observed = observe(case.head, case.latents.to(torch.float64))
        states = entered(case, seed, counts)
        nested = case.paradigm in (Triangle, Hypersphere)  # of the others, rounding errors grow with each statement
        with flint.ctx.workprec(PRECISION):
            for bounds in [observed, *(states[-1:] if nested else states)]:  # the last lie within those before
                for row, lowers, uppers in zip(truth, bounds.lower.tolist(), bounds.upper.tolist(), strict=True):
                    for value, lower, upper in zip(row, lowers, uppers, strict=True):
                        assert inside(value, lower, upper), case
        if nested:
            for before, after in pairwise(states):
                assert (after.lower >= before.lower).all(), case
                assert (after.upper <= before.upper).all(), case


@pytest.mark.parametrize(
    ("seed", "shares"), [(5, (1e-9, 0.03)), pytest.param(1, (1e-9, 1e-4, 0.03, 1.0), marks=pytest.mark.long)]
)
@pytest.mark.parametrize("group", [group for group in GROUPS if group.startswith("Projection")])
def test_true_observables_lie_within_what_intervals_give(group, seed, shares):
    """Wherever in the intervals they lie, however wide these are, and however many are stated of a patch."""
    generator = torch.Generator().manual_seed(seed)
    for case in GROUPS[group]:
        truth = truth_of(case.head, case.latents)
        paradigm, observed = Projection(case.head), observe(case.head, case.latents.to(torch.float64))
        size = torch.maximum(observed.lower.abs(), observed.upper.abs())
        for share in shares:
            below, above = (share * size * torch.rand(size.shape, generator=generator, dtype=size.dtype) for _ in "ab")
            wide = Enclosure(observed.lower - below, observed.upper + above)
            stated = [
                torch.randperm(case.head.size, generator=generator)[: 1 + (patch + seed) % 7].tolist()
                for patch in range(len(size))
            ]
            bounds = paradigm.ranges(stated, wide)
            with flint.ctx.workprec(PRECISION):
                for row, lowers, uppers in zip(truth, bounds.lower.tolist(), bounds.upper.tolist(), strict=True):
                    for value, lower, upper in zip(row, lowers, uppers, strict=True):
                        assert inside(value, lower, upper), (case, share)
