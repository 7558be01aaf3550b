"""What the rules prove holds at latents of which the truth is known; what minimality is shown with lies within that."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from support import files
from support.recipes import COUNT, PATCHES
from support.trials import GRIDS, Trial, grid, holds, trials

from verale.checker.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
)
from verale.checker.head import read_head
from verale.checker.options import load_arithmetic
from verale.checker.reading.margin import lower_bound
from verale.checker.reading.quadratic import Joint, QuadraticRule
from verale.checker.reading.space import Space

GROUPS = 6
SOME_GROUPS = pytest.mark.parametrize(
    "group", [pytest.param(each, marks=[pytest.mark.long] * (each not in (0, 3, 4))) for each in range(GROUPS)]
)
"""Those of the short run find the planted faults that name these tests."""
NEAR = Fraction(1, 2**20)


def clauses(trial: Trial, first: int, exempt: tuple[int, ...], step: int) -> list[Any]:
    """A ceiling and a floor that are true of every `step`-th activation from the first on."""
    ends = trial.activations[first::step]
    return [
        OrderStatement(exempt, max(high for _, high in ends)),
        FloorStatement(exempt, min(low for low, _ in ends)),
    ]


@SOME_GROUPS
def test_ranges_contain_the_truth(group: int) -> None:
    """On the usual grid and on grids of a few bits."""
    for number, trial in enumerate(trials(3 * group, 3 * GROUPS)):
        with grid(*GRIDS[number % 3]):
            contains(trial)


def contains(trial: Trial) -> None:
    space, rule, activations = trial.rules()
    head, stated = space.head, trial.statements
    groups = [[s for s in stated if s.patch == patch] for patch in range(PATCHES)]
    for group, truth in zip(groups, trial.observables, strict=True):
        assert holds(space, rule.ranges(group), truth)
    pooled = [*trial.pooled, *clauses(trial, 1, tuple(range(0, COUNT, 2)), 2)]
    kinds = [stated, pooled, []]
    if head.geometry not in ("softmax", "inner_product") and head.pooling == "max" and not head.similarity.unimodal:
        pooled = [*pooled, FloorStatement((0, 1), min(low for low, _ in trial.activations[2:]))]
        kinds += [*(pooled[:count] for count in range(len(pooled) + 1)), [*stated, *pooled], pooled[-2:]]
    for statements in kinds:
        box = activations.box(statements, PATCHES)
        for (least, greatest), low, high in zip(trial.activations, box.lower, box.upper, strict=True):
            assert Fraction(int(low), 1 << box.bits) <= greatest and least <= Fraction(int(high), 1 << box.bits)
        for c, d in product(range(head.classes), repeat=2):
            assert lower_bound(head, box, c, d) <= trial.logits[c][d][1]
    monotone = head.similarity.name in ("negated", "identity") and (head.pooling, head.readout) == ("max", "linear")
    if monotone and head.geometry != "softmax":
        for group, truth in zip(groups, trial.observables, strict=True):
            joined(rule, group, truth)


def joined(rule: QuadraticRule, stated: list[PatchStatement], truth: list[tuple[Fraction, Fraction]]) -> None:
    """As one target no margin is more than what is so, whichever ends are stated; what is reached is in range."""
    head = rule.space.head
    scale = head.similarity.scale
    for open_ in range(4):
        predicted = open_ % head.classes
        left = [
            PatchStatement(
                0,
                s.prototype,
                None if open_ % 2 and number % 2 else s.lower,
                None if open_ > 1 and not number % 2 else s.upper,
            )
            for number, s in enumerate(stated)
        ]
        high, none = (
            tuple(None if c == predicted else Fraction(end) for c in range(head.classes)) for end in (10**6, -(10**9))
        )
        document = Certificate("0" * 64, None, predicted, "joint", 1, tuple(left), high, ("entailment",))
        joint = Joint(rule, document)
        # In the place of a missing end stands the domain's for a proof, and none for minimality.
        if left and open_ == 0 and not any(None in (s.lower, s.upper) for s in left):
            _, shares, *_ = joint.target((predicted + 1) % head.classes)
            value = rule.combination_within(left, shares)
            turned = {k: -share for k, share in shares.items()}
            low, most = rule.combination(left, shares), -rule.combination(left, turned)
            assert value is None or low <= value <= most
        for c, margin in enumerate(joint.margins(None, none)):
            if margin is not None:
                true = Fraction(head.bias.rows[0][predicted] - head.bias.rows[0][c], 1 << head.bias.bits)
                for j, ends in enumerate(truth):
                    share = Fraction(head.weight.rows[predicted][j] - head.weight.rows[c][j], 1 << head.weight.bits)
                    share *= Fraction(-scale.rows[0][j], 1 << scale.bits) if head.geometry == "euclidean" else 1
                    true += max(share * end for end in ends)
                assert margin <= true


@SOME_GROUPS
def test_ranges_lie_within_those_that_are_proved(group: int) -> None:
    """On the usual grid mostly not far from their ends; and none where statements contradict each other."""
    near = [0, 0]
    for number, trial in enumerate(trials(1 + 5 * group, 5 * GROUPS)):
        fine = number % 3 == 0
        outer = {}
        for name, rule, statements in inner_rules(trial):
            for index in range(len(statements)):
                outer[name, index] = rule.box([*statements[:index], *statements[index + 1 :]], PATCHES)
        with grid(*GRIDS[number % 3]):
            for name, rule, statements in inner_rules(trial):
                for index, box in rule.boxes_without(statements, PATCHES):
                    gap = compared(trial, box, outer[name, index])
                    near[gap is not None and gap < NEAR] += fine and name == "patches"
                    assert not fine or name == "patches" or (gap is not None and gap <= NEAR), name
        if fine:
            contradicting(trial)
    assert near[True] > 8 * near[False]


def compared(trial: Trial, box: Any, wide: Any) -> Fraction | None:
    """How far inner ranges are from the outer ones, which hold them; None where one is empty."""
    if box is None:
        return None
    gap = Fraction(0)
    for low, high, least, most in zip(*ends(box), *ends(wide), strict=True):
        assert least <= low and high <= most
        gap = max(gap, (low - least + most - high) / (1 + abs(least) + abs(most)))
    head = read_head(trial.data)
    for c, d in product(range(head.classes), repeat=2):
        assert lower_bound(head, box, c, d) >= lower_bound(head, wide, c, d)
    return gap


def ends(box: Any) -> list[list[Fraction]]:
    return [[Fraction(int(end), 1 << box.bits) for end in side] for side in (box.lower, box.upper)]


def inner_rules(trial: Trial) -> Iterator[tuple[str, Any, list[Any]]]:
    """The rules for the trial's head on the present grid, each with statements."""
    space, _, activations = trial.rules()
    yield "masses" if space.head.geometry == "softmax" else "patches", activations, trial.statements
    for step in (1, 2):  # with clauses about all activations, or about every other one
        exempt = tuple(range(0, COUNT, 2)) if step == 2 else ()
        yield f"top_k, {step}", trial.rules()[2], [*trial.pooled, *clauses(trial, step - 1, exempt, step)]


def contradicting(trial: Trial) -> None:
    """With a statement that no latents satisfy, none of the others is shown to be needed."""
    for name, rule, statements in inner_rules(trial):
        for stated in statements:
            if isinstance(stated, PatchStatement | ActivationStatement):
                place = (stated.patch, stated.prototype) if isinstance(stated, PatchStatement) else (stated.prototype,)
                end = (stated.lower or stated.upper or 0) + (-(2**40) if name == "patches" else 2**40)
                others = [each for each in statements if each is not stated]
                boxes = dict(rule.boxes_without([type(stated)(*place, end, end), *others], PATCHES))
                assert not any(box is not None for index, box in boxes.items() if index), name


def test_eight_statements_about_a_patch_count() -> None:
    rows = [[float(i == j) for j in range(8)] for i in range(8)]
    data = files.head([[1.0] * 8, [0.0] * 8], rows, domain=files.domain(-4.0, 4.0))
    space = Space(read_head(data), load_arithmetic("arb"))
    stated = [PatchStatement(0, j, Fraction(1, 4), Fraction(1, 2)) for j in range(8)]
    assert QuadraticRule(space).ranges(stated).upper[7] <= 1 << space.bits - 1
