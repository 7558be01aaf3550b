"""Write the corpora again: `PYTHONPATH=.:tests python -m corpus.make` from the root of the repository.

Nothing is drawn but from seeds, so the same bytes come out; `test_corpora.py` makes sure that they do.
"""

from __future__ import annotations

import shutil

from .accept import accepted
from .cases import FOLDER, Case, files
from .malformed import malformed
from .reject import rejected


def every_case() -> list[Case]:
    cases = accepted()
    return [*cases, *rejected(cases), *malformed(cases)]


def main() -> None:
    for name in ("accept", "reject", "malformed"):
        shutil.rmtree(FOLDER / name, ignore_errors=True)
    for path, data in files(every_case()).items():
        (FOLDER / path).parent.mkdir(exist_ok=True)
        (FOLDER / path).write_bytes(data)


if __name__ == "__main__":
    main()
