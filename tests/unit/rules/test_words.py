"""Rules in words."""

from __future__ import annotations

import math

import pytest

from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.certificate.statements import bounds_in_words
from verale.head import Cosine, Euclidean, InnerProduct, Softmax
from verale.rules.words import conditions

INF = math.inf


def rule(*statements, paradigm: str = "top_k") -> Certificate:
    return Certificate("0" * 64, None, 4, paradigm, 1, statements, (1.0, 1.0, 1.0, 1.0, None), False, "0")


def test_distances_of_a_patch():
    said = rule(PatchStatement(0, 5, -INF, 0.375), PatchStatement(0, 2, 0.4375, INF), PatchStatement(0, 4, 0.625, INF))
    assert conditions(said, Euclidean(), 50) == (
        "squared distance at most 0.375 from prototype 5, at least 0.4375 from prototype 2 and 0.625 from 4"
    )


@pytest.mark.parametrize(
    ("geometry", "words"),
    [
        (Cosine(), "cosine at least 0.5 with prototype 0"),
        (Cosine(1e-4, rooted=True), "cosine at least 0.5 with prototype 0"),
        (InnerProduct(), "inner product at least 0.5 with prototype 0"),
        (Softmax(), "mass at least 0.5 of prototype 0"),
    ],
)
def test_other_observables(geometry, words):
    assert conditions(rule(PatchStatement(0, 0, 0.5, INF)), geometry, 50) == words


def test_activations_and_clauses():
    said = rule(
        ActivationStatement(0, 1.0, 2.0),
        ActivationStatement(1, 3.0, INF),
        ActivationStatement(3, -1.0, 2.5),
        OrderStatement((0, 1, 3), 0.25),
        FloorStatement((), -2.0),
    )
    assert conditions(said, Euclidean(), 50) == (
        "activation at least 3 of prototype 1, from 1 to 2 of prototype 0 and -1 to 2.5 of 3,"
        " at most 0.25 of every prototype except prototypes 0, 1 and 3, at least -2 of every prototype"
    )
    assert conditions(rule(), Euclidean(), 50) == "any image"


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        (1 / 3, INF, "at least 0.33333333333333332"),
        (-INF, 1 / 3, "at most 0.3333333333333333"),
        (1 / 3, 2 / 3, "from 0.33333333333333332 to 0.6666666666666666"),
        (math.nextafter(0.1, 0), math.nextafter(0.3, 1), "from 0.1 to 0.3"),
        (3.3, math.nextafter(3.3, 4), "from 3.3 to 3.3"),
    ],
)
def test_bounds_are_told_in_the_statements_own_numbers(lower, upper, words):
    assert bounds_in_words(ActivationStatement(0, lower, upper)) == words
