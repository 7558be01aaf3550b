"""`explanations.csv`: a table with one row for each explained image.

The first columns are those that the papers' `run_formal_exp.py` writes, in its order, so that scripts for its tables
read this one too; verale's own columns come after them.
"""

from __future__ import annotations

import csv
import io
import re
import reprlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.errors import InputError, UsageError, option
from verale.files import LARGEST_LATENTS, SentFile, certificates_folder, read
from verale.runs.inputs import TABLE

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Explained:
    """One row: an image's result. A value is None where it is not known, or there is no certificate.

    Attributes:
        index: the image's index among the latents.
        predicted: the class that the certificate proves; without one that of the logits, an estimate, and None where
            these are not known.
        seconds: the time to explain it: that of its batch, divided by the number of images in it.
        label: its true class.
        correct: whether that is the predicted class.
        size: how many statements the certificate has.
        score, probability: the predicted class's logit, in float64, and its softmax; estimates. Of a picture, with a
            certificate or without, the logits are those of the latents that its network gives in float64; None where
            these are no numbers, or lie outside the head's domain.
        second, second_score, second_probability: the class with the next logit, and the same for it.
        score_difference, probability_difference: by how much the predicted class is ahead of it.
        relative_size: the size over the number of possible statements: L * P, or P if they are about activations.
        margin: the least margin that is proved.
        paradigm: the certificate's.
        others: what other paradigms gave that were tried for this image: `name size`, or `name` and why none; separated
            by semicolons.
        certificate: the name of its file.
        sha256: of that file's bytes, as in audit logs.
        reason: why there is no certificate.
        bounded_prototypes: of how many prototypes the statements bound the activation, or a comparison with a patch.
        prototypes: how many the head has.
        bounded_pairs: how many comparisons of a patch with a prototype the statements are about.
        pairs: how many there are: L * P.
    """

    index: int
    predicted: int | None = None
    seconds: float | None = None
    label: int | None = None
    correct: bool | None = None
    size: int | None = None
    score: float | None = None
    probability: float | None = None
    second: int | None = None
    second_score: float | None = None
    second_probability: float | None = None
    score_difference: float | None = None
    probability_difference: float | None = None
    relative_size: float | None = None
    margin: float | None = None
    paradigm: str | None = None
    others: str | None = None
    certificate: str | None = None
    sha256: str | None = None
    reason: str | None = None
    bounded_prototypes: int | None = None
    prototypes: int | None = None
    bounded_pairs: int | None = None
    pairs: int | None = None


_REASONS, _IMAGES = 3, 8  # how many reasons are named, and how many images of each

_GREATEST = 1e100  # more than any score, time or margin; sums of squares of smaller numbers are finite

_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""How a text begins that a spreadsheet would take for a formula; the last four are the wide forms of = + - @."""


def csv_line(values: Iterable[object]) -> str:
    """Values as one row of CSV, without the line end; None becomes an empty cell.

    A text that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay as they are. The table's
    reader takes the apostrophe away again: `'=1` stands for `=1`, and `''=1` for `'=1`.
    """
    cells = [f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value for value in values]
    row, end = io.StringIO(newline=""), "\r\n"
    csv.writer(row, lineterminator=end).writerow(cells)  # which quotes cells that hold a part of the line end
    return row.getvalue().removesuffix(end)


def csv_table(rows: Iterable[Iterable[object]]) -> bytes:
    """The bytes of a table: each row as `csv_line` writes it."""
    return "".join(f"{csv_line(row)}\n" for row in rows).encode("utf-8", "backslashreplace")


def _text(text: str) -> str:
    """A text as it was before `csv_line`."""
    return text[1:] if text[:1] == "'" and _FORMULA.match(text) else text


def _whole(text: str) -> int:
    value = int(text)
    if not 0 <= value < 2**53:
        raise ValueError(text)
    return value


def _finite(text: str) -> float:
    value = float(text)
    if not abs(value) < _GREATEST:  # also where it is not a number
        raise ValueError(text)
    return value


def _truth(text: str) -> bool:
    return {"True": True, "False": False}[text]


_FIELDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "Idx": ("index", _whole),
    "True Label": ("label", _whole),
    "Pred Label": ("predicted", _whole),
    "Correct": ("correct", _truth),
    "Exp Size": ("size", _whole),
    "Conf Score": ("score", _finite),
    "Conf Softmax": ("probability", _finite),
    "2nd Conf Score": ("second_score", _finite),
    "2nd Conf Softmax": ("second_probability", _finite),
    "Diff Conf Score": ("score_difference", _finite),
    "Diff Conf Softmax": ("probability_difference", _finite),
    "Next Label": ("second", _whole),
    "Runtime (s)": ("seconds", _finite),
    "Relative Size": ("relative_size", _finite),
    "Margin": ("margin", _finite),
    "Paradigm": ("paradigm", _text),
    "Others": ("others", _text),
    "Certificate": ("certificate", _text),
    "SHA-256": ("sha256", _text),
    "Reason": ("reason", _text),
    "Bounded Prototypes": ("bounded_prototypes", _whole),
    "Prototypes": ("prototypes", _whole),
    "Bounded Pairs": ("bounded_pairs", _whole),
    "Pairs": ("pairs", _whole),
}
"""For each column, the field and the function that reads it; the first thirteen are the papers'."""

COLUMNS = tuple(_FIELDS)

_EXPECTED: dict[Callable[[str], Any], str] = {
    _whole: "a whole number below 2^53",
    _finite: f"a finite number, less than {_GREATEST:g} in size",
    _truth: "True or False",
}


def csv_lines(rows: Iterable[Explained], heading: bool = False) -> str:
    """The rows as lines of the table, as `csv_line` writes them."""
    lines = [csv_line(COLUMNS)] if heading else []
    lines += [csv_line(getattr(row, name) for name, _ in _FIELDS.values()) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def read_table(path: str | Path, whole: bool = True) -> list[Explained]:
    """The rows of a table, verale's or the papers'; of one that is not whole, without half a line at its end. Raises
    InputError, which names file, line and column."""
    text = read(path, "a table (explanations.csv)", most=LARGEST_LATENTS).decode("utf-8-sig", "replace")
    if not whole:
        text = text[: text.rfind("\n") + 1]
        if not text:
            return []
    reader = csv.DictReader(io.StringIO(text, newline=""))
    remedy = f"restore the file, or explain again with {option('overwrite', True)}"
    try:
        required = ("Idx", "Pred Label", "Exp Size", "Runtime (s)")
        missing = [name for name in required if name not in (reader.fieldnames or ())]
        if missing:
            raise InputError(
                path,
                f"line 1: has no column {missing[0]!r}; expected the table of verale explain or of run_formal_exp.py,"
                " separated by commas",
            )
        rows = []
        for line in reader:
            where = f"line {reader.line_num}"
            if None in line or None in line.values():
                raise InputError(path, f"{where}: has a different number of columns from the first line; {remedy}")
            values: dict[str, Any] = {}
            # With a reason there is no certificate, and perhaps no class.
            needed = ("Idx", "" if line.get("Reason") else "Pred Label")
            for column, text in line.items():
                if column in _FIELDS and (text != "" or column in needed):
                    name, parse = _FIELDS[column]
                    try:
                        values[name] = parse(text)
                    except (ValueError, KeyError):
                        expected = f"{reprlib.repr(text)}, expected {_EXPECTED[parse]}"
                        raise InputError(path, f"{where}: column {column!r} is {expected}; {remedy}") from None
            rows.append(Explained(**values))
        return rows
    except csv.Error as error:
        raise InputError(path, f"line {reader.line_num + 1}: cannot be read ({error}); {remedy}") from error


def table_of(source: str) -> str:
    """The table of a folder, or the table itself. Raises InputError."""
    if not Path(source).is_dir():
        return source
    path = certificates_folder(Path(source)) / TABLE
    if not path.exists():
        raise InputError(source, f"holds no {TABLE}; expected a folder that verale explain wrote, or a table")
    return SentFile(path)


def frame(out: str | Path) -> pandas.DataFrame:
    """The table of a run as a pandas frame, one row an image, sorted by their indices.

    Its columns are the attributes of `verale.runs.table.Explained`, as in `verale explain --json`. What is not known is
    missing (`pandas.NA`).

    Args:
        out: the folder that `verale explain` wrote, or its `explanations.csv`, or a table of the papers.

    Raises:
        InputError: a folder or a table that cannot be used.
        UsageError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise UsageError("pandas is not installed, expected it for a frame: pip install 'verale[report]'") from error
    table = table_of(fspath(out))
    rows = sorted(read_table(table, whole=not Path(out).is_dir()), key=lambda row: row.index)
    of_type = {"int": "Int64", "float": "Float64", "bool": "boolean", "str": "string"}
    kinds = {each.name: of_type[str(each.type).partition(" ")[0]] for each in fields(Explained)}
    return pd.DataFrame(
        {name: pd.array([getattr(row, name) for row in rows], dtype=kind) for name, kind in kinds.items()}
    )


def reasons(rows: Iterable[Explained], table: str | Path) -> list[str]:
    """Lines that say which images have no certificate, and why: the most frequent reasons, and where to find all."""
    without = defaultdict(list)
    for row in rows:
        if row.certificate is None:
            without[row.reason].append(str(row.index))
    named = sorted(without.items(), key=lambda each: -len(each[1]))
    lines = []
    for reason, images in named[:_REASONS]:
        more = f" and {len(images) - _IMAGES} more" if len(images) > _IMAGES else ""
        lines.append(f"without one: {', '.join(images[:_IMAGES])}{more}: {reason}")
    return [*lines, f"all reasons are in {table}"] if lines else []
