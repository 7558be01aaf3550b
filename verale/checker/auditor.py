"""The auditor: the nine steps of certificates/v1.md, "Verification", in their order, and "Refutation by a witness"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from .certificate import Certificate, read_certificate
from .cost import LIMIT, allowed, cost, require_within
from .dyadic import Exact
from .errors import FormatError, RefutedError, UnprovedError
from .head_file import read_head
from .kernel import KERNELS, load_kernel
from .latents import Latents
from .rules.assignment import Assignment
from .rules.evaluation import Evaluation
from .rules.hypersphere import Hypersphere
from .rules.instance import require_domain, require_not_refuted, require_true
from .rules.margin import proved_margins, require
from .rules.minimality import require_minimal
from .rules.projection import Projection
from .rules.simplex import Simplex
from .rules.space import Space
from .rules.spatial import SpatialRule
from .rules.top_k import TopK
from .rules.triangle import Triangle
from .verdict import Status, Verdict

__all__ = ["Auditor", "check"]

_Margins: TypeAlias = tuple[Fraction | None, ...]
_UNCLAIMED = (
    "every claim that was checked is proved, but the certificate names no latents: perhaps none satisfy the statements;"
    " name them, or ask for entailment only"
)


class Auditor:
    """Checks certificates of one head.

    Args:
        head: the bytes of the head file.
        latents: the bytes of a latents file; without it no instance claim is checked.
        kernel: `arb`, `mpmath` or `both`, which proves only what both prove.
        limit: the most steps that a proof may take for each megabyte of head, certificate and image (`cost`).

    Raises:
        HeadError, LatentsError: a file that cannot be used (step 2).
        KernelError: a kernel that is unknown or not installed.
    """

    def __init__(self, head: bytes, latents: bytes | None = None, kernel: str = "arb", limit: int = LIMIT) -> None:
        kernels = [load_kernel(name) for name in (KERNELS if kernel == "both" else (kernel,))]
        self._head, self._size = read_head(head), len(head)
        self._latents = None if latents is None else Latents(latents, self._head.depth)
        self._projections = [Projection(Space(self._head, each)) for each in kernels]
        self._limit = limit

    def check(self, certificate: bytes, minimality: bool = False, entailment_only: bool = False) -> Verdict:
        """The verdict on a certificate's bytes.

        Args:
            certificate: the bytes of the certificate.
            minimality: whether to prove that claim too, if the certificate makes it.
            entailment_only: whether to accept certificates that claim nothing of an image. Otherwise these have the
                reason `unclaimed` where they are PROVED: perhaps no latents satisfy their statements.
        """
        verdict = self._judge(certificate, lambda audit: audit.run(minimality), Status.NOT_PROVED)
        if verdict.status is not Status.PROVED or "not claimed" not in verdict.claims.values() or entailment_only:
            return verdict
        return replace(verdict, reason="unclaimed", message=_UNCLAIMED)

    def refute(self, certificate: bytes, witness: bytes) -> Verdict:
        """Whether a witness refutes a certificate: certificates/v1.md, "Refutation by a witness".

        Args:
            certificate: the bytes of the certificate. Latents that it names are ignored.
            witness: the bytes of a latents file of one image.

        Returns:
            REFUTED, NOT_REFUTED with the step that fails, or MALFORMED. No claim of the certificate is checked.

        Raises:
            LatentsError: the witness is not a latents file of one image that fits this head.

        Soundness: REFUTED means that these latents lie in the domain, certainly satisfy every statement, and that
            some rival's logit is certainly at least the predicted one's: the certificate's entailment is false.
        """
        image = Latents(witness, self._head.depth).only()
        return self._judge(certificate, lambda audit: audit.refute(image), Status.NOT_REFUTED)

    def _judge(self, certificate: bytes, steps: Callable[[_Audit], None], failed: Status) -> Verdict:
        """The verdict after the steps from 2 on, in every kernel."""
        try:
            document = read_certificate(certificate)  # 1. The certificate
        except FormatError as error:
            return Verdict(Status.MALFORMED, "malformed", str(error))
        size = self._size + len(certificate)
        verdicts = [self._verdict(document, size, projection, steps, failed) for projection in self._projections]
        return verdicts[0] if len(verdicts) == 1 else _common(verdicts)

    def _verdict(
        self,
        certificate: Certificate,
        size: int,
        projection: Projection,
        steps: Callable[[_Audit], None],
        failed: Status,
    ) -> Verdict:
        audit = _Audit(certificate, projection, self._latents, self._limit, size)
        status, reason, message = Status.PROVED, "", "every claim that was checked is proved"
        try:
            steps(audit)
        except FormatError as error:
            status, reason, message = Status.MALFORMED, "malformed", str(error)
        except RefutedError as error:
            status, reason, message = Status.REFUTED, "refuted", str(error)
        except UnprovedError as error:
            status, reason, message = failed, error.reason, str(error)
        return Verdict(
            status,
            reason,
            message,
            audit.claims(),
            certificate.predicted,
            certificate.paradigm,
            len(certificate.statements),
            audit.margins,
        )


def check(
    certificate: bytes,
    head: bytes,
    latents: bytes | None = None,
    kernel: str = "arb",
    minimality: bool = False,
    entailment_only: bool = False,
) -> Verdict:
    """The verdict on one certificate; see `Auditor`."""
    return Auditor(head, latents, kernel).check(certificate, minimality, entailment_only)


class _Audit:
    """One certificate in one kernel: what has been proved so far. `size` is that of its bytes and the head's."""

    def __init__(
        self, certificate: Certificate, projection: Projection, latents: Latents | None, limit: int, size: int
    ) -> None:
        self._certificate = certificate
        self._projection = projection
        self._space = projection.space
        self._latents = latents
        self._limit = limit
        self._size = size
        self.proved: set[str] = set()
        self.margins: _Margins = ()

    def claims(self) -> dict[str, str]:
        """What became of each claim; the instance is among them even where it is not claimed."""
        claimed = self._certificate.claims
        return {
            claim: "proved" if claim in self.proved else "not checked" if claim in claimed else "not claimed"
            for claim in ("entailment", "instance", *claimed)
        }

    def run(self, minimality: bool) -> None:
        """Steps 3 to 8. Raises FormatError, UnprovedError or RefutedError at the first that fails."""
        certificate, head = self._certificate, self._space.head
        image = self._subject()  # 3.
        certificate.check_against(head)  # 4. Statements
        asked = minimality and "minimality" in certificate.claims
        size = self._size if image is None else self._size + 8 * len(image.rows) * head.depth
        limit, counted = allowed(self._limit, size), cost(certificate, self._space, asked)
        require_within(limit, counted)
        self._space.work.allow(limit, counted.steps)
        evaluation = None if image is None else self._instance(image)  # 5.
        try:
            self._entailment(asked)
        except UnprovedError as error:
            # Step 6 comes before step 7. What is refuted cannot be entailed, so it is tried only where the proof fails.
            if evaluation is not None and error.reason == "entailment":
                require_not_refuted(head, certificate.predicted, evaluation)
            raise

    def refute(self, image: Exact) -> None:
        """Steps 3 to 6 for a witness. Raises FormatError, RefutedError, or UnprovedError at the first that fails."""
        certificate, head = self._certificate, self._space.head
        self._space.work.allow(None)
        self._require_head()  # 3., of the head alone
        certificate.check_against(head)  # 4. Statements
        require_not_refuted(head, certificate.predicted, self._satisfied(image))  # 5. and 6.
        raise UnprovedError(
            "witness",
            f"the witness satisfies every statement, and no rival's logit is certainly at least that of class"
            f" {certificate.predicted}: it is no counterexample, which proves nothing",
        )

    def _entailment(self, minimality: bool) -> None:
        """Steps 7 and 8."""
        certificate, head = self._certificate, self._space.head
        rule = self._rule()
        box = rule.box(certificate.statements, certificate.patches)  # 7. Entailment
        self.margins = proved_margins(head, box, certificate.predicted)
        priced = Assignment(self._space, certificate) if certificate.paradigm == "assignment" else None
        if priced is not None:
            self.margins = priced.margins(box, self.margins)
        require(self.margins, certificate.margins)
        self.proved.add("entailment")
        if minimality:  # 8. Minimality
            boxes = rule.boxes_without(certificate.statements, certificate.patches)
            provable = None if priced is None else priced.provable
            require_minimal(
                head, certificate.predicted, certificate.statements, boxes, self.margins, self._space.work, provable
            )
            self.proved.add("minimality")

    def _subject(self) -> Exact | None:
        """Step 3. The head and the latents are the ones named."""
        certificate = self._certificate
        self._require_head()
        if self._latents is None or certificate.latents is None:
            return None
        image = self._latents.find(certificate.latents)
        if image is None:
            raise UnprovedError(
                "subject",
                f"no image of the latents file has the digest {certificate.latents[:16]}...;"
                " check it with its own latents, or without any",
            )
        return image

    def _require_head(self) -> None:
        named, given = self._certificate.head, self._space.head.sha256
        if named != given:
            raise UnprovedError(
                "subject",
                f"the certificate speaks of the head {named[:16]}..., this one is {given[:16]}...;"
                " check it with its own head",
            )

    def _instance(self, image: Exact) -> Evaluation:
        """Step 5. The latents that the certificate names satisfy every statement."""
        evaluation = self._satisfied(image)
        self.proved.add("instance")
        return evaluation

    def _satisfied(self, image: Exact) -> Evaluation:
        """The evaluation of latents. Raises UnprovedError unless they lie in the domain and satisfy every statement."""
        require_domain(self._space.head, image, self._certificate.patches)
        evaluation = Evaluation(self._space, image)
        require_true(self._certificate, evaluation)
        return evaluation

    def _rule(self) -> TopK | SpatialRule:
        match self._certificate.paradigm:
            case "top_k" | "sparse":
                return TopK(self._space)
            case "projection":
                return SpatialRule(self._space, self._projection)
            case "triangle":
                return SpatialRule(self._space, Triangle(self._space))
            case "hypersphere":
                return SpatialRule(self._space, Hypersphere(self._space))
            case _:
                return SpatialRule(self._space, Simplex(self._space))


def _common(verdicts: list[Verdict]) -> Verdict:
    """What both kernels prove."""
    first, second = verdicts
    if (first.status, first.reason) != (second.status, second.reason):
        message = "; ".join(f"{name}: {v.status.value} {v.message}" for name, v in zip(KERNELS, verdicts, strict=True))
        return Verdict(
            Status.NOT_PROVED,
            "kernels",
            f"the kernels disagree, expected one verdict ({message}); report it",
            {claim: "not checked" if state == "proved" else state for claim, state in first.claims.items()},
            first.predicted,
            first.paradigm,
            first.statements,
        )
    margins = tuple(
        None if one is None or other is None else min(one, other)
        for one, other in zip(first.margins, second.margins, strict=True)
    )
    return Verdict(
        first.status,
        first.reason,
        first.message,
        first.claims,
        first.predicted,
        first.paradigm,
        first.statements,
        margins,
    )
