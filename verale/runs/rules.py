"""Which images certificates prove: a screen in float64 proposes them, and an audit proves each. And rule lists: rules
fitted to one data set and measured on another, each proved by the checker; and their files."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.certificate.words import class_name
from verale.checker import AuditOptions, Status, most_severe
from verale.checker.certificate import LARGEST
from verale.checker.file_auditor import Outcome
from verale.errors import InputError, LatentsError, UsageError, naming
from verale.files import read
from verale.options import keywords
from verale.runs.arguments import HeadFile
from verale.runs.audit import AuditSetup, audited_by, auditor_of
from verale.runs.listed import StoredBytes
from verale.runs.options import PROVING, audit_options
from verale.version import __version__

if TYPE_CHECKING:
    from verale.certificate import Certificate
    from verale.runs.audit_log import AuditLog
    from verale.runs.folder import Journal
    from verale.runs.options import RunOptions

_log = logging.getLogger(__name__)

_TYPE = "urn:verale:rules:v1"


@dataclass(frozen=True)
class Covered:
    """The images that one certificate proves.

    Attributes:
        predicted: the class that it proves; None where it proves none.
        outcome: of its audit without an image.
        images: their indices; each satisfies its statements, proved by the checker.
        unproved: those that the screen proposed and the checker did not prove, with the reason.
        labels: of these images, how many have each true class, where that is known.
    """

    certificate: str
    predicted: int | None
    outcome: Outcome
    images: tuple[int, ...] = ()
    unproved: Mapping[int, str] = field(default_factory=dict)
    labels: dict[int, int] | None = None

    @property
    def correct(self) -> int | None:
        """How many of the images have the proved class as their true one."""
        return None if self.labels is None or self.predicted is None else self.labels.get(self.predicted, 0)


@dataclass(frozen=True)
class _OfImage:
    """A certificate that names an image."""

    name: str
    certificate: Certificate
    index: int
    digest: str

    def read(self) -> bytes:
        """Its bytes."""
        return self.certificate.of_latents(self.digest).to_bytes()


class CoveringAudits:
    """Images of a latents file, and the audits that prove which of them certificates cover.

    Args:
        log: gets every outcome; what it has already is not audited again.

    Raises:
        InputError: a file that cannot be used, or latents that do not fit the head.

    Attributes:
        images: (N, L, D), as they are stored.
    """

    def __init__(
        self,
        head: str | HeadFile,
        latents: str,
        options: AuditOptions | None = None,
        how: RunOptions | None = None,
        log: AuditLog | None = None,
    ) -> None:
        from verale.bounds import check_domain
        from verale.head import as_patches, digest, load_labelled

        self._file, self._how, self._log = HeadFile.of(head), how, log
        self.file = latents
        with naming(latents, LatentsError):
            stored, self.labels = load_labelled(latents)
            self.images = as_patches(stored)
            check_domain(self._file.head, self.images)
        self._digests = [digest(image) for image in self.images]
        self._setup = AuditSetup(self._file.path, latents, options or AuditOptions())
        self._auditor = auditor_of(self._setup, self._file.data)
        self.total = len(self.images)

    def of(
        self, certificates: Sequence[str | StoredBytes], outcomes: Sequence[Outcome] | None = None
    ) -> Iterator[Covered]:
        """The images that each of some certificates, in files or at hand, proves.

        Args:
            outcomes: of their audits without an image (`entailed`), where these are done.

        Raises:
            InputError: a certificate that cannot be read, or that speaks of images with another number of patches.

        Soundness: each image counted satisfies the statements and has the class, because the checker proved entailment
        and instance of the certificate that names this image; the screen only saves it the others.
        """
        from verale.certificate import Certificate
        from verale.rules.coverage import coverage_of

        stored = [
            StoredBytes(each, read(each, "a certificate (.ale.json)", LARGEST + 1)) if isinstance(each, str) else each
            for each in certificates
        ]
        entailed = list(self.entailed(stored)) if outcomes is None else outcomes
        proposed: list[list[_OfImage]] = []
        for each, outcome in zip(stored, entailed, strict=True):
            proposed.append([])
            if not outcome.is_proved:
                continue
            general = replace(Certificate.from_bytes(each.data).of_latents(), minimal=False)
            if general.patches != (patches := self.images.shape[1]):
                raise InputError(
                    self.file,
                    f"holds images of {patches} patches, expected {general.patches} as in {Path(each.name).name}",
                )
            of_all = coverage_of(self._file.head, self.images, general.statements, general.predicted)
            for index in of_all.proposed:
                proposed[-1].append(_OfImage(f"{each.name}, image {index}", general, index, self._digests[index]))
        every = [one for of_certificate in proposed for one in of_certificate]
        audited = audited_by(self._auditor, every, self._setup, self._how, self._log)
        for each, outcome, of_certificate in zip(stored, entailed, proposed, strict=True):
            said = {one.index: next(audited) for one in of_certificate}
            images = tuple(index for index, audit in said.items() if audit.is_proved)
            unproved = {index: audit.record["message"] for index, audit in said.items() if not audit.is_proved}
            _log.info("%s: %d images proved, %d proposed in vain", each.name, len(images), len(unproved))
            labels = None if self.labels is None else dict(Counter(map(self.labels.__getitem__, images)))
            proved = (outcome.record["predicted"], outcome, images, unproved, labels)
            yield Covered(each.name, *(proved if outcome.is_proved else (None, outcome)))

    def entailed(self, certificates: Sequence[StoredBytes]) -> Iterator[Outcome]:
        """Of each certificate, whether its statements entail its class; of its image nothing is asked."""
        setup = replace(self._setup, latents=None, options=replace(self._setup.options, entailment_only=True))
        return audited_by(auditor_of(setup, self._file.data), certificates, setup, self._how, self._log)

    @property
    def digest(self) -> str:
        """Of all images."""
        return hashlib.sha256("".join(self._digests).encode()).hexdigest()

    def label(self, index: int) -> int | None:
        """The true class of an image, where it is known."""
        return None if self.labels is None else self.labels[index]


@dataclass(frozen=True)
class Seen:
    """What a rule, or a list of them, does on a data set.

    Attributes:
        images: how many images it covers: of each the checker proves the class by its statements. None of an unproved
            rule.
        new: how many of them no earlier rule covers.
        correct: how many of those it covers have the rule's class as their true one; None where that is not known.
    """

    images: int
    new: int
    correct: int | None


@dataclass(frozen=True)
class RuleSet:
    """A data set and what the whole list does on it.

    Attributes:
        covered: how many some rule covers.
        correct: how many of these have the rule's class as their true one; None where that is not known.
        head_correct: how many of all images the head classifies correctly (an estimate in float64).
    """

    file: str
    images: int
    covered: int
    correct: int | None
    head_correct: int | None


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        predicted: the class that it proves, and `name`, what it is called.
        margin: the least margin that is proved, rounded down; None if the rule is not proved.
        status: the checker's verdict on its entailment, and `reason`, why it is not PROVED.
        held_out: on the other data set; None without one.
    """

    certificate: str
    sha256: str
    predicted: int
    name: str
    size: int
    margin: float | None
    words: str
    status: str
    reason: str
    fitted: Seen
    held_out: Seen | None


@dataclass(frozen=True)
class RuleList:
    """A list of rules.

    Attributes:
        head: SHA-256 of the head's file.
        rules: in their order: each covers most images that none before it covers.
        fitted, held_out: the data sets; the second is None without one.
        exit_code: 0 if the checker proved all of them, otherwise that of the most severe verdict.
    """

    head: str
    paradigm: str
    rules: tuple[Rule, ...]
    fitted: RuleSet
    held_out: RuleSet | None
    certificates: tuple[Certificate, ...]
    prototypes: int
    exit_code: int

    def record(self) -> dict[str, Any]:
        """The list as plain data, without the certificates."""
        return {
            "_type": _TYPE,
            "verale": __version__,
            "head": self.head,
            "paradigm": self.paradigm,
            "fitted": asdict(self.fitted),
            "held_out": None if self.held_out is None else asdict(self.held_out),
            "rules": [asdict(rule) for rule in self.rules],
        }

    def rows(self) -> Iterator[tuple[object, ...]]:
        """The table: one row a rule."""
        columns = ("Rule", "Pred Label", "Class", "Conditions", "Size", "Margin", "Verdict", "Certificate", "SHA-256")
        seen = ("Images", "New", "Correct")
        yield *columns, *seen, *(f"Held-out {each}" for each in seen)
        for number, rule in enumerate(self.rules):
            cells = (number, rule.predicted, rule.name, rule.words, rule.size, rule.margin, rule.status)
            held_out = (None,) * len(seen) if rule.held_out is None else astuple(rule.held_out)
            yield *cells, rule.certificate, rule.sha256, *astuple(rule.fitted), *held_out


@keywords(AuditOptions, *PROVING)
def fit_rules(
    head_file: str | HeadFile,
    fitted: str,
    held_out: str | None = None,
    count: int = 10,
    paradigm: str | None = None,
    advance: Callable[[int], object] = lambda more: None,
    options: AuditOptions | str | None = None,
    how: RunOptions | None = None,
    log: AuditLog | None = None,
    journal: Journal | None = None,
    **fields: Any,
) -> RuleList:
    """Fit a list of rules to the images of a latents file, and measure it on another.

    Args:
        head_file, fitted, held_out: paths; of the head also its file, already read.
        count: the most rules.
        paradigm: what statements are about; by default `joint` where the head has it, otherwise `top_k`.
        advance: called with 1 for each rule.
        options: what proves, and how long it may take.
        how: how the audits run.
        log: gets the outcome of every audit; what it has already is not audited again.
        journal: notes what is found; what it has already is not searched again.
        fields: other values of some options, by their names (`verale.checker.options.AuditOptions`).

    Raises:
        InputError: a file that cannot be used, or images of which no rule can be proved.
        UsageError: fewer than one rule, or a paradigm whose margins have no prices.

    Soundness: the checker proves the entailment of every rule, and the list says what it could not prove. It also
        proves every image that counts as covered: see `CoveringAudits`.
    """
    import torch

    from verale.bounds import Joint
    from verale.head import evaluate
    from verale.rules.fit import conditions, fit
    from verale.search.several import anew

    proving = audit_options(options, fields, PROVING)
    if count < 1:
        raise UsageError(f"count is {count}, expected at least 1")
    file = HeadFile.of(head_file)
    head = file.head
    sets = [CoveringAudits(file, path, proving, how, log) for path in (fitted, held_out) if path is not None]
    patches = sets[0].images.shape[1]
    for data in sets:
        if data.images.shape[1] != patches:
            raise InputError(data.file, f"holds images of {data.images.shape[1]} patches, expected {patches}")
        if not data.total:
            raise InputError(data.file, "holds no images")
    paradigm = paradigm or ("joint" if patches == 1 and Joint.admits(head) else "top_k")
    asked = {"head": head.digest, "images": sets[0].digest, "paradigm": paradigm}
    remember = anew if journal is None else journal.of(**asked)
    certificates = []
    for certificate in islice(fit(head, sets[0].images, paradigm, remember), count):
        certificates.append(certificate)
        advance(1)
    if not certificates:
        raise InputError(fitted, "has no images of which a rule could be proved: the head's classes tie there")
    stored = StoredBytes.numbered(certificates)
    outcomes = list(sets[0].entailed(stored))
    covered, correct = [set[int]() for _ in sets], [set[int]() for _ in sets]
    rules = []
    found = zip(*[list(covering.of(stored, outcomes)) for covering in sets], strict=True)
    for certificate, outcome, proved_images in zip(certificates, outcomes, found, strict=True):
        counted = []
        for covering, of_set, before, right in zip(sets, proved_images, covered, correct, strict=True):
            images = set(of_set.images)
            truly = {index for index in images if covering.label(index) == certificate.predicted}
            labelled = covering.labels is not None
            counted.append(Seen(len(images), len(images - before), len(truly) if labelled else None))
            before |= images
            right |= truly
        record = outcome.record
        margin = record["margin"] if record["status"] == Status.PROVED.value else None
        rules.append(
            Rule(
                certificate=record["certificate"],
                sha256=record["sha256"],
                predicted=certificate.predicted,
                name=class_name(certificate.predicted, head.labels),
                size=certificate.size,
                margin=None if margin is None else float(margin),
                words=conditions(certificate, head.geometry, head.size),
                status=record["status"],
                reason=record["reason"],
                fitted=counted[0],
                held_out=counted[1] if len(counted) > 1 else None,
            )
        )
        _log.info("%s: class %d, %s", rules[-1].certificate, certificate.predicted, counted)
    whole = []
    for data, seen, right in zip(sets, covered, correct, strict=True):
        of_list = of_head = None
        if data.labels is not None:
            predicted = torch.cat([evaluate(head, some).predicted for some in torch.split(data.images, _CHUNK)])
            of_list, of_head = len(right), int((predicted == torch.tensor(data.labels)).sum())
        whole.append(RuleSet(data.file, data.total, len(seen), of_list, of_head))
    return RuleList(
        head=head.digest,
        paradigm=paradigm,
        rules=tuple(rules),
        fitted=whole[0],
        held_out=whole[1] if len(whole) > 1 else None,
        certificates=tuple(certificates),
        prototypes=head.size,
        exit_code=most_severe([outcome.exit_code for outcome in outcomes]),
    )


_CHUNK = 256
"""How many images are evaluated at once."""
