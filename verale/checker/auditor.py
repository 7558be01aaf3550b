"""The auditor: the verdict on a certificate, of one kernel or of several; certificates/v1.md, "Verification", and
"Refutation by a witness"."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache, partial
from itertools import permutations
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from .certificate import Certificate, read_certificate
from .errors import FormatError, KernelError, RefutedError, UnprovedError
from .options import CHOICES, EITHER, KERNELS, PROVED, VARIABLE, AuditOptions, load_arithmetic, packages_of
from .read.latents import Latents
from .subject import Side, Subject, Subjects
from .verdict import Status, Verdict

if TYPE_CHECKING:
    from .deployment import Deployment
    from .numbers import Numbers, StatementAt
    from .proved.program import Program
    from .read.pictures import PictureFile

_T = TypeVar("_T")
_DECIDED = {Status.PROVED, Status.REFUTED}
"""The verdicts that say what is true."""
_PROVED = "every claim that was checked is proved"
_UNCLAIMED = (
    f"{_PROVED}, but the certificate names no latents: perhaps none satisfy the statements;"
    " name them, or ask for entailment only"
)


class Exclusive:
    """Lets one thread in, to a program that is asked, or to a precision that is global. Each process has a lock of its
    own: a child of a fork has it free, whatever thread of its parent was in."""

    def __init__(self) -> None:
        self._locks: dict[int, AbstractContextManager[object]] = {}

    def alone(self) -> AbstractContextManager[object]:
        """Waits, where it is entered, until no other thread is in."""
        return self._locks.setdefault(os.getpid(), RLock())


_RULES = Exclusive()
"""The precision with which arb computes is one for the whole process."""


class Auditor:
    """Checks certificates of one head. Threads that share it wait for one another, and a copy is a new one.

    Args:
        head: the bytes of the head file.
        latents: the bytes of a latents file; without it no instance claim is checked.
        options: who proves, what, and how long it may take; or the name of a kernel alone. With `proved-or-arb`, the
            default, one of these two proves each claim: `proved` is asked, and `arb` for what that does not cover or
            prove, or for everything where there is neither executable nor script.
        network: the bytes of a network file; without it no picture claim is checked.
        pictures: the bytes of a file of pictures, or files (`read.pictures.PictureFile`), where `network` is there.
        fields: other values of some options, by their names (`verale.checker.options.AuditOptions`).

    Attributes:
        options: the options; `check` may take other claims.
        kernel: who proves.
        head: whose certificates these are.
        network: what gives the pictures' latents; None where it is not there.
        pictures: what finds the pictures by their digests; None where they are not there.
        packages: what the kernels compute with.
        executable: the program that the kernel `proved` asks; None where none is asked.

    Raises:
        HeadError, LatentsError, NetworkError, PictureError: a file that cannot be used (step 1).
        KernelError, OptionError: a kernel that is unknown or not installed, or another option that cannot be used.
    """

    def __init__(
        self,
        head: bytes,
        latents: bytes | None = None,
        options: AuditOptions | str | None = None,
        network: bytes | None = None,
        pictures: bytes | Sequence[PictureFile] | None = None,
        **fields: Any,
    ) -> None:
        self.options = AuditOptions.of(options, fields)
        self.kernel = self.options.kernel
        names = CHOICES[self.kernel]
        packages = [package for name in names if name != PROVED for package in packages_of(name)]
        self._subjects = Subjects(head, latents, self.options.limit, network, pictures)
        self.head, self.network = self._subjects.head, self._subjects.network
        self.pictures = self._subjects.pictures
        self.executable: Program | None = None
        if PROVED in names:
            from .proved.program import find_program  # it takes a sixth of all the time to load

            try:
                self.executable = find_program()
            except KernelError:  # by default the rules prove instead, but not of a program that is named
                if self.kernel != EITHER or os.environ.get(VARIABLE):
                    raise
        self.packages = (*packages, *(() if self.executable is None else self.executable.packages))
        self._sides: dict[str, Callable[[Subject], Side]] = {}
        self._exclusive = Exclusive()
        self._files = (head, latents, self.options, network, pictures)

    def __reduce__(self) -> tuple[type[Auditor], tuple[Any, ...]]:
        """Another process makes its own, of the same bytes."""
        return Auditor, self._files

    def _side(self, name: str) -> Callable[[Subject], Side]:
        """What makes sides in a kernel, prepared when that is first asked: the default mostly does without rules."""
        if name in self._sides:
            return self._sides[name]
        if name == PROVED and self.executable is not None:
            from .proved.claims import ProvedAudit, ProvedClaims

            size = self._subjects.size + (0 if self.network is None else self.network.size)
            claims = ProvedClaims(self.head, size, self.executable, self.network, self.options.limit)
            self._sides[name] = partial(ProvedAudit, claims=claims)
        else:
            from .network.enclosure import Enclosure
            from .reading.audit import PlainAudit
            from .reading.space import Space

            kernel = load_arithmetic(name)
            enclosure = None if self.network is None else cache(partial(Enclosure, self.network, kernel))
            self._sides[name] = partial(PlainAudit, space=Space(self.head, kernel), enclosure=enclosure)
        return self._sides[name]

    def check(self, certificate: bytes, **claims: Any) -> Verdict:
        """The verdict on a certificate's bytes.

        Args:
            certificate: the bytes of the certificate.
            claims: where this certificate is asked for others than the auditor's options say: `minimality`,
                `entailment_only` and `deployment`. Unless entailment is enough, certificates that claim nothing of an
                image have the reason `unclaimed` where they are PROVED: perhaps no latents satisfy their statements.

        Raises:
            PictureError: the picture is not among those that can be read, and some file cannot be used (step 3).
            OptionError: a kernel or a limit, which are the auditor's own.
        """
        asked = self.options.asking(claims)
        subject_of = partial(self._subjects.of, size=len(certificate), options=asked)
        verdict = self._judge(certificate, Status.NOT_PROVED, subject_of, lambda side: side.prove(), asked.deployment)
        if verdict.status is not Status.PROVED or "not claimed" not in verdict.claims.values() or asked.entailment_only:
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
        image = Latents(witness, self.head.depth).only()
        subject_of = partial(self._subjects.of_head, size=len(certificate), image=image)
        return self._judge(certificate, Status.NOT_REFUTED, subject_of, lambda side: side.refute(image))

    def pictured(self, certificate: Certificate, size: int) -> Verdict:
        """The verdict on the claim `picture` alone, of a certificate that was read, or made, from so many bytes:
        nothing is proved of its class (`origins`).

        Raises:
            PictureError: the picture is not among those that can be read, and some file cannot be used.

        Soundness: PROVED means that the latents which the network gives for the picture, in real arithmetic, lie in the
            head's domain and satisfy every statement.
        """
        alone = replace(self.options, minimality=False, deployment=None)
        subject_of = partial(self._subjects.of, size=size, options=alone)
        asked = frozenset({"picture"})
        return self._judge(certificate, Status.NOT_PROVED, subject_of, lambda side: side.prove_picture(), asked=asked)

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
        from .numbers import shared

        document = read_certificate(certificate)
        with self._exclusive.alone():
            subject = self._subjects.of_head(document, len(certificate))
            return shared(*self._answers(subject, lambda _, side: side.numbers(), lambda _: True).values())

    def at_image(self, certificate: bytes, latents: str) -> tuple[StatementAt, ...]:
        """Each statement of a certificate at an image: whether it is true of it, as in step 5.

        The certificate may be about another head of as many prototypes: its statements are taken as sentences about
        those of this one, by their numbers. By `EITHER` the proved checker is asked whether all are true; where it does
        not prove that, the reading decides each. By several, what not all of them say is not decided.

        Args:
            certificate: the bytes of the certificate.
            latents: the digest of an image in the latents file.

        Raises:
            FormatError: the certificate is malformed, or has statements that do not fit the head.
            UnprovedError: `subject`: no image has this digest; `instance`: the image has another number of patches, or
                lies outside the head's domain; `limit` or `uncovered`: nothing is decided.
        """
        document = read_certificate(certificate)
        with self._exclusive.alone():
            subject, image = self._subjects.at(document, len(certificate), latents)
            answers = self._answers(
                subject,
                lambda _, side: side.at_image(image),
                lambda statements: all(each.true is not None for each in statements),
            ).values()
        if self.kernel == EITHER:
            return tuple(answers)[-1]
        from .numbers import agreed

        return tuple(agreed(*same) for same in zip(*answers, strict=True))

    def _judge(
        self,
        given: bytes | Certificate,
        failed: Status,
        subject_of: Callable[[Certificate], Subject],
        steps: Callable[[Side], None],
        deployment: Deployment | None = None,
        asked: frozenset[str] | None = None,
    ) -> Verdict:
        """The verdict after the steps from 2 on, those from 5 on in every kernel that is asked; `asked` are the claims
        to be proved, where these are not those of the subject."""
        try:
            certificate = given if isinstance(given, Certificate) else read_certificate(given)  # 2. The certificate
        except FormatError as error:
            return Verdict(Status.MALFORMED, "malformed", str(error))
        unproved = Verdict(failed, "", "", certificate, deployment)

        def ask(name: str, side: Side) -> Verdict:
            try:
                steps(side)
                verdict = replace(unproved, status=Status.PROVED, message=_PROVED)
            except (FormatError, RefutedError, UnprovedError) as error:
                verdict = _failed(unproved, error)
            proof = side.proof
            by = dict.fromkeys(sorted(proof.claims), name)
            return replace(verdict, by=by, margins=proof.margins, deployed=proof.deployed, box=proof.box)

        with self._exclusive.alone():
            try:
                subject = subject_of(certificate)  # 3. Subject, and 4. Statements
            except (FormatError, UnprovedError) as error:
                return _failed(unproved, error)
            answers = self._answers(
                subject, ask, lambda verdict: verdict.status in _DECIDED or verdict.false or verdict.spent
            )
            verdict = together(answers, self.kernel, subject.asked if asked is None else asked)
        return replace(verdict, program=self.executable)

    def _answers(
        self, subject: Subject, ask: Callable[[str, Side], _T], is_final: Callable[[_T], bool]
    ) -> dict[str, _T]:
        """What the kernels of the choice answer about a subject, by their names, in their order.

        With `EITHER` the next one is asked where there is no final answer, but not where the first takes too long: who
        proves what is the same on slow processors and fast ones.
        """
        names = [name for name in CHOICES[self.kernel] if name != PROVED or self.executable is not None]
        answers: dict[str, _T] = {}
        for name in names:
            with nullcontext() if name == PROVED else _RULES.alone():
                try:
                    answers[name] = ask(name, self._side(name)(subject))
                except UnprovedError as error:
                    if self.kernel != EITHER or name == names[-1] or error.spent:
                        raise
                    continue
            if self.kernel == EITHER and is_final(answers[name]):
                break
        return answers


def check(
    certificate: bytes,
    head: bytes,
    latents: bytes | None = None,
    options: AuditOptions | str | None = None,
    network: bytes | None = None,
    pictures: bytes | Sequence[PictureFile] | None = None,
    **fields: Any,
) -> Verdict:
    """The verdict on one certificate; arguments as of `Auditor`."""
    return Auditor(head, latents, options, network, pictures, **fields).check(certificate)


def _failed(unproved: Verdict, error: FormatError | RefutedError | UnprovedError) -> Verdict:
    match error:
        case FormatError():
            return replace(unproved, status=Status.MALFORMED, reason="malformed", message=str(error))
        case RefutedError():
            return replace(unproved, status=Status.REFUTED, reason="refuted", message=str(error))
    return replace(unproved, reason=error.reason, message=str(error), false=error.false, spent=error.spent)


def together(verdicts: Mapping[str, Verdict], choice: str, asked: frozenset[str]) -> Verdict:
    """One verdict of the kernels that were asked.

    With `EITHER` a claim is proved that one of them proves. Otherwise one is proved that each of them proves: one may
    prove more than another, as certificates/v1.md allows. The reason is that of the one which proves less, or with
    `EITHER` that of one which may be helped: no other proves what it does not, and a greater limit helps more than one
    that covers nothing.

    Args:
        verdicts: the verdicts by kernel, in the order in which they were asked.
        choice: of the kernels.
        asked: the claims that are to be proved.

    Soundness: where kernels contradict each other, nothing is proved.
    """
    first, *others = verdicts.values()
    if not others:
        return first
    if any(_contradict(*one, *two) for one, two in permutations(verdicts.items(), 2)):
        said = "; ".join(f"{name}: {verdict.status.value} {verdict.message}" for name, verdict in verdicts.items())
        message = f"the kernels disagree, expected one verdict ({said}); report it"
        return Verdict(Status.NOT_PROVED, "kernels", message, first.certificate, first.deployment)
    if choice == EITHER:
        by = {claim: name for verdict in (*others, first) for claim, name in verdict.by.items()}
        chosen = max((*others, first), key=lambda verdict: _may_be_helped(verdict.reason, by))
        margins, deployed = (first.margins or others[0].margins, first.deployed or others[0].deployed)
        if asked <= by.keys():
            chosen = replace(chosen, status=Status.PROVED, reason="", message=_PROVED)
    else:
        from .numbers import least_of

        by = {claim: choice for claim in first.by if all(claim in verdict.by for verdict in others)}
        # The one that proves least. Of two that prove as much, one that gives up has nothing to tell.
        chosen = min(verdicts.values(), key=lambda v: (v.status in _DECIDED, len(v.by), v.reason == "limit"))
        margins, deployed = (least_of(getattr(v, name) for v in verdicts.values()) for name in ("margins", "deployed"))
    rest = [
        f"{name}: {verdict.status.value if verdict.status in _DECIDED else verdict.reason}"
        for name, verdict in verdicts.items()
        if verdict.reason != chosen.reason and chosen.status not in _DECIDED
    ]
    message = f"{chosen.message} ({', '.join(rest)})" if rest else chosen.message
    box = next((verdict.box for verdict in verdicts.values() if verdict.box is not None), None)
    return replace(chosen, message=message, by=by, margins=margins, deployed=deployed, box=box)


def _contradict(name: str, one: Verdict, other: str, two: Verdict) -> bool:
    """Whether the first proves what is certainly false by the second: the class, or that statements hold of the
    latents; or two with the same rules differ, though none gives up."""
    if two.status is Status.REFUTED and "entailment" in one.by:
        return True
    if two.false and two.reason == "instance" and (one.status is Status.REFUTED or "instance" in one.by):
        return True
    differ = (one.status, one.reason) != (two.status, two.reason)
    return differ and {name, other} <= {*KERNELS} and "limit" not in (one.reason, two.reason)


def _may_be_helped(reason: str, by: Mapping[str, str]) -> tuple[bool, bool, bool]:
    """The greater, the more the reason of a verdict is worth to be told, where these claims are proved."""
    claim = "entailment" if reason == "margin" else reason
    return claim not in by, reason != "uncovered", reason != "limit"
