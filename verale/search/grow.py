"""Grow: add the statement that most reduces what the open rivals still lack, until none is open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from verale.bounds import SpatialParadigm, oriented, pooled_activation, put, take
from verale.search.problem import Pair, Problem

__all__ = ["Growth", "grow"]

R = TypeVar("R", bound=Any)

_ROUNDS_BETWEEN_NARROWING = 16


@dataclass
class Growth:
    """What became of one image.

    Attributes:
        pairs: the statements, in the order found.
        stuck: why they do not entail the class; empty if they do.
    """

    pairs: list[Pair]
    stuck: str = ""


def grow(problem: Problem, paradigm: SpatialParadigm[R]) -> tuple[list[Growth], R]:
    """For each image, statements that entail its class; all images in lockstep.

    In each round the worst open rival points at the activation that costs it most, and that at a patch: the one where
    the activation is attained (if it must be shown to be high) or might be exceeded (if it must be shown to be low).
    Two statements about this patch are tried, the one that explains most of what is unknown of the latent and that
    prototype itself; the one that leaves the smaller sum of open deficits is taken, the first if they leave the same.

    Args:
        problem: N images of L patches.
        paradigm: how statements bound observables.

    Returns:
        One Growth an image, and the paradigm's rows (N * L) after the statements.

    Soundness: all bounds are rounded outward, so "no rival is open" is a proof. Every round states one more pair of
    each open image: it ends.
    """
    rows = paradigm.start(len(problem) * problem.patches)
    growths = [Growth([]) for _ in range(len(problem))]
    front = _Front(problem, paradigm)
    while len(front.images):
        target = front.target()
        ended = []
        for place, (open_, loss) in enumerate(zip(target.open.tolist(), target.loss.tolist(), strict=True)):
            if front.live[place] and (not open_ or loss <= 0):
                growths[front.images[place]].stuck = target.reason(place) if open_ else ""
                ended.append(place)
        if ended:
            rows = put(rows, problem.rows_of([front.images[place] for place in ended]), front.take_rows(ended))
            if front.retire(ended):
                continue
        chosen = front.advance(target.patch, target.prototype)
        for place, pair in enumerate(zip(target.patch.tolist(), chosen.tolist(), strict=True)):
            if front.live[place]:
                growths[front.images[place]].pairs.append(pair)
    return growths, rows


@dataclass(frozen=True)
class _Target:
    """For each image of the front, the pair that its worst rival asks for.

    Attributes:
        open: (n,) whether a rival is open.
        rival, margin: (n,) the worst, and what is proved of it.
        patch, prototype, loss: (n,) the pair, and what not knowing it costs.
    """

    open: Tensor
    rival: Tensor
    margin: Tensor
    patch: Tensor
    prototype: Tensor
    loss: Tensor

    def reason(self, place: int) -> str:
        return (
            f"class {int(self.rival[place])} stays open (margin >= {float(self.margin[place]):.3g}) though every "
            "statement that could help is made"
        )


class _Front:
    """The images that are still growing, and what is known of them.

    Images that have ended stay among the tensors, ignored, until there are enough of them to be worth a copy.
    """

    def __init__(self, problem: Problem, paradigm: SpatialParadigm[R]) -> None:
        self._paradigm = paradigm
        self._problem = problem
        self.images = list(range(len(problem)))
        self.live = [True] * len(problem)
        self.rows = paradigm.start(len(problem) * problem.patches)
        near, far = (end.view(len(problem), problem.patches, -1) for end in oriented(problem.head, self.rows.range))
        self._near = near.clone()
        self._far = far.amin(1)
        self._stated = torch.zeros_like(near, dtype=torch.bool)
        self._box = pooled_activation(problem.head, near.amin(1), self._far)
        self._margins = problem.margins.lower(self._box[:, None])[:, 0]
        self._attained = problem.dissimilarities().argmin(1)
        self._actual = (problem.activations.lower + problem.activations.upper) / 2
        self._each = torch.arange(len(problem), device=self._near.device)
        self._rounds = 0

    def target(self) -> _Target:
        """What to state next."""
        each, margins, box = self._each, self._problem.margins, self._box
        margin, rival = self._margins.min(1)
        favour = margins.positive[each, :, rival]
        against = -margins.negative[each, :, rival]
        loss = favour * (self._actual - box.lower) + against * (box.upper - self._actual)
        worst, prototype = loss.max(1)
        exceeding = self._near[each, :, prototype].argmin(1)
        patch = torch.where(favour[each, prototype] > 0, self._attained[each, prototype], exceeding)
        if bool(self._stated[each, patch, prototype].any()):
            # What is stated already cannot help again; look at all prototypes' patches, and leave such pairs out.
            patches = torch.where(favour > 0, self._attained, self._near.argmin(1))
            known = self._stated.gather(1, patches[:, None])[:, 0]
            worst, prototype = loss.masked_fill(known, 0.0).max(1)
            patch = patches[each, prototype]
        return _Target(
            open=~(margin > 0),
            rival=margins.rivals[each, rival],
            margin=margin,
            patch=patch,
            prototype=prototype,
            loss=worst,
        )

    def advance(self, patch: Tensor, own: Tensor) -> Tensor:
        """State one more pair of each image about a patch (n,); returns the prototypes chosen (n,)."""
        problem, each = self._problem, self._each
        index = each * problem.patches + patch
        current = take(self.rows, index)
        seen = problem.observed[index]
        guess = self._paradigm.pursue(current, (seen.lower + seen.upper) / 2)
        pursuit = guess.masked_fill(self._stated[each, patch], -torch.inf).argmax(1)
        pursuit = torch.where(self._stated[each, patch, pursuit], own, pursuit)
        candidates = torch.stack([pursuit, own], 1)

        twice = each.repeat_interleave(2)
        extended = self._paradigm.extend(take(current, twice), candidates.flatten(), seen[twice, candidates.flatten()])
        near, far = (end.view(len(each), 2, -1) for end in oriented(problem.head, extended.range))
        self._near[each, patch] = torch.inf
        others = self._near.amin(1)
        far = torch.minimum(far, self._far[:, None])
        box = pooled_activation(problem.head, torch.minimum(near, others[:, None]), far)
        margins = problem.margins.lower(box)
        best = margins.clamp(max=0).sum(-1).argmax(1)

        self.rows = put(self.rows, index, take(extended, 2 * each + best))
        self._near[each, patch] = near[each, best]
        self._far = far[each, best]
        chosen = candidates[each, best]
        self._stated[each, patch, chosen] = True
        self._box, self._margins = box[each, best], margins[each, best]
        self._narrow()
        return chosen

    def _narrow(self) -> None:
        """Forget rivals that are closed in every image: bounds only get tighter, so they stay closed."""
        self._rounds += 1
        if self._rounds % _ROUNDS_BETWEEN_NARROWING == 0:
            most = int((~(self._margins > 0)).sum(1).max())
            if 0 < most <= self._margins.shape[1] // 2:
                self._margins, worst = self._margins.topk(most, largest=False)
                self._problem = replace(self._problem, margins=self._problem.margins.keep(worst))

    def take_rows(self, places: list[int]) -> Any:
        """The rows of some images."""
        return take(self.rows, self._problem.rows_of(places))

    def retire(self, places: list[int]) -> bool:
        """Some images have ended. True if the tensors were made smaller, so that places have changed."""
        for place in places:
            self.live[place] = False
        kept = [place for place, alive in enumerate(self.live) if alive]
        if len(kept) > 0.9 * len(self.live):
            return False
        self.images = [self.images[place] for place in kept]
        if not kept:
            return True
        index = self._problem.index(kept)
        self.rows = self.take_rows(kept)
        self._problem = self._problem.take(kept)
        self.live = [True] * len(kept)
        self._near, self._far, self._stated = self._near[index], self._far[index], self._stated[index]
        self._box, self._margins = self._box[index], self._margins[index]
        self._attained, self._actual = self._attained[index], self._actual[index]
        self._each = self._each[: len(kept)]
        return True
