"""The auditor: the verdict on a certificate, of one kernel or of several; certificates/v1.md, "Verification", and
"Refutation by a witness"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from .certificate import read_certificate
from .deployment import Deployment
from .errors import FormatError, RefutedError, UnprovedError
from .head import Head
from .head_file import read_head
from .kernel import CHOICES, KERNELS, PROVED, Kernel, load_kernel
from .latents import Latents
from .limit import LIMIT
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
        self._audits = [_load_plain(self._head, each, hurry) for each in kernels]
        self.executable: Program | None = None
        if PROVED in names:
            self.executable, proved = _load_proved(self._head, self._size)
            self._audits.append(proved)
        self._has_proved, self._limit = PROVED in names, limit

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
        given = document, self._head, self._latents, self._limit, self._size + len(certificate)
        verdicts = [_verdict(audit(*given), steps, failed) for audit in self._audits]
        if len(verdicts) == 1:
            return verdicts[0]
        if not self._has_proved:
            return _common(verdicts)
        *others, proved = verdicts
        return _with_proved(_common(others), proved)


def _load_plain(head: Head, kernel: Kernel, hurry: bool) -> Callable[..., Steps]:
    """What makes the audits with a kernel that the rules compute with. An audit by the proved checker needs no rule."""
    from .plain import PlainAudit
    from .rules.quadratic import QuadraticRule
    from .rules.space import Space

    return partial(PlainAudit, quadratic=QuadraticRule(Space(head, kernel)), hurry=hurry)


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
