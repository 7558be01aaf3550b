"""Projection: statements about distances, cosines or inner products, which together say where a latent lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from verale.bounds import Projection
from verale.certificate import Statement
from verale.paradigms import ORDERS
from verale.search.digits import in_digits, margins_in_digits
from verale.search.paradigms.base import Solved
from verale.search.paradigms.of_patches import OfPatches
from verale.search.problem import Pair, Problem
from verale.search.prove import HOPELESS, Proved, not_surely_needed, without_doubtful
from verale.search.rounds.explain import Rounds, admits
from verale.search.rounds.stepwise import Stepwise
from verale.search.stated import pairs_of, statements_about

__all__ = ["ProjectionSearch"]

_TRIES = 3
_MORE = 1.1
"""The margins that are asked for are so many times what was lost."""
_GROWS = 1.5
"""And at least so many times those before."""
_LARGEST = 1.1
"""An explanation of few digits has at most so many times as many statements; or else it has more digits."""
_FEW = 16
"""So many statements that the class perhaps follows without are tried once more."""


class ProjectionSearch(OfPatches):
    """See `verale.bounds.Projection`."""

    name = "projection"
    bounds = Projection

    def with_slack(
        self, problem: Problem, statements: Sequence[Sequence[Statement]], lost: Tensor, digits: int, least: float
    ) -> list[Solved | None]:
        """See `ParadigmSearch`. The search, which knows exact statements alone, is asked for margins that are greater
        by what widths cost. In rounds, the explanations are grown on, those of all images together."""
        found: list[Solved | None] = [None] * len(statements)
        if problem.costs or self.orders[0] != ORDERS[0]:
            return found
        pairs, costs = list(map(pairs_of, statements)), dict(enumerate(lost))
        guards = dict.fromkeys(costs, 0.0)
        for _ in range(_TRIES):
            # In two digits: so that no last bit, which depends on the processor, decides what is found.
            guards = {
                image: max(_GROWS * guards[image], float(f"{_MORE * float(each.nan_to_num(0.0).amax()):.1e}"))
                for image, each in costs.items()
            }
            part = problem.take(list(costs))
            above = self._above(part, [pairs[image] for image in costs], list(guards.values()))
            costs = {}
            for at, (image, proved) in enumerate(zip(guards, above, strict=True)):
                if proved is None:
                    continue
                one, (explanation, doubtful) = part.take([at]), proved
                wide = in_digits(statements_about(one, explanation.pairs), digits, least)
                margins = self.prove(one, wide)
                if bool((margins > 0).all()):
                    kept, more, needed = self._without_needless(one, explanation.pairs, doubtful, wide, margins)
                    found[image] = kept, margins_in_digits(more.tolist()), needed, ()
                else:
                    costs[image] = explanation.margins - margins
            if not costs:
                break
        return found

    def _above(self, problem: Problem, pairs: list[list[Pair]], guards: list[float]) -> list[Proved | None]:
        """For each image hardly more statements than these, whose margins exceed a guard."""
        proved: list[Proved | None] = [None] * len(pairs)
        left = list(range(len(pairs)))

        def choose(engine: Rounds | Stepwise, images: list[int], guard: Any, *start: Any) -> None:
            """Have the engine choose statements for some images, and leave those that it has some for."""
            most = [HOPELESS * _LARGEST * len(pairs[image]) for image in images]
            choices = engine.choose(images, guard, most, [[] for _ in images], *start)
            few = {
                image: each
                for image, each in zip(images, choices, strict=True)
                if isinstance(each, list) and len(each) <= _LARGEST * len(pairs[image])
            }
            for image, each in engine.prove(few).items():
                proved[image] = each
            left[:] = [image for image in left if image not in few]

        is_admitted = admits(problem, self.spatial, self.orders[0])
        if is_admitted:
            rounds, every = Rounds(problem, self.spatial), torch.tensor(guards, dtype=torch.float64)
            choose(rounds, left, every, pairs)
            left[:] = [image for image in left if len(pairs[image]) <= _FEW]
            if left:
                choose(rounds, left.copy(), every[problem.index(left)])
        for image in left.copy():
            choose(Stepwise(problem, self.spatial), [image], guards[image])
        return proved

    def _without_needless(
        self, image: Problem, pairs: list[Pair], doubtful: list[Pair], wide: list[Statement], margins: Tensor
    ) -> tuple[list[Statement], Tensor, bool]:
        """The wide statements about pairs without what the class follows without, if few are in doubt."""
        if not doubtful or len(doubtful) > _FEW:
            return wide, margins, not doubtful
        stated = image.with_ends(wide)
        left = without_doubtful(stated, self.spatial, pairs, doubtful)
        unsure = not_surely_needed(stated, self.spatial, left, [pair for pair in doubtful if pair in set(left)])
        if left == pairs:
            return wide, margins, not unsure
        kept = [each for each, pair in zip(wide, pairs, strict=True) if pair in set(left)]
        again = self.prove(image, kept)
        return (kept, again, not unsure) if bool((again > 0).all()) else (wide, margins, False)
