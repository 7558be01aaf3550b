"""Rule lists: rules fitted to one data set and measured on another, each proved by the checker; and their files."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from verale.certificate.words import class_name, float_below
from verale.checker import Verdict, most_severe
from verale.errors import InputError, UsageError
from verale.files import certificate_name
from verale.runs.arguments import HeadFile, LabelledImages, auditor_for
from verale.runs.folder import HEAD
from verale.runs.table import csv_line
from verale.version import __version__

if TYPE_CHECKING:
    from torch import Tensor

    from verale.certificate import Certificate
    from verale.head import Head

__all__ = [
    "JSON",
    "PAGE",
    "RULES",
    "TABLE",
    "Rule",
    "RuleList",
    "RuleSet",
    "Seen",
    "fit_rules",
]

_log = logging.getLogger(__name__)

JSON, TABLE, PAGE = "rules.json", "rules.csv", "rules.html"
RULES = (JSON, TABLE, PAGE, HEAD)
"""The files of a rule list, beside its certificates."""

_TYPE = "urn:verale:rules:v1"


@dataclass(frozen=True)
class Seen:
    """What a rule, or a list of them, does on a data set.

    Attributes:
        images: how many images it covers: each certainly satisfies its statements.
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
        file: the latents.
        images: how many it has.
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
        certificate: the name of its file.
        sha256: of its bytes.
        predicted: the class that it proves, and `name`, what it is called.
        size: how many statements it has.
        margin: the least margin that is proved, rounded down.
        words: its statements in a sentence.
        status: the checker's verdict on its entailment, and `reason`, why it is not PROVED.
        fitted: on the data set that it was fitted to.
        held_out: on the other data set; None without one.
    """

    certificate: str
    sha256: str
    predicted: int
    name: str
    size: int
    margin: float
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
        paradigm: of all rules.
        rules: in their order: each covers most images that none before it covers.
        fitted, held_out: the data sets; the second is None without one.
        certificates: those of the rules.
        prototypes: how many the head has.
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

    def to_json(self) -> bytes:
        """The bytes of `rules.json`."""
        return f"{json.dumps(self.record(), indent=1)}\n".encode()

    def to_csv(self) -> bytes:
        """The bytes of `rules.csv`: one line a rule."""
        lines = [csv_line(("Rule", "Pred Label", "Class", *_COLUMNS, *_SEEN, *(f"Held-out {each}" for each in _SEEN)))]
        for number, rule in enumerate(self.rules):
            cells = (number, rule.predicted, rule.name, rule.words, rule.size, rule.margin, rule.status)
            held_out = (None,) * len(_SEEN) if rule.held_out is None else _cells(rule.held_out)
            lines.append(csv_line((*cells, rule.certificate, rule.sha256, *_cells(rule.fitted), *held_out)))
        return "".join(f"{line}\n" for line in lines).encode()

    def files(self, head: HeadFile, page: bytes) -> dict[str, bytes]:
        """The files of a folder: certificates, head, table, page and record."""
        listed = zip(self.rules, self.certificates, strict=True)
        files = {rule.certificate: certificate.to_bytes() for rule, certificate in listed}
        return files | {HEAD: head.data, TABLE: self.to_csv(), PAGE: page, JSON: self.to_json()}


_COLUMNS = ("Conditions", "Size", "Margin", "Verdict", "Certificate", "SHA-256")
_SEEN = ("Images", "New", "Correct")


def _cells(seen: Seen) -> tuple[int | None, ...]:
    return seen.images, seen.new, seen.correct


def _default_paradigm(head: Head, patches: int) -> str:
    """`joint` where the head has it, otherwise `top_k`."""
    from verale.bounds import Joint

    return "joint" if patches == 1 and Joint.admits(head) else "top_k"


def fit_rules(
    head_file: str | HeadFile,
    fitted: str,
    held_out: str | None = None,
    count: int = 10,
    paradigm: str | None = None,
    kernel: str | None = None,
    advance: Callable[[int], object] = lambda more: None,
) -> RuleList:
    """Fit a list of rules to the images of a latents file, and measure it on another.

    Args:
        head_file, fitted, held_out: paths; of the head also its file, already read.
        count: the most rules.
        paradigm: what statements are about; by default `joint` where the head has it, otherwise `top_k`.
        kernel: what proves; see `audit`.
        advance: called with 1 for each rule.

    Raises:
        InputError: a file that cannot be used, or images of which no rule can be proved.
        UsageError: fewer than one rule, or a paradigm whose margins have no prices.

    Soundness: the checker proves the entailment of every rule, and the list says what it could not prove. An image
    counts as covered if outward-rounded float64 proves its statements; `verale cover` has the checker prove each.
    """
    from itertools import islice

    import torch

    from verale.rules.coverage import coverage_of
    from verale.rules.fit import fit

    if count < 1:
        raise UsageError(f"count is {count}, expected at least 1")
    file = HeadFile.of(head_file)
    head = file.head
    auditor = auditor_for(file, kernel=kernel)
    sets = [LabelledImages.load(file, head) for file in (fitted, held_out) if file is not None]
    patches = sets[0].images.shape[1]
    for data in sets:
        if data.images.shape[1] != patches:
            raise InputError(data.file, f"holds images of {data.images.shape[1]} patches, expected {patches}")
        if not len(data.images):
            raise InputError(data.file, "holds no images")
    paradigm = paradigm or _default_paradigm(head, patches)
    seen = [torch.zeros(len(data.images), dtype=torch.bool) for data in sets]
    right = [torch.zeros(len(data.images), dtype=torch.bool) for data in sets]
    rules, certificates, codes = [], [], []
    for number, certificate in enumerate(islice(fit(head, sets[0].images, paradigm), count)):
        each_seen = []
        for data, before, correct in zip(sets, seen, right, strict=True):
            covers = coverage_of(head, data.images, certificate.statements).certain
            truly = None if data.labels is None else covers & (torch.tensor(data.labels) == certificate.predicted)
            each_seen.append(
                Seen(int(covers.sum()), int((covers & ~before).sum()), None if truly is None else int(truly.sum()))
            )
            before |= covers
            if truly is not None:
                correct |= truly
        verdict = auditor.check(certificate.to_bytes(), entailment_only=True)
        rules.append(_rule(head, verdict, number, certificate, each_seen))
        certificates.append(certificate)
        codes.append(verdict.exit_code)
        _log.info("rule %d: class %d, %s", number, certificate.predicted, each_seen)
        advance(1)
    if not rules:
        raise InputError(fitted, "has no images of which a rule could be proved: the head's classes tie there")
    whole = [_set(head, data, *each) for data, *each in zip(sets, seen, right, strict=True)]
    return RuleList(
        head=head.digest,
        paradigm=paradigm,
        rules=tuple(rules),
        fitted=whole[0],
        held_out=whole[1] if len(whole) > 1 else None,
        certificates=tuple(certificates),
        prototypes=head.size,
        exit_code=most_severe(codes),
    )


def _rule(head: Head, verdict: Verdict, number: int, certificate: Certificate, seen: list[Seen]) -> Rule:
    from verale.rules.words import conditions

    return Rule(
        certificate=certificate_name(number),
        sha256=hashlib.sha256(certificate.to_bytes()).hexdigest(),
        predicted=certificate.predicted,
        name=class_name(certificate.predicted, head.labels),
        size=certificate.size,
        margin=float_below(certificate.margin),
        words=conditions(certificate, head.geometry, head.size),
        status=verdict.status.value,
        reason=verdict.reason,
        fitted=seen[0],
        held_out=seen[1] if len(seen) > 1 else None,
    )


def _set(head: Head, data: LabelledImages, covered: Tensor, correct: Tensor) -> RuleSet:
    import torch

    from verale.head import evaluate

    right = truly = None
    if data.labels is not None:
        predicted = torch.cat([evaluate(head, some).predicted for some in torch.split(data.images, _CHUNK)])
        right = int((predicted == torch.tensor(data.labels)).sum())
        truly = int(correct.sum())
    return RuleSet(data.file, len(data.images), int(covered.sum()), truly, right)


_CHUNK = 256
"""How many images are evaluated at once."""
