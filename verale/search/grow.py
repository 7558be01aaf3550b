"""Grow: add the statement that most reduces what the open rivals still lack, until none is open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from verale.bounds import SpatialParadigm, pooling_of, put, take
from verale.bounds.pooling import slots
from verale.rounding import Enclosure
from verale.search.candidates import Wanted, aim
from verale.search.problem import Pair, Problem

__all__ = ["Growth", "grow"]

R = TypeVar("R", bound=Any)

_ROUNDS_BETWEEN_NARROWING = 16
_AT_ONCE = 16
"""Statements made in a round, at most."""


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

    In each round the worst open rival points at the activations that cost it most, and each of those at a patch: the
    one where the activation is attained (if it must be shown to be high) or might be exceeded (if it must be shown to
    be low). As many patches as its deficit calls for, at most _AT_ONCE, get a statement each. Two are tried, the one
    that explains most of what is unknown of the latent and that prototype itself; the one that leaves the smaller sum
    of open deficits is taken, the first if they leave the same.

    Args:
        problem: N images of L patches.
        paradigm: how statements bound observables.

    Returns:
        One Growth an image, and the paradigm's rows (N * L) after the statements.

    Soundness: all bounds are rounded outward, so "no rival is open" is a proof. Every round states at least one more
    pair of each open image: it ends.
    """
    rows = paradigm.start(len(problem) * problem.patches)
    growths = [Growth([]) for _ in range(len(problem))]
    front = _Front(problem, paradigm)
    while len(front.images):
        target = front.target()
        ended = []
        for place, (open_, wanted) in enumerate(zip(target.open.tolist(), target.wanted.any(1).tolist(), strict=True)):
            if front.live[place] and not wanted:
                growths[front.images[place]].stuck = target.reason(place) if open_ else ""
                ended.append(place)
        if ended:
            rows = put(rows, problem.rows_of([front.images[place] for place in ended]), front.take_rows(ended))
            if front.retire(ended):
                continue
        for place, *pair in zip(*(part.tolist() for part in front.advance(target)), strict=True):
            growths[front.images[place]].pairs.append((pair[0], pair[1]))
    return growths, rows


@dataclass(frozen=True)
class _Target:
    """For each image of the front, the pairs that its worst rival asks for.

    Attributes:
        open: (n,) whether a rival is open.
        rival, margin: (n,) the worst, and what is proved of it.
        patch, prototype: (n, M) pairs, the one that costs most first.
        wanted: (n, M) which of them to state; all of different patches, and none where no rival is open.
    """

    open: Tensor
    rival: Tensor
    margin: Tensor
    patch: Tensor
    prototype: Tensor
    wanted: Tensor

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
        ranges = self.rows.range.view(len(problem), problem.patches, -1)
        self._pooled = pooling_of(problem.head).growing(ranges)
        self._stated = torch.zeros_like(ranges.lower, dtype=torch.bool)
        self._margins = problem.margins.lower(self._pooled.box[:, None])[:, 0]
        self._least, self._attained = problem.dissimilarities().min(1)
        self._actual = (problem.activations.lower + problem.activations.upper) / 2
        self._each = torch.arange(len(problem), device=ranges.lower.device)
        self._rounds = 0

    def target(self) -> _Target:
        """What to state next."""
        each, margins, box = self._each, self._problem.margins, self._pooled.box
        margin, rival = self._margins.min(1)
        favour, against = margins.wishes(box, self._actual, rival)
        loss = favour * (self._actual - box.lower) + against * (box.upper - self._actual)
        help_ = Wanted(favour, against, loss, self._problem.observed, self._least, self._attained, self._stated)
        patch, prototype, promise = aim(help_, self._pooled)
        open_ = ~(margin > 0)
        wanted = (promise >= 0) & ~self._stated[each[:, None], patch, prototype] & open_[:, None]
        # One statement a patch; and no more than could close the deficit if each gave all that it promises.
        same = (patch[:, :, None] == patch[:, None, :]) & wanted[:, None, :]
        wanted &= ~same.tril(-1).any(2)
        promised = torch.where(wanted, promise, 0.0)
        wanted &= (promised.cumsum(1) - promised < -margin[:, None]) & (wanted.cumsum(1) <= _AT_ONCE)
        return _Target(
            open=open_,
            rival=margins.rivals[each, rival],
            margin=margin,
            patch=patch,
            prototype=prototype,
            wanted=wanted,
        )

    def advance(self, target: _Target) -> tuple[Tensor, Tensor, Tensor]:
        """State the pairs wanted, each as it is or with another prototype of its patch.

        Returns:
            (S,) each: the places of the images, the patches, the prototypes chosen.
        """
        problem = self._problem
        image, column = target.wanted.nonzero(as_tuple=True)
        patch, own = target.patch[image, column], target.prototype[image, column]
        index = image * problem.patches + patch
        current = take(self.rows, index)
        seen = problem.observed[index]
        guess = self._paradigm.pursue(current, (seen.lower + seen.upper) / 2)
        pursuit = guess.masked_fill(self._stated[image, patch], -torch.inf).argmax(1)
        pursuit = torch.where(self._stated[image, patch, pursuit], own, pursuit)
        candidates = torch.stack([pursuit, own], 1)

        each = torch.arange(len(index), device=index.device)
        twice = each.repeat_interleave(2)
        extended = self._paradigm.extend(take(current, twice), candidates.flatten(), seen[twice, candidates.flatten()])
        boxes = self._pooled.trial(image, patch, extended.range.view(len(each), 2, -1))
        margins = self._margins_of(image, boxes)
        best = margins.clamp(max=0).sum(-1).argmax(1)

        self.rows = put(self.rows, index, take(extended, 2 * each + best))
        chosen = candidates[each, best]
        self._stated[image, patch, chosen] = True
        self._pooled.choose(best)
        self._margins = problem.margins.lower(self._pooled.box[:, None])[:, 0]
        self._narrow()
        return image, patch, chosen

    def _margins_of(self, image: Tensor, boxes: Enclosure) -> Tensor:
        """(S, B, K) margins of boxes (S, B, P), each of the image named; images in order."""
        _, candidates, size = boxes.shape
        slot = slots(image)
        shape = len(self.live), int(slot.max()) + 1, candidates, size
        padded = [
            end.new_zeros(shape).index_put_((image, slot), end).flatten(1, 2) for end in (boxes.lower, boxes.upper)
        ]
        margins = self._problem.margins.lower(Enclosure.unchecked(*padded))
        return margins.view(*shape[:3], -1)[image, slot]

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
        self._pooled.select(index)
        self._stated, self._margins = self._stated[index], self._margins[index]
        self._least, self._attained, self._actual = self._least[index], self._attained[index], self._actual[index]
        self._each = self._each[: len(kept)]
        return True
