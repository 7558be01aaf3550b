"""Inflate: widen the ends of an explanation as far as its class stays proved, so that it holds of other images too."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import torch
from torch import Tensor

from verale.certificate import Certificate
from verale.head import Head
from verale.paradigms import PARADIGMS
from verale.rounding import Enclosure
from verale.search.priced import PricedEnds, PricedMargins
from verale.search.problem import NOISE, shortened
from verale.search.smallest import priced_margins
from verale.search.stated import Stated

__all__ = ["inflate", "plain_number", "plain_numbers", "widened"]

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


def inflate(head: Head, image: Tensor, certificate: Certificate) -> Certificate:
    """A certificate of the same class with wider statements, round numbers, and one-sided where a side is not needed.

    Args:
        head: the head, with a linear readout.
        image: (L, D) the latents of the explained image, which go on satisfying the statements.
        certificate: the image's explanation.

    Returns:
        The wider certificate; the given one where rounding leaves nothing to widen, or where the class follows only by
        what activations say of each other.

    Raises:
        UsageError: a paradigm or a readout whose margins have no prices.

    Soundness: the margins are proved anew, in outward-rounded float64. The statements stay true of the image, because
    no end moves inward beyond its observed interval. Minimality stays true where it was: without any one statement, the
    wider ones entail no more than the given ones without it, whose reference margins are at most 0. A certificate that
    lost a statement claims it no more. Nor does one under `joint`, unless it has a single statement: there a checker
    has to find a vector that satisfies the others, and finds it less often the wider they are.
    """
    margins = priced_margins(certificate.paradigm, head, certificate.predicted, certificate.patches)
    given = Stated.of(certificate.statements, head.size)
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
        slack = slack - _spent(lower, before.lower, after.lower.maximum(within.lower))
        slack = slack - _spent(upper, -before.upper, -after.upper.minimum(within.upper))
    return stated


def _spent(prices: Tensor, before: Tensor, after: Tensor) -> Tensor:
    """(C,) what the ends' way from `before` down to `after` costs; nothing where they have no price."""
    way = (before - after).clamp(min=0)
    return (prices * way).masked_fill(prices <= 0, 0.0).sum(1)


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
