"""Fit: a list of rules, each of which proves one class of many images of a data set.

A rule is a box of numbers, one a prototype, under which a class is proved. For one class it is found in four steps:

1. Hull: the box begins as the smallest one that holds all images of the class.
2. Tighten: while some rival is open, the end moves inward that closes most of what is missing, for the weight of the
   images that it loses. Images that no earlier rule covers weigh 1, all others little.
3. Simplify: an end goes free if the class stays proved without it, the cheapest ends first.
4. Widen, as an explanation is inflated, and round to plain numbers.

Of all classes, the rule that covers most images not covered yet joins the list; then its class gets another try. A rule
covers images of its class only, so the other classes' rules stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor

from verale.bounds import check_domain
from verale.certificate import Certificate
from verale.head import Head, evaluate
from verale.rounding import Enclosure
from verale.rules.coverage import coverage_of
from verale.search.inflate import plain_numbers, widened
from verale.search.priced import PricedEnds, PricedMargins, priced_margins
from verale.search.problem import NOISE, shortened
from verale.search.stated import Stated
from verale.version import __version__

__all__ = ["fit"]

_STEPS = (0.02, 0.06)
"""The share of the images left that an end may lose in one step. Each is tried."""
_MOST_STEPS = 2000
_COVERED = 0.03
"""The weight of an image that an earlier rule covers."""
_NOBODY = 0.05
"""The weight of losing no image: without it, an end that loses none would be worth infinitely much."""
_RESERVE = 2.0**-12
"""The share of the greatest margin of the class that tightening leaves, so that there is something to prove."""
_ROUNDING = 0.02
"""Rounding to plain numbers may move an end by so much of the way to the middle image."""
_CHUNK = 2**8
"""How many images are evaluated at once."""


@dataclass(frozen=True, eq=False)
class _Class:
    """The images of one predicted class.

    Attributes:
        margins: of the class.
        images: (N,) bool, which images it has.
        numbers: (n, P) those that statements are about, of these images.
    """

    margins: PricedMargins
    images: Tensor
    numbers: Tensor


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A rule, and (N,) which images it certainly covers."""

    certificate: Certificate
    covers: Tensor

    def news(self, covered: Tensor) -> int:
        """How many images it covers that are not covered yet."""
        return int((self.covers & ~covered).sum())


def fit(head: Head, images: Tensor, paradigm: str) -> Iterator[Certificate]:
    """Rules for a data set, the most useful first, until no rule covers an image that no other covers.

    Args:
        head: the head.
        images: (N, L, D) float64.
        paradigm: one with prices.

    Returns:
        Certificates that name no latents.

    Raises:
        LatentsError: latents that do not fit the head.
        UsageError: a paradigm or a readout whose margins have no prices.

    Soundness: the margins of each are proved in outward-rounded float64. All else is an estimate.
    """
    check_domain(head, images)
    priced_margins(paradigm, head, 0, images.shape[1])
    classes = _classes(head, images, paradigm)
    return _list(head, images, paradigm, classes)


def _list(head: Head, images: Tensor, paradigm: str, classes: dict[int, _Class]) -> Iterator[Certificate]:
    covered = torch.zeros(len(images), dtype=torch.bool)
    best = {k: _candidates(head, images, paradigm, k, each, covered) for k, each in classes.items()}
    while True:
        chosen = max(chain(*best.values()), key=lambda each: each.news(covered), default=None)
        if chosen is None or not chosen.news(covered):
            return
        yield chosen.certificate
        covered |= chosen.covers
        k = chosen.certificate.predicted
        best[k] = _candidates(head, images, paradigm, k, classes[k], covered)


def _classes(head: Head, images: Tensor, paradigm: str) -> dict[int, _Class]:
    """The classes that some image is predicted as."""
    classes: dict[int, _Class] = {}
    if not len(images):
        return classes
    predicted = torch.cat([evaluate(head, some).predicted for some in torch.split(images, _CHUNK)])
    for k in sorted(set(predicted.tolist())):
        margins, chosen = priced_margins(paradigm, head, k, images.shape[1]), predicted == k
        numbers = margins.observed(images[chosen])
        classes[k] = _Class(margins, chosen, (numbers.lower + numbers.upper) / 2)
    return classes


def _candidates(
    head: Head, images: Tensor, paradigm: str, predicted: int, of_class: _Class, covered: Tensor
) -> list[_Candidate]:
    """Rules of a class, of which the best is to be taken; none if all its images are covered."""
    candidates = []
    for share in _STEPS:
        box = _tightened(of_class, torch.where(covered[of_class.images], _COVERED, 1.0).double(), share)
        certificate = None if box is None else _rule(head, paradigm, predicted, of_class, box, images.shape[1])
        if certificate is not None:
            covers = of_class.images.clone()
            covers[of_class.images] = coverage_of(head, images[of_class.images], [certificate.statements]).certain[0]
            candidates.append(_Candidate(certificate, covers))
    return candidates


def _tightened(of_class: _Class, weights: Tensor, share: float) -> Enclosure | None:
    """Steps 1 and 2: a box under which the class is proved; None if not even a single image's box proves it."""
    if not bool((weights == 1).any()):
        return None
    numbers, margins = of_class.numbers, of_class.margins
    lower, upper = numbers.amin(0), numbers.amax(0)
    left = torch.ones(len(numbers), dtype=torch.bool)
    prices: PricedEnds | None = None
    for _ in range(_MOST_STEPS):
        prices = margins.prices(Enclosure.unchecked(lower, upper), prices)
        rivals = prices.margins.isfinite()
        missing = _reserve(prices, margins) - prices.margins[rivals]
        if bool((missing <= 0).all()):
            return Enclosure.unchecked(lower, upper)
        inside, weight = numbers[left], weights[left]
        if len(inside) < 2:
            return None
        lost = max(1, int(share * len(inside)))
        sides = inside.sort(0).values
        lows, highs = sides[lost], sides[len(inside) - 1 - lost]
        closed = missing.clamp(min=0)[:, None]
        gain = torch.stack(
            [
                torch.minimum(prices.lower[rivals] * (lows - lower), closed).sum(0),
                torch.minimum(prices.upper[rivals] * (upper - highs), closed).sum(0),
            ]
        )
        loss = torch.stack([weight @ (inside < lows).double(), weight @ (inside > highs).double()]) + _NOBODY
        worth = gain / loss
        if not float(worth.amax()) > 0:
            return None
        side, prototype = divmod(int(worth.argmax()), numbers.shape[1])
        if side == 0:
            lower[prototype] = lows[prototype]
        else:
            upper[prototype] = highs[prototype]
        left = ((numbers >= lower) & (numbers <= upper)).all(1)
    return None


def _reserve(prices: PricedEnds, margins: PricedMargins) -> float:
    return _RESERVE * float(prices.margins[prices.margins.isfinite()].abs().amax()) + NOISE * margins.noise


def _rule(
    head: Head, paradigm: str, predicted: int, of_class: _Class, box: Enclosure, patches: int
) -> Certificate | None:
    """Steps 3 and 4: the certificate; None if rounding leaves no proof."""
    margins, numbers = of_class.margins, of_class.numbers
    inside = numbers[((numbers >= box.lower) & (numbers <= box.upper)).all(1)]
    wide = widened(margins, _simplified(margins, Stated.box(box.lower, box.upper)))
    middle = wide.around(Enclosure.exact(inside.median(0).values))
    plain = plain_numbers(wide, middle, _ROUNDING)
    for stated in (plain, wide):
        proved = margins.proved(stated.ends)
        if bool((proved > 0).all()):
            break
    else:
        return None
    return Certificate(
        head=head.digest,
        latents=None,
        predicted=predicted,
        paradigm=paradigm,
        patches=patches,
        statements=stated.statements(margins.statement),
        margins=tuple(None if math.isinf(margin) else margin for margin in shortened(proved)),
        minimal=False,
        version=__version__,
    )


def _simplified(margins: PricedMargins, stated: Stated) -> Stated:
    """The statements without the ends that are not needed, one by one, the cheapest first."""
    prices = margins.prices(stated.ends)
    reserve = _reserve(prices, margins) / 2
    within = margins.range
    costs = torch.stack(
        [
            (prices.lower * (stated.lower[:-1] - within.lower).clamp(min=0)).amax(0),
            (prices.upper * (within.upper - stated.upper[:-1]).clamp(min=0)).amax(0),
        ]
    ).nan_to_num(0.0)
    for each in costs.flatten().argsort().tolist():
        side, prototype = divmod(each, costs.shape[1])
        lower, upper = stated.lower.clone(), stated.upper.clone()
        (lower if side == 0 else upper)[prototype] = -math.inf if side == 0 else math.inf
        trial = stated.with_ends(lower, upper)
        after = margins.prices(trial.ends, prices)
        if bool((after.margins > reserve).all()):
            stated, prices = trial, after
    return stated
