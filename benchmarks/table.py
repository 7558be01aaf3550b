"""Tables: mean and standard deviation of the measurements of each method on each head."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields

from benchmarks.measure import VERALE, Measurement

__all__ = ["COLUMNS", "Row", "images_csv", "markdown", "summarise", "summary_csv", "text"]


@dataclass(frozen=True)
class Row:
    """One method on one head. The fields are the columns of summary.csv; README.md explains them."""

    head: str
    method: str
    images: int
    emitted: int
    proved: int
    not_proved: int
    over_limit: int
    size_mean: float | None
    size_sd: float | None
    share_mean: float | None
    share_sd: float | None
    explain_mean: float
    explain_sd: float | None
    audit_mean: float | None
    audit_sd: float | None
    bytes_mean: float | None
    bytes_sd: float | None
    compared: int | None
    size_ratio: float | None
    time_ratio: float | None


def summarise(measurements: Sequence[Measurement]) -> list[Row]:
    """One row for each head and method, in the order measured."""
    groups: dict[tuple[str, str, str], list[Measurement]] = {}
    for m in measurements:
        groups.setdefault((m.head, m.source, m.method), []).append(m)
    return [_row(group, measurements) for group in groups.values()]


def _row(group: list[Measurement], everything: Sequence[Measurement]) -> Row:
    first = group[0]
    ours = first.source == VERALE
    emitted = [m for m in group if m.outcome in ("certificate", "not sound")]
    explain_mean, explain_sd = _spread(m.explain_seconds for m in group)
    pairs = _compared(emitted, everything) if ours and first.method != "top_k" else []
    return Row(
        first.head,
        first.method if ours else f"papers' {first.method}",
        len(group),
        len(emitted),
        sum(m.verdict == "PROVED" for m in emitted),
        sum(m.verdict not in ("PROVED", "") for m in emitted),
        sum(m.outcome == "> limit" for m in group),
        *_spread(m.size for m in emitted),
        *_spread(m.share for m in emitted),
        explain_mean or 0.0,
        explain_sd or None,  # images of one batch share its time, so there is no deviation
        *_spread(m.audit_seconds for m in emitted),
        *_spread(m.bytes for m in emitted),
        *_ratios(pairs),
    )


def _compared(ours: list[Measurement], everything: Sequence[Measurement]) -> list[tuple[Measurement, Measurement]]:
    """The measurements of each image, with the baseline's smallest finished explanation of it, where there is one."""
    pairs = []
    for m in ours:
        theirs = [
            b
            for b in everything
            if (b.source, b.outcome, b.head, b.image) == ("baseline", "not sound", m.head, m.image)
        ]
        if theirs:
            pairs.append((m, min(theirs, key=lambda b: b.size or 0)))
    return pairs


def _ratios(pairs: list[tuple[Measurement, Measurement]]) -> tuple[int | None, float | None, float | None]:
    if not pairs:
        return None, None, None
    size = sum(a.size or 0 for a, _ in pairs) / max(1, sum(b.size or 0 for _, b in pairs))
    return len(pairs), size, sum(a.explain_seconds for a, _ in pairs) / sum(b.explain_seconds for _, b in pairs)


def _spread(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    known = [v for v in values if v is not None]
    if not known:
        return None, None
    return statistics.fmean(known), statistics.stdev(known) if len(known) > 1 else None


def _number(value: float | None, digits: int = 3) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def _mean_sd(mean: float | None, sd: float | None, factor: float = 1, before: str = "") -> str:
    if mean is None:
        return "-"
    return before + _number(mean * factor) + ("" if sd is None else f" ± {_number(sd * factor)}")


def _size(row: Row) -> str:
    text = _mean_sd(row.size_mean, row.size_sd)
    return f"{text} ({row.emitted} of {row.images})" if 0 < row.emitted < row.images else text


def _ratio(value: float | None, row: Row) -> str:
    if value is None:
        return "-"
    return f"{_number(value)}" + ("" if row.compared == row.images else f" ({row.compared} of {row.images})")


COLUMNS: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("head", lambda r: r.head),
    ("method", lambda r: r.method),
    ("images", lambda r: str(r.images)),
    ("emitted", lambda r: str(r.emitted)),
    ("proved", lambda r: str(r.proved)),
    ("not proved", lambda r: str(r.not_proved)),
    ("> limit", lambda r: str(r.over_limit)),
    ("size", _size),
    ("relative %", lambda r: _mean_sd(r.share_mean, r.share_sd, 100)),
    ("explain s", lambda r: _mean_sd(r.explain_mean, r.explain_sd, 1, "> " if r.over_limit else "")),
    ("audit s", lambda r: _mean_sd(r.audit_mean, r.audit_sd)),
    ("kB", lambda r: _mean_sd(r.bytes_mean, r.bytes_sd, 1e-3)),
    ("size / papers'", lambda r: _ratio(r.size_ratio, r)),
    ("time / papers'", lambda r: _ratio(r.time_ratio, r)),
)
"""The columns of the printed table: heading, and cell of a row."""


def markdown(rows: Sequence[Row]) -> str:
    """The table in Markdown."""
    lines = ["| " + " | ".join(name for name, _ in COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(cell(row) for _, cell in COLUMNS) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def text(rows: Sequence[Row]) -> str:
    """The table in plain text, columns aligned."""
    cells = [[name for name, _ in COLUMNS], *([cell(row) for _, cell in COLUMNS] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() + "\n" for line in cells)


def images_csv(measurements: Sequence[Measurement]) -> str:
    """One line an image and method."""
    return _csv(Measurement, measurements)


def summary_csv(rows: Sequence[Row]) -> str:
    """One line a head and method."""
    return _csv(Row, rows)


def _csv(kind: type, records: Sequence[object]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [f.name for f in fields(kind)]
    writer.writerow(names)
    writer.writerows(["" if (v := getattr(r, n)) is None else v for n in names] for r in records)
    return out.getvalue()
