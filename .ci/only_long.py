"""Which lines of the package only the long tests reach: `make coverage`, which has run both suites under coverage.

    python .ci/only_long.py SHORT LONG

prints each file that has some, with how many and their numbers. No number is a limit: a line that only long tests reach
may break unseen by whoever runs `make test`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from coverage import CoverageData


def reached(path: str) -> dict[str, set[int]]:
    """The lines that ran, by the file's name."""
    data = CoverageData(path)
    data.read()
    return {file: set(data.lines(file) or ()) for file in data.measured_files()}


def only_long(short: dict[str, set[int]], long: dict[str, set[int]]) -> Iterator[str]:
    """A line a file, those with most first."""
    left = {file: sorted(lines - short.get(file, set())) for file, lines in long.items()}
    for file, lines in sorted(left.items(), key=lambda each: -len(each[1])):
        if lines:
            yield f"{len(lines):5}  {Path(file).relative_to(Path.cwd())}: {', '.join(ranges(lines))}"


def ranges(lines: Sequence[int]) -> Iterator[str]:
    """Of rising numbers, as in "3, 7-9"."""
    for _, group in groupby(enumerate(lines), key=lambda each: each[1] - each[0]):
        numbers = [number for _, number in group]
        yield str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"


if __name__ == "__main__":
    print("\n".join(only_long(*map(reached, sys.argv[1:]))) or "no line")
