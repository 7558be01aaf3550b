"""What an audit with its default limit answers: asked of each certificate before it is written.

By default the proved checker is asked, and of statements about patches it is known beforehand, with room to spare, how
long it takes. What that does not decide depends on arb, which is asked next. What its rules count before a proof
begins is computed as they do it. What they count while a proof runs has an upper bound that is seldom far off. Where
that exceeds the limit, the proof is run: then it is known.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isfinite

import torch
from torch import Tensor

from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.checker import Auditor
from verale.checker import certificate as checked
from verale.checker.errors import UnprovedError
from verale.checker.head import read_head
from verale.checker.kernel import load_kernel
from verale.checker.limit import LIMIT, SHARE, allowed
from verale.checker.network.enclosure import Enclosure
from verale.checker.plain.cost import Cost, cost, require_within
from verale.checker.plain.margin import margin_steps
from verale.checker.plain.space import Space
from verale.checker.plain.work import OPERATION, TERM, inverse_steps, move_steps, point_steps
from verale.checker.read.network_file import read_network
from verale.checker.read.png_reader import Png
from verale.head import Head
from verale.search import Unexplained

__all__ = ["DefaultAudits", "Emitted", "PictureWork"]

_KERNEL = "arb"
"""What is asked where the proved checker does not prove, or is not there."""

_BEGUN = 2**20
_TOLD = 60
_PRODUCTS = Fraction(3, 4)
_POINTS = 100
_PAIR = 80
_PATCH = 6
_EXPONENTIAL = 60
_OTHERS = 400
_CUT = 40
"""Steps of the proved checker: to begin; for each number of the head that it is told; for each coordinate of a
prototype and statement about a patch, to prove the class, and that the statement is needed; for the activations of an
image, each patch and prototype, each of their coordinates besides, or each mass; and to show that a statement about an
activation is needed, each other statement, and each prototype. Measured, in this order from the third: 0.1 to 0.7
(`benchmarks/results/proved.md`), 97 for the points of the demo under `projection`, at most 58, 1 to 4, 27, 210, 20; of
numbers of few bits."""

_NARROW = 2.0**-40
"""An interval that is wider, relative to its ends, may be no equality for the checker. Half of it is compared with, so
that no rounding matters."""

_NO_NUMBER = Fraction()

_BITS = 128
"""The fewest with which the checker encloses what is stated."""

_ENDLESS = 2**200
"""More steps than any limit."""

_SEARCHED = 8
"""No more similarities are computed, for each bit of the grid, to invert that of one prototype at both ends."""


@dataclass(frozen=True)
class Emitted:
    """What is written about an image.

    Attributes:
        explanation: the certificate, or why there is none.
        unclaimed: whether the certificate could claim minimality, but a default audit has too few steps for the proof.
        limit: the limit that an audit of the certificate needs; None if the default is enough.
    """

    explanation: Certificate | Unexplained
    unclaimed: bool = False
    limit: int | None = None


@dataclass(frozen=True)
class PictureWork:
    """What it takes to audit the claim about a picture, beside the rest of a certificate.

    Attributes:
        steps: to read it, no less than those of a PNG file, and to enclose the latents that the network gives.
        numbers: how many are kept at once.
        size: of the network's file, in bytes.
    """

    steps: int
    numbers: int
    size: int

    @classmethod
    def of(cls, network: bytes, arithmetic: str) -> PictureWork:
        """That of any picture of a network."""
        seen = read_network(network)
        enclosure = Enclosure(seen, load_kernel(_KERNEL), arithmetic)
        return cls(enclosure.steps + Png(seen.shape, seen.shape[0], b"").steps, enclosure.numbers, seen.size)


class DefaultAudits:
    """Certificates of one head, so that neither `verale audit` nor `verale audit --minimality` refuses them with its
    default limit: for that, minimality is not claimed where its proof takes too long.

    Args:
        head: the head.
        limit: the limit; by default that of an audit.
        proved: whether the proved checker is asked first, as it is by default wherever it is there.
        picture: of certificates that claim a picture.
    """

    def __init__(
        self, head: Head, limit: int | None = None, proved: bool = True, picture: PictureWork | None = None
    ) -> None:
        self._head, self._limit, self._proved = head, LIMIT if limit is None else limit, proved
        self._picture = PictureWork(0, 0, 0) if picture is None else picture

    def emitted(
        self,
        images: Tensor,
        explained: Sequence[Certificate | Unexplained],
        exact: Sequence[Certificate | None] | None = None,
    ) -> list[Emitted]:
        """For each image (L, D) what is written about it: an explanation or, where its short numbers take more steps
        than an audit has, the same in exact numbers, if there is one."""
        each = zip(images, explained, exact or [None] * len(explained), strict=True)
        return [
            Emitted(one) if isinstance(one, Unexplained) else self._one(image, one, other) for image, one, other in each
        ]

    def _one(self, image: Tensor, certificate: Certificate, exact: Certificate | None = None) -> Emitted:
        proof = _Proof(self._data, self._space, image, certificate, self._limit, self._proved, self._picture)
        if not proof.sees_the_picture:
            return Emitted(replace(certificate, minimal=False), certificate.minimal, proof.needed)
        if proof.is_surely_allowed(certificate.minimal):
            return Emitted(certificate)
        if not proof.is_allowed(False):
            if exact is not None and (other := self._one(image, exact)).limit is None:
                return other
            # What is enough for entailment need not be enough for minimality.
            return Emitted(replace(certificate, minimal=False), certificate.minimal, proof.needed)
        if certificate.minimal and not proof.is_allowed(True):
            return Emitted(replace(certificate, minimal=False), True)
        return Emitted(certificate)

    @cached_property
    def _data(self) -> bytes:
        return self._head.to_bytes()

    @cached_property
    def _space(self) -> Space:
        return Space(read_head(self._data), load_kernel(_KERNEL))


class _Proof:
    """The proof of one certificate.

    Attributes:
        needed: a limit that is certainly enough for entailment: the given one, doubled as often as necessary.
    """

    def __init__(
        self,
        head: bytes,
        space: Space,
        image: Tensor,
        certificate: Certificate,
        limit: int,
        proved: bool,
        picture: PictureWork,
    ) -> None:
        self._head, self._space, self._limit, self._certificate = head, space, limit, certificate
        self._asks_proved, self._picture = proved, picture
        self._shape = _shape(certificate)
        self._of_patches = [s for s in certificate.statements if isinstance(s, PatchStatement)]
        self._groups = list(Counter(s.patch for s in self._of_patches).values())
        self._without_certificate = len(head) + (picture.size or 8 * image.numel())
        self._bits = _bits_of(space, image)
        self._instance = _instance_steps(self._shape, space, image, self._bits) + picture.steps

    @cached_property
    def _data(self) -> bytes:
        # A head from a file that other software wrote is not named by the digest of these bytes.
        return replace(self._certificate, head=hashlib.sha256(self._head).hexdigest()).to_bytes()

    @property
    def _size(self) -> int:
        return self._without_certificate + len(self._data)

    @property
    def sees_the_picture(self) -> bool:
        """Whether an audit by the rules encloses the latents that the network gives. How long the proved checker takes
        for a network is not known beforehand."""
        return _is_within(
            allowed(self._limit, self._without_certificate), Cost(self._picture.steps, self._picture.numbers)
        )

    @property
    def needed(self) -> int:
        most, limit = self._most(False), self._limit
        while not _is_within(allowed(limit, self._size), most):
            limit *= 2
        return limit

    def is_surely_allowed(self, minimality: bool) -> bool:
        """Whether the upper bound is within what is allowed; then `is_allowed`, with and without minimality."""
        if self._is_quickly_proved(minimality):
            return True
        most = self._most(minimality)
        # Mostly the certificate's size does not matter, and then it is not written here.
        if _is_within(allowed(self._limit, self._without_certificate), most):
            return True
        return most.steps < _ENDLESS and _is_within(allowed(self._limit, self._size), most)

    def _is_quickly_proved(self, minimality: bool) -> bool:
        """Whether the proved checker certainly has time enough. What is stated about masses of patches, and means over
        patches, are left to the rules."""
        head, proof = self._space.head, self._certificate
        statements, coordinates = len(proof.statements), head.count * head.depth
        is_pooled = proof.paradigm in ("top_k", "sparse", "mixed")
        knows_products = bool(head.prototypes.rows)
        if not self._asks_proved or not (head.pooling in ("max", "masked_max") if is_pooled else knows_products):
            return False
        compared = len(self._of_patches) + (len(self._named) if proof.paradigm == "mixed" else 0)
        steps = _BEGUN + _TOLD * head.count * (head.depth + head.classes) + int(_PRODUCTS * compared * coordinates)
        if is_pooled:
            each = head.count * _PAIR + _PATCH * coordinates if knows_products else _EXPONENTIAL * head.count
            steps += proof.patches * each
        if minimality:
            steps += _POINTS * len(self._of_patches) * coordinates
            steps += is_pooled * statements * (_OTHERS * statements + _CUT * head.count)
        steps = self._space.work.scaled(steps, self._bits) + self._picture.steps
        return steps <= allowed(self._limit // SHARE, self._without_certificate)

    def is_allowed(self, minimality: bool) -> bool:
        """Whether the checker has steps enough for entailment and instance, and for minimality where that is asked."""
        if self._is_quickly_proved(minimality):
            return True
        steps, counted = allowed(self._limit, self._size), cost(self._shape, self._space, minimality)
        if not _is_within(steps, counted.plus(self._instance, self._picture.numbers)):
            return False
        if self.is_surely_allowed(minimality):
            return True
        return self._passes(steps - self._instance, minimality)

    def _passes(self, steps: int, minimality: bool) -> bool:
        """Whether the proof ends within so many steps. The instance is left out: it is counted already."""
        begun = allowed(1, len(self._head) + len(self._data))
        return Auditor(self._head, kernel=_KERNEL, limit=steps // begun).check(self._data, minimality).reason != "limit"

    def _most(self, minimality: bool) -> Cost:
        """No less than what is counted in all; of some proofs of minimality without an end."""
        document, head, work, similar = self._shape, self._space.head, self._space.work, _similarity_steps(self._space)
        counted = cost(document, self._space, minimality).plus(0, self._picture.numbers)
        statements, patches = len(document.statements), len(self._groups)
        parts = patches + head.columns
        boxes, kept, ranges = 1, parts, Counter(self._groups)
        running = len(document.margins) * margin_steps(head)
        if minimality:
            if document.paradigm in ("joint", "assignment"):
                return replace(counted, steps=_ENDLESS)
            boxes, kept = boxes + 1 + (statements if patches else 0), 2 * parts + statements
            running += statements * head.classes * margin_steps(head)
            for stated in self._groups:
                ranges[stated] += 2
                ranges[stated - 1] += 2 * stated
        if head.pooling == "max_minus_mean_distance":
            kept = 2 * boxes * parts  # similarities of means are computed again for each
        running += 2 * kept * head.count * similar
        if head.prototypes.rows:
            # More moves than these are seldom made. Targets of equalities share an exact inverse, others may not.
            for stated, times in ranges.items():
                moves = 2 if self._is_narrow else 2 * stated
                running += times * 2 * head.count * moves * move_steps(stated + 1)
                if minimality:
                    running += times * (2 if self._is_narrow else 2 * head.count) * inverse_steps(stated + 1)
        if document.paradigm == "mixed":
            running += len(self._named) * head.count * (TERM * head.depth + 12 * OPERATION)
            running += head.count * (_SEARCHED * self._space.bits + 2) * similar
        if document.paradigm == "joint":
            each = 40 * OPERATION * head.count + 2 * point_steps(head.depth, statements, head.count)
            running += head.classes * (each + 2 * statements * move_steps(statements + 1))
        return replace(counted, steps=counted.steps + work.scaled(running) + self._instance)

    @property
    def _is_narrow(self) -> bool:
        """Whether the checker certainly takes every interval about a patch for an equality."""
        return all(
            isfinite(s.lower) and isfinite(s.upper) and s.upper - s.lower <= _NARROW / 2 * (abs(s.lower) + abs(s.upper))
            for s in self._of_patches
        )

    @property
    def _named(self) -> set[int]:
        """The prototypes that are stated or exempt, whose similarity with all others is computed."""
        of_clauses = (s.exempt for s in self._certificate.statements if isinstance(s, OrderStatement | FloorStatement))
        stated = {s.prototype for s in self._certificate.statements if isinstance(s, ActivationStatement)}
        return stated.union(*of_clauses)


def _shape(certificate: Certificate) -> checked.Certificate:
    """What the checker reads of a certificate, without the numbers: as far as they matter, they are asked for here."""
    statements: list[checked.Statement] = []
    for one in certificate.statements:
        match one:
            case PatchStatement():
                statements.append(checked.PatchStatement(one.patch, one.prototype, None, None))
            case ActivationStatement():
                statements.append(checked.ActivationStatement(one.prototype, None, None))
            case OrderStatement():
                statements.append(checked.OrderStatement(one.exempt, _NO_NUMBER))
            case FloorStatement():
                statements.append(checked.FloorStatement(one.exempt, _NO_NUMBER))
    return checked.Certificate(
        head=certificate.head,
        latents=None,
        predicted=certificate.predicted,
        paradigm=certificate.paradigm,
        patches=certificate.patches,
        statements=tuple(statements),
        margins=(None,) * len(certificate.margins),
        claims=("entailment",),
        prices={each.rival: {} for each in certificate.prices},
    )


def _is_within(limit: int, counted: Cost) -> bool:
    try:
        require_within(limit, counted)
    except UnprovedError:
        return False
    return True


def _similarity_steps(space: Space) -> int:
    """Of one similarity, at one end of an observable."""
    return 4 * OPERATION + (space.work.series if space.head.similarity.series else 0)


def _bits_of(space: Space, image: Tensor) -> int:
    """No less than the bits of any product that decides the instance."""
    return max(2 * _bits(image), 2 * space.head.prototypes.bits, space.head.similarity.places, _BITS)


def _instance_steps(document: checked.Certificate, space: Space, image: Tensor, bits: int) -> int:
    """No less than the steps of the instance, if few bits decide every statement: they do, as float64 enclosed what is
    stated."""
    head, work, (patches, depth) = space.head, space.work, image.shape
    steps = OPERATION * patches * depth + len(document.statements) * OPERATION * (40 + head.depth)
    similar = _similarity_steps(space)
    pooled = 1 if head.pooling in ("max", "masked_max") and not head.similarity.unimodal else patches
    if head.geometry == "softmax":
        steps += patches * head.count * (head.count + 2 * work.series)
    if not all(isinstance(s, checked.PatchStatement) for s in document.statements):
        steps += head.count * (patches * (TERM * head.depth + 8 * OPERATION) + 2 * pooled * similar)
    return 2 * work.scaled(steps, bits)


def _bits(image: Tensor) -> int:
    """No less than the bits after the point of any latent, and no less than those before it."""
    numbers = image[image != 0]
    if not numbers.numel():
        return 1
    exponents = torch.frexp(numbers)[1]
    return max(int(exponents.max()), 53 - int(exponents.min()), 1)
