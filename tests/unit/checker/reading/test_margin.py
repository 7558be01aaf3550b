"""Margins: exact, term by term, and what step 7 says of them."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import pytest
from support import files
from support.exact import Head as ExactHead

from verale.checker import Status, check
from verale.checker.certificate import SumStatement
from verale.checker.errors import UnprovedError
from verale.checker.head import read_head
from verale.checker.reading.margin import lower_bound, proved_margins, require, taken_back
from verale.checker.reading.space import Box


@pytest.mark.parametrize("scale", [1.0, 1e-320, 1e300])
def test_is_the_least_difference_over_the_box(scale: float) -> None:
    generator = random.Random(1)
    for _ in range(20):
        weight = [[generator.gauss(0, scale) for _ in range(4)] for _ in range(3)]
        bias = [generator.choice((generator.gauss(0, 1), 5e-324, 0.0)) for _ in range(3)]
        head = read_head(files.head(weight, bias=bias, geometry=files.SOFTMAX, similarity=files.IDENTITY))
        low = [generator.randrange(-99, 99) for _ in range(4)]
        high = [end + generator.randrange(9) for end in low]
        box = Box(low, high, 5)
        for predicted, margins in ((p, proved_margins(head, box, p)) for p in range(3)):
            assert margins[predicted] is None
            for rival in set(range(3)) - {predicted}:
                truth = (
                    min(
                        sum(
                            (Fraction(weight[predicted][j]) - Fraction(weight[rival][j])) * Fraction(a, 32)
                            for j, a in enumerate(corner)
                        )
                        for corner in itertools.product(*zip(low, high, strict=True))
                    )
                    + Fraction(bias[predicted])
                    - Fraction(bias[rival])
                )
                assert margins[rival] == truth == lower_bound(head, box, predicted, rival)


def box_of(generator: random.Random, count: int, spread: int, bits: int = 40) -> Box:
    """Ranges about [0, 1], beyond it too."""
    ends = [sorted(generator.randrange(-spread, (1 << bits) + spread) for _ in "lh") for _ in range(count)]
    return Box([low for low, _ in ends], [high for _, high in ends], bits)


def grown(generator: random.Random, count: int) -> tuple[list[int], list[int]]:
    """A random tree: each node takes the place of a leaf that is there."""
    children: list[list[int]] = [[-1, -2]]
    for node in range(1, count):
        free = [(parent, side) for parent in range(node) for side in (0, 1) if children[parent][side] < 0]
        parent, side = generator.choice(free)
        children.append([children[parent][side], -2 - node])
        children[parent][side] = node
    return [absent for absent, _ in children], [present for _, present in children]


def tree_value(
    tree: tuple[list[int], list[int]], leaves: list[Fraction], a: tuple[Fraction, ...], node: int = 0
) -> Fraction:
    if node < 0:
        return leaves[-1 - node]
    absent, present = (tree_value(tree, leaves, a, side[node]) for side in tree)
    return (1 - a[node]) * absent + a[node] * present


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_of_a_soft_tree_is_the_least_difference_over_the_box(count: int) -> None:
    """Affine in each activation, so least at a corner; rounded down by less than a unit a node."""
    generator = random.Random(count)
    for _ in range(10):
        tree = grown(generator, count)
        weight = [[generator.gauss(0, 1) for _ in range(count + 1)] for _ in range(3)]
        built = ExactHead(
            weight,
            [[0.5]] * count,
            {
                "similarity": {"kind": "exponential"},
                "readout": {"kind": "soft_tree", "absent": tree[0], "present": tree[1]},
            },
        )
        head, box = read_head(built.data), box_of(generator, count, generator.choice((0, 1 << 38)))
        one = 1 << box.bits
        cut = [
            [Fraction(min(one, max(0, end)), one) for end in ends] for ends in zip(box.lower, box.upper, strict=True)
        ]
        for winner, loser in itertools.permutations(range(3), 2):
            leaves = [Fraction(a) - Fraction(b) for a, b in zip(weight[winner], weight[loser], strict=True)]
            truth = min(tree_value(tree, leaves, corner) for corner in itertools.product(*cut))
            assert (
                0 <= truth - lower_bound(head, box, winner, loser) < Fraction(count, 1 << head.weight.bits + box.bits)
            )


def test_a_soft_tree_of_a_thousand_nodes_in_a_row_is_cheap() -> None:
    """Each node rounds: the numbers do not grow with the depth."""
    count = 1000
    built = ExactHead(
        [[generator.gauss(0, 1) for _ in range(count + 1)] for generator in map(random.Random, range(2))],
        [[0.5]] * count,
        {
            "similarity": {"kind": "exponential"},
            "readout": {
                "kind": "soft_tree",
                "absent": [-1 - node for node in range(count)],
                "present": [*range(1, count), -1 - count],
            },
        },
    )
    bound = lower_bound(read_head(built.data), box_of(random.Random(1), count, 0, 128), 0, 1)
    assert bound.denominator.bit_length() < 300


def test_of_a_maximum_is_the_least_difference_over_the_box() -> None:
    generator = random.Random(3)
    weight = [[1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]
    for _ in range(40):
        bias = [generator.gauss(0, 1) for _ in range(5)] if generator.random() < 0.8 else None
        built = ExactHead(weight, [[0.5]] * 5, {"readout": {"kind": "maximum"}}, bias=bias)
        head, box = read_head(built.data), box_of(generator, 5, 1 << 40)
        moved = [
            [Fraction(end, 1 << box.bits) + Fraction(b) for end in ends]
            for *ends, b in zip(box.lower, box.upper, bias or [0.0] * 5, strict=True)
        ]
        for winner, loser in itertools.permutations(range(3), 2):
            truths = [
                max(a for a, w in zip(corner, weight[winner], strict=True) if w)
                - max(a for a, w in zip(corner, weight[loser], strict=True) if w)
                for corner in itertools.product(*moved)
            ]
            assert lower_bound(head, box, winner, loser) == min(truths)


def test_of_a_maximum_whose_classes_share_a_prototype_is_sound() -> None:
    """Prototype 1 decides for both: a tie, whatever its activation; the bound says no more than that."""
    built = ExactHead([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]], [[0.5]] * 3, {"readout": {"kind": "maximum"}})
    head = read_head(built.data)
    assert lower_bound(head, Box([0, 5, 0], [1, 9, 1], 0), 0, 1) == -4
    assert lower_bound(head, Box([7, 3, 0], [8, 5, 1], 0), 0, 1) == 2


def test_zero_is_no_margin() -> None:
    half = Fraction(1, 2)
    with pytest.raises(UnprovedError, match=r"rival 2: .* margin is 0, expected more than 0") as caught:
        require((half, None, Fraction(0)), (half, None, half))
    assert caught.value.reason == "entailment"


# Sums: what prototypes that do not belong to the predicted class take back, in exact rationals.


WEIGHT = [[2.0, 1.0, 0.0, -0.5], [0.5, 1.0, 1.0, 0.0], [0.0, -1.0, 0.25, 0.75]]
"""Of class 0 belong prototypes 0 and 1, of which 1 belongs to class 1 too; 2 to class 1, 3 to class 2."""
BIAS = [0.0, 0.25, -0.5]
UNIT = 1 << 20


def data(weight: list[list[float]] = WEIGHT) -> bytes:
    return files.head(weight, bias=BIAS, geometry=files.SOFTMAX, similarity=files.IDENTITY)


def exactly(values: list[float]) -> Box:
    return Box([int(v * UNIT) for v in values], [int(v * UNIT) for v in values], 20)


def by_hand(weight: list[list[float]], predicted: int, rival: int, a: list[float], own: bool) -> Fraction:
    """The sum of (W_c - W_y) a over the prototypes that belong to y, or over the others."""
    belongs = [all(row[j] <= weight[predicted][j] for row in weight) for j in range(len(a))]
    return sum(
        (
            (Fraction(weight[rival][j]) - Fraction(weight[predicted][j])) * Fraction(a[j])
            for j in range(len(a))
            if belongs[j] == own
        ),
        Fraction(),
    )


def test_what_is_taken_back_is_exact() -> None:
    generator = random.Random(3)
    for _ in range(80):
        weight = [[generator.choice((-1.5, -0.25, 0.0, 0.0, 0.75, 2.0)) for _ in range(5)] for _ in range(3)]
        head, a = read_head(data(weight)), [generator.randrange(9) / 8 for _ in range(5)]
        for y in range(3):
            rivals = [c for c in range(3) if c != y]
            truth = max(by_hand(weight, y, c, a, own=False) for c in rivals)
            assert taken_back(head, exactly(a), y, rivals) == (truth, truth)
            for c in rivals:
                margin = -by_hand(weight, y, c, a, own=True) - by_hand(weight, y, c, a, own=False)
                margin += Fraction(BIAS[y]) - Fraction(BIAS[c])
                assert lower_bound(head, exactly(a), y, c) == margin
                # A sum that is exactly true at a point proves no more than the point, and no less.
                upper = max(Fraction(), by_hand(weight, y, c, a, own=False))
                assert lower_bound(head, exactly(a), y, c, [SumStatement((c,), upper)]) == margin
                wide = replace(exactly(a), lower=[0] * 5, upper=[8 * UNIT] * 5)
                least = lower_bound(head, wide, y, c, [SumStatement(None, upper)])
                assert lower_bound(head, wide, y, c) <= least <= margin


# Minimality.


# One prototype for each of two classes, far apart; the latent lies on the first.
NEAR, FAR = [0.0, 0.0], [1.0, 1.0]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [NEAR, FAR], domain=files.domain(None, None))
OWN, OTHER = files.patch_statement(0, 0, 0.0, 0.0), files.patch_statement(0, 1, 2.0, 2.0)


def test_not_minimal() -> None:
    result = check(files.certificate(HEAD, [OTHER, OWN], minimality=True), HEAD, kernel="arb", minimality=True)
    assert (result.status, result.reason, result.exit_code) == (Status.NOT_PROVED, "minimality", 8)
    assert "statement 0 (patch 0, prototype 1) is not shown to be needed: without it every margin" in result.message
    assert result.claims == {"entailment": "proved", "instance": "not claimed", "minimality": "not checked"}
