"""Priced margins, and statements that are widened by them as far as a class stays proved.

A box has the ends (P,) of one number a prototype, infinite where it is free. `range` (P,) is what each number can be
over the domain; `noise` is by how much rounding may lower a proved margin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import torch
from torch import Tensor

from verale.bounds import Joint, LinearMargins, activation_range, domain_range, margins_of, observe, pooling_of
from verale.certificate import ActivationStatement, Certificate, PatchStatement, Statement
from verale.errors import UsageError
from verale.head import Head
from verale.paradigms import PARADIGMS
from verale.rounding import Enclosure, gamma
from verale.search.activations import Stated
from verale.search.problem import NOISE, shortened

_ROUNDS = 6
"""How often prices are found anew."""
_SHARES = 30
"""How often the slack that is left is shared out between two such rounds."""
_WORTHLESS = 1e-7
"""An end whose price is at most this share of the greatest one changes nothing: it goes free."""
_RESERVE = 2.0**-12
"""The share of the narrowest margin that is not spent, so that a proof with other multipliers reaches it too."""
_ROUNDING = 0.1
"""Rounding to plain numbers may move an end by so much of the way to the image."""
_MOST_DIGITS = 30


@dataclass(frozen=True, eq=False)
class PricedEnds:
    """Margins under a box, and the prices of its ends; estimates, for the search.

    Where the ends move outward, by x_j below and y_j above, the margin of rival c falls by at most
    sum_j lower[c, j] x_j + upper[c, j] y_j.

    Attributes:
        margins: (C,) infinity at the predicted class.
        lower, upper: (C, P) at least 0; 0 where the end changes nothing.
    """

    margins: Tensor
    lower: Tensor
    upper: Tensor


class PricedActivations:
    """Of statements about activations, a linear readout: o_k - o_c = b_k - b_c + sum_j D_cj a_j, D_c = W_k - W_c.

    Over a box it is least at lower_j where D_cj > 0 and at upper_j where D_cj < 0, so |D_cj| is that end's price, as
    long as the end lies within the activation's range.

    Args:
        head: a head with a linear readout.
        predicted: the class k.
        patches: L.

    Raises:
        UsageError: another readout.
    """

    def __init__(self, head: Head, predicted: int, patches: int) -> None:
        margins = margins_of(head, torch.tensor([predicted]), patches)
        if not isinstance(margins, LinearMargins):
            raise UsageError(f"the readout is {head.readout!r}, expected a linear one: only its ends have prices")
        self._head, self._margins = head, margins
        self._gain, self._loss = margins.positive[0].T.contiguous(), margins.negative[0].T.abs()
        self.range = activation_range(head, patches)
        self.noise = float(margins.error.amax())

    def prices(self, box: Enclosure) -> PricedEnds:
        """The margins under a box, and the prices of its ends."""
        low, high = box.lower > self.range.lower, box.upper < self.range.upper
        return PricedEnds(self.proved(box), self._gain * low, self._loss * high)

    def proved(self, box: Enclosure) -> Tensor:
        """(C,) lower bounds of the margins under a box; infinity at the predicted class.

        Soundness: each bound is a statement or the head's range; `LinearMargins.lower` rounds outward.
        """
        lower, upper = torch.maximum(box.lower, self.range.lower), torch.minimum(box.upper, self.range.upper)
        return self._margins.lower(Enclosure(lower, upper)[None, None])[0, 0]

    def observed(self, images: Tensor) -> Enclosure:
        """(N, P) the activations of images (N, L, D)."""
        observed = observe(self._head, images)
        return pooling_of(self._head).box(observed.view(len(images), images.shape[1], self._head.size))

    def statement(self, prototype: int, lower: float, upper: float) -> Statement:
        return ActivationStatement(prototype, lower, upper)


class PricedObservables:
    """Statements about the observables of one patch, a margin that is one target: `verale.bounds.Joint`.

    The weight w of a statement, where positive, is the price of its lower end, and otherwise -w that of its upper end.

    Args:
        head: a head that `Joint` admits.
        predicted: the class.
        patches: 1.

    Raises:
        UsageError: another head, or images of several patches.
    """

    def __init__(self, head: Head, predicted: int, patches: int) -> None:
        if patches != 1:
            raise UsageError(f"images have {patches} patches, expected one for the paradigm 'joint'")
        self._head, self._joint, self._predicted = head, Joint(head), torch.tensor([predicted])
        self.range = domain_range(head)
        size = head.weight.abs().sum(1).max() * torch.maximum(self.range.lower.abs(), self.range.upper.abs()).amax()
        self.noise = float(size) * gamma(64 * (head.size + head.depth))

    def prices(self, box: Enclosure) -> PricedEnds:
        """The margins under a box, and the prices of its ends; these are the best weights that a search finds."""
        margins = self._joint.margins(self._predicted, box.lower[None], box.upper[None])
        weights = margins.weights[0, :, : self._head.size]
        return PricedEnds(
            margins.lower[0],
            weights.clamp(min=0) * box.lower.isfinite(),
            (-weights).clamp(min=0) * box.upper.isfinite(),
        )

    def proved(self, box: Enclosure) -> Tensor:
        """(C,) lower bounds of the margins under a box. Soundness: `Joint.margins` proves what it returns."""
        return self._joint.margins(self._predicted, box.lower[None], box.upper[None]).lower[0]

    def observed(self, images: Tensor) -> Enclosure:
        """(N, P) the observables of the only patch of images (N, 1, D)."""
        return observe(self._head, images)

    def statement(self, prototype: int, lower: float, upper: float) -> Statement:
        return PatchStatement(0, prototype, lower, upper)


PricedMargins = PricedActivations | PricedObservables
"""The margins of one class of a head from a box of numbers, one a prototype."""


def inflate(margins: PricedMargins, image: Tensor, certificate: Certificate) -> Certificate:
    """A certificate of the same class with wider statements, round numbers, and one-sided where a side is not needed.

    Args:
        margins: those of the certificate's class, under its paradigm.
        image: (L, D) the latents of the explained image, which go on satisfying the statements.
        certificate: the image's explanation; it is returned where rounding leaves nothing to widen, or where the class
            follows only by what activations say of each other.

    Soundness: the margins are proved anew, in outward-rounded float64. The statements stay true of the image, because
    no end moves inward beyond its observed interval. Minimality stays true where it was: without any one statement, the
    wider ones entail no more than the given ones without it, whose reference margins are at most 0. A certificate that
    lost a statement claims it no more. Nor does one under `joint`, unless it has a single statement: there a checker
    has to find a vector that satisfies the others, and finds it less often the wider they are.
    """
    given = Stated.of(certificate.statements, len(margins.range.lower))
    numbers = margins.observed(image[None])[0]
    exact = not PARADIGMS[certificate.paradigm].spatial  # ranges of activations are boxes, whatever is stated
    wide = plain_numbers(widened(margins, given), given.around(numbers))
    proved = margins.proved(wide.ends)
    if not bool((proved > 0).all()):
        return certificate
    return replace(
        certificate,
        statements=wide.statements(margins.statement),
        margins=tuple(None if math.isinf(margin) else margin for margin in shortened(proved).tolist()),
        minimal=certificate.minimal and wide.size == certificate.size and (exact or wide.size == 1),
    )


def widened(margins: PricedMargins, given: Stated) -> Stated:
    """Statements whose ends lie outward of the given ones as far as prices allow; the given ones where that is nowhere.

    An end without a price goes free. Each of the others moves by the least, over the rivals, of the rival's slack
    divided among its ends with a price. That is repeated, then prices are found anew.
    """
    prices = margins.prices(given.ends)
    reserve = _RESERVE * float(prices.margins.amin()) + NOISE * margins.noise
    best, wide = given, given
    for _ in range(_ROUNDS):
        if not bool((prices.margins > reserve / 2).all()):
            break
        best, wide = wide, _moved(wide, prices, margins.range, reserve)
        prices = margins.prices(wide.ends)
    return wide if bool((prices.margins > reserve / 2).all()) else best


def _moved(stated: Stated, prices: PricedEnds, within: Enclosure, reserve: float) -> Stated:
    """The ends moved outward until the slack is spent, at fixed prices."""
    rivals = prices.margins.isfinite()
    slack = prices.margins[rivals] - reserve
    worthless = _WORTHLESS * float(torch.maximum(prices.lower, prices.upper).amax())
    lower, upper = ((side * (side > worthless))[rivals] for side in (prices.lower, prices.upper))
    for _ in range(_SHARES):
        before = stated.ends
        low, high = stated.priced(lower * (before.lower > within.lower), upper * (before.upper < within.upper))
        share = slack.clamp(min=0) / ((low > 0).sum(1) + (high > 0).sum(1)).clamp(min=1)
        steps = [(share[:, None] / side).where(side > 0, math.inf).amin(0) for side in (low, high)]
        free = [(side <= 0).all(0) for side in (low, high)]
        stated = stated.with_ends(
            (stated.lower - steps[0]).masked_fill(free[0], -math.inf),
            (stated.upper + steps[1]).masked_fill(free[1], math.inf),
        )
        after = stated.ends
        for side, start, end in (
            (lower, before.lower, after.lower.maximum(within.lower)),
            (upper, -before.upper, -after.upper.minimum(within.upper)),
        ):  # what the ends' way costs; nothing where they have no price
            slack = slack - (side * (start - end).clamp(min=0)).masked_fill(side <= 0, 0.0).sum(1)
    return stated


def plain_numbers(stated: Stated, limits: Enclosure, share: float = _ROUNDING) -> Stated:
    """The same statements with ends of few decimals, inward by at most a share of the way to the limits (P + 1,)."""
    lower = [plain_number(*each, share) for each in zip(stated.lower.tolist(), limits.lower.tolist(), strict=True)]
    upper = [plain_number(*each, share) for each in zip(stated.upper.tolist(), limits.upper.tolist(), strict=True)]
    return stated.with_ends(stated.lower.new_tensor(lower), stated.upper.new_tensor(upper))


def plain_number(end: float, limit: float, share: float = _ROUNDING) -> float:
    """The number of fewest decimals, and of these the one nearest to `end`, on the first share of the way to `limit`.

    Where no float is that decimal, it is the next one outward: in words it is the decimal again. An end that is free,
    or has no way to go, stays as it is.
    """
    if math.isinf(end) or end == limit:
        return end
    start = Fraction(end)
    way = (Fraction(limit) - start) * Fraction(share)
    round_ = math.ceil if end < limit else math.floor
    first = -math.floor(math.log10(max(abs(end), abs(limit))))
    for digits in range(first, first + _MOST_DIGITS):
        unit = Fraction(10) ** digits
        decimal = Fraction(round_(start * unit)) / unit
        value = float(decimal)
        if value != decimal and (value > decimal) == (end < limit):
            value = math.nextafter(value, end)
        if 0 <= (Fraction(value) - start) / way <= 1:
            return value
    return end
