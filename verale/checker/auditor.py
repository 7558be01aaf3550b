"""The auditor: the verdict on a certificate, of one kernel or of several; certificates/v1.md, "Verification", and
"Refutation by a witness"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, cast

from .certificate import Certificate, read_certificate
from .choices import CHOICES, EITHER, PROVED, load_arithmetic
from .deployment import Deployment
from .errors import FormatError, NetworkError, PictureError, RefutedError, UnprovedError
from .exclusive import Exclusive
from .head import Head, read_head
from .limit import LIMIT
from .numbers import Numbers, shared
from .read.latents import Latents
from .read.network_file import Network, read_network
from .read.pictures import PictureFile, Pictures
from .steps import Given, Steps
from .together import DECIDED, completed, in_common, with_proved
from .verdict import Status, Verdict

if TYPE_CHECKING:
    from .proved import Program

__all__ = ["Auditor", "check"]


_UNCLAIMED = (
    "every claim that was checked is proved, but the certificate names no latents: perhaps none satisfy the statements;"
    " name them, or ask for entailment only"
)


class Auditor:
    """Checks certificates of one head. Threads that share it wait for one another, and a copy is a new one.

    Args:
        head: the bytes of the head file.
        latents: the bytes of a latents file; without it no instance claim is checked.
        kernel: `arb`, `mpmath` or `proved`; `both`, the first two, or `all`, which prove only what each proves; or
            `proved-or-arb`, the default, with which one of these two proves each claim: `proved` is asked, and `arb`
            for what that does not cover or prove, or for everything where there is neither executable nor script.
        limit: the most seconds of processor time that a proof may take, by whoever is asked, for each megabyte of head,
            network, certificate and image.
        network: the bytes of a network file; without it no picture claim is checked.
        pictures: the bytes of a file of pictures, or files; they are there where `network` is.

    Attributes:
        kernel: the choice.
        packages: what the kernels compute with.
        executable: the program that the kernel `proved` asks; None where none is asked.

    Raises:
        HeadError, LatentsError, NetworkError, PictureError: a file that cannot be used (step 1).
        KernelError: a kernel that is unknown or not installed.
    """

    def __init__(
        self,
        head: bytes,
        latents: bytes | None = None,
        kernel: str | None = None,
        limit: float = LIMIT,
        network: bytes | None = None,
        pictures: bytes | Sequence[PictureFile] | None = None,
    ) -> None:
        self.kernel = EITHER if kernel is None else kernel
        names = CHOICES.get(self.kernel, (self.kernel,))
        kernels = [load_arithmetic(name) for name in names if name != PROVED]
        self._head, self._size = read_head(head), len(head)
        self._latents = None if latents is None else Latents(latents, self._head.depth)
        self._network, self._pictures = _seen(network, pictures, self._head.depth, limit)
        self._kernels = kernels
        self.executable, self._proved = None, None
        if PROVED in names:
            self.executable, self._proved = _load_proved(self._head, self._size, self._network, limit, self.kernel)
        computing = kernels if self.executable is None else [*kernels, self.executable]
        self.packages = tuple(package for each in computing for package in each.packages)
        self._limit = limit
        self._exclusive = Exclusive()
        self._files = (head, latents, self.kernel, limit, network, pictures)

    def __reduce__(self) -> tuple[type[Auditor], tuple[Any, ...]]:
        """Another process makes its own, of the same bytes."""
        return Auditor, self._files

    @cached_property
    def _plain(self) -> dict[str, Callable[[Given], Steps]]:
        """For each kernel that the rules compute with what makes its audits; `EITHER` mostly does without."""
        from .network.enclosure import Enclosure
        from .reading.audit import PlainAudit
        from .reading.quadratic import QuadraticRule
        from .reading.space import Space

        network = self._network
        return {
            each.name: partial(
                PlainAudit,
                quadratic=QuadraticRule(Space(self._head, each)),
                enclosure=None if network is None else cache(partial(Enclosure, network, each)),
            )
            for each in self._kernels
        }

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

        Raises:
            PictureError: the picture is not among those that can be read, and some file cannot be used (step 3).
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

    def numbers(self, certificate: bytes) -> Numbers:
        """What a certificate's statements prove of each activation and of each rival, whatever margins it states.

        By `EITHER` they are those of one kernel, the same that is asked first for a verdict wherever it gives them; by
        several, what each of them proves.

        Args:
            certificate: the bytes of the certificate. Latents that it names are ignored.

        Raises:
            FormatError: the certificate is malformed, or does not fit the head.
            UnprovedError: `subject`: it is about another head; `limit` or `uncovered`: no kernel gives numbers.
        """
        given = self._given(read_certificate(certificate), len(certificate))

        def by_rules() -> Numbers:
            with _RULES.alone():
                return shared(*(make(given).numbers() for make in self._plain.values()))

        def by_proof() -> Numbers:
            return cast(Callable[[Given], Steps], self._proved)(given).numbers()

        with self._exclusive.alone():
            if self._proved is None:
                return by_rules()
            if not self._kernels:
                return by_proof()
            if self.kernel != EITHER:
                return shared(by_rules(), by_proof())
            try:
                return by_proof()
            except UnprovedError as error:
                if error.reason not in ("limit", "uncovered") or error.spent:
                    raise
            return by_rules()

    def _given(self, document: Certificate, size: int) -> Given:
        """A certificate of so many bytes, and what it is audited with."""
        seen = (self._network, self._pictures)
        return Given(document, self._head, self._latents, self._limit, self._size + size, *seen)

    def _judge(self, certificate: bytes, steps: Callable[[Steps], None], failed: Status) -> Verdict:
        """The verdict after the steps from 2 on, in every kernel."""
        try:
            document = read_certificate(certificate)  # 2. The certificate
        except FormatError as error:
            return Verdict(Status.MALFORMED, "malformed", str(error))
        given = self._given(document, len(certificate))

        def by_rules() -> list[Verdict]:
            with _RULES.alone():
                audits = {name: make(given) for name, make in self._plain.items()}
                return [_verdict(audit, steps, failed, name) for name, audit in audits.items()]

        def by_proof() -> Verdict:
            return _verdict(cast(Callable[[Given], Steps], self._proved)(given), steps, failed, PROVED)

        with self._exclusive.alone():
            verdict = self._asked(by_rules, by_proof)
        program = self.executable
        return verdict if program is None else replace(verdict, variable=program.variable, language=program.language)

    def _asked(self, by_rules: Callable[[], list[Verdict]], by_proof: Callable[[], Verdict]) -> Verdict:
        """The verdict of the choice. With `EITHER` the rules are asked for what the proved checker does not prove, but
        not where that takes too long: who proves what is the same on slow processors and fast ones."""
        if self._proved is None:
            return in_common(by_rules(), self.kernel)
        if not self._kernels:
            return by_proof()
        if self.kernel != EITHER:
            return with_proved(in_common(by_rules(), "both"), by_proof(), self.kernel)
        proved = by_proof()
        return proved if _is_final(proved) else completed(proved, *by_rules())


_RULES = Exclusive()
"""The precision with which arb computes is one for the whole process."""


def _is_final(verdict: Verdict) -> bool:
    """Whether no other kernel is asked."""
    return verdict.status in DECIDED or verdict.reason in ("malformed", "subject") or verdict.false or verdict.spent


def _seen(
    network: bytes | None, pictures: bytes | Sequence[PictureFile] | None, depth: int, limit: float
) -> tuple[Network | None, Pictures | None]:
    """The network and the pictures, of which neither is there without the other.

    Raises:
        NetworkError, PictureError: one of them cannot be used, does not fit the head, or lacks the other.
    """
    if network is None or pictures is None:
        if pictures is not None:
            raise NetworkError("pictures are given without a network; give its file too")
        if network is not None:
            raise PictureError("a network is given without pictures; give a file of pictures too")
        return None, None
    found = read_network(network)
    if found.depth != depth:
        raise NetworkError(
            f"network file: its latents have {found.depth} channels, expected {depth}, as many as the head's prototypes"
        )
    if isinstance(pictures, bytes):
        pictures = [PictureFile("", partial(bytes, pictures))]
    return found, Pictures(pictures, found.shape, limit)


def _load_proved(
    head: Head, size: int, network: Network | None, limit: float, kernel: str
) -> tuple[Program | None, Callable[[Given], Steps] | None]:
    """The proved checker, and what makes its audits; None where there is none, and the rules may do without.

    Its modules take a sixth of all the checker's time to load.
    """
    from .proved import ProvedAudit, ProvedClaims, find_program, find_program_if_any

    program = find_program_if_any() if kernel == EITHER else find_program()
    if program is None:
        return None, None
    size += 0 if network is None else network.size
    return program, partial(ProvedAudit, claims=ProvedClaims(head, size, program, network, limit))


def check(
    certificate: bytes,
    head: bytes,
    latents: bytes | None = None,
    kernel: str | None = None,
    minimality: bool = False,
    entailment_only: bool = False,
    deployment: Deployment | None = None,
    network: bytes | None = None,
    pictures: bytes | Sequence[PictureFile] | None = None,
) -> Verdict:
    """The verdict on one certificate; see `Auditor`."""
    auditor = Auditor(head, latents, kernel, LIMIT, network, pictures)
    return auditor.check(certificate, minimality, entailment_only, deployment)


def _verdict(audit: Steps, steps: Callable[[Steps], None], failed: Status, kernel: str) -> Verdict:
    """The verdict of a kernel's audit after some steps."""
    status, reason, message, false, spent = Status.PROVED, "", "every claim that was checked is proved", False, False
    try:
        steps(audit)
    except FormatError as error:
        status, reason, message = Status.MALFORMED, "malformed", str(error)
    except RefutedError as error:
        status, reason, message = Status.REFUTED, "refuted", str(error)
    except UnprovedError as error:
        status, reason, message, false, spent = failed, error.reason, str(error), error.false, error.spent
    by = dict.fromkeys(sorted(audit.proved), kernel)
    return replace(audit.verdict(status, reason, message), false=false, spent=spent, by=by)
