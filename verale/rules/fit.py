"""Fit: a list of rules, each of which proves one class of many images of a data set; and rules in words.

A rule is a box of numbers, one a prototype, under which a class is proved. For one class it is found in four steps:

1. Hull: the box begins as the smallest one that holds all images of the class. Under `top_k` it is also tried with a
   ceiling over all prototypes in place of their upper ends, which makes shorter rules.
2. Tighten: while some rival is open, the step is taken that closes most of what is missing for what it loses. An end
   moves inward and loses images: those that no earlier rule covers weigh 1, all others little. Or the prototype that
   holds the ceiling up is exempt from it and gets an upper end of its own, which loses no image but is one more
   statement.
3. Simplify: an end goes free if the class stays proved without it, the cheapest ends first.
4. Widen, as an explanation is inflated, and round to plain numbers.

Of all classes, the rule that covers most images not covered yet joins the list; then its class gets another try. A rule
covers images of its class only, so the other classes' rules stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from verale.bounds import check_domain
from verale.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    SumStatement,
)
from verale.certificate.statements import bounds_in_words, statement_in_words
from verale.certificate.words import OBSERVABLES, meant_by
from verale.head import Geometry, Head, evaluate
from verale.rounding import Enclosure
from verale.rules.coverage import coverage_of
from verale.search.activations import Stated
from verale.search.inflate import PricedEnds, PricedMargins, plain_numbers, widened
from verale.search.problem import NOISE, shortened
from verale.search.several import Remember, anew, require_fitting
from verale.search.smallest import priced_margins
from verale.version import __version__

_STEPS = (0.02, 0.06)
"""The share of the images left that an end may lose in one step. Each is tried."""
_MOST_STEPS = 2000
_COVERED = 0.03
"""The weight of an image that an earlier rule covers."""
_STATEMENT = 0.01
"""What a statement is worth: this share of the images of its class."""
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
        predicted: the class.
        margins: its margins.
        images: (N,) bool, which images it has.
        numbers: (n, P) those that statements are about, of these images.
    """

    predicted: int
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


def fit(head: Head, images: Tensor, paradigm: str, remember: Remember = anew) -> Iterator[Certificate]:
    """Rules for a data set, the most useful first, until none covers an image that no other covers.

    Args:
        images: (N, L, D) float64.
        paradigm: one with prices.
        remember: asked once for each try of a class.

    Returns:
        Certificates that name no latents.

    Raises:
        LatentsError: latents that do not fit the head.
        UsageError: a paradigm or a readout whose margins have no prices.

    Soundness: the margins of each are proved in outward-rounded float64. All else is an estimate.
    """
    check_domain(head, images)
    priced_margins(paradigm, head, 0, images.shape[1])
    return _Fit(head, images, paradigm, remember).rules()


class _Fit:
    """Rules of one paradigm for the images (N, L, D) of one head."""

    def __init__(self, head: Head, images: Tensor, paradigm: str, remember: Remember) -> None:
        self._head, self._images, self._paradigm, self._remember = head, images, paradigm, remember

    def rules(self) -> Iterator[Certificate]:
        """The rules, in their order."""
        if not len(self._images):
            return
        predicted = torch.cat([evaluate(self._head, some).predicted for some in torch.split(self._images, _CHUNK)])
        classes = []
        for k in sorted(set(predicted.tolist())):
            margins, chosen = priced_margins(self._paradigm, self._head, k, self._images.shape[1]), predicted == k
            numbers = margins.observed(self._images[chosen])
            classes.append(_Class(k, margins, chosen, (numbers.lower + numbers.upper) / 2))
        covered = torch.zeros(len(self._images), dtype=torch.bool)
        best = [self._tried(each, covered) for each in classes]
        while True:
            news = [0 if each is None else each.news(covered) for each in best]
            index = news.index(max(news))
            chosen = best[index]
            if chosen is None or not news[index]:
                return
            yield chosen.certificate
            covered |= chosen.covers
            best[index] = self._tried(classes[index], covered)

    def _tried(self, of_class: _Class, covered: Tensor) -> _Candidate | None:
        certificate = self._remember(lambda: self._best(of_class, covered))
        if certificate is None:
            return None
        require_fitting(certificate, self._head, self._images.shape[1], of_class.predicted, self._paradigm)
        return self._covering(of_class, certificate)

    def _best(self, of_class: _Class, covered: Tensor) -> Certificate | None:
        """The rule of a class that covers most images not covered yet, less what its statements are worth."""
        weights = torch.where(covered[of_class.images], _COVERED, 1.0).double()
        if not bool((weights == 1).any()):
            return None
        # Step 1: what all images of the class satisfy, in one or two forms.
        lower, upper = of_class.numbers.amin(0), of_class.numbers.amax(0)
        hulls = [Stated.box(lower, upper)]
        if self._paradigm == "top_k":
            free, everything = torch.full_like(upper, math.inf), torch.ones_like(upper, dtype=torch.bool)
            hulls.insert(0, Stated.box(lower, free).under(float(upper.amax()), everything))
        tight = [_tightened(of_class, begun, weights, share) for begun in hulls for share in _STEPS]
        candidates = [self._candidate(of_class, stated) for stated in tight if stated is not None]
        worth = _STATEMENT * len(of_class.numbers)
        best = max(
            (each for each in candidates if each is not None),
            key=lambda each: each.news(covered) - worth * each.certificate.size,
            default=None,
        )
        return None if best is None else best.certificate

    def _candidate(self, of_class: _Class, tight: Stated) -> _Candidate | None:
        """Steps 3 and 4; None if rounding leaves no proof."""
        margins, numbers = of_class.margins, of_class.numbers
        every = _with_greatest(numbers, tight)
        inside = numbers[((every >= tight.lower) & (every <= tight.upper)).all(1)]
        wide = widened(margins, _simplified(margins, tight))
        middle = wide.around(Enclosure.exact(inside.median(0).values))
        for stated in (plain_numbers(wide, middle, _ROUNDING), wide):
            proved = margins.proved(stated.ends)
            if not bool((proved > 0).all()):
                continue
            certificate = Certificate(
                head=self._head.digest,
                latents=None,
                predicted=of_class.predicted,
                paradigm=self._paradigm,
                patches=self._images.shape[1],
                statements=stated.statements(margins.statement),
                margins=tuple(None if math.isinf(margin) else margin for margin in shortened(proved).tolist()),
                minimal=False,
                version=__version__,
            )
            return self._covering(of_class, certificate)
        return None

    def _covering(self, of_class: _Class, certificate: Certificate) -> _Candidate:
        covers, images = of_class.images.clone(), self._images[of_class.images]
        covers[of_class.images] = coverage_of(self._head, images, certificate.statements, of_class.predicted).certain
        return _Candidate(certificate, covers)


def _tightened(of_class: _Class, stated: Stated, weights: Tensor, share: float) -> Stated | None:
    """Step 2: statements under which the class is proved; None if they hold of a single image and still do not."""
    margins = of_class.margins
    for _ in range(_MOST_STEPS):
        prices = margins.prices(stated.ends)
        rivals = prices.margins.isfinite()
        missing = _reserve(prices, margins) - prices.margins[rivals]
        if bool((missing <= 0).all()):
            return stated
        numbers = _with_greatest(of_class.numbers, stated)
        left = ((numbers >= stated.lower) & (numbers <= stated.upper)).all(1)
        if int(left.sum()) < 2:
            return None
        costs = [side[rivals] for side in stated.priced(prices.lower, prices.upper)]
        steps = [
            _inward(stated, costs, numbers[left], weights[left], missing.clamp(min=0), share),
            _exempted(stated, costs[1], prices.upper[rivals], numbers[left], missing.clamp(min=0), len(numbers)),
        ]
        worth, stated = max(steps, key=lambda step: step[0])
        if not worth > 0:
            return None
    return None


def _with_greatest(numbers: Tensor, stated: Stated) -> Tensor:
    """(n, P + 1) the numbers, and the greatest of those under the ceiling."""
    under = numbers.masked_fill(~stated.below, -math.inf).amax(1, keepdim=True)
    return torch.cat([numbers, under], 1)


def _inward(
    stated: Stated, costs: list[Tensor], inside: Tensor, weights: Tensor, missing: Tensor, share: float
) -> tuple[float, Stated]:
    """The end that is best moved inward, past a share of the images: what the step is worth, and what is stated then.

    Args:
        costs: the prices (C, P + 1) of the lower and of the upper ends.
        inside: (n, P + 1) the numbers of the images that satisfy the statements.
        weights: (n,) of these images.
        missing: (C,) what each rival's margin lacks.
    """
    lost = max(1, int(share * len(inside)))
    sides = inside.sort(0).values
    lows, highs = sides[lost], sides[len(inside) - 1 - lost]
    ways = (lows - stated.lower, stated.upper - highs)
    gain = torch.stack(
        [
            torch.minimum((cost * way).masked_fill(cost <= 0, 0.0), missing[:, None]).sum(0)
            for cost, way in zip(costs, ways, strict=True)
        ]
    )
    loss = torch.stack([weights @ (inside < lows).double(), weights @ (inside > highs).double()]) + _NOBODY
    worth = gain / loss
    side, prototype = divmod(int(worth.argmax()), inside.shape[1])
    ends = [stated.lower.clone(), stated.upper.clone()]
    ends[side][prototype] = (lows, highs)[side][prototype]
    return float(worth.amax()), stated.with_ends(*ends)


def _exempted(
    stated: Stated, cost: Tensor, prices: Tensor, inside: Tensor, missing: Tensor, images: int
) -> tuple[float, Stated]:
    """The same, where the prototype that holds the ceiling up is exempt from it, with an upper end if that has a price.

    Args:
        cost: the prices (C, P + 1) of the upper ends that are stated.
        prices: the prices (C, P) of the numbers' upper ends.
        images: how many images the class has.
    """
    if int(stated.below.sum()) < 2:
        return 0.0, stated
    tops = inside[:, :-1].amax(0).masked_fill(~stated.below, -math.inf)
    (first, second), (prototype, _) = (each.tolist() for each in tops.topk(2))
    way = stated.upper[-1] - second
    gain = torch.minimum((cost[:, -1] - prices[:, prototype]).clamp(min=0) * way, missing).sum()
    needed = bool((prices[:, prototype] > 0).any())
    below, upper = stated.below.clone(), stated.upper.clone()
    below[prototype] = False
    upper[-1], upper[prototype] = second, first if needed else math.inf
    after = replace(stated.with_ends(stated.lower, upper), below=below)
    return float(gain) / (_NOBODY + needed * _STATEMENT * images), after


def _reserve(prices: PricedEnds, margins: PricedMargins) -> float:
    return _RESERVE * float(prices.margins[prices.margins.isfinite()].abs().amax()) + NOISE * margins.noise


def _simplified(margins: PricedMargins, stated: Stated) -> Stated:
    """The statements without the ends that are not needed, one by one, the cheapest first."""
    prices = margins.prices(stated.ends)
    reserve = _reserve(prices, margins) / 2
    low, high = stated.priced(prices.lower, prices.upper)
    within = margins.range
    least, most = (torch.cat([end, end.new_zeros(1)]) for end in (within.lower, within.upper))
    most[-1] = within.upper.masked_fill(~stated.below, -math.inf).amax()
    ways = (stated.lower - least).clamp(min=0), (most - stated.upper).clamp(min=0)
    pairs = zip((low, high), ways, strict=True)
    costs = torch.stack([(side * way).masked_fill(side <= 0, 0.0).amax(0) for side, way in pairs])
    for each in costs.flatten().argsort().tolist():
        side, prototype = divmod(each, costs.shape[1])
        ends = [stated.lower.clone(), stated.upper.clone()]
        ends[side][prototype] = (-math.inf, math.inf)[side]
        trial = stated.with_ends(*ends)
        if bool((margins.prices(trial.ends).margins > reserve).all()):
            stated = trial
    return stated


def conditions(certificate: Certificate, geometry: Geometry, prototypes: int) -> str:
    """The statements of a certificate in one sentence, which the class follows.

    Bounds of the same kind stand together, those that ask for likeness first: "squared distance at most 0.36 from
    prototype 5, at least 0.43 from prototype 2 and 0.62 from 4".

    Args:
        certificate: whose statements are meant.
        geometry: of its head.
        prototypes: how many its head has.
    """
    about_patch = any(isinstance(each, PatchStatement) for each in certificate.statements)
    noun = OBSERVABLES[geometry.kind].removeprefix("softmax ") if about_patch else "activation"
    stands = "of" if not about_patch or geometry.kind == "softmax" else "from" if geometry.is_distance else "with"
    said = [
        (bounds_in_words(each), each.prototype)
        for each in certificate.statements
        if isinstance(each, PatchStatement | ActivationStatement)
    ]
    near = ("at most", "at least") if about_patch and geometry.is_distance else ("at least", "at most")
    parts = []
    for kind in (*near, "from"):
        bounds = [f"{words.removeprefix(f'{kind} ')} {stands} {j}" for words, j in said if words.startswith(kind)]
        if bounds:
            number, _, prototype = bounds[0].rpartition(" ")
            *first, last = [f"{number} prototype {prototype}", *bounds[1:]]  # the first names what it counts
            parts.append(f"{kind} {', '.join(first)} and {last}" if first else f"{kind} {last}")
    for each in certificate.statements:
        if isinstance(each, OrderStatement | FloorStatement):
            parts.append(f"{bounds_in_words(each)} of {meant_by(each.exempt, prototypes)}")
    sums = [each for each in certificate.statements if isinstance(each, SumStatement)]
    parts += [" ".join(statement_in_words(each, prototypes)) for each in sums]
    return f"{noun} {', '.join(parts)}" if parts else "any image"
