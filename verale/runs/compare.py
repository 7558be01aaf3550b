"""Compare two runs image by image: the classes, and which statements of the first are true of the second's latents.

Of each image what both runs say of it, what that comes to over all images, and both in words and as rows of a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from verale.certificate import Certificate as Written
from verale.certificate.statements import Bounded, bounded, statement_in_words, subjects_of
from verale.certificate.words import about
from verale.checker import Auditor
from verale.checker.errors import FormatError, UnprovedError
from verale.checker.numbers import StatementAt
from verale.errors import CertificateError, InputError, naming, option
from verale.files import certificates_folder
from verale.runs.audit import AuditSetup, auditor_of
from verale.runs.explained_run import CertificateFile, ExplainedRun, Pairs
from verale.runs.inputs import LATENTS, find_inputs, run_of
from verale.runs.table import csv_line

_NOT_ASKED = "reasons cannot be compared"
"""The note of images, where `RunComparison.why_not` says why."""
_TOLD = 3
"""The most statements of an image that are told in words."""
_LONGEST = 200
"""The most characters of a reason."""
_MOST = 5
"""The most notes that are told."""


@dataclass(frozen=True)
class Side:
    """An image in one of the runs.

    Attributes:
        predicted, name: its class, and what it is called; without a certificate an estimate, or None and empty.
        label: its true class, where known.
        size: how many statements its certificate has; None without one, as all that follows.
        margin: the least margin that it claims, rounded down.
        minimal: whether it claims that every statement is needed.
        named: the prototypes that it names, but for those that a clause exempts.
        picture: the digest of the picture that it names, if any.
    """

    index: int
    predicted: int | None
    name: str
    label: int | None
    size: int | None = None
    margin: str | None = None
    minimal: bool | None = None
    paradigm: str | None = None
    bounded: Bounded | None = None
    named: frozenset[int] = frozenset()
    reason: str | None = None
    picture: str | None = None

    @property
    def correct(self) -> bool | None:
        """Whether its class is the true one, where that is known."""
        return None if None in (self.label, self.predicted) else self.label == self.predicted

    @classmethod
    def of(cls, run: ExplainedRun, index: int, stated: CertificateFile | None) -> Side:
        """An image of a run, and its certificate."""
        row, label = run.rows[index], run.label(index)
        if stated is None:
            why = (row.reason or "the table gives no reason")[:_LONGEST]
            name = "" if row.predicted is None else run.name_of(row.predicted)
            return cls(index, row.predicted, name, label, reason=why)
        certificate = stated.certificate
        return cls(
            *(index, certificate.predicted, run.name_of(certificate.predicted), label),
            *(len(certificate.statements), stated.margin, "minimality" in certificate.claims, certificate.paradigm),
            bounded(certificate.statements, run.head.prototypes, certificate.patches),
            frozenset(each.prototype for each in certificate.statements if hasattr(each, "prototype")),
            picture=certificate.picture,
        )

    def record(self) -> dict[str, Any]:
        """Plain data for JSON and for a row of a table."""
        reach = self.bounded
        return {
            **{name: getattr(self, name) for name in ("index", "predicted", "name", "label", "correct", "size")},
            "bounded_prototypes": None if reach is None else reach.prototypes,
            "bounded_pairs": None if reach is None else reach.pairs,
            "named": None if reach is None else len(self.named),
            **{name: getattr(self, name) for name in ("margin", "minimal", "paradigm", "reason")},
        }


@dataclass(frozen=True)
class ComparedImage:
    """One image in both runs.

    Attributes:
        image: the name of its file, or its number.
        same_class: whether they give it the same class; None where one of them knows none.
        answers: of each statement of A, whether it is true of B's latents, or None; None if they cannot be asked.
        told: the first statements that are not true, or not decided, in words.
        subjects, failing: what A's statements are about, each once, and what the false ones are about: prototypes, or
            clauses.
    """

    image: str
    a: Side
    b: Side
    same_class: bool | None
    answers: tuple[bool | None, ...] | None
    note: str = ""
    told: tuple[str, ...] = ()
    subjects: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()

    @property
    def kept(self) -> bool | None:
        """Whether every statement of A is true of B's latents; None if that is not decided, or cannot be asked."""
        if self.answers is None or (None in self.answers and False not in self.answers):
            return None
        return all(self.answers)

    @property
    def changed(self) -> bool:
        """Whether anything is not as it was: the class, a statement, or that there is an explanation."""
        asked = self.answers is not None and not self.kept
        return self.same_class is False or asked or (self.a.size is None) != (self.b.size is None)

    @property
    def untold(self) -> int:
        """How many statements that are not true are not told."""
        answers = self.answers or ()
        return len(answers) - answers.count(True) - len(self.told)

    def record(self) -> dict[str, Any]:
        """Plain data for JSON."""
        answers = self.answers
        return {
            "image": self.image,
            "a": self.a.record(),
            "b": self.b.record(),
            "same_class": self.same_class,
            "kept": self.kept,
            "true": None if answers is None else answers.count(True),
            "false": None if answers is None else [n for n, each in enumerate(answers) if each is False],
            "undecided": None if answers is None else [n for n, each in enumerate(answers) if each is None],
            "named_in_both": len(self.a.named & self.b.named),
            "note": self.note,
        }


class Counts:
    """What comparing images comes to.

    Attributes:
        images, changed: how many were compared, and are not as they were (`ComparedImage.changed`).
        outcomes: how many images by `ComparedImage.same_class` and `ComparedImage.kept`.
        answers: of all statements of A, how many are true of B's latents, false, or not decided.
        subjects, failing: what statements are about: in how many of A's explanations, and in how many of these they
            fail.
        named, named_in_both: of images with both explanations, how many prototypes A's names, and B's too.
        notes: why statements could not be asked, and of how many images.
        a, b: what each run says for itself.
    """

    def __init__(self) -> None:
        self.images = self.changed = self.named = self.named_in_both = 0
        self.outcomes: Counter[tuple[bool | None, bool | None]] = Counter()
        self.answers: Counter[bool | None] = Counter()
        self.subjects: Counter[str] = Counter()
        self.failing: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.a, self.b = (
            Counter(labelled=0, correct=0, explained=0, minimal=0, statements=0, bounded_prototypes=0) for _ in "ab"
        )

    def add(self, one: ComparedImage) -> None:
        """Count an image."""
        self.images += 1
        self.changed += one.changed
        self.outcomes[one.same_class, one.kept] += 1
        self.answers.update(one.answers or ())
        self.subjects.update(one.subjects)
        self.failing.update(one.failing)
        if one.note:
            self.notes[one.note] += 1
        if one.a.size is not None and one.b.size is not None:
            self.named += len(one.a.named)
            self.named_in_both += len(one.a.named & one.b.named)
        for counts, side in ((self.a, one.a), (self.b, one.b)):
            counts["labelled"] += side.correct is not None
            counts["correct"] += side.correct is True
            counts["explained"] += side.size is not None
            counts["minimal"] += side.minimal is True
            counts["statements"] += side.size or 0
            counts["bounded_prototypes"] += 0 if side.bounded is None else side.bounded.prototypes

    def of(self, same_class: bool | None) -> int:
        """How many images have the same class, or another one, or one that a run does not know."""
        return sum(number for (same, _), number in self.outcomes.items() if same == same_class)

    @property
    def fails_most(self) -> list[tuple[str, int, int]]:
        """What fails, what does so in most explanations first: in how many it fails, and in how many it stands."""
        found = [(name, number, self.subjects[name]) for name, number in self.failing.items()]
        return sorted(found, key=lambda each: (-each[1], each[2], len(each[0]), each[0]))

    def record(self) -> dict[str, Any]:
        """Plain data for JSON."""
        kept = {"kept": True, "not_kept": False, "open": None}
        classes = {"same_class": True, "other_class": False, "unknown_class": None}
        statements = {"true": True, "false": False, "undecided": None}
        return {
            "images": self.images,
            "changed": self.changed,
            **{of: {name: self.outcomes[same, how] for name, how in kept.items()} for of, same in classes.items()},
            "statements": {name: self.answers[key] for name, key in statements.items()},
            "named": self.named,
            "named_in_both": self.named_in_both,
            "fails_most": list(map(list, self.fails_most)),
            "not_asked": dict(self.notes),
            "a": dict(self.a),
            "b": dict(self.b),
        }


@dataclass(frozen=True, eq=False)
class RunComparison:
    """Two runs, to be compared image by image: iterating over it does so.

    Attributes:
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
        of_a, of_b = self.a.names or (), self.b.names or ()
        # Classes are the same if their names are, where both runs know these and no two classes have the same.
        by_name = all(names and len(set(names)) == len(names) for names in (of_a, of_b))
        names = (dict(enumerate(of_a)), dict(enumerate(of_b))) if by_name else ({}, {})
        for first, second in self.pairs.pairs:
            one, other = self.a.stated(first), self.b.stated(second)
            a, b = Side.of(self.a, first, one), Side.of(self.b, second, other)
            same: bool | None = None
            if a.predicted is not None and b.predicted is not None:
                same = names[0].get(a.predicted, a.predicted) == names[1].get(b.predicted, b.predicted)
            name = self.a.file(first) or self.b.file(second) or f"image {first}"
            compared = ComparedImage(name, a, b, same, None)
            if one is None:
                yield replace(compared, note=f"A has no explanation: {a.reason}")
            elif self._auditor is None:
                yield replace(compared, note=_NOT_ASKED)
            else:
                yield self._asked(self._auditor, compared, one, other)

    def _asked(
        self, auditor: Auditor, compared: ComparedImage, one: CertificateFile, other: CertificateFile | None
    ) -> ComparedImage:
        """The same image, with what the checker says of A's statements at B's latents."""
        second, statements = compared.b.index, one.certificate.statements
        digest = self.b.latents(second) if other is None else other.certificate.latents or self.b.latents(second)
        try:
            there = auditor.at_image(one.data, digest or "")
        except FormatError as error:
            return replace(compared, note=str(error))
        except UnprovedError as error:
            if error.reason == "subject":
                raise InputError(
                    self._latents,
                    f"does not hold the latents of image {second} of {self.b.given}; give those that were explained,"
                    f" with {option('latents')}",
                ) from error
            if error.reason == "instance":  # statements say nothing about such latents
                return replace(compared, note=str(error))
            there = (StatementAt(None),) * len(statements)
        answers = tuple(each.true for each in there)
        kinds = [subjects_of(each)[0] for each in statements]  # but for their patches
        subjects = [f"{kind} of all others" if number is None else f"{kind} {number}" for kind, number in kinds]
        told = []
        if numbers := [number for number, answer in enumerate(answers) if not answer][:_TOLD]:
            with naming(one.path, CertificateError):
                written = Written.from_bytes(one.data).statements
            for number in numbers:
                subject, bounds = statement_in_words(written[number], self.b.head.prototypes)
                value, here = there[number].value, "undecided" if answers[number] is None else "false"
                if answers[number] is False and value is not None and value.low is not None and value.high is not None:
                    here = f"in B about {about((value.low + value.high) / 2)}"
                told.append(f"{subject}: {bounds}; {here}")
        failing = frozenset(each for each, answer in zip(subjects, answers, strict=True) if answer is False)
        return replace(compared, answers=answers, told=tuple(told), subjects=frozenset(subjects), failing=failing)


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
    inputs = find_inputs(certificates_folder(Path(b)), head, latents)
    second = ExplainedRun.of(b, inputs.head).with_latents(inputs.latents)
    first = ExplainedRun.of(a)
    same = first.head.sha256 == second.head.sha256
    if same:  # then digests of latents may tell which image is which
        first = first.with_latents()
    # Statements about one head mean something for another one whatever the numbers of its prototypes and weights, but
    # not with another number of prototypes, or another way to compare images with them.
    one, other = first.head.head, second.head.head
    parts = {
        "prototypes": (one.count, other.count),
        "the geometry": (one.geometry, other.geometry),
        "epsilon": (float(one.epsilon), float(other.epsilon)) if one.geometry == other.geometry else (0, 0),
        "the similarity": (one.similarity.name, other.similarity.name),
        "the pooling": (one.pooling, other.pooling),
        "the pooling's k": (one.k, other.k),
    }
    differences = [f"{name}: {in_a} in A, {in_b} in B" for name, (in_a, in_b) in parts.items() if in_a != in_b]
    why = "; ".join([*differences, *([] if one.mask == other.mask else ["the pooling's mask"])])
    pairs = Pairs.of(first, second, same)
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


_TRUTH = {True: "yes", False: "no"}


def csv_lines(compared: Iterable[ComparedImage]) -> Iterator[str]:
    """The lines of a table with all images, without line ends: the entries of `ComparedImage.record` in columns of
    their names, those of a run with its letter after them, and numbers of statements as how many there are."""
    columns: list[str] = []
    for one in compared:
        row: dict[str, Any] = {
            name: len(value) if isinstance(value, list) else value for name, value in one.record().items()
        }
        for run in ("a", "b"):
            row |= {f"{name}_{run}": value for name, value in row.pop(run).items()}
        if not columns:
            columns = list(row)
            yield csv_line(columns)
        yield csv_line(row.values())


def changed_first(compared: Iterable[ComparedImage]) -> list[ComparedImage]:
    """The images that changed, those with another class first."""
    return sorted((one for one in compared if one.changed), key=lambda one: one.same_class is not False)


def matched(comparison: RunComparison) -> str:
    """How many images both runs have, and what tells which is which."""
    pairs = comparison.pairs
    only = [f"{number:,} only in {run}" for run, number in (("A", pairs.only_a), ("B", pairs.only_b)) if number]
    return "; ".join([f"{_images(len(comparison))} in both, matched by {pairs.by}", *only]) + "."


def sentences(comparison: RunComparison, counts: Counts) -> list[str]:
    """What the comparison comes to, the counts of images first."""
    same, other = counts.of(True), counts.of(False)
    asked = not comparison.why_not

    def of_these(same_class: bool) -> str:
        kept, not_kept, left = (counts.outcomes[same_class, kept] for kept in (True, False, None))
        parts = [f"{kept:,} satisfy all statements of A", f"{not_kept:,} do not"] if kept + not_kept else []
        return f"; of these, {', '.join([*parts, *([f'{left:,} are open'] if left else [])])}"

    keep = "keeps its class" if same == 1 else "keep their class"
    told = [f"{same:,} of {_images(counts.images)} {keep}{of_these(True) if asked and same else ''}."]
    if other:
        told.append(f"{other:,} {'gets' if other == 1 else 'get'} another class{of_these(False) if asked else ''}.")
    if unknown := counts.of(None):
        told.append(f"Of {_images(unknown)}, A or B does not know the class.")
    if comparison.same_head and counts.outcomes[False, True]:
        told.append(
            f"All statements of A are true under the same head, and yet the class is another, for"
            f" {_images(counts.outcomes[False, True])}: one of the runs is wrong; audit both."
        )
    if total := counts.answers.total():
        undecided = f", {counts.answers[None]:,} not decided" if counts.answers[None] else ""
        told.append(
            f"Of {total:,} statements of A, {counts.answers[True]:,} are true of B's latents,"
            f" {counts.answers[False]:,} false{undecided}."
        )
    if asked:
        told += [f"Not asked for {_images(number)}: {note}." for note, number in counts.notes.most_common(_MOST)]
    if counts.named and asked:
        told.append(
            f"A's explanations name {counts.named:,} prototypes, counted image by image; B's explanations of the same"
            f" images name {counts.named_in_both:,} of these too."
        )
    return told


def about_sides(comparison: RunComparison, counts: Counts) -> list[tuple[str, str, str]]:
    """What each run says for itself: a name, and a text for A and for B."""
    labelled = counts.a["labelled"] or counts.b["labelled"]
    columns = []
    for side, run in ((counts.a, comparison.a), (counts.b, comparison.b)):
        mean = {
            name: f"{side[name] / side['explained']:.1f}" if side["explained"] else "-"
            for name in ("statements", "bounded_prototypes")
        }
        column = {"explained": f"{side['explained']:,} of {counts.images:,}"}
        if labelled:
            right = f"{side['correct']:,} of {side['labelled']:,}" if side["labelled"] else "-"
            column["true class given, as labelled"] = right
        column["statements, mean"] = mean["statements"]
        column["prototypes bounded, mean"] = f"{mean['bounded_prototypes']} of {run.head.prototypes}"
        column["claim minimality"] = f"{side['minimal']:,} of {side['explained']:,}"
        columns.append(column)
    return [(name, columns[0][name], columns[1][name]) for name in columns[0]]


def held(one: ComparedImage) -> str:
    """How many statements are true of B's latents."""
    if one.answers is None:
        return "-"
    undecided = one.answers.count(None)
    return f"{one.answers.count(True)} of {len(one.answers)}" + (f", {undecided} undecided" if undecided else "")


def class_of(side: Side) -> str:
    """A class, and whether there is no certificate for it."""
    return side.name if side.size is not None else f"{side.name or '-'} (unexplained)"


def two(first: object, second: object) -> str:
    """A value of A and of B, once where they are the same."""
    words = ["-" if each is None else _TRUTH[each] if isinstance(each, bool) else str(each) for each in (first, second)]
    return words[0] if words[0] == words[1] else " → ".join(words)


def _images(number: int) -> str:
    return f"{number:,} image{'' if number == 1 else 's'}"
