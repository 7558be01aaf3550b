"""What comparing two runs gives: for each image what both say of it, and what that comes to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from verale.certificate.reach import Bounded, bounded
from verale.checker.certificate import ActivationStatement, PatchStatement
from verale.runs.explained_run import CertificateFile, ExplainedRun

__all__ = ["ComparedImage", "Counts", "Side", "SideCounts"]

_LONGEST = 200
"""The most characters of a reason."""
_NAMING = PatchStatement | ActivationStatement


@dataclass(frozen=True)
class Side:
    """An image in one of the runs.

    Attributes:
        index: among the run's latents.
        predicted: its class; without a certificate an estimate, or None.
        name: that class for people; empty where it is not known.
        label: its true class, where known.
        size: how many statements its certificate has; None without one, as all that follows.
        margin: the least margin that it claims, rounded down.
        minimal: whether it claims that every statement is needed.
        paradigm: its paradigm.
        bounded: what its statements bound.
        named: the prototypes that it names, but for those that a clause exempts.
        reason: why there is no certificate.
        picture: the digest of the picture that its certificate names; None where it names none.
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
            frozenset(each.prototype for each in certificate.statements if isinstance(each, _NAMING)),
            picture=certificate.picture,
        )


@dataclass(frozen=True)
class ComparedImage:
    """One image in both runs.

    Attributes:
        image: the name of its file, or its number.
        a, b: what the runs say.
        same_class: whether they give it the same class; None where one of them knows none.
        answers: of each statement of A, whether it is true of B's latents, None where that is not decided; None if they
            cannot be asked.
        note: why not.
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
            "a": _record(self.a),
            "b": _record(self.b),
            "same_class": self.same_class,
            "kept": self.kept,
            "true": None if answers is None else answers.count(True),
            "false": None if answers is None else [n for n, each in enumerate(answers) if each is False],
            "undecided": None if answers is None else [n for n, each in enumerate(answers) if each is None],
            "named_in_both": len(self.a.named & self.b.named),
            "note": self.note,
        }


def _record(side: Side) -> dict[str, object]:
    reach = side.bounded
    return {
        **{name: getattr(side, name) for name in ("index", "predicted", "name", "label", "correct", "size")},
        "bounded_prototypes": None if reach is None else reach.prototypes,
        "bounded_pairs": None if reach is None else reach.pairs,
        "named": None if reach is None else len(side.named),
        **{name: getattr(side, name) for name in ("margin", "minimal", "paradigm", "reason")},
    }


class Counts:
    """What comparing images comes to.

    Attributes:
        images, changed: how many were compared, and are not as they were (`ComparedImage.changed`).
        outcomes: how many have the same class or not (first: `ComparedImage.same_class`), and kept their statements
            (second: `ComparedImage.kept`).
        answers: of all statements of A, how many are true of B's latents, false, or not decided.
        subjects, failing: what statements are about: in how many of A's explanations, and in how many of these they
            fail.
        named, named_in_both: of images that have both explanations, the prototypes that A's names, added up, and those
            that B's names too.
        notes: why statements could not be asked, and of how many images.
        a, b: what the runs say for themselves.
    """

    def __init__(self) -> None:
        self.images = self.changed = self.named = self.named_in_both = 0
        self.outcomes: Counter[tuple[bool | None, bool | None]] = Counter()
        self.answers: Counter[bool | None] = Counter()
        self.subjects: Counter[str] = Counter()
        self.failing: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.a, self.b = SideCounts(), SideCounts()

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
        self.a.add(one.a)
        self.b.add(one.b)

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
        outcomes = {
            f"{which}_class": {
                name: self.outcomes[same, kept] for name, kept in (("kept", True), ("not_kept", False), ("open", None))
            }
            for which, same in (("same", True), ("other", False), ("unknown", None))
        }
        return {
            "images": self.images,
            "changed": self.changed,
            **outcomes,
            "statements": {name: self.answers[key] for name, key in _ANSWERS},
            "named": self.named,
            "named_in_both": self.named_in_both,
            "fails_most": list(map(list, self.fails_most)),
            "not_asked": dict(self.notes),
            "a": vars(self.a),
            "b": vars(self.b),
        }


_ANSWERS: tuple[tuple[str, bool | None], ...] = (("true", True), ("false", False), ("undecided", None))


class SideCounts:
    """What one of the runs comes to, over the images that are compared.

    Attributes:
        labelled, correct: of how many the true class is known, and has been given.
        explained, minimal: how many have a certificate, and one that claims minimality.
        statements: of all certificates.
        bounded_prototypes: the prototypes that each bounds, added up.
    """

    def __init__(self) -> None:
        self.labelled = self.correct = self.explained = self.minimal = self.statements = self.bounded_prototypes = 0

    def add(self, side: Side) -> None:
        """Count an image."""
        self.labelled += side.correct is not None
        self.correct += side.correct is True
        if side.size is not None:
            self.explained += 1
            self.minimal += side.minimal is True
            self.statements += side.size
            self.bounded_prototypes += 0 if side.bounded is None else side.bounded.prototypes
