"""The paradigm `joint`: a margin bounded as one target of the quadratic rule (images of one patch).

With one patch, a linear readout, and the similarity `negated` or `identity`, activations are multiples of observables:
    o_predicted - o_c = b + sum_j T_j m_j,   b = bias[predicted] - bias[c],
T_j = -s_j D_j for `negated`, D_j for `identity`, D_j = W_predicted,j - W_cj. This is one linear combination of
observables of the patch, so one target of `quadratic`: every weight of a statement serves all of it at once. Term by
term the same margin is bounded as if each observable could be at its worst alone.

**Cosines.** There m_j = <u, A_j> / |A_j|, and the working observable is <u, A_j>. A share C_j near D_j / |A_j| gives
    |D_j m_j - C_j <u, A_j>| <= |D_j - C_j |A_j||   for all |u| <= 1.
*Proof.* The left side is |m_j| |D_j - C_j |A_j||, and |m_j| <= 1. So the margin is within the sum of these of
b + sum_j C_j <u, A_j>. Inner products and distances have no such error.

**Missing ends.** An observable of a latent lies in its range over the domain, which is a statement too; without any
other, that of prototype 0 stands in its place.

**Inward.** At any y of the space that satisfies the statements left, b + sum_j T_j m_j is no less than the least margin
over all such y; of cosines, what is left is added to it. If it is at most 0, and so is the reference margin term by
term, the reference margin is not positive. Where no statement is left, any y of the space will do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import sub

from ..certificate import Certificate, PatchStatement
from ..head import COSINES
from .pooling import Box
from .quadratic import QuadraticRule
from .space import Space

__all__ = ["Joint"]


class Joint:
    """What margins as one target prove about one certificate."""

    def __init__(self, quadratic: QuadraticRule, certificate: Certificate) -> None:
        self._quadratic, self._space, self._certificate = quadratic, quadratic.space, certificate
        self._statements = [s for s in certificate.statements if isinstance(s, PatchStatement)]

    def margins(self, box: Box, each: Sequence[Fraction | None]) -> tuple[Fraction | None, ...]:
        """The margins term by term; where one is less than the stated margin, that of one target if it is greater."""
        margins = list(each)
        for rival, (bound, stated) in enumerate(zip(each, self._certificate.margins, strict=True)):
            if bound is not None and stated is not None and bound < stated:
                target = self.target(rival)
                margins[rival] = max(bound, target.bias + self._combination(target.shares) - target.error)
        return tuple(margins)

    @cached_property
    def _combination(self) -> Callable[[Mapping[int, Fraction]], Fraction]:
        """A lower bound of combinations, given all statements."""
        return self._quadratic.combining(self._statements)

    def provable(self, index: int, box: Box, rival: int) -> bool:
        """Whether a rival's reference margin may be positive without the statement at `index`.

        Args:
            box: the activations' ranges without it, rounded inward.
        """
        left = [s for number, s in enumerate(self._statements) if number != index]
        target = self.target(rival)
        value = self._quadratic.combination_within(left, target.shares)
        return value is None or target.bias + value + target.error > 0

    def target(self, rival: int) -> MarginTarget:
        """A rival's margin.."""
        self._space.arithmetic.clock.look()
        return MarginTarget.of(self._space, self._certificate.predicted, rival)


@dataclass(frozen=True)
class MarginTarget:
    """A rival's margin: within `error` of bias + the sum of shares times working observables."""

    bias: Fraction
    shares: dict[int, Fraction]
    error: Fraction

    @classmethod
    def of(cls, space: Space, predicted: int, rival: int) -> MarginTarget:
        """The target of a head with one patch."""
        head, bits = space.head, space.bits
        weight, bias = head.weight.rows, head.bias.rows[0]
        differences = [Fraction(d, 1 << head.weight.bits) for d in map(sub, weight[predicted], weight[rival])]
        own = head.similarity.own
        shares, error = {}, Fraction(0)
        for j, difference in enumerate(differences):
            if not difference:
                continue
            shares[j] = difference
            if head.geometry == "euclidean":
                shares[j] = -difference * Fraction(own.rows[0][j], 1 << own.bits)
            elif head.geometry in COSINES:
                lengths = [Fraction(end, 1 << bits) for end in space.norms[j]]
                shares[j] = Fraction(int(difference / lengths[1] * (1 << 2 * bits)), 1 << 2 * bits)
                error += max(abs(difference - shares[j] * length) for length in lengths)
        return cls(Fraction(bias[predicted] - bias[rival], 1 << head.bias.bits), shares, error)
