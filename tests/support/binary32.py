"""A head evaluated as binary32 may: sums in random trees, fused operations or not, underflow gradual or to zero.

It shares no line with the checker. Numbers are fractions that are rounded to the nearest binary32 number, ties to even.
It judges rejected deployment claims, too: latents of binary32 numbers that satisfy every statement, for which such an
evaluation does not give the predicted class the greatest logit, show that the claim is false.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import flint
from support.arithmetic import PRECISION
from support.claims import Claim
from support.exact import Head as Exact
from support.files import given, read_latents

from verale.checker.deployment import Deployment
from verale.head import (
    BankPooling,
    Cosine,
    Euclidean,
    ExpDistance,
    Exponential,
    FocalPooling,
    Head,
    Identity,
    InnerProduct,
    LogRatio,
    MaskedMaxPooling,
    Maximum,
    Negated,
    Rectified,
    Softmax,
    Threshold,
    TopMeanPooling,
)
from verale.soundness.corpus.cases import BEYOND, Case

PROTOTYPES = "prototypes"
"""What is false of a head whose prototypes are no binary32 numbers (`claim` of the mark)."""
_MACHINES = 300
"""How many ways to compute are tried until one loses."""

_NORMAL, _LEAST = Fraction(1, 2**126), Fraction(1, 2**149)


def nearest(x: Fraction) -> Fraction:
    """The nearest binary32 number. Raises OverflowError."""
    if x == 0:
        return x
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = max(Fraction(2) ** (exponent - 23), _LEAST)
    found = Fraction(round(x / unit)) * unit  # `round` takes ties to even
    if abs(found) >= 2**128:
        raise OverflowError
    return found


def holds_of_deployed(case: Case) -> bool:
    """Whether the mark of a rejected case holds. Of what is beyond: whether there is a reason."""
    if case.mark == BEYOND:
        return case.why != ""
    if case.breaks is not None:
        return is_lost(case.certificate, case.head, case.breaks, given(case.deployment))
    rows = Exact.read(case.head).prototypes or []
    return case.claim == PROTOTYPES and any(nearest(Fraction(x)) != x for row in rows for x in row)


def is_lost(certificate: bytes, head: bytes, latents: bytes, asked: Deployment) -> bool:
    """Whether the one image of a latents file is of binary32 numbers, certainly satisfies every statement, and in some
    way a rival is computed to have at least the logit of the predicted class, or a number overflows or is divided by
    0."""
    with flint.ctx.workprec(PRECISION):
        (image,) = read_latents(latents)
        claim = Claim.read(certificate, head, None)
        if not claim.satisfied(image):
            return False
    patches = [list(map(Fraction, z)) for z in image]
    if any(nearest(x) != x for z in patches for x in z):
        return False
    rivals = [c for c, margin in enumerate(claim.margins) if margin is not None]
    for seed in range(_MACHINES):
        machine = Machine(seed, asked.formula, (asked.log, asked.exp, asked.sqrt))
        try:
            logits = machine.logits(claim.head.torch, patches)
        except (OverflowError, ZeroDivisionError):
            return True
        if any(logits[claim.predicted] <= logits[c] for c in rivals):
            return True
    return False


class Machine:
    """One way of computing, drawn anew for every sum.

    Args:
        seed: of what is drawn.
        formula: of squared distances.
        ulps: within how many units in the last place logarithms, exponentials and roots are.
        flush: whether numbers below 2^-126 become 0.
    """

    def __init__(self, seed: int, formula: str, ulps: tuple[int, int, int] = (4, 4, 1), flush: bool = False) -> None:
        self._random = random.Random(seed)
        self._formula, self._flush = formula, flush
        self._log, self._exp, self._sqrt = ulps
        self._towards = self._random.choice((-1, 0, 1))

    def logits(self, head: Head, patches: Sequence[Sequence[Fraction]]) -> list[Fraction]:
        """The logits of the latents (L, D) of an image."""
        columns = list(zip(*(self.observables(head, patch) for patch in patches), strict=True))
        activations = [self._activation(head, j, list(column)) for j, column in enumerate(columns)]
        bias = [Fraction(0)] * head.size if head.bias is None else [Fraction(b) for b in head.bias.tolist()]
        if isinstance(head.readout, Maximum):
            scores = [self._round(a + nearest(b)) for a, b in zip(activations, bias, strict=True)]
            return [max(s for s, w in zip(scores, row, strict=True) if w) for row in head.weight.tolist()]
        found = []
        for row, own in zip(head.weight.tolist(), bias, strict=False):
            terms = [(nearest(Fraction(w)), a) for w, a in zip(row, activations, strict=True)]
            found.append(self.products(terms, [nearest(own)] if head.bias is not None else []))
        return found

    def observables(self, head: Head, patch: Sequence[Fraction]) -> list[Fraction]:
        """Of one patch, for every prototype."""
        z = [self._in(entry) for entry in patch]
        if isinstance(head.geometry, Softmax):
            top = max(z)
            powers = [self.exp(self._round(entry - top)) for entry in z]
            total = self.sum(powers)
            return [self._round(power / total) for power in powers]
        assert head.prototypes is not None
        rows = [[self._in(Fraction(entry)) for entry in row] for row in head.prototypes.tolist()]
        if isinstance(head.geometry, Euclidean):
            return [self.distance(z, p) for p in rows]
        if isinstance(head.geometry, InnerProduct):
            return [self.products(list(zip(z, p, strict=True))) for p in rows]
        assert isinstance(head.geometry, Cosine)
        return [self._cosine(head.geometry, z, p) for p in rows]

    def distance(self, z: Sequence[Fraction], p: Sequence[Fraction]) -> Fraction:
        """|z - p|^2 by the formula."""
        pairs = list(zip(z, p, strict=True))
        if self._formula == "direct":
            apart = [self._round(a - b) for a, b in pairs]
            found = self.products([(x, x) for x in apart])
        elif self._formula == "expanded":
            squares, own = (self.products([(x, x) for x in v]) for v in (z, p))
            terms = [squares, -2 * self.products(pairs), own]
            found = self.sum(terms)
        else:
            squares, own = (self.products([(x, x) for x in v]) for v in (z, p))
            one = Fraction(1)
            found = self.products([*((-2 * a, b) for a, b in pairs), (squares, one), (one, own)])
        if self._random.random() < 0.5:
            root = self.sqrt(max(Fraction(0), found))
            found = self._round(root * root)
        return found

    def _cosine(self, geometry: Cosine, z: Sequence[Fraction], p: Sequence[Fraction]) -> Fraction:
        epsilon = nearest(Fraction(geometry.epsilon))
        length = self._length(z, epsilon if geometry.rooted else Fraction(0))
        own = self._length(p, Fraction(0))
        if self._random.random() < 0.5:
            p = [self._round(x / own) for x in p]
            if geometry.rooted or self._random.random() < 0.5:
                own = Fraction(1)
            else:
                own = self._length(p, Fraction(0))
                divisor = self._round(self._round(length * own) + epsilon)
                found = self._round(self.products(list(zip(z, p, strict=True))) / divisor)
                return self._round(1 - self._round(1 - found))
        if not geometry.rooted:
            length = self._round(length + epsilon)
        if self._random.random() < 0.5:
            z, length = [self._round(x / length) for x in z], Fraction(1)
        found = self._round(self.products(list(zip(z, p, strict=True))) / self._round(length * own))
        return found if self._random.random() < 0.5 else self._round(1 - self._round(1 - found))

    def _length(self, v: Sequence[Fraction], more: Fraction) -> Fraction:
        return self.sqrt(self._round(self.products([(x, x) for x in v]) + more))

    def _activation(self, head: Head, j: int, column: list[Fraction]) -> Fraction:
        pick = min if isinstance(head.geometry, Euclidean) else max
        first = self._random.random() < 0.5
        match head.pooling:
            case BankPooling(bank):
                column = column[:1] if j < bank else column[1:]
            case MaskedMaxPooling(mask):
                row = mask[j].tolist()
                column = [x for n, x in enumerate(column) if row[min(n, len(row) - 1)]]
            case TopMeanPooling(k):
                values = sorted((self._similarity(head, j, x) for x in column), reverse=True)[:k]
                return self._round(self.sum(values) / len(values))
            case FocalPooling(kind):
                similar = [self._similarity(head, j, x) for x in column]
                if kind == "max_minus_mean":
                    return self._round(max(similar) - self._round(self.sum(similar) / len(similar)))
                mean = self._round(self.sum(column) / len(column))
                return self._round(self._similarity(head, j, min(column)) - self._similarity(head, j, mean))
        return self._similarity(head, j, pick(column)) if first else max(self._similarity(head, j, x) for x in column)

    def _similarity(self, head: Head, j: int, x: Fraction) -> Fraction:
        scale = Fraction(1) if head.scale is None else self._in(nearest(Fraction(float(head.scale[j]))))
        match head.similarity:
            case Identity():
                return x
            case Rectified():
                return max(Fraction(0), x)
            case Threshold(limit):
                return x if x >= Fraction(limit) else Fraction(0)
            case Negated():
                return -self._round(scale * x)
            case LogRatio(epsilon):
                scaled = self._round(scale * self._clamped(x))
                below = self._round(scaled + nearest(Fraction(epsilon)))
                return self.log(self._round(self._round(scaled + 1) / below))
            case ExpDistance(epsilon):
                return self.exp(-self.sqrt(self._round(self._clamped(x) + nearest(Fraction(epsilon)))))
            case Exponential():
                far = x if isinstance(head.geometry, Euclidean) else self._round(1 - x)
                return self.exp(-self._round(scale * far))
            case _:
                raise NotImplementedError(head.similarity)

    def _clamped(self, x: Fraction) -> Fraction:
        return max(Fraction(0), x) if self._random.random() < 0.5 else abs(x)

    def products(self, pairs: Sequence[tuple[Fraction, Fraction]], more: Sequence[Fraction] = ()) -> Fraction:
        """A sum of products and numbers: in a random tree, or one after the other in fused operations."""
        if self._random.random() < 0.5:
            pairs = self._random.sample(list(pairs), len(pairs))
            total = self.sum(more) if more else Fraction(0)
            for a, b in pairs:
                total = self._round(self._in(a) * self._in(b) + total)
            return total
        return self.sum([*(self._round(self._in(a) * self._in(b)) for a, b in pairs), *more])

    def sum(self, terms: Sequence[Fraction]) -> Fraction:
        """In an order drawn: from the smallest or the greatest, pairwise, or a random tree."""
        left = list(terms)
        order = self._random.randrange(4)
        if order < 2:
            left.sort(key=abs, reverse=bool(order))
        elif order == 2:
            self._random.shuffle(left)
        while len(left) > 1:
            if order < 3:
                left[:2] = [self._round(left[0] + left[1])]
            else:
                i, k = self._random.sample(range(len(left)), 2)
                both = self._round(left[i] + left[k])
                left = [x for n, x in enumerate(left) if n not in (i, k)] + [both]
        return left[0] if left else Fraction(0)

    def log(self, x: Fraction) -> Fraction:
        """Within so many units in the last place."""
        return self._off(_nearly("log", x), self._log)

    def exp(self, x: Fraction) -> Fraction:
        """Within so many units in the last place."""
        return self._off(Fraction(0) if x < -150 else _nearly("exp", x), self._exp)

    def sqrt(self, x: Fraction) -> Fraction:
        """Within so many units in the last place."""
        places = 200
        root = Fraction(math.isqrt((self._in(x).numerator << 2 * places) // self._in(x).denominator), 1 << places)
        return self._off(root, self._sqrt)

    def _off(self, y: Fraction, ulps: int) -> Fraction:
        """A binary32 number within so many ulps of y, mostly to the side of this machine."""
        if y == 0:
            return y
        exponent = math.frexp(float(abs(y)))[1] - 1
        unit = max(Fraction(2) ** (exponent - 23), _LEAST)
        share = Fraction(
            self._random.choice((self._towards, self._towards, -1, 0, 1)) * self._random.randrange(100), 100
        )
        off = self._round(y + share * unit * ulps)
        return off if abs(off - y) <= ulps * unit else nearest(y)

    def _round(self, x: Fraction) -> Fraction:
        return self._in(nearest(x))

    def _in(self, x: Fraction) -> Fraction:
        return Fraction(0) if self._flush and abs(x) < _NORMAL else x


@lru_cache(maxsize=100_000)
def _nearly(function: str, x: Fraction) -> Fraction:
    """`exp` or `log` of a number, off by a share of far less than 2^-100."""
    with flint.ctx.workprec(256):
        mantissa, exponent = getattr(flint.arb(flint.fmpq(x.numerator, x.denominator)), function)().mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
