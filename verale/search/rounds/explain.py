"""Explanations by statements about patches: in rounds, for all images of a batch at once, or step by step."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from verale.bounds import LinearMargins, Projection, SpatialParadigm
from verale.bounds.spans import Spans
from verale.head import BankPooling, Head, Linear, MaskedMaxPooling, MaxPooling
from verale.paradigms import ORDERS
from verale.search.problem import Pair, Problem, given_up
from verale.search.prove import UNSETTLED, Explained, Proved, SpatialExplanation, propose_and_prove
from verale.search.rounds.deletion import Deletion
from verale.search.rounds.growth import Growth
from verale.search.rounds.images import Images
from verale.search.rounds.stepwise import Stepwise

__all__ = ["Rounds", "admits", "admits_head", "explain_spatial"]

GUARD = 1e-6
"""Growth ends when all estimated margins exceed this."""


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
) -> list[Explained]:
    """For each image an explanation, or the reason why there is none.

    Where an image's explanation has to have at most `most` statements, it is given up when that has become hopeless.

    What rounds admit is searched in rounds, many images at once; what they leave open, and all else, step by step.
    """
    limits = [float("inf")] * len(problem) if most is None else most
    explained: dict[int, Explained] = {}
    if admits(problem, paradigm, order):
        settled = propose_and_prove(Rounds(problem, paradigm), limits)
        explained = {image: each for image, each in settled.items() if each != UNSETTLED}
    left = [image for image in range(len(problem)) if image not in explained]
    engine = Stepwise(problem.take(left), paradigm, order)
    others = propose_and_prove(engine, [limits[image] for image in left])
    explained |= {left[at]: explanation for at, explanation in others.items()}
    return [explained[image] for image in range(len(problem))]


class Rounds:
    """See `verale.search.prove.Engine`. It has no answer for images that it does not explain.

    Args:
        problem: N images, such as `admits` admits.
        paradigm: how statements bound observables.
    """

    guards: tuple[float, ...] = (GUARD,)

    def __init__(self, problem: Problem, paradigm: Any) -> None:
        self.problem, self.paradigm = problem, paradigm
        self._grown: dict[int, list[Pair]] = {}
        self._last: tuple[dict[int, list[Pair]], list[int], Deletion] | None = None

    def choose(
        self,
        images: list[int],
        guard: float | Tensor,
        most: list[float],
        early: list[list[Pair]],
        start: list[list[Pair]] | None = None,
    ) -> list[list[Pair] | str | None]:
        """See `Engine`; there may be a guard for each image (N,). Growth begins with the statements `start` of each.
        Where some are to be left out early, it is not repeated."""
        if not images:
            return []
        problem = self.problem.take(images)
        guards = guard if isinstance(guard, Tensor) else torch.full((len(images),), guard, dtype=torch.float64)
        of_images = Images(problem, self.paradigm)
        if any(early):
            stated, count = _listed(problem, [self._grown[image] for image in images])
            chosen: list[list[Pair] | str | None] = [[] for _ in images]
        else:
            stated, count, chosen = self._grow(problem, of_images, guards, most, start)
        if all(each is None for each in chosen):
            return chosen
        deletion = Deletion(of_images, self.paradigm, problem.observed, stated, count)
        deletion.shrink(torch.where(guards == GUARD, problem.noise, guards), problem.by_patch(early))
        spans = deletion.spans
        left = {
            image: _pairs(spans.stated, spans.count, at, problem.patches)
            for at, (image, each) in enumerate(zip(images, chosen, strict=True))
            if isinstance(each, list)
        }
        grown = ((image, _pairs(stated, count, at, problem.patches)) for at, image in enumerate(images))
        self._grown |= {image: pairs for image, pairs in grown if image in left}
        self._last = left, images, deletion
        return [left.get(image, each) for image, each in zip(images, chosen, strict=True)]

    def _grow(
        self, problem: Problem, images: Images, guards: Tensor, most: list[float], start: list[list[Pair]] | None
    ) -> tuple[Tensor, Tensor, list[list[Pair] | str | None]]:
        """(N * L, M) the stated prototypes, (N * L,) how many there are, and of which images they serve: the list of
        those is empty. Of the others, why not."""
        growth, limits = Growth(images), torch.tensor(most, dtype=torch.float64)
        if start is not None:
            spans = Spans(self.paradigm, *_listed(problem, start), problem.observed)
            if not bool(spans.clear.all()):
                return spans.stated, spans.count, [None] * len(problem)
            growth.begin_with(spans)
        grown = growth.grow(guards, limits).tolist()
        stated, count = growth.statements()
        size = count.view(len(problem), -1).sum(1).tolist()
        return stated, count, [
            [] if is_grown else given_up(each) if each > limit else None
            for is_grown, each, limit in zip(grown, size, most, strict=True)
        ]  # fmt: skip

    def prove(self, chosen: dict[int, list[Pair]]) -> dict[int, Proved | None]:
        """See `Engine`."""
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
        doubtful = deletion.doubtful(problem.noise)
        is_proved = (clear & (margins > 0).all(1)).tolist()
        proved: dict[int, Proved | None] = dict.fromkeys(chosen)
        for at, image in enumerate(images):
            if image in chosen and is_proved[at]:
                rows = slice(at * patches, (at + 1) * patches)
                pairs = [
                    (patch, int(spans.stated[rows][patch, place])) for patch, place in doubtful[rows].nonzero().tolist()
                ]
                proved[image] = SpatialExplanation(chosen[image], margins[at], not pairs), pairs
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
