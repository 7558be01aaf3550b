"""The page of tables: one for each architecture, as the papers have them, with their own numbers beside."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.environment import listed
from benchmarks.tables.explaining import METHODS, Kept, Method
from benchmarks.tables.runs import ARCHITECTURES
from verale.cli.tables import latex_lines, markdown_lines
from verale.runs.summary import Spread
from verale.runs.table import Explained, read_table

__all__ = ["Explanations", "latex", "markdown"]

HEADINGS = ("run", "method", "images", "explained", "proved", "none", "over budget", "size, correct", "size, wrong",
            "%, correct", "%, wrong", "seconds, correct", "seconds, wrong", "audit s")  # fmt: skip
_LEFT = 2
"""How many columns are texts."""
_MODELS = ("run", "prototypes", "patches", "depth", "classes", "images", "right", "budget, s")
_PAPERS = Path(__file__).with_name("papers.csv")
_SOURCES = {
    "release": "printed in the README of the authors' release (github.com/julsoria/ale)",
    "note": "second hand: from a public note on arXiv 2511.16588, not checked against the paper; its top-k seems to be"
    " multiplied by the number of patches, since it exceeds that of the prototypes",
}


@dataclass(frozen=True)
class Explanations:
    """A network, and what came of its images.

    Attributes:
        name: the run's, or the synthetic head's.
        architecture: of which table it is a row.
        dataset: under which published numbers have it.
        prototypes, patches, depth, classes: of its head.
        budget: processor seconds an image.
        kept: by method, the images; those over the budget have no seconds.
        theirs: by the papers' name of a paradigm, the rows that their program wrote into the run's folder.
    """

    name: str
    architecture: str
    dataset: str
    prototypes: int
    patches: int
    depth: int
    classes: int
    budget: float
    kept: dict[Method, list[Kept]]
    theirs: Mapping[str, Sequence[Explained]] = field(default_factory=dict)


def theirs_of(folder: Path) -> dict[str, list[Explained]]:
    """The tables of the papers' program in a run's folder, by paradigm. Raises InputError."""
    ending = "_explanations.csv"
    return {
        path.name.removesuffix(ending): read_table(path)
        for path in sorted((folder / "explanations").glob(f"*{ending}"))
    }


def markdown(found: Sequence[Explanations], facts: Mapping[str, str], skipped: Sequence[str]) -> str:
    """The page in Markdown."""
    lines = ["# The papers' tables", "", *listed(facts)]
    lines += [f"- skipped: {each}" for each in skipped]
    lines += ["", "## Networks", "", *markdown_lines(_MODELS, [_model(each) for each in found], 1)]
    for kind, rows in _tables(found).items():
        lines += ["", f"## {kind}", "", *markdown_lines(HEADINGS, rows, _LEFT)]
    return "\n".join([*lines, "", *_legend(found), ""])


def latex(found: Sequence[Explanations]) -> str:
    """The same tables in LaTeX, each a tabular that needs no package."""
    lines = [f"% networks\n{chr(10).join(latex_lines(_MODELS, [_model(each) for each in found], 1))}\n"]
    for kind, rows in _tables(found).items():
        lines.append(f"% {kind}\n{chr(10).join(latex_lines(HEADINGS, rows, _LEFT))}\n")
    return "\n".join(lines)


def _tables(found: Sequence[Explanations]) -> dict[str, list[tuple[str, ...]]]:
    """By architecture, the rows of all its runs: each of the papers' own stands below the method that it is beside."""
    tables: dict[str, list[tuple[str, ...]]] = {}
    for each in found:
        rows = tables.setdefault(each.architecture, [])
        for method, kept in each.kept.items():
            rows.append(_row(each, method, kept))
        for name, theirs in each.theirs.items():
            rows.append(_their_row(each, name, theirs))
        rows.extend(_published(each))
    return tables


def _model(each: Explanations) -> tuple[str, ...]:
    kept = max(each.kept.values(), key=len, default=())
    right = sum(one.row.correct is True for one in kept)
    share = f"{right} ({100 * right / len(kept):.1f} %)" if kept else "-"
    numbers = (each.prototypes, each.patches, each.depth, each.classes, len(kept))
    return each.name, *map(str, numbers), share, f"{each.budget:g}"


def _row(each: Explanations, method: Method, kept: Sequence[Kept]) -> tuple[str, ...]:
    rows = [one.row for one in kept]
    emitted = [one for one in kept if one.row.size is not None]
    over = sum(row.seconds is None for row in rows)
    return (
        *(each.name, method.name, *_counts(rows, [one.row for one in emitted])),
        str(sum(one.verdict == "PROVED" for one in emitted)),
        *(str(len(rows) - len(emitted) - over), str(over)),
        *_spreads([one.row for one in emitted]),
        _spread([one.audit_seconds for one in emitted if one.audit_seconds is not None]),
    )


def _their_row(each: Explanations, name: str, rows: Sequence[Explained]) -> tuple[str, ...]:
    emitted = [row for row in rows if row.size is not None]
    counts = _counts(rows, emitted)
    return each.name, f"papers' {name}, found in the run", *counts, "-", "-", "-", *_spreads(emitted), "-"


def _published(each: Explanations) -> Iterator[tuple[str, ...]]:
    """Rows of published numbers for this architecture and data set."""
    with _PAPERS.open(encoding="utf-8", newline="") as stream:
        for line in csv.DictReader(stream):
            if (ARCHITECTURES[line["architecture"]], line["dataset"]) == (each.architecture, each.dataset):
                sizes = (line["correct"] or "-", line["wrong"] or "-")
                yield (each.name, f"papers' {line['paradigm']}, {line['source']}", *"-----", *sizes, *"-----")


def _counts(rows: Sequence[Explained], emitted: Sequence[Explained]) -> tuple[str, str]:
    return tuple(  # type: ignore[return-value]
        f"{sum(row.correct is True for row in some)} + {sum(row.correct is not True for row in some)}"
        for some in (rows, emitted)
    )


def _spreads(emitted: Sequence[Explained]) -> Iterator[str]:
    kinds = [[row for row in emitted if (row.correct is True) is right] for right in (True, False)]
    for kind in kinds:
        yield _spread([row.size for row in kind if row.size is not None])
    for kind in kinds:
        yield _spread([100 * row.relative_size for row in kind if row.relative_size is not None])
    for kind in kinds:
        yield _spread([row.seconds for row in kind if row.seconds is not None])


def _spread(values: Sequence[float]) -> str:
    spread = Spread.of(values)
    if spread.mean is None:
        return "-"
    return _number(spread.mean) + ("" if spread.deviation is None else f" ± {_number(spread.deviation)}")


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _legend(found: Sequence[Explanations]) -> list[str]:
    lines = [
        "Sizes are statements; %, statements over those possible: patches times prototypes, or prototypes where"
        " they are about activations. Mean ± sample standard deviation over the images with an explanation,"
        " separately for those that the network classifies correctly and for the others (correct + wrong). Seconds"
        " are processor seconds of one thread, one image at a time. `none`: no explanation was found. `over"
        " budget`: stopped; these images are in no mean, so a mean beside them is of the easier images. A method"
        " `paradigm/order` takes statements in that order: `nearest` and `highest` are the papers'.",
        "",
        "Rows `found in the run` are computed from the tables that the papers' program left in the run's folder: of the"
        " same network, by wall time. Rows with a source are published numbers, of other networks of the same"
        " architecture and data set:",
        *(f"- {name}: {text}." for name, text in _SOURCES.items()),
        "",
        'Of "Beyond L2" (arXiv 2608.16773) no number was to be had in public text. `papers.csv` has room for them.',
    ]
    known = {name for method in METHODS for name in method.published}
    other = sorted({name for each in found for name in each.theirs} - known)
    return [*lines, *(["", f"Paradigms of the papers that verale does not know: {', '.join(other)}."] if other else [])]
