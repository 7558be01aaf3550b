"""Explanations by statements about patches: in rounds, for all images of a batch at once, or step by step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from verale.bounds import LinearMargins, Projection, SpatialParadigm
from verale.head import BankPooling, Head, Linear, MaskedMaxPooling, MaxPooling
from verale.paradigms import ORDERS
from verale.rounding import Enclosure
from verale.rounding.decimals import decades, to_powers
from verale.search.problem import NoExplanation, Pair, Problem, given_up
from verale.search.prove import HOPELESS, UNSETTLED, Explained, Proved, SpatialExplanation, without_doubtful
from verale.search.rounds.deletion import Deletion
from verale.search.rounds.growth import Growth
from verale.search.rounds.images import Images
from verale.search.rounds.stepwise import Stepwise

GUARD = 1e-6
"""Growth ends when all estimated margins exceed this."""

MORE = 1.1
"""The margins that are asked for are so many times what widths cost."""

_AT_LEAST = 0.8
"""And at least this share of what they cost the rival whom they help most: estimates of single rivals may be off."""

LARGEST = 1.1
"""An explanation of few digits has at most so many times as many statements; or else it has more digits."""

_FEW = 16
"""Of more statements that are needed only for the margins that are asked for, nobody asks which are surely needed."""

SHORT = 64
"""Of images with at most so many statements step by step some are found all of which are needed where they are wide."""

Widened = Callable[[Enclosure], Enclosure]
"""Intervals of observables as statements will give them."""


def admits_head(head: Head, paradigm: SpatialParadigm, order: str) -> bool:
    """Whether statements are searched in rounds, of a head with a maximum as pooling and a linear readout."""
    return (
        isinstance(paradigm, Projection)
        and order == ORDERS[0]
        and isinstance(head.pooling, (MaxPooling, MaskedMaxPooling, BankPooling))
        and isinstance(head.readout, Linear)
    )


def admits(problem: Problem, paradigm: SpatialParadigm, order: str) -> bool:
    """Whether these images are: their statements are exact and of equal cost."""
    return (
        admits_head(problem.head, paradigm, order)
        and isinstance(problem.margins, LinearMargins)
        and not problem.tolerance
        and not problem.costs
        and problem.is_finite
    )


def explain_spatial(
    problem: Problem,
    paradigm: SpatialParadigm,
    order: str,
    most: list[float] | None = None,
    widened: Widened | None = None,
) -> list[Explained]:
    """For each image an explanation, or why there is none.

    Where statements are to be `widened`, rounds choose some that should entail the class then too.

    Where an image's explanation has to have at most `most` statements, it is given up when that has become hopeless.

    What rounds admit is searched in rounds, many images at once; what they leave open, and all else, step by step.
    """
    limits = [float("inf")] * len(problem) if most is None else most
    explained: dict[int, Explained] = {}
    if admits(problem, paradigm, order):
        settled = propose_and_prove(Rounds(problem, paradigm, widened), limits)
        explained = {image: each for image, each in settled.items() if each != UNSETTLED}
    left = [image for image in range(len(problem)) if image not in explained]
    engine = Stepwise(problem.take(left), paradigm, order)
    others = propose_and_prove(engine, [limits[image] for image in left])
    explained |= {left[at]: explanation for at, explanation in others.items()}
    return [explained[image] for image in range(len(problem))]


def propose_and_prove(engine: Rounds | Stepwise, most: list[float] | None = None) -> dict[int, Explained]:
    """The explanations of the images of which the engine finds some, and why others were given up.

    What an engine proposes for an image counts only once rounded bounds prove it; where they do not, it is asked again
    with a larger guard. Statements that are not surely needed are dropped where rounded bounds prove that they can be.

    Args:
        engine: proposes, and has its proposals proved.
        most: for each image how many statements its explanation may have; it is given up when that is hopeless.

    Soundness: whatever the engine proposes, an explanation has margins that its statements alone prove.
    """
    images = list(range(len(engine.problem)))
    limits = [math.inf] * len(images) if most is None else [HOPELESS * limit for limit in most]
    explained: dict[int, Explained] = {}
    open_, unproved = images, images
    why: dict[int, NoExplanation] = {}
    for guard in engine.guards:
        asked = open_ if guard < engine.guards[0] else unproved
        choices = engine.choose(asked, guard, [limits[image] for image in asked])
        chosen = dict(zip(asked, choices, strict=True))
        why |= {image: each for image, each in chosen.items() if isinstance(each, NoExplanation)}
        proved = engine.prove({image: each for image, each in chosen.items() if isinstance(each, list)})
        why |= {image: UNSETTLED for image, each in proved.items() if each is None}
        explained |= {image: each[0] for image, each in proved.items() if each}
        doubtful = {image: each for image, each in proved.items() if each and each[1]}
        fewer = {
            image: without_doubtful(engine.problem.take([image]), engine.paradigm, found.pairs, pairs)
            for image, (found, pairs) in doubtful.items()
        }
        explained |= {image: each[0] for image, each in engine.prove(fewer).items() if each and not each[1]}
        unproved = [image for image, each in proved.items() if each is None]
        open_ = [image for image, each in sorted(why.items()) if each.stays_open and image not in explained]
        if not (open_ or unproved):
            break
    return why | explained


class Rounds:
    """An engine as `Stepwise` is. It has no answer for images that it does not explain.

    Args:
        problem: N images, such as `admits` admits.
        paradigm: how statements bound observables.
        widened: how their intervals will be widened; None if they stay exact.
    """

    guards: tuple[float, ...] = (GUARD,)

    def __init__(self, problem: Problem, paradigm: Any, widened: Widened | None = None) -> None:
        self.problem, self.paradigm, self._widened = problem, paradigm, widened
        self._last: tuple[dict[int, list[Pair]], list[int], Deletion] | None = None

    def choose(self, images: list[int], guard: float, most: list[float]) -> list[list[Pair] | NoExplanation | None]:
        """See `Stepwise`."""
        if not images:
            return []
        problem = self.problem.take(images)
        of_images = Images(problem, self.paradigm)
        growth = Growth(of_images)
        grown = growth.grow(guard, torch.tensor(most, dtype=torch.float64)).tolist()
        stated, count = growth.statements()
        size = count.view(len(images), -1).sum(1).tolist()
        chosen: list[list[Pair] | NoExplanation | None] = [
            [] if is_grown else given_up(each) if each > limit else None
            for is_grown, each, limit in zip(grown, size, most, strict=True)
        ]
        is_grown = torch.tensor([isinstance(each, list) for each in chosen])
        if not bool(is_grown.any()):
            return chosen
        deletion = Deletion(of_images, self.paradigm, problem.observed, stated, count)
        if self._widened is not None:
            deletion = self._grown_on(deletion, self._widened, guard, is_grown)
        deletion.shrink(problem.noise)
        spans = deletion.spans
        left = {
            image: _pairs(spans.stated, spans.count, at, problem.patches)
            for at, (image, each) in enumerate(zip(images, chosen, strict=True))
            if isinstance(each, list)
        }
        self._last = left, images, deletion
        return [left.get(image, each) for image, each in zip(images, chosen, strict=True)]

    def _grown_on(self, deletion: Deletion, widened: Widened, guard: float, asked_of: Tensor) -> Deletion:
        """The same with the statements more that margins need where intervals are widened, of the images (N,) that are
        asked of. Those of which this takes too many stay as they are."""
        images, spans = deletion.images, deletion.spans
        size = spans.count.view(len(images), -1).sum(1)
        asked_of = asked_of & (size > SHORT)
        if not bool(asked_of.any() & spans.clear.all()):
            return deletion
        lost = deletion.lost(widened).nan_to_num(0.0, 0.0, 0.0)
        asked = (MORE * torch.maximum(lost, _AT_LEAST * lost.amax(1, keepdim=True))).clamp(min=0)
        # In two digits: so that no last bit, which depends on the processor, decides what is found.
        asked = to_powers(Enclosure.unchecked(asked, asked), decades(asked) - 1).upper
        images.ask(asked)
        growth = Growth(images)
        growth.begin_with(spans)
        grown = growth.grow(guard, torch.where(asked_of, LARGEST * size, 0.0)) & asked_of
        images.ask(asked * grown[:, None])
        stated, count = growth.statements()
        rows, most = grown.repeat_interleave(images.patches), max(stated.shape[1], spans.stated.shape[1])
        stated, before = (pad(each, (0, most - each.shape[1])) for each in (stated, spans.stated))
        count = torch.where(rows, count, spans.count)
        stated = torch.where(rows[:, None], stated, before)[:, : max(1, int(count.max()))]
        return Deletion(images, self.paradigm, spans.observed, stated, count)

    def prove(self, chosen: dict[int, list[Pair]]) -> dict[int, Proved | None]:
        """See `Stepwise`. What margins were asked for is needed: no statement is in doubt, though none may be sure."""
        if not chosen:
            return {}
        if self._last is not None and all(self._last[0].get(image) == pairs for image, pairs in chosen.items()):
            _, images, deletion = self._last
            problem = self.problem.take(images)
        else:
            images = list(chosen)
            problem = self.problem.take(images)
            of_images = Images(problem, self.paradigm)
            listed = _listed(problem, list(chosen.values()))
            deletion = Deletion(of_images, self.paradigm, problem.observed, *listed)
        patches, spans = problem.patches, deletion.spans
        margins = problem.proved_margins(spans.ranges(False))
        clear = spans.clear.view(len(images), -1).all(1)
        asked = deletion.images.asked
        deletion.images.ask(torch.zeros_like(asked))
        doubtful = deletion.doubtful(problem.noise, deletion.spared <= _FEW)
        deletion.images.ask(asked)
        have_slack = (asked > 0).any(1).tolist()
        is_proved = (clear & (margins > 0).all(1)).tolist()
        proved: dict[int, Proved | None] = dict.fromkeys(chosen)
        for at, image in enumerate(images):
            if image in chosen and is_proved[at]:
                rows = slice(at * patches, (at + 1) * patches)
                pairs = [
                    (patch, int(spans.stated[rows][patch, place])) for patch, place in doubtful[rows].nonzero().tolist()
                ]
                explanation = SpatialExplanation(chosen[image], margins[at], not pairs)
                proved[image] = explanation, [] if have_slack[at] else pairs
        return proved


def _pairs(stated: Tensor, count: Tensor, image: int, patches: int) -> list[Pair]:
    """One image's statements, by patch and prototype."""
    rows = range(image * patches, (image + 1) * patches)
    return [(row % patches, k) for row in rows for k in sorted(stated[row, : int(count[row])].tolist())]


def _listed(problem: Problem, explanations: list[list[Pair]]) -> tuple[Tensor, Tensor]:
    """(N * L, M) the stated prototypes, and (N * L,) how many there are."""
    stated = problem.by_patch(explanations)
    lists = [stated.get(row, []) for row in range(len(problem) * problem.patches)]
    count = torch.tensor(list(map(len, lists)))
    most = max(1, int(count.max()))
    return torch.tensor([each + [0] * (most - len(each)) for each in lists]), count
