"""The deployment claim: the head computed in binary32 gives the certified class (certificates/v1.md, "Deployment").

Let the computed activations a'_j lie in [lo'_j, hi'_j] (`computed`), and A_j be no less than their sizes.

**linear**: the logit o'_c is a sum of the n_c products w_cj a'_j with w_cj != 0 and of the bias, if that is not 0. So
    |o'_c - (sum_j w_cj a'_j + b_c)| <= r_c = gamma_n (sum_j |w_cj| A_j + |b_c|) + eta,
n = n_c + 3, one more where weights or biases are no binary32 numbers and were rounded; products with 0 are exact, and
adding 0 is; eta covers underflow as in `losses`. Hence
    o'_predicted - o'_c >= (least difference of the logits over the box of the a'_j) - r_predicted - r_c.
It is also at least the proved real margin minus sum_j |D_j| |a'_j - a_j| minus the same, D = W_predicted - W_c, where
the differences of activations are known. *Proof.* Both bound sum_j D_j a'_j: over all a' in the box, and from the real
activations.

**maximum**: o'_c is the greatest of the a'_j + b_j, each rounded once, the bias once before: r_c is gamma_2 of the
greatest A_j + |b_j|, and eta.

If all these bounds are positive, o'_predicted > o'_c for every rival.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import sub

from ..certificate import Certificate
from ..deployment import LARGEST, TINY, Deployment, gamma, unproved
from ..dyadic import about
from ..head import Head
from .computed import Computed
from .losses import losses_of
from .margin import lower_bound, margin_steps
from .similarity import Box
from .space import Space
from .work import OPERATION

__all__ = ["deployed_margins", "require_deployed"]

_TOGETHER = ("assignment", "joint")


def deployed_margins(
    space: Space, certificate: Certificate, box: Box, margins: Sequence[Fraction | None], deployment: Deployment
) -> tuple[Fraction | None, ...]:
    """For every rival a lower bound of what the computed logit of the predicted class exceeds its own by.

    Args:
        box: the ranges of the real activations.
        margins: the proved margins.

    Raises:
        UnprovedError: a head that is not covered, or numbers that may overflow.
    """
    head = space.head
    if head.readout == "soft_tree":
        raise unproved("the readout soft_tree is not covered")
    if not space.known_prototypes:
        raise unproved("prototypes of the head are no binary32 numbers, so they are not those that are deployed")
    losses = losses_of(space, deployment, certificate.statements, certificate.patches)
    computed = Computed(space, deployment, losses)
    ranges = computed.box(box, certificate.patches)
    sizes = [max(abs(low), abs(high)) for low, high in zip(ranges.lower, ranges.upper, strict=True)]
    space.work.take(head.classes * (2 * margin_steps(head) + 4 * OPERATION * head.count))
    roundings = [_read_out(space, sizes, ranges.bits, c) for c in range(head.classes)]
    winner, apart = certificate.predicted, None
    if certificate.paradigm in _TOGETHER:
        apart = [computed.difference(j, ends) for j, ends in enumerate(zip(box.lower, box.upper, strict=True))]
    found: list[Fraction | None] = []
    for rival, margin in enumerate(margins):
        if margin is None:
            found.append(None)
            continue
        least = lower_bound(head, ranges, winner, rival)
        if apart is not None:
            least = max(least, margin - _apart(head, apart, ranges.bits, winner, rival))
        found.append(least - roundings[winner] - roundings[rival])
    return tuple(found)


def require_deployed(margins: Sequence[Fraction | None]) -> None:
    """Raises UnprovedError, which names the worst rival, unless all these margins are positive."""
    least, worst = min((margin, rival) for rival, margin in enumerate(margins) if margin is not None)
    if least <= 0:
        raise unproved(
            f"rounding may make up for the margin of rival {worst}, which falls short by {_above(-least)};"
            " state more, or compute the head by a formula that loses less"
        )


def _read_out(space: Space, sizes: Sequence[int], bits: int, c: int) -> Fraction:
    """r_c."""
    head = space.head
    one, weights, bias = 1 << bits + head.weight.bits, head.weight.rows[c], head.bias.rows[0]
    if head.readout == "maximum":
        terms = [
            Fraction(size, 1 << bits) + Fraction(abs(own), 1 << head.bias.bits)
            for size, own, weight in zip(sizes, bias, weights, strict=True)
            if weight
        ]
        total, count, most = max(terms), 2, max(terms)
    else:
        products = [abs(weight) * size for weight, size in zip(weights, sizes, strict=True) if weight]
        total = Fraction(sum(products), one) + Fraction(abs(bias[c]), 1 << head.bias.bits)
        count = len(products) + 3 + (not space.known_readout)
        most = Fraction(max(map(abs, weights)), 1 << head.weight.bits) + Fraction(max(sizes), 1 << bits) + total
    if most * 16 > LARGEST:
        raise unproved("logits may overflow in binary32")
    return gamma(count) * total + 16 * (count + 1) * (1 + most) * TINY


def _apart(head: Head, apart: Sequence[int | None], bits: int, winner: int, rival: int) -> Fraction:
    """sum_j |D_j| |a'_j - a_j|."""
    rows, total = head.weight.rows, 0
    for weight, each in zip(map(sub, rows[winner], rows[rival]), apart, strict=True):
        if weight and each is None:
            raise ValueError("expected masses, products or negated distances, for which margins are bounded together")
        total += abs(weight) * (each or 0)
    return Fraction(total, 1 << bits + head.weight.bits)


def _above(value: Fraction) -> str:
    """A decimal that is no less than a number that is not negative, and near it."""
    return about(value * Fraction(1_000_010, 1_000_000))
