"""The head over a box of latents: enclosures of observables and activations that hold for every latent tensor in it.

Let coordinate d of a latent lie in [lo_d, hi_d]. An image's latents are known: a box whose ends are equal.

- A squared distance to p is a sum of (z_d - p_d)^2, a product <z, A> one of z_d A_d. Each of these lies between its
  ends over [lo_d, hi_d]. Both ranges are exact.
- A cosine is <z, A> divided by |A| and a length, |z| + E or (|z|^2 + E)^(1/2), which grow with |z|, and |z|^2 lies
  between sums as those of a distance to 0. A quotient is least over the greater length where the product is positive,
  over the smaller where it is negative. Whatever the length, it lies in [-1, 1] (Cauchy and Schwarz, |u| <= 1), and is
  0 where the product is.
- A mass e_j / (e_j + sum of the others), e = exp(z - t) for any t, rises with z_j and falls with every other z_i. So it
  is least at lo_j and the other hi_i, and greatest at hi_j and the other lo_i. t is the greatest hi_i.

So where latents are known, squared distances and inner products are exact, and all else is as narrow as its number of
bits allows. Similarities and poolings are those of the rules, applied to these ranges.

**Instance, or picture** (step 5): every latent tensor of the box lies in the domain and satisfies every statement. The
box is that of an image's latents, or of all that the network can give for the picture: what holds of every latent
tensor in it holds of those in question. Where they are known all but roots, logarithms and exponentials is exact, so
the domain is decided, and a statement with as many bits as that takes. **Refutation** (step 6): they are classified
otherwise.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, cached_property
from operator import mul
from typing import TypeAlias

from ..arithmetic import Rows
from ..certificate import Certificate, PatchStatement, Statement, SumStatement, spoken_of
from ..dyadic import ceil_at, dot, floor_at, sqrt_ends
from ..errors import RefutedError, UnprovedError
from ..head import Head
from ..network.enclosure import EnclosedLatents
from ..read.similarities import COSINES
from .margin import lower_bound, taken_back
from .pooling import pooled
from .space import Box, Space, distances_over, divided, products_over

_Ends: TypeAlias = tuple[int, int]
_BITS = 256
"""Of the logits at latents that may refute a certificate."""
_LADDER = (128, 320, 1280)  # the last separates any two binary64 numbers, even the smallest


class Evaluation:
    """The head at latents that are known, or known to lie in a box. Whatever takes too long raises UnprovedError.

    Attributes:
        count: P.

    Args:
        latents: a box in the head's domain.
        predicted: the class whose rivals a sum is about.
    """

    def __init__(self, space: Space, latents: EnclosedLatents, predicted: int = 0) -> None:
        head = space.head
        self.latents, self.count, self._space, self._predicted = latents, head.count, space, predicted
        euclidean = head.geometry == "euclidean"
        self._bits = max(latents.bits, head.prototypes.bits) if euclidean else latents.bits
        self._places = max(2 * max(latents.bits, head.prototypes.bits), head.similarity.places)
        raised = self._bits - latents.bits
        self._lower, self._upper = (
            [[end << raised for end in row] for row in rows] for rows in (latents.lower, latents.upper)
        )
        self._products: Rows = []
        self._boxes: dict[int, Box] = {}
        # What all masses, or all cosines, of a patch are computed with, and all cosines with a prototype.
        self._divisor = cache(self._totals if head.geometry == "softmax" else self._length)
        self._norm = cache(lambda prototype, bits: sqrt_ends(space.squares[prototype] << 2 * bits))

    def observable(self, patch: int, prototype: int, bits: int) -> tuple[Fraction, Fraction]:
        """An enclosure of m(z_patch, p_prototype)."""
        self._space.arithmetic.clock.look()
        low, high = self._observed(patch, prototype, bits)
        unit = 1 << self._unit(bits)
        return Fraction(low, unit), Fraction(high, unit)

    def bounded(self, statement: Statement, bits: int) -> tuple[Fraction, Fraction]:
        """An enclosure of what a statement bounds: of a clause, which speaks of some prototypes, the greatest or the
        least of their activations; of a sum the most that is taken back for one of its rivals."""
        if isinstance(statement, SumStatement):
            rivals = [c for c in range(self._space.head.classes) if c != self._predicted and statement.about(c)]
            return taken_back(self._space.head, self.activations(bits), self._predicted, rivals)
        if isinstance(statement, PatchStatement):
            return self.observable(statement.patch, statement.prototype, bits)
        head, some = self._space.head, spoken_of(statement, self.count)
        alike = (head.geometry, head.pooling, head.similarity.chain.tensors) == ("softmax", "max", ())
        if statement.upper is not None and self.latents.known and alike:
            # At each patch the greatest mass is the one of the greatest channel; the similarity, which is the same for
            # all prototypes, rises with it.
            rows = enumerate(self.latents.lower)
            ends = [self._mass(patch, max(some, key=row.__getitem__), bits) for patch, row in rows]
            low, high = self._similar(max(low for low, _ in ends), max(high for _, high in ends), some[0], bits)
        else:
            box, extreme = self.activations(bits), min if statement.upper is None else max
            low, high = (extreme([side[j] for j in some]) for side in (box.lower, box.upper))
        return Fraction(low, 1 << bits), Fraction(high, 1 << bits)

    def activations(self, bits: int) -> Box:
        """The enclosures of all activations at 2^-bits."""
        if bits not in self._boxes:
            if self.latents.known and self._space.head.geometry != "softmax":
                self._products = self._products or self._space.by_prototypes(self._lower)
            ends = [self._activation(j, bits) for j in range(self.count)]
            self._boxes[bits] = Box([low for low, _ in ends], [high for _, high in ends], bits)
        return self._boxes[bits]

    def _activation(self, prototype: int, bits: int) -> _Ends:
        """Pooled over the patches that the prototype looks at."""
        head, arithmetic = self._space.head, self._space.arithmetic
        arithmetic.clock.look()
        each = [self._observed(patch, prototype, bits) for patch in head.patches_of(prototype, len(self._lower))]
        if head.pooling in ("max", "masked_max") and not head.similarity.unimodal:  # the similarity of one is enough
            pick = min if head.geometry == "euclidean" else max
            return self._similar(pick(low for low, _ in each), pick(high for _, high in each), prototype, bits)
        if head.pooling != "max_minus_mean_distance":
            each = [self._similar(low, high, prototype, bits) for low, high in each]

        def mean(total: int, parts: int) -> _Ends:
            """S at 2^-bits of the mean of distances."""
            return head.similarity.at(arithmetic, prototype, total, self._places, bits, parts)

        return pooled(head, [(low, high, 1) for low, high in each], mean)

    def _similar(self, low: int, high: int, prototype: int, bits: int) -> _Ends:
        """S at 2^-bits of an observable in [low, high]."""
        space = self._space
        return space.head.similarity.ends(space.arithmetic, prototype, low, high, self._unit(bits), bits)

    def _unit(self, bits: int) -> int:
        """Bits of the unit of observables."""
        return self._places if self._space.head.geometry in ("euclidean", "inner_product") else bits

    def _observed(self, patch: int, prototype: int, bits: int) -> _Ends:
        """The ends of an observable."""
        match self._space.head.geometry:
            case "euclidean":
                near, far = self._distance(patch, prototype)
                places = self._places - 2 * self._bits
                return near << places, far << places
            case "inner_product":
                low, high = self._product(patch, prototype)
                places = self._places - self._bits - self._space.head.prototypes.bits
                return low << places, high << places
            case "softmax":
                return self._mass(patch, prototype, bits)
            case _:
                return self._cosine(patch, prototype, bits)

    def _distance(self, patch: int, prototype: int) -> _Ends:
        """The least and the greatest squared distance to a prototype."""
        space, beyond = self._space, self._bits - self._space.head.prototypes.bits
        if not self.latents.known:
            point = [entry << beyond for entry in space.vectors[prototype]]
            return distances_over(self._lower[patch], self._upper[patch], point)
        # |z|^2 - 2 <z, p> + |p|^2
        square = self._squares[patch] - (self._inner(patch, prototype) << beyond + 1)
        square += space.squares[prototype] << 2 * beyond
        return square, square

    @cached_property
    def _squares(self) -> list[int]:
        """|z|^2 of known latents."""
        return [dot(row, row) for row in self._lower]

    def _inner(self, patch: int, prototype: int) -> int:
        """<z, A> of known latents. The products of all are computed where all are asked for."""
        if self._products:
            return self._products[prototype][patch]
        return dot(self._lower[patch], self._space.vectors[prototype])

    def _product(self, patch: int, prototype: int) -> _Ends:
        """The ends of <z, A>."""
        if self.latents.known:
            return (self._inner(patch, prototype),) * 2
        return products_over(self._lower[patch], self._upper[patch], self._space.vectors[prototype])

    def _cosine(self, patch: int, prototype: int, bits: int) -> _Ends:
        """<u, A> / |A| at 2^-bits."""
        (low, high), one = self._product(patch, prototype), 1 << bits
        if low == high == 0:
            return 0, 0
        length = self._divisor(patch, bits)
        if length[0] <= 0:
            return -one, one
        low, high = divided(low, high, list(map(mul, length, self._norm(prototype, bits))), 3 * bits)
        return max(-one, low), min(one, high)

    def _length(self, patch: int, bits: int) -> tuple[int, ...]:
        """|z| + E or (|z|^2 + E)^(1/2) at 2^-bits in the unit of the latents' integers."""
        head, places = self._space.head, self._bits + bits
        ends = distances_over(self._lower[patch], self._upper[patch], [0] * head.depth)
        near, far = (square << 2 * bits for square in ends)
        if head.geometry == "cosine":
            least, most = sqrt_ends(near)[0], sqrt_ends(far)[1]
            return least + floor_at(head.epsilon, places), most + ceil_at(head.epsilon, places)
        least, most = near + floor_at(head.epsilon, 2 * places), far + ceil_at(head.epsilon, 2 * places)
        return sqrt_ends(least)[0], sqrt_ends(most)[1]

    def _mass(self, patch: int, prototype: int, bits: int) -> _Ends:
        """exp(z_j - t) / sum_i exp(z_i - t) at 2^-bits, rounded outward."""
        least, most, top = self._divisor(patch, bits)
        exp, unit = self._space.arithmetic.exp, -self.latents.bits
        low = exp(self.latents.lower[patch][prototype] - top, unit, bits)
        high = low if self.latents.known else exp(self.latents.upper[patch][prototype] - top, unit, bits)
        # Of the sums all but the channel itself count, with what they are at least and at most.
        below = (low[0] << bits) // (low[0] + most - high[0]) if low[0] else 0
        return below, min(1 << bits, -((-high[1] << bits) // (high[1] + max(0, least - low[1]))))

    def _totals(self, patch: int, bits: int) -> tuple[int, ...]:
        """The least sum of the exp(lo_i - t) and the greatest of the exp(hi_i - t) at 2^-bits, and t."""
        lower, upper = self.latents.lower[patch], self.latents.upper[patch]
        exp, unit, top = self._space.arithmetic.exp, -self.latents.bits, max(upper)
        low = [exp(end - top, unit, bits) for end in lower]
        high = low if self.latents.known else [exp(end - top, unit, bits) for end in upper]
        return sum(least for least, _ in low), sum(most for _, most in high), top


def require_domain(head: Head, latents: EnclosedLatents, patches: int) -> None:
    """Raises UnprovedError unless all these latents have that many patches, each of them in the head's domain."""
    if len(latents.lower) != patches:
        raise _untrue(latents, f"the latents have {len(latents.lower)} patches, expected the certificate's {patches}")
    lower = None if head.lower is None else ceil_at(head.lower, latents.bits)
    upper = None if head.upper is None else floor_at(head.upper, latents.bits)
    radius = None if head.radius is None else floor_at(head.radius**2, 2 * latents.bits)
    for patch, (low, high) in enumerate(zip(latents.lower, latents.upper, strict=True)):
        ends = list(zip(low, high, strict=True))
        if (lower is not None and min(low) < lower) or (upper is not None and max(high) > upper):
            raise _untrue(latents, f"patch {patch}: a coordinate of the latents lies outside the head's domain")
        if radius is not None and sum(max(-least, most) ** 2 for least, most in ends) > radius:
            raise _untrue(latents, f"patch {patch}: the latent is longer than the radius of the head's domain")
        if head.geometry in COSINES and head.epsilon == 0 and all(least <= 0 <= most for least, most in ends):
            raise _untrue(latents, f"patch {patch}: the latent is zero, where a cosine without epsilon is undefined")


def require_true(certificate: Certificate, evaluation: Evaluation) -> None:
    """Raises UnprovedError, which names the first statement that is false or cannot be decided."""
    for number, statement in enumerate(certificate.statements):
        decided = truth(statement, evaluation)
        if not decided:
            fault = "is false" if decided is False else f"cannot be decided with {_LADDER[-1]} bits"
            what = (
                f"statement {number} ({statement}) {fault} at the latents; state an interval that holds the observable"
            )
            raise _untrue(evaluation.latents, what, decided is False)


def require_not_refuted(head: Head, predicted: int, evaluation: Evaluation) -> None:
    """Raises RefutedError, which names a rival whose logit is certainly greater than or equal to the predicted
    one's."""
    box = evaluation.activations(_BITS)
    for rival in range(head.classes):
        if rival != predicted and lower_bound(head, box, rival, predicted) >= 0:
            raise RefutedError(
                f"rival {rival}: at the latents, which satisfy every statement, its logit is at least that of the"
                f" predicted class {predicted}; the certificate is wrong"
            )


def _untrue(latents: EnclosedLatents, what: str, false: bool = True) -> UnprovedError:
    """What is not so of these latents: where they are known, by every kernel if it is decided."""
    if latents.known:
        return UnprovedError("instance", what, false=false)
    return UnprovedError("picture", f"{what} (of some latents in the ranges of what the network gives for the picture)")


def truth(statement: Statement, evaluation: Evaluation) -> bool | None:
    """Whether the statement holds of all these latents, or of none, with as many bits as that takes; None where it is
    not decided."""
    if not isinstance(statement, SumStatement) and not spoken_of(statement, evaluation.count):
        return True
    lower, upper = statement.lower, statement.upper
    for bits in _LADDER:  # an end that is None bounds nothing
        low, high = evaluation.bounded(statement, bits)
        if (lower is None or lower <= low) and (upper is None or high <= upper):
            return True
        if (lower is not None and high < lower) or (upper is not None and upper < low):
            return False
    return None
