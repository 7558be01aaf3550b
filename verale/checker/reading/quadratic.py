"""The geometric paradigms: per patch, the range of every observable given the stated ones, by the one rule (`facts`).

The range of an observable is what the rule gives, intersected with what is stated of it and with its range over the
domain. A target may be any linear combination of the working observables of a patch.

**The paradigm `joint`** bounds a margin as one such target. With one patch, a linear readout, and the similarity
`negated` or `identity`, activations are multiples of observables:
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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from heapq import nlargest
from operator import sub

from ..certificate import Certificate, PatchStatement
from ..read.similarities import COSINES
from .facts import Facts, enclosures, far, most_stated
from .points import observed, points, value_at
from .space import Box, Ranges, Space
from .weights import Weights

_LIKELY = 3
"""The patches that are tried for the one end of an observable that a single patch proves."""
_FAR = 1 << 10  # times what a distance can be: so far away the space is looked at without statements


class QuadraticRule:
    """Ranges of the patches of a head with prototypes. It keeps what it has found out about patches.

    Attributes:
        space: the head.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self._patches: dict[tuple[PatchStatement, ...], _Patch] = {}

    def ranges(self, statements: Sequence[PatchStatement], quick: bool = False) -> Ranges:
        """The range of every working observable of a patch, given its statements.

        Args:
            statements: those about the patch.
            quick: whether weights are found in floats, in a hundredth of the time.
        """
        if not statements:
            return self.space.domain
        patch, observables = self._patch(statements), range(self.space.head.count)
        lower, upper = patch.bounds(1, observables, quick), None
        if not patch.unbounded:
            upper = [-low for low in patch.bounds(-1, observables, quick)]
        return Ranges(lower, upper).met(self.space.domain)

    def _patch(self, statements: Sequence[PatchStatement]) -> _Patch:
        key = tuple(statements)
        if key not in self._patches:
            self._patches[key] = _Patch(self.space, key)
        return self._patches[key]

    def pooled(
        self, groups: Mapping[int, Sequence[PatchStatement]], patches: int, quick: bool = False
    ) -> Ranges | None:
        """The range of the working observable of every prototype at that patch where its similarity is the greatest;
        None where activations are not such a similarity, or a range may be infinite.

        Of one end it is enough that one patch has it: those are tried that prove the most by their `ball`, some where
        it is to be quick. The other end is the least that all patches prove: only bounds that are it are improved on
        what the balls prove.

        Args:
            groups: the statements about each patch.
            patches: L.
            quick: as for `ranges`.
        """
        head, domain = self.space.head, self.space.domain
        if head.pooling not in ("max", "masked_max") or head.similarity.unimodal or domain.upper is None:
            return None
        falls = head.similarity.falls
        sign, negated = 1 if falls else -1, [-high for high in domain.upper]
        outer, sure = (list(domain.lower), negated) if falls else (negated, list(domain.lower))
        every = {number: self._patch(group) for number, group in groups.items()}
        bounds: list[dict[int, int]] = [{} for _ in outer]
        guesses: list[list[tuple[int, int]]] = [[] for _ in outer]
        for number, patch in every.items():
            lower, upper = patch.enclosed
            for k in [k for k, columns in enumerate(head.mask) if head.column(number) in columns]:
                bounds[k][number], guess = (lower[k], -upper[k]) if falls else (-upper[k], lower[k])
                if not (falls and patch.unbounded):
                    guesses[k].append((guess, number))
        left = head.left(patches, groups)
        pending = {k: bounds[k] for k, columns in enumerate(head.mask) if not any(left[column] for column in columns)}
        for k, least in self._least(every, sign, pending, quick).items():
            outer[k] = least
        likely: dict[int, list[int]] = {}
        for k, found in enumerate(guesses):
            for _, number in nlargest(_LIKELY if quick else len(found), found):
                likely.setdefault(number, []).append(k)
        for number, observables in likely.items():
            for k, bound in zip(observables, every[number].bounds(-sign, observables, quick), strict=True):
                sure[k] = max(sure[k], bound)
        return Ranges(outer, [-end for end in sure]) if falls else Ranges(sure, [-end for end in outer])

    def _least(
        self, every: Mapping[int, _Patch], sign: int, bounds: Mapping[int, dict[int, int]], quick: bool
    ) -> dict[int, int]:
        """The least that the patches prove of observables times a sign, given what each proves by its ball: `bounds`.
        Only where a patch decides are these improved."""
        least: dict[int, int] = {}
        improved: set[tuple[int, int]] = set()
        while left := [k for k in bounds if k not in least]:
            deciding: dict[int, list[int]] = {}
            for k in left:
                patch = min(bounds[k], key=bounds[k].__getitem__)
                if (k, patch) in improved:
                    least[k] = bounds[k][patch]
                else:
                    deciding.setdefault(patch, []).append(k)
            for patch, observables in deciding.items():
                for k, bound in zip(observables, every[patch].bounds(sign, observables, quick), strict=True):
                    bounds[k][patch] = max(bounds[k][patch], bound)
                    improved.add((k, patch))
        return least

    def within(self, statements: Sequence[PatchStatement]) -> Ranges | None:
        """The range of every observable of a patch, given at least one statement about it, rounded inward; None if none
        is found or one may be empty."""
        space, every = self.space, range(self.space.head.count)
        facts = Facts(space, statements, inward=True)
        targets = [facts.target({k: sign}) for k in every for sign in (1, -1)]
        found = points(facts, targets)
        some = next((point for point in found if point is not None), None)
        if some is None or space.within is None:
            return None
        values = [value_at(facts, target, point or some) for target, point in zip(targets, found, strict=True)]
        each = zip(every, values[::2], values[1::2], strict=True)
        ends = [observed(space, k, low, -negated) for k, low, negated in each]
        # Far away all lower ends of distances hold: then no range has an upper end.
        upper = None if far(space, statements) else [high for _, high in ends]
        return Ranges([low for low, _ in ends], upper).met(space.within).filled()

    def combination(self, statements: Sequence[PatchStatement], shares: Mapping[int, int]) -> Fraction:
        """A lower bound of a linear combination of working observables of a patch.

        Args:
            statements: what is known. The domain's ends stand in the place of those that are missing; where nothing is
                known, those of prototype 0.
            shares: by prototype what its working observable is multiplied by.
        """
        patch = self._patch(list(map(self._filled, statements or [PatchStatement(0, 0, None, None)])))
        return Fraction(patch.combination(shares), 1 << self.space.bits)

    def combination_within(self, statements: Sequence[PatchStatement], shares: Mapping[int, int]) -> Fraction | None:
        """A value of a combination, about the least, at a vector that satisfies the statements; None if no such vector
        is found."""
        if not statements:  # one takes their place that all that matters satisfies
            least = self._filled(PatchStatement(0, 0, None, None))
            far = replace(least, lower=None, upper=(least.upper or Fraction(0)) * _FAR)
            statements = [far if self.space.head.geometry == "euclidean" else replace(least, upper=None)]
        facts = Facts(self.space, statements, inward=True)
        targets = [facts.target({k: sign * share for k, share in shares.items()}) for sign in (1, -1)]
        some = next((point for point in points(facts, targets) if point is not None), None)
        return None if some is None else value_at(facts, targets[0], some) / (1 << self.space.bits)

    def _filled(self, statement: PatchStatement) -> PatchStatement:
        """A statement with the domain's ends in the place of those that are missing."""
        j, domain, one = statement.prototype, self.space.domain, 1 << self.space.bits
        if domain.upper is None:
            raise ValueError("over an unbounded domain nothing bounds a combination")
        low, high = (-one, one) if self.space.head.geometry in COSINES else (domain.lower[j], domain.upper[j])
        ends = zip((statement.lower, statement.upper), (low, high), strict=True)
        lower, upper = (Fraction(end, one) if stated is None else stated for stated, end in ends)
        return replace(statement, lower=lower, upper=upper)


class _Patch:
    """Lower bounds, on the grid, of working observables of a patch times a sign, 1 or -1, given its statements.

    Args:
        space: the head.
        statements: those about the patch, at least one.

    Attributes:
        unbounded: whether the statements are distances without upper ends (`facts.far`): no distance has one then.
    """

    def __init__(self, space: Space, statements: Sequence[PatchStatement]) -> None:
        self._space, self._facts, self.unbounded = space, Facts(space, statements), far(space, statements)
        self._most = most_stated(space, statements) if self.unbounded else 0
        self._weights: dict[bool, Weights] = {}
        self._stated = {s.prototype: ends for s, ends in zip(statements, self._facts.intervals, strict=True)}

    def _weigh(self, quick: bool) -> Weights:
        if quick not in self._weights:
            self._weights[quick] = Weights(self._facts, quick)
        return self._weights[quick]

    def bounds(self, sign: int, observables: Sequence[int], quick: bool) -> list[int]:
        """Those of some observables by the best weights, which are found in floats where it is to be quick."""
        if not observables:
            return []
        facts, arithmetic, weights = self._facts, self._space.arithmetic, self._weigh(quick)
        targets = [facts.target({k: sign}) for k in observables]
        rows = [weights.best(target) for target in targets]
        images, places = arithmetic.product(arithmetic.matrix(rows), facts.gram), weights.precision.places
        found = zip(observables, targets, rows, images, strict=True)
        return [self._kept(k, sign, facts.least(target, row, places, image)) for k, target, row, image in found]

    def combination(self, shares: Mapping[int, int]) -> int:
        """A lower bound of a combination with these shares, by the best weights."""
        target, weights = self._facts.target(shares), self._weigh(False)
        return self._facts.least(target, weights.best(target), weights.precision.places)

    @cached_property
    def enclosed(self) -> tuple[list[int], list[int]]:
        """The lower and the upper ends of all observables that the patch's ball gives."""
        ranges = enumerate(enclosures(self._facts, self._weigh(True).frame()))
        pairs = [(self._kept(k, 1, low), -self._kept(k, -1, -high)) for k, (low, high) in ranges]
        return [low for low, _ in pairs], [high for _, high in pairs]

    def _kept(self, k: int, sign: int, bound: int) -> int:
        """A bound, or what is stated or the domain gives if that is more."""
        domain, stated = self._space.domain, self._stated.get(k)
        if sign > 0:
            bound = min(bound, self._most) if self.unbounded else bound
            return max(bound, domain.lower[k], stated[0] if stated else domain.lower[k])
        if domain.upper is not None:
            bound = max(bound, -domain.upper[k])
        return max(bound, -stated[1]) if stated else bound


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
                bias, shares, unit, error = self.target(rival)
                least = self._quadratic.combination(self._statements, shares)
                margins[rival] = max(bound, bias + least / unit - error)
        return tuple(margins)

    def provable(self, index: int, box: Box, rival: int) -> bool:
        """Whether a rival's reference margin may be positive without the statement at `index`.

        Args:
            box: the activations' ranges without it, rounded inward.
        """
        left = [s for number, s in enumerate(self._statements) if number != index]
        bias, shares, unit, error = self.target(rival)
        value = self._quadratic.combination_within(left, shares)
        return value is None or bias + value / unit + error > 0

    def target(self, rival: int) -> tuple[Fraction, dict[int, int], int, Fraction]:
        """(bias, shares, unit, error): a rival's margin is within the error of the bias and the sum of shares times
        working observables, by the unit."""
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
        return Fraction(bias[predicted] - bias[rival], 1 << head.bias.bits), shares, 1 << places, error
