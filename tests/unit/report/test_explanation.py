"""Explanations in words: each part says what the statements say, and nothing more."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from verale.checker.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
)
from verale.report.account import Account, Line
from verale.report.explanation import conditions, in_brief, named_prototypes, narrower

HALF = Fraction(1, 2)
FIVE, TWO = ActivationStatement(5, HALF, None), ActivationStatement(2, None, HALF)
NEAR = PatchStatement(3, 1, None, HALF)
BOTH = ["prototype 5 is active at least 0.5", "prototype 2 is active at most 0.5"]
QUARTER = Fraction(1, 4)


def certificate(*statements, patches=64):
    return Certificate(
        head="0" * 64,
        latents=None,
        predicted=0,
        paradigm="top_k",
        patches=patches,
        statements=statements,
        margins=(None, HALF),
        claims=("entailment",),
    )


def except_(names: str, bound: str) -> str:
    return f"no prototype except prototypes {names} is active {bound}"


ONE, NEAR_TOO = BOTH[:1], PatchStatement(0, 1, HALF, None)
OTHERS = "are active at least 0.5"
MANY = tuple(ActivationStatement(prototype, HALF, None) for prototype in range(9))
SAID: list[tuple[tuple[Statement, ...], int | None, int, list[str]]] = [
    # What has to hold, of a head whose prototypes nobody has counted.
    ((), None, 64, []),
    ((FIVE,), None, 64, ONE),
    ((FIVE, TWO), None, 64, BOTH),
    ((FIVE, TWO, OrderStatement((2, 5), QUARTER)), None, 64, [*BOTH, "no other prototype is active above 0.25"]),
    ((FIVE, FloorStatement((2, 5), QUARTER)), None, 64, [*ONE, except_("2 and 5", "below 0.25")]),
    ((FIVE, TWO, OrderStatement((2,), HALF)), None, 64, [*BOTH, "no prototype except prototype 2 is active above 0.5"]),
    ((FIVE, OrderStatement((2, 3, 5, 7), HALF)), None, 64, [*ONE, except_("2, 3, 5 and 7", "above 0.5")]),
    ((FIVE, OrderStatement(tuple(range(9)), HALF)), None, 64,
     [*ONE, "only 9 prototypes (listed below) may be active above 0.5"]),
    ((OrderStatement((), HALF),), None, 64, ["no prototype is active above 0.5"]),
    ((FloorStatement(tuple(range(9)), HALF), OrderStatement((), HALF)), None, 64,
     ["only 9 prototypes (listed below) may be active below 0.5", "no prototype is active above 0.5"]),
    ((NEAR, FIVE, FloorStatement((5,), HALF)), None, 64,
     [*ONE, "1 comparison with a prototype in 1 of the 64 patches comes out as stated",
      "no other prototype is active below 0.5"]),
    # A clause names whichever are fewer.
    ((FloorStatement((*range(3, 10),), HALF),), 10, 64, [f"prototypes 0, 1 and 2 {OTHERS}"]),
    ((FloorStatement((*range(1, 10),), HALF),), 10, 64, ["prototype 0 is active at least 0.5"]),
    ((FloorStatement((*range(4), 9), HALF),), 10, 64, [except_("0, 1, 2, 3 and 9", "below 0.5")]),
    ((FloorStatement((0, 1), HALF),), 10, 64, [except_("0 and 1", "below 0.5")]),
    # Other prototypes are those that no part names; other than which would not be plain in the second of these.
    ((TWO, FloorStatement((*range(3), *range(6, 20)), HALF), OrderStatement((2, 3, 4, 5), HALF)), 20, 64,
     [BOTH[1], f"prototypes 3, 4 and 5 {OTHERS}", "none of the other 16 prototypes is active above 0.5"]),
    ((TWO, FloorStatement((*range(3), *range(9, 20)), HALF), OrderStatement((2,), HALF)), 20, 64,
     [BOTH[1], f"6 of the 20 prototypes (listed below) {OTHERS}",
      "no prototype except prototype 2 is active above 0.5"]),
    # Of what has a statement that says as much a clause says nothing.
    ((FIVE, TWO, OrderStatement((5,), HALF), FloorStatement((2,), HALF)), None, 64,
     [*BOTH, "no other prototype is active below 0.5", "no other prototype is active above 0.5"]),
    ((FIVE, TWO, OrderStatement((5,), HALF / 2), FloorStatement((2,), HALF * 2)), None, 64,
     [*BOTH, "no prototype except prototype 2 is active below 1",
      "no prototype except prototype 5 is active above 0.25"]),
    ((FIVE, FloorStatement((0, 1, 2, 3, 4), HALF)), 6, 64, ONE),
    # Many are counted.
    ((OrderStatement(tuple(range(5, 50)), HALF),), 50, 64,
     ["5 of the 50 prototypes (listed below) are active at most 0.5"]),
    ((OrderStatement(tuple(range(9)), HALF),), 50, 64,
     ["only 9 of the 50 prototypes (listed below) may be active above 0.5"]),
    (MANY[:4], None, 64, ["prototypes 0, 1, 2 and 3 are as active as stated"]),
    (MANY, None, 64, ["9 prototypes are as active as stated"]),
    (MANY, 20, 64, ["9 of the 20 prototypes are as active as stated"]),
    ((NEAR, NEAR_TOO), None, 4, ["2 comparisons with prototypes in 2 of the 4 patches come out as stated"]),
    (tuple(PatchStatement(patch, 1, HALF, None) for patch in range(3)), None, 3,
     ["3 comparisons with prototypes in all 3 patches come out as stated"]),
    (tuple(PatchStatement(0, prototype, HALF, None) for prototype in range(5)), None, 1,
     ["5 comparisons with prototypes come out as stated"]),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "count", "patches", "parts"), SAID)
def test_what_has_to_hold(statements, count, patches, parts):
    given = certificate(*statements, patches=patches)
    assert conditions(given, count=count) == parts
    assert in_brief(given, count) == ("; ".join(parts).replace(" (listed below)", "") or "nothing has to hold")


def test_a_few_comparisons_of_one_patch_are_named():
    few = (PatchStatement(0, 5, None, QUARTER), PatchStatement(0, 2, HALF, None), PatchStatement(0, 4, HALF, HALF))
    given, ends = certificate(*few, patches=1), {5: "at most 0.25", 2: "at least 0.5", 4: "from 0.5 to 0.5"}
    assert in_brief(given) == "; ".join(f"prototype {j} {end}" for j, end in ends.items())
    assert conditions(given, "squared distance") == [
        f"the image's squared distance to prototype {j} is {end}" for j, end in ends.items()
    ]


def test_the_prototypes_that_are_named_are_shown():
    floor = FloorStatement(tuple(range(1, 10)), HALF)
    assert named_prototypes(certificate(FIVE, floor, OrderStatement((7,), HALF)), 10) == (5, 0)
    assert named_prototypes(certificate(FIVE, FloorStatement((5,), HALF)), 10) == (5,), "nine are too many"
    assert named_prototypes(certificate(FIVE, floor)) == (5,), "which they are is unknown"
    own = FloorStatement((*range(5), *range(6, 10)), HALF)
    assert named_prototypes(certificate(FIVE, own), 10) == (5,), "each is shown once"
    assert named_prototypes(certificate(FIVE, NEAR)) == (5,), "comparisons in one of many patches are only counted"
    assert named_prototypes(certificate(PatchStatement(0, 3, None, HALF), FIVE, patches=1)) == (3, 5)


NAME = ("ant", "bee", "cat").__getitem__
SEVEN = [ActivationStatement(j, HALF, None) for j in range(7)]
LONGER = certificate(*SEVEN, ActivationStatement(7, HALF, None))


def test_what_is_too_long_to_read_says_why_and_names_a_narrower_question():
    """Fourteen numbers and names are read at a glance."""
    assert narrower(certificate(*SEVEN), 20, "a b.ale.json", NAME) is None
    said = narrower(LONGER, 20, "a b.ale.json", NAME)
    assert said is not None and "8 statements, with 16 numbers and names" in said.long and not said.runner_up
    assert said.why == "Why so long: over class bee, the closest class of this proof, only 0.5 points are left."
    assert "class bee" in said.ask and said.command == "verale contrast 'a b.ale.json' --class 1"
    assert narrower(LONGER, None, "a", NAME) is None, "of an unknown head nobody knows"
    lines = tuple(Line(j, j, "1", "1", points) for j, points in ((3, "3.0"), (7, "1.5")))
    for taken, lead, why in (
        ("4.0", "0.5", "all others can take back 4.0, so 0.5 are left after rounding. Without prototype 7, which gives"
         " least of those stated (1.5), 1.0 would be missing."),
        ("2.0", "2.5", "all others can take back 2.0, so 2.5 are left after rounding."),
        ("-1.0", "5.5", "all others give 1.0 more, so 5.5 are left after rounding."),
    ):  # fmt: skip
        said = narrower(LONGER, 20, "a", NAME, Account(0, 1, lines, (), "", "", "", "4.5", taken, None, lead, ()))
        assert said is not None and said.why == (
            "Why so long: the prototypes of class ant give it at least 4.5 points more than class bee, the closest"
            f" class of this proof, and {why}"
        )


def test_the_runner_up_is_named_where_it_is_not_the_closest_of_the_proof():
    three = replace(certificate(ActivationStatement(0, HALF, None)), margins=(None, Fraction(1), Fraction(2)))
    assert narrower(three, 20, "a", NAME) is narrower(three, 20, "a", NAME, ahead=(0, 1, 3)) is None
    said = narrower(three, 20, "a", NAME, ahead=(0, 3, 1.25))
    assert said is not None and not said.long and not said.why
    assert said.runner_up == (
        "The network's second choice is class cat, about 1.25 points behind on this image; class bee is only the"
        " closest class of this proof."
    )
    assert said.command == "verale contrast a --class 2" and said.line.startswith(said.runner_up)
    assert narrower(three, 20, "a", NAME, ahead=(0, 3, -1)) is None, "then it does not choose the class"
