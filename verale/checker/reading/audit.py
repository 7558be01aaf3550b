"""The steps of certificates/v1.md in interval arithmetic: from 5, the instance, to 9, and those of a witness.

The numbers of a certificate as the rules give them, where the program of the kernel `proved` cannot be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property

from ..certificate import Certificate, PatchStatement, Statement, SumStatement, sums_of
from ..deployment import are_binary32, unproved
from ..errors import UnprovedError
from ..network.enclosure import EnclosedLatents, Enclosure
from ..numbers import Interval, LatentsBox, Margins, Numbers, StatementAt
from ..read.latents import Image
from ..subject import NO_PICTURE, Proof, Subject
from .deployment import deployed_margins, require_deployed
from .evaluation import Evaluation, require_domain, require_not_refuted, require_true, truth
from .margin import enough, proved_margins, require, require_minimal
from .masses import Assignment, Simplex
from .paradigms import Activations
from .quadratic import Joint, QuadraticRule
from .space import Box, Space

_BITS = 128
"""Of what a statement bounds at an image."""


class PlainAudit:
    """A subject in the reading.

    Args:
        subject: the subject.
        space: its head.
        enclosure: of the pictures' network, given the arithmetic; None without pictures.
    """

    def __init__(self, subject: Subject, *, space: Space, enclosure: Callable[[str], Enclosure] | None = None) -> None:
        self.proof = Proof()
        self._subject, self._certificate, self._space = subject, subject.certificate, space
        seen = None if subject.picture is None else subject.certificate.arithmetic
        self._enclosure = None if enclosure is None or seen is None else enclosure(seen)

    def prove(self) -> None:
        certificate = self._certificate
        self._start()
        evaluation = self._evaluated()  # 5.
        try:
            self._entailment()
        except UnprovedError as error:
            # Step 6 comes before step 7. What is refuted cannot be entailed, so it is tried only where the proof fails.
            if evaluation is not None and error.reason == "entailment":
                require_not_refuted(self._space.head, certificate.predicted, evaluation)
            raise

    def prove_picture(self) -> None:
        self._start()
        if self._subject.picture is None or self._evaluated() is None:
            raise UnprovedError("subject", NO_PICTURE)

    def numbers(self) -> Numbers:
        certificate = self._certificate
        self._start()
        domain = self._activations.box((), certificate.patches)
        return numbers_of(certificate, self._entailed(), domain, self.proof.margins)

    def at_image(self, image: Image) -> tuple[StatementAt, ...]:
        certificate = self._certificate
        self._space.arithmetic.clock.start(self._subject.seconds)
        latents = EnclosedLatents.exactly(image.exact)
        require_domain(self._space.head, latents, certificate.patches)
        evaluation = Evaluation(self._space, latents, certificate.predicted)

        def at(statement: Statement) -> StatementAt:
            true = truth(statement, evaluation)
            return StatementAt(true, None if true else Interval(*evaluation.bounded(statement, _BITS)))

        return tuple(map(at, certificate.statements))

    def refute(self, witness: Image) -> None:
        predicted = self._certificate.predicted
        self._space.arithmetic.clock.start(None)
        latents = EnclosedLatents.exactly(witness.exact)
        require_not_refuted(self._space.head, predicted, self._satisfied(latents))  # 5. and 6.
        raise UnprovedError(
            "witness",
            f"the witness satisfies every statement, and no rival's logit is certainly at least that of class"
            f" {predicted}: it is no counterexample, which proves nothing",
        )

    def _start(self) -> None:
        """Begin to measure what the proof takes; at least it keeps the ranges of all stated patches."""
        clock, head = self._space.arithmetic.clock, self._space.head
        clock.start(self._subject.seconds)
        patches = {each.patch for each in self._certificate.statements if isinstance(each, PatchStatement)}
        clock.keep(2 * head.count * (len(patches) + head.columns))

    def _entailment(self) -> None:
        """Steps 7, 8 and 9."""
        subject, certificate, proof, head = self._subject, self._certificate, self.proof, self._space.head
        box, deployment = self._entailed(), subject.deployment  # 7. Entailment
        require(proof.margins, certificate.margins)
        proof.claims.add("entailment")
        if subject.minimality:  # 8. Minimality
            boxes = self._activations.boxes_without(certificate.statements, certificate.patches)
            provable = None if self._together is None else self._together.provable
            require_minimal(head, certificate.predicted, certificate.statements, boxes, proof.margins, provable)
            proof.claims.add("minimality")
        if deployment is not None:  # 9. Deployment
            proof.deployed = deployed_margins(self._space, certificate, box, proof.margins, deployment)
            if self._has_better and not all(margin is None or margin > 0 for margin in proof.deployed):
                box = self._bounded()
                proof.deployed = deployed_margins(self._space, certificate, box, proof.margins, deployment)
            require_deployed(proof.deployed)
            if subject.image is not None and not are_binary32(subject.image.exact):
                raise unproved("the latents are no binary32 numbers, so perhaps none that are satisfy the statements")
            if "picture" in proof.claims and certificate.arithmetic == "real":
                raise unproved(
                    "of the picture real latents are proved, so perhaps none in binary32 satisfy the statements"
                )
            proof.claims.add("deployment")

    def _entailed(self) -> Box:
        """The activations, given the statements, with which the stated margins are proved, if they can be."""
        box = self._bounded(quick=True)
        if self._has_better and not enough(self.proof.margins, self._certificate.margins):
            box = self._bounded()
        return box

    @property
    def _has_better(self) -> bool:
        """Whether other weights may prove more."""
        patches = any(isinstance(each, PatchStatement) for each in self._certificate.statements)
        return patches and self._space.head.geometry != "softmax"

    def _bounded(self, quick: bool = False) -> Box:
        """The activations, given the statements; the margins that follow are kept."""
        box = self._activations.box(self._certificate.statements, self._certificate.patches, quick)
        self.proof.margins = proved_margins(
            self._space.head, box, self._certificate.predicted, sums_of(self._certificate.statements)
        )
        if self._together is not None:
            self.proof.margins = self._together.margins(box, self.proof.margins)
        return box

    def _evaluated(self) -> Evaluation | None:
        """Step 5. The latents that the certificate names, or that the network gives for the picture that it names,
        satisfy every statement."""
        image, picture = self._subject.image, self._subject.picture
        if image is not None:
            claim, latents = "instance", EnclosedLatents.exactly(image.exact)
        elif self._enclosure is not None and picture is not None:
            claim, latents = "picture", self._enclosure.latents(picture)
            self.proof.box = LatentsBox(Fraction(latents.width, 1 << latents.bits), *self._enclosure.widest)
        else:
            return None
        evaluation = self._satisfied(latents)
        self.proof.claims.add(claim)
        return evaluation

    def _satisfied(self, latents: EnclosedLatents) -> Evaluation:
        """The evaluation of latents. Raises UnprovedError unless they lie in the domain and satisfy every statement."""
        require_domain(self._space.head, latents, self._certificate.patches)
        evaluation = Evaluation(self._space, latents, self._certificate.predicted)
        require_true(self._certificate, evaluation)
        return evaluation

    @cached_property
    def _together(self) -> Assignment | Joint | None:
        """What bounds a margin otherwise than term by term."""
        if self._certificate.paradigm == "assignment":
            return Assignment(self._space, self._certificate)
        return Joint(QuadraticRule(self._space), self._certificate) if self._certificate.paradigm == "joint" else None

    @cached_property
    def _activations(self) -> Activations:
        rule = (Simplex if self._space.head.geometry == "softmax" else QuadraticRule)(self._space)
        return Activations(self._space, rule)


def numbers_of(certificate: Certificate, box: Box, domain: Box, margins: Margins) -> Numbers:
    """The numbers of a certificate whose statements prove a box and margins; the domain's box is that without any.

    Which statements give an end is told of those about its own prototype; what neighbours say is nobody's.
    """
    givers = tuple(
        (
            _givers(certificate.statements, j, Fraction(low, 1 << box.bits), "lower") if low > least else (),
            _givers(certificate.statements, j, Fraction(high, 1 << box.bits), "upper") if high < most else (),
        )
        for j, (low, least, high, most) in enumerate(zip(box.lower, domain.lower, box.upper, domain.upper, strict=True))
    )
    return Numbers(_intervals(box), _intervals(domain), margins, givers)


def _intervals(box: Box) -> tuple[Interval, ...]:
    each = zip(box.lower, box.upper, strict=True)
    return tuple(Interval(Fraction(int(low), 1 << box.bits), Fraction(int(high), 1 << box.bits)) for low, high in each)


def _givers(statements: Sequence[Statement], prototype: int, end: Fraction, side: str) -> tuple[int, ...]:
    """The first statement about the activation that says as much as this end; else all about patches and its
    prototype."""
    patches: list[int] = []
    for number, each in enumerate(statements):
        if isinstance(each, SumStatement):
            continue
        about = prototype not in each.exempt if hasattr(each, "exempt") else each.prototype == prototype
        stated = getattr(each, side, None)
        if about and isinstance(each, PatchStatement):
            patches.append(number)
        elif about and stated is not None and (stated >= end if side == "lower" else stated <= end):
            return (number,)
    return tuple(patches)
