"""Compare two runs image by image: the classes, and which statements of the first are true of the second's latents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os.path import lexists
from pathlib import Path

from verale.certificate import Certificate as Written
from verale.certificate.words import about
from verale.checker import Auditor
from verale.checker.certificate import FloorStatement, OrderStatement, Statement, SumStatement
from verale.checker.errors import FormatError, UnprovedError
from verale.checker.numbers import StatementAt
from verale.errors import CertificateError, InputError, naming, option
from verale.files import certificates_folder
from verale.runs.auditor import AuditSetup, auditor_of
from verale.runs.compared import ComparedImage, Side
from verale.runs.explained_run import CertificateFile, ExplainedRun, HeadOfRun
from verale.runs.folder import LATENTS
from verale.runs.inputs import find_inputs, run_of
from verale.runs.paired import Pairs, paired

__all__ = ["RunComparison", "compare", "differences"]

NOT_ASKED = "reasons cannot be compared"
"""The note of images, where `RunComparison.why_not` says why."""
_TOLD = 3
"""The most statements of an image that are told in words."""


def differences(a: HeadOfRun, b: HeadOfRun) -> list[str]:
    """What makes statements about one head meaningless for another one: not the numbers of its prototypes and weights,
    but how many prototypes there are, and how images are compared with them."""
    first, second = a.head, b.head
    each = {
        "prototypes": (first.count, second.count),
        "the geometry": (first.geometry, second.geometry),
        "epsilon": (float(first.epsilon), float(second.epsilon)) if first.geometry == second.geometry else (0, 0),
        "the similarity": (first.similarity.name, second.similarity.name),
        "the pooling": (first.pooling, second.pooling),
        "the pooling's k": (first.k, second.k),
    }
    found = [f"{name}: {one} in A, {other} in B" for name, (one, other) in each.items() if one != other]
    return [*found, *([] if first.mask == second.mask else ["the pooling's mask"])]


@dataclass(frozen=True, eq=False)
class RunComparison:
    """Two runs, to be compared image by image: iterating over it does so.

    Attributes:
        a, b: the runs.
        pairs: which images are the same.
        why_not: why statements of A mean nothing for B; empty if they do.
    """

    a: ExplainedRun
    b: ExplainedRun
    pairs: Pairs
    why_not: str
    _auditor: Auditor | None
    _latents: str | None

    @property
    def same_head(self) -> bool:
        """Whether both runs have the same head, byte for byte."""
        return self.a.head.sha256 == self.b.head.sha256

    @property
    def how(self) -> str:
        """What was asked of the statements, in a sentence."""
        if self.why_not:
            return f"Reasons cannot be compared, only classes: {self.why_not}."
        if self.same_head:
            how = "Both runs have the same head. The checker decided each statement of A exactly, at B's latents."
        else:
            how = (
                "The heads differ; both compare images with as many prototypes, in the same way. The checker decided"
                " each statement of A exactly, at B's latents, with B's head: as a sentence about prototypes by their"
                " numbers."
            )
        if "pictures" in run_of(self.b.folder):
            how += (
                " B explains pictures: its latents are what its network gives in float64, of which nothing is proved."
            )
        return how

    def __len__(self) -> int:
        return len(self.pairs.pairs)

    def __iter__(self) -> Iterator[ComparedImage]:
        """Compare the images, in A's order. Raises InputError, which names the file, for what cannot be read."""
        for first, second in self.pairs.pairs:
            yield self._compared(first, second)

    @cached_property
    def _by_name(self) -> bool:
        """Whether classes are the same if their names are: both runs know them, and no two have the same."""
        each = self.a.names, self.b.names
        return all(names is not None and len(set(names)) == len(names) for names in each)

    def _name(self, run: ExplainedRun, predicted: int) -> str | int:
        """A class's name at full length; the number of one without a name."""
        names = run.names or ()
        return names[predicted] if predicted < len(names) else predicted

    def _compared(self, first: int, second: int) -> ComparedImage:
        one, other = self.a.stated(first), self.b.stated(second)
        a, b = Side.of(self.a, first, one), Side.of(self.b, second, other)
        same: bool | None = None
        if a.predicted is not None and b.predicted is not None:
            same = a.predicted == b.predicted
            if self._by_name:
                same = self._name(self.a, a.predicted) == self._name(self.b, b.predicted)
        name = self.a.file(first) or self.b.file(second) or f"image {first}"
        if one is None:
            return ComparedImage(name, a, b, same, None, f"A has no explanation: {a.reason}")
        if self._auditor is None:
            return ComparedImage(name, a, b, same, None, NOT_ASKED)
        digest = self.b.latents(second) if other is None else other.certificate.latents or self.b.latents(second)
        statements = one.certificate.statements
        try:
            there = self._auditor.at_image(one.data, digest or "")
        except FormatError as error:
            return ComparedImage(name, a, b, same, None, str(error))
        except UnprovedError as error:
            if error.reason == "subject":
                raise InputError(
                    self._latents,
                    f"does not hold the latents of image {second} of {self.b.given}; give those that were explained,"
                    f" with {option('latents')}",
                ) from error
            if error.reason == "instance":  # statements say nothing about such latents
                return ComparedImage(name, a, b, same, None, str(error))
            there = (StatementAt(None),) * len(statements)
        answers = tuple(each.true for each in there)
        subjects = list(map(_subject, statements))
        failing = frozenset(each for each, answer in zip(subjects, answers, strict=True) if answer is False)
        return ComparedImage(
            name,
            a,
            b,
            same,
            answers,
            "",
            _told(one, there, self.b.head.prototypes),
            frozenset(subjects),
            failing,
        )


def _subject(statement: Statement) -> str:
    """What a statement is about, but for its patch."""
    if isinstance(statement, SumStatement):
        return "sum of all others"
    if isinstance(statement, OrderStatement | FloorStatement):
        return f"{'ceiling' if isinstance(statement, OrderStatement) else 'floor'} of all others"
    return f"prototype {statement.prototype}"


def _told(stated: CertificateFile, there: Sequence[StatementAt], prototypes: int) -> tuple[str, ...]:
    """The first statements that are not true, in words, with what they bound at the image."""
    numbers = [number for number, at in enumerate(there) if not at.true][:_TOLD]
    if not numbers:
        return ()
    with naming(stated.path, CertificateError):
        statements = Written.from_bytes(stated.data).statements
    told = []
    for number in numbers:
        subject, bounds = statements[number].in_words(prototypes)
        value, here = there[number].value, "undecided" if there[number].true is None else "false"
        if there[number].true is False and value is not None and value.low is not None and value.high is not None:
            here = f"in B about {about((value.low + value.high) / 2)}"
        told.append(f"{subject}: {bounds}; {here}")
    return tuple(told)


def compare(a: str, b: str, head: str | None = None, latents: str | None = None) -> RunComparison:
    """Compare two runs: open them, and say which images are the same. Iterating over the result compares these.

    Args:
        a, b: folders that `verale explain` wrote.
        head: the head of B; by default the folder's.
        latents: the latents of B; by default the folder's.

    Raises:
        InputError: a folder, head or latents that cannot be used, or runs of other images.

    Soundness: that a statement is true, or false, is decided by the checker now, from the bytes of the certificate, the
        head and the latents (`Auditor.at_image`). Classes, sizes, margins and minimality are what the certificates
        claim, and without a certificate what the table says: `verale audit` proves them.
    """
    for given in (a, b):
        if not lexists(given):
            raise InputError(given, "there is no such folder; expected one that verale explain wrote")
    inputs = find_inputs(certificates_folder(Path(b)), head, latents)
    second = ExplainedRun.of(b, inputs.head).with_latents(inputs.latents)
    first = ExplainedRun.of(a)
    same = first.head.sha256 == second.head.sha256
    if same:  # then digests of latents may tell which image is which
        first = first.with_latents()
    why = "; ".join([] if same else differences(first.head, second.head))
    pairs = paired(first, second, same)
    if why:
        return RunComparison(first, second, pairs, why, None, inputs.latents)
    if inputs.latents is None:
        raise InputError(
            b,
            f"has no {LATENTS}, at which A's statements would be decided; give {option('latents')}, or put the file"
            " there",
        )
    auditor = auditor_of(AuditSetup(second.head.path, inputs.latents))
    if auditor.run["head"] != second.head.sha256:
        raise InputError(second.head.path, "changed while it was read; compare again")
    return RunComparison(first, second, pairs, "", auditor.auditor, inputs.latents)
