"""Grow: add the statement that most reduces what the open rivals still lack, until none is open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from verale.bounds import SpatialParadigm, oriented, pooled_activation, put, take
from verale.rounding import Enclosure
from verale.search.problem import Pair, Problem, least_of_others

__all__ = ["Growth", "grow"]

R = TypeVar("R", bound=Any)

_ROUNDS_BETWEEN_NARROWING = 16
_CANDIDATES = 64
"""Activations looked at in a round."""
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
        near, far = (end.view(len(problem), problem.patches, -1) for end in oriented(problem.head, self.rows.range))
        self._near = near.clone()
        self._far = far.amin(1)
        self._stated = torch.zeros_like(near, dtype=torch.bool)
        self._box = pooled_activation(problem.head, near.amin(1), self._far)
        self._margins = problem.margins.lower(self._box[:, None])[:, 0]
        self._least, self._attained = problem.dissimilarities().min(1)
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
        worst, prototype = loss.topk(min(_CANDIDATES, loss.shape[1]), dim=1)
        exceeding = self._near.gather(2, prototype[:, None].expand(-1, self._near.shape[1], -1)).argmin(1)
        high = favour.gather(1, prototype) > 0
        patch = torch.where(high, self._attained.gather(1, prototype), exceeding)
        # The costliest activation to be shown low may be exceeded at many patches, and all of them have to be stated.
        lowest = prototype[each, (~high).int().argmax(1)]
        reach, more = self._near[each, :, lowest].topk(min(_AT_ONCE, self._near.shape[1]), largest=False)
        exceeds = (reach < self._least[each, lowest][:, None]) & ~high.all(1, keepdim=True)
        patch, prototype = torch.cat([patch, more], 1), torch.cat([prototype, lowest[:, None].expand_as(more)], 1)
        worst = torch.cat([worst, torch.zeros_like(reach)], 1)
        open_ = ~(margin > 0)
        wanted = torch.cat([worst[:, : high.shape[1]] > 0, exceeds], 1)
        wanted &= ~self._stated[each[:, None], patch, prototype]
        if bool((open_ & ~wanted.any(1)).any()):
            # What is stated already cannot help again; look at all prototypes' patches, and leave such pairs out.
            patches = torch.where(favour > 0, self._attained, self._near.argmin(1))
            known = self._stated.gather(1, patches[:, None])[:, 0]
            worst, prototype = loss.masked_fill(known, 0.0).topk(high.shape[1], dim=1)
            patch = patches.gather(1, prototype)
            wanted = worst > 0
        wanted &= open_[:, None]
        # One statement a patch; and no more than could close the deficit if each gave all that it promises.
        same = (patch[:, :, None] == patch[:, None, :]) & wanted[:, None, :]
        wanted &= ~same.tril(-1).any(2)
        promised = torch.where(wanted, worst, 0.0)
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
        slot = target.wanted.cumsum(1)[image, column] - 1
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
        near, far = (end.view(len(each), 2, -1) for end in oriented(problem.head, extended.range))
        before = self._in_slots(image, slot, self._near[image, patch])
        self._near[image, patch] = torch.inf
        rest = self._near.amin(1)
        others = torch.minimum(least_of_others(before), rest[:, None])[image, slot]
        box = pooled_activation(
            problem.head, torch.minimum(near, others[:, None]), torch.minimum(far, self._far[image][:, None])
        )
        boxes = Enclosure(*(self._in_slots(image, slot, end).flatten(1, 2) for end in (box.lower, box.upper)))
        margins = problem.margins.lower(boxes).view(len(self.live), -1, 2, self._margins.shape[1])[image, slot]
        best = margins.clamp(max=0).sum(-1).argmax(1)

        self.rows = put(self.rows, index, take(extended, 2 * each + best))
        near, far = near[each, best], far[each, best]
        chosen = candidates[each, best]
        self._near[image, patch] = near
        self._stated[image, patch, chosen] = True
        self._far = torch.minimum(self._far, self._in_slots(image, slot, far).amin(1))
        self._box = pooled_activation(
            problem.head, torch.minimum(rest, self._in_slots(image, slot, near).amin(1)), self._far
        )
        self._margins = problem.margins.lower(self._box[:, None])[:, 0]
        self._narrow()
        return image, patch, chosen

    def _in_slots(self, image: Tensor, slot: Tensor, values: Tensor) -> Tensor:
        """(S, ...) values at (n, most statements of an image, ...); infinity where there is none."""
        slots = values.new_full((len(self.live), int(slot.max()) + 1, *values.shape[1:]), torch.inf)
        slots[image, slot] = values
        return slots

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
        self._least, self._attained, self._actual = self._least[index], self._attained[index], self._actual[index]
        self._each = self._each[: len(kept)]
        return True
