"""Grow: state pairs against the worst rival, round by round, until every rival is proved to lose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from verale.bounds import SpatialParadigm, pooling_of, put, take
from verale.bounds.pooling import slots
from verale.rounding import Enclosure
from verale.search.candidates import Needs, candidate_pairs
from verale.search.costs import NEARLY_FREE
from verale.search.problem import Pair, Problem

__all__ = ["Growth", "given_up", "grow"]

R = TypeVar("R", bound=Any)

_ROUNDS_BETWEEN_NARROWING = 16
_STATEMENTS_PER_ROUND = 16
"""The most statements that a round adds to an image."""


@dataclass
class Growth:
    """The statements of one image.

    Attributes:
        pairs: what is stated, in the order in which it was chosen.
        failure: why the pairs do not entail the class; empty if they do.
    """

    pairs: list[Pair]
    failure: str = ""


def given_up(count: int) -> str:
    """The failure of a growth that became too large."""
    return f"given up at {count} statements: a smaller explanation is known"


def grow(problem: Problem, paradigm: SpatialParadigm[R], most: Sequence[float] | None = None) -> tuple[list[Growth], R]:
    """For each image, statements that entail its class; all images grow in lockstep.

    A rival is open while its margin is not proved positive. In each round, the worst open rival of an image names the
    activations that cost it most, and each of those names a patch: the one that attains the activation (to prove it
    high) or one that may exceed it (to prove it low). As many patches as the rival's deficit calls for, at most
    _STATEMENTS_PER_ROUND, get one statement each: either the named prototype (another one where that is avoided), or
    the one that explains most of what is unknown of the latent. The one that leaves the smaller sum of open deficits
    wins, the latter on a tie. Where statements have costs, what they gain is divided by what they cost.

    Args:
        problem: N images of L patches.
        paradigm: how statements bound observables.
        most: an image with more statements than this is given up.

    Returns:
        One Growth an image, and the paradigm's rows (N * L) after the statements.

    Soundness: all bounds are rounded outward, so "no rival is open" is a proof. It ends, because every round states at
    least one more pair of each open image.
    """
    rows = paradigm.start(len(problem) * problem.patches)
    growths = [Growth([]) for _ in range(len(problem))]
    growing = _GrowingImages(problem, paradigm, [math.inf] * len(problem) if most is None else most)
    while len(growing.images):
        choice = growing.choose()
        ended = []
        for index, (open_, chosen) in enumerate(zip(choice.open.tolist(), choice.chosen.any(1).tolist(), strict=True)):
            if growing.live[index] and not chosen:
                growths[growing.images[index]].failure = choice.failure(index) if open_ else ""
                ended.append(index)
        if ended:
            rows = put(rows, problem.rows_of([growing.images[index] for index in ended]), growing.take_rows(ended))
            if growing.retire(ended):
                continue
        for index, *pair in zip(*(part.tolist() for part in growing.state(choice)), strict=True):
            growths[growing.images[index]].pairs.append((pair[0], pair[1]))
    return growths, rows


@dataclass(frozen=True)
class _Choice:
    """For each of n growing images, the pairs that its worst rival asks for.

    Attributes:
        open: (n,) whether a rival is open.
        rival, margin: (n,) the worst rival, and its proved margin.
        patch, prototype: (n, M) pairs, the costliest first.
        stated: (n,) how many statements there are.
        hopeless: (n,) whether these are too many.
        chosen: (n, M) which of them to state: at most one a patch, and none where no rival is open or that is hopeless.
    """

    open: Tensor
    rival: Tensor
    margin: Tensor
    patch: Tensor
    prototype: Tensor
    stated: Tensor
    hopeless: Tensor
    chosen: Tensor

    def failure(self, index: int) -> str:
        """Why an image that is open and has nothing to state cannot be explained."""
        if self.hopeless[index]:
            return given_up(int(self.stated[index]))
        return (
            f"class {int(self.rival[index])} stays open (margin >= {float(self.margin[index]):.3g}) though every "
            "statement that could help is made"
        )


class _GrowingImages:
    """The images that are still growing, and what is known of them.

    The tensors keep images that have ended, and ignore them, until removing them is worth a copy.

    Attributes:
        images: the index in the problem of each image in the tensors.
        live: whether each of them still grows.
        rows: what the paradigm knows of their patches.
    """

    def __init__(self, problem: Problem, paradigm: SpatialParadigm[R], most: Sequence[float]) -> None:
        self._paradigm = paradigm
        self._problem = problem
        self.images = list(range(len(problem)))
        self.live = [True] * len(problem)
        self.rows = paradigm.start(len(problem) * problem.patches)
        ranges = self.rows.range.view(len(problem), problem.patches, -1)
        self._pooled = pooling_of(problem.head).growing(ranges)
        self._stated = torch.zeros_like(ranges.lower, dtype=torch.bool)
        self._left = problem.patches_left[:, None] & problem.prototypes_left
        self._margins = problem.margins.lower(self._pooled.box[:, None])[:, 0]
        dissimilar = problem.dissimilarities()
        self._least = dissimilar.amin(1)
        self._attained = dissimilar.masked_fill(~problem.patches_left[:, None], torch.inf).min(1).indices
        self._actual = (problem.activations.lower + problem.activations.upper) / 2
        self._each = torch.arange(len(problem))
        costs = problem.costs.of_pairs(problem.patches, problem.head.size).to(ranges.lower)
        self._costs = costs.clamp(min=NEARLY_FREE) if problem.costs else None  # (L, P)
        self._most = torch.tensor(most, dtype=torch.float64)
        self._rounds = 0

    @property
    def _done(self) -> Tensor:
        """(n, L, P) the pairs that cannot help again.

        An avoided pair helps as long as something else can be stated about its patch, which is stated in its place.
        """
        if not self._problem.avoid:
            return self._stated
        return self._stated | ~(self._left & ~self._stated).any(2, keepdim=True)

    def choose(self) -> _Choice:
        """What to state next."""
        each, margins, box = self._each, self._problem.margins, self._pooled.box
        margin, rival = self._margins.min(1)
        favour, against = margins.wishes(box, self._actual, rival)
        loss = favour * (self._actual - box.lower) + against * (box.upper - self._actual)
        done = self._done
        needs = Needs(favour, against, loss, self._problem.observed, self._least, self._attained, done)
        patch, prototype, promise = candidate_pairs(needs, self._pooled)
        if self._costs is not None:
            worth = (promise / self._costs[patch, prototype]).argsort(dim=1, descending=True, stable=True)
            patch, prototype, promise = (part.gather(1, worth) for part in (patch, prototype, promise))
        open_ = ~(margin > 0)
        stated = self._stated.flatten(1).sum(1)
        hopeless = stated > self._most
        chosen = (promise >= 0) & ~done[each[:, None], patch, prototype] & (open_ & ~hopeless)[:, None]
        # One statement a patch, and no more than would close the deficit if each kept its promise.
        same = (patch[:, :, None] == patch[:, None, :]) & chosen[:, None, :]
        chosen &= ~same.tril(-1).any(2)
        promised = torch.where(chosen, promise, 0.0)
        chosen &= (promised.cumsum(1) - promised < -margin[:, None]) & (chosen.cumsum(1) <= _STATEMENTS_PER_ROUND)
        return _Choice(
            open=open_,
            rival=margins.rivals[each, rival],
            margin=margin,
            patch=patch,
            prototype=prototype,
            stated=stated,
            hopeless=hopeless,
            chosen=chosen,
        )

    def state(self, choice: _Choice) -> tuple[Tensor, Tensor, Tensor]:
        """State the chosen pairs, each as it is or with another prototype of its patch.

        Returns:
            (S,) each: the images (their index in the tensors), the patches, the prototypes stated.
        """
        problem = self._problem
        image, column = choice.chosen.nonzero(as_tuple=True)
        patch, named = choice.patch[image, column], choice.prototype[image, column]
        index = image * problem.patches + patch
        current = take(self.rows, index)
        observed = problem.observed[index]
        explained = self._paradigm.pursue(current, (observed.lower + observed.upper) / 2)
        open_ = ~self._stated[image, patch] & self._left[patch]
        named = torch.where(self._left[patch, named], named, open_.int().argmax(1))
        if self._costs is not None:
            explained = explained / self._costs[patch]
        pursued = explained.masked_fill(~open_, -torch.inf).argmax(1)
        pursued = torch.where(open_.gather(1, pursued[:, None])[:, 0], pursued, named)
        options = torch.stack([pursued, named], 1)

        each = torch.arange(len(index))
        twice = each.repeat_interleave(2)
        extended = self._paradigm.extend(take(current, twice), options.flatten(), observed[twice, options.flatten()])
        boxes = self._pooled.trial(image, patch, extended.range.view(len(each), 2, -1))
        margins = self._margins_of(image, boxes)
        gained = margins.clamp(max=0).sum(-1)
        if self._costs is not None:
            gained = (gained - self._margins[image].clamp(max=0).sum(-1)[:, None]) / self._costs[
                patch[:, None], options
            ]
        best = gained.argmax(1)

        self.rows = put(self.rows, index, take(extended, 2 * each + best))
        stated = options[each, best]
        self._stated[image, patch, stated] = True
        self._pooled.choose(best)
        self._margins = problem.margins.lower(self._pooled.box[:, None])[:, 0]
        self._narrow()
        return image, patch, stated

    def _margins_of(self, image: Tensor, boxes: Enclosure) -> Tensor:
        """(S, B, K) margins of boxes (S, B, P), each of the image (S,) at its index; the images are sorted."""
        _, options, size = boxes.shape
        slot = slots(image)
        shape = len(self.live), int(slot.max()) + 1, options, size
        padded = [
            end.new_zeros(shape).index_put_((image, slot), end).flatten(1, 2) for end in (boxes.lower, boxes.upper)
        ]
        margins = self._problem.margins.lower(Enclosure.unchecked(*padded))
        return margins.view(*shape[:3], -1)[image, slot]

    def _narrow(self) -> None:
        """Forget closed rivals: bounds only get tighter, so a closed rival stays closed."""
        self._rounds += 1
        if self._rounds % _ROUNDS_BETWEEN_NARROWING == 0:
            most = int((~(self._margins > 0)).sum(1).max())
            if 0 < most <= self._margins.shape[1] // 2:
                self._margins, worst = self._margins.topk(most, largest=False)
                self._problem = replace(self._problem, margins=self._problem.margins.keep(worst))

    def take_rows(self, indices: list[int]) -> Any:
        """The rows of some images."""
        return take(self.rows, self._problem.rows_of(indices))

    def retire(self, indices: list[int]) -> bool:
        """Some images have ended. True if the tensors shrank, so that indices have changed."""
        for index in indices:
            self.live[index] = False
        kept = [index for index, alive in enumerate(self.live) if alive]
        if len(kept) > 0.9 * len(self.live):
            return False
        self.images = [self.images[index] for index in kept]
        if not kept:
            return True
        remaining = self._problem.index(kept)
        self.rows = self.take_rows(kept)
        self._problem = self._problem.take(kept)
        self.live = [True] * len(kept)
        self._pooled.select(remaining)
        self._stated, self._margins = self._stated[remaining], self._margins[remaining]
        self._most = self._most[remaining]
        self._least, self._attained, self._actual = (
            self._least[remaining],
            self._attained[remaining],
            self._actual[remaining],
        )
        self._each = self._each[: len(kept)]
        return True
