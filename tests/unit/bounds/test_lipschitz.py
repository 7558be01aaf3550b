"""The Lipschitz rule of the search: no tighter than the checker's, nearly as tight; and what it needs."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from support.small import metric_head, small_head, small_latents, varied_head
from torch import Tensor

from verale.bounds import activation_range
from verale.bounds.lipschitz import Lipschitz
from verale.checker.head import read_head
from verale.checker.options import load_arithmetic
from verale.checker.reading import lipschitz as checked
from verale.checker.reading.space import Box, Space
from verale.errors import UsageError
from verale.head import Box as Domain
from verale.head import (
    Cosine,
    Euclidean,
    FocalPooling,
    Head,
    Identity,
    InnerProduct,
    Negated,
    Quadratic,
    Softmax,
    as_patches,
)
from verale.rounding import Enclosure
from verale.search.problem import Problem

HEADS = ("negated", "exp_distance", "exponential", "rooted", "cosine exponential", "cosine rectified", "scaled")

STEEP = 1e-6
"""Near 1, a cosine is as steep as a root: two prototypes that are alike have one of 1, but for rounding."""


def head_of(name: str) -> Head:

    return small_head(name) if name in ("scaled", "cosine", "euclidean") else varied_head(name)


def on_the_grid(values: Tensor, bits: int, upward: bool) -> list[int]:
    exact = [Fraction(*value.as_integer_ratio()) * (1 << bits) for value in values.tolist()]
    return [math.ceil(value) if upward else math.floor(value) for value in exact]


def checkers(head: Head, box: Enclosure, stated: set[int], above: set[int]) -> tuple[list[Fraction], list[Fraction]]:
    rule = checked.Lipschitz(Space(read_head(head.to_bytes()), load_arithmetic("arb")))
    bits = rule._space.bits
    exact = Box(on_the_grid(box.lower, bits, False), on_the_grid(box.upper, bits, True), bits)
    cut = rule.cut(exact, (stated, above, set()))
    return [Fraction(low, 1 << bits) for low in cut.lower], [Fraction(high, 1 << bits) for high in cut.upper]


@pytest.mark.parametrize("name", [*HEADS, "cosine", "euclidean"])
@pytest.mark.parametrize("bounded", [True, False])
def test_ranges_hold_the_checkers_and_are_nearly_as_tight(name: str, bounded: bool) -> None:
    head = head_of(name)
    if not bounded and not isinstance(head.similarity, Negated):
        head = replace(head, domain=Domain())
    problem = Problem.of(head, as_patches(small_latents(head, images=1)))
    rule, domain = Lipschitz(head), activation_range(head, problem.patches)
    for own in problem.activations:
        table = rule.ranges(own, torch.ones(head.size, dtype=torch.bool))
        cuts = 0
        for k in range(head.size):
            stated = torch.arange(head.size) == k
            box = Enclosure(torch.where(stated, own.lower, domain.lower), torch.where(stated, own.upper, domain.upper))
            found = box.intersect(table[k])
            for j, (low, high) in enumerate(zip(*checkers(head, box, {k}, set()), strict=True)):
                assert float(found.lower[j]) <= low and high <= float(found.upper[j])
                assert float(found.lower[j]) == pytest.approx(float(low), abs=STEEP)
                assert float(found.upper[j]) == pytest.approx(float(high), abs=STEEP)
            cuts += int((found.lower > domain.lower).sum() + (found.upper < domain.upper).sum())
        assert cuts > 2 * head.size


@pytest.mark.parametrize("name", ["euclidean", "cosine"])
def test_upper_ends_of_all_bound_all(name: str) -> None:
    head = head_of(name)
    problem = Problem.of(head, as_patches(small_latents(head, images=1)))
    domain, own = activation_range(head, problem.patches), problem.activations[0]
    exempt = torch.arange(head.size) < 2
    high = torch.where(exempt, domain.upper, own.upper.amin())
    most = Lipschitz(head).by_others(high, torch.ones_like(exempt), True).minimum(high)
    _, ends = checkers(head, Enclosure(domain.lower, high), set(), set(range(head.size)))
    assert (most <= high).all() and (most[exempt] < high[exempt]).any()
    for found, end in zip(most.tolist(), ends, strict=True):
        assert end <= found and found == pytest.approx(float(end), abs=STEEP)


def test_what_the_rule_needs() -> None:
    points = torch.rand(3, 2) + 1
    for head in (
        Head(torch.ones(2, 3), Softmax(), Identity()),
        metric_head(InnerProduct(4.0), points),
        replace(metric_head(Euclidean(), points), similarity=Quadratic(), domain=Domain(0, 3)),
        replace(metric_head(Cosine(), points), pooling=FocalPooling("max_minus_mean")),
    ):
        with pytest.raises(UsageError, match="mixed"):
            Lipschitz(head)


@pytest.mark.parametrize("name", HEADS)
def test_some_rows_are_those_of_all(name):
    head = head_of(name)
    observed = Problem.of(head, as_patches(small_latents(head, images=1))).activations[0]
    stated = torch.zeros(head.size, dtype=torch.bool)
    stated[[1, 4]] = True
    rule = Lipschitz(head)
    every, some = (rule.ranges(observed, each) for each in (torch.ones_like(stated), stated))
    torch.testing.assert_close(some.lower, every.lower[stated], rtol=0, atol=1e-12)
    torch.testing.assert_close(some.upper, every.upper[stated], rtol=0, atol=1e-12)
    assert rule.ranges(observed, torch.zeros_like(stated)).shape == (0, head.size)


@pytest.mark.parametrize("name", HEADS)
def test_ends_of_several_images_are_those_of_each(name):
    """And lower ends that follow are those of the ranges that follow."""
    head = head_of(name)
    problem = Problem.of(head, as_patches(small_latents(head, images=1)))
    rule, domain, own = Lipschitz(head), activation_range(head, problem.patches), problem.activations[0]
    of = torch.stack([torch.arange(head.size) < 3, torch.arange(head.size) % 2 == 0])
    high = torch.where(of, domain.upper, own.upper.amin())
    low = torch.where(of, domain.lower, own.lower.amax())
    for row in range(2):
        alone = rule.by_others(high[row], torch.ones_like(of[row]), True)
        assert torch.equal(rule.by_others(high, of, True)[row], alone.where(of[row], torch.inf))
        least = rule.by_others(low, of, False)[row].maximum(low[row])
        follows = rule.ranges(Enclosure(low[row], domain.upper), torch.ones_like(of[row])).lower.amax(0)
        torch.testing.assert_close(least, follows.maximum(low[row]).where(of[row], low[row]), rtol=0, atol=1e-12)
