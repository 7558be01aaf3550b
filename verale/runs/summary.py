"""Tables of explanations summed up as the papers do: means and standard deviations of sizes and times."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from verale.errors import InputError
from verale.files import read
from verale.runs.folder import RUN_FILE
from verale.runs.table import TABLE, Explained, read_table

__all__ = ["Spread", "Summary", "summarize", "table_of"]

_log = logging.getLogger(__name__)

_OF_THE_PAPERS = "_explanations.csv"


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation (divided by n - 1); None where there are too few numbers."""

    mean: float | None
    deviation: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(mean(values) if values else None, stdev(values) if len(values) > 1 else None)


@dataclass(frozen=True)
class Summary:
    """Images of one table, one paradigm.

    Attributes:
        source: the folder or table, as given.
        paradigm: None where there is no certificate, and where the table does not say.
        predictions: `all`, `correct` or `incorrect`: which images; where true classes are not known, all.
        images: how many have an explanation.
        without: how many have none. They count nowhere else.
        size: statements an explanation.
        relative_size: statements made over statements that could be made, in per cent.
        seconds: an explanation.
    """

    source: str
    paradigm: str | None
    predictions: str
    images: int
    without: int
    size: Spread
    relative_size: Spread
    seconds: Spread


def table_of(source: str) -> Path:
    """The table of a folder, or the table itself. Raises InputError."""
    path = Path(source)
    if not path.is_dir():
        return path
    if not (path / TABLE).exists():
        raise InputError(path, f"holds no {TABLE}; expected an --out of verale explain, or a table")
    return path / TABLE


def summarize(source: str) -> list[Summary]:
    """The summaries of a folder or a table: all images, then those predicted correctly and incorrectly, where known.

    Of a run that is not finished, what is there is summed up, with a warning.

    Raises:
        InputError: a table that cannot be read, or has no line; it names file, line and column.
    """
    path = table_of(source)
    described = path.parent / RUN_FILE if path.name == TABLE else None
    rows = read_table(path, whole=described is None or not described.exists())
    if described is not None and described.exists():
        _warn_of_what_is_left(described, len(rows))
    if not rows:
        raise InputError(path, "holds no image; explain some first")
    paradigms = sorted({row.paradigm for row in rows if row.paradigm is not None})
    if len(paradigms) > 1:
        raise InputError(path, f"holds several paradigms ({', '.join(paradigms)}), expected one run's table")
    named = paradigms[0] if paradigms else None
    if named is None and path.name.endswith(_OF_THE_PAPERS):
        named = path.name.removesuffix(_OF_THE_PAPERS)
    kinds: dict[str, Callable[[Explained], bool]] = {"all": lambda row: True}
    if any(row.correct is not None for row in rows):
        kinds |= {"correct": lambda row: row.correct is True, "incorrect": lambda row: row.correct is False}
    return [_summary(source, named, kind, filter(chosen, rows)) for kind, chosen in kinds.items()]


def _warn_of_what_is_left(run: Path, images: int) -> None:
    """Say so where a run is not finished."""
    try:
        total = json.loads(read(run, "the description of a run"))["images"]
    except (ValueError, TypeError, KeyError):
        return
    if total != images:
        _log.warning("%s: %d of %s images are explained so far", run.parent, images, total)


def _summary(source: str, paradigm: str | None, kind: str, chosen: Iterable[Explained]) -> Summary:
    rows = list(chosen)
    explained = [row for row in rows if row.size is not None]
    return Summary(
        *(source, paradigm, kind, len(explained), len(rows) - len(explained)),
        size=Spread.of([row.size for row in explained if row.size is not None]),
        relative_size=Spread.of([100 * row.relative_size for row in explained if row.relative_size is not None]),
        seconds=Spread.of([row.seconds for row in explained if row.seconds is not None]),
    )
