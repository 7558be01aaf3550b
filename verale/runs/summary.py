"""Summaries of runs, as the papers have them: means and standard deviations of sizes and times."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from verale.errors import InputError
from verale.paradigms import READABLE
from verale.runs.folder import RUN_FILE
from verale.runs.inputs import images_of_run, run_of
from verale.runs.listed import Listing, differences
from verale.runs.table import TABLE, Explained, read_table, reasons, table_of

__all__ = ["RunSummary", "Spread", "rows_of", "summarize"]

_log = logging.getLogger(__name__)

_OF_THE_PAPERS = "_explanations.csv"
"""How the names of the papers' tables end, after the paradigm."""


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
    """Images of one table, explained under one paradigm.

    Attributes:
        source: the folder or table, as given.
        paradigm: None where there is no certificate, or the table does not say; `readable` where the most readable of
            several was kept.
        predictions: which images: `all`, `correct` or `incorrect`; only `all` where true classes are not known.
        images: how many have an explanation.
        without: how many have none; they count nowhere else.
        size: statements in an explanation.
        relative_size: statements in an explanation, in per cent of those possible.
        seconds: time to explain an image.
        bounded_prototypes: how many prototypes an explanation bounds; None in tables that do not say it, as below.
        prototypes: how many the head has.
        bounded_pairs: how many pairs of a patch and a prototype it is about.
        pairs: how many there are.
        labelled: of how many images, with or without an explanation, the true class is known.
        right: how many of these get it.
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
    certificate.

    Raises:
        InputError: a table that cannot be read, or has no rows; the message names file, line and column.
    """
    table = table_of(source)
    path = Path(table)
    is_run = path.name == TABLE and (path.parent / RUN_FILE).exists()
    rows = rows_of(table, whole=not is_run)
    for line in reasons((row for row in rows if row.reason is not None), path):
        _log.warning("%s: %s", source, line)
    paradigms = sorted({row.paradigm for row in rows if row.paradigm is not None})
    if is_run and run_of(path.parent).get("paradigm") in (READABLE, "smallest"):  # its name in older versions
        paradigms = [READABLE]
    if len(paradigms) > 1:
        raise InputError(path, f"holds several paradigms ({', '.join(paradigms)}), expected the table of one run")
    paradigm = paradigms[0] if paradigms else None
    if paradigm is None and path.name.endswith(_OF_THE_PAPERS):
        paradigm = path.name.removesuffix(_OF_THE_PAPERS)
    kinds: dict[str, Callable[[Explained], bool]] = {"all": lambda row: True}
    if any(row.correct is not None for row in rows):
        kinds |= {"correct": lambda row: row.correct is True, "incorrect": lambda row: row.correct is False}
    return [_summary(source, paradigm, kind, filter(chosen, rows)) for kind, chosen in kinds.items()]


def rows_of(table: str, whole: bool) -> list[Explained]:
    """The rows of a table, of which there are some; a warning says if its run is not finished.

    Args:
        table: its path.
        whole: whether it is complete, as for `verale.runs.table.read_table`.

    Raises:
        InputError: a table that cannot be read, or has no rows; the message names file, line and column.
    """
    rows, path = read_table(table, whole=whole), Path(table)
    listed = Listing.of_rows(rows, images_of_run(path.parent)) if path.name == TABLE else None
    for difference in () if listed is None else differences(path.parent, listed=listed):
        _log.warning("%s: %s", path.parent, difference)
    if not rows:
        raise InputError(path, "has no rows; explain some images first")
    return rows


def _summary(source: str, paradigm: str | None, kind: str, chosen: Iterable[Explained]) -> RunSummary:
    rows = list(chosen)
    explained = [row for row in rows if row.size is not None]
    return RunSummary(
        *(source, paradigm, kind, len(explained), len(rows) - len(explained)),
        size=Spread.of(row.size for row in explained),
        relative_size=Spread.of(None if (own := row.relative_size) is None else 100 * own for row in explained),
        seconds=Spread.of(row.seconds for row in explained),
        bounded_prototypes=Spread.of(row.bounded_prototypes for row in explained),
        prototypes=max((row.prototypes for row in explained if row.prototypes is not None), default=None),
        bounded_pairs=Spread.of(row.bounded_pairs for row in explained),
        pairs=max((row.pairs for row in explained if row.pairs is not None), default=None),
        labelled=sum(row.correct is not None for row in rows),
        right=sum(row.correct is True for row in rows),
    )
