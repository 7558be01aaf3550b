"""Summaries of a run by class and by prototype."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os.path import lexists
from pathlib import Path

from verale.checker.certificate import ActivationStatement, PatchStatement, SumStatement
from verale.errors import InputError
from verale.runs.explained_run import ExplainedRun
from verale.runs.folder import HEAD
from verale.runs.summary import Spread, rows_of
from verale.runs.table import Explained, table_of

__all__ = ["ClassSummary", "PrototypeSummary", "by_class", "by_prototype"]


@dataclass(frozen=True)
class ClassSummary:
    """The images of one class.

    Attributes:
        source: the folder or table, as given.
        kind: `predicted`: the images that get the class; `true`: those of which it is the true one.
        number: of the class.
        name: its name, or its number.
        images: how many there are.
        explained: how many of them have an explanation.
        size: statements in an explanation.
        bounded_prototypes: how many prototypes they bound.
        labelled, correct: of how many the true class is known, and is the predicted one.
    """

    source: str
    kind: str
    number: int
    name: str
    images: int
    explained: int
    size: Spread
    bounded_prototypes: Spread
    labelled: int
    correct: int


@dataclass(frozen=True)
class PrototypeSummary:
    """One prototype in the explanations of a run.

    Attributes:
        source: the folder, as given.
        prototype: its number.
        named: in how many explanations a statement is about it, alone or with a patch.
        bounded: in how many it is bounded, also by a clause about all others.
        explanations: how many there are.
        statements: about it, in all explanations.
    """

    source: str
    prototype: int
    named: int
    bounded: int
    explanations: int
    statements: int


def by_class(source: str) -> list[ClassSummary]:
    """The classes of a folder or a table: those that are predicted, then the true ones, where known.

    Raises:
        InputError: a table or a folder that cannot be used.
    """
    rows, names = _rows_and_names(source)
    kinds: dict[str, Callable[[Explained], int | None]] = {"predicted": lambda row: row.predicted}
    if any(row.label is not None for row in rows):
        kinds["true"] = lambda row: row.label
    found = []
    for kind, of in kinds.items():
        classes: dict[int, list[Explained]] = {}
        for row in rows:
            number = of(row)
            if number is not None:
                classes.setdefault(number, []).append(row)
        found += [_of_class(source, kind, number, names, classes[number]) for number in sorted(classes)]
    return found


def _of_class(source: str, kind: str, number: int, names: Sequence[str], rows: Sequence[Explained]) -> ClassSummary:
    name = names[number] if number < len(names) else str(number)
    return ClassSummary(
        *(source, kind, number, name, len(rows), sum(row.size is not None for row in rows)),
        size=Spread.of(row.size for row in rows),
        bounded_prototypes=Spread.of(row.bounded_prototypes for row in rows),
        labelled=sum(row.correct is not None for row in rows),
        correct=sum(row.correct is True for row in rows),
    )


def _rows_and_names(source: str) -> tuple[Sequence[Explained], Sequence[str]]:
    """The rows of a folder or a table, and the names of the classes, where a folder knows them."""
    table = table_of(source)
    if Path(source).is_dir() and lexists(Path(table).with_name(HEAD)):
        run = ExplainedRun.of(source)
        return list(run.rows.values()), run.names or ()
    return rows_of(table, whole=not Path(source).is_dir()), ()


def by_prototype(source: str) -> list[PrototypeSummary]:
    """The prototypes of a folder's head, those first that most explanations name.

    Raises:
        InputError: a table, or a folder without its head; a certificate that cannot be read or is about another head.
    """
    if lexists(source) and not Path(source).is_dir():
        raise InputError(
            source, "is a table, which does not say what statements are about; give the folder of its certificates"
        )
    run = ExplainedRun.of(source)
    named: Counter[int] = Counter()
    bound: Counter[int] = Counter()
    stated: Counter[int] = Counter()
    everything, explanations = set(range(run.head.prototypes)), 0
    for index in sorted(run.rows):
        file = run.stated(index)
        if file is None:
            continue
        explanations += 1
        about: set[int] = set()
        by_clauses: set[int] = set()
        for each in file.certificate.statements:
            if isinstance(each, PatchStatement | ActivationStatement):
                about.add(each.prototype)
                stated[each.prototype] += 1
            elif not isinstance(each, SumStatement):
                by_clauses |= everything - set(each.exempt)
        named.update(about)
        bound.update(about | by_clauses)
    found = [PrototypeSummary(source, j, named[j], bound[j], explanations, stated[j]) for j in sorted(everything)]
    return sorted(found, key=lambda each: (-each.named, -each.bounded, each.prototype))
