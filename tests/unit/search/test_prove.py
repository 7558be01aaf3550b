"""The loop: what is not proved is asked for again, what is in doubt is tried without, and nothing unproved is kept."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from support.problems import small_problem

from verale.bounds import Projection
from verale.search.problem import Pair, Problem
from verale.search.prove import HOPELESS, UNSETTLED, Proved, SpatialExplanation, StaysOpen, propose_and_prove

FAILS, DOUBTFUL = [(9, 9)], (0, 5)


@dataclass
class Scripted:
    """An engine that gives what was written down; it proves all but FAILS, and doubts DOUBTFUL."""

    problem: Problem
    answers: dict[int, list[list[Pair] | str | None]]
    paradigm: object = None
    guards: tuple[float, ...] = (1.0, 2.0)
    asked: list[tuple[int, float, float, list[Pair]]] = field(default_factory=list)

    def choose(self, images, guard, most, early):
        self.asked += list(zip(images, [guard] * len(images), most, early, strict=True))
        return [self.answers[image].pop(0) for image in images]

    def prove(self, chosen) -> dict[int, Proved | None]:
        return {image: None if pairs == FAILS else self._proved(pairs) for image, pairs in chosen.items()}

    def _proved(self, pairs: list[Pair]) -> Proved:
        doubtful = [pair for pair in pairs if pair == DOUBTFUL]
        return SpatialExplanation(pairs, torch.ones(2), not doubtful), doubtful


def scripted(*answers) -> Scripted:
    problem = small_problem("euclidean", images=len(answers) + 2).take(list(range(len(answers))))
    return Scripted(problem, dict(enumerate(answers)), Projection(problem.head))


def test_each_image_has_its_own_outcome():
    engine = scripted([[(0, 1)]], ["given up"], [None], [FAILS, [(0, 2)]], [FAILS, FAILS])
    explained = propose_and_prove(engine)
    assert {image: getattr(each, "pairs", each) for image, each in explained.items()} == {
        0: [(0, 1)],
        1: "given up",
        3: [(0, 2)],
        4: UNSETTLED,
    }
    assert [(image, guard) for image, guard, _, _ in engine.asked] == [
        *((i, 1.0) for i in range(5)),
        (3, 2.0),
        (4, 2.0),
    ]


def test_a_class_that_stays_open_is_searched_with_smaller_guards_alone():
    engine = scripted([StaysOpen("open"), [(0, 1)]], [FAILS, FAILS], [StaysOpen("open"), StaysOpen("still open")])
    engine.guards = (1.0, 2.0, 0.5)
    explained = propose_and_prove(engine)
    assert explained[0].pairs == [(0, 1)] and explained[1] == UNSETTLED and explained[2] == "still open"
    assert [(image, guard) for image, guard, _, _ in engine.asked][3:] == [(1, 2.0), (0, 0.5), (2, 0.5)]


def test_a_limit_is_told_with_room_for_what_shrinking_drops():
    engine = scripted([[(0, 1)]], ["too many"])
    propose_and_prove(engine, [4.0, 2.0])
    assert [most for _, _, most, _ in engine.asked] == [4.0 * HOPELESS, 2.0 * HOPELESS]


def test_what_is_in_doubt_is_tried_without_once():
    engine = scripted([[(0, 1), DOUBTFUL], [(0, 1), (0, 3)]])
    (explanation,) = propose_and_prove(engine).values()
    assert explanation.pairs == [(0, 1), (0, 3)] and explanation.minimal
    assert engine.asked[1] == (0, 1.0, float("inf"), [DOUBTFUL])


def test_where_doubt_stays_the_first_explanation_does_without_the_claim():
    engine = scripted([[(0, 1), DOUBTFUL], [(0, 2), DOUBTFUL]])
    (explanation,) = propose_and_prove(engine).values()
    assert explanation.pairs == [(0, 1), DOUBTFUL] and not explanation.minimal
