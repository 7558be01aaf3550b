"""Summaries of runs, as the papers have them: means and standard deviations of sizes and times; and by class or by
prototype."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os.path import lexists
from pathlib import Path
from statistics import mean, stdev

from verale.checker.certificate import ActivationStatement, PatchStatement, SumStatement
from verale.errors import InputError
from verale.paradigms import READABLE
from verale.runs.explained_run import ExplainedRun
from verale.runs.inputs import HEAD, RUN_FILE, TABLE, run_of
from verale.runs.listed import rows_of
from verale.runs.table import Explained, reasons, table_of

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation (divided by n - 1); None where there are too few numbers."""

    mean: float | None
    deviation: float | None

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Spread:
        """That of the numbers that are known."""
        known = [value for value in values if value is not None]
        return cls(mean(known) if known else None, stdev(known) if len(known) > 1 else None)


@dataclass(frozen=True)
class RunSummary:
    """Images of one table, explained under one paradigm: None where there is no certificate, or the table does not say;
    `readable` where the most readable of several was kept.

    Predictions are `all`, `correct` or `incorrect`; only `all` where true classes are not known. `images` have an
    explanation, those `without` count nowhere else. Of an explanation: its statements, these in per cent of those
    possible, its time, how many prototypes it bounds and how many pairs of a patch and a prototype it is about (unknown
    in some tables). Of `labelled` images, with or without one, the true class is known, and `right` get it.
    """

    source: str
    paradigm: str | None
    predictions: str
    images: int
    without: int
    size: Spread
    relative_size: Spread
    seconds: Spread
    bounded_prototypes: Spread = Spread(None, None)
    prototypes: int | None = None
    bounded_pairs: Spread = Spread(None, None)
    pairs: int | None = None
    labelled: int = 0
    right: int = 0


def summarize(source: str) -> list[RunSummary]:
    """The summaries of a folder or a table: all images, then those predicted correctly and incorrectly, where known.

    For an unfinished run, the images explained so far count, and a warning says so; others say why images have no
    certificate. Raises InputError: a table that cannot be read, or has no rows; the message names file, line and
    column.
    """
    table = table_of(source)
    path = Path(table)
    is_run = path.name == TABLE and (path.parent / RUN_FILE).exists()
    rows = rows_of(table, whole=not is_run)
    for line in reasons((row for row in rows if row.reason is not None), path):
        _log.warning("%s: %s", source, line)
    paradigms = sorted({row.paradigm for row in rows if row.paradigm is not None})
    if is_run and run_of(path.parent).get("paradigm") == READABLE:
        paradigms = [READABLE]
    if len(paradigms) > 1:
        raise InputError(path, f"holds several paradigms ({', '.join(paradigms)}), expected the table of one run")
    paradigm = paradigms[0] if paradigms else None
    of_the_papers = "_explanations.csv"  # so the names of the papers' tables end, after the paradigm
    if paradigm is None and path.name.endswith(of_the_papers):
        paradigm = path.name.removesuffix(of_the_papers)
    kinds: dict[str, Callable[[Explained], bool]] = {"all": lambda row: True}
    if any(row.correct is not None for row in rows):
        kinds |= {"correct": lambda row: row.correct is True, "incorrect": lambda row: row.correct is False}
    found = []
    for kind, chosen in kinds.items():
        some = list(filter(chosen, rows))
        explained = [row for row in some if row.size is not None]
        found.append(
            RunSummary(
                *(source, paradigm, kind, len(explained), len(some) - len(explained)),
                size=Spread.of(row.size for row in explained),
                relative_size=Spread.of(None if (own := row.relative_size) is None else 100 * own for row in explained),
                seconds=Spread.of(row.seconds for row in explained),
                bounded_prototypes=Spread.of(row.bounded_prototypes for row in explained),
                prototypes=max((row.prototypes for row in explained if row.prototypes is not None), default=None),
                bounded_pairs=Spread.of(row.bounded_pairs for row in explained),
                pairs=max((row.pairs for row in explained if row.pairs is not None), default=None),
                labelled=sum(row.correct is not None for row in some),
                right=sum(row.correct is True for row in some),
            )
        )
    return found


@dataclass(frozen=True)
class ClassSummary:
    """The images that get a class (`predicted`), or of which it is the true one (`true`). Of so many the true class is
    known (`labelled`), and is the predicted one (`correct`)."""

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
    """One prototype in the explanations of a run: how many name it, and how many bound it, also by a clause."""

    source: str
    prototype: int
    named: int
    bounded: int
    explanations: int
    statements: int


def by_class(source: str) -> list[ClassSummary]:
    """The classes of a folder or a table: those that are predicted, then the true ones. Raises InputError."""
    table = table_of(source)
    rows: Sequence[Explained]
    names: Sequence[str] = ()
    if Path(source).is_dir() and lexists(Path(table).with_name(HEAD)):
        run = ExplainedRun.of(source)
        rows, names = list(run.rows.values()), run.names or ()
    else:
        rows = rows_of(table, whole=not Path(source).is_dir())
    kinds: dict[str, Callable[[Explained], int | None]] = {"predicted": lambda row: row.predicted}
    if any(row.label is not None for row in rows):
        kinds["true"] = lambda row: row.label
    found = []
    for kind, of in kinds.items():
        classes: dict[int, list[Explained]] = {}
        for row in rows:
            if (its := of(row)) is not None:
                classes.setdefault(its, []).append(row)
        for number, some in sorted(classes.items()):
            name = names[number] if number < len(names) else str(number)
            found.append(
                ClassSummary(
                    *(source, kind, number, name, len(some), sum(row.size is not None for row in some)),
                    size=Spread.of(row.size for row in some),
                    bounded_prototypes=Spread.of(row.bounded_prototypes for row in some),
                    labelled=sum(row.correct is not None for row in some),
                    correct=sum(row.correct is True for row in some),
                )
            )
    return found


def by_prototype(source: str) -> list[PrototypeSummary]:
    """The prototypes of a folder's head, those first that most explanations name. Raises InputError."""
    if lexists(source) and not Path(source).is_dir():
        raise InputError(
            source, "is a table, which does not say what statements are about; give the folder of its certificates"
        )
    run = ExplainedRun.of(source)
    named, bound, stated = Counter[int](), Counter[int](), Counter[int]()
    everything, explanations = set(range(run.head.prototypes)), 0
    for index in sorted(run.rows):
        file = run.stated(index)
        if file is None:
            continue
        explanations += 1
        about, by_clauses = set[int](), set[int]()
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
