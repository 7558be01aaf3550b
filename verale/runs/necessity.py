"""Is an explanation small? Necessity: for each of its statements, latents that satisfy all the others and get another
class. The gap: how many statements every explanation of its image by activations needs."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.certificate import Certificate
from verale.certificate.statements import statement_in_words
from verale.checker import AuditOptions, Status
from verale.checker.errors import UnprovedError
from verale.checker.least import proved_least
from verale.checker.options import CHOICES, EITHER, KERNELS, PROVED
from verale.errors import InputError, UsageError, VeraleError, option
from verale.files import CERTIFICATE_SUFFIX, LARGEST_LATENTS, read, require_writable, write_atomically
from verale.options import keywords
from verale.runs.arguments import HeadFile, require_search
from verale.runs.folder import require_output, write_beside
from verale.runs.options import PROVING, audit_options
from verale.runs.refute import opened
from verale.runs.written import WrittenFiles

if TYPE_CHECKING:
    from verale.head import Head

_log = logging.getLogger(__name__)

SECONDS = 5.0
"""For each statement."""

_TYPE = "urn:verale:necessity:v1"
_RECORD, _BY = "necessity.json", "necessity"


@dataclass(frozen=True)
class Needed:
    """One statement of an explanation.

    Attributes:
        needed: True: a witness satisfies all other statements and gets another class. False: the checker proves the
            class without the statement. None: neither.
        rival: the class that the witness gets, by floats.
        witness: the file that holds it, where one was asked for.
    """

    number: int
    needed: bool | None
    rival: int | None = None
    witness: str | None = None


@dataclass(frozen=True)
class Necessity:
    """What is known of all statements of one explanation."""

    certificate: Certificate
    statements: tuple[Needed, ...]
    prototypes: int

    @property
    def witnessed(self) -> int:
        """How many statements have a witness."""
        return sum(each.needed is True for each in self.statements)

    @property
    def is_minimal(self) -> bool:
        """Whether every statement has a witness. Then no explanation with fewer of these statements entails the class,
        whatever the paradigm."""
        return self.witnessed == len(self.statements)

    def record(self) -> dict[str, Any]:
        """Plain data for JSON."""
        size = len(self.statements)
        return {
            "_type": _TYPE,
            "predicted": self.certificate.predicted,
            "paradigm": self.certificate.paradigm,
            "statements": size,
            "witnessed": self.witnessed,
            "share": None if not size else self.witnessed / size,
            "minimal_under_any_paradigm": self.is_minimal,
            "needed": [
                {
                    "number": each.number,
                    "statement": self.certificate.statements[each.number].to_json(),
                    "needed": each.needed,
                    "rival": each.rival,
                    "witness": each.witness,
                }
                for each in self.statements
            ],
        }


@keywords(AuditOptions, *PROVING)
def necessity(
    certificate: str | Path | Certificate,
    head: str | Path | Head | HeadFile,
    latents: object = None,
    out: str | Path | None = None,
    seconds: float = SECONDS,
    options: AuditOptions | str | None = None,
    **fields: Any,
) -> Necessity:
    """For each statement of a proved certificate, search for latents that satisfy all others and get another class.

    Args:
        certificate: the certificate, or the path of its file.
        head: the head that it is about, or the path of its file.
        latents: latents with those of its image, or the path of their file, to start from.
        out: a folder for the witnesses, a file a statement, and for `necessity.json`; or None. Those of an earlier call
            are replaced, other files are not.
        seconds: how long to search for each statement; a step that began may take a second more.
        options: what proves, and how long it may take.
        fields: other values of some options, by their names (`verale.checker.options.AuditOptions`).

    Raises:
        InputError: a file that cannot be read or written, latents that do not fit, a certificate that is not proved.
        LatentsError: latents, not in a file, whose shape or values do not fit the head.
        UsageError: seconds below 0, an image too large to search, or something else than a certificate or a head.

    Soundness: of every witness the checker says that it refutes the certificate without the statement: it lies in the
        domain, satisfies all other statements, and a rival's logit is at least the predicted class's. So no sound
        paradigm proves the class without the statement. That no witness was found proves nothing.
    """
    from verale.head import evaluate

    require_search(seconds, out)
    proving = audit_options(options, fields, PROVING)
    released = opened(certificate, head, latents, proving)
    stems = [f"without-{number:04d}" for number in range(released.certificate.size)]
    # What shows that a statement is needed: the certificate without it, and the latents that refute this.
    names = [(f"{stem}{CERTIFICATE_SUFFIX}", f"{stem}.latents.safetensors") for stem in stems]
    if out is not None:
        WrittenFiles(Path(out)).require_own((*chain.from_iterable(names), _RECORD), _BY)
        require_writable(Path(out) / _RECORD)
    known = []
    for number, statement in enumerate(released.certificate.statements):
        rest, needed = released.without({number}), Needed(number, None)
        # The classes that the checker does not prove to lose, those first whose proof is cut short or lacks most.
        margins = [(margin, c) for c, margin in enumerate(released.margins(rest)) if c != rest.predicted]
        still = [(margin, c) for margin, c in margins if margin is None or margin <= 0]
        rivals = [c for _, c in sorted(still, key=lambda each: (each[0] is not None, each[0] or 0, each[1]))]
        if not rivals:  # by whatever margins
            verdict = released.auditor.check(rest.to_bytes(), entailment_only=True)
            proved = verdict.status is Status.PROVED or verdict.reason == "margin"
            needed = Needed(number, False if proved else None)
        elif (witness := next(released.witnesses(rest, seconds, rivals), None)) is not None:
            logits = evaluate(released.head, witness.image[None]).logits[0]
            logits[released.certificate.predicted] = -float("inf")
            needed = Needed(number, True, int(logits.argmax()), None if out is None else names[number][1])
            if out is not None:
                files = dict(zip(names[number], (witness.rest.to_bytes(), witness.latents), strict=True))
                write_beside(Path(out), files, _BY)
        said = " ".join(statement_in_words(statement, released.head.size))
        _log.info("statement %d (%s): %s", number, said, needed.needed)
        known.append(needed)
    result = Necessity(released.certificate, tuple(known), released.head.size)
    if out is not None:
        write_beside(Path(out), {_RECORD: f"{json.dumps(result.record(), indent=1)}\n".encode()}, _BY)
    return result


PARADIGM = "top_k"
"""The paradigm of the explanations that the bound is about."""


@dataclass(frozen=True)
class Gap:
    """The size of an explanation, and what the checker proves of all explanations of its image under `top_k`.

    Attributes:
        least: no explanation of the image under `top_k`, its activations taken one by one, has fewer statements.
        by: what proves that: `arb`, `mpmath`, or `both` of them.
        document: the proof, which the checker reads (certificates/least-v1.md).
    """

    certificate: Certificate
    least: int
    by: str
    document: bytes = field(default=b"", repr=False, compare=False)

    @property
    def is_smallest(self) -> bool | None:
        """Whether none under `top_k` is smaller whose activations are taken one by one; None if it is under another
        paradigm, of which nothing is proved."""
        return self.certificate.size <= self.least if self.certificate.paradigm == PARADIGM else None

    def record(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "predicted": self.certificate.predicted,
            "paradigm": self.certificate.paradigm,
            "statements": self.certificate.size,
            "least": self.least,
            "least_paradigm": PARADIGM,
            "least_by": self.by,
            "smallest": self.is_smallest,
        }


@keywords(AuditOptions, *PROVING)
def gap(
    certificate: str | Path,
    head: str | Path | HeadFile,
    latents: str | Path | None,
    out: str | Path | None = None,
    seconds: float = 30.0,
    options: AuditOptions | str | None = None,
    **fields: Any,
) -> Gap:
    """How far an explanation is from the smallest one under `top_k`: statements about activations, ceiling and floor.

    Args:
        certificate: file of a proved certificate that names its image.
        head: file of the head that it is about; its readout is linear.
        latents: file that holds the image's latents.
        out: a file for the proof (`verale.checker.least`), or None.
        seconds: how long to search for a better bound.
        options: what proves, and how long it may take: `arb`, `mpmath` or `both`; by default the certificate is proved
            by what `audit` takes, and the bound by `arb`.
        fields: other values of some options, by their names (`verale.checker.options.AuditOptions`).

    Raises:
        InputError: a file that cannot be read or written, no latents, latents that do not fit, a certificate that is
            not proved: its class, or that its statements are true of its image.
        UsageError: another readout, seconds below 0, or a kernel that proves no bounds.
        VeraleError: the checker does not prove what the search found.

    Soundness: the checker proves the bound from the bytes of the files: see `proved_least`. It also proves that the
        certificate is about the image, so that both numbers are about one image and one class.
    """
    from verale.search.least import least_document

    require_search(seconds, None)
    proving = audit_options(options, fields, PROVING)
    by = "arb" if proving.kernel == EITHER else proving.kernel
    if PROVED in CHOICES.get(by, ()):
        raise UsageError(
            f"kernel {by}: the proof of {PROVED} does not cover how small explanations can be; choose one of"
            f" {', '.join(KERNELS)}, both"
        )
    if latents is None:
        raise InputError(
            certificate, f"has no latents beside it, and the bound is about its image: give {option('latents')}"
        )
    file = HeadFile.of(head)
    released = opened(certificate, file, latents, proving)
    if released.given is None or released.certificate.latents is None:
        raise InputError(certificate, "names no latents, and the bound is about some: explain latents, not pictures")
    if out is not None:
        require_output(out, (Path(certificate).parent, certificate, file.path, latents))
    _, document = least_document(released.head, released.given, seconds)
    if (found := json.loads(document)["predicted"]) != released.certificate.predicted:
        raise InputError(
            certificate,
            f"is about class {released.certificate.predicted}, and in float64 the image has class {found}: both logits"
            " are too close to each other for a bound",
        )
    data = read(latents, "a latents file (safetensors)", most=LARGEST_LATENTS)
    try:
        least = proved_least(document, file.data, data, by, proving.limit)
    except UnprovedError as error:
        raise VeraleError(
            f"{certificate}: the bound that was found is not proved ({error}); please report this"
        ) from error
    if out is not None:
        write_atomically(out, document)
    return Gap(released.certificate, least, by, document)
