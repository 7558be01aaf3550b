"""What comparing two runs gives, in words for people, and as rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from verale.runs.compare import RunComparison
from verale.runs.compared import ComparedImage, Counts, Side, SideCounts
from verale.runs.table import csv_line

__all__ = [
    "CSV_COLUMNS",
    "about_sides",
    "changed_first",
    "class_of",
    "csv_lines",
    "held",
    "matched",
    "sentences",
    "two",
]

_MOST = 5
"""The most notes that are told."""
_SIDE: dict[str, Callable[[Side], Any]] = {
    "Idx": lambda side: side.index,
    "Class": lambda side: side.name,
    "Correct": lambda side: side.correct,
    "Statements": lambda side: side.size,
    "Bounded Prototypes": lambda side: None if side.bounded is None else side.bounded.prototypes,
    "Bounded Pairs": lambda side: None if side.bounded is None else side.bounded.pairs,
    "Margin": lambda side: side.margin,
    "Minimality Claimed": lambda side: side.minimal,
    "Paradigm": lambda side: side.paradigm,
    "Reason": lambda side: side.reason,
}
_BOTH: dict[str, Callable[[ComparedImage], Any]] = {
    "Image": lambda one: one.image,
    "Same Class": lambda one: one.same_class,
    "Kept": lambda one: one.kept,
    "True": lambda one: None if one.answers is None else one.answers.count(True),
    "False": lambda one: None if one.answers is None else one.answers.count(False),
    "Undecided": lambda one: None if one.answers is None else one.answers.count(None),
    "Named In Both": lambda one: len(one.a.named & one.b.named),
    "Note": lambda one: one.note or None,
}
_TRUTH = {True: "yes", False: "no"}
CSV_COLUMNS = (*_BOTH, *(f"{name} {run}" for run in "AB" for name in _SIDE))


def csv_lines(compared: Iterable[ComparedImage]) -> Iterator[str]:
    """The lines of a table with all images, without line ends."""
    yield csv_line(CSV_COLUMNS)
    for one in compared:
        sides = [value(side) for side in (one.a, one.b) for value in _SIDE.values()]
        yield csv_line([*(value(one) for value in _BOTH.values()), *sides])


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
    keep = "keeps its class" if same == 1 else "keep their class"
    told = [f"{same:,} of {_images(counts.images)} {keep}{_of_these(counts, True) if asked and same else ''}."]
    if other:
        gets = "gets" if other == 1 else "get"
        told.append(f"{other:,} {gets} another class{_of_these(counts, False) if asked else ''}.")
    if unknown := counts.of(None):
        told.append(f"Of {_images(unknown)}, A or B does not know the class.")
    if comparison.same_head and counts.outcomes[False, True]:
        told.append(
            f"All statements of A are true under the same head, and yet the class is another, for"
            f" {_images(counts.outcomes[False, True])}: one of the runs is wrong; audit both."
        )
    total = sum(counts.answers.values())
    if total:
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


def _of_these(counts: Counts, same_class: bool) -> str:
    """What became of the statements of A, of the images with the same class, or another one."""
    kept, not_kept, left = (counts.outcomes[same_class, kept] for kept in (True, False, None))
    parts = [f"{kept:,} satisfy all statements of A", f"{not_kept:,} do not"] if kept + not_kept else []
    return f"; of these, {', '.join([*parts, *([f'{left:,} are open'] if left else [])])}"


def about_sides(comparison: RunComparison, counts: Counts) -> list[tuple[str, str, str]]:
    """What each run says for itself: a name, and a text for A and for B."""
    a, b = counts.a, counts.b
    rows = [("explained", f"{a.explained:,} of {counts.images:,}", f"{b.explained:,} of {counts.images:,}")]
    if a.labelled or b.labelled:
        rows.append(("true class given, as labelled", _right(a), _right(b)))
    rows.append(("statements, mean", _mean(a.statements, a), _mean(b.statements, b)))
    bounds = [
        f"{_mean(side.bounded_prototypes, side)} of {run.head.prototypes}"
        for side, run in ((a, comparison.a), (b, comparison.b))
    ]
    rows.append(("prototypes bounded, mean", bounds[0], bounds[1]))
    return [*rows, ("claim minimality", f"{a.minimal:,} of {a.explained:,}", f"{b.minimal:,} of {b.explained:,}")]


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


def _right(side: SideCounts) -> str:
    return f"{side.correct:,} of {side.labelled:,}" if side.labelled else "-"


def _mean(total: int, side: SideCounts) -> str:
    return f"{total / side.explained:.1f}" if side.explained else "-"
