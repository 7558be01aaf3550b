"""Projection: statements about distances, cosines or inner products, which together say where a latent lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from verale.bounds import Projection
from verale.certificate import Statement
from verale.paradigms import ORDERS
from verale.search.digits import in_digits, margins_in_digits
from verale.search.paradigms.of_patches import OfPatches
from verale.search.problem import Pair, Problem
from verale.search.prove import HOPELESS, Proved, not_surely_needed, without_doubtful
from verale.search.rounds.explain import Rounds, admits
from verale.search.rounds.stepwise import Stepwise
from verale.search.smallest import Solved
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
        self, image: Problem, statements: Sequence[Statement], lost: Tensor, digits: int, least: float
    ) -> Solved | None:
        """See `ParadigmSearch`. The search, which knows exact statements alone, is asked for margins that are greater
        by what widths cost. In rounds, the explanation is grown on."""
        if image.costs or self.orders[0] != ORDERS[0]:
            return None
        pairs, guard = pairs_of(statements), 0.0
        for _ in range(_TRIES):
            # In two digits: so that no last bit, which depends on the processor, decides what is found.
            guard = max(_GROWS * guard, float(f"{_MORE * float(lost.nan_to_num(0.0).amax()):.1e}"))
            proved = self._above(image, pairs, guard)
            if proved is None:
                return None
            explanation, doubtful = proved
            wide = in_digits(statements_about(image, explanation.pairs), digits, least)
            margins = self.prove(image, wide)
            if bool((margins > 0).all()):
                kept, more, needed = self._without_needless(image, explanation.pairs, doubtful, wide, margins)
                return kept, margins_in_digits(more.tolist()), needed, ()
            lost = explanation.margins - margins
        return None

    def _above(self, image: Problem, pairs: list[Pair], guard: float) -> Proved | None:
        """Hardly more statements than these, whose margins exceed a guard."""
        most, is_small = _LARGEST * len(pairs), len(pairs) <= _FEW
        tried: list[tuple[Rounds | Stepwise, list[Any]]] = []
        if admits(image, self.spatial, self.orders[0]):
            rounds = Rounds(image, self.spatial)
            tried += [(rounds, [[pairs]]), *([(rounds, [])] if is_small else [])]
        if is_small or not tried:
            tried.append((Stepwise(image, self.spatial), []))
        for engine, start in tried:
            (chosen,) = engine.choose([0], guard, [HOPELESS * most], [[]], *start)
            if isinstance(chosen, list) and len(chosen) <= most:
                return engine.prove({0: chosen})[0]
        return None

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
