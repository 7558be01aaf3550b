"""The auditor: the ten steps of certificates/v1.md, "Verification", in their order, and "Refutation by a witness"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from .certificate import Certificate, read_certificate
from .cost import LIMIT, allowed, cost, require_within
from .deployment import Deployment, are_binary32, unproved
from .errors import FormatError, RefutedError, UnprovedError
from .head import Head
from .head_file import read_head
from .kernel import CHOICES, KERNELS, PROVED, load_kernel
from .latents import Image, Latents
from .rules.assignment import Assignment
from .rules.deployment import deployed_margins, require_deployed
from .rules.evaluation import Evaluation
from .rules.instance import require_domain, require_not_refuted, require_true
from .rules.joint import Joint
from .rules.margin import are_enough, proved_margins, require
from .rules.minimality import require_minimal
from .rules.mixed import Mixed
from .rules.quadratic import QuadraticRule
from .rules.similarity import Box
from .rules.simplex import Simplex
from .rules.space import Space
from .rules.spatial import SpatialRule
from .rules.top_k import TopK
from .steps import Steps
from .verdict import Status, Verdict

if TYPE_CHECKING:
    from .proved import Program

__all__ = ["Auditor", "check"]

_DECIDED = {Status.PROVED, Status.REFUTED}
_UNCLAIMED = (
    "every claim that was checked is proved, but the certificate names no latents: perhaps none satisfy the statements;"
    " name them, or ask for entailment only"
)


class Auditor:
    """Checks certificates of one head.

    Args:
        head: the bytes of the head file.
        latents: the bytes of a latents file; without it no instance claim is checked.
        kernel: `arb`, `mpmath` or `proved`; or `both`, the first two, or `all`, which prove only what each proves.
        limit: the most steps that a proof may take for each megabyte of head, certificate and image (`cost`).
        hurry: whether to be content with margins that are enough, where greater ones take longer.

    Attributes:
        packages: what the kernels compute with.
        executable: the program that the kernel `proved` asks; None without it.

    Raises:
        HeadError, LatentsError: a file that cannot be used (step 1).
        KernelError: a kernel that is unknown or not installed.
    """

    def __init__(
        self, head: bytes, latents: bytes | None = None, kernel: str = "arb", limit: int = LIMIT, hurry: bool = True
    ) -> None:
        names = CHOICES.get(kernel, (kernel,))
        kernels = [load_kernel(name) for name in names if name != PROVED]
        self.packages = tuple(package for each in kernels for package in each.packages)
        self._head, self._size = read_head(head), len(head)
        self._latents = None if latents is None else Latents(latents, self._head.depth)
        self._rules = [QuadraticRule(Space(self._head, each)) for each in kernels]
        self.executable: Program | None = None
        self._proved: Callable[..., Steps] | None = None
        if PROVED in names:
            self.executable, self._proved = _load_proved(self._head, self._size)
        self._limit, self._hurry = limit, hurry

    def check(
        self,
        certificate: bytes,
        minimality: bool = False,
        entailment_only: bool = False,
        deployment: Deployment | None = None,
    ) -> Verdict:
        """The verdict on a certificate's bytes.

        Args:
            certificate: the bytes of the certificate.
            minimality: whether to prove that claim too, if the certificate makes it.
            entailment_only: whether to accept certificates that claim nothing of an image. Otherwise these have the
                reason `unclaimed` where they are PROVED: perhaps no latents satisfy their statements.
            deployment: how the deployed head computes, to prove that it gives the class in binary32 too.
        """
        verdict = self._judge(certificate, lambda audit: audit.run(minimality, deployment), Status.NOT_PROVED)
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

    def _judge(self, certificate: bytes, steps: Callable[[Steps], None], failed: Status) -> Verdict:
        """The verdict after the steps from 2 on, in every kernel."""
        try:
            document = read_certificate(certificate)  # 2. The certificate
        except FormatError as error:
            return Verdict(Status.MALFORMED, "malformed", str(error))
        given = self._latents, self._limit, self._size + len(certificate)
        audits: list[Steps] = [_Audit(document, each, *given, self._hurry) for each in self._rules]
        if self._proved is not None:
            audits.append(self._proved(document, self._head, *given))
        *verdicts, last = [_verdict(audit, steps, failed) for audit in audits]
        if not verdicts:
            return last
        return _common([*verdicts, last]) if len(verdicts) == 1 else _with_proved(_common(verdicts), last)


def _load_proved(head: Head, size: int) -> tuple[Program, Callable[..., Steps]]:
    """The proved checker, and what makes its audits. Its modules take a sixth of all the checker's time to load."""
    from .proved import ProvedAudit, ProvedClaims, find_program

    program = find_program()
    return program, partial(ProvedAudit, claims=ProvedClaims(head, size, program))


def check(
    certificate: bytes,
    head: bytes,
    latents: bytes | None = None,
    kernel: str = "arb",
    minimality: bool = False,
    entailment_only: bool = False,
    deployment: Deployment | None = None,
) -> Verdict:
    """The verdict on one certificate; see `Auditor`."""
    return Auditor(head, latents, kernel).check(certificate, minimality, entailment_only, deployment)


class _Audit(Steps):
    """One certificate in a kernel with rules. `size` is that of its bytes and the head's."""

    def __init__(
        self,
        certificate: Certificate,
        quadratic: QuadraticRule,
        latents: Latents | None,
        limit: int,
        size: int,
        hurry: bool = True,
    ) -> None:
        super().__init__(certificate, quadratic.space.head, latents)
        self._quadratic = quadratic
        self._space = quadratic.space
        self._limit = limit
        self._size = size
        self._hurry = hurry

    def run(self, minimality: bool, deployment: Deployment | None = None) -> None:
        self.ask(deployment)
        certificate, head = self._certificate, self._space.head
        image = self._subject()  # 3.
        certificate.check_against(head)  # 4. Statements
        asked = minimality and "minimality" in certificate.claims
        size = self._size if image is None else self._size + 8 * len(image.values)
        limit, counted = allowed(self._limit, size), cost(certificate, self._space, asked)
        require_within(limit, counted)
        self._space.work.allow(limit, counted.steps)
        evaluation = None if image is None else self._instance(image)  # 5.
        try:
            self._entailment(asked, deployment, image)
        except UnprovedError as error:
            # Step 6 comes before step 7. What is refuted cannot be entailed, so it is tried only where the proof fails.
            if evaluation is not None and error.reason == "entailment":
                require_not_refuted(head, certificate.predicted, evaluation)
            raise

    def refute(self, image: Image) -> None:
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

    def _entailment(self, minimality: bool, deployment: Deployment | None, image: Image | None) -> None:
        """Steps 7, 8 and 9."""
        certificate, head = self._certificate, self._space.head
        box = self._entailed(self._hurry and deployment is None)  # 7. Entailment
        require(self.margins, certificate.margins)
        self.proved.add("entailment")
        if minimality:  # 8. Minimality
            together = self._together()
            boxes = self._rule(self._quadratic).boxes_without(certificate.statements, certificate.patches)
            provable = None if together is None else together.provable
            require_minimal(
                head, certificate.predicted, certificate.statements, boxes, self.margins, self._space.work, provable
            )
            self.proved.add("minimality")
        if deployment is not None:  # 9. Deployment
            self.deployed = deployed_margins(self._space, certificate, box, self.margins, deployment)
            require_deployed(self.deployed)
            if image is not None and not are_binary32(image.exact):
                raise unproved("the latents are no binary32 numbers, so perhaps none that are satisfy the statements")
            self.proved.add("deployment")

    def _entailed(self, hurry: bool) -> Box:
        """The activations, given the statements, and the margins, which are enough.

        Args:
            hurry: whether to be content with wider ranges if they prove the margins.
        """
        hurried = self._quadratic.hurried()
        if hurry:
            box = self._bounded(hurried)
            if not hurried.has_hurried or are_enough(self.margins, self._certificate.margins):
                return box
        return self._bounded(self._quadratic)

    def _bounded(self, quadratic: QuadraticRule) -> Box:
        """The activations, given the statements; the margins that follow are kept."""
        box = self._rule(quadratic).box(self._certificate.statements, self._certificate.patches)
        self.margins = proved_margins(self._space.head, box, self._certificate.predicted)
        together = self._together()
        if together is not None:
            self.margins = together.margins(box, self.margins)
        return box

    def _instance(self, image: Image) -> Evaluation:
        """Step 5. The latents that the certificate names satisfy every statement."""
        evaluation = self._satisfied(image)
        self.proved.add("instance")
        return evaluation

    def _satisfied(self, image: Image) -> Evaluation:
        """The evaluation of latents. Raises UnprovedError unless they lie in the domain and satisfy every statement."""
        require_domain(self._space.head, image.exact, self._certificate.patches)
        evaluation = Evaluation(self._space, image.exact)
        require_true(self._certificate, evaluation)
        return evaluation

    def _together(self) -> Assignment | Joint | None:
        """What bounds a margin otherwise than term by term."""
        match self._certificate.paradigm:
            case "assignment":
                return Assignment(self._space, self._certificate)
            case "joint":
                return Joint(self._quadratic, self._certificate)
            case _:
                return None

    def _rule(self, quadratic: QuadraticRule) -> TopK | SpatialRule | Mixed:
        match self._certificate.paradigm:
            case "top_k" | "sparse":
                return TopK(self._space)
            case "mixed":
                return Mixed(quadratic)
            case "projection" | "triangle" | "hypersphere" | "joint":
                return SpatialRule(self._space, quadratic)
            case _:
                return SpatialRule(self._space, Simplex(self._space))


def _verdict(audit: Steps, steps: Callable[[Steps], None], failed: Status) -> Verdict:
    """The verdict of an audit after some steps."""
    status, reason, message, false = Status.PROVED, "", "every claim that was checked is proved", False
    try:
        steps(audit)
    except FormatError as error:
        status, reason, message = Status.MALFORMED, "malformed", str(error)
    except RefutedError as error:
        status, reason, message = Status.REFUTED, "refuted", str(error)
    except UnprovedError as error:
        status, reason, message, false = failed, error.reason, str(error), error.false
    return replace(audit.verdict(status, reason, message), false=false)


def _with_proved(common: Verdict, proved: Verdict) -> Verdict:
    """What is proved by the kernels with rules, whose common verdict is given, and by the kernel `proved` too.

    One may prove more than the other, as certificates/v1.md allows. The verdict is then that of the one which proves
    less, and says what the other proves. They disagree where one proves what is certainly false by the other.
    """
    rules = " and ".join(KERNELS)
    if {common.status, proved.status} == _DECIDED or (common.false and _proves_instance(proved)):
        return _disagreement(common, f"{rules}: {_said(common)}; {PROVED}: {_said(proved)}")
    if common.status is proved.status is Status.PROVED:
        return _common([common, proved])
    if _extent(common) <= _extent(proved):
        less, more, who = common, proved, PROVED
    else:
        less, more, who = proved, common, rules
    if less.status in _DECIDED or more.status not in _DECIDED:
        return less
    return replace(less, message=f"{less.message} ({who}: {more.status.value})")


def _proves_instance(verdict: Verdict) -> bool:
    """Whether the latents are proved to lie in the domain and to satisfy every statement."""
    return verdict.status is Status.REFUTED or verdict.claims.get("instance") == "proved"


def _extent(verdict: Verdict) -> tuple[bool, int]:
    """How far a verdict goes. Claims are proved in one order, so of two verdicts one proves all that the other does."""
    return verdict.status in _DECIDED, list(verdict.claims.values()).count("proved")


def _common(verdicts: list[Verdict]) -> Verdict:
    """What both kernels prove."""
    first, second = verdicts
    if (first.status, first.reason) != (second.status, second.reason):
        return _disagreement(first, "; ".join(f"{name}: {_said(v)}" for name, v in zip(KERNELS, verdicts, strict=True)))
    margins, deployed = (
        tuple(None if one is None or other is None else min(one, other) for one, other in zip(*each, strict=True))
        for each in ((first.margins, second.margins), (first.deployed, second.deployed))
    )
    return replace(first, margins=margins, deployed=deployed, false=first.false or second.false)


def _disagreement(verdict: Verdict, said: str) -> Verdict:
    """The verdict in place of one that another kernel does not share."""
    return Verdict(
        Status.NOT_PROVED,
        "kernels",
        f"the kernels disagree, expected one verdict ({said}); report it",
        {claim: "not checked" if state == "proved" else state for claim, state in verdict.claims.items()},
        verdict.predicted,
        verdict.paradigm,
        verdict.statements,
    )


def _said(verdict: Verdict) -> str:
    return f"{verdict.status.value} {verdict.message}"
