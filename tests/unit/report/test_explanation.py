"""Explanations in words: each part says what the statements say, and nothing more."""

from __future__ import annotations

from fractions import Fraction

import pytest

from verale.checker.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
)
from verale.report.explanation import conditions, in_brief, stated_prototypes

HALF = Fraction(1, 2)
FIVE, TWO = ActivationStatement(5, HALF, None), ActivationStatement(2, None, HALF)
NEAR = PatchStatement(3, 1, None, HALF)


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


@pytest.mark.parametrize(
    ("statements", "brief", "parts"),
    [
        ((), "nothing has to hold", []),
        ((FIVE,), "1 prototype", ["this prototype is as active as shown"]),
        ((FIVE, TWO), "2 prototypes", ["these 2 prototypes are as active as shown"]),
        (
            (FIVE, TWO, OrderStatement((2, 5), Fraction(1, 3))),
            "2 prototypes, no other is above 0.334",
            ["these 2 prototypes are as active as shown", "no other is above 0.334"],
        ),
        (
            (FIVE, FloorStatement((2, 5), Fraction(1, 3))),
            "1 prototype, no other but perhaps prototype 2 is below 0.333",
            ["this prototype is as active as shown", "no other but perhaps prototype 2 is below 0.333"],
        ),
        (
            (FIVE, TWO, OrderStatement((2,), HALF)),
            "2 prototypes, no other, nor prototype 5, is above 0.5",
            ["these 2 prototypes are as active as shown", "no other, nor prototype 5, is above 0.5"],
        ),
        (
            (FIVE, OrderStatement((2, 3, 5, 7), HALF)),
            "1 prototype, no other but perhaps prototypes 2, 3 and 7 is above 0.5",
            ["this prototype is as active as shown", "no other but perhaps prototypes 2, 3 and 7 is above 0.5"],
        ),
        (
            (FIVE, OrderStatement((2, 3, 5, 7, 9), HALF)),
            "1 prototype, none but 5 prototypes may be above 0.5",
            ["this prototype is as active as shown", "none but 5 prototypes, listed below, may be above 0.5"],
        ),
        ((OrderStatement((), HALF),), "no prototype is above 0.5", ["no prototype is above 0.5"]),
        (
            (NEAR, FIVE, FloorStatement((5,), HALF)),
            "1 prototype, 1 comparison in 1 of the 64 patches, no other is below 0.5",
            [
                "this prototype is as active as shown",
                "1 comparison with a prototype in 1 of the 64 patches comes out as stated",
                "no other is below 0.5",
            ],
        ),
    ],
)
def test_what_has_to_hold(statements, brief, parts):
    assert in_brief(certificate(*statements)) == brief
    assert conditions(certificate(*statements)) == parts


@pytest.mark.parametrize(
    ("exempt", "words"),
    [
        (range(3, 10), "prototypes 0, 1 and 2 are at least 0.5"),
        (range(1, 10), "prototype 0 is at least 0.5"),
        ((*range(4), 9), "none but 5 prototypes, listed below, may be below 0.5"),
        ((0, 1), "no other but perhaps prototypes 0 and 1 is below 0.5"),
    ],
)
def test_a_clause_names_whichever_are_fewer(exempt, words):
    given = certificate(FloorStatement(tuple(exempt), HALF))
    assert conditions(given, count=10) == [words] and in_brief(given, 10) == words.replace(", listed below,", "")


def test_of_what_has_a_statement_that_says_as_much_a_clause_says_nothing():
    given = certificate(FIVE, TWO, OrderStatement((5,), HALF), FloorStatement((2,), HALF))
    assert conditions(given) == [
        "these 2 prototypes are as active as shown",
        "no other is above 0.5",
        "no other is below 0.5",
    ]
    weaker = certificate(FIVE, TWO, OrderStatement((5,), HALF / 2), FloorStatement((2,), HALF * 2))
    assert conditions(weaker)[1:] == [
        "no other, nor prototype 2, is above 0.25",
        "no other, nor prototype 5, is below 1",
    ]
    assert conditions(certificate(FIVE, FloorStatement((0, 1, 2, 3, 4), HALF)), count=6) == [
        "this prototype is as active as shown"
    ]


def test_many_that_a_clause_means_are_counted():
    given = certificate(OrderStatement(tuple(range(5, 50)), HALF))
    assert conditions(given, count=50) == ["5 prototypes, listed below, are at most 0.5"]


def test_where_comparisons_are():
    both = (NEAR, PatchStatement(0, 1, HALF, None))
    assert conditions(certificate(*both, patches=4)) == [
        "2 comparisons with prototypes in 2 of the 4 patches come out as stated"
    ]
    every = tuple(PatchStatement(patch, 1, HALF, None) for patch in range(3))
    assert in_brief(certificate(*every, patches=3)) == "3 comparisons in all 3 patches"


def test_a_few_comparisons_of_one_patch_are_named():
    few = (
        PatchStatement(0, 5, None, Fraction(1, 3)),
        PatchStatement(0, 2, HALF, None),
        PatchStatement(0, 4, HALF, HALF),
    )
    assert in_brief(certificate(*few, patches=1)) == (
        "prototype 5 at most 0.334, prototype 2 at least 0.5, prototype 4 0.5 to 0.5"
    )
    assert conditions(certificate(*few, patches=1), "squared distance") == [
        "its squared distance to prototype 5 is at most 0.334",
        "its squared distance to prototype 2 is at least 0.5",
        "its squared distance to prototype 4 is 0.5 to 0.5",
    ]
    many = tuple(PatchStatement(0, prototype, HALF, None) for prototype in range(5))
    assert in_brief(certificate(*many, patches=1)) == "5 comparisons"
    assert conditions(certificate(*many, patches=1)) == ["5 comparisons with prototypes come out as stated"]


def test_the_stated_prototypes_are_those_of_activations():
    assert stated_prototypes((NEAR, FIVE, OrderStatement((7,), HALF), TWO)) == (5, 2)
