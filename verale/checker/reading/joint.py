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

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import sub

from ..certificate import Certificate, PatchStatement
from ..read.similarities import COSINES
from .quadratic import QuadraticRule
from .space import Box


@dataclass(frozen=True)
class MarginTarget:
    """A rival's margin: within `error` of bias + the sum of shares times working observables, by `unit`."""

    bias: Fraction
    shares: dict[int, int]
    unit: int
    error: Fraction


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
                least = self._quadratic.combination(self._statements, target.shares)
                margins[rival] = max(bound, target.bias + least / target.unit - target.error)
        return tuple(margins)

    def provable(self, index: int, box: Box, rival: int) -> bool:
        """Whether a rival's reference margin may be positive without the statement at `index`.

        Args:
            box: the activations' ranges without it, rounded inward.
        """
        left = [s for number, s in enumerate(self._statements) if number != index]
        target = self.target(rival)
        value = self._quadratic.combination_within(left, target.shares)
        return value is None or target.bias + value / target.unit + target.error > 0

    def target(self, rival: int) -> MarginTarget:
        """A rival's margin."""
        space, predicted = self._space, self._certificate.predicted
        head, places = space.head, space.head.weight.bits
        space.arithmetic.clock.look()
        rows, bias, scale = head.weight.rows, head.bias.rows[0], head.similarity.scale
        shares = {j: d for j, d in enumerate(map(sub, rows[predicted], rows[rival])) if d}
        error = Fraction(0)
        if head.geometry == "euclidean":
            shares, places = {j: -d * scale.rows[0][j] for j, d in shares.items()}, places + scale.bits
        elif head.geometry in COSINES:
            raised = {j: d << 2 * space.bits for j, d in shares.items()}
            shares = {j: d // space.norms[j][1] for j, d in raised.items()}
            apart = [max(abs(d - shares[j] * length) for length in space.norms[j]) for j, d in raised.items()]
            error, places = Fraction(sum(apart), 1 << places + 2 * space.bits), places + space.bits
        return MarginTarget(Fraction(bias[predicted] - bias[rival], 1 << head.bias.bits), shares, 1 << places, error)
